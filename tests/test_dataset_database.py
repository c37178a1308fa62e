"""A dataset as a database: the same rows by SQL as by the reader, whatever is in the files; what is saved; clean-up."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import duckdb
import pytest

import ragdatakit
from ragdatakit.api.report import open_database, report
from ragdatakit.converters import sql_files
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sources import ConversionSettings, find_sources
from ragdatakit.converters.sql_tables import sql_tables
from ragdatakit.converters.trec import converter as trec
from ragdatakit.database.dataset_database import Connect, DatasetDatabase, SqlTable
from ragdatakit.database.file_counts import count_files
from ragdatakit.reports.summaries import summarize
from ragdatakit.reports.summary.texts import facts_wanted
from ragdatakit.scanner.library import library
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.conversions import Losses
from tests.conversion_tools import tables_of

FIXTURES = Path(__file__).parents[1] / "fixtures"
FAST = [
    path
    for kind in ("light-splade", "gfm-rag", "beir", "arag", "datamind", "hipporag", "trec")
    for each, path in (
        (each, path) for each in ("valid", "broken") for path in sorted((FIXTURES / kind / each).iterdir())
    )
    if each == "valid" or crc32(path.name.encode()) % 11 == 0  # the same ones, whatever fixtures come
    if path.name != "two-sets"  # of which one is to be chosen
]


def rows(database: DatasetDatabase, table: str) -> list[tuple[Any, ...]]:
    names = ", ".join(f'"{name}"' for name in TABLES[table].columns)
    return database.load(table).execute(f'select {names} from main."{table}" order by rowid').fetchall()


@contextmanager
def both_ways(path: Path) -> Iterator[tuple[DatasetDatabase, DatasetDatabase]]:
    """By SQL however small the files are, and by rows of records that are read field by field."""
    words = ConversionSettings(target_format="")
    source = find_sources(path, words)[0]
    first, second = (read_source(source, words, Losses()) for _ in range(2))
    assert first.records is not None
    assert second.records is not None
    fields = second.records.objects
    second.records.shaped = lambda file, _, container="": fields(file, container)  # type: ignore[method-assign]
    by_sql = sql_tables(source, words, first.records, least_bytes=0)
    with DatasetDatabase(first, source.parts, by_sql) as fast, DatasetDatabase(second, source.parts) as plain:
        yield fast, plain


@pytest.mark.broad
@pytest.mark.parametrize("path", FAST, ids=lambda p: f"{p.parents[1].name}-{p.parent.name}-{p.name}")
def test_sql_gives_what_the_reader_gives(path: Path) -> None:
    try:
        with both_ways(path) as (fast, plain):
            assert fast.tables == plain.tables
            for table in plain.tables:
                assert rows(fast, table) == rows(plain, table), table
            assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]
    except ragdatakit.RagdataError:
        with pytest.raises(ragdatakit.RagdataError):
            report(path)


@pytest.mark.parametrize("name", ["triplet", "shards", "gz", "both"])
def test_light_splade_is_taken_by_sql(name: str) -> None:
    with both_ways(FIXTURES / "light-splade" / "valid" / name) as (fast, _):
        fast.load(*fast.tables)
        assert library() is None or fast.taken_by_sql == set(fast.tables) - {"pair_scores"}


@pytest.mark.parametrize(
    ("path", "tables"),
    [
        ("arag/valid/strings", {"chunks"}),
        ("beir/valid/folder", {"documents", "questions", "qrels"}),
        ("beir/valid/prefixed", {"documents"}),
        ("datamind/valid/both-loaders", {"chunks", "nodes", "edges"}),
        ("datamind/valid/repository", {"chunks", "nodes", "edges"}),
    ],
)
def test_what_is_taken_by_sql(path: str, tables: set[str]) -> None:
    with both_ways(FIXTURES / path) as (fast, _):
        fast.load(*fast.tables)
        assert library() is None or fast.taken_by_sql == tables


def test_a_file_that_changes_meanwhile_is_read_anew(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    shutil.copytree(FIXTURES / "demo-search", folder)
    words = ConversionSettings(target_format="")
    source = find_sources(folder, words)[0]

    def load(connect: Connect, table: str) -> dict[str, int]:
        connect().execute(f'create table main."{table}" (doc_id varchar)')
        with (folder / "corpus.jsonl").open("a") as file:
            file.write('{"_id": "late", "title": "", "text": "Written while it was read."}\n')
        return {}

    way = {"documents": SqlTable("documents", load)}
    with DatasetDatabase(read_source(source, words, Losses()), source.parts, way) as database:
        assert rows(database, "documents")[-1][0] == "late"
        assert not database.taken_by_sql


def test_a_graph_is_taken_by_sql() -> None:
    with both_ways(FIXTURES / "gfm-rag" / "valid" / "many") as (fast, _):
        fast.load(*fast.tables)
        assert {"documents", "nodes", "edges"} <= fast.taken_by_sql


@pytest.mark.parametrize(
    ("file", "row", "noted"),
    [
        ("edges.csv", "", True),
        ("edges.csv", "nobody,is_mentioned_in,else,{}\nelse,r,nobody,{}\n", True),
        ("edges.csv", "a\0b,is_mentioned_in,nobody,{'source': 's'}\nb,'x'\n", True),
        ("nodes.csv", "twice,entity,{}\ntwice,entity,{'a': 1.50}\nodd\n", True),
        ("nodes.csv", 'open,"entity\n', True),
    ],
    ids=["sound", "no-node", "odd-row", "one-name-twice", "open-quote"],
)
def test_the_shape_of_a_graph_is_noted_while_it_is_loaded(file: str, row: str, noted: bool, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "gfm-rag" / "valid" / "many" / "hotpotqa_train1", tmp_path / "set")
    (path,) = (tmp_path / "set").rglob(file)
    path.write_text(path.read_text() + row)
    with both_ways(tmp_path / "set") as (fast, plain):
        found = [summarize(database) for database in (fast, plain)]
        assert (fast.edge_numbers is not None) is (noted and library() is not None)
        assert found[0] == found[1]
        for table in plain.tables:
            assert rows(fast, table) == rows(plain, table), table


BAD_LINES = [
    '{"qid": "x7", "pos_doc_id": 10, "neg_doc_id": 11}',
    '{"qid": -0, "pos_doc_id": -5, "neg_doc_id": 11, "more": 1}',
    '{"qid": 9223372036854775807, "pos_doc_id": 10, "neg_doc_id": 9223372036854775808}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11,}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 1.5}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": true}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": null}',
    '{"qid": 1, "pos_doc_id": 10}',
    '{"qid": 1, "qid": 2, "pos_doc_id": 10, "neg_doc_id": 11}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": NaN}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 1e1}',
    '{"qid": "1", "pos_doc_id": 10, "neg_doc_id": 11}',
    '{"qid": 123456789012345678901234567890, "pos_doc_id": 10, "neg_doc_id": 11}',
    '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11} {"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11}',
    "",
    "null",
    "[1, 10, 11]",
    '{"qid": 1,',
]


@pytest.mark.broad
@pytest.mark.parametrize("reported", [False, True])
@pytest.mark.parametrize("line", BAD_LINES)
def test_a_line_that_readers_differ_on(tmp_path: Path, line: str, reported: bool) -> None:
    folder = light_splade(tmp_path)
    with (folder / "triplets.ndjson").open("a") as file:
        file.write(f"{line}\n" + '{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11}\n')
    with both_ways(tmp_path) as (fast, plain):
        fast.wants_facts = facts_wanted(apart=True) if reported else None
        assert rows(fast, "triplets") == rows(plain, "triplets")
        assert library() is None or fast.taken_by_sql == {"triplets"}
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


@pytest.mark.broad
@pytest.mark.parametrize(
    "listed", ["[10, 11]", "[]", '["10", "x", 11]', "null", "5", "[true, 1.5, null, 12]", "[10", "[[10]]", "[-0]"]
)
def test_a_list_that_readers_differ_on(tmp_path: Path, listed: str) -> None:
    folder = light_splade(tmp_path)
    with (folder / "positive_lists.ndjson").open("a") as file:
        for qid in ("1", '"2"', "null"):
            file.write(f'{{"qid": {qid}, "positive_doc_ids": {listed}}}\n{{"qid": 3, "positive_doc_ids": [11, 10]}}\n')
    with both_ways(tmp_path) as (fast, plain):
        assert rows(fast, "qrels") == rows(plain, "qrels")
        assert library() is None or fast.taken_by_sql == {"qrels"}
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


@pytest.mark.broad
@pytest.mark.parametrize("text", ["5", "true", "null", '{"a": 1}', "[1]", '"\\ud800"', '""', '"5"', "1.5e3"])
def test_a_text_that_is_none(tmp_path: Path, text: str) -> None:
    folder = light_splade(tmp_path)
    with (folder / "doc_master.ndjson").open("a") as file:
        file.write(f'{{"doc_id": 12, "text": {text}}}\n')
    with both_ways(tmp_path) as (fast, plain):
        assert rows(fast, "documents") == rows(plain, "documents")
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


BEIR_LINES = [
    '{"_id": "d9", "title": "t", "text": "x", "metadata": {"url": "u"}}',
    '{"_id": "d9", "title": null, "text": "x"}',
    '{"_id": "d9", "text": "x"}',
    '{"_id": 9, "title": "t", "text": "x", "metadata": {}}',
    '{"_id": "d9", "title": "t", "text": "x", "metadata": null}',
    '{"_id": "d9", "title": "t", "text": "x", "metadata": [], "lang": "en"}',
    '{"_id": "d9", "_id": "d8", "title": "t", "text": "x"}',
    '{"_id": "d9", "title": "t", "text": "\\ud800"}',
    '{"_id": "d9", "title": "t", "text": "\\u00e9\\n\\ud83d\\ude00", "metadata": {}}',
    "",
    "[1]",
]


@pytest.mark.broad
@pytest.mark.parametrize("line", BEIR_LINES)
def test_a_document_of_beir(tmp_path: Path, line: str) -> None:
    plain = '{"_id": "d1", "title": "t", "text": "é", "metadata": {}}\n'
    (tmp_path / "corpus.jsonl").write_text(f"{plain}{line}\n{plain.replace('d1', 'd2')}")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "x", "metadata": {}}\n')
    with both_ways(tmp_path) as (fast, slow):
        assert rows(fast, "documents") == rows(slow, "documents")


ODD_DOCUMENTS = [
    "<DOC><DOCNO>d9</DOCNO><TITLE></TITLE><DATE>1 &gt; 0</DATE><P>b\r\nc</P><TEXT>&lt;&#65;&no; <B>x</B></TEXT></DOC>",
    '<doc><docno>d9</docno><metadata>{"a": 1}</metadata><text>\r\n a\rb &amp;amp; &#x1F600; </Text ></doc >',
    "<DOC><DOCNO>&#57;</DOCNO><num>Number: 3</num><TEXT></TEXT></DOC>",
    "<DOC><DOCNO> </DOCNO><TEXT>no id</TEXT></DOC>",
    "<DOC><DOCNO>d9</DOCNO><TITLE>t</TITLE> the rest </DOC>",
    "<DOC><DOCNO>d9</DOCNO><TEXT>a</TEXT><TEXT>b</TEXT></DOC>",
    "<DOC><DOCNO>d9</DOCNO><TEXT>&#\u0661;</TEXT></DOC>",
    '<DOC docno="d9"><TEXT>a</TEXT></DOC>',
    "<DOC><DOCNO>d9<TEXT>not closed",
    "<DOC><DOCNO>d9</DOCNO><TEXT>\udcff</TEXT></DOC>",
    " </DOC> junk",
]


@pytest.mark.parametrize("document", [*ODD_DOCUMENTS, "\n".join(ODD_DOCUMENTS)], ids=[*map(str, range(12))])
def test_a_document_of_trec(tmp_path: Path, document: str) -> None:
    plain = "<DOC>\n<DOCNO> d1 </DOCNO>\n<TITLE>t</TITLE>\n<TEXT>\n\u00e9 x\n</TEXT>\n</DOC>\n"
    data = f"{plain}{document}\n{plain.replace('d1', 'd2')}".encode("utf-8", "surrogateescape")
    (tmp_path / "documents.trec").write_bytes(data)
    with both_ways(tmp_path) as (fast, slow):
        assert rows(fast, "documents") == rows(slow, "documents")
        assert library() is None or fast.taken_by_sql == {"documents"}
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in slow.losses]


@pytest.mark.parametrize(
    ("run", "by_scanner"),
    [
        ("q1 Q0 d1 1 .5 a\nq1 Q0 d2 2 +1e1 a\n\n# no result\nq2 Q0 d1 1 x b\nq2\u3000Q0 d1 7 -0 \u00e9\n", True),
        ("q1 Q0 d1 1 2 a\nq2 Q0 d1 99999999999999999999 1 a\nq2 Q0 d1 0 1 a\n", False),
        ("q1 Q0 d1 0 2 a\nq1 Q0 d2 1 1 a\n", False),
    ],
)
def test_judgements_and_results_of_trec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: str, by_scanner: bool
) -> None:
    monkeypatch.setattr(trec, "_WORTH_SCANNING", 0)
    odd = "q2 1 d1 1\nq2 0 d2 x\nq2 Q0 d3 +7\nq2 0\n\nq2\u00a00 d4 1\n"
    (tmp_path / "qrels.train.txt").write_text(f"q1 0 d1 1\nq1 0 d2 -1\n{odd}q3 0 d1 2")
    (tmp_path / "qrels.test.txt").write_text("q3 0 d1 1\n")
    (tmp_path / "run.a.txt").write_text(run)
    (tmp_path / "topics.tsv").write_text("".join(f"q{n}\ttide tables\n" for n in range(5)))
    with both_ways(tmp_path) as (fast, slow):
        for table in ("questions", "qrels", "runs"):
            assert rows(fast, table) == rows(slow, table)
        assert library() is None or fast.taken_by_sql == {"qrels", "runs"} - ({"runs"} if not by_scanner else set())
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in slow.losses]


ODD_ELEMENTS = [
    '"1:a"',
    '"1:a:b"',
    '":"',
    '"one:a"',
    '"01:a"',
    '"1"',
    "1",
    "null",
    '{"id": "1", "text": "a"}',
    '"1:é"',
    '"1:\\ud800"',
    '"1:\\u0000\\ud83d\\ude00"',
    '"1:\x01"',
    "[1, 2]",
    "",
    '"1:a" "2:b"',
    '"1:a',
    "1]",
]


@pytest.mark.parametrize("element", [*ODD_ELEMENTS, ", ".join(ODD_ELEMENTS[:14])], ids=[*map(str, range(19))])
def test_a_chunk_of_arag(tmp_path: Path, element: str) -> None:
    (tmp_path / "chunks.json").write_text(f'["0:x",\n {element}, "2:\\u00e9\\n", {element}]')
    (tmp_path / "questions.json").write_text("[]")
    with both_ways(tmp_path) as (fast, slow):
        assert rows(fast, "chunks") == rows(slow, "chunks")
        assert library() is None or fast.taken_by_sql == {"chunks"}
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in slow.losses]


CHUNK_LINES = [
    '{"text": "x"}',
    '{"text": "x", "metadata": {}}',
    '{"id": "", "text": " x ", "source": ""}',
    '{"id": null, "text": "x", "source": null}',
    '{"id": "c", "text": "x", "source": "notes.jsonl"}',
    '{"id": "c", "text": "x", "source": "a.md", "metadata": {"page": 1.50, "n": "1e400 é", "m": 1E2, "k": null}}',
    '{"text": "metadata", "metadata" :\t{ "a{}" : "}{", "b":[\t] }}',
    '{"text": "metadata", "metadata" :\t{ "a{}" : "}{", "b": true }}',
    '{"text": "x", "metadata": {"source": "b.md"}}',
    '{"text": "x", "metadata": {"source": "2024-05-06"}}',
    '{"text": "x", "metadata": {"source": 5}}',
    '{"text": "x", "image_path": "a.png", "image_description": "d", "modality": "image", "metadata": {"a": "é"}}',
    '{"text": "x", "metadata": {"a": {"metadata": {}}}}',
    '{"text": "x", "met\\u0061data": {"metadata": 1}}',
    '{"text": "x", "metadata": {"\\u0061": 1}}',
    '{"text": "x", "metadata": {"a": "\\n"}}',
    '{"text": "x", "metadata": {"a": 1, "a": 2}}',
    '{"text": "x", "metadata": null}',
    '{"text": "x", "metadata": {"a": 123456789012345678901234567890}}',
    '{"text": "x", "metadata": {"arag_id": "7"}}',
    '{"text": "x", "lang": "en"}',
    '{"text": "", "image_path": "a.png"}',
    '{"text": ""}',
    '{"id": 7, "text": "x"}',
    '{"text": "x", "source": 5}',
    "",
]


@pytest.mark.broad
@pytest.mark.parametrize("line", CHUNK_LINES)
def test_a_chunk_of_datamind(tmp_path: Path, line: str) -> None:
    (tmp_path / "chunks").mkdir()
    plain = '{"id": "c1", "text": "é", "source": "a.md", "metadata": {"page": 3, "k": "v"}}\n'
    for name in ("notes", "others"):
        (tmp_path / "chunks" / f"{name}.jsonl").write_text(f"{plain}{line}\n{plain}")
    with both_ways(tmp_path) as (fast, slow):
        assert rows(fast, "chunks") == rows(slow, "chunks")
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in slow.losses]


@pytest.mark.parametrize("numbers", ["[0, 1, 7, -3]", "[1.5]", "[true]", "[[]]"])
def test_ids_of_datamind_that_are_no_texts(tmp_path: Path, numbers: str) -> None:
    (tmp_path / "chunks").mkdir()
    lines = "".join(json.dumps({"id": given, "text": "x"}) + "\n" for given in json.loads(numbers))
    (tmp_path / "chunks" / "notes.jsonl").write_text(lines)
    with both_ways(tmp_path) as (fast, slow):
        assert rows(fast, "chunks") == rows(slow, "chunks")


TRIPLE_LINES = [
    '{"subject": "Moon", "relation": "r", "object": "Sun"}',
    '{"subject": "Sun", "relation": "r", "object": "Sun", "subject_type": "", "object_type": "Star"}',
    '{"subject": "Sun", "relation": "r", "object": "é", "source": "", "properties": {}}',
    '{"subject": "Sun", "relation": "r", "object": "é", "confidence": 1}',
    '{"subject": "Sun", "relation": "r", "object": "é", "confidence": "0.5"}',
    '{"subject": "Sun", "relation": "r", "object": "é", "confidence": 7}',
    '{"subject": "Sun", "relation": "r", "object": "é", "properties": {"since": 1}}',
    '{"subject": "Sun", "relation": "r", "object": "é", "object_properties": {"a": "b"}}',
    '{"subject": "Sun", "relation": "r", "object": "é", "weight": 1}',
    '{"subject": "Sun ", "relation": "r", "object": "é"}',
    '{"subject": "Sun", "relation": "\\u3000r", "object": "é"}',
    '{"subject": "Sun", "relation": "r", "object": "\\u001cé"}',
    '{"subject": "Sun", "relation": "r", "object": " "}',
    '{"subject": "Sun", "relation": "r", "object": 5}',
    '{"subject": "Sun", "relation": "r"}',
]


@pytest.mark.broad
@pytest.mark.parametrize("line", TRIPLE_LINES)
def test_a_triple_of_datamind(tmp_path: Path, line: str) -> None:
    (tmp_path / "triplets").mkdir()
    plain = '{"subject": "Moon", "relation": "r", "object": "Sea", "object_type": "Water", "confidence": 0.25}\n'
    for name in ("b", "a"):
        (tmp_path / "triplets" / f"{name}.jsonl").write_text(f"{plain.replace('Sea', name)}{line}\n{plain}")
    with both_ways(tmp_path) as (fast, slow):
        for table in ("edges", "nodes"):
            assert rows(fast, table) == rows(slow, table)
        assert fast.taken_by_sql == {"nodes", "edges"}
        assert {str(loss.as_dict()) for loss in fast.losses} == {str(loss.as_dict()) for loss in slow.losses}


@pytest.mark.parametrize("path", ["beir/valid/packed", "arag/valid/strings", "datamind/valid/profile", "sage/valid"])
def test_what_reading_counts_is_what_counting_counts(path: str) -> None:
    words = ConversionSettings(target_format="")
    read, plain = (find_sources(FIXTURES / path, words)[0] for _ in range(2))
    with DatasetDatabase(read_source(read, words, Losses()), read.parts) as database:
        database.load(*database.tables)
        assert any(file.records is not None for part in read.parts for file in part.files)
        assert count_files(read.parts, database) == count_files(plain.parts)


def light_splade(tmp_path: Path) -> Path:
    folder = tmp_path / "train"
    folder.mkdir()
    (folder / "doc_master.ndjson").write_text('{"doc_id": 10, "text": "a"}\n{"doc_id": 11, "text": "b"}\n')
    (folder / "query_master.ndjson").write_text('{"qid": 1, "text": "q"}\n')
    (folder / "positive_lists.ndjson").write_text('{"qid": 1, "positive_doc_ids": [10]}\n')
    (folder / "triplets.ndjson").write_text('{"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11}\n')
    return folder


@pytest.mark.parametrize("put", [Path.mkdir, lambda path: path.symlink_to(path.name)], ids=["folder", "link"])
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("light-splade/valid/triplet", "train/query_master.ndjson"),
        ("light-splade/valid/triplet", "train/doc_master.ndjson"),
        ("light-splade/valid/triplet", "train/triplets.ndjson"),
        ("arag/valid/strings", "chunks.json"),
        ("beir/valid/folder", "corpus.jsonl"),
        ("contextual-retrieval/valid/cookbook", "codebase_chunks.json"),
        ("gfm-rag/valid/minimal", "processed/stage1/edges.csv"),
        ("hipporag/valid/repository", "reproduce/dataset/reefs_corpus.json"),
    ],
)
def test_a_file_that_cannot_be_opened_is_a_loss_by_columns_too(
    folder: str, name: str, put: Callable[[Path], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = shutil.copytree(FIXTURES / folder, tmp_path / "set")
    (data / name).unlink()
    put(data / name)
    by_rows = report(data)
    monkeypatch.setattr(sql_tables, "__defaults__", (0,))
    by_columns = report(data)

    assert [(one.losses, one.tables) for one in by_columns] == [(one.losses, one.tables) for one in by_rows]


CELLS = [
    "{}", "", "None", "{'a': 'say \"x\"'}", "{'a': 'b'}", "{'a': \"it's\"}",
    '{"a": 1, "a": 2}', '{"a": [1, 2]}', '{"a": ["x", "y"]}',
    '{"a": ": x"}', '{"a": "x, "}', '{"a": ", ", "b": 1}', "{'a': 'x\\n'}", '{"a": true}', "{'a': True}", "{'a': (1,)}",
    '{"a": 007}', '{"a": 1e400}', "{'confidence': 0.5}", "{'source': 'p1', 'k': 'v'}", "{'derived_by': 'ragdata'}",
    "{'a': 'é漢'}", "{'content': 'text'}", "no dict", "{'a': 1", "{'a': 'b'} ", "{'a': 'b', }", "{'': ''}",
]  # fmt: skip


@pytest.mark.broad
@pytest.mark.parametrize("cell", CELLS)
def test_attributes(tmp_path: Path, cell: str) -> None:
    folder = tmp_path / "stage1"
    folder.mkdir()
    quoted = '"' + cell.replace('"', '""') + '"'
    (folder / "nodes.csv").write_text(
        f"name,type,attributes\na,entity,{quoted}\nb,document,{{}}\nc,document,{quoted}\n"
    )
    (folder / "relations.csv").write_text("name,attributes\nr,{}\n")
    edges = "".join(f"{s},r,{t},{c}\n" for s, t, c in [("a", "b", "{}"), ("b", "c", quoted), ("c", "a", "{}")])
    (folder / "edges.csv").write_text(f"source,relation,target,attributes\n{edges}")
    with both_ways(tmp_path) as (fast, plain):
        for table in ("nodes", "edges", "documents"):
            assert rows(fast, table) == rows(plain, table)


ODD_ROWS = {
    "short": b"n1\n",
    "long": b"n1,entity,{},more\n",
    "nul": b"n\0,entity,{}\n",
    "control": b"n\x01,entity,{}\n",
    "not UTF-8": b"n\xff,entity,{}\n",
    "blanks before a quote": b'n1, "entity", {}\n',
    "a quote within": b'n"1,entity,{}\n',
    "more behind a quote": b'"n"1,entity,{}\n',
    "several lines": b'"n\n1",entity,"{\'a\': 1}"\n',
    "several lines, a blank one": b'"n\n\n1",entity,{}\n',
    "an open quote": b'"n1,entity,{}\n',
    "blank": b"\n",
    "only blanks": b"  \n",
    "CR LF": b"n1,entity,{}\r\n",
    "CR": b"n1,entity,{}\rn2,entity,{}\r",
    "a word": b"n1,entity,word\n",
    "half a character": b"n1,entity,\"{'a': '\\ud800'}\"\n",
    "no end": b"n1,entity,{}",
}


@pytest.mark.broad
@pytest.mark.parametrize("place", ["first", "inside", "last"])
@pytest.mark.parametrize("name", ODD_ROWS)
def test_odd_rows_are_read_apart(tmp_path: Path, name: str, place: str) -> None:
    folder = tmp_path / "set" / "processed" / "stage1"
    folder.mkdir(parents=True)
    usual = [b"m%d,entity,\"{'a': %d}\"\n" % (number, number) for number in range(200)]
    usual.insert({"first": 1, "inside": 100, "last": 200}[place], ODD_ROWS[name])
    (folder / "nodes.csv").write_bytes(b"name,type,attributes\n" + b"".join(usual))
    (folder / "relations.csv").write_text("name,attributes\nr,{}\n")
    edges = b"".join(b"m1,r,m%d,{}\n" % number for number in range(100))
    (folder / "edges.csv").write_bytes(
        b"source,relation,target,attributes\n" + edges + ODD_ROWS[name].replace(b"entity", b"r,m2") + edges
    )
    with both_ways(tmp_path) as (fast, plain):
        for table in ("nodes", "edges", "documents"):
            assert rows(fast, table) == rows(plain, table), table
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]
        if library() is not None:
            assert {"nodes", "edges"} <= fast.taken_by_sql


def test_documents_have_the_titles_of_their_nodes(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "documents.json").write_text('{"d2": "A text.", "d3": "Another."}')
    folder = tmp_path / "processed" / "stage1"
    folder.mkdir(parents=True)
    cells = [
        ("d1", "document", "{'title': 'Real', 'content': 'Text of it'}"), ("d2", "entity", "{'title': 'None of it'}"),
        ("d2", "document", "{'title': '\u2003\x85'}"), ("d2", "document", "{'title': 7}"),
        ("d2", "document", "{'title': 'First'}"), ("d2", "document", "{'title': 'Second'}"),
    ]  # fmt: skip
    (folder / "nodes.csv").write_text(
        "name,type,attributes\n" + "".join(f'{name},{kind},"{cell}"\n' for name, kind, cell in cells)
    )
    (folder / "relations.csv").write_text("name,attributes\nr,{}\n")
    (folder / "edges.csv").write_text("source,relation,target,attributes\nd1,r,d2,{}\n")
    with both_ways(tmp_path) as (fast, plain):
        found = rows(fast, "documents")
        assert [row[:3] for row in found] == [
            ("d2", "A text.", "First"), ("d3", "Another.", "d3"), ("d1", "Text of it", "Real")
        ]  # fmt: skip
        assert found == rows(plain, "documents")
        assert "documents" in fast.taken_by_sql


def test_what_rows_cannot_be_is_reported() -> None:
    from ragdatakit.schemas.canonical import Chunk, Document

    half, huge = "a\ud800b", 2**70
    tables = tables_of(documents=[Document("1", half), Document("2", "x")], chunks=[Chunk("1", "t", ordinal=huge)])
    with DatasetDatabase(tables) as database:
        assert [row[1] for row in rows(database, "documents")] == ["a\ufffdb", "x"]
        assert rows(database, "chunks")[0][3] is None
    losses = {(loss.kind, loss.table, loss.column, loss.count) for loss in tables.losses}
    assert losses == {("coerced", "documents", "text", 1), ("lost", "chunks", "ordinal", 1)}


def test_reading_that_fails_keeps_what_was_read() -> None:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.canonical import Document

    def failing() -> Iterator[Document]:
        yield Document("1", "x")
        raise ragdatakit.RagdataError("the disk is gone")

    tables = CanonicalTables("notes", "beir", {"documents": failing}, Losses())
    with DatasetDatabase(tables) as database:
        assert len(rows(database, "documents")) == 1
    (loss,) = tables.losses
    assert "the disk is gone" in loss.reason


def test_views_of_files_stand_beside_the_tables() -> None:
    with open_database(FIXTURES / "beir" / "valid" / "folder") as database:
        connection = database.connection()
        assert set(database.views) == {"corpus", "queries", "qrels"}
        seen = connection.execute("select count(*) from files.corpus").fetchall()[0][0]
        assert seen == database.count("documents") > 0
        with pytest.raises(ragdatakit.UnknownNameError, match="did you mean documents"):
            database.load("document")


def test_scratch_goes_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with open_database(FIXTURES / "beir" / "valid" / "folder") as database:
        assert database.count("documents")
        assert list(tmp_path.iterdir())
    assert not list(tmp_path.iterdir())


def test_several_datasets_are_refused() -> None:
    with pytest.raises(ragdatakit.RagdataError, match=r"holds \d+ datasets"):
        open_database(FIXTURES / "beir" / "valid")


def test_a_saved_database(tmp_path: Path) -> None:
    file = tmp_path / "saved.duckdb"
    report(FIXTURES / "beir" / "valid" / "folder", save=file)
    report(FIXTURES / "beir" / "valid" / "folder", save=file)
    with duckdb.connect(str(file), read_only=True) as connection:
        listed = connection.execute("from datasets").fetchall()
        documents = connection.execute("select doc_id, text from documents").fetchall()
    assert [(row[0], row[2]) for row in listed] == [("main", "beir")]
    given = (FIXTURES / "beir" / "valid" / "folder" / "corpus.jsonl").read_text().splitlines()
    assert documents == [(r["_id"], r["text"]) for r in map(json.loads, given)]
    assert [p.name for p in tmp_path.iterdir()] == ["saved.duckdb"]
    assert file.read_bytes()[12] == 64, "DuckDB 1.0 reads storage version 64, not later ones"


def test_triplets_are_saved_as_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large dataset, too, whose report has a view in their place."""
    saved, folder = [], FIXTURES / "light-splade" / "valid" / "both"
    for name, least in (("large", 0), ("small", 1 << 20)):
        monkeypatch.setattr(sql_tables, "__defaults__", (least,))
        report(folder, save=tmp_path / name)
        with duckdb.connect(str(tmp_path / name), read_only=True) as connection:
            saved.append(
                (connection.execute("describe triplets").fetchall(), connection.sql("from triplets").fetchall())
            )
    assert saved[0] == saved[1]
    assert len(saved[0][1]) > 0


