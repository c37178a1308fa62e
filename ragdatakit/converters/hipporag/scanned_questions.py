"""The questions of a HippoRAG data set, with what is to be found for them, straight from the scanner: those that have
the fields of the first one, and whose passages are all in the corpus. Others are read as the reader reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ragdatakit.converters.hipporag.corpus_columns import KEY, CodedPassages
from ragdatakit.converters.kept_columns import Columns, KeptColumns, columns_of, values_of
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_same, texts_of
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.edge_tables import texts_at
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.files.containers.json_text import dumps, loads
from ragdatakit.files.hipporag.passages import EVIDENCE_FIELDS
from ragdatakit.scanner.predicates import Blank
from ragdatakit.scanner.relations import Joined, Lacking, Parts, Several
from ragdatakit.schemas.declarations import Field, Record

if TYPE_CHECKING:
    from ragdatakit.converters.hipporag.reading import HippoRagReading
    from ragdatakit.database.text_facts import TextFacts
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.scanner.blocks import KeptValues, ScannedBlock
    from ragdatakit.schemas.conversions import Losses

Numbers = npt.NDArray[np.int64]
_PLACES = {name: place for place, name in enumerate(schema_of("questions"))}
_LISTS = msgspec.json.Decoder(list[list[str]])
_MOST_FIELDS = 32


class QuestionColumns(KeptColumns):
    """The questions that ``reading`` reads; their texts stay out of the columns, and in place of their metadata there
    are objects with the same names. The columns of the tables of what is ``judged`` are there when all were read.
    `Unproved` where the first question has another shape than most sets have."""

    def __init__(
        self, reading: HippoRagReading, passages: CodedPassages, facts: TextFacts, losses: Mapping[str, Losses]
    ) -> None:
        first = next(iter(reading.records.unheard().objects(reading.asked[0], "json-array")), {})
        self._shape = shape = _shape_of(first)
        self._key, self._mark = f"{shape.evidence}/{KEY}", f"{shape.evidence}/is_supporting"
        names = {"question_id": shape.id, "text": "question", "answer": "" if shape.is_list else "answer"}
        super().__init__(
            shape.record,
            columns_of("questions", names),
            partial(row_batches, "questions", losses=losses["questions"]),
            shape.asked(),
            further=("answer",) * shape.is_list + ("answer_aliases",) * shape.has_aliases,
            facts=facts,
            files=reading.asked,
            keys=(self._key, self._mark),
            text="question",
            known={self._key: passages.codes},
        )
        if self._facts is None:
            raise Unproved
        self._reading, self._passages, self._losses = reading, passages, losses
        self._number = 0
        self._read: dict[str, list[Any]] = {"qrels": [], "triplets": []}  # rows that are in no columns yet
        self.judged: dict[str, list[Columns]] = {table: [] for table in self._read}

    def all_batches(self) -> Iterator[Columns]:
        """The columns of all questions."""
        for file in self._reading.asked:
            yield from self.batches_of_array(file, self._reading.records, self._row, of_objects=True)
        self._take_read()

    def _row(self, _: int, fields: dict[str, Raw]) -> Any:
        """A question that is otherwise than most."""
        rows = self._reading.rows_of(self._number, fields)
        self._number += 1
        for table, read in self._read.items():
            read += rows[table]
        (question,) = rows["questions"]
        return question

    def _take_read(self) -> None:
        for table, rows in self._read.items():
            self.judged[table] += row_batches(table, iter(rows), self._losses[table])
            rows.clear()

    def _slice(self, scanned: ScannedBlock, first: int, last: int) -> Columns:
        self._take_read()
        self._number += last - first
        columns, shape, kept = super()._slice(scanned, first, last), self._shape, scanned.kept
        aliases = [list[str]()] * (last - first)
        if shape.is_list:
            answers = _lists(kept["answer"], first, last)
            columns[_PLACES["answer"]] = packed(Kind.TEXT, [one[0] if one else None for one in answers])
            aliases = [one[1:] for one in answers]
        if shape.has_aliases:
            further = _lists(kept["answer_aliases"], first, last)
            aliases = [one + more for one, more in zip(aliases, further, strict=True)]
        if any(aliases):
            columns[_PLACES["aliases"]] = packed(Kind.TEXTS, aliases)
        columns[_PLACES["metadata"]] = packed_same(Kind.TEXT, shape.metadata, last - first)
        self._judge(scanned, first, last, columns[_PLACES["question_id"]])
        return columns

    def _judge(self, scanned: ScannedBlock, first: int, last: int, ids: PackedColumn) -> None:
        """Take in what is to be found for some questions: these are their ids."""
        found, marks = scanned.columns[self._key], scanned.columns[self._mark]
        start, end = np.searchsorted(found.owners, (first, last)).tolist()
        places, owners = self._passages.places(found.codes[start:end]), found.owners[start:end] - first
        start, end = np.searchsorted(marks.owners, (first, last)).tolist()
        is_gold = marks.codes[start:end] != 0
        pairs = owners * len(self._passages) + places
        gold, others = _firsts(pairs, np.flatnonzero(is_gold)), _firsts(pairs, np.flatnonzero(~is_gold))
        others = others[~np.isin(pairs[others], pairs[gold])]
        counts = np.bincount(owners[others], minlength=last - first)
        times = counts[owners[gold]]
        behind = np.cumsum(times)
        nth = np.arange(behind[-1] if len(behind) else 0) - np.repeat(behind - times, times)
        negatives = others[np.repeat((np.cumsum(counts) - counts)[owners[gold]], times) + nth]
        positives = np.repeat(gold, times)
        if len(gold):
            grades = packed_numbers(Kind.INTEGER, np.ones(len(gold), np.int64))
            kinds, nothing = packed_same(Kind.TEXT, "document", len(gold)), packed_same(Kind.TEXT, None, len(gold))
            named = _at(ids, owners[gold]), self._passages.ids_at(places[gold])
            self.judged["qrels"].append([*named, grades, kinds, nothing, nothing])
        if len(positives):
            named = _at(ids, owners[positives]), self._passages.ids_at(places[positives])
            nothing = packed_same(Kind.TEXT, None, len(positives))
            self.judged["triplets"].append([*named, self._passages.ids_at(places[negatives]), nothing])


class _Shape(NamedTuple):
    """What most questions have: the field with their ids, and that with their passages; whether their answers are
    lists, and whether there are aliases; and the metadata of their names."""

    record: Record
    id: str
    evidence: str
    is_list: bool
    has_aliases: bool
    metadata: str

    def asked(self) -> list[Any]:
        """What is asked of them."""
        names = ("text", "paragraph_text") if self.evidence == "paragraphs" else ("text",)
        texts = tuple(f"{self.evidence}/{name}" for name in names)
        fields = (
            Field("title: string"),
            Field("is_supporting: boolean"),
            *(Field(f"{name}?: string") for name in names),
        )
        joined = Joined(f"{self.evidence}/{KEY}", (f"{self.evidence}/title", *texts), "\n")
        return [Parts(self.evidence, fields), Lacking(texts), Several(texts), joined, Blank("answer", "")]


def _shape_of(first: Mapping[str, Raw]) -> _Shape:
    """The shape of a question. Raises `Unproved` where it is none that most sets have."""
    values = {name: loads(first.get(name, b"null")) for name in ("id", "_id", "question", "answer", "answer_aliases")}
    own = "id" if "id" in first else "_id"
    evidence = next((name for name in EVIDENCE_FIELDS if name in first and name != "context"), "")
    is_list, has_aliases = isinstance(values["answer"], list), "answer_aliases" in first
    types = {own: "string", "question": "string", "answer": "string[]" if is_list else "string"}
    types |= {"answer_aliases": "string[]"} if has_aliases else {}
    is_plain = all(name.isascii() and name.isidentifier() for name in first) and len(first) <= _MOST_FIELDS
    usual = all(isinstance(values[name], str) for name in (own, "question"))
    if not (is_plain and usual and evidence in ("paragraphs", "contexts") and {*types} <= {*first}):
        raise Unproved
    others = [name for name in first if name not in types]
    fields = [
        *(Field(f"{name}: {kind}") for name, kind in types.items()),
        *(Field(f"{name}: object[]" if name == evidence else f"{name}: any | null") for name in others),
    ]
    record = Record(
        name="question", title="A question", description="As the first one.", fields=tuple(fields), extra="forbid"
    )
    return _Shape(record, own, evidence, is_list, has_aliases, dumps(dict.fromkeys(others)))


def _lists(kept: KeptValues, first: int, last: int) -> list[list[str]]:
    """Lists of texts, which each of these rows has."""
    return _LISTS.decode(b"[%b]" % b",".join(value or b"[]" for value in values_of(kept, first, last)))


def _firsts(pairs: Numbers, rows: Numbers) -> Numbers:
    """Those of these rows whose pair comes there first, in order."""
    return rows[np.sort(np.unique(pairs[rows], return_index=True)[1])]


def _at(column: PackedColumn, rows: Numbers) -> PackedColumn:
    """The texts of some rows."""
    data, offsets = texts_of(column)
    return texts_at(data, offsets.astype(np.int64), rows)
