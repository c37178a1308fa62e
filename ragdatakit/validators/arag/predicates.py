"""Which A-RAG records the rules may want to see, in words that the scanner understands.

Proved are chunks that are strings with a number for their id and with a sentence, predictions and questions with texts
for their ids, and of questions those that are like the first one of their file. Other records go to Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import (
    WHITE_SPACE,
    Beginning,
    Blank,
    Lacks,
    MarkInside,
    NoSentence,
    NotStarting,
    OpenIfBlank,
    Starting,
    Vacuous,
)
from ragdatakit.scanner.relations import Cut, First, Lacking, Parts, Several, Taken, Without
from ragdatakit.schemas.arag.published import SUBSETS, Evidence, Subset, subset_named, subset_of_source
from ragdatakit.schemas.declarations import Field
from ragdatakit.validators.arag.chunks import SENTENCE_CHARACTERS
from ragdatakit.validators.arag.questions import evidence_shape

ID, TEXT, NUMBER = "@id", "@text", "@number"
CHUNKS: tuple[Asked, ...] = (
    Cut(":", ID, TEXT, NUMBER),
    OpenIfBlank(TEXT),
    NoSentence(TEXT, SENTENCE_CHARACTERS),
    Lacks(TEXT, ".!?\n"),
    Beginning(TEXT, "#" + WHITE_SPACE),
)


def _text(name: str, non_empty: bool = False, required: bool = False) -> Taken:
    return Taken(Field(name=name, type="string", required=required, non_empty=non_empty))


_IDS = (_text("qid", non_empty=True), _text("id", non_empty=True), First("@qid", ("qid", "id")))
PREDICTIONS: tuple[Asked, ...] = (
    *_IDS,
    _text("question"),
    _text("gold_answer"),
    _text("pred_answer", required=True),
    Blank("pred_answer"),
    Starting("pred_answer", "Error:"),
    Taken(Field("status?: any | null")),
    Without(("status",)),
)
_EVIDENCE: dict[Evidence, tuple[Asked, ...]] = {
    "blank": (Taken(Field("evidence?: string", enum=("",))),),
    "text": (_text("evidence"),),
    "strings": (Taken(Field("evidence?: string[]")),),
    "contexts": (
        Taken(Field("evidence?: array")),
        Parts("evidence", (Field("title: string"), Field("sentences: string[]")), rows=True),
    ),
    "triples": (
        Taken(Field("evidence?: array")),
        Parts("evidence", tuple(Field(f"{place}: string") for place in range(3)), rows=True),
        Without(("evidence_relations",)),
    ),
}


def questions(first: Any, folder: str) -> tuple[Asked, ...] | None:
    """What is asked of the questions of a file, of which this is the ``first``; None where they are too odd."""
    if not isinstance(first, dict):
        return None
    source, named = first.get("source"), subset_named(folder)
    subset = (subset_of_source(source) if isinstance(source, str) else None) or named
    shape = evidence_shape(first["evidence"]) if "evidence" in first else "text"
    if shape is None or (subset is not None and shape not in subset.evidence):
        return None
    if subset is not None and shape == "text" and "blank" not in subset.evidence:
        return None
    return (
        *_IDS,
        Several(("qid", "id")),
        Lacking(("qid", "id")),
        OpenIfBlank("question"),
        _text("answer", non_empty=True, required=True),
        Vacuous("answer"),
        MarkInside("answer"),
        *_of_source(subset, named),
        *_EVIDENCE[shape],
    )


def _of_source(subset: Subset | None, named: Subset | None) -> Iterator[Asked]:
    """That the questions are of no other subset, and have the types of this one.

    Questions whose source is missing or unknown are of the subset that the folder is ``named`` after.
    """
    yield _text("source", required=subset is not named)
    if subset is not None and subset is not named:
        yield NotStarting("source", subset.source)
    else:
        yield from _other_sources(subset)
    if subset is not None:
        yield Taken(Field("question_type?: string", enum=subset.question_types))


def _other_sources(subset: Subset | None) -> Iterator[Asked]:
    for other in SUBSETS:
        if other is not subset:
            yield Starting("source", other.source)
            if "k" in other.source:  # whose capital letter may be the sign for Kelvin
                yield Starting("source", other.source.replace("k", "\u212a"))
