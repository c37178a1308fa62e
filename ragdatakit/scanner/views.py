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
    if not view.length:
        return np.empty(0, np.uint64)
    source = (ctypes.c_uint64 * view.length).from_address(view.start)
    return np.frombuffer(source, np.uint64).copy()


def wide_codes(view: Any) -> npt.NDArray[Any]:
    """The same, two for each code."""
    return numbers(view).view(WIDE)
