"""An array that is made of parts as they come."""

from __future__ import annotations

import mmap
import os

import numpy as np
import numpy.typing as npt

_FIRST = 1 << 20
_WIDTH = 4


class GrowingArray:
    """Integers of 32 bits, in pages to which the system adds more. To join all parts at the end would take as much
    memory again, in one thread; and the heap would keep what it is given back each time that it grows."""

    def __init__(self) -> None:
        self._pages = _new_pages(_FIRST)
        self._length = 0

    def extend(self, part: npt.NDArray[np.int32]) -> None:
        """Put these behind the others."""
        end = self._length + len(part)
        if end * _WIDTH > len(self._pages):
            self._grow(max(end * _WIDTH, 2 * len(self._pages)))
        begin, self._length = self._length, end
        self.whole[begin:] = part

    def _grow(self, size: int) -> None:
        try:
            self._pages.resize(size)
        except (BufferError, SystemError):  # somebody looks at them; the system cannot
            larger = _new_pages(size)
            larger[: len(self._pages)] = memoryview(self._pages)
            self._pages = larger

    @property
    def whole(self) -> npt.NDArray[np.int32]:
        """All of them, as a view."""
        # numpy itself keeps no hold of the pages, which could then be moved
        return np.frombuffer(memoryview(self._pages), np.int32, self._length)


def _new_pages(size: int) -> mmap.mmap:
    # those that processes may share cannot be added to
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE) if os.name == "posix" else mmap.mmap(-1, size)
