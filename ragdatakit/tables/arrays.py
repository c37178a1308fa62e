"""A JSON array as parts of whole elements, whatever its size and layout, with every element's line and offset.

A part is cut where an element seems to end and a new one to begin, and the cut is proved by decoding ``[part]``: a cut
inside a string or a nested value always leaves a quote or a bracket open, so it fails to decode. What does not decode
is cut element by element instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ragdatakit.tables.sources import Source

_BORDER = re.compile(rb'["}\]0-9el][ \t\r\n]*(,)[ \t\r\n]*(?=["{\[0-9tfn-])')
# A raw line feed cannot stand in a JSON string: a string that is not closed ends with its line at the latest.
_STRING = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"')
_BRACKETS = re.compile(rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"|[{}\[\]]|"')
LONG_ELEMENT = 1 << 24
"""Bytes of an element that does not end, after which it is taken for a broken one."""
_SCALAR = re.compile(rb'[^,\]\[{}"\s]+')
_SPACE = re.compile(rb"[ \t\r\n]*")
_RESYNC = re.compile(
    rb'["}\]][ \t]*\r?\n[ \t\r\n]*(?=["{\[\]])|,[ \t]*\r?\n[ \t\r\n]*(?=["{\[])|["}\]][ \t]*,[ \t]*(?=["{\[])'
)
_CLOSING = {b"{": b"}", b"[": b"]"}
_CONTINUATION = bytes(range(0x80, 0xC0))
_WINDOW = 1 << 14
TOO_LONG = "too long"
MOST_OF_ANOTHER = 1 << 23
"""Bytes that are looked at to say what a file is that is no array."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element: 0-based number, 1-based line of its first character, 0-based offset, bytes; or what is wrong.

    ``indent`` is the number of characters before it on its line. ``error`` is set for what is no element at all: a
    missing or superfluous comma, an array that is not closed.
    """

    record: int
    line: int
    byte_offset: int
    raw: bytes
    error: str = ""
    indent: int = 0


@dataclass(slots=True)
class Part:
    """Consecutive elements; ``indent``: characters before them on their line.

    ``proved``: ``[data]`` decodes as they stand, and ``values`` is what it decodes to.
    """

    data: bytes
    byte_offset: int
    first_line: int
    first_record: int
    proved: bool
    count: int = 0
    indent: int = 0
    found: list[Element] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)

    def elements(self) -> list[Element]:
        """The elements one by one, with positions."""
        if not self.found:
            data = self.data + b"]"
            scan = _Scan(data, self.byte_offset, self.first_line, self.first_record, self.indent, at_end=True)
            self.found = list(scan.run())
        return self.found


class ArraySource:
    """One JSON array in a file.

    `parts` yields the elements; afterwards ``top`` tells what the top level was: ``"array"``, ``"empty"`` (an array
    without elements), ``"nothing"`` (only white space) or ``"other"``, with ``head`` holding the first bytes.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.top = "nothing"
        self.head = b""

    def parts(self) -> Iterator[Part]:
        """Read the file once; a part's ``proved`` tells whether its elements decode together."""
        reader = _Buffer(self.source)
        if not self._open(reader):
            return
        self.top = "empty"
        record = 0
        while True:
            part = self._proved_part(reader, record)
            if part is None:
                part = self._scanned_part(reader, record)
            if part.count or part.found:
                self.top = "array"
                yield part
                record += part.count
            if reader.closed:
                return

    def _open(self, reader: _Buffer) -> bool:
        while True:
            start = _end_of_space(reader.data)
            if start < len(reader.data) or not reader.fill():
                break
        if reader.data[start : start + 1] != b"[":
            reader.fill_to(MOST_OF_ANOTHER)
        self.head = reader.data[start : start + MOST_OF_ANOTHER]
        if self.head[:1] != b"[":
            self.top = "other" if self.head else "nothing"
            return False
        reader.take(start + 1)
        return True

    def _proved_part(self, reader: _Buffer, record: int) -> Part | None:
        import orjson

        reader.fill_to(self.source.block_bytes)
        data = reader.data
        borders = [m.start(1) for m in _BORDER.finditer(data, max(0, len(data) - _WINDOW))]
        for cut in reversed(borders[-4:]):
            try:
                values = orjson.loads(b"[%b]" % data[:cut])
            except orjson.JSONDecodeError:
                continue
            part = Part(data[:cut], reader.offset, reader.line, record, True, len(values), reader.indent)
            part.values = values
            reader.take(cut + 1)
            return part
        return None

    def _scanned_part(self, reader: _Buffer, record: int) -> Part:
        """Element by element: the end of the array, a long element, or a part that does not decode."""
        while True:
            scan = _Scan(reader.data, reader.offset, reader.line, record, reader.indent, at_end=reader.ended)
            found = list(scan.run())
            too_long = len(reader.data) > self.source.max_line_bytes
            if found or scan.closed or reader.ended or too_long:
                break
            reader.fill_to(len(reader.data) * 2)
        count = sum(1 for e in found if not e.error)
        part = Part(
            reader.data[: scan.position], reader.offset, reader.line, record, False, count, reader.indent, found
        )
        reader.take(scan.position)
        if scan.closed:
            reader.closed = True
            reader.fill_to(4096)
            rest = _end_of_space(reader.data)
            if rest < len(reader.data):
                line = reader.line + reader.data.count(b"\n", 0, rest)
                raw = reader.data[rest : rest + 80]
                part.found.append(
                    Element(record + count, line, reader.offset + rest, raw, "data after the end of the array")
                )
        elif reader.ended or too_long:
            reader.closed = True
            if too_long or not scan.cut:
                line = reader.line + reader.data.count(b"\n")
                end = reader.offset + len(reader.data)
                part.found.append(
                    Element(record + count, line, end, b"", TOO_LONG if too_long else "the array is not closed")
                )
        return part


