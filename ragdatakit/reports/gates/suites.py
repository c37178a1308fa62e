"""Suite files: Great Expectations' own JSON, told for which table it is; nothing in them is run as code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from ragdatakit.reports.gates.row_conditions import condition_columns, plain_condition
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.gates import SEVERITIES, Expectation, Suite

TABLE = "ragdata_table"
"""The key in ``meta``, of a suite or of one expectation, that names the table."""
FILES = "files."
_MOST_BYTES, _MOST_EXPECTATIONS, _MOST_DEPTH = 16 << 20, 5_000, 50
_OF_THE_RUN = ("batch_id", "result_format", "catch_exceptions", "include_config", "condition_parser")
_OF_OLD = ("auto", "profiler_config", "parse_strings_as_datetimes", "allow_cross_type_comparisons", "row_condition")
"""Arguments of versions before 1.0 that say nothing where they are false or null."""
_SQL = "it is SQL; ask `ragdata query`"
_LIKE = "the library checks LIKE patterns in databases only; a regex can say the same"
_ELSEWHERE = {
    "unexpected_rows_expectation": _SQL,
    "expect_query_results_to_match_comparison": _SQL,
    "expect_table_row_count_to_equal_other_table": "it compares two tables of a database",
    "expect_column_values_to_match_like_pattern": _LIKE,
    "expect_column_values_to_match_like_pattern_list": _LIKE,
    "expect_column_values_to_not_match_like_pattern": _LIKE,
    "expect_column_values_to_not_match_like_pattern_list": _LIKE,
}
NAMES_ONLY = frozenset(
    f"expect_{name}"
    for name in (
        "column_to_exist",
        "table_columns_to_match_ordered_list",
        "table_columns_to_match_set",
        "table_column_count_to_equal",
        "table_column_count_to_be_between",
    )
)
"""Expectations about the names of columns."""
COUNTS_ONLY = frozenset(("expect_table_row_count_to_equal", "expect_table_row_count_to_be_between"))
"""Expectations about the number of rows."""
TYPES = frozenset(("expect_column_values_to_be_of_type", "expect_column_values_to_be_in_type_list"))
"""Expectations about types. Of a column of pandas' own texts the library knows one name only, and of a list none."""

DIGESTS_DO = frozenset(
    f"expect_column_{name}"
    for name in (
        "values_to_not_be_null",
        "proportion_of_non_null_values_to_be_between",
        "proportion_of_unique_values_to_be_between",
        "unique_value_count_to_be_between",
    )
)
"""Expectations about which values there are none of or which are the same: digests of texts say that as well."""


