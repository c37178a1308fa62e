"""Repairs that are safe together only: of one group all are made, or none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ragdatakit.files.datasets import DataFile
from ragdatakit.fixes.applying import Change
from ragdatakit.fixes.edits import record_text
from ragdatakit.fixes.find import Repair, repairs_of
from ragdatakit.fixes.records import drop_copy, keep_last, lowest_score_goes
from ragdatakit.schemas.fixes import Fix
from ragdatakit.validators.faults import Fault

Group = tuple[str, int, int | str]
_MOST_GROUPS = 100_000
"""Groups that are remembered: of more of them no safe repair is made."""


@dataclass(slots=True)
class Withheld:
    """The safe repairs of a round that are not made, as one of their group cannot be made, and why, by file.

    ``files`` are those in which ids would change.
    """

    files: set[DataFile] = field(default_factory=set)
    reasons: dict[DataFile, str] = field(default_factory=dict)
    _groups: set[Group] = field(default_factory=set)
    _clashing: set[tuple[int, int]] = field(default_factory=set)
    _no_ids: bool = False

    def see(self, fault: Fault, fix: Fix | None) -> None:
        """A fault of the dataset, and what repairs it."""
        group = group_of(fault) if fix is None or fix.applicability != "safe" else None
        if group is not None and len(self._groups) <= _MOST_GROUPS:
            self._groups.add(group)
        if changes_ids(fault):
            self.files.add(fault.file)
            self._no_ids |= fix is None and record_text(fault) is None
        if fault.rule.name in _SAME_ID.get(fault.dataset.format.name, ()):
            self._see_clash(fault)

    def _see_clash(self, fault: Fault) -> None:
        for file, record in ((fault.file, fault.located), (fault.other_file, fault.other)):
            if record is not None and len(self._clashing) <= _MOST_GROUPS:
                self._clashing.add((_number(fault, file), record.byte_offset))

    def decide(self, unwritable: bool, changes: Iterable[tuple[int, Change]]) -> None:
        """Whether ids are changed: not if some of their files are ``unwritable``, nor if a record with such an id has
        the id of another one. ``changes`` are all of the round, with the number of the file."""
        self._no_ids |= unwritable or (
            bool(self._clashing)
            and any(
                change.changes_ids and ((number, change.record) in self._clashing or len(self._clashing) > _MOST_GROUPS)
                for number, change in changes
            )
        )

    def without(self, file: DataFile, changes: Iterable[Change]) -> Iterator[Change]:
        """The changes of a file that are made."""
        for change in changes:
            if change.changes_ids and self._no_ids:
                self.reasons[file] = f"the fix of {change.code} cannot be made for all ids of the dataset"
            elif change.fix.applicability == "safe" and self._forbids(change.group):
                self.reasons[file] = f"{change.code} has no safe fix where another record contradicts"
            else:
                yield change

    def _forbids(self, group: Group | None) -> bool:
        return group is not None and (group in self._groups or len(self._groups) > _MOST_GROUPS)


_IDS: Mapping[str, frozenset[str]] = {
    "light-splade": frozenset({"id-not-integer"}),
    "arag": frozenset({"chunk-id-not-string"}),
    "beir": frozenset({"id-not-string"}),
    "datamind": frozenset({"source-not-string"}),
    "gfm-rag": frozenset({"question-id-decimal", "mixed-question-ids"}),
}
"""By format the rules whose repairs write ids in another way, which is done in all files of a dataset or in none."""
_SAME_ID: Mapping[str, frozenset[str]] = {
    "light-splade": frozenset(
        {"duplicate-qid", "duplicate-doc-id", "duplicate-positive-list", "duplicate-scores", "duplicate-triplet"}
    ),
    "gfm-rag": frozenset({"duplicate-question-id"}),
}
"""By format the rules of records with one id that take 1 and "1" for the same, where the framework does not."""


def changes_ids(fault: Fault) -> bool:
    """Whether the repair of a fault is made in all files of the dataset, or in none."""
    return fault.rule.name in _IDS.get(fault.dataset.format.name, ())


def is_grouped(format_name: str, rule: str) -> bool:
    """Whether each fault of a rule has to be seen, as it may forbid the repair of another one."""
    found = _IDS.get(format_name, frozenset()) | _SAME_ID.get(format_name, frozenset())
    return rule in found or _grouping(format_name, rule) is not None


def group_of(fault: Fault) -> Group | None:
    """The group of a fault: if one of them has no safe repair, the others have none either."""
    group = _grouping(fault.dataset.format.name, fault.rule.name)
    return None if group is None else group(fault)


def _grouping(format_name: str, rule: str) -> Callable[[Fault], Group | None] | None:
    named = _BY_RULE.get((format_name, rule))
    repair = repairs_of(format_name).get(rule)
    return named or (_BY_REPAIR.get(repair) if repair is not None else None)


def _of_first(fault: Fault) -> Group | None:
    """All records that clash with one: of A, B and A the last one is no copy that says nothing, if the last counts."""
    if fault.other is None or fault.other_file is None:
        return None
    return "record", _number(fault, fault.other_file), fault.other.byte_offset


def _of_query(fault: Fault) -> Group | None:
    """All results of a query in one file: their ranks keep their order if all of them are written anew."""
    record = fault.form.value(fault.located.raw.decode("utf-8", "replace")) if fault.located is not None else None
    query = record.get("qid") if isinstance(record, dict) else None
    return "query", _number(fault, fault.file), str(query)


def _of_dataset(fault: Fault) -> Group | None:
    """All of the dataset."""
    return "dataset", 0, 0


def _number(fault: Fault, wanted: object) -> int:
    return next(number for number, file in enumerate(fault.dataset.files) if file is wanted)


_BY_REPAIR: Mapping[Repair, Callable[[Fault], Group | None]] = {
    drop_copy: _of_first,
    keep_last: _of_first,
    lowest_score_goes: _of_first,
}
_BY_RULE: Mapping[tuple[str, str], Callable[[Fault], Group | None]] = {
    ("trec", "odd-rank"): _of_query,
    ("gfm-rag", "mixed-question-ids"): _of_dataset,
    ("gfm-rag", "question-id-decimal"): _of_dataset,
}
