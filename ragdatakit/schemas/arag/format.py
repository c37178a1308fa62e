"""The A-RAG format: chunks, questions, predictions and the sentence index of one corpus."""

from __future__ import annotations

from ragdatakit.schemas.declarations import (
    ELSEWHERE,
    Adopted,
    Field,
    File,
    Format,
    Key,
    Layout,
    Record,
    Reference,
    late_rules,
)

CHUNK_STRING = Record(
    name="chunk",
    title="Chunk",
    description='A string "id:text", cut at its first colon. Neither part is stripped; the text may hold colons.',
    shape="string",
    pattern=r"^\s*\d+\s*:",
    rules={
        "syntax": "chunks-not-json",
        "top-level": "chunks-not-array",
        "top-level-string": "chunks-one-string",
        "no-records": "no-chunks",
        "not-object": "chunk-not-string",
    },
    examples=("0:The lighthouse of Skarn was lit in 1871. It burned whale oil.",),
)

CHUNK_OBJECT = Record(
    name="chunk-object",
    title="Chunk as an object",
    description="What every reader takes, undocumented, where the first element of the array is an object.",
    fields=(
        Field(
            "id: string",
            "The chunk's id; it is looked up as a string.",
            examples=("0",),
            rules={"missing": "incomplete-chunk", "null": "chunk-id-not-string", "type": "chunk-id-not-string"},
            elsewhere=("chunk_id", *ELSEWHERE["document id"]),
        ),
        Field(
            "text: string",
            "The chunk's text.",
            non_empty=True,
            examples=("The lighthouse of Skarn was lit in 1871.",),
            elsewhere=ELSEWHERE["text"],
            rules={
                "missing": "incomplete-chunk",
                "null": "incomplete-chunk",
                "type": "incomplete-chunk",
                "empty": "empty-chunk",
            },
        ),
    ),
    rules={
        "syntax": "chunks-not-json",
        "top-level": "chunks-not-array",
        "top-level-string": "chunks-one-string",
        "no-records": "no-chunks",
        "not-object": "chunk-not-string",
    },
    examples=({"id": "0", "text": "The lighthouse of Skarn was lit in 1871. It burned whale oil."},),
)

QUESTION = Record(
    name="question",
    title="Question",
    description="A question with its gold answer. No field names the chunks that hold the answer.",
    fields=(
        Field("qid?: any | null", "The id, where it is not empty."),
        Field("id?: any | null", "The id, where there is no qid.", examples=("s1",)),
        Field(
            "question: string",
            "What the agent is asked.",
            non_empty=True,
            examples=("When was the lighthouse of Skarn lit?",),
            elsewhere=ELSEWHERE["question"],
            rules={
                "missing": "question-without-text",
                "null": "question-without-text",
                "type": "question-without-text",
                "empty": "question-without-text",
            },
        ),
        Field("answer?: any | null", "The gold answer, a string.", examples=("1871",)),
        Field("gold_answer?: any | null", "The gold answer, where there is no key answer."),
        Field("source?: any | null", "The set it comes from; not read."),
        Field("question_type?: any | null", "Not read."),
        Field(
            "evidence?: any | null",
            'Not read: "", a text, texts, [subject, relation, object] or [title, [sentence, …]] lists.',
        ),
        Field("evidence_relations?: any | null", "Not read; in 2Wiki a copy of evidence."),
        Field("evidence_triple?: any | null", 'Not read; in novel texts such as "(subject, relation, object)".'),
    ),
    rules={
        "syntax": "questions-not-json",
        "top-level": "questions-not-array",
        "no-records": "no-questions",
        "not-object": "question-not-object",
    },
    examples=(
        {
            "id": "s1",
            "source": "skarn",
            "question": "When was the lighthouse of Skarn lit?",
            "answer": "1871",
            "question_type": "",
            "evidence": "",
        },
    ),
)


def _cost(name: str, description: str) -> Field:
    rules = {"null": "cost-not-number", "type": "cost-not-number"}
    return Field(f"{name}?: number", description, rules=rules)


PREDICTION = Record(
    name="prediction",
    title="Prediction",
    description="What the agent answered to one question, written as soon as it was known.",
    fields=(
        Field("qid?: any | null", "The question's id."),
        Field("question?: any | null", "A copy of the question."),
        Field("gold_answer?: any | null", "A copy of the gold answer."),
        Field("pred_answer?: any | null", "The answer, a string."),
        Field("trajectory?: any | null", "The calls of tools."),
        _cost("total_cost", "What the run of this question cost."),
        _cost("loops", "How many turns the agent took."),
        _cost("total_retrieved_tokens", "How many tokens the tools returned."),
        Field("retrieval_logs?: any | null", "What each tool logged."),
        Field("chunks_read_count?: any | null", "Chunks read, counted."),
        Field("chunks_read_ids?: string[] | null", "The ids of the chunks that were read."),
        Field("error?: any | null", "Why the question failed."),
    ),
    rules={"syntax": "prediction-not-json", "not-object": "prediction-not-object"},
    examples=(
        {
            "qid": "s1",
            "question": "When was the lighthouse of Skarn lit?",
            "trajectory": [],
            "gold_answer": "1871",
            "pred_answer": "It was lit in 1871",
            "total_cost": 0.01,
            "loops": 2,
            "total_retrieved_tokens": 21,
            "retrieval_logs": [],
            "chunks_read_count": 1,
            "chunks_read_ids": ["0"],
        },
    ),
)

