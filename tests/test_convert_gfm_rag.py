"""GFM-RAG's datasets read into canonical tables: each layout, and what its loaders make of odd cells and fields."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit import RagdataError, validate
from ragdatakit.converters.gfm_rag.attributes import cell_of_json, json_of_cell
from ragdatakit.converters.gfm_rag.mentions import NameFinder, _words
from ragdatakit.converters.gfm_rag.names import NameColumns, looks_like_number
from ragdatakit.files.containers.csv_cells import chunk_rows
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.kept_rows import ColumnSource
from ragdatakit.outputs.renamed_ids import map_back, read_renamed
from ragdatakit.schemas import get_format
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node, Qrel, Question, Relation, Run, StartNode
from ragdatakit.schemas.conversions import Losses
from tests.command_line import run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.gfm_rag_behaviour import SAMPLE
from tests.gfm_rag_sets import write
from tests.stage1_sets import graph_of, held_out_questions, knowledge_graph
from tests.upstream_data import UPSTREAM_DATA, needs

LOG = {"Harbour log": "The tug Osprey towed the barge Lena into Port Hale."}
STAGE1 = {
    "processed/stage1/nodes.csv": "name,type,attributes\n"
    "Harbour log,document,\"{'content': 'The tug Osprey towed the barge.'}\"\nosprey,entity,{}\nlena,entity,{}\n",
    "processed/stage1/relations.csv": "name,attributes\ntowed,{}\nis_mentioned_in,{}\n",
    "processed/stage1/edges.csv": "source,relation,target,attributes\nosprey,towed,lena,{}\n"
    "osprey,is_mentioned_in,Harbour log,{}\nlena,is_mentioned_in,Harbour log,{}\n",
}
RAW_QUESTION = {k: v for k, v in SAMPLE.items() if k not in ("start_nodes", "target_nodes")}


def _stage1(root: Path, **files: Any) -> Path:
    named = {f"processed/stage1/{name.replace('_', '.')}": content for name, content in files.items()}
    return write(root, {"raw/documents.json": LOG, **STAGE1, **named})


def _losses(tables: Any) -> list[tuple[str, str, str | None, int]]:
    return [(loss.kind, loss.table, loss.column, loss.count) for loss in tables.losses]


# reading


def test_a_raw_dataset(tmp_path: Path) -> None:
    question = {"id": "h1", "question": "Who?", "question_type": 1.50, "answer": "Lena", "supporting_documents": ["a"]}
    write(tmp_path, {"raw/documents.json": LOG, "raw/train.json": [question], "raw/test.json": [RAW_QUESTION]})

    found = rows(read_tables(tmp_path))

    assert found["documents"] == [Document("Harbour log", LOG["Harbour log"], "Harbour log")]
    test, train = found["questions"]
    order = ("question_id", "text", "question_type", "answer", "supporting_documents")
    assert train == Question("h1", "Who?", "Lena", (), "train", '{"question_type":1.5}', order)
    assert test.split == "test"
    assert found["qrels"] == [Qrel("h1", "Harbour log", 1, "document", "test"), Qrel("h1", "a", 1, "document", "train")]
    assert set(found) == {"documents", "questions", "qrels"}


def test_a_graph_with_questions(tmp_path: Path) -> None:
    _stage1(
        tmp_path,
        nodes_csv="name,type,attributes\nosprey,entity,\"{'built': 1901, 'at': ('a', None)}\"\nlena,boat,None\n"
        'Harbour log,document,"{""content"": ""Towed.""}"\nAnnex,document,"{""content"": ""Another.""}"\n',
        edges_csv="source,relation,target,attributes\nosprey,towed,lena,"
        "\"{'confidence': 0.5, 'source': \"\"Harbour log\"\", 'year': 1901}\"\n",
        test_json=[SAMPLE],
    )

    tables = read_tables(tmp_path)

    found = rows(tables)
    assert found["nodes"][:2] == [Node("osprey", "entity", '{"built":1901,"at":["a",null]}'), Node("lena", "boat")]
    assert found["relations"] == [Relation("towed"), Relation("is_mentioned_in")]
    assert found["edges"] == [Edge("osprey", "towed", "lena", '{"year":1901}', 0.5, "Harbour log")]
    assert [d.doc_id for d in found["documents"]] == ["Harbour log", "Annex"]
    assert found["documents"][0].text == LOG["Harbour log"]
    assert found["start_nodes"] == [StartNode("h1", "osprey", "entity")]
    assert found["qrels"] == [
        Qrel("h1", "Harbour log", 1, "document", "test"),
        Qrel("h1", "Harbour log", 1, "node", "test", "document"),
        Qrel("h1", "lena", 1, "node", "test", "entity"),
    ]
    assert _losses(tables) == [("coerced", "nodes", "attributes", 1)]


def test_reading_twice_counts_once(tmp_path: Path) -> None:
    _stage1(tmp_path, nodes_csv="name,type,attributes\na,entity,\"{'x': (1,)}\"\nb,entity,\"{'x': {2}}\"\n")
    tables = read_tables(tmp_path)

    tables.any("nodes")
    list(tables.peek("nodes"))
    list(tables.take("nodes", "name", "type", "attributes"))

    assert _losses(tables) == [("coerced", "nodes", "attributes", 1), ("coerced", "nodes", "attributes", 1)]


def test_the_uid_is_the_key(tmp_path: Path) -> None:
    _stage1(
        tmp_path,
        nodes_csv="uid,name,type,attributes\nn1,Osprey,entity,{}\nn2,Lena,entity,\"{'name': 'L'}\"\nn3,n3,entity,{}\n",
    )

    tables = read_tables(tmp_path)

    assert rows(tables)["nodes"] == [
        Node("n1", "entity", '{"name":"Osprey"}'),
        Node("n2", "entity", '{"name":"L"}'),
        Node("n3", "entity"),
    ]
    assert _losses(tables) == [("lost", "nodes", "name", 1)]


def test_raw_questions_stand_between_the_processed_ones(tmp_path: Path) -> None:
    raw = [{**RAW_QUESTION, "id": key, "question": f"{key}?"} for key in ("a", "b", "c", "d")]
    processed = [{**SAMPLE, "id": key, "question": f"{key}!"} for key in ("b", "d", "e")]
    _stage1(tmp_path, test_json=processed)
    write(tmp_path, {"raw/test.json": raw})

    found = rows(read_tables(tmp_path))

    assert [q.text for q in found["questions"]] == ["a?", "b!", "c?", "d!", "e!"]
    assert [s.question_id for s in found["start_nodes"]] == ["b", "d", "e"]


def test_fields_that_are_not_as_they_should_be(tmp_path: Path) -> None:
    sample = {**SAMPLE, "id": 7, "answer": 1901, "answer_aliases": "a", "target_nodes": {"entity": "lena"}}
    _stage1(tmp_path, test_json=[sample])

    tables = read_tables(tmp_path)

    found = rows(tables)
    (question,) = found["questions"]
    assert question[:5] == ("7", SAMPLE["question"], "1901", ("a",), "test")
    assert question.metadata == '{"id":7,"answer":1901}'
    assert Qrel("7", "lena", 1, "node", "test", "entity") in found["qrels"]
    assert {loss.reason for loss in tables.losses} == {
        "an answer that is not a text became one",
        "a text instead of a list of texts",
    }


def test_predictions_are_runs(tmp_path: Path) -> None:
    ranked = {"document": [["Harbour log", 0.93], ["Annex", 0.5]], "entity": [["lena", 1]]}
    write(tmp_path, {"predictions_harbour.json": [{**SAMPLE, "predictions": ranked}]})

    found = rows(read_tables(tmp_path))

    assert found["runs"] == [
        Run("h1", "retrieval", 1, "Harbour log", None, 0.93, None, '{"node_type":"document"}'),
        Run("h1", "retrieval", 2, "Annex", None, 0.5, None, '{"node_type":"document"}'),
        Run("h1", "retrieval-entity", 1, "lena", None, 1.0, None, '{"node_type":"entity"}'),
    ]
    assert [q.question_id for q in found["questions"]] == ["h1"]
    assert found["questions"][0].metadata is None


LEGACY = {
    "raw/dataset_corpus.json": {"Harbour log": "The Osprey towed the Lena.", "Annex": "Nothing."},
    "processed/stage1/kg.txt": "osprey,towed,lena\n osprey,was_at,port hale \n\na,b\nHarbour log,of,port hale\n",
    "processed/stage1/document2entities.json": {"Harbour log": ["osprey", "nobody"], "Annex": [], "Lost": ["lena"]},
    "processed/stage1/test.json": [
        {
            "id": "h1",
            "question": "Which boat did the Osprey tow?",
            "answer": "Lena",
            "type": "bridge",
            "supporting_facts": ["Harbour log"],
            "question_entities": ["osprey"],
            "supporting_entities": ["lena"],
        }
    ],
}


def test_the_older_layout(tmp_path: Path) -> None:
    tables = read_tables(write(tmp_path, LEGACY))

    found = rows(tables)
    assert [d.doc_id for d in found["documents"]] == ["Harbour log", "Annex"]
    assert found["nodes"] == [Node("osprey", "entity"), Node("lena", "entity"), Node("port hale", "entity")]
    assert [r.name for r in found["relations"]] == ["towed", "was_at", "of", "is_mentioned_in"]
    assert found["edges"] == [
        Edge("osprey", "towed", "lena"),
        Edge("osprey", "was_at", "port hale"),
        Edge("Harbour log", "of", "port hale"),
        Edge("osprey", "is_mentioned_in", "Harbour log"),
    ]
    (question,) = found["questions"]
    assert question.metadata == '{"type":"bridge"}'
    assert question.field_order[4:] == ("supporting_documents", "start_nodes", "target_nodes")
    assert found["start_nodes"] == [StartNode("h1", "osprey", "entity")]
    assert found["qrels"] == [
        Qrel("h1", "Harbour log", 1, "document", "test"),
        Qrel("h1", "Harbour log", 1, "node", "test", "document"),
        Qrel("h1", "lena", 1, "node", "test", "entity"),
    ]
    assert _losses(tables) == [
        ("dropped", "edges", None, 1),
        ("dropped", "edges", None, 1),
        ("dropped", "edges", None, 1),
        ("coerced", "nodes", "type", 1),
    ]


def test_the_older_layout_in_the_current_one(tmp_path: Path) -> None:
    tables = read_tables(write(tmp_path / "old", LEGACY))

    write_tables(tables, "gfm-rag", tmp_path / "new")

    assert validate(tmp_path / "new", profile="reasoner").counts["error"] == 0
    assert validate(tmp_path / "new", profile="gfm-rag").counts["error"] == 0
    stage1 = tmp_path / "new/processed/stage1"
    assert (stage1 / "nodes.csv").read_text().splitlines()[4] == (
        'Harbour log,document,"{""content"":""The Osprey towed the Lena.""}"'
    )
    (question,) = json.loads((stage1 / "test.json").read_text())
    assert list(question) == [
        "id", "question", "answer", "type", "supporting_documents", "start_nodes", "target_nodes"
    ]  # fmt: skip
    assert question["target_nodes"] == {"document": ["Harbour log"], "entity": ["lena"]}
    assert not (tmp_path / "new/processed/stage2").exists()


def test_documents_of_the_older_layout_are_read_alone(tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"raw/dataset_corpus.json": LEGACY["raw/dataset_corpus.json"]})
    assert [f.rule for f in validate(old, severity="error").findings] == ["legacy-layout"]

    done = run("convert", "--from", "gfm-rag-raw", "--to", "beir", old, tmp_path / "new")

    assert (done.code, done.err) == (0, "")
    assert len((tmp_path / "new/corpus.jsonl").read_text().splitlines()) == 2


def test_the_delimiter_of_a_fork(tmp_path: Path) -> None:
    write(tmp_path, {**LEGACY, "processed/stage1/kg.txt": "osprey,,towed, slowly,,lena\n"})

    found = read_tables(tmp_path)
    split = rows(read_tables(tmp_path, delimiter=",,"))

    assert "edges" not in rows(found)
    assert any("delimiter=,," in loss.reason for loss in found.losses)
    assert split["edges"][0] == Edge("osprey", "towed, slowly", "lena")


def test_large_tables_are_read_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By blocks that are plain, and row by row where they are not."""
    odd = ["a,b", 'say ""ahoy""', "two\nlines", "carriage\rreturn", "東京", " ", "x" * 200_000]
    _stage1(tmp_path, nodes_csv="name,type,attributes\n" + "".join(f'"{name}",entity,{{}}\n' for name in odd))
    slowly = rows(read_tables(tmp_path))

    monkeypatch.setattr("ragdatakit.files.reading.record_reading._WORTH_COLUMNS", 0)

    assert rows(read_tables(tmp_path)) == slowly
    assert [node.name for node in slowly["nodes"]] == [name.replace('""', '"') for name in odd]


