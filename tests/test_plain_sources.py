"""Plain texts and tables of any columns become documents, questions and judgements, every value as it stands."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.converters import Options, get_converter
from ragdatakit.converters.column_maps import parse
from ragdatakit.converters.plain.text import heading, telling_name
from ragdatakit.files.detection.plain_sources import table_dataset, text_dataset
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.files.texts.front_matter import split_front_matter
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import run
from tests.conversion_tools import rows
from tests.upstream_data import UPSTREAM_DATA, needs

REAL = UPSTREAM_DATA / "localgovfaq-ja"


def read(path: Path, kind: str, **given: str) -> CanonicalTables:
    dataset = text_dataset(path) if kind == "text" else table_dataset(path)
    converter = get_converter(kind)
    assert converter.read is not None
    losses = Losses()
    options = Options(values=converter.values({k.replace("_", "-"): v for k, v in given.items()}, "read"))
    return CanonicalTables("notes", kind, converter.read(dataset, RecordReader(losses), options), losses)


def table(path: Path, **given: str) -> dict[str, list[Any]]:
    return rows(read(path, "table", **given))


def losses_of(tables: CanonicalTables) -> list[tuple[str, str, str | None, str, int]]:
    return [(loss.kind, loss.table, loss.column, loss.reason, loss.count) for loss in tables.losses]


def files(folder: Path, contents: dict[str, str | bytes]) -> Path:
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


# Texts


def test_files_of_other_kinds_are_reported_as_left_out(tmp_path: Path) -> None:
    own = {"ragdata.toml": "", "ragdata-baseline.jsonl": "", "LICENSE": "MIT", ".hidden.pdf": "", ".git/x.pdf": ""}
    files(tmp_path / "raw", {"a.txt": "Hello.", "x.pdf": "%PDF", "sub/p.html": "<p>", "t.csv": "a,b\n", **own})
    tables = read(tmp_path / "raw", "text")
    assert [document.doc_id for document in rows(tables)["documents"]] == ["a.txt"]
    assert [(loss.kind, loss.count, sorted(loss.examples)) for loss in tables.losses if loss.kind == "dropped"] == [
        ("dropped", 3, ["sub/p.html", "t.csv", "x.pdf"])
    ]
    done = run("convert", "--from", "text", "--to", "beir", tmp_path / "raw", tmp_path / "beir")
    assert "neither a text nor a Markdown file" in done.out + done.err
    assert "Nothing is lost" not in done.out + done.err


def test_a_target_below_the_texts_is_not_left_out_of_them(tmp_path: Path) -> None:
    files(tmp_path, {"a.txt": "Hello."})
    words = ("convert", "--from", "text", "--to", "beir", "--overwrite", tmp_path, tmp_path / "beir")
    assert "Nothing is lost" in run(*words).out
    assert "Nothing is lost" in run(*words).out


def test_texts_of_a_folder(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "b.md": "# The ferry #\n\nIt leaves.\r\n",
            "sea/tide-tables.txt": "High at nine.\n",
            "sea/deep/1.TXT": "",
            "sea/x.markdown": "---\ntitle: Knots\nzip: 007\nspeed: 1.50\nsince: 2024-01-05\nok: yes\nlist: [a, 1]\n"
            "---\nTie.\n",
            "image.png": b"\x89PNG",
            ".hidden.txt": "no",
            ".git/config.txt": "no",
            "node_modules/read.txt": "no",
        },
    )
    tables = read(tmp_path, "text")

    assert rows(tables) == {
        "documents": [
            Document("b.md", "# The ferry #\n\nIt leaves.\r\n", "The ferry"),
            Document("sea/tide-tables.txt", "High at nine.\n", "tide tables", '{"category":"sea"}'),
            Document(
                "sea/x.markdown",
                "Tie.\n",
                "Knots",
                '{"zip":"007","speed":1.50,"since":"2024-01-05","ok":"yes","list":["a",1],"category":"sea"}',
            ),
            Document("sea/deep/1.TXT", "", None, '{"category":"sea"}'),
        ]
    }
    assert set(losses_of(tables)) == {
        ("dropped", "documents", None, "neither a text nor a Markdown file", 1),
        ("derived", "documents", "title", "taken from the first heading", 1),
        ("derived", "documents", "title", "taken from the file's name", 1),
    }


def test_a_lone_text(tmp_path: Path) -> None:
    path = files(tmp_path, {"knots.md": "Tie."}) / "knots.md"

    assert rows(read(path, "text")) == {"documents": [Document("knots.md", "Tie.", "knots")]}


def test_front_matter_stays_where_it_is_wished(tmp_path: Path) -> None:
    text = "---\ntitle: Knots\n---\nTie.\n"

    (document,) = read(files(tmp_path, {"1.md": text}), "text", front_matter="false").peek("documents")

    assert document == Document("1.md", text)


def test_texts_that_are_not_unicode(tmp_path: Path) -> None:
    files(
        tmp_path,
        {"1.txt": b"good", "2.txt": b"bad \xff", "3.txt": b"\xef\xbb\xbfmarked", "4.txt": "Fähre".encode("latin-1")},
    )
    tables = read(tmp_path, "text")

    assert [(d.doc_id, d.text) for d in tables.take("documents", "doc_id", "text")] == [
        ("1.txt", "good"),
        ("3.txt", "marked"),
    ]
    list(tables.peek("documents"))
    assert set(losses_of(tables)) == {
        ("dropped", "documents", None, "not UTF-8; give its encoding with --option encoding=…", 2),
        ("coerced", "documents", "text", "the byte-order mark is left out", 1),
    }
    assert next(iter(tables.losses)).examples == ["2.txt: byte 4", "4.txt: byte 1"]
    assert [d.text for d in read(tmp_path / "4.txt", "text", encoding="latin-1").peek("documents")] == ["Fähre"]
    with pytest.raises(RagdataError, match="encoding=klingon: no such encoding"):
        read(tmp_path, "text", encoding="klingon")


def test_links_lead_nowhere_outside(tmp_path: Path) -> None:
    outside = files(tmp_path / "outside", {"secret.txt": "secret"})
    folder = files(tmp_path / "notes", {"1.txt": "one"})
    (folder / "2.txt").symlink_to(folder / "1.txt")
    (folder / "3.txt").symlink_to(outside / "secret.txt")
    (folder / "more").symlink_to(outside)
    os.mkfifo(folder / "pipe.txt")
    tables = read(folder, "text")

    assert [d.doc_id for d in tables.peek("documents")] == ["1.txt", "2.txt"]
    assert set(losses_of(tables)) == {
        ("dropped", "documents", None, "a link that leads out of the folder, or no regular file", 2)
    }


def test_paths_without_texts_or_tables(tmp_path: Path) -> None:
    files(tmp_path, {"a.pdf": "x"})

    with pytest.raises(RagdataError, match=r"no \.txt, \.md, \.markdown file below"):
        text_dataset(tmp_path)
    with pytest.raises(RagdataError, match=r"no \.csv, .* file below"):
        table_dataset(tmp_path)
    with pytest.raises(RagdataError, match="no such file or folder"):
        text_dataset(tmp_path / "none")
    with pytest.raises(RagdataError, match=r"a\.pdf: its name ends in none of \.txt, \.md, \.markdown"):
        text_dataset(tmp_path / "a.pdf")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("intro\n\n## Second *level* ##\n# First", "Second *level*"),
        ("```\n# no\n```\n# yes", "yes"),
        ("~~~~ text\n```\n# no\n~~~\n# no\n~~~~\n# yes", "yes"),
        ("Ferry\n=====\n", "Ferry"),
        ("- item\n---\n\nTides\n---\n", "Tides"),
        ("\n---\n", None),
        ("#hashtag\n#\n", None),
        ("# C#\n", "C#"),
        ("plain", None),
    ],
)
def test_headings(text: str, expected: str | None) -> None:
    assert heading(text) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/refund_policy.txt", "refund policy"),
        ("Annual-report-2020.md", "Annual report 2020"),
        ("渡し船.txt", "渡し船"),
        ("0013.txt", None),
        ("doc_12.txt", None),
        ("README.md", None),
        ("9f86d081884c7d65.txt", None),
    ],
)
def test_names_that_tell(name: str, expected: str | None) -> None:
    assert telling_name(name) == expected


@pytest.mark.parametrize(
    "text",
    [
        "---\n- a\n---\nx",
        "---\na: [\n---\nx",
        "---\na: &x [1]\nb: *x\n---\nx",
        "---\na: 1\nno end",
        "----\na: 1\n---\n",
        " ---\na: 1\n---\n",
        "---\n" + "[" * 20000 + "\n---\n",
        "---\na: " + "x" * 70000 + "\n---\n",
    ],
)
def test_no_front_matter(text: str) -> None:
    assert split_front_matter(text) is None


def test_front_matter_keeps_values_as_they_stand() -> None:
    text = (
        "---\r\na: 1e400\nb: 12345678901234567890\nc: .5\nd: ~\ne: True\nf: 12:30\ng: 'true'\nh: {x: [1, {y: 0x1F}]}\n"
        "7: n\n? [k]\n: v\ni: !!binary aGk=\nj: |\n  two\n  lines\na: again\n...\nrest"
    )
    found = split_front_matter(text)
    assert found is not None

    assert found[1] == "rest"
    assert {name: bytes(raw).decode() for name, raw in found[0].items()} == {
        "a": '"again"',
        "b": "12345678901234567890",
        "c": '".5"',
        "d": "null",
        "e": "true",
        "f": '"12:30"',
        "g": '"true"',
        "h": '{"x":[1,{"y":"0x1F"}]}',
        "7": '"n"',
        '["k"]': '"v"',
        "i": '"aGk="',
        "j": '"two\\nlines\\n"',
    }


# Tables


def test_a_csv_with_a_map(tmp_path: Path) -> None:
    path = (
        files(tmp_path, {"t.csv": 'nr,body,"a, b",lang,empty\n007,"say ""hi""\nthere",1.50,en,\n008,two,NA,null,\n'})
        / "t.csv"
    )

    assert table(path, map='text=body,id=nr,title="a, b"') == {
        "documents": [
            Document("007", 'say "hi"\nthere', "1.50", '{"lang":"en"}'),
            Document("008", "two", "NA", '{"lang":"null"}'),
        ]
    }


@pytest.mark.parametrize(
    ("name", "content", "given"),
    [
        ("t.tsv", b"id\ttext\n1\tone, two\n", {}),
        ("t.csv", b"id;text\n1;one, two\n", {}),
        ("t.csv", b"id|text\r\n1|one, two\r\n", {}),
        ("t.csv", b"id\ttext\r1\tone, two\r", {}),
        ("t.csv", b"id:text\n1:one, two\n", {"delimiter": ":"}),
        ("t.csv", b"id\ttext\n1\tone, two", {"delimiter": "tab"}),
        ("t.csv", b'\xef\xbb\xbf"id","text"\n\n1,"one, two"\n', {}),
        ("t.csv", "id;text\n1;one, two\n".encode("utf-16"), {"encoding": "utf-16"}),
        ("t.csv", b"1;one, two\n", {"header": "false", "delimiter": "semicolon", "map": "id=1,text=2"}),
        ("t.csv.gz", gzip.compress(b'id,text\n1,"one, two"\n', mtime=0), {}),
        ("t.jsonl", b'{"id":1,"text":"one, two"}\n', {}),
        ("t.ndjson.gz", gzip.compress(b'{"id":"1","text":"one, two"}', mtime=0), {}),
        ("t.json", b'[{"id":1,"text":"one, two"}]', {}),
        ("t.json", b'{"id":1,"text":"one, two"}', {}),
        ("t.json", b'{\n "id": 1,\n "text": "one, two"\n}\n', {}),
        ("t.json", b'{"1":"one, two"}', {}),
        ("t.json.gz", gzip.compress(b'{\n "1": "one, two"\n}\n', mtime=0), {}),
        ("t.json", b'{"1":{"text":"one, two"}}', {}),
        ("t.json", b'["one, two"]', {}),
        ("t.JSON", b'[\n "one, two"\n]', {}),
    ],
)
def test_one_document_in_every_form(tmp_path: Path, name: str, content: bytes, given: dict[str, str]) -> None:
    path = files(tmp_path, {name: content}) / name

    assert table(path, **given) == {"documents": [Document("1", "one, two")]}


def test_values_of_json_keep_their_form(tmp_path: Path) -> None:
    line = '{"id": 1.50, "text": {"a": [1.0]}, "n": 12345678901234567890, "x": null, "y": {"z": 1e2}, "e": ""}'
    tables = read(files(tmp_path, {"t.jsonl": line}), "table")

    assert rows(tables) == {
        "documents": [Document("1.50", '{"a":[1.0]}', None, '{"n":12345678901234567890,"y":{"z":1e2},"e":""}')]
    }
    assert losses_of(tables) == [("coerced", "documents", "text", "a list or object, as JSON text", 1)]


def test_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    columns = {
        "id": pa.array(["007", "8"]).dictionary_encode(),
        "text": pa.array(["渡し船", None]),
        "big": pa.array([2**63 - 1, 1]),
        "half": pa.array([0.1, 1.0], pa.float32()),
        "price": pa.array([Decimal("1.10"), None]),
        "on": pa.array([date(2024, 1, 5), None]),
        "at": pa.array([datetime(2024, 1, 5, 9, 30), None], pa.timestamp("ns")),  # noqa: DTZ001 - without a zone
        "tags": pa.array([["a", None], []]),
        "deep": pa.array([{"x": 1}, None]),
        "raw": pa.array([b"\xff", b"ok"]),
        "nan": pa.array([float("nan"), 0.5]),
        "yes": pa.array([True, None]),
    }
    parquet.write_table(pa.table(columns), tmp_path / "train-00000-of-00001.parquet")
    tables = read(tmp_path, "table", map="text=text,id=id")
    (document,) = tables.peek("documents")

    assert (document.doc_id, document.text) == ("007", "渡し船")
    assert document.metadata == (
        '{"big":9223372036854775807,"half":0.1,"price":1.10,"on":"2024-01-05","at":"2024-01-05 09:30:00.000000000",'
        '"tags":["a",null],"deep":{"x":1},"raw":"/w==","nan":"nan","yes":true}'
    )
    assert losses_of(tables) == [("dropped", "documents", None, "the row has no text", 1)]


def test_a_parquet_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(RagdataError, match=r"t\.parquet: no Parquet file"):
        read(files(tmp_path, {"t.parquet": b"PAR1 no"}), "table")


def test_questions_with_answers(tmp_path: Path) -> None:
    lines = [
        '{"qid":"q1","question":"When?","answers":["nine","9",9],"answer_aliases":["at nine"],"level":2}',
        '{"qid":"q2","question":"Why?","answers":[]}',
        '{"qid":"q3","question":null,"answers":"x"}',
        '{"qid":"","question":"Who?","answers":null}',
    ]
    tables = read(files(tmp_path, {"dev.jsonl": "\n".join(lines)}), "table")

    assert rows(tables) == {
        "questions": [
            Question("q1", "When?", "nine", ("9", "9", "at nine"), "dev", '{"level":2}'),
            Question("q2", "Why?", split="dev"),
            Question("4", "Who?", split="dev"),
        ]
    }
    assert set(losses_of(tables)) == {
        ("dropped", "questions", None, "the row has no question", 1),
        ("derived", "questions", "split", "from the file's name", 3),
        ("derived", "questions", "question_id", "the number of the row, which has no id", 1),
    }


def test_corpus_questions_and_judgements_of_one_folder(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "corpus.json": '{"d1":"one","d2":"two"}',
            "queries.json.gz": gzip.compress(b'{\n"q1": "which?"\n}', mtime=0),
            "qrels.json": '{"q1":{"d1":2,"d2":0}}',
            "more.tsv": "query-id\tcorpus-id\tscore\tby\nq1\td3\t1.0\tann\nq1\td4\thigh\tann\nq1\t\t1\tann\n",
            "settings.json": '{"depth": 3}',
        },
    )
    tables = read(tmp_path, "table")

    assert rows(tables) == {
        "documents": [Document("d1", "one"), Document("d2", "two")],
        "questions": [Question("q1", "which?")],
        "qrels": [Qrel("q1", "d3", 1), Qrel("q1", "d1", 2), Qrel("q1", "d2", 0)],
    }
    assert set(losses_of(tables)) == {
        ("dropped", "table", None, "a file without a text, question, judgement or edge", 1),
        ("dropped", "qrels", None, "the grade is not an integer", 1),
        ("dropped", "qrels", None, "an id is missing", 1),
        ("lost", "table", "by", "a judgement has no place for it", 2),
    }


def test_rows_with_a_text_and_a_question(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "faq.csv": "context,q,ctx_id,qid,answer\n"
            "The ferry leaves at nine.,When?,c1,q1,nine\n"
            "The ferry leaves at nine.,What?,c1,q2,the ferry\n"
            "The ferry leaves at ten.,What?,c1,q3,the ferry\n"
        },
    )
    tables = read(tmp_path, "table", map="text=context,id=ctx_id,question=q,question_id=qid,answer=answer")

    assert rows(tables) == {
        "documents": [Document("c1", "The ferry leaves at nine."), Document("c1", "The ferry leaves at ten.")],
        "questions": [
            Question("q1", "When?", "nine"),
            Question("q2", "What?", "the ferry"),
            Question("q3", "What?", "the ferry"),
        ],
        "qrels": [Qrel("q1", "c1"), Qrel("q2", "c1"), Qrel("q3", "c1")],
    }
    assert losses_of(tables) == [("derived", "qrels", None, "the text and the question of one row belong together", 3)]


ASKED = (
    "qid,id,question,text,{grade}\n"
    "q1,d1,When?,one,0\nq1,d2,When?,two,2\nq2,d3,Why?,three,0.5\nq3,d4,Who?,four,high\nq4,d5,Where?,five,\n"
)


@pytest.mark.parametrize(
    ("grade", "given"),
    [
        ("relevance", {}),
        ("Score", {}),
        ("label", {"map": "text=text,id=id,question=question,question_id=qid"}),
        ("stars", {"map": "text=text,id=id,question=question,question_id=qid,grade=stars"}),
    ],
)
def test_grades_beside_texts_and_questions(tmp_path: Path, grade: str, given: dict[str, str]) -> None:
    tables = read(files(tmp_path, {"t.csv": ASKED.format(grade=grade)}), "table", **given)

    assert rows(tables)["qrels"] == [Qrel("q1", "d1", 0), Qrel("q1", "d2", 2), Qrel("q4", "d5", 1)]
    assert [d.metadata for d in tables.peek("documents")] == [None] * 5
    assert set(losses_of(tables)) == {
        ("dropped", "qrels", None, "the grade is not an integer", 2),
        ("derived", "qrels", "grade", "1, because no grade is given", 1),
    }
    assert next(iter(tables.losses)).examples == [f"t.csv: 3: {grade} 0.5", f"t.csv: 4: {grade} high"]


def test_grades_that_no_map_names(tmp_path: Path) -> None:
    files(tmp_path, {"q.csv": "qid,id,question,rel,label\nq1,d1,When?,0,sea\nq1,d2,When?,1,sea\n"})
    keys = "question=question,question_id=qid,doc_id=id"

    assert table(tmp_path, map=f"{keys},metadata=label")["qrels"] == [Qrel("q1", "d1", 0), Qrel("q1", "d2", 1)]
    assert table(tmp_path, map=f"{keys},metadata=rel+label")["qrels"] == [Qrel("q1", "d1", 1), Qrel("q1", "d2", 1)]
    with pytest.raises(RagdataError, match=r"q\.csv: grade may be rel or label; --map grade=COLUMN"):
        table(tmp_path, map=keys)


def test_rows_whose_question_is_empty(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "faq.csv": "text,question,doc_id,qid\none,When?,d1,q1\ntwo,,d2,q2\nthree, ,d3,q3\n,Who?,d4,q4\n",
            "asked.csv": "question,qid,doc_id\nWhat?,q5,d1\n,q6,d1\n",
        },
    )
    tables = read(tmp_path, "table")

    assert rows(tables) == {
        "documents": [Document("d1", "one"), Document("d2", "two"), Document("d3", "three")],
        "questions": [Question("q5", "What?"), Question("q1", "When?"), Question("q4", "Who?")],
        "qrels": [Qrel("q5", "d1"), Qrel("q1", "d1")],
    }
    assert set(losses_of(tables)) == {
        ("dropped", "documents", None, "the row has no text", 1),
        ("dropped", "questions", None, "the row has no question", 3),
        ("dropped", "qrels", None, "the row has no question", 1),
        ("derived", "qrels", "grade", "1, because no grade is given", 1),
        ("derived", "qrels", None, "the text and the question of one row belong together", 1),
    }


def test_an_id_in_a_map_is_the_question_s_where_rows_are_questions(tmp_path: Path) -> None:
    files(tmp_path, {"q.csv": "asked,key\nWhen?,q1\n"})

    assert table(tmp_path, map="question=asked,id=key") == {"questions": [Question("q1", "When?")]}


def test_a_map_of_files(tmp_path: Path) -> None:
    files(
        tmp_path,
        {
            "a/passages.csv": "key,body,year\np1,one,1999\n",
            "b/asked.jsonl": '{"key":"q1","body":"which?"}\n',
            "c/judged.csv": "q,p\nq1,p1\n",
        },
    )
    text = "passages:text=body,id=key,metadata=,asked.jsonl:question=body,b/*:question_id=key,question_id=q,doc_id=p"
    tables = read(tmp_path, "table", map=text)

    assert rows(tables) == {
        "documents": [Document("p1", "one")],
        "questions": [Question("q1", "which?")],
        "qrels": [Qrel("q1", "p1")],
    }
    assert set(losses_of(tables)) == {
        ("lost", "table", "year", "the map has no place for it", 1),
        ("derived", "qrels", "grade", "1, because no grade is given", 1),
    }


def test_chosen_metadata(tmp_path: Path) -> None:
    files(tmp_path, {"t.jsonl": '{"t":"x","a":1,"b":2,"metadata":{"c":3,"a":4}}'})

    def metadata(given: str) -> str | None:
        (document,) = read(tmp_path, "table", map=given).peek("documents")
        found: str | None = document.metadata
        return found

    assert metadata("text=t") == '{"a":1,"b":2,"c":3}'
    assert metadata("text=t,metadata=*") == '{"a":1,"b":2,"c":3}'
    assert metadata("text=t,metadata=b+metadata") == '{"b":2,"c":3,"a":4}'
    assert metadata("text=t,metadata=") is None


def test_ids_of_rows_without(tmp_path: Path) -> None:
    files(tmp_path, {"a.csv": "text\none\n\ntwo\n", "b.csv": "id,text\n,three\nx,four\n"})
    tables = read(tmp_path, "table")

    assert [d.doc_id for d in tables.peek("documents")] == ["a.csv:1", "a.csv:2", "b.csv:1", "x"]
    assert [d.doc_id for d in read(tmp_path / "a.csv", "table").peek("documents")] == ["1", "2"]
    assert losses_of(tables) == [("derived", "documents", "doc_id", "the number of the row, which has no id", 3)]


def test_made_ids_are_none_that_is_given(tmp_path: Path) -> None:
    faq = "id,text,question,qid\n,one,When?,\n1,two,Why?,2\nrow-3,three,Who?,\n"
    path = files(tmp_path, {"faq.csv": faq}) / "faq.csv"
    found = table(path, map="text=text,id=id,question=question,question_id=qid")

    assert [d.doc_id for d in found["documents"]] == ["row-row-1", "1", "row-3"]
    assert [q.question_id for q in found["questions"]] == ["row-1", "2", "row-3"]
    assert [(q.question_id, q.target_id) for q in found["qrels"]] == [
        ("row-1", "row-row-1"),
        ("2", "1"),
        ("row-3", "row-3"),
    ]


def test_made_ids_are_refused_where_judgements_name_ids(tmp_path: Path) -> None:
    files(tmp_path, {"docs.csv": "text\none\ntwo\n", "judged.csv": "qid,doc_id\nq1,1\n"})

    with pytest.raises(RagdataError, match=r"--map docs\.csv:id=COLUMN .*judged\.csv names them by id"):
        table(tmp_path)
    assert [d.doc_id for d in table(tmp_path, **{"row-ids": "0"})["documents"]] == ["0", "1"]


def test_made_ids_are_the_same_in_all_tables_and_reported_once(tmp_path: Path) -> None:
    files(tmp_path, {"faq.csv": "text,question,page_id,note id\none,When?,p1,n1\n", "more.csv": "text\ntwo\n"})
    tables = read(tmp_path, "table")

    assert [d.doc_id for d in tables.peek("documents")] == ["faq.csv:1", "more.csv:1"]
    assert [tuple(q[:2]) for q in tables.peek("qrels")] == [("1", "faq.csv:1")]
    rows(tables)
    rows(tables)
    reason = "the number of the row, which has no id"
    more = 'if a column holds it, name it with --map {}=COLUMN: page_id, "note id"'
    assert set(losses_of(tables)) == {
        ("derived", "documents", "doc_id", f"{reason} ({more.format('id')})", 1),
        ("derived", "documents", "doc_id", reason, 1),
        ("derived", "qrels", None, "the text and the question of one row belong together", 1),
        ("derived", "questions", "question_id", f"{reason} ({more.format('question_id')})", 1),
    }


@pytest.mark.parametrize(
    ("content", "given", "message"),
    [
        (
            "a,b\n1,2\n",
            {},
            "the columns cannot be recognised; columns: t.csv has a, b; say what they are, for example --map",
        ),
        ("text,body\n1,2\n", {}, "text may be text or body; columns: t.csv has text, body; .* --map text=text$"),
        ("id,doc_id,text\n1,2,3\n", {}, "id may be id or doc_id"),
        ("id,text,question\n1,2,3\n", {}, r"id may be id \(of the text\) or id \(of the question\)"),
        ("a,b\n1,2\n", {"map": "text=c"}, "no column 'c'; columns: t.csv has a, b"),
        ("body,b\n1,2\n", {"map": "text=bdy"}, "no column 'bdy', did you mean body"),
        ("a,b\n1,2\n", {"map": "txt=a"}, "unknown target 'txt', did you mean text"),
        ("a,b\n1,2\n", {"map": "text"}, "expected target=column, got 'text'"),
        ("a,b\n1,2\n", {"map": "text=a+b"}, "text takes one column .* a name with . in it is quoted"),
        ("a,b\n1,2\n", {"map": "text="}, "text takes one column"),
        ("a,b\n1,2\n", {"map": 'text="a'}, "a quote is not closed"),
        ("a,b\n1,2\n", {"map": "text=a,text=b"}, "text of t.csv is given twice: a, b"),
        ("a,b\n1,2\n", {"map": "x.csv:text=a"}, "no such file; there are t.csv"),
        ("a,b\n1,2\n", {"map": "id=a"}, "nothing is auto-detected"),
        ("a\tb\n1,2\n", {"delimiter": "ab"}, "delimiter=ab: expected one character, or one of tab, comma"),
        ("a\n1\n", {"encoding": "none"}, "encoding=none: no such encoding"),
        ("", {}, "t.csv has none"),
    ],
)
def test_maps_that_do_not_fit(tmp_path: Path, content: str, given: dict[str, str], message: str) -> None:
    with pytest.raises(RagdataError, match=message):
        read(files(tmp_path, {"t.csv": content}), "table", **given)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'id,text\n1,one\n2,"two\n3,three\n', "line 3: a quote is not closed; .* --option quoting=none"),
        (b'id,text\n1,one\n2,"two" x\n', "line 3: ',' expected after '\"'; .* --option quoting=none"),
        (
            b"id,text\n1,one\n2,\xff\n",
            r"line 3: not UTF-8 \(invalid start byte\); give its encoding with --option encoding=",
        ),
        (b'id,text\n1,"one\r\nand\rmore"\n' * 3000 + b"2,\xff\n", r"line 12,001: not UTF-8"),
        (b'"id,text\n', "line 1: a quote is not closed"),
    ],
)
def test_csv_files_that_cannot_be_read(tmp_path: Path, content: bytes, message: str) -> None:
    files(tmp_path, {"t.csv": content + b"9,x\n" * 9000})

    with pytest.raises(RagdataError, match=message):
        table(tmp_path)


def test_quotes_may_be_characters_like_others(tmp_path: Path) -> None:
    files(tmp_path, {"t.tsv": '1\t"Ahoy" they said\n2\t"\n'})

    documents = table(tmp_path, map="id=1,text=2", header="false", quoting="none")["documents"]

    assert documents == [Document("1", '"Ahoy" they said'), Document("2", '"')]


def test_rows_of_another_width(tmp_path: Path) -> None:
    tables = read(files(tmp_path, {"t.csv": "id,text,x,x\n1,one\n2,two,a,b,c,d\n"}), "table")

    assert rows(tables)["documents"] == [Document("1", "one"), Document("2", "two", None, '{"x":"a"}')]
    assert set(losses_of(tables)) == {
        ("lost", "table", "x", "a column with the name of an earlier one", 1),
        ("lost", "table", None, "cells after the last column of the header", 1),
    }


def test_a_cell_of_any_size(tmp_path: Path) -> None:
    long = "渡" * 200_000

    assert table(files(tmp_path, {"t.csv": f'id,text\n1,"{long}"\n'}))["documents"][0].text == long


def test_records_that_are_none(tmp_path: Path) -> None:
    lines = '{"id":"1","text":"one"}\n["2","two"]\n"three"\n{"id":"4",\n{"id":"5","text":"five"}\n'
    tables = read(files(tmp_path, {"t.jsonl": lines}), "table")

    assert [d.doc_id for d in tables.peek("documents")] == ["1", "5"]
    list(tables.peek("documents"))
    assert sum(loss.count for loss in tables.losses if loss.kind == "dropped") == 3


def test_what_a_map_says() -> None:
    (first, second, third) = parse('text="a ""b"", c", data/x.csv:question_id=C, metadata=a+"b+c"+d e,')

    assert (first.target, first.columns, first.file) == ("text", ('a "b", c',), "")
    assert (second.target, second.columns, second.file) == ("question_id", ("C",), "data/x.csv")
    assert (third.target, third.columns) == ("metadata", ("a", "b+c", "d e"))


CELLS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)


@settings(max_examples=examples(80), deadline=None)
@given(st.lists(st.tuples(CELLS.filter(bool), CELLS, CELLS.filter(bool)), min_size=1, max_size=8), st.data())
def test_cells_of_every_form_come_as_they_are(
    tmp_path_factory: pytest.TempPathFactory, cells: Sequence[tuple[str, str, str]], data: st.DataObject
) -> None:
    import csv

    import pyarrow as pa
    from pyarrow import parquet

    names = ["id", "text", "note"]
    form = data.draw(st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.json", "t.parquet"]))
    path = tmp_path_factory.mktemp("cells") / form
    records = [dict(zip(names, row, strict=True)) for row in cells]
    if form.endswith(("csv", "tsv")):
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter="," if form == "t.csv" else "\t", quoting=csv.QUOTE_ALL)
            writer.writerows([names, *cells])
    elif form == "t.parquet":
        parquet.write_table(pa.Table.from_pylist(records), path)
    else:
        path.write_text("\n".join(map(json.dumps, records)) if form == "t.jsonl" else json.dumps(records))

    documents = table(path)["documents"]

    assert [(d.doc_id, d.text, json.loads(d.metadata)["note"]) for d in documents] == list(cells)


@needs("localgovfaq-ja")
def test_real_questions_and_answers_of_a_city() -> None:
    found = table(REAL)

    assert {name: len(listed) for name, listed in found.items()} == {"documents": 1786, "questions": 749, "qrels": 1817}
    assert found["questions"][0] == Question(
        "0", "国民年金の免除申請をしたいのですが、申請に必要な持ち物は何を持っていけば良いですか？"
    )
    assert found["qrels"][:3] == [Qrel("0", "71", 2), Qrel("0", "87", 2), Qrel("0", "469", 1)]
    ids = {d.doc_id for d in found["documents"]}
    assert all(q.target_id in ids for q in found["qrels"])


def test_a_list_of_documents_is_several_judgements(tmp_path: Path) -> None:
    lines = [
        {"id": "q1", "gold": ["Lothair II", "Skagen", "Skagen"]},
        {"id": "q2", "gold": []},
        {"id": "q3", "gold": [7, "", None, {"id": "x"}, ["y"], True, 1.5]},
        {"id": "q4", "gold": None},
        {"id": "q5", "gold": "Skagen"},
    ]
    path = files(tmp_path, {"gold.jsonl": "\n".join(map(json.dumps, lines))}) / "gold.jsonl"
    tables = read(path, "table", map="question_id=id,doc_id=gold")

    assert list(tables.peek("qrels")) == [
        Qrel("q1", "Lothair II"),
        Qrel("q1", "Skagen"),
        Qrel("q3", "7"),
        Qrel("q5", "Skagen"),
    ]
    assert ("dropped", "qrels", None, "a member of the list that is not an id", 6) in losses_of(tables)
    assert ("dropped", "qrels", None, "an id is missing", 1) in losses_of(tables)


def test_a_question_with_a_list_of_documents_and_grades(tmp_path: Path) -> None:
    line = '{"qid": "q1", "query": "Where?", "doc_ids": ["d2", "d1"], "grade": 2, "type": "place"}'
    found = table(
        files(tmp_path, {"asked.jsonl": line}) / "asked.jsonl", map="question=query,question_id=qid,doc_id=doc_ids"
    )

    assert found["qrels"] == [Qrel("q1", "d2", 2), Qrel("q1", "d1", 2)]
    assert found["questions"] == [Question("q1", "Where?", metadata='{"type":"place"}')]


WIKI = UPSTREAM_DATA / "2wiki-hipporag"
MAP_OF_WIKI = (
    "*corpus*:text=text,*corpus*:id=title,*corpus*:title=title,"
    "questions*:question=question,questions*:question_id=id,questions*:answer=answer,"
    "*gold*:question_id=id,*gold*:doc_id=supporting_documents"
)


@needs("2wiki-hipporag")
def test_real_questions_whose_gold_is_a_list_of_titles_in_a_third_file() -> None:
    found = table(WIKI, map=MAP_OF_WIKI)

    assert {name: len(listed) for name, listed in found.items()} == {
        "documents": 6119,
        "questions": 1000,
        "qrels": 2469,
    }
    ids = {d.doc_id for d in found["documents"]}
    assert len(ids) == 6119 and all(q.target_id in ids for q in found["qrels"])
    assert found["questions"][0].answer == "20 March 851"


def test_vectors_written_as_text_are_no_documents(tmp_path: Path) -> None:
    store = {"embedding_dim": 2, "data": [{"__id__": "chunk-1"}], "matrix": "nDkxvST42bs="}
    chunks = {"chunk-1": {"content": "The lamp was lit in 1871."}}
    source = read(files(tmp_path, {"vdb_chunks.json": json.dumps(store), "chunks.json": json.dumps(chunks)}), "table")

    assert [row.text for row in rows(source)["documents"]] == ["The lamp was lit in 1871."]
    assert [(kind, reason) for kind, _, _, reason, _ in losses_of(source)] == [
        ("dropped", "a file without a text, question, judgement or edge")
    ]
