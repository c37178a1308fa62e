"""A run of all tests by modules: each is imported and collected once, by the process that runs it.

Processes of pytest-xdist collect all tests, each of them, which takes as long as a twentieth of the tests. Here, what a
process collects and is handed is one item a module, the dearest modules first, so that the processes end together; it
makes the module's tests when it comes to it. Which of them runs it notes in a file, which is read if the process dies:
a notice of each would take as long as many a test. It is so where the whole suite is asked for: of chosen files or
tests each process collects all, and the tests of one file are shared out.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from tests.costs import recorded

_CHOOSING = ("keyword", "markexpr", "deselect", "lf", "failedfirst", "stepwise", "collectonly")
"""Options of pytest that choose among tests by what only collecting them tells."""
_TOGETHER = (
    ("test_gate_command.py", "test_gate_drift.py", "test_gates.py", "test_unread_data.py", "test_unread_folders.py"),
)
"""Modules that one process runs, one after the other: to import Great Expectations takes each process 4 seconds."""
_NOT_RECORDED = 60.0
"""What a module may cost of which nothing is recorded: it is begun before all others."""


def register(config: pytest.Config) -> None:
    """Run by modules, if the whole suite is shared out to processes, and no test chosen."""
    worker = getattr(config, "workerinput", None)
    if worker is not None and worker.get("whole_modules"):
        config.pluginmanager.register(_Running(Path(worker["whole_modules"])))
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
        self._notes = TemporaryDirectory(prefix="running-")

    def pytest_unconfigure(self) -> None:
        self._notes.cleanup()

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self._session = session

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput["whole_modules"] = str(Path(self._notes.name, node.gateway.id))

    @pytest.hookimpl(optionalhook=True)
    def pytest_handlecrashitem(self, crashitem: str, report: Any) -> None:
        """Name the test that was running in a process that died."""
        worker, module = report.node, crashitem.partition("::")[0]
        name, behind = _noted(Path(worker.workerinput["whole_modules"]))
        report.nodeid = name or crashitem
        during = (
            f"running {name!r}; {behind}" if name else f"collecting {behind or repr(module)}; no test of it was run"
        )
        report.longrepr = f"worker {worker.gateway.id!r} crashed while {during}"

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

    def __init__(self, note: Path) -> None:
        self._costs = recorded()
        self._note = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def pytest_unconfigure(self) -> None:
        os.close(self._note)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Collector:
        return _Module.from_parent(parent, path=module_path)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """The dearest first, those that belong together as one."""
        modules = {item.path.name: item for item in items if isinstance(item, _AllTests)}
        if len(modules) < len(items):
            return
        for names in _TOGETHER:
            found = [modules[name] for name in names if name in modules]
            for module in found[1:]:
                found[0].modules.append(module)
                items.remove(module)
        items.sort(key=self._cost, reverse=True)

    def _cost(self, item: pytest.Item) -> float:
        modules = item.modules if isinstance(item, _AllTests) else ()
        return sum(self._costs.get(module.path.name, _NOT_RECORDED) for module in modules)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run the tests of a module, or one of them."""
        if not isinstance(item, _AllTests):
            return self._run_one(item, nextitem)
        place = item.session.items.index(item)
        for number, module in enumerate(item.modules, start=1):
            self._run_module(module, place, item.modules[number:], nextitem)
            if item.session.shouldfail or item.session.shouldstop:
                break
        item.session.items[place] = item
        return True

    def _run_module(self, module: _AllTests, place: int, later: list[_AllTests], nextitem: pytest.Item | None) -> None:
        session = module.session
        self._write_down("", _names(module, *later))
        tests = module.tests()
        for number, test in enumerate(tests, start=1):
            session.items[place] = test  # a report is sent with the place of its test
            following = tests[number] if number < len(tests) else later[0] if later else nextitem
            left = _not_run(len(tests) - number, later)
            self._write_down(test.nodeid, left)
            try:
                module.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            except pytest.exit.Exception as ended:
                session.shouldstop = f"{test.nodeid} ended the run: {ended.msg}; {left}"
            if session.shouldfail or session.shouldstop:
                break

    def _write_down(self, name: str, behind: str) -> None:
        """Note which test is running, and what is behind it."""
        os.pwrite(self._note, f"{behind}\t{name}\n".encode(), 0)

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


def _noted(note: Path) -> tuple[str, str]:
    """The test that was running, and what was behind it; no name while a module is collected."""
    behind, _, name = note.read_text().partition("\n")[0].partition("\t") if note.exists() else ("", "", "")
    return name, behind


def _not_run(behind: int, later: list[_AllTests]) -> str:
    words = f"{behind} behind it in its module not run" if behind else "it was the last of its module"
    return f"{words}; nor {_names(*later)}" if later else words


def _names(*modules: _AllTests) -> str:
    return ", ".join(repr(module.path.name) for module in modules)


class _Module(pytest.File):
    """A file with tests, which is not imported yet."""

    def collect(self) -> Iterator[pytest.Item]:
        yield _AllTests.from_parent(self, name="all tests")


class _AllTests(pytest.Item):
    """All tests of a module, or of ``modules``, as one that is handed to a process."""

    def __init__(self, **words: Any) -> None:
        super().__init__(**words)
        self.modules = [self]

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
