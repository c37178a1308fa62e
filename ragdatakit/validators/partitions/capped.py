"""No more problems of a rule than may be shown; of the others how many there are in each file."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ragdatakit.arrays.codes import Codes, Rows, first_of_each, first_words
from ragdatakit.arrays.keys import NumpyIndex
from ragdatakit.validators.row_problems import RowProblems

ITEM_BITS = 24
"""Of a place: the number of the item in its record; above them is the row."""
_SAMPLE = 1 << 12
"""Of so many keys, of all those of a run, none repeats where most are unique."""


class FileRows:
    """The files of a kind, by their first rows."""

    def __init__(self, first_rows: list[int]) -> None:
        self._first_rows = np.array(first_rows or [0], np.int64)

    def of(self, rows: Any) -> Rows:
        """The number of the file that has each row: of empty files and the one behind them, that one."""
        return np.searchsorted(self._first_rows, np.asarray(rows, np.int64), "right") - 1

    def cuts(self, rows: Rows) -> list[tuple[int, int, int]]:
        """Which of these rows, in order, are of which file: its number, the first and the end."""
        first, last = self.of(rows[[0, -1]]).tolist()
        ends = np.searchsorted(rows, self._first_rows[first + 1 : last + 1]).tolist()
        return [(file, *pair) for file, pair in enumerate(pairwise([0, *ends, len(rows)]), first)]


def capped(one: RowProblems, files: FileRows, most: int) -> tuple[RowProblems, dict[int, int]]:
    """The first ``most`` problems of each file (0: all), and how many more each has."""
    if not most or len(one.rows) <= most:
        return one, {}
    cuts = files.cuts(one.rows)
    more = {file: end - start - most for file, start, end in cuts if end - start > most}
    where = np.concatenate([np.arange(start, min(end, start + most)) for _, start, end in cuts])
    return (chosen(one, where), more) if more else (one, more)


def chosen(one: RowProblems, where: Any) -> RowProblems:
    """Some of the problems."""
    rows, values, firsts = (
        None if column is None else np.asarray(column)[where] for column in (one.rows, one.values, one.firsts)
    )
    return replace(one, rows=rows, values=values, firsts=firsts)


class CappedIndex(NumpyIndex):
    """An index of keys at places. Of a key that a run has very often it holds the first records of each file, one more
    than ``most`` (0: all), and counts the others: they can only be repeats that nobody will see."""

    def __init__(self, lookups: bool, most: int, files: FileRows) -> None:
        super().__init__(lookups, False)
        self._most, self._files = most, files
        self._repeated = np.empty(0, np.int64)
        self._counted: list[tuple[Rows, Rows]] = []

    def add(self, codes: Codes, rows: Any) -> None:
        """Take in keys at the places ``rows``."""
        if self._most and _has_copies(codes) and _is_one_each(rows >> ITEM_BITS):
            codes, rows = self._held(codes, rows)
        super().add(codes, rows)

    def _keep_repeats(self, later: Rows, earlier: Rows) -> None:
        super()._keep_repeats(later, earlier)
        self._repeated = self._rows.at(later[self._rows_at(later) != self._rows_at(earlier)])

    def _rows_at(self, positions: Rows) -> Rows:
        return self._rows.at(positions) >> ITEM_BITS

    def repeated_items(self) -> Rows:
        """The numbers of the items, in their lists, that make a record one that repeats another."""
        return self._repeated & ((1 << ITEM_BITS) - 1)

    def _held(self, codes: Codes, rows: Rows) -> tuple[Codes, Rows]:
        _, numbers = first_of_each(codes, self._files.of(rows >> ITEM_BITS).view(np.uint64))
        order = np.argsort(numbers, kind="stable")
        sizes = np.bincount(numbers)
        starts = np.cumsum(sizes) - sizes
        ranks = np.empty(len(codes), np.int64)
        ranks[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
        often = np.flatnonzero(sizes > self._most + 1)
        if len(often):
            lasts = order[starts[often] + self._most]
            self._counted.append((rows[lasts], sizes[often] - self._most - 1))
        where = np.flatnonzero(ranks <= self._most)
        return codes[where], rows[where]

    def uncounted(self) -> tuple[Rows, Rows, Rows] | None:
        """What was not held, once all is frozen: files, those of the records that are repeated, and how many."""
        if not self._counted:
            return None
        lasts, numbers = (np.concatenate(column) for column in zip(*self._counted, strict=True))
        firsts = self.repeats()[1][np.searchsorted(self._repeated, lasts)]
        return self._files.of(lasts >> ITEM_BITS), self._files.of(firsts), numbers


def _is_one_each(rows: Rows) -> bool:
    """Whether no row is there twice."""
    return bool(np.all(rows[1:] > rows[:-1]))


def _has_copies(codes: Codes) -> bool:
    """Whether some keys are there very often."""
    if len(codes) < _SAMPLE:
        return False
    sample = np.sort(first_words(codes)[:: len(codes) // _SAMPLE])
    return bool(np.any(sample[1:] == sample[:-1]))
