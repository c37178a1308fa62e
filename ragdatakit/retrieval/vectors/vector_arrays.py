"""Vectors in arrays: numpy's with ids in a file next to it, and Parquet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from ragdatakit.files.containers.arrow_library import arrow_library, parquet_library
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.retrieval.server_replies import one_line
from ragdatakit.retrieval.vectors.vector_rows import IDS, ROWS, TEXTS, VECTORS, DenseBlock, existing, suffix
from ragdatakit.schemas.errors import RagdataError


def ids_files(path: Path) -> list[Path]:
    """The files with ids next to an array."""
    if suffix(path) != ".npy":
        return []
    return [p for p in (path.with_suffix(".ids.txt"), path.with_suffix(".ids.json")) if p.is_file()]


def needs_ids(path: Path) -> str:
    """What to do for an array without ids."""
    return f"put the ids, in the order of its rows, into {path.with_suffix('.ids.txt').name}, one on each line"


def of_array(path: Path) -> Iterator[DenseBlock]:
    """The vectors of numpy's file."""
    existing(path)
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
    for first in range(0, len(array), ROWS):
        with np.errstate(over="ignore"):
            vectors = array[first : first + ROWS].astype(np.float32)
        some = ids[first : first + ROWS] if ids is not None else None
        yield DenseBlock(first, len(array), some, [None] * len(vectors), vectors)


def _ids_beside(path: Path) -> list[str] | None:
    for file in ids_files(path):
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


def of_parquet(path: Path, counts: Counter[str]) -> Iterator[DenseBlock]:
    """The vectors of a column of lists."""
    existing(path)
    pa, pq = arrow_library(), parquet_library()
    try:
        with pq.ParquetFile(path) as file:
            id_column, vector_column = _columns(path, file.schema_arrow)
            text_column = next((n for n in TEXTS if n in file.schema_arrow.names), None)
            columns = [c for c in (id_column, vector_column, text_column) if c is not None]
            dimension = first = 0
            for batch in file.iter_batches(ROWS, columns=columns):
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
    kinds = arrow_library().types
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
