"""Rows of a Parquet file as the text that the same records have in lines: so every reader of lines reads them.

A row becomes a line of JSON, or a line of cells between tabs below a header, where a kind is declared as such. Memory
holds a part of a row group. Integers in a column that is to be text become text, and floats that are whole numbers
integers in cells, as loaders cast them (`datasets` with the features of MTEB and BEIR).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import orjson

from ragdatakit.files.containers.arrow_library import arrow_library
from ragdatakit.files.containers.parquet_tables import opened_by_arrow
from ragdatakit.files.paths.boundary import Boundary
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
        """The lines, some thousand at a time. Raises `RagdataError` where the file cannot be read, or without
        pyarrow."""
        with opened_by_arrow(self.path, self.boundary, 1 << 20) as parquet:
            rows = 0
            for number in range(parquet.metadata.num_row_groups):
                self.groups.append(rows)
                rows += parquet.metadata.row_group(number).num_rows
            names = parquet.schema_arrow.names
            if len(set(names)) < len(names):
                repeated = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"the column {repeated!r} appears twice")
            if self.cells:
                yield [_cells_line(self.cells)]
            wanted = [name for name in self.cells if name in names] if self.cells else None
            for batch in parquet.iter_batches(_ROWS, columns=wanted, use_threads=False):
                yield list(self._lines(batch))

    def _lines(self, batch: Any) -> Iterator[bytes]:
        names = batch.schema.names
        columns = [_values(column) for column in batch.columns]
        if self.cells:
            by_name = dict(zip(names, columns, strict=True))
            nothing = [None] * batch.num_rows
            for row in zip(*(by_name.get(name, nothing) for name in self.cells), strict=True):
                yield _cells_line([_cell(value) for value in row])
            return
        for name, values in zip(names, columns, strict=True):
            if name in self.texts:
                values[:] = [str(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in values]
        for row in zip(*columns, strict=True):
            yield _json_line(dict(zip(names, row, strict=True)))


def _values(column: Any) -> list[Any]:
    """The values of a column as Python has them; JSON as what it stands for, bytes as text."""
    pa = arrow_library()
    kind = column.type
    if isinstance(kind, pa.JsonType):
        return [None if text is None else _parsed(text) for text in column.storage.to_pylist()]
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # the text is not UTF-8: the line is not, either, which readers of lines report
        return [
            None if v is None else v.decode("utf-8", "surrogateescape") for v in column.cast(pa.binary()).to_pylist()
        ]


def _parsed(text: str) -> Any:
    try:
        return orjson.Fragment(text.encode()) if orjson.loads(text) is not None else None
    except ValueError:
        return text


def _json_line(row: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(row, default=_other, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_NON_STR_KEYS)
    except TypeError:  # integers of more than 64 bits, text that is not UTF-8
        text = json.dumps(row, ensure_ascii=False, default=_other, separators=(",", ":"))
        return text.encode("utf-8", "surrogateescape") + b"\n"


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
    return "\t".join(quoted).replace("\n", " ").replace("\r", " ").encode("utf-8", "surrogateescape") + b"\n"
