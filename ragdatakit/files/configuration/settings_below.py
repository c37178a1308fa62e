"""Settings and baselines further down than the paths of a run, which do not hold for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

from ragdatakit.files.configuration.baseline_places import baseline_of
from ragdatakit.files.configuration.chosen import Configuration, Configurations
from ragdatakit.files.configuration.sources import nearest_file
from ragdatakit.files.paths.boundary import real_path
from ragdatakit.files.paths.own_files import SETTINGS_FILES
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.visible_text import visible_text

_SHOWN = 5


class SettingsBelow:
    """Notes such files while the folders are listed; ``names`` are those that nobody chose on the command line."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(names)
        self._seen: dict[Path, None] = {}

    def noting(self, passed_over: Callable[[Path], bool] = lambda path: False) -> Callable[[Path], bool]:
        """``passed_over`` of a listing, which also notes what it is asked about."""

        def asked(path: Path) -> bool:
            if passed_over(path):
                return True
            if path.name in self._names:
                self._seen[path] = None
            return False

        return asked if self._names else passed_over

    def unused(self, paths: Iterable[Path], configurations: Configurations) -> list[Path]:
        """Those that hold for their folder, and for none of the paths."""
        known = {real_path(file) for path in paths for file in _holding(path, configurations.of(path))}
        return sorted(path for path in self._seen if real_path(path) not in known and _holds(path))


def _holding(path: Path, configuration: Configuration) -> Iterator[Path]:
    yield from (file.path for file in configuration.files)
    if (baseline := baseline_of(path, configuration)) is not None:
        yield baseline


def _holds(path: Path) -> bool:
    """Whether a file is a baseline, or that which has the settings of its folder, right or wrong."""
    if path.name not in SETTINGS_FILES:
        return os.path.isfile(path)  # noqa: PTH113 - False, too, where nothing may be looked at
    try:
        found = nearest_file(path.parent)
    except RagdataError:
        return True
    return found is not None and found.path == Path(os.path.abspath(path))  # noqa: PTH100 - without following links


class ReportedBelow:
    """Settings further down than the ``paths`` that are read, not judged: each is reported once, to ``tell``."""

    def __init__(
        self, below: SettingsBelow, paths: Iterable[Path], configurations: Configurations, tell: Callable[[str], None]
    ) -> None:
        self.noting = below.noting
        self._below, self._paths, self._configurations, self._tell = below, [*paths], configurations, tell
        self._reported: set[Path] = set()

    def report(self) -> None:
        """After what lies at a path was listed."""
        unused = self._below.unused(self._paths, self._configurations)
        files = [file for file in unused if file not in self._reported]
        self._reported.update(files)
        for line in not_used(files, command=""):
            self._tell(line)


def not_used(files: Iterable[Path], command: str = "validate") -> list[str]:
    """That they do not hold here, in a line for each folder, and how they do."""
    of_folder: dict[Path, list[str]] = {}
    for file in files:
        of_folder.setdefault(file.parent, []).append(visible_text(str(file)))
    lines = []
    for folder, names in of_folder.items():
        import shlex

        shown, quoted = visible_text(str(folder)), visible_text(shlex.quote(str(folder)))
        hold, are = ("holds", "is") if len(names) == 1 else ("hold", "are")
        remedy = f"run `ragdata {command} {quoted}`" if command else f"give {quoted} as the path"
        lines.append(f"{' and '.join(names)} {hold} for paths at or below {shown} and {are} not used here; {remedy}")
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"{more} more folders have settings or a baseline of their own"] if more > 1 else lines
