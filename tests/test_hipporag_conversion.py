"""HippoRAG files read into canonical tables and written out of them: nothing is lost, all that is written is sound."""

from __future__ import annotations

import gzip
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node, Qrel, Question, Relation, Triplet
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.upstream_data import published

VALID = sorted((FIXTURES / "hipporag" / "valid").iterdir())
DOCUMENTS = (
    Document("d1", "Joss Alder mapped it.", "Kettle Reef"),
    Document("d2", "A harbour.", "Port Hale", '{"coast":"Grey"}'),
    Document("d3", "A note without a title."),
)


def written(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text(encoding="utf-8"))


def gold_docs(samples: list[dict[str, Any]], name: str) -> list[set[str]]:
    """As HippoRAG's ``main.py`` finds them; it stops where this does."""
    found = []
    for sample in samples:
        if "supporting_facts" in sample:
            titles = {item[0] for item in sample["supporting_facts"]}
            separator = "" if name.startswith("hotpotqa") else " "
            found.append({i[0] + "\n" + separator.join(i[1]) for i in sample["context"] if i[0] in titles})
        elif "contexts" in sample:
            found.append({i["title"] + "\n" + i["text"] for i in sample["contexts"] if i["is_supporting"]})
        else:
            gold = [i for i in sample["paragraphs"] if i.get("is_supporting", True)]
            found.append({i["title"] + "\n" + i.get("text", i.get("paragraph_text")) for i in gold})
    return found


def check_output(folder: Path, name: str) -> None:
    """It is valid, every passage to be found is in the corpus, and every question has answers."""
    report = validate(folder, format="hipporag")
    assert [f.message for f in report.findings if f.severity == "error"] == []
    assert {d.format for d in report.datasets} == {"hipporag"}
    corpus = {f"{p['title']}\n{p['text']}" for p in written(folder, f"{name}_corpus.json")}
    if (folder / f"{name}.json").exists():
        samples = written(folder, f"{name}.json")
        assert all(isinstance(s["answer"], str) or s["answer"] or s["answer_aliases"] for s in samples)
        if any("paragraphs" in s or "contexts" in s or "context" in s for s in samples):
            assert all(gold <= corpus for gold in gold_docs(samples, name))


@pytest.mark.parametrize("path", VALID, ids=lambda p: p.name)
def test_there_and_back_is_the_same(path: Path, tmp_path: Path) -> None:
    name = "hotpotqa_reefs" if path.name.startswith("hotpotqa") else "reefs"
    chosen = {"dataset": "reefs"} if path.name == "two-sets" else {}
    tables = read_tables(path, name=name, **chosen)

    write_tables(tables, "hipporag", tmp_path)

    assert rows(read_tables(tmp_path)) == rows(read_tables(path, name=name, **chosen))
    assert [loss for loss in tables.losses if loss.kind in ("dropped", "lost", "coerced")] == []
    check_output(tmp_path, name)


def test_what_is_read() -> None:
    found = rows(read_tables(FIXTURES / "hipporag" / "valid" / "repository"))

    assert found["documents"][0] == Document("0", "Joss Alder mapped it. It lies north.", "Kettle Reef")
    assert [(q.question_id, q.text, q.answer, q.aliases) for q in found["questions"]] == [
        ("q1", "Who mapped Kettle Reef?", "Joss Alder", ()),
        ("q2", "Where did the surveyor of Kettle Reef work?", "Port Hale", ()),
    ]
    assert found["qrels"] == [Qrel("q1", "0"), Qrel("q2", "0"), Qrel("q2", "1")]
    assert found["triplets"] == [Triplet("q1", "0", "2")]
    assert found["nodes"][0] == Node("Joss Alder", None, '{"passages":["0","1"]}')
    assert found["relations"] == [Relation("mapped"), Relation("surveyed for"), Relation("lies on")]
    assert found["edges"][0] == Edge("Joss Alder", "mapped", "Kettle Reef", provenance="0")


def test_the_last_results_of_a_passage_are_taken(tmp_path: Path) -> None:
    source, out = FIXTURES / "hipporag/broken/repeated-results/data", tmp_path / "out"

    done = run("convert", source, out, "--to", "hipporag")
    (written,) = out.glob("openie_*.json")
    (given,) = source.glob("openie_*.json")
    last = {doc["passage"]: doc["extracted_triples"] for doc in json.loads(given.read_text())["docs"]}

    assert done.code == 0, done.err
    assert "edges  1 record: results of a passage that has others behind them, which replace them" in done.out
    assert {d["passage"]: d["extracted_triples"] for d in json.loads(written.read_text())["docs"]} == last


