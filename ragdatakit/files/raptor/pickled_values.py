"""A pickle read as data: a machine over its opcodes that builds a table of values and never imports or calls anything.

Only the opcodes and names that an honest tree needs are known; the first other one ends the reading. Values are
numbers of 64 bits (a tag, and an integer, an object's number or a place in the file), so that a pickle costs some
bytes a value however long its texts and vectors are: those stay in the file and are read when somebody asks.
"""

from __future__ import annotations

import pickletools
import struct
from array import array
from collections.abc import Callable, Iterator, Mapping
from typing import BinaryIO, Literal

import numpy as np

NONE, INT, TEXT, FLOAT, BYTES, OBJECT, NAME, LONG = range(8)
"""Tags, the low four bits of a value. ``NONE`` also has the truth values."""
NULL, TRUE, FALSE = NONE, NONE | 1 << 4, NONE | 2 << 4
LIST, DICT, SET, TUPLE, RUN, NODE, TREE, ARRAY, DTYPE, ENCODED, BYTEARRAY = range(11)
"""Kinds of objects. A ``RUN`` is consecutive floats in the file."""

_MARK = -1
_WINDOW = 1 << 20
_LOOK_AHEAD = 1024
_FLOAT_BYTES = 9
DEEPEST = 100_000
"""Values that may wait on the stack: Python pickles a thousand members at a time."""
MOST = 16_000_000
"""Entries of all tables together, of 8 bytes each."""
_LONGEST_NAME = 256

_SET = frozenset({"builtins set", "__builtin__ set"})
_ENCODE = "_codecs encode"
_NO_BYTES = frozenset({"builtins bytes", "__builtin__ bytes"})
_RECONSTRUCT = frozenset({"numpy.core.multiarray _reconstruct", "numpy._core.multiarray _reconstruct"})
_FROM_BUFFER = frozenset({"numpy.core.numeric _frombuffer", "numpy._core.numeric _frombuffer"})
_DTYPE = "numpy dtype"
_CLASSES = {"raptor.tree_structures Tree": TREE, "raptor.tree_structures Node": NODE}
NAMES = frozenset({*_CLASSES, *_SET, *_NO_BYTES, _ENCODE, "numpy ndarray", _DTYPE, *_RECONSTRUCT, *_FROM_BUFFER})
"""The names that pickled trees may refer to; none is ever looked up."""

Fault = Literal["foreign", "broken", "limit"]


class PickleError(Exception):
    """Why a pickle is not read on: something ``foreign`` to a tree, a ``broken`` stream, or a ``limit``."""

    def __init__(self, fault: Fault, position: int, reason: str) -> None:
        super().__init__(reason)
        self.fault = fault
        self.position = position
        self.reason = reason


