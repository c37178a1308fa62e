"""A JSON array or object as parts of whole elements, whatever its size and layout, with each one's line and offset.

A part is cut where an element seems to end and a new one to begin, and the cut is proved by decoding ``[part]``, or
``{part}``: a cut inside a string or a nested value always leaves a quote or a bracket open, so it fails to decode.
What does not decode is cut element by element instead. A long module, because arrays and objects share one way of
being cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any, ClassVar

import orjson

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.element_scans import Carried, Element, ElementScan, MemberScan, end_of_space
from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.files.containers.readers_alike import read_alike
from ragdatakit.files.containers.sources import Source
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import File

_SHOWN = 80
"""Bytes that are kept of what is at fault."""
_WINDOW = 1 << 14  # bytes at the end of a part in which a border between elements is looked for
_CUTS_TRIED = 4  # each one decodes the part anew; texts that are full of borders are cut element by element then
_OPENINGS = {b"}": b"{", b"]": b"[", b'"': b'"'}
_NAME = late_pattern(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+")[ \t\r\n]*:[ \t\r\n]*', re.S)
TOO_LONG = "too long"
TOO_BROKEN = "so much before this is broken that the rest was not read"
LONG_PART = 1 << 24
"""Bytes within which an element ends that is not looked at by itself."""
MOST_OF_ANOTHER = 1 << 23
"""Bytes that are looked at to say what a file is that is not an array."""


@dataclass(slots=True)
class Part:
    """Consecutive elements; ``indent``: what is before them on their line, which begins with ``margin``.

    ``proved``: ``data`` decodes as it stands, every reader reads it alike, and ``values`` is what it decodes to: a list
    of the elements, or an object of the members. A part that was cut element by element has them in ``found`` and no
    ``data`` beside them, for one of them may be as long as memory allows.
    """

    data: bytes
    byte_offset: int
    first_line: int
    first_record: int
    proved: bool
    count: int = 0
    indent: Indent = NO_INDENT
    found: list[Element] = field(default_factory=list)
    values: Any = ()
    margin: bytes = b""
    scan: type[ElementScan] = ElementScan

    @property
    def size(self) -> int:
        """The bytes of its elements, with what is between them where that is known."""
        return len(self.data) or sum(len(element.raw) for element in self.found)

    def elements(self) -> list[Element]:
        """The elements one by one, with positions."""
        if not self.found:
            data = self.data + self.scan.CLOSING
            scan = self.scan(data, self.byte_offset, self.first_line, self.first_record, self.indent, at_end=True)
            self.found = list(scan.run())
        return self.found


class ArraySource:
    """One JSON array in a file.

    `parts` yields the elements; afterwards ``top`` says what the top level was: ``"array"``, ``"empty"`` (an array
    without elements), ``"nothing"`` (only white space) or ``"other"``, with ``head`` holding the first bytes;
    ``whole`` whether it has an end; and ``sound`` whether there was nothing but elements between commas up to there.

    Where ``end`` is given, the elements are those that begin before it: behind a comma at an earlier place.
    """

    NOUN: ClassVar = "array"
    OPENING: ClassVar = b"["
    # a comma between what ends a value (``e`` and ``l``: true, false, null) and what begins one
    BORDER: ClassVar = late_pattern(rb'["}\]0-9el][ \t\r\n]*(,)[ \t\r\n]*(?=["{\[0-9tfn-])')
    BEGINNING: ClassVar = late_pattern(
        rb'(?P<blanks>[ \t\r\n]*)(?P<mark>\{[ \t\r\n]*(?P<name>"[^"\\]{1,80}":[ ]?["{\[]?)|["{\[])'
    )
    AROUND: ClassVar = b"[%b]"
    SCAN: ClassVar[type[ElementScan]] = ElementScan

    def __init__(self, source: Source) -> None:
        self.source = source
        self.top = "nothing"
        self.head = b""
        self.whole = self.sound = True
        self.end: int | None = None
        self.first_record = 0
        self._reader: Buffer | None = None
        self.carried = Carried()

    def parts(self) -> Iterator[Part]:
        """Read the file once; a part's ``proved`` says whether its elements decode together."""
        reader, record = self.begin(), self.first_record
        while reader is not None and self.goes_on(reader):
            part = self._proved_part(reader, record)
            if part is None:
                part = self.scanned_part(reader, record)
            if part.count or part.found:
                self.top = self.NOUN
                record += part.count
                yield part
            part = None  # it may be long, and so may the next one

    def begin(self) -> Buffer | None:
        """The file, read up to its first element; None where it has no elements at all."""
        if self._reader is not None:
            return self._reader
        reader = Buffer(self.source)
        if not self._open(reader):
            return None
        self.top = "empty"
        return reader

    def begin_once(self) -> Buffer | None:
        """The same; whoever begins after this goes on from there."""
        self._reader = self.begin()
        return self._reader

    def resume(self, source: Source, offset: int, record: int = 0) -> Buffer:
        """Where `begin` is to begin: at the element with this number and offset, at which ``source`` begins."""
        self.source = source
        self._reader = reader = Buffer(source)
        reader.offset, self.first_record = offset, record
        self.top = self.NOUN if record else "empty"
        return reader

    def goes_on(self, reader: Buffer) -> bool:
        """Whether there may be more elements."""
        return not (reader.closed or self._is_beyond(reader.offset))

    def _is_beyond(self, offset: int) -> bool:
        return self.end is not None and offset >= self.end

    def _window(self, reader: Buffer, size: int) -> bytes:
        """So many of the bytes that are next, and none in which a comma comes before elements that are not wanted."""
        most = size if self.end is None else min(size, max(self.end - 1 - reader.offset, 0))
        return reader.data if len(reader.data) <= most else reader.data[:most]

    def cut_part(self, reader: Buffer, last_comma: Callable[[bytes], tuple[int, int] | None]) -> Part | None:
        """Elements up to the last comma that is surely between two, neither proved nor counted; None where there is
        none within `LONG_PART` bytes."""
        size = self.source.block_bytes
        while True:
            reader.fill_to(size)
            window = self._window(reader, size)
            found = last_comma(window)
            if found is not None and found[0] > 0:
                break
            if found is None or size > LONG_PART or len(window) < size:
                return None
            size *= 2
        cut, lines = found
        part = Part(reader.data[:cut], reader.offset, reader.line, 0, False, indent=reader.indent, scan=self.SCAN)
        part.margin = reader.margin
        reader.take(cut + 1, lines)
        return part

    def taken(self, part: Part, count: int, last: int) -> None:
        """A part that was cut is proved to hold so many elements, the last of which begins at this place of it."""
        self.carried.mark = part.data[last : last + 1]
        self.top = self.NOUN
        part.count = count

    def decode(self, part: Part) -> None:
        """Decode the elements of such a part together, if that can be."""
        with suppress(orjson.JSONDecodeError):
            self._judge(part, orjson.loads(self.AROUND % part.data))

    def _open(self, reader: Buffer) -> bool:
        while True:
            start = end_of_space(reader.data)
            if start < len(reader.data) or not reader.fill():
                break
        if reader.data[start : start + 1] != self.OPENING:
            reader.fill_to(MOST_OF_ANOTHER)
        self.head = reader.data[start : start + MOST_OF_ANOTHER]
        if self.head[:1] != self.OPENING:
            self.top = "other" if self.head else "nothing"
            return False
        reader.take(start + 1)
        return True

    def _proved_part(self, reader: Buffer, record: int) -> Part | None:
        reader.fill_to(self.source.block_bytes)
        data = reader.data if self.end is None else self._window(reader, len(reader.data))
        for cut in dict.fromkeys((*self._alike(data), *self._borders(data))):
            try:
                values = orjson.loads(self.AROUND % data[:cut])
            except orjson.JSONDecodeError:
                continue
            part = Part(data[:cut], reader.offset, reader.line, record, True, indent=reader.indent, scan=self.SCAN)
            self._judge(part, values)
            self.carried.mark = self._last_mark(part.data)
            reader.take(cut + 1)
            return part
        return None

    def _last_mark(self, data: bytes) -> bytes:
        """The first byte of the last of these elements, which are proved."""
        whole = data.rstrip(b" \t\r\n")
        return _OPENINGS.get(whole[-1:]) or whole[whole.rfind(b",") + 1 :].lstrip()[:1]

    def _alike(self, data: bytes) -> list[int]:
        """Where the last elements begin that begin as the first one does: the commas before them.

        The first name in it and the mark behind it, or the blanks before the element, distinguish it from a value in
        one.
        """
        found = self.BEGINNING.match(data)
        if found is None or not (found["blanks"] or found["name"]):
            return []
        mark = data[found.start("mark") if found["name"] else 0 : found.end("mark")]
        end, cuts = len(data), list[int]()
        while len(cuts) < _CUTS_TRIED and (end := data.rfind(mark, 0, end)) > 0:
            comma = end - 1
            while comma >= 0 and data[comma] in b" \t\r\n":
                comma -= 1
            if comma >= 0 and data[comma] == 44:
                cuts.append(comma)
        return cuts

    def _borders(self, data: bytes) -> list[int]:
        """The last commas that may separate elements."""
        return [m.start(1) for m in self.BORDER.finditer(data, max(0, len(data) - _WINDOW))][: -_CUTS_TRIED - 1 : -1]

    def _judge(self, part: Part, values: Any) -> None:
        """Count the elements; they are given on as values only where every reader reads them alike."""
        part.proved = read_alike(values, part.data)
        part.values = values if part.proved else ()
        part.count = len(values)

    def scanned_part(self, reader: Buffer, record: int, few: int = 0) -> Part:
        """Element by element: the end of the array, a long element, or a part that does not decode. With ``few`` no
        more than so many elements at a time, or up to the next one that is sound."""
        while True:
            begin = reader.offset
            place = (begin, reader.line, record, reader.indent)
            scan = self.SCAN(reader.data, *place, reader.ended, self.carried, reader.margin)
            found: list[Element] = []
            is_cut_short = False
            for element in scan.run():
                # before a sound element: the fault of a comma belongs to the element that it follows
                is_wanted = not few or len(found) < few
                if is_cut_short := not (element.error or (is_wanted and not self._is_beyond(begin + scan.position))):
                    break
                found.append(element)
            too_long = len(reader.data) > self.source.max_line_bytes
            if found or scan.closed or reader.ended or too_long or self.carried.spent:
                break
            reader.fill_to(max(len(reader.data) * 2, 1))
        count = sum(1 for e in found if not e.error)
        part = Part(b"", reader.offset, reader.line, record, False, count, reader.indent, found, scan=self.SCAN)
        position, closed, cut = scan.position, scan.closed, scan.cut
        self.sound &= scan.sound
        del scan, found  # with all that was read, of which no more is wanted than the elements
        reader.take(position)
        if is_cut_short:
            return part
        if closed:
            reader.closed = True
            if fault := self._behind(reader, record + count):
                self.whole = self.sound = False
                part.found.append(fault)
        elif self.carried.spent:
            reader.closed = True
            self.whole = self.sound = False
            part.found.append(reader.fault(record + count, TOO_BROKEN, _SHOWN))
        elif reader.ended or too_long:
            reader.closed = True
            self.whole = self.sound = False
            if too_long or not (cut or self._took_closing(part)):
                reader.take(len(reader.data))
                error = TOO_LONG if too_long else f"the {self.NOUN} is not closed"
                part.found.append(reader.fault(record + count, error, 0))
        return part

    def _took_closing(self, part: Part) -> bool:
        """Whether the last element is broken and may have taken the bracket at the end of the file for its own."""
        last = self.AROUND % part.found[-1].raw if part.found else b""
        is_closing = last[:-1].endswith(self.SCAN.CLOSING)
        return is_closing and bool(strict_json.decode(last.decode("utf-8", "replace")).error)

    def _behind(self, reader: Buffer, record: int) -> Element | None:
        """What is wrong behind the last element and its bracket."""
        return self._nothing_behind(reader, record, self.NOUN)

    def _nothing_behind(self, reader: Buffer, record: int, noun: str) -> Element | None:
        reader.skip_space()
        reader.fill_to(_SHOWN)
        return reader.fault(record, f"data after the end of the {noun}", _SHOWN) if reader.data else None


