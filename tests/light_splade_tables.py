"""Canonical tables of any shape, for properties of what the light-splade writer makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Chunk, Document, PairScore, Qrel, Question, Run, Triplet
from tests.conversion_tools import tables_of

_INTEGERS = ["0", "1", "2", "7", "11", "4096"]
_ODD = ["-1", "007", "1.0", "9007199254740993", "é x", "d1", "", "a\tb", "１", '"', "\u2028"]
_TEXTS = [
    "pear",
    "tide tables",
    "  ",
    "",
    "12",
    "museum",
    "low water",
    "line\nbreak\r",
    "\u2028 \x00 é 雨",
    '"quoted" \\',
    "harbour",
]
_SPLITS = [None, "train", "validation", "dev", "test", "Test", "fold 3"]

ids = st.one_of(st.just(_INTEGERS), st.just(_ODD), st.just([*_INTEGERS, *_ODD[:4]]), st.just([*_ODD[5:], *_INTEGERS]))
texts = st.sampled_from(_TEXTS)
splits = st.sampled_from(_SPLITS)

OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "validation-ratio": st.sampled_from(["0", "0.1", "0.5", "1"]),
        "test": st.sampled_from(["validation", "drop"]),
        "documents": st.sampled_from(["pool", "all", "split"]),
        "positive-grade": st.sampled_from(["1", "2"]),
        "title": st.sampled_from(["join", "drop"]),
        "negatives": st.sampled_from(["1", "3"]),
        "random-negatives": st.sampled_from(["0", "1", "3"]),
    },
)


@st.composite
def any_tables(draw: st.DrawFn) -> CanonicalTables:
    """Tables with repeated ids, empty texts, references to nothing, and every table or only some."""
    document_ids, question_ids = draw(ids), draw(ids)
    documents, questions = st.sampled_from(document_ids), st.sampled_from(question_ids)
    unique, as_chunks, sound = draw(st.booleans()), draw(st.booleans()), draw(st.integers(0, 3))

    def rows(row: st.SearchStrategy[Any], most: int = 8, by: int = 1, more: Iterable[Any] = ()) -> list[Any]:
        found = [*more, *draw(st.lists(row, max_size=most))]
        return list({r[:by]: r for r in reversed(found)}.values()) if unique else draw(st.permutations(found))

    titles = st.sampled_from([None, None, "Title", "雨"])
    passage = (
        st.builds(Chunk, documents, texts, st.sampled_from([None, "d", "e"]))
        if as_chunks
        else st.builds(Document, documents, texts, titles)
    )
    kind = "chunk" if as_chunks else "document"
    kinds = st.sampled_from([kind, kind, kind, "document", "node"])
    grades = st.sampled_from([1, 1, 1, 2, 0, -1])
    number = st.one_of(st.integers(-3, 9), st.floats(-9, 9), st.just(float("nan")), st.just(float("inf")))
    judged = [(question_ids[i], document_ids[i % 3], draw(splits)) for i in range(sound)]
    scored = [PairScore(q, d, 1.5) for q, _, _ in judged for d in document_ids[:4]] if draw(st.booleans()) else []
    tables: dict[str, list[Any]] = {
        f"{kind}s": rows(passage, more=[(Chunk if as_chunks else Document)(d, f"text {d}") for d in document_ids[:4]]),
        "questions": rows(
            st.builds(Question, st.one_of(questions, st.none()), texts, split=splits),
            more=[Question(q, f"what {q}") for q, _, _ in judged],
        ),
        "qrels": rows(
            st.builds(Qrel, questions, documents, grades, kinds, splits),
            by=2,
            more=[Qrel(q, d, 1, kind, split) for q, d, split in judged],
        ),
        "triplets": rows(st.builds(Triplet, questions, documents, documents, splits), by=3),
        "pair_scores": rows(st.builds(PairScore, questions, documents, number), by=2, more=scored),
        "runs": rows(st.builds(Run, questions, st.just("bm25"), st.integers(1, 9), documents), by=3),
    }
    if as_chunks:
        tables["documents"] = [Document("d", "whole text", "Title")]
    absent = draw(st.sets(st.sampled_from(["triplets", "pair_scores", "runs"])))
    if draw(st.integers(0, 9)) == 9:
        absent.add("qrels")
    return tables_of(**{name: found for name, found in tables.items() if name not in absent})
