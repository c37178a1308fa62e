"""Valid datasets that are not checked again: never one that is another now, whatever was done to it."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.outputs import file_states
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.validators import stamps
from tests.broad import ALL
from tests.command_line import DEMO, FIXTURES, GOOD, run

SMALL = sorted(
    folder
    for folder in FIXTURES.glob("*/valid/*")
    if folder.is_dir() and sum(f.stat().st_size for f in folder.rglob("*")) < 60_000
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return shutil.copytree(GOOD, tmp_path / "data")


def checked(data: Path, cache: Path, **options: Any) -> ragdatakit.Report:
    return ragdatakit.validate(data, skip_unchanged=True, cache_dir=cache, **options)


@pytest.fixture
def rested(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A file counts as at rest after 20 ms, for which the function waits."""
    monkeypatch.setattr(file_states, "REST_NS", 20_000_000)
    return lambda: time.sleep(0.025)


def test_a_valid_dataset_is_not_checked_again(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = run("validate", data, "--skip-unchanged", "--cache-dir", tmp_path / "cache")
    monkeypatch.setattr("ragdatakit.validators.dataset_run.DatasetRun.run", lambda self: pytest.fail("it is checked"))
    second = run("validate", data, "--skip-unchanged", "--cache-dir", tmp_path / "cache")
    as_json = run("validate", data, "--skip-unchanged", "--cache-dir", tmp_path / "cache", "--json").json

    assert first.out.splitlines()[-1].startswith("Valid: ")
    assert second.out.splitlines()[-1].startswith("Valid (unchanged since 2") and " UTC): " in second.out
    assert second.out.splitlines()[:-1] == first.out.splitlines()[:-1]  # with the same files and records
    assert [*as_json["unchanged"]] == [str(data)] and as_json["datasets"][0]["files"][0]["records"]
    assert sorted(p.name for p in data.parent.iterdir()) == ["cache", "data"]


def test_the_state_is_enough_where_a_file_is_at_rest(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rested: Callable[[], None]
) -> None:
    rested()
    checked(data, tmp_path / "cache")
    monkeypatch.setattr(stamps, "_digest", lambda path: pytest.fail(f"{path} is read"))

    assert checked(data, tmp_path / "cache").unchanged


def test_a_dataset_with_findings_is_always_checked(tmp_path: Path) -> None:
    shutil.copytree(DEMO, tmp_path / "broken")
    shutil.copytree(GOOD, tmp_path / "good")

    for _ in range(2):
        done = run("validate", "broken", "good", "--skip-unchanged", "--cache-dir", "cache", cwd=tmp_path)
        assert done.code == 1 and "Found 8 errors, 1 warning" in done.out
    assert "(1 dataset unchanged since 2" in done.out


def test_another_checkout_at_the_same_place_is_known_by_its_content(data: Path, tmp_path: Path) -> None:
    checked(data, tmp_path / "cache")
    shutil.rmtree(data)
    shutil.copytree(GOOD, data)

    assert checked(data, tmp_path / "cache").unchanged


@pytest.mark.parametrize(
    "options",
    [
        {"profile": "distil"},
        {"severity": "error"},
        {"ignore": "SP201"},
        {"select": "SP"},
        {"max_hops": 2},
        {"memory_limit": 1 << 29},
        {"format": "light-splade"},
        {"strict_files": True},
        {"skip_unrecognised": True},
        {"follow_links": True},
    ],
)
def test_other_options_are_another_check(data: Path, tmp_path: Path, options: dict[str, Any]) -> None:
    checked(data, tmp_path / "cache")

    assert not checked(data, tmp_path / "cache", **options).unchanged
    assert checked(data, tmp_path / "cache", max_per_rule=1, jobs=1).unchanged


def test_another_configuration_or_package_is_another_check(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked(data, tmp_path / "cache", config=True)
    (tmp_path / "ragdata.toml").write_text('ignore = ["SP208"]\n', encoding="utf-8")
    assert not checked(data, tmp_path / "cache", config=True).unchanged
    (tmp_path / "ragdata.toml").unlink()
    assert checked(data, tmp_path / "cache", config=True).unchanged

    monkeypatch.setattr("ragdatakit.api.known_findings.unchanged._package", lambda: "edited")
    assert not checked(data, tmp_path / "cache", config=True).unchanged


def test_a_stamp_that_somebody_wrote_is_none(data: Path, tmp_path: Path) -> None:
    checked(data, tmp_path / "cache")
    (stamp,) = (tmp_path / "cache/validated").iterdir()
    shutil.copy(DEMO / "train/triplets.ndjson", data / "train/triplets.ndjson")
    document = json.loads(stamp.read_text())
    for state in document["states"]:
        found = Path(state[0]).stat()
        state[1:5] = [found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino]
    stamp.write_text(json.dumps(document))

    assert not checked(data, tmp_path / "cache").ok


def test_a_file_that_changes_while_it_is_checked_gets_no_stamp(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ragdatakit.validators.dataset_run import DatasetRun

    whole = DatasetRun.run
    broken = (DEMO / "train/positive_lists.ndjson").read_bytes()

    def meanwhile(self: DatasetRun) -> None:
        whole(self)
        (data / "train/positive_lists.ndjson").write_bytes(broken)

    monkeypatch.setattr(DatasetRun, "run", meanwhile)
    assert checked(data, tmp_path / "cache").ok
    monkeypatch.setattr(DatasetRun, "run", whole)

    assert not checked(data, tmp_path / "cache").ok


def test_what_makes_it_check_everything(data: Path, tmp_path: Path) -> None:
    for _ in range(2):
        assert not checked(data, tmp_path / "quality", quality=True).unchanged
    (tmp_path / "cache").write_text("a file")
    assert checked(data, tmp_path / "cache").ok


class _Editor:
    """Random edits of the files below a folder, most of which break something or could."""

    def __init__(self, folder: Path, origin: Path, chance: random.Random) -> None:
        self.folder, self.origin, self.chance = folder, origin, chance

    def edit(self) -> str:
        name = self.chance.choice(
            ("same_size", "same_size", "append", "cut", "add", "remove", "rename", "swap", "touch", "link", "restore")
        )
        files = sorted(f for f in self.folder.rglob("*") if f.is_file())
        if not files:
            name = "restore"
        getattr(self, f"_{name}")(self.chance.choice(files) if files else self.folder)
        return name

    def _same_size(self, file: Path) -> None:
        """With the time of before: by size and time nothing was done."""
        before, data = file.stat(), bytearray(file.read_bytes())
        if data:
            data[self.chance.randrange(len(data))] = self.chance.choice(b'019aZ"{}[],: \n\\')
        if file.is_symlink():
            file.unlink()
        file.write_bytes(data)
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _append(self, file: Path) -> None:
        with file.open("ab") as stream:
            stream.write(self.chance.choice((b"\n", b"{}\n", b'{"qid": 1}\n', b"\r\n", b"x")))

    def _cut(self, file: Path) -> None:
        data = file.read_bytes()
        file.write_bytes(data[: self.chance.randrange(len(data) + 1)])

    def _add(self, file: Path) -> None:
        other = self.chance.choice(["x.ndjson", "train", "notes.txt", "qrels", "chunk.jsonl", f"copy-{file.name}"])
        place = file.parent / other
        if not place.exists():
            shutil.copy(file, place)

    def _remove(self, file: Path) -> None:
        file.unlink()

    def _rename(self, file: Path) -> None:
        file.rename(file.with_name(self.chance.choice((f"{file.name}x", file.name.upper(), "renamed.ndjson"))))

    def _swap(self, file: Path) -> None:
        """Two files change places, each with its times: an edit that no content shows, and no time."""
        other = self.chance.choice(sorted(f for f in self.folder.rglob("*") if f.is_file()))
        if other != file:
            aside = self.folder / "aside"
            file.rename(aside)
            other.rename(file)
            aside.rename(other)

    def _touch(self, file: Path) -> None:
        when = self.chance.choice((10**18, 10**18 + 5 * 10**9, time.time_ns()))
        os.utime(file, ns=(when, when))

    def _link(self, file: Path) -> None:
        other = self.chance.choice(sorted(f for f in self.folder.rglob("*") if f.is_file()))
        if other != file and not file.is_symlink():
            file.unlink()
            file.symlink_to(os.path.relpath(other, file.parent))

    def _restore(self, file: Path) -> None:
        shutil.rmtree(self.folder)
        shutil.copytree(self.origin, self.folder)


EDITS, _ROUNDS = (10_000, 10) if ALL else (12, 6)


@pytest.mark.parametrize("part", range(EDITS // _ROUNDS))
def test_never_is_a_dataset_valid_that_is_not(part: int, tmp_path: Path, rested: Callable[[], None]) -> None:
    """After each edit the answer is that of a check without stamps."""
    chance = random.Random(f"unchanged {part}")
    origin = chance.choice(SMALL)
    data = shutil.copytree(origin, tmp_path / "data")
    editor = _Editor(data, origin, chance)
    skipped = 0
    for number in range(_ROUNDS):
        done = editor.edit() if number else "nothing"
        if chance.random() < 0.2:
            rested()
        try:
            expected = ragdatakit.validate(data)
        except RagdataError:
            with pytest.raises(RagdataError):
                checked(data, tmp_path / "cache")
            editor._restore(data)
            continue
        for _ in range(2):  # the second time, it may be the same
            found = checked(data, tmp_path / "cache")
            assert (found.ok, found.counts, found.by_rule) == (expected.ok, expected.counts, expected.by_rule), done
            assert [d.as_dict() for d in found.datasets] == [d.as_dict() for d in expected.datasets], done
            skipped += bool(found.unchanged)
        if not expected.ok:
            editor._restore(data)
    assert skipped or not ragdatakit.validate(origin).ok or any(ragdatakit.validate(origin).counts.values())
