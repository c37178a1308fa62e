"""A declaration compiled for the scanner: one blob, which `scanner/src/plan.rs` parses."""

from __future__ import annotations

import struct
from collections.abc import Collection, Hashable, Iterable

from ragdatakit.scanner.library import ABI, code_seeds
from ragdatakit.scanner.predicates import (
    Beginning,
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
    Lacks,
    Longer,
    MarkInside,
    MemberBeginning,
    MemberCalled,
    Mistyped,
    Nested,
    NoSentence,
    NotFirst,
    NotStarting,
    NotVisible,
    NumberedMembers,
    OneUnlikeNumber,
    OpenIfBlank,
    OpenIfEdged,
    OpenUnlessGiven,
    OpenUnlessText,
    OpenUnlessTexts,
    Predicate,
    Shorter,
    Spelled,
    Starting,
    Stripped,
    Unequal,
    Vacuous,
    plain_ranges,
)
from ragdatakit.scanner.relations import (
    RELATIONS,
    Alike,
    Apart,
    Closed,
    CountedBeyond,
    Cut,
    First,
    Joined,
    Lacking,
    Measure,
    NoQuotient,
    OnceCount,
    Parts,
    Relation,
    Several,
    Taken,
    Undigested,
    Without,
)
from ragdatakit.schemas.declarations import Columns, Field, Record

Asked = Predicate | Parts | Closed | Cut | Taken | Joined | First | Relation
"""What the checks of a format may say of a kind of record."""

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
    Lacks: 23,
    OpenUnlessTexts: 24,
    OpenUnlessGiven: 25,
    NoSentence: 26,
    Beginning: 27,
    OpenIfBlank: 28,
    NumberedMembers: 29,
    NotVisible: 30,
    MarkInside: 31,
    Vacuous: 32,
    Starting: 33,
    NotStarting: 33,
    Mistyped: 34,
    Stripped: 35,
}
_JOINED, _FIRST = 255, 254
_NO_FIELD = 0xFFFF


def counts_of(asked: Iterable[Asked]) -> list[Hashable]:
    """The names of all counts, by their numbers."""
    names: list[Hashable] = []
    for one in asked:
        if isinstance(one, Counted):
            names.append(one.count)
        elif isinstance(one, Relation) and one.once:
            names.append(OnceCount(one.once))
        elif isinstance(one, CountedBeyond):
            names.extend(one.counts)
        elif isinstance(one, Mistyped):
            names.extend(map(OnceCount, (one.rule, one.null_rule)))
    return list(dict.fromkeys(names))


def scopes_of(record: Record, asked: Iterable[Asked]) -> dict[str, dict[str, Field]]:
    """The objects of which fields are declared, by what they are in (the record itself: ``""``), and those fields by
    their whole names."""
    asked = list(asked)
    found = {"": {f.name: f for f in record.fields}}
    for one in asked:
        if isinstance(one, Taken):
            found[""][one.as_.name] = one.as_
        elif isinstance(one, Cut):
            found[""] = one.fields()
        elif isinstance(one, NumberedMembers):
            found[""][one.names] = Field(name="key", type="array", items="integer", required=False)
            found[""][one.numbers] = Field(name="key", type="array", items="number", required=False)
    for parts in (one for one in asked if isinstance(one, Parts)):
        found[parts.field] = {f"{parts.field}/{f.name}": f for f in parts.fields}
    for joined in (one for one in asked if isinstance(one, Joined | First)):
        found[joined.key.rpartition("/")[0]][joined.key] = Field(name="key", type="string", required=False)
    return found


