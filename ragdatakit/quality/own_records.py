"""Own rules over records: JSON Schemas, and functions of plug-ins.

A schema is run in a process of its own. What is written in it may take any time over hostile data (a pattern that
tries all ways to match, schemas that include each other twice and again), and nothing else can end that: a regular
expression holds the whole interpreter.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import FrameType
from typing import Any

from ragdatakit.engines.side_process import SideStream, Watched
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.record_forms import RecordForm
from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.quality.findings import QualityFindings
from ragdatakit.quality.located_records import LocatedRecords
from ragdatakit.quality.own_tables import faults_of
from ragdatakit.quality.record_finder import FoundRecord
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.validators.run_options import RunOptions

_ErrorsOf = Callable[[Any], Iterator[tuple[str, Iterable[Any], Any]]]
"""What is wrong with a value: in words, the way to it, and the part that is wrong."""
_Wrong = tuple[int, RecordForm, Located, str, dict[str, Any], Any]
"""One error of a record: the number of its file, form, the record, the pointer, facts, and the part that is wrong."""
_MOST_ERRORS = 100
"""Errors of one record that are reported; all are counted up to this."""
_AT_ONCE = 256
_SIGN_OF_LIFE = 0.5
"""Seconds after which the process sends what it has, even if that is nothing."""
_GRACE = 5
"""Seconds that the process has to stop itself."""


class WrongSchemaError(RagdataError):
    """A schema cannot be asked, whatever the record, or takes too long over one."""


def check_by_schema(own: OwnRule, dataset: Dataset, found: QualityFindings, options: RunOptions) -> None:
    """Report what is wrong with records by a JSON Schema. Raises `WrongSchemaError`."""
    _refuse_unseen(own, dataset)
    late = f"{own.place}: the schema of {own.rule.code} took more than {own.seconds} s for one record"
    with SideStream(_judge, own, dataset, options.memory_limit) as stream:
        for kind, what in Watched(stream, own.seconds + _GRACE, WrongSchemaError(f"{late} and was stopped")):
            if kind == "error":
                raise what
            if kind == "late":
                number, line = what
                where = f"line {line} of {dataset.files[number].display}"
                remedy = "a pattern in it may try too many ways to match; simplify it, or set a longer `timeout`"
                raise WrongSchemaError(f"{late}, {where}, and was stopped: {remedy}")
            for number, *rest in what:
                _report(own, dataset, found, dataset.files[number], *rest)
            if kind == "end":
                return
    raise WrongSchemaError(f"{own.place}: the process that runs the schema of {own.rule.code} ended early")


def _refuse_unseen(own: OwnRule, dataset: Dataset) -> None:
    """Rows of Parquet files are seen by queries and models only: nothing is passed over silently."""
    for file in dataset.files:
        if (not own.records or file.kind == own.records) and file.path.suffix.lower() == ".parquet":
            reason = f"the rows of {file.display} are not records; write the rule {own.rule.code} as sql or as a model"
            raise WrongSchemaError(f"{own.place}: {reason}")


def check_by_plugin(own: OwnRule, dataset: Dataset, found: QualityFindings, options: RunOptions) -> None:
    """Report what the function of a plug-in gives for records. Raises `PluginError`."""
    assert own.plugin is not None
    _refuse_unseen(own, dataset)
    records = LocatedRecords(options.memory_limit, options.progress)
    for number, form, located, record in _records(own, dataset, records):
        for fault in faults_of(own, own.plugin.check_record, record):
            facts = {**fault.facts, "value": fault.value, "key": fault.key}
            _report(own, dataset, found, dataset.files[number], form, located, fault.pointer, facts, fault.value)


def _records(own: OwnRule, dataset: Dataset, records: LocatedRecords) -> Iterator[tuple[int, RecordForm, Located, Any]]:
    """The records that a rule is for, with the numbers of their files."""
    for number, file in enumerate(dataset.files):
        if not own.records or file.kind == own.records:
            for form, located, record in records.of(dataset, file):
                yield number, form, located, record


def _report(
    own: OwnRule,
    dataset: Dataset,
    found: QualityFindings,
    file: DataFile,
    form: RecordForm,
    located: Located,
    pointer: str,
    facts: Any,
    wrong: Any,
) -> None:
    name = own.rule.name
    if not found.collector.room(name, file):
        found.collector.count(name, file, records=(located.record,))
        return
    place = FoundRecord(file, form, located, pointer or None).place("", dataset.format)
    found.collector.add(file, Problem(name, pointer or None, wrong, facts), place)


def _judge(send: Callable[[tuple[str, Any]], None], own: OwnRule, dataset: Dataset, memory_limit: int) -> None:
    """In the process: send what is wrong with the records."""
    waiting: list[_Wrong] = []
    sent = time.monotonic()
    clock = _Clock(own.seconds)
    try:
        errors_of = _errors_of(own)
        for number, form, located, record in _records(own, dataset, LocatedRecords(memory_limit)):
            try:
                with clock:
                    waiting += (
                        (number, form, located, pointer, {"error": reason, "value": wrong}, wrong)
                        for pointer, reason, wrong in _of_record(own, record, errors_of)
                    )
            except TimeoutError:
                send(("late", (number, located.line)))
                return
            if len(waiting) >= _AT_ONCE or time.monotonic() > sent + _SIGN_OF_LIFE:
                send(("wrong", waiting))
                waiting, sent = [], time.monotonic()
    except RagdataError as error:
        send(("error", error))
    except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
        send(("error", RagdataError(f"{type(error).__name__}: {error}")))
    else:
        send(("end", waiting))


def _of_record(own: OwnRule, record: Any, errors_of: _ErrorsOf) -> Iterator[tuple[str, str, Any]]:
    if own.field and not (isinstance(record, dict) and own.field in record):
        return
    value = record[own.field] if own.field else record
    above = f"/{escape(own.field)}" if own.field else ""
    for reason, path, wrong in errors_of(value):
        yield above + "".join(f"/{escape(str(part))}" for part in path), reason, wrong


class _Clock:
    """Raises `TimeoutError` in a block that takes longer, where the system has such a clock."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._can = hasattr(signal, "setitimer")
        if self._can:
            signal.signal(signal.SIGALRM, self._ring)

    def __enter__(self) -> None:
        if self._can:
            signal.setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_: object) -> None:
        if self._can:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _ring(self, _signal: int, _frame: FrameType | None) -> None:
        raise TimeoutError


