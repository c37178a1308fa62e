"""TREC collections read into the canonical tables and written out of them: nothing is changed without an account."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import ragdatakit
from ragdatakit import validate
from ragdatakit.schemas.canonical import Document, Qrel, Question, Run
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import FIXTURES
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.retrieval_sets import RetrievalSet, read_back, retrieval_sets, written
from tests.upstream_data import UPSTREAM_DATA, needs

CRANFIELD = UPSTREAM_DATA / "cranfield"


def test_what_a_collection_gives() -> None:
    found = rows(read_tables(FIXTURES / "trec/valid/collection"))

    assert found == {
        "documents": [
            Document("d1", "The light on the north reef was built in one summer.", "Light"),
            Document("d2", "Two boats mapped the north reef."),
            Document("d3", "The harbour office opens at nine.", "Harbour"),
        ],
        "questions": [Question("q1", "who mapped the north reef"), Question("q2", "when does the harbour office open")],
        "qrels": [Qrel("q1", "d2"), Qrel("q1", "d1", 0), Qrel("q2", "d3")],
        "runs": [
            Run("q1", "bm25", 1, "d2", score=7.5),
            Run("q1", "bm25", 2, "d1", score=2.25),
            Run("q2", "bm25", 1, "d3", score=4.0),
        ],
    }


def test_elements_that_are_not_closed_or_have_no_text() -> None:
    tables = read_tables(FIXTURES / "trec/valid/sgml-topics")

    found = rows(tables)

    assert found["documents"] == [
        Document("NR-0001", "<P>Two boats mapped it.</P>", metadata='{"headline":"Reef"}'),
        Document("NR-0002", "The office opens at nine."),
    ]
    assert found["questions"][0] == Question(
        "301",
        "reef mapping",
        split="301-302",
        metadata='{"desc":"Who mapped the north reef?","narr":"Names of boats & people count."}',
    )
    assert {q.split for q in found["qrels"]} == {"301-302"}


def test_topics_in_other_forms() -> None:
    (question,) = rows(read_tables(FIXTURES / "trec/valid/numbered-topics"))["questions"]
    lines = rows(read_tables(FIXTURES / "trec/valid/topic-lines"))

    assert (question.question_id, question.text, question.split) == ("1", "reef mapping", "test")
    assert question.metadata == '{"question":"Who mapped the north reef?","narr":"Names count."}'
    assert lines["questions"][1] == Question("2", "when does the harbour office open", split="dev")


def test_packed_and_windows_files_are_the_same() -> None:
    plain = rows(read_tables(FIXTURES / "trec/valid/collection"))

    assert rows(read_tables(FIXTURES / "trec/valid/packed")) == plain
    assert rows(read_tables(FIXTURES / "trec/valid/windows-lines")) == plain


def test_ranks_are_counted_from_one(tmp_path: Path) -> None:
    (tmp_path / "run.txt").write_text(
        "# a comment\nq1 Q0 d1 0 9 a\nq1 Q0 d2 1 8.50 a\nq2 Q0 d1 5 7 a\nq2 Q0 d2 x 6 a\nq2 Q0 d3 3 high a\n"
    )
    tables = read_tables(tmp_path)

    found = rows(tables)["runs"]

    assert [(r.question_id, r.rank, r.score) for r in found] == [
        ("q1", 1, 9.0),
        ("q1", 2, 8.5),
        ("q2", 5, 7.0),
        ("q2", 2, 6.0),
    ]
    assert {(loss.kind, loss.count) for loss in tables.losses} == {("coerced", 2), ("coerced", 1), ("dropped", 1)}


def topics_of(folder: Path, *numbers: str, judged: str) -> Path:
    topics = "".join(f"<top><num>{n}</num><title>about {n}</title></top>\n" for n in numbers)
    folder.mkdir()
    (folder / "topics.xml").write_text(topics)
    (folder / "qrels.txt").write_text("".join(f"{qid} 0 d1 1\n" for qid in judged.split()))
    return folder


def test_topics_by_position_keep_their_numbers(tmp_path: Path) -> None:
    source = topics_of(tmp_path / "in", "1", "7", "9", judged="1 2 3")
    tables = read_tables(source, topics="position")

    found, again = rows(tables), rows(tables)
    write_tables(tables, "trec", tmp_path / "out")

    assert found == again == rows(read_tables(tmp_path / "out"))
    assert found["questions"] == [
        Question("1", "about 1"),
        Question("2", "about 7", metadata='{"topic_number":"7"}'),
        Question("3", "about 9", metadata='{"topic_number":"9"}'),
    ]
    assert [(loss.kind, loss.table, loss.column, loss.count, loss.examples) for loss in tables.losses] == [
        ("derived", "questions", "question_id", 2, ["7 became 2", "9 became 3"])
    ]
    assert validate(tmp_path / "out").ok
    with pytest.raises(RagdataError, match="expected one of auto, number, position"):
        read_tables(source, topics="name")


def test_the_number_of_a_topic_takes_no_place_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "topics.xml").write_text("<top><num>7</num><title>a</title><topic_number>x</topic_number></top>")

    (question,) = rows(read_tables(tmp_path, topics="position"))["questions"]

    assert (question.question_id, question.metadata) == ("1", '{"topic_number":"x","topic_number_":"7"}')


def test_judgements_that_count_the_topics_are_not_joined_by_number(tmp_path: Path) -> None:
    source = topics_of(tmp_path / "in", "1", "7", "9", judged="1 2 3")

    with pytest.raises(RagdataError, match=r"no topic for 2 of.*--option topics=position, or --option topics=number"):
        rows(read_tables(source))
    with pytest.raises(RagdataError, match="seem to count the topics"):
        ragdatakit.convert(source, tmp_path / "beir", to="beir")

    assert not (tmp_path / "beir").exists()
    assert [q.question_id for q in rows(read_tables(source, topics="number"))["questions"]] == ["1", "7", "9"]


@pytest.mark.parametrize("judged", ["1 7 9", "7", "7 8", "1 2", "1 2 3 4"])
def test_judgements_that_do_not_count_the_topics_are_taken_by_number(judged: str, tmp_path: Path) -> None:
    tables = read_tables(topics_of(tmp_path / "in", "1", "7", "9", judged=judged))

    assert [q.question_id for q in rows(tables)["questions"]] == ["1", "7", "9"]
    assert len(tables.losses) == 0


def test_nothing_is_written_that_would_seem_to_count_the_topics(tmp_path: Path) -> None:
    source = topics_of(tmp_path / "in", "1", "7", "9", judged="1 2 3")

    done = ragdatakit.convert(
        source, tmp_path / "out", to="trec", options={"topics": "number", "topic-file": "tsv"}, sidecar=True
    )
    again = read_tables(tmp_path / "out")

    assert done.written
    assert [q.question_id for q in rows(again)["qrels"]] == ["1"]
    dropped = [loss for loss in done.conversions[0].losses if loss.kind == "dropped"]
    assert [(loss.table, loss.count, loss.reason) for loss in dropped] == [
        ("qrels", 2, "it is for a question that is not there")
    ]


def test_lines_end_as_xml_reads_them(tmp_path: Path) -> None:
    (tmp_path / "topics.xml").write_bytes(
        b'<?xml version="1.0"?>\r\n<top>\r\n<num>1</num>\r\n<title>two\r\nlines</title>\r\n'
        b"<desc>kept&#13;\r\nold\rend</desc>\r\n</top>\r\n"
    )

    (question,) = rows(read_tables(tmp_path))["questions"]

    assert (question.text, question.metadata) == ("two\nlines", '{"desc":"kept\\r\\nold\\nend"}')


@given(made=retrieval_sets(runs=True))
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_changes_on_the_way(made: RetrievalSet) -> None:
    tables = made.tables()
    with written(tables, "trec") as folder:
        found = read_back(folder)

    coerced = {loss.column for loss in tables.losses if loss.kind == "coerced"}
    assert found["documents"] == made.documents
    if "split" not in coerced:
        assert found["questions"] == made.questions
        assert sorted(found.get("qrels", [])) == sorted(made.qrels)
    assert [q._replace(split=None) for q in found["questions"]] == [q._replace(split=None) for q in made.questions]
    assert sorted(q._replace(split=None) for q in found.get("qrels", [])) == sorted(
        q._replace(split=None) for q in made.qrels
    )
    runs = [r._replace(stage="") if "stage" in coerced else r for r in found.get("runs", [])]
    assert sorted(runs, key=str) == sorted(
        (r._replace(stage="") if "stage" in coerced else r for r in made.runs), key=str
    )
    assert {loss.kind for loss in tables.losses} <= {"renumbered", "coerced", "derived"}
    assert coerced <= {"split", "stage"}


@given(made=retrieval_sets())
@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_topics_as_a_table(made: RetrievalSet) -> None:
    tables = made.tables()
    with written(tables, "trec", **{"topic-file": "tsv"}) as folder:
        found = read_back(folder)

    plain = [q.text for q in made.questions]
    assert [q.text for q in found["questions"]] == [_one_line(text) for text in plain]
    coerced = sum(loss.count for loss in tables.losses if loss.kind == "coerced" and loss.column == "text")
    assert coerced == sum(text != _one_line(text) for text in plain)


def _one_line(text: str) -> str:
    return " ".join("".join("\n" if c in "\t\r\n" else c for c in text).replace("\n\n", "\n").split("\n"))


def test_written_as_evaluators_want_it(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d 1", "a < b & c", "T", '{"author":"x","year":"1911"}'), Document("d2", " x\r\n")],
        questions=[Question("q1", "who", metadata='{"desc":"why"}'), Question(None, "no id")],
        qrels=[Qrel("q1", "d 1"), Qrel("q1", "d2", 0, split="dev"), Qrel("q9", "d2")],
        runs=[
            Run("q1", "bm25", 1, "d 1", score=2.5, seconds=0.5),
            Run("q1", "bm25", 2, "d 1", score=2.0),
            Run("q1", "dense 1", 1, "d2"),
            Run("q8", "bm25", 1, "d2", score=1.0),
            Run("q1", "bm25", 3, None, "a text", 1.0),
        ],
    )

    write_tables(tables, "trec", tmp_path)

    assert {p.name: p.read_text() for p in tmp_path.iterdir() if not p.name.startswith("ragdata.")} == {
        "documents.trec": "<DOC>\n<DOCNO>d_1</DOCNO>\n<TITLE>\nT\n</TITLE>\n<TEXT>\na < b & c\n</TEXT>\n"
        "<author>x</author>\n<year>1911</year>\n</DOC>\n<DOC>\n<DOCNO>d2</DOCNO>\n<TEXT>\n&#32;x&#13;&#10;\n</TEXT>\n"
        "</DOC>\n",
        "topics.txt": "<top>\n\n<num> Number: q1\n<title> who\n\n<desc> Description:\nwhy\n\n"
        "<narr> Narrative:\n\n\n</top>\n\n"
        "<top>\n\n<num> Number: q2\n<title> no id\n\n<desc> Description:\n\n\n<narr> Narrative:\n\n\n</top>\n\n",
        "qrels.txt": "q1 0 d_1 1\nq9 0 d2 1\n",
        "qrels.dev.txt": "q1 0 d2 0\n",
        "run.bm25.txt": "q1 Q0 d_1 1 2.5 bm25\n",
        "run.dense-1.txt": "q1 Q0 d2 1 1.0 dense-1\n",
    }
    assert {(loss.kind, loss.table, loss.column, loss.count) for loss in tables.losses} == {
        ("renumbered", "passages", None, 1),
        ("derived", "documents", "text", 1),
        ("derived", "questions", "question_id", 1),
        ("lost", "runs", "seconds", 1),
        ("lost", "runs", "text", 1),
        ("coerced", "runs", "stage", 1),
        ("derived", "runs", "score", 1),
        ("dropped", "runs", None, 1),
    }
    assert validate(tmp_path).ok


def test_results_that_do_not_come_in_turn_are_written_once(tmp_path: Path) -> None:
    runs = [Run(q, "a", i, d, score=-float(i)) for i, (q, d) in enumerate([("1", "x"), ("2", "x"), ("1", "x")], 1)]
    tables = tables_of(runs=runs)

    write_tables(tables, "trec", tmp_path)

    assert (tmp_path / "run.a.txt").read_text() == "1 Q0 x 1 -1.0 a\n2 Q0 x 2 -2.0 a\n"
    assert [(loss.kind, loss.count) for loss in tables.losses] == [("dropped", 1)]


def test_nothing_that_trec_knows_is_an_error_of_the_run(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match="no documents, questions, judgements or runs"):
        write_tables(tables_of(), "trec", tmp_path)


@needs("cranfield")
def test_a_public_collection(tmp_path: Path) -> None:
    tables = read_tables(CRANFIELD, topics="position")
    found = rows(tables)

    write_tables(tables, "trec", tmp_path / "trec")
    write_tables(read_tables(CRANFIELD, topics="position"), "beir", tmp_path / "beir")

    assert tables.counts == {"documents": 1400, "questions": 225, "qrels": 1837}
    assert [(loss.kind, loss.column) for loss in tables.losses] == [("derived", "question_id")]
    assert "\r" not in "".join(q.text for q in found["questions"])
    with pytest.raises(RagdataError, match="topics=position"):
        rows(read_tables(CRANFIELD))
    assert rows(read_tables(tmp_path / "trec")) == found
    assert rows(read_tables(tmp_path / "beir"))["documents"] == found["documents"]
    assert [d.doc_id for d in found["documents"] if not d.text] == ["471", "995"]
    assert found["documents"][0].title == "experimental investigation of the aerodynamics of a\nwing in a slipstream ."
    assert {q.question_id for q in found["qrels"]} == {q.question_id for q in found["questions"]}
    assert validate(tmp_path / "beir").ok and validate(tmp_path / "trec").ok
