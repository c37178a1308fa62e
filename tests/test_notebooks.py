"""Results in notebooks: a short table without markup of the data, and frames with typed columns."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import ragdatakit
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.gates import Check, Expectation, GateResult
from ragdatakit.schemas.results import FixResult, NotFixed, Report
from tests.command_line import FIXTURES

BEIR, SPLITS = FIXTURES / "beir/valid/folder", FIXTURES / "beir/valid/splits"
HOSTILE = "<script>alert(1)</script>\ud83d\n\x1b[2J"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))


def finding(number: int) -> Finding:
    return Finding("SP201", "dangling-qid", "error", f"query {number} {HOSTILE}", HOSTILE, line=number, key=HOSTILE)


def gate() -> GateResult:
    expectation = Expectation(1, "expect_column_values_to_be_unique", "documents", {"column": HOSTILE})
    return GateResult("d", "d", "beir", checks=[Check("s", expectation, success=False, values=3, unexpected=2)])


RESULTS: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "validate": (
        lambda: ragdatakit.validate(FIXTURES / "demo-broken", select=["SP201"]),
        {"code": "SP201", "line": 7, "message": "query 55 is not in the query master", "fixable": True},
    ),
    "fix": (lambda: FixResult(not_fixed=[NotFixed("a", HOSTILE)]), {"path": "a", "fixed": 0}),
    "report": (lambda: ragdatakit.report(SPLITS), {"format": "beir", "table": "documents", "rows": 3}),
    "diff": (lambda: ragdatakit.diff(BEIR, SPLITS), {"table": "documents", "before": 3, "added": 0}),
    "gate": (gate, {"expectation": "values to be unique", "success": False, "unexpected": 2}),
    "evaluate": (
        lambda: ragdatakit.evaluate(FIXTURES / "demo-search", modes="bm25"),
        {"run": "bm25", "metric": "ndcg@10", "questions": 25},
    ),
    "retrieve": (lambda: ragdatakit.retrieve(FIXTURES / "demo-search", "gulls"), {"rank": 1, "id": "d11"}),
    "convert": (
        lambda: ragdatakit.convert(SPLITS, "never", to="arag", dry_run=True),
        {"kind": "dropped", "table": "questions", "count": 2},
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_a_table(name: str) -> None:
    make, expected = RESULTS[name]
    result = make()
    frame, page = result.to_pandas(), result._repr_html_()

    assert {column: frame.iloc[0][column] for column in expected} == expected
    assert page.startswith("<div>") and "<script" not in page and "\x1b" not in page
    assert page.count("<tr>") == 1 + min(20, len(frame))
    assert len(page) < 20_000
    table = result.to_arrow()
    assert table.column_names == list(frame.columns) and pa.null() not in table.schema.types
    assert {column: table[column][0].as_py() for column in expected} == expected


def test_of_many_rows_the_first_are_shown() -> None:
    page = Report(findings=[finding(number) for number in range(1, 1_501)])._repr_html_()

    assert page.count("<tr>") == 21 and "20 of 1,500 rows; <code>to_pandas()</code> gives all" in page
    assert page.isprintable() and "&lt;script&gt;" in page


@pytest.mark.parametrize("empty", [Report(), FixResult()])
def test_without_rows_the_columns_keep_their_types(empty: Any) -> None:
    assert "<table" not in empty._repr_html_()
    types = {str(kind) for kind in empty.to_pandas().dtypes}
    assert "Int64" in types and types <= {"str", "Int64", "boolean"}
    assert len(empty.to_arrow()) == 0


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)

    with pytest.raises(ragdatakit.RagdataError, match=r"this needs pandas: pip install 'ragdatakit\[frames\]'"):
        Report().to_pandas()
    with pytest.raises(ragdatakit.RagdataError, match=r"this needs pyarrow: pip install 'ragdatakit\[parquet\]'"):
        Report().to_arrow()
