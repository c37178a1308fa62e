"""Which datasets are at a path: a folder tree, a lone file, or a configuration file that names the others."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import field
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path

from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.known_formats import KnownFormats, known_formats, needed_groups
from ragdatakit.files.detection.layout_files import (
    DATA_SUFFIXES,
    files_by_name,
    files_of,
    folders_instead,
    ignored_files,
    in_order,
    named_files,
    not_even_json,
    sniffed_files,
)
from ragdatakit.files.detection.plain_names import is_about
from ragdatakit.files.detection.sniffed_trees import SniffedTree
from ragdatakit.files.detection.written_folders import WrittenFolders
from ragdatakit.files.paths.boundary import Boundary, boundary_of, not_followed
from ragdatakit.files.paths.folders import Tree, UnreadableError
from ragdatakit.files.paths.name_patterns import ends_as, named_place
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import File, Format, Layout
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.settings.plugins import names_with

_AROUND = 2
"""Folders around one, of which each may be the dataset that it is part of."""
_LOOKED_AT = 100
"""Files that are looked into for why nothing is recognised."""


@dataclass(slots=True)
class Detected:
    """The datasets found at one path, the data files that belong to none, and folders that could not be looked into."""

    datasets: list[Dataset] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def detect(
    path: Path,
    format_name: str | None = None,
    follow_links: bool = False,
    by_content: bool = False,
    passed_over: Callable[[Path], bool] | None = None,
    plugged: Collection[str] = (),
) -> Detected:
    """Find every dataset at ``path``, whose files lie below it; with ``follow_links`` also where links lead out.

    ``by_content``: the name of a lone file alone says nothing. ``passed_over`` says of files and folders below
    ``path`` whether they are not looked at, ``plugged`` are the formats of plug-ins that count where none is named.
    Raises `RagdataError` where there is none, or the path is missing; `UnrecognisedError` where it is a file of no
    format, `UnreadableError` where permission is denied.
    """
    formats = formats_named(format_name, plugged)
    boundary = boundary_of(path, follow_links)
    if _is_folder(path):
        found = _found_in_folder(path, formats, format_name, boundary, passed_over)
    else:
        from ragdatakit.files.detection.lone_files import lone_file

        found = Detected([lone_file(path, formats.declared, boundary, format_name is not None, by_content)])
    return _settled(found, boundary)


def detect_around(root: Path, folders: Sequence[Path], formats: KnownFormats, boundary: Boundary) -> Detected:
    """Find the datasets whose folders are among ``folders``, which lie in ``root``, those around others first."""
    tree = SniffedTree(root, boundary)
    return _settled(_detect_in_folders(tree, folders, formats), boundary)


def formats_named(name: str | None, plugged: Collection[str]) -> KnownFormats:
    """The format of that name alone; where none is named, all of ours and those ``plugged``. Raises
    `UnknownNameError`."""
    return known_formats((get_format(name).name,) if name else names_with(plugged))


def _settled(found: Detected, boundary: Boundary) -> Detected:
    for dataset in found.datasets:
        if dataset.layout != "config":
            dataset.confine(boundary)
        _tell_kinds_apart(dataset)
    return found


def _tell_kinds_apart(dataset: Dataset) -> None:
    """Settle by their content the kinds of files whose names are those of two kinds."""
    for kind in (k for k in dataset.format.files if k.instead_of):
        from ragdatakit.files.detection.sniffing import has_members, read_head

        for file in dataset.files:
            if file.kind in (kind.kind, kind.instead_of):
                head = read_head(file.path, file.boundary)
                file.kind = kind.kind if head is not None and has_members(head, kind) else kind.instead_of


def _found_in_folder(
    path: Path,
    formats: KnownFormats,
    format_name: str | None,
    boundary: Boundary,
    passed_over: Callable[[Path], bool] | None,
) -> Detected:
    tree = SniffedTree(path, boundary, passed_over)
    found = _detect_in_folders(tree, tree.folders(), formats)
    if not found.datasets:
        tree = SniffedTree(path, boundary, passed_over)
        found = _detect_in_folders(tree, tree.folders(), formats, "all" if format_name else "several")
    if not found.datasets and found.unreadable:
        raise UnreadableError(found.unreadable)
    if not found.datasets:
        from ragdatakit.files.detection.lone_files import refuse_packed

        refuse_packed(tree, formats.declared)
        raise RagdataError(_nothing_below(path, formats, format_name, boundary))
    return found


def _is_folder(path: Path) -> bool:
    """Whether a path that is there is a folder."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        raise UnreadableError([str(path)]) from None
    except (OSError, ValueError):
        if not os.path.lexists(path):
            raise RagdataError(f"no such file or folder: {path}") from None
        return False  # a link that leads nowhere


