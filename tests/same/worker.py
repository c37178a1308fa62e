"""Runs calls of the command in one process, for one revision: a case a line in, what it left a line out.

Started by path, with the revision on PYTHONPATH: it may import nothing of the tests but what it loads by path.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

os.environ.update(NO_COLOR="1", COLUMNS="100", TERM="dumb")


def hasten() -> None:
    """Answer queries in this process, start none that cleans up after a kill, and do not wait for the disk: of a query
    over a fixture nine tenths are the start of its process. A revision that has other places for it does as users do.
    """
    place = Path(__file__).parents[1] / "query_tools.py"
    with suppress(ImportError, AttributeError):
        spec = importlib.util.spec_from_file_location("query_tools", place)
        assert spec is not None and spec.loader is not None
        tools = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tools)
        tools.answer_in_this_process(SimpleNamespace(setattr=setattr))
    with suppress(ImportError):
        from ragdatakit.outputs import staging

        staging._companion = lambda folder: None  # type: ignore[assignment]
    os.fsync = lambda handle: None


def outcome(words: list[str], output: str) -> dict[str, Any]:
    """Exit code, both streams, and the digest of each file that was written."""
    from ragdatakit.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="backslashreplace") for _ in range(2))
    code: Any = 0
    sys.argv = ["ragdata", *words]
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    return {"code": code, "out": _text(out), "err": _text(err), "files": _files(Path(output)) if output else {}}


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    buffer = stream.buffer
    assert isinstance(buffer, io.BytesIO)
    return buffer.getvalue().decode("utf-8", "replace")


def _files(place: Path) -> dict[str, str]:
    """Files by name: JSON that is small as text, so that a difference can be shown; others as a digest."""
    found = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.is_file())
    by_name = {}
    for path in found:
        data = path.read_bytes()
        small = path.suffix in (".json", ".suite") and len(data) < 1 << 16
        name = path.relative_to(place).as_posix()
        by_name[name] = data.decode("utf-8", "replace") if small else hashlib.sha256(data).hexdigest()
    return by_name


if __name__ == "__main__":
    hasten()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    for line in sys.stdin:
        case = json.loads(line)
        print(json.dumps(outcome(case["words"], case["output"])), file=answers, flush=True)
