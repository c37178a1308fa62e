"""A report as a page: the datasets one by one, then what is wrong in them. One file that loads nothing."""

from __future__ import annotations

from collections.abc import Sequence

from ragdatakit.reports.html_dataset import Part, Room, headline_cards, notes_body, parts, section_of
from ragdatakit.reports.html_findings import findings_body
from ragdatakit.reports.html_frame import frame
from ragdatakit.reports.html_parts import Cell, badge, cards, cut, details, escape, section, size, table
from ragdatakit.reports.summary_words import bytes_of, formats_of, headline, many, rows_of, warnings_of
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import Summary

_FINDING_BYTES, _EXAMPLE_BYTES, _GRAPH_BYTES = 250_000, 120_000, 140_000
_MOST_CHARTS, _FEWEST_CHARTS = 24, 4
_MOST_LINKS, _OPEN = 8, 3
_TITLE = 120
_DATASET_BYTES = 420_000


def summary_page(
    summaries: Sequence[Summary], findings: Report | None = None, *, title: str = "", made: str = ""
) -> bytes:
    """The page of these datasets. ``findings`` are those of a run of `validate` (None: it was not run).

    ``title`` is the heading (empty: the name of the dataset); ``made`` says when, where that shall stand there. The
    page stays at a few hundred kB: what is left out is said where it would stand.
    """
    count = max(len(summaries), 1)
    room = Room(
        charts=max(_MOST_CHARTS * 2 // (count + 1), _FEWEST_CHARTS),
        example_bytes=max(_EXAMPLE_BYTES // count, 3000),
        graph_bytes=_GRAPH_BYTES // max(sum(s.neighbourhoods is not None for s in summaries), 1),
    )
    contents: list[tuple[str, str]] = []
    if len(summaries) == 1:
        body, lead = _alone(summaries[0], room, contents)
        title = title or summaries[0].name
    else:
        body, lead = _several(summaries, room, contents)
        title = title or many(len(summaries), "dataset")
    if findings is not None:
        contents.append(("findings", "Findings"))
        body += section("findings", "Findings", findings_body(findings, _FINDING_BYTES))
    scripts = [
        *(["findings.js"] if findings is not None and findings.findings else []),
        *(["neighbours.js"] if any(s.neighbourhoods is not None for s in summaries) else []),
    ]
    return frame(cut(title, _TITLE), body, lead=lead, contents=contents, scripts=scripts, made=made)


def _alone(summary: Summary, room: Room, contents: list[tuple[str, str]]) -> tuple[str, str]:
    lead = f"{summary.format} · {summary.path}"
    contents.append(("overview", "Overview"))
    found = list(parts(summary, "d1", room))
    contents += [(f"d1-{part.name}", part.title) for part in found]
    first = headline_cards(summary) + notes_body(summary)
    if not any(t.rows for t in summary.tables):
        first += "<p>No table of this dataset has a row.</p>"
    return section("overview", "Overview", first) + "".join(section_of(p, "d1", 2) for p in found), lead


def _several(summaries: Sequence[Summary], room: Room, contents: list[tuple[str, str]]) -> tuple[str, str]:
    contents.append(("overview", "Overview"))
    if len(summaries) <= _MOST_LINKS:
        contents += [(f"d{n}", cut(s.name, 40)) for n, s in enumerate(summaries, 1)]
    rows = (
        (
            Cell(f'<a href="#d{n}"><bdi>{escape(cut(s.name, _TITLE))}</bdi></a>'),
            s.format,
            cut(headline(s), 200),
            Cell(size(bytes_of(s)), numeric=True),
            Cell(badge(many(warnings_of(s), "warning"), "warning") if warnings_of(s) else ""),
        )
        for n, s in enumerate(summaries, 1)
    )
    totals = [
        (f"{len(summaries):,}", "datasets", formats_of(summaries)),
        (f"{sum(map(rows_of, summaries)):,}", "rows", ""),
        (f"{sum(len(s.files) for s in summaries):,}", "files", size(sum(map(bytes_of, summaries)))),
    ]
    listed = table("Datasets", ("dataset", "format", "rows", "size", "notes"), rows, hidden_caption=True)
    first = section("overview", "Overview", cards(totals) + (listed if summaries else ""))
    shown, used = [], 0
    for n, s in enumerate(summaries, 1):
        shown.append(_dataset(s, f"d{n}", room if used < _DATASET_BYTES else None, n <= _OPEN))
        used += len(shown[-1])
    return first + "".join(shown), ""


def _dataset(summary: Summary, prefix: str, room: Room | None, opened: bool) -> str:
    """A dataset among others; without ``room`` its headline only."""
    found: list[Part] = list(parts(summary, prefix, room, level=3)) if room is not None else []
    inner = "".join(section_of(part, prefix, 3) for part in found)
    names = ", ".join(part.title.lower() for part in found)
    more = details(escape(names[:1].upper() + names[1:]), inner, opened=opened) if found else ""
    if room is None:
        more = '<p class="small muted">Its details are left out, the page is full: make a report of it alone.</p>'
    body = headline_cards(summary) + notes_body(summary) + more
    lead = f"{summary.format} · {summary.path}"
    shown = section(prefix, cut(summary.name, _TITLE), body, lead=lead)
    return f'<div class="dataset">{shown}</div>'
