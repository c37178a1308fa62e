"""A function of ours in a process of its own: so that other work continues alongside it on another processor, or so
that what happens to it does not happen to us.

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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from types import TracebackType
from typing import Any, BinaryIO, Generic, Self, TypeVar

from ragdatakit.files.machine import processors
from ragdatakit.schemas.settings.plugins import PLUGGED, plug_in_as

T = TypeVar("T")

# -I: what lies in the current folder, or is said in the environment, is nothing to be imported; then as it is here.
_CODE = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer);"
    "from ragdatakit.engines.side_process import serve; serve()"
)


def has_room() -> bool:
    """Whether there is a second processor, and a Python that can be started."""
    return processors() > 1 and bool(sys.executable) and not getattr(sys, "frozen", False)


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
            self._process = _started()
            _send(self._process, *self._job)
            self._reader.start()
        except (OSError, RuntimeError, pickle.PicklingError, AttributeError, TypeError):
            return self  # there will be no result: not even another thread can be started, maybe
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        if self._reader.ident is not None:
            self._reader.join()
        _close(self._process)

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


class SideStream:
    """A context in which ``function(send, *args)`` runs in another process; iterating gives what it sends, piece by
    piece: it does not get ahead of who takes them. It ends with the context at the latest.

    ``environment`` is added to its own. Raises `OSError` where no process can be started.
    """

    def __init__(self, function: Callable[..., None], *args: Any, environment: Mapping[str, str] | None = None) -> None:
        self._job = (function, args)
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self._process = _started(self._environment)
        try:
            _send(self._process, *self._job, streams=True)
        except BrokenPipeError:  # it is gone already: it sends nothing
            pass
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        if self._process is not None:
            self._process.wait()
            _close(self._process)

    def kill(self) -> None:
        """End it now, whatever it does."""
        if self._process is not None:
            self._process.kill()

    def __iter__(self) -> Iterator[Any]:
        assert self._process is not None
        assert self._process.stdout is not None
        while True:
            try:
                yield pickle.load(self._process.stdout)  # noqa: S301 - of our own process
            except (EOFError, pickle.UnpicklingError):  # it ended, perhaps within a piece
                return

    @property
    def code(self) -> int:
        """With what it ended, waited for: below 0 is the signal that ended it."""
        assert self._process is not None
        return self._process.wait()


class SideWorker(SideStream):
    """A process that works off one list of keys after the other: of each it sends, in their order, what the function
    gives for them."""

    @classmethod
    def begun(cls) -> Self:
        """A process that has nothing to do yet. Raises `OSError` where none can be started."""
        return cls(_work_off).__enter__()

    def end(self) -> None:
        """End it, whatever it does."""
        self.__exit__(None, None, None)

    def ask(self, function: Callable[[Any], Any], keys: Sequence[Any]) -> None:
        """Have it begin with a list; what was asked before has to be taken first."""
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it is gone: it sends nothing
            self._process.stdin.write(pickle.dumps((function, keys)))
            self._process.stdin.flush()


class Watched:
    """The pieces of a stream, each waited for no longer than some seconds: then its process is ended, and ``late`` is
    raised."""

    def __init__(self, stream: SideStream, seconds: float, late: Exception) -> None:
        self._stream, self._seconds, self._late = stream, seconds, late
        self._is_late = False

    def __iter__(self) -> Iterator[Any]:
        pieces = iter(self._stream)
        while True:
            timer = threading.Timer(self._seconds, self._end)
            timer.daemon = True
            timer.start()
            try:
                piece = next(pieces, None)
            finally:
                timer.cancel()
            if self._is_late:
                raise self._late
            if piece is None:
                return
            yield piece

    def _end(self) -> None:
        self._is_late = True
        self._stream.kill()


def _started(environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-c", _CODE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )


def _send(process: subprocess.Popen[bytes], function: Callable[..., Any], args: Any, streams: bool = False) -> None:
    assert process.stdin is not None
    process.stdin.write(pickle.dumps(sys.path) + pickle.dumps(PLUGGED) + pickle.dumps((function, args, streams)))
    process.stdin.flush()  # and left open: its end is the sign that no one is waiting


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()


def serve() -> None:
    """In the process: run what comes from the caller, send back what it returns (nothing, where it fails)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal; the caller ends us
    answers = os.dup(1)
    os.dup2(2, 1)  # what a library prints is no answer
    plug_in_as(pickle.load(sys.stdin.buffer))  # noqa: S301 - of our own caller
    function, args, streams = pickle.load(sys.stdin.buffer)  # noqa: S301 - of our own caller
    asked = SimpleQueue[Any]()
    threading.Thread(target=_listen, args=(asked,), daemon=True).start()
    if function is _work_off:
        args = (asked,)
    status = 1
    with suppress(Exception), os.fdopen(answers, "wb") as stream:
        if streams:
            function(partial(_piece, stream), *args)
        else:
            stream.write(pickle.dumps(function(*args)))
        status = 0
    os._exit(status)


def _piece(stream: BinaryIO, item: Any) -> None:
    pickle.dump(item, stream, pickle.HIGHEST_PROTOCOL)
    stream.flush()


def _listen(asked: SimpleQueue[Any]) -> None:
    """Take what else the caller asks for; end with it."""
    try:
        while True:
            asked.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - of our own caller
    finally:
        os._exit(1)


def _work_off(send: Callable[[Any], None], asked: SimpleQueue[Any]) -> None:
    while True:
        function, keys = asked.get()
        for key in keys:
            send(function(key))
