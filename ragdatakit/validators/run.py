"""Validate paths: find the datasets, check each, put the findings in order."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.configuration.chosen import NONE, Configuration
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import PLAIN_NAMES, READ_AS
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.sorted_entries import SortedEntries
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.findings import Finding, Problem
from ragdatakit.schemas.results import Report
from ragdatakit.schemas.rules import QUALITY, SHARED
from ragdatakit.validators import checks_of
from ragdatakit.validators.baselines.left_out import CheckedDataset, leave_out, say_what_was_checked
from ragdatakit.validators.collector import Collector, Place, Selection, crashed
from ragdatakit.validators.dataset_run import DatasetRun, is_big, summaries
from ragdatakit.validators.found_datasets import FoundDatasets, found_datasets
from ragdatakit.validators.kept_findings import IN_MEMORY, KeptFindings, Key
from ragdatakit.validators.run_options import RunOptions, TableCheck
from ragdatakit.validators.run_settings import (
    DatasetSettings,
    RunSettings,
    refuse_idle,
    report_missing,
    settle,
    why_idle,
)

if TYPE_CHECKING:
    from ragdatakit.validators.baselines.new_findings import Findings, NewFindings

_Keep = Callable[[Finding], object]
_Sound = tuple[str | None, list[tuple[str, int | None, int]]]
"""What is left of a sound dataset: its profile, and of each file its kind and how many records and bytes it has."""

_FEWEST = 16
"""Small datasets for which it pays to copy this process once."""


@dataclass(frozen=True, slots=True)
class _Checked:
    """A dataset that was checked, what held for it, and what counted: of the format's rules, then of quality."""

    one: CheckedDataset
    settings: DatasetSettings
    collectors: list[Collector]

    @property
    def dataset(self) -> Dataset:
        return self.one.dataset


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
    report = Report(selected=tuple(selection.select), strict_files=options.strict_files)
    carried: Counter[str] = Counter()
    detected = found_datasets(list(paths), format_name, options)
    found = detected.datasets
    report.unrecognised = list(dict.fromkeys(detected.unrecognised))
    if found:
        _refuse_unknown(profiles, found)
    kept = KeptFindings()
    findings: KeptFindings | NewFindings = kept
    if known is not None:
        from ragdatakit.validators.baselines.new_findings import Looking, NewFindings

        if isinstance(known.older, Looking):
            known.older.look(found)
        findings = NewFindings(kept, known)
        enough = findings.enough
        selection = replace(selection, max_per_rule=0, named_records=selection.max_per_rule, enough=enough)
    checked: list[_Checked] = []
    chosen = list(_without_second(_settled(detected, selection, profiles, options, report)))
    with _known_sound(chosen, options) as known_sound:
        for number, (dataset, settings) in enumerate(chosen):
            keep = _keeping(findings, number, dataset, selection)
            before = len(report.datasets)
            if (sound := known_sound(number)) is not None:
                collector = _take_sound(dataset, settings, sound, report)
            else:
                check = _check if options.repairer is None else _check_and_repair
                collector = check(dataset, settings, options, carried, report, keep)
            mine = CheckedDataset(dataset, keep, collector, before, len(report.datasets))
            checked.append(_Checked(mine, settings, [collector]))
    if options.quality is not None:
        _check_quality(checked, options, carried, report)
    for each in checked:
        if (configuration := detected.configuration_of(each.dataset)) is not NONE:
            _check_required(each, configuration, options, carried, report)
    if options.tables is not None:
        for each in checked:
            _check_tables(each, options.tables, options, carried, report)
    if options.own_rules is not None:
        for each in checked:
            _check_own_rules(each, detected.configuration_of(each.dataset), options, carried, report)
    report.quality_only = bool(found) and all(map(_is_undeclared, found))
    if unreadable := list(dict.fromkeys(detected.unreadable)) if found else []:
        keep = partial(kept.add, (len(checked), 0, "", False, 0, 0, ""))
        _report_unreadable(unreadable, found[0], selection, options, carried, report, keep)
    _settle(report, checked, findings, paths, selection, options)
    report.seconds = time.perf_counter() - started
    return report, findings


