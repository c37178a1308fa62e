"""Which files of a tree a command reads, by the datasets that are recognised in it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from ragdatakit.files.datasets import Dataset
from ragdatakit.files.detection.find import detect
from ragdatakit.files.detection.layout_files import DATA_SUFFIXES
from ragdatakit.files.detection.plain_sources import PLAIN_SOURCES, TABLE_SUFFIXES, TEXT_SUFFIXES
from ragdatakit.files.detection.triple_files import TRIPLE_SUFFIXES
from ragdatakit.schemas import all_formats
from ragdatakit.schemas.errors import RagdataError

Beside = Literal["nothing", "data", "all"]
_MODELS = frozenset(".safetensors .pt .pth .onnx .gguf .ckpt .h5 .zip .tar .7z .rar .whl .exe .so".split())
"""What no format has, but is often uploaded next to a dataset."""
_DATA = (*DATA_SUFFIXES, *TABLE_SUFFIXES, *TEXT_SUFFIXES, *TRIPLE_SUFFIXES)


def needed_files(path: Path, format_name: str = "", *, beside: Beside = "nothing") -> set[Path] | None:
    """The files of the datasets at ``path``; ``beside``: and other ``data`` below their folders, where a reader may
    look for more. Plain texts and tables where nothing is recognised or they are asked for. None: all files, where they
    are wanted, or nobody can say."""
    if beside == "all":
        return None
    if format_name in PLAIN_SOURCES:
        return _plain(path)
    if format_name and format_name not in {known.name for known in all_formats()}:
        return None
    try:
        found = detect(path, format_name or None).datasets
    except RagdataError:
        return set() if format_name else _plain(path)
    return {file for dataset in found for file in _files(dataset, beside)}


def _files(dataset: Dataset, beside: Beside) -> set[Path]:
    config = () if dataset.config is None else (dataset.config,)
    found = {file.path for file in (*dataset.files, *config)}
    stores = {folder for file in found for folder in file.parents if folder.suffix == ".lance"}
    found = found.union(*map(_below, stores))
    if beside == "nothing" or dataset.layout == "file":
        return found
    below = _below(dataset.root)
    return found | {file for file in below if file.suffix.lower() not in _MODELS}


def _plain(path: Path) -> set[Path] | None:
    """All texts and tables: some are read with others, as the labels of a graph."""
    if not path.is_dir():
        return None
    return {file for file in _below(path) if file.name.lower().endswith(_DATA) or "." not in file.name}


def _below(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}
