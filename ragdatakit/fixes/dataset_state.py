"""What is known of a dataset while it is repaired, and the versions of its files."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.applying import Applied, Change
from ragdatakit.fixes.staged_files import StagedFiles
from ragdatakit.fixes.withheld import FormatRules, Withheld
from ragdatakit.outputs.sorted_entries import SortedEntries
from ragdatakit.validators.faults import Fault

_IN_MEMORY = 20_000
"""Changes that are held in memory: about 500 bytes each."""

_Key = tuple[int, int, int]
"""The number of a file, the first byte that is touched, how many changes came before."""


@dataclass(slots=True)
class Version:
    """What the last round did to a file: the version before, and how often it repaired what (by code)."""

    before: tuple[Path, Boundary]
    applied: Applied
    spool: Path | None = None


@dataclass(slots=True)
class DatasetState:
    """What is known of a dataset while it is repaired. ``careful``: ids are changed in rounds of their own; ``no_ids``
    says why they are not changed at all."""

    dataset: Dataset
    staged: StagedFiles
    rules: FormatRules
    withheld: Withheld
    round: int = 0
    changes: SortedEntries[_Key, Change] = field(default_factory=lambda: SortedEntries(_IN_MEMORY))
    number: int = 0
    rewrites: dict[DataFile, Change] = field(default_factory=dict)
    last: dict[DataFile, Version] = field(default_factory=dict)
    expected: Counter[str] = field(default_factory=Counter)
    fixed: dict[DataFile, Counter[str]] = field(default_factory=dict)
    spools: dict[DataFile, list[Path]] = field(default_factory=dict)
    left: dict[DataFile, str] = field(default_factory=dict)
    watched: frozenset[str] = frozenset()
    broken: dict[DataFile, str] = field(default_factory=dict)
    careful: bool = False
    no_ids: str = ""

    def forget_faults(self) -> None:
        """Of a round nothing is left but the new versions."""
        self.changes.close()
        self.changes = SortedEntries(_IN_MEMORY)
        self.number = 0
        self.rewrites = {}
        self.withheld = Withheld(self.dataset.format.name, self.rules, self.no_ids)

    def restore(self, file: DataFile) -> Version:
        """The version before the last round; the one of that round is given."""
        version = self.last.pop(file)
        file.path, file.boundary = version.before
        self.expect(version.applied, -1)
        return version

    def expect(self, applied: Applied, times: int = 1) -> None:
        """So many faults fewer than there were."""
        for code, number in applied.codes.items():
            self.expected[self.rules.by_code[code].name] -= times * number

    def new_errors(self, faults: Counter[tuple[str, str]]) -> frozenset[str]:
        """The rules of errors of which there are more than the repairs have left, if these cannot have hidden them."""
        if not self.last:
            return frozenset()
        codes = {code for version in self.last.values() for code in version.applied.codes}
        applied = [self.rules.by_code[code] for code in codes]
        more = (self.rules.by_name[name] for name, number in by_rule(faults).items() if number > self.expected[name])
        errors = [rule for rule in more if rule.severity == "error"]
        return frozenset(rule.name for rule in errors if not any(each.may_reveal(rule) for each in applied))

    def suspect(self, rules: frozenset[str]) -> None:
        """Look for the faults of these rules where something was changed. Ids are changed everywhere, so that they are
        changed once more, alone, if anything else was changed with them."""
        changed_ids = [version.applied.changed_ids for version in self.last.values()]
        if any(changed_ids) and not self.careful:
            self.careful = True
            for file in [*self.last]:
                self.restore(file)
        else:
            self.watched = rules

    def watch(self, fault: Fault) -> None:
        """A fault of which a repair may be the cause."""
        version, located = self.last.get(fault.file), fault.located
        rule = f"{fault.rule.code} {fault.rule.name}"
        if version is not None and (located is None or version.applied.has_touched(located.byte_offset)):
            self.broken.setdefault(fault.file, rule)
        if any(each.applied.changed_ids for each in self.last.values()):
            self.no_ids = self.no_ids or f"that would lead to {rule}"

    def roll_back(self) -> None:
        """Files in which a repair led to another error get the version before back, and are left alone; ids, all."""
        ids = [file for file, version in self.last.items() if version.applied.changed_ids] if self.no_ids else []
        for file in {**self.broken, **dict.fromkeys(ids)}:
            version = self.restore(file)
            if file not in ids:
                codes = ", ".join(sorted(version.applied.codes))
                self.left[file] = f"the fix of {codes} would lead to {self.broken[file]}"
        self.broken = {}
        self.forget_faults()

    def accept(self) -> None:
        """The versions of the last round stay."""
        for file, version in self.last.items():
            self.fixed.setdefault(file, Counter()).update(version.applied.codes)
            if version.spool is not None:
                self.spools.setdefault(file, []).append(version.spool)
        self.last = {}


def by_rule(faults: Counter[tuple[str, str]]) -> Counter[str]:
    """The numbers of faults, whatever the kind of the file."""
    found: Counter[str] = Counter()
    for (name, _), number in faults.items():
        found[name] += number
    return found
