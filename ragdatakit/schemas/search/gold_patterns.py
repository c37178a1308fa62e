"""What gold has in common that is wrong: ids that are shifted against those of the corpus, or judgements that were
moved from question to question; in words wherever it is shown."""

from __future__ import annotations

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.texts import many

_PERHAPS_SHIFTED = "the ids of the gold are perhaps shifted"
_PERHAPS_MOVED = "judgements were perhaps moved from question to question"
LOST_TEXTS = "their texts were perhaps lost"
GOLD_PATTERNS = (_PERHAPS_SHIFTED, _PERHAPS_MOVED)
"""How their words begin."""


@dataclass(frozen=True, slots=True)
class ShiftedIds:
    """The number in the gold of ``count`` of the ``judged`` questions is ``shift`` above that of the passage found
    first; ``gold`` and ``first`` are an example."""

    shift: int
    count: int
    judged: int
    gold: str
    first: str

    @property
    def words(self) -> str:
        """What is seen, and what it may mean."""
        by = f"{abs(self.shift):,} {'above' if self.shift > 0 else 'below'}"
        return (
            f"{_PERHAPS_SHIFTED}: in {self.count:,} of {many(self.judged, 'question')} its number "
            f"is {by} that of the passage found first ({self.gold} where {self.first} is found)"
        )


@dataclass(frozen=True, slots=True)
class MovedGold:
    """``count`` of the ``judged`` questions find first what is gold ``by`` questions later (below 0: earlier);
    ``question`` is the first of them, ``other`` the one whose gold it finds."""

    by: int
    count: int
    judged: int
    question: str
    other: str

    @property
    def words(self) -> str:
        """What is seen, and what it may mean."""
        where = "later" if self.by > 0 else "earlier"
        return (
            f"{_PERHAPS_MOVED}: {self.count:,} of "
            f"{many(self.judged, 'question')} find first what is gold {many(abs(self.by), 'question')} {where} "
            f"(question {self.question} the gold of {self.other})"
        )
