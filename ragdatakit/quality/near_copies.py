"""Texts that are nearly the same: sketches in bands bring candidates together, and comparing their words proves them.

A text is the set of its runs of three words. Two texts whose sets have a share of 0.8 in common meet in a band with a
probability of 99.8 %, at 0.7 with 95 %; those that meet are compared exactly. Where each has a word that the
other lacks, as texts of one template about two things have, another share is asked for; and where each has a number
that the other lacks, they are about two things, which bits of the numbers mostly show at once. Held in memory are the
bands and these bits, 116 bytes a text, and for a part of the candidates at a time their runs of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragdatakit.arrays.code_tables import RepeatSieve
from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.files.texts.texts_together import texts_together
from ragdatakit.quality.sketches import BANDS
from ragdatakit.quality.word_codes import DIGITS, runs, word_codes

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.scanner.texts import Sketches

    _Codes = npt.NDArray[np.uint64]

_MOST_HELD = 30_000_000
"""Runs of words that are held to compare candidates: 240 MB."""
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)
Pair = tuple[int, int, float]


class _Held:
    """A text by the codes of its words, in their order, and of those that have a digit (``numbers``)."""

    def __init__(self, codes: _Codes, numbers: frozenset[int]) -> None:
        self._codes = codes
        self.numbers = numbers

    @cached_property
    def words(self) -> _Codes:
        """Each once."""
        return distinct(self._codes)

    @cached_property
    def runs(self) -> _Codes:
        """Its runs of words, each once."""
        return distinct(runs(self._codes, np.array([len(self._codes)])))


class Compared(NamedTuple):
    """Texts that are long enough to be compared, by their places among others: their words, and what of their bands
    and numbers is in `Sketches`."""

    places: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    heads: npt.NDArray[np.uint32]
    tails: npt.NDArray[np.uint16]
    bits: npt.NDArray[np.uint64]


def compared(found: Sketches, least: int) -> Compared:
    """Those texts that have so many words or more."""
    places = np.flatnonzero(found.words >= least)
    words, heads, tails, bits = found
    if len(places) < len(words):
        words, heads, tails, bits = words[places], heads[:, places], tails[:, places], bits[places]
    return Compared(places, words.astype(np.int32), heads, tails, bits)


class NearCopies:
    """Takes sketches of texts, in their order; `pairs` then gives the near copies of others before them."""

    def __init__(self, similarity: float, other_words: float) -> None:
        self._similarity = similarity
        self._other_words = other_words
        self._of_batches: list[Compared] = []

    def add(self, first: int, found: Compared) -> None:
        """The next texts, the first of them by its number."""
        if len(found.places):
            self._of_batches.append(found._replace(places=found.places + first))

    def pairs(
        self, again: npt.NDArray[np.int64], jobs: int, read: Callable[[Sequence[int]], Iterator[tuple[int, str]]]
    ) -> list[Pair]:
        """(text, earlier text, similarity), ordered; each text once, with the earlier one that is most like it.

        Texts that are the same altogether as one before them (``again``) take no part. ``read`` gives some texts
        again, by their rising ordinals, with these. Bands are looked through in so many threads.
        """
        if not self._of_batches:
            return []
        from concurrent.futures import ThreadPoolExecutor

        ordinals = np.concatenate([batch.places for batch in self._of_batches])
        lengths = np.concatenate([batch.words for batch in self._of_batches])
        counts = np.flatnonzero(~are_among(ordinals, distinct(again))) if len(again) else slice(None)
        ordinals, lengths = ordinals[counts], lengths[counts]
        bits = np.concatenate([batch.bits for batch in self._of_batches])[counts]

        def of_band(band: int) -> _Codes:
            heads = np.concatenate([batch.heads[band] for batch in self._of_batches])[counts]
            tails = np.concatenate([batch.tails[band] for batch in self._of_batches])[counts]
            return _neighbours(heads, tails, ordinals, bits)

        with ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(of_band, range(BANDS)))
        self._of_batches = []
        codes = distinct(np.concatenate(found))
        candidates = np.stack((codes >> _HALF, codes & _LOWER), 1).astype(np.int64)
        chosen = distinct(candidates.reshape(-1))
        places = np.searchsorted(ordinals, chosen)
        sizes = dict(zip(chosen.tolist(), lengths[places].tolist(), strict=True))
        best: dict[int, tuple[float, int]] = {}
        for later, earlier, similarity in self._compared(candidates, sizes, read):
            if (-similarity, earlier) < best.get(later, (0.0, 0)) and similarity > 0:
                best[later] = (-similarity, earlier)
        return [(later, earlier, -negative) for later, (negative, earlier) in sorted(best.items())]

    def _similarity_of(self, a: _Held, b: _Held) -> float:
        """How alike two texts are; 0 where that is not enough."""
        if not (a.numbers <= b.numbers or b.numbers <= a.numbers):
            return 0.0
        shorter, longer = sorted((len(a.runs), len(b.runs)))
        least = min(self._similarity, self._other_words)
        if shorter / longer < least:
            return 0.0
        same = _common(a.runs, b.runs)
        similarity = same / (shorter + longer - same)
        if similarity < least:
            return 0.0
        both = _common(a.words, b.words)
        if both == min(len(a.words), len(b.words)):
            return similarity if similarity >= self._similarity else 0.0
        return similarity if similarity >= self._other_words else 0.0

    def _compared(
        self, candidates: Any, sizes: Mapping[int, int], read: Callable[[Sequence[int]], Iterator[tuple[int, str]]]
    ) -> Iterator[Pair]:
        """Candidates with their similarity; the texts are read as often as not all of these can be held."""
        done = 0
        while done < len(candidates):
            taken, size = done, 0
            while taken < len(candidates) and (size < _MOST_HELD or taken == done):
                size += sum(sizes[number] for number in candidates[taken].tolist())
                taken += 1
            held = _held(read(distinct(candidates[done:taken].reshape(-1)).tolist()))
            for later, earlier in candidates[done:taken].tolist():
                yield later, earlier, self._similarity_of(held[later], held[earlier])
            done = taken


def _held(texts: Iterator[tuple[int, str]]) -> dict[int, _Held]:
    """What is compared of texts, by their ordinals."""
    found: dict[int, _Held] = {}
    for batch in texts_together(texts):
        codes, lengths = word_codes([text for _, text in batch])
        ends = np.cumsum(lengths)
        places = np.flatnonzero(codes & np.uint64(DIGITS))
        numbers, before = codes[places].tolist(), [0, *np.searchsorted(places, ends).tolist()]
        bounds = [0, *ends.tolist()]
        for n, (ordinal, _) in enumerate(batch):
            own = frozenset(numbers[before[n] : before[n + 1]])
            found[ordinal] = _Held(codes[bounds[n] : bounds[n + 1]], own)
    return found


def _neighbours(
    heads: npt.NDArray[np.uint32], tails: npt.NDArray[np.uint16], ordinals: npt.NDArray[np.int64], bits: _Codes
) -> _Codes:
    """Of the texts that meet in a band, each with the first and with the one before it: (later, earlier) in the upper
    and the lower half of a number. Those of which each has a number that the other lacks are left out, as far as the
    ``bits`` of their numbers show it.

    Heads alone are equal by accident once among so many texts that all of them were to be read again.
    """
    codes = heads.astype(np.uint64)
    codes <<= _HALF
    sieve = RepeatSieve(len(codes))
    sieve.add(codes)
    perhaps = sieve.candidates(codes).astype(np.uint64)
    placed = codes[perhaps] | perhaps
    placed.sort()  # which is quicker than to ask for the places
    again = np.flatnonzero((placed[1:] ^ placed[:-1]) >> _HALF == 0)
    order = (placed[distinct(np.concatenate((again, again + 1)))] & _LOWER).astype(np.int64)
    values = (heads[order].astype(np.uint64) << np.uint64(16)) | tails[order]
    by_value = np.argsort(values, kind="stable")
    order, values = order[by_value], values[by_value]
    same = values[1:] == values[:-1]
    later, before = order[1:][same], order[:-1][same]
    starts = np.flatnonzero(np.concatenate(([True], ~same)))
    place = np.flatnonzero(np.concatenate(([False], same)))
    first = order[starts[np.searchsorted(starts, place, side="right") - 1]]
    pairs = []
    for earlier in (before, first):
        mine, others = bits[later], bits[earlier]
        are_left = (mine & ~others == 0) | (others & ~mine == 0)
        upper, lower = (ordinals[rows[are_left]].astype(np.uint64) for rows in (later, earlier))
        pairs.append(upper << _HALF | lower)
    return distinct(np.concatenate(pairs))


def _common(a: _Codes, b: _Codes) -> int:
    return int(np.count_nonzero(are_among(a, b)))
