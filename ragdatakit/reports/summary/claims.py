"""Checked answers in numbers: RAGChecker's metrics by row, their means, and the claims that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.database.columns import texts_of
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.reports.summary.numbers import of_numbers
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.ragchecker.metrics import CLAIMS, METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.search.claims import ClaimScores
    from ragdatakit.schemas.summaries import Distribution

_READ = ("answers", "questions", "runs", "documents", "chunks")


def claim_scores(database: DatasetDatabase) -> ClaimScores | None:
    """The metrics of the answers that come with labels; None where none does."""
    if "answers" not in database.tables or not _is_checked(database):
        return None
    from ragdatakit.retrieval.gold_and_metrics.claim_metrics import score_claims

    sources = {table: database.rows_at_hand(table) for table in _READ if table in database.tables}
    found = score_claims(CanonicalTables(database.name, database.format, sources, Losses()))
    return found[0] if found and (found[0].groups or found[0].long) else None


def _is_checked(database: DatasetDatabase) -> bool:
    """Whether the metadata of any answer names a set of labels."""
    if (texts := database.texts("answers", "metadata")) is not None:
        given = [texts_of(column)[0].tobytes() for column in texts]
        return any(f'"{name}"'.encode() in objects for objects in given for name in CLAIMS)
    named = " or ".join(f"contains(metadata, '\"{name}\"')" for name in CLAIMS)
    query = f"select 1 from main.answers where {named} limit 1"
    found = bool(database.load("answers").execute(query).fetchall())
    database.give_back()
    return found


def claim_distributions(scores: ClaimScores) -> Iterator[Distribution]:
    """How each metric is distributed over the rows."""
    for name in METRICS:
        values = [metrics[name] for metrics in scores.questions.values() if name in metrics]
        title = f"RAGChecker: {name.replace('_', ' ')}"
        found = of_numbers(np.array(values), f"answers.ragchecker.{name}", title, "share")
        if found is not None:
            yield found


def claim_words(scores: ClaimScores) -> str:
    """How many rows the numbers are about."""
    words = [f"{scores.rows:,} {'answer' if scores.rows == 1 else 'answers'} with labels"]
    words += [f"{scores.misfits:,} whose labels do not fit are left out"] if scores.misfits else []
    words += [f"{scores.long:,} whose claims and labels take more than 16 MB are left out"] if scores.long else []
    return ", ".join(words)
