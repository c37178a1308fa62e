"""A million findings: sorted through a scratch file, worded in parts, printed piece by piece, with the same result."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from functools import partial
from itertools import islice
from pathlib import Path

import orjson
import pytest

import ragdatakit
from ragdatakit.arrays.keys import NumpyIndex
from ragdatakit.arrays.text_codes import codes_of_texts
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.outputs import sorted_entries
from ragdatakit.quick_values import quick
from ragdatakit.reports.findings.json import json_pieces
from ragdatakit.reports.findings.text import TextOptions, text_lines
from ragdatakit.schemas import all_rules
from ragdatakit.schemas.findings import Excerpt, Finding, Problem, Related, Span
from ragdatakit.schemas.fixes import Edit, Fix
from ragdatakit.schemas.results import Report
from ragdatakit.validators import pending
from ragdatakit.validators.collector import _Facts, worded
from ragdatakit.validators.kept_findings import KeptFindings, Key

FIXTURES = Path(__file__).parent.parent / "fixtures"
MANY = 30_000
_MEASURED = """
import resource, sys
from ragdatakit.cli import main
try:
    main()
except SystemExit as end:
    assert end.code == 1, end.code
finally:
    print("peak", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def peak(root: Path, out: Path, form: str, most: int) -> int:
    """Megabytes that a run took at most."""
    words = ["validate", str(root), "--output-format", form, "--output-file", str(out), "--max-per-rule", str(most)]
    done = subprocess.run(
        [sys.executable, "-c", _MEASURED, *words], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stderr.rsplit(maxsplit=1)[1]) // 1024


@pytest.fixture(scope="module")
def dangling(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgements of documents that are not there, more than are checked in plain Python."""
    root = tmp_path_factory.mktemp("dangling")
    (root / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "tide times"}\n')
    (root / "queries.jsonl").write_text('{"_id": "q1", "text": "when is high tide"}\n')
    (root / "qrels").mkdir()
    rows = "".join(f"q1\tno-such-document-of-the-corpus-with-a-long-name-{i}\t1\n" for i in range(MANY))
    (root / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\td1\t1\n{rows}")
    return root


@pytest.mark.skipif(sys.platform == "win32", reason="the peak is measured as Unix tells it")
@pytest.mark.parametrize("form", ["json", *(pytest.param(f, marks=pytest.mark.broad) for f in ("text", "ndjson"))])
def test_all_findings_take_little_more_memory_than_few(dangling: Path, tmp_path: Path, form: str) -> None:
    few, out = peak(dangling, tmp_path / "few", form, 20), tmp_path / "all"
    everything = peak(dangling, out, form, 0)
    assert everything < few + 65, (few, everything)
    text = out.read_text()
    assert text.count("no-such-document-of-the-corpus-with-a-long-name-") >= MANY
    if form == "json":
        document = json.loads(text)
        lines = [finding["line"] for finding in document["findings"]]
        assert lines == list(range(3, MANY + 3))
        assert document["shown"] == document["counts"]["error"] == MANY


def finding(number: int) -> Finding:
    return Finding("BE203", "dangling", "error", f"finding {number}", "a", number, value=number)


@pytest.mark.parametrize("late", [0, 1, 500], ids=["in order", "the last comes late", "in no order"])
def test_findings_come_sorted_and_as_they_came_where_keys_are_equal(late: int) -> None:
    random.seed(7)
    keys: list[Key] = [
        (random.randrange(3), random.randrange(3), "p", random.random() < 0.5, random.randrange(5), 0, "")
        for _ in range(500)
    ]
    kept, expected = KeptFindings(in_memory=7), []
    for number, key in enumerate([*sorted(keys[late:]), *keys[:late]]):
        kept.add(key, finding(number))
        expected.append((key, number))
    expected.sort(key=lambda pair: pair[0])
    assert [f.value for f in kept] == [number for _, number in expected]
    assert list(kept) == [finding(number) for _, number in expected]
    assert [f.value for _, f in kept.entries()] == [number for _, number in expected]
    for each in islice(kept, 3):
        with pytest.raises(FrozenInstanceError):
            each.value = 1  # type: ignore[misc]  # that is what is tried
    assert kept._entries._scratch is not None
    assert kept._entries._scratch.path.exists()
    kept.close()
    assert not kept._entries._scratch.path.exists()


def broken_sets() -> list[Path]:
    return sorted(p for p in FIXTURES.glob("*/broken/*") if "duplicate" in p.name or "dangling" in p.name)


def test_every_field_of_a_finding_comes_back_from_the_scratch_file() -> None:
    plain = Finding("AR101", "a-rule", "error", "half \ud800 of one", "a.json", value=float("inf"), key="id=1")
    place = replace(plain, line=2, span=Span(3, 5), excerpt=Excerpt("a b", 1, 2), byte_columns=(4, 6), records=(7, 8))
    fix = Fix("safe", "remove it", (Edit(1, 2, "x", "line"),))
    whole = replace(place, fix=fix, fixable=True, related=(Related("b.json", 9, "first here", 8),), value=1 << 70)
    findings = [plain, place, whole, plain]
    kept = KeptFindings(in_memory=1)
    for number, finding in enumerate(findings):
        kept.add((0, 0, "", False, number, 0, ""), finding)

    for _ in range(2):
        found = list(kept)
        assert found == findings
        assert [(f.excerpt, f.byte_columns) for f in found] == [(f.excerpt, f.byte_columns) for f in findings]
    kept.close()


def test_a_message_is_worded_as_python_does() -> None:
    messages = {rule.message for rule, _ in all_rules()} | {
        "{a!r} and {value} of {b.c}",
        "{{a}} {count:,}",
        "{}",
        "{b[0]}",
    }
    problems = [
        Problem("a-rule", "/text", 5, {"a": "x\x1by", "count": 7000, "b": 1.5, "found": ["x"], "number": 2}),
        Problem("a-rule", value={"a": [1]}, facts={}),
    ]
    for message in messages:
        for problem in problems:
            assert _outcome(partial(worded, message, problem)) == _outcome(partial(message.format_map, _Facts(problem)))


def _outcome(act: Callable[[], str]) -> str:
    try:
        return act()
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        return f"{type(error).__name__} {error}"


@pytest.mark.broad
@pytest.mark.parametrize("root", broken_sets(), ids=lambda p: f"{p.parts[-3]}-{p.name}")
def test_parts_and_scratch_files_change_no_report(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = ragdatakit.validate(root, max_per_rule=0)
    monkeypatch.setattr(pending, "_PART_BYTES", 1)
    monkeypatch.setattr(pending, "_TOGETHER", 1)
    monkeypatch.setattr(sorted_entries, "_TOGETHER", 2)
    monkeypatch.setattr(KeptFindings.__init__, "__defaults__", (2,))
    in_parts = ragdatakit.validate(root, max_per_rule=0)
    assert in_parts.as_dict() == at_once.as_dict()
    assert [f.excerpt for f in in_parts.findings] == [f.excerpt for f in at_once.findings]


@pytest.mark.parametrize("number", [0, 1, 3])
def test_json_in_pieces_is_the_document(number: int) -> None:
    findings = [finding(n) for n in range(number)]
    report = Report(findings=findings, by_rule={"BE203": number}, unrecognised=['x\n"findings": []'])
    whole = orjson.dumps(report.as_dict(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    report.findings = []
    assert b"".join(json_pieces(report, iter(findings))) == whole
    report.findings = findings
    for options in (TextOptions(statistics=True), TextOptions(quiet=True), TextOptions(verbose=True)):
        inside = list(text_lines(report, options))
        assert list(text_lines(replace(report, findings=[]), options, iter(findings))) == inside


def test_similar_keys_are_looked_up_together() -> None:
    index = NumpyIndex(True, False)
    index.add(codes_of_texts(["tide", "harbour", ""]), range(3))
    index.freeze()
    assert index.are_keys(["Tide", "tide", "\ud800", "harbour"]) == [False, True, False, True]
    assert index.are_keys([]) == []


@pytest.mark.parametrize("number", [3, 200], ids=["few", "many"])
def test_values_made_quickly_are_of_the_frozen_class(number: int) -> None:
    @dataclass(frozen=True, slots=True)
    class Pair:
        first: int
        second: str

    make = quick(Pair, "make")
    for value in (make(n, "b") for n in range(number)):
        assert type(value) is Pair
    assert value == Pair(number - 1, "b")
    assert replace(value, first=1) == Pair(1, "b")
    with pytest.raises(FrozenInstanceError):
        value.first = 1