# cells and names


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ("{}", None),
        ("None", None),
        ("[]", None),
        ('{"a": 1.50, "b": "\\u00e9"}', '{"a":1.50,"b":"\\u00e9"}'),
        ('{"a": True, "n": 1.50}', '{"a":true,"n":1.50}'),
        ("{'a': None, 'b': [False]}", '{"a":null,"b":[false]}'),
        ('{"a": "True, \\" None"}', '{"a":"True, \\" None"}'),
        ('{"a": "x\\/y"}', '{"a":"x\\\\/y"}'),
        ('{"a": "\\ud83d\\udea2"}', '{"a":"🚢"}'),
        ('{"a": "\\ud83d"}', '{"a":"\ufffd"}'),
        ('{"a": 1, "a": 2}', '{"a":2}'),
        ("{1: (2,), 'b': 1e999}", '{"1":[2],"b":"inf"}'),
        ('{"a": null}', None),
        ("['a']", None),
    ],
)
def test_attributes_that_python_reads(cell: str, text: str | None) -> None:
    assert json_of_cell(cell, lambda *_: None) == text


@pytest.mark.parametrize(
    ("text", "cell", "noted"),
    [
        (None, "{}", False),
        ('{"a":1.50,"b":"x/y"}', '{"a":1.50,"b":"x/y"}', False),
        ('{"a":true,"b":[null,"null"]}', '{"a":True,"b":[None,"null"]}', False),
        ('{"a":"x\\/y","b":"\\ud83d\\udea2"}', '{"a":"x/y","b":"🚢"}', False),
        ('{"a":1e999}', '{"a":"1e999"}', True),
        ('{"a":1,"a":2}', '{"a":2}', True),
        ('{"a":' + "[" * 300 + "]" * 300 + ',"b":1}', '{"a":"' + "[" * 300 + "]" * 300 + '","b":1}', True),
    ],
)
def test_attributes_for_python(text: str | None, cell: str, noted: bool) -> None:
    notes: list[str] = []

    assert cell_of_json(text, lambda why, _: notes.append(why)) == cell
    assert bool(notes) == noted


