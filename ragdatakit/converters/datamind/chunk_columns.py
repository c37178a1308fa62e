"""The chunks of a DataMind profile straight from the scanner: texts as they lie in memory, the rest row by row."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from ragdatakit.converters.datamind.chunks import chunk_of, file_names, metadata_and_source, placed, plain_metadata
from ragdatakit.converters.kept_columns import Columns, KeptColumn, KeptColumns, values_of
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_texts
from ragdatakit.database.row_batches import row_batches
from ragdatakit.files.containers.json_text import string_of
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
        sources = [(source or b"").decode() for source in values_of(scanned.kept["source"], first, last)]
        metadata, named = _metadata(values_of(scanned.kept["metadata"], first, last), sources)
        names, numbers = self._names, self._ordinals
        places = [placed(source or name, names, numbers) for source, name in zip(sources, named, strict=True)]
        documents, ordinals = zip(*places, strict=True)
        count = last - first
        return [
            *(ids, texts, packed(Kind.TEXT, documents), packed(Kind.INTEGER, ordinals)),
            *(packed(Kind.TEXT, [None] * count), modality, image, description, metadata),
        ]


def _metadata(given: list[bytes | None], sources: list[str]) -> tuple[PackedColumn, list[str | None]]:
    """The column of metadata, and the sources that they name where a chunk has none of its own."""
    rows = [row for row, data in enumerate(given) if data and data != b"{}"]
    found = plain_metadata([data for data in given if data and data != b"{}"])
    named: list[str | None] = [None] * len(given)
    if found is None:
        texts: list[str | None] = [None] * len(given)
        for row in rows:
            texts[row], named[row] = metadata_and_source(given[row] or b"", bool(sources[row]))
        return packed(Kind.TEXT, texts), named
    lengths = np.zeros(len(given), np.int64)
    kept = [text if fields else b"" for text, fields in zip(*found, strict=True)]
    lengths[rows] = list(map(len, kept))
    for row, fields in zip(rows, found[1], strict=True):
        if not sources[row]:
            named[row] = string_of(fields.get("source")) or None
    offsets = np.concatenate(([0], lengths.cumsum()))
    return packed_texts(b"".join(kept), offsets, np.flatnonzero(lengths == 0)), named
