"""The checks of an A-RAG corpus that its declaration cannot say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.schemas.arag.published import REPEATS_A_QUESTION, Subset, subset_named, subset_of_file
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.ages import in_words, lag_seconds
from ragdatakit.validators.arag.chunks import (
    ChunkOrder,
    dot_inside,
    id_and_text,
    id_problems,
    is_ragged,
    is_sound,
    point_into_string,
    text_digest,
    text_problems,
)
from ragdatakit.validators.arag.corpus import (
    CORPUS_BYTES,
    AnswerSearch,
    file_bytes,
    fingerprint,
)
from ragdatakit.validators.arag.predictions import Remembered, prediction_problems
from ragdatakit.validators.arag.questions import gold_answer, id_key, question_problems
from ragdatakit.validators.checks import Emit, FormatChecks
from ragdatakit.validators.sets import Hits

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset

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
        self._dotted_text: str | None = None
        self._cut: tuple[list[Any], list[tuple[Any, Any]]] = ([], [])
        self._search = AnswerSearch() if self._wants_search() else None
        self._remembered = Remembered()
        self._published: dict[str, Subset | None] = {}
        self._published_ids: set[str] = set()
        self._has_predictions = bool(dataset.of_kind("predictions"))

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
        questions one does, which `batch` says more mildly. ``@start`` only fills a message.
        """
        if kind == "chunks":
            if not self._is_chunk(value):
                return {}
            chunk_id, text = id_and_text(value)
            has_text = isinstance(text, str) and text and not text.isspace()
            return {
                "@id": chunk_id if isinstance(chunk_id, str) else None,
                "@text": text_digest(text) if has_text else None,
                "@start": text[:12] if has_text else None,
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
            return self._prediction(value)
        return ()

    def derive_columns(self, kind: str, values: list[Any]) -> dict[str, list[Any]] | None:
        """Ids and texts of chunks; one is compared with another by the hash of this process, which is quickest."""
        if kind != "chunks":
            return None
        cut = self._ids_and_texts(values)
        return {
            "@id": [chunk_id if isinstance(chunk_id, str) else None for chunk_id, _ in cut],
            "@text": [hash(t) if isinstance(t, str) and t and not t.isspace() else None for _, t in cut],
        }

    def suspect_values(self, kind: str, values: list[Any]) -> Iterable[int] | None:
        """Chunks that may have a fault, and those in which a dot inside a sentence is to be looked for."""
        looks_for_dots = self._dots_left > 0 and self._dotted_text is None
        if kind != "chunks" or looks_for_dots or not self._are_strings(values):
            return None
        dotted = self._dotted_text
        return [i for i, v in enumerate(values) if not is_sound(v) or (dotted is not None and v.endswith(dotted))]

    def _are_strings(self, values: list[Any]) -> bool:
        return bool(values) and self._is_chunk(values[0]) and not self._as_objects

    def _ids_and_texts(self, values: list[Any]) -> list[tuple[Any, Any]]:
        """The ids and texts of elements that are chunks, (None, None) for others; of one batch they are kept."""
        if self._cut[0] is not values:
            self._cut = values, [id_and_text(v) if self._is_chunk(v) else (None, None) for v in values]
        return self._cut[1]

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
        """The first dot of the file that ends no sentence; the same answer when a chunk is looked at again."""
        if self._dotted_text is not None:
            return dot_inside(text) if text == self._dotted_text else None
        if self._dots_left <= 0:
            return None
        self._dots_left -= 1
        found = dot_inside(text)
        if found:
            self._dotted_text = text
        return found

    def _question(self, value: Any) -> Iterator[Problem]:
        yield from question_problems(value, self._folder)
        key = id_key(value)
        if key is not None and self._has_predictions:
            self._remembered.add_question(key, value.get("question"), gold_answer(value)[1])

    def _prediction(self, value: Any) -> Iterator[Problem]:
        yield from prediction_problems(value)
        key = id_key(value)
        if key is not None:
            yield from self._remembered.compare(key, value)

    def needs_values(self, kind: str) -> bool:
        """What depends on the records before it is told batch by batch, when each comes once and in order."""
        return self.record_checks(kind)

    def batch(self, kind: str, split: str | None, values: list[Any] | None, batch: Any, sets: Any) -> Iterable[Hits]:
        """The order of chunks, ids that stand twice; and texts and answers for the count at the end."""
        if kind == "chunks":
            return self._chunk_hits(values or [], batch.first_row)
        rows = list(enumerate(values or (), batch.first_row))
        if kind == "questions":
            return self._question_hits(rows)
        return self._prediction_hits(rows)

    def _chunk_hits(self, values: list[Any], first_row: int) -> Iterator[Hits]:
        disordered, objects, ragged = [], [], []
        cut = self._ids_and_texts(values)
        for row, (value, (chunk_id, text)) in enumerate(zip(values, cut, strict=True), first_row):
            if self._order.is_out_of_order(chunk_id):
                disordered.append(row)
            if self._as_objects and isinstance(value, dict):
                objects.append(row)
            if isinstance(text, str):
                if is_ragged(text):
                    ragged.append(row)
                if self._search:
                    self._search.add_text(text)
        self._cut = [], []
        yield Hits("chunk-ids-out-of-order", "chunks", "@id", disordered)
        yield Hits("chunks-as-objects", "chunks", "id", objects)
        yield Hits("ragged-chunk-start", "chunks", "@start", ragged)

    def _question_hits(self, rows: list[tuple[int, Any]]) -> Iterator[Hits]:
        repeated = []
        published = self._repeats_as_published()
        for row, value in rows:
            key = id_key(value)
            if published and key is not None:
                if key in self._published_ids:
                    repeated.append(row)
                self._published_ids.add(key)
            if self._search and isinstance(value, dict):
                gold = gold_answer(value)[1]
                if isinstance(gold, str):
                    self._search.add_answer(gold)
        yield Hits("published-duplicate-question-id", "questions", "@qid", repeated)

    def _prediction_hits(self, rows: list[tuple[int, Any]]) -> Iterator[Hits]:
        repeats = [(row, first) for row, v in rows if (first := self._remembered.first_row(id_key(v), row)) != row]
        yield Hits(
            "repeated-prediction",
            "predictions",
            "@qid",
            [row for row, _ in repeats],
            firsts=[first for _, first in repeats],
            first_kind="predictions",
            note="first answered here",
        )

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

    def start(self, emit: Emit) -> None:
        """Questions without the chunks that they are asked about, where they are looked at as a dataset."""
        if self.dataset.layout != "file" and not self.dataset.of_kind("chunks"):
            for file in self.dataset.of_kind("questions"):
                emit(file, Problem("missing-chunks"))

    def finish_file(self, file: DataFile, records: int, emit: Emit) -> None:
        """Compare with the published files; another file of predictions may answer the same questions again."""
        if file.kind == "predictions":
            self._remembered.forget_predictions()
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
                lag = lag_seconds(index.path, chunks.path)
                if lag is not None:
                    emit(index, Problem("stale-index", facts={"age": in_words(lag), "chunks": chunks.name}))

    def _count_answers(self, emit: Emit) -> None:
        if not self._search or not self._search.texts:
            return
        found, looked_for = self._search.found()
        if looked_for:
            facts = {"found": found, "answers": looked_for, "percent": round(100 * found / looked_for)}
            emit(self.dataset.of_kind("questions")[0], Problem("answers-in-chunks", facts=facts))
