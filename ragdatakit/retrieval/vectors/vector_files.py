"""Files of vectors, dense or learned-sparse, of passages or of questions: which form they have, and what is in them.

Dense: ``X.npy`` with ``X.ids.txt`` or ``X.ids.json`` next to it, Parquet with an id and a list column, or JSON lines
``{"id": …, "vector": [0.1, …]}``. Sparse: JSON lines ``{"id": …, "vector": {"term": 1.5, …}}``, as Anserini's
JsonVectorCollection, or with ``{"indices": […], "values": […]}``. JSON lines may be compressed (``.gz``), or be the
files of a folder. ``.pkl`` is a store of the contextual-retrieval cookbook, which is read without being unpickled: the
vectors of its chunks, and of the questions in its cache. What is wrong with single vectors is counted, and reported
with the index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from ragdatakit.retrieval.vectors.vector_arrays import ids_files, of_array, of_parquet
from ragdatakit.retrieval.vectors.vector_lines import (
    id_of,
    line_files,
    of_lines,
    of_pairs,
    opened_store,
    records,
    text_of,
    vector_of,
    weights_of,
)
from ragdatakit.retrieval.vectors.vector_rows import DenseBlock, SparseRow, existing, suffix
from ragdatakit.schemas.errors import RagdataError

VectorsKind = Literal["dense", "sparse"]
_LARGEST = 3.4e38  # of float32; NaN is not below it either


def vectors_kind(path: Path) -> VectorsKind:
    """Whether the vectors of a file are dense or sparse. Raises `RagdataError` for what is no file of vectors."""
    if suffix(path) in (".npy", ".parquet", ".pkl"):
        existing(path)
        return "dense"
    for record in records(path, Counter()):
        vector = vector_of(record)
        if isinstance(vector, dict | list):
            return "sparse" if isinstance(vector, dict) else "dense"
    raise RagdataError(f'{path} has no vectors: no line is {{"id": …, "vector": …}}')


def file_settings(path: Path) -> dict[str, Any]:
    """What distinguishes one state of the files of vectors from another, as JSON values."""
    states = []
    for file in (*line_files(path), *ids_files(path)):
        state = file.stat()
        states.append([str(file.resolve()), state.st_size, state.st_mtime_ns])
    return {"given": states}


def dense_blocks(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    """The vectors of a file in blocks, all of one dimension; ``counts`` gets what is left out (``malformed``,
    ``wrong dimension``). Raises `RagdataError` for a file that is no such file."""
    if suffix(path) == ".npy":
        yield from of_array(path)
    elif suffix(path) == ".parquet":
        yield from of_parquet(path, counts)
    elif suffix(path) == ".pkl":
        with opened_store(path) as store:
            ids = ((chunk or {}).get("chunk_id") for chunk in store.chunks())
            vectors = (vector.tolist() if vector is not None else None for vector in store.vectors())
            yield from of_pairs(zip(ids, vectors, strict=False), counts)
    else:
        yield from of_lines(path, counts)


def question_blocks(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    """The same of a file of vectors of questions; of a store of the cookbook, those of its cache."""
    if suffix(path) != ".pkl":
        yield from dense_blocks(path, counts)
        return
    with opened_store(path) as store:
        yield from of_pairs(store.queries().items(), counts)


def sparse_rows(path: Path, counts: Counter[str]) -> Iterator[SparseRow]:
    """The sparse vectors of a file; ``counts`` gets what is left out (``malformed``, ``not finite``)."""
    for record in records(path, counts):
        row_id, vector = id_of(record), weights_of(vector_of(record))
        if row_id is None or vector is None:
            counts["malformed"] += 1
            continue
        try:
            weights = {term: float(w) for term, w in vector.items() if not isinstance(w, str | bool)}
        except (TypeError, ValueError, OverflowError):
            weights = {}
        if len(weights) != len(vector):
            counts["malformed"] += 1
        elif not all(abs(w) <= _LARGEST for w in weights.values()):
            counts["not finite"] += 1
        else:
            yield SparseRow(row_id, text_of(record), {term: w for term, w in weights.items() if w})
