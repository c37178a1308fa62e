"""The rows of one table judged by themselves: one pass counts what is wrong, another one fetches what was found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ragdatakit.database.sql_text import sql_name
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.graphrag.tables import Column
from ragdatakit.validators.graphrag.list_cells import torn_members
from ragdatakit.validators.graphrag.row_checks import RowCheck, row_checks
from ragdatakit.validators.graphrag.sql_tables import SqlTable, SqlTables


def row_faults(tables: SqlTables, kind: str, table: SqlTable, generation: str) -> tuple[int, Iterable[Problem]]:
    """How many rows a table has, and what is wrong with them. Raises `duckdb.Error` where it cannot be read."""
    checks = list(row_checks(kind, table, generation))
    counted = [f"count({sql_name(f'raw {name}')})" for name in table.types]  # what is damaged fails here
    counted += [f"count_if({check.where})" for check in checks]
    count, *found = tables.one(f"select {', '.join(['count(*)', *counted])} from {table.name}")
    broken = [check for check, number in zip(checks, found[len(table.types) :], strict=True) if number]
    return count, _problems(tables, table, broken)


def _problems(tables: SqlTables, table: SqlTable, broken: list[RowCheck]) -> Iterator[Problem]:
    for check in broken:
        facts = "".join(f", {expression}" for expression in check.facts.values())
        query = f"select row, line, {check.value or 'null'}{facts} from {table.name} where {check.where} order by row"
        for row, line, value, *told in tables.rows(query):
            further = check.judge(value) if check.judge is not None else {}
            if further is not None:
                named = dict(zip(check.facts, told, strict=True)) | further
                yield Problem(check.rule, f"/{check.column}", value, named, line=line, record=row)
    yield from _torn(tables, table)


def _torn(tables: SqlTables, table: SqlTable) -> Iterator[Problem]:
    """Members of lists in CSV that are not what was written."""
    declared = table.stored.table
    for column in declared.columns if table.stored.is_csv and declared is not None else ():
        if column.type == "texts" and table.has(column.name):
            yield from _torn_in(tables, table, column)


def _torn_in(tables: SqlTables, table: SqlTable, column: Column) -> Iterator[Problem]:
    raw = sql_name(f"raw {column.name}")
    quoted = f"contains({raw}, '''') or contains({raw}, '\"')"
    for row, line, cell in tables.rows(f"select row, line, {raw} from {table.name} where {quoted} order by row"):
        for member in torn_members(cell):
            yield Problem("torn-member", f"/{column.name}", member, {"column": column.name}, line=line, record=row)
