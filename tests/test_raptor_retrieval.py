"""Trees searched in RAPTOR's two ways: its own answers on its demo tree, budgets, layers, and what is no tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdatakit.files.containers.pickle_opcodes import read_pickle
from ragdatakit.files.raptor.hashing import hashed
from ragdatakit.files.raptor.pickled_names import ALLOWED
from ragdatakit.files.raptor.trees import PickledTree, TreeNode
from ragdatakit.retrieval.trees import Selection, Tree
from tests.command_line import FIXTURES, run
from tests.raptor_oracle import FAR, RETRIEVED
from tests.upstream_data import UPSTREAM_DATA, needs

CINDERELLA = UPSTREAM_DATA / "raptor" / "cinderella"
FOUND: dict[str, Any] = json.loads(RETRIEVED.read_text(encoding="utf-8"))
needs_data = needs("raptor/cinderella")
ARAG = next((FIXTURES / "arag" / "valid").iterdir())
TWO_LAYERS = FIXTURES / "raptor" / "valid" / "two-layers"


pytestmark = pytest.mark.usefixtures("shared_cache")


def ids(mode: str, question: str, k: int, path: Path, *words: str) -> list[str]:
    outcome = run("retrieve", path, question, "--mode", mode, "-k", str(k), "--json", *words)
    assert outcome.code == 0, outcome.err
    return [hit["id"] for hit in outcome.json["queries"][0]["hits"]]


@needs_data
@pytest.mark.parametrize("question", FOUND["hashed"])
def test_nodes_of_the_demo_tree_are_those_that_raptor_finds(question: str) -> None:
    expected = FOUND["hashed"][question]

    collapsed = ids("collapsed", question, 10, CINDERELLA)
    traversal = ids("traversal", question, 5, CINDERELLA)

    far = ids("traversal", question, 5, CINDERELLA, "--tree-select", "far:0.7")

    assert sorted(far) == sorted(f"cinderella:{n}" for n in expected["far:0.7"])  # nodes may be equally far away
    assert collapsed == [f"cinderella:{n}" for n in expected["collapsed"]]
    assert traversal == [f"cinderella:{n}" for n in expected["traversal"]]


@needs_data
def test_vectors_of_the_tree_and_budgets_give_what_raptor_finds() -> None:
    from ragdatakit.files.texts import plain_tokens

    with CINDERELLA.open("rb") as file:
        stored = PickledTree(read_pickle(file, ALLOWED))
        nodes = sorted((n for n in stored.nodes() if isinstance(n, TreeNode)), key=lambda n: n.index)
        own = np.array([stored.numbers(node.embeddings["OpenAI"]) for node in nodes])
    layers = np.array([0] * 33 + [1] * 7)
    tokens = np.array([plain_tokens.count(node.text) for node in nodes])
    children = [sorted(node.children) for node in nodes]

    far = [f"far:{limit}" for limit in FAR]

    def ways(vectors: Any, question: Any) -> dict[str, list[int]]:
        tree = Tree(layers, children, tokens, vectors / np.linalg.norm(vectors, axis=1, keepdims=True), range(33, 40))
        return {
            "collapsed": [n for n, _ in tree.collapsed(question, 10)],
            "collapsed, 200 tokens": [n for n, _ in tree.collapsed(question, 5, 200)],
            "traversal": [n for n, _ in tree.traversal(question, 5)],
        } | {
            f"far:{limit}": sorted(n for n, _ in tree.traversal(question, 5, Selection.of(f"far:{limit}")))
            for limit in FAR
        }

    for expected in (*FOUND["own"].values(), *FOUND["hashed"].values()):
        expected |= {way: sorted(expected[way]) for way in far}
    for pair, expected in FOUND["own"].items():
        a, b = map(int, pair.split())
        found = ways(own, 0.7 * own[a] + 0.3 * own[b])
        assert {way: set(nodes) for way, nodes in found.items()} == {way: set(n) for way, n in expected.items()}, pair
        assert found["collapsed"] == expected["collapsed"], pair
    by_words = np.stack([hashed(node.text) for node in nodes])
    for question, expected in FOUND["hashed"].items():
        assert ways(by_words, hashed(question)) == expected, question


def test_the_traversal_goes_down_and_takes_what_is_nearest() -> None:
    assert ids("traversal", "the light of Skarn burned whale oil", 1, TWO_LAYERS) == ["tree:6", "tree:4", "tree:0"]


def test_a_text_that_does_not_fit_ends_collapsed_retrieval() -> None:
    vectors = np.eye(3)[[0, 0, 0]]
    tree = Tree(np.zeros(3, int), [[], [], []], np.array([10, 5000, 10]), vectors, [0, 1, 2])

    assert [n for n, _ in tree.collapsed(np.array([1.0, 0, 0]), 3)] == [0]
    assert [n for n, _ in tree.traversal(np.array([1.0, 0, 0]), 3)] == [0, 1, 2]


def test_vectors_without_direction_come_last() -> None:
    tree = Tree(np.zeros(3, int), [[], [], []], np.ones(3, int), np.array([[0.0, 0], [-1, 0], [1, 0]]), [0, 1, 2])

    assert [n for n, _ in tree.collapsed(np.array([1.0, 0]), 3)] == [2, 1, 0]


def test_other_datasets_have_no_tree() -> None:
    outcome = run("retrieve", ARAG, "light", "--mode", "collapsed")

    assert outcome.code == 2
    assert "no tree of summaries" in outcome.err


def test_given_vectors_are_searched_with_those_of_questions(tmp_path: Path) -> None:
    vectors = tmp_path / "questions.jsonl"
    vectors.write_text(json.dumps({"id": "q", "text": "reef?", "vector": [0, 1, 0]}) + "\n")
    words = ("--query-vectors", str(vectors), "--option", "keep-vectors=true")

    assert ids("collapsed", "reef?", 2, TWO_LAYERS, *words)[0] == "tree:2"


TREE = Tree(
    np.array([0, 0, 0, 1, 1]),
    [[], [], [], [0, 1], [1, 2]],
    np.array([10, 20, 30, 5, 5]),
    np.array([[1.0, 0], [0.6, 0.8], [0, 1], [0.9, 0.43], [-1, 0]], np.float32),
    [3, 4],
)


@pytest.mark.parametrize(
    ("select", "nodes"),
    [("top-k", [3, 4, 0, 1, 2]), ("near:0.5", [3, 0, 1]), ("far:0.5", [4, 2]), ("near:2", [3, 4, 0, 1, 2])],
)
def test_a_traversal_selects_by_place_or_by_distance(select: str, nodes: list[int]) -> None:
    """Far is what RAPTOR's own selection by threshold takes: it compares distances as if they were similarities."""
    assert [n for n, _ in TREE.traversal(np.array([1.0, 0]), 5, Selection.of(select))] == nodes


