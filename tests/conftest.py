"""Settings of all tests.

Hypothesis measures no time (CI machines stall), and gives the same examples every time; `make test-all` tries more of
them. Of the tests marked `broad` a tenth is run: `tests/broad.py` says which.
"""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from tests import broad, whole_modules
from tests.costs import Costs
from tests.duckdb_pool import reused
from tests.query_tools import answer_in_processes, answer_in_this_process
from tests.upstream_data import published

settings.register_profile(
    "ragdata",
    deadline=None,
    derandomize=True,
    max_examples=broad.examples(100),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ragdata")
# Examples are not to depend on which of our modules are imported, whose constants Hypothesis would try: to parse all of
# them takes each process five seconds.
providers.is_local_module_file = lambda path: False
for name in ("CI", "GITHUB_WORKSPACE", "CI_PROJECT_DIR", "WORKSPACE", "RAGDATA_OUTPUT_FORMAT", "RAGDATA_DOCS_URL"):
    os.environ.pop(name, None)  # the tests are the same on a laptop and in CI: those of what differs there set it
_MEMORY, _ROOM = "/dev/shm", 4 << 30
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > _ROOM:
    os.environ["TMPDIR"] = _MEMORY  # a quarter of what conversions take is waiting for disks; the files are small
    tempfile.tempdir = None
if hasattr(signal, "SIGHUP"):  # a run under nohup would hand "ignored" down to the commands that are to be stopped
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_configure(config: pytest.Config) -> None:
    """Measure what the tests cost; hand out the whole suite by modules."""
    config.pluginmanager.register(Costs(config), "costs")
    whole_modules.register(config)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than there are processors: tests wait for disks, processes and browsers, too."""
    return (os.cpu_count() or 1) + 1


def pytest_report_header() -> str:
    return "broad tests: all" if broad.ALL else f"broad tests: a tenth, RAGDATA_SEED={broad.SEED}"


@pytest.hookimpl(wrapper=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Do not even make the cases that are not run: to make them all takes each process two seconds."""
    yield
    if _are_named(metafunc.config):
        return
    name, marks = metafunc.definition.nodeid, list(metafunc.definition.iter_markers())
    calls = [c for c in metafunc._calls if _is_run(f"{name}[{c.id}]", [*marks, *c.marks])]
    metafunc._calls[:] = calls or metafunc._calls[:1]  # without calls it would be taken for a test without parameters


def _are_named(config: pytest.Config) -> bool:
    """Whether the command line names tests one by one, which are run whatever they are."""
    return any("::" in word for word in config.args)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out nine of ten broad tests, but for those that the command line names one by one."""
    if _are_named(config):
        return
    left_out = {item for item in items if not _is_run(item.nodeid, item.iter_markers())}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def _is_run(name: str, marks: Iterable[pytest.Mark]) -> bool:
    """Whether a test of that id is run; of marks of one name the first one counts."""
    found = {mark.name: mark for mark in reversed(list(marks))}
    if "public" in found:
        return broad.chosen(name, every=5)
    return "broad" not in found or broad.chosen(name, *found["broad"].args)


def pytest_collection_finish() -> None:
    """What was collected stays until the end: to look through it for garbage again and again took a twentieth, and to
    look through what the tests make as often as Python does by itself as much."""
    gc.freeze()
    gc.set_threshold(200_000, 50, 100)  # as the command has it


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose public dataset is not there, before its fixtures ask for it."""
    for mark in item.iter_markers("public"):
        published(*mark.args)


@pytest.fixture(scope="session", autouse=True)
def small_tables_of_names() -> Iterator[None]:
    """The pages of a table of a million names cost more than a small dataset; in a small one more names share places.

    Tests of the table itself, and the command run as a process, have it as it is.
    """
    from ragdatakit.arrays.keys import NumpyConsistency

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NumpyConsistency, "_BITS", 6)
        yield


@pytest.fixture(scope="session", autouse=True)
def queries_in_this_process() -> Iterator[None]:
    """A query starts no process, but in tests of that process: these ask for `queries_in_processes`."""
    with pytest.MonkeyPatch.context() as patch:
        answer_in_this_process(patch)
        yield


@pytest.fixture
def queries_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query is answered in a process of its own, as users have it."""
    answer_in_processes(monkeypatch)


@pytest.fixture(scope="module")
def cache_of_the_module(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is kept for users is kept in a folder of the module's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGDATA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def shared_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same datasets are indexed once for all tests that ask for this."""
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "search-cache"))


@pytest.fixture(scope="module")
def outputs_of_a_sound_machine() -> Iterator[None]:
    """For modules of a thousand conversions: no waiting for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def outputs_of_a_process_that_is_not_killed() -> Iterator[None]:
    """No process cleans up after this one: there were 1,300. Commands that are killed are processes, which have it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.outputs.staging.companion", lambda folder: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def databases_used_again() -> Iterator[None]:
    """A database in memory that was closed serves again: to make one takes 11 ms, as much as ten tests."""
    with reused():
        yield
