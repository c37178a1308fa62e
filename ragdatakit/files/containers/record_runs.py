"""Consecutive records of a file: decoded together where none of them wants a closer look, or one by one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import msgspec

from ragdatakit.files.containers.arrays import Part
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.containers.lines import iter_lines
from ragdatakit.late_dataclasses import dataclass

T = TypeVar("T")
FIELDS = msgspec.json.Decoder(dict[str, Raw])
ANY = msgspec.json.Decoder()
_PIECE = 1 << 13
"""Bytes of lines that are read one by one for the sake of one of them: some 30 lines."""
_ALL_FIELDS = msgspec.json.Decoder(list[dict[str, Raw]])


class Run(Protocol):
    """Consecutive records; ways of decoding them all give None where one of them wants a closer look.

    ``count`` is the number of the file's records up to the last that was given, with those that are left out.
    """

    count: int

    def objects(self) -> list[dict[str, Raw]] | None:
        """The fields of each, where all are objects."""

    def shaped(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        """What the decoder makes of each, where all are objects."""

    def values(self) -> list[Any] | None:
        """All of them decoded."""

    def pieces(self) -> Iterator[Run]:
        """The same in short runs, of which only those are decoded one by one that want a closer look."""

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The place (line or number) and the text of each, without those that are refused."""


class LineRun:
    """A block of lines (``data``), given on block by block, so that lines are counted through the file. ``offset`` is
    where it begins in the unpacked file."""

    def __init__(self, refused: Mapping[int, str], drop: Callable[[int, bytes], None]) -> None:
        self.data, self.offset = b"", 0
        self._refused = refused
        self._refused_lines = sorted(refused)
        self._drop = drop
        self._number = 0
        self.count = 0

    def skip(self) -> bool:
        """Pass over a line that is too long to be read; whether it is to be left out anyway."""
        self._number += 1
        if self._number in self._refused:
            self._drop(self._number, b"")
        return self._number in self._refused

    def objects(self) -> list[dict[str, Raw]] | None:
        """The fields of each, where all are objects."""
        return self.shaped(FIELDS)

    def shaped(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        """What the decoder makes of each, where all are objects."""
        if self._has_refused() or not is_utf8(self.data):  # which decoders do not say of values that they pass on
            return None
        return self._known(object_lines(self.data, decoder))

    def values(self) -> list[Any] | None:
        """All of them decoded."""
        if self._has_refused() or b"\r" in self.data:
            return None
        lines = self.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        try:
            return self._known(list(map(ANY.decode, lines)))
        except (ValueError, RecursionError):  # a blank line is no record, either
            return None

    def _has_refused(self) -> bool:
        place = bisect_right(self._refused_lines, self._number)
        following = self._refused_lines[place : place + 1]
        return bool(following) and following[0] <= self._number + self.data.count(b"\n") + 1

    def pieces(self) -> Iterator[LineRun]:
        """The same in short runs, of which only those are decoded one by one that want a closer look."""
        data, start = self.data, 0
        while start < len(data):
            end = data.find(b"\n", start + _PIECE) + 1 or len(data)
            self.data = data[start:end]
            yield self
            start = end

    @property
    def next_line(self) -> int:
        """The number of the first line that was not given yet, from 1."""
        return self._number + 1

    def pass_over(self, lines: int, records: int) -> None:
        """Count lines that somebody else has read, and the records in them."""
        self._number += lines
        self.count += records

    def _known(self, found: list[T] | None) -> list[T] | None:
        self._number += len(found or ())
        self.count += len(found or ())
        return found

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The place (line or number) and the text of each, without those that are refused."""
        for _, line, _ in iter_lines(self.data):
            self._number += 1
            blank = not ((line and not bytes(line[:1]).isspace()) or bytes(line).strip())
            self.count += not blank
            if self._number in self._refused:
                self._drop(self._number, bytes(line))
            elif not blank:
                yield self._number, bytes(line)


@dataclass(slots=True)
class PartRun:
    """A part of a JSON array or object."""

    part: Part
    refused: Mapping[int, str]
    drop: Callable[[int, str, bytes], None]
    count: int = 0

    def objects(self) -> list[dict[str, Raw]] | None:
        """The fields of each, where all are objects."""
        values = self.values()
        if values is None or type(values[0]) is not dict:
            return None
        try:
            return _ALL_FIELDS.decode(b"[%b]" % self.part.data)
        except (ValueError, RecursionError):
            return None

    def shaped(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        """What the decoder makes of each."""
        return None

    def values(self) -> list[Any] | None:
        """All of them decoded."""
        values = self.part.values
        self.count = self.part.first_record + self.part.count
        return values if self.part.proved and not self.refused and type(values) is list and values else None

    def pieces(self) -> Iterator[PartRun]:
        """The same in short runs: it is one."""
        yield self

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The place (line or number) and the text of each, without those that are refused."""
        for element in self.part.elements():
            if element.error or element.record in self.refused:
                self.drop(element.record, element.error or self.refused[element.record], element.raw)
            else:
                self.count = element.record + 1
                yield element.record, element.raw


def object_lines(data: bytes, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
    """What a decoder makes of lines, where each is one object and no line is blank; else None."""
    if not data.startswith(b"{"):
        return None
    end = b"\r\n" if b"\r" in data else b"\n"
    count = data.count(b"\n")
    last = data.endswith(b"}" + end)
    if end == b"\r\n" and data.count(b"\r") != count:
        return None
    # A line feed between } and { is not within an object: in a list there is a comma between them.
    if data.count(b"}%b{" % end) != count - last:
        return None
    try:
        found = decoder.decode_lines(data)
    except (ValueError, RecursionError):
        return None
    return found if len(found) == count + (not last) else None


def is_utf8(raw: bytes) -> bool:
    """Whether bytes are UTF-8."""
    try:
        as_utf8(raw)
    except UnicodeDecodeError:
        return False
    return True


def as_utf8(raw: bytes) -> bytes:
    """The same bytes. Raises `UnicodeDecodeError`, as decoders do not for values that they pass on as they stand."""
    if not raw.isascii():
        raw.decode("utf-8")
    return raw
