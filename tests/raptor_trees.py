"""RAPTOR's trees in tests: its two classes under their names, pickles of them, and the JSON form."""

from __future__ import annotations

import copy
import json
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

MODULE = "raptor.tree_structures"


class Node:
    def __init__(self, text: Any, index: Any, children: Any, embeddings: Any) -> None:
        self.text = text
        self.index = index
        self.children = children
        self.embeddings = embeddings


class Tree:
    def __init__(self, all_nodes: Any, root_nodes: Any, leaf_nodes: Any, num_layers: Any, layer_to_nodes: Any) -> None:
        self.all_nodes = all_nodes
        self.root_nodes = root_nodes
        self.leaf_nodes = leaf_nodes
        self.num_layers = num_layers
        self.layer_to_nodes = layer_to_nodes


for _kind in (Node, Tree):
    _kind.__module__ = MODULE


@contextmanager
def raptor_classes() -> Iterator[None]:
    """While it lasts, the classes can be found under RAPTOR's names, as pickle wants them."""
    names = ("raptor", MODULE)
    before = {name: sys.modules.get(name) for name in names}
    package, module = ModuleType("raptor"), ModuleType(MODULE)
    module.Node, module.Tree = Node, Tree  # type: ignore[attr-defined]
    sys.modules.update({"raptor": package, MODULE: module})
    try:
        yield
    finally:
        for name, found in before.items():
            if found is None:
                del sys.modules[name]
            else:
                sys.modules[name] = found


def pickled(tree: Any, protocol: int = 4) -> bytes:
    with raptor_classes():
        return pickle.dumps(tree, protocol)


def unpickled(data: bytes) -> Any:
    with raptor_classes():
        return pickle.loads(data)


def sample(vector: Any = list) -> Tree:
    """Two leaves and their summary; ``vector`` makes vectors of lists."""
    leaves = {
        0: Node("Mara Venn built the light", 0, set(), {"EMB": vector([1.0, 0.0])}),
        1: Node("Joss Alder mapped the reef", 1, set(), {"EMB": vector([0.0, 1.0])}),
    }
    nodes = copy.deepcopy(leaves)
    nodes[2] = Node("A builder and a surveyor", 2, {0, 1}, {"EMB": vector([0.7, 0.7])})
    return Tree(nodes, {2: nodes[2]}, leaves, 1, {0: list(leaves.values()), 1: [nodes[2]]})


def sample_json() -> dict[str, Any]:
    """The same in the JSON form."""
    return {
        "format": "raptor-tree",
        "num_layers": 1,
        "embedding_key": "EMB",
        "nodes": [
            _node(0, 0, "Mara Venn built the light", [], [1, 0]),
            _node(1, 0, "Joss Alder mapped the reef", [], [0, 1]),
            _node(2, 1, "A builder and a surveyor", [0, 1], [0.7, 0.7]),
        ],
        "roots": [2],
    }


def _node(index: int, layer: int, text: str, children: list[int], vector: list[float]) -> dict[str, Any]:
    return {"index": index, "layer": layer, "text": text, "children": children, "embeddings": {"EMB": vector}}


def as_text(tree: dict[str, Any]) -> str:
    """The JSON form with a line for each node."""
    members = []
    for name, value in tree.items():
        if name == "nodes" and isinstance(value, list) and value:
            lines = ",\n  ".join(json.dumps(node, ensure_ascii=False) for node in value)
            members.append(f'"nodes": [\n  {lines}]')
        else:
            members.append(f"{json.dumps(name)}: {json.dumps(value)}")
    return "{" + ",\n ".join(members) + "}\n"


def write_json(path: Path, tree: dict[str, Any]) -> Path:
    path.write_text(as_text(tree), encoding="utf-8")
    return path
