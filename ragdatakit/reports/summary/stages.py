"""Traces of pipelines in numbers: what the stages took, found and scored, and what refining made of the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.database.conditions import Condition
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.reports.summary.ids import IdColumn
from ragdatakit.reports.summary.numbers import of_numbers, of_query
from ragdatakit.schemas.summaries import Distribution

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.reports.summary.ids import IdNumbers

    Numbers = npt.NDArray[np.int64]
    Marks = npt.NDArray[np.bool_]

_REFINED = "refining"
_TIME, _RESULTS, _SCORES = (
    ("runs.seconds", "Time of a stage per question", "seconds"),
    ("runs.results", "Results of a stage per question", "results"),
    ("runs.score", "Scores of a stage", "score"),
)
_COMPRESSION = ("runs.compression", "Characters after refining, as a share of those before", "share")
_ANSWER_TIME = ("answers.seconds", "Time of an answer", "seconds")


def stages_of(database: DatasetDatabase) -> list[str]:
    """The stages of the runs, in the order of the rows."""
    if "runs" not in database.tables:
        return []
    facts = database.column_facts("runs", "stage")
    if facts is not None and facts.counts is not None:
        return [*facts.counts]
    query = "select stage from main.runs group by stage order by min(rowid)"
    return [row[0] for row in database.load("runs").execute(query).fetchall()]


def stage_distributions(database: DatasetDatabase, ids: IdNumbers) -> list[Distribution]:
    """Seconds, results, scores by stage; the seconds of answers; the compression of refined texts."""
    found: list[Distribution | None] = []
    stages = stages_of(database)
    held = _Held.of(database, ids, stages) if stages else None
    for stage in stages:
        if held is not None:
            given = zip((_TIME, _RESULTS, _SCORES), (held.seconds, held.results, held.scores), strict=True)
            found += [of_numbers(numbers(stage), *words, stage) for words, numbers in given]
            continue
        connection = database.load("runs")
        where = f"from main.runs where stage = {sql_text(stage)}"
        seconds = f"select arg_min(seconds, rank) filter (seconds is not null) {where} group by question_id"
        found.append(of_query(connection, seconds, *_TIME, stage))
        found.append(of_query(connection, f"select count(*) {where} group by question_id", *_RESULTS, stage))
        found.append(of_query(connection, f"select score {where}", *_SCORES, stage))
    if _REFINED in stages:
        found.append(of_numbers(held.compression(), *_COMPRESSION) if held is not None else _compression(database))
    if "answers" in database.tables:
        if (known := database.numbers("answers", "seconds")) is not None:
            found.append(of_numbers(_finite(*known), *_ANSWER_TIME))
        else:
            query = "select seconds from main.answers"
            found.append(of_query(database.load("answers"), query, *_ANSWER_TIME))
    return [one for one in found if one is not None]


def _finite(values: npt.NDArray[Any], there: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    found: npt.NDArray[Any] = values[there & np.isfinite(values)]
    return found


class _Held:
    """The same of runs that are not in the database, by groups: rows side by side of one question in one stage."""

    def __init__(
        self,
        questions: Numbers,
        characters: Numbers,
        columns: dict[str, tuple[npt.NDArray[Any], Marks]],
        rows: dict[str, Marks],
    ) -> None:
        begins = np.ones(len(questions), np.bool_)
        begins[1:] = questions[1:] != questions[:-1]
        for of_stage in rows.values():
            begins[1:] |= of_stage[1:] != of_stage[:-1]
        self._starts = np.flatnonzero(begins)
        self._questions = questions[self._starts] + 1
        self._sizes = np.diff(self._starts, append=len(questions))
        self._groups = {stage: of_stage[self._starts] for stage, of_stage in rows.items()}
        self._characters, self._columns, self._rows = characters, columns, rows
        (_, has_some), (self._ranks, has_rank) = columns["seconds"], columns["rank"]
        timed = has_some & has_rank
        if timed.all() and (begins[1:] | (self._ranks[1:] >= self._ranks[:-1])).all():  # as most are
            self._timed, self._timed_groups = self._starts, np.arange(len(self._starts))
        else:
            those, groups = np.flatnonzero(timed), np.repeat(np.arange(len(self._starts)), self._sizes)[timed]
            firsts = _firsts(groups, self._ranks[those])
            self._timed, self._timed_groups = those[firsts], groups[firsts]

    @classmethod
    def of(cls, database: DatasetDatabase, ids: IdNumbers, stages: list[str]) -> _Held | None:
        """None where not all that counts is known of them, as where the database got them meanwhile."""
        if database.column_facts("runs", "rank") is None or (facts := database.text_facts("runs", "text")) is None:
            return None
        (questions,), _ = ids.of(IdColumn("runs", "question_id"))
        columns = {name: database.numbers("runs", name) for name in ("rank", "score", "seconds")}
        chosen = {stage: database.chosen("runs", Condition("stage", "=", stage)) for stage in stages}
        known = {name: column for name, column in columns.items() if column is not None}
        rows = {stage: of_stage for stage, of_stage in chosen.items() if of_stage is not None}
        is_known = len(known) == len(columns) and len(rows) == len(stages)
        return cls(questions, facts.characters, known, rows) if is_known else None

    def seconds(self, stage: str) -> npt.NDArray[Any]:
        """Those of each question's first row that has any."""
        own = self._groups[stage][self._timed_groups]
        rows = self._timed[own]
        rows = rows[_firsts(self._questions[self._timed_groups[own]], self._ranks[rows])]
        seconds, has_some = self._columns["seconds"]
        return _finite(seconds[rows], has_some[rows])

    def results(self, stage: str) -> npt.NDArray[Any]:
        """How many each question has."""
        own = self._groups[stage]
        counts = np.bincount(self._questions[own], self._sizes[own]).astype(np.int64)
        return counts[counts > 0]

    def scores(self, stage: str) -> npt.NDArray[Any]:
        """All of them."""
        scores, there = self._columns["score"]
        return _finite(scores, there & self._rows[stage])

    def compression(self) -> npt.NDArray[Any]:
        """Characters of a question's refined texts in relation to those of the stage before that gave it texts."""
        most = int(self._questions.max()) + 1
        has_texts = np.logical_or.reduceat(self._characters >= 0, self._starts) & (self._questions > 0)
        characters = np.add.reduceat(np.maximum(self._characters, 0), self._starts)
        before = np.full(most, -1)
        for stage, of_stage in self._groups.items():
            own = of_stage & has_texts
            questions = self._questions[own]
            has_some = np.bincount(questions, minlength=most) > 0
            sizes = np.bincount(questions, characters[own], most)
            if stage == _REFINED:
                has_both = has_some & (before > 0)
                shares: npt.NDArray[Any] = sizes[has_both] / before[has_both]
                return shares
            before[has_some] = sizes[has_some]
        raise AssertionError


