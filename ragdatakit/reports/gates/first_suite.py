"""A first suite, made of today's data: what holds now, with tolerances, so that tomorrow's drift shows.

What holds of all rows today must hold of all of them tomorrow; shares may move by the tolerance (0.1: ten points),
counts and lengths by that part of themselves, ranges of numbers by that part of their width. Nothing is said of columns
that have no values, of what is in JSON, and of the shares of a handful of rows: nobody would want to be held to it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.reports.gates.derived_columns import DAMAGED, FOUND, KEYS, LANGUAGE, LENGTH, REFERENCES, SHARE
from ragdatakit.reports.gates.frames import GateFrames
from ragdatakit.reports.gates.suites import FILES, TABLE
from ragdatakit.reports.summary.languages import UNCLEAR
from ragdatakit.schemas.canonical import TABLES

_CONTENTS = ("text", "title", "answer", "context", "image_description", "prompt")
_LEFT_OUT = ("field_order", "file")
_JSON = ("metadata", "attributes")
_FEW, _LONGEST_VALUE, _REPEATED = 20, 100, 5
_LEAST_DIGEST = 16
_UUID = "[{0}]{{8}}(?:-[{0}]{{4}}){{3}}-[{0}]{{12}}"
_HELD = ("VARCHAR", "BIGINT", "INTEGER", "DOUBLE", "BOOLEAN")
"""Types of columns whose values are looked at; others are JSON."""
_OF_DAMAGED = 0.1
"""The part of the tolerance by which more texts may be damaged: few are, and ten points more are a catastrophe."""
_DIGITS = 4
_ROUNDING = 1e-9
"""By what part of the values their mean may be another one where it is computed in another order."""


def first_suite(frames: GateFrames, tables: list[str], name: str, tolerance: float) -> dict[str, Any]:
    """The suite as Great Expectations' JSON, each expectation with its table in ``meta``."""
    expectations = [
        {"type": f"expect_{kind}", "kwargs": kwargs, "meta": {TABLE: table}}
        for table in tables
        for kind, kwargs in _table(frames, table, tolerance)
    ]
    return {"name": name, "expectations": expectations, "meta": {"ragdata_tolerance": tolerance}}


_Proposed = tuple[str, dict[str, Any]]


def _table(frames: GateFrames, table: str, tolerance: float) -> Iterator[_Proposed]:
    rows = frames.rows(table)
    least, most = math.floor(rows * (1 - tolerance)), math.ceil(rows * (1 + tolerance))
    yield "table_row_count_to_be_between", {"min_value": least, "max_value": most}
    if not rows:
        return
    key = _key(frames, table)
    unique = bool(key) and _is_unique(frames, table, key)
    if unique and key[0] == KEYS.get(table) and _is_unique(frames, table, key[:1]):
        key = key[:1]  # questions, of which most are distinguished by their ids alone
    if unique and len(key) > 1:
        yield "compound_columns_to_be_unique", {"column_list": list(key)}
    for column, kind in frames.types(table).items():
        if kind == "BLOB" or column in _LEFT_OUT:
            continue
        if unique and key == (column,):
            yield "column_values_to_be_unique", {"column": column}
        if key[:1] == (column,):
            yield from _form(frames, table, column)
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


def _column(
    frames: GateFrames, table: str, column: str, kind: str, tolerance: float, unique: bool
) -> Iterator[_Proposed]:
    value = frames.expression(table, column)
    rows, count, distinct, longest = (
        int(str(n or 0))
        for n in frames.ask(
            table,
            f"select count(*), count({value}), count(distinct {value}), max(length({value}::varchar)) from {{table}}",
        )
    )
    if kind.endswith("[]"):
        yield from _lengths(frames, table, column, tolerance, rows)
        return
    if not count:
        return
    yield from _nulls(column, rows, count, tolerance)
    if column in _JSON or kind not in _HELD:
        return
    if distinct <= _FEW and count >= _REPEATED * distinct and longest <= _LONGEST_VALUE:
        yield from _few(frames, table, column, value, tolerance)
        return
    if kind in ("BIGINT", "INTEGER", "DOUBLE"):
        yield from _range(frames, table, column, value, tolerance, kind != "DOUBLE")
    elif not unique and count >= _REPEATED:
        yield (
            "column_proportion_of_unique_values_to_be_between",
            {"column": column, **_share(distinct / count, tolerance)},
        )
    if column in _CONTENTS:
        yield from _lengths(frames, table, column, tolerance, count)
        yield from _texts(frames, table, column, tolerance, count)
    elif kind == "VARCHAR" and distinct < count and count >= _REPEATED:
        yield from _commonest(frames, table, column, value, tolerance)


