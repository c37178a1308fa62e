"""Made-up prose, fast: texts are random words of a seeded vocabulary, joined in blocks."""

from __future__ import annotations

import itertools

import numpy as np

ONSETS = ("b", "br", "d", "dr", "f", "g", "gl", "h", "k", "kr", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v")
NUCLEI = ("a", "e", "i", "o", "u", "ai", "ea", "ou")
CODAS = ("", "", "n", "r", "l", "s", "t", "nd", "rk")
FOREIGN = ("é", "ü", "ø", "ñ", "ß", "ł", "漢字", "かな", "жи")


class Prose:
    """Texts of one seed. Words are already escaped for JSON: about one in 200 stands in escaped quotes.

    One word in 12 ends a sentence, one in 12 has letters outside ASCII.
    """

    def __init__(self, seed: int, size: int = 20_000) -> None:
        self.random = np.random.default_rng(seed)
        self.names = _plain_words(size)
        decorated = [_decorate(i, word) for i, word in enumerate(self.names)]
        self.words = np.array(decorated, dtype=object)

    def texts(self, count: int, fewest: int, most: int) -> list[str]:
        """``count`` texts of ``fewest`` to ``most`` words, without a blank at either end."""
        lengths = self.random.integers(fewest, most + 1, count)
        ends = np.cumsum(lengths)
        # Squaring makes some words common and most rare, as in language.
        chosen = (self.random.random(int(ends[-1])) ** 2 * len(self.words)).astype(np.int64)
        drawn: list[str] = self.words[chosen].tolist()
        bounds = [0, *ends.tolist()]
        return [" ".join(drawn[a:b]) for a, b in itertools.pairwise(bounds)]


def _plain_words(size: int) -> list[str]:
    syllables = [a + b + c for a, b, c in itertools.product(ONSETS, NUCLEI, sorted(set(CODAS)))]
    shuffled = np.random.default_rng(0).permutation(len(syllables))
    syllables = [syllables[i] for i in shuffled]
    pairs = (a + b for a, b in itertools.product(syllables[:200], syllables[200:600]))
    return sorted(set(itertools.islice(pairs, size * 2)), key=hash_of)[:size]


def hash_of(word: str) -> int:
    """A hash that is the same in every process, to order words by."""
    value = 0
    for byte in word.encode():
        value = (value * 1_000_003 ^ byte) & 0xFFFF_FFFF
    return value


def _decorate(i: int, word: str) -> str:
    if i % 200 == 7:
        return f'\\"{word}\\"'
    if i % 12 == 5:
        return word + "."
    if i % 12 == 9:
        return word + FOREIGN[i // 12 % len(FOREIGN)]
    return word
