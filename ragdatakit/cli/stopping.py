"""A run that is ended from outside lets go of its scratch folders and of what it was writing."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

_GRACE = 10.0
_NAMES = ("SIGTERM", "SIGHUP")
_INTERRUPTED = "Query interrupted"


class EndedBySignal:
    """A context in which SIGTERM and SIGHUP end the run as an exception does, with `code` 128 + their number.

    By default they end a process on the spot. A signal that the caller ignores (``nohup``) stays ignored. A run that
    does not come to its end within ten seconds is ended all the same.
    """

    def __init__(self) -> None:
        self.code = 0
        self._before: list[tuple[signal.Signals, Any]] = []

    def __enter__(self) -> Self:
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:
                with suppress(ValueError):  # not in the main thread, to which signals go
                    self._before.append((number, signal.signal(number, self._end)))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.code:  # else a second signal must not disturb the end of the process
            for number, before in self._before:
                signal.signal(number, before)

    def _end(self, number: int, _frame: FrameType | None) -> None:
        if self.code:
            return
        self.code = 128 + number
        last = threading.Timer(_GRACE, os._exit, (self.code,))
        last.daemon = True
        last.start()
        raise SystemExit(self.code)


def is_interrupted(error: Exception) -> bool:
    """Whether it is what DuckDB makes of the exception of a signal that came while it was busy."""
    return isinstance(error, RuntimeError) and str(error) == _INTERRUPTED


def leave(code: int) -> NoReturn:
    """End the process. DuckDB looks for no interrupt while it plans a query: where it is still busy, Python must not be
    taken apart around it."""
    if threading.active_count() > 1:
        from ragdatakit.database.select_statements import QUERY_THREAD

        if any(thread.name == QUERY_THREAD for thread in threading.enumerate()):
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError, ValueError):  # nobody reads it any more, or it is closed
                    stream.flush()
            os._exit(code)
    sys.exit(code)
