"""Indexes on the disk: found again while their dataset is the same, built anew where it is not, never half there.

An index is a folder ``<name>-<key>`` in the user's cache, or one that the user names; never in the dataset. It has
index.json, the passages, and one folder for each part (``lexical-…``). Each of these appears when it is whole. The
key is made of the digest of the dataset's files, its format, and how it is read. Which files had which digest is kept
in ``sources/``, so that an unchanged dataset is not read at all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragdatakit.files.paths.mirrors import as_given
from ragdatakit.files.paths.writing import write_whole
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs.file_states import FileState, digest_of_files, file_states, read_states
from ragdatakit.outputs.sealed_json import digest_of, read_sealed, sealed
from ragdatakit.outputs.staging import StagedFolder
from ragdatakit.outputs.user_cache import VARIABLE, cache_folder
from ragdatakit.outputs.written_files import safe_part
from ragdatakit.retrieval.index.files import (
    INDEX,
    PART,
    PASSAGES,
    SOURCES,
    are_intact,
    are_sound,
    are_whole,
    described,
    names_in,
    refuse_alien,
    refuse_read_only,
    refuse_unmade,
)
from ragdatakit.retrieval.index.notes import fault_notes, faults_of, guess_note, lost_passages, nothing_to_search
from ragdatakit.retrieval.index_parts import Part, Progress, Ranker
from ragdatakit.retrieval.passages import Passages, drop_replaced, read_passages, write_passages
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import MachineError, MissingExtraError, RagdataError
from ragdatakit.schemas.retrieved import IndexPart, IndexSummary
from ragdatakit.version import __version__

LAYOUT = 5
"""The version of the passages' layout on the disk."""
_DIGITS = 16
_MOST_NAME = 60

Tell = Callable[[str], None]
"""Called with one sentence about what the user should know."""


@dataclass(frozen=True, slots=True)
class IndexSource:
    """A dataset to index, not read yet.

    ``path`` is what the user named, ``roots`` the folders that are the dataset's own (no index lies in them). ``files``
    are all files that have a part in reading it, by name; ``reading`` are the options of reading, as JSON values.
    ``tables`` gives its canonical tables, the same ones at every call. ``guessed`` says that no format was recognised
    and none was given.
    """

    path: Path
    name: str
    format: str
    files: tuple[tuple[str, Path], ...]
    tables: Callable[[], CanonicalTables]
    reading: Mapping[str, Any] = field(default_factory=dict)
    roots: tuple[Path, ...] = ()
    guessed: bool = False

    def key(self, digest: str) -> str:
        """What an index of this dataset goes by, while its files have this digest."""
        facts = {"layout": LAYOUT, "format": self.format, "reading": dict(self.reading), "digest": digest}
        return digest_of(facts)[:_DIGITS]

    @property
    def record_name(self) -> str:
        """The file in ``sources/`` that has the states of this dataset's files."""
        return digest_of([str(self.path.resolve()), self.format, dict(self.reading)])[:32] + ".json"


