"""The sandbox of `query`: one statement of a user that only reads, with no way to other files, the network, Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.database_group import DatabaseGroup, SingleDatabase
from ragdatakit.database.dataset_database import FILES, USUAL_MEMORY, DatasetDatabase
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.select_statements import NO_MEMORY, Select, error_of, parse_select, plain_name, without_end
from ragdatakit.files.containers.arrow_library import arrow_library
from ragdatakit.files.memory_database import memory_database, without_progress_bar
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, QueryError, RagdataError, skip_unreadable

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

NO_PART = "no answer from a part of the data"
_MOST_SPILLED = "16GB"
AtWork = Callable[[bool, int], None]
_FIRST_ROWS, _MOST_ROWS = 64, 2048
"""Rows that are fetched at once: few at first, as nobody knows how wide they are, and a row may have megabytes."""
_MUCH = 1 << 20
"""Bytes of rows that are taken at a time, about."""
_NOT_IN_PYTHON = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ_NS", "TIMESTAMP_NS", "INTERVAL")
_NOT_IN_ARROW = ("TIME WITH TIME ZONE", "INTERVAL", "UHUGEINT", "BIGNUM", "BIT")
_NOT_IN_ARROW_WHOLE = ("UNION", "VARIANT")
"""Types of which Python, or Arrow and Parquet, have no values, or not all."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``type`` is DuckDB's name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table that queries can name. ``schema`` is ``main`` for the canonical tables, ``files`` for the files as they
    are; ``rows`` is None where they could not be read, and ``fault`` says why. ``dataset`` is which it belongs to,
    where there are several; ``name`` is empty where that could not be read at all."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    rows: int | None
    fault: str = ""
    dataset: str = ""

    @property
    def called(self) -> str:
        """What it is called in a query."""
        schema = self.schema if self.schema != "main" else ""
        return ".".join(plain_name(part) for part in (self.dataset, schema, self.name) if part)


class QueryResult:
    """The rows of a query, which come as they are asked for, once.

    ``columns`` are its columns. `rows` gives lists of tuples of Python values, `batches` Arrow record batches. What
    these do not hold as it is (times with a zone, nanoseconds and intervals in Python; unions, bits, times with a zone,
    intervals and the largest integers in Arrow) comes as text. Both raise `QueryError` for what goes wrong on the way.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, text: str, known: Callable[[], Iterable[str]]) -> None:
        self._connection, self._text, self._known = connection, text, known
        with _asking(known):
            self._relation = connection.sql(text)
        kinds = zip(self._relation.columns, self._relation.types, strict=True)
        self.columns = tuple(Column(str(name), str(kind).strip('"')) for name, kind in kinds)

    def rows(self) -> Iterator[list[tuple[Any, ...]]]:
        """The rows, some at a time."""
        text = self._with_texts(_NOT_IN_PYTHON)
        before, count = int(text != self._text), _FIRST_ROWS
        with _asking(self._known, before):
            cursor = self._connection.execute(text)
        while True:
            with _asking(self._known, before):
                chunk = cursor.fetchmany(count)
            if not chunk:
                return
            yield chunk
            is_much = sum(sys.getsizeof(value) for row in chunk for value in row) > _MUCH
            count = max(count // 2, 1) if is_much else min(count * 2, _MOST_ROWS)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow record batches; first an empty one, which has the schema. Raises `MissingExtraError`
        without pyarrow."""
        pa = arrow_library()
        text = self._with_texts(_NOT_IN_ARROW, _NOT_IN_ARROW_WHOLE)
        before = int(text != self._text)
        try:
            with _asking(self._known, before):
                relation = self._relation if text == self._text else self._connection.sql(text)
                reader: Any = relation.to_arrow_reader(1 << 16)
            yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        except pa.ArrowException as error:
            raise QueryError(f"Arrow does not take the rows: {error}; cast the column in the query") from None
        while True:
            with _asking(self._known, before):
                batch = next(reader, None)
            if batch is None:
                return
            yield batch

    def _with_texts(self, types: Sequence[str], whole: Sequence[str] = ()) -> str:
        """The query, with values of these types as text, within lists and structures, too; what holds one of ``whole``
        is text as a whole."""
        kinds = [_as_text(column.type, types, whole) for column in self.columns]
        if all(kind == column.type for kind, column in zip(kinds, self.columns, strict=True)):
            return self._text
        casts = ", ".join(
            f"#{place}{'' if kind == column.type else f'::{kind}'} as {sql_name(column.name)}"
            for place, (kind, column) in enumerate(zip(kinds, self.columns, strict=True), 1)
        )
        return f"select {casts} from (\n{without_end(self._text)}\n)"


