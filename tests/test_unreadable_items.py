"""Lists of ids with items that are no ids: both engines find the same, with the same words at the same places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit import validate
from ragdatakit.validators import dataset_run

ITEMS = ["[true]", "[{}]", "[[7]]", "[1e999, 99]", "[10, 1e999, 77]", '["99"]', "[10, null, 99]", "[10, -1e999, -3]"]
ITEMS += ['[10, "-0", null]', '[11, "007", true]']
ITEMS += ["[99.0]", '[10, "x", 98]', "[true, 1]", "[10.5]", "[]", "[null]", "[1e30, 99]", "[9223372036854775808, 99]"]


def write(root: Path, positives: str) -> None:
    for split, base in (("train", 0), ("validation", 100)):
        folder = root / split
        folder.mkdir(parents=True)
        ids = positives if split == "train" else "[110]"
        lines = {
            "query_master": [json.dumps({"qid": base + i, "text": f"question {base + i}"}) for i in (1, 2)],
            "doc_master": [json.dumps({"doc_id": base + i, "text": f"text {base + i}"}) for i in range(10, 14)],
            "positive_lists": [
                f'{{"qid": {base + 1}, "positive_doc_ids": {ids}}}',
                f'{{"qid": {base + 2}, "positive_doc_ids": [{base + 11}]}}',
            ],
            "triplets": [
                json.dumps({"qid": base + q, "pos_doc_id": base + p, "neg_doc_id": base + n})
                for q, p, n in ((1, 10, 12), (2, 11, 13))
            ],
        }
        for name, records in lines.items():
            (folder / f"{name}.ndjson").write_text("\n".join(records) + "\n")


@pytest.mark.parametrize("items", ITEMS)
def test_both_engines_read_them_alike(items: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, items)
    plain = validate(tmp_path, max_per_rule=0)
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)

    big = validate(tmp_path, max_per_rule=0)

    assert "rule-crashed" not in {f.rule for f in plain.findings + big.findings}
    assert list(map(str, big.findings)) == list(map(str, plain.findings))
    assert big.as_dict() == plain.as_dict()
