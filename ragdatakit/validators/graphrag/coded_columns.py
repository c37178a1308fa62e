"""Columns of ids in Parquet as arrays of codes, for `Proofs`: read once, column by column, outside of DuckDB."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragdatakit.columnar.string_hash import hash_strings
from ragdatakit.files.containers.arrow_columns import int64_values, offsets_of
from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.files.graphrag.tables import StoredTable

MOST = 32_000_000
"""Values of all columns together beyond which they are not held in memory (8 bytes each)."""
_PIECE = 1 << 14
"""Values that are read together."""
_READ = 1 << 20

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
            return name, _read(stored, name)
        except (RagdataError, pa.ArrowException):  # damaged: DuckDB words it
            return name, None

    with ThreadPoolExecutor(2) as pool:
        columns = {name: found for name, found in pool.map(read, names) if found is not None}
    pa.default_memory_pool().release_unused()
    return columns


def value_count(stored: StoredTable, names: list[str]) -> int:
    """How many values these columns have, members of lists included, as the footer says."""
    with opened_parquet(stored.file.path, stored.file.boundary) as parquet:
        return _value_count(parquet, names)


def _value_count(parquet: Any, names: list[str]) -> int:
    found = parquet.metadata
    groups = [found.row_group(number) for number in range(found.num_row_groups)]
    return sum(
        column.num_values
        for group in groups
        for column in map(group.column, range(group.num_columns))
        if column.path_in_schema.split(".")[0] in names
    )


def _read(stored: StoredTable, name: str) -> Coded | None:
    counts: list[npt.NDArray[np.int32]] = []
    lengths: set[int] = set()
    with opened_parquet(stored.file.path, stored.file.boundary, _READ) as parquet:
        kind = parquet.schema_arrow.field(name).type
        is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
        most = _value_count(parquet, [name])  # with one for each empty list
        codes = np.empty(most, np.uint64)
        end = 0
        rows = max(parquet.metadata.num_rows * _PIECE // max(most, 1), 1)
        for batch in parquet.iter_batches(min(rows, _PIECE), columns=[name], use_threads=False):
            column = batch.column(0)
            if column.null_count:
                return None
            if is_list:
                counts.append(np.diff(_offsets(column)).astype(np.int32))
                column = column.flatten()
            found = _codes(column, None if is_list else lengths)
            if found is None or end + len(found) > most:
                return None
            codes[end : end + len(found)] = found
            end += len(found)
    return Coded(codes[:end], np.concatenate(counts) if counts else None, frozenset(lengths), end)


def _offsets(column: Any) -> npt.NDArray[Any]:
    """Where the members of each list begin, and where the last ones end."""
    kind = np.int64 if pa.types.is_large_list(column.type) else np.int32
    offsets = np.frombuffer(column.buffers()[1], kind)
    return offsets[column.offset : column.offset + len(column) + 1]


def _codes(column: Any, lengths: set[int] | None) -> Codes | None:
    if column.null_count or (pa.types.is_null(column.type) and len(column)):
        return None
    if pa.types.is_null(column.type):
        return np.empty(0, np.uint64)
    if column.type == pa.int64():
        return int64_values(column).view(np.uint64)
    if column.type not in (pa.string(), pa.large_string()):
        return None
    column = column.cast(pa.string())
    column.validate(full=True)
    if lengths is not None:
        lengths.update(np.unique(np.diff(offsets_of(column))).tolist())
    return hash_strings(column)
