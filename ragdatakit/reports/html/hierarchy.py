"""A hierarchy as a picture and as a list to open: communities from the left to the right, or a tree of summaries.

Each node is a box as high as what is shown of its children, which are at its right. A box leads to its text in the
list below the picture, which has the same nodes and needs no script.
"""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.html.parts import Cell, escape, number, table
from ragdatakit.reports.summary.hierarchy_words import (
    hierarchy_words,
    left_out_words,
    level_word,
    levels_of,
    node_name,
    node_size,
)
from ragdatakit.schemas.hierarchies import Hierarchy, HierarchyNode
from ragdatakit.schemas.texts import many, shortened

_ROW, _GAP, _HEAD = 28, 2, 22
_LABEL, _EXAMPLE, _ID = 90, 60, 120
_LINE, _MOST_LINES = 110, 12
"""Characters of a line in all columns together, and how many lines of a box are filled at most."""
_LEAST_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class _Box:
    """A node, or what is left out of its parent (``node`` is None), with its column and its rows."""

    node: int | None
    column: int
    row: int
    rows: int
    left: int = 0


def hierarchy_html(found: Hierarchy, prefix: str, most_bytes: int) -> str:
    """The levels as a table, the picture, and the list of texts, which are cut so that they take ``most_bytes``."""
    if not found.nodes:
        return ""
    words = "".join(f"<p>{escape(words)}</p>" for words in (*hierarchy_words(found), left_out_words(found)) if words)
    return words + _levels(found, prefix) + _picture(found, prefix) + _list(found, prefix, most_bytes)


def _levels(found: Hierarchy, prefix: str) -> str:
    rows = []
    for level in levels_of(found):
        names = ", ".join(
            f'<a href="#{_item_id(prefix, place)}" dir="auto">{escape(shortened(name, _EXAMPLE))}</a>'
            for place, name in level.examples
        )
        sizes = (Cell(size, numeric=True) for size in level.sizes)
        rows.append((level.name, level.nodes, *sizes, Cell(names)))
    heads = ("level", found.counted, f"fewest {found.measure}", "median", "most", "largest")
    return table("Levels", heads, rows, classes="blocks levels")


def _item_id(prefix: str, place: int) -> str:
    return f"{prefix}-node-{place}"


def _children(found: Hierarchy) -> dict[int | None, list[int]]:
    """The places of what is shown below each node; None: the roots."""
    below: dict[int | None, list[int]] = {}
    for place, node in enumerate(found.nodes):
        below.setdefault(node.parent, []).append(place)
    return below


def _left(found: Hierarchy, place: int | None, shown: int) -> int:
    """How many children of a node are not below it."""
    return (found.roots if place is None else found.nodes[place].children) - shown


def _boxes(found: Hierarchy) -> list[_Box]:
    below = _children(found)
    boxes: list[_Box] = []

    def put(place: int, column: int, row: int) -> int:
        at = len(boxes)
        boxes.append(_Box(place, column, row, 1))
        children = below.get(place, [])
        rows = sum_rows(place, children, column + 1, row) if children else 1
        boxes[at] = _Box(place, column, row, rows, 0 if children else found.nodes[place].children)
        return rows

    def sum_rows(parent: int | None, places: list[int], column: int, row: int) -> int:
        start = row
        for place in places:
            row += put(place, column, row)
        if (left := _left(found, parent, len(places))) > 0:
            boxes.append(_Box(None, column, row, 1, left))
            row += 1
        return row - start

    sum_rows(None, below.get(None, []), 0, 0)
    return boxes


def _picture(found: Hierarchy, prefix: str) -> str:
    boxes = _boxes(found)
    columns = max(_LEAST_COLUMNS, 1 + max(box.column for box in boxes))
    rows = max(box.row + box.rows for box in boxes)
    width = 100 / columns
    drawn = []
    for box in boxes:
        place = f'x="{box.column * width:.3f}%" y="{_HEAD + box.row * _ROW}" width="{width:.3f}%"'
        drawn.append(f'<svg {place} height="{box.rows * _ROW}">{_box(found, box, prefix, columns)}</svg>')
    head = f"{prefix}-picture-heading"
    what = "Communities and their parts" if found.kind == "communities" else "The tree from its top to its leaves"
    caption = f"{what}. Every box leads to its text in the list below."
    return (
        f'<figure class="hierarchy"><figcaption id="{escape(head)}">{escape(caption)}</figcaption>'
        f'<svg class="boxes" role="group" aria-labelledby="{escape(head)}" width="100%" '
        f'height="{_HEAD + rows * _ROW}">{"".join(_heads(found, boxes, width))}{"".join(drawn)}</svg>'
        '<p class="readout box-text" aria-live="polite" dir="auto" data-script hidden>'
        "Point at a box, or walk through them with the arrow keys, to read its text here.</p></figure>"
    )