class Window:
    """The bytes of a file at any place, read some at a time."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        self._data = b""
        self._start = 0

    def at(self, position: int, length: int) -> bytes:
        """So many bytes; raises `PickleError` where the file ends before."""
        first = position - self._start
        if first < 0 or first + length > len(self._data):
            self._file.seek(position)
            self._data = self._file.read(max(length, _WINDOW >> 2))
            self._start, first = position, 0
            if length > len(self._data):
                raise PickleError("broken", position, "the file ends in the middle of a value")
        return self._data[first : first + length]


class PickledValues:
    """All values of one pickle; `read` fills it, the other methods give what a value stands for."""

    def __init__(self, file: BinaryIO, progress: Callable[[int], None] | None = None) -> None:
        self._file = file
        self._window = Window(file)
        self._progress = progress
        self._kinds = bytearray()
        self._starts = array("q")
        self._counts = array("q")
        self._pool = array("q")
        self._grown: dict[int, array[int]] = {}
        self._memo = array("q")
        self._names: list[str] = []
        self._short: dict[int, str] = {}
        self.size = self._window.size
        self.opcodes = 0

    # What values stand for.

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

    def state(self, value: int) -> int:
        """What a node, a tree or an array was given to be; ``NULL`` where nothing."""
        return self._starts[value >> 4]

    def second(self, value: int) -> int:
        """What an array was made of besides its state."""
        return self._counts[value >> 4]

    def run(self, value: int) -> tuple[int, bool, bool]:
        """Of a run: how many floats, whether all are finite, whether any is not zero."""
        flags = self._kinds[value >> 4]
        return self._counts[value >> 4], not flags & 16, bool(flags & 32)

    def integer(self, value: int) -> int | None:
        """An integer that is no truth value; None for anything else."""
        if value & 15 == INT:
            return value >> 4
        if value & 15 == LONG:
            length = self._window.at((value >> 4) + 1, 1)[0]
            return int.from_bytes(self._window.at((value >> 4) + 2, length), "little", signed=True)
        return None

    def number(self, value: int) -> float | None:
        """A float or integer; None for anything else."""
        if value & 15 == FLOAT:
            found: float = struct.unpack(">d", self._window.at((value >> 4) + 1, 8))[0]
            return found
        whole = self.integer(value)
        return float(whole) if whole is not None and abs(whole) < 1 << 1000 else None

    def text(self, value: int) -> str | None:
        """A text; None for anything else. Raises `PickleError` where it is no UTF-8, as unpickling would."""
        if value & 15 != TEXT:
            return None
        place = value >> 4
        if place in self._short:
            return self._short[place]
        start, length = self._extent(place)
        try:
            found = self._window.at(start, length).decode("utf-8", "surrogatepass")
        except UnicodeDecodeError as error:
            raise PickleError("broken", place, f"a text that is not UTF-8 ({error.reason})") from None
        if length <= _LONGEST_NAME and len(self._short) < 4096:
            self._short[place] = found
        return found

    def data(self, value: int) -> bytes | None:
        """The bytes of a value that has some; None for anything else."""
        if value & 15 == BYTES:
            return self._window.at(*self._extent(value >> 4))
        if self.kind(value) == ENCODED:
            text = self.text(self.state(value))
            try:
                return text.encode("latin-1") if text is not None else None
            except UnicodeEncodeError:
                return None
        return None

    def floats(self, value: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The numbers of a run."""
        number = value >> 4
        raw = self._window.at(self._starts[number], self._counts[number] * _FLOAT_BYTES)
        return _strided(np.frombuffer(raw, np.uint8))

    def place(self, value: int) -> int | None:
        """Where in the file a value is, as far as that is known."""
        if value & 15 in (TEXT, FLOAT, BYTES, LONG):
            return value >> 4
        return self._starts[value >> 4] if self.kind(value) == RUN else None

    def name(self, value: int) -> str:
        """What a name refers to, as ``module attribute``; empty for anything else."""
        return self._names[value >> 4] if value & 15 == NAME else ""

    def _extent(self, place: int) -> tuple[int, int]:
        """Where the content of a text or of bytes is, and how long it is."""
        opcode = self._window.at(place, 1)[0]
        width = _WIDTHS[opcode]
        return place + 1 + width, int.from_bytes(self._window.at(place + 1, width), "little")

    # The machine.

    def read(self) -> int:
        """Read all opcodes; returns the value that the pickle is of. Raises `PickleError`."""
        stack: list[int] = []
        do: Mapping[int, Callable[[PickledValues, list[int], bytes, int, int], int]] = _DO
        file = self._file
        file.seek(0)
        data, base, position = file.read(_WINDOW), 0, 0
        if data[:1] != b"\x80" or not 2 <= int.from_bytes(data[1:2], "big") <= 5:
            raise PickleError("foreign", 0, "it is not a pickle of protocol 2 to 5")
        while True:
            if position + 16 > len(data) and base + len(data) < self.size:
                data, base, position = self._more(data, base, position)
            if position >= len(data):
                raise PickleError("broken", base + position, "the file ends before the pickle does")
            opcode = data[position]
            if opcode == 46:  # STOP
                return self._finished(stack, base + position)
            handle = do.get(opcode)
            if handle is None:
                raise PickleError("foreign", base + position, f"the opcode {_opcode_name(opcode)}")
            try:
                after = handle(self, stack, data, position, base)
            except (IndexError, ValueError):
                raise PickleError("broken", base + position, f"{_opcode_name(opcode)} without what it needs") from None
            self.opcodes += 1
            if after > len(data):  # a text or bytes that continue after what was read
                if base + after > self.size:
                    raise PickleError("broken", base + position, "the file ends in the middle of a value")
                base += after
                file.seek(base)
                data, position = file.read(_WINDOW), 0
            else:
                position = after
            if len(stack) > DEEPEST:
                raise PickleError("limit", base + position, f"more than {DEEPEST:,} values wait on its stack")

    def _more(self, data: bytes, base: int, position: int) -> tuple[bytes, int, int]:
        """What was read and is left, with what comes next."""
        if self._progress is not None:
            self._progress(base + position)
        entries = len(self._pool) + len(self._memo) + 3 * len(self._kinds) + sum(map(len, self._grown.values()))
        if entries > MOST:
            raise PickleError("limit", base + position, f"more than {MOST:,} values")
        self._file.seek(base + len(data))
        return data[position:] + self._file.read(_WINDOW), base + position, 0

    def _finished(self, stack: list[int], place: int) -> int:
        if len(stack) != 1 or stack[0] == _MARK or self.kind(stack[0]) == RUN:
            raise PickleError("broken", place, f"it ends with {len(stack)} values instead of one")
        return stack[0]

    def _new(self, kind: int, start: int = 0, count: int = 0) -> int:
        self._kinds.append(kind)
        self._starts.append(start)
        self._counts.append(count)
        return (len(self._kinds) - 1) << 4 | OBJECT

    def _run(self, start: int, count: int) -> int:
        """A run of floats, whose numbers are looked at."""
        numbers = _strided(np.frombuffer(self._window.at(start, count * _FLOAT_BYTES), np.uint8))
        flags = (0 if np.isfinite(numbers).all() else 16) | (32 if numbers.any() else 0)
        return self._new(RUN | flags, start, count)

    def _of_items(self, kind: int, items: list[int]) -> int:
        self._refuse_marks(items)
        start = len(self._pool)
        self._pool.extend(items)
        return self._new(kind, start, len(items))

    def _extend(self, value: int, kind: int, items: list[int]) -> None:
        if value == _MARK or self.kind(value) != kind:
            raise ValueError
        self._refuse_marks(items)
        number = value >> 4
        start, count = self._starts[number], self._counts[number]
        if number in self._grown:
            self._grown[number].extend(items)
        elif not count or start + count == len(self._pool):
            self._starts[number] = start if count else len(self._pool)
            self._pool.extend(items)
        else:
            self._grown[number] = self._pool[start : start + count]
            self._grown[number].extend(items)
        self._counts[number] = count + len(items)

    @staticmethod
    def _refuse_marks(items: list[int]) -> None:
        if _MARK in items:
            raise ValueError

    def _remember(self, place: int, value: int) -> None:
        if value == _MARK or place > len(self._memo):
            raise ValueError
        if place == len(self._memo):
            self._memo.append(value)
        else:
            self._memo[place] = value

    def _named(self, name: str, place: int) -> int:
        if name not in NAMES:
            raise PickleError("foreign", place, f"the name {name.replace(' ', '.')[:_LONGEST_NAME]}")
        if name not in self._names:
            self._names.append(name)
        return self._names.index(name) << 4 | NAME

    def _reduced(self, function: int, arguments: int, place: int) -> int:
        """What a call stands for, recognised by the name of what would be called and the shape of its arguments."""
        name = self.name(function)
        if self.kind(arguments) != TUPLE:
            raise PickleError("foreign", place, "a call without a tuple of arguments")
        given = self.items(arguments)
        if name in _SET and len(given) == 1 and self.kind(given[0]) == LIST:
            number = given[0] >> 4
            if number in self._grown:
                return self._of_items(SET, list(self._grown[number]))
            return self._new(SET, self._starts[number], self._counts[number])
        if name in _NO_BYTES and not given:
            return self._new(ENCODED, NULL)
        if name == _ENCODE and len(given) == 2 and self.text(given[1]) in ("latin1", "latin-1"):
            return self._new(ENCODED, given[0])
        if name in _RECONSTRUCT and len(given) == 3:
            return self._new(ARRAY, NULL, NULL)
        if name in _FROM_BUFFER and len(given) == 4:
            return self._new(ARRAY, arguments, NULL)
        if name == _DTYPE and len(given) == 3:
            return self._new(DTYPE, arguments, NULL)
        raise PickleError("foreign", place, f"a call of {name.replace(' ', '.') or 'a value'} that no tree makes")

    def _built(self, value: int, state: int, place: int) -> None:
        kind = self.kind(value)
        wanted = {NODE: DICT, TREE: DICT, ARRAY: TUPLE, DTYPE: TUPLE}.get(kind)
        if wanted is None or self.kind(state) != wanted:
            raise PickleError("foreign", place, "a state for what has none")
        number = value >> 4
        if kind == DTYPE:
            self._counts[number] = state
        else:
            self._starts[number] = state


