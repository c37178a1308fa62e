"""Documents and chunks of contextual retrieval as columns: a report says the same of them as of rows, read once."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ragdatakit.api.report import report
from ragdatakit.converters.contextual_retrieval import reading, scanned_documents
from ragdatakit.files.containers import json_text
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import Summary
from tests.block_mutations import tries
from tests.scanner_tools import needs_scanner
from tests.value_mutations import damaged_value

pytestmark = needs_scanner


def document(number: int, rng: Random) -> dict[str, Any]:
    chunks = [
        {
            "chunk_id": f"doc_{number}_chunk_{place}",
            "original_index": place,
            "content": f'Kettle "Reef" {place} of {number}\né \U0001f600 ',
        }
        for place in range(rng.randrange(5))
    ]
    content = "".join(chunk["content"] for chunk in chunks)
    return {"doc_id": f"doc_{number}", "original_uuid": f"u{number}", "content": content, "chunks": chunks}


def question(number: int, documents: list[dict[str, Any]], rng: Random) -> dict[str, Any]:
    found = [one for one in rng.sample(documents, min(len(documents), 2)) if one["chunks"]]
    golden = [
        {
            "uuid": one["original_uuid"],
            "content": one["content"],
            "meta": {"source": number, "num_chunks": 1},
            "chunks": [
                {"doc_uuid": one["original_uuid"], "index": each["original_index"], "content": each["content"]}
                | ({"meta": {"hash_id": str(number)}} if rng.random() < 0.5 else {})
                for each in one["chunks"]
            ],
        }
        for one in found
    ]
    pairs = [[one["original_uuid"], rng.randrange(len(one["chunks"]) + 1)] for one in found]
    return {"query": f"Which {number}?", "answer": "a", "golden_chunk_uuids": pairs, "golden_documents": golden}


def written(folder: Path, documents: list[Any], questions: list[Any], indent: int | None = 2) -> Path:
    folder.mkdir(exist_ok=True)
    text = json.dumps(documents, indent=indent, ensure_ascii=indent != 2)
    (folder / "codebase_chunks.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    if questions:
        lines = "".join(f"{json.dumps(one)}\n" for one in questions)
        (folder / "evaluation_set.jsonl").write_text(lines)
    return folder


def with_contexts(folder: Path, documents: list[dict[str, Any]], rng: Random) -> None:
    """Contexts of some of the chunks."""
    with (folder / "contextualized_chunks.jsonl").open("w") as file:
        for one in documents:
            for chunk in rng.sample(one["chunks"], rng.randrange(len(one["chunks"]) + 1)):
                texts = {"original_content": chunk["content"], "contextualized_content": "On the reef."}
                names = {"doc_id": one["doc_id"], "original_uuid": one["original_uuid"]}
                file.write(json.dumps({**names, **chunk, **texts}) + "\n")


def reported(folder: Path) -> Summary | str:
    """What a report says, or why there is none."""
    try:
        (found,) = report(folder, examples=20, source_format="contextual-retrieval")
    except RagdataError as error:
        return str(error)
    found.seconds = 0
    return found


def by_columns(patch: pytest.MonkeyPatch, block_bytes: int = 1 << 21) -> list[int]:
    """Read columns of parts of so many bytes; how many rows each of them has."""
    cut: list[int] = []
    add = scanned_documents.DocumentColumns._add

    def added(self: Any, made: Any, scanned: Any, first: int, last: int, *given: Any) -> None:
        cut.append(last - first)
        add(self, made, scanned, first, last, *given)

    patch.setattr(reading, "_WORTH", 0)
    patch.setattr(scanned_documents, "_BLOCK", block_bytes)
    patch.setattr(scanned_documents.DocumentColumns, "_add", added)
    return cut


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("contexts", [False, True])
def test_usual_documents_are_read_once(
    indent: int | None, contexts: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(7)
    documents = [document(number, rng) for number in range(60)]
    documents[30] |= {"title": "T", "more": [1.50, {"a": None}], "n\u00e9": 1}
    for chunk in documents[31]["chunks"]:
        chunk |= {"note": {"a": [1]}, "n\u00e9": 1}
    questions = [question(number, documents, rng) for number in range(5)]
    folder = written(tmp_path / "set", documents, questions, indent)
    if contexts:
        with_contexts(folder, documents, rng)
    by_rows = reported(folder)
    cut = by_columns(monkeypatch, 6000)
    opened: list[str] = []
    source = RecordReader.source
    monkeypatch.setattr(RecordReader, "source", lambda self, file: (opened.append(file.kind), source(self, file))[1])
    assert reported(folder) == by_rows
    assert sum(cut) > 55  # all but those at the end of the array, which Python cuts
    assert opened.count("documents") == 1
    assert isinstance(by_rows, Summary)
    assert {table.name: table.rows for table in by_rows.tables}["documents"] == 60


@pytest.mark.parametrize("columns", [False, True])
def test_documents_are_read_once_where_questions_end_early(
    columns: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the first of them say of documents is taken."""
    folder = written(tmp_path / "set", [document(number, Random(number)) for number in range(9)], [])
    (folder / "evaluation_set.jsonl").write_text("")
    origin = json.dumps([{"uuid": document(4, Random(4))["original_uuid"], "meta": {"from": "here"}}])
    opened: list[str] = []

    def objects(self: RecordReader, file: Any, *given: Any) -> Any:
        opened.append(file.kind)
        if file.kind != "questions":
            yield from read(self, file, *given)
            return
        yield json_text.fields_of(f'{{"query": "q", "golden_documents": {origin}}}'.encode())
        raise RagdataError("the disk is broken")

    read = RecordReader.objects
    monkeypatch.setattr(RecordReader, "objects", objects)
    if columns:
        by_columns(monkeypatch)
    found = reported(folder)

    assert isinstance(found, Summary)
    assert opened.count("documents") == (not columns)
    (keys,) = (f.values for f in found.frequencies if f.name == "documents.metadata")
    assert ("from", 1) in keys


