"""What the machine did not have enough of: memory, threads, file handles, room on the disk. None is a fault of data."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping

from ragdatakit.schemas.errors import MachineError

_MEMORY = "there is not enough memory; give the machine more or raise its limit (ulimit -v), or lower --memory-limit"
DATABASE_MEMORY = "the database has not enough memory; raise --memory-limit, or give the machine more (ulimit -v)"
_THREADS = "no further thread can be started; raise the limit of processes (ulimit -u) or of memory (ulimit -v)"
_FILES = "too many files are open at once; raise the limit (ulimit -n)"
_ERRORS: Mapping[int, str] = {
    errno.ENOMEM: _MEMORY,
    errno.EMFILE: _FILES,
    errno.ENFILE: "too many files are open on this machine; close other programs",
    errno.ENOSPC: "no space left on the disk; make room, or write elsewhere",
    errno.EDQUOT: "the disk quota is used up; make room, or write elsewhere",
}
_SAYINGS = (
    ("can't start new thread", _THREADS),
    ("Resource temporarily unavailable", _THREADS),
    ("std::bad_alloc", _MEMORY),
    ("failed to map segment", _MEMORY),
    ("Cannot allocate memory", _MEMORY),
    ("failed to pin block", DATABASE_MEMORY),
)
"""How libraries say it that have no exception of its own for it."""

_LEAST_SPACE: Mapping[str, int] = {"columns": 3 << 29, "numbers": 256 << 20}
"""Bytes of address space below which a library ends the process while it is loaded, by what it is for."""


_MOST_USUAL_JOBS = 8


def processors() -> int:
    """How many processors the process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def usual_jobs() -> int:
    """How many workers a validation has by default: one for each processor, at most 8."""
    return min(processors(), _MOST_USUAL_JOBS)


def machine_fault(error: BaseException) -> str:
    """What ran out and what to do, in words; empty where the error is of the data, of the options or of the code."""
    if isinstance(error, MachineError):
        return str(error)
    if isinstance(error, MemoryError):
        return _MEMORY
    if type(error).__name__ == "OutOfMemoryException":  # of DuckDB, which need not be imported for this
        return DATABASE_MEMORY
    if isinstance(error, OSError):
        words = _ERRORS.get(error.errno or 0, "")
        where = f"{os.fsdecode(error.filename)}: " if words and isinstance(error.filename, str | bytes) else ""
        return where + words
    if isinstance(error, RuntimeError | ImportError) or type(error).__module__ == "_duckdb":
        return next((words for saying, words in _SAYINGS if saying in str(error)), "")
    return ""


def refuse_machine_fault(error: BaseException) -> None:
    """Raise `MachineError` where the machine ran out of something: no check may count it as its own failure."""
    if message := machine_fault(error):
        raise MachineError(message) from error


def refuse_little_space(use: str) -> None:
    """Raise `MachineError` where the address space is limited to less than a library bears: it would end the process
    by a signal. ``use`` is "columns" (Arrow and DuckDB) or "numbers" (numpy)."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    least, limit = _LEAST_SPACE[use], resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < least:
        raise MachineError(
            f"the address space is limited to {limit >> 20:,} MiB (ulimit -v); this needs at least {least >> 20:,} MiB"
        )
