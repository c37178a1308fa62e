"""Communities and trees of summaries in reports: what is read of them, and what is left out of large ones."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.reports.summary.hierarchy_words import hierarchy_words, left_out_words
from ragdatakit.schemas.canonical import Chunk, Summary
from ragdatakit.schemas.hierarchies import Hierarchy, HierarchyNode
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, tables_of, write_tables
from tests.upstream_data import UPSTREAM_DATA

NANO = FIXTURES / "lightrag" / "valid" / "nano-graphrag"
GRAPHRAG_CSV = NANO.parents[2] / "graphrag" / "valid" / "csv"
UPSTREAM_NANO = UPSTREAM_DATA / "nano-graphrag-workdir"
needs_data = pytest.mark.skipif(not UPSTREAM_NANO.exists(), reason="the real working directory is not here")


def hierarchy_of(path: Path) -> Hierarchy:
    (summary,) = ragdatakit.report(path)
    assert summary.hierarchy is not None
    return summary.hierarchy


def reports(place: Path, changed: dict[str, Any]) -> Path:
    """The fixture of nano-graphrag with other reports."""
    for file in NANO.iterdir():
        (place / file.name).write_bytes(file.read_bytes())
    (place / "kv_store_community_reports.json").write_text(json.dumps(changed))
    return place


def report(level: int, nodes: int, parts: tuple[str, ...] = (), text: str = "# Told\n\nOf it.", **more: Any) -> Any:
    names = [f'"N{n}"' for n in range(nodes)]
    return {"report_string": text, "level": level, "nodes": names, "sub_communities": list(parts), **more}


def tree_at(place: Path, layers: list[list[tuple[int, ...]]]) -> Path:
    """A tree in ragdata's JSON form: by layer, the children of each node."""
    leaves, *above = layers
    chunks = [Chunk(f"t:{n}", f"Leaf {n}.", "t", n) for n in range(len(leaves))]
    summaries, first = [], len(leaves)
    for layer, nodes in enumerate(above, 1):
        for number, children in enumerate(nodes):
            text = f"Summary {layer}/{number}."
            summaries.append(Summary(f"t:{first + number}", layer, text, tuple(f"t:{c}" for c in children)))
        first += len(nodes)
    write_tables(tables_of(chunks=chunks, summaries=summaries), "raptor", place, form="json")
    return place


def test_communities_are_nested_by_their_parts(tmp_path: Path) -> None:
    shown = {"title": "Harbour", "rating": 7.5}
    found = hierarchy_of(
        reports(
            tmp_path,
            {"0": report(0, 5, ("2", "3"), report_json=shown), "1": report(0, 9), "2": report(1, 2), "3": report(1, 3)},
        )
    )

    assert (found.kind, found.all_nodes, found.roots, found.measure) == ("communities", 4, 2, "entities")
    assert [(n.node_id, n.level, n.size, n.parent) for n in found.nodes] == [
        ("1", 0, 9, None),
        ("0", 0, 5, None),
        ("3", 1, 3, 1),
        ("2", 1, 2, 1),
    ]
    assert (found.nodes[1].title, found.nodes[1].rank, found.nodes[1].text) == ("Harbour", 7.5, "# Told\n\nOf it.")
    assert [(level.level, level.nodes, level.largest) for level in found.levels] == [(0, 2, 9), (1, 2, 3)]


def test_levels_and_ranks_that_are_none_do_no_harm(tmp_path: Path) -> None:
    odd = {"0": report(0, 1, ("0", "1"), report_json={"rating": "high"}), "1": report(0, 1, ("0",), "")}

    found = hierarchy_of(reports(tmp_path, odd))

    assert (found.roots, [n.parent for n in found.nodes], [n.rank for n in found.nodes]) == (2, [None] * 2, [None] * 2)
    assert "1 community without a report." in list(hierarchy_words(found))


@pytest.mark.parametrize("level", [10**25, -(10**25), None, True])
def test_a_level_that_is_none_costs_the_others_nothing(level: Any, tmp_path: Path) -> None:
    found = hierarchy_of(reports(tmp_path, {"0": report(0, 1), "1": report(1, 1), "2": report(level, 1)}))

    assert sorted((n.node_id, n.level) for n in found.nodes) == [("0", 0), ("1", 1), ("2", 0)]
    (summary,) = ragdatakit.report(tmp_path)
    assert not summary.losses


