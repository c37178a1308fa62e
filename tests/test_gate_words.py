"""Gates: expectations on shares of the rows, and what was found instead, in words."""

from __future__ import annotations

from typing import Any

import pytest

from ragdatakit.reports.gates.output import found_words
from ragdatakit.schemas.gates import Check, Expectation, expectation_words


@pytest.mark.parametrize(
    ("kind", "table", "kwargs", "told"),
    [
        ("max", "edges", {"column": "target_share", "max_value": 0.1347}, "one value in at most 13.47 % of the rows"),
        ("mean", "qrels", {"column": "target_id_found", "min_value": 1}, "found for at least 100 % of the rows"),
        ("mean", "documents", {"column": "text_damaged", "max_value": 0}, "damaged in at most 0 % of the rows"),
        ("max", "files.own", {"column": "market_share", "max_value": 9}, "max at most 9"),
        (
            "max",
            "edges",
            {"column": "n_share", "max_value": 0.5, "strict_max": True},
            "max at most 0.5, strict max True",
        ),
    ],
)
def test_shares_in_words(kind: str, table: str, kwargs: dict[str, Any], told: str) -> None:
    given = Expectation(1, f"expect_column_{kind}_to_be_between", table, kwargs)

    assert expectation_words(given) == told
    found = found_words(Check("s", given, False, observed=0.25))
    assert found == ("25 %" if "%" in told else "0.25")


def test_the_share_of_a_value_in_words() -> None:
    condition = {"type": "comparison", "column": {"name": "split"}, "operator": "==", "parameter": "train"}
    kwargs = {"column": "split_share", "row_condition": condition, "min_value": 0.6294, "max_value": 0.8295}
    given = Expectation(1, "expect_column_max_to_be_between", "questions", kwargs)

    assert expectation_words(given) == "train in 62.94 % to 82.95 % of the rows"
    assert found_words(Check("s", given, False)) == "no values"
