"""Blocks read and worked on in threads: their order, what stops them, how much is held."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.reading.threads import InThreads
from ragdatakit.scanner import blocks
from ragdatakit.validators import dataset_run
from ragdatakit.validators.records import RecordChecker
from ragdatakit.validators.run import validate_paths
from ragdatakit.validators.run_options import RunOptions


@pytest.mark.parametrize("jobs", [2, 7])
def test_results_come_in_the_order_of_the_blocks(jobs: int) -> None:
    def work(block: int) -> int:
        time.sleep(0.003 * (block % 3 == 0))  # others overtake
        return block * block

    assert list(InThreads(range(60), work, jobs).results()) == [(n, n * n) for n in range(60)]
    assert list(InThreads(range(60), work, jobs, kept=lambda n: -n).results()) == [(-n, n * n) for n in range(60)]


@pytest.mark.parametrize("waiting", [1, 5])
def test_no_more_is_read_than_may_wait(waiting: int) -> None:
    read = []

    def blocks() -> Iterator[int]:
        for n in range(40):
            read.append(n)
            yield n

    for taken, (block, _) in enumerate(InThreads(blocks(), str, 2, waiting=waiting).results(), 1):
        assert block == taken - 1
        time.sleep(0.001)
        assert len(read) <= taken + 2 + waiting


def test_a_long_block_is_alone() -> None:
    alive: set[int] = set()
    most = []

    def blocks() -> Iterator[int]:
        for n in range(20):
            alive.add(n)
            most.append(len([b for b in alive if b % 2]))
            yield n

    for block, _ in InThreads(blocks(), str, 3, lambda b: b % 2 == 1).results():
        time.sleep(0.001)
        if block % 2:
            assert max(alive) == block, "nothing is read while it is there"
        alive.discard(block)
    assert max(most) == 1 and len(most) == 20


@pytest.mark.parametrize("where", ["reading", "working"])
def test_an_error_comes_out_behind_the_blocks_before_it(where: str) -> None:
    def blocks() -> Iterator[int]:
        for n in range(20):
            if n == 5 and where == "reading":
                raise ValueError("five")
            yield n

    def work(block: int) -> int:
        if block == 5:
            raise ValueError("five")
        return block

    results = InThreads(blocks(), work, 2, lambda block: block == 5).results()
    assert [next(results) for _ in range(5)] == [(n, n) for n in range(5)]
    with pytest.raises(ValueError, match="five"):
        next(results)


def test_what_is_left_early_ends_its_threads() -> None:
    before = threading.active_count()
    results = InThreads(range(1000), str, 3, lambda b: b == 2).results()
    assert next(results) == (0, "0")
    results.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("scanner", ["scanned", "line by line"])
def test_one_thread_examines_records_at_a_time(scanner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = []
    examine = RecordChecker.examine

    def watched(self: RecordChecker, *given: Any) -> Any:
        held.append(self.judging.locked())
        return examine(self, *given)

    (tmp_path / "records.jsonl").write_text('{"query": "why", "generated": 5}\n' * 400)
    monkeypatch.setattr(RecordChecker, "examine", watched)
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", 0)
    monkeypatch.setattr(dataset_run, "TEXT_BLOCK_BYTES", 1000)
    if scanner != "scanned":
        monkeypatch.setattr(blocks, "can_scan", lambda *_: False)

    report = validate_paths([tmp_path], "sage", options=RunOptions(jobs=3))

    assert report.datasets[0].errors >= 400
    assert len(held) == 400 and all(held)
