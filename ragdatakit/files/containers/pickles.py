"""The values of a pickle as a table that `pickle_opcodes` fills: nothing of it is imported, called or made an object.

Values are numbers of 64 bits (a tag, and an integer, an object's number or a place in the file), so that a pickle costs
some bytes a value however long its texts and vectors are: those stay in the file and are read when somebody asks.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import IO, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from ragdatakit.late_dataclasses import dataclass

NONE, INT, TEXT, FLOAT, BYTES, OBJECT, NAME, LONG = range(8)
"""Tags, the low four bits of a value. ``NONE`` also has the truth values."""
NULL, FALSE, TRUE = NONE, NONE | 2 << 4, NONE | 1 << 4
LIST, DICT, SET, TUPLE, RUN = range(5)
"""Kinds of objects; a format's own have higher numbers, up to 15. A ``RUN`` is consecutive floats in the file."""

MARK = -1
WINDOW = 1 << 20
FLOAT_BYTES = 9
"""Of one float, with its opcode."""
_NOT_FINITE, _NOT_ZERO = 16, 32
_LONGEST_TEXT_KEPT = 256
_LONGEST_NUMBER = 4096
_MANY_ITEMS = 64
CHANGED = "it changed while it was read"
CUT_OFF = "the file ends in the middle of a value"

N = TypeVar("N", int, float)
Fault = Literal["code", "foreign", "broken", "limit"]
Made = tuple[int, int, int]
"""What a call stands for: the kind of an object, and two values or numbers that belong to it."""


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a pickle may name. None of it is ever looked up: each is recognised by name, as ``module attribute``.

    ``noun`` is what such a pickle is, ``oldest`` its first protocol. ``classes`` are those of objects that are made
    without arguments, with their kinds. ``calls`` give what a call of these arguments stands for, None where they are
    not those that an honest pickle has. ``names`` may only be arguments. ``states`` says of which kind the state of an
    object must be, and whether it becomes its `state` (0) or its `second` (1).
    """

    noun: str
    oldest: int = 0
    classes: Mapping[str, int] = field(default_factory=dict)
    calls: Mapping[str, Callable[[PickledValues, list[int]], Made | None]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    states: Mapping[int, tuple[int, int]] = field(default_factory=dict)


class PickleError(Exception):
    """Why a pickle is not read on, and the byte at which that is.

    It asks for ``code``, has something else that is ``foreign``, is ``broken``, or goes beyond a ``limit``.
    """

    def __init__(self, fault: Fault, position: int, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault
        self.position = position
        self.reason = reason


class Window:
    """The bytes of a file at any place, read some at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._data = b""
        self._start = 0

    def at(self, position: int, length: int) -> bytes:
        """So many bytes; raises `PickleError` where the file ends before."""
        first = position - self._start
        if first < 0 or first + length > len(self._data):
            if position + length > self.size:
                raise PickleError("broken", position, CUT_OFF)
            self._file.seek(position)
            self._data = self._file.read(max(length, WINDOW >> 2))
            self._start, first = position, 0
            if length > len(self._data):
                raise PickleError("broken", position, CUT_OFF)
        return self._data[first : first + length]

    def line(self, position: int) -> tuple[int, int]:
        """Where the line that begins there is, and how long it is without its end."""
        here = position
        while here < self.size:
            found = self.at(here, min(WINDOW >> 2, self.size - here)).find(b"\n")
            if found >= 0:
                return position, here + found - position
            here += WINDOW >> 2
        raise PickleError("broken", position, CUT_OFF)


