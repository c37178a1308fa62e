"""The tables of a BEIR folder straight from the scanner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.beir.reading import are_bare, files_read, split_of
from ragdatakit.converters.beir.records import document_of, members_of, qrel_of, question_of, usual_record
from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.database.columns import Kind, PackedColumn, packed, texts_of
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.beir.format import BEIR
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import Losses

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Look, Passages

_ROWS = {"corpus": ("documents", document_of), "queries": ("questions", question_of)}
_FIELDS = {
    "documents": {"doc_id": "_id", "text": "text", "title": "title"},
    "questions": {"question_id": "_id", "text": "text"},
    "qrels": {"question_id": "query-id", "target_id": "corpus-id", "grade": "score"},
}
_SPLIT = [*schema_of("questions")].index("split")


def beir_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The tables for which there are files; the documents only where there are several sets of queries."""
    found: dict[str, Callable[[TextFacts, Losses], Iterator[list[PackedColumn]]]] = {}
    if corpus := files_read(dataset, "corpus"):
        found["documents"] = partial(_batches, records, corpus)
    if all(file.split is None for file in dataset.files):
        queries, qrels = files_read(dataset, "queries"), files_read(dataset, "qrels")
        if queries:
            found["questions"] = lambda _, losses: _of_splits(
                _batches(records, queries, None, losses), partial(_splits, records, qrels)
            )
        if qrels:
            found["qrels"] = lambda _, losses: _judgements(records, qrels, losses)
    return {table: scanned_table(table, batches, HeldRows(table)) for table, batches in found.items()}


def _batches(
    records: RecordReader, files: list[DataFile], facts: TextFacts | None, losses: Losses
) -> Iterator[list[PackedColumn]]:
    """The records of a corpus, or of queries. Texts of which there are ``facts`` may stay out of their table."""
    from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy

    kind = files[0].kind
    table, row_of = _ROWS[kind]
    bare = are_bare(files)  # of records that are otherwise than the first one the order of the fields is kept, too
    further = {} if bare else {"metadata": "metadata"}
    columns = columns_of(table, _FIELDS[table] | further, {"metadata": members_of} if further else {})
    batches_of = partial(row_batches, table, losses=losses)
    reader = KeptColumns(usual_record(kind, bare), columns, batches_of, facts=facts, files=files)
    for file in files:
        yield from reader.batches(file, records, partial(row_of, records, file, bare=bare))


def _judgements(records: RecordReader, files: list[DataFile], losses: Losses) -> Iterator[list[PackedColumn]]:
    from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy

    kind, batches_of = BEIR.file("qrels"), partial(row_batches, "qrels", losses=losses)
    for file in files:
        split = split_of(file)
        columns = columns_of("qrels", _FIELDS["qrels"], target_kind="document", split=split)
        reader = KeptColumns(kind.record, columns, batches_of, cells=kind.columns)
        yield from reader.batches_of_cells(file, records, kind, partial(qrel_of, records, file, split))


def _of_splits(
    batches: Iterator[list[PackedColumn]], splits: Callable[[], Callable[[PackedColumn], list[str | None]]]
) -> Iterator[list[PackedColumn]]:
    """The questions, each of the split in which it is judged."""
    splits = cache(splits)
    for columns in batches:
        columns[_SPLIT] = packed(Kind.TEXT, splits()(columns[0]))
        yield columns


def _splits(records: RecordReader, files: list[DataFile]) -> Callable[[PackedColumn], list[str | None]]:
    """What gives the split of each id in a column, if it is judged in one only."""
    import numpy as np

    from ragdatakit.arrays.code_tables import HashTable
    from ragdatakit.arrays.codes import WIDE
    from ragdatakit.scanner.texts import lengths_and_codes

    def codes_of(column: PackedColumn) -> Any:
        data, offsets = texts_of(column)
        return lengths_and_codes(data, offsets)[1]

    names: list[str | None] = []
    codes, numbers = [np.empty(0, WIDE)], [np.empty(0, np.int64)]
    for file in files:
        names.append(split_of(file))
        for columns in _judgements(records, [file], Losses()):  # which the table counts
            codes.append(codes_of(columns[0]))
            numbers.append(np.full(columns[0].length, names.index(names[-1])))
    table, of_rows = HashTable(np.concatenate(codes)), np.concatenate(numbers)
    firsts = table.positions(table.codes)
    of_rows[firsts[of_rows != of_rows[firsts]]] = -1

    def splits(column: PackedColumn) -> list[str | None]:
        places = table.positions(codes_of(column))
        found = np.append(of_rows, -1)[places]
        return [names[number] if number >= 0 else None for number in found.tolist()]

    return splits


def beir_passages(dataset: Dataset, records: RecordReader, jobs: int, look: Look | None = None) -> Iterator[Passages]:
    """The documents, as far as they are texts, as `KeptTexts` gives them."""
    from ragdatakit.converters.kept_texts import KeptTexts  # needs numpy

    columns = {"_id": "doc_id", "text": "text", "title": "title"}
    reader = KeptTexts(replace(BEIR.file("corpus").record, extra="forbid"), Document, columns)
    for file in files_read(dataset, "corpus"):
        yield from reader.passages(file, records, jobs, partial(document_of, records, file), look)