class SafeQueries:
    """What a user may ask of a dataset, or of several.

    The tables of one are under their names (``documents``, ``files.corpus``), those of several behind the name of
    the dataset (``"name".documents``, ``"name".files.corpus``). `tables` says what there is; `run` runs one query. The
    tables that it names are filled before, nothing else; after it the database takes no further tables. ``at_work`` is
    called with True before anything is done that the user's SQL says, and with False where that pauses and the tables
    are read; with the bytes that the database holds. What of the data could not be read is in `losses`; the datasets
    that an answer about all of them has not, as they cannot be read, with the reasons, in ``unlisted``.
    """

    def __init__(self, database: DatasetDatabase | DatabaseGroup, at_work: AtWork = lambda *_: None) -> None:
        self._datasets = SingleDatabase(database) if isinstance(database, DatasetDatabase) else database
        self._at_work = at_work
        self._connection = self._datasets.connection
        self._read: dict[str, DatasetDatabase] = {}
        self.unlisted: dict[str, str] = {}

    @property
    def losses(self) -> dict[str, Losses]:
        """What could not be read of the datasets that were asked so far, by their names."""
        return {dataset: database.losses for dataset, database in self._read.items()}

    def names(self) -> list[str]:
        """What the tables are called in a query, of all datasets that can be read."""
        found = []
        for dataset in self._datasets.names:
            with skip_unreadable():
                database = self._datasets.open(dataset)
                tables = [("main", table) for table in database.tables] + [(FILES, view) for view in database.views]
                found += [TableFacts(schema, name, (), None, dataset=dataset).called for schema, name in tables]
        return found

    def tables(self) -> Iterator[TableFacts]:
        """All tables with their columns and how many rows they have: everything is read."""
        for dataset in self._datasets.names:
            try:
                yield from self._tables_of(dataset)
            except MachineError:
                raise
            except RagdataError as error:
                if len(self._datasets.names) == 1:
                    raise
                yield TableFacts("main", "", (), None, str(error), dataset)

    def _tables_of(self, dataset: str) -> Iterator[TableFacts]:
        import duckdb

        database = self._read[dataset] = self._datasets.open(dataset)
        for table in database.tables:
            known = set(database.losses.unread)
            count = database.count(table)
            fault = next((reason for reason in database.losses.unread if reason not in known), "")
            columns = _columns(database, "main", table)
            reason = fault.removeprefix(f"{table}: ")
            yield TableFacts("main", table, columns, None if fault else count, reason, dataset)
        for view in database.views:
            columns = _columns(database, FILES, view)
            if fault := database.view_fault(view):
                yield TableFacts(FILES, view, columns, None, fault, dataset)
                continue
            try:
                found = database.load().execute(f"select count(*) from {FILES}.{sql_name(view)}").fetchone()
                yield TableFacts(FILES, view, columns, found[0] if found else 0, dataset=dataset)
            except (duckdb.Error, UnicodeDecodeError) as error:
                yield TableFacts(FILES, view, columns, None, str(error_of(error)), dataset)

    def run(self, text: str | Select) -> QueryResult:
        """The result of the one statement in ``text``, which may only read, or which was parsed. Raises `QueryError`
        where it is not that, or cannot be done, and `RagdataError` where a dataset, a table or a file that it needs
        cannot be read whole: there is no answer from a part of the data. Records that are left out are in `losses`."""
        select = parse_select(text) if isinstance(text, str) else text
        if select.lists_tables and self._datasets.names != ("",):
            select = parse_select(self._list_of_tables())
        wanted = self._wanted(select)
        for dataset in wanted:
            self._read[dataset] = self._datasets.open(dataset)
        self._refuse_unread()  # a folder that nobody may look into: a table may be missing for that
        self._check_names(select, wanted)
        for dataset, tables in wanted.items():
            self._fill(dataset, tables)
        self._refuse_unread()
        self._lock()
        self._at_work(True, self._used_memory())
        return QueryResult(self._connection, select.text, self.names)

    def _list_of_tables(self) -> str:
        """The query that SHOW TABLES stands for over several datasets: DuckDB lists those of one database only."""
        found = []
        for dataset in self._datasets.names:
            with self._listing(dataset):
                tables = self._datasets.open(dataset).tables
                found += [TableFacts("main", table, (), None, dataset=dataset).called for table in tables]
        listed = ", ".join(map(sql_text, sorted(found)))
        return f"select unnest([{listed}]::varchar[]) as name"

    def _wanted(self, select: Select) -> dict[str, set[tuple[str, str]]]:
        """The tables that a query names as ``(schema, name)``, by dataset. Where it names no dataset, all are there
        without rows: it may ask what there is."""
        if self._datasets.names == ("",):
            return {"": {(schema or "main", table) for _, schema, table in select.tables}}
        by_name = {name.lower(): name for name in self._datasets.names}
        found: dict[str, set[tuple[str, str]]] = {}
        for catalog, schema, table in select.tables:
            dataset = by_name.get(catalog or schema)
            if dataset is not None:
                found.setdefault(dataset, set()).add((schema if catalog else "main", table))
        if found or not select.tables:
            return found
        for dataset in self._datasets.names:
            with self._listing(dataset):
                self._datasets.open(dataset)
                found[dataset] = set()
        return found

    @contextmanager
    def _listing(self, dataset: str) -> Iterator[None]:
        """One dataset of all: where it cannot be read, that is kept to be reported."""
        try:
            yield
        except MachineError:
            raise
        except RagdataError as error:
            self.unlisted[dataset] = str(error)

    def _check_names(self, select: Select, wanted: Mapping[str, set[tuple[str, str]]]) -> None:
        """Bind the query to empty tables: what is wrong with it is reported before anything is read."""
        # Constants are computed when they are bound: in little memory, and not on the disk.
        shadow = memory_database({"threads": 1, "memory_limit": f"{USUAL_MEMORY}B", "temp_directory": ""})
        try:
            for dataset, named in wanted.items():
                if dataset:
                    shadow.execute(f"attach ':memory:' as {sql_name(dataset)}")
                    shadow.execute(f"use {sql_name(dataset)}")
                self._add_empty(shadow, dataset, named)
            shadow.execute("use memory")
            _lock(shadow)
            self._at_work(True, self._used_memory())
            with _asking(self.names, lines_before=1):
                shadow.execute(f"explain\n{select.text}").fetchall()
            self._at_work(False, 0)
        finally:
            shadow.close()

    def _add_empty(self, shadow: duckdb.DuckDBPyConnection, dataset: str, named: set[tuple[str, str]]) -> None:
        database = self._datasets.open(dataset)
        shadow.execute(f"create schema {FILES}")
        for table in database.tables:
            _create_empty(shadow, table)
        for view in database.views:
            columns = _columns(database, FILES, view) if (FILES, view.lower()) in named else ()
            columns = columns or (Column("unread", "INTEGER"),)
            listed = ", ".join(f"{sql_name(c.name)} {c.type}" for c in columns)
            shadow.execute(f"create table {FILES}.{sql_name(view)} ({listed})")

    def _fill(self, dataset: str, named: set[tuple[str, str]]) -> None:
        """Fill the tables that the query names; the others are there without rows."""
        database = self._read[dataset] = self._datasets.open(dataset)
        connection = database.load()
        for table in database.tables:
            if ("main", table) in named:
                database.load(table)
                _hide(connection, table)
            else:
                _create_empty(connection, table)
        for view in database.views:
            if (FILES, view.lower()) in named:
                name = f"{FILES}.{sql_name(view)}"
                if fault := database.view_fault(view):
                    raise RagdataError(f"{NO_PART}: {fault}")
                try:
                    with _asking(list):
                        connection.execute(f"create table {FILES}.filled_view as from {name}")
                except QueryError as error:
                    called = TableFacts(FILES, view, (), None, dataset=dataset).called
                    raise QueryError(f"{called} cannot be read: {error}") from None
                connection.execute(f"drop view {name}")
                connection.execute(f"alter table {FILES}.filled_view rename to {sql_name(view)}")

    def _refuse_unread(self) -> None:
        unread = [reason for losses in self.losses.values() for reason in losses.unread]
        if unread:
            more = f" (and {len(unread) - 1:,} more)" if len(unread) > 1 else ""
            raise RagdataError(f"{NO_PART}: {unread[0]}{more}")

    def _used_memory(self) -> int:
        """Bytes that the database holds in memory."""
        found = self._connection.execute("select sum(memory_usage_bytes)::bigint from duckdb_memory()").fetchall()
        return int(found[0][0] or 0)

    def _lock(self) -> None:
        _lock(self._connection)
        self._connection.execute("begin transaction read only")


