"""The tables of a HippoRAG data set straight from the scanner."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.converters.hipporag.fields import document_of, text_of, usual_passage
from ragdatakit.converters.hipporag.reading import OF_QUESTIONS, HippoRagReading, reading_of, set_names
from ragdatakit.converters.hipporag.scanned_passages import are_arrays, scanned_passages
from ragdatakit.converters.sql_files import scanned_table
from ragdatakit.database.columns import PackedColumn
from ragdatakit.database.dataset_database import Connect, SqlTable, Unproved
from ragdatakit.database.held_rows import HeldRows
from ragdatakit.database.reread_rows import RereadRows
from ragdatakit.database.row_batches import schema_of
from ragdatakit.database.text_facts import TextFacts
from ragdatakit.files.containers.json_text import fields_of
from ragdatakit.files.datasets import DataFile, Dataset
from ragdatakit.files.reading.kept_rows import ColumnSource, ColumnsTogether
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library
from ragdatakit.scanner.texts import Joined
from ragdatakit.schemas.canonical import TABLES, Document
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import MachineError, RagdataError
from ragdatakit.schemas.hipporag.records import PASSAGE

if TYPE_CHECKING:
    from ragdatakit.converters.hipporag.corpus_columns import CodedPassages
    from ragdatakit.converters.hipporag.scanned_questions import QuestionColumns
    from ragdatakit.converters.kept_texts import Look, Passages
    from ragdatakit.files.containers.json_text import Raw
    from ragdatakit.schemas.canonical import Question


def hipporag_tables(dataset: Dataset, records: RecordReader) -> dict[str, SqlTable]:
    """The documents of the only data set, where it has a corpus; and of a report what is made of the questions."""
    if len(set_names(dataset)) != 1 or library() is None:
        return {}
    reading = reading_of(dataset, records, None, "auto")
    if not are_arrays(reading.corpora):
        return {}
    tables = _Tables(reading)
    found = {"documents": scanned_table("documents", tables.documents, HeldRows("documents"))}
    if are_arrays(reading.asked):
        found |= {table: tables.of_questions(table) for table in OF_QUESTIONS}
    return found


def hipporag_passages(dataset: Dataset, records: RecordReader, jobs: int, _: Look | None = None) -> Iterator[Passages]:
    """The passages of the only data set, as far as they are texts."""
    from ragdatakit.converters.kept_texts import KeptTexts, TextBlock, TextColumn, some_together  # needs numpy

    reading = reading_of(dataset, records, None, "auto")
    files = reading.corpora if are_arrays(reading.corpora) else []
    shape, by_idx = usual_passage(records, files[0]) if files else (PASSAGE, False)
    if not files or (by_idx and scanned_passages(records, files) is None):
        yield from some_together(reading.documents())
        return
    named = {"idx": "doc_id"} if by_idx else {}
    reader = KeptTexts(shape, Document, {**named, "title": "title", "text": "text"})
    place = 0
    for file in files:
        row_of = partial(_passage, records, file, by_idx)
        for block in reader.passages_of_array(file, records, jobs, row_of, of_objects=True):
            ids = list(map(str, range(place, place := place + len(block))))
            if by_idx:
                yield block
            elif isinstance(block, TextBlock):
                yield TextBlock(Document, {"doc_id": TextColumn(Joined.of(ids)), **block.columns})
            else:
                yield [row._replace(doc_id=own) for row, own in zip(block, ids, strict=True)]


def hipporag_questions(dataset: Dataset, records: RecordReader, joiner: str = "auto") -> dict[str, ColumnSource]:
    """What is made of the questions of the only data set: read by columns, of questions without metadata."""
    reading = reading_of(dataset, records, None, joiner)
    if not are_arrays(reading.corpora) or not are_arrays(reading.asked):
        return {}
    from ragdatakit.converters.hipporag.scanned_questions import question_lists  # needs numpy

    together = ColumnsTogether([TABLES[table].row for table in OF_QUESTIONS], partial(question_lists, reading))
    return dict(zip(OF_QUESTIONS, together.sources, strict=True))


def _passage(
    records: RecordReader, file: DataFile, by_idx: bool, number: int, fields: dict[str, Raw]
) -> Document | None:
    """A passage that is otherwise than most; without ``by_idx`` before it is called after its place."""
    text = text_of(records, file, number, fields)
    return document_of(fields, text, "", by_idx=by_idx) if text is not None else None


class _Tables:
    """The documents, and what is made of the questions, which are looked at when the documents were."""

    def __init__(self, reading: HippoRagReading) -> None:
        self._reading = reading
        self._passages: CodedPassages | None = None
        self._facts = TextFacts()
        own = partial(RereadRows, "questions", ("metadata", "field_order"), self._facts, self._question)
        self._held = {table: HeldRows(table) for table in OF_QUESTIONS} | {"questions": own(self._questions)}
        self._are_held = False

    def documents(self, facts: TextFacts, losses: Losses) -> Iterator[list[PackedColumn]]:
        """The columns of the documents. Texts of which there are ``facts`` may stay out of them."""
        from ragdatakit.converters.hipporag.corpus_columns import CorpusColumns  # needs numpy

        self._passages = None
        columns = CorpusColumns(self._reading.records, self._reading.corpora, losses, facts=facts)
        yield from columns.all_batches()
        self._passages = columns.passages()

    def of_questions(self, table: str) -> SqlTable:
        """Another table. The rows of all others are held when the questions are asked for."""
        facts = self._facts if table == "questions" else TextFacts()
        return SqlTable(table, partial(self._load, table), facts=facts, apart=self._held[table])

    def _load(self, table: str, _: Connect, __: str) -> dict[str, int]:
        if table == "questions":
            self._are_held = self._hold()
        if not self._are_held:
            raise Unproved
        self._held[table].known = True
        return {}

    def _hold(self) -> bool:
        """Whether the rows of all tables of questions are held, which is so of a report only."""
        from ragdatakit.converters.hipporag.scanned_questions import QuestionColumns  # needs numpy

        wanted, passages = self._facts.wanted, self._passages
        if wanted is None or not wanted.apart or passages is None:
            return False
        records = self._reading.records.unheard()
        reading = self._reading.by(records, passages)
        losses = {table: Losses() for table in OF_QUESTIONS}
        try:
            columns = QuestionColumns(reading, passages, self._facts, losses)
            if self._held["questions"].take(self._with_judged(columns)) is not None:
                return False
        except MachineError:
            raise
        except (Unproved, RagdataError):
            return False
        self._reading.records.hear(records)
        for table in OF_QUESTIONS:
            self._reading.records.losses.take(losses[table])
        return True

    def _with_judged(self, columns: QuestionColumns) -> Iterator[list[PackedColumn]]:
        """The columns of the questions. What is to be found for them is held, or `Unproved`."""
        for table in OF_QUESTIONS[1:]:
            self._held[table].most = self._held["questions"].most
            self._held[table].begin()
        for batch in self._facts.watched(schema_of("questions"), columns.all_batches()):
            yield [*batch]
            for table, given in columns.judged():
                if not self._held[table].add(given):
                    raise Unproved

    def _question(self, place: int, record: bytes) -> Question:
        return self._reading.question(place, fields_of(record))

    def _questions(self) -> Iterator[Question]:
        return self._reading.by(self._reading.records.unheard()).rows("questions")
