"""Databases in memory: without extensions, without a progress bar, in notebooks, too."""

from __future__ import annotations

import duckdb

from ragdatakit.files.memory_database import memory_database, without_progress_bar


def test_settings_are_taken_and_nothing_is_loaded_by_itself() -> None:
    with memory_database({"threads": 1}) as connection:
        settings = dict(connection.execute("select name, value from duckdb_settings()").fetchall())

    assert settings["threads"] == "1"
    assert settings["autoload_known_extensions"] == settings["autoinstall_known_extensions"] == "false"
    assert settings["enable_progress_bar"] == "false"


def test_a_notebook_without_ipywidgets_refuses_to_set_the_bar() -> None:
    class InNotebook:
        def execute(self, statement: str) -> None:
            raise duckdb.InvalidInputException("required package 'ipywidgets' is missing")

    without_progress_bar(InNotebook())  # type: ignore[arg-type]