def plan_blob(
    record: Record,
    keys: Collection[str],
    asked: Iterable[Asked],
    cells: Columns | None = None,
    tags: Collection[str] = (),
    by_member: bool = False,
) -> bytes:
    """What the scanner is to know of a kind of record: its fields, which are keys, what its rules look at; ``cells`` is
    how lines of cells, which are not JSON, are cut, ``tags`` what elements between tags are called; ``by_member``: it
    is to say of which members a record is noted."""
    asked = list(asked)
    scopes = scopes_of(record, asked)
    fields = [(name, field) for scope in scopes.values() for name, field in scope.items()]
    names = [name for name, _ in fields]
    parts = [struct.pack("<IQQH", ABI, *code_seeds(), len(names))]
    parts += [_field(field, name in keys) for name, field in fields]
    closed = next((one for one in asked if isinstance(one, Closed)), None)
    rows = {one.field for one in asked if isinstance(one, Parts) and one.rows}
    closed_parts = {one.field for one in asked if isinstance(one, Parts) and one.closed}
    parts.append(struct.pack("<B", len(scopes)))
    for owner, own in scopes.items():
        is_closed = owner in closed_parts if owner else closed is not None or record.extra == "forbid"
        parts.append(struct.pack("<HHBB", names.index(owner) if owner else 0, len(own), is_closed, owner in rows))
        parts.append(_text(closed.unless if not owner and closed is not None else ""))
    predicates = [one for one in asked if isinstance(one, Predicate)]
    counts = counts_of(asked)
    parts += [struct.pack("<H", len(predicates)), *(_predicate(one, names, counts) for one in predicates)]
    relations = [one for one in asked if isinstance(one, Relation | Joined | First)]
    parts += [struct.pack("<H", len(relations)), *(_relation(one, names, list(scopes), counts) for one in relations)]
    cut = next((one.at for one in asked if isinstance(one, Cut)), "\0")
    parts.append(cut.encode())
    parts.append(_cells(cells) if cells is not None else b"\0")
    return b"".join((*parts, struct.pack("<B", len(tags)), *map(_text, tags), struct.pack("<B", by_member)))


def _cells(cells: Columns) -> bytes:
    separator = ord(cells.separator) if cells.separator else 0
    return struct.pack("<BBB", 1, separator, cells.quoted) + _text(cells.comment)


def _relation(one: Relation | Joined | First, names: list[str], scopes: list[str], counts: list[Hashable]) -> bytes:
    numbers = [names.index(name) for name in one.fields]
    listed = struct.pack(f"<B{len(numbers)}H", len(numbers), *numbers)
    if isinstance(one, Joined | First):
        kind = _JOINED if isinstance(one, Joined) else _FIRST
        head = struct.pack("<BBH", scopes.index(one.key.rpartition("/")[0]), kind, names.index(one.key))
        between, within = (one.between, one.within) if isinstance(one, Joined) else ("", "")
        return head + listed + _text(between) + _text(within)
    counted = one.counts[0] if one.counts else OnceCount(one.once)
    once = counts.index(counted) + 1 if one.counts or one.once else 0
    unless = names.index(one.unless) if one.unless else _NO_FIELD
    head = struct.pack("<BBBd", _scope(one, scopes), RELATIONS.index(type(one)), once, one.number)
    return head + listed + _text(one.text) + struct.pack("<H", unless)


def _scope(one: Relation, scopes: list[str]) -> int:
    """The object that a question is asked of: the one that all its fields are in, else the record."""
    owners = {name.rpartition("/")[0] for name in one.fields}
    return scopes.index(owners.pop()) if len(owners) == 1 and type(one) in _OF_OBJECTS else 0


_OF_OBJECTS = (Apart, Without, Lacking, Several, NoQuotient, Measure, Undigested, Alike)
"""Questions that are asked of each object; those about lists are asked of all values together."""


def _field(field: Field, is_key: bool) -> bytes:
    flags = _REQUIRED * field.required | _NULLABLE * field.nullable | _NON_EMPTY * field.non_empty | _KEY * is_key
    flags |= _LEAST * (field.minimum is not None) | _GREATEST * (field.maximum is not None)
    below = (field.items if field.type == "array" else field.values) or "any"
    head = struct.pack("<BBBdd", _TYPES[field.type], _TYPES[below], flags, field.minimum or 0, field.maximum or 0)
    allowed = b"".join(map(_text, field.enum))
    return _text(field.name) + head + struct.pack("<H", len(field.enum)) + allowed


def _predicate(one: Predicate, names: list[str], counts: list[Hashable]) -> bytes:
    limit, text = 0, getattr(one, "characters", "")
    match one:
        case Longer() | Shorter() | NoSentence():
            limit = one.limit
        case Equal():
            limit = names.index(one.other)
        case Unequal() | Starting():
            text = one.text
        case NotStarting():
            limit, text = 1, one.text
        case MemberCalled():
            text = one.name
        case MemberBeginning():
            text = one.character
        case NumberedMembers():
            limit = names.index(one.names) | names.index(one.numbers) << 16
        case CountedUnlike():
            limit, text = counts.index(one.count) | names.index(one.other) << 16, one.otherwise
        case CountedMember():
            limit, text = counts.index(one.count), one.name
        case Counted():
            limit = counts.index(one.count)
        case Mistyped():
            limit = counts.index(one.rule) | counts.index(one.null_rule) << 16 | one.shown << 32
        case Spelled():
            text = plain_ranges()
    return struct.pack("<BHQ", _KINDS[type(one)], names.index(one.field), limit) + _text(text)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data)) + data
