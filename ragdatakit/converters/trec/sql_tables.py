"""The documents of a TREC collection straight from the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.converters.trec.converter import document_of, metadata_of
from ragdatakit.database.columns import Kind, PackedColumn
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.tagged_text import TaggedReader
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.predicates import Blank
from ragdatakit.schemas.declarations import Field
from ragdatakit.schemas.trec.format import TREC


def trec_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The documents, where there are any."""
    files = dataset.of_kind("documents")
    if not files:
        return {}
    return {"documents": scanned_table("documents", partial(_documents, files, records), HeldRows("documents"))}


def _documents(files: list[DataFile], records: RecordReader, facts: TextFacts) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.kept_columns import KeptColumn, KeptColumns  # needs numpy
    from ragdatakit.scanner.blocks import REST

    kind = TREC.file("documents")
    columns = (
        KeptColumn(Kind.TEXT, "docno"),
        KeptColumn(Kind.TEXT, "text"),
        KeptColumn(Kind.TEXT, "title"),
        KeptColumn(Kind.TEXT, REST, _Rest()),
        KeptColumn(Kind.TEXTS, nothing=()),
    )
    fields = (
        *(replace(f, required=f.name != "title") for f in kind.record.fields),
        Field(name=REST, type="string", required=False),
    )
    reader = KeptColumns(
        replace(kind.record, fields=fields),
        columns,
        partial(row_batches, "documents", losses=records.losses),
        (Blank("docno", ""),),
        facts=facts,
        files=files,
        tags=kind.tags,
    )
    for file in files:
        yield from reader.batches_of_elements(file, records, kind, partial(document_of, records, file))


class _Rest:
    """Makes metadata of the further elements of a document, as they are written."""

    def __init__(self) -> None:
        self._reader = TaggedReader(("doc",), ("docno",))

    def __call__(self, raw: bytes | None) -> str | None:
        return None if raw is None else metadata_of(self._reader.record(f"<doc>{raw.decode()}</doc>"))
