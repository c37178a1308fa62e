"""The formats that what is in a folder may be of: the names in it rule most of their layouts out, all at once.

For that no declaration is imported: which names the layouts of our own formats begin with is a table
(`schemas.layout_outlines`), which a test compares with the declarations, and writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path

from ragdatakit.files.paths.folders import Tree, beginnings
from ragdatakit.files.paths.name_patterns import ends_as, named_place, noted
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Format, Layout
from ragdatakit.schemas.layout_outlines import OUTLINES, Outline


class KnownFormats:
    """Some formats by their names; ``declared`` imports all of them, as where the content of a file has to decide."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        numbers: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}
        self._layouts = [
            (name, number, place, frozenset(numbers.setdefault(group, len(numbers)) for group in groups))
            for name in names
            for number, (place, groups) in enumerate(OUTLINES[name] if name in OUTLINES else outline(get_format(name)))
        ]
        self._complete = lru_cache(maxsize=256)(self._complete_with)
        self._of_files: dict[str, list[int]] = {}
        self._of_folders: dict[str, list[int]] = {}
        for group, number in numbers.items():
            for segments, known in zip(group, (self._of_files, self._of_folders), strict=True):
                for segment in noted(segments):
                    known.setdefault(segment, []).append(number)

    @cached_property
    def declared(self) -> tuple[Format, ...]:
        """Their declarations."""
        return tuple(map(get_format, self.names))

    def possible(self, tree: Tree, folder: Path) -> Mapping[str, set[int]]:
        """The formats of which ``folder`` may be a dataset, in their order, each with the numbers of the layouts that
        may be complete there."""
        files, folders = tree.begun(folder)
        met: set[int] = set()
        for segment in self._of_files.keys() & files:
            met.update(self._of_files[segment])
        for segment in self._of_folders.keys() & folders:
            met.update(self._of_folders[segment])
        found: dict[str, set[int]] = {}
        for name, number, ending in self._complete(frozenset(met)):
            if not ending or ends_as(named_place(folder), ending):
                found.setdefault(name, set()).add(number)
        return found

    def _complete_with(self, met: frozenset[int]) -> list[tuple[str, int, str]]:
        """The layouts, and the place of each, of which these groups are all that they need."""
        return [(name, number, ending) for name, number, ending, needed in self._layouts if needed <= met]


_KNOWN: dict[tuple[str, ...], KnownFormats] = {}


def known_formats(names: tuple[str, ...]) -> KnownFormats:
    """The formats of these names, made once for the same ones of our own."""
    if not OUTLINES.keys() >= {*names}:
        return KnownFormats(names)
    if names not in _KNOWN:
        _KNOWN[names] = KnownFormats(names)
    return _KNOWN[names]


def outline(fmt: Format) -> Outline:
    """Of each layout the place and the names that it needs."""
    return tuple((layout.place, tuple(_groups(layout))) for layout in fmt.layouts)


def _groups(layout: Layout) -> Iterable[tuple[tuple[str, ...], tuple[str, ...]]]:
    """The segments with which the patterns of each group begin: those of files, those of folders. A layout that no name
    is a sign of needs any file that may be one of it, or a folder in place of one; nothing where any ending may be."""
    needed = list(needed_groups(layout))
    for group in needed:
        files, folders = beginnings(group)
        yield tuple(sorted(files)), tuple(sorted(folders))
    if not needed and not layout.endings:
        named, _ = beginnings(tuple(layout.files))
        files, folders = beginnings((*layout.patterns, *(("*",) if layout.bare else ())))
        yield tuple(sorted(files)), tuple(sorted(folders | named))


def needed_groups(layout: Layout) -> Iterable[tuple[str, ...]]:
    """The groups of patterns of which one has to match below the folder itself."""
    loose = layout.loose if layout.endings else ()
    return (group for group in layout.signature if not any(pattern in loose for pattern in group))
