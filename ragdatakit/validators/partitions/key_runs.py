"""Keys of some records, cut into partitions by their codes: written where records are judged, read a partition at a
time by whoever compares the keys of all records."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import Codes, Rows, first_words
from ragdatakit.arrays.keys import NumpyBatch
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.set_plan import SetPlan

Column = tuple[Any, ...]
"""What is asked of a batch: a word, and the fields (for pairs: names, values, what a missing value counts as)."""
_Arrays = tuple[npt.NDArray[Any], ...]
_ODD_1, _ODD_2 = np.uint64(0xD6E8FEB86659FD93), np.uint64(0xC2B2AE3D27D4EB4F)
"""Other factors than tables of codes have: the codes of a partition have to be all over such a table."""
ITEM_BITS = 24
"""Of a place: the number of the item in its record; above them is the row."""


def columns_of(plan: SetPlan, kind: str) -> list[Column]:
    """What the set checks ask of records of a kind."""
    found: dict[Column, None] = {}
    indexed = [("codes", fields) for of_kind, fields in plan.indexed() if of_kind == kind]
    references = [("codes", (ref.field,)) for ref in plan.references if ref.kind == kind]
    covering = [("codes", (f,)) for cover in plan.coverages for by_kind, f in cover.by if by_kind == kind]
    found.update(dict.fromkeys([*indexed, *references, *covering]))
    found.update({("heads", fields): None for of_kind, fields in plan.headed() if of_kind == kind})
    for member in plan.memberships:
        if member.kind == kind:
            found["codes", member.fields] = found["codes", member.fields[:1]] = None
            if member.same_as:
                found["same", member.fields, member.same_as] = None
    for same in plan.consistencies:
        if same.kind == kind:
            found["pairs", tuple((name, value, same.default) for name, value in same.names)] = None
    for variant in plan.variants:
        if variant.kind == kind:
            found["spellings", variant.fields] = None
    return list(found)


def _by_heads(plan: SetPlan, kind: str) -> set[tuple[str, ...]]:
    """The fields whose keys lie in the partition of the first field: they are compared along with it."""
    of_kind = [(m.kind, m.fields) for m in plan.memberships] + [(m.to_kind, m.to_fields) for m in plan.memberships]
    of_kind += [(same.kind, pair) for same in plan.agreements for pair in same.names]
    return {fields for name, fields in of_kind if name == kind}


@dataclass(frozen=True, slots=True)
class Run:
    """Keys of consecutive records of a kind: the file they are in, where each partition begins there, and (once it is
    known) the row of the first record."""

    path: str
    bounds: tuple[int, ...]
    first_row: int = 0


@dataclass(slots=True)
class KeylessRows:
    """Of rows whose key cannot be relied on: how many there are, and the first."""

    count: int = 0
    first: int = -1

    def add(self, rows: Sequence[int]) -> None:
        """Some more of them, in their order."""
        if rows:
            self.first = min(rows[0], self.first) if self.count else rows[0]
            self.count += len(rows)


@dataclass(slots=True)
class PackedKeys:
    """A run that is still to be written, one piece after the other."""

    pieces: list[bytes]
    bounds: tuple[int, ...]
    keyless: KeylessRows = field(default_factory=KeylessRows)

    def write(self, path: Path) -> None:
        """Write it; who does so once more gives the same file."""
        unfinished = path.with_name(f"{path.name}.{np.random.default_rng().integers(1 << 62):x}")
        with unfinished.open("wb") as file:
            file.writelines(self.pieces)
        unfinished.replace(path)


class RunWriter:
    """Gathers the keys of records of a kind."""

    def __init__(self, plan: SetPlan, kind: str, partitions: int) -> None:
        self._columns = columns_of(plan, kind)
        self._by_heads = _by_heads(plan, kind)
        self._named = plan.named.get(kind)
        self._partitions = partitions
        self._parts: list[list[_Arrays]] = [[] for _ in self._columns]
        self._keyless = KeylessRows()
        self.length = 0

    def add(self, batch: NumpyBatch, base: int) -> None:
        """The next records, of which ``base`` is the row of the first, counted from that of the run."""
        batch.first_row = 0
        for column, parts in zip(self._columns, self._parts, strict=True):
            heads, rows, *values = self._of(column, batch)
            those = np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows
            parts.append((heads, (those + base).astype(np.int32), *values))
        if self._named:
            self._keyless.add([row + base for row in batch.without(self._named)])
        self.length = base + batch.length

    def _of(self, column: Column, batch: NumpyBatch) -> tuple[Any, ...]:
        """The codes by which a column is cut into partitions, their rows, and what belongs to each."""
        what, fields = column[:2]
        if what == "same":  # whether the other field has the value, too: a number, as everything that is kept
            codes, rows = batch.codes(fields)
            equal = np.zeros(len(codes), np.bool_)
            equal[batch.also_equal(np.empty(0, np.int64), fields, column[2])] = True
            return self._head(fields, batch, codes, rows), rows, equal
        if what == "heads":
            codes, rows = batch.heads(fields)
            return codes, rows, codes
        if what in ("pairs", "spellings"):
            triples = [batch.pairs(*one) if what == "pairs" else batch.spellings(one) for one in fields]
            names, values, rows = batch.interleaved(triples)
            return names, rows, names, values
        codes, rows = batch.codes(fields)
        more = (_items(rows),) if fields[-1] in batch.lists else ()
        return self._head(fields, batch, codes, rows), rows, codes, *more

    def _head(self, fields: tuple[str, ...], batch: NumpyBatch, codes: Codes, rows: Any) -> Codes:
        if fields not in self._by_heads:
            return codes
        head: Codes = batch.columns[fields[0]]
        return head if isinstance(rows, range) else head[rows]

    def packed(self) -> PackedKeys:
        """All of them, cut into partitions; what comes next is another run."""
        parts, self._parts = self._parts[::-1], [[] for _ in self._columns]
        cut = [self._cut(parts.pop()) for _ in self._columns]  # each column is freed when it is cut
        pieces = [pickle.dumps([of[number] for of in cut], 5) for number in range(self._partitions)]
        bounds = np.cumsum([0, *map(len, pieces)]).tolist()
        found = PackedKeys(pieces, tuple(bounds), self._keyless)
        self._keyless, self.length = KeylessRows(), 0
        return found

    def _cut(self, parts: list[_Arrays]) -> list[_Arrays]:
        """The arrays of each partition, in the order of the records."""
        if not parts:
            return [()] * self._partitions
        heads, *arrays = (np.concatenate(each) for each in zip(*parts, strict=True))
        if self._partitions == 1:
            return [tuple(arrays)]
        numbers = partition_of(heads, self._partitions)
        order = np.argsort(numbers, kind="stable")
        ends = np.searchsorted(numbers[order], np.arange(self._partitions + 1))
        arrays = [array[order] for array in arrays]
        return [tuple(array[start:end] for array in arrays) for start, end in pairwise(ends.tolist())]


def partition_of(codes: Codes, partitions: int) -> npt.NDArray[np.uint16]:
    """The partition of each code, of a number that is a power of two."""
    bits = partitions.bit_length() - 1
    if not bits:
        return np.zeros(len(codes), np.uint16)
    stirred = first_words(codes) * _ODD_1
    stirred ^= stirred >> np.uint64(32)
    return ((stirred * _ODD_2) >> np.uint64(64 - bits)).astype(np.uint16)


def _items(rows: Rows) -> npt.NDArray[np.int32]:
    """Of the items of lists, given the rows they are in: the number of each in its row."""
    if not len(rows):
        return np.empty(0, np.int32)
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = rows[1:] != rows[:-1]
    firsts = np.flatnonzero(is_first)
    numbers: npt.NDArray[np.int32] = (np.arange(len(rows)) - firsts[np.cumsum(is_first) - 1]).astype(np.int32)
    return numbers


class RunBatch:
    """The keys of a run that are in one partition, as a batch: of `probe` or (``absorbed``) of `absorb`. To `probe`
    rows are places: the row, and the number of the item in its list."""

    def __init__(self, columns: list[Column], run: Run, partition: int) -> None:
        start, end = run.bounds[partition : partition + 2]
        with open(run.path, "rb") as file:  # noqa: PTH123 - thousands of times
            file.seek(start)
            self._arrays = dict(zip(columns, pickle.loads(file.read(end - start)), strict=True))  # noqa: S301 - our own
        self._first_row = run.first_row
        self.columns: dict[str, Any] = {}
        self.found: dict[str, Any] = {}
        self.absorbed = False

    def codes(self, fields: tuple[str, ...]) -> tuple[Codes, Rows]:
        """As that of `NumpyBatch`."""
        rows, codes, *items = self._of(("codes", fields))
        found: Rows = rows.astype(np.int64) + self._first_row
        if not self.absorbed:
            found <<= ITEM_BITS
            if items:
                found += items[0]
        return codes, found

    def _of(self, column: Column) -> _Arrays:
        return self._arrays[column] or _NOTHING

    def without(self, field: str) -> list[int]:
        """They are reported by who wrote the run."""
        return []

    def heads(self, fields: tuple[str, ...]) -> tuple[Codes, Rows]:
        """As that of `NumpyBatch`."""
        rows, codes = self._of(("heads", fields))[:2]
        return codes, rows.astype(np.int64) + self._first_row

    def also_equal(self, found: Any, fields: tuple[str, ...], other: str) -> Any:
        """As that of `NumpyBatch`."""
        equal = np.flatnonzero(self._of(("same", fields, other))[1])
        return np.union1d(np.asarray(found, np.int64), equal) if len(equal) else found

    def pairs(self, *names: Any) -> tuple[Any, ...]:
        """Which pairs are meant."""
        return "pairs", names

    def spellings(self, field: str) -> tuple[Any, ...]:
        """Which column is meant."""
        return "spellings", field

    def interleaved(self, columns: list[tuple[Any, ...]]) -> tuple[Codes, Codes, Rows]:
        """Names and what each is given, in the order of the records."""
        arrays = self._arrays[columns[0][0], tuple(fields for _, fields in columns)]
        rows, names, values = arrays if arrays else (*_NOTHING[:2], _NOTHING[1])
        return names, values, rows.astype(np.int64) + self._first_row


_NOTHING: _Arrays = (np.empty(0, np.int32), np.empty(0, np.uint64))
