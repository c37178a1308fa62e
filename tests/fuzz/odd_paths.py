"""Every command over every odd file in the place of one of a dataset's: it ends, soon, with a promised exit code."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import chdir
from pathlib import Path

from tests.command_line import FIXTURES, GOOD, spawn
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment, usual

SETS = (
    "light-splade/valid/triplet",
    "beir/valid/folder",
    "arag/valid/strings",
    "gfm-rag/valid/minimal",
    "trec/valid/collection",
)
SECRET = "the-lighthouse-keeper-left-at-dawn"
PRIVATE = "private.txt"


def _loop(path: Path, _outside: Path) -> None:
    path.symlink_to(path.name)


def _out(path: Path, outside: Path) -> None:
    private = outside / PRIVATE
    private.write_text(f'{{"_id": "{SECRET}", "text": "{SECRET}", "title": "{SECRET}"}}\n', encoding="utf-8")
    path.symlink_to(private)


def _socket(path: Path, _outside: Path) -> None:
    with chdir(path.parent), socket.socket(socket.AF_UNIX) as opened:  # the name of a socket is short
        opened.bind(path.name)


def _undecodable(path: Path, _outside: Path) -> None:
    (path.parent / os.fsdecode(b"caf\xe9" + os.fsencode(path.suffix))).write_bytes(b"{}\n")


def _unreadable(path: Path, _outside: Path) -> None:
    path.write_bytes(b"{}\n")
    path.chmod(0)


ODD: dict[str, Callable[[Path, Path], None]] = {
    "loop": _loop,
    "link out": _out,
    "FIFO": lambda path, _: os.mkfifo(path),
    "socket": _socket,
    "device": lambda path, _: path.symlink_to("/dev/zero"),
    "unreadable": _unreadable,
    "non-UTF-8 name": _undecodable,
    "empty": lambda path, _: path.write_bytes(b"") and None,
    "directory": lambda path, _: path.mkdir(),
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": ("validate", "SET", "--quality"),
    "report": ("report", "SET", "--output-format", "json"),
    "query": ("query", "SET", "from documents"),
    "diff": ("diff", "SET", "GOOD"),
    "convert": ("convert", "SET", "OUT/to", "--to", "beir", "--keep-going"),
    "index": ("index", "SET", "--mode", "bm25"),
    "retrieve": ("retrieve", "SET", "harbour", "--mode", "bm25"),
    "eval": ("eval", "SET", "--mode", "bm25"),
    "gate": ("gate", "SET", "--init", "--output-file", "OUT/suite.json"),
    "verify": ("verify", "SET"),
    "push": ("push", "SET", "OWNER/NAME", "--dry-run"),
}
CASES = len(SETS) * len(ODD)


def check(case: Case) -> Iterator[str]:
    """One odd file in one dataset, through all commands."""
    odd = list(ODD)[case.number % len(ODD)]
    base = SETS[case.number // len(ODD) % len(SETS)]
    shutil.copytree(FIXTURES / base, case.folder)
    files = [p for p in sorted(case.folder.rglob("*")) if p.is_file() and p.name != "expected.json"]
    path = case.rng.choice(files)
    case.history = [base, f"{odd} {path.relative_to(case.folder).as_posix()}"]
    if odd != "non-UTF-8 name":
        path.unlink()
    ODD[odd](path, case.scratch)
    (case.scratch / "out").mkdir()
    with environment(case.scratch):
        for name, words in COMMANDS.items():
            case.note(f"{name} × {odd}")
            meant = {"SET": str(case.folder), "GOOD": str(GOOD)}
            filled = [meant.get(w, w.replace("OUT", str(case.scratch / "out"))) for w in words]
            try:
                outcome = spawn(*filled, seconds=60)
            except subprocess.TimeoutExpired:
                yield f"{name} × {odd}: no end after 60 s"
                continue
            for problem in usual(outcome):
                yield f"{name} × {odd}: {problem}"
            if SECRET in outcome.out + outcome.err or _holds(case.scratch, SECRET):
                yield f"{name} × {odd}: read a file that a link out of the dataset leads to"
                shutil.rmtree(case.scratch / "out")
                (case.scratch / "out").mkdir()


def _holds(folder: Path, text: str) -> bool:
    return any(
        text.encode() in p.read_bytes()
        for p in folder.rglob("*")
        if p.is_file() and not p.is_symlink() and p.name != PRIVATE
    )
