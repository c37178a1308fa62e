"""Arrays of keys in as few bytes as they need, cut into partitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import WIDE, Codes, Rows, first_words, narrowed

Packed = tuple[Any, ...]
"""Of a partition: the first row, by how much each row is greater than the one before, and what belongs to each."""
_ODD_1, _ODD_2 = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xC2B2AE3D27D4EB4F)
"""Other factors than tables of codes have: the codes of a partition have to be all over such a table."""


def partition_of(codes: Codes, partitions: int) -> npt.NDArray[np.uint16]:
    """The partition of each code, of a number that is a power of two."""
    bits = partitions.bit_length() - 1
    if not bits:
        return np.zeros(len(codes), np.uint16)
    stirred = first_words(codes) * _ODD_1
    stirred ^= stirred >> np.uint64(32)
    return ((stirred * _ODD_2) >> np.uint64(64 - bits)).astype(np.uint16)


def packed(heads: Codes, rows: Rows, values: list[Any], partitions: int) -> Iterator[Packed]:
    """Rows in their order, with the codes or numbers that belong to each, cut by ``heads``; wide codes are narrowed."""
    columns = [_thin(each) for each in values]
    ends = np.array([0, len(rows)])
    if partitions > 1:
        numbers = partition_of(heads, partitions)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(partitions + 1))
        rows, columns = rows[order], [tuple(words[order] for words in each) for each in columns]
    steps = np.diff(rows, prepend=rows[:1])
    steps[ends[:-1][ends[:-1] < ends[1:]]] = 0
    steps = _small(steps)
    for start, end in pairwise(ends.tolist()):
        cut = [tuple(words[start:end] for words in each) for each in columns]
        yield (int(rows[start]), steps[start:end], *cut) if start < end else ()


def unpacked(found: Packed) -> tuple[Rows, list[Any]]:
    """Rows, and what belongs to each: codes, numbers as ``uint64``, or truth values."""
    first, steps, *columns = found
    return np.cumsum(steps, dtype=np.int64) + first, [_full(*words) for words in columns]


def _thin(values: Any) -> tuple[Any, ...]:
    """The words of codes, or numbers, none of which is below 0."""
    if values.dtype == WIDE:
        narrow = narrowed(values)
        return np.ascontiguousarray(narrow["first"]), narrow["second"].astype(np.uint32)
    return (values if values.dtype == np.bool_ else _small(values),)


def _full(first: Any, *second: Any) -> Any:
    if not second:
        return first if first.dtype == np.bool_ else first.astype(np.uint64)
    codes = np.empty(len(first), WIDE)
    codes["first"], codes["second"] = first, *second
    return codes


def _small(numbers: Any) -> Any:
    """The numbers in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max()))) if len(numbers) else numbers
