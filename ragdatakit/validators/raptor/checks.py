"""The checks of RAPTOR trees: pickles read as data, the JSON form as it is decoded, and one judgement of both."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.files.containers.pickles import PickleError
from ragdatakit.files.datasets import DataFile
from ragdatakit.files.detection.sniffing import json_container
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.files.raptor.trees import ATTRIBUTES, MISSING, JsonTree, Other, PickledTree, StoredTree, opened
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.checks import FormatChecks, Needs
from ragdatakit.validators.excerpts import visible
from ragdatakit.validators.raptor.nodes import (
    LARGEST,
    NOWHERE,
    NodeTable,
    digest,
    held_problems,
    node_problems,
    shown,
    uneven_problems,
    whole,
)
from ragdatakit.validators.raptor.relations import Relations, layer_number, place_in_layers

if TYPE_CHECKING:
    from ragdatakit.validators.checks import Placed
    from ragdatakit.validators.csv_parts import CsvTable

_FAULTS = {
    "code": "foreign-pickle-content",
    "foreign": "foreign-pickle-content",
    "broken": "broken-pickle",
    "limit": "unchecked-tree",
}
_GROUPS = ("root_nodes", "leaf_nodes")
_PICKLES = (".pkl", ".pickle")


class RaptorChecks(FormatChecks):
    """One tree a file."""

    def needs(self, kind: str, split: str | None = None) -> Needs:
        """The JSON form is one record."""
        return Needs(records=kind == "tree")

    def record(self, file: DataFile, value: Any) -> Iterable[Problem]:
        """The faults of a tree in the JSON form."""
        return _json_problems(value) if isinstance(value, dict) and isinstance(value.get("nodes"), list) else ()

    def finish_file(self, file: DataFile, records: int, table: CsvTable | None = None) -> Iterator[Placed]:
        """A list of trees, or several in lines, is none; nor is JSON under the name of a pickle."""
        if file.kind == "tree" and file.path.suffix.casefold() in _PICKLES:
            yield (
                file,
                Problem(
                    "broken-pickle",
                    facts={"position": 0, "reason": "the file is JSON, not a pickle"},
                    hint=f"call it {visible(file.path.with_suffix('.json').name)}, and make the pickle that RAPTOR "
                    "loads of it with `ragdata convert --from raptor --to raptor -o keep-vectors=true -o form=pickle`",
                ),
            )
        if records and file.readable and (records > 1 or json_container(file.path, file.boundary) == "json-array"):
            yield file, Problem("several-trees-in-file")

    def finish(self) -> Iterator[Placed]:
        """The pickles, which the engine does not open."""
        for file in self.dataset.of_kind("pickle"):
            if file.readable:
                for problem in _pickle_problems(file):
                    yield file, problem


def _pickle_problems(file: DataFile) -> Iterator[Problem]:
    try:
        with opened(file) as tree:
            file.records = 0
            yield from _pickled_problems(tree, file)
    except PickleError as error:
        facts = {"position": error.position, "reason": error.reason}
        file.readable = file.to_end = False
        yield Problem(_FAULTS[error.fault], None, None, facts)
    except OSError as error:
        refuse_machine_fault(error)
        file.readable = file.to_end = False
        yield Problem("unreadable-file", facts={"reason": error.strerror or str(error)})


def _pickled_problems(tree: PickledTree, file: DataFile) -> Iterator[Problem]:
    if not tree.is_tree:
        yield _lacks("the tree", f"a pickle of {tree.what}")
        return
    missing = [name for name in ATTRIBUTES if name not in tree.attributes]
    for name in missing:
        yield _lacks(name)
    for name in ("all_nodes", "layer_to_nodes"):
        if name not in missing and not tree.is_dict(name):
            yield _lacks(name, tree.found(name), f"/{name}")
    if not tree.is_dict("all_nodes"):
        return
    table = NodeTable()
    yield from _all_nodes(tree, table)
    file.records = len(table)
    if not len(table) and not table.partial:
        yield Problem("no-records", "/all_nodes")
        return
    yield from _relations_of_pickled(tree, table)


def _lacks(field: str, fault: str = "missing", pointer: str | None = None) -> Problem:
    return Problem("incomplete-tree", pointer, None, {"field": field, "fault": fault})


def _all_nodes(tree: StoredTree, table: NodeTable) -> Iterator[Problem]:
    for node in tree.nodes():
        if isinstance(node, Other):
            table.partial = True
            pointer, _, words = node.words.partition(" ")
            yield Problem("incomplete-node", pointer, None, {"field": "the node", "fault": words})
        else:
            yield from node_problems(node, table)


def _relations_of_pickled(tree: PickledTree, table: NodeTable) -> Iterator[Problem]:

    def pointer_of(row: int) -> str:
        return f"/all_nodes/{table.indexes[row]}"

    yield from uneven_problems(table, pointer_of, None, pickled=True)
    relations = Relations(table, pointer_of)
    keys: list[Any] = []
    if tree.is_dict("layer_to_nodes"):
        yield from place_in_layers(relations, _noted(tree, keys), table.layers.__setitem__)
        yield from _layer_problems(tree.num_layers, keys)
    yield from held_problems(table)
    yield from relations.child_problems()
    yield from relations.leaf_problems()
    for name in _GROUPS if keys else ():
        if name not in tree.attributes:
            continue
        indexes, digests = array("q"), array("q")
        for value in tree.group(name):
            index = whole(tree.index_of(value))
            text = tree.text_of(value) if name == "leaf_nodes" else None
            indexes.append(index if index is not None else NOWHERE)
            digests.append(digest(text) if isinstance(text, str) else 0)
        found = np.array(indexes, np.int64)
        if name == "leaf_nodes":
            yield from relations.stored_leaf_problem(found, np.array(digests, np.int64))
        else:
            yield from relations.root_problem(found, "/root_nodes")


def _noted(tree: PickledTree, keys: list[Any]) -> Iterator[tuple[Any, list[Any] | Other]]:
    """The layers, in their order, whose keys are noted."""
    for key, members in tree.layers():
        keys.append(key)
        yield key.words if isinstance(key, Other) else key, members


def _layer_problems(num_layers: Any, keys: list[Any]) -> Iterator[Problem]:
    """What is wrong with the numbers of the layers; a ``num_layers`` that is missing was reported."""
    texts = [key for key in keys if whole(key) is None]
    if texts:
        yield _layers("a key of layer_to_nodes", f"{shown(texts[0])}, expected an integer", "/layer_to_nodes")
    if num_layers is not MISSING:
        if not isinstance(num_layers, int) or isinstance(num_layers, bool) or num_layers < 0:
            yield _layers("num_layers", f"{shown(num_layers)}, expected an integer of 0 or more", "/num_layers")
        else:
            yield from _layers_unlike(num_layers, {layer_number(key) for key in keys} - {NOWHERE})


def _layers_unlike(top: int, layers: set[int]) -> Iterator[Problem]:
    if not layers and top == 0:
        return
    highest = max(layers, default=NOWHERE)
    if highest != top:
        found = f"the highest layer is {highest}" if layers else "there are no layers"
        yield _layers("num_layers", f"{top}, and {found}", "/num_layers")
    missing = next((n for n in range(highest) if n not in layers), None)
    if missing is not None:
        yield _layers(f"layer {missing}", f"without nodes, and the highest layer is {highest}", None)


def _layers(field: str, found: str, pointer: str | None) -> Problem:
    return Problem("layers-not-whole", pointer, None, {"field": field, "value": found})


def _json_problems(value: dict[str, Any]) -> Iterator[Problem]:
    if not value["nodes"]:
        yield Problem("no-records", "/nodes")
        return
    table = NodeTable()
    table.partial = not all(isinstance(node, dict) for node in value["nodes"])
    tree = JsonTree(value)
    yield from _all_nodes(tree, table)
    places = array("q", (place for place, fields in enumerate(value["nodes"]) if isinstance(fields, dict)))

    def pointer_of(row: int) -> str:
        return f"/nodes/{places[row]}"

    key = value.get("embedding_key")
    yield from uneven_problems(table, pointer_of, key if isinstance(key, str) else None, pickled=False)
    layers: set[int] = set()
    for row, place in enumerate(places):
        layer = value["nodes"][place].get("layer")
        number = whole(layer)
        if number is not None and number >= 0:
            table.layers[row] = number
            layers.add(number)
            continue
        index = table.indexes[row]
        words = f"has the layer {shown(layer)}, expected an integer from 0" if layer is not None else "is in no layer"
        where = pointer_of(row) + ("/layer" if layer is not None else "")
        yield Problem("node-not-in-one-layer", where, None, {"node": index, "found": words})
    relations = Relations(table, pointer_of)
    yield from _repeated(relations, table)
    num_layers = value.get("num_layers")
    if isinstance(num_layers, int) and not isinstance(num_layers, bool) and num_layers >= 0:
        yield from _layers_unlike(num_layers, layers)
    yield from held_problems(table)
    yield from relations.child_problems()
    yield from relations.leaf_problems()
    roots = value.get("roots")
    if isinstance(roots, list) and all(type(root) is int for root in roots):
        found = np.fromiter((min(max(root, -LARGEST), LARGEST) for root in roots), np.int64, len(roots))
        yield from relations.root_problem(found, "/roots")


def _repeated(relations: Any, table: NodeTable) -> Iterator[Problem]:
    """Nodes of one index: the same node in two layers, or two nodes."""
    for row in relations.repeated():
        index = table.indexes[row]
        first = int(relations.own.rows(relations.indexes[row : row + 1])[0])
        before, layer = table.layers[first], table.layers[row]
        if NOWHERE not in (before, layer) and before != layer:
            facts = {"node": index, "found": f"is in the layers {before} and {layer}"}
            yield Problem("node-not-in-one-layer", relations.pointer_of(int(row)), index, facts)
        else:
            expected = f"which the node at {relations.pointer_of(first)} has, too"
            yield Problem("index-unlike-key", f"{relations.pointer_of(int(row))}/index", index, {"expected": expected})
