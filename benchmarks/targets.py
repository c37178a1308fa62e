"""The targets for speed and memory, each with the figure it is about."""

from __future__ import annotations

from cases import REPORTED, reported, validated
from engine_targets import engine_targets
from figures import Figures, quotient
from score import Score
from target import Target


def targets(figures: Figures, scores: dict[str, Score]) -> list[Target]:
    """All targets, with what this run reached."""
    return [
        *engine_targets(figures),
        *_speed(figures),
        *_documents(figures),
        *_peers(figures),
        *_growth(figures),
        *_conversions(figures),
        *_reports(figures),
        *_memory(figures),
        *_start(figures),
        *_found(scores),
    ]


def _speed(f: Figures) -> list[Target]:
    index = f.times("GraphRAG: ragdata, clean", "GraphRAG: DuckDB scan")
    gz = f.times("SPLADE: ragdata, gz", "SPLADE: ragdata, clean")
    return [Target("GraphRAG, clean, to the floor", 1.5, "×", index), Target("gz to plain", 1.5, "×", gz)]


def _documents(f: Figures) -> list[Target]:
    """Formats of whole documents, by processor time."""
    wanted = []
    for group, times in (("LightRAG", 8.0), ("RAGChecker", 5.0), ("Contextual Retrieval", 6.0)):
        own = f"{group}: ragdata, clean"
        wanted += [
            Target(f"{group}, CPU to parsing alone", times, "×", f.cpu_times(own, f"{group}: DuckDB")),
            Target(f"{group}, peak memory", 400.0, "MB", f.megabytes(own)),
        ]
    return [
        *wanted,
        Target("LightRAG, peak memory, all bad", 400.0, "MB", f.megabytes("LightRAG: ragdata, all bad")),
        Target("RAPTOR, CPU to unpickling", 4.0, "×", f.cpu_times("RAPTOR: ragdata", "RAPTOR: unpickled")),
        Target("RAPTOR, peak memory", 200.0, "MB", f.megabytes("RAPTOR: ragdata")),
    ]


def _peers(f: Figures) -> list[Target]:
    goals = {"light-splade": 10.0, "frictionless": 20.0, "Great Expectations": 20.0, "pandera": 3.0}
    return [
        Target(f"faster than {name}", goal, "×", f.times(f"SPLADE: {name}", "SPLADE: ragdata, clean"), at_least=True)
        for name, goal in goals.items()
    ]


def _growth(f: Figures) -> list[Target]:
    wanted = []
    for factor in (4, 16):
        growth = f.times(f"Series: ragdata, {factor}×", "Series: ragdata, 1×")
        wanted.append(
            Target(f"time for {factor} × the data, to {factor} × the time", 1.1, "×", quotient(growth, factor))
        )
    return wanted


def _reports(f: Figures) -> list[Target]:
    wanted = []
    for name in REPORTED:
        own = reported(name)
        wanted.append(Target(f"report on {name}, to validating it", 2.0, "×", f.times(own, validated(name))))
        wanted.append(Target(f"peak memory, report on {name}", 1500, "MB", f.megabytes(own)))
    return wanted


def _conversions(f: Figures) -> list[Target]:
    wanted = []
    for name in ("A-RAG to DataMind", "BEIR to light-splade"):
        group = f"Convert {name}"
        wanted += [
            Target(f"{group}, to DuckDB", 3.0, "×", f.times(f"{group}: ragdata", f"{group}: DuckDB")),
            Target(f"{group}, peak memory for 2 GB", 1000.0, "MB", f.megabytes(f"{group}: ragdata, 2 GB")),
        ]
    return wanted


def _memory(f: Figures) -> list[Target]:
    wanted = [
        Target(f"peak memory, {name}", goal, "MB", f.megabytes(name))
        for goal, names in (
            (400.0, ("SPLADE: ragdata, clean", "SPLADE: ragdata, 100 faults", "DataMind: ragdata, clean",
                     "DataMind: ragdata, 100 faults", "SPLADE: ragdata, gz", "GraphRAG: ragdata, clean")),
            (600.0, ("GFM-RAG: ragdata, clean", "GFM-RAG: ragdata, 100 faults")),
            (1000.0, ("Series: ragdata, 16×",)),
            (200.0, ("A-RAG: ragdata, one line", "A-RAG: ragdata, pretty")),
        )
        for name in names
    ]  # fmt: skip
    bad = f.memory_times("Odd: 1 M bad records", "Odd: 1 M good records")
    return [*wanted, Target("memory, all records bad to all good", 1.1, "×", bad)]


def _start(f: Figures) -> list[Target]:
    help_ = f.times("Start: ragdata --help", "Start: python -c pass")
    return [
        Target("`ragdata --help` to `python -c pass`", 5, "×", help_),
        Target("a tiny dataset", 0.15, "s", f.seconds("Start: ragdata, tiny dataset")),
        Target("a tiny conversion", 0.4, "s", f.seconds("Start: ragdata, convert a tiny dataset")),
    ]


def _found(scores: dict[str, Score]) -> list[Target]:
    wanted = []
    for name, score in scores.items():
        wanted += [
            Target(f"planted faults found, {name}", score.planted, "", score.found, at_least=True),
            Target(f"other lines reported as errors, {name}", 0, "", len(score.others)),
        ]
    return wanted
