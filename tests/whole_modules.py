"""A run of all tests by modules: each is imported and collected once, by the process that runs it.

Processes of pytest-xdist collect all tests, each of them, which takes as long as a twentieth of the tests. Here, what a
process collects and is handed is one item a module, the dearest modules first, so that the processes end together; it
makes the module's tests when it comes to it. It is so where the whole suite is asked for: of chosen files or tests each
process collects all, and the tests of one file are shared out.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.costs import recorded

_CHOOSING = ("keyword", "markexpr", "deselect", "lf", "failedfirst", "stepwise", "collectonly")
"""Options of pytest that choose among tests by what only collecting them tells."""
_NOT_RECORDED = 60.0
"""What a module may cost of which nothing is recorded: it is begun before all others."""


def register(config: pytest.Config) -> None:
    """Run by modules, if the whole suite is shared out to processes, and no test chosen."""
    worker = getattr(config, "workerinput", None)
    if worker is not None and worker.get("whole_modules"):
        config.pluginmanager.register(_Running())
    chosen = any(getattr(config.option, name, None) for name in _CHOOSING)
    all_of_them = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not chosen
    if worker is None and getattr(config.option, "dist", "no") == "load" and all_of_them:
        config.option.maxschedchunk = 1  # what a process was handed is not taken away from it
        config.pluginmanager.register(_HandingOut())


class _HandingOut:
    """A plugin of the process that hands them out."""

    def __init__(self) -> None:
        self._costs = recorded()
        self._begun: set[str] = set()
        self._tests: set[str] = set()
        self._session: pytest.Session | None = None

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["whole_modules"] = True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """How many tests there are is not known before the end: it is guessed by what the modules cost that are begun,
        for the percentage on the screen."""
        self._begun.add(Path(report.nodeid.partition("::")[0]).name)
        self._tests.add(report.nodeid)
        share = sum(self._costs.get(name, 0.0) for name in self._begun) / sum(self._costs.values(), 0.1)
        if self._session is not None:
            self._session.testscollected = max(len(self._tests), int(len(self._tests) / max(share, 0.01)))


class _Running:
    """A plugin of the processes that run tests."""

    def __init__(self) -> None:
        self._costs = recorded()

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Collector:
        return _Module.from_parent(parent, path=module_path)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The dearest first."""
        if all(isinstance(item, _AllTests) for item in items):
            items.sort(key=lambda item: -self._costs.get(item.path.name, _NOT_RECORDED))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run the tests of a module, or one of them."""
        if not isinstance(item, _AllTests):
            return self._run_one(item, nextitem)
        session, place = item.session, item.session.items.index(item)
        tests = item.tests()
        for number, test in enumerate(tests, start=1):
            session.items[place] = test  # a report is sent with the place of its test
            following = tests[number] if number < len(tests) else nextitem
            item.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            if session.shouldfail or session.shouldstop:
                break
        session.items[place] = item
        return True

    def _run_one(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Send one report of a test that passes, in place of three and two notices: for a third of the tests these take
        longer than the test itself."""
        if item.config.option.durations or item.config.option.xmlpath:  # which are made of all of them
            return None
        reports: list[Any] = runtestprotocol(item, log=False, nextitem=nextitem)
        sent = [report for report in reports if report.when == "call" or not report.passed]
        costs = [getattr(report, "cpu", 0.0) for report in reports]
        for report in sent:
            report.cpu = sum(costs) / len(sent)
            item.ihook.pytest_runtest_logreport(report=report)
        return True


class _Module(pytest.File):
    """A file with tests, which is not imported yet."""

    def collect(self) -> Iterator[pytest.Item]:
        yield _AllTests.from_parent(self, name="all tests")


class _AllTests(pytest.Item):
    """All tests of a module, as one that is handed to a process."""

    def tests(self) -> list[pytest.Item]:
        """The tests, collected now; what was made until now stays, so that nothing of it is looked at for garbage."""
        assert self.parent is not None
        module = pytest.Module.from_parent(self.parent.parent, path=self.path)
        items = [*self.session.genitems(module)]
        self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=items)
        gc.collect()
        gc.freeze()
        return items

    def runtest(self) -> None:
        raise NotImplementedError("its tests are run one by one")
