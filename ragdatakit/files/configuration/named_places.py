"""The files and folders below a path that sections name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import has_magic
from pathlib import Path

from ragdatakit.files.configuration.chosen import Configuration, is_at
from ragdatakit.files.configuration.patterns import fixed_part
from ragdatakit.files.configuration.reading import Section
from ragdatakit.files.paths.folders import Tree


def named_places(path: Path, configuration: Configuration, kind: str = "dataset") -> Iterator[Path]:
    """The places below ``path`` that the sections of datasets name, the outermost of those that lie in one another.

    They are called as ``path`` is: relative to the current folder where that is.
    """
    top = Path(os.path.abspath(path))  # noqa: PTH100 - without following links
    found: list[Path] = []
    for section in configuration.of_kind(kind):
        for glob in section.values["path",].value:
            start = fixed_part(section.file.folder, glob)
            if start.is_relative_to(top) and start != top and not has_magic(glob):
                found += [start] if os.path.lexists(start) else []
            elif start.is_relative_to(top) or top.is_relative_to(start):
                found += _matching(max(start, top, key=lambda place: len(place.parts)), section)
    kept: list[Path] = []
    for place in sorted(set(found), key=lambda place: (len(place.parts), place)):
        if place != top and not configuration.excludes(place) and not any(place.is_relative_to(one) for one in kept):
            kept.append(place)
            yield path / place.relative_to(top)


def _matching(start: Path, section: Section) -> Iterator[Path]:
    """What a section names below a folder; not looked for in what it names."""
    tree, waiting = Tree(start), [start] if start.is_dir() else []
    while waiting:
        folder = waiting.pop()
        files, folders = tree.names(folder)
        for name in (*files, *folders):
            if is_at(section, folder / name):
                yield folder / name
            elif name in folders and not name.startswith("."):
                waiting.append(folder / name)
