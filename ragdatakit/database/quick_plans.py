"""Statements over little data as they are written: to look for the best plan takes longer than any plan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ragdatakit.files.datasets import Dataset
from ragdatakit.files.paths.folders import size_of

if TYPE_CHECKING:
    import duckdb

_LITTLE = 1 << 17
"""Bytes of files, unpacked as far as can be guessed."""
_FEW = 1 << 17
"""Rows that one thread is done with before others have begun."""
_PACKED, _GROWS = (".gz", ".parquet"), 16
_KEPT = "filter_pushdown"
"""What is still done to a plan: a condition that joins two tables is never to be asked of all pairs of rows."""
_optimizers: list[str] = []


def in_one_thread(connection: duckdb.DuckDBPyConnection, rows: int) -> None:
    """Have DuckDB run statements over so many rows in one thread where these are few: more of them only wait for each
    other. Of a report of 30,000 rows that took a tenth of the time."""
    if rows <= _FEW:
        connection.execute("set global threads = 1")


def plan_at_once(connection: duckdb.DuckDBPyConnection, datasets: Iterable[Dataset]) -> None:
    """Where datasets have little data, have DuckDB run statements as they are written, in one thread: of the time that
    a report of a few rows takes, a seventh went into better plans. Not for SQL of others, which may make much of little
    data."""
    files = (file for dataset in datasets for file in dataset.files)
    if sum(size_of(file.path) * (_GROWS if file.path.name.endswith(_PACKED) else 1) for file in files) > _LITTLE:
        return
    if not _optimizers:  # which are others in each release
        found = connection.execute("select name from duckdb_optimizers()").fetchall()
        _optimizers.extend(name for (name,) in found if name != _KEPT)
    connection.execute(f"set global threads = 1; set global disabled_optimizers = '{','.join(_optimizers)}'")