def test_numbers_are_looked_for_chunk_by_chunk() -> None:
    columns, rows_of_chunk = NameColumns(4), chunk_rows(4)
    names = ["lena", *["7"] * (rows_of_chunk - 1)]
    columns.add(names[:5], "a" * 5, "7" * 5)
    columns.add(names[5:], "a" * (rows_of_chunk - 5), "7" * (rows_of_chunk - 5))
    assert [columns.numeric(place) for place in range(3)] == [False, False, True]

    columns.add(["8"], ["a"], ["8"])

    assert [columns.numeric(place) for place in range(3)] == [True, False, True]
    assert columns.numeric(1, 2) and not columns.numeric(1)
    assert [n for n in ("1", "True", "inf", "1e5", " 7", "", "n1", "nan") if looks_like_number(n)] == [
        "1", "True", "inf", "1e5", " 7"
    ]  # fmt: skip


def test_names_in_a_text() -> None:
    finder = NameFinder(["osprey", "port hale", "Port Hale north", "東京", "café", "c", "te", "côte d'ivoire"])

    assert finder.find("Did the Osprey leave Port-Hale for 東京都?") == ["osprey", "port hale", "東京"]
    assert finder.find("PORT HALE NORTH, cafés, Côte d'Ivoire") == ["Port Hale north", "côte d'ivoire"]
    assert finder.find("ospreys") == []


