"""What the records of contextual-retrieval files are: documents, questions, chunks with their contexts."""

from __future__ import annotations

from ragdatakit.schemas.declarations import ELSEWHERE, Field, Record, Type

_UUID = "9f2c"
_CONTENT = "Mara built it. Joss mapped it."
_CHUNK = {"chunk_id": "doc_1_chunk_1", "original_index": 1, "content": "Joss mapped it."}
CONTEXT_OF_CHUNK = "From the log of the reef: who built the beacon, and who mapped it."
_ELSEWHERE = {
    "content": ELSEWHERE["text"],
    "query": ELSEWHERE["question"],
    "doc_id": ELSEWHERE["document id"],
    "original_content": ELSEWHERE["text"],
    "contextualized_content": ("context", "contextualized_text", "contextual_content"),
}


def _needed(rule: str, name: str, kind: Type, description: str, example: object, items: Type | None = None) -> Field:
    return Field(
        name=name,
        type=kind,
        items=items,
        description=description,
        examples=(example,),
        rules={"missing": rule, "null": rule, "type": rule, "item-type": rule},
        elsewhere=_ELSEWHERE.get(name, ()),
    )


def _any(name: str, description: str, *examples: object) -> Field:
    return Field(f"{name}?: any | null", description, examples=examples)


DOCUMENT = Record(
    name="document",
    title="Document",
    description="A document, whole, with the chunks that it was cut into.",
    fields=(
        _needed("unusable-document", "doc_id", "string", "The id, unique.", "doc_1"),
        _needed(
            "unusable-document", "original_uuid", "string", "The id by which questions name it, unique; opaque.", _UUID
        ),
        _needed("unusable-document", "content", "string", "The document, whole.", _CONTENT),
        _needed(
            "unusable-document",
            "chunks",
            "array",
            "The chunks, in order: objects with chunk_id, original_index and content.",
            [_CHUNK],
            "object",
        ),
    ),
    rules={
        "syntax": "corpus-not-json",
        "top-level": "corpus-not-list",
        "top-level-lines": "corpus-not-list",
        "no-records": "no-documents",
        "not-object": "document-not-object",
    },
    examples=({"doc_id": "doc_1", "original_uuid": _UUID, "content": _CONTENT, "chunks": [_CHUNK]},),
)

_GOLDEN = {"doc_uuid": _UUID, "index": 1, "content": "Joss mapped it."}
_GOLDEN_DOCUMENT = {"uuid": _UUID, "content": _CONTENT, "chunks": [_GOLDEN]}

QUESTION = Record(
    name="question",
    title="Question",
    description="A question with the chunks that answer it, and copies of the documents that these are looked up in. "
    "It has no id: its line is its number.",
    fields=(
        _needed("unusable-question", "query", "string", "What is asked.", "Who mapped it?"),
        Field(
            "answer?: string",
            "The answer.",
            examples=("Joss",),
            rules={"null": "question-without-answer", "type": "question-without-answer"},
        ),
        _any("golden_doc_uuids", "The documents of the golden chunks; not read.", [_UUID]),
        Field(
            "golden_chunk_uuids: array",
            "The chunks that are to be found: pairs of a document's uuid and a chunk's index.",
            examples=([[_UUID, 1]],),
            rules=dict.fromkeys(("missing", "null", "type"), "unusable-question"),
        ),
        _needed(
            "unusable-question",
            "golden_documents",
            "array",
            "Their documents: objects with uuid, content and chunks; chunks have index and content.",
            [_GOLDEN_DOCUMENT],
            "object",
        ),
        _any("golden_chunks", "The chunks of golden_chunk_uuids, in order; not read by the evaluation.", [_GOLDEN]),
        _any("meta", "Where the document comes from: relative_path, repo_name and more; not read."),
    ),
    rules={
        "syntax": "question-not-json",
        "blank": "blank-line",
        "not-object": "question-not-object",
        "no-records": "no-questions",
    },
    examples=(
        {
            "query": "Who mapped it?",
            "answer": "Joss",
            "golden_doc_uuids": [_UUID],
            "golden_chunk_uuids": [[_UUID, 1]],
            "golden_documents": [_GOLDEN_DOCUMENT],
        },
    ),
)

_STORED = {
    "doc_id": "doc_1",
    "original_uuid": _UUID,
    "chunk_id": "doc_1_chunk_1",
    "original_index": 1,
    "original_content": "Joss mapped it.",
    "contextualized_content": CONTEXT_OF_CHUNK,
}

CONTEXT = Record(
    name="context",
    title="Chunk with its context",
    description="What the vectors are stored with: a chunk, and the context that was written for it.",
    fields=(
        _needed("unusable-context", "doc_id", "string", "The document.", "doc_1"),
        _needed("unusable-context", "original_uuid", "string", "Its uuid.", _UUID),
        _needed("unusable-context", "chunk_id", "string", "The chunk.", "doc_1_chunk_1"),
        Field(
            "original_index: integer",
            "Its index in the document.",
            minimum=0,
            examples=(1,),
            rules=dict.fromkeys(("missing", "null", "type", "range"), "unusable-context"),
        ),
        _needed("unusable-context", "original_content", "string", "The chunk, as it is.", "Joss mapped it."),
        _needed(
            "unusable-context",
            "contextualized_content",
            "string",
            "The context alone; it is indexed after the chunk and a blank line.",
            CONTEXT_OF_CHUNK,
        ),
    ),
    rules={
        "syntax": "context-not-json",
        "blank": "blank-line",
        "not-object": "context-not-object",
        "top-level": "context-not-object",
    },
    examples=(_STORED,),
)
