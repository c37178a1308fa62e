"""Scratch folders for what does not fit into memory; none is left for long, whatever ends the process."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from types import TracebackType
from weakref import finalize

from ragdatakit.files.paths.folder_locks import lock_folder, remove_locked, remove_unlocked
from ragdatakit.late_patterns import late_pattern

_STEM = "ragdata-scratch-"
_NAME = late_pattern(f"{_STEM}[0-9a-f]{{12}}")


class ScratchFolder:
    """A new folder, ``path``, in a folder (None: where the system keeps temporary files). It goes away with `remove`,
    with the ``with`` block, or at the latest when the process ends.

    A process that is killed leaves it. It is locked while the process lives, so that the first scratch folder of the
    next run can remove those of the same user that are not.
    """

    def __init__(self, place: Path | None = None) -> None:
        import tempfile

        place = place or Path(tempfile.gettempdir())
        _remove_abandoned(place)
        # Under this name nobody takes it for an abandoned one.
        made = Path(tempfile.mkdtemp(prefix="ragdata-new-", dir=place))
        lock = lock_folder(made)
        try:
            self.path = made.rename(place / f"{_STEM}{os.urandom(6).hex()}")
        except BaseException:
            remove_locked(made, lock, os.getpid())
            raise
        self._finalizer = finalize(self, remove_locked, self.path, lock, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Remove the folder with what is in it; nothing happens where that was done before."""
        self._finalizer()


@cache
def _remove_abandoned(place: Path) -> None:
    """Remove what runs that were killed left (looked for once). Folders of other users are not touched."""
    if not hasattr(os, "geteuid"):
        return
    with os.scandir(place) as entries:
        names = [entry.name for entry in entries if _NAME.fullmatch(entry.name)]
    for name in names:
        folder = place / name
        try:
            ours = folder.lstat().st_uid == os.geteuid()
        except OSError:  # another run was quicker
            continue
        if ours:
            remove_unlocked(folder)
