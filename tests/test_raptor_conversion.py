"""RAPTOR trees converted: both forms, there and back, trees made of texts, and what RAPTOR makes of the pickles."""

from __future__ import annotations

import json
import pickletools
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit import validate
from ragdatakit.converters.raptor.building import clusters, leaves_of, summary_layers
from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.files.texts import plain_tokens
from ragdatakit.retrieval.extraction.summaries import summary
from tests.command_line import FIXTURES, run
from tests.raptor_cases import deep
from tests.raptor_trees import pickled, sample_json, unpickled, write_json
from tests.upstream_data import UPSTREAM_DATA, needs

CINDERELLA = UPSTREAM_DATA / "raptor" / "cinderella"
SAMPLE_TEXT = UPSTREAM_DATA / "raptor" / "sample.txt"
needs_data = needs("raptor/cinderella")


def convert(source: Path, target: Path, *words: str, to: str = "raptor") -> Path:
    outcome = run("convert", "--to", to, *words, source, target)
    assert outcome.code == 0, outcome.out + outcome.err
    return target


def rows(path: Path, table: str, **options: Any) -> list[tuple[Any, ...]]:
    tables = ragdatakit.read(path, **options)
    return [tuple(row) for row in tables._tables.peek(table)]


def options(**given: str) -> list[str]:
    return [word for name, value in given.items() for word in ("--option", f"{name.replace('_', '-')}={value}")]


def test_leaves_are_chunks_and_the_others_summaries(tmp_path: Path) -> None:
    (tmp_path / "reefs").write_bytes(pickled(deep()))

    chunks, summaries = rows(tmp_path, "chunks"), rows(tmp_path, "summaries")

    assert [(c[0], c[2], c[3]) for c in chunks] == [(f"reefs:{n}", "reefs", n) for n in range(4)]
    assert [(s[0], s[1], s[3]) for s in summaries] == [
        ("reefs:4", 1, ("reefs:0", "reefs:1")),
        ("reefs:5", 1, ("reefs:2", "reefs:3")),
        ("reefs:6", 2, ("reefs:4", "reefs:5")),
    ]


def test_a_report_reads_a_tree_once_and_has_what_reading_by_tables_has(tmp_path: Path) -> None:
    tree = deep()
    tree.all_nodes[1].text = None
    (tmp_path / "reefs").write_bytes(pickled(tree))

    found = ragdatakit.report(tmp_path)[0]

    counted = {table.name: table.rows for table in found.tables}
    assert counted == {table: len(rows(tmp_path, table)) for table in ("chunks", "summaries")}
    assert found.losses[0].startswith("chunks: 1 record left out")


def test_nodes_that_are_not_a_list_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "tree.json").write_text(json.dumps({**sample_json(), "nodes": {"0": {}}}))

    found = ragdatakit.report(tmp_path)[0]

    assert [table.rows for table in found.tables] == [0, 0]
    assert found.losses == ["chunks: 1 record left out: nodes that are not a list"]


@pytest.mark.parametrize("lacking", ["index", "text"])
def test_a_node_that_lacks_one_thing_is_left_out(lacking: str, tmp_path: Path) -> None:
    tree = deep()
    setattr(tree.all_nodes[1], lacking, None)
    (tmp_path / "reefs").write_bytes(pickled(tree))

    with ragdatakit.read(tmp_path) as found:
        chunks = [chunk.chunk_id for chunk in found.rows("chunks")]

    assert chunks == ["reefs:0", "reefs:2", "reefs:3"]
    assert "a node without index, layer or text" in [loss.reason for loss in found.losses]


def test_a_pickle_without_vectors_is_refused(tmp_path: Path) -> None:
    source = FIXTURES / "contextual-retrieval" / "valid" / "cookbook"
    words = ("convert", "--to", "raptor", *options(form="pickle"), source, tmp_path / "made")

    refused = run(*words)

    assert refused.code == 2
    assert "--option vectors=hashing" in refused.err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("form", ["json", "pickle"])
