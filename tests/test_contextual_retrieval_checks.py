"""Checks of contextual-retrieval data: the examples of its documentation, the real files, and stores of vectors."""

from __future__ import annotations

import copy
import io
import json
import os
import pickle
import pickletools
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.files.containers.pickles import PickleError
from ragdatakit.files.contextual_retrieval.vector_stores import opened_store
from ragdatakit.files.paths.boundary import ANYWHERE
from tests.upstream_data import UPSTREAM_DATA, needs

REAL = UPSTREAM_DATA / "contextual-retrieval"
CORPUS: list[Any] = [
    {
        "doc_id": "doc_1",
        "original_uuid": "u1",
        "content": "Mara built it. Joss mapped it.",
        "chunks": [
            {"chunk_id": "doc_1_chunk_0", "original_index": 0, "content": "Mara built it. "},
            {"chunk_id": "doc_1_chunk_1", "original_index": 1, "content": "Joss mapped it."},
        ],
    }
]
GOLDEN = {"uuid": "u1", "content": CORPUS[0]["content"], "chunks": [{"doc_uuid": "u1", "index": 1,
          "content": "Joss mapped it."}]}  # fmt: skip
ASKED: dict[str, Any] = {
    "query": "Who mapped it?",
    "answer": "Joss",
    "golden_doc_uuids": ["u1"],
    "golden_chunk_uuids": [["u1", 1]],
    "golden_documents": [GOLDEN],
}
LINE = json.dumps(ASKED) + "\n"
TWICE = [*CORPUS, {**CORPUS[0], "original_uuid": "u2", "content": "Fog.", "chunks": []}]


def asked(**changed: Any) -> str:
    return json.dumps({**ASKED, **changed}) + "\n"


def corpus(place: int, **changed: Any) -> str:
    made = copy.deepcopy(CORPUS)
    made[0]["chunks"][place].update(changed)
    return json.dumps(made)


