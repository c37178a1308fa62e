"""The frame of the explorer's pages, and the page it begins with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ragdatakit.reports.html.explorer.values import DatasetState, Links, TableState, Target
from ragdatakit.reports.html.frame import frame
from ragdatakit.reports.html.parts import Cell, badge, escape, linked_html, section, table
from ragdatakit.schemas.findings import SEVERITIES
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many, shortened

_LABEL = 160


def page(
    links: Links,
    title: str,
    body: str,
    *,
    lead: str = "",
    dataset: DatasetState | None = None,
    here: str = "",
    scripts: Sequence[str] = (),
) -> bytes:
    """A page of the explorer; ``here`` is the address of that which is open in the list of pages."""
    pages = [(links.overview(), "Datasets")]
    if dataset is not None:
        pages.append((links.report(dataset.number), "Report"))
        pages += [(links.table(dataset.number, each.name), _in_words(each.name)) for each in dataset.tables]
        if dataset.has("edges"):
            pages.append((links.graph(dataset.number), "Graph"))
        if dataset.has("questions") and dataset.has("qrels"):
            pages.append((links.ranks(dataset.number), "Ranks of gold"))
    pages.append((links.findings(), "Findings"))
    return frame(
        title,
        body,
        kind="explorer",
        lead=lead,
        pages=[(address, words, address == here) for address, words in pages],
        scripts=["explorer/explorer.js", *scripts],
        styles=["explorer/explorer.css"],
    )


def _in_words(table_name: str) -> str:
    return table_name.replace("_", " ").capitalize()


def link(address: str, words: object) -> str:
    """A link as HTML; the words are text."""
    return linked_html(escape(words), address)


def target_html(links: Links, dataset: int, target: Target) -> str:
    """A record that is named: a link, and what it is; or that there is none."""
    if target.row is None:
        return f'<code>{escape(shortened(target.id, _LABEL))}</code> <span class="muted">not in the dataset</span>'
    label = f' <span class="label" dir="auto">{escape(shortened(target.label, _LABEL))}</span>' if target.label else ""
    return f"{link(links.record(dataset, target.table, target.row), shortened(target.id, _LABEL))}{label}"


def value_html(value: Any, most: int = _LABEL) -> str:
    """A value in a cell."""
    if value is None:
        return '<span class="muted">–</span>'
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return f'<span dir="auto">{escape(shortened(str(value), most))}</span>'


def overview_page(links: Links, states: Sequence[DatasetState], report: Report | None, waiting: str) -> bytes:
    """The datasets with their tables, and how many findings there are."""
    body = _findings(links, report, waiting)
    for state in states:
        rows = [(Cell(link(links.table(state.number, each.name), each.name)), _rows(each)) for each in state.tables]
        ways = [link(links.report(state.number), "Report: lengths, values, ids")]
        if state.has("questions") and state.has("qrels"):
            ways.append(f"{link(links.ranks(state.number), 'Which questions miss their gold?')}")
        if state.has("edges"):
            ways.append(f"{link(links.graph(state.number), 'Walk through the graph')}")
        lost = "".join(f"<li>{escape(words)}</li>" for words in state.losses)
        body += section(
            f"dataset-{state.number}",
            state.name if len(states) > 1 else "Tables",
            f'<p>Folder or file: <bdi class="path">{escape(state.path)}</bdi></p>'
            + table(f"Tables of {state.name}", ("table", "records"), rows, hidden_caption=True)
            + f"<p>{' · '.join(ways)}</p>"
            + (f"<p>Not read as it is there:</p><ul>{lost}</ul>" if lost else ""),
            lead=f"Format: {state.format}",
        )
    loading = waiting or not all(state.is_loaded for state in states)
    title = states[0].name if len(states) == 1 else many(len(states), "dataset")
    return page(
        links,
        title,
        f"{body}{still_reading() if loading else ''}",
        dataset=states[0] if len(states) == 1 else None,
        here=links.overview(),
    )


def _rows(state: TableState) -> Any:
    if state.fault:
        return Cell(f"{badge('not read', 'error')} {escape(state.fault)}")
    return "reading …" if state.rows is None else state.rows


def _findings(links: Links, report: Report | None, waiting: str) -> str:
    if report is None:
        return f'<p role="status">{escape(waiting)} …</p>'
    if not any(report.counts.values()):
        return f"<p>{badge('passed', 'good')} validation finds nothing.</p>"
    first = {finding.code: finding for finding in reversed(report.findings)}
    order = {code: SEVERITIES.index(finding.severity) for code, finding in first.items()}
    counts = Counter(report.by_rule)
    rows = [
        (
            Cell(f"{link(links.findings(rule=code), code)} {escape(first[code].rule)}"),
            Cell(badge(first[code].severity, first[code].severity)),
            counts[code],
            Cell(value_html(first[code].fault)),
        )
        for code in sorted(first, key=lambda code: (order[code], -counts[code], code))
    ]
    columns = ("rule", "severity", "findings", "for example")
    listed = table("By rule", columns, rows, hidden_caption=True, classes="blocks")
    return section("findings", "Findings", listed)


def still_reading(words: str = "") -> str:
    """That the page is not whole yet; its script loads it again."""
    again = "This page is loaded again by itself until all of it is there; without JavaScript, load it again."
    return f'<p class="small muted" data-reload>{escape(words)}{again}</p>'


def turns(label: str, around: Iterable[tuple[str, str, str]]) -> str:
    """Links to what comes before and after: addresses, words, and keys; what has no address is no link."""
    links = (f'<a href="{escape(to)}" data-key="{key}">{words}</a>' if to else words for to, words, key in around)
    return f'<nav class="turns" aria-label="{escape(label)}">{" ".join(links)}</nav>'


def beside(place: int, total: int) -> Iterator[tuple[int, str, str]]:
    """The places before and after one, with the words and keys of their links."""
    for other, words, key in ((place - 1, "Previous", "p"), (place + 1, "Next", "n")):
        if 0 <= other < total:
            yield other, words, key


def words_input(label: str, name: str, value: str) -> str:
    """Where one types what to search for."""
    return (
        f'<label class="grow">{label}<input type="search" name="{name}" value="{escape(value)}" autocomplete="off" '
        'spellcheck="false" data-words></label>'
    )


def waiting_page(links: Links, what: str, dataset: DatasetState | None) -> bytes:
    """That something is being done."""
    return page(links, "One moment", f'<p role="status">{escape(what)} …</p>{still_reading()}', dataset=dataset)


def message_page(links: Links, title: str, words: str, dataset: DatasetState | None = None) -> bytes:
    """That something is not there, or does not work."""
    return page(links, title, f'<p dir="auto">{escape(words)}</p>', dataset=dataset)