def test_there_and_back_is_the_same_tree(form: str, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_json(source / "reefs.json", sample_json())

    kept = options(keep_vectors="true")
    there = convert(source, tmp_path / "there", *kept, *options(form=form))
    back = convert(there, tmp_path / "back", *kept)

    assert json.loads((back / "reefs.json").read_text()) == sample_json()
    assert validate(there).findings == []


def test_the_pickle_is_the_objects_of_raptor(tmp_path: Path) -> None:
    (tmp_path / "reefs").write_bytes(pickled(deep()))
    there = convert(tmp_path / "reefs", tmp_path / "there", *options(keep_vectors="true", form="pickle"))
    data = (there / "reefs.pkl").read_bytes()

    tree, expected = unpickled(data), deep()

    assert tree.num_layers == 2
    assert list(tree.root_nodes) == [6]
    assert tree.layer_to_nodes == {0: [tree.all_nodes[n] for n in range(4)], 1: [tree.all_nodes[4], tree.all_nodes[5]],
                                   2: [tree.all_nodes[6]]}  # fmt: skip
    assert {n: vars(node) for n, node in tree.all_nodes.items()} == {n: vars(e) for n, e in expected.all_nodes.items()}
    names = {arg for op, arg, _ in pickletools.genops(data) if op.name == "SHORT_BINUNICODE" and "." in str(arg)}
    assert names == {"raptor.tree_structures"}


@pytest.mark.parametrize(("leaves", "numbers"), [(2100, 2), (3, 2100)])
def test_many_nodes_and_long_vectors_are_pickled_in_batches(leaves: int, numbers: int, tmp_path: Path) -> None:
    tree = sample_json()
    tree["nodes"] = [
        {"index": n, "layer": 0, "text": f"leaf {n}", "children": [], "embeddings": {"EMB": [n / 3] * numbers}}
        for n in range(leaves)
    ]
    vectors = {"EMB": [0.5] * numbers}
    top = {"index": leaves, "layer": 1, "text": "top", "children": list(range(leaves)), "embeddings": vectors}
    tree["nodes"].append(top)
    tree["roots"] = [leaves]
    write_json(tmp_path / "many.json", tree)

    there = convert(tmp_path / "many.json", tmp_path / "there", *options(keep_vectors="true", form="pickle"))

    found = unpickled((there / "many.pkl").read_bytes())
    assert found.all_nodes[leaves].children == set(range(leaves))
    assert found.all_nodes[leaves - 1].embeddings == {"EMB": [(leaves - 1) / 3] * numbers}


def test_vectors_are_left_out_with_an_account(tmp_path: Path) -> None:
    write_json(tmp_path / "reefs.json", sample_json())

    outcome = run("convert", "--to", "beir", tmp_path / "reefs.json", tmp_path / "beir")

    assert "chunks.embeddings  2 values: vectors have no table" in outcome.out
    assert "summaries.embeddings  1 value: vectors have no table" in outcome.out
    assert "summaries  1 " in outcome.out


@pytest.mark.parametrize("form", ["json", "pickle"])
def test_vectors_that_an_option_keeps_are_no_warning(form: str) -> None:
    reported = run("report", FIXTURES / "raptor/valid" / form, "--output-format", "json").json["datasets"][0]
    asked = run("query", FIXTURES / "raptor/valid" / form, "select count(*) from chunks")

    notes = {n["name"]: (n["value"], n["level"]) for n in reported["notes"] if n["name"].endswith(".embeddings")}
    assert notes == {"reading.chunks.embeddings": (2, "info"), "reading.summaries.embeddings": (1, "info")}
    assert (reported["losses"], asked.err) == ([], "")


def test_several_trees_stay_several(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    write_json(source / "a.json", sample_json())
    (source / "b").write_bytes(pickled(deep()))

    there = convert(source, tmp_path / "there")

    assert sorted(p.name for p in there.glob("[ab].json")) == ["a.json", "b.json"]
    assert json.loads((there / "b.json").read_text())["num_layers"] == 2
    assert rows(there, "summaries") == rows(source, "summaries")


TEXT = " ".join(
    f"Sentence {n} tells of the {word} of the north coast." for n in range(60) for word in ("reef", "light")
)


def test_a_tree_is_made_of_texts(tmp_path: Path) -> None:
    (tmp_path / "coast.txt").write_text(TEXT)

    trees = [
        convert(tmp_path / "coast.txt", tmp_path / f"there{n}", "--from", "text", *options(vectors="hashing"))
        for n in range(2)
    ]

    made = json.loads((trees[0] / "coast.json").read_text())
    leaves = [node for node in made["nodes"] if node["layer"] == 0]
    assert " ".join(node["text"] for node in leaves) == TEXT
    assert max(plain_tokens.count(node["text"]) for node in made["nodes"]) <= 100
    assert made["num_layers"] >= 1
    assert sorted(c for node in made["nodes"] for c in node["children"]) == list(
        range(len(made["nodes"]) - len(made["roots"]))
    )
    assert {len(node["embeddings"]["EMB"]) for node in made["nodes"]} == {256}
    assert (trees[0] / "coast.json").read_bytes() == (trees[1] / "coast.json").read_bytes()
    assert validate(trees[0]).findings == []


def test_each_document_may_have_a_tree(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    for name in ("a", "b"):
        (tmp_path / "texts" / f"{name}.txt").write_text(f"Text {name}. {TEXT}")

    there = convert(tmp_path / "texts", tmp_path / "there", "--from", "text", *options(trees="document"))

    assert len([p for p in there.glob("*.json") if p.name != "ragdata.json"]) == 2
    assert validate(there).ok


@pytest.mark.parametrize(
    "text", ["", " \n ", "One.", "No end", "a" * 5000, "1.5 metres of 2.5.", "日本語の文。次の文。", "x\n\ny"]
)
def test_no_text_is_lost_in_leaves(text: str) -> None:
    found = list(leaves_of(text))

    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(leaf.strip() for leaf in found)


def test_clusters_hold_each_row_once() -> None:
    import numpy as np

    texts = [f"{word} {n}" for n in range(50) for word in ("reef", "light", "tide")]
    vectors = np.stack([hashed(text).astype(np.float32) for text in texts])

    found = clusters(vectors)

    assert sorted(row for cluster in found for row in cluster) == list(range(150))
    assert max(map(len, found)) <= 8
    same = np.ones((40, 4), np.float32)
    assert sum(map(len, clusters(same))) == 40


def test_summaries_are_sentences_of_the_texts() -> None:
    texts = ["The reef was mapped. A gull cried.", "The reef was mapped in summer. Tea was served."]

    assert summary(texts, 12)
    assert all(part in " ".join(texts) for part in summary(texts, 12).split(". "))
    assert summary(["word " * 500]).split() == ["word"] * 100
    assert summary_layers(["a text."] * 11) == []


@needs_data
def test_the_demo_tree_goes_there_and_back(tmp_path: Path) -> None:
    kept = options(keep_vectors="true")
    as_json = convert(CINDERELLA, tmp_path / "json", *kept)
    as_pickle = convert(CINDERELLA, tmp_path / "pickle", *kept, *options(form="pickle"))
    back = convert(as_pickle, tmp_path / "back", *kept)

    tree = unpickled((as_pickle / "cinderella.pkl").read_bytes())

    assert (back / "cinderella.json").read_bytes() == (as_json / "cinderella.json").read_bytes()
    assert (len(tree.all_nodes), len(tree.leaf_nodes), len(tree.root_nodes), tree.num_layers) == (40, 33, 7, 1)
    assert {len(node.embeddings["OpenAI"]) for node in tree.all_nodes.values()} == {1536}


@needs_data
def test_the_sample_text_becomes_a_tree_like_the_demo(tmp_path: Path) -> None:
    made = convert(SAMPLE_TEXT, tmp_path / "made", "--from", "text", *options(vectors="hashing", form="pickle"))

    tree = unpickled((made / "sample.pkl").read_bytes())

    assert tree.num_layers == 1
    assert 30 <= len(tree.leaf_nodes) <= 36
    assert 4 <= len(tree.root_nodes) <= 8


@pytest.mark.parametrize("target", ["beir", "arag", "datamind", "gfm-rag", "hipporag", "trec"])
def test_a_tree_is_taken_by_other_formats(target: str, tmp_path: Path) -> None:
    there = convert(FIXTURES / "raptor" / "valid" / "two-layers", tmp_path / "there", to=target)

    assert validate(there).ok


def test_metadata_that_is_lost_is_shown_as_text(tmp_path: Path) -> None:
    source = FIXTURES / "lightrag" / "valid" / "ingested"

    outcome = run("convert", "--to", "raptor", source, tmp_path / "tree")

    assert ': file_path "' in outcome.out
    assert "b'" not in outcome.out
