"""The thresholds of the quality rules: what they are called, what they mean, how they are read from words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field, fields

from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError


def _share(default: float, meaning: str) -> float:
    found: float = field(default=default, metadata={"help": meaning, "share": True})
    return found


def _number(default: int, meaning: str) -> int:
    found: int = field(default=default, metadata={"help": meaning, "share": False})
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityOptions:
    """Thresholds; shares are from 0 to 1. In words they are called with ``-`` for ``_`` (``most-tokens``)."""

    least_words: int = _number(2, "words (or CJK characters) that a text has at least")
    most_tokens: int = _number(8192, "tokens that a text has at most: words, CJK characters, punctuation marks")
    near_similarity: float = _share(0.8, "share of their runs of 3 words that two texts have in common (Jaccard)")
    near_similarity_replaced: float = _share(0.95, "the same, where each of them has a word that the other lacks")
    near_words: int = _number(20, "words that texts have at least to be compared for near copies")
    question_similarity: float = _share(0.8, "share of their words that two questions have in common (Jaccard)")
    most_shared_positives: float = _share(0.5, "share of the questions whose positives may be those of training")
    least_split_questions: int = _number(10, "questions that a split has at least")
    most_split_ratio: int = _number(100, "how many times more questions the largest split may have than another")
    most_hub_share: float = _share(0.05, "share of the edges that one node may take part in")
    least_hub_edges: int = _number(100, "edges that a hub has at least")
    least_hub_ratio: int = _number(10, "how many times more edges than the mean of all nodes a hub has at least")

    @classmethod
    def of_words(cls, values: Mapping[str, object], where: str = "quality option") -> QualityOptions:
        """Options by name, as words, numbers or both; raises `RagdataError` for a bad value, and
        `UnknownNameError` for an unknown name. ``where`` is what they are called in messages."""
        known = {f.name.replace("_", "-"): f for f in fields(cls)}
        given: dict[str, float] = {}
        for name, value in values.items():
            spelled = str(name).strip().replace("_", "-")
            if spelled not in known:
                raise UnknownNameError(where, str(name), known)
            found = known[spelled]
            given[found.name] = _read(f"{where} {spelled}={value}", value, bool(found.metadata["share"]))
        return cls(**given)  # type: ignore[arg-type]


def thresholds_in(words: str) -> list[tuple[str, float, str]]:
    """The thresholds that a rule's words name (in backticks): name, default, meaning; in their own order."""
    options = ((f.name.replace("_", "-"), f) for f in fields(QualityOptions))
    defaults = QualityOptions()
    return [(name, getattr(defaults, f.name), f.metadata["help"]) for name, f in options if f"`{name}`" in words]


def _read(name: str, value: object, share: bool) -> float:
    wanted = "a share from 0 to 1, such as 0.8" if share else "an integer of at least 0"
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else math.nan
    except (ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or number < 0 or (share and number > 1) or (not share and number != int(number)):
        raise RagdataError(f"{name}: expected {wanted}")
    return number if share else int(number)
