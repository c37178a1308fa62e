"""Compare the files below two folders that belong to no dataset there: by their bytes, as wholes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from ragdatakit.files.paths.boundary import Boundary, real_path
from ragdatakit.files.paths.folders import SKIPPED
from ragdatakit.files.paths.own_files import OWN
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.diffs import FileDiff

Progress = Callable[[str, int, int], None]
_PIECE = 1 << 20
_MOST_NAMED = 3


@dataclass(slots=True)
class OtherFiles:
    """The files below a folder by their path there, with ``/``: those of no dataset (``others``), those of datasets
    (``claimed``), ragdata's ``own``; and what is no file to compare, each with the reason (``passed``)."""

    others: dict[str, Path] = field(default_factory=dict)
    claimed: dict[str, Path] = field(default_factory=dict)
    own: dict[str, Path] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)

    def is_passed(self, name: str) -> bool:
        """Whether a file may be there, but nobody looked: it is in a folder that was passed over, or is no file."""
        return any(place in self.passed for place in (name, *(p.as_posix() for p in PurePosixPath(name).parents)))


def other_files(folder: Path, of_datasets: Iterable[Path], boundary: Boundary) -> OtherFiles:
    """What lies below a folder; ``of_datasets`` are the files that datasets there have, ``boundary`` is what may be
    opened.

    Names that begin with a dot, and folders of programs such as ``node_modules``, are passed over, as are links to
    folders, which may lead anywhere.
    """
    found = OtherFiles()
    claimed = {real_path(path).as_posix() for path in of_datasets}
    root = real_path(folder).as_posix().rstrip("/")
    for name, path in _files(folder, boundary, found.passed):
        if f"{root}/{name}" in claimed or (path.is_symlink() and real_path(path).as_posix() in claimed):
            found.claimed[name] = path
        elif OWN.intersection(name.split("/")):
            found.own[name] = path
        else:
            found.others[name] = path
    return found


def _files(folder: Path, boundary: Boundary, passed: dict[str, str]) -> Iterator[tuple[str, Path]]:
    stack = [("", folder)]
    while stack:
        below, here = stack.pop()
        try:
            with os.scandir(here) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError as error:
            passed[below.rstrip("/") or "."] = f"it cannot be read: {error.strerror}"
            continue
        for entry in entries:
            name = f"{below}{entry.name}"
            try:
                if entry.name.startswith(".") or entry.name in SKIPPED:
                    passed[name] = ""
                elif entry.is_dir(follow_symlinks=False):
                    stack.append((f"{name}/", Path(entry.path)))
                elif entry.is_dir():
                    passed[name] = "a link to a folder"
                elif entry.is_file() and entry.is_symlink() and not boundary.holds(entry.path):
                    passed[name] = "a link that leads out of the folder"
                elif entry.is_file():
                    yield name, Path(entry.path)
                else:
                    passed[name] = "a link that leads nowhere" if entry.is_symlink() else "no regular file"
            except OSError as error:
                passed[name] = f"it cannot be looked at: {error.strerror}"


def left_out(sides: Iterable[OtherFiles], patterns: Iterable[str]) -> Iterator[str]:
    """Take the files out that are not to be compared, and say that in sentences.

    A pattern such as ``*.log`` is for the name of a file, or of a folder with all that is in it; one with ``/`` is for
    a path from the folder on.
    """
    for pattern in patterns:
        wanted, found = pattern.rstrip("/"), set()
        for side in sides:
            names = {name for name in side.others if _is_meant(name, wanted)}
            for name in names:
                del side.others[name]
            found |= names
        if found:
            yield f"Left out by --exclude {pattern}: {names_listed(found)}."
        else:
            yield f"--exclude {pattern}: there is no such file next to the datasets."


def _is_meant(name: str, pattern: str) -> bool:
    path = PurePosixPath(name)
    places = [path.as_posix(), *(p.as_posix() for p in path.parents)] if "/" in pattern else path.parts
    return any(fnmatchcase(place, pattern) for place in places)


def compare_other_files(
    before: OtherFiles, after: OtherFiles, progress: Progress | None = None
) -> tuple[list[FileDiff], list[str]]:
    """What became of the files that a side has for no dataset, and sentences about what was not compared.

    A file that is of a dataset on one side only is compared, too; one that only that side has is reported by its
    dataset. The status ``unread`` is of a file that nobody could read.
    """
    found = []
    names = sorted({*before.others, *after.others})
    for number, name in enumerate(names):
        if progress is not None:
            progress(f"comparing {name}", number, len(names))
        old = before.others.get(name) or before.claimed.get(name)
        new = after.others.get(name) or after.claimed.get(name)
        missing = before if old is None else after if new is None else None
        is_hidden = missing is not None and missing.is_passed(name)
        found.append(FileDiff(name, "", "unread" if is_hidden else _status(old, new), _size(old), _size(new)))
    return found, [*_own_notes(before, after), *passed_notes(before, after)]


def passed_notes(*sides: OtherFiles) -> Iterator[str]:
    """What was not looked at, in sentences."""
    passed = {name: why for side in sides for name, why in side.passed.items()}
    if hidden := [name for name, why in passed.items() if not why]:
        yield f"Not compared, as hidden files and folders of programs are not: {names_listed(hidden)}."
    for why in sorted({why for why in passed.values() if why}):
        yield f"Not compared: {names_listed([name for name, each in passed.items() if each == why])} ({why})."


def names_listed(names: Iterable[str]) -> str:
    """The first names, and how many more there are."""
    listed = sorted(names)
    more = f" and {len(listed) - _MOST_NAMED:,} more" if len(listed) > _MOST_NAMED else ""
    return ", ".join(listed[:_MOST_NAMED]) + more


def _own_notes(before: OtherFiles, after: OtherFiles) -> Iterator[str]:
    """Files of ragdata itself are no data: what they say counts in the tables."""
    names = {*before.own, *after.own}
    if others := [name for name in names if _status(before.own.get(name), after.own.get(name)) != "same"]:
        yield f"Files of ragdata itself differ, too, which changes nothing in the data: {names_listed(others)}."


def _status(old: Path | None, new: Path | None) -> str:
    if old is None or new is None:
        return "removed" if new is None else "added"
    try:
        return "same" if _same_bytes(old, new) else "changed"
    except OSError:
        return "unread"


def _same_bytes(old: Path, new: Path) -> bool:
    with old.open("rb", buffering=0) as one, new.open("rb", buffering=0) as other:
        mine, its = os.fstat(one.fileno()), os.fstat(other.fileno())
        if not (stat.S_ISREG(mine.st_mode) and stat.S_ISREG(its.st_mode)):
            raise OSError("no regular file")
        if os.path.samestat(mine, its):
            return True
        if mine.st_size != its.st_size:
            return False
        while piece := one.read(_PIECE):
            if piece != _exactly(other.read, len(piece)):
                return False
        return not other.read(1)


def _exactly(read: Callable[[int], bytes | None], size: int) -> bytes:
    pieces = bytearray()
    while len(pieces) < size and (piece := read(size - len(pieces))):
        pieces += piece
    return bytes(pieces)


def _size(path: Path | None) -> int | None:
    try:
        return path.stat().st_size if path is not None else None
    except OSError:
        return None
