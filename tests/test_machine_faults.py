"""What the machine runs out of is "could not be done" (exit 2): never a finding, a traceback or a signal."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from ragdatakit.api.validate import validate
from ragdatakit.files.machine import machine_fault
from ragdatakit.schemas.errors import MachineError, RagdataError, skip_unreadable
from ragdatakit.validators.beir.checks import BeirChecks
from tests.command_line import FIXTURES, run

BEIR = FIXTURES / "beir" / "valid" / "folder"


def _numpys() -> Exception:
    try:
        np.empty(1 << 60, dtype="u1")
    except MemoryError as error:
        return error
    raise AssertionError


FAULTS: dict[str, tuple[Callable[[], Exception], str]] = {
    "Python's": (MemoryError, "not enough memory"),
    "numpy's": (_numpys, "not enough memory"),
    "Arrow's": (lambda: pa.ArrowMemoryError("malloc of size 320 failed"), "not enough memory"),
    "DuckDB's": (lambda: duckdb.OutOfMemoryException("Out of Memory Error: Allocation failure"), "--memory-limit"),
    "threads": (lambda: RuntimeError("can't start new thread"), "ulimit -u"),
    "DuckDB's at a commit": (
        lambda: duckdb.TransactionException(
            "TransactionContext Error: Failed to commit: failed to pin block of size 2 MiB"
        ),
        "--memory-limit",
    ),
    "a library": (lambda: ImportError("x.so: failed to map segment from shared object"), "not enough memory"),
    "handles": (lambda: OSError(errno.EMFILE, "Too many open files", "/x/corpus.jsonl"), "ulimit -n"),
    "disk": (lambda: OSError(errno.ENOSPC, "No space left on device", "/x/index"), "/x/index: no space left"),
}


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest) -> tuple[Exception, str]:
    make, found = FAULTS[request.param]
    return make(), found


@pytest.mark.parametrize("error", [ValueError("no"), RuntimeError("no"), OSError(errno.ENOENT, "no"), KeyError(1)])
def test_other_errors_are_none(error: Exception) -> None:
    assert machine_fault(error) == ""


@pytest.mark.parametrize("where", ["start_file", "finish"])
def test_no_finding_but_exit_2(fault: tuple[Exception, str], where: str) -> None:
    error, found = fault
    with mock.patch.object(BeirChecks, where, side_effect=error):
        shown = run("validate", BEIR)
        with pytest.raises(MachineError, match=found):
            validate(BEIR)

    assert shown.code == 2
    assert shown.err.startswith("ragdata: ")
    assert found in shown.err
    assert shown.err.count("\n") == 1
    assert "RD112" not in shown.out


def test_not_in_a_check_of_quality(fault: tuple[Exception, str]) -> None:
    error, found = fault
    with mock.patch("ragdatakit.quality.texts.check_texts", side_effect=error):
        shown = run("validate", "--quality", BEIR)

    assert (shown.code, found in shown.err) == (2, True)


@pytest.mark.parametrize(
    "words", [("validate",), ("report",), ("convert", "--to", "arag", "--keep-going")], ids=" ".join
)
def test_no_file_counts_as_unreadable_for_want_of_handles(tmp_path: Path, words: tuple[str, ...]) -> None:
    plain = os.open

    def refusing(path: str, *rest: object, **more: object) -> int:
        if str(path).endswith("corpus.jsonl"):
            raise OSError(errno.EMFILE, "Too many open files", str(path))
        return plain(path, *rest, **more)  # type: ignore[arg-type]

    out = (tmp_path / "out",) if words[0] == "convert" else ()
    with mock.patch("os.open", refusing):
        shown = run(*words, BEIR, *out)

    assert shown.code == 2
    assert "ulimit -n" in shown.err


@pytest.mark.parametrize("given", [(errno.ENOSPC, "No space left on device"), ("1000 requested and 16 written",)])
def test_a_full_disk_names_the_path_of_the_index(tmp_path: Path, given: tuple[object, ...]) -> None:
    with mock.patch("ragdatakit.retrieval.index.store.write_passages", side_effect=OSError(*given)):
        shown = run("index", BEIR, "--index-dir", tmp_path / "index")

    assert shown.code == 2
    assert str(tmp_path / "index") in shown.err
    assert "no space left" in shown.err


@pytest.mark.broad(2)
@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
@pytest.mark.parametrize("words", ["report DATA", "formats", "query DATA 'from documents'"])
@pytest.mark.parametrize("closed", [">&-", ">&- 2>&- <&-"])
def test_streams_closed_at_the_start(words: str, closed: str) -> None:
    line = words.replace("DATA", f"'{BEIR}'")
    command = f"'{sys.executable}' -m ragdatakit {line} {closed}"
    done = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.broad(3)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not keep the limit")
@pytest.mark.parametrize("kilobytes", [150_000, 500_000])
@pytest.mark.parametrize(
    "words",
    [
        "validate DATA --quality",
        "report DATA",
        "query DATA 'from documents'",
        "diff DATA DATA",
        "convert --to arag DATA OUT",
        "index DATA --index-dir OUT",
        "gate DATA --init",
    ],
)
def test_little_address_space(tmp_path: Path, words: str, kilobytes: int) -> None:
    line = words.replace("DATA", f"'{BEIR}'").replace("OUT", f"'{tmp_path / 'out'}'")
    command = f"ulimit -v {kilobytes}; '{sys.executable}' -m ragdatakit {line}"
    done = subprocess.run(["/bin/sh", "-c", command], check=False, capture_output=True, text=True, timeout=60)

    assert done.returncode in (0, 2), done.stderr
    if done.returncode:
        assert done.stderr.count("\n") == 1, done.stderr
        assert "ulimit -v" in done.stderr


def test_what_skips_unreadable_data_does_not_skip_it() -> None:
    with skip_unreadable():
        raise RagdataError("not a dataset")
    with pytest.raises(MachineError), skip_unreadable():
        raise MachineError("no memory")
