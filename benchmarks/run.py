"""Measures ragdata beside its peers: ``python benchmarks/run.py`` makes the sets, runs every case, writes the results.

Sets and the environment of the peers lie in ``$RAGDATA_BENCH_DIR`` (else the user's cache folder), about 8 GB; with
``--series`` 5 GB more.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from cases import CONVERTED, HERE, RAGDATA, Case, all_cases
from engine_cases import engine_cases
from figures import Figures, Measured
from measure import measure
from results import machine, write_json, write_markdown
from score import Score, score
from sets.names import Set, default_folder

# The measuring process must stay small (see measure.Sample): everything that needs numpy is run, not imported.


def main() -> None:
    """Read the words, run, write."""
    words = _parser().parse_args()
    folder: Path = words.folder
    folder.mkdir(parents=True, exist_ok=True)
    given = engine_cases(words.scale) if words.engine else all_cases(words.scale, series=words.series)
    cases = _beside(_chosen(given, words.only))
    if not cases:
        raise SystemExit(f"no case has any of {', '.join(words.only)} in its name")
    if any(c.tool == "ragdata" for c in cases) and not RAGDATA.exists():
        raise SystemExit(f"ragdata is not installed beside {sys.executable}")
    for made in dict.fromkeys(s for c in cases for s in (c.before, c.set) if s):
        _generate(folder, made)
        _read_afresh(folder / made.name)
    if any(c.tool not in ("ragdata", "python") for c in cases):
        _install_peers(folder)
    rounds = 1 if words.quick else words.rounds
    words.output.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    figures = Figures(_run(cases, folder, rounds), words.busy)
    scores = {} if words.no_score else dict(_scores(cases, folder))
    facts = _facts(folder, words.scale, rounds, time.perf_counter() - start)
    if words.busy:
        facts["busy"] = "others used the machine: targets are judged by processor seconds, wall times vary"
    write_markdown(words.output / f"{words.results}.md", figures, scores, facts)
    write_json(words.output / f"{words.results}.json", figures, scores, facts)
    print(words.output / f"{words.results}.md")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1, help="size of the sets; 1 is the documented one")
    parser.add_argument("--rounds", type=int, default=5, help="slow peers take part in one, large odd files in three")
    parser.add_argument("--busy", action="store_true", help="others use the machine: judge by processor seconds")
    parser.add_argument("--quick", action="store_true", help="one round")
    parser.add_argument("--engine", action="store_true", help="the engine's own table: every format, cores, faults")
    parser.add_argument("--series", action="store_true", help="also a quarter of the SPLADE set, 4 and 16 times that")
    parser.add_argument(
        "--only", action="append", default=[], metavar="TEXT", help="cases with this in their name; may be repeated"
    )
    parser.add_argument("--no-score", action="store_true", help="do not compare findings with the planted faults")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where sets and peers lie")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the results")
    parser.add_argument("--results", default="results", metavar="NAME", help="what to call NAME.md and NAME.json")
    return parser


def _chosen(cases: list[Case], only: list[str]) -> list[Case]:
    """The cases that were asked for, with those they are compared with."""
    if not only:
        return cases
    named = {c.name for c in cases if any(text.lower() in c.name.lower() for text in only)}
    named |= {c.against for c in cases if c.name in named}
    return [c for c in cases if c.name in named]


def _beside(cases: list[Case]) -> list[Case]:
    """The same, each right behind what it is measured against, and behind others of that: a machine is slower at one
    minute than at another, and should not be so in one of two figures only."""
    found: list[Case] = []
    for case in cases:
        others = [n for n, other in enumerate(found) if case.against and case.against in (other.name, other.against)]
        found.insert(others[-1] + 1 if others else len(found), case)
    return found


def _generate(folder: Path, made: Set) -> None:
    if (folder / made.name).exists():
        return
    _say(f"making {made.name}")
    words = [made.kind, "--scale", f"{made.scale:g}", "--faults", str(made.faults), "--folder", str(folder)]
    command = [sys.executable, str(HERE / "generate.py"), *words, *["--gz"] * made.gz]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _read_afresh(made: Path) -> None:
    """Have the system forget a set and read it again: in its memory files lie as they were written or last read, in
    pieces of which small ones take up to three times as long to read."""
    for path in sorted(p for p in made.rglob("*") if p.is_file()):
        with path.open("rb", buffering=0) as file:
            if hasattr(os, "posix_fadvise"):
                os.fsync(file)
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while file.read(1 << 20):
                pass


def _install_peers(folder: Path) -> None:
    home = folder / "peers-venv"
    wanted = "".join((HERE / "peers" / n).read_text() for n in ("requirements.txt", "requirements-bare.txt"))
    stamp = home / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    _say("installing the peers")
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(HERE / "peers" / "requirements.txt")], check=True)
    subprocess.run([*pip, "--no-deps", "-r", str(HERE / "peers" / "requirements-bare.txt")], check=True)
    stamp.write_text(wanted)


def _run(cases: list[Case], folder: Path, rounds: int) -> list[Measured]:
    measured = [Measured(case) for case in cases]
    for number in range(rounds):
        for family in _families(measured):
            taking_part = [one for one in family if number < one.case.rounds]
            for turn in range(max((one.case.repeats for one in taking_part), default=0)):
                for one in (one for one in taking_part if turn < one.case.repeats):
                    shutil.rmtree(folder / CONVERTED, ignore_errors=True)
                    one.samples.append(measure(one.case.command(folder), cores=one.case.cores))
            for one in taking_part:
                _report(number + 1, one)
    shutil.rmtree(folder / CONVERTED, ignore_errors=True)
    return measured


def _families(measured: list[Measured]) -> list[list[Measured]]:
    """Cases that are measured against each other, which take turns."""
    firsts: dict[str, str] = {}
    for one in measured:
        firsts[one.case.name] = firsts.get(one.case.against, one.case.name)
    return [list(family) for _, family in groupby(measured, lambda one: firsts[one.case.name])]


def _report(number: int, measured: Measured) -> None:
    last, case = measured.samples[-1], measured.case
    _say(f"{number}  {case.name:34}{last.seconds:9.3f} s {last.megabytes:7.0f} MB")
    if last.exit_code != case.exit_code:
        end = last.errors.strip().splitlines()[-1:] or [""]
        _say(f"   exit code {last.exit_code} instead of {case.exit_code}: {end[0]}")


def _scores(cases: list[Case], folder: Path) -> Iterator[tuple[str, Score]]:
    for case in cases:
        if case.tool == "ragdata" and case.set and (folder / f"{case.set.name}.faults.json").exists():
            _say(f"comparing findings with the planted faults: {case.set.name}")
            found = score(case.command(folder), folder / case.set.name)
            if found:
                yield case.set.name, found
            else:
                _say("   no findings to compare: the run failed")


def _facts(folder: Path, scale: float, rounds: int, seconds: float) -> dict[str, Any]:
    full = (
        "1 M documents, 0.1 M queries and 5 M triplets; 0.5 M chunks and 2 M triples; an array of 500 MB; "
        "1 M nodes and 5 M edges; 10 000 records of 10 KB; 0.4 M documents of 1 KB"
    )
    sets = f"scale {scale:g}; 1 is {full}"
    took = f"{rounds} rounds in {seconds / 60:.0f} minutes"
    return {**machine(), "versions": _versions(folder), "sets": sets, "measured": took}


def _versions(folder: Path) -> str:
    ragdata = measure([str(RAGDATA), "--version"]).output.strip() if RAGDATA.exists() else ""
    names = ("duckdb", "light-splade", "pandera", "pandas", "frictionless", "great_expectations", "jsonschema",
             "check-jsonschema")  # fmt: skip
    script = f"from importlib.metadata import version\nprint(', '.join(f'{{n}} {{version(n)}}' for n in {names}))"
    interpreter = folder / "peers-venv" / "bin" / "python"
    peers = measure([str(interpreter), "-c", script]).output.strip() if interpreter.exists() else ""
    return ", ".join(v for v in (ragdata, peers) if v)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
