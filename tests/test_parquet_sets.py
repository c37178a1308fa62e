"""BEIR and MTEB layouts in Parquet: recognised, judged like the same records in lines, read, written, damaged."""

from __future__ import annotations

import json
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragdatakit
from ragdatakit.files.containers.parquet_rows import shard_split
from ragdatakit.outputs import parquet_files
from tests.broad import examples
from tests.command_line import FIXTURES, run

CORPUS = [{"_id": f"d{n}", "title": "Reef", "text": f"Light {n} is on the reef."} for n in range(5)]
QUERIES = [{"_id": "q1", "text": "Which light?"}, {"_id": "q2", "text": "Which reef?"}]
QRELS = [{"query-id": "q1", "corpus-id": "d1", "score": 1}, {"query-id": "q2", "corpus-id": "d2", "score": 1}]
PLACES = ("corpus/corpus-00000-of-00001.parquet", "queries/queries-00000-of-00001.parquet", "qrels/test.parquet")


def write(path: Path, rows: list[dict[str, Any]], **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path, **options)


def make(folder: Path, corpus: Any = CORPUS, queries: Any = QUERIES, qrels: Any = QRELS, places: Any = PLACES) -> Path:
    for place, rows in zip(places, (corpus, queries, qrels), strict=True):
        write(folder / place, rows, row_group_size=2)
    return folder


def found(folder: Path) -> list[tuple[str, str, int | None, int | None]]:
    report = ragdatakit.validate(folder)
    assert all(finding.line is None and finding.span is None for finding in report.findings)
    return [(f.rule, f.path.rsplit("/", 1)[1], f.record, f.row_group) for f in report.findings]


@pytest.mark.parametrize(
    "places",
    [
        PLACES,
        ("corpus.parquet", "queries.parquet", "qrels.parquet"),
        (
            "corpus/test-00000-of-00001.parquet",
            "queries/test-00000-of-00001.parquet",
            "qrels/test-00000-of-00001.parquet",
        ),
        ("corpus/corpus/0000.parquet", "queries/queries/0000.parquet", "default/test/0000.parquet"),
        ("corpus/a.parquet", "queries/a.parquet", "data/test-00000-of-00001.parquet"),
        ("corpus/a.parquet", "queries/a.parquet", "scifact-qrels/test/0000.parquet"),
    ],
    ids=lambda places: places[2],
)
@pytest.mark.broad(3)
def test_layouts(tmp_path: Path, places: tuple[str, ...]) -> None:
    folder = make(tmp_path / "scifact", places=places)

    report = ragdatakit.validate(folder)
    tables = ragdatakit.read(folder)

    assert report.findings == []
    assert [(file.kind, file.records) for file in report.datasets[0].files] == [
        ("queries", 2),
        ("corpus", 5),
        ("qrels", 2),
    ]
    assert {row.split for row in tables.rows("qrels")} == {"qrels" if places[2] == "qrels.parquet" else "test"}


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("qrels/test-00001-of-00002.parquet", "test"),
        ("default/dev/0003.parquet", "dev"),
        ("qrels/train.parquet", "train"),
        ("qrels/a-b-00000-of-00001.parquet", "a-b"),
        ("qrels/test.tsv", "qrels/test.tsv"),
    ],
)
def test_the_split_of_a_shard(name: str, split: str) -> None:
    assert shard_split(name) == split


def test_places_are_records_and_row_groups(tmp_path: Path) -> None:
    corpus = [*CORPUS, {**CORPUS[3], "text": " "}]
    folder = make(tmp_path / "s", corpus, qrels=[*QRELS, {"query-id": "q1", "corpus-id": "d9", "score": 1}])

    assert found(folder) == [
        ("blank-text", PLACES[0][7:], 5, 2),
        ("duplicate-id", PLACES[0][7:], 5, 2),
        ("dangling-corpus-id", "test.parquet", 2, 1),
    ]


