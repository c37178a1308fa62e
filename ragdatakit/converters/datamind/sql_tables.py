"""The chunks of a DataMind profile from the scanner, and its graph by SQL: triples are read once, and DuckDB says what
distinct nodes they name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from ragdatakit.converters.datamind.graph import Triple, properties_of, triple_of, triples
from ragdatakit.converters.sql_files import fill, scanned_table
from ragdatakit.database.columns import Kind, PackedColumn, packed
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.row_batches import canonical_columns
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import Raw
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.declarations import Field, Record

if TYPE_CHECKING:
    import duckdb

_SCHEMA = {name: Kind.NUMBER if name == "confidence" else Kind.TEXT for name in Triple._fields}
_OF_NODES = ("source_type", "target_type", "source_attributes", "target_attributes")
_LINES = 'main."lines of triples"'
_AT_ONCE = 1 << 13
_NAMES = ("subject", "relation", "object")
_NODE_TYPES = ("subject_type", "object_type")
_OBJECTS = ("subject_properties", "object_properties", "properties")
_SHAPE = Record(
    name="triple",
    title="A triple",
    description="As most sets have it.",
    fields=(
        *(Field(f"{name}: string") for name in _NAMES),
        *(Field(f"{name}?: string | null") for name in (*_NODE_TYPES, "source")),
        *(Field(f"{name}?: object | null") for name in _OBJECTS),
        Field("confidence?: number | null"),
    ),
    extra="forbid",
)


def datamind_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The chunks, the nodes and the edges, where the profile has files of them."""
    chunks = sorted(dataset.of_kind("chunks"), key=lambda file: file.name)
    found = {"chunks": scanned_table("chunks", partial(_chunk_batches, chunks, records))} if chunks else {}
    triplets = _Triplets(sorted(dataset.of_kind("triplets"), key=lambda file: file.name), records)
    if not triplets.files:
        return found
    return found | {"nodes": SqlTable("nodes", triplets.nodes), "edges": SqlTable("edges", triplets.edges)}


def _chunk_batches(files: list[DataFile], records: RecordReader, facts: TextFacts) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.datamind.chunk_columns import chunk_batches  # needs numpy

    yield from chunk_batches(files, records, facts)


class _Triplets:
    """The triples of a profile, which stay in a table of their own until nodes and edges are made of them."""

    def __init__(self, files: list[DataFile], records: RecordReader) -> None:
        self.files, self._records = files, records
        self._wanted = {"nodes", "edges"}
        self._is_read = False

    def nodes(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """Each entity once, with the type that it has where it comes first."""
        self._read(connection)
        mentions = " union all ".join(
            f"select {end} as name, 2 * rowid + {place} as place from {_LINES}"
            for place, end in enumerate(("source", "target"))
        )
        said = (
            f"case when place % 2 = 0 then source_{what} else target_{what} end as {what}"
            for what in ("type", "attributes")
        )
        first = (
            f"select name, {', '.join(said)}, place "
            f"from (select name, min(place) as place from ({mentions}) group by name) "
            f"join {_LINES} lines on lines.rowid = place // 2"
        )
        columns = canonical_columns("nodes", ("name", "type", "attributes"))
        connection.execute(f'create table main."{table}" as select {columns} from ({first}) order by place')
        self._done(connection, "nodes")
        return {}

    def edges(self, connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, int]:
        """The triples, in the order of the files' names and of the lines."""
        self._read(connection)
        if self._wanted == {"edges"}:  # the nodes are there, so that nobody wants the other columns
            for name in _OF_NODES:
                connection.execute(f"alter table {_LINES} drop column {name}")
            connection.execute(f'alter table {_LINES} rename to "{table}"')
        else:
            connection.execute(
                f'create table main."{table}" as select {", ".join(TABLES["edges"].columns)} from {_LINES}'
            )
        self._done(connection, "edges")
        return {}

    def _read(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not self._is_read:
            connection.execute(f"drop table if exists {_LINES}")
            columns = ", ".join((*TABLES["edges"].columns, *_OF_NODES))
            fill(connection, _LINES, self.files, f"select {columns} from {{}}", _SCHEMA, self._batches)
            self._is_read = True

    def _done(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        self._wanted.discard(table)
        if not self._wanted:
            connection.execute(f"drop table if exists {_LINES}")
            self._wanted, self._is_read = {"nodes", "edges"}, False

    def _batches(self, file: DataFile) -> Iterator[list[PackedColumn]]:
        if library() is None:
            yield from _in_batches(triples([file], self._records))
            return
        from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy
        from ragdatakit.scanner.predicates import OpenIfEdged

        columns = [
            *(KeptColumn(Kind.TEXT, name) for name in (*_NAMES, *_NODE_TYPES)),
            *(KeptColumn(Kind.TEXT, name, _members) for name in _OBJECTS),
            KeptColumn(Kind.NUMBER, "confidence"),
            KeptColumn(Kind.TEXT, "source", filled=True),
        ]
        reader = KeptColumns(_SHAPE, columns, _in_batches, map(OpenIfEdged, _NAMES))
        yield from reader.batches(file, self._records, partial(triple_of, self._records, file))


def _members(raw: bytes | None) -> str | None:
    return None if raw is None or raw == b"{}" else properties_of(Raw(raw))


def _in_batches(rows: Iterator[Triple]) -> Iterator[list[PackedColumn]]:
    while some := list(islice(rows, _AT_ONCE)):
        columns = zip(*some, strict=True)
        yield [packed(kind, values) for kind, values in zip(_SCHEMA.values(), columns, strict=True)]
