"""Gold that was moved from each question to another one as far from it, as where a row was lost before two files were
joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.faults import shown
from ragdatakit.schemas.evaluations import QuestionResult, RunResult
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold

_FEW, _SHARE, _OF_JUDGED = 10, 0.6, 0.05
"""Questions that find first what is gold at the same distance, their share of those that find first what is gold
elsewhere only, and of all that are judged."""
_FIRST = 10


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
            f"judgements were perhaps moved from question to question: {self.count:,} of "
            f"{many(self.judged, 'question')} find first what is gold {many(abs(self.by), 'question')} {where} "
            f"(question {shown(self.question)} the gold of {shown(self.other)})"
        )


def moved_gold(gold: Gold, runs: Sequence[RunResult]) -> MovedGold | None:
    """That it was, in the run that shows most of it; None where it was not. Questions are in the order of the dataset;
    those that find their own gold among the first results do not count."""
    places = {question.question_id: place for place, question in enumerate(gold.judged)}
    owners: dict[str, int] = {}
    for place, question in enumerate(gold.judged):
        for target in question.gold:
            owners[target] = -1 if target in owners else place
    found = (_moved(run.questions, places, owners) for run in runs if run.name != "graph")
    best = max(found, key=len, default=[])
    if len(best) < max(_FEW, _OF_JUDGED * len(places)):
        return None
    names = [*places]
    return MovedGold(best[0][1] - best[0][0], len(best), len(places), *(names[place] for place in best[0]))


def _moved(results: Sequence[QuestionResult], places: dict[str, int], owners: dict[str, int]) -> list[tuple[int, int]]:
    """The places of questions, and of those whose gold they find first, that are as far apart as most are."""
    pairs: dict[int, list[tuple[int, int]]] = {}
    asked = 0
    for result in results:
        place = places.get(result.question_id)
        other = owners.get(result.found[0], -1) if result.found else -1
        if place is not None and other >= 0 and set(result.gold).isdisjoint(result.found[:_FIRST]):
            asked += 1
            pairs.setdefault(other - place, []).append((place, other))
    most = max(pairs.values(), key=len, default=[])
    return most if len(most) >= _SHARE * asked else []
