"""The parts of a JSON array or object, scanned.

Parts are cut ahead and scanned in threads. Where a part is not what it seemed to be, it and those behind it are put
back, and Python reads on from there, a few elements at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from ragdatakit.files.containers.arrays import ArraySource, Buffer, Part
from ragdatakit.scanner.blocks import ScannedBlock, last_comma

Scan = Callable[[bytes], tuple[ScannedBlock, int]]

_FEW = 4
_SEVERAL = 100
"""Elements that Python reads before the scanner is tried again; and where a rule asks for them, before it is asked."""


def _scanned_ahead(
    elements: ArraySource, reader: Buffer, scan: Scan, pool: Executor, jobs: int
) -> Iterator[tuple[Part, ScannedBlock]]:
    """Parts that were cut ahead of what is looked at, up to a place where Python must look."""
    waiting: deque[tuple[Part, Future[tuple[ScannedBlock, int]]]] = deque()
    while True:
        while len(waiting) <= jobs and (part := elements.cut_part(reader, last_comma)) is not None:
            waiting.append((part, pool.submit(scan, part.data)))
        if not waiting:
            return
        part, future = waiting.popleft()
        scanned, done = future.result()
        is_broken = done < len(part.data) or part.data.endswith(b",")  # two commas
        if is_broken:
            reader.put_back([part, *(later for later, _ in waiting)], done)
            part.data = part.data[:done].removesuffix(b",")
        if scanned.rows:
            elements.taken(part, scanned.rows, scanned.lines)
            yield part, scanned
        if is_broken:
            return


def scanned_parts(
    elements: ArraySource, scan: Scan, pool: Executor, jobs: int, sees_next: Callable[[], bool]
) -> Iterator[tuple[Part, ScannedBlock | None]]:
    """All elements in order: parts as they were scanned, or (None) as Python has cut them, which it does also where
    ``sees_next`` says so."""
    reader, records = elements.begin(), elements.first_record
    while reader is not None and elements.goes_on(reader):
        few = _FEW
        if sees_next():
            few = _SEVERAL
        else:
            for part, scanned in _scanned_ahead(elements, reader, scan, pool, jobs):
                part.first_record = records
                yield part, scanned
                records += part.count
        part = elements.scanned_part(reader, records, few)
        if part.count or part.found:
            elements.top = elements.NOUN
            yield part, None
            records += part.count


class Here(Executor):
    """No threads at all."""

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Done at once."""
        done: Future[Any] = Future()
        done.set_result(function(*given, **named))
        return done
