"""Values of the data as Markdown that GitHub shows and does not obey."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from ragdatakit.reports.terminal import cut_to, one_line
from ragdatakit.visible_text import visible_text

VALUE = 48
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>|~$]")
_JOINED = re.compile(r"[@#]|(?<=www)(?=\.)|(?<=:)(?=//)", re.IGNORECASE)
_APART = "<!-- -->"
"""Keeps a reader from making a link, or a message to somebody, of what is in the data."""


def escaped(text: str) -> str:
    """A text in which nothing is Markdown, HTML, a link or a mention of somebody; its blanks stay."""
    shown = _SPECIAL.sub(lambda m: f"\\{m[0]}", visible_text(text).replace("&", "&amp;"))
    return _JOINED.sub(lambda m: f"{m[0]}{_APART}", shown)


def prose(text: str) -> str:
    """A text on one line, its beginning, `escaped`."""
    return escaped(one_line(text))


def code(text: str, most: int = VALUE) -> str:
    """A value of the data, cut, as code: between backticks, or as HTML where it has what ends those or a cell."""
    shown = cut_to(one_line(text), most)
    if not shown:
        return "(empty)"
    if "`" not in shown and "|" not in shown and not shown.endswith("\\"):
        return f"`{shown}`"
    return "<code>{}</code>".format("".join(c if c.isalnum() or c == " " else f"&#{ord(c)};" for c in shown))


def table_of(
    heading: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[int] = (), more: str = ""
) -> Iterator[str]:
    """A table of cells that are Markdown; the columns in ``numbers`` stand to the right, ``more`` in a last row."""
    yield f"| {' | '.join(heading)} |"
    yield f"|{'|'.join(' ---: ' if i in numbers else ' --- ' for i in range(len(heading)))}|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    if more:
        yield f"| {more} |{' |' * (len(heading) - 1)}"
    yield ""
