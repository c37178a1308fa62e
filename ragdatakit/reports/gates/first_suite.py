"""A first suite, made of today's data: what holds now, with tolerances, so that tomorrow's drift shows.

What holds of all rows today must hold of all of them tomorrow; shares may move by the tolerance (0.1: ten points),
counts and lengths by that part of themselves, ranges of numbers by that part of their width.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ragdatakit.reports.gates.frames import FOUND, LENGTH, REFERENCES, GateFrames
from ragdatakit.reports.gates.suites import FILES, TABLE
from ragdatakit.schemas.canonical import TABLES

_CONTENTS = ("text", "title", "answer", "context", "image_description", "prompt")
_LEFT_OUT = ("field_order", "file")
_FEW, _LONGEST_VALUE, _REPEATED = 20, 100, 5
_DIGITS = 4


def first_suite(frames: GateFrames, tables: list[str], name: str, tolerance: float) -> dict[str, Any]:
    """The suite as Great Expectations' JSON, each expectation with its table in ``meta``."""
    expectations = [
        {"type": f"expect_{kind}", "kwargs": kwargs, "meta": {TABLE: table}}
        for table in tables
        for kind, kwargs in _table(frames, table, tolerance)
    ]
    return {"name": name, "expectations": expectations, "meta": {"ragdata_tolerance": tolerance}}


_Told = tuple[str, dict[str, Any]]


def _table(frames: GateFrames, table: str, tolerance: float) -> Iterator[_Told]:
    rows = frames.rows(table)
    least, most = math.floor(rows * (1 - tolerance)), math.ceil(rows * (1 + tolerance))
    yield "table_row_count_to_be_between", {"min_value": least, "max_value": most}
    if not rows:
        return
    key = _key(frames, table)
    unique = bool(key) and _is_unique(frames, table, key)
    if unique and len(key) > 1:
        yield "compound_columns_to_be_unique", {"column_list": list(key)}
    for column, kind in frames.types(table).items():
        if kind == "BLOB" or column in _LEFT_OUT:
            continue
        if unique and key == (column,):
            yield "column_values_to_be_unique", {"column": column}
        yield from _column(frames, table, column, kind, tolerance, unique and key == (column,))
        if (table, column) in REFERENCES:
            yield from _references(frames, table, column, tolerance)


def _key(frames: GateFrames, table: str) -> tuple[str, ...]:
    """The columns of the key that have values in this dataset."""
    if table.startswith(FILES):
        return ()
    key = TABLES[table].key
    counts = frames.ask(table, f"select {', '.join(f'count({c})' for c in key)} from {{table}}") if key else ()
    return tuple(column for column, count in zip(key, counts, strict=True) if count)


def _is_unique(frames: GateFrames, table: str, key: tuple[str, ...]) -> bool:
    listed = ", ".join(key)
    query = f"select 1 from {{table}} where ({' or '.join(f'{c} is not null' for c in key)}) "
    return not frames.ask(table, f"{query} group by {listed} having count(*) > 1 limit 1")


def _column(frames: GateFrames, table: str, column: str, kind: str, tolerance: float, unique: bool) -> Iterator[_Told]:
    value = frames.expression(table, column)
    rows, count, distinct, longest = (
        int(str(n or 0))
        for n in frames.ask(
            table,
            f"select count(*), count({value}), count(distinct {value}), max(length({value}::varchar)) from {{table}}",
        )
    )
    if kind.endswith("[]"):
        yield from _lengths(frames, table, column, tolerance)
        return
    yield from _nulls(column, rows, count, tolerance)
    if not count:
        return
    if distinct <= _FEW and count >= _REPEATED * distinct and longest <= _LONGEST_VALUE:
        found = frames.values(table, f"select distinct {value} as v from {{table}} where v is not null order by v")
        if not any(isinstance(v, float) and not math.isfinite(v) for v in found):
            yield "column_distinct_values_to_equal_set", {"column": column, "value_set": found}
        return
    if kind in ("BIGINT", "INTEGER", "DOUBLE"):
        yield from _range(frames, table, column, value, tolerance, kind != "DOUBLE")
    elif not unique:
        yield (
            "column_proportion_of_unique_values_to_be_between",
            {"column": column, **_share(distinct / count, tolerance)},
        )
    if column in _CONTENTS:
        yield from _lengths(frames, table, column, tolerance)


def _nulls(column: str, rows: int, count: int, tolerance: float) -> Iterator[_Told]:
    if count == rows:
        yield "column_values_to_not_be_null", {"column": column}
    elif not count:
        yield "column_values_to_be_null", {"column": column}
    else:
        yield (
            "column_proportion_of_non_null_values_to_be_between",
            {"column": column, **_share(count / rows, tolerance)},
        )


def _share(share: float, tolerance: float) -> dict[str, float]:
    scale = 10**_DIGITS
    least = math.floor(max(share - tolerance, 0) * scale) / scale
    return {"min_value": least, "max_value": math.ceil(min(share + tolerance, 1) * scale) / scale}


def _range(frames: GateFrames, table: str, column: str, value: str, tolerance: float, whole: bool) -> Iterator[_Told]:
    finite = "" if whole else f"where isfinite({value})"
    low, high = frames.ask(table, f"select min({value}), max({value}) from {{table}} {finite}")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return
    room = tolerance * ((high - low) or abs(high))
    least, most = low - room, high + room
    yield (
        "column_values_to_be_between",
        {
            "column": column,
            "min_value": math.floor(least) if whole else least,
            "max_value": math.ceil(most) if whole else most,
        },
    )


def _lengths(frames: GateFrames, table: str, column: str, tolerance: float) -> Iterator[_Told]:
    derived = f"{column}{LENGTH}"
    value = frames.expression(table, derived)
    low, middle, high = (
        float(str(n or 0))
        for n in frames.ask(table, f"select min({value}), median({value}), max({value}) from {{table}}")
    )
    least, most = math.floor(low * (1 - tolerance)), math.ceil(high * (1 + tolerance))
    yield "column_values_to_be_between", {"column": derived, "min_value": least, "max_value": most}
    if not high:
        return
    least, most = math.floor(middle * (1 - tolerance)), math.ceil(middle * (1 + tolerance))
    yield "column_median_to_be_between", {"column": derived, "min_value": least, "max_value": most}


def _references(frames: GateFrames, table: str, column: str, tolerance: float) -> Iterator[_Told]:
    """How many of the records that a column names are there; nothing where no table could have them."""
    if not any(target in frames for target in REFERENCES[table, column]):
        return
    derived = f"{column}{FOUND}"
    (share,) = frames.ask(table, f"select avg({frames.expression(table, derived)}) from {{table}}")
    if share is None:
        return
    held = float(str(share))
    least = 1 if held == 1 else _share(held, tolerance)["min_value"]
    yield "column_mean_to_be_between", {"column": derived, "min_value": least}