@pytest.mark.parametrize("names", [["ab", "ab c", "ab c d", "c", "k1"], ["ab", "Ab C", "éa", "東京"], []])
def test_names_in_many_texts_are_those_in_each(names: list[str]) -> None:
    alphabet = [
        "ab",
        "AB",
        "c",
        "D",
        "k1",
        " ",
        " ",
        ".",
        "é",
        "東京",
        "ß",
        "ẞ",
        "İ",
        "\u212a1",
        "Σ",
        "²",
        "ก",
        "\ud800",
    ]
    random, finder = Random(7), NameFinder(names)
    texts = [(number, "".join(random.choices(alphabet, k=random.randrange(12)))) for number in range(3000)]

    assert list(finder.find_each(texts)) == [(number, finder.find(text)) for number, text in texts]


# writing


def test_the_example_comes_back_the_same(tmp_path: Path) -> None:
    write(tmp_path / "a", dict(get_format("gfm-rag").example))
    tables = read_tables(tmp_path / "a")

    write_tables(tables, "gfm-rag", tmp_path / "b")

    assert rows(read_tables(tmp_path / "b")) == rows(tables)
    assert not list(tables.losses)


def test_raw_questions_are_linked_to_the_graph(tmp_path: Path) -> None:
    """Nodes named in the question to start from; supporting documents and what they mention to be found."""
    lost = {**RAW_QUESTION, "id": "h2", "question": "Who sank?"}
    _stage1(tmp_path / "a")
    write(tmp_path / "a", {"raw/test.json": [RAW_QUESTION, lost]})
    tables = read_tables(tmp_path / "a")

    write_tables(tables, "gfm-rag", tmp_path / "b")

    (sample,) = json.loads((tmp_path / "b/processed/stage1/test.json").read_text())
    assert sample == {**SAMPLE, "target_nodes": {"document": ["Harbour log"], "entity": ["osprey", "lena"]}}
    assert json.loads((tmp_path / "b/raw/test.json").read_text()) == [RAW_QUESTION, lost]
    assert {loss.kind for loss in tables.losses} == {"derived"}
    assert validate(tmp_path / "b").counts["error"] == 0


