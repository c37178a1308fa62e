"""What is in GFM-RAG's files: rows of the three tables, documents, questions, predictions, the older layout."""

from __future__ import annotations

from ragdatakit.schemas.declarations import ELSEWHERE, Field, Record, Type

_TABLE_RULES = {
    "no-header": "no-header",
    "missing-column": "missing-column",
    "long-row": "long-row",
    "short-row": "short-row",
    "unclosed-quote": "unclosed-quote",
    "shifted": "shifted-columns",
    "nul": "nul-in-cell",
    "no-records": "no-rows",
}
_EDGE_RULES = {**_TABLE_RULES, "short-row": "short-edge-row", "cut-off": "name-read-as-missing", "no-records": ""}


def _cell(name: str, description: str, *examples: str, key: bool = False, empty: str = "") -> Field:
    """A cell of text; ``empty`` is the rule that an empty one breaks."""
    return Field(
        f"{name}: string",
        description,
        examples=examples,
        inferred=key,
        non_empty=bool(empty),
        rules={"empty": empty} if empty else {},
    )


_ATTRIBUTES = _cell(
    "attributes",
    "A Python literal of a dictionary, `{}` where there is nothing to say; never empty.",
    "{}",
    '{"built": 1901}',
)
_UID = Field(
    "uid?: string",
    "Where this column exists it is the key instead of the name: edges and questions must use it.",
    inferred=True,
    replaces="name",
    examples=("n17",),
)

NODE = Record(
    name="node",
    title="Node",
    description="A node of the graph: an entity, a document, or any other type. Its key is the name, or the uid.",
    fields=(
        _cell(
            "name",
            "The name, unique and never read as a number; the key, where there is no uid.",
            "osprey",
            key=True,
            empty="empty-name",
        ),
        _cell(
            "type",
            "The type: `entity` and `document` have a meaning to the framework.",
            "entity",
            "document",
            empty="empty-type",
        ),
        _ATTRIBUTES,
        _UID,
    ),
    rules=_TABLE_RULES,
    examples=(
        {"name": "osprey", "type": "entity", "attributes": "{}"},
        {"name": "Harbour log", "type": "document", "attributes": '{"content": "The tug Osprey towed the barge."}'},
    ),
)

RELATION = Record(
    name="relation",
    title="Relation",
    description="A kind of edge. `is_mentioned_in` leads from an entity to a document.",
    fields=(
        _cell("name", "The name, unique; the key, where there is no uid.", "towed", key=True, empty="empty-name"),
        _ATTRIBUTES,
        _UID,
    ),
    rules=_TABLE_RULES,
    examples=({"name": "towed", "attributes": "{}"},),
)

EDGE = Record(
    name="edge",
    title="Edge",
    description="An edge between two nodes. The loaders add its inverse themselves.",
    fields=(
        _cell("source", "The key of a node.", "osprey", key=True),
        _cell("relation", "The key of a relation.", "towed", key=True),
        _cell("target", "The key of a node.", "lena", key=True),
        _ATTRIBUTES,
    ),
    rules=_EDGE_RULES,
    examples=({"source": "osprey", "relation": "towed", "target": "lena", "attributes": "{}"},),
)


def _document(name: str, text_rule: str, top_rule: str, empty_rule: str, syntax_rule: str, what: str) -> Record:
    return Record(
        name=name,
        title="Document",
        description=what,
        fields=(
            Field("title: string", "The title, unique.", examples=("Harbour log",)),
            Field(
                "text: string",
                "The text.",
                examples=("The tug Osprey towed the barge Lena into Port Hale.",),
                rules={"null": text_rule, "type": text_rule},
            ),
        ),
        rules={"syntax": syntax_rule, "top-level": top_rule, "top-level-lines": syntax_rule, "no-records": empty_rule},
        examples=({"title": "Harbour log", "text": "The tug Osprey towed the barge Lena into Port Hale."},),
    )


DOCUMENT = _document(
    "document",
    "document-not-text",
    "documents-not-object",
    "no-documents",
    "documents-not-json",
    "A document from which the graph is to be built: the name of a member is the title, its value the text.",
)
BUILT_DOCUMENT = _document(
    "built-document",
    "unusable-document",
    "unusable-documents",
    "",
    "documents-not-json",
    "A document next to a graph that has been built: the name of a member is the title, its value the text.",
)
LEGACY_DOCUMENT = _document(
    "legacy-document",
    "legacy-text-not-text",
    "legacy-not-object",
    "",
    "legacy-not-json",
    "A document: the name of a member is the title, its value the text.",
)


