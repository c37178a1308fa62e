"""Databases of datasets copied to a DuckDB file that stays."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.files.paths.writing import named, part_of
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import duckdb

_STORAGE = "v1.0.0"
"""The oldest that has all the types: DuckDB 1.0 and later open the file."""
_MAGIC = b"DUCK"


class DatabaseFile:
    """A DuckDB file that databases are copied to, each to a schema of its own (``main`` where there is only one).

    It is written next to its place and moved there when the ``with`` block ends without an exception. The table
    ``datasets`` of schema ``main`` lists what is in it, ``losses`` what is not. Raises `RagdataError` where there is a
    file that is no DuckDB database; a database is replaced.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._part = path
        self._place = ExitStack()
        self._rows: list[tuple[str, str, str, str]] = []
        self._losses: list[tuple[str, str, str | None, str | None, str, int, bool]] = []

    def __enter__(self) -> Self:
        if self.path.is_dir() or (self.path.exists() and not _is_database(self.path)):
            raise RagdataError(f"{self.path} exists and is not a DuckDB database; it is not replaced")
        if not self.path.parent.is_dir():
            raise RagdataError(f"{self.path.parent} is not a folder")
        try:
            self._part = self._place.enter_context(part_of(self.path.absolute()))
        except OSError as error:
            raise named(error, self.path.absolute(), self.path) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._place:
            if kind is None:
                self._list()
                self._part.replace(self.path)

    def add(self, database: DatasetDatabase, schema: str = "main", path: str = "") -> None:
        """Copy the tables of a database to a schema of the file, except for those of which nothing could be read;
        ``path`` is what its user called the dataset."""
        connection = database.connection()
        with self._attached(connection):
            if schema != "main":
                connection.execute(f"create schema saved.{sql_name(schema)}")
            for table in (name for name in database.tables if name not in database.unread):
                columns = ", ".join(map(sql_name, TABLES[table].columns))
                connection.execute(
                    f"create table saved.{sql_name(schema)}.{sql_name(table)} as "
                    f"select {columns} from main.{sql_name(table)}"
                )
        self._rows.append((schema, path, database.format, database.name))
        self._losses += [
            (schema, loss.kind, loss.table, loss.column, loss.reason, loss.count, loss.unread)
            for loss in database.losses
        ]

    def leave_out(self, schema: str, reason: str) -> None:
        """Say why a dataset that would have a schema is not in the file."""
        self._losses.append((schema, "dropped", None, None, reason, 1, True))

    @contextmanager
    def _attached(self, connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
        """The file as ``saved``; much of it is written only when the block ends."""
        import duckdb

        try:
            connection.execute(f"attach {sql_text(str(self._part))} as saved (storage_version '{_STORAGE}')")
            try:
                yield
            except BaseException:
                with suppress(duckdb.Error):  # else it would hide what went wrong first
                    connection.execute("detach saved")
                raise
            connection.execute("detach saved")
        except duckdb.Error as error:
            refuse_machine_fault(error)
            if os.strerror(errno.ENOSPC) in str(error):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path)) from None
            reason = str(error).splitlines()[-1].rpartition("Original error: ")[2]
            reason = reason.replace(str(self._part), str(self.path))
            raise RagdataError(f"{self.path} cannot be written: {reason}") from None

    def _list(self) -> None:
        import duckdb

        with duckdb.connect(config={"autoinstall_known_extensions": "false"}) as connection, self._attached(connection):
            connection.execute(
                'create table saved.main.datasets ("schema" varchar, path varchar, format varchar, name varchar)'
            )
            if self._rows:
                connection.executemany("insert into saved.main.datasets values (?, ?, ?, ?)", self._rows)
            connection.execute(
                'create table saved.main.losses ("schema" varchar, kind varchar, "table" varchar, "column" varchar, '
                "reason varchar, count bigint, unread boolean)"
            )
            if self._losses:
                connection.executemany("insert into saved.main.losses values (?, ?, ?, ?, ?, ?, ?)", self._losses)


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(12)[8:] == _MAGIC
