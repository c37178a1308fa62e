"""The verdicts on SAGE records and files follow the page: every row of its tables, every one of its examples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.findings import Finding
from tests.sage_cases import DOCUMENTED, EXAMPLES, FILE_ROWS, OBJECT, OPERATORS, RECORD_ROWS

PAGE = (
    "A01:201 A02:202 A03:203 A04:204 A05:205 A06:206 A07:207 A08:208 A09:209 A10:210 B01:721 B02:722,723,724 "
    "D01:701 D03:702 D04:703 D05:704 D06:705 D07:706 D08:707 D09:708 D10:709 D11:710,711 F01:401 F02:402 F03:403 "
    "F04:404 F05:405 F06:406 F07:407 F08:408 F09:409 G01:612 M01:601 M02:602 M03:603 M04:604 O05:605 O06:606 "
    "O07:607 O08:608,613 O09:609 O10:610 O11:611 R01:101,102 R02:103 R03:104 R04:105 R05:106 R06:107 R07:108 "
    "R08:109,110 S01:301 S02:302 S03:303 S04:304 S05:305 S06:306 S07:307 S08:308 S09:309 S10:310 S11:311,312 "
    "S12:313 S13:314 S14:315 S15:316 S16:317 T01:501 T02:502 T03:503 T04:504,505 "
)
"""The ids of the format's page, and the numbers of the rules that stand for them."""
PAGE_IDS = {
    f"SG{n}": f"SG-{name}" for name, _, codes in (w.partition(":") for w in PAGE.split()) for n in codes.split(",")
}


def page_id(finding: Finding) -> str:
    """The page's id of a finding's rule, or the code of a shared rule."""
    return PAGE_IDS.get(finding.code, finding.code)


def findings(path: Path, profile: str) -> list[Finding]:
    return validate(path, format="sage", profile=profile, max_per_rule=0).findings


def written(folder: Path, name: str, value: Any) -> Path:
    """A record alone, over several lines, as a line, or in an array."""
    texts = {
        "record.jsonl": json.dumps(value) + "\n",
        "record.json": json.dumps(value, indent=2) + "\n",
        "records.json": f"[\n  {json.dumps(value)}\n]\n",
    }
    path = folder / name
    path.write_text(texts[name], encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["record.jsonl", "record.json", "records.json"])
@pytest.mark.parametrize(
    ("number", "value", "rule", "profile"), EXAMPLES, ids=lambda v: v if isinstance(v, int) else ""
)
def test_an_invalid_example_has_the_one_error_that_the_page_names(
    number: int, value: Any, rule: str, profile: str, name: str, tmp_path: Path
) -> None:
    found = findings(written(tmp_path, name, value), profile)

    assert [page_id(f) for f in found if f.severity == "error"] == [rule]


def test_all_examples_are_there() -> None:
    assert [number for number, *_ in EXAMPLES] == list(range(1, 21))


@pytest.mark.parametrize("name", ["record.jsonl", "record.json", "records.json"])
@pytest.mark.parametrize(
    "record", [DOCUMENTED, {"query": "Which tide follows the new moon?"}], ids=["full", "smallest"]
)
def test_the_documented_example_is_valid(record: Any, name: str, tmp_path: Path) -> None:
    found = findings(written(tmp_path, name, record), "unified")

    assert [f for f in found if f.severity != "info"] == []


def test_the_example_for_the_operators_is_valid(tmp_path: Path) -> None:
    found = findings(written(tmp_path, "record.jsonl", OPERATORS), "operators")

    # A warning by the page's own table: strings keep neither lengths nor ratio.
    assert [(page_id(f), f.severity) for f in found] == [("SG-F07", "warning")]


ROWS = [
    pytest.param(profile, rule, expected, record, id=f"{number}-{rule}-{profile}")
    for number, (rule, unified, operators, record) in enumerate(RECORD_ROWS)
    for profile, expected in (("unified", unified), ("operators", operators))
]


