"""Data of systems that ragdata does not know as formats yet, by their files, so that a refusal can name them."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase
from pathlib import Path

from ragdatakit.files.paths.boundary import ANYWHERE

_NAMES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("a LlamaIndex storage folder", ("docstore.json", "index_store.json")),
    ("a LangChain FAISS index", ("index.faiss", "index.pkl")),
    ("a Chroma database", ("chroma.sqlite3",)),
    ("a dataset saved by datasets.save_to_disk", ("dataset_info.json", "state.json", "*.arrow")),
)
"""What a folder is called, and the patterns of which each has a file in it; the first that fits counts."""
_BEGINNINGS: tuple[tuple[str, tuple[bytes, ...]], ...] = (
    ("training data of FlagEmbedding (BGE)", (b'"query"', b'"pos"', b'"neg"')),
    ("FlashRAG questions", (b'"golden_answers"',)),
)
"""What a file is called, and what its beginning has in it."""
_HEAD = 1 << 12
_MOST_FILES = 50
_MOST_FOLDERS = 50


def known_data(path: Path) -> str:
    """That a path looks like data of a system that is not checked yet, in words; empty where it does not.

    Of a folder, the folder itself and those directly in it count.
    """
    if not path.is_dir():
        what = _file(path)
        return f"{path} looks like {what}, which ragdata cannot validate yet" if what else ""
    for folder in [path, *_folders_in(path)]:
        what = _folder(folder)
        if what:
            return f"{folder} looks like {what}, which ragdata cannot validate yet"
    return ""


def _folder(folder: Path) -> str:
    names = _names(folder)
    for what, patterns in _NAMES:
        if all(any(fnmatchcase(name, pattern) for name in names) for pattern in patterns):
            return what
    heads = [n for n in names if "." not in n or n.endswith((".json", ".jsonl", ".pkl"))][:_MOST_FILES]
    return next((f"{what} ({name})" for name in heads if (what := _file(folder / name))), "")


def _file(path: Path) -> str:
    try:
        with ANYWHERE.open(path) as file:
            head = file.read(_HEAD)
    except OSError:
        return ""
    return next((what for what, signs in _BEGINNINGS if all(sign in head for sign in signs)), "")


def _names(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in os.scandir(folder) if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def _folders_in(folder: Path) -> list[Path]:
    try:
        found = [Path(e.path) for e in os.scandir(folder) if e.is_dir(follow_symlinks=False) and e.name[:1] != "."]
    except OSError:
        return []
    return sorted(found)[:_MOST_FOLDERS]