def _heads(found: Hierarchy, boxes: list[_Box], width: float) -> Iterator[str]:
    """The level of each column, where all of its boxes have one."""
    levels: dict[int, set[int]] = {}
    for box in boxes:
        if box.node is not None:
            levels.setdefault(box.column, set()).add(found.nodes[box.node].level)
    for column, some in levels.items():
        if len(some) == 1:
            word = level_word(found, next(iter(some)))
            yield f'<text x="{column * width:.3f}%" dx="2" y="14">{escape(word)}</text>'


def _box(found: Hierarchy, box: _Box, prefix: str, columns: int) -> str:
    height = box.rows * _ROW - _GAP
    if box.node is None:
        return _label(f"{number(box.left)} more", "", height, "more")
    node = found.nodes[box.node]
    size = node_size(found, node)
    if box.left and not size:
        size = f"+{number(box.left)}"
    lines = min(max(box.rows * _ROW // 18 - 1, 1), _MOST_LINES)
    name = node_name(node) if lines == 1 or node.title else " ".join(node.text.split()) or node.node_id
    name = shortened(name, max(_LABEL, lines * _LINE // columns))
    tone = f"box depth-{min(box.column, 3)}"
    return (
        f'<a class="{tone}" href="#{_item_id(prefix, box.node)}"><rect width="100%" height="{height}" rx="3"></rect>'
        f"{_label(name, size, height, 'label' if lines == 1 else 'label lines')}</a>"
    )


def _label(text: str, size: str, height: int, tone: str) -> str:
    """Words in a box, which end in an ellipsis where the box is too narrow."""
    counted = f"<span>{escape(size)}</span>" if size else ""
    return (
        f'<foreignObject width="100%" height="{height}"><div class="{tone}"><bdi>{escape(text)}</bdi>{counted}</div>'
        "</foreignObject>"
    )


def _list(found: Hierarchy, prefix: str, most_bytes: int) -> str:
    below = _children(found)
    texts = sum(len(node.text.encode("utf-8", "replace")) for node in found.nodes)
    most = max(int(1200 * min(1.0, most_bytes / texts)), 80) if texts else 80

    def items(parent: int | None) -> str:
        places = below.get(parent, [])
        listed = "".join(item(place) for place in places)
        left = _left(found, parent, len(places))
        if left > 0 and places:
            listed += f'<li class="small muted">{escape(many(left, "other"))} not shown.</li>'
        return f'<ul class="nodes">{listed}</ul>' if listed else ""

    def item(place: int) -> str:
        node = found.nodes[place]
        text = f'<p class="text" dir="auto">{escape(shortened(node.text, most))}</p>' if node.text.strip() else ""
        if not text:
            text = '<p class="text empty">no text</p>'
        facts = " · ".join(_facts(found, node, len(below.get(place, []))))
        head = f'<bdi class="preview">{escape(shortened(node_name(node), _LABEL))}</bdi>'
        size = node_size(found, node)
        head += f' <span class="muted small">{escape(size)}</span>' if size else ""
        body = f'<p class="small muted">{escape(facts)}</p>{text}{items(place)}'
        return f'<li><details id="{_item_id(prefix, place)}"><summary>{head}</summary>{body}</details></li>'

    return f'<div class="node-list">{items(None)}</div>'


def _facts(found: Hierarchy, node: HierarchyNode, shown: int) -> Iterator[str]:
    yield shortened(node.node_id, _ID)
    yield "leaf" if found.kind == "tree" and node.level == 0 else level_word(found, node.level).lower()
    if node.size is not None:
        yield many(node.size, "entity", "entities")
    if node.rank is not None:
        yield f"rank {number(node.rank)}"
    if node.children:
        yield f"{many(node.children, 'child', 'children')}{'' if shown else ', not shown'}"
    if found.kind == "communities" and node.leaves:
        yield f"made of {many(node.leaves, 'text')}"
    if node.parents > 1:
        yield f"{many(node.parents, 'parent')}, drawn below the first"
