"""Learned-sparse vectors (SPLADE and its kin), given in a file: a score is the sum of products of common terms.

The weights lie by term, as an inverted file: for each term of a question the passages that have it get their share.
The scores are exact.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragdatakit.retrieval.best_scores import best_positive, no_ranking
from ragdatakit.retrieval.vectors.dense import no_vector_for
from ragdatakit.retrieval.vectors.given_vectors import Placing, QueryVectors
from ragdatakit.retrieval.vectors.vector_files import file_settings, sparse_rows, vectors_kind
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.index_parts import Progress, Ranker, Ranking
    from ragdatakit.retrieval.passages import Passages
    from ragdatakit.schemas.options import SearchOptions
    from ragdatakit.schemas.retrieved import Query

LAYOUT = 1
TERMS, STARTS, ORDINALS, WEIGHTS = "terms.json", "starts.npy", "ordinals.npy", "weights.npy"
_ENTRIES = 1 << 22
_ROWS_REPORTED = 1000


class SparsePart:
    """The learned-sparse part that the options ask for. Raises `RagdataError` where no vectors are given."""

    kind = "sparse"

    def __init__(self, options: SearchOptions) -> None:
        if options.vectors is None:
            raise RagdataError("there are no learned-sparse vectors: give a file of them (--vectors)")
        self._vectors = options.vectors
        self._query_vectors = options.query_vectors

    @property
    def settings(self) -> Mapping[str, Any]:
        """The file of vectors, and its state."""
        return {"layout": LAYOUT, **file_settings(self._vectors)}

    def build(
        self, folder: Path, passages: Passages, tables: Callable[[], CanonicalTables], progress: Progress | None
    ) -> Mapping[str, Any]:
        """Write the weights by term: two passes, over the file and over what was noted of it."""
        if vectors_kind(self._vectors) != "sparse":
            raise RagdataError(f'{self._vectors} has dense vectors; sparse ones are {{"term": weight}}')
        placing = Placing(self._vectors, passages)
        notes = _Notes(folder)
        notes.take(_placed(placing, progress, len(passages)))
        facts = placing.judge()
        starts = notes.write()
        (folder / TERMS).write_bytes(orjson.dumps(notes.terms))
        np.save(folder / STARTS, starts, allow_pickle=False)
        return {**facts, "terms": len(notes.terms), "weights": int(starts[-1])}

    def open(self, folder: Path, passages: Passages) -> Ranker:
        """Open the weights."""
        terms = orjson.loads((folder / TERMS).read_bytes())
        starts = np.load(folder / STARTS, allow_pickle=False)
        if len(starts) != len(terms) + 1:
            raise RagdataError(f"{folder} is damaged: remove it, and it is built anew")
        return SparseRanker(
            {term: number for number, term in enumerate(terms)},
            starts,
            np.load(folder / ORDINALS, mmap_mode="r", allow_pickle=False),
            np.load(folder / WEIGHTS, mmap_mode="r", allow_pickle=False),
            len(passages),
            self._query_vectors,
        )


class SparseRanker:
    """Ranks by the sum of products of weights; the questions' weights are given in a file."""

    def __init__(
        self,
        terms: Mapping[str, int],
        starts: npt.NDArray[np.int64],
        ordinals: npt.NDArray[np.int32],
        weights: npt.NDArray[np.float32],
        count: int,
        query_vectors: Path | None,
    ) -> None:
        self._terms, self._starts, self._ordinals, self._weights = terms, starts, ordinals, weights
        self._count = count
        self._path = query_vectors
        self._given: QueryVectors | None = None

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        """For each query the ``k`` best passages with a score above 0. Raises `RagdataError` where a question has no
        vector; a blank one has no need of it."""
        wanted = [self._of(query) for query in queries]
        lacking = [q for q, weights in zip(queries, wanted, strict=True) if weights is None and q.text.strip()]
        if lacking:
            raise RagdataError(no_vector_for(lacking, self._given, "sparse ones with --query-vectors FILE"))
        return [self.rank_weights(weights, k) if weights else no_ranking() for weights in wanted]

    def rank_weights(self, weights: Mapping[str, float], k: int) -> Ranking:
        """The ``k`` best passages for the weights of terms."""
        scores = np.zeros(self._count, np.float64)
        known = sorted((self._terms[term], weight) for term, weight in weights.items() if term in self._terms)
        for number, weight in known:
            start, end = self._starts[number], self._starts[number + 1]
            scores[self._ordinals[start:end]] += weight * self._weights[start:end].astype(np.float64)
        return best_positive(scores, k)

    def _of(self, query: Query) -> Mapping[str, float] | None:
        if self._path is None:
            return None
        if self._given is None:
            self._given = QueryVectors(self._path)
            if self._given.kind != "sparse":
                raise RagdataError(f"{self._path} has dense vectors; the passages have sparse ones")
        return self._given.sparse(query.question_id, query.text)


