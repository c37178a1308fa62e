"""What some rows of a table are in numbers, as a value that is added to those of the others."""

from __future__ import annotations

from collections import Counter
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ragdatakit.arrays.codes import counted
from ragdatakit.files.paths.sql_text import hash_expression, sql_text
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.reports.parts.key_files import KeyFile, KeyWriter, PackedKeys
from ragdatakit.reports.summaries import FURTHER_TEXTS, TEXTS
from ragdatakit.reports.summary.columns import IDS, UNCOUNTED, table_summary
from ragdatakit.reports.summary.text_numbers import SCRIPTS
from ragdatakit.reports.summary.texts import Column, measure
from ragdatakit.reports.summary.training import PASSAGES
from ragdatakit.schemas.canonical import TABLES

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.conversions import Losses

Lengths = dict[tuple[str, str | None], tuple[Counter[int], Counter[int]]]
"""By column and split: characters and tokens, with how many texts have so many."""
_EXAMPLES = 3


@dataclass(slots=True)
class IdFacts:
    """The ids of some rows: how many, those that are integers, their range, the first ones."""

    count: int = 0
    integers: int = 0
    least: int | None = None
    most: int | None = None
    examples: list[str] = field(default_factory=list)

    def take(self, other: IdFacts) -> None:
        """Add those of rows behind."""
        self.count += other.count
        self.integers += other.integers
        given = [number for number in (self.least, other.least) if number is not None]
        self.least = min(given, default=None)
        given = [number for number in (self.most, other.most) if number is not None]
        self.most = max(given, default=None)
        self.examples = (self.examples + other.examples)[:_EXAMPLES]


@dataclass(slots=True)
class TableFacts:
    """Some rows of a table in numbers. ``judged`` counts judgements by the kind of what is judged, ``files`` has the
    records of each file (None: nobody knows), its bytes, the lines and the records that were given. ``keys`` are codes
    of the values."""

    table: str
    rows: int = 0
    splits: Counter[str | None] = field(default_factory=Counter)
    missing: Counter[str] = field(default_factory=Counter)
    empty: Counter[str] = field(default_factory=Counter)
    lengths: Lengths = field(default_factory=dict)
    scripts: dict[str, list[int]] = field(default_factory=dict)
    ids: IdFacts = field(default_factory=IdFacts)
    judged: Counter[str] = field(default_factory=Counter)
    files: list[tuple[str, int | None, int, int, int]] = field(default_factory=list)
    losses: Losses | None = None
    keys: PackedKeys | KeyFile | None = None

    def take(self, other: TableFacts) -> None:
        """Add those of rows behind."""
        self.rows += other.rows
        for own, more in (
            (self.splits, other.splits),
            (self.missing, other.missing),
            (self.empty, other.empty),
            (self.judged, other.judged),
        ):
            own.update(more)  # type: ignore[arg-type] # each of its own kind
        for key, (characters, tokens) in other.lengths.items():
            known = self.lengths.setdefault(key, (Counter(), Counter()))
            known[0].update(characters)
            known[1].update(tokens)
        for column, counts in other.scripts.items():
            known_counts = self.scripts.setdefault(column, [0] * len(counts))
            self.scripts[column] = [a + b for a, b in zip(known_counts, counts, strict=True)]
        self.ids.take(other.ids)


def table_facts(database: DatasetDatabase, table: str, pairs: bool) -> TableFacts:
    """The numbers of a table of a database; ``pairs``: the codes of questions and what is judged for them, too."""
    found = TableFacts(table, database.count(table), Counter(database.splits(table)), losses=database.losses)
    if not found.rows:
        return found
    for column in table_summary(database, table, dict.fromkeys(TABLES[table].columns, 0)).columns:
        found.missing[column.name] += column.missing
        found.empty[column.name] += column.empty
    _measure(database, table, found)
    keys = KeyWriter()
    _take_keys(database, table, keys)
    for own, column_name in IDS:
        if own == table:
            found.ids = _ids(database, table, column_name, keys)
    if table == "qrels":
        _take_judgements(database, keys, found, pairs)
    found.keys = keys.packed()
    return found


