"""What a page says of one dataset: its distributions, graph, sample records, files, columns and ids."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.html.charts import bar_table, constants, frequencies, histogram, single_values
from ragdatakit.reports.html.claims import claims_html
from ragdatakit.reports.html.hierarchy import hierarchy_html
from ragdatakit.reports.html.neighbours import walk
from ragdatakit.reports.html.parts import (
    Cell,
    Linked,
    badge,
    bar,
    cards,
    details,
    escape,
    linked_html,
    name_html,
    number,
    picture_id,
    section,
    size,
    table,
)
from ragdatakit.reports.summary.contexts import context_notes
from ragdatakit.reports.summary.hierarchy_words import section_title
from ragdatakit.reports.summary.words import (
    distribution_groups,
    file_rows,
    id_words,
    labelled,
    percent,
    splits_of,
    unused_columns,
    value_text,
)
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.hierarchies import Hierarchy
from ragdatakit.schemas.summaries import (
    ColumnSummary,
    ContextSummary,
    Example,
    GraphSummary,
    Hub,
    Note,
    Summary,
    TableSummary,
)
from ragdatakit.schemas.texts import many, shortened

_MOST_FILES, _MOST_SPLITS, _MOST_IDS = 40, 8, 5
_NAME, _VALUE, _ID, _PREVIEW = 120, 4000, 60, 160


@dataclass(frozen=True, slots=True)
class Room:
    """How much of a page one dataset may take: charts, bytes of examples, of its graph, and of the texts of its
    hierarchy. ``linked`` leads from values to the records that have them."""

    charts: int
    example_bytes: int
    graph_bytes: int
    hierarchy_bytes: int
    linked: Linked | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A section of a dataset: ``name`` is unique in it, ``body`` HTML."""

    name: str
    title: str
    body: str


def parts(summary: Summary, prefix: str, room: Room, level: int = 2) -> Iterator[Part]:
    """The sections of a dataset that have something to tell, pictures first; ids of elements start with ``prefix``.

    ``level`` is that of their headings.
    """
    hierarchy = summary.hierarchy
    made: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("distributions", "Distributions", lambda: _distributions(summary, prefix, room)),
        ("claims", "RAGChecker", lambda: claims_html(summary.claims, prefix)),
        (
            "hierarchy",
            section_title(hierarchy) if hierarchy else "",
            lambda: _hierarchy(hierarchy, prefix, room.hierarchy_bytes),
        ),
        ("contexts", "Contexts", lambda: _contexts(summary.contexts)),
        ("graph", "Graph", lambda: _graph(summary, prefix, room, level + 1)),
        ("examples", "Examples", lambda: _examples(summary, prefix, room)),
        ("shape", "Files and rows", lambda: _shape(summary)),
        ("columns", "Columns and ids", lambda: _columns(summary)),
    )
    for name, title, make in made:
        body = make()
        if body:
            yield Part(name, title, body)


def section_of(part: Part, prefix: str, level: int) -> str:
    """A part as a section of the page."""
    return section(f"{prefix}-{part.name}", part.title, part.body, level=level)


def _shape(summary: Summary) -> str:
    files = file_rows(summary, _MOST_FILES)
    split = any(f.split is not None for f in files)
    counted = any(f.records is not None for f in files)
    rows = []
    for f in files[:_MOST_FILES]:
        more = f" and {f.count - 1:,} more" if f.count > 1 else ""
        cells: list[object] = [Cell(f'<bdi class="name">{name_html(shortened(f.path, 200))}</bdi>{more}'), f.kind]
        cells += [f.split or ""] if split else []
        cells += [Cell("–" if f.records is None else number(f.records), numeric=True)] if counted else []
        rows.append([*cells, Cell(size(f.bytes), numeric=True)])
    heads = ["file", "kind", *(["split"] if split else []), *(["records"] if counted else []), "size"]
    shown = table("Files", heads, rows) if rows else ""
    if len(files) > _MOST_FILES:
        shown += f'<p class="small muted">And {len(files) - _MOST_FILES:,} other kinds of file.</p>'
    return shown + _splits(summary.tables)


