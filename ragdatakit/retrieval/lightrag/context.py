"""What LightRAG 1.5 gives a model for a question: entities, relations and chunks, in its order and its budgets.

Modes: ``local`` goes from entities to their relations, ``global`` from relations to their ends, ``hybrid`` does both
in turns, ``mix`` also searches the chunks, ``naive`` searches nothing else. Where entities and relations name more
chunks than are wanted, chunks are picked by polling (weights falling in a line) or by their scores for the question.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol

from ragdatakit.late_dataclasses import dataclass

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
    """A working directory, open for searching: each search gives names or ids with their scores, the best first."""

    def entities(self, words: str, k: int) -> Mapping[str, float]: ...
    def relations(self, words: str, k: int) -> Mapping[Pair, float]: ...
    def chunks(self, words: str, k: int) -> Mapping[str, float]: ...
    def nearest(self, words: str, among: Sequence[str], k: int) -> Mapping[str, float]: ...
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


@dataclass(slots=True)
class Way:
    """What one way found: from entities to their relations (local), or from relations to their ends (global).

    ``scores`` are those of the search, of the entities or of the relations. ``ranks`` are what the other list is
    ordered by where it is: the degrees of both ends together, and the weight.
    """

    entities: list[str] = field(default_factory=list)
    relations: list[Pair] = field(default_factory=list)
    scores: Mapping[Any, float] = field(default_factory=dict)
    ranks: Mapping[Pair, tuple[int, float]] = field(default_factory=dict)


class ContextSearch:
    """One question, searched; afterwards what it found at each step.

    ``entities`` and ``relations`` are all candidates in their order, of which the budgets let through the first;
    ``of_entities`` and ``of_relations`` the chunks that those name, with their scores where they were picked by score;
    ``searched`` the chunks of the search for chunks; ``candidates`` all chunks by turns, with where each came from and
    its turn there. ``room`` is the budget for chunks.
    """

    def __init__(self, store: Store, mode: Mode, asked: Asked, settings: Settings) -> None:
        self.store, self.mode, self.asked, self.settings = store, mode, asked, settings
        self.local, self.wide = Way(), Way()
        self.searched: Mapping[str, float] = {}
        self.entities: list[str] = []
        self.relations: list[Pair] = []
        self.of_entities: Mapping[str, float | None] = {}
        self.of_relations: Mapping[str, float | None] = {}
        self.candidates: dict[str, tuple[str, int]] = {}
        self.room = 0

    def run(self) -> Context:
        """The context for the question."""
        if self.mode == "naive":
            return self._naive()
        mode, asked, k = self.mode, self.asked, self.settings.top_k
        # Without the words of its own way, a mode goes both ways.
        one_way = (mode == "local" and asked.low) or (mode == "global" and asked.high)
        if asked.low and not (one_way and mode == "global"):
            self.local = _local(self.store, asked.low, k)
        if asked.high and not (one_way and mode == "local"):
            self.wide = _global(self.store, asked.high, k)
        if mode == "mix":
            self.searched = self.store.chunks(asked.text, self.settings.chunk_top_k)
        self.entities = list(_in_turns(self.local.entities, self.wide.entities))
        self.relations = list(_in_turns(self.local.relations, self.wide.relations, lambda pair: tuple(sorted(pair))))
        return self._with_chunks()

    def _naive(self) -> Context:
        most, settings = self.settings.chunk_top_k, self.settings
        self.searched = self.store.chunks(self.asked.text, most)
        self.room = settings.total_tokens - settings.prompt_tokens - settings.count(self.asked.text) - _RESERVE
        self.candidates = {chunk: ("chunks", turn) for turn, chunk in enumerate(self.searched, 1)}
        kept = self._within(list(self.searched)[:most])
        return Context(chunks=kept, origin=dict.fromkeys(kept, "chunks"))

    def _with_chunks(self) -> Context:
        store, settings = self.store, self.settings
        shown_entities = [shown_entity(store, name) for name in self.entities]
        entities = self.entities[: _fitting(shown_entities, settings.entity_tokens, settings.count)]
        shown_relations = [shown_relation(store, pair) for pair in self.relations]
        relations = self.relations[: _fitting(shown_relations, settings.relation_tokens, settings.count)]
        self.of_entities = self._related([store.entity(name) for name in entities], None)
        self.of_relations = self._related([store.relation(p) for p in relations], set(self.of_entities))
        parts = {"chunks": self.searched, "entities": self.of_entities, "relations": self.of_relations}
        lists = {origin: list(found) for origin, found in parts.items()}
        for place in range(max(map(len, lists.values()))):
            for origin, found in lists.items():
                if place < len(found):
                    self.candidates.setdefault(found[place], (origin, place + 1))
        graph = "\n".join([*shown_entities[: len(entities)], *shown_relations[: len(relations)]])
        used = settings.prompt_tokens + settings.count(graph) + settings.count(self.asked.text) + _RESERVE
        self.room = settings.total_tokens - used
        chunks = self._within(list(self.candidates)[: settings.chunk_top_k])
        return Context(entities, relations, chunks, {chunk: self.candidates[chunk][0] for chunk in chunks})

    def _within(self, chunks: list[str]) -> list[str]:
        """The chunks that fit into what is left of the budget, as they are shown."""
        shown = [shown_chunk(self.store, chunk) for chunk in chunks]
        return chunks[: _fitting(shown, self.room, self.settings.count)]

    def _related(
        self, infos: Sequence[EntityInfo | RelationInfo | None], taken: set[str] | None
    ) -> Mapping[str, float | None]:
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
            return {}
        picked: Mapping[str, float | None] = {}
        if self.settings.pick == "vector" and self.asked.text:
            number = int(self.settings.related_chunks * len(ordered) / 2)
            picked = dict(self.store.nearest(self.asked.text, list(counts), number))
        if not picked:
            picked = dict.fromkeys(_polled(ordered, self.settings.related_chunks))
        return {chunk: score for chunk, score in picked.items() if self.store.text(chunk) is not None}


def retrieve(store: Store, mode: Mode, asked: Asked, settings: Settings) -> Context:
    """The context for a question."""
    return ContextSearch(store, mode, asked, settings).run()


def _local(store: Store, words: str, k: int) -> Way:
    """Entities by score; all their relations by degree and weight."""
    found = store.entities(words, k)
    entities = [name for name in found if store.entity(name) is not None]
    pairs = dict.fromkeys(_sorted(pair) for name in entities for pair in store.pairs_of(name))
    degrees = {name: len(store.pairs_of(name)) for pair in pairs for name in pair}
    ranks = {p: (degrees[p[0]] + degrees[p[1]], info.weight) for p in pairs if (info := store.relation(p)) is not None}
    return Way(entities, sorted(ranks, key=lambda pair: ranks[pair], reverse=True), found, ranks)


def _global(store: Store, words: str, k: int) -> Way:
    """Relations by score; their ends in that order."""
    found = store.relations(words, k)
    relations = [pair for pair in found if store.relation(pair) is not None]
    ends = dict.fromkeys(name for pair in relations for name in pair)
    return Way([name for name in ends if store.entity(name) is not None], relations, found)


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


def shown_entity(store: Store, name: str) -> str:
    """An entity as it is in the prompt."""
    info = store.entity(name) or EntityInfo("UNKNOWN", "UNKNOWN")
    return json.dumps({"entity": name, "type": info.kind, "description": info.description}, ensure_ascii=False)


def shown_relation(store: Store, pair: Pair) -> str:
    """A relation as it is in the prompt."""
    info = store.relation(pair)
    fields = {"entity1": pair[0], "entity2": pair[1], "description": info.description if info else "UNKNOWN"}
    return json.dumps(fields, ensure_ascii=False)


def shown_chunk(store: Store, chunk: str) -> str:
    """A chunk as it is in the prompt."""
    return json.dumps({"reference_id": "", "content": store.text(chunk) or ""}, ensure_ascii=False)


def _fitting(texts: list[str], most: int, count: Callable[[str], int]) -> int:
    """How many of the texts fit into a budget, with a line feed between them."""
    used = 0
    for place, text in enumerate(texts):
        used += count(text if not place else f"\n{text}")
        if used > most:
            return place
    return len(texts)


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
