"""A query keeps to its memory and its time: it is answered in a process that can be ended."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.errors import QueryError
from tests.command_line import GOOD

pytestmark = pytest.mark.usefixtures("queries_in_processes")

ENDLESS = "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t"
PEAK = """
import resource, subprocess, sys
done = subprocess.run([sys.executable, "-m", "ragdatakit", *sys.argv[1:]], capture_output=True, text=True)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10, done.stderr)
"""


@pytest.mark.broad(4)
@pytest.mark.skipif(sys.platform != "linux", reason="the bound and the measure are those of Linux")
@pytest.mark.parametrize(
    "sql",
    [
        "select range(200000000)",
        "select repeat('x', 500000000)",
        "select list(range) from range(200000000)",
        "select string_agg(range::varchar) from range(200000000)",
        "select repeat('x', 10000000) from range(200)",
    ],
)
def test_a_query_keeps_to_its_memory(sql: str, tmp_path: Path) -> None:
    words = ("query", str(GOOD), sql, "--memory-limit", "256MiB", "--limit", "20")
    words += ("--output-format", "csv", "--output-file", str(tmp_path / "rows.csv"))
    done = subprocess.run([sys.executable, "-c", PEAK, *words], capture_output=True, text=True, check=True, timeout=120)

    code, peak, output = done.stdout.split(maxsplit=2) if done.stdout.count(" ") > 1 else (*done.stdout.split(), "")
    assert int(peak) < 600
    assert (code, "") == ("0", output.strip()) or (code == "2" and "more memory than it may use" in output)


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS,
        "select count(*) from range(100000000000) a, range(1000000000)",
        "from range(1000000000000)",
        "select sum(hash(a.range || b.range)) from range(10000000) a, range(10000000) b",
    ],
)
def test_a_query_is_stopped_when_its_time_is_over(sql: str) -> None:
    started = time.monotonic()

    with pytest.raises(QueryError, match=r"stopped after 0\.3 s"):
        ragdatakit.query(GOOD, sql, timeout=0.3)

    assert time.monotonic() - started < 20


def test_errors_come_back_as_they_are() -> None:
    with pytest.raises(QueryError) as found:
        ragdatakit.query(GOOD, "select\n  titel from documents")
    assert (found.value.line, found.value.start, found.value.length) == (2, 2, 5)
    with pytest.raises(ragdatakit.UnknownNameError, match="nonesuch"):
        ragdatakit.query(GOOD, "select 1", source_format="nonesuch")


def test_a_query_takes_only_so_many_rows_as_are_wanted() -> None:
    assert ragdatakit.query(GOOD, "from range(10000000000)", limit=5, timeout=60).num_rows == 5
