"""Standard output whose reader may go at any time, as ``head`` does: what is written then goes nowhere.

So the exit code says the same whether the output was read to its end or not.
"""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import Any


class _Patient(io.RawIOBase):
    """The file descriptor of a pipe or a file; ``deserted`` once nobody reads it any more. An error, as of a full disk,
    is raised once: not again when the process ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.deserted = False

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: Any) -> int:
        view = memoryview(data)
        if not self.deserted:
            try:
                return os.write(self._descriptor, view)
            except OSError as error:
                self.deserted = True
                if not isinstance(error, BrokenPipeError):
                    raise
        return view.nbytes


def take_standard_output() -> None:
    """Have ``sys.stdout`` bear a reader that goes. A terminal, or a stream that is no file, stays as it is."""
    if sys.stdout is None:  # it was closed, as by >&-
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - until the process ends
        return
    try:
        descriptor = sys.stdout.fileno()
        if sys.stdout.isatty() or _patient() is not None:
            return
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # closed, or None, or a stand-in without a descriptor
        return
    buffer = io.BufferedWriter(_Patient(descriptor))
    sys.stdout = io.TextIOWrapper(buffer, sys.stdout.encoding, sys.stdout.errors)


def is_deserted() -> bool:
    """Whether nobody reads what is written to standard output any more: there is no use in making more of it."""
    stream = _patient()
    return stream is not None and stream.deserted


def _patient() -> _Patient | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw if isinstance(raw, _Patient) else None
