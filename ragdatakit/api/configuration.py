"""The configuration of a project for whoever reads what is at a path: one resolution for all commands; what of it
applies, and a first one for what is there."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragdatakit.api.arguments import option_words
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import PathLike

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ragdatakit.converters.sources import ConversionSettings
    from ragdatakit.files.configuration.chosen import Configuration, Configurations
    from ragdatakit.files.configuration.reading import Given, Name, Section
    from ragdatakit.files.configuration.settings_below import ReportedBelow, SettingsBelow
    from ragdatakit.files.datasets import Dataset
    from ragdatakit.schemas.settings.applied import Applied, AppliedPlugin, AppliedRule, AppliedSettings, AppliedTable
    from ragdatakit.schemas.settings.own_rules import OwnRule


def configurations(config: PathLike | bool) -> Configurations:
    """Those of the paths of a run: ``config`` is a file, or whether the nearest upwards from each path counts.

    Raises `RagdataError` where the file is missing or wrong.
    """
    from ragdatakit.files.configuration.chosen import Configurations

    return Configurations(config if isinstance(config, bool) else Path(config))


def configuration_of(path: PathLike, config: PathLike | bool = True) -> Configuration:
    """That of one path: ``file`` is the nearest file with settings (None: there is none), ``path("baseline")`` the
    file that its key ``baseline`` names. Raises `RagdataError` where a file is wrong."""
    return configurations(config).of(Path(path))


def settings_below(config: PathLike | bool, baseline: PathLike | bool) -> SettingsBelow:
    """What notes the files further down with settings, and baselines, where the nearest upwards from a path count."""
    from ragdatakit.files.configuration.settings_below import SettingsBelow
    from ragdatakit.files.paths.own_files import SETTINGS_FILES
    from ragdatakit.schemas.baselines import BASELINE_NAME

    return SettingsBelow((*(SETTINGS_FILES if config is True else ()), *((BASELINE_NAME,) if baseline is True else ())))


def as_configured(path: Path, wanted: ConversionSettings, paths: Sequence[Path] = ()) -> ConversionSettings:
    """How what is at a path is read: as it is asked for, else as the sections say that fit the path as a whole.
    ``paths`` are all that are read, where there are more.

    Raises `RagdataError` where the configuration is wrong.
    """
    if wanted.config is False:
        return wanted
    chosen = configuration_of(path, wanted.config)
    given = chosen.at(path)
    named = given.get(("format",))
    source_format = wanted.source_format or (named.value if named is not None else "")
    options = {
        name[1]: option_words({name[1]: one.value})[name[1]] for name, one in given.items() if name[0] == "options"
    }
    if source_format in ("", "table") and "map" not in {*options, *wanted.values}:
        tables = _table_options(chosen, path)
        options, source_format = {**tables, **options}, "table" if tables else source_format
    values, below = {**options, **wanted.values}, _reported_below(paths or (path,), wanted)
    read = replace(wanted, source_format=source_format, values=values, plugged=chosen.formats)
    return replace(read, config=False, below=below)


def _reported_below(paths: Sequence[Path], wanted: ConversionSettings) -> ReportedBelow | None:
    """What reports settings further down than the paths, where somebody is there to read that."""
    from ragdatakit.files.configuration.settings_below import ReportedBelow

    if wanted.tell is None:
        return None
    return ReportedBelow(settings_below(wanted.config, False), paths, configurations(wanted.config), wanted.tell)


def tables_beside(path: Path, wanted: ConversionSettings) -> Iterator[Path]:
    """Where the tables lie that the configuration names below a path, if the path as a whole is read as datasets of
    known formats. Raises as `as_configured` does."""
    if wanted.config is False or wanted.source_format or "map" in wanted.values:
        return
    chosen = configuration_of(path, wanted.config)
    if not chosen.of_kind("table") or _table_options(chosen, path):
        return
    from ragdatakit.files.configuration.named_tables import place_of_tables

    place, top = place_of_tables(chosen), Path(os.path.abspath(path))  # noqa: PTH100 - without following links
    if place != top and place.is_relative_to(top) and _table_options(chosen, place):
        yield path / place.relative_to(top)


def _table_options(chosen: Configuration, path: Path) -> dict[str, str]:
    """How the tables are read that the configuration names at a path; empty where it names none."""
    if not chosen.of_kind("table"):
        return {}
    from ragdatakit.files.configuration.named_tables import table_options

    return table_options(chosen, path)


def config(path: PathLike = ".", config: PathLike | bool = True) -> AppliedSettings:
    """Which settings hold for what is at ``path``, and where each comes from.

    ``config`` is a file with settings, True: the nearest upwards from the path. Raises `RagdataError` where the path is
    missing or a file is wrong.
    """
    from ragdatakit.files.configuration.baseline_places import baseline_of
    from ragdatakit.files.configuration.chosen import begins_in
    from ragdatakit.files.configuration.own_rules import own_rules
    from ragdatakit.schemas.settings.applied import AppliedSettings, AppliedToDataset
    from ragdatakit.validators.run_settings import place_of

    place = Path(path)
    if not os.path.lexists(place):
        raise RagdataError(f"no such file or folder: {place}")
    chosen = configuration_of(place, config)
    below = settings_below(config, True)
    datasets = [] if chosen.excludes(place) else _datasets(place, config, below)
    baseline = baseline_of(place, chosen)
    holding = [chosen.at(place_of(dataset)) for dataset in datasets]
    used = {id(given) for settings in holding for given in settings.values()}
    unused = [s for s in chosen.of_kind("dataset") if begins_in(s, place) and not _is_used(s.values, used)]
    return AppliedSettings(
        path=str(place),
        files=tuple(file.display for file in reversed(chosen.files)),
        settings=_applied(chosen.values),
        datasets=tuple(
            AppliedToDataset(dataset.display, dataset.format.name, _applied(settings))
            for dataset, settings in zip(datasets, holding, strict=True)
        ),
        excluded=chosen.excludes(place),
        baseline=str(baseline) if baseline is not None else "",
        not_used=tuple(map(str, below.unused([place], configurations(config)))),
        unused=tuple(section.place for section in unused),
        tables=tuple(_applied_table(section, place) for section in chosen.of_kind("table")),
        rules=tuple(map(_applied_rule, own_rules(chosen))),
        plugins=_applied_plugins(chosen),
        plugins_forbidden=bool(chosen.unloaded),
    )


def _applied_table(section: Section, place: Path) -> AppliedTable:
    from ragdatakit.files.configuration.named_tables import files_named
    from ragdatakit.schemas.settings.applied import AppliedTable

    settings = {name: given for name, given in section.values.items() if name not in (("path",), ("kind",))}
    return AppliedTable(
        paths=section.values["path",].value,
        kind=section.values["kind",].value,
        place=section.place,
        files=tuple(file.display for file in files_named(section, place)),
        settings=_applied(settings),
    )


def _applied_rule(own: OwnRule) -> AppliedRule:
    from ragdatakit.schemas.settings.applied import AppliedRule

    by = "sql" if own.sql else "model" if own.model else "schema" if own.schema is not None else "plug-in"
    return AppliedRule(own.rule.code, own.rule.name, own.rule.severity, by, own.format, own.place)


def _applied_plugins(chosen: Configuration) -> tuple[AppliedPlugin, ...]:
    from ragdatakit.schemas.settings.applied import AppliedPlugin

    named = chosen.values.get(("plugins",))
    place = named.place if named is not None else ""
    return tuple(
        AppliedPlugin(one.name, one.version, place, tuple(rule.code for rule in one.rules), one.formats, one.models)
        for one in chosen.plugins
    )


def _is_used(values: dict[Name, Given], used: set[int]) -> bool:
    return any(id(given) in used for given in values.values())


def _datasets(place: Path, config: PathLike | bool, below: SettingsBelow | None = None) -> list[Dataset]:
    """What is recognised at a place, tables that its configuration names included."""
    from ragdatakit.quality.named_tables import NamedTables
    from ragdatakit.validators.found_datasets import found_datasets
    from ragdatakit.validators.run_options import RunOptions

    try:
        chosen = configurations(config)
        options = RunOptions(configurations=chosen, tables=NamedTables(), refused=lambda error: None, below=below)
        return found_datasets([place], None, options).datasets
    except RagdataError:
        return []  # nothing that is recognised


def _applied(values: dict[Name, Given]) -> tuple[Applied, ...]:
    from ragdatakit.schemas.settings.applied import Applied

    return tuple(
        Applied(".".join(name), _plain(given.value), given.place, "[[dataset]]" if "dataset" in given.keys[:1] else "")
        for name, given in sorted(values.items())
    )


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class WrittenSettings:
    """A file with settings that was written, the number of its sections, and the tables that are there as a comment."""

    path: Path
    sections: int
    left_out: tuple[Path, ...] = ()


def init_config(folder: PathLike = ".", overwrite: bool = False) -> WrittenSettings:
    """Write a first ``ragdata.toml`` for what lies below ``folder``: a section for each dataset, with its format, and
    for each table of no known format whose columns have usual names.

    A table whose check would fail at once is there as a comment that says why. Raises `RagdataError` where there are
    settings already, unless they are a ``ragdata.toml`` to ``overwrite``.
    """
    from ragdatakit.converters.plain.proposed_tables import proposed_tables
    from ragdatakit.files.configuration.first_file import first_settings
    from ragdatakit.files.configuration.sources import settings_in
    from ragdatakit.files.paths.writing import write_whole
    from ragdatakit.quality.faulty_tables import first_errors

    place = Path(folder)
    if not place.is_dir():
        raise RagdataError(f"{place} is not a folder" if os.path.lexists(place) else f"no such folder: {place}")
    target = place / "ragdata.toml"
    for there in settings_in(place):
        if there != target or not overwrite:
            hint = (
                "; --overwrite replaces it" if there == target else ", which would go before ragdata.toml or be hidden"
            )
            raise RagdataError(f"{there} has settings already{hint}")
    datasets = _datasets(place, False)
    known = {file.path for dataset in datasets for file in (*dataset.files, *dataset.ignored)}
    tables = proposed_tables(place, known)
    while True:  # without a table others may name what is not there
        first = first_settings(place, datasets, tables)
        write_whole(target, first.text.encode())
        errors = (
            {}
            if all(table.is_left_out for table in tables)
            else first_errors(_datasets(place, target), configurations(target))
        )
        if not any(table.path in errors for table in tables if not table.is_left_out):
            break
        tables = [table._replace(error=table.error or errors.get(table.path, "")) for table in tables]
    if not first.sections and any(table.error for table in tables):  # else no check would say what is wrong in them
        tables = [table._replace(is_checked=table.same_ids is None) for table in tables]
        first = first_settings(place, datasets, tables)
        write_whole(target, first.text.encode())
    return WrittenSettings(target, first.sections, tuple(table.path for table in tables if table.is_left_out))


def config_schema() -> dict[str, Any]:
    """The JSON Schema (draft-07) of ragdata.toml, for editors."""
    from ragdatakit.schemas.settings.json_schema import settings_schema

    return settings_schema()