def test_answers_of_all_shapes() -> None:
    found = rows(read_tables(FIXTURES / "hipporag" / "valid" / "contexts-and-popqa"))["questions"]

    assert [(q.answer, q.aliases) for q in found] == [
        ("Joss Alder", ("J. Alder",)),
        ("Joss Alder", ("Joss Alder (surveyor)", "Alder", "J. Alder")),
    ]


def test_every_value_keeps_its_form(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "reefs_corpus.json").write_text(
        '[{"title": "Fog", "text": "Low.", "depth": 1.50, "meta.idx": 7, "number": 123456789012345678901234567890}]'
    )
    (source / "reefs.json").write_text(
        '[{"_id": "w1", "level": 1e2, "question": "?", "id": null, "answer": "a", "answer_aliases": [],'
        ' "supporting_facts": [["Fog", 0]], "context": [["Fog", ["Low."]]], "meta.context": 2}]'
    )
    tables = read_tables(source, name="reefs")

    write_tables(tables, "hipporag", tmp_path / "out")

    found, again = rows(read_tables(source)), rows(read_tables(tmp_path / "out"))
    assert found["documents"][0].metadata == '{"depth":1.50,"idx":7,"number":123456789012345678901234567890}'
    assert '"level":1e2,"id":null' in found["questions"][0].metadata
    assert again["documents"] == found["documents"]
    assert again["questions"] == found["questions"]


def test_a_dataset_of_another_format(tmp_path: Path) -> None:
    tables = tables_of(
        documents=DOCUMENTS,
        questions=(Question("a", "Who?", "Joss", ("Joss Alder",)), Question("b", "Where?"), Question(None, "When?")),
        qrels=(Qrel("a", "d1", 2), Qrel("b", "d3"), Qrel("a", "d2", 0), Qrel("b", "d9"), Qrel("x", "d1")),
    )

    write_tables(tables, "hipporag", tmp_path)

    assert written(tmp_path, "notes_corpus.json") == [
        {"title": "Kettle Reef", "text": "Joss Alder mapped it.", "idx": 0},
        {"title": "Port Hale", "text": "A harbour.", "coast": "Grey", "idx": 1},
        {"title": "d3", "text": "A note without a title.", "idx": 2},
    ]
    reef = {"title": "Kettle Reef", "text": "Joss Alder mapped it.", "is_supporting": True, "idx": 0}
    hale = {"title": "Port Hale", "text": "A harbour.", "is_supporting": False, "idx": 1}
    note = {"title": "d3", "text": "A note without a title.", "is_supporting": True, "idx": 0}
    assert written(tmp_path, "notes.json") == [
        {"id": "a", "question": "Who?", "answer": ["Joss", "Joss Alder"], "paragraphs": [reef, hale]},
        {"id": "b", "question": "Where?", "answer": "", "paragraphs": [note]},
        {"question": "When?", "answer": "", "paragraphs": []},
    ]
    assert {(loss.kind, loss.table, loss.column, loss.count) for loss in tables.losses} == {
        ("derived", "documents", "title", 1),
        ("renumbered", "passages", None, 3),
        ("coerced", "qrels", "grade", 1),
        ("dropped", "qrels", None, 1),
        ("derived", "questions", "answer", 2),
    }
    check_output(tmp_path, "notes")


def test_passages_that_are_the_same_become_one(tmp_path: Path) -> None:
    copy = Document("d9", "A harbour.", "Port Hale")
    tables = tables_of(
        documents=(*DOCUMENTS[:2], copy), questions=(Question("a", "Who?", "Joss"),), qrels=(Qrel("a", "d9"),)
    )

    write_tables(tables, "hipporag", tmp_path)

    assert len(written(tmp_path, "notes_corpus.json")) == 2
    assert [p["title"] for p in written(tmp_path, "notes.json")[0]["paragraphs"]] == ["Port Hale"]
    assert [(loss.table, loss.count) for loss in tables.losses if loss.kind == "dropped"] == [("documents", 1)]
    check_output(tmp_path, "notes")


