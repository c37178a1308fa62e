"""The notebook's stores of vectors: pickles that are read as plain values, so that nothing in them can be run.

The opcodes that make numbers, texts, lists, tuples and dicts are understood; any other is refused, above all those that
name or call something. Numbers of a list are held as an array.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from ragdatakit.files.containers.json_text import loads
from ragdatakit.files.paths.boundary import Boundary

KINDS = ("vectors", "contextual-vectors")
_FIELDS = ("embeddings", "metadata", "query_cache")
_MOST_BYTES = 1 << 26
"""No text or number of a store is longer."""
_MOST_DEEP = 1000
_NAMING = {b"c": "GLOBAL", b"\x93": "STACK_GLOBAL", b"i": "INST", b"o": "OBJ", b"R": "REDUCE", b"b": "BUILD",
           b"\x81": "NEWOBJ", b"\x92": "NEWOBJ_EX", b"\x82": "EXT1", b"\x83": "EXT2", b"\x84": "EXT4",
           b"P": "PERSID", b"Q": "BINPERSID", b"\x97": "NEXT_BUFFER"}  # fmt: skip


class UnsafeStoreError(Exception):
    """The pickle asks for more than plain values."""


class UnusableStoreError(Exception):
    """The pickle is cut off or damaged, or is no store."""


@dataclass(frozen=True, slots=True)
class VectorStore:
    """What a store holds: a sequence of numbers for each vector (other values where it is at fault), and the chunks."""

    vectors: list[Any]
    chunks: list[Any]
    query_cache: str

    def queries(self) -> dict[str, Any]:
        """The vectors of questions that were asked already, by their texts."""
        try:
            found = loads(self.query_cache)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


class _List:
    """A list that is being made: its numbers as an array, as long as it has nothing else."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: list[Any] | array[float] = []

    def extend(self, items: list[Any]) -> None:
        if not self.values and items and all(type(i) is float for i in items):
            self.values = array("d", items)
        elif isinstance(self.values, array) and all(type(i) is float for i in items):
            self.values.extend(items)
        else:
            if isinstance(self.values, array):
                self.values = list(self.values)
            self.values.extend(items)


def read_vector_store(path: Path, boundary: Boundary) -> VectorStore:
    """Read a store. Raises `UnsafeStoreError`, `UnusableStoreError`, and OSError where it cannot be opened."""
    with boundary.open(path) as file:
        value = _Reading(file).value()
    if not isinstance(value, dict):
        raise UnusableStoreError("it is not a dict of embeddings, metadata and query_cache")
    missing = [name for name in _FIELDS if name not in value]
    if missing:
        raise UnusableStoreError(f"it has no {missing[0]}")
    embeddings, metadata = value["embeddings"], value["metadata"]
    for name, found in (("embeddings", embeddings), ("metadata", metadata)):
        if not isinstance(found, _List):
            raise UnusableStoreError(f"{name} is not a list")
    if not isinstance(value["query_cache"], str):
        raise UnusableStoreError("query_cache is not a text")
    return VectorStore([_opened(v) for v in embeddings.values], list(metadata.values), value["query_cache"])


def _opened(value: Any) -> Any:
    """The values of a list; those in it are left as they are, as one may be in many places."""
    return value.values if isinstance(value, _List) else value


