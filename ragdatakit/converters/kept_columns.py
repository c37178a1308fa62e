"""Columns of tables straight from the scanner, for files most of whose records have the fields that most sets have; all
other records are read as the reader reads them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.database.columns import (
    Kind,
    PackedColumn,
    packed,
    packed_apart,
    packed_numbers,
    packed_same,
    packed_texts,
)
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import COLUMN, TextFacts
from ragdatakit.database.text_places import ApartTexts, bare_record
from ragdatakit.files.containers.sources import TEXT_BLOCK_BYTES
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import (
    EVERY_TEXT,
    NO_TEXT,
    BlockScanner,
    KeptValues,
    Sampling,
    ScannedBlock,
    ScannedFacts,
    TextSample,
)
from ragdatakit.scanner.notes import BLANK

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.arrays.codes import Codes
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.cell_lines import CellBlock
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.scanner.plan import Asked
    from ragdatakit.schemas.declarations import Columns as Cut
    from ragdatakit.schemas.declarations import File, Record

_LEAST_RUN, _MANY_RUNS = 16, 500
"""Records side by side that are columns, below which it takes longer to cut these than to read all records; and in how
many runs of them that is looked at."""

Columns = list[PackedColumn]
RowOf = Callable[[int, "dict[str, Raw]"], tuple[Any, ...] | None]
"""The row that a record is, given its number in the file and its fields; None where it is none."""


@dataclass(frozen=True, slots=True)
class KeptColumn:
    """A column of a table: the values of a field as they are, texts or numbers (of none: ``nothing``), or what ``made``
    makes of each, as it is written, and of a missing one (None); not of texts, which may be empty. ``filled``: an empty
    text is none."""

    kind: Kind
    field: str = ""
    made: Callable[[bytes | None], Any] | None = None
    nothing: Any = None
    filled: bool = False


def columns_of(
    table: str,
    fields: Mapping[str, str],
    made: Mapping[str, Callable[[bytes | None], Any]] | None = None,
    **same: str | None,
) -> list[KeptColumn]:
    """The columns of a table: fields as they are or as they are ``made``, by the names of the columns, else one
    value."""
    made = made or {}
    return [
        KeptColumn(kind, fields.get(name, ""), made.get(name), same.get(name, () if kind is Kind.TEXTS else None))
        for name, kind in schema_of(table).items()
    ]


_Noted = tuple[int, Callable[[], "tuple[Any, ...] | None"]]
"""The row of a record that was noted, and what makes the row of it that a table has, if any."""


class KeptColumns:
    """Reads files of lines that are objects as ``record`` declares them, or cells that are cut as ``cells`` says, or
    files of elements between ``tags``, except those of which ``asked`` says that they stay open. ``batches_of`` makes
    batches of the rows of all other records. `_slice` has the values of ``further`` fields, and codes of ``keys``, too;
    records with codes that are not ``known`` are other ones. Texts of all ``files``, those in the field ``text``, stay
    out of the columns where ``facts`` say so. `Unproved` where nearly all runs of usual records are short.
    ``_in_turn``: a row that is made otherwise depends on those before it."""

    _in_turn = False

    def __init__(
        self,
        record: Record,
        columns: Sequence[KeptColumn],
        batches_of: Callable[[Iterator[Any]], Iterable[Columns]],
        asked: Iterable[Asked] = (),
        further: Sequence[str] = (),
        facts: TextFacts | None = None,
        files: Sequence[DataFile] = (),
        keys: Sequence[str] = (),
        cells: Cut | None = None,
        tags: tuple[str, ...] = (),
        text: str = COLUMN,
        known: Mapping[str, Codes] | None = None,
    ) -> None:
        self._columns = tuple(columns)
        self._batches_of = batches_of
        self._facts = facts if facts is not None and facts.apart(files) else None
        self._text = text
        apart = text if self._facts is not None else ""
        kept = [column.field for column in columns if column.field not in ("", apart)]
        kept += further
        names = {name: name for name in keys}
        self._scanner = BlockScanner(record, names, asked, cells=cells, known=known, tags=tags, kept=kept, facts=apart)
        self._rows = self._others = 0  # of scanned blocks, and how many more there are
        self._runs = self._in_runs = 0
        self._origin: tuple[bytes, int, DataFile, Callable[[list[bytes]], TextSample]]

    def batches(self, file: DataFile, records: RecordReader, row_of: RowOf) -> Iterator[Columns]:
        """The rows of a file, in its order."""
        for taken in records.taken(file, self._scan, 0, TEXT_BLOCK_BYTES):
            if isinstance(taken, list):
                rows = [row for number, fields in taken if (row := row_of(number, fields)) is not None]
                self._others += len(rows)
                yield from self._batches_of(iter(rows))
                continue
            first, number, data, scanned, offset = taken
            self._origin = data, offset, file, self._texts_of_lines

            def noted(row: int, line: int, raw: bytes, first: int = first, number: int = number) -> Any:
                fields = records.fields_at(file, first + line, raw)
                return row_of(number + row, fields) if fields is not None else None

            yield from self._of_block(scanned, _sliced(noted, data))

    def batches_of_cells(
        self, file: DataFile, records: RecordReader, kind: File, row_of: Callable[[int, dict[str, Any]], Any]
    ) -> Iterator[Columns]:
        """The same of a file of lines of cells: ``row_of`` is given the numbers of records, and these."""

        def noted(block: CellBlock, row: int, line: int, start: int, end: int) -> Any:
            found = block.record(row, line, start, end)
            return row_of(*found) if found is not None else None

        for taken in records.cells_taken(file, kind, self._scanner.scan):
            if isinstance(taken, tuple):
                block, scanned = taken
                yield from self._of_block(scanned, partial(noted, block))
            else:
                yield from self._batches_of(row for row in starmap(row_of, taken) if row is not None)

    def batches_of_array(
        self,
        file: DataFile,
        records: RecordReader,
        row_of: Callable[[int, Any], tuple[Any, ...] | None],
        of_objects: bool = False,
    ) -> Iterator[Columns]:
        """The same of a file that is an array: ``row_of`` is given the numbers of its values, and these, or the fields
        of those that are objects."""
        from ragdatakit.scanner.element_parts import Here, scanned_parts

        def row_at(place: int, raw: bytes) -> tuple[Any, ...] | None:
            if of_objects:
                fields = records.fields_at(file, place, raw)
                return row_of(place, fields) if fields is not None else None
            return next((row_of(place, value) for value in records.value_at(file, place, raw)), None)

        with Here() as here:
            parts = partial(scanned_parts, scan=self._scan_elements, pool=here, jobs=0, sees_next=lambda: False)
            for taken in records.elements_taken(file, parts):
                if not isinstance(taken, tuple):
                    rows = [row for place, raw in taken.records() if (row := row_at(place, raw)) is not None]
                    self._others += len(rows)
                    yield from self._batches_of(iter(rows))
                    continue
                part, scanned = taken
                self._origin = part.data, part.byte_offset, file, self._texts_of_elements

                def noted(row: int, _: int, raw: bytes, first: int = part.first_record) -> tuple[Any, ...] | None:
                    return row_at(first + row, raw)

                yield from self._of_block(scanned, _sliced(noted, part.data))

    def batches_of_elements(
        self, file: DataFile, records: RecordReader, kind: File, row_of: Callable[[int, dict[str, str]], Any]
    ) -> Iterator[Columns]:
        """The same of a file of elements between tags: ``row_of`` is given their numbers and their fields."""
        fields_of = records.element_reader(file, kind)
        for taken in records.elements_scanned(file, kind, self._scan_tagged):
            if isinstance(taken, list):
                rows = [row for row in starmap(row_of, taken) if row is not None]
                self._others += len(rows)
                yield from self._batches_of(iter(rows))
                continue
            first, data, scanned, offset = taken
            self._origin = data, offset, file, self._texts_of_tagged

            def noted(row: int, _: int, raw: bytes, first: int = first) -> Any:
                return row_of(first + row, fields_of(first + row, raw))

            yield from self._of_block(scanned, _sliced(noted, data))

    def _scan(self, data: bytes) -> ScannedBlock | None:
        found = self._scanner.scan(data, sampled=self._sampling())
        self._rows += found.rows if found is not None else 0
        return found

    def _scan_elements(self, data: bytes) -> tuple[ScannedBlock, int]:
        found = self._scanner.scan_elements(data, members=False, sampled=self._sampling())
        self._rows += found[0].rows
        return found

    def _scan_tagged(self, data: bytes) -> ScannedBlock:
        found, _ = self._scanner.scan_tagged(data, self._sampling())
        self._rows += found.rows
        return found

    def _sampling(self) -> Sampling:
        """Which texts of the next block are probably wanted: blocks are scanned ahead of those who count rows."""
        return self._facts.sampling(self._rows + self._others) if self._facts is not None else NO_TEXT

    def _texts_of_lines(self, records: list[bytes]) -> TextSample:
        return _sample(self._scanner.scan(b"\n".join(records), sampled=EVERY_TEXT))

    def _texts_of_elements(self, records: list[bytes]) -> TextSample:
        return _sample(self._scanner.scan_elements(b",".join(records), members=False, sampled=EVERY_TEXT)[0])

    def _texts_of_tagged(self, records: list[bytes]) -> TextSample:
        return _sample(self._scanner.scan_tagged(b"\n".join(records), EVERY_TEXT)[0])

    def _of_block(self, scanned: ScannedBlock, noted: Callable[[int, int, int, int], Any]) -> Iterator[Columns]:
        """The rows of a block, in order; ``noted`` makes the row of a record that the scanner has noted, if it is one,
        given its row and line, and between which places it is."""
        others: list[_Noted] = [
            (row, partial(noted, row, *place)) for why, row, *place in scanned.notes if why != BLANK
        ]
        if not self._in_turn:
            scanned, others = self._without_refused(scanned, others)
        done = 0
        waiting: list[tuple[Any, ...]] = []
        for row, make in others:
            if row > done:
                yield from self._batches_of(iter(waiting))
                waiting = []
                self._refuse_short_runs(row - done)
                yield self._slice(scanned, done, row)
            done = row + 1
            if (found := make()) is not None:
                waiting.append(found)
            else:
                self._others -= 1
        yield from self._batches_of(iter(waiting))
        if scanned.rows > done:
            yield self._slice(scanned, done, scanned.rows)

    def _without_refused(self, scanned: ScannedBlock, others: Sequence[_Noted]) -> tuple[ScannedBlock, list[_Noted]]:
        """The block without noted records that are no rows, and the other ones with their rows in it: what is side by
        side then is not cut."""
        made = [(row, make()) for row, make in others]
        gone = [row for row, found in made if found is None]
        self._others -= len(gone)
        kept = [(row - bisect(gone, row), found) for row, found in made if found is not None]
        return scanned.without(gone), [(row, lambda found=found: found) for row, found in kept]  # type: ignore[misc]

    def _refuse_short_runs(self, length: int) -> None:
        """Raise `Unproved` where few of the usual records are side by side, in very many runs: to read all of them as
        the reader does takes less time."""
        self._runs += 1
        self._in_runs += length
        if self._runs > _MANY_RUNS and self._in_runs < _LEAST_RUN * self._runs:
            raise Unproved

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        """The columns of some rows."""
        return [
            packed_apart(self._apart(scanned.facts, first, last))
            if column.field == self._text and scanned.facts is not None
            else _column(column, scanned.kept[column.field], first, last)
            if column.field
            else packed_same(column.kind, column.nothing, last - first)
            for column in self._columns
        ]

    def _apart(self, facts: ScannedFacts, first: int, last: int) -> ApartTexts:
        """The texts of some rows, with those that are wanted now that it is known how many rows there are before."""
        assert self._facts is not None
        data, at, file, texts_of = self._origin
        texts = ApartTexts.of(facts, first, last, at, file, texts_of)
        wanted = self._facts.sampling().of_next(last - first)
        there = texts.sample.rows
        if len(there) >= len(wanted) and np.array_equal(there[np.searchsorted(there[:-1], wanted)], wanted):
            return texts
        starts, ends = (places[first:last][wanted].tolist() for places in (facts.starts, facts.behind))
        found = texts_of([bare_record(data[start:end]) for start, end in zip(starts, ends, strict=True)])
        return replace(texts, sample=replace(found, rows=wanted[found.rows]))


def _sample(scanned: ScannedBlock | None) -> TextSample:
    """The texts that were wanted of a block whose records were scanned before."""
    assert scanned is not None
    assert scanned.facts is not None
    return scanned.facts.sample


def _sliced(noted: Callable[[int, int, bytes], Any], data: bytes) -> Callable[[int, int, int, int], Any]:
    """The same, given between which places of the data a record is."""
    return lambda row, line, start, end: noted(row, line, data[start:end])


def values_of(kept: KeptValues, first: int, last: int) -> list[bytes | None]:
    """The values of some rows, as they are written; None where there is none."""
    places, data = kept.offsets[first : last + 1].tolist(), kept.data
    values: list[bytes | None] = [data[start:end] for start, end in pairwise(places)]
    for row in kept.missing.tolist():
        if first <= row < last:
            values[row - first] = None
    return values


def _column(column: KeptColumn, kept: KeptValues, first: int, last: int) -> PackedColumn:
    """The values of some rows."""
    missing = kept.missing[(kept.missing >= first) & (kept.missing < last)] - first
    if column.made is None:
        if column.kind in (Kind.NUMBER, Kind.INTEGER):
            return packed_numbers(column.kind, *numbers_of(kept, first, last))
        if column.filled:
            missing = np.flatnonzero(np.diff(kept.offsets[first : last + 1]) == 0)
        return packed_texts(kept.data, kept.offsets[first : last + 1], missing)
    absent = column.made(None)
    if len(missing) == last - first:
        return packed_same(column.kind, absent, last - first)
    offsets, data, made = kept.offsets[first : last + 1], kept.data, column.made
    if (one := _only_one(data, offsets)) is not None:
        return packed_same(column.kind, made(one), last - first)
    values = [made(data[start:end]) if end > start else absent for start, end in pairwise(offsets.tolist())]
    return packed(column.kind, values)


def _only_one(data: bytes, offsets: npt.NDArray[np.int64]) -> bytes | None:
    """The value that all rows between these offsets have; None where they differ, or one has none."""
    one = data[offsets[0] : offsets[1]]
    is_alike = one and (np.diff(offsets) == len(one)).all()
    return one if is_alike and data[offsets[0] : offsets[-1]] == one * (len(offsets) - 1) else None
