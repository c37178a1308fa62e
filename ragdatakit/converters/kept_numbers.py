"""Numbers as they are written in files, which the scanner keeps, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.scanner.library import called, needed_library

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.scanner.blocks import KeptValues


def numbers_of(kept: KeptValues, first: int, last: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """The numbers of some rows as floats, 0 where there is none, and which rows have none. Raises `ScannerError`."""
    places = np.ascontiguousarray(kept.offsets[first : last + 1], np.int64)
    values = np.zeros(last - first, np.float64)
    given = (kept.data, len(kept.data), places.ctypes.data, len(values))
    called(needed_library().rd_numbers(*given, values.ctypes.data))
    return values, np.flatnonzero(np.diff(places) == 0)
