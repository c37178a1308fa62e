"""The RAGChecker format: what the tool reads, what it writes, and what its baselines read.

Facts: amazon-science/RAGChecker at commit 6091f08c, read, and the package ragchecker 0.1.9, run.
"""

from __future__ import annotations

import json

from ragdatakit.schemas.declarations import Adopted, File, Format, Key, Layout, late_rules
from ragdatakit.schemas.ragchecker.records import CHUNK, DOCUMENT, QUERY, ROW

_NAMES = {"checking_inputs.json": "results", "checking_outputs.json": "results"}
_BENCHMARK = {
    "corpus.jsonl": "corpus",
    "chunks.jsonl": "chunks",
    "chunks_*.jsonl": "chunks",
    "*_queries.json": "queries",
}

RAGCHECKER = Format(
    name="ragchecker",
    title="RAGChecker",
    letters="RC",
    description=(
        "Answered questions with what was retrieved for them, and what RAGChecker finds in them: claims, which text "
        "entails which claim, and metrics of the retriever and of the generator."
    ),
    homepage="https://github.com/amazon-science/RAGChecker",
    files=(
        File(
            "corpus: ndjson",
            description="The documents of a benchmark, one on each line.",
            records=(DOCUMENT,),
            suffixes=(".jsonl",),
        ),
        File(
            "chunks: ndjson",
            description="The pieces of the documents that are indexed, one on each line.",
            records=(CHUNK,),
            suffixes=(".jsonl",),
        ),
        File(
            "queries: json-wrapped",
            wrapper=("input_data",),
            description="The questions of a benchmark, before or after retrieval.",
            records=(QUERY,),
            suffixes=(".json",),
            keys=("query_id", "query", "gt_answer"),
            without=("response", "retrieved_context"),
        ),
        File(
            "results: json-wrapped",
            wrapper=("results", "input_data"),
            description="What the tool reads (a checking input) and writes (a checking output), or a state in between.",
            records=(ROW,),
            suffixes=(".json",),
            keys=("query_id", "query", "gt_answer", "response"),
            signs=(
                ("gt_answer", "response"),
                ("query", "response", "retrieved_context"),
                ("query_id", "gt_answer", "retrieved_context"),
                ("query_id", "query", "retrieved_context"),
                ("response_claims", "gt_answer_claims"),
            ),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.ragchecker",
        "row_rules:ROW_RULES",
        "label_rules:LABEL_RULES",
        "corpus_rules:CORPUS_RULES",
        by_code=True,
    ),
    layouts=(
        Layout(
            name="results",
            description="A folder with results or queries, and the corpus where there is one",
            files={**_NAMES, **_BENCHMARK},
            sniffed={"*.json": "results"},
            signature=(),
        ),
        Layout(
            name="results",
            description="The same, known by the names of the files alone",
            files={**_NAMES, **_BENCHMARK},
            signature=(tuple(_NAMES),),
        ),
    ),
    keys=(
        Key(kind="corpus", fields=("doc_id",), rule="repeated-document"),
        Key(
            kind="chunks",
            fields=("@file", "doc_id", "chunk_id"),
            within_file=("doc_id", "chunk_id"),
            rule="repeated-chunk",
        ),
        Key(kind="queries", fields=("@file", "query_id"), within_file=("query_id",), rule="repeated-query"),
        Key(kind="results", fields=("@file", "@query_id"), within_file=("@query_id",), rule="repeated-query-id"),
    ),
    adopts={
        "byte-order-mark": Adopted("error", "json.loads stops with JSONDecodeError"),
        "invalid-utf8": Adopted("error", "reading the file stops with UnicodeDecodeError"),
        "mislabelled-compression": Adopted("error", "the tool opens plain text only"),
        "duplicate-key": Adopted("error", "the last value wins, the others are lost"),
        "non-finite-number": Adopted("warning", "Python's json reads it, most other readers refuse the file"),
        "lone-surrogate": Adopted("warning", "it loads; sending it to a model may fail"),
    },
    example={"checking_inputs.json": json.dumps({"results": [ROW.examples[0]]}, indent=2) + "\n"},
)
