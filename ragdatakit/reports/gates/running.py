"""Suites run by Great Expectations over pandas frames, column by column, without telemetry, network or files."""

from __future__ import annotations

import io
import logging
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.reports.gates.frames import GateFrames
from ragdatakit.reports.gates.suites import DIGESTS_DO, NAMES_ONLY, TYPES, columns_of
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError, UnknownNameError
from ragdatakit.schemas.gates import Check, Expectation, Suite
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    import pandas as pd

_EXAMPLES = 5
_LONGEST = 300
_NUMBER = "ragdata_number"
_SMALL = 1 << 25
"""Bytes of columns that are loaded at once."""
_NO_NUMBERS = re.compile(r"Cannot perform reduction '(\w+)' with string dtype")
_NO_JSON = re.compile(r"^(Expecting|Extra data|Invalid|Unterminated)\b.*: line ")
_Groups = dict[tuple[str, str, tuple[str, ...]], list[Expectation]]


def import_library() -> Any:
    """Great Expectations, set first to send nothing. Raises `MissingExtraError`."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    os.environ.setdefault("TQDM_DISABLE", "1")
    try:
        with silence(), _with_a_main_file():
            import great_expectations
            import pandas as pd  # noqa: F401 - frames are made with it
    except ImportError:
        raise MissingExtraError("gates", "Great Expectations and pandas") from None
    return great_expectations


@contextmanager
def _with_a_main_file() -> Iterator[None]:
    """In the block the main module has a file. Where it has none, as with ``python -c``, PySpark without all that it
    may use takes its import for a run of its own tests, and ends the process with exit code 0: a gate would pass."""
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        yield
        return
    main.__file__ = ""
    try:
        yield
    finally:
        del main.__file__


@contextmanager
def silence() -> Iterator[None]:
    """In the block neither warnings, log lines nor progress bars of the libraries reach the screen."""
    before = logging.root.manager.disable
    nowhere = io.StringIO()
    with warnings.catch_warnings(), redirect_stdout(nowhere), redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        try:
            yield
        finally:
            logging.disable(before)


@contextmanager
def without_fingerprints() -> Iterator[None]:
    """In the block the library takes no digest of each frame, twice, which nothing asks for and takes half the time."""
    from great_expectations.execution_engine import pandas_execution_engine as engine

    before = engine.HASH_THRESHOLD
    engine.HASH_THRESHOLD = 0
    try:
        yield
    finally:
        engine.HASH_THRESHOLD = before


class GateLibrary:
    """Great Expectations with a context of its own, which keeps nothing."""

    def __init__(self) -> None:
        gx = import_library()
        self.version = str(gx.__version__)
        with silence():
            self.context = gx.get_context(mode="ephemeral")
            self.context.enable_analytics(False)
            self.context.variables.progress_bars = {"globally": False, "metric_calculations": False}
            self._source = self.context.data_sources.add_pandas("ragdata")
        self._definitions: dict[str, Any] = {}

    def batch(self, table: str, frame: pd.DataFrame) -> Any:
        """A batch of Great Expectations with these rows."""
        with silence():
            if table not in self._definitions:
                asset = self._source.add_dataframe_asset(table)
                self._definitions[table] = asset.add_batch_definition_whole_dataframe("rows")
            return self._definitions[table].get_batch({"dataframe": frame})

    def build(self, expectation: Expectation) -> Any:
        """The expectation as an object of the library. Raises `RagdataError` for an unknown one and wrong arguments."""
        from great_expectations.expectations.expectation_configuration import ExpectationConfiguration
        from great_expectations.expectations.registry import list_registered_expectation_implementations

        if expectation.fault:
            raise RagdataError(expectation.fault)
        known = list_registered_expectation_implementations()
        if expectation.type not in known:
            raise UnknownNameError("expectation", expectation.type, known)
        try:
            with silence():
                return ExpectationConfiguration(
                    type=expectation.type,
                    kwargs=dict(expectation.kwargs),
                    meta={_NUMBER: expectation.number},
                    severity=expectation.severity,
                ).to_domain_obj()
        except Exception as error:  # noqa: BLE001 - of whatever kind: it is about these arguments
            refuse_machine_fault(error)
            raise RagdataError(_reason(error)) from None

    def run(self, suite: str, frame: pd.DataFrame, table: str, built: Mapping[int, Any]) -> dict[int, Any]:
        """The library's results for these expectations, by their numbers."""
        from great_expectations.core.expectation_suite import ExpectationSuite

        wanted = {"result_format": "SUMMARY", "partial_unexpected_count": _EXAMPLES}
        with silence(), without_fingerprints():
            batch = self.batch(table, frame)
            result = batch.validate(
                ExpectationSuite(name=suite, expectations=list(built.values())), result_format=wanted
            )
        return {r.expectation_config.meta[_NUMBER]: r for r in result.results}


