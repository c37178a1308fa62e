"""The tables of an index as views of DuckDB: rows with their numbers, columns with the types that GraphRAG gives them.

Parquet files are read where they are, CSV files are taken into tables first, cut as the rest of ragdata cuts them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.sql_text import hash_expression, is_sql_path, sql_name, sql_text, unglobbed
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.graphrag.tables import Column

if TYPE_CHECKING:
    from pathlib import Path

    import duckdb

    from ragdatakit.files.graphrag.tables import StoredTable

MEMORY = 80 << 20
"""Bytes that DuckDB holds before it moves tables to the disk."""
MOST_MEMORY = 640 << 20
"""What it may hold where a query does not do with less: not all that it makes can be moved."""
_PIECE = 1 << 12
_SMALL = 16 << 20
"""Bytes of tables for which a second thread costs more than it gains."""
_TINY = 1 << 20
"""Bytes of tables that are read once and held: each query over a view opens the file and plans its casts again."""
_SPLIT = (
    "create or replace macro split_list(c) as list_filter(list_transform(string_split(replace(c, chr(10), ','), ','), "
    "lambda x: trim(x, '[] ''\"')), lambda x: x <> '')"
)
_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_FRACTIONS = {"FLOAT", "DOUBLE"}
_NOT_WORTH_IT = (
    "join_order,statistics_propagation,regex_range,deliminator,common_subexpressions,common_aggregate,top_n,"
    "build_side_probe_side,compressed_materialization,reorder_filter,duplicate_groups,limit_pushdown,in_clause"
)
"""What planning a query over a small table costs more time with than it gains."""
_PREFIX = re.compile(r"^[A-Za-z ]{0,40}Error: ")


T = TypeVar("T")


class UnreadableTableError(Exception):
    """A table of which nothing can be read, with the reason."""


@dataclass(slots=True)
class SqlTable:
    """A view: ``types`` are the physical types by the names of its columns (in CSV all are text), ``renamed`` has
    what an older release called a column."""

    number: int
    stored: StoredTable
    make: Callable[[SqlTable], None]
    types: dict[str, str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    is_made: bool = False

    @property
    def name(self) -> str:
        """What it is called in SQL; it is made when this is first asked for. Raises `duckdb.Error`."""
        if not self.is_made:
            self.make(self)
            self.is_made = True
        return f"v{self.number}"

    def has(self, *columns: str) -> bool:
        """Whether all these columns are there."""
        return all(column in self.types for column in columns)

    def is_list(self, column: str) -> bool:
        """Whether a column holds lists."""
        return self.types[column].endswith("]")

    def is_text(self, column: str) -> bool:
        """Whether a column holds texts."""
        return self.types[column] == "VARCHAR"

    def is_number(self, column: str) -> bool:
        """Whether a column holds numbers."""
        return self.types[column] in _INTEGERS or self.is_fraction(column)

    def is_fraction(self, column: str) -> bool:
        """Whether a column holds numbers that may have a fraction."""
        return self.types[column] in _FRACTIONS or self.types[column].startswith("DECIMAL")


class SqlTables:
    """The views of one dataset of so many bytes, by kind. To be closed."""

    def __init__(self, size: int) -> None:
        self.are_large = size >= _SMALL
        self.are_tiny = size < min(_TINY, _SMALL)
        self.tables: dict[str, SqlTable] = {}
        self._opened: tuple[duckdb.DuckDBPyConnection, ScratchFolder] | None = None
        self._views = 0
        self._described: dict[Path, dict[str, str]] = {}
        self._memory = MEMORY

    @property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        """The database, which takes longer to open than a small dataset to check where nothing is wrong."""
        if self._opened is None:
            scratch = ScratchFolder()
            self._opened = _database(self.are_large, scratch), scratch
        return self._opened[0]

    def close(self) -> None:
        """Let go of the database and its scratch folder."""
        if self._opened is not None:
            connection, scratch = self._opened
            connection.close()
            scratch.remove()

    def __contains__(self, kind: str) -> bool:
        return kind in self.tables

    def __getitem__(self, kind: str) -> SqlTable:
        return self.tables[kind]

    def has(self, kind: str, *columns: str) -> bool:
        """Whether a table is there with these columns."""
        return kind in self.tables and self.tables[kind].has(*columns)

    def run(self, sql: str) -> duckdb.DuckDBPyConnection:
        """Run a statement."""
        return self._with_room(lambda: self._connection.execute(sql))

    def rows(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a query."""

        def begin() -> tuple[duckdb.DuckDBPyConnection, list[tuple[Any, ...]]]:
            found = self._connection.cursor().execute(sql)
            return found, found.fetchmany(_PIECE)

        found, piece = self._with_room(begin)
        while piece:
            yield from piece
            piece = found.fetchmany(_PIECE)

    def one(self, sql: str) -> tuple[Any, ...]:
        """The one row of a query."""
        return self._with_room(lambda: self._connection.execute(sql).fetchall()[0])

    def each(self, queries: list[str]) -> list[tuple[Any, ...]]:
        """The one row of each query; of several, two run at a time: one alone has a thread for each row group."""
        if len(queries) == 1:
            return [self.one(queries[0])]

        def run(query: str) -> tuple[Any, ...]:
            return self._with_room(lambda: self._connection.cursor().execute(query).fetchall()[0])

        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(run, queries))

    def _with_room(self, ask: Callable[[], T]) -> T:
        """What is asked of the database, which gets more memory where it does not do with what it has."""
        while True:
            before = self._memory
            try:
                return ask()
            except database_errors() as error:
                if not takes_too_much(error) or before >= MOST_MEMORY:
                    raise
                self._memory = max(self._memory, min(2 * before, MOST_MEMORY))
                self._connection.cursor().execute(f"set global memory_limit = '{self._memory}B'")

    def columns_of(self, stored: StoredTable) -> tuple[str, ...]:
        """The names of the columns of a file. Raises `UnreadableTableError`."""
        if stored.is_csv:
            return stored.columns
        try:
            return tuple(self._types(stored))
        except database_errors() as error:
            raise UnreadableTableError(reason_of(error, stored)) from None

    def add(self, kind: str, stored: StoredTable, old: bool) -> SqlTable:
        """A view of a table; ``old``: several ids may be in one text of a list. Raises `UnreadableTableError`."""
        self._views += 1
        table = SqlTable(self._views, stored, lambda made: self._make(made, old))
        try:
            types = dict.fromkeys(stored.columns, "VARCHAR") if stored.is_csv else self._types(stored)
            table.types = {name: kind for name, kind in types.items() if stored.declares(name)}
            table.renamed = _renamed(kind, table, old)
            for today, before in table.renamed.items():
                table.types[today] = "VARCHAR" if today == "community" else table.types[before]
            if stored.held is None:
                assert table.name
        except database_errors() as error:
            raise UnreadableTableError(reason_of(error, stored)) from None
        self.tables[kind] = table
        return table

    def _make(self, table: SqlTable, old: bool) -> None:
        stored = [name for name in table.types if name not in table.renamed]
        columns = [f"{self._expression(table, c, old)} as {sql_name(c)}" for c in stored]
        raw = [f"{sql_name(c)} as {sql_name(f'raw {c}')}" for c in stored]
        for today, before in table.renamed.items():
            value = f"try_cast({before} as bigint)" if today == "community" else sql_name(before)
            columns.append(f"{value} as {today}")
            raw.append(f"{sql_name(before)} as {sql_name(f'raw {today}')}")
        query = f"select {', '.join(['__row as row', '__line as line', *columns, *raw])} from {{}}"
        name = f"v{table.number}"
        if table.stored.is_csv:
            self._of_csv(table, name, query)
        else:
            self._store(name, query.format(self._parquet(table.stored)))

    def _store(self, name: str, query: str) -> None:
        if self.are_tiny:
            try:
                self._connection.execute(f"create table {name} as {query}")
                return
            except database_errors() as error:
                if not takes_too_much(error):  # a small file may hold a long list
                    raise
        self._connection.execute(f"create view {name} as {query}")

    def _parquet(self, stored: StoredTable) -> str:
        read = f"read_parquet({sql_text(unglobbed(stored.file.path))}, file_row_number = true)"
        return f"(select *, file_row_number as __row, null::bigint as __line from {read})"

    def _types(self, stored: StoredTable) -> dict[str, str]:
        """The physical types of a Parquet file, by column."""
        if stored.held is not None:
            return stored.held.types
        path = stored.file.path
        if not is_sql_path(path):
            raise UnreadableTableError("its path is not UTF-8; rename the file or folder")
        if path not in self._described:
            query = f"describe select * from read_parquet({sql_text(unglobbed(path))})"
            self._described[path] = {name: kind for name, kind, *_ in self._connection.execute(query).fetchall()}
        return self._described[path]

    def _of_csv(self, table: SqlTable, name: str, query: str) -> None:
        """Take the rows into a table: as they are asked for where there is little, else the cells behind a view."""
        places = table.stored.places(table.stored.columns)
        schema = {"__row": Kind.INTEGER, "__line": Kind.INTEGER, **dict.fromkeys(places, Kind.TEXT)}

        def batches() -> Iterator[list[PackedColumn]]:
            first, rows = 0, table.stored.cells()
            while held := list(islice(rows, _PIECE)):
                yield _batch(held, first, list(places.values()))
                first += len(held)

        with incoming(self._connection, "incoming", schema, batches()):
            if self.are_tiny:
                self._connection.execute(f"create table {name} as {query.format('incoming')}")
                return
            self._connection.execute(f"create table cells_of_{name} as select * from incoming")
        self._connection.execute(f"create view {name} as {query.format(f'cells_of_{name}')}")

    def _expression(self, table: SqlTable, name: str, old: bool) -> str:
        """A column as the type that it is declared with; null where it cannot be one."""
        declared = table.stored.table.column(name) if table.stored.table else None
        column = sql_name(name)
        if declared is None:
            return column
        physical = table.types[name]
        if declared.type == "text":
            return column if physical == "VARCHAR" else f"try_cast({column} as varchar)"
        if declared.type in ("integer", "number"):
            return _number(declared, column, physical, table.stored.is_csv)
        if declared.type in ("texts", "integers"):
            item = "varchar" if declared.type == "texts" else "bigint"
            if physical == "VARCHAR":
                found = f"split_list({column})"
            elif physical.endswith("]"):
                found = column
            else:
                return f"null::{item}[]"
            found = found if physical == f"{item.upper()}[]" else f"try_cast({found} as {item}[])"
            if old and declared.type == "texts":
                found = f"flatten(list_transform({found}, lambda x: string_split(x, ',')))"
            return found
        return column


