"""What the records of RAGChecker's files are: rows of results, queries, documents and chunks."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.declarations import ELSEWHERE, Field, Record

_QUERY = "Who mapped the reef?"
_ANSWER = "Joss Alder mapped it in 1931."
_RESPONSE = "Joss Alder did."
_PASSAGE = {"doc_id": "d2", "text": "Joss Alder mapped Kettle Reef in 1931."}
_CLAIM = ["Joss Alder", "mapped", "the reef"]


_ELSEWHERE = {
    "query_id": ELSEWHERE["query id"],
    "query": ELSEWHERE["question"],
    "gt_answer": ("ground_truth", "reference", "gold_answer", "expected_answer", "answer"),
    "response": ("prediction", "pred_answer", "generated_answer", "output", "answer"),
    "retrieved_context": ("contexts", "context", "documents", "docs", "passages"),
}
"""What RAGAS and others call such a field; an answer is the right one, or that of the system."""


def _text(name: str, description: str, example: str) -> Field:
    rules = {"missing": "missing-field", "null": "text-not-string", "type": "text-not-string"}
    return Field(f"{name}: string", description, examples=(example,), rules=rules, elsewhere=_ELSEWHERE[name])


def _list(name: str, rule: str, description: str, example: Any) -> Field:
    return Field(f"{name}?: array | null", description, examples=(example,), rules={"type": rule})


ROW = Record(
    name="result",
    title="Result",
    description="An answered question: an input as long as it has no labels; what a checker says of it is added to it.",
    fields=(
        Field(
            "query_id: string",
            "The id, unique in the file.",
            examples=("q1",),
            elsewhere=_ELSEWHERE["query_id"],
            rules={"missing": "missing-field", "null": "query-id-not-text", "type": "query-id-not-text"},
        ),
        _text("query", "The question.", _QUERY),
        _text("gt_answer", "The right answer.", _ANSWER),
        _text("response", "What the system answered.", _RESPONSE),
        Field(
            "retrieved_context?: array | null",
            "What was retrieved, in order: objects with doc_id and text; other members are passed over.",
            examples=([_PASSAGE],),
            elsewhere=_ELSEWHERE["retrieved_context"],
            rules={"type": "unusable-passages"},
        ),
        _list(
            "response_claims",
            "claims-not-list",
            "The claims of the response: [subject, predicate, object] lists or sentences; not read for metrics.",
            [_CLAIM],
        ),
        _list("gt_answer_claims", "claims-not-list", "The same of the right answer.", [_CLAIM, "It was in 1931."]),
        _list(
            "answer2response",
            "labels-not-list",
            "For each claim of the response whether the right answer entails it: Entailment, Neutral, Contradiction.",
            ["Entailment"],
        ),
        _list(
            "response2answer",
            "labels-not-list",
            "For each claim of the right answer whether the response entails it.",
            ["Entailment", "Neutral"],
        ),
        _list(
            "retrieved2response",
            "labels-not-list",
            "For each claim of the response a list: for each passage whether it entails the claim.",
            [["Entailment"]],
        ),
        _list("retrieved2answer", "labels-not-list", "The same of the right answer.", [["Entailment"], ["Entailment"]]),
        Field(
            "metrics?: object",
            "The metrics of this row, from 0 to 1; those that are there are not computed anew.",
            examples=({"precision": 1.0, "recall": 0.5},),
            rules={"null": "metric-not-number", "type": "metric-not-number"},
        ),
    ),
    rules={
        "syntax": "file-not-json",
        "top-level": "results-not-list",
        "top-level-lines": "results-not-list",
        "wrapped-null": "results-not-list",
        "unwrapped": "no-results",
        "no-records": "no-results",
        "repeated-wrapper": "duplicate-key",
        "not-object": "row-not-object",
    },
    examples=(
        {
            "query_id": "q1",
            "query": _QUERY,
            "gt_answer": _ANSWER,
            "response": _RESPONSE,
            "retrieved_context": [_PASSAGE],
        },
        {
            "query_id": "q1",
            "query": _QUERY,
            "gt_answer": _ANSWER,
            "response": _RESPONSE,
            "retrieved_context": [_PASSAGE],
            "response_claims": [_CLAIM],
            "gt_answer_claims": [_CLAIM, "It was in 1931."],
            "answer2response": ["Entailment"],
            "response2answer": ["Entailment", "Neutral"],
            "retrieved2response": [["Entailment"]],
            "retrieved2answer": [["Entailment"], ["Entailment"]],
            "metrics": {"precision": 1.0, "recall": 0.5},
        },
    ),
)

_UNUSABLE = {"missing": "unusable-query", "null": "unusable-query", "type": "unusable-query"}

QUERY = Record(
    name="query",
    title="Query",
    description="A question of a benchmark with its right answer; retrieval adds hits, generation makes it a result.",
    fields=(
        Field("query_id: string", "The id.", examples=("q1",), rules=_UNUSABLE),
        Field("query: string", "The question.", examples=(_QUERY,), rules=_UNUSABLE),
        Field("gt_answer: string", "The right answer.", examples=(_ANSWER,), rules=_UNUSABLE),
        Field("hits?: any | null", "What retrieval found: chunks with scores."),
    ),
    rules={
        "syntax": "queries-not-json",
        "top-level": "no-queries",
        "wrapped-null": "no-queries",
        "unwrapped": "no-queries",
        "no-records": "no-queries",
        "repeated-wrapper": "duplicate-key",
        "not-object": "unusable-query",
    },
    examples=({"query_id": "q1", "query": _QUERY, "gt_answer": _ANSWER},),
)


def _of_corpus(name: str, description: str, example: Any) -> Field:
    broken = "unusable-document"
    rules = {"missing": broken, "null": broken, "type": broken}
    return Field(f"{name}: string", description, examples=(example,), rules=rules)


_TITLE = Field(
    "title: any | null",
    "The title, which may be empty; it is put before each chunk.",
    examples=("Kettle Reef",),
    rules={"missing": "unusable-document"},
)
_LINES = {"syntax": "corpus-line-not-json", "not-object": "corpus-line-not-json", "blank": "corpus-line-not-json"}

DOCUMENT = Record(
    name="document",
    title="Document",
    description="A document of the corpus.",
    fields=(
        _of_corpus("doc_id", "The id.", "d2"),
        _TITLE,
        _of_corpus("text", "The text.", "Joss Alder mapped it in 1931."),
    ),
    rules=_LINES,
    examples=({"doc_id": "d2", "title": "Kettle Reef", "text": "Joss Alder mapped it in 1931."},),
)
CHUNK = Record(
    name="chunk",
    title="Chunk",
    description="A piece of a document, with the title before it.",
    fields=(
        _of_corpus("doc_id", "The id of the document.", "d2"),
        _TITLE,
        Field(
            "chunk_id: integer",
            "Which chunk of the document it is, from 0.",
            minimum=0,
            examples=(0,),
            rules={"missing": "unusable-document", "null": "unusable-document", "type": "unusable-document"},
        ),
        _of_corpus("text", "The text.", "Kettle Reef. Joss Alder mapped it in 1931."),
    ),
    rules=_LINES,
    examples=(
        {"doc_id": "d2", "title": "Kettle Reef", "chunk_id": 0, "text": "Kettle Reef. Joss Alder mapped it in 1931."},
    ),
)
