"""What a dataset is searched by: one question, those of a file, those of the dataset with their gold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion, read_gold
from ragdatakit.retrieval.retriever import Retriever
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.options import DatasetOptions, Tell
from ragdatakit.schemas.retrieved import GoldPlace, Query

__all__ = [
    "AskedQuestions",
    "Gold",
    "Retriever",
    "file_queries",
    "gold_of",
    "gold_places",
    "gold_question",
    "sage_run",
    "trec_run",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestions:
    """Which questions of a dataset, or of the file ``questions``, are meant: that with the id ``question_id``, or all
    (of one ``split``). ``qrels`` has judgements that take the place of the dataset's own."""

    path: Path
    question_id: str | None = None
    split: str = ""
    questions: Path | None = None
    qrels: Path | None = None
    follow_links: bool = False


def file_queries(path: Path) -> list[Query]:
    """The questions of a file: one a line, or JSON lines with id and text. Raises `RagdataError`."""
    from ragdatakit.retrieval.query_files import read_queries

    return read_queries(path)


def gold_of(retriever: Retriever, asked: AskedQuestions, tell: Tell) -> Gold:
    """The questions that are meant, with their gold. ``tell`` gets what could not be read of them.

    Raises `RagdataError` where there are none.
    """
    from ragdatakit.api.search import with_gold
    from ragdatakit.retrieval.index.notes import GOLD, left_out

    tables = retriever.index.source.tables()
    if asked.qrels is not None or asked.questions is not None:
        how = DatasetOptions(follow_links=asked.follow_links)
        tables = with_gold(tables, asked.questions, asked.qrels, how, passages=lambda: retriever.index.passages)
    gold = read_gold(tables, asked.split, every=asked.question_id is None)
    for text in left_out(tables, GOLD):
        tell(f"left out: {text}")
    if not gold.questions:
        raise RagdataError(f"{asked.path} has no questions; give one, or a file of them (--questions FILE)")
    if asked.question_id is None or asked.split or _has(gold, asked.question_id):
        return gold
    others = (read_gold(tables, split) for split in gold.splits if split and split != gold.split)
    return next((other for other in others if _has(other, asked.question_id)), gold)


def _has(gold: Gold, question_id: str) -> bool:
    return any(question.question_id == question_id for question in gold.questions)


def gold_question(gold: Gold, asked: AskedQuestions) -> GoldQuestion:
    """The question that was asked for by its id. Raises `UnknownNameError`."""
    for question in gold.questions:
        if question.question_id == asked.question_id:
            return question
    where = f"{asked.path}" + (f" (split {gold.split})" if gold.split else "")
    known = [question.question_id for question in gold.questions]
    raise UnknownNameError("question", asked.question_id or "", known, where=f"of {where}")


def gold_places(retriever: Retriever, gold: Gold, asked: AskedQuestions, mode: str, k: int) -> tuple[GoldPlace, ...]:
    """Where the gold of the question is that was asked for by its id."""
    from ragdatakit.retrieval.explaining import DEPTH
    from ragdatakit.retrieval.explaining import gold_places as places

    return places(retriever, gold_question(gold, asked), gold, mode, k, max(DEPTH, k))


def trec_run(retriever: Retriever, queries: Iterable[Query], mode: str, k: int, tag: str) -> Iterator[bytes]:
    """A TREC run of the queries; one without an id is called 1. Raises `RagdataError` for an id that no run holds."""
    from ragdatakit.retrieval.gold_and_metrics.run_writing import trec_lines

    named = (query if query.question_id is not None else replace(query, question_id="1") for query in queries)
    for found in retriever.search_many(named, mode, k):
        yield "".join(trec_lines(found, tag)).encode()


def sage_run(retriever: Retriever, queries: Iterable[Query], mode: str, k: int, gold: Gold | None) -> Iterator[bytes]:
    """The same as records of SAGE, with the answers of the gold."""
    from ragdatakit.retrieval.gold_and_metrics.run_writing import sage_record

    answers = {question.question_id: question.answers for question in gold.questions} if gold is not None else {}
    for found in retriever.search_many(queries, mode, k):
        yield sage_record(found, answers.get(found.query.question_id or "", ())).encode()
