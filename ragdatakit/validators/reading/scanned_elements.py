"""A big JSON array or object, element by element through the scanner: Python sees what is not proved, and the ends."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from ragdatakit.files.containers.arrays import ArraySource, Part
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
from ragdatakit.scanner.element_parts import Here, scanned_parts
from ragdatakit.scanner.relations import OnceCount
from ragdatakit.validators.coded_columns import spell_odd
from ragdatakit.validators.reading.file_runs import ElementsRun


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
            elif self.scanning.takes(scanned, part.data):
                self._take_scanned(part, scanned)
            else:
                elements.decode(part)
                self._take_values(self._values(part), records)
            records += part.count
            self.run_.progress(self.file, self.source.progress)
        return records

    def _parts(self, elements: ArraySource) -> Iterator[tuple[Part, ScannedBlock | None]]:
        scanner = self._scanner()
        return super()._parts(elements) if scanner is None else self._scanned(elements, scanner)

    def _scanned(self, elements: ArraySource, scanner: BlockScanner) -> Iterator[tuple[Part, ScannedBlock | None]]:
        jobs = self._jobs
        scan = partial(scanner.scan_elements, members=elements.NOUN == "object")
        with ThreadPoolExecutor(jobs) if jobs else Here() as pool:
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
        """What the record checks say of the noted elements; those that are kept, as in `_examined`."""
        noted: list[tuple[int, int, Any]] = []
        for problems, row, line, start, raw, indent in self._examined(part.data, scanned, part.indent, noted):
            place = part.byte_offset + start
            self._emit(problems, Element(part.first_record + row, part.first_line + line, place, raw, "", indent))
        return noted
