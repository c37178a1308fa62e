"""Plain CSV blocks as Arrow columns of text: proved record by record to mean what pandas' reader makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv as arrow_csv

from ragdatakit.files.containers.arrow_columns import offsets_of
from ragdatakit.files.containers.sources import BOM

Ends = npt.NDArray[np.intp]

_QUOTE, _COMMA, _LF, _CR = 34, 44, 10, 13
_NO_BEGINNING = np.zeros(256, np.bool_)
_NO_BEGINNING[[9, 10, 13, 32]] = True


def plain_records(data: bytes, most_rows: int, ended: bool, widths: tuple[int, ...] = ()) -> tuple[Ends, int] | None:
    """(behind each whole record at the beginning of ``data``, lines) if they are plain; else None.

    Plain: no NUL, no blank line, no line that begins with a blank, line ends all LF or all CR LF, and every quote
    either opens a cell, closes one, or is one of a pair inside. A record over several lines has one of the ``widths``
    (else a quote in it may be one that was not closed). At most ``most_rows`` records are taken.
    """
    if data[:1] in b"\n\r \t" or b"\0" in data or (b"\r" in data and not _all_crlf(data)):
        return None
    a = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(a == _LF)
    outside = ends
    quotes = np.flatnonzero(a == _QUOTE) if b'"' in data else None
    if quotes is not None:
        if not _properly_quoted(a, quotes):
            return None
        outside = ends[(np.searchsorted(quotes, ends) & 1) == 0]
    behind = outside + 1
    if len(behind) and behind[-1] == len(data):
        follow = a[behind[:-1]]
    else:
        follow = a[behind]
        if ended:  # the last record has no line end
            if quotes is not None and len(quotes) & 1:
                return None
            behind = np.append(behind, len(data))
    if not len(behind) or bool(_NO_BEGINNING[follow].any()):
        return None
    if quotes is not None and len(outside) < len(ends) and not _as_wide(a, ends, quotes, behind, widths):
        return None
    if len(behind) > most_rows:
        behind = behind[:most_rows]
    used = int(behind[-1])
    lines = int(np.searchsorted(ends, used)) + (a[used - 1] != _LF)
    return behind, int(lines)


def _as_wide(a: Any, ends: Any, quotes: Any, behind: Ends, widths: tuple[int, ...]) -> bool:
    """Whether every record with a line end inside has one of these numbers of cells."""
    inside = ends[(np.searchsorted(quotes, ends) & 1) == 1]
    records = np.unique(np.searchsorted(behind, inside, side="right"))
    records = records[records < len(behind)]
    commas = np.flatnonzero(a == _COMMA)
    commas = commas[(np.searchsorted(quotes, commas) & 1) == 0]
    upto = np.searchsorted(commas, behind)
    cells = np.diff(upto, prepend=0) + 1
    return bool(np.isin(cells[records], widths).all())


def _all_crlf(data: bytes) -> bool:
    return data.count(b"\r") == data.count(b"\r\n") == data.count(b"\n") and b"\n\r" not in data


def _properly_quoted(a: npt.NDArray[np.uint8], quotes: npt.NDArray[np.intp]) -> bool:
    """Opening and closing quotes in turn: one behind a comma, a line end or a closing one, the other before such.

    The last quote may be an opening one: the data may end within a cell.
    """
    opening, closing = quotes[::2], quotes[1::2]
    before = a[opening - 1]
    if opening[0] == 0:
        before[0] = _LF
    if not bool(((before == _COMMA) | (before == _LF) | (before == _QUOTE)).all()):
        return False
    # a quote before an opening one must be the closing one of the same cell: a pair inside of it
    last = len(a) - 1
    behind = a[np.minimum(closing + 1, last)]
    if len(closing) and closing[-1] == last:
        behind[-1] = _LF
    return bool(((behind == _COMMA) | (behind == _LF) | (behind == _CR) | (behind == _QUOTE)).all())


def first_and_last_bytes(column: Any) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """The first and the last byte of each text of a string column; 0 where it is empty."""
    offsets = offsets_of(column)
    if column.buffers()[2] is None or offsets[-1] == offsets[0]:
        none = np.zeros(len(column), np.uint8)
        return none, none
    data = np.frombuffer(column.buffers()[2], np.uint8)
    filled = offsets[1:] > offsets[:-1]
    first = np.where(filled, data[np.minimum(offsets[:-1], len(data) - 1)], 0)
    last = np.where(filled, data[np.maximum(offsets[1:] - 1, 0)], 0)
    return first, last


def _is_utf8(data: bytes) -> bool:
    """Whether bytes are UTF-8 (columns that are not kept would not be looked at)."""
    if data.isascii():
        return True
    ends = pa.py_buffer(np.array([0, len(data)], np.int64))
    try:
        pa.LargeStringArray.from_buffers(1, ends, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


class CsvDecoder:
    """Reads plain blocks of one file; `decode` may run in any thread.

    ``header`` are the file's columns, ``width`` is the number of fields of a row; of the columns ``wanted`` are kept.
    """

    def __init__(self, header: list[str], width: int, wanted: tuple[str, ...]) -> None:
        self._names = [f"c{i}" for i in range(width)]
        self._places = {name: header.index(name) for name in wanted}
        self._usable = bool(wanted) and width == len(header)
        self._has_others = len(wanted) < width

    def decode(self, data: bytes, rows: int) -> Any | None:
        """The wanted columns as a table of text, one row a record; None where a record has another width.

        A file whose first row is longer than its header is never read by columns.
        """
        if data.startswith(BOM):  # Arrow would drop it at the beginning of every block
            return None
        if not self._usable or (self._has_others and not _is_utf8(data)):
            return None
        included = [self._names[i] for i in self._places.values()]
        try:
            table = arrow_csv.read_csv(
                pa.BufferReader(data),
                read_options=arrow_csv.ReadOptions(
                    use_threads=False, block_size=max(len(data) + 1, 2), column_names=self._names
                ),
                parse_options=arrow_csv.ParseOptions(newlines_in_values=b'"' in data),
                convert_options=arrow_csv.ConvertOptions(
                    column_types=dict.fromkeys(included, pa.string()),
                    include_columns=included,
                    strings_can_be_null=False,
                    null_values=[],
                ),
            )
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return None
        if table.num_rows != rows:
            return None
        return table.rename_columns(list(self._places))
