"""What pandas notes of a frame in the footer of a Parquet file: pyarrow, through which GraphRAG reads its tables, stops
where that is damaged; DuckDB does not look at it."""

from __future__ import annotations

import json
from binascii import Error, a2b_base64
from os import SEEK_END
from pathlib import Path
from typing import Any

from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.schemas.errors import RagdataError

_MOST = 16 << 20
"""Bytes of a footer that are looked at."""
_NEEDED = ("pandas_type", "numpy_type")


def metadata_damage(path: Path, boundary: Boundary) -> str:
    """Why pyarrow does not make a frame of a file; empty where nothing is seen. Raises `OSError`."""
    footer = _footer(path, boundary)
    if not _damage(_value(footer, b"ARROW:schema"), _value(footer, b"pandas")):
        return ""
    try:  # where more is damaged, a reader may not come upon them
        with opened_parquet(path, boundary) as parquet:
            noted = parquet.notes()
    except RagdataError:  # which is found where its rows are read
        return ""
    return _damage(noted.get(b"ARROW:schema"), noted.get(b"pandas"))


def _damage(schema: bytes | None, pandas: bytes | None) -> str:
    if schema is None:
        return _frame_damage(pandas) if pandas is not None else ""
    try:
        message = a2b_base64(schema, strict_mode=True)
    except Error:
        return "what its footer notes of Arrow's columns (ARROW:schema) is no base64; pandas.read_parquet stops"
    if pandas is None or pandas in message:
        return ""
    # pyarrow goes by the copy within the schema: a text with its length before it
    found = message.find(len(pandas).to_bytes(4, "little"))
    return _frame_damage(message[found + 4 : found + 4 + len(pandas)]) if found >= 0 else ""


def _footer(path: Path, boundary: Boundary) -> bytes:
    with boundary.open(path) as file:
        size = file.seek(0, SEEK_END)
        file.seek(max(size - 8, 0))
        length = int.from_bytes(file.read(4), "little")
        if not 0 < length <= min(size - 8, _MOST):
            return b""
        file.seek(size - 8 - length)
        return file.read(length)


def _value(footer: bytes, key: bytes) -> bytes | None:
    """The value of a key, as Thrift's compact protocol has the two: each a text with its length before it."""
    mark = b"\x18%c%b\x18" % (len(key), key)
    at = footer.rfind(mark)
    if at < 0:
        return None
    at, length, shift = at + len(mark), 0, 0
    for byte in footer[at : at + 5]:
        length |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            break
    return footer[at : at + length]


def _frame_damage(text: bytes) -> str:
    try:
        described = json.loads(text.decode())
    except (ValueError, RecursionError) as error:
        reason = "UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON"
        return f"what pandas noted in its footer is not {reason}; pandas.read_parquet stops with {type(error).__name__}"
    if _is_frame(described):
        return ""
    return "what pandas noted in its footer does not describe a frame; pandas.read_parquet stops with KeyError"


def _is_frame(described: Any) -> bool:
    if not isinstance(described, dict) or not isinstance(described.get("index_columns"), list):
        return False
    columns, indexes = described.get("columns"), described.get("column_indexes", [])
    if not isinstance(columns, list) or not isinstance(indexes, list):
        return False
    named = all(isinstance(one, dict) and all(name in one for name in _NEEDED) for one in columns)
    return named and all(isinstance(one, dict) for one in indexes)
