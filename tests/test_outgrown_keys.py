"""Keys that would take too much memory: such datasets are judged in parts though nobody asked for it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragdatakit import convert, validate
from ragdatakit.engines import local_engine
from ragdatakit.validators.ranges import outgrown
from tests.command_line import run

RECORDS = 6000
TRIPLETS = {"qid": lambda n: n % 97, "pos_doc_id": lambda n: n, "neg_doc_id": lambda n: n // 2}
Write = Callable[[Path], Path]


def triplets(folder: Path) -> Path:
    lines = "".join(f"{json.dumps({name: of(n) for name, of in TRIPLETS.items()})}\n" for n in range(RECORDS))
    (folder / "triplets.ndjson").write_text(lines)
    return _others(folder)


def packed_triplets(folder: Path) -> Path:
    path = triplets(folder) / "triplets.ndjson"
    (folder / "triplets.ndjson.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    return folder


def triplets_in_parquet(folder: Path) -> Path:
    columns = {name: [of(n) for n in range(RECORDS)] for name, of in TRIPLETS.items()}
    pq.write_table(pa.table(columns), folder / "triplets.parquet", row_group_size=RECORDS // 3)
    return _others(folder)


def _others(folder: Path) -> Path:
    for name, record in {
        "query_master": {"qid": 1, "text": "a"},
        "doc_master": {"doc_id": 1, "text": "a"},
        "positive_lists": {"qid": 1, "positive_doc_ids": [1]},
    }.items():
        (folder / f"{name}.ndjson").write_text(f"{json.dumps(record)}\n")
    return folder


def judgements(folder: Path) -> Path:
    (folder / "qrels").mkdir()
    random = Random(1)
    rows = "".join(f"{n % 89}\t{random.randrange(10**9)}\t1\n" for n in range(RECORDS))
    (folder / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    (folder / "corpus.jsonl").write_text('{"_id": "1", "title": "", "text": "a"}\n')
    (folder / "queries.jsonl").write_text('{"_id": "1", "text": "a"}\n')
    return folder


def chunks(folder: Path) -> Path:
    elements = ",\n".join(json.dumps({"id": str(n), "text": f"text {n}"}) for n in range(RECORDS))
    (folder / "chunks.json").write_text(f"[{elements}]")
    (folder / "questions.json").write_text('[{"id": "1", "question": "a", "answer": "b"}]')
    return folder


def tagged(folder: Path) -> Path:
    documents = "".join(f"<DOC>\n<DOCNO>{n}</DOCNO>\n<TEXT>text {n}</TEXT>\n</DOC>\n" for n in range(RECORDS))
    (folder / "documents.trec").write_text(documents)
    (folder / "qrels.txt").write_text("1 0 1 1\n")
    return folder


@pytest.fixture
def engines(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The engines that were begun, by how many processes they may have."""
    found: list[int] = []

    class Noted(local_engine.LocalEngine):
        def __init__(self, jobs: int) -> None:
            found.append(jobs)
            super().__init__(jobs)

    monkeypatch.setattr(local_engine, "LocalEngine", Noted)
    monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    monkeypatch.setattr(outgrown, "MOST_OF_BYTE", 1 << 20)
    return found


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """For so many keys there is room in 16 MiB."""

    def switch(keys: float) -> None:
        monkeypatch.setattr(outgrown, "BYTES_OF_KEY", (16 << 20) / outgrown.PART_OF_KEYS / keys)

    return switch


def outcome(folder: Path, *words: str) -> tuple[int, str]:
    """The exit code and the JSON."""
    found = run("validate", folder, "--output-format", "json", "--memory-limit", "16MiB", *words)
    return found.code, found.out or found.err


@pytest.mark.parametrize(
    ("written", "keys"),
    [(triplets, 1), (packed_triplets, 1), (triplets_in_parquet, 1), (judgements, 3), (chunks, 2), (tagged, 1)],
)
def test_from_how_many_keys_on(written: Write, keys: int, tmp_path: Path, engines: list[int], room: Any) -> None:
    folder = written(tmp_path)
    packed = written is packed_triplets  # of which it is not known how long they are
    room((3 if packed else 1.3) * keys * RECORDS)
    expected = outcome(folder)
    assert engines == []
    assert expected[0] == (written not in (chunks, tagged))

    room((0.3 if packed else 0.8) * keys * RECORDS)

    assert outcome(folder, "--jobs", "1") == expected
    assert engines == [1]


def test_wherever_validation_is_a_step(tmp_path: Path, engines: list[int], room: Any) -> None:
    source = tmp_path / "source"
    source.mkdir()
    chunks(source)
    room(0.5 * RECORDS)

    result = convert(source, tmp_path / "out", to="beir", memory_limit=16 << 20)

    assert result.ok
    assert len(engines) == 2  # the source and the output


def test_processes_work_and_progress_is_told(tmp_path: Path, engines: list[int], room: Any) -> None:
    told: list[tuple[str, int, int]] = []
    room(RECORDS)

    report = validate(judgements(tmp_path), jobs=2, memory_limit=16 << 20, progress=lambda *words: told.append(words))

    assert engines == [2]
    assert report.counts["error"] > RECORDS
    assert told[-1][1] == told[-1][2]


@pytest.mark.parametrize("what", ["looked up while files are read", "repaired", "not to be sampled"])
def test_what_is_checked_here_whatever_it_takes(
    what: str, tmp_path: Path, engines: list[int], room: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, words = triplets(tmp_path), list[str]()
    if what == "repaired":
        words = ["--fix"]
    elif what == "looked up while files are read":
        (folder / "hard_negative_scores.ndjson").write_text('{"qid": 1, "scores": [[1, 0.5]]}\n')
    else:
        monkeypatch.setattr(outgrown, "_judge", lambda *given: 1 / 0)
    room(1)

    assert outcome(folder, *words)[0] == 1

    assert engines == []
