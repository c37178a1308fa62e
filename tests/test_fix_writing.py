"""What `--fix` writes: whole files or none, whatever stops it; and what it does not write."""

from __future__ import annotations

import errno
import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.fixes import difference, staged_files
from ragdatakit.fixes.applying import PlainFile
from ragdatakit.fixes.difference import Difference
from ragdatakit.outputs.sorted_entries import SortedEntries
from tests.broad import some
from tests.command_line import DEMO, FIXTURES, GOOD, files_below, run
from tests.fuzz.faults_of_writing import Trouble
from tests.fuzz.writing import state

posix = pytest.mark.skipif(os.name != "posix", reason="no such signals")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A dataset with faults of both kinds in several files."""
    shutil.copytree(DEMO, tmp_path / "data")
    return tmp_path / "data"


def fix_words(data: Path) -> list[str]:
    return ["validate", str(data), "--fix", "--unsafe-fixes", "--removed", str(data.parent / "removed.ndjson")]


def test_the_demo_is_repaired(data: Path) -> None:
    old = files_below(data)
    outcome = run(*fix_words(data), "--show-fixes")

    assert outcome.code == 1  # a text that is null: nobody knows what it should be
    assert "fixed 10 places in 4 files" in outcome.err
    assert "1 × SP121 id-not-integer" in outcome.err
    assert "what was removed (7 pieces) is in" in outcome.err
    new = files_below(data)
    assert new.keys() == old.keys()
    assert sum(new[name] != old[name] for name in new) == 4
    assert b'{"qid": 3, "text": "museum opening hours"}' in new["train/query_master.ndjson"]
    removed = [json.loads(line) for line in (data.parent / "removed.ndjson").read_text().splitlines()]
    assert {entry["rule"] for entry in removed} == {"SP201", "SP203", "SP204", "SP207", "SP302", "SP311"}
    assert {entry["line"] for entry in removed if entry["rule"] == "SP302"} == {3}


@posix
def test_what_is_removed_goes_through_no_link(data: Path) -> None:
    (data.parent / "mine").write_text("mine\n")
    (data.parent / "removed.ndjson").symlink_to(data.parent / "mine")
    old = files_below(data)

    outcome = run(*fix_words(data))

    assert outcome.code == 2
    assert "removed.ndjson is a link, and nothing is written through links" in outcome.err
    assert (data.parent / "mine").read_text() == "mine\n"
    assert files_below(data) == old


def test_exit_codes(data: Path) -> None:
    assert run("validate", data, "--diff").code == 1
    assert run("validate", data, "--fix-only", "--exit-non-zero-on-fix").code == 1
    assert run("validate", data, "--fix-only", "--exit-non-zero-on-fix").code == 0
    assert run("validate", data, "--fix").code == 1
    assert run("validate", GOOD, "--diff").code == 0
    assert run("validate", data, "--show-fixes").code == 2
    assert run("validate", data, "--diff", "--fix-only").code == 2


def test_a_diff_writes_nothing_and_says_what_would_change(data: Path) -> None:
    old = files_below(data.parent)
    (data / "train").chmod(0o500)

    outcome = run("validate", data, "--diff", "--unsafe-fixes")

    (data / "train").chmod(0o700)
    assert files_below(data.parent) == old
    assert "would fix 10 places in 4 files" in outcome.err
    hunks = dict(re.findall(r"\+\+\+ (.*)\n((?:[ @+-].*\n)+?)(?=---|\Z)", outcome.out))
    run(*fix_words(data))
    assert len(hunks) == 4
    for name, text in hunks.items():
        lines = old[Path(name).relative_to(data.parent).as_posix()].decode().splitlines(keepends=True)
        assert "".join(applied(lines, text.splitlines())) == Path(name).read_text()


def test_what_is_fixable_is_marked_and_counted(data: Path) -> None:
    outcome = run("validate", data)

    assert "3:9 SP121 error [*] " in outcome.out
    assert outcome.out.endswith("\n3 fixable with `--fix`, 5 more with `--unsafe-fixes`\n")
    assert run("validate", data, "--unsafe-fixes").out.endswith("\n8 fixable with `--fix`\n")
    assert "fixable" not in run("validate", GOOD).out
    found = {f["code"]: f for f in run("validate", data, "--output-format", "json").json["findings"]}
    assert found["SP121"]["fixable"] is True
    (edit,) = found["SP121"]["fix"]["edits"]
    raw = (data / "train/query_master.ndjson").read_bytes()
    assert (raw[edit["start"] : edit["end"]], edit["text"]) == (b'"3"', "3")
    assert found["SP123"]["fix"] is None


def test_compressed_files(tmp_path: Path) -> None:
    shutil.copytree(GOOD, tmp_path / "data")
    plain = tmp_path / "data/train/query_master.ndjson"
    packed = plain.with_name(plain.name + ".gz")
    packed.write_bytes(gzip.compress(b"\n" + plain.read_bytes()))
    packed.chmod(0o640)
    expected = plain.read_bytes()
    plain.unlink()

    assert ragdatakit.fix(tmp_path / "data").number == 1

    assert gzip.decompress(packed.read_bytes()) == expected
    assert packed.read_bytes()[4:8] == bytes(4)
    assert packed.stat().st_mode & 0o777 == 0o640


def test_a_file_that_cannot_be_unpacked_is_left_alone(data: Path) -> None:
    """And no id changes in the others, as it may have some of them."""
    file = data / "train/triplets.ndjson"
    packed = file.with_name(f"{file.name}.gz")
    cut = gzip.compress(b'\n{"qid": "1", "pos_doc_id": 10, "neg_doc_id": 12}\n' + file.read_bytes() * 50)[:-40]
    packed.write_bytes(cut)
    file.unlink()
    old = files_below(data)

    result = ragdatakit.fix(data)

    assert packed.read_bytes() == cut
    assert {(Path(each.path).name, each.reason) for each in result.not_fixed if not each.code} == {
        (packed.name, "it cannot be unpacked as a whole")
    }
    assert files_below(data)["train/query_master.ndjson"] == old["train/query_master.ndjson"]
    assert {code for counts in result.fixed.values() for code in counts} == {"SP112"}


def test_two_runs_at_once(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    expected = tmp_path_factory.mktemp("expected") / "data"
    shutil.copytree(data, expected)
    run("validate", expected, "--fix-only")
    words = [sys.executable, "-m", "ragdatakit", "validate", str(data), "--fix-only"]
    both = [subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL) for _ in range(2)]

    said = [process.communicate()[1].decode() for process in both]

    assert [process.returncode for process in both] == [0, 0], said
    assert files_below(data) == files_below(expected)


def test_datasets_that_share_a_file(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was done to it for one of them is what the other one finds."""
    monkeypatch.chdir(data.parent)
    kinds = {"query_master": "query_master", "doc_master": "doc_master", "positives": "positive_lists"}
    lists = data / "train/positive_lists.ndjson"
    shutil.copy(lists, data / "train/others.ndjson")
    for name, its in (("one", "positive_lists"), ("two", "others")):
        config = data.parent / "config" / "data" / f"{name}.yaml"
        config.parent.mkdir(parents=True, exist_ok=True)
        files = kinds | {"positives": its, "triplets": "triplets"}
        config.write_text("".join(f"train_{key}: data/train/{file}.ndjson\n" for key, file in files.items()), "utf-8")

    outcome = run("validate", "config/data/one.yaml", "config/data/two.yaml", "--fix", "--show-fixes")

    assert "2 × SP112" not in outcome.err
    assert outcome.err.count("SP112") == 2
    assert outcome.err.count("SP121") == outcome.err.count("SP111") == 1
    assert (
        run("validate", "config/data/one.yaml", "config/data/two.yaml", "--fix-only").err == "ragdata: nothing to fix\n"
    )


