"""What other tools make of TREC files: ir_datasets of those we write, pytrec_eval and ir_datasets of damaged ones."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ragdatakit import validate
from ragdatakit.schemas.canonical import Document, Qrel, Question, Run
from tests.broad import examples
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.upstream_data import UPSTREAM_DATA, needs

pytrec_eval = pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")
try:
    from ir_datasets.formats import trec as theirs
except ImportError:
    theirs = None
needs_ir_datasets = pytest.mark.skipif(theirs is None, reason="ir_datasets is not installed (dependency group dev)")

CRANFIELD = UPSTREAM_DATA / "cranfield"


def documents_of(data: bytes, parser: str) -> list[Any]:
    return list(theirs.TrecDocs(None, parser=parser)._parser(io.BytesIO(data)))


def topics_of(data: bytes, **options: Any) -> list[Any]:
    return list(theirs.TrecQueries(SimpleNamespace(stream=lambda: io.BytesIO(data)), **options).queries_iter())


def qrels_of(data: bytes) -> list[Any]:
    return list(theirs.TrecQrels(SimpleNamespace(stream=lambda: io.BytesIO(data)), {}).qrels_iter())


def results_of(data: bytes) -> list[Any]:
    return list(theirs.TrecScoredDocs(SimpleNamespace(stream=lambda: io.BytesIO(data))).scoreddocs_iter())


DOCUMENTS = [
    Document("d1", "Two boats mapped the reef.\nThey left at dawn.", "Light", '{"author":"x","title_page":"a\\nb"}'),
    Document("d2", "AT&T < 3 & R&D <3, a<=b", None),
    Document("d3", "", ""),
    Document("d4", "three\n\nlines", "A & B"),
]
QUESTIONS = [
    Question(
        "q1", "who mapped the reef", metadata='{"desc":"Who mapped it?\\nWhen?","narr":"Names count.","area":"a\\nb"}'
    ),
    Question("q2", "two\nlines"),
    Question("q3", "Topic: a label"),
    Question("q4", "a < b & c"),
]


def written(tmp_path: Path, **options: str) -> Path:
    qrels = [Qrel("q1", "d1"), Qrel("q1", "d2", 0), Qrel("q2", "d4", 2)]
    runs = [Run("q1", "bm25", 1, "d1", score=2.5), Run("q1", "bm25", 2, "d2", score=1.0)]
    tables = tables_of(documents=DOCUMENTS, questions=QUESTIONS, qrels=qrels, runs=runs)
    write_tables(tables, "trec", tmp_path, **options)
    assert validate(tmp_path).ok
    return tmp_path


@needs_ir_datasets
def test_ir_datasets_reads_the_documents(tmp_path: Path) -> None:
    data = (written(tmp_path) / "documents.trec").read_bytes()

    plain, parsed = documents_of(data, "text"), documents_of(data, "sax")
    soup = documents_of(data, "BS4")

    assert (
        [d.doc_id for d in plain] == [d.doc_id for d in parsed] == [d.doc_id for d in soup] == ["d1", "d2", "d3", "d4"]
    )
    assert [d.text for d in plain] == [
        f"{d.title}\n{d.text}\n" if d.title is not None else f"{d.text}\n" for d in DOCUMENTS
    ]
    assert [(d.title, _words(d.body)) for d in parsed] == [(d.title or "", _words(d.text)) for d in DOCUMENTS]
    assert ["".join(d.text.split()) for d in soup] == ["".join(f"{d.title or ''}{d.text}".split()) for d in DOCUMENTS]


@needs_ir_datasets
def test_ir_datasets_reads_the_topics_the_judgements_and_the_run(tmp_path: Path) -> None:
    folder = written(tmp_path)

    topics = topics_of((folder / "topics.txt").read_bytes())
    qrels = qrels_of((folder / "qrels.txt").read_bytes())
    results = results_of((folder / "run.bm25.txt").read_bytes())

    assert [(t.query_id, t.title) for t in topics] == [(q.question_id, q.text) for q in QUESTIONS]
    assert (topics[0].description, topics[0].narrative) == ("Who mapped it?\nWhen?", "Names count.")
    assert {(t.description, t.narrative) for t in topics[1:]} == {("", "")}
    assert [(q.query_id, q.doc_id, q.relevance) for q in qrels] == [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d4", 2)]
    assert [(r.query_id, r.doc_id, r.score) for r in results] == [("q1", "d1", 2.5), ("q1", "d2", 1.0)]


@needs_ir_datasets
def test_ir_datasets_reads_topics_as_xml(tmp_path: Path) -> None:
    data = (written(tmp_path, **{"topic-file": "xml"}) / "topics.xml").read_bytes()
    reader = theirs.TrecXmlQueries(
        SimpleNamespace(stream=lambda: io.BytesIO(data)), theirs.GenericQuery, {"num": "query_id", "title": "text"}
    )

    assert [(q.query_id, q.text) for q in reader.queries_iter()] == [(q.question_id, q.text) for q in QUESTIONS]


def test_pytrec_eval_reads_the_judgements_and_the_run(tmp_path: Path) -> None:
    folder = written(tmp_path)

    with (folder / "qrels.txt").open() as qrels, (folder / "run.bm25.txt").open() as results:
        judged, found = pytrec_eval.parse_qrel(qrels), pytrec_eval.parse_run(results)

    assert judged == {"q1": {"d1": 1, "d2": 0}, "q2": {"d4": 2}}
    assert found == {"q1": {"d1": 2.5, "d2": 1.0}}


TEXTS = st.lists(
    st.sampled_from(
        ["reef", " ", "\n", "<", ">", "&", ";", "/", "!", "DOC", "TEXT", "top", "num", "title", "#32", "amp", "copy"]
    ),
    max_size=12,
).map("".join)


@needs_ir_datasets
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), titles=st.lists(TEXTS, min_size=4, max_size=4))
@example(texts=["</TEXT>\n</DOC>\n<DOC>\n<DOCNO>d9</DOCNO>"], titles=["</top>", "<num> Number: 9", "<3", "&copy=1"])
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_text_is_taken_for_markup(
    texts: list[str], titles: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trec")
    documents = [Document(f"d{i}", text, title) for i, (text, title) in enumerate(zip(texts, titles, strict=False))]
    questions = [Question(f"q{i}", title) for i, title in enumerate(titles)]
    tables = tables_of(documents=documents, questions=questions)

    write_tables(tables, "trec", folder)
    data, topics = (folder / "documents.trec").read_bytes(), topics_of((folder / "topics.txt").read_bytes())
    parsed = documents_of(data, "sax")

    assert [d.doc_id for d in documents_of(data, "text")] == [d.doc_id for d in parsed] == [d.doc_id for d in documents]
    assert [_words(d.body) for d in parsed] == [_words(d.text) for d in documents]
    assert [t.query_id for t in topics] == [q.question_id for q in questions]
    assert all(
        re.sub("&(lt|amp|#32|#10|#9);", "", t.title) or not q.text.strip("<& \n")
        for t, q in zip(topics, questions, strict=True)
    )
    assert rows(read_tables(folder))["documents"] == documents


def _words(text: str) -> str:
    return "".join(text.split())


def test_what_escaping_does_is_in_the_report(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d1", "a <b>bold</b> word", "x &amp; y"), Document("d2", "a < b & c")],
        questions=[Question("q1", "what is <br>", metadata='{"narr":" blank"}')],
    )

    write_tables(tables, "trec", tmp_path)

    losses = [(loss.kind, loss.table, loss.column, loss.examples) for loss in tables.losses]
    assert sorted(losses) == [
        ("derived", "documents", "text", ["d1"]),
        ("derived", "documents", "title", ["d1"]),
        ("derived", "questions", "metadata", ["q1"]),
        ("derived", "questions", "text", ["q1"]),
    ]
    assert not tables.losses.any_lost
    assert all("entities" in loss.reason for loss in tables.losses)
    text = (tmp_path / "documents.trec").read_text()
    assert "a &lt;b>bold&lt;/b> word" in text and "x &amp;amp; y" in text and "a < b & c" in text


def test_ids_are_the_same_between_tags_and_in_lines(tmp_path: Path) -> None:
    names = ["a&b=1", "a&copy=2", "<d>", "x>y"]
    documents = [Document(name, "text") for name in names]
    tables = tables_of(documents=documents, qrels=[Qrel("q1", name) for name in names])

    write_tables(tables, "trec", tmp_path)

    ids = re.findall("<DOCNO>(.*)</DOCNO>", (tmp_path / "documents.trec").read_text())
    assert ids == [line.split()[2] for line in (tmp_path / "qrels.txt").read_text().splitlines()]
    assert ids[0] == "a&b=1" and ids[3] == "x>y"
    assert sum(loss.count for loss in tables.losses if loss.kind == "renumbered") == 2


def test_what_was_written_before_is_read_as_before(tmp_path: Path) -> None:
    (tmp_path / "documents.trec").write_text(
        "<doc>\n<docno>d1</docno>\n<title>T</title>\n<text>a &lt; b &amp; c</text>\n<author>x</author>\n</doc>\n"
    )
    (tmp_path / "topics.xml").write_text(
        "<topics>\n<top>\n<num>q1</num>\n<title>who</title>\n<desc></desc>\n</top>\n</topics>\n"
    )

    found = rows(read_tables(tmp_path))

    assert found["documents"] == [Document("d1", "a < b & c", "T", '{"author":"x"}')]
    assert found["questions"] == [Question("q1", "who", metadata='{"desc":""}')]


@needs_ir_datasets
@needs("cranfield")
def test_a_public_collection_is_read_by_ir_datasets(tmp_path: Path) -> None:
    outcome = run("convert", CRANFIELD, tmp_path / "trec", "--to", "trec", "--option", "topics=position")
    documents = rows(read_tables(tmp_path / "trec"))["documents"]

    parsed = documents_of((tmp_path / "trec/documents.trec").read_bytes(), "sax")
    topics = topics_of((tmp_path / "trec/topics.txt").read_bytes())
    (qrels,) = (tmp_path / "trec").glob("qrels*.txt")

    assert outcome.code == 0
    assert [(d.doc_id, _words(d.body)) for d in parsed] == [(d.doc_id, _words(d.text)) for d in documents]
    assert [t.query_id for t in topics] == [str(i) for i in range(1, 226)]
    assert len(qrels_of(qrels.read_bytes())) == 1837


# Damaged lines: an error exactly where pytrec_eval stops, or measures nothing, or the wrong thing.
_CELLS = ["q1", "q2", "d1", "d2", "0", "1", "-1", "1.0", "x", "+1", "1_0", "nan", "inf", "1e400", "0x1", "٣", "Q0", "#"]
_BETWEEN = [" ", " ", " ", "\t", "\x0b", "\u00a0", "\u3000", "\n", "\n"]
LINE = st.lists(st.sampled_from([*_CELLS, *_BETWEEN, "9223372036854775808", "tag"]), max_size=24).map("".join)


def _stops(parse: Callable[[Any], Any], text: str) -> bool:
    if parse is pytrec_eval.parse_run and any(line.startswith("#") for line in text.splitlines()):
        return True  # a comment of six words is taken for a result
    try:
        found = parse(io.StringIO(text))
        if parse is pytrec_eval.parse_qrel:
            pytrec_eval.RelevanceEvaluator(found, {"map"})
    except Exception:  # noqa: BLE001 - whatever it stops with
        return True
    return any(score != score or abs(score) == float("inf") for results in found.values() for score in results.values())


def _mutated(lines: list[str], draw: Any) -> Iterator[str]:
    for line in lines:
        cells = line.split(" ")
        if draw.draw(st.integers(0, 3)) == 0:
            place = draw.draw(st.integers(0, len(cells) - 1))
            cells[place] = draw.draw(LINE)
        yield " ".join(cells)


@pytest.mark.parametrize(("name", "parse"), [("qrels.txt", "parse_qrel"), ("run.bm25.txt", "parse_run")])
@given(draw=st.data())
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_an_error_is_what_pytrec_eval_stops_at(
    name: str, parse: str, draw: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    lines = (FIXTURES / "trec/valid/collection" / name).read_text().splitlines()
    text = "".join(f"{line}\n" for line in _mutated(lines, draw))
    path = tmp_path_factory.mktemp("trec") / name
    path.write_text(text, encoding="utf-8")
    if not text.strip():
        return

    report = validate(path, format="trec", profile="pytrec_eval")

    assert report.ok == (not _stops(getattr(pytrec_eval, parse), text)), (text, report.findings)
