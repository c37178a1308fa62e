"""Links that lead in circles or out of the dataset, paths that leave it, and names that play tricks on a terminal."""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.paths.boundary import real_path
from tests.command_line import run, spawn
from tests.hostile import codes, copy, endure, raw_controls

TRIPLETS = "train/triplets.ndjson"
NAMES = ["\x1b[31mred", "back\u202eward", "bell\x07", "line\nbreak", "return\rover", "c1\x9b31m", "joined\u200dname"]


def found(path: Path, **options: Any) -> set[tuple[str, str]]:
    return {(f.rule, Path(f.path).name) for f in validate(path, severity="warning", **options).findings}


LOOPS = [("up", ".."), ("here", "."), ("self", "self"), ("train/back", "../train")]


@pytest.mark.parametrize(("link", "target"), LOOPS)
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
    place = place.format(tmp=tmp_path)
    chunk = f'{{"text": "The moon over the pier.", "modality": "image", "image_path": "{place}"}}\n'
    with (folder / "chunks/notes.jsonl").open("a", encoding="utf-8") as file:
        file.write(chunk)

    outcome = spawn("validate", folder, seconds=20)

    assert "DM253" in outcome.out
    assert "Traceback" not in outcome.err


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
    outcome = run("validate", word)

    assert outcome.code == 2
    assert raw_controls(outcome.err) == set()
    assert len(outcome.err) < 11_000


def test_links_lead_where_python_says(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    os.mkfifo(tmp_path / "a" / "pipe")
    links = {
        "up": "..",
        "a/out": "../..",
        "a/b/loop": "loop",
        "a/b/gone": "nothing",
        "a/b/to": f"{tmp_path}/up",
        "l": "a/b",
    }
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    segments = ["a", "b", "file", "pipe", "up", "out", "loop", "gone", "to", "l", "..", "nothing", ""]

    for parts in product(segments, repeat=3):
        path = os.path.join(tmp_path, *parts)  # noqa: PTH118 - as it is written
        assert os.fspath(real_path(Path(path))) == os.path.realpath(Path(path)), parts
