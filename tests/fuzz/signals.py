"""SIGINT, SIGTERM and SIGKILL at any time of a command that writes: old or new target, the right exit code."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.command_line import ROOT
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment
from tests.fuzz.writing import WRITING, Writing, prepare, state, unfinished

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
_CAUGHT = re.compile(r"^SigCgt:\s*([0-9a-f]+)$", re.MULTILINE)


@cache
def _sound(writing: Writing, out: Path) -> tuple[dict[str, str], float]:
    """What the command leaves when nothing stops it, and how long it takes."""
    words = prepare(writing, out)
    started = time.monotonic()
    process = _start(words)
    _, err = process.communicate(timeout=120)
    assert process.returncode == writing.code, (writing.name, err)
    return state(out), time.monotonic() - started


def check(case: Case) -> Iterator[str]:
    """One signal at one time to one command."""
    writing, number = case.rng.choice(WRITING), case.rng.choice(SIGNALS)
    out = case.scratch / "out"
    with environment(case.scratch):
        new, seconds = _sound(writing, out)
        delay = case.rng.random() ** 1.5 * seconds * 1.1
        case.history = [f"{writing.name}: {number.name} after {delay:.3f} s of {seconds:.3f}"]
        case.note(case.history[0])
        words = prepare(writing, out)
        old = state(out)
        code, err = _stopped(words, number, delay)
        yield from (f"{writing.name}: {number.name}: {p}" for p in _judged(writing, code, err, number))
        yield from (
            f"{writing.name}: {number.name}: {p}" for p in unfinished(writing, out, old, new, number == signal.SIGKILL)
        )
        left = sorted(p.name for p in (case.scratch / "tmp").iterdir())
        if left and number != signal.SIGKILL:
            yield f"{writing.name}: {number.name}: left in the temporary folder: {left}"
        if code == -signal.SIGKILL:
            yield from _again(writing, out)


def _judged(writing: Writing, code: int, err: str, number: signal.Signals) -> Iterator[str]:
    right = {writing.code, -number if number == signal.SIGKILL else 128 + number}
    if code not in right:
        yield f"exit code {code}: {err[-300:]!r}"
    if "Traceback" in err or "Exception ignored" in err:
        yield f"a traceback: {err[-700:]!r}"
    if code == 128 + number and not err.endswith("ragdata: stopped\n"):
        yield f"no word of it: {err[-300:]!r}"


def _again(writing: Writing, out: Path) -> Iterator[str]:
    """After a process was killed, the same command does its work."""
    words = [word.replace("OUT", str(out)) for word in writing.words]
    if writing.old is None and (out / writing.target).exists():
        return
    process = _start(words)
    _, err = process.communicate(timeout=120)
    if process.returncode != writing.code:
        yield f"{writing.name}: the command after one that was killed: exit code {process.returncode}: {err[-300:]}"


def _start(words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "ragdatakit", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - ignored behind a shell
    )


def _stopped(words: list[str], number: signal.Signals, delay: float) -> tuple[int, str]:
    """The exit code and stderr of a command that gets the signal so long after it has handlers for them."""
    process = _start(words)
    while process.poll() is None and not _has_handlers(process.pid):
        time.sleep(0.002)  # before that, Python itself is starting
    time.sleep(delay)
    if process.poll() is None:
        os.kill(process.pid, number)
    try:
        _, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return 0, "Traceback: no end after 60 s"
    return process.returncode, err


def _has_handlers(process: int) -> bool:
    try:
        found = _CAUGHT.search(Path(f"/proc/{process}/status").read_text(encoding="ascii"))
    except OSError:
        return False
    return found is not None and bool(int(found[1], 16) >> (signal.SIGHUP - 1) & 1)
