"""Reports on GraphRAG indexes in Parquet, whose tables come by SQL: the same as of rows."""

from __future__ import annotations

import shutil
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.converters.graphrag import held_graph, stored_texts
from ragdatakit.database import text_facts
from ragdatakit.database.text_batches import text_batches
from ragdatakit.files.memory_database import memory_database
from ragdatakit.reports import summaries
from ragdatakit.reports.summaries import summarize
from ragdatakit.reports.summary import shown_texts, texts
from ragdatakit.scanner.library import library
from tests.command_line import FIXTURES
from tests.test_dataset_database import both_ways

duckdb = pytest.importorskip("duckdb")

TABLES = {"documents", "chunks", "nodes", "relations", "edges", "communities", "summaries"}
CHANGES: list[tuple[dict[str, str], set[str]]] = [
    # what SQL still takes: statements by the file that they change
    (
        {
            "entities": "update t set description = chr(1) || 'x', type = null where rowid = 1",
            "relationships": "update t set weight = 1e300, text_unit_ids = list_prepend(null, text_unit_ids)",
            "community_reports": "update t set title = '', rank = 'nan'::double, level = null where rowid = 0",
            "communities": "update t set parent = null, title = null",
            "documents": "alter table t drop column text_unit_ids",
            "text_units": "alter table t add column extra varchar",
        },
        set(),
    ),
    (
        {
            "entities": "update t set description = '' where rowid < 2",
            "community_reports": "update t set full_content = '  ' where rowid = 0",
            "documents": "update t set text_unit_ids = list_reverse(text_unit_ids)",
        },
        set(),
    ),
    # members and children have something else in their places
    (
        {
            "communities": "update t set entity_ids = list_concat(entity_ids, entity_ids, ['of none'], [null]), "
            "text_unit_ids = list_concat(text_unit_ids, text_unit_ids), parent = if(level > 1, -9, parent)",
            "community_reports": "update t set summary = repeat(summary, 9), full_content = chr(9) where rowid % 2 = 0",
        },
        set(),
    ),
    # ends that no entity has, and names that are blank
    (
        {
            "entities": "update t set title = ' ' where rowid = 1",
            "relationships": "update t set source = 'of none', target = '' where rowid = 0; "
            "update t set text_unit_ids = [] where rowid = 1; insert into t from t where rowid = 0",
        },
        set(),
    ),
    # what it leaves to the reader
    (
        {
            "text_units": "alter table t add column extra varchar default 'x'",
            "communities": "insert into t from t limit 1",
            "relationships": "update t set human_readable_id = null, combined_degree = null",
        },
        {"chunks", "summaries", "edges"},
    ),
    (
        {"text_units": "update t set id = 'of no document' where rowid = 0", "entities": "update t set title = 'one'"},
        {"chunks", "nodes"},
    ),
    ({"communities": "update t set entity_ids = list_concat(entity_ids, entity_ids), size = null"}, {"communities"}),
    ({"communities": "update t set entity_ids = list_prepend('of none', entity_ids)"}, {"communities"}),
]


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index without claims."""
    folder = tmp_path / "index"
    shutil.copytree(FIXTURES / "graphrag" / "valid" / "release-2", folder)
    (folder / "covariates.parquet").unlink()
    return folder


def assert_same_report(folder: Path, taken: set[str]) -> None:
    with both_ways(folder) as (fast, plain):
        assert summarize(fast, alone=True, examples=8) == summarize(plain, alone=True, examples=8)
        assert fast.taken_by_sql == taken


@pytest.mark.parametrize(("changes", "left"), CHANGES)
def test_a_report_by_sql_is_that_of_rows(index: Path, changes: dict[str, str], left: set[str]) -> None:
    for name, change in changes.items():
        file = index / f"{name}.parquet"
        with duckdb.connect() as connection:
            connection.execute(f"create table t as from '{file}'; {change}; copy t to '{file}'")
    assert_same_report(index, TABLES - left)


@pytest.mark.parametrize("most_texts", [1 << 15, 1])
@pytest.mark.parametrize("at_once", [1, 300, 1 << 20])
def test_texts_of_which_some_are_counted_are_those_of_rows(
    index: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, most_texts: int
) -> None:
    """However many are read at once, and whether it is known before which ones."""
    monkeypatch.setattr(text_facts, "_MOST_TEXTS", most_texts)
    monkeypatch.setattr(texts, "_MOST_BYTES", 5000)
    monkeypatch.setattr(summaries, "measure", partial(texts.measure, most_bytes=5000))
    monkeypatch.setattr(shown_texts, "_MOST_READ", 3)
    monkeypatch.setattr(stored_texts, "_FIRST_ROWS", 2)
    monkeypatch.setattr(stored_texts, "_AT_ONCE", at_once)
    with duckdb.connect() as connection:
        file = index / "text_units.parquet"
        long = "update t set text = repeat('of the ', 900) where rowid > 1"
        connection.execute(f"create table t as from '{file}'; {long}; copy t to '{file}'")
    assert_same_report(index, TABLES)


def test_reports_are_a_tree_where_no_community_can_be_read(index: Path) -> None:
    entities = index / "entities.parquet"
    data = bytearray(entities.read_bytes())
    data[4:60] = bytes(56)  # of the first page
    entities.write_bytes(data)
    with both_ways(index) as (fast, plain):
        for database in (fast, plain):
            tree = summarize(database, alone=True).hierarchy
            assert tree is not None and tree.kind == "tree"
            (top,) = (place for place, node in enumerate(tree.nodes) if node.parent is None)
            assert {n.node_id for n in tree.nodes if n.parent == top} == {"p1", "p2"}
        assert "summaries" in fast.taken_by_sql


@pytest.mark.parametrize(
    ("kind", "column", "lost"),
    [
        ("community_reports", "full_content_json", "summaries.metadata"),
        ("relationships", "description", "edges.attributes"),
    ],
)
def test_damage_to_what_is_only_shown_is_a_loss(index: Path, kind: str, column: str, lost: str) -> None:
    file = index / f"{kind}.parquet"
    query = f"select min(data_page_offset) from parquet_metadata('{file}') where path_in_schema = '{column}'"
    with duckdb.connect() as connection:
        ((place,),) = connection.execute(query).fetchall()
    data = bytearray(file.read_bytes())
    data[place : place + 4] = b"\xff" * 4
    file.write_bytes(data)

    with both_ways(index) as (fast, _):
        summary = summarize(fast, alone=True)
        assert lost.partition(".")[0] in fast.taken_by_sql

    (loss,) = (words for words in summary.losses if words.startswith(lost))
    assert "values that are shown could not be read" in loss
    assert {e.row[lost.partition(".")[2]] for e in summary.examples if lost.startswith(e.table)} == {None}


@pytest.mark.parametrize("few", [True, False])
def test_nodes_and_edges_stay_in_their_files(index: Path, monkeypatch: pytest.MonkeyPatch, few: bool) -> None:
    """Unless very many types are to be counted."""
    monkeypatch.setattr(held_graph, "_MOST_TYPES", 100 if few else 0)
    with both_ways(index) as (fast, plain):
        assert summarize(fast, alone=True) == summarize(plain, alone=True)
        assert (fast.edge_numbers is not None) == (few and library() is not None)
        names = [name for (name,) in fast.load("nodes").execute("select name from nodes").fetchall()]
        assert names == [node.name for node in plain.rows("nodes")]


def test_claims_and_what_keeps_all_values_leave_tables_to_the_reader(index: Path) -> None:
    with both_ways(index) as (fast, plain):
        assert summarize(fast) == summarize(plain)
        assert not fast.taken_by_sql
    assert_same_report(FIXTURES / "graphrag" / "valid" / "release-2", {"documents", "communities", "summaries"})


@pytest.mark.parametrize("rows", [1 << 11, "what another version of DuckDB has no room for"])
def test_long_texts_come_few_at_once_where_duckdb_can(rows: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragdatakit.database.text_batches._FEW_ROWS", rows)
    query = "select repeat('é', (range % 7)::int) || range as text from range(5000) order by range"
    with memory_database({}) as connection:
        batches = [
            [bytes(batch.data[start:end]).decode() for start, end in pairwise(batch.offsets.tolist())]
            for batch in text_batches(connection, query, are_long=True)
        ]

    assert [text for batch in batches for text in batch] == [f"{'é' * (n % 7)}{n}" for n in range(5000)]
    assert len(batches) == (3 if isinstance(rows, int) else 1)
