"""A short part of the fault harness, with a fixed seed; ``make fuzz`` runs the rest (see `tests.fuzz`)."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.broad import some
from tests.command_line import ROOT, Outcome
from tests.fuzz import engines
from tests.fuzz.cases import Case
from tests.fuzz.commands import usual
from tests.fuzz.workers import Job, Worker
from tests.fuzz.writing import WRITING, prepare, state, unfinished

SEED = 22
SHORT = {"commands": 3, "engines": 9, "oracles": 12, "fixes": 6, "parsers": 3, "signals": 2}
SHORT |= {"ndjson": 3, "json-array": 3, "csv": 3, "gz": 3}
"""How many cases of each part are known; a third of them is run."""


@pytest.mark.skipif(sys.platform != "linux", reason="the harness reads /proc")
def test_nothing_is_found(tmp_path: Path) -> None:
    """All parts in one process: to start it takes as long as most cases."""
    jobs = [Job(part, SEED, number) for part, known in SHORT.items() for number in some(known, every=3)]
    worker = Worker(tmp_path)
    try:
        results = [worker.run(job) for job in jobs]
    finally:
        worker.stop()

    assert [(r.job, r.problems, r.history) for r in results if r.problems] == []


def harness(*words: str | Path) -> tuple[int, str]:
    """Exit code and output of the harness."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_case_comes_back_and_says_how(tmp_path: Path) -> None:
    dataset = tmp_path / "set"
    dataset.mkdir()
    (dataset / "corpus.jsonl").write_text('{"_id": "1", "text": "a"}\n', encoding="utf-8")

    code, said = harness("--part", "engines", "--dataset", dataset, "--workers", "1")

    assert (code, "engines: 1 cases" in said, "0 kinds" in said) == (0, True, True), said


def test_records_are_counted_until_there_are_enough(tmp_path: Path) -> None:
    code, said = harness("--part", "tagged", "--records", "100", "--seed", "3", "--workers", "1", "--keep", tmp_path)

    counted = re.search(r": \d+ cases, [\d,]+ records \([\d,]+ damaged\), [\d,]+ findings compared, 0 cases with", said)
    assert (code, counted is not None) == (0, True), said


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import os; os._exit(3)", "ended with code 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended with code -11"),
        ("import time; time.sleep(60)", "no end after 1 s"),
    ],
)
def test_a_process_that_does_not_come_back_is_found(
    script: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fuzz.workers.PATIENCE", 1.0)
    worker = Worker(tmp_path, ("-c", script))

    result = worker.run(Job("commands", SEED, 0))
    worker.stop()

    assert said in result.problems[0]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (Outcome(7, "", ""), "exit code 7"),
        (Outcome(2, "", ""), "nothing on stderr"),
        (Outcome(2, "", "ragdata: failed on its own: KeyError"), "internal error"),
        (Outcome(1, "RD112 rule-crashed", ""), "internal error"),
        (Outcome(1, "  ::error::x", ""), "command to the CI"),
        (Outcome(1, "", "\x1b[2J"), "control characters"),
    ],
)
def test_what_no_run_may_say_is_found(outcome: Outcome, said: str) -> None:
    assert said in "; ".join(usual(outcome))


@pytest.fixture(autouse=True)
def scratch_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A case puts scratch files into its own folder, which is gone after its test."""
    monkeypatch.setattr("tempfile.tempdir", tempfile.tempdir)


def test_engines_that_differ_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scanner loses a finding."""
    lines = "".join(f'{{"_id": "d{i}", "title": "", "text": ""}}\n' for i in range(3))
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "corpus.jsonl").write_text(lines, encoding="utf-8")
    case = Case(SEED, 1, tmp_path, given=tmp_path / "given")
    assert list(engines.check(case)) == []

    real = engines.findings
    monkeypatch.setattr(engines, "findings", lambda case, way: real(case, way)[way == engines.SCANNED :])
    case = Case(SEED, 1, tmp_path, given=tmp_path / "given")

    assert any("scanned: missed BE" in problem for problem in engines.check(case))


def test_half_a_target_is_found(tmp_path: Path) -> None:
    writing = next(w for w in WRITING if w.name == "convert over")
    prepare(writing, tmp_path)
    old = state(tmp_path)
    new = {"to": "a folder", "to/corpus.jsonl": "1", "to/new.jsonl": "2"}
    assert list(unfinished(writing, tmp_path, old, new)) == []

    (tmp_path / "to" / "corpus.jsonl").unlink()

    assert list(unfinished(writing, tmp_path, old, new))
