"""Blocks of NDJSON or of lines of cells, scanned: which lines Python must see, and codes of the keys of the others."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.scanner.library import (
    PerThread,
    Results,
    ScannerError,
    View,
    called,
    code_seeds,
    library,
    needed_library,
)
from ragdatakit.scanner.plan import Asked, counts_of, plan_blob, scopes_of
from ragdatakit.scanner.relations import Cut
from ragdatakit.scanner.views import WIDE, held_bytes, in_order, numbers, offsets_of, wide_codes, zeros
from ragdatakit.schemas.declarations import Columns, Field, Record

_LONE_RETURN = 1
_NOTE_WIDTH, _ODD_WIDTH, _MARK_WIDTH, _ALIKE_WIDTH = 5, 3, 3, 2
_OF_BLOCK, _OF_FIELD = 5, 5
"""Numbers in a note, in an odd text, in a mark and for a record that is read alike; views of a block and of each field:
as the library has them."""
_ALL = (1 << 64) - 1
"""The members of a record, where it is not known which of them were noted."""

REST = "<rest>"
"""What the field is called, by which the scanner knows it."""


@dataclass(frozen=True, slots=True)
class ScannedColumn:
    """Codes of a key field: of each row, or of all items of its lists (then ``owners`` are their rows).

    Codes of numbers have 64 bits, those of texts 128; of booleans in objects of lists they are 0 and 1.
    ``missing`` are rows without a value. Rows that were refused have no code yet, or 0. ``spelled`` are codes of what
    spelling does not change, where they were asked for, ``odd`` the texts of which Python must make it: row, first
    byte, byte behind the last (with their quote marks).
    """

    codes: npt.NDArray[Any]
    missing: npt.NDArray[np.int64]
    owners: npt.NDArray[np.int64]
    spelled: npt.NDArray[Any]
    odd: list[list[int]]
    is_list: bool


def moved_up(numbers: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The numbers that rows have once these ones (ascending) are left out; of these themselves nothing."""
    places = np.searchsorted(rows, numbers)
    kept: npt.NDArray[np.bool_] = rows[np.minimum(places, len(rows) - 1)] != numbers
    moved: npt.NDArray[np.int64] = (numbers - places)[kept]
    return moved


@dataclass(frozen=True, slots=True)
class KeptValues:
    """The values of a field, one behind the other in ``data``, each row's between two of the ``offsets``, and the rows
    without one. Texts are as they are meant, all else as it is written. Rows that were refused have no value.

    Where they are only shown, ``data`` is a memoryview of the library's memory, until the thread scans again."""

    data: bytes
    offsets: npt.NDArray[np.int64]
    missing: npt.NDArray[np.int64]

    def without(self, rows: npt.NDArray[np.int64]) -> KeptValues:
        """The same without these rows."""
        sizes, data = np.diff(self.offsets), self.data
        if sizes[rows].any():
            cuts = np.flatnonzero(np.diff(rows) > 1)
            starts = self.offsets[[0, *(rows[cuts] + 1), rows[-1] + 1]].tolist()
            ends = self.offsets[[rows[0], *rows[cuts + 1], -1]].tolist()
            data = b"".join(data[start:end] for start, end in zip(starts, ends, strict=True))
        return KeptValues(data, offsets_of(np.delete(sizes, rows)), moved_up(self.missing, rows))


class Sampling(NamedTuple):
    """Of which texts of a block the text is wanted: before it there are so many ``rows``, and of all rows every so
    many-th one is (``step``; 0: none)."""

    rows: int
    step: int

    def of_next(self, rows: int) -> npt.NDArray[np.int64]:
        """Which of so many rows of a block are wanted."""
        return np.arange(-self.rows % self.step, rows, self.step)


NO_TEXT, EVERY_TEXT = Sampling(0, 0), Sampling(0, 1)


