"""Values that the scanner keeps of fields, beside what Python's JSON reader makes of the same lines."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from ragdatakit.converters.kept_rows import objects_of
from ragdatakit.database.columns import texts_of
from ragdatakit.scanner.blocks import REST, BlockScanner, KeptValues
from ragdatakit.scanner.library import library
from ragdatakit.scanner.notes import BLANK
from ragdatakit.scanner.relations import Parts
from ragdatakit.scanner.views import offsets_of
from ragdatakit.schemas.declarations import Field, Record

pytestmark = pytest.mark.skipif(library() is None, reason="no compiled scanner")

RECORD = Record(
    name="kept",
    title="",
    description="",
    fields=(
        Field("id: integer"),
        Field("text: string"),
        Field("title?: string | null"),
        Field("more?: object | null"),
        Field("score?: number | null"),
        Field("names?: string[]"),
    ),
    extra="forbid",
)
NAMES = [f.name for f in RECORD.fields]
PIECES = [
    '"',
    "\\",
    "\\n",
    "\\u00e9",
    "\\ud83d\\ude00",
    "é",
    "漢",
    "{",
    "}",
    ",",
    ":",
    "null",
    "1.5",
    " ",
    "\t",
    "\x00",
]


def line(chance: random.Random) -> str:
    text = chance.choice(["", "plain", "caf\\u00e9 \\ud83d\\ude00", "“é” 漢字", 'a \\"quoted\\" word\\n'])
    parts = [f'"id": {chance.choice([0, 7, -12, 123456])}', f'"text": "{text}"']
    parts += chance.sample(
        [
            '"title": null',
            f'"title": "{text}"',
            '"more": {"a": [1, {"b": null}]}',
            '"more": {}',
            '"score": -0.25',
            f'"names": ["a", "{text}"]',
            '"names": []',
        ],
        chance.randint(0, 2),
    )
    chance.shuffle(parts)
    whole = "{" + ", ".join(parts) + "}"
    if chance.random() < 0.2:
        place = chance.randrange(len(whole))
        whole = whole[:place] + chance.choice(PIECES) + whole[place + chance.randint(0, 2) :]
    return whole


def value(kept: KeptValues, row: int) -> str | None:
    if row in kept.missing.tolist():
        return None
    return kept.data[kept.offsets[row] : kept.offsets[row + 1]].decode()


@pytest.mark.parametrize("portable", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_kept_values_are_what_the_lines_say(seed: int, portable: bool) -> None:
    chance = random.Random(seed)
    lines = [line(chance) for _ in range(400)]
    scanner = BlockScanner(RECORD, {}, portable=portable, kept=NAMES)
    scanned = scanner.scan("".join(f"{one}\n" for one in lines).encode())

    assert scanned is not None
    refused = {note[2] for note in scanned.notes}
    rows = [note[1] for note in scanned.notes if note[0] != BLANK]
    proved = [one for number, one in enumerate(lines) if number not in refused]
    places = [row for row in range(scanned.rows) if row not in set(rows)]
    assert len(places) == len(proved) > 200
    for row, one in zip(places, proved, strict=True):
        found = json.loads(one)
        for name in ("text", "title"):
            assert value(scanned.kept[name], row) == found.get(name)
        for name in ("id", "more", "score", "names"):
            given = value(scanned.kept[name], row)
            assert (None if given is None else json.loads(given)) == found.get(name)
    for row in rows:
        assert all(value(scanned.kept[name], row) is None for name in NAMES)


def test_booleans_in_lists_have_codes_by_their_rows() -> None:
    record = Record(name="r", title="", description="", fields=(Field("items: object[]"),))
    scanner = BlockScanner(record, {"is": "items/is"}, [Parts("items", (Field("is: boolean"),))])
    marks = [[True, False], [], None, [False], [True]]
    lines = [json.dumps({"items": [{"is": one} for one in own] if own is not None else [{}]}) for own in marks]

    scanned = scanner.scan("".join(f"{line}\n" for line in lines).encode())

    assert scanned is not None
    assert [note[1] for note in scanned.notes] == [2]
    found = scanned.columns["is"]
    assert (found.codes.tolist(), found.owners.tolist()) == ([1, 0, 0, 1], [0, 0, 3, 4])


def test_one_line_is_as_good_as_many_to_elements_that_are_noted() -> None:
    elements = [json.dumps({"text": n}) for n in range(3)]
    scanner = BlockScanner(RECORD, {})
    for between, lines in ((", ", [0, 0, 0]), (",\n\n", [0, 2, 4])):
        scanned, _ = scanner.scan_elements(between.join(elements).encode(), members=False)
        assert [note[2] for note in scanned.notes] == lines


def is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@pytest.mark.parametrize("portable", [False, True])
def test_members_that_are_not_declared_are_kept_as_an_object(portable: bool) -> None:
    chance = random.Random(9)
    lines = [one for one in (line(chance) for _ in range(200)) if is_json(one)]
    lines[5:5] = ['{"new": 1, "id": "of another type", "text": ""}', '{"id": 1, "text": "", "more": {"a": [], "b": 1}}']
    more = Field("more?: object", values="any")
    fields = (*RECORD.fields[:2], more, Field(name=REST, type="string", required=False))
    parts = Parts("more", (Field("a?: array"),), closed=True)
    names = (REST, "more/a")
    scanner = BlockScanner(
        replace(RECORD, fields=fields, extra="allow"), {}, [parts], portable=portable, kept=names, facts="text"
    )
    scanned, done = scanner.scan_elements(",".join(lines).encode(), members=False)

    data = ",".join(lines).encode()
    assert (scanned.rows, done, scanned.facts is not None) == (len(lines), len(data), True)
    noted = {note[1] for note in scanned.notes}
    assert {5, 6} <= noted
    assert len(noted) < len(lines) // 4
    for row in set(range(scanned.rows)) - noted:
        found = json.loads(lines[row])
        rest = {name: one for name, one in found.items() if name not in ("id", "text", "more")}
        kept, own = (value(scanned.kept[name], row) for name in names)
        assert (kept and json.loads(kept)) == (rest or None)
        assert (own and json.loads(own)) == found.get("more", {}).get("a")
    assert all(value(scanned.kept[name], row) is None for name in names for row in noted)


@pytest.mark.parametrize(
    ("values", "members"),
    [
        (["{}", "{}", ""], {}),
        (["", ""], {}),
        (['{"a":1}', "{}"], None),
        (['{"a":1}', "{", "{", "{", "{", "{"], None),
        (['{"a":{}}', "{}"], None),
        (["{}", "{"], None),
    ],
)
def test_of_objects_without_members_it_is_known(values: list[str], members: dict[str, int] | None) -> None:
    raw = [value.encode() for value in values]
    missing = np.flatnonzero([not value for value in raw])
    kept = KeptValues(b"".join(raw), offsets_of(np.array([*map(len, raw)])), missing)
    counted = np.array([value.endswith(b"}") for value in raw])

    column = objects_of(kept, counted)

    assert column.members == members
    data, offsets = texts_of(column)
    texts = [data[start:end].tobytes().decode() for start, end in pairwise(offsets.tolist())]
    assert [text for text, is_counted in zip(texts, counted, strict=True) if is_counted] == [
        value for value in values if value.endswith("}")
    ]
