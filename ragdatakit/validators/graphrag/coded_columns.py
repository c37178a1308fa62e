"""Columns of ids in Parquet as arrays of codes, for `Proofs`: read once, column by column."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragdatakit.files.containers.parquet_tables import ParquetTable, opened_parquet
from ragdatakit.files.paths.sql_text import hash_expression, sql_name
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.graphrag.tables import StoredTable

MOST = 32_000_000
"""Values of all columns together beyond which they are not held in memory (8 bytes each)."""
Codes = npt.NDArray[np.uint64]


@dataclass(slots=True)
class Coded:
    """A column without a null anywhere.

    ``codes`` are those of its texts or of the members of its lists, or its integers; ``counts`` how many members each
    list has (None: no lists); ``lengths`` the lengths in bytes that its texts have, where they are no lists.
    ``size`` is the number of codes.
    """

    codes: Codes
    counts: npt.NDArray[np.int32] | None
    lengths: frozenset[int]
    size: int


def coded_columns(stored: StoredTable, names: list[str]) -> dict[str, Coded]:
    """The columns of these names that are texts, integers, or lists of them, and have no null; others are left out."""

    def read(name: str) -> tuple[str, Coded | None]:
        try:
            with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
                return name, _read(parquet, name)
        except RagdataError:  # damaged: the check of the table words it
            return name, None

    with ThreadPoolExecutor(2) as pool:
        return {name: found for name, found in pool.map(read, names) if found is not None}


def value_count(stored: StoredTable, names: list[str]) -> int:
    """How many values these columns have, members of lists included, as the footer says."""
    with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
        return parquet.value_count(names)


def _read(parquet: ParquetTable, name: str) -> Coded | None:
    kind = parquet.columns[name]
    item, column, is_list = kind.removesuffix("[]"), sql_name(name), kind.endswith("[]")
    if item not in _CODES or (not is_list and _nulls(parquet, column)):
        return None
    counts: list[npt.NDArray[np.int32]] = []
    if is_list:
        for found in parquet.arrays(f"select len({column}) as n, {column} is null as missing from {{}}"):
            if found["missing"].any():
                return None
            counts.append(np.asarray(found["n"], np.int32))
    size = sum(int(number.sum()) for number in counts) if is_list else parquet.rows
    codes, end = np.empty(size, np.uint64), 0
    source = f"(select unnest({column}) as c from {{}})" if is_list else f"(select {column} as c from {{}})"
    lengths: set[int] = set()
    for found in parquet.arrays(f"select {_CODES[item]} as code, c is null as missing from {source}"):
        if found["missing"].any():
            return None
        piece = np.asarray(found["code"])
        codes[end : end + len(piece)] = piece.view(np.uint64)
        end += len(piece)
    if item == "VARCHAR" and not is_list:
        for found in parquet.arrays(f"select distinct strlen({column}) as n from {{}}"):
            lengths.update(found["n"].tolist())
    return Coded(codes, np.concatenate(counts) if counts else None, frozenset(lengths), size)


def _nulls(parquet: ParquetTable, column: str) -> bool:
    return any(found["n"].any() for found in parquet.arrays(f"select count(*) - count({column}) as n from {{}}"))


_CODES = {"VARCHAR": hash_expression("c"), "BIGINT": "c"}
"""What codes are, in SQL, by the type of the column."""
