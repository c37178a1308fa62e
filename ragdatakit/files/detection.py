"""Which datasets stand at a path: a folder tree, a lone file, or a configuration file that names the others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from ragdatakit.files.boundary import ANYWHERE, Boundary, boundary_of, not_followed
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.folders import Tree, is_regular, not_looked_into
from ragdatakit.files.known_folders import known_data
from ragdatakit.files.light_splade_config import CONFIG_SUFFIXES, read_config
from ragdatakit.files.plain_sources import is_about
from ragdatakit.files.sniffed_trees import SniffedTree
from ragdatakit.files.sniffing import (
    beginning,
    emptiness,
    guess,
    guess_kind,
    looks_like,
)
from ragdatakit.files.written_folders import WrittenFolders
from ragdatakit.schemas import all_formats, get_format
from ragdatakit.schemas.declarations import File, Format, Layout
from ragdatakit.schemas.errors import RagdataError

DATA_SUFFIXES = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".csv",
    ".tsv",
    ".parquet",
    ".gz",
    ".txt",
    ".sql",
    ".md",
    ".zst",
    ".bz2",
    ".xz",
    ".zip",
    ".arrow",
)
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".7z", ".rar")
PACKED = (*ARCHIVES, ".zst", ".bz2", ".xz")
DATABASES = (".duckdb", ".ddb")


@dataclass(slots=True)
class Detected:
    """The datasets found at one path, the data files that belong to none, and folders that could not be looked into."""

    datasets: list[Dataset] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class UnreadableError(RagdataError):
    """Nothing can be said of a path, for want of permission; ``paths`` are what may not be looked into."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(not_looked_into(paths[0]))
        self.paths = paths


def detect(path: Path, format_name: str | None = None, follow_links: bool = False) -> Detected:
    """Find every dataset at ``path``, whose files lie below it; with ``follow_links`` also where links lead out.

    Raises `RagdataError` where there is none, or the path is missing; `UnreadableError` where nobody may look.
    """
    formats = (get_format(format_name),) if format_name else all_formats()
    boundary = boundary_of(path, follow_links)
    if _is_folder(path):
        found = _found_in_folder(path, formats, format_name, boundary)
    else:
        found = Detected([_lone_file(path, formats, boundary, forced=format_name is not None)])
    for dataset in found.datasets:
        if dataset.layout != "config":
            dataset.confine(boundary)
        if dataset.format.name == "hipporag":
            from ragdatakit.files.hipporag_passages import mark_legacy

            mark_legacy(dataset)
    return found


def _found_in_folder(path: Path, formats: tuple[Format, ...], format_name: str | None, boundary: Boundary) -> Detected:
    found = _detect_in_folder(path, formats, boundary)
    if not found.datasets:
        found = _detect_in_folder(path, formats, boundary, "all" if format_name else "several")
    if not found.datasets and found.unreadable:
        raise UnreadableError(found.unreadable)
    if not found.datasets:
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


def _nothing_below(path: Path, formats: tuple[Format, ...], format_name: str | None, boundary: Boundary) -> str:
    named_as_a_file = path.name.lower().endswith(DATA_SUFFIXES)
    if not named_as_a_file and not any(files for _, _, files in os.walk(path)):
        return f"{path} has no files"
    names = ", ".join(f.name for f in formats)
    told = f"no dataset recognised below {path} (looked for: {names}); "
    if named_as_a_file:
        told += f"{path.name} is a folder, and has the name of a file; "
    tree = Tree(path, boundary)
    files = (folder / name for folder in tree.folders() for name in tree.names(folder)[0])
    if (outside := next(filter(tree.leads_out, files), None)) is not None:
        told += f"{not_followed(outside)}; "
    if format_name:
        return f"{told}see `ragdata formats {format_name}` for the files it has"
    if known := known_data(path):
        return f"no dataset recognised: {known}"
    return f"{told}name the format with --from, or see `ragdata formats` for the files each one has"