def test_columns_as_loaders_cast_them(tmp_path: Path) -> None:
    """Ids that are integers become text, scores that are whole floats integers."""
    corpus = [{**row, "_id": n} for n, row in enumerate(CORPUS)]
    qrels = [{"query-id": "q1", "corpus-id": 1, "score": 1.0}, {"query-id": "q2", "corpus-id": 2, "score": 2.0}]
    folder = make(tmp_path / "s", corpus, qrels=qrels)

    assert found(folder) == []
    assert [row.doc_id for row in ragdatakit.read(folder).rows("documents")] == ["0", "1", "2", "3", "4"]

    write(folder / PLACES[2], [*qrels, {"query-id": "q2", "corpus-id": 3, "score": 0.5}])
    assert found(folder) == [("score-not-integer", "test.parquet", 2, 0)]


def test_casts_are_those_of_mteb(tmp_path: Path) -> None:
    """As its `RetrievalDatasetLoader` (2.26.24, with datasets 5.2) was seen to cast."""
    casts: dict[str, tuple[list[Any], list[str]]] = {
        "integer": ([1, 2], ["1", "2"]),
        "float": ([1.0, 2.5], ["1", "2.5"]),
        "large": ([1e20, 3.0], ["1e+20", "3"]),
        "boolean": ([True, False], ["true", "false"]),
        "decimal": ([Decimal("1.0"), Decimal("2.5")], ["1.0", "2.5"]),
        "bytes": ([b"a", b"b"], ["a", "b"]),
        "date": ([date(2020, 1, 1), date(2020, 1, 2)], ["2020-01-01", "2020-01-02"]),
    }
    for name, (given, ids) in casts.items():
        corpus = [{"_id": value, "title": "", "text": f"Light {n}."} for n, value in enumerate(given)]
        qrels = [{"query-id": "q1", "corpus-id": given[0], "score": 1}, {**QRELS[1], "corpus-id": given[1]}]
        folder = make(tmp_path / name, corpus, qrels=qrels)

        assert found(folder) == [], name
        assert [row.doc_id for row in ragdatakit.read(folder).rows("documents")] == ids
        assert [row.target_id for row in ragdatakit.read(folder).rows("qrels")] == ids


@pytest.mark.parametrize(
    ("scores", "rules"),
    [
        ([True, False], []),
        (["1", "2"], []),
        ([Decimal("1.0"), Decimal("2.0")], []),
        (["1.0", "2"], ["score-not-integer"]),
        ([1, None], ["score-not-integer"]),
        ([1.0, float("nan")], ["score-not-integer"]),
        ([1, 2**40], ["score-out-of-range", "unusual-score"]),
    ],
    ids=str,
)
def test_scores_as_mteb_casts_them(scores: list[Any], rules: list[str], tmp_path: Path) -> None:
    folder = make(tmp_path / "s", qrels=[{**row, "score": score} for row, score in zip(QRELS, scores, strict=True)])

    assert sorted(rule for rule, *_ in found(folder) if rule != "query-without-judgement") == rules


def test_a_column_id_is_taken_where_there_is_no_other(tmp_path: Path) -> None:
    corpus = [{"id": row["_id"], "text": row["text"]} for row in CORPUS]
    folder = make(tmp_path / "s", [{"title": "", **row} for row in corpus], [{"id": "q1", "text": "Which light?"}])

    assert [rule for rule, *_ in found(folder)] == ["dangling-query-id"]

    write(folder / PLACES[0], [{"id": n, "title": "", "text": f"Light {n}."} for n in range(3)])  # it is not cast
    assert "id-not-string" in {rule for rule, *_ in found(folder)}


@pytest.mark.parametrize(
    ("named", "missing"),
    [
        (("query_id", "doc_id", "relevance"), '"query-id", no "corpus-id", no "score"'),
        (("query-id", "corpus-id", "relevance"), '"score"'),
    ],
)
def test_judgements_under_other_names_are_one_finding(named: tuple[str, ...], missing: str, tmp_path: Path) -> None:
    qrels = [dict(zip(named, row.values(), strict=True)) for row in QRELS]
    folder = make(tmp_path / "s", qrels=qrels)
    there = ", ".join(f'"{name}"' for name in named)

    for outcome in (ragdatakit.validate(folder), ragdatakit.validate(folder, engine="local", jobs=2)):
        (finding,) = outcome.findings
        assert (finding.code, finding.fault) == ("BE122", f"there is no column {missing}; there are {there}")

    assert "BE122" in run("convert", folder, tmp_path / "out", "--to", "arag").out


