"""The chunks of an A-RAG corpus straight from the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.converters.arag.converter import chunk_objects, chunk_of, has_objects
from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.database.columns import PackedColumn
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.relations import Cut
from ragdatakit.schemas.arag.format import ARAG
from ragdatakit.schemas.canonical import Chunk
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Look, Passages

_KEPT = ("chunk_id", "text")
_CUT = Cut(":", *_KEPT, "number")


def arag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The chunks, where there are any."""
    files = dataset.of_kind("chunks")

    def batches(facts: TextFacts, losses: Losses) -> Iterator[list[PackedColumn]]:
        from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy

        columns = [KeptColumn(kind, name * (name in _KEPT)) for name, kind in schema_of("chunks").items()]
        batches_of = partial(row_batches, "chunks", losses=losses)
        reader = KeptColumns(ARAG.file("chunks").record, columns, batches_of, [_CUT], facts=facts, files=files)
        for file in files:
            if has_objects(file, records):
                yield from batches_of(chunk_objects(file, records))
            else:
                yield from reader.batches_of_array(file, records, partial(chunk_of, file, records))

    return {"chunks": scanned_table("chunks", batches)} if files else {}


def arag_passages(dataset: Dataset, records: RecordReader, jobs: int, _: Look | None = None) -> Iterator[Passages]:
    """The chunks, as far as they are texts."""
    from ragdatakit.converters.kept_texts import KeptTexts, some_together  # needs numpy

    reader = KeptTexts(ARAG.file("chunks").record, Chunk, {name: name for name in _KEPT}, [_CUT])
    for file in dataset.of_kind("chunks"):
        if has_objects(file, records):
            yield from some_together(chunk_objects(file, records))
        else:
            yield from reader.passages_of_array(file, records, jobs, partial(chunk_of, file, records))