def test_saved_datasets_have_schemas_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "saved.duckdb"
    valid = FIXTURES / "beir" / "valid"
    copied = shutil.copytree(valid / "folder", tmp_path / "folder")
    report([valid / "folder", valid / "splits", copied], save=file)
    with duckdb.connect(str(file), read_only=True) as connection:
        listed = connection.execute('select "schema", path from datasets').fetchall()
        assert [row[0] for row in listed] == ["folder", "splits", "folder beir"]
        assert connection.execute('select count(*) from "folder beir".documents').fetchall()[0][0] > 0


def test_what_is_no_database_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(ragdatakit.RagdataError, match="not a DuckDB database"):
        report(FIXTURES / "beir" / "valid" / "folder", save=file)
    assert file.read_text() == "mine"
    with pytest.raises(ragdatakit.RagdataError, match="not a folder"):
        report(FIXTURES / "beir" / "valid" / "folder", save=tmp_path / "missing" / "x.duckdb")


ODD_DOCUMENTS = [
    '{"_id": 7, "title": "a number", "text": "x"}',
    '{"_id": "d8", "title": null, "text": "x"}',
    '{"_id": "d9", "text": "without a title", "metadata": {"url": "a b", "n": [1, 2]}}',
    '{"_id": "d10", "title": "", "text": "", "metadata": {}}',
    '{"_id": "d11", "title": "more", "text": "x", "more": 1}',
    '{"_id": "d12", "title": "odd", "text": "x", "metadata": [1]}',
    '{"_id": "d13", "title": "odd", "text": "x", "metadata": null}',
    '{"_id": "d14", "title": "twice", "text": "x", "text": "y"}',
    '{"_id": "d15", "title": "no text"}',
    '{"_id": "d16", "title": "caf\\u00e9", "text": "\\ud83d\\ude00 \\n\\t"}',
    '{"_id": "d17", "title": "half", "text": "\\ud83d"}',
    "[]",
    "",
    '{"_id": "d18"',
]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("line", [*ODD_DOCUMENTS, "\n".join(ODD_DOCUMENTS)], ids=[*map(str, range(15))])
def test_a_document_that_readers_differ_on(tmp_path: Path, line: str, ending: str) -> None:
    usual = ['{"_id": "d1", "title": "One", "text": "First."}', '{"_id": "d2", "title": "", "text": "Sécond."}']
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "who"}\n')
    (tmp_path / "corpus.jsonl").write_bytes("".join(one + ending for one in [*usual, line, *usual]).encode())
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    with both_ways(tmp_path) as (fast, plain):
        assert rows(fast, "documents") == rows(plain, "documents")
        assert library() is None or fast.taken_by_sql == {"documents"}
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