@pytest.mark.parametrize(("profile", "rule", "expected", "record"), ROWS)
def test_a_row_has_its_severity(profile: str, rule: str, expected: str, record: Any, tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text('{"query": "a sound record"}\n' + json.dumps(record) + "\n", encoding="utf-8")

    found = [f for f in findings(path, profile) if page_id(f) == rule]

    assert {f.severity for f in found} == ({expected} if expected else set())
    assert all(f.line == 2 for f in found)


@pytest.mark.parametrize(("rule", "expected", "name", "content"), FILE_ROWS)
def test_a_row_about_files_has_its_severity(
    rule: str, expected: str, name: str, content: bytes, tmp_path: Path
) -> None:
    if name == "mapping.json":
        (tmp_path / "documents.jsonl").write_text(OBJECT, encoding="utf-8")
    (tmp_path / name).write_bytes(content)

    found = findings(tmp_path, "unified")

    assert [(page_id(f), f.severity) for f in found] == [(rule, expected)]


@pytest.mark.parametrize(
    ("text", "rule", "profile"),
    [
        (t, r, p)
        for t, r in (('{"query": "q", "query": "q"}', "RD202"), ('{"query": "q", "input": NaN}', "RD201"))
        for p in ("unified", "operators")
    ],
)
def test_what_python_reads_and_json_is_not_is_an_error(text: str, rule: str, profile: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(f"{text}\n", encoding="utf-8")

    assert [(f.code, f.severity) for f in findings(tmp_path, profile)] == [(rule, "error")]


def test_every_id_of_the_page_has_a_rule_and_a_row() -> None:
    counts = {"R": 8, "A": 10, "S": 16, "F": 9, "T": 4, "M": 4, "D": 11, "B": 2}
    ids = {f"SG-{letter}{n:02}" for letter, last in counts.items() for n in range(1, last + 1)} - {"SG-D02"}
    ids |= {f"SG-O{n:02}" for n in range(5, 12)} | {"SG-G01"}

    assert set(PAGE_IDS.values()) == ids
    assert {rule for rule, *_ in RECORD_ROWS} | {rule for rule, *_ in FILE_ROWS if rule.startswith("SG")} == ids


def test_severities_of_rules_are_those_of_the_page() -> None:
    """A rule that a profile does not mind has no consequence there; of both profiles the worse counts."""
    rows: dict[tuple[str, str], set[str]] = {}
    for rule, unified, operators, _ in RECORD_ROWS:
        rows.setdefault((rule, "unified"), set()).add(unified)
        rows.setdefault((rule, "operators"), set()).add(operators)
    for rule in get_format("sage").rules:
        name = rule.source[:6]
        for profile in ("unified", "operators"):
            if (name, profile) in rows:
                expected = rule.severity_for((profile,)) if rule.applies((profile,)) else ""
                assert expected in rows[name, profile], rule.name


SEVERAL_FILES = {"SG119", "SG614", "SG712", "SG713", "SG731", "SG732", "SG733"}
"""Rules that take more than one file, or a file of another name, to be shown; their fixtures do."""
EXAMPLES_OF_RULES = [
    pytest.param(rule, text, text == rule.bad, id=f"{rule.code}-{'bad' if text == rule.bad else 'good'}")
    for rule in get_format("sage").rules
    for text in (rule.bad, rule.good)
    if text and rule.code not in SEVERAL_FILES
]
_NAMES = {"SG72": "results.json", "SG70": "documents.jsonl", "SG71": "documents.jsonl"}


@pytest.mark.parametrize(("rule", "text", "broken"), EXAMPLES_OF_RULES)
def test_the_examples_of_a_rule_show_it(rule: Rule, text: str, broken: bool, tmp_path: Path) -> None:
    name = _NAMES.get(rule.code[:4], "records.jsonl")
    if rule.name.startswith("mapping"):
        name = "mapping.json"
        (tmp_path / "documents.jsonl").write_text(OBJECT * 2, encoding="utf-8")
    (tmp_path / name).write_text(f"{text}\n", encoding="utf-8")
    profiles = ("unified", "operators") if isinstance(rule.upstream, str) else tuple(rule.upstream)

    place = tmp_path if name == "mapping.json" else tmp_path / name
    found = validate(place, format="sage", profile=profiles).findings

    assert (rule.name in {f.rule for f in found}) is broken
    if not broken and name != "mapping.json":
        assert [f.rule for f in found if f.severity == "error" and len(profiles) == 1] == []
