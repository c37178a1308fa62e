"""Folders that one process has for itself: a lock says that it lives, and what is not locked may be removed."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def lock_folder(folder: Path) -> int:
    """Lock a folder for as long as this process lives, or until the handle that is returned is closed; -1 where another
    process has it, the folder is a link, or the system has no such locks."""
    try:
        import fcntl

        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (ImportError, AttributeError, OSError):
        return -1
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return -1
    return handle


def remove_unlocked(folder: Path) -> None:
    """Remove a folder that no living process has locked. What cannot be removed stays."""
    lock = lock_folder(folder)
    if lock >= 0:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
