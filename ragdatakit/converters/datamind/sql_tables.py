"""The chunks and the graph of a DataMind profile by SQL, where the records have no fields but the declared ones."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.columnar.decoded_files import Progress, Unproved, line_blocks, line_blocks_and_bytes
from ragdatakit.converters.datamind.chunks import made_id
from ragdatakit.converters.sql_files import canonical_columns, fill, is_empty
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.schemas.datamind.format import DATAMIND

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from ragdatakit.columnar.blocks import ColumnBlock

_CHUNK = ("chunk_id", "text", "doc_id", "ordinal", "modality", "image_path", "image_description", "metadata")
_TRIPLE = {
    "subject": "source",
    "relation": "relation",
    "object": "target",
    "subject_type": "subject_type",
    "object_type": "object_type",
    "confidence": "confidence",
    "source": "provenance",
}
_PROPERTIES = ("subject_properties", "object_properties", "properties")
_OURS = ("arag_id", "source_id")
"""Keys of metadata that ragdata writes: an id, and more."""
_METADATA = re.compile(rb'"metadata"[ \t]*:[ \t]*(\{(?:[^"{}]++|"(?:[^"\\]++|\\.)*+")*+\})')
_WHITE = "".join(c for c in map(chr, range(0x3001)) if c.isspace())


def datamind_tables(dataset: Dataset, progress: Progress | None = None) -> dict[str, SqlTable]:
    """The chunks, the nodes and the edges, where the profile has files of them."""
    chunks, triplets = _Chunks(dataset, progress), _Triplets(dataset, progress)
    found = {"chunks": SqlTable("chunks", chunks.load)} if chunks.files else {}
    if triplets.files:
        found |= {"nodes": SqlTable("nodes", triplets.nodes), "edges": SqlTable("edges", triplets.edges)}
    return found


def _by_name(dataset: Dataset, kind: str) -> list[DataFile]:
    return sorted(dataset.of_kind(kind), key=lambda file: file.name)


class _Chunks:
    def __init__(self, dataset: Dataset, progress: Progress | None) -> None:
        self.files, self._progress = _by_name(dataset, "chunks"), progress
        self._ordinals: dict[str, int] = {}

    def load(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """All chunks, in the order of the files' names and of the lines."""
        import pyarrow as pa

        kinds = {"ordinal": pa.int64()}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in _CHUNK])
        query = f"select {canonical_columns('chunks', _CHUNK)} from {{}}"
        self._ordinals.clear()
        fill(connection, f'main."{table}"', self.files, query, schema, lambda file: self._batches(file, schema))
        return {}

    def _batches(self, file: DataFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.compute as pc

        record = DATAMIND.file("chunks").record
        for block, data in line_blocks_and_bytes(file, record, self._progress):
            _refuse_others(block, [field.name for field in record.fields])
            texts = _texts(block, "text")
            metadata, told = _metadata(block, data)
            if pc.min(pc.binary_length(texts)).as_py() == 0 or any(key in told for key in _OURS):
                raise Unproved
            sources = _texts(block, "source").to_pylist()
            documents = self._documents(file, sources, told.get("source"))
            columns = [
                _ids(block, file, sources, texts),
                texts,
                pa.array(documents, pa.string()),
                pa.array(list(self._numbered(documents)), pa.int64()),
                *(_texts(block, name) for name in ("modality", "image_path", "image_description")),
                metadata,
            ]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    @staticmethod
    def _documents(file: DataFile, sources: list[str | None], told: pa.Array | None) -> list[str | None]:
        """What each chunk is of: its source, or that of the metadata; none where that is the file itself."""
        import pyarrow as pa

        own = (PurePosixPath(file.name).name, PurePosixPath(file.name).stem)
        others: list[str | None] = [None] * len(sources)
        if told is not None and pa.types.is_timestamp(told.type):  # a text that Arrow takes for a time
            raise Unproved
        if told is not None and pa.types.is_string(told.type):
            others = told.to_pylist()
        found = (source or other or None for source, other in zip(sources, others, strict=True))
        return [None if document in own else document for document in found]

    def _numbered(self, documents: list[str | None]) -> Iterator[int | None]:
        """The place of each chunk in its document."""
        ordinals = self._ordinals
        for document in documents:
            if document is None:
                yield None
            else:
                ordinals[document] = number = ordinals.get(document, -1) + 1
                yield number


def _refuse_others(block: ColumnBlock, names: list[str]) -> None:
    """Raise `Unproved` where there are columns of other names, which become metadata or attributes."""
    if block.table is None or not set(block.table.column_names) <= set(names):
        raise Unproved


def _texts(block: ColumnBlock, name: str) -> pa.Array:
    """A column of texts; nulls where there is none. Raises `Unproved` where its values are others."""
    import pyarrow as pa

    column = _column(block, name)
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(block.length, pa.string())
    if not pa.types.is_string(column.type):
        raise Unproved
    return column


def _column(block: ColumnBlock, name: str) -> Any:
    table = block.table
    return table.column(name).combine_chunks() if table is not None and name in table.column_names else None


def _ids(block: ColumnBlock, file: DataFile, sources: list[str | None], texts: pa.Array) -> pa.Array:
    import pyarrow as pa

    column = _column(block, "id")
    if column is not None and not (pa.types.is_string(column.type) or pa.types.is_integer(column.type)):
        if not pa.types.is_null(column.type):
            raise Unproved
        column = None
    given = column.to_pylist() if column is not None else [None] * block.length
    if all(given):
        return column.cast(pa.string())
    name = PurePosixPath(file.name).name
    return pa.array(
        [
            str(one) if one else made_id(source or name, text)
            for one, source, text in zip(given, sources, texts.to_pylist(), strict=True)
        ],
        pa.string(),
    )


def _metadata(block: ColumnBlock, data: bytes) -> tuple[pa.Array, dict[str, pa.Array]]:
    """The objects as they stand in the lines, without white space between their parts; and their fields as columns.

    They are found by their name. It can be that of nothing else, as no other value is an object, and these have none
    in them.
    """
    import numpy as np
    import pyarrow as pa

    column = _column(block, "metadata")
    if column is None or pa.types.is_null(column.type):
        return pa.nulls(block.length, pa.string()), {}
    fields = {field.name: column.field(place) for place, field in enumerate(column.type)}
    if any(pa.types.is_nested(field.type) for field in fields.values()):
        raise Unproved
    found = [(match.start(), match[1]) for match in _METADATA.finditer(data)]
    rows = np.searchsorted(block.ends, [start for start, _ in found])
    if not np.array_equal(rows, np.flatnonzero(np.asarray(column.is_valid()))):
        raise Unproved
    texts: list[str | None] = [None] * block.length
    for row, (_, raw) in zip(rows.tolist(), found, strict=True):
        compact = msgspec.json.format(raw, indent=-1)
        if b"\\" in compact:  # names may be written in another way
            raise Unproved
        texts[row] = compact.decode() if compact != b"{}" else None
    return pa.array(texts, pa.string()), fields


class _Triplets:
    """The triples of a profile, which stay in a table of their own until nodes and edges are made of them."""

    def __init__(self, dataset: Dataset, progress: Progress | None) -> None:
        self.files, self._progress = _by_name(dataset, "triplets"), progress
        self._wanted = {"nodes", "edges"}
        self._state = "unread"

    def nodes(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """Each entity once, with the type that it has where it comes first."""
        self._read(connection)
        mentions = " union all ".join(
            f"select {end} as name, {kind} as type, 2 * rowid + {place} as place from temp.triples"
            for place, (end, kind) in enumerate((("source", "subject_type"), ("target", "object_type")))
        )
        first = f"select name, arg_min_null(type, place) as type from ({mentions}) group by name order by min(place)"
        connection.execute(
            f'create table main."{table}" as select {canonical_columns("nodes", ("name", "type"))} from ({first})'
        )
        self._done(connection, "nodes")
        return {}

    def edges(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The triples, in the order of the files' names and of the lines."""
        self._read(connection)
        given = ("source", "relation", "target", "confidence", "provenance")
        columns = canonical_columns("edges", given)
        connection.execute(
            f'create table main."{table}" as select {columns} '
            "from (select * replace (nullif(provenance, '') as provenance) from temp.triples)"
        )
        self._done(connection, "edges")
        return {}

    def _read(self, connection: duckdb.DuckDBPyConnection) -> None:
        import pyarrow as pa

        if self._state == "unproved":
            raise Unproved
        if self._state == "read":
            return
        self._state = "unproved"
        connection.execute("drop table if exists temp.triples")
        kinds = {"confidence": pa.float64()}
        schema = pa.schema([(name, kinds.get(name, pa.string())) for name in _TRIPLE.values()])
        try:
            fill(connection, "temp.triples", self.files, "select * from {}", schema, lambda f: self._batches(f, schema))
        except BaseException:
            connection.execute("drop table if exists temp.triples")
            raise
        self._state = "read"

    def _done(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        self._wanted.discard(table)
        if not self._wanted:
            connection.execute("drop table temp.triples")
            self._wanted, self._state = {"nodes", "edges"}, "unread"

    def _batches(self, file: DataFile, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for block in line_blocks(file, DATAMIND.file("triplets").record, self._progress):
            _refuse_others(block, [*_TRIPLE, *_PROPERTIES])
            for name in _PROPERTIES:
                column = _column(block, name)
                if column is not None and not is_empty(column.type):
                    raise Unproved
            for name in ("subject", "relation", "object"):
                _refuse_white(_texts(block, name))
            confidence = _column(block, "confidence")
            if confidence is None or pa.types.is_null(confidence.type):
                confidence = pa.nulls(block.length, pa.float64())
            columns = [confidence if name == "confidence" else _texts(block, name) for name in _TRIPLE]
            yield pa.RecordBatch.from_arrays(columns, schema=schema)


def _refuse_white(names: pa.Array) -> None:
    """Raise `Unproved` where a name has white space around it, which the reader reports."""
    import pyarrow.compute as pc

    stripped = pc.utf8_trim(names, characters=_WHITE)
    if not pc.all(pc.equal(stripped, names)).as_py():
        raise Unproved
