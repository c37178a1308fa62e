"""Where a value stands in a record: long records are looked through once, however many values are to be found; lines
are shown around it."""

from __future__ import annotations

import json

import pytest

from ragdatakit.files.containers import strict_json
from ragdatakit.reports.findings.text import TextOptions, text_lines
from ragdatakit.reports.terminal import width_of
from ragdatakit.schemas.findings import Excerpt, Finding
from ragdatakit.schemas.results import Report

NAMES = [f"n{number}" for number in range(3000)]
LONG = json.dumps({"other": [1, 2], "docs": [{"id": name, "text": "é" * 20, "at": [name, {}]} for name in NAMES]})
DOUBLED = '{"a": 1, "x": "' + "y" * 70_000 + '", "a": [5, "last"]}'
BROKEN = LONG[:-2] + ", nothing ]}"


def value_at(text: str, pointer: str) -> object:
    place = strict_json.locate(text, pointer)
    return None if place is None else json.loads(text[place[0] : sum(place)])


@pytest.mark.parametrize("text", [LONG, BROKEN], ids=["sound", "broken"])
def test_values_of_a_long_record(text: str) -> None:
    assert value_at(text, "/docs/2999/id") == "n2999"
    assert value_at(text, "/docs/17/at/0") == "n17"
    assert value_at(text, "/other/1") == 2
    assert value_at(text, "/docs/3001") is None
    assert value_at(text, "/nobody/0") is None


def test_the_last_of_repeated_names_is_meant() -> None:
    assert value_at(DOUBLED, "/a/1") == "last"
    assert value_at(DOUBLED, "/a") == [5, "last"]


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": 2}',
        '{"b": "a", "c": ["a", "b"], "a": {"b": 1, "a": "x"}, "d": 3}',
        '{"a": 1, "\\u0061": 2, "b": 3}',
        '{"a": "\\"b\\": 1", "b" : 2}',
        '{"x\\"a": 1, "b": 2}',
        '{"c": {"b": 1}, "d": [{"a": 2}]}',
        '{"c": [{"a": 1}], "b": {"a": 2}, "a": [3, "a"]}',
        '{"b": {"c": 1}, "a": 2}',
        '  {"a":1,"a":2,"b":{"b":{"b":1},"b":2}} ',
    ],
)
@pytest.mark.parametrize("pointer", ["/a", "/b", "/c", "/a/b", "/b/b", "/b/a", "/d/0/a", "/c/1", "/e"])
def test_values_are_found_as_token_by_token(text: str, pointer: str) -> None:
    place = strict_json.locate(text, pointer)
    found = strict_json.resolve(json.loads(text), pointer)
    assert (None if place is None else json.loads(text[place[0] : sum(place)])) == found
    assert strict_json.locate(text, pointer) == place == strict_json._walk(text, pointer.split("/")[1:]) or "\\" in text


def test_a_long_record_is_looked_through_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = []
    scan = strict_json.elements
    monkeypatch.setattr(strict_json, "elements", lambda text, at: looked.append(at) or scan(text, at))
    text = LONG.replace("other", "others")

    assert [value_at(text, f"/docs/{number}/id") for number in range(300)] == NAMES[:300]
    assert len(looked) == 1


def test_more_parts_than_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strict_json, "_MOST_KEPT", 50)
    text = LONG.replace("other", "rest")

    assert [value_at(text, f"/docs/{number}/id") for number in (0, 2999, 40)] == ["n0", "n2999", "n40"]
    assert [value_at(text, f"/docs/{number}/at/0") for number in range(40)] == NAMES[:40]
    assert value_at(text, "/rest/0") == 1


def test_lines_of_data_are_cut_to_the_terminal() -> None:
    marked = Excerpt("雨" * 60 + "hier" * 20 + "雪" * 60, 60, 80)
    finding = Finding("QU203", "x", "warning", "told", "a.jsonl", line=12, column=3, excerpt=marked)
    report = Report([], [finding], {"error": 0, "warning": 1, "info": 0}, {"QU203": 1})

    lines = "\n".join(text_lines(report, TextOptions(width=80))).split("\n")
    (shown, marks) = [line for line in lines if " | " in line]

    assert max(width_of(line) for line in (shown, marks)) <= 80
    assert width_of(shown[: shown.index("hier")]) == marks.index("^")
    assert "雨" * 60 in "\n".join(text_lines(report, TextOptions()))
