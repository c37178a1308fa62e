"""SQL that survives DataMind's loader: it cuts files at every semicolon, and SQLAlchemy takes colons for parameters.

The same tables are written as an SQLite file, too, with the values bound.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.converters.datamind.tables import Column, ForeignKey, MendedText, UserTable, Value, user_tables
from ragdatakit.converters.free_names import FreeNames
from ragdatakit.files.paths.sql_text import sql_name, sql_text
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.outputs.file_writers import LineWriter
    from ragdatakit.outputs.written_files import Output
    from ragdatakit.schemas.conversions import Losses

_UNSAFE_IN_NAMES = re.compile(r"[;:\\\x00-\x1f\x7f]")
_UNSAFE_IN_TEXTS = {";": 59, ":": 58, "\r": 13, "\x00": 0}  # \r: files are read with universal line ends
_STAND_INS = "~^|@#%$*_+=<>§¤¶"
_ROWS, _CHARACTERS = 200, 1 << 16
_KEPT = (str, int, bytes, type(None))


def write_tables(path: Path, out: Output, profile: str, name: str, losses: Losses, number: int) -> None:
    """Write the tables at a path as ``tables/NN_schema.sql``, ``tables/NN_rows.sql`` and ``storage/NAME/demo.db``.

    ``number`` is the first NN that is free. Raises `RagdataError` where SQLite refuses the tables.
    """
    with user_tables(path, losses) as found, ExitStack() as stack:
        tables = _renamed(found, losses)
        create = [create_table(t) for t in tables]
        out.write(f"{profile}/tables/{number:02}_schema.sql", "\n".join(create) + "\n")
        rows_file = None
        if any(next(t.rows(), None) is not None for t in tables):  # a file without a statement would be warned of
            rows_file = stack.enter_context(out.lines(f"{profile}/tables/{number + 1:02}_rows.sql"))
        database = stack.enter_context(out.path(f"storage/{name}/demo.db"))
        try:
            _fill(database, create, tables, rows_file, losses)
        except sqlite3.Error as error:
            raise RagdataError(f"--option tables={path}: SQLite refuses the tables: {error}") from None


def _fill(
    database: Path, create: list[str], tables: list[UserTable], rows_file: LineWriter | None, losses: Losses
) -> None:
    """Create the tables in the database, and write their rows to both places in one pass."""
    connection = sqlite3.connect(database)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        for statement in create:
            connection.execute(statement)
        for table in tables:
            places = ", ".join("?" * len(table.columns))
            insert = f"INSERT INTO {sql_name(table.name)} VALUES ({places})"
            for batch in _batches(table, losses):
                connection.executemany(insert, batch)
                if rows_file is not None:
                    rows_file.put(f"{insert_rows(table.name, batch)}\n".encode())
                    rows_file.records += len(batch)
        connection.commit()
    finally:
        connection.close()


def _batches(table: UserTable, losses: Losses) -> Iterator[list[tuple[Value, ...]]]:
    batch: list[tuple[Value, ...]] = []
    size = 0
    for row in table.rows():
        plain = tuple(v if type(v) in _KEPT else _as_sqlite_has_it(v, table.name, losses) for v in row)
        batch.append(plain)
        size += sum(len(v) for v in plain if isinstance(v, str | bytes))
        if len(batch) >= _ROWS or size > _CHARACTERS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _as_sqlite_has_it(value: Value, table: str, losses: Losses) -> Value:
    if isinstance(value, MendedText):
        losses.add("coerced", "database", "value", "bytes that are not UTF-8 became U+FFFD", f"{table}: {value}")
        return str(value)
    if isinstance(value, float) and math.isnan(value):
        losses.add("coerced", "database", "value", "NaN, which SQLite does not have, became NULL", table)
        return None
    return value


def create_table(table: UserTable) -> str:
    """The statement that creates a table."""
    lines = [" ".join(filter(None, (sql_name(c.name), c.type, "NOT NULL" * c.not_null))) for c in table.columns]
    if table.primary_key:
        lines.append(f"PRIMARY KEY ({_listed(table.primary_key)})")
    for key in table.foreign_keys:
        parents = f" ({_listed(key.parent_columns)})" if key.parent_columns else ""
        lines.append(f"FOREIGN KEY ({_listed(key.columns)}) REFERENCES {sql_name(key.parent)}{parents}")
    return f"CREATE TABLE {sql_name(table.name)} (\n  " + ",\n  ".join(lines) + "\n);"


def insert_rows(table: str, rows: Iterable[tuple[Value, ...]]) -> str:
    """The statement that inserts rows."""
    values = ",\n  ".join(f"({', '.join(map(literal, row))})" for row in rows)
    return f"INSERT INTO {sql_name(table)} VALUES\n  {values};"


def _listed(names: list[str]) -> str:
    return ", ".join(map(sql_name, names))


def literal(value: Value) -> str:
    """A value in SQL that has no semicolon, and no colon in which SQLAlchemy could see a parameter."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        return f"X'{value.hex()}'"
    if isinstance(value, str):
        return _text_literal(value)
    if isinstance(value, float) and math.isinf(value):
        return "9e999" if value > 0 else "-9e999"
    return repr(value)


