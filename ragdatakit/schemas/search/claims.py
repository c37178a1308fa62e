"""What is measured of checked answers: metrics of RAGChecker, and the claims that failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Literal

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.bounds import Place, Share


@dataclass(frozen=True, slots=True)
class FailedClaim:
    """A claim of the ``right answer`` that was not retrieved or not said, or one of the ``response`` that is wrong.

    ``passages`` are the ids of the retrieved passages that say it.
    """

    question_id: str
    of: Literal["right answer", "response"]
    claim: str
    why: str
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimPassage:
    """A passage that was retrieved; ``text`` is cut."""

    rank: Place
    passage_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer with claims that failed, beside what was asked, the right answer, and the passages; texts are cut.

    ``passages`` are those that say one of these claims; ``retrieved`` counts all.
    """

    question_id: str
    question: str
    right_answer: str | None
    response: str | None
    retrieved: int
    passages: tuple[ClaimPassage, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimScores:
    """RAGChecker's metrics of checked answers.

    ``groups`` are as the tool writes them: percent with one decimal, by group and metric; ``counts`` says of how many
    rows each metric is the mean. ``rows`` have labels, those of ``misfits`` do not fit their claims and passages.
    ``by_words`` are shares by metric for the ``unchecked`` rows that have claims and no labels: claims all of whose
    words are in one passage, or in the response, which is an approximation. ``failed`` are the first claims that
    failed, ``answers`` the answers that these are about, ``questions`` the metrics of each row, from 0 to 1. ``long``
    rows were left out, as their claims and labels take more memory than is well.
    """

    name: str
    groups: Mapping[str, Mapping[str, float]]
    counts: Mapping[str, int]
    rows: int
    misfits: int = 0
    by_words: Mapping[str, Share] = field(default_factory=dict)
    unchecked: int = 0
    failed: tuple[FailedClaim, ...] = ()
    answers: tuple[CheckedAnswer, ...] = ()
    questions: Mapping[str, Mapping[str, Share]] = field(default_factory=dict, repr=False)
    long: int = 0

    def metric_rows(self) -> list[tuple[str, str, float]]:
        """Group, metric, and percent with one decimal; the group is named once."""
        return [
            ("" if number else group.removesuffix("_metrics"), name, value)
            for group, metrics in self.groups.items()
            for number, (name, value) in enumerate(metrics.items())
        ]