def _firsts(owners: Numbers, ranks: npt.NDArray[Any]) -> Numbers:
    """Of each owner the row with the least rank."""
    order, further = np.arange(len(owners)), np.diff(owners)
    if not ((further > 0) | ((further == 0) & (np.diff(ranks) >= 0))).all():  # most are in order
        order = np.lexsort((ranks, owners))
    found: Numbers = order[np.diff(owners[order], prepend=-1) != 0]
    return found


def _compression(database: DatasetDatabase) -> Distribution | None:
    """Characters of a question's refined texts in relation to those of the stage before that gave it texts."""
    connection, facts = database.load("runs"), database.text_facts("runs", "text")
    given, characters = "main.runs", "length(text)"
    if facts is not None:  # some texts may be in their files only
        connection.register("characters_of_runs", {"characters": facts.characters})
        given, characters = "main.runs positional join characters_of_runs", "nullif(characters, -1)"
    query = f"""
        with stages as (select stage, min(rowid) as place from main.runs group by stage),
        sizes as (
            select question_id, stage, s.place, sum({characters}) as size from {given}
            join stages s using (stage) where {characters} is not null group by 1, 2, 3
        )
        select refined.size / arg_max(given.size, given.place) from sizes refined join sizes given
        on given.question_id = refined.question_id and given.place < refined.place
        where refined.stage = '{_REFINED}' group by refined.question_id, refined.size
        having arg_max(given.size, given.place) > 0
    """
    return of_query(connection, query, *_COMPRESSION)
