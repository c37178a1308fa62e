"""The indexes in the user's cache: which there are, whether their datasets are still there, removing the others."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from ragdatakit.files.paths.folder_locks import remove_abandoned
from ragdatakit.outputs.file_states import are_unchanged, read_states
from ragdatakit.outputs.sealed_json import read_sealed
from ragdatakit.outputs.user_cache import cache_folder
from ragdatakit.retrieval.index.files import INDEX, KINDS, PASSAGES, SOURCES
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import StoredIndex

_FOLDER = re.compile(r"[^.].*-[0-9a-f]{16}")
_PART = re.compile(rf"({'|'.join(KINDS)})-[0-9a-f]{{16}}")


def stored_indexes() -> list[StoredIndex]:
    """All indexes in the cache, by name. Files whose state on the disk differs from the record are read."""
    place = cache_folder() / "indexes"
    if not place.is_dir():
        return []
    records = _records(place)
    folders = [path for path in place.iterdir() if path.is_dir() and _FOLDER.fullmatch(path.name)]
    return [_stored(folder, records) for folder in sorted(folders)]


def prune_indexes() -> list[StoredIndex]:
    """Remove the indexes whose dataset has changed or is gone, damaged ones, and what was left behind by runs that were
    stopped; returns those that were removed."""
    place = cache_folder() / "indexes"
    found = stored_indexes()
    removed = [index for index in found if index.state != "current"]
    for index in removed:
        try:
            shutil.rmtree(index.folder)
        except OSError as error:
            raise RagdataError(f"{index.folder} cannot be removed: {error.strerror}") from None
    kept = {Path(index.folder).name[-16:] for index in found if index.state == "current"}
    for path, record in _records(place):
        if record is None or record["key"] not in kept:
            path.unlink(missing_ok=True)
    if place.is_dir():
        for folder in (place, *(p for p in place.iterdir() if p.is_dir() and not p.name.startswith("."))):
            remove_abandoned(folder)
    return removed


def _records(place: Path) -> list[tuple[Path, dict[str, Any] | None]]:
    folder = place / SOURCES
    return [(path, read_sealed(path)) for path in sorted(folder.glob("*.json"))] if folder.is_dir() else []


def _stored(folder: Path, records: list[tuple[Path, dict[str, Any] | None]]) -> StoredIndex:
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    parts = tuple(sorted(p.name.split("-")[0] for p in folder.iterdir() if _PART.fullmatch(p.name)))
    document = read_sealed(folder / INDEX)
    if document is None or not (folder / PASSAGES).is_dir():
        return StoredIndex(str(folder), folder.name[:-17], "", "", 0, parts, size, "", "damaged")
    dataset, state = _state(document, folder, records)
    return StoredIndex(
        str(folder),
        document["name"],
        document["format"],
        dataset,
        document["passages"],
        parts,
        size,
        document["made"],
        state,
    )


def _state(
    document: dict[str, Any], folder: Path, records: list[tuple[Path, dict[str, Any] | None]]
) -> tuple[str, str]:
    """The dataset that an index is of, and its state; one that is as it was speaks for all that it was made for."""
    mine = [record for _, record in records if record is not None and record["key"] == document["key"]]
    for record in mine:
        if Path(record["path"]).exists() and are_unchanged(read_states(record["files"]).values()):
            return record["path"], "current"
    paths = [record["path"] for record in mine] or [document["dataset"]]
    there = [path for path in paths if Path(path).exists()]
    return (there[0], "changed") if there else (paths[0], "gone")
