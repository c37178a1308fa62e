"""Canonical tables written as what RAGChecker reads: questions with their answers and what was retrieved for them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from ragdatakit.converters import Options
from ragdatakit.converters.ragchecker.corpus import is_of_results, write_corpus
from ragdatakit.converters.ragchecker.kept_apart import ANSWERS, GOLD, run_in, texts_in
from ragdatakit.converters.ragchecker.rows import OF_ANSWER
from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads
from ragdatakit.files.containers.long_json import long_or_short
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.row_groups import RowGroups, TextsById
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Answer, Question, Run
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.ragchecker.metrics import (
    CLAIMS,
    GROUPS,
    METRICS,
    group_means,
    is_complete,
    is_number,
    kept_metrics,
    labels_fit,
)

INPUTS, OUTPUTS = "checking_inputs.json", "checking_outputs.json"
_STAGES = ("refining", "reranking", "retrieval")
_CLAIMS = "gt_answer_claims"


def write(tables: CanonicalTables, out: Output, options: Options) -> None:
    """Write one file: an output where rows have labels, else an input."""
    _Writing(tables, options).write(out)


class _Writing:
    """Gathers runs and answers by question in a temporary database, writes the rows, then accounts for the rest."""

    def __init__(self, tables: CanonicalTables, options: Options) -> None:
        self._tables = tables
        self._top = int(options["top"])
        self._stage = str(options["stage"] or "")
        self._corpus = bool(options["corpus"])
        self._of_results = is_of_results(tables)
        given = {name: options[name] for name in ("answers", "gold", "run")}
        self._answers = texts_in(given["answers"], "answers", ANSWERS) if given["answers"] else {}
        self._gold = texts_in(given["gold"], "gold", GOLD) if given["gold"] else {}
        self._run_file: str | None = given["run"]
        self._numbers: dict[str, int] = {}
        self._unwritten: dict[int, str] = {}
        self._no_text: set[int] = set()
        self._cut: set[int] = set()
        self._retrieved: set[str | None] = set()

    def write(self, out: Output) -> None:
        """Write the file."""
        tables = self._tables
        self._refuse()
        for number, question in enumerate(tables.peek("questions")):
            self._numbers.setdefault(question.question_id or f"question-{number + 1}", number)
        self._choose_stage()
        labelled = any(self._has_labels(a) for a in tables.peek("answers"))
        with ExitStack() as stack:
            groups, texts = stack.enter_context(RowGroups()), stack.enter_context(TextsById())
            self._gather(groups, texts)
            with out.array_in(OUTPUTS if labelled else INPUTS, "results") as file:
                self._write_rows(file, groups, texts)
        if self._corpus and not self._of_results:
            write_corpus(tables, out)
        self._account()

    def _refuse(self) -> None:
        """Say what is missing, before anything is written."""
        tables = self._tables
        if not tables.any("questions"):
            raise RagdataError("nothing to write: RAGChecker needs questions, and the source has none")
        if not self._answers and not tables.any("answers"):
            raise RagdataError(
                "RAGChecker judges what a system answered, and the source has no answers: --option answers=FILE"
            )
        if not self._gold and not any(_has_gold(q) for q in tables.peek("questions")):
            raise RagdataError("RAGChecker needs right answers, and the source has none: --option gold=FILE")

    def _choose_stage(self) -> None:
        stages = dict.fromkeys(run.stage for run in self._runs())
        if self._stage and self._stage not in stages:
            raise RagdataError(f"--option stage={self._stage}: the source has {', '.join(stages) or 'no runs'}")
        last = next((stage for stage in _STAGES if stage in stages), "")
        self._stage = self._stage or last or next(iter(stages), "")

    def _runs(self) -> Iterator[Run]:
        return run_in(self._run_file) if self._run_file else self._tables.peek("runs")

    def _gather(self, groups: RowGroups, texts: TextsById) -> None:
        wanted: set[str] = set()
        for number, run in enumerate(self._runs()):
            group = self._numbers.get(run.question_id)
            if group is not None and run.stage == self._stage:
                groups.add(group, ["run", number, *run])
                if run.text is None and run.target_id is not None:
                    wanted.add(run.target_id)
        for number, answer in enumerate(self._tables.peek("answers")):
            if (group := self._numbers.get(answer.question_id)) is not None:
                groups.add(group, ["answer", number, *answer])
        for passage in self._tables.peek_passages() if wanted else ():
            if passage.doc_id in wanted:
                texts.add(passage.doc_id, passage.text, passage.title)

    def _write_rows(self, file: Any, groups: RowGroups, texts: TextsById) -> None:
        gathered = iter(groups)
        number, rows = next(gathered, (-1, []))
        values: dict[str, list[float]] = {name: [] for name in METRICS}
        written = complete = 0
        for place, question in enumerate(self._tables.take("questions", "question_id", "text", "answer", "metadata")):
            mine: list[Any] = []
            if place == number:
                mine, (number, rows) = rows, next(gathered, (-1, []))
            row = self._row(place, question, mine, texts)
            if row is None:
                continue
            file.write(row)
            written += 1
            if is_complete(labels := {n: long_or_short(r) for n, r in row.items() if n in (*CLAIMS, "metrics")}):
                complete += 1
                for name, value in kept_metrics(labels).items():
                    values[name].append(value)
        if not written:
            raise RagdataError("nothing to write: no question has both an answer of the system and a right one")
        if complete == written:
            file.beside = {"metrics": {group: group_means(values).get(group, {}) for group in GROUPS}}

    def _row(self, place: int, question: Question, mine: list[Any], texts: TextsById) -> dict[str, Raw] | None:
        key = question.question_id or f"question-{place + 1}"
        answer = next((Answer(*values) for kind, _, *values in mine if kind == "answer"), None)
        response = self._answers.get(key, answer.text if answer is not None else None)
        gold = question.answer if _has_gold(question) else self._gold.get(key)
        why = "it has the same id as one before" if self._numbers[key] != place else ""
        why = why or ("the system did not answer it" if response is None else "")
        why = why or ("it has no right answer" if gold is None else "")
        if why:
            self._unwritten[place] = why
            self._tables.drop("questions", question, why)
            return None
        if question.question_id is None:
            self._tables.losses.add("derived", "questions", "question_id", "the question has no id", key)
        if not _has_gold(question):
            self._tables.losses.add("derived", "questions", "answer", "taken from the file of right answers", key)
        passages = self._passages(key, mine, texts)
        row: dict[str, Any] = {"query_id": key, "query": question.text, "gt_answer": gold, "response": response}
        row["retrieved_context"] = passages
        written = {name: Raw(dumps(value)) for name, value in row.items()}
        more = fields_of(question.metadata) if question.metadata else {}
        if not _has_gold(question):
            more.pop(_CLAIMS, None)  # of another answer
        about = fields_of(answer.metadata) if answer is not None and answer.metadata else {}
        same = self._answers.get(key, response) == (answer.text if answer is not None else None)
        kept = self._labels(key, written, more, about if same else {})
        rest = {n: raw for n, raw in more.items() if n not in (*written, *OF_ANSWER, _CLAIMS)}
        lost = [n for n in about if n not in kept] + [n for n in more if n not in rest and n not in kept]
        for name in lost:
            self._tables.losses.add("lost", "answers", "metadata", "a row has no place for it", f"{key}: {name}")
        return {**written, **kept, **rest}

    def _labels(self, key: str, row: dict[str, Raw], more: dict[str, Raw], about: dict[str, Raw]) -> dict[str, Raw]:
        """Claims, labels and metrics, as far as the tool can read them and they fit what is written."""
        given = {n: about[n] for n in OF_ANSWER if n in about} | ({_CLAIMS: more[_CLAIMS]} if _CLAIMS in more else {})
        values = {n: long_or_short(raw) for n, raw in given.items()}
        claims = [n for n in ("response_claims", _CLAIMS) if n in values]
        usable = all(isinstance(values[n], list) for n in claims)
        usable = usable and labels_fit({**values, "retrieved_context": loads(row["retrieved_context"])})
        if not usable and any(n in values for n in CLAIMS):
            why = "labels that do not fit the claims and passages"
            self._tables.losses.add("lost", "answers", "metadata", why, key)
            given = {n: given[n] for n in claims if isinstance(values[n], list)}
        elif not usable:
            given = {n: given[n] for n in claims if isinstance(values[n], list)}
        metrics = values.get("metrics")
        if "metrics" in given and not (isinstance(metrics, dict) and all(map(is_number, metrics.values()))):
            del given["metrics"]
        order = ("response_claims", _CLAIMS, *CLAIMS, "metrics")
        return {n: given[n] for n in order if n in given}

    def _passages(self, key: str, mine: list[Any], texts: TextsById) -> list[dict[str, Any]]:
        """What was retrieved for a question, best first, as far as its text is known."""
        runs = sorted(
            ((number, Run(*values)) for kind, number, *values in mine if kind == "run"), key=lambda pair: pair[1].rank
        )
        found: list[dict[str, Any]] = []
        for number, run in runs:
            stored = texts.get(run.target_id) if run.text is None and run.target_id is not None else None
            text = run.text if run.text is not None else stored[0] if stored is not None else None
            if text is None:
                self._no_text.add(number)
                continue
            if self._top and len(found) >= self._top:
                self._cut.add(number)
                continue
            self._retrieved.add(run.target_id)
            title = stored[1] if stored is not None else None
            passage = self._passage(key, run, text, len(found))
            found.append(({"title": title} if title else {}) | passage)
            if run.rank != len(found):
                why = "passages are ranked from 1 on, in the same order"
                self._tables.losses.add("coerced", "runs", "rank", why, f"{key}: {run.rank} became {len(found)}")
        return found

    def _passage(self, key: str, run: Run, text: str, place: int) -> dict[str, Any]:
        name = run.target_id if run.target_id is not None else f"{place:03}"
        if self._of_results:
            name = name.removeprefix(f"{key}/")
        more = fields_of(run.metadata) if run.metadata else {}
        passage: dict[str, Any] = {"doc_id": name, "text": text}
        if run.score is not None and math.isfinite(run.score):
            passage["score"] = run.score
        return passage | {n: raw for n, raw in more.items() if n not in ("doc_id", "text", "chunk_id", "score")}

    @staticmethod
    def _has_labels(answer: Answer) -> bool:
        return bool(answer.metadata) and any(name in fields_of(answer.metadata or "{}") for name in CLAIMS)

    def _account(self) -> None:
        """What of the runs, answers and judgements went nowhere."""
        tables = self._tables
        columns = ("question_id", "stage", "rank", "target_id", "text", "score", "metadata")
        taken = run_in(self._run_file) if self._run_file else tables.take("runs", *columns)
        for number, run in enumerate(taken):
            why = self._why_not(run.question_id)
            if not why and run.stage != self._stage:
                why = f"of another stage; --option stage={run.stage} writes it instead"
            if not why and number in self._no_text:
                why = "its text is not known"
            if not why and number in self._cut:
                why = f"it is not among the first {self._top}"
            if why:
                tables.drop("runs", run, why)
        seen: set[str] = set()
        for answer in tables.take("answers", "question_id", "text", "metadata"):
            why = self._why_not(answer.question_id)
            if why or answer.question_id in seen:
                tables.drop("answers", answer, why or "a row has room for one answer")
            seen.add(answer.question_id)
        self._account_rest()

    def _why_not(self, question_id: str) -> str:
        place = self._numbers.get(question_id)
        return "its question is not there" if place is None else self._unwritten.get(place, "")

    def _account_rest(self) -> None:
        """Of RAGChecker's own tables, passages and judgements are made of the rows; passages of others are texts of
        runs, as far as they were retrieved."""
        tables = self._tables
        if self._of_results:
            for _ in tables.take("documents", "doc_id", "text", "title", "metadata"):
                pass
        elif not self._corpus:
            for passage in tables.take_passages("doc_id", "text", "title", "metadata"):
                if passage.doc_id not in self._retrieved:
                    tables.drop(tables.passages, passage, "it was not retrieved")
                elif passage.metadata:
                    why = "a passage has no place for it"
                    tables.losses.add("lost", tables.passages, "metadata", why, passage.doc_id)
        if tables.format == "ragchecker":
            for _ in tables.take("qrels", "question_id", "target_id", "grade", "target_kind", "split", "node_type"):
                pass


def _has_gold(question: Question) -> bool:
    return question.answer is not None
