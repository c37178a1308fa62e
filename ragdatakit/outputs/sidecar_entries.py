"""The form of a sidecar's file: its first line, its entries; read without trust, as somebody may have edited it.

The first line says how the table was compared. Then come the rows of the output that the source does not have
(``gone``, a digest of the row), and the rows of the source, in their order, that differ: the key of the row of the
output, and the values in which it differs, or all of a row that the output does not have (``whole``). ``was`` has
digests of the output's values: a value that is no longer the one that was compared is the user's, and stays. Where rows
have changed places (``ordered``), all rows of the source are listed. A table that the source did not have at all is a
first line only, with a digest of what the target made (``made``).
"""

from __future__ import annotations

import base64
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import field
from functools import cache
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, get_type_hints

import msgspec

from ragdatakit.files.paths.boundary import read_listed
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.errors import RagdataError

_VERSION = 1
_MOST_HEAD = 1 << 12
_MOST_LINE = 1 << 28
_PASSAGES = {"documents", "chunks"}
_JSON_OBJECTS = ("metadata", "attributes", "record")
_DAMAGES = (
    OSError,
    EOFError,
    zlib.error,
    ValueError,
    KeyError,
    TypeError,
    RecursionError,
    OverflowError,
    msgspec.MsgspecError,
)
_OBJECT = msgspec.json.Decoder(dict[str, msgspec.Raw])


class Head(msgspec.Struct, forbid_unknown_fields=True):
    """How a table was compared: the format of its source, the table of the output that it was compared with (``from``),
    whether rows have changed places, and what the target made where the source had no such table."""

    version: int
    format: str
    table: str
    other: str = msgspec.field(name="from")
    ordered: bool
    made: str = ""

    def encoded(self) -> bytes:
        """Its line."""
        return msgspec.json.encode(self) + b"\n"


@dataclass(slots=True)
class Entry:
    """A row of the source, ``row`` its 0-based place: the row of the output it is, and the values that differ.

    ``key`` are the values of the output's key columns, and how many rows of the same were before it; ``was`` has
    digests of the output's values (none where it had nothing). ``whole``: the output has no such row; ``gone``: the
    output has a row, with this digest, that the source has not.
    """

    row: int
    key: tuple[Any, ...] = ()
    values: dict[str, Any] = field(default_factory=dict)
    was: dict[str, str] = field(default_factory=dict)
    whole: bool = False
    gone: str = ""

    @property
    def key_bytes(self) -> bytes:
        """The key as a digest, as rows have it."""
        digest = key_bytes(list(self.key[:-1]))
        return digest + self.key[-1].to_bytes(8, "big") if self.key[-1] else digest

    @property
    def shown(self) -> str:
        """The key, for people."""
        return " ".join(str(value) for value in self.key[:-1] if value is not None) or f"row {self.row + 1}"

    def encoded(self, table: str) -> bytes:
        """Its line. Raises `RagdataError` where it would be too long to be read again."""
        stored: dict[str, Any] = {"gone": self.gone} if self.gone else {"row": self.row}
        if self.whole:
            stored["whole"] = True
        else:
            stored["key"] = self.key
        if self.values:
            stored["values"] = self.values
        if self.was:
            stored["was"] = self.was
        line = encode(stored) + b"\n"
        if len(line) > _MOST_LINE:
            raise RagdataError(f"{table}, row {self.row + 1}: larger than a sidecar can keep ({_MOST_LINE:,} bytes)")
        return line


class _StoredEntry(msgspec.Struct, forbid_unknown_fields=True):
    """An entry as it is in the file."""

    row: int = -1
    key: list[str | int | None] | None = None
    values: dict[str, Any] = {}
    was: dict[str, str] = {}
    whole: bool = False
    gone: str = ""


def _as_base64(value: object) -> object:
    if isinstance(value, Path):
        value = read_listed(value)
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"no JSON form of {type(value).__name__}")


