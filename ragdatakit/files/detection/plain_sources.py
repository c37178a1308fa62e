"""Sources that are no dataset of any framework: folders of plain texts, tables of any columns.

They are looked for only where the user asks for them or nothing else is found, so their formats are not among those
that are recognised. Nothing of them is declared but their files.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import PLAIN_NAMES, is_about
from ragdatakit.files.detection.triple_files import TRIPLE_SUFFIXES, triple_files
from ragdatakit.files.paths.boundary import Boundary, boundary_of
from ragdatakit.files.paths.folders import Tree, is_regular, not_looked_into
from ragdatakit.files.paths.own_files import SETTINGS_FILES
from ragdatakit.late_patterns import late_pattern
from ragdatakit.schemas.declarations import Adopted, File, Format
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.rules import TABLES

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
    description="CSV, JSON and Parquet files of any columns, which a map gives a meaning; files of triples.",
    homepage="",
    files=(
        File(kind="table", title="Table", container="opaque", suffixes=TABLE_SUFFIXES),
        File(kind="triples", title="Triples", container="opaque", suffixes=TRIPLE_SUFFIXES),
    ),
    rules=TABLES,
    adopts={
        "unreadable-file": Adopted("error", "what cannot be read is missing from whatever is made of the table"),
        "invalid-utf8": Adopted("error", "the row is left out of whatever is made of the table"),
        "non-finite-number": Adopted("warning", "it is read as null"),
        "lone-surrogate": Adopted("warning", "it is read as U+FFFD"),
    },
)
_SPLIT = late_pattern(r"(train|training|validation|valid|val|dev|test)(?:-[0-9]+-of-[0-9]+)?")
_ENDINGS = late_pattern(r"(?:\.[a-z]+)(?:\.gz)?$")
PASSED_OVER = "passed_over"
"""The option of a plain dataset that has the files that are not read, each with the reason."""
_BESIDE_TRIPLES = "a side file of a graph, which is not read"
_ABOUT_TEXTS = "a file about the data, not of it (--from text reads it, too)"
_OTHER_KIND = "neither a text nor a Markdown file"
READ_TOGETHER = "read_together"
"""The option of a plain dataset that has the names of the files whose texts look like parts of those of the others."""
NUMBERED = "numbered"
"""The option of a plain dataset that says, in words, that its documents are called by the numbers of their rows."""
LABELS = "labels"
"""The option of a plain dataset that names the file with the labels of nodes and relations: names to labels, of
names."""
NO_DATA = (_BESIDE_TRIPLES, _ABOUT_TEXTS, _OTHER_KIND)
"""The reasons why no check misses anything where such a file is not read."""


def text_dataset(path: Path, boundary: Boundary | None = None) -> Dataset:
    """The text files at a path; raises `RagdataError` where there are none."""
    boundary = boundary or boundary_of(path)
    dataset = _dataset(path, TEXT, boundary)
    if dataset.layout == "folder":
        names = (file.relative_to(path).as_posix() for file in _files(Tree(path, boundary)) if _is_other(file))
        dataset.options[PASSED_OVER] = dict.fromkeys(names, _OTHER_KIND)
    return dataset


def table_dataset(path: Path, boundary: Boundary | None = None, texts: bool = False) -> Dataset:
    """The tables and files of triples at a path; raises `RagdataError` where there are none.

    ``texts``: every ``.txt`` file is one, whatever its lines look like (a map says so). Other ``.txt`` files beside
    such of triples are side files of that graph: names, descriptions.
    """
    boundary = boundary or boundary_of(path)
    folder, kept, ignored = _listed(path, (*TABLE_SUFFIXES, *TRIPLE_SUFFIXES), boundary)
    triples = triple_files((file.path for file in kept), boundary)
    dataset = Dataset(path if folder else path.parent, str(path), TABLE, "folder" if folder else "file")
    side: dict[str, str] = {}
    graphs = {found.parent for found in triples if not is_table(found)}
    for file in kept:
        if file.path in triples:
            file.kind = "triples"
            file.split = split_of(file.path)
        elif not is_table(file.path) and not texts:
            if file.path.parent in graphs and not is_about(file.path):
                side[file.name] = _BESIDE_TRIPLES
            continue
        dataset.files.append(file)
    if not dataset.files and not folder:
        raise RagdataError(
            f"{path}: its name ends in none of {', '.join(TABLE_SUFFIXES)}, and its lines are not three cells between "
            "tabs that are edges of a graph (--map source=1,relation=2,target=3 says that they are)"
            if path.name.lower().endswith(TRIPLE_SUFFIXES)
            else f"{path}: its name ends in none of {', '.join(TABLE_SUFFIXES)}"
        )
    if not dataset.files:
        raise RagdataError(f"no {', '.join(TABLE_SUFFIXES)} file below {path}, nor a .txt file of triples")
    dataset.ignored = [file for file in ignored if is_table(file.path)]
    dataset.confine(boundary)
    if side:
        dataset.options[PASSED_OVER] = side
    return dataset


def is_table(path: Path) -> bool:
    """Whether a file is a table by its name."""
    return path.name.lower().endswith(TABLE_SUFFIXES)


def split_of(path: Path) -> str | None:
    """The split that a file is called after; None where it is not."""
    found = _SPLIT.fullmatch(_ENDINGS.sub("", path.name.lower()))
    return found.group(1) if found else None


def _is_other(path: Path) -> bool:
    """Whether a file may be data of another kind: a PDF, a web page, a table."""
    return not (path.name.lower().endswith(TEXT_SUFFIXES) or path.name in SETTINGS_FILES or is_about(path))


def without_notes(dataset: Dataset) -> Dataset:
    """The same texts without those of the top folder that are about the data, where there are others."""
    notes = [file for file in dataset.files if file.path.parent == dataset.root and is_about(file.path)]
    if dataset.layout == "folder" and 0 < len(notes) < len(dataset.files):
        dataset.files = [file for file in dataset.files if file not in notes]
        about = dict.fromkeys((file.name for file in notes), _ABOUT_TEXTS)
        dataset.options[PASSED_OVER] = about | dataset.options.get(PASSED_OVER, {})
    return dataset


PLAIN_SOURCES: dict[str, Callable[[Path, Boundary], Dataset]] = dict(
    zip(PLAIN_NAMES, (text_dataset, table_dataset), strict=True)
)
"""Format to what finds its files at a path, of which those are read that lie within a boundary."""


def _dataset(path: Path, plain: Format, boundary: Boundary) -> Dataset:
    """Hidden files are skipped; links that lead out of the folder are in ``ignored``."""
    kind = plain.files[0]
    folder, kept, ignored = _listed(path, kind.suffixes, boundary)
    if not folder and not kept:
        raise RagdataError(f"{path}: its name ends in none of {', '.join(kind.suffixes)}")
    if not kept:
        raise RagdataError(f"no {', '.join(kind.suffixes)} file below {path}")
    for file in (*kept, *ignored):
        file.kind = kind.kind
    root, layout = (path, "folder") if folder else (path.parent, "file")
    dataset = Dataset(root, str(path), plain, layout, kept, ignored)
    dataset.confine(boundary)
    return dataset


def _listed(path: Path, suffixes: tuple[str, ...], boundary: Boundary) -> tuple[bool, list[DataFile], list[DataFile]]:
    """Whether a path is a folder, the files there of these endings, and those that are not read: links that lead out.

    Raises `RagdataError` where permission is denied.
    """
    if not _is_folder(path):
        named = path.name.lower().endswith(suffixes)
        if named and not is_regular(path):  # a pipe would be waited for
            raise RagdataError(f"{path}: it is not a regular file")
        return False, [DataFile(path, str(path), path.name, "table")] if named else [], []
    kept: list[DataFile] = []
    ignored: list[DataFile] = []
    tree = Tree(path, boundary)
    for found in _files(tree):
        if found.name.lower().endswith(suffixes):
            file = DataFile(found, str(found), found.relative_to(path).as_posix(), "table")
            (kept if is_regular(found, boundary) else ignored).append(file)
    if tree.unreadable:
        raise RagdataError(not_looked_into(tree.unreadable[0]))
    return True, kept, ignored


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except PermissionError:
        raise RagdataError(not_looked_into(path)) from None
    except (OSError, ValueError):
        raise RagdataError(f"no such file or folder: {path}") from None


def _files(tree: Tree) -> Iterator[Path]:
    for folder in tree.folders():
        if not any(part.startswith(".") for part in folder.relative_to(tree.root).parts):
            yield from (folder / name for name in tree.names(folder)[0] if not name.startswith("."))
