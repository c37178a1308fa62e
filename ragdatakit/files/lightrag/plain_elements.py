"""Nodes and edges of GraphML in the form in which networkx writes them: that form is well-formed XML, so that they need
no parser, which takes longer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ragdatakit.quick_values import NamedTuple

LONGEST = 1 << 20
"""Bytes beyond which the parser is given what has no end yet."""
_REFERENCE = rb"&(?:amp|lt|gt|quot|apos);"
_NAME = rb'"([^"<&\x00-\x1f]*(?:%b[^"<&\x00-\x1f]*)*)"' % _REFERENCE
_TEXT = rb"[^<&\x00-\x08\x0b-\x1f]*(?:%b[^<&\x00-\x08\x0b-\x1f]*)*" % _REFERENCE
_KEY = rb'[^"<&\x00-\x1f]*'
_ELEMENT = re.compile(
    rb"([ \t]*)<(?:(node) id=%b|edge source=%b target=%b)>[ \t\n]*" % (_NAME, _NAME, _NAME)
    + rb'((?:<data key="%b"(?:>%b</data>| ?/>)[ \t\n]*+)*+)' % (_KEY, _TEXT)
    + rb"</(?:(?(2)node|edge))>[ \t]*\n"
)
_DATA = re.compile(r'<data key="([^"]*)"(?:>([^<]*)<| ?/>)')
_END = re.compile(rb"</(?:node|edge)>[ \t]*\n")
_MEANT = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"), ("&amp;", "&"))
_NO_TEXT = (b"]]>", b"\xef\xbf\xbe", b"\xef\xbf\xbf", b"\r")

Keys = Mapping[str, tuple[str, Callable[[str], Any]]]
"""By the id of a key, the name of the attribute, and what reads its texts."""


class PlainElement(NamedTuple):
    """A node (``ends`` is empty) or an edge; ``start`` is where its tag begins, ``end`` behind its line."""

    name: str
    ends: tuple[str, ...]
    attributes: dict[str, str]
    start: int
    end: int


def may_be_plain(data: bytes) -> bool:
    """Whether there is nothing in it that no text of XML has, and no line end that a parser makes another one of."""
    return not any(odd in data for odd in _NO_TEXT)


def plain_elements(data: bytes, at: int, keys: Keys) -> Iterator[PlainElement]:
    """Those that follow each other from the beginning of a line on, up to one that is written otherwise, or of which
    an attribute cannot be read."""
    while (found := _ELEMENT.match(data, at)) is not None:
        blanks, node, name, source, target, below = found.groups()
        try:
            text = below.decode()
            ends = () if node else (_meant(source.decode()), _meant(target.decode()))
            own = _meant(name.decode()) if node else ""
            attributes = _attributes(text, keys)
        except (ValueError, KeyError):
            return
        start, at = found.span()
        yield PlainElement(own, ends, attributes, start + len(blanks), at)


def _attributes(text: str, keys: Keys) -> dict[str, str]:
    values = _DATA.findall(text)
    if "&" in text:
        values = [(key, _meant(value)) for key, value in values]
    found: dict[str, str] = {}
    for key, value in values:
        name, read = keys[key]
        if name:
            if read is not str:
                read(value or "0")
            found[name] = value
    return found


def line_behind_element(data: bytes, at: int) -> int:
    """Where the next line begins before which a node or an edge seems to end; -1 where there is none."""
    found = _END.search(data, at)
    return found.end() if found is not None else -1


def _meant(text: str) -> str:
    if "&" in text:
        for reference, character in _MEANT:
            text = text.replace(reference, character)
    return text
