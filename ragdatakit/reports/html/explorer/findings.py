"""The findings, and one of them in the lines of its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from ragdatakit.reports.html.explorer.values import DatasetState, FixShown, Links, Region, Target
from ragdatakit.reports.html.parts import Cell, badge, escape, marked, number, prose_html, section, table
from ragdatakit.schemas.findings import SEVERITIES, Finding
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many

_MOST_FILES = 200


def findings_page(
    links: Links,
    report: Report,
    found: Sequence[tuple[int, Finding]],
    wanted: Mapping[str, str],
    total: int,
    first: int,
    size: int,
    dataset: DatasetState | None,
) -> bytes:
    """A page of the findings that are wanted; their rule is not repeated where it is chosen."""
    paths = sorted({finding.path for finding in report.findings})[:_MOST_FILES]
    choices: dict[str, list[str]] = {
        "severity": [*filter(report.counts.get, SEVERITIES)],
        "rule": sorted(report.by_rule),
        "file": paths,
    }
    selects = "".join(_select(name, words, wanted[name]) for name, words in choices.items())
    address = links.findings()
    body = (
        f'<form class="tools" role="search" action="{escape(address)}">{selects}'
        f'{words_input("Words", "q", wanted["q"])}<button type="submit">Search</button> '
        f"{link(address, 'All') if any(wanted.values()) else ''}</form>"
    )
    if found:
        body += _of_one_rule(links, found) if wanted["rule"] else _of_all_rules(links, found)
    else:
        body += (
            "<p>No finding is like that.</p>"
            if report.findings
            else f"<p>{badge('passed', 'good')} Nothing is found.</p>"
        )
    parts: list[tuple[str, str, str]] = []
    if first:
        parts.append((links.findings(**wanted, **{"from": max(first - size, 0)}), "Previous", "p"))
    if total > size:
        parts.append(("", f"{number(first + 1)} to {number(min(first + size, total))} of {number(total)}", ""))
    if first + size < total:
        parts.append((links.findings(**wanted, **{"from": first + size}), "Next", "n"))
    body += turns("Pages of findings", parts) if parts else ""
    kept = sum(report.counts.values()) - len(report.findings)
    more = f"; {number(kept)} more of the same rules are counted only" if kept > 0 else ""
    some = f"{number(total)} of " if any(wanted.values()) else ""
    lead = f"{some}{many(sum(report.counts.values()), 'finding')} in {many(len(report.datasets), 'dataset')}{more}"
    return page(links, "Findings", body, lead=lead, dataset=dataset, here=address)


def _of_all_rules(links: Links, found: Sequence[tuple[int, Finding]]) -> str:
    rows = [
        (
            Cell(f'<a href="{escape(links.finding(n))}" data-row>{escape(f.code)}</a> {escape(f.rule)}'),
            Cell(value_html(f.fault, 300)),
            Cell(badge(f.severity, f.severity)),
            Cell(_where(f)),
        )
        for n, f in found
    ]
    columns = ("rule", "what is wrong", "severity", "place")
    return table("Findings", columns, rows, hidden_caption=True, classes="blocks why-first")


def _of_one_rule(links: Links, found: Sequence[tuple[int, Finding]]) -> str:
    """What differs among findings of one rule; what they share is said above."""
    shared = found[0][1]
    rows = [
        (Cell(f'<a href="{escape(links.finding(n))}" data-row>{_where(f)}</a>'), Cell(value_html(f.fault, 300)))
        for n, f in found
    ]
    head = (
        f'<p class="verdict">{badge(shared.severity, shared.severity)} {escape(shared.code)} {escape(shared.rule)}</p>'
    )
    listed = table("Findings", ("place", "what is wrong"), rows, hidden_caption=True, classes="blocks why-first")
    return head + listed


def _where(finding: Finding) -> str:
    return f'<bdi>{escape(finding.path)}</bdi><span class="place">{escape(_place(finding))}</span>'


def _select(name: str, words: Sequence[str], chosen: str) -> str:
    options = "".join(
        f'<option value="{escape(word)}"{" selected" * (word == chosen)}>{escape(word)}</option>' for word in words
    )
    return f'<label>{name.capitalize()}<select name="{name}"><option value="">any</option>{options}</select></label>'


def _place(finding: Finding) -> str:
    if finding.line is None:
        return f", record {number(finding.record + 1)}" if finding.record is not None else ""
    return f":{finding.line}" + (f":{finding.column}" if finding.column is not None else "")


def finding_page(
    links: Links,
    finding: Finding,
    place: int,
    total: int,
    region: Region | None,
    fix: FixShown | None,
    records: Sequence[tuple[int, Target]],
    dataset: DatasetState | None = None,
    *,
    whole: bool = True,
) -> bytes:
    """One finding: what is wrong in which lines, what it leads to, what to do, and what the fix would write. It is not
    ``whole`` while tables are read whose records it may be about."""
    body = turns("Findings", ((links.finding(n), words, key) for n, words, key in beside(place, total)))
    fault = f'<span dir="auto">{escape(finding.fault)}</span>'
    body += f'<p class="verdict">{badge(finding.severity, finding.severity)} {fault}</p>'
    body += f'<p class="path"><bdi>{escape(finding.path)}</bdi>{escape(_place(finding))}</p>'
    if region is not None:
        body += _lines(region)
    rows = [
        ("what happens", Cell(prose_html(finding.consequence))),
        ("what to do", Cell(prose_html(finding.hint))),
        ("pointer", finding.pointer or None),
        ("key", finding.key),
        ("value", None if finding.value is None else str(finding.value)[:1_000]),
        *(("see", f"{each.path}:{each.line or each.row}: {each.message}") for each in finding.related),
    ]
    shown = [row for row in rows if row[1] is not None and (not isinstance(row[1], Cell) or row[1].html)]
    body += table("About it", ("what", "it says"), shown, hidden_caption=True, classes="values")
    if records:
        named = "".join(f"<li>{escape(t.table)}: {target_html(links, n, t)}</li>" for n, t in records)
        body += section("records", "Records", f"<ul>{named}</ul>")
    if not whole:
        body += still_reading("The records that it is about are still being read. ")
    if fix is not None:
        body += section("fix", "Fix", _fix(fix))
    others = link(links.findings(rule=finding.code), f"All findings of {finding.code}")
    body += f"<p>{others}; <code>ragdata explain {escape(finding.code)}</code> says more about the rule.</p>"
    lead = f"finding {number(place + 1)} of {number(total)}"
    return page(links, f"{finding.code} {finding.rule}", body, lead=lead, dataset=dataset)


def _lines(region: Region) -> str:
    """Lines of a file with their numbers, and what is at fault marked."""
    lines, at, shown = region.text.split("\n"), 0, []
    for count, line in enumerate(lines):
        start, end = (min(max(place - at, 0), len(line)) for place in (region.start, region.end))
        words = _with_tabs(marked(line, [(start, end)] if start < end else []))
        place = f'<th scope="row" class="n">{region.first_line + count}</th>'
        shown.append(f'<tr>{place}<td><code dir="auto">{words}</code></td></tr>')
        at += len(line) + 1
    return (
        '<div class="scroll lines" role="group" aria-label="Lines of the file"><table>'
        '<caption class="visually-hidden">Lines of the file</caption><thead class="visually-hidden"><tr>'
        f'<th scope="col">line</th><th scope="col">text</th></tr></thead><tbody>{"".join(shown)}</tbody></table></div>'
    )


def _fix(fix: FixShown) -> str:
    words = f"<p>{prose_html(fix.words)}"
    words += f" (<code>ragdata validate {escape(fix.command)}</code>)" if fix.command else " (not applied)"
    words += "</p>"
    if not fix.before and not fix.after:
        return words
    removed = "".join(f"<del>- {line}</del>\n" for line in _shown_lines(fix.before))
    added = "".join(f"<ins>+ {line}</ins>\n" for line in _shown_lines(fix.after)) if fix.after else ""
    box = '<div class="scroll" role="group" aria-label="Difference">'
    return f'{words}{box}<pre class="fix">{removed}{added}</pre></div>'


def _shown_lines(text: str) -> list[str]:
    return [_with_tabs(escape(line)) for line in text.split("\n")]


def _with_tabs(text: str) -> str:
    """HTML whose tabs are seen, and are as wide wherever they are."""
    return text.replace("\t", '<span class="tab">\t</span>')
