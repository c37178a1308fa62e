"""The graph of an index: which nodes and passages belong together, by what each format tells."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("scipy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")

import ragdatakit
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.graphs.passage_graph import Graph
from ragdatakit.retrieval.graphs.ranker import GraphPart
from ragdatakit.retrieval.passages import Passages, read_passages, write_passages
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Node, Relation
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import tables_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
DOCUMENTS = (Document("a", "The Osprey sailed to Skarn."), Document("b", "Nothing to see."), Document("c", "Osprey"))


def graph_of(folder: Path, tables: CanonicalTables, mode: str = "auto") -> tuple[Graph, dict[str, Any]]:
    write_passages(folder, read_passages(tables))
    passages = Passages(folder, "chunk" if tables.passages == "chunks" else "document")
    (folder / "graph").mkdir()
    facts = GraphPart(mode).build(folder / "graph", passages, lambda: tables, None)
    return Graph(folder / "graph", passages), dict(facts)


def edges_of(graph: Graph) -> dict[tuple[str, str], tuple[str, bool, float]]:
    """(node, neighbour) to (relation, whether it points away, weight), from every row."""
    found = {}
    for node in range(len(graph)):
        for place in range(int(graph.indptr[node]), int(graph.indptr[node + 1])):
            kind = int(graph.relations[place])
            shown = graph.relation_names[kind // 2], kind % 2 == 0, float(graph.weights[place])
            found[graph.name(node), graph.name(int(graph.indices[place]))] = shown
    return found


def undirected(edges: dict[tuple[str, str], tuple[str, bool, float]]) -> set[tuple[str, str, str]]:
    """(source, relation, target) of all edges."""
    return {(*pair[:1], each[0], *pair[1:]) for pair, each in edges.items() if each[1]}


def test_openie_triples_join_their_passage(tmp_path: Path) -> None:
    edges = [
        Edge("Osprey", "sailed to", "Skarn", provenance="a"),
        Edge("Osprey", "sailed to", "Skarn", provenance="c"),
        Edge("Skarn", "has", "Osprey", provenance="a"),
        Edge("Osprey", "is", "Osprey", provenance="c"),
    ]
    graph, facts = graph_of(tmp_path, tables_of(documents=DOCUMENTS, edges=edges))
    found = edges_of(graph)
    assert undirected(found) == {
        ("Osprey", "sailed to", "Skarn"),
        ("Skarn", "has", "Osprey"),
        ("Osprey", "is_mentioned_in", "a"),
        ("Osprey", "is_mentioned_in", "c"),
        ("Skarn", "is_mentioned_in", "a"),
        ("Skarn", "is_mentioned_in", "c"),
    }
    assert found["Osprey", "Skarn"] == ("sailed to", True, 3)  # three triples join the two
    assert found["Skarn", "Osprey"] == ("has", True, 3)
    assert found["a", "Osprey"] == ("is_mentioned_in", False, 1)
    assert facts["graph"] == "given"
    assert facts["links"] == "given"
    assert (facts["entities"], facts["passages_with_edges"]) == (2, 2)


def test_rows_are_symmetric(tmp_path: Path) -> None:
    graph, _ = graph_of(tmp_path, ragdatakit.read(FIXTURES / "gfm-rag" / "valid" / "minimal")._tables)
    found = edges_of(graph)
    assert found
    for (node, neighbour), (_, _, weight) in found.items():
        assert found[neighbour, node][2] == weight


def test_rows_are_the_same_in_blocks_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = ragdatakit.read(FIXTURES / "gfm-rag" / "valid" / "minimal")._tables
    found = []
    for size in (1, 5, 1 << 21):
        monkeypatch.setattr("ragdatakit.retrieval.graphs.passage_graph._AT_ONCE", size)
        (tmp_path / str(size)).mkdir()
        graph, facts = graph_of(tmp_path / str(size), tables)
        arrays = (graph.indptr, graph.indices, graph.weights, graph.relations)
        found.append((facts, [(a.dtype, a.tolist()) for a in arrays]))
    assert found[0] == found[1] == found[2]
    assert found[0][1][1][1]


def test_numbers_are_entities_where_passages_are_numbered(tmp_path: Path) -> None:
    documents = [Document("0", "first"), Document("1963", "second")]
    nodes = [Node("1963", None, '{"passages":["0"]}'), Node("0", None)]
    edges = [Edge("0", "is before", "1963", provenance="0")]
    graph, _ = graph_of(tmp_path, tables_of(documents=documents, nodes=nodes, edges=edges))
    assert len(graph) == 4
    assert not len(graph.indices[graph.indptr[1] : graph.indptr[2]])  # the passage "1963" is in no edge


def test_document_nodes_are_the_passages(tmp_path: Path) -> None:
    nodes = [Node("a", "document"), Node("osprey", "entity"), Node("not there", "document")]
    edges = [Edge("osprey", "is_mentioned_in", "a"), Edge("osprey", "is_mentioned_in", "c"), Edge("a", "cites", "b")]
    graph, facts = graph_of(tmp_path, tables_of(documents=DOCUMENTS, nodes=nodes, edges=edges))
    assert list(graph.names) == ["osprey", "not there"]
    assert undirected(edges_of(graph)) == {tuple(edge[:3]) for edge in edges}
    assert facts["passages_with_edges"] == 3


def test_an_entity_and_a_document_of_one_name_are_one_in_the_old_layout(tmp_path: Path) -> None:
    """Its documents have no rows of their own."""
    relations = [Relation("tows"), Relation("is_mentioned_in")]
    edges = [Edge("c", "tows", "osprey"), Edge("osprey", "is_mentioned_in", "a")]
    tables = tables_of(documents=DOCUMENTS, nodes=[Node("osprey", "entity")], relations=relations, edges=edges)
    graph, _ = graph_of(tmp_path, tables)
    assert list(graph.names) == ["osprey"]
    assert ("c", "osprey") in edges_of(graph)


def test_nodes_tell_their_passages(tmp_path: Path) -> None:
    nodes = [Node("Osprey", None, '{"x":1,"passages":["a","a","c","nowhere",3]}'), Node("x", None, '{"passages":"a"}')]
    graph, facts = graph_of(tmp_path, tables_of(documents=DOCUMENTS, nodes=nodes))
    assert undirected(edges_of(graph)) == {("Osprey", "is_mentioned_in", "a"), ("Osprey", "is_mentioned_in", "c")}
    assert facts["unknown_passages"] == 1
    assert edges_of(graph)["Osprey", "a"][2] == 1


def test_triples_without_passages_are_found_in_texts(tmp_path: Path) -> None:
    edges = [Edge("osprey", "tows", "Lena", provenance="log.md"), Edge("skarn", "has", "nothing", provenance="x")]
    graph, facts = graph_of(tmp_path, tables_of(documents=DOCUMENTS, edges=edges))
    assert undirected(edges_of(graph)) == {
        ("osprey", "tows", "Lena"),
        ("skarn", "has", "nothing"),
        ("osprey", "is_mentioned_in", "a"),
        ("osprey", "is_mentioned_in", "c"),
        ("skarn", "is_mentioned_in", "a"),
        ("nothing", "is_mentioned_in", "b"),
    }
    assert facts["links"] == "names in texts"
    assert facts["unknown_passages"] == 4


def test_a_document_that_was_cut_is_between_entity_and_chunks(tmp_path: Path) -> None:
    chunks = [Chunk(f"c{i}", f"text {i}", "a" if i < 2 else "b", i) for i in range(3)]
    edges = [Edge("Osprey", "tows", "Lena", provenance="a"), Edge("a", "is a", "letter", provenance="c2")]
    graph, _ = graph_of(tmp_path, tables_of(documents=DOCUMENTS, chunks=chunks, edges=edges))
    assert list(graph.names).count("a") == 2  # the document, and an entity of that name
    document = len(graph.passages) + list(graph.names).index("a")
    found = [graph.name(int(n)) for n in graph.indices[graph.indptr[document] : graph.indptr[document + 1]]]
    assert sorted(found) == ["Lena", "Osprey", "c0", "c1"]
    assert {("c0", "is_part_of", "a"), ("letter", "is_mentioned_in", "c2")} <= undirected(edges_of(graph))
    osprey = len(graph.passages) + list(graph.names).index("Osprey")
    assert graph.texts_of(osprey) == 1


def names_of(graph: Graph) -> dict[str, list[str]]:
    return {
        graph.name(node): [
            graph.passages.id(int(n)) for n in graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        ]
        for node in range(len(graph.passages), len(graph))
    }


def test_the_graph_of_names_keeps_titles_and_what_connects(tmp_path: Path) -> None:
    documents = [
        Document("1", "It was towed to Skarn by the Lena Marie.", "Osprey (boat)"),
        Document("2", "They met the Osprey off SKARN, and Old Tom.", "Log"),
        Document("3", "no names here"),
    ]
    graph, facts = graph_of(tmp_path, tables_of(documents=documents))
    assert names_of(graph) == {"Osprey (boat)": ["1"], "Osprey": ["1", "2"], "Skarn": ["1", "2"], "Log": ["2"]}
    assert facts == {
        "graph": "names",
        "links": "names in texts",
        "names_found": 6,
        "entities": 4,
        "edges": 6,
        "joined_pairs": 6,
        "passages_with_edges": 2,
    }
    assert not list((tmp_path / "graph").glob("mentioned*"))


def test_names_are_taken_where_they_are_asked_for(tmp_path: Path) -> None:
    tables = tables_of(documents=DOCUMENTS, edges=[Edge("x", "y", "z", provenance="a")])
    graph, facts = graph_of(tmp_path, tables, "names")
    assert facts["graph"] == "names"
    assert names_of(graph) == {"Osprey": ["a", "c"]}


def test_a_graph_that_is_asked_for_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="notes has no graph to search; --graph names"):
        graph_of(tmp_path, tables_of(documents=DOCUMENTS, nodes=[Node("Osprey", "boat", '{"a":1}')]), "given")


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"edges": [Edge("", "", "")]},
        {"edges": [Edge("\ud800", "\x00", "a\nb", provenance="\ud800")]},
        {"nodes": [Node("n", None, '{"passages":["a"]}')] * 3},
        {"edges": [Edge("x" * 100_000, "r", "y", provenance="a")] * 3},
    ],
    ids=["nothing", "empty names", "hostile names", "repeated nodes", "long names"],
)
def test_hostile_graphs(tmp_path: Path, given: dict[str, Iterable[Any]]) -> None:
    graph, _ = graph_of(tmp_path, tables_of(documents=DOCUMENTS, **given))
    assert all(each[2] > 0 for each in edges_of(graph).values())


def test_no_passages(tmp_path: Path) -> None:
    graph, facts = graph_of(tmp_path, tables_of(documents=()))
    assert len(graph) == 0
    assert facts["entities"] == 0


def test_a_graph_of_other_passages_is_refused(tmp_path: Path) -> None:
    graph_of(tmp_path, tables_of(documents=DOCUMENTS))
    (tmp_path / "other").mkdir()
    write_passages(tmp_path / "other", read_passages(tables_of(documents=DOCUMENTS[:2])))
    with pytest.raises(ValueError, match="does not belong"):
        Graph(tmp_path / "graph", Passages(tmp_path / "other", "document"))


def test_the_same_dataset_gives_the_same_files(tmp_path: Path) -> None:
    tables = ragdatakit.read(FIXTURES / "hipporag" / "valid" / "repository")._tables
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        graph_of(tmp_path / name, tables)
    files = sorted(p.name for p in (tmp_path / "one" / "graph").iterdir())
    assert files
    for name in files:
        assert (tmp_path / "one" / "graph" / name).read_bytes() == (tmp_path / "two" / "graph" / name).read_bytes()


def test_settings_tell_what_decides() -> None:
    assert GraphPart("names", 0.5).settings == GraphPart("names", 0.9).settings
    assert GraphPart("names").settings != GraphPart("given").settings
    with pytest.raises(RagdataError, match="expected one of auto, given, names"):
        GraphPart("none")
    with pytest.raises(RagdataError, match="damping"):
        GraphPart("names", 1.0)
