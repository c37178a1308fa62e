"""Rows of a Parquet file as the text that the same records have in lines: so every reader of lines reads them.

A row becomes a line of JSON, or a line of cells between tabs below a header, where a kind is declared as such. Memory
holds a part of a row group. Integers in a column that is to be text become text, and floats that are whole numbers
integers in cells, as loaders cast them (`datasets` with the features of retrieval sets).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from ragdatakit.files.containers.parquet_tables import opened_parquet
from ragdatakit.files.paths.boundary import Boundary
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.schemas.declarations import File

_ROWS = 2048
_NUMBERED = re.compile(r"(.+?)-\d+-of-\d+")


def is_parquet(path: Path) -> bool:
    """Whether a file is Parquet by its name."""
    return path.name[-8:].lower() == ".parquet"


def parquet_columns(kind: File) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ``cells`` and ``texts`` of a kind: a file of columns has cells; the id that others refer to is text."""
    names = tuple(f.name for f in kind.record.fields) if kind.records else ()
    if kind.container == "columns":
        return names, ()
    return (), tuple(f.name for r in kind.records for f in r.fields if f.type == "string" and f.name == "_id")


def shard_split(name: str) -> str:
    """The split that a shard is of: ``test`` of test-00000-of-00002.parquet and, as the hub's Parquet branch has it, of
    test/0000.parquet."""
    path = PurePosixPath(name)
    if path.suffix.lower() != ".parquet":
        return name
    match = _NUMBERED.fullmatch(path.stem)
    return match.group(1) if match else path.parent.name if path.stem.isdigit() else path.stem


@dataclass(slots=True)
class ParquetRows:
    """``cells`` are the columns that become cells (none: a row is JSON), ``texts`` those whose integers become text.
    ``groups`` are the numbers of the first rows of the row groups, once `pieces` has begun."""

    path: Path
    boundary: Boundary
    cells: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    groups: list[int] = field(default_factory=list)

    def pieces(self) -> Iterator[list[bytes]]:
        """The lines, some thousand at a time. Raises `RagdataError` where the file cannot be read."""
        with opened_parquet(self.path, self.boundary) as parquet:
            self.groups += accumulate(parquet.group_rows()[:-1], initial=0)
            names = [name for name in self.cells if name in parquet.columns] if self.cells else [*parquet.columns]
            if self.cells:
                yield [_cells_line(self.cells)]
            columns = [sql_name(name) for name in names] or ["null"]
            for rows in parquet.chunks(columns, _ROWS):
                yield [*self._cells(names, rows)] if self.cells else [*self._objects(names, parquet.columns, rows)]

    def _cells(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[bytes]:
        places = [names.index(name) if name in names else None for name in self.cells]
        for row in rows:
            yield _cells_line(["" if place is None else _cell(row[place]) for place in places])

    def _objects(
        self, names: Sequence[str], types: Mapping[str, str], rows: Iterable[Sequence[Any]]
    ) -> Iterator[bytes]:
        casts: dict[int, Callable[[Any], Any]] = {n: _as_text for n, name in enumerate(names) if name in self.texts}
        casts |= {n: _parsed for n, name in enumerate(names) if types[name] == "JSON"}
        for row in rows:
            if casts:
                row = [casts[n](value) if n in casts else value for n, value in enumerate(row)]
            yield _json_line(dict(zip(names, row, strict=True)))


def _as_text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _parsed(text: Any) -> Any:
    """What JSON stands for."""
    if text is None:
        return None
    try:
        return orjson.Fragment(text.encode()) if orjson.loads(text) is not None else None
    except ValueError:
        return text


def _json_line(row: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, default=_other, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # integers of more than 64 bits
        text = json.dumps(row, ensure_ascii=False, default=_other, separators=(",", ":"))
        return text.encode() + b"\n"


def _other(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, orjson.Fragment):
        return orjson.loads(value.contents)
    return str(value)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and math.isfinite(value) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _cells_line(cells: Sequence[str]) -> bytes:
    quoted = ('"' + c.replace('"', '""') + '"' if "\t" in c or c.startswith('"') else c for c in cells)
    return "\t".join(quoted).replace("\n", " ").replace("\r", " ").encode() + b"\n"