def _splits(tables: Iterable[TableSummary]) -> str:
    """Rows by split, one column for each; empty where nothing is split."""
    divided = [t for t in tables if splits_of(t)]
    names = list(dict.fromkeys(name for t in divided for name, _ in splits_of(t)))
    if not names:
        return ""
    shown, more = names[:_MOST_SPLITS], len(names) > _MOST_SPLITS
    rows: list[list[object]] = []
    for t in divided:
        rest = sum(rows for name, rows in t.by_split.items() if name not in shown)
        counts: list[object] = [t.by_split.get(name, 0) for name in shown]
        rows.append([_words(t.name), *counts, *([rest] if more else []), t.rows])
    heads = ["table", *(shortened(name, 40) if name is not None else "no split" for name in shown)]
    return table("Rows by split", [*heads, *(["other splits"] if more else []), "in all"], rows)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _columns(summary: Summary) -> str:
    used: list[tuple[TableSummary, ColumnSummary]] = []
    unused = []
    for t in summary.tables:
        if t.rows:
            without = set(unused_columns(t))
            unused += [f"{t.name}.{name}" for name in sorted(without)]
            used += [(t, c) for c in t.columns if c.name not in without]
    # Counts of a column are below each other, so all of them leave room for a share if one has one.
    shares = [any(counts) for counts in zip(*(_odd_counts(c) for _, c in used), strict=True)]
    rows = []
    for t, c in used:
        missing, empty, repeated = map(_counted_share, _odd_counts(c), shares, (t.rows,) * 3)
        distinct = Cell("–" if c.distinct is None else number(c.distinct), numeric=True)
        rows.append((_column_name(t.name, c.name), t.rows, missing, empty, distinct, repeated))
    heads = ("column", "rows", "missing", "empty", "distinct", "repeated")
    shown = table("Values that are missing, empty or repeated", heads, rows) if rows else ""
    if unused:
        names = escape(", ".join(unused))
        shown += f'<p class="small muted">Columns without any value: {names}.</p>'
    return shown + _ids(summary)


def _odd_counts(c: ColumnSummary) -> tuple[int | None, ...]:
    return c.missing, c.empty, c.duplicates


def _column_name(table: str, column: str) -> Cell:
    return Cell(
        f'<span class="name column"><span class="muted">{name_html(table)}.</span><wbr>{name_html(column)}</span>'
    )


def _counted_share(count: int | None, share: bool, whole: int) -> Cell:
    words = "–" if count is None else f"{count:,}"
    room = f'<span class="share muted">{percent(count, whole) if count else ""}</span>' if share else ""
    return Cell(f'<span class="{"some" if count else "none"}">{words}</span> {room}', numeric=True)


def _ids(summary: Summary) -> str:
    rows = []
    for one in summary.ids:
        words = "; ".join(
            escape(words) if level == "info" else f'<span class="some">{escape(words)}</span>'
            for level, words in id_words(one)
        )
        some = ", ".join(f"<code>{escape(shortened(x, _ID))}</code>" for x in one.examples[:_MOST_IDS])
        rows.append((_column_name(one.table, one.column), one.count, Cell(words), Cell(some)))
    return table("Ids", ("ids", "rows", "what they are", "such as"), rows) if rows else ""


