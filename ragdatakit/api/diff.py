"""The Python interface of comparisons: how one dataset, or one state of it, differs from another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ragdatakit.api.arguments import reading, several_words
from ragdatakit.api.keywords import takes
from ragdatakit.api.remote import at_hand, renamed
from ragdatakit.api.results import ShownAsPage
from ragdatakit.api.sources import find_datasets, meant_datasets, several
from ragdatakit.files.paths.boundary import boundary_of
from ragdatakit.files.paths.folders import unreadable_folders
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.diffs import DatasetDiff
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import DiffOptions, PathLike, Progress
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    from ragdatakit.api.sources import FoundDataset
    from ragdatakit.converters.sources import ConversionSettings
    from ragdatakit.reports.diff.conditions import Condition
    from ragdatakit.reports.diff.datasets import Compared, CompareOptions
    from ragdatakit.reports.other_files import OtherFiles
    from ragdatakit.schemas.diffs import Metric, Side


class DiffResult(ShownAsPage, DatasetDiff):
    """The result of `ragdatakit.diff`."""

    __slots__ = ()

    @classmethod
    def of(cls, diff: DatasetDiff) -> Self:
        """The same as a result."""
        return cls(**{field.name: getattr(diff, field.name) for field in fields(diff)})

    def _json(self) -> bytes:
        from ragdatakit.reports.diff.files import diff_json

        return diff_json(self)

    def _page(self) -> bytes:
        from ragdatakit.reports.html.diff import diff_html

        return diff_html(self)


@takes(DiffOptions)
def diff(options: DiffOptions, before: PathLike, after: PathLike) -> DiffResult:
    """How the dataset at ``after`` differs from that at ``before``, by records, files and numbers.

    Each is a path, or a git revision and a path in it (``HEAD~1:data``), which is read without touching the working
    tree. They may be of different formats: what is compared are the canonical tables. Where the paths hold several
    datasets, those of the same place below them are compared with each other (``pairs``), or only those that
    ``dataset`` names. Files below two folders that belong to no dataset are compared by their bytes (``other_files``),
    except for those that ``exclude`` names. What could not be read at all, so that it is not compared, is in
    ``unread``.

    Raises `RagdataError` as `read` does, and for a revision or path that is not there.
    """
    from ragdatakit.reports.diff.datasets import CompareOptions

    started = time.perf_counter()
    conditions = _conditions(options, after)
    if any(condition.metric for condition in conditions):
        options = replace(options, metrics=True)
    how = CompareOptions(
        records=options.records,
        ignored=tuple(options.ignore),
        keys={table: tuple(columns) for table, columns in (options.keys or {}).items()},
        progress=options.progress,
    )
    notes: list[str] = []
    with ExitStack() as stack:
        here = stack.enter_context(at_hand(options, [before, after], beside="all"))
        options = here.options
        sides = []
        for path, format_name in zip(here.paths, (options.source_format, options.after_format), strict=True):
            wanted = reading(replace(options, source_format=format_name or options.source_format))
            sides.append(stack.enter_context(_found(path, wanted, options.dataset, notes)))
        comparing = _Comparing(how, options.metrics, options.memory_limit)
        found = comparing.folders(*sides) if any(side.several for side in sides) else comparing.datasets(*sides)
        _add_other_files(found, sides[0], sides[1], tuple(options.exclude), options.progress)
        found.notes[:0] = notes
    found.conditions = tuple(condition.text for condition in conditions)
    found.met = [met for condition in conditions for met in condition.met(found)]
    found.seconds = time.perf_counter() - started
    return renamed(DiffResult.of(found))


def _conditions(options: DiffOptions, after: PathLike) -> list[Condition]:
    """Those that are given, or those of the settings of the project."""
    from ragdatakit.api.configuration import configuration_of
    from ragdatakit.reports.diff.conditions import condition_of

    if given := several_words(options.fail_on):
        return [condition_of(text) for text in given]
    setting = None
    if options.config is not False:
        setting = configuration_of(after, options.config).values.get(("diff", "fail-on"))
    if setting is None:
        return []
    places = [setting.file.place((*setting.keys, number)) for number in range(len(setting.value))]
    return [condition_of(text, place) for text, place in zip(setting.value, places, strict=True)]


@dataclass(frozen=True, slots=True)
class _Side:
    """What is at one of the two paths; ``path`` is what the user called it, ``place`` where its files are. ``beside``
    are the datasets that are not meant where one was chosen, and that one."""

    path: str
    place: Path
    datasets: list[FoundDataset]
    beside: list[FoundDataset]
    follow_links: bool = False

    @property
    def several(self) -> bool:
        return len(self.datasets) > 1

    @property
    def whole(self) -> Side:
        """The folder with all its datasets."""
        from ragdatakit.schemas.diffs import Side

        formats = sorted({each.source.format for each in self.datasets})
        return Side(self.path, Path(self.path).name, ", ".join(formats))

    def other_files(self) -> OtherFiles | None:
        """The files below the path that belong to no dataset, or those below the chosen dataset; None where that is a
        lone file."""
        from ragdatakit.reports.other_files import other_files

        folder = self.place
        if self.beside:
            source = self.datasets[0].source
            if source.parts[0].layout == "file":
                return None
            folder = source.root
        parts = [part for each in (*self.datasets, *self.beside) for part in each.source.parts]
        known = [file.path for part in parts for file in part.files]
        return other_files(folder, known, boundary_of(self.place, self.follow_links)) if folder.is_dir() else None

    def hidden(self) -> list[str]:
        """The folders below the path that may not be looked into, with ``/``."""
        return [folder.relative_to(self.place).as_posix() for folder in unreadable_folders(self.place)]

    def path_of(self, place: str) -> str:
        """What the user would call a dataset of it."""
        return f"{self.path}{'' if self.path.endswith(('/', ':')) else '/'}{place}"

    def error(self, error: RagdataError) -> RagdataError:
        """The error with the user's words; the files of a revision lie elsewhere."""
        if str(self.place) == self.path:
            return error
        return RagdataError(str(error).replace(str(self.place), self.path))


