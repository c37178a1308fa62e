"""`ragdata report --engine`: the key numbers are those of the ordinary report, wherever files are cut."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.in_parts import reporting
from ragdatakit.converters.table_parts import cut_tables
from ragdatakit.engines.local_engine import LocalEngine
from ragdatakit.schemas.errors import EngineError
from tests.broad import some
from tests.command_line import FIXTURES, run

_MADE = ("coverage.", "splits.", "reading.")
_SETS = sorted(
    p for f in ("beir", "light-splade", "trec") for k in ("valid", "broken") for p in (FIXTURES / f / k).iterdir()
)
_SETS = [p for p in _SETS if sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) < 6_000]
_SOME = [_SETS[n] for n in some(len(_SETS), every=20, of="reports in parts")]


def key_numbers(folder: Path, *words: str) -> Any:
    """What both reports make, of all datasets at a path."""
    found = run("report", folder, "--output-format", "json", *words)
    if found.code:
        return found.code, found.err
    numbers = []
    for one in json.loads(found.out)["datasets"]:
        lengths = [d for d in one["distributions"] if d["unit"] in ("characters", "tokens")]
        notes = [note for note in one["notes"] if note["name"].startswith(_MADE)]
        scripts = [f for f in one["frequencies"] if f["name"].endswith(".script")]
        losses = sorted(sorted(re.split("[(), ]+", words)) for words in one["losses"])  # places in any order
        numbers.append([one["files"], one["tables"], one["ids"], lengths, scripts, notes, losses])
    return numbers


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Parts of so many bytes, in this process."""
    monkeypatch.setattr("ragdatakit.engines.local_engine.has_room", lambda: False)
    return lambda size: monkeypatch.setattr(reporting, "PART_BYTES", size)


@pytest.mark.parametrize("folder", _SOME, ids=lambda p: f"{p.parts[-3]}-{p.name}")
@pytest.mark.parametrize("size", [60])
def test_fixtures(folder: Path, size: int, small_parts: Callable[[int], None]) -> None:
    small_parts(size)

    assert key_numbers(folder, "--engine", "local") == key_numbers(folder)


