"""The records of SAGE files: pipeline records, documents, mappings, benchmark files, profiling dumps."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.declarations import Field, Record

TIME_RULES = {"null": "time-not-seconds", "type": "time-not-seconds", "range": "time-not-seconds"}
STAGE_RULES = {"null": "stage-not-list", "type": "stage-not-list"}


def _time(name: str, description: str, example: float) -> Field:
    return Field(
        f"{name}?: number", f"Seconds that {description} took.", minimum=0, examples=(example,), rules=TIME_RULES
    )


def _results(name: str, description: str, example: dict[str, Any]) -> Field:
    return Field(f"{name}?: array", description, examples=([example],), rules=STAGE_RULES)


def _docs(stage: str, example: str) -> Field:
    return Field(
        name=f"{stage}_docs",
        type="array",
        items="string",
        required=False,
        description=f"The texts of {stage}_results, in the same order.",
        examples=([example],),
        rules={**STAGE_RULES, "item-type": "doc-not-text"},
    )


_FULL = "Spring tides follow the new and the full moon."
_SHORT = "Spring tides follow the new moon."
_REFINED = {"text": _SHORT, "original_length": 9, "refined_length": 6, "compression_ratio": 0.667}

RECORD = Record(
    name="RAGData",
    title="Pipeline record",
    description="One question on its way through a pipeline: what each stage found, the prompt, the answer, the times.",
    fields=(
        Field(
            "query?: string",
            "The question in words; not blank.",
            examples=("Which tide follows the new moon?",),
            rules={"null": "null-query", "type": "query-not-text"},
        ),
        Field(
            "question?: object",
            "The sample that the query was taken from: id, references, and what else is known of it.",
            values="any",
            examples=({"id": "t1", "references": ["spring tide"]},),
            rules={"null": "question-not-object", "type": "question-not-object"},
        ),
        Field(
            "references?: string[]",
            "The gold answers, none of them empty; [] where there are none.",
            examples=(["spring tide"],),
            rules={"null": "null-references", "type": "references-not-list", "item-type": "reference-not-text"},
        ),
        _results(
            "retrieval_results",
            "Passages found, best first: text, score, metadata.",
            {"text": _FULL, "score": 0.91, "metadata": {"id": "c7"}},
        ),
        _docs("retrieval", _FULL),
        _time("retrieval_time", "retrieval", 0.02),
        _results(
            "reranking_results",
            "Some or all of the passages in a new order: text, score.",
            {"text": _FULL, "score": 0.98},
        ),
        _docs("reranking", _FULL),
        _time("reranking_time", "reranking", 0.01),
        _results(
            "refining_results",
            "Shortened passages: text, original_length, refined_length, compression_ratio (refined ÷ original).",
            _REFINED,
        ),
        _docs("refining", _SHORT),
        _time("refining_time", "refining", 0.3),
        Field(
            "prompt?: string",
            "What the generator is sent.",
            examples=(f"Context: {_SHORT} Which tide follows the new moon?",),
            rules={"null": "prompt-not-text", "type": "prompt-not-text"},
        ),
        Field(
            "generated?: string",
            "The answer.",
            non_empty=True,
            examples=("Spring tide",),
            rules={"null": "generated-not-text", "type": "generated-not-text", "empty": "empty-generated"},
        ),
        _time("generation_time", "generation", 0.4),
        Field("input?: any | null", "What the record was made from, where that was no object."),
    ),
    rules={"syntax": "record-not-json", "not-object": "record-not-object", "array": "record-is-array"},
    examples=(
        {
            "query": "Which tide follows the new moon?",
            "question": {"id": "t1", "references": ["spring tide"]},
            "references": ["spring tide"],
            "retrieval_results": [{"text": _FULL, "score": 0.91, "metadata": {"id": "c7"}}],
            "retrieval_docs": [_FULL],
            "retrieval_time": 0.02,
            "refining_results": [_REFINED],
            "refining_docs": [_SHORT],
            "refining_time": 0.3,
            "prompt": f"Context: {_SHORT} Which tide follows the new moon?",
            "generated": "Spring tide",
            "generation_time": 0.4,
        },
        {"query": "Which tide follows the new moon?"},
    ),
)

DOCUMENT = Record(
    name="document",
    title="Document",
    description="One passage of the Wiki18 retriever; its place in the file is the number of its vector.",
    fields=(
        Field(
            "contents: string",
            "The passage.",
            non_empty=True,
            examples=("Neap tides follow the quarters.",),
            rules={
                "missing": "document-without-contents",
                "null": "contents-not-text",
                "type": "contents-not-text",
                "empty": "empty-contents",
            },
        ),
        Field("text?: any | null", "Read by the index builder only, before contents."),
        Field("title?: any | null", "Carried into results."),
        Field("id?: any | null", "Carried into results.", examples=("c8",)),
        Field("doc_size?: any | null", "Carried into results."),
    ),
    rules={"syntax": "document-not-json", "not-object": "document-not-object"},
    examples=({"id": "c8", "title": "Neap tide", "contents": "Neap tides follow the quarters."},),
)

MAPPING_ENTRY = Record(
    name="mapping-entry",
    title="Mapping entry",
    description="The number of the document (from 0) that a passage belongs to.",
    shape="any",
    rules={"syntax": "mapping-not-json", "top-level": "mapping-not-integers"},
    examples=(0,),
)


def _free(name: str, description: str, example: Any = None) -> Field:
    examples = () if example is None else (example,)
    return Field(f"{name}?: any | null", description, examples=examples)


BENCHMARK_QUESTION = Record(
    name="benchmark-question",
    title="Benchmark question",
    description="One question of sage-rag-benchmark, with what was retrieved for it.",
    fields=(
        _free("id", "The sample's id.", "t1"),
        _free("question", "The question in words.", "Which tide follows the new moon?"),
        _free("answers", "The gold answers.", ["spring tide"]),
        _free("ctxs", "Passages: title, text, score.", [{"title": "Tides", "text": _FULL, "score": 0.91}]),
    ),
    rules={"syntax": "benchmark-file-not-json", "not-object": "benchmark-part-misshapen"},
    examples=(
        {
            "id": "t1",
            "question": "Which tide follows the new moon?",
            "answers": ["spring tide"],
            "ctxs": [{"title": "Tides", "text": _FULL, "score": 0.91}],
        },
    ),
)

BENCHMARK_RESULT = Record(
    name="benchmark-results",
    title="Benchmark results",
    description="What one run of sage-rag-benchmark wrote: about the run, and one result for each sample.",
    fields=(
        Field(
            "metadata: object",
            "pipeline_name, timestamp, total_samples, completed_batches, elapsed_time_seconds, config.",
            values="any",
            examples=({"pipeline_name": "naive", "total_samples": 1},),
            rules=dict.fromkeys(("missing", "null", "type"), "benchmark-part-misshapen"),
        ),
        Field(
            "results: array",
            "id, question, prediction or model_output, ground_truth, retrieved_docs or retrieved_context.",
            examples=([{"id": "t1", "prediction": "Spring tide", "ground_truth": ["spring tide"]}],),
            rules=dict.fromkeys(("missing", "null", "type"), "benchmark-part-misshapen"),
        ),
    ),
    rules={"syntax": "benchmark-file-not-json", "not-object": "benchmark-part-misshapen"},
    examples=(
        {
            "metadata": {"pipeline_name": "naive", "total_samples": 1},
            "results": [{"id": "t1", "prediction": "Spring tide", "ground_truth": ["spring tide"]}],
        },
    ),
)

DUMP_ENTRY = Record(
    name="dump-entry",
    title="Log entry of an operator",
    description="One call of an operator with enable_profile: what it got, what it gave.",
    fields=(
        _free("timestamp", "When, in seconds since 1970.", 1761523200.5),
        _free("query", "The question in words.", "Which tide follows the new moon?"),
        _free("retrieval_results", "Retrievers: what was found."),
        _free("documents", "The Wiki18 retriever: what was found."),
        _free("retrieved_count", "The Wiki18 retriever: how many were found."),
        _free("external_corpus", "The promptor: its context."),
        _free("prompt", "The promptor and the generator: what the model is sent."),
        _free("input_docs", "The refiner: texts before refining."),
        _free("refined_docs", "The refiner: texts after refining."),
        _free("budget", "The refiner: the most tokens it may keep."),
        _free("response", "The generator: the answer."),
        _free("model_name", "The generator: the model that answered."),
    ),
    rules={"syntax": "dump-not-json", "not-object": "dump-entry-not-object"},
    examples=(
        {
            "timestamp": 1761523200.5,
            "query": "Which tide follows the new moon?",
            "prompt": "Context: Spring tides follow the new moon.",
            "response": "Spring tide",
            "model_name": "small-model",
        },
    ),
)
