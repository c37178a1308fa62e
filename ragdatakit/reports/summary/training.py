"""What judgements and training samples cover, per question; splits that are uneven."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.database.conditions import Condition
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.summary.ids import IdColumn, IdNumbers, distinct, distinct_per_id, per_id
from ragdatakit.reports.summary.numbers import of_numbers, of_query
from ragdatakit.schemas.summaries import Distribution, Note
from ragdatakit.schemas.texts import many

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.reports.summary.ids import Numbers

TRAIN = "train"
_UNEVEN = 0.01
_NAMING = {"qrels": "a judgement", "triplets": "a triplet", "pair_scores": "a score"}
POSITIVE = Condition("grade", ">", 0)
PASSAGES = (("documents", "doc_id", "document"), ("chunks", "chunk_id", "chunk"))
_PER_QUESTION = {
    "qrels.positives": (
        "qrels",
        "Positives per question",
        "passages",
        POSITIVE,
        "select count(distinct (target_kind, target_id)) from main.qrels where {where} group by question_id",
    ),
    "qrels.negatives": (
        "qrels",
        "Judged negatives per question",
        "passages",
        Condition("grade", "<=", 0),
        "select count(distinct (target_kind, target_id)) from main.qrels where {where} group by question_id",
    ),
    "pair_scores.per_question": (
        "pair_scores",
        "Scored passages per question",
        "passages",
        None,
        "select count(*) from main.pair_scores where {where} group by question_id",
    ),
}


def per_question(database: DatasetDatabase, ids: IdNumbers) -> list[Distribution]:
    """Positives, negatives and scores per question that has any, over all and by split."""
    found: list[Distribution | None] = []
    for name, (table, title, unit, wanted, query) in _PER_QUESTION.items():
        if table not in database.tables:
            continue
        chosen: list[str | None] = [None]
        if table != "pair_scores":
            chosen += splits_of(database, table)
        if wanted is not None and (rows := chosen_pairs(database, wanted)) is not None:
            if rows.any():
                (questions,), count = ids.of(IdColumn(table, "question_id"))
                (targets,), target_count = ids.of(IdColumn(table, "target_id"))
                for split in chosen:
                    own: Any = rows if split is None else rows & rows_of_split(database, table, split)
                    own = slice(None) if own.all() else own
                    each = distinct_per_id(questions[own], targets[own], count, target_count)
                    found.append(of_numbers(each, name, title, unit, split))
            continue
        connection = ids.load(table)
        for split in chosen:
            conditions = [wanted, Condition("split", "=", split) if split is not None else None]
            where = " and ".join(one.sql for one in conditions if one is not None) or "true"
            found.append(of_query(connection, query.format(where=where), name, title, unit, split))
    return [one for one in found if one is not None]


def chosen_pairs(database: DatasetDatabase, wanted: Condition) -> npt.NDArray[np.bool_] | None:
    """Which of the judgements are wanted, where they are outside of the database, each names a question and a target,
    and all targets are of one kind; None otherwise."""
    if database.waiting("qrels") is None:  # where it is not None all of that is so
        facts = [database.column_facts("qrels", name) for name in ("question_id", "target_id", "target_kind")]
        known = [one for one in facts if one is not None and not one.missing]
        if len(known) < len(facts) or known[-1].distinct != 1:
            return None
    return database.chosen("qrels", wanted)


def rows_of_split(database: DatasetDatabase, table: str, split: str) -> npt.NDArray[np.bool_]:
    """Which rows of a table are of a split."""
    if (known := database.chosen(table, Condition("split", "=", split))) is not None:
        return known
    query = f'select coalesce(split = {sql_text(split)}, false) as chosen from main."{table}"'
    with database.load(table).cursor() as cursor:
        return np.asarray(cursor.execute(query).fetchnumpy()["chosen"], np.bool_)


def splits_of(database: DatasetDatabase, table: str) -> list[str]:
    """The splits of a table, where it has several."""
    found = [split for split in database.splits(table) if split is not None]
    return found if len(found) > 1 else []


@dataclass(slots=True)
class Triplets:
    """The triplets of a dataset as numbers of questions and passages, in the order of the rows."""

    questions: Numbers
    positives: Numbers
    negatives: Numbers
    question_count: int
    passage_count: int

    def distinct(self) -> dict[str, int]:
        """How many distinct values the columns of the table of triplets have."""
        return {
            "question_id": distinct(self.questions, self.question_count),
            "positive_id": distinct(self.positives, self.passage_count),
            "negative_id": distinct(self.negatives, self.passage_count),
        }


def read_triplets(ids: IdNumbers) -> Triplets:
    """Number the questions and passages of the triplets."""
    (questions,), question_count = ids.of(IdColumn("triplets", "question_id"))
    (positives, negatives), passage_count = ids.of(
        IdColumn("triplets", "positive_id"), IdColumn("triplets", "negative_id")
    )
    return Triplets(questions, positives, negatives, question_count, passage_count)


def triplets_per_question(database: DatasetDatabase, ids: IdNumbers, triplets: Triplets) -> list[Distribution]:
    """Triplets, and different negatives, per question that has any; over all and by split."""
    made: list[Distribution | None] = []
    for split in (None, *splits_of(database, "triplets")):
        chosen: Any = slice(None)
        if split is not None:
            chosen = rows_of_split(database, "triplets", split)
        owners, count = triplets.questions[chosen], triplets.question_count
        made.append(
            of_numbers(per_id(owners, count), "triplets.per_question", "Triplets per question", "triplets", split)
        )
        each = distinct_per_id(owners, triplets.negatives[chosen], count, triplets.passage_count)
        made.append(of_numbers(each, "triplets.negatives", "Negatives per question, each once", "passages", split))
    return [one for one in made if one is not None]


def coverage(database: DatasetDatabase, ids: IdNumbers) -> list[Note]:
    """Questions without a positive, passages that nothing names."""
    notes = []
    positives = [
        source
        for source in (IdColumn("qrels", "question_id", POSITIVE), IdColumn("triplets", "question_id"))
        if database.count(source.table)
    ]
    if positives and database.count("questions"):
        questions = IdColumn("questions", "question_id", Condition("question_id", "is not null"))
        asked, covered = _covered(ids, questions, positives)
        if asked:
            lost = _questions_without_gold(database, ids, questions)
            notes.append(question_note(asked, covered, lost, any(database.count(table) for table, *_ in PASSAGES)))
    for table, key, kind in PASSAGES:
        naming = [
            source
            for source in (
                IdColumn("qrels", "target_id", _of_kind(kind)),
                IdColumn("triplets", "positive_id"),
                IdColumn("triplets", "negative_id"),
                IdColumn("pair_scores", "doc_id"),
            )
            if database.count(source.table)
        ]
        if not naming or not database.count(table):
            continue
        rows, named = _covered(ids, IdColumn(table, key), naming)
        if named or _is_judged(database, ids, kind):
            notes.append(passage_note(table, kind, rows, named, [source.table for source in naming]))
    return notes


def question_note(asked: int, covered: int, lost: int, has_passages: bool) -> Note:
    """How many of the questions have a positive; ``lost``: only positives that are not there, as those of all where
    there are no passages."""
    words = "every question has a positive" if covered else "no question has a positive"
    if 0 < covered < asked:
        has = "has" if asked - covered == 1 else "have"
        words = f"{covered:,} of {asked:,} questions have a positive, {asked - covered:,} {has} none"
    if lost:
        has = "has" if lost == 1 else "have"
        words += f"; {many(lost, 'question')} {has} only positives that are not there"
        covered -= lost
    if not has_passages:
        words += "; there is no document at all"
        covered = 0
    is_sound = covered == asked and has_passages
    return Note("coverage.questions", words, covered / asked, "info" if is_sound else "warning")


def passage_note(table: str, kind: str, rows: int, named: int, naming: Iterable[str]) -> Note:
    """How many rows of a table of passages are named in those of ``naming``."""
    *others, last = dict.fromkeys(_NAMING[source] for source in naming)
    by = f"{', '.join(others)} or {last}" if others else last
    words = f"{named:,} of {rows:,} {table} are named by {by}"
    if named in (0, rows):
        words = f"{'every' if named else 'no'} {kind} is named by {by}"
    return Note(f"coverage.{table}", words, named / rows, "info" if named else "warning")


def _questions_without_gold(database: DatasetDatabase, ids: IdNumbers, asked: IdColumn) -> int:
    """How many questions have positives in the judgements, none of which is a passage that is there."""
    if database.count("triplets"):
        return 0
    missing: dict[Condition, Any] = {}
    kinds = [kind for table, _, kind in PASSAGES if database.count(table)]
    for table, key, kind in PASSAGES:
        if kind in kinds:
            where = _of_kind(kind)
            missing[where] = ~ids.named(IdColumn("qrels", "target_id", where), IdColumn(table, key))
    if not any(gone.any() for gone in missing.values()):
        return 0
    missing[Condition("target_kind", "not in", tuple(kinds))] = False
    connection = ids.load("qrels")
    (questions, *judged), count = ids.of(asked, *(IdColumn("qrels", "question_id", where) for where in missing))
    has_positive, has_found = np.zeros(count + 1, np.bool_), np.zeros(count + 1, np.bool_)
    for numbers, (where, gone) in zip(judged, missing.items(), strict=True):
        query = f"select coalesce(grade > 0, false) as is_positive from main.qrels where {where.sql}"
        is_positive = np.asarray(connection.execute(query).fetchnumpy()["is_positive"], np.bool_)
        has_positive[numbers[is_positive]] = True
        has_found[numbers[is_positive & ~np.asarray(gone)]] = True
    return int(np.count_nonzero((has_positive & ~has_found)[questions]))


def _is_judged(database: DatasetDatabase, ids: IdNumbers, kind: str) -> bool:
    """Whether there are judgements of passages of this kind; those of another kind name no such passage anyway."""
    if not database.count("qrels"):
        return False
    if (known := database.chosen("qrels", _of_kind(kind))) is not None:
        return bool(known.any())
    query = f"select 1 from main.qrels where {_of_kind(kind).sql} limit 1"
    return bool(ids.load("qrels").execute(query).fetchall())


def _of_kind(kind: str) -> Condition:
    """That a judgement is of a target of this kind."""
    return Condition("target_kind", "=", kind)


def _covered(ids: IdNumbers, source: IdColumn, naming: list[IdColumn]) -> tuple[int, int]:
    """The rows of a column of ids, and how many of them are named in others."""
    named = ids.named(source, *naming)
    return len(named), int(np.count_nonzero(named))


def uneven(database: DatasetDatabase) -> list[Note]:
    """Splits that have next to nothing beside the largest one."""
    notes = []
    for table in ("questions", "qrels", "triplets"):
        if table not in database.tables or not splits_of(database, table):
            continue
        rows = [(split, number) for split, number in database.splits(table).items() if split is not None]
        notes += uneven_note(table, sorted(rows, key=lambda row: (-row[1], row[0].encode())))
    return notes


def uneven_note(table: str, rows: Sequence[tuple[str, int]]) -> list[Note]:
    """What there is to say of the rows of splits, the largest first."""
    (largest, most), (smallest, least) = rows[0], rows[-1]
    if least >= most * _UNEVEN:
        return []
    words = f"{table}: the split {smallest} has {least:,} rows, {largest} has {most:,}"
    return [Note(f"splits.{table}", words, least / most, "warning")]
