"""Whether the answer of a question is in a text: the tokens of the answer, one after the other, in any case.

Tokens are runs of letters and digits after NFKC, and single characters in scripts without blanks between words. Yes, no
and answers of many words cannot be looked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from ragdatakit.schemas.evaluations import AnswerInTop

if TYPE_CHECKING:
    from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
    from ragdatakit.retrieval.passages import Passages

LONGEST = 20
"""Answers of more tokens are sentences: nobody expects them to be in a text as they are."""
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ASCII_TOKEN = re.compile(r"[a-z0-9]+")
_MOST_TEXTS = 20_000
_NOT_SOUGHT = frozenset((" yes ", " no ", " true ", " false ", " unknown ", " unanswerable ", " n a ", " none "))
_NUMBERS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million "
    "billion first second third fourth fifth sixth seventh eighth ninth tenth once twice".split()
)
_IN_NUMBERS = _NUMBERS | {"a", "and"}


def flattened(text: str) -> str:
    """The tokens of a text with a blank before and behind each; empty where there is none."""
    if text.isascii():
        tokens = _ASCII_TOKEN.findall(text.lower())
    else:
        tokens = _TOKEN.findall(unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(tokens)} " if tokens else ""


def sought(question: GoldQuestion) -> tuple[str, ...]:
    """What to look for: the flattened answer and its aliases; empty where the answer cannot be looked for."""
    found = tuple(dict.fromkeys(filter(None, map(flattened, question.answers))))
    if not found or found[0] in _NOT_SOUGHT:
        return ()
    return tuple(answer for answer in found if answer.count(" ") <= LONGEST + 1 and answer not in _NOT_SOUGHT)


def is_number(term: str) -> bool:
    """Whether a term may be a number or a part of one, as `2019`, `b7` and `seven`."""
    return term in _NUMBERS or any(map(str.isdigit, term))


def in_numbers(answer: str) -> bool:
    """Whether an answer may be a number or a date: it has a digit, or is a number in words."""
    return any(map(str.isdigit, answer)) or _IN_NUMBERS.issuperset(answer.split())


def answer_in_top(
    name: str, run: Mapping[str, Sequence[int]], gold: Gold, passages: Passages, ks: Sequence[int] = (1, 2, 5, 10, 20)
) -> AnswerInTop | None:
    """How often the answer is in the first passages of a run (question id → ordinals, best first).

    ``ceiling`` is the share of questions whose answer is in any passage. None where no question has an answer that
    can be looked for.
    """
    asked = {q.question_id: found for q in gold.questions if (found := sought(q))}
    if not asked:
        return None
    deepest = max(ks, default=0)
    ranks: dict[str, int] = {}
    texts: dict[int, str] = {}
    for question_id, answers in asked.items():
        for rank, ordinal in enumerate(run.get(question_id, ())[:deepest], 1):
            if ordinal not in texts:
                texts[ordinal] = flattened(passages[ordinal].searched)
            if any(answer in texts[ordinal] for answer in answers):
                ranks[question_id] = rank
                break
        if len(texts) > _MOST_TEXTS:
            texts.clear()
    left = {question_id: answers for question_id, answers in asked.items() if question_id not in ranks}
    anywhere = len(ranks) + len(in_corpus(left, passages))
    at = {k: sum(rank <= k for rank in ranks.values()) / len(asked) for k in ks}
    return AnswerInTop(name, at, anywhere / len(asked), len(asked))


def in_corpus(asked: Mapping[str, Iterable[str]], passages: Passages) -> set[str]:
    """The keys of which an answer is in any passage: one pass, which ends when all are found.

    An answer is looked for in passages that have two neighbours of its tokens, its longest token among them.
    """
    waiting: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for key, answers in asked.items():
        for answer in answers:
            waiting.setdefault(_sign(answer), []).append((answer, key))
    found: set[str] = set()
    for passage in passages:
        if not waiting:
            break
        flat = flattened(passage.searched)
        tokens = flat.split()
        signs = waiting.keys() & {*zip(tokens), *pairwise(tokens)}
        for sign in signs:
            found |= {key for answer, key in waiting[sign] if answer in flat}
            waiting[sign] = [pair for pair in waiting[sign] if pair[1] not in found]
            if not waiting[sign]:
                del waiting[sign]
    return found


def _sign(answer: str) -> tuple[str, ...]:
    """What a text has that has the answer: its only token, or the two neighbours that have most characters."""
    tokens = answer.split()
    return max(pairwise(tokens), key=lambda pair: len(pair[0]) + len(pair[1])) if len(tokens) > 1 else tuple(tokens)
