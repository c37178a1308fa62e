"""Which of many cases of one kind are run: a tenth by `make test`; `make test-all`, all.

Tests are marked `broad`, with the share where it is not a tenth; lists and loops in tests ask `chosen` or `some`, and
settings of Hypothesis `examples`.

`RAGDATA_SEED` chooses it: the same ones in every run, unless the environment has another word.
"""

from __future__ import annotations

import os
import zlib
from random import Random

ALL = os.environ.get("RAGDATA_TESTS") == "all"
SEED = os.environ.get("RAGDATA_SEED", "0")


def some(number: int, every: int = 10, of: str = "") -> list[int]:
    """Which of so many numbered cases are run: one in ``every``, at least one; ``of`` names the list."""
    if ALL:
        return list(range(number))
    return sorted(Random(f"{SEED} {of} {number}").sample(range(number), -(-number // every)))


def examples(number: int, every: int = 10, least: int = 6) -> int:
    """How many random examples of a property are tried: of the number that all tests try one in ``every``."""
    return number if ALL else max(least, number // every)


def chosen(case: str, every: int = 10) -> bool:
    """Whether a case is run, as one in ``every`` is."""
    return ALL or zlib.crc32(f"{SEED} {case}".encode()) % every == 0
