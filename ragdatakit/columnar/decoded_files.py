"""Records of files as Arrow batches whose decoding is proved, for tables of a database that SQL then makes of them.

Blocks of JSON lines are decoded as validation decodes them: whole blocks in the declared types, or not at all. Where
one of them is not proved, `Unproved` is raised, and the rows of the reader are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import orjson

from ragdatakit.files.containers.arrays import ArraySource
from ragdatakit.files.containers.element_scans import Element
from ragdatakit.files.containers.sources import Block, Source
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas.declarations import Record

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ragdatakit.columnar.blocks import ColumnBlock

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes of it that were read, and its size."""
_AHEAD = 4  # blocks that are held, decoded in a thread while SQL takes the one before


class Unproved(Exception):
    """SQL cannot take a table from its files as it is meant; the rows of the reader will."""


def line_blocks(file: DataFile, record: Record, progress: Progress | None = None) -> Iterator[ColumnBlock]:
    """The columns of a file of JSON lines, block by block, decoded ahead in a thread.

    Raises `Unproved`. When the last block was taken, ``file`` has the number of its records and bytes.
    """
    for block, _ in line_blocks_and_bytes(file, record, progress):
        yield block


def line_blocks_and_bytes(
    file: DataFile, record: Record, progress: Progress | None = None
) -> Iterator[tuple[ColumnBlock, bytes]]:
    """The same, each block with the lines that it was decoded from."""
    from ragdatakit.columnar.blocks import ColumnarDecoder

    decoder = ColumnarDecoder(record)
    source = _source(file)
    waiting: list[tuple[Future[ColumnBlock | None], bytes]] = []

    def decode(block: Block) -> ColumnBlock | None:
        return None if block.skipped else decoder.decode(block.data)

    count = 0
    with ThreadPoolExecutor(1) as pool:
        try:
            for block in chain(source.blocks(), repeat(None)):
                if block is not None:
                    waiting.append((pool.submit(decode, block), block.data))
                    if len(waiting) < _AHEAD:
                        continue
                if not waiting:
                    break
                decoded, data = waiting.pop(0)
                found = _proved(decoded)
                count += found.length
                yield found, data
                _tell(progress, file, source)
        finally:
            for future, _ in waiting:
                future.cancel()
    if source.faults:
        raise Unproved
    file.records, file.bytes = count, source.bytes_read


def element_values(file: DataFile, progress: Progress | None = None) -> Iterator[list[Any]]:
    """The elements of a JSON array, part by part; the same is raised, and told of the file.

    Numbers, and names that appear twice, are read in ways of their own in parts that were not proved; texts are not.
    """
    elements = ArraySource(_source(file))
    count = 0
    for part in elements.parts():
        values = part.values if part.proved else [_value(element) for element in part.elements()]
        if type(values) is not list:
            raise Unproved
        count += len(values)
        yield values
        _tell(progress, file, elements.source)
    if elements.top not in ("array", "empty") or not elements.whole or elements.source.faults:
        raise Unproved
    file.records, file.bytes = count, elements.source.bytes_read


@contextmanager
def incoming(
    connection: duckdb.DuckDBPyConnection, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]
) -> Iterator[None]:
    """Batches as a relation that a query may read once. What stops them is raised, not what DuckDB makes of it."""
    import duckdb
    import pyarrow as pa

    raised: list[BaseException] = []

    def watched() -> Iterator[pa.RecordBatch]:
        try:
            yield from batches
        except BaseException as error:
            raised.append(error)
            raise

    connection.register(name, pa.RecordBatchReader.from_batches(schema, watched()))
    threads = connection.execute("select current_setting('threads')").fetchall()[0][0]
    connection.execute("set threads = 1")  # more of them only wait for the batches: measured, twice the time
    try:
        yield
    except duckdb.Error:
        if raised:
            raise raised[0] from None
        raise
    finally:
        connection.execute(f"set threads = {threads}")
        connection.unregister(name)


def _value(element: Element) -> Any:
    if element.error:
        raise Unproved
    try:
        return orjson.loads(element.raw)
    except ValueError:
        raise Unproved from None


def _proved(decoded: Future[Any]) -> ColumnBlock:
    block: ColumnBlock | None = decoded.result()
    if block is None:
        raise Unproved
    return block


def _source(file: DataFile) -> Source:
    return Source(file.path, file.path.name.lower().endswith(".gz"), boundary=file.boundary)


def _tell(progress: Progress | None, file: DataFile, source: Source) -> None:
    if progress is not None:
        progress(file.display, source.progress, source.size)
