"""A comparison never says that nothing differs of what it did not look at: other files, tables that cannot be read."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.paths.boundary import ANYWHERE, boundary_of
from ragdatakit.reports.diff.files import diff_dict, diff_markdown
from ragdatakit.reports.diff.text import diff_lines, metric_words, metrics_shown
from ragdatakit.reports.html.diff import diff_html
from ragdatakit.reports.other_files import compare_other_files, other_files
from ragdatakit.schemas.diffs import DatasetDiff, Metric, Side
from tests.command_line import run
from tests.test_diff import write_beir

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "4d" * 32 + "\nsize 12345\n"


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two folders that are the same: a dataset, a README, and a folder of what is of no known format."""
    for name in ("a", "b"):
        folder = write_beir(tmp_path / name)
        (folder / "README.md").write_text("About.")
        (folder / "notes").mkdir()
        (folder / "notes" / "first.bin").write_bytes(b"\0\1")
    return tmp_path / "a", tmp_path / "b"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("README.md", b"Above.", "README.md changed"),
        ("README.md", b"About. And more.", "README.md changed"),
        ("notes/first.bin", None, "notes/first.bin removed"),
        ("notes/other/second.bin", b"x", "notes/other/second.bin added"),
        ("more.jsonl", b'{"question": "what?"}\n', "more.jsonl added"),
    ],
    ids=["changed", "longer", "removed", "added", "data"],
)
def test_other_files_are_compared_by_their_bytes(
    name: str, content: bytes | None, message: str, two: tuple[Path, Path]
) -> None:
    a, b = two
    assert ragdatakit.diff(a, b).different is False
    (b / name).parent.mkdir(exist_ok=True)
    (b / name).unlink() if content is None else (b / name).write_bytes(content)

    diff = ragdatakit.diff(a, b)
    shown = run("diff", a, b)

    assert diff.different and [f"{f.path} {f.status}" for f in diff.other_files_that_differ] == [message]
    assert (shown.code, shown.err) == (1, "")
    assert shown.out.splitlines()[-1].startswith(f"Different: no record, but {message} (")
    assert "Other files (of no dataset, compared by their bytes)" in shown.out
    assert f"| {name} |" in diff_markdown(diff).decode()
    assert "Other files" in diff_html(diff).decode() and name in diff_html(diff).decode()


def test_that_other_files_are_the_same_is_said(two: tuple[Path, Path]) -> None:
    shown = run("diff", *two)
    document = run("diff", *two, "--output-format", "json").json

    assert shown.code == 0
    assert shown.out.splitlines()[-1].startswith("No record differs; 2 other files are the same (")
    assert [(f["path"], f["kind"], f["status"]) for f in document["other_files"]] == [
        ("README.md", "", "same"),
        ("notes/first.bin", "", "same"),
    ]
    assert (document["complete"], document["different"]) == (True, False)


def test_other_files_beside_records_that_differ(two: tuple[Path, Path]) -> None:
    a, b = two
    write_beir(b, {"d1": "The reef."})
    for number in range(30):
        (b / "notes" / f"{number}.bin").write_bytes(b"")

    shown = run("diff", a, b, "--no-metrics")

    assert shown.code == 1
    assert shown.out.splitlines()[-1].startswith(
        "Different: 0 added, 2 removed, 0 changed in documents; "
        "other files: notes/0.bin added, notes/1.bin added, notes/10.bin added and 27 more ("
    )
    assert "… and 10 more (--output-format json has all)" in shown.out


