"""Whether the files of a dataset are what they were: by their state on the disk where that is enough, else by digest.

A file is taken for unchanged if size, times and inode are those of the record, and the file was at rest for two seconds
before its digest was made: an edit in the same tick of the file system's clock would leave the state as it was.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ragdatakit.files.machine import machine_fault
from ragdatakit.files.paths.digests import file_digest
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

REST_NS = 2_000_000_000
"""The coarsest clock of a file system in use (FAT) ticks every two seconds."""
_TRIES = 3
_TICK_NS = 20_000_000
"""How far the times of files may lag behind the clock."""

PresentState = tuple[int, int, int, int]
"""The device, inode, size and time of change of a file."""


def present_state(path: Path) -> PresentState | None:
    """What is another when a file was written or exchanged meanwhile; None where it is not there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class WatchedFiles:
    """Files that are read for a while, with their states at the beginning. As a context it raises `RagdataError` at
    its end where one of them changed, also in place of an error that came of that.

    Where they were looked at before (``since``, in ns), what no reader expects may come of a change in between, or in
    the same tick of the file system's clock: it is put down to one where a file is that new.
    """

    def __init__(self, paths: Iterable[Path], since: int | None = None) -> None:
        self._before = {path: present_state(path) for path in paths}
        self._since = since

    def changed(self) -> list[Path]:
        """Those that are not what they were."""
        return [path for path, state in self._before.items() if present_state(path) != state]

    def refuse_changed(self) -> None:
        """Raise `RagdataError` where one of them changed."""
        self._refuse(self.changed())

    def _refuse(self, paths: list[Path]) -> None:
        for path in paths:
            now, before = present_state(path), self._before[path]
            if now is None:
                raise RagdataError(f"{path} went away while it was read; run the command again when it is back")
            # content that is the same again proves nothing: it may have been half written when it was read
            only_time = before is not None and now[:3] == before[:3] and now != before
            how = " (its time did, not its size, as `touch` would do it)" if only_time else ""
            raise RagdataError(
                f"{path} changed while it was read{how}; run the command again when nothing writes to it"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or (isinstance(error, Exception) and not machine_fault(error)):
            self.refuse_changed()
            if error is not None and not isinstance(error, RagdataError) and self._since is not None:
                self._refuse([path for path in self._before if _is_newer(path, self._since - _TICK_NS)])


def _is_newer(path: Path, time_ns: int) -> bool:
    """Whether a file was written after a time, or is gone."""
    try:
        found = path.stat()
    except OSError:
        return True
    return max(found.st_mtime_ns, found.st_ctime_ns) > time_ns


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the disk describes it, with the digest of its content and the time (ns) at which that was begun."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    digest: str
    hashed_ns: int

    def as_list(self) -> list[Any]:
        """The JSON form."""
        return [self.path, self.size, self.mtime_ns, self.ctime_ns, self.inode, self.digest, self.hashed_ns]

    def is_that_of(self, found: os.stat_result) -> bool:
        """Whether the file on the disk is this one for sure."""
        same = (self.size, self.mtime_ns, self.ctime_ns, self.inode) == _state(found)
        return same and self.is_settled

    @property
    def is_settled(self) -> bool:
        """Whether no later edit could have left the same state."""
        changed = max(self.mtime_ns, self.ctime_ns) if os.name == "nt" else self.ctime_ns
        return changed + REST_NS < self.hashed_ns


def _state(found: os.stat_result) -> tuple[int, int, int, int]:
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def read_states(listed: object) -> dict[str, FileState]:
    """The states of a record by path; empty where it is not of the form that `FileState.as_list` gives."""
    kinds = (str, int, int, int, int, str, int)
    found: dict[str, FileState] = {}
    for entry in listed if isinstance(listed, list) else ():
        if not isinstance(entry, list) or tuple(map(type, entry)) != kinds:
            return {}
        found[entry[0]] = FileState(*entry)
    return found


def file_states(
    files: Sequence[tuple[str, Path]],
    known: Mapping[str, FileState],
    progress: Callable[[str, int, int], None] | None = None,
    digest_of: Callable[[Path], str] | None = None,
) -> tuple[list[FileState], bool]:
    """The states of all files, in their order, and whether they are those that were known, all of them settled.

    Only files whose state is not known, or not settled, are read, by ``digest_of`` (default: SHA-256). Raises
    `RagdataError` where a file goes away or is being written to.
    """
    found: list[FileState] = []
    same = True
    total = len(files)
    for number, (_, path) in enumerate(files):
        place = str(path.absolute())
        before = known.get(place)
        if before is not None and before.is_that_of(_stat(path)):
            found.append(before)
            continue
        same = False
        if progress is not None:
            progress(f"looking for changes in {path.name}", number, total)
        found.append(_hashed(path, place, digest_of or file_digest))
    return found, same


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except FileNotFoundError:
        raise RagdataError(f"{path} went away while it was read") from None


def _hashed(path: Path, place: str, digest_of: Callable[[Path], str]) -> FileState:
    for _ in range(_TRIES):
        began = time.time_ns()
        before = _state(_stat(path))
        digest = digest_of(path)
        if _state(_stat(path)) == before:
            return FileState(place, *before, digest, began)
    raise RagdataError(f"{path} is being written to; run the command again when that is done")


def digest_of_files(files: Iterable[tuple[str, Path]], states: Iterable[FileState]) -> str:
    """The digest over all files (names and contents): that of `source_digest`."""
    from hashlib import sha256  # see `file_digest`

    whole = sha256()
    named = sorted((name, path, state.digest) for (name, path), state in zip(files, states, strict=True))
    for name, _, digest in named:
        whole.update(f"{digest}  {name}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest()


def are_unchanged(states: Iterable[FileState]) -> bool:
    """Whether all files are still there with the content of the record; reads those whose state differs."""
    for state in states:
        path = Path(state.path)
        try:
            if state.is_that_of(path.stat()):
                continue
            if file_digest(path) != state.digest:
                return False
        except OSError:
            return False
    return True