def _text_literal(text: str) -> str:
    """A text; characters that would be misread are put in by SQLite: ``replace('one~ two','~',char(59))``."""
    unsafe = [c for c in _UNSAFE_IN_TEXTS if c in text]
    if ":" in unsafe and not _has_risky_colon(text):
        unsafe.remove(":")
    made = text
    calls = []
    for character in unsafe:
        stand_in = next(c for c in _candidates() if c not in made)
        made = made.replace(character, stand_in)
        calls.append(f",'{stand_in}',char({_UNSAFE_IN_TEXTS[character]}))")
    return "replace(" * len(calls) + sql_text(made) + "".join(calls)


def _candidates() -> Iterator[str]:
    """Characters to stand for others, readable ones first."""
    yield from _STAND_INS
    yield from map(chr, range(0xE000, 0xF900))


_RISKY_COLON = re.compile(r"(?<![:\w$]):|:(?=:)")


def _has_risky_colon(text: str) -> bool:
    """Whether a colon may be read as a parameter, or lose a backslash before it; ``12:30`` and ``http://`` are safe."""
    return _RISKY_COLON.search(text) is not None


def _renamed(tables: list[UserTable], losses: Losses) -> list[UserTable]:
    """The tables with names that SQL files can have: no semicolon or colon, no two alike except for case."""
    free = FreeNames(form="{}_{}", folded=str.lower)
    names: dict[str, str] = {}
    columns: dict[str, dict[str, str]] = {}
    renamed = []
    for table in tables:
        own = FreeNames(form="{}_{}", folded=str.lower)
        named = [Column(_name(c.name, own, "column", losses), c.type, c.not_null) for c in table.columns]
        renamed.append(UserTable(_name(table.name, free, "table", losses), named, table.rows))
        names.setdefault(table.name.lower(), renamed[-1].name)
        by_name = columns.setdefault(table.name.lower(), {})
        for old, new in zip(table.columns, named, strict=True):
            by_name.setdefault(old.name.lower(), new.name)

    def of(table: str, listed: list[str]) -> list[str]:
        return [columns[table.lower()].get(c.lower(), c) for c in listed]

    for table, new_table in zip(tables, renamed, strict=True):
        new_table.primary_key = of(table.name, table.primary_key)
        new_table.foreign_keys = [
            ForeignKey(of(table.name, k.columns), names[k.parent.lower()], of(k.parent, k.parent_columns))
            for k in table.foreign_keys
        ]
    return renamed


def _name(given: str, free: FreeNames, what: str, losses: Losses) -> str:
    name = _UNSAFE_IN_NAMES.sub("_", given).strip() or what
    if name.lower().startswith("sqlite_"):
        name = f"_{name}"
    name = free(name)
    if name != given:
        losses.add("coerced", "database", what, "a name that SQL files can have", f"{given} became {name}")
    return name
