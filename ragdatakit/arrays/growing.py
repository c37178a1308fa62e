"""An array that is made of parts as they come."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


class GrowingArray:
    """Integers of 32 bits. What is there is moved each time that the array has doubled: to join all parts at the end
    would take as much memory again, in one thread."""

    def __init__(self) -> None:
        self._held = np.empty(0, np.int32)
        self._length = 0

    def extend(self, part: npt.NDArray[np.int32]) -> None:
        """Put these behind the others."""
        end = self._length + len(part)
        if end > len(self._held):
            larger = np.empty(max(end, 2 * len(self._held)), np.int32)
            larger[: self._length] = self.whole
            self._held = larger
        self._held[self._length : end] = part
        self._length = end

    @property
    def whole(self) -> npt.NDArray[np.int32]:
        """All of them, as a view."""
        return self._held[: self._length]
