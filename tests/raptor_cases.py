"""Damaged RAPTOR trees, each a pickle: what RAPTOR itself did with them is in ``raptor_verdicts.json``."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tests.raptor_trees import Node, Tree, pickled, sample

NAN, INFINITE = float("nan"), float("inf")
Change = Callable[[Tree], Any]


def deep() -> Tree:
    """Four leaves, two summaries, and one of these."""
    vectors = ([1, 0, 0], [0.9, 0.1, 0], [0, 1, 0], [0, 0.9, 0.1], [0.95, 0.05, 0], [0, 0.95, 0.05], [0.5, 0.5, 0.1])
    children: tuple[set[int], ...] = (set(), set(), set(), set(), {0, 1}, {2, 3}, {4, 5})
    nodes = {
        n: Node(f"node {n} of the north coast", n, children[n], {"EMB": [float(x) for x in vectors[n]]})
        for n in range(7)
    }
    leaves = {n: copy.deepcopy(nodes[n]) for n in range(4)}
    layers = {0: list(leaves.values()), 1: [nodes[4], nodes[5]], 2: [nodes[6]]}
    return Tree(nodes, {6: nodes[6]}, leaves, 2, layers)


def flat() -> Tree:
    """Three leaves that are roots, too, as of a short text."""
    leaves = {n: Node(f"leaf {n}", n, set(), {"EMB": [n + 1.0, 1.0]}) for n in range(3)}
    nodes = copy.deepcopy(leaves)
    return Tree(nodes, nodes, leaves, 0, {0: list(leaves.values())})


def arrays() -> Tree:
    """The sample with vectors as SBERT's are."""
    return sample(lambda v: np.array(v, "f4"))


BASES: dict[str, Callable[[], Tree]] = {"sample": sample, "deep": deep, "flat": flat, "arrays": arrays}

TEXTS: tuple[Any, ...] = (None, 7, "", " ", "two\nlines", ["a"], True, b"bytes", {})
INDEXES: tuple[Any, ...] = (None, "0", 99, -1, 1.5, (0,))
CHILDREN: tuple[Any, ...] = (None, [], (), {99}, {"0"}, "ab", 3, 1.5, {}, {0: 1}, [None], [99], b"", True)
VECTORS: tuple[Any, ...] = (
    None, [], [1.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0], [0.0, 0.0, 0.0], [NAN, 1.0], [INFINITE, 1.0], [[1.0, 0.0]],
    ["a", "b"], (1.0, 0.0), {0: 1.0}, "EMB", 1.0, [None, 1.0], [True, False], [1, 0], np.array([[1.0, 0.0]]),
    np.array([1.0, 0.0], "f2"), np.array([1.0, 0.0], object), np.array([1.0, 0.0], ">f8"), np.array([0.0, 0.0], "f4"),
    np.array([NAN, 0.0], "f4"), np.array([], "f4"),
)  # fmt: skip
EMBEDDINGS: tuple[Any, ...] = (None, {}, [], {"OpenAI": [1.0, 0.0]}, {"EMB": [1.0, 0.0], "OpenAI": [1.0]}, "EMB", 3)
NODES: tuple[Any, ...] = (None, "a node", {}, 3)
NUMBERS: tuple[Any, ...] = (None, -1, 0, 1, 2, 3, 9, "1", 1.0, 2.0, 0.5, True, [])


def _set(number: int, name: str, value: Any) -> Change:
    return lambda tree: setattr(tree.all_nodes[number], name, value)


def _vector(number: int, value: Any) -> Change:
    return lambda tree: tree.all_nodes[number].embeddings.update(EMB=value)


def _node_changes(number: int) -> Iterator[tuple[str, Change]]:
    for name, values in (("text", TEXTS), ("index", INDEXES), ("children", CHILDREN), ("embeddings", EMBEDDINGS)):
        for place, value in enumerate(values):
            yield f"{name} {place}", _set(number, name, value)
        yield f"no {name}", lambda tree, name=name: delattr(tree.all_nodes[number], name)  # type: ignore[misc]
    for place, value in enumerate(VECTORS):
        yield f"vector {place}", _vector(number, value)
    for place, value in enumerate(NODES):
        yield f"replaced {place}", lambda tree, value=value: tree.all_nodes.update({number: value})  # type: ignore[misc]
    yield "gone", lambda tree: tree.all_nodes.pop(number)
    yield "key as text", lambda tree: tree.all_nodes.update({str(number): tree.all_nodes.pop(number)})
    yield "key twice", lambda tree: tree.all_nodes.update({50: tree.all_nodes[number]})
    yield "its own child", lambda tree: setattr(tree.all_nodes[number], "children", {number})