def _nothing_below(path: Path, formats: KnownFormats, format_name: str | None, boundary: Boundary) -> str:
    from ragdatakit.files.detection.known_folders import known_data

    named_as_a_file = path.name.lower().endswith(DATA_SUFFIXES)
    if not named_as_a_file and not any(files for _, _, files in os.walk(path)):
        return f"{path} has no files"
    looked_for = f" (looked for: {', '.join(formats.names)})" if format_name else ""
    words = f"no dataset recognised below {path}{looked_for}; "
    if named_as_a_file:
        words += f"{path.name} is a folder, and has the name of a file; "
    tree = Tree(path, boundary)
    files = (folder / name for folder in tree.folders() for name in tree.names(folder)[0])
    if (outside := next(filter(tree.leads_out, files), None)) is not None:
        words += f"{not_followed(outside)}; "
    if around := _dataset_around(path, formats):
        return words + around
    from ragdatakit.files.detection.lone_files import why_packed

    odd = _first_odd(path, boundary)
    packed = "" if odd else why_packed(SniffedTree(path, boundary), formats.declared)
    words += odd or (f"{packed}; " if packed else "")
    if format_name:
        return f"{words}see `ragdata formats {format_name}` for the files it has"
    if known := known_data(path):
        return f"no dataset recognised: {known}"
    return f"{words}name the format with --from, or see `ragdata formats` for the files each one has"


def _dataset_around(path: Path, formats: KnownFormats) -> str:
    """That a folder is part of a dataset of one of the two folders around it."""
    place = named_place(path)
    for root in place.parents[:_AROUND]:
        for dataset in detect_around(root, [root], formats, boundary_of(root)).datasets:
            if any(file.path.is_relative_to(place) for file in dataset.files):
                shown = root if path.is_absolute() else Path(os.path.relpath(root))
                return f"it is part of the {dataset.format.name} dataset {shown}: name that folder"
    return ""


def _first_odd(path: Path, boundary: Boundary) -> str:
    """What is odd about the first file that says nothing, though its name promises records."""
    from ragdatakit.files.detection.odd_beginnings import odd_beginning

    tree = Tree(path, boundary)
    files = (folder / name for folder in tree.folders() for name in tree.names(folder)[0])
    for file in islice(files, _LOOKED_AT):
        if odd := odd_beginning(file, boundary):
            return f"{file}: {odd}; "
    return ""


def _detect_in_folders(
    tree: SniffedTree, folders: Iterable[Path], formats: KnownFormats, by_name: str = ""
) -> Detected:
    """``by_name``: files whose content says nothing are taken for what their names say, "all" of them, or where
    "several" files have names that say what they are, as ``topics.tsv`` beside ``qrels.txt``."""
    found = Detected()
    claimed: set[Path] = set()
    written = WrittenFolders(tree)
    layouts: list[Layout] = []  # of the datasets that are found
    looked_at: list[Path] = []
    for folder in folders:
        looked_at.append(folder)
        if _is_claimed(tree, folder, claimed):
            continue
        possible = formats.possible(tree, folder)
        format_of_manifest = written.format_of(folder)
        for name in formats.names if by_name == "all" else possible:
            as_written = format_of_manifest == name
            if not as_written and format_of_manifest:
                continue
            fmt = get_format(name)
            names: set[str] = set()  # of the layouts that fit
            for number, layout in enumerate(fmt.layouts):
                if by_name != "all" and number not in possible[name]:
                    continue
                if layout.name in names or (layout.place and not ends_as(named_place(folder), layout.place)):
                    continue
                if by_name != "all" and not _may_be_complete(tree, folder, layout):
                    continue
                files = files_of(tree, folder, fmt, layout, claimed)
                if layout.sniffed:
                    among = (fmt,) if as_written else formats.declared
                    sniffed = sniffed_files(tree, folder, fmt, layout, among, claimed | {f.path for f in files})
                    if as_written:
                        known = claimed | {f.path for f in (*files, *sniffed)}
                        sniffed += files_by_name(tree, folder, layout, known)
                    sniffed = sniffed or (named_files(tree, folder, layout) if by_name == "all" else [])
                    is_certain = bool(sniffed) or (not layout.signature and _any_fits(tree, files, fmt, among))
                    is_certain = is_certain or bool(
                        by_name and not layout.signature and len({f.kind for f in files}) > 1
                    )
                    named = {f.path for f in files}
                    sniffed = [f for f in sniffed if f.path not in named]
                    files = in_order(fmt, layout, files + sniffed) if is_certain else []
                if files and _complete(tree, folder, fmt, layout, files, None if as_written else formats):
                    dataset = Dataset(folder, str(folder), fmt, layout.name, files)
                    dataset.ignored = list(ignored_files(tree, folder, layout, claimed | {f.path for f in files}))
                    claimed.update(f.path for f in (*files, *dataset.ignored))
                    found.datasets.append(dataset)
                    layouts.append(layout)
                    names.add(layout.name)
            if names and _is_claimed(tree, folder, claimed):
                break
    _add_rest(found, tree, looked_at, layouts, claimed)
    return found


def _is_claimed(tree: SniffedTree, folder: Path, claimed: set[Path]) -> bool:
    """Whether there are no files in a folder, nor below it, that are of no dataset yet."""
    files, folders = tree.names(folder)
    return not folders and all(path in claimed for path in tree.paths(folder, files))


