"""Whether two targets have nearly the same text except for the numbers in it, as the reports of two years have."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.sanity import ordinals_of

if TYPE_CHECKING:
    from ragdatakit.retrieval.passages import Passages

_WORD = re.compile(r"\w+")
_FEWEST, _NEAR = 5, 0.7
"""Words that a text has to have, and the share of them that both have."""


def near_pairs(pairs: Sequence[tuple[str, str]], unit: str, passages: Passages | None) -> set[tuple[str, str]]:
    """Those of the pairs whose two texts are so; ``unit`` is what is judged (`Gold.unit`)."""
    if passages is None:
        return set()
    places = ordinals_of(unit, passages, (target for pair in pairs for target in pair))

    def words(target: str) -> Counter[str]:
        texts = (passages[ordinal].searched.casefold() for ordinal in places.get(target, ()))
        return Counter(w for text in texts for w in _WORD.findall(text) if not any(map(str.isdigit, w)))

    return {pair for pair in pairs if _are_near(words(pair[0]), words(pair[1]))}


def _are_near(one: Counter[str], other: Counter[str]) -> bool:
    return min(one.total(), other.total()) >= _FEWEST and (one & other).total() >= _NEAR * (one | other).total()
