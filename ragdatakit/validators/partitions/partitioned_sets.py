"""Set checks whose keys are in files, cut into partitions: the process that asked holds none of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import narrowed
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.validators.partitions.comparing import GroupKeys, KeyJob
from ragdatakit.validators.partitions.key_runs import Column, KeylessRows, PackedKeys, Run, RunBatch, RunPlan, RunWriter
from ragdatakit.validators.partitions.key_store import KeyStore, WantedKeys
from ragdatakit.validators.partitions.known_keys import (
    KnownIndex,
    KnownKeys,
    Probed,
    add_marks,
    all_of,
    answered,
    question_of,
    rules_of,
)
from ragdatakit.validators.partitions.packing import partition_of
from ragdatakit.validators.pending import RowMap
from ragdatakit.validators.row_problems import RowProblems
from ragdatakit.validators.set_plan import NO_CHECKS, IndexKey, SetPlan
from ragdatakit.validators.sets import Batch, SetChecks

_RUN_ROWS = 1 << 20
"""Of records whose keys are written at once, where they are read here."""


class PartitionedSets(SetChecks):
    """The set checks of one split: keys are written as they come, and compared at the end, except for references to
    keys that are few: those are looked up at once."""

    def __init__(self, plan: SetPlan, split: str | None, kinds: set[str], store: KeyStore) -> None:
        super().__init__(plan, split, kinds, lambda *key: None, lambda: None)
        self._store = store
        self._run_plans: dict[str, RunPlan] = {}
        self._runs: dict[str, list[Run]] = {}
        self._rows: dict[str, KeylessRows] = {}
        self._writers: dict[str, tuple[RunWriter, int]] = {}
        self._known = SetChecks(NO_CHECKS, split, kinds)
        self._known.unreliable, self._known.partial = self.unreliable, self.partial
        self._known.unchecked, self._known.missed = self.unchecked, self.missed
        self._sent: dict[Any, KnownIndex | str] = {}

    def wanted(self, kind: str, alone: bool, together: bool, most: int) -> WantedKeys:
        """What is asked of ranges of a kind, of which ``most`` problems of a rule may be shown."""
        kinds, folder = frozenset(self.kinds), str(self._store.folder) if self._store.is_shared else ""
        known = self._known_to(kind, most)
        return WantedKeys(self.split, kinds, self._run_plan(kind), known, folder, f"{id(self):x}", alone, together)

    def _run_plan(self, kind: str) -> RunPlan:
        """Which keys of a kind are written; it is said when the kinds that it refers to are there."""
        if kind not in self._run_plans:
            headless = set(self.plan.headed) - set(self._known.heads)
            known = set(self._known.indexes) - headless
            near = answered(self.plan, kind, known, self.unreliable, self._store.late)
            self._store.late |= rules_of(self.plan, kind) - rules_of(near, kind)
            plan = self._known.plan
            self._known.plan = replace(
                plan, references=plan.references + near.references, memberships=plan.memberships + near.memberships
            )
            self._run_plans[kind] = RunPlan.of(self.plan, kind, self._store.partitions, self._known.plan)
        return self._run_plans[kind]

    def _known_to(self, kind: str, most: int) -> KnownKeys:
        """What records of a kind are looked up in."""
        self._run_plan(kind)
        all_of = self._known.plan
        plan = replace(
            all_of,
            references=tuple(ref for ref in all_of.references if ref.kind == kind),
            memberships=tuple(member for member in all_of.memberships if member.kind == kind),
            coverages=tuple(one for one in all_of.coverages if any(by == kind for by, _ in one.by)),
        )
        indexes = {key: self._sent["keys", key] for key in plan.looked_up if ("keys", key) in self._sent}
        heads = {key: self._sent["heads", key] for key in plan.headed if ("heads", key) in self._sent}
        return KnownKeys(plan, indexes, heads, frozenset(self.unreliable), most)

    def probe(self, kind: str, batch: Batch) -> list[RowProblems]:
        """What is wrong with references to keys that are known."""
        self._run_plan(kind)
        return self._known.probe(kind, batch)

    def take_probed(self, kind: str, probed: Probed) -> None:
        """What look-ups of a range of a kind have shown, except for its problems."""
        self.missed |= probed.missed
        self.unchecked |= probed.unchecked
        coverages = self._known_to(kind, 0).plan.coverages
        for coverage, marks in zip(coverages, probed.marks, strict=bool(probed.marks)):
            add_marks(self._known.marks[coverage], marks)

    def absorb(self, kind: str, batch: Any) -> None:
        """Write down the keys of these records, which were read here."""
        if kind not in self._writers:
            self._writers[kind] = RunWriter(self._run_plan(kind)), batch.first_row
        writer, first_row = self._writers[kind]
        here = batch.first_row
        if named := self.plan.named.get(kind):
            self.keyless.setdefault(kind, []).extend(batch.without(named))
        writer.add(batch, here - first_row)
        batch.first_row = here
        if writer.length > _RUN_ROWS:
            self._write(kind)

    def _write(self, kind: str) -> None:
        writer, first_row = self._writers.pop(kind)
        packed = writer.packed()
        self.take(kind, self._store.put(packed), None, first_row)

    def take(self, kind: str, run: Run | PackedKeys, keyless: KeylessRows | None, first_row: int) -> None:
        """The keys of the next records of a kind, the first of which has this row."""
        written = self._store.put(run) if isinstance(run, PackedKeys) else run
        self._runs.setdefault(kind, []).append(replace(written, first_row=first_row))
        if keyless is not None and keyless.count:
            rows = self._rows.setdefault(kind, KeylessRows(0, keyless.first + first_row))
            rows.count += keyless.count

    def freeze(self, kind: str) -> list[RowProblems]:
        """Nothing is known yet of what repeats; if its keys are few, they are known from now on."""
        if kind in self._writers:
            self._write(kind)
        for what, keys in (("keys", self.plan.looked_up), ("heads", self.plan.headed)):
            for key in sorted(keys):
                if key[0] == kind:
                    self._get_to_know(what, key)
        of_kind = [cover for cover in self.plan.coverages if cover.kind == kind]
        self._store.late |= {one.rule for one in of_kind if (kind, (one.field,)) not in self._known.indexes}
        new = [cover for cover in of_kind if cover.rule not in self._store.late]
        self._known.plan = replace(self._known.plan, coverages=(*self._known.plan.coverages, *new))
        self._known.marks |= {one: self._known.indexes[kind, (one.field,)].new_marks() for one in new}
        return []

    def _get_to_know(self, what: str, key: IndexKey) -> None:
        kind, fields = key
        columns, runs = self._run_plan(kind).columns, self._runs.get(kind, [])
        column = ("codes" if what == "keys" else what, fields)
        place = columns.index(column)
        if not self._store.has_room(sum(run.sizes[place] for run in runs)):
            return
        index = KnownIndex(*all_of(columns, runs, column, self._store.partitions))
        if self._store.takes(index):
            (self._known.indexes if what == "keys" else self._known.heads)[key] = index
            self._sent[what, key] = self._store.for_others(index)

    def finish(self) -> list[RowProblems]:
        """Known keys that nothing names."""
        return self._known.finish()

    def compare(self, earlier: SetChecks) -> list[RowProblems]:
        """Nothing is known yet."""
        return []

    def lookup(self, kind: str, field: str) -> Any | None:
        """No key is at hand."""
        raise NotImplementedError("these checks look keys up while files are read")

    def keys(self, kinds: Iterable[str], rows: RowMap) -> GroupKeys:
        """What partitions are compared by; ``kinds`` are in the order in which they were read."""
        order, known = tuple(kinds), self._known.plan
        files = {kind: rows.first_rows(kind) for kind in order}
        plan = replace(
            self.plan,
            references=tuple(ref for ref in self.plan.references if ref not in known.references),
            memberships=tuple(member for member in self.plan.memberships if member not in known.memberships),
            coverages=tuple(one for one in self.plan.coverages if one not in known.coverages),
        )
        columns = {kind: run_plan.columns for kind, run_plan in self._run_plans.items()}
        doubts = frozenset(self.unreliable), frozenset(self.partial)
        return GroupKeys(plan, self.split, order, columns, self._runs, files, *doubts)

    def job(self, groups: Sequence[GroupKeys], most: int) -> KeyJob:
        """The job of comparing the keys of this and other groups; ``most`` problems of a rule and file may be shown."""
        return KeyJob(str(self._store.folder), most, tuple(groups))

    def keyless_rows(self, kind: str) -> tuple[int, int]:
        """Also those of ranges that were read elsewhere."""
        rows = replace(self._rows.get(kind, KeylessRows()))
        rows.add(sorted(set(self.keyless.get(kind, ()))))
        return rows.count, rows.first

    def askable(self, found: Iterable[RowProblems]) -> Iterator[RowProblems]:
        """Problems of references, of which it can be asked what else they may mean."""
        to = {(ref.rule, ref.kind, ref.field): (ref.to_kind, ref.to_field) for ref in self.plan.references}
        for one in found:
            if target := to.get(question_of(one)):
                one.are_keys = self._are_keys_of(*target)
            yield one

    def _are_keys_of(self, kind: str, field: str) -> Callable[[Sequence[str]], list[bool]]:
        """Who says of texts whether they are keys."""
        if index := self._known.indexes.get((kind, (field,))):
            return index.are_keys  # type: ignore[no-any-return]
        columns = self._run_plans[kind].columns if kind in self._run_plans else ()
        return partial(_are_keys, columns, self._runs.get(kind, []), field, self._store.partitions)


def _are_keys(
    columns: Sequence[Column], runs: list[Run], field: str, partitions: int, texts: Sequence[str]
) -> list[bool]:
    codes = codes_of_texts(texts)
    numbers, codes = partition_of(codes, partitions), narrowed(codes)
    table, found = HashTable(codes), np.zeros(len(codes) + 1, np.bool_)  # the last one is for keys that nobody asks for
    for number in np.unique(numbers).tolist():
        for run in runs:
            found[table.positions(RunBatch(columns, run, number).codes((field,))[0])] = True
    known: list[bool] = found[table.positions(codes)].tolist()
    return known
