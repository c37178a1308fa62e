"""Files of triples are read as graphs, by the table source, from the command line, and with pandas' numbers; what only
looks like them is not."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.converters import Options, get_converter
from ragdatakit.files.detection.plain_names import is_about
from ragdatakit.files.detection.plain_sources import table_dataset, text_dataset
from ragdatakit.files.detection.triple_files import read_triple_head, triple_columns
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.canonical import Edge, Node, Relation
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary
from tests.command_line import FIXTURES, run
from tests.conversion_tools import rows
from tests.upstream_data import UPSTREAM_DATA, needs

GRAPHS = FIXTURES / "plain" / "graphs"
REAL = UPSTREAM_DATA / "kg-triples-small"
RING = "a\tr\tb\nb\tr\tc\nc\tr\ta\n"


def read(path: Path, **given: str) -> CanonicalTables:
    dataset = table_dataset(path, texts="map" in given)
    converter = get_converter("table")
    assert converter.read is not None
    losses = Losses()
    options = Options(values=converter.values(given, "read"))
    return CanonicalTables("graph", "table", converter.read(dataset, RecordReader(losses), options), losses)


def triples(path: Path, **given: str) -> list[tuple[str, str, str]]:
    return [edge[:3] for edge in read(path, **given).peek("edges")]


def losses_of(tables: CanonicalTables) -> list[tuple[str, str, str, int, list[str]]]:
    return [(loss.kind, loss.table, loss.reason, loss.count, loss.examples) for loss in tables.losses]


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_folder_of_splits_is_one_graph() -> None:
    tables = read(GRAPHS / "canals")
    found = rows(tables)

    assert list(found) == ["nodes", "relations", "edges"]
    assert found["edges"][0] == Edge("Weir", "near", "South Lock", '{"split":"test"}')
    assert found["edges"][-1] == Edge("South Lock", "near", "Mill Bridge", '{"split":"valid"}')
    assert [e.attributes for e in found["edges"]] == [
        f'{{"split":"{s}"}}' for s in ["test"] * 2 + ["train"] * 8 + ["valid"]
    ]
    assert found["nodes"][:3] == [Node("Weir"), Node("South Lock"), Node("Tern")]
    assert len(found["nodes"]) == len(set(found["nodes"])) == 7
    assert found["relations"] == [Relation(name) for name in ("near", "joins", "flows into", "crosses")]
    assert losses_of(tables) == [
        ("dropped", "table", "a side file of a graph, which is not read", 2, ["descriptions.txt", "types.json"])
    ]


def test_columns_that_are_called_as_those_of_edges() -> None:
    assert rows(read(GRAPHS / "orchard")) == {
        "nodes": [Node(name) for name in ("Conference", "Quince A", "Doyenne", "Row 3", "Row 4")],
        "relations": [Relation("grafted on"), Relation("kept in")],
        "edges": [
            Edge("Conference", "grafted on", "Quince A", '{"since":"1994"}'),
            Edge("Doyenne", "grafted on", "Quince A"),
            Edge("Quince A", "kept in", "Row 3", '{"since":"2001"}'),
            Edge("Doyenne", "kept in", "Row 4"),
        ],
    }


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("head relation tail", ["head relation tail"]),
        ("Head Tail Relation", ["Head Relation Tail"]),
        ("subject predicate object", ["subject predicate object"]),
        ("subject relation object weight", ["subject relation object"]),
        ("source relation target", ["source relation target"]),
        ("h r t", ["h r t"]),
        ("source target", []),
        ("source r target", []),
        ("head relation target", []),
        ("source relation target head tail", ["source relation target", "head relation tail"]),
    ],
)
def test_names_of_columns(names: str, expected: list[str]) -> None:
    assert [" ".join(columns) for columns in triple_columns(names.split())] == expected


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("kg.txt", RING),
        ("kg.tsv", RING),
        ("kg.csv", RING),
        ("kg.txt.gz", gzip.compress(RING.encode())),
        ("KG.TSV.gz", gzip.compress(RING.encode())),
        ("crlf.txt", RING.replace("\n", "\r\n")),
        ("bare.txt", RING.removesuffix("\n")),
        ("marked.txt", b"\xef\xbb\xbf" + RING.encode()),
        ("blank.txt", RING.replace("c\t", "\nc\t")),
        ("named.txt", f"head\trelation\ttail\n{RING}"),
        ("named.tsv", f"h\tr\tt\n{RING}"),
        ("named.csv", "subject,predicate,object\n" + RING.replace("\t", ",")),
        ("one.txt", f"Subject\tPredicate\tObject\n{RING}"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 12 else "",
)
def test_forms_of_triples(name: str, content: str | bytes, tmp_path: Path) -> None:
    path = written(tmp_path, name, content)

    assert triples(path) == triples(tmp_path) == [("a", "r", "b"), ("b", "r", "c"), ("c", "r", "a")]


def test_quotes_and_blanks_are_parts_of_names(tmp_path: Path) -> None:
    path = written(tmp_path, "kg.tsv", f'{RING}"a\tr\tb "c"\na\tr\t b\n')

    assert triples(path)[3:] == [('"a', "r", 'b "c"'), ("a", "r", " b")]


LINES = 40
NO_TRIPLES: dict[str, Sequence[tuple[object, ...]]] = {
    "judgements": [(f"q{n // 4}", f"d{n % 7}", n % 3) for n in range(LINES)],
    "judgements of one set of ids": [(n // 4, n % 7, n % 2) for n in range(LINES)],
    "judgements below names": [("query-id", "corpus-id", "score"), *((f"q{n}", "d1", 1) for n in range(LINES))],
    "triplets of numbers": [(n // 8, n // 8 + 3, n) for n in range(LINES)],
    "triplets of one set of ids": [(f"d{n // 8}", f"d{n // 8 + 1}", f"d{n}") for n in range(LINES)],
    "triplets of texts": [(f"What is {n}?", f"It is {n}.", f"It is not {n}.") for n in range(LINES)],
    "ids, titles, texts": [(f"d{n}", f"Title {n % 3}", f"The text of {n}.") for n in range(LINES)],
    "answers with a label": [(f"s{n}", "entails", f"t{n}") for n in range(LINES)],
    "words with tags": [tuple(cells.split()) for cells in ("A DT B", "sea NN I", ". . O", "it PR B", "is VB O")] * 8,
    "texts with a label": [("x" * 99 + str(n), "entails", "x" * 99 + str(n + 1)) for n in range(LINES)],
    "an empty cell": [("a", "r", "b"), ("b", "r", ""), ("b", "r", "a"), ("a", "r", "a")],
    "four cells": [("a", "r", "b"), ("b", "r", "a"), ("b", "r", "a", "x"), ("a", "r", "a")],
    "two lines": [("a", "r", "b"), ("b", "r", "a")],
    "a relation a row": [("a", "r1", "b"), ("b", "r2", "a"), ("a", "r3", "c"), ("c", "r4", "a")],
}


@pytest.mark.parametrize("what", NO_TRIPLES)
def test_what_only_looks_like_triples(what: str, tmp_path: Path) -> None:
    text = "".join("\t".join(map(str, cells)) + "\n" for cells in NO_TRIPLES[what])
    path = written(tmp_path, "a.txt", text)

    head = read_triple_head(path)

    assert head is None or not head.proved
    assert [file.name for file in text_dataset(tmp_path).files] == ["a.txt"]
    (summary,) = ragdatakit.report(tmp_path, examples=0)
    assert (summary.format, [t.name for t in summary.tables if t.rows]) == ("text", ["documents"])


def test_prose_is_no_graph(tmp_path: Path) -> None:
    written(tmp_path, "a.txt", "First\tof all\tprose.\nIt goes on.\n")
    written(tmp_path, "b.txt", b"\xff\x00" * 5000)
    written(tmp_path, "c.txt", "")

    with pytest.raises(RagdataError, match=r"nor a \.txt file of triples"):
        table_dataset(tmp_path)


def test_proof_may_come_late(tmp_path: Path) -> None:
    lines = [f"city{n}\tin\tcountry{n % 40}\n" for n in range(6000)]
    path = written(tmp_path, "kg.txt", "".join([*lines, *(f"country{n}\tnear\tcity{n}\n" for n in range(40))]))

    assert path.stat().st_size > 1 << 16
    assert len(triples(path)) == 6040


def test_a_small_file_beside_a_proved_one(tmp_path: Path) -> None:
    written(tmp_path, "train.txt", RING)
    written(tmp_path, "test.txt", "x\tr\ty\n")
    written(tmp_path, "qrels.tsv", "q1\tr\t1\n")
    tables = read(tmp_path)

    assert next((e[:3], e.attributes) for e in tables.peek("edges")) == (("x", "r", "y"), '{"split":"test"}')
    assert len(list(tables.peek("edges"))) == 4
    assert [reason for _, _, reason, _, _ in losses_of(tables)] == [
        "a file without a text, question, judgement or edge"
    ]


def test_rows_that_lack_a_name_are_reported(tmp_path: Path) -> None:
    late = "".join(f"n{n}\tr\tn{n + 1}\n" for n in range(200_000 // 8))
    path = written(tmp_path, "kg.txt", f"{RING}{late}x\tr\n\tr\ty\nx\t \ty\nx\tr\ty\tz\n")
    tables = read(path)
    edges = list(tables.peek("edges"))

    assert edges[-1][:3] == ("x", "r", "y")
    assert len(edges) == 25_004
    assert [(kind, table, count) for kind, table, _, count, _ in losses_of(tables)] == [
        ("dropped", "edges", 3),
        ("lost", "table", 1),
    ]


def test_a_map_says_what_is_an_edge(tmp_path: Path) -> None:
    path = written(tmp_path, "two.txt", "a\tr\tb\nb\ts\ta\n")
    words = {"map": "source=1,relation=2,target=3"}

    assert triples(path, **words) == [("a", "r", "b"), ("b", "s", "a")]
    assert triples(path, map="source=3,relation=2,target=1") == [("b", "r", "a"), ("a", "s", "b")]
    with pytest.raises(RagdataError, match=r"--map source=1,relation=2,target=3 says that they are"):
        table_dataset(path)
    outcome = run("report", path, "--json", "-o", "map=source=1,relation=2,target=3")
    assert outcome.json["datasets"][0]["graph"]["edges"] == 2
    outcome = run("convert", path, tmp_path / "out", "--to", "datamind", "--map", "source=1,relation=2,target=3")
    assert (outcome.code, outcome.err) == (0, "")


def test_a_map_of_named_columns(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "from,kind,to,year,note\na,r,b,1900,x\n")
    tables = read(path, map="source=from,relation=kind,target=to,metadata=year")

    assert list(tables.peek("edges")) == [Edge("a", "r", "b", '{"year":"1900"}')]
    assert losses_of(tables) == [("lost", "table", "the map has no place for it", 1, ["x"])]
    with pytest.raises(RagdataError, match=r"an edge of t\.csv needs relation=COLUMN, target=COLUMN, too"):
        read(path, map="source=from")


def test_columns_that_may_be_two_edges(tmp_path: Path) -> None:
    path = written(tmp_path, "t.csv", "source,relation,target,head,tail\na,r,b,c,d\n")

    with pytest.raises(RagdataError, match=r"source may be source or head; .*--map"):
        read(path)


def test_attributes_of_json_rows(tmp_path: Path) -> None:
    line = '{"head": "a", "relation": "r", "tail": "b", "attributes": {"w": 1.50}, "split": "dev", "n": null, "x": [1]}'
    path = written(tmp_path, "kg.jsonl", line)

    assert list(read(path).peek("edges")) == [Edge("a", "r", "b", '{"w":1.50,"x":[1],"split":"dev"}')]


def test_documents_and_edges_of_one_folder(tmp_path: Path) -> None:
    written(tmp_path, "corpus.jsonl", '{"id": "1", "text": "one"}\n')
    written(tmp_path, "kg.tsv", RING)

    assert [t.name for t in ragdatakit.report(tmp_path)[0].tables if t.rows] == [
        "documents",
        "nodes",
        "relations",
        "edges",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, True)
            for name in ("README", "README.md", "readme.txt", "README.ja.md", "SOURCE.md", "LICENSE-MIT.txt")
        ),
        *((name, True) for name in ("LICENSE", "licence.md", "NOTICE.txt", "CHANGELOG.md", "CITATION.cff")),
        *(
            (name, False)
            for name in ("source.txt", "sources-of-rivers.md", "notice-board.txt", "readmes.csv", "notes.md")
        ),
    ],
)
def test_files_about_the_data(name: str, expected: bool) -> None:
    assert is_about(Path("x") / name) is expected


def test_notes_beside_texts_are_no_documents(tmp_path: Path) -> None:
    for name in ("tides.txt", "LICENSE.txt", "README.md", "ships/README.md"):
        written(tmp_path, name, "words\n")

    (summary,) = ragdatakit.report(tmp_path)
    (asked,) = ragdatakit.report(tmp_path, source_format="text")

    assert [table.rows for table in (*summary.tables, *asked.tables)] == [2, 4]
    (found,) = summary.losses
    assert found.startswith("documents: 2 files left out: a file about the data, not of it")
    assert found.endswith("(LICENSE.txt, README.md)")


def test_only_notes_are_texts_where_they_are_asked_for(tmp_path: Path) -> None:
    written(tmp_path, "README.md", "words\n")

    with pytest.raises(RagdataError, match=r"no dataset recognised below .*; it holds README\.md"):
        ragdatakit.report(tmp_path)
    assert [table.rows for table in ragdatakit.report(tmp_path, source_format="text")[0].tables] == [1]


def test_notes_beside_tables_need_no_choice(tmp_path: Path) -> None:
    for name in ("README.md", "SOURCE.md", "LICENSE.txt", "NOTICE.txt", "CHANGELOG.md"):
        written(tmp_path, name, "words\n")
    written(tmp_path, "a.csv", "id,text\n1,one\n")

    assert run("report", tmp_path, "-q").out.startswith(f"{tmp_path.name}: table")


# What commands do


def test_graphs_convert_to_formats_that_hold_them(tmp_path: Path) -> None:
    for target in ("gfm-rag", "datamind"):
        outcome = run("convert", GRAPHS / "canals", tmp_path / target, "--to", target, "--output-format", "json")

        assert (outcome.code, outcome.err) == (0, "")
        assert run("validate", tmp_path / target, "--severity", "error").code == 0
        with ragdatakit.read(tmp_path / target) as back:
            found = Counter(edge[:4] for edge in back.rows("edges") if edge.relation != "is_mentioned_in")
        assert found == Counter(edge[:4] for edge in read(GRAPHS / "canals").peek("edges"))


@pytest.mark.parametrize("target", ["arag", "hipporag", "sage", "beir", "trec", "light-splade"])
def test_other_formats_refuse_a_graph(target: str, tmp_path: Path) -> None:
    outcome = run("convert", GRAPHS / "canals", tmp_path / "out", "--to", target)

    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("words", [("index",), ("eval",), ("retrieve", "--mode", "graph")])
def test_a_graph_has_nothing_to_search(words: tuple[str, ...], tmp_path: Path) -> None:
    pytest.importorskip("tantivy")

    outcome = run(words[0], *words[1:], GRAPHS / "canals", *(["Tern"] if words[0] == "retrieve" else []))

    assert outcome.code == 2
    assert "has nodes, relations, edges" in outcome.err
    assert "Traceback" not in outcome.err


def test_what_the_list_of_conversions_says() -> None:
    assert (
        "edges: source, relation, target, attributes"
        in run("convert", "--list", "--from", "table", "--to", "datamind").out
    )


# Against pandas


def of_pandas(paths: list[Path]) -> dict[str, Any]:
    pd = pytest.importorskip("pandas")
    options: dict[str, Any] = {"sep": "\t", "header": None, "names": ["h", "r", "t"], "quoting": 3}
    frame = pd.concat([pd.read_csv(p, dtype=str, keep_default_na=False, **options) for p in paths], ignore_index=True)
    degrees = pd.concat([frame["h"], frame["t"]]).value_counts()
    label = {name: name for name in degrees.index}  # the smallest name of each part, by going over all edges
    while True:
        known = frame["h"].map(label), frame["t"].map(label)
        least = known[0].where(known[0] < known[1], known[1])
        best = pd.concat([pd.Series(least.array, frame[end].array) for end in "ht"]).groupby(level=0).min().to_dict()
        if best == label:
            break
        label = best
    parts = pd.Series(label).value_counts()
    return {
        "edges": len(frame),
        "nodes": len(degrees),
        "relations": frame["r"].nunique(),
        "components": len(parts),
        "largest_component": parts.max(),
        "self_loops": int((frame["h"] == frame["t"]).sum()),
        "parallel_edges": int(frame.duplicated().sum()),
        "isolated": 0,
        "hubs": sorted(degrees.nlargest(10), reverse=True),
        "by relation": dict(frame["r"].value_counts()),
        "degrees": (degrees.min(), degrees.max(), round(degrees.mean(), 9), degrees.median()),
        "of hubs": dict(degrees),
    }


def agrees(summary: Summary, expected: dict[str, Any]) -> None:
    graph = summary.graph
    assert graph is not None
    names = (
        "edges",
        "nodes",
        "relations",
        "components",
        "largest_component",
        "self_loops",
        "parallel_edges",
        "isolated",
    )
    assert {name: getattr(graph, name) for name in names} == {name: expected[name] for name in names}
    assert [hub.degree for hub in graph.hubs] == expected["hubs"][: len(graph.hubs)]
    assert all(expected["of hubs"][hub.name] == hub.degree for hub in graph.hubs)
    rows_of = {table.name: table.rows for table in summary.tables}
    assert rows_of == {name: expected[name] for name in ("nodes", "relations", "edges")}
    (degree,) = [d for d in summary.distributions if d.name == "nodes.degree"]
    words = (degree.minimum, degree.maximum, round(degree.mean, 9), degree.quantiles[50])
    assert words == expected["degrees"]
    (relations,) = [f for f in summary.frequencies if f.name == "edges.relation"]
    assert dict(relations.values).items() <= expected["by relation"].items()
    assert relations.distinct == expected["relations"]


def test_numbers_of_a_small_graph_are_those_of_pandas() -> None:
    (summary,) = ragdatakit.report(GRAPHS / "canals", examples=0)

    agrees(summary, of_pandas([GRAPHS / "canals" / f"{split}.txt" for split in ("test", "train", "valid")]))


@needs("kg-triples-small")
def test_numbers_of_real_graphs_are_those_of_pandas() -> None:
    summaries = ragdatakit.report(REAL, examples=0)

    assert [summary.name for summary in summaries] == ["codex-s", "kinships", "nations", "umls"]
    assert [s.graph.edges for s in summaries if s.graph is not None] == [36_543, 10_686, 1_992, 6_529]
    for summary in summaries:
        agrees(summary, of_pandas(sorted((REAL / summary.name).glob("*.txt*"))))
        splits = {Path(file.path).name.split(".")[0]: file.records for file in summary.files if file.kind == "triples"}
        assert sum(filter(None, splits.values())) == summary.graph.edges if summary.graph is not None else False
    assert "entity2types.json, relations.en.json, types.en.json" in summaries[0].losses[0]
