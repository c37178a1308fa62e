"""SQL files tried in a database that lives in memory, cannot reach the disk and stops when it takes too long."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator

from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.findings import Problem
from ragdatakit.validators.datamind.sql import Lines, Statement, as_run, statements
from ragdatakit.validators.excerpts import visible

STEPS = 100_000
"""Instructions of SQLite's machine between two looks at the clock."""

SECONDS, STATEMENT_STEPS = 20.0, 2_000
MEMORY_BYTES = 128 << 20
_TOO_MUCH = {
    "interrupted": "the statement takes longer",
    "database or disk is full": "the tables take more memory",
    "out of memory": "the statement takes more memory",
    "string or blob too big": "the statement makes a bigger value",
    "query string is too large": "the statement is longer",
}
_SKIPPED = frozenset({"ATTACH", "DETACH", "VACUUM"})
_DENIED = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH})
_CREATES = re.compile(
    r"\s*CREATE\s+(?:TEMP(?:ORARY)?\s+)?(?:VIRTUAL\s+)?(?:TABLE|VIEW)\s+(?:IF\s+NOT\s+EXISTS\s+)?(.+)", re.I | re.S
)
_NAME = re.compile(r'(?:(?:main|temp)\s*\.\s*)?(?:"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|(\w+))', re.I)
_NO_TABLE = re.compile(r"no such table: (?:main\.)?(.+)")
_FOREIGN = re.compile(
    r"\bAUTO_INCREMENT\b|\bENGINE\s*=|::\s*\w+|\b(?:DEFAULT\s+)?CHARSET\s*=|\bUNSIGNED\b|\bENUM\s*\(|\bON\s+DUPLICATE\s+KEY\b"
    r"|\bIDENTITY\s*\(|\bnextval\s*\(|\bFROM\s+stdin\b|\bOWNER\s+TO\b|\bCOMMENT\s+'|\bNOW\s*\(\s*\)|\bGETDATE\s*\(\s*\)"
    r"|\bSYSDATE\b|\bNVARCHAR\s*\(\s*MAX\s*\)|\bE'",
    re.I,
)
_FOREIGN_VERBS = frozenset(
    {
        "USE",
        "SET",
        "LOCK",
        "UNLOCK",
        "COPY",
        "TRUNCATE",
        "GRANT",
        "REVOKE",
        "GO",
        "SHOW",
        "DESCRIBE",
        "CALL",
        "DELIMITER",
    }
)
_FOREIGN_CREATES = frozenset({"DATABASE", "SCHEMA", "SEQUENCE", "TYPE", "EXTENSION", "FUNCTION", "PROCEDURE", "ROLE"})


@dataclass(slots=True)
class Waiting:
    """A statement that needs a table which does not exist yet: a later file may create it."""

    file_name: str
    table: str
    problem: Problem