def _columns(database: DatasetDatabase, schema: str, table: str) -> tuple[Column, ...]:
    import duckdb

    try:
        described = database.load().execute(f"describe {schema}.{sql_name(table)}").fetchall()
    except (duckdb.Error, UnicodeDecodeError):
        return ()
    hidden = _HIDDEN if schema == "main" else ""
    return tuple(Column(str(name), str(kind)) for name, kind, *_ in described if name != hidden)


def _as_text(kind: str, types: Sequence[str], whole: Sequence[str]) -> str:
    """The type ``kind`` with VARCHAR in place of these types; names of fields and values in quotes are no types."""
    listed = "|".join(sorted((*types, *whole), key=len, reverse=True))
    found = re.compile(rf"""("(?:[^"]|"")*"|'(?:[^']|'')*')|\b({listed})(?=[,)\[(]|$)""")
    if any(match[2] in whole for match in found.finditer(kind) if match[2]):
        return "VARCHAR"
    return found.sub(lambda match: match[1] or "VARCHAR", kind)


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    with incoming(connection, "no_rows", schema_of(table), ()):
        connection.execute(f"create table if not exists main.{sql_name(table)} as from no_rows")
    _hide(connection, table)


_HIDDEN = "field_order"
"""A column for writers, which says nothing of the data."""


