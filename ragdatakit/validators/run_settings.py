"""What holds for each dataset of a run: the command line, then the configuration, its sections before its top level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.files.configuration.chosen import NONE, Configuration
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import Format, Rule, names_rule
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.findings import SEVERITIES, Problem, Severity
from ragdatakit.schemas.results import Budget, Report
from ragdatakit.schemas.rules import QUALITY, SHARED, TABLES
from ragdatakit.schemas.texts import many
from ragdatakit.validators.collector import Collector, Place, Selection
from ragdatakit.validators.run_options import RunOptions
from ragdatakit.visible_text import visible_text

if TYPE_CHECKING:
    from ragdatakit.files.configuration.reading import Given, Name

USUAL_HOPS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetSettings:
    """How one dataset is checked: ``budgets`` are the findings that pass, by what names their rules; ``thresholds``
    those of the quality rules that the configuration gives; ``fails_on`` are the severities that fail."""

    selection: Selection
    profiles: tuple[str, ...] = ()
    max_hops: int = USUAL_HOPS
    fails_on: tuple[Severity, ...] = ("error",)
    budgets: Mapping[str, int] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)


_FAILING: Mapping[str, tuple[Severity, ...]] = {"error": ("error",), "warning": ("error", "warning"), "never": ()}


def place_of(dataset: Dataset) -> Path:
    """What sections are compared with: the folder of a dataset, or the file where it is a lone one."""
    return dataset.files[0].path if dataset.layout == "file" and dataset.files else dataset.root


class RunSettings:
    """What holds for the datasets of a run: ``selection``, ``profiles`` and ``options`` are what the command line says.

    It is settled once for all datasets of which the same is said, so that they share what is kept with a selection.
    """

    def __init__(self, selection: Selection, profiles: tuple[str, ...], options: RunOptions) -> None:
        self._selection, self._profiles, self._options = selection, profiles, options
        self._known: dict[tuple[str, int, tuple[int, ...]], DatasetSettings] = {}

    def of(self, dataset: Dataset, configuration: Configuration) -> DatasetSettings:
        """What holds for a dataset; the configuration outlives the run.

        Raises `UnknownNameError` where the configuration names a profile that the format does not have.
        """
        given = configuration.at(place_of(dataset))
        key = dataset.format.name, id(configuration), tuple(map(id, given.values()))
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._settled(dataset.format, configuration, given)
        return found

    def _settled(self, fmt: Format, configuration: Configuration, given: Mapping[Name, Given]) -> DatasetSettings:
        selection, options = self._selection, self._options
        chosen = tuple(p for p in self._profiles if p in fmt.profiles)
        if configuration is NONE:
            return DatasetSettings(
                selection=selection,
                profiles=chosen or fmt.default_profiles,
                max_hops=options.max_hops or USUAL_HOPS,
                fails_on=_FAILING[options.fail_on or "error"],
            )
        if not self._profiles and (named := given.get(("profile",))) is not None:
            for name in named.value:
                if name not in fmt.profiles:
                    raise UnknownNameError("profile", name, fmt.profiles, f"of {fmt.name}", place=named.place)
            chosen = named.value
        found = {name: one.value for name, one in given.items()}
        levels = {name[1]: level for name, level in found.items() if name[0] == "severity"}
        return DatasetSettings(
            selection=replace(
                selection,
                select=selection.select or found.get(("select",), ()),
                ignore=selection.ignore or found.get(("ignore",), ()),
                severities={**_by_name(fmt, configuration, levels), **selection.severities},
                ignored_in=_ignored_in(configuration),
                fixable=found.get(("fixable",)),
                unfixable=found.get(("unfixable",), ()),
            ),
            profiles=chosen or fmt.default_profiles,
            max_hops=options.max_hops or found.get(("max-hops",), USUAL_HOPS),
            fails_on=_FAILING[options.fail_on or configuration.value("fail-on") or "error"],
            budgets={name[1]: number for name, number in found.items() if name[0] == "max"},
            thresholds={n[1]: one.value for n, one in configuration.values.items() if n[0] == "quality"},
        )


def _by_name(fmt: Format, configuration: Configuration, levels: Mapping[str, Severity]) -> dict[str, Severity]:
    """Severities by the names of the rules that selectors mean; of two selectors the narrower one counts."""
    rules = [(rule.code, rule.name) for rule in (*fmt.rules, *SHARED, *QUALITY)] + configuration.own_names()
    found: dict[str, Severity] = {}
    for selector in sorted(levels, key=lambda s: (any(s == name for _, name in rules), len(s))):
        for code, name in rules:
            if names_rule(selector, code, name):
                found[name] = levels[selector]
    return found


def _ignored_in(configuration: Configuration) -> Callable[[DataFile], tuple[str, ...]] | None:
    """What says which rules are ignored in a file; None where none are."""
    if not any(name[0] == "per-path-ignores" for name in configuration.values):
        return None
    return lru_cache(maxsize=None)(partial(_rules_ignored, configuration))


def _rules_ignored(configuration: Configuration, file: DataFile) -> tuple[str, ...]:
    return configuration.ignored_in(file.path)


def settle(
    report: Report, path: str, settings: DatasetSettings, collectors: Iterable[Collector], known: Mapping[str, int]
) -> None:
    """Say in the report which findings of a dataset pass that are errors, and which fail that are none; so many of each
    code are ``known``, and do not count."""
    counts: Counter[str] = Counter()
    severities: dict[str, Severity] = {}
    names: dict[str, str] = {}
    for collector in collectors:
        counts.update(collector.by_rule)
        for state in collector.states() if collector.by_rule or known else ():
            severities[state.rule.code] = state.severity
            names[state.rule.code] = state.rule.name
    counts.subtract(known)
    settled: set[str] = set()
    for selector, allowed in settings.budgets.items():
        mine = [code for code in counts if names_rule(selector, code, names[code])]
        found = sum(counts[code] for code in mine)
        report.budgets.append(Budget(path, selector, found, allowed))
        if found <= allowed:
            settled.update(mine)
        elif settings.fails_on:
            report.failing += sum(counts[code] for code in mine if severities[code] != "error") or 1
    for code, number in counts.items():
        if severities[code] == "error" and (code in settled or "error" not in settings.fails_on):
            report.passing += number
        elif severities[code] == "warning" and code not in settled and "warning" in settings.fails_on:
            report.failing += number


def why_idle(dataset: Dataset, configuration: Configuration, settings: DatasetSettings, options: RunOptions) -> str:
    """Why none of the selected rules is checked in a dataset; empty where one is, or where none are selected."""
    selection, fmt = settings.selection, dataset.format
    if not selection.select:
        return ""

    def is_named(rule: Rule) -> bool:
        return any(names_rule(each, rule.code, rule.name) for each in selection.select)

    from ragdatakit.files.configuration.own_rules import own_rules

    more = [*(QUALITY if options.quality is not None else ()), *(TABLES if options.tables is not None else ())]
    own = [own.rule for own in own_rules(configuration) if own.format in ("", fmt.name)]
    if any(is_named(rule) for rule in (*more, *own)):
        return ""
    collector = Collector(fmt, settings.profiles, selection)
    states = [collector.state(rule.name) for rule in (*fmt.rules, *SHARED) if is_named(rule)]
    if not states:
        return f"none of them is of {fmt.name}"
    of_loader = [state for state in states if state.applies]
    if not of_loader:
        return f"none of them is for {fmt.name} ({', '.join(settings.profiles)})"
    if any(state.wanted for state in of_loader):
        return ""
    mildest = SEVERITIES.index(selection.severity)
    if all(SEVERITIES.index(state.severity) > mildest for state in of_loader):
        return f"none of them is as severe as {selection.severity}; --severity {of_loader[0].severity} shows more"
    return "all of them are ignored, too"


def refuse_idle(
    idle: Sequence[tuple[Dataset, str]], checked: int, selection: Selection, options: RunOptions, report: Report
) -> None:
    """Say which of so many datasets no selected rule checks, each with `why_idle`. Raises `RagdataError` where they are
    all, and the command line selects the rules."""
    if not idle:
        return
    dataset, why = idle[0]
    others = f" and {many(len(idle) - 1, 'other dataset')}" if len(idle) > 1 else ""
    selected = f" ({', '.join(selection.select)})" if selection.select else ""
    words = f"the selected rules{selected} check nothing in {visible_text(dataset.display)}{others}: {why}"
    if selection.select and len(idle) == checked and not options.skip_unrecognised:
        raise RagdataError(words)
    report.notes.append(words)


def report_missing(dataset: Dataset, configuration: Configuration, collector: Collector) -> None:
    """Report each path and pattern of ``required`` that is that of no file in the dataset's folder."""
    given = configuration.at(place_of(dataset)).get(("required",))
    for number, pattern in enumerate(given.value if given is not None else ()):
        assert given is not None
        if not any(_required(dataset.root, pattern)):
            facts = {"wanted": repr(pattern), "place": given.file.place((*given.keys, number))}
            whole = DataFile(dataset.root, dataset.display, "", "")
            collector.add(whole, Problem("missing-required-file", facts=facts), Place())
    collector.finish()


def _required(root: Path, pattern: str) -> Iterator[bool]:
    from glob import has_magic

    found = root.glob(pattern) if has_magic(pattern) else iter((root / pattern,))
    yield from (path.is_file() for path in found)
