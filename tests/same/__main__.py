"""Compares two revisions: ``python -m tests.same REV [--only validate] [--data FOLDER …] [--every 10] [--jobs 4]``.

The revision is checked out beside, both run with this environment's libraries over the same data: fixtures, generated
sets, and folders that are named; fixtures of formats that the revision does not have are left out. Differences are
printed as they are found, a few of each kind, and counted by kind at the end; those that `expected.txt` lists pass.
Exit code 1 where others are left.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from tests.same.cases import Case, cases, datasets_below, sampled
from tests.same.findings import IMPLIED, finding_differences

ROOT = Path(__file__).parents[2]
EXPECTED = Path(__file__).with_name("expected.txt")
COMMANDS = ("validate", "fix", "report", "query", "diff", "eval", "gate", "convert")
GENERATED = ("splade:0.02:20", "datamind:0.02:20", "gfm-rag:0.02:20", "sage:0.05:20", "beir:0.02:0")
_CHANGES = re.compile(r"\d+(?:\.\d+)? (?:ms|s)\b|\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|\+00:00)?|[\d,.]+ (?:records|docs)/s")
_LEFT_OUT = {"seconds", "ragdata", "ragdata_version", "created", "when", "made"}


def main() -> int:
    """Run both, compare, and say what differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.same", description=__doc__.splitlines()[0])
    parser.add_argument("rev", help="the revision to compare with, such as v0.1.0 or HEAD~3")
    parser.add_argument("--only", action="append", choices=COMMANDS, help="only this command (repeatable)")
    parser.add_argument("--fixtures", default="*", help="only the fixtures of this format")
    parser.add_argument("--data", action="append", default=[], type=Path, help="a folder with real sets (repeatable)")
    parser.add_argument("--no-generated", action="store_true", help="without the generated sets")
    parser.add_argument("--most", type=int, default=3, help="examples shown of one kind of difference")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="of each kind of call one in N")
    parser.add_argument("--seed", default="0", help="which ones")
    parser.add_argument("--jobs", type=int, default=1, help="processes of each revision at a time (1)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ragdata-same-") as scratch:
        data = Path(scratch, "data")
        shutil.copytree(ROOT / "fixtures", data / "fixtures", symlinks=True)
        sets = datasets_below(data / "fixtures", f"{options.fixtures}/valid/*")
        broken = datasets_below(data / "fixtures", f"{options.fixtures}/broken/*")
        if not options.no_generated:
            sets += _generated(data / "generated")
        for folder in options.data:
            shutil.copytree(folder, data / folder.name, symlinks=True)
            sets += datasets_below(data / folder.name, "*")
        with _checked_out(options.rev, Path(scratch, "old")) as old:
            asked = list(cases(*(_known(old, places) for places in (sets, broken)), options.only or COMMANDS))
            asked = sampled(asked, options.every, options.seed)
            comparison = Comparison(len(asked), options.most)
            for number, before, after in _both(old, asked, data, Path(scratch), options.jobs):
                comparison.add(asked[number], before, after)
    return comparison.end()


def _known(old: Path, places: list[str]) -> list[str]:
    """Without fixtures of formats that are new."""
    return [
        place
        for place in places
        if not place.startswith("fixtures/") or (old / "/".join(place.split("/", 2)[:2])).is_dir()
    ]


class _Workers:
    """The processes that are at work, to be ended where the comparison is."""

    def __init__(self) -> None:
        self.running: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def stop(self) -> None:
        """End them; no other is started."""
        self.stopped = True
        for process in tuple(self.running):
            process.kill()


