"""Which datasets stand at a path: a folder tree, a lone file, or a configuration file that names the others."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ragdatakit.schemas import all_formats, get_format
from ragdatakit.schemas.declarations import File, Format, Layout
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.folders import Tree
from ragdatakit.tables.light_splade_config import CONFIG_SUFFIXES, read_config
from ragdatakit.tables.sniffing import emptiness, guess_kind, looks_like, read_head

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


@dataclass(slots=True)
class Detected:
    """The datasets found at one path, the data files that belong to none, and folders that could not be looked into."""

    datasets: list[Dataset] = field(default_factory=list)
    unrecognised: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


class UnreadableError(RagdataError):
    """Nothing can be said of a path, for want of permission; ``paths`` are what may not be looked into."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(f"cannot look into {paths[0]}: no permission")
        self.paths = paths


def detect(path: Path, format_name: str | None = None) -> Detected:
    """Find every dataset at ``path``.

    Raises `RagdataError` where there is none, or the path is missing; `UnreadableError` where nobody may look.
    """
    formats = (get_format(format_name),) if format_name else all_formats()
    if not _is_folder(path):
        return Detected([_lone_file(path, formats, forced=format_name is not None)])
    found = _detect_in_folder(path, formats)
    if format_name and not found.datasets:
        found = _detect_in_folder(path, formats, by_name=True)
    if not found.datasets and found.unreadable:
        raise UnreadableError(found.unreadable)
    if not found.datasets:
        raise RagdataError(_nothing_below(path, formats, format_name))
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


def _nothing_below(path: Path, formats: tuple[Format, ...], format_name: str | None) -> str:
    names = ", ".join(f.name for f in formats)
    told = f"no dataset recognised below {path} (looked for: {names}); "
    if path.name.lower().endswith(DATA_SUFFIXES):
        told += f"{path.name} is a folder, and has the name of a file; "
    if format_name:
        return f"{told}see `ragdata formats {format_name}` for the files it has"
    return f"{told}name the format with --format, or see `ragdata formats` for the files each one has"


def _detect_in_folder(root: Path, formats: tuple[Format, ...], by_name: bool = False) -> Detected:
    """``by_name``: files whose content tells nothing are taken for what their names say."""
    tree = Tree(root)
    found = Detected()
    claimed: set[Path] = set()
    for folder in tree.folders():
        for fmt in formats:
            for layout in fmt.layouts:
                files = _files_of(tree, folder, fmt, layout, claimed)
                if layout.sniffed:
                    sniffed = _sniffed_files(tree, folder, fmt, layout, formats, claimed | {f.path for f in files})
                    sniffed = sniffed or (_named_files(tree, folder, layout) if by_name else [])
                    files = _in_order(fmt, layout, files + sniffed) if sniffed else []
                if files and _complete(tree, folder, fmt, layout):
                    dataset = Dataset(folder, str(folder), fmt, layout.name, files)
                    dataset.ignored = list(_ignored(tree, folder, layout, claimed | {f.path for f in files}))
                    claimed.update(f.path for f in (*files, *dataset.ignored))
                    found.datasets.append(dataset)
    for folder in tree.folders():
        for name in tree.names(folder)[0]:
            path = folder / name
            if path not in claimed and path.name.lower().endswith(DATA_SUFFIXES) and not name.startswith("."):
                found.unrecognised.append(str(path))
    found.unreadable = [str(p) for p in tree.unreadable]
    return found


def _complete(tree: Tree, folder: Path, fmt: Format, layout: Layout) -> bool:
    for group in layout.signature:
        matches = [(p, pattern) for pattern in group for p in tree.match(folder, pattern)]
        if not matches:
            return False
        if layout.sniff and not any(_fits(p, fmt.file(layout.files[pattern])) for p, pattern in matches):
            return False
    return True


def _fits(path: Path, kind: File) -> bool:
    head = read_head(path)
    return head is not None and looks_like(head, kind) > 0


def _files_of(tree: Tree, folder: Path, fmt: Format, layout: Layout, claimed: set[Path]) -> list[DataFile]:
    files: list[DataFile] = []
    seen: set[Path] = set()
    for pattern, kind in layout.files.items():
        for path in tree.match(folder, pattern) or _folder_instead(tree, folder, fmt, layout, pattern):
            shards = _shards(tree, path, fmt.file(kind)) if pattern.endswith("/") else [path]
            for shard in shards:
                if shard not in claimed and shard not in seen:
                    seen.add(shard)
                    name = shard.relative_to(folder).as_posix()
                    split = next((s for prefix, s in layout.splits.items() if name.startswith(prefix)), None)
                    files.append(DataFile(shard, str(shard), name, kind, split))
    return _in_order(fmt, layout, files)


def _folder_instead(tree: Tree, folder: Path, fmt: Format, layout: Layout, pattern: str) -> list[Path]:
    """A folder that stands where a file should; reading it tells so."""
    last = pattern.rsplit("/", 1)[-1]
    opaque = fmt.file(layout.files[pattern]).container == "opaque"
    if opaque or "*" in last or not last.endswith(DATA_SUFFIXES) or f"{pattern}/" in layout.files:
        return []
    return tree.match(folder, f"{pattern}/")


def _in_order(fmt: Format, layout: Layout, files: list[DataFile]) -> list[DataFile]:
    order = {f.kind: i for i, f in enumerate(fmt.files)}
    splits = list(layout.splits.values())
    return sorted(files, key=lambda f: (splits.index(f.split) if f.split else -1, order[f.kind], f.name))


