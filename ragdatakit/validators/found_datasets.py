"""Which datasets a run checks: those at its paths, as the configuration of each path names and excludes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import field
from pathlib import Path

from ragdatakit.files.configuration.chosen import NONE, Configuration
from ragdatakit.files.configuration.settings_below import not_used
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import Detected, detect
from ragdatakit.files.detection.plain_names import PLAIN_NAMES
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import UnreadableError
from ragdatakit.files.paths.own_files import OWN
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import MachineError, RagdataError, UnknownNameError, UnrecognisedError, skip_unreadable
from ragdatakit.validators.run_options import RunOptions

_PLAIN = (
    "plain texts and tables are checked with --quality, tables also where a [[table]] of ragdata.toml says what their "
    "columns are (`ragdata init-config` writes one)"
)


@dataclass(slots=True)
class FoundDatasets(Detected):
    """What is at all the paths, and by which configuration it is checked."""

    _configurations: dict[Dataset, Configuration] = field(default_factory=dict)

    def configuration_of(self, dataset: Dataset) -> Configuration:
        """The configuration of the path at which a dataset was found."""
        return self._configurations.get(dataset, NONE)

    def take(self, found: Detected, configuration: Configuration) -> None:
        """Add what is at one path, except for what its configuration excludes."""
        excludes = configuration.excludes
        for dataset in found.datasets:
            had_files = bool(dataset.files)
            dataset.files = [file for file in dataset.files if not excludes(file.path)]
            if (dataset.files or not had_files) and not excludes(dataset.root):
                self.datasets.append(dataset)
                self._configurations[dataset] = configuration
        self.unrecognised += (path for path in found.unrecognised if not excludes(Path(path)))
        self.unreadable += (path for path in found.unreadable if not excludes(Path(path)))


def found_datasets(paths: list[Path], format_name: str | None, options: RunOptions) -> FoundDatasets:
    """What is at all the paths. Raises `RagdataError` as `check_paths` does, also where a configuration is wrong."""
    found = FoundDatasets()
    refused: list[RagdataError] = []
    paths = [path for path in paths if not options.configurations.of(path).excludes(path)]
    looked_at: list[tuple[Path, Iterator[Detected]]] = []
    if options.whole_datasets and format_name not in PLAIN_NAMES:
        if options.tables is not None and not format_name:
            refused += _missing_tables(paths, options)
            paths, places = _tables_of(paths, options)
            looked_at += ((place, _named_tables(place, options, refused.append)) for place in places)
        paths = [path for path in paths if not _is_own(path, options.configurations.of(path))]
        paths = _whole(found, paths, format_name, options)
    looked_at += ((path, _at_path(path, format_name, options, refused.append)) for path in paths)
    for path, datasets in looked_at:
        try:
            for here in datasets:
                found.take(here, options.configurations.of(path))
        except (UnknownNameError, MachineError):
            raise
        except RagdataError as error:  # what is at the other paths is reported anyway
            if isinstance(error, UnreadableError):
                found.unreadable += error.paths
            if not options.skip_unrecognised or not _may_be_skipped(path, error):
                refused.append(_explained(error, options.configurations.of(path)))
            elif isinstance(error, UnrecognisedError):
                found.unrecognised.append(str(path))
    if refused and not found.datasets:
        raise _with_settings_below(refused[0], paths, options)
    for refusal in {str(refusal): refusal for refusal in refused}.values():
        if isinstance(refusal, UnreadableError):
            continue  # which is a finding
        if options.refused is None:
            raise refusal
        options.refused(refusal)
    return found


def _is_own(path: Path, configuration: Configuration) -> bool:
    """Whether it is a file of ragdata itself: settings, a baseline, or what lies beside what it wrote."""
    if configuration.is_from(path) or configuration.path("baseline") == Path(os.path.abspath(path)):  # noqa: PTH100
        return True
    return not OWN.isdisjoint(path.parts) and not os.path.isdir(path)  # noqa: PTH112 - which never raises


def _whole(found: FoundDatasets, paths: list[Path], format_name: str | None, options: RunOptions) -> list[Path]:
    """Take the datasets that files belong to; the paths that are left."""
    from ragdatakit.files.detection.whole_datasets import whole_datasets

    files = [path for path in paths if not os.path.isdir(path)]  # noqa: PTH112 - which never raises
    left = {*paths}.difference(files)
    by_format: dict[tuple[str | None, tuple[str, ...]], list[Path]] = {}
    for file in files:
        configuration = options.configurations.of(file)
        named = format_name or _format_at(configuration, file)
        by_format.setdefault((named, configuration.formats), []).append(file)
    for (named, plugged), mine in by_format.items():
        if named in PLAIN_NAMES:
            left.update(mine)
            continue
        by_content = options.skip_unrecognised
        whole = whole_datasets(mine, named, options.follow_links, by_content=by_content, plugged=plugged)
        for dataset in whole.datasets:
            found.take(Detected([dataset]), options.configurations.of(dataset.root))
        found.unreadable += whole.unreadable
        left.update(whole.others)
    return [path for path in paths if path in left]


def _tables_of(paths: list[Path], options: RunOptions) -> tuple[list[Path], list[Path]]:
    """The paths without configurations of tables and the files that are such tables, and where all of these lie."""
    from ragdatakit.files.configuration.named_tables import is_named_table, place_of_tables

    left: list[Path] = []
    places: dict[Path, None] = {}
    for path in paths:
        configuration = options.configurations.of(path)
        changes_all = configuration.is_from(path) and bool(configuration.of_kind("table"))
        if path.is_dir() or not (changes_all or is_named_table(configuration, path)):
            left.append(path)
            continue
        place = place_of_tables(configuration)
        places[place if path.is_absolute() else Path(os.path.relpath(place))] = None
    return left, list(places)


def _missing_tables(paths: list[Path], options: RunOptions) -> Iterator[RagdataError]:
    """What the configurations of files name as tables and is not there: one of the files may be it, renamed."""
    from ragdatakit.files.configuration.named_tables import missing_tables

    files = (path for path in paths if not path.is_dir())
    for configuration in {id(one): one for one in map(options.configurations.of, files)}.values():
        yield from missing_tables(configuration)


def _named_tables(path: Path, options: RunOptions, missing: Callable[[RagdataError], None]) -> Iterator[Detected]:
    """The tables at a path that its configuration names, as one dataset."""
    if options.tables is None:
        return
    from ragdatakit.files.configuration.named_tables import tables_at

    if read_as := tables_at(options.configurations.of(path), path, missing):
        yield Detected(options.tables.find(path, options.follow_links, read_as))


def _format_at(configuration: Configuration, place: Path) -> str | None:
    """The format that a section names for a place."""
    given = configuration.at(place).get(("format",))
    return given.value if given is not None else None


def _at_path(
    path: Path, format_name: str | None, options: RunOptions, missing: Callable[[RagdataError], None]
) -> Iterator[Detected]:
    """What is at a path: tables and datasets that sections name, by themselves, and then what else is there; that a
    section names no table goes to ``missing``."""
    configuration = options.configurations.of(path)
    excludes = configuration.excludes if options.below is None else options.below.noting(configuration.excludes)
    named = format_name or _format_at(configuration, path)
    has_tables = False
    if named in (None, "", "table"):
        for tables in _named_tables(path, options, missing):
            has_tables = True
            yield tables
    if has_tables and (named or not path.is_dir()):
        return
    if named or configuration is NONE:
        yield _detected(path, named, options, excludes, configuration.formats)
        return
    from ragdatakit.files.configuration.named_places import named_places
    from ragdatakit.files.configuration.named_tables import is_named_table

    places = {
        place: given.value
        for place in named_places(path, configuration)
        if (given := configuration.at(place).get(("format",))) is not None
    }
    for place, name in places.items():
        if name not in PLAIN_NAMES or options.quality is not None:
            yield _detected(place, name, options, configuration.excludes, configuration.formats)
    inner = {Path(os.path.abspath(place)) for place in places}  # noqa: PTH100 - without following links
    excluded: list[Path] = []

    def passed_over(found: Path) -> bool:
        if excludes(found):
            excluded.append(found)
            return True
        if has_tables and is_named_table(configuration, found):
            return True
        return bool(inner) and Path(os.path.abspath(found)) in inner  # noqa: PTH100

    try:
        if has_tables:  # which are what quality would look into where nothing else is recognised
            yield detect(
                path, None, options.follow_links, options.skip_unrecognised, passed_over, configuration.formats
            )
        else:
            yield _detected(path, None, options, passed_over, configuration.formats)
    except (UnreadableError, UnknownNameError, MachineError):
        raise
    except RagdataError:
        if not (places or excluded or has_tables):
            raise


def _explained(error: RagdataError, configuration: Configuration) -> RagdataError:
    """The error, and that a plug-in was not loaded, which may know what is there."""
    if not configuration.unloaded or isinstance(error, UnreadableError):
        return error
    from ragdatakit.files.configuration.plugins import not_loaded

    return type(error)(f"{error}; {not_loaded(configuration.unloaded)}")


def _with_settings_below(error: RagdataError, paths: list[Path], options: RunOptions) -> RagdataError:
    """The error, and that there are settings further down, which may say what is there."""
    lines = not_used(options.below.unused(paths, options.configurations)) if options.below is not None else []
    return type(error)("; ".join((str(error), *lines))) if lines and type(error) is RagdataError else error


def _may_be_skipped(path: Path, error: RagdataError) -> bool:
    """Whether nothing is missed: the file is something else, or it was deleted and no dataset has a place for it."""
    return isinstance(error, UnrecognisedError) or not os.path.lexists(path)


def _detected(
    path: Path,
    format_name: str | None,
    options: RunOptions,
    passed_over: Callable[[Path], bool],
    plugged: tuple[str, ...],
) -> Detected:
    """The datasets at a path; where quality is checked, also plain texts and tables, of which nothing is declared."""
    quality = options.quality
    if format_name in PLAIN_NAMES:
        if quality is None:
            reason = f"nothing is declared of plain data ({format_name}) that could be checked"
            raise RagdataError(f"{reason}; with --quality its texts are checked")
        return Detected(quality.plain(path, format_name, options.follow_links))
    try:
        return detect(path, format_name, options.follow_links, options.skip_unrecognised, passed_over, plugged)
    except (UnreadableError, UnknownNameError):
        raise
    except RagdataError as error:
        if format_name or not path.exists() or options.skip_unrecognised:
            raise
        if quality is not None and (plain := quality.plain(path, "", options.follow_links)):
            return Detected(plain)
        if quality is None and _is_plain(path):
            raise type(error)(f"{error}; {_PLAIN}") from None
        raise


def _is_plain(path: Path) -> bool:
    """Whether texts or tables are there that are no dataset of a framework."""
    from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES

    for find in PLAIN_SOURCES.values():
        with skip_unreadable():
            return bool(find(path, boundary_of(path)).files)
    return False
