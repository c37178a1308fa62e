"""Tokens and scripts of texts, counted by the compiled library."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

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
    given: tuple[Any, ...] = (
        kinds.ctypes.data,
        len(kinds),
        *rules,
        data.ctypes.data,
        len(data),
        held.ctypes.data,
        count,
    )
    written = (tokens.ctypes.data, scripts.ctypes.data, reached, unknown)
    while True:
        if status := found.rd_text_numbers(*given, *written):
            raise ScannerError(f"the scanner failed ({status})")
        if reached.value == count:
            return tokens, scripts
        learn(unknown.value)
