"""Conversions by an engine: parts of tables are read, and what they become is written, by workers; the process that
asked puts the pieces together in their order."""

from __future__ import annotations

import platform
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.api.in_parts.part_jobs import PartJob, Placed, scratch_folder
from ragdatakit.api.in_parts.reporting import rows_left_out
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.table_parts import (
    Looked,
    TablePart,
    behind_each_other,
    count_lines,
    cut_tables,
    tables_in_parts,
    without_refused,
)
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_in_parts import PartPlace, Piece, SpanWork, Work
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.reports.parts.overlaps import MeansAnotherError, Overlaps
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import EngineError, RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters import TableFiles
    from ragdatakit.converters.sources import ConversionSettings, Source
    from ragdatakit.engines import Engine
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.refused_records import Refused
    from ragdatakit.outputs.scratch import ScratchFolder
    from ragdatakit.schemas.options import ConvertOptions

R = TypeVar("R")
PART_BYTES = 32 << 20
PAIRS = (("light-splade", "beir"), ("beir", "light-splade"), ("table", "beir"))
"""What can be converted by an engine: source and target."""
_FOLDER, _SEEN = ".parts", "seen"


def refuse_other_conversions(source: Source, options: ConvertOptions) -> None:
    """Raise `RagdataError` for what cannot be converted in parts."""
    if (source.format, options.to) not in PAIRS:
        pairs = ", ".join(f"{a} to {b}" for a, b in PAIRS)
        raise RagdataError(
            f"{source.format} to {options.to} is not converted by an engine, but {pairs}; leave --engine out"
        )
    asked = {
        "--container": options.container and options.to == "beir",
        "--negatives": options.negatives,
        "--extractor": options.extractor,
        "--chunk-size": options.chunking,
    }
    if given := next((name for name, value in asked.items() if value), None):
        raise RagdataError(f"{given} and --engine do not go together; leave one of them out")


@dataclass(frozen=True, slots=True)
class _Task:
    """What is done with each part, and where what it becomes is written; ``left_out`` as workers of reports have it."""

    job: PartJob
    work: Callable[[Any, PartPlace, Any], Any]
    folder: str
    run: int
    left_out: dict[int, bytes]


@dataclass(slots=True)
class _Done:
    """What became of a part: what the function gave, what was lost in reading and in writing, its rows, and the extents
    of its files."""

    result: Any
    reading: Losses
    writing: Losses
    rows: int
    extents: list[tuple[str, int, int]]


@dataclass(frozen=True, slots=True)
class _Place:
    folder: Path
    name: str

    @contextmanager
    def writing(self, name: str) -> Iterator[tuple[LineWriter, Piece]]:
        """As `PartPlace` has it."""
        path = self.folder / f"{self.name}-{name}"
        begun = self.folder / f"{self.name}-{name}-{secrets.token_hex(8)}"  # another attempt may still be at it
        piece = Piece(str(path))
        try:
            with begun.open("wb", buffering=0) as file:
                writer = LineWriter(path.name, file)
                yield writer, piece
                writer.flush()
            begun.replace(path)
        except OSError as error:
            raise EngineError(f"{self.folder} on {platform.node()} cannot be written ({error.strerror})") from None
        piece.written = writer.written()


