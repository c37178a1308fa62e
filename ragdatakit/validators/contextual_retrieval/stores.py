"""What is stored of a corpus: chunks with their contexts, and the vectors of the notebook's pickles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragdatakit.files.datasets import DataFile
from ragdatakit.files.machine import refuse_machine_fault
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.contextual_retrieval.corpus import Corpus, is_index
from ragdatakit.validators.excerpts import show

if TYPE_CHECKING:
    from ragdatakit.files.contextual_retrieval.vector_stores import VectorStore


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
    code = corpus.place(uuid, index)
    seen.add(code)
    known = corpus.chunks.get(code)
    facts = {"value": f"[{uuid}, {index}]"}
    if known is None:
        yield Problem("context-without-chunk", "/original_index", None, facts)
        return
    if isinstance(text, str) and corpus.content_code(text) != known:
        yield Problem("stored-chunk-unlike-corpus", "/original_content", None, facts)
    chunk_id, usual = value.get("chunk_id"), f"{value.get('doc_id')}_chunk_{index}"
    if isinstance(chunk_id, str) and chunk_id != usual:
        is_usual = corpus.has_id(usual)
        if is_usual or not corpus.has_id(chunk_id):
            expected = show(usual) if is_usual else "the id of a chunk of the corpus"
            hint = "give it the id that its chunk has in the corpus"
            yield Problem("unusual-chunk-id", "/chunk_id", chunk_id, {"expected": expected}, hint=hint)


def vector_problems(file: DataFile, corpus: Corpus | None) -> Iterator[Problem]:
    """The faults of a store of vectors; ``corpus`` None: it is not known."""
    from ragdatakit.files.containers.pickles import PickleError
    from ragdatakit.files.contextual_retrieval.vector_stores import opened_store

    try:
        with opened_store(file.path, file.boundary) as store:
            yield from _store_problems(store, file.kind == "contextual-vectors", corpus)
    except PickleError as error:
        at = f" at byte {error.position:,}" if error.position else ""
        if error.fault == "code":
            yield Problem("unsafe-vectors", facts={"reason": f"it asks for code to be run: {error.reason}{at}"})
        else:
            yield Problem("unusable-vectors", facts={"reason": f"{error.reason}{at}"})
    except OSError as error:
        refuse_machine_fault(error)
        yield Problem("unusable-vectors", facts={"reason": error.strerror or str(error)})


def _store_problems(store: VectorStore, with_context: bool, corpus: Corpus | None) -> Iterator[Problem]:
    stored: set[tuple[int, int]] = set()
    first: dict[str, Problem] = {}
    for number, chunk in enumerate(store.chunks()):
        if chunk is None or (reason := _unusable_field(chunk, with_context)) is not None:
            reason = "is no dict" if chunk is None else reason
            yield Problem("unusable-vectors", facts={"reason": f"chunk {number} {reason}"})
            return
        if corpus is not None:
            stored.add(_place_of(chunk, with_context, corpus))
        for problem in context_problems(chunk) if with_context else ():  # a pickle has no lines: one of a kind
            first.setdefault(problem.rule, Problem(problem.rule, None, None, problem.facts))
    if store.vector_count != store.chunk_count:
        yield Problem("vectors-unlike-chunks", facts={"vectors": store.vector_count, "chunks": store.chunk_count})
    yield from _uneven(store.lengths())
    yield from first.values()
    if corpus is not None:
        unlike, missing = len(stored - corpus.chunks.items()), len(corpus.chunks.items() - stored)
        if unlike or missing:
            facts = {"unlike": unlike, "stored": store.chunk_count, "missing": missing, "chunks": len(corpus.chunks)}
            yield Problem("stale-vectors", facts=facts)


def _unusable_field(chunk: dict[str, Any], with_context: bool) -> str | None:
    """Why the evaluation stops at a chunk; None where it does not."""
    needed = ("original_content", "contextualized_content") if with_context else ("content",)
    for name in ("doc_id", "original_uuid", "chunk_id", *needed):
        if not isinstance(chunk.get(name), str):
            return f"has no {name} that is a text"
    return None if is_index(chunk.get("original_index")) else "has no original_index that is an index"


def _place_of(chunk: dict[str, Any], with_context: bool, corpus: Corpus) -> tuple[int, int]:
    text = chunk["original_content" if with_context else "content"]
    return corpus.place(chunk["original_uuid"], chunk["original_index"]), corpus.content_code(text)


def _uneven(lengths: Iterator[int | None]) -> Iterator[Problem]:
    expected = None
    for number, length in enumerate(lengths):
        if length is not None and length == (expected or length):
            expected = length
            continue
        found = "no list of numbers" if length is None else f"{length} numbers"
        facts = {"number": number, "found": found, "expected": f"{expected or 'some'} numbers"}
        yield Problem("uneven-vectors", facts=facts)
        return
