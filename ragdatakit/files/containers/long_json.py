"""Long JSON texts, decoded without an object for each value: a list of megabytes stays text, of which one part after
the other is decoded whenever somebody goes through it.

Ten million ids take 100 MB as text and more than 1 GB as Python values; pairs of them take three times as much.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, SupportsIndex

import orjson

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.arrays import ArraySource, Part
from ragdatakit.files.containers.element_scans import ElementScan, end_of_space
from ragdatakit.files.containers.indents import NO_INDENT, characters
from ragdatakit.files.containers.readers_alike import read_alike
from ragdatakit.files.containers.sources import ARRAY_PART_BYTES, Source
from ragdatakit.files.containers.strict_json import LONG, Decoded
from ragdatakit.late_patterns import late_pattern

if TYPE_CHECKING:
    from ragdatakit.files.containers.json_text import Raw

_LONG_PART = 1 << 20
"""Bytes of a list or an object from which on it is not decoded at once."""
_PIECE = 1 << 18
_MOST_ODDITIES = 100_000
"""Of what readers see differently so much is kept of each kind."""
_NAME = late_pattern(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)


class LongList(list[Any]):
    """A list whose elements are decoded when they are asked for; it cannot be changed.

    It is a list so that checks of types hold. Whatever reads the memory of a list and not its elements one by one
    (orjson, for one) would see an empty one.
    """

    __slots__ = ("_begins", "_data", "_decoded", "_ends", "_firsts", "_held", "_length")
    __hash__ = None

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._data = data
        self._begins, self._ends, self._firsts = array("q"), array("q"), array("q")
        self._held: dict[int, Any] = {}
        self._length = 0
        self._decoded: tuple[int, list[Any]] = (-1, [])

    def add(self, begin: int, end: int, count: int) -> None:
        """The next so many elements are between these places."""
        self._begins.append(begin)
        self._ends.append(end)
        self._firsts.append(self._length)
        self._length += count

    def hold(self, value: Any) -> None:
        """The next element, which is too long to be decoded more than once."""
        self._held[len(self._firsts)] = [value]
        self.add(0, 0, 1)

    def _part(self, number: int) -> list[Any]:
        if number in self._held:
            return self._held[number]  # type: ignore[no-any-return]
        if self._decoded[0] != number:
            text = b"[%b]" % self._data[self._begins[number] : self._ends[number]]
            try:
                found = orjson.loads(text)
            except orjson.JSONDecodeError:
                found = strict_json.decode(text.decode("utf-8", "replace")).value
            self._decoded = (number, found)
        return self._decoded[1]

    def __iter__(self) -> Iterator[Any]:
        for number in range(len(self._firsts)):
            yield from self._part(number)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        if isinstance(place, slice):
            chosen = range(self._length)[place]
            if chosen.step > 0:
                return list(islice(self._from(chosen.start), 0, max(0, chosen.stop - chosen.start), chosen.step))
            return [self[i] for i in chosen]
        at = range(self._length)[place.__index__()]
        number = bisect_right(self._firsts, at) - 1
        return self._part(number)[at - self._firsts[number]]

    def _from(self, start: int) -> Iterator[Any]:
        number = max(0, bisect_right(self._firsts, start) - 1)
        for later in range(number, len(self._firsts)):
            yield from islice(self._part(later), max(0, start - self._firsts[later]), None)

    def __contains__(self, wanted: object) -> bool:
        return any(wanted is one or wanted == one for one in self)

    def __reversed__(self) -> Iterator[Any]:
        return (one for number in reversed(range(len(self._firsts))) for one in reversed(self._part(number)))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, list) and len(self) == len(other)
        return same and all(a == b for a, b in zip(self, other, strict=True))  # type: ignore[call-overload]

    def __repr__(self) -> str:
        return f"<{self._length:,} elements>"


def decode_long(data: bytes) -> tuple[Decoded, bool]:
    """What `strict_json.decode` makes of a long text, with a `LongList` for each long list in it; and whether every
    reader reads it so."""
    reader = _Reader(data)
    start = end_of_space(data)
    end = len(data.rstrip(b" \t\r\n")) if data[-1:].isspace() else len(data)
    try:
        reader.found.value = reader.value(start, end, "")
    except _Broken as broken:
        place = characters(data[: broken.place]) + broken.beyond
        return Decoded(error=broken.reason, position=place), False
    return reader.found, reader.alike


def long_or_short(raw: Raw) -> Any:
    """The value of JSON: of a long list, or one in it, one part after the other is decoded."""
    from ragdatakit.files.containers.json_text import loads  # needs msgspec, which a small check does not load

    data = bytes(raw)
    return decode_long(data)[0].value if len(data) >= LONG else loads(raw)


class _Broken(Exception):
    """What is not JSON: why, and where: so many characters ``beyond`` the byte at ``place``."""

    def __init__(self, reason: str, place: int, beyond: int = 0) -> None:
        self.reason, self.place, self.beyond = reason, place, beyond


class _Text(Source):
    """A part of a text in memory, as a file."""

    def __init__(self, data: bytes, start: int, end: int) -> None:
        self._text, self._span = data, (start, end)
        self.bom = False
        self.block_bytes, self.max_line_bytes = ARRAY_PART_BYTES, len(data) + 1

    def pieces(self) -> Iterator[bytes]:
        """The bytes in order."""
        start, end = self._span
        return (self._text[at : min(end, at + _PIECE)] for at in range(start, end, _PIECE))


class _Reader:
    """Goes down into what is long. ``found`` gets the oddities, ``alike`` is whether all readers read the same."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.found = Decoded()
        self.alike = True
        self._depth = 0

    def value(self, start: int, end: int, pointer: str) -> Any:
        """The value between two places, without blanks around it."""
        first = self.data[start : start + 1]
        if end - start < _LONG_PART or first not in (b"{", b"[") or self._depth > 100:
            return self._short(start, end, pointer)
        self._depth += 1
        value = self._object(start, end, pointer) if first == b"{" else self._list(start, end, pointer)
        self._depth -= 1
        return value

    def _short(self, start: int, end: int, pointer: str) -> Any:
        text = self.data[start:end]
        try:
            value = orjson.loads(text)
            if read_alike(value, text):
                return value
        except orjson.JSONDecodeError:
            pass
        self.alike = False
        decoded = strict_json.decode(text.decode("utf-8", "replace"))
        if decoded.error:
            raise _Broken(decoded.error, start, decoded.position)
        for name in ("repeated", "non_finite", "overflow", "surrogates", "large"):
            room = _MOST_ODDITIES - len(getattr(self.found, name))
            getattr(self.found, name).extend((pointer + p, what) for p, what in getattr(decoded, name)[:room])
        return decoded.value

    def _object(self, start: int, end: int, pointer: str) -> dict[str, Any]:
        data, found = self.data, dict[str, Any]()
        at = end_of_space(data, start + 1)
        if at == end - 1 and data[at : at + 1] == b"}":
            return found
        while True:
            name = _NAME.match(data, at, end)
            if name is None:
                raise _Broken("expecting property name enclosed in double quotes", at)
            key = self._short(*name.span(), pointer)
            at = end_of_space(data, name.end())
            if data[at : at + 1] != b":":
                raise _Broken("expecting ':' delimiter", at)
            at = end_of_space(data, at + 1)
            behind = self._end_of_value(at, end)
            if key in found:
                self.alike = False
                self.found.repeated.append((f"{pointer}/{strict_json.escape(key)}", key))
            found[key] = self.value(at, behind, f"{pointer}/{strict_json.escape(key)}")
            at = end_of_space(data, behind)
            if at == end - 1 and data[at : at + 1] == b"}":
                return found
            if data[at : at + 1] != b"," or at >= end:
                raise _Broken("expecting ',' delimiter", at)
            comma, at = at, end_of_space(data, at + 1)
            if data[at : at + 1] == b"}":
                raise _Broken("a trailing comma", comma)

    def _end_of_value(self, start: int, end: int) -> int:
        scan = ElementScan(self.data, 0, 0, 0, NO_INDENT, at_end=True)
        behind = scan._end_of_value(start, self.data[start : start + 1])
        if not start < behind <= end:
            raise _Broken("a value that does not end", start)
        return behind

    def _list(self, start: int, end: int, pointer: str) -> LongList:
        found = LongList(self.data)
        source = ArraySource(_Text(self.data, start, end))
        for part in source.parts():
            if part.proved:
                found.add(start + part.byte_offset, start + part.byte_offset + len(part.data), part.count)
            else:
                self._elements(part, start, pointer, found)
        if not source.whole:
            raise _Broken("expecting ',' delimiter", end - 1)
        return found

    def _elements(self, part: Part, start: int, pointer: str, found: LongList) -> None:
        """Elements one by one: those that are long, and those of which something is to be said."""
        for element in part.elements():
            begin = start + element.byte_offset
            if element.error:
                trailing = element.error.startswith("a comma before")
                raise _Broken("a trailing comma" if trailing else "expecting ',' delimiter", begin)
            end = begin + len(element.raw)
            value = self.value(begin, end, f"{pointer}/{len(found)}")
            if end - begin < _LONG_PART:
                found.add(begin, end, 1)
            else:
                found.hold(value)
