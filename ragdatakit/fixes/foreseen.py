"""Which fixes of the findings that are shown `--fix` would make, and why not the others, as far as that is known
without a try: what it withholds rests on other faults, which a run that shows few of them may not have seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.fixes.applying import Change
from ragdatakit.fixes.find import fix_of
from ragdatakit.fixes.groups import ALL_KINDS, is_grouped, may_forbid, rests_on, unread_rules
from ragdatakit.fixes.staged_files import StagedFiles
from ragdatakit.fixes.withheld import FormatRules, Withheld, change_of
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.fixes import APPLICABILITIES, Applicability, Fix
from ragdatakit.validators.baselines.new_findings import Findings
from ragdatakit.validators.faults import Fault

_MOST = 100_000
"""Fixes that are remembered one by one."""
_MENDED: Mapping[Applicability, tuple[Applicability, ...]] = {"safe": ("safe",), "unsafe": ("safe", "unsafe")}
"""What is repaired before, or together with, fixes of a kind."""

WithheldFix = tuple[str, str, Applicability, int | None]
"""The path and the code of findings, how far their fix can be trusted, and where it begins (None: wherever)."""


@dataclass(slots=True)
class _Seen:
    """What is known of one dataset."""

    dataset: Dataset
    withheld: Withheld
    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    single: list[tuple[DataFile, Change]] = field(default_factory=list)
    alike: dict[tuple[DataFile, str, Applicability, bool], Change] = field(default_factory=dict)
    too_many: bool = False
    _matters: dict[str, bool] = field(default_factory=dict)

    def matters(self, rule: str) -> bool:
        """Whether faults of a rule may forbid a fix."""
        if rule not in self._matters:
            name = self.dataset.format.name
            self._matters[rule] = is_grouped(name, rule) or rule in unread_rules(name)
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
                    self.single.append((fault.file, change))
                return
        those = fault.file, fault.rule.code, fix.applicability, any(edit.part == "line" for edit in fix.edits)
        if those not in self.alike:
            self.alike[those] = change_of(fault, fix)


class ForeseenFixes:
    """Says of a run what repairs what is found; nothing is repaired. ``reasons`` say which of these fixes would not be
    made. They are ``sure`` unless there are faults that were not looked at, and may forbid others."""

    def __init__(self) -> None:
        self.reasons: dict[WithheldFix, str] = {}
        self.sure = True
        self._seen: _Seen | None = None

    def wants(self, rule: str, reported: bool) -> bool:
        """Of what is shown, what may forbid a fix, though there is no fix for it."""
        return self._seen is not None and self._seen.matters(rule)

    def fix(self, fault: Fault) -> Fix | None:
        """What repairs a fault; None where nothing is known to do it."""
        fix = fix_of(fault)
        if self._seen is not None:
            self._seen.see(fault, fix)
        return fix

    def begin(self, dataset: Dataset) -> None:
        """Before a dataset is checked."""
        rules = FormatRules.of(dataset.format)
        self._seen = _Seen(dataset, Withheld(dataset.format.name, rules))

    def end(self, faults: Counter[tuple[str, str]], is_unasked: Callable[[str], bool]) -> None:
        """After it was: there are so many ``faults`` by rule and kind of file; rules that are ``unasked`` were not
        looked for."""
        seen, self._seen = self._seen, None
        if seen is None or not (seen.single or seen.alike):
            return
        name, rules = seen.dataset.format.name, seen.withheld.rules
        unseen = {(rule, "") for rule in filter(is_unasked, filter(seen.matters, rules.by_name))}
        for (rule, kind), number in faults.items():
            if seen.matters(rule) and number > sum(seen.counts[rule, kind, how] for how in ("", *APPLICABILITIES)):
                unseen.add((rule, kind))
        fixes = [*seen.single, *((those[0], change) for those, change in seen.alike.items())]
        with StagedFiles(seen.dataset, beside=False) as staged:
            refusals = {file: staged.refusal(file) for file in {file for file, _ in fixes} | seen.withheld.files}
        unwritable = next((file for file in seen.withheld.files if refusals[file]), None)
        for applicability, mended in _MENDED.items():
            left = Counter({(rule, kind): n for (rule, kind, how), n in seen.counts.items() if how not in mended})
            numbered = ((seen.dataset.number_of(file), change) for file, change in seen.single)
            seen.withheld.decide(left, unwritable, numbered)
            for file, change in fixes:
                if change.fix.applicability != applicability:
                    continue
                if reason := refusals[file] or seen.withheld.reason(file, change):
                    alone = change.group is not None and not refusals[file]
                    place = change.start if alone else None
                    self.reasons[file.display, change.code, applicability, place] = reason
                elif seen.too_many or (
                    unseen and _may_be_forbidden(name, rules.by_code[change.code].name, file, unseen)
                ):
                    self.sure = False


def _may_be_forbidden(format_name: str, rule: str, file: DataFile, unseen: Iterable[tuple[str, str]]) -> bool:
    """Whether a fix may be forbidden by faults of these rules in files of these kinds (empty: any)."""
    kinds, unread = rests_on(format_name, rule, file.kind), unread_rules(format_name)
    return any(
        may_forbid(format_name, other, rule)
        or (other in unread and bool(kinds) and (kinds == ALL_KINDS or not kind or kind in kinds))
        for other, kind in unseen
    )


class WithReasons:
    """Findings of a run; those whose fixes are withheld say why."""

    def __init__(self, findings: Findings, reasons: Mapping[WithheldFix, str]) -> None:
        self._findings = findings
        self._reasons = reasons
        self.close = findings.close

    def __iter__(self) -> Iterator[Finding]:
        for finding in self._findings:
            fix = finding.fix
            if fix is not None and (reason := self._reason(finding, fix)):
                yield replace(finding, fixable=False, fix=replace(fix, withheld=reason))
            else:
                yield finding

    def _reason(self, finding: Finding, fix: Fix) -> str:
        those = finding.path, finding.code, fix.applicability
        alone = self._reasons.get((*those, min(edit.start for edit in fix.edits))) if fix.edits else None
        return alone or self._reasons.get((*those, None), "")