def _detect_in_folder(root: Path, formats: tuple[Format, ...], boundary: Boundary, by_name: str = "") -> Detected:
    """``by_name``: files whose content tells nothing are taken for what their names say, "all" of them, or where
    "several" files have names that say what they are, as ``topics.tsv`` beside ``qrels.txt``."""
    tree = SniffedTree(root, boundary)
    found = Detected()
    claimed: set[Path] = set()
    written = WrittenFolders(root, boundary)
    layouts: list[Layout] = []  # of the datasets that are found
    for folder in tree.folders():
        for fmt in formats:
            as_written = written.format_of(folder) == fmt.name
            if not as_written and written.format_of(folder):
                continue
            names: set[str] = set()  # of the layouts that fit
            for layout in fmt.layouts:
                if layout.name in names or not _is_in_place(folder, layout):
                    continue
                if by_name != "all" and not _may_be_complete(tree, folder, layout):
                    continue
                files = _files_of(tree, folder, fmt, layout, claimed)
                if layout.sniffed:
                    among = (fmt,) if as_written else formats
                    sniffed = _sniffed_files(tree, folder, fmt, layout, among, claimed | {f.path for f in files})
                    if as_written:
                        known = claimed | {f.path for f in (*files, *sniffed)}
                        sniffed += _files_by_name(tree, folder, layout, known)
                    sniffed = sniffed or (_named_files(tree, folder, layout) if by_name == "all" else [])
                    told = bool(sniffed) or (not layout.signature and _any_fits(tree, files, fmt, among))
                    told = told or bool(by_name and not layout.signature and len({f.kind for f in files}) > 1)
                    named = {f.path for f in files}
                    sniffed = [f for f in sniffed if f.path not in named]
                    files = _in_order(fmt, layout, files + sniffed) if told else []
                if files and _complete(tree, folder, fmt, layout, files, None if as_written else formats):
                    dataset = Dataset(folder, str(folder), fmt, layout.name, files)
                    dataset.ignored = list(_ignored(tree, folder, layout, claimed | {f.path for f in files}))
                    claimed.update(f.path for f in (*files, *dataset.ignored))
                    found.datasets.append(dataset)
                    layouts.append(layout)
                    names.add(layout.name)
    _add_rest(found, tree, layouts, claimed)
    return found


def _add_rest(found: Detected, tree: SniffedTree, layouts: list[Layout], claimed: set[Path]) -> None:
    """What is no dataset's, or cannot be read: files of no dataset, links that lead out, folders without permission;
    ``layouts`` are those of the datasets."""
    looked_into: set[Path] = set()
    for dataset, layout in zip(found.datasets, layouts, strict=True):
        dataset.unreadable = [str(p) for p in tree.unreadable if _reaches(layout, dataset.root, p)]
        broken = _not_even_json(tree, dataset, layout, claimed)
        claimed.update(f.path for f in broken)
        broken += _folders_instead(tree, dataset, layout)
        dataset.files = _in_order(dataset.format, layout, dataset.files + broken) if broken else dataset.files
        named = _files_by_name(tree, dataset.root, layout, claimed)
        looked_into.update(file.path for file in named)
        dataset.outside = [file for file in named if tree.leads_out(file.path) and not is_about(file.path)]
        claimed.update(file.path for file in dataset.outside)
    found.unreadable = [str(p) for p in tree.unreadable]
    for folder in tree.folders():
        files, folders = tree.names(folder)
        if folder.name.lower().endswith(DATA_SUFFIXES) and not files and not folders and folder not in claimed:
            found.unrecognised.append(str(folder))  # it has the name of a file
        for path in tree.paths(folder, files):
            may_be_data = path.name.lower().endswith(DATA_SUFFIXES) or path in looked_into
            if may_be_data and path not in claimed and not path.name.startswith(".") and not is_about(path):
                found.unrecognised.append(str(path))


def _not_even_json(tree: SniffedTree, dataset: Dataset, layout: Layout, claimed: set[Path]) -> list[DataFile]:
    """Files beside a dataset that its content alone tells, which are JSON by their names and by nothing else.

    Where a format has names of its own, another file is none of its business; here any of them may be one of it.
    """
    found: dict[Path, DataFile] = {}
    for pattern, kind in layout.sniffed.items() if not layout.signature else ():
        if not dataset.format.file(kind).container.startswith("json"):
            continue
        for path in tree.match(dataset.root, pattern):
            new = path not in claimed and path not in found
            new = new and (tree.is_plain(path) or is_regular(path, tree.boundary))
            head = tree.head(path) if new else None
            if new and (head is None or head.container == "csv"):
                found[path] = DataFile(path, str(path), path.relative_to(dataset.root).as_posix(), kind)
    return list(found.values())


