"""`ragdata convert --engine`: the output is that of one process, to the byte, wherever files are cut."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit import convert
from ragdatakit.api.in_parts import converting
from tests.broad import some
from tests.command_line import FIXTURES, run

_TO = {"beir": "light-splade", "light-splade": "beir"}
_SETS = sorted(p for f in _TO for p in (FIXTURES / f / "valid").iterdir() if p.name != "prefixed")
_SOME = [_SETS[n] for n in some(len(_SETS), 4, of="conversions in parts")]


def outcome(source: Path, target: Path, *words: str) -> Any:
    """What is written, and what is said of it."""
    to = _TO["light-splade" if list(source.rglob("*master*")) else "beir"]
    found = run("convert", source, target, "--to", to, "--output-format", "json", *words)
    files = {path.relative_to(target).as_posix(): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    return found.code, found.out.replace(str(target), "") or found.err.replace(str(target), ""), files


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Parts of so many bytes, in this process."""
    monkeypatch.setattr("ragdatakit.engines.local_engine.has_room", lambda: False)
    return lambda size: monkeypatch.setattr(converting, "PART_BYTES", size)


@pytest.mark.parametrize("folder", _SOME, ids=lambda p: f"{p.parts[-3]}-{p.name}")
def test_fixtures(folder: Path, tmp_path: Path, small_parts: Callable[[int], None]) -> None:
    small_parts(50)
    expected = outcome(folder, tmp_path / "one")

    assert outcome(folder, tmp_path / "two", "--engine", "local") == expected


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents with titles, without texts, with a number or words as ids; judgements of both grades."""
    root, random = tmp_path_factory.mktemp("beir") / "set", Random(8)
    (root / "qrels").mkdir(parents=True)
    documents = [
        {
            "_id": f"d{n}" if n % 9 else f"d {n}",
            "title": "T" * (n % 3),
            "text": f"text {n}" * (n % 17 > 0),
            "metadata": {},
        }
        for n in range(400)
    ]
    questions = [{"_id": f"q{n}", "text": f"what of {n}", "metadata": {}} for n in range(90)]
    for name, records in (("corpus", documents), ("queries", questions)):
        (root / f"{name}.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
    for split in ("train", "test"):
        pairs = {(random.randrange(90), random.randrange(1, 9) + 9 * random.randrange(44)) for _ in range(100)}
        lines = [f"q{q}\td{d}\t{random.choice((0, 1, 2))}\n" for q, d in sorted(pairs)]
        (root / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return root


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A light-splade set of two splits that share documents, in shards."""
    root, random = tmp_path_factory.mktemp("sound") / "set", Random(5)
    for split, first, last in (("train", 0, 200), ("validation", 100, 400)):
        rows: dict[str, list[Any]] = {
            "doc_master": [{"doc_id": n, "text": f"document {n}"} for n in range(first, last)],
            "query_master": [
                {"qid": n, "text": f"query {n}"} for n in range(first, last, 5) if n >= 200 or split == "train"
            ],
        }
        rows["positive_lists"] = [{"qid": q["qid"], "positive_doc_ids": [q["qid"]]} for q in rows["query_master"]]
        if split == "train":
            rows["triplets"] = [
                {"qid": 5 * n, "pos_doc_id": 5 * n, "neg_doc_id": 5 * n + random.randrange(1, 5)} for n in range(40)
            ]
        for name, records in rows.items():
            folder = root / split / name
            folder.mkdir(parents=True)
            lines = [f"{json.dumps(record)}\n" for record in records]
            for shard in range(3):
                (folder / f"part-{shard}.ndjson").write_text(
                    "".join(lines[shard * len(lines) // 3 : (shard + 1) * len(lines) // 3])
                )
    return root


@pytest.fixture(scope="module")
def faulty_beir(beir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with lines that are no records, repeated ids and judgements of what is not there."""
    root = tmp_path_factory.mktemp("faulty") / "set"
    shutil.copytree(beir, root)
    lines = (root / "corpus.jsonl").read_text().splitlines()
    lines[30:30] = ["{", '{"_id": "none"}', "", lines[3]]
    lines += [lines[5], '{"_id": "last", "text": 4}']
    (root / "corpus.jsonl").write_text("\n".join(lines))
    with (root / "qrels" / "train.tsv").open("a") as file:
        file.write("q1\tnowhere\t1\nq1\td1\tx\n")
    return root


@pytest.fixture(scope="module")
def faulty_splade(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of light-splade, with triplets of unknown documents."""
    root = tmp_path_factory.mktemp("faulty") / "set"
    shutil.copytree(sound, root)
    for name, line in (("doc_master", '{"doc_id": 7, "txt": 1}'), ("triplets", '{"qid": 5, "pos_doc_id": 5}')):
        path = root / "train" / name / "part-1.ndjson"
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:4], line, lines[0], *lines[4:], "[]"]) + "\n")
    return root


