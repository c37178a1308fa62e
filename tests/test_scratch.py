"""Scratch folders go away, also where a run is ended from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from ragdatakit.outputs.scratch import ScratchFolder
from tests.command_line import GOOD, run

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and locks of POSIX")
ENDLESS = "select count(*) from range(3000000) a, range(4000000) b where a.range * b.range % 7 = 3"
HOLDS = "from ragdatakit.outputs.scratch import ScratchFolder\nheld = ScratchFolder()\nprint(held.path, flush=True)\n"
WAITS = f"{HOLDS}input()\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, empty."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    return folder


def started(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def holding() -> tuple[subprocess.Popen[str], Path]:
    """A process with a scratch folder, which it has until it ends."""
    process = started("-c", WAITS)
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_folder_goes_away_with_the_block_and_with_the_process(place: Path) -> None:
    with ScratchFolder() as folder:
        (folder / "rows").write_text("x")
        assert folder.parent == place
    assert not folder.exists()

    done = subprocess.run([sys.executable, "-c", HOLDS], capture_output=True, check=True)
    assert done.stdout
    assert list(place.iterdir()) == []


def test_folder_of_a_killed_run_is_removed_by_the_next(place: Path) -> None:
    killed, left = holding()
    living, kept = holding()
    (left / "rows").write_text("x")
    killed.kill()
    killed.communicate()
    elsewhere = place / "ragdata-notes"
    elsewhere.mkdir()
    (place / "ragdata-scratch-0123456789ab").symlink_to(elsewhere)

    with ScratchFolder() as folder:
        names = set(place.iterdir())
    living.communicate()

    assert names == {folder, kept, elsewhere, place / "ragdata-scratch-0123456789ab"}


def test_folder_of_another_user_is_not_touched(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = place / "ragdata-scratch-0123456789ab"
    other.mkdir()
    monkeypatch.setattr(os, "geteuid", lambda: other.stat().st_uid + 1)

    with ScratchFolder():
        assert other.is_dir()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signal_ends_a_run_with_its_code_and_leaves_nothing(place: Path, number: signal.Signals) -> None:
    process = started("-m", "ragdatakit", "query", str(GOOD), ENDLESS)
    end = time.monotonic() + 20
    while not any(place.glob("ragdata-scratch-*")) and time.monotonic() < end:
        time.sleep(0.02)
    process.send_signal(number)
    _, found = process.communicate(timeout=20)

    assert (process.returncode, found) == (128 + number, "ragdata: stopped\n")
    assert list(place.iterdir()) == []


def test_query_whose_time_is_over_leaves_nothing(place: Path) -> None:
    process = started("-m", "ragdatakit", "query", str(GOOD), ENDLESS, "--timeout", "0.5")
    out, err = process.communicate(timeout=60)

    words = "ragdata: the query was stopped after 0.5 s (--timeout)\n"
    assert (process.returncode, out, err) == (2, "", words)
    assert list(place.iterdir()) == []


def test_signal_that_is_ignored_stays_ignored(place: Path) -> None:
    code = (
        "import os, signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from ragdatakit.stopping import EndedBySignal\n"
        "with EndedBySignal() as ending:\n    os.kill(os.getpid(), signal.SIGHUP)\nprint(ending.code)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout == "0\n"


def test_interrupt_that_comes_while_the_database_is_busy_is_no_fault_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise RuntimeError("Query interrupted")  # what DuckDB makes of it

    monkeypatch.setattr("ragdatakit.api.report.report", interrupted)
    shown = run("report", GOOD)

    assert (shown.code, shown.err) == (130, "ragdata: stopped\n")
