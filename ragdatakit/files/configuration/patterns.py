"""Patterns of paths, as settings have them: relative to the file they are in, ``**`` for any number of folders."""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import lru_cache
from glob import has_magic
from pathlib import Path


def covers(folder: Path, pattern: str, path: Path) -> bool:
    """Whether ``pattern``, which is relative to ``folder``, is that of ``path`` or of a folder that it is in."""
    fixed, segments = _parsed(folder, pattern)
    parts = Path(os.path.abspath(path)).parts  # noqa: PTH100 - without following links
    if parts[: len(fixed)] != fixed:
        return False
    reached = _with_skipped({0}, segments)
    for part in parts[len(fixed) :]:
        if len(segments) in reached:
            return True
        steps = (n + (segments[n] != "**") for n in reached if segments[n] == "**" or fnmatchcase(part, segments[n]))
        reached = _with_skipped({*steps, *_ended(reached, segments)}, segments)
    return len(segments) in reached


def fixed_part(folder: Path, pattern: str) -> Path:
    """The deepest folder or file below which all is that the pattern is of."""
    return Path(*_parsed(folder, pattern)[0])


def _with_skipped(reached: set[int], segments: tuple[str, ...]) -> set[int]:
    """How many segments may be done with, where ``**`` may be no folder at all; at the end it is at least one."""
    found = set(reached)
    for number in range(len(segments) - 1):
        if number in found and segments[number] == "**":
            found.add(number + 1)
    return found


def _ended(reached: set[int], segments: tuple[str, ...]) -> Iterator[int]:
    """The end, where the last segment is ``**``, which takes any name."""
    if segments and segments[-1] == "**" and len(segments) - 1 in reached:
        yield len(segments)


@lru_cache(maxsize=4096)
def _parsed(folder: Path, pattern: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parts of the folder that a pattern begins in, and the segments from the first wild one on."""
    above, segments = folder, list(Path(pattern).parts)
    while segments and not has_magic(segments[0]):
        above = Path(os.path.normpath(above / segments.pop(0)))
    return above.parts, tuple(segment for segment in segments if segment != ".")
