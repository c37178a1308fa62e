"""What metadata says of rows: its keys, the values of those that sort rows into kinds, the shape of the evidence."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ragdatakit.database.apart_rows import CountedMembers, CountedObjects
from ragdatakit.database.arrow_streams import incoming
from ragdatakit.database.columns import Kind, packed
from ragdatakit.files.containers.json_text import Raw, fields_of, object_text
from ragdatakit.files.paths.sql_text import sql_text
from ragdatakit.reports.summary.numbers import MOST_VALUES, frequencies, of_counted
from ragdatakit.scanner.library import library
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
        name, title = f"{table}.{column}", f"Keys of the {column} of {table}"
        names: Collection[str]
        if (counts := _counts(database, table, column)) is not None:
            counted, names = of_counted(counts, name, title), counts
        else:
            connection = database.load(table)
            given = _objects(connection, f"main.{table}", column)
            keys = f"select unnest(list_distinct(json_keys(object))) from {given}"
            counted = frequencies(connection, keys, name, title)
            quoted = ", ".join(f"'{key}'" for key in (*_KINDS, *_EVIDENCE))
            told = f"select distinct key from ({keys}) given(key) where key in ({quoted})"
            names = {key for (key,) in connection.execute(told).fetchall()}
        if counted is None:
            continue
        if counted.distinct <= MOST_VALUES and not any(key in names for key in (*_KINDS, *_EVIDENCE)):
            found.append(counted)
            continue
        connection, place = _values(database, table, column)
        given = _objects(connection, place, column)
        if counted.distinct > MOST_VALUES:
            objects = connection.execute(f"select count(*) from {given} where object <> '{{}}'").fetchall()[0][0]
            most = counted.values[0][1]
            if most < _RARE * objects:
                words = f"the keys of the {column} of {table} look like data, not names of fields: "
                words += f"{counted.distinct:,} keys, none in more than {most:,} of {objects:,} rows"
                notes.append(Note(f"keys.{table}.{column}", words, counted.distinct))
                continue
        found.append(counted)
        for key in (k for k in _KINDS if k in names):
            values = f"select object ->> '$.{key}' from {given} where json_type(object, '$.{key}') <> 'ARRAY'"
            found.append(frequencies(connection, values, f"{table}.{column}.{key}", f"{key} of {table}"))
        for key in (k for k in _EVIDENCE if k in names and table == "questions"):
            shapes = f"select {_shape(key)} from {given} where json_exists(object, '$.{key}')"
            name = f"{table}.{column}.{key}.shape"
            found.append(frequencies(connection, shapes, name, f"Shape of {key}"))
    return [one for one in found if one is not None], notes


def _counts(database: DatasetDatabase, table: str, column: str) -> dict[str, int] | None:
    """How many of the objects in a column have each key, by the compiled library; what it cannot prove to be JSON
    DuckDB reads. None where that is much, or there is no library, or very many keys."""
    facts = database.column_facts(table, column)
    objects: CountedObjects | CountedMembers | None = facts.objects if facts is not None else None
    if objects is None:
        if library() is None:
            return None
        from ragdatakit.database.text_batches import bounded_batches

        connection, objects = database.load(table), (counted := CountedObjects())
        sizes = connection.execute(f"select coalesce(strlen({column}), 0) as size from main.{table}").fetchnumpy()
        for batch in bounded_batches(connection, table, column, sizes["size"].astype("int64")):
            counted.add(batch.data, batch.offsets)
            if not counted.known:
                break
    if not objects.known:
        return None
    found = objects.counts()
    if objects.odd:
        connection = database.load()
        with incoming(connection, "odd_texts", {"object": Kind.TEXT}, [[packed(Kind.TEXT, objects.odd)]]):
            connection.execute("create table main.odd_objects as select * from odd_texts")
        keys = "select unnest(list_distinct(json_keys(object))) as key from "
        keys += _objects(connection, "main.odd_objects", "object")
        for name, count in connection.execute(f"select key, count(*) from ({keys}) group by key").fetchall():
            found[name] = found.get(name, 0) + count
        connection.execute("drop table main.odd_objects")
    return found


def _values(database: DatasetDatabase, table: str, column: str) -> tuple[duckdb.DuckDBPyConnection, str]:
    """A table that has a column, for SQL: of rows that the database does not hold it gets no other one."""
    parts = database.texts(table, column)
    if parts is None:
        return database.load(table), f"main.{table}"
    connection, place = database.load(), f"main.{column}_of_{table}"
    with incoming(connection, "held_objects", {column: Kind.TEXT}, ([part] for part in parts)):
        connection.execute(f"create table {place} as select * from held_objects where {column} is not null")
    return connection, place


def _objects(connection: duckdb.DuckDBPyConnection, table: str, column: str) -> str:
    """The query for the objects in a column. DuckDB makes a tree of each, which takes many times its size: of long ones
    it gets the names and what is short."""
    given = f"from {table} where strlen({column})"
    long = connection.cursor().execute(f"select {column} {given} >= {_LONG}")
    found = [_shortened(text) for (text,) in iter(long.fetchone, None)]
    listed = ", ".join(sql_text(text) for text in found if len(text) < _LONG)
    both = f"(select {column} as object {given} < {_LONG} union all select unnest([{listed}]::varchar[]))"
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
