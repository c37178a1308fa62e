"""A CSV file cut into records, as pandas' reader cuts it, with every record's physical line and offset.

A record ends at a line end (LF, CR LF or a lone CR) outside of quotes; lines of nothing but blanks are skipped. A quote
that is never closed would swallow the rest of the file: cutting continues at the next line that is a whole record of
its own, and the record before it is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import field

from ragdatakit.files.containers.csv_cells import chunk_rows, split_record
from ragdatakit.files.containers.lines import line_ends
from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.containers.positions import BlockTable
from ragdatakit.files.containers.sources import Source
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern

_FIELD = rb'(?:"(?:[^"]++|"")*+"[^,\r\n]*+|(?!")[^,\r\n]*+)'
_RECORD = late_pattern(rb"%b(?:,%b)*+(?=[\r\n]|\Z)" % (_FIELD, _FIELD))
_BARE_LINE = late_pattern(rb"[^\r\n]*+")
_END = late_pattern(rb"\r\n|\r|\n")
_BLANK = late_pattern(rb"[ \t]*+(?=[\r\n]|\Z)")
LONGEST_OPEN = 1 << 26
"""Bytes that a quoted cell may take before it is looked at as one that was never closed."""
_WORTH_CUTTING = 4
"""This part of a block, left behind the end of a chunk of rows, is cut as it is: to add to it is to copy it all."""
_MANY, _MOST_ODD = 64, 1 << 10  # rows that are worth the quick way; rows cut one by one at once where it often fails
_BYTES_OF_ONE, _AT_ONCE = 1 << 10, 1 << 14  # for each record that the quick way leads to; that are copied for it

Cutter = Callable[[bytes, int, bool, tuple[int, ...]], tuple[int, int, int]]
"""A quick way to cut up to so many rows: (rows, bytes, lines) at the beginning of data, as far as it is certain."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """One record: 0-based offset in the file, 1-based line, its bytes without the line end.

    ``closed`` is false where a quote in it is not closed and its end is a guess.
    """

    offset: int
    line: int
    raw: bytes
    closed: bool = True


@dataclass(slots=True)
class CsvBlock:
    """Whole records.

    ``rows`` counts them, ``first_row`` (0-based, the header not counted) and ``first_line`` (1-based) say where they
    begin. ``cut`` holds them one by one; None where ``data`` is what the quick way has cut.
    ``chunk``: the number of the chunk in which pandas reads them.
    """

    data: bytes
    offset: int
    first_line: int
    first_row: int
    rows: int
    lines: int
    chunk: int
    cut: list[RawRow] | None = None

    def raw_rows(self) -> list[RawRow]:
        """The records one by one."""
        if self.cut is not None:
            return self.cut
        rows, _, _ = cut_rows(self.data, self.offset, self.first_line, ended=True)
        return rows


def cut_rows(
    data: bytes,
    offset: int,
    line: int,
    ended: bool,
    widths: tuple[int, ...] = (),
    most: int = 1 << 62,
    most_bytes: int = 1 << 62,
    longest: int = LONGEST_OPEN,
) -> tuple[list[RawRow], int, int]:
    """(records, bytes consumed, lines consumed) of ``data``, which begins at a record's first byte.

    ``widths`` are the numbers of fields that a record of the file may have; a record over several lines with another
    number is looked at for a quote that was not closed, as is one that is still open after ``longest`` bytes. The last
    record is left where ``data`` may continue.
    """
    rows: list[RawRow] = []
    position, first_line = 0, line
    while position < len(data) and len(rows) < most and position < most_bytes:
        blank = _BLANK.match(data, position)
        if blank is not None:
            end = _END.match(data, blank.end())
            if end is None and not ended:
                break
            if end is not None and end.group() == b"\r" and end.end() == len(data) and not ended:
                break
            position, line = end.end() if end is not None else len(data), line + 1
            continue
        match = _RECORD.match(data, position)
        at = match.end() if match is not None else -1
        if (at < 0 or at == len(data)) and not ended and not (at < 0 and len(data) - position > longest):
            break
        closed = at >= 0
        if not closed:
            at = _resynchronised(data, position, len(data), widths) or (len(data.rstrip(b"\r\n")) if ended else -1)
            if at < 0:
                break
        elif widths and b"\n" in (spanned := data[position:at]) and _fields(spanned) not in widths:
            found = _resynchronised(data, position, at, widths)
            closed, at = not found, found or at
        end = _END.match(data, at)
        if end is not None and end.group() == b"\r" and end.end() == len(data) and not ended:
            break
        raw = data[position:at]
        rows.append(RawRow(offset + position, line, raw, closed))
        line += line_ends(raw) + 1
        position = end.end() if end is not None else len(data)
    return rows, position, line - first_line


def _fields(raw: bytes) -> int:
    return len(split_record(raw.decode("utf-8", "replace"))[0])


def _resynchronised(data: bytes, start: int, stop: int, widths: tuple[int, ...]) -> int:
    """Where the line before the next line ends that is a record of its own; 0 if there is none up to ``stop``."""
    at = data.find(b"\n", start, stop)
    while 0 <= at < stop - 1:
        bare = _BARE_LINE.match(data, at + 1)
        record = _RECORD.match(data, at + 1)
        assert bare is not None
        if record is not None and record.end() == bare.end() and _fields(record.group()) in widths:
            return at - (data[at - 1 : at] == b"\r")
        at = data.find(b"\n", at + 1, stop)
    return 0


@dataclass(slots=True)
class CsvReader:
    """One CSV file read in blocks of whole records; `open` first.

    ``header`` are the names of the columns, in order (None: the file has no line). ``width`` is the number of fields
    that pandas gives every row: that of the first row, if it is longer than the header. What ``quick`` cuts is left
    whole. ``rows`` are those that are read, from the first number up to the second.
    """

    source: Source
    quick: Cutter | None = None
    header: list[str] | None = None
    header_row: RawRow | None = None
    width: int = 0
    widths: tuple[int, ...] = ()
    chunk_rows: int = 1 << 17
    too_long: int = 0
    rows: tuple[int, int] = (0, 1 << 62)
    _data: bytes = b""
    _offset: int = 0
    _line: int = 1
    _ended: bool = False
    _pieces: Iterator[bytes] = field(default_factory=lambda: iter(()))

    def open(self) -> bool:
        """Read the header and look at the first row; False where there is no header."""
        self._pieces = self.source.pieces()
        self._fill(self.source.block_bytes)
        self._offset = 3 if self.source.bom else 0
        rows = self._cut_some(1)
        if not rows:
            return False
        self.header_row = rows[0]
        self.header = [f.text for f in split_record(rows[0].raw.decode("utf-8", "replace"))[0]]
        fields = self._fields_of_first_row()
        self.width = max(len(self.header), fields)
        self.widths = tuple({len(self.header), self.width})
        self.chunk_rows = chunk_rows(self.width)
        return True

    def go_to(self, source: Source, offset: int, line: int, rows: tuple[int, int]) -> None:
        """Go on with some rows, the first of which begins at this offset and line: there the pieces of ``source``
        begin."""
        self.source, self._pieces, self.rows = source, source.pieces(), rows
        self._data, self._ended = b"", False
        self._offset, self._line = offset, line

    def _fields_of_first_row(self) -> int:
        while True:
            rows, _, _ = cut_rows(self._data, 0, 1, self._ended, most=1)
            if rows:
                return _fields(rows[0].raw)
            if self._ended or len(self._data) > self.source.max_line_bytes:
                return 0
            self._fill(2 * len(self._data) + 1)

    def _fill(self, length: int) -> None:
        """Have so many bytes at hand, or all there are."""
        held, have = [self._data] if self._data else [], len(self._data)
        while have < length and not self._ended:
            piece = next(self._pieces, b"")
            self._ended = not piece
            if piece:
                held.append(piece)
            have += len(piece)
        self._data = held[0] if len(held) == 1 else b"".join(held)

    def _cut_some(self, most: int, most_bytes: int = 1 << 62) -> list[RawRow]:
        """Records cut one by one; at least one, if there is one."""
        while True:
            rows, used, lines = cut_rows(
                self._data,
                self._offset,
                self._line,
                self._ended,
                self.widths,
                most,
                most_bytes,
                self.source.max_line_bytes,
            )
            if used or self._ended:
                self._take(used, lines)
                if rows or self._ended or not self._data:
                    return rows
            elif len(self._data) > self.source.max_line_bytes:
                self.too_long = self._line
                self._data, self._ended = b"", True
                return []
            self._fill(min(2 * len(self._data), self.source.max_line_bytes) + 1)

    def _take(self, used: int, lines: int) -> None:
        self._data = self._data[used:]
        self._offset += used
        self._line += lines

    def blocks(self) -> Iterator[CsvBlock]:
        """The rows behind the header, in order; no block reaches over the end of one of pandas' chunks."""
        row, patience = self.rows[0], 1
        while row < self.rows[1]:
            self._fill(self.source.block_bytes // _WORTH_CUTTING + 1)
            if not self._data:
                return
            left = min(self.chunk_rows - row % self.chunk_rows, self.rows[1] - row)
            offset, line = self._offset, self._line
            rows, data = self._quick_cut(left)
            cut = None
            if self.quick is not None:
                patience = 1 if rows >= _MANY else min(2 * patience, _MOST_ODD)
            if not data:
                cut = self._cut_some(min(left, patience) if self.quick is not None else left)
                rows = len(cut)
            if rows:
                yield CsvBlock(data, offset, line, row, rows, self._line - line, row // self.chunk_rows, cut)
            row += rows

    def _quick_cut(self, most_rows: int) -> tuple[int, bytes]:
        if self.quick is None:
            return 0, b""
        rows, used, lines = self.quick(self._data, most_rows, self._ended, self.widths)
        data = self._data if used == len(self._data) else self._data[:used]
        self._take(used, lines)
        return rows, data


def locate_rows(
    source: Source, table: BlockTable, records: Iterable[int], widths: tuple[int, ...], quick: Cutter | None = None
) -> Iterator[tuple[int, RawRow]]:
    """(record, row) for records found again by the table of blocks; reads only the blocks that have them."""
    wanted: dict[int, list[int]] = {}
    for record in sorted(set(records)):
        wanted.setdefault(table.block_of(record), []).append(record)
    read = _read_through if is_parquet(source.path) or source.is_packed() else _read_plain
    blocks = sorted(wanted)
    spans = [(table.offsets[b], table.offsets[b + 1] if b + 1 < len(table.offsets) else None) for b in blocks]
    for block, data in zip(blocks, read(source, spans), strict=False):
        first, line, offset = table.records[block], table.lines[block], table.offsets[block]
        numbers = [record - first for record in wanted[block]]
        found = found_rows(data, offset, line, numbers, widths, quick)
        yield from zip(wanted[block], found, strict=False)


def found_rows(
    data: bytes, offset: int, line: int, numbers: list[int], widths: tuple[int, ...], quick: Cutter | None
) -> Iterator[RawRow]:
    """The records with these numbers (ascending); of a few the others are cut by the quick way, as far as it goes."""
    if quick is None or len(numbers) > len(data) // _BYTES_OF_ONE:
        every, _, _ = cut_rows(data, offset, line, True, widths)
        yield from (every[number] for number in numbers if number < len(every))
        return
    at = row = 0
    for number in numbers:
        while row < number:
            rows, used, lines = _next_rows(data, at, number - row, widths, quick)
            if not used:
                cut, used, lines = _next_row(data, at, 0, 1, widths)
                rows = len(cut)
            if not used:
                return
            at, row, line = at + used, row + rows, line + lines
        cut, used, lines = _next_row(data, at, offset + at, line, widths)
        yield from cut
        at, row, line = at + used, row + 1, line + lines


def _next_rows(data: bytes, at: int, most: int, widths: tuple[int, ...], quick: Cutter) -> tuple[int, int, int]:
    """What the quick way cuts of what is behind a place: of all of it only where a record is long."""
    end = at + _AT_ONCE
    found = quick(data[at:end], most, end >= len(data), widths)
    return found if found[1] or end >= len(data) else quick(data[at:], most, True, widths)


def _next_row(data: bytes, at: int, offset: int, line: int, widths: tuple[int, ...]) -> tuple[list[RawRow], int, int]:
    """The same one by one: the record that is next, or none."""
    end = at + _AT_ONCE
    found = cut_rows(data[at:end], offset, line, end >= len(data), widths, most=1)
    return found if found[0] or end >= len(data) else cut_rows(data[at:], offset, line, True, widths, most=1)


def _read_plain(source: Source, spans: list[tuple[int, int | None]]) -> Iterator[bytes]:
    with source.boundary.open(source.path) as file:
        for begin, end in spans:
            file.seek(begin)
            yield file.read() if end is None else file.read(end - begin)


def _read_through(source: Source, spans: list[tuple[int, int | None]]) -> Iterator[bytes]:
    """The same out of compressed data or Parquet, which can only be read from its beginning."""
    pieces = source.pieces()
    held = next(pieces, b"")
    at = 3 if source.bom else 0
    for begin, end in spans:
        while at + len(held) < begin and (piece := next(pieces, b"")):
            at, held = at + len(held), piece
        held, at = held[begin - at :], begin
        parts, length = [held], len(held)
        while (end is None or length < end - begin) and (piece := next(pieces, b"")):
            parts.append(piece)
            length += len(piece)
        held = b"".join(parts)
        yield held if end is None else held[: end - begin]
