"""Chunks with their contexts are searched as the cookbook does it, and Pass@k is what it computes."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ragdatakit
from ragdatakit.files.contextual_retrieval.contexts import extractive_context
from ragdatakit.retrieval.gold_and_metrics.metrics import measure
from tests.command_line import run
from tests.upstream_data import UPSTREAM_DATA, needs

REAL = UPSTREAM_DATA / "contextual-retrieval"
WITH_CONTEXTS = Path(__file__).parent.parent / "fixtures" / "contextual-retrieval" / "valid" / "with-contexts"


def test_a_context_is_the_beginning_of_the_document_without_the_chunk() -> None:
    by_name = {"repo_name": "harbour", "relative_path": "/log.txt"}

    assert extractive_context("Mara built it. Joss mapped it.", "Mara built it. ", None, by_name, 15) == (
        "harbour /log.txt\nJoss mapped it"
    )
    assert extractive_context("Mara built it. Joss mapped it.", "Joss mapped it.", "The log", {}, 10) == (
        "The log\nMara built"
    )


def test_pass_counts_gold_by_its_text_and_all_questions() -> None:
    grades = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}}
    ranked = {"q1": ("x", "d", "a"), "q2": ("d", "a")}

    values = measure(ranked, grades, ["pass@1", "pass@2", "pass@3"], {"b": "a", "x": "a"})

    assert values["pass@1"].tolist() == pytest.approx([2 / 3, 0])
    assert values["pass@2"].tolist() == pytest.approx([2 / 3, 0 + 1])
    assert values["pass@3"].tolist() == pytest.approx([2 / 3, 1])


def cookbook(path: Path, asked: int = 1, **more: Any) -> Path:
    documents = [
        {"doc_id": f"doc_{n}", "original_uuid": f"u{n}", "content": f"{name} beacon. It is lit at dusk.", "chunks": [
            {"chunk_id": f"doc_{n}_chunk_0", "original_index": 0, "content": f"{name} beacon."},
            {"chunk_id": f"doc_{n}_chunk_1", "original_index": 1, "content": "It is lit at dusk." + " Always." * n}]}
        for n, name in enumerate(("Kettle", "Skarn", "Hale"), 1)
    ]  # fmt: skip
    for document in documents:
        document["content"] = "".join(c["content"] + " " for c in document["chunks"])  # type: ignore[index]
    chunks = documents[1]["chunks"]
    golden = [{"doc_uuid": "u2", "index": c["original_index"], "content": c["content"]} for c in chunks]  # type: ignore[index]
    question = {
        "query": "When is Skarn lit at dusk?",
        "golden_doc_uuids": ["u2"],
        "golden_chunk_uuids": [["u2", 1]],
        "golden_documents": [{"uuid": "u2", "content": documents[1]["content"], "chunks": golden}],
        "answer": "At dusk.",
    }
    nothing = {"query": "What?", "answer": "", "golden_doc_uuids": [], "golden_chunk_uuids": [], "golden_documents": []}
    (path / "codebase_chunks.json").write_text(json.dumps(documents))
    rows = [question, *[nothing] * (asked - 1)]
    (path / "evaluation_set.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def values(path: Path, mode: str, scratch: Path, *more: Any) -> dict[str, float]:
    outcome = run("eval", path, "--mode", mode, "--metrics", "pass@2,pass@5", "--index-dir", scratch, *more,
               "--output-format", "json")  # fmt: skip
    found = outcome.json["runs"][0]["scores"]
    return {name: score["mean"] for name, score in found.items()}


def test_contexts_that_are_made_find_more(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    cookbook(data)

    assert values(data, "contextual", tmp_path / "index")["pass@2"] == 1.0
    assert values(data, "bm25", tmp_path / "index")["pass@2"] == 0.0


def test_a_question_without_gold_counts_as_missed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    cookbook(data, asked=4)

    assert values(data, "contextual", tmp_path / "index")["pass@5"] == 0.25


def test_vectors_of_a_store_are_fused_with_terms(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    cookbook(data)
    with ragdatakit.read(data) as dataset:
        chunks = list(dataset.rows("chunks"))
        questions = list(dataset.rows("questions"))
    metadata = [
        {"doc_id": c.doc_id, "original_uuid": f"u{c.doc_id[-1]}", "chunk_id": c.chunk_id, "original_index": c.ordinal,
         "original_content": c.text, "contextualized_content": f"Context {n}."}
        for n, c in enumerate(chunks)
    ]  # fmt: skip
    vectors = np.eye(len(chunks)).tolist()
    cache = json.dumps({questions[0].text: [0.1, 0.2, 0.3, 0.9, 0.4, 0.5]})
    store = tmp_path / "contextual_vector_db.pkl"
    store.write_bytes(pickle.dumps({"embeddings": vectors, "metadata": metadata, "query_cache": cache}))

    found = run("retrieve", data, "--id", "q0001", "--mode", "contextual", "--vectors", store, "--query-vectors", store,
               "--index-dir", tmp_path / "index", "-k", "6", "--output-format", "json")  # fmt: skip
    hits = found.json["queries"][0]["hits"]

    assert hits[0]["id"] == chunks[3].chunk_id
    assert hits[0]["score"] == pytest.approx(0.8 / 1 + 0.2 / 2)  # the first by its vector, the second by its terms
    assert [h["score"] for h in hits] == sorted((h["score"] for h in hits), reverse=True)


@needs("contextual-retrieval")
def test_real_files_gain_by_contexts(tmp_path: Path) -> None:
    """The cookbook publishes 80.92 and 87.15 (Pass@5 and 10) for plain vectors, 86.43 and 93.21 for contextual ones."""
    found = {
        mode: run("eval", REAL, "--mode", mode, "--metrics", "pass@5,pass@10,pass@20", "--index-dir", tmp_path,
                  "--output-format", "json").json["runs"][0]["scores"]
        for mode in ("bm25", "contextual")
    }  # fmt: skip
    by_name = {mode: [round(100 * found[mode][f"pass@{k}"]["mean"], 1) for k in (5, 10, 20)] for mode in found}

    assert by_name["bm25"] == pytest.approx([78.3, 85.1, 89.1], abs=0.11)
    assert by_name["contextual"] == pytest.approx([82.1, 89.9, 93.4], abs=0.11)