def _distributions(summary: Summary, prefix: str, room: Room) -> str:
    every = [d for group in distribution_groups(summary) for d in group if d.count]
    ordered = [d for d in every if d.minimum < d.maximum and d.bins]
    one = {d.name for d in every if d.minimum == d.maximum and d.by is None}
    same = constants(d for d in every if d.minimum == d.maximum and (d.by is None or d.name not in one))
    # What stands for all rows goes first where not everything fits.
    wanted = {id(d) for d in sorted(ordered, key=lambda d: d.by is not None)[: room.charts]}
    shown = [(histogram(d, picture_id(prefix, "chart", n)), d) for n, d in enumerate(ordered) if id(d) in wanted]
    charts = "".join(chart for chart, d in shown if d.by is None)
    by_part = "".join(chart for chart, d in shown if d.by is not None)
    number_by_part = sum(d.by is not None for _, d in shown)
    left = len(ordered) - len(shown)
    note = f'<p class="small muted">{many(left, "other distribution")} left out of this page.</p>' if left else ""
    several = [f for f in summary.frequencies if f.distinct > 1 and f.values]
    same += single_values(f for f in summary.frequencies if f.distinct == 1)
    values = "".join(frequencies(one, room.linked) for one in several) + same
    out = f'<p class="small muted how">{_HOW_TO_READ}</p>' if shown else ""
    out += f'<div class="charts">{charts}</div>' if charts else ""
    if by_part:
        head = f"By split or stage: {many(number_by_part, 'chart')}"
        out += details(head, f'<div class="charts">{by_part}</div>', opened=not charts)
    asides = "".join(f'<p class="small muted">{escape(one)}</p>' for one in _asides(summary))
    return out + note + (f'<div class="columns">{values}</div>' if values else "") + asides


def is_aside(note: Note) -> bool:
    """Whether it says how the numbers of the distributions came about, rather than what is in the data."""
    return note.level != "warning" and note.name.startswith(("sampled.", "keys."))


def _asides(summary: Summary) -> Iterator[str]:
    for note in filter(is_aside, summary.notes):
        yield f"{note.words[:1].upper()}{note.words[1:]}."


_HOW_TO_READ = (
    "The number above the highest bar says how many rows it counts"
    '<span class="no-print" data-script hidden>; point at another bar, or use the arrow keys, for its number</span>. '
    "Below the bars, the light strip spans 90\u2009% of the values, the dark one the middle half; the tick "
    "is the median."
)


def _contexts(found: ContextSummary | None) -> str:
    """Chunks beside their contexts."""
    if found is None:
        return ""
    words = ". ".join(f"{note.words[:1].upper()}{note.words[1:]}" for note in context_notes(found))
    rows = [
        (
            Cell(f'<span class="name">{name_html(shortened(pair.chunk_id, _ID))}</span> {badge(pair.why)}'),
            Cell(f'<p dir="auto">{escape(pair.context)}</p>'),
            Cell(f'<p dir="auto">{escape(pair.text)}</p>'),
        )
        for pair in found.pairs
    ]
    left = found.given - len(rows)
    more = f'<p class="small muted">{many(left, "other chunk")} with a context not shown.</p>' if left else ""
    listed = table("Chunks and their contexts", ("chunk", "context", "text"), rows, classes="blocks contexts")
    return f"<p>{escape(words)}.</p>{listed}{more}"


def _hierarchy(found: Hierarchy | None, prefix: str, most_bytes: int) -> str:
    return hierarchy_html(found, f"{prefix}-hierarchy", most_bytes) if found is not None else ""


def _graph(summary: Summary, prefix: str, room: Room, level: int) -> str:
    graph = summary.graph
    out = _graph_numbers(graph, room.linked) if graph is not None else ""
    if summary.neighbourhoods is not None and summary.neighbourhoods.names:
        out += walk(summary.neighbourhoods, f"{prefix}-walk", room.graph_bytes, level)
    return out


def _graph_numbers(graph: GraphSummary, linked: Linked | None) -> str:
    largest = f"largest: {percent(graph.largest_component, graph.nodes)} of the nodes"
    numbers = [
        (number(graph.nodes), "nodes", f"{graph.isolated:,} without an edge" if graph.isolated else ""),
        (number(graph.edges), "edges", f"{2 * graph.edges / graph.nodes:.1f} per node" if graph.nodes else ""),
        (number(graph.relations), "relations", ""),
        (number(graph.components), "components", largest),
        (number(graph.self_loops), "self-loops", ""),
        (number(graph.parallel_edges), "parallel edges", ""),
    ]
    hubs = bar_table(
        "Hubs",
        ("node", "edges", "share"),
        [(_hub(h), h.degree, linked("nodes", "name", h.name) if linked else "") for h in graph.hubs],
        graph.edges,
        shares=False,
    )
    reach = ""
    if graph.reachable:
        of = f" of {many(graph.questions, 'question')}" if graph.questions else ""
        rows = [
            (f"within {many(edges, 'edge')}", Cell(percent(part), numeric=True), Cell(bar(part, 1)))
            for edges, part in sorted(graph.reachable.items())
        ]
        reach = table(f"Targets reached from the start nodes{of}", ("distance", "questions", ""), rows, classes="bars")
    lists = f'<div class="two">{hubs if graph.hubs else ""}{reach}</div>'
    return cards(numbers) + lists