def _folders_instead(tree: SniffedTree, dataset: Dataset, layout: Layout) -> list[DataFile]:
    """Folders with the names of files that the format opens; reading them tells so."""
    known = {file.path for file in dataset.files}
    found: dict[Path, DataFile] = {}
    for pattern, kind in layout.patterns.items():
        if pattern.endswith("/") or f"{pattern}/" in layout.files:
            continue
        declared = dataset.format.file(kind)
        for path in tree.match(dataset.root, f"{pattern}/") if declared.container != "opaque" else ():
            if path not in known and path.name.endswith(declared.suffixes or DATA_SUFFIXES):
                name = path.relative_to(dataset.root).as_posix()
                found.setdefault(path, DataFile(path, str(path), name, kind, layout.split_of(name)))
    return list(found.values())


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


def _is_in_place(folder: Path, layout: Layout) -> bool:
    return not layout.place or _ends_as(_named_place(folder), layout.place)


def _named_place(path: Path) -> Path:
    """Where a path is by the names in it: not where links lead."""
    return Path(os.path.normpath(path.absolute()))


def _may_be_complete(tree: SniffedTree, folder: Path, layout: Layout) -> bool:
    """Whether the names say that a layout may have all it needs: most are ruled out here, at little cost."""
    loose = layout.loose
    return all(not loose.keys().isdisjoint(g) or tree.matches_any(folder, g) for g in layout.signature)


def _complete(
    tree: SniffedTree,
    folder: Path,
    fmt: Format,
    layout: Layout,
    files: list[DataFile],
    formats: tuple[Format, ...] | None,
) -> bool:
    """Whether a layout has all it needs; where ``formats`` are given, a file must look like none of the others."""
    loose = {f.kind for f in files}
    for group in layout.signature:
        if any(layout.loose.get(pattern) in loose for pattern in group):
            continue
        matches = [(p, pattern) for pattern in group for p in tree.match(folder, pattern)]
        if not matches:
            return False
        if formats is None or not layout.sniff:
            continue
        if not any(_fits(tree, p, fmt, fmt.file(layout.files[n]), formats) for p, n in matches):
            return False
    return True


def _fits(tree: SniffedTree, path: Path, fmt: Format, kind: File, formats: tuple[Format, ...]) -> bool:
    """Whether a file begins as one of that kind, and not more as one of another format; one that may not be opened is
    taken for what its name says."""
    if tree.leads_out(path):
        return True
    if kind.container in ("columns", "tagged"):
        return tree.text(path).fits(kind)
    head = tree.head(path)
    if head is None or not looks_like(head, kind):
        return False
    guessed = guess_kind(head, formats) if kind.keys else None  # without keys it is known by its name only
    return guessed is None or guessed[0] is fmt


def _files_of(tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, claimed: set[Path]) -> list[DataFile]:
    files: list[DataFile] = []
    seen: set[Path] = set()
    for pattern, kind in layout.files.items():
        for path in tree.match(folder, pattern) or _folder_instead(tree, folder, fmt, layout, pattern):
            shards = _shards(tree, path, fmt.file(kind)) if pattern.endswith("/") else [path]
            for shard in shards:
                if shard not in claimed and shard not in seen:
                    seen.add(shard)
                    name = shard.relative_to(folder).as_posix()
                    files.append(DataFile(shard, str(shard), name, kind, layout.split_of(name)))
    for path, kind in _loose_files(tree, folder, layout):
        if path not in claimed and path not in seen:
            files.append(DataFile(path, str(path), path.relative_to(folder).as_posix(), kind))
    return _in_order(fmt, layout, files)


def _loose_files(tree: SniffedTree, folder: Path, layout: Layout) -> Iterator[tuple[Path, str]]:
    """The files at any depth that belong to the dataset by their endings, with their kinds."""
    if not layout.endings:
        return
    apart = {folder / name for name in layout.apart}
    for below in tree.folders(folder):
        if not apart.isdisjoint((below, *below.parents)):
            continue
        for name in tree.names(below)[0]:
            kind = next((k for ending, k in layout.endings.items() if name.lower().endswith(ending)), None)
            if kind is not None and not name.startswith("."):
                yield below / name, kind


def _folder_instead(tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, pattern: str) -> list[Path]:
    """A folder that stands where a file should; reading it tells so."""
    last = pattern.rsplit("/", 1)[-1]
    opaque = fmt.file(layout.files[pattern]).container == "opaque"
    if opaque or "*" in last or not last.endswith(DATA_SUFFIXES) or f"{pattern}/" in layout.files:
        return []
    return tree.match(folder, f"{pattern}/")


def _in_order(fmt: Format, layout: Layout, files: list[DataFile]) -> list[DataFile]:
    if len(files) < 2:
        return files
    order = {f.kind: i for i, f in enumerate(fmt.files)}
    splits = list(dict.fromkeys(["", *layout.splits.values(), *sorted(f.split or "" for f in files)]))
    return sorted(files, key=lambda f: (splits.index(f.split or ""), order[f.kind], f.name))


