"""Where findings are, in every unit that readers count in, and what identifies them from one run to the next.

Those of all fixtures are held by `test_fixtures.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.files.containers.positions import byte_positions
from ragdatakit.files.paths.project import path_within, project_root
from ragdatakit.schemas.findings import Finding
from tests.broad import examples
from tests.command_line import DEMO, run
from tests.finding_places import assert_one_place


def demo(folder: Path) -> Path:
    """A dataset of which a judgement of a query leads nowhere, in a line with characters of several bytes."""
    folder.mkdir(exist_ok=True)
    (folder / "corpus.jsonl").write_text('{"_id": "d1", "title": "é", "text": "tide"}\n', encoding="utf-8")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "when"}\n', encoding="utf-8")
    (folder / "qrels").mkdir(exist_ok=True)
    rows = "query-id\tcorpus-id\tscore\nq1\td1\t1\né😀\td1\t1\né😀\tdé\t1\n"
    (folder / "qrels" / "test.tsv").write_text(rows, encoding="utf-8")
    return folder


def test_columns_of_characters_and_of_bytes(tmp_path: Path) -> None:
    report = ragdatakit.validate(demo(tmp_path), select="BE203")

    found = [(f.line, f.column, f.end_column, f.byte_columns, f.value) for f in report.findings]
    assert (4, 4, 6, (8, 11), "dé") in found
    assert "query-id=é😀, corpus-id=dé" in {f.key for f in report.findings}


def test_an_element_behind_others_on_one_line(tmp_path: Path) -> None:
    record = {"id": "é", "text": "ü" * 5}
    path = tmp_path / "chunks.json"
    path.write_text(json.dumps([record, {**record, "id": 7}, record], ensure_ascii=False), encoding="utf-8")

    findings = ragdatakit.validate(path, format="arag").findings

    assert findings
    for finding in findings:
        assert_one_place(finding)


@given(st.binary(max_size=40), st.data())
@settings(max_examples=examples(300), deadline=None)
def test_bytes_before_a_character(raw: bytes, data: st.DataObject) -> None:
    """Whatever is not UTF-8: the bytes up to a character decode to the characters before it."""
    text = raw.decode("utf-8", "replace")
    places = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=3)))

    for place, at in zip(places, byte_positions(raw, text, places), strict=True):
        assert raw[:at].decode("utf-8", "replace") == text[:place]
        assert raw[at:].decode("utf-8", "replace") == text[place:]


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_fault_in_a_record_of_which_only_the_beginning_is_read(
    letter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragdatakit.validators.dataset_run.MOST_LOCATED", 100)
    path = tmp_path / "chunks.jsonl"
    path.write_text('{"id": "1", "text": "' + letter * 30 + '" x "' + letter * 90 + '"}\n', encoding="utf-8")

    (finding,) = (f for f in ragdatakit.validate(path, format="arag").findings if "JSON" in f.message)

    assert finding.span is not None
    assert path.read_bytes()[finding.span.start :].startswith(b'x "')


def copied(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    for path in DEMO.rglob("*"):
        if path.is_file():
            target = folder / path.relative_to(DEMO)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    return folder


def test_fingerprints_outlive_records_that_come_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = copied(tmp_path)
    before = {f.fingerprint: f for f in ragdatakit.validate(folder).findings}
    masters = folder / "train" / "query_master.ndjson"
    masters.write_text('{"qid": 990, "text": "new"}\n{"qid": 991, "text": "newer"}\n' + masters.read_text())

    after = {f.fingerprint: f for f in ragdatakit.validate(folder).findings}

    assert before.keys() <= after.keys()
    moved = [f for f in before.values() if f.path.endswith("train/query_master.ndjson")]
    assert moved
    assert all(after[f.fingerprint].line == (f.line or 0) + 2 for f in moved if f.line)
    keyed = [f.key for f in before.values() if f.record is not None]
    assert keyed and all(key and ("=" in key or key.startswith("#")) for key in keyed)


def test_fingerprints_are_those_of_the_project_wherever_the_run_is(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    folder = copied(tmp_path)

    from_root = run("validate", "data", "--json", cwd=tmp_path).json
    from_below = run("validate", "--json", cwd=folder).json
    absolute = run("validate", folder, "--json", cwd=folder / "train").json

    prints = [[f["fingerprint"] for f in each["findings"]] for each in (from_root, from_below, absolute)]
    assert prints[0] == prints[1] == prints[2]


def test_same_faults_are_numbered(tmp_path: Path) -> None:
    folder = demo(tmp_path)
    line = '{"_id": "d1", "title": "é", "text": "tide"}\n'
    (folder / "corpus.jsonl").write_text(line * 4, encoding="utf-8")

    prints = [f.fingerprint for f in ragdatakit.validate(folder, select="BE201").findings]
    assert len(prints) == 3 == len(set(prints))


def test_a_rule_reported_once_keeps_its_records(tmp_path: Path) -> None:
    folder = demo(tmp_path)
    extra = "".join(f'{{"_id": "x{n}", "text": "tide {n}"}}\n' for n in range(30))
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as file:
        file.write(extra)

    of_file = [f for f in ragdatakit.validate(folder).findings if f.count > 1]
    assert of_file
    for finding in of_file:
        assert len(finding.records) == min(finding.count, 20)
        assert list(finding.records) == sorted(set(finding.records))
        assert f"in {finding.count} records" in finding.message
    every = next(f for f in ragdatakit.validate(folder, max_per_rule=0).findings if f.code == of_file[0].code)
    assert len(every.records) == every.count


def test_paths_in_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI_PROJECT_DIR", raising=False)
    (tmp_path / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    assert project_root() == tmp_path / "a" / "b"
    monkeypatch.setenv("CI_PROJECT_DIR", str(tmp_path / "a"))
    assert project_root() == tmp_path / "a"
    (tmp_path / ".git").touch()  # as in a work tree
    assert project_root() == tmp_path
    (tmp_path / "a" / "link.jsonl").symlink_to(tmp_path / "a" / "b" / "real.jsonl")
    (tmp_path / "a" / "out.jsonl").symlink_to("/etc/hostname")
    assert path_within(tmp_path, "../link.jsonl") == "a/b/real.jsonl"
    assert path_within(tmp_path, "../out.jsonl") == "a/out.jsonl"
    assert path_within(tmp_path, "./x/../y.jsonl") == "a/b/y.jsonl"
    assert path_within(tmp_path / "a" / "b", "../../z.jsonl") == (tmp_path / "z.jsonl").as_posix()


def test_findings_compare_without_byte_columns() -> None:
    finding = Finding("AA101", "x", "error", "m", "p", byte_columns=(1, 2))
    assert finding == replace(finding, byte_columns=None)
