"""The findings of a run that are new: those that are known pass by, counted, and the others are kept for the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import Protocol, runtime_checkable

from ragdatakit.files.datasets import Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.validators.baselines.known import Accepted, Older
from ragdatakit.validators.baselines.scope import Checked
from ragdatakit.validators.kept_findings import KeptFindings, Key

_Counted = tuple[int, str | None, Severity, str]
"""The number of a dataset, a split of it, a severity, a code."""


class Findings(Protocol):
    """What a run found, in the order of the report; to be closed."""

    def __iter__(self) -> Iterator[Finding]: ...
    def close(self) -> None: ...


@runtime_checkable
class Looking(Older, Protocol):
    """Older findings that are found once the datasets are."""

    def look(self, datasets: Sequence[Dataset]) -> None:
        """Find them; called before the datasets are checked."""


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """What is known before a run: what a baseline accepts, and what is older. ``show`` keeps the former, marked, too;
    ``max_per_rule`` is how many of the others are kept of a rule (0: all). ``checked`` gets what was checked."""

    accepted: Accepted | None = None
    older: Older | Looking | None = None
    max_per_rule: int = 0
    show: bool = False
    checked: Checked = field(default_factory=Checked)


class NewFindings:
    """Findings on their way to ``kept``. Those of which only the number of all of their rule and file decides are kept
    until all are found."""

    def __init__(self, kept: KeptFindings, before: KnownBefore) -> None:
        self._kept = kept
        self.before = before
        self._new = Counter[str]()
        self._waiting: dict[tuple[str, str], tuple[Finding, Counter[_Counted]]] = {}
        self._within: set[tuple[str, str]] = set()
        self.accepted: Counter[_Counted] = Counter()
        self.older: Counter[_Counted] = Counter()

    def add(self, key: Key, finding: Finding, split: str | None, once: bool) -> None:
        """One more, of a dataset and a split of it; ``once``: the rule is reported once a file. Raises `OSError` where
        the disk is full."""
        before, counted = self.before, (key[0], split, finding.severity, finding.code)
        verdict = before.accepted.takes(finding, once) if before.accepted is not None else False
        if verdict:
            self.accepted[counted] += 1
            if before.show:
                self._kept.add(key, replace(self._cut(finding), baselined=True))
        elif before.older is not None and before.older.takes(finding, once):
            self.older[counted] += 1
        elif verdict is None:
            _, of_bucket = self._waiting.setdefault((finding.path, finding.code), (finding, Counter()))
            of_bucket[counted] += 1
            if before.show or not before.max_per_rule or of_bucket.total() <= before.max_per_rule:
                self._kept.add(key, self._cut(finding))
        else:
            self._new[finding.code] += 1
            if not before.max_per_rule or self._new[finding.code] <= before.max_per_rule:
                self._kept.add(key, self._cut(finding))

    def enough(self, code: str, path: str) -> int:
        """How many findings of a rule in a file need be seen one by one (0: all): not those of which the number alone
        is accepted."""
        before = self.before
        if before.accepted is None or before.older is not None or before.show:
            return 0
        return before.accepted.enough(code, path, before.max_per_rule)

    def count(self, number: int, split: str | None, severity: Severity, code: str, path: str, times: int) -> None:
        """So many more of a dataset, a split, a rule and a file, which `enough` spared."""
        assert self.before.accepted is not None
        counted = number, split, severity, code
        if self.before.accepted.count(code, path, times):
            self.accepted[counted] += times
        elif (path, code) in self._waiting:
            self._waiting[path, code][1][counted] += times

    def _cut(self, finding: Finding) -> Finding:
        """With the numbers of no more records than are wanted."""
        most = self.before.max_per_rule
        return replace(finding, records=finding.records[:most]) if most and len(finding.records) > most else finding

    def settle(self) -> None:
        """All are found: say which of those that wait are accepted."""
        for bucket, (first, numbers) in self._waiting.items():
            if self.before.accepted is not None and self.before.accepted.settled(first):
                self._within.add(bucket)
                self.accepted.update(numbers)

    def known_by_code(self) -> Counter[tuple[int, str]]:
        """How many findings are not new, by the number of their dataset and their code."""
        found = Counter[tuple[int, str]]()
        for (number, _, _, code), times in (*self.accepted.items(), *self.older.items()):
            found[number, code] += times
        return found

    def __iter__(self) -> Iterator[Finding]:
        most, shown = self.before.max_per_rule, Counter[str]()
        for finding in self._kept:
            if (finding.path, finding.code) in self._within:
                if self.before.show:
                    yield replace(finding, baselined=True)
                continue
            if not finding.baselined:
                shown[finding.code] += 1
                if most and shown[finding.code] > most:
                    continue
            yield finding

    def close(self) -> None:
        """Remove what was kept outside of memory."""
        self._kept.close()
