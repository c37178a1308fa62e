"""Which layouts may have all they need in a folder: the names in it rule most of them out, all at once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ragdatakit.files.paths.folders import Tree, beginnings
from ragdatakit.schemas.declarations import Format, Layout


class PossibleLayouts:
    """The layouts of some formats by the first segments of the patterns of their signatures.

    Of each layout each group of patterns is needed, except for those that files at any depth may take the place of.
    """

    def __init__(self, formats: tuple[Format, ...]) -> None:
        self.formats = formats  # which live as long as this does: it is known by their identities
        numbers: dict[tuple[str, ...], int] = {}
        self._needed = [
            (id(layout), frozenset(numbers.setdefault(group, len(numbers)) for group in needed_groups(layout)))
            for fmt in formats
            for layout in fmt.layouts
        ]
        self._of_files: dict[str, list[int]] = {}
        self._of_folders: dict[str, list[int]] = {}
        for group, number in numbers.items():
            for segments, known in zip(beginnings(group), (self._of_files, self._of_folders), strict=True):
                for segment in segments:
                    known.setdefault(segment, []).append(number)

    def of(self, tree: Tree, folder: Path) -> set[int]:
        """The identities of the layouts that may be complete in ``folder``."""
        files, folders = tree.begun(folder)
        met: set[int] = set()
        for segment in self._of_files.keys() & files:
            met.update(self._of_files[segment])
        for segment in self._of_folders.keys() & folders:
            met.update(self._of_folders[segment])
        return {layout for layout, needed in self._needed if needed <= met}


def needed_groups(layout: Layout) -> Iterable[tuple[str, ...]]:
    """The groups of patterns of which one has to match below the folder itself."""
    loose = layout.loose if layout.endings else ()
    return (group for group in layout.signature if not any(pattern in loose for pattern in group))


_KNOWN: dict[tuple[int, ...], PossibleLayouts] = {}


def possible_layouts(formats: tuple[Format, ...]) -> PossibleLayouts:
    """The layouts of the formats, made once for the same ones."""
    key = tuple(map(id, formats))
    if key not in _KNOWN:
        _KNOWN[key] = PossibleLayouts(formats)
    return _KNOWN[key]
