"""GFM-RAG's own loaders as an oracle: they run in a Python of their own, and their answers are recorded.

Upstream needs torch and Python 3.12. Make an environment with ``pip install --no-deps gfmrag==2.0.0`` and ``torch
torch-geometric==2.6.1 pandas==2.3.2 numpy==1.26.4 datasets==4.0.0 pyarrow==21.0.0 hydra-core``, a folder with
``pip install --no-deps --target FOLDER gfmrag==1.0.0``, and name them in the environment variables ``GFM_RAG_PYTHON``
(the interpreter) and ``GFM_RAG_LEGACY``. Then

    python -m tests.gfm_rag_oracle --record        runs all cases, writes gfm_rag_verdicts.json
    python -m tests.gfm_rag_oracle --random 1000   compares verdicts on datasets damaged at random
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.gfm_rag_behaviour import Case

RECORDS = Path(__file__).with_name("gfm_rag_verdicts.json")
PROFILES = ("reasoner", "gfm-rag")
_LOADERS = Path(__file__).with_name("gfm_rag_loaders.py")


class Oracle:
    """A running process that loads dataset folders with upstream's classes."""

    def __init__(self, python: str, legacy: str = "") -> None:
        command = [python, str(_LOADERS), *(["--legacy", legacy] if legacy else [])]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, action: str, root: Path, **options: Any) -> dict[str, Any]:
        """Run an action of `gfm_rag_loaders` on a dataset folder that has not been loaded yet (or has, on purpose)."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([action, str(root), options]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the oracle died of {action} on {root}"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def upstream_python() -> str:
    """The interpreter that has upstream's package; empty where none is named."""
    return os.environ.get("GFM_RAG_PYTHON", "")


@contextmanager
def oracles() -> Iterator[dict[bool, Oracle]]:
    """The oracle of the current release (False) and of release 1.0.0 (True)."""
    python, legacy = upstream_python(), os.environ.get("GFM_RAG_LEGACY", "")
    if not python or not legacy:
        raise SystemExit("set GFM_RAG_PYTHON and GFM_RAG_LEGACY; see the docstring of tests/gfm_rag_oracle.py")
    with Oracle(python) as current, Oracle(python, legacy) as old:
        yield {False: current, True: old}


def requests(case: Case) -> dict[str, tuple[str, dict[str, Any]]]:
    """What is asked of the oracle for a case: a label, and the action with its options."""
    asked: dict[str, tuple[str, dict[str, Any]]] = {}
    if case.base == "legacy":
        return {"legacy": ("legacy", {})} if case.reasoner.action != "read" else {}
    for profile in PROFILES:
        does = case.does(profile)
        if does.action != "read":
            asked[profile] = does.request(profile)
    return asked


def run(case: Case, running: dict[bool, Oracle], folder: Path) -> dict[str, Any]:
    """The oracle's answers on a case, by label; every one on a folder of its own."""
    answers = {}
    for label, (action, options) in requests(case).items():
        root = folder / label / "data"
        case.write(root)
        shown = {name for profile in PROFILES for name in case.does(profile).shows}
        answers[label] = kept(running[action == "legacy"].ask(action, root, **options), shown)
    return answers


def kept(answer: dict[str, Any], shown: set[str]) -> dict[str, Any]:
    """The part of an answer that is recorded: counts, and what the case shows."""
    lists = {"names", "texts", "triples", "relations", "starts", "targets"} - shown
    if "text" in shown:
        lists.discard("texts")
    short = {k: v for k, v in answer.items() if k not in {"skipped", "where", *lists} and v not in ("", 0, [], {})}
    if len(short.get("names", ())) > 12:
        short["names"] = [*short["names"][:12], "…"]
    return short | {"error": answer["error"][:160]} if answer["error"] else short


def record(names: list[str]) -> int:
    """Run the cases (all, or those whose id has one of the names in it) and write the record."""
    from tests.gfm_rag_cases import CASES

    output: dict[str, Any] = json.loads(RECORDS.read_text(encoding="utf-8")) if RECORDS.exists() else {}
    chosen = [c for c in CASES if not names or any(n in c.id for n in names)]
    with oracles() as running, tempfile.TemporaryDirectory() as scratch:
        for number, case in enumerate(chosen):
            output[case.id] = run(case, running, Path(scratch) / str(number))
    known = {c.id: output[c.id] for c in CASES if c.id in output}
    RECORDS.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return len(chosen)


def main() -> int:
    """Record, or compare at random."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", nargs="*", metavar="NAME", help="run the cases with such names; without a name all")
    parser.add_argument("--random", type=int, metavar="N", help="compare verdicts on so many random datasets")
    parser.add_argument("--big", action="store_true", help="with --random: fewer, of more rows than pandas' chunks")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.record is not None:
        print(f"{record(options.record)} cases recorded in {RECORDS.name}")
    if options.random:
        from tests.gfm_rag_random import compare

        with oracles() as running:
            return compare(running[False], options.random, options.seed, options.big)
    return 0


if __name__ == "__main__":
    sys.exit(main())
