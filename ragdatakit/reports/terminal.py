"""Texts on a terminal: their colours, how many columns they take, cut to fit, wrapped, set as a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ragdatakit.late_modules import late_module
from ragdatakit.late_patterns import late_pattern
from ragdatakit.visible_text import visible_text

if TYPE_CHECKING:
    import unicodedata
else:
    unicodedata = late_module("unicodedata")

_LEAST_ROOM = 12
_NARROW = late_pattern("[\x00-\u02ff\u2010-\u2027\u2400-\u2426]*")
"""Characters of one column: of European languages, dashes, the ellipsis, pictures of control characters."""
_COLOURS = {"error": "31", "warning": "33", "info": "36", "dim": "2", "bold": "1", "good": "32"}

Painter = Callable[[str, str], str]


def painter(colour: bool) -> Painter:
    """A function that puts a text into a style's colour, or leaves it as it is."""

    def paint(style: str, text: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if text else text

    return paint if colour else _plain


def _plain(style: str, text: str) -> str:
    return text


def one_line(text: str, most: int = 2000) -> str:
    """Any text as one line that a terminal shows and does not obey; of a long one only the beginning is looked at."""
    return visible_text(" ".join(text[:most].split()))


def width_of(text: str) -> int:
    """Columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return len(text) if _NARROW.fullmatch(text) else sum(_character_width(c) for c in text)


@lru_cache(1024)
def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def cut_to(text: str, width: int, more: str = "…") -> str:
    """The text in at most this many columns; ``more`` stands for what is left out."""
    if width_of(text) <= width:
        return text
    used, kept = len(more), []
    for character in text:
        used += _character_width(character)
        if used > width:
            break
        kept.append(character)
    return "".join(kept).rstrip() + more


def padded(text: str, width: int) -> str:
    """The text with blanks behind it, so that it takes so many columns."""
    return text + " " * (width - width_of(text))


def cut_head(text: str, width: int, more: str = "…") -> str:
    """The end of the text in at most this many columns; ``more`` stands for what is left out before it."""
    return cut_to(text[::-1], width, more[::-1])[::-1] if width_of(text) > width else text


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines of at most this many columns, broken at blanks, or anywhere in a word that is too long."""
    room = max(width, _LEAST_ROOM)
    lines, line = [], ""
    for word in text.split(" "):
        whole = f"{line} {word}" if line else word
        if width_of(whole) <= room:
            line = whole
            continue
        lines += [line] if line else []
        while width_of(word) > room:
            head = cut_to(word, room, "")
            lines.append(head)
            word = word[len(head) :]
        line = word
    return [*lines, line] if line or not lines else lines


def flowing(head: str, parts: Sequence[str], width: int, gap: str = ", ") -> Iterator[str]:
    """``head`` and then the parts, as many in a line as fit; further lines are indented as far as the head goes."""
    indent = width_of(head)
    line, room = "", max(width - indent, _LEAST_ROOM)
    first = True
    pieces = [p + (gap.rstrip() if number + 1 < len(parts) else "") for number, p in enumerate(parts)]
    for part in (line for piece in pieces for line in wrapped(piece, room)):
        whole = f"{line} {part}" if line else part
        if not line or width_of(whole) <= room:
            line = whole
        else:
            yield (head if first else " " * indent) + line
            line, first = part, False
    yield (head if first else " " * indent) + line


def column_lines(
    rows: Sequence[Sequence[str]], paint: Painter, *, left: Sequence[int] = (0,), gap: int = 2, indent: str = "  "
) -> Iterator[str]:
    """Rows in columns, the first of them the heading; the columns of ``left`` are flush left, the others right."""
    count = max(map(len, rows))
    widths = [max((width_of(row[i]) for row in rows if i < len(row)), default=0) for i in range(count)]
    for number, row in enumerate(rows):
        cells = []
        for i, cell in enumerate(row):
            space = " " * (widths[i] - width_of(cell))
            if widths[i]:
                cells.append(cell + space if i in left else space + cell)
        line = f"{indent}{(' ' * gap).join(cells)}".rstrip()
        yield paint("dim", line) if number == 0 else line
