"""Canonical tables written as SAGE: pipeline records, and documents for the Wiki18 retriever."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import zip_longest
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.sage.documents import document_line
from ragdatakit.converters.sage.generations import Changed, Fields, is_for_operators, to_operators
from ragdatakit.converters.sage.rows import answer_of, is_seconds, question_of, record_from, runs_of, seconds_of
from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.row_groups import RowGroups, TextsById
from ragdatakit.outputs.file_writers import LineWriter
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import TABLES, Answer, Question, Run
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.sage.older import STAGES

RECORDS_NAME = "records.jsonl"
DOCUMENTS_NAME = "documents.jsonl"


def write_sage(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write ``records.jsonl`` where there are questions, ``documents.jsonl`` where there are passages."""
    whole = tables.format == "sage" and tables.any("traces") and not (tables.restored and _is_changed(tables))
    asked = whole or any(q.text.strip() for q in tables.peek("questions")) or any(_asked_in(tables))
    passages = tables.any(tables.passages)
    if not asked and not passages:
        raise RagdataError("nothing to write: SAGE needs questions (or records of a pipeline) or passages")
    operators = options.profile == "operators"
    move = bool(options["move-reranked"])
    if whole:
        _write_traces(tables, out, operators, move)
    elif asked:
        _Composed(tables, operators, move).write(out)
    if passages:
        _write_documents(tables, out)
    if tables.format == "sage":
        for asset in tables.take("assets", "path", "content", "kind"):
            if tables.passages == "documents":
                out.write(asset.path, asset.content)
            else:
                tables.drop("assets", asset, "it counts documents, and these were split")


def _is_changed(tables: CanonicalTables) -> bool:
    """Whether questions, runs or answers are no longer what the records say of them."""

    def in_records(table: str) -> Iterator[Any]:
        for trace in tables.peek("traces"):
            record = json_text.fields_of(trace.record)
            if table == "questions":
                yield question_of(record, trace.question_id)
            elif table == "runs":
                yield from runs_of(record, trace.question_id, lambda *_: None)
            elif (answer := answer_of(record, trace.question_id)) is not None:
                yield answer

    parts = TABLES["traces"].restates
    return any(a != b for table in parts for a, b in zip_longest(in_records(table), tables.peek(table)))


def _write_documents(tables: CanonicalTables, out: Output) -> None:
    of_sage = tables.format == "sage"
    with out.lines(DOCUMENTS_NAME) as file:
        for document in tables.take_passages("doc_id", "text", "title", "metadata"):
            file.write(document_line(document, of_sage))


def _write_traces(tables: CanonicalTables, out: Output, operators: bool, move: bool) -> None:
    """Records of SAGE as they are, under the names that are asked for."""
    with out.lines(RECORDS_NAME) as file:
        for trace in tables.take("traces", "question_id", "record", "before"):
            if not operators:
                file.write_json(trace.record)
                continue
            text = trace.before if trace.before is not None and is_for_operators(trace.before) else trace.record
            _write_for_operators(tables, file, json_text.fields_of(text), move)


def _write_for_operators(tables: CanonicalTables, file: LineWriter, record: Fields, move: bool) -> None:
    changed: Changed = to_operators(record, move)
    for note in changed.notes:
        tables.losses.add(note.kind, "records", note.column, note.reason, note.example or None)
    file.write_json(json_text.object_text(changed.record) or "{}")


