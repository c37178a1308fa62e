"""Vectors in JSON lines, and in stores of the contextual-retrieval cookbook, which are read without being unpickled."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson

from ragdatakit.files.paths.boundary import ANYWHERE
from ragdatakit.retrieval.vectors.vector_rows import FORMS, IDS, ROWS, TEXTS, VECTORS, DenseBlock, existing, suffix
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.files.contextual_retrieval.vector_stores import VectorStore

LONGEST_LINE = 64 << 20
"""Bytes of a line of JSON that are read at most."""
_LINES = (".jsonl", ".json", ".ndjson", ".jsonl.gz", ".json.gz", ".ndjson.gz")


def line_files(path: Path) -> list[Path]:
    """The files of JSON lines at a path: itself, or those of a folder."""
    existing(path)
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.iterdir() if p.name.lower().endswith(_LINES) and p.is_file())
    if not found:
        raise RagdataError(f"{path} has no files of JSON lines in it; vectors are given as {FORMS}")
    return found


def records(path: Path, counts: Counter[str]) -> Iterator[dict[str, Any]]:
    """The JSON objects of the lines."""
    for file in line_files(path):
        try:
            with gzip.open(file, "rb") if suffix(file) == ".gz" else file.open("rb") as lines:
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


def _of_python(line: bytes) -> Any:
    """A line that Python's own writer made: with NaN and Infinity, which JSON does not have."""
    import json

    if b"NaN" not in line and b"Infinity" not in line:
        return None
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def id_of(record: Mapping[str, Any]) -> str | None:
    """The id of a record; None without one."""
    for name in IDS:
        value = record.get(name)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
            return str(value)
    return None


def text_of(record: Mapping[str, Any]) -> str | None:
    """The text of a record; None without one."""
    return next((record[name] for name in TEXTS if isinstance(record.get(name), str)), None)


def vector_of(record: Mapping[str, Any]) -> Any:
    """The vector of a record, as it is."""
    return next((record[name] for name in VECTORS if name in record), None)


def weights_of(vector: Any) -> dict[str, Any] | None:
    """The weights of terms; of the two lists of vector stores, with the numbers of terms as their names."""
    if not isinstance(vector, dict):
        return None
    numbers, weights = vector.get("indices"), vector.get("values")
    if not isinstance(numbers, list) or not isinstance(weights, list):
        return vector
    named = {str(number): weight for number, weight in zip(numbers, weights, strict=False)}
    return named if len(named) == len(numbers) == len(weights) else None


@contextmanager
def opened_store(path: Path) -> Iterator[VectorStore]:
    """A store of the cookbook. Raises `RagdataError` for what is none, or would run code."""
    from ragdatakit.files.containers.pickles import PickleError
    from ragdatakit.files.contextual_retrieval.vector_stores import opened_store as opened

    try:
        with opened(path, ANYWHERE) as store:
            yield store
    except PickleError as error:
        raise RagdataError(f"{path} is no store of vectors that can be read: {error}") from None


def of_pairs(pairs: Iterable[tuple[Any, Any]], counts: Counter[str]) -> Iterator[DenseBlock]:
    """The vectors of pairs of an id and a list."""
    yield from _blocks(((name if isinstance(name, str) else None, None, _numbers(v)) for name, v in pairs), counts)


def of_lines(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    """The vectors of JSON lines."""
    yield from _blocks(((id_of(r), text_of(r), _numbers(vector_of(r))) for r in records(path, counts)), counts)


def _blocks(
    read: Iterable[tuple[str | None, str | None, npt.NDArray[np.float32] | None]], counts: Counter[str]
) -> Iterator[DenseBlock]:
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
        if len(rows) == ROWS:
            yield DenseBlock(first, 0, ids, texts, np.stack(rows))
            first += len(rows)
            ids, texts, rows = [], [], []
    if rows:
        yield DenseBlock(first, 0, ids, texts, np.stack(rows))


def _numbers(value: Any) -> npt.NDArray[np.float32] | None:
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
