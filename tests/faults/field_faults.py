"""Faults of single values: every field × every wrong value, missing, standing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ragdatakit.schemas.declarations import Field
from tests.faults.expected import is_fault, rules_of_value
from tests.faults.injections import Injection, Target, object_text, readable_cell
from tests.faults.values import Variant, field_variants


def field_faults(target: Target) -> Iterator[Injection]:
    """Every damage of every field of the record."""
    if not isinstance(target.value, dict):
        yield from _string_faults(target)
        return
    for field in target.record.fields:
        if field.name in target.value:
            yield _missing(target, field)
            yield from _twice(target, field)
        for variant in field_variants(field, target.value.get(field.name)):
            yield _replaced(target, field, variant)


def _replaced(target: Target, field: Field, variant: Variant) -> Injection:
    members = {**target.members(), field.name: variant.text}
    found = rules_of_value(target.draft.format, target.record, field, variant.text)
    own = target.draft.own_rules(target.file.kind.kind, field.name, variant.name)
    return target.injection(
        target.replaced(readable_cell(object_text(members))),
        variant.damage,
        f"{field.name}: {variant.name}",
        target.places(*(rule for rule, _ in found), *own),
        pointers=frozenset(found),
    )


def _missing(target: Target, field: Field) -> Injection:
    members = target.members()
    del members[field.name]
    rule = target.record.rule_for("missing", field.name) if field.required else ""
    own = target.draft.own_rules(target.file.kind.kind, field.name, "missing")
    return target.injection(
        target.replaced(readable_cell(object_text(members))), "missing", field.name, target.places(rule, *own)
    )


def _twice(target: Target, field: Field) -> Iterator[Injection]:
    """The last value counts, so that nothing else is wrong with the record."""
    members = target.members()
    for name, first in (("the same", members[field.name]), ("another", '"another"')):
        sound = f"{json.dumps(field.name)}: {members[field.name]}"
        raw = object_text(members).replace(sound, f"{json.dumps(field.name)}: {first}, {sound}", 1)
        rule = "duplicate-key" if is_fault(target.draft.format, "duplicate-key") else ""
        yield target.injection(
            target.replaced(readable_cell(raw)),
            "duplicate key",
            f"{field.name}: {name}",
            target.places(rule),
            pointers=frozenset({(rule, f"/{field.name}")}) if rule else frozenset(),
        )


_STRINGS = {
    "empty": '""',
    "blank": '" "',
    "without colon": '"The lighthouse of Skarn"',
    "without text": '"20:"',
    "without id": '":The lighthouse number 20 was lit again."',
    "padded id": '" 20:The lighthouse number 20 was lit again."',
    "leading zeros": '"0020:The lighthouse number 20 was lit again."',
    "surrogate": '"20:\\ud800 The lighthouse number 20 was lit again."',
}


def _string_faults(target: Target) -> Iterator[Injection]:
    for name, text in _STRINGS.items():
        own = target.draft.own_rules(target.file.kind.kind, "", name)
        rule = "lone-surrogate" if name == "surrogate" else ""
        damage = (
            "unpaired surrogate" if rule else "empty" if name in ("empty", "blank", "without text") else "near type"
        )
        yield target.injection(target.replaced(readable_cell(text)), damage, name, target.places(rule, *own))
