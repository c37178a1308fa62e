"""LightRAG's modes as a part of an index: over the nodes and edges of any dataset, found by their words or vectors.

Vectors are those of the working directory, where questions have some or an embedder makes them; of a dataset without
any, those of the embedder. No model takes a question apart here: without keywords of its own, the question itself is
the keyword for entities and for relations.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.files.texts import plain_tokens
from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.lightrag.context import (
    Asked,
    ContextSearch,
    EntityInfo,
    Mode,
    Pair,
    RelationInfo,
    Settings,
    retrieve,
)
from ragdatakit.retrieval.lightrag.explaining import explained
from ragdatakit.retrieval.lightrag.name_search import WordTable
from ragdatakit.retrieval.lightrag.vector_store import STORES, GraphStore, VectorTable, of_length_one, read_vectors
from ragdatakit.retrieval.vectors.embedders import make_embedder
from ragdatakit.retrieval.vectors.given_vectors import QueryVectors
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.terms.tokens import Tokenizer
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.retrieved import ContextItem, Query

VERSION = 2
_FILE = "graph.ndjson"
_TEXTS = ("description", "summary", "text", "content")


class LightRagPart:
    """The part of an index that all of LightRAG's modes search. ``files`` are those of the dataset, by name."""

    kind = "lightrag"

    def __init__(self, tokenizer: Tokenizer, options: SearchOptions, files: Sequence[tuple[str, Path]]) -> None:
        self._tokenizer, self._options = tokenizer, options
        self._stores = stores_among(files)

    @property
    def source(self) -> str:
        """By what names and texts are found: ``given`` vectors, those of the ``embedder``, or ``words``."""
        asked = self._options.query_vectors is not None or self._options.embedder
        return "words" if not asked else "given" if self._stores else "embedder"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The version of its rules, and where vectors come from."""
        found: dict[str, Any] = {"version": VERSION, "found_by": self.source}
        return {**found, **self._embedder().settings} if self.source == "embedder" else found

    def _embedder(self) -> Any:
        if not self._options.embedder:
            raise RagdataError(
                "the dataset has no vectors of its entities, relations and chunks that go with --query-vectors "
                "(a LightRAG working directory has them in vdb_*.json; --embedder KIND:MODEL makes some)"
            )
        return make_embedder(self._options, cache_folder() / "vectors")

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the nodes and edges with what is said of them, and their vectors; returns their counts."""
        given = tables()
        entities = relations = 0
        with (folder / _FILE).open("w", encoding="utf-8") as file:
            for node in given.peek("nodes"):
                attributes = _decoded(node.attributes)
                row = [node.name, node.type or "UNKNOWN", _description(attributes), _passages(attributes, None)]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                entities += 1
            for edge in given.peek("edges"):
                attributes = _decoded(edge.attributes)
                weight = attributes.get("weight", edge.confidence)
                number = float(weight) if isinstance(weight, int | float) and math.isfinite(weight) else 1.0
                sources = _passages(attributes, edge.provenance)
                row = [edge.source, edge.relation, edge.target, _description(attributes), number, sources]
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
                relations += 1
        facts = {"entities": entities, "relations": relations, "found_by": self.source}
        if self.source != "words":
            facts["vectors"] = self._write_vectors(folder, passages, progress)
        return facts

    def _write_vectors(self, folder: Path, passages: Passages, progress: Progress | None) -> int:
        """The three tables of vectors."""
        count = 0
        texts = None if self.source == "given" else _embedded_texts(folder / _FILE, passages)
        for number, store in enumerate(STORES):
            if progress is not None:
                progress(f"vectors of {store}", number, len(STORES))
            if texts is None:
                table = read_vectors(self._stores[store], store) if store in self._stores else _no_vectors()
            else:
                names = list(texts[store])
                made = self._embedder().embed(list(texts[store].values())) if names else np.zeros((0, 1))
                table = VectorTable(names, of_length_one(made.astype(np.float32)), frozenset(names))
            count += len(table.names)
            np.save(folder / f"{store}.npy", table.matrix, allow_pickle=False)
            with (folder / f"{store}.ndjson").open("w", encoding="ascii") as file:
                for name in table.names:
                    file.write(json.dumps([name, name in table.own]) + "\n")
        return count

    def open(self, folder: Path, passages: Passages) -> LightRagRanker:
        """Open what was built."""
        if self.source == "words":
            return LightRagRanker(_PartStore(folder / _FILE, passages, self._tokenizer, None), passages, None)
        vectors = {store: _stored(folder, store) for store in STORES}
        asked = _Questions(self._options, self._embedder if self._options.embedder else None)
        return LightRagRanker(_PartStore(folder / _FILE, passages, self._tokenizer, vectors), passages, asked)


