"""Claims that failed beside what they are about: the question, both answers, and the passages that say them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ragdatakit.schemas.search.claims import CheckedAnswer, ClaimPassage, FailedClaim
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    from ragdatakit.files.reading.canonical_tables import CanonicalTables
    from ragdatakit.schemas.canonical import Run

_LONGEST = 600


def checked_answers(
    tables: CanonicalTables, failed: Sequence[tuple[FailedClaim, tuple[int, ...]]]
) -> tuple[tuple[CheckedAnswer, ...], tuple[FailedClaim, ...]]:
    """The answers that failed claims are about, and the claims with the ids of the passages at their places."""
    wanted: dict[str, set[int]] = {}
    for claim, places in failed:
        wanted.setdefault(claim.question_id, set()).update(places)
    if not wanted:
        return (), ()
    retrieved = _retrieved(tables, wanted)
    texts = _texts(tables, wanted, retrieved)
    asked = {q.question_id: q for q in tables.peek_having("questions", "question_id", wanted)}
    said = {a.question_id: a.text for a in tables.peek_having("answers", "question_id", wanted)}
    answers = []
    for name, asked_for in wanted.items():
        runs, question = retrieved.get(name, []), asked.get(name)
        passages = tuple(
            ClaimPassage(run.rank, run.target_id or "", _cut(run.text or texts.get(run.target_id)) or "")
            for place, run in enumerate(runs)
            if place in asked_for
        )
        right = _cut(question.answer) if question is not None else None
        text = _cut(question.text) if question is not None else None
        answers.append(CheckedAnswer(name, text or "", right, _cut(said.get(name)), len(runs), passages))
    named = (replace(claim, passages=_ids(retrieved.get(claim.question_id, []), places)) for claim, places in failed)
    return tuple(answers), tuple(named)


def _retrieved(tables: CanonicalTables, wanted: Mapping[str, set[int]]) -> dict[str, list[Run]]:
    """What was retrieved for each question, in order; of several stages the last, which the answer was made of."""
    found: dict[str, dict[str, list[Run]]] = {}
    for run in tables.peek_having("runs", "question_id", wanted):
        found.setdefault(run.question_id, {}).setdefault(run.stage, []).append(run)
    return {name: list(stages.values())[-1] for name, stages in found.items()}


def _texts(
    tables: CanonicalTables, wanted: Mapping[str, set[int]], retrieved: Mapping[str, Sequence[Run]]
) -> dict[str | None, str]:
    """The texts of passages that runs only name."""
    runs = (retrieved[name][place] for name in retrieved for place in wanted[name] if place < len(retrieved[name]))
    ids = {run.target_id for run in runs if run.text is None}
    return {p.doc_id: p.text for p in tables.peek_passages() if p.doc_id in ids} if ids else {}


def _ids(runs: Sequence[Run], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(runs[place].target_id or f"rank {runs[place].rank}" for place in places if place < len(runs))


def _cut(text: str | None) -> str | None:
    return shortened(text, _LONGEST) if text is not None else None
