"""Columns that the tables of a gate have besides their own: what a column is called, and which columns it is made of.

``COLUMN_length`` is characters of a text, members of a list, bytes; ``COLUMN_found`` is 1 where the record that a
column names is there, 0 where it is not; ``COLUMN_share`` is the share of the rows that have the row's value;
``COLUMN_damaged`` is 1 where a text has signs of a wrong encoding, 0 where not; ``COLUMN_language`` is a guess at the
language of a text, for at most 1,000 texts, evenly spread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

LENGTH, FOUND, SHARE, DAMAGED, LANGUAGE = "_length", "_found", "_share", "_damaged", "_language"
KEYS = {"documents": "doc_id", "chunks": "chunk_id", "nodes": "name", "relations": "name", "questions": "question_id"}
"""The columns by which other tables name the rows of a table."""
_PASSAGES = ("documents", "chunks")
REFERENCES: dict[tuple[str, str], tuple[str, ...]] = {
    ("chunks", "doc_id"): ("documents",),
    ("edges", "source"): ("nodes",),
    ("edges", "target"): ("nodes",),
    ("edges", "relation"): ("relations",),
    ("qrels", "question_id"): ("questions",),
    ("qrels", "target_id"): ("documents", "chunks", "nodes"),
    ("start_nodes", "question_id"): ("questions",),
    ("start_nodes", "node"): ("nodes",),
    ("triplets", "question_id"): ("questions",),
    ("triplets", "positive_id"): _PASSAGES,
    ("triplets", "negative_id"): _PASSAGES,
    ("pair_scores", "question_id"): ("questions",),
    ("pair_scores", "doc_id"): _PASSAGES,
    ("runs", "question_id"): ("questions",),
    ("answers", "question_id"): ("questions",),
}
"""Which tables a column refers to."""

_SIGNS = (
    r"[\x00-\x08\x0B\x0C\x0E-\x1F\x{7F}-\x{9F}\x{FFFD}]",
    "[ÃÂ][\\x{80}-\\x{BF}]",
    "Ã(?:[€†‡\\x{2C6}‰Š\\x{2039}ŒŽšœžŸ]|[„\\x{2013}][a-z])",
    "[ÎÐ][\\x{B0}-\\x{BA}\\x{BC}-\\x{BF}]",
    r"Ù[ƒ†‡\x{2C6}‰Š]|[ØÙ][^\x00-\x7F\p{L}][ØÙ]",
    "â€",
    "(?:[縺繧繝繹][^縺繧繝繹]{0,3}){4}",
    "锟斤拷",
)
"""Lost and control characters, then UTF-8 that was read as Latin-1 or Windows-1252 (accents, Greek and Cyrillic,
Arabic, quotation marks and dashes), as Shift-JIS, as GBK. What a text may well have, as ``É”``, is no sign."""
_MOST_GUESSED = 1000
_BEGINNING = 2000


def derived_names(table: str, column: str, kind: str) -> Iterator[str]:
    """What the columns are called that are made of a column of this type."""
    yield f"{column}{LENGTH}"
    yield f"{column}{SHARE}"
    if (table, column) in REFERENCES:
        yield f"{column}{FOUND}"
    if kind == "VARCHAR":
        yield f"{column}{DAMAGED}"
        yield f"{column}{LANGUAGE}"


def split_name(name: str) -> tuple[str, str]:
    """A derived column's name as that of the column it is made of, and what is said about it."""
    own, _, what = name.rpartition("_")
    return own, f"_{what}"


def length_of(name: str, kind: str) -> str:
    """The SQL of a length; ``name`` is quoted."""
    if kind.endswith("[]"):
        return f"len({name})"
    if kind == "BLOB":
        return f"octet_length({name})"
    return f"cardinality({name})" if kind.startswith("MAP") else f"length({name}::varchar)"


def damage_of(name: str) -> str:
    """The SQL that says whether a text has signs of a wrong encoding."""
    return f"case when {name} is not null then regexp_matches({name}, '{'|'.join(_SIGNS)}')::integer end"


def guess_languages(connection: duckdb.DuckDBPyConnection, table: str, name: str, kept: str) -> None:
    """Make a table ``kept`` of places of rows (``gate place``) and guesses (``gate value``); all names are quoted."""
    from ragdatakit.reports.summary.languages import languages_of
    from ragdatakit.reports.summary.text_numbers import SCRIPTS, text_numbers

    read = connection.execute(
        f"with there as (select rowid as place, row_number() over (order by rowid) - 1 as n, "
        f"count(*) over () as total from {table} where {name} <> '') "
        f"select rowid, left({name}, {_BEGINNING}) from {table} where rowid in "
        f"(select place from there where n % ceil(total / {_MOST_GUESSED})::bigint = 0) order by rowid"
    ).fetchall()
    texts = [text for _, text in read]
    scripts = [SCRIPTS[number] for number in text_numbers(texts).scripts]
    guesses = list(languages_of(zip(scripts, map(str.encode, texts), strict=True)))
    connection.execute(f'create or replace temp table {kept} ("gate place" bigint, "gate value" varchar)')
    if guesses:
        connection.execute(
            f"insert into {kept} select unnest(?::bigint[]), unnest(?::varchar[])", [[p for p, _ in read], guesses]
        )
