"""A signal at any line of what writes leaves the old target or the new one, and nothing beside it."""

from __future__ import annotations

import gc
import signal
import sys
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ragdatakit import stopping
from ragdatakit.files.paths.writing import write_whole
from ragdatakit.outputs.scratch import ScratchFolder
from ragdatakit.outputs.staging import StagedFolder
from tests.broad import chosen

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
OURS = ("ragdatakit", "shutil", "tempfile", "contextlib")


def replace_file(target: Path) -> None:
    write_whole(target / "a", b"new")


def replace_folder(target: Path) -> None:
    with StagedFolder(target, overwrite=True) as staged:
        (staged.folder / "a").write_bytes(b"new")
        staged.commit()


def use_scratch(target: Path) -> None:
    with ScratchFolder() as scratch:
        (scratch / "b").write_bytes(b"passing")


def lines_until(line: int, act: Callable[[Path], None], target: Path) -> int:
    """How many lines of our modules ``act`` ran, of which the n-th got a signal."""
    lines = 0

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        nonlocal lines
        if not str(frame.f_globals.get("__name__")).startswith(OURS):
            return None
        lines += event == "line"
        if lines == line and event == "line":
            signal.raise_signal(signal.SIGTERM)
        return trace

    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    hook, earlier = sys.unraisablehook, sys.gettrace()
    try:
        with stopping.EndedBySignal():
            sys.settrace(trace)
            try:
                act(target)
            finally:
                sys.settrace(earlier)
    except SystemExit:
        pass
    finally:
        sys.unraisablehook = hook
        signal.signal(signal.SIGTERM, before)
    gc.collect()
    return lines


@pytest.mark.parametrize("act", [replace_file, replace_folder, use_scratch])
def test_signal_at_any_line(
    act: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(stopping, "_after", lambda *_: None)  # what comes later finds the work done
    gc.collect()
    gc.freeze()  # each further collection looks at what is new only
    request.addfinalizer(gc.unfreeze)
    lines = 1
    for line in count():  # of which 0 is none, so that all are counted
        if line > lines:
            break
        if line and not chosen(f"{act.__name__} {line}"):
            continue
        place = tmp_path / str(line)
        (place / "to").mkdir(parents=True)
        (place / "to" / "a").write_bytes(b"old")
        (place / "tmp").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", None)
        monkeypatch.setenv("TMPDIR", str(place / "tmp"))

        lines = max(lines, lines_until(line, act, place / "to"))

        there = {str(p.relative_to(place)) for p in place.rglob("*")}
        assert there == {"to", "to/a", "tmp"}, line
        assert (place / "to" / "a").read_bytes() in {b"old", b"new"}
    assert lines > 20