def _hide(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    if _HIDDEN in TABLES[table].columns:
        connection.execute(f"alter table main.{sql_name(table)} drop column if exists {_HIDDEN}")


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing but what is in the database can be reached any more, and this cannot be changed."""
    import duckdb

    without_progress_bar(connection)
    # The statement was parsed and found to only read: this is the second wall, for what the first may overlook. Without
    # the settings of Python ``from df`` would name a variable of whoever called. The lock comes last, as it ends all
    # setting.
    wanted = {
        "max_temp_directory_size": f"'{_MOST_SPILLED}'",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "python_enable_replacement_scans": "false",
        "TimeZone": "'UTC'",
        "enable_external_access": "false",
    }
    for name, value in wanted.items():
        with suppress(duckdb.CatalogException):  # this release has no such setting
            connection.execute(f"set {name} = {value}")
    connection.execute("set lock_configuration = true")


@contextmanager
def _asking(known: Callable[[], Iterable[str]], lines_before: int = 0) -> Iterator[None]:
    """What DuckDB raises is reported in our words."""
    import duckdb

    try:
        yield
    except (duckdb.Error, UnicodeDecodeError) as error:
        raise error_of(error, known, lines_before) from None
    except MemoryError:
        raise QueryError(NO_MEMORY) from None
