"""An evaluation for programs: one JSON document, and a table with a row for each question of each run."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import orjson

from ragdatakit.schemas.evaluations import Evaluation, QuestionResult, RunResult, Score

VERSION = 1
_HALVES = re.compile("[\ud800-\udfff]")


def evaluation_json(done: Evaluation, worst: int = 5) -> bytes:
    """The JSON document, version 1, with a line end. Fields may be added; none is renamed or dropped.

    ``scores``, and those in ``by_type``, have ``mean``, ``low`` and ``high`` (the 95 % interval of the mean) and
    ``count`` by metric. ``ceiling`` has the best ``scores`` that any retriever could reach, with the ``causes``.
    ``worst`` are the questions of each run with the lowest values. ``by_rule`` counts all findings, shown or not.
    """
    return _dumps(
        {
            "version": VERSION,
            "dataset": done.dataset,
            "name": done.name,
            "format": done.format,
            "split": done.split,
            "unit": done.unit,
            "passages": done.passages,
            "questions": done.questions,
            "judged": done.judged,
            "without_gold": done.without_gold,
            "ok": done.ok,
            "runs": [_run(run, done.titles, worst) for run in done.runs],
            "ceiling": asdict(done.ceiling) if done.ceiling is not None else None,
            "answers_in_top": [
                {"run": a.run, "at": {str(k): v for k, v in a.at.items()}, "ceiling": a.ceiling, "asked": a.asked}
                for a in done.answers_in_top
            ],
            "comparisons": [asdict(c) for c in done.comparisons],
            "answers": [
                {
                    "name": a.name,
                    "scores": _scores(a.scores),
                    "answered": a.answered,
                    "unanswered": a.unanswered,
                    "without_gold": a.without_gold,
                    "missing": a.missing,
                    "worst": [{"question_id": q, "gold": g, "answer": t} for q, g, t in a.worst],
                }
                for a in done.answers
            ],
            "claims": [asdict(c) for c in done.claims],
            "minimums": dict(done.minimums),
            "findings": [f.as_dict() for f in done.findings],
            "by_rule": dict(done.by_rule),
            "notes": done.notes,
            "seconds": round(done.seconds, 3),
        }
    )


def _run(run: RunResult, titles: Mapping[str, str], worst: int) -> dict[str, Any]:
    return {
        "name": run.name,
        "depth": run.depth,
        "seconds": run.seconds,
        "scores": _scores(run.scores),
        "by_type": {name: _scores(scores) for name, scores in run.by_type.items()},
        "sanity": asdict(run.sanity),
        "worst": [_question(q, titles) for q in run.worst(worst)],
        "notes": list(run.notes),
    }


def _scores(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: asdict(score) for name, score in scores.items()}


def _question(question: QuestionResult, titles: Mapping[str, str]) -> dict[str, Any]:
    named = {*question.gold, *question.found}
    return {
        "question_id": question.question_id,
        "text": question.text,
        "type": question.type,
        "values": dict(question.values),
        "first_rank": question.first_rank,
        "gold": list(question.gold),
        "gold_ranks": list(question.gold_ranks),
        "causes": [None if cause is None else asdict(cause) for cause in question.causes],
        "found": list(question.found),
        "titles": {target: title for target, title in titles.items() if target in named},
    }


def question_lines(done: Evaluation) -> Iterator[bytes]:
    """A line of JSON for each question of each run: ``run``, ``question_id``, ``text``, ``type``, ``values`` by metric,
    ``first_rank``, ``gold``, ``gold_ranks`` and ``found``."""
    for run in done.runs:
        for question in run.questions:
            fields = _question(question, {})
            del fields["titles"], fields["causes"]
            yield _dumps({"run": run.name, **fields}, 0)


def question_table(done: Evaluation) -> bytes:
    """The same as CSV: a column for each metric; lists are JSON."""
    names = list(dict.fromkeys(name for run in done.runs for name in run.scores))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "question_id", "type", "text", *names, "first_rank", "gold", "gold_ranks", "found"])
    for run in done.runs:
        for q in run.questions:
            values = [q.values.get(name) for name in names]
            lists = [_dumps(list(listed), 0).decode().rstrip("\n") for listed in (q.gold, q.gold_ranks, q.found)]
            writer.writerow([run.name, q.question_id, q.type, q.text, *values, q.first_rank, *lists])
    return out.getvalue().encode("utf-8", "replace")


def _dumps(value: Any, option: int = orjson.OPT_INDENT_2) -> bytes:
    try:
        return orjson.dumps(value, option=option) + b"\n"
    except TypeError:
        return orjson.dumps(_whole(value), option=option) + b"\n"


def _whole(value: Any) -> Any:
    """The value with U+FFFD for halves of surrogate pairs, which UTF-8 cannot hold."""
    if isinstance(value, str):
        return _HALVES.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {_whole(name): _whole(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(inner) for inner in value]
    return value
