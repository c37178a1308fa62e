"""Payloads of custom graphs: which chunks and relationships of one are taken for equal."""

from __future__ import annotations

import builtins
import json
import os
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.texts import codes
from ragdatakit.files.texts.codes import code_of_value
from ragdatakit.validators import dataset_run
from ragdatakit.validators.lightrag import payload
from tests.lightrag_cases import payload as sound

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, -0.0, 1.0, 0.5, 1e30, 10**30, int(1e30), 16, "10", 10, 1e-05, -(1 << 20000)),
    *(
        "",
        "1",
        "null;",
        '"1:a',
        "a",
        "\ud800",
        "é",
        [],
        {},
        [[]],
        [{}],
        [1, 2],
        [1.0, True + 1],
        [2, 1],
        ["a", "b"],
        ["ab"],
    ),
    *({"a": 1, "b": [2]}, {"b": [2.0], "a": True}, {"a": [2], "b": 1}, ["a", 1, "b", [2]], [[1], 2], [[1, 2]], [None]),
)


def test_values_have_one_code_where_they_are_equal() -> None:
    for one, other in product(VALUES, VALUES):
        assert (code_of_value(one) == code_of_value(other)) == (one == other), (one, other)


def test_a_value_may_be_deep() -> None:
    deep: list[Any] = []
    for _ in range(10**5):
        deep = [deep]

    assert code_of_value(deep) == code_of_value([deep[0]])
    assert code_of_value(deep) != code_of_value([deep])


def _codes(parts: dict[str, Any], place: Path) -> list[str]:
    (place / "custom_kg.json").write_text(json.dumps(sound() | parts), encoding="utf-8")
    return [f.code for f in validate(place, format="lightrag").findings if f.code in ("LR517", "LR519", "LR520")]


@pytest.mark.parametrize(
    ("one", "other", "code"),
    [
        (1, 1.0, "LR520"),
        ({"a": 1, "b": [2]}, {"b": [2.0], "a": True}, "LR520"),
        (["reef"], ["pier"], "LR519"),
        ("reef", ["reef"], "LR519"),
    ],
)
def test_equal_relationships_are_repeated_others_conflict(one: Any, other: Any, code: str, tmp_path: Path) -> None:
    relation = sound()["relationships"][0]

    assert _codes({"relationships": [relation | {"keywords": k} for k in (one, other)]}, tmp_path) == [code]


def test_chunks_without_a_text_share_no_alias_with_one(tmp_path: Path) -> None:
    chunk = sound()["chunks"][0]
    contents = ("A reef.", None, "", "", 1, "A reef.", "A reef.")

    assert _codes({"chunks": [chunk | {"content": c} for c in contents]}, tmp_path) == ["LR517"] * 3


def test_texts_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (codes, payload):
        clash = lambda value: builtins.hash(value) if str(value).endswith("\0") else 7  # noqa: E731
        monkeypatch.setattr(module, "hash", clash, raising=False)
    chunk, relation = sound()["chunks"][0], sound()["relationships"][0]
    chunks = [chunk | {"content": text} for text in ("A reef.", "A pier.")]
    relations = [relation | {"description": text} for text in ("A reef.", "A pier.")]

    assert _codes({"chunks": [*sound()["chunks"], *chunks], "relationships": relations}, tmp_path).count("LR517") == 2
    assert _codes({"relationships": relations}, tmp_path) == ["LR519"]


def test_a_part_that_is_no_list_is_named_with_what_it_should_be(tmp_path: Path) -> None:
    (tmp_path / "custom_kg.json").write_text(json.dumps(sound() | {"chunks": None}), encoding="utf-8")

    (finding,) = (f for f in validate(tmp_path, format="lightrag").findings if f.code == "LR511")

    assert finding.fault == "chunks is null"
    assert "chunks, entities and relationships as lists of objects" in finding.hint


