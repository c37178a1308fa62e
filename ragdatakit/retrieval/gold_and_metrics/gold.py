"""Questions with their gold, as an evaluation needs them: read from the canonical tables, one split, one kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from typing import Any

import orjson

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.retrieved import Query

UNITS = ("document", "chunk", "node")
TYPE_FIELDS = ("question_type", "type", "hop", "hops", "level", "category")
"""Members of a question's metadata that show its type, in this order."""


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question to evaluate. ``grades`` has the judged targets of the unit: 0 and below are judged irrelevant.

    ``answers`` are the gold answer and its aliases.
    """

    question_id: str
    text: str
    grades: Mapping[str, int] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    type: str | None = None
    split: str | None = None
    start_nodes: tuple[str, ...] = ()

    @property
    def gold(self) -> tuple[str, ...]:
        """The relevant targets, in the order of the data."""
        return tuple(target for target, grade in self.grades.items() if grade > 0)

    @property
    def query(self) -> Query:
        """What to search for."""
        return Query(self.text, self.question_id, self.start_nodes)


@dataclass(frozen=True, slots=True)
class Gold:
    """The questions of one split. ``unit`` is what is judged (``document``, ``chunk``, ``node``; empty: nothing is).

    ``splits`` counts the judged questions of every split; ``other_units`` the judgements of other kinds;
    ``nameless`` the judgements of questions that the dataset does not have.
    """

    unit: str
    split: str | None
    questions: tuple[GoldQuestion, ...]
    splits: Mapping[str | None, int]
    other_units: Mapping[str, int]
    nameless: int = 0

    @property
    def judged(self) -> tuple[GoldQuestion, ...]:
        """The questions that have gold."""
        return tuple(q for q in self.questions if q.gold)


def read_gold(tables: CanonicalTables, split: str = "", unit: str = "", *, every: bool = False) -> Gold:
    """The questions of a split with their judgements of one kind of target.

    Without ``split``: ``test`` where it has judgements (unless ``every``), else all questions. Without ``unit``: that
    of the passages where it is judged, else documents, chunks, nodes, in this order. Raises `UnknownNameError` for a
    split that no question and no judgement has, `RagdataError` for a unit that is not judged. Of questions with one id,
    and of judgements of one pair, the last counts where the framework's loader takes it; else the first question, and
    the greatest grade.
    """
    grades: dict[str | None, dict[str, dict[str, dict[str, int]]]] = {}
    units: Counter[str] = Counter()
    for row in tables.peek("qrels"):
        if not -(2**63) <= row.grade < 2**63:
            where = f"{tables.name}: the relevance of {row.target_id!r} for {row.question_id!r}"
            raise RagdataError(f"{where} is beyond 64 bits; pytrec_eval stops with SystemError")
        units[row.target_kind] += 1
        of_question = grades.setdefault(row.split, {}).setdefault(row.target_kind, {}).setdefault(row.question_id, {})
        before = row.grade if tables.replaces else of_question.get(row.target_id, row.grade)
        of_question[row.target_id] = max(row.grade, before)
    unit = _chosen_unit(tables, units, unit)
    judged = {name: len(kinds.get(unit, {})) for name, kinds in grades.items() if kinds.get(unit)}
    usual = "test" if "test" in judged and len(judged) > 1 and not every else ""
    chosen = split or usual
    rows = [q for q in tables.peek("questions") if q.question_id is not None]
    known = {q.split for q in rows if q.split} | {name for name in judged if name}
    if chosen and chosen not in known:
        raise UnknownNameError("split", chosen, sorted(known), where=f"of {tables.name}")
    wanted: dict[str, dict[str, int]] = {}
    for name, kinds in grades.items():
        if not chosen or name == chosen or name is None:
            for question_id, targets in kinds.get(unit, {}).items():
                wanted.setdefault(question_id, {}).update(targets)
    starts: dict[str, list[str]] = {}
    for start in tables.peek("start_nodes"):
        starts.setdefault(start.question_id, []).append(start.node)
    found: dict[str, GoldQuestion] = {}
    for row in rows:
        if (row.question_id in found and not tables.replaces) or not _of_split(row, chosen, wanted):
            continue
        found[row.question_id] = GoldQuestion(
            row.question_id,
            row.text,
            wanted.get(row.question_id, {}),
            tuple(a for a in (row.answer, *row.aliases) if a),
            question_type(row.metadata),
            row.split,
            tuple(dict.fromkeys(starts.get(row.question_id, ()))),
        )
    return Gold(
        unit,
        chosen or None,
        tuple(found.values()),
        judged,
        {name: count for name, count in units.items() if name != unit},
        len(wanted.keys() - found.keys()),
    )


def _chosen_unit(tables: CanonicalTables, units: Counter[str], unit: str) -> str:
    if unit:
        if unit not in UNITS:
            raise UnknownNameError("unit", unit, UNITS)
        if not units[unit]:
            found = ", ".join(f"{count:,} of {name}s" for name, count in units.items()) or "none at all"
            raise RagdataError(f"{tables.name} has no judgements of {unit}s ({found})")
        return unit
    own = "chunk" if tables.passages == "chunks" else "document"
    return next((name for name in (own, *UNITS) if units[name]), "")


def _of_split(row: Any, chosen: str, wanted: Mapping[str, Any]) -> bool:
    """A question is of a split by its own word, or because it is judged there."""
    return not chosen or row.question_id in wanted or row.split == chosen


def question_type(metadata: str | None) -> str | None:
    """What a question's metadata says about its type; None where it says nothing."""
    if metadata is None or not any(f'"{name}"' in metadata for name in TYPE_FIELDS):
        return None
    try:
        members = orjson.loads(metadata)
    except orjson.JSONDecodeError:
        return None
    for name in TYPE_FIELDS:
        value = members.get(name) if isinstance(members, dict) else None
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return None


def is_train(split: str | None) -> bool:
    """Whether a split is trained on, by its name."""
    return split is not None and split.lower().startswith("train")
