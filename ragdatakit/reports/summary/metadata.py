"""What metadata says of rows: its keys, the values of those that sort rows into kinds, the shape of the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragdatakit.files.containers.json_text import Raw, fields_of, object_text
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.reports.summary.numbers import MOST_VALUES, frequencies
from ragdatakit.schemas.summaries import Frequencies, Note

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.database.dataset_database import DatasetDatabase

_KINDS = ("question_type", "type", "level", "difficulty", "category", "domain", "language", "lang", "task", "source")
"""Keys whose values are kinds of rows in the formats of the field."""
_EVIDENCE = ("evidence", "evidence_relations", "evidences", "supporting_facts", "paths")
_TABLES = (
    ("documents", "metadata"),
    ("chunks", "metadata"),
    ("questions", "metadata"),
    ("answers", "metadata"),
    ("nodes", "attributes"),
)
_LONG, _SHORT = 1 << 20, 1 << 10
"""Bytes of an object that DuckDB does not get as a whole, and of a value that it gets then."""
_RARE = 0.1
"""Where there are many keys and each is in a smaller share of the objects, keys are data: ids, names, dates."""


def metadata_frequencies(database: DatasetDatabase) -> tuple[list[Frequencies], list[Note]]:
    """The keys of metadata and attributes, by the rows that have them, and what well-known ones say.

    Keys that are data (SciFact's questions have an object by ids of documents) would be a list of ids: there is a note.
    """
    found: list[Frequencies | None] = []
    notes: list[Note] = []
    for table, column in _TABLES:
        if not database.count(table):
            continue
        connection = database.load(table)
        given = _objects(connection, table, column)
        keys = f"select unnest(list_distinct(json_keys(object))) from {given}"
        title = f"Keys of the {column} of {table}"
        counted = frequencies(connection, keys, f"{table}.{column}", title)
        if counted is None:
            continue
        if counted.distinct > MOST_VALUES:
            objects = connection.execute(f"select count(*) from {given} where object <> '{{}}'").fetchall()[0][0]
            most = counted.values[0][1]
            if most < _RARE * objects:
                words = f"the keys of the {column} of {table} look like data, not names of fields: "
                words += f"{counted.distinct:,} keys, none in more than {most:,} of {objects:,} rows"
                notes.append(Note(f"keys.{table}.{column}", words, counted.distinct))
                continue
        found.append(counted)
        present = {key for key, _ in counted.values}
        if counted.distinct > len(present):
            quoted = ", ".join(f"'{key}'" for key in (*_KINDS, *_EVIDENCE))
            rare = f"select distinct key from ({keys}) given(key) where key in ({quoted})"
            present |= {key for (key,) in connection.execute(rare).fetchall()}
        for key in (k for k in _KINDS if k in present):
            values = f"select object ->> '$.{key}' from {given} where json_type(object, '$.{key}') <> 'ARRAY'"
            found.append(frequencies(connection, values, f"{table}.{column}.{key}", f"{key} of {table}"))
        for key in (k for k in _EVIDENCE if k in present and table == "questions"):
            shapes = f"select {_shape(key)} from {given} where json_exists(object, '$.{key}')"
            name = f"{table}.{column}.{key}.shape"
            found.append(frequencies(connection, shapes, name, f"Shape of {key}"))
    return [one for one in found if one is not None], notes


def _objects(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> str:
    """The query for the objects in a column. DuckDB makes a tree of each, which takes many times its size: of long
    ones it gets the names and what is short."""
    short = f"select {column} as object from main.{table} where strlen({column}) < {_LONG}"
    long = connection.cursor().execute(f"select {column} from main.{table} where strlen({column}) >= {_LONG}")
    found = [_shortened(text) for (text,) in iter(long.fetchone, None)]
    listed = ", ".join(sql_text(text) for text in found if len(text) < _LONG)
    both = f"({short} union all select unnest([{listed}]::varchar[]))"
    return f"(from {both} where json_valid(object) and object like '{{%')"


def _shortened(text: str) -> str:
    """An object with empty lists and objects in place of long ones, and null for long texts."""
    try:
        fields = fields_of(text)
    except ValueError:
        return ""
    values = {name: bytes(raw) for name, raw in fields.items()}
    empty = {b"[": b"[]", b"{": b"{}", b'"': b"null"}
    return object_text({n: Raw(empty.get(v[:1], v) if len(v) > _SHORT else v) for n, v in values.items()}) or "{}"


def _shape(key: str) -> str:
    """The type of a value in JSON; of a list also how many items it has, and of which type the first is."""
    kind, first = f"json_type(object, '$.{key}')", f"json_type(object, '$.{key}[0]')"
    number = f"json_array_length(object, '$.{key}')"
    named = (
        "case {} when 'VARCHAR' then 'text' when 'ARRAY' then 'list' when 'OBJECT' then 'object' "
        "when 'BOOLEAN' then 'boolean' when 'NULL' then 'null' else 'number' end"
    )
    return (
        f"case when {kind} = 'ARRAY' and {number} > 0 then "
        f"'list of ' || {number} || ', the first a ' || {named.format(first)} else {named.format(kind)} end"
    )
