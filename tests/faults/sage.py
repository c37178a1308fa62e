"""Clean SAGE records and documents of forty a file, and what their own checks add to the declaration."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.sage.format import SAGE
from tests.faults.drafts import Draft, DraftFile, Place, cell

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """Records with every stage; documents; the files of a benchmark and of an operator's log.

    What damage leaves of a file need not look like one of SAGE: each is named, not found in its folder.
    """
    files = (
        ("records.jsonl", "records", [_record(i) for i in range(SIZE)]),
        ("documents.jsonl", "documents", [_document(i) for i in range(SIZE)]),
        ("questions.jsonl", "benchmark-questions", [_question(i) for i in range(SIZE)]),
        ("results.jsonl", "benchmark-results", [_run(i) for i in range(SIZE)]),
        ("generator_data_1.jsonl", "dumps", [_entry(i) for i in range(SIZE)]),
        ("mapping.json", "mapping", list(range(SIZE))),
    )
    return tuple(
        Draft(
            f"sage {kind}",
            SAGE,
            (DraftFile(path, SAGE.file(kind), tuple(map(cell, values))),),
            frozenset({("profiling-dump", path)} if kind == "dumps" else ()),
            _derive,
            _own_rules,
            _consequences,
            notes={"entry": path, "format": "sage", "documents @id": "id", "records @question_id": "question"},
        )
        for path, kind, values in files
    )


def _text(i: int) -> str:
    return f"Spring tide {i} follows the moon."


def _record(i: int) -> dict[str, Any]:
    query, text, short = f"Which tide follows moon {i}?", _text(i), f"Tide {i} follows."
    return {
        "query": query,
        "question": {"id": f"t{i}", "references": [f"tide {i}", f"spring tide {i}"]},
        "references": [f"spring tide {i}", f"tide {i}"],
        "retrieval_results": [{"text": text, "score": 0.75}],
        "retrieval_docs": [text],
        "retrieval_time": 0.5,
        "reranking_results": [{"text": text, "score": 0.5}],
        "reranking_docs": [text],
        "reranking_time": 0.25,
        "refining_results": [{"text": short, "original_length": 8, "refined_length": 4, "compression_ratio": 0.5}],
        "refining_docs": [short],
        "refining_time": 0.125,
        "prompt": f"Context: {short} {query}",
        "generated": f"Spring tide {i}",
        "generation_time": 0.5,
        "input": f"number {i}",
    }


def _document(i: int) -> dict[str, Any]:
    return {"contents": _text(i), "id": f"c{i}", "title": f"Tide {i}", "doc_size": 7}


def _question(i: int) -> dict[str, Any]:
    ctxs = [{"title": "Tides", "text": _text(i), "score": 0.5}]
    return {"id": f"t{i}", "question": f"Which tide is number {i}?", "answers": [f"spring tide {i}"], "ctxs": ctxs}


def _run(i: int) -> dict[str, Any]:
    result = {"id": f"t{i}", "question": f"Which tide is number {i}?", "prediction": f"Spring tide {i}"}
    return {"metadata": {"pipeline_name": "naive", "total_samples": 1}, "results": [result]}


def _entry(i: int) -> dict[str, Any]:
    given = {"prompt": f"Which tide is number {i}?", "response": f"Spring tide {i}", "model_name": "small"}
    return {"timestamp": 1761523200.5 + i, "query": f"Which tide is number {i}?", **given}


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    if kind == "documents":
        return {"@id": _key(value)}
    return {"@question_id": _key(value.get("question") if isinstance(value, dict) else None)}


def _key(value: Any) -> str | None:
    found = value.get("id") if isinstance(value, dict) else None
    return None if found is None or isinstance(found, bool | list | dict) else str(found)


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


def _consequences(draft: Draft) -> set[Place]:
    """A question whose references are others than those of its record."""
    return {
        Place("differing-references", file.path, line)
        for file in draft.files
        for line, value in file.records()
        if file.kind.kind == "records" and isinstance(value, dict) and _differ(value)
    }


def _differ(record: dict[str, Any]) -> bool:
    question, ours = record.get("question"), record.get("references")
    theirs = question.get("references") if isinstance(question, dict) else None
    if not isinstance(theirs, list) or not isinstance(ours, list):
        return False
    return sorted(map(repr, theirs)) != sorted(map(repr, ours))


_NUMBERS = ("true", "a number", "a decimal", "NaN", "Infinity", "-Infinity", "1e400")
_HUGE = ("2^53 + 1", "2^63", "2^70", "-2^63 - 1")
_STAGES = ("retrieval", "reranking", "refining")
OWN: dict[tuple[str, str, str], str] = {
    **{("records", "query", v): "missing-query" for v in ("missing", "empty", "blank")},
    ("records", "query", "surrogate"): "prompt-without-query",
    ("records", "question", "empty"): "question-without-id",
    ("records", "question", "value null"): "question-without-id",
    **{("records", "question", f"value {v}"): "question-id-not-text" for v in ("true", "a list", "an object")},
    ("records", "references", "missing"): "missing-references",
    ("records", "references", "empty"): "missing-references",
    ("records", "references", "an item twice"): "duplicate-reference",
    ("records", "prompt", "missing"): "generated-without-prompt",
    **{
        ("records", "prompt", v): "prompt-without-context prompt-without-query" for v in ("empty", "blank", "surrogate")
    },
    ("records", "generated", "missing"): "time-without-stage",
    **{
        ("records", f"{stage}_time", v): "time-over-an-hour"
        for stage in (*_STAGES[:3], "generation")
        for v in ("2^53 + 1", "2^63", "2^70")
    },
    **{("records", f"{s}_{part}", "missing"): "half-a-stage" for s in _STAGES for part in ("results", "docs")},
    **{("records", f"{s}_{part}", "empty"): "uneven-stage" for s in _STAGES for part in ("results", "docs")},
    **{("records", f"{s}_docs", "an item twice"): "uneven-stage" for s in _STAGES},
    ("records", "", "extra key"): "unprefixed-key",
    ("documents", "contents", "blank"): "empty-contents",
    **{
        ("documents", "text", v): "differing-contents-and-text"
        for v in (*_NUMBERS, *_HUGE, "text", "a list", "an object", "empty", "blank", "surrogate")
    },
    ("benchmark-results", "results", "empty"): "wrong-total-samples",
    **{
        ("mapping", "", v): "mapping-not-integers"
        for v in ("empty", "blank", "without colon", "without text", "without id", "padded id", "leading zeros")
    },
    ("mapping", "", "surrogate"): "mapping-not-integers",
    **{("mapping", "", f"{v} among anys"): "mapping-not-integers" for v in ("true", "null", "a text", "a list")},
}
