"""BM25 over a few texts in memory: names and descriptions of a graph, which need no index of their own."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.retrieval.terms.tokens import Tokenizer

_K1, _B = 1.2, 0.75


class Bm25:
    """Texts found by their words."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._postings: dict[str, array[int]] = {}
        self._lengths = array("l")
        self._total = 0

    def add(self, text: str) -> None:
        """A text; its place is how many there were before."""
        tokens = self._tokenizer.tokens(text)
        place = len(self._lengths)
        for token, count in Counter(tokens).items():
            self._postings.setdefault(token, array("l")).extend((place, count))
        self._lengths.append(len(tokens))
        self._total += len(tokens)

    def scores(self, words: str) -> dict[int, float]:
        """Places to scores, of those that share a word."""
        number = len(self._lengths)
        average = self._total / number if number else 1.0
        found: dict[int, float] = {}
        for token in dict.fromkeys(self._tokenizer.tokens(words)):
            postings = self._postings.get(token, array("l"))
            frequency = len(postings) // 2
            weight = math.log(1 + (number - frequency + 0.5) / (frequency + 0.5))
            for place, count in zip(postings[::2], postings[1::2], strict=True):
                norm = _K1 * (1 - _B + _B * self._lengths[place] / (average or 1.0))
                found[place] = found.get(place, 0.0) + weight * count * (_K1 + 1) / (count + norm)
        return found

    def best(self, words: str, k: int) -> list[int]:
        """The best places, ties in order."""
        scores = self.scores(words)
        return sorted(scores, key=lambda place: (-scores[place], place))[:k]
