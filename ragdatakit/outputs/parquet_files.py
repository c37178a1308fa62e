"""Parquet files of a conversion: rows by columns of declared types, in shards named as `datasets` names them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import IO, Any, Literal

from ragdatakit.files.containers.arrow_library import arrow_library, parquet_library
from ragdatakit.outputs.file_writers import FileWriter
from ragdatakit.outputs.written_files import Output

Holds = Literal["text", "integer", "texts", "integers", "json", "nothing", "empty"]
"""What a column holds, the plurals in lists; ``json`` is JSON text that Parquet knows to be JSON, ``nothing`` is null
and ``empty`` lists without items."""
Columns = Mapping[str, Holds]
"""The names of the columns and what they hold, which is more than nothing."""

MOST_BYTES = 256 << 20
"""Of a shard, about."""
_ROWS = 4096
_ROW_GROUP = 16 * _ROWS


class ParquetWriter(FileWriter):
    """One file."""

    def __init__(self, name: str, file: IO[bytes] | None, columns: Columns) -> None:
        super().__init__(name, file)
        pa, pq = arrow_library(), parquet_library()
        types = {
            "text": pa.string(),
            "integer": pa.int64(),
            "texts": pa.list_(pa.string()),
            "integers": pa.list_(pa.int64()),
            "json": pa.json_(pa.string()),
        }
        self._storage = pa.schema([(name, types[kind]) for name, kind in columns.items()])
        self._rows: list[Mapping[str, Any]] = []
        self._waiting: list[Any] = []
        self._parquet = pq.ParquetWriter(pa.PythonFile(ParquetSink(self), mode="w"), self._storage, compression="zstd")

    def write(self, row: Mapping[str, Any]) -> None:
        """A row."""
        self._rows.append(row)
        self.records += 1
        if len(self._rows) >= _ROWS:
            self._take_rows()
            if len(self._waiting) * _ROWS >= _ROW_GROUP:
                self._write_group()

    def _take_rows(self) -> None:
        pa = arrow_library()
        columns = []
        for column in self._storage:
            values = [row.get(column.name) for row in self._rows]
            is_json = isinstance(column.type, pa.JsonType)
            array = pa.array(values, pa.string() if is_json else column.type)
            columns.append(pa.ExtensionArray.from_storage(column.type, array) if is_json else array)
        self._waiting.append(pa.RecordBatch.from_arrays(columns, schema=self._storage))
        self._rows = []

    def _write_group(self) -> None:
        pa = arrow_library()
        table = pa.Table.from_batches(self._waiting, schema=self._storage)
        self._parquet.write_table(table, row_group_size=_ROW_GROUP)
        self._waiting = []

    def close(self) -> None:
        """Write the last row group and the footer."""
        if self._rows:
            self._take_rows()
        if self._waiting:
            self._write_group()
        self._parquet.close()


class ParquetSink:
    """A file of the output, as pyarrow writes to one."""

    def __init__(self, writer: FileWriter) -> None:
        self._writer = writer
        self.closed = False
        self._position = 0

    def write(self, data: Any) -> int:
        piece = bytes(data)
        self._writer.put(piece)
        self._position += len(piece)
        return len(piece)

    def tell(self) -> int:
        return self._position

    def flush(self) -> None:
        """The writer flushes when it is due."""

    def close(self) -> None:
        self.closed = True


class ParquetShards:
    """Rows in one shard after the other."""

    def __init__(self, out: Output, stem: str, columns: Columns) -> None:
        self._out, self._stem, self._columns = out, stem, columns
        self._names: list[str] = []
        self._open = ExitStack()
        self._writer = self._next()

    def _next(self) -> ParquetWriter:
        self._open.close()
        name = f"{self._stem}-{len(self._names):05}.parquet"
        self._names.append(name)
        return self._open.enter_context(self._out.file(name, partial(ParquetWriter, columns=self._columns)))

    def write(self, row: Mapping[str, Any]) -> None:
        """A row."""
        if self._writer.bytes >= (self._out.shard_bytes or MOST_BYTES):
            self._writer = self._next()
        self._writer.write(row)

    def finish(self) -> None:
        """Close the last one, and name all by how many there are."""
        self._open.close()
        for number, name in enumerate(self._names):
            self._out.moved(name, f"{self._stem}-{number:05}-of-{len(self._names):05}.parquet")


@contextmanager
def parquet_shards(out: Output, stem: str, columns: Columns) -> Iterator[ParquetShards]:
    """Shards ``STEM-00000-of-00001.parquet`` and so on, finished with the block."""
    shards = ParquetShards(out, stem, columns)
    yield shards
    shards.finish()
