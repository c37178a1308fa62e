"""Summaries as JSON, version 1: what docs/output-schema-report.json describes."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from ragdatakit.schemas.results import RemoteSource, Report
    from ragdatakit.schemas.summaries import (
        Distribution,
        Example,
        Frequencies,
        GraphSummary,
        LeftOut,
        NotRead,
        Summary,
        TableSummary,
    )

VERSION = 1
_HALVES = re.compile("[\ud800-\udfff]")


def summary_json(
    summaries: Sequence[Summary],
    findings: Report | None = None,
    left_out: Sequence[LeftOut] = (),
    not_read: Sequence[NotRead] = (),
    sources: Sequence[RemoteSource] = (),
) -> bytes:
    """The whole document; ``findings`` is what `ragdatakit.validate` says of the same paths, ``left_out`` are the
    folders of unknown formats, ``not_read`` the files that no dataset reads, ``sources`` the state of each URL."""
    document = {
        "version": VERSION,
        "datasets": [summary_dict(summary) for summary in summaries],
        "left_out": [asdict(each) for each in left_out],
        "not_read": [{"path": each.path, "bytes": each.bytes} for each in not_read],
        "findings": None if findings is None else _findings(findings),
        **({"sources": list(sources)} if sources else {}),
    }
    return orjson.dumps(_encodable(document), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def summary_dict(summary: Summary) -> dict[str, Any]:
    """The JSON form of one summary."""
    splits = [*summary.file_splits, *[None] * (len(summary.files) - len(summary.file_splits))]
    return {
        "path": summary.path,
        "name": summary.name,
        "format": summary.format,
        "files": [{**f.as_dict(), "split": split} for f, split in zip(summary.files, splits, strict=False)],
        "tables": [_table(table) for table in summary.tables],
        "ids": [asdict(ids) for ids in summary.ids],
        "distributions": [_distribution(shown) for shown in summary.distributions],
        "frequencies": [_frequencies(shown) for shown in summary.frequencies],
        "graph": None if summary.graph is None else _graph(summary.graph),
        "hierarchy": None if summary.hierarchy is None else asdict(summary.hierarchy),
        "around": None if summary.around is None else asdict(summary.around),
        "contexts": None if summary.contexts is None else asdict(summary.contexts),
        "claims": None if summary.claims is None else asdict(summary.claims),
        "notes": [asdict(note) for note in summary.notes],
        "examples": [_example(example) for example in summary.examples],
        "losses": list(summary.losses),
        "unread": summary.unread,
        "seconds": round(summary.seconds, 3),
    }


def _table(table: TableSummary) -> dict[str, Any]:
    return {
        "name": table.name,
        "rows": table.rows,
        "splits": [{"split": split, "rows": rows} for split, rows in table.by_split.items()],
        "columns": [asdict(column) for column in table.columns],
    }


def _distribution(shown: Distribution) -> dict[str, Any]:
    return {
        "name": shown.name,
        "title": shown.title,
        "unit": shown.unit,
        "by": shown.by,
        "count": shown.count,
        "minimum": shown.minimum,
        "maximum": shown.maximum,
        "mean": shown.mean,
        "quantiles": {str(per_cent): value for per_cent, value in shown.quantiles.items()},
        "bins": [{"low": b.low, "high": b.high, "count": b.count} for b in shown.bins],
        "logarithmic": shown.logarithmic,
    }


def _frequencies(shown: Frequencies) -> dict[str, Any]:
    return {
        "name": shown.name,
        "title": shown.title,
        "values": [{"value": value, "count": count, "label": shown.labels.get(value)} for value, count in shown.values],
        "distinct": shown.distinct,
        "rest": shown.rest,
    }


def _graph(graph: GraphSummary) -> dict[str, Any]:
    document = asdict(graph)
    document["reachable"] = [{"edges": edges, "share": share} for edges, share in sorted(graph.reachable.items())]
    return document


def _example(example: Example) -> dict[str, Any]:
    return {"table": example.table, "why": example.why, "row": dict(example.row), "cut": list(example.cut)}


def _findings(report: Report) -> dict[str, Any]:
    return {
        "counts": dict(report.counts),
        "by_rule": dict(sorted(report.by_rule.items())),
        "datasets": [
            {
                "path": dataset.path,
                "format": dataset.format,
                "profile": dataset.profile,
                "split": dataset.split,
                "errors": dataset.errors,
                "warnings": dataset.warnings,
            }
            for dataset in report.datasets
        ],
        "unrecognised": list(report.unrecognised),
    }


def _encodable(value: Any) -> Any:
    """The same with what JSON in UTF-8 cannot hold in another form: halves of characters, long integers, bytes."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**64 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {_encodable(str(name)): _encodable(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_encodable(member) for member in value]
    return _HALVES.sub("\ufffd", str(value))
