"""Communities of graphs: what belongs together is together, levels lie within each other, nothing depends on chance."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.retrieval.graphs.communities import MOST, Edge, clusters
from tests.conversion_tools import read_tables
from tests.upstream_data import UPSTREAM_DATA

DATA = UPSTREAM_DATA / "graphrag"


def modularity(parts: Iterable[Sequence[int]], edges: Iterable[Edge]) -> float:
    """How much more weight lies within the parts than chance would put there; 0 for a graph without edges."""
    part_of = {node: number for number, part in enumerate(parts) for node in part}
    inside: dict[int, float] = {}
    strength: dict[int, float] = {}
    total = 0.0
    for first, second, weight in edges:
        total += weight
        for node in (first, second):
            strength[part_of[node]] = strength.get(part_of[node], 0.0) + weight
        if part_of[first] == part_of[second]:
            inside[part_of[first]] = inside.get(part_of[first], 0.0) + weight
    if not total:
        return 0.0
    return sum(inside.get(n, 0.0) / total - (strength[n] / (2 * total)) ** 2 for n in strength)


def clique(*nodes: int) -> list[Edge]:
    return [(a, b, 1.0) for a in nodes for b in nodes if a < b]


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[Edge]]:
    count = draw(st.integers(1, 40))
    ends = st.integers(0, count - 1)
    weights = st.sampled_from([0.5, 1.0, 2.0, 0.0])
    return count, draw(st.lists(st.tuples(ends, ends, weights), max_size=120))


def test_cliques_are_communities() -> None:
    edges = [*clique(0, 1, 2, 3), *clique(4, 5, 6), *clique(7, 8, 9), (3, 4, 1.0), (6, 7, 1.0)]

    found = clusters(11, edges)

    assert [each.members for each in found] == [(0, 1, 2, 3), (4, 5, 6), (7, 8, 9), (10,)]
    assert {each.parent for each in found} == {-1}


def test_a_large_community_is_parted_on_the_next_level() -> None:
    """A ring of forty cliques: modularity takes two or three together, and each of these is parted again."""
    edges = [edge for start in range(0, 200, 5) for edge in clique(*range(start, start + 5))]
    edges += [(start, (start + 9) % 200, 1.0) for start in range(0, 200, 5)]

    found = clusters(200, edges, most=6)

    assert {each.level for each in found} == {0, 1}
    assert {len(each.members) for each in found if each.level == 1} == {5}
    assert [each.number for each in found] == list(range(len(found)))


@given(graphs())
def test_levels_part_the_nodes_and_do_not_depend_on_how_edges_are_written(graph: tuple[int, list[Edge]]) -> None:
    count, edges = graph

    found = clusters(count, edges)

    assert sorted(node for each in found if each.level == 0 for node in each.members) == list(range(count))
    for each in found:
        parts = [child.members for child in found if child.parent == each.number]
        assert not parts or sorted(node for part in parts for node in part) == list(each.members)
        assert not parts or (len(each.members) > MOST and len(parts) > 1)
    assert clusters(count, [(b, a, weight) for a, b, weight in edges]) == found


@pytest.mark.parametrize("name", ["operation-dulce", "carol-v2.7.2", "carol-v3.1.2"])
def test_they_are_as_good_as_those_of_graphrag(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not there")
    tables = read_tables(DATA / name)
    weights = {
        (min(e.source, e.target), max(e.source, e.target)): json.loads(e.attributes)["weight"]
        for e in tables.peek("edges")
        if "weight" in json.loads(e.attributes)
    }
    titles = sorted({title for pair in weights for title in pair})
    places = {title: place for place, title in enumerate(titles)}
    edges = [(places[a], places[b], weight) for (a, b), weight in weights.items()]
    theirs = [[places[m] for m in row.members if m in places] for row in tables.peek("communities") if row.level == 0]
    known = {place for part in theirs for place in part}
    theirs += [[place] for place in range(len(titles)) if place not in known]

    ours = [each.members for each in clusters(len(titles), edges) if each.level == 0]

    assert modularity(ours, edges) > modularity(theirs, edges) - 0.001
