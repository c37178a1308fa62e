"""Clean contextual-retrieval files of forty records, and what their own checks add to the declaration."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragdatakit.schemas.contextual_retrieval.format import CONTEXTUAL_RETRIEVAL
from tests.faults.drafts import Draft, DraftFile, Place, cell

SIZE = 40


def drafts() -> tuple[Draft, ...]:
    """One file a dataset, given by its name: what damage leaves of it need not look like one of the format."""
    files = (
        ("codebase_chunks.json", "documents", [_document(i) for i in range(SIZE)]),
        ("contextualized_chunks.jsonl", "contexts", [_context(i) for i in range(SIZE)]),
        ("evaluation_set.jsonl", "questions", [_question(i) for i in range(SIZE)]),
    )
    return tuple(
        Draft(
            f"contextual-retrieval {kind}",
            CONTEXTUAL_RETRIEVAL,
            (DraftFile(path, CONTEXTUAL_RETRIEVAL.file(kind), tuple(map(cell, values))),),
            frozenset(),
            _derive,
            _own_rules,
            _consequences,
            notes={"entry": path, "format": "contextual-retrieval", "contexts @place": "original_index"},
        )
        for path, kind, values in files
    )


def _chunk(i: int) -> dict[str, Any]:
    return {"chunk_id": f"doc_{i}_chunk_0", "original_index": 0, "content": f"Reef {i} lies north."}


def _document(i: int) -> dict[str, Any]:
    content = f"Reef {i} lies north. It was mapped."
    return {"doc_id": f"doc_{i}", "original_uuid": f"u{i}", "content": content, "chunks": [_chunk(i)]}


def _context(i: int) -> dict[str, Any]:
    names = {"doc_id": "doc_1", "original_uuid": "u1", "chunk_id": f"doc_1_chunk_{i}", "original_index": i}
    return {**names, "original_content": f"Reef {i} lies north.", "contextualized_content": f"On page {i} of the log."}


def _question(i: int) -> dict[str, Any]:
    golden = {"doc_uuid": f"u{i}", "index": 0, "content": f"Reef {i} lies north."}
    return {
        "query": f"Where does reef {i} lie?",
        "answer": "north",
        "golden_doc_uuids": [f"u{i}"],
        "golden_chunk_uuids": [[f"u{i}", 0]],
        "golden_documents": [{"uuid": f"u{i}", "content": "A log.", "chunks": [golden], "meta": {"num_chunks": 1}}],
        "golden_chunks": [golden],
        "meta": {"relative_path": f"/{i}.txt"},
    }


def _derive(path: str, kind: str, value: Any) -> dict[str, Any]:
    if kind != "contexts" or not isinstance(value, dict):
        return {}
    doc_id, index = value.get("doc_id"), value.get("original_index")
    usable = isinstance(doc_id, str) and type(index) is int and index >= 0
    return {"@place": f"[{doc_id}, {index}]" if usable else None}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


def _consequences(draft: Draft) -> set[Place]:
    """Chunks of one document twice, and ids that are not made of that of their document."""
    found: set[Place] = set()
    for file in draft.files:
        if file.kind.kind == "documents":
            ids: Counter[str] = Counter()
            texts: Counter[str] = Counter()
            for line, value in file.records():
                for place, chunk in enumerate(_chunks(value)):
                    rules = _of_chunk(value, chunk, place, ids, texts)
                    found |= {Place(rule, file.path, line) for rule in rules}
    return found


def _chunks(value: Any) -> list[dict[str, Any]]:
    chunks = value.get("chunks") if isinstance(value, dict) else None
    return [c for c in chunks if isinstance(c, dict) and "content" in c] if isinstance(chunks, list) else []


def _of_chunk(
    value: dict[str, Any], chunk: dict[str, Any], place: int, ids: Counter[str], texts: Counter[str]
) -> list[str]:
    rules = []
    if ids[chunk["chunk_id"]]:
        rules.append("duplicate-chunk-id")
    elif isinstance(value.get("doc_id"), str) and chunk["chunk_id"] != f"{value['doc_id']}_chunk_0":
        rules.append("unusual-chunk-id")
    if texts[chunk["content"]]:
        rules.append("repeated-chunk-text")
    if isinstance(value.get("content"), str) and chunk["content"] not in value["content"]:
        rules.append("chunk-not-in-document")
    ids[chunk["chunk_id"]] += 1
    texts[chunk["content"]] += 1
    return rules + ["duplicate-chunk-index"] * bool(place)


_ANY = ("true", "a number", "a decimal", "text", "a list", "an object", "NaN", "Infinity", "-Infinity", "1e400",
        "2^53 + 1", "2^63", "2^70", "-2^63 - 1", "empty", "blank", "surrogate")  # fmt: skip
OWN: dict[tuple[str, str, str], str] = {
    ("documents", "chunks", "empty"): "document-without-chunks",
    ("contexts", "contextualized_content", "empty"): "empty-context",
    ("contexts", "contextualized_content", "blank"): "empty-context",
    ("questions", "answer", "missing"): "question-without-answer",
    **{("questions", "golden_doc_uuids", v): "golden-documents-unlike" for v in ("missing", "null", *_ANY)},
    **{("questions", "golden_chunks", v): "golden-chunks-unlike" for v in _ANY},
    ("questions", "golden_chunk_uuids", "one item for a list"): "unusable-golden-chunk",
    ("questions", "golden_chunk_uuids", "empty"): "no-golden-chunk",
    ("questions", "golden_documents", "empty"): "golden-chunk-not-embedded",
    ("questions", "golden_documents", "an item twice"): "duplicate-golden-document",
}
