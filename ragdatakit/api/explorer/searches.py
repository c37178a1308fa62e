"""What the reference retriever finds for the questions of a dataset that is explored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragdatakit.api.explorer.jobs import Jobs
from ragdatakit.api.explorer.opened import OpenedDataset
from ragdatakit.reports.html.explorer.values import Found, RankedQuestion, RankedQuestions, Target
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.retriever import Retriever
    from ragdatakit.schemas.options import RetrieverOptions

_HITS, _DEPTH = 10, 100
_MOST_QUESTIONS, _MOST_RANKED = 1_000, 20_000
_PASSAGES = ("documents", "chunks", "nodes")


class Searches:
    """The retriever of one dataset: its index is built when it is first asked."""

    def __init__(self, opened: OpenedDataset, path: str, options: RetrieverOptions) -> None:
        self._opened, self._path = opened, path
        self.jobs = Jobs()
        self._options = replace(options, progress=self.jobs.tell, dataset=opened.found.name)

    def retriever(self) -> Retriever:
        """The retriever with its index. Raises `Waiting` while that is built, and `RagdataError`."""
        from ragdatakit.api.search import opened

        def work() -> Retriever:
            return opened(self._path, self._options, ("bm25",))

        found: Retriever = self.jobs.result("retriever", "building the index", work)
        return found

    def modes(self) -> Sequence[str]:
        """The ways to search that the dataset has what is needed for. Raises as `retriever` does."""
        return self.retriever().modes()

    def found(self, question_id: str | None, text: str, mode: str) -> Found:
        """What is found for a question, and where its gold is. Raises as `retriever` does."""

        def work() -> Found:
            return self._found(retriever, gold, question_id, text, mode)

        retriever, gold = self.retriever(), self._gold()
        found: Found = self.jobs.result(("found", question_id, text, mode), "searching", work)
        return found

    def _found(self, retriever: Retriever, gold: Gold | None, question_id: str | None, text: str, mode: str) -> Found:
        from ragdatakit.retrieval.explaining import gold_places
        from ragdatakit.schemas.retrieved import Query

        asked = _question(gold, question_id, text)
        done = retriever.search(asked.query if asked else Query(text), mode, _HITS)
        places = gold_places(retriever, asked, gold.unit, mode, _HITS) if asked and gold else ()
        names = {each for hit in done.hits for each in (hit.passage_id, hit.document_id) if each}
        labels = self._opened.labels(_PASSAGES, [*names, *(place.target_id for place in places)])
        right = {place.target_id for place in places}
        hits = [
            (hit, bool(right & {hit.passage_id, hit.document_id}), _target(labels, hit.passage_id)) for hit in done.hits
        ]
        return Found(mode, hits, [(place, _target(labels, place.target_id)) for place in places], done.notes)

    def ranked(self, mode: str) -> RankedQuestions:
        """The judged questions with the ranks of their gold, the worst first. Raises as `retriever` does."""
        retriever, gold = self.retriever(), self._gold()
        if gold is None or not gold.judged:
            raise RagdataError("no question has a judgement")

        def work() -> RankedQuestions:
            return self._ranked(retriever, gold, mode)

        found: RankedQuestions = self.jobs.result(("ranked", mode), "searching for every question", work)
        return found

    def _ranked(self, retriever: Retriever, gold: Gold, mode: str) -> RankedQuestions:
        passages = retriever.index.passages
        of_documents = gold.unit == "document" and passages.unit == "chunk"
        asked = gold.judged[:_MOST_RANKED]
        ranked: list[tuple[float, int, GoldQuestion, list[int | None]]] = []
        searched = retriever.search_many((question.query for question in asked), mode, _DEPTH)
        for number, (question, done) in enumerate(zip(asked, searched, strict=True)):
            self.jobs.tell("questions", number, len(asked))
            names = [hit.document_id if of_documents else hit.passage_id for hit in done.hits]
            places: dict[Any, int] = {}
            for name in names:
                places.setdefault(name, len(places) + 1)
            ranks = sorted((places.get(target) for target in question.gold), key=lambda rank: (rank is None, rank or 0))
            ranked.append((ranks[0] or _DEPTH + 1, number, question, ranks))
        ranked.sort(key=lambda one: (-one[0], one[1]))
        shown = ranked[:_MOST_QUESTIONS]
        rows = self._opened.labels(("questions",), [question.question_id for _, _, question, _ in shown])
        worst = [
            RankedQuestion(rows.get(q.question_id, Target(q.question_id, q.text)), ranks) for _, _, q, ranks in shown
        ]
        return RankedQuestions(worst, len(ranked), sum(ranks[0] is None for _, _, _, ranks in ranked))

    def _gold(self) -> Gold | None:
        """The questions with their gold; None where there are none."""
        from ragdatakit.retrieval.gold_and_metrics.gold import read_gold

        def work() -> Gold | None:
            return read_gold(self.retriever().index.source.tables(), every=True)

        tables = self._opened.database.tables
        if "questions" not in tables or "qrels" not in tables:
            return None
        found: Gold | None = self.jobs.result("gold", "reading the questions", work)
        return found


def _question(gold: Gold | None, question_id: str | None, text: str) -> GoldQuestion | None:
    same = (q for q in gold.questions if q.question_id == question_id) if gold is not None else iter(())
    return next((question for question in same if question.text == text), None)


def _target(labels: dict[str, Target], identity: str) -> Target:
    return labels.get(identity, Target(identity))
