"""Pages for tests, made of summaries made by hand: usual, empty, large, and with texts that would like to be obeyed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ragdatakit.reports.html.page import summary_page
from ragdatakit.schemas.findings import Excerpt, Finding, Severity
from ragdatakit.schemas.neighbourhoods import Neighbourhoods
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import Summary
from tests.summaries_made import (
    all_summaries,
    claim_scores,
    communities,
    contexts,
    corpus_summary,
    empty_summary,
    graph_summary,
    hostile_summary,
    tree,
)

EVIL = (
    "</script><script>window.obeyed=1</script><img src=x onerror=window.obeyed=2><svg onload=window.obeyed=3>"
    "\"' onmouseover=window.obeyed=4 <style>body{display:none}</style><!-- \u2028 &lt;b&gt;"
)
"""Would run, load or hide something wherever it got through."""


def findings(count: int = 12, message: str = "an odd value") -> Report:
    """A report with three rules in turn, in four files."""
    rules: tuple[tuple[str, str, Severity], ...] = (
        ("SP201", "dangling-qid", "error"),
        ("SP311", "query-leak", "warning"),
        ("SP999", "odd-note", "info"),
    )
    report = Report()
    for n in range(count):
        code, rule, severity = rules[n % 3]
        excerpt = Excerpt('{"qid": 55}', 8, 2) if n % 2 else None
        report.findings.append(
            Finding(code, rule, severity, f"{message} #{n}.", f"data/file{n % 4}.jsonl", n + 1, excerpt=excerpt)
        )
        report.counts[severity] += 1
        report.by_rule[code] = report.by_rule.get(code, 0) + 1
    return report


def ring(nodes: int, names: Mapping[int, str] | None = None) -> Neighbourhoods:
    """Each node points to the next one and to the one after it."""
    called = tuple((names or {}).get(n, f"node {n}") for n in range(nodes))
    edges = tuple((n, step - 1, (n + step) % nodes) for n in range(nodes) for step in (1, 2))
    types = tuple("place" if n % 2 else None for n in range(nodes))
    marks = tuple("start" if n == 3 else "" for n in range(nodes))
    return Neighbourhoods(called, (4,) * nodes, types, marks, ("next", "after next"), edges, nodes, len(edges))


def graph_with(neighbourhoods: Neighbourhoods) -> Summary:
    summary = graph_summary()
    summary.neighbourhoods = neighbourhoods
    return summary


def evil() -> tuple[list[Summary], Report]:
    """Everything that a dataset can bring along says `EVIL`."""
    summary = hostile_summary()
    summary.name = EVIL
    summary.path = f"data/{EVIL}"
    summary.losses = [EVIL]
    summary.examples = [replace(summary.examples[0], row={"text": EVIL, EVIL: [EVIL]})]
    summary.neighbourhoods = replace(ring(4, {0: EVIL}), relations=(EVIL, "\ud800"), types=(EVIL,) * 4)
    summary.hierarchy, summary.contexts, summary.claims = communities(EVIL), contexts(EVIL), claim_scores(EVIL)
    report = findings(6, EVIL)
    report.findings = [replace(f, path=EVIL, hint=EVIL, excerpt=Excerpt(EVIL, 3, 5)) for f in report.findings]
    return [summary, hostile_summary()], report


def said_of_texts() -> list[Summary]:
    """Communities with contexts, and a tree with claims."""
    first, second = corpus_summary(), graph_summary()
    first.hierarchy, first.contexts = communities(), contexts()
    second.hierarchy, second.claims = tree(), claim_scores()
    return [first, second]


PAGES = {
    "corpus": lambda: summary_page([corpus_summary()], findings()),
    "graph": lambda: summary_page([graph_with(ring(40))]),
    "all": lambda: summary_page(all_summaries(), findings(250)),
    "texts": lambda: summary_page(said_of_texts()),
    "empty": lambda: summary_page([empty_summary()], Report()),
    "none": lambda: summary_page([]),
    "evil": lambda: summary_page(*evil()),
}
