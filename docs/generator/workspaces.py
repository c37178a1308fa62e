"""A scratch folder in which the examples of one page are run, one after the other, as a reader would."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self
from unittest import mock

import pytest

from tests.command_line import Outcome, run
from tests.query_tools import answer_in_this_process

ROOT = Path(__file__).parents[2]
CACHE = ".cache/ragdata"
"""Below the folder, which is the home of the commands."""
_SECONDS = re.compile(r"\bin \d+\.\d+ s(?=\.?$|, |: | \()", re.M)
_SECONDS_BEHIND = re.compile(r" \(\d+\.\d+ s\)$", re.M)
_MILLISECONDS = re.compile(r"\bin \d+\.\d ms$", re.M)
_JSON_SECONDS = re.compile(r'("(?:seconds|retrieval_time)": ?)\d[\d.e-]*')


def settled(text: str, folder: Path) -> str:
    """What a command printed, with the places and times of every machine."""
    text = text.replace(f"{folder}/{CACHE}", f"~/{CACHE}").replace(str(folder), ".")
    text = _JSON_SECONDS.sub(r"\g<1>0.0004", _MILLISECONDS.sub("in 0.4 ms", text))
    return _SECONDS_BEHIND.sub(" (0.04 s)", _SECONDS.sub("in 0.04 s", text))


@contextmanager
def own_cache(folder: Path) -> Iterator[None]:
    """Indexes are kept below the folder, and not in the cache of whoever makes the pages."""
    before = os.environ.get("RAGDATA_CACHE_DIR")
    os.environ["RAGDATA_CACHE_DIR"] = str(folder / CACHE)
    try:
        yield
    finally:
        del os.environ["RAGDATA_CACHE_DIR"]
        if before is not None:
            os.environ["RAGDATA_CACHE_DIR"] = before


class Workspace:
    """Holds the fixtures, and the files that the page tells its reader to write.

    As soon as the page touches the package, the folder gets a copy of it, which the commands then use.
    """

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="ragdata-docs-"))
        (self.folder / "fixtures").mkdir()
        for fixture in sorted((ROOT / "fixtures").iterdir()):
            (self.folder / "fixtures" / fixture.name).symlink_to(fixture)
        (self.folder / ".bin").mkdir()
        # Run from the workspace, `-m` finds a copy of the package before the installed one.
        self._command("ragdata", f'exec "{sys.executable}" -m ragdatakit "$@"')
        self._command("python", f'exec "{sys.executable}" "$@"')
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shutil.rmtree(self.folder)

    def _command(self, name: str, line: str) -> None:
        path = self.folder / ".bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def write(self, name: str, text: str) -> None:
        """A file that the page shows whole."""
        path = self._path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def change(self, name: str, diff: str) -> None:
        """Lines that the page adds to a file, marked ``+``, with lines around them that the file has."""
        path = self._path(name)
        lines = diff.splitlines()
        old = "\n".join(line[1:] for line in lines if line[:1] in (" ", "-")) + "\n"
        new = "\n".join(line[1:] for line in lines if line[:1] in (" ", "+")) + "\n"
        text = path.read_text()
        if text.count(old) != 1:
            raise ValueError(f"{name} does not have these lines once:\n{old}")
        path.write_text(text.replace(old, new))

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if name.startswith("ragdatakit/") and not (self.folder / "ragdatakit").exists():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / "ragdatakit", self.folder / "ragdatakit", ignore=ignore)
        return path

    def run(self, command: str, environment: Mapping[str, str] | None = None) -> str:
        """What a command prints; seconds are made the same for every run. In another environment it is a process."""
        words, rest = _own_words(command)
        if environment:
            shown = self._run_by_shell(command, "", environment)
        elif words and not (self.folder / "ragdatakit").exists():
            done = self._run_here(words, as_one=not rest)
            shown = done.err + self._run_by_shell(rest, done.out) if rest else done.out
        else:
            shown = self._run_by_shell(command, "")
        return settled(shown, self.folder).rstrip("\n")

    def _run_here(self, words: list[str], *, as_one: bool) -> Outcome:
        """What ragdata prints, run in this process: starting one takes longer than most examples."""
        settings = {name: text for name, text in self.environment().items() if not name.startswith("PYTHON")}
        with pytest.MonkeyPatch.context() as patch, mock.patch.dict(os.environ, settings, clear=True):
            answer_in_this_process(patch)
            return run(*words, env=settings, cwd=self.folder, as_one=as_one)

    def _run_by_shell(self, command: str, given: str, further: Mapping[str, str] | None = None) -> str:
        environment = self.environment()
        if further:
            del environment["NO_COLOR"]
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            cwd=self.folder,
            env={**environment, **(further or {})},
            input=given.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=120,
            check=False,
        )
        return done.stdout.decode()

    def environment(self) -> dict[str, str]:
        """The variables with which commands and kernels run."""
        return {
            "PATH": os.pathsep.join([str(self.folder / ".bin"), os.environ.get("PATH", "")]),
            "HOME": str(self.folder),
            "COLUMNS": "100",
            "NO_COLOR": "1",
            "LC_ALL": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT)]),
        }


def _own_words(command: str) -> tuple[list[str], str]:
    """The words of a command that begins with ragdata and needs no shell, and what its output is piped into."""
    first, _, rest = command.partition(" | ")
    if not first.startswith("ragdata ") or re.search(r"[$`~*?<>|;&]", re.sub(r"\"[^\"$`\\]*\"|'[^']*'", "", first)):
        return [], ""
    return shlex.split(first)[1:], rest