class _Buffer:
    """Uncompressed bytes that are not consumed yet, and where they stand in the file."""

    def __init__(self, source: Source) -> None:
        self._pieces = source.pieces()
        self.data = b""
        self.offset = 0
        self.line = 1
        self.indent = 0
        self.ended = False
        self.closed = False
        self.fill()
        self.offset = 3 if source.bom else 0

    def fill(self) -> bool:
        """Read one more piece; False at the end of the file."""
        piece = next(self._pieces, b"")
        if not piece:
            self.ended = True
            return False
        self.data = self.data + piece if self.data else piece
        return True

    def fill_to(self, length: int) -> None:
        """Read until ``length`` bytes are there, or the file ends."""
        pieces = [self.data]
        have = len(self.data)
        while have < length and not self.ended:
            piece = next(self._pieces, b"")
            self.ended = not piece
            pieces.append(piece)
            have += len(piece)
        self.data = b"".join(pieces) if len(pieces) > 1 else self.data

    def take(self, length: int) -> None:
        """These bytes are done with."""
        lines = self.data.count(b"\n", 0, length)
        self.line += lines
        begin = self.data.rfind(b"\n", 0, length) + 1 if lines else 0
        self.indent = _characters(self.data[begin:length]) + (0 if lines else self.indent)
        self.offset += length
        self.data = self.data[length:]


def _characters(data: bytes) -> int:
    """How many characters UTF-8 bytes are."""
    return len(data) if data.isascii() else len(data.translate(None, _CONTINUATION))


def _end_of_space(data: bytes, start: int = 0) -> int:
    match = _SPACE.match(data, start)
    return match.end() if match else start


