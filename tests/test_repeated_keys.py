"""A key that appears twice in one object is found in small and in big datasets, at any depth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.validators import dataset_run

OBJECTS = (
    '{"type": "fact", "type": "place"}',
    '{"type": "fact", "type": {}}',
    '{"type": {}, "type": "fact"}',
    '{"type": "fact", "type": {"of": "place"}}',
    '{"type": {"of": "fact"}, "type": {"in": "place"}}',
    '{"at": {"type": "fact", "type": {}}, "type": 1}',
    '{"at": {"type": {"a": 1}, "type": {"b": 1}}}',
    '{"at": "quay", "type": {}, "type": {}}',
    '{"type": [], "type": "fact"}',
)


@pytest.mark.parametrize("lines", [1, 5])
@pytest.mark.parametrize("repeated", OBJECTS)
def test_at_any_depth(repeated: str, lines: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [f'{{"_id": "d{i}", "title": "Log", "text": "A tug.", "metadata": {repeated}}}\n' for i in range(lines)]
    (tmp_path / "corpus.jsonl").write_text("".join(records))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q1", "text": "What?"}) + "\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\n")

    for name, value in {"SMALL_DATASET": -1, "BLOCK_BYTES": 150, "TEXT_BLOCK_BYTES": 150}.items():
        places = [(f.line, f.pointer) for f in ragdatakit.validate(tmp_path).findings if f.rule == "duplicate-key"]
        assert len(places) == lines
        monkeypatch.setattr(dataset_run, name, value)
    assert places == [(f.line, f.pointer) for f in ragdatakit.validate(tmp_path).findings if f.rule == "duplicate-key"]
