"""The chunks of a DataMind profile straight from the scanner: texts as they lie in memory, the rest row by row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ragdatakit.arrays.codes import begin_runs
from ragdatakit.converters.datamind.chunks import chunk_of, file_names, metadata_and_source, placed, plain_metadata
from ragdatakit.converters.kept_columns import Columns, KeptColumn, KeptColumns, values_of
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_same, packed_texts
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import string_of
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.blocks import KeptValues, ScannedBlock, text_codes
from ragdatakit.scanner.member_names import MemberNames
from ragdatakit.scanner.predicates import MemberCalled
from ragdatakit.scanner.views import offsets_of
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import Field, Record

_MOST_NAMES = 1 << 10
"""Names of members of metadata that are counted block by block."""
OPEN = [MemberCalled("metadata", name) for name in ("arag_id", "source_id")]
"""Of the metadata of chunks that ragdata wrote, which the reader takes apart."""
SHAPE = Record(
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


def chunk_batches(files: list[DataFile], records: RecordReader, facts: TextFacts, losses: Losses) -> Iterator[Columns]:
    """The chunks of all files, as batches of the columns of their table; ``facts`` are those of the texts."""
    ordinals: dict[str, int] = {}
    batches_of = partial(row_batches, "chunks", losses=losses)
    reader = _Chunks(files, facts, batches_of, records, ordinals)
    for file in files:
        yield from reader.of_file(file, len(files) == 1)


class _Chunks(KeptColumns):
    _in_turn = True

    def __init__(
        self, files: list[DataFile], facts: TextFacts, batches_of: Any, records: RecordReader, ordinals: dict[str, int]
    ) -> None:
        further = ("source", "metadata")
        super().__init__(SHAPE, _TEXTS, batches_of, OPEN, further=further, facts=facts, files=files)
        self._records, self._ordinals = records, ordinals
        self._names = ("", "")

    def of_file(self, file: DataFile, alone: bool) -> Iterator[Columns]:
        """The chunks of a file; ``alone``: there is no other one, so that ragdata may have written it."""
        self._names = file_names(file)
        yield from self.batches(file, self._records, partial(chunk_of, file, alone, self._records, self._ordinals))

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        ids, texts, modality, image, description = super()._slice(scanned, first, last)
        count = last - first
        others = packed_same(Kind.TEXT, None, count)
        named_all = self._of_named(scanned.kept["source"], scanned.kept["metadata"], first, last)
        if named_all is not None:
            documents, ordinals, metadata = named_all
            return [ids, texts, documents, ordinals, others, modality, image, description, metadata]
        sources = [(source or b"").decode() for source in values_of(scanned.kept["source"], first, last)]
        metadata, named = _metadata(values_of(scanned.kept["metadata"], first, last), sources)
        names, numbers = self._names, self._ordinals
        places = [placed(source or name, names, numbers) for source, name in zip(sources, named, strict=True)]
        named_documents, numbered = zip(*places, strict=True)
        documents, ordinals = packed(Kind.TEXT, named_documents), packed(Kind.INTEGER, numbered)
        return [ids, texts, documents, ordinals, others, modality, image, description, metadata]

    def _of_named(
        self, sources: KeptValues, metadata: KeptValues, first: int, last: int
    ) -> tuple[PackedColumn, PackedColumn, PackedColumn] | None:
        """Documents, ordinals and metadata of rows that all name their source, usually many in a row the same one; None
        where they do not, or metadata must be looked at one by one."""
        offsets = sources.offsets[first : last + 1]
        if not np.diff(offsets).all():
            return None
        names = MemberNames()
        found = names.compact(metadata.data, metadata.offsets[first : last + 1])
        if found is None:
            return None
        starts = np.flatnonzero(begin_runs(text_codes(sources.data, offsets.astype(np.int32))))
        sizes = np.diff(starts, append=last - first)
        places = zip(offsets[starts].tolist(), offsets[starts + 1].tolist(), sizes.tolist(), strict=True)
        ordinals = [
            placed(sources.data[start:end].decode(), self._names, self._ordinals, size)[1]
            for start, end, size in places
        ]
        before = np.array([ordinal or 0 for ordinal in ordinals], np.int64) - starts
        without = np.flatnonzero(np.repeat([ordinal is None for ordinal in ordinals], sizes))
        members = names.counts()
        return (
            packed_texts(sources.data, offsets, without),
            packed_numbers(Kind.INTEGER, np.arange(last - first) + np.repeat(before, sizes), without),
            replace(packed_texts(*found), members=members if len(members) <= _MOST_NAMES else None),
        )


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
    offsets = offsets_of(lengths)
    return packed_texts(b"".join(kept), offsets, np.flatnonzero(lengths == 0)), named
