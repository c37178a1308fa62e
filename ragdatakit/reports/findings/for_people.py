"""Findings as text: in full, one per line, or by file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ragdatakit.reports.findings.output_forms import Found
from ragdatakit.reports.findings.text import text_lines

_TOGETHER = 64
"""Lines, or findings, that are encoded at once."""


def full(found: Found) -> Iterator[bytes]:
    """With the line of the data, what it means and what to do."""
    return _bytes(text_lines(found.report, found.options, found.findings))


def grouped(found: Found) -> Iterator[bytes]:
    """The path of a file once, below it a line for each finding."""
    return _bytes(text_lines(found.report, replace(found.options, form="grouped"), found.findings))


def concise(found: Found) -> Iterator[bytes]:
    """``path:line:column CODE severity message``, which editors take apart; 1:1 for a file as a whole."""
    return _bytes(text_lines(found.report, replace(found.options, form="concise"), found.findings))


def github_summary(found: Found) -> Iterator[bytes]:
    """Markdown for the summary of a step in GitHub Actions."""
    from ragdatakit.reports.findings.step_summary import step_summary  # it loads msgspec

    return _bytes(step_summary(found.report, found.findings))


def _bytes(lines: Iterable[str]) -> Iterator[bytes]:
    left = iter(lines)
    while together := [*islice(left, _TOGETHER)]:
        yield "\n".join((*together, "")).encode("utf-8", "backslashreplace")
