"""Whatever canonical tables hold, GFM-RAG's loaders read it from what is written, and it is read back the same."""

from __future__ import annotations

import json
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit import RagdataError, validate
from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, Question, Relation, StartNode
from tests.broad import examples
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.stage1_sets import load_with_pandas

ODD = [
    "1", "007", "1.50", "true", "False", "inf", "1e5", "", " ", "NA", "null", "nan", "None", "a,b", 'say "ahoy"',
    "two\nlines", "carriage\rreturn", "nul\0inside", "東京", "🚢 Osprey", "inverse_towed", "towed", "n:1", "r:1", "'x'",
    "{}", "\\", " padded ", "-0", "99999999999999999999", "#N/A", "tab\tname", "is_mentioned_in", "document", "é",
]  # fmt: skip
NAMES = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBERS = st.sampled_from(["1.50", "1e5", "-0", "12345678901234567890123", "0.1", "7"]).map(lambda n: n.encode())
VALUES: Any = st.recursive(
    TEXTS.map(lambda t: json_text.dumps(t).encode()) | NUMBERS | st.sampled_from([b"true", b"false", b"null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda v: b"[" + b",".join(v) + b"]")
        | st.dictionaries(TEXTS, inner, max_size=3).map(
            lambda v: b"{" + b",".join(json_text.dumps(k).encode() + b":" + x for k, x in v.items()) + b"}"
        )
    ),
    max_leaves=4,
)


def _object(reserved: tuple[str, ...] = ("derived_by",)) -> Any:
    """JSON objects as text; None for the one without fields."""
    fields = st.dictionaries(TEXTS.filter(lambda k: k not in reserved), VALUES, max_size=3)
    return fields.map(
        lambda found: json_text.object_text({name: json_text.Raw(value) for name, value in found.items()})
    )


ATTRIBUTES = _object()
EDGES = st.builds(
    Edge,
    NAMES,
    NAMES,
    NAMES,
    _object(("derived_by", "confidence", "source")),
    st.none() | st.floats(allow_nan=False, allow_infinity=False),
    st.none() | NAMES,
)


@st.composite
def graphs(draw: Any) -> dict[str, list[Any]]:
    """A graph of a stage1 dataset, in which all names are listed and a document is a node."""
    edges = draw(st.lists(EDGES, min_size=1, max_size=6))
    listed = dict.fromkeys(name for edge in edges for name in (edge.source, edge.target))
    names = [*listed, *draw(st.lists(NAMES.filter(lambda n: n not in listed), max_size=2, unique=True))]
    types = st.sampled_from(["entity", "document", "boat", ""])
    nodes = [Node(name, draw(types), draw(ATTRIBUTES)) for name in names]
    nodes.append(Node("Harbour log of the day", "document", '{"content":"The tug Osprey left."}'))
    relations = [Relation(name, draw(ATTRIBUTES)) for name in dict.fromkeys(edge.relation for edge in edges)]
    return {"nodes": nodes, "relations": relations, "edges": edges}


def read_back(folder: Path) -> dict[str, list[Any]]:
    """What a later conversion reads: with the names that the mapping beside the dataset tells."""
    tables = read_tables(folder)
    sources = map_back(tables.sources, read_renamed(folder))
    return rows(CanonicalTables(tables.name, tables.format, sources, tables.losses))


def errors(folder: Path, *profiles: str) -> list[str]:
    """What a check finds to be wrong."""
    report = validate(folder, format="gfm-rag", profile=profiles, severity="error")
    return [f"{finding.code} {finding.message}" for finding in report.findings]


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs())
def test_a_graph_comes_back_the_same_and_has_no_error(graph: dict[str, list[Any]]) -> None:
    """Names that would be misread are called otherwise, consistently; nothing else changes."""
    with tempfile.TemporaryDirectory() as folder:
        tables = tables_of("harbour", "gfm-rag", **graph)

        write_tables(tables, "gfm-rag", Path(folder))

        found = read_back(Path(folder))
        assert {table: found[table] for table in graph} == graph
        assert not errors(Path(folder)), errors(Path(folder))
        assert load_with_pandas(Path(folder)).dropped == 0
        assert not tables.losses.any_lost, list(tables.losses)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.sampled_from(["reasoner", "gfm-rag"]))
