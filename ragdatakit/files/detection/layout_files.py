"""Which files below a folder are those of a layout: by their patterns, their endings or their content."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.sniffed_trees import SniffedTree
from ragdatakit.files.paths.folders import Tree, is_regular, name_below
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


def files_of(tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, claimed: set[Path]) -> list[DataFile]:
    """The files whose names are those of a layout, and those at any depth whose endings are."""
    files: list[DataFile] = []
    seen: set[Path] = set()
    for pattern in tree.may_match(folder, tuple(layout.files)):
        kind = layout.files[pattern]
        for path in tree.match(folder, pattern) or _folder_instead(tree, folder, fmt, layout, pattern):
            shards = _shards(tree, path, fmt.file(kind)) if pattern.endswith("/") else [path]
            for shard in shards:
                if shard not in claimed and shard not in seen:
                    seen.add(shard)
                    name = name_below(folder, shard)
                    files.append(DataFile(shard, str(shard), name, kind, layout.split_of(name)))
    for path, kind in _loose_files(tree, folder, layout):
        if path not in claimed and path not in seen:
            files.append(DataFile(path, str(path), name_below(folder, path), kind))
    return in_order(fmt, layout, files)


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
    """A folder in place of a file; reading it says so."""
    last = pattern.rsplit("/", 1)[-1]
    opaque = fmt.file(layout.files[pattern]).container == "opaque"
    if opaque or "*" in last or not last.endswith(DATA_SUFFIXES) or f"{pattern}/" in layout.files:
        return []
    return tree.match(folder, f"{pattern}/")


def in_order(fmt: Format, layout: Layout, files: list[DataFile]) -> list[DataFile]:
    """Files by split, then by kind as the format lists them, then by name."""
    if len(files) < 2:
        return files
    order = {f.kind: i for i, f in enumerate(fmt.files)}
    splits = list(dict.fromkeys(["", *layout.splits.values(), *sorted(f.split or "" for f in files)]))
    return sorted(files, key=lambda f: (splits.index(f.split or ""), order[f.kind], f.name))


def sniffed_files(
    tree: SniffedTree, folder: Path, fmt: Format, layout: Layout, formats: tuple[Format, ...], claimed: set[Path]
) -> list[DataFile]:
    """The files whose first records are those of this format rather than of another one."""
    files = _companions(tree, folder, layout, claimed)
    patterns = tree.may_match(folder, tuple(layout.sniffed))
    candidates = {p: layout.sniffed[pattern] for pattern in patterns for p in tree.match(folder, pattern)}
    if layout.bare:
        bare = [name for name in tree.names(folder)[0] if "." not in name]
        candidates |= dict.fromkeys(tree.paths(folder, bare), layout.bare)
    for path, kind in candidates.items():
        if path in claimed or path in files or not (layout.files or _may_be_list(tree, path, fmt.file(kind))):
            continue
        guessed = tree.guess(path, formats)
        if guessed is not None and guessed[0] is fmt:
            files[path] = DataFile(path, str(path), name_below(folder, path), guessed[1].kind)
    return list(files.values())


def _may_be_list(tree: SniffedTree, path: Path, kind: File) -> bool:
    """Whether a file with no other one next to it may be of a kind: a first byte rules out most of many files."""
    if kind.container != "json-array":
        return True
    data, _ = tree.beginning(path, 256)
    return data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"[", b"")


def _companions(tree: SniffedTree, folder: Path, layout: Layout, claimed: set[Path]) -> dict[Path, DataFile]:
    """The files that a file of their name, with another ending, is next to."""
    files: dict[Path, DataFile] = {}
    for pattern, beside in layout.companions.items():
        ending, other = (name.rsplit("*", 1)[1] for name in (pattern, beside))
        for path in tree.match(folder, pattern):
            stem = path.name.removesuffix(ending)
            if path not in claimed and f"{stem}{other}" in tree.names(path.parent)[0]:
                name = name_below(folder, path)
                files[path] = DataFile(path, str(path), name, layout.sniffed[pattern])
    return files


def files_by_name(tree: SniffedTree, folder: Path, layout: Layout, known: set[Path]) -> list[DataFile]:
    """What is not known of the files that a layout may have, as what their names mostly stand for."""
    patterns = reversed([*tree.may_match(folder, tuple(layout.sniffed))])
    kinds = {p: layout.sniffed[pattern] for pattern in patterns for p in tree.match(folder, pattern)}
    return [DataFile(p, str(p), name_below(folder, p), k) for p, k in kinds.items() if p not in known]


def named_files(tree: SniffedTree, folder: Path, layout: Layout) -> list[DataFile]:
    """The files whose names are those of this format and whose content says nothing at all."""
    from ragdatakit.files.detection.sniffing import emptiness

    files: dict[Path, DataFile] = {}
    empty = []
    for pattern in tree.may_match(folder, tuple(layout.sniffed)):
        kind = layout.sniffed[pattern]
        for path in tree.match(folder, pattern):
            head = tree.head(path)
            if path in files or (head is not None and any(head.records)):
                continue
            files[path] = DataFile(path, str(path), name_below(folder, path), kind)
            reason = emptiness(path, tree.boundary)
            empty += [f"{path} {reason}"] if reason and "object" not in reason else []  # an empty object is a record
    if files and len(empty) == len(files):
        raise RagdataError(f"{empty[0]}: there is no record to check")
    return list(files.values())


def _shards(tree: SniffedTree, folder: Path, kind: File) -> list[Path]:
    return [folder / n for n in tree.names(folder)[0] if n.endswith(kind.suffixes) and not n.startswith(".")]


def ignored_files(tree: SniffedTree, folder: Path, layout: Layout, claimed: set[Path]) -> Iterator[DataFile]:
    """Data files below a folder of shards that are no shards."""
    for pattern in tree.may_match(folder, tuple(layout.files)):
        kind = layout.files[pattern]
        for shards in tree.match(folder, pattern) if pattern.endswith("/") else ():
            for below in Tree(shards, tree.boundary).folders():
                for name in tree.names(below)[0]:
                    path = below / name
                    if path not in claimed and name.lower().endswith(DATA_SUFFIXES) and not name.startswith("."):
                        name = name_below(folder, path)
                        yield DataFile(path, str(path), name, kind, layout.split_of(pattern))


def not_even_json(tree: SniffedTree, dataset: Dataset, layout: Layout, claimed: set[Path]) -> list[DataFile]:
    """Files next to a dataset that only their content identifies, which are JSON by their names and by nothing else.

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
                found[path] = DataFile(path, str(path), name_below(dataset.root, path), kind)
    return list(found.values())


def folders_instead(tree: SniffedTree, dataset: Dataset, layout: Layout) -> list[DataFile]:
    """Folders with the names of files that the format opens; reading them says so."""
    known = {file.path for file in dataset.files}
    found: dict[Path, DataFile] = {}
    for pattern in tree.may_match(dataset.root, tuple(layout.patterns), instead=True):
        kind = layout.patterns[pattern]
        if pattern.endswith("/") or f"{pattern}/" in layout.files:
            continue
        declared = dataset.format.file(kind)
        for path in tree.match(dataset.root, f"{pattern}/") if declared.container != "opaque" else ():
            if path not in known and path.name.endswith(declared.suffixes or DATA_SUFFIXES):
                name = name_below(dataset.root, path)
                found.setdefault(path, DataFile(path, str(path), name, kind, layout.split_of(name)))
    return list(found.values())
