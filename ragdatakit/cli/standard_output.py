"""What goes to standard output and standard error: no CI runner takes data in it for commands, and who reads them may
go at any time, as ``head`` does: what is written then goes nowhere.

So the exit code says the same whether the output was read to its end or not.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TextIO

from ragdatakit.cli import late_click
from ragdatakit.reports.findings.ci_commands import Form, broken_up

if TYPE_CHECKING:
    from pathlib import Path


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


class _Guarded(io.BufferedIOBase):
    """A binary stream through which no command to a CI runner passes. What is written at once is looked at as a whole:
    a write must not end inside of what may be one."""

    def __init__(self, stream: Any, is_terminal: bool) -> None:
        self.stream = stream
        self._is_terminal = is_terminal

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.stream.write(broken_up(bytes(data))[0])
        return memoryview(data).nbytes

    def flush(self) -> None:
        if not self.stream.closed:  # from 3.13 on, the wrapper above says so when it is collected
            self.stream.flush()

    def close(self) -> None:
        """Leave the stream beneath open: it belongs to the process."""
        try:  # not `suppress`: when the process ends, names of the module may be gone
            self.flush()
        except (OSError, ValueError):  # it is closed, or nobody reads it
            pass

    def isatty(self) -> bool:
        return self._is_terminal

    def fileno(self) -> int:
        return int(self.stream.fileno())


def guard_streams() -> None:
    """Put the guard before ``sys.stdout`` and ``sys.stderr``, and have them bear a reader that goes."""
    _open_closed_streams()
    sys.stdout = _guarded(sys.stdout, _patient_buffer(sys.stdout))
    if sys.stderr is not None:
        sys.stderr = _guarded(sys.stderr, _patient_buffer(sys.stderr))


def _open_closed_streams() -> None:
    """What was closed at the start (as by ``>&-``) goes nowhere. Its number must be taken before any other file gets
    it, and stay so: Python closes a stream that nothing refers to."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: PTH123, SIM115 - until the process ends
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _guarded(stream: TextIO, buffer: Any) -> TextIO:
    """The stream with the guard in it; as it is where it has one, or is made of no bytes."""
    buffer = buffer or getattr(stream, "buffer", None)
    if buffer is None or isinstance(buffer, _Guarded):
        return stream
    with suppress(OSError, ValueError):
        stream.flush()
    return io.TextIOWrapper(
        _Guarded(buffer, stream.isatty()),  # type: ignore[type-var]  # typeshed wants more than TextIOWrapper does
        stream.encoding,
        stream.errors,
        line_buffering=bool(stream.line_buffering),
        write_through=getattr(stream, "write_through", False),
    )


def _patient_buffer(stream: TextIO) -> io.BufferedWriter | None:
    """What bears a reader that goes, for a pipe or a file; a terminal, or a stream that is no file, needs none."""
    try:
        descriptor = stream.fileno()
        if stream.isatty() or _patient(stream) is not None:
            return None
    except (OSError, ValueError, AttributeError):  # closed, or without a descriptor
        return None
    return io.BufferedWriter(_Patient(descriptor))


def say(lines: Iterable[str]) -> None:
    """Notes to the user on stderr, next to the output."""
    for line in lines:
        late_click().echo(f"ragdata: {line}", err=True)


def say_printable(text: str) -> None:
    """One such note, which may hold anything."""
    from ragdatakit.visible_text import visible_text

    say([visible_text(text)])


def terminal_columns(usual: int = 80) -> int:
    """How wide the terminal is, ``usual`` where there is none: as `shutil.get_terminal_size`, which imports what
    unpacks archives."""
    with suppress(KeyError, ValueError):
        if (columns := int(os.environ["COLUMNS"])) > 0:
            return columns
    with suppress(AttributeError, OSError, ValueError):  # closed, or no terminal
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or usual  # type: ignore[union-attr]
    return usual


def is_deserted() -> bool:
    """Whether nobody reads what is written to standard output any more: there is no use in making more of it."""
    patient = _patient(sys.stdout)
    return patient is not None and patient.deserted


def _patient(stream: TextIO) -> _Patient | None:
    buffer = getattr(stream, "buffer", None)
    raw = getattr(buffer.stream, "raw", None) if isinstance(buffer, _Guarded) else None
    return raw if isinstance(raw, _Patient) else None


_Escapes = Form | Literal["table", "binary", "commands"]
_FORMS: dict[str, _Escapes] = {
    **dict.fromkeys(("json", "ndjson", "sage"), "json"),
    "html": "html",
    **dict.fromkeys(("csv", "trec"), "table"),
    "parquet": "binary",
}
"""How the output formats escape; the others are texts for people. A table is for programs and has no escapes. Those of
findings are in ``OUTPUT_FORMS``: what is made of commands has broken up those in data itself."""


def write_output(pieces: Iterable[bytes], out: Path | None, output_format: str = "text") -> None:
    """Bytes in this output format, to stdout or as they are into the file ``out``, whole or not at all.

    A file that is stdout or stderr (``/dev/stdout``) is no way around the guard.
    """
    if (stream := sys.stdout.buffer if out is None else _standard(out)) is not None:
        from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS

        findings = OUTPUT_FORMS.get(output_format)
        _print(pieces, findings.escapes if findings else _FORMS.get(output_format, "text"), stream)
        return
    from ragdatakit.api.output_files import write_file

    assert out is not None
    write_file(out, pieces)


def _standard(out: Path) -> BinaryIO | None:
    """The standard output that a path leads to, if it does."""
    with suppress(OSError, ValueError):
        place = out.stat()
        for number, stream in ((1, sys.stdout), (2, sys.stderr)):
            if os.path.samestat(place, os.fstat(number)):
                return stream.buffer
    return None


def _print(pieces: Iterable[bytes], form: _Escapes, stream: BinaryIO) -> None:
    """No piece may end inside of a value. What had to be changed in a table is reported on stderr."""
    if form in ("binary", "commands") and isinstance(stream, _Guarded):
        stream = stream.stream
    changed = 0
    for piece in pieces:
        if form in ("json", "html", "table"):
            piece, count = broken_up(piece, "text" if form == "table" else form)
            changed += count if form == "table" else 0
        stream.write(piece)
        if is_deserted():
            return
    stream.flush()
    if changed:
        holds = f"{changed:,} of the printed values hold{'s' * (changed == 1)} what a CI runner takes for a command"
        say([f"{holds}, and has its first sign written as <U+0023> or <U+003A>; --output-file writes it unchanged"])
