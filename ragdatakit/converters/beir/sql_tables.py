"""The documents of a BEIR folder straight from the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.converters.beir.converter import are_bare, document_of, files_read
from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.database.columns import Kind, PackedColumn
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import compact
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.canonical import Document

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Passages


def beir_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The documents, where there are any."""
    files = files_read(dataset, "corpus")

    def batches(facts: TextFacts) -> Iterator[list[PackedColumn]]:
        from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy

        bare = are_bare(files)  # of records that are otherwise than the first one the order of the fields is kept, too
        columns = (
            KeptColumn(Kind.TEXT, "_id"),
            KeptColumn(Kind.TEXT, "text"),
            KeptColumn(Kind.TEXT, "title"),
            KeptColumn(Kind.TEXT) if bare else KeptColumn(Kind.TEXT, "metadata", _members),
            KeptColumn(Kind.TEXTS, nothing=()),
        )
        record = BEIR.file("corpus").record
        fields = [replace(f, required=f.required or (f.name == "metadata" and bare is False)) for f in record.fields]
        shape = replace(record, extra="forbid", fields=tuple(f for f in fields if f.name != "metadata" or not bare))
        batches_of = partial(row_batches, "documents", losses=records.losses)
        reader = KeptColumns(shape, columns, batches_of, facts=facts, files=files)
        for file in files:
            yield from reader.batches(file, records, partial(document_of, records, file, bare=bare))

    return {"documents": scanned_table("documents", batches, HeldRows("documents"))} if files else {}


def _members(raw: bytes | None) -> str | None:
    """Metadata as they are kept."""
    return None if raw is None or raw == b"{}" or (found := compact(raw)) == "{}" else found


def beir_passages(dataset: Dataset, records: RecordReader, jobs: int) -> Iterator[Passages]:
    """The documents, as far as they are texts."""
    from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

    columns = {"_id": "doc_id", "text": "text", "title": "title"}
    reader = KeptTexts(replace(BEIR.file("corpus").record, extra="forbid"), Document, columns)
    for file in files_read(dataset, "corpus"):
        yield from reader.passages(file, records, jobs, partial(document_of, records, file))
