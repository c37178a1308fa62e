"""The findings of a page: counts by rule, and a list that its reader filters by severity, rule, file and words."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from ragdatakit.reports.html.parts import (
    Cell,
    badge,
    data_block,
    escape,
    json_text,
    marked,
    name_html,
    plain,
    prose_html,
    table,
)
from ragdatakit.schemas.findings import SEVERITIES, Excerpt, Finding
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many, shortened

_FIRST = 50
"""So many findings are in the page itself, for a browser without scripts."""
FEW = 5
"""So many can be read without filters."""
_MESSAGE, _EXCERPT, _PATH, _MOST_NAMES = 400, 160, 300, 5


def findings_body(report: Report, most_bytes: int) -> str:
    """The findings of a run, errors first: no more than fit into ``most_bytes``, every rule with its share."""
    if not report.findings and not any(report.counts.values()):
        checked = many(len(report.datasets), "dataset")
        return f"<p>{badge('passed', 'good')} {escape(checked)} checked, nothing found.</p>{_unrecognised(report)}"
    kept = sorted(_fitting(report.findings, most_bytes), key=lambda finding: SEVERITIES.index(finding.severity))
    counted = {s: many(report.counts[s], s) if s != "info" else f"{report.counts[s]:,} info" for s in SEVERITIES}
    counts = ", ".join(words for s, words in counted.items() if s != "info" or report.counts[s])
    total = sum(report.counts.values())
    left = (
        f" {len(kept):,} of them are on this page: at most this many of each rule as the report kept and as fit."
        if len(kept) < total
        else ""
    )
    base = _base([finding.path for finding in kept])
    below = f" Paths are below <code>{name_html(_shown_path(base))}</code>." if base else ""
    listed = _list(kept, base) if kept else ""
    return f"<p>{escape(counts)}.{escape(left)}{below}</p>{_unrecognised(report)}{_rules(report)}{listed}"


def _unrecognised(report: Report) -> str:
    """The files that no dataset has, and that nobody has checked."""
    names = report.unrecognised
    if not names:
        return ""
    base = _base(names) if len(names) > 1 else ""
    shown = ", ".join(f"<code>{name_html(_shown_path(name.removeprefix(base)))}</code>" for name in names[:_MOST_NAMES])
    below = f" below <code>{name_html(_shown_path(base))}</code>" if base else ""
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    belong = "belongs" if len(names) == 1 else "belong"
    return f'<p class="small muted">{many(len(names), "file")} {belong} to no dataset{below}: {shown}{more}.</p>'


def _base(paths: Sequence[str]) -> str:
    """The folder that all files are below, with its last ``/``; empty where that is none."""
    if not paths:
        return ""
    first, last = min(paths), max(paths)
    shared = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[: first.rfind("/", 0, shared) + 1]


def _rules(report: Report) -> str:
    known: dict[str, Finding] = {}
    for finding in report.findings:
        known.setdefault(finding.code, finding)
    order = {severity: place for place, severity in enumerate(SEVERITIES)}
    counts = report.by_rule or dict(Counter(f.code for f in report.findings))

    def place(code: str) -> tuple[int, int, str]:
        return order[known[code].severity] if code in known else len(order), -counts[code], code

    rows = []
    for code in sorted(counts, key=place):
        first = known.get(code)
        rule = f"<code>{escape(code)}</code> {escape(first.rule if first else '')}"
        severity = Cell(badge(first.severity, first.severity)) if first else ""
        rows.append(
            (Cell(rule), severity, counts[code], Cell(prose_html(shortened(first.hint, _MESSAGE)) if first else ""))
        )
    return table("By rule", ("rule", "severity", "findings", "what to do"), rows, classes="rules")


def _list(findings: Sequence[Finding], base: str) -> str:
    severities = [s for s in SEVERITIES if any(f.severity == s for f in findings)]
    boxes = "".join(
        f'<label><input type="checkbox" value="{s}" checked> {s} <span class="count"></span></label>'
        for s in severities
    )
    rows = "".join(_row(finding, base) for finding in findings[:_FIRST])
    tools = (
        '<div class="tools" role="search" aria-label="Filter the findings" hidden>'
        f'<fieldset><legend class="visually-hidden">Severity</legend>{boxes}</fieldset>'
        '<label>Rule<select id="findings-rule"></select></label>'
        '<label>File<select id="findings-file"></select></label>'
        '<label class="grow">Words<input type="search" id="findings-words" autocomplete="off" '
        'spellcheck="false"></label>'
        '<button type="button" id="findings-clear">Clear</button></div>'
    )
    listed = (
        '<table><caption class="visually-hidden">Findings</caption>'
        '<colgroup><col><col><col class="place-column"><col></colgroup><thead><tr><th scope="col">severity</th>'
        '<th scope="col">rule</th><th scope="col">place</th><th scope="col">what is wrong</th></tr></thead>'
        f'<tbody id="findings-rows">{rows}</tbody></table>'
    )
    if len(findings) <= FEW:
        return f'<div id="findings-list" class="findings">{listed}</div>'
    return (
        f'<div id="findings-list" class="findings">{tools}'
        f'<p class="status" id="findings-status" role="status">{min(len(findings), _FIRST):,} of '
        f"{many(len(findings), 'finding')} shown</p>{listed}"
        '<p><button type="button" class="more-button" id="findings-more" hidden></button></p></div>'
        + data_block("findings-data", _data(findings, base))
    )


def _row(finding: Finding, base: str) -> str:
    place = _line(finding)
    line = f'<span class="line-number">:{place}</span>' if place is not None else ""
    excerpt = _marked(finding.excerpt) if finding.excerpt is not None and finding.excerpt.text else ""
    return (
        f"<tr><td>{badge(finding.severity, finding.severity)}</td>"
        f'<td><code>{escape(finding.code)}</code><span class="name">{escape(finding.rule)}</span></td>'
        f'<td class="place"><bdi>{escape(_shown_path(finding.path[len(base) :]))}</bdi>{line}</td>'
        f'<td><span dir="auto">{escape(shortened(finding.message, _MESSAGE))}</span>{excerpt}</td></tr>'
    )


def _marked(excerpt: Excerpt) -> str:
    """The excerpt as HTML, with what is wrong marked."""
    place = _mark(excerpt)
    text = marked(shortened(excerpt.text, _EXCERPT), [place] if place is not None else [])
    return f'<code class="excerpt">{text}</code>'


def _mark(excerpt: Excerpt) -> tuple[int, int] | None:
    """Where in the excerpt that which is wrong begins and ends; None where it is not shown whole."""
    end = excerpt.start + excerpt.length
    return (excerpt.start, end) if excerpt.length and end < _EXCERPT else None


def _shown_path(path: str) -> str:
    return path if len(path) <= _PATH else "…" + path[1 - _PATH :]


def _data(findings: Sequence[Finding], base: str) -> dict[str, Any]:
    """The findings for the script: rules and paths once, each finding as a short list."""
    rules: dict[tuple[str, str, str], int] = {}
    paths: dict[str, int] = {}
    rows = []
    for finding in findings:
        rule = rules.setdefault((finding.code, finding.rule, finding.severity), len(rules))
        path = paths.setdefault(finding.path, len(paths))
        rows.append([rule, path, *_parts(finding)])
    return {"rules": list(rules), "paths": [_shown_path(p[len(base) :]) for p in paths], "rows": rows}


def _line(finding: Finding) -> int | str | None:
    """The line of a finding; in a table without lines its row, which counts from 1 as lines do."""
    return finding.row or finding.line


def _parts(finding: Finding) -> list[Any]:
    parts: list[Any] = [_line(finding), shortened(finding.message, _MESSAGE)]
    if finding.excerpt is not None and finding.excerpt.text:
        text, place = shortened(finding.excerpt.text, _EXCERPT), _mark(finding.excerpt)
        parts.append(text)
        if place is not None:  # in the text as it is shown, where what hides is longer
            parts += [len(plain(text[: place[0]])), len(plain(text[place[0] : place[1]]))]
    return parts


def _fitting(findings: Sequence[Finding], most_bytes: int) -> list[Finding]:
    """Those that fit: one of each rule, then the second ones, and so on; errors first. In the order of the report."""
    sizes = [len(json_text(_parts(f)).encode()) + 8 for f in findings]
    if sum(sizes) <= most_bytes:
        return list(findings)
    order = {severity: place for place, severity in enumerate(SEVERITIES)}
    seen: defaultdict[str, int] = defaultdict(int)
    ranked = []
    for ordinal, finding in enumerate(findings):
        ranked.append((seen[finding.code], order[finding.severity], ordinal))
        seen[finding.code] += 1
    kept, used = [], 0
    for _, _, ordinal in sorted(ranked):
        used += sizes[ordinal]
        if used > most_bytes:
            break
        kept.append(ordinal)
    return [findings[ordinal] for ordinal in sorted(kept)]
