"""A source that is checked in a process of its own, while it is converted, and what becomes of its errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.engines import side_process
from ragdatakit.engines.side_process import SideProcess, has_room
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators import source_check
from tests.command_line import files_below
from tests.test_convert_command import CHUNKS, write_arag

BESIDE = pytest.mark.skipif(not has_room(), reason="there is one processor only")


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every source is large enough for a process of its own."""
    monkeypatch.setattr(source_check, "WORTH_A_PROCESS", 0)


def test_the_function_runs_in_another_process() -> None:
    with SideProcess(os.getpid) as process:
        found = process.result()

        assert found not in (None, os.getpid())
        assert process.ended


@pytest.mark.parametrize("arguments", [("none",), (), (lambda: 0,)])
def test_a_function_that_fails_has_no_result(arguments: tuple[object, ...]) -> None:
    with SideProcess(json.loads, *arguments) as process:
        assert process.result() is None
        assert process.ended


def test_a_process_that_cannot_be_started_has_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "no-python"))

    with SideProcess(os.getpid) as process:
        assert process.result() is None


def test_the_process_ends_with_the_block() -> None:
    started = time.monotonic()

    with SideProcess(time.sleep, 60) as process:
        assert not process.ended

    assert process.ended
    assert time.monotonic() - started < 30


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_process_ends_with_its_caller(tmp_path: Path) -> None:
    script = (
        "import os, time, sys\nfrom ragdatakit.engines.side_process import SideProcess\n"
        "with SideProcess(time.sleep, 60) as p:\n    print(p._process.pid, flush=True)\n    time.sleep(1)\n"
        "    os.kill(os.getpid(), 9)\n"
    )

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    for _ in range(100):
        if not _runs(int(done.stdout)):
            break
        time.sleep(0.1)
    assert not _runs(int(done.stdout))


def _runs(pid: int) -> bool:
    """Whether a process is there, and not only its exit code that nobody asked for."""
    try:
        return ") Z" not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_what_lies_in_the_current_folder_is_not_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pickle.py").write_text("raise SystemExit('imported')")
    monkeypatch.chdir(tmp_path)

    with SideProcess(os.getpid) as process:
        assert process.result() is not None


@BESIDE
@pytest.mark.usefixtures("beside")
def test_the_output_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_arag(tmp_path / "skarn")

    beside = ragdatakit.convert(source, tmp_path / "beside", to="datamind")
    monkeypatch.setattr(source_check, "WORTH_A_PROCESS", 1 << 40)
    before = ragdatakit.convert(source, tmp_path / "before", to="datamind")

    assert beside.written and before.written
    assert beside.source_report is not None and before.source_report is not None
    assert beside.source_report.datasets == before.source_report.datasets
    assert files_below(tmp_path / "beside") == files_below(tmp_path / "before")


@BESIDE
@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize(
    ("chunks", "target", "rule"),
    [
        ([CHUNKS[0], CHUNKS[0]], "datamind", "duplicate-chunk-id"),
        (["0: "], "arag", "empty-chunk"),  # of which nothing can be written
    ],
)
def test_a_source_with_errors_is_refused(
    tmp_path: Path, chunks: list[str], target: str, rule: str, dry_run: bool
) -> None:
    source = write_arag(tmp_path / "skarn", chunks)

    result = ragdatakit.convert(source, tmp_path / "out", to=target, dry_run=dry_run, strict=True)

    assert result.refused and not result.written and not result.strict and not result.ok
    assert result.conversions == []
    assert result.source_report is not None
    assert rule in {f.rule for f in result.source_report.findings}
    assert [p.name for p in tmp_path.iterdir()] == ["skarn"]


@BESIDE
@pytest.mark.usefixtures("beside")
def test_what_cannot_be_converted_is_reported_of_a_sound_source(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn")

    with pytest.raises(RagdataError, match="light-splade needs questions with relevant documents"):
        ragdatakit.convert(source, tmp_path / "out", to="light-splade")

    assert [p.name for p in tmp_path.iterdir()] == ["skarn"]


@pytest.mark.usefixtures("beside")
def test_errors_stop_the_conversion_as_soon_as_they_are_known(tmp_path: Path) -> None:
    source = write_arag(tmp_path / "skarn", [CHUNKS[0], CHUNKS[0]])
    seen: list[str] = []

    with source_check.SourceCheck(source, "arag", None, {}, 1 << 30) as check:
        tell = check.watched(lambda path, done, total: seen.append(path))
        tell("before", 0, 0)
        assert not check.report().ok
        with pytest.raises(source_check.SourceRefusedError):
            tell("after", 0, 0)

    assert seen in (["before"], [])


@BESIDE
def test_the_script_of_the_caller_runs_once(tmp_path: Path) -> None:
    write_arag(tmp_path / "skarn")
    script = tmp_path / "script.py"
    script.write_text(
        "import ragdatakit\nfrom ragdatakit.validators import source_check\nprint('once')\n"
        "source_check.WORTH_A_PROCESS = 0\nprint(ragdatakit.convert('skarn', 'out', to='datamind').written)\n"
    )

    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)

    assert (done.stdout, done.stderr) == ("once\nTrue\n", "")


def test_without_a_process_the_source_is_checked_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_arag(tmp_path / "skarn", [CHUNKS[0], CHUNKS[0]])
    monkeypatch.setattr(source_check, "WORTH_A_PROCESS", 0)
    monkeypatch.setattr(side_process, "_CODE", "raise SystemExit(3)")

    result = ragdatakit.convert(source, tmp_path / "out", to="datamind")

    assert result.refused
