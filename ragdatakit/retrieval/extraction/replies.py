"""Reads what a language model says about a text: JSON of several shapes, or GraphRAG's tuples. Replies are data.

JSON may be in a fenced block or between sentences, and have commas too many. Names come on one line, without control
characters; what has no name, or one that is too long, is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import Any

import orjson

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.extraction.names import LONGEST

MOST_CHARACTERS = 1 << 20
"""Of a reply; a longer one is not looked at."""
MOST_TRIPLES = 2000
"""Of one reply, and so many entities; the rest is left out."""
_LONGEST_DESCRIPTION = 500
_MOST_PARTS = 50
"""Of a reply that are tried as JSON."""
UNNAMED = "is related to"
"""The relation of tuples, which describe relations and do not name them."""

_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)```", re.DOTALL)
_NO_COMMAS = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)
_BETWEEN_TUPLES = re.compile(r"##|\n|<\|COMPLETE\|>|(?<=\))[ \t]*(?=\(\s?[\"'“]?(?:entity|rel))")
_TUPLE = re.compile(r"\(\s?[\"'“]?(entity|relationship|relation)[\"'”]?\s?(?:<\|>|<\|#\|>)(.*)\)")
_FIELDS = re.compile(r"<\|>|<\|#\|>")
_PUNCTUATION = re.compile(r"[\W_]+")
_NAMES = ("name", "entity", "entity_name", "title", "id", "text")
_TYPES = ("type", "entity_type", "label", "category")
_DESCRIPTIONS = ("description", "entity_description", "relationship_description")
_ENTITY_LISTS = ("entities", "named_entities", "nodes")
_TRIPLE_LISTS = ("triples", "relations", "relationships", "edges", "triplets")
_HEADS = ("subject", "head", "source", "source_entity", "from", "entity1")
_RELATIONS = ("relation", "predicate", "relationship", "type", "label")
_TAILS = ("object", "tail", "target", "target_entity", "to", "entity2")


class UnreadableReplyError(ValueError):
    """A reply from which nothing can be taken; the message says why, in words for the model, too."""


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """An entity as the model names it."""

    name: str
    type: str | None = None
    description: str | None = None


@dataclass(slots=True)
class FoundGraph:
    """What a reply has: entities by name, also those that only triples name; ``left_out`` counts what was too much."""

    entities: dict[str, FoundEntity] = field(default_factory=dict)
    triples: list[tuple[str, str, str]] = field(default_factory=list)
    left_out: int = 0

    def add_entity(self, name: Any, kind: Any = None, description: Any = None) -> str | None:
        """The name as it is kept; None where it is none."""
        kept = clean_name(name)
        if kept is None:
            return None
        if kept not in self.entities:
            if len(self.entities) >= MOST_TRIPLES:
                self.left_out += 1
                return None
            self.entities[kept] = FoundEntity(kept, clean_name(kind), _line(description, _LONGEST_DESCRIPTION) or None)
        return kept

    def add_triple(self, head: Any, relation: Any, tail: Any) -> None:
        """Take in a triple whose ends have names."""
        if len(self.triples) >= MOST_TRIPLES:
            self.left_out += 1
            return
        if clean_name(head) is None or clean_name(tail) is None:
            return
        source, target = self.add_entity(head), self.add_entity(tail)
        if source is not None and target is not None:
            self.triples.append((source, clean_relation(relation), target))


def clean_name(name: Any) -> str | None:
    """A name on one line; None where it is none."""
    if isinstance(name, int | float) and not isinstance(name, bool):
        name = str(name)
    kept = _line(name, LONGEST + 1)
    return kept if 0 < len(kept) <= LONGEST else None


def clean_relation(relation: Any) -> str:
    """A relation as GFM-RAG writes phrases: small letters, blanks for all but letters and digits."""
    text = _line(relation, LONGEST)
    return " ".join(_PUNCTUATION.sub(" ", text.casefold()).split()) or UNNAMED


def _line(text: Any, most: int) -> str:
    """A text on one line; empty where it is none. Half characters become U+FFFD."""
    if not isinstance(text, str):
        return ""
    text = text[: 4 * most]
    if not text.isprintable():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(text.split())[:most].strip("\"'“”` ")


def answered(text: str) -> str:
    """A reply without what the model thought before. Raises `UnreadableReplyError` where nothing is left."""
    if len(text) > MOST_CHARACTERS:
        raise UnreadableReplyError(f"it is longer than {MOST_CHARACTERS:,} characters")
    text = re.split("</think(?:ing)?>", text)[-1]
    if not text.strip():
        raise UnreadableReplyError("it is empty")
    return text


def parse_text(text: str) -> str:
    """A reply that is a text, as it is kept: without outer blanks, control characters and half characters. Raises
    `UnreadableReplyError`."""
    text = answered(text).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    kept = "".join(c if c.isprintable() or c == "\n" else " " for c in text).strip()
    if not kept:
        raise UnreadableReplyError("it is empty")
    return kept


def parse_reply(text: str) -> FoundGraph:
    """What a reply says. Raises `UnreadableReplyError`."""
    text = answered(text)
    tuples = any(sign in text for sign in ("<|>", "<|#|>", "<|COMPLETE|>"))
    if tuples and (found := _of_tuples(text)) is not None:
        return found
    unfit = ""
    for value in json_values(text):
        try:
            return _of_json(value)
        except UnreadableReplyError as error:
            unfit = unfit or str(error)
    raise UnreadableReplyError(unfit or "there is no whole JSON object in it")


def _of_tuples(text: str) -> FoundGraph | None:
    """``("entity"<|>NAME<|>TYPE<|>DESCRIPTION)`` and ``("relationship"<|>A<|>B<|>…)``; None where there is none."""
    found = FoundGraph()
    whole = False
    for match in map(_TUPLE.fullmatch, map(str.strip, _BETWEEN_TUPLES.split(text))):
        if match is None:
            continue
        whole = True
        parts = [part.strip().strip("\"'“”") for part in _FIELDS.split(match[2])]
        if match[1] == "entity":
            found.add_entity(parts[0], *parts[1:3])
        elif len(parts) >= 2:
            words = parts[3].split(",")[0] if len(parts) >= 5 else None  # LightRAG has keywords between
            found.add_triple(parts[0], words, parts[1])
    return found if whole or "<|COMPLETE|>" in text else None


def json_values(text: str) -> Iterator[Any]:
    """The JSON objects and arrays in a reply: the whole, those in fenced blocks, those between sentences."""
    tried: set[str] = set()
    for part in (text.strip(), *(m[1].strip() for m in islice(_FENCE.finditer(text), _MOST_PARTS)), *_balanced(text)):
        if part in tried or part[:1] not in ("{", "["):
            continue
        tried.add(part)
        for form in (part, _NO_COMMAS.sub(lambda m: m[1] or "", part)):
            value = _loads(form)
            if isinstance(value, dict | list):
                yield value
                break


def _loads(text: str) -> Any:
    try:
        return orjson.loads(text)
    except (orjson.JSONDecodeError, UnicodeEncodeError):
        pass
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)


def _balanced(text: str) -> Iterator[str]:
    """Parts of a text from an opening brace or bracket to the one that closes it, the outermost ones."""
    opened: list[int] = []
    parts: list[tuple[int, int]] = []
    first = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=len(text))
    for match in _BRACKETS.finditer(text, first):
        if match[0] in "{[":
            opened.append(match.start())
        elif match[0] in "}]" and opened:
            start = opened.pop()
            while parts and parts[-1][0] > start:
                parts.pop()
            parts.append((start, match.end()))
    yield from (text[start:end] for start, end in parts[:_MOST_PARTS])


def _of_json(value: Any) -> FoundGraph:
    found = FoundGraph()
    if isinstance(value, list):
        value = {"triples": value}
    entities, triples = _first(value, _ENTITY_LISTS), _first(value, _TRIPLE_LISTS)
    if not isinstance(entities, list) and not isinstance(triples, list):
        raise UnreadableReplyError("its JSON has no list called entities or triples")
    for entity in entities if isinstance(entities, list) else ():
        if isinstance(entity, dict):
            found.add_entity(*(_first(entity, names) for names in (_NAMES, _TYPES, _DESCRIPTIONS)))
        else:
            found.add_entity(entity)
    for triple in triples if isinstance(triples, list) else ():
        if isinstance(triple, dict):
            found.add_triple(*(_first(triple, names) for names in (_HEADS, _RELATIONS, _TAILS)))
        elif isinstance(triple, list) and len(triple) == 3:
            found.add_triple(*triple)
    if not found.entities and (entities or triples):
        raise UnreadableReplyError("no entity and no triple in its JSON has names")
    return found


def _first(members: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((members[name] for name in names if name in members), None)
