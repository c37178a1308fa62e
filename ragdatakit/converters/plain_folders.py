"""Which plain texts and tables are meant where nothing is recognised: one dataset, or one for each subfolder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from ragdatakit.converters.column_maps import maps_edges, named_files
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.plain_names import is_about
from ragdatakit.files.detection.plain_sources import (
    PASSED_OVER,
    PLAIN_SOURCES,
    table_dataset,
    text_dataset,
    without_notes,
)
from ragdatakit.files.paths.boundary import Boundary, boundary_of
from ragdatakit.schemas.errors import RagdataError, skip_unreadable

_PART = re.compile(
    r"corpus|collection|doc(?:ument)?s?|texts?|passages?|chunks?|quer(?:y|ies)|questions?|topics?|answers?|qrels?|"
    r"judge?ments?|graph|kg|nodes|edges|triples|relations|entities|data|raw|train(?:ing)?|dev|val(?:id(?:ation)?)?|test|"
    r"parts?|shards?|tables?|(?:[a-z]+[-_])?[0-9][0-9._-]*|[^=]+=.*",
    re.IGNORECASE,
)
"""What the folders of one dataset are called: after tables, splits, shards, years, the values of a column."""


def asked_dataset(path: Path, kind: str, map_words: str = "", follow_links: bool = False) -> Dataset:
    """The plain dataset of this kind at a path; ``map_words`` is the map of its columns. Raises `RagdataError`."""
    if kind == "table" and map_words:
        found = table_dataset(path, boundary_of(path, follow_links), texts=maps_edges(map_words))
        if (names := named_files(map_words)) is not None:
            found.files = [file for file in found.files if file.name in names]
            found.ignored = [file for file in found.ignored if file.name in names]
            found.options.pop(PASSED_OVER, None)
        return found
    return PLAIN_SOURCES[kind](path, boundary_of(path, follow_links))


def plain_datasets(path: Path, follow_links: bool = False) -> list[Dataset]:
    """What holds nothing that is recognised, but plain texts or tables; empty where there is neither.

    Where the folder itself has no data, and its subfolders have tables of their own, each of them is a dataset. Raises
    `RagdataError` where there are texts and tables side by side, so that it is not clear what is meant.
    """
    found = _datasets_of(path, boundary_of(path, follow_links))
    if len(found) > 1 and len({dataset.root for dataset in found}) == 1:
        raise RagdataError(f"{path} holds texts and tables; choose one with --from text or --from table")
    return found


def _datasets_of(path: Path, boundary: Boundary) -> list[Dataset]:
    """Those of a subfolder; texts and tables side by side are two."""
    found = _kinds(path, boundary)
    if any(dataset.format.name != "text" for dataset in found) and (parts := _subfolders(path, found)):
        return [dataset for part in parts for dataset in _datasets_of(part, boundary)]
    return found


def _kinds(path: Path, boundary: Boundary) -> list[Dataset]:
    """The plain datasets of all files below a path, one of each kind; files about the data are none of it, and where
    there is nothing else there is no dataset."""
    texts, tables = _read(text_dataset, path, boundary), _read(table_dataset, path, boundary)
    if texts is None or tables is None:
        if texts is not None and all(is_about(file.path) for file in texts.files):
            return []
        return [without_notes(texts)] if texts is not None else [tables] if tables is not None else []
    taken = {file.path for file in tables.files}
    side = tables.options.get(PASSED_OVER, {})
    texts.files = [f for f in texts.files if f.path not in taken and f.name not in side and not is_about(f.path)]
    passed_over = texts.options.get(PASSED_OVER, {})
    texts.options[PASSED_OVER] = {name: why for name, why in passed_over.items() if path / name not in taken}
    return [texts, tables] if texts.files else [tables]


def _read(read: Callable[[Path, Boundary], Dataset], path: Path, boundary: Boundary) -> Dataset | None:
    with skip_unreadable():
        return read(path, boundary)
    return None


def _subfolders(path: Path, found: list[Dataset]) -> list[Path]:
    """The subfolders, where each of them is a dataset of its own: several, and the folder itself has no data."""
    names: set[str] = set()
    for dataset in found:
        for file in dataset.files:
            name, below, _ = file.name.partition("/")
            if is_about(file.path):
                continue
            if not below or _PART.fullmatch(name):
                return []
            names.add(name)
    return [path / name for name in sorted(names)] if len(names) > 1 else []
