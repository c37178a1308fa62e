"""The keys of one partition compared: what repeats, what leads nowhere, what nothing names, of all groups of files."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ragdatakit.arrays.keys import NumpyConsistency, NumpyIndex
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Format
from ragdatakit.validators.partitions.key_runs import ITEM_BITS, Run, RunBatch, columns_of
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.set_plan import SetPlan
from ragdatakit.validators.sets import SetChecks, meant_field

Section = tuple[int, ...]
"""Where problems belong in the order of the report: the group, then what of it (see `_Partition`)."""
PROBES, REPEATS, COVERAGE, COMPARISON = range(4)
Question = tuple[str, str, str]
"""A rule, a kind and a field."""


@dataclass(frozen=True, slots=True)
class GroupKeys:
    """The runs of a group of files by kind, in the order in which they are read, and what is known of the kinds."""

    split: str | None
    kinds: tuple[str, ...]
    runs: dict[str, list[Run]]
    unreliable: frozenset[str]
    partial: frozenset[str]


@dataclass(frozen=True, slots=True)
class KeyJob:
    """What partitions are compared by, the same for all of them: set checks of the ``rules`` of a format. ``scratch``
    is the folder of what they find."""

    format: Format
    rules: frozenset[str]
    several: bool
    scratch: str
    groups: tuple[GroupKeys, ...]

    def sets(self, group: GroupKeys) -> SetChecks:
        """Set checks that have no keys yet."""
        kinds, wanted = set(group.kinds), self.rules.__contains__
        found = SetChecks(
            self.format,
            group.split,
            kinds,
            wanted,
            self.several,
            lambda *key: NumpyIndex(key[2], False),
            NumpyConsistency,
        )
        found.unreliable, found.partial = set(group.unreliable), set(group.partial)
        return found


@dataclass(slots=True)
class Verdicts:
    """What one partition has: by section and run the part of the file ``path`` with its problems; the kinds that are
    missed or were not checked, by group; for each key, how many records of a run repeat records of another."""

    path: str
    pieces: dict[tuple[Section, int], tuple[int, int]] = field(default_factory=dict)
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
                columns = columns_of(sets.plan, kind)
                runs = group.runs.get(kind, [])
                self._bases[number, kind] = np.array([run.first_row for run in runs], np.int64)
                for run in runs:
                    batch = RunBatch(columns, run, self._partition)
                    self._keep((number, PROBES, order), _at_rows(sets.probe(kind, batch)))
                    batch.absorbed = True
                    sets.absorb(kind, batch)
                self._keep((number, REPEATS, order), sets.freeze(kind))
            self._keep((number, COVERAGE), sets.finish())
            for other, earlier in enumerate(done):
                self._keep((number, COMPARISON, other), sets.compare(earlier))
            done.append(sets)
            self._found.missed.append(sets.missed)
            self._found.unchecked.append(sets.unchecked)
        return self._found

    def _keep(self, section: Section, found: Iterable[RowProblems]) -> None:
        """Write down problems, those of each run by themselves."""
        by_run: dict[int, list[tuple[RowProblems, Any]]] = {}
        for one in found:
            bases = self._bases[section[0], one.kind]
            rows = np.asarray(one.rows, np.int64)
            runs = np.searchsorted(bases, rows >> ITEM_BITS if section[1] == PROBES else rows, "right") - 1
            if one.is_repeat:
                firsts = np.searchsorted(bases, np.asarray(one.firsts, np.int64), "right") - 1
                pairs, numbers = np.unique(np.stack([runs, firsts]), axis=1, return_counts=True)
                question = one.rule, one.kind, one.field
                counts = self._found.repeats.setdefault((section, question), Counter())
                counts.update(dict(zip(map(tuple, pairs.T.tolist()), numbers.tolist(), strict=True)))
            for run in np.unique(runs).tolist():
                by_run.setdefault(run, []).append((one, np.flatnonzero(runs == run)))
        for run, those in by_run.items():
            data = pickle.dumps([_chosen(one, where) for one, where in those], 5)
            start = self._file.tell()
            self._file.write(data)
            self._found.pieces[section, run] = start, start + len(data)


def _at_rows(found: Iterable[RowProblems]) -> Iterator[RowProblems]:
    """Without what cannot be sent elsewhere."""
    for one in found:
        one.are_keys = None
        yield one


def _chosen(one: RowProblems, where: Any) -> RowProblems:
    rows, values, firsts = (
        None if column is None else np.asarray(column)[where] for column in (one.rows, one.values, one.firsts)
    )
    return replace(one, rows=rows, values=values, firsts=firsts)


@dataclass(frozen=True, slots=True)
class Hits:
    """Where the problems of one run are that belong to a section, of all partitions."""

    section: Section
    run: int
    pieces: tuple[tuple[str, int, int], ...]


def probe_range(job: KeyJob, hits: Hits) -> list[RowProblems]:
    """The problems of a run, as if its keys had been looked up together."""
    found: dict[Question, list[RowProblems]] = {}
    for path, start, end in hits.pieces:
        with Path(path).open("rb") as file:
            file.seek(start)
            for one in pickle.loads(file.read(end - start)):  # noqa: S301 - our own
                found.setdefault((one.rule, one.kind, one.field), []).append(one)
    plan = job.sets(job.groups[hits.section[0]]).plan
    those = [_together(found[question]) for question in _questions(plan) if question in found]
    return _known(plan, those) if hits.section[1] == PROBES else those


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


def _together(those: Sequence[RowProblems]) -> RowProblems:
    """The problems of all partitions, in the order of their rows."""
    rows = np.concatenate([one.rows for one in those])
    order = np.argsort(rows, kind="stable")
    values, firsts = (
        None if columns[0] is None else np.concatenate(columns)[order]
        for columns in ([one.values for one in those], [one.firsts for one in those])
    )
    return replace(those[0], rows=rows[order], values=values, firsts=firsts)


def _known(plan: SetPlan, those: list[RowProblems]) -> list[RowProblems]:
    """The same at rows; a row whose reference dangles is not said to have none of the items of a list, too."""
    members = {(m.rule, m.kind, m.fields[1]) for m in plan.memberships if m.within}
    references = {(ref.rule, ref.kind, ref.field) for ref in plan.references}
    for one in those:
        one.rows = one.rows >> ITEM_BITS
    dangling = [one.rows for one in those if (one.rule, one.kind, one.field) in references]
    found = []
    for one in those:
        if dangling and (one.rule, one.kind, one.field) in members:
            one = _chosen(one, np.flatnonzero(~np.isin(one.rows, np.concatenate(dangling))))
        if len(one.rows):
            found.append(one)
    return found
