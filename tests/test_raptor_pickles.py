"""Pickles of trees are read as data: every honest form of them, nothing else, and nothing of them ever runs."""

from __future__ import annotations

import io
import os
import pickle
import random
import struct
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdatakit import validate
from ragdatakit.files.containers import pickle_opcodes
from ragdatakit.files.containers.pickle_opcodes import read_pickle
from ragdatakit.files.containers.pickles import PickleError
from ragdatakit.files.raptor.pickled_names import ALLOWED
from ragdatakit.files.raptor.trees import PickledTree, TreeNode, Vector
from tests.broad import chosen
from tests.command_line import run
from tests.raptor_trees import Node, Tree, pickled, sample
from tests.upstream_data import UPSTREAM_DATA, needs

CINDERELLA = UPSTREAM_DATA / "raptor" / "cinderella"
VECTORS: dict[str, Callable[[list[float]], Any]] = {
    "list": list,
    "tuple": tuple,
    "integers": lambda v: [int(n * 10) for n in v],
    "float16": lambda v: np.array(v, "f2"),
    "float32": lambda v: np.array(v, "f4"),
    "float64": lambda v: np.array(v, "f8"),
    "big-endian": lambda v: np.array(v, ">f4"),
    "objects": lambda v: np.array(v, object),
}


def rules(path: Path) -> list[str]:
    return [finding.rule for finding in validate(path, format="raptor", max_per_rule=0).findings]


def read(data: bytes) -> PickledTree:
    return PickledTree(read_pickle(io.BytesIO(data), ALLOWED))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("name", VECTORS)
def test_every_honest_form_is_read(name: str, protocol: int, tmp_path: Path) -> None:
    tree = sample(VECTORS[name])
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickled(tree, protocol))
    stored = read(path.read_bytes())

    found = [node for node in stored.nodes() if isinstance(node, TreeNode)]

    assert rules(path) == []
    assert [(n.key, n.index, n.text) for n in found] == [(k, n.index, n.text) for k, n in tree.all_nodes.items()]
    assert [set(n.children) for n in found] == [n.children for n in tree.all_nodes.values()]
    for node in found:
        vector = node.embeddings["EMB"]
        assert isinstance(vector, Vector)
        assert stored.numbers(vector) == [float(x) for x in tree.all_nodes[node.key].embeddings["EMB"]]


def test_batches_and_frames_end_nothing() -> None:
    nodes = {n: Node(f"leaf {n}", n, set(), {"EMB": [n + i / 3 for i in range(2500)]}) for n in range(2100)}
    tree = Tree(nodes, nodes, nodes, 0, {0: list(nodes.values())})
    stored = read(pickled(tree))

    found = {node.index: node for node in stored.nodes() if isinstance(node, TreeNode)}

    assert len(found) == 2100
    for n in (0, 999, 1000, 2099):
        assert stored.numbers(found[n].embeddings["EMB"]) == nodes[n].embeddings["EMB"]


class Runs:
    def __init__(self, *call: Any) -> None:
        self.call = call

    def __reduce__(self) -> Any:
        return self.call[0], self.call[1:]


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("place", ["text", "index", "children", "embeddings", "node", "tree"])
def test_no_code_runs(place: str, protocol: int, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    evil: Any = Runs(os.mkdir, str(mark))
    tree = sample()
    if place == "node":
        tree.all_nodes[0] = evil
    elif place == "tree":
        tree = [evil, tree]  # type: ignore[assignment]
    else:
        setattr(tree.all_nodes[0], place, evil)
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickled(tree, protocol))

    report = validate(path, format="raptor") if protocol > 1 else None

    assert report is None or [f.code for f in report.findings] == ["RP001"]
    assert run("validate", path).code in (1, 2)
    assert not mark.exists()


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        (b"\x80\x04cos\nsystem\n.", "the name os.system"),
        (b"\x80\x04cbuiltins\neval\n.", "the name builtins.eval"),
        (b"\x80\x04(cos\nsystem\no.", "the name os.system"),
        (b"\x80\x04(i__main__\nx\n.", "the opcode INST"),
        (b"\x80\x04Pid\n.", "the opcode PERSID"),
        (b"\x80\x04\x82\x01.", "the opcode EXT1"),
        (b"\x80\x04Q.", "the opcode BINPERSID"),
        (b"\x80\x05\x97.", "the opcode NEXT_BUFFER"),
        (b"\x80\x04S'a'\n.", "the opcode STRING"),
        (b"\x80\x04cbuiltins\nset\n)\x92.", "the opcode NEWOBJ_EX"),
        (b"\x80\x04cbuiltins\nset\nK\x01\x85R.", "a call of builtins.set that no tree makes"),
        (b"\x80\x04craptor.tree_structures\nNode\n)R.", "a call of raptor.tree_structures.Node that no tree makes"),
        (b"\x80\x04craptor.tree_structures\nTree\nK\x01\x85\x81.", "an object of raptor.tree_structures.Tree"),
        (b"\x80\x04]}b.", "a state for what has none"),
        (b"\x80\x04\xff.", "the opcode 0xff"),
        (b"\x80\x06N.", "it is not a pickle of protocol 2 to 5"),
    ],
)
def test_what_no_tree_has_ends_the_reading(what: bytes, reason: str) -> None:
    with pytest.raises(PickleError, match="^" + reason) as found:
        read(what)

    assert found.value.fault in ("code", "foreign")


