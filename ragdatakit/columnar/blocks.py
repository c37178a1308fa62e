"""Whole blocks of NDJSON decoded at columnar speed, and accepted only with proof that line-by-line reading would agree.

A block is refused (None) when anything is not proved; then the caller looks at smaller parts, and in the end at lines.
What is proved of an accepted block: every line is one JSON object, in UTF-8, with the declared fields in the declared
types, no key twice, no number that is not finite.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from ragdatakit.columnar.text_template import TextTemplate
from ragdatakit.files.containers.arrow_columns import string_array
from ragdatakit.files.containers.distinct_keys import has_many_keys
from ragdatakit.files.containers.nesting import has_deep_line
from ragdatakit.schemas.declarations import Record

pa.set_memory_pool(pa.system_memory_pool())  # gives back more than the default one: a tenth less at the peak

_LF, _CR, _OPEN, _CLOSE = 10, 13, 123, 125
_TYPES = {"integer": pa.int64(), "number": pa.float64(), "string": pa.string(), "boolean": pa.bool_()}
_SAFE = 2**53  # beyond it Arrow's float64 rounds integers that Python keeps, so the two ways would disagree


@dataclass(slots=True)
class ColumnBlock:
    """An accepted block: its rows as an Arrow table or as integer columns, and where its lines end.

    ``ends`` are the offsets of the line feeds; ``crlf`` whether each has a carriage return before it.
    """

    length: int
    ends: npt.NDArray[np.int64]
    crlf: bool
    table: pa.Table | None = None
    integers: dict[str, npt.NDArray[np.int64]] | None = None

    def line(self, data: bytes, row: int) -> bytes:
        """The bytes of one row, without line end."""
        start = int(self.ends[row - 1]) + 1 if row else 0
        return data[start : int(self.ends[row])].rstrip(b"\r")

    def start(self, row: int) -> int:
        """Offset of a row in the block."""
        return int(self.ends[row - 1]) + 1 if row else 0


class ColumnarDecoder:
    """Decodes blocks of one kind of record."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._ints = _IntegerTemplate.of(record)
        self._texts = TextTemplate(record) if not any(f.type == "array" for f in record.fields) else None
        self._schema = pa.schema([pa.field(f.name, t) for f in record.fields if (t := _arrow_type(f)) is not None])
        self._options = pj.ParseOptions(
            explicit_schema=self._schema,
            newlines_in_values=False,
            unexpected_field_behavior="error" if record.extra == "forbid" else "infer",
        )
        self._free = record.extra != "forbid" or any(_arrow_type(f) is None for f in record.fields)

    def decode(self, data: bytes) -> ColumnBlock | None:
        """The block's columns, or None where it is not proved to be clean."""
        if data.endswith(b"\r"):  # ends a line of its own, at the end of a file
            return None
        if self._ints is not None and (block := self._ints.decode(data)) is not None:
            return block
        if not data.isascii() and not _is_utf8(data):
            return None
        if self._texts is not None and (found := self._texts.decode(data)) is not None:
            table, ends = found
            if self._fits(table, data):
                return ColumnBlock(len(ends), ends, data[int(ends[0]) - 1] == _CR, table)
        proof = _lines(data)
        if proof is None:
            return None
        ends, crlf = proof
        if self._record.ordered and not _same_beginnings(data, ends):
            return None
        if has_deep_line(data) or (self._free and has_many_keys(data)):
            return None
        try:
            table = pj.read_json(
                pa.BufferReader(data),
                read_options=pj.ReadOptions(use_threads=False, block_size=len(data) + 64),
                parse_options=self._options,
            )
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return None
        if table.num_rows != len(ends) or not self._fits(table, data):
            return None
        return ColumnBlock(len(ends), ends, crlf, table.combine_chunks())

    def _fits(self, table: pa.Table, data: bytes) -> bool:
        for field in self._record.fields:
            if field.name not in table.column_names:
                if field.required:
                    return False
                continue
            column = table.column(field.name)
            if column.null_count:
                if field.required:
                    return False
                if not field.nullable and data.count(b'"%b"' % field.name.encode()) != len(column) - column.null_count:
                    return False  # an explicit null cannot be distinguished from a missing key
            if not _column_fits(field, column):
                return False
        if self._record.extra == "ignore":
            free = [c for c in table.column_names if c not in self._schema.names]
            return all(_is_plain(table.column(c)) for c in free)
        return True


def _arrow_type(field: Any) -> pa.DataType | None:
    if field.type in _TYPES and not field.lax_number:
        return _TYPES[field.type]
    if field.type == "number":
        return pa.float64()
    if field.type == "array" and field.items in _TYPES:
        return pa.list_(_TYPES[field.items])
    return None


