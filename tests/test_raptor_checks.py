"""RAPTOR trees judged: the page's invalid examples, both forms alike, and what one fault says of others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from tests.command_line import FIXTURES
from tests.raptor_trees import Node, Tree, as_text, pickled, sample, sample_json, write_json


def codes(path: Path) -> dict[str, str]:
    return {f.code: f.severity for f in validate(path, format="raptor", max_per_rule=0).findings}


def node(number: int, **changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["nodes"][number].update(changes)


def whole(**changes: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree.update(changes)


def renamed(tree: dict[str, Any]) -> None:
    for each in tree["nodes"]:
        each["embeddings"] = {"OpenAI": each["embeddings"]["EMB"]}


def twice(tree: dict[str, Any]) -> None:
    tree["nodes"].append({**tree["nodes"][1], "layer": 1})
    tree["roots"].append(1)


PAGE: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "1 unknown child": (node(2, children=[0, 9]), "RP101", "error"),
    "2 no vectors": (node(1, embeddings={}), "RP006", "error"),
    "3 another length": (node(1, embeddings={"EMB": [0, 1, 0]}), "RP006", "error"),
    "4 more layers": (whole(num_layers=3), "RP008", "error"),
    "5 a leaf above its parent": (node(0, children=[2]), "RP102", "error"),
    "6 another root": (whole(roots=[0]), "RP105", "warning"),
    "7 two layers": (twice, "RP104", "error"),
    "8 text null": (node(0, text=None), "RP004", "error"),
    "10 one index twice": (node(1, index=0), "RP003", "error"),
    "11 children null": (node(2, children=None), "RP012", "error"),
    "12 children as texts": (node(2, children=["0"]), "RP101", "error"),
    "13 no layer": (node(1, layer=None), "RP104", "error"),
    "14 fewer layers": (whole(num_layers=0), "RP008", "error"),
    "15 another name": (renamed, "RP006", "error"),
    "16 NaN": (node(1, embeddings={"EMB": [float("nan"), 1]}), "RP007", "warning"),
    "17 a long text": (node(1, text="reef " * 4000), "RP011", "warning"),
    "18 no roots": (whole(roots=[]), "RP105", "warning"),
}


@pytest.mark.parametrize("name", PAGE)
def test_invalid_examples(name: str, tmp_path: Path) -> None:
    change, code, severity = PAGE[name]
    tree = sample_json()
    change(tree)

    found = codes(write_json(tmp_path / "tree.json", tree))

    assert found[code] == severity
    follows = {"RP101"} if code == "RP003" else {"RP106"} if code == "RP101" else set()
    assert found.keys() - {code} <= follows


@pytest.mark.parametrize(
    ("change", "code", "hint"),
    [
        (
            whole(num_layers="1"),
            "RP008",
            "write num_layers as an integer; number the layers from 0, the leaves, to num_layers, the roots",
        ),
        (node(2, children=[]), "RP103", "put leaves into layer 0, and nodes with children above it"),
    ],
)
def test_hints_are_of_what_is_in_the_tree(change: Callable[[Any], None], code: str, hint: str, tmp_path: Path) -> None:
    tree = sample_json()
    change(tree)

    found = validate(write_json(tmp_path / "tree.json", tree), format="raptor").findings

    assert {finding.hint for finding in found if finding.code == code} == {hint}


def lacking(name: str) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree.pop(name)


SAID: dict[str, tuple[Callable[[dict[str, Any]], None], str, str]] = {
    "no num_layers": (lacking("num_layers"), "", "num_layers is missing"),
    "no nodes": (lacking("nodes"), "", "nodes is missing"),
    "no vector": (lambda tree: tree["nodes"][1].pop("embeddings"), "/nodes/1", "node 1 has no vector, expected EMB of"),
    "a child as a text": (node(2, children=[0, "1"]), "/nodes/2/children/1", 'no node "1" (indexes are integers)'),
    "a layer as a text": (node(0, layer="0"), "/nodes/0/layer", 'node 0 has the layer "0", expected an integer from 0'),
}


@pytest.mark.parametrize("name", SAID)
def test_one_fault_of_a_json_form_is_told_where_it_is(name: str, tmp_path: Path) -> None:
    change, pointer, words = SAID[name]
    tree = sample_json()
    change(tree)
    write_json(tmp_path / "tree.json", tree)

    (finding,) = validate(tmp_path).findings  # of a folder, whose files only their content tells

    assert words in finding.message and (finding.pointer or "") == pointer
    assert "nodes and roots in the JSON form" in finding.hint or finding.code != "RP002"


def changed(change: Callable[[Tree], Any]) -> bytes:
    tree = sample()
    change(tree)
    return pickled(tree)


def _set(number: int, name: str, value: Any) -> Callable[[Tree], Any]:
    return lambda tree: setattr(tree.all_nodes[number], name, value)


OBSERVED: dict[str, tuple[Callable[[Tree], Any], dict[str, str]]] = {
    "child unknown": (_set(2, "children", {0, 1, 9}), {"RP101": "error"}),
    "children as texts": (_set(2, "children", {"0", "1"}), {"RP101": "error"}),
    "children None": (_set(2, "children", None), {"RP012": "error"}),
    "children a list": (_set(2, "children", [0, 1]), {"RP009": "warning"}),
    "children a tuple": (_set(2, "children", (0, 1)), {"RP009": "warning"}),
    "a circle": (_set(0, "children", {2}), {"RP102": "error"}),
    "index unlike key": (_set(2, "index", 7), {"RP003": "error"}),
    "another name": (_set(1, "embeddings", {"OpenAI": [0.0, 1.0]}), {"RP006": "error"}),
    "another length": (_set(1, "embeddings", {"EMB": [0.0, 1.0, 0.0]}), {"RP006": "error"}),
    "zeros": (_set(1, "embeddings", {"EMB": [0.0, 0.0]}), {"RP007": "warning"}),
    "NaN": (_set(1, "embeddings", {"EMB": [float("nan"), 1.0]}), {"RP007": "warning"}),
    "infinite": (_set(1, "embeddings", {"EMB": [float("inf"), 1.0]}), {"RP007": "warning"}),
    "text empty": (_set(2, "text", ""), {"RP005": "warning"}),
    "text None": (_set(2, "text", None), {"RP004": "error"}),
    "num_layers 3": (lambda t: setattr(t, "num_layers", 3), {"RP008": "error"}),
    "num_layers 0": (lambda t: setattr(t, "num_layers", 0), {"RP008": "error"}),
    "num_layers 1.0": (lambda t: setattr(t, "num_layers", 1.0), {"RP008": "error"}),
    "num_layers true": (lambda t: setattr(t, "num_layers", True), {"RP008": "error"}),
    "layer 0 absent": (lambda t: t.layer_to_nodes.pop(0), {"RP008": "error", "RP104": "error"}),
    "a node in no layer": (lambda t: t.layer_to_nodes[0].pop(), {"RP104": "error"}),
    "a node in two layers": (lambda t: t.layer_to_nodes[0].append(t.all_nodes[2]), {"RP104": "error"}),
    "a node twice in a layer": (lambda t: t.layer_to_nodes[1].append(t.all_nodes[2]), {"RP104": "error"}),
    "a layer of strangers": (lambda t: t.layer_to_nodes[0].append(Node("x", 9, set(), {})), {"RP104": "error"}),
    "roots empty": (lambda t: t.root_nodes.clear(), {"RP105": "warning"}),
    "roots a list": (lambda t: setattr(t, "root_nodes", [t.all_nodes[2]]), {}),
    "leaves empty": (lambda t: t.leaf_nodes.clear(), {"RP103": "warning"}),
    "no attribute": (lambda t: delattr(t, "all_nodes"), {"RP002": "error"}),
    "no attribute of a node": (lambda t: delattr(t.all_nodes[1], "text"), {"RP016": "error"}),
    "no nodes": (lambda t: t.__init__({}, {}, {}, 0, {0: []}), {"RP024": "error"}),  # type: ignore[misc]
    "a node that is none": (lambda t: t.all_nodes.update({1: "Joss Alder"}), {"RP016": "error"}),
}


@pytest.mark.parametrize("name", OBSERVED)
def test_what_was_observed_of_pickles(name: str, tmp_path: Path) -> None:
    change, expected = OBSERVED[name]
    path = tmp_path / "tree.pkl"
    path.write_bytes(changed(change))

    found = codes(path)

    if name == "a node that is none":
        found.pop("RP104", None)  # its layer still has the node that it was
    assert found == expected


def test_findings_have_places_in_both_forms(tmp_path: Path) -> None:
    tree = sample_json()
    node(1, embeddings={"EMB": [[0, 1]]})(tree)
    (json_form,) = validate(write_json(tmp_path / "tree.json", tree)).findings
    path = tmp_path / "tree.pkl"
    path.write_bytes(changed(_set(1, "embeddings", {"EMB": [[0, 1]]})))
    (of_pickle,) = validate(path).findings

    assert (json_form.line, json_form.pointer) == (6, "/nodes/1/embeddings/EMB")
    assert of_pickle.pointer == "/all_nodes/1/embeddings/EMB"
    assert json_form.message == of_pickle.message


def test_a_thousand_faults_are_counted(tmp_path: Path) -> None:
    nodes = {n: Node(None, n, set(), {"EMB": [1.0]}) for n in range(1000)}
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickled(Tree(nodes, nodes, nodes, 0, {0: list(nodes.values())})))

    report = validate(path)

    assert report.counts["error"] == 1000
    assert len(report.findings) == 20


def test_a_json_tree_of_another_order_is_the_same(tmp_path: Path) -> None:
    tree = sample_json()
    tree["nodes"].reverse()
    (tmp_path / "tree.json").write_text(as_text(dict(reversed(tree.items()))), encoding="utf-8")

    assert codes(tmp_path) == {}


def test_children_of_another_name_are_named(tmp_path: Path) -> None:
    text = (FIXTURES / "raptor" / "valid" / "json" / "tree.json").read_text()
    (tmp_path / "tree.json").write_text(text.replace('"children"', '"childs"'))

    assert sorted({(f.rule, f.fault) for f in validate(tmp_path).findings}) == [
        ("incomplete-node", "children is missing (there is childs)"),
        ("leaves-disagree", "a node of layer 0 has no children, not even an empty array (there is childs)"),
    ]


@pytest.mark.parametrize("name", ["tree.pkl", "tree.pickle"])
def test_json_under_the_name_of_a_pickle_is_no_tree_that_raptor_loads(name: str, tmp_path: Path) -> None:
    write_json(tmp_path / name, sample_json())

    (finding,) = validate(tmp_path).findings

    assert (finding.code, finding.fault) == ("RP014", "byte 0: the file is JSON, not a pickle")
    assert "call it tree.json" in finding.hint and "-o form=pickle" in finding.hint
