"""Parts, idle nodes, repeated edges and what lies within reach: both graphs against the plainest way to tell."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.arrays import graphs as module
from ragdatakit.arrays.graphs import NumpyGraph
from ragdatakit.arrays.small_graphs import Graph, PlainGraph
from ragdatakit.scanner import graphs as compiled
from tests.broad import examples

Make = Callable[..., Graph]


def numpy_graph(count: int, source: list[int], target: list[int], relation: list[int] | None = None) -> Graph:
    numbers = None if relation is None else np.array(relation, np.int32)
    return NumpyGraph(count, np.array(source, np.int32), np.array(target, np.int32), numbers)


both = pytest.mark.parametrize("make", [PlainGraph, numpy_graph])


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, list[int], list[int], list[int] | None]:
    count = draw(st.integers(1, 14))
    node = st.integers(-1, count - 1)
    edges = draw(st.lists(st.tuples(node, st.integers(-1, 2), node), max_size=40))
    source, relation, target = ([edge[i] for edge in edges] for i in range(3))
    return count, source, target, relation if draw(st.booleans()) else None


@st.composite
def asked(draw: st.DrawFn) -> tuple[Any, list[list[int]], list[list[int]], int | None]:
    graph = draw(graphs())
    names = st.lists(st.integers(-1, graph[0] - 1), max_size=3)
    questions = draw(st.lists(st.tuples(names, names), max_size=6)) * draw(st.sampled_from([1, 1, 60]))
    hops = draw(st.one_of(st.none(), st.integers(0, 6)))
    return graph, [a for a, _ in questions], [b for _, b in questions], hops


def usable(graph: Any) -> list[tuple[int, int, int, int]]:
    _, source, target, relation = graph
    rows = zip(range(len(source)), source, relation or [0] * len(source), target, strict=True)
    return [edge for edge in rows if min(edge[1:]) >= 0]


def distances(graph: Any, start: int) -> dict[int, int]:
    found, queue = {start: 0}, deque([start])
    while queue:
        node = queue.popleft()
        for _, source, _, target in usable(graph):
            for here, there in ((source, target), (target, source)):
                if here == node and there not in found:
                    found[there] = found[node] + 1
                    queue.append(there)
    return found


@both
@given(graph=graphs(), downward=st.sampled_from([None, 0, 1, 3]))
def test_parts_and_idle_nodes(make: Make, graph: Any, downward: int | None) -> None:
    made = make(*graph)
    expected = [min(distances(graph, node)) for node in range(graph[0])]

    with pytest.MonkeyPatch.context() as patch:
        if downward is not None:
            patch.setattr(compiled, "library", lambda: None)
            patch.setattr(module, "_DOWNWARD_ROUNDS", downward)
        found = made.components()

    assert list(found.labels) == expected
    assert list(found.roots) == sorted(set(expected))
    assert list(found.sizes) == [expected.count(root) for root in sorted(set(expected))]
    assert found.count == len(set(expected))
    assert found.largest == max(expected.count(root) for root in expected)
    assert list(made.self_loops()) == [row for row, source, _, target in usable(graph) if source == target]
    assert made.usable() == len(usable(graph))


@both
@given(graph=graphs(), is_compiled=st.booleans())
def test_repeated_edges(make: Make, graph: Any, is_compiled: bool) -> None:
    duplicates, reversals = [], []
    edges = usable(graph)
    for at, (row, *edge) in enumerate(edges):
        before = [(other, kind) for other, *kind in edges[:at]]
        same = [other for other, kind in before if kind == edge]
        turned = [other for other, kind in before if kind == edge[::-1] and edge[0] != edge[2]]
        duplicates += [(row, same[0])] if same else []
        reversals += [(row, turned[0])] if turned else []

    with pytest.MonkeyPatch.context() as patch:
        if not is_compiled:
            patch.setattr(compiled, "library", lambda: None)
        found = make(*graph).repeated_edges()

    assert list(zip(found.duplicates, found.duplicate_firsts, strict=True)) == duplicates
    assert list(zip(found.reversals, found.reversal_firsts, strict=True)) == reversals


@both
@settings(max_examples=examples(150), deadline=None)
@given(case=asked(), by_node=st.sampled_from([None, True, False]))
def test_what_is_out_of_reach(make: Make, case: Any, by_node: bool | None) -> None:
    graph, starts, targets, hops = case
    limit = 99 if hops is None else hops
    expected = []
    known = [distances(graph, node) for node in range(graph[0])]
    for begin, end in zip(starts, targets, strict=True):
        begin = [node for node in begin if node >= 0]
        far = [at for at, node in enumerate(end) if all(known[b].get(node, 100) > limit for b in begin)]
        expected.append([at for at in far if begin and end[at] >= 0])

    with pytest.MonkeyPatch.context() as patch:
        if by_node is not None:
            patch.setattr(compiled, "library", lambda: None)
        patch.setattr(module, "_WORTH_SORTING", 0 if by_node else 1 << 30)
        found = make(*graph).unreachable(starts, targets, hops)

    assert found == expected


@pytest.mark.parametrize("hops", [1, 2, 3, 5, None])
@pytest.mark.parametrize("worth_sorting", [None, 0, 1 << 30])
def test_both_graphs_agree_beyond_a_chunk(hops: int | None, worth_sorting: int | None, monkeypatch: Any) -> None:
    if worth_sorting is not None:
        monkeypatch.setattr(compiled, "library", lambda: None)
        monkeypatch.setattr(module, "_WORTH_SORTING", worth_sorting)
    monkeypatch.setattr(module, "_CHUNK", 1000)
    monkeypatch.setattr(module._EdgesByNode, "_AT_ONCE", 300)
    random = np.random.default_rng(5)
    count = 4000
    source = np.minimum(count * random.random(6000) ** 3, count - 1).astype(int)
    target = random.integers(-1, count, 6000)
    relation = random.integers(-1, 300, 6000)
    graph = (count, source.tolist(), target.tolist(), relation.tolist())
    starts, targets = (random.integers(-1, count, (700, 3)).tolist() for _ in range(2))
    plain, big = PlainGraph(*graph), numpy_graph(*graph)

    assert list(big.components().labels) == plain.components().labels
    for few in (len(starts), 20):
        asked_for = starts[:few], targets[:few], hops
        assert big.unreachable(*asked_for) == plain.unreachable(*asked_for)


@both
@pytest.mark.parametrize("downward", [None, 0, 3])
@pytest.mark.parametrize("shape", ["path", "backward path", "star", "late star", "zigzag"])
def test_shapes_that_take_many_rounds(make: Make, shape: str, downward: int | None, monkeypatch: Any) -> None:
    if downward is not None:
        monkeypatch.setattr(compiled, "library", lambda: None)
        monkeypatch.setattr(module, "_DOWNWARD_ROUNDS", downward)
    count = 3000
    nodes = list(range(count))
    source, target = {
        "path": (nodes[:-1], nodes[1:]),
        "backward path": (nodes[:0:-1], nodes[-2::-1]),
        "star": ([0] * (count - 1), nodes[1:]),
        "late star": ([count - 1] * (count - 1), nodes[:-1]),
        "zigzag": (
            nodes[: count // 2] + nodes[1 : count // 2],
            nodes[: count // 2 - 1 : -1] + nodes[: count // 2 : -1],
        ),
    }[shape]

    found = make(count, source, target).components()

    assert (found.count, found.largest) == (1, count)


@both
def test_a_graph_without_nodes(make: Make) -> None:
    graph = make(0, [-1], [-1], [0])

    assert (graph.components().count, graph.components().largest, graph.usable()) == (0, 0, 0)
    assert list(graph.self_loops()) == []
    assert len(graph.repeated_edges().duplicates) == 0
    assert graph.unreachable([[], [-1]], [[-1], []], 2) == [[], []]


def test_relations_too_many_for_an_exact_code() -> None:
    huge = 2**31 - 1
    graph = NumpyGraph(huge, *(np.array(a, np.int32) for a in ([1, 1, 1, 2], [2, 2, 2, 1], [huge, 5, huge, huge])))

    found = graph.repeated_edges()

    assert [list(a) for a in (found.duplicates, found.duplicate_firsts)] == [[2], [0]]
    assert [list(a) for a in (found.reversals, found.reversal_firsts)] == [[3], [0]]
