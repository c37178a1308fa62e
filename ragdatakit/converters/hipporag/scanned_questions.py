"""The questions of a HippoRAG data set, with what is to be found for them, straight from the scanner: those that have
the fields of the first one, and whose passages are all in the corpus. Others are read as the reader reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import begin_runs
from ragdatakit.converters.hipporag.corpus_columns import KEY, CodedPassages
from ragdatakit.converters.hipporag.reading import OF_QUESTIONS
from ragdatakit.converters.hipporag.scanned_passages import scanned_passages
from ragdatakit.converters.kept_columns import Columns, KeptColumns, columns_of, values_of
from ragdatakit.database.columns import Kind, PackedColumn, packed, packed_numbers, packed_same, texts_of, values_in
from ragdatakit.database.dataset_database import Unproved
from ragdatakit.database.edge_tables import texts_at
from ragdatakit.database.row_batches import row_batches, schema_of
from ragdatakit.files.containers.json_text import dumps, loads
from ragdatakit.files.hipporag.passages import EVIDENCE_FIELDS
from ragdatakit.quick_values import NamedTuple
from ragdatakit.scanner.predicates import Blank
from ragdatakit.scanner.relations import Joined, Lacking, Parts, Several
from ragdatakit.schemas.canonical import Question
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.schemas.errors import MachineError, RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.hipporag.reading import HippoRagReading
    from ragdatakit.database.text_facts import TextFacts
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.files.reading.kept_rows import Columns as Lists
    from ragdatakit.scanner.blocks import KeptValues, ScannedBlock
    from ragdatakit.schemas.conversions import Losses

Numbers = npt.NDArray[np.int64]
_PLACES = {name: place for place, name in enumerate(schema_of("questions"))}
_LEFT_OUT = ("split", "metadata", "field_order")
_EMPTY = Question("", "")._asdict()
_LISTS = msgspec.json.Decoder(list[list[str]])
_MOST_FIELDS = 32
_MOST_TRIPLETS = 1 << 14
"""That are made at once."""


class QuestionColumns(KeptColumns):
    """The questions that ``reading`` reads; their texts stay out of the columns where ``facts`` say so, and in place of
    their metadata there are objects with the same names. Without ``losses`` `RagdataError` is raised for half
    characters. `Unproved` where the first question has another shape than most sets have."""

    _in_turn = True

    def __init__(
        self,
        reading: HippoRagReading,
        passages: CodedPassages,
        facts: TextFacts | None = None,
        losses: Mapping[str, Losses] | None = None,
    ) -> None:
        first = next(iter(reading.records.unheard().objects(reading.asked[0], "json-array")), {})
        self._shape = shape = _shape_of(first)
        self._key, self._mark = f"{shape.evidence}/{KEY}", f"{shape.evidence}/is_supporting"
        names = {"question_id": shape.id, "text": "question", "answer": "" if shape.is_list else "answer"}
        super().__init__(
            shape.record,
            columns_of("questions", names),
            partial(row_batches, "questions", losses=losses["questions"] if losses is not None else None),
            shape.asked(),
            further=("answer",) * shape.is_list + ("answer_aliases",) * shape.has_aliases,
            facts=facts,
            files=reading.asked,
            keys=(self._key, self._mark),
            text="question",
            known={self._key: passages.codes},
        )
        if facts is not None and self._facts is None:
            raise Unproved
        self._reading, self._passages, self._losses = reading, passages, losses
        self._number = 0
        self._read: dict[str, list[Iterator[Any]]] = {"qrels": [], "triplets": []}  # rows that are in no columns yet
        self._judged: list[tuple[str, Iterable[Columns]]] = []

    def all_batches(self) -> Iterator[Columns]:
        """The columns of all questions."""
        for file in self._reading.asked:
            yield from self.batches_of_array(file, self._reading.records, self._row, of_objects=True)

    def judged(self) -> Iterator[tuple[str, Columns]]:
        """What is to be found for the questions that were given since this was asked last, some rows of a table at a
        time."""
        self._take_read()
        some, self._judged = self._judged, []
        return ((table, columns) for table, several in some for columns in several)

    def _row(self, _: int, fields: dict[str, Raw]) -> Any:
        """A question that is otherwise than most."""
        rows = self._reading.rows_of(self._number, fields)
        self._number += 1
        for table, read in self._read.items():
            read.append(rows[table])
        (question,) = rows["questions"]
        return question

    def _take_read(self) -> None:
        for table, read in self._read.items():
            losses = self._losses[table] if self._losses is not None else None
            self._judged += [(table, row_batches(table, chain.from_iterable(read), losses))] if read else []
        self._read = {table: [] for table in self._read}

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
        if len(gold):
            grades = packed_numbers(Kind.INTEGER, np.ones(len(gold), np.int64))
            kinds, nothing = packed_same(Kind.TEXT, "document", len(gold)), packed_same(Kind.TEXT, None, len(gold))
            named = _at(ids, owners[gold]), self._passages.ids_at(places[gold])
            self._judged.append(("qrels", [[*named, grades, kinds, nothing, nothing]]))
        judged = _Judged(ids, owners[gold], places[gold], owners[others], places[others])
        self._judged.append(("triplets", judged.triplets(self._passages)))


class _Judged(NamedTuple):
    """The gold passages and the others of questions, whose ids these are, by the rows of the questions, in order."""

    ids: PackedColumn
    of_gold: Numbers
    gold: Numbers
    of_others: Numbers
    others: Numbers

    def triplets(self, passages: CodedPassages) -> Iterator[Columns]:
        """Each gold passage with each other one of its question, some at a time: of one there may be millions."""
        counts = np.bincount(self.of_others, minlength=self.ids.length)
        times = counts[self.of_gold]
        behind = np.cumsum(times)
        begins = (np.cumsum(counts) - counts)[self.of_gold] - (behind - times)
        every = int(behind[-1]) if len(behind) else 0
        for first in range(0, every, _MOST_TRIPLETS):
            rows = np.arange(first, min(first + _MOST_TRIPLETS, every))
            positives = np.searchsorted(behind, rows, "right")
            named = _at(self.ids, self.of_gold[positives]), passages.ids_at(self.gold[positives])
            negatives = passages.ids_at(self.others[begins[positives] + rows])
            yield [*named, negatives, packed_same(Kind.TEXT, None, len(rows))]


def question_lists(reading: HippoRagReading, wanted: Collection[int]) -> Iterator[Sequence[Lists]]:
    """The tables of what is made of questions, as `ColumnsTogether` asks for them; the questions without metadata and
    without the order of their fields. Where that cannot go on the reader does."""
    names = [table for place, table in enumerate(OF_QUESTIONS) if place in wanted]
    given: Counter[str] = Counter()
    try:
        for table, columns in _lists_of(reading):
            given[table] += len(columns[0])
            if table in names:
                yield [columns if name == table else () for name in OF_QUESTIONS]
    except MachineError:
        raise
    except (Unproved, RagdataError):
        for rows in reading.together(names):
            left = {name: rows.get(name, ())[given[name] :] for name in names}
            given -= Counter({name: len(rows.get(name, ())) for name in names})
            yield [list(zip(*left.get(name, ()), strict=True)) for name in OF_QUESTIONS]


def _lists_of(reading: HippoRagReading) -> Iterator[tuple[str, Lists]]:
    """The same, table by table."""
    if (passages := scanned_passages(reading.records, reading.corpora)) is None:
        raise Unproved
    columns = QuestionColumns(reading, passages)
    for batch in columns.all_batches():
        number = batch[0].length
        known = {name: values_in(batch[place]) for name, place in _PLACES.items() if name not in _LEFT_OUT}
        yield "questions", [known.get(name, [empty] * number) for name, empty in _EMPTY.items()]
        for table, given in columns.judged():
            yield table, [values_in(column) for column in given]


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
    order = np.argsort(pairs[rows], kind="stable")
    return rows[np.sort(order[begin_runs(pairs[rows][order])])]


def _at(column: PackedColumn, rows: Numbers) -> PackedColumn:
    """The texts of some rows."""
    data, offsets = texts_of(column)
    return texts_at(data, offsets.astype(np.int64), rows)