def _commonest(frames: GateFrames, table: str, column: str, value: str, tolerance: float) -> Iterator[_Proposed]:
    """The shares of the values that have more than the tolerance, and the most that any value may have."""
    query = f"select {value}, count(*) from {{table}} where {value} is not null group by 1 order by 2 desc, 1"
    (total,) = frames.ask(table, f"select count({value}) from {{table}}")
    found = [(v, count / int(str(total))) for v, count in frames.pairs(table, f"{query} limit {_FEW}")]
    for one, share in found:
        if tolerance and _share(share, tolerance)["min_value"] > 0 and len(str(one)) <= _LONGEST_VALUE:
            yield _share_of(column, one, share, tolerance)
    most = _share(found[0][1], tolerance)["max_value"]
    if most < 1:
        yield "column_max_to_be_between", {"column": f"{column}{SHARE}", "max_value": most}


def _share_of(column: str, one: object, share: float, tolerance: float) -> _Proposed:
    """The share of one value. All its rows have this share: a mean of them is rounded."""
    condition = {"type": "comparison", "column": {"name": column}, "operator": "==", "parameter": one}
    kwargs = {"column": f"{column}{SHARE}", "row_condition": condition, **_share(share, tolerance)}
    return "column_max_to_be_between", kwargs


def _form(frames: GateFrames, table: str, column: str) -> Iterator[_Proposed]:
    """The form of ids, where all are a number behind the same beginning (``^doc-[0-9]+$``), UUIDs or digests."""
    name = sql_name(column)
    first, longest = frames.ask(
        table, f"select regexp_extract(min({name}), '^(.*?)[0-9]+$', 1), max(length({name})) from {{table}}"
    )
    beginning, digits = str(first or ""), int(str(longest or 0))
    text = sql_text(beginning)
    fits = {
        f"{re.escape(beginning)}[0-9]+": f"starts_with({name}, {text}) "
        f"and regexp_full_match(substr({name}, {len(beginning) + 1}), '[0-9]+')"
    }
    hexadecimal = [_UUID.format(d) for d in ("0-9a-f", "0-9A-F")]
    if _LEAST_DIGEST <= digits <= _LONGEST_VALUE:
        hexadecimal += [f"[{d}]{{{digits}}}" for d in ("0-9a-f", "0-9A-F")]
    fits |= {form: f"regexp_full_match({name}, '{form}')" for form in hexadecimal}
    counts = ", ".join(f"count(*) filter ({fit})" for fit in fits.values())
    count, *fitting = map(str, frames.ask(table, f"select count({name}), {counts} from {{table}}"))
    if int(count) >= _REPEATED and len(beginning) <= _LONGEST_VALUE:
        for form, found in zip(fits, fitting, strict=True):
            if found == count:
                yield "column_values_to_match_regex", {"column": column, "regex": f"^{form}$"}
                return


def _few(frames: GateFrames, table: str, column: str, value: str, tolerance: float) -> Iterator[_Proposed]:
    """Which values there are, and the share of each."""
    query = f"select {value}, count(*) from {{table}} where {value} is not null group by 1 order by 1"
    found = frames.pairs(table, query)
    if any(isinstance(v, float) and not math.isfinite(v) for v, _ in found):
        return
    yield "column_distinct_values_to_equal_set", {"column": column, "value_set": [v for v, _ in found]}
    total = sum(count for _, count in found)
    shown = found if len(found) > 2 else sorted(found, key=lambda pair: -pair[1])[: len(found) - 1]  # one shows two
    for one, count in shown:
        yield _share_of(column, one, count / total, tolerance)


