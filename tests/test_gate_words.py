"""Gates: expectations on shares of the rows, and what was found instead, in words."""

from __future__ import annotations

from typing import Any

import pytest

from ragdatakit.reports.gates.output import found_words
from ragdatakit.schemas.gates import Check, Expectation, expectation_words


@pytest.mark.parametrize(
    ("kind", "table", "kwargs", "message"),
    [
        ("max", "edges", {"column": "target_share", "max_value": 0.1347}, "one value in at most 13.47% of the rows"),
        ("mean", "qrels", {"column": "target_id_found", "min_value": 1}, "found for at least 100% of the rows"),
        ("mean", "documents", {"column": "text_damaged", "max_value": 0}, "damaged in at most 0% of the rows"),
        ("max", "files.own", {"column": "market_share", "max_value": 9}, "max at most 9"),
        (
            "max",
            "edges",
            {"column": "n_share", "max_value": 0.5, "strict_max": True},
            "max at most 0.5, strict max True",
        ),
    ],
)
def test_shares_in_words(kind: str, table: str, kwargs: dict[str, Any], message: str) -> None:
    given = Expectation(1, f"expect_column_{kind}_to_be_between", table, kwargs)

    assert expectation_words(given) == message
    found = found_words(Check("s", given, False, observed=0.25))
    assert found == ("25%" if "%" in message else "0.25")


def test_the_share_of_a_value_in_words() -> None:
    condition = {"type": "comparison", "column": {"name": "split"}, "operator": "==", "parameter": "train"}
    kwargs = {"column": "split_share", "row_condition": condition, "min_value": 0.6294, "max_value": 0.8295}
    given = Expectation(1, "expect_column_max_to_be_between", "questions", kwargs)

    assert expectation_words(given) == "train in 62.94% to 82.95% of the rows"
    assert found_words(Check("s", given, False)) == "no values"


@pytest.mark.parametrize(
    ("kind", "kwargs", "message"),
    [
        ("column_values_to_match_regex", {"column": "doc_id", "regex": "^[0-9]+$"}, "values to match regex ^[0-9]+$"),
        (
            "column_distinct_values_to_be_in_set",
            {"column": "text_language", "value_set": ["English"]},
            "distinct values to be in set {English}",
        ),
        (
            "column_values_to_be_in_set",
            {"column": "a", "value_set": [1], "mostly": 0.9},
            "values to be in set {1}, mostly 0.9",
        ),
        ("table_row_count_to_equal", {"value": 30}, "row count to equal 30"),
        (
            "table_columns_to_match_set",
            {"column_set": ["a", "b"], "exact_match": True},
            "columns to match set {a, b}, exact match True",
        ),
    ],
)
def test_no_word_stands_there_twice(kind: str, kwargs: dict[str, Any], message: str) -> None:
    assert expectation_words(Expectation(1, f"expect_{kind}", "documents", kwargs)) == message


def test_missing_values_are_no_example() -> None:
    given = Expectation(1, "expect_column_values_to_not_be_null", "documents", {"column": "text"})
    found = Check("s", given, False, values=1109, unexpected=4, examples=(None, None, None))

    assert found_words(found) == "4 of 1,109 values (0.4%)"