def _settled(
    detected: FoundDatasets, selection: Selection, profiles: tuple[str, ...], options: RunOptions, report: Report
) -> list[tuple[Dataset, DatasetSettings]]:
    """What holds for each dataset. Raises as `refuse_idle` does."""
    found: list[tuple[Dataset, DatasetSettings]] = []
    idle: list[tuple[Dataset, str]] = []
    run_settings = RunSettings(selection, profiles, options)
    for dataset in detected.datasets:
        configuration = detected.configuration_of(dataset)
        settings = run_settings.of(dataset, configuration)
        found.append((dataset, settings))
        if why := why_idle(dataset, configuration, settings, options):
            idle.append((dataset, why))
    refuse_idle(idle, len(found), selection, options, report)
    return found


def _settle(
    report: Report,
    checked: Sequence[_Checked],
    findings: KeptFindings | NewFindings,
    paths: Iterable[Path],
    selection: Selection,
    options: RunOptions,
) -> None:
    """Take what is known out of the counts, then say what of the rest passes, or fails, by the configuration."""
    known_by_code: Mapping[tuple[int, str], int] = {}
    if not isinstance(findings, KeptFindings):
        for number, each in enumerate(checked):
            for collector in each.collectors:
                _count_others(findings, number, collector)
        findings.settle()
        those = [each.one for each in checked]
        leave_out(findings, report, those)
        say_what_was_checked(findings.before, those, paths, selection, options.quality is not None)
        known_by_code = findings.known_by_code()
    for number, each in enumerate(checked):
        left = {code: times for (of, code), times in known_by_code.items() if of == number}
        settle(report, each.dataset.display, each.settings, each.collectors, left)


def _count_others(findings: NewFindings, number: int, collector: Collector) -> None:
    """Count the findings of a dataset of which only the number matters."""
    for (name, path, split), times in collector.only_counted.items():
        if times:
            state = collector.state(name)
            findings.count(number, split, state.severity, state.rule.code, path, times)


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


def _add_to(report: Report, found: Collector | Report) -> None:
    for severity, number in found.counts.items():
        report.counts[severity] += number
    for code, number in found.by_rule.items():
        report.by_rule[code] = report.by_rule.get(code, 0) + number


def _refuse_unknown(profiles: tuple[str, ...], datasets: list[Dataset]) -> None:
    """In a tree of several formats a profile need not be one of each, but of some."""
    known = list(dict.fromkeys(p for d in datasets for p in d.format.profiles))
    for name in profiles:
        if name not in known:
            formats = ", ".join(dict.fromkeys(d.format.name for d in datasets))
            raise UnknownNameError("profile", name, known, where=f"of {formats}")


def _check(
    dataset: Dataset, settings: DatasetSettings, options: RunOptions, carried: Counter[str], report: Report, keep: _Keep
) -> Collector:
    """Check one dataset; the findings go to ``keep``, all else to the report."""
    dataset.options.setdefault("max_hops", settings.max_hops)
    checks = checks_of(dataset.format.name)(dataset, settings.profiles or dataset.format.profiles)
    run = DatasetRun(dataset, checks, settings.profiles, settings.selection, options, carried, keep)
    stamp = options.stamps.begin(checks, settings.profiles) if options.stamps is not None else None
    if stamp is not None and stamp.is_unchanged():
        report.datasets += summaries(dataset, run.collector.by_split)
        report.unchanged[dataset.display] = stamp.since
        return run.collector
    fixer = options.fixer if options.repairer is None else None
    if fixer is not None:
        fixer.begin(dataset)
    try:
        with _engine(run):
            run.run()
    except RagdataError:
        raise
    except Exception as error:  # noqa: BLE001 - what the other checks found must not be lost
        run.emit(DataFile(dataset.root, dataset.display, "", ""), crashed(error))
        run.collector.finish()
    if fixer is not None:
        fixer.end(run.collector.faults, run.collector.is_unasked)
    report.datasets += summaries(dataset, run.collector.by_split)
    _add_to(report, run.collector)
    if stamp is not None and not run.collector.counts.total():
        stamp.keep()
    return run.collector


