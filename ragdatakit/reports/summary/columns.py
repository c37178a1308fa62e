"""Tables, columns and ids of a dataset in numbers: rows by split, values that are missing, empty, repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ragdatakit.arrays.codes import codes_of, number_of_distinct
from ragdatakit.database.apart_rows import BLANK, ColumnFacts
from ragdatakit.database.held_rows import OBJECTS
from ragdatakit.reports.summary.ids import IdColumn, IdNumbers, as_integer
from ragdatakit.schemas.canonical import TABLES
from ragdatakit.schemas.summaries import ColumnSummary, IdSummary, TableSummary

if TYPE_CHECKING:
    from ragdatakit.database.dataset_database import DatasetDatabase

LISTS = frozenset({"aliases", "children", "field_order", "members"})
UNCOUNTED = LISTS | OBJECTS | {"content", "record", "before", "prompt"}
"""Columns of which distinct values say nothing."""
UNIQUE = {
    "documents": ("doc_id", "text"),
    "chunks": ("chunk_id", "text"),
    "nodes": ("name",),
    "relations": ("name",),
    "questions": ("question_id", "text"),
    "summaries": ("summary_id", "text"),
    "assets": ("path",),
}
"""Columns in which a value should appear once."""
IDS = (("documents", "doc_id"), ("chunks", "chunk_id"), ("questions", "question_id"), ("summaries", "summary_id"))
_MOST_EXAMPLES = 3
_WORTH_HASHES = 1 << 15
"""Rows from which on hashing texts is quicker than collecting them."""


def table_summary(database: DatasetDatabase, table: str, counted: dict[str, int]) -> TableSummary:
    """A table, its rows by split and its columns. ``counted`` has the distinct values of columns that are known."""
    rows, by_split = database.count(table), database.splits(table)
    names = tuple(name for name in TABLES[table].columns if name != "field_order")
    held = database.waiting(table) if {*names} <= {*counted, "split"} else None
    known = {name: _known(database, table, name) if held is None else None for name in names}
    wanted: list[str | int | None] = []  # what is known, and what SQL counts
    for name in names:
        column = f'"{name}"'
        if (apart := known[name]) is not None:
            wanted += [apart.missing, apart.empty, None]
            continue
        if name == "split":
            empty = sum(number for split, number in by_split.items() if split is not None and not split.strip(BLANK))
            wanted += [by_split.get(None, 0), empty, len(by_split.keys() - {None})]
            continue
        if held is not None:
            wanted += [0, held.empty(name), None]
            continue
        if (table, name) in database.integer_columns:  # no such value is missing or empty
            wanted += [0, 0, None if name in counted else f"count(distinct {column})"]
            continue
        missing = f"len({column}) = 0 or {column} is null" if name in LISTS else f"{column} is null"
        wanted.append(f"count(*) filter ({missing})")
        wanted.append(f"count(*) filter ({_is_empty(table, name)})")
        plain = name not in UNCOUNTED and name not in counted and name not in UNIQUE.get(table, ())
        wanted.append(f"count(distinct {column})" if plain else None)
    asked = [one for one in wanted if isinstance(one, str)]
    query = f'select {", ".join(asked)} from "{table}"'
    answers = iter(database.load(table).execute(query).fetchall()[0] if asked else ())
    found: list[Any] = [next(answers) if isinstance(one, str) else one for one in wanted]
    columns = []
    for place, name in enumerate(names):
        missing_rows, empty, distinct = found[3 * place : 3 * place + 3]
        is_unique = name in UNIQUE.get(table, ())
        if name in counted:
            distinct = counted[name]
        elif (apart := known[name]) is not None:
            distinct = None if name in UNCOUNTED else apart.distinct if rows else 0
        elif is_unique:
            distinct = distinct_texts(database, table, name)
        repeated = rows - missing_rows - distinct if is_unique else None
        columns.append(ColumnSummary(name, missing_rows, empty, distinct, repeated))
    return TableSummary(table, rows, by_split, tuple(columns))


def _known(database: DatasetDatabase, table: str, name: str) -> ColumnFacts | None:
    """What is known of a column without looking at its rows again."""
    facts = database.text_facts(table, name)
    if facts is None:
        return database.column_facts(table, name)
    return ColumnFacts(facts.missing, facts.empty, distinct_texts(database, table, name))


def _is_empty(table: str, name: str) -> str:
    """Whether a value is there with nothing in it: blanks only, an object without members."""
    column = f'"{name}"'
    if name in OBJECTS:
        return f"{column} = '{{}}'"
    if name == "content":
        return f"octet_length({column}) = 0"
    if name in LISTS or "str" not in str(TABLES[table].row.__annotations__[name]):
        return "false"
    return f"case when {column} < '!' then trim({column}, {_BLANKS}) = '' end"  # a case looks at no more than it must


_BLANKS = "' ' || chr(9) || chr(10) || chr(13)"


def id_summary(database: DatasetDatabase, table: str, column: str, ids: IdNumbers) -> IdSummary | None:
    """The ids of a table; None where it has none. Integers are those written as such, without leading zeros."""
    gaps: int | None
    known = ids.integer_ids(IdColumn(table, column))
    if known is not None:
        count, distinct, integers, least, most, gaps = known
    elif database.text_codes(table, column) is not None and (facts := database.column_facts(table, column)) is not None:
        count, distinct = database.count(table) - facts.missing, facts.distinct or 0
        integers, least, most, gaps = 0, None, None, None
    else:
        connection = database.load(table)
        query = f"""
            with ids as (
                select "{column}" as id, {as_integer(f'"{column}"')} as number
                from main."{table}" where "{column}" is not null
            )
            select count(*), count(number), min(number), max(number), count(distinct number) from ids
        """
        count, integers, least, most, numbers = connection.execute(query).fetchall()[0]
        distinct = distinct_texts(database, table, column)
        gaps = most - least + 1 - numbers if integers else None
    if not count:
        return None
    examples = tuple(_first_ids(database, table, column))
    return IdSummary(table, column, count, distinct, integers, least, most, gaps, examples)


def _first_ids(database: DatasetDatabase, table: str, column: str) -> list[str]:
    if (facts := database.column_facts(table, column)) is not None and not facts.missing:
        places = range(min(database.count(table), _MOST_EXAMPLES))
        return [row[column] for row in database.rows_at(table, {}, places).values()]
    shown = f'select "{column}" from "{table}" where "{column}" is not null order by rowid limit {_MOST_EXAMPLES}'
    return [str(found) for (found,) in database.load(table).execute(shown).fetchall()]


def distinct_texts(database: DatasetDatabase, table: str, column: str) -> int:
    """How many different texts a column has, most of which appear once: only those with equal hashes are compared."""
    facts = database.text_facts(table, column)
    if facts is not None:
        return number_of_distinct(codes_of(facts.codes, facts.characters >= 0))
    connection = database.load(table)
    given = f'from main."{table}" where "{column}" is not null'
    exact = f'select count(distinct "{column}") {given}'
    rows = connection.execute(f"select count(*) {given}").fetchall()[0][0]
    if rows < _WORTH_HASHES:
        return int(connection.execute(exact).fetchall()[0][0])
    hashes = f'select hash("{column}") as code {given}'
    codes = np.asarray(connection.execute(hashes).fetchnumpy()["code"], np.uint64)
    codes.sort()
    again = codes[1:][codes[1:] == codes[:-1]]
    repeated = again[np.append(again[:-1] != again[1:], True)] if len(again) else again
    if len(again) > rows // 8:
        return int(connection.execute(exact).fetchall()[0][0])
    if not len(again):
        return int(rows)
    connection.register("sought_texts", {"same": repeated})
    try:
        chosen = f'{exact} and hash("{column}") in (select same from sought_texts)'
        compared = int(connection.execute(chosen).fetchall()[0][0])
    finally:
        connection.unregister("sought_texts")
    return int(rows) - len(again) - len(repeated) + compared
