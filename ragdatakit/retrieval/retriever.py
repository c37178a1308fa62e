"""The reference retriever: searches an index by one of the modes, and says of each hit how it was found.

``bm25`` ranks by terms, ``sparse`` by learned term weights, ``dense`` by vectors, ``graph`` by a walk from the nodes
that the question names; ``collapsed`` and ``traversal`` search a tree of summaries; ``contextual`` searches chunks with
their contexts; ``hybrid`` fuses several of them by their ranks.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragdatakit.retrieval.fusion import fuse
from ragdatakit.retrieval.lexical import LexicalPart
from ragdatakit.retrieval.terms.accents import spelled_with_other_accents
from ragdatakit.retrieval.terms.snippets import snippet
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.retrieval.vectors.vector_files import vectors_kind
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import SearchOptions
from ragdatakit.schemas.retrieved import Hit, Query, Retrieval
from ragdatakit.schemas.search.modes import (
    ALL_MODES,
    EXPLAINED_MODES,
    FRAMEWORK_MODES,
    GRAPHRAG_MODES,
    LIGHTRAG_MODES,
    MODES,
    TREE_MODES,
    mode_hint,
)
from ragdatakit.schemas.texts import some_of

if TYPE_CHECKING:
    from ragdatakit.retrieval.index.store import Index
    from ragdatakit.retrieval.index_parts import Explaining, GraphLike, Part, Ranker, Ranking, Seeding, Way
    from ragdatakit.retrieval.lexical import LexicalRanker
    from ragdatakit.retrieval.lightrag.context import Mode
    from ragdatakit.retrieval.lightrag.part import LightRagRanker
    from ragdatakit.retrieval.passages import Passage
    from ragdatakit.retrieval.trees import TreeRankers

FUSED_DEPTH = 100
"""How many passages of each ranking are fused at least."""
LEAST_K, MOST_K = 1, 100_000
_WHERE_ASKED = ("contextual",)
"""Modes that make something of the dataset: contexts for chunks that have none."""
_WITH_SUMMARIES = (*TREE_MODES, "graphrag-global")
"""Modes that find summaries, besides the passages or in their place."""
_BATCH = 64
_MOST_WORDS = 8
_LOOKED_AT, _LOOKED_INTO = 20, 2000
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")


class Retriever:
    """Searches one index. Parts of it are opened, and built where they are missing, when a mode needs them."""

    def __init__(self, index: Index, options: SearchOptions | None = None) -> None:
        self.index = index
        self.options = _with_paths(options or SearchOptions())
        self._tokenizer: Tokenizer | None = None
        self._parts: dict[str, Part] = {}
        self._rankers: dict[str, Ranker] = {}
        unknown = [mode for mode in self.options.fuse if mode not in MODES or mode == "hybrid"]
        if unknown:
            raise UnknownNameError("mode to fuse", unknown[0], MODES[:-1])
        for mode, weight in self.options.fuse.items():
            if not 0 < weight < math.inf:
                raise RagdataError(f"the weight of {mode} is {weight}, expected a number above 0")

    @property
    def tokenizer(self) -> Tokenizer:
        """What makes terms of texts and questions."""
        if self._tokenizer is None:
            self._tokenizer = Tokenizer(self.options.analyzer, self.options.stemmer)
        return self._tokenizer

    @property
    def lexical(self) -> LexicalRanker:
        """The terms of the passages."""
        return cast("LexicalRanker", self._ranker("bm25"))

    @property
    def graph(self) -> GraphLike | None:
        """The graph, where the dataset has one or one was asked for."""
        wanted = "graph" in self._parts or self.lack("graph") == ""
        return cast("GraphLike", self._ranker("graph")) if wanted else None

    def modes(self) -> tuple[str, ...]:
        """The modes for which there is all that they need, without anything being made up."""
        return tuple(mode for mode in MODES if mode not in _WHERE_ASKED and self.lack(mode) == "")

    def lack(self, mode: str) -> str:
        """What a mode lacks, in words that say what to give; empty where it lacks nothing."""
        options = self.options
        if mode == "sparse" and not (options.vectors is not None and self._vectors_are("sparse")):
            return "there are no learned-sparse vectors of the passages (--vectors FILE)"
        if mode == "dense" and not (options.embedder or (options.vectors is not None and self._vectors_are("dense"))):
            return "there are no vectors of the passages (--embedder KIND:MODEL makes them, --vectors FILE has them)"
        if mode == "graph" and options.graph != "names" and not self.index.has_graph:
            return "the dataset has no graph (--graph names makes one of the names in its texts)"
        if mode in TREE_MODES and "summaries" not in self.index.tables:
            return "the dataset has no tree of summaries"
        if mode == "contextual" and self.index.passages.unit != "chunk":
            return "it searches chunks with contexts, and the dataset has none (--chunk-size cuts its documents)"
        if mode in FRAMEWORK_MODES and not self.index.has_graph:
            return "the dataset has no graph"
        if mode == "graphrag-global" and not {"communities", "summaries"} <= self.index.tables:
            return "the dataset has no reports of communities"
        if mode == "hybrid" and options.fuse:
            return next(filter(None, map(self._lack_where_asked, options.fuse)), "")
        if mode == "hybrid" and len(self.fused) < 2:
            return "there is nothing to fuse with bm25 (--fuse bm25=1,graph=0.5 names the modes)"
        return ""

    def _lack_where_asked(self, mode: str) -> str:
        """The same for a mode that is asked for by its name: a graph of names is then made where there is no other."""
        return "" if mode == "graph" and self.options.graph == "auto" else self.lack(mode)

    def _vectors_are(self, kind: str) -> bool:

        return self.options.vectors is not None and vectors_kind(self.options.vectors) == kind

    @property
    def fused(self) -> Mapping[str, float]:
        """The modes that hybrid fuses, with their weights."""
        if self.options.fuse:
            return self.options.fuse
        return {mode: 1.0 for mode in ("bm25", "sparse", "dense", "graph") if self.lack(mode) == ""}

    def refuse_lacking(self, mode: str) -> None:
        """Raise `RagdataError` where a mode cannot be used, with what it needs; `UnknownNameError` for no mode."""
        if mode not in ALL_MODES:
            raise UnknownNameError("mode", mode, ALL_MODES, hint=mode_hint(mode))
        if lack := self._lack_where_asked(mode):
            raise RagdataError(f"mode {mode} is not available for {self.index.name}: {lack}")

    def _part(self, mode: str) -> Part:
        if mode not in self._parts:
            self._parts[mode] = self._made(mode)
        return self._parts[mode]

    def _made(self, mode: str) -> Part:
        if mode == "bm25":
            return LexicalPart(self.tokenizer)
        if mode == "graph":
            from ragdatakit.retrieval.graphs.ranker import GraphPart

            graph = self.options.graph
            if graph == "auto":
                graph = "given" if self.index.has_graph else "names"
            return GraphPart(graph, self.options.damping, self.tokenizer)
        if mode == "tree":
            from ragdatakit.retrieval.trees import TreePart

            return TreePart(self.options)
        if mode == "contextual":
            from ragdatakit.retrieval.contextual import ContextualPart

            return ContextualPart(self.tokenizer)
        if mode in LIGHTRAG_MODES:
            from ragdatakit.retrieval.lightrag.part import LightRagPart

            return LightRagPart(self.tokenizer, self.options, self.index.source.files)
        if mode in GRAPHRAG_MODES:
            from ragdatakit.retrieval.graphrag.part import GraphRagPart

            return GraphRagPart(self.tokenizer, self.options)
        if mode == "dense":
            from ragdatakit.retrieval.vectors.dense import DensePart

            options = self.options
            if options.vectors is not None and not self._vectors_are("dense"):
                options = replace(options, vectors=None, query_vectors=None)  # those are for sparse mode
            return DensePart(options)
        from ragdatakit.retrieval.vectors.sparse import SparsePart

        return SparsePart(self.options)

    def _ranker(self, mode: str) -> Ranker:
        if mode not in self._rankers:
            ranker = self._tree.way(mode) if mode in TREE_MODES else self.index.ranker(self._part(mode))
            if mode in FRAMEWORK_MODES:
                ranker = cast("LightRagRanker", ranker).of(cast("Mode", mode.partition("-")[2]))
            self._rankers[mode] = ranker
        return self._rankers[mode]

    @property
    def _tree(self) -> TreeRankers:
        """The tree of summaries, for both ways to search it."""
        return cast("TreeRankers", self._ranker("tree"))

    def prepare(self, mode: str) -> None:
        """Open what a mode needs, and build what is missing."""
        self.refuse_lacking(mode)
        for name in self.fused if mode == "hybrid" else self._needed(mode):
            self._ranker(name)

    def _needed(self, mode: str) -> tuple[str, ...]:
        """The parts of a mode."""
        return ("contextual", "dense") if mode == "contextual" and self.lack("dense") == "" else (mode,)

    def rank(self, queries: Sequence[Query], mode: str = "bm25", k: int = 10) -> list[Ranking]:
        """For each query the ``k`` best passages by ordinal; fewer, or none, where no more are found.

        Raises `RagdataError` for a mode that is not available, with what it needs.
        """
        self.refuse_lacking(mode)
        _refuse_depth(k)
        if mode != "hybrid":
            return self._ranked(mode, queries, k)
        rankings = self._fused_rankings(queries, k)
        fused, rrf_k = self.fused, self.options.rrf_k
        return [fuse({m: found[i] for m, found in rankings.items()}, fused, rrf_k, k) for i in range(len(queries))]

    def _fused_rankings(self, queries: Sequence[Query], k: int) -> dict[str, list[Ranking]]:
        depth = max(k, FUSED_DEPTH)
        return {mode: self._ranked(mode, queries, depth) for mode in self.fused}

    def _ranked(self, mode: str, queries: Sequence[Query], k: int) -> list[Ranking]:
        ranker = self._ranker(mode)
        with self.index.guarded():
            if self._needed(mode) == (mode,):
                return ranker.rank(queries, k)
            from ragdatakit.retrieval.contextual import CANDIDATES, fuse_by_rank

            depth = max(k, CANDIDATES)
            both = zip(self._ranker("dense").rank(queries, depth), ranker.rank(queries, depth), strict=True)
            return [fuse_by_rank(dense, lexical, self.index.passages, k) for dense, lexical in both]

    def _found(self, mode: str, queries: Sequence[Query], k: int) -> list[Ranking]:
        """What is shown: the passages that rank; and of a tree its summaries, or the reports of communities."""
        if mode not in _WITH_SUMMARIES:
            return self.rank(queries, mode, k)
        way = cast("Way", self._ranker(mode))
        with self.index.guarded():
            return [way.nodes(query, k) for query in queries]

    def _passage(self, ordinal: int, mode: str = "") -> Passage:
        """A passage, or behind the last one a summary that a mode has found."""
        passages = self.index.passages
        return passages[ordinal] if ordinal < len(passages) else cast("Way", self._ranker(mode)).passage(ordinal)

    def search(self, query: Query | str, mode: str = "bm25", k: int = 10, explain: bool = False) -> Retrieval:
        """The ``k`` best passages for one query, with snippets, ranks by mode, and paths through the graph.

        ``explain``: of the modes of frameworks and trees also all candidates, with why each was found or left out.
        """
        query = Query(query) if isinstance(query, str) else query
        self.prepare(mode)
        _refuse_depth(k)
        started = time.perf_counter()
        ranks: dict[str, Mapping[int, int]] = {}
        if mode == "hybrid":
            rankings = {name: found[0] for name, found in self._fused_rankings([query], k).items()}
            ranks = {name: _ranks(ranking) for name, ranking in rankings.items()}
            ranking = fuse(rankings, self.fused, self.options.rrf_k, k)
        else:
            ranking = self._found(mode, [query], k)[0]
        seconds = time.perf_counter() - started
        with self.index.guarded():
            found = self._described(query, mode, k, ranking, ranks, seconds)
            if explain and mode in EXPLAINED_MODES:
                found = replace(found, candidates=cast("Explaining", self._ranker(mode)).explain(query, k))
            return found

    def _described(
        self, query: Query, mode: str, k: int, ranking: Ranking, ranks: Mapping[str, Mapping[int, int]], seconds: float
    ) -> Retrieval:
        """A ranking with all that is said about its passages."""
        graph = cast("GraphLike", self._ranker("graph")) if mode == "graph" or "graph" in ranks else None
        hits = []
        for place, (ordinal, score) in enumerate(zip(ranking.ordinals, ranking.scores, strict=True), 1):
            hit = self.hit(int(ordinal), place, float(score), query, mode)
            mine = {name: found[int(ordinal)] for name, found in ranks.items() if int(ordinal) in found}
            path = graph.path(query, int(ordinal)) if graph is not None and (not ranks or "graph" in mine) else ()
            hits.append(replace(hit, ranks=mine, path=path))
        seeds = graph.seeds(query) if graph is not None else ()
        notes = self._notes(query, mode, seeds, len(hits))
        if mode in GRAPHRAG_MODES:
            seeds = cast("Seeding", self._ranker(mode)).seeds(query)
        return Retrieval(query, mode, k, tuple(hits), seconds, seeds, notes)

    def search_many(self, queries: Iterable[Query], mode: str = "bm25", k: int = 10) -> Iterator[Retrieval]:
        """The best passages for each query, without what only a reader wants: snippets, paths, notes.

        ``seconds`` of each is its share of the time that its batch took.
        """
        self.prepare(mode)
        _refuse_depth(k)
        rows = iter(queries)
        while batch := list(islice(rows, _BATCH)):
            started = time.perf_counter()
            rankings = self._found(mode, batch, k)
            seconds = (time.perf_counter() - started) / len(batch)
            for query, ranking in zip(batch, rankings, strict=True):
                with self.index.guarded():
                    hits = tuple(self._plain_hits(ranking, mode))
                yield Retrieval(query, mode, k, hits, seconds)

    def _plain_hits(self, ranking: Ranking, mode: str) -> Iterator[Hit]:
        for rank, (ordinal, score) in enumerate(zip(ranking.ordinals, ranking.scores, strict=True), 1):
            passage = self._passage(int(ordinal), mode)
            yield Hit(rank, passage.passage_id, float(score), passage.text, passage.title, passage.document_id)

    def hit(self, ordinal: int, rank: int, score: float, query: Query, mode: str = "") -> Hit:
        """A passage as a hit."""

        passage = self._passage(ordinal, mode)
        shown = snippet(passage.text, query.text, self.tokenizer)
        return Hit(rank, passage.passage_id, score, passage.text, passage.title, passage.document_id, shown)

    def graph_note(self, mode: str) -> str:
        """That a graph was made that nobody asked for; empty where the mode has no graph, or one of the dataset."""
        modes = self.fused if mode == "hybrid" else (mode,)
        if "graph" not in modes or self.index.has_graph or self.options.graph == "names":
            return ""
        return "The dataset has no graph: this one was made of the names in its texts."

    def _notes(self, query: Query, mode: str, seeds: tuple[str, ...], count: int) -> tuple[str, ...]:
        """What the user should know about a search that finds little."""
        notes: list[str] = []
        modes = self.fused if mode == "hybrid" else (mode,)
        if "bm25" in modes:
            words = {token: query.text[start:end] for token, start, end in self.tokenizer.spans(query.text)}
            unknown = list(dict.fromkeys(words[token] for token in words if not self.lexical.known(token)))
            if not words:
                notes.append("The question has no terms: it is empty, or has stop words and punctuation only.")
            elif len(unknown) == len(set(words.values())):
                notes.append(
                    f"No term of the question is in the index ({some_of(self._spelled(unknown), _MOST_WORDS)})."
                )
            elif unknown:
                notes.append(f"Not in the index: {some_of(self._spelled(unknown), _MOST_WORDS)}.")
            if advice := self._advice(query.text):
                notes.append(advice)
        notes += filter(None, [self.graph_note(mode)])
        if "graph" in modes and self.graph is not None and self.graph.is_empty and not self.index.has_graph:
            notes.append(
                "No names were found in the texts (recognised by capital letters): the graph has nothing to search."
            )
        elif "graph" in modes and not seeds:
            notes.append("No node of the graph was linked to the question.")
        elif not count and mode != "bm25":
            notes.append("Nothing was found.")
        return tuple(notes)

    def _spelled(self, words: Sequence[str]) -> list[str]:
        """Words that no passage has; with the spelling that one has, where only accents differ."""
        shown = list(words)
        for place, word in enumerate(words[:_MOST_WORDS]):
            token = self.tokenizer.tokens(word)[0]
            ordinal = self.lexical.with_other_accents(token)
            if ordinal is not None:
                text = self.index.passages[ordinal].searched
                spelled = spelled_with_other_accents(text, token, self.tokenizer)
                shown[place] = f"{word} (but {spelled} is)" if spelled is not None else word
        return shown

    def _advice(self, text: str) -> str:
        """What would serve the language of a text better; empty where nothing is known to."""
        if self.options.analyzer != "default" or not _KANA.search(text):
            return ""
        return "For Japanese, --analyzer ja searches by words (extra ja)."

    @property
    def advice(self) -> str:
        """The same for the passages of the index, by its first ones."""
        passages = self.index.passages
        texts = (passages[ordinal].text[:_LOOKED_INTO] for ordinal in range(min(len(passages), _LOOKED_AT)))
        found = [self._advice(text) for text in texts if text]
        advices = [text for text in found if text]
        return advices[0] if 2 * len(advices) > len(found) else ""


def _with_paths(options: SearchOptions) -> SearchOptions:
    """Files may be given as texts."""
    vectors, asked = options.vectors, options.query_vectors
    return replace(
        options,
        vectors=Path(vectors) if vectors is not None else None,
        query_vectors=Path(asked) if asked is not None else None,
    )


def _ranks(ranking: Ranking) -> dict[int, int]:
    return {int(ordinal): rank for rank, ordinal in enumerate(ranking.ordinals, 1)}


def _refuse_depth(k: Any) -> None:
    if not isinstance(k, int) or isinstance(k, bool) or not LEAST_K <= k <= MOST_K:
        raise RagdataError(f"k is {k!r}, expected an integer from {LEAST_K} to {MOST_K:,}")
