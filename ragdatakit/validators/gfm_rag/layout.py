"""How the files of a GFM-RAG dataset lie on disk: what is missing, what was built already, what a cache hides."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folders import is_regular
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.ages import in_words, lag_seconds
from ragdatakit.validators.lacking import missing_file

Placed = tuple[DataFile, Problem]

GRAPH_FILES = ("nodes.csv", "relations.csv", "edges.csv")
QUESTION_FILES = ("train.json", "test.json")
CACHED_GRAPH = ("graph.pt", "node2id.json", "rel2id.json")

_RAW_KINDS = ("documents", "built-documents", "raw-questions", "built-raw-questions")
_GRAPH_KINDS = ("nodes", "relations", "edges")
_STAGE1_KINDS = (*_GRAPH_KINDS, "questions")
_LEGACY_STAGE1 = ("legacy-triples", "legacy-entities", "legacy-questions")
_LEGACY_RAW = ("legacy-documents", "legacy-raw-questions")


class DatasetFolders:
    """Where the parts of a dataset are, or would be: ``stage1``, ``raw`` and ``stage2`` (None: not known)."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        stage1 = self._folder_of((*_STAGE1_KINDS, *_LEGACY_STAGE1))
        raw = self._folder_of((*_RAW_KINDS, *_LEGACY_RAW))
        processed = _above(stage1) if stage1 is not None and _named(stage1, "stage1") else None
        whole = _above(processed) if processed is not None and _named(processed, "processed") else None
        if whole is None and raw is not None and _named(raw, "raw"):
            whole = _above(raw)
        self.stage1 = stage1 or (whole / "processed" / "stage1" if whole is not None else None)
        self.raw = raw or (whole / "raw" if whole is not None else None)
        self.stage2 = self._folder_of(("cache",), levels=2) or (processed / "stage2" if processed is not None else None)

    def _folder_of(self, kinds: tuple[str, ...], levels: int = 1) -> Path | None:
        for file in self.dataset.files:
            if file.kind in kinds:
                return file.place.parents[levels - 1] if len(file.place.parents) >= levels else None
        return None

    def shown(self, path: Path) -> str:
        """A path as messages call it: from the dataset's folder."""
        return os.path.relpath(path, self.dataset.root).replace(os.sep, "/")

    def graph_is_built(self) -> bool:
        """Whether all three tables are there."""
        return self.stage1 is not None and all(
            is_regular(self.stage1 / name) or self.dataset.of_kind(name.removesuffix(".csv")) for name in GRAPH_FILES
        )


def _named(folder: Path, name: str) -> bool:
    return Path(os.path.normpath(folder.absolute())).name == name


def _above(folder: Path) -> Path:
    """The folder above, also of one that is called ``.``, or by no more than its name."""
    return folder.parent if folder.name not in ("", "..") else folder / ".."


def mark_built(dataset: Dataset) -> None:
    """Give raw files from which all was built already the kinds that say so: they are not read any more."""
    folders = DatasetFolders(dataset)
    for file in dataset.files:
        if file.kind == "documents" and folders.graph_is_built():
            file.kind = "built-documents"
        elif file.kind == "raw-questions" and folders.stage1 and is_regular(folders.stage1 / file.path.name):
            file.kind = "built-raw-questions"


def layout_problems(dataset: Dataset) -> Iterator[Placed]:
    """What names, places and times of a dataset's files say; nothing is opened."""
    folders = DatasetFolders(dataset)
    yield from _legacy(dataset, folders)
    if dataset.layout == "file":
        return
    yield from _missing_graph(dataset, folders)
    yield from _missing_documents(dataset, folders)
    yield from _missing_legacy(dataset, folders)
    yield from cache_problems(dataset, folders)


def _first(dataset: Dataset, kinds: tuple[str, ...]) -> DataFile | None:
    found = [f for kind in kinds for f in dataset.of_kind(kind)]
    return found[0] if found else None


def _missing_graph(dataset: Dataset, folders: DatasetFolders) -> Iterator[Placed]:
    first = _first(dataset, _STAGE1_KINDS)
    if first is None or folders.stage1 is None:
        return
    there = [n for n in GRAPH_FILES if os.path.lexists(folders.stage1 / n) or dataset.of_kind(n.removesuffix(".csv"))]
    if not there and not _named(folders.stage1, "stage1"):
        return  # questions in a folder of their own
    for name in GRAPH_FILES:
        if name not in there:
            others = " and ".join(there) or first.name.rsplit("/", 1)[-1]
            missing = _absent(dataset, folders.stage1 / name, name.removesuffix(".csv"))
            problem = Problem("missing-graph-file", facts={"file": name, "others": others})
            yield missing, missing_file(problem, folders.stage1, name)


