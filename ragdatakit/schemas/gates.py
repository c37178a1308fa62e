"""Gates: expectations on the tables of a dataset, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, ClassVar

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.notebooks.tabular import Tabular

SEVERITIES = ("info", "warning", "critical")
"""How bad it is when an expectation fails, the least first; without one it is ``critical``."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """One expectation of a suite file, as Great Expectations has it.

    ``number`` is its place in the file, from 1; ``table`` is what it is about: a canonical table, or ``files.KIND``.
    ``fault`` says why it cannot be checked, where that is known without any data.
    """

    number: int
    type: str
    table: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    severity: str = "critical"
    description: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Suite:
    """A suite file: its name, where it is, its expectations."""

    name: str
    path: str
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """What became of one expectation.

    ``observed`` is the number or the values that were found, where there is one. ``values`` is how many values were
    looked at, ``unexpected`` how many of them were not as expected, ``examples`` some of these, ``missing`` some values
    of an expected set that are not there. ``fault`` says why it could not be checked, or that the dataset has no such
    table; ``error`` is true for the former.
    """

    suite: str
    expectation: Expectation
    success: bool
    observed: Any = None
    values: int | None = None
    unexpected: int | None = None
    examples: tuple[Any, ...] = ()
    missing: tuple[Any, ...] = ()
    fault: str = ""
    error: bool = False


@dataclass(frozen=True, slots=True)
class GateTable:
    """A table that expectations were about; ``checked`` is how many of its rows were looked at, besides counting."""

    name: str
    rows: int
    checked: int

    @property
    def sampled(self) -> bool:
        """Whether a part of the rows stands for all."""
        return self.checked < self.rows


@dataclass(slots=True, repr=False)
class GateResult(Tabular):
    """What became of all expectations, in the order of the files.

    ``library`` is Great Expectations' version, ``unread`` are sentences about files that could not be read whole,
    ``dataset`` is what the user called it where there are several at ``path``.
    """

    path: str
    name: str
    format: str
    suites: list[Suite] = field(default_factory=list)
    tables: list[GateTable] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    library: str = ""
    unread: list[str] = field(default_factory=list)
    dataset: str = ""
    seconds: float = 0.0
    _COLUMNS: ClassVar[Mapping[str, type]] = {
        **dict.fromkeys(("suite", "table", "column", "expectation", "severity"), str),
        "success": bool,
        **dict.fromkeys(("values", "unexpected"), int),
        **dict.fromkeys(("observed", "fault"), str),
    }

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        """The expectations, and what became of them."""
        for check in self.checks:
            of = check.expectation
            observed = None if check.observed is None else str(check.observed)
            column = None if of.kwargs.get("column") is None else str(of.kwargs["column"])
            numbers = check.values, check.unexpected
            named = check.suite, of.table, column, expectation_words(of), of.severity
            yield *named, check.success, *numbers, observed, check.fault or None

    def __repr__(self) -> str:
        """One line: how many expectations hold, fail, and could not be checked."""
        held = sum(check.success for check in self.checks)
        counts = f"{held:,} of {len(self.checks):,} expectations hold, {len(self.errors):,} not checked"
        return f"<{type(self).__name__} of {self.path!r} ({self.format}): {counts}>"

    @property
    def failed(self) -> list[Check]:
        """The expectations that the data does not meet."""
        return [check for check in self.checks if not check.success and not check.error]

    @property
    def errors(self) -> list[Check]:
        """The expectations that could not be checked."""
        return [check for check in self.checks if check.error]

    @property
    def success(self) -> bool:
        """Whether the data could be read, and all expectations were checked and are met."""
        return not self.unread and all(check.success for check in self.checks)

    def exit_code(self, fail_on: str = "info") -> int:
        """0 passed, 1 an expectation of at least this severity failed, 2 one was not checked, or a file not read."""
        if self.errors or self.unread:
            return 2
        return int(any(_is_at_least(check.expectation.severity, fail_on) for check in self.failed))


def _is_at_least(severity: str, least: str) -> bool:
    return SEVERITIES.index(severity) >= SEVERITIES.index(least)


def expectation_words(expectation: Expectation) -> str:
    """An expectation for people: ``values between 1 and 20``."""
    if share := share_words(expectation):
        return share
    words = expectation.type.removeprefix("expect_").removeprefix("column_").removeprefix("table_").replace("_", " ")
    kwargs = expectation.kwargs
    left_out = {"column", "column_A", "column_B", "column_list", "row_condition"}
    if words.endswith(" to be between"):
        left_out |= {"min_value", "max_value"}
        words = words.removesuffix(" to be between") + _between(kwargs)
    conditions = [
        f"{name.removesuffix('_value').strip('_').replace('_', ' ')} {_value_words(value)}"
        for name, value in kwargs.items()
        if name not in {*left_out, *_NAMED_ALREADY} and value is not None
    ]
    of = " ".join(_value_words(value) for name, value in kwargs.items() if name in _NAMED_ALREADY and value is not None)
    rows = f" where {_condition(kwargs['row_condition'])}" if kwargs.get("row_condition") else ""
    return ", ".join([f"{words} {of}".rstrip(), *conditions]) + rows


_NAMED_ALREADY = ("value", "value_set", "column_set", "regex", "regex_list", "strftime_format", "json_schema", "type_")
"""Arguments that the name of an expectation says what they are: ``values to match regex ^a``."""
_FILES = "files."
"""How tables begin whose columns the dataset names; what a column of the others is, its ending shows."""
_SHARES = {
    ("expect_column_max_to_be_between", "_share"): "one value in",
    ("expect_column_mean_to_be_between", "_found"): "found for",
    ("expect_column_mean_to_be_between", "_damaged"): "damaged in",
}


def share_words(expectation: Expectation) -> str:
    """An expectation on a share of the rows: ``one value in at most 13.47% of the rows``; empty for any other."""
    kwargs = expectation.kwargs
    column, condition = str(kwargs.get("column")), kwargs.get("row_condition")
    own, _, ending = column.rpartition("_")
    words = _SHARES.get((expectation.type, f"_{ending}"), "")
    least, most = kwargs.get("min_value"), kwargs.get("max_value")
    bounds = [f"{100 * n:.4g}%" for n in (least, most) if isinstance(n, int | float)]
    if not words or expectation.table.startswith(_FILES) or not bounds or kwargs.keys() - _OF_SHARES:
        return ""
    if condition is not None:  # which value it is that has this share
        if not isinstance(condition, Mapping) or condition.get("column") != {"name": own} or ending != "share":
            return ""
        words = f"{_value_words(condition.get('parameter'))} in"
    if len(bounds) == 1:
        bounds.insert(0, "at least" if most is None else "at most")
        return f"{words} {' '.join(bounds)} of the rows"
    return f"{words} {' to '.join(bounds)} of the rows"


_OF_SHARES = {"column", "min_value", "max_value", "row_condition"}


def _condition(condition: Any) -> str:
    """A condition on rows: ``split is train and grade > 1``."""
    if not isinstance(condition, Mapping):
        return str(condition)
    if isinstance(condition.get("conditions"), list):
        return f" {condition.get('type')} ".join(map(_condition, condition["conditions"]))
    column = condition.get("column")
    name = column.get("name") if isinstance(column, Mapping) else column
    if condition.get("type") == "nullity":
        return f"{name} is {'missing' if condition.get('is_null') else 'there'}"
    operator = {"==": "is", "!=": "is not", "IN": "is in", "NOT_IN": "is not in"}
    sign = str(condition.get("operator"))
    return f"{name} {operator.get(sign, sign)} {_value_words(condition.get('parameter'))}"


def _between(kwargs: Mapping[str, Any]) -> str:
    least, most = kwargs.get("min_value"), kwargs.get("max_value")
    if least is not None and most is not None:
        return f" between {_value_words(least)} and {_value_words(most)}"
    if most is not None:
        return f" at most {_value_words(most)}"
    return f" at least {_value_words(least)}" if least is not None else " to be between"


def place_words(expectation: Expectation) -> str:
    """What an expectation is about: ``documents.text``, ``qrels (question_id, target_id)``."""
    kwargs = expectation.kwargs
    if isinstance(kwargs.get("column"), str):
        return f"{expectation.table}.{kwargs['column']}"
    columns = [kwargs[name] for name in ("column_A", "column_B") if name in kwargs] or kwargs.get("column_list")
    columns = columns if isinstance(columns, list) else []
    return f"{expectation.table} ({', '.join(map(str, columns))})" if columns else expectation.table


def _value_words(value: Any) -> str:
    if value is None:
        return "any"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_value_words(member)}" for name, member in value.items())
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        listed = list(value)
        rest = f", … ({len(listed):,})" if len(listed) > 8 else ""
        return f"{{{', '.join(_value_words(v) for v in listed[:8])}{rest}}}"
    return str(value)