def _both(
    old: Path, asked: list[Case], data: Path, scratch: Path, jobs: int
) -> Iterator[tuple[int, dict[str, Any], dict[str, Any]]]:
    """The answers of both trees as they come, each by so many processes, which have copies of the data at paths of one
    length.
    """
    shares: list[list[int]] = [[] for _ in range(jobs)]
    of_dataset: dict[str, int] = {}  # what a call leaves, such as a suite, a later one of the same dataset may read
    for number, case in enumerate(asked):
        dataset = case.data.partition("#")[0]
        shares[of_dataset.setdefault(dataset, len(of_dataset) % jobs)].append(number)
    arrived: SimpleQueue[tuple[int, int, dict[str, Any]]] = SimpleQueue()
    workers = _Workers()

    def answer(side: int, job: int) -> None:
        place = scratch / f"{('old', 'new')[side]}-data-{job:03}"
        found = _answers((old, ROOT)[side], [asked[number] for number in shares[job]], data, place, workers)
        for number, each in zip(shares[job], found, strict=True):
            arrived.put((side, number, each))

    waiting: dict[int, tuple[int, dict[str, Any]]] = {}
    with ThreadPoolExecutor(2 * jobs) as pool:
        at_work = [pool.submit(answer, side, job) for job in range(jobs) for side in (0, 1)]
        try:
            for _ in range(2 * len(asked)):
                side, number, found = _next(arrived, at_work)
                if number not in waiting:
                    waiting[number] = side, found
                else:
                    other = waiting.pop(number)[1]
                    yield (number, other, found) if side else (number, found, other)
        except BaseException:  # Ctrl+C, too: the pool would wait for hours
            workers.stop()
            raise


def _next(arrived: SimpleQueue[Any], at_work: list[Future[None]]) -> Any:
    """What arrives next; the error of a thread that has failed, as nothing would arrive from it."""
    while True:
        with suppress(Empty):
            return arrived.get(timeout=5)
        for each in at_work:
            if each.done():
                each.result()


class _checked_out:  # noqa: N801 - reads as a verb in a with statement
    """A revision in a folder of its own, which git forgets afterwards."""

    def __init__(self, rev: str, place: Path) -> None:
        self._rev, self._place = rev, place

    def __enter__(self) -> Path:
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", self._place, self._rev], cwd=ROOT, check=True)
        return self._place

    def __exit__(self, *_: object) -> None:
        subprocess.run(["git", "worktree", "remove", "--force", self._place], cwd=ROOT, check=True)


def _generated(folder: Path) -> list[str]:
    """Sets large enough for the engine of big data, sound and with planted faults."""
    made = []
    for words in GENERATED:
        kind, scale, faults = words.split(":")
        command = [sys.executable, "benchmarks/generate.py", kind, "--scale", scale, "--faults", faults]
        done = subprocess.run([*command, "--folder", folder], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"benchmarks/generate.py {words}: {done.stderr.strip()}")
        made.append(done.stdout.strip().splitlines()[-1])
    return [Path(place).relative_to(folder.parent).as_posix() for place in made]


