"""Hostile files: bombs, FIFOs, devices, folders in their place, files that change, vanish or may not be read."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.files.containers import sources
from ragdatakit.files.detection.find import detect
from tests.broad import chosen
from tests.command_line import FIXTURES, run, spawn
from tests.hostile import codes, copy, endure, tree

TRIPLETS = "train/triplets.ndjson"


def found(path: Path, **options: Any) -> set[tuple[str, str]]:
    return {(f.rule, Path(f.path).name) for f in validate(path, severity="warning", **options).findings}


def test_gzip_bomb_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BOMB_BYTES", 1 << 19)
    monkeypatch.setattr(sources, "BOMB_RATIO", 50)
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    line = b'{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 12}\n'
    (folder / f"{TRIPLETS}.gz").write_bytes(gzip.compress(line * 30_000))

    report = validate(folder, select=["decompression-bomb"])

    assert [(f.rule, f.line) for f in report.findings] == [("decompression-bomb", None)]
    triplets = [f for d in report.datasets for f in d.files if f.kind == "triplets"]
    assert triplets[0].bytes < 30_000 * len(line)
    endure(folder)


@pytest.mark.parametrize("engine", [None, "local"])
def test_gzip_data_of_nothing_has_no_bytes(engine: str | None, tmp_path: Path) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    (folder / f"{TRIPLETS}.gz").write_bytes(gzip.compress(b""))

    sizes = {f.path: f.bytes for d in validate(folder, engine=engine).datasets for f in d.files}

    assert sizes[f"{TRIPLETS}.gz"] == 0


def test_gzip_bomb_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BOMB_BYTES", 1 << 22)
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / TRIPLETS).unlink()
    (folder / f"{TRIPLETS}.gz").write_bytes(gzip.compress(b"7" * (1 << 24)))

    outcome = endure(folder, "--memory-limit", "16MiB")

    assert codes(outcome) >= {"RD106"}


def test_gzip_bomb_is_not_unpacked_to_look_at_it(tmp_path: Path) -> None:
    """Telling what a lone file is reads its beginning only."""
    (tmp_path / "notes.gz").write_bytes(gzip.compress(b" " * (1 << 27)))

    assert spawn("validate", tmp_path / "notes.gz", seconds=20).code == 2
    assert spawn("validate", tmp_path, seconds=20).code == 2


def test_of_damaged_gzip_data_the_same_is_read_however_much_at_once(tmp_path: Path) -> None:
    rng = Random(4)
    data = b"".join(b'{"n": %d, "text": "%s"}\n' % (n, rng.randbytes(9).hex().encode()) for n in range(900))
    packed = bytearray(gzip.compress(data, mtime=0))
    packed[len(packed) // 2] ^= 8
    (tmp_path / "a.gz").write_bytes(packed)

    read = {size: b"".join(sources.Source(tmp_path / "a.gz", True, size).pieces()) for size in (30, 999, 1 << 20)}

    assert len({*read.values()}) == 1
    assert len(read[30]) > len(data) // 3


@pytest.mark.parametrize("name", ["train/query_master.ndjson", TRIPLETS, "validation/doc_master.ndjson"])
def test_empty_compressed_file(tmp_path: Path, name: str) -> None:
    folder = copy("light-splade/valid/triplet", tmp_path)
    (folder / name).unlink()
    (folder / f"{name}.gz").write_bytes(b"")

    assert codes(endure(folder)) - {"RD114"} == {"RD105"}


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_every_file_empty(tmp_path: Path, case: str) -> None:
    folder = copy(case, tmp_path)
    for path in folder.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")

    endure(folder)


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
@pytest.mark.timeout(20)
def test_every_file_a_fifo(tmp_path: Path, case: str) -> None:
    folder = copy(case, tmp_path)
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        path.unlink()
        os.mkfifo(path)

    outcome = run("validate", folder)

    assert outcome.code in (1, 2)
    assert "Traceback" not in outcome.err
    assert "RD101" in outcome.out or outcome.code == 2


@pytest.mark.broad
@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", "triplets.ndjson chunks.json notes.gz data.yaml rows.sql SKILL.md x.csv".split())
@pytest.mark.parametrize("words", [(), ("--format", "light-splade"), ("--format", "datamind")], ids=" ".join)
def test_lone_fifo(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    os.mkfifo(tmp_path / name)

    outcome = run("validate", tmp_path / name, *words)

    assert outcome.code in (1, 2)
    assert "Traceback" not in outcome.err


@pytest.mark.timeout(20)
@pytest.mark.parametrize("name", ["a.jsonl", "a.txt", "a.parquet"])
@pytest.mark.parametrize("words", ["report", "query --tables", "diff a.fifo", "gate --init", "validate --quality"])
def test_lone_fifo_is_not_waited_for(tmp_path: Path, name: str, words: str) -> None:
    os.mkfifo(tmp_path / name)

    outcome = run(*words.replace("a.fifo", str(tmp_path / name)).split(), tmp_path / name)

    assert outcome.code == 2 and outcome.out == ""
    assert f"{tmp_path / name}: it is not a regular file" in outcome.err


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

    monkeypatch.setattr("ragdatakit.files.containers.sources.os.open", refusing)
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
    read = sources.Source.blocks
    changes = 0

    def changing(self: sources.Source) -> Iterator[sources.Block]:
        nonlocal changes
        for block in read(self):
            if self.path.name == "triplets.ndjson" and changes < 100:
                changes += 1
                change(self.path)
            yield block

    monkeypatch.setattr(sources.Source, "blocks", changing)
    report = validate(folder, select=["unreadable-file"])

    assert changes < 100, "a file that grows while it is read must come to an end"

    assert [(Path(f.path).name, "changed while it was read" in f.message) for f in report.findings] == [
        ("triplets.ndjson", True)
    ]


@pytest.mark.parametrize("case", ["light-splade/valid/both", "arag/valid/predictions", "datamind/valid/repository"])
def test_files_that_vanish_before_they_are_read(tmp_path: Path, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy(case, tmp_path)

    def and_remove(path: Path, *words: Any, **more: Any) -> Any:
        datasets = detect(path, *words, **more)
        for path in [p for p in folder.rglob("*") if p.is_file()]:
            path.unlink()
        return datasets

    monkeypatch.setattr("ragdatakit.validators.found_datasets.detect", and_remove)
    report = validate(folder)

    assert "unreadable-file" in {f.rule for f in report.findings}
    assert "rule-crashed" not in {f.rule for f in report.findings}


def test_nothing_is_written_beside_the_fixtures() -> None:
    folders = [folder for folder in FIXTURES.glob("*/*/*") if folder.is_dir() and chosen(folder.name, every=20)]
    before = tree(FIXTURES)

    spawn("validate", *folders, "-q")

    assert tree(FIXTURES) == before
