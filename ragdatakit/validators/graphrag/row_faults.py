"""The rows of one table judged by themselves: one pass counts what is wrong, another one fetches what was found."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.graphrag.list_cells import torn_members
from ragdatakit.validators.graphrag.plain_columns import Plain, holds
from ragdatakit.validators.graphrag.row_checks import RowCheck, row_checks
from ragdatakit.validators.graphrag.sql_tables import SqlTable, SqlTables

LARGE = 16 << 20
"""Bytes of a table from which on its columns are looked at one by one."""


def row_faults(
    tables: SqlTables,
    kind: str,
    table: SqlTable,
    generation: str,
    whole: Container[str],
    proved: Container[str],
    plain: Plain,
) -> tuple[int, Iterable[Problem]]:
    """How many rows a table has, and what is wrong with them; columns in ``whole`` have been read, and have no null,
    rules in ``proved`` are kept, ``plain`` are columns of a table that is held.

    Raises `duckdb.Error` where it cannot be read.
    """
    checks = [
        check
        for check in row_checks(kind, table, generation)
        if check.rule not in proved
        and not (check.is_of_nulls and (check.column in whole or check.column in plain))
        and not (check.is_kept is not None and holds(plain, check.columns, check.is_kept))
    ]
    if table.stored.held is not None:  # and so has been read
        return table.stored.held.size, _problems(tables, table, checks)
    broken: list[RowCheck] = []
    passes = list(_passes(table, checks, whole))
    queries = []
    for columns, together in passes:
        counted = [_read_whole(table, name) for name in columns]  # what is damaged fails here
        counted += [f"count_if({check.where})" for check in together]
        queries.append(f"select {', '.join(['count(*)', *counted])} from {table.name}")
    rows = tables.each(queries)
    for (columns, together), found in zip(passes, rows, strict=True):
        counts = found[1 + len(columns) :]
        broken += [check for check, number in zip(together, counts, strict=True) if number]
    return rows[0][0], _problems(tables, table, sorted(broken, key=checks.index))


def _read_whole(table: SqlTable, name: str) -> str:
    """An aggregate that cannot be had of what the footer says."""
    column = sql_name(f"raw {name}")
    if table.is_text(name):
        return f"sum(strlen({column}))"
    return f"sum(len({column}))" if table.is_list(name) else f"bit_xor(hash({column}))"


def _passes(
    table: SqlTable, checks: list[RowCheck], whole: Container[str]
) -> Iterator[tuple[list[str], list[RowCheck]]]:
    """Columns that are read together, with the checks that are made of them: of a big table those that one check looks
    at, as a reader of many columns holds a piece of each; numbers take little."""
    if size_of(table.stored.file.path) < LARGE:
        yield [name for name in table.types if name not in whole], checks
        return
    with_others = {check.column: check.columns for check in checks if len(check.columns) > 1}
    beside = {name for names in with_others.values() for name in names} - with_others.keys()
    numbers = [n for n in table.types if table.is_number(n) and n not in beside and n not in with_others]
    yield [n for n in numbers if n not in whole], [check for check in checks if check.column in numbers]
    for name in table.types:
        if name in numbers:
            continue
        columns = [] if name in beside else with_others.get(name, [name])
        found = [check for check in checks if check.column in columns]
        unread = [column for column in columns if column not in whole]
        if found or unread:
            yield unread, found


def _problems(tables: SqlTables, table: SqlTable, broken: list[RowCheck]) -> Iterator[Problem]:
    for check in broken:
        facts = "".join(f", {expression}" for expression in check.facts.values())
        query = f"select row, line, {check.value or 'null'}{facts} from {table.name} where {check.where} order by row"
        for row, line, value, *shown in tables.rows(query):
            further = check.judge(value) if check.judge is not None else {}
            if further is not None:
                named = dict(zip(check.facts, shown, strict=True)) | further
                yield Problem(check.rule, f"/{check.column}", value, named, line=line, record=row, hint=check.hint)
    yield from _torn(tables, table)


def _torn(tables: SqlTables, table: SqlTable) -> Iterator[Problem]:
    """Members of lists in CSV that are not what was written."""
    declared = table.stored.table
    for column in declared.columns if table.stored.is_csv and declared is not None else ():
        if column.type == "texts" and table.has(column.name):
            for row, line, cell in _quoted_cells(tables, table, column.name):
                for member in torn_members(cell):
                    facts = {"column": column.name}
                    yield Problem("torn-member", f"/{column.name}", member, facts, line=line, record=row)


def _quoted_cells(tables: SqlTables, table: SqlTable, name: str) -> Iterable[tuple[Any, ...]]:
    """The row, the line and the text of the cells of a column that have quotes in them."""
    held = table.stored.held
    if held is not None and held.lines is not None:
        cells = zip(range(held.size), held.lines, held.values[name], strict=True)
        return (found for found in cells if found[2] is not None and ("'" in found[2] or '"' in found[2]))
    raw = sql_name(f"raw {name}")
    quoted = f"contains({raw}, '''') or contains({raw}, '\"')"
    return tables.rows(f"select row, line, {raw} from {table.name} where {quoted} order by row")
