"""The chunks of a DataMind profile straight from the scanner: texts as they lie in memory, the rest row by row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ragdatakit.converters.datamind.chunks import chunk_of, file_names, metadata_and_source, placed
from ragdatakit.converters.kept_columns import Columns, KeptColumn, KeptColumns, values_of
from ragdatakit.database.columns import Kind, packed
from ragdatakit.database.row_batches import row_batches
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.blocks import ScannedBlock
from ragdatakit.scanner.predicates import MemberCalled
from ragdatakit.schemas.declarations import Field, Record

_OURS = ("arag_id", "source_id")
"""Members of the metadata of chunks that ragdata wrote, which the reader takes apart."""
_SHAPE = Record(
    name="chunk",
    title="A chunk",
    description="As most sets have it.",
    fields=(
        Field(name="id", type="string", non_empty=True),
        Field(name="text", type="string", non_empty=True),
        *(Field(f"{name}?: string | null") for name in ("source", "modality", "image_path", "image_description")),
        Field("metadata?: object | null"),
    ),
    extra="forbid",
)
_TEXTS = (
    KeptColumn(Kind.TEXT, "id"),
    KeptColumn(Kind.TEXT, "text"),
    KeptColumn(Kind.TEXT, "modality"),
    KeptColumn(Kind.TEXT, "image_path", filled=True),
    KeptColumn(Kind.TEXT, "image_description"),
)


def chunk_batches(files: list[DataFile], records: RecordReader) -> Iterator[Columns]:
    """The chunks of all files, as batches of the columns of their table."""
    ordinals: dict[str, int] = {}
    reader = _Chunks(_SHAPE, _TEXTS, partial(row_batches, "chunks", losses=records.losses), records, ordinals)
    for file in files:
        yield from reader.of_file(file, len(files) == 1)


class _Chunks(KeptColumns):
    def __init__(
        self, record: Record, columns: Any, batches_of: Any, records: RecordReader, ordinals: dict[str, int]
    ) -> None:
        asked = [MemberCalled("metadata", name) for name in _OURS]
        super().__init__(record, columns, batches_of, asked, further=("source", "metadata"))
        self._records, self._ordinals = records, ordinals
        self._names = ("", "")

    def of_file(self, file: DataFile, alone: bool) -> Iterator[Columns]:
        """The chunks of a file; ``alone``: there is no other one, so that ragdata may have written it."""
        self._names = file_names(file)
        yield from self.batches(file, self._records, partial(chunk_of, file, alone, self._records, self._ordinals))

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        ids, texts, modality, image, description = super()._slice(scanned, first, last)
        documents, ordinals, metadata = [], [], []
        members = values_of(scanned.kept["metadata"], first, last)
        for source, given in zip(values_of(scanned.kept["source"], first, last), members, strict=True):
            kept, named = metadata_and_source(given, bool(source)) if given and given != b"{}" else (None, None)
            document, ordinal = placed((source or b"").decode() or named, self._names, self._ordinals)
            documents.append(document)
            ordinals.append(ordinal)
            metadata.append(kept)
        count = last - first
        return [
            *(ids, texts, packed(Kind.TEXT, documents), packed(Kind.INTEGER, ordinals)),
            *(packed(Kind.TEXT, [None] * count), modality, image, description, packed(Kind.TEXT, metadata)),
        ]
