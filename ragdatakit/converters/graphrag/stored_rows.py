"""Writes the tables of a GraphRAG index as Parquet, a batch of rows at a time, with the types that GraphRAG writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ragdatakit.converters.graphrag.entities import sound_text
from ragdatakit.files.containers.arrow_library import arrow_library, parquet_library
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.parquet_files import ParquetSink
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.graphrag.tables import Column, Table

_ROWS = 4096
"""Rows that are written together."""
_FINDING = ("explanation", "summary")


@contextmanager
def table_file(out: Output, table: Table, generation: str) -> Iterator[TableWriter]:
    """The file of a table, with the columns of a generation."""
    with out.lines(f"{table.name}.parquet") as file:
        writer = TableWriter(file, out, table, generation)
        yield writer
        writer.close()


class TableWriter:
    """One table; `write` takes rows by column, and a column that a row has not is null."""

    def __init__(self, file: LineWriter, out: Output, table: Table, generation: str) -> None:
        pa, pq = arrow_library(), parquet_library()
        self._pa, self._out, self._kind = pa, out, table.kind
        columns = (column for column in table.columns if column.is_of(generation))
        self._columns = [column for column in columns if not column.name.endswith("_embedding")]
        fields = [pa.field(column.name, _type(pa, column)) for column in self._columns]
        self._schema = pa.schema(fields)
        self._file = file
        self._writer = pq.ParquetWriter(pa.PythonFile(ParquetSink(file), mode="w"), self._schema)
        self._held: list[dict[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        """A row."""
        self._held.append({column.name: self._typed(row.get(column.name), column) for column in self._columns})
        self._file.records += 1
        if len(self._held) >= _ROWS:
            self._put()

    def close(self) -> None:
        """Write what is held, and the end of the file."""
        self._put()
        self._writer.close()

    def _put(self) -> None:
        if self._held:
            self._writer.write_table(self._pa.Table.from_pylist(self._held, self._schema))
            self._held = []

    def _typed(self, value: Any, column: Column) -> Any:
        """A value as its column has it; null for what it cannot hold, and nothing for what must not be null."""
        kind = column.type
        if kind in ("texts", "integers", "findings"):
            members = value if isinstance(value, list | tuple) else ()
            if kind == "integers":
                return [n for each in members if (n := _integer(each)) is not None]
            if kind == "texts":
                return [self._text(each) for each in members if each is not None]
            return [{name: self._text(each.get(name)) for name in _FINDING} for each in members]
        if kind == "integer":
            found = _integer(value)
            return found if found is not None or column.nullable else 0
        if kind == "number":
            return float(value) if isinstance(value, int | float) else None
        return self._text(value)

    def _text(self, value: Any) -> str | None:
        """A text without halves of characters, which Parquet cannot hold."""
        if value is None:
            return None
        text = value if isinstance(value, str) else str(value)
        sound = sound_text(text)
        if sound != text:
            why = "halves of characters cannot be written: they are question marks now"
            self._out.losses.add("coerced", self._kind, None, why, sound[:60])
        return sound


def _integer(value: Any) -> int | None:
    """A number of 64 bits; also one that is written as text, or with a point."""
    try:
        found = int(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and -(1 << 63) <= found < 1 << 63 else None


def _type(pa: Any, column: Column) -> Any:
    finding = pa.struct([(name, pa.string()) for name in _FINDING])
    types = {
        "text": pa.string(),
        "any": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "texts": pa.list_(pa.string()),
        "integers": pa.list_(pa.int64()),
        "findings": pa.list_(finding),
    }
    return types[column.type]