_CHUNKS = dict.fromkeys(("chunks.json", "chunks.parquet", "chunks-*.parquet"), "chunks")
_QUESTIONS = dict.fromkeys(("questions.json", "questions.parquet", "questions-*.parquet"), "questions")

ARAG = Format(
    name="arag",
    title="A-RAG",
    letters="AR",
    description=(
        "Chunks that an agent searches by keyword, by sentence and by reading, with questions to ask it: "
        "the format of the A-RAG framework and of its five published subsets."
    ),
    homepage="https://github.com/Ayanami0730/arag",
    files=(
        File(
            "chunks: json-array",
            description='One JSON array of "id:text" strings, or of objects with id and text.',
            records=(CHUNK_STRING, CHUNK_OBJECT),
            suffixes=(".json", ".parquet"),
            keys=("id", "text"),
            without=("question", "pred_answer"),
        ),
        File(
            "questions: json-array",
            description="One JSON array of questions with their gold answers.",
            records=(QUESTION,),
            suffixes=(".json", ".parquet"),
            keys=("question", "answer"),
            without=("pred_answer",),
        ),
        File(
            "predictions: ndjson",
            description="What a run wrote, one line for each question, in the order in which they were finished.",
            records=(PREDICTION,),
            suffixes=(".jsonl",),
            keys=("pred_answer", "gold_answer"),
        ),
        File(
            "index: opaque",
            title="Sentence index",
            description="A pickle, which can run code when it is opened: only its presence and age are looked at.",
            suffixes=(".pkl",),
        ),
    ),
    rules=late_rules("ragdatakit.schemas.arag", "rules:RULES"),
    layouts=(
        Layout(
            name="corpus",
            description="One folder per corpus.",
            files={
                **_CHUNKS,
                **_QUESTIONS,
                "predictions.jsonl": "predictions",
                "results/*/predictions.jsonl": "predictions",
                "index/sentence_index.pkl": "index",
            },
            signature=(tuple(_CHUNKS), tuple(_QUESTIONS)),
        ),
        Layout(
            name="chunks",
            description="A corpus without questions, and what runs answered to them.",
            files={
                **_CHUNKS,
                "predictions.jsonl": "predictions",
                "results/*/predictions.jsonl": "predictions",
                "index/sentence_index.pkl": "index",
            },
            signature=(tuple(_CHUNKS),),
            sniff=True,
        ),
        Layout(
            name="questions",
            description="Questions without their corpus, and what runs answered to them.",
            files={**_QUESTIONS, "predictions.jsonl": "predictions", "results/*/predictions.jsonl": "predictions"},
            signature=(tuple(_QUESTIONS),),
            sniff=True,
        ),
        Layout(
            name="results",
            description="The folder of one run, away from its corpus.",
            files={"predictions.jsonl": "predictions"},
            signature=(("predictions.jsonl",),),
            sniff=True,
        ),
    ),
    keys=(
        Key(kind="chunks", fields=("@id",), rule="duplicate-chunk-id"),
        Key(kind="chunks", fields=("@text",), rule="repeated-chunk-text"),
        Key(kind="questions", fields=("@own_qid",), rule="duplicate-question-id"),
        Key(kind="questions", fields=("@question",), rule="repeated-question"),
    ),
    references=(
        Reference(kind="predictions", field="@qid", to_kind="questions", to_field="@qid", rule="unknown-question"),
        Reference(
            kind="predictions", field="chunks_read_ids", to_kind="chunks", to_field="@id", rule="unknown-chunk-read"
        ),
    ),
    adopts={
        "parquet-not-loaded": Adopted("warning", "the readers open chunks.json and questions.json"),
        "byte-order-mark": Adopted("error", "every reader stops with JSONDecodeError"),
        "invalid-utf8": Adopted("error", "every reader stops with UnicodeDecodeError"),
        "mislabelled-compression": Adopted("error", "the readers open plain text only"),
        "duplicate-key": Adopted("error", "the last value wins, the others are dropped"),
        "lone-surrogate": Adopted(
            "error", "it loads; sending it to a model or writing the prediction fails with UnicodeEncodeError"
        ),
    },
    example={
        "chunks.json": (
            '[\n  "0:The lighthouse of Skarn was lit in 1871. It burned whale oil.",\n'
            '  "1:Note: the keeper, Ada Brandt, left in 1902."\n]\n'
        ),
        "questions.json": (
            '[\n  {"id": "s1", "source": "skarn", "question": "When was the lighthouse of Skarn lit?", '
            '"answer": "1871", "question_type": "", "evidence": ""}\n]\n'
        ),
    },
)
