"""GraphRAG's modes as a part of an index: local search for passages, global search for the reports of communities.

Entities and reports are found by their words, or by vectors: those of an embedder, or given ones under their ids, as
GraphRAG keeps them in ``embeddings.entity_description`` and ``embeddings.community_full_content``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import numpy as np

from ragdatakit.files.texts import plain_tokens
from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.retrieval.graphrag.context import (
    Batch,
    Entity,
    Knowledge,
    Report,
    Settings,
    Unit,
    batches,
    local,
    ranked_units,
)
from ragdatakit.retrieval.graphrag.explaining import explained, explained_batches
from ragdatakit.retrieval.graphrag.knowledge import read_knowledge, write_knowledge
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.passages import Passage
from ragdatakit.retrieval.terms.bm25 import Bm25
from ragdatakit.retrieval.vectors.embedders import make_embedder
from ragdatakit.retrieval.vectors.given_vectors import QueryVectors, of_length_one
from ragdatakit.retrieval.vectors.vector_files import dense_blocks, file_settings
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.terms.tokens import Tokenizer
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.retrieved import ContextItem, Query

    Vectors = npt.NDArray[np.float32]

VERSION = 1
_FILE = "knowledge.ndjson"
_MOST_BATCHES = 10
"""Batches of reports that are explained."""
_ENTITIES, _REPORTS = "entities", "reports"


class GraphRagPart:
    """The part of an index that both modes search."""

    kind = "graphrag"

    def __init__(self, tokenizer: Tokenizer, options: SearchOptions) -> None:
        self.tokenizer = tokenizer
        self.options = options

    @property
    def source(self) -> str:
        """By what entities and reports are found: ``given`` vectors, those of an ``embedder``, or ``words``."""
        options = self.options
        if options.vectors is not None and (options.query_vectors is not None or options.embedder):
            return "given"
        return "embedder" if options.embedder else "words"

    @property
    def settings(self) -> Mapping[str, Any]:
        """The version of its rules, and where vectors come from."""
        found: dict[str, Any] = {"version": VERSION, "found_by": self.source}
        if self.source == "given" and self.options.vectors is not None:
            return found | file_settings(self.options.vectors)
        return found | dict(self.embedder().settings) if self.source == "embedder" else found

    def embedder(self) -> Any:
        """What makes vectors of texts."""
        return make_embedder(self.options, cache_folder() / "vectors")

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write what is known, and the vectors of entities and reports; returns their counts."""
        counts: dict[str, Any] = dict(write_knowledge(folder / _FILE, tables()))
        if self.source != "words":
            knowledge = read_knowledge(folder / _FILE, _Units(passages), level=1 << 62)
            counts |= self._write_vectors(folder, knowledge, progress)
        return {**counts, "found_by": self.source}

    def _write_vectors(self, folder: Path, knowledge: Knowledge, progress: Progress | None) -> dict[str, Any]:
        texts = {
            _ENTITIES: {each.entity_id: _embedded(each) for each in knowledge.entities.values()},
            _REPORTS: {each.report_id: each.content for each in knowledge.reports},
        }
        counts: dict[str, Any] = {}
        given = self._given_vectors() if self.source == "given" else {}
        for name, of_id in texts.items():
            if self.source == "embedder" and of_id:
                if progress is not None:
                    progress(f"embedding {name}", 0, len(of_id))
                ids, rows = list(of_id), np.asarray(self.embedder().embed(list(of_id.values())), np.float32)
            else:
                ids = [each for each in of_id if each in given]
                rows = np.stack([given[each] for each in ids]) if ids else np.zeros((0, 1), np.float32)
            vectors, sound = of_length_one(rows, Counter())
            np.save(folder / f"{name}.npy", vectors[sound], allow_pickle=False)
            kept = [each for each, is_sound in zip(ids, sound.tolist(), strict=True) if is_sound]
            (folder / f"{name}.ids.json").write_bytes(msgspec.json.encode(kept))
            counts[f"vectors_of_{name}"] = len(kept)
        if not any(counts.values()):
            example, own = next(iter(given), ""), next(iter(texts[_ENTITIES]), "")
            raise RagdataError(
                f"{self.options.vectors} has no vectors of entities or reports: its ids are like {example[:40]!r}, "
                f"those of the entities like {own[:40]!r}"
            )
        return counts

    def _given_vectors(self) -> dict[str, Vectors]:
        assert self.options.vectors is not None
        found: dict[str, Vectors] = {}
        for block in dense_blocks(self.options.vectors, Counter()):
            if block.ids is None:
                raise RagdataError(f"{self.options.vectors} does not say whose its vectors are: give ids beside them")
            for row_id, vector in zip(block.ids, block.vectors, strict=True):
                found.setdefault(row_id, vector)
        return found

    def open(self, folder: Path, passages: Passages) -> GraphRagRankers:
        """Open what was built."""
        return GraphRagRankers(folder, passages, self)