@dataclass(frozen=True, slots=True)
class TextSample:
    """The texts of some rows: one behind the other in ``data``, each between two of the ``offsets``."""

    rows: npt.NDArray[np.int64]
    offsets: npt.NDArray[np.int32]
    data: bytes

    def __iter__(self) -> Iterator[bytes]:
        return (self.data[start:end] for start, end in pairwise(self.offsets.tolist()))

    def between(self, first: int, last: int) -> TextSample:
        """Those of the rows between two, the first of which is then 0."""
        start, end = np.searchsorted(self.rows, (first, last)).tolist()
        return TextSample(self.rows[start:end] - first, self.offsets[start : end + 1], self.data)


@dataclass(frozen=True, slots=True)
class ScannedFacts:
    """What is known of the texts of a field, by row: the characters (``lengths``), -1 where there is none; the codes;
    the bytes of all texts up to that of each row (``ends``, one more); the rows of which the text is ``empty``: blanks
    only; the first byte of each record, and the byte behind it. ``sample`` are those that were wanted."""

    lengths: npt.NDArray[np.int64]
    codes: npt.NDArray[Any]
    ends: npt.NDArray[np.int64]
    empty: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    behind: npt.NDArray[np.int64]
    sample: TextSample

    def without(self, rows: npt.NDArray[np.int64]) -> ScannedFacts:
        """The same without these rows; the sample, which depends on what is before a row, has nothing any more."""
        lengths, codes, sizes, starts, behind = (
            np.delete(some, rows) for some in (self.lengths, self.codes, np.diff(self.ends), self.starts, self.behind)
        )
        ends, empty = offsets_of(sizes), moved_up(self.empty, rows)
        return ScannedFacts(lengths, codes, ends, empty, starts, behind, self.sample.between(0, 0))


@dataclass(frozen=True, slots=True)
class Items:
    """What the objects in these ``lists`` of a record are: records of their own, as the arguments of `BlockScanner`
    have them. A record with an object of which a rule may want to see something is noted."""

    lists: tuple[str, ...]
    record: Record
    predicates: tuple[Asked, ...] = ()
    kept: Sequence[str] = ()
    facts: str = ""


@dataclass(frozen=True, slots=True)
class ScannedItems:
    """Such objects, one after the other: for each the ``owners`` have the row of its record, times the number of lists,
    and which of them it is in. What they have of records that were noted says nothing."""

    owners: npt.NDArray[np.int64]
    kept: dict[str, KeptValues]
    facts: ScannedFacts | None


@dataclass(frozen=True, slots=True)
class ScannedBlock:
    """What a block holds.

    ``notes`` are the noted lines in order: why (see `notes`), row, line, first byte, byte behind the last. ``lf`` and
    ``crlf`` are how often each line end occurs, its first line and that line's offset. ``counts`` has how many of the
    clean records have what is counted, by the names in the predicates. ``alike`` are rows of noted records in JSON that
    every reader reads alike, with the members that a rule may want to see (None: all), ``marks`` lines far from each
    other: the row of the record there, or of the next one, the line, its first byte. ``kept`` are the values of fields
    of which they are wanted, ``facts`` those of one's texts, ``items`` objects in lists of which they are wanted.
    """

    rows: int
    lines: int
    lf: tuple[int, int, int]
    crlf: tuple[int, int, int]
    notes: list[list[int]]
    columns: dict[str, ScannedColumn]
    counts: dict[Hashable, int] = field(default_factory=dict)
    alike: dict[int, frozenset[str] | None] = field(default_factory=dict)
    marks: list[list[int]] = field(default_factory=list)
    kept: dict[str, KeptValues] = field(default_factory=dict)
    facts: ScannedFacts | None = None
    items: ScannedItems | None = None

    def without(self, rows: Sequence[int]) -> ScannedBlock:
        """The same without these rows (ascending) in its values and facts, and without its columns."""
        if not rows:
            return self
        gone = np.array(rows)
        kept = {name: values.without(gone) for name, values in self.kept.items()}
        return replace(
            self, rows=self.rows - len(rows), kept=kept, facts=self.facts and self.facts.without(gone), columns={}
        )

    def copied(self) -> ScannedBlock:
        """The same, with values that are copies of those that are shown."""
        kept = {name: replace(values, data=bytes(values.data)) for name, values in self.kept.items()}
        return replace(self, kept=kept)

    def hide(self) -> None:
        """Values that were shown are looked at no more: who does it nevertheless gets an error, not other texts."""
        for values in self.kept.values():
            shown: Any = values.data
            shown.release()