class PickledValues:
    """All values of one pickle; ``root`` is the one that it is of."""

    def __init__(self, file: IO[bytes]) -> None:
        self.window = Window(file)
        self.root = NULL
        self.memo = array("q")
        self.names: list[str] = []
        self._kinds = bytearray()
        self._starts = array("q")
        self._counts = array("q")
        self._pool = array("q")
        self._grown: dict[int, array[int]] = {}
        self._grown_entries = 0
        self._short: dict[int, str] = {}
        self._measured: dict[int, tuple[int, bool, bool] | None] = {}

    @property
    def entries(self) -> int:
        """How many numbers of 8 bytes are held."""
        return len(self._pool) + len(self.memo) + 3 * len(self._kinds) + self._grown_entries

    @staticmethod
    def tag(value: int) -> int:
        """One of ``NONE`` … ``LONG``."""
        return value & 15

    def kind(self, value: int) -> int:
        """The kind of an object; -1 for any other value."""
        return self._kinds[value >> 4] & 15 if value & 15 == OBJECT else -1

    def items(self, value: int) -> array[int]:
        """The members of a list, set or tuple; of a dict its keys and values by turns."""
        number = value >> 4
        if number in self._grown:
            return self._grown[number]
        start = self._starts[number]
        return self._pool[start : start + self._counts[number]]

    def pairs(self, value: int) -> Iterator[tuple[int, int]]:
        """The members of a dict."""
        members = iter(self.items(value))
        return zip(members, members, strict=True)

    def count(self, value: int) -> int:
        """How many members a list has."""
        return sum(self._counts[item >> 4] if self.kind(item) == RUN else 1 for item in self.items(value))

    def state(self, value: int) -> int:
        """What an object was made of, or given as its state; ``NULL`` where nothing."""
        return self._starts[value >> 4]

    def second(self, value: int) -> int:
        """The other value that belongs to an object."""
        return self._counts[value >> 4]

    def integer(self, value: int) -> int | None:
        """An integer that is no truth value; None for anything else."""
        if value & 15 == INT:
            return value >> 4
        if value & 15 != LONG:
            return None
        start, length = self.extent(value >> 4)
        if length > _LONGEST_NUMBER:
            raise PickleError("limit", start, f"a number of {length:,} bytes")
        raw = self.window.at(start, length)
        if self.window.at(value >> 4, 1) not in b"IL":
            return int.from_bytes(raw, "little", signed=True)
        return self._of_line(int, raw.rstrip(b"L"), start)

    def number(self, value: int) -> float | None:
        """A float or integer; None for anything else."""
        if value & 15 == FLOAT:
            if self.window.at(value >> 4, 1) == b"F":
                return self._of_line(float, self.window.at(*self.extent(value >> 4)), value >> 4)
            found: float = struct.unpack(">d", self.window.at((value >> 4) + 1, 8))[0]
            return found
        whole = self.integer(value)
        return float(whole) if whole is not None and abs(whole) < 1 << 1000 else None

    @staticmethod
    def _of_line(kind: Callable[[bytes], N], line: bytes, place: int) -> N:
        """A number in a line, which was one when the opcodes were read."""
        try:
            return kind(line)
        except ValueError:
            raise PickleError("broken", place, CHANGED) from None

    def text(self, value: int) -> str | None:
        """A text; None for anything else. Raises `PickleError` where it is no UTF-8, as unpickling would."""
        if value & 15 != TEXT:
            return None
        place = value >> 4
        if place in self._short:
            return self._short[place]
        start, length = self.extent(place)
        raw = self.window.at(start, length)
        try:
            is_line = self.window.at(place, 1) == b"V"
            found = raw.decode("raw-unicode-escape") if is_line else raw.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise PickleError("broken", place, f"a text that is not UTF-8 ({error.reason})") from None
        if length <= _LONGEST_TEXT_KEPT and len(self._short) < 4096:
            self._short[place] = found
        return found

    def plain(self, value: int, other: Any = None) -> Any:
        """A truth value, number or text, or the None that is stored; ``other`` for anything else."""
        if value in (NULL, TRUE, FALSE):
            return {NULL: None, TRUE: True, FALSE: False}[value]
        for read in (self.text, self.integer, self.number):
            found: Any = read(value)
            if found is not None:
                return found
        return other

    def length(self, value: int) -> int:
        """The bytes of a text or of bytes."""
        return self.extent(value >> 4)[1]

    def data(self, value: int) -> bytes | None:
        """Bytes; None for anything else."""
        return self.window.at(*self.extent(value >> 4)) if value & 15 == BYTES else None

    def measure(self, value: int) -> tuple[int, bool, bool] | None:
        """Of a list or tuple of numbers: how many, whether all are finite, and whether any is not zero; else None."""
        if self.kind(value) not in (LIST, TUPLE):
            return None
        if value in self._measured:
            return self._measured[value]
        items = self.items(value)
        length, finite, nonzero = 0, True, False
        for item in items:
            part = self.measure_one(item)
            if part is None:
                break
            length, finite, nonzero = length + part[0], finite and part[1], nonzero or part[2]
        else:
            part = length, finite, nonzero
        if len(items) > _MANY_ITEMS:  # it may be in many places
            self._measured[value] = part
        return part

    def measure_one(self, value: int) -> tuple[int, bool, bool] | None:
        """The same of one number or run of them."""
        if self.kind(value) == RUN:
            flags = self._kinds[value >> 4]
            return self._counts[value >> 4], not flags & _NOT_FINITE, bool(flags & _NOT_ZERO)
        number = self._as_float(value)
        return None if number is None else (1, number - number == 0, number != 0)

    def numbers(self, value: int) -> npt.NDArray[np.float64]:
        """The numbers of a list or tuple that has nothing else, as `measure` shows."""
        found: list[npt.NDArray[np.float64]] = []
        for item in self.items(value):
            if self.kind(item) == RUN:
                raw = self.window.at(self._starts[item >> 4], self._counts[item >> 4] * FLOAT_BYTES)
                rows = np.frombuffer(raw, np.uint8).reshape(-1, FLOAT_BYTES)[:, 1:]
                found.append(np.ascontiguousarray(rows).view(">f8").reshape(-1).astype(np.float64))
            else:
                found.append(np.array([self._as_float(item)], np.float64))
        return np.concatenate(found) if found else np.zeros(0)

    def _as_float(self, value: int) -> float | None:
        return float(value == TRUE) if value in (TRUE, FALSE) else self.number(value)

    def singles(self, items: list[int]) -> list[int]:
        """Values with each float of a run by itself."""
        found: list[int] = []
        for item in items:
            if item != MARK and self.kind(item) == RUN:
                start, count = self._starts[item >> 4], self._counts[item >> 4]
                found += [(start + i * FLOAT_BYTES) << 4 | FLOAT for i in range(count)]
            else:
                found.append(item)
        return found

    def place(self, value: int) -> int | None:
        """Where in the file a value is, as far as that is known."""
        if value & 15 in (TEXT, FLOAT, BYTES, LONG):
            return value >> 4
        return self._starts[value >> 4] if self.kind(value) == RUN else None

    def name(self, value: int) -> str:
        """What a name refers to, as ``module attribute``; empty for anything else."""
        return self.names[value >> 4] if value & 15 == NAME else ""

    @staticmethod
    def of_name(number: int) -> int:
        """The value that refers to a name."""
        return number << 4 | NAME

    def extent(self, place: int) -> tuple[int, int]:
        """Where the content of a text, of bytes or of a number is, and how long it is."""
        opcode = self.window.at(place, 1)[0]
        if opcode not in _WIDTHS:
            return self.window.line(place + 1)
        width = _WIDTHS[opcode]
        return place + 1 + width, int.from_bytes(self.window.at(place + 1, width), "little")

    # What the opcodes make. `ValueError`: a mark, or a value of another kind, is where it cannot be.

    def new(self, kind: int, start: int = 0, count: int = 0) -> int:
        """An object."""
        self._kinds.append(kind)
        self._starts.append(start)
        self._counts.append(count)
        return (len(self._kinds) - 1) << 4 | OBJECT

    def of_floats(self, data: bytes, position: int, base: int, count: int) -> int:
        """The value for so many float opcodes in a row: one, or a run, whose numbers are looked at."""
        if count == 1:
            return (base + position) << 4 | FLOAT
        rows = np.frombuffer(data, np.uint8, count * FLOAT_BYTES, position).reshape(-1, FLOAT_BYTES)
        first, second = rows[:, 1] & 0x7F, rows[:, 2]
        flags = _NOT_FINITE if ((first == 0x7F) & (second >= 0xF0)).any() else 0
        return self.new(RUN | flags | (_NOT_ZERO if first.any() or rows[:, 2:].any() else 0), base + position, count)

    def of_items(self, kind: int, items: list[int]) -> int:
        """A collection."""
        if kind == DICT and len(items) % 2:
            raise ValueError
        self._refuse_marks(items)
        start = len(self._pool)
        self._pool.extend(items)
        return self.new(kind, start, len(items))

    def extend(self, value: int, kind: int, items: list[int]) -> None:
        """Put more members into a collection."""
        if value == MARK or self.kind(value) != kind or (kind == DICT and len(items) % 2):
            raise ValueError
        self._refuse_marks(items)
        number = value >> 4
        start, count = self._starts[number], self._counts[number]
        if number in self._grown:
            self._grown[number].extend(items)
            self._grown_entries += len(items)
        elif not count or start + count == len(self._pool):
            self._starts[number] = start if count else len(self._pool)
            self._pool.extend(items)
        else:
            self._grown[number] = self._pool[start : start + count]
            self._grown[number].extend(items)
            self._grown_entries += count + len(items)
        self._counts[number] = count + len(items)

    @staticmethod
    def _refuse_marks(items: list[int]) -> None:
        if MARK in items:
            raise ValueError

    def remember(self, place: int, value: int) -> None:
        """Put a value into the memo."""
        if value == MARK or not 0 <= place <= len(self.memo):
            raise ValueError
        if place == len(self.memo):
            self.memo.append(value)
        else:
            self.memo[place] = value

    def copied(self, kind: int, value: int) -> Made:
        """A collection with the members of another, such as a set that is made of a list."""
        number = value >> 4
        if number in self._grown:
            start = len(self._pool)
            self._pool.extend(self._grown[number])
            return kind, start, len(self._grown[number])
        return kind, self._starts[number], self._counts[number]

    def build(self, value: int, slot: int, state: int) -> None:
        """Note what an object was given as its `state` (``slot`` 0) or its `second` (1)."""
        (self._counts if slot else self._starts)[value >> 4] = state


_WIDTHS = {0x58: 4, 0x8C: 1, 0x8D: 8, 0x42: 4, 0x43: 1, 0x8E: 8, 0x96: 8, 0x8A: 1, 0x8B: 4}
"""By opcode of a text, of bytes or of a long integer: how many bytes show its length. Others end with their line."""
