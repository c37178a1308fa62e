"""Long records: lists that stay text are as Python's own reader would give them, and take little memory."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragdatakit.files.containers import long_json, strict_json
from ragdatakit.files.containers.long_json import LongList, decode_long
from tests.command_line import run


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """What counts as long is short."""
    monkeypatch.setattr(long_json, "_LONG_PART", 64)
    monkeypatch.setattr(long_json, "ARRAY_PART_BYTES", 256)
    monkeypatch.setattr(long_json, "LONG", 256)


def _values(seed: int) -> Iterator[object]:
    dice = random.Random(seed)

    def one(depth: int) -> object:
        kind = dice.randrange(8 if depth < 4 else 5)
        if kind < 5:
            return (dice.randrange(-9, 10**9), dice.random(), 'a "ü", \\ [', None, True)[kind]
        if kind < 7:
            return [one(depth + 1) for _ in range(dice.randrange(40))]
        return {f"k{i}": one(depth + 1) for i in range(dice.randrange(20))}

    for _ in range(60):
        yield {"first": [one(2) for _ in range(dice.randrange(200))], "second": one(1), "third": [one(3)] * 30}


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("indent", [None, 1])
def test_a_long_value_is_what_python_reads(indent: int | None) -> None:
    for value in _values(7):
        text = json.dumps(value, indent=indent)
        decoded, alike = decode_long(text.encode())
        assert not decoded.error
        assert alike
        assert decoded.value == value
        assert value == decoded.value


def test_a_long_list_is_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_json, "_LONG_PART", 64)
    monkeypatch.setattr(long_json, "ARRAY_PART_BYTES", 256)
    numbers = list(range(1000))
    found = decode_long(json.dumps(numbers).encode())[0].value
    assert isinstance(found, LongList)
    assert isinstance(found, list)
    assert (len(found), list(found), tuple(found), set(found)) == (1000, numbers, tuple(numbers), set(numbers))
    assert (found[0], found[-1], found[500], found[998:], found[::300]) == (0, 999, 500, [998, 999], numbers[::300])
    assert (found[::-1], list(reversed(found)), sorted(found)) == (numbers[::-1], numbers[::-1], numbers)
    assert 999 in found
    assert "x" not in found
    assert found == numbers
    assert numbers == found
    assert found != numbers[:-1]
    with pytest.raises(IndexError):
        found[1000]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "odd",
    ['{"a": 1, "a": 2}', "NaN", "1e999", '"\\ud800"', str(2**60)],
    ids=["repeated", "non-finite", "overflow", "surrogate", "large"],
)
def test_what_readers_see_differently_is_seen_in_a_long_list(odd: str) -> None:
    text = f'{{"ids": [{", ".join(f"[{i}]" for i in range(300))}, [0, {odd}], 7]}}'
    decoded, alike = decode_long(text.encode())
    expected = strict_json.decode(text)
    assert not alike
    for name in ("repeated", "non_finite", "overflow", "surrogates", "large"):
        assert getattr(decoded, name) == getattr(expected, name)
    assert repr(decoded.value["ids"][300]) == repr(expected.value["ids"][300])


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    "text",
    [
        '{"ids": [%s, 1 2]}',
        '{"ids": [%s, ]}',
        '{"ids": [%s], }',
        '{"ids": [%s] "b": 1}',
        '{"ids": [%s], b: 1}',
        '{"ids": [%s], "b" 1}',
        '{"ids": [%s], "b": nul}',
        '{"ids": [%s], "b": }',
        '{"ids": [%s], "b": [1}',
        '{"ids": [%s, "x}',
        '{"ids": [%s]} 1',
        '[%s, {"a": 1,}]',
        '{"ids": [%s], "b": [[%s], tru]}',
        "{%s",
        "[%s",
    ],
)
def test_what_is_not_json_is_no_value(text: str) -> None:
    text = text.replace("%s", ", ".join(map(str, range(300))))
    decoded, alike = decode_long(text.encode())
    assert (decoded.value, alike) == (None, False)
    assert decoded.error
    assert 0 <= decoded.position <= len(text)


def test_a_list_of_ten_thousand_faults_is_counted_and_shown_in_part(tmp_path: Path) -> None:
    nodes = [{"index": 0, "layer": 0, "text": "a", "children": []}]
    tree = {"num_layers": 0, "nodes": nodes, "roots": ["x"] * 10_000}
    (tmp_path / "tree.json").write_text(json.dumps(tree))
    done = run("validate", str(tmp_path), "--output-format", "json")
    report = done.json
    assert (done.code, report["counts"]["error"], len(report["findings"])) == (1, 10_000, 20)


_PAIRS = '{"query": "q", "answer": "a", "golden_doc_uuids": [], "golden_documents": %s, "golden_chunk_uuids": [%s]}\n'
_DOCUMENTS = '[{"uuid": "u1", "content": "x", "chunks": [{"doc_uuid": "u1", "index": 0, "content": "x"}]}]'


@pytest.mark.parametrize("most", [long_json.LONG, 1 << 12])
def test_long_and_short_records_get_the_same_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    from ragdatakit.files.containers import record_forms

    monkeypatch.setattr(record_forms, "LONG", most)
    monkeypatch.setattr(long_json, "_LONG_PART", 1 << 10)
    monkeypatch.setattr(long_json, "ARRAY_PART_BYTES", 1 << 10)
    pairs = ", ".join([f'["u1", {i % 400}]' for i in range(500)] + ['["u1"]', '["u1", -1]', '["u1", 0.0]'])
    (tmp_path / "evaluation_set.jsonl").write_text(_PAIRS % (_DOCUMENTS, pairs))
    nodes = [{"index": i, "layer": 0, "text": f"t{i}", "children": []} for i in range(300)]
    nodes.append({"index": 300, "layer": 1, "text": "s", "children": [*range(280), "x", 7, 900]})
    (tmp_path / "tree.json").write_text(json.dumps({"num_layers": 1, "nodes": nodes, "roots": [300]}))
    found = {}
    for name in ("evaluation_set.jsonl", "tree.json"):
        done = run("validate", str(tmp_path / name), "--output-format", "json", "--statistics")
        report = done.json
        found[name] = (report["counts"], sorted((f["code"], f["pointer"]) for f in report["findings"]))
    assert found["evaluation_set.jsonl"][0] == {"error": 401, "warning": 102, "info": 0}
    assert found["tree.json"][0]["error"] == 2
