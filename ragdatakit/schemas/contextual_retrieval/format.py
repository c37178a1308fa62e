"""The format of the contextual-retrieval cookbook: documents with their chunks, questions with golden chunks, contexts.

Facts: anthropics/anthropic-cookbook at commit 4b36a1e1, skills/contextual-embeddings/guide.ipynb (now
capabilities/contextual-embeddings of anthropics/claude-cookbooks), read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.contextual_retrieval.records import CONTEXT, DOCUMENT, QUESTION
from ragdatakit.schemas.declarations import Adopted, File, Format, Key, Layout, late_rules

CORPUS, QUESTIONS, CONTEXTS = "codebase_chunks.json", "evaluation_set.jsonl", "contextualized_chunks.jsonl"
"""The usual names; that of the contexts is ours: the notebook keeps them in a pickle only."""

_NAMED = {
    CORPUS: "documents",
    CONTEXTS: "contexts",
    QUESTIONS: "questions",
    "*/vector_db.pkl": "vectors",
    "*/contextual_vector_db.pkl": "contextual-vectors",
}
_BY_CONTENT = {
    **{f"*{ending}": "documents" for ending in (".json", ".json.gz")},
    **{f"*{ending}": "questions" for ending in (".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")},
}
_COOKBOOK = ((CORPUS, QUESTIONS),)

LAYOUTS = (
    Layout(
        name="cookbook",
        description="`codebase_chunks.json` or `evaluation_set.jsonl` or both, with the stores of vectors below, and "
        "further files, recognised by their content",
        files=_NAMED,
        sniffed=_BY_CONTENT,
        signature=_COOKBOOK,
        sniff=True,
    ),
    Layout(
        name="cookbook", description="the same without further files", files=_NAMED, signature=_COOKBOOK, sniff=True
    ),
    Layout(
        name="files",
        description="Files of any name, recognised by their content",
        files={},
        sniffed=_BY_CONTENT,
        signature=(tuple(_BY_CONTENT),),
    ),
)

CONTEXTUAL_RETRIEVAL = Format(
    name="contextual-retrieval",
    title="Contextual Retrieval",
    letters="CR",
    description=(
        "Documents with their chunks, questions with golden chunks, and the contexts that are written for chunks "
        "before they are embedded: the files of the cookbook on contextual retrieval."
    ),
    homepage="https://github.com/anthropics/claude-cookbooks/tree/main/capabilities/contextual-embeddings",
    files=(
        File(
            "documents: json-array",
            description="One JSON list of documents, each with its chunks.",
            records=(DOCUMENT,),
            suffixes=(".json",),
            keys=("doc_id", "original_uuid", "chunks"),
        ),
        File(
            "contexts: json",
            description="Chunks with their contexts, one per line or in one list: the metadata of the notebook's "
            "`contextual_vector_db.pkl`.",
            records=(CONTEXT,),
            suffixes=(".jsonl", ".json"),
            keys=("chunk_id", "original_index"),
        ),
        File(
            "questions: ndjson",
            description="One question per line, with its golden chunks and copies of their documents.",
            records=(QUESTION,),
            suffixes=(".jsonl",),
            keys=("query", "golden_chunk_uuids"),
        ),
        File(
            "vectors: opaque",
            description="A pickle of vectors and chunks, `vector_db.pkl`. It is read as the plain values that it "
            "should hold, and nothing in it is run.",
            suffixes=(".pkl",),
        ),
        File(
            "contextual-vectors: opaque",
            description="The same with contexts, `contextual_vector_db.pkl`.",
            suffixes=(".pkl",),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.contextual_retrieval",
        "corpus_rules:CORPUS_RULES",
        "question_rules:QUESTION_RULES",
        "store_rules:STORE_RULES",
    ),
    layouts=LAYOUTS,
    keys=(
        Key(kind="documents", fields=("doc_id",), rule="duplicate-document"),
        Key(kind="documents", fields=("original_uuid",), rule="duplicate-document"),
        Key(kind="contexts", fields=("@place",), rule="duplicate-context"),
        Key(kind="questions", fields=("query",), rule="repeated-query"),
    ),
    adopts={
        "byte-order-mark": Adopted("error", "json stops with JSONDecodeError: Unexpected UTF-8 BOM"),
        "invalid-utf8": Adopted("error", "open stops with UnicodeDecodeError"),
        "mislabelled-compression": Adopted("error", "the notebook opens plain text only"),
        "lone-surrogate": Adopted("error", "it loads; sending it to be embedded fails"),
        "duplicate-key": Adopted("error", "the last value wins, the others are dropped"),
    },
    example={
        CORPUS: (
            '[\n  {"doc_id": "doc_1", "original_uuid": "9f2c", "content": "Mara built it. Joss mapped it.", '
            '"chunks": [\n'
            '    {"chunk_id": "doc_1_chunk_0", "original_index": 0, "content": "Mara built it. "},\n'
            '    {"chunk_id": "doc_1_chunk_1", "original_index": 1, "content": "Joss mapped it."}\n  ]}\n]\n'
        ),
        QUESTIONS: (
            '{"query": "Who mapped it?", "answer": "Joss", "golden_doc_uuids": ["9f2c"], '
            '"golden_chunk_uuids": [["9f2c", 1]], "golden_documents": [{"uuid": "9f2c", '
            '"content": "Mara built it. Joss mapped it.", "chunks": [{"doc_uuid": "9f2c", "index": 1, '
            '"content": "Joss mapped it."}]}]}\n'
        ),
        CONTEXTS: (
            '{"doc_id": "doc_1", "original_uuid": "9f2c", "chunk_id": "doc_1_chunk_0", "original_index": 0, '
            '"original_content": "Mara built it. ", "contextualized_content": "On the reef: the beacon."}\n'
            '{"doc_id": "doc_1", "original_uuid": "9f2c", "chunk_id": "doc_1_chunk_1", "original_index": 1, '
            '"original_content": "Joss mapped it.", "contextualized_content": "On the reef: the chart."}\n'
        ),
    },
)
