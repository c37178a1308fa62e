"""A-RAG's predictions: one line for each question that a run has answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ragdatakit.files.containers.json_text import Raw, dumps, fields_of, loads, object_text, string_of
from ragdatakit.outputs.written_files import safe_part
from ragdatakit.schemas.canonical import Answer

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.files.reading.record_reading import RecordReader
    from ragdatakit.outputs.written_files import Output

ANSWER_COLUMNS = ("question_id", "text", "metadata")
_RUN = "run"  # which run it was, where there are several
_COSTS = ("total_cost", "loops", "total_retrieved_tokens")
_BEFORE_ANSWER = ("question", "trajectory", "gold_answer")  # the order in which the runner writes


def predicted_answers(files: list[DataFile], records: RecordReader) -> Iterator[Answer]:
    """The answers of all runs; what else a line has is metadata."""
    for file in files:
        run = _run_of(file.name) if len(files) > 1 else None
        for number, fields in records.numbered(file):
            name = next((n for n in ("qid", "id") if n in fields and loads(fields[n])), "")
            value = loads(fields[name]) if name else None
            if value is None or isinstance(value, list | dict):
                records.leave_out(file, number, "a prediction without the id of its question", value)
                continue
            if isinstance(value, str) and name == "qid":
                del fields["qid"]
            answer = fields.get("pred_answer")
            text = string_of(answer)
            if answer is not None and (text is not None or bytes(answer) == b"null"):
                del fields["pred_answer"]
            if run and _RUN not in fields:
                fields[_RUN] = Raw(dumps(run))
            yield Answer(str(value), text, metadata=object_text(fields))


def _run_of(name: str) -> str:
    parts = name.split("/")
    return parts[-2] if len(parts) > 1 else ""


def has_gold_answers(tables: CanonicalTables) -> bool:
    """Whether the answers or their questions say what would have been right, as A-RAG's predictions do."""
    first = next(tables.peek("answers"), None)
    if first is not None and first.metadata and "gold_answer" in fields_of(first.metadata):
        return True
    return any(question.answer is not None for question in tables.peek("questions"))


def write_predictions(tables: CanonicalTables, out: Output, renamed: Mapping[str, str]) -> None:
    """One file of predictions a run; ``renamed`` are question ids that were given anew."""
    questions = {q.question_id: q for q in tables.peek("questions")}
    for answer in tables.take("answers", *ANSWER_COLUMNS):
        if not answer.question_id:
            tables.drop("answers", answer, "a prediction without the id of its question is skipped")
    runs = list(dict.fromkeys(_run(a.metadata) for a in tables.peek("answers") if a.question_id))
    for run in runs:
        name = f"results/{safe_part(run)}/predictions.jsonl" if run else "predictions.jsonl"
        with out.lines(name) as writer:
            for answer in tables.peek("answers"):
                if not answer.question_id or (len(runs) > 1 and _run(answer.metadata) != run):
                    continue
                question = questions.get(answer.question_id)
                given = {"question": question.text, "gold_answer": question.answer} if question else {}
                record = _prediction(answer, given, renamed, tables)
                if len(runs) > 1 and run and _run_of(name) == run:
                    record.pop(_RUN)  # the folder shows it
                writer.write(record)


def _run(metadata: str | None) -> str:
    return (string_of(fields_of(metadata).get(_RUN)) or "") if metadata and f'"{_RUN}"' in metadata else ""


def _prediction(
    answer: Answer, given: Mapping[str, str | None], renamed: Mapping[str, str], tables: CanonicalTables
) -> dict[str, Raw]:
    fields = fields_of(answer.metadata) if answer.metadata else {}
    question_id = renamed.get(answer.question_id, answer.question_id)
    if "qid" in fields and str(loads(fields["qid"])) != question_id:
        lost = f"{answer.question_id}: {loads(fields.pop('qid'))}"
        tables.losses.add("lost", "answers", "metadata", "a prediction's qid is the id of its question", lost)
    for name in ("question", "gold_answer"):
        if name not in fields and given.get(name) is not None:
            fields[name] = Raw(dumps(given[name]))
    for name, ok in (("pred_answer", False), *((n, _is_number(fields.get(n))) for n in _COSTS)):
        if name in fields and not ok:
            tables.losses.add(
                "lost", "answers", "metadata", f"A-RAG's evaluation cannot have it as {name}", fields.pop(name)
            )
    read = fields.get("chunks_read_ids")
    if read is not None and not _are_strings(read):
        tables.losses.add(
            "lost",
            "answers",
            "metadata",
            "chunks_read_ids are lists of strings in A-RAG",
            fields.pop("chunks_read_ids"),
        )
    written: dict[str, Raw] = {}
    if "qid" not in fields:
        written["qid"] = Raw(dumps(question_id))
    written.update((n, fields.pop(n)) for n in _BEFORE_ANSWER if n in fields)
    written["pred_answer"] = Raw(dumps(answer.text))
    return {**written, **fields}


def _is_number(raw: Raw | None) -> bool:
    return raw is not None and isinstance(value := loads(raw), int | float) and not isinstance(value, bool)


def _are_strings(raw: Raw) -> bool:
    value = loads(raw)
    return value is None or (isinstance(value, list) and all(isinstance(v, str) for v in value))
