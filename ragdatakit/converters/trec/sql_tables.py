"""The tables of a TREC collection straight from the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.converters.trec.converter import ODD_ITERATION, document_of, metadata_of, qrel_of, run_of, split_of
from ragdatakit.database.columns import PackedColumn
from ragdatakit.database.dataset_database import SqlTable, Unproved
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.tagged_text import TaggedReader
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.predicates import Blank
from ragdatakit.schemas.canonical import Document, Run
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import Field, File, Record
from ragdatakit.schemas.trec.format import TREC

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Passages

_NO_ID = Blank("docno", "")


def trec_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The documents, judgements and results, where there are any."""
    batches = {"documents": _documents, "qrels": _judgements, "runs": _results}
    kinds = {"documents": "documents", "qrels": "qrels", "runs": "run"}
    files = {table: dataset.of_kind(kind) for table, kind in kinds.items()}
    return {
        table: scanned_table(table, partial(batches[table], own, records), HeldRows(table))
        for table, own in files.items()
        if own
    }


def _documents(
    files: list[DataFile], records: RecordReader, facts: TextFacts, losses: Losses
) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy
    from ragdatakit.scanner.blocks import REST

    kind = TREC.file("documents")
    names = {"doc_id": "docno", "text": "text", "title": "title", "metadata": REST}
    reader = KeptColumns(
        _usual(kind),
        columns_of("documents", names, {"metadata": _Rest()}),
        partial(row_batches, "documents", losses=losses),
        (_NO_ID,),
        facts=facts,
        files=files,
        tags=kind.tags,
    )
    for file in files:
        yield from reader.batches_of_elements(file, records, kind, partial(document_of, records, file))


def _usual(kind: File) -> Record:
    """What most documents are: they have a text, and may have further elements."""
    from ragdatakit.scanner.blocks import REST  # needs numpy

    fields = (replace(field, required=field.name != "title") for field in kind.record.fields)
    return replace(kind.record, fields=(*fields, Field(name=REST, type="string", required=False)))


def trec_passages(dataset: Dataset, records: RecordReader, *_: Any) -> Iterator[Passages]:
    """The documents, as far as they are texts, as `KeptTexts` gives them."""
    from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

    kind = TREC.file("documents")
    names = {"docno": "doc_id", "text": "text", "title": "title"}
    reader = KeptTexts(_usual(kind), Document, names, (_NO_ID,), tags=kind.tags)
    for file in dataset.of_kind("documents"):
        yield from reader.passages_of_elements(file, records, kind, partial(document_of, records, file))


def _judgements(
    files: list[DataFile], records: RecordReader, _: TextFacts, losses: Losses
) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy

    kind, batches_of = TREC.file("qrels"), partial(row_batches, "qrels", losses=losses)
    names = {"question_id": "qid", "target_id": "docno", "grade": "relevance"}
    for file in files:
        columns = columns_of("qrels", names, target_kind="document", split=split_of(file))
        reader = KeptColumns(kind.record, columns, batches_of, (ODD_ITERATION,), cells=kind.columns)
        yield from reader.batches_of_cells(file, records, kind, partial(qrel_of, records, file))


def _results(
    files: list[DataFile], records: RecordReader, _: TextFacts, losses: Losses
) -> Iterator[list[PackedColumn]]:
    """Those of runs in which all ranks count from 1: others go by the results above them."""
    from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy

    kind, batches_of = TREC.file("run"), partial(row_batches, "runs", losses=losses)
    names = {"question_id": "qid", "stage": "tag", "rank": "rank", "target_id": "docno", "score": "score"}
    fields = tuple(replace(f, minimum=1) if f.name == "rank" else f for f in kind.record.fields)
    reader = KeptColumns(replace(kind.record, fields=fields), columns_of("runs", names), batches_of, cells=kind.columns)

    def row_of(file: DataFile, number: int, record: dict[str, Any]) -> Run | None:
        rank = record["rank"]
        if isinstance(rank, str) or not 0 < rank < 1 << 63:
            raise Unproved
        return run_of(records, file, number, record, rank)

    for file in files:
        yield from reader.batches_of_cells(file, records, kind, partial(row_of, file))


class _Rest:
    """Makes metadata of the further elements of a document, as they are written."""

    def __init__(self) -> None:
        self._reader = TaggedReader(("doc",), ("docno",))

    def __call__(self, raw: bytes | None) -> str | None:
        return None if raw is None else metadata_of(self._reader.record(f"<doc>{raw.decode()}</doc>"))
