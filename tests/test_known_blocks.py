"""What a check after a repair need not read again."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ragdatakit
from ragdatakit.files.containers.sources import Block, Source
from ragdatakit.fixes.dataset_state import DatasetState
from ragdatakit.scanner import known_blocks
from ragdatakit.scanner.blocks import BlockScanner, ScannedBlock, ScannedColumn
from ragdatakit.scanner.known_blocks import KnownBlocks
from ragdatakit.scanner.library import library
from ragdatakit.validators import dataset_run

pytestmark = pytest.mark.skipif(library() is None, reason="without the scanner all is read by Python")


def scanned(rows: int = 1) -> ScannedBlock:
    codes = np.zeros(rows, np.uint64)
    none = np.empty(0, np.int64)
    return ScannedBlock(
        rows, 1, (0, 0, 0), (0, 0, 0), [], {"_id": ScannedColumn(codes, none, none, codes, [], is_list=False)}
    )


def edits_of(chance: random.Random, data: bytes) -> Iterator[tuple[int, int, bytes]]:
    at = 0
    while at <= len(data) and chance.random() < 0.8:
        start = chance.randint(at, min(len(data), at + 40))
        end = chance.choice([start, min(len(data), start + chance.randint(0, 12))])
        yield start, end, chance.choice([b"", b"x", b"\n", b"longer\nthan\r\nbefore"])
        at = end + chance.randint(0, 30)


@pytest.mark.parametrize("seed", range(100))
def test_known_blocks_are_what_the_new_version_has(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    mark = chance.choice([b"", b"\xef\xbb\xbf"])
    lines = [b"a" * chance.randint(0, 9) + chance.choice([b"\n", b"\r\n"]) for _ in range(chance.randint(1, 40))]
    old = mark + b"".join(lines)[: chance.choice([None, -1])]
    path, known, held = tmp_path / "lines", KnownBlocks(), {}
    path.write_bytes(old)
    for block in Source(path, False, 24).blocks():
        if chance.random() < 0.8:
            known.add(block, scanned(block.offset))
            held[block.offset] = block.data
    edits = list(edits_of(chance, old))
    new, at = b"", 0
    for start, end, text in edits:
        new, at = new + old[at:start] + text, end
    new += old[at:]
    path.write_bytes(new)

    known = known.edited((start, end, len(text)) for start, end, text in edits)
    source = Source(path, False, 24, known=known.spans())
    blocks = [
        (block.offset, held[known.at(block.offset).rows] if block.known else block.data) for block in source.blocks()
    ]

    behind = 3 if new.startswith(b"\xef\xbb\xbf") else 0
    for offset, data in blocks:
        assert offset == behind
        assert new[offset:].startswith(data)
        behind += len(data)
        assert data.endswith(b"\n") or behind == len(new)
    assert behind == len(new)
    assert source.bytes_read == (behind if blocks else 0)


def test_only_blocks_that_nobody_looks_into_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    known = KnownBlocks()
    noted = scanned()
    noted.notes.append([0, 0, 0, 0, 1])
    known.add(Block(b"noted\n", 0), noted)
    known.add(Block(b"hidden\n", 6, breaks=(1,)), scanned())
    assert known.spans() == ()

    known.add(Block(b"clean\n", 13), scanned())
    assert known.spans() == ((13, 19),)
    known.ask("something else")
    assert known.spans() == ()

    monkeypatch.setattr(known_blocks, "MOST_BYTES", 10)
    for offset in range(5):
        known.add(Block(b"\n", offset), scanned())
    assert known.spans() == ((0, 1),)  # eight bytes of codes twice are more than ten


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of many blocks with a fault that is repaired first, one that is repaired then, and one that is not."""
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    monkeypatch.setattr(dataset_run, "BLOCK_BYTES", 500)
    monkeypatch.setattr(dataset_run, "TEXT_BLOCK_BYTES", 500)
    data = tmp_path / "data"
    (data / "qrels").mkdir(parents=True)
    lines = [json.dumps({"_id": f"d{number}", "title": "", "text": f"Text {number}."}) for number in range(200)]
    lines[100] = lines[100][:-1] + ",}"
    lines[150] = lines[10]
    lines[170] = lines[20].replace("Text", "Another text")
    (data / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    (data / "queries.jsonl").write_text('{"_id": "q1", "text": "what"}\n')
    (data / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\tnone\t1\n")
    return data


def test_a_check_after_a_repair_scans_what_was_repaired(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, scan = [], BlockScanner.scan
    monkeypatch.setattr(BlockScanner, "scan", lambda self, data: (read.append(len(data)), scan(self, data))[1])
    ragdatakit.validate(faulty)
    once = sum(read)
    read.clear()

    result = ragdatakit.fix(faulty)

    assert sum(read) < once * 1.6  # three checks
    assert [*result.fixed.values()] == [{"BE111": 1, "BE201": 1}]
    assert result.report.counts == ragdatakit.validate(faulty).counts
    found = [(finding.code, finding.line) for finding in result.report.findings]
    assert found == [(finding.code, finding.line) for finding in ragdatakit.validate(faulty).findings]
    assert {("BE201", 170), ("BE203", 3)} <= set(found)


@pytest.mark.parametrize("unsafe", [False, True])
def test_the_result_is_that_of_reading_all_again(unsafe: bool, faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for most in (known_blocks.MOST_BYTES, -1):
        monkeypatch.setattr(known_blocks, "MOST_BYTES", most)
        result = ragdatakit.fix(faulty, unsafe=unsafe, diff=True)
        results.append((result.difference, result.fixed, result.report.as_dict() | {"seconds": 0}))

    assert results[0] == results[1]


def test_what_somebody_else_writes_meanwhile_is_read(faulty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    accept = DatasetState.accept

    def write(state: DatasetState) -> None:
        accept(state)
        with (faulty / "queries.jsonl").open("a") as queries:
            queries.write('{"_id": "q1", "text": "again"}\n')

    monkeypatch.setattr(DatasetState, "accept", write)

    result = ragdatakit.fix(faulty, diff=True)

    assert any(finding.path.endswith("queries.jsonl") and finding.line == 2 for finding in result.report.findings)
