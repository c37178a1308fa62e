"""The picture of a format: its kinds of files, and which field of which names the records of which.

SVG as text, from the declarations. References that a format checks in code of its own are listed here.
"""

from __future__ import annotations

from html import escape

from ragdatakit.schemas.declarations import Format

Arrow = tuple[str, str, str]
"""Kind, field, and the kind whose records the field names."""

FURTHER: dict[str, tuple[Arrow, ...]] = {
    "graphrag": (
        ("text-units", "document_id", "documents"),
        ("entities", "text_unit_ids", "text-units"),
        ("relationships", "source, target", "entities"),
        ("relationships", "text_unit_ids", "text-units"),
        ("communities", "entity_ids", "entities"),
        ("communities", "relationship_ids", "relationships"),
        ("reports", "community", "communities"),
        ("covariates", "text_unit_id", "text-units"),
    ),
    "lightrag": (
        ("chunks", "full_doc_id", "documents"),
        ("status", "chunks_list", "chunks"),
        ("graph", "source_id", "chunks"),
        ("entity-vectors", "entity_name", "graph"),
        ("relation-vectors", "src_id, tgt_id", "graph"),
        ("chunk-vectors", "__id__", "chunks"),
    ),
}

_WIDTH, _LINE, _GAP, _COLUMN = 190, 18, 26, 330
_STYLE = (
    "rect{fill:#fff;stroke:#57606a}text{font:12px ui-sans-serif,system-ui,sans-serif;fill:#1f2328}"
    ".kind{font-weight:600}.field{fill:#57606a}path{fill:none;stroke:#0969da}.label{fill:#0550ae;font-size:11px}"
    "marker path{fill:#0969da;stroke:none}.ground{fill:#f6f8fa;stroke:none}"
    "@media(prefers-color-scheme:dark){rect{fill:#161b22;stroke:#8b949e}text{fill:#e6edf3}.field{fill:#9da7b3}"
    "path{stroke:#58a6ff}.label{fill:#79c0ff}marker path{fill:#58a6ff}.ground{fill:#0d1117}}"
)


def arrows(fmt: Format) -> list[Arrow]:
    """The references of a format, one for each field and kind that it names."""
    declared = [(r.kind, r.field, r.to_kind) for r in fmt.references]
    there = {kind.kind for kind in fmt.files}
    return [a for a in dict.fromkeys([*declared, *FURTHER.get(fmt.name, ())]) if {a[0], a[2]} <= there and a[0] != a[2]]


def diagram(fmt: Format) -> str:
    """The picture; ``""`` where no file of the format refers to another one."""
    drawn = arrows(fmt)
    if not drawn:
        return ""
    kinds = [k.kind for k in fmt.files if any(k.kind in (a[0], a[2]) for a in drawn)]
    columns = _columns(kinds, drawn)
    boxes: dict[str, tuple[int, int, int]] = {}
    parts, height = [], 0
    for number, column in enumerate(columns):
        top = 16
        for kind in column:
            fields = list(dict.fromkeys(a[1] for a in drawn if a[0] == kind))
            tall = _LINE * (1 + len(fields)) + 14
            boxes[kind] = (16 + number * _COLUMN, top, tall)
            parts += _box(kind, fields, *boxes[kind])
            top += tall + _GAP
        height = max(height, top)
    lines = [_arrow(a, boxes, [b[1] for b in drawn if b[0] == a[0]]) for a in drawn]
    width = 32 + (len(columns) - 1) * _COLUMN + _WIDTH + (len(columns) == 1) * (40 + height // 5)
    label = escape(f"Files of {fmt.title}: " + "; ".join(f"{k} {f} names {t}" for k, f, t in drawn), quote=True)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="{label}"><style>{_STYLE}</style>'
        '<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0L8 4L0 8z"/></marker></defs>'
        f'<rect class="ground" width="{width}" height="{height}" rx="6"/>\n'
        + "\n".join([*lines, *parts])
        + "\n</svg>\n"
    )


def _columns(kinds: list[str], drawn: list[Arrow]) -> list[list[str]]:
    """The kinds from left to right: what is referred to stands right of what refers to it."""
    depth = dict.fromkeys(kinds, 0)
    for _ in kinds:  # as often as the longest way can be; a circle ends there
        for kind, _field, target in drawn:
            depth[target] = max(depth[target], min(depth[kind] + 1, len(kinds) - 1))
    levels = sorted(set(depth.values()))
    columns = [[kind for kind in kinds if depth[kind] == level] for level in levels]
    # Side by side, arrows over three columns would run behind boxes: then all stand one below the other.
    return columns if len(columns) < 3 else [[kind for column in columns for kind in column]]


def _box(kind: str, fields: list[str], left: int, top: int, tall: int) -> list[str]:
    parts = [f'<rect x="{left}" y="{top}" width="{_WIDTH}" height="{tall}" rx="5"/>']
    parts.append(f'<text class="kind" x="{left + 10}" y="{top + 18}">{escape(kind)}</text>')
    for number, name in enumerate(fields, 1):
        parts.append(f'<text class="field" x="{left + 10}" y="{top + 18 + number * _LINE}">{escape(name)}</text>')
    return parts


def _arrow(arrow: Arrow, boxes: dict[str, tuple[int, int, int]], fields: list[str]) -> str:
    (left, top, _), (right, there, tall) = boxes[arrow[0]], boxes[arrow[2]]
    y = top + 14 + (1 + list(dict.fromkeys(fields)).index(arrow[1])) * _LINE
    end = there + min(tall // 2, 17)
    x, into, bend = left + _WIDTH, right, (right - left - _WIDTH) // 2
    if right > left:
        way = f"{x + bend} {y} {right - bend} {end}"
    else:  # in the same column: around its right side, the further the wider
        into, out = right + _WIDTH, x + 30 + abs(end - y) // 4
        way = f"{out} {y} {out} {end}"
    return f'<path d="M{x} {y}C{way} {into} {end}" marker-end="url(#head)"/>'
