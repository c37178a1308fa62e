"""Validate paths: find the datasets, check each, put the findings in order."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.find import Detected, detect
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES
from ragdatakit.files.detection.whole_datasets import whole_datasets
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import UnreadableError
from ragdatakit.schemas.errors import MachineError, RagdataError, UnknownNameError, UnrecognisedError, skip_unreadable
from ragdatakit.schemas.findings import Finding, Problem
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.rules.quality import RULES as QUALITY
from ragdatakit.schemas.rules.shared import RULES as SHARED
from ragdatakit.validators import checks_of
from ragdatakit.validators.baselines.left_out import CheckedDataset, leave_out, say_what_was_checked
from ragdatakit.validators.baselines.new_findings import Findings, Looking, NewFindings
from ragdatakit.validators.collector import Collector, Place, Selection
from ragdatakit.validators.dataset_run import DatasetRun
from ragdatakit.validators.kept_findings import KeptFindings, Key
from ragdatakit.validators.run_options import RunOptions

_Keep = Callable[[Finding], object]


def validate_paths(
    paths: Iterable[Path],
    format_name: str | None = None,
    profiles: tuple[str, ...] = (),
    selection: Selection | None = None,
    options: RunOptions | None = None,
) -> Report:
    """Check every dataset at the paths. Raises as `check_paths` does."""
    report, findings = check_paths(paths, format_name, profiles, selection, options)
    report.findings += findings
    findings.close()
    return report


def check_paths(
    paths: Iterable[Path],
    format_name: str | None = None,
    profiles: tuple[str, ...] = (),
    selection: Selection | None = None,
    options: RunOptions | None = None,
) -> tuple[Report, Findings]:
    """Check every dataset at the paths; the report has no findings, which may be more than fit into memory.

    Raises `RagdataError` where a path is missing or nothing is recognised there (with `RunOptions.refused` only if that
    is so of all paths), `UnknownNameError` for an unknown format or profile. Faults of the data are never raised: they
    are in the report.
    """
    started = time.perf_counter()
    selection = selection or Selection()
    options = options or RunOptions()
    known = options.known
    if known is not None:
        selection = replace(selection, max_per_rule=0, named_records=selection.max_per_rule)
    report = Report(selected=tuple(selection.select), strict_files=options.strict_files)
    carried: Counter[str] = Counter()
    detected = _found(list(paths), format_name, options)
    found = detected.datasets
    report.unrecognised = list(dict.fromkeys(detected.unrecognised))
    if found:
        _refuse_unknown(profiles, found)
    if known is not None and isinstance(known.older, Looking):
        known.older.look(found)
    seen: set[Path] = set()
    kept = KeptFindings()
    findings = kept if known is None else NewFindings(kept, known)
    checked: list[CheckedDataset] = []
    for dataset in found:
        files = {f.path.absolute() for f in dataset.files}
        if files and files <= seen:  # given twice, as a folder and as a file of it
            continue
        seen |= files
        chosen = tuple(p for p in profiles if p in dataset.format.profiles) or dataset.format.default_profiles
        dataset.profile = ",".join(chosen or dataset.present_profiles()) or None
        keep = _keeping(findings, len(checked), dataset)
        before = len(report.datasets)
        collector = _check(dataset, chosen, selection, options, carried, report, keep)
        checked.append(CheckedDataset(dataset, keep, collector, before, len(report.datasets)))
    if options.quality is not None:
        _check_quality(checked, selection, options, carried, report)
    report.quality_only = bool(found) and all(dataset.format.name in PLAIN_SOURCES for dataset in found)
    if found:
        keep = partial(kept.add, (len(checked), 0, "", False, 0, 0, ""))
        unreadable = list(dict.fromkeys(detected.unreadable))
        _report_unreadable(unreadable, found[0], selection, options, carried, report, keep)
    if isinstance(findings, NewFindings):
        findings.settle()
        leave_out(findings, report, checked)
        say_what_was_checked(findings.before, checked, paths, selection, options.quality is not None)
    report.seconds = time.perf_counter() - started
    return report, findings


def _found(paths: list[Path], format_name: str | None, options: RunOptions) -> Detected:
    """What is at all the paths. Raises as `check_paths` does."""
    found = Detected()
    refused: list[RagdataError] = []
    if options.whole_datasets and format_name not in PLAIN_SOURCES:
        files = [path for path in paths if not os.path.isdir(path)]  # noqa: PTH112 - which never raises
        whole = whole_datasets(files, format_name, options.follow_links, by_content=options.skip_unrecognised)
        found.datasets += whole.datasets
        found.unreadable += whole.unreadable
        left = {*paths}.difference(files).union(whole.others)
        paths = [path for path in paths if path in left]
    for path in paths:
        try:
            here = _detected(path, format_name, options)
        except (UnknownNameError, MachineError):
            raise
        except RagdataError as error:  # what is at the other paths is reported anyway
            if isinstance(error, UnreadableError):
                found.unreadable += error.paths
            if not options.skip_unrecognised or not _may_be_skipped(path, error):
                refused.append(error)
            elif isinstance(error, UnrecognisedError):
                found.unrecognised.append(str(path))
            continue
        found.datasets += here.datasets
        found.unrecognised += here.unrecognised
        found.unreadable += here.unreadable
    if refused and not found.datasets:
        raise refused[0]
    for refusal in refused:
        if isinstance(refusal, UnreadableError):
            continue  # which is a finding
        if options.refused is None:
            raise refusal
        options.refused(refusal)
    return found


def _may_be_skipped(path: Path, error: RagdataError) -> bool:
    """Whether nothing is missed: the file is something else, or it was deleted and no dataset has a place for it."""
    return isinstance(error, UnrecognisedError) or not os.path.lexists(path)


def _detected(path: Path, format_name: str | None, options: RunOptions) -> Detected:
    """The datasets at a path; where quality is checked, also plain texts and tables, of which nothing is declared."""
    quality = options.quality
    if format_name in PLAIN_SOURCES:
        if quality is None:
            reason = f"nothing is declared of plain data ({format_name}) that could be checked"
            raise RagdataError(f"{reason}; with --quality its texts are checked")
        return Detected(quality.plain(path, format_name, options.follow_links))
    try:
        return detect(path, format_name, options.follow_links, by_content=options.skip_unrecognised)
    except (UnreadableError, UnknownNameError):
        raise
    except RagdataError as error:
        if format_name or not path.exists() or options.skip_unrecognised:
            raise
        if quality is not None and (plain := quality.plain(path, "", options.follow_links)):
            return Detected(plain)
        if quality is None and _is_plain(path):
            raise type(error)(f"{error}; plain texts and tables are checked with --quality") from None
        raise


def _is_plain(path: Path) -> bool:
    """Whether texts or tables are there that are no dataset of a framework."""
    for find in PLAIN_SOURCES.values():
        with skip_unreadable():
            return bool(find(path, boundary_of(path)).files)
    return False


def _report_unreadable(
    paths: list[str],
    dataset: Dataset,
    selection: Selection,
    options: RunOptions,
    carried: Counter[str],
    report: Report,
    keep: _Keep,
) -> None:
    """Folders (and files) that could not be opened: what is in them was not checked."""
    collector = Collector(dataset.format, (), selection, options.on_finding, carried, keep)
    for path in paths:
        facts = {"reason": "permission denied"}
        collector.add(DataFile(Path(path), path, path, ""), Problem("unreadable-file", facts=facts), Place())
    _add_to(report, collector)


def _add_to(report: Report, collector: Collector) -> None:
    for severity, number in collector.counts.items():
        report.counts[severity] += number
    for code, number in collector.by_rule.items():
        report.by_rule[code] = report.by_rule.get(code, 0) + number


def _refuse_unknown(profiles: tuple[str, ...], datasets: list[Dataset]) -> None:
    """In a tree of several formats a profile need not be one of each, but of some."""
    known = list(dict.fromkeys(p for d in datasets for p in d.format.profiles))
    for name in profiles:
        if name not in known:
            formats = ", ".join(dict.fromkeys(d.format.name for d in datasets))
            raise UnknownNameError("profile", name, known, where=f"of {formats}")


def _check(
    dataset: Dataset,
    profiles: tuple[str, ...],
    selection: Selection,
    options: RunOptions,
    carried: Counter[str],
    report: Report,
    keep: _Keep,
) -> Collector:
    """Check one dataset; the findings go to ``keep``, all else to the report."""
    dataset.options.setdefault("max_hops", options.max_hops)
    checks = checks_of(dataset.format.name)(dataset, profiles or dataset.format.profiles)
    run = DatasetRun(dataset, checks, profiles, selection, options, carried, keep)
    try:
        run.run()
    except RagdataError:
        raise
    except Exception as error:  # noqa: BLE001 - what the other checks found must not be lost
        refuse_machine_fault(error)
        place = DataFile(dataset.root, dataset.display, "", "")
        run.emit(place, Problem("rule-crashed", facts={"reason": f"{type(error).__name__}: {error}"}))
        run.collector.finish()
    report.datasets += run.summaries()
    _add_to(report, run.collector)
    return run.collector


def _check_quality(
    checked: list[CheckedDataset], selection: Selection, options: RunOptions, carried: Counter[str], report: Report
) -> None:
    """Format by format, as some read several datasets as one (but plain data); findings go to the dataset that has
    their file."""
    assert options.quality is not None
    together: dict[str, list[tuple[Dataset, _Keep]]] = {}
    for number, one in enumerate(checked):
        name = one.dataset.format.name
        key = f"{name} {number}" if name in PLAIN_SOURCES else name
        together.setdefault(key, []).append((one.dataset, one.keep))
    for mine in together.values():
        parts = [dataset for dataset, _ in mine]
        collector = options.quality.check(parts, options, selection, carried, len(checked) == 1)
        owners = {file.display: keep for dataset, keep in mine for file in dataset.files}
        for finding in collector.kept:
            owners.get(finding.path, mine[0][1])(finding)
        _add_to(report, collector)
        _add_to_summaries(report, parts, collector)


def _add_to_summaries(report: Report, datasets: list[Dataset], collector: Collector) -> None:
    """Warnings of quality are counted with the first dataset of the format, and with the split they are of."""
    mine = [i for i, summary in enumerate(report.datasets) if summary.path in {d.display for d in datasets}]
    for (split, severity), number in collector.by_split.items():
        if severity != "warning" or not mine:
            continue
        place = next((i for i in mine if report.datasets[i].split == split), mine[0])
        summary = report.datasets[place]
        report.datasets[place] = replace(summary, warnings=summary.warnings + number)


def _keeping(findings: KeptFindings | NewFindings, number: int, dataset: Dataset) -> _Keep:
    """What keeps the findings of a dataset in order: datasets by their numbers, files, lines."""
    places = {f.display: i for i, f in enumerate(dataset.files)}
    following = {rule.code for rule in dataset.format.rules if rule.follows}

    def key_of(finding: Finding) -> Key:
        place = places.get(finding.path, -1)
        follows = finding.code in following
        return number, place, finding.path, follows, finding.line or 0, finding.column or 0, finding.code

    if isinstance(findings, KeptFindings):
        return lambda finding: findings.add(key_of(finding), finding)
    splits = {f.display: f.split for f in dataset.files}
    once = {rule.code for rule in (*dataset.format.rules, *SHARED, *QUALITY) if rule.per_file}
    return lambda finding: findings.add(key_of(finding), finding, splits.get(finding.path), finding.code in once)
