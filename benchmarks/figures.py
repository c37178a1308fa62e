"""Medians and ratios of what was measured."""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field

from cases import Case
from measure import Sample


@dataclass(slots=True)
class Measured:
    """All runs of one case, in order."""

    case: Case
    samples: list[Sample] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median wall time of the whole process; for a smaller set, its work times the difference in size."""
        if self.case.times > 1:
            return (self.work_seconds or 0) * self.case.times
        return statistics.median(s.seconds for s in self.samples)

    @property
    def work_seconds(self) -> float | None:
        """The median time that the script itself says it worked, without start and imports (peers only)."""
        if self.case.tool in ("ragdata", "python"):
            return None
        said = [json.loads(s.output.splitlines()[-1])["seconds"] for s in self.samples if s.exit_code == 0]
        return statistics.median(said) if said else None

    @property
    def cpu_seconds(self) -> float:
        """The median processor time."""
        return statistics.median(s.cpu_seconds for s in self.samples)

    def in_turn(self, kind: str) -> list[float]:
        """The ``seconds`` or ``cpu_seconds`` of each run."""
        return [getattr(sample, kind) for sample in self.samples]

    def of_rounds(self, kind: str) -> list[float]:
        """Their median in each round."""
        taken, repeats = self.in_turn(kind), self.case.repeats
        return [statistics.median(taken[first : first + repeats]) for first in range(0, len(taken), repeats)]

    @property
    def megabytes(self) -> float:
        """The highest peak of memory of any run."""
        return max(s.megabytes for s in self.samples)

    @property
    def unexpected(self) -> set[int]:
        """Exit codes that the case should not have."""
        return {s.exit_code for s in self.samples} - {self.case.exit_code}


class Figures:
    """What was measured, by name of case; a case that was not run, or failed, has no figures. On a ``busy`` machine
    targets are judged by processor seconds."""

    def __init__(self, measured: list[Measured], busy: bool = False) -> None:
        self.measured = {m.case.name: m for m in measured if m.samples}
        self.busy = busy

    def judged(self) -> Figures:
        """What targets are judged by."""
        return _ByProcessor([*self.measured.values()]) if self.busy else self

    def seconds(self, name: str) -> float | None:
        """The median seconds of a case."""
        found = self._sound(name)
        return found.seconds if found else None

    def megabytes(self, name: str) -> float | None:
        """The peak memory of a case."""
        found = self._sound(name)
        return found.megabytes if found else None

    def work_seconds(self, name: str) -> float | None:
        """Work without start and imports: a peer's own word, for ragdata the wall less that of ``--version``."""
        found = self._sound(name)
        if found is None:
            return None
        if found.case.tool != "ragdata":
            return found.work_seconds
        start = self.seconds("Start: ragdata --version")
        return None if start is None else max(0.0, found.seconds - start)

    def times(self, name: str, other: str) -> float | None:
        """How many times the seconds of ``other``: the median over turns, or over rounds that both took."""
        return self._times(name, other, "seconds")

    def cpu_times(self, name: str, other: str) -> float | None:
        """The same of processor seconds, which hold on a busy machine, too."""
        return self._times(name, other, "cpu_seconds")

    def _times(self, name: str, other: str, kind: str) -> float | None:
        one, two = self._sound(name), self._sound(other)
        if one is None or two is None:
            return None
        mine, others = one.of_rounds(kind), two.of_rounds(kind)
        if 1 == one.case.times == two.case.times and len(mine) == len(others):
            if one.case.repeats == two.case.repeats:
                mine, others = one.in_turn(kind), two.in_turn(kind)
            return statistics.median(a / b for a, b in zip(mine, others, strict=True) if b)
        return quotient(getattr(one, kind), getattr(two, kind))

    def work_times(self, name: str, other: str) -> float | None:
        """How many times the work of ``other``, without start and imports."""
        return quotient(self.work_seconds(name), self.work_seconds(other))

    def memory_times(self, name: str, other: str) -> float | None:
        """How many times the peak memory of ``other``."""
        return quotient(self.megabytes(name), self.megabytes(other))

    def _sound(self, name: str) -> Measured | None:
        found = self.measured.get(name)
        return None if found is None or found.unexpected else found


class _ByProcessor(Figures):
    """The same, of which all seconds are those of processors."""

    def seconds(self, name: str) -> float | None:
        found = self._sound(name)
        return found.cpu_seconds if found else None

    def times(self, name: str, other: str) -> float | None:
        return self.cpu_times(name, other)


def quotient(a: float | None, b: float | None) -> float | None:
    """``a / b`` where both are known."""
    return a / b if a is not None and b else None
