"""Sketches of texts, made at once by the compiled library, or in numpy: two texts have the same value in as large a
share of their parts as they have runs of words in common.

A code goes to one part in each of three rounds, and a part keeps the least value of the first round in which it got
one; a part that got none keeps the least of another function of all codes (Dahlgaard, Knudsen and Thorup, "Fast
Similarity Sketching"). But a code is spread once: its parts are the first digits of half of it, to the base of their
number, and its value is of the other half. All is the same in every run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.quality.word_codes import DIGITS, MADE_WITH, RUN, characters, in_numpy, mixed, runs
from ragdatakit.scanner.texts import Joined, Sketches, Sketching
from ragdatakit.scanner.texts import sketches as made_sketches

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.quality.word_codes import Codes
    from ragdatakit.scanner.measures import Measures

    _Numbers = npt.NDArray[np.int64]
    _Parts = npt.NDArray[np.uint32]

BANDS, _ROWS = 16, 5
_PARTS = BANDS * _ROWS
_SEED = 13
_OF_BITS = (58, 52, 46)
"""Where those six bits of a code are that say which bit a word with a digit has, of three."""
_BITS = 2
"""Of a part they say in which round it got its value."""
_ROUNDS = (1 << _BITS) - 1
"""Behind which comes the one for parts that got none."""
_HALF = (1 << 32) - 1


def sketches(texts: Sequence[str], joined: Joined, least: int, measures: Measures | None = None) -> Sketches:
    """Sketches of texts that have so many words or more, at least as a run; ``joined`` are they once more, of which
    ``measures`` takes what the library finds besides."""
    asked = measures.asked if measures is not None else None
    found = made_sketches(joined, characters(), MADE_WITH, _sketching(), least, asked)
    if found is None:
        found = Sketches.of_nothing((BANDS, len(texts)))
        found.words[:] = -1
    left = np.flatnonzero(found.words < 0)
    if len(left):
        codes, words = in_numpy([texts[place] for place in left.tolist()])
        found.words[left] = words
        long = words >= least
        codes = codes[np.repeat(long, words)]
        if len(codes):
            places = [codes >> np.uint64(place) & np.uint64(63) for place in _OF_BITS]
            bits = np.bitwise_or.reduce([(codes & np.uint64(DIGITS)) << place for place in places])
            found.bits[left[long]] = np.bitwise_or.reduceat(bits, np.cumsum(words[long]) - words[long])
        numbers = _bands(runs(codes, words[long]), words[long] - (RUN - 1))
        found.heads[:, left[long]] = (numbers >> np.uint64(32)).T
        found.tails[:, left[long]] = (numbers >> np.uint64(16) & np.uint64(0xFFFF)).T
    return found


def _bands(codes: Codes, counts: _Numbers) -> Codes:
    """The numbers of the bands of sets of codes, which have so many each, at least one."""
    parts = _parts(codes, counts).reshape(len(counts), BANDS, _ROWS)
    numbers = np.zeros((len(counts), BANDS), np.uint64)
    for place in range(_ROWS):
        numbers = mixed(numbers ^ parts[:, :, place])
    return numbers


@cache
def _sketching() -> Sketching:
    """Factors and terms are drawn as by splitmix64."""
    numbers = np.arange(_SEED, _SEED + 2 * _PARTS, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ numbers >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ numbers >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    numbers ^= numbers >> np.uint64(31)
    numbers[:_PARTS] |= np.uint64(1)
    return Sketching(RUN, numbers, _ROUNDS + 1, _PARTS, _ROWS)


def _parts(codes: Codes, counts: _Numbers) -> _Parts:
    factors, terms = np.split(_sketching().numbers, 2)
    parts = np.full((len(counts), _PARTS), _HALF, np.uint32)
    of_texts = np.repeat(np.arange(len(counts)) * _PARTS, counts)
    lower, upper = np.uint64(_HALF), np.uint64(32)
    spread = mixed(codes)
    for number in range(_ROUNDS):
        values = (spread >> np.uint64(32 + _BITS)).astype(np.uint32) | np.uint32(number << (32 - _BITS))
        products = (spread & lower) * np.uint64(_PARTS)
        np.minimum.at(parts.reshape(-1), of_texts + (products >> upper).astype(np.int64), values)
        spread = spread & ~lower | products & lower
    first = np.uint32(_HALF << (32 - _BITS) & _HALF)
    for number, (factor, term) in enumerate(zip(factors, terms, strict=True)):
        empty = np.flatnonzero(parts[:, number] >= first)
        if len(empty):
            begins, own = np.cumsum(counts)[empty] - counts[empty], counts[empty]
            shifts = np.cumsum(own) - own
            of_empty = spread[np.arange(own.sum()) + np.repeat(begins - shifts, own)]
            values = np.minimum.reduceat(((of_empty >> upper) * factor + term) >> upper, shifts)
            parts[empty, number] = first | (values >> np.uint64(_BITS)).astype(np.uint32)
    return parts
