"""Files written whole or not at all: beside the target first, then moved into place."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


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
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~umask()
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno and _is_beside(error.filename, path):
            raise OSError(error.errno, error.strerror, str(given)) from None
        raise


def _is_beside(name: object, path: Path) -> bool:
    """Whether an error is about the file that is written, not about one that is read on the way."""
    return name is None or os.fsdecode(str(name)).startswith(str(path.parent / f".{path.name}."))


def umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