class _Composed:
    """Records made of questions, of the runs that found something for them, and of their answers.

    Runs and answers are first gathered by question in a temporary database; then the records are written, and then the
    tables are gone through once more to say which rows went nowhere.
    """

    def __init__(self, tables: CanonicalTables, operators: bool, move: bool) -> None:
        self._tables = tables
        self._operators = operators
        self._move = move
        self._numbers: dict[str, int] = {}
        self._stages: dict[str, str] = {}
        self._left_out: dict[int, str] = {}

    def write(self, out: Output) -> None:
        """Write the records."""
        given = self._tables.peek("questions") if self._tables.any("questions") else _asked_in(self._tables)
        for number, question in enumerate(given):
            if question.question_id is not None and question.text.strip():
                self._numbers.setdefault(question.question_id, number)
        with ExitStack() as stack:
            groups, texts = stack.enter_context(RowGroups()), stack.enter_context(TextsById())
            self._gather(groups, texts)
            with out.lines(RECORDS_NAME) as file:
                self._write_records(file, groups, texts)
        self._account_runs()
        self._account_answers()

    def _gather(self, groups: RowGroups, texts: TextsById) -> None:
        """All runs and answers; and which stages there are."""
        wanted = set()
        found: dict[str, None] = {}
        for number, run in enumerate(self._tables.peek("runs")):
            group = self._numbers.get(run.question_id)
            found.setdefault(run.stage)
            if group is not None:
                groups.add(group, ["run", number, *run])
                if run.text is None and run.target_id is not None:
                    wanted.add(run.target_id)
        self._name_stages(list(found))
        for number, answer in enumerate(self._tables.peek("answers")):
            group = self._numbers.get(answer.question_id)
            if group is not None:
                groups.add(group, ["answer", number, *answer])
        for passage in self._tables.peek_passages() if wanted else ():
            if passage.doc_id in wanted:
                texts.add(passage.doc_id, passage.text, passage.title)

    def _name_stages(self, found: list[str]) -> None:
        """Stages by their SAGE names: the first one that SAGE does not know is retrieval, if nothing else is."""
        self._stages = {stage: stage for stage in found if stage in STAGES}
        unknown = [stage for stage in found if stage not in STAGES]
        if unknown and "retrieval" not in self._stages:
            self._stages[unknown[0]] = "retrieval"

    def _write_records(self, file: LineWriter, groups: RowGroups, texts: TextsById) -> None:
        gathered = iter(groups)
        number, rows = next(gathered, (-1, []))
        for place, question in enumerate(self._questions()):
            mine: list[Any] = []
            if place == number:
                mine = rows
                number, rows = next(gathered, (-1, []))
            if not question.text.strip():
                self._tables.drop("questions", question, "it has no words")
                continue
            self._say_references(question)
            record = record_from(question, self._runs_of(mine, texts), _answer_in(mine))
            if self._operators:
                fields = json_text.fields_of(json_text.dumps(record))
                _write_for_operators(self._tables, file, fields, self._move)
            else:
                file.write(record)

    def _questions(self) -> Iterator[Question]:
        if self._tables.any("questions"):
            columns = ("question_id", "text", "answer", "aliases", "split", "metadata")
            yield from self._tables.take("questions", *columns)
            return
        for question in _asked_in(self._tables):
            reason = "questions that only the answers have"
            self._tables.losses.add("derived", "questions", None, reason, question.question_id)
            yield question

    def _say_references(self, question: Question) -> None:
        if any(alias == "" for alias in question.aliases):
            self._tables.losses.add("lost", "questions", "aliases", "references are not empty", question.question_id)
        if question.answer == "" and "answer" not in question.field_order:
            self._tables.losses.add("lost", "questions", "answer", "references are not empty", question.question_id)
        if question.answer is None and question.aliases:
            reason = "the first of the references is the answer"
            self._tables.losses.add("coerced", "questions", "aliases", reason, question.question_id)

    def _runs_of(self, rows: list[Any], texts: TextsById) -> dict[str, list[Run]]:
        """The runs of one question by stage, best first, with their texts."""
        found: dict[str, list[tuple[int, Run]]] = {}
        for kind, number, *values in rows:
            if kind != "run" or values[1] not in self._stages:
                continue
            run = Run(*values)
            if run.text is None:
                stored = texts.get(run.target_id) if run.target_id is not None else None
                if stored is None:
                    self._left_out[number] = "its text is not known"
                    continue
                run = run._replace(text=stored[0], metadata=_titled(run.metadata, stored[1]))
            found.setdefault(self._stages[run.stage], []).append((number, run))
        for pairs in found.values():
            pairs.sort(key=lambda pair: pair[1].rank)
        self._keep_known(found)
        written = {stage: [run for _, run in pairs] for stage, pairs in found.items()}
        for runs in written.values():
            self._account_places(runs)
        return written

    def _account_places(self, runs: list[Run]) -> None:
        """A stage has one time, and its results no other rank than their place."""
        add = self._tables.losses.add
        seconds = seconds_of(runs)
        for place, run in enumerate(runs, 1):
            shown = f"{run.question_id} {run.stage}"
            if run.rank != place:
                reason = "results are ranked from 1 on, in the same order"
                add("coerced", "runs", "rank", reason, f"{shown}: {run.rank} became {place}")
            if is_seconds(run.seconds) and run.seconds != seconds:
                reason = "a stage has one time for all its results, that of the first"
                add("coerced", "runs", "seconds", reason, f"{shown}: {run.seconds} became {seconds}")
            elif run.seconds is None and seconds is not None:
                reason = "a stage has one time for all its results"
                add("derived", "runs", "seconds", reason, f"{shown}: {seconds}")

    def _keep_known(self, found: dict[str, list[tuple[int, Run]]]) -> None:
        """Reranking only reorders: it has no text that was not retrieved or refined, and no more than these."""
        sources = [found[stage] for stage in ("retrieval", "refining") if found.get(stage)]
        if not sources or "reranking" not in found:
            return
        known = {run.text for pairs in sources for _, run in pairs}
        most = max(map(len, sources))
        kept: list[tuple[int, Run]] = []
        for number, run in found["reranking"]:
            if run.text in known and len(kept) < most:
                kept.append((number, run))
            else:
                self._left_out[number] = "it is not among the texts that reranking started from"
        found["reranking"] = kept

    def _account_runs(self) -> None:
        columns = ("question_id", "stage", "rank", "target_id", "text", "score", "seconds", "metadata")
        losses, last = self._tables.losses, ("", "")
        for number, run in enumerate(self._tables.take("runs", *columns)):
            if run.question_id not in self._numbers:
                self._tables.drop("runs", run, "its question is not there")
            elif run.stage not in self._stages:
                self._tables.drop("runs", run, "a record has room for one retrieval, one reranking and one refining")
            elif number in self._left_out:
                self._tables.drop("runs", run, self._left_out[number])
            else:
                if self._stages[run.stage] != run.stage:
                    losses.add("coerced", "runs", "stage", "another name of a stage became retrieval", run.stage)
                if run.score is not None and not math.isfinite(run.score):
                    losses.add("lost", "runs", "score", "no finite number", f"{run.question_id}: {run.score}")
                if run.seconds is not None and not is_seconds(run.seconds) and last != run[:2]:
                    losses.add("lost", "runs", "seconds", "no seconds from 0", f"{run.question_id}: {run.seconds}")
                last = (run.question_id, run.stage)

    def _account_answers(self) -> None:
        seen: set[str] = set()
        for answer in self._tables.take("answers", "question_id", "text", "prompt", "seconds", "metadata"):
            if answer.question_id not in self._numbers:
                self._tables.drop("answers", answer, "its question is not there")
            elif answer.question_id in seen:
                self._tables.drop("answers", answer, "a record has room for one answer")
            elif answer.seconds is not None and not is_seconds(answer.seconds):
                self._tables.losses.add("lost", "answers", "seconds", "no seconds from 0", answer.question_id)
            seen.add(answer.question_id)


def _asked_in(tables: CanonicalTables) -> Iterator[Question]:
    """The questions that predictions repeat, where the questions themselves are not there."""
    seen: set[str] = set()
    for answer in () if tables.any("questions") else tables.peek("answers"):
        fields = json_text.fields_of(answer.metadata) if answer.metadata else {}
        text = json_text.string_of(fields.get("question"))
        if text is not None and text.strip() and answer.question_id not in seen:
            seen.add(answer.question_id)
            yield Question(answer.question_id, text, json_text.string_of(fields.get("gold_answer")))


def _answer_in(rows: list[Any]) -> Answer | None:
    return next((Answer(*values) for kind, _, *values in rows if kind == "answer"), None)


def _titled(metadata: str | None, title: str | None) -> str | None:
    fields = json_text.fields_of(metadata) if metadata else {}
    if title and "title" not in fields:
        fields["title"] = json_text.Raw(json_text.dumps(title).encode())
    return json_text.object_text(fields)