ODD_TRIPLES = [
    '{"subject": " a", "relation": "r", "object": "b"}',
    '{"subject": "a", "relation": "", "object": "b"}',
    '{"subject": "a", "relation": "r", "object": "c", "subject_type": null, "confidence": "0.5"}',
    '{"subject": "a", "relation": "r", "object": "c", "confidence": 1, "source": ""}',
    '{"subject": "a", "relation": "r", "object": "c", "confidence": 1e400, "source": "s"}',
    '{"subject": "a", "relation": "r", "object": "c", "properties": { "k" : [1, 2] }, "object_properties": {}}',
    '{"subject": "a", "relation": "r", "object": "c", "properties": null, "subject_properties": [1]}',
    '{"subject": "a", "relation": "r", "object": "c", "since": 1999}',
    '{"subject": "a", "relation": "r", "object": 5}',
    "null",
]


@pytest.mark.parametrize("line", [*ODD_TRIPLES, "\n".join(ODD_TRIPLES)], ids=[*map(str, range(11))])
def test_a_triple_that_readers_differ_on(tmp_path: Path, line: str) -> None:
    folder = tmp_path / "profile"
    (folder / "triplets").mkdir(parents=True)
    (folder / "chunks").mkdir()
    (folder / "chunks" / "a.jsonl").write_text('{"id": "1", "text": "One."}\n')
    usual = '{"subject": "x", "relation": "r", "object": "y", "subject_type": "T", "confidence": 0.25, "source": "z"}'
    (folder / "triplets" / "a.jsonl").write_text(f"{usual}\n{line}\n{usual}\n")
    with both_ways(folder) as (fast, plain):
        for table in ("nodes", "edges"):
            assert rows(fast, table) == rows(plain, table)
        assert {"nodes", "edges"} <= fast.taken_by_sql
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


