"""Edges in arrays: a report says of them what it says of the rows of a database, which is given the same."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from ragdatakit.api.report import report
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.database import edge_tables
from ragdatakit.database.columns import Kind, packed
from ragdatakit.database.edge_numbers import EdgeNumbers
from ragdatakit.database.edge_tables import EdgeTable
from ragdatakit.scanner.library import ScannerError, library
from ragdatakit.scanner.texts import gather, gathered

pytestmark = pytest.mark.skipif(library() is None, reason="rows are read one by one")
NODES = ("Ünal", "b", " c ", "d")


def triple(number: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "subject": NODES[number % 4],
        "relation": f"r{number % 3}",
        "object": NODES[number // 4 % 4],
        "confidence": (None, -0.0, 0.0, 0.5, 1)[number % 5],
        "subject_type": ("T", "", None)[number % 3],
    }
    rare: dict[int, dict[str, Any]] = {
        3: {"properties": {"a": 1.50}, "source": "s"},
        4: {"source": " "},
        5: {"object_properties": {"b": None}, "confidence": "0.25"},
        6: {"more": [1], "source": "s"},
        7: {"subject": ""},
    }
    return found | rare.get(number, {})


def summary(folder: Path, least: int, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Any:
    monkeypatch.setattr(sql_tables, "__defaults__", (least,))
    (found,) = report(folder, **more)
    found.seconds = 0
    return found


@pytest.mark.parametrize("most", [100, 1])
def test_a_report_of_edges_in_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    folder = tmp_path / "data" / "triplets"
    folder.mkdir(parents=True)
    for name, numbers in (("a", range(20)), ("b", range(20, 50))):
        lines = (json.dumps(triple(number)) for number in numbers)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(edge_tables, "_MOST_TEXTS", most)
    given: list[EdgeTable] = []
    give = EdgeTable.give
    monkeypatch.setattr(EdgeTable, "give", lambda self, made: given.append(self) or give(self, made))

    by_rows = summary(folder.parent, 1 << 30, monkeypatch)
    assert summary(folder.parent, 0, monkeypatch) == by_rows
    assert not given
    assert summary(folder.parent, 0, monkeypatch, save=tmp_path / "saved.duckdb") == by_rows
    assert not given


def test_the_database_is_given_the_edges() -> None:
    table = EdgeTable(EdgeNumbers())
    table.begin(known=True)
    table.numbers.wanted = True
    names = ["ä", "b", "c"]
    table.nodes.add(packed(Kind.TEXT, names))
    table.relations += ["r", "s"]
    source, target, relation = (np.array(one, np.int32) for one in ([0, 2, 2], [1, 0, 2], [0, 1, 0]))
    table.numbers.add_numbered(codes_of_texts(names), codes_of_texts(["r", "s"]), (source, target, relation))
    table.add(np.array([0.5, np.nan, 1]), {"attributes": {1: "{}"}, "provenance": {2: "p"}})
    with duckdb.connect() as connection:
        table.give(connection)
        given = connection.execute("from main.edges order by rowid").fetchall()
    assert given == [
        ("ä", "r", "b", None, 0.5, None),
        ("c", "s", "ä", "{}", None, None),
        ("c", "r", "c", None, 1.0, "p"),
    ]
    assert [tuple(row.values()) for row in table.rows_at(range(3)).values()] == given
    distinct = {"source": 2, "relation": 2, "target": 3, "attributes": None, "confidence": 2, "provenance": 1}
    assert {name: facts.distinct for name, facts in table.columns.items()} == distinct
    table.begin(known=True)
    assert [facts.distinct or 0 for facts in table.columns.values()] == [0] * 6


def test_pieces_of_texts_are_gathered() -> None:
    data = np.frombuffer("aé漢".encode(), np.uint8)
    starts, ends = np.array([3, 0, 1, 6, 0]), np.array([6, 0, 3, 6, 6])
    found, offsets = gathered(data, starts, ends)
    assert (found.decode(), offsets.tolist()) == ("漢éaé漢", [0, 3, 3, 5, 5, 11])
    for start, end, target in ((0, 7, 0), (2, 1, 0), (-1, 1, 0), (0, 6, 1)):
        with pytest.raises(ScannerError):
            gather(data, *(np.array([place]) for place in (start, end, target)), np.empty(6, np.uint8))


@pytest.mark.parametrize(
    "numbers",
    [[], [0.25, 1, 0.25, 0], [0.1234, 0.7, 0.1234, 0.3], [1, 0, 0.12345], [-0.5, 0.5], [0.5, 0.5, 2, 1e300, np.inf, 2]],
)
def test_confidences_are_counted_alike(numbers: list[float]) -> None:
    values, counts = edge_tables._counted([np.array(part, np.float64) for part in (numbers[:2], numbers[2:])])

    assert dict(zip(values.tolist(), counts.tolist(), strict=True)) == Counter(numbers)
    assert values.tolist() == sorted({*numbers})
