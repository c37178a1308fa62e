"""Compares two revisions: ``python -m tests.same REV [--only validate] [--data FOLDER …] [--every 10] [--jobs 4]``.

The revision is checked out beside, both run with this environment's libraries over the same data: fixtures, generated
sets, and folders that are named; fixtures of formats that the revision does not have are left out. Differences are
grouped; those that `expected.txt` lists pass. Exit code 1 where others are left.
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
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tests.same.cases import Case, cases, datasets_below, sampled

ROOT = Path(__file__).parents[2]
EXPECTED = Path(__file__).with_name("expected.txt")
COMMANDS = ("validate", "report", "query", "diff", "eval", "gate", "convert")
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
            answers = _both(old, asked, data, Path(scratch), options.jobs)
    return _tell(asked, *answers, options.most)


def _known(old: Path, places: list[str]) -> list[str]:
    """Without fixtures of formats that are new."""
    return [
        place
        for place in places
        if not place.startswith("fixtures/") or (old / "/".join(place.split("/", 2)[:2])).is_dir()
    ]


def _both(old: Path, asked: list[Case], data: Path, scratch: Path, jobs: int) -> list[list[dict[str, Any]]]:
    """The answers of both trees, each by so many processes, which have copies of the data at paths of one length."""
    shares: list[list[int]] = [[] for _ in range(jobs)]
    of_dataset: dict[str, int] = {}  # what a call leaves, such as a suite, a later one of the same dataset may read
    for number, case in enumerate(asked):
        dataset = case.data.partition("#")[0]
        shares[of_dataset.setdefault(dataset, len(of_dataset) % jobs)].append(number)
    answers: list[list[dict[str, Any]]] = [[{}] * len(asked), [{}] * len(asked)]

    def answer(side: int, job: int) -> None:
        place = scratch / f"{('old', 'new')[side]}-data-{job:03}"
        found = _answers((old, ROOT)[side], [asked[number] for number in shares[job]], data, place)
        for number, told in zip(shares[job], found, strict=True):
            answers[side][number] = told

    with ThreadPoolExecutor(2 * jobs) as pool:
        list(pool.map(answer, [0, 1] * jobs, [job for job in range(jobs) for _ in range(2)]))
    return answers


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


def _answers(tree: Path, asked: list[Case], data: Path, mine: Path) -> list[dict[str, Any]]:
    """What the package in ``tree`` leaves for each case, with a copy of the data at ``mine``."""
    shutil.copytree(data, mine, symlinks=True)
    env = {**os.environ, "PYTHONPATH": str(tree), "XDG_CACHE_HOME": str(mine / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    worker = [sys.executable, Path(__file__).with_name("worker.py")]
    answers: list[dict[str, Any]] = []
    while len(answers) < len(asked):  # a case that ends the process ends only itself
        lines = "".join(json.dumps({"words": c.words, "output": c.output}) + "\n" for c in asked[len(answers) :])
        done = subprocess.run(worker, cwd=mine, env=env, input=lines, capture_output=True, text=True, check=False)
        answers += [json.loads(line) for line in done.stdout.splitlines()]
        if len(answers) < len(asked):
            answers.append({"code": f"ended by {done.returncode}", "out": "", "err": done.stderr[-500:], "files": {}})
    return json.loads(json.dumps(answers).replace(mine.name, "data"))


def _tell(asked: list[Case], old: list[dict[str, Any]], new: list[dict[str, Any]], most: int) -> int:
    passes = [line.split("\t")[:2] for line in EXPECTED.read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    kinds: dict[str, list[str]] = defaultdict(list)
    passed: Counter[str] = Counter()
    for case, before, after in zip(asked, old, new, strict=True):
        for place, was, now in _differences(_decoded(before), _decoded(after)):
            kind = f"{case.words[0]} {re.sub('/[0-9]+', '/*', place)}"
            if any(fnmatchcase(case.name, name) and fnmatchcase(place, pattern) for name, pattern in passes):
                passed[kind] += 1
            else:
                kinds[kind].append(f"{case.name} {place}\n    - {was}\n    + {now}")
    for kind, found in sorted(kinds.items(), key=lambda item: -len(item[1])):
        print(f"{len(found):6} × {kind}")
        print("".join(f"  {each}\n" for each in found[:most]), end="")
    left = sum(map(len, kinds.values()))
    print(f"{len(asked)} calls compared: {left} differences, {sum(passed.values())} more that are expected")
    return int(left > 0)


def _decoded(answer: dict[str, Any]) -> dict[str, Any]:
    files = {name: _json_or_text(text) for name, text in answer["files"].items()}
    return {"code": answer["code"], "out": _json_or_text(answer["out"]), "err": _text(answer["err"]), "files": files}


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
    elif isinstance(old, list) and isinstance(new, list):
        shared = [each for each in old if each in new]
        yield place, _shown([e for e in old if e not in shared]), _shown([e for e in new if e not in shared])
    elif old != new:
        yield place, _shown(old), _shown(new)


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else f"{text[:300]}… ({len(text)} characters)"


if __name__ == "__main__":
    sys.exit(main())
