"""Findings for programs: one JSON document, or one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Report


def json_document(report: Report) -> bytes:
    """The whole report; docs/output-schema.json is its JSON Schema."""
    return orjson.dumps(report.as_dict(), option=orjson.OPT_INDENT_2, default=str) + b"\n"


def finding_line(finding: Finding) -> bytes:
    """One finding as a line of NDJSON, with ``"type": "finding"``."""
    return orjson.dumps({"type": "finding", **finding.as_dict()}, default=str) + b"\n"


def summary_lines(report: Report) -> Iterator[bytes]:
    """What follows the findings in NDJSON output: a line per dataset, then the counts."""
    for dataset in report.datasets:
        yield orjson.dumps({"type": "dataset", **dataset.as_dict()}) + b"\n"
    counts: dict[str, Any] = {"type": "summary", "version": 1, "counts": report.counts, "by_rule": report.by_rule}
    yield orjson.dumps({**counts, "unrecognised": report.unrecognised}, option=orjson.OPT_SORT_KEYS) + b"\n"
