"""The parts of the harness: what a case of each checks, and how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.fuzz import (
    commands,
    containers,
    engines,
    faults_of_writing,
    fixing,
    lines,
    odd_paths,
    oracles,
    parsers,
    shapes,
    signals,
)
from tests.fuzz.cases import Case


@dataclass(frozen=True, slots=True)
class Part:
    """``cases``: how many there are (None: no end of them); ``weight``: how often one is run beside the others."""

    check: Callable[[Case], Iterator[str]]
    weight: int
    cases: int | None = None


PARTS = {
    "commands": Part(commands.check, 8),
    "engines": Part(engines.check, 12),
    **{name: Part(check, 1) for name, check in containers.CHECKS.items()},
    "lines": Part(lines.check, 4),
    "parsers": Part(parsers.check, 4),
    "fixes": Part(fixing.check, 8),
    "oracles": Part(oracles.check, 8),
    "paths": Part(odd_paths.check, 2, odd_paths.CASES),
    "writing": Part(faults_of_writing.check, 2, faults_of_writing.CASES),
    "signals": Part(signals.check, 2),
    "shapes": Part(shapes.check, 1, shapes.CASES),
}
