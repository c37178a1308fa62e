"""Bytes of a file as an editor counts them: lines from 0, and units of the encoding that was agreed on."""

from __future__ import annotations

from bisect import bisect_right
from codecs import BOM_UTF8
from functools import cached_property

from ragdatakit.quick_values import NamedTuple


class Point(NamedTuple):
    """A place in a text: line and unit in the line, both from 0."""

    line: int
    character: int


class Positions:
    """The places of one file. ``encoding`` is ``utf-8``, ``utf-16`` or ``utf-32``: what a unit is a unit of.

    A byte-order mark is no character of the text that an editor shows.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        self.data = data
        self._encoding = encoding
        self._begin = len(BOM_UTF8) if data.startswith(BOM_UTF8) else 0

    @cached_property
    def _starts(self) -> list[int]:
        starts, at = [self._begin], self.data.find(b"\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.data.find(b"\n", at + 1)
        return starts

    def point(self, offset: int) -> Point:
        """Where a byte is."""
        offset = min(max(offset, self._begin), len(self.data))
        line = bisect_right(self._starts, offset) - 1
        return Point(line, self._units(self.data[self._starts[line] : offset]))

    def offset(self, point: Point) -> int:
        """The byte at a place; the end of the line where it has fewer units."""
        if point.line >= len(self._starts):
            return len(self.data)
        start, end = self._starts[point.line], self.end_of(point.line)
        units = 0
        for character in self.data[start:end].decode("utf-8", "replace"):
            if units >= point.character:
                break
            encoded = character.encode()
            units += self._units(encoded)
            start += 1 if character == "\ufffd" and self.data[start : start + 3] != encoded else len(encoded)
        return start

    def start_of(self, line: int) -> int:
        """The first byte of a line (from 0)."""
        return self._starts[min(line, len(self._starts) - 1)]

    def end_of(self, line: int) -> int:
        """The byte behind the last one of a line, without its end."""
        last = line + 1 >= len(self._starts)
        end = len(self.data) if last else self._starts[line + 1] - 1
        return end - (self.data[end - 1 : end] == b"\r" and end > self.start_of(line))

    def _units(self, data: bytes) -> int:
        if self._encoding == "utf-8":
            return len(data)
        text = data.decode("utf-8", "replace")
        return len(text) if self._encoding == "utf-32" or text.isascii() else len(text.encode("utf-16-le")) // 2
