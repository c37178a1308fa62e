"""Validate paths: find the datasets, check each, put the findings in order."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.findings import Finding, Problem
from ragdatakit.schemas.results import Report
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.detection import detect
from ragdatakit.validators import checks_of
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.dataset_run import DatasetRun, RunOptions


def validate_paths(
    paths: Iterable[Path],
    format_name: str | None = None,
    profiles: tuple[str, ...] = (),
    selection: Selection | None = None,
    options: RunOptions | None = None,
) -> Report:
    """Check every dataset at the paths.

    Raises `RagdataError` where a path is missing or nothing is recognised there, `UnknownNameError` for an unknown
    format or profile. Faults of the data are never raised: they are in the report.
    """
    started = time.perf_counter()
    selection = selection or Selection()
    options = options or RunOptions()
    report = Report()
    carried: Counter[str] = Counter()
    for path in paths:
        found = detect(path, format_name)
        report.unrecognised += found.unrecognised
        for dataset in found.datasets:
            _choose_profile(dataset, profiles, format_name)
            boundary = path if path.is_dir() else None
            _check(dataset, profiles, selection, options, boundary, carried, report)
    report.seconds = time.perf_counter() - started
    return report


def _choose_profile(dataset: Dataset, profiles: tuple[str, ...], format_name: str | None) -> None:
    known = dataset.format.profiles
    for name in profiles:
        if name not in known and (format_name is not None or not known):
            raise UnknownNameError(f"profile of {dataset.format.name}", name, known)
        if name not in known:
            raise UnknownNameError(f"profile of {dataset.format.name} (found at {dataset.display})", name, known)
    if profiles:
        dataset.profile = ",".join(profiles)
    elif dataset.format.name == "light-splade":
        present = {f.kind for f in dataset.files}
        both = [p for p, kind in (("triplet", "triplets"), ("distil", "scores")) if kind in present]
        dataset.profile = ",".join(both) or None
    else:
        dataset.profile = ",".join(known) or None


def _check(
    dataset: Dataset,
    profiles: tuple[str, ...],
    selection: Selection,
    options: RunOptions,
    boundary: Path | None,
    carried: Counter[str],
    report: Report,
) -> None:
    checks = checks_of(dataset.format.name)(dataset, profiles or dataset.format.profiles)
    run = DatasetRun(dataset, checks, profiles, selection, options, boundary, carried)
    try:
        run.run()
    except RagdataError:
        raise
    except Exception as error:  # noqa: BLE001 - what the other checks found must not be lost
        place = DataFile(dataset.root, dataset.display, "", "")
        run.emit(place, Problem("rule-crashed", facts={"reason": f"{type(error).__name__}: {error}"}))
        run.collector.finish()
    report.datasets += run.summaries()
    report.findings += sorted(run.collector.kept, key=_order(dataset))
    for severity, number in run.collector.counts.items():
        report.counts[severity] += number
    for code, number in run.collector.by_rule.items():
        report.by_rule[code] = report.by_rule.get(code, 0) + number


def _order(dataset: Dataset) -> Callable[[Finding], tuple[int, str, int, int, str]]:
    places = {f.display: i for i, f in enumerate(dataset.files)}

    def key(finding: Finding) -> tuple[int, str, int, int, str]:
        place = places.get(finding.path, -1)
        return place, finding.path, finding.line or 0, finding.column or 0, finding.code

    return key
