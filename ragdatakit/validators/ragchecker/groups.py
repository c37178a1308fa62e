"""The metrics of a whole file: whether the tool can take them, and whether they are the means of the rows."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping
from typing import Any

from ragdatakit.files.containers import strict_json
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.ragchecker.metrics import GROUPS, LEGACY_GROUPS, METRICS, group_means, is_number, kept_metrics

_CLOSE = 0.05 + 1e-9
_KINDS = {type(None): "null", list: "a list", str: "a text", bool: "true or false", int: "a number", float: "a number"}


class GroupMeans:
    """Collects the metrics of the rows of one file; some metrics may be known of some rows only."""

    def __init__(self) -> None:
        self._values = {name: array("d") for name in METRICS}

    def add(self, row: dict[str, Any], sound: bool) -> None:
        """One more row."""
        for name, value in (kept_metrics(row) if sound else {}).items():
            self._values[name].append(value)

    def extend(self, other: GroupMeans) -> None:
        """The rows that come next."""
        for name, values in other._values.items():
            self._values[name].extend(values)

    def means(self, rows: int) -> dict[str, dict[str, float]]:
        """By group, the means that the tool writes; without metrics that are not known of so many ``rows``."""
        return group_means({name: v for name, v in self._values.items() if rows and len(v) == rows})


def group_problems(element: Element, means: Mapping[str, Mapping[str, float]]) -> Iterator[Problem]:
    """The faults of the member ``metrics`` around the rows, each at its place."""
    text = f"{{{element.raw.decode('utf-8', 'replace')}}}"
    found = (strict_json.decode(text).value or {}).get("metrics")
    for problem in _problems(found, means):
        span = strict_json.locate(text, f"/metrics{problem.pointer}") or (1, 0)
        before = text[1 : span[0]]
        lines = before.count("\n")
        margin = 0 if lines else element.indent.characters
        problem.position = span[0] - 1 - (before.rfind("\n") + 1) + margin
        problem.line, problem.pointer = element.line + lines, f"/metrics{problem.pointer}"
        yield problem


def _problems(found: Any, means: Mapping[str, Mapping[str, float]]) -> Iterator[Problem]:
    if not isinstance(found, dict):
        yield _unusable("", found, "metrics")
        return
    missing = [group for group in GROUPS if group not in found]
    if legacy := [old for old, new in LEGACY_GROUPS.items() if old in found and new in missing]:
        yield Problem("legacy-groups", f"/{legacy[0]}", legacy[0], {"expected": LEGACY_GROUPS[legacy[0]]})
    elif missing:
        reason = f"metrics lacks {', '.join(missing)}"
        yield Problem("unusable-groups", "", None, {"mismatch": reason})
    for name, group in found.items():
        where = f"/{strict_json.escape(name)}"
        if not isinstance(group, dict):
            yield _unusable(where, group, name)
            continue
        of_rows = means.get(LEGACY_GROUPS.get(name) or name, {})
        for metric, value in group.items():
            place = f"{where}/{strict_json.escape(metric)}"
            if not is_number(value):
                yield _unusable(place, value, metric, "a number")
            elif metric in of_rows and abs(value - of_rows[metric]) > _CLOSE:
                facts = {"field": metric, "expected": of_rows[metric]}
                yield Problem("group-metric-differs", place, value, facts)


def _unusable(where: str, found: Any, name: str, expected: str = "an object") -> Problem:
    reason = f"{name} is {_KINDS.get(type(found), 'an object')}; {expected} is expected"
    return Problem("unusable-groups", where, None, {"mismatch": reason})
