"""Documents of GFM-RAG that are called by ids: the title in a node's attributes is the document's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit.files.containers import json_text
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, Question
from tests.command_line import run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables

TITLES = {"k7": "Dock", "k8": "Ferry", "k9": "Dock"}


def built(folder: Path) -> Path:
    """Two of the documents have the same title, so that all are known by their ids."""
    tables = tables_of(
        format_name="hipporag",
        documents=[Document(key, f"The {title.lower()} number {key}.", title) for key, title in TITLES.items()],
        nodes=[Node("barge", "entity"), Node("k7", "entity")],
        edges=[Edge("barge", "near", "k7"), Edge("barge", "is_mentioned_in", "k8")],
        questions=[Question("q1", "Which dock?", "k7")],
        qrels=[Qrel("q1", "k9", 1)],
    )
    write_tables(tables, "gfm-rag", folder)
    return folder


def test_titles_are_those_of_the_nodes(tmp_path: Path) -> None:
    documents = json.loads((built(tmp_path / "a") / "raw/documents.json").read_bytes())
    assert list(documents) == ["k7 (document)", "k8", "k9"]
    found = read_tables(tmp_path / "a", "gfm-rag").peek("documents")
    assert [(d.doc_id, d.title) for d in found] == [("k7 (document)", "Dock"), ("k8", "Ferry"), ("k9", "Dock")]


def test_the_same_format_again_is_the_same(tmp_path: Path) -> None:
    source = read_tables(built(tmp_path / "a"), "gfm-rag")
    out = write_tables(source, "gfm-rag", tmp_path / "b")
    assert not [loss for loss in source.losses if loss.kind in ("lost", "dropped", "coerced")]
    assert rows(read_tables(tmp_path / "b", "gfm-rag")) == rows(read_tables(tmp_path / "a", "gfm-rag"))
    for name in out.files:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


@pytest.mark.parametrize("value", ["12", "", "  ", None, ["Dock"]], ids=repr)
def test_what_is_no_title_is_passed_over(tmp_path: Path, value: object) -> None:
    attributes = json_text.dumps({"title": value, "content": "The dock."})
    nodes = [Node("d1", "document", attributes), Node("barge", "entity"), Node("tug", "entity")]
    edges = [Edge("barge", "near", "tug"), Edge("barge", "is_mentioned_in", "d1")]
    tables = tables_of(format_name="gfm-rag", documents=[Document("d1", "The dock.", "d1")], nodes=nodes, edges=edges)
    write_tables(tables, "gfm-rag", tmp_path / "a")
    [document] = read_tables(tmp_path / "a", "gfm-rag").peek("documents")
    assert document.title == ("12" if value == "12" else "d1")


def test_titles_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    folder = built(tmp_path / "a")
    (folder / "ragdata.ids.ndjson").unlink()
    done = run("retrieve", folder, "ferry", "-k", "1")
    assert "k8  Ferry" in done.out
