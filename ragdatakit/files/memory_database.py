"""A DuckDB database in memory, as all of ours are: it loads no extension, and draws no progress bar of its own."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb


def memory_database(settings: Mapping[str, str | int]) -> duckdb.DuckDBPyConnection:
    """A database of its own with these settings of DuckDB."""
    import duckdb

    fixed = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
    connection = duckdb.connect(config={**fixed, **settings})
    without_progress_bar(connection)
    return connection


def without_progress_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Long statements draw nothing on the terminal.

    In a notebook without ipywidgets DuckDB has no bar to draw, and refuses to set whether it does.
    """
    import duckdb

    with suppress(duckdb.InvalidInputException):
        connection.execute("set enable_progress_bar = false")
