"""A folder tree, listed safely: no loops, no way out over links, unreadable folders skipped; and patterns in it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

from ragdatakit.files.paths.boundary import ANYWHERE, Boundary, boundary_of
from ragdatakit.files.paths.name_patterns import Names, noted
from ragdatakit.files.paths.own_files import OWN, SIDECAR
from ragdatakit.schemas.errors import RagdataError

SKIPPED = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules", ".venv", "venv", ".tox", ".mypy_cache"})
SHOWN_HIDDEN = frozenset({".claude"})


class _Folder:
    """What is in one folder, as it was when it was listed: ``files`` and ``folders`` are their names, ``odd`` those of
    files that are links, or no regular files, ``own`` those of ragdata itself."""

    __slots__ = ("_paths", "below", "files", "folders", "matched", "may_match", "odd", "own", "path")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.files = self.folders = _NONE
        self.odd: frozenset[str] = frozenset()
        self.own = OWN
        self.below: dict[str, _Folder] = {}
        self.matched: dict[str, list[Path]] = {}
        self.may_match: dict[tuple[tuple[str, ...], bool], tuple[str, ...]] = {}
        self._paths: dict[str, Path] = {}  # each is made once: there may be very many

    def path_of(self, name: str) -> Path:
        """That of what is called so in it."""
        return self._paths.get(name) or self._paths.setdefault(name, self.path / name)


_NONE = Names(())


class Tree:
    """Names of files and folders below ``root``, read when asked for and then kept.

    Links to folders are not followed. A link to a file counts as a file; ``boundary`` says whether it may be opened.
    What is ``passed_over`` is not listed.
    """

    def __init__(
        self, root: Path, boundary: Boundary | None = None, passed_over: Callable[[Path], bool] | None = None
    ) -> None:
        self.root = root
        self._passed_over = passed_over
        self.boundary = boundary if boundary is not None else boundary_of(root)
        self._listed: dict[str, _Folder] = {}  # by text: paths are slow to compare
        self.unreadable: list[Path] = []

    def names(self, folder: Path) -> tuple[list[str], list[str]]:
        """(names of files, names of folders) directly in ``folder``, sorted."""
        here = self._at(folder)
        return here.files.all, here.folders.all

    def _at(self, folder: Path) -> _Folder:
        place = str(folder)
        return self._listed.get(place) or self._listed.setdefault(place, self._list(folder, place))

    def _list(self, folder: Path, place: str) -> _Folder:
        files: list[str] = []
        folders: list[str] = []
        odd: list[str] = []
        here = _Folder(folder)
        try:
            with os.scandir(place) as entries:
                for entry in entries:
                    _sort_entry(entry, files, folders, odd)
            here.own = OWN.intersection(files)
        except OSError:
            self.unreadable.append(folder)
        if self._passed_over is not None:
            files, folders = (
                [n for n in names if not self._passed_over(here.path_of(n))] for names in (files, folders)
            )
        here.odd = frozenset(odd)
        here.files = Names(files if OWN.isdisjoint(files) else (f for f in files if f not in OWN))
        here.folders = Names(folders if SIDECAR not in folders else (f for f in folders if f != SIDECAR))
        return here

    def paths(self, folder: Path, names: list[str]) -> list[Path]:
        """The files or folders called so in ``folder``."""
        return [*map(self._at(folder).path_of, names)]

    def is_plain(self, path: Path) -> bool:
        """Whether ``path`` was a regular file, and no link, when its folder was listed."""
        folder, name = os.path.split(str(path))
        here = self._listed.get(folder or ".")
        return here is not None and name not in here.odd

    def may_have(self, folder: Path, name: str) -> bool:
        """Whether a file of ragdata itself, called so, may be in ``folder``: not where none was listed."""
        here = self._listed.get(str(folder))
        return here is None or name in here.own

    def folders(self, start: Path | None = None) -> Iterator[Path]:
        """Every folder of the tree (or from ``start`` on, which is in it), a folder before what is in it."""
        stack = [start or self.root]
        while stack:
            folder = stack.pop()
            yield folder
            here = self._at(folder)
            names = [n for n in here.folders.all if n not in SKIPPED]
            stack += [here.path_of(n) for n in reversed(names) if not n.startswith(".") or n in SHOWN_HIDDEN]

    def match(self, folder: Path, pattern: str) -> list[Path]:
        """Files below ``folder`` that match ``pattern`` (one ``*`` level a segment), or folders if it ends in ``/``."""
        here = self._at(folder)
        found = here.matched.get(pattern)
        if found is None:
            found = here.matched[pattern] = self._matches(here, pattern)
        return found

    def _matches(self, here: _Folder, pattern: str) -> list[Path]:
        parents, last, which = _parsed(pattern)
        folders = [here]
        for segment in parents:
            folders = [below for one in folders for below in self._below(one, segment)]
        return [
            one.path_of(name) for one in folders for name in (one.folders if which else one.files).matching(last)
        ]  # which most have none of

    def _below(self, here: _Folder, segment: str) -> list[_Folder]:
        """The folders in one that match one segment."""
        found: list[_Folder] = []
        for name in here.folders.matching(segment):
            below = here.below.get(name)
            found.append(below or here.below.setdefault(name, self._at(here.path_of(name))))
        return found

    def begun(self, folder: Path) -> tuple[set[str], set[str]]:
        """The names of files and of folders in ``folder``, and the segments (`beginnings`) that any of them matches."""
        here = self._at(folder)
        return here.files.begun(), here.folders.begun()

    def may_match(self, folder: Path, patterns: tuple[str, ...], instead: bool = False) -> tuple[str, ...]:
        """The patterns that files below ``folder`` match, or folders in the place of files, in their order; those that
        folders match alone where they are there ``instead``.

        Collections of tagged text have 94 patterns, which every folder without names of another format is tried with.
        """
        here, key = self._at(folder), (patterns, instead)
        found = here.may_match.get(key)
        if found is None:
            numbers: set[int] = set()
            self._reach(here, _by_segments(patterns), instead, numbers)
            found = here.may_match[key] = tuple(patterns[number] for number in sorted(numbers))
        return found

    def _reach(self, here: _Folder, patterns: _Segments, instead: bool, numbers: set[int]) -> None:
        """Add the numbers of the patterns that lead from a folder to something."""
        folders = here.folders.begun()
        for names in (folders,) if instead else (here.files.begun(), folders):
            for segment in patterns.last.keys() & names:
                numbers.update(patterns.last[segment])
        for segment in patterns.within.keys() & folders:
            for below in self._below(here, segment):
                self._reach(below, patterns.within[segment], instead, numbers)

    def leads_out(self, path: Path) -> bool:
        """Whether ``path`` is a link to a file that may not be opened."""
        return not self.is_plain(path) and not self.boundary.holds(path) and path.exists()


def _sort_entry(entry: os.DirEntry[str], files: list[str], folders: list[str], odd: list[str]) -> None:
    """``odd`` are those that are links, or no regular files."""
    try:
        if entry.is_file(follow_symlinks=False):
            files.append(entry.name)
            return
        odd.append(entry.name)
        if entry.is_dir(follow_symlinks=False):
            folders.append(entry.name)
        elif not entry.is_dir():
            files.append(entry.name)
    except OSError:
        files.append(entry.name)
        odd.append(entry.name)


@lru_cache(maxsize=4096)
def _parsed(pattern: str) -> tuple[list[str], str, int]:
    """The segments before the last, the last, and whether it names files (0) or folders (1)."""
    *parents, last = pattern.rstrip("/").split("/")
    return parents, last, int(pattern.endswith("/"))


def beginnings(patterns: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """The segments with which the patterns begin: those of files, and those of folders."""
    begin: tuple[set[str], set[str]] = (set(), set())
    for parents, last, which in map(_parsed, patterns):
        begin[1 if parents else which].add(parents[0] if parents else last)
    return noted(begin[0]), noted(begin[1])


class _Segments:
    """Patterns by the segment that they begin with: the numbers of those that have no other, and the rest of those that
    begin with a folder."""

    def __init__(self) -> None:
        self.last: dict[str, list[int]] = {}
        self.within: dict[str, _Segments] = {}


@lru_cache(maxsize=1024)
def _by_segments(patterns: tuple[str, ...]) -> _Segments:
    root = _Segments()
    met: set[str] = set()
    for number, (parents, name, _) in enumerate(map(_parsed, patterns)):
        here = root
        for segment in parents:
            here = here.within.setdefault(segment, _Segments())
        here.last.setdefault(name, []).append(number)
        met.update(parents, (name,))
    noted(met)
    return root


def name_below(folder: Path, path: Path) -> str:
    """What a path is called below a folder from which it was made, with ``/``."""
    start, name = str(folder), str(path)
    name = name if start == "." else name[len(start) :].lstrip(os.sep)
    return name if os.sep == "/" else name.replace(os.sep, "/")


def unreadable_folders(root: Path) -> list[Path]:
    """The folders of a tree that may not be looked into; none where it is a file."""
    tree = Tree(root)
    if root.is_dir():
        for folder in tree.folders():
            tree.names(folder)
    return tree.unreadable


def size_of(path: Path) -> int:
    """Bytes of a file itself; 0 where nobody can tell."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 - of very many files
    except OSError:
        return 0


def not_looked_into(folder: Path | str) -> str:
    """That a folder may not be looked into, in words."""
    return f"{folder}: permission denied"


def is_locked(path: Path) -> bool:
    """Whether there is something at a path that may not be read."""
    try:
        return path.exists() and not os.access(path, os.R_OK)
    except PermissionError:  # its folder may be listed, and nothing in it be opened
        return True


class UnreadableError(RagdataError):
    """Nothing can be said of a path, for want of permission; ``paths`` are what may not be looked into."""

    def __init__(self, paths: list[str]) -> None:
        super().__init__(not_looked_into(paths[0]))
        self.paths = paths


def is_regular(path: Path, boundary: Boundary = ANYWHERE) -> bool:
    """Whether ``path`` is (a link to) a regular file that may be opened."""
    try:
        return stat.S_ISREG(path.stat().st_mode) and boundary.holds(path)
    except (OSError, ValueError):
        return False
