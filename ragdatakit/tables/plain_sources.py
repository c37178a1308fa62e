"""Sources that are no dataset of any framework: folders of plain texts, tables of any columns, files of a cookbook.

They are looked for only where the user asks for them or nothing else is found, so their formats are not among those
that are recognised. Nothing of them is declared but their files.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from ragdatakit.schemas.declarations import File, Format
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.tables.datasets import DataFile, Dataset
from ragdatakit.tables.folders import Tree, is_regular
from ragdatakit.tables.sniffing import read_head

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
_KINDS: dict[str, frozenset[str]] = {
    "questions": frozenset(("query", "golden_chunk_uuids")),
    "chunks": frozenset(("chunk_id", "original_index")),
    "documents": frozenset(("doc_id", "original_uuid", "content")),
}
"""Fields that tell what the records of a contextual-retrieval file are, in this order."""
CONTEXTUAL_RETRIEVAL = Format(
    name="contextual-retrieval",
    title="Contextual retrieval",
    letters="",
    description="Documents with their chunks, contexts of chunks, and questions with golden chunks.",
    homepage="",
    files=tuple(
        File(kind=kind, title=kind.capitalize(), container="opaque", suffixes=TABLE_SUFFIXES) for kind in _KINDS
    ),
    rules=(),
)


def text_dataset(path: Path) -> Dataset:
    """The text files at a path; raises `RagdataError` where there are none."""
    return _dataset(path, TEXT)


def table_dataset(path: Path) -> Dataset:
    """The tables at a path; raises `RagdataError` where there are none."""
    return _dataset(path, TABLE)


def contextual_retrieval_dataset(path: Path) -> Dataset:
    """The contextual-retrieval files at a path, told by their first records; raises `RagdataError` where there are
    none."""
    dataset = _dataset(path, CONTEXTUAL_RETRIEVAL)
    files = [(file, _kind_of(file.path)) for file in dataset.files]
    dataset.files = [DataFile(file.path, file.display, file.name, kind) for file, kind in files if kind]
    if not dataset.files:
        fields = "; ".join(f"{kind}: {', '.join(sorted(names))}" for kind, names in _KINDS.items())
        raise RagdataError(f"no contextual-retrieval file at {path}: their records have the fields {fields}")
    return dataset


def _kind_of(path: Path) -> str:
    """What the records of a file are; empty where they are something else."""
    head = read_head(path)
    records = head.records if head is not None and head.container != "csv" else ()
    names = next((record.keys() for record in records if isinstance(record, dict)), frozenset[str]())
    return next((kind for kind, wanted in _KINDS.items() if wanted <= names), "")


PLAIN_SOURCES: dict[str, Callable[[Path], Dataset]] = {
    "text": text_dataset,
    "table": table_dataset,
    "contextual-retrieval": contextual_retrieval_dataset,
}
"""Format to what finds its files at a path."""


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
