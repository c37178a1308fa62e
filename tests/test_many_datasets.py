"""Many small datasets in one run: what is checked by copies of the process, and that the report is the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.engines import forks
from ragdatakit.engines.forks import Forks, has_one_thread
from tests.command_line import FIXTURES

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs the /proc of Linux")

_COUNTED = """
import os, sys
from ragdatakit.cli import main
real, made = os.fork, []
def fork():
    made.append(real())
    return made[-1]
os.fork = fork
{more}
try:
    main()
finally:
    print("copies:", len(made), file=sys.stderr)
    try:
        os.waitpid(-1, os.WNOHANG)
        print("some are left", file=sys.stderr)
    except ChildProcessError:
        pass
"""


def run(*words: str, more: str = "") -> tuple[int, Any, str]:
    """Exit code, report and messages of a run whose copies are counted."""
    command = [sys.executable, "-c", _COUNTED.format(more=more), *words, "--output-format", "json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Datasets in forty folders, of all formats, every fifth with faults."""
    folder = tmp_path_factory.mktemp("many")
    formats = [sorted(each.iterdir()) for each in sorted(FIXTURES.glob("*/valid"))]
    sound = [one for together in zip_longest(*formats) for one in together if one is not None]
    broken = sorted((FIXTURES / "beir" / "broken").iterdir())
    for number in range(40):
        source = broken[number] if number % 5 == 3 else sound[number % len(sound)]
        to = folder / f"set-{number:02}"
        shutil.copytree(source, to) if source.is_dir() else (to.mkdir(), shutil.copy(source, to))
    return folder


def test_the_report_is_the_same_for_any_number_of_processes(many: Path) -> None:
    code, alone, said = run("validate", str(many), "--jobs", "1")
    assert code == 1
    assert "copies: 0" in said
    for jobs, copies in (("2", 1), ("7", len(alone["datasets"]) // 16 - 1)):
        assert run("validate", str(many), "--jobs", jobs)[:2] == (1, alone)
        assert f"copies: {copies}" in run("validate", str(many), "--jobs", jobs)[2]
    assert alone["counts"]["error"] > 0
    formats = {each["format"] for each in alone["datasets"]}
    assert formats == {each.parent.name for each in FIXTURES.glob("*/valid")}
    assert "built-documents" in {file["kind"] for each in alone["datasets"] for file in each["files"]}


@pytest.mark.parametrize("words", [["--quality"], ["--skip-unchanged"], ["--fix", "--diff"]])
def test_what_needs_more_than_numbers_is_checked_by_one_process(many: Path, words: list[str], tmp_path: Path) -> None:
    cache = ["--cache-dir", str(tmp_path)] if words == ["--skip-unchanged"] else []
    command = [sys.executable, "-c", _COUNTED.format(more=""), "validate", str(many), "--jobs", "2", *words, *cache]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)

    assert done.stdout
    assert "copies: 0" in done.stderr


def test_copies_that_are_killed_change_nothing(many: Path) -> None:
    _, alone, _ = run("validate", str(many), "--jobs", "1")
    killed = """
import signal
from ragdatakit.validators import run
check, here = run._check, os.getpid()
def fragile(dataset, *more):
    if os.getpid() != here and dataset.display.endswith("7"):
        os.kill(os.getpid(), signal.SIGKILL)
    return check(dataset, *more)
run._check = fragile
"""
    code, report, said = run("validate", str(many), "--jobs", "2", more=killed)

    assert (code, report) == (1, alone)
    assert "copies: 1" in said
    assert "some are left" not in said


def test_copies_that_are_ended_at_once_say_nothing(many: Path) -> None:
    _, alone, _ = run("validate", str(many), "--jobs", "1")
    ended = """
import signal
whole = os.fork
def ended():
    child = whole()
    if not child:
        os.kill(os.getpid(), signal.SIGTERM)
    return child
os.fork = ended
"""
    code, report, said = run("validate", str(many), "--jobs", "2", more=ended)

    assert (code, report) == (1, alone)
    assert said.splitlines() == ["copies: 1"]


def test_a_process_with_other_threads_is_not_copied(many: Path) -> None:
    thread = "import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()"

    assert "copies: 0" in run("validate", str(many), "--jobs", "2", more=thread)[2]


def in_one_thread(code: str) -> str:
    """What a process of its own prints."""
    command = [
        sys.executable,
        "-c",
        "from ragdatakit.engines.forks import *\nfrom ragdatakit.engines import forks\n" + code,
    ]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout


def test_answers_come_in_order_from_those_that_were_asked() -> None:
    code = """
with Forks(lambda number: [number, os.getpid()], 9, 2) as asked:
    answers = [asked.take(number) for number in range(9)]
print([a and a[0] for a in answers], len({a[1] for a in answers if a}), os.getpid() in {a[1] for a in answers if a})
"""

    assert in_one_thread(code) == "[None, 1, 2, None, 4, 5, None, 7, 8] 2 False\n"


@pytest.mark.parametrize(
    ("answer", "given"),
    [("1 // (number - 3)", "[None, -1, None, None, None, None]"), ("object()", "[None, None, None, None, None, None]")],
    ids=["raises", "cannot be sent"],
)
def test_a_copy_that_fails_leaves_its_questions(answer: str, given: str) -> None:
    code = f"""
import sys
sys.stderr = open(os.devnull, "w")
with Forks(lambda number: {answer}, 6, 1) as asked:
    print([asked.take(number) for number in range(6)])
"""

    assert in_one_thread(code) == given + "\n"


def test_a_copy_without_answers_stops_asking() -> None:
    code = """
with Forks(lambda number: number if number > 30 else None, 100, 1) as asked:
    print({asked.take(number) for number in range(100)})
"""

    assert in_one_thread(code) == "{None}\n"


def test_a_copy_ignores_what_is_ignored_and_has_no_handler() -> None:
    code = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for each in (signal.SIGTERM, signal.SIGINT):
    signal.signal(each, lambda *_: None)
def answer(number):
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [])
    return [int(signal.getsignal(each)) for each in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)], len(mask)