def stores_among(files: Sequence[tuple[str, Path]]) -> dict[str, Path]:
    """The stores of vectors among the files of a dataset; none where there are several working directories."""
    found: dict[str, Path] = {}
    for _, path in files:
        store = path.name.removesuffix(".gz").removesuffix(".json").removeprefix("vdb_")
        if store in STORES and path.name in (f"vdb_{store}.json", f"vdb_{store}.json.gz"):
            if store in found:
                return {}
            found[store] = path
    return found


class _Questions:
    """The vectors of questions and of their keywords: given, or made by the embedder."""

    def __init__(self, options: SearchOptions, embedder: Callable[[], Any] | None) -> None:
        self._given = QueryVectors(options.query_vectors) if options.query_vectors is not None else None
        self._embedder = embedder

    def vectors(self, query: Query, asked: Asked) -> dict[str, Any]:
        """By text: the question, and its keywords."""
        wanted = [text for text in dict.fromkeys((asked.text, asked.low, asked.high)) if text]
        if self._given is None:
            assert self._embedder is not None
            return dict(zip(wanted, self._embedder().embed(wanted, "query"), strict=True))
        found = {}
        for text in wanted:
            vector = self._given.dense(query.question_id if text == query.text else None, text)
            if vector is None:
                raise RagdataError(f"{self._given.path} has no vector for {text[:60]!r}")
            found[text] = vector
        return found


class LightRagRanker:
    """Ranks passages as LightRAG puts them into its context: the first has the score 1, the second a half."""

    def __init__(self, store: _PartStore, passages: Passages, questions: _Questions | None, mode: Mode = "mix") -> None:
        self._store = store
        self._passages = passages
        self._questions = questions
        self._mode: Mode = mode

    def of(self, mode: Mode) -> LightRagRanker:
        """The same store in one of the modes."""
        return LightRagRanker(self._store, self._passages, self._questions, mode)

    def _asked(self, query: Query) -> Asked:
        if query.keywords is None:
            asked = Asked(query.text, query.text, query.text)
        else:
            asked = Asked.of(query.text, query.keywords.low, query.keywords.high)
        if self._questions is not None:
            self._store.embedded = self._questions.vectors(query, asked)
        return asked

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the passages of its context, at most ``k``; its budget for texts ends none."""
        settings = Settings(chunk_top_k=k, total_tokens=1 << 60, count=plain_tokens.count)
        found = []
        for query in queries:
            context = retrieve(self._store, self._mode, self._asked(query), settings)
            ordinals = [o for chunk in context.chunks[:k] if (o := self._passages.ordinal(chunk)) is not None]
            scores = 1.0 / np.arange(1, len(ordinals) + 1)
            found.append(Ranking(np.array(ordinals, dtype=np.int64), scores))
        return found

    def explain(self, query: Query, k: int) -> tuple[ContextItem, ...]:
        """Everything that was found for a question and why, with what LightRAG's budgets would leave out."""
        settings = Settings(chunk_top_k=k, count=plain_tokens.count)
        search = ContextSearch(self._store, self._mode, self._asked(query), settings)
        return tuple(explained(search, search.run()))


