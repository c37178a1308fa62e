"""RAGChecker's metrics of answers that come with labels, and claims by their words where there are claims only.

The labels say which text entails which claim; from them all metrics follow, to the last digit as the tool has them.
Without labels a claim of the right answer counts as recalled where all its words are in one passage: an approximation,
and called so.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ragdatakit.files.containers.json_text import fields_of, loads
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.late_patterns import late_pattern
from ragdatakit.retrieval.gold_and_metrics.claims_in_context import checked_answers
from ragdatakit.retrieval.terms.stop_words import STOP_WORDS
from ragdatakit.schemas.ragchecker.metrics import CLAIMS, METRICS, entailed_by, group_means, labels_fit, row_metrics
from ragdatakit.schemas.search.claims import ClaimScores, FailedClaim

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables

_READ = (*CLAIMS, "response_claims", "gt_answer_claims")
_MARKS = ("2answer", "2response", "_claims")
_WORD = late_pattern(r"\w+")
_SMALL = STOP_WORDS["english"]
_MOST_KEPT = 200
_LONGEST_ROW = 16 << 20
"""Characters of claims and labels of one row; as Python values they take thirty times as much memory."""
_Failed = tuple[FailedClaim, tuple[int, ...]]
"""A claim, and the places of the passages that say it."""


@dataclass(slots=True)
class _Tally:
    values: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in METRICS})
    by_words: dict[str, list[float]] = field(default_factory=lambda: {"claim_recall": [], "recall": []})
    rows: int = 0
    misfits: int = 0
    long: int = 0
    failed: list[_Failed] = field(default_factory=list)
    questions: dict[str, dict[str, float]] = field(default_factory=dict)


def score_claims(tables: CanonicalTables, name: str = "") -> list[ClaimScores]:
    """The metrics of the answers of a dataset; none where no answer has labels, and no question claims."""
    of_questions = dict(_claims_of_questions(tables))
    tally = _Tally()
    unchecked: dict[str, tuple[list[str], str]] = {}
    for answer in tables.peek("answers"):
        claims_of_question = of_questions.get(answer.question_id, [])
        if _is_long(answer.metadata) or claims_of_question is None:
            tally.long += 1
            continue
        row = _row(answer.metadata)
        if claims_of_question:
            row.setdefault("gt_answer_claims", claims_of_question)
        if any(row.get(label) is not None for label in CLAIMS):
            _take(tally, answer.question_id, row)
        elif claims := [text for claim in _listed(row.get("gt_answer_claims")) if (text := claim_text(claim))]:
            unchecked[answer.question_id] = (claims, answer.text or "")
    _by_words(tally, tables, unchecked)
    if not (tally.rows or tally.long or unchecked):
        return []
    answers, failed = checked_answers(tables, tally.failed)
    means = {metric: values for metric, values in tally.values.items() if values}
    return [
        ClaimScores(
            name or tables.name,
            group_means(means),
            {metric: len(values) for metric, values in means.items()},
            tally.rows,
            tally.misfits,
            {m: sum(v) / len(v) for m, v in tally.by_words.items() if v},
            len(unchecked),
            failed,
            answers,
            tally.questions,
            tally.long,
        )
    ]


def _is_long(metadata: str | None) -> bool:
    return metadata is not None and len(metadata) > _LONGEST_ROW


def _claims_of_questions(tables: CanonicalTables) -> Iterator[tuple[str, list[Any] | None]]:
    """The claims of right answers that go with the questions; None where they are too many to be looked at."""
    for question in tables.peek("questions"):
        if question.question_id is None:
            continue
        if _is_long(question.metadata):
            yield question.question_id, None
        elif isinstance(found := _row(question.metadata).get("gt_answer_claims"), list):
            yield question.question_id, found


def _row(metadata: str | None) -> dict[str, Any]:
    """Claims and labels among metadata."""
    if metadata is None or not any(mark in metadata for mark in _MARKS):
        return {}
    return {name: loads(raw) for name, raw in fields_of(metadata).items() if name in _READ}


def _take(tally: _Tally, question_id: str, row: dict[str, Any]) -> None:
    tally.rows += 1
    if not labels_fit(row):
        tally.misfits += 1
        return
    found = row_metrics(row)
    tally.questions[question_id] = found
    for metric, value in found.items():
        tally.values[metric].append(value)
    if len(tally.failed) < _MOST_KEPT:
        tally.failed += failed_claims(question_id, row)


def failed_claims(question_id: str, row: dict[str, Any]) -> Iterator[_Failed]:
    """The claims of a row that no passage says, that the response does not say, or that are wrong; with the places of
    the passages that say them."""
    right, own = _listed(row.get("gt_answer_claims")), _listed(row.get("response_claims"))
    said = [label == "Entailment" for label in _listed(row.get("response2answer"))]
    recalled = [_places(labels) for labels in entailed_by(row.get("retrieved2answer"))]
    for place, claim in enumerate(right):
        missed = place < len(recalled) and not recalled[place]
        unsaid = place < len(said) and not said[place]
        if missed or unsaid:
            why = "not retrieved, not said" if missed and unsaid else "not retrieved" if missed else "not said"
            places = recalled[place] if place < len(recalled) else ()
            yield FailedClaim(question_id, "right answer", claim_text(claim), why), places
    supported = [_places(labels) for labels in entailed_by(row.get("retrieved2response"))]
    for place, claim in enumerate(own):
        labels = _listed(row.get("answer2response"))
        if place < len(labels) and labels[place] != "Entailment":
            known = place < len(supported)
            why = "wrong" if not known else "wrong, and in a passage" if supported[place] else "wrong, in no passage"
            yield FailedClaim(question_id, "response", claim_text(claim), why), supported[place] if known else ()


def _places(labels: list[bool]) -> tuple[int, ...]:
    return tuple(place for place, entails in enumerate(labels) if entails)


def claim_text(claim: Any) -> str:
    """A claim as a text: a sentence, or the parts of a triple."""
    if isinstance(claim, list):
        return " ".join(part for part in claim if isinstance(part, str))
    return claim if isinstance(claim, str) else ""


def _by_words(tally: _Tally, tables: CanonicalTables, unchecked: dict[str, tuple[list[str], str]]) -> None:
    """How many claims have all their words in one passage, and in the response."""
    if not unchecked:
        return
    words = {key: [_words(claim) for claim in claims] for key, (claims, _) in unchecked.items()}
    found = {key: [False] * len(claims) for key, claims in words.items()}
    ids: dict[str, set[str]] = {}
    for run in tables.peek("runs"):
        if run.question_id not in words:
            continue
        if run.text is not None:
            _look(words[run.question_id], found[run.question_id], run.text)
        elif run.target_id is not None:
            ids.setdefault(run.target_id, set()).add(run.question_id)
    for passage in tables.peek_passages() if ids else ():
        for key in ids.get(passage.doc_id, ()):
            _look(words[key], found[key], f"{passage.title or ''} {passage.text}")
    retrieved = tables.any("runs")
    for key, (claims, response) in unchecked.items():
        said = [False] * len(claims)
        _look(words[key], said, response)
        tally.by_words["recall"].append(sum(said) / len(claims))
        if retrieved:
            tally.by_words["claim_recall"].append(sum(found[key]) / len(claims))


def _look(claims: list[frozenset[str]], found: list[bool], text: str) -> None:
    words = _words(text)
    for place, claim in enumerate(claims):
        found[place] = found[place] or (bool(claim) and claim <= words)


def _words(text: str) -> frozenset[str]:
    """The words of a text in lower case; small ones only where there are no others."""
    every = frozenset(_WORD.findall(text.casefold()))
    return every - _SMALL or every


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
