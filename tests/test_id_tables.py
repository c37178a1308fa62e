"""Tables of ids in arrays: what DuckDB is given of them is what they say without it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from ragdatakit.api.report import report
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.database import dataset_database, id_tables
from ragdatakit.database.id_tables import IdTable, far_from_most
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import TABLES

X = '"x"'
NAMES = ("question_id", "positive_id", "negative_id")


def filled() -> IdTable:
    table = IdTable("triplets", NAMES)
    table.begin(4)
    for split, rows, odd in (
        ("train", [[1, 10, 11], [0, 0, 12]], {1: ("q", " ", None)}),
        ("train", [[-3, 1 << 62, 0]], {0: (None, None, "007")}),
        (None, [[2, 10, 13], [1, 11, 10]], {}),
        ("dev", [[4, 10, 13]], {}),
    ):
        table.add(split, [np.array(column, np.int64) for column in zip(*rows, strict=True)], odd)
    return table


def test_the_database_is_given_what_the_arrays_say() -> None:
    table = filled()
    with duckdb.connect() as connection:
        table.give(connection)
        columns = ", ".join(TABLES["triplets"].columns)
        given = connection.execute(f"select {columns} from main.triplets order by rowid").fetchall()
    assert given == [
        ("1", "10", "11", "train"),
        ("q", " ", "12", "train"),
        ("-3", str(1 << 62), "007", "train"),
        ("2", "10", "13", None),
        ("1", "11", "10", None),
        ("4", "10", "13", "dev"),
    ]
    assert [tuple(row.values()) for row in table.rows_at(range(6)).values()] == given
    assert table.splits == {"train": 3, None: 2, "dev": 1}
    assert (table.integers, [table.empty(name) for name in NAMES]) == ([], [0, 1, 0])
    numbers, odd = table.ids("negative_id")
    assert (numbers.tolist(), odd) == ([11, 12, 11, 13, 10, 13], {2: "007"})


def test_threads_have_the_same_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(numbers: Any) -> Any:
        time.sleep(0.02)
        return np.flatnonzero(numbers > 100)

    monkeypatch.setattr(id_tables, "far_from_most", slowly)
    table = filled()
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda name: {**table.ids(name).odd}, ("positive_id", "positive_id"))
        assert [*found] == [{1: " ", 2: str(1 << 62)}] * 2


def test_a_table_without_rows_is_given() -> None:
    with duckdb.connect() as connection:
        IdTable("qrels", ("question_id", "target_id")).give(connection)
        assert connection.execute("select count(grade) from main.qrels").fetchall() == [(0,)]


@pytest.mark.skipif(library() is None, reason="rows are read one by one")
def test_a_report_needs_no_triplets_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Odd ids among them, too."""
    folder = tmp_path / "train"
    folder.mkdir()
    lines = {
        "query_master": [f'{{"qid": {n}, "text": "query"}}' for n in range(3)],
        "doc_master": [f'{{"doc_id": {n}, "text": "text"}}' for n in range(9)],
        "positive_lists": [f'{{"qid": {n}, "positive_doc_ids": [{n}]}}' for n in range(3)],
        "triplets": [f'{{"qid": {n % 3}, "pos_doc_id": {n % 3}, "neg_doc_id": {n % 9 or X}}}' for n in range(90)],
    }
    for name, of_file in lines.items():
        (folder / f"{name}.ndjson").write_text("\n".join(of_file) + "\n")
    (by_rows,) = report(tmp_path)
    monkeypatch.setattr(sql_tables, "__defaults__", (0,))
    given: list[str] = []
    monkeypatch.setattr(dataset_database.IdTable, "give", lambda self, _: given.append(self.names[-1]) or give(self, _))
    (by_numbers,) = report(tmp_path)
    by_rows.seconds = by_numbers.seconds = 0
    assert (by_numbers, given) == (by_rows, [])


give = IdTable.give


def test_integers_far_from_all_others_are_odd() -> None:
    """They would make the range of ids a wide one; among those of another table they are equal nonetheless."""
    table = IdTable("qrels", ("question_id", "target_id"))
    own = np.arange(1000, dtype=np.int64)
    own[[0, 500]] = 1 << 40, -(1 << 62)
    table.add(None, [own, own.copy()], {1: ("x", None)})
    numbers, odd = table.ids("question_id")
    assert odd == {0: str(1 << 40), 1: "x", 500: str(-(1 << 62))}
    assert (numbers.min(), numbers.max(), numbers[2]) == (2, 999, 2)
    assert table.ids("question_id").odd is odd
    row = table.rows_at([500])[500]
    assert row["question_id"] == row["target_id"] == str(-(1 << 62))
    assert far_from_most(np.array([1, 1 << 40], np.int64)).size == 0
