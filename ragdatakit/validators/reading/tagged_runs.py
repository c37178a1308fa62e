"""One file of elements between tags (TREC documents and topics), read and checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import Source
from ragdatakit.files.containers.tagged_text import ElementFinder, TaggedElement
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.reading.file_runs import FileRun

_AT_ONCE = 500


class TaggedRun(FileRun):
    """A file of elements."""

    def run(self) -> None:
        """Read and check the file."""
        self._finish(self._take_elements(self._elements(self.source), 0))

    def _take_elements(self, elements: Iterable[TaggedElement], records: int) -> int:
        """Check elements, before which there are so many records; how many there are then."""
        values: list[Any] = []
        for element in elements:
            values.append(self._value(element))
            records += 1
            if len(values) == _AT_ONCE:
                self._take_values(values, records - len(values))
                values = []
                self.run_.progress(self.file, self.source.progress)
        self._take_values(values, records - len(values))
        return records

    def locate(self, records: Iterable[int]) -> Iterable[Located]:
        """Find records again by reading the file once more."""
        wanted = set(records)
        for element in self._elements(self.run_.source(self.file)) if wanted else ():
            if element.record in wanted:
                wanted.discard(element.record)
                yield Located.element(element)
                if not wanted:
                    return

    def _elements(self, source: Source) -> Iterator[TaggedElement]:
        pieces = source.pieces()
        first = next(pieces, b"")
        finder = ElementFinder(self.declared.tags, source.max_line_bytes)

        def all_pieces() -> Iterator[bytes]:
            yield first
            yield from pieces

        return finder.elements(all_pieces(), 3 if source.bom else 0)

    def _value(self, element: TaggedElement) -> Any:
        if element.too_long:
            self._emit([Problem("line-too-long", facts={"bytes": self.source.max_line_bytes})], element)
            return None
        value, problems = self.checker.examine(element.raw)
        self._emit(problems, element)
        return value

    def _emit(self, problems: list[Problem], element: TaggedElement) -> None:
        if self.fresh and problems:
            located = Located.element(element)
            for problem in problems:
                self.run_.emit_record(self.file, problem, located)
