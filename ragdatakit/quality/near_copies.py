"""Texts that are nearly the same: sketches in bands bring candidates together, and comparing their words proves them.

A text is the set of its runs of three words. Two texts whose sets have a share of 0.8 in common meet in a band with a
probability of 99.8 %, at 0.7 with 95 %; those that meet are compared exactly. Where each has a word that the
other lacks, as texts of one template about two things have, another share is asked for; and where each has a number
that the other lacks, they are about two things, which bits of the numbers mostly show at once. Held in memory are the
bands and these bits, 116 bytes a text, and for a part of the candidates at a time their words and runs of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.arrays.code_tables import RepeatSieve
from ragdatakit.arrays.codes import are_among, distinct
from ragdatakit.arrays.graphs import NumpyGraph
from ragdatakit.files.reading.threads import in_order
from ragdatakit.files.texts.texts_together import texts_together
from ragdatakit.quality.sketches import BANDS
from ragdatakit.quality.word_codes import DIGITS, RUN, runs, word_codes
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.library import library
from ragdatakit.scanner.texts import TextCopies, neighbours

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.scanner.texts import Sketches

    _Codes = npt.NDArray[np.uint64]
    _Numbers = npt.NDArray[np.int64]

_MOST_HELD = 4_000_000
"""Words of texts that are held to compare candidates, with as many runs of them: 64 MB."""
_MOST_TOGETHER = 1 << 20
"""Candidates of which it is seen at once whose texts can be held."""
_MOST_STEPS = 1 << 14
"""From text to text, up to which their number is found."""
_HALF, _LOWER = np.uint64(32), np.uint64(0xFFFFFFFF)
Pair = tuple[int, int, float]


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
        ordinals = np.concatenate([batch.places for batch in self._of_batches])
        lengths = np.concatenate([batch.words for batch in self._of_batches])
        counts = np.flatnonzero(~are_among(ordinals, distinct(again))) if len(again) else slice(None)
        ordinals, lengths = ordinals[counts], lengths[counts]
        bits = np.concatenate([batch.bits for batch in self._of_batches])[counts]

        def of_band(band: int) -> _Codes:
            heads = np.concatenate([batch.heads[band] for batch in self._of_batches])[counts]
            tails = np.concatenate([batch.tails[band] for batch in self._of_batches])[counts]
            return _neighbours(heads, tails, ordinals, bits)

        found = [codes for _, codes in in_order(range(BANDS), of_band, jobs)]
        self._of_batches = []
        codes = distinct(np.concatenate(found))
        del found
        candidates = np.stack((codes >> _HALF, codes & _LOWER), 1).astype(np.int64)
        if lengths[np.searchsorted(ordinals, distinct(candidates.reshape(-1)))].sum() > _MOST_HELD:
            candidates = _by_steps(candidates)
        alike = np.concatenate([np.zeros(0), *self._compared(candidates, ordinals, lengths, read, jobs)])
        candidates, alike = candidates[alike > 0], alike[alike > 0]
        best = np.lexsort((candidates[:, 1], -alike, candidates[:, 0]))
        best = best[np.diff(candidates[best, 0], prepend=-1) > 0]
        return list(zip(*candidates[best].T.tolist(), alike[best].tolist(), strict=True))

    def _compared(
        self,
        candidates: _Numbers,
        ordinals: _Numbers,
        lengths: _Numbers,
        read: Callable[[Sequence[int]], Iterator[tuple[int, str]]],
        jobs: int,
    ) -> Iterator[npt.NDArray[np.float64]]:
        """How alike the candidates are, 0 where that is not enough; the texts, which have such ``lengths``, are read as
        often as not all of them can be held."""
        while len(candidates):
            together = candidates[: _together(candidates[:_MOST_TOGETHER], ordinals, lengths)]
            candidates = candidates[len(together) :]
            names = distinct(together.reshape(-1))
            copies = _copies(int(lengths[np.searchsorted(ordinals, names)].sum()))
            for batch in texts_together(read(names.tolist())):
                copies.add(*word_codes([text for _, text in batch]))
            pairs = np.searchsorted(names, together)
            parts = in_order(np.array_split(pairs, jobs), copies.compared, jobs)
            found = np.concatenate([part for _, part in parts])
            same, either, apart = found.T
            alike = same / np.maximum(either, 1)  # 0 of texts that others have written meanwhile
            yield np.where(alike >= np.where(apart, self._other_words, self._similarity), alike, 0)


def _by_steps(candidates: _Numbers) -> _Numbers:
    """The same, in an order in which most texts come in few candidates one after the other: part by part of the texts
    that they connect, and by how many steps it is from the first text of the part."""
    names = distinct(candidates.reshape(-1))
    later, earlier = np.ascontiguousarray(np.searchsorted(names, candidates).T, np.int32)
    parts = NumpyGraph(len(names), later, earlier).components()
    pairs = later.astype(np.uint64) << _HALF | earlier.astype(np.uint64)
    pairs = np.concatenate((pairs, pairs << _HALF | pairs >> _HALF))
    pairs.sort()
    begins = np.searchsorted(pairs, np.arange(len(names) + 1, dtype=np.uint64) << _HALF)
    beside = (pairs & _LOWER).astype(np.int32)
    del pairs
    steps = np.full(len(names), _MOST_STEPS)
    reached, step = parts.roots, 0
    while len(reached) and step < _MOST_STEPS:
        steps[reached] = step
        counts = begins[reached + 1] - begins[reached]
        behind = np.cumsum(counts)
        found = distinct(beside[np.repeat(begins[reached] - behind + counts, counts) + np.arange(behind[-1])])
        reached, step = found[steps[found] == _MOST_STEPS], step + 1
    return candidates[np.lexsort((np.minimum(steps[later], steps[earlier]), parts.labels[later]))]


def _together(candidates: _Numbers, ordinals: _Numbers, lengths: _Numbers) -> int:
    """How many of the candidates, at least one, have texts that can be held together."""
    names, first = np.unique(candidates, return_index=True)
    order = np.argsort(first)
    words = np.cumsum(lengths[np.searchsorted(ordinals, names[order])], dtype=np.int64)
    fitting = int(np.searchsorted(words, _MOST_HELD, "right"))
    return max(int(first[order[fitting]]) // 2, 1) if fitting < len(order) else len(candidates)


def _copies(words: int) -> _Copies | TextCopies:
    """What compares texts of so many words."""
    return _Copies() if library() is None else TextCopies(words, RUN)


class _Copies:
    """As `TextCopies`, in numpy."""

    def __init__(self) -> None:
        self._texts: list[tuple[_Codes, _Codes, _Codes]] = []

    def add(self, codes: _Codes, counts: _Numbers) -> None:
        """As there."""
        for own in np.split(codes, np.cumsum(counts)[:-1]):
            words = distinct(own)
            self._texts.append((words, distinct(runs(own, np.array([len(own)]))), words[words & np.uint64(DIGITS) > 0]))

    def compared(self, pairs: _Numbers) -> npt.NDArray[np.uint32]:
        """As there."""
        found = np.empty((len(pairs), 3), np.uint32)
        for row, (one, other) in zip(found, pairs.tolist(), strict=True):
            several = [*zip(self._texts[one], self._texts[other], strict=True)]
            words, same, numbers = (int(np.count_nonzero(are_among(mine, others))) for mine, others in several)
            least, _, least_numbers = (min(len(mine), len(others)) for mine, others in several)
            either = len(several[1][0]) + len(several[1][1]) - same
            row[:] = (same, either, words < least) if numbers == least_numbers else (0, 1, True)
        return found


def _neighbours(
    heads: npt.NDArray[np.uint32], tails: npt.NDArray[np.uint16], ordinals: npt.NDArray[np.int64], bits: _Codes
) -> _Codes:
    """Of the texts that meet in a band, each with the first and with the one before it: (later, earlier) in the upper
    and the lower half of a number. Those of which each has a number that the other lacks are left out, as far as the
    ``bits`` of their numbers show it."""
    found = neighbours(heads, tails, bits)
    pairs = found if found is not None else _in_numpy(heads, tails, bits)
    upper, lower = (ordinals[rows].astype(np.uint64) for rows in (pairs >> _HALF, pairs & _LOWER))
    return distinct(upper << _HALF | lower)


def _in_numpy(heads: npt.NDArray[np.uint32], tails: npt.NDArray[np.uint16], bits: _Codes) -> _Codes:
    """As `neighbours`. Heads alone are equal by accident once among so many texts that all of them were to be read
    again."""
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
        upper, lower = (rows[are_left].astype(np.uint64) for rows in (later, earlier))
        pairs.append(upper << _HALF | lower)
    return distinct(np.concatenate(pairs))
