"""What the reference retriever finds for the questions of a dataset that is explored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.api.explorer.jobs import Jobs
from ragdatakit.api.explorer.opened import OpenedDataset
from ragdatakit.reports.html.explorer.values import Found, RankedGold, RankedQuestion, RankedQuestions, Target
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.search.gold_causes import kinds_in_order

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.retriever import Retriever
    from ragdatakit.schemas.options import RetrieverOptions

    _Ranked = tuple[GoldQuestion, list[RankedGold]]

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
        done = retriever.search(asked.query if asked else Query(text, question_id), mode, _HITS)
        places = gold_places(retriever, asked, gold, mode, _HITS) if asked and gold else ()
        names = {each for hit in done.hits for each in (hit.passage_id, hit.document_id) if each}
        labels = self._opened.labels(_PASSAGES, [*names, *(place.target_id for place in places)])
        right = {place.target_id for place in places}
        hits = [
            (hit, bool(right & {hit.passage_id, hit.document_id}), _target(labels, hit.passage_id)) for hit in done.hits
        ]
        return Found(mode, hits, [(place, _target(labels, place.target_id)) for place in places], done.notes)

    def ranked(self, mode: str, why: str = "", split: str = "") -> RankedQuestions:
        """The judged questions with the ranks of their gold, the worst first; only those of one cause or one split
        where ``why`` or ``split`` names it. Raises as `retriever` does."""
        retriever, gold = self.retriever(), self._gold()
        if gold is None or not gold.judged:
            raise RagdataError(_why_none_is_judged(gold))

        def work() -> tuple[list[_Ranked], list[str]]:
            return self._ranked(retriever, gold, mode)

        ranked: list[_Ranked]
        ranked, patterns = self.jobs.result(("ranked", mode), "ranks of gold", work)
        splits = sorted({question.split for question, _ in ranked if question.split})
        split = split if split in splits else ""
        ranked = [(question, every) for question, every in ranked if not split or question.split == split]
        causes = Counter(kind for _, every in ranked for kind in {one.cause.kind for one in every if one.cause})
        cause = next((kind for kind in causes if kind == why), None)
        shown = [
            (question, every)
            for question, every in ranked
            if cause is None or any(one.cause is not None and one.cause.kind == cause for one in every)
        ][:_MOST_QUESTIONS]
        rows = self._opened.labels(("questions",), [question.question_id for question, _ in shown])
        return RankedQuestions(
            [RankedQuestion(rows.get(q.question_id, Target(q.question_id, q.text)), every) for q, every in shown],
            len(ranked),
            sum(every[0].rank is None for _, every in ranked),
            _HITS,
            _DEPTH,
            {kind: causes[kind] for kind in kinds_in_order() if causes[kind]},
            cause,
            all(len(every) == 1 for _, every in ranked),
            gold.nameless,
            patterns,
            splits,
            split,
        )

    def _ranked(self, retriever: Retriever, gold: Gold, mode: str) -> tuple[list[_Ranked], list[str]]:
        """The judged questions with their gold, best rank first; those first whose best gold is found last. And what
        all of the gold or the corpus may have in common that is wrong."""
        from ragdatakit.retrieval.gold_and_metrics.alike_ids import shifted_ids
        from ragdatakit.retrieval.gold_and_metrics.checks import lost_texts
        from ragdatakit.retrieval.gold_and_metrics.evaluation import search_run
        from ragdatakit.retrieval.gold_and_metrics.gold_causes import GoldCauses
        from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts, read_gold_facts
        from ragdatakit.retrieval.gold_and_metrics.moved_gold import moved_gold
        from ragdatakit.retrieval.gold_and_metrics.near_texts import near_pairs

        passages, asked = retriever.index.passages, gold.judged[:_MOST_RANKED]
        retriever.prepare(mode)
        found = search_run(retriever, passages, mode, asked, gold.unit, _DEPTH, self.jobs.tell_count).ranked
        targets = (target for question in asked for target in question.gold)
        known, tokenizer = retriever.lexical.known, retriever.tokenizer
        causes = GoldCauses(passages, tokenizer, known, targets, gold.unit, mode, k=_HITS, depth=_DEPTH)
        ranked: list[_Ranked] = []
        for number, question in enumerate(asked):
            self.jobs.tell_count("looking for causes", number, len(asked))
            names = found[question.question_id]
            ranks = {name: rank for rank, name in reversed([*enumerate(names, 1)])}
            why = causes.asked(question, names[:_HITS])
            every = [RankedGold(t, rank := ranks.get(t), why(t, rank)) for t in question.gold]
            ranked.append((question, sorted(every, key=lambda one: one.rank or _DEPTH + 1)))
        near = partial(near_pairs, unit=gold.unit, passages=passages)
        patterns: list[str] = []
        for split in dict.fromkeys(question.split for question in asked):
            of_split = [question for question in asked if question.split == split]
            shifted = shifted_ids(((q.gold, found[q.question_id]) for q in of_split), near)
            named = f"{split}: " if split and len(of_split) < len(asked) else ""
            both = (shifted, moved_gold(of_split, found))
            patterns += [f"{named}{one.words}" for one in both if one is not None]
        facts = read_gold_facts(gold, passages) if gold.unit != "node" else GoldFacts()
        patterns += [facts.cut.words(passages.unit)] if facts.cut is not None else []
        patterns += [words for words, _ in lost_texts(gold, facts)]
        return sorted(ranked, key=lambda one: -(one[1][0].rank or _DEPTH + 1)), patterns

    def first_mode(self) -> str:
        """The mode by which one searches first: that which finds what is judged. Raises as `retriever` does."""
        self.retriever()
        gold = self._gold()
        return "graph" if gold is not None and gold.unit == "node" else "bm25"

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


def _why_none_is_judged(gold: Gold | None) -> str:
    if gold is None or not gold.nameless:
        return "no question has a judgement"
    return "no question that is judged is among the questions: are the columns of the judgements swapped?"