def test_other_files_of_several_datasets(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write_beir(tmp_path / name / "one")
        write_beir(tmp_path / name / "two")
        (tmp_path / name / "plain").mkdir()
        (tmp_path / name / "plain" / "texts.json.gz").write_bytes(gzip.compress(b"[]", mtime=0))
        (tmp_path / name / "two" / "more.txt").write_text("x")
    a, b = tmp_path / "a", tmp_path / "b"
    same = run("diff", a, b)
    (b / "plain" / "texts.json.gz").unlink()
    shown = run("diff", a, b)
    chosen = run("diff", a, b, "--dataset", "two")

    assert (same.code, shown.code, chosen.code) == (0, 1, 0)
    assert "No record of 2 datasets differs; 2 other files are the same" in same.out
    assert "No record of 2 datasets differs, but plain/texts.json.gz removed" in shown.out
    assert "No record differs; 1 other file is the same" in chosen.out
    (b / "two" / "more.txt").write_text("y")
    assert run("diff", a, b, "--dataset", "two").code == 1
    assert run("diff", a, b, "--dataset", "one").code == 0


def test_files_of_two_formats_are_reported_as_not_compared(two: tuple[Path, Path], tmp_path: Path) -> None:
    ragdatakit.convert(two[0], tmp_path / "trec", to="trec")

    shown = run("diff", two[0], tmp_path / "trec")

    assert shown.code == 0
    assert f"{two[0]}: not compared: 2 files of no dataset: README.md, notes/first.bin." in shown.out


def test_what_is_no_file_is_reported(two: tuple[Path, Path]) -> None:
    a, b = two
    (a / ".git").mkdir()
    (a / ".git" / "HEAD").write_text("x")
    (b / "linked").symlink_to(b / "notes")
    os.mkfifo(b / "pipe")
    (b / "notes" / "ragdata.json").write_text("{}")

    shown = run("diff", a, b)

    assert shown.code == 0
    assert "Not compared, as hidden files and folders of programs are not: .git." in shown.out
    assert "Not compared: linked (a link to a folder)." in shown.out
    assert "Not compared: pipe (no regular file)." in shown.out
    assert "Files of ragdata itself differ, too, which changes nothing in the data: notes/ragdata.json." in shown.out


def test_a_file_that_nobody_could_look_for_is_not_removed(two: tuple[Path, Path]) -> None:
    a, b = two
    (b / "notes").rename(b.parent / "elsewhere")
    (b / "notes").symlink_to(b.parent / "elsewhere")

    shown = run("diff", a, b)

    assert shown.code == 2
    assert "removed" not in shown.out and "? notes/first.bin" in shown.out
    assert shown.out.splitlines()[-1].startswith(f"Not all compared: notes/first.bin of {b} could not be read; nothing")
    assert shown.err == "ragdata: not everything was compared\n"
    assert run("diff", a, b, "--output-format", "json").err == (
        f"ragdata: not everything was compared: notes/first.bin of {b} could not be read\n"
    )


def test_a_folder_that_nobody_may_look_into(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may look everywhere, so the system's refusals are made here."""
    a, b = two
    look, list_folder = Path.stat, os.scandir

    def refused(path: Path, **words: Any) -> os.stat_result:
        if path.parent == b / "notes":
            raise PermissionError(13, "Permission denied", str(path))
        return look(path, **words)

    def unlisted(folder: Any) -> Any:
        if str(folder) == str(b / "notes"):
            raise PermissionError(13, "Permission denied", str(folder))
        return list_folder(folder)

    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(os, "scandir", unlisted)
    diff = ragdatakit.diff(a, b)

    assert [(f.path, f.status) for f in diff.other_files] == [("README.md", "same"), ("notes/first.bin", "unread")]
    assert "Not compared: notes (it cannot be read: Permission denied)." in diff.notes
    assert [what for _, what in diff.unread] == ["notes/first.bin"] and not diff.different


def test_a_file_of_a_dataset_by_another_name_is_none_of_the_others(tmp_path: Path) -> None:
    a = write_beir(tmp_path / "a")
    (a / "again.jsonl").symlink_to("corpus.jsonl")
    (a / "large.bin").write_bytes(b"x" * 3_000_000)
    linked = tmp_path / "linked"
    linked.symlink_to(a)

    found = other_files(
        linked, [a / "corpus.jsonl", a / "queries.jsonl", a / "qrels" / "test.tsv"], boundary_of(linked)
    )

    assert sorted(found.claimed) == ["again.jsonl", "corpus.jsonl", "qrels/test.tsv", "queries.jsonl"]
    assert list(found.others) == ["large.bin"]
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "large.bin").write_bytes(b"x" * 2_999_999 + b"y")
    files, notes = compare_other_files(found, other_files(tmp_path / "b", [], ANYWHERE))
    assert [(f.path, f.status, f.before_bytes) for f in files] == [("large.bin", "changed", 3_000_000)] and notes == []


@pytest.mark.parametrize("content", [POINTER.encode(), None], ids=["pointer", "cut-off"])
def test_a_table_that_could_not_be_read_is_not_compared(content: bytes | None, tmp_path: Path) -> None:
    a, b = write_beir(tmp_path / "a"), write_beir(tmp_path / "b")
    if content is None:
        packed = gzip.compress((a / "corpus.jsonl").read_bytes(), mtime=0)
        (a / "corpus.jsonl.gz").write_bytes(packed)
        (b / "corpus.jsonl.gz").write_bytes(packed[:20])
        (a / "corpus.jsonl").unlink()
        (b / "corpus.jsonl").unlink()
    else:
        (b / "corpus.jsonl").write_bytes(content)

    shown = run("diff", a, b, "--exit-zero")
    diff = ragdatakit.diff(b, a, metrics=False)

    assert shown.code == 2
    assert shown.err == "ragdata: not everything was compared\n"
    assert "not compared: unread after" in shown.out and "documents: rows" not in shown.out
    assert "removed" not in shown.out.split("Files")[0].splitlines()[-2] and shown.out.count("could not be read") == 2
    documents = next(table for table in diff.tables if table.name == "documents")
    assert (documents.unread, documents.before, documents.after) == (("before",), None, 3)
    assert (documents.added, diff.added, [what for _, what in diff.unread]) == (0, 0, ["documents"])
    found = diff_dict(diff)
    assert found["complete"] is False and found["tables"][0]["not_read"] == ["before"]
    for form in (diff_markdown, diff_html):
        assert b"not compared: unread before" in form(diff)


def test_what_is_missing_in_part_is_counted_and_reported(tmp_path: Path) -> None:
    documents = {f"d{n}": os.urandom(30).hex() for n in range(4000)}
    a, b = write_beir(tmp_path / "a", documents), write_beir(tmp_path / "b", documents)
    packed = gzip.compress((a / "corpus.jsonl").read_bytes(), mtime=0)
    (b / "corpus.jsonl.gz").write_bytes(packed[: len(packed) * 3 // 4])
    (b / "corpus.jsonl").unlink()

    shown = run("diff", a, b, "--no-metrics", "--max-records", 1)

    assert shown.code == 1
    assert "; what is missing there counts as removed" in shown.out
    assert shown.out.count("could not be read whole") == 1


def metrics(*numbers: tuple[str, float, float]) -> DatasetDiff:
    diff = DatasetDiff(Side("a", "a", "beir"), Side("b", "b", "beir"))
    diff.metrics = [Metric(name, name, a, b, "missing" in name) for name, a, b in numbers]
    return diff


def test_numbers_that_move_together_are_one() -> None:
    text = "documents.text"
    diff = metrics(
        (f"{text}.tokens.mean", 1, 2),
        (f"{text}.tokens.maximum", 1, 9),
        (f"{text}.characters.p50", 4, 8),
        (f"{text}.characters.mean", 5, 9),
        (f"{text}.characters[train].mean", 5, 50),
        ("qrels.grade=1", 0.5, 0.4),
        ("qrels.grade=0", 0.5, 0.9),
        ("qrels.per_question.maximum", 3, 4),
        ("documents.rows", 100_000, 100_001),
    )

    shown, rest = metrics_shown(diff)

    assert [m.name for m in shown] == [
        "documents.rows",
        f"{text}.characters.mean",
        "qrels.grade=0",
        "qrels.per_question.maximum",
    ]
    assert rest == 5
    many, rest = metrics_shown(metrics(*((f"{n}.x", 1, 2) for n in range(40))))
    assert (len(many), rest) == (10, 30)


def test_numbers_that_look_the_same_are_left_out_everywhere() -> None:
    diff = metrics(
        ("a.text.characters.mean", 150.601, 150.602), ("b.missing", 0.0009, 0.0001), ("c.missing", 0.51, 0.512)
    )

    page, text, markdown = diff_html(diff).decode(), "\n".join(diff_lines(diff)), diff_markdown(diff).decode()

    for each in (page, text, markdown):
        assert "150.6" not in each and "1 more" in each
    assert [metric_words(m) for m in diff.metrics[1:]] == ["0.09% → 0.01%", "51.00% → 51.20%"]


@pytest.mark.parametrize(
    ("patterns", "left", "message"),
    [
        (["README.md"], ["notes/first.bin"], "Left out by --exclude README.md: README.md."),
        (["*.bin"], ["README.md"], "Left out by --exclude *.bin: notes/first.bin."),
        (["notes"], ["README.md"], "Left out by --exclude notes: notes/first.bin."),
        (["notes/"], ["README.md"], "Left out by --exclude notes/: notes/first.bin."),
        (["notes/*"], ["README.md"], "Left out by --exclude notes/*: notes/first.bin."),
        (["first.bin", "*.md"], [], "Left out by --exclude first.bin: notes/first.bin."),
        (
            ["other/*"],
            ["README.md", "notes/first.bin"],
            "--exclude other/*: there is no such file next to the datasets.",
        ),
        (["queries.jsonl"], ["README.md", "notes/first.bin"], "--exclude queries.jsonl: there is no such file next to"),
    ],
)
def test_files_are_left_out(two: tuple[Path, Path], patterns: list[str], left: list[str], message: str) -> None:
    (two[1] / "README.md").write_text("Above.")
    (two[1] / "notes" / "first.bin").write_bytes(b"other")

    diff = ragdatakit.diff(*two, exclude=patterns)
    shown = run("diff", *two, *(word for pattern in patterns for word in ("--exclude", pattern)))

    assert [f.path for f in diff.other_files_that_differ] == left
    assert (shown.code, diff.different) == ((1, True) if left else (0, False))
    assert message in " ".join(shown.out.split())
