"""Personalised PageRank: hand-computed cases, and the probabilities of igraph on graphs of all shapes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.upstream_data import UPSTREAM_DATA, needs

np = pytest.importorskip("numpy", reason="needs ragdatakit[retrieval]")
sparse = pytest.importorskip("scipy.sparse", reason="needs ragdatakit[retrieval]")

from ragdatakit.retrieval.graphs.pagerank import Walk  # noqa: E402

MUSIQUE = UPSTREAM_DATA / "hipporag" / "musique-cc-by-4.0"


def walk_of(nodes: int, edges: list[tuple[int, int, float]]) -> Walk:
    """A walk along directed edges (from, to, weight); several edges between two nodes add up."""
    sources, targets, weights = ([e[i] for e in edges] for i in range(3))
    matrix = sparse.csr_array((np.array(weights, float), (targets, sources)), shape=(nodes, nodes))
    matrix.sum_duplicates()
    return Walk(matrix.indptr, matrix.indices, matrix.data)


def both_ways(edges: list[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    """The edges of an undirected graph: a loop counts twice, as its two ends are at the node."""
    return [*edges, *((target, source, weight) for source, target, weight in edges)]


def scores(walk: Walk, seeds: dict[int, float], damping: float = 0.5) -> list[float]:
    found = walk.scores(np.array(list(seeds)), np.array(list(seeds.values()), float), damping)
    return [float(score) for score in found]


def igraph_scores(
    nodes: int, edges: list[tuple[int, int, float]], seeds: dict[int, float], damping: float, directed: bool
) -> list[float]:
    igraph = pytest.importorskip("igraph", reason="needs the test dependency igraph")
    graph = igraph.Graph(nodes, [e[:2] for e in edges], directed=directed)
    reset = [seeds.get(node, 0.0) for node in range(nodes)]
    found: list[float] = graph.personalized_pagerank(
        damping=damping, reset=reset, weights=[e[2] for e in edges], implementation="prpack"
    )
    return found


def test_a_walk_to_and_fro() -> None:
    # x0 = 1/2 + x1/2, x1 = x0/2
    assert scores(walk_of(2, both_ways([(0, 1, 1)])), {0: 1}) == pytest.approx([2 / 3, 1 / 3], abs=1e-8)


def test_the_way_is_chosen_by_weight() -> None:
    # From 0 three times as often to 1 as to 2; both lead back. x0 = 1/2 + (x1 + x2)/2, x1 + x2 = x0/2.
    found = scores(walk_of(3, both_ways([(0, 1, 3), (0, 2, 1)])), {0: 1})
    assert found == pytest.approx([2 / 3, 1 / 4, 1 / 12], abs=1e-8)


def test_starts_share_by_weight_and_repeated_ones_add_up() -> None:
    walk = walk_of(4, both_ways([(0, 1, 1), (2, 3, 1)]))
    assert scores(walk, {0: 3, 2: 1}) == pytest.approx([1 / 2, 1 / 4, 1 / 6, 1 / 12], abs=1e-8)
    found = walk.scores(np.array([0, 2, 0]), np.array([1.0, 1.0, 2.0]))
    assert list(found) == scores(walk, {0: 3, 2: 1})


def test_a_node_without_a_way_out_leads_to_the_starts() -> None:
    # 0 -> 1, and 1 is a dead end: x1 = x0/2, and x0 is the rest.
    assert scores(walk_of(2, [(0, 1, 1)]), {0: 1}) == pytest.approx([2 / 3, 1 / 3], abs=1e-8)
    assert scores(walk_of(3, []), {1: 1}) == [0, 1, 0]


def test_without_damping_the_walk_stays_at_its_starts() -> None:
    assert scores(walk_of(2, both_ways([(0, 1, 1)])), {0: 1, 1: 3}, damping=0) == [0.25, 0.75]


def test_the_tolerance_holds_at_a_high_damping() -> None:
    edges = [(i, i + 1, 1.0) for i in range(30)]
    walk = walk_of(31, both_ways(edges))
    exact = walk.scores(np.array([0]), np.ones(1), 0.95, tolerance=1e-14)
    assert np.abs(walk.scores(np.array([0]), np.ones(1), 0.95, tolerance=1e-4) - exact).sum() < 1e-4


def test_a_second_walk_gives_the_same_bits() -> None:
    edges = both_ways([(i, (7 * i + 3) % 50, 1.0 + i % 3) for i in range(50)])
    assert scores(walk_of(50, edges), {4: 1, 9: 2}) == scores(walk_of(50, edges), {4: 1, 9: 2})


@pytest.mark.parametrize("damping", [-0.1, 1, 1.5, float("nan")])
def test_damping_is_a_probability_below_one(damping: float) -> None:
    with pytest.raises(RagdataError, match="damping"):
        scores(walk_of(2, both_ways([(0, 1, 1)])), {0: 1}, damping)


@pytest.mark.parametrize("weights", [[0.0], [-1.0], [float("nan")], [float("inf")]], ids=str)
def test_starts_need_a_weight(weights: list[float]) -> None:
    with pytest.raises(RagdataError, match="start nodes"):
        walk_of(2, both_ways([(0, 1, 1)])).scores(np.array([0]), np.array(weights))


def test_damaged_rows_are_refused() -> None:
    ones = np.ones(2)
    with pytest.raises(ValueError, match="rows of a matrix"):
        Walk(np.array([0, 1, 2]), np.array([1, 7]), ones)
    with pytest.raises(ValueError, match="rows of a matrix"):
        Walk(np.array([0, 3, 2]), np.array([1, 0]), ones)


nodes_and_edges = st.integers(1, 12).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes),
        st.lists(
            st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.sampled_from([0.25, 1.0, 2.0, 7.5])),
            max_size=25,
        ),
        st.dictionaries(st.integers(0, nodes - 1), st.sampled_from([0.1, 1.0, 3.0]), min_size=1),
    )
)


@pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])
@settings(max_examples=examples(60), deadline=None)
@given(graph=nodes_and_edges, damping=st.sampled_from([0.15, 0.5, 0.85]))
def test_igraph_finds_the_same(
    directed: bool, graph: tuple[int, list[tuple[int, int, float]], dict[int, float]], damping: float
) -> None:
    """Loops, parallel edges, nodes without a way out, nodes alone."""
    nodes, edges, seeds = graph
    ours = scores(walk_of(nodes, edges if directed else both_ways(edges)), seeds, damping)
    assert ours == pytest.approx(igraph_scores(nodes, edges, seeds, damping, directed), abs=1e-6)


def test_igraph_finds_the_same_on_a_big_graph() -> None:
    rng = np.random.default_rng(13)
    nodes = 3000
    edges = [
        (int(a), int(b), float(w))
        for a, b, w in zip(
            (nodes * rng.random(9000) ** 3).astype(int),
            rng.integers(0, nodes, 9000),
            rng.random(9000) + 0.1,
            strict=True,
        )
    ]
    seeds = {7: 0.5, 2500: 1.0, 2999: 0.125}
    ours = scores(walk_of(nodes, both_ways(edges)), seeds)
    assert ours == pytest.approx(igraph_scores(nodes, edges, seeds, 0.5, directed=False), abs=1e-6)


@needs("hipporag/musique-cc-by-4.0")
def test_igraph_finds_the_same_on_the_graph_of_a_public_dataset(tmp_path: Path) -> None:
    import ragdatakit
    from ragdatakit.retrieval.graphs.ranker import GraphPart
    from ragdatakit.retrieval.passages import Passages, read_passages, write_passages

    igraph = pytest.importorskip("igraph", reason="needs the test dependency igraph")
    tables = ragdatakit.read(MUSIQUE)._tables
    write_passages(tmp_path, read_passages(tables))
    passages = Passages(tmp_path, "document")
    (tmp_path / "graph").mkdir()
    part = GraphPart("given")
    part.build(tmp_path / "graph", passages, lambda: tables, None)
    graph = part.open(tmp_path / "graph", passages).graph
    rows = np.repeat(np.arange(len(graph)), np.diff(graph.indptr))
    once = rows < graph.indices
    ends = np.column_stack((rows[once], graph.indices[once])).tolist()
    theirs = igraph.Graph(len(graph), ends)
    reset = np.zeros(len(graph))
    reset[[len(passages) + 5, len(passages) + 900]] = 1, 3
    expected = theirs.personalized_pagerank(
        damping=0.5, reset=reset.tolist(), weights=graph.weights[once].tolist(), implementation="prpack"
    )
    found = Walk(graph.indptr, graph.indices, graph.weights).scores(np.flatnonzero(reset), reset[reset > 0])
    assert np.abs(found - np.array(expected)).max() < 1e-6
