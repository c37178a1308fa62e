"""Keys of some records, cut into partitions by their codes: written where records are judged, read a partition at a
time by whoever compares the keys of all records."""

from __future__ import annotations

import os
import pickle
import secrets
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import Codes, Rows, first_words, mix
from ragdatakit.arrays.keys import NumpyBatch, NumpyConsistency
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.partitions.capped import ITEM_BITS
from ragdatakit.validators.partitions.packing import Packed, packed, unpacked
from ragdatakit.validators.set_plan import NO_CHECKS, SetPlan

Column = tuple[Any, ...]
"""What is asked of a batch: a word, and the fields (for pairs: names, values, what a missing value counts as)."""
_Arrays = tuple[npt.NDArray[Any], ...]
_SAMPLE = 1 << 12
"""Of so many pairs, of all those of a run, none repeats where most are unique."""


def columns_of(plan: SetPlan, kind: str, known: SetPlan | None = None) -> list[Column]:
    """What the set checks of a plan ask of records of a kind, without those that look up ``known`` keys."""
    near = known or NO_CHECKS
    found: dict[Column, None] = {}
    indexed = [("codes", fields) for of_kind, fields in plan.indexed if of_kind == kind]
    references = [("codes", (r.field,)) for r in plan.references if r.kind == kind and r not in near.references]
    covering = [
        ("codes", (f,)) for c in plan.coverages if c not in near.coverages for by_kind, f in c.by if by_kind == kind
    ]
    found.update(dict.fromkeys([*indexed, *references, *covering]))
    found.update({("heads", fields): None for of_kind, fields in plan.headed if of_kind == kind})
    for member in plan.memberships:
        if member.kind == kind and member not in near.memberships:
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
    """Keys of consecutive records of a kind: the file they are in, how many each column has, and (once it is known) the
    row of the first record. The file begins with where each partition begins in it."""

    path: str
    sizes: tuple[int, ...]
    first_row: int = 0

    def piece(self, partition: int) -> list[Packed]:
        """What each column has in a partition."""
        with open(self.path, "rb") as file:  # noqa: PTH123 - thousands of times
            start, end = np.frombuffer(os.pread(file.fileno(), 16, 8 * partition), np.uint64).tolist()
            file.seek(start)
            found: list[Packed] = pickle.loads(file.read(end - start))  # noqa: S301 - our own
            return found


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
    sizes: tuple[int, ...]
    keyless: KeylessRows = field(default_factory=KeylessRows)

    def write(self, path: Path) -> Run:
        """Write it; who does so once more gives the same file."""
        unfinished = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        bounds = np.cumsum([8 * (len(self.pieces) + 1), *map(len, self.pieces)], dtype=np.uint64)
        with unfinished.open("wb") as file:
            file.write(bounds.tobytes())
            file.writelines(self.pieces)
        unfinished.replace(path)
        return Run(str(path), self.sizes)


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Which keys of a kind are gathered: the columns, the fields whose keys lie in the partition of the first of them,
    and the field by which references name records."""

    columns: tuple[Column, ...]
    by_heads: frozenset[tuple[str, ...]]
    named: str | None
    partitions: int

    @classmethod
    def of(cls, plan: SetPlan, kind: str, partitions: int, known: SetPlan | None = None) -> RunPlan:
        """Those that the checks of a plan need, where the keys of some of them are ``known``."""
        columns = tuple(columns_of(plan, kind, known))
        return cls(columns, frozenset(_by_heads(plan, kind)), plan.named.get(kind), partitions)


class RunWriter:
    """Gathers the keys of records of a kind."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._parts: list[list[_Arrays]] = [[] for _ in plan.columns]
        self._keyless = KeylessRows()
        self.length = 0

    def add(self, batch: NumpyBatch, base: int) -> None:
        """The next records, of which ``base`` is the row of the first, counted from that of the run."""
        batch.first_row = 0
        for column, parts in zip(self._plan.columns, self._parts, strict=True):
            heads, rows, *values = self._of(column, batch)
            those = np.arange(rows.start, rows.stop) if isinstance(rows, range) else rows
            of_others = (heads,) if self._lies_elsewhere(column) else ()
            parts.append(((those + base).astype(np.int32), *values, *of_others))
        if self._plan.named:
            self._keyless.add([row + base for row in batch.without(self._plan.named)])
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
            return names, rows, names, values, *((_items(rows),) if len(fields) > 1 else ())
        codes, rows = batch.codes(fields)
        more = (_items(rows),) if fields[-1] in batch.lists else ()
        return self._head(fields, batch, codes, rows), rows, codes, *more

    def _lies_elsewhere(self, column: Column) -> bool:
        """Whether keys lie in the partition of another code."""
        return column[0] in ("codes", "same") and column[1] in self._plan.by_heads

    def _head(self, fields: tuple[str, ...], batch: NumpyBatch, codes: Codes, rows: Any) -> Codes:
        if fields not in self._plan.by_heads:
            return codes
        head: Codes = batch.columns[fields[0]]
        return head if isinstance(rows, range) else head[rows]

    def packed(self) -> PackedKeys:
        """All of them, cut into partitions; what comes next is another run."""
        parts, self._parts = self._parts[::-1], [[] for _ in self._plan.columns]
        # each column is freed when it is cut
        cut = [self._cut(column, parts.pop()) for column in self._plan.columns]
        pieces = [pickle.dumps([of[number] for _, of in cut], 5) for number in range(self._plan.partitions)]
        found = PackedKeys(pieces, tuple(size for size, _ in cut), self._keyless)
        self._keyless, self.length = KeylessRows(), 0
        return found

    def _cut(self, column: Column, parts: list[_Arrays]) -> tuple[int, list[Packed]]:
        """How many keys a column has, and those of each partition, in the order of the records."""
        if not parts:
            return 0, [()] * self._plan.partitions
        rows, *values = (np.concatenate(each) for each in zip(*parts, strict=True))
        heads = values[0]
        if self._lies_elsewhere(column):
            *values, heads = values
        if column[0] in ("pairs", "spellings"):
            rows, *values = _each_once(rows, *values)
            heads = values[0]
        return len(rows), list(packed(heads, rows, values, self._plan.partitions))


