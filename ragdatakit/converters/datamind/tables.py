"""Tables of a user's database, for DataMind: read from an SQLite file, or from CSV, Parquet and JSON Lines."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import msgspec

from ragdatakit.converters.datamind.schemas import lost_clauses
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    import duckdb

    from ragdatakit.schemas.conversions import Losses

Value = str | int | float | bytes | None


class MendedText(str):
    """A text some bytes of which were not UTF-8."""

    __slots__ = ()


_DATABASES = (".sqlite", ".sqlite3", ".db")
_COLUMNAR = (".csv", ".tsv", ".parquet")
_LINES = (".jsonl", ".ndjson")
_BATCH = 1_000
_INTEGER_TEXT = "0|-?[1-9][0-9]*"
_NUMBER_TEXT = r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?"
_EXACT_DIGITS = 15
_EXACT_INTEGER = 2**53
"""The greatest integer below which a float holds all."""
_CHANGED = {
    "nested": "a nested value became JSON text",
    "truth": "true and false became 1 and 0",
    "huge": "an integer of more than 64 bits became text",
}
_DECLARED = re.compile(r"[\w ]*(?:\([\w ,]*\))?")


@dataclass(slots=True)
class Column:
    """A column with its SQLite type (empty: values of any type)."""

    name: str
    type: str = "TEXT"
    not_null: bool = False


@dataclass(slots=True)
class ForeignKey:
    """Columns that name a row of another table."""

    columns: list[str]
    parent: str
    parent_columns: list[str]


@dataclass(slots=True)
class UserTable:
    """One table; ``rows`` reads its rows from the beginning."""

    name: str
    columns: list[Column]
    rows: Callable[[], Iterator[tuple[Value, ...]]]
    primary_key: list[str] = field(default_factory=list)
    foreign_keys: list[ForeignKey] = field(default_factory=list)


@contextmanager
def user_tables(path: Path, losses: Losses) -> Iterator[list[UserTable]]:
    """The tables at a path, a table after those that its foreign keys name; readable inside of the block.

    Raises `RagdataError` where there is nothing to read.
    """
    if not path.exists():
        raise RagdataError(f"--option tables={path}: no such file or folder")
    if path.is_file() and path.suffix.lower() in _DATABASES:
        yield from _sqlite(path, losses)
        return
    files = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
    known = (*_COLUMNAR, *_LINES)
    files = [p for p in files if p.suffix.lower() in known]
    if not files:
        raise RagdataError(f"--option tables={path}: there is no {', '.join((*_DATABASES, *known))} file")
    yield from _files(files, losses)


def _sqlite(path: Path, losses: Losses) -> Iterator[list[UserTable]]:
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    connection.text_factory = _text
    try:
        listed = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").fetchall()
        tables = []
        for kind, name, sql in listed:
            virtual = kind == "table" and str(sql).upper().startswith("CREATE VIRTUAL")
            if kind == "table" and not virtual and not name.startswith("sqlite_"):
                tables.append(_sqlite_table(connection, name, str(sql), losses))
            elif not name.startswith("sqlite_"):
                losses.add("dropped", "database", None, f"a {'virtual table' if virtual else kind} is not copied", name)
        yield _parents_first(tables, losses)
    except sqlite3.DatabaseError as error:
        raise RagdataError(f"--option tables={path}: {error}") from None
    finally:
        connection.close()


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return MendedText(data.decode("utf-8", "replace"))


def _sqlite_table(connection: sqlite3.Connection, name: str, sql: str, losses: Losses) -> UserTable:
    columns, key = [], {}
    # Hidden columns of kind 1 belong to virtual tables; 2 and 3 are computed, and copied as they are.
    for clause, example in lost_clauses(connection, name, sql):
        losses.add("lost", "database", clause, "only names, types, NOT NULL and keys of a schema are copied", example)
    for _, column, declared, not_null, _, place, hidden in connection.execute(f"PRAGMA table_xinfo({sql_name(name)})"):
        if hidden != 1:
            type_name = " ".join(str(declared or "").split())
            if not _DECLARED.fullmatch(type_name):
                why = "a type of such words is not written"
                losses.add("lost", "database", "type", why, f"{name}.{column}: {type_name}")
                type_name = ""
            columns.append(Column(column, type_name, bool(not_null)))
        if place:
            key[place] = column
    primary_key = [key[place] for place in sorted(key)]
    foreign: dict[int, ForeignKey] = {}
    for number, _, parent, child_column, parent_column, *_ in connection.execute(
        f"PRAGMA foreign_key_list({sql_name(name)})"
    ):
        found = foreign.setdefault(number, ForeignKey([], parent, []))
        found.columns.append(child_column)
        if parent_column is not None:
            found.parent_columns.append(parent_column)
    listed = ", ".join(sql_name(c.name) for c in columns)
    query = f"SELECT {listed} FROM {sql_name(name)}"
    return UserTable(name, columns, lambda: iter(connection.execute(query)), primary_key, list(foreign.values()))


def _parents_first(tables: list[UserTable], losses: Losses) -> list[UserTable]:
    """In the given order except for parents; keys to tables that are not there are left out."""
    by_name = {t.name.lower(): t for t in tables}
    ordered: dict[str, UserTable] = {}

    def place(table: UserTable, above: tuple[str, ...]) -> None:
        for key in table.foreign_keys:
            parent = by_name.get(key.parent.lower())
            if parent is not None and parent.name not in above and parent.name not in ordered:
                place(parent, (*above, parent.name))
        ordered.setdefault(table.name, table)

    for table in tables:
        for key in list(table.foreign_keys):
            if key.parent.lower() not in by_name:
                table.foreign_keys.remove(key)
                losses.add("lost", "database", "foreign key", "the table that it names is not there", key.parent)
        place(table, (table.name,))
    return list(ordered.values())


def _files(files: list[Path], losses: Losses) -> Iterator[list[UserTable]]:
    import duckdb

    with TemporaryDirectory() as scratch, memory_database({"memory_limit": "512MB"}) as connection:
        connection.execute("SET preserve_insertion_order = true")
        tables = []
        for number, path in enumerate(files):
            if path.suffix.lower() in _LINES:
                tables.append(_table_of_lines(path, losses))
                continue
            link = Path(scratch) / f"{number}{path.suffix.lower()}"  # a path with * or [ would be a pattern
            link.symlink_to(path.absolute())
            try:
                tables.append(_table_of_columns(connection, path.stem, link, losses))
            except duckdb.Error as error:
                reason = str(error).split("\n", 1)[0]
                raise RagdataError(f"--option tables: {path} cannot be read as a table: {reason}") from None
        yield tables


def _table_of_columns(connection: duckdb.DuckDBPyConnection, name: str, path: Path, losses: Losses) -> UserTable:
    import duckdb

    source = f"'{path}'"
    text_file = path.suffix != ".parquet"
    if text_file:
        options = "header = true, all_varchar = true, allow_quoted_nulls = false, max_line_size = 16777216"
        source = f"read_csv({source}, {options}{', delim = chr(9)' if path.suffix == '.tsv' else ''})"
    described = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    given = [(str(row[0]), str(row[1])) for row in described]
    if text_file:
        columns, selected = _typed_texts(connection, source, [n for n, _ in given])
    else:
        columns, selected = [], []
        for column, duckdb_type in given:
            sqlite_type, expression, changed = _of_parquet(column, duckdb_type)
            columns.append(Column(column, sqlite_type))
            selected.append(expression)
            if changed:
                losses.add("coerced", "database", "type", f"{duckdb_type} became text", f"{name}.{column}")
    query = f"SELECT {', '.join(selected)} FROM {source}"

    def rows() -> Iterator[tuple[Value, ...]]:
        cursor = connection.cursor()
        try:
            result = cursor.execute(query)
            while batch := result.fetchmany(_BATCH):
                yield from batch
        except duckdb.Error as error:
            reason = str(error).split("\n", 1)[0]
            raise RagdataError(f"--option tables: {name} cannot be read as a table: {reason}") from None

    return UserTable(name, columns, rows)


def _typed_texts(
    connection: duckdb.DuckDBPyConnection, source: str, names: list[str]
) -> tuple[list[Column], list[str]]:
    """Columns of texts, those of numbers as numbers: where the number gives the same text again, or the same value."""
    parts = []
    for name in map(sql_name, names):
        digits = rf"length(regexp_replace({name}, '[eE].*|[^0-9]', '', 'g'))"
        parts += [
            f"count({name})",
            f"count(TRY_CAST({name} AS BIGINT)) FILTER (regexp_full_match({name}, '{_INTEGER_TEXT}'))",
            f"count(*) FILTER (regexp_full_match({name}, '{_NUMBER_TEXT}') AND {digits} <= {_EXACT_DIGITS})",
        ]
    counted = connection.execute(f"SELECT {', '.join(parts)} FROM {source}").fetchone()
    columns, selected = [], []
    for place, name in enumerate(names):
        given, integers, numbers = (counted or ())[3 * place : 3 * place + 3]
        column, sqlite_type, duckdb_type = sql_name(name), "TEXT", "VARCHAR"
        if given and integers == given:
            sqlite_type, duckdb_type = "INTEGER", "BIGINT"
        elif given and numbers == given:
            sqlite_type, duckdb_type = "REAL", "DOUBLE"
        columns.append(Column(name, sqlite_type))
        selected.append(f"CAST({column} AS {duckdb_type})")
    return columns, selected


def _of_parquet(name: str, duckdb_type: str) -> tuple[str, str, bool]:
    """(SQLite's type, expression that gives such values, whether the type is another one)."""
    column = sql_name(name)
    if duckdb_type in ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"):
        return "INTEGER", column, False
    if duckdb_type == "BOOLEAN":
        return "BOOLEAN", f"CAST({column} AS TINYINT)", False
    if duckdb_type in ("FLOAT", "DOUBLE"):
        return "REAL", f"CAST({column} AS DOUBLE)", False
    if duckdb_type == "BLOB":
        return "BLOB", column, False
    if duckdb_type == "VARCHAR":
        return "TEXT", column, False
    if duckdb_type.endswith("]") or duckdb_type.startswith(("STRUCT", "MAP", "UNION")):
        return "TEXT", f"CAST(to_json({column}) AS VARCHAR)", True
    return "TEXT", f"CAST({column} AS VARCHAR)", duckdb_type not in ("DATE", "UUID")


def _table_of_lines(path: Path, losses: Losses) -> UserTable:
    types: dict[str, set[str]] = {}
    for record in _records(path):
        for name, value in record.items():
            types.setdefault(name, set()).add(_kind(value))
    if not types:
        raise RagdataError(f"--option tables: {path} has no record")
    columns = []
    for name, kinds in types.items():
        columns.append(Column(name, _sqlite_type(kinds - {"null"})))
        for kind in sorted(kinds & set(_CHANGED)):
            losses.add("coerced", "database", "type", _CHANGED[kind], f"{path.stem}.{name}")
    names = list(types)

    def rows() -> Iterator[tuple[Value, ...]]:
        for record in _records(path):
            yield tuple(_plain(record.get(n)) for n in names)

    return UserTable(path.stem, columns, rows)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    decoder = msgspec.json.Decoder(dict[str, Any])
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                try:
                    yield decoder.decode(line)
                except msgspec.DecodeError as error:
                    raise RagdataError(f"--option tables: {path}, line {number}: {error}") from None


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int):
        if -_EXACT_INTEGER <= value <= _EXACT_INTEGER:
            return "integer"
        return "long" if -(2**63) <= value < 2**63 else "huge"
    if isinstance(value, float):
        return "real"
    return "text" if isinstance(value, str) else "nested"


def _sqlite_type(kinds: set[str]) -> str:
    if kinds and kinds <= {"integer", "long", "truth"}:
        return "INTEGER"
    if kinds and kinds <= {"integer", "real", "truth"}:
        return "REAL"
    return "TEXT" if kinds <= {"text", "nested", "huge"} else ""


def _plain(value: Any) -> Value:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list | dict):
        return msgspec.json.encode(value).decode()
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return str(value)
    plain: Value = value
    return plain