def test_a_mark_before_a_payload_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "custom_kg.json"
    path.write_text(json.dumps(sound()), encoding="utf-8-sig")

    assert [f.code for f in validate(tmp_path).findings if f.severity == "error"] == ["LR501"]
    path.write_text(json.dumps(sound()), encoding="utf-8")
    assert "LR501" not in [f.code for f in validate(tmp_path).findings]


def _found(parts: dict[str, Any], place: Path) -> list[tuple[str, str, str]]:
    (place / "custom_kg.json").write_text(json.dumps(sound() | parts), encoding="utf-8")
    return [(f.code, f.fault, f.consequence) for f in validate(place, format="lightrag").findings]


@pytest.mark.parametrize(
    ("part", "consequence"),
    [
        ("entities", "local mode finds nothing; the modes that search texts work"),
        ("relationships", "global mode finds nothing; the modes that search entities or texts work"),
    ],
)
def test_only_what_becomes_of_the_part_that_is_missing_is_said(tmp_path: Path, part: str, consequence: str) -> None:
    assert ("LR504", f"there are no {part}", consequence) in _found({part: []}, tmp_path)


def test_a_name_in_other_capitals_is_said_once(tmp_path: Path) -> None:
    relationships = sound()["relationships"]
    name = relationships[0]["src_id"]
    relationships[0]["src_id"] = name.upper()
    undeclared = f'"{name.upper()}" is no entity of the payload (did you mean "{name}"?)'
    assert [found[:2] for found in _found({"relationships": relationships}, tmp_path)] == [("LR522", undeclared)]

    entities = sound()["entities"]
    both = {"relationships": relationships, "entities": [*entities, {**entities[0], "entity_name": name.upper()}]}
    assert [found[0] for found in _found(both, tmp_path)] == ["LR423"]


@pytest.mark.parametrize("put", [os.mkfifo, lambda path: path.symlink_to(path.name)], ids=["pipe", "link"])
def test_a_payload_that_cannot_be_opened_is_one_error(put: Callable[[Path], None], tmp_path: Path) -> None:
    put(tmp_path / "custom_kg.json")

    assert [f.code for f in validate(tmp_path, format="lightrag").findings if f.severity == "error"] == ["RD101"]


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_payload_of_nothing_is_not_json(text: str, tmp_path: Path) -> None:
    (tmp_path / "custom_kg.json").write_text(text)

    found = validate(tmp_path, format="lightrag").findings

    assert [(f.code, f.fault) for f in found if f.severity == "error"] == [
        ("LR501", "not JSON: there is nothing in it")
    ]


def test_a_payload_that_is_an_empty_array_is_json_and_no_object(tmp_path: Path) -> None:
    (tmp_path / "custom_kg.json").write_text(" []\n")

    found = validate(tmp_path, format="lightrag").findings

    assert [f.code for f in found if f.severity == "error"] == ["LR502"]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("[{}]", [("LR502", "a list of 1 value is not an object with chunks, entities and relationships")]),
        ("[{},\n{}]", [("LR502", "a list of 2 values is not an object with chunks, entities and relationships")]),
        ('[{"entity_name": "Joss Alder"}]', [
            ("LR502", "a list of 1 value is not an object with chunks, entities and relationships"),
        ]),
        ('[{"nodes": [], "chunks": []}]', [
            ("LR502", "a list of 1 value is not an object with chunks, entities and relationships"),
            ("LR503", '"nodes" is not read; expected chunks, entities and relationships'),
        ]),
        ("{}\n{}\n", [("LR501", "not JSON: there are 2 values in it, one after the other")]),
        ("\ufeff[]", [
            ("LR501", "not JSON: the file begins with a byte-order mark"),
            ("LR502", "[] is not an object with chunks, entities and relationships"),
        ]),
        ("{}\n", []),
        ("{\n}\n", []),
    ],
)  # fmt: skip
def test_a_payload_is_one_object(
    text: str, faults: list[tuple[str, str]], big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    (tmp_path / "custom_kg.json").write_text(text)

    found = validate(tmp_path, format="lightrag", severity="error").findings

    assert [(f.code, f.fault) for f in found] == faults
