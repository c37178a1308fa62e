"""The checks of an A-RAG corpus that its declaration cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.arag_published import REPEATS_A_QUESTION, Subset, subset_named, subset_of_file
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.arag_chunks import (
    ChunkOrder,
    dot_inside,
    id_and_text,
    id_problems,
    point_into_string,
    text_digest,
    text_problems,
)
from ragdatakit.validators.arag_corpus import CORPUS_BYTES, AnswerSearch, file_bytes, fingerprint, index_lag_seconds
from ragdatakit.validators.arag_predictions import Remembered, prediction_problems
from ragdatakit.validators.arag_questions import gold_answer, id_key, question_problems
from ragdatakit.validators.checks import Emit, FormatChecks

if TYPE_CHECKING:
    from ragdatakit.tables.datasets import DataFile, Dataset

DOTS_LOOKED_FOR = 1000
"""In how many chunks a sentence cut inside is looked for: one example a file is enough, and the search is slow."""


class ARagChecks(FormatChecks):
    """Chunks, questions and predictions one by one, and what they say about each other."""

    def __init__(self, dataset: Dataset, profiles: tuple[str, ...]) -> None:
        super().__init__(dataset, profiles)
        self._folder = dataset.root.name
        self._as_objects: bool | None = None
        self._order = ChunkOrder()
        self._dots_left = DOTS_LOOKED_FOR
        self._search = AnswerSearch() if self._wants_search() else None
        self._remembered = Remembered()
        self._published: dict[str, Subset | None] = {}
        self._published_ids: set[str] = set()
        self._has_predictions = bool(dataset.of_kind("predictions"))
        self._prediction_file: DataFile | None = None

    def _wants_search(self) -> bool:
        chunks = self.dataset.of_kind("chunks")
        if len(chunks) != 1 or not self.dataset.of_kind("questions"):
            return False
        size = file_bytes(chunks[0].path)
        return size is not None and size <= CORPUS_BYTES

    def record_checks(self, kind: str) -> bool:
        """All records have something that the declaration does not say."""
        return kind in ("chunks", "questions", "predictions")

    def derive(self, kind: str, value: Any) -> dict[str, str | None]:
        """The keys that are not fields: the chunk's id and text, the id that the runner uses, the question.

        ``@qid`` is what predictions refer to, ``@own_qid`` what must not stand twice: in the published novel
        questions one does, which `_question` says more mildly.
        """
        if kind == "chunks":
            if not self._is_chunk(value):
                return {"@id": None, "@text": None}
            chunk_id, text = id_and_text(value)
            has_text = isinstance(text, str) and text and not text.isspace()
            return {
                "@id": chunk_id if isinstance(chunk_id, str) else None,
                "@text": text_digest(text) if has_text else None,
            }
        key = id_key(value)
        if kind != "questions":
            return {"@qid": key}
        question = value.get("question") if isinstance(value, dict) else None
        asked = question if isinstance(question, str) and question and not question.isspace() else None
        own = None if self._repeats_as_published() else key
        return {"@qid": key, "@own_qid": own, "@question": asked}

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of one chunk, question or prediction."""
        if file.kind == "chunks":
            return self._chunk(value)
        if file.kind == "questions":
            return self._question(value)
        if file.kind == "predictions":
            return self._prediction(file, value)
        return ()

    def _is_chunk(self, value: Any) -> bool:
        """Whether the readers keep an element: the first one decides which form the array has."""
        if self._as_objects is None:
            self._as_objects = isinstance(value, dict)
        return isinstance(value, dict if self._as_objects else str)

    def _chunk(self, value: Any) -> Iterator[Problem]:
        first = self._as_objects is None
        if not self._is_chunk(value):
            self._order.expected_instead(None)
            # What is neither a string nor an object is found by the declaration.
            if isinstance(value, str | dict):
                yield Problem("chunk-not-object" if self._as_objects else "chunk-not-string", None, value)
            return
        if first and self._as_objects:
            yield Problem("chunks-as-objects")
        chunk_id, text = id_and_text(value)
        of_id, of_text = list(self._id_problems(chunk_id)), list(self._text_problems(chunk_id, text))
        if isinstance(value, dict):
            yield from of_id + of_text
        elif chunk_id is None:
            yield Problem("chunk-without-colon", None, value)
        else:
            yield from point_into_string(of_id, chunk_id, id_is_meant=True)
            yield from point_into_string(of_text, chunk_id, id_is_meant=False)

    def _id_problems(self, chunk_id: Any) -> Iterator[Problem]:
        pointer = "/id" if self._as_objects else None
        due = self._order.expected_instead(chunk_id)
        if isinstance(chunk_id, str):
            yield from id_problems(chunk_id, pointer)
            if due is not None:
                yield Problem("chunk-ids-out-of-order", pointer, chunk_id, {"expected": str(due)})

    def _text_problems(self, chunk_id: Any, text: Any) -> Iterator[Problem]:
        pointer = "/text" if self._as_objects else None
        # An empty text of an object is found by its declaration.
        if isinstance(text, str) and (text or not self._as_objects):
            yield from text_problems(chunk_id, text, pointer)
            yield from self._cut_sentence(text, pointer)
            if self._search:
                self._search.add_text(text)

    def _cut_sentence(self, text: str, pointer: str | None) -> Iterator[Problem]:
        if self._dots_left <= 0:
            return
        self._dots_left -= 1
        if found := dot_inside(text):
            self._dots_left = 0
            yield Problem("sentence-cut-inside", pointer, found)

    def _question(self, value: Any) -> Iterator[Problem]:
        yield from question_problems(value, self._folder)
        if not isinstance(value, dict):
            return
        _, gold = gold_answer(value)
        key = id_key(value)
        if key is not None:
            if self._has_predictions:
                self._remembered.add_question(key, value.get("question"), gold)
            if self._repeats_as_published():
                if key in self._published_ids:
                    yield Problem("published-duplicate-question-id", "/qid" if value.get("qid") else "/id", key)
                self._published_ids.add(key)
        if self._search and isinstance(gold, str):
            self._search.add_answer(gold)

    def _prediction(self, file: DataFile, value: Any) -> Iterator[Problem]:
        if file is not self._prediction_file:
            self._prediction_file = file
            self._remembered.start_file()
        yield from prediction_problems(value)
        key = id_key(value)
        if key is not None:
            yield from self._remembered.compare(key, value)

    def _subset(self, file: DataFile) -> Subset | None:
        """The published subset whose file this is, unchanged."""
        if file.name not in self._published:
            digest = fingerprint(file.path)
            self._published[file.name] = subset_of_file(file.kind, digest) if digest else None
        return self._published[file.name]

    def _repeats_as_published(self) -> bool:
        """Whether the questions are the published ones that have an id twice."""
        files = self.dataset.of_kind("questions")
        published = self._subset(files[0]) if len(files) == 1 else None
        return published is not None and published.name == REPEATS_A_QUESTION

    def finish_file(self, file: DataFile, records: int, emit: Emit) -> None:
        """Compare with the published files."""
        if file.kind not in ("chunks", "questions") or not records:
            return
        published, called = self._subset(file), subset_named(self._folder)
        if published:
            emit(file, Problem("published-file", facts={"subset": published.name, "records": records}))
        elif called:
            expected = called.chunks if file.kind == "chunks" else called.questions
            if records != expected:
                facts = {"subset": called.name, "records": records, "expected": expected}
                emit(file, Problem("unlike-published-file", facts=facts))

    def finish(self, emit: Emit) -> None:
        """Answers in the chunks, and an index that is older than they are."""
        self._count_answers(emit)
        for chunks in self.dataset.of_kind("chunks"):
            for index in self.dataset.of_kind("index"):
                lag = index_lag_seconds(index.path, chunks.path)
                if lag is not None:
                    emit(index, Problem("stale-index", facts={"seconds": round(lag), "chunks": chunks.name}))

    def _count_answers(self, emit: Emit) -> None:
        if not self._search or not self._search.texts:
            return
        found, looked_for = self._search.found()
        if looked_for:
            facts = {"found": found, "answers": looked_for, "percent": round(100 * found / looked_for)}
            emit(self.dataset.of_kind("questions")[0], Problem("answers-in-chunks", facts=facts))
