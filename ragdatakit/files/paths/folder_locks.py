"""Folders that one process has for itself: a lock says that it lives, and what is not locked may be removed."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from weakref import finalize

from ragdatakit.late_patterns import late_pattern

DIGITS = 12
"""Of the number at the end of the name of a folder next to a target."""
_BESIDE = late_pattern(rf"\..*\.ragdata-[0-9a-f]{{{DIGITS}}}", re.DOTALL)
_LONGEST_STEM = 100


def lock_folder(folder: Path, shared: bool = False) -> int:
    """Lock a folder for as long as this process lives, or until the handle that is returned is closed; -1 where another
    process has it, the folder is a link, or the system has no such locks. Several may have a ``shared`` lock."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (ImportError, AttributeError, OSError):
        return -1
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return -1
    return handle


def remove_unlocked(folder: Path) -> None:
    """Remove a folder that no living process has locked. What cannot be removed stays."""
    lock = lock_folder(folder)
    if lock >= 0:
        _remove(folder)
        os.close(lock)


def stem_beside(target: Path) -> str:
    """What the names of all folders begin with that are made next to a target."""
    name = os.fsencode(target.name)[:_LONGEST_STEM].decode("utf-8", "ignore")  # a name has at most 255 bytes
    return f".{name}.ragdata-"


def name_beside(target: Path, kind: str = "") -> Path:
    """A new name for a folder next to a target."""
    return target.with_name(f"{stem_beside(target)}{kind}{os.urandom(DIGITS // 2).hex()}")


def make_beside(target: Path) -> tuple[Path, int]:
    """A new folder next to a target for what is to take its place, and its lock (-1 where there is none)."""
    made = name_beside(target, "new-")  # under this name nobody takes it for one that was left behind
    lock = -1
    try:
        made.mkdir(mode=0o700)
        lock = lock_folder(made)
        return made.rename(name_beside(target)), lock
    except BaseException:  # also a signal
        with suppress(OSError):
            made.rmdir()
        if lock >= 0:
            os.close(lock)
        raise


class FolderBeside:
    """A context in which there is a new folder next to a target, for what is to take its place.

    It goes away with the ``with`` block, or `remove`, or at the latest when the process ends.
    """

    def __init__(self, target: Path) -> None:
        self._target = target

    def __enter__(self) -> Path:
        folder, lock = make_beside(self._target)
        self.remove = finalize(self, remove_locked, folder, lock, os.getpid())
        return folder

    def __exit__(self, *_: object) -> None:
        self.remove()


def remove_locked(folder: Path, lock: int, process: int) -> None:
    """Remove a folder of a process and let its lock go; in a fork of that process nothing happens."""
    if os.getpid() != process:
        return
    _remove(folder)
    if lock >= 0:
        os.close(lock)


def _remove(folder: Path) -> None:
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def remove_abandoned(parent: Path) -> None:
    """Remove what was made next to any target in a folder by runs that were killed."""
    with os.scandir(parent) as entries:
        left = sorted(entry.name for entry in entries if _BESIDE.fullmatch(entry.name) and not entry.is_symlink())
    for name in left:
        remove_unlocked(parent / name)
