"""The SAGE format: records that a pipeline's operators pass on, and the files next to them.

SAGE has three generations of records, which do not fit each other. The documented one is checked by default (profile
``unified``); what today's operators read, by the profile ``operators``; the keys of the oldest are named with what
became of them. Facts: intellistream/SAGE at commit 3e42ab7 (documentation, and the only operators that followed it)
and intellistream/sage-rag at commit d6ed0f3 (today's operators), read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Adopted, File, Format, Key, Layout, late_rules
from ragdatakit.schemas.sage.records import (
    BENCHMARK_QUESTION,
    BENCHMARK_RESULT,
    DOCUMENT,
    DUMP_ENTRY,
    MAPPING_ENTRY,
    RECORD,
)

_STAGES = ("retrieval", "reranking", "refining")
# Any of these says that a file holds pipeline records.
_SIGNS = (
    *((f"{stage}_{part}",) for stage in _STAGES for part in ("results", "docs", "time")),
    ("generation_time",),
    ("query", "retrieve_time"),
    ("query", "refine_time"),
    ("query", "generate_time"),
    ("query", "compressed_context"),
    ("query", "results"),
    ("query", "retrieved_docs"),
    ("query", "retrieved_documents"),
    ("query", "refined_docs"),
    ("query", "refine_metrics"),
    ("query", "pred"),
    ("query", "golds"),
    ("pred", "golds"),
    ("query", "references"),
    ("query", "prompt"),
    ("query", "generated"),
    ("references", "generated"),
)
_JSON = (".jsonl", ".ndjson", ".json")
_DUMPS = ("retriever_data", "wiki18_faiss_retrieval_records", "promptor_data", "refiner_data", "generator_data")

SAGE = Format(
    name="sage",
    title="SAGE",
    letters="SG",
    description=(
        "Records of a retrieval pipeline: what each stage found, the prompt, the answer and the times; "
        "with the documents that were searched, benchmark files and profiling dumps."
    ),
    homepage="https://github.com/intellistream/SAGE",
    files=(
        File(
            "documents: json",
            description="The passages of the Wiki18 retriever, one per line.",
            records=(DOCUMENT,),
            suffixes=(".jsonl",),
            keys=("contents",),
            signs=(("contents", "id"), ("contents", "title"), ("contents", "doc_size")),
            without=("query", "question"),
        ),
        File(
            "mapping: json-array",
            title="Passage mapping",
            description="One JSON array: for each vector the number of its document, from 0.",
            records=(MAPPING_ENTRY,),
            suffixes=(".json",),
        ),
        File(
            "records: json",
            title="Pipeline records",
            description="One record per line, one JSON array of records, or one record alone.",
            records=(RECORD,),
            suffixes=_JSON,
            keys=("query",),
            without=("qid", "query_id", "doc_id", "pos", "neg"),
            signs=_SIGNS,
        ),
        File(
            "benchmark-questions: json",
            description="Questions of sage-rag-benchmark with the passages retrieved for them, one per line.",
            records=(BENCHMARK_QUESTION,),
            suffixes=_JSON,
            keys=("question", "answers", "ctxs"),
        ),
        File(
            "benchmark-results: json",
            description="What one run of sage-rag-benchmark wrote: one object with metadata and results.",
            records=(BENCHMARK_RESULT,),
            suffixes=(".json",),
            keys=("metadata", "results"),
        ),
        File(
            "dumps: json",
            title="Profiling dumps",
            description="Log entries that operators write with enable_profile; no records, but they can become some.",
            records=(DUMP_ENTRY,),
            suffixes=(".json",),
            keys=("timestamp", "query", "retrieval_results"),
            signs=(
                ("timestamp", "query", "retrieved_count"),
                ("timestamp", "query", "external_corpus"),
                ("timestamp", "query", "input_docs"),
                ("timestamp", "query", "response", "model_name"),
            ),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.sage",
        "record_rules:RECORD_RULES",
        "record_rules:ANSWER_RULES",
        "stage_rules:STAGE_RULES",
        "stage_rules:REFINING_RULES",
        "time_rules:TIME_RULES",
        "operator_rules:OPERATOR_RULES",
        "file_rules:FILE_RULES",
    ),
    profiles=("unified", "operators"),
    default_profiles=("unified",),
    profile_words={
        "unified": "The format that SAGE documents, in which each stage has its results, docs and time.",
        "operators": "What today's operators (sage-rag) read and write, under other names and as other types.",
    },
    layouts=(
        Layout(
            name="folder",
            description="JSON files, recognised by their first records or their names; SAGE itself has no layout",
            files={
                "*mapping*.json": "mapping",
                **{f"{name}_*.json": "dumps" for name in _DUMPS},
                **{f"documents{more}.jsonl": "documents" for more in ("", "[._-]*")},
                **{f"records{more}{ending}": "records" for more in ("", "[._-]*") for ending in _JSON[:2]},
            },
            sniffed={
                "*documents*.jsonl": "documents",
                "*.jsonl": "records",
                "*.ndjson": "records",
                "*.json": "records",
                "*.jsonl.gz": "records",
            },
            signature=(),
        ),
    ),
    keys=(
        Key(kind="documents", fields=("@id",), rule="duplicate-document-id"),
        Key(kind="records", fields=("@question_id",), rule="duplicate-question-id"),
        Key(kind="records", fields=("@record",), rule="repeated-record"),
    ),
    adopts={
        "duplicate-key": Adopted("error", "the last value wins, the others are silently lost"),
        "non-finite-number": Adopted("error", "Python reads it, and other readers refuse the record: it is not JSON"),
        "byte-order-mark": Adopted(
            "error",
            (
                "the first line is not JSON to its reader: of documents it is skipped with a warning, and all "
                "others move one place against their vectors"
            ),
        ),
        "invalid-utf8": Adopted(
            "error",
            (
                "reading stops with UnicodeDecodeError; of documents the retriever then has none, and every query "
                "returns []"
            ),
        ),
        "mislabelled-compression": Adopted("error", "SAGE opens plain text only"),
    },
    example={
        "records.jsonl": (
            '{"query": "Which tide follows the new moon?", '
            '"question": {"id": "t1", "references": ["spring tide"]}, "references": ["spring tide"], '
            '"retrieval_results": [{"text": "Spring tides follow the new and the full moon.", "score": 0.91}], '
            '"retrieval_docs": ["Spring tides follow the new and the full moon."], "retrieval_time": 0.02, '
            '"prompt": "Context: Spring tides follow the new and the full moon. Which tide follows the new moon?", '
            '"generated": "Spring tide", "generation_time": 0.4}\n'
        )
    },
)
