"""What there is to say of a baseline and of an older state besides the findings: sentences for standard error."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ragdatakit.schemas.baselines import BaselineEntry, BaselineUse
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import many
from ragdatakit.visible_text import visible_text

_SHOWN = 3


def known_notes(report: Report) -> Iterator[str]:
    """Of each baseline: what was written, what is over, exceeded, stale; of the revision, what could not be read."""
    for use in report.baselines:
        for note in _of_baseline(use):
            yield f"{visible_text(use.file)}: {note}"
    yield from report.notes


def _of_baseline(use: BaselineUse) -> Iterator[str]:
    if use.written is not None:
        yield f"written, {many(use.written, 'entry', 'entries')}"
    if use.refused:
        yield _of_refused(use.refused)
    if use.expired:
        yield f"{_number(use.expired)} ended, so that the findings count again: {_those(use.expired, with_day=True)}"
    if use.ending:
        verb = "ends" if len(use.ending) == 1 else "end"
        yield f"{_number(use.ending)} {verb} soon: {_those(use.ending, with_day=True)}"
    for entry, found in use.exceeded[:_SHOWN]:
        yield (
            f"{visible_text(entry.words)}: {many(found, 'finding')}, {entry.accepts:,} accepted; all are reported, as "
            "a number does not say which are new (--since REV does)"
        )
    if len(use.exceeded) > _SHOWN:
        yield f"{len(use.exceeded) - _SHOWN:,} more numbers are exceeded"
    for entry, found in use.lower[:_SHOWN]:
        yield f"{visible_text(entry.words)}: {found:,} of {entry.count:,} accepted findings are left"
    if len(use.lower) > _SHOWN:
        yield f"{len(use.lower) - _SHOWN:,} more numbers are too high"
    if use.stale:
        verb = "is" if len(use.stale) == 1 else "are"
        yield f"{_number(use.stale)} {verb} no longer needed: {_those(use.stale)}"
    if use.stale or use.lower:
        yield "the same command with `--update-baseline` brings it up to date"
    if use.powerless:
        verb = "has" if len(use.powerless) == 1 else "have"
        yield f"{_number(use.powerless)} {verb} no effect, as what could not be checked is not accepted: " + _those(
            use.powerless
        )


def _of_refused(refused: Sequence[tuple[str, int]]) -> str:
    number, codes = sum(times for _, times in refused), ", ".join(code for code, _ in refused)
    return (
        f"{many(number, 'finding')} cannot be accepted ({codes}), as what could not be checked may hide others; "
        f"{'it is' if number == 1 else 'they are'} reported until that is repaired"
    )


def _number(entries: Sequence[BaselineEntry]) -> str:
    return many(len(entries), "entry", "entries")


def _those(entries: Sequence[BaselineEntry], *, with_day: bool = False) -> str:
    shown: Iterable[str] = (
        visible_text(entry.words) + (f" on {entry.until}" if with_day and entry.until else "")
        for entry in entries[:_SHOWN]
    )
    more = len(entries) - _SHOWN
    return "; ".join(shown) + (f"; and {more:,} more" if more > 0 else "")