def _number(declared: Column, column: str, physical: str, is_csv: bool) -> str:
    is_integer = declared.type == "integer"
    kind = "bigint" if is_integer else "double"
    if physical in _INTEGERS or physical == "BOOLEAN":
        return column if physical == kind.upper() else f"try_cast({column} as {kind})"
    if physical in _FRACTIONS or physical.startswith("DECIMAL"):
        return f"try_cast(trunc({column}) as bigint)" if is_integer else f"try_cast({column} as double)"
    if physical == "VARCHAR" and is_csv:
        number = f"try_cast(trim({column}) as double)"
        return f"try_cast(trunc({number}) as bigint)" if is_integer else number
    if physical == "VARCHAR" and is_integer:
        trimmed = f"trim({column})"
        return f"case when regexp_full_match({trimmed}, '[+-]?[0-9]+') then try_cast({trimmed} as bigint) end"
    return f"try_cast(trim({column}) as double)" if physical == "VARCHAR" else f"null::{kind}"


def _renamed(kind: str, table: SqlTable, old: bool) -> dict[str, str]:
    """The columns that a release called otherwise: by the names of today, their own."""
    for column, today in {"entities": ("name", "title"), "documents": ("raw_content", "text")}.items():
        if kind == column and today[0] in table.types and today[1] not in table.types:
            return {today[1]: today[0]}
    if old and kind == "communities" and "id" in table.types and "community" not in table.types:
        return {"community": "id"}
    return {}


