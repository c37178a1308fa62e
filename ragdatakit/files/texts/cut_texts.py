"""Whether texts were cut off at one length, as by ``text[:500]``: what came after it is in no text.

Of texts that nobody cut hardly two in a hundred have the same length, and no length has many more than those beside it.
Those of a chunker have, too, but its next text goes on in the middle of a sentence: nothing is lost there. So texts
count as cut off where many have one length, stop inside a sentence, are followed by texts that begin with a capital
letter or a digit, and were not written by one template (their words are of many lengths).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from ragdatakit.late_dataclasses import dataclass

_LEAST, _LEAST_SHARE, _STEEP = 20, 0.05, 3
"""Texts of one length, their share of all, and how many times as many they are as those of each length beside it."""
_BESIDE = 3
_MOSTLY = 0.8
"""Of them that stop inside a sentence."""
_FEWEST_OTHERS = 5
"""Numbers of words that texts of so many characters have, or the other way around."""
_SHORTEST = {"character": 50, "word": 20}
_ENDS = tuple(".!?:;)]}»”\"'’。」』\uff01\uff1f\uff09")
_STOPS, _BEGINS = 1, 2


@dataclass(frozen=True, slots=True)
class CutOff:
    """At how many of what (``character``, ``word``) texts were cut off, how many of all were, and the first of them by
    its number from 0."""

    length: int
    unit: str
    count: int
    texts: int
    first: int

    def words(self, noun: str) -> str:
        """What is seen; ``noun`` is what one text is (`document`, `chunk`)."""
        length = f"exactly {self.length:,} {self.unit}s"
        return f"{self.count:,} of {self.texts:,} {noun}s have {length} and stop inside a sentence"


class TextLengths:
    """Lengths of texts, in their order, and how they begin and stop. Memory: 17 bytes a text."""

    def __init__(self) -> None:
        self._characters, self._words, self._marks = array("q"), array("q"), array("B")

    def add(self, text: str) -> None:
        """The next text."""
        self._characters.append(len(text))
        self._words.append(text.count(" ") + 1)
        stops = _STOPS if text.endswith("...") or not text.rstrip().endswith(_ENDS) else 0
        begins = _BEGINS if text[:1].isupper() or text[:1].isdigit() else 0
        self._marks.append(stops | begins)

    def cut_off(self) -> CutOff | None:
        """Where the texts were cut off, if they were."""
        characters, words = np.frombuffer(self._characters, np.int64), np.frombuffer(self._words, np.int64)
        return self._cut("character", characters, words) or self._cut("word", words, characters)

    def _cut(self, unit: str, lengths: np.ndarray, others: np.ndarray) -> CutOff | None:
        values, counts = np.unique(lengths[lengths >= _SHORTEST[unit]], return_counts=True)
        if not len(values):
            return None
        length, count = int(values[counts.argmax()]), int(counts.max())
        beside = counts[(np.abs(values - length) <= _BESIDE) & (values != length)].max(initial=0)
        if count < max(_LEAST, _LEAST_SHARE * len(lengths), _STEEP * beside):
            return None
        cut = np.flatnonzero(lengths == length)
        marks = np.frombuffer(self._marks, np.uint8)
        followed = marks[cut[cut + 1 < len(marks)] + 1]
        stop, begin = np.mean(marks[cut] & _STOPS > 0), np.mean(followed & _BEGINS > 0)
        if stop < _MOSTLY or begin <= 1 / 2 or len(np.unique(others[cut])) < _FEWEST_OTHERS:
            return None
        return CutOff(length, unit, count, len(lengths), int(cut[0]))


def cut_off(texts: Iterable[str]) -> CutOff | None:
    """Where the texts were cut off, if they were."""
    lengths = TextLengths()
    for text in texts:
        lengths.add(text)
    return lengths.cut_off()
