"""What LightRAG itself made of damaged directories and payloads, recorded, beside what is reported of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from ragdatakit import validate
from tests.broad import chosen
from tests.lightrag_cases import all_cases
from tests.lightrag_oracle import VERDICTS

RECORDED: dict[str, str] = json.loads(VERDICTS.read_text(encoding="utf-8"))
PARTS = 8

MEANT = (
    "payload: chunks[0].content a text",
    "payload: chunks[1].content a text",
    "payload: relationships[0].keywords a text",
)
"""What is lost here was said otherwise, and nothing is wrong with it."""


@pytest.mark.parametrize("part", range(PARTS))
def test_what_stops_or_loses_is_reported(part: int, tmp_path: Path) -> None:
    wrong = []
    for number, (name, _, put) in enumerate(all_cases()):
        if number % PARTS != part or not chosen(name):
            continue
        place = tmp_path / str(number)
        place.mkdir()
        found = Counter(f.severity for f in validate(put(place), format="lightrag").findings)
        verdict = RECORDED[name].split()[0]
        right = {"reject": found["error"], "lost": found["error"] or found["warning"] or name in MEANT}
        if not right.get(verdict, True):
            wrong.append(f"{name}: {RECORDED[name]}, {dict(found)}")

    assert not wrong, "\n".join(wrong)


def test_all_sets_have_a_verdict() -> None:
    assert {name for name, _, _ in all_cases()} == RECORDED.keys()