class ObjectSource(ArraySource):
    """One JSON object in a file; its elements are the members, ``"name": value``, also those of the same name."""

    NOUN: ClassVar = "object"
    OPENING: ClassVar = b"{"
    BORDER: ClassVar = late_pattern(rb'["}\]0-9el][ \t\r\n]*(,)[ \t\r\n]*(?=")')
    BEGINNING: ClassVar = late_pattern(rb'(?P<blanks>[ \t\r\n]*)(?P<mark>")(?P<name>)')
    AROUND: ClassVar = b"{%b}"
    SCAN: ClassVar[type[ElementScan]] = MemberScan

    def _last_mark(self, data: bytes) -> bytes:
        return b'"'

    def _judge(self, part: Part, values: Any) -> None:
        super()._judge(part, values)
        if not part.proved:  # a name may appear twice
            part.count = len(part.elements())


class WrappedSource(ArraySource):
    """One JSON object in a file; its elements are those of the array that is in a member, one of ``names``.

    Afterwards ``around`` has the other members, each ``"name": value``, and ``member`` the name of the one that holds
    the array. ``top`` is ``"other"`` where there is none.
    """

    def __init__(self, source: Source, names: tuple[str, ...]) -> None:
        super().__init__(source)
        self.names = names
        self.member = ""
        self.around: list[Element] = []

    def _open(self, reader: Buffer) -> bool:
        reader.fill_to(MOST_OF_ANOTHER)
        start = end_of_space(reader.data)
        self.head = reader.data[start : start + MOST_OF_ANOTHER]
        self.top = "other" if self.head else "nothing"
        if self.head[:1] != b"{":
            return False
        reader.take(start + 1)
        while True:
            name, value = self._name(reader)
            if name in self.names and reader.data[value : value + 1] == b"[" and not self._is_beside(name, reader):
                self.member, self.head = name or "", b""
                reader.take(value + 1)
                return True
            if name is None or not self._take_member(reader, value):
                return False
            if reader.data[:1] != b",":
                return False
            reader.take(1)

    def _is_beside(self, name: str | None, reader: Buffer) -> bool:
        """Whether a small file also has the usual member, which then counts instead of this one."""
        if name == self.names[0] or not reader.ended:
            return False
        found = strict_json.decode(self.head.decode("utf-8", "replace")).value
        return isinstance(found, dict) and isinstance(found.get(self.names[0]), list)

    def _behind(self, reader: Buffer, record: int) -> Element | None:
        while True:
            reader.skip_space()
            mark = reader.data[:1]
            if mark == b"}":
                reader.take(1)
                return self._nothing_behind(reader, record, "object")
            if mark != b",":
                return reader.fault(record, "the object is not closed" if not mark else "a missing comma", _SHOWN)
            reader.take(1)
            name, value = self._name(reader)
            if name is None or not self._take_member(reader, value):
                return reader.fault(record, "not one name with its value", _SHOWN)

    def _name(self, reader: Buffer) -> tuple[str | None, int]:
        """The name of the member that begins here, and where its value does; None where there is none."""
        reader.skip_space()
        reader.fill_to(MOST_OF_ANOTHER)
        found = _NAME.match(reader.data)
        if found is None:
            return None, 0
        try:
            return str(orjson.loads(found[1])), found.end()
        except orjson.JSONDecodeError:
            return None, 0

    def _take_member(self, reader: Buffer, value: int) -> bool:
        """Note the member that begins here, and continue after it; False where it does not end or is not JSON."""
        while True:
            scan = MemberScan(reader.data, 0, 0, 0, NO_INDENT, reader.ended)
            end = scan._end_of_value(value, reader.data[value : value + 1]) if value < len(reader.data) else -1
            if end > 0 and (end < len(reader.data) or reader.ended):
                break
            if end == -2 or reader.ended or len(reader.data) > self.source.max_line_bytes:
                return False
            reader.fill_to(2 * len(reader.data))
        raw = reader.data[:end]
        text = raw.decode("utf-8", "replace")
        if strict_json.decode(f"{{{text}}}").error:
            return False
        self.around.append(Element(0, reader.line, reader.offset, raw, "", reader.indent))
        reader.take(end)
        reader.skip_space()
        return True


