"""One dataset repaired in rounds: checked, its faults repaired in new versions of its files, checked again, until there
is nothing left to repair. Then all versions take the places of the files, or none does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import IO

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.applying import Applied, Change, Fill, PlainFile, editing, keeping
from ragdatakit.fixes.difference import Difference
from ragdatakit.fixes.find import fix_of, repairs_of
from ragdatakit.fixes.groups import Withheld, changes_ids, group_of, is_grouped
from ragdatakit.fixes.removed import RemovedFile
from ragdatakit.fixes.rewriting import REWRITES
from ragdatakit.fixes.staged_files import ChangedMeanwhileError, StagedFiles
from ragdatakit.outputs.sorted_entries import SortedEntries
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import Applicability, Fix
from ragdatakit.schemas.results import FixResult, NotFixed, Report
from ragdatakit.validators.faults import Fault

MOST_ROUNDS = 10
_IN_MEMORY = 20_000
"""Changes that are held in memory: about 500 bytes each."""

_Key = tuple[int, int, int]
"""The number of a file, the first byte that is touched, how many changes came before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairing:
    """How to repair: also with ``unsafe`` fixes; ``write`` the files, or tell the ``difference`` in at most this many
    places of a rule. ``removed`` takes what unsafe fixes remove."""

    unsafe: bool = False
    write: bool = True
    most_shown: int = 20
    removed: RemovedFile | None = None

    def applies(self, applicability: Applicability) -> bool:
        """Whether such fixes are wanted."""
        return applicability == "safe" or (applicability == "unsafe" and self.unsafe)


@dataclass(slots=True)
class _Version:
    """What the last round did to a file: the version before, and how often it repaired what (by code)."""

    before: tuple[Path, Boundary]
    applied: Applied
    spool: Path | None = None


@dataclass(slots=True)
class _State:
    """What is known of a dataset while it is repaired."""

    dataset: Dataset
    staged: StagedFiles
    rules: dict[str, Rule]
    round: int = 0
    changes: SortedEntries[_Key, Change] = field(default_factory=lambda: SortedEntries(_IN_MEMORY))
    number: int = 0
    rewrites: dict[DataFile, Change] = field(default_factory=dict)
    last: dict[DataFile, _Version] = field(default_factory=dict)
    expected: Counter[str] = field(default_factory=Counter)
    fixed: dict[DataFile, Counter[str]] = field(default_factory=dict)
    spools: dict[DataFile, list[Path]] = field(default_factory=dict)
    left: dict[DataFile, str] = field(default_factory=dict)
    withheld: Withheld = field(default_factory=Withheld)
    only_together: dict[DataFile, str] = field(default_factory=dict)
    watched: frozenset[str] = frozenset()
    broken: dict[DataFile, str] = field(default_factory=dict)


