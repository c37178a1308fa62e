"""Who reads ranges of elements of JSON arrays and objects: those behind a comma in the range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.arrays import Part, WrappedSource
from ragdatakit.files.containers.positions import Located
from ragdatakit.files.containers.sources import CHANGED, FileFault, RangeSource
from ragdatakit.validators.ranges.element_borders import Borders
from ragdatakit.validators.ranges.plan import Range
from ragdatakit.validators.ranges.range_judges import RangeJudge, passed_on, take_passed_on
from ragdatakit.validators.ranges.summaries import JudgedBlock, RangeSummary, Stretch
from ragdatakit.validators.reading.blocks import CheckedBlock, few_of_each
from ragdatakit.validators.reading.scanned_elements import ScannedElementsRun

if TYPE_CHECKING:
    from ragdatakit.files.containers.arrays import ArraySource, Buffer
    from ragdatakit.files.containers.element_scans import Element
    from ragdatakit.files.containers.tagged_text import TaggedElement
    from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock
    from ragdatakit.schemas.findings import Problem


class PlacedJudge(RangeJudge):
    """Reads a range of what begins anywhere in a line. Records and lines are counted from its beginning; ``_checked``
    is for what comes next."""

    _checked: CheckedBlock

    @property
    def _jobs(self) -> int:
        """None: other processes judge other ranges meanwhile."""
        return 0

    def _scanner(self) -> BlockScanner | None:
        return super()._scanner() if self.run_.big else None

    def _take_values(self, values: list[Any], first_record: int) -> None:
        if self.columns is None:
            return
        if not self.run_.big:
            self._checked.batches.append((0, None, values, []))
            return
        from ragdatakit.validators.coded_columns import coded_values

        batch = coded_values(self.columns, values)
        found = self.sets.probe(self.file.kind, batch)
        self._checked.batches.append((0, batch, values if self.needs.values else None, found))

    def _take_scan(self, scanned: ScannedBlock, first_record: int, noted: list[tuple[int, int, Any]]) -> None:
        if self.columns is None:
            return
        batch = self._coded_part(scanned, noted)
        self._checked.batches.append((0, batch, None, self.sets.probe(self.file.kind, batch)))

    def _count_once(self, once: dict[str, int]) -> None:
        self._checked.excess.update(once)

    def _emit(self, problems: list[Problem], found: Element | TaggedElement | Part, place: int = 0) -> None:
        few = few_of_each(problems, self._kept, self._checked.excess, self.run_.most_held)
        if not few:
            return
        element = found.elements()[place] if isinstance(found, Part) else found
        located = Located.element(element)
        self._checked.faulty.append((located, few, None))

    def _trim(self, checked: CheckedBlock) -> None:
        """No more than may be shown were kept."""
        checked.kept = Counter()


class ElementsJudge(PlacedJudge, ScannedElementsRun):
    """Reads a range of elements."""

    def _judged(self, part: Range, found: RangeSummary) -> Iterator[JudgedBlock]:
        checks, elements = self.run_.checks, self._elements()
        if part.given is not None or part.number:
            take_passed_on(checks, self.needs.passed_on if part.given is None else part.given)
        found.given = passed_on(checks, self.needs)
        begin = part.start if part.whole else self._begin(part, elements)
        if begin is None:
            found.stretch = Stretch(-1, -1, sound=False)
            return
        if isinstance(self.source, RangeSource):
            self.source.start, elements.end = begin, part.end
            elements.resume(self.source, begin)
        reader = elements.begin_once()
        if reader is None:
            found.stretch = Stretch(begin, begin, sound=False)
            return
        for piece, scanned in self._parts(elements):
            self._checked = CheckedBlock(records=piece.count)
            if scanned is None:
                self._take_values(self._values(piece), 0)
            else:
                self._take_scanned(piece, scanned)
            yield JudgedBlock(piece.byte_offset, self._checked, 0, piece.first_line - 1, piece.indent)
        if not part.whole and self._has_changed(part):
            self.source.faults = [FileFault("unreadable-file", {"reason": CHANGED})]
        found.stretch = self._stretch(begin, elements, reader)
        found.passed_on = passed_on(checks, self.needs)

    def _begin(self, part: Range, elements: ArraySource) -> int | None:
        if part.exact is not None:
            return part.exact
        with self.source.boundary.open(self.source.path) as file:
            size = int(part.state.partition("-")[0])
            return Borders(file.fileno(), size, elements, part.like).first_begin(part.start, part.end)

    def _stretch(self, begin: int, elements: ArraySource, reader: Buffer) -> Stretch:
        """What was read. Of a file that is not read to its end nobody knows what is behind the array; one that
        is read from its beginning has to have an end."""
        is_done = reader.ended if reader.closed else isinstance(self.source, RangeSource)
        sound = elements.sound and not self.source.faults and is_done
        place = begin, reader.offset, sound, reader.closed, reader.line - 1, reader.indent, elements.carried.mark
        if isinstance(elements, WrappedSource):
            return Stretch(*place, tuple(elements.around), elements.member)
        return Stretch(*place)
