"""The DuckDB views of a dataset: as many rows as the report counts records, typed columns, every way files may lie."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.schemas import get_format
from tests.command_line import FIXTURES

ROOT = Path(__file__).parent.parent
BROKEN = (
    *("gfm-rag/broken/" + name for name in ("no-header", "missing-column", "missing-graph-file", "shifted-columns")),
    *(
        "gfm-rag/broken/" + name
        for name in ("unclosed-quote", "lfs-pointer", "documents-not-json", "questions-as-lines")
    ),
    *("sage/broken/" + name for name in ("record-is-array", "mapping-not-json", "dump-not-json", "record-not-json")),
)
VALID = sorted(p for p in (ROOT / "fixtures").glob("*/valid/*") if p.is_dir())


def query(connection: Any, sql: str) -> list[Any]:
    return list(connection.execute(sql).fetchall())


def views(connection: Any) -> list[tuple[str, str]]:
    sql = "select schema_name, view_name from duckdb_views() where not internal and view_name != 'datasets'"
    return [(schema, view) for schema, view in query(connection, sql)]


def write_example(format_name: str, folder: Path) -> Path:
    for name, content in get_format(format_name).example.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return folder


@pytest.mark.broad
@pytest.mark.parametrize("folder", VALID, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_views_have_the_rows_that_the_report_counts(folder: Path) -> None:
    expected: Counter[str] = Counter()
    for dataset in ragdatakit.validate(folder).datasets:
        for file in dataset.files:
            if file.records is not None and get_format(dataset.format).file(file.kind).records:
                expected[file.kind.removeprefix("built-").replace("-", "_")] += file.records

    connection = ragdatakit.connect(folder)
    found: Counter[str] = Counter()
    for schema, view in views(connection):
        found[view] += query(connection, f'select count(*) from "{schema}"."{view}"')[0][0]

    assert +found == +expected


def test_columns_are_typed_by_the_declaration(tmp_path: Path) -> None:
    connection = ragdatakit.connect(write_example("light-splade", tmp_path))

    described = query(connection, "select column_name, column_type from (describe triplets)")

    assert described[:3] == [("qid", "BIGINT"), ("pos_doc_id", "BIGINT"), ("neg_doc_id", "BIGINT")]
    assert [name for name, _ in described[3:]] == ["split", "file"]
    assert query(connection, "select column_type from (describe positives) limit 2") == [("BIGINT",), ("BIGINT[]",)]


def test_splits_and_files_are_columns(tmp_path: Path) -> None:
    connection = ragdatakit.connect(write_example("light-splade", tmp_path))

    rows = query(connection, 'select qid, split, "file" from queries order by qid')

    assert rows == [
        (1, "train", "train/query_master.ndjson"),
        (2, "train", "train/query_master.ndjson"),
        (3, "validation", "validation/query_master.ndjson"),
    ]


def test_shards_and_gzip_are_one_view(tmp_path: Path) -> None:
    write_example("light-splade", tmp_path)
    whole = (tmp_path / "train/triplets.ndjson").read_bytes()
    (tmp_path / "train/triplets.ndjson").unlink()
    shards = tmp_path / "train/triplets"
    shards.mkdir()
    (shards / "a [1]*.ndjson.gz").write_bytes(gzip.compress(whole))
    (shards / "it's b.ndjson").write_bytes(whole)

    connection = ragdatakit.connect(tmp_path)

    rows = query(connection, 'select "file", count(*) from triplets group by all order by all')
    assert rows == [("train/triplets/a [1]*.ndjson.gz", 2), ("train/triplets/it's b.ndjson", 2)]


def test_scores_are_a_map(tmp_path: Path) -> None:
    write_example("light-splade", tmp_path)
    (tmp_path / "hard_negative_scores.ndjson").write_text('{"qid": 1, "scores": {"10": 6.5, "12": -3}}\n')

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, "select scores['12'] from scores") == [(-3.0,)]


def test_chunk_strings_are_cut_at_the_first_colon(tmp_path: Path) -> None:
    chunks = ["0:Note: tides.", "1:", "no colon"]
    (tmp_path / "chunks.json").write_text(json.dumps(chunks))

    connection = ragdatakit.connect(tmp_path / "chunks.json")

    assert query(connection, "select id, text from chunks") == [("0", "Note: tides."), ("1", ""), (None, "no colon")]


def test_chunk_objects_have_the_same_columns(tmp_path: Path) -> None:
    (tmp_path / "chunks.json").write_text(json.dumps([{"id": "0", "text": "Note: tides."}]))

    connection = ragdatakit.connect(tmp_path / "chunks.json")

    assert query(connection, "select id, text from chunks") == [("0", "Note: tides.")]


def test_a_broken_line_is_a_row_of_nulls(tmp_path: Path) -> None:
    write_example("light-splade", tmp_path)
    with (tmp_path / "train/triplets.ndjson").open("a") as file:
        file.write('{"qid": 1,\n')

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, "select count(*), count(qid) from triplets") == [(3, 2)]


def test_corpora_of_both_kinds_have_a_view_each(tmp_path: Path) -> None:
    (tmp_path / "old_corpus.json").write_text('{"Kettle Reef": ["Mapped.", " Twice."]}')
    (tmp_path / "new_corpus.json").write_text('[{"title": "Port Hale", "text": "A harbour.", "idx": 0}]')

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, 'select title, text, "file" from corpus') == [
        ("Port Hale", "A harbour.", "new_corpus.json")
    ]
    assert query(connection, 'select title, sentences, "file" from legacy_corpus') == [
        ("Kettle Reef", ["Mapped.", " Twice."], "old_corpus.json")
    ]


def test_several_datasets_have_a_schema_each(tmp_path: Path) -> None:
    write_example("light-splade", tmp_path / "splade")
    write_example("datamind", tmp_path / "more/mind")

    connection = ragdatakit.connect(tmp_path)

    rows = query(connection, "select * from datasets order by all")
    assert rows == [
        ("more/mind", str(tmp_path / "more/mind"), "datamind"),
        ("splade", str(tmp_path / "splade"), "light-splade"),
    ]
    assert query(connection, 'select count(*) from "more/mind".chunks') == [(2,)]


def test_a_config_leads_to_its_files(tmp_path: Path) -> None:
    write_example("light-splade", tmp_path / "data")
    folder = tmp_path / "data/train"
    config = tmp_path / "toy.yaml"
    config.write_text(
        f"DATA_PATH: {folder}\ntrain_query_master: ${{.DATA_PATH}}/query_master.ndjson\n"
        f"train_doc_master: ${{.DATA_PATH}}/doc_master.ndjson\n"
    )

    connection = ragdatakit.connect(config)

    assert query(connection, 'select count(*), max("file") from queries') == [(2, "data/train/query_master.ndjson")]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    write_example("arag", tmp_path / "a")
    secret = tmp_path / "secret.json"
    shutil.move(tmp_path / "a/questions.json", secret)
    (tmp_path / "a/questions.json").symlink_to(secret)

    with pytest.raises(ragdatakit.RagdataError, match=r"questions\.json was not read: it is a link that leads out"):
        ragdatakit.connect(tmp_path / "a")

    followed = ragdatakit.connect(tmp_path / "a", follow_links=True)
    assert views(followed) == [("main", "chunks"), ("main", "questions")]


def stage1(folder: Path, nodes: bytes) -> Path:
    """A dataset of GFM-RAG whose table of nodes is this."""
    write_example("gfm-rag", folder)
    (folder / "processed/stage1/nodes.csv").write_bytes(nodes)
    return folder


def test_cells_of_a_table_are_text_as_written(tmp_path: Path) -> None:
    rows = (
        b'\xef\xbb\xbfattributes,extra,name,type\r\n{},x, 007 ,TRUE\r\n"{""content"": ""one\r\ntwo""}",,NA,""\r\n'
        b"\r\n{},x,short\r\n{},x,long,entity,more\r\n"
    )

    connection = ragdatakit.connect(stage1(tmp_path, rows))

    assert query(connection, "select name, type, attributes, uid from nodes") == [
        (" 007 ", "TRUE", "{}", None),
        ("NA", "", '{"content": "one\r\ntwo"}', None),
        ("short", "", "{}", None),
        ("long", "entity", "{}", None),
    ]
    assert query(connection, 'select max(split), max("file") from nodes') == [(None, "processed/stage1/nodes.csv")]


def test_blank_lines_before_the_header_are_passed_over(tmp_path: Path) -> None:
    connection = ragdatakit.connect(stage1(tmp_path, b"\n  \nname,type,attributes\nosprey,entity,{}\n"))

    assert query(connection, "select name, type from nodes") == [("osprey", "entity")]


def test_two_columns_of_one_name_give_the_first(tmp_path: Path) -> None:
    connection = ragdatakit.connect(stage1(tmp_path, b"name,type,attributes,name,split\nosprey,entity,{},lena,x\n"))

    assert query(connection, "select name, split from nodes") == [("osprey", None)]


def test_a_long_cell_is_read_whole(tmp_path: Path) -> None:
    cell = b"x" * 5_000_000
    connection = ragdatakit.connect(stage1(tmp_path, b"name,type,attributes\nlog,document," + cell + b"\n"))

    assert query(connection, "select length(attributes) from nodes") == [(5_000_000,)]


@pytest.mark.parametrize("nodes", [b"", b"\n\n", b"name,type,attributes\n", b"just one line", b"\xff\xfe\0\0"])
def test_a_table_without_rows_disturbs_no_other(tmp_path: Path, nodes: bytes) -> None:
    connection = ragdatakit.connect(stage1(tmp_path, nodes))

    assert query(connection, "select * from nodes") == []
    assert query(connection, "select count(*) from relations") == [(2,)]


def test_members_of_an_object_are_rows(tmp_path: Path) -> None:
    write_example("gfm-rag", tmp_path)
    (tmp_path / "raw/documents.json").write_text('{"b": "x \\"y\\"", "a\\"": null,\n "b": "z", "c": [1]}')

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, "select title, text from documents") == [
        ("b", 'x "y"'),
        ('a"', None),
        ("b", "z"),
        ("c", "[1]"),
    ]


def test_a_member_may_be_a_list(tmp_path: Path) -> None:
    connection = ragdatakit.connect(ROOT / "fixtures/gfm-rag/broken/legacy-layout/data")

    assert query(connection, "select column_name, column_type from (describe legacy_entities) limit 2") == [
        ("title", "VARCHAR"),
        ("entities", "VARCHAR[]"),
    ]
    assert query(connection, "select count(*) > 0 from legacy_entities where len(entities) > 0") == [(True,)]


def test_an_object_may_be_larger_than_duckdb_expects(tmp_path: Path) -> None:
    write_example("gfm-rag", tmp_path)
    (tmp_path / "raw/documents.json").write_text(json.dumps({f"log {i}": "x" * 1000 for i in range(20_000)}))

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, "select count(*), min(length(text)) from documents") == [(20_000, 1000)]


@pytest.mark.parametrize(
    "content", ['{"query": "a"}\n{"query": "b"}\n', '[{"query": "a"},\n {"query": "b"}]', '{\n "query": "a"\n}\n']
)
def test_records_may_lie_in_any_container(tmp_path: Path, content: str) -> None:
    (tmp_path / "records.json").write_text(content)

    connection = ragdatakit.connect(tmp_path / "records.json", format="sage")

    assert query(connection, "select query from records") == [("a",), ("b",)][: content.count("query")]


@pytest.mark.parametrize("content", [None, "", "{", "null"])
def test_a_broken_file_disturbs_no_other(tmp_path: Path, content: str | None) -> None:
    write_example("gfm-rag", tmp_path)
    broken = tmp_path / "raw/documents.json"
    broken.unlink() if content is None else broken.write_text(content)

    connection = ragdatakit.connect(tmp_path)

    assert query(connection, "select count(*) from nodes") == [(20,)]
    assert query(connection, "select question from questions") == [("Which boat followed the Osprey?",)]


@pytest.mark.broad
@pytest.mark.parametrize("name", BROKEN)
def test_broken_datasets_open(name: str) -> None:
    connection = ragdatakit.connect(ROOT / "fixtures" / name / "data")

    assert query(connection, "select count(*) from datasets") == [(1,)]


def test_nothing_recognised_is_an_error_of_the_run(tmp_path: Path) -> None:
    with pytest.raises(ragdatakit.RagdataError, match="has no files"):
        ragdatakit.connect(tmp_path)

    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(ragdatakit.RagdataError, match="no dataset recognised"):
        ragdatakit.connect(tmp_path)


@pytest.mark.parametrize(
    ("name", "view", "expected"),
    [
        ("beir/valid/splits", "qrels", [("test", "qrels/test.tsv", 1), ("train", "qrels/train.tsv", 2)]),
        ("beir/valid/splits", "corpus", [(None, "corpus.jsonl", 3)]),
        (
            "gfm-rag/valid/both-loaders",
            "questions",
            [("test", "processed/stage1/test.json", 1), ("train", "processed/stage1/train.json", 1)],
        ),
    ],
)
def test_files_named_after_a_split_are_of_it(name: str, view: str, expected: list[Any]) -> None:
    asked = 'select split, "file", count(*) from {} group by all order by "file"'

    assert query(ragdatakit.connect(FIXTURES / name), asked.format(view)) == expected
    found = ragdatakit.query(FIXTURES / name, asked.format(f"files.{view}"))
    assert [tuple(row.values()) for row in found.to_pylist()] == expected
