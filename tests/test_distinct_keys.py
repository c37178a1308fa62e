"""Records with keys of their own: memory grows with the bytes, as no column is made of each key."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = {
    "validate": ["validate", "{root}"],
    "report": ["report", "{root}"],
    "query": ["query", "{root}", "select count(*) from documents"],
}
_MEASURED = """
import sys
from ragdatakit.cli import main
try:
    main()
except SystemExit as end:
    assert end.code in (0, None), end.code
finally:
    # not ru_maxrss: it has what the process held that started this one
    lines = open("/proc/self/status").read().splitlines()
    print("peak", next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""


def passages(number: int) -> bytes:
    """Passages with a score under a key that no other passage has."""
    records = (
        {"_id": f"d{i}", "title": "", "text": "tide times " * 8, "metadata": {f"doc{i}": 0.5}} for i in range(number)
    )
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def peak(root: Path, command: str) -> int:
    """The most memory that a run of the command held, in KiB."""
    words = [word.format(root=root) for word in COMMANDS[command]]
    limit = 4 << 30

    def held() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=held,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stderr.rsplit("peak ", 1)[1].split()[0])


@pytest.mark.parametrize("command", COMMANDS)
def test_memory_grows_with_the_bytes(command: str, tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir(parents=True)
    (tmp_path / "corpus.jsonl").write_bytes(passages(20_000))
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "when is high tide"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")

    assert peak(tmp_path, command) < 400 << 10  # with a column for each key: over 1 GiB
