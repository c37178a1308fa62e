"""Measures retrieval beside what a user might pick: ``python benchmarks/retrieval.py`` writes results-retrieval.md.

Each engine indexes a million short documents and is asked a thousand queries, in processes of their own.

The set and the environment of the peers lie in ``$RAGDATA_BENCH_DIR`` (else the user's cache folder), about 3 GB.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from cases import HERE, RAGDATA
from measure import MEGABYTE, Sample, measure
from results import machine
from sets.names import Set, default_folder

KIND, PEERS = "zipf", HERE / "peers"
OURS = "ragdata"
SMALL = 0.1
"""The size of the set for engines that are given less."""


@dataclass(frozen=True, slots=True)
class Engine:
    """One way to search. ``scale`` is its share of the set, ``queries`` how many it is asked, ``rounds`` how often it
    is measured at most; ``index_of`` names the engine whose index it opens."""

    name: str
    title: str
    scale: float = 1
    queries: int = 1000
    rounds: int = 99
    index_of: str = ""
    note: str = ""


ENGINES = (
    Engine(OURS, "ragdata", note="ids of the best ten; the index is made by the command, with texts and checks"),
    Engine("ragdata-search", "ragdata, with texts", index_of=OURS, note="texts and snippets, too"),
    Engine("tantivy", "tantivy alone", note="its own English analyser; no texts kept"),
    Engine("fts5", "SQLite FTS5", queries=200, rounds=1, note="its Porter tokenizer; no texts kept"),
    Engine("bm25s", "bm25s", queries=300, rounds=1, note="numpy; the whole corpus in memory; no texts kept"),
    Engine("bm25s-numba", "bm25s, numba", rounds=1, index_of="bm25s", note="compiled in each process"),
    Engine("rank-bm25", "rank-bm25", SMALL, 50, 1, note="on a tenth; no files: indexed in each process"),
)


@dataclass(slots=True)
class Run:
    """One engine, measured: samples of indexing and asking, and the bytes of its index, texts apart."""

    engine: Engine
    indexed: list[Sample] = field(default_factory=list)
    asked: list[Sample] = field(default_factory=list)
    again: list[Sample] = field(default_factory=list)
    first: list[Sample] = field(default_factory=list)
    index_bytes: int = 0
    text_bytes: int = 0

    def answers(self, name: str) -> float | None:
        """The median of what the asking processes said."""
        said = [json.loads(s.output.splitlines()[-1])[name] for s in self.asked if s.exit_code == 0]
        return statistics.median(said) if said else None

    @property
    def index_seconds(self) -> float | None:
        """The median wall time of the process that indexes."""
        return _median(self.indexed, lambda s: s.seconds)


def main() -> None:
    """Read the words, run, write."""
    words = _parser().parse_args()
    folder: Path = words.folder
    if not RAGDATA.exists():
        raise SystemExit(f"ragdata is not installed beside {sys.executable}")
    engines = [e for e in ENGINES if not words.only or e.name.split("-search")[0] in words.only]
    if not engines:
        raise SystemExit(f"no engine is called {', '.join(words.only)}; there are {', '.join(e.name for e in ENGINES)}")
    for scale in sorted({words.scale * e.scale for e in engines}):
        _generate(folder, Set(KIND, scale))
    if any(not e.name.startswith(OURS) for e in engines):
        _install(folder)
    start = time.perf_counter()
    runs = _run(engines, folder, words.scale, words.rounds)
    facts = {
        **machine(),
        "versions": _versions(folder),
        "set": f"{_documents(runs[0], words.scale):,} documents of 20 to 90 words by Zipf's law, queries of 3 to 8",
        "measured": f"{words.rounds} rounds in {(time.perf_counter() - start) / 60:.0f} minutes",
    }
    page = words.output / "results-retrieval.md"
    page.write_text("\n".join(_page(runs, facts, words.scale)) + "\n", encoding="utf-8")
    document = {"facts": facts, "engines": [_document(run, words.scale) for run in runs]}
    text = json.dumps(document, indent=1, ensure_ascii=False)
    (words.output / "results-retrieval.json").write_text(f"{text}\n", encoding="utf-8")
    print(page)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1, help="size of the set; 1 is a million documents")
    parser.add_argument("--rounds", type=int, default=3, help="slow peers take part in one")
    parser.add_argument("--only", action="append", default=[], metavar="ENGINE", help="may be repeated")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where the set and the peers lie")
    parser.add_argument("--output", type=Path, default=HERE, help="folder for the results")
    return parser


def _generate(folder: Path, made: Set) -> None:
    if (folder / made.name).exists():
        return
    _say(f"making {made.name}")
    words = [made.kind, "--scale", f"{made.scale:g}", "--folder", str(folder)]
    subprocess.run([sys.executable, str(HERE / "generate.py"), *words], check=True, stdout=subprocess.DEVNULL)


def _python(folder: Path) -> Path:
    return folder / "retrieval-venv" / "bin" / "python"


def _install(folder: Path) -> None:
    wanted = (PEERS / "requirements-retrieval.txt").read_text()
    stamp = _python(folder).parents[1] / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    _say("installing the peers")
    subprocess.run([sys.executable, "-m", "venv", str(stamp.parent)], check=True)
    pip = [str(_python(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(PEERS / "requirements-retrieval.txt")], check=True)
    stamp.write_text(wanted)


def _run(engines: list[Engine], folder: Path, scale: float, rounds: int) -> list[Run]:
    runs = [Run(engine) for engine in engines]
    place = folder / "indexes"
    for number in range(rounds):
        for run in runs:
            if number < run.engine.rounds:
                _one(run, folder, place, scale)
                _report(number + 1, run)
    shutil.rmtree(place, ignore_errors=True)
    return runs


def _one(run: Run, folder: Path, place: Path, scale: float) -> None:
    """Index (once for those that share an index) and ask."""
    engine = run.engine
    root = str(folder / Set(KIND, scale * engine.scale).name)
    index = place / (engine.index_of or engine.name)
    ours = engine.name.startswith(OURS)
    peer = [str(_python(folder)), str(PEERS / "lexical_engines.py"), root]
    if not engine.index_of:
        shutil.rmtree(index, ignore_errors=True)
        index.parent.mkdir(parents=True, exist_ok=True)
        command = [str(RAGDATA), "index", root, "--index-dir", str(index), "--mode", "bm25"]
        run.indexed.append(measure(command if ours else [*peer, "index", engine.name, str(index)]))
        run.index_bytes, run.text_bytes = _bytes(index)
        if ours:
            run.again.append(measure(command))
            question = ["retrieve", root, _question(Path(root)), "--index-dir", str(index)]
            run.first.append(measure([str(RAGDATA), *question]))
    if ours:
        what = "search" if engine.index_of else "rank"
        script = [sys.executable, str(PEERS / "ragdata_queries.py"), root, what]
        run.asked.append(measure([*script, str(index), str(engine.queries)]))
    else:
        run.asked.append(measure([*peer, "query", engine.name, str(index), str(engine.queries)]))


def _question(root: Path) -> str:
    with (root / "queries.jsonl").open(encoding="utf-8") as file:
        text: str = json.loads(file.readline())["text"]
        return text


def _bytes(index: Path) -> tuple[int, int]:
    """The bytes of the index, and those of the texts that are kept beside it."""
    sizes = {path.relative_to(index): path.stat().st_size for path in index.rglob("*") if path.is_file()}
    texts = sum(size for path, size in sizes.items() if path.parts[0] in ("passages", "corpus.jsonl"))
    return sum(sizes.values()) - texts, texts


def _report(number: int, run: Run) -> None:
    indexed = f"{run.indexed[-1].seconds:8.1f} s {run.indexed[-1].megabytes:7.0f} MB" if run.indexed else " " * 21
    _say(f"{number}  {run.engine.name:16}{indexed}  p50 {run.answers('p50_ms') or 0:9.3f} ms")
    for sample in (*run.indexed[-1:], *run.asked[-1:], *run.again[-1:], *run.first[-1:]):
        if sample.exit_code:
            _say(f"   exit code {sample.exit_code}: {(sample.errors.strip().splitlines() or [''])[-1]}")


HEAD = (
    "| engine | documents | index s | documents/s | × | peak MB | × | index MB | texts MB | p50 ms | × | p95 ms "
    "| first ms | MB | found | |"
)


def _page(runs: list[Run], facts: dict[str, Any], scale: float) -> list[str]:
    ours = next((r for r in runs if r.engine.name == OURS), None)
    lines = [
        "# Benchmark results: retrieval",
        "",
        "Written by `python benchmarks/retrieval.py`; do not edit. What the columns mean stands at the end.",
        "",
        *(f"* {name}: {value}" for name, value in facts.items()),
        "",
    ]
    if ours is not None:
        lines += ["## Targets", "", "| target | goal | reached | |", "|---|--:|--:|---|", *_targets(ours, scale), ""]
    lines += ["## Engines", "", HEAD, "|---|" + "--:|" * 14 + "---|"]
    lines += [_row(run, ours, scale) for run in runs]
    return [*lines, "", *_LEGEND]


_LEGEND = (
    "Columns:",
    "",
    "* index s, peak MB: of the whole process that indexes, median and highest of the rounds; documents/s from it",
    "* ×: how many times the value of ragdata (documents/s: how many times its speed)",
    "* index MB, texts MB: on the disk, units of 10⁶ bytes",
    "* p50, p95: one query after the other, one thread, the best ten, by the clock of the asking process",
    "* first ms: opening the index and the first query, in a new process, without the start of Python",
    "* MB: peak memory of the process that asks",
    "* found: share of the queries whose own document is among the ten",
    "",
    "Each engine stems English; only ragdata keeps the texts, for snippets. Files lie in the page cache.",
)


def _targets(ours: Run, scale: float) -> list[str]:
    speed = _speed(ours, scale)
    peak = _median(ours.indexed, lambda s: s.megabytes)
    wanted: list[tuple[str, float, float | None, str]] = [
        ("documents indexed a second, at least", 30_000, speed, ",.0f"),
        ("peak memory of indexing, MB", 600, peak, ",.0f"),
        ("95th percentile of a query, ms", 2, ours.answers("p95_ms"), ".2f"),
        ("first query in a new process, ms", 300, ours.answers("first_ms"), ".0f"),
        ("`ragdata index` of the unchanged dataset, s", 0.5, _median(ours.again, lambda s: s.seconds), ".2f"),
    ]
    lines = []
    for name, goal, reached, form in wanted:
        good = reached is not None and (reached >= goal if "at least" in name else reached <= goal)
        shown = "–" if reached is None else format(reached, form)
        lines.append(f"| {name} | {goal:,g} | {shown} | {'met' if good else '**missed**'} |")
    whole = _median(ours.first, lambda s: s.seconds)
    if whole is not None:
        lines.append(f"| `ragdata retrieve`, the whole process, s | – | {whole:.2f} | |")
    return lines


def _documents(run: Run, scale: float) -> int:
    return round(1_000_000 * scale * run.engine.scale)


def _speed(run: Run, scale: float) -> float | None:
    return _documents(run, scale) / run.index_seconds if run.index_seconds else None


def _row(run: Run, ours: Run | None, scale: float) -> str:
    engine = run.engine
    same = ours if ours is not None and ours is not run and engine.scale == 1 else None
    speed, peak = _speed(run, scale), _highest(run.indexed)
    p50 = run.answers("p50_ms")
    cells = [
        engine.title,
        f"{_documents(run, scale):,}",
        _shown(run.index_seconds, ".1f"),
        _shown(speed, ",.0f"),
        _times(speed, _speed(same, scale) if same else None),
        _shown(peak, ",.0f"),
        _times(peak, _highest(same.indexed) if same else None),
        _shown(run.index_bytes / MEGABYTE if run.indexed else None, ",.0f"),
        _shown(run.text_bytes / MEGABYTE if run.indexed else None, ",.0f"),
        _shown(p50, ".2f"),
        _times(p50, same.answers("p50_ms") if same else None),
        _shown(run.answers("p95_ms"), ".2f"),
        _shown(run.answers("first_ms"), ",.0f"),
        _shown(_highest(run.asked), ",.0f"),
        _shown(run.answers("found"), ".3f"),
        engine.note + (f"; {engine.queries:,} queries" if engine.queries != ENGINES[0].queries else ""),
    ]
    return f"| {' | '.join(cells)} |"


def _document(run: Run, scale: float) -> dict[str, Any]:
    """All that was measured of an engine."""
    kept = ("seconds", "cpu_seconds", "megabytes", "exit_code")
    samples = {"indexing": run.indexed, "asking": run.asked, "unchanged": run.again, "one_question": run.first}
    said = [json.loads(s.output.splitlines()[-1]) for s in run.asked if s.exit_code == 0]
    return {
        **asdict(run.engine),
        "documents": _documents(run, scale),
        "documents_per_second": _speed(run, scale),
        "index_bytes": run.index_bytes,
        "text_bytes": run.text_bytes,
        "answers": said,
        "runs": {name: [{k: getattr(s, k) for k in kept} for s in found] for name, found in samples.items() if found},
    }


def _median(samples: list[Sample], value: Callable[[Sample], float]) -> float | None:
    found = [value(s) for s in samples if s.exit_code == 0]
    return statistics.median(found) if found else None


def _highest(samples: list[Sample]) -> float | None:
    return max((s.megabytes for s in samples if s.exit_code == 0), default=None)


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)


def _times(value: float | None, other: float | None) -> str:
    return "–" if value is None or not other else f"{value / other:.2f}"


def _versions(folder: Path) -> str:
    ours = measure([str(RAGDATA), "--version"]).output.strip()
    names = ("tantivy", "bm25s", "numba", "numpy", "rank-bm25", "PyStemmer")
    script = (
        "import sqlite3\nfrom importlib.metadata import version\n"
        f"print(', '.join(f'{{n}} {{version(n)}}' for n in {names}) + ', SQLite ' + sqlite3.sqlite_version)"
    )
    peers = measure([str(_python(folder)), "-c", script]).output.strip() if _python(folder).exists() else ""
    return ", ".join(v for v in (ours, peers) if v)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
