"""Whether a short answer is in the texts that are gold for its question: one pass over the passages.

Lenient, as frameworks word answers in other ways: all words of the answer, or of an alias, are somewhere in the gold
texts and their titles, or the answer is there if blanks do not count. Yes, no, numbers and dates are not looked
for, nor answers of many words.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ragdatakit.files.texts.flat_text import flat_words
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.quality.findings import Checked, question_lookup, shown_id

_LONGEST = 12
"""Words of an answer that is looked for."""
_NUMBERS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand "
    "million billion once twice none first second third".split()
)
_NOT_SOUGHT = frozenset(
    ("yes", "no", "true", "false", "unknown", "unanswerable", "n a", "none", "insufficient information")
)


@dataclass(slots=True)
class _Waiting:
    """A question, by its row and the number of that, whose answer did not show yet.

    Per answer there are its words that are missing, and the answer in one piece."""

    row: Any
    number: int
    missing: list[set[str]]
    joined: list[str]
    golds: set[str] = field(default_factory=set)
    seen: int = 0


def check_answers(run: Checked) -> None:
    """Look for the answers of all questions that have gold. Memory: about 1 KB for each such question."""
    if not run.findings.wants("answer-not-in-texts") or not run.tables.any("qrels"):
        return
    waiting = _waiting(run)
    if not waiting:
        return
    of_target: dict[tuple[str, str], list[_Waiting]] = {}
    for row in run.tables.peek("qrels"):
        if row.grade > 0 and row.target_kind in ("document", "chunk"):
            for one in waiting.get((row.question_id, row.split), waiting.get((row.question_id, None), ())):
                if row.target_id not in one.golds:
                    one.golds.add(row.target_id)
                    of_target.setdefault((row.target_kind, row.target_id), []).append(one)
    if not of_target or any(loss.kind == "dropped" and loss.table == "qrels" for loss in run.tables.losses):
        return  # a judgement that was left out may have named the text that answers
    titles = _titles(run)
    for row in run.passages("looking for answers"):
        asking = of_target.get((run.noun, row[0]), [])
        if run.noun == "chunk" and row.doc_id is not None:
            asking = [*asking, *of_target.get(("document", row.doc_id), ())]
        if asking:
            title = titles.get(row.doc_id, "") if run.noun == "chunk" else row.title or ""
            context = (row.context or "") if run.noun == "chunk" else ""
            _look(asking, f"{title} {context} {row.text}")
    for one in (one for several in waiting.values() for one in several):
        if one.seen and one.seen >= len(one.golds) and all(one.missing):
            texts = "gold text" if len(one.golds) == 1 else f"{len(one.golds):,} gold texts"
            row = one.row
            facts = {"id": shown_id(row.question_id), "answer": f"“{row.answer}”", "texts": texts}
            place = question_lookup(row, row.split, one.number, row.answer)
            run.findings.keep("answer-not-in-texts", place, row.answer, facts)


def _waiting(run: Checked) -> dict[tuple[str | None, str | None], list[_Waiting]]:
    found: dict[tuple[str | None, str | None], list[_Waiting]] = {}
    for number, row in run.numbered_questions():
        answers = [words for text in (row.answer, *row.aliases) if (words := flat_words(text or ""))]
        if not answers or " ".join(answers[0]) in _NOT_SOUGHT or not all(map(_can_be_found, answers)):
            continue
        one = _Waiting(row, number, [set(words) for words in answers], ["".join(words) for words in answers])
        found.setdefault((row.question_id, row.split), []).append(one)
    return found


def _can_be_found(words: list[str]) -> bool:
    """Whether an answer is short and neither a number nor a date."""
    most = 3 * _LONGEST if all(len(word) == 1 for word in words) else _LONGEST
    if len(words) > most or _NUMBERS.issuperset(words):
        return False
    return not any(character.isdigit() for word in words for character in word)


def _look(asking: list[_Waiting], text: str) -> None:
    words = flat_words(text)
    there, joined = set(words), ""
    for one in asking:
        one.seen += 1
        for missing in one.missing:
            missing -= there
        if all(one.missing):
            joined = joined or "".join(words)
            if any(answer in joined for answer in one.joined):
                one.missing = [set()]


def _titles(run: Checked) -> dict[str, str]:
    if run.noun != "chunk":
        return {}
    return {row.doc_id: row.title for row in run.tables.peek("documents") if row.title}
