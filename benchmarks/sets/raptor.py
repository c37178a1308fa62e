"""A pickled tree of RAPTOR: leaves, two layers of summaries, a vector of 1536 numbers each; no error."""

from __future__ import annotations

import pickle
import sys
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from sets.words import Prose

LEAVES = 30_000
PER_PARENT = 8
DIMENSION = 1536
BLOCK = 1000
MODULE = "raptor.tree_structures"


@dataclass(eq=False)
class Node:
    """What RAPTOR calls a node."""

    text: str
    index: int
    children: set[int]
    embeddings: dict[str, list[float]]


@dataclass(eq=False)
class Tree:
    """What RAPTOR calls a tree."""

    all_nodes: dict[int, Node]
    root_nodes: dict[int, Node]
    leaf_nodes: dict[int, Node]
    num_layers: int
    layer_to_nodes: dict[int, list[Node]]


def write_raptor(root: Path, scale: float, seed: int) -> None:
    """Write ``tree.pkl``, pickled as RAPTOR's own classes would be."""
    root.mkdir(parents=True)
    tree = _tree(Prose(seed), max(20, round(LEAVES * scale)))
    for kind in (Node, Tree):
        kind.__module__ = MODULE
    module: Any = ModuleType(MODULE)
    module.Node, module.Tree = Node, Tree
    sys.modules |= {"raptor": module, MODULE: module}
    with (root / "tree.pkl").open("wb") as file:
        pickle.dump(tree, file)


def _tree(prose: Prose, leaves: int) -> Tree:
    nodes: dict[int, Node] = {}
    layers: dict[int, list[Node]] = {}
    below: list[int] = []
    for layer, count in enumerate((leaves, -(-leaves // PER_PARENT), -(-leaves // PER_PARENT**2))):
        first = len(nodes)
        for start in range(0, count, BLOCK):
            stop = min(start + BLOCK, count)
            texts = prose.texts(stop - start, 60, 100)
            vectors = prose.random.standard_normal((stop - start, DIMENSION))
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            for n, text, vector in zip(range(start, stop), texts, vectors.tolist(), strict=True):
                children = set(below[n * PER_PARENT : (n + 1) * PER_PARENT])
                nodes[first + n] = Node(f"{first + n} {text}", first + n, children, {"OpenAI": vector})
        below = list(range(first, len(nodes)))
        layers[layer] = [nodes[n] for n in below]
    roots = {node.index: node for node in layers[2]}
    return Tree(nodes, roots, {n: nodes[n] for n in range(leaves)}, 2, layers)
