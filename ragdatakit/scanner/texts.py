"""Tokens and scripts of texts, counted by the compiled library, and numbers of their words."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import ScannerError, library

Numbers = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


def tokens_and_scripts(
    data: Bytes, offsets: npt.NDArray[np.int32], kinds: Bytes, learn: Callable[[int], None], rules: tuple[int, int, int]
) -> tuple[Numbers, Bytes] | None:
    """The tokens and the script of each of the texts that are one behind the other in ``data``, between these offsets;
    None where there is no library.

    ``kinds`` says what each character is; ``learn`` adds one that it does not know. ``rules`` are the characters that a
    token has at most, and the scripts of kana and Han. Raises `ScannerError`.
    """
    found = library()
    if found is None:
        return None
    count = len(offsets) - 1
    held = np.ascontiguousarray(offsets, np.int32)
    tokens, scripts = np.zeros(count, np.int64), np.zeros(count, np.uint8)
    reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
    given = (kinds.ctypes.data, len(kinds), *rules, data.ctypes.data, len(data), held.ctypes.data, count)
    written = (tokens.ctypes.data, scripts.ctypes.data, reached, unknown)
    while True:
        _called(found.rd_text_numbers(*given, *written))
        if reached.value == count:
            return tokens, scripts
        learn(unknown.value)


class FoldedCharacters:
    """What characters beyond ASCII become where words are compared; `learn` asks ``folded`` for it: None of those that
    are not folded by themselves."""

    _UNKNOWN, _ODD = 0xFFFFFFFF, 0xFFFFFFFE
    _MOST, _AT_ONCE = 0x40000, 128

    def __init__(self, folded: Callable[[str], bytes | None]) -> None:
        self._folded = folded
        self.places = np.full(self._MOST, self._UNKNOWN, np.uint32)
        self.texts = bytearray()

    def learn(self, code: int) -> None:
        """Say of a character, and of those around it, what they become."""
        first = code // self._AT_ONCE * self._AT_ONCE
        for each in range(first, first + self._AT_ONCE):
            text = self._folded(chr(each))
            self.places[each] = self._ODD if text is None else len(self.texts)
            self.texts += b"" if text is None else bytes([len(text)]) + text


def word_numbers(
    texts: Sequence[bytes], characters: FoldedCharacters, made_with: tuple[int, int]
) -> tuple[npt.NDArray[np.uint64], Numbers] | None:
    """The numbers of the words of texts, one after the other, and how many each text has: -1 where Python has to make
    them. None where there is no library. ``made_with`` are the base and the mixer. Raises `ScannerError`."""
    found = library()
    ends = np.cumsum([0, *map(len, texts)])
    if found is None or ends[-1] >= 1 << 31:
        return None
    data, offsets = b"".join(texts), ends.astype(np.int32)
    codes, counts = np.empty(len(data) // 2 + len(texts), np.uint64), np.zeros(len(texts), np.int64)
    reached, unknown = ctypes.c_uint64(), ctypes.c_uint64()
    while True:
        folded = bytes(characters.texts)
        given = (characters.places.ctypes.data, len(characters.places), folded, len(folded), *made_with)
        texts_given = (data, len(data), offsets.ctypes.data, len(texts))
        written = (codes.ctypes.data, len(codes), counts.ctypes.data, reached, unknown)
        _called(found.rd_text_words(*given, *texts_given, *written))
        if reached.value == len(texts):
            return codes[: counts[counts > 0].sum()], counts
        characters.learn(unknown.value)


def _called(status: int) -> None:
    if status:
        raise ScannerError(f"the scanner failed ({status})")
