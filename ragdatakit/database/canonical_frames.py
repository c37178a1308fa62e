"""Canonical tables for people at work: as DuckDB relations, Arrow tables, pandas frames, or rows."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from ragdatakit.files.boundary import read_listed
from ragdatakit.files.canonical_tables import CanonicalTables
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MissingExtraError, RagdataError, UnknownNameError

if TYPE_CHECKING:
    import duckdb
    import pandas as pd
    import pyarrow as pa

_BATCH_ROWS = 8192


class Dataset:
    """One dataset as canonical tables.

    ``name`` is what it is called, ``format`` where it comes from, ``tables`` the names of the tables it has, ``losses``
    what could not be read so far. Tables are read when they are asked for; relations are kept in a database in a
    scratch folder that goes away with `close` (or the end of the ``with`` block).
    """

    def __init__(self, tables: CanonicalTables) -> None:
        self._tables = tables
        self.name = tables.name
        self.format = tables.format
        self.tables = tuple(name for name in TABLES if name in tables)
        self._connection: duckdb.DuckDBPyConnection | None = None
        self._scratch: ScratchFolder | None = None
        self._loaded: set[str] = set()

    def __repr__(self) -> str:
        return f"Dataset({self.name!r}, {self.format!r}: {', '.join(self.tables) or 'no tables'})"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def losses(self) -> Losses:
        """What could not be read, or only in another form; whole once all tables are read."""
        return self._tables.losses

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of a table as named tuples, streamed. Raises `UnknownNameError` for a table it does not have."""
        self._refuse_unknown(table)
        return self._tables.peek(table)

    def batches(self, table: str) -> Iterator[pa.RecordBatch]:
        """The rows of a table as Arrow record batches of at most 8,192 rows, streamed."""
        import pyarrow as pa

        self._refuse_unknown(table)
        schema = arrow_schema(table)
        rows = self._tables.peek(table)
        while chunk := list(islice(rows, _BATCH_ROWS)):
            columns = zip(*chunk, strict=True)
            arrays = []
            for values, field in zip(columns, schema, strict=True):
                try:
                    arrays.append(pa.array(_plain(values, field.name), field.type))
                except (OverflowError, UnicodeEncodeError, pa.ArrowException) as error:
                    told = f"{table}.{field.name} of {self.name} has a value that is not of type {field.type}: {error}"
                    raise RagdataError(f"{told}; take its rows instead") from None
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def arrow(self, table: str) -> pa.Table:
        """The whole table in memory, as an Arrow table."""
        import pyarrow as pa

        return pa.Table.from_batches(list(self.batches(table)), schema=arrow_schema(table))

    def pandas(self, table: str) -> pd.DataFrame:
        """The whole table in memory, as a pandas frame. Raises `MissingExtraError` without pandas."""
        try:
            import pandas as pd  # noqa: F401 - Arrow needs it
        except ImportError:
            raise MissingExtraError("frames", "pandas") from None
        return self.arrow(table).to_pandas()

    def relation(self, table: str) -> duckdb.DuckDBPyRelation:
        """The table as a DuckDB relation of `connection`."""
        self._refuse_unknown(table)
        self._load(table)
        return self._connect().table(table)

    def connection(self) -> duckdb.DuckDBPyConnection:
        """A database with all the tables in it, for SQL over several of them."""
        for table in self.tables:
            self._load(table)
        return self._connect()

    def close(self) -> None:
        """Let go of the database and its scratch folder."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._scratch is not None:
            self._scratch.remove()
            self._scratch = None
        self._loaded.clear()

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if self._connection is None:
            import duckdb

            self._scratch = ScratchFolder()
            path = self._scratch.path / "tables.duckdb"
            self._connection = duckdb.connect(str(path), config={"autoinstall_known_extensions": False})
        return self._connection

    def _load(self, table: str) -> None:
        if table in self._loaded:
            return
        import pyarrow as pa

        connection = self._connect()
        reader = pa.RecordBatchReader.from_batches(arrow_schema(table), self.batches(table))
        connection.register("incoming_rows", reader)
        connection.execute(f'create or replace table "{table}" as select * from incoming_rows')
        connection.unregister("incoming_rows")
        self._loaded.add(table)

    def _refuse_unknown(self, table: str) -> None:
        if table not in self.tables:
            raise UnknownNameError("table", table, self.tables, where=f"of {self.name}")


def _plain(values: tuple[Any, ...], column: str) -> list[Any]:
    return [read_listed(v) if isinstance(v, Path) else v for v in values] if column == "content" else list(values)


def arrow_schema(table: str) -> pa.Schema:
    """The Arrow types of a table's columns: text, int64, float64, lists of text, bytes."""
    import pyarrow as pa

    kinds = {
        str: pa.string(),
        int: pa.int64(),
        float: pa.float64(),
        bytes: pa.large_binary(),
        tuple: pa.list_(pa.string()),
    }
    fields = []
    for name, hint in typing.get_type_hints(TABLES[table].row).items():
        options = typing.get_args(hint) if typing.get_origin(hint) is not tuple else (tuple,)
        first = next((k for k in kinds if k is hint or k in options), str)
        fields.append(pa.field(name, kinds[first]))
    return pa.schema(fields)
