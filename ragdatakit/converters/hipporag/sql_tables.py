"""The passages of a HippoRAG data set as a table."""

from __future__ import annotations

from collections.abc import Iterator

from ragdatakit.converters.hipporag.reading import reading_of, set_names
from ragdatakit.converters.hipporag.scanned_passages import CorpusColumns, are_arrays
from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.database.columns import PackedColumn
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.record_reading import RecordReader


def hipporag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The documents of the only data set, where it has a corpus."""
    corpora = reading_of(dataset, records, None, "auto").corpora if len(set_names(dataset)) == 1 else []

    def batches(facts: TextFacts) -> Iterator[list[PackedColumn]]:
        return CorpusColumns(records, corpora, records.losses).batches(facts)

    return {"documents": scanned_table("documents", batches, HeldRows("documents"))} if are_arrays(corpora) else {}