class Index:
    """An index that is open: its passages, and its parts as they are asked for.

    ``notes`` are sentences about what was built and why, ``document`` is what index.json says.
    """

    def __init__(
        self,
        folder: Path,
        document: Mapping[str, Any],
        source: IndexSource,
        *,
        progress: Progress | None = None,
        tell: Tell | None = None,
    ) -> None:
        self.folder = folder
        self.source = source
        self.notes: list[str] = []
        self.passages = Passages(folder / PASSAGES, document["unit"])
        if len(self.passages) != document["passages"] or not self.passages.is_whole:
            raise ValueError("the passages are not whole")
        self.document = document
        self._progress, self._tell = progress, tell
        self._rankers: dict[str, Ranker] = {}
        self._parts: dict[str, IndexPart] = {}
        self._files: dict[Path, Mapping[str, Mapping[str, Any]]] = {folder: document["files"]}

    @property
    def name(self) -> str:
        """What the dataset is called."""
        name: str = self.document["name"]
        return name

    @property
    def has_graph(self) -> bool:
        """Whether the dataset itself has a graph."""
        return bool(self.document["graph"])

    @property
    def tables(self) -> frozenset[str]:
        """The canonical tables in which the dataset has rows."""
        return frozenset(self.document["tables"])

    def note(self, text: str) -> None:
        """Keep a sentence for the summary, and tell it."""
        self.notes.append(text)
        if self._tell is not None:
            self._tell(text)

    def ranker(self, part: Part) -> Ranker:
        """The part, open: built first where it is not there, or not sound."""
        name = part_name(part)
        if name not in self._rankers:
            self._rankers[name] = self._opened(part, name)
        return self._rankers[name]

    def _opened(self, part: Part, name: str) -> Ranker:
        folder = self.folder / name
        there = folder.exists()
        if there:
            ranker = self._open(part, folder)
            if ranker is not None:
                return ranker
            self.note(f"the {part.kind} part of the index is damaged or incomplete; it is built anew")
        self._build(part, folder, replace=there)
        ranker = self._open(part, folder, built=True)
        if ranker is None:
            raise RagdataError(f"{folder} cannot be opened although it was just built; remove it and try again")
        return ranker

    def _open(self, part: Part, folder: Path, built: bool = False) -> Ranker | None:
        """What lies in the folder; None where it is not what `part` would have built."""
        document = read_sealed(folder / PART)
        if document is None or document["settings"] != _plain(part.settings):
            return None
        if document["passages"] != len(self.passages) or not (built or are_sound(folder, document["files"])):
            return None
        try:
            ranker = part.open(folder, self.passages)
        except (MissingExtraError, MachineError, MemoryError):
            raise
        except BaseException as error:
            intact = built or are_intact(folder, document["files"])
            if not _is_of_a_library(error) or (intact and (built or isinstance(error, RagdataError))):
                raise
            return None
        size = sum(file["bytes"] for file in document["files"].values())
        self._files[folder] = document["files"]
        self._parts[folder.name] = IndexPart(part.kind, built, document["seconds"], size, document["facts"])
        return ranker

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Say of a failure inside that the index is damaged, where it is: raises `RagdataError` then."""
        try:
            yield
        except (RagdataError, MemoryError):
            raise
        except BaseException as error:
            if not _is_of_a_library(error) or all(are_intact(*known) for known in self._files.items()):
                raise
            raise RagdataError(f"the index {self.folder} is damaged; --rebuild builds it anew") from error

    def _build(self, part: Part, folder: Path, replace: bool) -> None:
        started = time.perf_counter()
        refuse_read_only(folder)
        with StagedFolder(folder, overwrite=True) as staged:
            facts = part.build(staged.folder, self.passages, self.source.tables, self._progress)
            document = {
                "kind": part.kind,
                "settings": _plain(part.settings),
                "passages": len(self.passages),
                "facts": _plain(facts),
                "seconds": round(time.perf_counter() - started, 3),
                "files": described(staged.folder),
            }
            write_whole(staged.folder / PART, sealed(document))
            if not replace and _part_is_whole(folder):
                return  # another process was faster
            staged.commit()

    def summary(self) -> IndexSummary:
        """What was opened so far."""
        document = self.document
        return IndexSummary(
            as_given(str(self.source.path)),
            self.name,
            self.source.format,
            str(self.folder),
            document["digest"],
            self.passages.unit,
            len(self.passages),
            tuple(self._parts.values()),
            tuple(dict.fromkeys((*self.notes, *fault_notes(document["faults"], self.passages.unit)))),
        )


def _is_of_a_library(error: BaseException) -> bool:
    """Whether it comes of the work, not of the user: panics of libraries in Rust are no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def part_name(part: Part) -> str:
    """The name of a part's folder."""
    return f"{part.kind}-{digest_of(_plain(part.settings))[:_DIGITS]}"


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values as they come back from JSON."""
    found: dict[str, Any] = json.loads(json.dumps(dict(values)))
    return found


def _part_is_whole(folder: Path) -> bool:
    document = read_sealed(folder / PART)
    return document is not None and are_whole(folder, document["files"])


def index_document(folder: Path, built: bool = False) -> dict[str, Any] | None:
    """What index.json says of a sound index; None where it is damaged, or was made by another version.

    ``built``: it was written just now, and need not be read again.
    """
    document = read_sealed(folder / INDEX)
    if document is None or document["layout"] != LAYOUT or document["ragdata"] != __version__:
        return None
    return document if built or are_sound(folder, document["files"]) else None


def open_index(
    source: IndexSource,
    *,
    index_dir: Path | None = None,
    rebuild: bool = False,
    progress: Progress | None = None,
    tell: Tell | None = None,
) -> Index:
    """The index of a dataset: the one that is there, or a new one. Parts are built by `Index.ranker`.

    ``rebuild`` builds the index, and each part that is asked for, even where they are there. Raises `RagdataError`
    where the dataset has nothing to search, where it changes while it is read, and for an ``index_dir`` in the dataset
    or with other files in it; `OSError` where the disk is full.
    """
    return _Opening(source, index_dir, rebuild, progress, tell).run()


class _Opening:
    """One call of `open_index`."""

    def __init__(
        self, source: IndexSource, index_dir: Path | None, rebuild: bool, progress: Progress | None, tell: Tell | None
    ) -> None:
        self._source, self._rebuild, self._progress, self._tell = source, rebuild, progress, tell
        self._named = index_dir is not None
        self._place = index_dir.absolute() if index_dir is not None else cache_folder() / "indexes"
        self._notes: list[str] = []
        refuse_in_dataset(source, self._place, self._named)
        if self._named:
            refuse_unmade(self._place)

    def run(self) -> Index:
        record = self._place / SOURCES / self._source.record_name
        known = read_sealed(record) or {}
        states, same = file_states(self._source.files, read_states(known.get("files")), self._progress)
        digest = digest_of_files(self._source.files, states)
        key = self._source.key(digest)
        folder = self._folder(key)
        changed = known.get("digest", digest) != digest
        found = self._found(folder, key, changed)
        if found is None:
            self._build(folder, key, digest, states)
            states, same = file_states(self._source.files, {s.path: s for s in states}, self._progress)
            found = self._opened(folder, key, built=True)
            if found is None:
                raise RagdataError(f"{folder} cannot be opened although it was just built; remove it and try again")
            for text in fault_notes(found.document["faults"], found.passages.unit):
                self._note(text)
            same = False
        found.notes[:0] = self._notes
        if not same or known.get("key") != key:
            self._keep(record, key, digest, states)
        return found

    def _folder(self, key: str) -> Path:
        if self._named:
            return self._place
        for name in names_in(self._place):
            if name.endswith(f"-{key}") and not name.startswith("."):
                return self._place / name
        name = safe_part(self._source.name)[:_MOST_NAME].rstrip("-. ") or "dataset"
        return self._place / f"{name}-{key}"

    def _found(self, folder: Path, key: str, changed: bool) -> Index | None:
        """The index that is there, if it may be used; else it is said why not."""
        if self._rebuild:
            return None
        found = self._opened(folder, key)
        if found is not None:
            return found
        if changed:
            self._note(f"{self._source.path} has changed since it was indexed; it is indexed anew")
        elif folder.exists() and any(n != SOURCES for n in names_in(folder)):
            self._note(f"the index {folder} {self._fault(folder, key)}; it is built anew")
        return None

    def _fault(self, folder: Path, key: str) -> str:
        document = read_sealed(folder / INDEX)
        if document is None or not are_whole(folder, document["files"]):
            return "is damaged or incomplete"
        if document["ragdata"] != __version__ or document["layout"] != LAYOUT:
            return f"was made by ragdata {document['ragdata']}"
        is_other = document["key"] != key
        return "is of another dataset, or of another state of it" if is_other else "is damaged or incomplete"

    def _note(self, text: str) -> None:
        self._notes.append(text)
        if self._tell is not None:
            self._tell(text)

    def _opened(self, folder: Path, key: str, built: bool = False) -> Index | None:
        document = index_document(folder, built)
        if document is None or document["key"] != key:
            return None
        try:
            return Index(folder, document, self._source, progress=self._progress, tell=self._tell)
        except (OSError, ValueError, KeyError, EOFError):
            return None

    def _build(self, folder: Path, key: str, digest: str, states: list[FileState]) -> None:
        from ragdatakit.retrieval.graphs.building import has_graph

        source = self._source
        tables = source.tables()
        if source.guessed:
            self._note(guess_note(source.path, source.format, [name for name, _ in source.files]))
        if not self._named:
            _make_private(folder.parent)
        refuse_read_only(folder)
        with StagedFolder(folder, overwrite=True) as staged:
            (staged.folder / PASSAGES).mkdir()
            count = write_passages(staged.folder / PASSAGES, read_passages(tables))
            faults = faults_of(staged.folder / PASSAGES, tables)
            if faults["replaced_ids"]:
                count = drop_replaced(staged.folder / PASSAGES)
            filled = [name for name in TABLES if tables.any(name)]
            if not count:
                raise RagdataError(nothing_to_search(source.path, filled, lost_passages(tables)))
            document = {
                "layout": LAYOUT,
                "ragdata": __version__,
                "key": key,
                "dataset": str(source.path.absolute()),
                "name": tables.name,
                "format": source.format,
                "reading": _plain(source.reading),
                "digest": digest,
                "unit": "chunk" if tables.passages == "chunks" else "document",
                "passages": count,
                "tables": filled,
                "graph": has_graph(tables),
                "faults": faults,
                "made": datetime.now(UTC).isoformat(timespec="seconds"),
                "files": described(staged.folder),
            }
            after, _ = file_states(source.files, {s.path: s for s in states})
            if [s.digest for s in after] != [s.digest for s in states]:
                raise RagdataError(f"{source.path} changed while it was indexed; run the command again")
            write_whole(staged.folder / INDEX, sealed(document))
            if not self._rebuild and self._opened(folder, key) is not None:
                return  # another process was faster
            if folder.exists():
                refuse_alien(folder)
            staged.commit()

    def _keep(self, record: Path, key: str, digest: str, states: list[FileState]) -> None:
        """Remember the states of the files. Without them the next run reads the files again: no more than that."""
        with suppress(OSError):
            record.parent.mkdir(parents=True, exist_ok=True)
            document = {
                "path": str(self._source.path.absolute()),
                "format": self._source.format,
                "key": key,
                "digest": digest,
                "files": [state.as_list() for state in states],
            }
            write_whole(record, sealed(document))


def _make_private(folder: Path) -> None:
    """A folder for texts that may be nobody else's business."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise RagdataError(
            f"{folder} cannot be made ({reason}); give a place for the index with --index-dir, or in {VARIABLE}"
        ) from None


def refuse_in_dataset(source: IndexSource, place: Path, named: bool) -> None:
    """Raise `RagdataError` where the index would lie in the dataset: it would become part of it."""
    resolved = place.resolve()
    for root in source.roots:
        if resolved.is_relative_to(root.resolve()):
            how = "--index-dir" if named else VARIABLE
            raise RagdataError(f"{place} lies in the dataset {root}; give the index a place outside of it ({how})")
