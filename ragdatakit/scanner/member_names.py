"""The names of members of JSON objects, counted by the compiled library."""

from __future__ import annotations

import ctypes
import weakref
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ragdatakit.scanner.library import View, called, needed_library
from ragdatakit.scanner.views import numbers


class MemberNames:
    """Counts objects by the names of their members. Raises `ScannerError` where there is no library."""

    def __init__(self) -> None:
        self._library = found = needed_library()
        self._address = found.rd_names_new()
        weakref.finalize(self, found.rd_names_free, self._address).atexit = False
        self.different = 0
        """How many names there are."""

    def add(self, data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """Count the names in the objects that are one behind the other in ``data``, between these offsets; of which it
        was done. Texts that are no objects have none, and the others are not proved to be JSON."""
        places = np.ascontiguousarray(offsets, np.int32)
        proved, different = np.zeros(len(places) - 1, np.uint8), ctypes.c_uint64()
        given = (data.ctypes.data, len(data), places.ctypes.data, len(proved))
        called(self._library.rd_names_add(self._address, *given, proved.ctypes.data, different))
        self.different = different.value
        return proved.view(np.bool_)

    def compact(
        self, data: bytes, offsets: npt.NDArray[np.int64]
    ) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.int64]] | None:
        """Objects that are one behind the other in ``data``, between these offsets, without the blanks between their
        parts, the offsets of these, and the rows that have no members; None where one is not proved to be JSON."""
        places, number = np.ascontiguousarray(offsets, np.int64), len(offsets) - 1
        found, ends, states = np.empty(len(data), np.uint8), np.zeros(number + 1, np.int64), np.empty(number, np.uint8)
        written = (found.ctypes.data, ends[1:].ctypes.data, states.ctypes.data)
        called(self._library.rd_names_compact(self._address, data, len(data), places.ctypes.data, number, *written))
        return (found[: ends[-1]].tobytes(), ends, np.flatnonzero(states == 2)) if states.all() else None

    def counts(self) -> dict[str, int]:
        """How many objects have each name."""
        views = (View * 3)()
        called(self._library.rd_names_show(self._address, views))
        ends, counts, data = views
        written = ctypes.string_at(data.start, data.length) if data.length else b""
        names = (written[start:end].decode() for start, end in pairwise([0, *numbers(ends).tolist()]))
        return dict(zip(names, numbers(counts).tolist(), strict=True))
