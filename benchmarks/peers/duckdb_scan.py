"""The floor: DuckDB reads the same files into typed columns and aggregates every column; nothing is stored.

Checks types roughly (it turns ``"12"``, ``12.5`` and ``true`` into 12) and nothing else: no line, no reference, no key.
The columns of CSV files are all text, or (``-typed``) what DuckDB takes them for.
"""

from __future__ import annotations

import os
from pathlib import Path

import duckdb
from tables import LARGEST_LINE, TABLES, time_and_print

AGGREGATES = {
    "BIGINT": 'max("{0}")',
    "DOUBLE": 'max("{0}")',
    "VARCHAR": 'sum(strlen("{0}"))',
    "JSON": 'sum(strlen("{0}"))',
    "BIGINT[]": 'sum(len("{0}"))',
}


def scan(root: Path, kind: str) -> int:
    """Read everything once with two threads, or on one core one; returns the number of records."""
    connection = duckdb.connect(config={"threads": min(2, len(os.sched_getaffinity(0)))})
    if kind == "arag":
        return _scan_array(connection, root)
    if kind == "graphrag":
        return sum(_scan_parquet(connection, path) for path in sorted(root.glob("*.parquet")))
    records = 0
    if kind == "beir-lines":
        return _scan_beir(connection, root)
    for pattern, columns in TABLES[kind].items():
        wanted = ", ".join(AGGREGATES[type_].format(name) for name, type_ in columns.items())
        query = f"select count(*), {wanted} from {_table(root, kind, pattern, columns)}"
        row = connection.execute(query, [f"{root}/{pattern}*"]).fetchone()
        records += row[0] if row else 0
    return records


def _table(root: Path, kind: str, pattern: str, columns: dict[str, str]) -> str:
    if pattern.endswith(".csv"):
        return f"read_csv(?, header=true, all_varchar={kind != 'gfm-rag-typed'})"
    # The star takes .gz, too; a long line needs room, an ordinary one must not pay for it.
    return f"read_ndjson(?, columns={columns}, maximum_object_size={_room(root)})"


def _scan_array(connection: duckdb.DuckDBPyConnection, root: Path) -> int:
    query = "select count(*), sum(strlen(json)) from read_json_objects(?, format='array')"
    row = connection.execute(query, [f"{root}/chunks.json"]).fetchone()
    return int(row[0]) if row else 0


def _scan_beir(connection: duckdb.DuckDBPyConnection, root: Path) -> int:
    """Texts and titles, queries, judgements."""
    typed = {"corpus.jsonl": ("_id", "title", "text", "metadata"), "queries.jsonl": ("_id", "text", "metadata")}
    records = 0
    for name, columns in typed.items():
        given = {column: "JSON" if column == "metadata" else "VARCHAR" for column in columns}
        wanted = ", ".join(AGGREGATES["VARCHAR"].format(column) for column in columns)
        row = connection.execute(f"select count(*), {wanted} from read_ndjson(?, columns={given})", [str(root / name)])
        records += int((row.fetchone() or (0,))[0])
    query = "select count(*), max(score) from read_csv(?, delim='\t', header=true)"
    row = connection.execute(query, [str(root / "qrels" / "*.tsv")])
    return records + int((row.fetchone() or (0,))[0])


def _scan_parquet(connection: duckdb.DuckDBPyConnection, path: Path) -> int:
    described = connection.execute("describe select * from read_parquet(?)", [str(path)]).fetchall()
    kinds = {name: "BIGINT[]" if kind.endswith("]") else kind for name, kind, *_ in described}
    wanted = ", ".join(AGGREGATES.get(kind, AGGREGATES["BIGINT"]).format(name) for name, kind in kinds.items())
    row = connection.execute(f"select count(*), {wanted} from read_parquet(?)", [str(path)]).fetchone()
    return int(row[0]) if row else 0


def _room(root: Path) -> int:
    return LARGEST_LINE if "long-line" in root.name else 16_777_216


if __name__ == "__main__":
    time_and_print(scan)
