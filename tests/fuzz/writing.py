"""The commands that write, and the states in which a run that failed or was stopped may leave their targets."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.command_line import FIXTURES, GOOD

_SEARCHED = str(FIXTURES / "demo-search")
_TEXTS = str(FIXTURES / "beir/valid/folder")


@dataclass(frozen=True, slots=True)
class Writing:
    """``words``: OUT is the folder of the target ``name``; ``old``: what is there before (None: nothing)."""

    name: str
    words: tuple[str, ...]
    target: str
    old: str | None = None
    code: int = 0


WRITING = (
    Writing("convert", ("convert", str(GOOD), "OUT/to", "--to", "beir"), "to"),
    Writing("convert over", ("convert", str(GOOD), "OUT/to", "--to", "beir", "--overwrite"), "to", "folder"),
    Writing(
        "convert aside",
        ("convert", str(GOOD), "OUT/to", "--to", "trec", "--sidecar", "--loss-report", "OUT/to.json"),
        "to",
    ),
    Writing(
        "raptor",
        ("convert", _TEXTS, "OUT/to", "--to", "raptor", "--option", "form=pickle", "--option", "vectors=hashing"),
        "to",
    ),
    Writing("raptor over", ("convert", _TEXTS, "OUT/to", "--to", "raptor", "--overwrite"), "to", "folder"),
    Writing(
        "ragchecker",
        ("convert", str(FIXTURES / "ragchecker/valid/outputs"), "OUT/to", "--to", "ragchecker", "--overwrite"),
        "to",
        "folder",
    ),
    Writing(
        "lightrag",
        ("convert", _TEXTS, "OUT/to", "--to", "lightrag", "--option", "form=directory", "--extractor", "names"),
        "to",
    ),
    Writing("lightrag over", ("convert", _TEXTS, "OUT/to", "--to", "lightrag", "--overwrite"), "to", "folder"),
    Writing(
        "contextual",
        (*("convert", _TEXTS, "OUT/to", "--to", "contextual-retrieval"), "--option", "contexts=extractive"),
        "to",
    ),
    Writing(
        "graphrag",
        ("convert", _TEXTS, "OUT/to", "--to", "graphrag", "--extractor", "names", "--overwrite"),
        "to",
        "folder",
    ),
    Writing("index", ("index", _SEARCHED, "--mode", "bm25", "--index-dir", "OUT/to"), "to"),
    Writing("report", ("report", str(GOOD), "--output-file", "OUT/to.html"), "to.html", "file"),
    Writing("database", ("report", str(GOOD), "--save-database", "OUT/to.duckdb"), "to.duckdb"),
    Writing("query", ("query", str(GOOD), "from documents", "--output-file", "OUT/to.parquet"), "to.parquet", "file"),
    Writing("diff", ("diff", str(GOOD), _SEARCHED, "--output-file", "OUT/to.json", "--exit-zero"), "to.json", "file"),
    Writing("validate", ("validate", str(GOOD), "--output-file", "OUT/to.json"), "to.json", "file"),
    Writing("eval", ("eval", _SEARCHED, "--mode", "bm25", "--report", "OUT/to.json"), "to.json", "file", 1),
    Writing("init", ("init", "beir", "OUT/to"), "to"),
    Writing("schema", ("schema", "--all", "OUT/to"), "to"),
    Writing("gate", ("gate", str(GOOD), "--init", "--output-file", "OUT/to.json", "--overwrite"), "to.json", "file"),
)


def prepare(writing: Writing, out: Path) -> list[str]:
    """The folder as it is before the command, and the command."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    if writing.old == "folder":
        shutil.copytree(FIXTURES / "beir/valid/folder", out / writing.target)
    elif writing.old == "file":
        (out / writing.target).write_bytes(b"old\n")
    return [word.replace("OUT", str(out)) for word in writing.words]


def state(out: Path) -> dict[str, str]:
    """All that is below a folder: names and contents. The names of the files of an index are drawn anew each time."""
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(out):  # which bears what goes away meanwhile
        for name in folders:
            found[_DRAWN.sub("#", str(Path(folder, name).relative_to(out)))] = "a folder"
        for name in files:
            with suppress(FileNotFoundError):
                content = hashlib.sha256(Path(folder, name).read_bytes()).hexdigest()
                found[_DRAWN.sub("#", str(Path(folder, name).relative_to(out)))] = content
    return found


def unfinished(
    writing: Writing, out: Path, old: dict[str, str], new: dict[str, str], swept: bool = False
) -> Iterator[str]:
    """What is neither the old nor the new state; of the new one only names are compared, as times differ.

    ``swept``: the next run may remove what is beside the target, for nothing of this one was left to do it.
    """
    there = state(out)
    for _ in range(20):  # a process of its own cleans up behind one that was killed
        if there == old or set(there) == set(new):
            break
        time.sleep(0.1)
        there = state(out)
    if swept:
        there = {name: digest for name, digest in there.items() if ".ragdata-" not in name}
    empty = hashlib.sha256(b"").hexdigest()
    half = [name for name, digest in there.items() if digest == empty and new.get(name, empty) != empty]
    more = sorted(set(there) - set(new) - set(old))
    gone = sorted(set(new) - set(there))
    if half or more or (there != old and gone and writing.name not in PIECEWISE):
        yield f"neither old nor new: empty {half[:2]}, more {more[:4]}, not there {gone[:4]}"


PIECEWISE = ("index", "schema", "convert aside")
"""What writes several things, each whole: the parts of an index, schemas, a folder and the report about it."""
_DRAWN = re.compile("[0-9a-f]{32}")
