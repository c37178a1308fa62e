"""Whether texts were cut off at one length, as by ``text[:500]``: what came after it is in no text.

Of texts that nobody cut hardly two in a hundred have the same length, and no length has many more than those beside it.
Those of a chunker have, too, but its next text goes on in the middle of a sentence: nothing is lost there. So texts
count as cut off where many have one length, stop inside a sentence, are followed by texts that begin anew, with a
capital letter, and were not written by one template: their words are of many lengths, and others at each place.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    import numpy.typing as npt

    _Numbers = npt.NDArray[np.int64]
    _Marks = npt.NDArray[np.uint8]

_LEAST, _LEAST_SHARE, _STEEP = 20, 0.05, 3
"""Texts of one length, their share of all, and how many times as many they are as those of each length beside it."""
_BESIDE = 3
_MOSTLY = 0.8
"""Of them that stop inside a sentence."""
_FEWEST_OTHERS = 5
"""Numbers of words that texts of so many characters have, or the other way around."""
_SAMPLE, _LOOKED_AT, _ALIKE = 1_000, 1_000, 0.2
"""Texts that are read again, and characters of each; the share of places in them at which most texts of a template
have the same word."""
_SHORTEST = {"character": 50, "word": 20}
ENDS = ".!?:;)]}»”\"'’。」』\uff01\uff1f\uff09"
_ENDS = tuple(ENDS)
_STOPS, _BEGINS, _DOUBTFUL = 1, 2, 4
"""How a text stops and begins, in the library, too; of the last it does not know."""
_MOST = (1 << 31) - 1
_HEAD = 100
"""Characters from which it is seen how a text begins."""


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
    """Lengths of texts, in their order, and how they begin and stop. Memory: 9 bytes a text."""

    def __init__(self) -> None:
        self._characters, self._words, self._marks = array("i"), array("i"), array("B")
        self._first = self._last = ""

    @classmethod
    def seen(cls, texts: Sequence[str], characters: _Numbers, blanks: _Numbers, marks: _Marks) -> TextLengths:
        """Those of texts as the library sees them; of texts that are doubtful all is found here."""
        found, characters, words, marks = cls(), characters.copy(), blanks + 1, marks.copy()
        for place in np.flatnonzero(marks & _DOUBTFUL).tolist():
            text = texts[place]
            characters[place], words[place] = len(text), text.count(" ") + 1
            marks[place] = _marks(text, _title(texts[place - 1]) if place else "")
        for known, more in ((found._characters, characters), (found._words, words), (found._marks, marks)):
            known.frombytes(more.astype(known.typecode).tobytes())
        found._first, found._last = (_title(texts[place]) if len(texts) else "" for place in (0, -1))
        return found

    def add(self, text: str) -> None:
        """The next text."""
        self._characters.append(min(len(text), _MOST))
        self._words.append(min(text.count(" ") + 1, _MOST))
        self._marks.append(_marks(text, self._last))
        self._last = _title(text)
        if len(self._marks) == 1:
            self._first = self._last

    def extend(self, others: TextLengths) -> None:
        """The next texts, whose lengths were found without these before them."""
        if not others._marks:
            return
        number = len(self._marks)
        self._characters += others._characters
        self._words += others._words
        self._marks += others._marks
        if number and others._first == self._last:
            self._marks[number] &= ~_BEGINS
        self._first, self._last = self._first if number else others._first, others._last

    def cut_off(self, read: Callable[[Sequence[int]], Iterable[str]]) -> CutOff | None:
        """Where the texts were cut off, if they were. ``read`` gives some of them again, by their rising numbers."""
        characters, words = np.frombuffer(self._characters, np.int32), np.frombuffer(self._words, np.int32)
        return self._cut("character", characters, words, read) or self._cut("word", words, characters, read)

    def _cut(
        self, unit: str, lengths: np.ndarray, others: np.ndarray, read: Callable[[Sequence[int]], Iterable[str]]
    ) -> CutOff | None:
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
        if _are_alike([text[:_LOOKED_AT] for text in read(cut[:: -(-len(cut) // _SAMPLE)].tolist())]):
            return None
        return CutOff(length, unit, count, len(lengths), int(cut[0]))


def _title(text: str) -> str:
    return text[:_HEAD].partition(" ")[0]


def _marks(text: str, before: str) -> int:
    """How a text stops and begins; ``before`` is the title of the text before."""
    stops = _STOPS if text.endswith("...") or _goes_on(text) else 0
    head = text[:_HEAD]
    # a title that the text before has, too, or capitals throughout, do not say that this is another text
    begins = _BEGINS if head[:1].isupper() and _title(text) != before and not head.isupper() else 0
    return stops | begins


def _goes_on(text: str) -> bool:
    """Whether a text stops inside a sentence; what was filled up with blanks to some length was not cut."""
    return not text.rstrip().endswith(_ENDS) and not text.endswith("  ")


def _are_alike(texts: Sequence[str]) -> bool:
    """Whether texts were written by one template: most have the same words at the same places."""
    places = list(zip(*(text.split(" ") for text in texts), strict=False))
    same = sum(Counter(words).most_common(1)[0][1] > len(texts) / 2 for words in places)
    return same > _ALIKE * len(places)