def test_a_graph_from_elsewhere(tmp_path: Path) -> None:
    graph = _stage1(tmp_path / "graph")
    write(tmp_path / "raw", {"raw/documents.json": LOG, "raw/test.json": [RAW_QUESTION]})
    tables = read_tables(tmp_path / "raw")

    write_tables(tables, "gfm-rag", tmp_path / "out", graph=str(graph / "processed" / "stage1"))

    (sample,) = json.loads((tmp_path / "out/processed/stage1/test.json").read_text())
    assert sample["start_nodes"] == {"entity": ["osprey"]}
    assert (tmp_path / "out/processed/stage1/edges.csv").read_text() == STAGE1["processed/stage1/edges.csv"]
    with pytest.raises(RagdataError, match=r"no folder with nodes\.csv"):
        write_tables(read_tables(tmp_path / "raw"), "gfm-rag", tmp_path / "no", graph=str(tmp_path / "raw"))


def test_triples_without_documents(tmp_path: Path) -> None:
    """A node for each source, which reading takes away again; equal edges stay apart unless they are not wanted."""
    nodes = [Node("Osprey", "tug", '{"built":1901,"afloat":true}'), Node("Lena", "barge"), Node("Osprey", "ship")]
    edges = [
        Edge("Osprey", "towed", "Lena", '{"day":"two\\nlines"}', 0.9, "log.txt"),
        Edge("Osprey", "towed", "Lena", None, 0.9, "log.txt"),
        Edge("Lena", "rammed", "Heron"),
    ]
    tables = tables_of("harbour", "datamind", nodes=nodes, edges=edges)

    write_tables(tables, "gfm-rag", tmp_path)

    assert validate(tmp_path, profile="reasoner").counts["error"] == 0
    assert [d.split(",")[0] for d in (tmp_path / "processed/stage1/nodes.csv").read_text().splitlines()] == [
        "name", "Osprey", "Lena", "Heron", "log.txt", "harbour"
    ]  # fmt: skip
    found = rows(read_tables(tmp_path))
    assert found["edges"] == edges
    assert found["nodes"] == [*nodes[:2], Node("Heron", "entity")]
    assert found["relations"] == [Relation("towed"), Relation("rammed")]
    assert ("dropped", "nodes", None, 1) in _losses(tables)

    again = tables_of("harbour", "datamind", nodes=nodes[:2], edges=edges)
    write_tables(again, "gfm-rag", tmp_path / "strict", "gfm-rag", dedupe="true")

    assert validate(tmp_path / "strict", profile="gfm-rag").counts["error"] == 0
    assert len(rows(read_tables(tmp_path / "strict"))["edges"]) == 2
    assert ("coerced", "nodes", "type", 2) in _losses(again)


def test_passages_that_edges_come_from_mention_their_nodes(tmp_path: Path) -> None:
    documents = [Document("d1", "Some log.", "Log"), Document("d2", "The heron was seen.")]
    edges = [Edge("osprey", "towed", "lena", None, None, "d1"), Edge("heron", "saw", "lena")]

    write_tables(tables_of(documents=documents, edges=edges), "gfm-rag", tmp_path / "a")
    write_tables(tables_of(documents=documents, edges=edges), "gfm-rag", tmp_path / "b", mentions="text")

    lines = (tmp_path / "a/processed/stage1/edges.csv").read_text().splitlines()[3:]
    assert [line.split(",")[:3] for line in lines] == [
        ["osprey", "is_mentioned_in", "d1"],
        ["lena", "is_mentioned_in", "d1"],
    ]
    lines = (tmp_path / "b/processed/stage1/edges.csv").read_text().splitlines()[3:]
    assert [line.split(",")[:3] for line in lines] == [["heron", "is_mentioned_in", "d2"]]
    assert (
        'd1,document,"{""title"":""Log"",""content"":""Some log.""}"'
        in (tmp_path / "a/processed/stage1/nodes.csv").read_text()
    )


