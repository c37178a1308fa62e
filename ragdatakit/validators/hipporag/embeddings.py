"""The embedding tables of a HippoRAG index: ids, facts and lengths. Nothing in them is ever evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.hipporag.passages import passage_id
from ragdatakit.schemas.findings import Problem

if TYPE_CHECKING:
    import pyarrow as pa

ROWS = 4096
"""How many rows are looked at together."""

LONGEST_FACT = 1 << 16
"""Characters of a fact beyond which it is no fact, and not parsed."""

_COLUMNS = ("hash_id", "content", "embedding")


def embedding_problems(table: DataFile) -> Iterator[Problem]:
    """The faults of one table; its name gives the prefix of its ids."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    prefix = table.path.stem.removeprefix("vdb_")
    try:
        with table.boundary.open(table.path) as opened, pq.ParquetFile(opened) as file:
            missing = [c for c in _COLUMNS if c not in file.schema_arrow.names]
            if missing:
                yield _unreadable(f"there is no column {' and no column '.join(missing)}")
                return
            yield from _row_problems(file, prefix)
    except (pa.ArrowException, OSError, ValueError) as error:
        yield _unreadable(str(error).split("\n", 1)[0][:200])


def _unreadable(reason: str) -> Problem:
    return Problem("unreadable-embeddings", facts={"reason": reason})


def _row_problems(file: Any, prefix: str) -> Iterator[Problem]:
    row = 0
    lengths: list[int] = []
    for batch in file.iter_batches(ROWS, columns=list(_COLUMNS)):
        lengths = _lengths(batch.column("embedding"), lengths)
        names, texts = batch.column("hash_id").to_pylist(), batch.column("content").to_pylist()
        for name, text in zip(names, texts, strict=True):
            if not isinstance(text, str):
                yield _unreadable(f"content is not a text in row {row}")
                return
            expected = f"{prefix}-{passage_id(text).removeprefix('chunk-')}"
            if name != expected:
                yield Problem("wrong-hash-id", None, name, {"row": row, "expected": expected})
            if prefix == "fact" and not _is_fact(text):
                yield Problem("unsafe-fact", None, text, {"row": row})
            row += 1
    if lengths and lengths[0] != lengths[1]:
        yield Problem("uneven-embeddings", facts={"shortest": lengths[0], "longest": lengths[1]})


def _lengths(column: pa.Array, known: list[int]) -> list[int]:
    """The shortest and the longest embedding so far."""
    import pyarrow.compute as pc

    found = pc.min_max(pc.list_value_length(column)).as_py()
    ends = [n for n in (*known, found["min"], found["max"]) if n is not None]
    return [min(ends), max(ends)] if ends else []


def _is_fact(text: str) -> bool:
    """Whether a text is that of a tuple of three strings."""
    if len(text) > LONGEST_FACT:
        return False
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, tuple) and len(value) == 3 and all(isinstance(v, str) for v in value)
