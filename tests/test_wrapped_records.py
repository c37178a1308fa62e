"""Records in an array that stands in a member of one object: read in parts of any size, with what is around them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit.files.containers.arrays import WrappedSource
from ragdatakit.files.containers.sources import Source

ROWS = [{"title": f"row {n}", "text": 'a "quoted" ] text, {' * (n % 5)} for n in range(200)]
WHOLE = {"made": {"by": ["hand"]}, "rows": ROWS, "metrics": {"mean": 0.5}, "note": "]}"}


def read(path: Path, content: str, block: int = 1 << 16) -> tuple[WrappedSource, list[object], list[str]]:
    """The source after it was read, the values of its elements, and what is wrong with them."""
    path.write_text(content)
    source = WrappedSource(Source(path, False, block), ("rows", "lines"))
    elements = [e for part in source.parts() for e in part.elements()]
    return source, [json.loads(e.raw) for e in elements if not e.error], [e.error for e in elements if e.error]


@pytest.mark.parametrize("block", [40, 1000, 1 << 16])
@pytest.mark.parametrize("indent", [None, 2])
def test_every_element_and_what_stands_around_them(block: int, indent: int | None, tmp_path: Path) -> None:
    content = json.dumps(WHOLE, indent=indent)

    source, values, errors = read(tmp_path / "whole.json", content, block)

    assert (values, errors, source.top, source.whole, source.member) == (ROWS, [], "array", True, "rows")
    around = [json.loads(f"{{{e.raw.decode()}}}") for e in source.around]
    assert around == [{name: value} for name, value in WHOLE.items() if name != "rows"]
    data = content.encode()
    assert all(data[e.byte_offset :].startswith(e.raw) for e in source.around)
    assert [data.count(b"\n", 0, e.byte_offset) + 1 for e in source.around] == [e.line for e in source.around]


@pytest.mark.parametrize(
    ("content", "top"),
    [
        ("", "nothing"),
        ("[]", "other"),
        ("{}", "other"),
        ('{"rows": null}', "other"),
        ('{"rows": {"a": 1}, "b": 2}', "other"),
        ('{"a": 1 "rows": []}', "other"),
        ('{"a": tru, "rows": []}', "other"),
        ('{"rows" []}', "other"),
        ('{"rows": []}', "empty"),
        ('{"lines": [1]}', "array"),
        ('{"rows": null, "lines": [1]}', "array"),
    ],
)
def test_what_the_top_is(content: str, top: str, tmp_path: Path) -> None:
    source, _, errors = read(tmp_path / "odd.json", content)

    assert (source.top, errors) == (top, [])


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ('{"rows": [1]', "the object is not closed"),
        ('{"rows": [1', "the array is not closed"),
        ('{"rows": [1]} {}', "data after the end of the object"),
        ('{"rows": [1] "a": 2}', "a missing comma"),
        ('{"rows": [1], 2}', "not one name with its value"),
        ('{"rows": [1], "a": }', "not one name with its value"),
        ('{"rows": [1],}', "not one name with its value"),
    ],
)
def test_what_is_wrong_behind_the_array(content: str, error: str, tmp_path: Path) -> None:
    source, values, errors = read(tmp_path / "odd.json", content)

    assert (values, errors, source.whole) == ([1], [error], False)