def _each_once(rows: Rows, names: Codes, values: Codes, *items: npt.NDArray[np.int32]) -> _Arrays:
    """Of pairs that are there several times the first: the others say nothing new."""
    if not _may_repeat(names):
        return rows, names, values, *items
    codes = mix(names, values)
    firsts = np.flatnonzero(HashTable(codes).positions(codes) == np.arange(len(codes)))
    return rows[firsts], names[firsts], values[firsts], *(each[firsts] for each in items)


def _may_repeat(codes: Codes) -> bool:
    """Whether some keys are there very often, or several times in a row."""
    words = first_words(codes)
    for sample in (words[:_SAMPLE], words[:: max(len(words) // _SAMPLE, 1)]):
        ordered = np.sort(sample)
        if np.any(ordered[1:] == ordered[:-1]):
            return True
    return False


def _items(rows: Rows) -> npt.NDArray[np.int32]:
    """Of the items of lists, or several names, given the rows they are in: the number of each in its row."""
    if not len(rows):
        return np.empty(0, np.int32)
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = rows[1:] != rows[:-1]
    firsts = np.flatnonzero(is_first)
    numbers: npt.NDArray[np.int32] = (np.arange(len(rows)) - firsts[np.cumsum(is_first) - 1]).astype(np.int32)
    return numbers


class RunBatch:
    """The keys of a run that are in one partition, as a batch. All rows are places: the row, and the number of the item
    in its list, or of the name in its record."""

    def __init__(self, columns: Sequence[Column], run: Run, partition: int) -> None:
        self._packed = dict(zip(columns, run.piece(partition), strict=True))
        self._first_row = run.first_row
        self.columns: dict[str, Any] = {}
        self.found: dict[str, Any] = {}

    def codes(self, fields: tuple[str, ...]) -> tuple[Codes, Rows]:
        """As that of `NumpyBatch`."""
        found, (codes, *items) = self._of(("codes", fields))
        return codes, _places(found, items)

    def _of(self, column: Column) -> tuple[Rows, list[Any]]:
        """Rows, and what belongs to each."""
        if not self._packed[column]:
            return np.empty(0, np.int64), [np.empty(0, np.uint64)]
        rows, values = unpacked(self._packed[column])
        return rows + self._first_row, values

    def without(self, field: str) -> list[int]:
        """They are reported by who wrote the run."""
        return []

    def heads(self, fields: tuple[str, ...]) -> tuple[Codes, Rows]:
        """As that of `NumpyBatch`."""
        rows, values = self._of(("heads", fields))
        return values[0], rows << ITEM_BITS

    def also_equal(self, found: Any, fields: tuple[str, ...], other: str) -> Any:
        """As that of `NumpyBatch`."""
        equal = np.flatnonzero(self._of(("same", fields, other))[1][0])
        return np.union1d(np.asarray(found, np.int64), equal) if len(equal) else found

    def give_pairs(self, store: NumpyConsistency, names: Sequence[tuple[str, str]], default: Any) -> None:
        """As that of `NumpyBatch`."""
        self._give(store, "pairs", tuple((name, value, default) for name, value in names))

    def give_spellings(self, store: NumpyConsistency, fields: tuple[str, ...]) -> None:
        """As that of `NumpyBatch`."""
        self._give(store, "spellings", fields)

    def _give(self, store: NumpyConsistency, what: str, fields: tuple[Any, ...]) -> None:
        """Names and what each is given, in the order of the records, to where they are compared."""
        rows, found = self._of((what, fields))
        if len(rows):
            names, values, *items = found
            store.add(names, values, _places(rows, items))


def _places(rows: Rows, items: Sequence[npt.NDArray[np.uint64]]) -> Rows:
    found = rows << ITEM_BITS
    if items:
        found += items[0].view(np.int64)
    return found
