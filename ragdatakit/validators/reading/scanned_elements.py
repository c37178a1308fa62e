"""A big JSON array or object, element by element through the scanner: Python sees what is not proved, and the ends.

Parts are cut ahead and scanned in threads. Where a part is not what it seemed to be, it and those behind it are put
back, and Python reads on from there, a few elements at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from ragdatakit.files.containers.arrays import ArraySource, Buffer, Part
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock, last_comma
from ragdatakit.scanner.relations import OnceCount
from ragdatakit.validators.coded_columns import spell_odd
from ragdatakit.validators.reading.file_runs import ElementsRun

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
            part.data = part.data[:done]
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


class _Here(Executor):
    """No threads at all."""

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Done at once."""
        done: Future[Any] = Future()
        done.set_result(function(*given, **named))
        return done


class ScannedElementsRun(ElementsRun):
    """The same for files that are worth a scanner, where there is one that knows the records."""

    def _read(self, elements: ArraySource) -> int:
        scanner = self._scanner()
        if scanner is None:
            return super()._read(elements)
        records = elements.first_record
        for part, scanned in self._scanned(elements, scanner):
            self.table.add(records, part.first_line, part.byte_offset)
            if scanned is None:
                self._take_values(self._values(part), records)
            else:
                self._take_scanned(part, scanned)
            records += part.count
            self.run_.progress(self.file, self.source.progress)
        return records

    def _parts(self, elements: ArraySource) -> Iterator[tuple[Part, ScannedBlock | None]]:
        scanner = self._scanner()
        return super()._parts(elements) if scanner is None else self._scanned(elements, scanner)

    def _scanned(self, elements: ArraySource, scanner: BlockScanner) -> Iterator[tuple[Part, ScannedBlock | None]]:
        jobs = self._jobs
        scan = partial(scanner.scan_elements, members=elements.NOUN == "object")
        with ThreadPoolExecutor(jobs) if jobs else _Here() as pool:
            yield from scanned_parts(elements, scan, pool, jobs, self.scanning.sees_next)

    @property
    def _jobs(self) -> int:
        """How many threads scan."""
        return self.run_.options.jobs

    def _take_scanned(self, part: Part, scanned: ScannedBlock) -> None:
        spell_odd(scanned, part.data)
        noted = self._noted(part, scanned)
        self.scanning.counted(scanned.counts)
        once = {str(name): n for name, n in scanned.counts.items() if isinstance(name, OnceCount)}
        self._count_once(once)
        self._take_scan(scanned, part.first_record, noted)

    def _count_once(self, once: dict[str, int]) -> None:
        """These problems of the part are only counted."""
        self.run_.collector.count_all(once if self.fresh else {}, self.file)

    def _noted(self, part: Part, scanned: ScannedBlock) -> list[tuple[int, int, Any]]:
        """What the record checks say of the noted elements; why they were noted, their rows and decoded values."""
        values: list[tuple[int, int, Any]] = []
        data, behind, indent = part.data, 0, part.indent
        for why, row, line, start, end in scanned.notes:
            raw = data[start:end]
            value, problems = self.checker.examine(raw)
            values.append((why, row, value))
            if problems:
                indent = indent.behind(data, behind, start)
                behind = start
                place = part.byte_offset + start
                self._emit(problems, Element(part.first_record + row, part.first_line + line, place, raw, "", indent))
        return values
