"""The datasets that files belong to: whoever changes a file wants all that refers to it checked, and nothing else.

A dataset is looked for in the folders around a file, up to that of the repository (which has a ``.git``: a folder, or a
file in submodules and further working trees), or to the current one where there is no repository. No other folder is
listed but by the layouts that fit there, so the size of the repository does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect_around, formats_named
from ragdatakit.files.detection.layout_files import DATA_SUFFIXES
from ragdatakit.files.detection.plain_sources import is_about
from ragdatakit.files.paths.boundary import ANYWHERE, boundary_of
from ragdatakit.files.paths.folders import SHOWN_HIDDEN, SKIPPED
from ragdatakit.files.paths.name_patterns import named_place


@dataclass(slots=True)
class WholeDatasets:
    """The datasets that some files belong to, the files that belong to none, and folders without permission."""

    datasets: list[Dataset] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def whole_datasets(files: Iterable[Path], format_name: str | None = None, follow_links: bool = False) -> WholeDatasets:
    """The datasets that ``files`` belong to, each once.

    Other data files in the same folders bring them, too: one that was renamed or deleted may have been one of theirs.
    Raises `UnknownNameError` for an unknown format.
    """
    formats = formats_named(format_name)
    found = WholeDatasets()
    tops: dict[Path, Path] = {}
    given: dict[Path, dict[Path, Path]] = {}  # by the topmost folder: as what lies below it, how it was named
    for file in dict.fromkeys(files):
        place = named_place(file)
        top = tops.setdefault(place.parent, _top_around(place.parent))
        root = top if file.is_absolute() else Path(os.path.relpath(top))
        given.setdefault(root, {})[root / place.relative_to(top)] = file
    for root, named in given.items():
        boundary = ANYWHERE if follow_links else boundary_of(root)
        detected = detect_around(root, _folders_around(root, named), formats, boundary)
        beside = {path.parent for path in named if _may_be_data(path)}
        gone = [path for path in named if not os.path.lexists(path)]
        left = dict(named)
        for dataset in detected.datasets:
            mine = [f.path for f in (*dataset.files, *dataset.ignored, *dataset.outside) if f.path in named]
            mine += [path for path in gone if _has_files_in(dataset, path.parent)]
            if mine or any(_has_files_in(dataset, folder) for folder in beside):
                found.datasets.append(dataset)
            for path in mine:
                left.pop(path, None)
        found.others += left.values()
        found.unreadable += detected.unreadable
    return found


def _top_around(folder: Path) -> Path:
    """The folder of the repository, or the current one, around a folder; else that folder itself."""
    for above in (folder, *folder.parents):
        if os.path.lexists(above / ".git"):
            return above
    return Path.cwd() if folder.is_relative_to(Path.cwd()) else folder


def _folders_around(root: Path, files: Iterable[Path]) -> list[Path]:
    """The folders from ``root`` down to each of the files, but those that are never looked into; the outer first."""
    around = {root: 0}
    for file in files:
        folder = root
        for depth, name in enumerate(file.relative_to(root).parent.parts, 1):
            folder /= name
            if name in SKIPPED or (name.startswith(".") and name not in SHOWN_HIDDEN) or not folder.is_dir():
                break
            around[folder] = depth
    return sorted(around, key=lambda folder: (around[folder], str(folder)))


def _may_be_data(path: Path) -> bool:
    return path.name.lower().endswith(DATA_SUFFIXES) and not is_about(path)


def _has_files_in(dataset: Dataset, folder: Path) -> bool:
    """Whether files of the dataset lie directly in a folder, by its layout."""
    if not folder.is_relative_to(dataset.root):
        return False
    parts = folder.relative_to(dataset.root).parts
    for layout in (layout for layout in dataset.format.layouts if layout.name == dataset.layout):
        if layout.endings and (not parts or parts[0] not in layout.apart):
            return True
        for pattern in layout.patterns:
            within = pattern.rstrip("/").split("/")[: None if pattern.endswith("/") else -1]
            if len(parts) == len(within) and all(map(fnmatchcase, parts, within)):
                return True
    return False
