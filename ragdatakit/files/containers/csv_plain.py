"""Blocks of a CSV file that are plain: Python's own reader, which is quick, makes of them what pandas makes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ends = npt.NDArray[np.intp]

_NOTHING = (0, 0, 0)
_QUOTE, _COMMA, _LF, _CR = 34, 44, 10, 13
_NO_BEGINNING = np.zeros(256, np.bool_)
_NO_BEGINNING[[9, 10, 13, 32]] = True


def cut_plain(data: bytes, most_rows: int, ended: bool, widths: tuple[int, ...] = ()) -> tuple[int, int, int]:
    """(rows, bytes, lines) of the whole records at the beginning of ``data`` if they are plain; else nothing.

    Plain: no NUL, no blank line, no line that begins with a blank, line ends all LF or all CR LF, and every quote
    either opens a cell, closes one, or is one of a pair inside. A record over several lines has one of the ``widths``
    (else a quote in it may be one that was not closed). At most ``most_rows`` records are taken.
    """
    if data[:1] in b"\n\r \t" or b"\0" in data or (b"\r" in data and not _all_crlf(data)):
        return _NOTHING
    a = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(a == _LF)
    outside = ends
    quotes = np.flatnonzero(a == _QUOTE) if b'"' in data else None
    if quotes is not None:
        if not _properly_quoted(a, quotes):
            return _NOTHING
        outside = ends[(np.searchsorted(quotes, ends) & 1) == 0]
    behind = outside + 1
    if len(behind) and behind[-1] == len(data):
        follow = a[behind[:-1]]
    else:
        follow = a[behind]
        if ended:  # the last record has no line end
            if quotes is not None and len(quotes) & 1:
                return _NOTHING
            behind = np.append(behind, len(data))
    if not len(behind) or bool(_NO_BEGINNING[follow].any()):
        return _NOTHING
    if quotes is not None and len(outside) < len(ends) and not _as_wide(a, ends, quotes, behind, widths):
        return _NOTHING
    if len(behind) > most_rows:
        behind = behind[:most_rows]
    used = int(behind[-1])
    lines = int(np.searchsorted(ends, used)) + (a[used - 1] != _LF)
    return len(behind), used, int(lines)


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