def test_chunks_and_questions_without_a_graph(tmp_path: Path) -> None:
    tables = tables_of(
        "arag",
        "arag",
        chunks=[Chunk("0", " The Osprey."), Chunk("1", "")],
        questions=[
            Question("q", "Who?", "Lena", (), None, '{"source":"x","id":7}', ("source", "text")),
            Question("q", "And?", None),
            Question(None, "Where?", "", (), "dev"),
        ],
        qrels=[Qrel("q", "0", 2, "chunk"), Qrel("q", "1", 0, "chunk"), Qrel("w", "1", 1, "chunk")],
    )

    write_tables(tables, "gfm-rag", tmp_path)

    assert json.loads((tmp_path / "raw/documents.json").read_text()) == {"0": " The Osprey.", "1": ""}
    assert json.loads((tmp_path / "raw/test.json").read_text()) == [
        {
            "source": "x",
            "question": "Who?",
            "id": "q",
            "answer": "Lena",
            "answer_aliases": [],
            "supporting_documents": ["0"],
            "meta.id": 7,
        },
        {"id": "q#2", "question": "And?", "answer": "", "answer_aliases": [], "supporting_documents": ["0"]},
        {"id": "question-2", "question": "Where?", "answer": "", "answer_aliases": []},
    ]
    assert validate(tmp_path).counts["error"] == 0
    assert {(kind, table, column) for kind, table, column, _ in _losses(tables)} == {
        ("dropped", "qrels", None),
        ("coerced", "qrels", "grade"),
        ("coerced", "questions", "split"),
        ("renumbered", "questions", None),
        ("derived", "questions", "question_id"),
        ("derived", "questions", "answer"),
    }


def test_titles_as_keys(tmp_path: Path) -> None:
    documents = [Document("0", "Some log.", "Log"), Document("1", "More.", "Annex")]
    questions: dict[str, Any] = {"questions": [Question("q", "Who?", "Lena")], "qrels": [Qrel("q", "1")]}

    write_tables(tables_of("w", "hipporag", **questions, documents=documents), "gfm-rag", tmp_path / "a")
    write_tables(tables_of("w", "beir", documents=documents, **questions), "gfm-rag", tmp_path / "b")

    assert json.loads((tmp_path / "a/raw/documents.json").read_text()) == {"Log": "Some log.", "Annex": "More."}
    assert json.loads((tmp_path / "a/raw/test.json").read_text())[0]["supporting_documents"] == ["Annex"]
    assert list(json.loads((tmp_path / "b/raw/documents.json").read_text())) == ["0", "1"]
    twice = [*documents, Document("2", "Other.", "Log")]
    write_tables(tables_of("w", "hipporag", documents=twice), "gfm-rag", tmp_path / "c")
    assert list(json.loads((tmp_path / "c/raw/documents.json").read_text())) == ["0", "1", "2"]
    with pytest.raises(RagdataError, match="'2' has no title"):
        write_tables(
            tables_of("w", "beir", documents=[*documents, Document("2", "")]), "gfm-rag", tmp_path, key="title"
        )


def test_titles_of_several_documents_are_numbered(tmp_path: Path) -> None:
    titles = ["Log", "Log", "Log (2)", "Log", "Annex"]
    documents = [Document(f"d{number}", f"Text {number}.", title) for number, title in enumerate(titles)]
    tables = tables_of("w", "beir", documents=documents, questions=[Question("q", "Who?")], qrels=[Qrel("q", "d3")])

    write_tables(tables, "gfm-rag", tmp_path, key="title")

    assert list(json.loads((tmp_path / "raw/documents.json").read_text())) == [
        "Log",
        "Log (3)",
        "Log (2)",
        "Log (4)",
        "Annex",
    ]
    assert json.loads((tmp_path / "raw/test.json").read_text())[0]["supporting_documents"] == ["Log (4)"]
    (loss,) = [x for x in tables.losses if x.kind == "coerced"]
    assert (loss.table, loss.column, loss.count) == ("documents", "title", 2)
    again = map_back(read_tables(tmp_path).sources, read_renamed(tmp_path))
    assert [d.doc_id for d in again["documents"]()] == [d.doc_id for d in documents]