class SingleSource(ArraySource):
    """One JSON value in a file, which is the only element whatever it is."""

    NOUN: ClassVar = "value"

    def parts(self) -> Iterator[Part]:
        """One part, or none where there is only white space."""
        reader = Buffer(self.source)
        reader.fill_to(self.source.max_line_bytes + 1)
        start = end_of_space(reader.data)
        if start >= len(reader.data):
            return
        self.top = self.NOUN
        reader.take(start)
        raw = reader.data.rstrip(b" \t\r\n")
        reader.data = b""  # which may be as long as memory allows
        too_long = TOO_LONG if len(raw) > self.source.max_line_bytes else ""
        self.whole = not too_long
        found = [Element(0, reader.line, reader.offset, raw[:80] if too_long else raw, too_long, reader.indent)]
        count = 0 if too_long else 1
        yield Part(raw, reader.offset, reader.line, 0, False, count, reader.indent, found)


def element_source(container: str, source: Source, kind: File | None = None) -> ArraySource:
    """Who reads the elements of a file in that container; ``kind`` is what the file is declared to be."""
    if container == "json-wrapped":
        return WrappedSource(source, kind.wrapper if kind is not None else ())
    kinds = {"json-object": ObjectSource, "json-single": SingleSource}
    return kinds.get(container, ArraySource)(source)


