"""What an evaluation finds wrong, before it is a finding, and how its facts are worded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Severity
from ragdatakit.schemas.texts import shortened, with_visible_ends

_SHOWN, _LONGEST = 3, 80


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding before it is worded: the facts of its message, and the id that it is about."""

    rule: str
    value: str | None
    facts: Mapping[str, Any]
    severity: Severity | None = None
    hint: str = ""


def shown(text: str) -> str:
    """An id or answer fit to print: short, on one line, without control characters; between quote marks where blanks
    at its ends could not be seen."""
    return with_visible_ends(printable(shortened(text, _LONGEST)))


def printable(text: str) -> str:
    """A text without control characters."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def listed(ids: Sequence[str], total: int = 0) -> str:
    """The first few of some ids."""
    total = max(total, len(ids))
    more = f" and {total - _SHOWN:,} more" if total > _SHOWN else ""
    return ", ".join(map(shown, ids[:_SHOWN])) + more


def named_questions(ids: Sequence[str]) -> str:
    """The same of questions."""
    return f"question {listed(ids)}" if len(ids) == 1 else f"questions {listed(ids)}"