def _database(is_large: bool, scratch: ScratchFolder) -> duckdb.DuckDBPyConnection:
    settings: dict[str, str | int] = {
        "memory_limit": f"{MEMORY}B",
        "allocator_background_threads": "true",  # which give back what one query freed while the next one runs
        "temp_directory": str(scratch.path / "spilled"),
        "preserve_insertion_order": "false",
    }
    if not is_large:
        settings["threads"] = 1
    connection = memory_database(settings)
    connection.execute("set global disable_parquet_prefetching = true")  # which holds a whole column at once
    # Statistics of files leave NaN out: what a NaN becomes is then taken for no null, unseen.
    off = "statistics_propagation" if is_large else _NOT_WORTH_IT
    connection.execute(f"set disabled_optimizers = '{off}'")
    connection.execute(_SPLIT)
    return connection


def _batch(held: list[tuple[int, list[str]]], first: int, places: list[int]) -> list[PackedColumn]:
    numbers = (range(first, first + len(held)), [line for line, _ in held])
    cells = ([cells[i] if i < len(cells) else None for _, cells in held] for i in places)
    return [*(packed(Kind.INTEGER, given) for given in numbers), *(packed(Kind.TEXT, given) for given in cells)]


def database_errors() -> type[Exception]:
    """What the database raises, as an ``except`` asks for it: it is not loaded where there is nothing to ask."""
    import duckdb

    return duckdb.Error


def takes_too_much(error: Exception) -> bool:
    """Whether the database has failed for want of memory."""
    import duckdb

    return isinstance(error, duckdb.OutOfMemoryException)


def reason_of(error: Exception, stored: StoredTable) -> str:
    """What DuckDB says of a file, in one line without its path."""
    words = " ".join(str(error).split("\n", 1)[0].split())
    for path in (unglobbed(stored.file.path), str(stored.file.path)):
        for shown in (f"file '{path}'", f'file "{path}"', f"file {path}", f"'{path}'", f'"{path}"', path):
            words = words.replace(shown, "the file")
    return _PREFIX.sub("", words)[:200].rstrip(". ")


def code_of(column: str) -> str:
    """The code of a text, in SQL; null where there is none."""
    return f"case when {column} is not null then {hash_expression(column)} end"
