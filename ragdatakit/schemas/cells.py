"""One cell of a table against its declared field: what of it is damaged.

A cell holds what JSON or CSV held, as a Python value. ``None`` is JSON's null, ``pandas.NA`` a field that the record
does not have; a NaN counts as such, too, for pandas puts it where a value is missing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import Damage, Field

CELL_DAMAGES: tuple[Damage, ...] = ("missing", "null", "type", "empty", "enum", "range", "item-type", "item-range")
"""What a cell can show; the other kinds of damage are about the text of a file."""

MISSING = frozenset(
    "#N/A|#N/A N/A|#NA|-1.#IND|-1.#QNAN|-NaN|-nan|1.#IND|1.#QNAN|<NA>|N/A|NA|NULL|NaN|None|n/a|nan|null|".split("|")
)
"""Cells that pandas takes for missing, unless it is set to keep them."""
MAX_FLOAT = sys.float_info.max
_PLAIN = frozenset((str, int, bool, list, dict, type(None)))
_DIGITS = r"[+-]?([0-9]+(_?[0-9]+)*\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_NOT_FINITE = r"[+-]?([iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])"
NUMERIC_TEXT = rf"^\s*({_DIGITS}|{_NOT_FINITE})\s*$"
_NUMERIC = late_pattern(NUMERIC_TEXT, re.ASCII)


def parts_of(value: Any) -> Iterator[Any]:
    """A value and everything in it, keys too. Without recursion: a hostile cell may be nested deeper than the stack."""
    pending = [value]
    while pending:
        part = pending.pop()
        yield part
        if isinstance(part, dict):
            pending += [*part, *part.values()]
        elif isinstance(part, list | tuple | set):
            pending += part


def cell_damage(field: Field, value: Any) -> Damage | None:
    """The first damage of a cell, None where it is as declared."""
    if type(value) not in _PLAIN:
        if hasattr(value, "item") and hasattr(value, "dtype"):
            value = value.item()  # a numpy scalar
        if is_absent(value):
            return "missing" if field.required else None
        if is_decimal(value):
            value = float(value)
    if value is None:
        return None if field.nullable else "null"
    if not _fits(value, field.type, field.lax_number):
        return "type"
    if field.non_empty and not value and field.type in ("string", "array", "object"):
        return "empty"
    if field.enum and value not in field.enum:
        return "enum"
    if field.type in ("integer", "number") and not is_within(value, field):
        return "range"
    return _item_damage(field, value)


def is_decimal(value: Any) -> bool:
    """Whether a value is a `Decimal`: only where their module was imported there are any."""
    decimal = sys.modules.get("decimal")
    return decimal is not None and isinstance(value, decimal.Decimal)


def is_absent(value: Any) -> bool:
    """Whether a cell stands for a field that the record does not have."""
    return (isinstance(value, float) and value != value) or type(value).__name__ in ("NAType", "NaTType")


def _item_damage(field: Field, value: Any) -> Damage | None:
    items: Iterable[Any] = ()
    kind = None
    if isinstance(value, list):
        items, kind = value, field.items
    elif isinstance(value, dict):
        items, kind = value.values(), field.values
    if kind is None:
        return None
    for item in items:
        if not _fits(item, kind, field.lax_number):
            return "item-type"
        if kind in ("integer", "number") and not is_within(item, field):
            return "item-range"
    return None


_SIMPLE: dict[str, type] = {"string": str, "boolean": bool, "object": dict, "array": list}


def _fits(value: Any, kind: str, lax_number: bool) -> bool:
    if kind == "any":
        return True
    if kind == "integer":
        return type(value) is int
    if kind in _SIMPLE:
        return isinstance(value, _SIMPLE[kind])
    if isinstance(value, bool):
        return lax_number
    if isinstance(value, str):
        return lax_number and _NUMERIC.fullmatch(value) is not None
    if isinstance(value, float) and lax_number:
        return True
    return isinstance(value, int | float) and -MAX_FLOAT <= value <= MAX_FLOAT


def is_within(value: Any, field: Field) -> bool:
    """Whether a number is within the bounds of its field; a text always is."""
    if isinstance(value, str):
        return True
    if field.minimum is not None and value < field.minimum:
        return False
    return not (field.maximum is not None and value > field.maximum)
