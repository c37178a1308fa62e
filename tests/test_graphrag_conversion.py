"""Tables of GraphRAG as they are written: what GraphRAG loads, what comes back, what becomes of other graphs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragdatakit
from ragdatakit.schemas.canonical import Chunk, Community, Document, Edge, Node, Summary
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.graphrag_cases import sample
from tests.graphrag_written_oracle import SOURCES, WRITTEN, loaded_by, rows_digest
from tests.upstream_data import UPSTREAM_DATA

pytestmark = pytest.mark.usefixtures("outputs_of_a_sound_machine")

RECORDED: dict[str, Any] = json.loads(WRITTEN.read_text(encoding="utf-8"))
GRAPHRAG = os.environ.get("RAGDATA_GRAPHRAG_PYTHON", "")
DATA = UPSTREAM_DATA / "graphrag"
EXACT = ("operation-dulce", "carol-v2.7.2", "carol-v3.1.2")


def losses(tables: Any, kind: str) -> list[str]:
    return [loss.reason for loss in tables.losses if loss.kind == kind]


def written(place: Path, **given: Any) -> tuple[dict[str, list[Any]], Any]:
    """The rows of some tables after they were written and read again; and the tables, whose losses are counted."""
    tables = tables_of(**{"documents": [], **given})
    write_tables(tables, "graphrag", place / "there")
    assert ragdatakit.validate(place / "there", format="graphrag").ok
    return rows(read_tables(place / "there")), tables


def test_a_chunk_whose_document_is_not_there_names_none(tmp_path: Path) -> None:
    found, tables = written(tmp_path, nodes=[Node("MARA", "person")], chunks=[Chunk("c1", "Mara built it.", "d1", 0)])

    assert found["chunks"][0].doc_id is None
    assert "there is no such document" in losses(tables, "lost")


@pytest.mark.broad
@pytest.mark.parametrize("name", RECORDED)
def test_written_tables_are_those_that_graphrag_loaded(name: str, tmp_path: Path) -> None:
    source, release = name.split()
    source_format, fixture = SOURCES[source]

    done = ragdatakit.convert(
        FIXTURES / fixture, tmp_path / "there", to="graphrag", source_format=source_format, options={"release": release}
    )

    assert done.written
    assert rows_digest(tmp_path / "there") == RECORDED[name]["rows"], "let GraphRAG load it: graphrag_written_oracle"
    tables = read_tables(tmp_path / "there", "graphrag")
    counts = [sum(1 for _ in tables.peek(t)) for t in ("nodes", "edges", "summaries", "chunks", "communities")]
    assert RECORDED[name]["counts"] == counts


@pytest.mark.skipif(not GRAPHRAG, reason="RAGDATA_GRAPHRAG_PYTHON is no interpreter with graphrag 3")
@pytest.mark.parametrize("source", SOURCES)
def test_graphrag_itself_loads_them(source: str, tmp_path: Path) -> None:
    source_format, fixture = SOURCES[source]
    ragdatakit.convert(FIXTURES / fixture, tmp_path / "there", to="graphrag", source_format=source_format)

    found = loaded_by(GRAPHRAG, tmp_path / "there", "3")

    assert found == {name: each for name, each in RECORDED[f"{source} 3"].items() if name != "rows"}


@pytest.mark.parametrize("name", EXACT)
def test_a_real_index_comes_back_as_it_was(name: str, tmp_path: Path) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not there")
    tables = read_tables(DATA / name)

    write_tables(tables, "graphrag", tmp_path / "there")

    assert rows(read_tables(tmp_path / "there")) == rows(read_tables(DATA / name))
    assert losses(tables, "lost") == losses(tables, "coerced") == []


@pytest.mark.parametrize("release", ["3", "2"])
def test_every_column_of_an_index_comes_back(release: str, tmp_path: Path) -> None:
    index = sample(release)
    index.tables["documents"][0]["human_readable_id"] = 7
    index.tables["text_units"][2]["human_readable_id"] = 9
    index.tables["covariates"][1]["subject_id"] = "THE COAST GUARD"
    index.tables["covariates"] += [
        {**index.tables["covariates"][0], "id": f"k{n + 1}", "human_readable_id": n} for n in (2, 3)
    ]
    index.tables["text_units"][0]["covariate_ids"] += ["k3", "k4"]
    if release == "2":
        index.schemas["entities"] |= {"x": pa.float64(), "y": pa.float64()}
        for number, row in enumerate(index.tables["entities"]):
            row |= {"x": number * 0.5, "y": -1.0 * number}
    index.write(tmp_path / "index")

    done = ragdatakit.convert(tmp_path / "index", tmp_path / "there", to="graphrag", options={"release": release})

    assert not done.conversions[0].losses.any_lost
    for name in index.tables:
        before, after = (pq.read_table(tmp_path / folder / f"{name}.parquet") for folder in ("index", "there"))
        assert after.to_pylist() == before.to_pylist(), name


@pytest.mark.parametrize(("release", "value"), [("3", 2.5), ("2", "left")])
def test_places_that_are_not_written_are_in_the_account(release: str, value: object, tmp_path: Path) -> None:
    index = sample("2")
    kind = pa.float64() if isinstance(value, float) else pa.string()
    index.schemas["entities"] |= {"x": kind, "y": pa.float64()}
    for row in index.tables["entities"]:
        row |= {"x": value, "y": 1.5}
    index.write(tmp_path / "index")

    done = ragdatakit.convert(
        tmp_path / "index", tmp_path / "there", to="graphrag", options={"release": release}, keep_going=True
    )

    assert "attributes that are not written: x, y" in json.dumps(done.as_dict())


@pytest.mark.parametrize("column", ["text_unit_id", "subject_id"])
def test_lists_in_the_columns_of_claims_stop_nothing(column: str, tmp_path: Path) -> None:
    index = sample()
    index.schemas["covariates"] |= {column: pa.list_(pa.string())}
    for row in index.tables["covariates"]:
        row[column] = [str(row[column])]
    index.write(tmp_path / "index")

    assert ragdatakit.convert(tmp_path / "index", tmp_path / "there", to="graphrag", keep_going=True).written


def test_claims_about_what_is_not_an_entity_are_kept_with_their_text_unit(tmp_path: Path) -> None:
    index = sample()
    first, second = index.tables["covariates"]
    first["subject_id"] = second["subject_id"] = "THE COAST GUARD"
    second["text_unit_id"] = "t9"
    index.write(tmp_path / "index")

    tables = read_tables(tmp_path / "index")
    chunks = rows(tables)["chunks"]

    document = [json.loads(chunk.metadata).get("claims") for chunk in chunks]
    assert [claim["subject_id"] for claim in document[0]] == ["THE COAST GUARD"]
    assert document[1] is document[2] is None
    assert losses(tables, "dropped") == ["a claim about what is not an entity, of no text unit"]


def test_columns_that_are_not_read_are_in_the_account(tmp_path: Path) -> None:
    index = sample()
    index.schemas["entities"] |= {"owner": pa.string(), "description_embedding": pa.list_(pa.float64())}
    index.tables["entities"][0] |= {"owner": "harbour office", "description_embedding": [0.6, 0.8]}
    index.write(tmp_path / "index")
    tables = read_tables(tmp_path / "index")

    for _ in range(2):
        rows(tables)

    found = {(loss.table, loss.column, loss.reason, loss.count) for loss in tables.losses if loss.kind == "lost"}
    assert found == {
        ("entities", "owner", "the column is not read", 1),
        ("entities", "description_embedding", "vectors, which can be made again, are not read", 1),
    }


def test_titles_are_upper_case_and_come_back(tmp_path: Path) -> None:
    chunks = [Chunk("c1", "Mara Venn built it, mara venn did.")]
    nodes = [Node("Mara Venn", "person", '{"passages":["c1"]}'), Node("mara venn"), Node("R&amp;D")]
    edges = [Edge("Mara Venn", "is", "mara venn", None, None, "c1")]

    found, _ = written(tmp_path, chunks=chunks, nodes=nodes, edges=edges)

    assert [node.name for node in found["nodes"]] == ["MARA VENN", "MARA VENN (2)", "R&D"]
    assert (found["edges"][0].source, found["edges"][0].target) == ("MARA VENN", "MARA VENN (2)")
    assert '"id":"MARA VENN (2)","was":"mara venn"' in (tmp_path / "there" / "ragdata.ids.ndjson").read_text()
    assert len(found["communities"]) == 2


def test_parallel_edges_are_one_relationship_of_a_direction(tmp_path: Path) -> None:
    edges = [
        Edge("A", "built", "B", '{"weight":2}', None, "c1"),
        Edge("A", "mapped", "B", '{"weight":3,"description":"in 1911"}', None, "c2"),
        Edge("B", "knows", "A"),
    ]

    found, tables = written(tmp_path, chunks=[Chunk("c1", "A B"), Chunk("c2", "B A")], edges=edges)

    first, second = (json.loads(edge.attributes) for edge in found["edges"])
    assert first["description"] == "built\nmapped: in 1911" and first["weight"] == 5.0
    assert first["passages"] == ["c1", "c2"] and second["description"] == "knows"
    assert json.loads(found["nodes"][0].attributes)["degree"] == 1
    assert "GraphRAG has one relationship of a direction: descriptions were joined, weights added" in losses(
        tables, "coerced"
    )


def test_passages_in_a_graph_say_where_entities_are(tmp_path: Path) -> None:
    documents = [Document("log", "The Osprey sailed.", "Log"), Document("chart", "Reefs.")]
    nodes = [Node("osprey", "entity"), Node("log", "document", '{"pages":3}'), Node("reef", "entity")]
    edges = [Edge("osprey", "is_mentioned_in", "log"), Edge("chart", "shows", "reef"), Edge("log", "cites", "chart")]

    found, tables = written(tmp_path, documents=documents, nodes=nodes, edges=edges)

    passages = {node.name: json.loads(node.attributes)["passages"] for node in found["nodes"]}
    assert passages == {"OSPREY": ["log"], "REEF": ["chart"]}
    assert "edges" not in found
    assert losses(tables, "dropped") == [
        "it stands for a passage, which is a text unit here",
        "it leads from one passage to another",
    ]
    assert [chunk.doc_id for chunk in found["chunks"]] == ["log", "chart"]


def test_entities_that_nothing_places_are_where_their_names_stand(tmp_path: Path) -> None:
    chunks = [Chunk("c1", "Mara Venn built the light."), Chunk("c2", "The light burned oil.")]

    found, tables = written(tmp_path, chunks=chunks, edges=[Edge("Mara Venn", "built", "the light")])

    passages = {node.name: json.loads(node.attributes)["passages"] for node in found["nodes"]}
    assert passages == {"MARA VENN": ["c1"], "THE LIGHT": ["c1", "c2"]}
    assert "text units of an entity: those in which its name stands" in losses(tables, "derived")


def test_communities_of_others_get_numbers_and_reports(tmp_path: Path) -> None:
    communities = [
        Community("coast", 0, "The coast", None, ("A", "B", "ghost")),
        Community("light", 1, None, "coast", ("A",)),
    ]
    edges = [Edge("A", "built", "B", None, None, "c1")]
    summaries = [Summary("s1", 1, "A summary of nothing that GraphRAG knows.", ("c1",))]

    found, tables = written(
        tmp_path, chunks=[Chunk("c1", "A built B.")], edges=edges, communities=communities, summaries=summaries
    )

    first, second = found["communities"]
    assert (first.community_id, first.members) == ("0", ("A", "B"))
    assert (second.community_id, second.parent, second.members) == ("1", "0", ("A",))
    assert len(found["summaries"]) == 2
    assert "they are no entities" in losses(tables, "lost")
    assert "it is no report on a community" in losses(tables, "dropped")


def test_what_names_no_passage_is_reported(tmp_path: Path) -> None:
    chunks = [Chunk("c1", "Mara Venn came."), Chunk("c1", "again")]
    edges = [Edge("Mara Venn", "built", "light", None, None, "c9")]

    _, tables = written(tmp_path, chunks=chunks, edges=edges)

    assert "it is no passage of the dataset" in losses(tables, "lost")
    assert losses(tables, "dropped") == ["another text has its id"]


def test_a_graph_of_other_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="no entity of the graph is in any of the texts"):
        written(tmp_path, chunks=[Chunk("c1", "Rain.")], edges=[Edge("Mara Venn", "built", "light")])


def test_halves_of_characters_are_question_marks(tmp_path: Path) -> None:
    found, tables = written(tmp_path, chunks=[Chunk("c1", "A \ud800 B")], edges=[Edge("A", "r", "B", None, None, "c1")])

    assert found["chunks"][0].text == "A ? B"
    assert "halves of characters cannot be written: they are question marks now" in losses(tables, "coerced")


def test_documents_become_an_index_that_can_be_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    there = tmp_path / "there"

    done = run("convert", "--from", "text", "--to", "graphrag", FIXTURES / "plain" / "texts", there)
    found = {
        mode: run("retrieve", "--json", "--mode", f"graphrag-{mode}", "-k", "2", there, "spring tides at the harbour")
        for mode in ("local", "global")
    }

    assert done.code == 0, done.err
    assert "cut out of documents by tokens, at most 1200, overlap 100" in done.out
    for outcome in found.values():
        assert outcome.code == 0, outcome.err
        assert outcome.json["queries"][0]["hits"]


def test_texts_without_a_graph_get_one_and_others_keep_theirs(tmp_path: Path) -> None:
    own = ragdatakit.convert(FIXTURES / "gfm-rag" / "valid" / "minimal", tmp_path / "own", to="graphrag")
    made = ragdatakit.convert(FIXTURES / "beir" / "valid" / "splits", tmp_path / "made", to="graphrag", dry_run=True)

    assert own.conversions[0].counts["nodes"] == 20
    assert made.conversions[0].counts["nodes"] > 0


def test_without_texts_there_is_nothing_to_write(tmp_path: Path) -> None:
    outcome = run("convert", "--to", "graphrag", FIXTURES / "lightrag" / "valid" / "extraction", tmp_path / "there")

    assert outcome.code == 2
    assert "an index of GraphRAG is made of texts, and the source has none" in outcome.err


def test_vectors_that_are_not_read_are_in_the_account(tmp_path: Path) -> None:
    index = sample()
    index.schemas["embeddings.text_unit_text"] = {"id": pa.string(), "embedding": pa.list_(pa.float64())}
    index.tables["embeddings.text_unit_text"] = [{"id": f"t{n}", "embedding": [0.6, 0.8]} for n in (1, 2, 3)]
    index.write(tmp_path / "index")

    done = run("convert", "--json", "--to", "hipporag", tmp_path / "index", tmp_path / "there")

    assert done.code == 0, done.err
    losses = done.json["conversions"][0]["losses"]
    assert [loss["examples"] for loss in losses if loss["table"] == "files"] == [["embeddings.text_unit_text.parquet"]]


def test_tables_are_compared_row_by_row(tmp_path: Path) -> None:
    before, after = sample(), sample()
    after.tables["entities"][2]["description"] = "Another one"
    del after.tables["covariates"][0]
    before.write(tmp_path / "before")
    after.write(tmp_path / "after")

    done = run("diff", "--json", tmp_path / "before", tmp_path / "after")

    found = done.json["kinds"]
    counts = {t["name"]: (t["added"], t["removed"], t["changed"]) for t in found}
    assert counts == {"entities": (0, 0, 1), "covariates": (0, 1, 0)}
