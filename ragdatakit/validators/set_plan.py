"""What is settled before anything is read: which set checks a format declares for the files at hand, which key columns
and indexes they need, and how the records of each kind are checked.

Of many datasets that are checked alike it is settled once. `SetChecks` runs the checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from ragdatakit.files.containers.parquet_rows import RowForm, row_form
from ragdatakit.files.containers.record_forms import form_of
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import (
    Consistency,
    Coverage,
    Disjoint,
    File,
    Format,
    Key,
    Membership,
    Reference,
    Variants,
)
from ragdatakit.validators.collector import RuleState, Selection
from ragdatakit.validators.columns import KeyColumns
from ragdatakit.validators.records import RecordChecker

IndexKey = tuple[str, tuple[str, ...]]
"""A kind and the columns of it that are indexed together."""


@dataclass(frozen=True)
class SetPlan:
    """The set checks that apply to one split; ``named`` are, by kind, the unique fields that references name, ``asked``
    the indexes that a format's own checks ask, whatever is reported of references."""

    keys: tuple[Key, ...]
    references: tuple[Reference, ...]
    memberships: tuple[Membership, ...]
    coverages: tuple[Coverage, ...]
    consistencies: tuple[Consistency, ...]
    variants: tuple[Variants, ...]
    disjoints: tuple[Disjoint, ...]
    agreements: tuple[Consistency, ...]
    named: dict[str, str]
    asked: frozenset[IndexKey] = frozenset()

    @cached_property
    def looked_up(self) -> set[IndexKey]:
        """The indexes that references, memberships, coverages and a format's own checks ask while files are read."""
        found: set[IndexKey] = {(r.to_kind, (r.to_field,)) for r in self.references} | self.asked
        found |= {(m.to_kind, m.to_fields) for m in self.memberships}
        return found | {(c.kind, (c.field,)) for c in self.coverages}

    @cached_property
    def paired(self) -> set[IndexKey]:
        """The indexes that only memberships ask."""
        found: set[IndexKey] = {(m.to_kind, m.to_fields) for m in self.memberships}
        return found - {(key.kind, key.fields) for key in self.keys} - self.compared

    @cached_property
    def compared(self) -> set[IndexKey]:
        """The indexes that are compared with those of other splits."""
        found: set[IndexKey] = {(d.kind, (d.field,)) for d in self.disjoints}
        for agreement in self.agreements:
            for name, value in agreement.names:
                found |= {(agreement.kind, (name,)), (agreement.kind, (name, value))}
        return found

    @cached_property
    def indexed(self) -> list[IndexKey]:
        """All indexes, each once: first those of keys, in the order in which repeated keys are reported."""
        keys = [(key.kind, key.fields) for key in self.keys]
        return list(dict.fromkeys([*keys, *sorted(self.looked_up), *sorted(self.compared)]))

    @cached_property
    def headed(self) -> list[IndexKey]:
        """The memberships within lists, which must know whether there is a list at all."""
        return sorted({(m.to_kind, m.to_fields) for m in self.memberships if m.within})


NO_CHECKS = SetPlan((), (), (), (), (), (), (), (), {})


