"""Gates: what expectations are about, suites of others apply, none is code."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.api.gate import batch, first_suite, gate
from ragdatakit.reports.gates.frames import GateFrames
from ragdatakit.reports.gates.output import found_words
from ragdatakit.reports.gates.row_conditions import plain_condition
from ragdatakit.reports.gates.suites import parse_suite, read_suite
from ragdatakit.schemas.canonical import Chunk, Edge, Node, Qrel
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.gates import expectation_words
from tests.command_line import run
from tests.gate_tools import (
    Rows,
    checks_of,
    database_of,
    expect,
    good_rows,
    needs_library,
    suite_of,
    write_files,
    write_suite,
)


@needs_library
def test_a_set_tells_what_came_and_what_went() -> None:
    suite = expect("column_distinct_values_to_equal_set", column="grade", value_set=[0, 1, 2])
    rows = good_rows()
    rows["qrels"] = [q._replace(grade=7 if q.grade == 2 else q.grade) for q in rows["qrels"]]

    (failed,) = checks_of(rows, {"expectations": [suite], "meta": {"ragdata_table": "qrels"}})

    assert (failed.examples, failed.missing) == ((7,), (2,))
    assert found_words(failed) == "also 7; not 2"


@needs_library
def test_a_table_that_is_gone_fails_all_that_is_about_it() -> None:
    rows = good_rows()
    suite = suite_of(rows)
    del rows["pair_scores"]

    failed = [c for c in checks_of(rows, suite) if not c.success]

    about = [e for e in suite["expectations"] if e["meta"]["ragdata_table"] == "pair_scores"]
    assert len(failed) == len(about) > 3
    assert {c.expectation.table for c in failed} == {"pair_scores"}
    assert "no table pair_scores" in failed[0].fault


def test_references_by_kind_of_target() -> None:
    rows: Rows = {
        "chunks": [Chunk("x", "text"), Chunk("y", "text", "nowhere")],
        "nodes": [Node("n")],
        "edges": [Edge("n", "r", "n"), Edge("n", "r", "m")],
        "qrels": [
            Qrel("q", "x", 1, "chunk"),
            Qrel("q", "x", 1, "node"),
            Qrel("q", "n", 1, "node"),
            Qrel("q", "x", 1, "document"),
        ],
    }
    with database_of(rows) as database:
        frames = GateFrames(database)
        found = {
            f"{table}.{column}": frames.values(table, f"select {frames.expression(table, column)} from {{table}}")
            for table, column in (
                ("qrels", "target_id_found"),
                ("edges", "target_found"),
                ("edges", "relation_found"),
                ("chunks", "doc_id_found"),
                ("qrels", "question_id_found"),
            )
        }

    assert found == {
        "qrels.target_id_found": [1, 0, 1, 0],
        "edges.target_found": [1, 0],
        "edges.relation_found": [0, 0],
        "chunks.doc_id_found": [None, 0],
        "qrels.question_id_found": [0, 0, 0, 0],
    }


def test_a_first_suite_of_few_odd_or_no_values() -> None:
    rows: Rows = {"documents": [], "pair_scores": [], "chunks": [Chunk("c", "", ordinal=0)]}
    suite = suite_of(rows)

    assert [e["kwargs"] for e in suite["expectations"][:2]] == [
        {"min_value": 0, "max_value": 0},
        {"min_value": 0, "max_value": 2},
    ]
    json.dumps(suite, allow_nan=False)


@pytest.mark.parametrize("tolerance", [-0.1, 1, 2, float("nan")], ids=str)
def test_tolerances_that_are_none(tolerance: float, tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="tolerance"):
        first_suite(write_files(tmp_path / "set"), tolerance=tolerance)


def one(**given: Any) -> dict[str, Any]:
    return {"expectations": [{"type": "expect_column_values_to_be_unique", "kwargs": {"column": "doc_id"}, **given}]}


NO_SUITES: list[tuple[str, Any, str]] = [
    ("a list", [], "is not a suite"),
    ("no expectations", {"expectations": []}, "has no expectations"),
    ("an expectation that is a text", {"expectations": ["x"]}, "expectation 1: expected an object"),
    ("no type", one(type=None), "expectation 1: it has no type"),
    ("kwargs that are a list", one(kwargs=[1]), "kwargs are not an object"),
    ("meta that is a list", one(meta=[1]), "expected an object as meta"),
    ("a table that is a number", one(meta={"ragdata_table": 1}), "the name of a table"),
    ("an unknown table", one(meta={"ragdata_table": "document"}), "did you mean documents"),
    ("no table", one(), "--table"),
    ("an unknown severity", one(severity="fatal"), "severity is 'fatal'"),
    ("too many", {"expectations": [{}] * 5001}, "at most 5,000"),
]

FAULTS: list[tuple[str, Any, str]] = [
    ("SQL", one(type="unexpected_rows_expectation", meta={"ragdata_table": "documents"}), "it is SQL"),
    (
        "a LIKE pattern",
        one(type="expect_column_values_to_match_like_pattern", meta={"ragdata_table": "documents"}),
        "a regex can say the same",
    ),
    (
        "an expression",
        one(kwargs={"column": "a", "row_condition": "@__import__('os').system('x')"}, meta={"ragdata_table": "qrels"}),
        "that is code is not run",
    ),
    (
        "an expression within a condition",
        one(
            kwargs={
                "column": "a",
                "row_condition": {
                    "type": "and",
                    "conditions": [{"type": "pass_through", "pass_through_filter": "@pd.io"}],
                },
            },
            meta={"ragdata_table": "qrels"},
        ),
        "not a comparison, a test for null",
    ),
    (
        "a condition on an object",
        one(
            kwargs={
                "row_condition": {"type": "comparison", "column": {"name": "a"}, "operator": "==", "parameter": {}}
            },
            meta={"ragdata_table": "qrels"},
        ),
        "neither a text nor a number",
    ),
    (
        "a parameter",
        one(kwargs={"column": "a", "min_value": {"$PARAMETER": "now()"}}, meta={"ragdata_table": "qrels"}),
        r"\$PARAMETER",
    ),
    (
        "a schema from the network",
        one(
            kwargs={"column": "a", "json_schema": {"properties": {"b": {"$ref": "http://example.org/s"}}}},
            meta={"ragdata_table": "qrels"},
        ),
        "only what is in it",
    ),
]


@pytest.mark.parametrize(("content", "message"), [c[1:] for c in NO_SUITES], ids=[c[0] for c in NO_SUITES])
def test_what_is_no_suite(content: Any, message: str) -> None:
    with pytest.raises(RagdataError, match=message):
        parse_suite(content, "suite.json")


@pytest.mark.parametrize(("content", "given"), [c[1:] for c in FAULTS], ids=[c[0] for c in FAULTS])
def test_what_cannot_be_checked(content: Any, given: str) -> None:
    (expectation,) = parse_suite(content, "suite.json").expectations

    assert re.search(given, expectation.fault)


def test_conditions_that_were_written_as_expressions() -> None:
    split = {"type": "comparison", "column": {"name": "split"}, "operator": "==", "parameter": "train"}
    grade = {"type": "comparison", "column": {"name": "grade"}, "operator": ">", "parameter": -1}
    both = {"type": "and", "conditions": [split, grade]}
    title = {"type": "nullity", "column": {"name": "title"}, "is_null": False}
    among = {"type": "comparison", "column": {"name": "grade"}, "operator": "IN", "parameter": [1, 2]}

    assert plain_condition('split == "train"') == split
    assert plain_condition('col("split") == "train"') == split
    assert plain_condition('split == "train" and grade > -1') == both
    assert plain_condition('(split == "train") & (grade > -1)') == both
    assert plain_condition('col("title").notNull()') == title
    assert plain_condition("grade in [1, 2]") == among
    for code in (
        "@pd.io",
        "a == b",
        "a == f()",
        "a.b == 1",
        "a == 1 & b == 2",
        "1 < a < 2",
        "a == [1]",
        "a",
        "a.eval()",
        "(" * 3000,
        "",
    ):
        with pytest.raises(RagdataError, match="is not run"):
            plain_condition(code)


@needs_library
def test_one_expectation_that_cannot_be_checked_hides_no_other(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_values_to_be_uniqe", column="text"),
        expect("column_values_to_not_be_null", column="txt"),
        expect("table_row_count_to_equal", value=30),
        expect("column_values_to_be_in_set", column="title_length", value_set=[7], row_condition='doc_id == "d1"'),
        expect("column_values_to_match_json_schema", column="title", json_schema={"type": "object"}),
        {
            "expectation_type": "expect_column_values_to_be_between",
            "kwargs": {"column": "text_length", "min_value": 1, "auto": False, "profiler_config": None},
        },
        expect("column_to_exist", column="year"),
    )

    result = gate(write_files(tmp_path / "set"), suite)

    assert result.exit_code() == 2 and 0 < result.seconds < 120
    assert [check.success for check in result.checks] == [False, False, True, True, False, True, False]
    assert [check.error for check in result.checks] == [True, True, False, False, True, False, False]
    assert "did you mean" in result.checks[0].fault and "did you mean text" in result.checks[1].fault
    assert expectation_words(result.checks[3].expectation) == "values to be in set {7} where doc_id is d1"
    assert "a value is not JSON" in result.checks[4].fault
    assert result.checks[6].observed == ["doc_id", "text", "title", "metadata", "field_order"]


def test_files_that_are_no_suites(tmp_path: Path) -> None:
    file = tmp_path / "suite.json"
    for content, each in (
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b" " * (16 << 20) + b"{}", "16 MiB"),
    ):
        file.write_bytes(content)
        with pytest.raises(RagdataError, match=each):
            read_suite(file)


def test_suites_of_earlier_versions_are_read(tmp_path: Path) -> None:
    old = {
        "expectation_suite_name": "old",
        "expectations": [
            {
                "expectation_type": "expect_column_values_to_not_be_null",
                "kwargs": {"column": "text", "result_format": "COMPLETE"},
            }
        ],
    }

    suite = parse_suite(old, "suite.json", "documents")

    assert (suite.name, suite.expectations[0].table) == ("old", "documents")
    assert dict(suite.expectations[0].kwargs) == {"column": "text"}


@needs_library
@pytest.mark.parametrize(
    ("expectation", "message"),
    [
        (expect("column_values_to_be_uniqe", column="text"), "did you mean expect_column_values_to_be_unique"),
        (expect("column_values_to_be_between", column="text", min_value=[1]), "min_value"),
        (expect("column_values_to_not_be_null"), "column"),
        (expect("table_row_count_to_be_between", min_value=5, max_value=1), "min_value"),
        (expect("column_values_to_not_be_null", column="txt"), "did you mean text"),
        (expect("column_values_to_not_be_null", column=5), "column"),
        (expect("column_values_to_not_be_null", column="text", nonsense=1), "nonsense"),
    ],
    ids=["type", "value", "no column", "range", "unknown column", "number as column", "unknown argument"],
)
def test_expectations_that_are_none(expectation: dict[str, Any], message: str, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expectation)

    (check,) = gate(write_files(tmp_path / "set"), suite).checks

    assert check.error and message in check.fault


@needs_library
def test_a_suite_that_the_library_wrote_applies(tmp_path: Path) -> None:
    from great_expectations import ExpectationSuite
    from great_expectations import expectations as gxe
    from great_expectations.expectations.row_conditions import Column

    suite = ExpectationSuite(
        name="theirs",
        expectations=[
            gxe.ExpectColumnValuesToMatchRegex(column="doc_id", regex="^d[0-9]+$", severity="warning"),
            gxe.ExpectColumnValueLengthsToBeBetween(column="text", max_value=8, row_condition=Column("doc_id") == "d0"),
            gxe.ExpectTableColumnsToMatchSet(column_set=["doc_id"], exact_match=False),
            gxe.ExpectTableColumnCountToEqual(value=5),
            gxe.ExpectColumnPairValuesToBeEqual(column_A="doc_id", column_B="title"),
            gxe.ExpectColumnValuesToBeOfType(column="text_length", type_="int64"),
        ],
    )
    file = tmp_path / "suite.json"
    file.write_text(json.dumps(suite.to_json_dict()), encoding="utf-8")

    result = gate(write_files(tmp_path / "set"), file, table="documents")

    failed = [c for c in result.checks if not c.success]
    assert [c.expectation.type for c in failed] == ["expect_column_pair_values_to_be_equal"]
    assert (failed[0].values, failed[0].unexpected) == (30, 30)
    assert not result.errors and len(result.checks) == 6


@needs_library
def test_only_columns_that_are_named_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []
    frame = GateFrames.frame

    def noting(self: GateFrames, table: str, columns: Any, digests: bool) -> Any:
        asked.append((table, (*columns, *(["digests"] if digests else []))))
        return frame(self, table, columns, digests)

    monkeypatch.setattr(GateFrames, "frame", noting)
    suite = write_suite(
        tmp_path / "suite.json",
        expect("table_row_count_to_equal", value=30),
        expect("column_values_to_be_unique", column="doc_id"),
        expect("column_values_to_match_regex", column="doc_id", regex="^d"),
        expect("column_values_to_not_be_null", column="text"),
        expect("column_median_to_be_between", column="text_length", min_value=1),
        expect("column_to_exist", column="title"),
    )

    assert gate(write_files(tmp_path / "set"), suite).success
    assert asked == [("documents", ("doc_id", "text", "text_length"))]
    asked.clear()
    monkeypatch.setattr("ragdatakit.reports.gates.running._SMALL", 1_000)
    assert gate(tmp_path / "set", suite).success
    assert asked == [("documents", ("doc_id", "text_length")), ("documents", ("text", "digests"))]
    asked.clear()
    monkeypatch.setattr("ragdatakit.reports.gates.running._SMALL", 100)
    assert gate(tmp_path / "set", suite).success
    assert asked == [
        ("documents", ()),
        ("documents", ("doc_id",)),
        ("documents", ("text", "digests")),
        ("documents", ("text_length",)),
    ]


@needs_library
def test_files_as_they_are(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path / "suite.json", expect("column_values_to_match_regex", column="_id", regex="^d"), table="files.corpus"
    )

    assert gate(write_files(tmp_path / "set"), suite).success
    made = first_suite(tmp_path / "set", tables=["files.corpus"])
    suite.write_text(json.dumps(made), encoding="utf-8")
    assert len(made["expectations"]) > 5 and gate(tmp_path / "set", suite).success


@needs_library
def test_texts_have_the_types_that_suites_of_earlier_pandas_name(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path / "suite.json",
        *[expect("column_values_to_be_of_type", column="text", type_=kind) for kind in ("str", "object")],
        *[expect("column_values_to_be_in_type_list", column="text", type_list=t) for t in (["str"], ["object", "str"])],
        expect("column_type_to_be", column="text", type_="str"),
        expect("column_values_to_be_of_type", column="text_length", type_="int64"),
        expect("column_values_to_be_of_type", column="text", type_="int"),
        expect("column_values_to_be_in_type_list", column="text", type_list=["int", "float"]),
    )

    result = gate(write_files(tmp_path / "set"), suite)

    assert [c.success for c in result.checks] == [True] * 6 + [False] * 2 and not result.errors


@needs_library
def test_frames_are_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from great_expectations.execution_engine import pandas_execution_engine as engine

    usual = engine.HASH_THRESHOLD
    monkeypatch.setattr(engine, "hash_pandas_dataframe", lambda frame: pytest.fail("a frame was hashed"))
    suite = write_suite(tmp_path / "suite.json", expect("column_values_to_be_unique", column="doc_id"))

    assert gate(write_files(tmp_path / "set"), suite).success
    assert usual == engine.HASH_THRESHOLD > 0


@needs_library
def test_a_sample_is_reported_and_always_the_same(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set", documents=300)
    suite = write_suite(
        tmp_path / "suite.json",
        expect("table_row_count_to_equal", value=300),
        expect("column_values_to_be_in_set", column="doc_id", value_set=["x"]),
    )

    first, second = (gate(folder, suite, sample_rows=20) for _ in range(2))

    assert first.checks[0].success and first.checks[0].observed == 300
    assert (first.checks[1].values, first.checks[1].unexpected) == (20, 20)
    assert first.checks[1].examples == second.checks[1].examples
    assert first.notes == ["documents: 20 of 300 rows were checked"]
    assert first.tables[0].sampled


@needs_library
def test_columns_that_are_too_big_are_refused(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("column_values_to_be_unique", column="text"))
    folder = write_files(tmp_path / "set", text="word" * 200_000)

    with pytest.raises(RagdataError, match="--sample-rows"):
        gate(folder, suite, memory_limit=16 << 20)
    assert gate(folder, suite, memory_limit=16 << 20, sample_rows=3).success


@needs_library
def test_digests_tell_what_the_texts_tell() -> None:
    rows = good_rows()
    suite = {
        "expectations": [
            {**expect("column_values_to_not_be_null", column="title"), "meta": {"ragdata_table": "documents"}},
            {
                **expect("column_unique_value_count_to_be_between", column="title", min_value=30, max_value=30),
                "meta": {"ragdata_table": "documents"},
            },
        ]
    }

    nulls, distinct = checks_of(rows, suite)

    assert (nulls.success, nulls.values, nulls.unexpected) == (False, 60, 30)
    assert (distinct.success, distinct.observed) == (True, 30)


@needs_library
def test_a_check_that_the_library_cannot_do_is_an_error(tmp_path: Path) -> None:
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_mean_to_be_between", column="text", min_value=1),
        expect("column_values_to_be_unique", column="text"),
    )

    result = gate(write_files(tmp_path / "set"), suite)

    assert (result.exit_code(), len(result.errors), result.failed) == (2, 1, [])
    assert result.checks[1].success
    assert result.errors[0].fault == "the column holds texts, which have no mean" and "\n" not in result.errors[0].fault


@needs_library
def test_a_column_that_does_not_exist_is_no_error(tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("column_to_exist", column="year"))

    assert gate(write_files(tmp_path / "set"), suite).exit_code() == 1


@needs_library
def test_progress_bars_are_off(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    partition = {"bins": [0, 20, 40], "weights": [0.5, 0.5]}
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_kl_divergence_to_be_less_than", column="text_length", partition_object=partition, threshold=9),
        expect("column_kl_divergence_to_be_less_than", column="text_length", threshold=9),
    )

    assert gate(write_files(tmp_path / "set"), suite).checks[1].success
    assert capfd.readouterr() == ("", "")


@needs_library
def test_tables_are_batches(tmp_path: Path) -> None:
    from great_expectations import expectations as gxe

    rows = batch(write_files(tmp_path / "set"), "documents", ["doc_id", "text_length"])

    assert rows.columns() == ["doc_id", "text_length"]
    assert rows.validate(gxe.ExpectColumnValuesToBeUnique(column="doc_id")).success
    assert not rows.validate(gxe.ExpectColumnMaxToBeBetween(column="text_length", max_value=10)).success
    with pytest.raises(RagdataError, match="did you mean text"):
        batch(tmp_path / "set", "documents", ["txt"])


def nested(levels: int, as_list: bool) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if as_list else {"a": value}
    return value


@needs_library
@pytest.mark.parametrize("as_list", [True, False])
@pytest.mark.parametrize("place", ["value_set", "meta", "notes"])
def test_a_suite_nested_too_deep_is_refused(tmp_path: Path, place: str, as_list: bool) -> None:
    deep = nested(900, as_list)
    expectation = expect("column_values_to_be_in_set", column="text", **({place: deep} if place != "meta" else {}))
    suite = write_suite(
        tmp_path / "suite.json", {**expectation, "meta": {"a": deep}} if place == "meta" else expectation
    )

    with pytest.raises(RagdataError, match="nested more than 50 levels deep"):
        gate(write_files(tmp_path / "set"), suite)


@needs_library
@pytest.mark.parametrize(
    "arguments", [{"column_list": 3}, {"column_list": "text"}, {"column_A": 1, "column_B": {}}, {"column": ["text"]}]
)
def test_columns_of_the_wrong_type_are_errors_of_one_expectation(tmp_path: Path, arguments: dict[str, Any]) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("compound_columns_to_be_unique", **arguments))

    outcome = run("gate", write_files(tmp_path / "set"), "--suite", suite, "--table", "documents")

    assert outcome.code == 2
    assert "1 could not be checked" in outcome.out


@needs_library
@pytest.mark.parametrize("error", [ValueError("bad bins"), RecursionError("too deep"), IndexError("0")], ids=repr)
def test_what_the_library_raises_is_an_error_of_one_expectation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from ragdatakit.reports.gates.running import GateLibrary

    runs = GateLibrary.run

    def failing(self: GateLibrary, suite: str, frame: Any, table: str, built: Any) -> Any:
        if 1 in built:
            raise error
        return runs(self, suite, frame, table, built)

    monkeypatch.setattr(GateLibrary, "run", failing)
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_values_to_match_regex", column="text", regex="."),
        expect("column_values_to_be_unique", column="text"),
    )

    result = gate(write_files(tmp_path / "set"), suite)

    assert [check.error for check in result.checks] == [True, False]
    assert result.checks[0].fault == f"the library failed: {error}"
