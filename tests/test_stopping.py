"""Signals at any time end the command in one line, with 128 + their number, and leave no scratch folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import GOOD, ROOT

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


def stopped(script: str, number: int, place: Path, *words: str | Path) -> tuple[int, str, str]:
    """Run a script that prints a line when the signal may come; exit code, further output and stderr."""
    lines = (
        "import signal, sys, time, os",
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in what a shell runs behind it",
        f"sys.argv = ['ragdata', *{[*map(str, words)]!r}]",
        script,
        "from ragdatakit.__main__ import main",
        "main()",
    )
    with subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(place)},
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.1)
        process.send_signal(number)
        try:
            out, err = process.communicate(timeout=30)
        finally:
            process.kill()
    return process.returncode, out, err.strip()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
def test_while_the_command_is_imported(number: signal.Signals, tmp_path: Path) -> None:
    script = (
        "import importlib.abc\n"
        "class Slow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'click': print('here', flush=True); time.sleep(20)\n"
        "sys.meta_path.insert(0, Slow())\n"
    )

    assert stopped(script, number, tmp_path, "rules") == (128 + number, "", "ragdata: stopped")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
def test_an_import_in_the_middle_of_the_work_comes_to_its_end_first(number: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "slow_library.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(1)\nprint('whole')\n")
    script = (
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import ragdatakit.validators.found_datasets as r\n"
        "def detect(*_, **__):\n"
        "    import slow_library\n"
        "    time.sleep(20)\n"
        "r.detect = detect\n"
    )

    assert stopped(script, number, tmp_path, "validate", GOOD) == (128 + number, "whole\n", "ragdata: stopped")


def test_what_a_finalizer_swallows_is_raised_again(tmp_path: Path) -> None:
    script = (
        "import ragdatakit.validators.found_datasets as r\n"
        "class Held:\n"
        "    def __del__(self): print('here', flush=True); time.sleep(1)\n"
        "def detect(*_, **__):\n"
        "    held = Held()\n"
        "    del held\n"
        "    time.sleep(20)\n"
        "r.detect = detect\n"
    )
    started = time.monotonic()

    assert stopped(script, signal.SIGINT, tmp_path, "validate", GOOD) == (130, "", "ragdata: stopped")
    assert time.monotonic() - started < 15


def test_what_a_library_makes_another_error_of_is_still_a_signal(tmp_path: Path) -> None:
    script = (
        "import ragdatakit.validators.found_datasets as r\n"
        "from ragdatakit.schemas.errors import RagdataError\n"
        "def detect(*_, **__):\n"
        "    try: print('here', flush=True); time.sleep(20)\n"
        "    except BaseException: raise RagdataError('the query failed')\n"
        "r.detect = detect\n"
    )

    assert stopped(script, signal.SIGINT, tmp_path, "validate", GOOD) == (130, "", "ragdata: stopped")


def test_scratch_folders_go_although_threads_are_busy(tmp_path: Path) -> None:
    script = (
        "import ragdatakit.validators.found_datasets as r, threading\n"
        "from ragdatakit.outputs.scratch import ScratchFolder\n"
        "def detect(*_, **__):\n"
        "    r.kept = ScratchFolder()\n"
        "    threading.Thread(target=time.sleep, args=(20,)).start()\n"
        "    print('here', flush=True)\n"
        "    time.sleep(20)\n"
        "r.detect = detect\n"
    )
    started = time.monotonic()

    assert stopped(script, signal.SIGTERM, tmp_path, "validate", GOOD) == (143, "", "ragdata: stopped")
    assert list(tmp_path.iterdir()) == []
    assert time.monotonic() - started < 15


def test_before_the_first_module_of_ours_is_imported(tmp_path: Path) -> None:
    script = (
        "import importlib.abc\n"
        "class Slow(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'ragdatakit.stopping': print('here', flush=True); time.sleep(20)\n"
        "sys.meta_path.insert(0, Slow())\n"
    )

    assert stopped(script, signal.SIGINT, tmp_path, "rules") == (-signal.SIGINT, "", "")


_LEFT = (
    "import atexit, sys, threading, time\n"
    "from ragdatakit.stopping import end\n"
    "atexit.register(print, 'registered')\n"
    "threading.Thread(target=lambda: (time.sleep(0.1), print('thread'))).start()\n"
    "print('main')\n"
    "print('error', file=sys.stderr)\n"
)


def _as_command(folder: Path, script: str) -> list[str]:
    """A process of this name is that of the command."""
    (folder / "ragdata").write_text(script)
    return [sys.executable, str(folder / "ragdata")]


def test_what_is_left_to_do_is_done_before_the_process_ends(tmp_path: Path) -> None:
    words = _as_command(tmp_path, f"{_LEFT}end(SystemExit(3))\n")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout.split(), done.stderr) == (3, ["main", "thread", "registered"], "error\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device without room is needed")
def test_output_that_is_left_and_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    words = _as_command(tmp_path, "from ragdatakit.stopping import end\nprint('left')\nend(SystemExit(0))\n")
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(words, env=buffered, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    expected = "ragdata: the last output could not be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (120, expected)


@pytest.mark.parametrize(
    "host",
    [
        "from ragdatakit.__main__ import main; sys.argv[1:] = ['--version']\ntry: main()\n",
        "import runpy; sys.argv[1:] = ['--version']\ntry: runpy.run_module('ragdatakit', run_name='__main__')\n",
    ],
)
def test_what_runs_the_command_in_its_own_process_goes_on(host: str) -> None:
    words = [sys.executable, "-c", f"import sys; {host}except SystemExit as stop: print('after', stop.code)\n"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "after 0"


def test_a_profiler_sees_the_end() -> None:
    words = ["-m", "cProfile", "-m", "ragdatakit", "--version"]
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=True)

    assert "function calls" in done.stdout
