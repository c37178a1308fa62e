"""Damaged values: what is put in the place of a sound one, as JSON text, and the kind of damage that it counts as."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragdatakit.schemas.declarations import Field


@dataclass(frozen=True, slots=True)
class Variant:
    """One wrong value: the kind of damage in the score table, a name of its own, its JSON text."""

    damage: str
    name: str
    text: str


_ANY_TYPE = {
    "true": "true",
    "a number": "12345",
    "a decimal": "12.5",
    "text": '"pear"',
    "a list": '["pear"]',
    "an object": '{"pear": "x"}',
}
_FITS = {
    "integer": {"a number"},
    "number": {"a number", "a decimal"},
    "string": {"text"},
    "boolean": {"true"},
    "array": {"a list"},
    "object": {"an object"},
    "any": set(_ANY_TYPE),
}
_NEAR = {"integer": {"true", "a decimal"}, "number": {"true"}, "string": {"a number", "a decimal", "true"}}
_HUGE = {"2^53 + 1": str(2**53 + 1), "2^63": str(2**63), "2^70": str(2**70), "-2^63 - 1": str(-(2**63) - 1)}
_NOT_FINITE = ("NaN", "Infinity", "-Infinity", "1e400")


def field_variants(field: Field, sound: Any) -> Iterator[Variant]:
    """Every wrong value for a field that has the value ``sound`` (None: it is not there)."""
    yield Variant("null", "null", "null")
    yield from _wrong(field.type)
    yield from _near(field.type, sound)
    yield from _odd_numbers()
    yield Variant("empty", "empty", {"array": "[]", "object": "{}"}.get(field.type, '""'))
    if field.type in ("string", "any"):
        yield Variant("empty", "blank", '" "')
        yield Variant("unpaired surrogate", "surrogate", '"\\ud800 high water"')
    if field.enum:
        yield Variant("out of range", "no choice", '"pear"')
    if field.minimum is not None and field.type == "number":
        yield Variant("out of range", "too small", repr(field.minimum - 0.5))
    if field.maximum is not None and field.type == "number":
        yield Variant("out of range", "too large", repr(field.maximum + 0.5))
    if isinstance(sound, list) and sound and field.items:
        yield from _items(field.items, sound)
    if isinstance(sound, dict) and sound and field.values:
        for variant in (*_wrong(field.values), *_odd_numbers(), Variant("null", "null", "null")):
            first, *rest = sound.items()
            text = ", ".join([f"{json.dumps(first[0])}: {variant.text}", *(f'"{k}": {json.dumps(v)}' for k, v in rest)])
            yield Variant(variant.damage, f"value {variant.name}", "{" + text + "}")


def _wrong(kind: str) -> Iterator[Variant]:
    for name, text in _ANY_TYPE.items():
        if name not in _FITS[kind] or kind == "any":
            yield Variant("near type" if name in _NEAR.get(kind, ()) else "wrong type", name, text)


def _near(kind: str, sound: Any) -> Iterator[Variant]:
    if kind == "integer":
        yield Variant("near type", "digits as text", f'"{sound}"')
        yield Variant("near type", "with .0", f"{sound}.0")
        yield Variant("near type", "with an exponent", f"{sound}e0")
        yield Variant("near type", "the half more", f"{sound}.5")
        yield Variant("near type", "in a list", f"[{sound}]")
    elif kind == "number":
        yield Variant("near type", "digits as text", f'"{0.5 if sound is None else sound}"')
        yield Variant("near type", "text of a number", '"0.5"')
    elif kind == "array" and isinstance(sound, list) and sound:
        yield Variant("near type", "one item for a list", json.dumps(sound[0]))
        yield Variant("near type", "list as text", json.dumps(json.dumps(sound)))
    elif kind == "object":
        members = sound if isinstance(sound, dict) and sound else {"a": "b"}
        yield Variant("near type", "object as text", json.dumps(json.dumps(members)))
        yield Variant("near type", "list of pairs", json.dumps(list(map(list, members.items()))))


def _odd_numbers() -> Iterator[Variant]:
    for text in _NOT_FINITE:
        yield Variant("not finite", text, text)
    for name, text in _HUGE.items():
        yield Variant("huge integer", name, text)


def _items(kind: str, sound: list[Any]) -> Iterator[Variant]:
    rest = ", ".join(json.dumps(v) for v in sound[1:])
    near = [Variant("near type", "digits as text", f'"{sound[0]}"'), Variant("near type", "with .0", f"{sound[0]}.0")]
    for variant in (
        Variant("null", "null", "null"),
        *_wrong(kind),
        *(near if kind == "integer" else ()),
        *_odd_numbers(),
    ):
        yield Variant(variant.damage, f"item {variant.name}", f"[{variant.text}{', ' if rest else ''}{rest}]")
    twice = json.dumps([*sound, sound[0]])
    yield Variant("duplicate id", "an item twice", twice)
