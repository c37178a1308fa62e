"""The rows of a table that settings name, as they say that it is read."""

from __future__ import annotations

from collections.abc import Iterable

from ragdatakit.converters.plain.row_ids import ColumnedFile
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.detection.plain_names import READ_AS
from ragdatakit.files.reading.csv_tables import CsvForm
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.reading.table_rows import Row
from ragdatakit.schemas.conversions import Losses


def named_file(dataset: Dataset, file: DataFile, reader: RecordReader | None = None) -> ColumnedFile:
    """One of its files. Raises `RagdataError` for an encoding or a delimiter that is none."""
    read_as = dataset.options[READ_AS]
    form = CsvForm(read_as.get("delimiter", ""), read_as.get("encoding", "utf-8"))
    form.check()
    return ColumnedFile(file, reader or RecordReader(Losses()), form)


def named_rows(dataset: Dataset, file: DataFile) -> Iterable[Row]:
    """Its rows, by their columns."""
    return named_file(dataset, file).rows([])
