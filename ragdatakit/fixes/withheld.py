"""The fixes of a round that are not made, as the rest of the dataset speaks against them, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import field

from ragdatakit.files.datasets import DataFile
from ragdatakit.fixes.applying import Change
from ragdatakit.fixes.edits import record_text
from ragdatakit.fixes.groups import (
    ALL_KINDS,
    MISPLACED,
    UNUSABLE,
    Group,
    changes_ids,
    group_of,
    is_same_id,
    rests_on,
    unread_rules,
)
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.declarations import Format, Rule
from ragdatakit.schemas.fixes import Fix
from ragdatakit.schemas.rules.shared import RULES
from ragdatakit.validators.faults import Fault

_MOST_GROUPS = 100_000
"""Groups that are remembered: of more of them no safe repair is made."""


_SHARED = frozenset(rule.code for rule in RULES)
"""Rules of bytes and lines, whatever records are in them."""


@dataclass(slots=True)
class FormatRules:
    """The rules of a format and those of any."""

    by_name: dict[str, Rule]
    by_code: dict[str, Rule] = field(init=False)

    def __post_init__(self) -> None:
        self.by_code = {rule.code: rule for rule in self.by_name.values()}

    @classmethod
    def of(cls, fmt: Format) -> FormatRules:
        """Those of this format."""
        return cls({rule.name: rule for rule, _ in all_rules([fmt])})


def change_of(fault: Fault, fix: Fix) -> Change:
    """A fix with its place in the dataset."""
    located = fault.other if fix.path else fault.located
    line, record = (located.line, located.byte_offset) if located is not None else (1, -1)
    if fault.other is not None and any(edit.start == fault.other.byte_offset for edit in fix.edits):
        line = fault.other.line
    return Change(fault.rule.code, fix, line, record, group_of(fault), changes_ids(fault))


def file_of(fault: Fault, fix: Fix) -> DataFile:
    """The file that a fix changes."""
    return fault.other_file if fix.path and fault.other_file is not None else fault.file


@dataclass(slots=True)
class Withheld:
    """What is known of a round in this respect; ``rules`` are those of the format.

    ``no_ids`` says why no ids are changed. ``files`` are those in which ids would change. ``reasons`` say why fixes are
    not made, by file and code.
    """

    format_name: str
    rules: FormatRules
    no_ids: str = ""
    files: set[DataFile] = field(default_factory=set)
    reasons: dict[tuple[DataFile, str], str] = field(default_factory=dict)
    _groups: dict[Group, str] = field(default_factory=dict)
    _clashing: set[tuple[int, int]] = field(default_factory=set)
    _unread: dict[str, str] = field(default_factory=dict)
    _misplaced: str = ""
    _unusable: dict[str, str] = field(default_factory=dict)

    def see(self, fault: Fault, fix: Fix | None) -> None:
        """A fault of the dataset, and what repairs it."""
        group = group_of(fault) if fix is None or fix.applicability != "safe" else None
        if group is not None and len(self._groups) <= _MOST_GROUPS:
            self._groups.setdefault(group, fault.rule.name)
        if changes_ids(fault):
            self.files.add(fault.file)
            if fix is None and (record_text(fault) is None or not fault.may_fix):
                self.no_ids = self.no_ids or f"{self._named(fault.rule.name)} is not repaired in {fault.file.display}"
        if is_same_id(fault):
            self._see_clash(fault)

    def first_of(self, unwritable: Iterable[DataFile]) -> DataFile | None:
        """The one that is named of files that cannot be written, if ids would change in one: the first by name."""
        return min(self.files.intersection(unwritable), key=lambda file: file.name, default=None)

    def _see_clash(self, fault: Fault) -> None:
        for file, record in ((fault.file, fault.located), (fault.other_file, fault.other)):
            if file is not None and record is not None and len(self._clashing) <= _MOST_GROUPS:
                self._clashing.add((fault.dataset.number_of(file), record.byte_offset))

    def decide(
        self, faults: Counter[tuple[str, str]], unwritable: DataFile | None, changes: Iterable[tuple[int, Change]]
    ) -> None:
        """Once all ``faults`` are known, by rule and kind. ``unwritable`` is a file in which ids would change and that
        cannot be written, ``changes`` are all of the round, with the numbers of their files."""
        unread = unread_rules(self.format_name)
        self._unread = {kind: name for (name, kind), number in faults.items() if number > 0 and name in unread}
        misplaced = MISPLACED.get(self.format_name, "")
        there = {name for (name, _), number in faults.items() if number > 0}
        self._misplaced = misplaced if misplaced in there else ""
        self._unusable = {rule: why for rule, why in UNUSABLE.get(self.format_name, {}).items() if why in there}
        if unwritable is not None:
            self.no_ids = self.no_ids or f"{unwritable.display} cannot be written"
        if self._clashing and any(self._clashes(number, change) for number, change in changes):
            self.no_ids = self.no_ids or "another record would have the same one"

    def _clashes(self, number: int, change: Change) -> bool:
        known = len(self._clashing) <= _MOST_GROUPS
        return change.changes_ids and (not known or (number, change.record) in self._clashing)

    def without(self, file: DataFile, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes of a file that are made."""
        for change in changes:
            if reason := self.reason(file, change):
                self.reasons.setdefault((file, change.code), reason)
            else:
                yield change

    def reason(self, file: DataFile, change: Change) -> str:
        """Why a change is not made; empty where it is."""
        if self._misplaced and change.code not in _SHARED:
            return f"its records seem to be those of another file ({self._named(self._misplaced)})"
        rule = self.rules.by_code[change.code].name
        if rule in self._unusable:
            return f"it would leave no record ({self._named(self._unusable[rule])})"
        if change.changes_ids and self.no_ids:
            return f"ids change everywhere or nowhere, and {self.no_ids}"
        if change.fix.applicability == "safe" and change.group is not None:
            if change.group in self._groups:
                return f"another record contradicts it ({self._named(self._groups[change.group])})"
            if len(self._groups) > _MOST_GROUPS:
                return "too many other records contradict each other"
        kinds = rests_on(self.format_name, rule, file.kind)
        blocking = next((self._unread[kind] for kind in self._unread if kinds == ALL_KINDS or kind in kinds), "")
        blocking = blocking or (self._unread.get("", "") if kinds else "")
        return f"it rests on records that cannot be read yet ({self._named(blocking)})" if blocking else ""

    def _named(self, name: str) -> str:
        return f"{self.rules.by_name[name].code} {name}"