def test_the_profile_that_was_asked_for_has_no_error(graph: dict[str, list[Any]], profile: str) -> None:
    """Where the entity loader would be left without an edge, the conversion says so and writes nothing wrong."""
    with tempfile.TemporaryDirectory() as folder:
        refused = profile == "gfm-rag" and not _has_entity_edge(graph)
        with pytest.raises(RagdataError, match="no edge between two nodes") if refused else nullcontext():
            write_tables(tables_of("harbour", "beir", **graph), "gfm-rag", Path(folder), profile)

        assert refused or errors(Path(folder), profile) == []


def _has_entity_edge(graph: dict[str, list[Any]]) -> bool:
    documents = {node.name for node in graph["nodes"] if node.type == "document"}
    return any(edge.source not in documents and edge.target not in documents for edge in graph["edges"])


METADATA = _object(()) | st.sampled_from(['{"id":7,"answer":[1],"meta.id":2}', '{"start_nodes":{},"text":null}'])
QUESTIONS = st.builds(
    Question,
    st.none() | NAMES,
    TEXTS,
    st.none() | TEXTS,
    st.lists(TEXTS, max_size=2, unique=True).map(tuple),
    st.sampled_from([None, "train", "test", "dev"]),
    METADATA,
    st.sampled_from([(), ("text", "question_id", "source"), ("aliases", "supporting_documents")]),
)


SAMPLES = st.builds(
    Question,
    NAMES,
    TEXTS,
    st.none() | TEXTS,
    st.lists(TEXTS, max_size=2, unique=True).map(tuple),
    st.sampled_from(["train", "test"]),
    METADATA,
    st.just(()),
)


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(graphs(), st.lists(SAMPLES, max_size=5, unique_by=lambda q: q.question_id), st.data())
def test_questions_over_a_graph_come_back_the_same(
    graph: dict[str, list[Any]], questions: list[Question], data: Any
) -> None:
    """In the order of their files, with their nodes, documents and other fields."""
    questions.sort(key=lambda q: q.split or "", reverse=True)
    kinds = {node.name: node.type for node in graph["nodes"]}
    names = st.lists(st.sampled_from(list(kinds)), min_size=1, max_size=3, unique=True)
    starts, qrels = [], []
    for question in questions:
        key, split = question.question_id or "", question.split
        starts += [StartNode(key, name, kinds[name]) for name in data.draw(names)]
        qrels += [Qrel(key, name, 1, "document", split) for name in data.draw(names)]
        qrels += [Qrel(key, name, 1, "node", split, kinds[name]) for name in data.draw(names)]
    tables = tables_of("harbour", "gfm-rag", **graph, questions=questions, start_nodes=starts, qrels=qrels)
    with tempfile.TemporaryDirectory() as folder:
        write_tables(tables, "gfm-rag", Path(folder))

        found = read_back(Path(folder))
        assert not errors(Path(folder)), errors(Path(folder))
        read = [question._replace(field_order=()) for question in found.get("questions", [])]
        assert sorted(read, key=str) == sorted(questions, key=str)
        assert sorted(found.get("start_nodes", []), key=str) == sorted(starts, key=str)
        assert sorted(found.get("qrels", []), key=str) == sorted(qrels, key=str)


