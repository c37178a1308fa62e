"""What is known of a dataset while it is repaired, and the versions of its files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.fixes.applying import Applied, Change
from ragdatakit.fixes.groups import ALL_KINDS, rests_on
from ragdatakit.fixes.seen_faults import SeenFaults
from ragdatakit.fixes.staged_files import StagedFiles
from ragdatakit.fixes.withheld import FormatRules, Withheld
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.sorted_entries import SortedEntries
from ragdatakit.scanner.known_blocks import KnownBlocks
from ragdatakit.validators.faults import Fault

_IN_MEMORY = 20_000
"""Changes that are held in memory: about 500 bytes each."""

_NONE = "-"
"""No kind of file."""

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
    """What is known of a dataset while it is repaired.

    ``left`` are files that are left alone, ``barred`` rules whose fixes are not made in a file, both with the reason;
    in those of ``singly`` no more than one rule is repaired in a round, so that it is known which of them does harm.
    ``careful``: ids are changed in rounds of their own; ``no_ids`` says why they are not changed at all.
    """

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
    barred: dict[tuple[DataFile, str], str] = field(default_factory=dict)
    singly: set[DataFile] = field(default_factory=set)
    watched: frozenset[str] = frozenset()
    broken: dict[DataFile, str] = field(default_factory=dict)
    explained: set[str] = field(default_factory=set)
    careful: bool = False
    no_ids: str = ""
    known: dict[DataFile, KnownBlocks] = field(default_factory=dict)
    seen: SeenFaults = field(init=False)

    def __post_init__(self) -> None:
        self.seen = SeenFaults(self.dataset)

    def forget_faults(self) -> None:
        """Of a round nothing is left but the new versions."""
        self.changes.close()
        self.changes = SortedEntries(_IN_MEMORY)
        self.number = 0
        self.rewrites = {}
        self.seen = SeenFaults(self.dataset)
        self.withheld = Withheld(self.dataset.format.name, self.rules, self.no_ids)

    def known_blocks(self, file: DataFile) -> KnownBlocks:
        """Those of the file's version; none where somebody else has written to it."""
        if file.path == file.place and not self.staged.is_unchanged(file):
            self.known.pop(file, None)
        return self.known.setdefault(file, KnownBlocks())

    def restore(self, file: DataFile) -> Version:
        """The version before the last round; the one of that round is given."""
        version = self.last.pop(file)
        self.known.pop(file, None)
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
            self.explained.add(fault.rule.name)
        if any(each.applied.changed_ids for each in self.last.values()):
            self.no_ids = self.no_ids or f"that would lead to {rule}"

    def blame_others(self, faults: Counter[tuple[str, str]]) -> None:
        """New faults that are in no record that was touched may be due to another file: what they refer to is gone."""
        number = by_rule(faults)
        repaired = {self.rules.by_code[code].name for version in self.last.values() for code in version.applied.codes}
        for name in self.watched - self.explained - repaired:  # of what is repaired, the next ones may show
            kinds = rests_on(self.dataset.format.name, name, _NONE) - {_NONE}
            for file in self.last if number[name] > self.expected[name] else ():
                if kinds == ALL_KINDS or file.kind in kinds:
                    self.broken.setdefault(file, f"{self.rules.by_name[name].code} {name}")

    def roll_back(self) -> None:
        """Files in which a repair led to another error get the version before back, and that rule is not repaired in
        them any more; ids, all."""
        ids = [file for file, version in self.last.items() if version.applied.changed_ids] if self.no_ids else []
        for file in {**self.broken, **dict.fromkeys(ids)}:
            codes = self.restore(file).applied.codes
            if file not in ids and len(codes) == 1:
                self.barred[file, next(iter(codes))] = f"it would lead to {self.broken[file]}"
            elif file not in ids:
                self.singly.add(file)
        self.broken, self.explained = {}, set()
        self.forget_faults()

    def wanted(self, file: DataFile, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes of a file that are made in this round, as far as they did no harm before."""
        only = ""
        for change in changes:
            if (file, change.code) not in self.barred and (not only or change.code == only):
                only = change.code if file in self.singly else ""
                yield change

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
