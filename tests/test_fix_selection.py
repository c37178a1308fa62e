"""What is selected says what is repaired, never what is safe: a fix that another rule forbids stays forbidden."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from tests.broad import chosen, examples
from tests.command_line import run
from tests.fuzz.fixing import files_below, more_changed
from tests.fuzz.spoiling import spoil
from tests.test_fix_conditions import BEIR, GFM, LISTS, SPLADE, TREC, fix, lines, made, questions, read
from tests.test_fixes import FIXABLE
from tests.test_fixtures import Case, profiles

JUDGED = "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td2\t{}\nq1\td2\t1\nq2\td3\t1\n"
TWICE = "q1 Q0 d2 1 9 t\nq1 Q0 d2 1 {} t\nq1 Q0 d2 1 9 t\n"
PASSAGE = {"title": "Kettle Reef", "text": "Joss Alder mapped it. It lies north."}
FORBIDDEN: dict[str, tuple[str, dict[str, str], dict[str, Any]]] = {
    "BE205": (BEIR, {"judgements": JUDGED.format(2)}, {"profile": None}),
    "SP303": (SPLADE, {"positives": lines(*LISTS, LISTS[0])}, {}),
    "TR204": (TREC, {"run": TWICE.format(8)}, {}),
    "GF411": (GFM, {"questions": questions("1", 1), "training": questions("a")}, {}),
    "AR109": (
        "arag/broken/chunk-id-not-string",
        {"chunks": json.dumps([{"id": "0", "text": "The lamp was lit."}, {"id": 0, "text": "It burned oil."}])},
        {},
    ),
    "DM221": (
        "datamind/broken/source-not-string",
        {"notes": lines({"text": "a", "source": "12"}, {"text": "a", "source": 12})},
        {"profile": "v2"},
    ),
    "HR002": (
        "hipporag/broken/repeated-passage",
        {"passages": json.dumps([{**PASSAGE, "idx": 0}, {**PASSAGE, "idx": 1}, {**PASSAGE, "idx": 0}])},
        {},
    ),
    "SP121": (
        SPLADE,
        {"queries": lines({"qid": 1, "text": "x"}, {"qid": "1", "text": "y"}, {"qid": 2, "text": "z"})},
        {},
    ),
}
"""By code of a safe fix: a dataset in which something else forbids it."""


@pytest.mark.parametrize("how", ["select", "ignore", "per path", "severity", "cap"])
@pytest.mark.parametrize("code", FORBIDDEN)
def test_what_nobody_wants_to_see_forbids_a_fix(code: str, how: str, tmp_path: Path) -> None:
    fixture, files, words = FORBIDDEN[code]
    words = {name: word for name, word in words.items() if word}
    root = made(tmp_path, fixture, **files)
    codes = {finding.code for finding in ragdatakit.validate(root, max_per_rule=0, **words).findings}
    others = sorted(codes - {code}) or ["RD1"]
    settings_ = {
        "per path": f"[per-path-ignores]\n'**' = {json.dumps(others)}\n",
        "severity": "[severity]\n" + "".join(f'{other} = "info"\n' for other in others),
    }
    if how in settings_:
        (tmp_path / "ragdata.toml").write_text(settings_[how], encoding="utf-8")
        words["config"] = True
    more: dict[str, Any] = {"select": {"select": [code]}, "ignore": {"ignore": others}}.get(how, {})
    result = ragdatakit.fix(root, removed=tmp_path / "removed.ndjson", max_per_rule=int(how == "cap"), **words, **more)

    assert {name: read(root, name) for name in files} == files
    assert code not in {each for counts in result.fixed.values() for each in counts}
    assert code in {each.code for each in result.not_fixed}


@pytest.mark.parametrize("code", FORBIDDEN)
def test_what_will_be_withheld_is_not_promised(code: str, tmp_path: Path) -> None:
    fixture, files, words = FORBIDDEN[code]
    words = {name: word for name, word in words.items() if word}
    root = made(tmp_path, fixture, **files)

    before = ragdatakit.validate(root, max_per_rule=0, **words)
    some = ragdatakit.validate(root, max_per_rule=0, select=[code], **words)
    result = fix(root, **words)

    reasons = {each.reason for each in result.not_fixed if each.code == code}
    assert withheld(result.report, code) == reasons
    if not any("would lead to" in reason for reason in reasons):  # which nobody knows without a try
        assert withheld(before, code) == reasons
        assert some.unsure_fixes or withheld(some, code) == reasons
    assert not before.unsure_fixes or code == "TR204"  # beside it is TR122, of which one is shown for a file


def withheld(report: ragdatakit.Report, code: str) -> set[str]:
    """Why the safe fixes of a rule are not made; empty for those that are."""
    fixes = [(f.fix, f.fixable) for f in report.findings if f.code == code and f.fix is not None]
    assert all(fixable != bool(fix.withheld) for fix, fixable in fixes)
    return {fix.withheld for fix, _ in fixes if fix.applicability == "safe"}


def test_the_screen_says_once_why_a_fix_is_withheld(tmp_path: Path) -> None:
    root = made(tmp_path, BEIR, judgements=JUDGED.format(2))
    why = "another record contradicts it (BE204 conflicting-judgement)"

    shown = run("validate", root, "--output-format", "concise", "--ignore", "BE115").out.splitlines()
    some = run("validate", root, "--select", "BE205").out.splitlines()
    fixing = run("validate", root, "--fix")

    assert shown[-2:] == [
        "up to 1 fixable with `--fix --unsafe-fixes`",
        f"1 not fixable (BE205 duplicate-judgement): {why}",
    ]
    assert not any("[*]" in line for line in shown)
    assert some[-1] == "up to 1 fixable with `--fix`"
    assert f"not all BE205 fixed: {why}" in fixing.err and "not fixable" not in fixing.out


@pytest.mark.parametrize("case", [c for c in FIXABLE if chosen(f"{c.id} foreseen", 10)], ids=lambda c: c.id)
def test_what_is_promised_is_done(case: Case, tmp_path: Path) -> None:
    """But for what turns out to lead to another error, which nobody knows before."""
    root = tmp_path / "case"
    shutil.copytree(case.stand(tmp_path / "stand"), root, symlinks=True)
    words: dict[str, Any] = {"profile": profiles(case.args), "max_per_rule": 0}
    before = ragdatakit.validate(root / case.target, **words)
    result = ragdatakit.fix(root / case.target, **words)

    promised = {(f.path, f.code) for f in before.findings if f.fixable and f.fix and f.fix.applicability == "safe"}
    done = {(path, code) for path, codes in result.fixed.items() for code in codes}
    taken_back = {each.path for each in result.not_fixed if "would lead to" in each.reason}
    assert {path for path, _ in promised - done} <= taken_back | {path for path, _ in done}
    assert all(f.fix.applicability != "safe" for f in result.report.findings if f.fixable and f.fix is not None)


@pytest.mark.parametrize("how", [{"select": ["SG712"]}, {"ignore": ["SG101", "RD"]}, {}], ids=str)
def test_no_result_goes_while_a_document_cannot_be_read(how: dict[str, Any], tmp_path: Path) -> None:
    root = made(tmp_path, "sage/broken/unknown-document")
    documents = root / "documents.jsonl"
    documents.write_text(documents.read_text("utf-8") + '{"id": "c3", "title\n', "utf-8")
    before = (root / "records.jsonl").read_bytes()

    result = fix(root, unsafe=True, **how)

    assert (root / "records.jsonl").read_bytes() == before
    assert "SG712" in {each.code for each in result.not_fixed}


def test_the_reason_names_the_rule(tmp_path: Path) -> None:
    root = made(tmp_path, BEIR, judgements=JUDGED.format(2))

    (left,) = fix(root, select=["BE205"]).not_fixed

    assert (left.code, left.reason) == ("BE205", "another record contradicts it (BE204 conflicting-judgement)")


def test_ids_of_a_file_that_is_ignored_are_not_changed_in_the_others(tmp_path: Path) -> None:
    files = {
        "queries": lines({"qid": "1", "text": "x"}, {"qid": 2, "text": "y"}),
        "positives": lines({"qid": "1", "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}),
    }
    root = made(tmp_path, SPLADE, **files)
    (tmp_path / "ragdata.toml").write_text('[per-path-ignores]\n"**/positive_lists.ndjson" = ["SP121"]\n', "utf-8")

    result = fix(root, config=True)

    assert {name: read(root, name) for name in files} == files
    assert any("SP121 id-not-integer is not repaired in" in each.reason for each in result.not_fixed)


def test_what_is_in_a_baseline_forbids_a_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = made(tmp_path, BEIR, judgements=JUDGED.format(2))
    monkeypatch.chdir(tmp_path)
    ragdatakit.validate(root, write_baseline=True, select=["BE204"])

    fix(root, baseline="ragdata-baseline.jsonl")

    assert read(root, "judgements") == JUDGED.format(2)


def test_no_copy_goes_while_a_record_between_cannot_be_read(tmp_path: Path) -> None:
    broken = lines(LISTS[0]) + '{"qid": 1, "positive_doc_ids": [11' + "\n" + lines(LISTS[2], LISTS[0])
    root = made(tmp_path, SPLADE, positives=broken)
    result = fix(root)
    assert read(root, "positives") == broken
    assert [each.reason for each in result.not_fixed if each.code == "SP303"] == [
        "it rests on records that cannot be read yet (SP111 invalid-json)"
    ]

    mendable = broken.replace("[11\n", "[11],}\n")
    root = made(tmp_path / "b", SPLADE, positives=mendable)
    fix(root)
    assert read(root, "positives") == lines(*LISTS, LISTS[0])  # the last one counts, now as before


def test_what_a_safe_fix_mends_is_not_removed(tmp_path: Path) -> None:
    """The judgement of a document whose line has a comma too many."""
    root = made(tmp_path, BEIR)
    corpus, judgements = read(root, "corpus"), read(root, "judgements")
    (root / "corpus.jsonl").write_text(corpus.replace("}\n", ",}\n", 1), "utf-8")

    fix(root, unsafe=True, select=["BE111", "BE203"])

    assert (read(root, "corpus"), read(root, "judgements")) == (corpus, judgements)


def test_a_new_error_that_is_not_selected_takes_a_fix_back(tmp_path: Path) -> None:
    queries = lines({"qid": 1, "text": "x"})
    root = made(tmp_path, SPLADE, queries=queries, positives=lines({"qid": 99, "positive_doc_ids": [10]}))

    result = fix(root, unsafe=True, select=["SP203"])

    assert [each.reason for each in result.not_fixed] == ["it would lead to SP105 no-records"]


@given(seed=st.integers(0, 1 << 32), share=st.floats(0.1, 0.9))
@settings(max_examples=examples(60), deadline=None)
def test_a_selection_changes_nothing_that_all_rules_leave(
    seed: int, share: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("case")
    rng = Random(seed)
    fixture, files, words = FORBIDDEN[rng.choice(sorted(FORBIDDEN))]
    folder = made(place, fixture, **files)
    spoil(folder, rng)
    old = files_below(folder)
    kept = Path(shutil.copytree(folder, place / "kept"))
    words = {name: word for name, word in words.items() if word} | {"removed": place / "removed.ndjson"}
    codes = {finding.code for finding in ragdatakit.validate(kept, format=fixture.split("/")[0]).findings}
    chosen = [code for code in sorted(codes) if rng.random() < share]

    ragdatakit.fix(folder, format=fixture.split("/")[0], **words)
    whole = files_below(folder)
    ragdatakit.fix(kept, format=fixture.split("/")[0], **words, **{rng.choice(("select", "ignore")): chosen})

    assert list(more_changed(old, whole, files_below(kept))) == []