def _tree_changes(tree: Tree) -> Iterator[tuple[str, Change]]:
    for place, value in enumerate(NUMBERS):
        yield f"num_layers {place}", lambda t, value=value: setattr(t, "num_layers", value)  # type: ignore[misc]
    for name in vars(tree):
        yield f"no {name}", lambda t, name=name: delattr(t, name)  # type: ignore[misc]
        for place, value in enumerate((None, {}, [], 3, "a")):
            yield f"{name} is {place}", lambda t, n=name, v=value: setattr(t, n, v)  # type: ignore[misc]
    yield "layers as texts", lambda t: setattr(t, "layer_to_nodes", {str(k): v for k, v in t.layer_to_nodes.items()})
    yield "layers as floats", lambda t: setattr(t, "layer_to_nodes", {float(k): v for k, v in t.layer_to_nodes.items()})
    yield "layers from 1", lambda t: setattr(t, "layer_to_nodes", {k + 1: v for k, v in t.layer_to_nodes.items()})
    yield "an empty layer above", lambda t: t.layer_to_nodes.update({t.num_layers + 1: []})
    yield "a stranger", lambda t: t.layer_to_nodes[0].append(Node("x", 70, set(), {"EMB": [1.0, 1.0]}))
    yield "keys as texts", lambda t: setattr(t, "all_nodes", {str(k): v for k, v in t.all_nodes.items()})
    yield "roots in a list", lambda t: setattr(t, "root_nodes", list(t.layer_to_nodes[t.num_layers]))
    yield "leaves in a list", lambda t: setattr(t, "leaf_nodes", list(t.leaf_nodes.values()))
    yield "another root", lambda t: t.root_nodes.update({0: t.all_nodes[0]})
    yield "another leaf text", lambda t: setattr(t.leaf_nodes[0], "text", "another")
    for layer in tree.layer_to_nodes:
        yield f"no layer {layer}", lambda t, layer=layer: t.layer_to_nodes.pop(layer)  # type: ignore[misc]
        yield f"layer {layer} None", lambda t, layer=layer: t.layer_to_nodes.update({layer: None})  # type: ignore[misc]
        yield f"layer {layer} a tuple", lambda t, k=layer: t.layer_to_nodes.update({k: tuple(t.layer_to_nodes[k])})  # type: ignore[misc]
        yield f"layer {layer} of None", lambda t, k=layer: t.layer_to_nodes[k].append(None)  # type: ignore[misc]
        for place in range(len(tree.layer_to_nodes[layer])):
            yield f"layer {layer} without {place}", lambda t, k=layer, p=place: t.layer_to_nodes[k].pop(p)  # type: ignore[misc]
            yield (
                f"layer {layer} has {place} twice",
                lambda t, k=layer, p=place: t.layer_to_nodes[k].append(t.layer_to_nodes[k][p]),  # type: ignore[misc]
            )


def cases() -> Iterator[tuple[str, str, bytes]]:
    """(name, base, pickle): sound trees of all protocols first."""
    for base, make in BASES.items():
        for protocol in (2, 3, 4, 5):
            yield f"{base}: protocol {protocol}", base, pickled(make(), protocol)
        tree = make()
        numbers = [max(tree.all_nodes), min(tree.all_nodes)] if base != "flat" else [1]
        changes = [(f"node {n} {name}", change) for n in numbers for name, change in _node_changes(n)]
        for name, change in [*changes, *_tree_changes(tree)]:
            changed = make()
            change(changed)
            yield f"{base}: {name}", base, pickled(changed)
        whole = pickled(make())
        dice = random.Random(base)
        for place in sorted(dice.sample(range(2, len(whole) - 1), 12)):
            yield f"{base}: cut at {place}", base, whole[:place]
    for what in ({"a": 1}, [1], None, "a tree", 7, sample().all_nodes, sample().all_nodes[0]):
        yield f"instead of a tree: {str(what)[:7]}", "sample", pickled(what)
