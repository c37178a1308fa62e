"""Documents and chunks of contextual-retrieval files straight from the scanner, for a report: of documents as the
cookbook has them. All others are read as the reader reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import mul
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.converters.contextual_retrieval.fields import OF_CHUNK, Fields, uuid_of
from ragdatakit.converters.kept_columns import Columns, values_of
from ragdatakit.converters.kept_numbers import numbers_of
from ragdatakit.converters.kept_rows import (
    filled_between,
    member_texts,
    names_between,
    packed_objects,
    table_columns,
    texts_between,
)
from ragdatakit.database.columns import Kind, packed_apart, packed_numbers
from ragdatakit.database.row_batches import row_batches
from ragdatakit.database.text_places import ApartTexts
from ragdatakit.files.containers.json_text import fields_of, object_text
from ragdatakit.scanner.blocks import REST, BlockScanner, Items, KeptValues, ScannedBlock, ScannedItems
from ragdatakit.scanner.element_parts import Here, scanned_parts
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.predicates import Given
from ragdatakit.scanner.views import offsets_of
from ragdatakit.schemas.declarations import Field, Record

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.converters.contextual_retrieval.both_tables import BothTables
    from ragdatakit.converters.contextual_retrieval.golden_copies import GoldenCopies
    from ragdatakit.files.containers.arrays import ArraySource, Part
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.files.reading.tables_together import Filling

_REST = Field(name=REST, type="string", required=False)
_DOCUMENT = Record(
    name="document",
    title="",
    description="",
    fields=(
        Field(name="doc_id", type="string", non_empty=True),
        Field("title?: string | null"),
        Field("content: string"),
        Field("chunks: object[]"),
        _REST,
    ),
)
_OF_CHUNK = ("chunk_id", "original_index", "content")
_OTHERS = tuple(name for name in OF_CHUNK if name not in _OF_CHUNK)
"""Names of a chunk that mean something else than metadata."""
_CHUNK = Record(
    name="chunk",
    title="",
    description="",
    fields=(
        Field("chunk_id: string"),
        Field(name="original_index", type="integer", minimum=0),
        Field("content: string"),
        *(Field(f"{name}?: any") for name in _OTHERS),
        _REST,
    ),
)
_CHUNKS = Items(("chunks",), _CHUNK, tuple(map(Given, _OTHERS)), kept=(*_OF_CHUNK[:2], REST), facts="content")
_BLOCK = 1 << 21
"""Bytes of a part: of smaller ones the columns are many."""
_LEAST_RUN = 5
"""Usual documents side by side, below which it takes longer to cut columns than to read them."""
_TEXTS = member_texts("content")
_Made = dict[str, list[Columns]]


class DocumentColumns:
    """Batches of the rows of both tables that files give, each of which is an array of documents."""

    def __init__(
        self,
        files: Sequence[DataFile],
        records: RecordReader,
        tables: Mapping[str, Filling],
        both: BothTables,
        copies: GoldenCopies,
    ) -> None:
        self._files, self._records, self._tables, self._both, self._copies = files, records, tables, both, copies
        self._scanner = BlockScanner(_DOCUMENT, {}, kept=("doc_id", "title", REST), facts="content", items=_CHUNKS)

    def batches(self) -> Iterator[Mapping[str, Iterator[Columns]]]:
        """Those of each part of the files."""
        with Here() as here:
            parts_of = partial(self._parts, pool=here)
            for file in self._files:
                for taken in self._records.elements_taken(file, parts_of):
                    made: _Made = {"documents": [], "chunks": []}
                    if isinstance(taken, tuple):
                        self._add_part(made, file, *taken)
                    else:
                        self._add_others(made, file, taken.records())
                    yield {table: iter(some) for table, some in made.items()}

    def _parts(self, elements: ArraySource, pool: Here) -> Iterator[tuple[Part, ScannedBlock | None]]:
        elements.source.block_bytes = _BLOCK
        return scanned_parts(elements, self._scan, pool, 0, lambda: False)

    def _scan(self, data: bytes) -> tuple[ScannedBlock, int]:
        documents, chunks = (self._tables[table].facts for table in ("documents", "chunks"))
        return self._scanner.scan_elements(
            data, members=False, sampled=documents.sampling(), of_items=chunks.sampling()
        )

    def _add_others(self, made: _Made, file: DataFile, others: Iterator[tuple[int, bytes]]) -> None:
        """The rows of documents that are otherwise, given as their places and their texts."""
        rows: dict[str, list[Any]] = {table: [] for table in made}
        for place, raw in others:
            fields = self._records.fields_at(file, place, raw)
            if fields is not None:
                self._both.add(rows, fields)
        for table, some in made.items():
            some += row_batches(table, iter(rows[table]), self._tables[table].losses)

    def _add_part(self, made: _Made, file: DataFile, part: Part, scanned: ScannedBlock) -> None:
        """The rows of a part in their order; all are read where few usual documents are side by side."""
        noted = {row: part.data[start:end] for why, row, _, start, end in scanned.notes if why != BLANK}
        if scanned.rows - len(noted) < _LEAST_RUN * len(noted):
            self._add_others(made, file, ((element.record, element.raw) for element in part.elements()))
            return
        for before, row in zip((-1, *noted), (*noted, scanned.rows), strict=True):
            if row > before + 1:
                self._add(made, scanned, before + 1, row, file, part.byte_offset)
            if row < scanned.rows:
                self._add_others(made, file, iter([(part.first_record + row, noted[row])]))

    def _add(self, made: _Made, scanned: ScannedBlock, first: int, last: int, file: DataFile, offset: int) -> None:
        """The columns of usual documents."""
        kept, items = scanned.kept, scanned.items
        assert items is not None
        assert scanned.facts is not None
        start, end = np.searchsorted(items.owners, (first, last)).tolist()
        counts = np.bincount(items.owners[start:end] - first, minlength=last - first)
        metadata: list[bytes | None] = []
        of_chunks: dict[int, bytes] = {}
        ids = [value or b"" for value in values_of(kept["doc_id"], first, last)]
        behind = start
        for doc_id, count, rest in zip(ids, counts.tolist(), values_of(kept[REST], first, last), strict=True):
            fields = fields_of(rest) if rest else {}
            uuid, behind = uuid_of(fields), behind + count
            origin = self._copies.of_document(uuid)
            metadata.append(_object({**origin, **fields}) if origin else rest or None)
            of_chunks |= self._named(items, range(behind - count, behind), uuid, doc_id.decode())
        titles = kept["title"]
        given = {"title": filled_between(titles, first, last)} if titles.data else {}
        made["documents"].append(
            table_columns(
                "documents",
                doc_id=texts_between(kept["doc_id"], first, last),
                text=packed_apart(ApartTexts.of(scanned.facts, first, last, offset, file, _TEXTS)),
                metadata=packed_objects(metadata),
                **given,
            )
        )
        self._both.documents.passed(last - first)
        self._add_chunks(made, items, (start, end), _repeated(ids, counts), of_chunks, file, offset)

    def _named(self, items: ScannedItems, rows: range, uuid: str | None, doc_id: str) -> dict[int, bytes]:
        """Remember the chunks of a document that questions name; the metadata of those of which these say something."""
        found: dict[int, bytes] = {}
        if not (self._copies.names(uuid or "") or self._copies.names(uuid or doc_id)):
            return found
        columns = [values_of(items.kept[name], rows.start, rows.stop) for name in ("chunk_id", "original_index", REST)]
        for row, chunk_id, index, rest in zip(rows, *columns, strict=True):
            assert chunk_id is not None
            assert index is not None
            name = chunk_id.decode()
            if name in self._both.known.with_context:
                continue
            self._copies.remember(self._both.known.by_place, (uuid or doc_id, int(index)), name)
            if origin := self._copies.of_chunk(uuid, int(index)):
                found[row] = _object({**origin, **(fields_of(rest) if rest else {})})
        return found

    def _add_chunks(
        self,
        made: _Made,
        items: ScannedItems,
        bounds: tuple[int, int],
        owners: KeptValues,
        metadata: Mapping[int, bytes],
        file: DataFile,
        offset: int,
    ) -> None:
        """Those between these bounds, which ``owners`` have, without those that are there with a context."""
        kept, rest, begin = items.kept, items.kept[REST], bounds[0]
        assert items.facts is not None
        for first, last in self._without_context(kept["chunk_id"], *bounds):
            given = {}
            if metadata or rest.offsets[first] < rest.offsets[last]:
                values = values_of(rest, first, last)
                given["metadata"] = packed_objects(
                    [metadata.get(row, value or None) for row, value in enumerate(values, first)]
                )
            ordinals, _ = numbers_of(kept["original_index"], first, last)
            made["chunks"].append(
                table_columns(
                    "chunks",
                    chunk_id=texts_between(kept["chunk_id"], first, last),
                    text=packed_apart(ApartTexts.of(items.facts, first, last, offset, file, _TEXTS)),
                    doc_id=texts_between(owners, first - begin, last - begin),
                    ordinal=packed_numbers(Kind.INTEGER, ordinals),
                    **given,
                )
            )
            self._both.chunks.passed(last - first)

    def _without_context(self, chunk_ids: KeptValues, first: int, last: int) -> list[tuple[int, int]]:
        """Runs of chunks, between two rows each, that are not among those with a context."""
        known = self._both.known.with_context
        if not known:
            return [(first, last)] if last > first else []
        found, row = [], first
        for is_wanted, some in groupby(names_between(chunk_ids, first, last), lambda name: name not in known):
            begin, row = row, row + sum(1 for _ in some)
            if is_wanted:
                found.append((begin, row))
        return found


def _object(fields: Fields) -> bytes:
    return (object_text(fields) or "{}").encode()


def _repeated(names: Sequence[bytes], counts: npt.NDArray[np.int64]) -> KeptValues:
    """Names, each so many times."""
    sizes = np.repeat(np.fromiter(map(len, names), np.int64, len(names)), counts)
    data = b"".join(map(mul, names, counts.tolist()))
    return KeptValues(data, offsets_of(sizes), np.empty(0, np.int64))
