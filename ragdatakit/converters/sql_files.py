"""What ways of taking tables by SQL share: a look through a file, and how SQL writes paths and texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from ragdatakit.tables.dataset_database import Unproved
from ragdatakit.tables.datasets import DataFile
from ragdatakit.tables.sources import Source

T = TypeVar("T")
_LOOSE_QUOTE = re.compile(rb',[ \t]+"(?!")')
_HUGE_LINE = 1 << 26
_TAB, _LINE, _BLANK, _QUOTE, _COMMA, _BRACE = b'\t\n ",}'


def count_lines(files: Iterable[DataFile]) -> Future[dict[str, int]]:
    """The lines of each file of JSON lines, counted in a thread.

    The result raises `Unproved` where a comma stands before a brace, which DuckDB takes for JSON, and for blank lines.
    """
    return _aside(lambda: {f.display: sum(_json_lines(f)) for f in files})


def look_through_csv(files: Iterable[DataFile]) -> Future[None]:
    """Look through tables, in a thread, for what DuckDB reads in another way: blank lines, blanks before quotes.

    The result raises `Unproved` where there is such a thing.
    """

    def look() -> None:
        for file in files:
            _look_through(file)

    return _aside(look)


def _aside(work: Callable[[], T]) -> Future[T]:
    pool = ThreadPoolExecutor(1)
    try:
        return pool.submit(work)
    finally:
        pool.shutdown(wait=False)


def _json_lines(file: DataFile) -> Iterator[int]:
    import numpy as np

    source = Source(file.path, file.path.name.lower().endswith(".gz"), max_line_bytes=_HUGE_LINE)
    for block in source.blocks():
        if block.skipped:
            raise Unproved
        data = np.frombuffer(block.data, np.uint8)
        ends, commas, braces = data == _LINE, data == _COMMA, data == _BRACE
        if (commas[:-1] & braces[1:]).any() or (commas[:-2] & (data[1:-1] <= _BLANK) & braces[2:]).any():
            raise Unproved
        if (ends[:-1] & (data[1:] <= _BLANK)).any() or data[0] <= _BLANK:
            raise Unproved
        yield int(np.count_nonzero(ends)) + (not ends[-1])
    if source.faults:
        raise Unproved


def _look_through(file: DataFile) -> None:
    import numpy as np

    source = Source(file.path, file.path.name.lower().endswith(".gz"), max_line_bytes=_HUGE_LINE)
    for block in source.blocks():
        if block.skipped:
            raise Unproved
        data = np.frombuffer(block.data, np.uint8)
        ends, quotes, blanks = data == _LINE, data == _QUOTE, (data == _BLANK) | (data == _TAB)
        if ((data < _BLANK) & ~ends & ~blanks).any() or ends[0] or (ends[:-1] & ends[1:]).any():
            raise Unproved
        if (blanks[:-1] & quotes[1:]).any() and _LOOSE_QUOTE.search(block.data):
            raise Unproved
    if source.faults:
        raise Unproved


def paths(files: Iterable[DataFile]) -> str:
    """The files as a list in SQL, in which DuckDB sees no patterns."""
    return "[" + ", ".join(text(unglobbed(f.path)) for f in files) + "]"


def unglobbed(path: Path) -> str:
    """A path in which DuckDB sees no pattern."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in str(path))


def text(value: str | None) -> str:
    """A text as SQL writes it."""
    return "null::varchar" if value is None else "'" + value.replace("'", "''") + "'"
