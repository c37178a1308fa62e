"""What the declared keys, references, coverage and the like say of a draft, worked out the slow and obvious way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ragdatakit.schemas.declarations import Consistency, Coverage, Membership, Variants
from tests.faults.drafts import Draft, DraftFile, Place


@dataclass(frozen=True, slots=True)
class _Row:
    """One decoded record: where it stands, what its keys are."""

    path: str
    line: int
    keys: dict[str, Any]


def broken_sets(draft: Draft) -> set[Place]:
    """Every place where a declared rule about several records is broken."""
    splits: list[str | None] = list(dict.fromkeys(f.split for f in draft.files if f.split is not None))
    found: set[Place] = set()
    earlier: list[_Split] = []
    for name in splits or [None]:
        split = _Split(draft, name)
        found |= set(split.broken())
        for other in earlier:
            found |= set(split.in_both(other))
        earlier.append(split)
    return found


def once_per_file(draft: Draft, found: set[Place]) -> set[Place]:
    """Of the rules that are reported once per file, the first place only."""
    per_file = {r.name for r in draft.format.rules if r.per_file}
    kept: dict[tuple[str, str], Place] = {}
    for place in sorted(found, key=lambda p: p.line or 0):
        kept.setdefault((place.rule, place.path) if place.rule in per_file else (place.rule, f"{place}"), place)
    return set(kept.values())


class _Split:
    """The records of one split, by kind."""

    def __init__(self, draft: Draft, name: str | None) -> None:
        self.draft = draft
        self.name = name
        files = self.files = [f for f in draft.files if f.split in (name, None)]
        self.kinds = {f.kind.kind for f in files}
        self.rows = {kind: list(_rows(draft, kind, files)) for kind in self.kinds}

    def values(self, kind: str, fields: tuple[str, ...]) -> Iterator[tuple[Any, _Row]]:
        """The readable values of a key with their records; each item of a list."""
        for row in self.rows.get(kind, ()):
            head = tuple(row.keys.get(f) for f in fields[:-1])
            last = row.keys.get(fields[-1])
            for value in last if isinstance(last, list) else [last]:
                if value is not None and None not in head:
                    yield (*head, value), row

    def broken(self) -> Iterator[Place]:
        fmt = self.draft.format
        for key in fmt.keys:
            first: dict[Any, _Row] = {}
            for value, row in self.values(key.kind, key.fields):
                if first.setdefault(value, row) is not row:
                    yield Place(key.rule, row.path, row.line)
        yield from self._dangling()
        yield from self._unreliable()
        for membership in fmt.memberships:
            if {membership.kind, membership.to_kind} <= self.kinds:
                yield from self._pairs(membership)
        for coverage in fmt.coverages:
            if coverage.kind in self.kinds and (not coverage.splits or self.name in (None, *coverage.splits)):
                yield from self._uncovered(coverage)
        for same in fmt.consistencies:
            yield from self._disagreeing(same)
        for variant in fmt.variants:
            yield from self._spelled_otherwise(variant)

    def _dangling(self) -> Iterator[Place]:
        for ref in self.draft.format.references:
            if {ref.kind, ref.to_kind} <= self.kinds:
                known = {v for v, _ in self.values(ref.to_kind, (ref.to_field,))}
                for value, row in self.values(ref.kind, (ref.field,)):
                    if value not in known:
                        yield Place(ref.rule, row.path, row.line)

    def _unreliable(self) -> Iterator[Place]:
        """The first record of a kind whose key cannot be read, where something refers to a key that is not there."""
        unique = {(k.kind, k.fields) for k in self.draft.format.keys}
        seen: set[str] = set()
        for ref in self.draft.format.references:
            if ref.to_kind in seen or not {ref.kind, ref.to_kind} <= self.kinds:
                continue
            known = {v for v, _ in self.values(ref.to_kind, (ref.to_field,))}
            without = [(r.path, r.line) for r in self.rows[ref.to_kind] if r.keys.get(ref.to_field) is None]
            files = (f for f in self.files if f.kind.kind == ref.to_kind)
            without += [(f.path, line) for f in files for line in f.unreadable()]
            dangles = any(value not in known for value, _ in self.values(ref.kind, (ref.field,)))
            if dangles and without and (ref.to_kind, (ref.to_field,)) in unique:
                seen.add(ref.to_kind)
                yield Place("unreliable-key", *min(without))

    def _pairs(self, given: Membership) -> Iterator[Place]:
        pairs = {v for v, _ in self.values(given.to_kind, given.to_fields)}
        heads = {v[0] for v in pairs}
        # A reference that leads nowhere, or a list that is missing, is one fault and not two.
        dangling = {(p.path, p.line) for p in self._dangling()}
        for value, row in self.values(given.kind, given.fields):
            same = bool(given.same_as) and row.keys.get(given.same_as) == value[-1]
            if given.within:
                broken = value not in pairs and value[0] in heads and (row.path, row.line) not in dangling
            else:
                broken = value in pairs
            if broken or same:
                yield Place(given.rule, row.path, row.line)

    def _uncovered(self, message: Coverage) -> Iterator[Place]:
        covering = [(kind, name) for kind, name in message.by if kind in self.kinds]
        # A line of cells that cannot be cut may name what no other does: nothing that follows from it is reported.
        unread = (f for f in self.files if f.is_columns and any(f.unreadable()))
        if not covering or not {f.kind.kind for f in unread}.isdisjoint(kind for kind, _ in covering):
            return
        named = {value for kind, name in covering for value, _ in self.values(kind, (name,))}
        for value, row in self.values(message.kind, (message.field,)):
            if value not in named:
                named.add(value)
                yield Place(message.rule, row.path, row.line)

    def _given(self, message: Consistency) -> Iterator[tuple[Any, Any, _Row]]:
        for row in self.rows.get(message.kind, ()):
            for name, value in message.names:
                if row.keys.get(name) is not None:
                    given = row.keys.get(value)
                    yield row.keys[name], message.default if given is None else given, row

    def _disagreeing(self, given: Consistency) -> Iterator[Place]:
        first: dict[Any, Any] = {}
        seen: set[Any] = set()
        for name, value, row in self._given(given):
            if first.setdefault(name, value) != value and (name, value) not in seen:
                seen.add((name, value))
                yield Place(given.rule, row.path, row.line)

    def _spelled_otherwise(self, message: Variants) -> Iterator[Place]:
        first: dict[str, str] = {}
        seen: set[str] = set()
        for row in self.rows.get(message.kind, ()):
            for field in message.fields:
                name = row.keys.get(field)
                if isinstance(name, str):
                    plain = " ".join(name.replace('"', " ").casefold().split())
                    if first.setdefault(plain, name) != name and name not in seen:
                        seen.add(name)
                        yield Place(message.rule, row.path, row.line)

    def in_both(self, other: _Split) -> Iterator[Place]:
        for apart in self.draft.format.disjoints:
            known = {v for v, _ in other.values(apart.kind, (apart.field,))}
            for value, row in self.values(apart.kind, (apart.field,)):
                if value in known:
                    known.discard(value)
                    yield Place(apart.rule, row.path, row.line)
        for same in self.draft.format.agreements:
            there = {(name, value) for name, value, _ in other._given(same)}
            names = {name for name, _ in there}
            for name, value, row in self._given(same):
                if name in names and (name, value) not in there:
                    yield Place(same.rule, row.path, row.line)


def _rows(draft: Draft, kind: str, files: list[DraftFile]) -> Iterator[_Row]:
    fields = {f.name: f for r in draft.format.file(kind).records for f in r.fields}
    for file in sorted((f for f in files if f.kind.kind == kind), key=lambda f: f.path):
        for line, value in file.records():
            keys: dict[str, Any] = {}
            if isinstance(value, dict):
                for name, field in fields.items():
                    found = value.get(name)
                    if field.type == "array":
                        items = found if isinstance(found, list) else []
                        keys[name] = [readable(v, field.items or "any") for v in items]
                    else:
                        keys[name] = readable(found, field.type)
            if value is not None:
                keys.update(draft.derive(file.path, kind, value))
            yield _Row(file.path, line, keys)


def readable(value: Any, kind: str) -> Any:
    """A key as a lenient reader takes it, so that its damage is reported once: "12" and 12.0 are 12; else None."""
    if kind != "integer":
        return value if isinstance(value, str) else None
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = int(value) if isinstance(value, int | str) or value == int(value) else None
    except (ValueError, OverflowError, TypeError):
        return None
    return number if number is not None and -(2**63) <= number < 2**63 else None