SOUND = json.dumps(CORPUS)
CASES: dict[str, tuple[str, str, set[str]]] = {
    "golden index unknown": (SOUND, asked(golden_chunk_uuids=[["u1", 7]]), {"CR101"}),
    "golden uuid unknown": (SOUND, asked(golden_chunk_uuids=[["u9", 1]]), {"CR101"}),
    "flat pair": (SOUND, asked(golden_chunk_uuids=["u1", 1]), {"CR008"}),
    "chunk changed": (corpus(1, content="Joss mapped the reef."), LINE, {"CR103", "CR006"}),
    "index twice": (corpus(1, original_index=0), LINE, {"CR004", "CR102"}),
    "blank line": (SOUND, f"{LINE}\n", {"CR035"}),
    "doc_id twice": (json.dumps(TWICE), LINE, {"CR003", "CR026"}),
    "no query": (SOUND, json.dumps({k: v for k, v in ASKED.items() if k != "query"}) + "\n", {"CR020"}),
    "index as text": (SOUND, asked(golden_chunk_uuids=[["u1", "1"]]), {"CR008"}),
    "one of two unknown": (SOUND, asked(golden_chunk_uuids=[["u1", 1], ["u1", 7]]), {"CR101"}),
    "pair of three": (SOUND, asked(golden_chunk_uuids=[["u1", 1, 0.5]]), {"CR008"}),
    "no golden documents": (SOUND, asked(golden_documents=[]), {"CR101"}),
    "uuid twice": (SOUND, asked(golden_documents=[GOLDEN, GOLDEN]), {"CR107"}),
    "content null": (SOUND, asked(golden_documents=[{**GOLDEN, "chunks": [{"index": 1, "content": None}]}]), {"CR021"}),
    "array": (SOUND, json.dumps([ASKED]) + "\n", {"RD119"}),
    "line of texts": (SOUND, json.dumps([*ASKED]) + "\n", {"CR017"}),
    "empty": (SOUND, "", {"CR018"}),
    "without its dot": (corpus(1, content="Joss mapped it"), LINE, {"CR103"}),
    "gold twice": (SOUND, asked(golden_chunk_uuids=[["u1", 1], ["u1", 1]]), {"CR028"}),
    "blanks around": (corpus(1, content="Joss mapped it."), asked(golden_documents=[
        {**GOLDEN, "chunks": [{"index": 1, "content": " Joss mapped it.\n"}]}]), set()),
    "no gold": (SOUND, asked(golden_chunk_uuids=[], golden_doc_uuids=[], golden_documents=[]), {"CR009"}),
    "true for 1": (SOUND, asked(golden_chunk_uuids=[["u1", True]]), {"CR027"}),
    "two letters": (SOUND, asked(golden_chunk_uuids=["ab"]), {"CR008"}),
    "sound": (SOUND, LINE, set()),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("big", [False, True], ids=["small", "big"])
def test_examples(case: str, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if big:
        from ragdatakit.validators import dataset_run

        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    documents, questions, codes = CASES[case]
    (tmp_path / "codebase_chunks.json").write_text(documents)
    (tmp_path / "evaluation_set.jsonl").write_text(questions)

    report = ragdatakit.validate(tmp_path)

    assert {f.code for f in report.findings} == codes
    assert all(f.pointer is not None and f.line for f in report.findings if f.code in ("CR101", "CR103", "CR008"))


@needs("contextual-retrieval")
def test_real_files() -> None:
    """The files repeat licence headers as chunks, and two queries; all references resolve."""
    report = ragdatakit.validate(REAL, max_per_rule=0)

    assert Counter(f.rule for f in report.findings) == {"repeated-chunk-text": 14, "repeated-query": 2}


def test_a_repeated_chunk_names_the_record_that_had_its_text_first(tmp_path: Path) -> None:
    other = {**CORPUS[0], "doc_id": "doc_2", "original_uuid": "u2"}
    other["chunks"] = [{"chunk_id": "doc_2_chunk_0", "original_index": 0, "content": " Joss mapped it."}]
    lines = [json.dumps(document) for document in (*CORPUS, other)]
    (tmp_path / "codebase_chunks.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")

    (found,) = (f for f in ragdatakit.validate(tmp_path).findings if f.code == "CR007")

    assert (found.line, found.pointer) == (3, "/chunks/0/content")
    assert [(place.line, place.message) for place in found.related] == [(2, "first seen here")]


def test_the_id_that_a_chunk_is_to_have_is_named(tmp_path: Path) -> None:
    (tmp_path / "codebase_chunks.json").write_text(corpus(1, chunk_id="x7"))

    (found,) = [f for f in ragdatakit.validate(tmp_path).findings if f.code == "CR024"]

    assert found.hint == 'call it "doc_1_chunk_1", by its document and its index'


CHUNK = {"doc_id": "doc_1", "original_uuid": "u1", "chunk_id": "doc_1_chunk_0", "original_index": 0, "content": "Lamp."}
STORE = {"embeddings": [[0.5, 0.25], [1, 2]], "metadata": [CHUNK, {**CHUNK, "original_index": 1}], "query_cache": "{}"}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_stores_of_every_protocol_are_read(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "vector_db.pkl"
    path.write_bytes(pickle.dumps(STORE, protocol))

    with opened_store(path, ANYWHERE) as found:
        assert [v.tolist() for v in found.vectors() if v is not None] == STORE["embeddings"]
        assert list(found.chunks()) == STORE["metadata"]
        assert found.queries() == {}


class _Writes:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_code_in_a_store_is_not_run(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "vector_db.pkl"
    path.write_bytes(pickle.dumps({**STORE, "query_cache": _Writes(tmp_path / "made")}, protocol))

    with pytest.raises(PickleError) as found, opened_store(path, ANYWHERE):
        pass
    assert found.value.fault == "code"
    assert not (tmp_path / "made").exists()


def bomb() -> bytes:
    """Lists of lists of lists: ten thousand million items, in a few hundred bytes."""
    out = io.BytesIO()
    out.write(b"\x80\x04}(\x8c\x0aembeddings]")
    out.write(b"]q\x00")
    for level in range(1, 11):
        out.write(b"](" + b"h%c" % (level - 1) * 10 + b"eq%c" % level)
    out.write(b"\x8c\x08metadata]\x8c\x0bquery_cache\x8c\x02{}u.")
    return out.getvalue()


DAMAGED = {
    "empty": b"",
    "text": b"vectors\n",
    "cut off": pickle.dumps(STORE)[:-20],
    "no dict": pickle.dumps([1, 2]),
    "no metadata": pickle.dumps({"embeddings": [], "query_cache": "{}"}),
    "a length that lies": b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f",
    "a number that lies": b"\x80\x04\x8b\xff\xff\xff\x7f",
    "marks without end": b"\x80\x04" + b"(" * 100_000,
    "nothing on the stack": b"\x80\x04ee.",
    "an unknown place": b"\x80\x04h\x07.",
    "a list as a key": b"\x80\x04}]Ns.",
    "a bomb": bomb(),
    "bytes": pickle.dumps({**STORE, "query_cache": b"{}"}, 4),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_stores_are_a_finding(name: str, tmp_path: Path) -> None:
    (tmp_path / "codebase_chunks.json").write_text(SOUND)
    (tmp_path / "base_db").mkdir()
    (tmp_path / "base_db" / "vector_db.pkl").write_bytes(DAMAGED[name])

    report = ragdatakit.validate(tmp_path)

    assert {f.path.rsplit("/", 1)[1] for f in report.findings} == {"vector_db.pkl"}
    assert {f.rule for f in report.findings} <= {"unusable-vectors", "stale-vectors", "uneven-vectors"}


@pytest.mark.parametrize("cut", range(0, 300, 7))
def test_a_store_that_is_cut_anywhere_is_unusable(cut: int, tmp_path: Path) -> None:
    data = pickletools.optimize(pickle.dumps(STORE))
    path = tmp_path / "vector_db.pkl"
    path.write_bytes(data[: min(cut, len(data) - 1)])

    with pytest.raises(PickleError) as found, opened_store(path, ANYWHERE):
        pass
    assert found.value.fault != "code"
