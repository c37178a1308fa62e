"""The keys of one partition compared: what repeats, what leads nowhere, what nothing names, of all groups of files."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ragdatakit.arrays.keys import NumpyConsistency
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.validators.partitions.capped import ITEM_BITS, CappedIndex, FileRows, capped, chosen
from ragdatakit.validators.partitions.key_runs import Column, Run, RunBatch
from ragdatakit.validators.partitions.known_keys import Question, question_of
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.set_plan import SetPlan
from ragdatakit.validators.sets import SetChecks, meant_field

Section = tuple[int, ...]
"""Where problems belong in the order of the report: the group, then what of it (see `_Partition`)."""
PROBES, REPEATS, COVERAGE, COMPARISON = range(4)


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """The runs of a group of files by kind, in the order in which they are read, with their columns, and what is known
    of the kinds; ``files`` are the first rows of the files of a kind. The ``plan`` has the set checks that are to be
    made."""

    plan: SetPlan
    split: str | None
    kinds: tuple[str, ...]
    columns: dict[str, tuple[Column, ...]]
    runs: dict[str, list[Run]]
    files: dict[str, list[int]]
    unreliable: frozenset[str]
    partial: frozenset[str]


@dataclass(frozen=True, slots=True)
class KeyJob:
    """What partitions are compared by, the same for all of them. ``scratch`` is the folder of what they find. Of a file
    no more than ``most`` problems of a rule can be shown (0: all): the others are only counted."""

    scratch: str
    most: int
    groups: tuple[GroupKeys, ...]

    def sets(self, group: GroupKeys) -> SetChecks:
        """Set checks that have no keys yet."""
        found = SetChecks(
            group.plan,
            group.split,
            set(group.kinds),
            lambda *key: CappedIndex(key[2], self.most, FileRows(group.files.get(key[0], []))),
            NumpyConsistency,
        )
        found.unreliable, found.partial = set(group.unreliable), set(group.partial)
        return found


@dataclass(slots=True)
class Verdicts:
    """What one partition has: by section and run the part of the file ``path`` with its problems, and how many more
    there are by file; the kinds that are missed or were not checked, by group; for each key, how many records of a file
    repeat records of another. Files go by their numbers among those of the kind."""

    path: str
    pieces: dict[tuple[Section, int], tuple[int, int]] = field(default_factory=dict)
    more: dict[Section, Counter[tuple[Question, int]]] = field(default_factory=dict)
    missed: list[set[str]] = field(default_factory=list)
    unchecked: list[set[str]] = field(default_factory=list)
    repeats: dict[tuple[Section, Question], Counter[tuple[int, int]]] = field(default_factory=dict)


def reduce_keys(job: KeyJob, partition: int) -> Verdicts:
    """Compare the keys of a partition."""
    path = Path(job.scratch) / f"verdicts-{partition}"
    with path.open("wb") as file:
        return _Partition(job, partition, Verdicts(str(path)), file).compare()


class _Partition:
    def __init__(self, job: KeyJob, partition: int, verdicts: Verdicts, file: Any) -> None:
        self._job, self._partition, self._found, self._file = job, partition, verdicts, file
        self._bases: dict[tuple[int, str], Any] = {}

    def compare(self) -> Verdicts:
        """What there is, group by group."""
        done: list[SetChecks] = []
        for number, group in enumerate(self._job.groups):
            sets = self._job.sets(group)
            for order, kind in enumerate(group.kinds):
                runs = group.runs.get(kind, [])
                self._bases[number, kind] = np.array([run.first_row for run in runs], np.int64)
                for which, run in enumerate(runs):
                    batch = RunBatch(group.columns[kind], run, self._partition)
                    self._keep_of_run((number, PROBES, order), which, sets.probe(kind, batch))
                    sets.absorb(kind, batch)
                self._keep((number, REPEATS, order), self._with_items(sets, sets.freeze(kind)))
                self._count_copies((number, REPEATS, order), sets, kind)
            self._keep((number, COVERAGE), sets.finish())
            for other, earlier in enumerate(done):
                self._keep((number, COMPARISON, other), sets.compare(earlier))
            done.append(sets)
            self._found.missed.append(sets.missed)
            self._found.unchecked.append(sets.unchecked)
        return self._found

    def _with_items(self, sets: SetChecks, found: Iterable[RowProblems]) -> Iterator[RowProblems]:
        """Repeats with the number of the item in its list, and names that disagree with their number in the record: by
        it those of one row are in order."""
        for one in found:
            if not one.is_repeat:
                one.values = one.rows & ((1 << ITEM_BITS) - 1)
                one.rows, one.firsts = one.rows >> ITEM_BITS, one.firsts >> ITEM_BITS
            for key in sets.plan.keys if one.is_repeat else ():
                if (key.rule, key.kind, key.fields[-1]) == question_of(one):
                    one.values = sets.indexes[key.kind, key.fields].repeated_items()
            yield one

    def _keep_of_run(self, section: Section, run: int, found: Iterable[RowProblems]) -> None:
        """Write down problems of one run, at places."""
        those = []
        for one in found:
            one.are_keys, one.rows = None, np.asarray(one.rows, np.int64)
            those.append(one)
        if those:
            self._write(section, run, those)

    def _keep(self, section: Section, found: Iterable[RowProblems]) -> None:
        """Write down problems at rows, those of each run by themselves."""
        by_run: dict[int, list[RowProblems]] = {}
        for one in found:
            files = self._files(section, one.kind)
            one.rows = np.asarray(one.rows, np.int64)
            if one.is_repeat:
                self._count_repeats(section, question_of(one), files.of(one.rows), files.of(one.firsts))
            bases = self._bases[section[0], one.kind]
            cuts = [0, *np.searchsorted(one.rows, bases[1:]).tolist(), len(one.rows)]
            for run, (start, end) in enumerate(pairwise(cuts)):
                if start < end:
                    few, more = capped(one.part(start, end), files, self._job.most)
                    by_run.setdefault(run, []).append(few)
                    self._count(section, question_of(one), more)
        for run, those in by_run.items():
            self._write(section, run, those)

    def _files(self, section: Section, kind: str) -> FileRows:
        return FileRows(self._job.groups[section[0]].files.get(kind, []))

    def _count(self, section: Section, question: Question, more: Mapping[int, int]) -> None:
        counts = self._found.more.setdefault(section, Counter())
        for file, number in more.items():
            counts[question, file] += number

    def _count_repeats(self, section: Section, question: Question, files: Any, firsts: Any, numbers: Any = 1) -> None:
        """Of the records of these files so many repeat a record of those."""
        pairs, where = np.unique((files << 32) | firsts, return_inverse=True)
        totals = np.bincount(where, np.broadcast_to(numbers, len(where))).astype(np.int64)
        counts = self._found.repeats.setdefault((section, question), Counter())
        for pair, number in zip(pairs.tolist(), totals.tolist(), strict=True):
            counts[pair >> 32, pair & 0xFFFFFFFF] += number

    def _count_copies(self, section: Section, sets: SetChecks, kind: str) -> None:
        """The copies of keys that indexes have only counted."""
        for key in sets.plan.keys:
            if key.kind == kind and (copies := sets.indexes[kind, key.fields].uncounted()) is not None:
                files, firsts, numbers = copies
                question = key.rule, kind, key.fields[-1]
                self._count_repeats(section, question, files, firsts, numbers)
                for file, number in zip(files.tolist(), numbers.tolist(), strict=True):
                    self._count(section, question, {file: number})

    def _write(self, section: Section, run: int, those: list[RowProblems]) -> None:
        start = self._file.tell()
        pickle.dump(those, self._file, 5)
        self._found.pieces[section, run] = start, self._file.tell()


@dataclass(frozen=True, slots=True)
class Hits:
    """Where the problems of one run are that belong to a section, of all partitions."""

    section: Section
    run: int
    pieces: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """The problems of a run that may be shown, and by question and file how many more there are."""

    problems: list[RowProblems]
    more: Counter[tuple[Question, int]]


def probe_range(job: KeyJob, hits: Hits) -> Shown:
    """The problems of a run, as if its keys had been looked up together."""
    found: dict[Question, list[RowProblems]] = {}
    for path, start, end in hits.pieces:
        with Path(path).open("rb") as file:
            file.seek(start)
            for one in pickle.loads(file.read(end - start)):  # noqa: S301 - our own
                found.setdefault(question_of(one), []).append(one)
    group = job.groups[hits.section[0]]
    by_item = hits.section[1] == REPEATS
    those = [_together(found[question], by_item) for question in _questions(group.plan) if question in found]
    shown = Shown([], Counter())
    for one in _known(group.plan, those) if hits.section[1] == PROBES else those:
        few, more = capped(one, FileRows(group.files.get(one.kind, [])), job.most)
        shown.problems.append(few)
        shown.more.update({(question_of(one), file): number for file, number in more.items()})
    return shown


def _questions(plan: SetPlan) -> list[Question]:
    """In the order in which they are asked."""
    asked: list[Question] = [(ref.rule, ref.kind, ref.field) for ref in plan.references]
    asked += [(member.rule, member.kind, member.fields[1]) for member in plan.memberships]
    asked += [(key.rule, key.kind, key.fields[-1]) for key in plan.keys]
    asked += [(same.rule, same.kind, meant_field(*same.names[0])) for same in plan.consistencies]
    asked += [(variant.rule, variant.kind, variant.fields[0]) for variant in plan.variants]
    asked += [(cover.rule, cover.kind, cover.field) for cover in plan.coverages]
    asked += [(apart.rule, apart.kind, apart.field) for apart in plan.disjoints]
    asked += [(same.rule, same.kind, name) for same in plan.agreements for name, _ in same.names]
    return list(dict.fromkeys(asked))


def _together(those: Sequence[RowProblems], by_item: bool) -> RowProblems:
    """The problems of all partitions, in the order of their rows, and in that of the items that are their values."""
    rows = np.concatenate([one.rows for one in those])
    order = np.argsort(rows, kind="stable")
    if by_item:
        order = np.lexsort((np.concatenate([one.values for one in those]), rows))
    values, firsts = (
        None if columns[0] is None else np.concatenate(columns)[order]
        for columns in ([one.values for one in those], [one.firsts for one in those])
    )
    return replace(those[0], rows=rows[order], values=None if by_item else values, firsts=firsts)


def _known(plan: SetPlan, those: list[RowProblems]) -> list[RowProblems]:
    """The same at rows; a row whose reference dangles is not said to have none of the items of a list, too."""
    members = {(m.rule, m.kind, m.fields[1]) for m in plan.memberships if m.within}
    references = {(ref.rule, ref.kind, ref.field) for ref in plan.references}
    for one in those:
        one.rows = one.rows >> ITEM_BITS
    dangling = [one.rows for one in those if question_of(one) in references]
    found = []
    for one in those:
        if dangling and question_of(one) in members:
            one = chosen(one, np.flatnonzero(~np.isin(one.rows, np.concatenate(dangling))))
        if len(one.rows):
            found.append(one)
    return found
