"""What is shown of a record that is at fault as a whole."""

from __future__ import annotations

import pytest

from ragdatakit.schemas.findings import Excerpt
from ragdatakit.validators.excerpts import excerpt, line_excerpt, place_of, visible

RECORD = '{\n  "_": 7,\n  "id": "q1",\n  "other": "q1"\n }'


def test_a_lone_bracket_is_shown_with_the_value_that_is_meant() -> None:
    shown = line_excerpt(RECORD, None, 0, "q1")

    assert shown.text == '{ "_": 7, "id": "q1", "other": "q1" }'
    assert shown.text[shown.start : shown.start + shown.length] == '"q1"'
    assert shown.text[: shown.start].endswith('"id": ')
    assert line_excerpt(RECORD, None, 0, None).text == shown.text
    assert line_excerpt(f'"d1": {RECORD}', 0, 4).text == '"d1": {'


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("b", '"b"'),
        ("a", '"a"'),
        (12, "12"),
        (1, None),
        (7, None),
        (True, None),
        ("é", '"\\u00e9"'),
        (None, None),
        ("c", None),
    ],
)
def test_a_value_is_found_in_json(value: object, found: str | None) -> None:
    text = '{"a": 12, "x": ["b", 123, 7, 7], "y": "\\u00e9"}'

    place = place_of(text, value, 0, len(text))

    assert found is None if place is None else text[place[0] : place[0] + place[1]] == found


@pytest.mark.parametrize(
    "line", ['{"id": 7, "text": 0}', "a # b", "a ##[b]", "tab\there", "café \u202e", "x" * 60, "y" * 61, ""]
)
def test_a_short_line_is_shown_whole(line: str) -> None:
    size = len(line)
    for start in range(-1, size + 2):
        for length in (-1, 0, 1, 5, 80):
            at = max(0, min(start, size))
            end = at + max(0, min(length, size - at))
            head, middle, tail = visible(line[:at]), visible(line[at:end]), visible(line[end:])

            shown = excerpt(line, start, length)

            if at <= 60:
                assert shown == Excerpt(head + middle + tail, len(head), len(middle)), (start, length)
