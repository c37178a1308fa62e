"""Rows that a writer goes through several times: they come from their source once, then from a file of our own."""

from __future__ import annotations

import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import msgspec

_LIST = b"\xdd"
"""What a list in MessagePack begins with, before the number of its items in four bytes."""
_BEGINNING = len(_LIST) + 4
_TOGETHER = 1 << 20
"""Bytes of rows that are written, and read again, at once."""
_LONGEST = 1 << 24
"""A table that has a row of more bytes is not kept: it would be in memory more than once."""
_ENCODER = msgspec.msgpack.Encoder()
_ROWS = msgspec.msgpack.Decoder(list[list[Any]])


class KeptRows:
    """The rows of ``source``, which are of type ``row`` and have texts and numbers only.

    Who first reads all of them reads the source, row by row, and has them written to a temporary file; from then on
    they are read from there. What cannot be kept (a full disk, half a character) is read from the source again.
    """

    def __init__(self, source: Callable[[], Iterator[Any]], row: Any) -> None:
        self._source, self._row = source, row
        self._aside: _Aside | None = None
        self._is_kept = True

    def __call__(self) -> Iterator[Any]:
        """The rows, from the beginning."""
        if self._aside is not None:
            return map(self._row._make, self._aside.rows())
        return self._first() if self._is_kept else self._source()

    def _first(self) -> Iterator[Any]:
        aside = _Aside()
        for row in self._source():
            yield row
            self._is_kept = self._is_kept and aside.add(row)
        if self._is_kept:
            self._aside = aside


class _Aside:
    """Rows in a file, the last of them in memory."""

    def __init__(self) -> None:
        self._file: Any = None
        self._places, self._count = [0], 0
        self._held = bytearray(_BEGINNING)

    def add(self, row: Any) -> bool:
        """Put a row aside; whether that was possible."""
        try:
            _ENCODER.encode_into(row, self._held, -1)
            self._count += 1
            if len(self._held) > _TOGETHER:
                return len(self._held) < _LONGEST and self._write()
        except (ValueError, OverflowError, OSError):
            return False
        return True

    def _write(self) -> bool:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="ragdata-", buffering=0)  # noqa: SIM115  # closed with its owner
            weakref.finalize(self, self._file.close)
        data = self._as_list()
        self._places.append(self._places[-1] + len(data))
        self._held, self._count = bytearray(_BEGINNING), 0
        return bool(self._file.write(data) == len(data))

    def _as_list(self) -> bytes:
        self._held[:_BEGINNING] = _LIST + self._count.to_bytes(4, "big")
        return bytes(self._held)

    def rows(self) -> Iterator[list[Any]]:
        """The values of each row."""
        for start, end in pairwise(self._places):
            yield from _ROWS.decode(os.pread(self._file.fileno(), end - start, start))
        yield from _ROWS.decode(self._as_list())