def can_scan(records: tuple[Record, ...], asked: Iterable[Asked] = ()) -> bool:
    """Whether the scanner is there and knows all that is declared of a kind of record, or what it is taken for."""
    asked = list(asked)
    if library() is None:
        return False
    if any(isinstance(one, Cut) for one in asked):
        return records[0].shape == "string"
    is_object = len(records) == 1 and records[0].shape == "object"
    return is_object and records[0].fields != () and all(map(_is_known, scopes_of(records[0], asked)[""].values()))


def _is_known(declared: Field) -> bool:
    bounded = declared.minimum is not None or declared.maximum is not None
    return not (
        (declared.items is not None and declared.type != "array")
        or (declared.values is not None and (declared.type != "object" or bounded))
        or (declared.enum and declared.type != "string")
        or declared.items == "array"
        or declared.values == "array"
    )


class BlockScanner:
    """Scans blocks of one kind of record, in any thread. Raises `ScannerError` where it `can_scan` no such record.

    ``keys`` are the key columns and the fields that they are made of; a field of any type is taken as text, an integer
    by its digits. ``known`` are codes of some of the columns: records with other ones are candidates. ``cells``: the
    lines are cells that are cut so, not JSON; codes of numbers are those of doubles. ``tags``: the records are elements
    between these tags. A field called `REST` has those of their parts that are not declared, or an object of the
    members of a record that are not. ``kept`` are fields of the record, or of objects in it that are in no list, whose
    values are wanted, ``facts`` is the one of whose texts there are to be facts; `Sampling` says of which texts of a
    block these have the text, too. ``items`` are objects in lists of which the same is wanted. ``by_member``: records
    are looked at to their end, so that it is known which members of those that are noted a rule may want to see.
    """

    def __init__(
        self,
        record: Record,
        keys: Mapping[str, str],
        predicates: Iterable[Asked] = (),
        portable: bool = False,
        cells: Columns | None = None,
        known: Mapping[str, npt.NDArray[Any]] | None = None,
        tags: tuple[str, ...] = (),
        kept: Sequence[str] = (),
        facts: str = "",
        by_member: bool = False,
        items: Items | None = None,
    ) -> None:
        self._library = found = needed_library()
        asked = list(predicates)
        blob = plan_blob(record, set(keys.values()), asked, cells, tags, by_member)
        self._counts = counts_of(asked)
        self._plan = found.rd_plan_new(blob, len(blob))
        if not self._plan:
            raise ScannerError(f"the scanner cannot read {record.name}")
        weakref.finalize(self, found.rd_plan_free, self._plan).atexit = False
        scopes = scopes_of(record, asked)
        self._members = tuple(scopes[""]) if by_member else ()
        fields = {name: field for scope in scopes.values() for name, field in scope.items()}
        places = {name: number for number, name in enumerate(fields)}
        self._places = {column: places[name] for column, name in keys.items()}
        self._fields = {column: fields[name] for column, name in keys.items()}
        for column, codes in (known or {}).items():
            held = np.ascontiguousarray(codes).view(np.uint64)
            if found.rd_plan_known(self._plan, self._places[column], held.ctypes.data, len(held)):
                raise ScannerError(f"the scanner cannot look up {column}")
        self._kept, self._has_facts, self._items = tuple(kept), bool(facts), items
        self._want(self._plan, places, kept, facts)
        if items is not None:
            self._want_items(items, places)
        self._views = _OF_BLOCK + _OF_FIELD * len(fields)
        self._portable = int(portable)
        self._results = PerThread(found.rd_block_new, found.rd_block_free, self._views)

    def _want(self, plan: int, places: Mapping[str, int], kept: Sequence[str], facts: str) -> None:
        for name in kept:
            if self._library.rd_plan_keep(plan, places[name]):
                raise ScannerError(f"the scanner cannot keep {name}")
        if facts and self._library.rd_plan_facts(plan, places[facts]):
            raise ScannerError(f"the scanner makes no facts of {facts}")

    def _want_items(self, items: Items, places: Mapping[str, int]) -> None:
        blob = plan_blob(items.record, (), items.predicates)
        plan = self._library.rd_plan_items(self._plan, blob, len(blob))
        if not plan or any(self._library.rd_plan_list(self._plan, places[name]) for name in items.lists):
            raise ScannerError(f"the scanner cannot read {items.record.name}")
        scopes = scopes_of(items.record, items.predicates)
        names = [name for scope in scopes.values() for name in scope]
        self._want(plan, {name: place for place, name in enumerate(names)}, items.kept, items.facts)

    def scan(self, data: bytes, shown: bool = False, sampled: Sampling = NO_TEXT) -> ScannedBlock | None:
        """What is in these whole lines; None where a carriage return ends a line of its own, so that Python must see
        all of them. Values are copied, or ``shown``."""
        mine = self._mine(sampled)
        views = mine.views
        status = self._library.rd_scan(self._plan, mine.address, data, len(data), self._portable, views, self._views)
        if status == _LONE_RETURN:
            return None
        called(status)
        return self._found(mine, len(data), shown)

    def scan_elements(
        self, data: bytes, members: bool, sampled: Sampling = NO_TEXT, of_items: Sampling = NO_TEXT
    ) -> tuple[ScannedBlock, int]:
        """What is in these elements of an array, or members of an object, between commas; and how many bytes are done
        with: where not all are, Python must find what follows. ``lines`` is where the last element begins, line ends
        say nothing; the lines of the notes are those on which they begin."""
        mine = self._mine(sampled, of_items)
        done = ctypes.c_uint64()
        status = self._library.rd_scan_elements(
            self._plan, mine.address, data, len(data), members, self._portable, mine.views, self._views, done
        )
        called(status)
        return self._found(mine, done.value), done.value

    def scan_tagged(self, data: bytes, sampled: Sampling = NO_TEXT) -> tuple[ScannedBlock, int]:
        """What is in these elements between tags, and how many bytes are done with: not all where the last element does
        not end. Line ends say nothing; the lines of the notes are those on which they begin."""
        mine = self._mine(sampled)
        done = ctypes.c_uint64()
        status = self._library.rd_scan_tagged(
            self._plan, mine.address, data, len(data), self._portable, mine.views, self._views, done
        )
        called(status)
        return self._found(mine, done.value), done.value

    def _named(self, bits: int) -> frozenset[str] | None:
        if bits == _ALL or not self._members:
            return None
        return frozenset(name for place, name in enumerate(self._members) if bits >> place & 1)

    def _mine(self, sampled: Sampling, of_items: Sampling = NO_TEXT) -> Results:
        mine = self._results.mine()
        if self._has_facts:
            called(self._library.rd_sample(mine.address, False, *sampled))
        if self._items is not None and self._items.facts:
            called(self._library.rd_sample(mine.address, True, *of_items))
        return mine

    def _found(self, mine: Results, length: int = 0, shown: bool = False) -> ScannedBlock:
        views = mine.views
        rows, lines, *ends = numbers(views[0]).tolist()
        lf, crlf = (ends[0], ends[1], ends[2]), (ends[3], ends[4], ends[5])
        notes = numbers(views[1]).reshape(-1, _NOTE_WIDTH).tolist()
        counts = {name: n for name, n in zip(self._counts, numbers(views[2]).tolist(), strict=True) if n}
        columns = {name: _column(views, number, self._fields[name]) for name, number in self._places.items()}
        kept = self._kept_values(mine.address, self._kept, shown)
        facts = self._facts(mine.address, length) if self._has_facts else None
        items = self._scanned_items(mine, self._items, length) if self._items is not None else None
        pairs = numbers(views[3]).reshape(-1, _ALIKE_WIDTH).tolist() if views[3].length else ()
        alike = {row: self._named(members) for row, members in pairs}
        marks = numbers(views[4]).reshape(-1, _MARK_WIDTH).tolist()
        return ScannedBlock(rows, lines, lf, crlf, notes, columns, counts, alike, marks, kept, facts, items)

    def _scanned_items(self, mine: Results, items: Items, length: int) -> ScannedItems:
        owners = View()
        address = self._library.rd_items(mine.address, owners)
        facts = self._facts(address, length) if items.facts else None
        return ScannedItems(numbers(owners).view(np.int64), self._kept_values(address, items.kept), facts)

    def _facts(self, address: int, length: int) -> ScannedFacts:
        views = (View * 8)()
        called(self._library.rd_facts(address, views))
        lengths, codes, empty, rows = (numbers(views[place]).view(np.int64) for place in (0, 1, 3, 5))
        ends, sample_ends = (numbers(views[place], before=1).view(np.int64) for place in (2, 6))
        starts = np.append(numbers(views[4]).view(np.int64), length)
        data = ctypes.string_at(views[7].start, views[7].length) if views[7].length else b""
        sample = TextSample(rows, sample_ends.astype(np.int32), data)
        return ScannedFacts(lengths, codes.view(WIDE), ends, empty, starts[:-1], starts[1:], sample)

    def _kept_values(self, address: int, names: Sequence[str], shown: bool = False) -> dict[str, KeptValues]:
        found = {}
        for place, name in enumerate(names):
            ends, missing, data = views = (View * 3)()
            called(self._library.rd_kept(address, place, views))
            take: Callable[[int, int], Any] = _shown if shown else ctypes.string_at
            values = take(data.start, data.length)
            offsets = numbers(ends, before=1).view(np.int64) if data.length else zeros(ends.length + 1)
            has_any = missing.length < ends.length
            found[name] = KeptValues(
                values, offsets, numbers(missing).view(np.int64) if has_any else in_order(ends.length)
            )
        return found