def test_chunks_are_the_passages(tmp_path: Path) -> None:
    chunks = (Chunk("c1", "Joss Alder", "d1", 0), Chunk("c2", "mapped it.", "d1", 1), Chunk("c3", "Alone.", None, 0))
    tables = tables_of(
        documents=DOCUMENTS[:1], chunks=chunks, questions=(Question("a", "Who?", "Joss"),), qrels=(Qrel("a", "d1"),)
    )

    write_tables(tables, "hipporag", tmp_path)

    corpus = written(tmp_path, "notes_corpus.json")
    assert [(p["title"], p["text"]) for p in corpus] == [
        ("Kettle Reef", "Joss Alder"),
        ("Kettle Reef", "mapped it."),
        ("c3", "Alone."),
    ]
    assert [p["text"] for p in written(tmp_path, "notes.json")[0]["paragraphs"]] == ["Joss Alder", "mapped it."]
    check_output(tmp_path, "notes")


def test_passages_of_a_question_that_say_something_else_are_set_aside(tmp_path: Path) -> None:
    own = '{"paragraphs":[{"title":"Fog","text":"Low.","is_supporting":true}],"question_decomposition":[]}'
    tables = tables_of(
        documents=DOCUMENTS, questions=(Question("a", "Who?", "J", metadata=own),), qrels=(Qrel("a", "d1"),)
    )

    write_tables(tables, "hipporag", tmp_path)

    (question,) = written(tmp_path, "notes.json")
    assert [p["title"] for p in question["paragraphs"]] == ["Kettle Reef"]
    assert question["meta.paragraphs"][0]["title"] == "Fog"
    check_output(tmp_path, "notes")


def test_edges_without_a_passage_are_reported(tmp_path: Path) -> None:
    edges = (
        Edge("alder", "mapped", "reef", provenance="d1"),
        Edge("alder", "mapped", "reef", provenance="d1"),
        Edge("reef", "near", "hale"),
        Edge("reef", "near", "hale", provenance="d9"),
    )
    tables = tables_of(
        documents=DOCUMENTS, nodes=(Node("alder"), Node("fog")), relations=(Relation("near"),), edges=edges
    )

    write_tables(tables, "hipporag", tmp_path)

    (doc,) = written(tmp_path, "openie_results_ner_unknown.json")["docs"]
    assert (doc["passage"], doc["extracted_entities"], doc["extracted_triples"]) == (
        "Kettle Reef\nJoss Alder mapped it.",
        ["alder", "reef"],
        [["alder", "mapped", "reef"]],
    )
    dropped = {loss.table: 0 for loss in tables.losses}
    for loss in tables.losses:
        dropped[loss.table] += loss.count if loss.kind == "dropped" else 0
    assert (dropped["edges"], dropped["nodes"], dropped["relations"]) == (3, 1, 1)
    check_output(tmp_path, "notes")


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="no passages and no questions"):
        write_tables(tables_of(relations=(Relation("near"),)), "hipporag", tmp_path)


@pytest.mark.parametrize("name", ["ragdata", "notes_corpus", "openie_results_ner_x", "hotpotqa", "a/b", ""])
def test_any_name_is_found_again(name: str, tmp_path: Path) -> None:
    tables = tables_of(name, documents=DOCUMENTS, questions=(Question("a", "Who?", "J"),), qrels=(Qrel("a", "d1"),))

    write_tables(tables, "hipporag", tmp_path)

    (dataset,) = validate(tmp_path).datasets
    assert [f.kind for f in dataset.files] == ["corpus", "questions"]
    assert dataset.errors == 0


def test_one_of_several_data_sets_is_chosen() -> None:
    folder = FIXTURES / "hipporag" / "valid" / "two-sets"

    with pytest.raises(RagdataError, match="several data sets"):
        read_tables(folder)
    with pytest.raises(RagdataError, match="no data set fog"):
        read_tables(folder, dataset="fog")

    assert [d.title for d in rows(read_tables(folder, dataset="harbours"))["documents"]] == ["Port Hale", "Kettle Reef"]


@pytest.mark.parametrize(("joiner", "found"), [("auto", 1), ("empty", 1), ("space", 0)])
def test_the_joiner_decides_what_is_found(joiner: str, found: int) -> None:
    tables = read_tables(FIXTURES / "hipporag" / "valid" / "hotpotqa", joiner=joiner)

    assert len(rows(tables).get("qrels", ())) == found
    assert len([loss for loss in tables.losses if loss.table == "qrels"]) == 1 - found