def _hub(hub: Hub) -> str:
    name = labelled(shortened(hub.name, _NAME), hub.label)
    return f"{name} ({hub.type})" if hub.type else name


def _examples(summary: Summary, prefix: str, room: Room) -> str:
    items: list[tuple[str, str]] = []
    used = 0
    for example in summary.examples:
        item = _example(example, room.linked)
        used += len(item.encode("utf-8", "replace"))
        if used > room.example_bytes and items:
            break
        items.append((example.table, item))
    if not items:
        return ""
    left = len(summary.examples) - len(items)
    note = f'<p class="small muted">{many(left, "other example")} left out of this page.</p>' if left else ""
    if room.linked is None:
        command = escape(f"ragdata explore {shlex.quote(summary.path)}")
        note += f'<p class="small muted">All records, with what they refer to: <code>{command}</code></p>'
    identity = f"{prefix}-list"
    tables = list(dict.fromkeys(name for name, _ in items))
    options = "".join(f'<option value="{escape(name)}">{escape(_words(name))}</option>' for name in tables)
    chooser = (
        f'<label>Table<select id="{identity}-filter"><option value="">all</option>{options}</select></label>'
        if len(tables) > 1
        else ""
    )
    tools = (
        '<div class="tools" role="group" aria-label="Search the examples" data-live hidden>'
        f'<label class="grow">Search<input type="search" data-search="{identity}" autocomplete="off" '
        f'spellcheck="false"></label>{chooser}</div>'
        f'<p class="status" id="{identity}-status" role="status">{len(items):,} shown</p>'
    )
    listed = "".join(f'<li data-item="{escape(name)}">{item}</li>' for name, item in items)
    return f'{tools}<ul class="examples" id="{identity}">{listed}</ul>{note}'


def preview(example: Example) -> str:
    """What describes a row best: its text, title or name, else all of its texts where they are short, else the
    longest."""
    texts = {name: v for name, v in example.row.items() if isinstance(v, str) and v.strip() and v[0] not in "{["}
    for name in ("text", "title", "name"):
        if name in texts:
            return texts[name]
    joined = " · ".join(texts.values())
    return joined if len(joined) <= _PREVIEW or not texts else max(texts.values(), key=len)


def _example(example: Example, linked: Linked | None) -> str:
    row = [(str(name), value_text(value), value) for name, value in example.row.items()]
    line = " ".join(shortened(preview(example), _PREVIEW).split())
    fields = []
    for name, text, value in row:
        if value is None:
            continue
        shown = (
            f'<span dir="auto">{escape(shortened(text, _VALUE))}</span>' if text else '<span class="empty">empty</span>'
        )
        if not isinstance(value, str):
            shown = f"<code>{escape(shortened(text, _VALUE))}</code>"
        if linked and (name,) == TABLES[example.table].key[:1]:
            shown = linked_html(shown, linked(example.table, name, text))
        if name in example.cut or len(text) > _VALUE:
            shown += ' <span class="badge">cut</span>'
        fields.append(f"<dt>{escape(shortened(name, _NAME))}</dt><dd>{shown}</dd>")
    without = [name for name, _, value in row if value is None]
    if without:
        fields.append(f'<dt>no value</dt><dd class="muted">{escape(", ".join(without))}</dd>')
    head = (
        f'{badge(example.why)} <span class="muted">{escape(_words(example.table))}</span> '
        f'<span class="preview" dir="auto">{escape(line)}</span>'
    )
    return f'<details><summary>{head}</summary><dl class="record">{"".join(fields)}</dl></details>'