def _strided(raw: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The numbers in consecutive float opcodes."""
    rows = raw.reshape(-1, _FLOAT_BYTES)[:, 1:]
    return np.ascontiguousarray(rows).view(">f8").reshape(-1).astype(np.float64)


_WIDTHS = {0x58: 4, 0x8C: 1, 0x8D: 8, 0x42: 4, 0x43: 1, 0x8E: 8, 0x96: 8}
"""Of texts and bytes: how many bytes hold their lengths."""
_Step = Callable[["PickledValues", list[int], bytes, int, int], int]


def _marked(stack: list[int]) -> list[int]:
    """The values above the last mark, which are taken off the stack."""
    place = len(stack) - 1
    while stack[place] != _MARK:
        place -= 1
        if place < 0:
            raise ValueError
    items = stack[place + 1 :]
    del stack[place:]
    return items


def _pop(values: PickledValues, stack: list[int]) -> int:
    """The value on top of the stack, which is taken off: of a run of floats the last one."""
    _split(values, stack)
    return stack.pop()


def _split(values: PickledValues, stack: list[int]) -> None:
    """Where a run of floats is on top, put its last one there by itself: the opcode that follows takes one value."""
    top = stack[-1]
    if top == _MARK or values.kind(top) != RUN:
        return
    stack.pop()
    start, count = values._starts[top >> 4], values._counts[top >> 4] - 1
    if count > 1:
        stack.append(values._run(start, count))
    else:
        stack.append(start << 4 | FLOAT)
    stack.append((start + count * _FLOAT_BYTES) << 4 | FLOAT)


def _singly(values: PickledValues, items: list[int]) -> list[int]:
    """Values with each float of a run by itself."""
    found: list[int] = []
    for item in items:
        if item != _MARK and values.kind(item) == RUN:
            start, count = values._starts[item >> 4], values._counts[item >> 4]
            found += [(start + i * _FLOAT_BYTES) << 4 | FLOAT for i in range(count)]
        else:
            found.append(item)
    return found


def _sized(tag: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        width = _WIDTHS[data[position]]
        end = position + 1 + width
        if end > len(data):
            raise IndexError
        stack.append((base + position) << 4 | tag)
        return end + int.from_bytes(data[position + 1 : end], "little")

    return step


def _constant(value: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        stack.append(value)
        return position + 1

    return step


def _empty(kind: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        stack.append(values._new(kind))
        return position + 1

    return step


def _integer(width: int, signed: bool) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        end = position + 1 + width
        if end > len(data):
            raise IndexError
        stack.append(int.from_bytes(data[position + 1 : end], "little", signed=signed) << 4 | INT)
        return end

    return step


def _long(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    length = data[position + 1]
    raw = data[position + 2 : position + 2 + length]
    if length <= 7 and len(raw) == length:
        stack.append(int.from_bytes(raw, "little", signed=True) << 4 | INT)
    else:
        stack.append((base + position) << 4 | LONG)
    return position + 2 + length


def _float(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    """One float, or a run of them: numbers are most of a tree."""
    here = position
    nonfinite, nonzero = False, False
    while data[here : here + 1] == b"G" and len(data) - here >= _FLOAT_BYTES:
        rows = min((len(data) - here) // _FLOAT_BYTES, _LOOK_AHEAD)
        raw = np.frombuffer(data, np.uint8, rows * _FLOAT_BYTES, here)
        others = np.flatnonzero(raw[::_FLOAT_BYTES] != 71)
        count = int(others[0]) if len(others) else rows
        numbers = _strided(raw[: count * _FLOAT_BYTES])
        nonfinite = nonfinite or not bool(np.isfinite(numbers).all())
        nonzero = nonzero or bool(numbers.any())
        here += count * _FLOAT_BYTES
        if count < rows:
            break
    count = (here - position) // _FLOAT_BYTES
    if not count:
        raise IndexError
    if count == 1:
        stack.append((base + position) << 4 | FLOAT)
    else:
        kind = RUN | (16 if nonfinite else 0) | (32 if nonzero else 0)
        stack.append(values._new(kind, base + position, count))
    return here


def _append(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    item = _pop(values, stack)
    values._extend(stack[-1], LIST, [item])
    return position + 1


def _appends(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    items = _marked(stack)
    values._extend(stack[-1], LIST, items)
    return position + 1


def _set_item(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    value, key = _pop(values, stack), _pop(values, stack)
    values._extend(stack[-1], DICT, [key, value])
    return position + 1


def _set_items(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    items = _singly(values, _marked(stack))
    if len(items) % 2:
        raise ValueError
    values._extend(stack[-1], DICT, items)
    return position + 1


def _add_items(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    items = _marked(stack)
    values._extend(stack[-1], SET, items)
    return position + 1


def _mark(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    stack.append(_MARK)
    return position + 1


def _tuple_of(length: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        items = [_pop(values, stack) for _ in range(length)]
        stack.append(values._of_items(TUPLE, items[::-1]))
        return position + 1

    return step


def _tuple(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    stack.append(values._of_items(TUPLE, _marked(stack)))
    return position + 1


def _memoize(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    _split(values, stack)
    values._remember(len(values._memo), stack[-1])
    return position + 1


def _put(width: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        end = position + 1 + width
        if end > len(data):
            raise IndexError
        _split(values, stack)
        values._remember(int.from_bytes(data[position + 1 : end], "little"), stack[-1])
        return end

    return step


def _get(width: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        end = position + 1 + width
        if end > len(data):
            raise IndexError
        stack.append(values._memo[int.from_bytes(data[position + 1 : end], "little")])
        return end

    return step


def _global(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    """A name in two lines: protocols 2 and 3."""
    raw = values._window.at(base + position + 1, min(2 * _LONGEST_NAME, values.size - base - position - 1))
    lines = raw.split(b"\n", 2)
    if len(lines) < 3:
        raise PickleError("foreign", base + position, "a name that does not end")
    stack.append(values._named(b" ".join(lines[:2]).decode("utf-8", "replace"), base + position))
    return position + 1 + len(lines[0]) + len(lines[1]) + 2


def _stack_global(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    attribute, module = _pop(values, stack), _pop(values, stack)
    found = []
    for part in (module, attribute):
        if part == _MARK or part & 15 != TEXT:
            raise ValueError
        start, length = values._extent(part >> 4)
        if length > _LONGEST_NAME:
            raise PickleError("foreign", part >> 4, f"a name of {length:,} bytes")
        found.append(values._window.at(start, length).decode("utf-8", "replace"))
    stack.append(values._named(" ".join(found), base + position))
    return position + 1


def _new_object(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    arguments, kind = _pop(values, stack), _pop(values, stack)
    name = values.name(kind) if kind != _MARK else ""
    if name not in _CLASSES or values.kind(arguments) != TUPLE or len(values.items(arguments)):
        raise PickleError("foreign", base + position, f"an object of {name.replace(' ', '.') or 'no class'}")
    stack.append(values._new(_CLASSES[name], NULL, base + position))
    return position + 1


def _reduce(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    arguments, function = _pop(values, stack), _pop(values, stack)
    if _MARK in (arguments, function):
        raise ValueError
    stack.append(values._reduced(function, arguments, base + position))
    return position + 1


def _build(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
    state = _pop(values, stack)
    if _MARK in (state, stack[-1]):
        raise ValueError
    values._built(stack[-1], state, base + position)
    return position + 1


def _skip(length: int) -> _Step:
    def step(values: PickledValues, stack: list[int], data: bytes, position: int, base: int) -> int:
        return position + 1 + length

    return step


_DO: dict[int, _Step] = {
    0x80: _skip(1),  # PROTO
    0x95: _skip(8),  # FRAME
    0x28: _mark,
    0x7D: _empty(DICT),
    0x5D: _empty(LIST),
    0x8F: _empty(SET),
    0x29: _empty(TUPLE),
    0x58: _sized(TEXT),
    0x8C: _sized(TEXT),
    0x8D: _sized(TEXT),
    0x42: _sized(BYTES),
    0x43: _sized(BYTES),
    0x8E: _sized(BYTES),
    0x96: _sized(BYTES),
    0x47: _float,
    0x4A: _integer(4, True),
    0x4B: _integer(1, False),
    0x4D: _integer(2, False),
    0x8A: _long,
    0x4E: _constant(NULL),
    0x88: _constant(TRUE),
    0x89: _constant(FALSE),
    0x61: _append,
    0x65: _appends,
    0x73: _set_item,
    0x75: _set_items,
    0x90: _add_items,
    0x85: _tuple_of(1),
    0x86: _tuple_of(2),
    0x87: _tuple_of(3),
    0x74: _tuple,
    0x94: _memoize,
    0x71: _put(1),
    0x72: _put(4),
    0x68: _get(1),
    0x6A: _get(4),
    0x63: _global,
    0x93: _stack_global,
    0x81: _new_object,
    0x52: _reduce,
    0x62: _build,
}
"""What is done for each opcode that is known; every other one ends the reading."""


def _opcode_name(code: int) -> str:
    """What Python calls an opcode."""
    found = next((op.name for op in pickletools.opcodes if ord(op.code) == code), "")
    return found or f"0x{code:02x}"
