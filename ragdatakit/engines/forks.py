"""Answers to numbered questions from copies of this process, for work of many small parts: a copy costs a few
milliseconds, a process of its own that has to import everything as much as a hundred such parts.

Only a process that has one thread may be copied: what other threads hold at that moment stays locked for ever.
"""

from __future__ import annotations

import marshal
import os
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Self

from ragdatakit.stopping import ending_signals

_TASKS = Path("/proc/self/task")
"""Where Linux lists the threads of this process, also those of libraries."""

_PATIENCE = 8
"""So many more questions that it could not answer than others, and a copy asks itself no further ones."""


def has_one_thread() -> bool:
    """Whether it is known that this process has no other thread, of a library either."""
    try:
        return len(list(_TASKS.iterdir())) == 1
    except OSError:
        return False


class Forks:
    """A context in which question n of ``questions`` is answered by one of ``others`` copies of this process, except
    for each first one of ``others + 1``, which are left to this process. `take` gives the answers in this order.

    Answers are what `marshal` takes; None is that there is none. A copy that fails, that has none for most of its
    questions, or that cannot be made, leaves the rest to this process.
    """

    def __init__(self, answer: Callable[[int], Any], questions: int, others: int) -> None:
        self._answer = answer
        self._questions = questions
        self._others = others
        self._copies: list[tuple[int, BinaryIO]] = []

    def __enter__(self) -> Self:
        if not self._others:
            return self
        before = signal.pthread_sigmask(signal.SIG_BLOCK, ending_signals())  # until it is known who is to get them
        try:
            for number in range(1, self._others + 1):
                self._copies.append(self._fork(range(number, self._questions, self._others + 1), before))
        except OSError:  # no process more, no file more: those that are there are of no use, as they take turns
            self._end()
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        except BaseException:  # what a signal raises that came meanwhile
            self._end()
            raise
        return self

    def _fork(self, mine: Iterable[int], signals: Iterable[int]) -> tuple[int, BinaryIO]:
        reading, writing = os.pipe()
        try:
            child = os.fork()
        except OSError:
            os.close(reading)
            os.close(writing)
            raise
        if not child:
            self._serve(writing, mine, signals)
        os.close(writing)
        return child, os.fdopen(reading, "rb")

    def _serve(self, writing: int, mine: Iterable[int], signals: Iterable[int]) -> NoReturn:
        """Nothing of the process that was copied may happen here once more: no exception leaves this, no handler of
        its end is called, no buffer of it is written; what it ignores (as behind ``nohup``) is ignored. Who has gone
        is to be noticed, so no pipe of another copy stays open."""
        try:
            for each in ending_signals():
                if signal.getsignal(each) is not signal.SIG_IGN:
                    signal.signal(each, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, signals)
            for _, other in self._copies:
                other.close()
            with os.fdopen(writing, "wb") as pipe:
                lead = _PATIENCE
                for number in mine:
                    answer = self._answer(number)
                    pipe.write(marshal.dumps(answer))
                    pipe.flush()
                    lead += -1 if answer is None else 1
                    if not lead:
                        break
        finally:
            os._exit(0)

    def take(self, number: int) -> Any:
        """The answer to question ``number``, where another process was asked and could give it, else None. Questions
        are to be taken one after another."""
        whose = number % (self._others + 1) - 1
        if whose < 0 or not self._copies:
            return None
        try:
            return marshal.load(self._copies[whose][1])
        except (EOFError, ValueError, TypeError):
            return None

    def __exit__(self, *_: object) -> None:
        self._end()

    def _end(self) -> None:
        for child, pipe in self._copies:
            pipe.close()
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)
        self._copies = []
