"""Small files are judged several at a time: the report is that of a run without ranges, whatever is in them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.validators.ranges import plan
from tests.test_ranges import PicklingEngine, in_codes, in_ranges, outcome

__all__ = ["in_codes", "in_ranges"]


def shards(folder: Path, random: Random) -> Path:
    """A light-splade split in shards: with faults of lines, records and sets, some of them empty, packed or none."""
    triplet = '{{"qid": {}, "pos_doc_id": {}, "neg_doc_id": {}}}'
    wrong = ["{", "", '{"qid": "1", "pos_doc_id": 7, "neg_doc_id": 8}', '{"qid": 1, "pos_doc_id": 7}', "[]"]

    def lines(kind: str, count: int) -> list[str]:
        number = random.randrange
        of = {
            "queries": lambda: json.dumps({"qid": number(40), "text": random.choice("abc12")}),
            "documents": lambda: json.dumps({"doc_id": number(60), "text": random.choice(["", "1", "1.5", "b", "c"])}),
            "positives": lambda: json.dumps({"qid": number(40), "positive_doc_ids": [number(60), number(60)]}),
            "triplets": lambda: triplet.format(number(44), number(66), number(66)),
        }[kind]
        return [random.choice(wrong) if not number(9) else of() for _ in range(count)]

    for kind, name in {
        "queries": "query_master",
        "documents": "doc_master",
        "positives": "positive_lists",
        "triplets": "triplets",
    }.items():
        (folder / name).mkdir(parents=True)
        for shard in range(random.randrange(3, 9)):
            text = random.choice(["\n", "\r\n"]).join(lines(kind, random.randrange(9) * random.randrange(3)))
            data, ending = text.encode() + b"\n" * random.randrange(2), random.choice(["", "", ".gz"])
            if random.random() < 0.1:
                data, ending = random.choice([b"PAR1\0\0", b"version https://git-lfs.github.com/spec/v1\n"]), ""
            path = folder / name / f"part-{shard}.ndjson{ending}"
            path.write_bytes(gzip.compress(data) if ending else data)
    return folder


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.broad(12)
def test_shards(seed: int, tmp_path: Path, in_ranges: Any, in_codes: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    folder, cap = shards(tmp_path / "train", random), str(random.choice([0, 2, 20]))
    in_codes(seed % 4 > 0)
    in_ranges("")
    expected = outcome(folder, "--max-per-rule", cap)

    in_ranges("1", seed, partition=300 << seed % 8, shared=seed % 3 > 0, known=seed % 5 / 4)
    monkeypatch.setattr(plan, "SMALL_BYTES", random.choice([1, 500, 4 << 20]))

    assert outcome(folder, "--max-per-rule", cap) == expected
    assert len(json.loads(expected[1])["by_rule"]) > 4


def test_many_files_are_few_tasks(tmp_path: Path, in_ranges: Any, in_codes: Any) -> None:
    asked: list[int] = []

    class Counting(PicklingEngine):
        def map(self, function: Callable[[Any], Any], keys: Any, /) -> Any:
            asked.append(len(keys))
            return super().map(function, keys)

    folder = shards(tmp_path / "train", Random(1))
    for shard in range(600):
        (folder / "triplets" / f"{shard:03}.ndjson").write_text('{"qid": 1, "pos_doc_id": 1}\n')
    in_codes(True)
    in_ranges("1", engine=Counting(), partition=1 << 30)

    outcome(folder)

    assert 1 < max(asked) <= 8  # one for each shard of the others