NAMES = st.sampled_from(["d1", "d2", "", " ", "0", "1", "Ä b", "titles"])
TEXTS = st.sampled_from(["", " ", "Low.", "A harbour.", "釜礁", 'a "b"\n', "x\ty"])
METADATA = st.sampled_from(
    [
        None,
        '{"idx":5}',
        '{"title":"x","meta.text":1}',
        '{"id":3,"answer":7}',
        '{"_id":"z","reference":"r"}',
        '{"supporting_facts":["Log"],"context":"x"}',
        '{"contexts":[{"title":"Log","text":"Low."}]}',
        '{"paragraphs":[{"title":"Log","paragraph_text":"Low."}],"question_decomposition":[{"paragraph_support_idx":9}]}',
        '{"obj":"o","answer_aliases":null}',
    ]
)
DOCUMENT_ROWS = st.lists(
    st.builds(Document, NAMES, TEXTS, st.none() | TEXTS, METADATA), max_size=5, unique_by=lambda d: d.doc_id
)
QUESTION_ROWS = st.lists(
    st.builds(
        Question,
        st.none() | st.sampled_from(["a", "b", "question-0", ""]),
        TEXTS,
        st.none() | TEXTS,
        st.lists(TEXTS, max_size=2).map(tuple),
        metadata=METADATA,
        field_order=st.sampled_from([(), ("answer", "aliases", "text"), ("metadata.answer", "text", "question_id")]),
    ),
    max_size=4,
)
ASKED = st.sampled_from(["a", "b", "x"])
QRELS = st.lists(st.builds(Qrel, ASKED, NAMES, st.integers(-1, 3), st.sampled_from(["document", "node"])), max_size=6)
TRIPLETS = st.lists(st.builds(Triplet, ASKED, NAMES, NAMES), max_size=4)
ENTITIES = st.sampled_from(["alder", "reef", "", "釜"])
EDGES = st.lists(st.builds(Edge, ENTITIES, ENTITIES, ENTITIES, provenance=st.none() | NAMES), max_size=5)
NODES = st.lists(
    st.builds(Node, ENTITIES, attributes=st.sampled_from([None, '{"passages":["d1","0"]}', '{"passages":3,"a":1}'])),
    max_size=3,
    unique_by=lambda n: n.name,
)


@settings(max_examples=examples(100), deadline=None)
@given(DOCUMENT_ROWS, QUESTION_ROWS, QRELS, TRIPLETS, EDGES, NODES, st.sampled_from(["notes", "hotpotqa"]))
def test_whatever_is_written_is_sound(
    documents: list[Document],
    questions: list[Question],
    qrels: list[Qrel],
    triplets: list[Triplet],
    edges: list[Edge],
    nodes: list[Node],
    name: str,
) -> None:
    tables = tables_of(
        name, documents=documents, questions=questions, qrels=qrels, triplets=triplets, edges=edges, nodes=nodes
    )
    if not documents and not questions:
        return
    with tempfile.TemporaryDirectory() as folder:
        write_tables(tables, "hipporag", Path(folder))
        check_output(Path(folder), name)
        _check_again(read_tables(Path(folder), "hipporag"))


def _check_again(tables: CanonicalTables) -> None:
    """What was written once is written the same again."""
    before = rows(tables)
    with tempfile.TemporaryDirectory() as second:
        if not (tables.any("documents") or tables.any("questions")):
            return
        write_tables(tables, "hipporag", Path(second))
        assert {k: v for k, v in rows(read_tables(Path(second), "hipporag")).items() if v} == before


@pytest.mark.broad(5)
@pytest.mark.parametrize(
    ("file", "name", "gold"),
    [("musique", "musique", 478), ("hotpot", "hotpotqa_dev", 400), ("wikihop", "2wikimultihopqa", 414)],
)
def test_questions_with_their_passages_alone(file: str, name: str, gold: int, tmp_path: Path) -> None:
    """Published samples without a corpus: the passages of the questions are the corpus."""
    source = published(f"multihop-dev-samples/{file}.jsonl.gz")
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines]
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(questions), encoding="utf-8")
    tables = read_tables(path, name=name)

    write_tables(tables, "hipporag", tmp_path / "out")

    check_output(tmp_path / "out", name)
    again = rows(read_tables(tmp_path / "out"))
    assert len(again["qrels"]) == gold
    assert [d for d in tables.losses if d.kind in ("dropped", "lost", "coerced")] == []
    if name != "2wikimultihopqa":  # 36 of its questions name passages that they do not bring along
        assert again == rows(read_tables(path, name=name))


