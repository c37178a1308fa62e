"""Tables of a graph damaged at random: both ways of reading must tell the same, finding by finding."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from ragdatakit import validate
from ragdatakit.files.containers import csv_rows
from ragdatakit.validators import dataset_run
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run import validate_paths
from tests.command_line import FIXTURES
from tests.faults.engines import SCANNED, SMALL, engine

NAMES = ["osprey", "lena", "hale", "Port Hale", "1901", "007", "NA", "null", "a,b", 'say "x"', "é t", " x", "X", "x"]
NAMES += ["line\nbreak", "true", "1.5"]
ATTRIBUTES = ["{}", "{}", "{}", "{'a': 'b'}", '{"a": 1}', "", "None", "[1]", "{'a': nope}", '{"content": "t"}', "5"]
ATTRIBUTES += ['{"a": true}', '{"e": "\\ud83d"}', '{"a":1,"a":2}']
DAMAGE = ['"', "\n", ",", "\r", "\0", " ", "x", "\n\n", "7"]


def write_table(path: Path, header: list[str], rows: list[list[str]], rng: random.Random) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator=rng.choice(["\n", "\n", "\r\n"]))
    writer.writerow(header)
    for row in rows:
        longer = [*row, "extra"] if rng.random() < 0.03 else row
        writer.writerow(longer[:-1] if rng.random() < 0.03 else longer)
    text = out.getvalue()
    for _ in range(rng.choice([0, 0, 0, 1, 2])):
        at = rng.randrange(len(text) + 1)
        text = text[:at] + rng.choice(DAMAGE) + text[at:]
    data = text.encode()
    if rng.random() < 0.05:
        at = rng.randrange(len(data) + 1)
        data = data[:at] + b"\xff" + data[at:]
    path.write_bytes(data)


def write_dataset(root: Path, rng: random.Random) -> None:
    stage1 = root / "processed" / "stage1"
    stage1.mkdir(parents=True)
    (root / "raw").mkdir()
    (root / "raw" / "documents.json").write_text(json.dumps(dict.fromkeys(rng.sample(NAMES, 3), "t")))
    names = rng.sample(NAMES, rng.randint(1, len(NAMES))) if rng.random() < 0.8 else [str(i) for i in range(10)]
    names += [rng.choice(names)] if rng.random() < 0.3 else []
    relations = ["r1", "is_mentioned_in", "2", "inverse_r1"][: rng.randint(1, 4)]
    header = ["name", "type", "attributes"] + (["uid"] if rng.random() < 0.1 else [])
    kinds = ["entity", "document", "entity", ""]
    write_table(stage1 / "nodes.csv", header, [[n, rng.choice(kinds), rng.choice(ATTRIBUTES)] for n in names], rng)
    write_table(stage1 / "relations.csv", ["name", "attributes"], [[n, rng.choice(ATTRIBUTES)] for n in relations], rng)
    edges = [
        [
            rng.choice(names) if rng.random() < 0.9 else "zz",
            rng.choice(relations),
            rng.choice(names),
            rng.choice(ATTRIBUTES),
        ]
        for _ in range(rng.randint(0, 30))
    ]
    write_table(stage1 / "edges.csv", ["source", "relation", "target", "attributes"], edges, rng)
    if rng.random() < 0.5:
        samples = [
            {"id": str(i), "question": "q", "answer": "a", "answer_aliases": [], "supporting_documents": [names[0]]}
            | {"start_nodes": {"entity": [rng.choice(names)]}, "target_nodes": {"document": [rng.choice(names), "qq"]}}
            for i in range(rng.randint(0, 4))
        ]
        (stage1 / "test.json").write_text(json.dumps(samples))


@contextmanager
def chunks_of(rows: int) -> Iterator[None]:
    with mock.patch.object(csv_rows, "chunk_rows", return_value=rows):
        yield


def findings(root: Path) -> list[tuple[Any, ...]]:
    report = validate_paths([root], selection=Selection(max_per_rule=0))
    assert "rule-crashed" not in {f.rule for f in report.findings}, report.findings
    return sorted(repr((f.as_dict(), f.excerpt)) for f in report.findings)


@pytest.mark.broad(3)
@pytest.mark.parametrize("seed", range(60))
def test_both_engines_tell_the_same_of_damaged_tables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)
    write_dataset(tmp_path / "data", rng)
    with chunks_of(rng.choice([4, 8, 1 << 17])):
        small = findings(tmp_path / "data")
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
        size = rng.choice([60, 200, 1000])
        monkeypatch.setattr(dataset_run, "BLOCK_BYTES", size)
        monkeypatch.setattr(dataset_run, "TEXT_BLOCK_BYTES", size)
        assert findings(tmp_path / "data") == small


@pytest.mark.parametrize("case", ["minimal", "train-only", "both-loaders"])
@pytest.mark.parametrize("gone", [("edges",), ("relations", "edges"), ("nodes",)], ids="+".join)
def test_questions_are_checked_alike_without_a_table(case: str, gone: tuple[str, ...], tmp_path: Path) -> None:
    """A table that is there as .gz only is none to the loaders; the names of questions are those of the others."""
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / "gfm-rag" / "valid" / case, folder)
    for name in gone:
        path = folder / "processed" / "stage1" / f"{name}.csv"
        path.with_name(f"{name}.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()

    found = {}
    for name in (SMALL, SCANNED):
        with engine(name):
            found[name] = [f.as_dict() for f in validate(folder).findings]

    assert found[SMALL] == found[SCANNED]
    assert not any(f["rule"] in ("GF414", "GF415") for f in found[SMALL])


def test_types_are_listed_in_one_order_and_files_are_as_long_as_they_are(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / "gfm-rag" / "valid" / "minimal", folder)
    nodes, edges = (folder / "processed" / "stage1" / f"{name}.csv" for name in ("nodes", "edges"))
    for name, kind in zip("pbnzakc", ("tug", "quay", "mast", "buoy", "1", "lock", "tug"), strict=True):
        nodes.write_text(f"{nodes.read_text()}{name},{kind},{{}}\n")
    edges.write_text(f"#\n{edges.read_text()}")  # no header: reading stops

    found = {}
    for name in (SMALL, SCANNED):
        with engine(name), mock.patch.object(dataset_run, "BLOCK_BYTES", 20):
            report = validate(folder, severity="info", max_per_rule=0)
        found[name] = [f.as_dict() for f in report.findings], report.datasets

    assert found[SMALL] == found[SCANNED]
    types = [f["message"] for f in found[SMALL][0] if f["rule"] == "unasked-node-type"]
    assert len(types) == 6 and "tug" in types[0] and types[1:] == sorted(types[1:])
    sizes = {file.path: file.bytes for file in found[SMALL][1][0].files}
    assert sizes["processed/stage1/edges.csv"] == edges.stat().st_size
