"""The records of DataMind's JSON files: chunks, triples, questions, results.

Facts: haolpku/DataMind, commit 5a8f883, `schema/types.py` (v1) and `datamind/` (v2), read and run.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import ELSEWHERE, Field, Record

CHUNK = Record(
    name="Chunk",
    title="DataMind chunk",
    description="One piece of text to retrieve, with an image or without.",
    fields=(
        Field(
            "text: string",
            "The text. v1 embeds it together with the metadata, v2 strips it.",
            examples=("Spring tides follow the new and the full moon.",),
            rules={"missing": "empty-chunk", "null": "null-text", "type": "text-not-string"},
            elsewhere=ELSEWHERE["text"],
        ),
        Field(
            "metadata?: object",
            "Flat: strings, numbers, booleans.",
            examples=({"page": 3},),
            rules={"null": "null-metadata", "type": "metadata-not-object"},
        ),
        Field(
            "image_path?: string | null",
            "v1: the image, relative to the profile folder.",
            non_empty=True,
            examples=("images/moon.png",),
            rules={"type": "image-path-not-string", "empty": "empty-image-path"},
        ),
        Field(
            "image_description?: string | null",
            "v1, in vlm_describe mode: what the image shows.",
            examples=("Moon phases in a row.",),
            rules={"type": "image-description-not-string"},
        ),
        Field(
            "modality?: string",
            "v1: what the chunk consists of.",
            enum=("text", "image", "text_image"),
            examples=("text_image",),
            rules={"null": "unknown-modality", "type": "unknown-modality", "enum": "unknown-modality"},
        ),
        Field("id?: any | null", "v2: the chunk's id, as text; unique in the profile.", examples=("tide-1",)),
        Field(
            "source?: any | null",
            "v2: where the text comes from; the file's name where it is not given.",
            examples=("tides.md",),
        ),
    ),
    rules={"syntax": "broken-chunk-line", "not-object": "chunk-not-object", "no-records": "no-records"},
    examples=({"text": "Spring tides follow the new and the full moon.", "metadata": {"page": 3}},),
)


_ENDS_ELSEWHERE = {
    "subject": ("head", "head_entity", "source", "source_entity", "src", "from", "subj"),
    "relation": ("predicate", "rel", "edge", "relationship", "relation_type", "type"),
    "object": ("tail", "tail_entity", "target", "target_entity", "tgt", "to", "obj"),
}


def _name(name: str, description: str) -> Field:
    return Field(
        f"{name}: string",
        description,
        non_empty=True,
        examples=("Moon",),
        rules={
            "missing": "missing-triple-field",
            "null": "triple-field-not-string",
            "type": "triple-field-not-string",
            "empty": "empty-name",
        },
        elsewhere=_ENDS_ELSEWHERE[name],
    )


def _entity_type(of: str) -> Field:
    return Field(
        name=f"{of}_type",
        type="string",
        required=False,
        description=f'Type of the {of}; "entity" where it is not given, the first one counts.',
        examples=("Body",),
        rules={"null": "triple-field-not-string", "type": "triple-field-not-string"},
    )


def _properties(name: str, rule: str, description: str) -> Field:
    return Field(f"{name}?: object", description, examples=({"since": "1982"},), rules={"null": rule, "type": rule})


TRIPLE = Record(
    name="Triple",
    title="DataMind triple",
    description="One edge of the graph: subject, relation, object.",
    fields=(
        _name("subject", "Name of the entity the edge starts at."),
        _name("relation", "Name of the relation."),
        _name("object", "Name of the entity the edge leads to."),
        _entity_type("subject"),
        _entity_type("object"),
        _properties("subject_properties", "entity-properties-not-object", "v1: properties of the subject."),
        _properties("object_properties", "entity-properties-not-object", "v1: properties of the object."),
        _properties("properties", "edge-properties-not-object", "v2: properties of the edge."),
        Field(
            "confidence?: number",
            "v2: weight of the edge, 0 to 1.",
            lax_number=True,
            minimum=0,
            maximum=1,
            examples=(0.9,),
            rules={
                "null": "confidence-not-number",
                "type": "confidence-not-number",
                "range": "confidence-out-of-range",
            },
        ),
        Field(
            "source?: string",
            "Where the triple comes from; no loader keeps it.",
            examples=("tides.md",),
            rules={"null": "null-triple-source", "type": "triple-source-not-string"},
        ),
    ),
    rules={"syntax": "broken-triple-line", "not-object": "triple-not-object", "no-records": "no-records"},
    examples=({"subject": "Spring tide", "relation": "caused_by", "object": "Moon"},),
)

_REFERENCE_ANSWER = Field(
    "reference_answer?: string",
    "What a right answer contains.",
    examples=("new and full moon",),
    rules={"null": "null-reference", "type": "reference-not-string"},
)

QUESTION = Record(
    name="Question",
    title="DataMind benchmark question",
    description="One question of a question set.",
    fields=(
        Field(
            "question: string",
            "The question.",
            non_empty=True,
            examples=("What do spring tides follow?",),
            rules={
                "missing": "missing-question",
                "empty": "missing-question",
                "null": "question-not-string",
                "type": "question-not-string",
            },
            elsewhere=ELSEWHERE["question"],
        ),
        _REFERENCE_ANSWER,
        Field(
            "question_id: any | null",
            "Id of the question, unique in the set.",
            examples=("n1",),
            rules={"missing": "missing-question-id"},
            elsewhere=ELSEWHERE["query id"],
        ),
    ),
    rules={"syntax": "broken-question-line", "not-object": "question-line-not-object"},
    examples=(
        {"question": "What do spring tides follow?", "reference_answer": "new and full moon", "question_id": "n1"},
    ),
)
RESULT = Record(
    name="Result",
    title="DataMind benchmark result",
    description="What the system answered to one question.",
    fields=(
        Field("index?: any | null", "0-based number of the question."),
        Field("question: any | null", "The question.", rules={"missing": "missing-result-question"}),
        Field(
            "answer?: string",
            "What the system answered.",
            rules={"null": "answer-not-string", "type": "answer-not-string"},
        ),
        Field("error?: any | null", "What went wrong, or null."),
        Field("latency_s?: any | null", "Seconds it took."),
        _REFERENCE_ANSWER,
        Field("question_id?: any | null", "Id of the question."),
    ),
    rules={"syntax": "broken-results", "top-level": "result-not-object", "not-object": "result-not-object"},
    examples=(
        {
            "index": 0,
            "question": "What do spring tides follow?",
            "answer": "The new and full moon.",
            "error": None,
            "latency_s": 1.25,
            "reference_answer": "new and full moon",
            "question_id": "n1",
        },
    ),
)
