"""Faults between records: ids that repeat or lead nowhere, pairs, names and splits that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.declarations import Consistency, Key, Membership, Reference, Variants
from tests.faults.drafts import Draft, DraftFile
from tests.faults.injections import TARGET, Injection, Target, targets

LATER = TARGET + 5
_UNKNOWN = {"integer": 987_654_321, "string": "no such id", "any": "no such id"}


def relation_faults(draft: Draft) -> Iterator[Injection]:
    """Every declared relation of the format, broken at a later record of each file that it is about."""
    fmt = draft.format
    for target in targets(draft):
        if not isinstance(target.value, dict):
            continue
        later = Target(draft, target.file, LATER)
        kind = target.file.kind.kind
        for key in fmt.keys:
            if key.kind == kind:
                yield from _repeated(later, target, key)
        for ref in fmt.references:
            if ref.kind == kind:
                yield from _dangling(later, ref)
        for pair in fmt.memberships:
            if pair.kind == kind:
                yield from _unlisted(later, target, pair)
        for same in fmt.consistencies:
            if same.kind == kind:
                yield from _disagreeing(later, target, same)
        for variant in fmt.variants:
            if variant.kind == kind:
                yield from _respelled(later, target, variant)
        if target.file.split is not None:
            yield from _in_two_splits(later)


def _changed(target: Target, damage: str, name: str, changed: dict[str, Any]) -> Injection:
    """What is broken follows from the declarations alone."""
    return target.injection(target.replaced(target.file.sound({**target.value, **changed})), damage, name, frozenset())


def _plain(draft: Draft, kind: str, name: str) -> str:
    """The field that a derived key is made from."""
    return str(draft.notes.get(f"{kind} {name}", "")) if name.startswith("@") else name


def _repeated(later: Target, earlier: Target, key: Key) -> Iterator[Injection]:
    names = [_plain(later.draft, key.kind, f) for f in key.fields]
    changed = {n: earlier.value[n] for n in names if n and n in earlier.value}
    if changed:
        yield _changed(later, "duplicate id", f"{key.rule} by {' and '.join(changed)}", changed)


def _dangling(target: Target, ref: Reference) -> Iterator[Injection]:
    name = _plain(target.draft, ref.kind, ref.field)
    fields = {f.name: f for f in target.record.fields}
    if name not in target.value:
        return
    field = fields[name]
    unknown: Any = _UNKNOWN[field.items or field.type]
    if target.file.is_columns:
        unknown = unknown.replace(" ", "-")
    if isinstance(target.value[name], list):
        yield _changed(target, "dangling reference", f"{name}, only item", {name: [unknown]})
        yield _changed(target, "dangling reference", f"{name}, last item", {name: [*target.value[name], unknown]})
    else:
        yield _changed(target, "dangling reference", name, {name: unknown})


def _unlisted(later: Target, earlier: Target, pair: Membership) -> Iterator[Injection]:
    second = pair.fields[1]
    if pair.within:
        yield _changed(later, "wrong pair", pair.rule, {second: earlier.value[second]})
        return
    listed = _first_listed(later, pair)
    yield _changed(later, "wrong pair", pair.rule, {second: listed})
    if pair.same_as:
        yield _changed(later, "wrong pair", f"{pair.rule}, the same", {second: later.value[pair.same_as]})


def _first_listed(target: Target, pair: Membership) -> Any:
    """The last item that the record's list has (not the one that the record names itself)."""
    for file in target.draft.files:
        if file.kind.kind == pair.to_kind and file.split == target.file.split:
            for _, value in file.records():
                if value[pair.to_fields[0]] == target.value[pair.fields[0]]:
                    return value[pair.to_fields[1]][-1]
    raise LookupError(pair.to_kind)


def _disagreeing(later: Target, earlier: Target, same: Consistency) -> Iterator[Injection]:
    for name, value in same.names:
        for other, _ in same.names:
            if "@" in name + value + other:  # made of several fields: see the faults of lines
                continue
            yield _changed(
                later, "contradiction", f"{name} is an earlier {other}", {name: earlier.value[other], value: "Other"}
            )


def _respelled(later: Target, earlier: Target, variant: Variants) -> Iterator[Injection]:
    fields = [_plain(later.draft, variant.kind, f) for f in variant.fields]
    for name in fields:
        for other in fields:
            sound = earlier.value[other]
            respelled = {"upper case": sound.upper(), "quoted": f'"{sound}"', "more spaces": sound.replace(" ", "  ")}
            for how, text in respelled.items():
                yield _changed(later, "other spelling", f"{name} is an earlier {other}, {how}", {name: text})


def _in_two_splits(later: Target) -> Iterator[Injection]:
    draft, file = later.draft, later.file
    if file.split == next(f.split for f in draft.files if f.split is not None):
        return
    twin = _twin(draft, file)
    for apart in draft.format.disjoints:
        if apart.kind == file.kind.kind:
            given = twin.cells[TARGET].value[apart.field]
            yield _changed(later, "in two splits", apart.field, {apart.field: given})
    for same in draft.format.agreements:
        if same.kind == file.kind.kind:
            for name, _ in same.names:
                given = twin.cells[TARGET].value[name]
                yield _changed(later, "contradiction", f"{name} of another split", {name: given})


def _twin(draft: Draft, file: DraftFile) -> DraftFile:
    return next(f for f in draft.files if f.kind.kind == file.kind.kind and f.split not in (file.split, None))
