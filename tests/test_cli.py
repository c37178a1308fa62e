"""`ragdata validate` as typed: exit codes, suggestions, what each option does to the output."""

from __future__ import annotations

import os
import shutil
import stat
from collections import Counter
from pathlib import Path

import pytest

from ragdatakit.validators.collector import Collector
from tests.command_line import DEMO, FIXTURES, GOOD, run, spawn

LIGHT_SPLADE = FIXTURES / "light-splade" / "broken"
WARNED = LIGHT_SPLADE / "duplicate-text" / "data"


def codes(*words: str | Path) -> list[str]:
    return [f["code"] for f in run("validate", *words, "--output-format", "json").json["findings"]]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("validate", GOOD), 0),
        (("validate", WARNED), 0),
        (("validate", DEMO), 1),
        (("validate", GOOD, DEMO), 1),
        (("validate", DEMO, "--exit-zero"), 0),
        (("validate", DEMO, "--ignore", "SP"), 0),
        (("validate", DEMO, "--select", "SP311"), 0),
        (("validate", FIXTURES / "nowhere"), 2),
        (("validate", FIXTURES / "nowhere", "--exit-zero"), 2),
        (("validate", LIGHT_SPLADE.parents[2] / "pyproject.toml"), 2),
        (("validate", GOOD, "--max-per-rule", "-1"), 2),
        (("validate", GOOD, "--memory-limit", "much"), 2),
        (("validate", GOOD, "--memory-limit", "1"), 2),
        (("validate", GOOD, "--profile", "v1"), 2),
        (("--version",), 0),
        (("--help",), 0),
        (("validate", "-h"), 0),
        ((), 2),
    ],
    ids=lambda value: " ".join(Path(w).name for w in value) if isinstance(value, tuple) else str(value),
)
def test_exit_code(words: tuple[str | Path, ...], code: int) -> None:
    outcome = run(*words)

    assert outcome.code == code
    assert ("Traceback" in outcome.err, bool(outcome.err)) == (False, code == 2)


def test_a_process_of_its_own_ends_alike() -> None:
    good, broken, impossible = spawn("validate", GOOD), spawn("validate", DEMO), spawn("validate", "nowhere")

    assert (good.code, broken.code, impossible.code) == (0, 1, 2)
    assert (good.err, broken.err, impossible.out) == ("", "", "")
    assert impossible.err == "ragdata: no such file or folder: nowhere\n"


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("valdate", GOOD), "validate"),
        (("validate", GOOD, "--format", "light-splad"), "light-splade"),
        (("validate", GOOD, "--format", "DataMind"), "datamind"),
        (("validate", GOOD, "--profile", "triplt"), "triplet"),
        (("validate", GOOD, "--select", "dangling-qd"), "dangling-qid"),
        (("validate", GOOD, "--ignore", "SP20,SP92"), "SP"),
        (("validate", GOOD, "--selct", "SP"), "--select"),
        (("explain", "dangling-qidd"), "dangling-qid"),
        (("explain", "SP291"), "SP201"),
        (("schema", "light-splade", "triplts"), "triplets"),
        (("schema", "arga"), "arag"),
        (("formats", "datmind"), "datamind"),
        (("rules", "--format", "datmind"), "datamind"),
        (("init", "datmind", "nowhere"), "datamind"),
    ],
    ids=lambda value: " ".join(Path(w).name for w in value) if isinstance(value, tuple) else str(value),
)
def test_did_you_mean(words: tuple[str | Path, ...], suggestion: str) -> None:
    outcome = run(*words)

    errors = outcome.err.lower().partition("did you mean")[2]
    assert outcome.code == 2
    assert suggestion.lower() in errors


def test_nothing_recognised_says_what_was_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing\n", encoding="utf-8")

    outcome = run("validate", tmp_path)

    assert outcome.code == 2
    assert all(word in outcome.err for word in ("no dataset recognised", "--from", "ragdata formats"))


def test_unrecognised_files_are_named(tmp_path: Path) -> None:
    run("init", "light-splade", tmp_path / "set")
    for number in range(5):
        (tmp_path / f"other-{number}.csv").write_text("a,b\n", encoding="utf-8")

    short, long = run("validate", tmp_path), run("validate", tmp_path, "-v")
    listed = run("validate", tmp_path, "--output-format", "json").json["unrecognised"]

    assert "other-0.csv" in short.out and "other-4.csv" not in short.out and "2 more" in short.out
    assert all(f"other-{number}.csv" in long.out for number in range(5))
    assert len(listed) == 5


