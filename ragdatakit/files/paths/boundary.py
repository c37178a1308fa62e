"""What may be read of a dataset: the files below the path that the user named, and none that links in it lead out to.

Every command and the Python interface keep to this one rule, where files are opened:

- The path that the user names is read wherever it leads, also if it is a link itself.
- Below it a link is followed as long as its target lies below it, too. ``--follow-links`` lifts that.
- What is in a ``.git`` folder below the path is no data, and may hold a token: no link is followed there.
- A folder of the Hugging Face cache (``datasets--…/snapshots/REVISION``) holds links to ``blobs`` next to it, which
  belongs to it.
- A hard link is a file like any other: nothing says which of its names is the first one, and many programs that copy
  or unpack make them. So it is read; outputs are new files that take the place of the old one (`writing.py` here,
  `outputs/staging.py`), so that nothing is ever written through one.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import IO

from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.schemas.errors import RagdataError

LEADS_OUT = "it is a link that leads out of the dataset, which is not followed"
_OPEN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_PLACE = getattr(os, "O_PATH", None)
_DESCRIPTORS = "/proc/self/fd"
_GIT = f"{os.sep}.git{os.sep}"
_CACHED = ("datasets--", "models--", "spaces--")


class LeadsOutError(OSError):
    """A file that is not opened, as a link leads to it out of what the user named."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EACCES, LEADS_OUT, str(path))


class Boundary:
    """The folders and files below which everything that is opened has to lie, links resolved.

    ``roots`` are real paths; None lets everything pass.
    """

    __slots__ = ("_below", "_roots")

    def __init__(self, roots: tuple[str, ...] | None) -> None:
        self._roots = roots
        self._below = tuple(root.rstrip(os.sep) + os.sep for root in roots or ())

    def holds(self, path: Path | str) -> bool:
        """Whether ``path`` may be opened, as far as links lead now; one that cannot be resolved may not be."""
        if self._roots is None:
            return True
        try:
            return self._has(_led_to(path))
        except (OSError, ValueError):
            return False

    def holds_plain(self, path: str, led_to: dict[str, str]) -> bool:
        """The same of a file that is no link, of many: ``led_to`` are the folders looked up before, to where they lead.

        So it may be behind the time; `descriptor` looks at what it has opened.
        """
        if self._roots is None:
            return True
        folder, name = os.path.split(path)
        try:
            real = led_to.get(folder) or led_to.setdefault(folder, _led_to(folder or os.curdir))
        except (OSError, ValueError):
            return False
        return self._has(os.path.join(real, name))  # noqa: PTH118 - of very many files

    def _has(self, real: str) -> bool:
        if self._roots is None or real in self._roots:
            return True
        if _GIT not in real:
            return real.startswith(self._below)
        return any(real.startswith(below) and _GIT not in real[len(below) - 1 :] for below in self._below)

    def descriptor(self, path: Path | str, plain: bool = False) -> int:
        """A regular file, opened for reading: what is opened is what was looked at, whoever moves links meanwhile.

        ``plain``: the file was no link a moment ago. Where each part of the path leads is then not looked up before,
        only what was opened. Raises `LeadsOutError`, or another `OSError`: a pipe is not waited for.
        """
        if not plain and not self.holds(path):
            raise LeadsOutError(Path(path))
        try:
            handle = os.open(path, _OPEN | _NO_LINK if plain else _OPEN)
        except OSError as error:
            if plain and error.errno == errno.ELOOP:  # it is a link by now
                return self.descriptor(path)
            refuse_machine_fault(error)  # that nothing more can be opened says nothing about this file
            raise
        try:
            mode = os.fstat(handle).st_mode
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
            if not stat.S_ISREG(mode):
                raise OSError(errno.EINVAL, "it is not a regular file", str(path))
            if self._roots is not None and not self._is_inside(handle, path):
                raise LeadsOutError(Path(path))
        except BaseException:
            os.close(handle)
            raise
        return handle

    def _is_inside(self, handle: int, path: Path | str) -> bool:
        """Whether an open file is one that the path leads to inside of the roots."""
        try:
            if self._has(os.readlink(f"{_DESCRIPTORS}/{handle}")):  # noqa: PTH115 - of very many files
                return True
        except OSError:  # no such system
            pass
        real = os.path.realpath(path)
        return self._has(real) and os.path.samestat(os.fstat(handle), Path(real).stat())

    def open(self, path: Path | str, buffering: int = -1) -> IO[bytes]:
        """`descriptor` as a file object."""
        return os.fdopen(self.descriptor(path), "rb", buffering)

    def read_bytes(self, path: Path | str) -> bytes:
        """All of a file. Raises as `descriptor` does."""
        with self.open(path) as file:
            return file.read()

    def with_root(self, path: Path) -> Boundary:
        """The same with one more file or folder, which a configuration names."""
        return Boundary((*self._roots, *_real(path))) if self._roots is not None else self


ANYWHERE = Boundary(None)
"""Everything may be read: files that the user named one by one, and with ``--follow-links``."""


def listed_file(path: Path) -> Path:
    """The place of a file that lies within its boundary, to be opened later by `open_listed`."""
    return real_path(path)


def open_listed(path: Path) -> IO[bytes]:
    """A `listed_file`, opened: not if it has become a link meanwhile. Raises as `Boundary.descriptor` does."""
    return Boundary((str(path),)).open(path)


def read_listed(path: Path) -> bytes:
    """All of a `listed_file`."""
    with open_listed(path) as file:
        return file.read()


def boundary_of(path: Path, follow_links: bool = False) -> Boundary:
    """What may be read where the user names ``path``: what lies below it; of a file it and its folder."""
    if follow_links:
        return ANYWHERE
    roots = [*_real(path), *_real(path if _is_folder(path) else path.parent)]
    for root in dict.fromkeys(roots):
        roots += _blobs(root)
    return Boundary(tuple(dict.fromkeys(roots)))


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def _real(path: Path) -> list[str]:
    try:
        return [_led_to(path)]
    except (OSError, ValueError):
        return []


def _blobs(root: str) -> list[str]:
    """The folder with the contents of a snapshot in a cache of the hub; none where ``root`` is in no snapshot."""
    place = Path(root)
    for folder in (place, *place.parents):
        repository = folder.parent.parent
        if folder.parent.name == "snapshots" and repository.name.startswith(_CACHED):
            blobs = str(repository / "blobs")
            return [blobs] if _is_folder(Path(blobs)) and os.path.realpath(blobs) == blobs else []
    return []


def real_path(path: Path) -> Path:
    """Where links lead; of links that go round in a circle the path as it is, where `Path.resolve` raises."""
    return Path(_led_to(path))


def _led_to(path: Path | str) -> str:
    """`os.path.realpath`, which looks at each part of a path: Linux says at once where all of it leads."""
    if _PLACE is not None:
        try:
            handle = os.open(path, _PLACE | os.O_CLOEXEC)
        except (OSError, ValueError):
            return os.path.realpath(path)
        try:
            found = os.readlink(f"{_DESCRIPTORS}/{handle}")  # noqa: PTH115 - of very many files
        except OSError:
            found = ""
        finally:
            os.close(handle)
        if found.startswith(os.sep) and not found.endswith(" (deleted)"):
            return found
    return os.path.realpath(path)


def not_followed(path: Path | str) -> str:
    """That a file was not read, in words."""
    return f"{path} was not read: {LEADS_OUT} (--follow-links reads it)"


def refuse_link_out(boundary: Boundary, path: Path) -> None:
    """Raise `RagdataError` before a library opens a file by its path."""
    if not boundary.holds(path):
        raise RagdataError(not_followed(path))
