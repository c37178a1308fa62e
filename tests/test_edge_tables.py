"""Edges in arrays: a report says of them what it says of the rows of a database, which is given the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.api.report import report
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.database import edge_tables
from ragdatakit.database.edge_tables import EdgeTable
from ragdatakit.scanner.library import library

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


@pytest.mark.parametrize(("most", "is_held"), [(100, True), (1, False)])
def test_a_report_of_edges_in_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int, is_held: bool) -> None:
    folder = tmp_path / "data" / "triplets"
    folder.mkdir(parents=True)
    for name, numbers in (("a", range(20)), ("b", range(20, 50))):
        lines = (json.dumps(triple(number)) for number in numbers)
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(edge_tables, "_MOST_TEXTS", most)
    given: list[bool] = []
    give = EdgeTable.give
    monkeypatch.setattr(EdgeTable, "give", lambda self, made: given.append(self.is_held) or give(self, made))

    by_rows = summary(folder.parent, 1 << 30, monkeypatch)
    assert summary(folder.parent, 0, monkeypatch) == by_rows
    assert not given
    assert summary(folder.parent, 0, monkeypatch, save=tmp_path / "saved.duckdb") == by_rows
    assert not given