@pytest.mark.parametrize("table", ["chunks", "documents"])
@pytest.mark.parametrize("repeated", [(1, 0), (70, 2), (150, 149), (64, 63), (63, 64)])
def test_of_passages_with_one_id_the_first_is_written(repeated: tuple[int, int], table: str, tmp_path: Path) -> None:
    later, other = repeated
    ids = [f"c{number}" for number in range(200)]
    ids[later] = ids[other]
    ids[7] = "nan"  # which pandas takes for a missing name
    titles = ["Title of a" if place < 100 else None for place in range(200)]
    documents = [
        Document(*row) for row in zip(ids, map(str, range(200)), titles if table == "documents" else ids, strict=True)
    ]
    given: dict[str, tuple[Any, list[Any]]] = {
        "documents": (Document, documents),
        "edges": (Edge, [Edge("osprey", "towed", "c5"), Edge("lena", "towed", "osprey")]),
    }
    if table == "chunks":
        chunks = [Chunk(name, str(place), "a" if place < 100 else "b") for place, name in enumerate(ids)]
        own = [Document("a", "A.", "Title of a"), Document("b", "B.")]
        given |= {"chunks": (Chunk, chunks), "documents": (Document, own)}
    sources = {name: _in_blocks(*some) for name, some in given.items()}

    tables = CanonicalTables("notes", "datamind", sources, Losses())
    write_tables(tables, "gfm-rag", tmp_path, mentions="text")

    firsts: dict[str, tuple[str, str | None]] = {}
    for name, text, title in zip(ids, map(str, range(200)), titles, strict=True):
        firsts.setdefault({"nan": "n:nan", "c5": "c5 (document)"}.get(name, name), (text, title))
    texts = [[name, text] for name, (text, _) in firsts.items()]
    assert json.loads((tmp_path / "raw/documents.json").read_text(), object_pairs_hook=_pairs) == texts
    with (tmp_path / "processed/stage1/nodes.csv").open(newline="") as file:
        nodes = [
            (row["name"], json.loads(row["attributes"])) for row in csv.DictReader(file) if row["type"] == "document"
        ]
    assert nodes == [
        (name, {"title": title, "content": text} if title else {"content": text})
        for name, (text, title) in firsts.items()
    ]
    assert ("dropped", table, None, 1) in _losses(tables)


def _pairs(members: list[tuple[str, Any]]) -> list[list[Any]]:
    return [list(member) for member in members]


def _in_blocks(row: Any, given: list[Any]) -> ColumnSource:
    """A source of rows that come in blocks of 64."""
    return ColumnSource(row, lambda: (list(zip(*given[n : n + 64], strict=True)) for n in range(0, len(given), 64)))


def test_a_document_does_not_swallow_a_node_that_is_called_like_it(tmp_path: Path) -> None:
    """Ids of passages are numbers, and so are some entities."""
    tables = tables_of(
        "w",
        "arag",
        chunks=[Chunk("538", "Lena was born in 538."), Chunk("539", "The Osprey."), Chunk("540", "A heron.")],
        nodes=[Node("Lena"), Node("538"), Node("538 (document)")],
        edges=[
            Edge("heron", "saw", "Lena"),
            Edge("Lena", "born in", "538"),
            Edge("Lena", "saw", "539"),
            Edge("heron", "is_mentioned_in", "540"),
        ],
        questions=[Question("q", "When was Lena born?", "538")],
        qrels=[Qrel("q", "538", 1, "chunk"), Qrel("q", "538", 1, "node")],
        start_nodes=[StartNode("q", "Lena")],
    )

    write_tables(tables, "gfm-rag", tmp_path)

    found = rows(read_tables(tmp_path))
    assert [(n.name, n.type) for n in found["nodes"]] == [
        ("Lena", "entity"),
        ("538", "entity"),
        ("538 (document)", "entity"),
        ("538 (document) (document)", "document"),
        ("539 (document)", "document"),
        ("540", "document"),
        ("heron", "entity"),
        ("539", "entity"),
    ]
    assert [e[:3] for e in found["edges"]] == [tuple(e[:3]) for e in tables.peek("edges")]
    (question,) = json.loads((tmp_path / "processed/stage1/test.json").read_text())
    assert question["supporting_documents"] == ["538 (document) (document)"]
    assert question["target_nodes"] == {"entity": ["538"]}
    assert validate(tmp_path).counts["error"] == 0
    assert ("renumbered", "passages", None, 2) in _losses(tables)
    assert not [x for x in tables.losses if "one document" in x.reason]
    again = map_back(read_tables(tmp_path).sources, read_renamed(tmp_path))
    assert [d.doc_id for d in again["documents"]()] == ["538", "539", "540"]
    assert {"538", "Lena"} <= {n.name for n in again["nodes"]()}