def read_suite(path: Path, table: str = "") -> Suite:
    """The suite in a file. ``table`` is the table of expectations that name none.

    Raises `RagdataError`, with the number of the expectation, for what is no suite or names no known table. What is
    wrong with one expectation alone, such as that it would run as code, is its ``fault``.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise RagdataError(f"{path} has more than {_MOST_BYTES >> 20} MiB, too much for a suite")
        content = orjson.loads(path.read_bytes())
    except OSError as error:
        raise RagdataError(f"{path} cannot be read: {error.strerror}") from None
    except (orjson.JSONDecodeError, RecursionError) as error:
        raise RagdataError(f"{path} is not JSON: {error}") from None
    return parse_suite(content, str(path), table)


def parse_suite(content: Any, path: str, table: str = "") -> Suite:
    """The suite in decoded JSON; see `read_suite`."""
    listed = content.get("expectations") if isinstance(content, dict) else None
    if not isinstance(listed, list):
        raise RagdataError(f"{path} is not a suite: expected an object with a list of expectations")
    if len(listed) > _MOST_EXPECTATIONS:
        raise RagdataError(f"{path} has {len(listed):,} expectations; at most {_MOST_EXPECTATIONS:,} are run")
    _refuse_depth(listed, path)
    name = content.get("name") or content.get("expectation_suite_name") or Path(path).stem
    usual = _table_of(content, path) or table
    expectations = []
    for number, given in enumerate(listed, 1):
        place = f"{path}, expectation {number}"
        if not isinstance(given, dict):
            raise RagdataError(f"{place}: expected an object with a type and kwargs")
        expectations.append(_expectation(given, number, place, usual))
    if not expectations:
        raise RagdataError(f"{path} has no expectations")
    return Suite(str(name), path, tuple(expectations))


def _expectation(given: Mapping[str, Any], number: int, place: str, table: str) -> Expectation:
    kind = given.get("type", given.get("expectation_type"))
    if not isinstance(kind, str) or not kind:
        raise RagdataError(f"{place}: it has no type")
    kwargs = given.get("kwargs", {})
    if not isinstance(kwargs, dict):
        raise RagdataError(f"{place}: its kwargs are not an object")
    severity = given.get("severity") or "critical"
    if severity not in SEVERITIES:
        raise RagdataError(f"{place}: severity is {severity!r}, expected {', '.join(SEVERITIES)}")
    about = _table_of(given, place) or table
    if not about:
        words = f'name one in its meta ("{TABLE}": "documents"), in that of the suite, or with --table'
        raise RagdataError(f"{place}: it does not say which table it is about; {words}")
    check_table(about, place)
    kept = {n: v for n, v in kwargs.items() if n not in _OF_THE_RUN and (v or n not in _OF_OLD)}
    fault = f"it cannot be checked here: {_ELSEWHERE[kind]}" if kind in _ELSEWHERE else ""
    try:
        _refuse_code(kept)
        if "row_condition" in kept:
            kept["row_condition"] = plain_condition(kept["row_condition"])
    except RagdataError as error:
        fault = fault or str(error)
    described = given.get("description")
    words = described if isinstance(described, str) else ""
    return Expectation(number, kind, about, kept, severity, words, fault)


def _table_of(given: Mapping[str, Any], place: str) -> str:
    meta = given.get("meta")
    if meta is None:
        return ""
    if not isinstance(meta, dict) or not isinstance(meta.get(TABLE, ""), str):
        raise RagdataError(f"{place}: expected an object as meta, and the name of a table as its {TABLE}")
    return str(meta.get(TABLE, ""))


def check_table(table: str, place: str = "") -> None:
    """Raise `RagdataError` for a name that no table of any dataset has; ``place`` says where it is."""
    if table not in TABLES and not (table.startswith(FILES) and len(table) > len(FILES)):
        raise RagdataError(f"{place}: " * bool(place) + str(UnknownNameError("table", table, TABLES)))


def _refuse_depth(expectations: list[Any], path: str) -> None:
    """Raise for values into which neither the library nor a report can go down."""
    level, depth = [*expectations], 0
    while level := [v for v in level if isinstance(v, dict | list)]:
        depth += 1
        if depth > _MOST_DEPTH:
            raise RagdataError(f"{path} has expectations that are nested more than {_MOST_DEPTH} levels deep")
        level = [member for value in level for member in (value.values() if isinstance(value, dict) else value)]


def _refuse_code(kwargs: Mapping[str, Any]) -> None:
    for name, value in _members(kwargs):
        if name == "$PARAMETER":
            raise RagdataError("it has a $PARAMETER; write the value itself")
        if name in ("$ref", "$dynamicRef", "$recursiveRef") and not (isinstance(value, str) and value.startswith("#")):
            raise RagdataError(f"its schema refers to {value!r}; only what is in it can be referred to (#/…)")


def _members(value: Any) -> Iterator[tuple[str, Any]]:
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            yield from found.items()
            stack.extend(found.values())
        elif isinstance(found, list):
            stack.extend(found)


def columns_of(expectation: Expectation) -> tuple[str, ...] | None:
    """The columns that an expectation reads, in order; none for one about names or counts; None: all of them.

    Raises `RagdataError` for one that is not named by a text.
    """
    kwargs = expectation.kwargs
    found: list[Any] = []
    if isinstance(kwargs.get("row_condition"), dict):
        found += condition_columns(kwargs["row_condition"])
    if expectation.type in NAMES_ONLY:
        return ()
    found += [kwargs[name] for name in ("column", "column_A", "column_B") if name in kwargs]
    listed = kwargs.get("column_list", [])
    if not isinstance(listed, list) or not all(isinstance(name, str) for name in (*found, *listed)):
        raise RagdataError("a column is not named by a text")
    found += listed
    if not found and expectation.type not in COUNTS_ONLY:
        return None
    return tuple(sorted(set(found)))