@settings(max_examples=examples(50), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_any_tables_are_written_without_an_error(data: Any) -> None:
    """Names that are unknown, repeated, missing or odd; parts of a dataset that are not there."""
    documents = data.draw(st.lists(st.builds(Document, NAMES, TEXTS, st.none() | TEXTS), min_size=1, max_size=4))
    nodes = data.draw(st.lists(st.builds(Node, NAMES, st.none() | NAMES, ATTRIBUTES), max_size=3))
    edges = data.draw(st.lists(EDGES, max_size=4))
    questions = data.draw(st.lists(QUESTIONS, max_size=5))
    names = st.sampled_from([d.doc_id for d in documents] + [e.source for e in edges] + ["nobody"])
    ids = st.sampled_from([q.question_id for q in questions if q.question_id is not None] or ["nobody"])
    kinds = st.sampled_from(["document", "node"])
    qrels = data.draw(st.lists(st.builds(Qrel, ids, names, st.integers(-1, 2), kinds), max_size=6))
    starts = data.draw(st.lists(st.builds(StartNode, ids, names, st.none() | NAMES), max_size=4))
    tables = tables_of(
        documents=documents, nodes=nodes, edges=edges, questions=questions, qrels=qrels, start_nodes=starts
    )
    with tempfile.TemporaryDirectory() as folder:
        write_tables(tables, "gfm-rag", Path(folder))

        assert not errors(Path(folder)), errors(Path(folder))
        found = rows(read_tables(Path(folder)))
        assert len(found.get("questions", ())) == len(questions)


@pytest.mark.parametrize("profile", ["", "reasoner", "gfm-rag"])
def test_names_that_are_all_numbers(tmp_path: Path, profile: str) -> None:
    """In nodes, edges, questions and documents alike."""
    tables = tables_of(
        documents=[Document("1900", "1901 towed 1902.")],
        edges=[Edge("1901", "7", "1902", None, None, "1900")],
        questions=[Question("h1", "Whom did 1901 tow?", "1902", (), "test")],
        qrels=[Qrel("h1", "1900"), Qrel("h1", "1902", 1, "node", None, "entity")],
        start_nodes=[StartNode("h1", "1901", "entity")],
    )

    write_tables(tables, "gfm-rag", tmp_path, profile)

    assert errors(tmp_path, *([profile] if profile else [])) == []
    (question,) = json.loads((tmp_path / "processed/stage1/test.json").read_text())
    assert question["start_nodes"] == {"entity": ["n:1901"]}
    assert question["target_nodes"] == {"entity": ["n:1902"]}
    assert question["supporting_documents"] == ["n:1900"]
    assert (tmp_path / "processed/stage1/edges.csv").read_text().splitlines()[1].startswith("n:1901,7,n:1902,")
    assert {x.reason for x in tables.losses if x.kind == "renumbered"} == {"the mapping is in ragdata.ids.ndjson"}


def test_relations_that_are_all_numbers(tmp_path: Path) -> None:
    """They stop the loaders; so does one that is called as the inverse of another."""
    nodes = [Node("log", "document"), Node("lena", "entity"), Node("heron", "entity")]
    edges = [Edge("lena", "1", "heron"), Edge("lena", "inverse_1", "log")]

    write_tables(tables_of(nodes=nodes, edges=edges), "gfm-rag", tmp_path)

    assert errors(tmp_path) == []
    assert (tmp_path / "processed/stage1/relations.csv").read_text() == "name,attributes\n1,{}\nr:inverse_1,{}\n"

    write_tables(tables_of(nodes=nodes, edges=[*edges[:1], Edge("lena", "02", "log")]), "gfm-rag", tmp_path / "2")

    assert errors(tmp_path / "2") == []
    assert (tmp_path / "2/processed/stage1/relations.csv").read_text() == "name,attributes\nr:1,{}\nr:02,{}\n"


def test_a_column_of_numbers_in_a_graph_of_words(tmp_path: Path) -> None:
    """Nodes are text, the sources of edges are years: pandas would make numbers of these alone."""
    edges = [Edge("1901", "saw", "lena"), Edge("1902", "saw", "lena")]

    write_tables(tables_of(documents=[Document("log", "…")], edges=edges), "gfm-rag", tmp_path)

    assert load_with_pandas(tmp_path).dropped == 0
    assert "n:1901,saw,lena,{}" in (tmp_path / "processed/stage1/edges.csv").read_text()