def _text(name: str, rule: str, missing: str, description: str, example: str, required: bool = True) -> Field:
    return Field(
        name=name,
        type="string",
        required=required,
        description=description,
        examples=(example,),
        rules={"missing": missing, "null": rule, "type": rule},
        elsewhere=ELSEWHERE.get(name, ()),
    )


def _names(name: str, rule: str, description: str, example: list[str], **more: str) -> Field:
    rules = {"null": rule, "type": rule, "item-type": rule, **more}
    return Field(
        name=name,
        type="array",
        items="string",
        required="missing" in more,
        non_empty="empty" in more,
        description=description,
        examples=(example,),
        rules=rules,
    )


def _nodes(name: str, description: str, example: dict[str, list[str]]) -> Field:
    rules = {"missing": "missing-question-field", "null": "nodes-not-object", "type": "nodes-not-object"}
    return Field(f"{name}: object", description, values="array", examples=(example,), rules=rules)


_ANSWER = _text(
    "answer", "answer-not-text", "", "The gold answer; needed for answering and its evaluation.", "Lena", required=False
)
_ALIASES = _names("answer_aliases", "aliases-not-list", "Other ways to write the answer.", ["the Lena", "barge Lena"])
_SUPPORTING = _names(
    "supporting_documents",
    "supporting-documents-not-list",
    "Titles of the documents that hold the answer.",
    ["Harbour log"],
    empty="empty-supporting-documents",
)


def _any(name: str, description: str, *examples: object) -> Field:
    return Field(f"{name}?: any | null", description, examples=tuple(examples))


_QUESTION_TEXT = "Which boat did the Osprey tow?"
_QUESTION_EXAMPLE = {
    "id": "h1",
    "question": _QUESTION_TEXT,
    "answer": "Lena",
    "answer_aliases": [],
    "supporting_documents": ["Harbour log"],
    "start_nodes": {"entity": ["osprey"]},
    "target_nodes": {"document": ["Harbour log"], "entity": ["lena"]},
}

QUESTION = Record(
    name="question",
    title="Question",
    description="A processed question: the nodes it starts from and the nodes that are to be found.",
    fields=(
        Field(
            "id: any",
            "The id, a text (or an integer, if all are): unique over train and test.",
            examples=("h1",),
            rules={"missing": "missing-question-field", "null": "question-id-null"},
            elsewhere=ELSEWHERE["query id"],
        ),
        _text("question", "question-not-text", "missing-question-field", "The question.", _QUESTION_TEXT),
        _nodes("start_nodes", "By type, the keys of the nodes it starts from.", {"entity": ["osprey"]}),
        _nodes(
            "target_nodes",
            "By type, the keys of the nodes to be found.",
            {"document": ["Harbour log"], "entity": ["lena"]},
        ),
        _ANSWER,
        _ALIASES,
        _SUPPORTING,
    ),
    rules={
        "syntax": "questions-not-json",
        "top-level": "questions-not-list",
        "top-level-lines": "questions-as-lines",
        "not-object": "question-not-object",
    },
    examples=(_QUESTION_EXAMPLE,),
)

RAW_QUESTION = Record(
    name="raw-question",
    title="Raw question",
    description="A question from which a processed one is to be made.",
    fields=(
        Field(
            "id: any | null",
            "The id, a text or an integer.",
            examples=("h1",),
            rules={"missing": "missing-raw-field"},
            elsewhere=ELSEWHERE["query id"],
        ),
        _text("question", "raw-question-not-text", "missing-raw-field", "The question.", _QUESTION_TEXT),
        _text("answer", "answer-not-text", "missing-raw-answer", "The gold answer.", "Lena"),
        _ALIASES,
        _SUPPORTING,
        _any("question_type", "GraphRAG-Bench: the kind of question.", "Fact Retrieval"),
        _any("original_question", "GraphRAG-Bench: the question without its choices."),
        _any("evidence", "GraphRAG-Bench: where the answer is."),
    ),
    rules={
        "syntax": "questions-not-json",
        "top-level": "questions-not-list",
        "top-level-lines": "questions-as-lines",
        "not-object": "question-not-object",
    },
    examples=({"id": "h1", "question": _QUESTION_TEXT, "answer": "Lena", "supporting_documents": ["Harbour log"]},),
)

