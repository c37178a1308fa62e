"""Blocks of a CSV file scanned: which rows Python must see, and what is to be known of the cells of all the others."""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.library import ABI, PerThread, ScannerError, called, code_seeds, needed_library
from ragdatakit.scanner.predicates import WHITE_SPACE, PythonDict, plain_ranges
from ragdatakit.scanner.views import Numbers, numbers, wide_codes

Inferred = Literal["", "int64", "uint64"]

_NOTE_WIDTH, _BEFORE, _OF_COLUMN = 5, 2, 13
_NOTHING, _NOWHERE = 0xFFFF, 2**64 - 1
_BEYOND: tuple[Inferred, ...] = ("", "int64", "uint64")


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column, the ``place`` of its cells in a row, and what is to be known of them.

    ``key``: their codes; ``spelled``: also those of what spelling does not change. ``inferred``: pandas infers the type
    of its cells. ``non_empty``, ``edged``: Python must see cells that are empty, or have white space at an end.
    ``distinct``: its different cells as texts. ``kept``: all its cells; with ``json`` they are dicts as Python writes
    them, of which JSON is made.
    """

    name: str
    place: int
    key: bool = False
    non_empty: bool = False
    inferred: bool = False
    spelled: bool = False
    distinct: bool = False
    edged: bool = False
    kept: bool = False
    json: bool = False


class ScannedKinds(NamedTuple):
    """What pandas makes of the cells of a column: the fields of a `ColumnScan`."""

    cells: int
    texts: int
    first_text: int
    numbers: bool
    huge: int
    first_huge: int
    integers: bool
    beyond: Inferred
    negative: bool
    decimals: bool
    booleans: bool


@dataclass(frozen=True, slots=True)
class KeptCells:
    """The texts of all rows in Arrow's layout: ``data``, where each begins and the last ends, the bits of those that
    are there: refused rows have none, nor have dicts without keys. Of ``late`` rows it is the cell as it stands, of
    which the caller has to make JSON."""

    data: bytes
    offsets: npt.NDArray[np.int32]
    valid: npt.NDArray[np.uint8]
    late: npt.NDArray[np.int64]

    def text(self, row: int) -> str:
        """That of a row."""
        return self.data[self.offsets[row] : self.offsets[row + 1]].decode()


@dataclass(frozen=True, slots=True)
class ScannedCells:
    """The cells of a column. Rows that were refused have no code yet, but 0, and the last number there is.

    ``texts`` are all cells of a column that may be one of numbers, or its different ones (``numbers`` say for each row
    which); ``late`` are the rows whose spelling is not known, ``late_texts`` their cells. ``bare`` are the kinds
    without the cells that pandas takes for missing, ``number_like`` so many cells look like numbers, ``empty`` so many
    of a key column have nothing but blanks, tabs and line ends.
    """

    codes: npt.NDArray[Any]
    spelled: npt.NDArray[Any]
    late: npt.NDArray[np.int64]
    late_texts: list[str]
    texts: list[str]
    numbers: Numbers
    kinds: ScannedKinds
    bare: ScannedKinds
    number_like: int
    empty: int
    kept: KeptCells


@dataclass(frozen=True, slots=True)
class ScannedRows:
    """What a block holds. ``notes`` are the rows that Python must see: why (see `notes`), row, line, first byte, byte
    behind the last. ``python_only`` and ``filled`` count dicts of other rows: those that JSON readers refuse, and those
    with keys."""

    rows: int
    lines: int
    python_only: int
    filled: int
    notes: list[list[int]]
    cells: dict[str, ScannedCells]


class SheetScanner:
    """Scans blocks of whole records of one file, each of ``width`` cells, in any thread. Raises `ScannerError`."""

    def __init__(
        self, width: int, columns: Iterable[SheetColumn], dicts: PythonDict | None = None, portable: bool = False
    ) -> None:
        self._library = found = needed_library()
        self._columns = sorted(columns, key=lambda column: column.place)
        blob = _blob(width, self._columns, dicts)
        self._sheet = found.rd_sheet_new(blob, len(blob))
        if not self._sheet:
            raise ScannerError("the scanner cannot read this table")
        weakref.finalize(self, found.rd_sheet_free, self._sheet).atexit = False
        self._portable = int(portable)
        views = _BEFORE + _OF_COLUMN * len(self._columns)
        self._results = PerThread(found.rd_rows_new, found.rd_rows_free, views)

    def scan(self, data: bytes) -> ScannedRows:
        """What is in these whole records, as `cut_records` cuts them."""
        mine = self._results.mine()
        views = mine.views
        status = self._library.rd_rows_scan(
            self._sheet, mine.address, data, len(data), self._portable, views, len(views)
        )
        called(status)
        rows, lines, python_only, filled = numbers(views[0]).tolist()
        notes = numbers(views[1]).reshape(-1, _NOTE_WIDTH).tolist()
        cells = {c.name: _cells(views, _BEFORE + _OF_COLUMN * n) for n, c in enumerate(self._columns)}
        return ScannedRows(rows, lines, python_only, filled, notes, cells)


def cut_records(
    data: bytes, most: int, ended: bool, widths: tuple[int, ...] = (), portable: bool = False
) -> tuple[int, int, int]:
    """(rows, bytes, lines) of up to ``most`` whole records at the beginning of ``data``, as pandas' reader cuts them.

    It stops at a quote that may not be closed. A record over several lines must have one of the ``widths``.
    ``ended``: nothing follows the data. Raises `ScannerError`.
    """
    found = needed_library()
    cut = (ctypes.c_uint64 * 3)()
    width, other = (widths or (0,))[0], (widths or (0,))[-1]
    called(found.rd_rows_cut(data, len(data), most, int(ended), width, other, int(portable), cut))
    return cut[0], cut[1], cut[2]


def _blob(width: int, columns: list[SheetColumn], dicts: PythonDict | None) -> bytes:
    places = {column.name: number for number, column in enumerate(columns)}
    parts = [
        struct.pack("<IQQH", ABI, *code_seeds(), width),
        _text(WHITE_SPACE),
        _text(plain_ranges()),
        struct.pack("<H", len(columns)),
    ]
    for c in columns:
        flags = (c.key, c.non_empty, c.inferred, c.spelled, c.distinct, c.edged, c.kept, c.json)
        parts.append(struct.pack("<HH", c.place, sum(flag << bit for bit, flag in enumerate(flags))))
    known = dicts is not None and dicts.field in places
    column = places[dicts.field] if dicts is not None and known else _NOTHING
    of_document = (
        places.get(dicts.content_where[0], _NOTHING) if dicts is not None and dicts.content_where else _NOTHING
    )
    word = dicts.content_where[1] if dicts is not None and dicts.content_where else ""
    parts.append(struct.pack("<HBH", column, bool(dicts is not None and dicts.filled), of_document) + _text(word))
    return b"".join(parts)


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<H", len(data)) + data


def _cells(views: Any, at: int) -> ScannedCells:
    counts = numbers(views[at + 8]).tolist()
    return ScannedCells(
        wide_codes(views[at]),
        wide_codes(views[at + 1]),
        numbers(views[at + 2]).view(np.int64),
        _texts(views[at + 3], views[at + 4]),
        _texts(views[at + 5], views[at + 6]),
        numbers(views[at + 7]),
        _kinds(counts[:11]),
        _kinds(counts[11:22]),
        counts[22],
        counts[23],
        KeptCells(
            _bytes(views[at + 9]),
            np.frombuffer(_bytes(views[at + 10]), np.int32),
            np.frombuffer(_bytes(views[at + 11]), np.uint8),
            numbers(views[at + 12]).view(np.int64),
        ),
    )


def _kinds(counts: list[int]) -> ScannedKinds:
    cells, texts, first, numbers, huge, first_huge, integers, beyond, negative, decimals, booleans = counts
    at = [-1 if place == _NOWHERE else place for place in (first, first_huge)]
    flags = [bool(flag) for flag in (numbers, integers, negative, decimals, booleans)]
    return ScannedKinds(
        cells, texts, at[0], flags[0], huge, at[1], flags[1], _BEYOND[beyond], flags[2], flags[3], flags[4]
    )


def _bytes(view: Any) -> bytes:
    return ctypes.string_at(view.start, view.length) if view.length else b""


def _texts(data: Any, ends: Any) -> list[str]:
    if not ends.length:
        return []
    held = _bytes(data)
    places = numbers(ends).tolist()
    return [held[start:end].decode() for start, end in zip([0, *places[:-1]], places, strict=True)]