def test_a_node_of_gfm_rag_is_the_document_of_its_name(tmp_path: Path) -> None:
    nodes = [Node("log", "entity", '{"year":1901,"content":"old"}'), Node("lena", "entity")]
    documents = [Document("log", 'Kept by "Lena".', "log"), Document("annex", "Another.")]
    tables = tables_of("w", "gfm-rag", documents=documents, nodes=nodes, edges=[Edge("lena", "kept", "log")])

    write_tables(tables, "gfm-rag", tmp_path)

    assert list(rows(read_tables(tmp_path))["nodes"]) == [
        Node("lena", "entity"),
        Node("log", "document", '{"year":1901,"content":"Kept by \\"Lena\\"."}'),
        Node("annex", "document", '{"content":"Another."}'),
    ]


@pytest.mark.parametrize(
    ("text", "judged", "missing"),
    [
        ("Whom did the osprey tow?", "lena", ""),
        ("Whom did she tow?", "lena", "no start node"),
        ("Whom did the osprey tow?", "nobody", "no target node"),
        ("Whom did she tow?", "nobody", "no start node and no target node"),
    ],
)
def test_questions_without_a_start_or_a_target_say_which(text: str, judged: str, missing: str, tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d", "Some log.")],
        edges=[Edge("osprey", "towed", "lena", None, None, "d")],
        questions=[Question("q", text)],
        qrels=[Qrel("q", judged, 1, "node")],
    )

    write_tables(tables, "gfm-rag", tmp_path)

    losses = [x.reason for x in tables.losses if x.table == "questions" and x.column is None]
    assert losses == ([f"it is in raw/ only: the graph has {missing} for it"] if missing else [])


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="needs documents or a graph"):
        write_tables(tables_of(questions=[Question("q", "Who?")]), "gfm-rag", tmp_path)


# public data


@needs("gfm-rag-sample")
def test_the_fork_with_two_commas(tmp_path: Path) -> None:
    source = UPSTREAM_DATA / "gfm-rag-sample/fork-v1-double-comma/hotpotqa_test"

    tables = read_tables(source, delimiter=",,")
    write_tables(tables, "gfm-rag", tmp_path)

    names = {node.name for node in rows(read_tables(tmp_path))["nodes"]}
    answer_key = json.loads((source / "processed/stage2/ent2id.json").read_text())
    assert names == set(answer_key)
    assert tables.counts["edges"] >= 1826
    assert validate(tmp_path, profile="reasoner").counts["error"] == 0


@needs("kg-triples-small")
def test_public_triples_with_their_questions(tmp_path: Path) -> None:
    graph = knowledge_graph("umls")
    stage1 = graph_of(graph.train)
    stage1.questions = {"test.json": held_out_questions(graph.test[:50], "t")}
    tables = read_tables(stage1.write(tmp_path / "a"))

    write_tables(tables, "gfm-rag", tmp_path / "b")

    assert rows(read_tables(tmp_path / "b")) == rows(tables)
    assert not tables.losses.any_lost
    assert validate(tmp_path / "b", profile=("reasoner", "gfm-rag")).counts["error"] == 0


@pytest.mark.parametrize("name", ["nodes-not-object", "nodes-not-object-2"])
def test_nodes_that_are_no_object_are_reported(name: str) -> None:
    tables = read_tables(Path(__file__).parents[1] / "fixtures/gfm-rag/broken" / name / "data")

    list(tables.peek("start_nodes"))
    list(tables.peek("qrels"))

    assert "it is not an object of types and names" in {loss.reason for loss in tables.losses}


@given(text=st.text("aB9 é漢ж-_ก", max_size=14))
def test_words_of_mixed_scripts_are_none_of_ascii(text: str) -> None:
    runs = re.findall(r"[^\W_ก漢]+", text.lower())
    assert _words(text.lower()) == [run if run.isascii() else "" for run in runs if re.search("[a-z0-9]", run)]