@contextmanager
def _found(path: PathLike, wanted: ConversionSettings, dataset: str, notes: list[str]) -> Iterator[_Side]:
    """One side: what is at a path, or what git has of it."""
    from ragdatakit.files.git.revisions import extract_revision, parse_revision
    from ragdatakit.outputs.scratch import ScratchFolder

    shown = os.fspath(path)
    revision = parse_revision(shown)
    with ExitStack() as stack:
        place = Path(path)
        if revision is not None:
            if wanted.progress is not None:
                wanted.progress(f"reading {shown}", 0, 1)
            folder = stack.enter_context(ScratchFolder()) / "files"
            place, left_out = extract_revision(revision, folder)
            notes.extend(left_out)
        side = _Side(shown, place, [], [], wanted.follow_links)
        try:
            side.datasets.extend(meant_datasets(place, wanted, dataset))
            if dataset:
                side.beside.extend(find_datasets([place], wanted))
        except RagdataError as error:
            raise side.error(error) from None
        yield side


@dataclass(frozen=True, slots=True)
class _Comparing:
    """How to compare what was found."""

    options: CompareOptions
    metrics: bool
    memory_limit: int

    def datasets(self, before: _Side, after: _Side) -> DatasetDiff:
        """The one dataset of each side."""
        return self._pair((before, before.datasets[0], before.path), (after, after.datasets[0], after.path))

    def folders(self, before: _Side, after: _Side) -> DatasetDiff:
        """Several datasets, those of the same place with each other. Raises `RagdataError` where one side is a dataset
        itself, and it is not clear with which of the other it is to be compared."""
        from ragdatakit.reports.diff.datasets import refuse_unknown
        from ragdatakit.schemas.canonical import TABLES
        from ragdatakit.schemas.diffs import DatasetDiff, DatasetPair

        for side, other in ((before, after), (after, before)):
            if not other.several and not other.datasets[0].place:
                raise RagdataError(several(side.path, side.datasets))
        refuse_unknown(self.options, TABLES)
        found = DatasetDiff(before.whole, after.whole)
        old, new = ({each.place or ".": each for each in side.datasets} for side in (before, after))
        hidden = {side.path: side.hidden() for side in (before, after)} if old.keys() != new.keys() else {}
        for number, place in enumerate(sorted({*old, *new})):
            if self.options.progress is not None:
                self.options.progress(f"comparing {place}", number, len({*old, *new}))
            names = before.path_of(place), after.path_of(place)
            if place in old and place in new:
                diff = self._pair((before, old[place], names[0]), (after, new[place], names[1]), checked=True)
                status = "changed" if diff.different else "same"
            elif _may_hide(hidden[(before if place in new else after).path], place):
                status, diff = "unread", _unknown(names, old.get(place), new.get(place))
            elif place in new:
                status, diff = "added", self._alone(after, new[place], names[1], names[0], "added")
            else:
                status, diff = "removed", self._alone(before, old[place], names[0], names[1], "removed")
            found.pairs.append(DatasetPair(place, status, diff))
        return found

    def _pair(
        self, before: tuple[_Side, FoundDataset, str], after: tuple[_Side, FoundDataset, str], *, checked: bool = False
    ) -> DatasetDiff:
        from ragdatakit.reports.diff.datasets import compare_datasets

        started = time.perf_counter()
        with self._opened(*before) as old, self._opened(*after) as new:
            found = compare_datasets(old, new, self.options, checked=checked)
            if self.metrics and found.different:
                unread = {table.name for table in found.tables if table.unread}
                metrics = _metrics(old, new, self.options.progress)
                found.metrics = [metric for metric in metrics if metric.name.partition(".")[0] not in unread]
        found.seconds = time.perf_counter() - started
        return found

    def _alone(self, side: _Side, dataset: FoundDataset, path: str, missing: str, status: str) -> DatasetDiff:
        from ragdatakit.reports.diff.datasets import one_sided

        with self._opened(side, dataset, path) as opened:
            return one_sided(opened, missing, status)

    @contextmanager
    def _opened(self, side: _Side, dataset: FoundDataset, path: str) -> Iterator[Compared]:
        from ragdatakit.api.sources import database_of
        from ragdatakit.reports.diff.datasets import Compared

        try:
            database = database_of(dataset, self.memory_limit, own_sql=True)
        except RagdataError as error:
            raise side.error(error) from None
        with database:
            yield Compared(database, database.parts, path)


