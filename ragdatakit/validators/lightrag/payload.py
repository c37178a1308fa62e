"""The payload of a custom graph: what ainsert_custom_kg stops at, half way or before, and what it loses silently."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.lightrag.names import NO_SOURCES, SEPARATOR, normalised, pair_of, sanitized
from ragdatakit.files.texts.codes import code_of, code_of_value
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lacking import unusable

PARTS = ("chunks", "entities", "relationships")
ENDS = ("src_id", "tgt_id")
_READ = (
    *("content", "source_id", "chunk_order_index", "full_doc_id", "file_path", "tokens"),
    *("entity_name", "entity_type", "description", "src_id", "tgt_id", "keywords", "weight"),
)


def payload_problems(payload: dict[str, Any]) -> Iterator[Problem]:
    """The faults of a whole payload."""
    for key in payload:
        if key not in PARTS:
            yield Problem("unknown-payload-key", f"/{key}", key)
    for part in PARTS:
        if payload.get(part, []) == []:
            where = f"/{part}" if part in payload else None
            yield Problem("payload-without-part", where, facts={"expected": part, "case": part})
    chunks, entities, relationships = (_objects(payload.get(part)) for part in PARTS)
    aliases: dict[Any, int] = {}
    for place, chunk in chunks:
        yield from _chunk(chunk, f"/chunks/{place}", aliases)
    names = _Names(_is_whole(payload, "entities"))
    if not _is_whole(payload, "chunks"):  # which is reported by itself
        aliases = _All()
    for place, entity in entities:
        yield from _entity(entity, f"/entities/{place}", aliases, names)
    pairs: dict[tuple[str, str], bytes] = {}
    for place, relation in relationships:
        yield from _relation(relation, f"/relationships/{place}", aliases, names, pairs)


class _All(dict[Any, int]):
    """Aliases of which it is not known which there are."""

    def __contains__(self, alias: object) -> bool:
        return True


def _is_whole(payload: dict[str, Any], part: str) -> bool:
    items = payload.get(part, [])
    return isinstance(items, list) and all(isinstance(item, dict) for item in items)


def _objects(items: Any) -> Iterator[tuple[int, dict[str, Any]]]:
    return ((i, item) for i, item in enumerate(items if isinstance(items, list) else ()) if isinstance(item, dict))


def _unusable(value: dict[str, Any], name: str, pointer: str, expected: str = "a text") -> Problem:
    problem = unusable("unusable-payload-field", pointer, value, name, _READ)
    problem.facts["beside"] = f"; expected {expected}"
    return problem


def _chunk(chunk: dict[str, Any], pointer: str, aliases: dict[Any, int]) -> Iterator[Problem]:
    content = chunk.get("content")
    if not isinstance(content, str):
        yield _unusable(chunk, "content", pointer)
    elif not sanitized(content):
        yield Problem("empty-chunk", f"{pointer}/content", content)
    alias = chunk.get("source_id")
    if "source_id" not in chunk:
        yield _unusable(chunk, "source_id", pointer)
    elif not isinstance(alias, str):
        yield Problem("alias-not-text", f"{pointer}/source_id", alias)
    else:
        # codes: payloads of millions of texts are judged without holding them
        code = code_of(content if isinstance(content, str) else "")
        if alias in aliases and (aliases[alias] != code or not isinstance(content, str)):
            yield Problem("shared-alias", f"{pointer}/source_id", alias)
        aliases[alias] = code


class _Names:
    """The names of a payload: those declared, if all are known (``whole``), and how each was written first."""

    def __init__(self, whole: bool) -> None:
        self.whole = whole
        self.declared: dict[str, None] = {}
        self._cases: dict[str, str] = {}
        self._unlike: set[str] = set()

    def stored(self, value: dict[str, Any], field: str, pointer: str, found: list[Problem]) -> str:
        """The name as it is stored; empty where it is not. What is wrong with it goes to ``found``."""
        name = value.get(field)
        if not isinstance(name, str):
            found.append(_unusable(value, field, pointer))
            return ""
        where = f"{pointer}/{field}"
        stored = normalised(name)
        if not stored:
            found.append(Problem("vanishing-name", where, name))
        elif stored != name:
            found.append(Problem("changing-name", where, name, {"expected": f'"{stored}"'}))
        if SEPARATOR in name:
            found.append(Problem("separator-in-name", where, name))
        other = self._cases.setdefault(stored.casefold(), stored)
        if other == stored:
            return other  # each name is held once
        if stored not in self._unlike and not (field in ENDS and self.meant(stored)):
            self._unlike.add(stored)
            found.append(Problem("names-differ-in-case", where, name, {"other": other}))
        return stored

    def is_unknown(self, name: str) -> bool:
        """Whether a name is none of those declared, as far as these are known."""
        return bool(name) and self.whole and name not in self.declared

    def meant(self, name: str) -> str:
        """Of a name that is not declared, the one that is and differs in capitals only; empty where none does."""
        other = self._cases.get(name.casefold(), "")
        return other if self.is_unknown(name) and other in self.declared else ""


def _entity(entity: dict[str, Any], pointer: str, aliases: dict[Any, int], names: _Names) -> Iterator[Problem]:
    found: list[Problem] = []
    name = names.stored(entity, "entity_name", pointer, found)
    yield from found
    if name and name in names.declared:
        yield Problem("repeated-entity", f"{pointer}/entity_name", name)
    names.declared[name] = None
    if "description" in entity and not isinstance(entity["description"], str):
        yield _unusable(entity, "description", pointer)
    if "entity_type" in entity and not isinstance(entity["entity_type"], str):
        yield _unusable(entity, "entity_type", pointer)
    if "source_id" in entity:
        yield from _alias(entity, pointer, aliases)


def _alias(value: dict[str, Any], pointer: str, aliases: dict[Any, int]) -> Iterator[Problem]:
    alias = value["source_id"]
    if not isinstance(alias, str):
        yield Problem("alias-not-text", f"{pointer}/source_id", alias)
    elif alias and alias not in aliases:
        yield Problem("unknown-alias", f"{pointer}/source_id", alias)


def _relation(
    relation: dict[str, Any], pointer: str, aliases: dict[Any, int], names: _Names, pairs: dict[tuple[str, str], bytes]
) -> Iterator[Problem]:
    found: list[Problem] = []
    ends = [names.stored(relation, field, pointer, found) for field in ENDS]
    yield from found
    if ends[0] and ends[0] == ends[1]:
        yield Problem("payload-self-loop", f"{pointer}/tgt_id", ends[0])
    elif all(ends):
        yield from _pair(relation, pointer, pair_of(*ends), pairs)
    for field, end in zip(ENDS, ends, strict=True):
        if names.is_unknown(end):
            yield Problem("undeclared-endpoint", f"{pointer}/{field}", end, nearly=names.meant(end))
    for field in ("description", "keywords"):
        if not isinstance(relation.get(field), str):
            yield _unusable(relation, field, pointer)
        elif not relation[field].strip():
            yield Problem("blank-relationship-text", f"{pointer}/{field}", relation[field], {"field": field})
    if "source_id" in relation:
        yield from _alias(relation, pointer, aliases)
    yield from _weight(relation, pointer, aliases)


def _pair(
    relation: dict[str, Any], pointer: str, pair: tuple[str, str], pairs: dict[tuple[str, str], bytes]
) -> Iterator[Problem]:
    said = code_of_value([relation.get("keywords"), relation.get("description")])
    if pair in pairs:
        rule = "repeated-relationship" if pairs[pair] == said else "conflicting-relationship"
        yield Problem(rule, f"{pointer}/src_id", " – ".join(pair))
    pairs[pair] = said


def _weight(relation: dict[str, Any], pointer: str, aliases: dict[Any, int]) -> Iterator[Problem]:
    weight = relation.get("weight", 1.0)
    alias = relation.get("source_id", "")
    least = int(isinstance(alias, str) and alias in aliases and alias not in NO_SOURCES)
    expected = f"a number of {least} or more"
    number: float | None = None
    if isinstance(weight, int | float | str) and not isinstance(weight, bool):
        try:
            number = float(weight)
        except (ValueError, OverflowError):
            number = None
    if number is None or not math.isfinite(number) or number < least:
        yield Problem("unusable-weight", f"{pointer}/weight", weight, {"expected": expected})
    elif isinstance(weight, str):
        yield Problem("weight-as-text", f"{pointer}/weight", weight)
