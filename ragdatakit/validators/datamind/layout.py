"""How a DataMind profile, data folder or repository lies on disk: what no loader picks up, and what clashes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.texts.near_names import nearest
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.excerpts import show, visible
from ragdatakit.validators.lacking import is_packed

Placed = tuple[DataFile, Problem]

_DATA_FOLDERS = {"chunks": ".jsonl", "triplets": ".jsonl", "tables": ".sql"}
_ENGINE_FOLDERS = (*_DATA_FOLDERS, "images")
_CALLED = {"triplets": ("triples", "graph", "kg", "edges"), "chunks": ("passages",), "tables": ("sql", "database")}
_NOT_DATA = ("readme", "license", "licence", "source", "changelog", "thumbs.db")
_DOCUMENTS = (".txt", ".md", ".markdown", ".pdf", ".docx", ".html", ".htm", ".epub", ".csv", ".pptx", ".rtf")
_LISTED_AT_MOST = 20_000
_BUILT = {"chunks": ("chroma.sqlite3", "chroma/chroma.sqlite3"), "triplets": ("graph", "graph.json")}
CLOCK_SECONDS = 2.0


def layout_problems(dataset: Dataset) -> Iterator[Placed]:
    """What the names and places of a dataset's files say; nothing is opened."""
    if dataset.layout == "profile":
        for folder in _DATA_FOLDERS:
            yield from _folder_problems(dataset, folder)
        yield from _raw_documents(dataset)
        yield from _stale_storage(dataset)
        yield from _profile_name(dataset)
        tables = dataset.of_kind("tables")
        if tables:
            yield tables[0], Problem("sql-not-run", facts={"count": len(tables)})
    elif dataset.layout == "flat":
        for file in (*dataset.of_kind("chunks"), *dataset.of_kind("triplets")):
            yield file, Problem("ignored-file", facts={"pattern": "*.jsonl", "folder": f"{file.kind}/"})
    elif dataset.layout == "data":
        yield from _knowledge_folder(dataset)
    elif dataset.layout == "repository":
        yield from _skill_folders(dataset)


def _placed(dataset: Dataset, name: str) -> DataFile:
    for file in dataset.files:
        if file.name == name:
            return file
    path = dataset.root / name
    return DataFile(path, str(path), name, "not-read")