@pytest.fixture(scope="module")
def no_triplets(sound: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with triplets that are none."""
    root = tmp_path_factory.mktemp("refused") / "set"
    shutil.copytree(sound, root)
    for path in (root / "train" / "triplets").iterdir():
        path.write_text('{"qid": 5}\n' * 5)
    return root


_WAYS = [
    ("sound", ()),
    ("sound", ("--dry-run",)),
    ("sound", ("--sidecar",)),
    ("faulty_splade", ()),
    ("faulty_splade", ("--keep-going",)),
    ("no_triplets", ("--keep-going",)),
    ("beir", ()),
    ("beir", ("--dry-run",)),
    ("beir", ("--sidecar", "--option", "documents=split")),
    ("beir", ("--container", "parquet")),
    ("beir", ("--shard-size", "1KiB")),
    ("beir", ("--shard-size", "2KB", "--option", "documents=split", "--dry-run")),
    ("faulty_beir", ("--shard-size", "5KB", "--option", "documents=all", "--keep-going")),
    ("faulty_beir", ("--keep-going",)),
    ("faulty_beir", ("--keep-going", "--dry-run")),
    ("beir", ("--option", "documents=all", "--seed", "4")),
    ("beir", ("--option", "documents=split", "--option", "title=drop")),
    ("beir", ("--option", "random-negatives=3", "--option", "negatives=2", "--profile", "triplet")),
]


@pytest.mark.parametrize(
    ("name", "words"), _WAYS, ids=lambda value: "-".join(value) if isinstance(value, tuple) else value
)
def test_generated_sets(
    name: str,
    words: tuple[str, ...],
    tmp_path: Path,
    small_parts: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    data = request.getfixturevalue(name)
    small_parts(1500)
    monkeypatch.setattr("ragdatakit.converters.light_splade.document_parts._SPAN_BYTES", 3000)
    expected = outcome(data, tmp_path / "one", *words)

    found = outcome(data, tmp_path / "two", "--engine", "local", *words)

    assert found[0] == (1 if "faulty" in name and not words else 0), found[1]
    assert found == expected
    assert not list(tmp_path.glob(".*"))


def test_shards(beir: Path, tmp_path: Path) -> None:
    found, whole = tmp_path / "shards", tmp_path / "whole"
    result = convert(beir, found, to="light-splade", shard_size=2000)
    convert(beir, whole, to="light-splade")

    for name in ("train/doc_master", "train/triplets", "validation/doc_master", "validation/query_master"):
        shards = sorted((found / name).iterdir())
        stem = name.split("/")[1]
        assert [path.name for path in shards] == [
            f"{stem}-{number:05}-of-{len(shards):05}.ndjson" for number in range(len(shards))
        ]
        assert all(path.stat().st_size <= 2000 for path in shards)
        assert b"".join(path.read_bytes() for path in shards) == (whole / f"{name}.ndjson").read_bytes()
    assert len(shards := list((found / "validation" / "doc_master").iterdir())) == 8
    assert {path.name for path in found.iterdir()} == {
        *("data.yaml", "ragdata.ids.ndjson", "ragdata.json", "train", "validation")
    }
    assert sum(file.records or 0 for file in result.conversions[0].files if "doc_master" in file.name) == 487
    assert run("verify", found).code == 0
    assert run("validate", found / "data.yaml").code == 0
    assert outcome(found, tmp_path / "back")[2]["corpus.jsonl"] == outcome(whole, tmp_path / "b")[2]["corpus.jsonl"]


@pytest.mark.parametrize("words", [(), ("--dry-run",)], ids=["", "dry"])
def test_shards_begun_anew(words: tuple[str, ...], tmp_path: Path) -> None:
    """What was written before an id that is no integer is written again."""
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    for name, ids in (("corpus", ["0", "1", "2", "d1", "d2"]), ("queries", ["q1"])):
        lines = (json.dumps({"_id": each, "text": f"text of {each}" * 50}) + "\n" for each in ids)
        (tmp_path / "set" / f"{name}.jsonl").write_text("".join(lines))
    (tmp_path / "set" / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")

    expected = outcome(tmp_path / "set", tmp_path / "one", "--shard-size", "1KiB", *words)

    assert expected[0] == 0
    assert outcome(tmp_path / "set", tmp_path / "two", "--shard-size", "1KiB", "--engine", "local", *words) == expected


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("beir", "loaders of beir take one file of each kind; with --container parquet it may be several"),
        ("datamind", "loaders of datamind take one file of each kind"),
    ],
)
def test_shards_that_nobody_reads(to: str, said: str, beir: Path, tmp_path: Path) -> None:
    found = run("convert", beir, tmp_path / "out", "--to", to, "--shard-size", "1MB")

    assert found.code == 2
    assert found.err.strip().endswith(said)


def test_ids_that_stay(beir: Path, tmp_path: Path, small_parts: Callable[[int], None]) -> None:
    data = tmp_path / "set"
    (data / "qrels").mkdir(parents=True)
    documents = [{"_id": str(3 * n), "text": f"text {n}", "title": ""} for n in range(200)]
    (data / "corpus.jsonl").write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    (data / "queries.jsonl").write_text("".join(f'{{"_id": "{n}", "text": "what of {n}"}}\n' for n in range(20)))
    lines = "".join(f"{n}\t{3 * n}\t1\n" for n in range(20))
    (data / "qrels" / "train.tsv").write_text(f"query-id\tcorpus-id\tscore\n{lines}")
    small_parts(900)

    expected = outcome(data, tmp_path / "one")

    assert expected[0] == 0
    assert outcome(data, tmp_path / "two", "--engine", "local") == expected


def test_processes_give_the_same(beir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = outcome(beir, tmp_path / "one")
    monkeypatch.setattr(converting, "PART_BYTES", 9000)

    assert outcome(beir, tmp_path / "two", "--engine", "local", "--jobs", "2") == expected


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--to", "arag"),
            "beir to arag is not converted by an engine, but light-splade to beir, beir to light-splade, table to beir",
        ),
        (("--to", "light-splade", "--negatives", "bm25"), "--negatives and --engine do not go together"),
    ],
    ids=lambda value: value[-1] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_in_parts(words: tuple[str, ...], said: str, beir: Path, tmp_path: Path) -> None:
    found = run("convert", beir, tmp_path / "out", "--engine", "local", *words)

    assert found.code == 2
    assert said in found.err
    assert not (tmp_path / "out").exists()


def test_ids_that_mean_two_things(tmp_path: Path) -> None:
    for qid, split, text in ((1, "train", "one"), (2, "validation", "another")):
        folder = tmp_path / "set" / split
        folder.mkdir(parents=True)
        documents = [{"doc_id": 1, "text": text}, {"doc_id": 2, "text": "the same"}]
        (folder / "doc_master.ndjson").write_text("".join(f"{json.dumps(document)}\n" for document in documents))
        (folder / "query_master.ndjson").write_text(f'{{"qid": {qid}, "text": "who"}}\n')
        (folder / "positive_lists.ndjson").write_text(f'{{"qid": {qid}, "positive_doc_ids": [1]}}\n')
    (tmp_path / "set" / "train" / "triplets.ndjson").write_text('{"qid": 1, "pos_doc_id": 1, "neg_doc_id": 2}\n')

    found = run("convert", tmp_path / "set", tmp_path / "out", "--to", "beir", "--engine", "local")

    assert found.code == 2
    assert "has ids that mean one thing in one split and another in the other; leave --engine out" in found.err


def test_a_worker_that_does_not_see_the_folder(
    beir: Path, tmp_path: Path, small_parts: Callable[[int], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    small_parts(1500)
    monkeypatch.setattr(converting, "_SEEN", "unseen")
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(Path, "touch", lambda self: None)

    found = run("convert", beir, tmp_path / "out", "--to", "light-splade", "--engine", "local")

    assert found.code == 2
    assert "convert to a folder on storage that all workers see" in found.err
    assert not list((tmp_path / "out").iterdir())
