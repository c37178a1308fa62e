"""Sources that are no dataset of any framework: folders of plain texts, and tables of any columns.

They are looked for only where the user asks for them, so their formats are not among those that are recognised.
"""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.folders import Tree, is_regular

TEXT_SUFFIXES = (".txt", ".md", ".markdown")
PACKABLE_SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json")
TABLE_SUFFIXES = (*PACKABLE_SUFFIXES, *(f"{suffix}.gz" for suffix in PACKABLE_SUFFIXES), ".parquet")

TEXT = Format(
    name="text",
    title="Plain texts",
    letters="",
    description="A folder of text and Markdown files, each of which is a document.",
    homepage="",
    files=(File(kind="documents", title="Text", container="text", suffixes=TEXT_SUFFIXES),),
    rules=(),
)
TABLE = Format(
    name="table",
    title="Tables",
    letters="",
    description="CSV, JSON and Parquet files of any columns, which a map gives a meaning.",
    homepage="",
    files=(File(kind="table", title="Table", container="opaque", suffixes=TABLE_SUFFIXES),),
    rules=(),
)


def text_dataset(path: Path) -> Dataset:
    """The text files at a path; raises `RagdataError` where there are none."""
    return _dataset(path, TEXT)


def table_dataset(path: Path) -> Dataset:
    """The tables at a path; raises `RagdataError` where there are none."""
    return _dataset(path, TABLE)


def _dataset(path: Path, plain: Format) -> Dataset:
    """Hidden files are skipped; links that lead out of the folder are in ``ignored``."""
    kind = plain.files[0]
    if not _is_folder(path):
        if not path.name.lower().endswith(kind.suffixes):
            raise RagdataError(f"{path}: its name ends in none of {', '.join(kind.suffixes)}")
        return Dataset(path.parent, str(path), plain, "file", [DataFile(path, str(path), path.name, kind.kind)])
    dataset = Dataset(path, str(path), plain, "folder")
    tree = Tree(path)
    for found in _files(tree):
        if found.name.lower().endswith(kind.suffixes):
            file = DataFile(found, str(found), found.relative_to(path).as_posix(), kind.kind)
            kept = is_regular(found) and not tree.leaves(found)
            (dataset.files if kept else dataset.ignored).append(file)
    if tree.unreadable:
        raise RagdataError(f"cannot look into {tree.unreadable[0]}: no permission")
    if not dataset.files:
        raise RagdataError(f"no {', '.join(kind.suffixes)} file below {path}")
    return dataset


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        raise RagdataError(f"cannot look into {path}: no permission") from None
    except (OSError, ValueError):
        raise RagdataError(f"no such file or folder: {path}") from None


def _files(tree: Tree) -> Iterator[Path]:
    for folder in tree.folders():
        if not any(part.startswith(".") for part in folder.relative_to(tree.root).parts):
            yield from (folder / name for name in tree.names(folder)[0] if not name.startswith("."))
