"""Faults that a run without repairs has shown, and which of their fixes `--fix` would withhold because of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import field

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.fixes.applying import Change
from ragdatakit.fixes.find import WithheldFix
from ragdatakit.fixes.groups import ALL_KINDS, MISPLACED, UNUSABLE, is_grouped, may_forbid, rests_on, unread_rules
from ragdatakit.fixes.withheld import FormatRules, Withheld, change_of, file_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.fixes import APPLICABILITIES, Applicability, Fix
from ragdatakit.validators.faults import Fault

_MOST = 100_000
"""Fixes that are remembered one by one."""
_MENDED: Mapping[Applicability, tuple[Applicability, ...]] = {"safe": ("safe",), "unsafe": ("safe", "unsafe")}
"""What is repaired before, or together with, fixes of a kind."""


@dataclass(slots=True)
class SeenFaults:
    """Those of one dataset."""

    dataset: Dataset
    withheld: Withheld = field(init=False)
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    single: list[tuple[DataFile, Change]] = field(default_factory=list)
    alike: dict[tuple[DataFile, str, Applicability, bool], Change] = field(default_factory=dict)
    too_many: bool = False
    sure: bool = True
    _matters: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.withheld = Withheld(self.dataset.format.name, FormatRules.of(self.dataset.format))

    def matters(self, rule: str) -> bool:
        """Whether faults of a rule may forbid a fix."""
        if rule not in self._matters:
            name = self.dataset.format.name
            of_all = (MISPLACED.get(name), *UNUSABLE.get(name, {}).values())
            self._matters[rule] = is_grouped(name, rule) or rule in unread_rules(name) or rule in of_all
        return self._matters[rule]

    def see(self, fault: Fault, fix: Fix | None) -> None:
        """A fault that is shown, and what repairs it."""
        matters = self.matters(fault.rule.name)
        if matters:
            self.withheld.see(fault, fix)
            self.counts[fault.rule.name, fault.file.kind, fix.applicability if fix is not None else ""] += 1
        if fix is None:
            return
        if matters:
            change = change_of(fault, fix)
            if change.group is not None or change.changes_ids:
                self.too_many = self.too_many or len(self.single) >= _MOST
                if not self.too_many:
                    self.single.append((file_of(fault, fix), change))
                return
        those = file_of(fault, fix), fault.rule.code, fix.applicability, any(edit.part == "line" for edit in fix.edits)
        if those not in self.alike:
            self.alike[those] = change_of(fault, fix)

    def withheld_fixes(
        self, faults: Counter[tuple[str, str]], is_unasked: Callable[[str], bool]
    ) -> Iterator[tuple[WithheldFix, str]]:
        """Fixes that would not be made, each with the reason; whether that is all of them is in ``sure`` then."""
        fixes = [*self.single, *((those[0], change) for those, change in self.alike.items())]
        if not fixes:
            return
        from ragdatakit.fixes.staged_files import StagedFiles  # without it most data do

        unseen = self._unseen(faults, is_unasked)
        by_name = self.withheld.rules.by_name
        hopeless = {
            (rule, kind): n for (rule, kind), n in faults.items() if self.matters(rule) and not by_name[rule].fix
        }
        with StagedFiles(self.dataset, beside=False) as staged:
            staged.see(+faults)
            refusals = {file: staged.refusal(file) for file in {file for file, _ in fixes} | self.withheld.files}
        unwritable = self.withheld.first_of(file for file, refusal in refusals.items() if refusal)
        for applicability, mended in _MENDED.items():
            left = Counter({(rule, kind): n for (rule, kind, how), n in self.counts.items() if how not in mended})
            left.update(hopeless)
            numbered = ((self.dataset.number_of(file), change) for file, change in self.single)
            self.withheld.decide(left, unwritable, numbered)
            for file, change in fixes:
                if change.fix.applicability != applicability:
                    continue
                if reason := refusals[file] or self.withheld.reason(file, change):
                    place = None if change.group is None or refusals[file] else change.start
                    yield (file.display, change.code, applicability, place), reason
                else:
                    self.sure = self.sure and not (self.too_many or self._may_be_forbidden(change, file, unseen))

    def _unseen(
        self, faults: Counter[tuple[str, str]], is_unasked: Callable[[str], bool]
    ) -> Collection[tuple[str, str]]:
        """Rules that matter, and kinds of files (empty: any), of which there may be faults that were not shown."""
        found = {(rule, "") for rule in filter(is_unasked, filter(self.matters, self.withheld.rules.by_name))}
        for (rule, kind), number in faults.items():
            if self.matters(rule) and number > sum(self.counts[rule, kind, how] for how in ("", *APPLICABILITIES)):
                found.add((rule, kind))
        return found

    def _may_be_forbidden(self, change: Change, file: DataFile, others: Iterable[tuple[str, str]]) -> bool:
        """Whether a fix may be forbidden by faults of these rules in files of these kinds."""
        name, rule = self.dataset.format.name, self.withheld.rules.by_code[change.code].name
        kinds, unread = rests_on(name, rule, file.kind), unread_rules(name)
        return any(
            may_forbid(name, other, rule)
            or (other in unread and bool(kinds) and (kinds == ALL_KINDS or not kind or kind in kinds))
            for other, kind in others
        )
