"""Numbers in memory of the compiled library, copied: the next scan overwrites them."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]

WIDE = np.dtype([("first", np.uint64), ("second", np.uint64)])
"""A code of a text: 128 bits, in two words."""


def numbers(view: Any, before: int = 0) -> Numbers:
    """Those that a view shows, behind so many zeros."""
    length = view.length
    found = np.empty(before + length, np.uint64)
    if before:
        found[:before] = 0
    if length:  # an array of ctypes at its place would be of a new type for each length, which takes ten times as long
        ctypes.memmove(found.ctypes.data + 8 * before, view.start, 8 * length)
    return found


def held_bytes(data: Any) -> npt.NDArray[np.uint8]:
    """Those of any buffer, or of none (None), which the library is given the address of."""
    return np.frombuffer(data, np.uint8) if data is not None and len(data) else np.empty(0, np.uint8)


def offsets_of(sizes: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Between which places values of these sizes are that stand one behind the other."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))


def zeros(count: int) -> npt.NDArray[np.int64]:
    """So many zeros, not to be written to: others have the same ones."""
    return _zeros(count.bit_length())[:count]


def in_order(count: int) -> npt.NDArray[np.int64]:
    """So many integers from 0 on, not to be written to."""
    return _in_order(count.bit_length())[:count]


@cache
def _zeros(bits: int) -> npt.NDArray[np.int64]:
    return _shared(np.zeros(1 << bits, np.int64))


@cache
def _in_order(bits: int) -> npt.NDArray[np.int64]:
    return _shared(np.arange(1 << bits))


def _shared(held: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    held.flags.writeable = False
    return held


def wide_codes(view: Any) -> npt.NDArray[Any]:
    """The same, two for each code."""
    return numbers(view).view(WIDE)
