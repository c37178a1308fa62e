"""Gold that was moved from each question to another one as far from it, as where a row was lost before two files were
joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragdatakit.schemas.search.gold_patterns import MovedGold

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import GoldQuestion

_FEW, _SHARE, _OF_JUDGED = 10, 0.6, 0.05
"""Questions that find first what is gold at the same distance, their share of those that find first what is gold
elsewhere only, and of all that are judged."""
_OWN = 0.5
"""The most of the questions between them that find their own gold."""
_FIRST = 10


def moved_gold(judged: Sequence[GoldQuestion], found: Mapping[str, Sequence[str]]) -> MovedGold | None:
    """That it was; None where it was not. ``judged`` are in the order of the dataset; ``found`` has, by question, what
    is found, best first. Those that find their own gold among the first results do not count; where such lie between,
    neighbours are only alike."""
    owners: dict[str, int] = {}
    for place, question in enumerate(judged):
        for target in question.gold:
            owners[target] = -1 if target in owners else place
    pairs: dict[int, list[tuple[int, int]]] = {}
    asked, own = 0, set[int]()
    for place, question in enumerate(judged):
        first = found.get(question.question_id, ())[:_FIRST]
        other = owners.get(first[0], -1) if first else -1
        if not set(question.gold).isdisjoint(first):
            own.add(place)
        elif other >= 0:
            asked += 1
            pairs.setdefault(other - place, []).append((place, other))
    by, most = max(pairs.items(), key=lambda one: len(one[1]), default=(0, []))
    if len(most) < max(_FEW, _SHARE * asked, _OF_JUDGED * len(judged)):
        return None
    chance = len(most) // _FEW  # so many of them at either end may be so by chance
    begin, end = most[chance][0], most[-1 - chance][0]
    if len(own.intersection(range(begin, end))) > _OWN * (end - begin):
        return None
    return MovedGold(by, len(most), len(judged), *(judged[place].question_id for place in most[0]))
