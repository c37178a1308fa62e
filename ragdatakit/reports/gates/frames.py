"""The tables of a dataset as pandas frames of the columns that are wanted, with what is derived from them.

What a table has besides its own columns is reported in `ragdatakit.reports.gates.derived_columns`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.reports.gates.derived_columns import (
    DAMAGED,
    FOUND,
    KEYS,
    LANGUAGE,
    LENGTH,
    REFERENCES,
    SHARE,
    damage_of,
    derived_names,
    guess_languages,
    length_of,
    split_name,
)
from ragdatakit.reports.gates.suites import FILES
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import MissingExtraError, RagdataError, UnknownNameError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from ragdatakit.database.dataset_database import DatasetDatabase

_KIND_OF_TARGET = {"documents": "document", "chunks": "chunk", "nodes": "node"}
_PLAIN = ("VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "BLOB")
_USUAL_WIDTH = 8


class GateFrames:
    """Frames of one dataset's tables.

    ``sample_rows`` is how many rows of a table are taken at most (0: all), chosen by their place and always the same;
    ``most_bytes`` is what one frame may take.
    """

    def __init__(self, database: DatasetDatabase, sample_rows: int = 0, most_bytes: int = 1 << 30) -> None:
        self._database, self._sample, self._most = database, sample_rows, most_bytes
        self._types: dict[str, dict[str, str]] = {}
        self._rows: dict[str, int] = {}
        self._copies: dict[str, str] = {}
        self._made: set[str] = set()

    def __contains__(self, table: str) -> bool:
        if table.startswith(FILES):
            self._database.load()
            return table.removeprefix(FILES) in self._database.views
        return table in self._database.tables

    def names(self) -> list[str]:
        """The tables that there are."""
        self._database.load()
        return [*self._database.tables, *(f"{FILES}{view}" for view in self._database.views)]

    def own_columns(self, table: str) -> list[str]:
        """The columns of a table itself, in order. Canonical ones are known for tables that the dataset lacks, too."""
        if not table.startswith(FILES):
            return list(TABLES[table].columns)
        return list(self.types(table))

    def columns(self, table: str) -> list[str]:
        """All columns that can be asked for: its own, then the derived ones."""
        own, types = self.own_columns(table), self.types(table) if table in self else {}
        derived = (name for c in own for name in derived_names(table, c, types.get(c, "VARCHAR")))
        return [*own, *(name for name in derived if name not in own)]

    def check(self, table: str, columns: Iterable[str]) -> None:
        """Raise `UnknownNameError` for a column that the table does not have."""
        known = self.columns(table)
        for column in columns:
            if column not in known:
                raise UnknownNameError("column", column, known, where=f"of {table}")

    def types(self, table: str) -> dict[str, str]:
        """DuckDB's types of a table's own columns."""
        if table not in self._types:
            connection, name = self._source(table)
            described = connection.execute(f"describe {name}").fetchall()
            self._types[table] = {str(column): str(kind) for column, kind, *_ in described}
        return self._types[table]

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        if table not in self._rows:
            connection, name = self._source(table)
            self._rows[table] = _number(connection, f"select count(*) from {name}")
        return self._rows[table]

    def checked(self, table: str) -> int:
        """How many of them are looked at."""
        return min(self.rows(table), self._sample) if self._sample else self.rows(table)

    def expression(self, table: str, column: str) -> str:
        """The SQL of a column, its own or derived; lists and objects are JSON text."""
        types = self.types(table)
        if column in types:
            kind, name = types[column], sql_name(column)
            if kind == "DOUBLE":  # pandas and the library take NaN for a missing value
                return f"case when not isnan({name}) then {name} end"
            return name if kind in _PLAIN else f"{name}::varchar" if kind == "JSON" else f"to_json({name})::varchar"
        own, what = split_name(column)
        name, kind = sql_name(own), types[own]
        if what == LENGTH:
            return length_of(name, kind)
        if what == FOUND:
            return self._found(table, own)
        if what == DAMAGED:
            return damage_of(name)
        assert what in (SHARE, LANGUAGE), what
        kept = self._kept(table, own, what)
        at = f"{self._source(table)[1]}.rowid" if what == LANGUAGE else self.expression(table, own)
        return f'(select "gate value" from {kept} where "gate place" = {at})'

    def _kept(self, table: str, column: str, what: str) -> str:
        """A table of the values of a derived column that are made once."""
        kept = sql_name(f"gate {table}.{column}{what}")
        if kept not in self._made:
            connection, name = self._source(table)
            value = self.expression(table, column)
            if what == LANGUAGE:
                guess_languages(connection, name, sql_name(column), kept)
            else:
                connection.execute(
                    f'create or replace temp table {kept} as select {value} as "gate place", '
                    f'count(*) / sum(count(*)) over () as "gate value" from {name} where {value} is not null group by 1'
                )
            self._made.add(kept)
        return kept

    def _found(self, table: str, column: str) -> str:
        name, parts = sql_name(column), []
        for target in REFERENCES[table, column]:
            if target in self._database.tables:
                self._database.load(target)
                key = KEYS[target]
                part = f"{name} in (select {key} from main.{target} where {key} is not null)"
                if column == "target_id":
                    part = f"(target_kind = '{_KIND_OF_TARGET[target]}' and {part})"
                parts.append(part)
        return f"case when {name} is null then null when {' or '.join(parts) or 'false'} then 1 else 0 end"

    def ask(self, table: str, query: str) -> tuple[object, ...]:
        """The first row of a query whose ``{table}`` stands for a table."""
        connection, name = self._source(table)
        rows = connection.execute(query.replace("{table}", name)).fetchall()
        return tuple(rows[0]) if rows else ()

    def values(self, table: str, query: str) -> list[object]:
        """The first column of a query whose ``{table}`` stands for a table."""
        connection, name = self._source(table)
        return [row[0] for row in connection.execute(query.replace("{table}", name)).fetchall()]

    def pairs(self, table: str, query: str) -> list[tuple[object, int]]:
        """Values and their counts: the rows of a query whose ``{table}`` stands for a table."""
        connection, name = self._source(table)
        return [(value, int(count)) for value, count in connection.execute(query.replace("{table}", name)).fetchall()]

    def frame(self, table: str, columns: Sequence[str], digests: bool = False) -> pd.DataFrame:
        """These columns of a table's rows, or of the sample of them; with ``digests``, digests of their texts.

        Raises `RagdataError` where they are too big.
        """
        try:
            import pandas as pd
            import pyarrow as pa  # noqa: F401 - DuckDB gives frames by it
        except ImportError:
            raise MissingExtraError("gates", "pandas and pyarrow") from None
        if not columns:
            return pd.DataFrame(index=range(self.rows(table)))
        connection, name = self._source(table)
        source = name
        if self.checked(table) < self.rows(table):
            wanted = f"select rowid from {name} order by hash(rowid), rowid limit {self._sample}"
            source = f"{name} where rowid in ({wanted}) order by rowid"
        if not digests:
            self._refuse_size(table, columns)
        parts = [f"{self._taken(table, c, digests)} as {sql_name(c)}" for c in columns]
        relation = connection.sql(f"select {', '.join(parts)} from {source}")
        return relation.to_arrow_table().to_pandas()

    def _taken(self, table: str, column: str, digests: bool) -> str:
        value = self.expression(table, column)
        if not digests or not self._wide(table, column):
            return value
        return f"case when {value} is not null then hash({value})::varchar end"

    def empty(self, table: str) -> pd.DataFrame:
        """All columns of a table itself, without rows."""
        import pandas as pd

        return pd.DataFrame({column: [] for column in self.own_columns(table)})

    def size(self, table: str, columns: Sequence[str]) -> int:
        """About how many bytes a frame of these columns takes."""
        rows = self.rows(table)
        wide = [c for c in columns if self._wide(table, c)]
        texts = [f"coalesce(sum(strlen({self.expression(table, c)}::varchar)), 0)" for c in wide]
        connection, name = self._source(table)
        size = rows * _USUAL_WIDTH * len(columns)
        if texts:
            size += _number(connection, f"select {' + '.join(texts)} from {name}")
        return int(size * self.checked(table) / max(rows, 1))

    def _refuse_size(self, table: str, columns: Sequence[str]) -> None:
        if (size := self.size(table, columns)) > self._most:
            reason = f"{', '.join(columns)} of {table} take {size / (1 << 30):.1f} GiB in memory"
            raise RagdataError(f"{reason}; --sample-rows N checks N rows, --memory-limit allows more")

    def _wide(self, table: str, column: str) -> bool:
        return self.types(table).get(column, "BIGINT") not in ("BIGINT", "INTEGER", "DOUBLE", "BOOLEAN")

    def _source(self, table: str) -> tuple[duckdb.DuckDBPyConnection, str]:
        """The connection, and what the table is called there. A view of files is copied, so that it is read once."""
        import duckdb

        if not table.startswith(FILES):
            return self._database.load(table), f"main.{sql_name(table)}"
        connection = self._database.add_views()
        if table not in self._copies:
            copy = sql_name(f"gate {table}")
            try:
                connection.execute(f"create temp table {copy} as from files.{sql_name(table.removeprefix(FILES))}")
            except duckdb.Error as error:
                refuse_machine_fault(error)
                raise RagdataError(f"{table} cannot be read: {str(error).splitlines()[0]}") from None
            self._copies[table] = copy
        return connection, self._copies[table]


def _number(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])