def _column_fits(field: Any, column: pa.ChunkedArray) -> bool:
    kind = column.type
    if field.type == "any":  # a text that Arrow takes for a time would lose its spelling
        return _is_plain(column) and not pa.types.is_timestamp(kind)
    if field.type == "object":
        return bool(pa.types.is_struct(kind) or pa.types.is_null(kind))
    if field.type == "array":
        if not pa.types.is_list(kind):  # of items without a type of their own any kind of value is read
            return bool(pa.types.is_null(kind))
        values = pc.list_flatten(column)
        if values.null_count:
            return False
        if field.non_empty and _least(pc.list_value_length(column)) == 0:
            return False
        return not pa.types.is_integer(values.type) or _is_safe(values)
    if pa.types.is_integer(kind):
        return _is_safe(column) and _in_range(field, column)
    if pa.types.is_floating(kind):
        return _is_finite(column) and _in_range(field, column)
    if pa.types.is_string(kind):
        if field.non_empty and _least(pc.binary_length(column)) == 0:
            return False
        if field.enum:
            return bool(pc.all(pc.is_in(column.drop_null(), string_array(field.enum))).as_py() is not False)
        return bool(field.type == "string")
    return bool(pa.types.is_boolean(kind) or pa.types.is_null(kind))


def _least(values: Any) -> Any:
    return pc.min(values).as_py()


def _in_range(field: Any, column: pa.ChunkedArray) -> bool:
    if field.minimum is None and field.maximum is None:
        return True
    bounds = pc.min_max(column).as_py()
    if bounds["min"] is None:
        return True
    low = field.minimum is None or bounds["min"] >= field.minimum
    return bool(low and (field.maximum is None or bounds["max"] <= field.maximum))


def _is_safe(column: Any) -> bool:
    """No integer beyond 2^53: those want a closer look."""
    bounds = pc.min_max(column).as_py()
    return bool(bounds["min"] is None or (bounds["min"] >= -_SAFE and bounds["max"] <= _SAFE))


def _is_finite(column: Any) -> bool:
    bounds = pc.min_max(pc.abs(column)).as_py()
    if bounds["max"] is None:
        return True
    return bool(bounds["max"] < _SAFE and not pc.any(pc.is_nan(column)).as_py())


def _is_plain(column: Any) -> bool:
    """Whether a column that Arrow inferred means what Python's reader would read: no odd number, no guessed time."""
    kind = column.type
    if pa.types.is_integer(kind):
        return _is_safe(column)
    if pa.types.is_floating(kind):
        return _is_finite(column)
    if pa.types.is_struct(kind):
        arrays = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
        return all(_is_plain(a.field(i)) for a in arrays for i in range(kind.num_fields))
    if pa.types.is_list(kind):
        return _is_plain(pc.list_flatten(column))
    return bool(
        pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind) or pa.types.is_timestamp(kind)
    )


def _lines(data: bytes) -> tuple[npt.NDArray[np.int64], bool] | None:
    """Where the lines end, if every line starts with ``{`` and ends with ``}`` and nothing but LF or CR LF ends one.

    In valid JSON a line feed between ``}`` and ``{`` can only be between objects: within an array a comma is
    needed, and a string holds no raw line feed. So objects are lines.
    """
    if not data.startswith(b"{"):
        return None
    if not data.endswith(b"\n"):
        data += b"\n"
    block = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(block == _LF)
    returns = int(np.count_nonzero(block == _CR)) if b"\r" in data else 0
    if returns and (returns != len(ends) or not (block[ends - 1] == _CR).all()):
        return None
    if not (block[ends - (2 if returns else 1)] == _CLOSE).all() or not (block[ends[:-1] + 1] == _OPEN).all():
        return None
    return ends, bool(returns)


def _same_beginnings(data: bytes, ends: npt.NDArray[np.int64]) -> bool:
    """Whether all lines begin with the same eight bytes, so that one line shows the first field of all."""
    words = np.ndarray((max(len(data) - 7, 0),), "<u8", data, strides=(1,))
    starts = ends[:-1] + 1
    return bool(len(words)) and bool((words[np.minimum(starts, len(words) - 1)] == words[0]).all())


