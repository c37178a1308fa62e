"""Several datasets in one database, for queries across them; each is opened when a query names it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragdatakit.database.dataset_database import USUAL_MEMORY, DatasetDatabase, SharedConnection

if TYPE_CHECKING:
    import duckdb

Opener = Callable[[SharedConnection], DatasetDatabase]


class DatabaseGroup:
    """Datasets by name, in one database in memory. Use it in a ``with`` block.

    ``openers`` make the database of a dataset in the shared one, or raise `RagdataError` where it cannot be read;
    ``memory_limit`` is for all of them together, in bytes.
    """

    def __init__(self, openers: Mapping[str, Opener], memory_limit: int = 0) -> None:
        self._openers = dict(openers)
        self._shared = SharedConnection(memory_limit or USUAL_MEMORY)
        self._opened: dict[str, DatasetDatabase] = {}
        self.names = tuple(openers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for database in self._opened.values():
            database.close()
        self._shared.close()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """The connection that sees all datasets that were opened."""
        return self._shared.connection

    def open(self, name: str) -> DatasetDatabase:
        """The database of a dataset; its tables are not filled. Raises `RagdataError` where it cannot be read."""
        if name not in self._opened:
            database = self._openers[name](self._shared)
            database.load()
            self._opened[name] = database
        return self._opened[name]


class SingleDatabase:
    """One dataset, whose tables are under their own names, in the place of a group."""

    names = ("",)

    def __init__(self, database: DatasetDatabase) -> None:
        self._database = database
        self.connection = database.load()

    def open(self, _name: str) -> DatasetDatabase:
        """The database of the dataset."""
        return self._database
