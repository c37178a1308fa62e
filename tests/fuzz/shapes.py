"""Shapes at n, 2n and 4n: time and memory grow with them, no faster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.command_line import ROOT
from tests.fuzz.cases import Case
from tests.fuzz.commands import environment

Shape = Callable[[Path, int], None]
_STARTS_IN = 4.0  # seconds that a run may take whatever the size, on a busy machine
_STARTS_WITH = 250 << 20  # what beyond 3 MB of data is loaded whatever the size: pyarrow, numpy and DuckDB, 170 MB
_MOST = 120.0


def _beir(folder: Path, records: Iterator[str] | list[str], queries: int = 2) -> None:
    """A BEIR folder whose corpus has those records after two usual ones."""
    (folder / "qrels").mkdir(parents=True)
    usual = [f'{{"_id": "a{i}", "title": "", "text": "the pier {i}"}}' for i in range(2)]
    (folder / "corpus.jsonl").write_text("\n".join([*usual, *records]) + "\n", encoding="utf-8")
    asked = "".join(f'{{"_id": "q{i}", "text": "which pier {i}"}}\n' for i in range(queries))
    (folder / "queries.jsonl").write_text(asked, encoding="utf-8")
    rows = "".join(f"q{i}\ta{i % 2}\t1\n" for i in range(queries))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}", encoding="utf-8")


def _record(number: int, metadata: str) -> str:
    return f'{{"_id": "d{number}", "title": "", "text": "harbour {number}", "metadata": {metadata}}}'


def depth(folder: Path, n: int) -> None:
    """Arrays in arrays."""
    _beir(folder, [_record(0, f'{{"a": {"[" * n * 20_000}{"]" * n * 20_000}}}')])


def objects_in_objects(folder: Path, n: int) -> None:
    """Objects in objects."""
    _beir(folder, [_record(0, '{"a":' * n * 10_000 + "1" + "}" * n * 10_000)])


def members(folder: Path, n: int) -> None:
    """One object of many members."""
    _beir(folder, [_record(0, json.dumps({f"key {i}": i for i in range(n * 40_000)}))])


def own_keys(folder: Path, n: int) -> None:
    """Many objects with a key of their own each."""
    _beir(folder, (_record(i, f'{{"key {i}": 0.5}}') for i in range(n * 15_000)))


def long_line(folder: Path, n: int) -> None:
    """One text of many words."""
    _beir(folder, [f'{{"_id": "d", "title": "", "text": "{"harbour tide " * n * 250_000}"}}'])


def files(folder: Path, n: int) -> None:
    """Many files beside the dataset."""
    _beir(folder, [])
    (folder / "notes").mkdir()
    for i in range(n * 2_500):
        (folder / "notes" / f"{i}.json").write_text(f'{{"note": {i}}}', encoding="utf-8")


def findings(folder: Path, n: int) -> None:
    """Many judgements of documents that are not there."""
    _beir(folder, [])
    with (folder / "qrels" / "test.tsv").open("a", encoding="utf-8") as file:
        file.writelines(f"q0\tx{i}\t1\n" for i in range(n * 25_000))


SHAPES: tuple[Shape, ...] = (depth, objects_in_objects, members, own_keys, long_line, files, findings)
COMMANDS: dict[str, tuple[str, ...]] = {
    "validate": ("validate", "SET", "--max-per-rule", "0", "--output-format", "ndjson"),
    "report": ("report", "SET", "-q"),
    "query": ("query", "SET", "select count(*) from documents"),
    "convert": ("convert", "SET", "OUT", "--to", "trec", "-q", "--keep-going"),
    "index": ("index", "SET", "--mode", "bm25"),
}
CASES = len(SHAPES) * len(COMMANDS)


def check(case: Case) -> Iterator[str]:
    """One shape and one command at three sizes."""
    shape = SHAPES[case.number % len(SHAPES)]
    name, words = list(COMMANDS.items())[case.number // len(SHAPES) % len(COMMANDS)]
    case.history = [f"{shape.__name__}, {name}"]
    measured: list[tuple[float, int]] = []
    with environment(case.scratch):
        for n in (1, 2, 4):
            case.note(f"{name}, {shape.__name__} × {n}")
            place = case.scratch / str(n)
            shape(place, n)
            meant = {"SET": str(place), "OUT": str(case.scratch / f"out{n}")}
            code, seconds, memory = _measured([meant.get(w, w) for w in words])
            measured.append((seconds, memory))
            if code not in (0, 1, 2) or seconds > _MOST:
                yield f"{name}: {shape.__name__} × {n}: exit code {code} after {seconds:.0f} s"
                return
    (first, small), (last, large) = measured[0], measured[-1]
    sizes = ", ".join(f"{s:.1f} s and {m >> 20:,} MB" for s, m in measured)
    if last > 4 * 1.8 * first + _STARTS_IN:
        yield f"{name}: {shape.__name__}: time grows faster than the data: {sizes}"
    if large - _STARTS_WITH > 4 * 1.5 * max(small - _STARTS_WITH, 20 << 20):
        yield f"{name}: {shape.__name__}: memory grows faster than the data: {sizes}"


def _measured(words: list[str]) -> tuple[int, float, int]:
    """Exit code, seconds and most bytes of a process of its own."""
    started = time.monotonic()
    process = subprocess.Popen(
        ["timeout", "-k", "5", f"{_MOST + 10:.0f}", sys.executable, "-m", "ragdatakit", *words],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, time.monotonic() - started, usage.ru_maxrss * 1024
