"""Stamps of valid datasets: whoever asks for it does not check a dataset again that is, to the last byte, as it was.

A stamp has all paths below the dataset's folder, and those besides on which its findings depend, each with its state on
the disk and the digest of its content; it is kept under all that the verdict hangs on else (the version, the options,
the configuration). States are compared first, contents where they differ or prove nothing (`FileState.is_settled`).
Of a dataset with any finding there is no stamp.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ragdatakit.files.datasets import Dataset
from ragdatakit.files.paths.folders import SKIPPED
from ragdatakit.files.paths.writing import write_whole
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs import file_states
from ragdatakit.outputs.file_states import FileState, read_states
from ragdatakit.outputs.sealed_json import digest_of, read_sealed, sealed
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.validators.checks import FormatChecks

_MOST_PATHS = 200_000
"""Paths of a dataset beyond which it gets no stamp."""
_KEPT_SECONDS = 90 * 24 * 3600
"""A stamp that nobody asked for so long is removed."""
_PIECE = 1 << 20
_TRUSTED = os.name != "nt"  # elsewhere the time of a change cannot be set back

_Raw = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Stamps:
    """The stamps in a folder, for runs under the same ``circumstances`` (a JSON value)."""

    folder: Path
    circumstances: Any

    def begin(self, checks: FormatChecks, profiles: Sequence[str]) -> Stamp:
        """The stamp of a dataset, before these checks look at it."""
        dataset = checks.dataset
        root = os.path.abspath(dataset.root)  # noqa: PTH100 - links are not followed
        names = sorted([file.name, os.path.realpath(file.path)] for file in dataset.files)
        facts = [self.circumstances, dataset.format.name, dataset.layout, list(profiles), str(dataset.root), root]
        key = digest_of([*facts, os.path.realpath(root), names, sorted(map(str, dataset.options.items()))])
        watched = [*map(_absolute, checks.beside), *(_absolute(file.path) for file in dataset.files)]
        if dataset.layout != "file":
            watched.append(_absolute(dataset.root))
        places = tuple(dict.fromkeys(sorted(watched)))
        stamp = Stamp(self.folder / f"{key[:32]}.json", dataset, places, checks.age_seconds)
        # A configuration of Hydra reads the environment, so that its files do not say everything.
        stamp.possible = dataset.layout != "config" and not dataset.outside and not dataset.unreadable
        return stamp


@dataclass(slots=True)
class Stamp:
    """The stamp of one dataset: ask `is_unchanged`, or check the dataset and `keep` it where nothing was found."""

    file: Path
    dataset: Dataset
    watched: tuple[Path, ...]
    age_seconds: float
    possible: bool = True
    since: str = ""
    _before: _Listing | None = None

    def is_unchanged(self) -> bool:
        """Whether the dataset is the one that was found to be valid; then its files have their counts, and ``since``
        is the time of that."""
        if not self.possible:
            return False
        try:
            self._before = _Listing.of(self.watched)
            document = read_sealed(self.file)
            if document is not None and self._same(document, self._before):
                return True
            self._before.hash_fresh()
        except MachineError:
            raise
        except (OSError, RagdataError, _TooManyError):
            self.possible = False
        return False

    def _same(self, document: dict[str, Any], here: _Listing) -> bool:
        known = read_states(document.get("states"))
        counts = document.get("files")
        if document.get("paths") != here.paths or not isinstance(counts, dict):
            return False
        if {file.name for file in self.dataset.files} != counts.keys() or known.keys() != here.raw.keys():
            return False
        found, same = _states(here.raw, known)
        if any(state.digest != known[state.path].digest for state in found):
            return False
        if document.get("times") != here.times and here.spread > self.age_seconds:
            return False
        if not same:
            self._write({**document, "states": [state.as_list() for state in found], "times": here.times})
        for file in self.dataset.files:
            file.records, file.bytes = counts[file.name]
        self.dataset.profile, self.since = document.get("profile"), str(document.get("since"))
        return True

    def keep(self) -> None:
        """Nothing was found: remember the dataset, if it was at rest meanwhile."""
        before = self._before
        if before is None or not self.possible or not all(f.readable and f.to_end for f in self.dataset.files):
            return
        try:
            states, _ = _states(before.raw, {})
            after = _Listing.of(self.watched)
        except MachineError:
            raise
        except (OSError, RagdataError, _TooManyError):
            return
        if (before.paths, before.raw) != (after.paths, after.raw) or any(
            before.fresh.get(state.path, state.digest) != state.digest
            or (state.size, state.mtime_ns, state.ctime_ns, state.inode) != before.raw[state.path]
            for state in states
        ):
            return
        self._write(
            {
                "since": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
                "profile": self.dataset.profile,
                "files": {file.name: [file.records, file.bytes] for file in self.dataset.files},
                "paths": before.paths,
                "times": before.times,
                "states": [state.as_list() for state in states],
            }
        )

    def _write(self, document: dict[str, Any]) -> None:
        """A cache that cannot be written is none: the dataset is checked the next time."""
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            _remove_old(self.file.parent)
            write_whole(self.file, sealed(document))


class _TooManyError(Exception):
    """There are more paths than are looked at."""


@dataclass(slots=True)
class _Listing:
    """All paths: ``paths`` with what each is, in order, ``times`` when each changed, ``raw`` the states of the regular
    files, ``fresh`` the digests of those that changed so lately that an edit during the check could leave their state
    as it is."""

    paths: list[list[Any]] = field(default_factory=list)
    times: dict[str, int] = field(default_factory=dict)
    raw: dict[str, _Raw] = field(default_factory=dict)
    fresh: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, watched: Sequence[Path]) -> _Listing:
        """What is at and below these paths. Raises `OSError` where a folder cannot be read."""
        found = cls()
        real = [os.path.realpath(place) for place in watched]
        seen: set[str] = set()
        for place in watched:
            for path in _below(str(place)):
                if path not in seen:
                    seen.add(path)
                    found._add(path, real)
                if len(seen) > _MOST_PATHS:
                    raise _TooManyError
        return found

    def _add(self, path: str, places: Sequence[str]) -> None:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            self.paths.append([path, "missing"])
            return
        self.times[path] = status.st_mtime_ns
        if stat.S_ISLNK(status.st_mode):
            target = os.path.realpath(path)
            self.paths.append([path, "link", str(Path(path).readlink()), target])
            try:
                status = os.stat(path)  # noqa: PTH116 - as a text
            except OSError:
                return
            self.times[path] = max(status.st_mtime_ns, self.times[path])
            if not any(target == place or target.startswith(f"{place}{os.sep}") for place in places):
                self.paths[-1] += [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
                return  # it leads out: nothing there is read
        self.paths.append([path, stat.S_IFMT(status.st_mode)])
        if stat.S_ISREG(status.st_mode):
            self.raw[path] = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)

    @property
    def spread(self) -> float:
        """How many seconds are between the earliest and the latest time."""
        return (max(self.times.values()) - min(self.times.values())) / 10**9 if self.times else 0

    def hash_fresh(self) -> None:
        """Take the digests of files that are not at rest, before they are checked."""
        now = time.time_ns()
        for path, (_, mtime, ctime, _) in self.raw.items():
            if max(mtime, ctime) + file_states.REST_NS >= now:
                self.fresh[path] = _digest(Path(path))


def _below(place: str) -> Iterator[str]:
    """A path and all that is below it; links to folders are not followed."""
    stack = [place]
    while stack:
        path = stack.pop()
        yield path
        if os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114 - as a text
            with os.scandir(path) as entries:
                stack += sorted((entry.path for entry in entries if entry.name not in SKIPPED), reverse=True)


def _states(raw: Iterable[str], known: dict[str, FileState]) -> tuple[list[FileState], bool]:
    """The states of all files, and whether they are those that were known."""
    return file_states.file_states([(path, Path(path)) for path in raw], known if _TRUSTED else {}, None, _digest)


def _digest(path: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
    return digest.hexdigest()


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 - links are not followed


def _remove_old(folder: Path) -> None:
    """Remove the stamps that nobody asked for since long."""
    least = time.time() - _KEPT_SECONDS
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".json") and entry.stat(follow_symlinks=False).st_mtime < least:
                with suppress(OSError):
                    Path(entry.path).unlink()