def test_select_takes_codes_prefixes_and_names() -> None:
    assert codes(DEMO, "--select", "SP201") == ["SP201"]
    assert codes(DEMO, "--select", "dangling-qid") == ["SP201"]
    assert codes(DEMO, "--select", "sp201") == ["SP201"]
    assert set(codes(DEMO, "--select", "SP2")) == {"SP201", "SP204", "SP207"}
    assert set(codes(DEMO, "--select", "SP201,SP302")) == {"SP201", "SP302"}
    assert set(codes(DEMO, "--select", "SP201", "--select", "SP302")) == {"SP201", "SP302"}
    assert set(codes(DEMO, "--select", "SP2", "--ignore", "dangling-qid")) == {"SP204", "SP207"}


def test_ignore_takes_them_from_the_counts() -> None:
    report = run("validate", DEMO, "--ignore", "SP1,SP2", "--output-format", "json").json

    assert Counter(report["by_rule"]) == Counter({"SP302": 1, "SP311": 1})
    assert report["counts"] == {"error": 1, "warning": 1, "info": 0}


def test_severity_is_the_least_that_is_reported(tmp_path: Path) -> None:
    folder = LIGHT_SPLADE / "unreferenced-document" / "data"

    assert codes(folder) == []
    assert codes(folder, "--severity", "info") == ["SP209"]
    assert codes(folder, "-v") == ["SP209"]
    assert codes(folder, "-v", "--severity", "error") == []
    assert "SP311" in codes(DEMO) and "SP311" not in codes(DEMO, "--severity", "error")


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """A dataset with fifty triplets of unknown queries and two blank lines."""
    run("init", "light-splade", tmp_path / "set")
    lines = "".join(f'{{"qid": {number}, "pos_doc_id": 10, "neg_doc_id": 12}}\n' for number in range(100, 150))
    with (tmp_path / "set/train/triplets.ndjson").open("a", encoding="utf-8") as file:
        file.write(f"\n{lines}\n")
    return tmp_path / "set"


@pytest.mark.parametrize(("words", "shown"), [((), 20), (("--max-per-rule", "3"), 3), (("--max-per-rule", "0"), 50)])
def test_max_per_rule_caps_what_is_shown_but_no_count(many: Path, words: tuple[str, ...], shown: int) -> None:
    report = run("validate", many, *words, "--output-format", "json").json
    screen = run("validate", many, *words).out

    assert Counter(f["code"] for f in report["findings"]) == {"SP201": shown, "SP112": 2}
    assert (report["counts"]["error"], report["by_rule"], report["shown"]) == (52, {"SP112": 2, "SP201": 50}, shown + 2)
    assert (f"and {50 - shown} more of SP201" in screen) == (shown < 50)
    assert "Found 52 errors" in screen


def test_max_per_rule_counts_over_all_paths(many: Path) -> None:
    report = run("validate", many, DEMO, "--max-per-rule", "1", "--output-format", "json").json

    assert Counter(f["code"] for f in report["findings"])["SP201"] == 1
    assert report["by_rule"]["SP201"] == 51


def test_statistics_count_by_rule(many: Path) -> None:
    lines = run("validate", many, DEMO, "--statistics", "--max-per-rule", "1").out.splitlines()

    counted = [line for line in lines if line[:10].strip().isdigit() and line[12:14] == "SP"]
    assert "        51  SP201  error   dangling-qid" in counted and any(" warning " in line for line in counted)
    assert {line[19:26].rstrip() for line in counted} == {"error", "warning"}


def test_statistics_say_of_how_many_records_findings_of_files_are(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "trec" / "valid" / "collection", tmp_path / "data")
    documents = folder / "documents.trec"
    text = documents.read_text("utf-8")
    documents.write_text(text.replace("<docno>d", "<docno>x"), "utf-8")

    lines = run("validate", folder, "--statistics", "--select", "TR209").out.splitlines()
    each = run("validate", folder, "--statistics", "--select", "TR209", "--each-record").out.splitlines()

    (line,) = (line for line in lines if "TR209  warning" in line)
    (number,) = (int(line.split()[0]) for line in each if "TR209  warning" in line)
    assert line == f"         2  TR209  warning unknown-docno (in {number} records)" and number > 2