def _answers(tree: Path, asked: list[Case], data: Path, mine: Path, workers: _Workers) -> Iterator[dict[str, Any]]:
    """What the package in ``tree`` leaves for each case, with a copy of the data at ``mine``. ``workers`` has
    the process that is at work."""
    shutil.copytree(data, mine, symlinks=True)
    env = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(mine / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    worker = [sys.executable, Path(__file__).with_name("worker.py")]
    answered = 0
    while answered < len(asked) and not workers.stopped:  # a case that ends the process ends only itself
        with tempfile.TemporaryFile("w+") as lines, tempfile.TemporaryFile("w+", errors="replace") as errors:
            lines.writelines(json.dumps({"words": c.words, "output": c.output}) + "\n" for c in asked[answered:])
            lines.seek(0)
            process = subprocess.Popen(
                worker, cwd=mine, env=env, stdin=lines, stdout=subprocess.PIPE, stderr=errors, text=True
            )
            workers.running.add(process)
            assert process.stdout is not None
            for line in process.stdout:
                yield json.loads(line.replace(mine.name, "data"))
                answered += 1
            process.wait()
            workers.running.discard(process)
            errors.seek(0)
            if answered < len(asked):
                yield {"code": f"ended by {process.returncode}", "out": "", "err": errors.read()[-500:], "files": {}}
                answered += 1


class Comparison:
    """Prints what differs, a few examples of each kind as they are found, and how far it has come."""

    def __init__(self, calls: int, most: int) -> None:
        lines = [line.split("\t") for line in EXPECTED.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
        self._passes = [line[:2] for line in lines if line[0] != "words"]
        self._words = [(re.compile(line[1]), line[2]) for line in lines if line[0] == "words"]
        self._calls, self._most = calls, most
        self._kinds: Counter[str] = Counter()
        self._codes: dict[str, Counter[str]] = {}
        self._compared = self._expected = 0
        self._spoke = time.monotonic()

    def add(self, case: Case, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Compare the answers to one call."""
        old, new = _decoded(before, self._words), _decoded(after)
        for words, code, one, other in finding_differences(_without_findings(old), _without_findings(new)):
            self._take(case, f"{code} {words}", f"findings: {words}", _shown(one), _shown(other), code)
        for place, was, now in _differences(old, new):
            self._take(case, place, re.sub("/[0-9]+", "/*", place), was, now)
        self._compared += 1
        if time.monotonic() - self._spoke > 30:
            self._spoke = time.monotonic()
            print(f"{self._compared} of {self._calls} calls: {self._kinds.total()} differences", file=sys.stderr)

    def _take(self, case: Case, place: str, kind: str, was: str, now: str, code: str = "") -> None:
        if any(fnmatchcase(case.name, name) and fnmatchcase(place, pattern) for name, pattern in self._passes):
            self._expected += 1
            return
        kind = f"{case.command} {kind}"
        self._kinds[kind] += 1
        self._codes.setdefault(kind, Counter())[code] += 1
        shown = self._codes[kind][code] if kind.split(": ")[-1] not in ("words", "related") else self._kinds[kind]
        if shown <= self._most:
            print(f"{case.name} {place}\n    - {was}\n    + {now}", flush=True)

    def end(self) -> int:
        """Print how often each kind of difference was found. 1 where there is one that is not expected."""
        for kind, count in self._kinds.most_common():
            of_rules = [f"{code} × {number}" for code, number in sorted(self._codes[kind].items()) if code]
            print(f"{count:6} × {kind}{' of ' * bool(of_rules)}{', '.join(of_rules)}")
        found = self._kinds.total()
        print(f"{self._compared} calls compared: {found} differences, {self._expected} more that are expected")
        return int(found > 0)


def _decoded(answer: dict[str, Any], words: Sequence[tuple[re.Pattern[str], str]] = ()) -> dict[str, Any]:
    def reworded(text: str) -> str:
        for old, new in words:
            text = old.sub(new, text)
        return text

    files = {name: _json_or_text(reworded(text)) for name, text in answer["files"].items()}
    out, err = _json_or_text(reworded(answer["out"])), _text(reworded(answer["err"]))
    return {"code": answer["code"], "out": out, "err": err, "files": files}


def _without_findings(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Takes the findings out of the answer, and what follows from them."""
    document = answer["out"]
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        return []
    for part in (document, *document.get("datasets", ())):
        for key in IMPLIED:
            part.pop(key, None)
    return list(document.pop("findings"))


def _json_or_text(text: str) -> object:
    try:
        return _lasting(json.loads(text))
    except ValueError:
        return _text(text)


def _text(text: str) -> list[str]:
    return _CHANGES.sub("…", text).splitlines()


def _lasting(value: Any) -> Any:
    """A document without times and versions."""
    if isinstance(value, dict):
        return {name: _lasting(each) for name, each in value.items() if name not in _LEFT_OUT}
    return [_lasting(each) for each in value] if isinstance(value, list) else value


def _differences(old: Any, new: Any, place: str = "") -> Iterator[tuple[str, str, str]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for name in (*old, *(n for n in new if n not in old)):
            yield from _differences(old.get(name, "(none)"), new.get(name, "(none)"), f"{place}/{name}")
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(one, other, f"{place}/{number}")
    elif isinstance(old, list) and isinstance(new, list) and _are_named(old) and _are_named(new):
        yield from _differences(*({each["name"]: each for each in side} for side in (old, new)), place)
    elif isinstance(old, list) and isinstance(new, list):
        shared = [each for each in old if each in new]
        yield place, _shown([e for e in old if e not in shared]), _shown([e for e in new if e not in shared])
    elif old != new:
        yield place, _shown(old), _shown(new)


def _are_named(values: list[Any]) -> bool:
    """Whether these are objects with names of their own, such as columns: they are compared by name."""
    names = [value.get("name") if isinstance(value, dict) else None for value in values]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"


if __name__ == "__main__":
    sys.exit(main())
