"""Traces of pipelines in numbers: what the stages took, found and scored, and what refining made of the texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.reports.summary.numbers import of_query
from ragdatakit.schemas.summaries import Distribution

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

_REFINED = "refining"


def stages_of(database: DatasetDatabase) -> list[str]:
    """The stages of the runs, in the order of the rows."""
    if "runs" not in database.tables:
        return []
    query = "select stage from main.runs group by stage order by min(rowid)"
    return [row[0] for row in database.load("runs").execute(query).fetchall()]


def stage_distributions(database: DatasetDatabase) -> list[Distribution]:
    """Seconds, results, scores by stage; the seconds of answers; the compression of refined texts."""
    found: list[Distribution | None] = []
    for stage in stages_of(database):
        connection = database.load()
        where = f"from main.runs where stage = {sql_text(stage)}"
        seconds = f"select arg_min(seconds, rank) filter (seconds is not null) {where} group by question_id"
        found.append(of_query(connection, seconds, "runs.seconds", "Time of a stage per question", "seconds", stage))
        results = f"select count(*) {where} group by question_id"
        found.append(of_query(connection, results, "runs.results", "Results of a stage per question", "results", stage))
        found.append(of_query(connection, f"select score {where}", "runs.score", "Scores of a stage", "score", stage))
    if _REFINED in stages_of(database):
        found.append(_compression(database))
    if "answers" in database.tables:
        query = "select seconds from main.answers"
        connection = database.load("answers")
        found.append(of_query(connection, query, "answers.seconds", "Time of an answer", "seconds"))
    return [one for one in found if one is not None]


def _compression(database: DatasetDatabase) -> Distribution | None:
    """Characters of a question's refined texts in relation to those of the stage before that gave it texts."""
    query = f"""
        with stages as (select stage, min(rowid) as place from main.runs group by stage),
        sizes as (
            select r.question_id, r.stage, s.place, sum(length(r.text)) as size from main.runs r
            join stages s using (stage) where r.text is not null group by 1, 2, 3
        )
        select refined.size / arg_max(given.size, given.place) from sizes refined join sizes given
        on given.question_id = refined.question_id and given.place < refined.place
        where refined.stage = '{_REFINED}' group by refined.question_id, refined.size
        having arg_max(given.size, given.place) > 0
    """
    title = "Characters after refining, as a share of those before"
    return of_query(database.load("runs"), query, "runs.compression", title, "share")
