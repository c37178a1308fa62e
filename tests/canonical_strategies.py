"""Generated canonical tables for property tests: a bit of everything, and what single pairs of formats can hold."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Answer, Chunk, Document, Edge, Node, Qrel, Question, Relation, Run
from tests.conversion_tools import tables_of

# Letters of several alphabets, digits, what formats put a meaning to, line separators, characters beyond the first
# plane.
TEXT = st.text(st.sampled_from("abcXYZ 09.,:'\"\\-_é雨ß\u2028\u00a0\U0001f30a\n\r\t\x00<&>{}[]"), max_size=30)
LONG_TEXT = TEXT.map(lambda text: f"{text} whale oil burned bright over the reef " * 200)
WORDS = TEXT.map(lambda text: f"w{text}.")
ODD_ID = st.one_of(
    st.integers(0, 2**60).map(str),
    st.text("ab0 :é雨,'\"/#.-_\t", min_size=1, max_size=6),
    st.sampled_from(["007", "1.0", "nan", "NA", "None", "true", "-1", "1e5"]),
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=4,
)
_MEMBERS = ["year", "id", "answer", "title", "metadata", "source", "split", "text", "question", "type"]
METADATA = st.dictionaries(st.sampled_from(_MEMBERS) | TEXT, _VALUES, min_size=1, max_size=3).map(
    lambda members: json.dumps(members, separators=(",", ":"), ensure_ascii=False)
)
SPLITS = st.sampled_from([None, "train", "test", "dev", "validation", "odd one"])


def odd_ids(most: int) -> st.SearchStrategy[list[str]]:
    """Ids of one kind, each once."""
    return st.lists(ODD_ID, min_size=1, max_size=most, unique=True)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def _passages(draw: st.DrawFn, ids: list[str]) -> dict[str, list[Any]]:
    texts = TEXT | LONG_TEXT
    if draw(st.integers(0, 3)):
        return {"documents": [Document(i, draw(texts), draw(_maybe(TEXT)), draw(_maybe(METADATA))) for i in ids]}
    places, metadata = _maybe(st.integers(0, 9)), _maybe(METADATA)
    return {
        "chunks": [
            Chunk(i, draw(texts), draw(_maybe(ODD_ID)), draw(places), draw(_maybe(TEXT)), metadata=draw(metadata))
            for i in ids
        ]
    }


def _graph(draw: st.DrawFn) -> dict[str, list[Any]]:
    names, metadata = draw(odd_ids(4)), _maybe(METADATA)
    types = _maybe(st.sampled_from(["entity", "document", "person"]))
    ends = st.sampled_from(names)
    edges = st.builds(Edge, ends, ODD_ID, ends, metadata, _maybe(st.floats(0, 1)), _maybe(TEXT))
    return {
        "nodes": [Node(name, draw(types), draw(metadata)) for name in names],
        "relations": [Relation(name, draw(metadata)) for name in draw(odd_ids(3))],
        "edges": draw(st.lists(edges, max_size=4)),
    }


@st.composite
def anything(draw: st.DrawFn) -> CanonicalTables:
    """Rows of most tables, some of which no format can hold."""
    passage_ids, question_ids = draw(odd_ids(4)), draw(odd_ids(3))
    asked, found = st.sampled_from(question_ids), st.sampled_from(passage_ids)
    tables = _passages(draw, passage_ids)
    kind = "chunk" if "chunks" in tables else "document"
    questions = st.builds(
        Question, st.none(), TEXT, _maybe(TEXT), st.lists(TEXT, max_size=2).map(tuple), SPLITS, _maybe(METADATA)
    )
    tables["questions"] = [
        draw(questions)._replace(question_id=draw(st.sampled_from([i, i, None]))) for i in question_ids
    ]
    if draw(st.integers(0, 3)):
        judged = st.builds(Qrel, asked, found, st.integers(-1, 3), st.just(kind), SPLITS)
        tables["qrels"] = draw(st.lists(judged, max_size=4))
    if not draw(st.integers(0, 3)):
        stages, scores = st.sampled_from(["retrieval", "reranking", "bm25 x"]), _maybe(st.floats(allow_nan=False))
        one = draw(st.lists(st.tuples(asked, stages, found, _maybe(TEXT), scores), max_size=3))
        tables["runs"] = [Run(q, stage, n, t, text, score) for n, (q, stage, t, text, score) in enumerate(one, 1)]
    if not draw(st.integers(0, 3)):
        answers = st.builds(Answer, asked, _maybe(TEXT), _maybe(TEXT), _maybe(st.floats(0, 9)), _maybe(METADATA))
        tables["answers"] = draw(st.lists(answers, max_size=2))
    if not draw(st.integers(0, 2)):
        tables |= _graph(draw)
    return tables_of(format_name="table", **tables)


@st.composite
def answered(draw: st.DrawFn) -> CanonicalTables:
    """The same with an answer to each question, and a right one; of half of them nothing that no results hold."""
    tables = {name: list(source()) for name, source in draw(anything()).sources.items()}
    bare = draw(st.booleans())
    tables["questions"] = [
        q._replace(question_id=q.question_id or f"question {n}", answer=q.answer or "an answer", split=None)
        for n, q in enumerate(tables["questions"])
    ]
    if bare:
        tables = {name: rows for name, rows in tables.items() if name in ("documents", "questions")}
        tables["questions"] = [q._replace(aliases=(), metadata=None) for q in tables["questions"]]
    ids = [q.question_id for q in tables["questions"]]
    tables["answers"] = [Answer(i, draw(TEXT)) for i in ids]
    if tables.get("documents") and draw(st.booleans()):
        tables["runs"] = [
            Run(i, "retrieval", 1, d.doc_id, d.text) for i, d in zip(ids, tables["documents"], strict=False)
        ]
    return tables_of(format_name="table", **tables)


@st.composite
def chunks_with_questions(draw: st.DrawFn) -> CanonicalTables:
    """Chunks, and questions with an answer, other answers and whatever stands beside."""
    chunks = [Chunk(chunk_id, draw(WORDS | LONG_TEXT)) for chunk_id in draw(odd_ids(5))]
    aliases = st.lists(WORDS, max_size=2).map(tuple)
    questions = [
        Question(question_id, draw(WORDS), draw(WORDS), draw(aliases), draw(SPLITS), draw(_maybe(METADATA)))
        for question_id in draw(odd_ids(3))
    ]
    return tables_of(format_name="arag", chunks=chunks, questions=questions)


@st.composite
def bare_chunks_with_questions(draw: st.DrawFn) -> CanonicalTables:
    """The same without what stands beside."""
    chunks = [Chunk(chunk_id, draw(WORDS | LONG_TEXT)) for chunk_id in draw(odd_ids(5))]
    questions = [Question(question_id, draw(WORDS), draw(WORDS)) for question_id in draw(odd_ids(3))]
    return tables_of(format_name="arag", chunks=chunks, questions=questions)


@st.composite
def typed_triples(draw: st.DrawFn) -> CanonicalTables:
    """A graph whose nodes have types and all stand in a triple."""
    names = draw(st.lists(WORDS, min_size=2, max_size=6, unique_by=str.strip))
    names = [name.strip() for name in names]
    metadata = _maybe(METADATA)
    nodes = [Node(name, draw(st.sampled_from(["person", "ship"])), draw(metadata)) for name in names]
    rest = {"relation": WORDS.map(str.strip), "attributes": metadata, "confidence": _maybe(st.floats(0, 1))}
    edges = [
        draw(st.builds(Edge, st.just(a), target=st.just(b), provenance=_maybe(WORDS), **rest))
        for a, b in zip(names, names[1:] + names[:1], strict=True)
    ]
    return tables_of(format_name="datamind", nodes=nodes, edges=edges)
