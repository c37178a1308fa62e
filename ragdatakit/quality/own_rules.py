"""The rules of a project's own: queries in the sandbox of `ragdata query`, JSON Schemas of records, pandera models of
tables, and what plug-ins check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ragdatakit.converters import converter_names
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.findings import QualityFindings
from ragdatakit.quality.own_records import WrongSchemaError, check_by_plugin, check_by_schema
from ragdatakit.quality.own_tables import Tables, check_by_model, check_by_query, check_rows_by_plugin
from ragdatakit.quality.run import complete_findings
from ragdatakit.schemas.errors import MachineError, MissingExtraError, QueryError, RagdataError
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.options import QueryOptions
from ragdatakit.schemas.settings.own_rules import OwnRule
from ragdatakit.schemas.settings.plugins import PluginError
from ragdatakit.validators.collector import Collector, Place, RuleState, Selection
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.validators.run_settings import place_of


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
    """What checks datasets by such rules; ``tables`` answers queries."""

    tables: Tables

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
            try:
                self._check(own, dataset, found, options)
            except QueryError as error:
                what = "query" if own.sql else f"table {own.table or (own.plugin and own.plugin.table)}"
                reason = str(error).replace("(--timeout)", "(`timeout` of the rule)")
                raise RagdataError(f"{own.place}: the {what} of {own.rule.code}: {reason}") from None
            except (MachineError, MissingExtraError, WrongSchemaError, PluginError):
                raise
            except Exception as error:  # noqa: BLE001 - what the other rules find must be reported, too
                refuse_machine_fault(error)
                reason = str(error) if isinstance(error, RagdataError) else f"{type(error).__name__}: {error}"
                problem = Problem("rule-crashed", facts={"reason": f"{own.rule.code}: {reason}"})
                collector.add(found.whole(), problem, Place())
        complete_findings(found, options.memory_limit, None)
        collector.finish()
        return collector

    def _check(self, own: OwnRule, dataset: Dataset, found: QualityFindings, options: RunOptions) -> None:
        if own.schema is not None:
            check_by_schema(own, dataset, found, options)
            return
        if own.plugin is not None and own.plugin.check_record is not None:
            check_by_plugin(own, dataset, found, options)
            return
        if dataset.format.name in PLAIN_SOURCES and READ_AS not in dataset.options:
            return  # plain data of which nobody says what it is
        if not own.format and dataset.format.name not in converter_names():
            return  # it has no tables
        words = QueryOptions(
            source_format=dataset.format.name,
            options=dataset.options.get(READ_AS),
            timeout=own.seconds,
            memory_limit=options.memory_limit,
            follow_links=options.follow_links,
        )
        check = check_by_query if own.sql else check_by_model if own.model else check_rows_by_plugin
        check(own, place_of(dataset), self.tables, words, found)
