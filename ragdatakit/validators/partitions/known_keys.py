"""Keys that are few enough for every worker to look them up where it reads what refers to them: only what it misses,
and which of them it has met, comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable, RankTable
from ragdatakit.arrays.codes import WIDE, Codes, Rows, narrowed
from ragdatakit.arrays.keys import Marks, NumpyIndex
from ragdatakit.arrays.mapped import read_mapped, write_mapped
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.partitions.key_runs import Column, Run
from ragdatakit.validators.partitions.packing import unpacked
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.set_plan import NO_CHECKS, IndexKey, SetPlan
from ragdatakit.validators.sets import SetChecks

_BYTES_OF_KEY = 32
"""Of memory, about, for a code, its row and its place in a table: 20 of integers without gaps, at most 48."""
_PLACES = 8
"""Of a table of ranks for each integer, which then takes no more."""
Question = tuple[str, str, str]
"""A rule, a kind and a field."""


def question_of(one: RowProblems) -> Question:
    """What these problems answer."""
    return one.rule, one.kind, one.field


def bytes_of_keys(count: int) -> int:
    """What so many known keys take, about."""
    return _BYTES_OF_KEY * count


class KnownIndex(NumpyIndex):
    """An index of codes that were narrowed; it answers look-ups only. To others it goes without the ``rows``."""

    def __init__(self, codes: Codes, rows: Rows | None) -> None:
        super().__init__(True, False)
        ranks = RankTable.of(codes, _PLACES) if codes.dtype != WIDE else None
        self._finder = ranks if ranks is not None else HashTable(codes)
        self._count, self._codes, self._key_rows = len(codes), codes, rows

    @property
    def bytes(self) -> int:
        """What it takes."""
        arrays = (*vars(self._finder).values(), self._key_rows, self._codes)
        return sum({id(array): array.nbytes for array in arrays if isinstance(array, np.ndarray)}.values())

    def to_others(self) -> KnownIndex:
        """What others need of it."""
        other = KnownIndex.__new__(KnownIndex)
        other._finder, other._count = self._finder, self._count
        return other

    def find_as(self, other: KnownIndex) -> None:
        """Have what another one has that is alike."""
        self._finder = other._finder
        if isinstance(self._finder, HashTable):
            self._codes = self._finder.codes

    def find(self, codes: Codes) -> npt.NDArray[np.int32]:
        """As that of `NumpyIndex`, of codes that were not narrowed."""
        assert self._finder is not None
        return self._finder.positions(narrowed(codes))

    def are_keys(self, texts: Sequence[str]) -> list[bool]:
        """As that of `NumpyIndex`."""
        return (self.find(codes_of_texts(texts)) >= 0).tolist() if texts else []

    def new_marks(self) -> Marks:
        """As that of `NumpyIndex`."""
        return np.zeros(self._count + 1, np.bool_)

    def unmarked(self, marks: Marks) -> Rows:
        """As that of `NumpyIndex`."""
        assert self._finder is not None
        assert self._key_rows is not None
        where = np.flatnonzero(~marks[:-1])
        found: Rows = self._key_rows[where[self._finder.positions(self._codes[where]) == where]]
        return found


def all_of(columns: Sequence[Column], runs: Sequence[Run], column: Column, partitions: int) -> tuple[Codes, Rows]:
    """The keys of a column in all partitions of runs, in the order of their rows."""

    def parts() -> Iterator[tuple[Rows, Codes]]:
        place = list(columns).index(column)
        for run in runs:
            pieces = [unpacked(piece) for n in range(partitions) if (piece := run.piece(n)[place])]
            if pieces:
                rows = np.concatenate([rows for rows, _ in pieces])
                order = np.argsort(rows, kind="stable")
                yield rows[order] + run.first_row, np.concatenate([values[0] for _, values in pieces])[order]

    found = list(parts())
    if not found:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    return np.concatenate([codes for _, codes in found]), np.concatenate([rows for rows, _ in found])


@dataclass(frozen=True, slots=True)
class KnownKeys:
    """What references of a kind are looked up in: the checks of it that can be made so, and the indexes, or the files
    that have them. Of a rule no more than ``most`` problems of a range are of interest (0: all)."""

    plan: SetPlan
    indexes: Mapping[IndexKey, KnownIndex | str]
    heads: Mapping[IndexKey, KnownIndex | str]
    unreliable: frozenset[str]
    most: int

    def checks(self, split: str | None, kinds: frozenset[str]) -> SetChecks:
        """Set checks that probe."""
        found = SetChecks(self.plan, split, set(kinds), lambda *key: None)
        found.indexes = {key: _opened(index) for key, index in self.indexes.items()}
        found.heads = {key: _opened(index) for key, index in self.heads.items()}
        found.marks = {one: found.indexes[one.kind, (one.field,)].new_marks() for one in self.plan.coverages}
        found.unreliable = set(self.unreliable)
        return found


def _opened(index: KnownIndex | str) -> KnownIndex:
    return _read(index) if isinstance(index, str) else index


_held: dict[str, KnownIndex] = {}
"""By their files: a file that is held takes room on the disk, though it was removed."""


def _read(path: str) -> KnownIndex:
    found = _held.get(path)
    if found is None:
        if any(Path(other).parent != Path(path).parent for other in [*_held]):  # of another dataset: it is done
            forget()
        found = read_mapped(Path(path))
        _held[path] = found
    return found


def forget() -> None:
    """Hold no indexes of files any more."""
    _held.clear()


def written(index: KnownIndex, path: Path) -> str:
    """The file that has an index, for others; who has it finds keys there, too, so that it is in memory once."""
    write_mapped(path, index.to_others())
    index.find_as(_read(str(path)))
    return str(path)


def rules_of(plan: SetPlan, kind: str) -> set[str]:
    """Those of the references and memberships of a kind."""
    return {ref.rule for ref in plan.references if ref.kind == kind} | {
        member.rule for member in plan.memberships if member.kind == kind
    }


def answered(
    plan: SetPlan, kind: str, known: set[IndexKey], unreliable: Container[str], late: Container[str] = ()
) -> SetPlan:
    """The references and memberships of a kind that can be looked up in the ``known`` keys, or need not be: those of a
    rule together, and memberships, which say nothing of rows whose reference dangles, with all references. Problems of
    rules that are ``late`` are reported at the end already, so that others of them cannot be reported before."""

    def is_there(to_kind: str, fields: tuple[str, ...]) -> bool:
        return to_kind in unreliable or (to_kind, fields) in known

    references = tuple(ref for ref in plan.references if ref.kind == kind)
    memberships = tuple(member for member in plan.memberships if member.kind == kind)
    far = {ref.rule for ref in references if ref.rule in late or not is_there(ref.to_kind, (ref.to_field,))}
    far_members = [m for m in memberships if m.rule in late or not is_there(m.to_kind, m.to_fields)]
    if memberships and (far or far_members):
        return NO_CHECKS
    return replace(
        NO_CHECKS, references=tuple(ref for ref in references if ref.rule not in far), memberships=memberships
    )


@dataclass(slots=True)
class Probed:
    """What look-ups of a range gave: problems at rows, counted from its first record, and by question how many more
    there are; which keys were met, by the number of the coverage; the kinds that were missed or not looked up."""

    problems: list[RowProblems] = field(default_factory=list)
    more: Counter[Question] = field(default_factory=Counter)
    marks: list[npt.NDArray[Any]] = field(default_factory=list)
    missed: set[str] = field(default_factory=set)
    unchecked: set[str] = field(default_factory=set)

    def take(self, found: Sequence[RowProblems], base: int, most: int) -> None:
        """Problems of records, of which ``base`` is the number of the first."""
        for one in found:
            one.rows, one.are_keys = np.asarray(one.rows, np.int64) + base, None
            room = max(most - self._kept(question_of(one)), 0) if most else len(one.rows)
            if len(one.rows) > room:
                self.more[question_of(one)] += len(one.rows) - room
                one = one.part(0, room)
            if len(one.rows):
                values = None if one.values is None else one.values.copy()  # a view would hold all of an array
                self.problems.append(replace(one, rows=one.rows.copy(), values=values))

    def _kept(self, question: Question) -> int:
        return sum(len(one.rows) for one in self.problems if question_of(one) == question)

    def end(self, sets: SetChecks) -> None:
        """What the checks remember after the last record."""
        self.missed, self.unchecked = sets.missed, sets.unchecked
        self.marks = [_few(marks) for marks in sets.marks.values()]


def _few(marks: Marks) -> npt.NDArray[Any]:
    """Marks as bits, or, where that is less, as the numbers of those that are set."""
    if 32 * np.count_nonzero(marks[:-1]) < len(marks):
        return np.flatnonzero(marks[:-1]).astype(np.uint32)
    return np.packbits(marks[:-1])


def add_marks(marks: Marks, more: npt.NDArray[Any]) -> None:
    """Set those that a range has set."""
    if more.dtype == np.uint32:
        marks[more] = True
    else:
        marks[:-1] |= np.unpackbits(more, count=len(marks) - 1).view(np.bool_)
