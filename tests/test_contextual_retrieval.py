"""The contextual-retrieval cookbook's files, read as canonical tables: chunks with their documents, golden chunks."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.schemas.canonical import Chunk, Document, Qrel, Question
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import run
from tests.conversion_tools import read_tables, tables_of, write_tables
from tests.conversion_tools import rows as rows_by_table
from tests.upstream_data import UPSTREAM_DATA, needs

COOKBOOK = Path(__file__).parent.parent / "fixtures" / "contextual-retrieval" / "valid" / "cookbook"
REAL = UPSTREAM_DATA / "contextual-retrieval"
CORPUS: list[dict[str, Any]] = [
    {
        "doc_id": "doc_1",
        "original_uuid": "u1",
        "content": "Lamp. Bell.",
        "chunks": [
            {"chunk_id": "doc_1_chunk_0", "original_index": 0, "content": "Lamp. "},
            {"chunk_id": "doc_1_chunk_1", "original_index": 1, "content": "Bell."},
        ],
    }
]
ASKED: dict[str, Any] = {"query": "Which bell?", "answer": "That one.", "golden_chunk_uuids": [["u1", 1]]}


def folder(path: Path, corpus: Any = CORPUS, asked: Any = (ASKED,), **more: Any) -> Path:
    """A folder with the two files, and more files of JSON lines."""
    if corpus is not None:
        (path / "codebase_chunks.json").write_text(json.dumps(corpus))
    for name, rows in {"evaluation_set": asked, **more}.items():
        (path / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def read(path: Path, source_format: str = "contextual-retrieval") -> tuple[dict[str, list[Any]], dict[str, int]]:
    """The rows of each table, and what was counted by reason."""
    with ragdatakit.read(path, source_format=source_format) as dataset:
        found = {table: list(dataset.rows(table)) for table in dataset.tables}
        assert dataset.format == "contextual-retrieval"
        shown: Counter[str] = Counter()
        for loss in dataset.losses:
            shown[loss.reason] += loss.count
        return found, shown


def test_files_become_tables() -> None:
    found, rows = read(COOKBOOK)

    assert found["documents"][1] == Document(
        "doc_2", "def ferry(hour):\n    return hour > 9\n", None, '{"original_uuid":"b2e7"}'
    )
    assert found["chunks"][1] == Chunk("doc_1_chunk_1", "def bell():\n    return 'rung'\n", "doc_1", 1)
    assert found["questions"][0] == Question(
        "q0001",
        "What does the bell return?",
        "rung",
        metadata='{"relative_path":"/harbour/signals.py","repo_name":"harbour"}',
    )
    assert found["qrels"] == [Qrel("q0001", "doc_1_chunk_1", 1, "chunk"), Qrel("q0002", "doc_2_chunk_0", 1, "chunk")]
    assert rows == {"the place of the record, which has no id": 2}


def test_they_are_found_by_their_content(tmp_path: Path) -> None:
    data = gzip.compress((COOKBOOK / "codebase_chunks.json").read_bytes())
    (tmp_path / "all.json.gz").write_bytes(data)
    (tmp_path / "asked.ndjson").write_bytes((COOKBOOK / "evaluation_set.jsonl").read_bytes())
    (tmp_path / "README.md").write_text("About them.")
    (tmp_path / "other.json").write_text('[{"text": "something else"}]')

    assert read(tmp_path, "")[0] == read(COOKBOOK)[0]


def test_one_file_alone_is_read(tmp_path: Path) -> None:
    assert set(read(COOKBOOK / "codebase_chunks.json", "")[0]) == {"documents", "chunks"}
    found, rows = read(COOKBOOK / "evaluation_set.jsonl", "")

    assert [q.target_id for q in found["qrels"]] == ["a1f0_chunk_1", "b2e7_chunk_0"]
    assert [c.chunk_id for c in found["chunks"]] == ["a1f0_chunk_1", "b2e7_chunk_0"]
    assert [d.doc_id for d in found["documents"]] == ["a1f0", "b2e7"]
    assert rows["made of the document's id and the index"] == 2


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text('[{"text": "nothing of the kind"}]')

    with pytest.raises(RagdataError, match="no dataset recognised"):
        ragdatakit.read(tmp_path, source_format="contextual-retrieval")


def test_contexts_go_with_their_chunks(tmp_path: Path) -> None:
    context = {
        "doc_id": "doc_1",
        "original_uuid": "u1",
        "chunk_id": "doc_1_chunk_1",
        "original_index": 1,
        "original_content": "Bell.",
        "contextualized_content": "Of bells.",
        "model": "small",
    }
    found, _ = read(folder(tmp_path, contexts=[context]))

    assert found["chunks"] == [
        Chunk("doc_1_chunk_1", "Bell.", "doc_1", 1, "Of bells.", metadata='{"model":"small"}'),
        Chunk("doc_1_chunk_0", "Lamp. ", "doc_1", 0),
    ]
    assert [q.target_id for q in found["qrels"]] == ["doc_1_chunk_1"]


def test_chunks_are_written_by_their_ordinals(tmp_path: Path) -> None:
    chunks = [Chunk("c2", "two", "d", 1), Chunk("c3", "three", "d", 2), Chunk("c1", "one", "d", 0)]
    tables = tables_of(documents=[Document("d", "one two three")], chunks=chunks)

    write_tables(tables, "contextual-retrieval", tmp_path)

    assert [chunk.text for chunk in rows_by_table(read_tables(tmp_path))["chunks"]] == ["one", "two", "three"]


def test_records_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    corpus = [
        *CORPUS,
        7,
        {"original_uuid": "u2", "content": "No id.", "chunks": "none"},
        {"content": "Nameless.", "original_uuid": [], "chunks": []},
        {
            "doc_id": "doc_4",
            "content": None,
            "chunks": [3, {"content": 5}, {"content": "A chunk.", "original_index": -1}],
        },
    ]
    asked = [
        ASKED,
        {"query": None, "golden_chunk_uuids": [["u1", 1]]},
        {"query": "No gold?"},
        {
            "query": "Bad gold?",
            "golden_chunk_uuids": ["u1", ["u1"], ["u1", -1], ["u1", True], [1, 1], ["u1", 0], ["u1", 0], ["u9", 4]],
        },
        {"query": "No list?", "golden_chunk_uuids": "u1"},
    ]
    found, rows = read(folder(tmp_path, corpus, asked))

    assert [d.doc_id for d in found["documents"]] == ["doc_1", "u2"]
    assert [(c.chunk_id, c.ordinal) for c in found["chunks"]][2:] == [("doc_4_chunk_2", 2)]
    assert [q.question_id for q in found["questions"]] == ["q0001", "q0003", "q0004", "q0005"]
    assert found["qrels"] == [
        Qrel("q0001", "doc_1_chunk_1", 1, "chunk"),
        Qrel("q0004", "doc_1_chunk_0", 1, "chunk"),
        Qrel("q0004", "u9_chunk_4", 1, "chunk"),
    ]
    assert rows == {
        "no JSON object": 2,  # a record, and a chunk
        "it has neither doc_id nor original_uuid": 1,
        "its content is not a text": 2,
        "the document has no list of chunks": 1,
        "its place, as original_index is not an index": 1,
        "made of the document's id and the index": 1,
        "it has no query": 1,
        "the place of the record, which has no id": 4,
        "the question has no list of golden chunks": 2,
        "no pair of a document's uuid and a chunk's index": 5,
        "the question names the chunk twice": 1,
        "made of uuid and index, as no chunk of the corpus has them": 1,
    }


def test_what_only_golden_copies_say_is_reported(tmp_path: Path) -> None:
    def copy(**more: Any) -> dict[str, Any]:
        return {"doc_uuid": "u1", "index": 1, "content": "Bell.", **more}

    corpus = [{**CORPUS[0], "repo_name": "harbour"}]
    meta = {"source": "git", "num_chunks": 2, "content": "?"}
    golden = {"uuid": "u1", "content": "Lamp. Bell.", "size": 11, "chunks": [copy(meta={"hash_id": "9f"})]}
    asked = [
        {**ASKED, "golden_documents": [{**golden, "meta": meta}], "golden_chunks": [copy(meta={"hash_id": "9f"})]},
        {**ASKED, "golden_documents": [{**golden, "meta": {"source": "svn"}}], "golden_chunks": [copy(meta=7, rank=1)]},
        {**ASKED, "golden_documents": [{**golden, "chunks": [copy()], "size": [["\ud800"]]}, 7], "golden_chunks": 7},
    ]
    folder(tmp_path, corpus, asked)
    with ragdatakit.read(tmp_path) as dataset:
        documents, questions = list(dataset.rows("documents")), list(dataset.rows("questions"))
        chunks = list(dataset.rows("chunks"))
        losses = {(loss.table, loss.column): loss for loss in dataset.losses if loss.kind == "lost"}

    assert documents == [
        Document("doc_1", "Lamp. Bell.", None, '{"source":"git","original_uuid":"u1","repo_name":"harbour"}')
    ]
    assert len(questions) == 3
    assert {place: loss.count for place, loss in losses.items()} == {
        ("chunks", "metadata"): 2,
        ("documents", "metadata"): 5,
    }
    assert losses["chunks", "metadata"].examples == ["q0002: meta 7", "q0002: rank 1"]
    assert [chunk.metadata for chunk in chunks] == [None, '{"hash_id":"9f"}']
    assert losses["documents", "metadata"].examples == ["q0001: size 11", 'q0001: content "?"', "q0002: size 11"]


def test_what_golden_copies_say_comes_back(tmp_path: Path) -> None:
    def copy(index: int, text: str, word: str) -> dict[str, Any]:
        return {"doc_uuid": "u1", "index": index, "content": text, "meta": {"hash_id": word}}

    copies = [copy(0, "Lamp. ", "8e"), copy(1, "Bell.", "9f")]
    golden = {"uuid": "u1", "content": "Lamp. Bell.", "chunks": copies, "meta": {"repo_name": "h", "num_chunks": 2}}
    (tmp_path / "given").mkdir()
    folder(tmp_path / "given", CORPUS, [{**ASKED, "golden_documents": [golden]}])
    ways = (("contextual-retrieval",), ("beir", "--sidecar"), ("datamind", "--sidecar"), ("arag", "--sidecar"))
    for number, (to, *words) in enumerate(ways):
        there, back = tmp_path / f"there{number}", tmp_path / f"back{number}"
        assert run("convert", "--to", to, *words, tmp_path / "given", there).code == 0
        assert run("convert", "--to", "contextual-retrieval", there, back).code == 0
        lines = (back / "evaluation_set.jsonl").read_text("utf-8").splitlines()
        (found,) = json.loads(lines[0])["golden_documents"]
        assert [chunk["meta"] for chunk in found["chunks"]] == [{"hash_id": "8e"}, {"hash_id": "9f"}], to


def test_hostile_files_do_not_stop_it(tmp_path: Path) -> None:
    lines = [
        json.dumps(ASKED),
        '{"query": "half \\ud800", "golden_chunk_uuids": [["u1", 1]]}',
        '{"query": "nested", "golden_chunk_uuids": ' + "[" * 3000 + "]" * 3000 + "}",
        '{"query": "deep", "golden_chunk_uuids": [], "golden_chunks": [{"hash_id": ' + "[" * 900 + "]" * 900 + "}]}",
        '{"query": "big", "golden_chunk_uuids": [["u1", 1e999], ["u1", NaN], ["u1", 99999999999999999999]]}',
        "",
        "no JSON",
    ]
    folder(tmp_path)
    (tmp_path / "evaluation_set.jsonl").write_text("\n".join(lines))
    found, rows = read(tmp_path)

    assert found["questions"][0].text == "Which bell?"
    assert Qrel("q0001", "doc_1_chunk_1", 1, "chunk") in found["qrels"]
    assert sum(rows.values()) >= 4


def test_it_is_converted_by_one_command(tmp_path: Path) -> None:
    done = run("convert", COOKBOOK, tmp_path / "out", "--to", "beir")

    assert done.code == 0, done.err
    assert len((tmp_path / "out" / "corpus.jsonl").read_text().splitlines()) == 3
    assert "q0002\tdoc_2_chunk_0\t1" in next((tmp_path / "out" / "qrels").iterdir()).read_text()


@needs("contextual-retrieval")
def test_real_files() -> None:
    found, shown = read(REAL, "")

    assert {table: len(rows) for table, rows in found.items()} == {
        "documents": 90,
        "chunks": 737,
        "questions": 248,
        "qrels": 306,
    }
    assert shown == {"the place of the record, which has no id": 248}
    assert all(json.loads(chunk.metadata)["hash_id"] for chunk in found["chunks"])
    ids = {c.chunk_id for c in found["chunks"]}
    assert all(q.target_id in ids for q in found["qrels"])


@pytest.mark.parametrize("words", [(), ("--chunk-size", "8"), ("--option", "contexts=extractive")])
def test_what_is_written_of_whole_documents_has_no_warning_of_its_own(tmp_path: Path, words: tuple[str, ...]) -> None:
    source = COOKBOOK.parents[2] / "beir" / "valid" / "folder"
    done = run("convert", source, tmp_path / "out", "--to", "contextual-retrieval", *words)
    assert done.code == 0, done.err
    found = ragdatakit.validate(tmp_path / "out", severity="warning").findings
    assert {f.code for f in found} <= {"CR029"}  # the questions have no answers
    kept = json.loads((tmp_path / "out" / "codebase_chunks.json").read_bytes())
    assert [c["chunk_id"] for c in kept[0]["chunks"]][:1] == [f"{kept[0]['doc_id']}_chunk_0"]
    back = run("convert", tmp_path / "out", tmp_path / "back", "--to", "arag")
    assert back.code == 0, back.err
    assert f"{kept[0]['doc_id']}_chunk_0" not in "".join(p.read_text() for p in (tmp_path / "back").glob("*.json*"))
