"""The chunks of a DataMind profile from the scanner, and its graph: triples are read once for nodes and edges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.converters.datamind.chunks import chunk_of
from ragdatakit.converters.datamind.graph import triple_of
from ragdatakit.converters.sql_files import fill, scanned_table
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import PackedColumn
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.edge_numbers import EdgeNumbers
from ragdatakit.database.edge_tables import EdgeTable, ManyTexts
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Chunk
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Look, Passages

_LINES = 'main."lines of triples"'


def datamind_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The chunks, the nodes and the edges, where the profile has files of them."""
    chunks = sorted(dataset.of_kind("chunks"), key=lambda file: file.name)
    batches = partial(_chunk_batches, chunks, records)
    found = {"chunks": scanned_table("chunks", batches, HeldRows("chunks"))} if chunks else {}
    triplets = _Triplets(sorted(dataset.of_kind("triplets"), key=lambda file: file.name), records)
    if not triplets.files:
        return found
    numbers = triplets.numbers
    return found | {
        "nodes": SqlTable("nodes", triplets.nodes, numbers=numbers, apart=triplets.held),
        "edges": SqlTable("edges", triplets.edges, numbers=numbers, apart=triplets.apart),
    }


def _chunk_batches(
    files: list[DataFile], records: RecordReader, facts: TextFacts, losses: Losses
) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.datamind.chunk_columns import chunk_batches  # needs numpy

    yield from chunk_batches(files, records, facts, losses)


def datamind_passages(
    dataset: Dataset, records: RecordReader, jobs: int, look: Look | None = None
) -> Iterator[Passages]:
    """The chunks, as far as they are texts, as `KeptTexts` gives them."""
    from ragdatakit.converters.datamind.chunk_columns import OPEN, SHAPE  # needs numpy
    from ragdatakit.converters.kept_texts import KeptTexts

    files, ordinals = sorted(dataset.of_kind("chunks"), key=lambda file: file.name), dict[str, int]()
    reader = KeptTexts(SHAPE, Chunk, {"id": "chunk_id", "text": "text", "image_path": "image_path"}, OPEN)
    for file in files:
        yield from reader.passages(
            file, records, jobs, partial(chunk_of, file, len(files) == 1, records, ordinals), look
        )


def datamind_edges(dataset: Dataset, records: RecordReader, jobs: int, *_: object) -> Iterator[Passages]:
    """The triples, of most the names of their ends only."""
    from ragdatakit.converters.datamind.triple_columns import ends_of_triples  # needs numpy

    reader = ends_of_triples()
    for file in sorted(dataset.of_kind("triplets"), key=lambda file: file.name):
        yield from reader.passages(file, records, jobs, partial(triple_of, records, file))


class _Triplets:
    """The triples of a profile, which are read when nodes or edges are asked for first. Where these may stay out of the
    database they are held, edges if they have little but names; else they are in a table of their own until they are
    asked for."""

    def __init__(self, files: list[DataFile], records: RecordReader) -> None:
        self.files, self._records = files, records
        self.numbers = EdgeNumbers()
        self.apart, self.held = EdgeTable(self.numbers), HeldRows("nodes")
        self._nodes: list[Sequence[PackedColumn]] = []
        self._waiting = set[str]()

    def nodes(self, connect: Connect, table: str) -> dict[str, int]:
        """Each entity once, with the type that it has where it comes first."""
        self._read(connect, table)
        nodes, self._nodes = self._nodes, []
        given: Iterable[Sequence[PackedColumn]] | None = self.held.take(nodes) if self.numbers.apart else nodes
        if given is not None:
            connection = connect()
            with incoming(connection, "nodes_of_triples", schema_of("nodes"), given):
                connection.execute(f'create table main."{table}" as select * from nodes_of_triples')
        return {}

    def edges(self, connect: Connect, table: str) -> dict[str, int]:
        """The triples, in the order of the files' names and of the lines."""
        self._read(connect, table)
        if not self.apart.known:
            connect().execute(f'alter table {_LINES} rename to "{table}"')
        return {}

    def _read(self, connect: Connect, table: str) -> None:
        if table not in self._waiting:
            if library() is None:
                raise Unproved
            try:
                self._take(connect, apart=self.numbers.apart)
            except ManyTexts:
                self._take(connect, apart=False)
            self._waiting = {"nodes", "edges"}
        self._waiting.discard(table)

    def _take(self, connect: Connect, *, apart: bool) -> None:
        from ragdatakit.converters.datamind.triple_columns import TripleColumns  # needs numpy

        if self.numbers.wanted:
            self.numbers.begin_nodes()
        self.apart.begin(known=apart)
        reader = TripleColumns(self.apart)

        def batches(file: DataFile) -> Iterator[list[PackedColumn]]:
            return reader.batches(file, self._records, partial(triple_of, self._records, file))

        if not apart:
            connection = connect()
            connection.execute(f"drop table if exists {_LINES}")
            fill(connection, _LINES, self.files, "select * from {}", schema_of("edges"), batches)
        for file in self.files if apart else ():
            for _ in batches(file):
                pass
        self._nodes = reader.nodes
