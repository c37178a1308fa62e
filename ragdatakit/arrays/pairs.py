"""Pairs of integers that are asked for: which documents are listed for a query."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import Codes, Rows, mix
from ragdatakit.scanner.keys import IntegerPairs

_PLACES = 4
"""Numbers for each pair up to which the first ones are spread over where a table by them is small: it has twice four
bytes for each while it is made."""


class PairIndex:
    """The pairs of two columns of integers, of which is asked no more than whether they are there."""

    def __init__(self) -> None:
        self._chunks: list[tuple[Codes, Codes]] = []
        self._finder: IntegerPairs | HashTable | None = None

    def add(self, firsts: Codes, seconds: Codes, rows: Any) -> None:
        """Take in pairs, whichever ``rows`` they are in."""
        self._chunks.append((firsts, seconds))

    def freeze(self) -> None:
        """No more pairs come: make ready for look-ups."""
        none = np.empty(0, np.uint64)
        firsts, seconds = (np.concatenate(column) for column in zip((none, none), *self._chunks, strict=True))
        self._chunks = []
        self._finder = IntegerPairs.of(firsts, seconds, max(_PLACES * len(firsts), 1 << 20))
        if self._finder is None:
            self._finder = HashTable(mix(firsts, seconds))

    def find(self, firsts: Codes, seconds: Codes) -> npt.NDArray[np.bool_]:
        """Whether each of these pairs is there."""
        if isinstance(self._finder, IntegerPairs):
            return self._finder.are_there(firsts, seconds)
        assert self._finder is not None
        found: npt.NDArray[np.bool_] = self._finder.positions(mix(firsts, seconds)) >= 0
        return found

    def missing(self, found: npt.NDArray[np.bool_]) -> Rows:
        """Which of the pairs looked up are not there."""
        return np.flatnonzero(~found)

    def present(self, found: npt.NDArray[np.bool_]) -> Rows:
        """Which of the pairs looked up are there."""
        return np.flatnonzero(found)
