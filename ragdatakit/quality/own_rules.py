"""The rules of a project's own: queries in the sandbox of `ragdata query`, and JSON Schemas of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ragdatakit.files.containers.strict_json import escape
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.quality.findings import QualityFindings, RecordLookup
from ragdatakit.quality.record_finder import FoundRecord, RecordFinder
from ragdatakit.quality.run import complete_findings
from ragdatakit.schemas.errors import MachineError, MissingExtraError, QueryError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.options import QueryOptions
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.validators.collector import Collector, Place, RuleState, Selection
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.run_settings import place_of

QueryRows = Callable[[Any, str, QueryOptions], Iterable[Mapping[str, object]]]
"""The rows of a query over what is at a path, by their columns. Raises `QueryError` for what is wrong with it."""

_ErrorsOf = Callable[[Any], Iterator[tuple[str, Iterable[Any], Any]]]
"""What is wrong with a value: in words, the way to it, and the part that is wrong."""
_MOST_ERRORS = 100
"""Errors of one record that are reported; all are counted up to this."""


class _WrongSchemaError(RagdataError):
    """A schema cannot be asked, whatever the record."""


class _OwnCollector(Collector):
    """A collector that knows the rules of the project, and those that any format has."""

    own: Mapping[str, OwnRule]

    def _make_state(self, name: str) -> RuleState:
        own = self.own.get(name)
        if own is None:
            return super()._make_state(name)
        severity = self.selection.severities.get(name, own.rule.severity)
        return RuleState(own.rule, severity, "", self.selection.takes_rule(own.rule))


@dataclass(frozen=True, slots=True)
class OwnRules:
    """What checks datasets by such rules; ``ask`` answers queries."""

    ask: QueryRows

    def check_own(
        self,
        dataset: Dataset,
        rules: Sequence[OwnRule],
        options: RunOptions,
        selection: Selection,
        carried: Counter[str],
    ) -> Collector:
        """As `OwnRuleCheck` says."""
        collector = _OwnCollector(dataset.format, (), selection, options.on_finding, carried)
        collector.own = {own.rule.name: own for own in rules}
        found = QualityFindings([dataset], collector)
        for own in rules:
            if not collector.wants(own.rule.name):
                continue
            errors_of = None if own.sql else _errors_of(own)
            try:
                if errors_of is None:
                    self._query(own, dataset, found, options)
                else:
                    _check_schema(own, errors_of, dataset, found, options)
            except QueryError as error:
                raise RagdataError(f"{own.place}: the query of {own.rule.code}: {error}") from None
            except (MachineError, MissingExtraError, _WrongSchemaError):
                raise
            except Exception as error:  # noqa: BLE001 - what the other rules find must be reported, too
                refuse_machine_fault(error)
                told = str(error) if isinstance(error, RagdataError) else f"{type(error).__name__}: {error}"
                problem = Problem("rule-crashed", facts={"reason": f"{own.rule.code}: {told}"})
                collector.add(found.whole(), problem, Place())
        complete_findings(found, options.memory_limit, None)
        collector.finish()
        return collector

    def _query(self, own: OwnRule, dataset: Dataset, found: QualityFindings, options: RunOptions) -> None:
        if dataset.format.name in PLAIN_SOURCES:
            return
        words = QueryOptions(
            source_format=dataset.format.name,
            timeout=own.seconds,
            memory_limit=options.memory_limit,
            follow_links=options.follow_links,
        )
        for row in self.ask(place_of(dataset), own.sql, words):
            _take_row(own, row, found)


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
    values = tuple(text for text in map(_text, (value, row.get("key"))) if text)
    if not values:
        values = tuple(text for text in map(_text, row.values()) if text)
    found.keep(name, RecordLookup(values), value if value is not None else row.get("key"), facts)


def _named(found: QualityFindings, name: object) -> DataFile | None:
    files = [file for part in found.parts for file in part.files]
    return next((file for file in files if name in (file.name, file.display)), None)


def _text(value: object) -> str:
    """A value as records are looked up by it; empty where it is none."""
    return value if isinstance(value, str) else str(value) if type(value) in (int, float) else ""


def _check_schema(
    own: OwnRule, errors_of: _ErrorsOf, dataset: Dataset, found: QualityFindings, options: RunOptions
) -> None:
    finder = RecordFinder(found, options.memory_limit, options.progress)
    for file in dataset.files:
        if own.records and file.kind != own.records:
            continue
        for form, located, record in finder.records(dataset, file):
            if own.field and not (isinstance(record, dict) and own.field in record):
                continue
            value = record[own.field] if own.field else record
            above = f"/{escape(own.field)}" if own.field else ""
            for told, path, wrong in errors_of(value):
                pointer = above + "".join(f"/{escape(str(part))}" for part in path)
                if not found.collector.room(own.rule.name, file):
                    found.collector.count(own.rule.name, file, records=(located.record,))
                    continue
                place = FoundRecord(file, form, located, pointer or None).place("", dataset.format)
                problem = Problem(own.rule.name, pointer or None, wrong, {"error": told})
                found.collector.add(file, problem, place)


def _errors_of(own: OwnRule) -> _ErrorsOf:
    """What says what is wrong with a value; nothing is fetched for it.

    Raises `RagdataError` where the schema itself is wrong, `MissingExtraError` where jsonschema is not installed.
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
        raise RagdataError(
            f"{own.place}: the schema of {own.rule.code} is none: {way}: {error.message[:200]}"
        ) from None
    validator = kind(schema, registry=Registry())

    def errors(value: Any) -> Iterator[tuple[str, Iterable[Any], Any]]:
        try:
            for error in islice(validator.iter_errors(value), _MOST_ERRORS):
                yield error.message, error.absolute_path, error.instance
        except Unresolvable as error:
            told = f"nothing is found at its $ref {error.ref}; nothing is fetched for it"
            raise _WrongSchemaError(f"{own.place}: the schema of {own.rule.code}: {told}") from None

    return errors
