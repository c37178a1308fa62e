"""How a command ends that is done by a child, and what is said of addresses before a cluster is asked."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from ragdatakit.engines.addresses import answers_of_ray, refuse_wrong_master
from ragdatakit.schemas.errors import EngineError

_BEGIN = (
    "import os, signal, sys, time; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from ragdatakit.api.in_parts.witness import go_on_in_a_child; print('begun'); "
)
_CHILD = f"{_BEGIN}go_on_in_a_child('the node is gone'); "


@pytest.mark.parametrize(
    ("end", "code", "said"),
    [
        ("sys.exit(0)", 0, ""),
        ("sys.exit(1)", 1, ""),
        ("sys.exit(2)", 2, ""),
        ("os._exit(1)", 2, "ragdata: the node is gone\n"),
        ("os._exit(0)", 2, "ragdata: the node is gone\n"),
        ("os._exit(143)", 143, ""),
        ("os.kill(os.getpid(), 9)", -9, ""),
    ],
)
def test_ends(end: str, code: int, said: str) -> None:
    words = [sys.executable, "-c", f"{_CHILD}print('done', flush=True); {end}"]
    found = subprocess.run(words, check=False, capture_output=True)

    assert (found.returncode, found.stdout, found.stderr.decode()) == (code, b"begun\ndone\n", said)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_go_to_the_child(number: signal.Signals) -> None:
    handler = f"signal.signal({int(number)}, lambda *_: sys.exit(7)); print('ready', flush=True); "
    with subprocess.Popen([sys.executable, "-c", f"{_CHILD}{handler}time.sleep(60)"], stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        while b"ready" not in run.stdout.readline():
            pass
        run.send_signal(number)

        assert run.wait(20) == 7


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a child with its parent")
def test_a_child_ends_with_its_parent() -> None:
    words = [sys.executable, "-c", f"{_CHILD}print(os.getpid(), flush=True); time.sleep(60)"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as run:
        assert run.stdout is not None
        run.stdout.readline()
        child = int(run.stdout.readline())
        run.kill()
        run.wait()
        for _ in range(100):
            try:
                os.kill(child, 0)
            except ProcessLookupError:
                return
            time.sleep(0.05)
    pytest.fail("the child goes on")


def test_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        here = f"127.0.0.1:{server.getsockname()[1]}"
        assert answers_of_ray(here)
        refuse_wrong_master(f"spark://{here}")
    for known in ("", "auto", "local", "ray://somewhere:10001"):
        assert not answers_of_ray(known)
    for known in ("local[2,4]", "yarn", "k8s://https://somewhere", "sc://somewhere", "spark://a:1,b:2"):
        refuse_wrong_master(known)


def test_wrong_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        gone = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(EngineError, match=r"^Ray: nothing answers at 127\.0\.0\.1:[0-9]+ \(.+\)$"):
        answers_of_ray(gone)
    with pytest.raises(EngineError, match=r"^Ray: 127\.0\.0\.1 has no port; give HOST:PORT$"):
        answers_of_ray("127.0.0.1")
    with pytest.raises(EngineError, match=r"^Spark: nothing answers at "):
        refuse_wrong_master(f"spark://{gone}")
    with pytest.raises(EngineError, match=r"^Spark: 127\.0\.0\.1:7077 is no master; give spark://HOST:PORT, "):
        refuse_wrong_master("127.0.0.1:7077")
