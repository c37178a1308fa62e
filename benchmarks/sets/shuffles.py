"""A shuffle that is computed, not stored: it orders 80 million rows without a table of 80 million numbers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Integers: TypeAlias = NDArray[np.int64]

ROUNDS = 3


class Shuffle:
    """A fixed pseudo-random permutation of ``0 … size-1``.

    Multiplying by an odd number and shifted xor are both one-to-one on k-bit numbers; results beyond ``size`` are
    put through again until they fall inside, which keeps it one-to-one.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.bits = max(4, (size - 1).bit_length())
        random = np.random.default_rng(seed)
        mask = (1 << self.bits) - 1
        self.factors = [int(f) | 1 for f in random.integers(1 << (self.bits - 1), mask, ROUNDS)]
        self.additions = [int(a) for a in random.integers(0, mask, ROUNDS)]

    def at(self, positions: Integers) -> Integers:
        """What stands at these positions."""
        values = self._mix(positions)
        outside = np.flatnonzero(values >= self.size)
        while len(outside):
            values[outside] = self._mix(values[outside])
            outside = outside[values[outside] >= self.size]
        return values

    def _mix(self, values: Integers) -> Integers:
        mask, half = (1 << self.bits) - 1, self.bits // 2
        for factor, addition in zip(self.factors, self.additions, strict=True):
            values = (values * factor + addition) & mask
            values ^= values >> half
        return values
