"""Passages are read in blocks and found by their ids: the same as one by one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

pytest.importorskip("numpy", reason="needs ragdatakit[retrieval]")

from ragdatakit.retrieval import passages as module
from ragdatakit.retrieval.passages import Passage, Passages, write_passages


@pytest.mark.parametrize(("block", "size"), [(1, 1), (3, 1 << 20), (4096, 7), (4096, 4 << 20)])
def test_all_passages_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, size: int) -> None:
    monkeypatch.setattr(module, "_BLOCK", block)
    monkeypatch.setattr(module, "_BLOCK_BYTES", size)
    rng = random.Random(3)
    texts = ("", "tide", "港" * 5, "\ud800", "x" * 40)
    written = [
        Passage(
            f"d{n % 9}", rng.choice(texts), rng.choice((None, "T")), rng.choice((None, "c")), rng.choice((None, "e"))
        )
        for n in range(25)
    ]
    write_passages(tmp_path, written)

    read = Passages(tmp_path, "chunk")

    assert list(read) == written == [read[n] for n in range(len(read))]
    assert list(read.documents()) == [read.document_id(n) for n in range(len(read))]
    assert read.ordinals(["d8", "gone", "d0", "d8"]) == [8, None, 0, 8]


def test_no_passages(tmp_path: Path) -> None:
    write_passages(tmp_path, [])

    read = Passages(tmp_path, "document")

    assert (list(read), list(read.documents()), read.ordinals(["a"]), read.ordinals([])) == ([], [], [None], [])
