"""The part of a graph that a page takes along: whole where it is small, bounded and fair where it is large."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ragdatakit.api.report import open_database
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.neighbourhoods import _EACH, _HUBS, read_neighbourhoods
from ragdatakit.schemas.canonical import Document, Edge, Node, Qrel, StartNode
from ragdatakit.schemas.neighbourhoods import Neighbourhoods
from tests.command_line import FIXTURES, run
from tests.conversion_tools import tables_of

LARGE = 12_000


def read(edges: Sequence[Edge], **tables: Sequence[object]) -> Neighbourhoods | None:
    with DatasetDatabase(
        tables_of(edges=list(edges), **{name: list(rows) for name, rows in tables.items()})
    ) as database:
        return read_neighbourhoods(database)


def spelled(graph: Neighbourhoods) -> list[tuple[str, str, str]]:
    return [(graph.names[s], graph.relations[r], graph.names[t]) for s, r, t in graph.edges]


def test_a_small_graph_is_taken_whole() -> None:
    edges = [Edge("a", "knows", "b"), Edge("b", "knows", "b"), Edge("a", "knows", "b"), Edge("c", "likes", "a")]

    graph = read(
        edges,
        nodes=[Node("a", "person"), Node("lone", "person"), Node("b")],
        start_nodes=[StartNode("q", "a")],
        qrels=[Qrel("q", "a", 1, "node"), Qrel("q", "b", 1, "node"), Qrel("q", "c", 1, "document")],
    )

    assert graph is not None
    assert graph.whole
    assert spelled(graph) == [(e.source, e.relation, e.target) for e in edges]
    assert dict(zip(graph.names, graph.degrees, strict=True)) == {"a": 3, "b": 4, "c": 1, "lone": 0}
    assert dict(zip(graph.names, graph.types, strict=True)) == {"a": "person", "b": None, "c": None, "lone": "person"}
    assert dict(zip(graph.names, graph.marks, strict=True)) == {
        "a": "start, target",
        "b": "target",
        "c": "",
        "lone": "",
    }


def test_of_a_large_graph_what_matters_is_taken() -> None:
    edges = [Edge(f"n{n}", "next", f"n{n + 1}") for n in range(LARGE)]
    edges += [Edge("hub", "has", f"n{n}") for n in range(3000)]
    degrees = Counter(name for e in edges for name in (e.source, e.target))

    graph = read(edges, start_nodes=[StartNode("q", f"n{LARGE - 7}")], nodes=[Node("lone")])

    assert graph is not None
    assert (graph.all_nodes, graph.all_edges) == (LARGE + 3, LARGE + 3000)
    assert len(graph.edges) <= 5000
    assert not graph.whole
    assert dict(zip(graph.names, graph.degrees, strict=True)) == {name: degrees[name] for name in graph.names}
    assert set(spelled(graph)) <= {(e.source, e.relation, e.target) for e in edges}
    assert len(set(spelled(graph))) == len(graph.edges)
    around = {edge for edge in spelled(graph) if f"n{LARGE - 7}" in (edge[0], edge[2])}
    assert around == {(f"n{LARGE - 8}", "next", f"n{LARGE - 7}"), (f"n{LARGE - 7}", "next", f"n{LARGE - 6}")}
    assert sum("hub" in (s, t) for s, _, t in spelled(graph)) >= 24
    assert graph.marks[graph.names.index(f"n{LARGE - 7}")] == "start"
    assert graph == read(edges, start_nodes=[StartNode("q", f"n{LARGE - 7}")], nodes=[Node("lone")])


def test_edges_that_several_hubs_share_are_in_the_order_of_the_rows() -> None:
    chosen = random.Random(7)
    edges = [Edge(f"n{chosen.randrange(400)}", f"r{n}", f"n{chosen.randrange(400)}") for n in range(LARGE)]
    degrees = Counter(name for e in edges for name in (e.source, e.target))
    turns: dict[int, tuple[int, int]] = {}
    for seed, hub in enumerate(sorted(degrees, key=lambda name: (-degrees[name], name))[:_HUBS]):
        of_hub = [row for row, e in enumerate(edges) if hub in (e.source, e.target)]
        for turn, row in enumerate(of_hub[:_EACH]):
            known = turns.get(row, (turn, seed))
            turns[row] = (min(turn, known[0]), min(seed, known[1]))

    graph = read(edges)

    assert graph is not None
    expected = [edges[row].relation for row in sorted(turns, key=lambda row: (*turns[row], row))]
    assert [relation for _, relation, _ in spelled(graph)][: len(expected)] == expected[: len(graph.edges)]


def test_without_edges_there_is_nothing_to_walk_in() -> None:
    assert read([]) is None
    with DatasetDatabase(tables_of(documents=[Document("1", "text")])) as database:
        assert read_neighbourhoods(database) is None


def test_a_page_of_a_dataset_with_a_graph_has_it(tmp_path: Path) -> None:
    source = FIXTURES / "gfm-rag" / "valid" / "stage1"
    done = run("report", source, "--output-file", tmp_path / "page.html")

    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    with open_database(source) as database:
        graph = read_neighbourhoods(database)
    assert done.code == 0
    assert graph is not None
    assert f"All {len(graph.names)} nodes and {len(graph.edges)} edges are on this page." in page
    assert 'id="d1-walk-data"' in page
    assert "/tmp/" not in page.replace(str(source), "")


def test_a_node_is_shown_with_its_neighbours_whatever_its_case(tmp_path: Path) -> None:
    folder = FIXTURES / "lightrag" / "valid" / "ingested"

    text = run("report", folder, "--node", "joss alder").out
    document = run("report", folder, "--node", "Joss Alder", "--json").json["datasets"][0]["around"]
    markdown = run("report", folder, "--node", "Joss Alder", "--output-format", "markdown").out
    run("report", folder, "--node", "Joss Alder", "--output-file", tmp_path / "page.html")

    assert "Neighbourhood of Joss Alder" in text
    assert "Kettle Reef" in text[text.index("Neighbourhood of") :]
    assert (document["name"], document["degree"]) == ("Joss Alder", len(document["neighbours"]))
    assert set(document["neighbours"][0]) == {"name", "relation", "forward", "type"}
    assert "Neighbourhood of `Joss Alder`" in markdown
    page = (tmp_path / "page.html").read_text()
    data = json.loads(page[page.index('id="d1-walk-data">') + len('id="d1-walk-data">') :].partition("</script>")[0])
    assert data["names"][data["first"]] == "Joss Alder"
    assert data["texts"]


def test_a_node_that_is_not_there_is_refused_with_some_that_are_like_it() -> None:
    outcome = run("report", FIXTURES / "lightrag" / "valid" / "ingested", "--node", "alde")

    assert outcome.code == 2
    assert outcome.err == "ragdata: no node is called 'alde'; there is Joss Alder\n"


def test_of_a_large_graph_a_node_that_was_asked_for_comes_along() -> None:
    edges = [Edge(f"n{n}", "next", f"n{n + 1}") for n in range(LARGE)]

    with DatasetDatabase(tables_of(edges=edges)) as database:
        graph = read_neighbourhoods(database, "n7777")

    assert graph is not None
    assert graph.first == "n7777"
    assert {("n7776", "next", "n7777"), ("n7777", "next", "n7778")} <= set(spelled(graph))
