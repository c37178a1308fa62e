"""Many datasets in one run: what is settled once for all of them is what holds for each, and each file is read once."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.paths.boundary import LeadsOutError, boundary_of
from ragdatakit.schemas import get_format
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.set_plan import plan_of
from tests.command_line import FIXTURES, GOOD, run


def findings_of(path: Path, name: str, *words: str) -> list[dict[str, Any]]:
    """Without what is of the place itself."""
    found = run("validate", path, "--from", name, "--output-format", "json", *words).json["findings"]
    return [{name: value for name, value in one.items() if name != "fingerprint"} for one in found]


def copied(folder: Path, name: str) -> list[Path]:
    """Broken datasets of a format, each in a folder of its own, and the same ones again behind the others."""
    broken = sorted(path for path in (FIXTURES / name / "broken").iterdir() if (path / "data").is_dir())
    chosen = broken[:: max(len(broken) // 12, 1)] * 2
    return [Path(shutil.copytree(path / "data", folder / f"{n:02}")) for n, path in enumerate(chosen)]


FORMATS = ("light-splade", "beir", "arag", "hipporag", "graphrag", "ragchecker")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("words", [(), ("--severity", "error")], ids=["all", "errors"])
def test_datasets_of_one_format_are_checked_as_if_they_were_alone(
    tmp_path: Path, name: str, words: tuple[str, ...]
) -> None:
    words = ("--max-per-rule", "0", *words)
    alone = [finding for folder in copied(tmp_path, name) for finding in findings_of(folder, name, *words)]

    assert alone and findings_of(tmp_path, name, *words) == alone


@pytest.mark.parametrize("name", FORMATS)
def test_the_limit_of_a_rule_is_that_of_all_together(tmp_path: Path, name: str) -> None:
    copied(tmp_path, name)

    codes = [one["code"] for one in findings_of(tmp_path, name, "--max-per-rule", "2")]

    assert codes and max(map(codes.count, codes)) == 2


def test_a_plan_is_of_one_format_selection_and_profiles() -> None:
    splade, selection = get_format("light-splade"), Selection()
    plan = plan_of(splade, ("triplet",), selection, False)

    assert plan_of(splade, ("triplet",), selection, False) is plan
    assert plan_of(splade, ("distil",), selection, False) is not plan
    assert plan_of(splade, ("triplet",), selection, True) is not plan
    assert plan_of(splade, ("triplet",), Selection(), False) is not plan
    assert selection == Selection() and "plans" not in repr(selection)
    assert not pickle.loads(pickle.dumps(selection)).plans  # they stay where they were made


def test_a_small_file_is_opened_once_and_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {str(path) for path in GOOD.rglob("*.ndjson")}
    opened: list[str] = []
    read: list[int] = []
    really_open, really_read = os.open, os.pread

    def opening(path: Any, flags: int, *words: Any, **more: Any) -> int:
        opened.append(str(path))
        return really_open(path, flags, *words, **more)

    def reading(handle: int, length: int, offset: int) -> bytes:
        read.append(length)
        return really_read(handle, length, offset)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(os, "pread", reading)

    assert run("validate", GOOD).code == 0

    assert sorted(path for path in opened if path in names) == sorted(names)
    assert len(read) == len(names)


def test_a_file_that_becomes_a_link_is_read_where_it_leads_inside_only(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "a").write_text("inside")
    (tmp_path / "private").write_text("outside")
    boundary = boundary_of(tmp_path / "set")
    (tmp_path / "set" / "b").symlink_to("a")  # what was a file a moment ago
    (tmp_path / "set" / "c").symlink_to("../private")

    handle = boundary.descriptor(tmp_path / "set" / "b", plain=True)
    assert os.read(handle, 10) == b"inside"
    os.close(handle)
    with pytest.raises(LeadsOutError):
        boundary.descriptor(tmp_path / "set" / "c", plain=True)


def test_a_file_in_a_folder_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "set" / "in").mkdir(parents=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "set" / "other").symlink_to("in")
    (tmp_path / "set" / "away").symlink_to("../out")
    (tmp_path / "set" / ".git").mkdir()
    for folder in ("set/in", "out", "set/.git"):
        (tmp_path / folder / "a").write_text("a")
    boundary, led_to = boundary_of(tmp_path / "set"), dict[str, str]()
    folders = ("in", "other", "away", ".git")

    held = {name: boundary.holds_plain(str(tmp_path / "set" / name / "a"), led_to) for name in folders}

    assert held == {name: boundary.holds(tmp_path / "set" / name / "a") for name in folders}
    assert held == {"in": True, "other": True, "away": False, ".git": False}
    assert len(led_to) == 4 and boundary.holds_plain(str(tmp_path / "set" / "in" / "b"), led_to)
