"""The checks of an A-RAG corpus that its declaration cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.parquet_rows import is_parquet
from ragdatakit.schemas.arag.published import REPEATS_A_QUESTION, Subset, subset_named, subset_of_file
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.ages import COPYING_SECONDS, in_words, lag_seconds
from ragdatakit.validators.arag.chunks import (
    ChunkOrder,
    dot_inside,
    first_is_object,
    id_and_text,
    id_problems,
    is_ragged,
    point_into_string,
    text_digest,
    text_problems,
)
from ragdatakit.validators.arag.corpus import CORPUS_BYTES, AnswerSearch, file_bytes, fingerprint
from ragdatakit.validators.arag.predictions import COMPARED, Remembered, prediction_problems
from ragdatakit.validators.arag.questions import first_question, gold_answer, id_key, question_problems
from ragdatakit.validators.checks import FormatChecks, Needs, Scanning
from ragdatakit.validators.lacking import missing_file
from ragdatakit.validators.python_keys import PythonBatch
from ragdatakit.validators.row_problems import RowProblems

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset
    from ragdatakit.scanner.plan import Asked
    from ragdatakit.validators.arag.coded_predictions import CodedPredictions
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.coded_columns import ScannedCodes
    from ragdatakit.validators.csv_parts import CsvTable

DOTS_LOOKED_FOR = 1000
"""In how many chunks a sentence cut inside is looked for: one example a file is enough, and the search is slow."""


class ARagChecks(FormatChecks):
    """Chunks, questions and predictions one by one, and what they say about each other."""

    age_seconds = COPYING_SECONDS

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._folder = dataset.root.name
        self._as_objects: bool | None = None
        self._order = ChunkOrder()
        self._dots_left = DOTS_LOOKED_FOR
        self._search = AnswerSearch() if self._wants_search() else None
        self._remembered = Remembered()
        self._coded: CodedPredictions | None = None
        self._published: dict[str, Subset | None] = {}
        self._published_ids: set[str] = set()
        self._has_predictions = bool(dataset.of_kind("predictions"))
        self._in_columns = any(is_parquet(file.path) for file in dataset.of_kind("chunks"))

    def _wants_search(self) -> bool:
        chunks = self.dataset.of_kind("chunks")
        if len(chunks) != 1 or not self.dataset.of_kind("questions"):
            return False
        size = file_bytes(chunks[0].path)
        return size is not None and size <= CORPUS_BYTES

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """All records: what depends on the records before is found batch by batch, when each comes once, in order."""
        checked = kind in ("chunks", "questions", "predictions")
        return Needs(records=checked, values=checked, in_ranges=checked, passed_on={"_dots_left": 0})

    def derive(self, kind: str, value: Any, to_show: bool = False) -> dict[str, Any]:
        """The keys that are not fields: the chunk's id and text, the id that the runner uses, the question.

        ``@qid`` is what predictions refer to, ``@own_qid`` what must not appear twice: in the published novel
        questions one does, which `batch` says more mildly. ``@start`` only fills a message. Texts are compared as they
        are, and shown by a digest that is always the same.
        """
        if kind == "chunks":
            if not self._is_chunk(value):
                return {}
            chunk_id, text = id_and_text(value)
            has_text = isinstance(text, str) and text and not text.isspace()
            return {
                "@id": chunk_id if isinstance(chunk_id, str) else None,
                "@text": (text_digest(text) if to_show else text) if has_text else None,
                "@start": text[:12] if has_text and to_show else None,
            }
        key = id_key(value)
        if kind != "questions":
            return {"@qid": key}
        question = value.get("question") if isinstance(value, dict) else None
        asked = question if isinstance(question, str) and question and not question.isspace() else None
        own = None if self._repeats_as_published() else key
        return {"@qid": key, "@own_qid": own, "@question": asked}

    def scanning(self, file: DataFile) -> Scanning:
        """Predictions, and chunks and questions where no answers are looked for. `batch` gets the number of a chunk,
        for its place in the order, and the texts of which predictions have copies.
        """
        from ragdatakit.validators.arag.predicates import CHUNKS, PREDICTIONS, questions

        compared = self._has_predictions
        if file.kind == "predictions":
            return _scanning(PREDICTIONS, {"@qid": "@qid"}, COMPARED if compared else ())
        if self._search is not None:
            return Scanning()
        if file.kind == "chunks":
            scanning = _scanning(CHUNKS, {"@id": "@id", "@text": "@text"}, ("@number",))
            return replace(scanning, sees_next=self._sees_next_chunks)
        if file.kind != "questions" or self._repeats_as_published():
            return Scanning()
        texts = {"@qid": "@qid", "@own_qid": "@qid", "@question": "question"}
        kept = ("question", "answer") if compared else ()
        return _scanning(questions(first_question(file), self._folder), texts, kept)

    def _sees_next_chunks(self) -> bool:
        """Objects are not scanned; the first strings are looked at for a dot in a sentence."""
        return self._as_objects is not False or self._dots_left > 0

    def start_file(self, file: DataFile) -> None:
        """The first element says what an array holds; of each file the first chunks are looked at for a dot."""
        if file.kind == "chunks":
            self._as_objects = first_is_object(file)
            self._dots_left = DOTS_LOOKED_FOR

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one chunk, question or prediction."""
        if file.kind == "chunks":
            return self._chunk(value)
        if file.kind == "questions":
            return question_problems(value, self._folder)
        return prediction_problems(value) if file.kind == "predictions" else ()

    def _is_chunk(self, value: Any) -> bool:
        """Whether the readers keep an element: the first one decides which form the array has."""
        if self._as_objects is None:
            self._as_objects = isinstance(value, dict)
        return isinstance(value, dict if self._as_objects else str)

    def _chunk(self, value: Any) -> Iterator[Problem]:
        if not self._is_chunk(value):
            # What is neither a string nor an object is found by the declaration.
            if isinstance(value, str | dict):
                yield Problem("chunk-not-object" if self._as_objects else "chunk-not-string", None, value)
            return
        chunk_id, text = id_and_text(value)
        of_id = id_problems(chunk_id, "/id" if self._as_objects else None) if isinstance(chunk_id, str) else ()
        of_text = self._text_problems(chunk_id, text)
        if isinstance(value, dict):
            yield from of_id
            yield from of_text
        elif chunk_id is None:
            yield Problem("chunk-without-colon", None, value)
        else:
            yield from point_into_string(of_id, chunk_id, id_is_meant=True)
            yield from point_into_string(of_text, chunk_id, id_is_meant=False)

    def _text_problems(self, chunk_id: Any, text: Any) -> Iterator[Problem]:
        pointer = "/text" if self._as_objects else None
        # An empty text of an object is found by its declaration.
        if isinstance(text, str) and (text or not self._as_objects):
            yield from text_problems(chunk_id, text, pointer)
            if found := self._dot_inside(text):
                yield Problem("sentence-cut-inside", pointer, found)

    def _dot_inside(self, text: str) -> str | None:
        """The first dot of the file that ends no sentence."""
        if self._dots_left <= 0:
            return None
        self._dots_left -= 1
        if found := dot_inside(text):
            self._dots_left = 0
        return found

    def batch(
        self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any
    ) -> Iterable[RowProblems]:
        """The order of chunks, ids that appear twice; and texts and answers for the count at the end."""
        if kind == "chunks":
            rows = dict(enumerate(values) if values is not None else batch.noted)
            return self._of_chunks(rows, batch.first_row, None if values is not None else batch)
        seen = dict(enumerate(values) if values is not None else batch.noted)
        numbered = [(batch.first_row + row, value) for row, value in seen.items()]
        if not isinstance(batch, PythonBatch) and self._has_predictions:
            return self._coded_batch(kind, batch, seen, numbered)
        if kind == "questions":
            return self._of_questions(numbered)
        return self._remembered.compare(numbered)

    def _coded_batch(
        self, kind: str, batch: Any, seen: Mapping[int, Any], numbered: list[tuple[int, Any]]
    ) -> Iterable[RowProblems]:
        """The same of a big set, of which Python has ``seen`` some records."""
        if self._coded is None:
            from ragdatakit.validators.arag.coded_predictions import CodedPredictions

            self._coded = CodedPredictions()
        if kind == "predictions":
            return self._coded.compare(batch, seen)
        self._coded.add_questions(batch, seen)
        return self._of_questions(numbered)

    def _of_chunks(self, values: dict[int, Any], first_row: int, scanned: Any) -> Iterator[RowProblems]:
        disordered, objects, ragged = self._disordered(values, scanned), [], []
        for row, value in values.items():
            _, text = id_and_text(value) if self._is_chunk(value) else (None, None)
            if self._as_objects and not self._in_columns and isinstance(value, dict):
                objects.append(row)
            if isinstance(text, str):
                if is_ragged(text):
                    ragged.append(row)
                if self._search:
                    self._search.add_text(text)
        for rule, column, rows in (
            ("chunk-ids-out-of-order", "@id", disordered),
            ("chunks-as-objects", "id", objects),
            ("ragged-chunk-start", "@start", ragged),
        ):
            yield RowProblems(rule, "chunks", column, [first_row + row for row in rows])

    def _disordered(self, values: dict[int, Any], scanned: Any) -> list[int]:
        """The rows at which another number was due; of the rows of a ``scanned`` batch those that are no values have
        numbers."""
        ids = {row: id_and_text(value)[0] if self._is_chunk(value) else None for row, value in values.items()}
        if scanned is not None:
            numbers = scanned.columns["@number"]
            if not scanned.noted and self._order.goes_on(numbers):
                return []
            ids = {row: str(number) for row, number in enumerate(numbers.tolist())} | ids
        return [row for row, chunk_id in ids.items() if self._order.is_out_of_order(chunk_id)]

    def _of_questions(self, rows: list[tuple[int, Any]]) -> Iterator[RowProblems]:
        repeated = []
        published = self._repeats_as_published()
        for row, value in rows:
            key = id_key(value)
            if key is not None and self._has_predictions and self._coded is None:
                self._remembered.add_question(key, value.get("question"), gold_answer(value)[1])
            if published and key is not None:
                if key in self._published_ids:
                    repeated.append(row)
                self._published_ids.add(key)
            if self._search and isinstance(value, dict):
                gold = gold_answer(value)[1]
                if isinstance(gold, str):
                    self._search.add_answer(gold)
        yield RowProblems("published-duplicate-question-id", "questions", "@qid", repeated)

    def _subset(self, file: DataFile) -> Subset | None:
        """The published subset whose file this is, unchanged."""
        if file.name not in self._published:
            digest = fingerprint(file)
            self._published[file.name] = subset_of_file(file.kind, digest) if digest else None
        return self._published[file.name]

    def _repeats_as_published(self) -> bool:
        """Whether the questions are the published ones that have an id twice."""
        files = self.dataset.of_kind("questions")
        published = self._subset(files[0]) if len(files) == 1 else None
        return published is not None and published.name == REPEATS_A_QUESTION

    def start(self) -> Iterator[Placed]:
        """Questions without the chunks that they are asked about, where they are looked at as a dataset."""
        if self.dataset.layout != "file" and not self.dataset.of_kind("chunks"):
            for file in self.dataset.of_kind("questions"):
                yield file, missing_file(Problem("missing-chunks"), file.path.parent, "chunks.json")

    def finish_file(
        self, file: DataFile, records: int, table: CsvTable | None = None
    ) -> Iterator[Placed | RowProblems]:
        """Compare with the published files; another file of predictions may answer the same questions again."""
        if file.kind == "predictions" and (found := (self._coded or self._remembered).repeats()) is not None:
            yield found
        if file.kind not in ("chunks", "questions") or not records:
            return
        published, called = self._subset(file), subset_named(self._folder)
        if published:
            yield file, Problem("published-file", facts={"subset": published.name, "records": records})
        elif called:
            expected = called.chunks if file.kind == "chunks" else called.questions
            if records != expected:
                facts = {"subset": called.name, "records": records, "expected": expected}
                yield file, Problem("unlike-published-file", facts=facts)

    def finish(self) -> Iterator[Placed]:
        """Answers in the chunks, and an index that is older than they are."""
        yield from self._count_answers()
        for chunks in self.dataset.of_kind("chunks"):
            for index in self.dataset.of_kind("index"):
                lag = lag_seconds(index.path, chunks.path)
                if lag is not None:
                    yield index, Problem("stale-index", facts={"age": in_words(lag), "chunks": chunks.name})

    def _count_answers(self) -> Iterator[Placed]:
        if not self._search or not self._search.texts:
            return
        found, looked_for = self._search.found()
        if looked_for:
            facts = {"found": found, "answers": looked_for, "percent": round(100 * found / looked_for)}
            yield self.dataset.of_kind("questions")[0], Problem("answers-in-chunks", facts=facts)


def _scanning(asked: tuple[Asked, ...] | None, texts: Mapping[str, str], kept: tuple[str, ...]) -> Scanning:
    """``kept`` are fields that `ARagChecks.batch` compares."""

    def keep(given: Mapping[str, ScannedCodes], batch: Any) -> None:
        for name in kept:
            batch.columns[name], batch.valid[name] = given[name]

    return Scanning(asked, texts, kept, keep)