_encode = json.JSONEncoder(separators=(",", ":"), default=_as_base64).encode


def encode(value: Any) -> bytes:
    """A value as JSON, the same on every machine; lone surrogates and NaN are possible."""
    return _encode(value).encode()


def key_bytes(values: list[Any]) -> bytes:
    """A digest of a row's key; 16 bytes, whatever its texts are."""
    return blake2b(encode(values), digest_size=16).digest()


def short_digest(value: Any) -> str:
    """A digest of a value, by which it is known again."""
    return blake2b(encode(value), digest_size=8).hexdigest()


def read_head(path: Path, table: str) -> Head:
    """The first line of a table's file. Raises `RagdataError` where it is none."""
    try:
        with gzip.open(path, "rb") as file:
            head = msgspec.json.decode(file.readline(_MOST_HEAD), type=Head)
    except _DAMAGES as error:
        raise _damaged(path, error) from None
    if head.version != _VERSION or head.table != table or not re.fullmatch("[a-z][a-z0-9-]*", head.format):
        raise RagdataError(f"{path} is damaged: its first line is not known")
    if head.other != table and {table, head.other} != _PASSAGES:
        raise RagdataError(f"{path} is damaged: its first line names another table")
    return head


def entries(path: Path, table: str) -> Iterator[Entry]:
    """The entries of a table's file, checked. Raises `RagdataError` for one that cannot be."""
    file: Any = None
    number = 1
    try:
        file = gzip.open(path, "rb")  # noqa: SIM115  # closed below, whoever stops reading
        file.readline(_MOST_HEAD)
        while line := file.readline(_MOST_LINE + 1):
            number += 1
            if len(line) > _MOST_LINE:
                raise ValueError("a line is too long")
            entry = _decoded(line, table)
            yield entry
    except _DAMAGES as error:
        raise _damaged(path, error, number) from None
    finally:
        if file is not None:
            file.close()


def _damaged(path: Path, error: BaseException, line: int = 1) -> RagdataError:
    reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error) or type(error).__name__
    return RagdataError(f"{path} is damaged: line {line}: {reason[:200]}")


def _decoded(line: bytes, table: str) -> Entry:
    stored = msgspec.convert(json.loads(line), _StoredEntry)
    keys = TABLES[table].key
    key = tuple(stored.key) if stored.key is not None else ()
    if stored.whole:
        if stored.key is not None or stored.gone:
            raise ValueError("an entry of a whole row has a key")
    elif len(key) != len(keys) + 1 or type(key[-1]) is not int or not 0 <= key[-1] < 1 << 62:
        raise ValueError("an entry has no key of this table")
    values = {name: _typed(table, name, value) for name, value in stored.values.items()}
    if stored.whole:
        row = TABLES[table].row
        for name in row._fields:
            if name not in values and name not in row._field_defaults:
                raise ValueError(f"a whole row has no {name}")
    return Entry(stored.row, key, values, stored.was, stored.whole, stored.gone)


@cache
def _types(table: str) -> dict[str, Any]:
    return get_type_hints(TABLES[table].row)


def _typed(table: str, name: str, value: Any) -> Any:
    """A value as it is in rows; raises `ValueError` for one that no reader gives."""
    types = _types(table)
    if name not in types:
        raise ValueError(f"{table} has no column {name!r}")
    if table == "assets" and name == "content":
        return base64.b64decode(msgspec.convert(value, dict[str, str])["base64"], validate=True)
    found = msgspec.convert(value, types[name])
    if table == "assets" and name == "path":
        if "\0" in found or PurePosixPath(found).is_absolute() or ".." in PurePosixPath(found).parts:
            raise ValueError(f"no path below a folder: {found!r}")
    elif isinstance(found, str):
        found.encode()  # a lone surrogate could not be written
        if name in _JSON_OBJECTS:
            _OBJECT.decode(found)
    elif isinstance(found, tuple):
        "".join(found).encode()
    return found
