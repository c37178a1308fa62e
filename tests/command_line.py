"""The command `ragdata` run by tests: in this process (fast), or as a process of its own."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import chdir, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import orjson

from ragdatakit.cli import main

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "fixtures"
GOOD = FIXTURES / "light-splade" / "valid" / "triplet"
DEMO = FIXTURES / "demo-broken"


def files_below(folder: Path) -> dict[str, bytes]:
    """The content of all files below a folder, by their paths."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run left: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, decoded."""
        return orjson.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Standard output, decoded line by line."""
        return [orjson.loads(line) for line in self.out.removesuffix("\n").split("\n")]


class _Stream(io.TextIOWrapper):
    """A text stream over memory that may pass for a terminal."""

    def __init__(self, terminal: bool) -> None:
        super().__init__(io.BytesIO(), encoding="utf-8", errors="backslashreplace", write_through=True)
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal

    def text(self) -> str:
        self.flush()
        buffer = self.buffer
        assert isinstance(buffer, io.BytesIO)
        return buffer.getvalue().decode("utf-8")


def run(
    *words: str | Path,
    terminal: bool = False,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    as_one: bool = False,
) -> Outcome:
    """Run in this process, in the folder ``cwd``; ``terminal`` makes both outputs pass for one.

    ``as_one``: what belongs on standard error is in `out`, where a terminal would show it.
    """
    out = _Stream(terminal)
    err = out if as_one else _Stream(terminal)
    settings = {"NO_COLOR": "", "FORCE_COLOR": "", "COLUMNS": "100", "TERM": "xterm", **(env or {})}
    arguments = mock.patch.object(sys, "argv", ["ragdata", *map(str, words)])
    code: Any = 0
    folder = chdir(cwd) if cwd else nullcontext()
    with arguments, mock.patch.dict(os.environ, settings), folder, redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    assert isinstance(code, int)
    return Outcome(code, out.text(), "" if as_one else err.text())


def spawn(
    *words: str | Path,
    code: Iterable[str] = ("-m", "ragdatakit"),
    seconds: float = 60,
    first: Callable[[], None] | None = None,
) -> Outcome:
    """Run as a process of its own, which calls ``first``; fails where it takes longer than ``seconds``."""
    command = [sys.executable, *code, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, cwd=ROOT, timeout=seconds, stdin=subprocess.DEVNULL, check=False, preexec_fn=first
    )
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def obey_permissions() -> None:
    """For the process to be: permissions of files hold for it and its children, even if it runs as root (on Linux)."""
    if os.geteuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def interruptible(*words: str | Path) -> list[str]:
    """The command as a process that Ctrl-C stops, also where it is ignored: in what a shell runs behind it."""
    script = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        f"sys.argv = {['ragdata', *map(str, words)]!r}\n"
        "from ragdatakit.cli import main\n"
        "main()\n"
    )
    return [sys.executable, "-c", script]