def _texts(frames: GateFrames, table: str, column: str, tolerance: float, count: int) -> Iterator[_Proposed]:
    """The languages of texts, and how many are damaged."""
    damaged = f"{column}{DAMAGED}"
    (share,) = frames.ask(table, f"select avg({frames.expression(table, damaged)}) from {{table}}")
    if share:
        most = _share(float(str(share)), tolerance * _OF_DAMAGED)["max_value"]
        if most < 1:
            yield "column_mean_to_be_between", {"column": damaged, "max_value": most}
    else:
        yield "column_values_to_be_in_set", {"column": damaged, "value_set": [0]}
    if count < _REPEATED:
        return
    language = frames.expression(table, f"{column}{LANGUAGE}")
    query = f"select {language}, count(*) from {{table}} where {language} is not null group by 1 order by 2 desc, 1"
    found = frames.pairs(table, query)
    total = sum(count for _, count in found)
    usual = [(one, count) for one, count in found if count > tolerance * total]
    least = _share(sum(count for _, count in usual) / total, tolerance)["min_value"] if total else 0
    if least > 0 and usual[0][0] != UNCLEAR:
        languages = [one for one, _ in usual]
        kwargs = {"column": f"{column}{LANGUAGE}", "value_set": languages, "mostly": least}
        yield "column_values_to_be_in_set", kwargs


def _nulls(column: str, rows: int, count: int, tolerance: float) -> Iterator[_Proposed]:
    if count == rows:
        yield "column_values_to_not_be_null", {"column": column}
    else:
        yield (
            "column_proportion_of_non_null_values_to_be_between",
            {"column": column, **_share(count / rows, tolerance)},
        )


def _share(share: float, tolerance: float) -> dict[str, float]:
    scale = 10**_DIGITS
    least, most = (round(min(max(share + move, 0), 1) * scale, 6) for move in (-tolerance, tolerance))
    return {"min_value": math.floor(least) / scale, "max_value": math.ceil(most) / scale}


def _range(
    frames: GateFrames, table: str, column: str, value: str, tolerance: float, whole: bool
) -> Iterator[_Proposed]:
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
    (mean,) = frames.ask(table, f"select avg({value}) from {{table}}")
    room += _ROUNDING * max(abs(low), abs(high))
    if low < high and isinstance(mean, int | float) and math.isfinite(mean):
        yield "column_mean_to_be_between", {"column": column, "min_value": mean - room, "max_value": mean + room}


def _lengths(frames: GateFrames, table: str, column: str, tolerance: float, count: int) -> Iterator[_Proposed]:
    derived = f"{column}{LENGTH}"
    value = frames.expression(table, derived)
    low, middle, high = (
        float(str(n or 0))
        for n in frames.ask(table, f"select min({value}), median({value}), max({value}) from {{table}}")
    )
    if not high:
        return
    least, most = math.floor(low * (1 - tolerance)), math.ceil(high * (1 + tolerance))
    yield "column_values_to_be_between", {"column": derived, "min_value": least, "max_value": most}
    if count < _REPEATED:
        return
    least, most = math.floor(middle * (1 - tolerance)), math.ceil(middle * (1 + tolerance))
    yield "column_median_to_be_between", {"column": derived, "min_value": least, "max_value": most}


def _references(frames: GateFrames, table: str, column: str, tolerance: float) -> Iterator[_Proposed]:
    """How many of the records that a column names are there; nothing where no table could have them."""
    if not any(target in frames for target in REFERENCES[table, column]):
        return
    derived = f"{column}{FOUND}"
    (share,) = frames.ask(table, f"select avg({frames.expression(table, derived)}) from {{table}}")
    if share is None:
        return
    held = float(str(share))
    least = 1 if held == 1 else _share(held, tolerance)["min_value"]
    if least:
        yield "column_mean_to_be_between", {"column": derived, "min_value": least}
