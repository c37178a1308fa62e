"""What an evaluation finds wrong with its questions: answers that the gold does not have, questions of train."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import flattened, in_numbers, sought
from ragdatakit.retrieval.gold_and_metrics.faults import Fault, listed, shown
from ragdatakit.retrieval.gold_and_metrics.gold import is_train
from ragdatakit.retrieval.gold_and_metrics.sanity import ordinals_of

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold
    from ragdatakit.retrieval.passages import Passages

_LONGEST_ANSWER = 60
"""Characters of an answer beyond which it is a sentence."""
_MOST_TEXTS = 20_000


def answers_not_in_gold(gold: Gold, passages: Passages) -> Iterator[Fault]:
    """Answers of which some word is in no gold text. Numbers, which may be written otherwise, and sentences, which have
    words of their own, are passed over."""
    asked = [
        (q, found)
        for q in gold.judged
        if (found := sought(q)) and len(found[0]) <= _LONGEST_ANSWER and not any(map(in_numbers, found))
    ]
    ordinals = ordinals_of(gold.unit, passages, (target for q, _ in asked for target in q.gold))
    known: dict[str, str] = {}

    def text(target: str) -> str:
        if target not in known:
            if len(known) > _MOST_TEXTS:
                known.clear()
            known[target] = " ".join(flattened(passages[ordinal].searched) for ordinal in ordinals[target])
        return known[target]

    for question, answers in asked:
        there = [target for target in question.gold if target in ordinals]
        if there and not any(answer in text(target) for target in there for answer in answers):
            texts = [text(target) for target in there]
            if not _loosely(answers, texts):
                facts = {"question": shown(question.question_id), "answer": shown(question.answers[0])}
                yield Fault("answer-not-in-gold", question.question_id, {**facts, "unit": gold.unit})


def _loosely(answers: Sequence[str], texts: Sequence[str]) -> bool:
    """Whether texts have the words of an answer in any order, or the answer if blanks do not count (``e-mail``)."""
    words = {word for text in texts for word in text.split()}
    if any(words.issuperset(answer.split()) for answer in answers):
        return True
    joined = [text.replace(" ", "") for text in texts]
    return any(answer.replace(" ", "") in text for answer in answers for text in joined)


def answered_in_train(gold: Gold, tables: CanonicalTables) -> Iterator[Fault]:
    """Questions that are in train, too; looked for where one split is evaluated that is not train."""
    evaluated = gold.split or (next(iter(gold.splits)) if len(gold.splits) == 1 else None)
    if not evaluated or is_train(evaluated):
        return
    same, answers = _same_questions(gold, tables)
    golds: dict[str, set[str]] = {}
    for row in tables.peek("qrels"):
        if row.question_id in same and row.grade > 0 and row.target_kind == gold.unit and is_train(row.split):
            golds.setdefault(row.question_id, set()).add(row.target_id)
    others: dict[str, list[str]] = {}
    for other, ids in same.items():
        for question_id in ids:
            others.setdefault(question_id, []).append(other)
    for question in gold.judged:
        name, there = question.question_id, others.get(question.question_id, ())
        own = {answer for text in question.answers if (answer := flattened(text))}
        by_gold = [other for other in there if not golds.get(other, set()).isdisjoint(question.gold)]
        by_answer = [other for other in there if other != name and answers.get(other) in own]
        if by_gold or by_answer:
            facts = {"others": listed(by_gold or by_answer), "same": "gold" if by_gold else "answer"}
            yield Fault("answered-by-duplicate-in-train", name, {"question": shown(name), **facts})


def _same_questions(gold: Gold, tables: CanonicalTables) -> tuple[dict[str, list[str]], dict[str, str]]:
    """By question of the dataset, the evaluated ones of the same words; and the answers of those that are in train."""
    evaluated: set[str] = set()
    texts: dict[str, list[str]] = {}
    for question in gold.judged:
        evaluated.add(question.question_id)
        if text := flattened(question.text):
            texts.setdefault(text, []).append(question.question_id)
    same: dict[str, list[str]] = {}
    answers: dict[str, str] = {}
    for row in tables.peek("questions"):
        other = row.question_id
        if other is None or other in same:
            continue
        ids = [i for i in texts.get(flattened(row.text), ()) if i == other or other not in evaluated]
        if ids:
            same[other] = ids
            if is_train(row.split) and row.answer:
                answers[other] = flattened(row.answer)
    return same, answers
