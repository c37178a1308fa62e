"""Two versions of a file as a unified diff, read in a stream: equal parts are compared in blocks, others by lines."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from difflib import SequenceMatcher
from itertools import islice
from pathlib import Path
from typing import IO, cast

from ragdatakit.files.containers.beginnings import GZIP_MAGIC
from ragdatakit.visible_text import visible_text

_BLOCK = 1 << 20
_CONTEXT = 3
_NEAR = 1 << 16
_FIRST_WINDOW, _LAST_WINDOW = 32, 1024
"""Lines of both versions that are compared at once: at first, and at most."""
_LONGEST = 10_000
"""Characters of a line that are shown."""


class _Lines:
    """A file read by blocks or by lines; lines that were read may be given back."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._held = b""

    def block(self, size: int) -> bytes:
        """The next bytes, so many or (of what was given back) more; fewer at the end."""
        held, self._held = self._held, b""
        return held if len(held) >= size else held + self._file.read(size - len(held))

    def give_back(self, data: bytes) -> None:
        """These are read next."""
        self._held = data + self._held

    def lines(self, most: int) -> list[bytes]:
        """At most so many lines."""
        size = _BLOCK
        while len(data := self.block(size)) >= size and data.count(b"\n") < most:
            self.give_back(data)
            size *= 2
        found = _split(data, most)
        self.give_back(data[sum(map(len, found)) :])
        return found


def _split(data: bytes, most: int = -1) -> list[bytes]:
    """At most so many lines, by line feeds alone."""
    *lines, last = data.split(b"\n", most)
    found = [line + b"\n" for line in lines]
    return [*found, last] if last and len(found) != most else found


class Difference:
    """What differs between two versions of a file that is called ``name``, in at most this many hunks (0: all)."""

    def __init__(self, old: Path, new: Path, name: str, most: int) -> None:
        self._old, self._new = old, new
        self._name = visible_text(name)
        self._most = most

    def lines(self) -> Iterator[str]:
        """The lines of the diff, without their ends."""
        yield f"--- {self._name}"
        yield f"+++ {self._name}"
        with ExitStack() as stack:
            old, new = (_Lines(stack.enter_context(_opened(path))) for path in (self._old, self._new))
            hunks = _hunks(old, new)
            yield from (line for hunk in islice(hunks, self._most or None) for line in hunk)
            if self._most and next(hunks, None) is not None:
                yield "… and more changes in this file (--max-per-rule 0 shows all)"


def _opened(path: Path) -> IO[bytes]:
    file = path.open("rb")
    packed = file.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    file.seek(0)
    import gzip

    return cast("IO[bytes]", gzip.GzipFile(fileobj=file)) if packed else file


def _hunks(old: _Lines, new: _Lines) -> Iterator[list[str]]:
    at = [0, 0]
    before: deque[bytes] = deque(maxlen=_CONTEXT)
    while _pass_equal(old, new, at, before):
        size = _FIRST_WINDOW
        mine, its = old.lines(size), new.lines(size)
        while (cut := _resynchronised(mine, its, ended=len(mine) < size and len(its) < size)) is None:
            if size >= _LAST_WINDOW:
                place = f"@@ -{at[0] + 1} +{at[1] + 1} @@"
                yield [f"{place} more than {size:,} lines differ from here on; they are not shown"]
                return
            mine, its, size = mine + old.lines(size), its + new.lines(size), 2 * size
        opcodes, ends = cut
        old.give_back(b"".join(mine[ends[0] :]))
        new.give_back(b"".join(its[ends[1] :]))
        yield _hunk(list(before), mine, its, opcodes, at)
        at[0] += ends[0]
        at[1] += ends[1]
        before.clear()


def _pass_equal(old: _Lines, new: _Lines, at: list[int], before: deque[bytes]) -> bool:
    """Read on to the first line that differs; whether there is one."""
    size = _BLOCK
    while True:
        mine, its = old.block(size), new.block(size)
        length = min(len(mine), len(its))
        equal = length if mine[:length] == its[:length] else _common(mine, its, length)
        is_last = len(mine) < size and len(its) < size
        whole = is_last and equal == len(mine) == len(its)
        passed = mine[: equal if whole else mine.rfind(b"\n", 0, equal) + 1]
        lines = passed.count(b"\n")
        at[0], at[1] = at[0] + lines, at[1] + lines
        before.extend(_split(passed[-_NEAR:])[-_CONTEXT:])
        old.give_back(mine[len(passed) :])
        new.give_back(its[len(passed) :])
        if whole or equal < length or is_last:
            return not whole
        size = _BLOCK if passed else 2 * size  # a long line


def _common(mine: bytes, its: bytes, length: int) -> int:
    """How many bytes are the same at the beginning of both."""
    low, high = 0, length
    while high - low > 1:
        middle = (low + high) // 2
        if mine[low:middle] == its[low:middle]:
            low = middle
        else:
            high = middle
    return low


_Opcodes = list[tuple[str, int, int, int, int]]


def _resynchronised(mine: list[bytes], its: list[bytes], ended: bool) -> tuple[_Opcodes, tuple[int, int]] | None:
    """What differs up to where both are the same again, and the lines up to there with some that follow; None where
    they are not within these lines."""
    opcodes: _Opcodes = list(SequenceMatcher(None, mine, its, autojunk=False).get_opcodes())
    for i, (kind, first, last, its_first, _) in enumerate(opcodes):
        is_long = last - first > 2 * _CONTEXT
        if kind == "equal" and i and is_long:
            return opcodes[: i + 1], (first + _CONTEXT, its_first + _CONTEXT)
    return (opcodes, (len(mine), len(its))) if ended else None


def _hunk(before: list[bytes], mine: list[bytes], its: list[bytes], opcodes: _Opcodes, at: list[int]) -> list[str]:
    lines = [(" ", line) for line in before]
    for kind, first, last, its_first, its_last in opcodes:
        if kind == "equal":
            is_last = (last, its_last) == opcodes[-1][2::2]
            lines += [(" ", line) for line in mine[first : first + _CONTEXT if is_last else last]]
        else:
            lines += [("-", line) for line in mine[first:last]]
            lines += [("+", line) for line in its[its_first:its_last]]
    taken = [sum(mark in marks for mark, _ in lines) for marks in (" -", " +")]
    starts = [line - len(before) + 1 if number else line - len(before) for line, number in zip(at, taken, strict=True)]
    found = [f"@@ -{starts[0]},{taken[0]} +{starts[1]},{taken[1]} @@"]
    for mark, line in lines:
        found.append(f"{mark}{_shown(line)}")
        if not line.endswith(b"\n"):
            found.append("\\ No newline at end of file")
    return found


def _shown(line: bytes) -> str:
    text = line.removesuffix(b"\n").decode("utf-8", "replace")
    cells = (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…").split("\t")
    return "\t".join(map(visible_text, cells))  # `patch` would write what stands for a tab
