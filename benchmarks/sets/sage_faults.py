"""The faults that break a unified SAGE record, one breaker each, for `sets.faults`."""

from __future__ import annotations

from typing import Any

from sets.faults import Breaker, Fault, as_line, changed, cut_short
from sets.sage import RECORDS_FILE


def sage_faults() -> dict[str, list[Fault]]:
    """Kinds of fault of the one file."""
    return {RECORDS_FILE: [*_basics(), *_stages(), *_numbers()]}


def _basics() -> list[Fault]:
    return [
        Fault("bad-json", cut_short),
        Fault("tuple", lambda record, number: as_line([record["query"], record["retrieval_docs"]])),
        Fault("query-blank", changed(query=" ")),
        Fault("query-null", changed(query=None)),
        Fault("query-number", changed(query=7)),
        Fault("question-text", changed(question="Which tide?")),
        Fault("repeated-key", lambda record, number: as_line(record).replace("{", '{"generated": "x", ', 1)),
        Fault("not-finite", lambda record, number: as_line({**record, "generation_time": float("nan")})),
        Fault("references-text", changed(references="Paris")),
        Fault("references-null", changed(references=None)),
        Fault("reference-number", changed(references=[1982])),
        Fault("reference-empty", changed(references=[""])),
        Fault("generated-null", changed(generated=None)),
        Fault("references-differ", changed(question={"id": "q-other", "references": ["another answer"]})),
        Fault("legacy-key", changed(pred="an answer")),
    ]


def _stages() -> list[Fault]:
    return [
        Fault("results-null", changed(retrieval_results=None)),
        Fault("docs-cut", lambda record, number: as_line(record | {"retrieval_docs": record["retrieval_docs"][:-1]})),
        Fault("docs-differ", _in_list("retrieval_docs", 4, lambda text: f"{text} and more")),
        Fault("result-text", _in_list("retrieval_results", 9, lambda result: result["text"])),
        Fault("text-null", _in_list("retrieval_results", 5, lambda result: result | {"text": None})),
        Fault("score-text", _in_list("retrieval_results", 0, lambda result: result | {"score": "0.9"})),
        Fault("reranked-foreign", _foreign),
    ]


def _numbers() -> list[Fault]:
    def sized(**fields: Any) -> Breaker:
        return _in_list("refining_results", 1, lambda result: result | fields)

    return [
        Fault("length-negative", sized(original_length=-5)),
        Fault("ratio-wrong", sized(original_length=40, refined_length=12, compression_ratio=0.9)),
        Fault("ratio-inverse", sized(original_length=40, refined_length=12, compression_ratio=3.33)),
        Fault("original-zero", sized(original_length=0, refined_length=0)),
        Fault("time-text", changed(refining_time="0.3")),
        Fault("time-negative", changed(retrieval_time=-0.1)),
        Fault("time-of-old-name", _old_name),
    ]


def _in_list(name: str, place: int, changes: Any) -> Breaker:
    def breaks(record: dict[str, Any], number: int) -> str:
        values = list(record[name])
        values[place] = changes(values[place])
        return as_line({**record, name: values})

    return breaks


def _old_name(record: dict[str, Any], number: int) -> str:
    return as_line({"refine_time" if name == "refining_time" else name: value for name, value in record.items()})


def _foreign(record: dict[str, Any], number: int) -> str:
    text = f"a passage that was not retrieved, number {number}"
    results = [{**record["reranking_results"][0], "text": text}, *record["reranking_results"][1:]]
    return as_line({**record, "reranking_results": results, "reranking_docs": [text, *record["reranking_docs"][1:]]})
