"""A declaration compiled for the scanner: one blob, which `scanner/src/plan.rs` parses."""

from __future__ import annotations

import struct
from collections.abc import Collection, Hashable, Iterable

from ragdatakit.scanner.library import ABI, run_seed
from ragdatakit.scanner.predicates import (
    Blank,
    Changed,
    Counted,
    CountedMember,
    CountedUnlike,
    Edged,
    Equal,
    FewLetters,
    Given,
    Holds,
    ItemTwice,
    Longer,
    MemberBeginning,
    MemberCalled,
    Nested,
    NotFirst,
    OneUnlikeNumber,
    OpenIfEdged,
    OpenUnlessText,
    Predicate,
    Shorter,
    Spelled,
    Unequal,
    plain_ranges,
)
from ragdatakit.schemas.declarations import Columns, Field, Record

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
    OpenIfEdged: 10,
    OpenUnlessText: 11,
    Shorter: 12,
    Unequal: 13,
    Counted: 14,
    Nested: 15,
    MemberCalled: 16,
    MemberBeginning: 17,
    CountedMember: 18,
    CountedUnlike: 19,
    Spelled: 20,
    FewLetters: 21,
    Changed: 22,
}


def counts_of(predicates: Iterable[Predicate]) -> list[Hashable]:
    """The names of all counts, by their numbers."""
    return list(dict.fromkeys(one.count for one in predicates if isinstance(one, Counted)))


def plan_blob(
    record: Record, keys: Collection[str], predicates: Iterable[Predicate], cells: Columns | None = None
) -> bytes:
    """What the scanner is to know of a kind of record: its fields, which are keys, what its rules look at; ``cells`` is
    how lines of cells, which are not JSON, are cut."""
    names = [f.name for f in record.fields]
    parts = [struct.pack("<IQBH", ABI, run_seed(), record.extra == "forbid", len(names))]
    parts += [_field(field, field.name in keys) for field in record.fields]
    asked = list(predicates)
    parts.append(struct.pack("<H", len(asked)))
    counts = counts_of(asked)
    parts += [_predicate(one, names, counts) for one in asked]
    if cells is None:
        return b"".join((*parts, b"\0"))
    separator = ord(cells.separator) if cells.separator else 0
    return b"".join((*parts, struct.pack("<BBB", 1, separator, cells.quoted), _text(cells.comment)))


def _field(field: Field, is_key: bool) -> bytes:
    flags = _REQUIRED * field.required | _NULLABLE * field.nullable | _NON_EMPTY * field.non_empty | _KEY * is_key
    flags |= _LEAST * (field.minimum is not None) | _GREATEST * (field.maximum is not None)
    below = (field.items if field.type == "array" else field.values) or "any"
    head = struct.pack("<BBBdd", _TYPES[field.type], _TYPES[below], flags, field.minimum or 0, field.maximum or 0)
    allowed = b"".join(map(_text, field.enum))
    return _text(field.name) + head + struct.pack("<H", len(field.enum)) + allowed


def _predicate(one: Predicate, names: list[str], counts: list[Hashable]) -> bytes:
    limit, text = 0, ""
    match one:
        case Longer() | Shorter():
            limit = one.limit
        case Equal():
            limit = names.index(one.other)
        case Blank() | Edged() | OpenIfEdged() | Holds():
            text = one.characters
        case Unequal():
            text = one.text
        case MemberCalled():
            text = one.name
        case MemberBeginning():
            text = one.character
        case CountedUnlike():
            limit, text = counts.index(one.count) | names.index(one.other) << 16, one.otherwise
        case CountedMember():
            limit, text = counts.index(one.count), one.name
        case Counted():
            limit = counts.index(one.count)
        case Spelled():
            text = plain_ranges()
    return struct.pack("<BHQ", _KINDS[type(one)], names.index(one.field), limit) + _text(text)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data)) + data