def _missing_documents(dataset: Dataset, folders: DatasetFolders) -> Iterator[Placed]:
    first = _first(dataset, (*_STAGE1_KINDS, "raw-questions", "built-raw-questions"))
    if first is None or folders.raw is None or dataset.of_kind("documents") or dataset.of_kind("built-documents"):
        return
    wanted = folders.raw / "documents.json"
    if not os.path.lexists(wanted):
        missing = _absent(dataset, wanted, "documents")
        problem = Problem("missing-documents-file", facts={"file": folders.shown(wanted)})
        if folders.raw.is_dir():
            yield missing, missing_file(problem, folders.raw, wanted.name)
        else:
            yield missing, missing_file(problem, folders.raw.parent, f"{folders.raw.name}/{wanted.name}")


def _legacy(dataset: Dataset, folders: DatasetFolders) -> Iterator[Placed]:
    """The layout of release 1, unless it is left over beside the tables that replaced it."""
    first = _first(dataset, (*_LEGACY_STAGE1, *_LEGACY_RAW))
    if first is not None and not (folders.stage1 is not None and is_regular(folders.stage1 / "nodes.csv")):
        yield first, Problem("legacy-layout")


def _missing_legacy(dataset: Dataset, folders: DatasetFolders) -> Iterator[Placed]:
    """A graph of release 1 that was built wants all three files."""
    first = _first(dataset, _LEGACY_STAGE1)
    if first is None or folders.stage1 is None or is_regular(folders.stage1 / "nodes.csv"):
        return
    wanted = [folders.stage1 / "kg.txt", folders.stage1 / "document2entities.json"]
    if folders.raw is not None:
        wanted.append(folders.raw / "dataset_corpus.json")
    for path in wanted:
        if not os.path.lexists(path):
            problem = Problem("missing-legacy-file", facts={"file": folders.shown(path)})
            yield first, missing_file(problem, path.parent, path.name)


def cache_problems(dataset: Dataset, folders: DatasetFolders) -> Iterator[Placed]:
    """What the loaders take from ``stage2/`` instead of from the files they were given."""
    if folders.stage2 is None or folders.stage1 is None or not dataset.of_kind("nodes"):
        return
    for folder in _folders(folders.stage2):
        names = _files(folder)
        cached = [n for n in QUESTION_FILES if n.replace(".json", ".pt") in names]
        if not cached and "graph.pt" not in names:
            continue
        yield _cached(dataset, folder, "graph.pt" if "graph.pt" in names else names[0]), Problem("cache-exists")
        missing = [n for n in CACHED_GRAPH if n not in names]
        if missing and cached:
            place = _cached(dataset, folder, cached[0].replace(".json", ".pt"))
            yield place, Problem("partial-cache", facts={"missing": " and ".join(missing)})
        for name in cached:
            pt = name.replace(".json", ".pt")
            if not os.path.lexists(folders.stage1 / name):
                facts = {"cached": pt, "file": name}
                yield _cached(dataset, folder, pt), Problem("cache-without-questions", facts=facts)
        if not missing:
            yield from _stale(dataset, folders.stage1, folder, cached)


def _stale(dataset: Dataset, stage1: Path, folder: Path, cached: list[str]) -> Iterator[Placed]:
    """The file that was changed longest after it was cached."""
    pairs = [(stage1 / name, folder / "graph.pt") for name in GRAPH_FILES]
    pairs += [(stage1 / name, folder / name.replace(".json", ".pt")) for name in cached]
    lags = [(lag, new, old) for new, old in pairs if (lag := lag_seconds(old, new)) is not None]
    if lags:
        lag, new, old = max(lags, key=lambda found: found[0])
        facts = {"newer": new.name, "age": in_words(lag)}
        yield _cached(dataset, folder, old.name), Problem("stale-cache", facts=facts)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(e.path) for e in entries if e.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _files(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(e.name for e in entries if not e.is_dir())
    except OSError:
        return []


def _cached(dataset: Dataset, folder: Path, name: str) -> DataFile:
    path = folder / name
    for file in dataset.files:
        if file.place == path:
            return file
    return _absent(dataset, path, "cache")


def _absent(dataset: Dataset, path: Path, kind: str) -> DataFile:
    """A file that is none of the dataset's, as the place of a finding."""
    return DataFile(path, str(path), os.path.relpath(path, dataset.root).replace(os.sep, "/"), kind)
