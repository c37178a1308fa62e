"""What the schema of an SQLite table says that is not copied for DataMind: defaults, conditions and the like."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from ragdatakit.files.paths.sql_text import sql_name

_QUOTED = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|/\*.*?(?:\*/|\Z)""", re.DOTALL
)
_CLAUSES = {
    "CHECK": re.compile(r"\bCHECK\b", re.IGNORECASE),
    "COLLATE": re.compile(r"\bCOLLATE\b", re.IGNORECASE),
    "AUTOINCREMENT": re.compile(r"\bAUTOINCREMENT\b", re.IGNORECASE),
    "ON CONFLICT": re.compile(r"\bON\s+CONFLICT\b", re.IGNORECASE),
    "DEFERRABLE": re.compile(r"\bDEFERRABLE\b", re.IGNORECASE),
    "WITHOUT ROWID": re.compile(r"\bWITHOUT\s+ROWID\b[^()]*\Z", re.IGNORECASE),
    "STRICT": re.compile(r"\)[^()]*\bSTRICT\b[^()]*\Z", re.IGNORECASE),
}


def lost_clauses(connection: sqlite3.Connection, table: str, sql: str) -> Iterator[tuple[str, str]]:
    """(clause, where it is): one for each column with a default or a formula, each unique index, each word."""
    for _, column, _, _, default, _, hidden in connection.execute(f"PRAGMA table_xinfo({sql_name(table)})"):
        if hidden in (2, 3):
            yield "GENERATED", f"{table}.{column}"
        elif default is not None:
            yield "DEFAULT", f"{table}.{column}: {default}"
    for _, index, _, origin, *_ in connection.execute(f"PRAGMA index_list({sql_name(table)})").fetchall():
        if origin == "u":
            names = [str(row[2]) for row in connection.execute(f"PRAGMA index_info({sql_name(index)})")]
            yield "UNIQUE", f"{table}: {', '.join(names)}"
    actions = {row[0]: row[5:7] for row in connection.execute(f"PRAGMA foreign_key_list({sql_name(table)})")}
    for on_update, on_delete in actions.values():
        for event, action in (("UPDATE", on_update), ("DELETE", on_delete)):
            if action != "NO ACTION":
                yield f"ON {event}", f"{table}: {action}"
    words = _QUOTED.sub(lambda found: " " if found[0][0] in "-/" else '""', sql)
    for clause, pattern in _CLAUSES.items():
        for _ in pattern.finditer(words):
            yield clause, table
