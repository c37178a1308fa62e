"""Writes what was measured: a table to read, and everything as JSON."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from figures import Figures, Measured
from score import Score
from targets import targets

LEGEND = (
    "Columns:",
    "",
    "* seconds: wall time of a whole fresh process, median of the runs; the cases take turns within each round",
    "* ×, after seconds: to the scan of the same data (*Start*: to `python -c pass`; all bad: to all",
    "  good; reports: to `validate` on that data), median over the turns",
    "* work s: without interpreter start and imports, by the script's own clock; for ragdata the wall time less that",
    "  of `ragdata --version`, which leaves the imports of its engine in",
    "* peak MB: resident memory, children included, the highest of the runs, in units of 10⁶ bytes",
    "",
    "Files lie in the page cache. A peer does only the part of the work that its note leaves; where it was given a",
    "smaller set, its work seconds are multiplied and its memory stands for what it was given.",
)

HEAD = "| case | seconds | × | work s | × | CPU s | × | peak MB | × | runs | |"


def write_markdown(path: Path, figures: Figures, scores: dict[str, Score], facts: dict[str, Any]) -> None:
    """The results as a page."""
    lines = [
        "# Benchmark results",
        "",
        "Written by `python benchmarks/run.py`; do not edit. What the columns mean stands at the end.",
        "",
        *(f"* {name}: {value}" for name, value in facts.items()),
        "",
        *_target_table(figures, scores),
        *_case_tables(figures),
        *LEGEND,
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_json(path: Path, figures: Figures, scores: dict[str, Score], facts: dict[str, Any]) -> None:
    """The results with every single run."""
    cases = [
        {
            "name": m.case.name,
            "group": m.case.group,
            "set": m.case.set.name if m.case.set else None,
            "against": m.case.against or None,
            "extrapolated_times": m.case.times,
            "expected_exit_code": m.case.exit_code,
            "seconds": m.seconds,
            "work_seconds": figures.work_seconds(m.case.name),
            "cpu_seconds": m.cpu_seconds,
            "megabytes": m.megabytes,
            "times": figures.times(m.case.name, m.case.against),
            "cpu_times": figures.cpu_times(m.case.name, m.case.against),
            "work_times": figures.work_times(m.case.name, m.case.against),
            "memory_times": figures.memory_times(m.case.name, m.case.against),
            "runs": [{k: v for k, v in asdict(s).items() if k not in ("output", "errors")} for s in m.samples],
        }
        for m in figures.measured.values()
    ]
    wanted = [asdict(t) | {"verdict": t.verdict.replace("*", "")} for t in targets(figures.judged(), scores)]
    found = {name: asdict(s) for name, s in scores.items()}
    document = {"facts": facts, "targets": wanted, "cases": cases, "scores": found}
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Processors, memory and interpreter of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    cores = len(os.sched_getaffinity(0))
    return {
        "machine": f"{cores} cores, {memory:.0f} GB memory, {platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "–"
    if unit == "" and value == int(value):
        return f"{value:.0f}"
    text = f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 20 else f"{value:.2f}"
    return f"{text} {unit}".strip()


def _target_table(figures: Figures, scores: dict[str, Score]) -> Iterator[str]:
    yield "## Targets"
    yield ""
    yield "| target | goal | reached | |"
    yield "|---|--:|--:|---|"
    wanted = list(targets(figures.judged(), scores))
    for target in wanted:
        if target.reached is None:
            continue
        goal = f"{'≥' if target.at_least else '≤'} {_number(target.goal, target.unit)}"
        yield f"| {target.text} | {goal} | {_number(target.reached, target.unit)} | {target.verdict} |"
    yield ""
    if left := sum(target.reached is None for target in wanted):
        yield f"{left} more targets are those of cases that were not measured in this run."
        yield ""
    for name, score in scores.items():
        for what, places in (("missed", score.missed), ("reported, not planted", score.others)):
            if places:
                yield f"* {name}, {what}: {', '.join(places[:20])}"
    yield ""


def _case_tables(figures: Figures) -> Iterator[str]:
    groups = dict.fromkeys(m.case.group for m in figures.measured.values())
    for group in groups:
        yield f"## {group}"
        yield ""
        yield HEAD
        yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
        for measured in figures.measured.values():
            if measured.case.group == group:
                yield _row(figures, measured)
        yield ""


def _row(figures: Figures, measured: Measured) -> str:
    case = measured.case
    name = case.name.removeprefix(f"{case.group}: ").removeprefix("Odd: ")
    notes = [case.note] if case.note else []
    if case.times > 1:
        notes.insert(0, f"on 1/{case.times} of the data, extrapolated")
    if measured.unexpected:
        notes.insert(0, f"**exit code {sorted(measured.unexpected)} instead of {case.exit_code}**")
    cells = [
        name,
        ("≈ " if case.times > 1 else "") + _seconds(measured.seconds),
        _number(figures.times(case.name, case.against)),
        _seconds(figures.work_seconds(case.name)) if case.times == 1 else "–",
        _number(figures.work_times(case.name, case.against)) if case.times == 1 else "–",
        _seconds(measured.cpu_seconds) if case.times == 1 else "–",
        _number(figures.cpu_times(case.name, case.against)) if case.times == 1 else "–",
        f"{measured.megabytes:.0f}",
        _number(figures.memory_times(case.name, case.against)),
        str(len(measured.samples)),
        "; ".join(notes),
    ]
    return f"| {' | '.join(cells)} |"


def _seconds(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if value < 1 else f"{value:.2f}" if value < 20 else f"{value:.0f}"
