"""DuckDB's typed load: the same files into tables in memory, two threads. Checks what the scan checks."""

from __future__ import annotations

from pathlib import Path

import duckdb
from tables import TABLES, time_and_print


def load(root: Path, kind: str) -> int:
    """Create one table per kind of file; returns the number of records."""
    connection = duckdb.connect(config={"threads": 2})
    records = 0
    for number, (pattern, columns) in enumerate(TABLES[kind].items()):
        # For CSV files it finds out the types by itself.
        table = "read_csv(?, header=true)" if pattern.endswith(".csv") else f"read_ndjson(?, columns={columns})"
        connection.execute(f"create table t{number} as select * from {table}", [f"{root}/{pattern}*"])
        row = connection.execute(f"select count(*) from t{number}").fetchone()
        records += row[0] if row else 0
    return records


if __name__ == "__main__":
    time_and_print(load)