class ConversionParts:
    """The parts of one conversion, whose output is in ``out`` (None: nowhere). Raises `RagdataError` where the source
    cannot be read in parts."""

    def __init__(
        self,
        engine: Engine,
        source: Source,
        wanted: ConversionSettings,
        tables: CanonicalTables,
        out: Path | None,
        refused: Refused | None,
    ) -> None:
        files = tables_in_parts(source, wanted)
        if files is None:
            raise RagdataError(
                f"{source.display} cannot be read in parts: it has several sets of queries, or ids and values that an "
                "earlier conversion kept; leave --engine out"
            )
        self._engine, self._tables, self._runs = engine, tables, 0
        self._scratch, self._folder = _folder_of_pieces(engine, out)
        self._progress = wanted.progress
        files = {table: files[table] for table in ("documents", "triplets", "pair_scores") if table in files}
        has_own = any(one.given for one in files.values())
        self._job = PartJob.of(source, wanted, None, wanted.memory_limit, not has_own)
        parts = self._looked(cut_tables(self._job.source, files, PART_BYTES), files, refused)
        self._parts = {table: [part for part in parts if part.table == table] for table in files}
        self._known: set[str] = set()
        try:
            self._left_out = rows_left_out(self._job, engine, parts, files)
        except MeansAnotherError:
            words = "has ids that mean one thing in one split and another in the other"
            raise RagdataError(f"{source.display} {words}; leave --engine out") from None
        # What is met here in what has parts is accounted by these.
        own = read_source(source, self._job.wanted, Losses(), refused, partly=True)
        tables.given = tables.sources = {
            table: own.sources[table] if table in files else rows for table, rows in tables.sources.items()
        }
        assert tables.records is not None
        tables.records.accounted_elsewhere = frozenset(file.display for part in parts for file, _ in part.files)
        self._folder.mkdir(exist_ok=True)
        (self._folder / _SEEN).touch()

    def _looked(
        self, parts: list[TablePart], files: Mapping[str, TableFiles], refused: Refused | None
    ) -> list[TablePart]:
        """The parts, which know what is above them and what others show."""
        looks = {table: one.look or (count_lines if refused else None) for table, one in files.items()}
        if not any(looks.values()):
            return parts
        looked = list(self._engine.map(partial(looked_at, self._job, looks), parts))
        parts = behind_each_other(parts, looked)
        if refused:
            parts = without_refused(parts, looked, refused)
        found = list[TablePart]()
        for table, one in files.items():
            own = [(part, look) for part, look in zip(parts, looked, strict=True) if part.table == table]
            of_table = [part for part, _ in own]
            found += of_table if one.settle is None else one.settle(of_table, [look for _, look in own])
        return found

    def number(self, table: str) -> int:
        """As `TablesInParts` has it."""
        return len(self._parts.get(table, ()))

    def each(self, work: Work[R], given: Sequence[Any], table: str = "documents") -> Iterator[R]:
        """As `TablesInParts` has it."""
        placed, rows = Placed(Losses()), 0
        keys = list(zip(self._parts.get(table, ()), given, strict=True))
        for done in self._worked(partial(worked, self._task(work, table)), keys, table):
            placed.take(done.reading, done.extents)
            self._tables.losses.take(done.writing)
            rows += done.rows
            yield done.result
        if table not in self._known:
            self._known.add(table)
            self._tables.losses.take(placed.losses)
        if keys:  # it may be gone through again, without a look at its rows
            self._tables.counts[table] = max(rows, self._tables.counts.get(table, 0))

    def spans(self, work: SpanWork[R], given: Sequence[tuple[int, int, Any]]) -> Iterator[R]:
        """As `TablesInParts` has it."""
        parts = self._parts["documents"]
        keys = [(number, parts[first : last + 1], own) for number, (first, last, own) in enumerate(given)]
        yield from self._worked(partial(worked_span, self._task(work, "documents")), keys, "documents")

    def _task(self, work: Callable[[Any, PartPlace, Any], Any], table: str) -> _Task:
        """The next one, with parts of a table."""
        self._runs += 1
        left_out = {number: rows for (name, number), rows in self._left_out.items() if name == table}
        return _Task(self._job, work, str(self._folder.absolute()), self._runs, left_out)

    def _worked(self, function: Callable[[Any], R], keys: Sequence[Any], table: str) -> Iterator[R]:
        """What workers give for each key, in order."""
        for number, found in enumerate(self._engine.map(function, keys), 1):
            if self._progress is not None:
                self._progress(table, number, len(keys))
            yield found

    @staticmethod
    def remove(path: Path) -> None:
        """As `TablesInParts` has it."""
        path.unlink()

    def close(self) -> None:
        """Nothing of it stays in the output."""
        shutil.rmtree(self._folder)
        if self._scratch is not None:
            self._scratch.remove()


def _folder_of_pieces(engine: Engine, out: Path | None) -> tuple[ScratchFolder | None, Path]:
    """Where workers write, and the temporary folder that holds it where nothing is to be in an output."""
    if out is not None:
        return None, out / _FOLDER
    if engine.shared is None:
        words = "what workers write has to be counted here, also in a dry run"
        raise RagdataError(f"{words}: --engine-option scratch=DIR names a folder that all of them see")
    scratch = scratch_folder(engine)
    return scratch, scratch.path / _FOLDER


def looked_at(
    job: PartJob, looks: Mapping[str, Callable[[Dataset, RecordReader], Looked] | None], part: TablePart
) -> Looked:
    """In a worker: what a part shows."""
    look = looks[part.table]
    if look is None:
        return Looked(((0, 0),) * len(part.files))
    (dataset,) = job.reading(part).parts
    dataset.files = dataset.files[: len(part.files)]
    return look(dataset, RecordReader(Losses(), None, None, job.memory_limit, dataset.format.files))


def worked(task: _Task, key: tuple[TablePart, Any]) -> _Done:
    """In a worker: what becomes of a part."""
    part, given = key
    reading = Losses()
    tables = _tables_of(task, part, reading)
    result = task.work(tables, _place(task, part.number), given)
    assert tables.records is not None
    extents = [(name, *extent) for name, extent in tables.records.extents.items()]
    kinds = {file.kind for file in part.along}
    return _Done(result, reading.without(kinds), tables.losses, tables.counts.get(part.table, 0), extents)


def worked_span(task: _Task, key: tuple[int, Sequence[TablePart], Any]) -> Any:
    """In a worker: what becomes of parts together."""
    number, parts, given = key
    return task.work((_tables_of(task, part, Losses()) for part in parts), _place(task, number), given)


def _tables_of(task: _Task, part: TablePart, reading: Losses) -> CanonicalTables:
    """The tables of a part; what is met in reading is accounted apart."""
    tables = read_source(task.job.reading(part), task.job.wanted, reading, part.refused, partly=True)
    tables.losses = Losses()
    rows, left_out = tables.sources[part.table], task.left_out.get(part.number)
    if left_out is not None:
        rows = partial(_without, rows, frozenset(Overlaps.places(left_out)))
    tables.sources = {part.table: rows}
    return tables


def _place(task: _Task, number: int) -> _Place:
    """Where is written what becomes of a part, or of several. Raises `EngineError` where that is not seen here."""
    folder = Path(task.folder)
    if not (folder / _SEEN).is_file():
        words = f"{folder.parent} is not there on {platform.node()}"
        raise EngineError(f"{words}; convert to a folder on storage that all workers see")
    return _Place(folder, f"{task.run}-{number}")


def _without(rows: Callable[[], Iterator[Any]], left_out: frozenset[int]) -> Iterator[Any]:
    return (row for place, row in enumerate(rows()) if place not in left_out)
