"""Where vectors of passages lie, and the exact search in them: a numpy array, or a LanceDB table.

Both find the same passages with the same scores: what a library finds is compared again in float64, so that the order
in which it sums, or takes equal scores, does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ragdatakit.retrieval.best_scores import in_order, no_ranking
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.schemas.errors import MissingExtraError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.passages import Passages

    Block = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]

VECTORS, MISSING, LANCE, TABLE = "vectors.npy", "missing.npy", "lancedb", "passages"
_BLOCK_BYTES = 64 << 20
_QUERIES_AT_ONCE = 64
_BAND = 4e-6
"""Two float32 products of the same vectors differ by less, whatever the order of summing."""
_SPARE = 1000
"""Passages of nearly the same score that are compared in float64 besides the best ``k``."""
_DECIMALS = 9  # float64 sums differ in the last bits by processor; ties and order must not
_LOWEST = -2.0  # below every cosine


class Store(Protocol):
    """Keeps vectors and finds the nearest ones."""

    def write(self, folder: Path, passages: Passages, blocks: Iterable[Block]) -> int:
        """Write vectors with the ordinals of their passages; returns their dimension, 0 where there are none."""
        ...

    def open(self, folder: Path) -> Search:
        """Open what was written."""
        ...


class Search(Protocol):
    """Vectors that are open. ``dimensions`` is 0 where there are none."""

    dimensions: int

    def nearest(self, queries: npt.NDArray[np.float32], k: int) -> list[Ranking]:
        """For each vector (n, d) the ``k`` passages with the highest cosine."""
        ...


def get_store(name: str) -> Store:
    """The store ``numpy`` or ``lancedb``."""
    return LanceStore() if name == "lancedb" else ArrayStore()


def _exact(
    ordinals: npt.NDArray[np.int64], vectors: npt.NDArray[np.float32], query: npt.NDArray[np.float32], k: int
) -> Ranking:
    parts = [
        np.einsum("ij,j->i", vectors[at : at + 4096].astype(np.float64), query.astype(np.float64))
        for at in range(0, len(vectors), 4096)
    ]
    return in_order(ordinals, np.round(np.concatenate(parts), _DECIMALS), k) if parts else no_ranking()


class ArrayStore:
    """One row for each passage, by ordinal; rows of zeros where there is no vector."""

    def write(self, folder: Path, passages: Passages, blocks: Iterable[Block]) -> int:
        """Write the array and the ordinals without a vector."""
        array: Any = None
        seen = np.zeros(len(passages), np.bool_)
        for ordinals, vectors in blocks:
            if array is None:
                shape = (len(passages), vectors.shape[1])
                array = np.lib.format.open_memmap(folder / VECTORS, "w+", np.float32, shape)
            array[ordinals] = vectors
            seen[ordinals] = True
        if array is not None:
            array.flush()
        else:
            np.save(folder / VECTORS, np.zeros((len(passages), 0), np.float32), allow_pickle=False)
        np.save(folder / MISSING, np.flatnonzero(~seen), allow_pickle=False)
        return 0 if array is None else int(array.shape[1])

    def open(self, folder: Path) -> Search:
        """Map the array."""
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        return _ArraySearch(vectors, np.load(folder / MISSING, allow_pickle=False))


class _ArraySearch:
    def __init__(self, vectors: npt.NDArray[np.float32], missing: npt.NDArray[np.int64]) -> None:
        self._vectors = vectors
        self._missing = missing
        self.dimensions = int(vectors.shape[1])

    def nearest(self, queries: npt.NDArray[np.float32], k: int) -> list[Ranking]:
        found: list[Ranking] = []
        for start in range(0, len(queries), _QUERIES_AT_ONCE):
            found.extend(self._nearest(queries[start : start + _QUERIES_AT_ONCE], k))
        return found

    def _nearest(self, queries: npt.NDArray[np.float32], k: int) -> Iterator[Ranking]:
        best = [_Best(k) for _ in queries]
        rows = max(1024, _BLOCK_BYTES // (4 * max(1, self.dimensions)))
        for first in range(0, len(self._vectors), rows):
            block = self._vectors[first : first + rows]
            scores = queries @ block.T
            start, end = np.searchsorted(self._missing, (first, first + len(block)))
            scores[:, self._missing[start:end] - first] = 2 * _LOWEST
            for mine, row in zip(best, scores, strict=True):
                mine.take(first, row)
        for mine, query in zip(best, queries, strict=True):
            yield _exact(mine.ordinals, self._vectors[mine.ordinals], query, k)


class _Best:
    """The best ``k`` of blocks of scores, and those that are so near to the last of them that float32 cannot tell."""

    def __init__(self, k: int) -> None:
        self._k = k
        self._least = _LOWEST
        self.ordinals = np.empty(0, np.int64)
        self._scores = np.empty(0, np.float32)

    def take(self, first: int, scores: npt.NDArray[np.float32]) -> None:
        near = np.flatnonzero(scores >= self._least - _BAND)
        if not len(near):
            return
        ordinals = np.concatenate((self.ordinals, near + first))
        values = np.concatenate((self._scores, scores[near]))
        if len(values) > self._k:
            least = float(np.partition(values, len(values) - self._k)[len(values) - self._k])
            keep = values > least + _BAND
            band = np.flatnonzero(~keep & (values >= least - _BAND))
            keep[band[: self._k + _SPARE]] = True
            ordinals, values = ordinals[keep], values[keep]
            self._least = max(least, _LOWEST)
        self.ordinals, self._scores = ordinals, values


class LanceStore:
    """A LanceDB table ``passages``: ordinal, id, title, text, vector."""

    def write(self, folder: Path, passages: Passages, blocks: Iterable[Block]) -> int:
        """Write the table; passages without a vector are not in it."""
        import pyarrow as pa

        iterator = iter(blocks)
        first = next(iterator, None)
        if first is None:
            return 0
        dimensions = int(first[1].shape[1])
        schema = pa.schema(
            [
                pa.field("ordinal", pa.int64()),
                pa.field("id", pa.string()),
                pa.field("title", pa.string()),
                pa.field("text", pa.string()),
                pa.field("vector", pa.list_(pa.float32(), dimensions)),
            ]
        )
        batches = (_batch(schema, passages, block) for block in chain([first], iterator))
        reader = pa.RecordBatchReader.from_batches(schema, batches)
        try:
            _connected(folder).create_table(TABLE, data=reader)
        finally:
            close = getattr(iterator, "close", None)
            if close is not None:
                close()
        return dimensions

    def open(self, folder: Path) -> Search:
        """Open the table."""
        if not (folder / LANCE).exists():
            return _NoVectors()
        return _LanceSearch(_connected(folder).open_table(TABLE))


class _NoVectors:
    dimensions = 0

    def nearest(self, queries: npt.NDArray[np.float32], k: int) -> list[Ranking]:
        return [no_ranking() for _ in queries]


class _LanceSearch:
    def __init__(self, table: Any) -> None:
        self._table = table
        self.dimensions = int(table.schema.field("vector").type.list_size)

    def nearest(self, queries: npt.NDArray[np.float32], k: int) -> list[Ranking]:
        return [self._one(query, k) for query in queries]

    def _one(self, query: npt.NDArray[np.float32], k: int) -> Ranking:
        search = self._table.search(query, vector_column_name="vector").distance_type("dot")
        found = search.select(["ordinal", "vector", "_distance"]).limit(k + _SPARE).to_arrow().combine_chunks()
        vectors = found["vector"].combine_chunks()
        flat = vectors.flatten().to_numpy(zero_copy_only=False).reshape(-1, self.dimensions)
        return _exact(found["ordinal"].to_numpy().astype(np.int64), flat, query, k)


def _batch(schema: Any, passages: Passages, block: Block) -> Any:
    import pyarrow as pa

    ordinals, vectors = block
    rows = [passages[int(ordinal)] for ordinal in ordinals]
    columns = [
        pa.array(ordinals, pa.int64()),
        pa.array([_utf8(row.passage_id) for row in rows], pa.string()),
        pa.array([None if row.title is None else _utf8(row.title) for row in rows], pa.string()),
        pa.array([_utf8(row.text) for row in rows], pa.string()),
        pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel(), pa.float32()), vectors.shape[1]),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _connected(folder: Path) -> Any:
    try:
        import lancedb
    except ImportError as error:
        raise MissingExtraError("lancedb", "lancedb") from error
    return lancedb.connect(str(folder / LANCE))


def store_version(name: str) -> str:
    """The version of the library that a store needs; raises `MissingExtraError` where it is not installed."""
    if name != "lancedb":
        return ""
    try:
        return version("lancedb")
    except PackageNotFoundError as error:
        raise MissingExtraError("lancedb", "lancedb") from error
