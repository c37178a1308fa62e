"""The passages of a HippoRAG corpus straight from the scanner: their columns, and which of them are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.hipporag.fields import document_of, id_of, text_of
from ragdatakit.converters.hipporag.known_passages import KnownPassages
from ragdatakit.database.columns import Kind, PackedColumn, packed, texts_of
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import Raw, string_of
from ragdatakit.files.containers.strict_json import SURROGATE
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import Document
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.declarations import Field
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.hipporag.records import PASSAGE

if TYPE_CHECKING:
    from ragdatakit.arrays.codes import Codes

_PLACES = [[*schema_of("documents")].index(name) for name in ("doc_id", "text", "title")]
_WORTH = 1 << 20
"""Bytes of a corpus below which reading its passages takes no longer."""
_IDX = Field("idx: integer", "The place in the corpus, from 0.")
_LONGEST = 18
"""Digits up to which an integer is written as Python writes it."""


class CorpusColumns:
    """The passages of a corpus, called as the reader calls them: after their ``idx`` where each has one, and its own,
    else after their places. `Unproved` where that shows at the end only, or where a text has half a character."""

    def __init__(self, records: RecordReader, files: Sequence[DataFile], losses: Losses) -> None:
        self._records, self._files, self._losses = records, files, losses
        first = next(iter(self._records.unheard().objects(self._files[0])), {})
        self._by_idx = id_of(first.get("idx")) is not None

    def batches(self, facts: TextFacts | None = None) -> Iterator[list[PackedColumn]]:
        """Their columns. Texts of which there are ``facts`` may stay out of them."""
        from ragdatakit.arrays.codes import number_of_distinct
        from ragdatakit.converters.kept_columns import KeptColumns, columns_of  # needs numpy

        shape = replace(PASSAGE, extra="forbid", fields=(*PASSAGE.fields[:2], *([_IDX] if self._by_idx else [])))
        names = {"doc_id": "idx" if self._by_idx else "", "text": "text", "title": "title"}
        batches_of = partial(row_batches, "documents", losses=self._losses)
        reader = KeptColumns(shape, columns_of("documents", names), batches_of, facts=facts, files=self._files)
        codes: list[Codes] = []
        place = 0
        for file in self._files:
            for batch in reader.batches_of_array(file, self._records, partial(self._row, file), of_objects=True):
                if self._by_idx:
                    codes.append(_codes_of_idx(batch[0]))
                else:
                    batch[0] = packed(Kind.TEXT, [str(place + row) for row in range(batch[0].length)])
                place += batch[0].length
                yield batch
        if codes and number_of_distinct(_joined(codes)) != place:
            raise Unproved

    def _row(self, file: DataFile, number: int, fields: dict[str, Raw]) -> Document | None:
        """A passage that is otherwise than most."""
        text = text_of(self._records, file, number, fields)
        if text is None:
            return None
        title = string_of(fields.get("title"))
        if SURROGATE.search(f"{title}{text}") or (self._by_idx and id_of(fields.get("idx")) is None):
            raise Unproved
        return document_of(fields, text, "", by_idx=self._by_idx)


def _codes_of_idx(column: PackedColumn) -> Codes:
    from ragdatakit.scanner.texts import lengths_and_codes

    data, offsets = texts_of(column)
    lengths, codes, _ = lengths_and_codes(data, offsets)
    if b"-" in data.tobytes() or (len(lengths) and lengths.max() > _LONGEST):  # -0 is 0
        raise Unproved
    return codes


def are_arrays(corpora: Sequence[DataFile]) -> bool:
    """Whether there are corpora, all of them read as arrays of passages."""
    arrays = (file.kind == "corpus" and json_container(file.path, file.boundary) == "json-array" for file in corpora)
    return bool(corpora) and all(arrays)


def scanned_passages(records: RecordReader, corpora: Sequence[DataFile]) -> KnownPassages | None:
    """The passages of a large corpus by codes of their texts; None where they have to be read one by one."""
    if library() is None or not are_arrays(corpora) or sum(file.path.stat().st_size for file in corpora) < _WORTH:
        return None
    try:
        return _CodedPassages(CorpusColumns(records, corpora, Losses()).batches())
    except (Unproved, RagdataError):
        return None


class _CodedPassages:
    """Passages by codes of what is before the first line feed of what is indexed, and behind it."""

    def __init__(self, batches: Iterator[list[PackedColumn]]) -> None:
        from ragdatakit.arrays.code_tables import HashTable
        from ragdatakit.converters.kept_texts import TextColumn
        from ragdatakit.scanner.texts import Joined

        codes, self._ids = [], list[str]()
        for columns in batches:
            ids, texts, titles = (texts_of(columns[place]) for place in _PLACES)
            data, ends = titles
            if b"\n" in data[ends[0] : ends[-1]].tobytes():
                raise Unproved
            codes.append(_codes(titles, texts))
            data, ends = ids
            self._ids += TextColumn(Joined(data.tobytes(), ends))
        self._table = HashTable(_joined(codes))

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, passages: Sequence[str]) -> list[str | None]:
        """As `KnownPassages` says."""
        from ragdatakit.scanner.texts import Joined

        titles, _, texts = (
            zip(*(passage.partition("\n") for passage in passages), strict=True) if passages else ((),) * 3
        )
        found = self._table.positions(_codes(Joined.of(titles), Joined.of(texts)))
        return [self._ids[place] if place >= 0 else None for place in found.tolist()]


def _codes(titles: tuple[Any, Any], texts: tuple[Any, Any]) -> Codes:
    """Of pairs of texts, which are one behind the other between offsets."""
    from ragdatakit.arrays.codes import mix
    from ragdatakit.scanner.blocks import text_codes

    return mix(text_codes(*titles), text_codes(*texts))


def _joined(codes: list[Codes]) -> Codes:
    import numpy as np

    from ragdatakit.arrays.codes import WIDE

    return np.concatenate([np.empty(0, WIDE), *codes])
