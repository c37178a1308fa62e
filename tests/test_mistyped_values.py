"""Records in which nothing but the type of a value is wrong: the scanner counts them, and the report is the same."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.scanner.blocks import BlockScanner
from ragdatakit.schemas.results import Report
from ragdatakit.validators import dataset_run
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from ragdatakit.validators.run_options import RunOptions
from tests.scanner_tools import needs_scanner

VALUES = [
    *("5", "-7", "true", "false", "null", "12.5", "1e3", "[]", "{}", '"12"', '""', '" "', '"x"', '"x\\ty"', "01"),
    *("9007199254740993", "null,", '"\\ud800"', '{"a": 1, "a": 2}', "truee", "5 6", "-"),
]
USUAL = ["5", "null", "true", '"a text"', '"7"']


def lines(random: Random, key: str, count: int) -> list[str]:
    made = []
    for number in range(count):
        own = random.choice([number, number, number, number // 2, f'"{number}"', "null", "1.0"])
        own = own if random.random() < 0.2 else number
        text = random.choice(VALUES) if random.random() < 0.2 else random.choice(USUAL)
        fields = [f'"{key}": {own}', f'"text": {text}']
        if random.random() < 0.05:
            fields.append(random.choice(['"other": 1', f'"text": {text}', f'"{key}": 1', '"other": {"b": 1, "b": 2}']))
        if random.random() < 0.05:
            fields.reverse()
        made.append("{" + ", ".join(fields) + random.choice(["}"] * 30 + ["", "}}", "} "]))
    return made


def shown(report: Report) -> Any:
    return [repr(f) for f in report.findings], report.by_rule, [(d.errors, d.warnings) for d in report.datasets]


@needs_scanner
@pytest.mark.parametrize("seed", range(2))
def test_reports_are_the_same(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(seed)
    split = tmp_path / "train"
    split.mkdir()
    for name, key, count in (("query_master", "qid", 150), ("doc_master", "doc_id", 700)):
        (split / f"{name}.ndjson").write_text("\n".join(lines(random, key, count)) + "\n")
    (split / "positive_lists.ndjson").write_text(json.dumps({"qid": 1, "positive_doc_ids": [1, 2, 3]}) + "\n")
    counts: list[Any] = []
    scan = BlockScanner.scan

    def counting(self: BlockScanner, data: bytes) -> Any:
        found = scan(self, data)
        counts.append(found.counts if found is not None else {})
        return found

    monkeypatch.setattr(BlockScanner, "scan", counting)
    for most in (1, 3, 20, 0):
        plain = shown(validate_paths([tmp_path], selection=Selection(max_per_rule=most)))
        with monkeypatch.context() as patch:
            patch.setattr(dataset_run, "SMALL_DATASET", 0)
            for block, jobs in ((500, 2), (9000, 7), (1 << 20, 1)):
                patch.setattr(dataset_run, "TEXT_BLOCK_BYTES", block)
                counts.clear()

                found = shown(
                    validate_paths([tmp_path], selection=Selection(max_per_rule=most), options=RunOptions(jobs=jobs))
                )

                assert found == plain
                if block > 5000:
                    assert any(counts) == (most > 0)