def _sniffed_files(
    tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, formats: tuple[Format, ...], claimed: set[Path]
) -> list[DataFile]:
    """The files whose first records are those of this format rather than of another one."""
    files = _companions(tree, folder, layout, claimed)
    candidates = {p: k for pattern, k in layout.sniffed.items() for p in tree.match(folder, pattern)}
    if layout.bare:
        bare = [name for name in tree.names(folder)[0] if "." not in name]
        candidates |= dict.fromkeys(tree.paths(folder, bare), layout.bare)
    for path, kind in candidates.items():
        if path in claimed or path in files or not (layout.files or _may_be_list(tree, path, fmt.file(kind))):
            continue
        guessed = tree.guess(path, formats)
        if guessed is not None and guessed[0] is fmt:
            files[path] = DataFile(path, str(path), path.relative_to(folder).as_posix(), guessed[1].kind)
    return list(files.values())


def _may_be_list(tree: SniffedTree, path: Path, kind: File) -> bool:
    """Whether a file that no other one stands beside may be of a kind: a first byte rules out most of many files."""
    if kind.container != "json-array":
        return True
    data, _ = tree.beginning(path, 256)
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"")


def _companions(tree: SniffedTree, folder: Path, layout: Layout, claimed: set[Path]) -> dict[Path, DataFile]:
    """The files that a file of their name, with another ending, stands beside."""
    files: dict[Path, DataFile] = {}
    for pattern, beside in layout.companions.items():
        ending, other = (name.rsplit("*", 1)[1] for name in (pattern, beside))
        for path in tree.match(folder, pattern):
            stem = path.name.removesuffix(ending)
            if path not in claimed and f"{stem}{other}" in tree.names(path.parent)[0]:
                name = path.relative_to(folder).as_posix()
                files[path] = DataFile(path, str(path), name, layout.sniffed[pattern])
    return files


def _files_by_name(tree: SniffedTree, folder: Path, layout: Layout, known: set[Path]) -> list[DataFile]:
    """What is not known of the files that a layout may have, as what their names mostly stand for."""
    kinds = {p: kind for pattern, kind in reversed(list(layout.sniffed.items())) for p in tree.match(folder, pattern)}
    return [DataFile(p, str(p), p.relative_to(folder).as_posix(), k) for p, k in kinds.items() if p not in known]


def _named_files(tree: SniffedTree, folder: Path, layout: Layout) -> list[DataFile]:
    """The files whose names are those of this format and whose content tells nothing at all."""
    files: dict[Path, DataFile] = {}
    empty = []
    for pattern, kind in layout.sniffed.items():
        for path in tree.match(folder, pattern):
            head = tree.head(path)
            if path in files or (head is not None and any(head.records)):
                continue
            files[path] = DataFile(path, str(path), path.relative_to(folder).as_posix(), kind)
            told = emptiness(path, tree.boundary)
            empty += [f"{path} {told}"] if told and "object" not in told else []  # an empty object is a record
    if files and len(empty) == len(files):
        raise RagdataError(f"{empty[0]}: there is no record to check")
    return list(files.values())


def _shards(tree: SniffedTree, folder: Path, kind: File) -> list[Path]:
    return [folder / n for n in tree.names(folder)[0] if n.endswith(kind.suffixes) and not n.startswith(".")]


def _ignored(tree: SniffedTree, folder: Path, layout: Layout, claimed: set[Path]) -> Iterator[DataFile]:
    """Data files below a folder of shards that are no shards."""
    for pattern, kind in layout.files.items():
        for shards in tree.match(folder, pattern) if pattern.endswith("/") else ():
            for below in Tree(shards, tree.boundary).folders():
                for name in tree.names(below)[0]:
                    path = below / name
                    if path not in claimed and name.lower().endswith(DATA_SUFFIXES) and not name.startswith("."):
                        name = path.relative_to(folder).as_posix()
                        yield DataFile(path, str(path), name, kind, layout.split_of(pattern))


