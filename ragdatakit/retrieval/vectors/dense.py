"""Vectors of passages, searched exactly: every passage is compared with the question by the cosine of their vectors.

Vectors come from an embedder, or are given in a file; given ones are brought to length 1. No approximate index is
made: what is found is what is nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.retrieval.best_scores import no_ranking
from ragdatakit.retrieval.server_replies import one_line
from ragdatakit.retrieval.vectors.embedders import Embedder, EmbeddingError, make_embedder
from ragdatakit.retrieval.vectors.given_vectors import Placing, QueryVectors, placed_blocks
from ragdatakit.retrieval.vectors.stores import Search, get_store, store_version
from ragdatakit.retrieval.vectors.vector_files import file_settings, vectors_kind
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress, Ranker, Ranking
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.retrieval.vectors.stores import Block
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.retrieved import Query

LAYOUT = 1


class DensePart:
    """The dense part that the options ask for.

    ``cache`` is the folder in which the vectors of an embedder are kept (default: ``vectors`` in the user's cache): a
    run that was killed continues from there. Raises `RagdataError` where there is neither an embedder nor a file.
    """

    kind = "dense"

    def __init__(self, options: SearchOptions, cache: Path | None = None) -> None:
        if not options.embedder and options.vectors is None:
            raise RagdataError("there are no vectors: name an embedder (--embedder) or a file of vectors (--vectors)")
        self._options = options
        self._cache = cache
        self._embedder: Embedder | None = None

    @property
    def embedder(self) -> Embedder:
        """What makes vectors of questions, and of passages where none are given."""
        if self._embedder is None:
            self._embedder = make_embedder(self._options, self._cache or cache_folder() / "vectors")
        return self._embedder

    @property
    def settings(self) -> Mapping[str, Any]:
        """Where the vectors come from, and where they lie."""
        options = self._options
        source = file_settings(options.vectors) if options.vectors is not None else dict(self.embedder.settings)
        store = options.vector_store
        return {"layout": LAYOUT, "store": store, "store_version": store_version(store), **source}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the vectors of all passages. Blank passages get none, and are never found.

        Raises `RagdataError` where vectors cannot be had.
        """
        store = get_store(self._options.vector_store)
        if self._options.vectors is None:
            embedding = _Embedding(self.embedder, passages, progress)
            dimensions = store.write(folder, passages, embedding.blocks())
            facts = embedding.facts()
        else:
            if vectors_kind(self._options.vectors) != "dense":
                raise RagdataError(f"{self._options.vectors} has sparse vectors; dense ones are lists of numbers")
            placing = Placing(self._options.vectors, passages)
            blocks = _with_progress(placed_blocks(placing), progress, len(passages))
            dimensions = store.write(folder, passages, blocks)
            facts = placing.judge()
        return {"store": self._options.vector_store, "dimensions": dimensions, **facts}

    def open(self, folder: Path, passages: Passages) -> Ranker:
        """Open the vectors, and those of questions where they are given."""
        return DenseRanker(get_store(self._options.vector_store).open(folder), self)

    def query_vectors(self) -> QueryVectors | None:
        """The vectors of questions that are given."""
        if self._options.query_vectors is None:
            return None
        given = QueryVectors(self._options.query_vectors)
        if given.kind != "dense":
            raise RagdataError(f"{given.path} has sparse vectors; the passages have dense ones")
        return given

    @property
    def embeds_questions(self) -> bool:
        """Whether there is an embedder."""
        return bool(self._options.embedder)


class DenseRanker:
    """Ranks by cosine, also below 0: the ``k`` best passages that have a vector; none for a blank question."""

    def __init__(self, search: Search, part: DensePart) -> None:
        self._search = search
        self._part = part
        self._given: QueryVectors | None = None
        self._is_read = False

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the ``k`` nearest passages. Raises `RagdataError` where a query gets no vector."""
        found = [no_ranking() for _ in queries]
        vectors = self._vectors(queries)
        places = [place for place, vector in enumerate(vectors) if vector is not None]
        if not places or not self._search.dimensions:
            return found
        rows = np.stack([vector for vector in vectors if vector is not None])
        for place, ranking in zip(places, self._search.nearest(rows, k), strict=True):
            found[place] = ranking
        return found

    def _vectors(self, queries: Sequence[Query]) -> list[npt.NDArray[np.float32] | None]:
        if not self._is_read:
            self._given, self._is_read = self._part.query_vectors(), True
        vectors: list[npt.NDArray[np.float32] | None] = [
            self._given.dense(query.question_id, query.text) if self._given is not None else None for query in queries
        ]
        missing = [p for p, vector in enumerate(vectors) if vector is None and queries[p].text.strip()]
        if missing:
            for place, vector in zip(missing, self._embedded([queries[p] for p in missing]), strict=True):
                vectors[place] = vector
        own = self._search.dimensions
        others = {len(vector) for vector in vectors if vector is not None} - {own}
        if own and others:
            raise RagdataError(
                f"the vectors of questions have {min(others):,} dimensions, those of the passages {own:,}: "
                "they are of different models"
            )
        return vectors

    def _embedded(self, queries: Sequence[Query]) -> Iterable[npt.NDArray[np.float32]]:
        if not self._part.embeds_questions:
            raise RagdataError(no_vector_for(queries, self._given, "--embedder KIND:MODEL or --query-vectors FILE"))
        try:
            return list(self._part.embedder.embed([query.text for query in queries], "query"))
        except EmbeddingError as error:
            if error.position is None:
                raise
            raise RagdataError(f"{error} (question {one_line(queries[error.position].text, 60)!r})") from error


def no_vector_for(queries: Sequence[Query], given: QueryVectors | None, how: str) -> str:
    """What to say where questions have no vector."""
    first = one_line(queries[0].question_id or queries[0].text, 60)
    whose = f"the question {first!r} has" if len(queries) == 1 else f"{len(queries):,} questions ({first!r} first) have"
    where = f" in {given.path}" if given is not None else ""
    return f"{whose} no vector{where}: give {how}"


class _Embedding:
    """Embeds all passages, piece by piece."""

    def __init__(self, embedder: Embedder, passages: Passages, progress: Progress | None) -> None:
        self._embedder = embedder
        self._passages = passages
        self._progress = progress
        self._blank = 0
        self._cut: list[str] = []

    def blocks(self) -> Iterator[Block]:
        count, piece = len(self._passages), self._embedder.piece
        for first in range(0, count, piece):
            if self._progress is not None:
                self._progress("embedding passages", first, count)
            ordinals, texts = [], []
            for ordinal in range(first, min(count, first + piece)):
                text = self._passages[ordinal].searched
                if text.strip():
                    ordinals.append(ordinal)
                    texts.append(text)
                else:
                    self._blank += 1
            if texts:
                yield np.asarray(ordinals, np.int64), self._embedded(ordinals, texts)
        if self._progress is not None:
            self._progress("embedding passages", count, count)

    def _embedded(self, ordinals: list[int], texts: list[str]) -> npt.NDArray[np.float32]:
        cut: list[int] = []
        try:
            vectors = self._embedder.embed(texts, "passage", cut)
        except EmbeddingError as error:
            if error.position is None:
                raise
            passage_id = self._passages.id(ordinals[error.position])
            raise RagdataError(f"{error} (passage {one_line(passage_id, 60)!r})") from error
        self._cut.extend(self._passages.id(ordinals[place]) for place in sorted(cut))
        return vectors

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"vectors": len(self._passages) - self._blank, "without_vector": self._blank}
        if self._cut:
            facts |= {"texts_cut": len(self._cut), "first_cut": self._cut[0]}
        return {"model": self._embedder.model, **facts, **self._embedder.facts}


def _with_progress(blocks: Iterator[Block], progress: Progress | None, count: int) -> Iterator[Block]:
    done = 0
    for block in blocks:
        yield block
        done += len(block[0])
        if progress is not None:
            progress("reading vectors", done, count)
