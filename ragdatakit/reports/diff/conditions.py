"""Conditions under which a comparison fails: ``documents.removed > 5%``."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.diffs import DatasetDiff, MetCondition
from ragdatakit.schemas.errors import RagdataError, UnknownNameError

_CONDITION = re.compile(
    r"\s*(?P<name>[A-Za-z_][\w.@ -]*?)\s*(?P<sign>>=|<=|>|<)\s*"
    r"(?P<number>[+-]?\d[\d_,]*(?:\.\d+)?)\s*(?P<percent>%?)\s*"
)
_SIGNS: Mapping[str, Callable[[float, float], bool]] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
}
_ENDINGS = ("rows", "missing", "empty", "duplicates", "mean", "p50", "p95", "maximum")
"""What the numbers of a table are called behind its name."""
KINDS = ("added", "removed", "changed")
_EXPECTED = "expected a number of records, as documents.removed > 5%, or a metric, as documents.rows < -5%"


@dataclass(frozen=True, slots=True)
class Condition:
    """What must not be: ``text`` is how it was written. ``kind`` is what is counted of the records of ``table`` (empty:
    of all canonical tables); where it is empty, ``metric`` is the number that must not move so."""

    text: str
    sign: str
    number: float
    percent: bool
    table: str = ""
    kind: str = ""
    metric: str = ""

    def met(self, diff: DatasetDiff) -> Iterator[MetCondition]:
        """Where it is so, in the datasets that are compared."""
        for each in (diff, *(pair.diff for pair in diff.pairs)):
            found = self._of_metric(each) if self.metric else self._of_records(each)
            if found is not None and _SIGNS[self.sign](found, self.number):
                yield MetCondition(self.text, each.after.path or each.before.path, self._words(found))

    def _words(self, value: float) -> str:
        return (
            f"{value:+,.3g} %" if self.percent and self.metric else f"{value:,.3g} %" if self.percent else f"{value:,g}"
        )

    def _of_records(self, diff: DatasetDiff) -> float | None:
        tables = [t for t in diff.tables if t.schema == "main" and self.table in ("", t.name)]
        count: int = sum(getattr(table, self.kind) for table in tables)
        if not self.percent:
            return count if tables or not diff.pairs else None
        before = sum(table.before or 0 for table in tables)
        return 100 * count / before if before else 100.0 if count else 0.0

    def _of_metric(self, diff: DatasetDiff) -> float | None:
        metric = next((m for m in diff.metrics if m.name == self.metric), None)
        if metric is None:  # it did not move, or is none
            return None
        if not self.percent:
            return metric.after - metric.before
        share = metric.moved
        return 100 * share if share is not None else float("inf") if metric.after > 0 else float("-inf")


def condition_of(text: str, place: str = "") -> Condition:
    """The condition that is written so. Raises `RagdataError` where it is none, `UnknownNameError` for a table that
    does not exist; ``place`` is the file and line that has it."""
    above = f"{place}: " if place else ""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise RagdataError(f"{above}{text!r} is not a condition; {_EXPECTED}")
    table, _, kind = match["name"].rpartition(".")
    number = float(match["number"].replace(",", "").replace("_", ""))
    given = (text.strip(), match["sign"], number, bool(match["percent"]))
    if kind not in KINDS:
        if not table:
            raise RagdataError(f"{above}{text!r} is not a condition; {_EXPECTED}")
        _refuse_unknown_metric(match["name"], place)
        return Condition(*given, metric=match["name"])
    if table and table not in TABLES:
        raise UnknownNameError("table", table, TABLES, place=place)
    return Condition(*given, table=table, kind=kind)


def _refuse_unknown_metric(name: str, place: str) -> None:
    """Raise `UnknownNameError` for the name of a number that no dataset has. Only data show its columns."""
    table, _, rest = name.partition(".")
    above, _, ending = name.rpartition(".")
    if table not in (*TABLES, "graph", "note"):
        raise UnknownNameError("metric", name, [f"{known}.{rest}" for known in TABLES], place=place)
    if table in TABLES and ending not in _ENDINGS:
        raise UnknownNameError("metric", name, [f"{above}.{known}" for known in _ENDINGS], place=place)