def _sniffed_files(
    tree: Tree, folder: Path, fmt: Format, layout: Layout, formats: tuple[Format, ...], claimed: set[Path]
) -> list[DataFile]:
    """The files whose first records are those of this format rather than of another one."""
    files: dict[Path, DataFile] = {}
    for path in dict.fromkeys(p for pattern in layout.sniffed for p in tree.match(folder, pattern)):
        guessed = guess_kind(read_head(path), formats) if path not in claimed else None
        if guessed is not None and guessed[0] is fmt:
            files[path] = DataFile(path, str(path), path.relative_to(folder).as_posix(), guessed[1].kind)
    return list(files.values())


def _named_files(tree: Tree, folder: Path, layout: Layout) -> list[DataFile]:
    """The files whose names are those of this format and whose content tells nothing at all."""
    files: dict[Path, DataFile] = {}
    empty = []
    for pattern, kind in layout.sniffed.items():
        for path in tree.match(folder, pattern):
            head = read_head(path)
            if path in files or (head is not None and any(head.records)):
                continue
            files[path] = DataFile(path, str(path), path.relative_to(folder).as_posix(), kind)
            told = emptiness(path)
            empty += [f"{path} {told}"] if told and "object" not in told else []  # an empty object is a record
    if files and len(empty) == len(files):
        raise RagdataError(f"{empty[0]}: there is no record to check")
    return list(files.values())


def _shards(tree: Tree, folder: Path, kind: File) -> list[Path]:
    return [folder / n for n in tree.names(folder)[0] if n.endswith(kind.suffixes) and not n.startswith(".")]


def _ignored(tree: Tree, folder: Path, layout: Layout, claimed: set[Path]) -> Iterator[DataFile]:
    """Data files below a folder of shards that are no shards."""
    for pattern, kind in layout.files.items():
        for shards in tree.match(folder, pattern) if pattern.endswith("/") else ():
            for below in Tree(shards).folders():
                for name in tree.names(below)[0]:
                    path = below / name
                    if path not in claimed and name.lower().endswith(DATA_SUFFIXES) and not name.startswith("."):
                        split = next((s for p, s in layout.splits.items() if pattern.startswith(p)), None)
                        yield DataFile(path, str(path), path.relative_to(folder).as_posix(), kind, split)


def _lone_file(path: Path, formats: tuple[Format, ...], forced: bool) -> Dataset:
    if path.suffix in CONFIG_SUFFIXES and any(f.name == "light-splade" for f in formats):
        return read_config(path, get_format("light-splade"))
    named = _kind_by_name(path, formats)
    guessed = guess_kind(read_head(path), formats)
    if guessed and guessed[1].container == "json-object" and not path.name.endswith(guessed[1].suffixes):
        guessed = None
    chosen = guessed or named
    if named and guessed and named[0] is guessed[0] and not any(layout.sniffed for layout in named[0].layouts):
        chosen = named
    if chosen is None and forced:
        kinds = [k for k in formats[0].files if k.container != "opaque" and path.name.endswith(k.suffixes)]
        if len(kinds) == 1:
            chosen = (formats[0], kinds[0])
    if chosen is None:
        raise _unrecognised(path, formats, forced)
    fmt, kind = chosen
    _refuse_unchecked(path, fmt, kind)
    file = DataFile(path, str(path), path.name, kind.kind)
    return Dataset(path.parent, str(path), fmt, "file", [file])


def _unrecognised(path: Path, formats: tuple[Format, ...], forced: bool) -> RagdataError:
    if not os.access(path, os.R_OK):
        return UnreadableError([str(path)])
    if told := emptiness(path):
        return RagdataError(f"{path} {told}: there is no record by which to recognise it")
    names = ", ".join(f.name for f in formats)
    if not forced:
        advice = "give the dataset's folder, or --format and a usual file name"
    else:
        advice = f"give the dataset's folder, or a file named as `ragdata formats {names}` shows"
    return RagdataError(f"{path}: not recognised as a file of {names}; {advice}")


def _refuse_unchecked(path: Path, fmt: Format, kind: File) -> None:
    """Raise where nothing in a file given by name would be checked, so that nobody takes it for valid."""
    if kind.container == "opaque":
        raise RagdataError(
            f"{path}: what is in such a file of {fmt.name} ({kind.title.lower()}) is never checked; "
            "give the dataset's folder"
        )
    names = [n for layout in fmt.layouts for n in layout.patterns] + [n for k in fmt.files for n in k.suffixes]
    if path.name.endswith(".gz") and not any(name.endswith(".gz") for name in names):
        raise RagdataError(f"{path}: the loaders of {fmt.name} open plain files only; unpack it with gunzip")
    if kind.records and not kind.record.rules.get("no-records") and kind.container == "json":
        told = emptiness(path)
        if told and "object" not in told:  # which is a record
            raise RagdataError(f"{path} {told}: there is no record to check")


def _kind_by_name(path: Path, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """By the patterns of the layouts, taking as many of the path's last parts as the pattern has."""
    from fnmatch import fnmatchcase

    parts = path.absolute().parts
    for fmt in formats:
        for layout in fmt.layouts:
            if layout.sniffed and len(formats) > 1:  # its names say too little
                continue
            for pattern, kind in layout.patterns.items():
                segments = pattern.split("/")
                if segments[-1] and len(parts) >= len(segments):
                    tail = parts[-len(segments) :]
                    if all(fnmatchcase(t, s) for t, s in zip(tail, segments, strict=True)):
                        return fmt, fmt.file(kind)
    return None