class _PartStore(GraphStore):
    """A graph whose names, relations and texts are found by their words, or by ``vectors``.

    ``embedded`` has the vectors of the texts that are looked for.
    """

    def __init__(
        self, path: Path, passages: Passages, tokenizer: Tokenizer, vectors: Mapping[str, VectorTable] | None
    ) -> None:
        self._passages = passages
        self._vectors = vectors
        self.embedded: Mapping[str, Any] = {}
        entities: dict[str, EntityInfo] = {}
        relations: dict[Pair, RelationInfo] = {}
        self._words = {store: WordTable(tokenizer) for store in STORES}
        for row in _rows(path):
            if len(row) == 4:
                name, kind, description, sources = row
                entities.setdefault(name, EntityInfo(kind, description, tuple(sources)))
            else:
                source, _, target, description, weight, sources = row
                pair = (source, target)
                before = relations.get(pair) or relations.pop((target, source), None)
                sources = (*(before.sources if before is not None else ()), *sources)
                relations[pair] = RelationInfo(description, weight, tuple(dict.fromkeys(sources)))
            if vectors is None:
                store, name, text = _searched(row)
                self._words[store].add(name, text)
        super().__init__(entities, relations)
        if vectors is None:
            for ordinal in range(len(passages)):
                passage = passages[ordinal]
                self._words["chunks"].add(passage.passage_id, passage.searched)

    def _best(self, store: str, words: str, k: int) -> Mapping[Any, float]:
        if self._vectors is None:
            return self._words[store].best(words, k)
        return self._vectors[store].best(self.embedded[words], k)

    def entities(self, words: str, k: int) -> Mapping[str, float]:
        """Names of entities, the best first."""
        return self._best("entities", words, k)

    def relations(self, words: str, k: int) -> Mapping[Pair, float]:
        """Pairs of names, the best first."""
        return self._best("relationships", words, k)

    def chunks(self, words: str, k: int) -> Mapping[str, float]:
        """Ids of passages, the best first."""
        return self._best("chunks", words, k)

    def nearest(self, words: str, among: Sequence[str], k: int) -> Mapping[str, float]:
        """The best of some passages."""
        if self._vectors is None:
            return self._words["chunks"].best_of(words, among, k)
        return self._vectors["chunks"].best_of(self.embedded[words], among, k)

    def text(self, chunk: str) -> str | None:
        """The text of a passage."""
        ordinal = self._passages.ordinal(chunk)
        return self._passages[ordinal].text if ordinal is not None else None


def _searched(row: Sequence[Any]) -> tuple[str, Any, str]:
    """The store that a row of the graph is in, its name there, and the text that LightRAG embeds of it."""
    if len(row) == 4:
        return "entities", row[0], f"{row[0]}\n{row[2]}"
    return "relationships", (row[0], row[2]), f"{row[1]}\t{row[0]}\n{row[2]}\n{row[3]}"


def _embedded_texts(path: Path, passages: Passages) -> dict[str, dict[Any, str]]:
    """By store, what is embedded of each name."""
    found: dict[str, dict[Any, str]] = {store: {} for store in STORES}
    for row in _rows(path):
        store, name, text = _searched(row)
        found[store].setdefault(name, text)
    found["chunks"] = {p.passage_id: p.searched for p in (passages[n] for n in range(len(passages)))}
    return found


def _no_vectors() -> VectorTable:
    return VectorTable([], np.zeros((0, 1), np.float32), frozenset())


def _stored(folder: Path, store: str) -> VectorTable:
    names: list[Any] = []
    own: set[Any] = set()
    for name, has in _rows(folder / f"{store}.ndjson"):
        names.append(tuple(name) if isinstance(name, list) else name)
        if has:
            own.add(names[-1])
    return VectorTable(names, np.load(folder / f"{store}.npy", mmap_mode="r", allow_pickle=False), frozenset(own))


def _rows(path: Path) -> Iterator[list[Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _decoded(attributes: str | None) -> dict[str, Any]:
    return {name: loads(raw) for name, raw in fields_of(attributes).items()} if attributes else {}


def _description(given: Mapping[str, Any]) -> str:
    return next((given[name] for name in _TEXTS if isinstance(given.get(name), str)), "")


def _passages(given: Mapping[str, Any], provenance: str | None) -> list[str]:
    listed = given.get("passages")
    found = [item for item in listed if isinstance(item, str)] if isinstance(listed, list) else []
    return list(dict.fromkeys([*([provenance] if provenance else []), *found]))