def _without_second(found: Iterable[tuple[Dataset, DatasetSettings]]) -> Iterator[tuple[Dataset, DatasetSettings]]:
    """Those that are not given twice, as a folder and as a file of it, with the profile that is asked for."""
    seen: set[Path] = set()
    for dataset, settings in found:
        files = {f.path.absolute() for f in dataset.files}
        if files and files <= seen:
            continue
        seen |= files
        dataset.profile = ",".join(settings.profiles or dataset.present_profiles()) or None
        yield dataset, settings


@contextmanager
def _known_sound(
    chosen: Sequence[tuple[Dataset, DatasetSettings]], options: RunOptions
) -> Iterator[Callable[[int], _Sound | None]]:
    """What says of a dataset, by its number, what is left of it when nothing is wrong with it. Where there are many
    small ones, copies of this process find that out beside it; what is not known to be sound is checked here, where
    findings are made, counted and put in order."""
    others = min(options.jobs, len(chosen) // _FEWEST) - 1
    later = options.quality, options.tables, options.own_rules, options.known, options.stamps, options.repairer
    if others < 1 or not options.forks or options.engine is not None or any(each is not None for each in later):
        yield lambda number: None
        return
    from ragdatakit.engines.forks import Forks, has_one_thread

    alone = replace(options, on_finding=None, progress=None)

    def sound(number: int) -> _Sound | None:
        dataset, settings = chosen[number]
        if is_big(dataset):
            return None
        collector = _check(dataset, settings, alone, Counter(), Report(), lambda finding: None)
        if collector.faults or not all(file.readable and file.to_end for file in dataset.files):
            return None
        return dataset.profile, [(file.kind, file.records, file.bytes) for file in dataset.files]

    with Forks(sound, len(chosen), others if has_one_thread() else 0) as forks:
        yield forks.take


def _take_sound(dataset: Dataset, settings: DatasetSettings, sound: _Sound, report: Report) -> Collector:
    """Take what another process found of a dataset that is sound."""
    dataset.profile = sound[0]
    for file, found in zip(dataset.files, sound[1], strict=True):
        file.kind, file.records, file.bytes = found
    report.datasets += summaries(dataset, {})
    return Collector(dataset.format, settings.profiles, settings.selection)


def _engine(run: DatasetRun) -> AbstractContextManager[None]:
    """What a run needs to be made in parts, where nobody has said so."""
    if not run.big or run.options.engine is not None or run.options.repairer is not None:
        return nullcontext()
    from ragdatakit.validators.ranges.outgrown import in_parts_where_large

    return in_parts_where_large(run)


def _check_and_repair(
    dataset: Dataset, settings: DatasetSettings, options: RunOptions, carried: Counter[str], report: Report, keep: _Keep
) -> Collector:
    """Check one dataset again and again while the repairer has something to do; the last time is what counts."""
    repairer = options.repairer
    assert repairer is not None
    silent = replace(options, on_finding=None)
    repairer.begin(dataset)
    while True:
        part, count = Report(), carried.copy()
        found = SortedEntries[tuple[()], Finding](IN_MEMORY)
        try:
            collector = _check(dataset, settings, silent, count, part, partial(found.add, ()))
            if repairer.goes_on(dataset, collector.faults):
                continue
            for _, finding in found:
                keep(finding)
                if options.on_finding is not None:
                    options.on_finding(finding)
        finally:
            found.close()
        break
    carried.update(count - carried)
    report.datasets += part.datasets
    report.unchanged |= part.unchanged
    _add_to(report, part)
    return collector


def _check_quality(checked: list[_Checked], options: RunOptions, carried: Counter[str], report: Report) -> None:
    """Format by format, as some read several datasets as one (but plain data, and those with other settings); findings
    go to the dataset that has their file."""
    assert options.quality is not None
    together: list[list[_Checked]] = []
    for one in checked:
        name = one.dataset.format.name
        alike = (t for t in together if t[0].dataset.format.name == name and t[0].settings == one.settings)
        mine = None if name in PLAIN_NAMES else next(alike, None)
        together.append([one]) if mine is None else mine.append(one)
    for mine in together:
        parts, settings = [one.dataset for one in mine], mine[0].settings
        alone = len(checked) == 1
        collector = options.quality.check(parts, options, settings.selection, carried, alone, settings.thresholds)
        owners = {file.display: each.one.keep for each in mine for file in each.dataset.files}
        for finding in collector.kept:
            owners.get(finding.path, mine[0].one.keep)(finding)
        _add_to(report, collector)
        _add_to_summaries(report, parts, collector)
        mine[0].collectors.append(collector)


def _is_undeclared(dataset: Dataset) -> bool:
    return dataset.format.name in PLAIN_NAMES and READ_AS not in dataset.options


def _check_required(
    each: _Checked, configuration: Configuration, options: RunOptions, carried: Counter[str], report: Report
) -> None:
    """Look for the files that its configuration requires."""
    collector = Collector(each.dataset.format, (), each.settings.selection, options.on_finding, carried)
    report_missing(each.dataset, configuration, collector)
    if collector.by_rule:
        _take(each, collector, report)


def _check_tables(
    each: _Checked, check: TableCheck, options: RunOptions, carried: Counter[str], report: Report
) -> None:
    """Check the tables that a configuration names."""
    if READ_AS in each.dataset.options:
        _take(each, check.check_tables(each.dataset, options, each.settings.selection, carried), report)
        for number, summary in enumerate(report.datasets):
            if summary.path == each.dataset.display and summary.format == each.dataset.format.name:
                pairs = zip(summary.files, each.dataset.files, strict=True)  # which are read only now
                files = tuple(replace(file, records=read.records) for file, read in pairs)
                report.datasets[number] = replace(summary, files=files)


def _check_own_rules(
    each: _Checked, configuration: Configuration, options: RunOptions, carried: Counter[str], report: Report
) -> None:
    """Check a dataset by the rules of its configuration."""
    from ragdatakit.files.configuration.own_rules import own_rules

    assert options.own_rules is not None
    mine = [own for own in own_rules(configuration) if own.format in ("", each.dataset.format.name)]
    if not mine:
        return
    report.own_rules = {**report.own_rules, **{own.rule.code: own.rule for own in mine}}
    selection = each.settings.selection
    _take(each, options.own_rules.check_own(each.dataset, mine, options, selection, carried), report)


def _take(each: _Checked, collector: Collector, report: Report) -> None:
    """Take what a further check of a dataset found."""
    for finding in collector.kept:
        each.one.keep(finding)
    _add_to(report, collector)
    _add_to_summaries(report, [each.dataset], collector)
    each.collectors.append(collector)


def _add_to_summaries(report: Report, datasets: list[Dataset], collector: Collector) -> None:
    """Findings of quality and of own rules are counted with the first dataset, and with the split they are of."""
    mine = [i for i, summary in enumerate(report.datasets) if summary.path in {d.display for d in datasets}]
    for (split, severity), number in collector.by_split.items():
        if severity == "info" or not mine:
            continue
        place = next((i for i in mine if report.datasets[i].split == split), mine[0])
        summary = report.datasets[place]
        errors, warnings = (0, number) if severity == "warning" else (number, 0)
        more = replace(summary, errors=summary.errors + errors, warnings=summary.warnings + warnings)
        report.datasets[place] = more


def _keeping(findings: KeptFindings | NewFindings, number: int, dataset: Dataset, selection: Selection) -> _Keep:
    """What keeps the findings of a dataset in order: datasets by their numbers, files, lines."""
    places = {f.display: i for i, f in enumerate(dataset.files)}

    @cache
    def of(path: str, code: str) -> tuple[int, bool]:  # sound data need no rules
        return places.get(path, -1), any(r.follows for r in (*dataset.format.rules, *SHARED) if r.code == code)

    def key_of(finding: Finding) -> Key:
        path, code = finding.path, finding.code
        place, follows = of(path, code)
        line = finding.line or (0 if finding.row_group is None else (finding.record or 0) + 1)
        return number, place, path, follows, line, finding.column or 0, code

    if isinstance(findings, KeptFindings):
        return lambda finding: findings.add(key_of(finding), finding)
    splits = {f.display: f.split for f in dataset.files}
    once = {rule.code for rule in (*dataset.format.rules, *SHARED, *QUALITY) if selection.is_once(rule)}
    return lambda finding: findings.add(key_of(finding), finding, splits.get(finding.path), finding.code in once)
