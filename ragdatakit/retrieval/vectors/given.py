"""Files of given vectors, dense or learned-sparse, of passages or of questions.

Dense: ``X.npy`` with ``X.ids.txt`` or ``X.ids.json`` next to it, Parquet with an id and a list column, or JSON lines
``{"id": …, "vector": [0.1, …]}``. Sparse: JSON lines ``{"id": …, "vector": {"term": 1.5, …}}``, as Anserini's
JsonVectorCollection, or with ``{"indices": […], "values": […]}``. JSON lines may be compressed (``.gz``), or be the
files of a folder. ``.pkl`` is a store of the contextual-retrieval cookbook, which is read without being unpickled: the
vectors of its chunks, and of the questions in its cache. What is wrong with single vectors is counted, and reported
with the index.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import orjson

from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.retrieval.server_replies import one_line
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragdatakit.files.contextual_retrieval.vector_stores import VectorStore
    from ragdatakit.retrieval.passages import Passages

VectorsKind = Literal["dense", "sparse"]
Value = TypeVar("Value")
IDS = ("id", "_id", "docid", "doc_id", "chunk_id", "passage_id", "question_id", "query_id", "qid")
"""Members and columns that have the id, in this order."""
TEXTS = ("text", "query", "question")
VECTORS = ("vector", "embedding", "embeddings", "text_embedding")
FORMS = "X.npy (with X.ids.txt or X.ids.json next to it), .parquet, .jsonl, or a vector_db.pkl"
LONGEST_LINE = 64 << 20
"""Bytes of a line of JSON that are read at most."""
LEAST_SHARE = 0.5
"""Where fewer passages have a vector, the file is refused: a search would be about the rest."""
_ROWS = 4096
_LARGEST = 3.4e38  # of float32; NaN is not below it either
_LINES = (".jsonl", ".json", ".ndjson", ".jsonl.gz", ".json.gz", ".ndjson.gz")


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


def vectors_kind(path: Path) -> VectorsKind:
    """Whether the vectors of a file are dense or sparse. Raises `RagdataError` for what is no file of vectors."""
    if _suffix(path) in (".npy", ".parquet", ".pkl"):
        _existing(path)
        return "dense"
    for record in _records(path, Counter()):
        vector = _vector_of(record)
        if isinstance(vector, dict | list):
            return "sparse" if isinstance(vector, dict) else "dense"
    raise RagdataError(f'{path} has no vectors: no line is {{"id": …, "vector": …}}')


def file_settings(path: Path) -> dict[str, Any]:
    """What distinguishes one state of the files of vectors from another, as JSON values."""
    told = []
    for file in (*_files(path), *_ids_files(path)):
        state = file.stat()
        told.append([str(file.resolve()), state.st_size, state.st_mtime_ns])
    return {"given": told}


def dense_blocks(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    """The vectors of a file in blocks, all of one dimension; ``counts`` gets what is left out (``malformed``,
    ``wrong dimension``). Raises `RagdataError` for a file that is no such file."""
    if _suffix(path) == ".npy":
        yield from _of_array(path)
    elif _suffix(path) == ".parquet":
        yield from _of_parquet(path, counts)
    elif _suffix(path) == ".pkl":
        store = _store(path)
        chunks = (c.get("chunk_id") if isinstance(c, dict) else None for c in store.chunks)
        yield from _of_pairs(zip(chunks, store.vectors, strict=False), counts)
    else:
        yield from _of_lines(path, counts)


def sparse_rows(path: Path, counts: Counter[str]) -> Iterator[SparseRow]:
    """The sparse vectors of a file; ``counts`` gets what is left out (``malformed``, ``not finite``)."""
    for record in _records(path, counts):
        row_id, vector = _id_of(record), _weights_of(_vector_of(record))
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
            yield SparseRow(row_id, _text_of(record), {term: w for term, w in weights.items() if w})


class Placing:
    """Finds the passages that vectors belong to, counts those that belong nowhere, and judges in the end."""

    def __init__(self, path: Path, passages: Passages) -> None:
        import numpy as np

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
        import numpy as np

        return np.flatnonzero(~self._seen)

    def judge(self) -> dict[str, Any]:
        """The facts: vectors that are used, passages without, what was left out. Raises `RagdataError` where fewer
        than half of the passages have a vector."""
        count = self.count
        left_out = {name: number for name, number in sorted(self.counts.items()) if number}
        if self.used < LEAST_SHARE * count or not self.used:
            told = f"only {self.used:,} of {count:,} passages have" if self.used else "no passage has"
            message = f"{told} a vector in {self.path}"
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
    import numpy as np

    for block in dense_blocks(placing.path, placing.counts):
        if block.ids is None and block.total != placing.count:
            raise RagdataError(
                f"{placing.path} has {block.total:,} vectors for {placing.count:,} passages: {_needs_ids(placing.path)}"
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
    import numpy as np

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
        of_store = _suffix(self.path) == ".pkl"
        cached = _of_pairs(_store(self.path).queries().items(), self.counts) if of_store else None
        for block in cached or dense_blocks(self.path, self.counts):
            if block.ids is None:
                raise RagdataError(
                    f"{self.path} does not say which question a vector belongs to: {_needs_ids(self.path)}"
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


# -- forms of files


def _suffix(path: Path) -> str:
    return path.suffix.lower()


def _existing(path: Path) -> None:
    if not path.exists():
        raise RagdataError(f"{path} does not exist: it is to be a file of vectors, {FORMS}")


def _files(path: Path) -> list[Path]:
    _existing(path)
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.name.lower().endswith(_LINES) and p.is_file())
    if not found:
        raise RagdataError(f"{path} has no files of JSON lines in it; vectors are given as {FORMS}")
    return found


def _ids_files(path: Path) -> list[Path]:
    if _suffix(path) != ".npy":
        return []
    return [p for p in (path.with_suffix(".ids.txt"), path.with_suffix(".ids.json")) if p.is_file()]


def _needs_ids(path: Path) -> str:
    return f"put the ids, in the order of its rows, into {path.with_suffix('.ids.txt').name}, one on each line"


def _records(path: Path, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The JSON objects of the lines."""
    for file in _files(path):
        try:
            with _opened(file) as lines:
                while line := lines.readline(LONGEST_LINE + 1):
                    if len(line) > LONGEST_LINE:
                        raise RagdataError(f"{file} has a line longer than {LONGEST_LINE:,} bytes; vectors are {FORMS}")
                    if not line.strip():
                        continue
                    try:
                        record = orjson.loads(line.removeprefix(b"\xef\xbb\xbf"))
                    except orjson.JSONDecodeError:
                        record = _of_python(line)
                    if isinstance(record, dict):
                        yield record
                    else:
                        counts["malformed"] += 1
        except (EOFError, gzip.BadGzipFile, OSError) as error:
            raise RagdataError(f"{file} cannot be read: {error}") from error