def _lone_file(path: Path, formats: tuple[Format, ...], boundary: Boundary, forced: bool) -> Dataset:
    if path.suffix in CONFIG_SUFFIXES and any(f.name == "light-splade" for f in formats):
        return read_config(path, get_format("light-splade"), boundary)
    if path.name.lower().endswith(ARCHIVES):  # what is in one as it is may look like a record
        raise RagdataError(f"{path} is an archive, which is not read: unpack it first, and give the folder")
    named = _kind_by_name(path, formats)
    guessed = guess(path, formats, ANYWHERE)
    if guessed and guessed[1].container == "json-object" and not path.name.endswith(guessed[1].suffixes):
        guessed = None
    chosen = guessed or named
    if named and guessed and named[0] is guessed[0] and not any(layout.sniffed for layout in named[0].layouts):
        chosen = named
    if guessed and (kind_name := _deciding_name(path, guessed[0])):
        chosen = (guessed[0], guessed[0].file(kind_name))
    if chosen is None and forced:
        kinds = [k for k in formats[0].files if k.container != "opaque" and path.name.endswith(k.suffixes)]
        kinds = [k for k in formats[0].files if _begins_as(path, k)] or kinds
        if len(kinds) == 1:
            chosen = (formats[0], kinds[0])
    if chosen is None:
        raise _unrecognised(path, formats, forced)
    fmt, kind = chosen
    _refuse_unchecked(path, fmt, kind)
    file = DataFile(path, str(path), path.name, kind.kind)
    return Dataset(path.parent, str(path), fmt, "file", [file])


def _begins_as(path: Path, kind: File) -> bool:
    """Whether the first bytes of a file are those of a kind that holds no text."""
    return bool(kind.begins) and beginning(path, max(map(len, kind.begins)))[0].startswith(kind.begins)


def _unrecognised(path: Path, formats: tuple[Format, ...], forced: bool) -> RagdataError:
    if not path.exists() and path.is_symlink():
        return RagdataError(f"{path} is a link that leads nowhere")
    if not os.access(path, os.R_OK):
        return UnreadableError([str(path)])
    if not is_regular(path):
        return RagdataError(f"{path}: it is not a regular file")
    if told := emptiness(path, ANYWHERE):
        return RagdataError(f"{path} {told}: there is no record by which to recognise it")
    if path.name.lower().endswith(PACKED):
        return RagdataError(f"{path} is packed in a way that is not read: unpack it first")
    if path.name.lower().endswith(DATABASES):
        return RagdataError(f"{path} is a database, no dataset: ask it with duckdb, or give what it was made of")
    names = ", ".join(f.name for f in formats)
    if not forced and (known := known_data(path)):
        return RagdataError(known)
    if not forced:
        advice = "give the dataset's folder, or --from and a usual file name"
    else:
        advice = f"give the dataset's folder, or a file named as `ragdata formats {names}` shows"
    return RagdataError(f"{path}: not recognised as a file of {names}; {advice}")


def _refuse_unchecked(path: Path, fmt: Format, kind: File) -> None:
    """Raise where nothing in a file given by name would be checked, so that nobody takes it for valid."""
    if kind.container == "opaque" and not kind.begins:
        raise RagdataError(
            f"{path}: what is in such a file of {fmt.name} ({kind.title.lower()}) is never checked; "
            "give the dataset's folder"
        )
    names = [n for layout in fmt.layouts for n in layout.patterns] + [n for k in fmt.files for n in k.suffixes]
    if path.name.endswith(".gz") and not any(name.endswith(".gz") for name in names):
        raise RagdataError(f"{path}: the loaders of {fmt.name} open plain files only; unpack it with gunzip")
    if kind.records and not kind.record.rules.get("no-records") and kind.container == "json":
        told = emptiness(path, ANYWHERE)
        if told and "object" not in told:  # which is a record
            raise RagdataError(f"{path} {told}: there is no record to check")


def _kind_by_name(path: Path, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """By the patterns of the layouts, taking as many of the path's last parts as the pattern has."""
    for fmt in formats:
        for layout in fmt.layouts:
            if layout.sniffed and len(formats) > 1:  # its names say too little
                continue
            for pattern, kind in layout.patterns.items():
                if not pattern.endswith("/") and _ends_as(_named_place(path), pattern):
                    return fmt, fmt.file(kind)
    return None


def _deciding_name(path: Path, fmt: Format) -> str:
    """The kind that the name of a file says, in a format whose layouts are known by content alone; else empty."""
    named = (pair for layout in fmt.layouts if layout.sniffed and not layout.signature for pair in layout.files.items())
    return next((kind for pattern, kind in named if _ends_as(_named_place(path), pattern)), "")


def _ends_as(path: Path, pattern: str) -> bool:
    """Whether the last parts of a path are those of a pattern."""
    segments = pattern.split("/")
    tail = path.parts[-len(segments) :]
    return len(tail) == len(segments) and all(map(fnmatchcase, tail, segments))
