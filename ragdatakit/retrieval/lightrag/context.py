"""What LightRAG 1.5 gives a model for a question: entities, relations and chunks, in its order and its budgets.

Modes: ``local`` goes from entities to their relations, ``global`` from relations to their ends, ``hybrid`` does both
in turns, ``mix`` also searches the chunks, ``naive`` searches nothing else. Where entities and relations name more
chunks than are wanted, chunks are picked by polling (weights falling in a line) or by their scores for the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

Mode = Literal["local", "global", "hybrid", "mix", "naive"]
MODES: tuple[Mode, ...] = ("local", "global", "hybrid", "mix", "naive")
_SHORT = 50
"""Characters of a question up to which it is its own keyword."""
_RESERVE = 200
Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class EntityInfo:
    """What the graph says of a node."""

    kind: str
    description: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationInfo:
    """What the graph says of an edge."""

    description: str
    weight: float = 1.0
    sources: tuple[str, ...] = ()


class Store(Protocol):
    """A working directory, open for searching: each search gives names or ids by falling score."""

    def entities(self, words: str, k: int) -> Sequence[str]: ...
    def relations(self, words: str, k: int) -> Sequence[Pair]: ...
    def chunks(self, words: str, k: int) -> Sequence[str]: ...
    def nearest(self, words: str, among: Sequence[str], k: int) -> Sequence[str]: ...
    def entity(self, name: str) -> EntityInfo | None: ...
    def relation(self, pair: Pair) -> RelationInfo | None: ...
    def pairs_of(self, name: str) -> Sequence[Pair]: ...
    def text(self, chunk: str) -> str | None: ...


@dataclass(frozen=True, slots=True)
class Settings:
    """LightRAG's own defaults. ``count`` counts the tokens of a text; ``pick`` is how related chunks are chosen."""

    top_k: int = 40
    chunk_top_k: int = 20
    related_chunks: int = 5
    entity_tokens: int = 6000
    relation_tokens: int = 8000
    total_tokens: int = 30000
    prompt_tokens: int = 0
    pick: Literal["vector", "weight"] = "vector"
    count: Callable[[str], int] = len


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its keywords: ``low`` for entities, ``high`` for relations."""

    text: str
    low: str = ""
    high: str = ""

    @classmethod
    def of(cls, text: str, low: Sequence[str] = (), high: Sequence[str] = ()) -> Asked:
        """With the keywords joined; a short question without any is its own."""
        if not low and not high and len(text) < _SHORT:
            low = (text,)
        return cls(text, ", ".join(low), ", ".join(high))


@dataclass(slots=True)
class Context:
    """What was found. ``origin`` says of each chunk how it was found: ``chunks``, ``entities`` or ``relations``."""

    entities: list[str] = field(default_factory=list)
    relations: list[Pair] = field(default_factory=list)
    chunks: list[str] = field(default_factory=list)
    origin: dict[str, str] = field(default_factory=dict)


def retrieve(store: Store, mode: Mode, asked: Asked, settings: Settings) -> Context:
    """The context for a question."""
    if mode == "naive":
        found = list(store.chunks(asked.text, settings.chunk_top_k))
        limit = settings.total_tokens - settings.prompt_tokens - settings.count(asked.text) - _RESERVE
        kept = _within(store, found[: settings.chunk_top_k], limit, settings)
        return Context(chunks=kept, origin=dict.fromkeys(kept, "chunks"))
    local: tuple[list[str], list[Pair]] = ([], [])
    wide: tuple[list[str], list[Pair]] = ([], [])
    one_way = (mode == "local" and asked.low) or (
        mode == "global" and asked.high
    )  # without its words it goes both ways
    if asked.low and not (one_way and mode == "global"):
        local = _local(store, asked.low, settings.top_k)
    if asked.high and not (one_way and mode == "local"):
        wide = _global(store, asked.high, settings.top_k)
    searched = list(store.chunks(asked.text, settings.chunk_top_k)) if mode == "mix" else []
    entities = list(_in_turns(local[0], wide[0]))
    relations = list(_in_turns(local[1], wide[1], lambda pair: tuple(sorted(pair))))
    return _with_chunks(store, asked, settings, entities, relations, searched)


def _local(store: Store, words: str, k: int) -> tuple[list[str], list[Pair]]:
    """Entities by score; all their relations by degree and weight."""
    entities = [name for name in store.entities(words, k) if store.entity(name) is not None]
    pairs = dict.fromkeys(_sorted(pair) for name in entities for pair in store.pairs_of(name))
    degrees = {name: len(store.pairs_of(name)) for pair in pairs for name in pair}
    ranked = [(degrees[p[0]] + degrees[p[1]], info.weight, p) for p in pairs if (info := store.relation(p)) is not None]
    ranked.sort(key=lambda found: found[:2], reverse=True)
    return entities, [pair for _, _, pair in ranked]


def _global(store: Store, words: str, k: int) -> tuple[list[str], list[Pair]]:
    """Relations by score; their ends in that order."""
    relations = [pair for pair in store.relations(words, k) if store.relation(pair) is not None]
    ends = dict.fromkeys(name for pair in relations for name in pair)
    return [name for name in ends if store.entity(name) is not None], relations


def _sorted(pair: Pair) -> Pair:
    return pair if pair[0] <= pair[1] else (pair[1], pair[0])


def _in_turns(first: list, second: list, key: Callable = lambda item: item) -> Iterator:  # type: ignore[type-arg]
    """Items of two lists in turns, the first list before the second, each once."""
    seen = set()
    for place in range(max(len(first), len(second))):
        for items in (first, second):
            if place < len(items) and key(items[place]) not in seen:
                seen.add(key(items[place]))
                yield items[place]


def _with_chunks(
    store: Store, asked: Asked, settings: Settings, entities: list[str], relations: list[Pair], searched: list[str]
) -> Context:
    shown_entities = [_shown_entity(store, name) for name in entities]
    entities = entities[: _fitting(shown_entities, settings.entity_tokens, settings.count)]
    shown_relations = [_shown_relation(store, pair) for pair in relations]
    relations = relations[: _fitting(shown_relations, settings.relation_tokens, settings.count)]
    of_entities = _related(store, asked, settings, [store.entity(name) for name in entities], None)
    of_relations = _related(store, asked, settings, [store.relation(p) for p in relations], set(of_entities))
    context = Context(entities, relations)
    parts = {"chunks": searched, "entities": of_entities, "relations": of_relations}
    for place in range(max(map(len, parts.values()))):
        for origin, found in parts.items():
            if place < len(found):
                context.origin.setdefault(found[place], origin)
    graph = "\n".join([*shown_entities[: len(entities)], *shown_relations[: len(relations)]])
    used = settings.prompt_tokens + settings.count(graph) + settings.count(asked.text) + _RESERVE
    found = list(context.origin)[: settings.chunk_top_k]
    context.chunks = _within(store, found, settings.total_tokens - used, settings)
    context.origin = {chunk: context.origin[chunk] for chunk in context.chunks}
    return context


def _shown_entity(store: Store, name: str) -> str:
    info = store.entity(name) or EntityInfo("UNKNOWN", "UNKNOWN")
    return json.dumps({"entity": name, "type": info.kind, "description": info.description}, ensure_ascii=False)


def _shown_relation(store: Store, pair: Pair) -> str:
    info = store.relation(pair)
    told = {"entity1": pair[0], "entity2": pair[1], "description": info.description if info else "UNKNOWN"}
    return json.dumps(told, ensure_ascii=False)


def _fitting(texts: list[str], most: int, count: Callable[[str], int]) -> int:
    """How many of the texts fit into a budget, with a line feed between them."""
    used = 0
    for place, text in enumerate(texts):
        used += count(text if not place else f"\n{text}")
        if used > most:
            return place
    return len(texts)


def _within(store: Store, chunks: list[str], most: int, settings: Settings) -> list[str]:
    """The chunks that fit into what is left of the budget, as they are shown."""
    shown = [
        json.dumps({"reference_id": "", "content": store.text(chunk) or ""}, ensure_ascii=False) for chunk in chunks
    ]
    return chunks[: _fitting(shown, most, settings.count)]


def _related(
    store: Store,
    asked: Asked,
    settings: Settings,
    infos: Sequence[EntityInfo | RelationInfo | None],
    taken: set[str] | None,
) -> list[str]:
    """The chunks that entities or relations name: each for the first that names it, those named often before.

    Relations (``taken``: the chunks of entities) count only where they have a chunk of their own, entities anyway.
    """
    counts: dict[str, int] = {}
    lists: list[list[str]] = []
    for info in infos:
        own = []
        for chunk in info.sources if info is not None else ():
            if not taken or chunk not in taken:
                counts[chunk] = counts.get(chunk, 0) + 1
                if counts[chunk] == 1:
                    own.append(chunk)
        if own or (taken is None and info is not None and info.sources):
            lists.append(own)
    ordered = [sorted(own, key=lambda chunk: counts[chunk], reverse=True) for own in lists]
    if not ordered:
        return []
    picked: Sequence[str] = ()
    if settings.pick == "vector" and asked.text:
        number = int(settings.related_chunks * len(ordered) / 2)
        picked = store.nearest(asked.text, list(counts), number)
    if not picked:
        picked = _polled(ordered, settings.related_chunks)
    return [chunk for chunk in dict.fromkeys(picked) if store.text(chunk) is not None]


def _polled(lists: Sequence[Sequence[str]], most: int) -> list[str]:
    """From each list fewer than from the one before, ``most`` to one; what a list lacks goes to the others."""
    number = len(lists)
    if number == 1:
        return list(lists[0][:most])
    wanted = [round(most - place / (number - 1) * (most - 1)) for place in range(number)]
    used = [min(want, len(items)) for want, items in zip(wanted, lists, strict=True)]
    picked = [chunk for items, count in zip(lists, used, strict=True) for chunk in items[:count]]
    for _ in range(sum(wanted) - sum(used)):
        place = next((i for i, items in enumerate(lists) if used[i] < len(items)), None)
        if place is None:
            break
        picked.append(lists[place][used[place]])
        used[place] += 1
    return picked
