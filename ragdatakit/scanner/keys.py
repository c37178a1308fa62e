"""Look-ups of key codes by the compiled library, in arrays that belong to the caller."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import ScannerError, library

Codes = npt.NDArray[np.uint64]


def table_bits(count: int) -> int:
    """So many bits number the slots of a table for ``count`` codes: at most three quarters of it are filled."""
    return max((4 * count // 3).bit_length(), 4)


def new_table(words: Codes, width: int) -> npt.NDArray[np.uint64] | None:
    """A table of codes of so many ``words`` each, to which it points; None where there is no library."""
    if library() is None:
        return None
    bits = table_bits(len(words) // width)
    slots = np.zeros(1 << bits, np.uint64)
    _call("rd_table_fill", slots.ctypes.data, bits, words.ctypes.data, len(words), width)
    return slots


def find_in_table(slots: npt.NDArray[np.uint64], words: Codes, asked: Codes, width: int) -> npt.NDArray[np.int32]:
    """The position of each code that is ``asked`` for among those (``words``) of which the table is, -1 where it is
    none."""
    count = len(asked) // width
    found = np.empty(count, np.int32)
    bits = len(slots).bit_length() - 1
    _call(
        "rd_table_find",
        *(slots.ctypes.data, bits, words.ctypes.data, len(words), width, asked.ctypes.data, count, found.ctypes.data),
    )
    return found


def find_ranks(ranks: npt.NDArray[np.int32], least: int, codes: Codes) -> npt.NDArray[np.int32] | None:
    """The entry of ``ranks`` for each integer, counted from ``least``; its last one for those that are out of range."""
    if library() is None:
        return None
    held = np.ascontiguousarray(codes)
    found = np.empty(len(held), np.int32)
    _call("rd_rank_find", ranks.ctypes.data, len(ranks), least, held.ctypes.data, len(held), found.ctypes.data)
    return found


def count_in_sieve(places: npt.NDArray[np.uint8], words: Codes, width: int) -> bool:
    """Count codes of so many words by their leading bits, up to 2; False where there is no library."""
    if library() is None:
        return False
    _call("rd_sieve", places.ctypes.data, len(places), words.ctypes.data, len(words), width)
    return True


def _call(name: str, *arguments: Any) -> None:
    found = library()
    if status := getattr(found, name)(*arguments):
        raise ScannerError(f"the scanner failed ({name}: {status})")