class _Reading:
    """One pass over the opcodes."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._stack: list[Any] = []
        self._marks: list[list[Any]] = []
        self._memo: dict[int, Any] = {}
        self._steps: dict[bytes, Callable[[], None]] = {
            b"\x80": lambda: self._skip(1),
            b"\x95": lambda: self._skip(8),
            b"(": self._mark,
            b"0": self._pop,
            b"1": self._pop_mark,
            b"N": lambda: self._stack.append(None),
            b"\x88": lambda: self._stack.append(True),
            b"\x89": lambda: self._stack.append(False),
            b"]": lambda: self._stack.append(_List()),
            b"}": lambda: self._stack.append({}),
            b")": lambda: self._stack.append(()),
            b"l": self._list,
            b"d": self._dict,
            b"t": lambda: self._stack.append(tuple(self._from_mark())),
            b"\x85": lambda: self._tuple(1),
            b"\x86": lambda: self._tuple(2),
            b"\x87": lambda: self._tuple(3),
            b"a": self._append,
            b"e": self._appends,
            b"s": self._set_item,
            b"u": self._set_items,
            b"G": lambda: self._stack.append(struct.unpack(">d", self._take(8))[0]),
            b"F": lambda: self._stack.append(float(self._line())),
            b"J": lambda: self._stack.append(int.from_bytes(self._take(4), "little", signed=True)),
            b"K": lambda: self._stack.append(self._take(1)[0]),
            b"M": lambda: self._stack.append(int.from_bytes(self._take(2), "little")),
            b"I": self._int,
            b"L": lambda: self._stack.append(int(self._line().removesuffix(b"L"))),
            b"\x8a": lambda: self._long(1),
            b"\x8b": lambda: self._long(4),
            b"\x8c": lambda: self._text(1),
            b"X": lambda: self._text(4),
            b"\x8d": lambda: self._text(8),
            b"V": lambda: self._stack.append(self._line().decode("raw-unicode-escape")),
            b"\x94": lambda: self._memoize(len(self._memo)),
            b"q": lambda: self._memoize(self._take(1)[0]),
            b"r": lambda: self._memoize(self._number(4)),
            b"p": lambda: self._memoize(int(self._line())),
            b"h": lambda: self._stack.append(self._memo[self._take(1)[0]]),
            b"j": lambda: self._stack.append(self._memo[self._number(4)]),
            b"g": lambda: self._stack.append(self._memo[int(self._line())]),
        }

    def value(self) -> Any:
        """What the pickle holds."""
        read, steps = self._file.read, self._steps
        try:
            while (code := read(1)) != b".":
                step = steps.get(code)
                if step is None:
                    raise _refused(code)
                step()
            return self._stack.pop()
        except (
            IndexError,
            KeyError,
            ValueError,
            TypeError,
            AttributeError,
            UnicodeDecodeError,
            OverflowError,
        ) as error:
            raise UnusableStoreError(f"it is no whole pickle ({type(error).__name__})") from None

    def _take(self, length: int) -> bytes:
        if length > _MOST_BYTES:
            raise UnusableStoreError(f"it has a value of {length:,} bytes")
        data = self._file.read(length)
        if len(data) < length:
            raise UnusableStoreError("it is cut off")
        return data

    def _number(self, length: int) -> int:
        return int.from_bytes(self._take(length), "little")

    def _line(self) -> bytes:
        line = self._file.readline(_MOST_BYTES)
        if not line.endswith(b"\n"):
            raise UnusableStoreError("it is cut off")
        return line[:-1]

    def _skip(self, length: int) -> None:
        self._take(length)

    def _mark(self) -> None:
        if len(self._marks) > _MOST_DEEP:
            raise UnusableStoreError("it is nested too deeply")
        self._marks.append(self._stack)
        self._stack = []

    def _from_mark(self) -> list[Any]:
        items = self._stack
        self._stack = self._marks.pop()
        return items

    def _pop(self) -> None:
        if self._stack:
            self._stack.pop()
        else:
            self._stack = self._marks.pop()

    def _pop_mark(self) -> None:
        self._stack = self._marks.pop()

    def _list(self) -> None:
        made, items = _List(), self._from_mark()
        made.extend(items)
        self._stack.append(made)

    def _dict(self) -> None:
        items = self._from_mark()
        self._stack.append(dict(zip(items[::2], items[1::2], strict=True)))

    def _tuple(self, length: int) -> None:
        items = self._stack[-length:]
        if len(items) < length:
            raise UnusableStoreError("it is no whole pickle")
        del self._stack[-length:]
        self._stack.append(tuple(items))

    def _append(self) -> None:
        item = self._stack.pop()
        self._stack[-1].extend([item])

    def _appends(self) -> None:
        items = self._from_mark()
        target = self._stack[-1]
        if not isinstance(target, _List):
            raise UnusableStoreError("it is no whole pickle")
        target.extend(items)

    def _set_item(self) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._stack[-1][key] = value

    def _set_items(self) -> None:
        items = self._from_mark()
        target = self._stack[-1]
        if not isinstance(target, dict):
            raise UnusableStoreError("it is no whole pickle")
        target.update(zip(items[::2], items[1::2], strict=True))

    def _int(self) -> None:
        line = self._line()
        self._stack.append({b"00": False, b"01": True}[line] if line in (b"00", b"01") else int(line))

    def _long(self, length: int) -> None:
        self._stack.append(int.from_bytes(self._take(self._number(length)), "little", signed=True))

    def _text(self, length: int) -> None:
        self._stack.append(self._take(self._number(length)).decode("utf-8", "surrogatepass"))

    def _memoize(self, place: int) -> None:
        self._memo[place] = self._stack[-1]


def _refused(code: bytes) -> Exception:
    if not code:
        return UnusableStoreError("it is cut off")
    if code in _NAMING:
        return UnsafeStoreError(f"it asks for code to be run ({_NAMING[code]})")
    return UnusableStoreError("it is no pickle" if code not in b"BCST2\x8e\x8f\x90\x91\x96\x98" else "it holds other "
                              "values than texts, numbers, lists and dicts")  # fmt: skip