ELEMENTS = ("json-array", "json-object", "json-single", "json-wrapped")
"""The containers of elements."""


class Buffer:
    """Uncompressed bytes that are not consumed yet, and where they are in the file."""

    def __init__(self, source: Source) -> None:
        self._pieces = source.pieces()
        self.data = b""
        self.offset = 0
        self.line = 1
        self.indent = NO_INDENT
        self.margin = b""  # the blanks at the beginning of the line, as far as they were taken
        self.ended = False
        self.closed = False
        self.fill()
        self.offset = 3 if source.bom else 0

    def close(self) -> None:
        """Nothing more is read: the file is closed with who reads it."""
        self._pieces, self.data = iter(()), b""

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

    def take(self, length: int, lines: int | None = None) -> None:
        """These bytes are done with, in which so many lines end, if that is known."""
        if lines is None:
            lines = self.data.count(b"\n", 0, length)
        self.line += lines
        begin = self.data.rfind(b"\n", 0, length) + 1 if lines else 0
        if lines or len(self.margin) == self.indent.size:
            self.margin = self.margin * (not lines) + self.data[begin : min(end_of_space(self.data, begin), length)]
        self.indent = self.indent.behind(self.data, 0, length)
        self.offset += length
        self.data = self.data[length:]

    def skip_space(self) -> None:
        """White space is done with, up to what follows it or the end of the file."""
        while True:
            self.take(end_of_space(self.data))
            if self.data or not self.fill():
                return

    def put_back(self, parts: Sequence[Part], done: int) -> None:
        """Parts that were cut one behind the other are there again, except for so many bytes of the first one."""
        first = parts[0]
        self.data = b"".join(piece for part in parts for piece in (part.data, b",")) + self.data
        self.offset, self.line, self.indent, self.margin = (
            first.byte_offset,
            first.first_line,
            first.indent,
            first.margin,
        )
        self.take(done)

    def fault(self, record: int, error: str, length: int) -> Element:
        """What is wrong at this place, with the first bytes that are there."""
        return Element(record, self.line, self.offset, self.data[:length], error, self.indent)