def _opened(file: Path) -> Any:
    return gzip.open(file, "rb") if _suffix(file) == ".gz" else file.open("rb")


def _of_python(line: bytes) -> Any:
    """A line that Python's own writer made: with NaN and Infinity, which JSON does not have."""
    if b"NaN" not in line and b"Infinity" not in line:
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _id_of(record: Mapping[str, Any]) -> str | None:
    for name in IDS:
        value = record.get(name)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return None


def _text_of(record: Mapping[str, Any]) -> str | None:
    return next((record[name] for name in TEXTS if isinstance(record.get(name), str)), None)


def _vector_of(record: Mapping[str, Any]) -> Any:
    return next((record[name] for name in VECTORS if name in record), None)


def _weights_of(vector: Any) -> dict[str, Any] | None:
    """The weights of terms; of the two lists of vector stores, with the numbers of terms as their names."""
    if not isinstance(vector, dict):
        return None
    numbers, weights = vector.get("indices"), vector.get("values")
    if not isinstance(numbers, list) or not isinstance(weights, list):
        return vector
    named = {str(number): weight for number, weight in zip(numbers, weights, strict=False)}
    return named if len(named) == len(numbers) == len(weights) else None


def _store(path: Path) -> VectorStore:
    from ragdatakit.files.contextual_retrieval.vector_stores import (
        UnsafeStoreError,
        UnusableStoreError,
        read_vector_store,
    )

    try:
        return read_vector_store(path, ANYWHERE)
    except (UnsafeStoreError, UnusableStoreError) as error:
        raise RagdataError(f"{path} is no store of vectors that can be read: {error}") from None


def _of_pairs(pairs: Iterable[tuple[Any, Any]], counts: Counter[str]) -> Iterator[DenseBlock]:
    listed = ((name, vector if isinstance(vector, list) else list(vector or ())) for name, vector in pairs)
    yield from _blocks(((name if isinstance(name, str) else None, None, _numbers(v)) for name, v in listed), counts)


