"""What the records of HippoRAG's files are: passages, questions in three shapes, OpenIE results."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.declarations import ELSEWHERE, Field, Record, Type

_TITLE, _TEXT = "Kettle Reef", "Joss Alder mapped it. It lies north."
_PASSAGE = {"missing": "unusable-passage", "null": "unusable-passage", "type": "unusable-passage"}
_NO_CORPUS = {"syntax": "corpus-not-json", "top-level": "corpus-not-list", "no-records": "no-passages"}

PASSAGE = Record(
    name="passage",
    title="Passage",
    description="One passage; it is indexed as its title, a line feed, and its text. It may have other fields.",
    fields=(
        Field(
            "title: string",
            "The title; several passages may have one.",
            examples=(_TITLE,),
            rules=_PASSAGE,
            elsewhere=ELSEWHERE["title"],
        ),
        Field("text: string", "The text.", examples=(_TEXT,), rules=_PASSAGE, elsewhere=ELSEWHERE["text"]),
        Field("idx?: any | null", "The place in the corpus, from 0; not read.", examples=(0,)),
    ),
    rules={**_NO_CORPUS, "top-level-lines": "corpus-not-list", "not-object": "passage-not-object"},
    examples=({"title": _TITLE, "text": _TEXT, "idx": 0},),
)

IDX = Field("idx: integer", "The place in the corpus, from 0.")
"""As most passages have it that have one."""

LEGACY_PASSAGE = Record(
    name="legacy-passage",
    title="Passage of the branch legacy",
    description="The name of a member is the title of a passage, its value the sentences.",
    fields=(
        Field("title: string", "The title, unique.", examples=(_TITLE,)),
        Field(
            "sentences: string[]",
            "The sentences, joined without a blank where the data set is a hotpotqa one.",
            examples=(["Joss Alder mapped it.", " It lies north."],),
            rules={"null": "unusable-passage", "type": "unusable-passage", "item-type": "unusable-passage"},
        ),
    ),
    rules=_NO_CORPUS,
    examples=({"title": _TITLE, "sentences": ["Joss Alder mapped it.", " It lies north."]},),
)


def _any(name: str, description: str, *examples: Any) -> Field:
    return Field(f"{name}?: any | null", description, examples=examples)


def _list(name: str, items: Type, description: str, *examples: Any) -> Field:
    broken = "unusable-passages"
    return Field(
        name=name,
        type="array",
        items=items,
        required=False,
        description=description,
        examples=examples,
        rules={"null": broken, "type": broken, "item-type": broken},
    )


_ALIASES = {"null": "aliases-not-list", "type": "aliases-not-list", "item-type": "aliases-not-list"}
_NO_TEXT = {"missing": "question-without-text", "null": "question-without-text", "type": "question-without-text"}
_PARAGRAPH = {"title": _TITLE, "text": _TEXT, "is_supporting": True, "idx": 0}

QUESTION = Record(
    name="question",
    title="Question",
    description="A question with its answers, and the passages that are to be found, in one of three shapes.",
    fields=(
        _any("id", "The id (generic, MuSiQue); not read.", "q1"),
        _any("_id", "The id (HotpotQA, 2WikiMultihopQA); not read."),
        Field("question: string", "The question.", examples=("Who mapped Kettle Reef?",), rules=_NO_TEXT),
        _any("answer", "The answer, a text or a list of texts.", "Joss Alder", ["Joss Alder"]),
        _any("gold_ans", "The same, where there is no answer."),
        _any("reference", "The same, where there is neither."),
        _any("obj", "PopQA: the answer, where there is none of these; with three further fields."),
        _any("o_wiki_title", "PopQA: another answer."),
        _any("possible_answers", "PopQA: further answers."),
        _any("o_aliases", "PopQA: further answers."),
        Field("answer_aliases?: string[]", "Further right answers.", examples=(["J. Alder"],), rules=_ALIASES),
        _any("answerable", "MuSiQue: whether it can be answered; not read.", True),
        _list("supporting_facts", "array", "HotpotQA, 2Wiki: [title, number of the sentence].", [[_TITLE, 0]]),
        _list("context", "array", "HotpotQA, 2Wiki: [title, [sentences]].", [[_TITLE, ["Joss Alder mapped it."]]]),
        _list(
            "contexts",
            "object",
            "Generic, where there are no supporting_facts: objects with is_supporting.",
            [_PARAGRAPH],
        ),
        _list(
            "paragraphs",
            "object",
            "MuSiQue (with paragraph_text) and generic (with text), where there is neither of the two.",
            [_PARAGRAPH],
        ),
        _any("question_decomposition", "MuSiQue: steps with paragraph_support_idx; not read."),
        _any("type", "HotpotQA, 2Wiki: the kind of question; not read."),
        _any("level", "HotpotQA: how hard it is; not read."),
        _any("evidences", "2Wiki: triples; not read."),
        _any("entity_ids", "2Wiki: not read."),
        _any("evidences_id", "2Wiki: not read."),
        _any("answer_id", "2Wiki: not read."),
    ),
    rules={
        "syntax": "questions-not-json",
        "top-level": "questions-not-list",
        "top-level-lines": "questions-not-list",
        "no-records": "no-questions",
        "not-object": "question-not-object",
    },
    examples=(
        {"id": "q1", "question": "Who mapped Kettle Reef?", "answer": ["Joss Alder"], "paragraphs": [_PARAGRAPH]},
        {
            "_id": "q1",
            "question": "Who mapped Kettle Reef?",
            "answer": "Joss Alder",
            "supporting_facts": [[_TITLE, 0]],
            "context": [[_TITLE, ["Joss Alder mapped it.", "It lies north."]]],
        },
    ),
)

RESULTS = Record(
    name="openie-results",
    title="OpenIE results",
    description="The whole file is one object.",
    fields=(
        Field(
            "docs: object[]",
            (
                "By passage: idx (chunk- and the MD5 of the passage), passage (title, line feed, text), "
                "extracted_entities (texts) and extracted_triples ([subject, predicate, object])."
            ),
            examples=(
                [
                    {
                        "idx": "chunk-fa16c5145a9fa08916b378638849040e",
                        "passage": f"{_TITLE}\n{_TEXT}",
                        "extracted_entities": ["Joss Alder", _TITLE],
                        "extracted_triples": [["Joss Alder", "mapped", _TITLE]],
                    }
                ],
            ),
            rules={"missing": "openie-not-object", "null": "unusable-results", "type": "unusable-results"}
            | {"item-type": "unusable-results"},
        ),
        _any("avg_ent_chars", "How long the entities are on average, in characters; not read.", 10.5),
        _any("avg_ent_words", "The same in words.", 2.0),
        _any("ents_by_doc", "The branch legacy: not read."),
        _any("current_cost", "The branch legacy: not read."),
        _any("approx_total_cost", "The branch legacy: not read."),
    ),
    rules={"syntax": "openie-not-json", "not-object": "openie-not-object", "no-records": "openie-not-object"},
    examples=({"docs": [], "avg_ent_chars": 0, "avg_ent_words": 0},),
)
