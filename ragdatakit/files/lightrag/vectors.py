"""A store of vectors (nano-vectordb) read as a stream: its rows with their places, then its matrix, row by row.

The store is one JSON object with ``embedding_dim``, ``data`` (the rows) and ``matrix``, the vectors of all rows in
base64. Neither is held whole.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import orjson

from ragdatakit.files.containers.arrays import ArraySource, Buffer, Part
from ragdatakit.files.containers.element_scans import MemberScan
from ragdatakit.files.containers.indents import NO_INDENT
from ragdatakit.files.containers.sources import Source

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Rows = npt.NDArray[np.float32]

_BASE64 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
_NAME = re.compile(rb'[ \t\r\n]*("(?:[^"\\]|\\.)*")[ \t\r\n]*:[ \t\r\n]*', re.S)
_NUMBER = re.compile(rb"-?\d+(?![\d.eE])")
_ESCAPES = ((b"\\/", b"/"), (b"\\n", b""), (b"\\r", b""), (b"\\t", b""))
_LONGEST_VALUE = 1 << 20
_LARGEST = 1 << 20
"""Dimensions beyond which no rows of vectors are made."""


class VectorRows(ArraySource):
    """The rows of one store as `parts`; afterwards what the store says of itself.

    ``dimension`` is None where there is none; ``found`` are the names of the members that were there and of the right
    kind; ``error`` is why the file is not JSON, with ``error_line``. ``matrix_bytes`` is how many the matrix has, None
    where there is none; ``broken_base64`` that it is not what it should be. ``on_vectors`` gets rows of the matrix:
    the number of the first, and the array.
    """

    BORDER: ClassVar = re.compile(rb"\}[ \t\r\n]*(,)[ \t\r\n]*(?=\{)")

    def __init__(self, source: Source, on_vectors: Callable[[int, Rows], None] | None = None) -> None:
        super().__init__(source)
        self.on_vectors = on_vectors
        self.dimension: int | None = None
        self.found: set[str] = set()
        self.error = ""
        self.error_line = 1
        self.error_offset = 0
        self.matrix_bytes: int | None = None
        self.broken_base64 = False
        self._rest: Buffer | None = None
        self._reader: Buffer | None = None

    def parts(self) -> Iterator[Part]:
        """The rows; what follows them is read when all are taken."""
        yield from super().parts()
        if self._rest is not None and self._members(self._rest):
            self._fail(self._rest, "data appears twice")
        while self._reader is not None and self._reader.fill():  # what is behind a fault is counted, not read
            self._reader.take(len(self._reader.data))

    def _open(self, reader: Buffer) -> bool:
        """Go to the first row: whatever comes before it is read on the way."""
        self._reader = reader
        reader.skip_space()
        if reader.data[:1] != b"{":
            whole = bool(reader.data) and reader.data[:1] in b'["-0123456789tfn'
            self._fail(reader, "" if whole else "it is empty" if not reader.data else "no JSON value begins here")
            self.top = "other" if reader.data else "nothing"
            return False
        reader.take(1)
        self.top = "object"
        return self._members(reader)

    def scanned_part(self, reader: Buffer, record: int, few: int = 0) -> Part:
        """Row by row; what is behind the last one may be other members."""
        part = super().scanned_part(reader, record, few)
        if reader.closed and part.found and part.found[-1].error.startswith("data after the end"):
            part.found.pop()
            self.whole = True
            self._rest = reader
        elif reader.closed and not self.error:
            self._fail(reader, "the object is not closed")
        return part

    def _members(self, reader: Buffer) -> bool:
        """Read members up to the rows (True) or the end of the object."""
        comma = False
        while True:
            reader.skip_space()
            first = reader.data[:1]
            if first == b"," and not comma:
                reader.take(1)
                comma = True
                continue
            if first == b"}" and not comma:
                reader.take(1)
                reader.skip_space()
                if reader.data:
                    self._fail(reader, "data after the end of the object")
                return False
            reader.fill_to(4096)
            name = _NAME.match(reader.data)
            if name is None:
                self._fail(reader, "the object is not closed" if not reader.data else "there is no name here")
                return False
            reader.take(name.end())
            comma = False
            if self._take(reader, name[1][1:-1].decode("utf-8", "replace")):
                return True
            if self.error:
                return False

    def _take(self, reader: Buffer, name: str) -> bool:
        reader.fill_to(64)
        first = reader.data[:1]
        if name == "data" and first == b"[":
            self.found.add(name)
            reader.take(1)
            return True
        if name == "matrix" and first == b'"':
            self.found.add(name)
            reader.take(1)
            self._matrix(reader)
            return False
        value = self._value(reader)
        if name == "embedding_dim" and type(value) is int:
            self.found.add(name)
            self.dimension = value
        return False

    def _value(self, reader: Buffer) -> Any:
        """A value that is not looked into, small as it should be."""
        for length in (1 << 12, _LONGEST_VALUE, self.source.max_line_bytes):
            reader.fill_to(length)
            data = b'"x":' + reader.data
            scan = MemberScan(data, 0, 1, 0, NO_INDENT, at_end=reader.ended)
            element = next(scan.run(), None)
            if element is not None and not element.error:
                reader.take(min(len(element.raw) - 4, len(reader.data)))
                text = element.raw[4:].strip()
                return int(text) if _NUMBER.fullmatch(text) and len(text) < 20 else text
            if reader.ended:
                break
        self._fail(reader, "a value does not end")
        return None

    def _matrix(self, reader: Buffer) -> None:
        """The vectors, decoded as they come."""
        width = 4 * self.dimension if self.dimension and 0 < self.dimension <= _LARGEST else 0
        held, rest, first, total = b"", b"", 0, 0
        while True:
            end = reader.data.find(b'"')
            text = held + (reader.data if end < 0 else reader.data[:end])
            if b"\\" in text:
                for escaped, meant in _ESCAPES:
                    text = text.replace(escaped, meant)
            usable = text if end >= 0 else text[: len(text) & ~3]
            held = text[len(usable) :]
            decoded = self._decoded(usable)
            total += len(decoded)
            if width and not self.broken_base64:
                rest = self._rows(rest + decoded, width, first)
                first = (total - len(rest)) // width
            reader.take(len(reader.data) if end < 0 else end + 1)
            if end >= 0:
                break
            if not reader.fill():
                self._fail(reader, "the matrix is not closed")
                break
        self.matrix_bytes = total

    def _decoded(self, text: bytes) -> bytes:
        """As Python's b64decode does it, which drops what is no base64."""
        if (found := sound_base64(text.decode("ascii", "replace"))) is not None:
            return found
        if text.translate(None, _BASE64):
            self.broken_base64 = True
        try:
            return a2b_base64(text)
        except Error:
            self.broken_base64 = True
            return b""

    def _rows(self, data: bytes, width: int, first: int) -> bytes:
        import numpy as np

        whole = len(data) // width * width
        if whole and self.on_vectors is not None:
            self.on_vectors(first, np.frombuffer(data[:whole], dtype="<f4").reshape(-1, width // 4))
        return data[whole:]

    def _fail(self, reader: Buffer, error: str) -> None:
        self.error, self.error_line, self.error_offset = error, reader.line, reader.offset
        self.whole = False


def sound_base64(text: str) -> bytes | None:
    """What a text of base64 stands for, three times as fast as by Python; None where it is not written as it should
    be, though Python may read it."""
    try:
        return msgspec.convert(text, bytes)
    except msgspec.ValidationError:
        return None


def row_values(part: Part) -> Iterator[dict[str, Any]]:
    """The rows of a part that are objects, decoded."""
    for value in part.values if part.proved else [orjson.loads(e.raw) for e in part.elements() if not e.error]:
        if isinstance(value, dict):
            yield value
