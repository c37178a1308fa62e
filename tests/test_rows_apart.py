"""Reports of tables whose rows stay in their files: the same as of those that are in the database."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit.database import apart_rows
from ragdatakit.reports.summaries import summarize
from ragdatakit.reports.summary.texts import facts_wanted
from ragdatakit.scanner.library import library
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary
from tests.test_texts_apart import opened

pytestmark = pytest.mark.skipif(library() is None, reason="without a scanner all rows are in the database")

NODES = [
    "d1,document,\"{'content': 'The lamp was lit in 1871.', 'title': 'Lamp'}\"",
    "a,entity,{}",
    "b,entity,{'since': 1871}",
    " ,,{ }",
    '"c ""c""",person,"{""since"": 1, ""aliases"": [""x""]}"',
]
EDGES = ["a,is_mentioned_in,d1,{}", "b,lit,a,\"{'confidence': 0.5, 'source': 's'}\"", "a,lit,b,{'confidence': 0.25}"]


def of_graph(folder: Path, nodes: list[str], edges: list[str], header: str = "name,type,attributes") -> Path:
    stage1 = folder / "processed" / "stage1"
    stage1.mkdir(parents=True)
    (stage1 / "nodes.csv").write_text("\n".join([header, *nodes, ""]))
    (stage1 / "relations.csv").write_text("name,attributes\nlit,{}\nis_mentioned_in,{}\n")
    (stage1 / "edges.csv").write_text("\n".join(["source,relation,target,attributes", *edges, ""]))
    (stage1 / "test.json").write_text(
        '[{"id": "q", "question": "Who?", "answer": "a", "start_nodes": {"entity": ["a", "gone"]},'
        ' "target_nodes": {"document": ["d1"], "entity": ["else", "nobody"]}}]'
    )
    return folder


def summary_of(path: Path, *, apart: bool, tables: tuple[str, ...] = ("edges", "nodes")) -> Summary:
    """With the rows in the database, or, of these tables, not."""
    with opened(path) as database:
        found = summarize(database, alone=apart, examples=8)
        for table in ("nodes", "edges"):
            known = database.column_facts(table, "attributes") is not None
            assert known is (apart and table in tables), table
    return found


@pytest.mark.parametrize(
    ("nodes", "edges", "tables"),
    [
        ([], [], ("edges", "nodes")),
        (["b,entity,{}", "d1,document,{'content': 'again'}"], [*EDGES, "a,x,a,"], ("edges", "nodes")),
        (
            ["short", "x\0y,entity,{}", 'open,"entity'],
            ["nobody,lit,else,{}", "else, ,nobody,{'a'", "a"],
            ("edges", "nodes"),
        ),
        (["k,entity,\"{'type': 'x', 'level': 2}\""], [], ("edges",)),
        (["k,entity,\"{'a\\\\u00e9': 1, 'a\\\\u00e9': 2}\""], [], ("edges", "nodes")),
        (["k,entity,{'derived_by': 'ragdata'}"], [], ()),
    ],
    ids=["sound", "repeated", "odd", "kinds", "escaped", "derived"],
)
def test_rows_apart_give_the_same_report(
    tmp_path: Path, nodes: list[str], edges: list[str], tables: tuple[str, ...]
) -> None:
    folder = of_graph(tmp_path, NODES + nodes, EDGES + edges)
    assert summary_of(folder, apart=True, tables=tables) == summary_of(folder, apart=False)


def test_rows_without_columns(tmp_path: Path) -> None:
    folder = of_graph(tmp_path, ["a", "b", "d1"], EDGES, header="name")
    assert summary_of(folder, apart=True) == summary_of(folder, apart=False)


def test_no_rows(tmp_path: Path) -> None:
    folder = of_graph(tmp_path, [], [])
    assert summary_of(folder, apart=True) == summary_of(folder, apart=False)


def test_columns_with_too_many_values_are_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = of_graph(tmp_path, [*NODES, "e,other,{}"], EDGES)
    monkeypatch.setattr(apart_rows, "_MOST_VALUES", 3)
    found = summary_of(folder, apart=True, tables=("edges",))
    assert found == summary_of(folder, apart=False)


def test_a_table_is_filled_when_somebody_asks_for_it(tmp_path: Path) -> None:
    folder = of_graph(tmp_path, [*NODES, "odd\xff"], EDGES)
    with opened(folder) as database, opened(folder) as other:
        database.wants_facts = facts_wanted(apart=True)
        database.read("edges", "nodes", "documents")
        told = list(database.losses)
        for table in ("edges", "nodes"):
            query = f"select * from main.{table} order by rowid"
            assert database.load(table).execute(query).fetchall() == other.load(table).execute(query).fetchall()
        assert list(database.losses) == told


def test_a_file_that_changed_before_its_rows_were_read_again(tmp_path: Path) -> None:
    folder = of_graph(tmp_path, NODES, EDGES)
    with opened(folder) as database:
        database.wants_facts = facts_wanted(apart=True)
        database.read("nodes", "edges")
        path = folder / "processed" / "stage1" / "edges.csv"
        path.write_text(path.read_text() + "b,lit,b,{}\n")
        with pytest.raises(RagdataError, match="changed while it was read"):
            summarize(database, alone=True)
