"""Arrow columns that are made without pandas: the same as Arrow's own."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from ragdatakit.files.containers.arrow_columns import small_array

LISTS = pa.list_(pa.string())
VALUES: list[tuple[list[Any], pa.DataType]] = [
    (["a", None, "é漢", ""], pa.string()),
    ([1, None, -5, 2**62], pa.int64()),
    ([1.5, None, 2], pa.float64()),
    ([("a", "b"), (), None, ["c", None]], LISTS),
    ([b"x", None, b""], pa.large_binary()),
    ([None] * 3, LISTS),
    ([], pa.string()),
    ([()], LISTS),
]
REFUSED: list[tuple[Any, pa.DataType]] = [
    (2**70, pa.int64()),
    (2**53 + 1, pa.float64()),
    (2**1100, pa.float64()),
    ("a\ud800", pa.string()),
    (("a\ud800",), LISTS),
    (5, pa.string()),
    (True, pa.int64()),
]


@pytest.mark.parametrize(("values", "kind"), VALUES, ids=lambda v: str(v)[:30])
def test_a_small_array(values: list[Any], kind: pa.DataType) -> None:
    made = small_array(values, kind)

    made.validate(full=True)
    assert made.equals(pa.array(values, kind))


@pytest.mark.parametrize(("value", "kind"), REFUSED, ids=lambda v: ascii(v)[:30])
def test_what_a_column_does_not_hold(value: Any, kind: pa.DataType) -> None:
    with pytest.raises((OverflowError, UnicodeEncodeError, TypeError)):
        small_array([value], kind)
