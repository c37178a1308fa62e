"""Quality of graphs and rows of CSV files: what the scanner finds is what is found row by row."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.converters.sql_tables import blocks_of
from ragdatakit.files.containers.csv_rows import CsvReader
from ragdatakit.files.containers.sources import Source
from ragdatakit.quality import graph, located_records
from ragdatakit.quality.rows_having import RowsHaving
from ragdatakit.scanner.library import library
from ragdatakit.scanner.sheets import cut_records

pytestmark = pytest.mark.skipif(library() is None, reason="there is no scanner")

FIXTURES = Path(__file__).parents[1] / "fixtures"
HUBS = {"least-hub-edges": 3, "most-hub-share": 0.01, "least-hub-ratio": 1, "near-words": 4}
ENDS = ("a", "Zürich", 'he said "hi"', "two, or\nmore", "b", "", "x y", "a")


def gfm_rag(folder: Path, odd: bytes = b"") -> Path:
    def quoted(text: str) -> str:
        doubled = text.replace('"', '""')
        return f'"{doubled}"'

    stage = folder / "processed" / "stage1"
    stage.mkdir(parents=True)
    names = [quoted(name) for name in dict.fromkeys(ENDS)]
    nodes = "".join(f"{name},entity,{{}}\n" for name in names)
    documents = 'D1,document,"{""content"": ""of D1"", ""title"": ""First""}"\nD2,document,"{\'content\': \'of D2\'}"\n'
    (stage / "nodes.csv").write_text(f"name,type,attributes\n{nodes}{documents}", encoding="utf-8")
    (stage / "relations.csv").write_text("name,attributes\nr,{}\n")
    edges = [f"{quoted(ENDS[n % 3])},r,{quoted(ENDS[n % 7])},{{}}\n" for n in range(90)]
    edges[10:10] = ["a,r\n", '"b",r,"a","{""derived_by"": ""ragdata""}"\n'] if odd else []
    (stage / "edges.csv").write_bytes(f"source,relation,target,attributes\n{''.join(edges)}".encode() + odd)
    asked = [{"id": f"q{n}", "question": "who?", "answer": "Zürich", "supporting_documents": [f"D{n}"]} for n in (1, 2)]
    (folder / "raw").mkdir()
    (folder / "raw" / "documents.json").write_text(json.dumps({"D1": "the text of the first", "D3": "of the third"}))
    (folder / "raw" / "test.json").write_text(json.dumps(asked))
    return folder


def datamind(folder: Path, odd: bytes = b"") -> Path:
    (folder / "triplets").mkdir(parents=True)
    triples = [{"subject": ENDS[n % 3], "relation": "r", "object": " " * (n % 5 == 0) + ENDS[n % 7]} for n in range(90)]
    lines = "\n".join(json.dumps(triple, ensure_ascii=False) for triple in triples)
    (folder / "triplets" / "t.jsonl").write_bytes(lines.encode() + b"\n" + odd)
    return folder


@pytest.mark.parametrize("odd", [b"", b'b,r,"open\n\xff,r,a,{}\na,r,b,{},too,many\n', b'{"subject": "b"}\n\xff\n'])
@pytest.mark.parametrize("made", [gfm_rag, datamind])
@pytest.mark.parametrize("jobs", [1, 2])
def test_hubs_are_the_same(
    made: Callable[[Path, bytes], Path], odd: bytes, jobs: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", odd)
    by_rows = validate(folder, quality=HUBS, max_per_rule=0, jobs=jobs)
    assert {found.value for found in by_rows.findings if found.code == "QU501"} >= {"a", "Zürich", 'he said "hi"'}

    monkeypatch.setattr("ragdatakit.quality.checked_tables.blocks_of", partial(blocks_of, least_bytes=0))
    seen = list[Any]()
    codes_of = graph._codes_of
    monkeypatch.setattr(graph, "_codes_of", lambda texts: (seen.append(type(texts).__name__), codes_of(texts))[1])
    by_columns = validate(folder, quality=HUBS, max_per_rule=0, jobs=jobs)

    assert set(seen) == {"TextColumn"}
    assert by_columns.findings == by_rows.findings
    assert by_columns.by_rule == by_rows.by_rule


@pytest.mark.parametrize("folder", sorted((FIXTURES / "graphrag").glob("*/*")), ids=lambda folder: folder.name)
def test_text_units_and_ends_of_an_index_are_the_same(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder / "data" if (folder / "data").is_dir() else folder
    by_rows = validate(folder, quality=HUBS, max_per_rule=0)

    monkeypatch.setattr("ragdatakit.quality.checked_tables.blocks_of", partial(blocks_of, least_bytes=0))
    by_columns = validate(folder, quality=HUBS, max_per_rule=0)

    assert by_columns.findings == by_rows.findings


@pytest.mark.parametrize("odd", [b"", b'b,r,"open\n\xff,r,a,{}\na,r,b,{},too,many\n'])
def test_only_rows_that_may_be_meant_are_read(odd: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = gfm_rag(tmp_path / "set", odd)
    read = list[int]()
    rows_of = RowsHaving.of

    def counted(self: RowsHaving, block: Any) -> Any:
        found = list(rows_of(self, block))
        read.append(block.rows - len(found))
        return found

    monkeypatch.setattr(RowsHaving, "of", counted)
    quickly = validate(folder, quality=HUBS, max_per_rule=0)
    assert max(read) > 0
    monkeypatch.setattr(located_records, "library", lambda: None)
    one_by_one = validate(folder, quality=HUBS, max_per_rule=0)

    assert {"QU304", "QU501"} <= {found.code for found in quickly.findings}
    assert quickly.findings == one_by_one.findings


def test_rows_of_very_many_columns_are_read_one_by_one(tmp_path: Path) -> None:
    folder = gfm_rag(tmp_path / "set")
    before = validate(folder, quality=HUBS)
    nodes = folder / "processed" / "stage1" / "nodes.csv"
    further = "".join(f",c{n}" for n in range(1 << 16))
    nodes.write_text(
        nodes.read_text(encoding="utf-8").replace("attributes", f"attributes{further}", 1), encoding="utf-8"
    )

    after = validate(folder, quality=HUBS)

    places = [[(f.code, f.message, f.line) for f in found.findings if f.code[:2] == "QU"] for found in (before, after)]
    assert places[0] == places[1] != []


@pytest.mark.parametrize("share", [2, 1000])
def test_the_scanner_leads_to_a_few_rows_only(tmp_path: Path, share: int) -> None:
    path = tmp_path / "edges.csv"
    lines = [f"{'hub' if n % share == 0 else n},r,b\n" for n in range(3000)]
    path.write_text(f"source,relation,target\n{''.join(lines)}")
    reader = CsvReader(Source(path, gz=False))
    assert reader.open()
    having = RowsHaving(reader, ["hub"])
    reader.quick = cut_records
    (block,) = reader.blocks()
    cuts = list[int]()

    def counted(*given: Any) -> Any:
        cuts.append(1)
        return cut_records(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ragdatakit.quality.rows_having.cut_records", counted)
        found = list(having.of(block))

    assert found == [(n, row) for n, row in enumerate(block.raw_rows()) if n % share == 0]
    assert len(cuts) == (2 if share > 2 else 0)  # each copies what is behind


def trec(folder: Path) -> Path:
    folder.mkdir()
    texts = [
        "few",
        *(f"the barge number {n} carries slate and öre &amp; more" for n in range(40)),
        "the same",
        "the same",
    ]
    odd = ["<DOC><DOCNO></DOCNO><TEXT>no id</TEXT></DOC>", "<DOC><DOCNO>x</DOCNO><TITLE>a title \x08</TITLE></DOC>"]
    plain = [f"<DOC>\n<DOCNO>d{n}</DOCNO>\n<TEXT>{text}</TEXT>\n</DOC>" for n, text in enumerate(texts)]
    (folder / "documents.trec").write_text("\n".join([*plain[:20], *odd, *plain[20:]]), encoding="utf-8")
    (folder / "qrels.txt").write_text("1 0 d1 1\n")
    (folder / "topics.txt").write_text("1\twhich barge?\n")
    return folder


def test_documents_of_trec_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = trec(tmp_path / "set")
    by_rows = validate(folder, quality=HUBS, max_per_rule=0)
    assert {"QU201", "QU202"} <= {found.code for found in by_rows.findings}

    monkeypatch.setattr("ragdatakit.quality.checked_tables.blocks_of", partial(blocks_of, least_bytes=0))
    monkeypatch.setattr("ragdatakit.quality.texts.in_batches", lambda _: pytest.fail("rows were read"))
    monkeypatch.setattr("ragdatakit.quality.texts.check_question_texts", lambda _: None)
    by_columns = validate(folder, quality=HUBS, max_per_rule=0)

    assert by_columns.findings == by_rows.findings
