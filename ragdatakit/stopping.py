"""Ends a run that gets a signal: scratch folders and half-written files are let go, and nothing but "stopped" is said.

The first module that the command imports, so that a signal at any later time finds a handler: it imports little.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found] # the part of `signal` that is in C: enough here
import _thread
import atexit
import os
import sys
import time
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Any, NoReturn, Self

_GRACE = 10.0
_LATER = 0.05
_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_NOT_HALF = frozenset(
    {
        "importlib._bootstrap",  # libraries in C crash there, or report another error
        "tempfile",  # it leaves a file behind where it looks for a folder to use
        "ragdatakit.files.paths.folder_locks",
        "ragdatakit.outputs.scratch",
        "ragdatakit.outputs.staging",
    }
)
"""Modules whose functions are not left half done: what they make is then known to whoever removes it."""
_INTERRUPTED = "Query interrupted"
_TOOLS, _UNWRITTEN = 6, 120
"""Tools that Python's monitoring may have, and the code with which Python ends where output cannot be written."""


def end_at_once() -> None:
    """From now on a signal ends the process on the spot, in one line: for as long as nothing is read or written."""
    for number in _signals():
        with suppress(ValueError):  # not in the main thread, to which signals go
            signal.signal(number, _stop_here)


def ending_signals() -> list[int]:
    """The signals that end a run."""
    return [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


def _signals() -> list[int]:
    """Those that may be handled; not one that the caller ignores (``nohup``, or behind a shell)."""
    return [
        n for n in ending_signals() if signal.getsignal(n) in (signal.SIG_DFL, signal.default_int_handler, _stop_here)
    ]


def _stop_here(number: int, _frame: FrameType | None) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"ragdata: stopped\n")
    os._exit(128 + number)


class EndedBySignal:
    """A context in which SIGINT, SIGTERM and SIGHUP end the run by a `SystemExit`, with `code` 128 + their number.

    By default SIGTERM and SIGHUP end a process on the spot. A run that does not come to its end within ten seconds is
    ended then.
    """

    def __init__(self) -> None:
        self.code = 0
        self._before: list[tuple[int, Any]] = []
        self._hook = sys.unraisablehook

    def __enter__(self) -> Self:
        for number in _signals():
            with suppress(ValueError):
                self._before.append((number, signal.signal(number, self._end)))
        self._hook, sys.unraisablehook = sys.unraisablehook, self._swallowed
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.code:  # else a second signal must not disturb the end of the process
            for number, before in self._before:
                signal.signal(number, before)
            sys.unraisablehook = self._hook

    def _end(self, number: int, frame: FrameType | None) -> None:
        if not self.code:
            self.code = 128 + number
            _after(_GRACE, os._exit, self.code)
            self._stop(frame)

    def _stop(self, frame: FrameType | None) -> None:
        """Raise, but not in the middle of what must not be half done."""
        if _is_undisturbed(frame):
            self._stop_later()
        else:
            raise SystemExit(self.code)

    def _stop_later(self) -> None:
        number = self.code - 128
        signal.signal(number, lambda _number, frame: self._stop(frame))
        _after(_LATER, os.kill, os.getpid(), number)

    def _swallowed(self, unraisable: Any) -> None:
        """What is raised in a finalizer or a callback goes nowhere: where it was ours, it is raised anew."""
        if self.code and isinstance(unraisable.exc_value, SystemExit):
            self._stop_later()
        elif not self.code:
            self._hook(unraisable)


def _is_undisturbed(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_globals.get("__name__") in _NOT_HALF:
            return True
        frame = frame.f_back
    return False


def _after(seconds: float, function: Any, *arguments: Any) -> None:
    def wait() -> None:
        time.sleep(seconds)
        function(*arguments)

    with suppress(RuntimeError):  # no further thread can be started: then the run ends when it does
        _thread.start_new_thread(wait, ())


def is_interrupted(error: BaseException) -> bool:
    """Whether it is what DuckDB makes of the exception of a signal that came while it was busy."""
    return isinstance(error, RuntimeError) and str(error) == _INTERRUPTED


def leave(code: int, at_once: bool = False) -> NoReturn:
    """End the process; ``at_once`` where threads of a library may be busy: Python is not taken apart around them."""
    if not at_once:
        for number in _signals():
            if signal.getsignal(number) is _stop_here:  # Python gives up its handlers long before the process ends
                signal.signal(number, signal.SIG_IGN)
        sys.exit(code)
    _after(_GRACE, os._exit, code)
    _end_now(code)


def end(stop: SystemExit) -> NoReturn:
    """End the process of the command, all whose work is done. To take Python and its libraries apart in it, object by
    object, takes as long as a sixth of a short run. A profiler or a debugger is to see the end, though, and what runs
    the command in its own process is to go on."""
    if not isinstance(stop.code, int) or not is_the_command() or sys.flags.inspect or _is_watched():
        raise stop
    if (threading := sys.modules.get("threading")) is not None:
        threading._shutdown()  # as Python does: waits for threads that are not daemons
    _end_now(stop.code)


def is_the_command() -> bool:
    """Whether this process is that of ``ragdata`` or ``python -m ragdatakit``."""
    main = sys.modules["__main__"]
    folder, file = os.path.split(getattr(main, "__file__", None) or "")
    is_module = getattr(getattr(main, "__spec__", None), "name", "") == "ragdatakit.__main__"
    return is_module or file == "ragdata" or os.path.basename(folder) == "ragdata.exe"  # noqa: PTH119 - imports little


def _is_watched() -> bool:
    """Whether there is a profiler or a debugger; from Python 3.12 on they may be tools of its monitoring."""
    monitoring = getattr(sys, "monitoring", None)
    tools = monitoring is not None and any(map(monitoring.get_tool, range(_TOOLS)))
    return bool(tools) or sys.getprofile() is not None or sys.gettrace() is not None


def _end_now(code: int) -> NoReturn:
    atexit._run_exitfuncs()  # scratch folders go
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError, AttributeError):  # nobody reads it any more, or it is closed
            continue
        except OSError as error:
            code = code or _UNWRITTEN
            with suppress(OSError):
                os.write(2, f"ragdata: the last output could not be written: {error.strerror}\n".encode())
    os._exit(code)
