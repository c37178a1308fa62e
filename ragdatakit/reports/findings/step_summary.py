"""The summary of a step in GitHub Actions: how many findings of which rule, and the first of each with their lines.

GitHub drops a summary of more than 1,024 KiB, so this one ends before; whatever is in the data is shown, never obeyed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ragdatakit.reports.findings.text import TextOptions, text_lines
from ragdatakit.reports.markdown import code, prose, table_of
from ragdatakit.reports.terminal import cut_to
from ragdatakit.schemas.findings import SEVERITIES, Excerpt, Finding
from ragdatakit.schemas.results import DatasetSummary, Report
from ragdatakit.visible_text import visible_text

MOST_BYTES = 900 << 10
_OF_A_RULE = 5
_MOST_DATASETS = 50
_BAR, _PATH, _MESSAGE, _LINE = 24, 120, 600, 160
_SIGNS = {"error": "❌", "warning": "⚠️", "info": "ℹ️"}


def step_summary(report: Report, findings: Iterable[Finding]) -> Iterator[str]:
    """The Markdown, line by line: at most `MOST_BYTES` in UTF-8."""
    kept: dict[str, list[Finding]] = {}
    for finding in findings:
        of_rule = kept.setdefault(finding.code, [])
        if len(of_rule) < _OF_A_RULE:
            of_rule.append(finding)
    ranked = sorted(
        kept.values(), key=lambda f: (SEVERITIES.index(f[0].severity), -report.by_rule[f[0].code], f[0].code)
    )
    room = MOST_BYTES
    for part in (
        _head(report),
        _rules(report, ranked),
        _datasets(report.datasets),
        *(_rule(report, f) for f in ranked),
    ):
        lines = list(part)
        room -= sum(len(line.encode("utf-8", "backslashreplace")) + 1 for line in lines)
        if room < 1 << 10:
            yield "… and more: the log has all that is printed."
            return
        yield from lines


def _head(report: Report) -> Iterator[str]:
    *_, verdict = text_lines(report, TextOptions(quiet=True), ())
    sign = "error" if not report.ok else "warning" if report.counts["warning"] else ""
    yield f"## {_SIGNS.get(sign, '✅')} ragdata: {prose(verdict)}"
    yield ""


def _rules(report: Report, ranked: Sequence[Sequence[Finding]]) -> Iterator[str]:
    if not ranked:
        return
    most = max(report.by_rule.values())
    rows = []
    for first, *_ in ranked:
        number = report.by_rule[first.code]
        bar = "█" * max(1, round(_BAR * number / most))
        rows.append((_SIGNS[first.severity], f"{first.code} {first.rule}", f"{number:,}", bar))
    yield from table_of(("", "rule", "findings", ""), rows, (2,))


def _datasets(datasets: Sequence[DatasetSummary]) -> Iterator[str]:
    if not datasets:
        return
    rows = []
    for dataset in sorted(datasets, key=lambda d: -d.errors)[:_MOST_DATASETS]:
        split = f", {prose(dataset.split)}" if dataset.split else ""
        records = sum(file.records or 0 for file in dataset.files)
        numbers = (f"{number:,}" for number in (records, dataset.errors, dataset.warnings))
        rows.append((code(dataset.path, _PATH) + split, dataset.format, *numbers))
    left = len(datasets) - _MOST_DATASETS
    more = f"and {left:,} more" if left > 0 else ""
    yield from table_of(("dataset", "format", "records", "errors", "warnings"), rows, (2, 3, 4), more)


def _rule(report: Report, findings: Sequence[Finding]) -> Iterator[str]:
    first = findings[0]
    number = report.by_rule[first.code]
    yield f"<details{' open' if first.severity == 'error' else ''}>"
    yield f"<summary>{_SIGNS[first.severity]} <b>{first.code}</b> {first.rule}: {number:,}</summary>"
    yield ""
    for finding in findings:
        place = "".join(f":{n}" for n in (finding.line, finding.column) if n is not None)
        fault = prose(cut_to(finding.before + finding.fault, _MESSAGE))
        yield f"{code(visible_text(finding.path) + place, _PATH)} {fault}"
        yield ""
        if finding.excerpt is not None and finding.excerpt.text:
            yield f"<pre>{_marked(finding.excerpt)}</pre>"
            yield ""
    if number > len(findings):
        yield f"… and {number - len(findings):,} more"
        yield ""
    for consequence in dict.fromkeys(finding.consequence for finding in findings if finding.consequence):
        yield f"Consequence: {prose(cut_to(consequence, _MESSAGE))}"
        yield ""
    if first.hint:
        parts = first.hint.split("`")  # every second one is code
        yield f"→ {'`'.join(part if i % 2 else prose(part) for i, part in enumerate(parts))}"
        yield ""
    yield "</details>"
    yield ""


def _marked(shown: Excerpt) -> str:
    """The line with what is at fault in it, as HTML."""
    start, end = shown.start, shown.start + shown.length
    before, marked, after = shown.text[:start], shown.text[start:end], shown.text[end:]
    if len(before) > _LINE // 2:
        before = f"…{before[-_LINE // 2 :]}"
    marked = f"<b>{escape(cut_to(marked, _LINE))}</b>" if marked else ""
    return escape(before) + marked + escape(cut_to(after, _LINE))
