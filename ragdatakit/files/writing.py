"""Files written whole or not at all: beside the target first, then moved into place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from ragdatakit.files.folder_locks import make_beside, remove_abandoned, stem_beside


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
                os.fsync(file.fileno())
            part.chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask())
            part.replace(path)
    except OSError as error:
        if error.errno and _is_beside(error.filename, path):
            raise OSError(error.errno, error.strerror, str(given)) from None
        raise


@contextmanager
def part_of(path: Path) -> Iterator[Path]:
    """Where to write what is to take the place of ``path``: a file in a folder beside it, which goes away when the
    block ends. One that a killed process left is removed by the next that writes to the same place."""
    _remove_abandoned(path.parent)
    folder, lock = make_beside(path)
    try:
        yield folder / path.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if lock >= 0:
            os.close(lock)


@cache
def _remove_abandoned(parent: Path) -> None:
    """Looked for once in each folder: thousands of files may be written to it."""
    with suppress(OSError):  # a folder that may be written to, but not listed
        remove_abandoned(parent)


def _is_beside(name: object, path: Path) -> bool:
    """Whether an error is about the file that is written, not about one that is read on the way."""
    return name is None or os.fsdecode(str(name)).startswith(str(path.parent / stem_beside(path)))


def umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
