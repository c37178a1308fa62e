"""Names found by the words of what is said of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.retrieval.terms.bm25 import Bm25

if TYPE_CHECKING:
    from ragdatakit.retrieval.terms.tokens import Tokenizer


class WordTable:
    """Names, each found by the words of a text; of equal names the better text counts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._texts = Bm25(tokenizer)
        self._names: list[Any] = []
        self._known: set[Any] = set()

    def add(self, name: Any, text: str) -> None:
        """A name with its text."""
        self._texts.add(text)
        self._names.append(name)
        self._known.add(name)

    def best(self, words: str, k: int) -> dict[Any, float]:
        """The best names with their scores, ties in order."""
        scores = self._texts.scores(words)
        found: dict[Any, float] = {}
        for place in self._texts.best(words, k):
            found.setdefault(self._names[place], scores[place])
        return found

    def best_of(self, words: str, among: Sequence[Any], k: int) -> dict[Any, float]:
        """The best of some names, those that share no word last."""
        scores: dict[Any, float] = {}
        for place, score in self._texts.scores(words).items():
            scores[self._names[place]] = max(score, scores.get(self._names[place], 0.0))
        ranked = sorted((name for name in among if name in self._known), key=lambda name: -scores.get(name, 0.0))
        return {name: scores.get(name, 0.0) for name in ranked[:k]}
