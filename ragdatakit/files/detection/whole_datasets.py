"""The datasets that files belong to: whoever changes a file wants all that refers to it checked, and nothing else.

A dataset is looked for in the folders around a file, up to that of the repository (which has a ``.git``: a folder, or a
file in submodules and further working trees), or to the current one where there is no repository. No other folder is
listed but by the layouts that fit there, so the size of the repository does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path

from ragdatakit.files.containers.beginnings import HEAD_BYTES
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.find import detect_around, formats_named
from ragdatakit.files.detection.layout_files import DATA_SUFFIXES
from ragdatakit.files.detection.plain_names import is_about
from ragdatakit.files.detection.sniffed_text import Beginning
from ragdatakit.files.detection.sniffing import beginning, guess, looks_like, read_head
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary, boundary_of
from ragdatakit.files.paths.folders import SHOWN_HIDDEN, SKIPPED
from ragdatakit.files.paths.name_patterns import ends_as, named_place
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.declarations import File, Format, Layout

_MANY_COLUMNS = 3


@dataclass(slots=True)
class WholeDatasets:
    """The datasets that some files belong to, the files that belong to none, and folders without permission."""

    datasets: list[Dataset] = field(default_factory=list)
    others: list[Path] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def whole_datasets(
    files: Iterable[Path],
    format_name: str | None = None,
    follow_links: bool = False,
    by_content: bool = False,
    plugged: Collection[str] = (),
) -> WholeDatasets:
    """The datasets that ``files`` belong to, each once.

    One that was deleted, or has the content of the format and another name, may have been one of the dataset whose
    files are in the same folder, and brings it, too. ``by_content``: names alone, as ``tables/users.sql``, make no
    dataset. ``plugged`` as of `detect`. Raises `UnknownNameError` for an unknown format.
    """
    formats = formats_named(format_name, plugged)
    found = WholeDatasets()
    tops: dict[Path, Path] = {}
    given: dict[Path, dict[Path, Path]] = {}  # by the topmost folder: as what lies below it, how it was named
    for file in dict.fromkeys(files):
        place = named_place(file)
        if place.parent not in tops:
            tops[place.parent] = _top_around(place.parent)
        top = tops[place.parent]
        root = top if file.is_absolute() else Path(os.path.relpath(top))
        given.setdefault(root, {})[root / place.relative_to(top)] = file
    for root, named in given.items():
        boundary = ANYWHERE if follow_links else boundary_of(root)
        detected = detect_around(root, _folders_around(root, named), formats, boundary)
        datasets = [d for d in detected.datasets if not by_content or _shows_its_format(d)]
        files_of = [{f.path for f in (*d.files, *d.ignored, *d.outside)} & named.keys() for d in datasets]
        claimed = set[Path]().union(*files_of)
        left = {path: file for path, file in named.items() if path not in claimed}
        near: dict[Path, list[Path]] = {}  # by their folders
        for path in filter(_may_be_data, left):
            near.setdefault(path.parent, []).append(path)
        for dataset, mine in zip(datasets, files_of, strict=True):
            beside = [path for folder, paths in near.items() if _has_files_in(dataset, folder) for path in paths]
            gone = [path for path in beside if not os.path.lexists(path)]
            if mine or gone or any(_is_of(dataset.format, path, formats.declared, boundary) for path in beside):
                found.datasets.append(dataset)
            for path in gone:
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


def _shows_its_format(dataset: Dataset) -> bool:
    """Whether a file of the dataset has the content of its format, or a name of several words that is one of it."""
    layouts, place = list(_layouts_of(dataset)), named_place(dataset.root)
    if any(layout.place and ends_as(place, layout.place) for layout in layouts):
        return True
    names = {pattern.rsplit("/", 1)[-1] for layout in layouts for pattern in layout.patterns}
    if any("_" in file.path.name and file.path.name in names for file in dataset.files):
        return True
    several = any(len(layout.signature) > 1 for layout in layouts)
    return any(_shows(file, dataset.format.file(file.kind), several) for file in dataset.files)


def _shows(file: DataFile, kind: File, several: bool) -> bool:
    """The same of one file; ``several``: the names of others had to fit, too."""
    if kind.container in ("columns", "tagged"):
        text = beginning(file.path, HEAD_BYTES, file.boundary)[0]
        return Beginning(text.decode("utf-8", "replace")).fits(kind)
    if kind.container == "table" and file.path.suffix == ".csv":
        known = {field.name for record in kind.records for field in record.fields}
        head = read_head(file.path, file.boundary)
        columns = head.records[0] if head is not None and head.container == "csv" else ()
        return len(known.intersection(columns)) >= _MANY_COLUMNS
    if groups := [set(group) for group in (kind.keys, *kind.signs) if group]:
        head = read_head(file.path, file.boundary)
        records = [record for record in head.records if isinstance(record, dict)] if head is not None else []
        has_keys = any(group <= record.keys() for record in records for group in groups)
        return has_keys or (head is not None and looks_like(head, kind) > 0)
    if kind.container in ("text", "opaque") and not kind.begins:
        return several or any(suffix.count(".") > 1 for suffix in kind.suffixes)
    return True


def _layouts_of(dataset: Dataset) -> Iterator[Layout]:
    return (layout for layout in dataset.format.layouts if layout.name == dataset.layout)


def _is_of(fmt: Format, path: Path, formats: tuple[Format, ...], boundary: Boundary) -> bool:
    guessed = guess(path, formats, boundary)
    return guessed is not None and guessed[0] is fmt and guessed[1].container != "json-object"


def _may_be_data(path: Path) -> bool:
    return path.name.lower().endswith(DATA_SUFFIXES) and not is_about(path)


def _has_files_in(dataset: Dataset, folder: Path) -> bool:
    """Whether files of the dataset lie directly in a folder, by its layout."""
    if not folder.is_relative_to(dataset.root):
        return False
    parts = folder.relative_to(dataset.root).parts
    for layout in _layouts_of(dataset):
        if layout.endings and (not parts or parts[0] not in layout.apart):
            return True
        for pattern in layout.patterns:
            within = pattern.rstrip("/").split("/")[: None if pattern.endswith("/") else -1]
            if len(parts) == len(within) and all(map(fnmatchcase, parts, within)):
                return True
    return False