def plan_sets(
    fmt: Format,
    split: str | None,
    kinds: set[str],
    wanted: Callable[[str], bool],
    across_splits: bool,
    looks_up: bool = False,
) -> SetPlan:
    """What of a format's set checks applies to files of these kinds, by the rules that are ``wanted``. ``looks_up``:
    the format's own checks ask where references lead."""

    def applying(declared: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(d for d in declared if {d.kind, getattr(d, "to_kind", d.kind)} <= kinds and wanted(d.rule))

    def covers(coverage: Coverage) -> bool:
        of_split = not coverage.splits or split is None or split in coverage.splits
        return of_split and any(kind in kinds for kind, _ in coverage.by)

    unique = {(key.kind, key.fields) for key in fmt.keys}
    references = applying(fmt.references)
    return SetPlan(
        keys=applying(fmt.keys),
        references=references,
        memberships=applying(fmt.memberships),
        coverages=tuple(filter(covers, applying(fmt.coverages))),
        consistencies=applying(fmt.consistencies),
        variants=applying(fmt.variants),
        disjoints=applying(fmt.disjoints) if across_splits else (),
        agreements=applying(fmt.agreements) if across_splits else (),
        named={r.to_kind: r.to_field for r in references if (r.to_kind, (r.to_field,)) in unique},
        asked=frozenset((r.to_kind, (r.to_field,)) for r in fmt.references if looks_up and r.to_kind in kinds),
    )


def key_columns(fmt: Format, kind: str, across_splits: bool = True) -> tuple[str, ...]:
    """The columns of a kind that the set checks of its format need: fewer where no splits are compared, as codes of
    long texts take as long as looking at them."""
    names: dict[str, None] = {}
    for key in fmt.keys:
        if key.kind == kind:
            names.update(dict.fromkeys(key.fields))
    for ref in fmt.references:
        names.update({n: None for k, n in ((ref.kind, ref.field), (ref.to_kind, ref.to_field)) if k == kind})
    for cov in fmt.coverages:
        names.update({n: None for k, n in ((cov.kind, cov.field), *cov.by) if k == kind})
    for member in fmt.memberships:
        for k, fields in ((member.kind, member.fields), (member.to_kind, member.to_fields)):
            if k == kind:
                names.update(dict.fromkeys(fields))
    for same in (*fmt.consistencies, *(fmt.agreements if across_splits else ())):
        if same.kind == kind:
            names.update({n: None for pair in same.names for n in pair})
    for variant in fmt.variants:
        if variant.kind == kind:
            names.update(dict.fromkeys(variant.fields))
    for apart in fmt.disjoints if across_splits else ():
        if apart.kind == kind:
            names[apart.field] = None
    return tuple(names)


class KindPlan:
    """What is known of a kind of file: what it is declared to be, and who checks its records, if no check of the
    format's own does; ``has_texts`` says whether they may have any."""

    def __init__(self, declared: File) -> None:
        self.declared = declared
        self.checker = RecordChecker(declared.records, form=form_of(declared))
        self.has_texts = any(f.type != "integer" for r in declared.records for f in r.fields)
        self._row_forms: dict[str, RowForm] = {}

    def row_form(self, container: str) -> RowForm:
        """The form of its rows where they are in this container."""
        found = self._row_forms.get(container)
        return found or self._row_forms.setdefault(container, row_form(self.declared, container))


class FormatPlan:
    """What holds for all datasets of a format that are checked with the same profiles and one selection, as far as
    any of them has asked: ``states`` are what the rules mean, by their names."""

    def __init__(self, fmt: Format) -> None:
        self.format = fmt
        self.states: dict[str, RuleState] = {}
        self._kinds: dict[str, KindPlan] = {}
        self._sets: dict[tuple[Any, ...], SetPlan] = {}
        self._columns: dict[tuple[Any, ...], KeyColumns] = {}

    def kind(self, name: str) -> KindPlan:
        """That of a kind of file; raises `UnknownNameError`."""
        found = self._kinds.get(name)
        return found or self._kinds.setdefault(name, KindPlan(self.format.file(name)))

    def sets(
        self, split: str | None, kinds: set[str], wanted: Callable[[str], bool], across_splits: bool, looks_up: bool
    ) -> SetPlan:
        """As `plan_sets` has it."""
        key = split, frozenset(kinds), across_splits, looks_up
        found = self._sets.get(key)
        if found is None:
            found = self._sets[key] = plan_sets(self.format, split, kinds, wanted, across_splits, looks_up)
        return found

    def columns(
        self, kind: str, more: tuple[str, ...], wanted: Callable[[str], bool], across_splits: bool
    ) -> KeyColumns:
        """The key columns of a kind, and more that a format's own checks need; none of them is derived yet."""
        key = kind, more, across_splits
        found = self._columns.get(key)
        if found is None:
            names = dict.fromkeys((*key_columns(self.format, kind, across_splits), *more))
            spelled = [f for v in self.format.variants if v.kind == kind and wanted(v.rule) for f in v.fields]
            found = self._columns[key] = KeyColumns(self.format.file(kind), names, lambda kind, value: {}, spelled)
        return found


def plan_of(fmt: Format, profiles: tuple[str, ...], selection: Selection, repairs: bool) -> FormatPlan:
    """That of a format; ``repairs``: the faults of all rules are looked for."""
    key = fmt.name, profiles, repairs
    found = selection.plans.get(key)
    if found is None or found.format is not fmt:
        found = selection.plans[key] = FormatPlan(fmt)
    return found
