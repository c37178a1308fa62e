"""``python -m tests.fuzz``: run cases for some time, print what is wrong and how to see it again."""

from __future__ import annotations

import argparse
import itertools
import re
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.command_line import ROOT
from tests.fuzz.workers import Job, Result, Worker, serve

KEPT = ROOT / ".fuzz"
COUNTING = ("ndjson", "json-array", "json-object", "csv", "tsv", "tagged", "gz")
"""The parts whose cases are sets of records of one container (`tests.fuzz.containers`)."""
_CHANGING = re.compile(r"'[^']*'|\"[^\"]*\"|/\S+|\b\d+\b|[^\x20-\x7e]")


def main() -> int:
    """Exit code 1 where anything was found."""
    words = _arguments()
    if words.worker:
        serve(words.worker)
        return 0
    from tests.fuzz.parts import PARTS

    seed = words.seed if words.seed is not None else int(time.time())
    parts = words.part or list(PARTS)
    if words.dataset:
        jobs = iter([Job(p, seed, 0, str(words.dataset.resolve())) for p in words.part or ("commands", "engines")])
    elif words.case is not None:
        jobs = iter([Job(p, seed, words.case, share=words.share) for p in parts])
    elif words.records:
        jobs = None
    else:
        jobs = _schedule(parts, seed, time.monotonic() + words.seconds)
    print(f"seed {seed}, {words.workers} workers, parts: {', '.join(parts)}", flush=True)
    findings = _Findings(words.keep)
    return _run(jobs or _until(parts, seed, words.records, words.share, findings), words.workers, findings)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=180, help="how long to go on [180]")
    parser.add_argument(
        "--records",
        type=int,
        help=f"go on until each part has tried so many damaged ones (parts that count them: {', '.join(COUNTING)})",
    )
    parser.add_argument("--share", type=float, help="how many of the records of a set are damaged [drawn for each set]")
    parser.add_argument("--seed", type=int, help="what to draw from [the time]")
    parser.add_argument("--part", action="append", help="only this part; may be repeated")
    parser.add_argument("--case", type=int, help="only this case of the seed")
    parser.add_argument("--dataset", type=Path, help="this dataset, as it is, through the commands and both engines")
    parser.add_argument("--workers", type=int, default=2, help="how many processes [2]")
    parser.add_argument("--keep", type=Path, default=KEPT, help="where datasets with findings are kept [.fuzz]")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _schedule(names: list[str], seed: int, end: float) -> Iterator[Job]:
    """Cases of all parts in turn, as often as they weigh, until the time is over."""
    from tests.fuzz.parts import PARTS

    rounds = {
        name: itertools.count() if PARTS[name].cases is None else iter(range(PARTS[name].cases or 0)) for name in names
    }
    while rounds:
        for name in list(rounds):
            for _ in range(PARTS[name].weight):
                number = next(rounds[name], None)
                if number is None:
                    del rounds[name]
                    break
                if time.monotonic() > end:
                    return
                yield Job(name, seed, number)


def _until(names: list[str], seed: int, records: int, share: float | None, findings: _Findings) -> Iterator[Job]:
    """Cases of each part that counts records, one part after the other, until so many damaged ones were tried."""
    for name in names:
        for number in itertools.count() if name in COUNTING else ():
            if findings.damaged[name] >= records:
                break
            yield Job(name, seed, number, share=share)


class _Findings:
    """What was found, each kind once; and how many cases, records and findings there were. Says each minute how far it
    is."""

    def __init__(self, keep: Path) -> None:
        self.keep = keep
        self.kinds: Counter[str] = Counter()
        self.cases: Counter[str] = Counter()
        self.records: Counter[str] = Counter()
        self.damaged: Counter[str] = Counter()
        self.compared: Counter[str] = Counter()
        self.differing: Counter[str] = Counter()
        self._began = self._said = time.monotonic()

    def take(self, result: Result, worker: Worker) -> None:
        job = result.job
        self.cases[job.part] += 1
        self.records[job.part] += result.records
        self.damaged[job.part] += result.damaged
        self.compared[job.part] += result.compared
        self.differing[job.part] += bool(result.problems)
        if time.monotonic() - self._said > 60:
            self._said = time.monotonic()
            print(f"{self._said - self._began:.0f} s: {self.words(job.part)}", flush=True)
        for problem in result.problems:
            kind = f"{job.part}: {_CHANGING.sub('…', problem)[:90]}"
            self.kinds[kind] += 1
            if self.kinds[kind] == 1:
                kept = self._keep(result, worker)
                again = f"--dataset {job.given}" if job.given else f"--seed {job.seed} --case {job.number}"
                again += f" --share {job.share}" if job.share is not None else ""
                print(f"\n[{job.part}] {problem[:1500]}\n  {'; '.join(result.history)[:400]}")
                print(f"  python -m tests.fuzz --part {job.part} {again}{kept}", flush=True)
                self.keep.mkdir(exist_ok=True)
                with (self.keep / "found.txt").open("a", encoding="utf-8") as file:
                    file.write(f"python -m tests.fuzz --part {job.part} {again}  # {problem[:200]!r}\n")

    def words(self, part: str) -> str:
        """How much of a part was done."""
        words = f"{part}: {self.cases[part]:,} cases"
        if not self.records[part]:
            return words
        counts = f"{self.records[part]:,} records ({self.damaged[part]:,} damaged)"
        counts += f", {self.compared[part]:,} findings compared"
        return f"{words}, {counts}, {self.differing[part]:,} cases with differences"

    def _keep(self, result: Result, worker: Worker) -> str:
        source = worker.place / "set"
        if not source.is_dir() or result.job.given or result.job.part not in ("commands", "engines", *COUNTING):
            return ""
        target = self.keep / f"{result.job.part}-{result.job.seed}-{result.job.number}"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(source, target, symlinks=True)
        return f"\n  the dataset: {target}"


def _run(jobs: Iterator[Job], number: int, findings: _Findings) -> int:
    lock = threading.Lock()
    failed: list[BaseException] = []

    def work(place: Path) -> None:
        worker = Worker(place)
        try:
            while True:
                with lock:
                    job = next(jobs, None)
                if job is None or failed:
                    return
                result = worker.run(job)
                with lock:
                    findings.take(result, worker)
        except BaseException as error:
            failed.append(error)
            raise
        finally:
            worker.stop()

    with tempfile.TemporaryDirectory(prefix="fuzz-", ignore_cleanup_errors=True) as scratch:
        threads = [threading.Thread(target=work, args=(Path(scratch, str(i)),)) for i in range(number)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print("", *map(findings.words, sorted(findings.cases)), sep="\n")
    print(f"findings: {len(findings.kinds)} kinds, {findings.kinds.total()} in all")
    for kind, count in findings.kinds.most_common():
        print(f"  {count:5} × {kind}")
    return 1 if findings.kinds or failed else 0


if __name__ == "__main__":
    sys.exit(main())