def _is_utf8(data: bytes) -> bool:
    offsets = pa.py_buffer(np.array([0, len(data)], np.int32).tobytes())
    try:
        pa.StringArray.from_buffers(1, offsets, pa.py_buffer(data)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


class _IntegerTemplate:
    """Records of integers only: each line is the same text around other digits.

    The first line gives the pieces of text between the numbers (after a regular expression made from the declaration
    has proved it). The block is clean if between its runs of digits there is nothing but these pieces, in turn: each is
    compared eight bytes at a time. The numbers are then read eight digits at a time.
    """

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        keys = "|".join(re.escape(n) for n in names)
        pair = rf'"({keys})"[ \t]*:[ \t]*(\d+)[ \t]*'
        self._line = re.compile((r"\{[ \t]*" + r",[ \t]*".join([pair] * len(names)) + r"\}").encode())

    @staticmethod
    def of(record: Record) -> _IntegerTemplate | None:
        """A template for records that are nothing but required integers (names without digits)."""
        names = tuple(f.name for f in record.fields)
        plain = all(
            f.type == "integer" and f.required and not f.nullable and not re.search(r"\d", f.name)
            for f in record.fields
        )
        return _IntegerTemplate(names) if plain and record.extra == "forbid" and names else None

    def decode(self, data: bytes) -> ColumnBlock | None:
        """The numbers of a block, or None where it is not proved to be clean."""
        if not data.endswith(b"\n"):
            data += b"\n"
        end = data.index(b"\n")
        first = data[:end].removesuffix(b"\r")
        match = self._line.fullmatch(first)
        if match is None:
            return None
        order = [match.group(i).decode() for i in range(1, 2 * len(self._names), 2)]
        if len(set(order)) != len(order):
            return None
        pieces = re.split(rb"\d+", data[: end + 1])
        if not data.endswith(pieces[-1]):
            return None
        return self._read(data, order, pieces, data[len(first) : end] == b"\r")

    def _read(self, data: bytes, order: list[str], pieces: list[bytes], crlf: bool) -> ColumnBlock | None:
        block = np.frombuffer(data, np.uint8)
        digit = (block - np.uint8(48)) < 10
        borders = np.flatnonzero(digit[1:] != digit[:-1])
        borders += 1
        length, rest = divmod(len(borders), 2 * len(order))
        if rest:
            return None
        table = borders.reshape(length, len(order), 2)
        starts, stops = table[:, :, 0], table[:, :, 1]
        words = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
        for i, piece in enumerate(pieces[1:-1], start=1):
            if not _stands_before(words, piece, starts[:, i], stops[:, i - 1]):
                return None
        if not _stands_before(words, pieces[-1] + pieces[0], starts[1:, 0], stops[:-1, -1]):
            return None
        if int(stops[-1, -1]) != len(data) - len(pieces[-1]):
            return None
        widths = (stops - starts).ravel()
        if int(widths.max()) > 15 or bool(((block[starts.ravel()] == 48) & (widths > 1)).any()):
            return None
        numbers = _numbers(words, stops.ravel(), widths).reshape(length, len(order))
        ends = stops[:, -1] + (len(pieces[-1]) - 1)
        columns = {name: np.ascontiguousarray(numbers[:, i]) for i, name in enumerate(order)}
        return ColumnBlock(length, ends, crlf, integers=columns)


Offsets = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]


def _stands_before(words: Words, piece: bytes, starts: Offsets, stops: Offsets) -> bool:
    """Whether exactly ``piece`` is between each number's end and the next one's start (8 bytes into the data)."""
    size = len(piece)
    if not bool((starts - stops == size).all()):
        return False
    if size < 8:
        blank = np.uint64(8 * (8 - size))
        wanted = np.uint64(int.from_bytes(piece, "little"))
        return bool(((words[starts - 8] >> blank) == wanted).all())
    for begin in (*range(0, size - 7, 8), size - 8):
        wanted = np.uint64(int.from_bytes(piece[begin : begin + 8], "little"))
        if not bool((words[stops + begin] == wanted).all()):
            return False
    return True


def _numbers(words: Words, stops: Offsets, widths: Offsets) -> Offsets:
    """The decimal numbers that end before ``stops`` (8 bytes or more into the data), of up to 16 digits."""
    low = _eight_digits(words[stops - 8], np.minimum(widths, 8))
    long = np.flatnonzero(widths > 8)
    if len(long):
        low[long] += _eight_digits(words[stops[long] - 16], widths[long] - 8) * np.uint64(10**8)
    return low.view(np.int64)


def _eight_digits(words: Words, widths: Offsets) -> Words:
    """Eight ASCII digits in a little-endian word, of which the last ``widths`` count, as a number."""
    blank = ((8 - widths) * 8).astype(np.uint64)
    words = words >> blank
    words <<= blank
    words &= np.uint64(0x0F0F0F0F0F0F0F0F)
    words *= np.uint64(2561)
    words >>= np.uint64(8)
    words &= np.uint64(0x00FF00FF00FF00FF)
    words *= np.uint64(6553601)
    words >>= np.uint64(16)
    words &= np.uint64(0x0000FFFF0000FFFF)
    words *= np.uint64(42949672960001)
    words >>= np.uint64(32)
    return words
