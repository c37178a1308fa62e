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
from ragdatakit.scanner.library import library
from ragdatakit.scanner.texts import joined, lengths_and_codes

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


class Held(OneConnection):
    """Rows of tables that a database does not hold, each an id or none; codes of them are known, or are not."""

    def __init__(self, tables: dict[str, list[str | None]], are_known: bool) -> None:
        super().__init__(duckdb.connect())
        self._tables, self._are_known = tables, are_known
        for table, ids in tables.items():
            self._connection.execute(f"create table {table} (id varchar)")
            self._connection.executemany(f"insert into {table} values (?)", [[one] for one in ids])

    def count(self, table: str) -> int:
        return len(self._tables[table])

    def text_codes(self, table: str, _: str) -> Any:  # type: ignore[override]
        if not self._are_known:
            return None
        ids = self._tables[table]
        data, offsets = joined([(one or "").encode() for one in ids])
        codes = lengths_and_codes(np.frombuffer(data, np.uint8), offsets)[1]
        return codes, np.array([one is not None for one in ids]), None


@pytest.mark.skipif(library() is None, reason="codes are made by the scanner")
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("are_known", [True, False])
def test_ids_that_others_have_too(seed: int, are_known: bool) -> None:
    chance = random.Random(seed)
    names = [*(f"DOC-{number}" for number in range(60)), "", None]
    tables = {table: chance.choices(names, k=chance.randint(1, 90)) for table in ("first", "second", "third")}
    one, *others = (IdColumn(table, "id") for table in tables)

    with IdNumbers(Held(tables, are_known)) as ids:  # type: ignore[arg-type]
        for source, *those in ([one, *others], [one, others[0]], [others[0], one], [others[1], one]):
            known = {name for column in those for name in tables[column.table]} - {None}
            assert ids.named(source, *those).tolist() == [name in known for name in tables[source.table]]
