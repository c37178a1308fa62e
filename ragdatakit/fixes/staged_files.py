"""The files of a dataset in new versions, written next to them (or elsewhere, to be shown only) and put in their places
together.

A file is replaced, never written into: a kill leaves the old one or the new one. What lies next to the files goes away
with this process, or when a small companion process notices its end.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from ragdatakit.files.containers.beginnings import BOM, GZIP_MAGIC
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.paths.folder_locks import FolderBeside, remove_abandoned
from ragdatakit.files.paths.project import project_root
from ragdatakit.files.paths.writing import flush_to_disk, named
from ragdatakit.fixes.applying import PlainFile
from ragdatakit.fixes.not_text import seen_in_head, seen_in_lines
from ragdatakit.outputs.file_states import present_state
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.outputs.staging import companion, dismiss

if TYPE_CHECKING:
    from types import TracebackType

    Fill = Callable[[PlainFile, IO[bytes]], Any]


class ChangedMeanwhileError(Exception):
    """A file is not any more what was read."""


class CannotUnpackError(Exception):
    """What a compressed file holds is not known whole."""


class StagedFiles:
    """A context with the versions of a dataset's files; outside of it each has its own path again.

    ``beside``: versions are written next to the files and may be put in their places.
    """

    def __init__(self, dataset: Dataset, beside: bool) -> None:
        self._dataset = dataset
        self._beside = beside
        self._stack = ExitStack()
        self._folders: dict[Path, Path] = {}
        self._boundaries = {file: file.boundary for file in dataset.files}
        self._seen = {file: present_state(file.path) for file in dataset.files}
        self._number = 0
        self._doubted: set[str] = set()
        self._not_text: dict[tuple[DataFile, bool], str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file, boundary in self._boundaries.items():
            file.path, file.boundary = file.place, boundary
        self._stack.close()

    def see(self, faults: Iterable[tuple[str, str]]) -> None:
        """Of which kinds of files, by rules and kinds, some are not UTF-8."""
        self._doubted |= {kind for rule, kind in faults if rule == "invalid-utf8"}

    def is_unchanged(self, file: DataFile) -> bool:
        """Whether a file is on the disk as it was at the beginning."""
        return self._seen[file] is not None and present_state(file.place) == self._seen[file]

    def refusal(self, file: DataFile) -> str:
        """Why a file cannot be replaced; empty where it can."""
        path = file.place
        root = self._dataset.root
        real = os.path.realpath(path)
        below = os.path.relpath(path, root)
        if path.is_symlink() or (not below.startswith("..") and os.path.join(os.path.realpath(root), below) != real):  # noqa: PTH118
            return "the file is a link, or lies behind one, and nothing is written through links"
        if below.startswith("..") and not Path(real).is_relative_to(project_root()):
            return "the file is outside of the project, and a configuration does not decide what is written there"
        if not os.access(path, os.W_OK):
            return "the file is read-only"
        if not self.is_unchanged(file):
            return "the file changed while it was read"
        return self._seen_in(file)

    def _seen_in(self, file: DataFile) -> str:
        known = file, file.kind in self._doubted
        if known not in self._not_text:
            place = file.place, self._boundaries[file]
            try:
                self._not_text[known] = seen_in_head(*place) or (seen_in_lines(*place) if known[1] else "")
            except OSError as error:
                self._not_text[known] = f"the file cannot be read: {error.strerror or error}"
        return self._not_text[known]

    def add(self, file: DataFile, fill: Fill) -> Any:
        """The next version of a file, which ``fill`` writes, given the version before. Raises `OSError`, and
        `CannotUnpackError`."""
        own = file.place
        try:
            return self._add(file, own, fill)
        except OSError as error:
            raise named(error, own) from None

    def _add(self, file: DataFile, own: Path, fill: Fill) -> Any:
        self._number += 1
        place = self.folder(own) / str(self._number)
        place.mkdir()
        version = place / own.name
        packed = _is_packed(file.path)
        plain = _unpacked(file.path, place / "plain") if packed else file.path
        source = PlainFile(plain)
        try:
            with version.open("xb") as raw:
                if packed:
                    import gzip

                    with gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as target:
                        made = fill(source, target)  # type: ignore[arg-type]  # it writes as a file does
                else:
                    made = fill(source, raw)
        finally:
            source.close()
        if packed:
            plain.unlink()
        file.path = version
        file.boundary = file.boundary.with_root(place)
        return made

    def folder(self, path: Path) -> Path:
        """A folder of ours on the disk of a file."""
        parent = path.parent if self._beside else Path()
        if parent not in self._folders:
            if self._beside:
                with suppress(OSError):
                    remove_abandoned(parent)
                folder = self._stack.enter_context(FolderBeside(path))
                self._stack.callback(dismiss, companion(folder))
            else:
                folder = self._stack.enter_context(ScratchFolder())
            self._folders[parent] = folder
        return self._folders[parent]

    def changed(self) -> list[DataFile]:
        """The files that have another version than their own."""
        return [file for file in self._boundaries if file.path != file.place]

    def commit(self) -> None:
        """Put all versions in their places. Raises `ChangedMeanwhileError` before anything is done, `OSError` after
        which all is as it was."""
        files = self.changed()
        for file in files:
            _prepare(file.path, file.place)
        for file in files:
            if reason := self.refusal(file):
                raise ChangedMeanwhileError(f"{file.display}: {reason}")
        done: list[tuple[Path, Path]] = []
        try:
            for file in files:
                own = file.place
                old = file.path.with_name("old")
                os.link(own, old, follow_symlinks=False)
                done.append((old, own))
                file.path.replace(own)
        except BaseException as error:  # also a signal
            for old, own in done:
                with suppress(OSError):
                    old.replace(own)
            if isinstance(error, OSError):
                raise named(error, own) from None
            raise
        for parent in {file.place.parent for file in files}:
            _flush_folder(parent)


def _is_packed(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GZIP_MAGIC)) == GZIP_MAGIC


def _unpacked(path: Path, target: Path) -> Path:
    source = Source(path, gz=True)
    with target.open("xb") as plain:
        for number, piece in enumerate(source.pieces()):
            plain.write(BOM + piece if source.bom and not number else piece)
    if source.faults:
        raise CannotUnpackError("it cannot be unpacked as a whole")
    return target


def _prepare(version: Path, own: Path) -> None:
    """Give a version the permissions of the file, and have it on the disk."""
    info = own.stat()
    with suppress(OSError, AttributeError):
        if (info.st_uid, info.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(version, info.st_uid, info.st_gid)
    version.chmod(info.st_mode & 0o7777)
    with version.open("rb") as file:
        flush_to_disk(file.fileno(), own)


def _flush_folder(folder: Path) -> None:
    """Have the names in a folder on the disk, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
