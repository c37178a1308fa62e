"""Columns of tables straight from the scanner, for files most of whose records have the fields that most sets have; all
other records are read as the reader reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_texts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.blocks import BlockScanner, KeptValues, ScannedBlock
from ragdatakit.scanner.notes import BLANK

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.scanner.plan import Asked
    from ragdatakit.schemas.declarations import Record

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


class KeptColumns:
    """Reads files of lines that are objects as ``record`` declares them, except those of which ``asked`` says that they
    stay open. ``batches_of`` makes batches of the rows of all other records. `_slice` has the values of ``further``
    fields, too."""

    def __init__(
        self,
        record: Record,
        columns: Sequence[KeptColumn],
        batches_of: Callable[[Iterator[Any]], Iterable[Columns]],
        asked: Iterable[Asked] = (),
        further: Sequence[str] = (),
    ) -> None:
        self._columns = tuple(columns)
        self._batches_of = batches_of
        self._scanner = BlockScanner(record, {}, asked, kept=[*(c.field for c in columns if c.field), *further])

    def batches(self, file: DataFile, records: RecordReader, row_of: RowOf) -> Iterator[Columns]:
        """The rows of a file, in its order."""
        number = 0
        for taken in records.taken(file, self._scanner.scan):
            if isinstance(taken, list):
                rows = (row_of(number + place, fields) for place, fields in enumerate(taken))
                yield from self._batches_of(row for row in rows if row is not None)
                number += len(taken)
                continue
            first, data, scanned = taken

            def noted(row: int, line: int, raw: bytes, first: int = first, number: int = number) -> Any:
                fields = records.fields_at(file, first + line, raw)
                return row_of(number + row, fields) if fields is not None else None

            yield from self._of_block(data, scanned, noted)
            number += scanned.rows

    def batches_of_array(
        self, file: DataFile, records: RecordReader, row_of: Callable[[int, Any], tuple[Any, ...] | None]
    ) -> Iterator[Columns]:
        """The same of a file that is an array of values: ``row_of`` is given their numbers, and what they are."""
        from ragdatakit.scanner.element_parts import Here, scanned_parts

        def row_at(place: int, raw: bytes) -> tuple[Any, ...] | None:
            return next((row_of(place, value) for value in records.value_at(file, place, raw)), None)

        scan = partial(self._scanner.scan_elements, members=False)
        with Here() as here:
            parts = partial(scanned_parts, scan=scan, pool=here, jobs=0, sees_next=lambda: False)
            for taken in records.elements_taken(file, parts):
                if not isinstance(taken, tuple):
                    rows = (row_at(place, raw) for place, raw in taken.records())
                    yield from self._batches_of(row for row in rows if row is not None)
                    continue
                part, scanned = taken

                def noted(row: int, _: int, raw: bytes, first: int = part.first_record) -> tuple[Any, ...] | None:
                    return row_at(first + row, raw)

                yield from self._of_block(part.data, scanned, noted)

    def _of_block(
        self, data: bytes, scanned: ScannedBlock, noted: Callable[[int, int, bytes], tuple[Any, ...] | None]
    ) -> Iterator[Columns]:
        """The rows of a block, in order; ``noted`` reads a record that the scanner has noted, given its row, line and
        text."""
        done = 0
        for why, row, line, start, end in scanned.notes:
            if why == BLANK:
                continue
            if row > done:
                yield self._slice(scanned, done, row)
            done = row + 1
            found = noted(row, line, data[start:end])
            if found is not None:
                yield from self._batches_of(iter((found,)))
        if scanned.rows > done:
            yield self._slice(scanned, done, scanned.rows)

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        """The columns of some rows."""
        return [
            _column(column, scanned.kept[column.field], first, last)
            if column.field
            else packed(column.kind, [column.nothing] * (last - first))
            for column in self._columns
        ]


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
        if column.kind is Kind.NUMBER:
            return packed_numbers(column.kind, *_numbers(kept, first, last))
        if column.filled:
            missing = np.flatnonzero(np.diff(kept.offsets[first : last + 1]) == 0)
        return packed_texts(kept.data, kept.offsets[first : last + 1], missing)
    absent = column.made(None)
    if len(missing) == last - first:
        return packed(column.kind, [absent] * (last - first))
    places, data, made = kept.offsets[first : last + 1].tolist(), kept.data, column.made
    values = [made(data[start:end]) if end > start else absent for start, end in pairwise(places)]
    return packed(column.kind, values)


def _numbers(kept: KeptValues, first: int, last: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The numbers of some rows as floats, and which rows have none."""
    places = kept.offsets[first : last + 1]
    lengths = np.diff(places)
    there = np.flatnonzero(lengths)
    values = np.zeros(last - first, np.float64)
    if len(there):
        written = np.frombuffer(kept.data, np.uint8)[places[0] : places[-1]]
        listed = np.full(len(written) + len(there), ord(","), np.uint8)
        listed[np.arange(len(written)) + np.repeat(np.arange(len(there)), lengths[there])] = written
        values[there] = _floats(listed[:-1].tobytes())
    return values, np.flatnonzero(lengths == 0)


def _floats(listed: bytes) -> Any:
    """Numbers as Python reads them, which are written between commas."""
    if b"-0" not in listed:  # which is no float there
        try:
            return orjson.loads(b"[%b]" % listed)
        except ValueError:  # a number that no float holds
            pass
    return [float(value) for value in listed.split(b",")]
