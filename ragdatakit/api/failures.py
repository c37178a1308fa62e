"""What to tell people where a command failed."""

from __future__ import annotations

import os

from ragdatakit.files.machine import machine_fault
from ragdatakit.files.paths.mirrors import as_given
from ragdatakit.schemas.errors import RagdataError


def failure_words(error: BaseException) -> str:
    """What failed, in one line: of the run, of the machine, or of the system; empty where the code is at fault."""
    return as_given(_words(error))


def _words(error: BaseException) -> str:
    if isinstance(error, RagdataError):
        return str(error)
    if fault := machine_fault(error):
        return fault
    if not isinstance(error, OSError):
        return ""
    if error.strerror:
        return f"{os.fsdecode(error.filename)}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error) or type(error).__name__
