"""Gold whose ids are shifted against those of the corpus, in words wherever it is shown."""

from __future__ import annotations

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.texts import many

PERHAPS_SHIFTED = "the ids of the gold are perhaps shifted"


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
            f"{PERHAPS_SHIFTED}: in {self.count:,} of {many(self.judged, 'question')} its number "
            f"is {by} that of the passage found first ({self.gold} where {self.first} is found)"
        )