def _shown(address: int, length: int) -> memoryview:
    return memoryview((ctypes.c_char * length).from_address(address)).cast("B") if length else memoryview(b"")


def _column(views: Any, number: int, field: Field) -> ScannedColumn:
    at = _OF_BLOCK + _OF_FIELD * number
    codes, missing, owners, spelled, odd = views[at : at + _OF_FIELD]
    of_numbers = (field.items if field.type == "array" else field.type) in ("integer", "number", "boolean")
    return ScannedColumn(
        numbers(codes) if of_numbers else wide_codes(codes),
        numbers(missing).view(np.int64),
        numbers(owners).view(np.int64),
        wide_codes(spelled),
        numbers(odd).reshape(-1, _ODD_WIDTH).tolist(),
        field.type == "array",
    )


def last_comma(data: bytes, portable: bool = False) -> tuple[int, int] | None:
    """The place of the last comma between elements of an array, or members of an object, that another one follows, and
    how many lines end before it; the place is -1 where there is none yet. None where there will be none, as quotes or
    brackets are broken. ``data`` begins between elements. Raises `ScannerError`."""
    found = needed_library()
    place, lines = ctypes.c_uint64(), ctypes.c_uint64()
    called(found.rd_last_comma(data, len(data), int(portable), place, lines))
    if place.value > len(data):
        return None
    return place.value if place.value < len(data) else -1, lines.value


def text_codes(data: Any, offsets: npt.NDArray[np.int32]) -> npt.NDArray[Any]:
    """Codes of the texts that are one behind the other in ``data`` (any buffer), between these offsets: those that
    `BlockScanner` gives the same texts. Raises `ScannerError`."""
    found = needed_library()
    places, count = np.ascontiguousarray(offsets, np.int32), max(len(offsets) - 1, 0)
    held = held_bytes(data)
    codes = np.empty(count, WIDE)
    called(found.rd_hash(*code_seeds(), held.ctypes.data, len(held), places.ctypes.data, count, codes.ctypes.data))
    return codes