@pytest.mark.parametrize(
    "what",
    [
        b"\x80\x04", b"\x80\x04.", b"\x80\x04NN.", b"\x80\x04(.", b"\x80\x04a.", b"\x80\x04]a.", b"\x80\x04}(K\x01u.",
        b"\x80\x04h\x05.", b"\x80\x04Nr\x05\x00\x00\x00.", b"\x80\x04X\xff\xff\xff\xff", b"\x80\x04\x8c\x05ab",
        b"\x80\x04G\x00\x00.", b"\x80\x04K", b"\x80\x04(\x94.", b"\x80\x04(((t.", b"\x80\x04\x8d" + b"\xff" * 8 + b".",
        b"\x80\x04}(K\x01(u.", b"\x80\x04\x93.", b"\x80\x04b.", b"\x80\x04e.",
    ],
)  # fmt: skip
def test_a_broken_stream_is_reported_as_one(what: bytes) -> None:
    with pytest.raises(PickleError) as found:
        read(what)

    assert found.value.fault == "broken"


@pytest.mark.parametrize("floats", [1, 2, 3, 7])
def test_floats_one_by_one_are_those_of_a_run(floats: int) -> None:
    """Opcodes that take single values from the stack find them, also where floats came in a row."""
    one = b"".join(b"G" + struct.pack(">d", n + 0.5) for n in range(floats))
    for taken, code in ((1, b"\x85"), (2, b"\x86"), (3, b"\x87")):
        if taken <= floats:
            body = b"]" * (floats == taken) + one + code + b"a"
            body = body if floats == taken else b"](" + one + code + b"e"
            values = read_pickle(io.BytesIO(b"\x80\x04" + body + b"."), ALLOWED)
            items = list(values.items(values.root))
            members = [values.number(n) for n in values.items(items[-1])]

            assert members == [n + 0.5 for n in range(floats)][-taken:]
    values = read_pickle(io.BytesIO(b"\x80\x04](" + one + b"\x94h\x00e."), ALLOWED)
    assert [values.number(n) for n in list(values.items(values.root))[-2:]] == [floats - 0.5] * 2


@pytest.mark.parametrize("most", ["DEEPEST", "MOST"])
def test_a_pickle_without_end_is_given_up(most: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pickle_opcodes, most, 50_000)
    body = b"(" * 60_000 if most == "DEEPEST" else b"]\x94" * 600_000
    path = tmp_path / "tree.pkl"
    path.write_bytes(b"\x80\x04" + body)

    assert rules(path) == ["unchecked-tree"]


def test_texts_and_vectors_stay_in_the_file(tmp_path: Path) -> None:
    nodes = {n: Node(f"{n} " + "reef " * 200, n, set(), {"EMB": [n / 7] * 3000}) for n in range(600)}
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickled(Tree(nodes, nodes, nodes, 0, {0: list(nodes.values())})))
    validate(path)  # what is imported is not counted
    del nodes
    size = path.stat().st_size

    tracemalloc.start()
    report = validate(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert report.ok
    assert size > 16 << 20
    assert peak < 6 << 20


def test_damage_of_any_kind_is_a_finding_and_never_an_error(tmp_path: Path) -> None:
    dice = random.Random(5)
    whole = [pickled(sample(VECTORS[name]), protocol) for name in VECTORS for protocol in (2, 4, 5)]
    path = tmp_path / "tree.pkl"
    for number in range(1500):
        data = bytearray(dice.choice(whole))
        for _ in range(dice.choice((1, 1, 2, 5))):
            place = dice.randrange(2, len(data))
            data[place] = dice.choice((dice.randrange(256), *b"(].Ru}bath"))
        if dice.random() < 0.2:
            del data[dice.randrange(2, len(data)) :]
        if not chosen(f"damage {number}"):
            continue
        path.write_bytes(data)

        assert "rule-crashed" not in rules(path)


@pytest.mark.parametrize("name", ["lights", "tree.pkl", "tree.pickle"])
def test_a_pickle_is_known_by_its_first_bytes(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(pickled(sample()))
    (tmp_path / "NOTES").write_text("nothing of raptor.tree_structures")
    (tmp_path / "other.pkl").write_bytes(pickle.dumps({"raptor": 1}))

    for given in (tmp_path, tmp_path / name):
        outcome = run("validate", given, "--json")
        assert [f["kind"] for d in outcome.json["datasets"] for f in d["files"]] == ["pickle"], outcome.err


def test_a_pickle_that_changes_while_it_is_read_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "tree.pkl"
    path.write_bytes(pickled(sample()) * 2)
    with path.open("rb") as file:
        file.seek(0, 2)
        os.truncate(path, 40)

        with pytest.raises(PickleError, match="ends") as found:
            read_pickle(file, ALLOWED)

    assert found.value.fault == "broken"


@needs("raptor/cinderella")
def test_the_demo_tree_is_valid_and_whole() -> None:
    report = validate(CINDERELLA)
    with CINDERELLA.open("rb") as file:
        tree = PickledTree(read_pickle(file, ALLOWED))
        nodes = [node for node in tree.nodes() if isinstance(node, TreeNode)]
        layers = {key: len(members) for key, members in tree.layers() if isinstance(members, list)}
        lengths = {(name, vector.length) for node in nodes for name, vector in node.embeddings.items()}

    assert report.findings == []
    assert (len(nodes), layers, tree.num_layers, lengths) == (40, {0: 33, 1: 7}, 1, {("OpenAI", 1536)})
    assert sorted(node.index for node in nodes) == list(range(40))