@pytest.mark.broad(5)
def test_the_training_sample_of_musique(tmp_path: Path) -> None:
    source = published("hipporag/musique-cc-by-4.0")
    tables = read_tables(source, name="musique_train")

    write_tables(tables, "hipporag", tmp_path)

    found = rows(tables)
    assert {name: len(found[name]) for name in ("documents", "questions", "qrels", "edges")} == {
        "documents": 1890,
        "questions": 100,
        "qrels": 237,
        "edges": 17_419 - 185 - 30,
    }
    assert rows(read_tables(tmp_path)) == found
    check_output(tmp_path, "musique_train")


def test_triples_without_a_passage_go_where_both_ends_are_mentioned(tmp_path: Path) -> None:
    """As in a graph of GFM-RAG, whose edges do not say where they come from."""
    tables = tables_of(
        documents=[Document("d1", "Joss left.", "One"), Document("d2", "Joss mapped the reef.", "Two")],
        nodes=[Node("joss"), Node("reef"), Node("d2", "document"), Node("mara")],
        edges=[
            Edge("joss", "mapped", "reef"),
            Edge("joss", "met", "mara"),
            Edge("joss", "is_mentioned_in", "d1"),
            Edge("joss", "is_mentioned_in", "d2"),
            Edge("reef", "is_mentioned_in", "d2"),
        ],
    )
    write_tables(tables, "hipporag", tmp_path)
    (path,) = tmp_path.glob("openie_results_ner_*.json")
    docs = json.loads(path.read_text())["docs"]
    assert [doc["extracted_entities"] for doc in docs] == [["joss"], ["joss", "reef"]]
    assert [doc["extracted_triples"] for doc in docs] == [[], [["joss", "mapped", "reef"]]]
    losses = {(loss.kind, loss.table, loss.reason): loss.count for loss in tables.losses}
    assert losses["derived", "edges", "the first passage that mentions both its ends"] == 1
    assert losses["dropped", "edges", "it does not say which passage it comes from"] == 1
    assert losses["coerced", "nodes", "a node that stands for a passage is its passage"] == 1
    assert validate(tmp_path).ok


def test_triples_that_nothing_tells_a_passage_of_go_where_their_names_stand(tmp_path: Path) -> None:
    """As DataMind's, which are beside the chunks."""
    tables = tables_of(
        chunks=[Chunk("c1", "Joss left."), Chunk("c2", "Joss mapped the Kettle Reef.")],
        edges=[Edge("joss", "mapped", "kettle reef"), Edge("joss", "met", "mara")],
    )
    write_tables(tables, "hipporag", tmp_path)
    (path,) = tmp_path.glob("openie_results_ner_*.json")
    (doc,) = json.loads(path.read_text())["docs"]
    assert doc["extracted_triples"] == [["joss", "mapped", "kettle reef"]]
    losses = {(loss.kind, loss.reason): loss.count for loss in tables.losses}
    assert losses["derived", "the first passage in which both its ends occur"] == 1
    assert losses["dropped", "it does not say which passage it comes from"] == 1


def test_a_chosen_set_is_written_alone_and_at_the_top(tmp_path: Path) -> None:
    for source in ("two-sets", "musique"):
        shutil.copytree(FIXTURES / "hipporag" / "valid" / source, tmp_path / "source" / source)
    for path in (tmp_path / "source" / "two-sets").iterdir():
        path.rename(tmp_path / "source" / path.name)
    done = run("convert", tmp_path / "source", tmp_path / "out", "--to", "beir", "--option", "dataset=reefs")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (tmp_path / "out").glob("*.jsonl")) == ["corpus.jsonl", "queries.jsonl"]
    listed = json.loads((tmp_path / "out" / "ragdata.json").read_bytes())["source"]["files"]
    assert [Path(file["path"]).name for file in listed] == ["reefs.json", "reefs_corpus.json"]
