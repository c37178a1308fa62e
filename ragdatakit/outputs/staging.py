"""A folder that is written next to its place and moved there when it is whole: all of it, or nothing.

Whatever ends the process before that, the target is as it was. What was written so far is removed: by this process, by
a small companion process where this one was killed, or else by the next run for the same target.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from ragdatakit.files.paths.folder_locks import DIGITS, FolderBeside, name_beside, remove_unlocked, stem_beside
from ragdatakit.files.paths.writing import flush_to_disk, named, umask
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import subprocess

_OLD = "old-"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_AT_FDCWD_DARWIN, _RENAME_SWAP = -2, 2


class StagedFolder:
    """A context in which ``folder`` is filled; `commit` puts it in the place of ``target``.

    Raises `RagdataError` at once where the target could not be replaced: it is a file, or a folder with something in
    it while ``overwrite`` is not set.
    """

    def __init__(self, target: Path, overwrite: bool = False) -> None:
        self.target = _resolved(target)
        self.overwrite = overwrite
        refuse_target(target, overwrite)
        self._parents: list[Path] = []
        self.folder = self.target  # until there is one next to it
        self._beside = FolderBeside(self.target)
        self._companion: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._make_parents()
        _remove_stale(self.target)
        self.folder = self._beside.__enter__()
        self._companion = companion(self.folder)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._beside.remove()
        dismiss(self._companion)
        for parent in reversed(self._parents):  # folders made for a target that did not come to be
            with suppress(OSError):
                parent.rmdir()
        if isinstance(error, OSError) and (renamed := named(error, self.target)) is not error:
            raise renamed from None

    def commit(self) -> None:
        """Put the folder in its place: one step, after which the old content is removed."""
        self.folder.chmod(0o777 & ~umask())  # it was made for its owner alone, so that nobody reads what is not whole
        # again: a conversion may have run for hours, and somebody may have written there meanwhile
        refuse_target(self.target, self.overwrite)
        if not self.target.exists():
            self.folder.rename(self.target)
        elif not any(self.target.iterdir()):
            self._fill_empty()
        else:
            _flush_all(self.folder)  # the old content goes for good: the new one has to be on the disk
            self.folder.chmod(self.target.stat().st_mode & 0o7777)
            _exchange(self.folder, self.target)
        self._parents.clear()

    def _fill_empty(self) -> None:
        """An empty folder gives way; one that somebody is in is filled, so that they see it."""
        if self.target != Path.cwd():
            self.folder.rename(self.target)
            return
        for entry in sorted(self.folder.iterdir()):
            entry.rename(self.target / entry.name)

    def _make_parents(self) -> None:
        missing: list[Path] = []
        parent = self.target.parent
        while not parent.exists():
            missing.append(parent)
            parent = parent.parent
        for folder in reversed(missing):
            folder.mkdir()
            self._parents.append(folder)


def refuse_target(target: Path, overwrite: bool) -> None:
    """Raise `RagdataError` where a folder cannot be written at ``target``."""
    if target.is_symlink() and not target.exists():
        raise RagdataError(f"{target} is a link that leads nowhere")
    if target.exists() and not target.is_dir():
        raise RagdataError(f"{target} is a file; give a folder")
    if target.is_dir() and not overwrite and any(target.iterdir()):
        raise RagdataError(f"{target} is not empty; give another folder, or --overwrite to replace it")
    if (
        target.is_dir()
        and _resolved(target) in (Path.cwd(), *Path.cwd().parents, Path.home())
        and any(target.iterdir())
    ):
        raise RagdataError(f"{target} is the current folder, one above it or your home: it will not be replaced")


def _resolved(target: Path) -> Path:
    """Links are followed once, so that what they lead to is replaced, not they."""
    return target.resolve() if target.exists() else target.parent.resolve() / target.name


def _remove_stale(target: Path) -> None:
    """What runs for the same target left behind that were stopped with the machine.

    Where a system cannot exchange two folders in one step, the old content stands aside for a moment: if the target is
    not there, it comes back.
    """
    stem = stem_beside(target)
    for folder in sorted(target.parent.iterdir()):
        kind, number = folder.name.removeprefix(stem)[:-DIGITS], folder.name[-DIGITS:]
        ours = folder.name.startswith(stem) and kind in ("", _OLD) and not set(number) - set("0123456789abcdef")
        if not ours or len(number) < DIGITS or folder.is_symlink() or not folder.is_dir():
            continue
        if kind == _OLD and not target.exists():
            folder.rename(target)
            continue
        remove_unlocked(folder)


def companion(folder: Path) -> subprocess.Popen[bytes] | None:
    """A process that waits for the end of this one and removes the folder, if it is still there."""
    if os.name != "posix" or not Path("/bin/sh").exists():
        return None
    import subprocess  # where nothing is written, it is not needed

    # The pipe ends with this process, whatever ends it: SIGKILL and the out-of-memory killer leave no other chance. A
    # session of its own, as Ctrl+C would end both; from /, so that it keeps no file system from being unmounted.
    words = ["/bin/sh", "-c", 'cat > /dev/null; rm -rf -- "$1"', "ragdata-staging", str(folder)]
    try:
        return subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
        )
    except OSError:
        return None


def dismiss(process: subprocess.Popen[bytes] | None) -> None:
    """End a companion that has nothing left to do: its pipe may be held open by a process of the caller."""
    if process is not None and process.stdin is not None:
        process.kill()
        with suppress(OSError):
            process.stdin.close()
        process.wait()


def _flush_all(folder: Path) -> None:
    for root, _, names in os.walk(folder):
        for name in names:
            handle = os.open(Path(root, name), os.O_RDONLY)
            try:
                flush_to_disk(handle, Path(root, name))
            finally:
                os.close(handle)


def _exchange(new: Path, old: Path) -> None:
    """Two folders change names in one step, where the system can; else in two."""
    if _exchanged(os.fsencode(new), os.fsencode(old)):
        return
    aside = name_beside(old, _OLD)
    old.rename(aside)
    try:
        new.rename(old)
    except BaseException:
        aside.rename(old)
        raise
    import shutil

    shutil.rmtree(aside, ignore_errors=True)


def _exchanged(new: bytes, old: bytes) -> bool:
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            failed = library.renameatx_np(_AT_FDCWD_DARWIN, new, _AT_FDCWD_DARWIN, old, ctypes.c_uint(_RENAME_SWAP))
        else:
            failed = library.renameat2(_AT_FDCWD, new, _AT_FDCWD, old, ctypes.c_uint(_RENAME_EXCHANGE))
    except (AttributeError, OSError, TypeError):
        return False
    # kernels before 3.15, and file systems such as NFS, do not know the exchange: then two steps have to do
    if failed and ctypes.get_errno() not in (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), os.fsdecode(old))
    return not failed
