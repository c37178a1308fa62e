"""Texts straight from the scanner, for who looks at all of them and wants hardly a row: blocks of files of lines, whose
records are rows when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from ragdatakit.files.containers.sources import TEXT_BLOCK_BYTES
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.blocks import BlockScanner, KeptValues, ScannedBlock
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.texts import Joined

if TYPE_CHECKING:
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.scanner.plan import Asked
    from ragdatakit.schemas.declarations import Columns, File, Record

T = TypeVar("T")
Row = tuple[Any, ...]
_TOGETHER = 1 << 20
_MOST_BYTES = 1 << 30
"""Of the texts of a block; of more than that there are rows."""


class TextColumn(Sequence[str]):
    """Texts as UTF-8, which become texts of Python's when somebody asks."""

    def __init__(self, joined: Joined) -> None:
        self.joined = joined

    def __len__(self) -> int:
        return self.joined.number

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: int | slice) -> str | Sequence[str]:
        if isinstance(place, slice):
            return list(self)[place]
        data, offsets = self.joined.data, self.joined.offsets
        place = range(len(self))[place]
        return str(data[offsets[place] : offsets[place + 1]], "utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        data, offsets = self.joined.data, self.joined.offsets
        places = pairwise(offsets.tolist())
        if self.joined.is_ascii:
            text = str(data, "ascii")
            return iter([text[start:end] for start, end in places])  # sooner than one by one
        return iter([str(data[start:end], "utf-8", "surrogatepass") for start, end in places])


class TextBlock(Sequence[Row]):
    """Rows of a table, of which only some columns are there, by name: a missing text is empty."""

    def __init__(self, row: type[Row], columns: Mapping[str, TextColumn]) -> None:
        self.columns = columns
        self._row = row

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        return self._row(**{name: column[place] for name, column in self.columns.items()})


class LookedAt(Sequence[Row]):
    """As many rows as were looked at where they were scanned, and what was ``found``; they are no longer there."""

    def __init__(self, number: int, found: Any) -> None:
        self.found = found
        self._number = number

    def __len__(self) -> int:
        return self._number

    def __getitem__(self, _: int | slice) -> Any:
        raise LookupError("rows that were looked at are let go of")


Passages = Sequence[Any]
"""Rows of canonical tables, a `TextBlock`, or some that were `LookedAt`."""
Look = Callable[[Passages], object]


class _Scanned(NamedTuple):
    """A block of lines, and the rows that it is; None where other ones are among them."""

    found: ScannedBlock
    block: Passages | None

    @property
    def lines(self) -> int:
        return self.found.lines

    @property
    def rows(self) -> int:
        return self.found.rows


class KeptTexts:
    """Reads files of lines that are objects as ``record`` declares them, or cells that are cut as ``cells`` says, or
    elements between ``tags``, except for those of which ``asked`` says that they stay open.
    ``columns`` are the columns of a table's rows (``row``) by the fields that they come from."""

    def __init__(
        self,
        record: Record,
        row: type[Row],
        columns: Mapping[str, str],
        asked: Iterable[Asked] = (),
        cells: Columns | None = None,
        tags: tuple[str, ...] = (),
    ) -> None:
        self._row, self._columns = row, columns
        self._scanner = BlockScanner(record, {}, asked, cells=cells, tags=tags, kept=list(columns))

    def passages(
        self,
        file: DataFile,
        records: RecordReader,
        jobs: int,
        row_of: Callable[[int, dict[str, Raw]], Row | None],
        look: Look | None = None,
    ) -> Iterator[Passages]:
        """The rows of a file, in its order; ``row_of`` makes those of records that the scanner does not prove. It scans
        in so many threads, which ``look`` at blocks without such records, too."""

        def scan(data: bytes) -> _Scanned | None:
            found = self._scanner.scan(data, look is not None)
            if found is None:
                return None
            block = self._block(found, {}) if all(note[0] == BLANK for note in found.notes) else None
            if look is None:
                return _Scanned(found, block)
            if block is None:
                return _Scanned(found.copied(), None)
            if isinstance(block, TextBlock):
                block = LookedAt(len(block), look(block))
            found.hide()
            return _Scanned(found, block)

        for taken in records.taken(file, scan, jobs, TEXT_BLOCK_BYTES):
            if isinstance(taken, list):
                yield _rows_of(row_of, taken)
                continue
            first, number, data, scanned, _ = taken
            if scanned.block is not None:
                yield scanned.block
                continue
            others: dict[int, Row | None] = {}
            for why, row, line, start, end in scanned.found.notes:
                if why != BLANK:
                    fields = records.fields_at(file, first + line, data[start:end])
                    others[row] = row_of(number + row, fields) if fields is not None else None
            yield self._block(scanned.found, others)

    def columns(
        self, file: DataFile, records: RecordReader, row_of: Callable[[int, dict[str, Raw]], Row | None]
    ) -> Iterator[Mapping[str, TextColumn] | list[Any]]:
        """The columns of each block of a file whose lines the scanner proves, the rows of others."""
        for taken in records.taken(file, self._proved, 0, TEXT_BLOCK_BYTES):
            yield self._columns_of(taken[3], {}) if isinstance(taken, tuple) else _rows_of(row_of, taken)

    def columns_of_cells(
        self, file: DataFile, records: RecordReader, kind: File, row_of: Callable[[int, dict[str, Any]], Row | None]
    ) -> Iterator[Mapping[str, TextColumn] | list[Any]]:
        """The same of a file of lines of cells."""
        for taken in records.cells_taken(file, kind, self._proved):
            yield self._columns_of(taken[1], {}) if isinstance(taken, tuple) else _rows_of(row_of, taken)

    def _proved(self, data: bytes) -> ScannedBlock | None:
        found = self._scanner.scan(data)
        return found if found is not None and all(note[0] == BLANK for note in found.notes) else None

    def passages_of_array(
        self,
        file: DataFile,
        records: RecordReader,
        jobs: int,
        row_of: Callable[[int, Any], Row | None],
        of_objects: bool = False,
    ) -> Iterator[Passages]:
        """The same of a file that is an array: ``row_of`` is given the numbers of its values, and these, or the fields
        of those that are objects."""
        from concurrent.futures import ThreadPoolExecutor

        from ragdatakit.scanner.element_parts import scanned_parts

        def row_at(place: int, raw: bytes) -> Row | None:
            if of_objects:
                fields = records.fields_at(file, place, raw)
                return row_of(place, fields) if fields is not None else None
            return next((row_of(place, value) for value in records.value_at(file, place, raw)), None)

        scan = partial(self._scanner.scan_elements, members=False)
        with ThreadPoolExecutor(jobs) as pool:
            parts = partial(scanned_parts, scan=scan, pool=pool, jobs=jobs, sees_next=lambda: False)
            for taken in records.elements_taken(file, parts):
                if not isinstance(taken, tuple):
                    yield [row for place, raw in taken.records() if (row := row_at(place, raw)) is not None]
                    continue
                part, scanned = taken
                notes = ((row, start, end) for why, row, _, start, end in scanned.notes if why != BLANK)
                others = {row: row_at(part.first_record + row, part.data[start:end]) for row, start, end in notes}
                yield self._block(scanned, others)

    def passages_of_elements(
        self, file: DataFile, records: RecordReader, kind: File, row_of: Callable[[int, dict[str, str]], Row | None]
    ) -> Iterator[Passages]:
        """The same of a file of elements between tags: ``row_of`` is given their numbers and their fields."""
        fields_of = records.element_reader(file, kind)
        for taken in records.elements_scanned(file, kind, lambda data: self._scanner.scan_tagged(data)[0]):
            if isinstance(taken, list):
                yield _rows_of(row_of, taken)
                continue
            first, data, scanned, _ = taken
            notes = ((first + row, start, end) for why, row, _, start, end in scanned.notes if why != BLANK)
            others = {row - first: row_of(row, fields_of(row, data[start:end])) for row, start, end in notes}
            yield self._block(scanned, others)

    def _columns_of(self, scanned: ScannedBlock, others: Mapping[int, Row | None]) -> dict[str, TextColumn]:
        return {
            name: TextColumn(_with_others(scanned.kept[field], name, others)) for field, name in self._columns.items()
        }

    def _block(self, scanned: ScannedBlock, others: Mapping[int, Row | None]) -> Passages:
        columns = self._columns_of(scanned, others)
        block = TextBlock(self._row, columns)
        is_huge = any(len(column.joined.data) >= _MOST_BYTES for column in columns.values())
        return list(map(block.__getitem__, range(len(block)))) if is_huge else block


def some_together(rows: Iterable[Any]) -> Iterator[list[Any]]:
    """Rows with texts, as many as are a megabyte together."""
    some: list[Any] = []
    size = 0
    for row in rows:
        some.append(row)
        if (size := size + len(row.text)) >= _TOGETHER:
            yield some
            some, size = [], 0
    if some:
        yield some


def _rows_of(row_of: Callable[[int, T], Row | None], numbered: Iterable[tuple[int, T]]) -> list[Any]:
    return [row for row in starmap(row_of, numbered) if row is not None]


def _with_others(kept: KeptValues, name: str, others: Mapping[int, Row | None]) -> Joined:
    """The values of a field, those of other rows among them; without those of which there is no row."""
    if not others:
        return _joined(kept.data, kept.offsets)
    lengths, there = np.diff(kept.offsets), np.ones(len(kept.offsets) - 1, np.bool_)
    pieces, behind = [], 0
    for row, found in others.items():
        text = (getattr(found, name, "") or "").encode("utf-8", "surrogatepass")
        start, end = kept.offsets[row : row + 2].tolist()
        pieces += [kept.data[behind:start], text]
        behind, lengths[row], there[row] = end, len(text), found is not None
    pieces.append(kept.data[behind:])
    return _joined(b"".join(pieces), np.cumsum([0, *lengths[there].tolist()]))


def _joined(data: bytes, offsets: Any) -> Joined:
    """Texts, whose places are wide only where rows are made of them."""
    return Joined(data, offsets.astype(np.int32) if len(data) < _MOST_BYTES else offsets)
