"""A file that is given by itself: of which format and kind it is, by its name and its content."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path

from ragdatakit.files.containers.sources import IS_POINTER, is_lfs_pointer
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.known_folders import known_data
from ragdatakit.files.detection.odd_beginnings import ARCHIVES, IS_ARCHIVE, odd_beginning, unread_by_name
from ragdatakit.files.detection.sniffed_trees import SniffedTree
from ragdatakit.files.detection.sniffing import beginning, emptiness, guess
from ragdatakit.files.paths.boundary import ANYWHERE, Boundary
from ragdatakit.files.paths.folders import UnreadableError, is_locked, is_regular
from ragdatakit.files.paths.name_patterns import ends_as, named_place
from ragdatakit.schemas.declarations import ConfigFile, File, Format
from ragdatakit.schemas.errors import PackedError, RagdataError, UnrecognisedError

_HEAD = 1 << 16
"""Bytes of a file that are searched for keys."""
_LOOKED_AT = 100
"""Packed files that are looked into."""
ConfigReader = Callable[[Path, Format, Boundary], Dataset]


def lone_file(
    path: Path, formats: tuple[Format, ...], boundary: Boundary, forced: bool, by_content: bool = False
) -> Dataset:
    """The dataset that is this one file, or that this configuration file describes; ``forced``: the one format was
    named; ``by_content``: a name alone says nothing. Raises `UnrecognisedError` where the file is of none of the
    formats, `RagdataError` where it cannot be read or nothing in it would be checked."""
    if (known := _kind_by_top_keys(path, formats)) is not None:
        return _dataset(path, *known)
    for fmt in formats:
        if fmt.config is not None and path.suffix in fmt.config.suffixes:
            return _config_reader(fmt.config)(path, fmt, boundary)
    if path.name.lower().endswith(ARCHIVES):  # what is in one as it is may look like a record
        raise UnrecognisedError(f"{path}: {IS_ARCHIVE}")
    guessed = guess(path, formats, ANYWHERE)
    if by_content and guessed is None:
        raise _not_chosen(path, formats, forced)
    named = _kind_by_name(path, formats)
    general = ("json-object", "json-array") if by_content else ("json-object",)
    if guessed and guessed[1].container in general:  # which any list or object of texts looks like: its name has to fit
        fits = path.name.endswith(guessed[1].suffixes) if forced else named is not None and named[1] is guessed[1]
        guessed = guessed if fits else None
    chosen = guessed or (None if by_content else named)
    if named and guessed and named[0] is guessed[0] and not any(layout.sniffed for layout in named[0].layouts):
        chosen = named
    if guessed and (kind_name := _deciding_name(path, guessed[0])):
        chosen = (guessed[0], guessed[0].file(kind_name))
    if chosen is None and forced:
        kinds = [k for k in formats[0].files if k.container != "opaque" and path.name.endswith(k.suffixes)]
        kinds = [k for k in formats[0].files if _begins_as(path, k)] or kinds
        if len(kinds) == 1:
            chosen = (formats[0], kinds[0])
    if chosen is None:
        raise _not_chosen(path, formats, forced)
    fmt, kind = chosen
    _refuse_unchecked(path, fmt, kind)
    return _dataset(path, fmt, kind)


def _dataset(path: Path, fmt: Format, kind: File) -> Dataset:
    return Dataset(path.parent, str(path), fmt, "file", [DataFile(path, str(path), path.name, kind.kind)])


def _kind_by_top_keys(path: Path, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """A kind of text with a key of its own at the beginning of a line, as YAML has them."""
    for fmt in formats:
        for kind in fmt.files:
            if kind.container == "text" and kind.signs and path.name.endswith(kind.suffixes):
                keys = tuple(f"{key}:".encode() for group in kind.signs for key in group)
                if any(line.startswith(keys) for line in beginning(path, _HEAD, ANYWHERE)[0].splitlines()):
                    return fmt, kind
    return None


def _config_reader(config: ConfigFile) -> ConfigReader:
    module, _, name = config.reader.partition(":")
    reader: ConfigReader = getattr(importlib.import_module(module), name)
    return reader


def _begins_as(path: Path, kind: File) -> bool:
    """Whether the first bytes of a file are those of a kind that holds no text."""
    return bool(kind.begins) and beginning(path, max(map(len, kind.begins)), ANYWHERE)[0].startswith(kind.begins)


def _not_chosen(path: Path, formats: tuple[Format, ...], forced: bool) -> RagdataError:
    if is_locked(path):
        return UnreadableError([str(path)])
    return UnrecognisedError(_why_unrecognised(path, formats, forced))


def _why_unrecognised(path: Path, formats: tuple[Format, ...], forced: bool) -> str:
    if not path.exists():
        return f"{path} is a link that leads nowhere"
    if not is_regular(path):
        return f"{path}: it is not a regular file"
    if reason := emptiness(path, ANYWHERE):
        return f"{path} {reason}: there is no record by which to recognise it"
    if is_lfs_pointer(path, ANYWHERE):
        return f"{path}: {IS_POINTER}"
    if reason := unread_by_name(path):
        return f"{path}: {reason}"
    if not forced and (known := known_data(path)):
        return known
    names = ", ".join(f.name for f in formats)
    if not forced:
        advice = "give the dataset's folder, or --from and a usual file name"
    else:
        advice = f"give the dataset's folder, or a file named as `ragdata formats {names}` shows"
    if odd := odd_beginning(path):
        return f"{path}: {odd}; repair that, or name its format with --from to have all faults reported"
    return f"{path}: not recognised as a file of {names}; {advice}"


def refuse_packed(tree: SniffedTree, formats: tuple[Format, ...]) -> None:
    """Raise `PackedError` for a file that only gzip keeps from being a dataset, as its content alone tells its
    format."""
    for path, fmt in _packed(tree, formats):
        lone = (name for layout in fmt.layouts if not layout.signature for name in layout.sniffed)
        if any(fnmatchcase(path.name.removesuffix(".gz"), name) for name in lone):
            _refuse_if_packed(path, fmt)


def why_packed(tree: SniffedTree, formats: tuple[Format, ...]) -> str:
    """That a file, by its content and its name of a format that opens plain files only, is packed; empty where none
    is."""
    for path, fmt in _packed(tree, formats):
        name = path.name.removesuffix(".gz")
        named = any(fnmatchcase(name, pattern) for layout in fmt.layouts for pattern in layout.patterns)
        if named and (why := _is_only_packed(path, fmt)):
            return why
    return ""


def _packed(tree: SniffedTree, formats: tuple[Format, ...]) -> Iterator[tuple[Path, Format]]:
    """The first files that are packed with gzip, of those whose content tells a format."""
    files = (path for folder in tree.folders() for path in tree.paths(folder, tree.names(folder)[0]))
    for path in islice((path for path in files if path.name.endswith(".gz")), _LOOKED_AT):
        if (guessed := tree.guess(path, formats)) is not None:
            yield path, guessed[0]


def _refuse_if_packed(path: Path, fmt: Format) -> None:
    if why := _is_only_packed(path, fmt):
        raise PackedError(why)


def _is_only_packed(path: Path, fmt: Format) -> str:
    names = [n for layout in fmt.layouts for n in layout.patterns] + [n for k in fmt.files for n in k.suffixes]
    if path.name.endswith(".gz") and not any(name.endswith(".gz") for name in names):
        return f"{path}: it is packed, and {fmt.name} opens plain files only; unpack it with gunzip"
    return ""


def _refuse_unchecked(path: Path, fmt: Format, kind: File) -> None:
    """Raise where nothing in a file given by name would be checked, so that nobody takes it for valid."""
    if kind.container == "opaque" and not kind.begins:
        raise UnrecognisedError(
            f"{path}: what is in such a file of {fmt.name} ({kind.title.lower()}) is never checked; "
            "give the dataset's folder"
        )
    _refuse_if_packed(path, fmt)
    if kind.records and not kind.record.rules.get("no-records") and kind.container == "json":
        reason = emptiness(path, ANYWHERE)
        if reason and "object" not in reason:  # which is a record
            raise UnrecognisedError(f"{path} {reason}: there is no record to check")


def _kind_by_name(path: Path, formats: tuple[Format, ...]) -> tuple[Format, File] | None:
    """By the patterns of the layouts, taking as many of the path's last parts as the pattern has."""
    place = named_place(path)
    for fmt in formats:
        for layout in fmt.layouts:
            if layout.sniffed and len(formats) > 1:  # its names say too little
                continue
            if layout.place and not ends_as(named_place(path.parent), layout.place):
                continue
            for pattern, kind in layout.patterns.items():
                if not pattern.endswith("/") and ends_as(place, pattern):
                    return fmt, fmt.file(kind)
    return None


def _deciding_name(path: Path, fmt: Format) -> str:
    """The kind that the name of a file says, in a format whose layouts are known by content alone; else empty."""
    named = (pair for layout in fmt.layouts if layout.sniffed and not layout.signature for pair in layout.files.items())
    place = named_place(path)
    return next((kind for pattern, kind in named if ends_as(place, pattern)), "")