def test_nothing_is_written_through_links(data: Path) -> None:
    file = data / "train/query_master.ndjson"
    real = file.rename(data / "train/real")
    file.symlink_to("real")
    old = real.read_bytes()

    outcome = run("validate", data, "--fix")

    assert real.read_bytes() == old
    assert file.is_symlink()
    assert "query_master.ndjson was left as it is: the file is a link" in outcome.err


def test_a_file_that_may_only_be_read_is_left_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder lets us put another one in its place, but nobody asked for that."""
    file = data / "train/positive_lists.ndjson"
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != file and allowed(path, mode))
    old = file.read_bytes()

    outcome = run("validate", data, "--fix")

    assert file.read_bytes() == old
    assert "positive_lists.ndjson was left as it is: the file is read-only" in outcome.err


def test_a_configuration_has_nothing_written_outside_of_the_project(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The configuration of a stranger's repository may name any file."""
    old = files_below(data)
    kinds = ("query_master", "doc_master", "positive_lists", "triplets")
    config = data.parent / "project" / "config" / "data" / "harbour.yaml"
    config.parent.mkdir(parents=True)
    lines = [f"train_{kind.replace('_lists', 's')}: ../data/train/{kind}.ndjson\n" for kind in kinds]
    config.write_text("".join(lines), "utf-8")
    monkeypatch.chdir(data.parent / "project")

    outcome = run("validate", "config/data/harbour.yaml", "--fix")

    assert outcome.code == 1
    assert "train/query_master.ndjson was left as it is: the file is outside of the project" in outcome.err
    assert files_below(data) == old


