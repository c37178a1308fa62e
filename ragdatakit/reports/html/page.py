"""A report as a page: the datasets one by one, then what is wrong in them. One file that loads nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragdatakit.reports.html.dataset import Part, Room, parts, section_of
from ragdatakit.reports.html.findings import FEW, findings_body
from ragdatakit.reports.html.frame import frame
from ragdatakit.reports.html.overview import glimpses, headline_cards, notes_body, verdict, verdict_line
from ragdatakit.reports.html.parts import Cell, badge, cards, details, escape, name_html, section, size, table
from ragdatakit.reports.summary.words import (
    bytes_of,
    formats_of,
    headline,
    left_out_words,
    not_read_words,
    rows_of,
    warnings_of,
)
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import LeftOut, NotRead, Summary
from ragdatakit.schemas.texts import many, shortened

_FINDING_BYTES, _EXAMPLE_BYTES, _GRAPH_BYTES, _HIERARCHY_BYTES = 250_000, 120_000, 140_000, 80_000
_MOST_CHARTS, _FEWEST_CHARTS = 24, 4
_MOST_LINKS, _OPEN = 8, 3
_TITLE = 120
_MOST_NAMES = 100
"""So many folders and files that are not read are reported by name."""
_DATASET_BYTES = 420_000


def summary_page(
    summaries: Sequence[Summary],
    findings: Report | None = None,
    *,
    left_out: Sequence[LeftOut] = (),
    not_read: Sequence[NotRead] = (),
    title: str = "",
    made: str = "",
) -> bytes:
    """The page of these datasets. ``findings`` are those of a run of `validate` (None: it was not run), ``left_out``
    the folders of unknown formats, ``not_read`` the files that no dataset reads.

    ``title`` is the heading (empty: the name of the dataset); ``made`` says when, where that shall be there. The
    page stays at a few hundred kB: what is left out is said where it would be.
    """
    count = max(len(summaries), 1)
    room = Room(
        charts=max(_MOST_CHARTS * 2 // (count + 1), _FEWEST_CHARTS),
        example_bytes=max(_EXAMPLE_BYTES // count, 3000),
        graph_bytes=_GRAPH_BYTES // max(sum(s.neighbourhoods is not None for s in summaries), 1),
        hierarchy_bytes=_HIERARCHY_BYTES // max(sum(s.hierarchy is not None for s in summaries), 1),
    )
    contents: list[tuple[str, str]] = []
    if len(summaries) == 1:
        body, lead = _alone(summaries[0], findings, room, contents)
        title = title or summaries[0].name
    else:
        body, lead = _several(summaries, findings, room, contents)
        title = title or many(len(summaries), "dataset")
    if left_out:
        contents.append(("left-out", "Left out"))
        words, listed = left_out_words(left_out, _MOST_NAMES)
        names = "".join(f"<li><bdi>{escape(shortened(name, _TITLE))}</bdi></li>" for name in listed)
        body += section("left-out", "Left out", f"<p>{escape(words)}:</p><ul>{names}</ul>")
    if listed := not_read_words(not_read, left_out, _MOST_NAMES):
        contents.append(("not-read", "Not read"))
        names = "".join(f"<li><bdi>{escape(shortened(name, _TITLE))}</bdi></li>" for name in listed)
        words = "Files that no dataset reads:"
        body += section("not-read", "Not read", f"<p>{words}</p><ul>{names}</ul>")
    if findings is not None:
        contents.append(("findings", "Findings"))
        body += section("findings", "Findings", findings_body(findings, _FINDING_BYTES))
    scripts = [
        *(["findings.js"] if findings is not None and len(findings.findings) > FEW else []),
        *(["hierarchy.js"] if any(s.hierarchy is not None for s in summaries) else []),
        *(["neighbours.js"] if any(s.neighbourhoods is not None for s in summaries) else []),
    ]
    return frame(shortened(title, _TITLE), body, lead=lead, contents=contents, scripts=scripts, made=made)


def _alone(summary: Summary, findings: Report | None, room: Room, contents: list[tuple[str, str]]) -> tuple[str, str]:
    contents.append(("overview", "Overview"))
    found = list(parts(summary, "d1", room))
    contents += [(f"d1-{part.name}", part.title) for part in found]
    first = headline_cards(summary)
    if not any(t.rows for t in summary.tables):
        first += "<p>No table of this dataset has a row.</p>"
    if findings is not None:
        first += verdict_line(findings, warnings_of(summary))
    first += notes_body(summary) + glimpses(summary)
    return section("overview", "Overview", first) + "".join(section_of(p, "d1", 2) for p in found), _lead(summary)


def _lead(summary: Summary) -> str:
    """The format, and the path where the name does not tell it."""
    path = "" if summary.path in (summary.name, ".") else f" · {summary.path}"
    return f"{summary.format} format{path}"


def _several(
    summaries: Sequence[Summary], findings: Report | None, room: Room, contents: list[tuple[str, str]]
) -> tuple[str, str]:
    contents.append(("overview", "Overview"))
    folder = _common_folder([s.path for s in summaries])
    names = _names(summaries, folder)
    if len(summaries) <= _MOST_LINKS:
        contents += [(f"d{n}", shortened(name, 40)) for n, name in enumerate(names, 1)]
    verdicts = _verdicts(findings)
    noted = any(map(warnings_of, summaries))
    rows = []
    for n, s in enumerate(summaries, 1):
        cells: list[object] = [
            Cell(f'<a class="name" href="#d{n}"><bdi>{name_html(shortened(names[n - 1], _TITLE))}</bdi></a>'),
            Cell(f'<span class="nowrap">{escape(s.format)}</span>'),
            shortened(headline(s), 200),
            Cell(size(bytes_of(s)), numeric=True),
        ]
        if verdicts:
            cells.append(Cell(verdict(*verdicts[s.path]) if s.path in verdicts else ""))
        if noted:
            cells.append(Cell(badge(many(warnings_of(s), "warning"), "warning") if warnings_of(s) else ""))
        rows.append(cells)
    heads = ["dataset", "format", "rows", "size", *(["validation"] if verdicts else []), *(["notes"] if noted else [])]
    totals = [
        (f"{len(summaries):,}", "datasets", formats_of(summaries)),
        (f"{sum(map(rows_of, summaries)):,}", "rows", ""),
        (f"{sum(len(s.files) for s in summaries):,}", "files", size(sum(map(bytes_of, summaries)))),
    ]
    listed = table("Datasets", heads, rows, hidden_caption=True, classes="blocks") if summaries else ""
    line = verdict_line(findings, sum(map(warnings_of, summaries))) if findings is not None else ""
    first = section("overview", "Overview", cards(totals) + line + listed)
    shown, used = [], 0
    for n, s in enumerate(summaries, 1):
        shown.append(_dataset(s, names[n - 1], f"d{n}", room if used < _DATASET_BYTES else None, n <= _OPEN))
        used += len(shown[-1])
    return first + "".join(shown), folder


def _names(summaries: Sequence[Summary], folder: str) -> list[str]:
    """What each of them is called; those of one name by their paths below the folder that all are in."""
    counts = Counter(s.name for s in summaries)
    return [s.name if counts[s.name] == 1 else s.path.removeprefix(f"{folder}/") for s in summaries]


def _verdicts(findings: Report | None) -> dict[str, tuple[int, int]]:
    """Errors and warnings by the path of a dataset, its splits together."""
    found: dict[str, tuple[int, int]] = {}
    for one in findings.datasets if findings is not None else ():
        errors, warnings = found.get(one.path, (0, 0))
        found[one.path] = errors + one.errors, warnings + one.warnings
    return found


def _common_folder(paths: Sequence[str]) -> str:
    """The folder that all of them are in; empty where that is none, or the current one."""
    shared: list[str] = []
    for names in zip(*(path.split("/") for path in paths), strict=False):
        if len(set(names)) > 1:
            break
        shared.append(names[0])
    return "/".join(shared) if shared != ["."] else ""


def _dataset(summary: Summary, name: str, prefix: str, room: Room | None, opened: bool) -> str:
    """A dataset among others; without ``room`` its headline only."""
    found: list[Part] = list(parts(summary, prefix, room, level=3)) if room is not None else []
    inner = "".join(section_of(part, prefix, 3) for part in found)
    inside = ", ".join(part.title.lower() for part in found)
    more = details(escape(inside[:1].upper() + inside[1:]), inner, opened=opened) if found else ""
    if room is None:
        more = '<p class="small muted">Its details are left out, the page is full: make a report of it alone.</p>'
    glimpse = glimpses(summary) if room is not None else ""
    body = headline_cards(summary) + notes_body(summary) + glimpse + more
    shown = section(prefix, shortened(name, _TITLE), body, lead=_lead(summary))
    return f'<div class="dataset">{shown}</div>'
