"""Numbers as they are written in files, which the scanner keeps, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragdatakit.scanner.blocks import KeptValues

if TYPE_CHECKING:
    import numpy.typing as npt

_MOST_WRITTEN, _POINT = 15, (ord(".") - ord("0")) % 256
"""Characters of a decimal whose digits a float holds exactly, and what a point is, less a zero."""


def numbers_of(kept: KeptValues, first: int, last: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The numbers of some rows as floats, and which rows have none."""
    places = kept.offsets[first : last + 1]
    lengths = np.diff(places)
    values, is_left = np.zeros(last - first, np.float64), lengths > 0
    data = np.frombuffer(kept.data, np.uint8)
    for size in np.flatnonzero(np.bincount(lengths[lengths <= _MOST_WRITTEN], minlength=1)[1:]) + 1:
        rows = np.flatnonzero(lengths == size)
        starts = places[rows]
        _put_decimals([data[starts + at] - np.uint8(ord("0")) for at in range(size)], rows, values, is_left)
    if left := np.flatnonzero(is_left).tolist():
        written = places.tolist()
        values[left] = _floats(b",".join(kept.data[written[row] : written[row + 1]] for row in left))
    return values, np.flatnonzero(lengths == 0)


def _put_decimals(
    digits: list[npt.NDArray[np.uint8]],
    rows: npt.NDArray[np.int64],
    values: npt.NDArray[np.float64],
    is_left: npt.NDArray[np.bool_],
) -> None:
    """Put decimals of one length, given character by character (less a zero), into the values of these rows. Digits and
    the power of ten are exact, so that their quotient is the float that is nearest."""
    size, are_digits = len(digits), [digit <= 9 for digit in digits]
    for point in (*range(1, size - 1), size):
        found = digits[point] == _POINT if point < size else np.ones(len(rows), np.bool_)
        others = [place for place in range(size) if place != point]
        for place in others:
            found &= are_digits[place]
        if not found.any():
            continue
        number = digits[others[0]].astype(np.float64)
        for place in others[1:]:
            number *= 10
            number += digits[place]
        number /= 10.0 ** max(size - 1 - point, 0)
        values[rows[found]], is_left[rows[found]] = number[found], False
        if found.all():
            break


def _floats(listed: bytes) -> Any:
    """Numbers as Python reads them, which are written between commas."""
    if b"-0" not in listed:  # which is no float there
        try:
            return orjson.loads(b"[%b]" % listed)
        except ValueError:  # a number that no float holds
            pass
    return [float(value) for value in listed.split(b",")]
