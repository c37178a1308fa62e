"""The rules of DataMind question sets and benchmark results.

Facts: haolpku/DataMind, commit 5a8f883, `benchmark/run.py` and `benchmark/evaluate.py`, which belong to v1.
"""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import SYNTAX_WORDS

_RUN = "benchmark/run.py:load_questions"
_EVALUATE = "benchmark/evaluate.py:evaluate"
_GOOD = '{"question": "What do spring tides follow?", "reference_answer": "new and full moon", "question_id": "n1"}'

_rule = partial(Rule, good=_GOOD, source=_RUN)

BENCH_RULES: tuple[Rule, ...] = (
    _rule(
        "DM501 broken-question-line error",
        summary="A line of a question set that is not JSON, among lines that are.",
        message="not JSON: {reason}",
        upstream={"v1": "asks the raw line as a question"},
        hint="repair the line",
        fix=SYNTAX_WORDS,
        reveals=("DM5", "RD115", "RD2"),
        bad='{"question": "Who',
    ),
    _rule(
        "DM502 question-line-not-object error",
        summary="A line of a question set that is JSON, but not an object.",
        message="{value} is not an object",
        upstream={"v1": "stops the run with AttributeError"},
        hint="write an object with the field question; in a plain-text set, reword a line that is only a number",
        bad="42",
    ),
    _rule(
        "DM503 question-not-string error",
        summary="A question that is null or not a string.",
        message="question is {value}, expected a string",
        upstream={"v1": "stops the run with AttributeError"},
        hint="write the question as a string",
        bad='{"question": null}',
    ),
    _rule(
        "DM504 missing-question error",
        summary="A line without a question, or with an empty one.",
        message="question is {fault}",
        upstream={"v1": "drops the line silently, and the index of every later result shifts"},
        hint="add the question, or remove the line",
        bad='{"question": " "}',
    ),
    _rule(
        "DM505 reference-not-string error",
        summary="A reference_answer that is a list, a number, a boolean or an object.",
        message="reference_answer is {value}, expected a string",
        upstream={"v1": "accepts it, and the evaluation stops with AttributeError after all questions were asked"},
        hint="write one string: the answer that must occur in the reply",
        fix="safe: put the number into quotes, or take the text out of its list",
        bad='{"question": "Who?", "reference_answer": ["A", "B"]}',
        good='{"question": "Who?", "reference_answer": "A"}',
        source=_EVALUATE,
    ),
    _rule(
        "DM506 empty-reference error",
        summary="A reference_answer that is empty, or has only white space and punctuation.",
        message="reference_answer is {value}, which has no words",
        upstream={"v1": "counts every reply as an exact match"},
        hint="leave reference_answer out where there is none",
        bad='{"question": "Who?", "reference_answer": ""}',
        good='{"question": "Who?"}',
        source="benchmark/evaluate.py:exact_match",
    ),
    _rule(
        "DM507 null-reference warning",
        summary="A reference_answer that is null.",
        message="reference_answer is null",
        upstream={"v1": "counts the question as one with a reference, and does not evaluate it"},
        hint="leave reference_answer out where there is none",
        bad='{"question": "Who?", "reference_answer": null}',
        good='{"question": "Who?"}',
        source=_EVALUATE,
    ),
    _rule(
        "DM508 short-reference warning per-file",
        summary="A reference_answer of one or two letters or digits.",
        message="reference_answer is {value}",
        upstream={"v1": "looks for it anywhere in the reply, inside other words too"},
        hint="write the answer in a few words where you can",
        bad='{"question": "How many?", "reference_answer": "8"}',
        good='{"question": "How many?", "reference_answer": "eight boats"}',
        source="benchmark/evaluate.py:exact_match",
    ),
    _rule(
        "DM509 missing-question-id warning per-file",
        summary="Questions without a question_id.",
        message="question_id is {fault}",
        upstream={"v1": "accepts it; results can be matched by their index only"},
        hint="give every question an id of its own",
        bad='{"question": "Who?"}',
    ),
    _rule(
        "DM510 duplicate-question-id warning",
        summary="Two questions of one set have the same question_id.",
        message="duplicate question_id {value}",
        upstream={"v1": "accepts it; results of the two cannot be distinguished by their id"},
        hint="give every question an id of its own",
        bad='{"question": "Who?", "question_id": "n1"}\n{"question": "When?", "question_id": "n1"}',
        good='{"question": "Who?", "question_id": "n1"}\n{"question": "When?", "question_id": "n2"}',
    ),
    _rule(
        "DM511 questions-in-array error",
        summary="A question set that is one JSON array.",
        message="the file holds {found}, where every line must be one object",
        upstream={"v1": "asks the brackets and every broken line as questions, or stops with AttributeError"},
        hint="write one object per line (`jq -c '.[]' FILE`)",
        fix="safe: put each record on a line",
        reveals=("DM5", "RD115", "RD2"),
        bad='[\n{"question": "Who?"}\n]',
        good='{"question": "Who?"}',
    ),
    _rule(
        "DM512 plain-text-questions info",
        summary="A question set of plain lines: allowed and documented, without references.",
        message="{count} plain line(s), each asked as a question",
        upstream={"v1": "asks every line as it stands; nothing can be evaluated"},
        hint="write JSON lines with reference_answer to evaluate the run",
        bad="Who?",
    ),
    _rule(
        "DM521 broken-results error",
        summary="A results file that is not one JSON array of objects.",
        message="not JSON: {reason}",
        upstream={"v1": "the evaluation stops with JSONDecodeError"},
        hint="write the file as benchmark.run does: one JSON array",
        bad="[\n"
        '{"index": 0, "question": "Who?", "answer": "A", "error": null, "latency_s": 0.5},\n'
        '{"index": 1, "question": "When?", "answer": }\n'
        "]",
        good='[\n{"index": 0, "question": "Who?", "answer": "A", "error": null, "latency_s": 0.5}\n]',
        source="benchmark/evaluate.py:main",
    ),
    _rule(
        "DM522 result-not-object error",
        summary="Something else than an object in the array of results, or no array.",
        message="{value} is not an array of objects",
        upstream={"v1": "the evaluation stops with TypeError or AttributeError"},
        hint="write one object per question in one array",
        bad='["Who?"]',
        good='[{"index": 0, "question": "Who?", "answer": "A", "error": null, "latency_s": 0.5}]',
        source="benchmark/evaluate.py:main",
    ),
    _rule(
        "DM523 missing-result-question error",
        summary="A result without its question.",
        message="question is {fault}",
        upstream={"v1": "the evaluation stops with KeyError"},
        hint="add the question",
        bad='[{"index": 0, "answer": "A", "reference_answer": "A"}]',
        good='[{"index": 0, "question": "Who?", "answer": "A", "reference_answer": "A"}]',
        source=_EVALUATE,
    ),
    _rule(
        "DM524 answer-not-string error",
        summary="A result whose answer is null or not a string.",
        message="answer is {value}, expected a string",
        upstream={"v1": "the evaluation stops with AttributeError"},
        hint="write the answer as a string, empty where there is none",
        bad='[{"index": 0, "question": "Who?", "answer": null, "reference_answer": "A"}]',
        good='[{"index": 0, "question": "Who?", "answer": "", "reference_answer": "A"}]',
        source=_EVALUATE,
    ),
)
