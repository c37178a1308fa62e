"""Texts found by their words, by BM25, with everything in memory: names and descriptions are short."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragdatakit.retrieval.terms.tokens import Tokenizer

_K1, _B = 1.2, 0.75


class WordTable:
    """Names, each found by the words of a text; of equal names the better text counts."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._names: list[Any] = []
        self._known: set[Any] = set()
        self._postings: dict[str, array[int]] = {}
        self._lengths = array("l")
        self._total = 0

    def add(self, name: Any, text: str) -> None:
        """A name with its text."""
        tokens = self._tokenizer.tokens(text)
        place = len(self._lengths)
        self._names.append(name)
        self._known.add(name)
        for token, count in Counter(tokens).items():
            self._postings.setdefault(token, array("l")).extend((place, count))
        self._lengths.append(len(tokens))
        self._total += len(tokens)

    def _scores(self, words: str) -> dict[int, float]:
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

    def best(self, words: str, k: int) -> dict[Any, float]:
        """The best names with their scores, ties in order."""
        scores = self._scores(words)
        found: dict[Any, float] = {}
        for place in sorted(scores, key=lambda place: (-scores[place], place))[:k]:
            found.setdefault(self._names[place], scores[place])
        return found

    def best_of(self, words: str, among: Sequence[Any], k: int) -> dict[Any, float]:
        """The best of some names, those without a word last."""
        scores = {self._names[place]: score for place, score in self._scores(words).items()}
        ranked = sorted((name for name in among if name in self._known), key=lambda name: -scores.get(name, 0.0))
        return {name: scores.get(name, 0.0) for name in ranked[:k]}
