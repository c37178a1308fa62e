"""A codebase of the contextual-retrieval cookbook: documents with chunks, questions with golden ones; no error."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sets.words import Prose

DOCUMENTS = 52_000
CHUNKS = 10
QUESTION_EVERY = 50
BLOCK = 400


def write_contextual(root: Path, scale: float, seed: int) -> None:
    """Write ``codebase_chunks.json`` and ``evaluation_set.jsonl``."""
    root.mkdir(parents=True)
    prose = Prose(seed)
    count = max(50, round(DOCUMENTS * scale))
    with (
        (root / "codebase_chunks.json").open("w", encoding="utf-8") as corpus,
        (root / "evaluation_set.jsonl").open("w", encoding="utf-8") as questions,
    ):
        start = "[\n  "
        for first in range(0, count, BLOCK):
            texts = prose.texts(min(BLOCK, count - first) * CHUNKS, 90, 160)
            for number in range(first, min(first + BLOCK, count)):
                chunks = [f"{number}.{n} {text}" for n, text in enumerate(texts[(number - first) * CHUNKS :][:CHUNKS])]
                document = _document(number, [text.replace('\\"', '"') for text in chunks])
                corpus.write(start + json.dumps(document, ensure_ascii=False, indent=2).replace("\n", "\n  "))
                start = ",\n  "
                if number % QUESTION_EVERY == 0:
                    questions.write(json.dumps(_question(document), ensure_ascii=False) + "\n")
        corpus.write("\n]")


def _document(number: int, chunks: list[str]) -> dict[str, Any]:
    doc_id = f"doc_{number + 1}"
    return {
        "doc_id": doc_id,
        "original_uuid": hashlib.sha256(doc_id.encode()).hexdigest(),
        "content": "\n".join(chunks),
        "chunks": [
            {"chunk_id": f"{doc_id}_chunk_{n}", "original_index": n, "content": text} for n, text in enumerate(chunks)
        ],
    }


def _question(document: dict[str, Any]) -> dict[str, Any]:
    uuid, chunk = document["original_uuid"], document["chunks"][3]
    meta = {"doctype": "codebase", "num_chunks": CHUNKS, "source": "codebases/jsonl"}
    chunks = [{"uuid": uuid, "index": c["original_index"], "content": c["content"]} for c in document["chunks"]]
    return {
        "query": f"What stands in {chunk['content'][:60]}?",
        "answer": chunk["content"][:80],
        "golden_doc_uuids": [uuid],
        "golden_chunk_uuids": [[uuid, chunk["original_index"]]],
        "golden_documents": [{"uuid": uuid, "content": document["content"], "meta": meta, "chunks": chunks}],
        "golden_chunks": [
            {"doc_uuid": uuid, "index": chunk["original_index"], "content": chunk["content"], "meta": meta}
        ],
        "meta": meta,
    }
