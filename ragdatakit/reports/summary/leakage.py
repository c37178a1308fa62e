"""What leaks between splits: questions and positives of the training split that are in another one, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress, pairwise
from operator import not_
from typing import TYPE_CHECKING

import numpy as np

from ragdatakit.database.columns import PackedColumn, texts_of
from ragdatakit.database.conditions import Condition
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.reports.summary.ids import IdColumn, IdNumbers, marked
from ragdatakit.reports.summary.training import POSITIVE, TRAIN, chosen_pairs, rows_of_split, splits_of
from ragdatakit.scanner.predicates import WHITE_SPACE
from ragdatakit.schemas.summaries import Note

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragdatakit.database.dataset_database import DatasetDatabase


def leakage(database: DatasetDatabase, ids: IdNumbers) -> list[Note]:
    """Questions, by their texts, and positives that are in the training split and in another one.

    Case, blanks around a text, and whether a letter and its accent are one character or two make no difference.
    """
    notes = []
    if (others := _asking(database)) is not None and _may_share(database, ids, others):
        pairs = _asked(database, others)
        query = f"""
            with lowered as (
                select split, case when strlen(text) = length(text) then lower(text)
                    else lower(nfc_normalize(text)) end as text from ({pairs})
            ),
            spelled as (
                select split, case when {_ends_in_ink("left")} and {_ends_in_ink("right")} then text
                    else trim(text, {sql_text(WHITE_SPACE)}) end as text from lowered
            ),
            asked as materialized (select distinct split, text from spelled where text <> '')
            select other.split, count(*) from asked other join asked train using (text)
            where train.split = '{TRAIN}' and other.split <> '{TRAIN}' group by 1 order by 1
        """
        notes += [
            Note(
                "leakage.questions",
                f"{count:,} question{'s' if count != 1 else ''} of the split {split} "
                f"also appear{'' if count != 1 else 's'} in train",
                count,
                "warning",
            )
            for split, count in database.load("questions").execute(query).fetchall()
        ]
    if "qrels" in database.tables and TRAIN in (splits := splits_of(database, "qrels")):
        rows = chosen_pairs(database, POSITIVE)
        shared = _shared(database, ids, rows, splits) if rows is not None else _shared_in_sql(database)
        notes += [
            Note(
                "leakage.positives",
                f"{count:,} of {total:,} positives of the split {split} are also positives in train",
                count,
            )
            for split, count, total in shared
        ]
    return notes


def _shared(
    database: DatasetDatabase, ids: IdNumbers, positive: npt.NDArray[np.bool_], splits: Sequence[str]
) -> Iterator[tuple[str, int, int]]:
    """Splits that have positives of the training split, and how many of how many; which judgements are ``positive``."""
    (targets,), count = ids.of(IdColumn("qrels", "target_id"))
    held = {split: marked(count, targets[positive & rows_of_split(database, "qrels", split)]) for split in splits}
    for split in sorted(held.keys() - {TRAIN}, key=str.encode):
        if shared := int(np.count_nonzero(held[split] & held[TRAIN])):
            yield split, shared, int(np.count_nonzero(held[split]))


def _shared_in_sql(database: DatasetDatabase) -> list[tuple[str, int, int]]:
    """The same of judgements that the database holds."""
    query = f"""
        with positives as materialized (
            select distinct split, target_kind, target_id from main.qrels where grade > 0 and split is not null
        )
        select other.split, count(train.target_id), count(*)
        from positives other left join (select * from positives where split = '{TRAIN}') train
        using (target_kind, target_id)
        where other.split <> '{TRAIN}' group by 1 having count(train.target_id) > 0 order by 1
    """
    return database.load("qrels").execute(query).fetchall()


def _ends_in_ink(side: str) -> str:
    """Whether a text has no blank at an end, as far as that is seen at once."""
    return f"{side}(text, 1) between '!' and '~'"


def _asking(database: DatasetDatabase) -> list[str] | None:
    """The tables that say in which splits a question is beside that of questions; None where none can be in two."""
    if "questions" not in database.tables:
        return None
    others: list[str] = [t for t in ("qrels", "triplets") if t in database.tables and splits_of(database, t)]
    splits = {split for table in ("questions", *others) for split in database.splits(table)} - {None}
    return others if TRAIN in splits and len(splits) > 1 else None


def _may_share(database: DatasetDatabase, ids: IdNumbers, others: Sequence[str]) -> bool:
    """Whether a question may be in the training split and in another one: none is whose letters, without case and
    accents, are in one only."""
    parts = database.texts("questions", "text")
    if parts is None:
        return True
    in_train, in_others = np.zeros((2, database.count("questions")), np.bool_)
    for table in ("questions", *others):
        for split in database.splits(table).keys() - {None}:
            is_split = Condition("split", "=", split)
            rows = database.chosen(table, is_split)
            if rows is None:
                return True
            if table != "questions":
                rows = ids.named(IdColumn("questions", "question_id"), IdColumn(table, "question_id", is_split))
            (in_train if split == TRAIN else in_others)[rows] = True
    for letters in (_letters_of_ascii, _letters):  # most sets share none of the first ones, which are sooner found
        spelled = [one for column in parts for one in _spelled(column, letters)]
        if {*compress(spelled, in_train.tolist())}.isdisjoint(compress(spelled, in_others.tolist())):
            return False
    return True


class _Spelling(dict[int, str | None]):
    """What remains of a character where case, accents and blanks make no difference: letters that have them only of
    ASCII. What DuckDB takes for one text is spelled alike, and so is more."""

    def __missing__(self, code: int) -> str | None:
        from unicodedata import category

        character = chr(code)
        is_kept = category(character) == "Lo" if code > 127 else character.isprintable() and character != " "
        found = self[code] = character.lower() if is_kept else None
        return found


_SPELLING = _Spelling({0: "\0"})
_ASCII = bytes(range(128))
_BLANK = bytes(code for code in range(1, 128) if _SPELLING[code] is None)
_FEW = 16
"""Different characters that are quicker left out one after the other than looked up wherever they are."""


def _spelled(column: PackedColumn, letters: Callable[[bytes], bytes]) -> list[bytes]:
    """The letters of each text of a column; ``letters`` gives those of texts between NULs, without accents."""
    from unicodedata import normalize

    data, offsets = texts_of(column)
    given = data.tobytes()
    texts = [given[start:end] for start, end in pairwise(offsets.tolist())]
    if b"\0" in given:
        texts = [text.replace(b"\0", b"") for text in texts]
    plain = [*map(bytes.isascii, texts)]
    of_ascii = b"\0".join(compress(texts, plain))
    others = normalize("NFD", b"\0".join(compress(texts, map(not_, plain))).decode()).encode()
    of_each = iter(letters(of_ascii).split(b"\0")), iter(letters(others).split(b"\0"))
    return [next(of_each[not is_plain]) for is_plain in plain]


def _letters_of_ascii(data: bytes) -> bytes:
    """What remains of texts between NULs that is ASCII."""
    return data.decode().encode("ascii", "ignore").lower().translate(None, _BLANK)


def _letters(data: bytes) -> bytes:
    """What remains of texts between NULs."""
    left_out = [one for one in {*data.translate(None, _ASCII).decode()} if _SPELLING[ord(one)] is None]
    if len(left_out) > _FEW:
        return data.decode().translate(_SPELLING).encode()
    for one in left_out:
        data = data.replace(one.encode(), b"")
    return data.lower().translate(None, _BLANK)


def _asked(database: DatasetDatabase, others: Sequence[str]) -> str:
    """A query of the texts of questions with each split in which they are."""
    database.load("questions", *others)
    parts = ["select split, text from main.questions where split is not null"]
    parts += [
        f"select used.split, q.text from (select distinct question_id, split from main.{table}) used "
        "join main.questions q using (question_id) where used.split is not null"
        for table in others
    ]
    return " union all ".join(parts)
