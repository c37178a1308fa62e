"""Sources that something writes to while they are converted: one clear error, or what a whole state of them gives."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import convert
from ragdatakit.outputs.file_states import WatchedFiles
from ragdatakit.outputs.sidecars import put_back
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES

SOURCES = {
    "raptor": FIXTURES / "raptor" / "valid" / "json",
    "contextual-retrieval": FIXTURES / "contextual-retrieval" / "valid" / "contexts-alone",
}


@dataclass
class Opened:
    """Counts how often files of a folder are opened; before the one of this number the file is cut in half."""

    root: str
    cut_at: int
    count: int = 0

    def note(self, name: str) -> None:
        path = Path(name)
        if name.startswith(self.root) and path.is_file():
            self.count += 1
            if self.count == self.cut_at:
                path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


_looking: list[Opened] = []


def _hook(event: str, arguments: Any) -> None:
    if event == "open" and _looking and isinstance(arguments[0], (str, bytes)):
        looking = _looking.pop()  # what it opens itself does not count
        looking.note(os.fsdecode(arguments[0]))
        _looking.append(looking)


@pytest.fixture(scope="module", autouse=True)
def hooked() -> None:
    """A hook of this kind stays for good."""
    sys.addaudithook(_hook)


@contextmanager
def cut(root: Path, at: int) -> Iterator[Opened]:
    """Look at what is opened below a folder, and cut the file that is opened then."""
    _looking.append(Opened(str(root), at))
    try:
        yield _looking[0]
    finally:
        _looking.clear()


@pytest.mark.parametrize("name", SOURCES)
def test_a_file_that_is_cut_before_any_of_its_readers_comes(name: str, tmp_path: Path) -> None:
    def converted(at: int) -> tuple[str, int]:
        root = shutil.copytree(SOURCES[name], tmp_path / str(at) / "source")
        with cut(root, at) as opened:
            try:
                result = convert(root, tmp_path / str(at) / "out", to="beir")
            except RagdataError as error:
                return str(error), opened.count
        assert result.invalid is None
        return "written" if result.written else "refused", opened.count

    _, count = converted(0)
    ends = [converted(at)[0] for at in range(1, count + 1)]

    assert count > 5
    assert (
        sum("changed while it was read" in end for end in ends) >= len(ends) // 4
    )  # others are cut before or after all


def test_what_a_reader_does_not_expect_is_put_down_to_a_new_file(tmp_path: Path) -> None:
    file = tmp_path / "chunks.jsonl"
    file.write_text("{}\n")
    before = time.time_ns()

    with pytest.raises(RagdataError, match="changed while it was read"), WatchedFiles([file], before):
        raise KeyError("id")
    with pytest.raises(RagdataError, match=r"\(its time did, not its size, as `touch` would"), WatchedFiles([file]):
        os.utime(file, ns=(before - 10**9, before - 10**9))
    with pytest.raises(RagdataError, match="changed while it was read"), WatchedFiles([file], before):
        raise KeyError("id")  # its times were set, just now
    with pytest.raises(RagdataError, match="no such thing"), WatchedFiles([file], before):
        raise RagdataError("no such thing")
    with pytest.raises(KeyError), WatchedFiles([file], time.time_ns() + 10**9):
        raise KeyError("id")


def test_a_sidecar_that_changes_is_reported_as_any_other_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    convert(FIXTURES / "beir/valid/folder", tmp_path / "there", to="sage", sidecar=True)
    kept = tmp_path / "there/ragdata.sidecar/qrels.ndjson.gz"

    def rewritten(*given: Any) -> Any:
        os.utime(kept, ns=(1, 1))
        return put_back(*given)

    monkeypatch.setattr("ragdatakit.outputs.sidecars.put_back", rewritten)

    with pytest.raises(RagdataError, match=r"qrels\.ndjson\.gz changed while it was read"):
        convert(tmp_path / "there", tmp_path / "back", to="beir")
