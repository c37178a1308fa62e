"""Tables of key codes: which may have come before, and where each is. The compiled library fills and asks them where it
is there, else numpy."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import ODD_1, WIDE, Codes, Rows, are_same, first_of_each, first_words, flat_words, words_of
from ragdatakit.scanner.keys import count_in_sieve, counted_twice, find_in_table, find_ranks, new_sieve, new_table
from ragdatakit.scanner.library import run_seed

_RANK_PLACES = 32
"""Places for each integer up to which a table by value is made of them: ids of a sample of a corpus (each thirtieth)
are then looked up without hashing, too."""


class RepeatSieve:
    """Tells, while codes come in, which of them may have come before: a count per place, a place per leading bits.

    What it lets through (a few per cent, and every real repeat) is compared exactly; the rest need never be sorted.
    """

    WORTH = 1 << 20  # codes from which on it is filled as they come
    _BITS, _BLOCK_BITS = 30, 17

    def __init__(self, count: int) -> None:
        self._bits = min((4 * count).bit_length() + 1, self._BITS)
        self.most = (1 << self._bits) // 5 if self._bits < self._BITS else sys.maxsize
        """With more codes than these too many share a place: a larger one is worth it."""
        self._quick = new_sieve(self._bits)
        if self._quick is None:
            self._places = np.zeros(1 << self._bits, np.uint8)
            self._last = np.zeros(1 << self._BLOCK_BITS, np.int32)

    def add(self, codes: Codes) -> None:
        """Take in the codes of one block."""
        if self._quick is not None:
            count_in_sieve(self._quick, flat_words(codes), len(words_of(codes)))
            return
        place = (first_words(codes) >> np.uint64(64 - self._bits)).view(np.int64)
        before = self._places[place]
        self._places[place] = 1
        self._places[place[before > 0]] = 2
        # within the block: who finds another in its place of a small table
        small = place & ((1 << self._BLOCK_BITS) - 1)
        order = np.arange(len(codes), dtype=np.int32)
        self._last[small] = order
        self._places[place[self._last[small] != order]] = 2

    def candidates(self, codes: Codes) -> Rows:
        """Positions of the codes, of all that came in, that may appear twice."""
        if self._quick is not None:
            return counted_twice(self._quick, flat_words(codes), len(words_of(codes)))
        return np.flatnonzero(self._places[(first_words(codes) >> np.uint64(64 - self._bits)).view(np.int64)] == 2)


def repeated(codes: npt.NDArray[np.int64]) -> tuple[Rows, Rows]:
    """The places of codes that came before, which are spread over all bits, and where each came first."""
    words = codes.view(np.uint64)
    sieve = RepeatSieve(len(words))
    sieve.add(words)
    perhaps = sieve.candidates(words)
    first, number = first_of_each(codes[perhaps])
    firsts = perhaps[first][number]
    again = perhaps != firsts
    return perhaps[again], firsts[again]


class RankTable:
    """Dense integers: position by value, four bytes for each number between the least and the greatest."""

    def __init__(self, ids: npt.NDArray[np.int64], least: int, span: int) -> None:
        self._least = np.uint64(least & 0xFFFFFFFFFFFFFFFF)
        self._span = np.uint64(span)
        # one more slot, for whatever is out of range
        self._ranks = np.full(span + 2, -1, np.int32)
        # backwards: of a repeated key the first position remains
        self._ranks[(ids.view(np.uint64) - self._least).view(np.int64)[::-1]] = np.arange(len(ids), dtype=np.int32)[
            ::-1
        ]

    @staticmethod
    def of(codes: Codes, places: int = _RANK_PLACES) -> RankTable | None:
        """A table, or None where the integers are too sparse for one with so many places for each."""
        ids = codes.view(np.int64)
        if not len(ids):
            return RankTable(ids, 0, 0)
        least, greatest = int(ids.min()), int(ids.max())
        span = greatest - least
        return RankTable(ids, least, span) if span <= max(places * len(ids), 1 << 20) and span < 1 << 31 else None

    def has_repeats(self, codes: Codes) -> bool:
        """Whether any of the keys, which are these codes, appears twice: only its first position is in the table."""
        return int(np.count_nonzero(self._ranks >= 0)) != len(codes)

    def positions(self, codes: Codes) -> npt.NDArray[np.int32]:
        """The position of each code among the keys, -1 where it is none."""
        if codes.dtype == WIDE:  # texts among integers
            return np.full(len(codes), -1, np.int32)
        if (quick := find_ranks(self._ranks, int(self._least), codes)) is not None:
            return quick
        offsets = codes - self._least
        np.minimum(offsets, self._span + np.uint64(1), out=offsets)
        found: npt.NDArray[np.int32] = self._ranks[offsets.view(np.int64)]
        return found


class HashTable:
    """An open-addressing table of codes, which it keeps: most look-ups end at the first place they look at.

    It is laid out by the seed of the run, so that nobody can prepare integers that all want one place, and may be used
    in other processes.
    """

    def __init__(self, codes: Codes) -> None:
        self._codes, self._seed = codes, run_seed()
        self._slots = new_table(flat_words(codes), len(words_of(codes)), self._seed)
        if self._slots is not None:
            return
        bits = max(len(codes).bit_length() + 1, 6)
        self._shift = np.uint64(64 - bits)
        self._mask = (1 << bits) - 1
        self._positions = np.full(1 << bits, -1, np.int32)
        pending = np.arange(len(codes), dtype=np.int32)[::-1]  # backwards: of a repeated key the first remains
        slots = self._first_slots(codes)[::-1]
        while len(pending):
            free = self._positions[slots] < 0
            # where several codes want one place the last one gets it; the others find it taken and move on
            self._positions[slots[free]] = pending[free]
            left = np.flatnonzero(~are_same(codes[self._positions[slots]], codes[pending]))
            pending, slots = pending[left], (slots[left] + 1) & self._mask

    @property
    def codes(self) -> Codes:
        """Those that it keeps."""
        return self._codes

    def _first_slots(self, codes: Codes) -> Rows:
        return (((first_words(codes) ^ np.uint64(self._seed)) * ODD_1) >> self._shift).view(np.int64)

    def has_repeats(self, codes: Codes) -> bool:
        """Whether any of the keys, which are these codes, appears twice: only its first position is in the table."""
        filled = self._positions >= 0 if self._slots is None else self._slots
        return int(np.count_nonzero(filled)) != len(codes)

    def positions(self, codes: Codes) -> npt.NDArray[np.int32]:
        """The position of each code among the keys, -1 where it is none."""
        if codes.dtype != self._codes.dtype:  # integers among texts, or there are no keys
            return np.full(len(codes), -1, np.int32)
        if self._slots is not None:
            own, asked = flat_words(self._codes), flat_words(codes)
            return find_in_table(self._slots, own, asked, len(words_of(codes)), self._seed)
        slots = self._first_slots(codes)
        found: npt.NDArray[np.int32] = self._positions[slots]
        other = np.flatnonzero(found >= 0)
        while len(other):
            other = other[~are_same(self._codes[found[other]], codes[other])]
            slots[other] = (slots[other] + 1) & self._mask
            found[other] = self._positions[slots[other]]
            other = other[found[other] >= 0]
        return found
