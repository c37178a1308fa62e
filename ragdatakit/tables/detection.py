"""Which datasets stand at a path: a folder tree, a lone file, or a configuration file that names the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ragdatakit.schemas import all_formats, get_format
from ragdatakit.schemas.declarations import File, Format, Layout
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.folders import Tree
from ragdatakit.tables.light_splade_config import CONFIG_SUFFIXES, read_config
from ragdatakit.tables.sniffing import guess_kind, looks_like, read_head

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


def detect(path: Path, format_name: str | None = None) -> Detected:
    """Find every dataset at ``path``; raises `RagdataError` where there is none, or the path is missing."""
    formats = (get_format(format_name),) if format_name else all_formats()
    if path.is_dir():
        found = _detect_in_folder(path, formats)
        if not found.datasets and found.unreadable:
            raise RagdataError(f"cannot look into {found.unreadable[0]}: no permission")
        if not found.datasets:
            names = ", ".join(f.name for f in formats)
            raise RagdataError(
                f"no dataset recognised below {path} (looked for: {names}); "
                "name the format with --format, or see `ragdata formats` for the files each one has"
            )
        return found
    if not path.exists() and not path.is_symlink():
        raise RagdataError(f"no such file or folder: {path}")
    return Detected([_lone_file(path, formats, forced=format_name is not None)])


def _detect_in_folder(root: Path, formats: tuple[Format, ...]) -> Detected:
    tree = Tree(root)
    found = Detected()
    claimed: set[Path] = set()
    for folder in tree.folders():
        for fmt in formats:
            for layout in fmt.layouts:
                files = _files_of(tree, folder, fmt, layout, claimed)
                if layout.sniffed:
                    sniffed = _sniffed_files(tree, folder, fmt, layout, formats, claimed | {f.path for f in files})
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
        for path in tree.match(folder, pattern):
            shards = _shards(tree, path, fmt.file(kind)) if pattern.endswith("/") else [path]
            for shard in shards:
                if shard not in claimed and shard not in seen:
                    seen.add(shard)
                    name = shard.relative_to(folder).as_posix()
                    split = next((s for prefix, s in layout.splits.items() if name.startswith(prefix)), None)
                    files.append(DataFile(shard, str(shard), name, kind, split))
    return _in_order(fmt, layout, files)


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


def _lone_file(path: Path, formats: Iterable[Format], forced: bool) -> Dataset:
    formats = tuple(formats)
    if path.suffix in CONFIG_SUFFIXES and any(f.name == "light-splade" for f in formats):
        return read_config(path, get_format("light-splade"))
    named = _kind_by_name(path, formats)
    guessed = guess_kind(read_head(path), formats)
    chosen = guessed or named
    if named and guessed and named[0] is guessed[0] and not any(layout.sniffed for layout in named[0].layouts):
        chosen = named
    if chosen is None and forced:
        kinds = [k for k in formats[0].files if path.name.endswith(k.suffixes)] if formats else []
        if len(kinds) == 1:
            chosen = (formats[0], kinds[0])
    if chosen is None:
        names = ", ".join(f.name for f in formats)
        raise RagdataError(
            f"{path}: not recognised as a file of {names}; give the dataset's folder, or --format and a usual file name"
        )
    fmt, kind = chosen
    file = DataFile(path, str(path), path.name, kind.kind)
    return Dataset(path.parent, str(path), fmt, "file", [file])


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
