"""The files of an index: what they have to be, and whether they are."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ragdatakit.files.paths.digests import file_digest
from ragdatakit.files.paths.writing import write_whole
from ragdatakit.outputs.file_states import file_states, read_states
from ragdatakit.outputs.sealed_json import read_sealed, sealed
from ragdatakit.outputs.user_cache import VARIABLE
from ragdatakit.schemas.errors import RagdataError

INDEX, PART, SOURCES, PASSAGES = "index.json", "part.json", "sources", "passages"
CHECKED = "checked.json"
"""The states in which the files of an index or of a part were when their digests were compared last."""
KINDS = ("lexical", "sparse", "dense", "graph", "tree", "contextual", "lightrag", "graphrag")
_PART_FOLDER = rf"({'|'.join(KINDS)})-[0-9a-f]{{16}}"
_TEMPORARY = r"\..*\.ragdata-.*|\..*\.json\..*"
_OWN = re.compile(rf"{INDEX}|{CHECKED}|{SOURCES}|{PASSAGES}|{_PART_FOLDER}|{_TEMPORARY}|\.DS_Store|Thumbs\.db")


def described(folder: Path) -> dict[str, dict[str, Any]]:
    """All files below a folder with their sizes and digests."""
    return {
        path.relative_to(folder).as_posix(): {"bytes": path.stat().st_size, "sha256": file_digest(path)}
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def are_whole(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether all files are there with their sizes: quick, and enough for what a crash or a copy leaves."""
    try:
        return all((folder / name).stat().st_size == file["bytes"] for name, file in files.items())
    except OSError:
        return False


def are_sound(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether all files are what was written, by their digests: a damaged one may give wrong results, and no error.

    A file whose digest was compared before, and whose state on the disk is the same since, is not read again: a million
    passages take seconds to read, and milliseconds to look at.
    """
    if not are_whole(folder, files):
        return False
    places = [(name, folder / name) for name in files]
    known = read_states((read_sealed(folder / CHECKED) or {}).get("files"))
    states, same = file_states(places, known)
    if any(state.digest != files[name]["sha256"] for (name, _), state in zip(places, states, strict=True)):
        return False
    if not same:
        with suppress(OSError):  # a folder that is read-only is read each time
            write_whole(folder / CHECKED, sealed({"files": [state.as_list() for state in states]}))
    return True


def are_intact(folder: Path, files: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether all files are what was written, by their digests."""
    try:
        return all(file_digest(folder / name) == file["sha256"] for name, file in files.items())
    except OSError:
        return False


def names_in(folder: Path) -> list[str]:
    """The names in a folder, in order; none where there is no folder."""
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def refuse_read_only(folder: Path) -> None:
    """Raise `RagdataError` where the folder cannot be made, as the one that it is to lie in is read-only."""
    place = folder.parent
    if place.is_dir() and not os.access(place, os.W_OK | os.X_OK):
        raise RagdataError(
            f"the index cannot be built, as {place} cannot be written to; give another place with --index-dir, "
            f"or in {VARIABLE}"
        )


def refuse_unmade(folder: Path) -> None:
    """Raise `RagdataError` where no index can be in a folder."""
    refuse_alien(folder)
    if folder.is_dir():
        return
    above = next(place for place in folder.parents if os.path.lexists(place))
    if not above.is_dir():
        raise RagdataError(f"the index cannot be built in {folder}, as {above} is not a folder")
    refuse_read_only(above / folder.name)


def refuse_alien(folder: Path) -> None:
    """Raise `RagdataError` where a folder has something in it that is not of an index: it would be replaced."""
    if folder.exists() and not folder.is_dir():
        raise RagdataError(f"{folder} is a file; give a folder for the index")
    alien = [name for name in names_in(folder) if not _OWN.fullmatch(name)]
    if alien:
        found = f"{alien[0]}{f' and {len(alien) - 1:,} more' if len(alien) > 1 else ''}"
        raise RagdataError(
            f"{folder} is not an index: it has {found} in it; give an empty or a new folder (--index-dir)"
        )