class GraphRagRankers:
    """Both ways to search one index; `of` gives the ranker of one of them."""

    def __init__(self, folder: Path, passages: Passages, part: GraphRagPart) -> None:
        self.passages = passages
        self._folder, self._part = folder, part
        self.settings = Settings(level=part.options.community_level, count=plain_tokens.count)
        self.knowledge = read_knowledge(folder / _FILE, _Units(passages), self.settings.level)
        self._finders: dict[str, _Finder] = {}
        asked = part.options.query_vectors
        self._asked = QueryVectors(asked) if asked is not None and part.source == "given" else None

    def of(self, mode: str) -> _Way:
        """The ranker of passages of one way: ``local`` or ``global``."""
        return _Way(self, mode)

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """Local search."""
        return self.of("local").rank(queries, k)

    def passage(self, number: int) -> Passage:
        """A passage; behind the last one a report."""
        count = len(self.passages)
        if number < count:
            return self.passages[number]
        report = self.knowledge.reports[number - count]
        return Passage(report.report_id, report.content, report.title)

    def scored(self, query: Query) -> list[tuple[Entity, float | None]]:
        """The entities that a question leads to with their scores, nearest first; of an empty question those with most
        relationships."""
        if not query.text.strip():
            return [(entity, None) for entity in self.knowledge.by_rank(self.settings.entities // 2)]
        finder = self._finder(_ENTITIES, lambda: {e.entity_id: _embedded(e) for e in self.knowledge.entities.values()})
        found = finder.best(self._vector(query), query.text, self.settings.entities)
        return [(self.knowledge.entities[name], score) for name, score in found if name in self.knowledge.entities]

    def selected(self, query: Query) -> list[Entity]:
        """The entities that a question leads to, nearest first."""
        return [entity for entity, _ in self.scored(query)]

    def explain(self, query: Query, mode: str) -> tuple[ContextItem, ...]:
        """What a model would get for a question, and why."""
        if mode == "global":
            return tuple(explained_batches(self.batches, self.knowledge.weights))
        selected = self.scored(query)
        scores = {entity.entity_id: score for entity, score in selected if score is not None}
        found = local(self.knowledge, [entity for entity, _ in selected], self.settings)
        return tuple(explained(self.knowledge, found, scores, self.settings))

    def units(self, query: Query, k: int) -> list[int]:
        """The passages of local search by their ordinals, as many as are asked for, whatever their length."""
        found = ranked_units(self.knowledge, self.selected(query))
        ordinals = (self.passages.ordinal(unit) for unit in found)
        return [ordinal for ordinal in ordinals if ordinal is not None][:k]

    def reports(self, query: Query, k: int) -> list[tuple[int, float]]:
        """The reports that a question leads to, by their places: how near they are, times how much they cover.

        GraphRAG has a model look at all reports, and rate what each says about the question.
        """
        knowledge, weights, places = self.knowledge, self.knowledge.weights, self._ranked_reports
        finder = self._finder(_REPORTS, lambda: {r.report_id: f"{r.title}\n{r.content}" for r in knowledge.reports})
        found = finder.best(self._vector(query), query.text, len(places))
        scored = [(places[n], s * weights[knowledge.reports[places[n]].community]) for n, s in found if n in places]
        return sorted((each for each in scored if each[1] > 0), key=lambda each: (-each[1], each[0]))[:k]

    @cached_property
    def _ranked_reports(self) -> dict[str, int]:
        """The places of the reports that have a rank, by their ids."""
        return {r.report_id: n for n, r in enumerate(self.knowledge.reports) if r.rank is not None and r.rank >= 0}

    def units_of(self, report: Report) -> list[int]:
        """The passages in which the members of a report's community are, those first in which most are."""
        counts = Counter(unit for entity in self._members.get(report.community, ()) for unit in entity.units)
        known = ((self.passages.ordinal(unit), count) for unit, count in counts.items())
        return [o for o, _ in sorted(((o, c) for o, c in known if o is not None), key=lambda each: (-each[1], each[0]))]

    @cached_property
    def _members(self) -> dict[int, list[Entity]]:
        """The entities of each community."""
        found: dict[int, list[Entity]] = {}
        for entity in self.knowledge.entities.values():
            for number in self.knowledge.communities[entity.entity_id]:
                found.setdefault(number, []).append(entity)
        return found

    @cached_property
    def batches(self) -> list[Batch]:
        """The reports as a model would read them, in batches: the first ones."""
        return list(islice(batches(self.knowledge, self.settings), _MOST_BATCHES))

    def _vector(self, query: Query) -> Any:
        if self._part.source == "words":
            return None
        found = self._asked.dense(query.question_id, query.text) if self._asked is not None else None
        if found is None and self._asked is not None and not self._part.options.embedder:
            raise RagdataError(f"{self._asked.path} has no vector for {query.text[:60]!r}")
        return found if found is not None else self._part.embedder().embed([query.text], "query")[0]

    def _finder(self, name: str, texts: Callable[[], Mapping[str, str]]) -> _Finder:
        if name not in self._finders:
            if self._part.source == "words":
                self._finders[name] = _Words(texts(), self._part.tokenizer)
            else:
                self._finders[name] = _Nearest(self._folder, name)
        return self._finders[name]


class _Way:
    """One way to search, as a ranker."""

    def __init__(self, rankers: GraphRagRankers, mode: str) -> None:
        self.rankers, self._mode = rankers, mode

    def nodes(self, query: Query, k: int) -> Ranking:
        """What is found: passages, or in global search reports, which are numbered behind the passages."""
        if self._mode == "local":
            return _in_order(self.rankers.units(query, k))
        found, first = self.rankers.reports(query, k), len(self.rankers.passages)
        return Ranking(np.array([n + first for n, _ in found], np.int64), np.array([s for _, s in found], np.float64))

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """The passages of local search, or those that reports of global search are about, in their order."""
        return [_in_order(self._passages(query, k)) for query in queries]

    def _passages(self, query: Query, k: int) -> list[int]:
        if self._mode == "local":
            return self.rankers.units(query, k)
        found: dict[int, None] = {}
        for place, _ in self.rankers.reports(query, k):
            found |= dict.fromkeys(self.rankers.units_of(self.rankers.knowledge.reports[place]))
            if len(found) >= k:
                break
        return list(found)[:k]

    def passage(self, number: int) -> Passage:
        """A passage, or a report."""
        return self.rankers.passage(number)

    def seeds(self, query: Query) -> tuple[str, ...]:
        """The entities from which local search starts."""
        return tuple(e.title for e in self.rankers.selected(query)) if self._mode == "local" else ()

    def explain(self, query: Query, k: int) -> tuple[ContextItem, ...]:
        """What a model would get and why; in global search batches of reports, whatever the question is."""
        return self.rankers.explain(query, self._mode)


class _Finder(Protocol):
    """Finds names by a question."""

    def best(self, vector: Any, words: str, k: int) -> list[tuple[str, float]]:
        """The ``k`` best with their scores, best first; ties go to the first."""
        ...


class _Words:
    def __init__(self, texts: Mapping[str, str], tokenizer: Tokenizer) -> None:
        self._names = list(texts)
        self._found = Bm25(tokenizer)
        for text in texts.values():
            self._found.add(text)

    def best(self, vector: Any, words: str, k: int) -> list[tuple[str, float]]:
        scores = self._found.scores(words)
        return [(self._names[place], scores[place]) for place in self._found.best(words, k)]


class _Nearest:
    def __init__(self, folder: Path, name: str) -> None:
        self._names: list[str] = msgspec.json.decode((folder / f"{name}.ids.json").read_bytes())
        self._vectors = np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False)
        self._what = name

    def best(self, vector: Any, words: str, k: int) -> list[tuple[str, float]]:
        if not self._names:
            raise RagdataError(f"there are no vectors of {self._what}: give them with --vectors, or an embedder")
        question = np.asarray(vector, np.float32)
        if len(question) != self._vectors.shape[1]:
            raise RagdataError(
                f"the question's vector has {len(question):,} dimensions, those of the {self._what} "
                f"{self._vectors.shape[1]:,}: they are of different models"
            )
        scores = (self._vectors @ (question / (np.linalg.norm(question) or 1.0))).round(6)
        order = np.argsort(-scores, kind="stable")[:k].tolist()
        return [(self._names[row], float(scores[row])) for row in order]


class _Units(Mapping[str, Unit]):
    """The passages of an index as text units."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages

    def __getitem__(self, unit_id: str) -> Unit:
        ordinal = self._passages.ordinal(unit_id)
        if ordinal is None:
            raise KeyError(unit_id)
        return Unit(unit_id, self._passages[ordinal].text, str(ordinal))

    def __iter__(self) -> Iterator[str]:
        return (self._passages.id(ordinal) for ordinal in range(len(self._passages)))

    def __len__(self) -> int:
        return len(self._passages)

    def __contains__(self, unit_id: object) -> bool:
        return isinstance(unit_id, str) and self._passages.ordinal(unit_id) is not None


def _embedded(entity: Entity) -> str:
    """What GraphRAG makes the vector of an entity of."""
    return f"{entity.title}:{entity.description}"


def _in_order(ordinals: Sequence[int]) -> Ranking:
    """Passages as they come: the first has the score 1, the second a half."""
    return Ranking(np.array(ordinals, np.int64), 1.0 / np.arange(1, len(ordinals) + 1))
