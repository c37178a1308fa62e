"""The JSON Schema of ``ragdata validate --output-format json``: a contract, published as docs/output-schema.json.

Version 1 may gain fields, so readers should pass over those they do not know; none is renamed or dropped.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from ragdatakit.reports.derived_schema import Schema, schema_of
from ragdatakit.schemas.bounds import RuleCode
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Budget, DatasetSummary, RemoteSource


class SeverityCounts(TypedDict):
    """All findings by severity, shown or not."""

    error: int
    warning: int
    info: int


class _Output(TypedDict):
    """What `ragdata validate --output-format json` prints. Fields may be added; none is renamed or dropped.

    ``datasets`` is what was checked. ``findings`` is what is wrong, by file and line, at most --max-per-rule of one
    rule (in files of --report 1,000 where it is not given); ``shown`` says how many these are, ``by_rule`` counts all
    by code. ``unrecognised`` are data files below the paths that belong to no dataset; they were not checked.
    ``baselined`` counts the findings that a baseline accepts, ``older`` those that were there at the revision of
    --since: neither counts otherwise. ``findings`` has the former with --show-baselined. ``unchanged`` has the datasets
    that --skip-unchanged did not check again, with the time when they were. ``budgets`` are how many findings may be
    there by the configuration; ``ok`` says whether all is well by it. ``sources`` say of each URL which state of it was
    checked.
    """

    version: Literal[1]
    datasets: list[DatasetSummary]
    findings: list[Finding]
    counts: SeverityCounts
    by_rule: dict[RuleCode, int]
    shown: int
    unrecognised: list[str]
    baselined: SeverityCounts
    older: SeverityCounts
    unchanged: dict[str, str]
    budgets: list[Budget]
    ok: bool
    sources: NotRequired[list[RemoteSource]]


def output_schema() -> Schema:
    """The schema of the whole document."""
    return schema_of(_Output, "output", "validate")
