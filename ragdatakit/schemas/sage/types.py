"""Types of the documented SAGE record, for people who write operators; they cost nothing at run time.

`RAGData` is a plain dict with these keys, none of which must be there (``total=False``): an operator reads what the
stages before it wrote, adds its own, and hands the same dict on. Import it from ``ragdatakit.schemas``.
"""

from __future__ import annotations

from typing import Any, TypedDict


class Question(TypedDict, total=False):
    """The sample that a query was taken from; further keys are free.

    ``references`` are the same strings as the record's own, ``id`` is unique over a file of records.
    """

    id: str | int
    references: list[str]


class RetrievalResult(TypedDict, total=False):
    """One retrieved passage, in a list from best to worst.

    ``text`` must be there and have words in it. ``score`` is from 0 to 1, the higher the better. ``metadata`` holds
    what else is known of the passage, such as its ``id`` among the documents.
    """

    text: str
    score: float
    metadata: dict[str, Any]


class RerankingResult(TypedDict, total=False):
    """One passage after reranking: a ``text`` of an earlier stage, unchanged, with its new ``score`` (0 to 1)."""

    text: str
    score: float


class RefiningResult(TypedDict, total=False):
    """One passage after refining.

    ``original_length`` and ``refined_length`` are whole numbers from 0, both in characters or both in tokens.
    ``compression_ratio`` is refined ÷ original: 0.3 where 1,000 characters became 300 (not 3.33).
    """

    text: str
    original_length: int
    refined_length: int
    compression_ratio: float


class RAGData(TypedDict, total=False):
    """What the stages of a pipeline pass on, as the documentation has it (profile ``unified``).

    ``query`` is the question in words; ``question`` the sample it was taken from; ``references`` the gold answers, an
    empty list where there are none. Each stage that ran has its ``…_results``, the texts of these as ``…_docs`` in the
    same order, and its ``…_time`` in seconds from 0. ``prompt`` is what the generator was sent, ``generated`` its
    answer, ``generation_time`` its seconds. ``input`` is the payload that the record was made from, where that was no
    dict. Keys of your own need a prefix of your own.
    """

    query: str
    question: Question
    references: list[str]
    retrieval_results: list[RetrievalResult]
    retrieval_docs: list[str]
    retrieval_time: float
    reranking_results: list[RerankingResult]
    reranking_docs: list[str]
    reranking_time: float
    refining_results: list[RefiningResult]
    refining_docs: list[str]
    refining_time: float
    prompt: str
    generated: str
    generation_time: float
    input: Any
