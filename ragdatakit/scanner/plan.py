"""A declaration compiled for the scanner: one blob, which `scanner/src/plan.rs` parses."""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable

from ragdatakit.scanner.library import ABI, run_seed
from ragdatakit.scanner.predicates import (
    Blank,
    Edged,
    Equal,
    Given,
    Holds,
    ItemTwice,
    Longer,
    NotFirst,
    OneUnlikeNumber,
    Predicate,
)
from ragdatakit.schemas.declarations import Field, Record

_TYPES = {"integer": 1, "number": 2, "string": 3, "boolean": 4, "object": 5, "array": 6, "any": 7}
_REQUIRED, _NULLABLE, _NON_EMPTY, _KEY, _LEAST, _GREATEST = 1, 2, 4, 8, 16, 32
_KINDS: dict[type[Predicate], int] = {
    Blank: 1,
    Longer: 2,
    Edged: 3,
    Holds: 4,
    ItemTwice: 5,
    NotFirst: 6,
    OneUnlikeNumber: 7,
    Given: 8,
    Equal: 9,
}


def plan_blob(record: Record, keys: Collection[str], predicates: Iterable[Predicate]) -> bytes:
    """What the scanner is to know of a kind of record: its fields, which are keys, what its rules look at."""
    names = [f.name for f in record.fields]
    parts = [struct.pack("<IQBH", ABI, run_seed(), record.extra == "forbid", len(names))]
    parts += [_field(field, field.name in keys) for field in record.fields]
    asked = list(predicates)
    parts.append(struct.pack("<H", len(asked)))
    parts += [_predicate(one, names) for one in asked]
    return b"".join(parts)


def _field(field: Field, is_key: bool) -> bytes:
    flags = _REQUIRED * field.required | _NULLABLE * field.nullable | _NON_EMPTY * field.non_empty | _KEY * is_key
    flags |= _LEAST * (field.minimum is not None) | _GREATEST * (field.maximum is not None)
    below = (field.items if field.type == "array" else field.values) or "any"
    head = struct.pack("<BBBdd", _TYPES[field.type], _TYPES[below], flags, field.minimum or 0, field.maximum or 0)
    allowed = b"".join(map(_text, field.enum))
    return _text(field.name) + head + struct.pack("<H", len(field.enum)) + allowed


def _predicate(one: Predicate, names: list[str]) -> bytes:
    limit = one.limit if isinstance(one, Longer) else names.index(one.other) if isinstance(one, Equal) else 0
    characters = one.characters if isinstance(one, Blank | Edged | Holds) else ""
    return struct.pack("<BHQ", _KINDS[type(one)], names.index(one.field), limit) + _text(characters)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data)) + data
