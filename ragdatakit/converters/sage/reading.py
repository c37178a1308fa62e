"""SAGE files read into canonical tables: every file of records becomes documented records first, then rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ragdatakit.converters import Options
from ragdatakit.converters.sage.documents import document_rows
from ragdatakit.converters.sage.samples import Samples, rows_of
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.paths.boundary import listed_file
from ragdatakit.files.paths.folders import size_of
from ragdatakit.files.reading.canonical_tables import RowSource
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.tables_together import Filling, SharedRows
from ragdatakit.schemas.canonical import Asset

if TYPE_CHECKING:
    from ragdatakit.database.columns import PackedColumn

_AT_ONCE, _WORTH = 1 << 22, 1 << 20
"""Bytes of records whose rows are given together, and below which reading rows takes no longer than columns."""


def read_sage(dataset: Dataset, records: RecordReader, options: Options) -> dict[str, RowSource]:
    """The tables of a dataset: questions, runs, answers, and records as a whole; documents; the mapping as it is."""
    found: dict[str, RowSource] = {}
    if any(dataset.of_kind(kind) for kind in ("records", "benchmark-questions", "benchmark-results", "dumps")):
        group = _Tables(dataset, records, options)
        found = {table: SharedRows(group, table, group.columns) for table in ("questions", "runs", "answers", "traces")}
    if dataset.of_kind("documents"):
        found["documents"] = lambda: document_rows(dataset.of_kind("documents"), records)
    if dataset.of_kind("mapping"):
        found["assets"] = lambda: (Asset(f.name, listed_file(f.path)) for f in dataset.of_kind("mapping"))
    return found


class _Tables:
    """The tables that are made of records."""

    def __init__(self, dataset: Dataset, records: RecordReader, options: Options) -> None:
        self._dataset, self._records, self._options = dataset, records, options
        self._samples = Samples(dataset, records, options)

    def rows(self, table: str) -> Iterator[Any]:
        """The rows of one table."""
        for sample in self._samples.read(whole=table == "traces"):
            yield from rows_of(sample, table, self._samples.tell)

    def together(self, tables: Collection[str]) -> Iterator[Mapping[str, Sequence[Any]]]:
        """The rows of several. What is said of runs comes after what is said of questions, as if they were read
        after them."""
        later: list[tuple[Any, ...]] = []
        made: dict[str, list[Any]] = {table: [] for table in tables}
        size = 0
        for sample in self._samples.read(whole=set(tables) == {"traces"}):
            for table in tables:
                made[table] += rows_of(sample, table, lambda *loss: later.append(loss))
            size += sum(memoryview(value).nbytes for value in sample.record.values())
            if size > _AT_ONCE:
                yield made
                made, size = {table: [] for table in tables}, 0
        yield made
        for loss in later:
            self._samples.tell(*loss)

    def columns(self, tables: Mapping[str, Filling]) -> Iterator[Mapping[str, Iterator[Sequence[PackedColumn]]]]:
        """The same for a report, as columns: of the records themselves they have empty objects."""
        from ragdatakit.converters.sage.scanned_records import RecordColumns  # needs numpy
        from ragdatakit.database.dataset_database import Unproved

        files = self._dataset.of_kind("records")
        others = any(map(self._dataset.of_kind, ("benchmark-questions", "benchmark-results", "dumps")))
        are_lines = all(file.path.name.lower().removesuffix(".gz").endswith((".jsonl", ".ndjson")) for file in files)
        is_worth = sum(size_of(file.path) for file in files) >= _WORTH
        if others or not are_lines or not is_worth or self._options["complete-stages"]:
            raise Unproved
        unheard = self._records.unheard()
        samples = Samples(self._dataset, unheard, self._options)
        yield from RecordColumns(samples, tables).batches(files, unheard)
        self._records.hear(unheard)
        self._samples = samples.heard(self._records)
