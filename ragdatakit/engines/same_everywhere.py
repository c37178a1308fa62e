"""What workers refuse: another version of ragdata, files that are not those of the process that asked."""

from __future__ import annotations

import os
import platform

from ragdatakit.files.containers.sources import file_state
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas.errors import EngineError
from ragdatakit.version import __version__


def refuse_another_version(version: str) -> None:
    """Raises `EngineError` where who asked has another version."""
    if version != __version__:
        words = f"ragdata {__version__} is asked to work for ragdata {version}"
        raise EngineError(f"{words}; install the same everywhere")


def refuse_another_file(file: DataFile, state: str) -> None:
    """Raises `EngineError` where a file cannot be read on this machine, or is not in the state that was planned."""
    where = f"{file.path} on {platform.node()}"
    try:
        with file.boundary.open(file.path) as opened:
            found = file_state(os.fstat(opened.fileno()))
    except OSError as error:
        words = f"{where} cannot be read ({error.strerror})"
        raise EngineError(f"{words}; put the data where all workers find it at this path") from None
    if found != state:
        words = f"{where} is not the file that was planned: its size or its time of change is another"
        raise EngineError(f"{words}; all workers have to read the same")
