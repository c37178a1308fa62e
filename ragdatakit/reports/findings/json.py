"""Findings for programs: one JSON document, or one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import orjson

from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.texts import encodable

_TOGETHER = 64
"""Findings that are encoded at once, with these around them."""
_BEFORE, _AFTER = b'{\n  "findings": [', b"\n  ]\n}\n"


def json_pieces(report: Report, findings: Iterable[Finding]) -> Iterator[bytes]:
    """The whole report with these findings, piece by piece; docs/output-schema.json is its JSON Schema."""
    document = report.as_dict()
    names = list(document)
    place = names.index("findings")
    before = dumps({name: document[name] for name in names[:place]}, orjson.OPT_INDENT_2)
    yield before.removesuffix(b"\n}\n") + b',\n  "findings": ['
    shown, left = 0, iter(findings)
    while together := [finding.as_dict() for finding in islice(left, _TOGETHER)]:
        text = dumps({"findings": together}, orjson.OPT_INDENT_2)
        yield (b"," if shown else b"") + text[len(_BEFORE) : -len(_AFTER)]
        shown += len(together)
    document["shown"] = shown
    after = dumps({name: document[name] for name in names[place + 1 :]}, orjson.OPT_INDENT_2)
    yield (b"\n  ],\n" if shown else b"],\n") + after.removeprefix(b"{\n")


def finding_line(finding: Finding) -> bytes:
    """One finding as a line of NDJSON, with ``"type": "finding"``."""
    return b'{"type":"finding",' + dumps(finding.as_dict())[1:]


def summary_lines(report: Report) -> Iterator[bytes]:
    """What follows the findings in NDJSON output: a line per dataset, then the counts."""
    for dataset in report.datasets:
        yield dumps({"type": "dataset", **dataset.as_dict()})
    counts: dict[str, Any] = {"type": "summary", "version": 1, "counts": report.counts, "by_rule": report.by_rule}
    budgets = [budget.as_dict() for budget in report.budgets]
    left_out = {"baselined": report.baselined, "older": report.older, "unchanged": report.unchanged}
    rest = {"unrecognised": report.unrecognised, **left_out, "budgets": budgets, "ok": report.ok}
    yield dumps({**counts, **rest}, orjson.OPT_SORT_KEYS)


def dumps(value: Any, option: int = 0) -> bytes:
    """JSON with a line end; what UTF-8 cannot hold, as a file name may, is written as escapes."""
    try:
        return orjson.dumps(value, option=option | orjson.OPT_APPEND_NEWLINE, default=str)
    except TypeError:
        return orjson.dumps(_encodable(value), option=option | orjson.OPT_APPEND_NEWLINE, default=str)


def _encodable(value: Any) -> Any:
    """The same with what UTF-8 cannot hold written as escapes."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, dict):
        return {_encodable(k): _encodable(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(v) for v in value]
    return value
