"""Writes the tables of a GraphRAG index as Parquet, a batch of rows at a time, with the types that GraphRAG writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ragdatakit.outputs.written_files import LineWriter, Output
from ragdatakit.schemas.graphrag.tables import Column, Table

_ROWS = 4096
"""Rows that are written together."""


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
        import pyarrow as pa
        import pyarrow.parquet as pq

        self._pa, self._out, self._kind = pa, out, table.kind
        self._columns = [column for column in table.columns if column.is_of(generation)]
        fields = [pa.field(column.name, _type(pa, column)) for column in self._columns]
        self._schema = pa.schema(fields)
        self._file = file
        self._writer = pq.ParquetWriter(pa.PythonFile(_Sink(file), mode="w"), self._schema)
        self._held: list[dict[str, Any]] = []

    def write(self, row: Mapping[str, Any]) -> None:
        """A row."""
        self._held.append({column.name: self._sound(row.get(column.name)) for column in self._columns})
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

    def _sound(self, value: Any) -> Any:
        """The value without halves of characters, which Parquet cannot hold."""
        if isinstance(value, str) and not value.isascii():
            try:
                value.encode()
            except UnicodeEncodeError:
                why = "halves of characters cannot be written: they are question marks now"
                self._out.losses.add("coerced", self._kind, None, why, value[:60])
                return value.encode("utf-8", "replace").decode()
        if isinstance(value, list | tuple):
            return [self._sound(each) for each in value]
        if isinstance(value, dict):
            return {name: self._sound(each) for name, each in value.items()}
        return value


class _Sink:
    """A file of the output, as pyarrow writes to one."""

    closed = False

    def __init__(self, file: LineWriter) -> None:
        self._file = file
        self._place = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._file.put(piece)
        self._place += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._place

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def writable(self) -> bool:
        return True

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False


def _type(pa: Any, column: Column) -> Any:
    finding = pa.struct([("explanation", pa.string()), ("summary", pa.string())])
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
