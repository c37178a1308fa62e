"""A graph made of texts without a model: its tables, its links to questions, written as GFM-RAG."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.extraction.graph_store import GraphStore
from ragdatakit.retrieval.extraction.graph_tables import ExtractOptions, extract_graph
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node, Qrel, Question, StartNode
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from tests.conversion_tools import rows, tables_of, write_tables

LOG = Document("d1", "The tug Osprey towed the barge Lena into Port Hale. Captain Jane Moor signed.", "Harbour log")
MOOR = Document("d2", "Jane Moor was born in 1950. She sailed the Osprey.", "Jane Moor")
HALE = Document("d3", "Port Hale is a harbour. The Lena sank there in 1950.", "Port Hale")
ASKED = Question("q1", "Which barge did the Osprey tow?", "Lena", (), "test")
TWICE = Question("q2", "Where did the tug of Jane Moor come in?", "Port Hale", (), "train")


def harbour(**more: Iterable[Any]) -> CanonicalTables:
    given: dict[str, Iterable[Any]] = {
        "documents": (LOG, MOOR, HALE),
        "questions": (ASKED, TWICE),
        "qrels": (
            Qrel("q1", "d1", 1, "document", "test"),
            Qrel("q2", "d2", 2, "document", "train"),
            Qrel("q2", "d1", 1, "document", "train"),
            Qrel("q2", "d3", 0, "document", "train"),
        ),
    }
    return tables_of("harbour", "beir", **(given | more))


def names(found: Iterable[Any]) -> list[str]:
    return [row.name for row in found]


def test_names_are_nodes_and_sentences_are_edges() -> None:
    made = rows(extract_graph(harbour(), ExtractOptions()))
    expected = ["harbour log", "osprey", "lena", "port hale", "jane moor", "year 1950"]
    assert names(made["nodes"]) == expected
    assert {node.type for node in made["nodes"]} == {"entity"}
    assert names(made["relations"]) == ["occurs_with", "occurs_in_text_about", "is_mentioned_in"]
    edges = {edge[:3]: edge.provenance for edge in made["edges"]}
    assert len(edges) == len(made["edges"])
    assert edges["osprey", "occurs_with", "lena"] == "d1"
    assert ("osprey", "occurs_with", "jane moor") not in edges  # never in one sentence
    assert edges["osprey", "occurs_in_text_about", "jane moor"] == "d2"
    assert edges["jane moor", "is_mentioned_in", "d1"] is None  # "Captain Jane Moor" is known by its end
    assert ("year 1950", "is_mentioned_in", "d3") in edges
    assert all(edge.source != edge.target for edge in made["edges"])


def test_questions_start_at_what_they_name_and_lead_to_what_their_gold_mentions() -> None:
    made = rows(extract_graph(harbour(), ExtractOptions()))
    assert made["start_nodes"] == [StartNode("q1", "osprey", "entity"), StartNode("q2", "jane moor", "entity")]
    assert [row for row in made["qrels"] if row.target_kind != "node"] == list(harbour().peek("qrels"))
    of_q2 = [row for row in made["qrels"] if row.target_kind == "node" and row.question_id == "q2"]
    assert [row.target_id for row in of_q2 if row.node_type == "document"] == ["d2", "d1"]
    assert {row.target_id for row in of_q2 if row.node_type == "entity"} == {
        "jane moor", "year 1950", "osprey", "harbour log", "lena", "port hale",
    }  # fmt: skip
    assert {row.split for row in of_q2} == {"train"}


def test_a_question_that_names_nothing_takes_the_names_like_it_or_none() -> None:
    asked = (Question("q1", "who towed a hale boat?"), Question("q2", "why?"), Question(None, "Osprey?"))
    made = rows(extract_graph(harbour(questions=asked), ExtractOptions()))
    assert made["start_nodes"] == [StartNode("q1", "port hale", "entity")]
    assert {row.question_id for row in made["qrels"] if row.target_kind == "node"} == {"q1"}


def test_at_most_so_many_start_nodes() -> None:
    asked = (Question("q1", "Osprey, Lena, Port Hale, Jane Moor?"),)
    made = rows(extract_graph(harbour(questions=asked), ExtractOptions(start_nodes=2)))
    assert [row.node for row in made["start_nodes"]] == ["osprey", "lena"]


def test_rare_names_are_kept_where_one_passage_is_enough() -> None:
    text = Document("d1", "Ada met Bob.")
    with pytest.raises(RagdataError, match="no entity was found in 2 passages or more"):
        rows(extract_graph(tables_of(documents=(text,)), ExtractOptions()))
    made = rows(extract_graph(tables_of(documents=(text,)), ExtractOptions(least=1)))
    assert names(made["nodes"]) == ["ada", "bob"]


def test_entities_are_never_called_like_passages_or_numbers() -> None:
    texts = (
        Document("Osprey", "The Osprey and Lena in 1950, room C3, 42."),
        Document("lena", "Lena and the Osprey in 1950.", "42"),
        Document("osprey (entity)", "Nothing."),
    )
    made = rows(extract_graph(tables_of(documents=texts), ExtractOptions()))
    nodes = names(made["nodes"])
    assert nodes == ["osprey (entity) (entity)", "lena (entity)", "year 1950", "42 (entity)"]
    assert not {n.casefold() for n in nodes} & {d.doc_id.casefold() for d in texts}


def test_without_mentions_only_nodes_with_edges_are_left() -> None:
    texts = (Document("a", "Ada met Bob. Alone: Carl."), Document("b", "Ada met Bob. Then came Carl."))
    made = rows(extract_graph(tables_of(documents=texts), ExtractOptions(mentions=False, questions=False)))
    assert names(made["nodes"]) == ["ada", "bob"]
    assert made["edges"] == [Edge("ada", "occurs_with", "bob", provenance="a")]


def test_chunks_are_the_passages_where_there_are_any() -> None:
    chunks = [Chunk(f"{d.doc_id}#0", d.text, d.doc_id, 0) for d in (LOG, MOOR, HALE)]
    made = rows(extract_graph(harbour(chunks=chunks), ExtractOptions()))
    assert {e.target for e in made["edges"] if e.relation == "is_mentioned_in"} == {"d1#0", "d2#0", "d3#0"}
    targets = [q.target_id for q in made["qrels"] if q.node_type == "document" and q.question_id == "q2"]
    assert targets == ["d2#0", "d1#0"]


def test_repeated_passages_mention_once() -> None:
    made = rows(extract_graph(harbour(documents=(LOG, LOG, MOOR)), ExtractOptions()))
    found = [edge[:3] for edge in made["edges"]]
    assert len(found) == len(set(found))


def test_what_a_dataset_has_of_another_graph_is_replaced_and_reported() -> None:
    old = (Qrel("q1", "x", 1, "node", "test", "entity"), Qrel("q1", "d1", 1, "document", "test"))
    tables = harbour(start_nodes=(StartNode("q1", "x", "entity"),), qrels=old)
    made = extract_graph(tables, ExtractOptions())
    found = rows(made)
    assert "x" not in {row.node for row in found["start_nodes"]} | {row.target_id for row in found["qrels"]}
    dropped = {loss.table: loss.count for loss in tables.losses if loss.kind == "dropped"}
    assert dropped == {"start_nodes": 1, "qrels": 1}


def test_reading_twice_gives_and_tells_the_same_once() -> None:
    tables = harbour()
    made = extract_graph(tables, ExtractOptions())
    first = rows(made)
    losses = [loss.as_dict() for loss in tables.losses]
    assert rows(made) == first
    assert [loss.as_dict() for loss in tables.losses] == losses
    assert {loss["kind"] for loss in losses} == {"derived"}


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        (harbour(edges=(Edge("a", "b", "c"),)), "has a graph already"),
        (harbour(nodes=(Node("a"),)), "has a graph already"),
        (tables_of(questions=(ASKED,)), "no texts"),
        (tables_of(), "no texts"),
    ],
    ids=["edges", "nodes", "questions only", "nothing"],
)
def test_what_no_graph_can_be_made_of(tables: CanonicalTables, message: str) -> None:
    with pytest.raises(RagdataError, match=message):
        extract_graph(tables, ExtractOptions())


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ({"extractor": "spacy"}, UnknownNameError),
        ({"linker": "x"}, UnknownNameError),
        ({"least": 0}, RagdataError),
        ({"start_nodes": 0}, RagdataError),
        ({"extractor": "openai"}, RagdataError),
        ({"linker": "embeddings"}, RagdataError),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_options_that_make_no_sense(given: dict[str, Any], kind: type[RagdataError]) -> None:
    with pytest.raises(kind):
        extract_graph(harbour(), ExtractOptions(**given))


HOSTILE = (
    Document("../../etc", "Ada\0Bob met Carl Doe \u202eEve.", "Ti\ntle\0"),
    Document("", "", "x"),
    Document("nan", "Ada met Carl. None and Nan and True. " + "Ada " * 2000, "nan"),
    Document("=cmd", '"Ada" met Carl, "NA" and =SUM(A1). ' + "(" * 5000, "1e5"),
    Document("7", "Ada met Carl in 2001.\n\n\n", "007"),
)


@pytest.mark.parametrize("key", ["id", "title"])
def test_hostile_texts_become_valid_datasets(tmp_path: Path, key: str) -> None:
    asked = (Question("q\0", "Ada\x07?", "x"), Question("q2", "", "x"), Question("q2", "Carl?", "x"))
    judged = (Qrel("q\0", "7"), Qrel("q2", "7"), Qrel("q2", "gone"), Qrel("nobody", "7"), Qrel("q2", ""))
    tables = tables_of(documents=HOSTILE, questions=asked, qrels=judged)
    write_tables(extract_graph(tables, ExtractOptions()), "gfm-rag", tmp_path, key=key)
    report = ragdatakit.validate(tmp_path, format="gfm-rag", severity="error")
    assert report.ok, report.findings


def test_half_characters_are_passed_over() -> None:
    texts = [Document(f"d{n}", "Ada\ud800 met Carl\udfff.", "T\ud800") for n in range(2)]
    made = rows(extract_graph(tables_of(documents=texts, questions=(Question("q", "\ud800Ada"),)), ExtractOptions()))
    assert set(names(made["nodes"])) == {"t", "ada", "carl"}
    assert [row.node for row in made["start_nodes"]] == ["ada"]


def test_written_as_gfm_rag_under_titles(tmp_path: Path) -> None:
    write_tables(extract_graph(harbour(), ExtractOptions(by_title=True)), "gfm-rag", tmp_path, key="title")
    report = ragdatakit.validate(tmp_path, format="gfm-rag")
    assert set(report.by_rule) <= {"GF318", "GF322"}  # few documents; edges say where they come from
    with (tmp_path / "processed/stage1/edges.csv").open(encoding="utf-8") as file:
        mentions = [row for row in csv.DictReader(file) if row["relation"] == "is_mentioned_in"]
    assert {row["target"] for row in mentions} == {"Harbour log", "Jane Moor", "Port Hale"}
    assert "jane moor (entity)" in {row["source"] for row in mentions}


def test_a_store_keeps_the_first_of_equal_edges() -> None:
    store = GraphStore()
    for name in ("a", "b", "c"):
        store.entities(name)
    store.relations("r")
    store.add((0, 1, 0), [(0, 0, 1), (0, 0, 1), (1, 0, 1)])
    assert list(store.edges()) == [[(0, 0, 1)]]
    store.add((), ())
    store.add((2,), [(0, 0, 1), (2, 0, 1)])
    assert list(store.edges()) == [[(0, 0, 1)], [], [(2, 0, 1)]]
    assert list(store.mentioned(0)) == [0, 1]
    assert list(store.mentioned(1)) == []
    entities, relations = store.used()
    assert entities.tolist() == [True, True, True]
    assert relations.tolist() == [True]
