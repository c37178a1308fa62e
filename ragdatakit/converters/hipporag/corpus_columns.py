"""The passages of a HippoRAG corpus straight from the scanner: their columns, and which of them are known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.code_tables import HashTable
from ragdatakit.arrays.codes import WIDE, Codes, number_of_distinct
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.converters.hipporag.fields import document_of, id_of, text_of, usual_passage
from ragdatakit.converters.kept_columns import Columns, KeptColumns, columns_of
from ragdatakit.database.columns import Kind, PackedColumn, packed, texts_of
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.edge_tables import texts_at
from ragdatakit.database.row_batches import row_batches
from ragdatakit.files.containers.json_text import string_of
from ragdatakit.files.containers.strict_json import SURROGATE
from ragdatakit.files.hipporag.passages import passage_text
from ragdatakit.scanner.relations import Joined
from ragdatakit.scanner.texts import lengths_and_codes
from ragdatakit.schemas.canonical import Document

if TYPE_CHECKING:
    from ragdatakit.database.text_facts import TextFacts
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.scanner.blocks import ScannedBlock
    from ragdatakit.schemas.conversions import Losses

KEY = "@passage"
"""What is indexed of a passage, as a key."""
_LONGEST = 18
"""Digits up to which an integer is written as Python writes it."""
_AT_ONCE = 1 << 13
"""Passages whose codes are made together."""


class CorpusColumns(KeptColumns):
    """The passages of a corpus, called as the reader calls them: after their ``idx`` where each has one, and its own,
    else after their places. `Unproved` where that shows at the end only, or where a text has half a character."""

    _in_turn = True

    def __init__(
        self,
        records: RecordReader,
        files: Sequence[DataFile],
        losses: Losses,
        fields: Sequence[str] = ("text", "title"),
        facts: TextFacts | None = None,
    ) -> None:
        """``fields`` are the columns that are wanted besides the ids; texts of which there are ``facts`` may stay out
        of theirs."""
        shape, self._by_idx = usual_passage(records, files[0])
        columns = columns_of("documents", {"doc_id": "idx" if self._by_idx else "", **{name: name for name in fields}})
        asked = (Joined(KEY, ("title", "text"), "\n"),)
        batches_of = partial(row_batches, "documents", losses=losses)
        super().__init__(shape, columns, batches_of, asked, facts=facts, files=files, keys=(KEY,))
        self._records, self._files = records, files
        self._codes = [np.empty(0, WIDE)]
        self._ids: list[PackedColumn] = []
        self._uncoded: list[str] = []  # passages that have no code yet
        self._left_out: list[str] = []  # the idx of those without a text

    def all_batches(self) -> Iterator[Columns]:
        """The columns of all passages."""
        codes: list[Codes] = []
        place = 0
        for file in self._files:
            for batch in self.batches_of_array(file, self._records, partial(self._row, file), of_objects=True):
                if self._by_idx:
                    codes.append(_codes_of_idx(batch[0]))
                else:
                    batch[0] = packed(Kind.TEXT, [str(place + row) for row in range(batch[0].length)])
                place += batch[0].length
                self._ids.append(batch[0])
                yield batch
        self._add_codes()
        codes.append(codes_of_texts(self._left_out))
        if self._by_idx and number_of_distinct(np.concatenate(codes)) != place + len(self._left_out):
            raise Unproved

    def passages(self) -> CodedPassages:
        """Which passages there are, when all were read."""
        return CodedPassages(np.concatenate(self._codes), self._ids)

    def _row(self, file: DataFile, number: int, fields: dict[str, Raw]) -> Document | None:
        """A passage that is otherwise than most."""
        text, own = text_of(self._records, file, number, fields), id_of(fields.get("idx"))
        title = string_of(fields.get("title"))
        if SURROGATE.search(f"{title}{text}") or (self._by_idx and own is None):
            raise Unproved
        if text is None:
            self._left_out.append(own or "")
            return None
        self._uncoded.append(passage_text(title or "", text))
        if len(self._uncoded) >= _AT_ONCE:
            self._add_codes()
        return document_of(fields, text, "", by_idx=self._by_idx)

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        self._add_codes()
        self._codes.append(scanned.columns[KEY].codes[first:last])
        return super()._slice(scanned, first, last)

    def _add_codes(self) -> None:
        """Those of the passages that have none yet."""
        self._codes.append(codes_of_texts(self._uncoded))
        self._uncoded = []


def _codes_of_idx(column: PackedColumn) -> Codes:
    data, offsets = texts_of(column)
    lengths, codes, _ = lengths_and_codes(data, offsets)
    if b"-" in data.tobytes() or (len(lengths) and lengths.max() > _LONGEST):  # -0 is 0
        raise Unproved
    return codes


class CodedPassages:
    """Passages by the codes of what is indexed of them."""

    def __init__(self, codes: Codes, ids: Sequence[PackedColumn]) -> None:
        self.codes = codes
        self._table = HashTable(codes)
        parts = [texts_of(column) for column in ids]
        self._data = np.concatenate([np.empty(0, np.uint8), *(data[ends[0] : ends[-1]] for data, ends in parts)])
        self._ends = np.cumsum(np.concatenate([np.zeros(1, np.int64), *(np.diff(ends) for _, ends in parts)]))

    def __len__(self) -> int:
        return len(self.codes)

    def ids(self, passages: Sequence[str]) -> list[str | None]:
        """As `KnownPassages` says."""
        places = self.places(codes_of_texts(passages)).tolist()
        bounds = ((self._ends[place], self._ends[place + 1]) for place in places)
        found = (self._data[start:end].tobytes().decode() for start, end in bounds)
        return [text if place >= 0 else None for place, text in zip(places, found, strict=True)]

    def places(self, codes: Codes) -> npt.NDArray[np.int64]:
        """The places in the corpus of passages with these codes, -1 of one that is not there."""
        return self._table.positions(codes).astype(np.int64)

    def ids_at(self, places: npt.NDArray[np.int64]) -> PackedColumn:
        """A column of the ids of the passages at these places."""
        return texts_at(self._data, self._ends, places)
