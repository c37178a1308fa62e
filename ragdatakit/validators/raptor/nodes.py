"""The faults of one node, and what is kept of it to compare the nodes of a tree."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from ragdatakit.files.raptor.trees import MISSING, Other, TreeNode, Vector, words_of
from ragdatakit.schemas.declarations import ELSEWHERE
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import some_of
from ragdatakit.validators.lacking import lacking

BUDGET = 3500
"""Tokens that are retrieved for a question."""
NOWHERE = -(1 << 62)
"""What stands for the index or layer of a node that has none."""
_MOST_SHAPES = 1000
_MOST_HELD = 10_000
LARGEST = 1 << 62
_PIECES = re.compile(r"\w+|[^\w\s]")
Shape = tuple[tuple[str, int], ...]


class NodeTable:
    """What is kept of each node, by its row: numbers only, so that a million nodes need some fifty megabytes."""

    def __init__(self) -> None:
        self.keys = array("q")  # by which children find them
        self.indexes = array("q")  # by which layers know them: the same, where all is well
        self.layers = array("q")
        self.digests = array("q")  # of the texts; 0 where there is none
        self.children = array("q")  # of all nodes, one after the other
        self.parents = array("q")  # the row of each child's parent
        self.shapes = array("H")
        self.childless = set[int]()  # rows whose children cannot be known
        self.held: list[tuple[int, Problem]] = []
        self.partial = False  # whether there are nodes that are none, or have no index
        self._known: dict[Shape, int] = {}
        self.with_shape: Counter[int] = Counter()

    def __len__(self) -> int:
        return len(self.indexes)

    def hold(self, row: int, problem: Problem) -> Iterator[Problem]:
        """A fault of children that cannot be known; how bad it is, the layer of the node shows later."""
        self.childless.add(row)
        if len(self.held) < _MOST_HELD:
            self.held.append((row, problem))
        else:
            yield problem

    def shape_number(self, shape: Shape) -> int:
        """The number of what the vectors of a node are called, and how long they are."""
        if shape not in self._known and len(self._known) >= _MOST_SHAPES:
            return _MOST_SHAPES
        return self._known.setdefault(shape, len(self._known))

    def shape(self, number: int) -> Shape:
        """The shape of a number."""
        return next((shape for shape, known in self._known.items() if known == number), ())


def whole(value: Any) -> int | None:
    """A value as an index: an integer, or a float that Python takes for the same key; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, float) and not value.is_integer():
        return None
    return int(value) if abs(value) < LARGEST else None


def digest(text: str) -> int:
    """A number for a text, never 0."""
    found = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(found, "little", signed=True) or 1


def node_problems(node: TreeNode, table: NodeTable) -> Iterator[Problem]:
    """The faults of a node by itself; it gets a row in the table."""
    row = len(table)
    index = whole(node.index)
    if index is None and node.index is MISSING:
        yield _lacks(node, "index")
    elif index is None or whole(node.key) != index or isinstance(node.key, str):
        expected = "expected an integer" if index is None else f"expected the node's key {shown(node.key)}"
        yield Problem("index-unlike-key", f"{node.pointer}/index", _plain(node.index), {"expected": expected})
    known = whole(node.key)
    table.keys.append(known if known is not None else index if index is not None else NOWHERE)
    table.indexes.append(index if index is not None else NOWHERE)
    table.partial = table.partial or table.indexes[row] == NOWHERE
    table.layers.append(NOWHERE)
    yield from _text_problems(node, table)
    yield from _children_problems(node, table, row)
    yield from _embedding_problems(node, table)


_READ = ("index", "text", "children", "embeddings", "layer")


def _lacks(node: TreeNode, name: str) -> Problem:
    problem = Problem("incomplete-node", node.pointer, None, {"field": name})
    return lacking(problem, name, node.names, _READ, ELSEWHERE.get(name, ()))


def _plain(value: Any) -> Any:
    return value.words if isinstance(value, Other) else None if value is MISSING else value


def shown(value: Any) -> str:
    """A value in a message."""
    if isinstance(value, str):
        return f'"{value[:40]}"'
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else words_of(value)


def _text_problems(node: TreeNode, table: NodeTable) -> Iterator[Problem]:
    text, pointer = node.text, f"{node.pointer}/text"
    table.digests.append(digest(text) if isinstance(text, str) else 0)
    if text is MISSING:
        yield _lacks(node, "text")
    elif not isinstance(text, str):
        yield Problem("text-not-string", pointer, _plain(text), {"found": words_of(text)})
    elif not text or text.isspace():
        yield Problem("blank-node", pointer, text)
    elif len(text) > BUDGET:
        tokens = sum(1 for _ in _PIECES.finditer(text))  # a tokenizer makes one or more of each
        if tokens > BUDGET:
            yield Problem("node-over-budget", pointer, text[:80], {"tokens": tokens})


