"""The key numbers of a dataset by an engine: its parts are measured by workers, and put together here."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial, reduce
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.in_parts.part_jobs import PartJob, Placed, scratch_folder
from ragdatakit.converters import TableFiles
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.converters.table_parts import TablePart, cut_tables, tables_in_parts
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.database.file_counts import count_files
from ragdatakit.files.paths.sql_text import hash_expression
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.parts.counting import Counting, KeyCounts, counted_partition, questions_without_gold
from ragdatakit.reports.parts.key_files import KeyFile, KeyWriter, PackedKeys
from ragdatakit.reports.parts.measuring import TableFacts, table_facts
from ragdatakit.reports.parts.merging import Merged
from ragdatakit.reports.parts.overlaps import MeansAnotherError, Overlaps, id_codes, overlap
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import EngineError
from ragdatakit.schemas.results import FileSummary
from ragdatakit.schemas.summaries import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.engines import Engine
    from ragdatakit.schemas.options import Progress

PART_BYTES = 32 << 20
_PARTITION_BYTES = 32 << 20
_LEAST_FOR_SQL = 1 << 20


@dataclass(frozen=True, slots=True)
class _Measuring:
    """What workers are to measure. ``big``: its files are as large as those that are read by columns; ``pairs`` as in
    `table_facts`; ``code`` is that of a known text."""

    job: PartJob
    big: bool
    pairs: bool
    code: int
    left_out: Mapping[tuple[str, int], bytes]


def report_in_parts(
    found: FoundDataset, engine: Engine, memory_limit: int, progress: Progress | None
) -> Summary | None:
    """The key numbers of a dataset; None where its tables cannot be read in parts. Raises `EngineError`."""
    tables = tables_in_parts(found.source, found.wanted)
    if tables is None or any(files.look is not None for files in tables.values()):
        return None
    with ExitStack() as stack:
        try:
            scratch = stack.enter_context(scratch_folder(engine))
            return _Run(found, engine, tables, scratch, memory_limit, progress).summary()
        except MeansAnotherError:
            return None


class _Run:
    def __init__(
        self,
        found: FoundDataset,
        engine: Engine,
        tables: Mapping[str, TableFiles],
        scratch: Path,
        memory_limit: int,
        progress: Progress | None,
    ) -> None:
        self._found, self._engine, self._tables, self._scratch = found, engine, tables, scratch
        self._progress = progress
        self._is_shared = engine.shared is not None
        self._counter = engine if self._is_shared else engine.here
        self._files = 0
        folder = scratch if self._is_shared else None
        self._job = PartJob.of(found.source, found.wanted, folder, memory_limit)
        self._parts = cut_tables(self._job.source, tables, PART_BYTES)

    def summary(self) -> Summary:
        source, losses = self._found.source, Losses()
        read = read_source(source, self._found.wanted, losses, partly=True)
        names = [table for table in read.sources if table in self._tables]
        placed = Placed(losses)
        facts = {table: TableFacts(table) for table in names}
        keys: list[KeyFile] = []
        files: dict[str, tuple[int | None, int]] = {}
        big = sum(path.stat().st_size for _, path in source.files()) >= _LEAST_FOR_SQL
        pairs = "triplets" not in self._tables
        measuring = _Measuring(self._job, big, pairs, known_code(), self._left_out())
        for number, one in enumerate(self._engine.map(partial(measured, measuring), self._parts)):
            part = self._parts[number]
            if self._progress is not None:
                self._progress(f"measuring {part.table}", number + 1, len(self._parts))
            facts[part.table].take(one)
            assert one.losses is not None
            placed.take(one.losses, [(name, lines, records) for name, _, _, lines, records in one.files])
            keys += self._kept(one.keys)
            for name, records, size, _, _ in one.files:
                known = files.get(name)
                files[name] = (_sum(known[0], records), known[1]) if known is not None else (records, size)
        counts, lost = self._counted(keys, facts)
        summary = Summary(source.display, read.name, read.format)
        Merged(facts, counts, lost).into(summary, losses)
        summary.files, summary.file_splits = self._file_summaries(files)
        return summary

    def _kept(self, keys: PackedKeys | KeyFile | None) -> list[KeyFile]:
        """The file of codes that a worker has written, or that is written here."""
        if isinstance(keys, PackedKeys):
            self._files += 1
            keys = keys.write(self._scratch / f"sent-{self._files}")
        return [keys] if keys is not None else []

    def _counted(self, keys: list[KeyFile], facts: Mapping[str, TableFacts]) -> tuple[KeyCounts, int]:
        partitions = max(1, sum(file.bytes for file in keys) // _PARTITION_BYTES)
        held = frozenset(table for table, one in facts.items() if one.rows)
        counting = Counting(tuple(keys), partitions, held)
        total, found = KeyCounts(), list[KeyFile]()
        folder = self._job.folder
        for one in self._counter.map(partial(partition_counts, counting, folder), range(partitions)):
            total.distinct.update(one.distinct)
            total.named.update(one.named)
            total.lacking += one.lacking
            found += self._kept(one.found)
        if not total.lacking:
            return total, 0
        counting = replace(counting, files=(*keys, *found))
        return total, sum(self._counter.map(partial(questions_without_gold, counting), range(partitions)))

    def _left_out(self) -> Mapping[tuple[str, int], bytes]:
        return rows_left_out(self._job, self._engine, self._parts, self._tables, self._kept)

    def _file_summaries(
        self, known: Mapping[str, tuple[int | None, int]]
    ) -> tuple[list[FileSummary], list[str | None]]:
        (dataset,) = self._found.source.parts
        others = replace(dataset, files=[file for file in dataset.files if file.display not in known], _numbers={})
        counted = {file.path: file for file in count_files([others])[0]}
        found = []
        for file in dataset.files:
            if file.display in known:
                found.append(FileSummary(file.display, file.kind, *known[file.display]))
            else:
                found.append(counted[file.display])
        return found, [file.split for file in dataset.files]


def rows_left_out(
    job: PartJob,
    engine: Engine,
    parts: list[TablePart],
    tables: Mapping[str, TableFiles],
    kept: Callable[[PackedKeys | KeyFile | None], list[KeyFile]] | None = None,
) -> Mapping[tuple[str, int], bytes]:
    """Of the parts of second groups, which rows the first group has, too; ``kept`` puts codes into files (None: into
    those of a folder of its own). Raises `MeansAnotherError`."""
    parts = [part for part in parts if part.key and len(tables[part.table].groups) > 1]
    if not parts:
        return {}
    if kept is None:
        with scratch_folder(engine) as folder:
            numbers = count()
            write = lambda keys: [keys.write(folder / f"ids-{next(numbers)}")] if keys is not None else []  # noqa: E731
            return rows_left_out(replace(job, folder=""), engine.here, parts, tables, write)
    read = _Measuring(job, False, False, known_code(), {})
    keys = [file for one in engine.map(partial(ids_of_part, read), parts) for file in kept(one)]
    partitions = max(1, sum(file.bytes for file in keys) // _PARTITION_BYTES)
    counting = Counting(tuple(keys), partitions, frozenset())
    counter = engine if engine.shared is not None else engine.here
    return reduce(Overlaps.with_more, counter.map(partial(overlap, counting), range(partitions)), Overlaps()).rows


def _sum(known: int | None, more: int | None) -> int | None:
    return None if known is None or more is None else known + more


@cache
def known_code() -> int:
    """The code of a known text: that of others has to be the same."""
    import duckdb

    with duckdb.connect() as connection:
        query = f"select {hash_expression('text')} from (values ('Is this text the same everywhere?')) given(text)"
        (row,) = connection.execute(query).fetchall()
        return int(row[0])


def _database(measuring: _Measuring, part: TablePart) -> DatasetDatabase:
    source = measuring.job.reading(part)
    wanted = measuring.job.wanted
    if known_code() != measuring.code:
        raise EngineError("texts do not have the same codes everywhere; install the same version of duckdb everywhere")
    tables = read_source(source, wanted, Losses(), part.refused, partly=True)
    assert tables.records is not None
    by_sql = sql_tables(source, wanted, tables.records, 0) if measuring.big else {}
    return DatasetDatabase(tables, source.parts, by_sql, memory_limit=measuring.job.memory_limit, own_sql=True)


def measured(measuring: _Measuring, part: TablePart) -> TableFacts:
    """In a worker: the numbers of a part."""
    with _database(measuring, part) as database:
        database.load(part.table)
        rows = measuring.left_out.get((part.table, part.number))
        if rows is not None:
            database.leave_out(part.table, Overlaps.places(rows))
        facts = table_facts(database, part.table, measuring.pairs)
        facts.files = list(_files_of(database, part))
        facts.losses = database.losses.without({file.kind for file in part.along})
    facts.keys = _written(facts.keys, measuring.job, f"keys-{part.table}-{part.number}")
    return facts


def _files_of(database: DatasetDatabase, part: TablePart) -> Iterator[tuple[str, int | None, int, int, int]]:
    (dataset,) = database.parts
    files = dataset.files[: len(part.files)]
    extents = database.extents
    for file, one in zip(files, count_files([replace(dataset, files=files, _numbers={})], database)[0], strict=True):
        size = one.bytes if file.part is None else file.path.stat().st_size
        yield file.display, one.records, size, *extents.get(file.display, (0, 0))


def ids_of_part(measuring: _Measuring, part: TablePart) -> PackedKeys | KeyFile | None:
    """In a worker: the codes of the ids and the texts of a part."""
    with _database(measuring, part) as database:
        keys = KeyWriter()
        id_codes(database, part.table, part.key, part.number, part.group, keys)
    return _written(keys.packed(), measuring.job, f"ids-{part.table}-{part.number}")


def partition_counts(counting: Counting, folder: str, number: int) -> KeyCounts:
    """In a worker: what a partition shows."""
    counts = counted_partition(counting, number)
    if folder and isinstance(counts.found, PackedKeys):
        counts.found = counts.found.write(Path(folder) / f"found-{number}")
    return counts


def _written(keys: PackedKeys | KeyFile | None, job: PartJob, name: str) -> PackedKeys | KeyFile | None:
    """What is to be in a file, written there, where this machine and the others see it."""
    if not job.folder or not isinstance(keys, PackedKeys):
        return keys
    try:
        return keys.write(Path(job.folder) / name)
    except OSError as error:
        raise EngineError(f"{job.folder} cannot be written ({error.strerror})") from None
