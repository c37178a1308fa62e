"""LightRAG's files there and back, from other formats and into them; what we write is loaded by LightRAG itself."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.containers import long_json
from ragdatakit.files.containers.json_text import loads
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.upstream_data import published

VALID = FIXTURES / "lightrag" / "valid"
INGESTED = VALID / "ingested"


def _valid(folder: Path) -> bool:
    return not [f for f in ragdatakit.validate(folder).findings if f.severity == "error"]


def test_a_directory_comes_back_as_it_was(tmp_path: Path) -> None:
    before = rows(read_tables(INGESTED))

    write_tables(read_tables(INGESTED), "lightrag", tmp_path / "there", form="directory")
    after = rows(read_tables(tmp_path / "there"))

    assert _valid(tmp_path / "there")
    assert [c._replace(metadata=None) for c in before["chunks"]] == [c._replace(metadata=None) for c in after["chunks"]]
    assert [(d.doc_id, d.text, d.title) for d in before["documents"]] == [
        (d.doc_id, d.text, d.title) for d in after["documents"]
    ]
    assert [(n.name, n.type, _known(n)) for n in before["nodes"]] == [
        (n.name, n.type, _known(n)) for n in after["nodes"]
    ]
    assert {_pair(e): (e.relation, e.provenance, _known(e)) for e in before["edges"]} == {
        _pair(e): (e.relation, e.provenance, _known(e)) for e in after["edges"]
    }


def test_chunks_keep_their_places_and_what_else_is_in_their_records(tmp_path: Path) -> None:
    shutil.copytree(INGESTED, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "kv_store_text_chunks.json"
    first, second = stored = json.loads(path.read_text())
    stored[first] |= {"chunk_order_index": 4, "reviewed": True}
    stored[second] |= {"chunk_order_index": "4"}
    path.write_text(json.dumps(stored))

    one, other = rows(read_tables(tmp_path))["chunks"]

    assert (one.ordinal, other.ordinal) == (4, None)
    assert (loads(one.metadata)["reviewed"], "content" in loads(one.metadata)) == (True, False)


def _known(row: Any) -> dict[str, Any]:
    found = loads(row.attributes)
    return {name: found.get(name) for name in ("description", "passages", "weight")}


def _pair(edge: Edge) -> frozenset[str]:
    return frozenset((edge.source, edge.target))


def test_a_payload_comes_back_as_it_was(tmp_path: Path) -> None:
    write_tables(read_tables(VALID / "payload"), "lightrag", tmp_path / "there")

    given, written = (json.loads((p / "custom_kg.json").read_text()) for p in (VALID / "payload", tmp_path / "there"))
    assert [c["content"] for c in written["chunks"]] == [c["content"] for c in given["chunks"]]
    for part in ("entities", "relationships"):
        assert written[part] == given[part]


def test_a_long_payload_is_read_as_a_short_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    payload = json.loads((VALID / "payload" / "custom_kg.json").read_text())
    payload["entities"] += [{**payload["entities"][0], "description": f"said last, {n}"} for n in range(40)]
    payload["entities"] += ["?", {"entity_name": 7}]
    (tmp_path / "custom_kg.json").write_text(json.dumps(payload))
    short = rows(read_tables(tmp_path))
    monkeypatch.setattr(long_json, "LONG", 64)
    monkeypatch.setattr(long_json, "_LONG_PART", 64)
    monkeypatch.setattr(long_json, "ARRAY_PART_BYTES", 256)

    assert rows(read_tables(tmp_path)) == short
    names = [item["entity_name"] for item in payload["entities"][:-42]]
    assert [node.name for node in short["nodes"]] == [*names[1:], names[0]]
    assert "said last, 39" in (short["nodes"][-1].attributes or "")


def test_long_texts_are_cut_as_lightrag_cuts_them(tmp_path: Path) -> None:
    texts = tmp_path / "notes.csv"
    texts.write_text("id,text\nshort,One reef.\nlong," + "Mara built the lighthouse. " * 400 + "\n", encoding="utf-8")

    done = run("convert", "--to", "lightrag", texts, tmp_path / "cut")
    whole = run("convert", "--to", "lightrag", "--chunk-size", "0", texts, tmp_path / "whole")

    assert (done.code, whole.code) == (0, 0), done.err + whole.err
    numbers = [len(json.loads((tmp_path / n / "custom_kg.json").read_text())["chunks"]) for n in ("cut", "whole")]
    assert numbers == [3, 2]


def test_texts_without_a_graph_get_one_of_their_names(tmp_path: Path) -> None:
    texts = tmp_path / "docs"
    texts.mkdir()
    for name in ("first", "second"):
        (texts / f"{name}.txt").write_text(f"Mara Quill met Zoe Lark at the {name} harbour.", encoding="utf-8")

    done = run("convert", "--to", "lightrag", texts, tmp_path / "out")
    same = run("convert", "--to", "lightrag", "--extractor", "names", texts, tmp_path / "same")

    assert (done.code, same.code) == (0, 0), done.err + same.err
    made = json.loads((tmp_path / "out" / "custom_kg.json").read_text())
    assert made == json.loads((tmp_path / "same" / "custom_kg.json").read_text())
    assert {each["entity_name"] for each in made["entities"]} >= {"mara quill", "zoe lark"}
    assert made["relationships"]


def test_texts_that_name_nothing_have_no_graph(tmp_path: Path) -> None:
    (tmp_path / "notes.csv").write_text("id,text\n1,nothing here\n2,nor there\n", encoding="utf-8")

    done = run("convert", "--to", "lightrag", tmp_path / "notes.csv", tmp_path / "out")
    asked = run("convert", "--to", "lightrag", "--extractor", "names", tmp_path / "notes.csv", tmp_path / "no")

    assert done.code == 0, done.err
    assert json.loads((tmp_path / "out" / "custom_kg.json").read_text())["entities"] == []
    assert asked.code == 2
    assert "--extract least=1 takes names that only one passage has" in asked.err


def test_a_graph_that_is_there_is_kept(tmp_path: Path) -> None:
    done = run("convert", "--to", "lightrag", VALID / "nano-graphrag", tmp_path / "out")
    asked = run("convert", "--to", "lightrag", "--extractor", "names", VALID / "nano-graphrag", tmp_path / "no")

    assert done.code == 0, done.err
    assert "found in the texts" not in done.out
    assert (asked.code, "has a graph already" in asked.err) == (2, True)


def test_reports_are_summaries(tmp_path: Path) -> None:
    (report,) = rows(read_tables(VALID / "nano-graphrag"))["summaries"]

    assert (report.summary_id, report.level, report.text.split("\n")[0]) == ("report-0", 1, "# Harbour")
    assert report.children == ("doc-821d40870c78899600d64971bc0497a4-chunk-000",)


def test_an_extraction_is_a_graph() -> None:
    found = rows(read_tables(VALID / "extraction"))

    assert [n.name for n in found["nodes"]] == ["Joss Alder", "Kettle Reef"]
    (edge,) = found["edges"]
    assert (edge.source, edge.relation, edge.target, edge.provenance) == (
        "Joss Alder",
        "survey",
        "Kettle Reef",
        "chunk-1",
    )


GIVEN = {
    "documents": [Document("d1", "Joss Alder mapped it. It lies north.", "harbour.txt")],
    "chunks": [Chunk("c1", "Joss Alder mapped it.", "d1", 0), Chunk("c2", "It lies north.", "d1", 1)],
    "nodes": [Node('"Joss Alder"', "person", '{"passages":["c1","c2"],"height":3}'), Node("42", None)],
    "edges": [
        Edge("Joss Alder", "mapped", "Kettle Reef", '{"weight":0.25}', None, "c1"),
        Edge("Kettle Reef", "mapped by", "Joss Alder", None, 0.5, "c2"),
        Edge("Kettle Reef", "is", "Kettle Reef"),
        Edge("Kettle Reef", "bears", "42"),
    ],
}


@pytest.mark.parametrize("form", ["payload", "directory"])
def test_what_lightrag_cannot_hold_is_accounted(form: str, tmp_path: Path) -> None:
    tables = tables_of(**GIVEN)

    write_tables(tables, "lightrag", tmp_path / "there", form=form)

    assert _valid(tmp_path / "there")
    found = Counter[tuple[str, str, str | None]]()
    for loss in tables.losses:
        found[loss.kind, loss.table, loss.column] += loss.count
    assert found["dropped", "nodes", None] == 1  # nothing is left of 42
    assert found["dropped", "edges", None] == 2  # a loop, and one to 42
    assert found["coerced", "edges", None] == 1  # two directions are one edge
    assert found["renumbered", "nodes", None] == 1
    back = read_tables(tmp_path / "there")
    (edge,) = rows(back)["edges"]
    assert (edge.relation, loads(edge.attributes)["weight"]) == ("mapped,mapped by", 2.0)


@pytest.mark.parametrize("target", ["gfm-rag", "datamind", "hipporag", "beir", "arag", "sage", "trec"])
def test_a_directory_is_converted_into_other_formats(target: str, tmp_path: Path) -> None:
    outcome = run("convert", "--to", target, INGESTED, tmp_path / "there")

    assert outcome.code == 0, outcome.err
    assert "valid" in outcome.out


@pytest.mark.parametrize("form", ["payload", "directory"])
@pytest.mark.parametrize(
    "source", ["gfm-rag/valid/both-loaders", "datamind/valid/repository", "hipporag/valid/musique"]
)
def test_other_formats_are_converted_into_it(source: str, form: str, tmp_path: Path) -> None:
    there = tmp_path / "there"

    outcome = run("convert", "--to", "lightrag", "--option", f"form={form}", FIXTURES / source, there)

    assert outcome.code == 0, outcome.err
    assert _valid(there)


MENTIONED: dict[str, Any] = {
    "documents": [Document("d1", "Joss mapped the reef."), Document("d2", "Joss left."), Document("d3", "A reef.")],
    "nodes": [Node("joss"), Node("reef"), Node("d1", "document"), Node("d2", "document", '{"cites":1}')],
    "edges": [
        Edge("joss", "mapped", "reef"),
        Edge("joss", "is_mentioned_in", "d1"),
        Edge("reef", "is_mentioned_in", "d1"),
        Edge("joss", "is_mentioned_in", "d2"),
        Edge("d2", "cites", "d1"),
    ],
}


def test_mentions_are_sources_and_passages_are_chunks(tmp_path: Path) -> None:
    tables = tables_of(**MENTIONED)
    write_tables(tables, "lightrag", tmp_path / "there", form="directory")
    found = rows(read_tables(tmp_path / "there"))
    chunks = {chunk.text: chunk.chunk_id for chunk in found["chunks"]}

    of = {node.name: loads(node.attributes or "{}").get("passages", []) for node in found["nodes"]}
    assert of["joss"] == [chunks["Joss mapped the reef."], chunks["Joss left."]]
    assert of["reef"] == [chunks["Joss mapped the reef."]]
    assert set(of) == {"joss", "reef", "d1", "d2"}  # the nodes of documents stay where an edge joins them
    (mapped,) = (edge for edge in found["edges"] if edge.relation == "mapped")
    assert mapped.provenance == chunks["Joss mapped the reef."]
    assert {edge.relation for edge in found["edges"]} == {"mapped", "cites"}

    without = {**MENTIONED, "edges": MENTIONED["edges"][:-1]}
    again = tables_of(**without)
    write_tables(again, "lightrag", tmp_path / "again", form="directory")
    assert [node.name for node in rows(read_tables(tmp_path / "again"))["nodes"]] == ["joss", "reef"]
    assert [loss.count for loss in again.losses if "stands for a passage" in loss.reason] == [2]


def test_relations_without_keywords_have_a_name(tmp_path: Path) -> None:
    """As those of nano-graphrag are."""
    for file in (VALID / "nano-graphrag").iterdir():
        text = file.read_text("utf-8")
        (tmp_path / file.name).write_text(text.replace('<data key="d7">survey</data>', ""), "utf-8")

    tables = read_tables(tmp_path)

    assert {edge.relation for edge in tables.peek("edges")} == {"related"}
    assert [loss.reason for loss in tables.losses if loss.kind == "derived"] == ["the relation has no keywords"]


def test_a_graph_without_texts_is_no_directory(tmp_path: Path) -> None:
    tables = tables_of(nodes=[Node("joss"), Node("reef")], edges=[Edge("joss", "mapped", "reef")])
    with pytest.raises(RagdataError, match="a working directory needs chunks"):
        write_tables(tables, "lightrag", tmp_path / "there", form="directory")
    write_tables(tables, "lightrag", tmp_path / "payload")
    assert _valid(tmp_path / "payload")


def test_texts_become_a_directory_with_a_graph_of_names(tmp_path: Path) -> None:
    there = tmp_path / "there"
    words = ("--extractor", "names", "--option", "form=directory")

    outcome = run("convert", "--to", "lightrag", *words, FIXTURES / "plain" / "texts", there)

    assert outcome.code == 0, outcome.err
    assert _valid(there)


def test_a_packed_directory_is_converted(tmp_path: Path) -> None:
    source = published("lightrag-workdir")

    outcome = run("convert", "--to", "lightrag", "--option", "form=directory", source, tmp_path / "there")

    assert outcome.code == 0, outcome.err
    tables = rows(read_tables(tmp_path / "there"))
    assert {name: len(found) for name, found in tables.items()} == {
        "documents": 3,
        "chunks": 6,
        "nodes": 100,
        "relations": 58,
        "edges": 82,
    }


@pytest.mark.parametrize("form", ["payload", "directory"])
def test_lightrag_itself_loads_what_is_written(form: str, tmp_path: Path) -> None:
    if importlib.util.find_spec("nano_vectordb") is None:
        pytest.skip("lightrag-hku is not installed")
    from tests.lightrag_oracle import outcome

    write_tables(read_tables(INGESTED), "lightrag", tmp_path / "there", form=form)
    payload = tmp_path / "there" / "custom_kg.json"
    given = json.loads(payload.read_text()) if form == "payload" else None
    place = tmp_path / "store" if given is not None else tmp_path / "there"

    found = asyncio.run(outcome(place, given, insert=given is not None))

    assert [name.split("|")[0] for name in found["local"][0]] == ["Joss Alder"]
    assert [name.split("|")[:2] for name in found["global"][1]] == [["Joss Alder", "Kettle Reef"]]
    assert len(found["naive"][2]) == 2


def test_two_hundred_chunks_are_named_in_the_graph_and_all_in_a_store(tmp_path: Path) -> None:
    ids = [f"c{n}" for n in range(205)]
    kept = json.dumps({"description": "d", "passages": ids})
    tables = tables_of(
        documents=[Document("d", "text")],
        chunks=[Chunk(chunk_id, f"text {chunk_id}", "d", n) for n, chunk_id in enumerate(ids)],
        nodes=[Node("Kettle Reef", "place", kept), Node("Mara Venn", "person", json.dumps({"passages": ids[:3]}))],
        edges=[Edge("Mara Venn", "maps", "Kettle Reef", kept, None, "c0")],
    )
    write_tables(tables, "lightrag", tmp_path, form="directory")
    graph = (tmp_path / "graph_chunk_entity_relation.graphml").read_text("utf-8")
    assert graph.count("-chunk-") == 200 + 3 + 200
    for kind, name in (("entity", "Kettle Reef"), ("relation", "Kettle Reef<SEP>Mara Venn")):
        stored = json.loads((tmp_path / f"kv_store_{kind}_chunks.json").read_bytes())
        assert list(stored) == [name]
        assert (stored[name]["count"], len(set(stored[name]["chunk_ids"]))) == (205, 205)
    assert ragdatakit.validate(tmp_path, severity="warning").findings == []
    again = {node.name: json.loads(node.attributes or "{}") for node in read_tables(tmp_path).peek("nodes")}
    assert [len(again[name]["passages"]) for name in ("Kettle Reef", "Mara Venn")] == [205, 3]


def test_names_that_become_one_go_back_to_the_first(tmp_path: Path) -> None:
    tables = tables_of(
        chunks=[Chunk("c", "text", None, 0)],
        nodes=[Node('"SCROOGE"', "person"), Node('" SCROOGE"', "person"), Node("MARLEY", "person")],
        edges=[Edge('"SCROOGE"', "knows", "MARLEY", None, None, "c"), Edge('" SCROOGE"', "owes", "MARLEY")],
    )
    write_tables(tables, "lightrag", tmp_path, form="directory")
    renamed = [json.loads(line) for line in (tmp_path / "ragdata.ids.ndjson").read_text("utf-8").splitlines()]
    assert [(each["id"], each["was"]) for each in renamed if each["kind"] == "node"] == [("SCROOGE", '"SCROOGE"')]


def test_what_is_not_read_is_why_nothing_is_written(tmp_path: Path) -> None:
    for store in (FIXTURES / "lightrag" / "valid" / "ingested").glob("vdb_*.json"):
        shutil.copy(store, tmp_path)

    done = run("convert", "--keep-going", "--to", "graphrag", tmp_path, tmp_path / "index")

    assert done.err.endswith("the source has none (vectors, which can be made again, are not read)\n"), done.err
