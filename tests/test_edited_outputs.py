"""What a user changes in an output is what converting back gives, with a sidecar beside it, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.schemas.errors import RagdataError


def write_beir(folder: Path) -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text(
        '{"_id":"d1","title":"Light","text":"Mara Venn built it.","metadata":{"year":1871}}\n'
        '{"_id":"d2","title":"Reef","text":"Joss Alder mapped it.","metadata":{"year":1902}}\n'
    )
    (folder / "queries.jsonl").write_text('{"_id":"q1","text":"Who mapped Kettle Reef?","metadata":{}}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td2\t1\n")
    return folder


@pytest.mark.parametrize("target", ["trec", "light-splade"])
def test_a_text_that_was_edited_stays(tmp_path: Path, target: str) -> None:
    options = {"random-negatives": 1} if target == "light-splade" else {}
    ragdatakit.convert(write_beir(tmp_path / "reef"), tmp_path / "out", to=target, sidecar=True, options=options)
    written = (p for p in (tmp_path / "out").rglob("*") if p.is_file() and p.suffix != ".gz")
    (edited,) = (p for p in written if "Mara Venn built it." in p.read_text())
    edited.write_text(edited.read_text().replace("Mara Venn built it.", "Mara Venn drew it."))

    done = ragdatakit.convert(tmp_path / "out", tmp_path / "back", to="beir")

    one, two = (json.loads(line) for line in (tmp_path / "back" / "corpus.jsonl").read_text().splitlines())
    assert "Mara Venn drew it." in one["text"]
    assert one["metadata"] == {"year": 1871}
    assert two == {"_id": "d2", "title": "Reef", "text": "Joss Alder mapped it.", "metadata": {"year": 1902}}
    losses = [loss for loss in done.conversions[0].losses if "changed since" in loss.reason]
    assert all((loss.kind, loss.column, loss.count) == ("coerced", "text", 1) for loss in losses)
    assert bool(losses) == (target == "light-splade")  # it joins title and text; elsewhere the sidecar has no text


@pytest.mark.parametrize("name", ["ragdata.ids.ndjson", "ragdata.sidecar/documents.ndjson.gz"])
def test_what_another_conversion_kept_is_not_used(tmp_path: Path, name: str) -> None:
    ragdatakit.convert(write_beir(tmp_path / "reef"), tmp_path / "out", to="trec")
    (tmp_path / "out" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "out" / name).write_text("")

    with pytest.raises(RagdataError, match="not of this conversion"):
        ragdatakit.convert(tmp_path / "out", tmp_path / "back", to="beir")
