"""What of a baseline a run can speak of: an entry is stale only if what it is about was checked, and is well now."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import timedelta
from pathlib import Path

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.baselines import BaselineEntry, BaselineUse
from ragdatakit.validators.baselines.file import Baseline
from ragdatakit.validators.baselines.known import POWERLESS, BaselineMatch, digest_of

_SOON = timedelta(days=14)


@dataclass(slots=True)
class Checked:
    """What a run checked: of each file, by its path as findings have it, the codes of the rules that it was checked for
    (none where something of its dataset was not read); the folders in which everything was looked for, and the codes
    for files that are there no more."""

    files: dict[str, frozenset[str]] = field(default_factory=dict)
    folders: list[Path] = field(default_factory=list)
    codes: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The same in the terms of a baseline."""

    baseline: Baseline
    files: Mapping[str, frozenset[str]]
    folders: tuple[str, ...]
    codes: frozenset[str]

    @classmethod
    def of(cls, baseline: Baseline, checked: Checked) -> _Scope:
        files = {baseline.name(path): codes for path, codes in checked.files.items()}
        folders = tuple(os.path.realpath(folder) for folder in checked.folders)
        return cls(baseline, files, folders, frozenset(checked.codes))

    def has(self, entry: BaselineEntry) -> bool:
        """Whether the run would have found what the entry is about."""
        if entry.path in self.files:
            return entry.rule in self.files[entry.path]
        place = os.path.normpath(self.baseline.folder / entry.path)
        if entry.rule not in self.codes or os.path.lexists(place):
            return False
        return any(Path(place).is_relative_to(folder) for folder in self.folders)


def use_of(match: BaselineMatch, checked: Checked) -> BaselineUse:
    """What the run that asked ``match`` had to do with its baseline."""
    scope = _Scope.of(match.baseline, checked)
    stale, lower, exceeded, expired = [], [], [], []
    for entry, found in _with_numbers(match):
        if found < entry.accepts and scope.has(entry):
            if found and entry.count:
                lower.append((entry, found))
            else:
                stale.append(entry)
        elif found and not match.holds(entry):
            expired.append(entry)
        elif found > entry.accepts:
            exceeded.append((entry, found))
    entries = match.baseline.entries
    return BaselineUse(
        str(match.baseline.file),
        tuple(stale),
        tuple(lower),
        tuple(exceeded),
        tuple(expired),
        tuple(e for e in entries if e.until is not None and match.today <= e.until < match.today + _SOON),
        tuple(e for e in entries if e.rule in POWERLESS),
    )


def _with_numbers(match: BaselineMatch) -> Iterator[tuple[BaselineEntry, int]]:
    """The entries, each with how many findings it stands for (a single one: 0 or 1, unless it is exceeded)."""
    left = Counter(match.found)
    singles = sorted((e for e in match.baseline.entries if not e.count), key=lambda e: (not match.holds(e), e.nth))
    for entry in singles:
        if entry.bucket in match.budgets:  # the number holds
            yield entry, 0
            continue
        digest = digest_of(entry)
        found = left[digest] if digest in match.exceeded else min(left[digest], 1)
        left[digest] -= found
        yield entry, found
    for bucket, budget in match.budgets.items():
        yield budget, match.counted[bucket]


def lowered(match: BaselineMatch, use: BaselineUse) -> Baseline:
    """The baseline without what is stale, and with lower numbers where fewer were found."""
    numbers = {entry.bucket: found for entry, found in use.lower}
    gone = {id(entry) for entry in use.stale}
    entries = (
        replace(entry, count=numbers[entry.bucket]) if entry.count and entry.bucket in numbers else entry
        for entry in match.baseline.entries
        if id(entry) not in gone
    )
    return Baseline.at(match.baseline.file, entries)


def rewritten(match: BaselineMatch, checked: Checked) -> Baseline:
    """The baseline that accepts all that was found, and what it had of that which was not checked. Reasons and days
    stay, but not a day that is over: the finding is accepted once more."""
    scope = _Scope.of(match.baseline, checked)
    kept: dict[tuple[str, str], list[BaselineEntry]] = {}
    before: dict[tuple[int, int], BaselineEntry] = {}
    for entry in match.baseline.entries:
        if not scope.has(entry):
            kept.setdefault(entry.bucket, []).append(entry)
        if not entry.count:
            before[digest_of(entry), entry.nth] = entry
    for bucket, group in match.groups.items():
        budget, unseen = match.budgets.get(bucket), kept.get(bucket, [])
        if group.is_budget or (unseen and budget is not None):
            count = max([group.count, *(entry.count for entry in unseen)])
            was = budget or before.get((digest_of(BaselineEntry(*bucket)), 1))  # one record of what is reported once
            kept[bucket] = [_as_before(BaselineEntry(*bucket, count=count), was, match)]
            continue
        new = {(digest_of(entry), entry.nth): entry for entry in group.entries}
        others = [entry for entry in unseen if (digest_of(entry), entry.nth) not in new]
        kept[bucket] = [*others, *(_as_before(entry, before.get(which, budget), match) for which, entry in new.items())]
    return Baseline.at(match.baseline.file, (entry for entries in kept.values() for entry in entries))


def _as_before(entry: BaselineEntry, before: BaselineEntry | None, match: BaselineMatch) -> BaselineEntry:
    if before is None:
        return entry
    until = before.until if match.holds(before) else None
    return replace(entry, until=until, reason=before.reason, others=before.others)
