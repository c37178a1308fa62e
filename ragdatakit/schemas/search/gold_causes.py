"""Why gold is not among the first results: the kinds of causes, and the words for them wherever they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.texts import with_visible_ends

CauseKind = Literal["missing", "no-chunks", "no-text", "no-words", "no-term", "copy", "below", "beyond"]

_WORDS: dict[CauseKind, str] = {
    "missing": "not in the corpus",
    "no-chunks": "has no chunks",
    "no-text": "has no text",
    "no-words": "asked for in words that no passage has ({words}): another wording, or another language?",
    "no-term": "shares no term with the question",
    "copy": "{copy} at rank {above:,} has {same} text",
    "below": "at rank {rank:,}, below the first {k:,}",
    "beyond": "not within the first {depth:,}",
}
_OF_QUESTIONS: dict[CauseKind, str] = {
    "missing": "is not in the corpus",
    "no-chunks": "has no chunks",
    "no-text": "has no text",
    "no-words": "is asked for in words that no passage has",
    "no-term": "shares no term with the question",
    "copy": "has a copy above it",
    "below": "is below the first {k:,}",
    "beyond": "is not within the first {depth:,}",
}
_MOST_WORDS = 5
LOST = ("missing", "no-chunks", "no-text")
"""What no retriever can find."""
BY_OTHER_WORDS = ("no-words", "no-term")
"""What no search by terms can find."""


@dataclass(frozen=True, slots=True)
class GoldCause:
    """Why a gold target is not among the first results."""

    kind: CauseKind
    words: str


def gold_cause(
    kind: CauseKind,
    *,
    rank: int = 0,
    k: int = 0,
    depth: int = 0,
    copy: str = "",
    above: int = 0,
    near: bool = False,
    alike: str = "",
    stub: str | None = None,
    unknown: Sequence[str] = (),
) -> GoldCause:
    """A cause in words: the target is at ``rank``; ``copy``, at rank ``above``, has the same text, or ``near`` it;
    ``alike`` is the id that the corpus has in the place of a missing one; ``stub`` is the whole text of the target
    where that is short; ``unknown`` are words of the question that no passage has."""
    same = "nearly the same" if near else "the same"
    listed = ", ".join(unknown[:_MOST_WORDS]) + " …" * (len(unknown) > _MOST_WORDS)
    words = _WORDS[kind].format(rank=rank, k=k, depth=depth, copy=copy, above=above, same=same, words=listed)
    words += f"; the corpus has {with_visible_ends(alike)}" if alike else ""
    if stub is not None:
        words += f"; its whole text is “{stub}”" if stub else "; it has a title and no text"
    return GoldCause(kind, words)


def cause_of_questions(kind: CauseKind, gold: str, *, k: int, depth: int) -> str:
    """The cause of several questions in words; ``gold`` is what they call theirs."""
    return f"{gold} {_OF_QUESTIONS[kind].format(k=k, depth=depth)}"


def kinds_in_order() -> tuple[CauseKind, ...]:
    """All kinds: what is wrong with the data first."""
    return tuple(_WORDS)
