"""The words of many texts as numbers, made at once by the compiled library, or in numpy: what `flat_words` shows word
by word takes five times as long as that.

A code is the sum of the numbers that eight bytes of a word each are, times a power for their place. Codes are the same
in every run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.files.texts.flat_text import flat_bytes, flat_character
from ragdatakit.scanner.texts import FoldedCharacters, Joined, word_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

    Codes = npt.NDArray[np.uint64]

RUN = 3
"""Words of a run, by which texts are compared."""
DIGITS = 1
"""The bit of a code that says whether the word has a digit."""
_TURN, _ALL = np.uint64(21), np.uint64(64)
"""Bits by which the code of a word is turned for each word behind it in a run, of so many."""
_CHUNK = 1 << 17
"""Bytes that are looked at together: what is made of them fits the cache. A longer word is cut."""
_BLANK = 0x20
# Both are odd, so that multiplying loses no bit; the power of the base is the place of eight bytes in their word.
_BASE = 0xD6E8FEB86659FD93
_MIXER = 0x9E3779B97F4A7C15
MADE_WITH = (_BASE, _MIXER)
_WORD_BYTES = bytes(
    code | 0x20 if 0x41 <= code <= 0x5A else code if code >= 0x80 or chr(code).isalnum() else _BLANK
    for code in range(256)
)


def word_codes(texts: Sequence[str]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """The codes of the words of all texts, one after the other, and how many words each text has."""
    found = word_numbers(Joined.of(texts), characters(), MADE_WITH)
    if found is None:
        return in_numpy(texts)
    codes, counts = found
    left = np.flatnonzero(counts < 0)
    if len(left):
        others, counts[left] = in_numpy([texts[place] for place in left.tolist()])
        of_left = np.zeros(len(texts), bool)
        of_left[left] = True
        of_left = np.repeat(of_left, counts)
        known, codes = codes, np.empty(len(of_left), np.uint64)
        codes[of_left], codes[~of_left] = others, known
    return codes, counts


def runs(codes: Codes, counts: npt.NDArray[np.int64]) -> Codes:
    """The codes of runs of words, none over the end of a text, of those of the words of texts, which have so many."""
    found = codes
    for ahead in range(1, RUN):
        further = codes[ahead:]
        before = found[: len(further)]
        found = (before << _TURN | before >> (_ALL - _TURN)) ^ further
    if len(counts) > 1:  # runs that begin at the end of a text reach into the next one
        last = np.arange(RUN - 1, RUN - 1 + len(found))
        found = found[last < np.repeat(np.cumsum(counts), counts)[: len(found)]]
    return found


@cache
def characters() -> FoldedCharacters:
    """What the library knows of characters."""
    return FoldedCharacters(_word_bytes)


def _word_bytes(character: str) -> bytes | None:
    flat = flat_character(character)
    return flat.translate(_WORD_BYTES) if flat is not None else None


def in_numpy(texts: Sequence[str]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """The same as `word_codes`, without the library."""
    pieces = [flat_bytes(text) for text in texts]
    joined = b" ".join((b"", *pieces, b"")).translate(_WORD_BYTES)
    begins = np.cumsum(np.fromiter(map(len, pieces), np.int64, len(pieces)) + 1)
    codes: list[Codes] = []
    starts: list[npt.NDArray[np.int64]] = [np.zeros(0, np.int64)]
    for first, chunk in _chunks(joined):
        found, start = _codes(np.frombuffer(chunk, np.uint8))
        codes.append(found)
        starts.append(start + first)
    ends = np.searchsorted(np.concatenate(starts), begins)
    together = np.concatenate(codes) if codes else np.zeros(0, np.uint64)
    return together, np.diff(ends, prepend=0)


def mixed(codes: Codes) -> Codes:
    """Numbers that are spread over all bits."""
    codes = codes * np.uint64(_MIXER)
    return codes ^ (codes >> np.uint64(29))


def _chunks(joined: bytes) -> Iterator[tuple[int, bytes]]:
    """Parts that end at a blank and begin with one, with the place of that."""
    place = 0
    while place < len(joined) - 1:
        end = len(joined)
        if end > place + _CHUNK:
            blank = joined.rfind(b" ", place + 1, place + _CHUNK)
            end = blank + 1 if blank > 0 else place + _CHUNK
        chunk = joined[place:end]
        yield place, chunk if chunk[-1] == _BLANK else chunk + b" "
        place = end - 1 if chunk[-1] == _BLANK else end


def _codes(data: npt.NDArray[np.uint8]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Codes of the words of a chunk, and where they begin."""
    letter = data != _BLANK
    edges = np.flatnonzero(letter[1:] != letter[:-1]) + 1
    if len(data) and letter[0]:  # of a word that was cut
        edges = np.concatenate((np.zeros(1, np.int64), edges))
    start, end = edges[0::2], edges[1::2]
    if not len(start):
        return np.zeros(0, np.uint64), start
    lengths = end - start
    first = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) - np.repeat(first, lengths)
    codes = mixed(np.add.reduceat(data[letter] * _powers()[places], first))
    codes &= ~np.uint64(DIGITS)
    digits = np.flatnonzero((data - np.uint8(0x30)) < 10)
    codes[np.searchsorted(start, digits, "right") - 1] |= np.uint64(DIGITS)
    return codes, start


@cache
def _powers() -> Codes:
    """What each byte of a word is taken times, by its place."""
    factors = np.full(_CHUNK // 8 + 1, _BASE, np.uint64)
    factors[0] = 1
    of_bytes = np.uint64(1) << np.arange(0, 64, 8, dtype=np.uint64)
    powers: Codes = np.multiply.accumulate(factors)
    return (powers[:, np.newaxis] * of_bytes).reshape(-1)
