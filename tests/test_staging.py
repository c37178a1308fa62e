"""A folder is put in place whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragdatakit.files.paths.writing import write_whole
from ragdatakit.outputs.staging import StagedFolder
from ragdatakit.schemas.errors import RagdataError

posix = pytest.mark.skipif(os.name != "posix", reason="processes and locks of POSIX")


def listed(folder: Path) -> list[str]:
    """What is there; a folder may go away meanwhile."""
    places = (Path(place, name) for place, *names in os.walk(folder) for name in (*names[0], *names[1]))
    return sorted(place.relative_to(folder).as_posix() for place in places)


def test_new_folder(tmp_path: Path) -> None:
    with StagedFolder(tmp_path / "out") as staged:
        (staged.folder / "a.txt").write_text("a")
        assert not (tmp_path / "out").exists()
        staged.commit()

    assert listed(tmp_path) == ["out", "out/a.txt"]


def test_empty_folder_gives_way(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with StagedFolder(tmp_path / "out") as staged:
        (staged.folder / "a.txt").write_text("a")
        staged.commit()

    assert listed(tmp_path) == ["out", "out/a.txt"]


def test_full_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")

    with pytest.raises(RagdataError, match="not empty"), StagedFolder(tmp_path / "out"):
        pass
    assert listed(tmp_path) == ["out", "out/old.txt"]


def test_overwrite_replaces_all(tmp_path: Path) -> None:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "old.txt").write_text("old")
    with StagedFolder(tmp_path / "out", overwrite=True) as staged:
        (staged.folder / "new.txt").write_text("new")
        staged.commit()

    assert listed(tmp_path) == ["out", "out/new.txt"]


def test_a_fault_leaves_the_target(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")

    def fill() -> None:
        with StagedFolder(tmp_path / "out", overwrite=True) as staged:
            (staged.folder / "new.txt").write_text("new")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        fill()

    assert listed(tmp_path) == ["out", "out/old.txt"]


def test_made_parents_go_again(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no"), StagedFolder(tmp_path / "a" / "b" / "out"):
        raise ValueError("no")

    assert listed(tmp_path) == []


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")

    with pytest.raises(RagdataError, match="is a file"):
        StagedFolder(tmp_path / "out", overwrite=True)


def test_current_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("mine")

    with pytest.raises(RagdataError, match="will not be replaced"):
        StagedFolder(Path(), overwrite=True)
    with pytest.raises(RagdataError, match="will not be replaced"):
        StagedFolder(tmp_path.parent, overwrite=True)


def test_link_to_a_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with StagedFolder(tmp_path / "link") as staged:
        (staged.folder / "a.txt").write_text("a")
        staged.commit()

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "a.txt").read_text() == "a"


_WRITER = """
import sys, time
from pathlib import Path
from ragdatakit.files.paths.writing import write_whole
from ragdatakit.outputs.staging import StagedFolder
with StagedFolder(Path(sys.argv[1]), overwrite=True) as staged:
    (staged.folder / "new.txt").write_text("new")
    print("ready", flush=True)
    time.sleep(60)
"""


@posix
@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_kill_leaves_the_target_and_no_litter(tmp_path: Path, end: signal.Signals) -> None:
    target = tmp_path / "out"
    target.mkdir()
    (target / "old.txt").write_text("old")
    process = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(target)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "ready\n"
        assert len(listed(tmp_path)) == 4

        os.killpg(process.pid, end)
        process.wait()
    until = time.monotonic() + 10
    while len(listed(tmp_path)) > 2 and time.monotonic() < until:
        time.sleep(0.05)

    assert listed(tmp_path) == ["out", "out/old.txt"]


@posix
def test_what_was_left_behind_is_removed_by_the_next(tmp_path: Path) -> None:
    stale = tmp_path / ".out.ragdata-0123456789ab"
    stale.mkdir()
    (stale / "half.txt").write_text("half")
    with StagedFolder(tmp_path / "out") as staged, StagedFolder(tmp_path / "out") as other:
        assert not stale.exists()
        assert staged.folder.is_dir(), "the folder of a run that goes on stays"
        (staged.folder / "a.txt").write_text("a")
        staged.commit()
        (other.folder / "b.txt").write_text("b")
        with pytest.raises(RagdataError):
            other.commit()

    assert listed(tmp_path) == ["out", "out/a.txt"]


def test_an_empty_folder_that_one_stands_in_is_filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    with StagedFolder(Path()) as staged:
        (staged.folder / "a.txt").write_text("a")
        staged.commit()

    assert Path("a.txt").read_text() == "a"
    assert listed(tmp_path) == ["here", "here/a.txt"]


def test_folders_of_others_are_left_alone(tmp_path: Path) -> None:
    for name in (
        ".out.ragdata-notes",
        ".out.ragdata-old-abc",
        ".out.ragdata-new-0123456789ab",
        ".out.ragdata-XYZ456789012",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("mine")
    before = listed(tmp_path)
    with StagedFolder(tmp_path / "out"):
        pass

    assert listed(tmp_path) == before


def test_what_was_set_aside_comes_back(tmp_path: Path) -> None:
    """Between the two steps of an exchange the machine was stopped."""
    aside = tmp_path / ".out.ragdata-old-0123456789ab"
    aside.mkdir()
    (aside / "old.txt").write_text("old")

    with StagedFolder(tmp_path / "out", overwrite=True):
        pass

    assert listed(tmp_path) == ["out", "out/old.txt"]


def test_two_steps_where_there_is_no_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.outputs.staging._exchanged", lambda new, old: False)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old.txt").write_text("old")
    with StagedFolder(tmp_path / "out", overwrite=True) as staged:
        (staged.folder / "new.txt").write_text("new")
        staged.commit()

    assert listed(tmp_path) == ["out", "out/new.txt"]


@posix
def test_a_process_of_the_caller_does_not_hold_it_up(tmp_path: Path) -> None:
    with StagedFolder(tmp_path / "out") as staged:
        child = os.fork()
        if not child:
            time.sleep(20)
            os._exit(0)
        (staged.folder / "a.txt").write_text("a")
        staged.commit()
        started = time.monotonic()
    seconds = time.monotonic() - started
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    assert seconds < 10


def test_a_folder_that_cannot_be_renamed_is_not_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    monkeypatch.setattr(Path, "rename", refuse)

    with pytest.raises(PermissionError), StagedFolder(tmp_path / "to"):
        pass
    with pytest.raises(PermissionError):
        write_whole(tmp_path / "to.json", b"{}")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_a_full_disk_names_the_target(number: int, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="to'") as raised, StagedFolder(tmp_path / "to"):
        raise OSError(number, os.strerror(number))  # a write says no more

    assert (raised.value.errno, raised.value.filename) == (number, str(tmp_path / "to"))


def test_an_error_about_what_is_read_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="source") as raised, StagedFolder(tmp_path / "to"):
        raise OSError(errno.EIO, "Input/output error", "source.jsonl")

    assert raised.value.filename == "source.jsonl"


def test_what_cannot_be_brought_to_the_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(handle: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(OSError, match=r"to\.json"):
        write_whole(tmp_path / "to.json", b"{}")
    assert list(tmp_path.iterdir()) == []
