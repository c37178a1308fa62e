"""What files of vectors hold, whatever their form: blocks of dense vectors, rows of weights; and how they are named."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.quick_values import NamedTuple
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

IDS = ("id", "_id", "docid", "doc_id", "chunk_id", "passage_id", "question_id", "query_id", "qid")
"""Members and columns that have the id, in this order."""
TEXTS = ("text", "query", "question")
VECTORS = ("vector", "embedding", "embeddings", "text_embedding")
FORMS = "X.npy (with X.ids.txt or X.ids.json next to it), .parquet, .jsonl, or a vector_db.pkl"
ROWS = 4096
"""Vectors of a block."""


class DenseBlock(NamedTuple):
    """Vectors (n, d) with their ids and texts. ``ids`` is None for a file of ``total`` vectors that names none: its
    n-th vector is that of the n-th passage. ``first`` is the row of the block's first vector."""

    first: int
    total: int
    ids: list[str] | None
    texts: list[str | None]
    vectors: npt.NDArray[np.float32]


class SparseRow(NamedTuple):
    """Weights of terms, none of them 0."""

    row_id: str
    text: str | None
    weights: dict[str, float]


def suffix(path: Path) -> str:
    """The ending of a name, in small letters."""
    return path.suffix.lower()


def existing(path: Path) -> None:
    """Raise `RagdataError` where the file is missing."""
    if not path.exists():
        raise RagdataError(f"{path} does not exist: it is to be a file of vectors, {FORMS}")
