"""How the nodes of a tree fit together: indexes, layers, children, leaves and roots, compared as columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import distinct
from ragdatakit.files.raptor.trees import NAMES_SHOWN, NODE_WORDS, Other, words_of
from ragdatakit.schemas.findings import Problem
from ragdatakit.schemas.texts import some_of
from ragdatakit.validators.raptor.nodes import NOWHERE, NodeTable, whole

Ints = npt.NDArray[np.int64]
_NONE = np.zeros(0, np.int64)
_EDGES = 1 << 20
"""Children that are looked up together."""


class _Sorted:
    """Numbers of the nodes, to find rows by."""

    def __init__(self, values: Ints) -> None:
        self.values = values
        self.order = np.argsort(values, kind="stable")
        self.sorted = values[self.order]

    def rows(self, wanted: Ints) -> Ints:
        """The first row of each number; -1 where no node has it."""
        if not len(self.sorted):
            return np.full(len(wanted), -1, np.int64)
        places = np.minimum(np.searchsorted(self.sorted, wanted), len(self.sorted) - 1)
        return np.where((self.sorted[places] == wanted) & (wanted != NOWHERE), self.order[places], -1)


class Relations:
    """The columns of a tree; ``pointer_of`` gives the place of a row."""

    def __init__(self, table: NodeTable, pointer_of: Callable[[int], str]) -> None:
        self.pointer_of = pointer_of
        self.keys = _Sorted(_column(table.keys))
        self.own = _Sorted(_column(table.indexes))
        self.indexes = self.own.values
        self.layers = _column(table.layers)
        self.digests = _column(table.digests)
        self.children = _column(table.children)
        self.parents = _column(table.parents)
        self.childless = table.childless
        self.partial = table.partial
        self.misplaced = {*self.repeated().tolist(), *np.flatnonzero(self.indexes == NOWHERE).tolist()}
        """Rows that other findings are about: what follows from those is not reported again."""

    def repeated(self) -> Ints:
        """Rows whose index a row before has, too."""
        values, order = self.own.sorted, self.own.order
        same = np.flatnonzero((values[1:] == values[:-1]) & (values[1:] != NOWHERE))
        return np.sort(order[same + 1])

    def child_problems(self) -> Iterator[Problem]:
        """Children that are no nodes, or of another layer; nodes of no parent, or of several."""
        links: list[Ints] = []  # child and parent in one number, each pair once
        for start in range(0, len(self.children), _EDGES):
            rows = self.keys.rows(self.children[start : start + _EDGES])
            parents = self.parents[start : start + _EDGES]
            for edge in np.flatnonzero((rows < 0) & (self.layers[parents] != 0)) if not self.partial else ():
                yield self._of_child("unknown-child", start + int(edge), {})
            known = np.flatnonzero(rows >= 0)
            yield from self._layer_problems(start, known, rows, parents)
            links = [distinct(np.concatenate([*links, rows[known] * len(self.indexes) + parents[known]]))]
        found = links[0] if links else _NONE
        yield from self._parent_problems(found // max(1, len(self.indexes)))

    def _layer_problems(self, start: int, known: Ints, rows: Ints, parents: Ints) -> Iterator[Problem]:
        above, below = self.layers[parents[known]], self.layers[rows[known]]
        wrong = known[(above != below + 1) & (above != NOWHERE) & (below != NOWHERE)]
        for edge in wrong:
            layer, child_layer = int(self.layers[parents[edge]]), int(self.layers[rows[edge]])
            facts = {"layer": layer, "child_layer": child_layer}
            yield self._of_child("child-of-other-layer", start + int(edge), facts)
        self.misplaced |= {*parents[wrong].tolist(), *rows[wrong].tolist()}

    def _of_child(self, rule: str, edge: int, facts: dict[str, Any]) -> Problem:
        parent, child = int(self.parents[edge]), int(self.children[edge])
        return Problem(rule, f"{self.pointer_of(parent)}/children", child, facts)

    def _parent_problems(self, rows: Ints) -> Iterator[Problem]:
        """``rows`` has each child once for each of its parents."""
        counts = np.bincount(rows, minlength=len(self.indexes))
        top = int(self.layers.max(initial=NOWHERE))
        lonely = (counts == 0) & (self.layers < top) & (self.layers != NOWHERE)
        lonely[list(self.misplaced)] = False
        for row in np.flatnonzero(lonely) if not self.childless else ():
            facts = {"layer": int(self.layers[row])}
            yield Problem("node-without-parent", self.pointer_of(int(row)), int(self.indexes[row]), facts)
        for row in np.flatnonzero(counts > 1):
            facts = {"parents": int(counts[row])}
            yield Problem("several-parents", self.pointer_of(int(row)), int(self.indexes[row]), facts)

    def leaf_problems(self) -> Iterator[Problem]:
        """Leaves with one text, gaps between their indexes, nodes that are leaves by one sign and not by another."""
        leaves = np.flatnonzero(self.layers == 0)
        with_children = np.zeros(len(self.indexes), bool)
        with_children[self.parents] = True
        yield from self._unlike(leaves[with_children[leaves]], "a node of layer 0 has children")
        with_children[list(self.childless)] = True
        upper = np.flatnonzero((self.layers > 0) & ~with_children)
        yield from self._unlike(upper, "a node above layer 0 has no children")
        yield from self._repeated_texts(leaves)
        found = np.sort(self.indexes[leaves])
        gaps = np.flatnonzero(found != np.arange(len(found)))
        known = not self.partial and NOWHERE not in self.layers  # any other may be a leaf
        if len(gaps) and known and self.misplaced.isdisjoint(leaves.tolist()):
            row = int(self.own.rows(found[gaps[:1]])[0])
            facts = {"leaves": len(found), "expected": f"0 to {len(found) - 1:,}"}
            yield Problem("leaf-index-gap", f"{self.pointer_of(row)}/index", int(found[-1]), facts)

    def _unlike(self, rows: Ints, found: str) -> Iterator[Problem]:
        for row in rows:
            if int(row) not in self.misplaced:
                facts, hint = {"found": found}, "put leaves into layer 0, and nodes with children above it"
                yield Problem("leaves-disagree", f"{self.pointer_of(int(row))}/children", None, facts, hint=hint)

    def _repeated_texts(self, leaves: Ints) -> Iterator[Problem]:
        digests = self.digests[leaves]
        order = np.argsort(digests, kind="stable")
        same = np.flatnonzero((digests[order][1:] == digests[order][:-1]) & (digests[order][1:] != 0))
        first: dict[int, int] = {}
        for place in same:
            earlier = int(leaves[order[place]])
            row = int(leaves[order[place + 1]])
            first[row] = first.get(earlier, earlier)
        for row in sorted(first):
            if self.indexes[row] != self.indexes[first[row]]:
                facts = {"other": int(self.indexes[first[row]])}
                yield Problem("repeated-leaf-text", f"{self.pointer_of(row)}/text", None, facts)

    def root_problem(self, indexes: Ints, pointer: str) -> Iterator[Problem]:
        """Roots that are not the nodes of the top layer."""
        top = int(self.layers.max(initial=NOWHERE))
        if self.partial or top == NOWHERE:
            return
        expected = distinct(self.indexes[self.layers == top])
        difference = _difference(self._placed(indexes), expected, "roots", f"layer {top}")
        if difference:
            yield Problem("roots-unlike-top-layer", pointer, None, {"found": difference})

    def _placed(self, indexes: Ints) -> Ints:
        """Those of the indexes, each once, that are not of a node in no layer, which is reported as such."""
        keep = np.ones(len(indexes), np.bool_)
        for start in range(0, len(indexes) if len(self.indexes) else 0, _EDGES):
            rows = self.own.rows(indexes[start : start + _EDGES])
            keep[start : start + _EDGES] = (rows < 0) | (self.layers[rows] != NOWHERE)
        found = indexes[keep]
        found.sort()
        first = np.ones(len(found), np.bool_)
        np.not_equal(found[1:], found[:-1], out=first[1:])
        return found if first.all() else found[first]

    def stored_leaf_problem(self, indexes: Ints, digests: Ints) -> Iterator[Problem]:
        """``leaf_nodes`` that are not the nodes of layer 0, or have other texts."""
        if self.partial:
            return
        expected = distinct(self.indexes[self.layers == 0])
        difference = _difference(self._placed(indexes), expected, "leaf_nodes", "layer 0")
        if difference:
            yield Problem("leaves-disagree", "/leaf_nodes", None, {"found": difference})
        rows = self.own.rows(indexes)
        known = np.flatnonzero((rows >= 0) & (self.digests[rows] != 0)) if len(self.digests) else rows[:0]
        for place in known[self.digests[rows[known]] != digests[known]]:
            index = int(indexes[place])
            found = f"the text of node {index} is another one in leaf_nodes than in all_nodes"
            yield Problem("leaves-disagree", f"/leaf_nodes/{index}/text", None, {"found": found})


def _difference(found: Ints, expected: Ints, name: str, other: str) -> str:
    more, less = (np.setdiff1d(*sides, assume_unique=True) for sides in ((found, expected), (expected, found)))
    parts = [f"has {some_of(more, NAMES_SHOWN)}, not in {other}"] if len(more) else []
    parts += [f"lacks {some_of(less, NAMES_SHOWN)} of {other}"] if len(less) else []
    return f"{name} {', and '.join(parts)}" if parts else ""


def _column(values: Any) -> Ints:
    return np.frombuffer(values, np.int64) if len(values) else _NONE


def place_in_layers(
    relations: Relations, layers: Iterable[tuple[Any, list[Any] | Other]], place: Callable[[int, int], None]
) -> Iterator[Problem]:
    """Give each node its layer, of a tree that stores layers by themselves: ``place`` takes row and layer. Nodes in
    none, or in several."""
    seen = relations.indexes == NOWHERE  # which is reported
    for key, members in layers:
        if isinstance(members, Other):
            found = {"field": f"layer_to_nodes[{key}]", "fault": members.words}
            yield Problem("incomplete-tree", f"/layer_to_nodes/{key}", None, found)
            continue
        indexes, faults = _indexes(key, members, relations.partial)
        yield from faults
        rows = relations.own.rows(indexes)
        for index in indexes[rows < 0]:
            facts = {"node": int(index), "found": f"is in layer {key} and not in all_nodes"}
            yield Problem("node-not-in-one-layer", f"/layer_to_nodes/{key}", int(index), facts)
        rows = rows[rows >= 0]
        ordered = np.sort(rows)
        for row in distinct(np.concatenate((rows[seen[rows]], ordered[1:][ordered[1:] == ordered[:-1]]))):
            index, before = int(relations.indexes[row]), int(relations.layers[row])
            found_in = f"is in the layers {before} and {key}" if seen[row] else f"is twice in layer {key}"
            facts = {"node": index, "found": found_in}
            yield Problem("node-not-in-one-layer", relations.pointer_of(int(row)), index, facts)
        layer = layer_number(key)
        for row in rows.tolist():
            place(row, layer)
        seen[rows] = True
    for row in np.flatnonzero(~seen):
        index = int(relations.indexes[row])
        facts = {"node": index, "found": "is in no layer"}
        yield Problem("node-not-in-one-layer", relations.pointer_of(int(row)), index, facts)


def _indexes(key: Any, members: list[Any], partial: bool) -> tuple[Ints, list[Problem]]:
    """The indexes in a layer; what is in it that is no node. Nodes without an index may be reported already."""
    found, faults = [], []
    for place, member in enumerate(members):
        number = whole(member)
        if number is not None:
            found.append(number)
        elif not (partial and isinstance(member, Other) and member.words == NODE_WORDS):
            facts = {"field": f"a node of layer {key}", "fault": words_of(member)}
            faults.append(Problem("incomplete-node", f"/layer_to_nodes/{key}/{place}", None, facts))
    return np.array(found, np.int64), faults


def layer_number(key: Any) -> int:
    """The layer that a key means; one that is a text is reported, and still means what it says."""
    found = whole(key)
    if found is None and isinstance(key, str) and key.isdecimal() and len(key) < 10:
        found = int(key)
    return found if found is not None and 0 <= found < 1 << 31 else NOWHERE
