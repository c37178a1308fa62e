"""A dataset that is explored: its tables are loaded in the background, and asked by pages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ragdatakit.api.explorer.jobs import Waiting
from ragdatakit.api.explorer.references import IDS, LABELS, LISTS, named_by, naming, only_of_kind
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.reports.html.explorer.values import DatasetState, RecordList, Related, TableState, Target, Wanted
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.options import ReportOptions
    from ragdatakit.schemas.summaries import Summary


class NoSuchPageError(LookupError):
    """There is no such dataset, table or record."""


PAGE = 50
"""Records on a page."""
_MOST_RELATED, _CELL, _LABEL, _LONGEST, _MOST_IDS = 20, 300, 160, 200_000, 200
_KEPT = 8
"""Orders of rows that are kept, so that the next page of them takes no time."""
_HIDDEN = {"assets": ("content",)}
_ORDER_OF_FIELDS = "field_order"


class OpenedDataset:
    """The tables of a dataset. They are read one after the other by `load`; a page of a table that is still read shows
    its first records."""

    def __init__(self, number: int, found: FoundDataset, database: DatasetDatabase) -> None:
        self.number, self.found, self.database = number, found, database
        self._lock = threading.Lock()
        self._orders_lock = threading.Lock()
        self._closed = False
        self._counts: dict[str, int] = {}
        self._faults: dict[str, str] = {}
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._types: dict[str, dict[str, str]] = {}
        self._orders: OrderedDict[tuple[str, Wanted, tuple[str, ...]], Any] = OrderedDict()

    def load(self) -> None:
        """Read all tables. What cannot be read is said by `state`."""
        import duckdb

        for table in self.database.tables:
            with self._lock:
                if self._closed:
                    return
                try:
                    self._connection = self.database.load(table)
                    types = f"select column_name, column_type from (describe main.{sql_name(table)})"
                    self._types[table] = dict(self._connection.cursor().execute(types).fetchall())
                    self._counts[table] = self.database.count(table)
                except (RagdataError, OSError, duckdb.Error) as error:
                    self._faults[table] = str(error)

    def summarized(self, options: ReportOptions) -> Summary:
        """What is in it, in numbers, when all tables have been read."""
        from ragdatakit.api.report import label_graph, summary_of

        with self._lock:
            if self._closed:
                raise RagdataError("the explorer was closed")
            summary = summary_of(self.found, self.database, options)
            label_graph(self.found, summary)
            return summary

    def close(self) -> None:
        """Stop what is being read, and let go of the database."""
        self._closed = True
        if self._connection is not None:
            self._connection.interrupt()
        with self._lock:  # a table that is being read from its rows is read to its end
            self.database.close()

    @property
    def state(self) -> DatasetState:
        """What is known of it by now."""
        names = self.database.tables
        return DatasetState(
            self.number,
            self.found.name,
            self.found.source.format,
            self.found.source.display,
            [TableState(name, self._counts.get(name), self._faults.get(name, "")) for name in names],
            [f"{loss.table}: {loss.reason} ({loss.count:,})" for loss in islice(self.database.losses, _MOST_RELATED)],
        )

    def records(self, table: str, wanted: Wanted, ids: Collection[str] = ()) -> RecordList:
        """A page of records. ``ids`` are of those that findings of the rule are about."""
        columns = self._columns(table)
        if table in self._faults:
            raise RagdataError(self._faults[table])
        if table not in self._counts:
            named = TABLES[table].columns
            first = islice(self.database.rows(table), PAGE)
            rows = [(None, [_shown(row[named.index(column)]) for column in columns]) for row in first]
            return RecordList(table, Wanted(), columns, rows, None)
        at = self._cursor()
        plain = wanted == Wanted(first=wanted.first)
        total = self._counts[table]
        if plain:
            numbers = range(wanted.first, min(wanted.first + PAGE, total))
        else:
            order = self._order(at, table, wanted, tuple(ids))
            total, numbers = len(order), order[wanted.first : wanted.first + PAGE].tolist()
        cells = ", ".join(self._cell(table, column) for column in columns)
        query = f"select rowid, {cells} from main.{sql_name(table)} where rowid in (select unnest(?::bigint[]))"
        found = {row[0]: row[1:] for row in at.execute(query, [[*numbers]]).fetchall()}
        return RecordList(table, wanted, columns, [(n, found[n]) for n in numbers if n in found], total)

    def record(self, table: str, row: int) -> dict[str, Any]:
        """The values of a record. Raises `NoSuchPageError` where there is none, `Waiting` while the table is read."""
        columns = self._columns(table, all_of_them=True)
        if table in self._faults:
            raise RagdataError(self._faults[table])
        if table not in self._counts:
            raise Waiting(f"reading {table}")
        at = self._cursor()
        cells = ", ".join(_whole(column, self._types[table][column]) for column in columns)
        found = at.execute(f"select {cells} from main.{sql_name(table)} where rowid = ?", [row]).fetchone()
        if found is None:
            raise NoSuchPageError
        return dict(zip(columns, found, strict=True))

    def targets(self, table: str, values: dict[str, Any]) -> dict[str, list[Target]]:
        """The records that this one names, by its column."""
        found = {}
        for column, tables in named_by(table):
            given = values.get(column)
            ids = [*map(str, given)] if isinstance(given, list | tuple) else [given] if given is not None else []
            if table == "qrels" and column == "target_id":
                tables = tuple(name for name in tables if name == f"{values.get('target_kind')}s")
            if ids:
                labels = self.labels(tables, ids[:_MOST_IDS])
                found[column] = [labels.get(each, Target(each)) for each in ids[:_MOST_IDS]]
        return found

    def related(self, table: str, values: dict[str, Any]) -> Iterator[Related]:
        """The records that name this one."""
        key = IDS.get(table)
        if key is None or values.get(key) is None:
            return
        identity, at = values[key], self._cursor()
        for owner, column in naming(table):
            if owner not in self._counts:
                continue
            name = sql_name(column)
            where = f"list_contains({name}, ?)" if (owner, column) in LISTS else f"{name} = ?"
            source = f"from main.{sql_name(owner)} where {where} and {only_of_kind(owner, column, table)}"
            (total,) = at.execute(f"select count(*) {source}", [identity]).fetchone() or (0,)
            if total:
                columns = self._columns(owner)
                cells = ", ".join(self._cell(owner, each) for each in columns)
                query = f"select rowid, {cells} {source} order by rowid limit {_MOST_RELATED}"
                rows = at.execute(query, [identity]).fetchall()
                yield Related(owner, column, identity, total, [*self._with_labels(owner, column, columns, rows)])

    def labels(self, tables: Sequence[str], ids: Sequence[str]) -> dict[str, Target]:
        """Records by their ids, looked for in these tables."""
        found: dict[str, Target] = {}
        for table in tables:
            missing = [each for each in ids if each not in found]
            if table in self._counts and missing:
                query = f"""select {IDS[table]}, left({LABELS[table]}, {_LABEL + 1}), min(rowid) from main.{table}
                            where {IDS[table]} in (select unnest(?::varchar[])) group by all"""
                for identity, label, row in self._cursor().execute(query, [missing]).fetchall():
                    found.setdefault(identity, Target(identity, shortened(label or "", _LABEL), table, row))
        return found

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows of a query of our own over the tables that are loaded."""
        return self._cursor().execute(query, values).fetchall()

    def count(self, table: str) -> int | None:
        """The rows of a table; None where it has not been read (yet)."""
        return self._counts.get(table)

    def _with_labels(
        self, owner: str, but: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> Iterator[tuple[int, list[Target], dict[str, Any]]]:
        """Rows of a table, with the other records that each names, and its other values."""
        others = [(column, tables) for column, tables in named_by(owner) if column != but and column in columns]
        places = {column: columns.index(column) + 1 for column in columns}
        labels = {
            column: self.labels(tables, [row[places[column]] for row in rows if row[places[column]] is not None])
            for column, tables in others
            if (owner, column) not in LISTS
        }
        own = IDS.get(owner)
        for row in rows:
            named = [
                found.get(row[places[column]], Target(row[places[column]]))
                for column, found in labels.items()
                if row[places[column]] is not None
            ]
            if own:
                named.insert(0, Target(row[places[own]], "", owner, row[0]))
            left = {c: row[places[c]] for c in columns if c not in labels and c not in (but, own)}
            yield row[0], named, left

    def _order(self, at: duckdb.DuckDBPyConnection, table: str, wanted: Wanted, ids: tuple[str, ...]) -> Any:
        """The row numbers of all records that are wanted, in order."""
        key = (table, Wanted(wanted.search, wanted.equal, wanted.rule, wanted.sort, wanted.down), ids)
        with self._orders_lock:
            if key in self._orders:
                self._orders.move_to_end(key)
                return self._orders[key]
        found = at.execute(*self._ordered(table, wanted, ids)).fetchnumpy()["rowid"]
        with self._orders_lock:
            self._orders[key] = found
            while len(self._orders) > _KEPT:
                self._orders.popitem(last=False)
        return found

    def _ordered(self, table: str, wanted: Wanted, ids: tuple[str, ...]) -> tuple[str, list[Any]]:
        """The query for these row numbers, and its values."""
        columns = self._columns(table)
        conditions: list[str] = ["true"]
        values: list[Any] = []
        if wanted.search:
            texts = [f"contains(lower({self._text(table, c)}), lower(?))" for c in columns]
            conditions.append(f"({' or '.join(texts)})")
            values += [wanted.search] * len(texts)
        for column, value in wanted.equal:
            if column in columns:
                is_list = (table, column) in LISTS
                text = f"list_contains({sql_name(column)}, ?)" if is_list else f"{self._text(table, column)} = ?"
                conditions.append(text)
                values.append(value)
        if wanted.rule:
            conditions.append(f"{IDS[table]} in (select unnest(?::varchar[]))" if table in IDS else "false")
            values += [[*ids]] if table in IDS else []
        sort = f"{sql_name(wanted.sort)} {'desc' if wanted.down else 'asc'} nulls last, " * (wanted.sort in columns)
        return f"select rowid from main.{sql_name(table)} where {' and '.join(conditions)} order by {sort}rowid", values

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            raise RagdataError("the dataset is still being read; try again in a moment")
        return self._connection.cursor()

    def _columns(self, table: str, *, all_of_them: bool = False) -> list[str]:
        """The columns that are shown. Raises `NoSuchPageError` for a table that the dataset has not."""
        if table not in self.database.tables:
            raise NoSuchPageError
        hidden = (*_HIDDEN.get(table, ()), *(() if all_of_them else (_ORDER_OF_FIELDS,)))
        found = (column for column in TABLES[table].columns if column not in hidden)
        return sorted(found, key=lambda column: column == "text")  # the longest is last

    def _text(self, table: str, column: str) -> str:
        """A column as text, in SQL."""
        kind = self._types[table][column]
        if kind.endswith("[]"):
            return f"array_to_string({sql_name(column)}, ', ')"
        return sql_name(column) if kind == "VARCHAR" else f"{sql_name(column)}::varchar"

    def _cell(self, table: str, column: str) -> str:
        """A column as it is in a list of records: cut."""
        kind = self._types[table][column]
        return f"left({self._text(table, column)}, {_CELL})" if kind in ("VARCHAR", "VARCHAR[]") else sql_name(column)


def _whole(column: str, kind: str) -> str:
    return f"left({sql_name(column)}, {_LONGEST})" if kind == "VARCHAR" else sql_name(column)


def _shown(value: Any) -> Any:
    if isinstance(value, tuple | list):
        value = ", ".join(map(str, value))
    return value[:_CELL] if isinstance(value, str) else value