ODD_CHUNKS = [
    '{"id": 5, "text": "a number"}',
    '{"text": "no id", "source": "a.md"}',
    '{"id": "", "text": "an empty id", "metadata": {"source": "b.md"}}',
    '{"id": "c1", "text": ""}',
    '{"id": "c2", "text": "", "image_path": "i.png"}',
    '{"id": "c3", "text": "x", "source": "", "metadata": {"source": "c.md", "page": 1}}',
    '{"id": "c4", "text": "x", "source": "c.md", "metadata": { "k" : "a\\u00e9", "n": [1, { "m" : 2 }] }}',
    '{"id": "c5", "text": "x", "metadata": { }, "modality": "text", "image_description": ""}',
    '{"id": "a-s1", "text": "x", "source": "c.md", "metadata": {"source_id": "s1", "source": "c.md"}}',
    '{"id": "c6", "text": "x", "metadata": [1], "more": {"deep": null}}',
    '{"id": "c7", "text": "x", "source": "a.jsonl", "metadata": null}',
    '{"id": "c8", "text": "x", "metadata": {"k": 1, "k": 2}}',
    "[]",
]


@pytest.mark.parametrize("files", [1, 2])
@pytest.mark.parametrize("line", [*ODD_CHUNKS, "\n".join(ODD_CHUNKS)], ids=[*map(str, range(14))])
def test_a_chunk_that_readers_differ_on(tmp_path: Path, line: str, files: int) -> None:
    (tmp_path / "chunks").mkdir()
    (tmp_path / "triplets").mkdir()
    (tmp_path / "triplets" / "a.jsonl").write_text('{"subject": "x", "relation": "r", "object": "y"}\n')
    usual = '{"id": "u", "text": "usuál", "source": "c.md", "metadata": {"page": 3}}'
    for number in range(files):
        (tmp_path / "chunks" / f"{'ab'[number]}.jsonl").write_text(f"{usual}\n{line}\n{usual}\n")
    with both_ways(tmp_path) as (fast, plain):
        assert rows(fast, "chunks") == rows(plain, "chunks")
        assert library() is None or "chunks" in fast.taken_by_sql
        assert [loss.as_dict() for loss in fast.losses] == [loss.as_dict() for loss in plain.losses]


@pytest.mark.parametrize(
    "lines",
    [
        *("", "a,b\n", 'a, "b"\n', 'a,"b" ,"c"\n', 'a,  ""b\n', 'a "b"', "a\r\n", "\n", "a\n\nb", " ", "a\n\t\nb"),
        *("a\n ", " a\n\tb\n", "a\n \nb", "\0", "\x1f", "a\t\x0b", "é, é\n"),
    ],
)
def test_what_readers_of_tables_read_alike(lines: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = sql_files.is_read_alike(lines.encode())
    monkeypatch.setattr(sql_files, "library", lambda: None)

    assert sql_files.is_read_alike(lines.encode()) is found