def test_a_folder_without_files_is_no_corpus(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", places=("corpus/a.parquet", "queries/a.parquet", "qrels/test.parquet"))
    (folder / "corpus" / "a.parquet").rename(folder / "corpus" / ".a.parquet")

    assert found(folder) == [("missing-file", "test.parquet", None, None)]


def test_nested_values_nulls_and_other_types(tmp_path: Path) -> None:
    corpus = [
        {**row, "tags": ["a", None], "more": {"x": n, "y": [{"z": b"\xff"}]}, "big": float("nan")}
        for n, row in enumerate(CORPUS)
    ]
    corpus[2]["title"] = None
    folder = make(tmp_path / "s", corpus)

    assert found(folder) == [("missing-title", PLACES[0][7:], 2, 1)]
    metadata = json.loads(next(iter(ragdatakit.read(folder).rows("documents"))).metadata or "")
    assert metadata == {"tags": ["a", None], "more": {"x": 0, "y": [{"z": "\ufffd"}]}, "big": None}


def test_text_that_is_not_utf_8_is_reported(tmp_path: Path) -> None:
    folder = make(tmp_path / "s")
    rows = pa.Table.from_pylist(CORPUS)
    bad = pa.array([b"ok", b"\xff\xfe", b"ok", b"ok", b"ok"], pa.binary()).view(pa.string())
    pq.write_table(rows.set_column(2, "text", bad), folder / PLACES[0])

    assert ("unreadable-file", PLACES[0][7:], None, None) in found(folder)


def test_the_same_findings_in_lines_and_in_parquet(tmp_path: Path) -> None:
    """Of records with faults of all kinds that a table can hold."""
    corpus = [*CORPUS, CORPUS[0], {"_id": " d8", "title": "", "text": "Light 2 is on the reef."}]
    queries = [*QUERIES, {"_id": "q3", "text": "\u200b"}]
    qrels = [*QRELS, QRELS[0], {**QRELS[1], "score": 7}, {"query-id": "q9", "corpus-id": "d1", "score": 1}]
    folder, lines = make(tmp_path / "s", corpus, queries, qrels), tmp_path / "lines"
    (lines / "qrels").mkdir(parents=True)
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (lines / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    cells = ["query-id\tcorpus-id\tscore", *("\t".join(map(str, row.values())) for row in qrels)]
    (lines / "qrels" / "test.tsv").write_text("".join(f"{line}\n" for line in cells))

    there, here = (ragdatakit.validate(place) for place in (folder, lines))

    shown, expected = (
        sorted((f.rule, f.record, f.pointer or "", f.key or "") for f in report.findings) for report in (there, here)
    )
    assert shown == expected
    assert len(shown) >= 6
    assert [f.record for f in there.findings if f.path.endswith(PLACES[0])] == [5, 5, 6]


def test_big_sets_are_scanned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    corpus = [{"_id": f"d{n}", "title": "", "text": f"Light {n} " * 12} for n in range(300)]
    corpus[200]["_id"] = "d7"
    folder = make(tmp_path / "s", corpus)

    assert found(folder) == [("duplicate-id", PLACES[0][7:], 200, 100)]


def test_reports_queries_and_conversions(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", [{**row, "tags": ["a"]} for row in CORPUS])

    report = run("report", folder, "--output-format", "json")
    views = run("query", folder, 'select count(*) as n, min("file") as f from files.corpus', "--output-format", "json")
    done = run("convert", "--to", "trec", folder, tmp_path / "trec")

    assert [report.code, views.code, done.code] == [0, 0, 0], (report, views, done)
    assert {table["name"]: table["rows"] for table in report.json["datasets"][0]["tables"]} == {
        "documents": 5,
        "questions": 2,
        "qrels": 2,
    }
    assert views.json["rows"] == [{"n": 5, "f": PLACES[0]}]


def test_records_with_errors_are_left_out(tmp_path: Path) -> None:
    qrels = [QRELS[0], {"query-id": "q9", "corpus-id": "d1", "score": 1}, QRELS[1]]
    folder = make(tmp_path / "s", [*CORPUS[:2], {**CORPUS[2], "_id": None}, *CORPUS[2:]], qrels=qrels)

    stopped = ragdatakit.convert(folder, tmp_path / "trec", to="trec")
    result = ragdatakit.convert(folder, tmp_path / "trec", to="trec", keep_going=True)

    assert stopped.refused
    assert result.ok
    assert result.conversions[0].counts == {"documents": 5, "qrels": 2, "questions": 2}


def test_nothing_is_repaired_in_a_parquet_file(tmp_path: Path) -> None:
    folder = make(tmp_path / "s", [{**row, "title": None} for row in CORPUS])
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    outcome = run("validate", "--fix", "--unsafe-fixes", folder)

    assert "BE118" in outcome.out
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["folder", "splits", "with-metadata", "quoted-cells"])
def test_what_is_written_is_read_back_equal(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 1)
    source = FIXTURES / "beir" / "valid" / name

    outcome = run("convert", "--to", "beir", "--container", "parquet", source, tmp_path / "out")
    same = run("diff", source, tmp_path / "out", "--output-format", "json")

    assert outcome.code == 0, outcome
    assert ragdatakit.verify(tmp_path / "out") == []
    assert [table["name"] for table in same.json["tables"] if table.get("changed")] == []
    for table in ("documents", "questions", "qrels"):
        before, after = ([*ragdatakit.read(place).rows(table)] for place in (source, tmp_path / "out"))
        assert [row._replace(field_order=()) if hasattr(row, "field_order") else row for row in before] == [
            row._replace(field_order=()) if hasattr(row, "field_order") else row for row in after
        ]


@pytest.mark.broad(3)
def test_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 20_000)
    monkeypatch.setattr(parquet_files, "_ROWS", 100)
    monkeypatch.setattr(parquet_files, "_ROW_GROUP", 200)
    random = Random(5)
    corpus = [{"_id": f"d{n}", "title": "", "text": random.randbytes(400).hex()} for n in range(1000)]
    folder = make(tmp_path / "s", corpus)
    monkeypatch.setattr("ragdatakit.outputs.file_writers.PIECE", 1000)

    result = ragdatakit.convert(folder, tmp_path / "out", to="beir", container="parquet")

    names = sorted(path.name for path in (tmp_path / "out" / "corpus").iterdir())
    assert result.ok
    assert len(names) > 3
    assert names[0] == f"corpus-00000-of-{len(names):05}.parquet"
    assert [row.doc_id for row in ragdatakit.read(tmp_path / "out").rows("documents")] == [row["_id"] for row in corpus]
    again = ragdatakit.convert(folder, tmp_path / "again", to="beir", container="parquet")
    assert [f.sha256 for c in again.conversions for f in c.files] == [
        f.sha256 for c in result.conversions for f in c.files
    ]


def test_a_format_that_is_not_written_in_parquet_says_so(tmp_path: Path) -> None:
    outcome = run("convert", "--to", "trec", "--container", "parquet", make(tmp_path / "s"), tmp_path / "out")

    assert outcome.code == 2
    assert outcome.err == "ragdata: trec is written in its own container only, not in parquet\n"


def test_without_pyarrow_it_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = make(tmp_path / "s")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)

    read = run("validate", folder)
    written = run("convert", "--to", "beir", "--container", "parquet", folder, tmp_path / "out")

    assert read.code == 0
    assert (written.code, written.err) == (2, "ragdata: this needs pyarrow: pip install 'ragdatakit[parquet]'\n")
    assert not (tmp_path / "out").exists()


def test_damage_is_a_finding(tmp_path: Path) -> None:
    folder, random = make(tmp_path / "s"), Random(7)
    path = folder / PLACES[0]
    sound = path.read_bytes()
    for _ in range(examples(200)):
        data = bytearray(sound[: random.randrange(len(sound))] if random.random() < 0.3 else sound)
        for _ in range(random.choice((1, 2, 8)) if data else 0):
            data[random.randrange(len(data))] = random.randrange(256)
        path.write_bytes(data)

        rules = {finding.rule for finding in ragdatakit.validate(folder).findings}

        assert "rule-crashed" not in rules


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no Parquet file that can be read: "),
        (b"PAR1", "no Parquet file that can be read: "),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n", "Git LFS pointer"),
    ],
)
@pytest.mark.broad(3)
def test_what_is_no_parquet_file(content: bytes, message: str, tmp_path: Path) -> None:
    folder = make(tmp_path / "s")
    (folder / PLACES[0]).write_bytes(content)

    outcome = run("validate", folder)

    assert outcome.code == 1
    assert message in outcome.out
    assert "rule-crashed" not in outcome.out
