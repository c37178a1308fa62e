"""One dataset as a DuckDB database: its canonical tables by name, and a view for each kind of file next to them.

A long module, because all ways of filling a table share one account of what is filled, and of what still waits.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cached_property, partial
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Self

from ragdatakit.database.apart_rows import ApartRows, ColumnFacts, RowsElsewhere, ShownColumns
from ragdatakit.database.arrow_streams import ColumnStream
from ragdatakit.database.conditions import Condition
from ragdatakit.database.edge_numbers import EdgeNumbers
from ragdatakit.database.edge_tables import EdgeTable
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.id_tables import IdTable, IdValues
from ragdatakit.database.quick_plans import in_one_thread, plan_at_once
from ragdatakit.database.reread_rows import RereadRows
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.tables_of_rows import FilledTable, LongIds
from ragdatakit.database.text_facts import COLUMN, FactsWanted, TextFacts
from ragdatakit.files.allocation import keep_freed_memory
from ragdatakit.files.containers.arrow_library import arrow_library
from ragdatakit.files.containers.nesting import MOST_NESTED, has_deep_line
from ragdatakit.files.containers.sources import Source, is_lfs_pointer
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.machine import refuse_little_space
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.folders import is_regular, size_of
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.files.reading.canonical_tables import CanonicalTables, RowsAtHand, RowSource
from ragdatakit.files.reading.tables_together import SharedRows, TablesTogether
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_states import WatchedFiles
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError, UnknownNameError
from ragdatakit.schemas.options import DATABASE_MEMORY

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import numpy.typing as npt
    import pandas as pd
    import pyarrow as pa

    from ragdatakit.database.columns import PackedColumn
    from ragdatakit.database.held_rows import TextCodes
    from ragdatakit.database.views import SplitOf

FILES = "files"
"""The schema of the views."""
USUAL_MEMORY = DATABASE_MEMORY
"""Bytes that DuckDB may hold before it moves tables to the disk."""
_LONG_FILE = 1 << 24
"""Bytes of a file that may have records of megabytes."""
_MOST_HELD = 1 << 28
"""Bytes of rows that are held until somebody asks for them."""
_FEW_BYTES = 1 << 26
"""Bytes of files of which rows are held: of larger ones those that somebody asks for would be there twice."""
_USUAL_SPLITS = ("train", "val", "dev", "test")


Connect = Callable[[], "duckdb.DuckDBPyConnection"]
"""Gives the connection to a database, which begins with it."""


class Unproved(Exception):
    """SQL cannot take a table from its files as it is meant; the rows of the reader will."""


def place_of_split(split: str | None) -> tuple[bool, int, str]:
    """Where a split is among others."""
    name = (split or "").lower()
    place = next((n for n, usual in enumerate(_USUAL_SPLITS) if name.startswith(usual)), len(_USUAL_SPLITS))
    return split is None, place, split or ""


@dataclass(frozen=True, slots=True)
class SqlTable:
    """A way to fill a canonical table by SQL straight from the files.

    ``load`` creates the table of the given name on the connection, for which it asks if it has a use for it, and
    returns the records of each file as far as it knows them, by what messages call it. It raises `Unproved` (or DuckDB
    does of itself) where it is not certain that the rows are those that the reader would give. ``integers`` are, when
    it is loaded, columns of which it is known that they have integers only, as these are usually written; ``facts``
    those of its texts, where these are wanted and it sees them, ``numbers`` those of the graph of which it is a part.
    ``ids`` has the rows of a table that ``load`` does not create, and so do the rows that stay ``apart``, where these
    are known; ``shown`` the values for which the table has something else; ``members`` are columns that it has beside
    its own, by a column of objects and the name of a member of these, and ``columns`` what is known of some of its own.
    ``losses`` count only where it is certain.
    """

    table: str
    load: Callable[[Connect, str], dict[str, int]] = field(repr=False)
    integers: Collection[str] = ()
    ids: IdTable | None = None
    facts: TextFacts = field(default_factory=TextFacts, repr=False)
    numbers: EdgeNumbers | None = field(default=None, repr=False)
    apart: ApartRows | EdgeTable | HeldRows | None = field(default=None, repr=False)
    losses: Losses = field(default_factory=Losses, repr=False)
    shown: ShownColumns | None = field(default=None, repr=False)
    members: dict[str, dict[str, str]] = field(default_factory=dict)
    columns: dict[str, ColumnFacts] = field(default_factory=dict, repr=False)


def _in_memory(memory_limit: int, scratch: Path) -> duckdb.DuckDBPyConnection:
    refuse_little_space("columns")
    return memory_database({"memory_limit": f"{memory_limit}B", "temp_directory": str(scratch / "spilled")})


class SharedConnection:
    """One database in memory for several datasets, which are side by side under their names:
    ``"name".documents`` and ``"name".files.corpus``. What it holds beyond ``memory_limit`` bytes goes to a scratch
    folder, until `close`.
    """

    def __init__(self, memory_limit: int = USUAL_MEMORY) -> None:
        self._scratch = ScratchFolder()
        self.memory_limit = memory_limit
        self.connection = _in_memory(memory_limit, self._scratch.path)

    def attach(self, name: str) -> duckdb.DuckDBPyConnection:
        """A connection of its own for a dataset, which takes its names for those of the tables of this one."""
        connection = self.connection.cursor()
        connection.execute(f"attach ':memory:' as {sql_name(name)}")
        connection.execute(f"use {sql_name(name)}")
        return connection

    def close(self) -> None:
        """Let go of the database and its scratch folder."""
        self.connection.close()
        self._scratch.remove()


class DatasetDatabase:
    """The canonical tables of one dataset, as rows, Arrow tables, pandas frames, and a database: there they are in
    schema ``main``, and views of the files in ``files``.

    ``name`` is what the dataset is called, ``format`` where it comes from, ``tables`` the names of the tables it has.
    The database is in memory, beyond ``memory_limit`` bytes in a scratch folder that goes away with `close`. Tables
    are filled when `load` or `connection` asks for them: by SQL where ``by_sql`` has a way that proves itself, else
    from the rows of the reader. What could not be read is in ``losses``, tables that have no row for that in ``unread``
    once they are loaded; data is never refused, but with ``strict``: then `RagdataError` is raised. With ``shared`` it
    is beside others in their database, as ``called``. ``own_sql``: nobody has it run other SQL
    than ours; views are added when they are asked for.
    """

    def __init__(
        self,
        tables: CanonicalTables,
        parts: Sequence[Dataset] = (),
        by_sql: Mapping[str, SqlTable] | None = None,
        *,
        memory_limit: int = USUAL_MEMORY,
        progress: Callable[[str, int, int], None] | None = None,
        split_of: SplitOf | None = None,
        shared: SharedConnection | None = None,
        called: str = "",
        strict: bool = False,
        own_sql: bool = False,
    ) -> None:
        self._tables = tables
        self._strict = strict
        self._own_sql = own_sql
        self._shared, self._called = shared, called
        self._parts = tuple(parts)
        self._by_sql = dict(by_sql or {})
        self._memory_limit = shared.memory_limit if shared is not None else memory_limit
        self._progress = progress
        self._split_of = split_of
        self.name = tables.name
        self.format = tables.format
        self.tables = tuple(name for name in TABLES if name in tables)
        self._views: tuple[str, ...] | None = None
        self.unread: set[str] = set()
        self.taken_by_sql: set[str] = set()
        self.file_records: dict[str, int] = {}
        self.integer_columns: set[tuple[str, str]] = set()
        self._ids: dict[str, IdTable] = {}
        self._waiting: dict[str, RowsElsewhere] = {}
        self._giving = RLock()
        self._facts: dict[str, TextFacts] = {}
        self.wants_facts: FactsWanted | None = None
        """What is to be counted of texts while tables are filled."""
        self._loaded: dict[str, int] = {}
        self._splits: dict[str, dict[str | None, int]] = {}
        self._view_faults: dict[str, str] = {}
        self._scratch: ScratchFolder | None = None
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._few: int | None = None
        self._long_ids = LongIds()

    def __repr__(self) -> str:
        return f"DatasetDatabase({self.name!r}, {self.format!r}: {', '.join(self.tables) or 'no tables'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if error is not None:
                self._long_ids.explain(error, (file for part in self._parts for file in part.files))
        finally:
            self.close()

    @property
    def losses(self) -> Losses:
        """What could not be read, or only in another form; whole once all tables are loaded."""
        return self._tables.losses

    @property
    def extents(self) -> Mapping[str, tuple[int, int]]:
        """As `RecordReader` has them."""
        return self._tables.records.extents if self._tables.records is not None else {}

    @property
    def parts(self) -> tuple[Dataset, ...]:
        """The datasets on the disk that it was made of, with their files."""
        return self._parts

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of a table as named tuples, streamed as the reader gives them, with files that go along as paths.
        Raises `UnknownNameError` for a table it does not have."""
        self._refuse_unknown(table)
        return self._tables.peek(table)

    def rows_at_hand(self, table: str) -> RowSource:
        """What gives the rows of a table: those that are held, where it is read and the database does not hold it."""
        held = self._waiting.get(table)
        if isinstance(held, HeldRows) and table not in self.taken_by_sql:
            return RowsAtHand(held.rows_at_hand, held.rows_having)
        return partial(self.rows, table)

    def batches(self, table: str) -> Iterator[pa.RecordBatch]:
        """The rows of a table as Arrow record batches of at most 8,192 rows, streamed. Raises `RagdataError` for a
        value that its column cannot hold, `MissingExtraError` without pyarrow."""
        pa = arrow_library()
        stream = ColumnStream(schema_of(table), row_batches(table, self.rows(table), None))
        try:
            yield from pa.RecordBatchReader.from_stream(stream)
        except (pa.ArrowException, OSError):
            raise stream.raised or AssertionError from None

    def arrow(self, table: str) -> pa.Table:
        """The whole table in memory, as an Arrow table. Raises `MissingExtraError` without pyarrow."""
        pa = arrow_library()
        stream = ColumnStream(schema_of(table), row_batches(table, self.rows(table), None))
        try:
            return pa.RecordBatchReader.from_stream(stream).read_all()
        except (pa.ArrowException, OSError):
            raise stream.raised or AssertionError from None

    def pandas(self, table: str) -> pd.DataFrame:
        """The whole table in memory, as a pandas frame. Raises `MissingExtraError` without pandas and pyarrow."""
        try:
            import pandas as pd  # noqa: F401 - Arrow needs it
            import pyarrow as pa  # noqa: F401
        except ImportError:
            raise MissingExtraError("frames", "pandas and pyarrow") from None
        return self.arrow(table).to_pandas()

    def relation(self, table: str) -> duckdb.DuckDBPyRelation:
        """The table as a DuckDB relation of `connection`."""
        return self.load(table).table(table)

    @property
    def scratch(self) -> Path:
        """A folder for what belongs to the database; it goes away with it."""
        if self._scratch is None:
            self._scratch = ScratchFolder()
        return self._scratch.path

    def connection(self) -> duckdb.DuckDBPyConnection:
        """The database with all its tables and views."""
        self.load(*self.tables)
        return self.add_views()

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views, which are added to the database if they are not there."""
        self.add_views()
        return self._views or ()

    def add_views(self) -> duckdb.DuckDBPyConnection:
        """Add the views to the database, if they are not there; the connection."""
        connection = self._connect()
        if self._views is None:
            self._views = tuple(self._made_views(connection))
        return connection

    def load(self, *tables: str) -> duckdb.DuckDBPyConnection:
        """Have the database hold these tables; the connection. Any thread may ask for tables that are read. Raises
        `UnknownNameError` for one it does not have."""
        self.read(*tables)
        connection = self._connect()
        for table in tables:
            if table in self._waiting:
                with self._giving, connection.cursor() as cursor:
                    if table in self._waiting:
                        self._waiting[table].give(cursor)
                        del self._waiting[table]
        return connection

    def read(self, *tables: str) -> None:
        """Read these tables, if they are not; the database may not have all of them. Raises as `load`."""
        for table in tables:
            self._refuse_unknown(table)
            if table in self._loaded:
                continue
            known = len(self.losses.unread)
            rows = self._fill_from_files(table)
            if rows is None and self._fill_together(table, tables):
                continue
            self._loaded[table] = rows if rows is not None else self._fill_by_rows(table)
            if not self._loaded[table] and len(self.losses.unread) > known:
                self.unread.add(table)
            self.give_back()

    def choose_threads(self) -> None:
        """Have DuckDB use one thread where it holds few rows, if nobody has it run other SQL than ours."""
        if self._own_sql:
            self._few = sum(number for table, number in self._loaded.items() if table not in self._waiting)
            if self._connection is not None:
                in_one_thread(self._connection, self._few)

    def give_back(self) -> None:
        """Have DuckDB let go of the memory through which long texts came: it keeps that until it is given a limit."""
        if self._has_long_files and self._connection is not None:
            with self._connection.cursor() as cursor:  # somebody may be reading
                cursor.execute(f"set memory_limit = '{self._memory_limit}B'")

    @property
    def _most_held(self) -> int:
        return min(_MOST_HELD, self._memory_limit // 4)

    @cached_property
    def _size(self) -> int:
        """Bytes of its files."""
        return sum(size_of(file.path) for part in self._parts for file in part.files)

    @cached_property
    def _has_long_files(self) -> bool:
        return any(size_of(file.path) >= _LONG_FILE for part in self._parts for file in part.files)

    def count(self, table: str) -> int:
        """How many rows a table has; 0 where the dataset has no such table."""
        if table not in self.tables:
            return 0
        self.read(table)
        return self._loaded[table]

    def waiting(self, table: str) -> IdTable | None:
        """The rows of a table of ids that is read, while the database does not hold it."""
        held = self._waiting.get(table)
        return held if isinstance(held, IdTable) else None

    def chosen(self, table: str, condition: Condition) -> npt.NDArray[np.bool_] | None:
        """Which rows of a table that is read a condition chooses, while the database does not hold it; None where that
        is not known."""
        held = self._waiting.get(table)
        return held.chosen(condition) if isinstance(held, IdTable | HeldRows) else None

    def ids(self, table: str, column: str) -> IdValues | None:
        """The ids of a column of a table that is read, if they are known as numbers."""
        found = self._ids.get(table)
        if found is not None:
            return found.ids(column) if column in found.names else None
        held = self._waiting.get(table)
        return held.ids(column) if isinstance(held, HeldRows) else None

    def splits(self, table: str) -> dict[str | None, int]:
        """The rows of a table by split, training first, then validation, test, and others by name; those of none under
        None. The order is the same in all tables."""
        if table not in self._splits:
            found: dict[str | None, int] = {None: self.count(table)} if self.count(table) else {}
            if "split" in TABLES[table].columns:
                if table in self._ids:
                    rows = [*self._ids[table].splits.items()]
                elif (facts := self.column_facts(table, "split")) is not None and facts.counts is not None:
                    rows = [*facts.counts.items(), *([(None, facts.missing)] if facts.missing else [])]
                else:
                    query = f'select split, count(*) from main."{table}" group by split'
                    rows = self.load(table).execute(query).fetchall()
                found = dict(sorted(rows, key=lambda row: place_of_split(row[0])))
            self._splits[table] = found
        return self._splits[table]

    def text_facts(self, table: str, column: str) -> TextFacts | None:
        """What is known of the texts in a column of a table that is filled; None where that is nothing."""
        found = self._facts.get(table)
        return found if column == COLUMN and found is not None and found.known else None

    def column_facts(self, table: str, column: str) -> ColumnFacts | None:
        """What is known of a column of a table that is read, as while the database does not hold its rows."""
        if table in self.taken_by_sql and (facts := self._by_sql[table].columns.get(column)) is not None:
            return facts
        held = self._waiting.get(table)
        return held.column(column) if held is not None else None

    def members(self, table: str, column: str) -> Mapping[str, str]:
        """Columns of a table in the database that have members of the objects in a column, by their names."""
        return self._by_sql[table].members.get(column, {}) if table in self.taken_by_sql else {}

    def has_others(self, table: str, column: str) -> bool:
        """Whether such a table has something else for the values of a column, which `rows_at` gives."""
        shown = self._by_sql[table].shown if table in self.taken_by_sql else None
        return shown is not None and column in shown.columns

    def text_codes(self, table: str, column: str) -> TextCodes | None:
        """Codes of the texts in a column of such a table, none of which is an integer, as `HeldRows.codes` has them;
        None where they are not known."""
        held = self._waiting.get(table)
        return held.codes(column) if isinstance(held, HeldRows) else None

    def texts(self, table: str, column: str) -> list[PackedColumn] | None:
        """The texts in a column of such a table, some rows after the others; None where they are not at hand."""
        held = self._waiting.get(table)
        return held.texts(column) if isinstance(held, HeldRows) else None

    def numbers(self, table: str, column: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]] | None:
        """The numbers in a column of such a table, and which rows have one; None where they are not at hand."""
        held = self._waiting.get(table)
        return held.numbers(column) if isinstance(held, HeldRows) else None

    def sizes(self, table: str, column: str) -> npt.NDArray[np.int64] | None:
        """The characters of texts, or the items of lists, in a column of such a table, -1 of those that are not there;
        None where they are not known."""
        held = self._waiting.get(table)
        return held.sizes(column) if isinstance(held, HeldRows) else None

    def rows_per_value(self, table: str, column: str) -> npt.NDArray[np.int64] | None:
        """How many rows of such a table have each of the texts in a column; None where that is not known."""
        held = self._waiting.get(table)
        return held.rows_per_value(column) if isinstance(held, HeldRows) else None

    def rows_at(self, table: str, columns: Mapping[str, str], places: Iterable[int]) -> dict[int, dict[str, Any]]:
        """Some rows by their places from 0, with the values of these columns: as an expression gives them, or whole
        where the database does not hold them. Raises `RagdataError` where a file with them was changed."""
        if (held := self._waiting.get(table)) is not None:
            wanted = sorted(places)
            return held.rows_at(wanted, columns) if isinstance(held, HeldRows) else held.rows_at(wanted)
        chosen = f"where rowid in ({', '.join(map(str, places))})"
        connection = self.load(table)
        rows = connection.execute(
            f'select rowid, {", ".join(columns.values())} from main."{table}" {chosen}'
        ).fetchall()
        found = {place: dict(zip(columns, row, strict=True)) for place, *row in rows}
        if table in self.taken_by_sql and (shown := self._by_sql[table].shown) is not None:
            shown.show(found, connection)
        return found

    @property
    def edge_numbers(self) -> EdgeNumbers | None:
        """The edges as numbers, if these are known of the tables of nodes and edges, which are filled."""
        way = self._by_sql.get("edges")
        if way is None or way.numbers is None or not {"nodes", "edges"} <= self.taken_by_sql:
            return None
        return way.numbers if way.numbers.whole(self.count("nodes"), self.count("edges")) else None

    def leave_out(self, table: str, rows: Iterable[int]) -> None:
        """Remove rows of a table, by their places from 0."""
        import numpy as np

        connection = self.load(table)
        connection.execute("create temp table left_out (place bigint)")
        connection.register("given_places", {"place": np.fromiter(rows, np.int64)})
        connection.execute("insert into left_out select place from given_places")
        connection.unregister("given_places")
        kept = f'select * from main."{table}" where rowid not in (select place from left_out) order by rowid'
        connection.execute(f"create table main.kept_rows as {kept}")
        connection.execute(f'drop table main."{table}"; drop table left_out')
        connection.execute(f'alter table main.kept_rows rename to "{table}"')
        self._loaded[table] = _rows_in(connection, table)
        self._splits.pop(table, None)
        self._facts.pop(table, None)
        self._ids.pop(table, None)

    def view_fault(self, view: str) -> str:
        """Why a file of a view cannot be read whole, where DuckDB itself does not say: of damaged gzip data it takes
        what comes. Empty where there is nothing to tell; packed files are read for it."""
        if view not in self._view_faults:
            files = [f for part in self._parts for f in part.files if f.kind.replace("-", "_") == view]
            self._view_faults[view] = next(filter(None, map(_fault_of, files)), "")
        return self._view_faults[view]

    def close(self) -> None:
        """Let go of the database and its scratch folder."""
        if self._connection is not None:
            self._connection.close()
            self._connection = self._views = None
        self._loaded.clear()
        self._ids.clear()
        self._waiting.clear()
        self._facts.clear()
        self._splits.clear()
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None

    def _refuse_unknown(self, table: str) -> None:
        if table not in self.tables:
            raise UnknownNameError("table", table, self.tables, where=f"of {self.name}")

    def _connect(self) -> duckdb.DuckDBPyConnection:
        """The connection, which begins when it is asked for first: a report often has no use for any."""
        with self._giving:
            if self._connection is None:
                if self._shared is not None:
                    connection = self._shared.attach(self._called)
                else:
                    connection = _in_memory(self._memory_limit, self.scratch)
                connection.execute(f"create schema {FILES}")
                self._connection = connection
                if self._own_sql:
                    plan_at_once(connection, self._parts)
                    if self._few is not None:
                        in_one_thread(connection, self._few)
                else:
                    self.add_views()
            return self._connection

    def _made_views(self, connection: duckdb.DuckDBPyConnection) -> Iterable[str]:
        import duckdb

        from ragdatakit.database.views import file_views

        queries: dict[str, list[str]] = {}
        for part in self._parts:
            for view, query in file_views(part, connection, self._split_of):
                queries.setdefault(view, []).append(query)
        for view, parts in queries.items():
            try:
                connection.execute(f'create view {FILES}."{view}" as {" union all by name ".join(parts)}')
            except duckdb.Error:  # a file in which DuckDB sees nothing it could read
                continue
            yield view

    def _fill_from_files(self, table: str) -> int | None:
        """Fill a table by SQL; how many rows it has, None where there is no way that proves itself."""
        if self._has_long_files:
            keep_freed_memory()
        way = self._by_sql.get(table)
        if way is not None:
            self._tell(f"loading {table}", 0, 1)
            way.facts.wanted = self.wants_facts
            if way.numbers is not None and not self.taken_by_sql & {"nodes", "edges"}:
                way.numbers.want(self.wants_facts)
            if isinstance(way.apart, HeldRows):
                way.apart.known = False
                way.apart.most = self._most_held
            watched = WatchedFiles(file.path for part in self._parts for file in part.files)
            try:
                records = way.load(self._connect, table)
                if watched.changed():
                    raise Unproved  # a file changed meanwhile: the reader takes it as it is now, or reports it
                self.file_records.update(records)
            except Exception as error:
                if not _is_left_to_reader(error):
                    raise
                if self._connection is not None:
                    self._connection.execute(f'drop table if exists main."{table}"')
            else:
                self.taken_by_sql.add(table)
                self.losses.take(way.losses)
                self._facts[table] = way.facts
                integers = way.integers if way.ids is None else way.ids.integers
                self.integer_columns.update((table, column) for column in integers)
                if way.shown is not None:
                    way.shown.watched = watched
                if way.ids is not None:
                    self._ids[table] = self._waiting[table] = way.ids
                    return way.ids.rows
                if way.apart is not None and way.apart.known:
                    if isinstance(way.apart, ApartRows | RereadRows):
                        way.apart.watched = watched
                    self._waiting[table] = way.apart
                    return way.apart.rows
                return _rows_in(self._connect(), table)
        return None

    def _fill_together(self, table: str, wanted: Sequence[str]) -> bool:
        """Fill a table, and those of the others that are wanted whose rows come of the same records; False where it is
        alone, or not all can be read."""
        source = self._tables.sources.get(table)
        if self._strict or not isinstance(source, SharedRows):
            return False
        group = source.group
        sources = {name: self._tables.sources.get(name) for name in wanted if name not in self._loaded}
        names = [n for n, one in sources.items() if isinstance(one, SharedRows) and one.group is group]
        if len(names) < 2:
            return False
        known = len(self.losses.unread)
        filled = {
            name: FilledTable(name, self._connect, self.wants_facts, self._most_held, self._long_ids) for name in names
        }
        ways: list[Callable[..., Iterator[Mapping[str, Any]]]] = [partial(_rows_together, group)]
        if source.columns is not None and all(one.is_held for one in filled.values()):
            ways.append(source.columns)
        while not self._filled(filled, ways.pop()):
            if not ways:
                return False  # each is read as far as it can be
        for name, one in filled.items():
            self._loaded[name] = self._take(name, one)
            self.losses.take(one.losses)
        if not self._loaded[names[0]] and len(self.losses.unread) > known:
            self.unread.add(names[0])
        self.give_back()
        return True

    @staticmethod
    def _filled(filled: Mapping[str, FilledTable], way: Callable[..., Iterable[Mapping[str, Any]]]) -> bool:
        """Fill tables that come together; whether all rows could be read."""
        for one in filled.values():
            one.begin()
        try:
            for given in way(filled):
                for name, batches in given.items():
                    filled[name].add(batches)
        except MachineError:
            raise
        except (RagdataError, RecursionError, Unproved):
            for one in filled.values():
                one.drop()
            return False
        return True

    def _fill_by_rows(self, table: str) -> int:
        most = self._most_held if self._size <= _FEW_BYTES else 0
        filled = FilledTable(table, self._connect, self.wants_facts, most, self._long_ids)
        filled.begin()
        filled.add(row_batches(table, self._tables.peek(table), None if self._strict else self.losses))
        return self._take(table, filled)

    def _take(self, table: str, filled: FilledTable) -> int:
        """The rows of a table that is filled, which may be held."""
        filled.end()
        self._facts[table] = filled.facts
        if not filled.held.known:
            return _rows_in(self._connect(), table)
        self._waiting[table] = filled.held
        return filled.held.rows

    def _tell(self, what: str, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(what, done, total)


def _rows_together(
    group: TablesTogether, filled: Mapping[str, FilledTable]
) -> Iterator[Mapping[str, Iterable[Sequence[PackedColumn]]]]:
    for rows in group.together(list(filled)):
        yield {name: row_batches(name, iter(some), filled[name].losses) for name, some in rows.items()}


def _is_left_to_reader(error: Exception) -> bool:
    """Whether who reads rows gets further, or makes a loss of it."""
    if isinstance(error, MachineError):
        return False
    return isinstance(error, (RagdataError, RecursionError, Unproved)) or _is_of_duckdb(error)


def _is_of_duckdb(error: Exception) -> bool:
    """Whether it is an error of DuckDB, which need not be imported for this."""
    import sys

    found = sys.modules.get("duckdb")
    return found is not None and isinstance(error, found.Error)


def _rows_in(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    return int(connection.execute(f'select count(*) from main."{table}"').fetchall()[0][0])


def _fault_of(file: DataFile) -> str:
    from ragdatakit.database.views import path_fault

    if fault := path_fault(file):
        return fault
    is_packed = file.path.name.lower().endswith(".gz")
    if file.path.suffix.lower() in (".jsonl", ".json") and is_regular(file.path, file.boundary):
        with file.boundary.open(file.path) as lines:
            for number, line in enumerate(lines, start=1):
                if has_deep_line(line):
                    return (
                        f"{file.display}:{number} is nested too deeply (over {MOST_NESTED} levels); SQL cannot read it"
                    )
    if not is_packed and not is_lfs_pointer(file.path, file.boundary):
        return ""
    source = Source(file.path, is_packed, boundary=file.boundary)
    for _ in source.pieces():
        pass
    messages = (f.in_words(file.display) for f in source.faults if f.rule != "mislabelled-compression")
    return next(messages, "")
