"""A folder with the name of a file that the format opens is an error of that file: it is not passed over."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.command_line import FIXTURES, run

CASES = [
    ("trec/valid/collection", "documents.trec"),
    ("trec/valid/collection", "topics.xml"),
    ("trec/valid/collection", "qrels.txt"),
    ("sage/valid/dumps", "generator_data_1761523200.json"),
    ("beir/valid/folder", "corpus.jsonl"),
]


@pytest.mark.parametrize(("source", "name"), CASES)
def test_folder_in_place_of_a_file(source: str, name: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / source, folder)
    (folder / name).unlink()
    (folder / name).mkdir()

    done = run("validate", folder, "--json")

    assert done.code == 1
    assert {f["code"] for f in done.json["findings"] if f["path"].endswith(name)} == {"RD101"}


def test_folder_with_the_name_of_a_file_that_need_not_be_there_is_not_checked(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / "hipporag/valid/2wiki", folder)
    (folder / "2wiki_reefs.json").unlink()
    (folder / "2wiki_reefs.json").mkdir()

    done = run("validate", folder)
    strict = run("validate", folder, "--strict-files")

    assert "not checked" in done.out
    assert strict.code == 1


def test_a_link_to_itself_is_refused_as_a_source(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to("loop")

    for source in (loop, loop / "in"):
        done = run("convert", source, tmp_path / "out", "--to", "trec")

        assert done.code == 2
        assert "failed on its own" not in done.err
