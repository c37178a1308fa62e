"""Given vectors and what they belong to: those of passages to ordinals, those of questions to ids or texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragdatakit.retrieval.server_replies import one_line
from ragdatakit.retrieval.vectors.vector_arrays import needs_ids
from ragdatakit.retrieval.vectors.vector_files import dense_blocks, question_blocks, sparse_rows, vectors_kind
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.retrieval.passages import Passages

Value = TypeVar("Value")
LEAST_SHARE = 0.5
"""Where fewer passages have a vector, the file is refused: a search would be about the rest."""


class Placing:
    """Finds the passages that vectors belong to, counts those that belong nowhere, and judges in the end."""

    def __init__(self, path: Path, passages: Passages) -> None:
        self.path = path
        self.counts: Counter[str] = Counter()
        self.used = 0
        self._passages = passages
        self._seen = np.zeros(len(passages), np.bool_)
        self._unknown = ""

    @property
    def count(self) -> int:
        """The number of passages."""
        return len(self._passages)

    def place(self, row_id: str) -> int:
        """The ordinal of the passage with this id; -1 where there is none, or it has a vector already."""
        ordinal = self._passages.ordinal(row_id)
        if ordinal is None:
            self.counts["unknown ids"] += 1
            self._unknown = self._unknown or row_id
            return -1
        if self._seen[ordinal]:
            self.counts["duplicates"] += 1
            return -1
        return ordinal

    def take(self, ordinal: int) -> None:
        """The passage has its vector."""
        self._seen[ordinal] = True
        self.used += 1

    def missing(self) -> npt.NDArray[np.int64]:
        """The passages without a vector."""
        return np.flatnonzero(~self._seen)

    def judge(self) -> dict[str, Any]:
        """The facts: vectors that are used, passages without, what was left out. Raises `RagdataError` where fewer
        than half of the passages have a vector."""
        count = self.count
        left_out = {name: number for name, number in sorted(self.counts.items()) if number}
        if self.used < LEAST_SHARE * count or not self.used:
            having = f"only {self.used:,} of {count:,} passages have" if self.used else "no passage has"
            message = f"{having} a vector in {self.path}"
            if left_out:
                message += f" ({', '.join(f'{name}: {number:,}' for name, number in left_out.items())})"
            if self._unknown:
                own = one_line(self._passages.id(0), 60)
                message += f"; its ids are like {one_line(self._unknown, 60)!r}, those of the passages like {own!r}"
            raise RagdataError(message)
        faults = {name.replace(" ", "_"): number for name, number in left_out.items()}
        return {"vectors": self.used, "without_vector": count - self.used, **faults}


def placed_blocks(placing: Placing) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]]:
    """The dense vectors of a file with the ordinals of their passages, of length 1, in the order of the file."""
    for block in dense_blocks(placing.path, placing.counts):
        if block.ids is None and block.total != placing.count:
            raise RagdataError(
                f"{placing.path} has {block.total:,} vectors for {placing.count:,} passages: {needs_ids(placing.path)}"
            )
        vectors, sound = of_length_one(block.vectors, placing.counts)
        rows, ordinals = [], []
        for row in np.flatnonzero(sound).tolist():
            ordinal = block.first + row if block.ids is None else placing.place(block.ids[row])
            if ordinal >= 0:
                placing.take(ordinal)
                rows.append(row)
                ordinals.append(ordinal)
        if rows:
            yield np.asarray(ordinals, np.int64), vectors[rows]


def of_length_one(
    vectors: npt.NDArray[np.float32], counts: Counter[str]
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """The vectors, each divided by its length, and which of them are sound: finite, and not all zeros."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
        finite = np.isfinite(norms)
        sound = finite & (norms > 0)
        counts["not finite"] += int((~finite).sum())
        counts["zeros"] += int((finite & (norms == 0)).sum())
        scaled = (vectors / np.where(sound, norms, 1.0)[:, None]).astype(np.float32)
    return scaled, sound


class QueryVectors:
    """The vectors of questions, by id or by text; all of them are held in memory."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.kind = vectors_kind(path)
        self.counts: Counter[str] = Counter()
        self._dense: dict[str, npt.NDArray[np.float32]] = {}
        self._sparse: dict[str, dict[str, float]] = {}
        if self.kind == "dense":
            self._read_dense()
        else:
            for row in sparse_rows(path, self.counts):
                for name in _names(row.row_id, row.text):
                    self._sparse.setdefault(name, row.weights)
        if not self._dense and not self._sparse:
            raise RagdataError(f"{path} has no usable vectors of questions")

    def _read_dense(self) -> None:
        for block in question_blocks(self.path, self.counts):
            if block.ids is None:
                raise RagdataError(
                    f"{self.path} does not say which question a vector belongs to: {needs_ids(self.path)}"
                )
            vectors, sound = of_length_one(block.vectors, self.counts)
            for row, row_id in enumerate(block.ids):
                if sound[row]:
                    for name in _names(row_id, block.texts[row]):
                        self._dense.setdefault(name, vectors[row])

    def dense(self, question_id: str | None, text: str) -> npt.NDArray[np.float32] | None:
        """The vector of a question, of length 1."""
        return _found(self._dense, question_id, text)

    def sparse(self, question_id: str | None, text: str) -> Mapping[str, float] | None:
        """The weights of a question's terms."""
        return _found(self._sparse, question_id, text)


def _names(row_id: str, text: str | None) -> Iterable[str]:
    yield f"id {row_id}"
    yield f"text {row_id.strip()}"
    if text:
        yield f"text {text.strip()}"


def _found(values: Mapping[str, Value], question_id: str | None, text: str) -> Value | None:
    found = values.get(f"id {question_id}") if question_id is not None else None
    return found if found is not None else values.get(f"text {text.strip()}")
