"""One row of RAGChecker's results: its passages, and whether its labels fit its claims and passages."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.containers.strict_json import escape
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.ragchecker.metrics import (
    CLAIMS,
    LABELS,
    LISTS,
    MATRICES,
    METRICS,
    SAME_ROWS,
    is_complete,
    is_number,
    row_metrics,
)
from ragdatakit.schemas.ragchecker.records import ROW
from ragdatakit.schemas.texts import many
from ragdatakit.validators.lacking import unusable

_SHAPES = {"unknown-label", "misshapen-labels", "labels-not-list"}
_CLOSE = 1e-9
_KNOWN = frozenset(LABELS)


def row_problems(row: dict[str, Any]) -> Iterator[Problem]:
    """The faults of a row that are not declared, except for those of its metrics."""
    for field in ("gt_answer", "response"):
        found = row.get(field)
        if isinstance(found, str) and not found.strip():
            yield Problem("empty-answer", f"/{field}", found, {"field": field})
    yield from _passages(row, is_complete(row))
    yield from _presence(row)
    for name in LISTS:
        if isinstance(row.get(name), list):
            yield from _labels(row[name], f"/{name}")
            yield from _list_shape(row, name)
    for name in MATRICES:
        if isinstance(row.get(name), list):
            for i, labels in enumerate(row[name]):
                if isinstance(labels, list):
                    yield from _labels(labels, f"/{name}/{i}")
            yield from _matrix_shape(row, name)
    yield from _same_width(row)


def is_sound(row: dict[str, Any], rules: set[str]) -> bool:
    """Whether the metrics of a row that breaks these rules can be computed: its labels are lists that fit together."""
    lists = all(row.get(name) is None or isinstance(row[name], list) for name in CLAIMS)
    return lists and _SHAPES.isdisjoint(rules)


def metric_problems(row: dict[str, Any], sound: bool) -> Iterator[Problem]:
    """Stored metrics that are not numbers, or not those that the labels give."""
    stored = row.get("metrics")
    if not isinstance(stored, dict):
        return
    computed = row_metrics(row) if sound else {}
    for name, value in stored.items():
        where, facts = f"/metrics/{escape(name)}", {"field": name}
        number = as_number(value)
        if number is None or not math.isfinite(number):
            yield Problem("metric-not-number", where, value, facts)
            continue
        if not is_number(value):
            yield Problem("metric-as-text", where, value, facts)
        if name in computed:
            if abs(number - computed[name]) > _CLOSE:
                yield Problem("stored-metric-differs", where, value, {**facts, "expected": computed[name]})
        elif name in METRICS and not 0 <= number <= 1:
            yield Problem("metric-out-of-range", where, value, facts)


def as_number(value: Any) -> float | None:
    """What the tool makes of a metric; None where it stops."""
    if not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None


def _passages(row: dict[str, Any], complete: bool) -> Iterator[Problem]:
    passages = row.get("retrieved_context")
    if passages is None:
        rule = "passages-left-out" if complete else "passages-not-given"
        field = ROW.field("retrieved_context")
        problem = unusable(rule, "", row, field.name, (), elsewhere=field.elsewhere)
        problem.facts["found"] = f"retrieved_context is {problem.facts.get('fault', 'null')}"
        yield problem
        return
    if not isinstance(passages, list):
        return  # declared
    if not passages:
        yield Problem("no-passages", "/retrieved_context", None)
    seen: dict[str, tuple[int, Any]] = {}
    for i, passage in enumerate(passages):
        where = f"/retrieved_context/{i}"
        if passage is None:
            found = f"passage {i} of retrieved_context is null"
            yield Problem("passages-left-out" if complete else "passages-not-given", where, None, {"found": found})
        elif not isinstance(passage, dict):
            yield Problem("unusable-passages", where, passage)
        else:
            yield from _passage(passage, where, complete)
            yield from _twice(passage, i, where, seen)


def _passage(passage: dict[str, Any], where: str, complete: bool) -> Iterator[Problem]:
    text = passage.get("text")
    if isinstance(text, str) and text.strip():
        pass
    elif isinstance(text, str) or complete:
        yield Problem("empty-passage", f"{where}/text" if "text" in passage else where, text)
    else:
        found = "a text that is not a string" if text is not None else "null for a text" if "text" in passage else ""
        other = next((k for k in ("content", "page_content", "contents", "passage") if k in passage), "")
        found = found or (f"no text, but {other}" if other else "no text")
        yield Problem("passage-without-text", f"{where}/text" if "text" in passage else where, text, {"found": found})
    if passage.get("doc_id") is None:
        yield Problem("passage-without-id", f"{where}/doc_id" if "doc_id" in passage else where, None)


def _twice(passage: dict[str, Any], i: int, where: str, seen: dict[str, tuple[int, Any]]) -> Iterator[Problem]:
    doc_id, text = passage.get("doc_id"), passage.get("text")
    if doc_id is None or not isinstance(doc_id, str | int) or not isinstance(text, str):
        return
    first, before = seen.setdefault(f"{doc_id}\0{passage.get('chunk_id')}", (i, text))
    if before != text:
        yield Problem("doc-id-of-two-texts", f"{where}/doc_id", doc_id, {"first": first + 1, "second": i + 1})


def _presence(row: dict[str, Any]) -> Iterator[Problem]:
    missing = [name for name in CLAIMS if row.get(name) is None]
    if missing and len(missing) < len(CLAIMS):
        yield Problem("incomplete-labels", f"/{missing[0]}", None, {"missing": ", ".join(missing)})
    claims = [c for c in dict.fromkeys(CLAIMS.values()) if row.get(c) is None]
    lacking = [c for c in claims if any(row.get(name) is not None for name in CLAIMS if CLAIMS[name] == c)]
    if lacking:
        yield Problem("labels-without-claims", f"/{lacking[0]}", None, {"missing": ", ".join(lacking)})


def _labels(labels: list[Any], where: str) -> Iterator[Problem]:
    try:
        if all(map(_KNOWN.__contains__, labels)):
            return
    except TypeError:  # a list or an object among them
        pass
    for i, label in enumerate(labels):
        if not isinstance(label, str) or label not in LABELS:
            yield Problem("unknown-label", f"{where}/{i}", label, nearly=_meant(label))


def _meant(label: Any) -> str:
    """The label that is meant, where it is but spelt otherwise."""
    spelt = label.strip().lower() if isinstance(label, str) else ""
    return next((known for known in LABELS if known.lower() == spelt), "")


def _list_shape(row: dict[str, Any], name: str) -> Iterator[Problem]:
    claims, labels = row.get(CLAIMS[name]), row[name]
    if isinstance(claims, list) and len(claims) != len(labels):
        yield _misshapen(f"/{name}", f"{many(len(labels), 'label')} in {name}", claims, CLAIMS[name])


def _matrix_shape(row: dict[str, Any], name: str) -> Iterator[Problem]:
    matrix = row[name]
    flat = next((i for i, labels in enumerate(matrix) if not isinstance(labels, list)), None)
    if flat is not None:
        reason = f"{name} has a label where a list of them is expected, one for each passage"
        yield Problem("misshapen-labels", f"/{name}/{flat}", None, {"mismatch": reason})
        return
    claims, beside = row.get(CLAIMS[name]), SAME_ROWS[name]
    against = CLAIMS[name]
    if not isinstance(claims, list):
        claims, against = row.get(beside), beside
    if isinstance(claims, list) and len(claims) != len(matrix):
        yield _misshapen(f"/{name}", f"{many(len(matrix), 'list')} in {name}", claims, against)
    widths = array("q", map(len, matrix))
    odd = next((i for i, width in enumerate(widths) if width != widths[0]), None)
    if odd is not None:
        reason = f"{many(widths[odd], 'label')} for claim {odd + 1} in {name}, and {widths[0]} for the first"
        yield Problem("misshapen-labels", f"/{name}/{odd}", None, {"mismatch": reason})
        return
    passages = row.get("retrieved_context")
    if widths and isinstance(passages, list) and passages and widths[0] != len(passages):
        yield _misshapen(f"/{name}/0", f"{many(widths[0], 'label')} a claim in {name}", passages, "retrieved_context")


def _same_width(row: dict[str, Any]) -> Iterator[Problem]:
    """Both matrices have a column for each passage, also where the passages are not there."""
    if isinstance(row.get("retrieved_context"), list) and row["retrieved_context"]:
        return
    first, second = (row.get(name) for name in MATRICES)
    if not (isinstance(first, list) and isinstance(second, list) and first and second):
        return
    if isinstance(first[0], list) and isinstance(second[0], list) and len(first[0]) != len(second[0]):
        reason = f"{many(len(second[0]), 'label')} a claim in {MATRICES[1]}, and {len(first[0])} in {MATRICES[0]}"
        yield Problem("misshapen-labels", f"/{MATRICES[1]}/0", None, {"mismatch": reason})


def _misshapen(where: str, found: str, expected: list[Any], what: str) -> Problem:
    return Problem("misshapen-labels", where, None, {"mismatch": f"{found}, and {what} has {len(expected)}"})
