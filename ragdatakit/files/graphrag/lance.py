"""What the manifest of a table of LanceDB says: how many rows, vectors of which length, which files.

The data files themselves are not read. Source: ``table.proto`` and ``file.proto`` of the Lance format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.late_dataclasses import dataclass

_MAGIC = b"LANC"
_LARGEST = 1 << 26
_VECTOR = re.compile(r"fixed_size_list:[a-z0-9]+:([0-9]+)")
_NAME = re.compile(r"[0-9]{1,20}\.manifest")


class ManifestError(Exception):
    """A manifest that is not there, or cannot be read, with the reason."""


@dataclass(slots=True)
class LanceTable:
    """``rows`` without those that were deleted, ``length`` of the vectors (0: there are none), ``files`` of the data
    below the folder ``data``."""

    rows: int = 0
    length: int = 0
    version: int = 0
    files: list[str] = field(default_factory=list)


def read_table(folder: Path, boundary: Boundary) -> LanceTable:
    """The newest version of a table. Raises `ManifestError`."""
    versions = folder / "_versions"
    try:
        names = [entry.name for entry in versions.iterdir() if _NAME.fullmatch(entry.name)]
    except OSError:
        raise ManifestError("there is no folder _versions") from None
    if not names:
        raise ManifestError("the folder _versions has none")
    return _manifest(versions / min(names, key=_age), boundary)


def _age(name: str) -> int:
    """Less of a newer version: older writers counted up, today's count down from the greatest number of 64 bits."""
    number = int(name.removesuffix(".manifest"))
    return number - (1 << 64) if len(name) >= _LONG else -number


_LONG = len(f"{1 << 64}.manifest")


def _manifest(path: Path, boundary: Boundary) -> LanceTable:
    try:
        with boundary.open(path) as file:
            data = file.read(_LARGEST + 1)
    except OSError as error:
        raise ManifestError(f"{path.name}: {error.strerror or error}") from None
    if len(data) > _LARGEST or len(data) < 20 or data[-4:] != _MAGIC:
        raise ManifestError(f"{path.name} is not one")
    start = int.from_bytes(data[-16:-8], "little")
    length = int.from_bytes(data[start : start + 4], "little")
    message = data[start + 4 : start + 4 + length]
    if start + 4 + length > len(data) or len(message) != length:
        raise ManifestError(f"{path.name} is cut off")
    try:
        return _table(message)
    except (IndexError, UnicodeDecodeError):
        raise ManifestError(f"{path.name} is damaged") from None


def _table(message: bytes) -> LanceTable:
    table = LanceTable()
    for number, value in _fields(message):
        if number == 1 and isinstance(value, bytes):
            kind = dict(_fields(value)).get(5, b"")
            match = _VECTOR.fullmatch(kind.decode() if isinstance(kind, bytes) else "")
            table.length = table.length or (int(match[1]) if match else 0)
        elif number == 2 and isinstance(value, bytes):
            _add_fragment(table, value)
        elif number == 3 and isinstance(value, int):
            table.version = value
    return table


def _add_fragment(table: LanceTable, message: bytes) -> None:
    for number, value in _fields(message):
        if number == 2 and isinstance(value, bytes):
            name = dict(_fields(value)).get(1, b"")
            table.files.append(name.decode() if isinstance(name, bytes) else "")
        elif number == 3 and isinstance(value, bytes):
            deleted = dict(_fields(value)).get(4, 0)
            table.rows -= deleted if isinstance(deleted, int) else 0
        elif number == 4 and isinstance(value, int):
            table.rows += value


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protocol buffer: number and value. Raises `IndexError` where it is damaged."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        kind = key & 7
        if kind == 0:
            value, place = _varint(message, place)
            yield key >> 3, value
            continue
        length = {1: 8, 5: 4}.get(kind, -1)
        if kind == 2:
            length, place = _varint(message, place)
        if length < 0 or place + length > len(message):
            raise IndexError
        yield key >> 3, message[place : place + length]
        place += length


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if not byte & 0x80:
            return value, place
    raise IndexError
