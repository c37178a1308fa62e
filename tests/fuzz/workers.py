"""A process that runs cases one after the other, and its supervisor: a crash, a hang or a bloat is a finding, too."""

from __future__ import annotations

import json
import os
import resource
import select
import subprocess
import sys
import traceback
from contextlib import suppress
from dataclasses import astuple, dataclass
from pathlib import Path

from tests.command_line import ROOT

ADDRESSES = 8 << 30
MOST_MEMORY = 1500 << 20
PATIENCE = 240.0
_NOW = "now"


@dataclass(frozen=True, slots=True)
class Job:
    """Which case to run."""

    part: str
    seed: int
    number: int
    given: str | None = None
    share: float | None = None


@dataclass(slots=True)
class Result:
    """What is wrong in a case, what had been done to its dataset, how many records were tried,
    damaged, and findings compared."""

    job: Job
    problems: list[str]
    history: list[str]
    records: int = 0
    damaged: int = 0
    compared: int = 0


class Worker:
    """A process below ``place``, started anew when it dies or hangs."""

    def __init__(self, place: Path, words: tuple[str, ...] = ("-m", "tests.fuzz", "--worker")) -> None:
        self.place = place
        place.mkdir(parents=True, exist_ok=True)
        self._command = [sys.executable, "-W", "ignore", *words, str(place)]
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, job: Job) -> Result:
        """The result of a case; how the process ended where it did not come back."""
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        (self.place / _NOW).write_text("", encoding="utf-8")
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(astuple(job)).encode() + b"\n")
            process.stdin.flush()
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        answer = process.stdout.readline() if ready else b""
        if answer:
            is_last, *found = json.loads(answer)
            if is_last:
                self.stop()
            return Result(job, *found)
        code = process.wait() if ready else None
        self.stop()
        now = (self.place / _NOW).read_text(encoding="utf-8")
        how = f"ended with code {code}" if ready else f"no end after {PATIENCE:.0f} s"
        return Result(job, [f"{now or 'the case'}: the process: {how}"], [])

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            with suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.stop()
            with (self.place / "stderr").open("ab") as errors:
                self._process = subprocess.Popen(
                    self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, stderr=errors
                )
        return self._process


def serve(place: Path) -> None:
    """Run the cases that standard input names until it ends; what libraries write to standard output goes nowhere."""
    answers = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    for line in sys.stdin:
        done = perform(Job(*json.loads(line)), place)
        is_last = _memory() > MOST_MEMORY // 2  # what many cases left adds up, and would count as the next one's
        answers.write(
            json.dumps([is_last, done.problems, done.history, done.records, done.damaged, done.compared]) + "\n"
        )
        if is_last:
            return


def perform(job: Job, place: Path) -> Result:
    """Run one case in this process."""
    from tests.fuzz.cases import Case
    from tests.fuzz.parts import PARTS

    def note(now: str) -> None:
        (place / _NOW).write_text(now, encoding="utf-8")

    case = Case(job.seed, job.number, place, note, Path(job.given) if job.given else None, job.share)
    problems: list[str] = []
    try:
        problems += PARTS[job.part].check(case)
    except Exception:  # noqa: BLE001 - the harness itself failed, or what it called in this process
        problems.append(f"the harness: {traceback.format_exc()[-1500:]}")
    if _memory() > MOST_MEMORY:
        problems.append(f"memory: {_memory() >> 20:,} MB")
    return Result(job, problems, case.history, case.records, case.damaged, case.compared)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