def test_a_level_that_no_table_holds_is_reported(tmp_path: Path) -> None:
    shutil.copytree(GRAPHRAG_CSV, tmp_path, dirs_exist_ok=True)
    place = tmp_path / "communities.csv"
    header, *rows = csv.reader(place.read_text("utf-8").splitlines())
    for row, level in zip(rows, ("9" * 25, "0"), strict=False):
        row[header.index("level")] = level
    with place.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])

    found = hierarchy_of(tmp_path)

    assert found.all_nodes == len(rows) and found.levels[0].level == 0


def test_a_tree_has_its_leaves_and_tells_what_it_cannot_reach(tmp_path: Path) -> None:
    found = hierarchy_of(tree_at(tmp_path / "tree", [[(), (), (), ()], [(0, 1), (1, 2)], [(4, 5)]]))

    assert (found.kind, found.all_nodes, found.roots, found.unreached, found.shared) == ("tree", 7, 1, 1, 1)
    assert [(n.node_id, n.parent, n.parents) for n in found.nodes] == [
        ("t:6", None, 0),
        ("t:4", 0, 1),
        ("t:5", 0, 1),
        ("t:0", 1, 1),
        ("t:1", 1, 2),
        ("t:2", 2, 1),
    ]
    words = " ".join(hierarchy_words(found))
    assert "3 summaries in 2 layers above 4 leaves." in words
    assert "1 chunk below no summary" in words
    assert "1 node below several others" in words


def test_of_a_large_tree_the_largest_are_shown(tmp_path: Path) -> None:
    groups = [tuple(range(start, start + 10)) for start in range(0, 3000, 10)]
    place = tree_at(tmp_path / "large", [[()] * 3000, groups, [tuple(range(3000, 3300))]])

    found = hierarchy_of(place)
    page = tmp_path / "page.html"
    outcome = run("report", place, "--output-file", page)

    assert outcome.code == 0
    assert found.all_nodes == 3301
    assert len(found.nodes) < 120
    assert page.stat().st_size < 300_000
    assert "280 more" in page.read_text(encoding="utf-8")
    assert f"{3301 - len(found.nodes):,} are not" in page.read_text(encoding="utf-8")


def test_screens_name_the_largest_communities() -> None:
    text = run("report", NANO).out
    markdown = run("report", NANO, "--output-format", "markdown").out
    document = run("report", NANO, "--json").json["datasets"][0]["hierarchy"]

    assert "Communities\n  1 community on 1 level" in text
    assert "Communities: 1 community on 1 level" in markdown
    assert [node["title"] for node in document["nodes"]] == ["Harbour"]


def test_reports_become_trees_of_another_format(tmp_path: Path) -> None:
    folder = reports(tmp_path, {"0": report(0, 5, ("1",)), "1": report(1, 2, chunk_ids=[])})
    above, below = read_tables(folder).peek("summaries")

    assert (above.summary_id, above.level, above.children) == ("report-0", 2, ("report-1",))
    assert (below.summary_id, below.level) == ("report-1", 1)


@needs_data
def test_real_communities() -> None:
    found = hierarchy_of(UPSTREAM_NANO)

    assert (found.all_nodes, found.roots, len(found.nodes)) == (41, 16, 41)
    assert [(level.nodes, level.largest) for level in found.levels] == [(16, 85), (16, 57), (9, 55)]
    assert found.nodes[0].title == "Ebenezer Scrooge and the Christmas Spirits"


@needs_data
@pytest.mark.parametrize(("version", "shape"), [("v0.4.1", (40, 13)), ("v1.2.0", (43, 11)), ("v3.1.2", (122, 23))])
def test_real_communities_of_graphrag(version: str, shape: tuple[int, int]) -> None:
    """Those of 0.4 name no parents: they are found by their members."""
    found = hierarchy_of(UPSTREAM_DATA / "graphrag" / f"carol-{version}")

    assert (found.all_nodes, found.roots) == shape
    assert found.nodes[0].text


def test_a_page_says_how_many_nodes_it_has(tmp_path: Path) -> None:
    many = reports(tmp_path, {str(n): report(0, 1 + n % 9) for n in range(90)})
    found = hierarchy_of(many)

    assert left_out_words(found) == f"{len(found.nodes)} of them are shown, {90 - len(found.nodes)} are not."
    assert len(found.nodes) < 90
    assert left_out_words(found) in run("report", many, "--output-format", "html").out
    assert "are shown" not in run("report", many).out


def test_one_node_is_and_several_are() -> None:
    def words(shown: int, every: int) -> str:
        node = HierarchyNode("0", 0, "")
        return left_out_words(Hierarchy("communities", (), (node,) * shown, every, 1))

    assert words(1, 3) == "1 of them is shown, 2 are not."
    assert words(2, 3) == "2 of them are shown, 1 is not."
    assert words(3, 3) == ""