def _add_rest(
    found: Detected, tree: SniffedTree, looked_at: list[Path], layouts: list[Layout], claimed: set[Path]
) -> None:
    """What is no dataset's, or cannot be read: files of no dataset, links that lead out, folders without permission;
    ``layouts`` are those of the datasets."""
    looked_into: set[Path] = set()
    for dataset, layout in zip(found.datasets, layouts, strict=True):
        dataset.unreadable = [str(p) for p in tree.unreadable if _reaches(layout, dataset.root, p)]
        broken = not_even_json(tree, dataset, layout, claimed)
        claimed.update(f.path for f in broken)
        broken += folders_instead(tree, dataset, layout)
        dataset.files = in_order(dataset.format, layout, dataset.files + broken) if broken else dataset.files
        named = files_by_name(tree, dataset.root, layout, claimed)
        looked_into.update(file.path for file in named)
        dataset.outside = [file for file in named if tree.leads_out(file.path) and not is_about(file.path)]
        claimed.update(file.path for file in dataset.outside)
    found.unreadable = [str(p) for p in tree.unreadable]
    for folder in looked_at:
        files, folders = tree.names(folder)
        is_empty = not files and not folders
        if is_empty and folder.name.lower().endswith(DATA_SUFFIXES) and folder not in claimed:
            found.unrecognised.append(str(folder))  # it has the name of a file
        for name, path in zip(files, tree.paths(folder, files), strict=True):
            may_be_data = name.lower().endswith(DATA_SUFFIXES) or path in looked_into
            if may_be_data and path not in claimed and not name.startswith(".") and not is_about(path):
                found.unrecognised.append(str(path))


def _any_fits(tree: SniffedTree, files: list[DataFile], fmt: Format, formats: tuple[Format, ...]) -> bool:
    """Whether the content of a file, too, is that of the format."""
    return any((guessed := tree.guess(f.path, formats)) is not None and guessed[0] is fmt for f in files)


def _reaches(layout: Layout, root: Path, folder: Path) -> bool:
    """Whether files of a dataset at ``root`` may lie in a folder."""
    if not folder.is_relative_to(root):
        return False
    parts = folder.relative_to(root).parts
    if layout.endings and (not parts or parts[0] not in layout.apart):
        return True
    for pattern in (*layout.patterns, *chain.from_iterable(layout.signature)):
        within = pattern.rstrip("/").split("/")[: None if pattern.endswith("/") else -1]
        if len(parts) <= len(within) and all(map(fnmatchcase, parts, within)):
            return True
    return False


def _may_be_complete(tree: SniffedTree, folder: Path, layout: Layout) -> bool:
    """Whether the names say that a layout may have all it needs."""
    return all(
        any(tree.match(folder, pattern) for pattern in tree.may_match(folder, group)) for group in needed_groups(layout)
    )


def _complete(
    tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, files: list[DataFile], formats: KnownFormats | None
) -> bool:
    """Whether a layout has all it needs; where ``formats`` are given, a file must look like none of the others."""
    kinds = {f.kind for f in files}
    loose = {pattern for pattern, kind in layout.loose.items() if kind in kinds}
    for group in layout.signature:
        if not loose.isdisjoint(group):
            continue
        matches = [(p, n) for n in tree.may_match(folder, group) for p in tree.match(folder, n)]
        if formats is not None and not layout.place:
            matches = [(p, n) for p, n in matches if not _is_foreign(tree, p, fmt, layout.files.get(n))]
        if not matches:
            return False
        if formats is None or not layout.sniff:
            continue
        if not any(_fits(tree, p, fmt, fmt.file(layout.files[n]), formats.declared) for p, n in matches):
            return False
    return True


def _is_foreign(tree: SniffedTree, path: Path, fmt: Format, kind: str | None) -> bool:
    """Whether a file that is called as one of a kind begins with records of another system: with members that the kind
    is without, and none of its own."""
    declared = fmt.file(kind) if kind is not None else None
    if declared is None or not declared.without or tree.leads_out(path):
        return False
    head = tree.head(path)
    members = (
        {*chain.from_iterable(one for one in head.records if isinstance(one, dict))} if head is not None else set()
    )
    return bool(members.intersection(declared.without)) and not members.intersection(declared.keys)


def _fits(tree: SniffedTree, path: Path, fmt: Format, kind: File, formats: tuple[Format, ...]) -> bool:
    """Whether a file begins as one of that kind, and not more as one of another format; one that may not be opened is
    taken for what its name says."""
    if tree.leads_out(path):
        return True
    if kind.container in ("columns", "tagged") and not is_parquet(path):
        return tree.text(path).fits(kind)
    from ragdatakit.files.detection.sniffing import guess_kind, looks_like

    head = tree.head(path)
    if head is None or not looks_like(head, kind):
        return False
    guessed = guess_kind(head, formats) if kind.keys else None  # without keys it is known by its name only
    return guessed is None or guessed[0] is fmt
