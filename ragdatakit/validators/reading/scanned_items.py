"""A big file that is one record with a long list: its items go through the scanner, Python sees those that are noted.

Where the file is not what it seems to be (an item that is not an object, or that readers read differently, a member
twice, an end that is missing), it is read again as one record. So that is what decides in all doubtful cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ragdatakit.arrays.codes import WIDE
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.files.containers.arrays import ArraySource, Part, WrappedSource
from ragdatakit.files.containers.positions import locate_elements
from ragdatakit.files.containers.record_forms import JSON
from ragdatakit.files.containers.record_forms import REFUSED as UNLIKE
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock, can_scan
from ragdatakit.scanner.long_records import Items, ScannedItems
from ragdatakit.scanner.notes import REFUSED
from ragdatakit.validators.reading.file_runs import ElementsRun, FileRun, LinesRun

if TYPE_CHECKING:
    from ragdatakit.files.containers.sources import Source
    from ragdatakit.schemas.findings import Problem


class _DoubtfulError(Exception):
    """The file is to be read as one record."""


class _ItemsRun(FileRun):
    """A run that may try to look at one record item by item."""

    ONE_LINE: ClassVar = False

    def _items_problems(self) -> list[Problem] | None:
        """The problems of the file as one record; None where it must be read as one."""
        if self.scanning.items is None or self.columns is not None:
            return None
        items = self.scanning.items()
        if not can_scan((items.record,), items.asked):
            return None
        try:
            found = self._scan(items)
        except _DoubtfulError:
            self.source = self.run_.source(self.file)
            return None
        with self.run_.lock:
            return self.run_.guarded(self.file, lambda: items.problems(found), self.more)

    def _scan(self, items: Items) -> ScannedItems:
        known = {} if items.known is None else {"key": items.known}
        scanner = BlockScanner(items.record, {"key": items.key}, items.asked, known=known)
        found, codes = ScannedItems(), _Codes()
        pieces = _Pieces(self.source)
        source = WrappedSource(cast("Source", pieces), (items.field,))
        for part, scanned in self._parts_of(source, scanner):
            if scanned is None:
                values = [_value_of(element) for element in part.found]
                codes.add_values(values, items.key)
                found.seen.update(enumerate(values, found.length))
            else:
                self._take_noted(part, scanned, found, codes, items.key)
            found.length += part.count
            self.run_.progress(self.file, self.source.progress)
        if not self._is_sound(source, items.field) or (self.ONE_LINE and not pieces.is_line):
            raise _DoubtfulError
        found.codes, found.places = codes.joined()
        again = sorted(set(items.wanted(found)) - found.seen.keys())
        if again:
            source = WrappedSource(self.run_.source(self.file), (items.field,))
            parts = (part for part, _ in self._parts_of(source, scanner))
            found.again.update((one.record, _value_of(one)) for one in locate_elements(parts, again))
        return found

    def _parts_of(self, source: WrappedSource, scanner: BlockScanner) -> Iterator[tuple[Part, ScannedBlock | None]]:
        from concurrent.futures import ThreadPoolExecutor  # all this few files of lines need

        from ragdatakit.scanner.element_parts import scanned_parts

        jobs = self.run_.options.jobs
        with ThreadPoolExecutor(jobs) as pool:
            yield from scanned_parts(source, partial(scanner.scan_elements, members=False), pool, jobs, lambda: False)

    def _take_noted(self, part: Part, scanned: ScannedBlock, found: ScannedItems, codes: _Codes, key: str) -> None:
        found.counts.update(scanned.counts)
        late = {}
        for why, row, _, start, end in scanned.notes:
            value = found.seen[found.length + row] = _decoded(part.data[start:end])
            if why == REFUSED:
                late[row] = value.get(key)
        codes.add(scanned, late)

    def _is_sound(self, source: WrappedSource, field: str) -> bool:
        """Whether the file was read to its end, and what is beside the list is in order, too."""
        if not source.member or not source.whole or self.source.faults:
            return False
        if self.source.bytes_read > self.source.max_line_bytes:
            return False
        members = b",".join(element.raw for element in source.around)
        beside = JSON.plain(b"{%b}" % members)
        if beside is UNLIKE or len(beside) != len(source.around) or field in beside:
            return False
        return not self.checker.declared_problems({**beside, field: []})


class ScannedItemsRun(_ItemsRun, ElementsRun):
    """One record over several lines."""

    def _read(self, elements: ArraySource) -> int:
        problems = self._items_problems()
        if problems is None:
            elements.source = self.source
            return super()._read(elements)
        elements.top = elements.NOUN
        self.table.add(0, 1, 0)
        for part in self._parts_again() if problems else ():
            self._emit(problems, part.elements()[0])
        return 1


class ScannedLineRun(_ItemsRun, LinesRun):
    """A file of lines, or one line that is one record with a long list."""

    ONE_LINE: ClassVar = True

    def run(self) -> None:
        """Read and check the file."""
        problems = self._items_problems()
        if problems is None:
            super().run()
            return
        self.table.add(0, 1, 3 if self.source.bom else 0)
        for located in self.locate([0]) if problems and self.fresh else ():
            for problem in problems:
                self.run_.emit_record(self.file, problem, located)
        self._finish(1)


class _Pieces:
    """A source whose pieces are looked at as they are read: whether they are one line."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.is_line = True

    def pieces(self) -> Iterator[bytes]:
        """Those of the source."""
        is_ended = False
        for piece in self._source.pieces():
            self.is_line &= not is_ended and b"\r" not in piece and b"\n" not in piece[:-1]
            is_ended = piece.endswith(b"\n")
            yield piece

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


class _Codes:
    """Codes of the keys of items, as they come; of those that have one."""

    def __init__(self) -> None:
        self._codes = [np.empty(0, WIDE)]
        self._places = [np.empty(0, np.int64)]
        self._length = 0

    def add(self, scanned: ScannedBlock, late: dict[int, Any]) -> None:
        """Those of a part that was scanned; ``late`` are the keys of the rows that were refused."""
        codes = scanned.columns["key"].codes
        is_there = np.ones(scanned.rows, np.bool_)
        if late:
            codes[[*late]] = codes_of_texts([key if isinstance(key, str) else None for key in late.values()])
            is_there[[row for row, key in late.items() if not isinstance(key, str)]] = False
        places = np.flatnonzero(is_there)
        self._codes.append(codes[places])
        self._places.append(places + self._length)
        self._length += scanned.rows

    def add_values(self, values: list[Any], key: str) -> None:
        """Those of items as they were decoded."""
        keys = {place: v[key] for place, v in enumerate(values, self._length) if isinstance(v.get(key), str)}
        self._codes.append(codes_of_texts(list(keys.values())))
        self._places.append(np.array([*keys], np.int64))
        self._length += len(values)

    def joined(self) -> tuple[Any, Any]:
        """All codes, and the places of the items that they are of."""
        return np.concatenate(self._codes), np.concatenate(self._places)


def _value_of(element: Any) -> Any:
    if getattr(element, "error", ""):
        raise _DoubtfulError
    return _decoded(element.raw)


def _decoded(raw: bytes) -> dict[str, Any]:
    """An item that every reader reads alike, also within the list, if it is an object."""
    value = JSON.plain(b'{"":[%b]}' % raw)
    if value is UNLIKE or len(value[""]) != 1 or not isinstance(value[""][0], dict):
        raise _DoubtfulError
    return dict(value[""][0])
