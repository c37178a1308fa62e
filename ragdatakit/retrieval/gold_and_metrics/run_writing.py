"""Results of searches as files: TREC runs, and records of SAGE."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ragdatakit.files.containers.json_text import dumps
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.retrieved import Retrieval

_BLANK = re.compile(r"\s|[\0-\x1f\x7f]")
_HALVES = re.compile("[\ud800-\udfff]")


def trec_lines(retrieval: Retrieval, tag: str) -> Iterator[str]:
    """A retrieval as lines of a TREC run: question, ``Q0``, passage, rank, score, tag.

    Evaluators sort by the score, which they keep as a 32-bit float, and then by the id: of equal scores the later ones
    are lowered by as little as possible, so that the order stays. Raises `RagdataError` for an id that no line of a run
    can hold: columns end at white space.
    """
    question = _column(retrieval.query.question_id or "", "question id")
    before, lowest = np.float32(np.inf), np.float32(-np.inf)
    for hit in retrieval.hits:
        score = min(np.float32(hit.score), np.nextafter(before, lowest))
        yield f"{question} Q0 {_column(hit.passage_id, 'passage id')} {hit.rank} {score:.9g} {tag}\n"
        before = score


def _column(text: str, what: str) -> str:
    if not text or _BLANK.search(text) or _HALVES.search(text):
        shown = ascii(text[:80])
        fault = "is empty" if not text else "has white space or control characters in it"
        raise RagdataError(
            f"the {what} {shown} {fault}, which a TREC run cannot hold; give --output-format json or sage"
        )
    return text


def sage_record(retrieval: Retrieval, references: Sequence[str] = ()) -> str:
    """A retrieval as one record of SAGE, a line of JSON. ``references`` are the gold answers."""
    question_id = retrieval.query.question_id
    record: dict[str, Any] = {"query": whole(retrieval.query.text)}
    given = [whole(reference) for reference in references if reference]
    if question_id is not None:
        record["question"] = {"id": whole(question_id)} | ({"references": given} if given else {})
    record["references"] = given
    results = []
    for hit in retrieval.hits:
        result: dict[str, Any] = {"id": whole(hit.passage_id), "text": whole(hit.text), "score": hit.score}
        if hit.title:
            result["title"] = whole(hit.title)
        if hit.document_id:
            result["document_id"] = whole(hit.document_id)
        results.append(result)
    record["retrieval_results"] = results
    record["retrieval_docs"] = [result["text"] for result in results]
    record["retrieval_time"] = retrieval.seconds
    return dumps(record) + "\n"


def whole(text: str) -> str:
    """The text with U+FFFD for halves of characters, which no file in UTF-8 can hold."""
    return _HALVES.sub("\ufffd", text)