def test_odd_documents_are_read_by_the_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = {"chunk_id": "c", "original_index": 0, "content": "c"}
    changes: list[dict[str, Any]] = [
        {"doc_id": 7},
        {"doc_id": ""},
        {"doc_id": None, "original_uuid": 12},
        {"doc_id": None, "original_uuid": None},
        {"original_uuid": None},
        {"title": ["T"]},
        {"title": ""},
        {"content": None},
        {"content": "\ud800 half"},
        {"chunks": None},
        {"chunks": []},
        {"chunks": [chunk, "bare", None, chunk | {"original_index": True}]},
        {"chunks": [chunk | {"original_index": value} for value in (-1, 1.0, 10**17, 10**18, 10**30, None)]},
        {"chunks": [chunk | {"chunk_id": value} for value in ("", 7, None)]},
        {"chunks": [{"original_index": 1, "content": "no id"}, {"chunk_id": "no index", "content": "t"}]},
        {"chunks": [chunk | {"content": " "}, chunk | {"content": None}, chunk | {"original_content": "another"}]},
        {"chunks": [chunk | {"contextualized_content": "of it"}, chunk | {"doc_id": "d"}]},
    ]
    rng = Random(5)
    documents = [document(place, rng) | change for place, change in enumerate([*changes, *[{}] * 150])]
    documents += [{name: value for name, value in documents[99].items() if name != left} for left in documents[99]]
    rng.shuffle(documents)
    folder = written(tmp_path, [*documents, 3, []], [question(1, documents[-9:], rng)], 1)
    file = tmp_path / "codebase_chunks.json"
    text = file.read_text().replace('"original_index": 1,', '"original_index": -0,', 3).replace('"u1', '"\\u00751')
    file.write_text(text.replace("1000000000000000000,", "NaN,").replace("}\n]", "},{broken}\n]"))
    by_rows = reported(folder)
    cut = by_columns(monkeypatch, 20_000)
    assert reported(folder) == by_rows
    assert sum(cut) > 100
    assert isinstance(by_rows, Summary)
    assert len(by_rows.losses) > 5


def test_a_file_has_all_its_bytes_where_its_array_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many of them are read at once."""
    folder = written(tmp_path / "set", [document(number, Random(1)) for number in range(9)], [])
    file = folder / "codebase_chunks.json"
    before, behind = file.read_text().rsplit('"u2",\n    "content": ', 1)
    file.write_text(f'{before}"u2",\n    "content":}}{behind}')
    by_rows = reported(folder)
    by_columns(monkeypatch, 200)
    assert reported(folder) == by_rows
    assert isinstance(by_rows, Summary)
    assert [each.bytes for each in by_rows.files] == [file.stat().st_size]
    assert "data after the end of the array" in str(by_rows.losses)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_files_are_reported_alike(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    for number in range(tries(12) // 4):
        documents = [document(place, rng) for place in range(rng.randrange(20))]
        questions = [question(place, documents, rng) for place in range(rng.randrange(3))]
        folder = tmp_path / f"{seed}-{number}"
        folder.mkdir()
        if rng.random() < 0.3:
            with_contexts(folder, documents, rng)
        for some in (documents, questions):
            for place in rng.sample(range(len(some)), min(len(some), rng.randrange(3))):
                some[place] = damaged_value(some[place], rng, rng.choice((1, 2)))
        written(folder, documents, questions, rng.choice((None, 1, 2)))
        if rng.random() < 0.3:
            file = folder / "codebase_chunks.json"
            data = file.read_bytes()
            cut = rng.randrange(len(data))
            file.write_bytes(data[:cut] + rng.choice((b"", b'"', b",", b"}", b"\xff")) + data[cut + 1 :])
        plain = reported(folder)
        with pytest.MonkeyPatch.context() as patch:
            by_columns(patch, rng.choice((200, 2000, 1 << 21)))
            assert reported(folder) == plain, folder