@pytest.mark.parametrize("select", ["near", "near:x", "far:3", "nan:1", "near:nan"])
def test_other_selections_are_refused(select: str) -> None:
    outcome = run("retrieve", TWO_LAYERS, "pears", "--mode", "traversal", "--tree-select", select)

    assert outcome.code == 2
    assert "expected top-k, near:D" in outcome.err.replace("DISTANCE", "D")


def test_children_in_a_circle_end() -> None:
    tree = Tree(np.array([1, 1]), [[1], [0]], np.ones(2, int), np.eye(2), [0])

    assert len(tree.traversal(np.array([1.0, 0]), 5)) == 2


def test_why_each_node_was_found_is_reported() -> None:
    words = ("retrieve", TWO_LAYERS, "Who saw the lighthouse?", "-k", "2", "--explain")
    text = run(*words, "--mode", "traversal").out
    document = run(*words, "--mode", "collapsed", "--json").json["queries"][0]["candidates"]

    assert "among the top layer" in text and "among the children of" in text
    assert [item["place"] for item in document] == [1, 2]
    assert all(item["why"].startswith("layer ") and item["tokens"] > 0 for item in document)
    steps = list(TREE.collapsed_steps(np.array([1.0, 0]), 5, budget=16))
    assert [bool(step.cut) for step in steps] == [False, False, True, True, True]


def test_one_layer_of_an_index_is_counted_as_one() -> None:
    assert "summary, 1 layer, " in run("index", FIXTURES / "raptor" / "valid" / "json").out
