"""A progress line on stderr for work that takes longer than a second; only ever on a terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_NAME = 60


@contextmanager
def terminal_progress(at_once: str = "") -> Iterator[Callable[[str, int, int], None] | None]:
    """What shows progress on stderr while the block runs; None where that is no terminal.

    ``at_once`` is there from the beginning, for work that is known to take long and says nothing.
    """
    if not sys.stderr.isatty():
        yield None
        return
    line = ProgressLine(sys.stderr)
    if at_once:
        line.say(at_once)
    try:
        yield line.show
    finally:
        line.clear()


SHOWN_AFTER = 1.0
"""Seconds without a line: most runs are over by then."""


class ProgressLine:
    """One line, rewritten in place, at most ten times a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._started = time.monotonic()
        self._last = self._started
        self._shown = False
        self._done = 0
        self._began = self._started

    def show(self, path: str, done: int, total: int) -> None:
        """``done`` of ``total`` bytes are read; the time left is that of this work, or of a second pass over a file."""
        now = time.monotonic()
        if done < self._done:
            self._began = now
        self._done = done
        if now - self._started < SHOWN_AFTER or now - self._last < 0.1:
            return
        self._last = now
        share = min(done / total, 1) if total else 1
        filled = int(share * 24)
        bar = "█" * filled + "░" * (24 - filled)
        self._stream.write(f"\r\x1b[K{bar} {share:4.0%}  {_left(now - self._began, share)}  {_name(path)}")
        self._stream.flush()
        self._shown = True

    def say(self, words: str) -> None:
        """Words alone, now."""
        self._stream.write(f"\r\x1b[K{words} …")
        self._stream.flush()
        self._shown = True

    def clear(self) -> None:
        """Remove the line."""
        if self._shown:
            self._stream.write("\r\x1b[K")
            self._stream.flush()


def _left(seconds: float, share: float) -> str:
    """How long the rest takes, in a column of its own; empty as long as too little is done to tell."""
    if share <= 0.01 or seconds < 1:
        return " " * len("123 s left")
    return f"{seconds / share * (1 - share):3.0f} s left"


def _name(path: str) -> str:
    """What is being done, and the end of the path."""
    name = "".join(c if c.isprintable() else "?" for c in path)
    return name if len(name) <= _NAME else f"{name[: _NAME // 2 - 1]}…{name[-_NAME // 2 :]}"
