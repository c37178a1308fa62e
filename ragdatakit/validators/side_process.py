"""A function of ours in a process of its own, so that other work goes on beside it on another processor.

The process is started afresh, not forked: the caller may have threads. It is not one of `multiprocessing` either, which
runs the caller's script once more.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

T = TypeVar("T")

# -I: what lies in the current folder, or is said in the environment, is nothing to be imported; then as it is here.
_CODE = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    "from ragdatakit.validators.side_process import serve; serve()"
)


def has_room() -> bool:
    """Whether there is a second processor, and a Python that can be started."""
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processors > 1 and bool(sys.executable) and not getattr(sys, "frozen", False)


class SideProcess(Generic[T]):
    """A context in which ``function(*args)`` runs in another process, which ends with the context at the latest.

    The function is one of a module; it, the arguments and the result are pickled.
    """

    def __init__(self, function: Callable[..., T], *args: Any) -> None:
        self._job = (function, args)
        self._answer = b""
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> Self:
        try:
            job = pickle.dumps(sys.path) + pickle.dumps(self._job)
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-c", _CODE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            self._send(job)
            self._reader.start()
        except (OSError, RuntimeError, pickle.PicklingError, AttributeError, TypeError):
            return self  # there will be no result: not even another thread can be started, maybe
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        process = self._process
        if process is None:
            return
        process.kill()
        process.wait()
        if self._reader.ident is not None:
            self._reader.join()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()

    def _send(self, job: bytes) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(job)
        self._process.stdin.flush()  # and left open: its end is the sign that nobody waits any more

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        self._answer = self._process.stdout.read()

    @property
    def ended(self) -> bool:
        """Whether the result is there, or there will be none."""
        return not self._reader.is_alive()

    def result(self) -> T | None:
        """The result, waited for; None where the process gave none: it could not be started, failed, or was killed."""
        if self._reader.ident is not None:
            self._reader.join()
        if not self._answer:
            return None
        found: T = pickle.loads(self._answer)  # noqa: S301 - of our own process
        return found


def serve() -> None:
    """In the process: run what comes from the caller, send back what it returns (nothing, where it fails)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the caller ends us
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    function, args = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own caller
    threading.Thread(target=_end_with_caller, daemon=True).start()
    status = 1
    with suppress(Exception), os.fdopen(answers, "wb") as stream:
        stream.write(pickle.dumps(function(*args)))
        status = 0
    os._exit(status)


def _end_with_caller() -> None:
    os.read(0, 1)
    os._exit(1)
