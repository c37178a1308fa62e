"""Rows that conditions choose outside of the database: those that SQL chooses."""

from __future__ import annotations

from collections.abc import Callable

import duckdb
import numpy as np
import pytest

from ragdatakit.database.columns import packed
from ragdatakit.database.conditions import Condition
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.id_tables import IdTable
from ragdatakit.database.row_batches import schema_of
from ragdatakit.scanner.library import library

QRELS = (
    ("q1", "d1", 2, "document", "train", None),
    ("q1", "d2", 0, "chunk", "it's", "x"),
    ("q2", "d1", -1, "document", None, None),
    ("q3", "d3", 1, "node", "train", ""),
)
CONDITIONS = (
    Condition("grade", ">", 0),
    Condition("grade", "<=", 0),
    Condition("target_kind", "=", "document"),
    Condition("target_kind", "=", "other"),
    Condition("target_kind", "not in", ("document", "chunk")),
    Condition("node_type", "not in", ("x",)),
    Condition("split", "=", "it's"),
    Condition("split", "is not null"),
    Condition("question_id", "is not null"),
)


def held() -> HeldRows:
    rows = HeldRows("qrels")
    rows.most = 1 << 20
    columns = zip(schema_of("qrels").values(), zip(*QRELS, strict=True), strict=True)
    assert rows.take(iter([[packed(kind, values) for kind, values in columns]])) is None
    return rows


def ids() -> IdTable:
    table = IdTable("qrels", ("question_id", "target_id"))
    for split in ("train", "it's", None):
        table.add(split, [np.array([1, 2], np.int64)] * 2, {})
    return table


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize("table", [held, ids])
def test_sql_chooses_the_same_rows(condition: Condition, table: Callable[[], HeldRows | IdTable]) -> None:
    if table is held and library() is None:
        pytest.skip("rows are held with the compiled library only")
    rows = table()
    chosen = rows.chosen(condition)
    assert chosen is not None
    with duckdb.connect() as connection:
        rows.give(connection)
        query = f"select coalesce({condition.sql}, false) from main.qrels order by rowid"
        assert chosen.tolist() == [found for (found,) in connection.execute(query).fetchall()]


def test_what_ids_are_is_not_known() -> None:
    assert ids().chosen(Condition("target_id", "=", "1")) is None