def _of_lines(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    yield from _blocks(((_id_of(r), _text_of(r), _numbers(_vector_of(r))) for r in _records(path, counts)), counts)


def _blocks(
    read: Iterable[tuple[str | None, str | None, npt.NDArray[np.float32] | None]], counts: Counter[str]
) -> Iterator[DenseBlock]:
    import numpy as np

    ids: list[str] = []
    texts: list[str | None] = []
    rows: list[npt.NDArray[np.float32]] = []
    dimension = first = 0
    for row_id, text, row in read:
        if row_id is None or row is None:
            counts["malformed"] += 1
            continue
        dimension = dimension or len(row)
        if len(row) != dimension:
            counts["wrong dimension"] += 1
            continue
        ids.append(row_id)
        texts.append(text)
        rows.append(row)
        if len(rows) == _ROWS:
            yield DenseBlock(first, 0, ids, texts, np.stack(rows))
            first += len(rows)
            ids, texts, rows = [], [], []
    if rows:
        yield DenseBlock(first, 0, ids, texts, np.stack(rows))


def _numbers(value: Any) -> npt.NDArray[np.float32] | None:
    import numpy as np

    if not isinstance(value, list) or not value:
        return None
    try:
        row = np.asarray(value)
    except (ValueError, OverflowError):
        return None
    if row.ndim != 1 or row.dtype.kind not in "iuf":
        return None
    with np.errstate(over="ignore"):
        return row.astype(np.float32)


def _of_array(path: Path) -> Iterator[DenseBlock]:
    import numpy as np

    _existing(path)
    try:
        with path.open("rb") as file:
            if file.read(6) != b"\x93NUMPY":
                raise RagdataError(f"{path} is not an array of numpy")
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except RagdataError:
        raise
    except Exception as error:  # its header is read as Python text, in which anything may be wrong
        refuse_machine_fault(error)
        raise RagdataError(f"{path} cannot be read: {one_line(str(error))}") from error
    if array.ndim != 2 or array.dtype.kind not in "fiu" or not array.shape[1]:
        raise RagdataError(f"{path} has an array of {array.dtype} {array.shape}, expected (vectors, dimensions)")
    ids = _ids_beside(path)
    if ids is not None and len(ids) != len(array):
        raise RagdataError(f"{path} has {len(array):,} vectors, and the file next to it {len(ids):,} ids")
    for first in range(0, len(array), _ROWS):
        with np.errstate(over="ignore"):
            vectors = array[first : first + _ROWS].astype(np.float32)
        some = ids[first : first + _ROWS] if ids is not None else None
        yield DenseBlock(first, len(array), some, [None] * len(vectors), vectors)


def _ids_beside(path: Path) -> list[str] | None:
    for file in _ids_files(path):
        try:
            if file.suffix == ".txt":
                return file.read_text(encoding="utf-8-sig").removesuffix("\n").split("\n")
            found = orjson.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise RagdataError(f"{file} cannot be read: {one_line(str(error))}") from error
        if not isinstance(found, list) or not all(isinstance(i, str | int) for i in found):
            raise RagdataError(f"{file} is not a JSON array of ids")
        return [str(i) for i in found]
    return None


def _of_parquet(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    _existing(path)
    try:
        with pq.ParquetFile(path) as file:
            id_column, vector_column = _columns(path, file.schema_arrow)
            text_column = next((n for n in TEXTS if n in file.schema_arrow.names), None)
            columns = [c for c in (id_column, vector_column, text_column) if c is not None]
            dimension = first = 0
            for batch in file.iter_batches(_ROWS, columns=columns):
                ids = [None if i is None else str(i) for i in batch.column(id_column).to_pylist()]
                texts = batch.column(text_column).to_pylist() if text_column else [None] * len(ids)
                lists = batch.column(vector_column)
                sizes = [len(v) if v.is_valid else 0 for v in lists]
                dimension = dimension or next((s for s in sizes if s), 0)
                keep = [r for r, size in enumerate(sizes) if size == dimension and size and ids[r] is not None]
                counts["malformed"] += sum(not size or ids[r] is None for r, size in enumerate(sizes))
                counts["wrong dimension"] += sum(
                    bool(size) and size != dimension and ids[r] is not None for r, size in enumerate(sizes)
                )
                if keep:
                    flat = lists.take(pa.array(keep)).flatten().cast(pa.float32(), safe=False)
                    vectors = flat.to_numpy(zero_copy_only=False).astype(np.float32).reshape(len(keep), dimension)
                    yield DenseBlock(first, 0, [str(ids[r]) for r in keep], [texts[r] for r in keep], vectors)
                first += len(ids)
    except (pa.ArrowException, OSError) as error:
        raise RagdataError(f"{path} cannot be read: {one_line(str(error))}") from error


def _columns(path: Path, schema: Any) -> tuple[str, str]:
    import pyarrow.types as kinds

    lists = [
        f.name
        for f in schema
        if (kinds.is_list(f.type) or kinds.is_large_list(f.type) or kinds.is_fixed_size_list(f.type))
        and (kinds.is_floating(f.type.value_type) or kinds.is_integer(f.type.value_type))
    ]
    names = schema.names
    vector = next((n for n in VECTORS if n in lists), lists[0] if len(lists) == 1 else None)
    row_id = next((n for n in IDS if n in names), None)
    if vector is None or row_id is None:
        what = (
            f"no id column ({', '.join(IDS[:5])}, …)"
            if row_id is None
            else "no one column of vectors (lists of numbers)"
        )
        raise RagdataError(f"{path} has {what}; its columns are {one_line(', '.join(names))}")
    return row_id, vector
