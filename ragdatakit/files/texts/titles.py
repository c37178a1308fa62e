"""What a text is called: its first heading, or its file's name or its key where that says something."""

from __future__ import annotations

import re

_HEADING_CHARACTERS = 1 << 16
"""How far a heading is looked for."""
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*")
_NO_PARAGRAPH = re.compile(r"\s*\Z|    |\t| {0,3}(?:[-*+>|]|[0-9]{1,9}[.)])")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_SAYING_NOTHING = frozenset(
    "chapter content contents copy data doc document documents draft file final index input main new note notes output "
    "page part post readme scan section temp test text tmp train untitled".split()
)


def heading(text: str) -> str | None:
    """The first heading of a Markdown text, outside of code blocks."""
    before, fence = "", ""
    for line in text[:_HEADING_CHARACTERS].splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark.group(1).startswith(fence) and not line[mark.end() :].strip():
                fence = ""
            continue
        if mark:
            fence, before = mark.group(1), ""
            continue
        atx = _ATX.fullmatch(line)
        if atx is not None and atx.group(1).strip("# \t"):
            return atx.group(1).strip()
        if _UNDERLINE.fullmatch(line) and before:
            return before.strip()
        before = "" if _NO_PARAGRAPH.match(line) or atx is not None else line
    return None


def telling_name(name: str) -> str | None:
    """What a file's name says of its content: None where it is a number, a code, or such as ``readme``."""
    stem = re.sub(r"[\s_\-]+", " ", name.rsplit("/", 1)[-1].rsplit(".", 1)[0]).strip()
    words = [w for w in stem.split() if re.fullmatch(r"[^\W\d_]{2,}", w) and w.lower() not in _SAYING_NOTHING]
    return stem if any(len(w) > 2 or not w.isascii() for w in words) else None


def only_identifies(key: str) -> bool:
    """Whether a key says nothing of its text, as ``17``, ``MED-10`` or a digest: no title, but one that was made of an
    id, where a framework calls its texts by titles."""
    return not any(map(str.isalpha, key)) or (" " not in key and any(digit in key for digit in "0123456789"))
