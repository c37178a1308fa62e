"""One dataset repaired in rounds: checked, its faults repaired in new versions of its files, checked again, until there
is nothing left to repair. Then all versions take the places of the files, or none does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import chain, groupby
from pathlib import Path
from typing import IO

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.fixes.applying import Applied, Change, Fill, PlainFile, editing, keeping
from ragdatakit.fixes.dataset_state import DatasetState, Version, by_rule
from ragdatakit.fixes.difference import Difference
from ragdatakit.fixes.find import WithheldFix, fix_of, repairs_of
from ragdatakit.fixes.groups import is_grouped
from ragdatakit.fixes.removed import RemovedFile
from ragdatakit.fixes.rewriting import REWRITES
from ragdatakit.fixes.staged_files import CannotUnpackError, ChangedMeanwhileError, StagedFiles
from ragdatakit.fixes.withheld import FormatRules, Withheld, change_of, file_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.known_blocks import KnownBlocks
from ragdatakit.schemas.fixes import APPLICABILITIES, Applicability, Fix
from ragdatakit.schemas.results import FixResult, NotFixed
from ragdatakit.validators.faults import Fault

MOST_ROUNDS, MOST_ROUNDS_SINGLY = 10, 40
"""The latter where rules are repaired one after the other."""


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


class Repairs:
    """The repairer of a run; what it did is in ``result``, why it did not make a fix in ``reasons``. ``rewrote``: files
    were written anew, so that they may be of another kind when they are looked for again."""

    def __init__(self, how: Repairing, result: FixResult) -> None:
        self._how = how
        self._result = result
        self._stack = ExitStack()
        self._state: DatasetState | None = None
        self.rewrote = False
        self.reasons: dict[WithheldFix, str] = {}
        self.sure = True

    def close(self) -> None:
        """Nothing goes on: what is not in its place is removed."""
        self._stack.close()

    # what a run asks

    def wants(self, rule: str, reported: bool) -> bool:
        """Whether each fault of a rule has to be seen: those that are repaired, and those that a repair may have
        caused, or that forbid one."""
        state = self._state
        if state is None or rule not in state.rules.by_name:
            return False
        if rule in state.watched or is_grouped(state.dataset.format.name, rule):
            return True
        known = rule in repairs_of(state.dataset.format.name)
        return reported and known and any(map(self._how.applies, state.rules.by_name[rule].fixes))

    def fix(self, fault: Fault) -> Fix | None:
        """What repairs a fault; it is remembered where it is to be done."""
        state = self._state
        if state is None:
            return fix_of(fault)
        if fault.rule.name in state.watched:
            state.watch(fault)
        fix = fix_of(fault)
        state.withheld.see(fault, fix)
        state.seen.see(fault, fix)
        if fix is not None and self._how.applies(fix.applicability) and file_of(fault, fix) not in state.left:
            self._remember(state, fault, fix)
        return fix

    def known_blocks(self, file: DataFile) -> KnownBlocks:
        """Blocks of the file as it is now that need not be read again."""
        return self._state.known_blocks(file) if self._state is not None else KnownBlocks()

    def begin(self, dataset: Dataset) -> None:
        """Before a dataset is checked for the first time."""
        self._stack.close()
        staged = self._stack.enter_context(StagedFiles(dataset, beside=self._how.write))
        rules = FormatRules.of(dataset.format)
        self._state = DatasetState(dataset, staged, rules, Withheld(dataset.format.name, rules))
        self._stack.callback(self._forget)

    def goes_on(self, dataset: Dataset, faults: Counter[tuple[str, str]]) -> bool:
        """Whether the dataset has to be checked once more, as files have new versions."""
        state = self._state
        assert state is not None
        if state.watched:
            state.blame_others(faults)
            state.watched = frozenset()
            if state.broken or (state.no_ids and any(each.applied.changed_ids for each in state.last.values())):
                state.roll_back()
                return True
        elif suspicious := state.new_errors(faults):
            state.suspect(suspicious)
            state.forget_faults()
            return True
        state.accept()
        if (state.changes or state.rewrites) and state.round < (MOST_ROUNDS_SINGLY if state.singly else MOST_ROUNDS):
            state.round += 1
            if self._apply(state, faults):
                state.forget_faults()
                return True
        self._finish(state)
        self._foresee(state, faults)
        return False

    # a round

    def _remember(self, state: DatasetState, fault: Fault, fix: Fix) -> None:
        change = change_of(fault, fix)
        if fix.rewrite:
            state.rewrites.setdefault(fault.file, change)
            return
        state.changes.add((state.dataset.number_of(file_of(fault, fix)), change.start, state.number), change)
        state.number += 1

    def _apply(self, state: DatasetState, faults: Counter[tuple[str, str]]) -> bool:
        """New versions of all files that are to be changed; whether there are any. Unsafe fixes wait until no safe one
        is left: what is repaired need not be removed."""
        state.expected = by_rule(faults)
        withheld = state.withheld
        state.staged.see(+faults)
        for file in withheld.files:
            self._may_write(state, file)
        withheld.decide(
            faults, withheld.first_of(state.left), ((number, change) for (number, _, _), change in state.changes)
        )
        for now in (
            *([_is_safe_by_itself] if state.careful else []),
            _is_safe,
            *([_is_any] if self._how.unsafe else []),
        ):
            self._apply_all(state, now)
            if state.last:
                break
        half = withheld.first_of(state.left)
        if half is not None and any(version.applied.changed_ids for version in state.last.values()):
            state.no_ids = state.no_ids or f"{half.display} cannot be written"
            for file in [*state.last]:
                state.restore(file)
            return True
        return bool(state.last)

    def _apply_all(self, state: DatasetState, now: Callable[[Change], bool]) -> None:
        for file, change in state.rewrites.items():
            if now(change) and (file, change.code) not in state.barred:
                self.rewrote |= change.fix.rewrite != "line-feeds"
                self._apply_to(state, file, partial(_rewrite, change, file.display))
        for file, changes in _by_file(state):
            if file not in state.last:
                made = state.wanted(file, state.withheld.without(file, filter(now, changes)))
                first = next(made, None)
                if first is not None:
                    self._apply_to(state, file, editing(file.display, chain((first,), made)))

    def _apply_to(self, state: DatasetState, file: DataFile, fill: Fill) -> None:
        if not self._may_write(state, file):
            return
        before = file.path, file.boundary
        spool = state.staged.folder(file.place) / f"removed-{state.round}-{len(state.last)}"
        try:
            applied: Applied = state.staged.add(file, partial(fill, spool))
        except CannotUnpackError as error:
            state.left[file] = str(error)
            return
        if not applied.codes:
            file.path, file.boundary = before
            return
        state.last[file] = Version(before, applied, spool if spool.exists() else None)
        known = state.known.pop(file, None)
        if known is not None and not applied.everywhere:
            edits = iter(applied.edits)
            state.known[file] = known.edited(zip(edits, edits, edits, strict=True))
        state.expect(applied)

    def _may_write(self, state: DatasetState, file: DataFile) -> bool:
        if file not in state.left and (reason := state.staged.refusal(file)):
            state.left[file] = reason
        return file not in state.left

    # the end

    def _finish(self, state: DatasetState) -> None:
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
        result.not_fixed += [NotFixed(file.display, reason) for file, reason in state.left.items()]
        for (file, code), reason in {**state.withheld.reasons, **state.barred}.items():
            if file not in state.left:
                result.not_fixed.append(NotFixed(file.display, reason, code))
                self._withhold(file, code, reason)
        for file, reason in state.left.items():
            for code in state.rules.by_code:
                self._withhold(file, code, reason)
        state.changes.close()
        self._state = None
        self._stack.close()

    def _foresee(self, state: DatasetState, faults: Counter[tuple[str, str]]) -> None:
        """What is left and was not asked for, as the unsafe fixes: which of these would not be made either."""
        others = dict(state.seen.withheld_fixes(faults, lambda rule: False))
        self.sure = self.sure and (self._how.unsafe or state.seen.sure)
        self.reasons = others | self.reasons

    def _withhold(self, file: DataFile, code: str, reason: str) -> None:
        for applicability in filter(self._how.applies, APPLICABILITIES):
            self.reasons[file.display, code, applicability, None] = reason

    def _commit(self, state: DatasetState) -> None:
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
    return Applied({change.code: 1}, everywhere=True)


def _is_safe_by_itself(change: Change) -> bool:
    return _is_safe(change) and not change.changes_ids


def _is_safe(change: Change) -> bool:
    return change.fix.applicability == "safe"


def _is_any(change: Change) -> bool:
    return True


def _by_file(state: DatasetState) -> Iterator[tuple[DataFile, Iterable[Change]]]:
    for number, entries in groupby(state.changes, key=lambda entry: entry[0][0]):
        yield state.dataset.files[number], (change for _, change in entries)
