"""What is known before a run: the findings that a baseline accepts, or those of an older state."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Protocol

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.baselines import BaselineEntry
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.rules.shared import NOT_CHECKED, RULES
from ragdatakit.validators.baselines.file import Baseline
from ragdatakit.validators.identity import entry_digest, place_in_record, stored_value

MOST_ENTRIES = 50
"""Findings of one rule in one file beyond which their number alone is written."""
POWERLESS = frozenset(rule.code for rule in RULES if rule.name in NOT_CHECKED)
"""Rules whose findings nothing accepts: it could not be checked."""
_WITHOUT_NUMPY = 20_000
"""Findings below which numpy is not loaded for them."""

Bucket = tuple[str, str]
"""A file, as it is called here, and the code of a rule."""


class Older(Protocol):
    """Findings that were there before."""

    def takes(self, finding: Finding, once: bool) -> bool:
        """Whether this was there. ``once``: the rule is reported once a file, with the number of its faults."""


class Accepted(Protocol):
    """Findings that a project accepts."""

    def takes(self, finding: Finding, once: bool) -> bool | None:
        """Whether this is one; None where only the number of all of its rule in its file says it."""

    def settled(self, finding: Finding) -> bool:
        """The same of a finding for which it was None, now that all are found."""

    def enough(self, code: str, path: str, shown: int) -> int:
        """After how many findings of a rule in a file only their number matters (0: each matters), where so many are
        shown (0: all)."""

    def count(self, code: str, path: str, times: int) -> bool:
        """Take so many more, of which only the number matters. Whether they are accepted; else it is settled later."""


@dataclass(slots=True)
class Group:
    """The findings of one rule in one file that are to be written: all, or their number."""

    count: int = 0
    is_budget: bool = False
    entries: list[BaselineEntry] = field(default_factory=list)


class BaselineMatch:
    """The findings that a baseline accepts; with ``accept_all`` every one that may be, which `groups` gathers.

    ``found`` counts by the digests of single entries, ``exceeded`` has those whose finding, reported once a file,
    stands for more records than are accepted; ``counted`` is what was found of ``budgets``, the entries with a number.
    ``refused`` are those that nothing accepts, by their rules.
    """

    def __init__(self, baseline: Baseline, today: date | None = None, *, accept_all: bool = False) -> None:
        self.baseline = baseline
        self.today = today or datetime.now(UTC).date()
        self.accept_all = accept_all
        self.groups: dict[Bucket, Group] = {}
        self.found = Counter[int]()
        self.exceeded = set[int]()
        self.counted = Counter[Bucket]()
        self.refused = Counter[str]()
        self.budgets = {entry.bucket: entry for entry in baseline.entries if entry.count}
        self._allowed = Counter[int]()
        self._names: dict[str, str] = {}
        for entry in baseline.entries:
            if not entry.count and entry.bucket not in self.budgets:
                self.found[digest_of(entry)] = 0
                self._allowed[digest_of(entry)] += self.holds(entry)

    def holds(self, entry: BaselineEntry) -> bool:
        """Whether its day has not passed."""
        return entry.until is None or entry.until >= self.today

    def takes(self, finding: Finding, once: bool) -> bool | None:
        """As `Accepted` says."""
        if finding.rule in NOT_CHECKED:
            self.refused[finding.code] += 1
            return False
        bucket = self._bucket(finding.code, finding.path)
        budget = self.budgets.get(bucket)
        if self.accept_all:
            self._gather(finding, bucket, once)
        if budget is not None:
            self.counted[bucket] += finding.count if once else 1
            return True if self.accept_all else None if self.holds(budget) else False
        digest = _digest(bucket, finding, once)
        if digest in self.found:
            self.found[digest] += finding.count if once else 1
            is_within = self.found[digest] <= self._allowed[digest]
            if once and not is_within:
                self.exceeded.add(digest)
            return self.accept_all or is_within
        return self.accept_all

    def settled(self, finding: Finding) -> bool:
        """As `Accepted` says."""
        bucket = self._bucket(finding.code, finding.path)
        return self.counted[bucket] <= self.budgets[bucket].count

    def enough(self, code: str, path: str, shown: int) -> int:
        """As `Accepted` says."""
        if code in POWERLESS:
            return 0
        if self.accept_all:
            return MOST_ENTRIES + 1
        budget = self.budgets.get(self._bucket(code, path))
        return shown if budget is not None and self.holds(budget) else 0

    def count(self, code: str, path: str, times: int) -> bool:
        """As `Accepted` says."""
        bucket = self._bucket(code, path)
        if self.accept_all:
            group = self.groups.setdefault(bucket, Group())
            group.count, group.is_budget, group.entries = group.count + times, True, []
        if not self.accept_all or bucket in self.budgets:
            self.counted[bucket] += times
        return self.accept_all

    def _bucket(self, code: str, path: str) -> Bucket:
        if path not in self._names:
            self._names[path] = self.baseline.name(path)
        return self._names[path], code

    def _gather(self, finding: Finding, bucket: Bucket, once: bool) -> None:
        group = self.groups.setdefault(bucket, Group())
        group.count += finding.count if once else 1
        group.is_budget = group.count > MOST_ENTRIES or (once and finding.count > 1)
        if group.is_budget:
            group.entries = []
            return
        key, at, value = _facts(finding, once)
        nth = 1 + sum((entry.key, entry.at, entry.value) == (key, at, value) for entry in group.entries)
        group.entries.append(BaselineEntry(*bucket, key, at, value, nth))


def _digest(bucket: Bucket, finding: Finding, once: bool) -> int:
    key, at, value = _facts(finding, once)
    return entry_digest(*bucket, key, at, value)


def _facts(finding: Finding, once: bool) -> tuple[str, str, object]:
    """What identifies a finding within its file and rule; nothing does where it is there once for all records."""
    if once:
        return "", "", None
    return finding.key or "", place_in_record(finding.pointer), stored_value(finding.value)


def digest_of(entry: BaselineEntry) -> int:
    """What a finding has that the entry is about."""
    return entry_digest(entry.path, entry.rule, entry.key, entry.at, entry.value)


class OlderFindings:
    """The findings of an older state, below ``root``: `learn` them all, then ask with those below another root."""

    def __init__(self, root: Path) -> None:
        self._root = Path(os.path.realpath(root))
        self._names: dict[str, str] = {}
        self._digests = array("Q")
        self._left = array("I")
        self._counts: dict[Bucket, int] = {}

    def learn(self, finding: Finding, once: bool) -> None:
        """Take one of the older state."""
        bucket = self._bucket(finding)
        if once:
            self._counts[bucket] = finding.count
        else:
            self._digests.append(_digest(bucket, finding, once))

    def move(self, root: Path) -> None:
        """From now on findings are those of the state that is checked."""
        self._root, self._names = Path(os.path.realpath(root)), {}
        if len(self._digests) < _WITHOUT_NUMPY:
            found = sorted(Counter(self._digests).items())
            self._digests = array("Q", (digest for digest, _ in found))
            self._left = array("I", (number for _, number in found))
        else:
            import numpy as np

            ordered, counts = np.unique(np.frombuffer(self._digests, np.uint64), return_counts=True)
            self._digests = array("Q", ordered.tobytes())
            self._left = array("I", counts.astype(np.uint32).tobytes())

    def takes(self, finding: Finding, once: bool) -> bool:
        """As `Older` says; what could not be checked hides what is new, at whatever revision."""
        if finding.rule in NOT_CHECKED:
            return False
        bucket = self._bucket(finding)
        if once:
            return finding.count <= self._counts.get(bucket, 0)
        digest = _digest(bucket, finding, once)
        place = bisect_left(self._digests, digest)
        if place == len(self._digests) or self._digests[place] != digest or not self._left[place]:
            return False
        self._left[place] -= 1
        return True

    def _bucket(self, finding: Finding) -> Bucket:
        if finding.path not in self._names:
            real = Path(os.path.realpath(finding.path))
            inside = real.is_relative_to(self._root)
            self._names[finding.path] = real.relative_to(self._root).as_posix() if inside else real.as_posix()
        return self._names[finding.path], finding.code
