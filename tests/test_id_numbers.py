"""Ids of columns as numbers: integers as they are, a few others behind them; equal ids are equal numbers."""

from __future__ import annotations

import random
from typing import Any

import duckdb
import numpy as np
import pytest

from ragdatakit.database.conditions import Condition
from ragdatakit.reports.summary import ids as module
from ragdatakit.reports.summary.ids import IdColumn, IdNumbers

ODD = ["x", "007", "-0", "1.0", None, "99999999999999999999", " 5", "", "123456789012345", "-9000000000000000000"]


class OneConnection:
    """As much of a database as numbering asks for."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.integer_columns: set[Any] = set()

    def load(self, *_: str) -> duckdb.DuckDBPyConnection:
        return self._connection

    def ids(self, *_: str) -> None:
        return None

    text_codes = chosen = ids


def fill(connection: duckdb.DuckDBPyConnection, table: str, chance: random.Random) -> None:
    connection.execute(f"create or replace table {table} (id varchar, grade integer)")
    usual = [str(chance.randint(-5, 300)) for _ in range(chance.randint(1, 600))]
    ids = [chance.choice(ODD) if chance.random() < 0.005 else one for one in usual]
    rows = ", ".join(f"({'null' if one is None else repr(one)}, {chance.randint(0, 1)})" for one in ids)
    connection.execute(f"insert into {table} values {rows}")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("where", [None, Condition("grade", ">", 0)])
def test_equal_ids_are_equal_numbers(seed: int, where: Condition | None, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = duckdb.connect()
    chance = random.Random(seed)
    for table in ("first", "second"):
        fill(connection, table, chance)
    columns = (IdColumn("first", "id"), IdColumn("second", "id", where))
    by_names = module._by_names(connection, columns)[0]
    monkeypatch.setattr(module, "_MOST_ODD", 1)
    monkeypatch.setattr(module, "_by_names", None)

    with IdNumbers(OneConnection(connection)) as ids:  # type: ignore[arg-type]
        found, count = ids.of(*columns)

    named = dict(zip(np.concatenate(found).tolist(), np.concatenate(by_names).tolist(), strict=True))
    assert [named[number] for number in np.concatenate(found).tolist()] == np.concatenate(by_names).tolist()
    assert len(set(named.values())) == len(named)
    assert named.get(-1, -1) == -1
    assert all(-1 <= number < count for number in named)
