"""Texts that are nearly the same: MinHash signatures (by rensa) in bands, candidates proved by comparing their words.

A text is the set of its runs of three words. Two texts whose sets have a share of 0.8 in common meet in a band with a
probability of 99.8 %, at 0.7 with 93 %; those that meet are compared exactly. Where each has a word that the
other lacks, as texts of one template about two things have, another share is asked for. Held in memory are the bands,
176 bytes a text, and for a part of the candidates at a time their runs of words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from zlib import crc32

from ragdatakit.tables.flat_text import flat_words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    _Codes = npt.NDArray[np.uint64]

_RUN = 3
_BANDS, _ROWS = 20, 6
_SEED = 13
_BATCH_WORDS = 300_000
_MOST_HELD = 30_000_000
"""Runs of words that are held to compare candidates: 240 MB."""
Pair = tuple[int, int, float]


class NearCopies:
    """Takes texts as words, by ordinal (rising); `pairs` then tells which are near copies of earlier ones."""

    def __init__(self, similarity: float, other_words: float) -> None:
        self._similarity = similarity
        self._other_words = other_words
        self._codes = _WordCodes()
        self._ordinals: list[int] = []
        self._lengths: list[int] = []
        self._words: list[int] = []
        self._of_batches: list[tuple[Any, Any, Any]] = []

    def add(self, ordinal: int, words: Sequence[str]) -> None:
        """One text of at least three words."""
        self._ordinals.append(ordinal)
        self._lengths.append(len(words))
        self._words += map(self._codes.__getitem__, words)
        if len(self._words) > _BATCH_WORDS:
            self._flush()

    def _flush(self) -> None:
        import numpy as np
        from rensa import RMinHash

        if not self._ordinals:
            return
        runs = _runs(np.array(self._words, np.uint64))
        lengths = np.array(self._lengths, np.int64)
        ends = np.cumsum(lengths)
        inside = np.ones(len(runs), bool)
        for back in range(_RUN - 1):  # runs that begin at the end of a text reach into the next one
            inside[ends - 1 - back] = False
        offsets = np.concatenate(([0], np.cumsum(lengths - (_RUN - 1)))).astype(np.uint64)
        found = RMinHash.digest_matrix_from_flat_token_hashes(runs[inside], offsets, _BANDS * _ROWS, _SEED)
        rows = np.array(found.to_rows(), np.uint64).reshape(len(lengths), _BANDS, _ROWS)
        bands = np.zeros((len(lengths), _BANDS), np.uint64)
        for row in range(_ROWS):
            bands = _mixed(bands ^ rows[:, :, row])
        self._of_batches.append((np.array(self._ordinals, np.int64), np.ascontiguousarray(bands.T), lengths))
        self._ordinals, self._lengths, self._words = [], [], []

    def pairs(self, keys: npt.NDArray[np.int64], read: Callable[[], Iterator[tuple[int, str]]]) -> list[Pair]:
        """(text, earlier text, similarity), ordered; each text once, with the earlier one that is most like it.

        ``keys`` tells texts apart that are the same altogether: of these only the first takes part. ``read`` gives all
        texts again, with their ordinals.
        """
        import numpy as np

        self._flush()
        if not self._of_batches:
            return []
        ordinals = np.concatenate([batch[0] for batch in self._of_batches])
        lengths = np.concatenate([batch[2] for batch in self._of_batches])
        _, firsts = np.unique(keys, return_index=True)
        is_first = np.zeros(len(keys), bool)
        is_first[firsts] = True
        counts = is_first[ordinals]
        ordinals, lengths = ordinals[counts], lengths[counts]
        found = [
            _neighbours(np.concatenate([batch[1][band] for batch in self._of_batches])[counts], ordinals)
            for band in range(_BANDS)
        ]
        self._of_batches = []
        candidates = np.unique(np.concatenate(found), axis=0)
        chosen = np.unique(candidates)
        places = np.searchsorted(ordinals, chosen)
        sizes = dict(zip(chosen.tolist(), lengths[places].tolist(), strict=True))
        best: dict[int, tuple[float, int]] = {}
        for later, earlier, similarity in self._compared(candidates, sizes, read):
            if (-similarity, earlier) < best.get(later, (0.0, 0)) and similarity > 0:
                best[later] = (-similarity, earlier)
        return [(later, earlier, -negative) for later, (negative, earlier) in sorted(best.items())]

    def _judged(self, a: tuple[_Codes, _Codes], b: tuple[_Codes, _Codes]) -> float:
        """How alike two texts are; 0 where that is not enough."""
        similarity = _share(a[0], b[0])
        both = len(_common(a[1], b[1]))
        replaced = both < min(len(a[1]), len(b[1]))
        return similarity if similarity >= (self._other_words if replaced else self._similarity) else 0.0

    def _compared(
        self, candidates: Any, sizes: Mapping[int, int], read: Callable[[], Iterator[tuple[int, str]]]
    ) -> Iterator[Pair]:
        """Candidates with their similarity; the texts are read as often as not all of these can be held."""
        import numpy as np

        done = 0
        while done < len(candidates):
            taken, size = done, 0
            while taken < len(candidates) and (size < _MOST_HELD or taken == done):
                size += sum(sizes[number] for number in candidates[taken].tolist())
                taken += 1
            wanted = set(np.unique(candidates[done:taken]).tolist())
            held: dict[int, tuple[_Codes, _Codes]] = {}
            for ordinal, text in read():
                if ordinal in wanted:
                    codes = np.array([self._codes[word] for word in flat_words(text)], np.uint64)
                    held[ordinal] = (np.unique(_runs(codes)[: 1 - _RUN]), np.unique(codes))
                    if len(held) == len(wanted):
                        break
            for later, earlier in candidates[done:taken].tolist():
                yield later, earlier, self._judged(held[later], held[earlier])
            done = taken


class _WordCodes(dict[str, int]):
    """A code for each word, the same in every run; those of the first words are kept."""

    def __missing__(self, word: str) -> int:
        code = crc32(word.encode("utf-8", "surrogatepass"))
        if len(self) < _MOST_WORDS:
            self[word] = code
        return code


_MOST_WORDS = 200_000


def _runs(words: _Codes) -> _Codes:
    """A code for each run of words, by where it begins; those at the end run into what is beyond."""
    import numpy as np

    found = words
    for ahead in range(1, _RUN):
        found = _mixed(found) ^ np.roll(words, -ahead)
    return _mixed(found)


def _mixed(codes: _Codes) -> _Codes:
    import numpy as np

    codes = codes * np.uint64(0x9E3779B97F4A7C15)
    return codes ^ (codes >> np.uint64(29))


def _neighbours(band: _Codes, ordinals: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of the texts that meet in a band, each with the first and with the one before it: rows of (later, earlier)."""
    import numpy as np

    order = np.argsort(band, kind="stable")
    same = band[order[1:]] == band[order[:-1]]
    later, before = order[1:][same], order[:-1][same]
    starts = np.flatnonzero(np.concatenate(([True], ~same)))
    place = np.flatnonzero(np.concatenate(([False], same)))
    first = order[starts[np.searchsorted(starts, place, side="right") - 1]]
    pairs = np.concatenate((np.stack((later, before), 1), np.stack((later, first), 1)))
    return np.unique(ordinals[pairs], axis=0)


def _common(a: _Codes, b: _Codes) -> _Codes:
    import numpy as np

    return np.intersect1d(a, b, assume_unique=True)


def _share(a: _Codes, b: _Codes) -> float:
    both = len(_common(a, b))
    return both / (len(a) + len(b) - both)