with Forks(answer, 2, 1) as asked:
    print(asked.take(1), len(signal.pthread_sigmask(signal.SIG_BLOCK, [])))
"""

    ignored, usual = int(signal.SIG_IGN), int(signal.SIG_DFL)
    assert in_one_thread(code) == f"{([ignored, usual, usual], 0)} 0\n"


def test_a_signal_while_copies_are_made_leaves_none() -> None:
    code = """
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))
whole = os.fork
def ended():
    child = whole()
    if child:
        os.kill(os.getpid(), signal.SIGTERM)
    return child
os.fork = ended
try:
    with Forks(lambda number: number, 9, 2) as asked:
        print("not here")
except SystemExit as stop:
    try:
        print(stop.code, os.waitpid(-1, 0))
    except ChildProcessError:
        print(stop.code, "none is left")
"""

    assert in_one_thread(code) == "3 none is left\n"


def test_a_copy_has_no_pipes_of_others() -> None:
    code = """
with Forks(lambda number: len(os.listdir("/proc/self/fd")), 4, 3) as asked:
    print(len({asked.take(number) for number in (1, 2, 3)}))
"""

    assert in_one_thread(code) == "1\n"


def test_without_a_process_more_nothing_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", none_left)
    with Forks(lambda number: number, 6, 2) as asked:
        assert [asked.take(number) for number in range(6)] == [None] * 6


def test_threads_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(forks, "_TASKS", tmp_path)
    assert not has_one_thread()
    (tmp_path / "1").touch()
    assert has_one_thread()
    (tmp_path / "2").touch()
    assert not has_one_thread()
    monkeypatch.setattr(forks, "_TASKS", tmp_path / "none")
    assert not has_one_thread()
