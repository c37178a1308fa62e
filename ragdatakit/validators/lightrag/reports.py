"""The community reports of nano-graphrag: one record each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.lightrag.known import Known

_FIELDS: dict[str, tuple[Any, str]] = {
    "report_string": (str, "a text"),
    "report_json": (dict, "an object"),
    "level": (int, "an integer"),
    "occurrence": (int | float, "a number"),
}


def report_problems(cluster: str, report: dict[str, Any], known: Known) -> Iterator[Problem]:
    """The faults of one report."""
    for name, (kind, expected) in _FIELDS.items():
        value = report.get(name)
        if not isinstance(value, kind) or isinstance(value, bool):
            where = f"/report/{name}" if name in report else "/report"
            yield Problem("unusable-report", where, value, {"field": name, "expected": expected})
    if known.clusters is not None and cluster not in known.clusters:
        yield Problem("report-without-cluster", "/cluster", cluster)
    for name, among, words in (("nodes", known.nodes, "graph"), ("chunk_ids", known.chunks, "text_chunks")):
        items = report.get(name)
        for i, item in enumerate(items if isinstance(items, list) and among is not None else ()):
            if not isinstance(item, str) or item not in (among or {}):
                yield Problem("unknown-member", f"/report/{name}/{i}", item, {"expected": words})
