"""Vectors: tables in Parquet by their rows, folders of LanceDB by what their manifests say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.graphrag.lance import ManifestError, read_table
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.graphrag.tables import BY_KIND
from ragdatakit.validators.graphrag.sql_tables import SqlTable, SqlTables, code_of

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed

_STORES = ("lancedb", "output/lancedb", "../lancedb")
"""Where the stores of an index are: in its folder, or in that of the project."""
_OF = (
    ("text_unit", "text-units"),
    ("entity", "entities"),
    ("community", "reports"),
    ("document", "documents"),
    ("relationship", "relationships"),
)
"""What is in the name of a store, and the kind of table that its vectors are of."""


def kind_of(name: str) -> str:
    """The kind of table that the vectors of a store are of, by the name of the store; empty where it does not show."""
    plain = name.replace("-", "_")
    return next((kind for word, kind in _OF if word in plain), "")


def vector_problems(tables: SqlTables, name: str, table: SqlTable, unreliable: set[str]) -> Iterator[Problem]:
    """The faults of a table of vectors; ``name`` is that of the file. Sets the records of the file."""
    file = table.stored.file
    if not table.has("id", "embedding"):
        missing = " and no column ".join(c for c in ("id", "embedding") if not table.has(c))
        yield Problem("unusable-vectors", facts={"reason": f"there is no column {missing}"})
        return
    if "]" not in table.types["embedding"] or "VARCHAR" in table.types["embedding"]:
        yield Problem("unusable-vectors", "/embedding", None, {"reason": "embedding is no list of numbers"})
        return
    scratch = f"vectors_of_{table.name}"
    vector = "try_cast(embedding as double[])"
    tables.run(
        f"create table {scratch} as select row, {code_of('cast(id as varchar)')} as code, "
        "coalesce(len(vector), 0) as n, "
        "case when vector is null or len(vector) = 0 then 'is null or empty' "
        "when not isfinite(list_sum(vector)) then 'has a NaN, an infinite number or a null' "
        "when list_max(vector) = 0 and list_min(vector) = 0 then 'is all zeros' end as reason "
        f"from (select row, id, {vector} as vector from {table.name})"
    )
    file.records = tables.one(f"select count(*) from {scratch}")[0]
    yield from _uneven(tables, table, scratch)
    for row, value, reason in _ids(tables, table, f"select row, reason as x from {scratch} where reason is not null"):
        yield Problem("odd-vector", "/embedding", value, {"reason": reason}, record=row)
    again = (
        f"select k.row, m.first as x from {scratch} k join (select code, min(row) as first from {scratch} "
        "where code is not null group by code having count(*) > 1) m on k.code = m.code where k.row <> m.first"
    )
    for row, value, first in _ids(tables, table, again):
        yield Problem("repeated-vector", "/id", value, {"first": first + 1}, record=row)
    yield from _compared(tables, table, scratch, kind_of(name), unreliable)


def _ids(tables: SqlTables, table: SqlTable, rows: str) -> Iterator[tuple[Any, ...]]:
    return tables.rows(
        f"select v.row, cast(v.id as varchar), b.x from {table.name} v join ({rows}) b on v.row = b.row order by v.row"
    )


def _uneven(tables: SqlTables, table: SqlTable, scratch: str) -> Iterator[Problem]:
    lengths = tables.run(f"select n from {scratch} where n > 0 group by n order by count(*) desc, n desc").fetchall()
    if len(lengths) < 2:
        return
    usual = lengths[0][0]
    for row, value, length in _ids(tables, table, f"select row, n as x from {scratch} where n > 0 and n <> {usual}"):
        yield Problem("uneven-vectors", "/embedding", value, {"length": length, "usual": usual}, record=row)


def _compared(tables: SqlTables, table: SqlTable, scratch: str, kind: str, unreliable: set[str]) -> Iterator[Problem]:
    """Vectors of what is not there, and what has no vector."""
    if kind not in tables or kind in unreliable or not tables.has(kind, "id"):
        return
    facts = {"table": BY_KIND[kind].name}
    codes = f"(select {code_of('id')} as code from {tables[kind].name} where id is not null)"
    odd = f"select row, null as x from {scratch} where code not in {codes}"
    for row, value, _ in _ids(tables, table, odd):
        yield Problem("stray-vector", "/id", value, facts, record=row)
    if tables.one(f"select count(*) from {scratch}")[0]:
        known = f"(select code from {scratch} where code is not null)"
        for (value,) in tables.rows(
            f"select id from {tables[kind].name} where id is not null and {code_of('id')} not in {known} order by row"
        ):
            yield Problem("no-vector", "/id", value, facts)


def store_problems(tables: SqlTables, dataset: Dataset, unreliable: set[str]) -> Iterator[Placed]:
    """The faults of the stores of LanceDB beside the tables."""
    first: tuple[str, int] | None = None
    for folder in _folders(dataset):
        home = DataFile(folder, str(folder), folder.name, "", boundary=dataset.boundary)
        name = folder.name.removesuffix(".lance")
        try:
            found = read_table(folder, dataset.boundary)
        except ManifestError as error:
            yield home, Problem("store-without-manifest", facts={"reason": str(error)})
            continue
        for path in found.files:
            if not (folder / "data" / path).is_file():
                yield home, Problem("store-without-data", None, path)
        kind = kind_of(name)
        if kind in tables and kind not in unreliable:
            rows = tables[kind].stored.file.records
            if rows != found.rows:
                facts = {"count": found.rows, "rows": rows, "table": BY_KIND[kind].name}
                yield home, Problem("store-unlike-table", facts=facts)
        if found.length and first is None:
            first = name, found.length
        elif found.length and first is not None and found.length != first[1]:
            facts = {"length": found.length, "other": first[0], "usual": first[1]}
            yield home, Problem("stores-of-two-lengths", facts=facts)


def _folders(dataset: Dataset) -> list[Path]:
    """The tables of LanceDB of an index, as far as they lie within its boundary."""
    for place in _STORES:
        folder = dataset.root / place
        if not dataset.boundary.holds(folder):
            continue
        try:
            found = sorted(p for p in folder.iterdir() if p.name.endswith(".lance") and p.is_dir())
        except OSError:
            continue
        if found:
            return found
    return []
