"""What the engine's own table is judged by: ratios to the floors of the same run, memory, rates."""

from __future__ import annotations

from cases import REPORTED, reported, validated
from engine_cases import ALL_BAD, CONVERTED_MEGABYTES, DIFFERING, FAULTY, MANY, SCANNED, faulty, quality
from figures import Figures
from sets.trec import MEGABYTES
from target import Target

_TIMES = {"SPLADE": 1.5, "DataMind": 1.3, "GFM-RAG": 2.0, "BEIR": 1.5, "A-RAG": 1.5, "SAGE": 3.0, "HippoRAG": 2.0}
_PEAK, _GRAPH_PEAK = 200, 350
_MEGABYTES_A_SECOND, _CONVERTED_A_SECOND = 300, 20
_COUNTED, _WORDED = 200_000, 20_000
_EACH = 1.5
_READ = {("report", "SAGE"): 2.0}
"""What faults may cost other commands, where it is more: one record of SAGE in ten is at fault, each of 10 KB."""


def engine_targets(f: Figures) -> list[Target]:
    """All of them; one whose case was not run has not been reached or missed."""
    return [*_speed(f), *_memory(f), *_faults(f), *_slow(f), *_start(f)]


def _own(name: str) -> str:
    return f"Engine: {name}, 2 cores"


def _scale(f: Figures, name: str) -> float:
    measured = f.measured.get(name)
    return measured.case.set.scale if measured is not None and measured.case.set is not None else 1.0


def _speed(f: Figures) -> list[Target]:
    found = [
        Target(f"{name}, to the floor, 2 cores", goal, "×", f.times(_own(name), f"Engine: {name}, floor, 2 cores"))
        for name, goal in _TIMES.items()
    ]
    trec = _own("TREC")
    seconds = MEGABYTES * _scale(f, trec) / _MEGABYTES_A_SECOND
    small = f.times("Engine: small", "Engine: small, floor")
    return [
        *found,
        Target(f"TREC, at {_MEGABYTES_A_SECOND} MB a second", round(seconds, 2), "s", f.seconds(trec)),
        Target("a set below 150 MB, to the floor", 2.0, "×", small),
    ]


def _memory(f: Figures) -> list[Target]:
    return [
        Target(
            f"{one.name}, peak memory",
            _GRAPH_PEAK if one.name == "GFM-RAG" else _PEAK,
            "MB",
            f.megabytes(_own(one.name)),
        )
        for one in SCANNED
    ]


def _faults(f: Figures) -> list[Target]:
    found = [
        Target(
            f"{one.name}, 1000 faults to none", 1.5, "×", f.times(f"Engine: {one.name}, 1000 faults", _own(one.name))
        )
        for one in SCANNED
        if one.faults
    ]
    found += [
        Target(
            f"{command} of {name}, 1000 faults to none, CPU",
            _READ.get((command, name), 1.5),
            "×",
            f.cpu_times(faulty(command, name), reported(name) if command == "report" else faulty(command, name, 0)),
        )
        for command in ("report", "query", "conversion", "diff")
        for name in (DIFFERING if command == "diff" else FAULTY)
    ]
    every = "Engine: a finding in every record"
    worded, counted = "Engine: 100,000 findings, worded", "Engine: 100,000 findings, counted"
    return [
        *found,
        _rate(f, "findings counted", ALL_BAD * _scale(f, every), every, "", _COUNTED),
        _rate(f, "findings worded", ALL_BAD * _scale(f, worded), worded, counted, _WORDED),
    ]


def _rate(f: Figures, what: str, number: float, case: str, without: str, goal: int) -> Target:
    """Of so many in the seconds of a case, less those of another that does all but this (empty: none)."""
    long, short = f.seconds(case), f.seconds(without) if without else 0
    rate = None if long is None or short is None else number / max(long - short, 0.001)
    return Target(f"{what} a second", goal, "", rate, at_least=True)


def _slow(f: Figures) -> list[Target]:
    conversion = "Engine: DataMind to GFM-RAG"
    seconds = CONVERTED_MEGABYTES * 4 * _scale(f, conversion) / _CONVERTED_A_SECOND
    reports = [
        Target(f"report on {name}, CPU to validating it", 1.5, "×", f.cpu_times(reported(name), validated(name)))
        for name in REPORTED
    ]
    of_quality = [
        Target(f"quality of {name}, CPU to validating it", 5.0, "×", f.cpu_times(quality(name), validated(name)))
        for name in REPORTED
    ]
    return [
        *reports,
        *of_quality,
        Target(f"DataMind to GFM-RAG, at {_CONVERTED_A_SECOND} MB a second", seconds, "s", f.seconds(conversion)),
    ]


def _start(f: Figures) -> list[Target]:
    bare, tiny = "Start: python -c pass", "Start: ragdata, tiny dataset"
    many, one = f.seconds(f"Start: ragdata, {MANY} tiny datasets"), f.seconds(tiny)
    each = None if many is None or one is None else max(many - one, 0.0) / MANY * 1000
    return [
        Target("`ragdata --help` to `python -c pass`, quietly", 4, "×", f.times("Start: ragdata --help", bare)),
        Target("a tiny dataset to `python -c pass`", 6, "×", f.times(tiny, bare)),
        Target(f"each of {MANY} tiny datasets", _EACH, "ms", each),
    ]