def _reason(error: Exception) -> str:
    """What is wrong, in one line."""
    errors: Any = getattr(error, "errors", None)
    listed = errors() if callable(errors) else None
    if isinstance(listed, list) and listed and isinstance(listed[0], dict):
        first: dict[str, str] = {}  # of a value that may be of several types, each complains
        for fault in listed:
            where = ".".join(map(str, fault.get("loc", ()))).removesuffix("__root__")
            first.setdefault(where, f"{where}: {fault.get('msg')}" if where else str(fault.get("msg")))
        text = "; ".join(first.values())
    else:
        text = str(error) or type(error).__name__
    return shortened(" ".join(text.split()), _LONGEST)


def run_suite(
    library: GateLibrary,
    suite: Suite,
    frames: GateFrames,
    keep: dict[str, list[Any]] | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> list[Check]:
    """What becomes of the expectations of a suite, in their order.

    Frames have the columns that expectations name, no others; where they are big, those of one expectation. ``keep``
    takes the library's own results, by table; ``progress`` is called with how many expectations are checked. An
    expectation that cannot be checked hides no other.
    """
    checks: dict[int, Check] = {}
    built, groups = _prepared(library, suite, frames, checks)
    for (table, what, columns), expectations in _joined(groups, frames).items():
        if progress is not None:
            progress(f"checking {table}", len(checks), len(suite.expectations))
        frame = frames.empty(table) if what == "names" else frames.frame(table, columns, what == "digests")
        if what == "types":
            frame = frame.astype(dict.fromkeys(frame.select_dtypes("str"), object))
        results = _tried(library, suite, frame, table, {e.number: built[e.number] for e in expectations})
        for expectation in expectations:
            number = expectation.number
            found = results if isinstance(results, str) else results[number]
            if len(expectations) > 1 and (isinstance(found, str) or _raised(found.exception_info or {})):
                alone = _tried(library, suite, frame, table, {number: built[number]})  # it may be another's
                found = alone if isinstance(alone, str) else alone[number]
            if isinstance(found, str):
                checks[number] = Check(suite.name, expectation, False, fault=found, error=True)
                continue
            if keep is not None:
                keep.setdefault(table, []).append(found)
            check = _check(suite, expectation, found)
            if what == "names" and not check.success and check.observed is None:
                check = replace(check, observed=frames.own_columns(table))
            checks[expectation.number] = check
    return [checks[expectation.number] for expectation in suite.expectations]


def _tried(
    library: GateLibrary, suite: Suite, frame: pd.DataFrame, table: str, built: Mapping[int, Any]
) -> dict[int, Any] | str:
    """The library's results, by number; what it raised instead of answering, in words."""
    try:
        return library.run(suite.name, frame, table, built)
    except Exception as error:  # noqa: BLE001 - of whatever kind: it is about these expectations
        refuse_machine_fault(error)
        return f"the library failed: {_reason(error)}"


def _prepared(
    library: GateLibrary, suite: Suite, frames: GateFrames, checks: dict[int, Check]
) -> tuple[dict[int, Any], _Groups]:
    """The library's expectations by number, and ours by what they read; those that read nothing go to ``checks``."""
    built: dict[int, Any] = {}
    groups: _Groups = {}
    for expectation in suite.expectations:
        number, table = expectation.number, expectation.table
        try:
            built[number] = library.build(expectation)
            columns = columns_of(expectation)
            if table in frames:
                columns = tuple(frames.own_columns(table)) if columns is None else columns
                frames.check(table, columns)
        except MachineError:
            raise
        except RagdataError as error:
            checks[number] = Check(suite.name, expectation, False, fault=str(error), error=True)
            continue
        if table not in frames or columns is None:
            fault = f"the dataset has no table {table}; it has {', '.join(frames.names())}"
            checks[number] = Check(suite.name, expectation, False, fault=fault)
            continue
        groups.setdefault((table, _kind(expectation), columns), []).append(expectation)
    return built, groups


def _kind(expectation: Expectation) -> str:
    """What of a table an expectation is shown."""
    if expectation.type in NAMES_ONLY:
        return "names"
    if expectation.type in TYPES:
        return "types"
    return "digests" if expectation.type in DIGESTS_DO and "row_condition" not in expectation.kwargs else "rows"


def _joined(groups: _Groups, frames: GateFrames) -> _Groups:
    """The expectations on a table together where all their columns are small: each run has its price.

    Where only those of the expectations on rows are small, these are; digests are for what is big. What counts all rows
    of a table that is sampled stays by itself.
    """
    joined: _Groups = {}
    columns: dict[tuple[str, bool], set[str]] = {}
    for table, what, named in groups:
        for with_digests in (False, True):
            if what == "rows" or (what == "digests" and with_digests):
                columns.setdefault((table, with_digests), set()).update(named)
    small = {at: tuple(sorted(c)) for at, c in columns.items() if frames.size(at[0], sorted(c)) <= _SMALL}
    for (table, what, named), expectations in groups.items():
        counts_all = not named and frames.checked(table) < frames.rows(table)
        if what not in ("names", "types") and not counts_all and (table, True) in small:
            key = (table, "rows", small[table, True])
        else:
            key = (table, what, small.get((table, False), named) if what == "rows" and not counts_all else named)
        joined.setdefault(key, []).extend(expectations)
    return joined


def _check(suite: Suite, expectation: Expectation, found: Any) -> Check:
    with silence():
        document = found.to_json_dict()
    result: dict[str, Any] = document.get("result") or {}
    fault = _raised(document.get("exception_info") or {})
    if fault:
        if found_type := _NO_NUMBERS.search(fault):
            fault = f"the column holds texts, which have no {found_type[1]}"
        if "json_schema" in expectation.type and _NO_JSON.search(fault):
            fault = f"a value is not JSON ({fault}); expect_column_values_to_be_json_parseable finds which"
        return Check(suite.name, expectation, False, fault=fault, error=True)
    if not found.success and not result and expectation.type not in NAMES_ONLY:
        return Check(suite.name, expectation, False, fault="it gave no result", error=True)
    return Check(
        suite.name,
        expectation,
        bool(found.success),
        observed=_short(result.get("observed_value")),
        values=_looked_at(result),
        unexpected=_whole(result.get("unexpected_count")),
        examples=tuple(map(_short, (result.get("partial_unexpected_list") or ())[:_EXAMPLES])),
        missing=tuple(map(_short, (result.get("partial_missing_list") or ())[:_EXAMPLES])),
    )


def _raised(exceptions: Mapping[str, Any]) -> str:
    """What an expectation raised while it was checked, in one line; empty where it did not."""
    parts = (
        [exceptions] if "raised_exception" in exceptions else [p for p in exceptions.values() if isinstance(p, dict)]
    )
    messages = [str(p.get("exception_message") or "it failed") for p in parts if p.get("raised_exception")]
    return shortened(" ".join("; ".join(dict.fromkeys(messages)).split()), _LONGEST)


def _looked_at(result: Mapping[str, Any]) -> int | None:
    """How many values were looked at: missing ones are passed over."""
    values, missing = _whole(result.get("element_count")), _whole(result.get("missing_count"))
    return values - (missing or 0) if values is not None else None


def _whole(value: Any) -> int | None:
    return int(value) if isinstance(value, int | float) else None


def _short(value: Any) -> Any:
    """A value of the library's as one of Python's own, long ones cut."""
    if isinstance(value, str):
        return shortened(value, _LONGEST)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, Sequence):
        rest = [f"… {len(value) - 50:,} more"] if len(value) > 50 else []
        return [*map(_short, value[:50]), *rest]
    if isinstance(value, dict):
        return {str(name): _short(member) for name, member in value.items()}
    return value if value is None or isinstance(value, int | float) else shortened(str(value), _LONGEST)