def test_a_hard_link_keeps_its_old_content(data: Path) -> None:
    file = data / "train/query_master.ndjson"
    other = data.parent / "other"
    other.hardlink_to(file)
    old = file.read_bytes()

    run("validate", data, "--fix")

    assert other.read_bytes() == old != file.read_bytes()


def test_a_file_that_changes_meanwhile_is_left_alone(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = data / "train/query_master.ndjson"
    prepare = staged_files._prepare

    def change(version: Path, own: Path) -> None:
        prepare(version, own)
        if own == file:
            own.write_bytes(own.read_bytes() + b'{"qid": 8, "text": "new"}\n')

    monkeypatch.setattr(staged_files, "_prepare", change)
    old = files_below(data)

    result = ragdatakit.fix(data)

    assert not result.changed
    assert any("the file changed while it was read" in left.reason for left in result.not_fixed)
    new = files_below(data)
    assert [name for name in new if new[name] != old[name]] == ["train/query_master.ndjson"]


def test_any_call_that_fails_leaves_all_as_it_was(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = tmp_path_factory.mktemp("kept") / "data"
    shutil.copytree(data, kept)
    old = files_below(data.parent)
    trouble = Trouble(data.parent)
    with trouble.patches():
        assert run(*fix_words(data)).code == 1
    new = files_below(data.parent)
    assert new != old

    for nth in some(trouble.count, 4, "calls of fix"):
        shutil.rmtree(data)
        shutil.copytree(kept, data)
        (data.parent / "removed.ndjson").unlink(missing_ok=True)
        failing = Trouble(data.parent, nth + 1, errno.ENOSPC)
        with failing.patches():
            outcome = run(*fix_words(data))
        there = files_below(data.parent)
        assert there in (old, new), failing.what
        assert outcome.code == (1 if there == new else 2), (failing.what, outcome.err)
        assert "Traceback" not in outcome.err


_FIX = """
import os, signal, sys
from pathlib import Path
import ragdatakit
calls = 0
def counted(function):
    def call(*given, **words):
        global calls
        calls += 1
        if calls == int(sys.argv[2]):
            os.kill(os.getpid(), signal.SIGKILL)
        return function(*given, **words)
    return call
for name in ("replace", "link", "fsync", "mkdir", "rename"):
    setattr(os, name, counted(getattr(os, name)))
ragdatakit.fix(sys.argv[1], unsafe=True, removed=Path(sys.argv[1]).with_name("removed.ndjson"))
"""


@posix
def test_a_kill_leaves_old_or_new_files_and_no_litter(data: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    kept = tmp_path_factory.mktemp("kept") / "data"
    shutil.copytree(data, kept)
    old = files_below(data)
    ragdatakit.fix(data, unsafe=True, removed=data.parent / "removed.ndjson")
    new = files_below(data)
    killed = 0
    for nth in (3, 8, 12, 14):
        shutil.rmtree(data)
        shutil.copytree(kept, data)
        done = subprocess.run([sys.executable, "-c", _FIX, str(data), str(nth)], capture_output=True, check=False)
        killed += done.returncode == -signal.SIGKILL
        until = time.monotonic() + 10
        while len(state(data)) > len(old) + 2 and time.monotonic() < until:
            time.sleep(0.05)
        there = files_below(data)
        assert there.keys() == old.keys()
        assert all(there[name] in (old[name], new[name]) for name in there)
    assert killed == 4


def test_a_fix_that_leads_to_another_error_is_taken_back(tmp_path: Path) -> None:
    """The one list of a split goes, and a file without records would be another error."""
    shutil.copytree(GOOD, tmp_path / "data")
    file = tmp_path / "data/validation/positive_lists.ndjson"
    file.write_text('{"qid": 99, "positive_doc_ids": [10]}\n')
    (tmp_path / "data/validation/query_master.ndjson").write_text('{"qid": 98, "text": "tide times"}\n')

    result = ragdatakit.fix(tmp_path / "data", unsafe=True, removed=tmp_path / "removed.ndjson")

    reasons = {Path(left.path).name: left.reason for left in result.not_fixed}
    assert reasons["positive_lists.ndjson"] == "it would lead to SP105 no-records"
    assert file.read_text() == '{"qid": 99, "positive_doc_ids": [10]}\n'


def test_capped_findings_are_fixed_all(tmp_path: Path) -> None:
    shutil.copytree(GOOD, tmp_path / "data")
    file = tmp_path / "data/train/query_master.ndjson"
    lines = [f'{{"qid": "{n}", "text": "query {n}"}}\n\n' for n in range(1000, 1300)]
    file.write_text(file.read_text() + "".join(lines))

    result = ragdatakit.fix(tmp_path / "data", max_per_rule=2, select=["SP1"])

    assert result.fixed[str(file)] == {"SP121": 300, "SP112": 300}
    assert repr(result) == "<FixResult: 600 findings in 1 file>"
    assert result.report.ok


def test_many_changes_are_sorted_through_a_scratch_file() -> None:
    entries = SortedEntries[tuple[int], int](7)
    for number in range(100):
        entries.add((-number,), number)

    assert [number for _, number in entries] == list(range(99, -1, -1))
    entries.close()


@pytest.mark.parametrize("block", [64, 1 << 20])
def test_a_diff_of_any_file_can_be_applied(block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(difference, "_BLOCK", block)
    old = [f"line\t{n}\n" for n in range(1, 2000)]
    new = old.copy()
    new[0] = "first\n"
    del new[1500:1503]
    new[700:701] = ["seven hundred\n", "and one\n"]
    new[-1] = "the end"
    a, b = tmp_path / "a", tmp_path / "b"
    a.write_text("".join(old))
    b.write_text("".join(new))

    lines = list(Difference(a, b, "file", 0).lines())

    assert applied(old, lines[2:]) == new
    assert sum(line.startswith("@@") for line in lines) == 4
    assert len(list(Difference(a, b, "file", 2).lines())) < len(lines)
    assert len(list(Difference(a, a, "file", 0).lines())) == 2


def applied(old: list[str], diff: list[str]) -> list[str]:
    """What a unified diff makes of lines."""
    new: list[str] = []
    at = 0
    for line in diff:
        if hunk := re.match(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@", line):
            start = int(hunk[1]) - (hunk[2] != "0")
            new += old[at:start]
            at = start
            assert len(new) == int(hunk[3]) - (hunk[4] != "0")
        elif line.startswith("\\"):
            new[-1] = new[-1].removesuffix("\n")
        elif line[0] == "+":
            new.append(line[1:] + "\n")
        else:
            assert old[at] == line[1:] + "\n"
            new += [old[at]] if line[0] == " " else []
            at += 1
    return new + old[at:]


@pytest.mark.parametrize("works", ["always", "once", "never"])
def test_long_parts_are_copied_as_they_are(works: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the system cannot do it from file to file, or stops."""
    data = bytes(range(256)) * (3 << 12)
    (tmp_path / "before").write_bytes(data)
    times = iter({"always": [True] * 99, "once": [True, False], "never": [False]}[works])

    def sendfile(to: int, source: int, at: int, number: int) -> int:
        if not next(times):
            raise OSError(errno.EINVAL, "not here")
        return os.write(to, os.pread(source, min(number, 1 << 20), at))

    monkeypatch.setattr(os, "sendfile", sendfile, raising=False)
    source = PlainFile(tmp_path / "before")
    with (tmp_path / "after").open("xb") as target:
        target.write(b"head")
        source.copy(10, len(data) - 5, target)
        target.write(b"tail")
    source.close()

    assert (tmp_path / "after").read_bytes() == b"head" + data[10:-5] + b"tail"


def test_new_lines_end_as_those_of_the_file(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "set")
    qrels, queries = folder / "qrels" / "test.tsv", folder / "queries.jsonl"
    qrels.write_bytes(b"q1\td1\t1\r\nq2\td3\t1\r\n")
    queries.write_bytes(b'{"_id": "q1", "text": "a"}{"_id": "q2", "text": "b"}\r\n')

    assert run("validate", folder, "--fix").code == 0

    assert qrels.read_bytes() == b"query-id\tcorpus-id\tscore\r\nq1\td1\t1\r\nq2\td3\t1\r\n"
    assert queries.read_bytes() == b'{"_id": "q1", "text": "a"}\r\n{"_id": "q2", "text": "b"}\r\n'


def test_line_ends_are_found_in_gzip_files_that_are_none_or_cut_off(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "set")
    (folder / "qrels" / "test.tsv").unlink()
    data = b"q1\td1\t1\r\nq2\td3\t1\r\n"

    for held in data, gzip.compress(data)[:-9]:
        (folder / "qrels" / "test.tsv.gz").write_bytes(held)
        codes = re.findall("BE121|RD112", run("validate", folder).out)

        assert codes == ["BE121"]


def test_what_is_fixable_and_what_was_fixed_count_the_same(tmp_path: Path) -> None:
    """A finding that is about several records of a file is repaired in each."""
    data = shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "data")
    (data / "corpus.jsonl").write_text("".join(f'{{"_id": "d{n}", "text": "pears"}}\n' for n in range(1, 13)))

    before = run("validate", data, "--select", "BE118")
    after = run("validate", data, "--select", "BE118", "--fix")

    assert before.out.endswith("\n12 fixable with `--fix`\n")
    assert "fixed 12 places in 1 file" in after.err