def _measure(database: DatasetDatabase, table: str, found: TableFacts) -> None:
    names = [TEXTS[table][0]] if table in TEXTS else []
    names += [name for own, name, _ in FURTHER_TEXTS if own == table and found.missing[name] < found.rows]
    for name in names:
        column = measure(database, table, name, most_bytes=None)
        _take_lengths(found, column, None)
        if name == "text":
            found.scripts[name] = np.bincount(column.scripts[column.tokens >= 0], minlength=len(SCRIPTS)).tolist()
        if table == "questions" and name == "text":
            for split in (split for split in found.splits if split is not None):
                query = f'select coalesce(split = {sql_text(split)}, false) as chosen from main."{table}"'
                chosen = database.load(table).execute(query).fetchnumpy()["chosen"]
                _take_lengths(found, column, split, np.asarray(chosen, np.bool_))


def _take_lengths(
    found: TableFacts, column: Column, split: str | None, chosen: npt.NDArray[np.bool_] | None = None
) -> None:
    characters, tokens = column.lengths(chosen)
    found.lengths[column.name, split] = _counted(characters), _counted(tokens)


def _counted(numbers: npt.NDArray[np.int64]) -> Counter[int]:
    values, counts = counted(numbers)
    return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))


def _code(database: DatasetDatabase, table: str, column: str) -> str:
    """The code of a value in SQL: texts that are the same have the same, in whatever column."""
    if (table, column) in database.integer_columns or "str" in str(TABLES[table].row.__annotations__[column]):
        return hash_expression(f'"{column}"')
    return f'hash("{column}")'


def _take_keys(database: DatasetDatabase, table: str, keys: KeyWriter) -> None:
    """The codes of all columns whose values are counted, with how many rows have each."""
    for column in TABLES[table].columns:
        if column in UNCOUNTED:
            continue
        query = (
            f'select {_code(database, table, column)} as code, count(*) as rows from main."{table}" '
            f'where "{column}" is not null group by 1'
        )
        _add(database, table, keys, (table, column, ""), query)


def _add(database: DatasetDatabase, table: str, keys: KeyWriter, role: tuple[str, str, str], query: str) -> None:
    columns = database.load(table).execute(query).fetchnumpy()
    if len(columns["code"]):
        keys.add(role, *(np.asarray(column).astype(np.uint64) for column in columns.values()))


def _ids(database: DatasetDatabase, table: str, column: str, keys: KeyWriter) -> IdFacts:
    connection, code = database.load(table), _code(database, table, column)
    is_integer = f'try_cast("{column}" as bigint)::varchar = "{column}"'
    of_rows = f'from (select try_cast("{column}" as bigint) as number, {code} as code from main."{table}"'
    query = f"select count(*), min(number), max(number) {of_rows} where {is_integer})"
    integers, least, most = connection.execute(query).fetchall()[0]
    if integers:
        _add(database, table, keys, (table, column, "integer"), f"select distinct code {of_rows} where {is_integer})")
    count = connection.execute(f'select count("{column}") from main."{table}"').fetchall()[0][0]
    shown = f'select "{column}" from main."{table}" where "{column}" is not null order by rowid limit {_EXAMPLES}'
    examples = [str(row[0]) for row in connection.execute(shown).fetchall()]
    return IdFacts(count, integers, least, most, examples)


def _take_judgements(database: DatasetDatabase, keys: KeyWriter, found: TableFacts, pairs: bool) -> None:
    """Who is asked, and what is named, by judgements of each kind."""
    question, target = (_code(database, "qrels", column) for column in ("question_id", "target_id"))
    query = f"select distinct {question} as code from main.qrels where grade > 0"
    _add(database, "qrels", keys, ("qrels", "question_id", "positive"), query)
    kinds = database.load("qrels").execute("select target_kind, count(*) from main.qrels group by 1").fetchall()
    found.judged.update({str(kind): number for kind, number in kinds if kind is not None})
    for _, _, kind in PASSAGES:
        where = f"where target_kind = {sql_text(kind)}"
        _add(
            database,
            "qrels",
            keys,
            ("qrels", "target_id", kind),
            f"select distinct {target} as code from qrels {where}",
        )
        if pairs:
            query = f"select distinct {target} as code, {question} as question from qrels {where} and grade > 0"
            _add(database, "qrels", keys, ("qrels", "pairs", kind), query)
    if pairs:
        known = ", ".join(sql_text(kind) for _, _, kind in PASSAGES)
        query = f"select distinct {question} as code from qrels where target_kind not in ({known}) and grade > 0"
        _add(database, "qrels", keys, ("qrels", "question_id", "others"), query)
