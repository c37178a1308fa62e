"""Conversions by an engine: parts of tables are read, and what they become is written, by workers; the process that
asked puts the pieces together in their order."""

from __future__ import annotations

import platform
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.api.in_parts.part_jobs import PartJob, Placed
from ragdatakit.api.in_parts.reporting import rows_left_out
from ragdatakit.converters.run import read_source
from ragdatakit.converters.table_parts import TablePart, cut_tables, tables_in_parts
from ragdatakit.files.reading.tables_in_parts import Piece, Work
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.written_files import LineWriter
from ragdatakit.reports.parts.overlaps import MeansAnotherError, Overlaps
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import EngineError, RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.sources import ConversionSettings, Source
    from ragdatakit.engines import Engine
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.options import ConvertOptions

R = TypeVar("R")
PART_BYTES = 32 << 20
PAIRS = (("light-splade", "beir"), ("beir", "light-splade"))
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
        "--dry-run": options.dry_run,
        "--keep-going": options.keep_going,
        "--sidecar": options.sidecar,
        "--container": options.container,
        "--negatives": options.negatives,
        "--extractor": options.extractor,
        "--chunk-by": options.chunking,
    }
    if given := next((name for name, value in asked.items() if value), None):
        raise RagdataError(f"{given} and --engine do not go together; leave one of them out")


@dataclass(frozen=True, slots=True)
class _Task:
    """What is done with each part, and where what it becomes is written; ``left_out`` as workers of reports have it."""

    job: PartJob
    work: Work[Any]
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
        piece.records = writer.records


class ConversionParts:
    """The parts of one conversion. Raises `RagdataError` where the source cannot be read in parts."""

    def __init__(
        self, engine: Engine, source: Source, wanted: ConversionSettings, tables: CanonicalTables, out: Path
    ) -> None:
        files = tables_in_parts(source, wanted)
        if files is None:
            raise RagdataError(
                f"{source.display} cannot be read in parts: it has several sets of queries, or ids and values that an "
                "earlier conversion kept; leave --engine out"
            )
        self._engine, self._tables, self._folder, self._runs = engine, tables, out / _FOLDER, 0
        self._progress = wanted.progress
        self._job = PartJob.of(source, wanted, None, wanted.memory_limit)
        files = {table: files[table] for table in ("documents", "triplets", "pair_scores") if table in files}
        parts = cut_tables(self._job.source, files, PART_BYTES)
        self._parts = {table: [part for part in parts if part.table == table] for table in files}
        self._known: set[str] = set()
        try:
            self._left_out = rows_left_out(self._job, engine, parts, files)
        except MeansAnotherError:
            words = "has ids that mean one thing in one split and another in the other"
            raise RagdataError(f"{source.display} {words}; leave --engine out") from None
        own = read_source(source, self._job.wanted, Losses(), partly=True)  # what is met here is accounted by the parts
        tables.sources = {
            table: own.sources[table] if table in files else rows for table, rows in tables.sources.items()
        }
        self._folder.mkdir()
        (self._folder / _SEEN).touch()

    def number(self, table: str) -> int:
        """As `TablesInParts` has it."""
        return len(self._parts.get(table, ()))

    def each(self, work: Work[R], given: Sequence[Any], table: str = "documents") -> Iterator[R]:
        """As `TablesInParts` has it."""
        self._runs += 1
        left_out = {number: rows for (name, number), rows in self._left_out.items() if name == table}
        task = _Task(self._job, work, str(self._folder.absolute()), self._runs, left_out)
        placed, rows = Placed(Losses()), 0
        keys = list(zip(self._parts[table], given, strict=True))
        for number, done in enumerate(self._engine.map(partial(worked, task), keys), 1):
            if self._progress is not None:
                self._progress(table, number, len(keys))
            placed.take(done.reading, done.extents)
            self._tables.losses.take(done.writing)
            rows += done.rows
            yield done.result
        if table not in self._known:
            self._known.add(table)
            self._tables.losses.take(placed.losses)
        if rows:
            self._tables.counts[table] = rows

    @staticmethod
    def remove(path: Path) -> None:
        """As `TablesInParts` has it."""
        path.unlink()

    def close(self) -> None:
        """Nothing of it stays in the output."""
        for path in self._folder.iterdir():
            path.unlink()
        self._folder.rmdir()


def worked(task: _Task, key: tuple[TablePart, Any]) -> _Done:
    """In a worker: what becomes of a part."""
    part, given = key
    source = task.job.reading(part)
    folder = Path(task.folder)
    if not (folder / _SEEN).is_file():
        words = f"{folder.parent} is not there on {platform.node()}"
        raise EngineError(f"{words}; convert to a folder on storage that all workers see")
    reading = Losses()
    tables = read_source(source, task.job.wanted, reading, partly=True)
    tables.losses = Losses()
    rows, left_out = tables.sources[part.table], task.left_out.get(part.number)
    if left_out is not None:
        rows = partial(_without, rows, frozenset(Overlaps.places(left_out)))
    tables.sources = {part.table: rows}
    result = task.work(tables, _Place(folder, f"{task.run}-{part.number}"), given)
    assert tables.records is not None
    extents = [(name, lines, given) for name, (lines, given, _) in tables.records.extents.items()]
    kinds = {file.kind for file in part.along}
    return _Done(result, reading.without(kinds), tables.losses, tables.counts.get(part.table, 0), extents)


def _without(rows: Callable[[], Iterator[Any]], left_out: frozenset[int]) -> Iterator[Any]:
    return (row for place, row in enumerate(rows()) if place not in left_out)
