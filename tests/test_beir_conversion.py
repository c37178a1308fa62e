"""BEIR folders read into the canonical tables and written out of them: nothing is changed that is not accounted for."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

import ragdatakit
from ragdatakit import validate
from ragdatakit.schemas.canonical import Chunk, Document, Qrel, Question
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, rows, tables_of, write_tables
from tests.retrieval_sets import RetrievalSet, read_back, retrieval_sets, written
from tests.upstream_data import UPSTREAM_DATA, needs

HEADER = "query-id\tcorpus-id\tscore\n"


def lines(path: Path) -> list[object]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def folder_of(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        path = folder / {"corpus": "corpus.jsonl", "queries": "queries.jsonl"}.get(name, f"qrels/{name}.tsv")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return folder


def losses_of(tables: object) -> set[tuple[str, str, str | None]]:
    return {(loss.kind, loss.table, loss.column) for loss in tables.losses}  # type: ignore[attr-defined]


def test_what_a_folder_gives(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        corpus='{"_id": "d1", "title": "Light", "text": "It was built.", "metadata": {"year": 1911.0}}\n'
        '{"_id": "d2", "text": "Boats."}\n',
        queries='{"_id": "q1", "text": "who built it"}\n{"_id": "q2", "text": "boats"}\n{"_id": "q3", "text": "?"}\n',
        train=f"{HEADER}q1\td1\t2\nq2\td1\t0\n",
        test=f'{HEADER}"q2"\td2\t1\n',
    )

    found = rows(read_tables(tmp_path))

    assert found == {
        "documents": [
            Document("d1", "It was built.", "Light", '{"year":1911.0}'),
            Document("d2", "Boats.", field_order=("doc_id", "text")),
        ],
        "questions": [Question("q1", "who built it", split="train"), Question("q2", "boats"), Question("q3", "?")],
        "qrels": [
            Qrel("q2", "d2", 1, split="test"),
            Qrel("q1", "d1", 2, split="train"),
            Qrel("q2", "d1", 0, split="train"),
        ],
    }


@pytest.mark.parametrize("bare", [True, False])
def test_the_scanner_gives_the_same_questions_and_judgements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bare: bool
) -> None:
    plain = "" if bare else ', "metadata": {}'
    usual = [f'{{"_id": "q{n}", "text": "é {n}"{plain}}}' for n in range(9)]
    odd = '{"_id": 7, "text": "a"}\n{"_id": "o", "text": "b", "lang": "en", "metadata": {"x": 1.0}}\n{"_id": "n"}\n'
    judged = "".join(f"q{n}\td{n}\t{n - 1}\n" for n in range(9))
    folder = folder_of(
        tmp_path,
        corpus='{"_id": "d1", "text": "Boats."}\n',
        queries="\n".join(usual) + "\n",
        test=HEADER + judged,
        train=f'{HEADER}{judged}"q1"\td1\t2\nq2\td2\t+1\nq3\td3\tno\nq4\td4\t1\tmore\n',
    )

    def found() -> list[object]:
        tables = read_tables(folder)
        return [rows(tables), [(loss.kind, loss.table, loss.reason, loss.examples) for loss in tables.losses]]

    for queries in (usual, [*usual, odd]):
        (folder / "queries.jsonl").write_text("\n".join(queries) + "\n", encoding="utf-8")
        by_rows = found()
        with monkeypatch.context() as patched:
            patched.setattr("ragdatakit.converters.beir.reading._WORTH_SCANNING", 0)
            assert found() == by_rows


RECORDS = (
    {"_id": "d1", "title": "", "text": "a", "metadata": {"x": 1.0}},
    {"_id": "d2", "title": "T", "text": "b", "metadata": {}},
    {"_id": "d3", "title": "T", "text": "c", "metadata": {"x": 1}, "lang": "en"},
    {"_id": "d4", "lang": "en", "title": "T", "text": "d"},
    {"_id": "d5", "title": "T", "text": "e", "metadata": {"metadata": {"a": 1}}},
    {"_id": "d6", "title": "T", "text": "f", "metadata": {"metadata": {"z": 1}, "x": 2}, "answer": 1, "split": "s"},
    {"_id": "d7", "title": "T", "text": "g", "metadata.answer": 1, "field_order": [], "doc_id": 2, "question_id": 3},
    {"_id": "d8", "title": "T", "text": "h", "tags": ["x", {"y": 10000000000000000000000}]},
)


def test_fields_that_beir_does_not_know_keep_their_place(tmp_path: Path) -> None:
    corpus = "".join(json.dumps(record) + "\n" for record in RECORDS)
    queries = "".join(json.dumps({k: v for k, v in r.items() if k != "title"}) + "\n" for r in RECORDS)
    folder_of(tmp_path / "in", corpus=corpus, queries=queries)
    tables = read_tables(tmp_path / "in")

    write_tables(tables, "beir", tmp_path / "out")

    assert lines(tmp_path / "out/corpus.jsonl") == list(RECORDS)
    assert lines(tmp_path / "out/queries.jsonl") == lines(tmp_path / "in/queries.jsonl")
    assert len(tables.losses) == 0


def test_fields_that_beir_does_not_know_are_plain_members_of_the_metadata(tmp_path: Path) -> None:
    record = {"lang": "en", "_id": "d1", "title": "T", "text": "c", "metadata": {"x": 1}}
    folder_of(tmp_path / "in", corpus=json.dumps(record), queries='{"_id": "q1", "text": "who", "lang": "en"}')

    found = rows(read_tables(tmp_path / "in"))
    for target in ("sage", "trec", "datamind"):
        ragdatakit.convert(tmp_path / "in", tmp_path / target, to=target)

    assert found["documents"] == [Document("d1", "c", "T", '{"x":1,"lang":"en"}', ("lang", "doc_id", "title", "text"))]
    assert found["questions"] == [
        Question("q1", "who", metadata='{"lang":"en"}', field_order=("question_id", "text", "lang"))
    ]
    written = [p for t in ("sage", "trec", "datamind") for p in (tmp_path / t).rglob("*") if p.is_file()]
    texts = {p: p.read_text() for p in written if p.name != "ragdata.json"}
    assert [p for p, text in texts.items() if "beir:" in text or "field_order" in text] == []
    assert lines(tmp_path / "sage/documents.jsonl") == [
        {"id": "d1", "title": "T", "contents": "c", "x": 1, "lang": "en"}
    ]
    assert [r["question"] for r in lines(tmp_path / "sage/records.jsonl")] == [  # type: ignore[index,call-overload]
        {"id": "q1", "question": "who", "lang": "en"}
    ]


def test_fields_of_other_formats_go_to_the_metadata(tmp_path: Path) -> None:
    question = Question("q1", "who", metadata='{"lang":"en"}', field_order=("lang", "text"))

    write_tables(tables_of(format_name="hipporag", questions=[question]), "beir", tmp_path)

    assert lines(tmp_path / "queries.jsonl") == [{"_id": "q1", "text": "who", "metadata": {"lang": "en"}}]


@pytest.mark.parametrize(
    ("fields", "written", "example"),
    [
        ({"metadata": {"x": 1}, "x": 2}, {"metadata": {"x": 1}, "x_": 2}, "x became x_"),
        ({"metadata": "of text"}, {"metadata": {"metadata": "of text"}}, '"of text"'),
    ],
)
def test_a_field_that_has_to_change_is_reported(
    fields: dict[str, object], written: dict[str, object], example: str, tmp_path: Path
) -> None:
    record = {"_id": "d1", "title": "T", "text": "c"}
    folder_of(tmp_path / "in", corpus=json.dumps({**record, **fields}))
    tables = read_tables(tmp_path / "in")

    write_tables(tables, "beir", tmp_path / "out")

    assert lines(tmp_path / "out/corpus.jsonl") == [{**record, **written}]
    assert [(loss.kind, loss.table, loss.column, loss.examples) for loss in tables.losses] == [
        ("coerced", "documents", "metadata", [example])
    ]


def test_one_array_in_place_of_lines_is_read_by_those_who_go_on(tmp_path: Path) -> None:
    corpus = '[{"_id": "d1", "text": "a"},\n {"_id": "d2", "text": "b"}]\n'
    folder_of(tmp_path / "in", corpus=corpus, queries='{"_id": "q1", "text": "?"}', test=f"{HEADER}q1\td1\t1\n")

    refused = ragdatakit.convert(tmp_path / "in", tmp_path / "refused", to="sage")
    kept = ragdatakit.convert(tmp_path / "in", tmp_path / "out", to="sage", keep_going=True)
    with pytest.warns(UserWarning, match="its elements were read"):
        asked = ragdatakit.query(tmp_path / "in", "select doc_id from documents")

    assert refused.source_report is not None and not refused.written
    assert [finding.rule for finding in refused.source_report.findings] == ["array-for-lines"]
    reasons = [loss.reason.split(" where")[0] for loss in kept.conversions[0].losses if loss.kind == "coerced"]
    assert reasons == ["the file is one JSON array"]
    assert lines(tmp_path / "out/documents.jsonl") == [{"id": "d1", "contents": "a"}, {"id": "d2", "contents": "b"}]
    assert asked.to_pylist() == [{"doc_id": "d1"}, {"doc_id": "d2"}]


@pytest.mark.parametrize("with_some", ["neither", "both", "the first", "the second"])
@pytest.mark.parametrize("to", ["sage", "lightrag", "beir"])
def test_metadata_come_back_empty_where_they_were(with_some: str, to: str, tmp_path: Path) -> None:
    empty = [',"metadata":{}' * (with_some in ("both", which)) for which in ("the first", "the second")]
    files = {
        "corpus": "".join(f'{{"_id":"d{i}","title":"T","text":"{i}."{some}}}\n' for i, some in enumerate(empty)),
        "queries": "".join(f'{{"_id":"q{i}","text":"{i}?"{some}}}\n' for i, some in enumerate(empty)),
        "test": f"{HEADER}q0\td0\t1\nq1\td1\t1\n",
    }
    folder_of(tmp_path / "in", **files)

    ragdatakit.convert(tmp_path / "in", tmp_path / "there", to=to, sidecar=True)
    ragdatakit.convert(tmp_path / "there", tmp_path / "back", to="beir")

    for name, text in zip(("corpus.jsonl", "queries.jsonl", "qrels/test.tsv"), files.values(), strict=True):
        assert (tmp_path / "back" / name).read_text() == text


def test_no_metadata_are_empty_metadata(tmp_path: Path) -> None:
    folder_of(tmp_path / "in", corpus='{"_id": "d1", "title": "T", "text": "c", "metadata": null}')
    tables = read_tables(tmp_path / "in")

    write_tables(tables, "beir", tmp_path / "out")

    assert lines(tmp_path / "out/corpus.jsonl") == [{"_id": "d1", "title": "T", "text": "c", "metadata": {}}]
    assert len(tables.losses) == 0


def test_what_stands_behind_the_third_column_is_lost(tmp_path: Path) -> None:
    header = HEADER.replace("\n", "\tby\twhen\n")
    folder_of(
        tmp_path / "in",
        corpus='{"_id": "d1", "title": "", "text": "a"}',
        queries='{"_id": "q1", "text": "b"}\n{"_id": "q2", "text": "c"}\n{"_id": "q3", "text": "d"}\n',
        test=f"{header}q1\td1\t1\tanna\t1911\nq2\td1\t1\t\t\nq3\td1\t0\tben\n",
    )
    tables = read_tables(tmp_path / "in")

    write_tables(tables, "beir", tmp_path / "out")

    assert (tmp_path / "out/qrels/test.tsv").read_text() == f"{HEADER}q1\td1\t1\nq2\td1\t1\nq3\td1\t0\n"
    assert [(loss.kind, loss.table, loss.column, loss.count, loss.examples) for loss in tables.losses] == [
        ("lost", "qrels", "column 4", 2, ["q1: anna\t1911", "q3: ben"])
    ]


def test_a_packed_corpus_is_read(tmp_path: Path) -> None:
    folder_of(tmp_path, queries='{"_id": "q1", "text": "a"}\n')
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "d1", "title": "", "text": "b"}\n'))

    assert rows(read_tables(tmp_path))["documents"] == [Document("d1", "b", "")]


def test_of_a_file_that_is_there_twice_the_plain_one_is_read(tmp_path: Path) -> None:
    folder_of(tmp_path, corpus='{"_id": "d1", "title": "", "text": "plain"}\n')
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(b'{"_id": "d1", "title": "", "text": "packed"}\n'))

    assert [d.text for d in rows(read_tables(tmp_path))["documents"]] == ["plain"]


def test_queries_of_another_name(tmp_path: Path) -> None:
    folder_of(tmp_path, test=f"{HEADER}q1\td1\t1\n")
    (tmp_path / "notes_rewrite.jsonl").write_text('{"_id": "q1", "text": "a"}\n', encoding="utf-8")

    tables = read_tables(tmp_path, queries="notes_rewrite.jsonl")

    assert rows(tables)["questions"] == [Question("q1", "a", split="test")]
    for name in ("none.jsonl", "../outside.jsonl"):
        with pytest.raises(RagdataError, match="there is no such file"):
            read_tables(tmp_path, queries=name)


PREFIXED = Path(__file__).parent.parent / "fixtures/beir/valid/prefixed"


def test_one_set_of_queries_is_read() -> None:
    plain, prefixed = read_tables(PREFIXED), read_tables(PREFIXED, prefix="gen")

    assert rows(plain)["questions"] == [Question("q1", "who mapped the north reef", split="test")]
    assert rows(plain)["qrels"] == [Qrel("q1", "d2", 1, split="test")]
    assert [(loss.kind, loss.table, loss.count) for loss in plain.losses] == [
        ("dropped", "qrels", 1),
        ("dropped", "queries", 1),
    ]
    assert [(q.question_id, q.split) for q in rows(prefixed)["questions"]] == [("q1", "train"), ("q2", "train")]
    assert rows(prefixed)["qrels"] == [Qrel("q1", "d1", 1, split="train"), Qrel("q2", "d3", 1, split="train")]
    assert rows(prefixed)["documents"] == rows(plain)["documents"]
    with pytest.raises(RagdataError, match=r"there is no old-queries\.jsonl"):
        read_tables(PREFIXED, prefix="old")


def test_of_several_sets_with_prefixes_one_is_to_be_chosen(tmp_path: Path) -> None:
    for prefix in ("gen", "old"):
        (tmp_path / f"{prefix}-queries.jsonl").write_text(f'{{"_id": "q1", "text": "of {prefix}"}}\n')

    with pytest.raises(RagdataError, match=r"several sets of queries \(gen, old\); choose one: --option prefix=gen"):
        read_tables(tmp_path)
    assert rows(read_tables(tmp_path, prefix="old"))["questions"] == [Question("q1", "of old")]
    (tmp_path / "gen-queries.jsonl").unlink()
    alone = read_tables(tmp_path)
    assert rows(alone)["questions"] == [Question("q1", "of old")]
    assert len(alone.losses) == 0


def test_what_cannot_be_read_is_reported_once(tmp_path: Path) -> None:
    folder_of(
        tmp_path,
        corpus='{"_id": "d1", "title": "", "text": "a"}\n{"id": "d2", "text": "b"}\n{"_id": "d3"}\n'
        '{"_id": 4, "text": "c"}\n',
        test="q1\td1\t1\nq1\td1\nq1\td1\t1.0\nq2\td4\t1\n",
    )
    tables = read_tables(tmp_path)

    first, again = rows(tables), rows(tables)

    assert first == again
    assert first["documents"] == [Document("d1", "a", ""), Document("4", "c")]
    assert first["qrels"] == [Qrel("q2", "d4", 1, split="test")]
    assert sorted((loss.table, loss.count) for loss in tables.losses) == [
        ("corpus", 1),
        ("corpus", 1),
        ("documents", 1),
        ("qrels", 1),
        ("qrels", 1),
        ("qrels", 1),
    ]
    (number,) = [loss for loss in tables.losses if loss.table == "documents"]
    assert (number.kind, number.column, number.reason) == ("coerced", "doc_id", "a number as _id became text")


@given(made=retrieval_sets())
@settings(max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_changes_on_the_way(made: RetrievalSet) -> None:
    tables = made.tables()
    with written(tables, "beir") as folder:
        found = read_back(folder)

    renamed = {loss.examples[0].split(" became ")[0] for loss in tables.losses if loss.column == "split"}
    assert found["documents"] == [d._replace(title=d.title or "") for d in made.documents]
    if not renamed:
        assert found["questions"] == made.questions
        assert sorted(found.get("qrels", [])) == sorted(made.qrels)
    else:
        assert [q._replace(split=None) for q in found["questions"]] == [q._replace(split=None) for q in made.questions]
        assert len(found["qrels"]) == len(made.qrels)
    assert {kind for kind, *_ in losses_of(tables)} <= {"renumbered", "coerced"}


def test_written_as_the_loader_wants_it(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d1", "a", metadata='{"page":1}'), Document("d2", "b", "T")],
        questions=[Question("q1", "who", "somebody", ("one",)), Question("q2", "when", split="dev")],
        qrels=[Qrel("q1", "d1"), Qrel("q2", "d2", 0), Qrel("q1", "d2", 3, split="x/y")],
    )

    write_tables(tables, "beir", tmp_path)

    assert lines(tmp_path / "corpus.jsonl") == [
        {"_id": "d1", "title": "", "text": "a", "metadata": {"page": 1}},
        {"_id": "d2", "title": "T", "text": "b", "metadata": {}},
    ]
    assert lines(tmp_path / "queries.jsonl") == [
        {"_id": "q1", "text": "who", "metadata": {}},
        {"_id": "q2", "text": "when", "metadata": {}},
    ]
    assert {p.name: p.read_text() for p in (tmp_path / "qrels").iterdir()} == {
        "test.tsv": f"{HEADER}q1\td1\t1\n",
        "dev.tsv": f"{HEADER}q2\td2\t0\n",
        "x-y.tsv": f"{HEADER}q1\td2\t3\n",
    }
    assert losses_of(tables) == {
        ("lost", "questions", "answer"),
        ("lost", "questions", "aliases"),
        ("coerced", "qrels", "split"),
        ("derived", "qrels", "split"),
    }
    assert validate(tmp_path).ok


def test_what_the_loader_would_stop_at_is_left_out(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("d1", "a"), Document("d1", "again"), Document("d2", "b")],
        questions=[Question("q1", "who"), Question("q1", "who"), Question("q1", "other"), Question(None, "no id")],
        qrels=[
            Qrel("q1", "d1"),
            Qrel("q1", "d1", 2),
            Qrel("q9", "d1"),
            Qrel("q1", "d9"),
            Qrel("q1", "node", 1, "node"),
            Qrel("q1", "d1", 2, split="dev"),
        ],
    )

    write_tables(tables, "beir", tmp_path)

    dropped = {loss.reason: loss.count for loss in tables.losses if loss.kind == "dropped"}
    assert dropped == {
        "duplicate id": 1,
        "duplicate id, with another text": 1,
        "it is judged before in this split": 1,
        "it is for a question that is not there": 1,
        "it judges a passage that is not there": 1,
        "it judges a node, not a passage": 1,
    }
    assert [q["_id"] for q in lines(tmp_path / "queries.jsonl")] == ["q1", "q2"]  # type: ignore[index,call-overload]
    assert validate(tmp_path).ok


def test_chunks_are_the_corpus(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document("D", "whole text", "Title")],
        chunks=[Chunk("D#0", "whole", "D", 0), Chunk("D#1", "text", "D", 1)],
        questions=[Question("q1", "who")],
        qrels=[Qrel("q1", "D"), Qrel("q1", "D#1", 2, "chunk", "dev")],
    )

    write_tables(tables, "beir", tmp_path)

    assert [d["_id"] for d in lines(tmp_path / "corpus.jsonl")] == ["D#0", "D#1"]  # type: ignore[index,call-overload]
    assert (tmp_path / "qrels/test.tsv").read_text() == f"{HEADER}q1\tD#0\t1\nq1\tD#1\t1\n"
    assert (tmp_path / "qrels/dev.tsv").read_text() == f"{HEADER}q1\tD#1\t2\n"
    assert validate(tmp_path).ok


def test_part_of_a_set_is_written_as_that(tmp_path: Path) -> None:
    documents, questions = [Document("d1", "a")], [Question("q1", "who", split="dev")]

    write_tables(tables_of(documents=documents), "beir", tmp_path / "corpus")
    alone = tables_of(questions=questions)
    write_tables(alone, "beir", tmp_path / "queries")

    assert [p.name for p in (tmp_path / "corpus").iterdir()] == ["corpus.jsonl"]
    assert [p.name for p in (tmp_path / "queries").iterdir()] == ["queries.jsonl"]
    assert losses_of(alone) == {("lost", "questions", "split")}
    assert [f.rule for f in validate(tmp_path / "corpus").findings] == ["no-judgements"]
    assert [f.rule for f in validate(tmp_path / "queries").findings] == ["missing-file", "no-judgements"]
    write_tables(tables_of(qrels=[Qrel("q1", "d1", split="dev")]), "beir", tmp_path / "qrels")
    assert [p.name for p in (tmp_path / "qrels").rglob("*.tsv")] == ["dev.tsv"]


def test_part_of_a_set_is_converted_as_that(tmp_path: Path) -> None:
    alone = FIXTURES / "beir/broken/missing-file-2/data"

    to_trec = run("convert", alone, tmp_path / "trec", "--from", "beir", "--to", "trec")
    back = run("convert", tmp_path / "trec", tmp_path / "beir", "--from", "trec", "--to", "beir")

    assert (to_trec.code, back.code) == (0, 0)
    assert "part of a dataset" not in to_trec.out and ", part of a dataset, in " in back.out
    assert "The framework's loader would stop: the dataset has no corpus.jsonl, and 3 judgements need it." in back.out
    assert (tmp_path / "beir/qrels/test.tsv").read_bytes() == (alone / "qrels/test.tsv").read_bytes()
    with pytest.raises(RagdataError, match="neither documents, questions nor judgements"):
        write_tables(tables_of(), "beir", tmp_path / "none")


def test_ids_that_would_be_misread_have_other_names(tmp_path: Path) -> None:
    tables = tables_of(
        documents=[Document(" a\tb", "x"), Document("a_b", "y"), Document('"a b', "z"), Document("", "w")],
        questions=[Question("q\n1", "who")],
        qrels=[Qrel("q\n1", found) for found in (" a\tb", "a_b", '"a b', "")],
    )

    write_tables(tables, "beir", tmp_path)

    assert [d["_id"] for d in lines(tmp_path / "corpus.jsonl")] == ["a_b-2", "a_b", "a_b-3", "id"]  # type: ignore[index,call-overload]
    assert losses_of(tables) == {
        ("renumbered", "passages", None),
        ("renumbered", "questions", None),
        ("derived", "qrels", "split"),
    }
    assert [q.target_id for q in read_back(tmp_path)["qrels"]] == [" a\tb", "a_b", '"a b', ""]


@needs("scifact-beir")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("scifact-beir", {"documents": 5183, "questions": 1109, "qrels": 339 + 919}),
        ("nfcorpus-beir", {"documents": 3633, "questions": 3237, "qrels": 110575 + 11385 + 12334}),
    ],
)
def test_public_sets_come_back_as_they_are(name: str, counts: dict[str, int], tmp_path: Path) -> None:
    source = UPSTREAM_DATA / name
    if not (source / "queries.jsonl").is_file():
        zipfile.ZipFile(source / "nfcorpus.zip").extractall(tmp_path)
        source = tmp_path / "nfcorpus"
    tables = read_tables(source)

    write_tables(tables, "beir", tmp_path / "out")

    assert tables.counts == counts
    assert len(tables.losses) == 0
    corpus = source / "corpus.jsonl"
    data = corpus.read_bytes() if corpus.is_file() else gzip.decompress(Path(f"{corpus}.gz").read_bytes())
    assert lines(tmp_path / "out/corpus.jsonl") == [json.loads(line) for line in data.splitlines()]
    assert lines(tmp_path / "out/queries.jsonl") == lines(source / "queries.jsonl")
    for path in (source / "qrels").iterdir():
        assert (tmp_path / "out/qrels" / path.name).read_text() == path.read_text().replace("\r\n", "\n")


@needs("scifact-beir")
def test_public_judgements_without_a_corpus() -> None:
    tables = read_tables(UPSTREAM_DATA / "mtrag-queries-qrels/clapnq", queries="clapnq_rewrite.jsonl")

    found = rows(tables)

    assert {name: len(listed) for name, listed in found.items()} == {"questions": 208, "qrels": 578}
    assert {q.split for q in found["questions"]} == {"dev"}
