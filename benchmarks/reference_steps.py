"""From the settings of Lucene's BM25 to ours, one change after the other: what each of them makes of a metric."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from ragdatakit.retrieval.gold_and_metrics.gold import Gold
from ragdatakit.retrieval.gold_and_metrics.metrics import measure
from ragdatakit.retrieval.passages import Passages
from ragdatakit.retrieval.terms.stop_words import STOP_WORDS
from ragdatakit.retrieval.terms.tokens import Tokenizer

METRIC = "ndcg@10"
_DEPTH = 100
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Step:
    """A way to rank: what is changed, and what comes of it."""

    title: str
    value: float


def steps(gold: Gold, passages: Passages) -> list[Step]:
    """Each step on top of the one before, by an engine that is not ours (bm25s). The last lacks ours alone."""
    texts = [passage.searched for passage in passages]
    ids = [passages.id(ordinal) for ordinal in range(len(passages))]
    made = Tokenizer().tokens
    return [
        Step("words, Lucene's stop words, Porter, k1 0.9, b 0.4", _value(gold, ids, texts, _words("porter"), 0.9, 0.4)),
        Step("k1 1.2, b 0.75", _value(gold, ids, texts, _words("porter"), 1.2, 0.75)),
        Step("Snowball English instead of Porter", _value(gold, ids, texts, _words("english"), 1.2, 0.75)),
        Step("parts of words (`p53`, `camelCase`) beside them", _value(gold, ids, texts, made, 1.2, 0.75)),
    ]


def _words(stemmer: str) -> Callable[[str], list[str]]:
    """Words in small letters without stop words, stemmed."""
    import Stemmer

    stem = cache(Stemmer.Stemmer(stemmer).stemWord)
    stops = STOP_WORDS["english"]

    def tokens(text: str) -> list[str]:
        words = _WORD.findall(unicodedata.normalize("NFKC", text).lower())
        return [stem(word) for word in words if word not in stops]

    return tokens


def _value(
    gold: Gold, ids: Sequence[str], texts: Iterable[str], tokens: Callable[[str], list[str]], k1: float, b: float
) -> float:
    import bm25s

    engine = bm25s.BM25(method="lucene", k1=k1, b=b)
    engine.index([tokens(text) for text in texts], show_progress=False)
    known = engine.vocab_dict
    run: dict[str, list[str]] = {}
    for question in gold.judged:
        asked = [token for token in tokens(question.text) if token in known]
        run[question.question_id] = _ranked(engine, asked, ids) if asked else []
    values = measure(run, {q.question_id: q.grades for q in gold.judged}, [METRIC])[METRIC]
    return float(values.mean())


def _ranked(engine: object, asked: list[str], ids: Sequence[str]) -> list[str]:
    import numpy as np

    scores = engine.get_scores(asked)  # type: ignore[attr-defined]
    best = np.argsort(-scores, kind="stable")[:_DEPTH]
    return [ids[place] for place in best.tolist() if scores[place] > 0]
