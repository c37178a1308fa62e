"""A process that sees how the command ends, for libraries that may end it.

Ray ends the process that uses a node together with the node: silently, and with the exit code of data that has
errors.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn

_PARENT_IS_GONE = 1
"""Of Linux: what to get when the process that made this one ends."""


def go_on_in_a_child(ended: str) -> None:
    """Do the rest of the command in a child. The process itself waits for that, and ends as it does; where the child
    has not come to an end of its own, it says ``ended``, with exit code 2. Without ``fork`` nothing is done."""
    if not hasattr(os, "fork"):
        return
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        _wait(child, reading, ended)
    os.close(reading)
    _end_with_parent()
    atexit.register(os.write, writing, b".")


def _end_with_parent() -> None:
    """Where Linux can be told so: nobody would see what goes on."""
    import ctypes

    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).prctl(_PARENT_IS_GONE, signal.SIGKILL)


def _wait(child: int, reading: int, ended: str) -> NoReturn:
    def hand_on(number: int, _frame: FrameType | None) -> None:
        with suppress(ProcessLookupError):
            os.kill(child, number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, hand_on)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code < 0:  # by a signal
        with suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    if code <= 1 and not _has_said(reading):
        code = 2
        os.write(2, f"ragdata: {ended}\n".encode())
    os._exit(code)


def _has_said(reading: int) -> bool:
    os.set_blocking(reading, False)  # others may have the end for writing, too
    try:
        return bool(os.read(reading, 1))
    except BlockingIOError:
        return False
