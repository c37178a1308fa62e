"""Consecutive records of a file: decoded together where none of them wants a closer look, or one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import msgspec

from ragdatakit.files.containers.arrays import Part
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.containers.lines import iter_lines

T = TypeVar("T")
FIELDS = msgspec.json.Decoder(dict[str, Raw])
ANY = msgspec.json.Decoder()
_ALL_FIELDS = msgspec.json.Decoder(list[dict[str, Raw]])


class Run(Protocol):
    """Consecutive records; ways of decoding them all give None where one of them wants a closer look."""

    def objects(self) -> list[dict[str, Raw]] | None:
        """The fields of each, where all are objects."""

    def shaped(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        """What the decoder makes of each."""

    def values(self) -> list[Any] | None:
        """All of them decoded."""

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The place (line or number) and the text of each, without those that are refused."""


class LineRun:
    """A block of lines (``data``), given on block by block, so that lines are counted through the file."""

    def __init__(self, refused: Mapping[int, str], drop: Callable[[int, bytes], None]) -> None:
        self.data = b""
        self._refused = refused
        self._drop = drop
        self._number = 0
        self.count = 0
        """The records so far, with those that are refused."""

    def skip(self) -> bool:
        """Pass over a line that is too long to be read; whether it is to be left out anyway."""
        self._number += 1
        if self._number in self._refused:
            self._drop(self._number, b"")
        return self._number in self._refused

    def objects(self) -> list[dict[str, Raw]] | None:
        """The fields of each, where all are objects."""
        return self._together(FIELDS) if is_utf8(self.data) else None

    def shaped(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        """What the decoder makes of each."""
        return self._together(decoder)

    def values(self) -> list[Any] | None:
        """All of them decoded."""
        return self._together(ANY)

    def _together(self, decoder: msgspec.json.Decoder[T]) -> list[T] | None:
        if self._refused or b"\r" in self.data:
            return None
        lines = self.data.split(b"\n")
        if not lines[-1]:
            lines.pop()
        try:
            found = list(map(decoder.decode, lines))
        except (ValueError, RecursionError):  # a blank line is no record, either
            return None
        self._number += len(found)
        self.count += len(found)
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
        return values if self.part.proved and not self.refused and type(values) is list and values else None

    def records(self) -> Iterator[tuple[int, bytes]]:
        """The place (line or number) and the text of each, without those that are refused."""
        for element in self.part.elements():
            if element.error or element.record in self.refused:
                self.drop(element.record, element.error or self.refused[element.record], element.raw)
            else:
                yield element.record, element.raw


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