_UNREAD = "unusable-raw-questions"
BUILT_RAW_QUESTION = Record(
    name="built-raw-question",
    title="Raw question, processed",
    description="A question of which a processed one has been made; nothing reads it any more.",
    rules={"syntax": _UNREAD, "top-level": _UNREAD, "top-level-lines": _UNREAD, "not-object": _UNREAD},
    examples=({"id": "h1", "question": _QUESTION_TEXT, "answer": "Lena", "supporting_documents": ["Harbour log"]},),
)

_LEGACY_RULES = {
    "syntax": "legacy-not-json",
    "top-level": "legacy-not-object",
    "top-level-lines": "legacy-not-json",
    "not-object": "legacy-not-object",
}

LEGACY_ENTITIES = Record(
    name="document-entities",
    title="Entities of a document",
    description="The name of a member is the title of a document, its value the entities that it mentions.",
    fields=(
        Field("title: string", "The title, unique.", examples=("Harbour log",)),
        Field(
            "entities: string[]",
            "Names as in kg.txt.",
            examples=(["osprey", "lena"],),
            rules={"null": "entities-not-list", "item-type": "entities-not-list"},
        ),
    ),
    rules={"syntax": "legacy-not-json", "top-level": "legacy-not-object", "top-level-lines": "legacy-not-json"},
    examples=({"title": "Harbour log", "entities": ["osprey", "lena"]},),
)


def _legacy_names(name: str, description: str, example: list[str], item_rule: str = "legacy-not-object") -> Field:
    rules = {"missing": "missing-legacy-field", "null": "legacy-not-object", "type": "legacy-not-object"}
    rules["item-type"] = item_rule
    return Field(f"{name}: string[]", description, examples=(example,), rules=rules)


LEGACY_QUESTION = Record(
    name="legacy-question",
    title="Processed question of release 1.0.0",
    description="A question with the entities it starts from, and the entities and documents to be found.",
    fields=(
        _any("id", "The id; the position, where there is none.", "h1"),
        _text("question", "legacy-text-not-text", "missing-legacy-field", "The question.", _QUESTION_TEXT),
        _legacy_names("question_entities", "Entities of kg.txt it starts from.", ["osprey"]),
        _legacy_names("supporting_entities", "Entities of kg.txt to be found.", ["lena"]),
        _legacy_names(
            "supporting_facts", "Titles of the documents to be found.", ["Harbour log"], "supporting-facts-pairs"
        ),
        _any("answer", "The gold answer.", "Lena"),
    ),
    rules=_LEGACY_RULES,
    examples=(
        {
            "id": "h1",
            "question": _QUESTION_TEXT,
            "answer": "Lena",
            "supporting_facts": ["Harbour log"],
            "question_entities": ["osprey"],
            "supporting_entities": ["lena"],
        },
    ),
)

LEGACY_RAW_QUESTION = Record(
    name="legacy-raw-question",
    title="Raw question of release 1.0.0",
    description="A question from which a processed one was made.",
    fields=(
        _any("id", "The id.", "h1"),
        _text("question", "legacy-text-not-text", "missing-legacy-field", "The question.", _QUESTION_TEXT),
        _any("supporting_facts", "Titles of the documents to be found.", ["Harbour log"]),
        _any("answer", "The gold answer.", "Lena"),
    ),
    rules=_LEGACY_RULES,
    examples=({"id": "h1", "question": _QUESTION_TEXT, "answer": "Lena", "supporting_facts": ["Harbour log"]},),
)

_OBJECT: Type = "object"
PREDICTION = Record(
    name="prediction",
    title="Prediction",
    description="A processed question with the nodes that were found for it, written by the framework.",
    fields=(
        _any("id", "The id of the question.", "h1"),
        _any("question", "The question.", _QUESTION_TEXT),
        Field(
            name="predictions",
            type=_OBJECT,
            values="array",
            description="By type, a list of [name, score], the best first.",
            examples=({"document": [["Harbour log", 0.93]]},),
        ),
        *(
            _any(name, f"As in the question: {name}.", _QUESTION_EXAMPLE[name])
            for name in ("answer", "answer_aliases", "supporting_documents", "start_nodes", "target_nodes")
        ),
    ),
    rules={
        "syntax": "predictions-not-json",
        "top-level": "predictions-not-list",
        "top-level-lines": "predictions-not-json",
        "not-object": "prediction-not-object",
    },
    examples=({**_QUESTION_EXAMPLE, "predictions": {"document": [["Harbour log", 0.93]], "entity": [["lena", 0.41]]}},),
)