class Repairs:
    """The repairer of a run; what it did is in ``result``. ``rewrote``: files were written anew, so that they may be of
    another kind when they are looked for again."""

    def __init__(self, how: Repairing, result: FixResult) -> None:
        self._how = how
        self._result = result
        self._stack = ExitStack()
        self._state: _State | None = None
        self.rewrote = False

    def close(self) -> None:
        """Nothing goes on: what is not in its place is removed."""
        self._stack.close()

    # what a run asks

    def wants(self, rule: str) -> bool:
        """Whether each fault of a rule has to be seen: those that are repaired, and those that a repair may have
        caused."""
        state = self._state
        if state is None or rule not in state.rules:
            return False
        if rule in state.watched or is_grouped(state.dataset.format.name, rule):
            return True
        return any(map(self._how.applies, state.rules[rule].fixes)) and rule in repairs_of(state.dataset.format.name)

    def fix(self, fault: Fault) -> Fix | None:
        """What repairs a fault; it is remembered where it is to be done."""
        state = self._state
        if state is None:
            return fix_of(fault)
        if fault.rule.name in state.watched:
            self._watch(state, fault)
        fix = fix_of(fault)
        state.withheld.see(fault, fix)
        if fix is not None and self._how.applies(fix.applicability) and fault.file not in state.left:
            self._remember(state, fault, fix)
        return fix

    def begin(self, dataset: Dataset) -> None:
        """Before a dataset is checked for the first time."""
        self._stack.close()
        staged = self._stack.enter_context(StagedFiles(dataset, beside=self._how.write))
        rules = {rule.name: rule for rule, fmt in all_rules() if fmt is None or fmt is dataset.format}
        self._state = _State(dataset, staged, rules)
        self._stack.callback(self._forget)

    def goes_on(self, dataset: Dataset, report: Report) -> bool:
        """Whether the dataset has to be checked once more, as files have new versions."""
        state = self._state
        assert state is not None
        if state.watched:
            state.watched = frozenset()
            if state.broken:
                self._roll_back(state)
                return True
        elif suspicious := self._new_errors(state, report):
            state.watched = suspicious
            self._drop_changes(state)
            return True
        self._accept(state)
        if (state.changes or state.rewrites) and state.round < MOST_ROUNDS:
            state.round += 1
            if self._apply(state, report):
                return True
        self._finish(state)
        return False

    # a round

    def _remember(self, state: _State, fault: Fault, fix: Fix) -> None:
        located = fault.located
        line, record = (located.line, located.byte_offset) if located is not None else (1, -1)
        if fault.other is not None and any(edit.start == fault.other.byte_offset for edit in fix.edits):
            line = fault.other.line
        hides_others = "*" in fault.rule.reveals
        change = Change(fault.rule.code, fix, line, record, hides_others, group_of(fault), changes_ids(fault))
        if fix.rewrite:
            state.rewrites.setdefault(fault.file, change)
            return
        number = next(i for i, file in enumerate(state.dataset.files) if file is fault.file)
        state.changes.add((number, change.start, state.number), change)
        state.number += 1

    def _drop_changes(self, state: _State) -> None:
        state.changes.close()
        state.changes = SortedEntries(_IN_MEMORY)
        state.number = 0
        state.rewrites = {}
        state.withheld = Withheld()

    def _apply(self, state: _State, report: Report) -> bool:
        """New versions of all files that are to be changed; whether there are any."""
        state.expected = Counter(report.by_rule)
        rewrites = dict(state.rewrites)
        for file, change in rewrites.items():
            self.rewrote |= change.fix.rewrite != "line-feeds"
            self._apply_to(state, file, partial(_rewrite, change, file.display))
        unwritable = any(file in state.left or state.staged.refusal(file) for file in state.withheld.files)
        state.withheld.decide(unwritable, ((number, change) for (number, _, _), change in state.changes))
        for file, changes in _by_file(state):
            if file not in rewrites:
                self._apply_to(state, file, editing(file.display, state.withheld.without(file, changes)))
        state.only_together = state.withheld.reasons
        self._drop_changes(state)
        return bool(state.last)

    def _apply_to(self, state: _State, file: DataFile, fill: Fill) -> None:
        if file in state.left:
            return
        if reason := state.staged.refusal(file):
            state.left[file] = reason
            return
        before = file.path, file.boundary
        spool = state.staged.folder(file.place) / f"removed-{state.round}-{len(state.last)}"
        applied: Applied = state.staged.add(file, partial(fill, spool))
        if not applied.codes:
            file.path, file.boundary = before
            return
        state.last[file] = _Version(before, applied, spool if spool.exists() else None)
        for code, number in applied.codes.items():
            state.expected[code] -= number

    # what a round broke

    def _new_errors(self, state: _State, report: Report) -> frozenset[str]:
        """The rules of errors of which there are more than the repairs have left, if these cannot have hidden them."""
        if not state.last:
            return frozenset()
        applied = {code for version in state.last.values() for code in version.applied.codes}
        by_code = {rule.code: rule for rule in state.rules.values()}
        revealed = {name for code in applied for name in by_code[code].reveals}
        more = (by_code[code] for code, number in report.by_rule.items() if number > state.expected[code])
        return frozenset(rule.name for rule in more if rule.severity == "error" and rule.name not in revealed)

    def _watch(self, state: _State, fault: Fault) -> None:
        version, located = state.last.get(fault.file), fault.located
        rule = f"{fault.rule.code} {fault.rule.name}"
        if version is not None and (located is None or version.applied.has_touched(located.byte_offset)):
            state.broken.setdefault(fault.file, rule)
        for file, each in state.last.items():
            if each.applied.changed_ids:
                state.broken.setdefault(file, rule)

    def _roll_back(self, state: _State) -> None:
        """Files in which a repair led to another error get the version before back, and are left alone."""
        for file, rule in state.broken.items():
            version = state.last.pop(file)
            file.path, file.boundary = version.before
            codes = ", ".join(sorted(version.applied.codes))
            state.left[file] = f"the fix of {codes} would lead to {rule}"
        state.broken = {}
        self._drop_changes(state)

    def _accept(self, state: _State) -> None:
        """The versions of the last round stay."""
        for file, version in state.last.items():
            state.fixed.setdefault(file, Counter()).update(version.applied.codes)
            if version.spool is not None:
                state.spools.setdefault(file, []).append(version.spool)
        state.last = {}

    # the end

    def _finish(self, state: _State) -> None:
        """All versions in their places, or shown; what was done goes to the result."""
        result = self._result
        if self._how.write and state.fixed:
            try:
                self._commit(state)
            except ChangedMeanwhileError as error:
                name, _, reason = str(error).partition(": ")
                state.left |= dict.fromkeys(state.fixed, "the dataset was left as it is")
                state.left |= {file: reason for file in state.fixed if file.display == name}
                state.fixed = {}
        elif state.fixed:
            for file in state.staged.changed():
                most = self._how.most_shown * len(state.fixed[file])
                result.difference += Difference(file.place, file.path, file.display, most).lines()
        for file, counts in state.fixed.items():
            result.fixed.setdefault(file.display, Counter()).update(counts)
        left = state.only_together | state.left
        result.not_fixed += [NotFixed(file.display, reason) for file, reason in left.items()]
        self._state = None
        self._stack.close()

    def _commit(self, state: _State) -> None:
        spools = [spool for spools in state.spools.values() for spool in spools]
        removed = self._how.removed
        if removed is not None and spools:
            self._result.removed += removed.add(spools)
            self._result.removed_to = str(removed.path)
        try:
            state.staged.commit()
        except BaseException:
            if removed is not None and spools:
                removed.undo()
            raise

    def _forget(self) -> None:
        self._state = None


def _rewrite(change: Change, display: str, spool: Path, source: PlainFile, target: IO[bytes]) -> Applied:
    with keeping(display, spool) as remove:
        for data in REWRITES[change.fix.rewrite](source, target) or ():
            remove(change, data)
    return Applied({change.code: 1}, everywhere=not change.hides_others)


def _by_file(state: _State) -> Iterator[tuple[DataFile, Iterable[Change]]]:
    for number, entries in groupby(state.changes, key=lambda entry: entry[0][0]):
        yield state.dataset.files[number], (change for _, change in entries)
