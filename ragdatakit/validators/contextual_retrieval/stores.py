"""What is stored of a corpus: chunks with their contexts, and the vectors of the notebook's pickles."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from typing import Any

from ragdatakit.files.contextual_retrieval.vector_stores import (
    UnsafeStoreError,
    UnusableStoreError,
    VectorStore,
    read_vector_store,
)
from ragdatakit.files.datasets import DataFile
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.contextual_retrieval.corpus import Corpus, code_of, content_code, is_index


def context_problems(value: dict[str, Any]) -> Iterator[Problem]:
    """The faults of one chunk with its context."""
    text, context = value.get("original_content"), value.get("contextualized_content")
    if not isinstance(text, str) or not isinstance(context, str):
        return
    pointer = "/contextualized_content"
    if not context.strip():
        yield Problem("empty-context", pointer, context, {"found": "blank"})
    elif context.strip() == text.strip():
        yield Problem("empty-context", pointer, None, {"found": "the chunk itself"})
    elif text.strip() and text.strip() in context:
        yield Problem("context-repeats-chunk", pointer)


def stored_problems(value: dict[str, Any], corpus: Corpus, seen: set[int]) -> Iterator[Problem]:
    """Where a stored chunk is not as the corpus has it; ``seen`` gets what is stored."""
    uuid, index, text = (value.get(name) for name in ("original_uuid", "original_index", "original_content"))
    if not isinstance(uuid, str) or not is_index(index):
        return
    code = code_of(uuid, index)
    seen.add(code)
    known = corpus.chunks.get(code)
    facts = {"value": f"[{uuid}, {index}]"}
    if known is None:
        yield Problem("context-without-chunk", "/original_index", None, facts)
    elif isinstance(text, str) and content_code(text) != known:
        yield Problem("stored-chunk-unlike-corpus", "/original_content", None, facts)


def vector_problems(file: DataFile, corpus: Corpus | None) -> Iterator[Problem]:
    """The faults of a store of vectors; ``corpus`` None: it is not known."""
    try:
        store = read_vector_store(file.path, file.boundary)
    except UnsafeStoreError as error:
        yield Problem("unsafe-vectors", facts={"reason": str(error)})
        return
    except (UnusableStoreError, OSError) as error:
        told = str(error) if isinstance(error, UnusableStoreError) else error.strerror or str(error)
        yield Problem("unusable-vectors", facts={"reason": told})
        return
    with_context = file.kind == "contextual-vectors"
    if (reason := _unusable_chunk(store, with_context)) is not None:
        yield Problem("unusable-vectors", facts={"reason": reason})
        return
    if len(store.vectors) != len(store.chunks):
        facts = {"vectors": len(store.vectors), "chunks": len(store.chunks)}
        yield Problem("vectors-unlike-chunks", facts=facts)
    yield from _uneven(store.vectors)
    if with_context:
        yield from _worst_context(store.chunks)
    if corpus is not None:
        stored = {_place_of(chunk, with_context) for chunk in store.chunks}
        unlike, missing = len(stored - corpus.chunks.items()), len(corpus.chunks.items() - stored)
        if unlike or missing:
            facts = {"unlike": unlike, "stored": len(store.chunks), "missing": missing, "chunks": len(corpus.chunks)}
            yield Problem("stale-vectors", facts=facts)


def _unusable_chunk(store: VectorStore, with_context: bool) -> str | None:
    """Why the evaluation stops at a chunk; None where it does not."""
    needed = ("original_content", "contextualized_content") if with_context else ("content",)
    for number, chunk in enumerate(store.chunks):
        if not isinstance(chunk, dict):
            return f"chunk {number} is no dict"
        for name in ("doc_id", "original_uuid", "chunk_id", *needed):
            if not isinstance(chunk.get(name), str):
                return f"{name} of chunk {number} is missing or no text"
        if not is_index(chunk.get("original_index")):
            return f"original_index of chunk {number} is missing or no index"
    return None


def _place_of(chunk: dict[str, Any], with_context: bool) -> tuple[int, int]:
    text = chunk["original_content" if with_context else "content"]
    return code_of(chunk["original_uuid"], chunk["original_index"]), content_code(text)


def _worst_context(chunks: list[dict[str, Any]]) -> Iterator[Problem]:
    """One finding for each kind of fault; the place is that of the file, as a pickle has no lines."""
    told: set[str] = set()
    for chunk in chunks:
        for problem in context_problems(chunk):
            if problem.rule not in told:
                told.add(problem.rule)
                yield Problem(problem.rule, None, None, problem.facts)


def _uneven(vectors: list[Any]) -> Iterator[Problem]:
    expected = None
    for number, vector in enumerate(vectors):
        if not _is_vector(vector):
            found = "no list of numbers"
        elif expected is None or len(vector) == expected:
            expected = len(vector)
            continue
        else:
            found = f"{len(vector)} numbers"
        facts = {"number": number, "found": found, "expected": f"{expected or 'some'} numbers"}
        yield Problem("uneven-vectors", facts=facts)
        return


def _is_vector(vector: Any) -> bool:
    if isinstance(vector, array):
        return True
    return isinstance(vector, list) and bool(vector) and all(type(v) in (int, float) for v in vector)
