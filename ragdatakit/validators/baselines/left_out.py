"""What a run that knows of accepted or older findings leaves out of its counts, and what it checked at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.datasets import Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.findings import Finding, Severity
from ragdatakit.schemas.results import DatasetSummary, Report
from ragdatakit.schemas.rules import QUALITY, SHARED
from ragdatakit.validators.collector import Collector, Selection

if TYPE_CHECKING:
    from ragdatakit.validators.baselines.new_findings import KnownBefore, NewFindings


@dataclass(frozen=True, slots=True)
class CheckedDataset:
    """A dataset that was checked: what keeps its findings, what counted them, which summaries of the report it has."""

    dataset: Dataset
    keep: Callable[[Finding], object]
    collector: Collector
    start: int
    end: int


def leave_out(findings: NewFindings, report: Report, checked: Sequence[CheckedDataset]) -> None:
    """Take what is known out of all counts."""
    for counts, known in ((report.baselined, findings.accepted), (report.older, findings.older)):
        for (number, split, severity, code), times in known.items():
            counts[severity] += times
            report.counts[severity] -= times
            report.by_rule[code] -= times
            mine = range(checked[number].start, checked[number].end)
            if mine and severity != "info":
                place = next((i for i in mine if report.datasets[i].split == split), mine[0])
                report.datasets[place] = _without(report.datasets[place], severity, times)
    report.by_rule = {code: number for code, number in report.by_rule.items() if number}


def _without(summary: DatasetSummary, severity: Severity, times: int) -> DatasetSummary:
    errors, warnings = (times, 0) if severity == "error" else (0, times)
    return replace(summary, errors=max(summary.errors - errors, 0), warnings=max(summary.warnings - warnings, 0))


def say_what_was_checked(
    known: KnownBefore, checked: Iterable[CheckedDataset], paths: Iterable[Path], selection: Selection, quality: bool
) -> None:
    """Which files, and of each for which rules: none where not all of its dataset was read."""
    from ragdatakit.schemas.rules.shared import NOT_CHECKED

    here = known.checked
    not_checked = {rule.code for rule in (*SHARED, *QUALITY) if rule.name in NOT_CHECKED}
    for one in checked:
        dataset, collector = one.dataset, one.collector
        is_whole = dataset.layout != "file" and not (dataset.unreadable or dataset.outside)
        is_whole = is_whole and all(file.readable and file.to_end for file in dataset.files)
        codes: set[str] = set()
        if is_whole and not not_checked & collector.by_rule.keys():
            codes = {r.code for r in (*dataset.format.rules, *SHARED) if collector.wants(r.name)}
            if quality:
                codes |= {r.code for r in QUALITY if selection.takes(r.code, r.name, r.severity)}
        others = (*dataset.ignored, *((dataset.config,) if dataset.config is not None else ()))
        here.files |= {file.display: frozenset(codes) for file in (*dataset.files, *others)}
    here.folders += [path for path in paths if path.is_dir()]
    left: set[str] = set() if quality else {rule.code for rule in QUALITY}
    here.codes |= {r.code for r, _ in all_rules() if selection.takes(r.code, r.name, r.severity)} - left
