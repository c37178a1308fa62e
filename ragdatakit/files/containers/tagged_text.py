"""Elements between tags, as test collections write documents and topics: found in a stream, and taken apart.

This is SGML as it is found in the wild, not XML: tags in any case, elements that are never closed (``<num> Number: 301
<title> …``), ``&`` that stands for itself, several elements one after the other without a root.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from ragdatakit.files.containers.indents import NO_INDENT, Indent
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern

UNCLOSED = "<unclosed>"
"""The field of a record whose element is not closed."""

_LONGEST_TAG = 1 << 10  # bytes; what is kept of a block in case that a tag is cut by its end
_NAME = late_pattern(r"[A-Za-z][\w.-]*")
_OPENING = late_pattern(r"<([A-Za-z][\w.-]*)(\s[^<>]*)?>")
_ATTRIBUTE = late_pattern(r"""\b(?:number|num|id|qid|docno)\s*=\s*["']?([^"'\s>]+)""", re.I)
LABEL = late_pattern(r"\s*(?:Number|Topic|Description|Narrative)\s*:", re.I)
_ENTITY = late_pattern(r"&(?:(amp|lt|gt|quot|apos)|#(\d{1,7})|#x([0-9A-Fa-f]{1,6}));")
_MARKUP = late_pattern(r"^<|<(?=[A-Za-z/!?])|&(?:#\w{1,9}|[A-Za-z]\w{0,31});?", re.M)
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_OTHER_NAMES = {"description": "desc", "narrative": "narr", "number": "num", "query": "title"}
_BLANKS = " \t\r\n"
_MOST_NAMES = 1 << 10
"""Names of elements that a reader remembers."""


@dataclass(frozen=True, slots=True)
class TaggedElement:
    """One element: its 0-based number, 1-based line, 0-based offset in the file, bytes, what is before it."""

    record: int
    line: int
    byte_offset: int
    raw: bytes
    indent: Indent = NO_INDENT
    too_long: bool = False

    @property
    def cut(self) -> bool:
        """Whether the bytes are no more than the beginning."""
        return self.too_long


class ElementFinder:
    """Finds the elements of some tags in the pieces of a file.

    An element ends with its closing tag or, where that is missing, before the next opening tag or with the file. One
    that is longer than ``longest`` is given without its bytes.
    """

    def __init__(self, tags: tuple[str, ...], longest: int = 1 << 28) -> None:
        names = "|".join(map(re.escape, tags)).encode()
        self._opening = re.compile(rb"<(?:%b)(?:\s[^<>]*)?>" % names, re.I)
        self._closing = re.compile(rb"</(?:%b)\s*>" % names, re.I)
        self._boundary = re.compile(rb"<(?:%b)(?:\s[^<>]*)?>|</(?:%b)\s*>" % (names, names), re.I)
        self._longest = longest

    def cut(self, data: bytes) -> int:
        """Behind the last closing tag: what follows begins between elements. 0 where there is none."""
        end = len(data)
        while (mark := data.rfind(b"</", 0, end)) >= 0:
            if found := self._closing.match(data, mark):
                return found.end()
            end = mark
        return 0

    def first(self, pieces: Iterator[bytes], place: Place) -> tuple[int, Iterator[bytes]]:
        """How many bytes are before the first opening tag, of which ``place`` goes through as many, and what follows
        them: from there on elements are what they are, whatever is before. Nothing follows where there is none."""
        held, passed = b"", 0
        for piece in pieces:
            held += piece
            opening = self._opening.search(held)
            end = opening.start() if opening is not None else max(0, len(held) - _LONGEST_TAG)
            place.move(held[:end])
            held, passed = held[end:], passed + end
            if opening is not None:
                return passed, chain((held,), pieces)
        return passed + len(held), iter(())

    def elements(
        self, pieces: Iterable[bytes], offset: int = 0, record: int = 0, place: Place | None = None
    ) -> Iterator[TaggedElement]:
        """The elements in order, from this number on; ``offset`` is where in the file the first piece begins, ``place``
        what is before it."""
        held = b""
        place, searched = place or Place(), 0
        for piece in _with_end(pieces):
            held += piece or b""
            position = 0
            while (opening := self._opening.search(held, position)) is not None:
                start = opening.start()
                place.move(held[position:start])
                position = start
                end, searched = self._end(held, opening.end(), max(searched, opening.end()), piece is None)
                if end is None:
                    break
                long = end - start > self._longest
                raw = held[start : start + _LONGEST_TAG if long else end]
                yield TaggedElement(record, place.line, offset + start, raw, place.indent, long)
                place.move(held[start:end])
                record, position, searched = record + 1, end, 0
            else:
                keep = max(position, len(held) - _LONGEST_TAG)
                place.move(held[position:keep])
                position = keep
            held, offset, searched = held[position:], offset + position, max(0, searched - position)

    def _end(self, held: bytes, begin: int, searched: int, last: bool) -> tuple[int | None, int]:
        """Where the element ends (None: not in what there is), and up to where was looked for it."""
        boundary = self._boundary.search(held, searched)
        if boundary is None:
            return (len(held) if last else None), max(begin, len(held) - _LONGEST_TAG)
        return (boundary.end() if boundary.group().startswith(b"</") else boundary.start()), searched


@dataclass(slots=True)
class Place:
    """A place in a file: its 1-based line, and what is before it there."""

    line: int = 1
    indent: Indent = NO_INDENT

    def move(self, passed: bytes) -> None:
        """Go on behind these bytes."""
        if passed == b"\n":  # as it mostly is between two elements
            self.line, self.indent = self.line + 1, NO_INDENT
            return
        self.line += passed.count(b"\n")
        self.indent = self.indent.behind(passed, 0, len(passed))


def _with_end(pieces: Iterable[bytes]) -> Iterator[bytes | None]:
    yield from pieces
    yield None


class TaggedReader:
    """Takes elements apart: ``fields`` are those of the record, the first of which is its id.

    Every element in it is a field by its name in lower case; of several with one name the contents are put together.
    The id may also be an attribute. Where ``text`` is a field and there is no such element, it is all that is not id
    or header.
    """

    def __init__(self, tags: tuple[str, ...], fields: tuple[str, ...]) -> None:
        self._fields = fields
        self._tags = frozenset(tags)
        self._names: dict[str, str] = {}
        self._closing = re.compile(rf"</(?:{'|'.join(map(re.escape, tags))})\s*>\s*\Z", re.I)

    def record(self, text: str) -> dict[str, str]:
        """The fields of an element, in the order in which they are; lines end as XML reads them, with a line feed."""
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        if (plain := self._plain(text)) is not None:
            return plain
        found: dict[str, str] = {}
        parts = list(self._parts(text))
        opening = _OPENING.match(text)
        key = self._fields[0]
        attribute = _ATTRIBUTE.search(opening.group(2) or "") if opening else None
        if attribute is not None and all(name != key for name, _, _, _ in parts):
            found[key] = unescape(attribute.group(1))
        for name, start, end, closed in parts:
            content = text[start:end]
            if name in ("num", "title", "desc", "narr") and (not closed or name == "num"):
                content = LABEL.sub("", content, count=1)
            content = unescape(content.strip(_BLANKS))
            if not content and not closed and name in ("desc", "narr"):
                continue  # a topic has the tags of the classic form, also where they say nothing
            found[name] = f"{found[name]}\n{content}" if name in found else content
        if "text" in self._fields and "text" not in found:
            found = {**{name: found[name] for name in (key, "title") if name in found}, "text": self._rest(text, parts)}
        if self._closing.search(text) is None:
            found[UNCLOSED] = ""
        return found

    def _plain(self, text: str) -> dict[str, str] | None:
        """The same, where each element inside is closed as it was opened and has no markup in it, as in most files."""
        found: dict[str, str] = {}
        pieces = text.split("<")
        if len(pieces) < 3 or len(pieces) % 2 == 0 or pieces[0]:  # not the outer tags and pairs of inner ones
            return None
        outer, mark, _ = pieces[1].partition(">")
        if not mark or outer.lower() not in self._tags or pieces[-1] != f"/{outer}>":
            return None
        for opening, closing in zip(pieces[2:-1:2], pieces[3:-1:2], strict=True):
            written, mark, content = opening.partition(">")
            name = self._names.get(written) or self._name(written)
            if not (mark and name and closing.startswith(f"/{written}>")):
                return None
            if name == "num":
                content = LABEL.sub("", content, count=1)
            content = unescape(content.strip(_BLANKS))
            found[name] = f"{found[name]}\n{content}" if name in found else content
        return found if "text" in found or "text" not in self._fields else None

    def _name(self, written: str) -> str:
        """The name of an element without attributes; none where it cannot be one."""
        if _NAME.fullmatch(written) is None:
            return ""
        name = written.lower()
        name = _OTHER_NAMES.get(name, name) if "num" in self._fields else name
        if len(self._names) < _MOST_NAMES:
            self._names[written] = name
        return name

    def span(self, text: str, name: str) -> tuple[int, int] | None:
        """Where the content of the first element of that name is, without blanks around it."""
        for found, start, end, _ in self._parts(text):
            if found == name:
                content = text[start:end].strip(_BLANKS)
                return (text.index(content, start), len(content)) if content else (start, 0)
        return None

    def _parts(self, text: str) -> Iterator[tuple[str, int, int, bool]]:
        """(name, start and end of the content, whether it is closed) of each element inside."""
        opening = _OPENING.match(text)
        closing = self._closing.search(text)
        position = opening.end() if opening else 0
        end = closing.start() if closing else len(text)
        while (inner := _OPENING.search(text, position, end)) is not None:
            name = inner.group(1).lower()
            close = re.compile(rf"</{re.escape(inner.group(1))}\s*>", re.I).search(text, inner.end(), end)
            if close is not None:
                stop, position = close.start(), close.end()
            else:
                following = _OPENING.search(text, inner.end(), end)
                stop = position = following.start() if following else end
            yield _OTHER_NAMES.get(name, name) if "num" in self._fields else name, inner.end(), stop, close is not None

    def _rest(self, text: str, parts: list[tuple[str, int, int, bool]]) -> str:
        """What follows the id and the header of an element without a text."""
        begin = opening.end() if (opening := _OPENING.match(text)) else 0
        for name, _, end, closed in parts:
            if name in (self._fields[0], "dochdr", "title"):
                begin = text.index(">", end) + 1 if closed else end
        closing = self._closing.search(text)
        return unescape(text[begin : closing.start() if closing else len(text)].strip(_BLANKS))


def unescape(text: str) -> str:
    """With the entities that XML knows replaced; other ampersands stand for themselves."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    name, decimal, hexadecimal = entity.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else entity.group()


def _as_entity(markup: re.Match[str]) -> str:
    found = markup.group()
    if found == "<":
        return "&lt;"
    import html

    return f"&amp;{found[1:]}" if html.unescape(found) != found else found


def escape(text: str, xml: bool = False) -> str:
    """So that `TaggedReader` reads exactly the text again: markup, blanks at its edges, carriage returns.

    Many tools do not read entities, so ``&`` and ``<`` are left where no reader of HTML takes them for markup, but in
    ``xml``, which knows no such mercy.
    """
    if xml:
        escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    else:
        escaped = _MARKUP.sub(_as_entity, text) if "<" in text or "&" in text else text
    escaped = escaped.replace("\r", "&#13;")
    left = len(escaped) - len(escaped.lstrip(_BLANKS))
    right = len(escaped.rstrip(_BLANKS)) if left < len(escaped) else left
    edges = [escaped[:left], escaped[left:right], escaped[right:]]
    return "".join("".join(f"&#{ord(c)};" for c in part) if i != 1 else part for i, part in enumerate(edges))
