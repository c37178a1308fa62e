"""The whole suite is handed out by modules: no test is lost, and what goes wrong is reported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.command_line import ROOT

MODULES = {
    "conftest.py": "from tests.whole_modules import register\ndef pytest_configure(config):\n    register(config)\n",
    "test_good.py": "import pytest\n@pytest.mark.parametrize('n', range(5))\ndef test_a(n):\n    assert n < 5\n",
    "test_bad.py": "def test_a():\n    assert False\ndef test_b(record_property):\n    pass\n",
    "test_fixtures.py": "import pytest\n@pytest.fixture\ndef before():\n    raise ValueError\n"
    "@pytest.fixture\ndef after():\n    yield\n    raise ValueError\n"
    "def test_a(before):\n    pass\ndef test_b(after):\n    pass\n",
    "test_no_module.py": "import a_module_that_is_not_there\ndef test_a():\n    pass\n",
    "test_left_out.py": "import pytest\npytest.skip('not here', allow_module_level=True)\n",
    "test_dies.py": "import os\ndef test_a():\n    pass\ndef test_b():\n    os._exit(3)\n"
    "def test_c():\n    pass\ndef test_d():\n    pass\n",
    "test_gate_command.py": "def test_a():\n    pass\n",
    "test_gate_drift.py": "import os\ndef test_a():\n    os._exit(3)\n",
    "test_gates.py": "def test_a():\n    pass\n",
    "test_dies_early.py": "import os\nos._exit(3)\n",
    "test_empty.py": "",
    "pytest.ini": "[pytest]\ntestpaths = .\naddopts = --import-mode=importlib\n",
}


def pytest_in(folder: Path, *words: str, modules: Iterable[str] = tuple(MODULES)) -> tuple[int, list[str]]:
    """The exit code and the lines of a run of the modules, with two processes."""
    for name in modules:
        (folder / name).write_text(MODULES[name])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "xdist", "-p", "no:cacheprovider", "-rA", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.splitlines()


def test_each_test_is_run_and_what_goes_wrong_is_reported(tmp_path: Path) -> None:
    code, lines = pytest_in(tmp_path)

    assert code == 1
    assert sum(line.startswith("PASSED test_good.py::test_a[") for line in lines) == 5
    assert "PASSED test_bad.py::test_b" in lines
    assert "FAILED test_bad.py::test_a - assert False" in lines
    assert any(line.startswith("ERROR test_no_module.py") for line in lines)
    assert {"ERROR test_fixtures.py::test_a - ValueError", "ERROR test_fixtures.py::test_b - ValueError"} <= {*lines}
    assert any("crashed while running 'test_dies.py::test_b'; 2 behind it in its module not run" in x for x in lines)
    assert any("crashed while collecting 'test_dies_early.py'; no test of it was run" in x for x in lines)
    assert any(line.startswith("FAILED test_dies.py::test_b") for line in lines)
    assert "PASSED test_gate_command.py::test_a" in lines
    assert any("'test_gate_drift.py::test_a'; it was the last of its module; nor 'test_gates.py'" in x for x in lines)
    assert any(line.startswith("SKIPPED [1] test_left_out.py") for line in lines)
    assert lines[-1].startswith("4 failed, 9 passed, 1 skipped, 3 errors in ")


def test_a_test_that_ends_the_run_is_named(tmp_path: Path) -> None:
    exits = (
        "import pytest\ndef test_a():\n    pass\ndef test_b():\n    pytest.exit('no more')\ndef test_c():\n    pass\n"
    )
    (tmp_path / "test_exits.py").write_text(exits)

    code, lines = pytest_in(tmp_path, modules=("conftest.py", "pytest.ini"))

    assert code == 2
    assert not any("INTERNALERROR" in line for line in lines)
    assert any("test_exits.py::test_b ended the run: no more; 1 behind it in its module not run" in x for x in lines)
    assert "PASSED test_exits.py::test_a" in lines


def test_chosen_tests_are_shared_out_one_by_one(tmp_path: Path) -> None:
    code, lines = pytest_in(
        tmp_path, "-k", "test_good and 3", "--ignore=test_no_module.py", "--ignore=test_dies_early.py"
    )

    assert (code, lines[-1].partition(" in ")[0]) == (0, "1 passed, 1 skipped")
