"""Runs a command in a fresh process and measures it: seconds, processor seconds, peak memory with its children."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.05
MEGABYTE = 1_000_000
LAST_BYTES = 1 << 16
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run: ``seconds`` is the wall time of the whole process, ``cpu_seconds`` user and system time.

    ``megabytes`` is the peak of resident memory, children included. It cannot be less than the memory of the process
    that measures, since a child starts as its copy: that process must stay small. ``output`` and ``errors`` are the
    ends of what it said.
    """

    seconds: float
    cpu_seconds: float
    megabytes: float
    exit_code: int
    output: str
    errors: str


def measure(command: Sequence[str], limit_seconds: float = 3600, cores: int = 0) -> Sample:
    """Run the command to its end; one that takes longer than ``limit_seconds`` is killed (exit code -9).

    ``cores``: on so many of the processors that this process may use (0: all)."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        with _on(cores):  # which the child inherits
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, env=_usual())
        watch = _Watch(process, limit_seconds)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        peak = max(usage.ru_maxrss * 1024, watch.stop())
        return Sample(
            seconds=seconds,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            megabytes=peak / MEGABYTE,
            exit_code=process.returncode,
            output=_read(output.fileno()),
            errors=_read(errors.fileno()),
        )


def _usual() -> dict[str, str]:
    """The environment of users: without what would have every run compile the package anew."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextmanager
def _on(cores: int) -> Iterator[None]:
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[: cores or len(allowed)])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _read(descriptor: int) -> str:
    """The end of what a process said: all of it would make this process large, and with it the next one."""
    start = max(os.fstat(descriptor).st_size - LAST_BYTES, 0)
    return os.pread(descriptor, LAST_BYTES, start).decode(errors="replace")


class _Watch:
    """Adds up the memory of a process and its children now and then, and kills it at its limit."""

    def __init__(self, process: subprocess.Popen[bytes], limit_seconds: float) -> None:
        self._process = process
        self._end = time.monotonic() + limit_seconds
        self._peak = 0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> int:
        """End the watch; returns the most bytes seen while there were children (0: there were none)."""
        self._over.set()
        self._thread.join()
        return self._peak

    def _run(self) -> None:
        while not self._over.wait(POLL_SECONDS):
            family = _family(self._process.pid)
            if len(family) > 1:
                self._peak = max(self._peak, sum(_resident(pid) for pid in family))
            if time.monotonic() > self._end:
                os.kill(self._process.pid, 9)
                return


def _family(pid: int) -> list[int]:
    found = [pid]
    for member in found:
        try:
            children = Path(f"/proc/{member}/task/{member}/children").read_text()
        except OSError:
            continue
        found += [int(child) for child in children.split()]
    return found


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0
