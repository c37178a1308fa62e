"""Which passages and questions the rules may want to see, in words that the scanner understands.

Proved are passages, questions in MuSiQue's, HotpotQA's and the generic shape, and OpenIE results.
"""

from __future__ import annotations

from collections.abc import Iterator
from string import ascii_letters, digits

from ragdatakit.scanner.long_records import Items
from ragdatakit.scanner.plan import Asked
from ragdatakit.scanner.predicates import Blank, Lacks, OpenUnlessGiven, OpenUnlessTexts, Shorter
from ragdatakit.scanner.relations import (
    Alike,
    Apart,
    CountedBeyond,
    Empty,
    First,
    Joined,
    Lacking,
    Miscounted,
    NoneTrue,
    OutOfRange,
    Parts,
    Several,
    Shared,
    Taken,
    Twice,
    TwiceTogether,
    Undigested,
    Unmarked,
    Untrue,
)
from ragdatakit.schemas.declarations import Field, Record
from ragdatakit.validators.hipporag.openie import MEMBERS, MISSING

LINE_FEED = "\n"
PASSAGES: tuple[Asked, ...] = (
    Blank("title"),
    Blank("text"),
    Taken(Field("idx?: integer")),
    Joined("@passage", ("title", "text"), LINE_FEED),
)
EVIDENCE = ("paragraphs", "contexts")
JOINED = tuple(f"{field}/@passage" for field in (*EVIDENCE, "context"))
_STEPS = "question_decomposition"


def _evidence(field: str) -> Iterator[Asked]:
    texts = ("text", "paragraph_text") if field == "paragraphs" else ("text",)
    optional = (Field("idx?: integer"), *(Field(f"{name}?: string") for name in texts))
    yield Parts(field, (Field("title: string"), Field("is_supporting: boolean"), *optional))
    of_texts = tuple(f"{field}/{name}" for name in texts)
    yield from (Lacking(of_texts), Several(of_texts))
    yield Joined(f"{field}/@passage", (f"{field}/title", *of_texts), LINE_FEED)


_FACTS, _CONTEXT = "supporting_facts", "context"
_FACT = (Field("title: string"), Field("sentence: integer"))
_TITLED = (Field("title: string"), Field("sentences: string[]"))


def questions(joiner: str) -> tuple[Asked, ...]:
    """What is asked of questions; ``joiner`` is between the sentences of a passage."""
    facts, titled = (tuple(f"{field}/{f.name}" for f in own) for field, own in ((_FACTS, _FACT), (_CONTEXT, _TITLED)))
    return (
        *_QUESTIONS,
        Taken(Field(f"{_FACTS}?: array")),
        Taken(Field(f"{_CONTEXT}?: array")),
        Parts(_FACTS, _FACT, rows=True),
        Parts(_CONTEXT, _TITLED, rows=True),
        Apart((_FACTS, _CONTEXT)),
        Empty((_FACTS,)),
        Empty((_CONTEXT,)),
        OutOfRange((*facts, *titled)),
        Twice(titled[:1]),
        Joined(f"{_CONTEXT}/@passage", titled, LINE_FEED, joiner),
    )


_QUESTIONS: tuple[Asked, ...] = (
    First("@id", ("id", "_id")),
    OpenUnlessGiven("answer"),
    OpenUnlessTexts("answer"),
    Shorter("answer", 1),
    Shared(("answer_aliases", "answer")),
    Untrue(("answerable",)),
    Lacking((*EVIDENCE, _FACTS)),
    Several((*EVIDENCE, _FACTS)),
    *(asked for field in EVIDENCE for asked in _evidence(field)),
    NoneTrue(tuple(f"{field}/is_supporting" for field in EVIDENCE), unless=_FACTS),
    Taken(Field(f"{_STEPS}?: object[]")),
    Parts(_STEPS, (Field("paragraph_support_idx?: integer"),)),
    Unmarked((f"{_STEPS}/paragraph_support_idx", "paragraphs/idx", "paragraphs/is_supporting")),
    Miscounted(("id", _STEPS)),
)

_TRIPLES = "extracted_triples"
_PARTS = tuple(f"{_TRIPLES}/{place}" for place in range(3))
_RESULTS = Record(
    name="results",
    title="Results",
    description="The results of one passage.",
    fields=(
        Field("idx?: string"),
        Field("passage: string"),
        Field("extracted_entities: string[]"),
        Field(f"{_TRIPLES}: array"),
    ),
)
DOCS = Items(
    field="docs",
    record=_RESULTS,
    key="passage",
    asked=(
        Undigested(("idx", "passage"), text="chunk-"),
        Parts(_TRIPLES, tuple(Field(f"{place}: string") for place in range(3)), rows=True),
        TwiceTogether(_PARTS),
        *(Lacks(part, ascii_letters + digits) for part in _PARTS[::2]),
        Alike(_PARTS[::2]),
        CountedBeyond((*_PARTS[::2], "extracted_entities"), counts=(MEMBERS, MISSING)),
    ),
)
