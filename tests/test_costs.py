"""The suite says which modules became dearer, whatever the machine, and databases that are used again are empty."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tests.costs import cpu, dearer, recorded

SETTINGS = {"autoinstall_known_extensions": "false", "memory_limit": "100MB"}


def test_a_module_that_costs_more_is_reported_on_a_slow_machine_too() -> None:
    before = {f"test_{n}.py": 2.0 + n for n in range(9)}
    slow = {name: 3 * cost for name, cost in before.items()}

    assert list(dearer(before, before)) == list(dearer(slow, before)) == []
    (found,) = dearer({**slow, "test_4.py": 45.0}, before)
    assert found.startswith("dearer: test_4.py 45.0 (usually 18.0)")
    (found,) = dearer({**slow, "test_new.py": 7.0}, before)
    assert found.startswith("dearer: test_new.py 7.0 (new)")


def test_every_module_that_costs_something_is_recorded() -> None:
    there = {path.name for path in Path(__file__).parent.glob("test_*.py")}

    assert len(recorded().keys() & there) > 200


def test_processes_that_ended_count() -> None:
    before = cpu()
    sum(range(100_000))

    assert cpu() > before


def test_a_database_that_is_used_again_is_empty() -> None:
    for _ in range(3):
        connection = duckdb.connect(config={**SETTINGS, "threads": 1})
        assert connection.execute("select count(*) from duckdb_tables()").fetchone() == (0,)
        assert connection.execute("select current_setting('threads')").fetchone() == (1,)
        connection.execute("create table main.t as select 1 as a; create schema files; create temp table u (a int)")
        connection.execute("set threads = 2")
        with connection.cursor() as other:
            assert other.execute("select a from t").fetchall() == [(1,)]
        connection.close()
        with pytest.raises(duckdb.ConnectionException):
            connection.execute("select 1")


def test_a_database_to_which_others_were_attached_is_not_used_again() -> None:
    for _ in range(2):
        with duckdb.connect(config=dict(SETTINGS)) as connection:
            connection.execute("attach ':memory:' as other")


def test_a_locked_database_is_not_used_again() -> None:
    with duckdb.connect(config=dict(SETTINGS)) as connection:
        connection.execute("set enable_external_access = false; set lock_configuration = true")
    with duckdb.connect(config=dict(SETTINGS)) as connection:
        connection.execute("set enable_progress_bar = false")
