"""Which of many cases of one kind are run: a tenth by `make test`, another one for each commit; `make test-all`, all.

`RAGDATA_SEED` chooses it, which is the commit unless the environment says otherwise: a commit is tested alike
everywhere, and what failed can be run again.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from functools import cache
from pathlib import Path
from random import Random

ALL = os.environ.get("RAGDATA_TESTS") == "all"


@cache
def seed() -> str:
    """The word that chooses, which the processes of a run have from its environment."""
    if "RAGDATA_SEED" not in os.environ:
        words = ["git", "rev-parse", "--short", "HEAD"]
        commit = subprocess.run(words, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
        os.environ["RAGDATA_SEED"] = commit.stdout.strip() or "0"
    return os.environ["RAGDATA_SEED"]


def some(number: int, every: int = 10, of: str = "") -> list[int]:
    """Which of so many numbered cases are run: one in ``every``, at least one; ``of`` names the list."""
    if ALL:
        return list(range(number))
    return sorted(Random(f"{seed()} {of} {number}").sample(range(number), -(-number // every)))


def examples(number: int) -> int:
    """How many random examples of a property are tried: of the number that all tests try a fifth, at least six."""
    return number if ALL else max(6, number // 5)


def chosen(case: str, every: int = 10) -> bool:
    """Whether a case is run, as one in ``every`` is."""
    return ALL or zlib.crc32(f"{seed()} {case}".encode()) % every == 0
