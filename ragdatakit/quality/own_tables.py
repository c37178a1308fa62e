"""Own rules over tables: a query, each row of whose result is a finding; a pandera model; a plug-in's function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from string import Formatter
from typing import TYPE_CHECKING, Any, Protocol

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.quality.findings import QualityFindings, RecordLookup
from ragdatakit.schemas.errors import MissingExtraError, QueryError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.options import QueryOptions
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.schemas.settings.plugins import Fault, PluginError, imported, reason_of
from ragdatakit.validators.collector import Place

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa


_FILLED = ("value", "field")
"""Names in a message that are filled in where a row has no such column."""


class Tables(Protocol):
    """What answers queries over what is at a path."""

    def rows(self, path: Any, sql: str, options: QueryOptions, /) -> Iterator[Mapping[str, object]]:
        """The rows, by their columns. Raises `QueryError` for what is wrong with the query."""

    def arrow(self, path: Any, sql: str, options: QueryOptions, /) -> pa.Table:
        """All rows in memory. Raises `QueryError` where they take more than may be used, too."""


def check_by_query(own: OwnRule, path: Path, tables: Tables, words: QueryOptions, found: QualityFindings) -> None:
    """Each row is a finding. Raises `QueryError` where the message names a column that the rows have not."""
    for number, row in enumerate(tables.rows(path, own.sql, words)):
        if not number:
            _refuse_unknown_names(own, row)
        _take_row(own, row, found)


def _refuse_unknown_names(own: OwnRule, row: Mapping[str, object]) -> None:
    named = [name for _, name, _, _ in Formatter().parse(own.rule.message) if name]
    unknown = next((name for name in named if name not in row and name not in _FILLED), None)
    if unknown is not None:
        raise QueryError(f"it gives no column {unknown}, which the message names; it gives {', '.join(row)}")


def _take_row(own: OwnRule, row: Mapping[str, object], found: QualityFindings) -> None:
    """A row of a query: where it names a line, that is the place; else the record with the value and the key is."""
    name, facts = own.rule.name, {str(column): value for column, value in row.items()}
    line, value = row.get("_line"), row.get("value")
    file = _named(found, row.get("_file"))
    if isinstance(line, int) and line > 0 and file is not None:
        pointer = str(row["pointer"]) if row.get("pointer") else None
        key = str(row["key"]) if row.get("key") is not None else None
        found.collector.add(file, Problem(name, pointer, value, facts), Place(line=line, key=key))
        return
    values = _texts((value, row.get("key"))) or _texts(row.values())
    found.keep(name, RecordLookup(values), value if value is not None else row.get("key"), facts)


def _named(found: QualityFindings, name: object) -> DataFile | None:
    files = [file for part in found.parts for file in part.files]
    return next((file for file in files if name in (file.name, file.display)), None)


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    """Values as records are looked up by them."""
    texts = (v if isinstance(v, str) else str(v) if type(v) in (int, float) else "" for v in values)
    return tuple(text for text in texts if text)


def check_rows_by_plugin(own: OwnRule, path: Path, tables: Tables, words: QueryOptions, found: QualityFindings) -> None:
    """The function of a plug-in gets the rows in a stream."""
    plugin = own.plugin
    assert plugin is not None
    assert plugin.check_rows is not None
    columns = ", ".join(map(sql_name, plugin.columns)) or "*"
    rows = tables.rows(path, f"select {columns} from {_table(plugin.table)}", words)
    for fault in faults_of(own, plugin.check_rows, rows):
        row = {**fault.facts, "value": fault.value, "key": fault.key}
        _take_row(own, row, found)


def faults_of(own: OwnRule, check: Any, what: Any) -> Iterator[Fault]:
    """What the function of a plug-in gives. Raises `PluginError` where it fails, or gives something else."""
    given = _Given(what)
    try:
        for fault in check(given if isinstance(what, Iterator) else what):
            if not isinstance(fault, Fault):
                expected = "expected ragdatakit.Fault"
                raise PluginError(f"{own.place}: the rule {own.rule.code} gave {type(fault).__name__}, {expected}")
            yield fault
    except PluginError:
        raise
    except (Exception, SystemExit) as error:
        if error is given.raised:
            raise
        raise PluginError(f"{own.place}: the rule {own.rule.code} failed: {reason_of(error)}") from None


class _Given:
    """The rows that a plug-in gets; ``raised`` is what went wrong with them, which is not its fault."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._rows = rows
        self.raised: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._rows)
        except StopIteration:
            raise
        except Exception as error:
            self.raised = error
            raise


def check_by_model(own: OwnRule, path: Path, tables: Tables, words: QueryOptions, found: QualityFindings) -> None:
    """A pandera model of a table, which is in memory as a whole: models may compare its rows with each other."""
    validate = _model(own)
    try:
        frame: pd.DataFrame = tables.arrow(path, f"select * from {_table(own.table)}", words).to_pandas()
    except ImportError:
        raise MissingExtraError("frames", "pandas, pandera and pyarrow") from None
    for failure in validate(frame):
        column, number = failure["column"], failure["index"]
        row = frame.iloc[int(number)] if number == number and number is not None else None  # a NaN is not itself
        values = [failure["failure_case"]] if row is None else [row.get(column), *row]
        value = values[0] if row is not None else None
        facts = {
            "column": column,
            "check": failure["check"],
            "value": failure["failure_case"],
            "error": _words(failure, row is None),
        }
        lookup = RecordLookup(_texts(map(_plain, values))) if row is not None else RecordLookup(())
        found.keep(own.rule.name, lookup, _plain(value), facts)


def _words(failure: Mapping[str, Any], whole: bool) -> str:
    case, check = failure["failure_case"], str(failure["check"])
    if check in ("column_in_dataframe", "column_in_schema"):
        return f"the table has {'no' if check.endswith('dataframe') else 'a'} column {case!r}"
    if whole:
        return f"{failure['column'] or 'the table'}: {check} fails for {case!r}"
    return f"{failure['column']} is {case!r}, which fails {check}"


def _model(own: OwnRule) -> Any:
    """What gives the failures of a frame under the model of a rule. Raises `PluginError` where there is none."""
    try:
        import pandera.pandas as pandera
        from pandera.errors import SchemaErrors
    except ImportError:
        raise MissingExtraError("frames", "pandas, pandera and pyarrow") from None
    module, _, name = own.model.partition(":")
    above = f"{own.place}: the model {own.model} of {own.rule.code}"
    try:
        model: Any = getattr(imported(module), name, None)
        is_class = isinstance(model, type) and issubclass(model, pandera.DataFrameModel)
        schema = model.to_schema() if is_class else model
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever foreign code raises
        raise PluginError(f"{above} cannot be loaded: {reason_of(error)}") from None
    if model is None:
        raise PluginError(f"{above} does not exist: {module} has no {name}")
    if not isinstance(schema, pandera.DataFrameSchema):
        raise PluginError(f"{above} is {type(model).__name__}, expected a pandera DataFrameModel or DataFrameSchema")

    def failures(frame: pd.DataFrame) -> Iterator[dict[str, Any]]:
        try:
            schema.validate(frame, lazy=True)
        except SchemaErrors as error:
            yield from error.failure_cases.to_dict("records")
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever foreign code raises
            raise PluginError(f"{above} failed: {reason_of(error)}") from None

    return failures


def _plain(value: Any) -> Any:
    """A cell of a frame as Python has it."""
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value


def _table(name: str) -> str:
    return ".".join(map(sql_name, name.split(".", 1)))
