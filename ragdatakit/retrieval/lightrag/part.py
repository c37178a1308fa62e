"""LightRAG's modes as a part of an index: over the nodes and edges of any dataset, found by their words.

No model takes a question apart here: the question itself is the keyword for entities and for relations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.retrieval.lightrag.context import (
    Asked,
    Context,
    EntityInfo,
    Mode,
    Pair,
    RelationInfo,
    Settings,
    as_mapping,
    retrieve,
)
from ragdatakit.retrieval.lightrag.vector_store import GraphStore
from ragdatakit.retrieval.parts import Ranking
from ragdatakit.retrieval.terms.bm25 import Bm25

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.parts import Progress
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.terms.tokens import Tokenizer
    from ragdatakit.schemas.retrieved import Query

VERSION = 1
_FILE = "graph.ndjson"
_TEXTS = ("description", "summary", "text", "content")


class LightRagPart:
    """The part of an index that all of LightRAG's modes search."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    @property
    def kind(self) -> str:
        """``lightrag``."""
        return "lightrag"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The version of its rules."""
        return {"version": VERSION}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the nodes and edges with what is said of them; returns their counts."""
        given = tables()
        entities = relations = 0
        with (folder / _FILE).open("w", encoding="utf-8") as file:
            for node in given.peek("nodes"):
                told = _decoded(node.attributes)
                row = [node.name, node.type or "UNKNOWN", _description(told), _passages(told, None)]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                entities += 1
            for edge in given.peek("edges"):
                told = _decoded(edge.attributes)
                weight = told.get("weight", edge.confidence)
                number = float(weight) if isinstance(weight, int | float) and math.isfinite(weight) else 1.0
                sources = _passages(told, edge.provenance)
                row = [edge.source, edge.relation, edge.target, _description(told), number, sources]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                relations += 1
        return {"entities": entities, "relations": relations}

    def open(self, folder: Path, passages: Passages) -> LightRagRanker:
        """Open what was built."""
        return LightRagRanker(_WordStore(folder / _FILE, passages, self._tokenizer), passages)


class LightRagRanker:
    """Ranks passages as LightRAG puts them into its context: the first has the score 1, the second a half."""

    def __init__(self, store: _WordStore, passages: Passages, mode: Mode = "mix") -> None:
        self._store = store
        self._passages = passages
        self._mode: Mode = mode

    def of(self, mode: Mode) -> LightRagRanker:
        """The same store in one of the modes."""
        return LightRagRanker(self._store, self._passages, mode)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the passages of its context, at most ``k``."""
        import numpy as np

        found = []
        for query in queries:
            context = self._context(query, k)
            ordinals = [o for chunk in context.chunks[:k] if (o := self._passages.ordinal(chunk)) is not None]
            scores = 1.0 / np.arange(1, len(ordinals) + 1)
            found.append(Ranking(np.array(ordinals, dtype=np.int64), scores))
        return found

    def _context(self, query: Query, k: int) -> Context:
        settings = Settings(chunk_top_k=k, total_tokens=1 << 60, pick="vector")
        return retrieve(self._store, self._mode, Asked(query.text, query.text, query.text), settings)

    def seeds(self, query: Query) -> tuple[str, ...]:
        """None: the question leads to relations and passages as well."""
        return ()

    def context(self, query: Query, k: int) -> Mapping[str, list[str]]:
        """What a model would get, by name."""
        return as_mapping(self._context(query, k))


class _WordStore(GraphStore):
    """A graph whose names, relations and texts are found by BM25."""

    def __init__(self, path: Path, passages: Passages, tokenizer: Tokenizer) -> None:
        self._passages = passages
        self._tokenizer = tokenizer
        entities: dict[str, EntityInfo] = {}
        relations: dict[Pair, RelationInfo] = {}
        self._named, self._related, self._read = (Bm25(tokenizer) for _ in range(3))
        self._pair_list: list[Pair] = []
        self._name_list: list[str] = []
        for row in _rows(path):
            if len(row) == 4:
                name, kind, description, sources = row
                entities.setdefault(name, EntityInfo(kind, description, tuple(sources)))
                self._named.add(f"{name}\n{description}")
                self._name_list.append(name)
            else:
                source, relation, target, description, weight, sources = row
                pair = (source, target)
                before = relations.get(pair) or relations.pop((target, source), None)
                sources = (*(before.sources if before is not None else ()), *sources)
                relations[pair] = RelationInfo(description, weight, tuple(dict.fromkeys(sources)))
                self._related.add(f"{relation}\t{source}\n{target}\n{description}")
                self._pair_list.append(pair)
        super().__init__(entities, relations)
        self._ids: list[str] = []
        for ordinal in range(len(passages)):
            passage = passages[ordinal]
            self._ids.append(passage.passage_id)
            self._read.add(passage.searched)
        self._places = {name: place for place, name in enumerate(self._ids)}

    def entities(self, words: str, k: int) -> Sequence[str]:
        """Names of entities by falling score."""
        return list(dict.fromkeys(self._name_list[place] for place in self._named.best(words, k)))

    def relations(self, words: str, k: int) -> Sequence[Pair]:
        """Pairs of names by falling score."""
        return list(dict.fromkeys(self._pair_list[place] for place in self._related.best(words, k)))

    def chunks(self, words: str, k: int) -> Sequence[str]:
        """Ids of passages by falling score."""
        return [self._ids[place] for place in self._read.best(words, k)]

    def nearest(self, words: str, among: Sequence[str], k: int) -> Sequence[str]:
        """The best of some passages."""
        scores = self._read.scores(words)
        known = [name for name in among if name in self._places]
        return sorted(known, key=lambda name: -scores.get(self._places[name], 0.0))[:k]

    def text(self, chunk: str) -> str | None:
        """The text of a passage."""
        place = self._places.get(chunk)
        return self._passages[place].text if place is not None else None


def _rows(path: Path) -> Iterator[list[Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _decoded(attributes: str | None) -> dict[str, Any]:
    return {name: loads(raw) for name, raw in fields_of(attributes).items()} if attributes else {}


def _description(told: Mapping[str, Any]) -> str:
    return next((told[name] for name in _TEXTS if isinstance(told.get(name), str)), "")


def _passages(told: Mapping[str, Any], provenance: str | None) -> list[str]:
    listed = told.get("passages")
    found = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return list(dict.fromkeys([*([provenance] if provenance else []), *found]))
