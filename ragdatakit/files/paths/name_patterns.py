"""The names in a folder, found by pattern: there may be a hundred thousand, and hundreds of patterns."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Iterable
from fnmatch import fnmatchcase, translate
from functools import cached_property, lru_cache
from pathlib import Path, PurePath

_WILD = frozenset("*?[")
_FEW = 64
"""Up to how many names each is held against the segments, which keeps the answer for other folders."""
_segments: list[str] = []
"""Segments with which patterns begin that stand for several names, as far as any were asked for."""


class Names:
    """Names of the files, or of the folders, in one folder; ``all`` has them sorted."""

    def __init__(self, names: Iterable[str]) -> None:
        self.all = sorted(names)
        self._matching: dict[str, list[str]] = {}  # formats share segments, such as `*.json`
        self._begun, self._held = set(self.all), 0

    @cached_property
    def known(self) -> frozenset[str]:
        """The names, to look one up."""
        return frozenset(self.all)

    @cached_property
    def _shown(self) -> list[str]:
        """Without the hidden ones, which a pattern has to name."""
        return self.all[: bisect_left(self.all, ".")] + self.all[bisect_left(self.all, "/") :]

    @cached_property
    def _by_extension(self) -> dict[str, list[str]]:
        """The shown names by what follows their last dot."""
        found: dict[str, list[str]] = {}
        for name in self._shown:
            _, dot, extension = name.rpartition(".")
            if dot:
                found.setdefault(extension, []).append(name)
        return found

    def begun(self) -> set[str]:
        """The names themselves, and the segments that any matches, of those in which patterns were `noted`."""
        start, end = self._held, len(_segments)
        if start < end and len(self.all) <= _FEW:
            self._begun.update(*(_matched(name, start, end) for name in self.all))
        elif start < end:
            self._begun.update(filter(self.matching, _segments[start:end]))
        self._held = end
        return self._begun

    def matching(self, segment: str) -> list[str]:
        """The names that match one segment of a pattern, sorted."""
        found = self._matching.get(segment)
        if found is None:
            found = self._matching[segment] = self._find(segment)
        return found

    def _find(self, segment: str) -> list[str]:
        if is_name(segment):
            return [segment] if segment in self.known else []
        before, inner, after, only_star = _literals(segment)
        names = self.all if segment.startswith(".") else self._shown
        if before:
            names = names[bisect_left(names, before) : bisect_left(names, before[:-1] + chr(ord(before[-1]) + 1))]
        elif "." in after:
            names = self._by_extension.get(after.rpartition(".")[2], [])
            if only_star and after.count(".") == 1 and after.startswith("."):
                return names
        for part in inner:
            names = [name for name in names if part in name]
        if after:
            names = [name for name in names if name.endswith(after)]
        if only_star or not names:
            return names
        matches = _pattern(segment).match
        return [name for name in names if matches(name)]


def noted(segments: Iterable[str]) -> frozenset[str]:
    """The segments, which `Names.begun` is about from now on."""
    found = frozenset(segments)
    _segments.extend(s for s in sorted(found) if not is_name(s) and s not in _segments)
    return found


@lru_cache(maxsize=4096)
def _matched(name: str, start: int, end: int) -> list[str]:
    """Which of these segments a name matches."""
    found = _segments[start:end]
    return [s for s in found if (name[0] != "." or s[0] == ".") and _is_like(name, s)]


def _is_like(name: str, segment: str) -> bool:
    before, inner, after, only_star = _literals(segment)
    if not (name.startswith(before) and name.endswith(after) and all(part in name for part in inner)):
        return False
    return only_star or _pattern(segment).match(name) is not None


def is_name(segment: str) -> bool:
    """Whether a segment of a pattern stands for one name only."""
    return _WILD.isdisjoint(segment)


@lru_cache(maxsize=4096)
def _pattern(segment: str) -> re.Pattern[str]:
    return re.compile(translate(segment))


@lru_cache(maxsize=4096)
def _literals(segment: str) -> tuple[str, tuple[str, ...], str, bool]:
    """What a pattern begins with, has inside and ends with as it is; and whether that and one ``*`` is all."""
    before, *inner, after = segment.replace("?", "*").replace("[", "*").split("*")
    if "[" in segment:  # which ends where it is hard to tell, but not behind the last "]"
        inner, after = [], after.rpartition("]")[2]
    return before, tuple(filter(None, inner)), after, segment in (f"{before}*", f"*{after}")


def named_place(path: Path) -> Path:
    """Where a path is by the names in it: not where links lead."""
    return Path(os.path.normpath(path.absolute()))


def ends_as(path: PurePath, pattern: str) -> bool:
    """Whether the last parts of a path are those of a pattern."""
    segments = pattern.split("/")
    tail = path.parts[-len(segments) :]
    return len(tail) == len(segments) and all(map(fnmatchcase, tail, segments))