def _may_hide(hidden: Iterable[str], place: str) -> bool:
    """Whether there may be a dataset at a place that may not be looked into, or not into all of it."""
    return any(f"{place}/".startswith(f"{name}/") or name.startswith(f"{place}/") for name in hidden)


def _unknown(names: tuple[str, str], old: FoundDataset | None, new: FoundDataset | None) -> DatasetDiff:
    """A dataset that one side has, where the other may have it, without permission to look."""
    from ragdatakit.schemas.diffs import DatasetDiff, Side

    before, after = (
        Side(path, each.name, each.source.format) if each is not None else Side(path, "", "")
        for path, each in zip(names, (old, new), strict=True)
    )
    return DatasetDiff(before, after)


def _add_other_files(
    found: DatasetDiff, before: _Side, after: _Side, exclude: tuple[str, ...], progress: Progress | None
) -> None:
    """What became of the files of no dataset; those of two formats have no reason to be the same."""
    from ragdatakit.reports.other_files import compare_other_files, left_out, names_listed, passed_notes

    old, new = before.other_files(), after.other_files()
    found.notes.extend(left_out([files for files in (old, new) if files is not None], exclude))
    pairs = [pair.diff for pair in found.pairs if pair.status in ("same", "changed")] if found.pairs else [found]
    if old is not None and new is not None and all(pair.before.format == pair.after.format for pair in pairs):
        found.other_files, notes = compare_other_files(old, new, progress)
        found.notes.extend(notes)
        return
    for side, files in ((before, old), (after, new)):
        if files is not None and files.others:
            others = many(len(files.others), "file")
            found.notes.append(f"{side.path}: not compared: {others} of no dataset: {names_listed(files.others)}.")
    found.notes.extend(passed_notes(*(files for files in (old, new) if files is not None)))


def _metrics(before: Compared, after: Compared, progress: Progress | None) -> list[Metric]:
    """The numbers of the two reports that are different."""
    from ragdatakit.reports.diff.metrics import moved_metrics
    from ragdatakit.reports.summaries import summarize

    old, new = (
        summarize(side.database, path=side.path, examples=0, seed=13, progress=progress) for side in (before, after)
    )
    return moved_metrics(old, new)
