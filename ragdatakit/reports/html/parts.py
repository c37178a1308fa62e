"""The parts that pages are made of, as HTML text: cards, tables, bars, and the escaping that everything goes through.

A page has a strict Content-Security-Policy: no part writes a ``style`` attribute or an event handler.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import orjson

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.texts import size as size_in_text

# Control characters, half surrogates, and what turns the direction of the text around it.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_LITERAL = re.compile("[<>&\u2028\u2029]")
_JOINT = re.compile(r"([._/-])(?=\w)")
_CODE = re.compile("`([^`]+)`")
_NAME = re.compile(r"[\w.]{1,40}", re.ASCII)

Linked = Callable[[str, str, str], str]
"""Where the records are that have a value: takes table, column and value, and gives an address (empty: nowhere)."""


def plain(value: object) -> str:
    """``value`` as text in which nothing hides: control characters and the like are shown by their code points."""
    text = str(value).replace("\r\n", "\n")
    return _HIDDEN.sub(lambda found: f"<U+{ord(found[0]):04X}>", text)


def escape(value: object) -> str:
    """``value`` as HTML text, good between tags and in a quoted attribute."""
    return html.escape(plain(value), quote=True)


def linked_html(inner: str, address: str) -> str:
    """HTML that leads to an address, if there is one."""
    return f'<a href="{escape(address)}">{inner}</a>' if address else inner


def name_html(name: object) -> str:
    """The name of a column or a file as HTML, which a narrow column breaks where its parts begin, not inside a word."""
    return _JOINT.sub(r"\1<wbr>", escape(name))


def marked(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """``text`` as HTML, with these parts of it (first character, the one behind the last; ascending) marked."""
    found, at = "", 0
    for start, end in marks:
        found += f"{escape(text[at:start])}<mark>{escape(text[start:end])}</mark>"
        at = end
    return found + escape(text[at:])


def prose_html(text: object) -> str:
    """A sentence as HTML; what is between backticks is code."""
    return _CODE.sub(r"<code>\1</code>", escape(text))


def json_text(value: Any) -> str:
    """``value`` as JSON that may be in a ``<script type="application/json">``."""
    text = orjson.dumps(_plain_json(value)).decode()
    return _LITERAL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _plain_json(value: Any) -> Any:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, Mapping):
        return {plain(key): _plain_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain_json(item) for item in value]
    if isinstance(value, int) and abs(value) >= 1 << 53:
        return str(value)  # a browser would round it
    return value if isinstance(value, (int, float)) or value is None else plain(value)


def data_block(identity: str, value: Any) -> str:
    """Data that a script of the page reads."""
    return f'<script type="application/json" id="{escape(identity)}">{json_text(value)}</script>'


def number(value: float) -> str:
    """A number for people: thousands apart, and no more digits than mean something."""
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "−∞"}.get(value, "not a number")
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}".replace("-", "−")
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", "−")
    return f"{value:.3g}".replace("-", "−").replace("e+", "e").replace("e−0", "e−")


_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k"))


def axis_numbers(values: Sequence[float]) -> list[str]:
    """The numbers of an axis, all of them in the unit of the greatest: 0, 2.5 k, 5 k."""
    most = max(map(abs, values), default=0.0)
    factor, unit = next(((f, u) for f, u in _UNITS if most >= f), (1.0, ""))
    scale = 1e3 if unit == "k" else factor
    return [f"{number(value / scale)}\u2009{unit}" if unit and value else number(value) for value in values]


def short_number(value: float) -> str:
    """A number that stands alone, shortly: 12 k, 3.4 M."""
    for factor, unit in _UNITS:
        if abs(value) >= factor:
            scale = 1e3 if unit == "k" else factor
            return f"{number(float(f'{value / scale:.3g}'))}\u2009{unit}"
    return number(float(f"{value:.4g}")) if math.isfinite(value) else number(value)


def size(count: int) -> str:
    """A number of bytes, as everywhere; its unit stays on the same line."""
    return size_in_text(count).replace(" ", "\u00a0")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell whose ``html`` is already HTML; ``numeric`` ones are at the right."""

    html: str
    numeric: bool = False


def bar(part: float, whole: float, *, tone: str = "accent", track: bool = True) -> str:
    """A bar of ``part`` in ``whole``; a picture beside the number, so nothing for a screen reader.

    ``track`` draws the whole behind it: not where ``whole`` is only the longest of several bars.
    """
    width = 0.0 if not whole else max(0.0, min(100.0, 100 * part / whole))
    width = max(width, 0.6) if part > 0 else width
    behind = '<rect class="track" width="100%"></rect>' if track else ""
    return f'<svg class="bar" aria-hidden="true">{behind}<rect class="{tone}" width="{width:.1f}%"></rect></svg>'