def _errors_of(own: OwnRule) -> _ErrorsOf:
    """What says what is wrong with a value; nothing is fetched for it.

    Raises `WrongSchemaError` where the schema itself is wrong, `MissingExtraError` where jsonschema is not installed.
    """
    try:
        import jsonschema
        from referencing import Registry
        from referencing.exceptions import Unresolvable
    except ImportError:
        raise MissingExtraError("rules", "jsonschema") from None
    schema = dict(own.schema or {})
    kind = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except jsonschema.SchemaError as error:
        way = "/".join(map(str, error.absolute_path))
        raise WrongSchemaError(
            f"{own.place}: the schema of {own.rule.code} is none: {way}: {error.message[:200]}"
        ) from None
    validator = kind(schema, registry=Registry())

    def errors(value: Any) -> Iterator[tuple[str, Iterable[Any], Any]]:
        try:
            for error in islice(validator.iter_errors(value), _MOST_ERRORS):
                yield error.message, error.absolute_path, error.instance
        except Unresolvable as error:
            reason = f"nothing is found at its $ref {error.ref}; nothing is fetched for it"
            raise WrongSchemaError(f"{own.place}: the schema of {own.rule.code}: {reason}") from None
        except RecursionError:
            reason = "it includes itself without end, or a record is nested too deeply for it"
            raise WrongSchemaError(f"{own.place}: the schema of {own.rule.code}: {reason}") from None

    return errors