class TrialDatabase:
    """Runs the files of one profile one after the other, as DataMind does.

    Call `run` for each file in the order of their names, then `waiting` gives the tables that came too late.
    """

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("PRAGMA temp_store = MEMORY")
        self._connection.execute(f"PRAGMA max_page_count = {MEMORY_BYTES // 4096}")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MEMORY_BYTES)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_authorizer(_authorize)
        self._connection.set_progress_handler(self._check_time, STEPS)
        self._steps = 0
        self._deadline = time.monotonic() + SECONDS
        self._stopped = False
        self._broken: set[str] = set()
        self._created: dict[str, str] = {}
        self._waiting: list[Waiting] = []

    def close(self) -> None:
        """Free the database."""
        self._connection.close()

    def _check_time(self) -> int:
        self._steps += 1
        return int(self._steps > STATEMENT_STEPS or time.monotonic() > self._deadline)

    def run(self, file_name: str, sql: str) -> Iterator[Problem]:
        """Run one file; yields what SQLite refuses. A fault is reported once, not for all that follows from it."""
        lines = Lines(sql)
        for statement in statements(sql):
            if self._stopped:
                return
            if statement.verb in _SKIPPED or not statement.words:
                continue
            problem = self._try(statement, *as_run(sql, statement), file_name)
            if problem is not None:
                problem.line, problem.position = lines.place(statement.first)
                if not self._waiting or self._waiting[-1].problem is not problem:
                    yield problem

    def _try(self, statement: Statement, text: str, has_parameter: bool, file_name: str) -> Problem | None:
        creates = created_table(text)
        self._steps = 0
        try:
            self._connection.execute(text)
        except sqlite3.Error as error:
            if creates:
                self._broken.add(creates)
            bound = has_parameter and str(error).startswith("Incorrect number of bindings")
            return None if bound else self._refused(statement, text, str(error), file_name)
        except (ValueError, sqlite3.Warning) as error:  # a NUL character; a lone surrogate
            return Problem("failing-statement", facts={"reason": visible(str(error))})
        if creates:
            self._created.setdefault(creates, file_name)
        return None

    def _refused(self, statement: Statement, text: str, reason: str, file_name: str) -> Problem | None:
        if reason in _TOO_MUCH:
            self._stopped = True
            return Problem("unchecked-sql", facts={"reason": f"{_TOO_MUCH[reason]} than ragdata allows"})
        if reason.startswith(("not authorized", "unknown database", "too many attached")):
            return None
        problem = _describe(statement, text, reason)
        missing = _NO_TABLE.fullmatch(reason)
        if missing is None:
            return problem
        table = missing.group(1).lower()
        if table not in self._broken:
            self._broken.add(table)
            problem.facts["table"] = visible(missing.group(1))
            self._waiting.append(Waiting(file_name, table, problem))
            return problem
        return None

    def waiting(self) -> Iterator[tuple[str, Problem]]:
        """(file name, problem) for statements whose table was missing, now that all files were run."""
        for item in self._waiting:
            later = self._created.get(item.table)
            if later is not None and later != item.file_name:
                item.problem = Problem(
                    "used-before-created",
                    facts={"table": item.problem.facts["table"], "other": later},
                    line=item.problem.line,
                    position=item.problem.position,
                )
            yield item.file_name, item.problem

    def row_problems(self) -> Iterator[tuple[str, Problem]]:
        """(file name that created the table, problem) for rows that SQLite takes though they do not fit."""
        if self._stopped:
            return
        self._connection.set_authorizer(None)
        for table, file_name in self._created.items():
            self._steps = 0
            try:
                yield from ((file_name, p) for p in self._orphans(table))
                yield from ((file_name, p) for p in self._texts(table))
            except sqlite3.Error:
                # A foreign key that names no table or no key: SQLite itself cannot check it.
                continue

    def _orphans(self, table: str) -> Iterator[Problem]:
        counts: dict[str, int] = {}
        for row in self._connection.execute(f"PRAGMA foreign_key_check({sql_name(table)})"):
            counts[row[2]] = counts.get(row[2], 0) + 1
        for parent, count in counts.items():
            facts = {"count": f"{count:,}", "table": visible(table), "parent": visible(parent)}
            yield Problem("orphan-row", facts=facts)

    def _texts(self, table: str) -> Iterator[Problem]:
        columns = self._connection.execute(f"PRAGMA table_info({sql_name(table)})").fetchall()
        for _, name, declared, *_ in columns:
            if _is_numeric(declared):
                found = self._connection.execute(
                    f"SELECT {sql_name(name)} FROM {sql_name(table)} WHERE typeof({sql_name(name)}) = 'text' LIMIT 1"
                ).fetchone()
                if found:
                    facts = {"column": visible(name), "table": visible(table), "type": visible(declared)}
                    yield Problem("text-in-number-column", value=found[0], facts=facts)


def _describe(statement: Statement, text: str, reason: str) -> Problem:
    facts = {"reason": visible(reason)}
    if "syntax error" in reason or "no such function" in reason or "unrecognized token" in reason:
        token = foreign_token(statement, text)
        if token:
            return Problem("other-sql-dialect", facts={**facts, "token": visible(token)})
    return Problem("failing-statement", facts=facts)


def _authorize(action: int, first: str | None, second: str | None, database: str | None, source: str | None) -> int:
    """No other databases, no extensions; PRAGMAs do nothing (a dump's `foreign_keys` and the like are harmless so)."""
    if action in _DENIED or (action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension"):
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_IGNORE
    return sqlite3.SQLITE_OK


def created_table(sql: str) -> str | None:
    """The table or view that a statement creates, in lower case."""
    found = _CREATES.match(_without_comments(sql[:4096]))
    name = _NAME.match(found.group(1)) if found else None
    return next((g for g in name.groups() if g is not None), "").lower() if name else None


def _without_comments(sql: str) -> str:
    return re.sub(r"\A(?:\s|\ufeff|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))+", "", sql, flags=re.S)


def foreign_token(statement: Statement, text: str) -> str | None:
    """What shows that a statement was written for another database than SQLite."""
    if statement.verb in _FOREIGN_VERBS:
        return statement.verb
    if statement.verb == "CREATE" and len(statement.words) > 1 and statement.words[1].upper() in _FOREIGN_CREATES:
        return f"CREATE {statement.words[1].upper()}"
    found = _FOREIGN.search(text)
    return found.group() if found else None


def _is_numeric(declared: str | None) -> bool:
    """Whether SQLite's affinity of a declared type is INTEGER or REAL, and no text or date hides in it."""
    name = (declared or "").upper()
    if any(part in name for part in ("CHAR", "CLOB", "TEXT", "BLOB", "DATE", "TIME")):
        return False
    return any(part in name for part in ("INT", "REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL"))
