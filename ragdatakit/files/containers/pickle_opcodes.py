"""A pickle read as data: a machine over its opcodes that fills a table of values and never imports or calls anything.

Plain values of all protocols are known, and the names that a format allows; the first other name or opcode ends the
reading. Memory holds a window of the file, the table, and what waits on the stack, each with a limit.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from ragdatakit.files.containers.pickles import (
    BYTES,
    CHANGED,
    CUT_OFF,
    DICT,
    FALSE,
    FLOAT,
    FLOAT_BYTES,
    INT,
    LIST,
    LONG,
    MARK,
    NULL,
    RUN,
    SET,
    TEXT,
    TRUE,
    TUPLE,
    WINDOW,
    Allowed,
    PickledValues,
    PickleError,
)
from ragdatakit.files.paths.boundary import Boundary

DEEPEST = 100_000
"""Values that may wait on the stack: Python pickles a thousand members at a time."""
MOST = 16_000_000
"""Entries of all tables together, of 8 bytes each."""
_LOOK_AHEAD = 1024
_LONGEST_NAME = 256
_LONGEST_LINE = 4096
_STOP = 46
_INTEGERS = 1 << 59
"""Integers below are held in the value, next to four bits that say its type; others by their place in the file."""
_RUNNING = frozenset(b"io\x92\x82\x83\x84PQ\x97")
"""Unknown opcodes that name or call something."""


def read_pickle(file: IO[bytes], allowed: Allowed) -> PickledValues:
    """The values of a pickle. Raises `PickleError`."""
    values = PickledValues(file)
    file.seek(0)
    values.root = _Machine(values, file, allowed).run()
    return values


@contextmanager
def opened_pickle(path: Path, boundary: Boundary, allowed: Allowed) -> Iterator[PickledValues]:
    """The values of a pickle in a file that is open for the block: what is asked for is read then.

    Raises `PickleError`, also behind the block where the file is not as it was, and `OSError`.
    """
    with boundary.open(path) as file:
        before = os.fstat(file.fileno())
        yield read_pickle(file, allowed)
        after = os.fstat(file.fileno())
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise PickleError("broken", 0, CHANGED)


class _Machine:
    """Reads opcodes; ``place`` is where in the file the one at hand is."""

    def __init__(self, values: PickledValues, file: IO[bytes], allowed: Allowed) -> None:
        self.values = values
        self.stack: list[int] = []
        self.place = 0
        self._file = file
        self._data = file.read(WINDOW)
        self._base = 0
        self._position = 0
        self._allowed = allowed
        self._names = allowed.names | allowed.classes.keys() | allowed.calls.keys()

    def run(self) -> int:
        """Read all opcodes; returns the value that the pickle is of."""
        oldest, size = self._allowed.oldest, self.values.window.size
        protocol = self._data[1] if self._data[:1] == b"\x80" and len(self._data) > 1 else 0
        if not oldest <= protocol <= 5:
            raise PickleError("foreign", 0, f"it is not a pickle of protocol {oldest} to 5")
        while True:
            if self._position + 16 > len(self._data) and self._base + len(self._data) < size:
                self._refill()
            self.place = self._base + self._position
            if self._position >= len(self._data):
                raise PickleError("broken", self.place, "the file ends before the pickle does")
            opcode = self._data[self._position]
            if opcode == _STOP:
                return self._finished()
            if opcode not in _STEPS:
                fault = "code" if opcode in _RUNNING else "foreign"
                raise PickleError(fault, self.place, f"the opcode {_opcode_name(opcode)}")  # type: ignore[arg-type]
            width, step = _STEPS[opcode]
            behind = self._position + 1 + width
            if behind > len(self._data):
                raise PickleError("broken", self.place, CUT_OFF)
            operand = int.from_bytes(self._data[self._position + 1 : behind], "little") if width else 0
            try:
                behind += step(self, operand) or 0
            except (IndexError, ValueError):
                raise PickleError("broken", self.place, f"{_opcode_name(opcode)} without what it needs") from None
            if behind > len(self._data):  # a text or bytes that continue after what was read
                self._go_on(self._base + behind)
            else:
                self._position = behind
            if len(self.stack) > DEEPEST:
                raise PickleError("limit", self.place, f"more than {DEEPEST:,} values wait on its stack")

    def _go_on(self, place: int) -> None:
        if place > self.values.window.size:
            raise PickleError("broken", self.place, CUT_OFF)
        self._file.seek(place)
        self._data, self._base, self._position = self._file.read(WINDOW), place, 0

    def _refill(self) -> None:
        """What was read and is left, with what comes next."""
        if self.values.entries > MOST:
            raise PickleError("limit", self.place, f"more than {MOST:,} values")
        self._file.seek(self._base + len(self._data))
        self._data = self._data[self._position :] + self._file.read(WINDOW)
        self._base, self._position = self._base + self._position, 0

    def _finished(self) -> int:
        stack = self.stack
        if len(stack) != 1 or stack[0] == MARK or self.values.kind(stack[0]) == RUN:
            raise PickleError("broken", self.place, f"it ends with {len(stack)} values instead of one")
        return stack[0]

    def push(self, value: int) -> None:
        """A value on the stack."""
        self.stack.append(value)

    def top(self) -> int:
        """The value on top of the stack: of a run of floats the last one, as the opcode takes one value."""
        if self.values.kind(self.stack[-1]) == RUN:
            self.stack += self.values.singles([self.stack.pop()])
        return self.stack[-1]

    def pop(self) -> int:
        """The same, taken off."""
        self.top()
        return self.stack.pop()

    def marked(self, kind: int = LIST) -> list[int]:
        """The values above the last mark, which are taken off; floats of a run singly, except for a list."""
        place = len(self.stack) - 1
        while self.stack[place] != MARK:
            place -= 1
            if place < 0:
                raise ValueError
        items = self.stack[place + 1 :]
        del self.stack[place:]
        return items if kind in (LIST, TUPLE) else self.values.singles(items)

    def line(self) -> tuple[bytes, int]:
        """The line behind the opcode, which is a number, and its length with its end."""
        start, length = self.values.window.line(self.place + 1)
        return self.values.window.at(start, min(length, _LONGEST_LINE)), length + 1

    def floats(self, _: int) -> int:
        """One float, or a run of them: numbers are most of what has vectors."""
        data, start = self._data, self._position
        here = start
        while data[here : here + 1] == b"G" and len(data) - here >= FLOAT_BYTES:
            rows = min((len(data) - here) // FLOAT_BYTES, _LOOK_AHEAD)
            others = np.flatnonzero(np.frombuffer(data, np.uint8, rows * FLOAT_BYTES, here)[::FLOAT_BYTES] != 71)
            here += (int(others[0]) if len(others) else rows) * FLOAT_BYTES
            if len(others):
                break
        if here == start:
            raise IndexError
        self.push(self.values.of_floats(data, start, self._base, (here - start) // FLOAT_BYTES))
        return here - start - 1

    def named(self, name: str) -> None:
        """Push what is called ``module attribute``, if it is allowed."""
        if name not in self._names:
            raise PickleError("code", self.place, f"the name {_dotted(name)[:_LONGEST_NAME]}")
        names = self.values.names
        if name not in names:
            names.append(name)
        self.push(self.values.of_name(names.index(name)))

    def reduce(self, _: int) -> None:
        """What a call stands for, recognised by the name of what would be called and the shape of its arguments."""
        arguments, function = self.pop(), self.pop()
        if MARK in (arguments, function):
            raise ValueError
        name = self.values.name(function)
        if self.values.kind(arguments) != TUPLE:
            raise PickleError("code", self.place, "a call without a tuple of arguments")
        call = self._allowed.calls.get(name)
        made = call(self.values, list(self.values.items(arguments))) if call is not None else None
        if made is None:
            found = _dotted(name) or "a value"
            raise PickleError("code", self.place, f"a call of {found} that no {self._allowed.noun} makes")
        self.push(self.values.new(*made))

    def new_object(self, _: int) -> None:
        """An object of a class that is allowed."""
        arguments, kind = self.pop(), self.pop()
        name = self.values.name(kind) if kind != MARK else ""
        classes = self._allowed.classes
        if name not in classes or self.values.kind(arguments) != TUPLE or len(self.values.items(arguments)):
            raise PickleError("code", self.place, f"an object of {_dotted(name) or 'no class'}")
        self.push(self.values.new(classes[name], NULL, self.place))

    def build(self, _: int) -> None:
        """The state of an object."""
        state, value = self.pop(), self.stack[-1]
        if MARK in (state, value):
            raise ValueError
        wanted, slot = self._allowed.states.get(self.values.kind(value), (-1, 0))
        if wanted < 0 or self.values.kind(state) != wanted:
            raise PickleError("code", self.place, "a state for what has none")
        self.values.build(value, slot, state)


_Step = Callable[[_Machine, int], int | None]
"""What is done for an opcode with its operand; returns how many bytes behind the operand belong to it, too."""


def _nothing(machine: _Machine, operand: int) -> None:
    """An opcode that says nothing of values."""


def _constant(value: int) -> _Step:
    return lambda machine, _: machine.push(value)


def _empty(kind: int) -> _Step:
    return lambda machine, _: machine.push(machine.values.new(kind))


def _integer(machine: _Machine, operand: int) -> None:
    machine.push(operand << 4 | INT)


def _signed(machine: _Machine, operand: int) -> None:
    machine.push((operand - ((operand >> 31) << 32)) << 4 | INT)


def _long(machine: _Machine, length: int) -> int:
    if length <= 7:
        raw = machine.values.window.at(machine.place + 2, length)
        machine.push(int.from_bytes(raw, "little", signed=True) << 4 | INT)
    else:
        machine.push(machine.place << 4 | LONG)
    return length


def _sized(tag: int) -> _Step:
    def step(machine: _Machine, length: int) -> int:
        machine.push(machine.place << 4 | tag)
        return length

    return step


def _text_line(machine: _Machine, _: int) -> int:
    machine.push(machine.place << 4 | TEXT)
    return machine.values.window.line(machine.place + 1)[1] + 1


def _integer_line(machine: _Machine, _: int) -> int:
    line, length = machine.line()
    if line in (b"00", b"01"):
        machine.push(TRUE if line == b"01" else FALSE)
    else:
        number = int(line.removesuffix(b"L"))
        machine.push(number << 4 | INT if -_INTEGERS <= number < _INTEGERS else machine.place << 4 | LONG)
    return length


def _float_line(machine: _Machine, _: int) -> int:
    line, length = machine.line()
    float(line)
    machine.push(machine.place << 4 | FLOAT)
    return length


def _append(machine: _Machine, _: int) -> None:
    item = machine.pop()
    machine.values.extend(machine.stack[-1], LIST, [item])


def _set_item(machine: _Machine, _: int) -> None:
    value, key = machine.pop(), machine.pop()
    machine.values.extend(machine.stack[-1], DICT, [key, value])


def _extended(kind: int) -> _Step:
    def step(machine: _Machine, _: int) -> None:
        items = machine.marked(kind)
        machine.values.extend(machine.stack[-1], kind, items)

    return step


def _collected(kind: int) -> _Step:
    def step(machine: _Machine, _: int) -> None:
        items = machine.marked(kind)
        machine.push(machine.values.of_items(kind, items))

    return step


def _tuple_of(length: int) -> _Step:
    def step(machine: _Machine, _: int) -> None:
        items = [machine.pop() for _ in range(length)]
        machine.push(machine.values.of_items(TUPLE, items[::-1]))

    return step


def _drop(machine: _Machine, _: int) -> None:
    machine.pop()


def _drop_marked(machine: _Machine, _: int) -> None:
    machine.marked()


def _memoize(machine: _Machine, _: int) -> None:
    machine.values.remember(len(machine.values.memo), machine.top())


def _put(machine: _Machine, place: int) -> None:
    machine.values.remember(place, machine.top())


def _get(machine: _Machine, place: int) -> None:
    machine.push(machine.values.memo[place])


def _put_line(machine: _Machine, _: int) -> int:
    line, length = machine.line()
    _put(machine, int(line))
    return length


def _get_line(machine: _Machine, _: int) -> int:
    line, length = machine.line()
    if not line.isdigit():
        raise ValueError
    _get(machine, int(line))
    return length


def _global(machine: _Machine, _: int) -> int:
    """A name in two lines: protocols 0 to 3."""
    window, start = machine.values.window, machine.place + 1
    raw = window.at(start, min(2 * _LONGEST_NAME, window.size - start))
    lines = raw.split(b"\n", 2)
    if len(lines) < 3 and len(raw) < 2 * _LONGEST_NAME:
        raise PickleError("broken", machine.place, CUT_OFF)
    if len(lines) < 3:
        raise PickleError("code", machine.place, "a name that does not end")
    machine.named(b" ".join(lines[:2]).decode("utf-8", "replace"))
    return len(lines[0]) + len(lines[1]) + 2


def _stack_global(machine: _Machine, _: int) -> None:
    values, parts, found = machine.values, (machine.pop(), machine.pop()), []
    for part in reversed(parts):
        if part == MARK or values.tag(part) != TEXT:
            raise ValueError
        start, length = values.extent(part >> 4)
        if length > _LONGEST_NAME:
            raise PickleError("code", part >> 4, f"a name of {length:,} bytes")
        found.append(values.window.at(start, length).decode("utf-8", "replace"))
    machine.named(" ".join(found))


_STEPS: dict[int, tuple[int, _Step]] = {
    0x80: (1, _nothing),  # PROTO
    0x95: (8, _nothing),  # FRAME
    0x28: (0, _constant(MARK)),
    0x30: (0, _drop),
    0x31: (0, _drop_marked),
    **{code: (0, _constant(value)) for code, value in ((0x4E, NULL), (0x88, TRUE), (0x89, FALSE))},
    **{code: (0, _empty(kind)) for code, kind in ((0x7D, DICT), (0x5D, LIST), (0x8F, SET), (0x29, TUPLE))},
    **{code: (width, _sized(TEXT)) for code, width in ((0x58, 4), (0x8C, 1), (0x8D, 8))},
    **{code: (width, _sized(BYTES)) for code, width in ((0x42, 4), (0x43, 1), (0x8E, 8), (0x96, 8))},
    0x56: (0, _text_line),
    0x47: (0, _Machine.floats),
    0x46: (0, _float_line),
    0x4A: (4, _signed),
    0x4B: (1, _integer),
    0x4D: (2, _integer),
    0x8A: (1, _long),
    0x8B: (4, _sized(LONG)),
    **dict.fromkeys((0x49, 0x4C), (0, _integer_line)),
    0x61: (0, _append),
    0x73: (0, _set_item),
    **{code: (0, _extended(kind)) for code, kind in ((0x65, LIST), (0x75, DICT), (0x90, SET))},
    **{code: (0, _collected(kind)) for code, kind in ((0x6C, LIST), (0x64, DICT), (0x74, TUPLE))},
    **{code: (0, _tuple_of(length)) for code, length in ((0x85, 1), (0x86, 2), (0x87, 3))},
    0x94: (0, _memoize),
    **{code: (width, _put) for code, width in ((0x71, 1), (0x72, 4))},
    0x70: (0, _put_line),
    **{code: (width, _get) for code, width in ((0x68, 1), (0x6A, 4))},
    0x67: (0, _get_line),
    0x63: (0, _global),
    0x93: (0, _stack_global),
    0x81: (0, _Machine.new_object),
    0x52: (0, _Machine.reduce),
    0x62: (0, _Machine.build),
}
"""By opcode the bytes of its operand, and what is done; every other one ends the reading."""


def _dotted(name: str) -> str:
    return name.replace(" ", ".")


def _opcode_name(code: int) -> str:
    """What Python calls an opcode."""
    import pickletools

    found = next((op.name for op in pickletools.opcodes if ord(op.code) == code), "")
    return found or f"0x{code:02x}"