def test_counts_of_records_are_below_each_other(tmp_path: Path) -> None:
    source = FIXTURES / "beir" / "valid" / "splits"
    for words in (("validate", source), ("convert", "--to", "trec", "--dry-run", source, tmp_path / "out")):
        listed = [line for line in run(*words).out.splitlines() if " record" in line and " B" in line]
        assert len(listed) == 4 and len({line.rindex(" record") for line in listed if "Valid" not in line}) == 1


def test_quiet_is_one_line() -> None:
    outcome = run("validate", DEMO, "-q")

    assert len(outcome.out.splitlines()) == 1
    assert outcome.out.startswith("Found 8 errors, 1 warning")


def test_quiet_counts_without_making_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    monkeypatch.setattr(Collector, "_make", lambda *given: made.append(1))

    assert run("validate", DEMO, "-q").out.startswith("Found 8 errors, 1 warning")
    assert not made
    for more in (("--statistics",), ("--report", f"json={tmp_path / 'found.json'}"), ("--output-format", "json")):
        made.clear()
        run("validate", DEMO, "-q", *more)
        assert made, more


def test_verbose_tells_files_and_every_hint(many: Path) -> None:
    short, long = run("validate", many).out, run("validate", many, "-v").out

    hint = "→ add the query to query_master"
    assert (short.count(hint), long.count(hint)) == (1, 20)
    assert "query_master.ndjson" in long


def test_json_lines_are_the_document() -> None:
    document = run("validate", DEMO, "--output-format", "json").json
    lines = run("validate", DEMO, "--output-format", "ndjson").lines

    by_type = Counter(line.pop("type") for line in lines)
    assert by_type == {"finding": 9, "dataset": 2, "summary": 1}
    assert lines[:9] == document["findings"]
    assert lines[9:11] == document["datasets"]
    assert lines[11]["counts"] == document["counts"]


def test_output_file_holds_what_the_screen_would(tmp_path: Path) -> None:
    target = tmp_path / "report.json"

    outcome = run("validate", DEMO, "--output-format", "json", "--output-file", target)

    assert (outcome.code, outcome.out) == (1, "")
    assert target.read_text(encoding="utf-8") == run("validate", DEMO, "--output-format", "json").out
    assert [p.name for p in tmp_path.iterdir()] == ["report.json"]


def test_output_file_has_no_colour(tmp_path: Path) -> None:
    run("validate", DEMO, "--output-file", tmp_path / "report.txt", terminal=True)

    assert "\x1b" not in (tmp_path / "report.txt").read_text(encoding="utf-8")


def test_output_file_is_whole_or_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "report.txt"
    target.write_text("old", encoding="utf-8")

    def full_disk(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    outcome = run("validate", DEMO, "--output-file", target)

    assert (outcome.code, "no space left" in outcome.err) == (2, True)
    assert (target.read_text(encoding="utf-8"), len(list(tmp_path.iterdir()))) == ("old", 1)


def test_output_file_in_no_folder_is_refused_at_once(tmp_path: Path) -> None:
    outcome = run("validate", DEMO, "--output-file", tmp_path / "nowhere" / "report.txt")

    assert (outcome.code, outcome.out) == (2, "")
    assert "no folder" in outcome.err
    assert not (tmp_path / "nowhere").exists()


def test_output_file_that_is_no_regular_file_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        outcome = spawn("validate", DEMO, "-q", "--output-file", pipe)
        written = os.read(reader, 1 << 16)
    finally:
        os.close(reader)

    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert (outcome.code, written.startswith(b"Found 8 errors")) == (1, True)


def test_permissions_of_an_output_file_follow_the_umask(tmp_path: Path) -> None:
    run("validate", DEMO, "--output-file", tmp_path / "new.txt")
    (tmp_path / "old.txt").touch(mode=0o600)
    run("validate", DEMO, "--output-file", tmp_path / "old.txt")

    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o666 & ~mask
    assert stat.S_IMODE((tmp_path / "old.txt").stat().st_mode) == 0o600


def test_each_hint_is_shown_where_it_is_another(tmp_path: Path) -> None:
    """Of two fields that are missing each is told what is meant for it."""
    shutil.copytree(FIXTURES / "raptor" / "valid" / "json", tmp_path / "tree")
    tree = tmp_path / "tree" / "tree.json"
    tree.write_text(tree.read_text().replace('"text"', '"txt"', 2).replace('"children": [0', '"childs": [0'))

    out = run("validate", tmp_path).out

    assert out.count("→ rename txt to text\n") == 1
    assert out.count("→ rename childs to children\n") == 1