def table(
    caption: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    hidden_caption: bool = False,
    classes: str = "",
    row_head: bool = True,
) -> str:
    """A table in a box that scrolls sideways where it is too wide; the script lets the keyboard into such a box.

    A cell is a ``Cell`` (HTML), a number (aligned right) or anything else (escaped). The first cell of a row is its
    head. A column without a name is one of pictures. With the class ``blocks`` rows are blocks on a narrow screen, and
    each cell has the name of its column before it.
    """
    labels = columns[1:] if "blocks" in classes.split() else [""] * len(columns[1:])
    body: list[str] = []
    numeric: list[bool] | None = None
    for row in rows:
        cells = [_head(row[0]) if row_head else _cell(row[0]), *map(_cell, row[1:])]
        if numeric is None:
            numeric = [cell.numeric for cell in cells]
        first = f'<th scope="row">{cells[0].html}</th>' if row_head else _td(cells[0])
        body.append("<tr>" + first + "".join(map(_td, cells[1:], labels)) + "</tr>")
    numeric = numeric or [False] * len(columns)
    heads = "".join(
        f'<th scope="col"{_numeric(n)}>{escape(c)}</th>' if c else "<td></td>"
        for c, n in zip(columns, numeric, strict=True)
    )
    caption_class = ' class="visually-hidden"' if hidden_caption else ""
    table_class = f' class="{escape(classes)}"' if classes else ""
    return (
        f'<div class="scroll" role="group" aria-label="{escape(caption)}">'
        f"<table{table_class}><caption{caption_class}><span>{escape(caption)}</span></caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _head(value: object) -> Cell:
    """The head of a row: the name of a column keeps its line where there is room."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return Cell(f'<span class="name column">{name_html(value)}</span>')
    return _cell(value)


def _cell(value: object) -> Cell:
    if isinstance(value, Cell):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Cell("" if value is None else f'<span dir="auto">{escape(value)}</span>')
    return Cell(number(value), numeric=True)


_TAG = re.compile("<[^>]*>")


def _td(cell: Cell, label: str = "") -> str:
    named = f' data-label="{escape(label)}"' if label and _TAG.sub("", cell.html).strip() else ""
    return f"<td{_numeric(cell.numeric)}{named}>{cell.html}</td>"


def _numeric(numeric: bool) -> str:
    return ' class="n"' if numeric else ""


def cards(items: Iterable[tuple[str, str, str]]) -> str:
    """Headline numbers. Each is (value, what it counts, a further word or nothing)."""
    out = []
    for value, label, more in items:
        note = f'<dd class="more">{escape(more)}</dd>' if more else ""
        out.append(f'<div class="card"><dt>{escape(label)}</dt><dd class="value">{escape(value)}</dd>{note}</div>')
    return f'<dl class="cards">{"".join(out)}</dl>'


def section(identity: str, title: str, body: str, *, level: int = 2, lead: str = "") -> str:
    """A part of the page with a heading, which the contents may point to. ``body`` is HTML, ``lead`` a text."""
    heading = f"{escape(identity)}-heading"
    first = f'<p class="lead">{escape(lead)}</p>' if lead else ""
    # Parts of parts are no landmarks: a page of many datasets would have hundreds, of the same names.
    landmark = f' aria-labelledby="{heading}"' if level <= 2 else ""
    return (
        f'<section id="{escape(identity)}"{landmark}>'
        f'<h{level} id="{heading}" tabindex="-1">{escape(title)}</h{level}>{first}{body}</section>'
    )


def details(summary: str, body: str, *, classes: str = "", opened: bool = False) -> str:
    """Something to open. ``summary`` and ``body`` are HTML."""
    return f'<details class="{escape(classes)}"{" open" if opened else ""}><summary>{summary}</summary>{body}</details>'


def badge(text: str, tone: str = "") -> str:
    """A word in a box: ``error``, ``warning``, ``info``, ``good`` or no tone."""
    return f'<span class="badge {escape(tone)}">{escape(text)}</span>'


def picture_id(*parts: object) -> str:
    """An id for an element, made of any words."""
    return re.sub(r"[^A-Za-z0-9]+", "-", "-".join(map(str, parts))).strip("-") or "part"
