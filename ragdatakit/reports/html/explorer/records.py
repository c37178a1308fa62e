"""Records of a table, one of them with what it is connected with, and the graph."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragdatakit.reports.html.explorer.layout import (
    beside,
    link,
    page,
    still_reading,
    target_html,
    turns,
    value_html,
    words_input,
)
from ragdatakit.reports.html.explorer.ranks import search_section
from ragdatakit.reports.html.explorer.values import (
    DatasetState,
    Found,
    Links,
    Record,
    RecordList,
    Related,
    Target,
    Wanted,
)
from ragdatakit.reports.html.neighbours import walk
from ragdatakit.reports.html.parts import Cell, badge, escape, name_html, number, section, table
from ragdatakit.schemas.neighbourhoods import Neighbourhoods
from ragdatakit.schemas.texts import many

_GRAPH_BYTES = 400_000
_LONG, _MANY_LINES = 1_500, 15
_TEXTS = ("text", "title", "message", "context")


def records_page(links: Links, dataset: DatasetState, found: RecordList, rules: Sequence[str], size: int) -> bytes:
    """A page of records, with what chooses and sorts them. ``rules`` are of findings about records of the table."""
    wanted, total = found.wanted, found.total
    address = links.table(dataset.number, found.table)
    kept = "".join(_hidden(name, value) for name, value in wanted.equal)
    options = "".join(
        f'<option value="{escape(code)}"{" selected" * (code == wanted.rule)}>{escape(code)}</option>' for code in rules
    )
    by_rule = f'<label>Finding<select name="rule"><option value="">any or none</option>{options}</select></label>'
    form = (
        f'<form class="tools" role="search" action="{escape(address)}">'
        f"{words_input('Words', 'q', wanted.search)}{by_rule if rules else ''}{kept}{_hidden('sort', wanted.sort)}"
        f'{_hidden("down", "1" if wanted.down else "")}<button type="submit">Search</button> '
        f"{link(address, 'All') if wanted != Wanted(first=wanted.first) else ''}</form>"
    )
    equal = "".join(f"<p>Only those with {escape(n)} = <code>{escape(v)}</code>.</p>" for n, v in wanted.equal)
    body = form + equal
    if total is None:
        body += still_reading("The first records; the table is still being read. ")
    elif not found.rows:
        body += "<p>No record is like that.</p>"
    if found.rows:
        body += _list(links, dataset, found) + _turns(links, dataset, found, size)
    shown = next((each.rows for each in dataset.tables if each.name == found.table), None)
    lead = dataset.name if shown is None else f"{dataset.name}, {many(shown, 'record')}"
    if total is not None and total != shown:
        lead += f", {number(total)} like that"
    return page(links, found.table, body, lead=lead, dataset=dataset, here=address)


def _hidden(name: str, value: str) -> str:
    return f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' if value else ""


def _list(links: Links, dataset: DatasetState, found: RecordList) -> str:
    """The records. The head of each column sorts by it; columns that are empty on this page are left out."""
    wanted = found.wanted
    shown = [n for n, _ in enumerate(found.columns) if any(values[n] not in (None, "") for _, values in found.rows)]
    heads = []
    for n in shown:
        name = found.columns[n]
        is_sorted = name == wanted.sort
        down = is_sorted and not wanted.down
        query = wanted.query(sort=name, down=int(down), **{"from": 0})
        state = f' aria-sort="{"descending" if wanted.down else "ascending"}"' if is_sorted else ""
        sign = f' <span aria-hidden="true">{"↓" if wanted.down else "↑"}</span>' if is_sorted else ""
        words = name_html(name) + sign
        if found.total is not None:
            words = f'<a href="{escape(links.table(dataset.number, found.table, **query))}">{words}</a>'
        heads.append(f'<th scope="col"{state}>{words}</th>')
    rows = []
    for row, values in found.rows:
        place = ""
        if row is not None:
            address = links.record(dataset.number, found.table, row)
            place = f'<a href="{escape(address)}" data-row>{number(row + 1)}</a>'
        cells = "".join(_cell(found.columns[n], values[n]) for n in shown)
        rows.append(f'<tr><th scope="row" class="n">{place}</th>{cells}</tr>')
    head = f'<thead><tr><th scope="col" class="n">record</th>{"".join(heads)}</tr></thead>'
    return (
        f'<div class="scroll records" role="group" aria-label="Records of {escape(found.table)}"><table class="blocks">'
        f'<caption class="visually-hidden">Records of {escape(found.table)}</caption>'
        f"{head}<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _cell(column: str, value: Any) -> str:
    label = f' data-label="{escape(column)}"' if value not in (None, "") else ""
    return f'<td class="{"text" if column in _TEXTS else "cell"}"{label}>{value_html(value, 300)}</td>'


def _turns(links: Links, dataset: DatasetState, found: RecordList, size: int) -> str:
    """Links to the pages before and after."""
    first, total = found.wanted.first, found.total
    if total is None or total <= size:
        return ""

    def to(place: int, words: str, key: str) -> tuple[str, str, str]:
        return links.table(dataset.number, found.table, **found.wanted.query(**{"from": place})), words, key

    parts: list[tuple[str, str, str]] = []
    if first:
        parts += [to(0, "First", "Home"), to(max(first - size, 0), "Previous", "p")]
    parts.append(("", f"{number(first + 1)} to {number(min(first + size, total))} of {number(total)}", ""))
    if first + size < total:
        parts += [to(first + size, "Next", "n"), to((total - 1) // size * size, "Last", "End")]
    return turns("Pages of records", parts)


def record_page(
    links: Links,
    dataset: DatasetState,
    record: Record,
    mode: str = "",
    modes: Sequence[str] = (),
    found: Found | None = None,
    waiting: str = "",
) -> bytes:
    """One record: its values, what it names and is named by; of a question also what is found for it."""
    query = {"mode": mode} if record.table == "questions" else {}
    around = (
        (links.record(dataset.number, record.table, place, **query), words, key)
        for place, words, key in beside(record.row, record.total)
    )
    body = turns("Records", around)
    if record.findings:
        rows = [
            (Cell(link(links.finding(n), f.code)), Cell(badge(f.severity, f.severity)), Cell(value_html(f.fault)))
            for n, f in record.findings
        ]
        listed = table("Findings", ("rule", "severity", "what is wrong"), rows, hidden_caption=True)
        body += section("wrong", "Findings", listed)
    body += section("values", "Values", _values(links, dataset, record))
    if record.table == "questions":
        body += section(
            "search", "What a retriever finds", search_section(links, dataset, record, mode, modes, found, waiting)
        )
    for related in record.related:
        words = f"{related.table} by {related.column}"
        body += section(f"by-{related.table}-{related.column}", words, _related(links, dataset, related))
    if record.table == "nodes":
        name = str(record.values.get("name"))
        body += f"<p>{link(links.graph(dataset.number, name), 'Its neighbourhood as a picture')}</p>"
    title = next((str(record.values[name]) for name in record.values if record.values[name]), str(record.row + 1))
    title = f"{_one_of(record.table)} {title}"
    lead = f"{dataset.name}, row {number(record.row + 1)} of {number(record.total)} of {record.table}"
    here = links.table(dataset.number, record.table)
    return page(links, title[:200], body, lead=lead, dataset=dataset, here=here)


def _one_of(table_name: str) -> str:
    """What a record of a table is, as ``Start node``."""
    words = table_name.replace("_", " ").capitalize()
    return f"{words[:-3]}y" if words.endswith("ies") else words.removesuffix("s")


def _values(links: Links, dataset: DatasetState, record: Record) -> str:
    rows = []
    for name, value in record.values.items():
        if value in (None, "", []):
            continue
        if name in record.named:
            shown = "<br>".join(target_html(links, dataset.number, target) for target in record.named[name])
        else:
            whole = _whole(name, value)
            scrolls = f' tabindex="0" role="group" aria-label="{escape(name)}"' if _is_long(whole) else ""
            shown = f'<div class="value" dir="auto"{scrolls}>{escape(whole)}</div>'
        rows.append((name, Cell(shown)))
    return table("Values", ("column", "value"), rows, hidden_caption=True, classes="values")


def _is_long(text: str) -> bool:
    """Whether a text may be higher than its box, which then is one stop of the keyboard."""
    return len(text) > _LONG or text.count("\n") > _MANY_LINES


def _whole(name: str, value: Any) -> str:
    """A value as text; an object in JSON with its members one below the other."""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if name in ("metadata", "attributes", "record") and isinstance(value, str):
        try:
            return json.dumps(json.loads(value), indent=2, ensure_ascii=False)
        except (ValueError, RecursionError):
            return value
    return str(value)


def _related(links: Links, dataset: DatasetState, related: Related) -> str:
    rows = []
    for row, targets, others in related.rows:
        named = "<br>".join(target_html(links, dataset.number, target) for target in targets)
        rows.append(
            (Cell(link(links.record(dataset.number, related.table, row), row + 1)), Cell(named), _others(others))
        )
    listed = table(
        f"{related.table} by {related.column}",
        ("record", "names", "and has"),
        rows,
        hidden_caption=True,
        classes="related blocks",
    )
    if related.total <= len(rows):
        return listed
    address = links.table(dataset.number, related.table, **{related.column: related.value})
    return f"{listed}<p>{link(address, f'All {number(related.total)}')}</p>"


def _others(values: Mapping[str, Any]) -> Cell:
    shown = [
        f'<span class="muted">{name_html(name)}</span> {value_html(value)}'
        for name, value in values.items()
        if value not in (None, "", [])
    ]
    return Cell("<br>".join(shown))


def graph_page(
    links: Links,
    dataset: DatasetState,
    graph: Neighbourhoods | None,
    unknown: str,
    similar: Sequence[str],
    node: Target | None,
) -> bytes:
    """The graph, to walk in it."""
    address = links.graph(dataset.number)
    body = (
        f'<form class="tools" role="search" action="{escape(address)}">'
        f"{words_input('Begin with the node', 'node', unknown or (node.id if node else ''))}"
        '<button type="submit">Show</button></form>'
    )
    if unknown:
        others = " ".join(link(links.graph(dataset.number, name), name) for name in similar)
        body += f"<p>No node is called <code>{escape(unknown)}</code>. {f'There is {others}' if others else ''}</p>"
    if node is not None and node.row is not None:
        body += f"<p>{link(links.record(dataset.number, node.table, node.row), f'The record of {node.id}')}</p>"
    body += walk(graph, "graph", _GRAPH_BYTES, 2) if graph is not None else "<p>The graph has no edges.</p>"
    return page(links, "Graph", body, lead=dataset.name, dataset=dataset, here=address, scripts=["neighbours.js"])
