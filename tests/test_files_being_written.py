"""Folders that another program writes to while they are read: a finding or a clear error, never a crash."""

from __future__ import annotations

import importlib
import os
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest

from ragdatakit import validate
from ragdatakit.converters import run as conversion
from ragdatakit.files.paths.boundary import Boundary
from tests.broad import ALL, some
from tests.command_line import FIXTURES, run

FOLDERS = {
    "graphrag": "graphrag/valid/parquet",
    "graphrag csv": "graphrag/valid/csv",
    "lightrag": "lightrag/valid/ingested",
    "nano-graphrag": "lightrag/valid/nano-graphrag",
    "raptor": "raptor/valid/pickle",
    "raptor json": "raptor/valid/json",
    "contextual-retrieval": "contextual-retrieval/valid/with-contexts",
    "ragchecker": "ragchecker/valid/outputs",
}
COMMANDS = ("validate", "report", "query", "convert", "index", "eval", "diff")
PLACES = (1, 3, 8, 20)
"""From which opening of a file on all files change."""


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.write(path.read_bytes()[-40:])


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def empty(path: Path) -> None:
    os.truncate(path, 0)


def remove(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    other = path.with_name(path.name + ".tmp")
    other.write_bytes(path.read_bytes()[:-30])
    other.replace(path)


CHANGES: tuple[Callable[[Path], None], ...] = (grow, cut, empty, remove, replace)


class Writer:
    """Changes each file that is opened from the ``at``-th opening on, once; before the opening, or after it."""

    def __init__(self, folder: Path, change: Callable[[Path], None], at: int, after: bool) -> None:
        self.folder, self.change, self.at, self.after = folder, change, at, after
        self.opened = 0
        self.changed: set[Path] = set()

    def see(self, path: Path) -> None:
        self.opened += 1
        inside = self.folder in path.parents and path.is_file()
        if inside and self.opened >= self.at and path not in self.changed:
            self.changed.add(path)
            self.change(path)


def opened_through(writer: Writer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writer see every opening."""
    open_file = Boundary.descriptor

    def descriptor(self: Boundary, path: Path | str, plain: bool = False) -> int:
        if not writer.after:
            writer.see(Path(path))
        handle = open_file(self, path, plain)
        if writer.after:
            writer.see(Path(path))
        return handle

    monkeypatch.setattr(Boundary, "descriptor", descriptor)


def words(command: str, folder: Path, place: Path) -> list[str | Path]:
    """The words of a command about a folder."""
    if command == "convert":
        return [command, "--to", "beir", folder, place / "there"]
    further = {"query": ["select 1"], "diff": [FIXTURES / "lightrag" / "valid" / "ingested"]}
    return [command, folder, *further.get(command, [])]


CASES = list(product(COMMANDS, CHANGES, PLACES, (False, True)))


@pytest.mark.broad(2)
@pytest.mark.parametrize("name", FOLDERS)
def test_no_command_crashes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    wrong = []
    for number in some(len(CASES), 1 if ALL else 160, name):
        command, change, at, after = CASES[number]
        place = tmp_path / str(number)
        shutil.copytree(FIXTURES / FOLDERS[name], place / "data")
        with monkeypatch.context() as patch:
            opened_through(Writer(place / "data", change, at, after), patch)
            done = run(*words(command, place / "data", place))
        said = done.out + done.err
        if done.code not in (0, 1, 2) or "Traceback" in said or "RD112" in said:
            wrong.append(f"{command}, {change.__name__} from opening {at} on, {after=}: {done.code}\n{said[-800:]}")
    assert wrong == []


@pytest.mark.broad(3)
@pytest.mark.parametrize("name", FOLDERS)
def test_a_file_that_is_cut_while_it_is_read_is_not_valid(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "data"
    shutil.copytree(FIXTURES / FOLDERS[name], folder)
    writer = Writer(folder, cut, 1, after=False)
    opened_through(writer, monkeypatch)

    report = validate(folder, format=name.split(maxsplit=1)[0] if name != "nano-graphrag" else "lightrag")

    assert writer.changed and not report.ok
    assert "rule-crashed" not in {finding.rule for finding in report.findings}


@pytest.mark.parametrize(("name", "change"), list(zip(FOLDERS, CHANGES, strict=False)))
@pytest.mark.parametrize("when", ["while it is converted", "while the output is checked"])
def test_a_source_that_changes_leaves_the_old_output(
    name: str, change: Callable[[Path], None], when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = tmp_path / "data", tmp_path / "there"
    shutil.copytree(FIXTURES / FOLDERS[name], source)
    target.mkdir()
    (target / "old.txt").write_text("old")
    api = importlib.import_module("ragdatakit.api.convert")  # the name in the package is that of the function
    module, function = (conversion, "convert_dataset") if when == "while it is converted" else (api, "_checked_output")
    work = getattr(module, function)

    def changing(*arguments: object) -> object:
        for path in sorted(path for path in source.rglob("*") if path.is_file()):
            change(path)
        return work(*arguments)

    monkeypatch.setattr(module, function, changing)
    to = "graphrag" if name == "ragchecker" else "beir"

    done = run("convert", "--to", to, source, target, "--overwrite", "--keep-going")

    assert done.code == 2
    assert done.err.startswith(f"ragdata: {source}") and done.err.count("\n") == 1
    assert "while it was read; run the command again when" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data", "there"]
    assert [path.name for path in target.iterdir()] == ["old.txt"]


@pytest.mark.broad(4)
@pytest.mark.parametrize("name", FOLDERS)
def test_locks_and_temporary_files_are_not_part_of_a_dataset(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(FIXTURES / FOLDERS[name], folder)
    before = [finding.rule for finding in validate(folder).findings]
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        for ending in (".lock", ".tmp", ".part", "~"):
            file.with_name(file.name + ending).write_bytes(file.read_bytes()[:20])

    assert [finding.rule for finding in validate(folder).findings] == before
