"""Which rules a damaged value breaks, and where in the record, read off the declaration of its field."""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.declarations import Damage, Field, Format, Record, Type

_NUMERIC_TEXT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_CONSTANTS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def rules_of_value(fmt: Format, record: Record, field: Field, text: str) -> set[tuple[str, str]]:
    """(rule, JSON Pointer) for a field whose value is that JSON text."""
    value = json.loads(text)
    pointer = f"/{field.name}"
    found: set[tuple[str, str]] = set()
    damage = _damage(field, value)
    if damage is not None:
        found.add((record.rule_for(damage, field.name), pointer))
    else:
        for key, item in _items(field, value):
            below = _item_damage(field, item, _item_type(field))
            if below is not None:
                found.add((record.rule_for(below, field.name), f"{pointer}/{key}"))
    found = {(rule, where) for rule, where in found if rule}
    by_name = {where for _, where in found}
    for where, rule in _odd_places(text, pointer):
        if rule == "lone-surrogate" or where not in by_name:
            found.add((rule, where))
    return {(rule, where) for rule, where in found if is_fault(fmt, rule)}


def is_fault(fmt: Format, rule: str) -> bool:
    """Whether a rule means anything for a format: a shared one may be adopted as no fault."""
    adopted = fmt.adopts.get(rule)
    return bool(rule) and not (adopted is not None and adopted.severity is None)


def _damage(field: Field, value: Any) -> Damage | None:
    if value is None:
        return None if field.nullable else "null"
    if not _is_of(field.type, value, field.lax_number):
        return "type"
    if field.non_empty and value in ("", [], {}):
        return "empty"
    if field.enum and value not in field.enum:
        return "enum"
    if field.type in ("integer", "number") and _outside(field, value):
        return "range"
    return None


def _item_type(field: Field) -> Type:
    return field.items or field.values or "any"


def _items(field: Field, value: Any) -> Iterator[tuple[str, Any]]:
    if field.items is not None and isinstance(value, list):
        yield from ((str(i), v) for i, v in enumerate(value))
    if field.values is not None and isinstance(value, dict):
        yield from value.items()


def _item_damage(field: Field, value: Any, kind: Type) -> Damage | None:
    if not _is_of(kind, value, field.lax_number):
        return "item-type"
    return "item-range" if kind in ("integer", "number") and _outside(field, value) else None


def _is_of(kind: Type, value: Any, lax: bool) -> bool:
    if kind == "any":
        return True
    if kind == "number":
        if isinstance(value, bool):
            return lax
        if isinstance(value, str):
            return lax and _NUMERIC_TEXT.fullmatch(value.strip()) is not None
        return isinstance(value, float | int) and (lax or abs(value) <= sys.float_info.max)
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[str, type] = {"integer": int, "string": str, "array": list, "object": dict}
    return isinstance(value, types.get(kind, bool))


def _outside(field: Field, value: Any) -> bool:
    if isinstance(value, str):
        return False
    low, high = field.minimum, field.maximum
    return (low is not None and value < low) or (high is not None and value > high)


def _odd_places(text: str, pointer: str) -> Iterator[tuple[str, str]]:
    """(JSON Pointer, shared rule) for what readers of JSON read differently."""
    for where, found in _scalars(
        json.loads(text, parse_float=str, parse_constant=lambda name: {"constant": name}), pointer
    ):
        if isinstance(found, dict):
            yield where, "non-finite-number"
        elif isinstance(found, str) and re.search("[\ud800-\udfff]", found):
            yield where, "lone-surrogate"
        elif isinstance(found, str) and found == "1e400":
            yield where, "number-out-of-range"
        elif isinstance(found, int) and not isinstance(found, bool) and abs(found) > 2**53:
            yield where, "integer-beyond-2-53"


def _scalars(value: Any, pointer: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from _scalars(item, f"{pointer}/{i}")
    elif isinstance(value, dict) and "constant" not in value:
        for key, item in value.items():
            yield from _scalars(item, f"{pointer}/{key}")
    else:
        yield pointer, value
