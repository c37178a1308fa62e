"""Which fixes of the findings that are shown `--fix` would make, and why not the others, as far as that is known
without a try: what it withholds rests on other faults, which a run that shows few of them may not have seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.fixes.find import WithheldFix
    from ragdatakit.fixes.seen_faults import SeenFaults
    from ragdatakit.schemas.findings import Finding
    from ragdatakit.schemas.fixes import Fix
    from ragdatakit.validators.baselines.new_findings import Findings
    from ragdatakit.validators.faults import Fault


class ForeseenFixes:
    """Says of a run what repairs what is found; nothing is repaired. ``reasons`` say which of these fixes would not be
    made. They are ``sure`` unless there are faults that were not looked at, and may forbid others."""

    def __init__(self) -> None:
        self.reasons: dict[WithheldFix, str] = {}
        self.sure = True
        self._dataset: Dataset | None = None
        self._seen: SeenFaults | None = None

    def wants(self, rule: str, reported: bool) -> bool:
        """Of what is shown, what may forbid a fix, though there is no fix for it."""
        return self._faults().matters(rule)

    def fix(self, fault: Fault) -> Fix | None:
        """What repairs a fault; None where nothing is known to do it."""
        from ragdatakit.fixes.find import fix_of

        fix = fix_of(fault)
        self._faults().see(fault, fix)
        return fix

    def begin(self, dataset: Dataset) -> None:
        """Before a dataset is checked."""
        self._dataset, self._seen = dataset, None

    def _faults(self) -> SeenFaults:
        if self._seen is None:
            from ragdatakit.fixes.seen_faults import SeenFaults  # sound data do without it

            assert self._dataset is not None
            self._seen = SeenFaults(self._dataset)
        return self._seen

    def end(self, faults: Counter[tuple[str, str]], is_unasked: Callable[[str], bool]) -> None:
        """After it was: there are so many ``faults`` by rule and kind of file; rules that are ``unasked`` were not
        looked for."""
        seen, self._seen = self._seen, None
        if seen is not None:
            self.reasons.update(seen.withheld_fixes(faults, is_unasked))
            self.sure = self.sure and seen.sure


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
        those = fix.path or finding.path, finding.code, fix.applicability
        alone = self._reasons.get((*those, min(edit.start for edit in fix.edits))) if fix.edits else None
        return alone or self._reasons.get((*those, None), "")
