"""A bound on what a process of its own takes in addition to what it has: DuckDB keeps its own limit for a part of it
only.

Linux refuses what goes beyond, which DuckDB and Python report as an error. Other systems have no such bound that
counts: there the process looks at itself, and ends.
"""

from __future__ import annotations

import os
import resource
import sys
import threading
from pathlib import Path

ENDED_ITSELF = 86
"""The exit code of a process that had more than it may have."""
_SPARE, _UNCOUNTED = 160 << 20, 8
"""Bytes for what is not DuckDB's: threads, rows on their way; and which part of what it may take comes on top, for
memory that it has given back and its allocator keeps."""
_LOOKS = 0.02  # seconds between looks: short, as a query may take gigabytes within one second
_STATUS = Path("/proc/self/status")


class MemoryBound:
    """The process may take ``most`` bytes, and about an eighth to spare, more than it has when `set` is called; until
    `lift`."""

    def __init__(self, most: int) -> None:
        self._most = most + most // _UNCOUNTED + _SPARE
        self._until = 0
        self._watch: threading.Thread | None = None

    def set(self, counted: int = 0) -> None:
        """``counted`` of what it has counts as taken."""
        if sys.platform == "linux":
            self._limit(_data_bytes() - counted + self._most)
        elif sys.platform != "win32":
            self._until = _peak_bytes() - counted + self._most
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, daemon=True)
                self._watch.start()

    def lift(self) -> None:
        """From now on there is no bound."""
        self._until = 0
        if sys.platform == "linux":
            self._limit(None)

    @staticmethod
    def _limit(most: int | None) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        given = [value for value in (most, hard) if value is not None and value != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min(given, default=resource.RLIM_INFINITY), hard))

    def _look(self) -> None:
        pause = threading.Event()
        while not pause.wait(_LOOKS):
            if self._until and _peak_bytes() > self._until:
                os._exit(ENDED_ITSELF)


def _data_bytes() -> int:
    """What RLIMIT_DATA counts."""
    line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmData:"))
    return int(line.split()[1]) << 10


def _peak_bytes() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak << 10
