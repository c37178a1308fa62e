"""What a page says of a dataset first: how much there is, whether it is sound, what a reader should know, a glimpse."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.reports.html.dataset import is_aside, preview
from ragdatakit.reports.html.parts import badge, cards, details, escape, size
from ragdatakit.reports.summary.words import bytes_of, counted, losses_of, notes_in_order, splits_of
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.summaries import Example, Summary
from ragdatakit.schemas.texts import many, shortened

_NAME, _GLIMPSE = 120, 280
_MOST_NOTES = 6
_GLIMPSES = (("documents", "chunks"), ("questions",), ("edges",), ("answers",))
"""Tables of which a row is shown: of each group the first one that has one."""


def headline_cards(summary: Summary) -> str:
    """The numbers that one wants to know first."""
    numbers = []
    order = list(dict.fromkeys(name for one in summary.tables for name, _ in splits_of(one)))
    for one in summary.tables:
        if one.rows:
            count, _, noun = counted(one.rows, one.name).partition(" ")
            found = sorted(splits_of(one), key=lambda split: order.index(split[0]))
            splits = ", ".join(f"{name or 'no split'} {rows:,}" for name, rows in found[:3])
            numbers.append((count, noun, shortened(splits, _NAME)))
    if summary.files:
        count, _, noun = many(len(summary.files), "file").partition(" ")
        numbers.append((count, noun, size(bytes_of(summary))))
    return cards(numbers)


def verdict(errors: int, warnings: int) -> str:
    """What validation says, as badges."""
    badges = [badge(many(n, word), word) for n, word in ((errors, "error"), (warnings, "warning")) if n]
    return " ".join(badges) or badge("passed", "good")


def verdict_line(findings: Report, noted: int) -> str:
    """What validation says, in a line that leads to the findings; ``noted`` warnings are below, about the content."""
    errors, warnings = findings.counts["error"], findings.counts["warning"]
    found = bool(findings.findings or any(findings.counts.values()))
    words = '<a href="#findings">What is wrong, and where</a>' if found else "No rule of the format is broken."
    if noted:
        words += f" {many(noted, 'warning')} about the content: see below."
    return f'<p class="verdict"><span>Validation</span> {verdict(errors, warnings)} {words}</p>'


def notes_body(summary: Summary) -> str:
    """What a reader should know, warnings first; empty where there is nothing. The first ones are open."""
    items = [_note(words, "reading") for words in losses_of(summary)]
    notes = notes_in_order(summary)
    items += [_note(note.words, "warning") for note in notes if note.level == "warning"]
    items += [_note(note.words) for note in notes if note.level != "warning" and not is_aside(note)]
    if not items:
        return ""
    most = len(items) if len(items) == _MOST_NOTES + 1 else _MOST_NOTES
    first, rest = (f'<ul class="notes">{"".join(some)}</ul>' for some in (items[:most], items[most:]))
    return first + (details(many(len(items) - most, "further note"), rest) if items[most:] else "")


def _note(words: str, warned: str = "") -> str:
    said = f'<span dir="auto">{escape(words)}</span></li>'
    return f'<li class="warning">{badge(warned, "warning")} {said}' if warned else f"<li>{said}"


def glimpses(summary: Summary) -> str:
    """A row of what the dataset is about, as texts; empty where there are none."""
    first: dict[str, Example] = {}
    for example in summary.examples:
        first.setdefault(example.table, example)
    beginnings = []
    for names in _GLIMPSES:
        for name in names:
            text = " ".join(_words(first[name]).split()) if name in first else ""
            if text:
                beginnings.append((counted(1, name).partition(" ")[2], _beginning(text)))
                break
    return _glimpse_list(beginnings)


def _words(example: Example) -> str:
    """What the row says: an edge as source, relation and target, a question with its answer."""
    row = example.row
    if example.table == "edges":
        return " → ".join(str(row[name]) for name in ("source", "relation", "target") if row.get(name))
    answer = row.get("answer") if example.table == "questions" else None
    return preview(example) + (f" — {answer}" if isinstance(answer, str) and answer.strip() else "")


def _beginning(text: str) -> str:
    """The text, or its first words and an ellipsis; a text without blanks is cut anywhere."""
    if len(text) <= _GLIMPSE:
        return text
    words = text[:_GLIMPSE].rpartition(" ")[0].rstrip(",;:")
    return (words if len(words) > _GLIMPSE * 0.8 else text[: _GLIMPSE - 1]) + "…"


def _glimpse_list(beginnings: Iterable[tuple[str, str]]) -> str:
    items = "".join(
        f'<div><dt>{escape(name)}</dt><dd dir="auto">{escape(text)}</dd></div>' for name, text in beginnings
    )
    return f'<dl class="glimpses" aria-label="A row of each">{items}</dl>' if items else ""
