"""Numbers in memory of the compiled library, copied: the next scan overwrites them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.uint64]

WIDE = np.dtype([("first", np.uint64), ("second", np.uint64)])
"""A code of a text: 128 bits, in two words."""


def numbers(view: Any) -> Numbers:
    """Those that a view shows."""
    length = view.length
    found = np.empty(length, np.uint64)
    if length:  # an array of ctypes at its place would be of a new type for each length, which takes ten times as long
        ctypes.memmove(found.ctypes.data, view.start, 8 * length)
    return found


def wide_codes(view: Any) -> npt.NDArray[Any]:
    """The same, two for each code."""
    return numbers(view).view(WIDE)
