"""Files written whole or not at all: next to the target first, then moved into place."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ragdatakit.files.paths.folder_locks import FolderBeside, remove_abandoned, stem_beside

_OF_WRITING = {errno.ENOSPC, errno.EFBIG, errno.EROFS, errno.EDQUOT} if hasattr(errno, "EDQUOT") else {errno.ENOSPC}


def write_whole(path: Path, data: bytes) -> None:
    """Write ``data`` to ``path``; a crash or a full disk leaves the old file as it was. Raises `OSError`, which names
    ``path``."""
    write_pieces(path, (data,))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write to ``path`` all pieces, as they are made: the old file stays as it was until the last one is written.

    Where ``path`` is a pipe, it is written to as long as somebody reads it.
    """
    given, path = path, path.absolute()
    if path.exists() and not path.is_file():  # a device or a pipe: there is nothing to replace
        with suppress(BrokenPipeError), path.open("wb") as file:
            file.writelines(pieces)
        return
    try:
        with part_of(path) as part:
            with part.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                flush_to_disk(file.fileno(), path)
            part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask())
            part.replace(path)
    except OSError as error:
        raise named(error, path, given) from None


@contextmanager
def part_of(path: Path) -> Iterator[Path]:
    """Where to write what is to take the place of ``path``: a file in a folder next to it, which goes away when the
    block ends. One that a killed process left is removed by the next that writes to the same place."""
    _remove_abandoned(path.parent)
    with FolderBeside(path) as folder:
        yield folder / path.name


@cache
def _remove_abandoned(parent: Path) -> None:
    """Looked for once in each folder: thousands of files may be written to it."""
    with suppress(OSError):  # a folder that may be written to, but not listed
        remove_abandoned(parent)


def named(error: OSError, path: Path, given: Path | None = None) -> OSError:
    """The error with the name of what was to be written (``path``, ``given`` by the user) where it has none, or that of
    a file next to it; else as it is: it may be about a file that is read on the way."""
    name = error.filename
    beside = name is not None and os.fsdecode(str(name)).startswith(str(path.parent / stem_beside(path)))
    if error.errno is None and "requested and" in str(error):  # numpy's, of a write that came to an end too early
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(given or path))
    if beside or (name is None and error.errno in _OF_WRITING):
        return OSError(error.errno, error.strerror, str(given or path))
    return error


def flush_to_disk(handle: int, path: Path) -> None:
    """Wait until a file is on the disk. Raises `OSError`, which names ``path``."""
    try:
        os.fsync(handle)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
