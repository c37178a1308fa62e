"""The JSON Schema of what ``ragdata gate --output-format json`` prints: docs/output-schema-gate.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped. Values are
texts, numbers, truth values or null, or lists and objects of them; long ones are cut, with … there.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

from ragdatakit.reports.derived_schema import Schema, schema_of
from ragdatakit.schemas.bounds import Place


class _Dataset(TypedDict):
    """The dataset; ``path`` as it was given."""

    path: str
    name: str
    format: str


class _Library(TypedDict):
    """What checked the expectations."""

    name: Literal["great_expectations"]
    version: str


class _Severities(TypedDict):
    info: int
    warning: int
    critical: int


class _Counts(TypedDict):
    """Numbers of expectations: ``failed`` do not hold, ``errors`` could not be checked."""

    expectations: int
    passed: int
    failed: int
    errors: int
    failed_by_severity: _Severities


class _Suite(TypedDict):
    """A suite: what it calls itself (or the name of its file), its file, how many expectations it has."""

    name: str
    path: str
    expectations: Place


class _Table(TypedDict):
    """A canonical table, or files.KIND for the files as they are.

    ``checked`` counts the rows that were looked at; rows are counted all. ``sampled``: these are a sample.
    """

    name: str
    rows: int
    checked: int
    sampled: bool


class _Result(TypedDict):
    """What became of an expectation; ``number`` is its place in the suite, from 1.

    ``status`` error: it could not be checked, and ``fault`` says why, or that the dataset has no such table.
    ``observed`` is what was found, where that is one value or a list. ``values`` counts the values that were looked at,
    null where it is not about values; ``unexpected`` those that are not as expected, ``examples`` are some of these,
    ``missing`` some values of an expected set that are not there.
    """

    suite: str
    number: Place
    table: str
    type: str
    kwargs: dict[str, Any]
    severity: Literal["info", "warning", "critical"]
    description: str | None
    status: Literal["pass", "fail", "error"]
    observed: Any
    values: int | None
    unexpected: int | None
    examples: list[Any]
    missing: list[Any]
    fault: str | None


class _Gate(TypedDict):
    """What `ragdata gate --output-format json` prints. Fields may be added; none is renamed or dropped.

    ``success``: the data could be read, and all expectations were checked and hold. ``suites`` are in the order in
    which they were given, ``results`` suite by suite, in the order of the files. ``notes`` says what was sampled and
    could not be read, ``unread`` which files could not be read whole, and why: ``success`` is false then.
    """

    version: Literal[1]
    success: bool
    dataset: _Dataset
    library: _Library
    counts: _Counts
    suites: list[_Suite]
    tables: list[_Table]
    results: list[_Result]
    notes: list[str]
    unread: list[str]
    seconds: float


def gate_schema() -> Schema:
    """The schema of the document."""
    return schema_of(_Gate, "output-gate", "gate")
