"""Every format is read from a store as from the disk, where only the beginning of other files is there."""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ragdatakit.files.paths import mirrors
from ragdatakit.remote import fetched, urls
from ragdatakit.remote.stores import Listing, StoredFile
from tests.command_line import FIXTURES, run
from tests.test_remote_stores import same_words

VALID = sorted(folder for folder in FIXTURES.glob("*/valid/*") if folder.is_dir())
PLAIN = sorted(folder for folder in (FIXTURES / "plain").glob("*") if folder.is_dir())
BROKEN = sorted(folder for folder in FIXTURES.glob("*/broken/*") if folder.is_dir())


class FolderStore:
    """A store whose objects are the files of a folder; ``sent`` are those that were read to their end."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.shown = f"s3://reefs/{folder.name}"
        self.place = ("reefs", folder.name)
        self.sent: set[str] = set()

    def listed(self) -> Listing:
        files = sorted(path for path in self._folder.rglob("*") if path.is_file())
        names = [path.relative_to(self._folder).as_posix() for path in files]
        return Listing(
            files=tuple(
                StoredFile(name=name, key=str(path), bytes=path.stat().st_size, version="1")
                for name, path in zip(names, files, strict=True)
            )
        )

    def read(self, file: StoredFile, start: int, end: int) -> Generator[bytes, None, None]:
        if end == file.bytes:
            self.sent.add(file.name)
        yield Path(file.key).read_bytes()[start:end]


def run_from(folder: Path, tmp_path: Path, *words: str) -> tuple[Any, FolderStore]:
    store = FolderStore(folder)
    heads = mock.patch.multiple(fetched, _HEAD=1000, _LONG_HEAD=1000)
    with heads, mock.patch.object(urls, "store_of", return_value=store), mock.patch.object(mirrors, "_MIRRORED", {}):
        return run(words[0], store.shown, *words[1:], "--cache-dir", tmp_path / "cache"), store


@pytest.mark.parametrize("folder", VALID, ids=lambda path: str(path.relative_to(FIXTURES)))
@pytest.mark.broad
def test_valid_sets(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "reefs" / folder.name
    shutil.copytree(folder, place)
    here = run("validate", place, "--output-format", "json", "--severity", "info")
    there, _ = run_from(place, tmp_path, "validate", "--output-format", "json", "--severity", "info")

    assert there.code == here.code, there
    if here.code == 2:  # it is named by a path below it
        return
    assert same_words(there.json) == json.loads(
        json.dumps(same_words(here.json)).replace(str(place), f"s3://reefs/{folder.name}")
    )


@pytest.mark.parametrize("folder", BROKEN, ids=lambda path: str(path.relative_to(FIXTURES)))
@pytest.mark.broad(200)
def test_broken_sets(folder: Path, tmp_path: Path) -> None:
    test_valid_sets(folder, tmp_path)


@pytest.mark.parametrize("folder", PLAIN, ids=lambda path: path.name)
@pytest.mark.broad
def test_plain_sets(folder: Path, tmp_path: Path) -> None:
    here = run("report", folder, "--output-format", "json")
    there, _ = run_from(folder, tmp_path, "report", "--output-format", "json")

    assert there.code == here.code
    if here.code == 0:
        found, expected = there.json, json.loads(here.out.replace(str(folder), f"s3://reefs/{folder.name}"))
        for each in (*found["datasets"], *expected["datasets"]):
            each["seconds"] = 0
        assert found["datasets"] == expected["datasets"]


def test_what_belongs_to_nothing_is_not_fetched(tmp_path: Path) -> None:
    place = tmp_path / "reefs" / "folder"
    shutil.copytree(FIXTURES / "beir" / "valid" / "folder", place)
    (place / "notes.json").write_text(json.dumps({"a": "b" * 5000}))
    (place / "model.bin").write_bytes(bytes(5000))

    outcome, store = run_from(place, tmp_path, "validate")

    assert outcome.code == 0
    assert store.sent == {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert "not recognised, not checked: s3://reefs/folder/notes.json" in outcome.out