def _placed(placing: Placing, progress: Progress | None, count: int) -> Iterator[tuple[int, dict[str, float]]]:
    for done, row in enumerate(sparse_rows(placing.path, placing.counts)):
        if progress is not None and done % _ROWS_REPORTED == 0:
            progress("reading vectors", min(done, count), count)
        ordinal = placing.place(row.row_id)
        if ordinal < 0:
            continue
        if not row.weights:
            placing.counts["zeros"] += 1
            continue
        placing.take(ordinal)
        yield ordinal, row.weights
    if progress is not None:
        progress("reading vectors", count, count)


class _Notes:
    """The weights in the order of the file, on disk, until their number for each term is known."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[str, int] = {}
        self._total = 0

    @property
    def terms(self) -> list[str]:
        return list(self._numbers)

    def take(self, rows: Iterator[tuple[int, dict[str, float]]]) -> None:
        names = ("terms.tmp", "ordinals.tmp", "weights.tmp")
        files = [(self._folder / name).open("wb") for name in names]
        columns = (array("i"), array("i"), array("f"))
        try:
            for ordinal, weights in rows:
                for term, weight in weights.items():
                    columns[0].append(self._numbers.setdefault(term, len(self._numbers)))
                    columns[2].append(weight)
                columns[1].extend([ordinal] * len(weights))
                if len(columns[0]) >= _ENTRIES:
                    self._flush(files, columns)
            self._flush(files, columns)
        finally:
            for file in files:
                file.close()

    def _flush(self, files: Sequence[Any], columns: Sequence[array[Any]]) -> None:
        self._total += len(columns[0])
        for file, column in zip(files, columns, strict=True):
            column.tofile(file)
            del column[:]

    def write(self) -> npt.NDArray[np.int64]:
        """Write ordinals and weights by term; returns where each term's begin, and the end."""
        noted = [
            np.memmap(self._folder / name, kind, "r")
            for name, kind in (("terms.tmp", np.int32), ("ordinals.tmp", np.int32), ("weights.tmp", np.float32))
        ]
        counts = np.zeros(len(self._numbers), np.int64)
        for at in range(0, self._total, _ENTRIES):
            counts += np.bincount(noted[0][at : at + _ENTRIES], minlength=len(counts))
        starts = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        ordinals = np.lib.format.open_memmap(self._folder / ORDINALS, "w+", np.int32, (self._total,))
        weights = np.lib.format.open_memmap(self._folder / WEIGHTS, "w+", np.float32, (self._total,))
        filled = starts[:-1].copy()
        for at in range(0, self._total, _ENTRIES):
            terms = noted[0][at : at + _ENTRIES]
            order = np.argsort(terms, kind="stable")
            grouped = terms[order]
            begins = np.flatnonzero(np.concatenate(([True], grouped[1:] != grouped[:-1])))
            sizes = np.diff(np.concatenate((begins, [len(grouped)])))
            places = np.arange(len(grouped)) + np.repeat(filled[grouped[begins]] - begins, sizes)
            ordinals[places] = noted[1][at : at + _ENTRIES][order]
            weights[places] = noted[2][at : at + _ENTRIES][order]
            filled[grouped[begins]] += sizes
        ordinals.flush()
        weights.flush()
        del noted
        for name in ("terms.tmp", "ordinals.tmp", "weights.tmp"):
            (self._folder / name).unlink()
        return starts