@pytest.fixture(scope="module")
def splade(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two splits that share some documents, with faults, unknown ids and repeated texts."""
    root, random = tmp_path_factory.mktemp("splade") / "set", Random(5)
    for split, first, last in (("train", 0, 300), ("validation", 100, 500)):
        folder = root / split
        folder.mkdir(parents=True)
        rows: dict[str, list[Any]] = {
            "doc_master": [{"doc_id": n, "text": f"document {n % 90}" * (n % 40 > 0)} for n in range(first, last)],
            "query_master": [{"qid": n, "text": f"query {n}"} for n in range(first, last, 2)],
            "positive_lists": [{"qid": n, "positive_doc_ids": [n, n + 450]} for n in range(first, last, 4)],
        }
        if split == "train":
            rows["triplets"] = [
                {"qid": random.randrange(300), "pos_doc_id": random.randrange(600), "neg_doc_id": random.randrange(600)}
                for _ in range(900)
            ]
        for name, records in rows.items():
            lines = [json.dumps(record) for record in records]
            lines[len(lines) // 3] = '{"qid": '
            lines[len(lines) // 2] = "[]"
            (folder / f"{name}.ndjson").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with and without metadata, judgements of what is not there, questions that have only these."""
    root, random = tmp_path_factory.mktemp("beir") / "set", Random(6)
    (root / "qrels").mkdir(parents=True)
    documents = [{"_id": f"d{n}" if n % 9 else str(n), "title": "", "text": "é" * (n % 60)} for n in range(700)]
    documents += [*documents[:3], {"_id": 5, "text": "a number"}, {"text": "none"}, {"_id": "x", "text": "t", "url": 1}]
    questions = [{"_id": f"q{n}", "text": f"what of {n}", "metadata": {}} for n in range(200)]
    for name, records in (("corpus", documents), ("queries", questions)):
        lines = [json.dumps(record) for record in records]
        (root / f"{name}.jsonl").write_text("\n".join([*lines[:99], "{", "", *lines[99:]]) + "\n")
    for split in ("train", "test", "dev"):
        pairs = [(random.randrange(210), random.randrange(1400), random.choice((0, 1, 2, "x"))) for _ in range(150)]
        lines = [f"q{q}\td{d}\t{s}" for q, d, s in pairs]
        (root / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def trec(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of documents, some without an id, an end or UTF-8; judgements and ranks that are none."""
    root, random = tmp_path_factory.mktemp("trec") / "set", Random(7)
    root.mkdir()
    for file in ("documents.trec", "more.trec"):
        elements = []
        for n in range(300):
            name = f"<DOCNO>{file[0]}{n % 290}</DOCNO>\n" if n % 50 != 9 else ""
            end = "</DOC>\n" if n % 40 != 3 else "\n"
            elements.append(f"<DOC>\n{name}<TEXT>\n{'word ' * (n % 30)}{'é' if n % 25 else chr(0xE9)}\n</TEXT>\n{end}")
        data = "".join(elements).encode()
        (root / file).write_bytes(
            data.replace(b"word \xc3\xa9\n</TEXT>", b"word \xe9\n</TEXT>", 3) + b"<DOC> <DOCNO>last"
        )
    topics = [f"<top>\n<num> Number: {n}\n<title> what of {n}\n</top>\n" for n in range(1, 90)]
    (root / "topics.txt").write_text("".join(topics))
    for split in ("train", "test"):
        judged = [(random.randrange(1, 95), random.randrange(320), random.choice((0, 1, 2, "x"))) for _ in range(300)]
        lines = "".join(f"{q} 0 {random.choice('dm')}{d} {grade}\n" for q, d, grade in judged)
        (root / f"qrels.{split}.txt").write_text(f"{lines}broken line\n\n{lines[:200]}")
    results = [f"{q} Q0 d{random.randrange(320)} {rank} {9 - rank} bm25\n" for q in range(1, 60) for rank in range(4)]
    (root / "run.bm25.txt").write_text("".join(results))
    return root


@pytest.mark.parametrize("large", [False, True], ids=["by-rows", "by-columns"])
@pytest.mark.parametrize("name", ["splade", "beir", "trec"])
def test_generated_sets(
    name: str,
    large: bool,
    small_parts: Callable[[int], None],
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = request.getfixturevalue(name)
    small_parts(12_000)
    monkeypatch.setattr("ragdatakit.api.in_parts.reporting._PARTITION_BYTES", 3000)
    if large:
        monkeypatch.setattr("ragdatakit.api.in_parts.reporting._LEAST_FOR_SQL", 0)
        monkeypatch.setattr("ragdatakit.converters.sql_tables.sql_tables.__defaults__", (0,))

    found = key_numbers(data, "--engine", "local")

    assert found == key_numbers(data)
    assert found[0][6], "it has faults"


def test_processes_give_the_same(splade: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = key_numbers(splade)
    monkeypatch.setattr(reporting, "PART_BYTES", 30_000)

    assert key_numbers(splade, "--engine", "local", "--jobs", "2") == expected


def test_without_a_folder_that_all_see_codes_are_sent(
    splade: Path, small_parts: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = key_numbers(splade)
    small_parts(30_000)
    monkeypatch.setattr(LocalEngine, "shared", None)

    assert key_numbers(splade, "--engine", "local") == expected


def test_what_is_not_made_is_named(beir: Path) -> None:
    out = run("report", beir, "--engine", "local").out

    assert "with an engine: tables, ids, lengths, scripts and coverage; not made are" in out.replace("\n    ", " ")


def test_other_formats_are_read_here() -> None:
    found = run("report", FIXTURES / "arag" / "valid" / "strings", "--engine", "local")

    assert found.code == 0, found.err
    assert "read where the command runs" in found.out


def test_an_id_that_means_two_things_is_read_here(splade: Path, tmp_path: Path) -> None:
    for split, text in (("train", "one"), ("validation", "another")):
        folder = tmp_path / "set" / split
        folder.mkdir(parents=True)
        (folder / "doc_master.ndjson").write_text(json.dumps({"doc_id": 1, "text": text}) + "\n")
        (folder / "query_master.ndjson").write_text('{"qid": 1, "text": "who"}\n')
        (folder / "positive_lists.ndjson").write_text('{"qid": 1, "positive_doc_ids": [1]}\n')

    assert key_numbers(tmp_path / "set", "--engine", "local") == key_numbers(tmp_path / "set")


@pytest.mark.parametrize(
    "words", [("--save-database", "a.duckdb"), ("--node", "A")], ids=lambda words: words[0].strip("-")
)
def test_what_needs_the_whole_is_refused(words: tuple[str, ...], beir: Path) -> None:
    found = run("report", beir, "--engine", "local", *words)

    assert found.code == 2
    assert "needs the dataset in one database; leave --engine out" in found.err


def test_a_file_that_changes_meanwhile_is_an_error(beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = tmp_path / "set"
    data.mkdir()
    (data / "corpus.jsonl").write_bytes((beir / "corpus.jsonl").read_bytes())
    (data / "queries.jsonl").write_bytes((beir / "queries.jsonl").read_bytes())

    def cut(*words: Any) -> Any:
        parts = cut_tables(*words)
        (data / "corpus.jsonl").write_text('{"_id": "a", "text": "b"}\n')
        return parts

    monkeypatch.setattr(reporting, "cut_tables", cut)

    found = run("report", data, "--engine", "local")

    assert found.code == 2
    assert "is not the file that was planned" in found.err


def test_workers_of_another_duckdb(beir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.engines.local_engine.has_room", lambda: False)
    codes = iter((1, 2))
    monkeypatch.setattr(reporting, "known_code", lambda: next(codes))

    found = run("report", beir, "--engine", "local")

    assert found.code == 2
    assert "install the same version of duckdb everywhere" in found.err
    assert EngineError.__name__ not in found.err
