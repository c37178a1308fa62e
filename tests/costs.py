"""What the tests cost: seconds of CPU by module, with those of the processes that they start, beside what is recorded.

`make test` ends with the sum, the dearest modules, and those that became dearer than `costs.txt` has them by half and
two seconds. `make test-cost` lists all modules and the dearest tests, and records them anew. Machines differ: what is
recorded is taken times the median of how much the modules of a run cost more or less than there. Nothing fails for it.
"""

from __future__ import annotations

import os
import resource
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median
from typing import Any

import pytest

RECORD = Path(__file__).parent / "costs.txt"
_WRITES = os.environ.get("RAGDATA_COSTS") == "write"
_SHOWN = 8
_TESTS = 40
_FACTOR, _SECONDS = 1.5, 2.0
_ENOUGH = 20
"""How many modules must have run to tell how fast the machine is."""


def cpu() -> float:
    """Seconds of this process and of those of its children that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


class Costs:
    """A plugin, in each process that runs tests and in the one that they report to."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._elsewhere: list[float] = []
        self._last = cpu()
        self._collected = self._last
        """What it took to start and to collect the tests."""
        self.modules: Counter[str] = Counter()
        self.tests: Counter[str] = Counter()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self) -> None:
        """Tests were collected: all of them, or those of one module (`whole_modules`)."""
        now = cpu()
        self._collected, self._last = self._collected + now - self._last, now

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        """The report of a tear-down takes along what was used since the last one: to ask takes as long as a small test
        does."""
        report: Any = yield
        if call.when == "teardown":
            now = cpu()
            report.cpu, self._last = now - self._last, now
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        used = getattr(report, "cpu", 0.0)  # a process that died measured nothing
        self.modules[Path(report.nodeid.partition("::")[0]).name] += used
        self.tests[report.nodeid] += used

    def pytest_sessionfinish(self) -> None:
        output = getattr(self._config, "workeroutput", None)
        if output is not None:
            output["collected"] = self._collected

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self._elsewhere.append(getattr(node, "workeroutput", {}).get("collected", 0.0))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        starts = self._elsewhere or [self._collected]
        if len(self.modules) < _ENOUGH and not _WRITES:
            return
        terminalreporter.section("seconds of CPU")
        own = f", {time.process_time():.0f} to hand them out" if self._elsewhere else ""
        terminalreporter.write_line(f"{self.modules.total():.0f} in tests, {sum(starts):.0f} to collect them{own}")
        dearest = self.modules.most_common(None if _WRITES else _SHOWN)
        terminalreporter.write_line("dearest modules: " + ", ".join(f"{name} {cost:.1f}" for name, cost in dearest))
        for line in dearer(self.modules, recorded()):
            terminalreporter.write_line(line)
        if _WRITES:
            for name, cost in self.tests.most_common(_TESTS):
                terminalreporter.write_line(f"{cost:6.2f} {name}")
            known = {name: cost for name, cost in recorded().items() if (RECORD.parent / name).exists()}
            lines = [f"{cost:6.1f} {name}\n" for name, cost in sorted({**known, **self.modules}.items())]
            RECORD.write_text("".join(lines))


def recorded() -> dict[str, float]:
    """The seconds of the modules, as they were recorded."""
    lines = RECORD.read_text().splitlines() if RECORD.exists() else ()
    return {name: float(cost) for cost, name in map(str.split, lines)}


def dearer(costs: Mapping[str, float], before: Mapping[str, float]) -> Iterator[str]:
    """A line for each module that costs much more than is recorded, as this machine goes."""
    ratios = [cost / before[name] for name, cost in costs.items() if before.get(name, 0) >= 1]
    speed = median(ratios) if ratios else 1.0
    for name, cost in sorted(costs.items()):
        usual = before.get(name, 0.0) * speed
        if cost > usual * _FACTOR + _SECONDS * speed:
            words = f"usually {usual:.1f}" if name in before else "new"
            yield f"dearer: {name} {cost:.1f} ({words}); `make test-cost` shows the tests, CONTRIBUTING.md what to do"
