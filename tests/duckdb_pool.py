"""Databases of DuckDB in memory that are emptied and used again: to make one takes 20 ms, a sixth of a report.

While `reused` holds, `duckdb.connect` gives a connection to a database that an earlier one was closed on, if there is
one with the same settings. A database that was locked, or that somebody still has a cursor of, is let go of; one that
may use no disk is locked right away, and made each time.
"""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import duckdb

_CHANGED = ("memory_limit", "temp_directory", "threads", "disabled_optimizers")
"""Settings that another user of a database may want otherwise."""
_STATE = """
select current_setting('lock_configuration') or not current_setting('enable_external_access'), database_name
from duckdb_databases()"""
_OWN = {"memory", "system", "temp"}
_numbers = itertools.count(1)
_Key = tuple[tuple[str, str], ...]


class _Pool:
    """The databases, each a DuckDB of its own in which one after the other is attached."""

    def __init__(self, connect: Any, close: Any, cursor: Any) -> None:
        self.connect, self.close, self.cursor = connect, close, cursor
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._free: dict[_Key, list[Any]] = {}
        self._given: dict[int, _Given] = {}

    def give(self, config: dict[str, Any]) -> Any:
        """A connection to an empty database."""
        key = tuple(sorted((name, str(value)) for name, value in config.items() if name not in _CHANGED))
        with self._lock:
            own = self._free[key].pop() if os.getpid() == self._process and self._free.get(key) else None
            if own is None or not _set_up(own, config):
                own = self.connect(config=config)
            name = f"memory_{next(_numbers)}"
            own.execute(f"attach ':memory:' as {name}")
            found = self.cursor(own)
            found.execute(f"use {name}")
            self._given[id(found)] = _Given(own, key, name)
            return found

    def share(self, connection: Any) -> Any:
        """Another connection to the same database."""
        found = self.cursor(connection)
        given = self._given.get(id(connection))
        if given is not None:
            given.cursors.append(weakref.ref(found))
            found.execute(f"use {given.name}")
        return found

    def take_back(self, connection: Any) -> None:
        """A connection was closed."""
        with self._lock:
            given = self._given.pop(id(connection), None)
            if given is not None and not any(cursor() for cursor in given.cursors) and _emptied(given):
                self._free.setdefault(given.key, []).append(given.own)


@dataclass(slots=True)
class _Given:
    own: Any
    key: _Key
    name: str
    cursors: list[weakref.ref[Any]] = field(default_factory=list)
    """Further connections to it, which may live on."""


def _set_up(own: Any, config: dict[str, Any]) -> bool:
    try:
        own.execute(
            "; ".join(f"set global {n} = '{config[n]}'" if n in config else f"reset global {n}" for n in _CHANGED)
        )
    except Exception:  # noqa: BLE001 - another one will do
        return False
    return True


def _emptied(given: _Given) -> bool:
    """Whether nothing is left in it, nor attached to it, and it may be used again."""
    try:
        given.own.execute(f"detach {given.name}")
        return {(False, name) for name in _OWN}.issuperset(given.own.execute(_STATE).fetchall())
    except Exception:  # noqa: BLE001 - what cannot be emptied is not used again
        return False


@contextmanager
def reused() -> Iterator[None]:
    """Use databases in memory again."""
    import duckdb

    kind: Any = duckdb.DuckDBPyConnection
    pool = _Pool(duckdb.connect, kind.close, kind.cursor)
    leave = kind.__exit__

    def connect(database: Any = ":memory:", *args: Any, config: Any = None, **others: Any) -> duckdb.DuckDBPyConnection:
        if database != ":memory:" or args or others or (config or {}).get("temp_directory") == "":
            return pool.connect(database, *args, config=config or {}, **others)
        return pool.give(config or {})

    def close(connection: Any) -> None:
        pool.close(connection)
        pool.take_back(connection)

    def left(connection: Any, *error: Any) -> Any:
        found = leave(connection, *error)
        pool.take_back(connection)
        return found

    def cursor(connection: Any) -> Any:
        return pool.share(connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duckdb, "connect", connect)
        patch.setattr(kind, "close", close)
        patch.setattr(kind, "__exit__", left)
        patch.setattr(kind, "cursor", cursor)
        yield
