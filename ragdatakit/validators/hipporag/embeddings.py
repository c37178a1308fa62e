"""The embedding tables of a HippoRAG index: ids, facts and lengths. Nothing in them is ever evaluated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ragdatakit.files.containers.parquet_tables import ParquetTable, opened_parquet
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.hipporag.passages import passage_id
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.findings import Problem

ROWS = 4096
"""How many rows are looked at together."""

LONGEST_FACT = 1 << 16
"""Characters of a fact beyond which it is no fact, and not parsed."""

_COLUMNS = ("hash_id", "content", "embedding")


def embedding_problems(table: DataFile) -> Iterator[Problem]:
    """The faults of one table; its name gives the prefix of its ids."""
    prefix = table.path.stem.removeprefix("vdb_")
    try:
        with opened_parquet(table.path, table.boundary) as file:
            missing = [c for c in _COLUMNS if c not in file.columns]
            if missing:
                yield _unreadable(f"there is no column {' and no column '.join(missing)}")
            elif not file.columns["embedding"].endswith("]"):
                yield _unreadable("the column embedding has no lists")
            else:
                yield from _row_problems(file, prefix)
    except RagdataError as error:
        yield _unreadable(str(error).removeprefix(f"{table.path}: ")[:200])


def _unreadable(reason: str) -> Problem:
    return Problem("unreadable-embeddings", facts={"reason": reason})


def _row_problems(file: ParquetTable, prefix: str) -> Iterator[Problem]:
    row = 0
    lengths: list[int] = []
    for rows in file.chunks(("hash_id", "content", "len(embedding)"), ROWS):
        found = [*lengths, *(length for _, _, length in rows if length is not None)]
        lengths = [min(found), max(found)] if found else []
        for name, text, _ in rows:
            if not isinstance(text, str):
                yield _unreadable(f"content is not a text in row {row + 1}")
                return
            expected = f"{prefix}-{passage_id(text).removeprefix('chunk-')}"
            if name != expected:
                yield Problem("wrong-hash-id", None, name, {"row": row + 1, "expected": expected})
            if prefix == "fact" and not _is_fact(text):
                yield Problem("unsafe-fact", None, text, {"row": row + 1})
            row += 1
    if lengths and lengths[0] != lengths[1]:
        yield Problem("uneven-embeddings", facts={"shortest": lengths[0], "longest": lengths[1]})


def _is_fact(text: str) -> bool:
    """Whether a text is that of a tuple of three strings."""
    if len(text) > LONGEST_FACT:
        return False
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return isinstance(value, tuple) and len(value) == 3 and all(isinstance(v, str) for v in value)
