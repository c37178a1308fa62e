"""Datasets that mean harm, and what must hold for any of them: no traceback, no hang, no write, no raw control."""

from __future__ import annotations

import hashlib
import os
import shutil
import unicodedata
from pathlib import Path

from tests.command_line import FIXTURES, Outcome, run

SHOWN_RAW = "\n"
FORBIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def copy(case: str, folder: Path) -> Path:
    """A dataset of ours to damage, such as ``light-splade/valid/triplet``."""
    shutil.copytree(FIXTURES / case, folder / "set", symlinks=True)
    return folder / "set"


def tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything below a folder: kinds, permissions, times of change, contents."""
    found: dict[str, tuple[object, ...]] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(here, name)
            info = path.lstat()
            readable = path.is_file() and os.access(path, os.R_OK)
            content = hashlib.sha256(path.read_bytes()).hexdigest() if readable else ""
            found[str(path)] = (info.st_mode, info.st_mtime_ns, info.st_size, content)
    return found


def raw_controls(text: str) -> set[str]:
    """Characters that a terminal obeys, or that hide or turn what stands beside them."""
    return {c for c in text if c not in SHOWN_RAW and unicodedata.category(c) in FORBIDDEN}


def endure(path: Path, *words: str | Path, watched: Path | None = None) -> Outcome:
    """Validate on the screen and as JSON; whatever the data, this must hold. The screen's outcome is returned."""
    watched = watched if watched is not None else path if path.is_dir() else path.parent
    before = tree(watched)

    screen = run("validate", path, "-v", "--max-per-rule", "0", *words)
    document = run("validate", path, "--severity", "info", "--output-format", "json", *words)
    lines = run("validate", path, "--severity", "info", "--output-format", "ndjson", *words)

    assert tree(watched) == before
    assert {screen.code, document.code, lines.code} in ({0}, {1}, {2})
    for outcome in (screen, document, lines):
        assert "Traceback" not in outcome.err
        assert raw_controls(outcome.err) == set()
        assert bool(outcome.err) == (outcome.code == 2)
    assert raw_controls(screen.out) == set()
    if screen.code != 2:
        report = document.json
        assert [f["code"] for f in report["findings"] if f["code"] == "RD112"] == []
        assert len(lines.lines) >= 1
        assert all(len(f["message"]) < 2000 for f in report["findings"])
    return screen


def codes(outcome: Outcome) -> set[str]:
    """The codes on a screen."""
    words = (line.split() for line in outcome.out.splitlines())
    return {w for line in words for w in line[:2] if len(w) == 5 and w[:2].isupper() and w[2:].isdigit()}
