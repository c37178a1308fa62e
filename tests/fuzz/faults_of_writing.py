"""The n-th write, flush, rename or new folder fails, for every n: old or new target, exit code 2, the path is named.

What Python writes fails by wrappers of our own; what libraries in C write, by a limit of the size of files.
"""

from __future__ import annotations

import errno
import io
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from ragdatakit.files.machine import machine_fault
from tests.command_line import ROOT, Outcome, run
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment, usual
from tests.fuzz.writing import WRITING, Writing, prepare, state, unfinished

CALLS = ("write", "fsync", "replace", "rename", "mkdir", "link", "truncate", "ftruncate")
LIMITS = (0, 100, 4096, 20_000, 100_000)
CASES = len(WRITING) * 2
_OPEN = io.open


class Trouble:
    """Counts what is done below a folder, and has the n-th of it fail (0: none)."""

    def __init__(self, below: Path, nth: int = 0, number: int = errno.ENOSPC) -> None:
        self.below, self.nth, self.number = str(below), nth, number
        self.count = 0
        self.what = ""

    def meet(self, what: str, path: object) -> None:
        """One thing more is done."""
        name = self._name(path)
        if not name.startswith(self.below):
            return
        self.count += 1
        if self.count == self.nth:
            self.what = f"{what} of {name.removeprefix(self.below)}"
            raise OSError(self.number, os.strerror(self.number), *([] if what in ("write", "fsync") else [name]))

    @staticmethod
    def _name(path: object) -> str:
        if isinstance(path, int):
            path = f"/proc/self/fd/{path}"
            return str(Path(path).readlink()) if Path(path).is_symlink() else ""
        return str(Path(os.fsdecode(path)).absolute()) if isinstance(path, str | bytes | os.PathLike) else ""

    def patches(self) -> ExitStack:
        """All that writes, wrapped."""
        stack = ExitStack()
        for name in CALLS:
            stack.enter_context(mock.patch.object(os, name, self._wrapped(name, getattr(os, name))))
        for module in ("builtins.open", "io.open"):
            stack.enter_context(mock.patch(module, self._open))
        return stack

    def _wrapped(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **options: Any) -> Any:
            self.meet(name, path)
            return function(path, *rest, **options)

        return call

    def _open(self, file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **options: Any) -> Any:
        if not set(mode) & set("wax+") or buffering == 0 or isinstance(file, int) or "opener" in options:
            return _OPEN(file, mode, buffering, *rest, **options)
        self.meet("open", file)
        raw = _Troubled(self, file, mode.replace("b", "").replace("t", ""))
        buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, *rest, **options)


class _Troubled(io.FileIO):
    def __init__(self, trouble: Trouble, file: Any, mode: str) -> None:
        super().__init__(file, mode)
        self._trouble = trouble

    def write(self, data: Any) -> Any:
        self._trouble.meet("write", self.name)
        return super().write(data)


def check(case: Case) -> Iterator[str]:
    """One command that writes, with each of its calls failing, or with a limit for the size of its files."""
    writing = WRITING[case.number // 2 % len(WRITING)]
    case.history = [writing.name]
    yield from (_limited if case.number % 2 else _each)(writing, case)


def _each(writing: Writing, case: Case) -> Iterator[str]:
    out = case.scratch / "out"
    with environment(case.scratch):
        old, new, count = _sound(writing, out)
        for nth in _chosen(count, case):
            number = case.rng.choice((errno.ENOSPC, errno.EFBIG, errno.EROFS))
            words = prepare(writing, out)
            trouble = Trouble(out, nth, number)
            case.note(f"{writing.name}: call {nth} fails")
            with trouble.patches():
                outcome = run(*words)
            for problem in _judged(writing, out, outcome, old, new, _words_of(number)):
                yield f"{writing.name}: {trouble.what or 'nothing'} fails ({nth}): {problem}"
            if any((case.scratch / "tmp").iterdir()):
                yield f"{writing.name}: {trouble.what} fails ({nth}): a temporary folder is left"
                shutil.rmtree(case.scratch / "tmp")
                (case.scratch / "tmp").mkdir()


def _words_of(number: int) -> str:
    return machine_fault(OSError(number, "")) or os.strerror(number)


def _chosen(count: int, case: Case) -> list[int]:
    """All calls, or some where there are many."""
    every = range(1, count + 1)
    return list(every) if count <= 40 else sorted(case.rng.sample(every, 40))


def _sound(writing: Writing, out: Path) -> tuple[dict[str, str], dict[str, str], int]:
    words = prepare(writing, out)
    old = state(out)
    trouble = Trouble(out)
    with trouble.patches():
        outcome = run(*words)
    assert outcome.code == writing.code, (writing.name, outcome.err)
    return old, state(out), trouble.count


def _judged(
    writing: Writing, out: Path, outcome: Outcome, old: dict[str, str], new: dict[str, str], reason: str
) -> Iterator[str]:
    yield from usual(outcome)
    yield from unfinished(writing, out, old, new)
    if outcome.code == writing.code:  # what only makes the next run faster need not be written
        if any("sources" not in name for name in new.keys() - state(out).keys()):
            yield f"exit code {outcome.code}, and the target is not whole"
    elif outcome.code != 2:
        yield f"exit code {outcome.code}"
    elif str(out) not in outcome.err.replace("\n", ""):
        yield f"the path is not named: {outcome.err[:200]!r}"
    elif reason not in outcome.err.replace("\n", " "):
        yield f"the reason ({reason}) is not named: {outcome.err[:200]!r}"


def _limited(writing: Writing, case: Case) -> Iterator[str]:
    out = case.scratch / "out"
    with environment(case.scratch):
        words = prepare(writing, out)
        old = state(out)
        whole = _spawn(words, None)
        if whole.code != writing.code:
            yield f"{writing.name}: {whole.err}"
        new = state(out)
        for most in LIMITS:
            case.note(f"{writing.name}: files of at most {most} bytes")
            outcome = _spawn(prepare(writing, out), most)
            yield from (f"{writing.name}: files of at most {most} bytes: {p}" for p in usual(outcome))
            yield from (
                f"{writing.name}: files of at most {most} bytes: {p}" for p in unfinished(writing, out, old, new)
            )
            missing = [name for name in new.keys() - state(out).keys() if "sources" not in name]
            if outcome.code not in (writing.code, 2) or (outcome.code != 2 and missing):
                yield f"{writing.name}: files of at most {most} bytes: exit code {outcome.code}: {outcome.err[:200]}"


def _spawn(words: list[str], most: int | None) -> Outcome:
    def limit() -> None:
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = subprocess.run(
        [sys.executable, "-B", "-m", "ragdatakit", *words],
        capture_output=True,
        cwd=ROOT,
        preexec_fn=limit,
        check=False,
        timeout=120,
    )
    return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