def _names(folder: Path) -> tuple[list[str], list[str]]:
    """(files, folders) directly in a folder, without hidden ones; links are files."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    (folders if entry.is_dir(follow_symlinks=False) else files).append(entry.name)
    except OSError:
        pass
    return sorted(files), sorted(folders)


def _folder_problems(dataset: Dataset, folder: str) -> Iterator[Placed]:
    suffix = _DATA_FOLDERS[folder]
    if not os.path.lexists(dataset.root / folder):
        yield from _other_folder(dataset, folder)
        return
    files, folders = _names(dataset.root / folder)
    others = [n for n in files if not n.endswith(suffix) and not n.lower().startswith(_NOT_DATA)]
    others += [f"{n}/{m}" for n in folders for m in _names(dataset.root / folder / n)[0][:1]]
    if not others:
        return
    if any(n.endswith(suffix) for n in files):
        for name in others:
            facts = {"pattern": f"*{suffix}", "folder": f"{folder}/"}
            yield _placed(dataset, f"{folder}/{name}"), Problem("ignored-file", facts=facts)
        return
    shown = show(others[0]) + (f" and {len(others) - 1} more" if len(others) > 1 else "")
    rule = "no-matching-sql" if folder == "tables" else "no-matching-jsonl"
    problem = Problem(rule, facts={"folder": f"{folder}/", "found": shown})
    if is_packed(others[0]):
        problem.hint = f"unpack {visible(others[0])}"
    yield _placed(dataset, f"{folder}/{others[0]}"), problem


def _other_folder(dataset: Dataset, folder: str) -> Iterator[Placed]:
    """The first file of a folder whose name seems to be meant for one that is not there."""
    there = [name for name in _names(dataset.root)[1] if name not in _ENGINE_FOLDERS]
    near = nearest(folder, there) or next((name for name in there if name.casefold() in _CALLED.get(folder, ())), "")
    name = next((name for name in _names(dataset.root / near)[0] if name.endswith(_DATA_FOLDERS[folder])), "")
    if near and name:
        facts = {"pattern": f"*{_DATA_FOLDERS[folder]}", "folder": f"{folder}/"}
        hint = f"rename the folder {visible(near)} to {folder}, if that is what it is"
        yield _placed(dataset, f"{near}/{name}"), Problem("ignored-file", facts=facts, hint=hint)


def _raw_documents(dataset: Dataset) -> Iterator[Placed]:
    if not dataset.of_kind("chunks"):
        return
    first, count, seen = "", 0, 0
    for folder, folders, names in os.walk(dataset.root):
        below = Path(folder).relative_to(dataset.root)
        top = not below.parts
        folders[:] = sorted(n for n in folders if not n.startswith(".") and not (top and n in _ENGINE_FOLDERS))
        for name in sorted(names):
            uploaded_table = below.parts[:1] == ("uploads",) and name.lower().endswith(".csv")
            if name.lower().endswith(_DOCUMENTS) and not name.startswith(".") and not uploaded_table:
                first = first or (below / name).as_posix()
                count += 1
        seen += len(names)
        if seen > _LISTED_AT_MOST:
            break
    if count:
        yield _placed(dataset, first), Problem("raw-documents-beside-chunks", facts={"count": f"{count:,}"})


def storage_of(dataset: Dataset) -> Path | None:
    """Where v2 keeps what it builds of a profile; None where the profile is not in its place."""
    profile = dataset.root.absolute()
    if profile.parent.name != "profiles" or profile.parent.parent.name != "data":
        return None
    return profile.parents[2] / "storage" / profile.name


def _stale_storage(dataset: Dataset) -> Iterator[Placed]:
    storage = storage_of(dataset)
    if storage is None:
        return
    for kind, names in _BUILT.items():
        built = [t for t in (_changed(storage / n) for n in names) if t is not None]
        files = [(t, f) for f in dataset.of_kind(kind) if (t := _changed(f.path)) is not None]
        if built and files:
            newest, file = max(files, key=lambda pair: pair[0])
            if newest > max(built) + CLOCK_SECONDS:
                yield file, Problem("stale-storage", facts={"storage": f"storage/{storage.name}"})


def _changed(path: Path) -> float | None:
    try:
        return path.lstat().st_mtime
    except OSError:
        return None


def _profile_name(dataset: Dataset) -> Iterator[Placed]:
    parts = dataset.root.absolute().parts
    places = [i for i in range(len(parts) - 1) if parts[i : i + 2] == ("data", "profiles")]
    name = "/".join(parts[places[-1] + 2 :]) if places else parts[-1]
    if places and "/" in name:
        reason = "which has a separator"
    elif name != name.strip() or "\\" in name or ".." in name:
        reason = "which has blanks, a backslash or .. in it"
    else:
        return
    if dataset.files:
        yield dataset.files[0], Problem("unsafe-profile-name", value=name, facts={"reason": reason})


def _knowledge_folder(dataset: Dataset) -> Iterator[Placed]:
    files, folders = _names(dataset.root / "skills")
    odd = [n for n in files if not n.endswith(".md")]
    odd += [f"{n}/{m}" for n in folders for m in _names(dataset.root / "skills" / n)[0]]
    for name in odd:
        yield _placed(dataset, f"skills/{name}"), Problem("ignored-knowledge-file")


def _skill_folders(dataset: Dataset) -> Iterator[Placed]:
    place = ".claude/skills"
    files, folders = _names(dataset.root / place)
    odd = [n for n in files if n.lower().endswith(".md") and not n.lower().startswith("readme")]
    for folder in folders:
        inside = _names(dataset.root / place / folder)[0]
        if inside and "SKILL.md" not in inside:
            odd.append(f"{folder}/{inside[0]}")
    for name in odd:
        yield _placed(dataset, f"{place}/{name}"), Problem("misplaced-skill")
