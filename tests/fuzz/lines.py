"""Very many damaged lines of each kind of record, block by block: of none that the scanner lets pass plain Python says
something, and both take the same keys of them.

Nothing is placed or worded here, so that a line costs a tenth of what it costs in ``containers``. A case has some
thousand lines of one kind: ``python -m tests.fuzz --part lines --seconds 3600``
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from random import Random

from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Format
from ragdatakit.validators import checks_of
from tests.block_mutations import mutated
from tests.fuzz.cases import Case
from tests.scanner_tools import BothWays, cut_anywhere
from tests.test_scanner import WITH_PREDICATES
from tests.test_scanner_cells import KINDS as OF_CELLS
from tests.test_scanner_cells import lines as cell_lines
from tests.test_scanner_records import SOUND, ways_of
from tests.value_mutations import damaged_line, damaged_value, line_of

LINES, AT_ONCE = 2000, 100
_LONE_RETURN = re.compile(rb"\r(?!\n)")
Make = Callable[[Random], bytes]


def _declared(name: str, kind: str) -> tuple[BothWays, Make]:
    """Records as they are declared, with all that their format checks of them."""
    fmt = get_format(name)
    file = DataFile(Path("x"), "x", "x", kind)
    checks = checks_of(name)(Dataset(Path(), "", fmt, "file", [file]), ())
    asked = checks.scanning(file).predicates or ()
    ways = BothWays(fmt.file(kind), asked, lambda value: checks.record(file, value), checks)
    return ways, lambda rng: mutated(fmt.file(kind).record, rng)


def _nested(name: str, kind: str) -> tuple[BothWays, Make]:
    """Records whose values are compared with each other."""

    def make(rng: Random) -> bytes:
        line = line_of(damaged_value(SOUND[name, kind](rng), rng, rng.choice((0, 0, 1, 1, 2))), rng)
        return damaged_line(line, rng) if rng.random() < 0.1 else line

    return ways_of(name, kind), make


def _cells(name: str, kind: str) -> tuple[BothWays, Make]:
    """Lines of cells."""
    fmt: Format = get_format(name)
    declared = fmt.file(kind)
    if name != "beir":
        return BothWays(declared), lambda rng: cell_lines(kind, declared.columns.separator, rng)
    file = DataFile(Path("x"), "x", "x", kind)
    checks = checks_of(name)(Dataset(Path(), "", fmt, "file", [file]), ())
    ways = BothWays(declared, (), lambda value: checks.record(file, value), checks)
    return ways, lambda rng: cell_lines(kind, declared.columns.separator, rng)


KINDS: list[tuple[Callable[[str, str], tuple[BothWays, Make]], str, str]] = [
    *((_declared, *kind) for kind in WITH_PREDICATES),
    *((_nested, *kind) for kind in SOUND),
    *((_cells, *kind) for kind in OF_CELLS),
]
_made = cache(lambda number: KINDS[number][0](*KINDS[number][1:]))


def _block(make: Make, rng: Random) -> bytes:
    """Some lines; seldom with a carriage return alone, for which Python reads the whole block."""
    parts: list[bytes] = []
    count = 0
    while count < AT_ONCE:
        part = make(rng)
        if _LONE_RETURN.search(part) is None or rng.random() < 0.02:
            parts.append(part if part.endswith(b"\n") else part + b"\n")
            count += max(part.count(b"\n"), 1)
    return b"".join(parts)


def check(case: Case) -> Iterator[str]:
    """Where the engines differ."""
    number = case.number % len(KINDS)
    _, name, kind = KINDS[number]
    ways, make = _made(number)
    for _ in range(LINES // AT_ONCE):
        data = _block(make, case.rng)
        for part in cut_anywhere(data, case.rng) if case.rng.random() < 0.1 else [data]:
            if (wrong := next(ways.differences(part), None)) is not None:
                alone = ((line, next(ways.differences(line), "")) for line in part.splitlines(keepends=True))
                line, words = next((found for found in alone if found[1]), (part[:2000], wrong[:1000]))
                yield f"{name} {kind}: {words} in {line!r}"