class _Scan:
    """Elements cut one by one, with recovery: a broken element costs itself, not the rest."""

    def __init__(self, data: bytes, offset: int, line: int, record: int, indent: int, at_end: bool) -> None:
        self.data = data
        self.position = 0
        self.closed = False
        self.cut = False
        self._mark = b""
        self._first_record = record
        self._indent = indent
        self._offset = offset
        self._line = line
        self._counted = 0
        self._record = record
        self._at_end = at_end

    def run(self) -> Iterator[Element]:
        """The elements that are whole in the data; ``position`` is behind the last one and its comma."""
        data = self.data
        while True:
            start = _end_of_space(data, self.position)
            if start >= len(data):
                return
            first = data[start : start + 1]
            if first == b"]":
                if line := self._line_behind(start):
                    yield self._element(start, line, "a closing bracket before the end of the array")
                    self.position = line
                    continue
                self.position, self.closed = start + 1, True
                return
            if first == b",":
                yield self._element(start, start + 1, "a comma without a value")
                self.position = start + 1
                continue
            self._mark = first
            end = self._end_of_value(start, first)
            if end < 0 and (broken_at := self._next_line_like(start, end == -2)) > 0:
                yield self._element(start, broken_at, "")
                self._record += 1
                self.position = broken_at
                continue
            after = _end_of_space(data, end) if end >= 0 else -1
            if end < 0 or after >= len(data):
                if not self._at_end:
                    return
                self.cut = end < 0
                end = after = len(data) if end < 0 else end
            elif data[after : after + 1] not in (b",", b"]"):
                broken = _RESYNC.search(data, max(start + 1, end - 1))
                if broken is None and not self._at_end:
                    return
                end = after = broken.end() if broken else len(data)
            yield self._element(start, end, "")
            self._record += 1
            if data[after : after + 1] == b",":
                after += 1
                following = _end_of_space(data, after)
                if data[following : following + 1] == b"]":
                    yield self._element(after - 1, after, "a comma before the closing bracket")
                elif following >= len(data) and not self._at_end:
                    self.position = after
                    return
            self.position = after

    def _end_of_value(self, start: int, first: bytes) -> int:
        """Behind the value that starts here; -1 where the data ends before it does, -2 where it is surely broken."""
        data = self.data
        if first == b'"':
            match = _STRING.match(data, start)
            if match:
                return match.end()
            return -2 if data.find(b"\n", start) >= 0 else -1
        if first in (b"{", b"["):
            open_: list[bytes] = []
            for token in _BRACKETS.finditer(data, start):
                mark = token.group()
                if mark in _CLOSING:
                    open_.append(_CLOSING[mark])
                elif mark in (b"}", b"]"):
                    if open_.pop() != mark:
                        return -2
                    if not open_:
                        return token.end()
                elif mark == b'"':
                    return -2 if data.find(b"\n", token.end()) >= 0 else -1
            return -1
        match = _SCALAR.match(data, start)
        if match is None:
            return start + 1
        return match.end()

    def _line_behind(self, start: int) -> int:
        """Where the next line begins, if it goes on with elements as if the array were not closed; else 0."""
        end = self.data.find(b"\n", start)
        if end < 0 or self._record == self._first_record:
            return 0
        following = _end_of_space(self.data, end + 1)
        mark = self.data[following : following + 1]
        return end + 1 if mark in (b"{", b'"') and mark == self._mark else 0

    def _next_line_like(self, start: int, broken: bool) -> int:
        """Where to go on behind an element that does not end: the next line that begins as its own does; 0 if none.

        For a string that is the next line. Where the element may only be long, nothing is looked for as long as there
        is more data to wait for.
        """
        data = self.data
        is_text = data[start : start + 1] == b'"'
        if not broken and not (self._at_end or len(data) - start > LONG_ELEMENT):
            return 0
        begin = data.rfind(b"\n", 0, start) + 1
        margin = data[begin : _end_of_space(data, begin)] + data[start : start + 1]
        end = data.find(b"\n", start) if is_text else data.find(b"\n" + margin, start)
        return end + 1 if end >= 0 else 0

    def _element(self, start: int, end: int, error: str) -> Element:
        lines = self.data.count(b"\n", self._counted, start)
        begin = self._counted
        if lines:
            self._line += lines
            self._indent = 0
            begin = self.data.rfind(b"\n", self._counted, start) + 1
        self._indent += _characters(self.data[begin:start])
        self._counted = start
        raw = self.data[start:end].rstrip(b" \t\r\n,") if not error else self.data[start:end]
        return Element(self._record, self._line, self._offset + start, raw, error, self._indent)
