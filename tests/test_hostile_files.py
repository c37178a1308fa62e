"""Hostile files and folders: bombs, loops, links, FIFOs, files that change or may not be read, strange names."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.tables import sources
from tests.command_line import FIXTURES, spawn
from tests.hostile import codes, copy, endure, raw_controls, tree

TRIPLETS = "train/triplets.ndjson"
NAMES = ["\x1b[31mred", "back\u202eward", "bell\x07", "line\nbreak", "return\rover", "c1\x9b31m", "joined\u200dname"]


def found(path: Path, **options: Any) -> set[tuple[str, str]]:
    return {(f.rule, Path(f.path).name) for f in validate(path, severity="warning", **options).findings}


def test_gzip_bomb_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BOMB_BYTES", 1 << 20)
    monkeypatch.setattr(sources, "BOMB_RATIO", 50)
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    line = b'{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}\n'
    (folder / f"{TRIPLETS}.gz").write_bytes(gzip.compress(line * 100_000))

    report = validate(folder, select=["decompression-bomb"])

    assert [(f.rule, f.line) for f in report.findings] == [("decompression-bomb", None)]
    triplets = [f for d in report.datasets for f in d.files if f.kind == "triplets"]
    assert triplets[0].bytes < 3 << 20
    endure(folder)


def test_gzip_bomb_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BOMB_BYTES", 1 << 23)
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    (folder / f"{TRIPLETS}.gz").write_bytes(gzip.compress(b"\0" * (1 << 25)))

    outcome = endure(folder, "--memory-limit", "16MiB")

    assert codes(outcome) >= {"RD106"}


def test_gzip_bomb_is_not_unpacked_to_look_at_it(tmp_path: Path) -> None:
    """Telling what a lone file is reads its beginning only."""
    (tmp_path / "notes.gz").write_bytes(gzip.compress(b" " * (1 << 27)))

    assert spawn("validate", tmp_path / "notes.gz", seconds=20).code == 2
    assert spawn("validate", tmp_path, seconds=20).code == 2


@pytest.mark.parametrize("name", ["train/query_master.ndjson", TRIPLETS, "validation/doc_master.ndjson"])
def test_empty_compressed_file(tmp_path: Path, name: str) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / name).unlink()
    (folder / f"{name}.gz").write_bytes(b"")

    assert codes(endure(folder)) == {"RD105"}


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_every_file_empty(tmp_path: Path, case: str) -> None:
    folder = copy(case, tmp_path)
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")

    endure(folder)


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_every_file_a_fifo(tmp_path: Path, case: str) -> None:
    folder = copy(case, tmp_path)
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        path.unlink()
        os.mkfifo(path)

    outcome = spawn("validate", folder, seconds=20)

    assert outcome.code in (1, 2)
    assert "Traceback" not in outcome.err
    assert "RD101" in outcome.out or outcome.code == 2


@pytest.mark.parametrize("name", ["triplets.ndjson", "chunks.json", "notes.gz", "data.yaml", "rows.sql", "SKILL.md", "x.csv"])
@pytest.mark.parametrize("words", [(), ("--format", "light-splade"), ("--format", "datamind")], ids=" ".join)
def test_lone_fifo(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / name)

    outcome = spawn("validate", tmp_path / name, *words, seconds=20)

    assert outcome.code in (1, 2)
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_device(device: str) -> None:
    assert spawn("validate", device, seconds=20).code == 2


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_folders_named_like_files(tmp_path: Path, case: str) -> None:
    folder = copy(case, tmp_path)
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        path.unlink()
        path.mkdir()

    endure(folder)


@pytest.mark.parametrize(("link", "target"), [("up", ".."), ("here", "."), ("self", "self"), ("train/back", "../train")])
def test_loops_of_links(tmp_path: Path, link: str, target: str) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / link).symlink_to(target)

    report = validate(folder)

    assert (report.findings == [], len(report.datasets)) == (True, 2)
    endure(folder)


def test_file_that_links_to_itself(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    (folder / TRIPLETS).symlink_to("triplets.ndjson")

    assert codes(endure(folder)) <= {"RD101", "RD102"}


def test_two_files_that_link_to_each_other(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    for name, other in (("triplets", "doc_master"), ("doc_master", "triplets")):
        (folder / f"train/{name}.ndjson").unlink()
        (folder / f"train/{name}.ndjson").symlink_to(f"{other}.ndjson")

    endure(folder)


def test_link_to_nothing(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    (folder / TRIPLETS).symlink_to("gone.ndjson")

    assert codes(endure(folder)) == {"RD101"}


@pytest.mark.parametrize("relative", [True, False])
def test_link_out_of_the_dataset_is_followed_when_asked(tmp_path: Path, relative: bool) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    outside = tmp_path / "outside.ndjson"
    (folder / TRIPLETS).rename(outside)
    (folder / TRIPLETS).symlink_to("../../outside.ndjson" if relative else outside)

    assert found(folder) == {("link-leaves-dataset", "triplets.ndjson")}
    assert found(folder, follow_links=True) == set()
    assert "pos_doc_id" not in endure(folder).out


def test_link_within_the_dataset_is_read(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).rename(folder / "kept.txt")
    (folder / TRIPLETS).symlink_to("../kept.txt")

    assert found(folder) == set()


def test_folder_of_shards_that_leads_out_is_not_listed(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (tmp_path / "secret").mkdir()
    (folder / TRIPLETS).rename(tmp_path / "secret" / "part-1.ndjson")
    (folder / "train/triplets").symlink_to(tmp_path / "secret")

    assert "part-1" not in endure(folder).out


@pytest.mark.parametrize("place", ["../../../outside.fifo", "{tmp}/outside.fifo", "/dev/zero", "images/moon.png"])
def test_image_path_out_of_the_profile_is_not_opened(tmp_path: Path, place: str) -> None:
    folder = copy("datamind/valid/both-loaders", tmp_path)
    os.mkfifo(tmp_path / "outside.fifo")
    (folder / "images/moon.png").unlink()
    (folder / "images/moon.png").symlink_to(tmp_path / "outside.fifo")
    chunk = f'{{"text": "The moon over the pier.", "modality": "image", "image_path": "{place.format(tmp=tmp_path)}"}}\n'
    with (folder / "chunks/notes.jsonl").open("a", encoding="utf-8") as file:
        file.write(chunk)

    outcome = spawn("validate", folder, seconds=20)

    assert "DM253" in outcome.out
    assert "Traceback" not in outcome.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_file_without_permission(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).chmod(0)

    assert found(folder) == {("unreadable-file", "triplets.ndjson")}


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_files_that_may_not_be_opened(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy(case, tmp_path)
    plain_open = os.open

    def refusing(path: Any, *rest: Any, **more: Any) -> int:
        if str(path).endswith((".ndjson", ".json", ".jsonl")):
            raise PermissionError(13, "Permission denied", str(path))
        return plain_open(path, *rest, **more)

    monkeypatch.setattr(sources.os, "open", refusing)
    report = validate(folder, severity="error")

    assert {f.rule for f in report.findings} == {"unreadable-file"}
    assert all("Permission denied" in f.message for f in report.findings)


def append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b'{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 13}\n')


def cut(path: Path) -> None:
    os.truncate(path, 20)


def touch(path: Path) -> None:
    os.utime(path, (1, 1))


@pytest.mark.parametrize("change", [append, cut, touch])
def test_file_that_changes_while_it_is_read(
    tmp_path: Path, change: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    read = sources.Source._plain_blocks

    def changing(self: sources.Source, fd: int) -> Any:
        for block in read(self, fd):
            if self.path.name == "triplets.ndjson":
                change(self.path)
            yield block

    monkeypatch.setattr(sources.Source, "_plain_blocks", changing)
    report = validate(folder, select=["unreadable-file"])

    assert [(Path(f.path).name, "changed while it was read" in f.message) for f in report.findings] == [
        ("triplets.ndjson", True)
    ]


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_files_that_vanish_before_they_are_read(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragdatakit.validators import run as run_module

    folder = copy(case, tmp_path)
    detect = run_module.detect

    def and_remove(*words: Any) -> Any:
        datasets = detect(*words)
        for path in [p for p in folder.rglob("*") if p.is_file()]:
            path.unlink()
        return datasets

    monkeypatch.setattr(run_module, "detect", and_remove)
    report = validate(folder)

    assert "unreadable-file" in {f.rule for f in report.findings}
    assert "rule-crashed" not in {f.rule for f in report.findings}


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_names_of_files_and_folders_are_made_visible(tmp_path: Path, name: str) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path).rename(tmp_path / name)
    (folder / "train/triplets").mkdir()
    (folder / TRIPLETS).rename(folder / f"train/triplets/{name}.ndjson")
    with (folder / f"train/triplets/{name}.ndjson").open("a", encoding="utf-8") as file:
        file.write("no JSON\n")
    (folder / f"{name}.csv").write_text("a,b\n", encoding="utf-8")

    outcome = endure(folder)

    assert codes(outcome) == {"SP111"}


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / "train/triplets").mkdir()
    name = os.fsdecode(b"\xff\x1b.ndjson")
    (folder / TRIPLETS).rename(folder / "train/triplets" / name)
    (folder / os.fsdecode(b"\xfe.csv")).write_text("a,b\n", encoding="utf-8")
    with (folder / "train/triplets" / name).open("a", encoding="utf-8") as file:
        file.write("no JSON\n")

    assert codes(endure(folder)) == {"SP111"}


@pytest.mark.parametrize("word", [*NAMES, "nul\0byte", os.fsdecode(b"\xff"), "a" * 10_000], ids=lambda w: ascii(w)[:20])
def test_paths_that_do_not_exist(word: str) -> None:
    from tests.command_line import run

    outcome = run("validate", word)

    assert outcome.code == 2
    assert raw_controls(outcome.err) == set()
    assert len(outcome.err) < 11_000


def test_nothing_is_written_beside_the_fixtures() -> None:
    before = tree(FIXTURES)

    spawn("validate", FIXTURES, "-q")

    assert tree(FIXTURES) == before
