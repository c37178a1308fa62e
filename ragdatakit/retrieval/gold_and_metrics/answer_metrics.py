"""Answers of a system against gold answers, as each framework compares them; each metric is named after whose it is.

``exact_match`` and ``f1`` are those of SQuAD, HotpotQA and SAGE: lower case, no ASCII punctuation, no articles; the
best over the answer and its aliases. ``contain_arag`` (A-RAG's ``contain_accuracy``) asks in the same form whether the
answer is in the reply; ``contain_datamind`` (which DataMind calls exact match) and ``f1_datamind`` do it in
DataMind's: lower case, what is no word character is a blank, articles are kept. These three know no aliases. An answer
inside a longer word counts as contained (``8`` in ``1894``), as it does in the frameworks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.files.containers.json_text import fields_of, loads, string_of
from ragdatakit.files.texts.compared_answers import without_articles, words_only
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.retrieval.gold_and_metrics.metrics import mean_score
from ragdatakit.schemas.evaluations import AnswerScores

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.canonical import Answer, Question

METRICS = ("exact_match", "f1", "contain_arag", "contain_datamind", "f1_datamind")
_GOLD = ("gold_answer", "reference_answer")
_RUN = "run"
WORST = 5


def exact_match(reply: str, golds: Sequence[str]) -> float:
    """1 where the reply is one of the gold answers, in the form in which SQuAD compares."""
    compared = without_articles(reply)
    return float(any(compared == without_articles(gold) for gold in golds))


def token_f1(reply: str, golds: Sequence[str]) -> float:
    """The best F1 of shared words over the gold answers, in the form in which SQuAD compares."""
    words = without_articles(reply).split()
    return max((_f1(words, without_articles(gold).split()) for gold in golds), default=0.0)


def contain_arag(reply: str, golds: Sequence[str]) -> float:
    """1 where the first gold answer is in the reply, as A-RAG compares them."""
    return float(without_articles(golds[0]) in without_articles(reply))


def contain_datamind(reply: str, golds: Sequence[str]) -> float:
    """1 where the first gold answer is in the reply, as DataMind compares them."""
    return float(words_only(golds[0]) in words_only(reply))


def f1_datamind(reply: str, golds: Sequence[str]) -> float:
    """The F1 of words shared with the first gold answer, as DataMind compares them."""
    return _f1(words_only(reply).split(), words_only(golds[0]).split())


def _f1(words: Sequence[str], gold: Sequence[str]) -> float:
    if not words or not gold:
        return float(words == gold)
    shared = sum((Counter(words) & Counter(gold)).values())
    return 2 * shared / (len(words) + len(gold))


_COMPUTE: dict[str, Callable[[str, Sequence[str]], float]] = {
    "exact_match": exact_match,
    "f1": token_f1,
    "contain_arag": contain_arag,
    "contain_datamind": contain_datamind,
    "f1_datamind": f1_datamind,
}


def answer_values(reply: str, golds: Sequence[str]) -> dict[str, float]:
    """All metrics of one reply; ``golds`` are the answer and its aliases, at least one."""
    return {name: compute(reply, golds) for name, compute in _COMPUTE.items()}


@dataclass(slots=True)
class _Tally:
    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in METRICS})
    unanswered: int = 0
    without_gold: int = 0
    questions: set[str] = field(default_factory=set)
    worst: list[tuple[float, str, str, str]] = field(default_factory=list)


def score_answers(
    answers: CanonicalTables, dataset: CanonicalTables | None = None, label: str = "", seed: int = 13
) -> list[AnswerScores]:
    """The answers of a dataset, scored by run (one, where answers do not show their run), in the order of the runs.

    Gold is what ``dataset`` (else ``answers`` itself) has for the question, found by its id and its text, or else what
    the prediction itself says (``gold_answer``, ``reference_answer``). Answers that are null or blank are counted as
    unanswered and left out, as A-RAG does; so are those whose gold answer has no words, which any reply contains, and
    questions of the dataset of which the answers know nothing (``missing``).
    """
    golds = _Golds(dataset if dataset is not None else answers, answers)
    tallies: dict[str, _Tally] = {}
    for answer in answers.peek("answers"):
        fields = _fields(answer.metadata)
        tally = tallies.setdefault(string_of(fields.get(_RUN)) or "", _Tally())
        gold = golds.of(answer, fields, tally.questions)
        if not gold:
            tally.without_gold += 1
            continue
        if answer.text is None or not answer.text.strip():
            tally.unanswered += 1
            continue
        values = answer_values(answer.text, gold)
        for name, value in values.items():
            tally.values[name].append(value)
        if values["f1"] < 1 and len(tally.worst) < 1000:
            tally.worst.append((values["contain_arag"] + values["f1"], answer.question_id, gold[0], answer.text))
    asked = golds.asked
    return [
        _scored(f"{label}{name}" or answers.name, tally, len(asked - tally.questions), seed)
        for name, tally in tallies.items()
    ]


def _scored(name: str, tally: _Tally, missing: int, seed: int) -> AnswerScores:
    answered = len(tally.values["f1"])
    scores = {m: mean_score(np.array(values), seed) for m, values in tally.values.items()} if answered else {}
    worst = sorted(tally.worst, key=lambda entry: entry[0])[:WORST]
    return AnswerScores(
        name,
        scores,
        answered,
        tally.unanswered,
        tally.without_gold,
        tuple((q, gold, text) for _, q, gold, text in worst),
        missing,
    )


def _fields(metadata: str | None) -> Mapping[str, Any]:
    try:
        return fields_of(metadata) if metadata else {}
    except ValueError:
        return {}


class _Golds:
    """Gold answers by question."""

    def __init__(self, dataset: CanonicalTables, answers: CanonicalTables) -> None:
        self._by_id: dict[str, Question] = {}
        self._by_text: dict[str, Question | None] = {}
        self._asked = {q.question_id: q.text for q in answers.peek("questions") if q.question_id is not None}
        for question in dataset.peek("questions"):
            if question.question_id is not None:
                self._by_id.setdefault(question.question_id, question)
            text = _plain(question.text)
            self._by_text[text] = None if text in self._by_text else question

    @property
    def asked(self) -> set[str]:
        """The ids of the questions of the dataset that have an answer."""
        return {name for name, q in self._by_id.items() if any(_with_words([q.answer, *q.aliases]))}

    def of(self, answer: Answer, fields: Mapping[str, Any], met: set[str]) -> tuple[str, ...]:
        """The answer and its aliases, those with words; none where nobody knows them. ``met`` is given the question."""
        question = self._question(answer.question_id, string_of(fields.get("question")))
        if question is not None and question.question_id is not None:
            met.add(question.question_id)
        found = tuple(_with_words([question.answer, *question.aliases])) if question is not None else ()
        return found or tuple(_with_words(_answer_text(fields.get(name)) for name in _GOLD))[:1]

    def _question(self, question_id: str, text: str | None) -> Question | None:
        """The question of this id, unless its text says that another is meant: some files count their lines."""
        text = text if text is not None else self._asked.get(question_id)
        by_id = self._by_id.get(question_id)
        if text is None or (by_id is not None and _plain(by_id.text) == _plain(text)):
            return by_id
        return self._by_text.get(_plain(text)) or by_id


def _answer_text(raw: Any) -> str | None:
    """A gold answer that a prediction has itself; numbers by their digits."""
    if raw is None:
        return None
    value = loads(raw)
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else None


def _with_words(answers: Iterator[str | None] | Sequence[str | None]) -> Iterator[str]:
    for answer in answers:
        if answer and without_articles(answer) and words_only(answer):
            yield answer


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
