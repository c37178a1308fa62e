"""Elements of a JSON array, or members of a JSON object, cut one by one: a broken one costs itself, not the rest."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern

# A raw line feed cannot be in a JSON string: a string that is not closed ends with its line at the latest.
_TEXT = rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"'
_STRING = late_pattern(_TEXT)
_FLAT = rb'(?:[^"{}\[\]]++|%b)*+' % _TEXT
_FLAT_VALUE = late_pattern(rb"\[%b\]|\{%b\}" % (_FLAT, _FLAT))
_BRACKETS = late_pattern(rb'(?:(?:%b|\[%b\]|\{%b\})[^"{}\[\]]*+)++|[{}\[\]]|"' % (_TEXT, _FLAT, _FLAT))
"""A bracket, a quote mark that nothing closes, or what may be passed over at once: texts, values without another in
them."""
_SCALAR = late_pattern(rb'[^,\]\[{}"\s]+')
_BARE_NAME = late_pattern(rb'[^,\]\[{}"\s:]+')
_SPACE = late_pattern(rb"[ \t\r\n]*")
# Where reading goes on after a broken element: at a line that begins a value, behind one that ended or behind a comma;
# or at a comma within the line, between what closes a value and what opens one.
_RESYNC = late_pattern(
    rb'["}\]][ \t]*\r?\n[ \t\r\n]*(?=["{\[\]])|,[ \t]*\r?\n[ \t\r\n]*(?=["{\[])|["}\]][ \t]*,[ \t]*(?=["{\[])'
)
_NAME = rb'"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"[ \t]*:'
_MEMBER_RESYNC = late_pattern(rb"\n[ \t\r\n]*(?=%b|\})|,[ \t]*(?=%b)" % (_NAME, _NAME))
_MEMBER_LINE = late_pattern(rb"\n[ \t]*(?=%b)" % _NAME)
_AT_NAME = late_pattern(_NAME)
_AT_VALUE = late_pattern(rb'["{\[0-9tfn-]')
_CLOSING = {b"{": b"}", b"[": b"]"}
_BLANKS = b" \t\r\n"
_SHOWN = 80
_AHEAD = 1 << 12  # bytes within which the next line decides whether an array continues after a broken element
_BYTES_A_BRACKET = 64
"""Bytes that are passed over in the time that a bracket takes."""
MOST_IN_VAIN = 1 << 24
"""Brackets of broken values that are looked at before the rest of a file is given up: some seconds."""
LONG_ELEMENT = 1 << 24
"""Bytes of an element that does not end, after which it is taken for a broken one."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element: 0-based number, 1-based line of its first character, 0-based offset, bytes; or what is wrong.

    ``indent`` is what is before it on its line. ``error`` is set for what is no element at all: a
    missing or superfluous comma, an array that is not closed.
    """

    record: int
    line: int
    byte_offset: int
    raw: bytes
    error: str = ""
    indent: Indent = NO_INDENT

    @property
    def cut(self) -> bool:
        """Whether the bytes are no more than the beginning."""
        return bool(self.error)


@dataclass(slots=True)
class Carried:
    """What one scan of a file hands to the next.

    ``mark`` is the first byte of the last sound element; ``in_vain`` counts brackets of values that do not end where
    they should, each of which has to be followed to the end of the data.
    """

    mark: bytes = b""
    in_vain: int = 0

    @property
    def spent(self) -> bool:
        """Whether so much is broken that continuing would take too long."""
        return self.in_vain > MOST_IN_VAIN


def end_of_space(data: bytes, start: int = 0) -> int:
    """Where the white space that begins at ``start`` ends."""
    match = _SPACE.match(data, start)
    return match.end() if match else start


class ElementScan:
    """Elements of an array cut one by one, with recovery. ``indent`` and ``margin`` are the characters and the leading
    blanks of the line in which the data begins, as far as they are before it.

    After `run`, ``closed`` says whether the array ended, ``cut`` whether its last element did not, and ``sound``
    whether each element ended by itself and was separated from the next one by a comma.
    """

    CLOSING = b"]"
    RESYNC = _RESYNC
    TOO_EARLY = "a closing bracket before the end of the array"
    COMMA_LAST = "a comma before the closing bracket"

    def __init__(
        self,
        data: bytes,
        offset: int,
        line: int,
        record: int,
        indent: Indent,
        at_end: bool,
        carried: Carried | None = None,
        margin: bytes = b"",
    ) -> None:
        self.data = data
        self._carried = carried or Carried()
        self._brackets = 0
        self.position = 0
        self.closed = False
        self.cut = False
        self.sound = True
        self._indent = indent
        self._before = margin
        self._is_in_margin = len(margin) == indent.size
        self._offset = offset
        self._line = line
        self._counted = 0
        self._record = record
        self._at_end = at_end

    def run(self) -> Iterator[Element]:
        """The elements that are whole in the data; ``position`` is behind the last one and its comma."""
        data = self.data
        while not self._carried.spent:
            start = end_of_space(data, self.position)
            if start >= len(data):
                return
            first = data[start : start + 1]
            if first == self.CLOSING:
                line = self._line_behind(start)
                if line > 0:
                    yield self._element(start, line, self.TOO_EARLY)
                    self.position = line
                    continue
                if not line:
                    self.position, self.closed = start + 1, True
                return
            if first == b",":
                yield self._element(start, start + 1, "a comma without a value")
                self.position = start + 1
                continue
            self._brackets = 0
            end = self._end_of_element(start, first)
            if (broken_at := self._broken_at(start, end)) > 0:
                self.sound = False
                yield self._element(start, broken_at, "")
                self._record += 1
                self.position = broken_at
                self._carried.in_vain += self._brackets
                continue
            ends = self._ends(start, end)
            if ends is None:
                return
            end, after, sound = ends
            is_comma = data[after : after + 1] == b","
            following = end_of_space(data, after + 1) if is_comma else after
            is_more_wanted = following >= len(data) if is_comma else self._end_of_shown(after) >= len(data)
            if is_more_wanted and not self._at_end:
                return  # it shows whether the comma is one too many, and is shown where one is missing
            self.sound = self.sound and sound and not self.cut
            self._carried.mark = first if sound else self._carried.mark
            yield self._element(start, end, "")
            self._record += 1
            self.position = end  # not behind the blanks, which show the margin of the next element
            if is_comma:
                self.position = after + 1
                if data[following : following + 1] == self.CLOSING:
                    yield self._element(after, after + 1, self.COMMA_LAST)
            elif sound and self._is_next(after, end):
                yield self._element(after, self._end_of_shown(after), "a missing comma")

    def _end_of_shown(self, start: int) -> int:
        end = self.data.find(b"\n", start, start + _SHOWN)
        return end if end >= 0 else min(start + _SHOWN, len(self.data))

    def _broken_at(self, start: int, end: int) -> int:
        """Where to continue after an element that is broken at its end; 0 where it is not, or nothing is known.

        One that is not closed may have taken the end of the array for its own, and all elements before it.
        """
        if end < 0:
            return self._next_line_like(start, end == -2)
        if not self._at_end or end_of_space(self.data, end) < len(self.data):
            return 0
        line = self._line_with_margin(start)
        return line if 0 < line < end and self._is_odd(start, end) else 0

    def _is_odd(self, start: int, end: int) -> bool:
        """Whether an element, closed as it is, looks like one that is not."""
        return self._carried.mark not in (self.data[start : start + 1], b"")

    def _ends(self, start: int, end: int) -> tuple[int, int, bool] | None:
        """Where the element ends (-1 and -2 are as returned by `_end_of_element`), and where what follows it begins.

        That is a comma, the closing bracket, the next element, or the end of the data, where the element is sound; else
        (the third value is false) where to continue. None where more must be read.
        """
        data = self.data
        after = end_of_space(data, end) if end >= 0 else -1
        if end < 0 or after >= len(data):
            if not self._at_end:
                return None
            self.cut = end < 0
            return (len(data), len(data), False) if end < 0 else (end, end, True)
        if data[after : after + 1] in (b",", self.CLOSING) or self._is_next(after, end):
            return end, after, True
        broken = self.RESYNC.search(data, max(start + 1, end - 1))
        if broken is None and not self._at_end:
            return None
        end = start + len(data[start : broken.end() if broken else len(data)].rstrip(_BLANKS))
        return end, end, False

    def _is_next(self, position: int, end: int) -> bool:
        """Whether the next element begins there, without a comma after the one that ends at ``end``."""
        return _AT_VALUE.match(self.data, position) is not None and b"\n" in self.data[end:position]

    def _end_of_element(self, start: int, first: bytes) -> int:
        """Behind the element that starts here; -1 where the data ends before it does, -2 where it is surely broken."""
        return self._end_of_value(start, first)

    def _end_of_value(self, start: int, first: bytes) -> int:
        data = self.data
        if first == b'"':
            match = _STRING.match(data, start)
            if match:
                return match.end()
            return -2 if data.find(b"\n", start) >= 0 else -1
        if first in (b"{", b"["):
            if match := _FLAT_VALUE.match(data, start):
                return match.end()
            open_: list[bytes] = []
            for self._brackets, token in enumerate(_BRACKETS.finditer(data, start)):
                begin, end = token.span()
                if end - begin > 1:
                    continue
                mark = data[begin:end]
                if mark in _CLOSING:
                    open_.append(_CLOSING[mark])
                elif mark in (b"}", b"]"):
                    if open_.pop() != mark:
                        return self._in_vain(end - start, -2)
                    if not open_:
                        return end
                else:
                    return self._in_vain(end - start, -2 if data.find(b"\n", end) >= 0 else -1)
            return self._in_vain(len(data) - start, -1)
        match = _SCALAR.match(data, start)
        return match.end() if match else start + 1

    def _in_vain(self, passed: int, found: int) -> int:
        """What was found after so many bytes, which count as brackets."""
        self._brackets = max(self._brackets, passed // _BYTES_A_BRACKET)
        return found

    def _line_behind(self, start: int) -> int:
        """Where the next line begins, if it continues with elements as if the array were not closed.

        Else 0; -1 where more must be read to know.
        """
        if not self._record:
            return 0
        data = self.data[start : start + _AHEAD]  # however much more is there
        end = data.find(b"\n")
        following = end_of_space(data, end + 1) if end >= 0 else len(data)
        if self._goes_on(data, following):
            return start + end + 1
        unknown = following >= len(data) or (data[following] == 34 and data.find(b"\n", following) < 0)
        return -1 if unknown and not self._at_end and len(data) < _AHEAD else 0

    def _goes_on(self, data: bytes, position: int) -> bool:
        """Whether an element begins there which is like the last one."""
        mark = data[position : position + 1]
        return mark in (b"{", b'"') and self._carried.mark in (mark, b"")

    def _next_line_like(self, start: int, broken: bool) -> int:
        """Where to continue after an element that does not end: before the next line that begins as its own; 0 if none.

        For a string that is the next line. Where the element may only be long, nothing is looked for as long as there
        is more data to wait for.
        """
        if not broken and not (self._at_end or len(self.data) - start > LONG_ELEMENT):
            return 0
        if self.data[start : start + 1] == b'"':
            return max(0, self.data.find(b"\n", start))
        return self._line_with_margin(start)

    def _line_with_margin(self, start: int) -> int:
        """Before the next line that begins with the same blanks, and as this or the last element does; 0 if none."""
        data = self.data
        begin = data.rfind(b"\n", 0, start) + 1
        margin = b"\n" if begin else b"\n" + self._before
        if begin or self._is_in_margin:
            margin += data[begin : end_of_space(data, begin)]
        marks = {data[start : start + 1], self._carried.mark or data[start : start + 1]}
        return min((at for mark in marks if (at := data.find(margin + mark, start)) > 0), default=0)

    def _element(self, start: int, end: int, error: str) -> Element:
        self._line += self.data.count(b"\n", self._counted, start)
        self._indent = self._indent.behind(self.data, self._counted, start)
        self._counted = start
        self.sound = self.sound and not error
        raw = self.data[start:end].rstrip(_BLANKS + b",") if not error else self.data[start:end]
        return Element(self._record, self._line, self._offset + start, raw, error, self._indent)


class MemberScan(ElementScan):
    """Members of an object, ``"name": value``, cut one by one, with recovery."""

    CLOSING = b"}"
    RESYNC = _MEMBER_RESYNC
    TOO_EARLY = "a closing brace before the end of the object"
    COMMA_LAST = "a comma before the closing brace"

    def _is_next(self, position: int, end: int) -> bool:
        return _AT_NAME.match(self.data, position) is not None

    def _end_of_element(self, start: int, first: bytes) -> int:
        self._is_text = False
        end = self._end_of_name(start, first)
        if end < 0:
            self._is_text = True
            return end
        colon = end_of_space(self.data, end)
        if colon >= len(self.data):
            return -1
        if self.data[colon : colon + 1] != b":":
            return end
        value = end_of_space(self.data, colon + 1)
        mark = self.data[value : value + 1]
        if not mark:
            return -1
        if mark in (b",", b"}"):
            return colon + 1
        self._is_text = mark == b'"'
        return self._end_of_value(value, mark)

    def _end_of_name(self, start: int, first: bytes) -> int:
        if first == b'"':
            return self._end_of_value(start, first)
        match = _BARE_NAME.match(self.data, start)
        return match.end() if match else start + 1

    def _is_odd(self, start: int, end: int) -> bool:
        return not self._is_text and not _decodes(b"{%b}" % self.data[start:end])

    def _goes_on(self, data: bytes, position: int) -> bool:
        return _AT_NAME.match(data, position) is not None

    def _next_line_like(self, start: int, broken: bool) -> int:
        """As for elements; for a member whose text is not closed that is the next line which begins with a name."""
        if not broken and not (self._at_end or len(self.data) - start > LONG_ELEMENT):
            return 0
        begin = self.data.rfind(b"\n", 0, start) + 1
        is_first = (begin or self._is_in_margin) and end_of_space(self.data, begin) == start
        if is_first and not self._is_text:
            return self._line_with_margin(start)
        line = _MEMBER_LINE.search(self.data, start)
        return line.start() if line else 0


def _decodes(data: bytes) -> bool:
    try:
        orjson.loads(data)
    except orjson.JSONDecodeError:
        return False
    return True