def _children_problems(node: TreeNode, table: NodeTable, row: int) -> Iterator[Problem]:
    pointer = f"{node.pointer}/children"
    if node.children is MISSING:
        yield from table.hold(row, _lacks(node, "children"))
        return
    if not isinstance(node.children, list):
        yield from table.hold(row, Problem("unusable-children", pointer, None, {"found": words_of(node.children)}))
        return
    if node.collection != "set":
        yield Problem("children-not-set", pointer, None, {"found": node.collection})
    for place, child in enumerate(node.children):
        found_child = whole(child)
        if found_child is None:
            facts = {"value": f"{shown(child)} (indexes are integers)"}
            yield from table.hold(row, Problem("unknown-child", f"{pointer}/{place}", _plain(child), facts))
        else:
            table.children.append(found_child)
            table.parents.append(row)


def held_problems(table: NodeTable) -> Iterator[Problem]:
    """What is wrong with children, when the layers are known: nobody reads those of leaves."""
    reported: set[int] = set()
    for row, problem in table.held:
        if table.layers[row] != 0:
            yield problem
        elif row not in reported:
            reported.add(row)
            found = "unusable children"
            if problem.rule == "incomplete-node":
                near = f" (there is {problem.facts['near']})" if "near" in problem.facts else ""
                found = f"no children, not even an empty array{near}"
            yield Problem("leaves-disagree", problem.pointer, None, {"found": f"a node of layer 0 has {found}"})


def _embedding_problems(node: TreeNode, table: NodeTable) -> Iterator[Problem]:
    pointer = f"{node.pointer}/embeddings"
    shape: list[tuple[str, int]] = []
    usable = isinstance(node.embeddings, dict)
    if node.embeddings is MISSING:
        yield _lacks(node, "embeddings")
    elif not usable:
        facts = {"field": "embeddings", "found": words_of(node.embeddings), "expected": "a dictionary of vectors"}
        yield Problem("unusable-vector", pointer, None, facts)
    for name, vector in node.embeddings.items() if usable else ():
        if not isinstance(vector, Vector):
            facts = {"field": name, "found": words_of(vector), "expected": "a flat list of numbers"}
            yield Problem("unusable-vector", f"{pointer}/{name}", None, facts)
            usable = False
            continue
        shape.append((name, vector.length))
        if not vector.finite:
            yield Problem(
                "useless-vector", f"{pointer}/{name}", None, {"found": "a number in the vector is not finite"}
            )
        elif not vector.nonzero and vector.length:
            yield Problem("useless-vector", f"{pointer}/{name}", None, {"found": "all numbers of the vector are 0"})
    number = table.shape_number(tuple(sorted(shape))) if usable else _MOST_SHAPES + 1
    table.shapes.append(number)
    if usable:
        table.with_shape[number] += 1


def uneven_problems(table: NodeTable, pointer_of: Any, key: str | None, pickled: bool) -> Iterator[Problem]:
    """Nodes whose vectors are unlike those of most nodes; ``key`` is the name that questions are compared with."""
    if not table.with_shape:
        return
    best = max(table.with_shape, key=lambda n: (table.with_shape[n], -n))
    expected = table.shape(best)
    if not expected and pickled:
        facts = {"found": "no vector", "expected": "a vector for each node"}
        yield Problem("uneven-embeddings", "/all_nodes", None, facts)
    if key is not None and expected and key not in dict(expected):
        found = {"found": f"the vectors are called {_names(expected)}", "expected": f"the name {shown(key)}"}
        hint = f"write {shown(expected[0][0])} as embedding_key, if that is the model of the questions"
        yield Problem("uneven-embeddings", "/embedding_key", key, found, hint=hint)
    if len(table.with_shape) == 1:
        return
    for row, number in enumerate(table.shapes):
        if number not in (best, _MOST_SHAPES + 1) and not set(expected) <= set(table.shape(number)):
            shape = table.shape(number)
            facts = {
                "found": f"node {table.indexes[row]} has {_described(shape)}",
                "expected": f"{_described(expected)} as in most nodes",
            }
            # embeddings may be missing where there is no vector
            yield Problem("uneven-embeddings", pointer_of(row) + ("/embeddings" if shape else ""), None, facts)


def _described(shape: Shape) -> str:
    if not shape:
        return "no vector"
    return some_of((f"{name} of {length:,} numbers" for name, length in shape), 3)


def _names(shape: Shape) -> str:
    return some_of((name for name, _ in shape), 3)
