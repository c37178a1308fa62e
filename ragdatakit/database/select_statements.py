"""Statements of a user: those that only read, the names in them, and what is wrong with them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import orjson

from ragdatakit.database.query_functions import FUNCTIONS, TABLE_FUNCTIONS
from ragdatakit.files.machine import refuse_little_space
from ragdatakit.files.memory_database import memory_database
from ragdatakit.files.paths.sql_text import sql_name
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import QueryError
from ragdatakit.schemas.texts import shortened

if TYPE_CHECKING:
    import duckdb

_CATALOGUE_SCHEMAS = ("information_schema", "pg_catalog")
_CATALOGUE_TABLES = ("duckdb_", "pg_", "pragma_", "sqlite_")
"""Where the database describes itself: schemas, and how the names of tables begin that are found without one."""
_ONLY_DATA = "a query sees the tables of the dataset, no settings, no files and no network"
_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
_NOWHERE = 2**64 - 1
_MOST_QUERY = 1 << 20
_MOST_NEAR, _MOST_LISTED = 3, 20
_PLACE = re.compile(r"\n+LINE (\d+): (.*)\n( *)(\^+)")
_LIKE_A_FILE = re.compile(r"[/\\]|://|\.(csv|tsv|json|jsonl|ndjson|parquet|txt|gz|db|duckdb)$")
_CAST_OF = re.compile(r"Could not convert string .* when casting from source column (.+)$")
_WORDS_OF_MEMORY = ("Out of Memory", "to allocate", "failed to pin block", "bad allocation", "max_temp_directory_size")
_TOO_DEEP = "the query is nested too deeply"
_BY_SETTING = re.compile(r"[^.]*\bUse \"?SET\b.*", re.S)
"""DuckDB's remedies that a query does not have."""
_NAME = re.compile(r"[\w\"]+(?:[-.][\w\"]+)+")
"""A name whose parts may have hyphens in them."""
_PREFIX = re.compile(r"^(?:[A-Z]\w*(?: \w+)* )?Error: ")
_WORDS = {
    "MULTI": "PIVOT needs the values that become columns: PIVOT … ON column IN ('a', 'b')",
    "EXPLAIN": "EXPLAIN is not available",
}

NO_MEMORY = "the query needs more memory than it may use; ask for less, or give it more (--memory-limit)"


@dataclass(frozen=True, slots=True)
class Select:
    """A statement that was found to only read. ``tables`` are the tables that it names, in small letters, as
    ``(dataset, schema, name)``; dataset and schema are empty where it gives none. Of ``a.b`` the schema is ``a``, which
    may as well be a dataset. ``lists_tables``: it is SHOW TABLES."""

    text: str
    tables: frozenset[tuple[str, str, str]]
    lists_tables: bool = False


def parse_select(text: str) -> Select:
    """The one statement in ``text``, which may only read. Raises `QueryError`."""
    refuse_little_space("columns")
    import duckdb

    if len(text) > _MOST_QUERY:
        raise QueryError(f"the query is longer than {_MOST_QUERY:,} characters")
    with _parser() as connection:
        try:
            text.encode()
            statements = connection.extract_statements(text)
        except UnicodeEncodeError:
            raise QueryError("the query is not Unicode text") from None
        except (duckdb.Error, ValueError) as error:
            raise error_of(error) from None
        if not statements:
            raise QueryError("the query is empty")
        if len(statements) > 1:
            raise QueryError(f"there are {len(statements)} statements; give one")
        kind = statements[0].type.name
        if kind != "SELECT":
            raise QueryError(
                _WORDS.get(kind, f"{kind.replace('_', ' ')} is not available; a query only reads: SELECT …")
            )
        answer = connection.execute("select json_serialize_sql(?::varchar)", [text]).fetchone()
    try:
        tree = orjson.loads(answer[0]) if answer else {}
    except orjson.JSONDecodeError:  # beyond 1,024 levels
        raise QueryError(_TOO_DEEP) from None
    if tree.get("error") is not False:
        raise QueryError("a query only reads: SELECT …")
    tables: set[tuple[str, str, str]] = set()
    for node in _nodes(tree):
        _refuse_node(node, text)
        if node.get("type") in ("BASE_TABLE", "SHOW_REF"):
            names = (str(node[f"{part}_name"]).lower() for part in ("catalog", "schema", "table"))
            tables.add((next(names), next(names), next(names)))
    whole = tree["statements"][0]["node"].get("from_table") or {}
    lists_tables = whole.get("type") == "SHOW_REF" and whole.get("table_name") == '"tables"'
    return Select(text, frozenset(tables), lists_tables)


def _parser() -> duckdb.DuckDBPyConnection:
    """A connection that sees no data: to open a database takes 15 ms, so one is kept."""
    return _empty_database().cursor()


@cache
def _empty_database() -> duckdb.DuckDBPyConnection:
    return memory_database({"threads": 1})


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)


def _refuse_node(node: dict[str, Any], text: str) -> None:
    kind = node.get("type")
    if isinstance(kind, str) and kind.endswith("_NODE") and kind not in _NODES:
        word = kind.removesuffix("_NODE").removesuffix("_QUERY").replace("_", " ")
        raise QueryError(f"{word} is not available; a query only reads: SELECT …")
    place = node.get("query_location", _NOWHERE)
    if kind in ("BASE_TABLE", "SHOW_REF"):
        schema, table = str(node["schema_name"]), str(node["table_name"])
        is_inner = schema.lower() in _CATALOGUE_SCHEMAS or table.strip('"').lower().startswith(_CATALOGUE_TABLES)
        if is_inner and schema.lower() != "files":
            called = f"{schema}.{table}" if schema else table
            raise _error_at(
                f"{called} is not available: {_ONLY_DATA}; SHOW TABLES lists them", text, place, len(called)
            )
    elif kind == "TABLE_FUNCTION":
        _refuse_function(str(node["function"]["function_name"]), TABLE_FUNCTIONS, text, place)
    elif "function_name" in node:
        _refuse_function(str(node["function_name"]), FUNCTIONS | TABLE_FUNCTIONS, text, place)


def _refuse_function(name: str, known: frozenset[str], text: str, place: int) -> None:
    if name.lower() in known or not re.search(r"\w", name):  # an operator
        return
    words = f"{name}() is not available: {_ONLY_DATA}"
    near = _alike(name, sorted(known))
    if near and not _has_function(name.lower()):
        words = f"there is no function {name}; did you mean {near[0]}?"
    raise _error_at(words, text, place, len(name))


@cache
def _has_function(name: str) -> bool:
    """Whether DuckDB has it; that it may be called is another thing."""
    with _parser() as connection:
        query = "select count(*) > 0 from duckdb_functions() where lower(function_name) = ?"
        found = connection.execute(query, [name]).fetchone()
        return bool(found and found[0])


def _error_at(words: str, text: str, place: int, length: int) -> QueryError:
    """``place`` counts the bytes before it."""
    if place >= len(text.encode()):
        return QueryError(words)
    before = text.encode()[:place].decode("utf-8", "ignore")
    place = len(before)
    start = before.rfind("\n") + 1
    return QueryError(words, before.count("\n") + 1, text[start:].split("\n", 1)[0], place - start, length)


def error_of(error: Exception, known: Callable[[], Iterable[str]] = list, lines_before: int = 0) -> QueryError:
    """DuckDB's error in one sentence, with its place; ``known`` gives the tables that there are."""
    if isinstance(error, UnicodeDecodeError):  # of DuckDB's error, which quotes the file
        return QueryError("it has bytes that are not UTF-8")
    text = str(error)
    place = _PLACE.search(text)
    head = text[: place.start()] if place else text
    if place is None:
        return QueryError(_message(_PREFIX.sub("", head), known))
    start, length = max(len(place[3]) - len(f"LINE {place[1]}: "), 0), len(place[4])
    message = _message(_PREFIX.sub("", head), known)
    if message.startswith("syntax error"):
        message += _in_quotes(place[2], start)
    return QueryError(message, int(place[1]) - lines_before, place[2], start, length)


def _in_quotes(line: str, start: int) -> str:
    """How the name is written that is at a place of a line; empty where it is written so, or there is none."""
    for found in _NAME.finditer(line):
        if found.start() <= start < found.end():
            right = ".".join(part if part.startswith('"') else plain_name(part) for part in found[0].split("."))
            return f"; a name with other characters than letters, digits and _ must be quoted: {right}" * (
                right != found[0]
            )
    return ""


def _message(text: str, known: Callable[[], Iterable[str]]) -> str:
    """DuckDB's words on one line, without remedies that a query does not have; what a query can do instead."""
    parts = [part.strip() for part in text.split("\n") if part.strip()]
    first = parts[0] if parts else "the query failed"
    if any(words in text for words in _WORDS_OF_MEMORY):
        return NO_MEMORY
    if any(words in first for words in ("file system operations are disabled", "disabled through configuration")):
        return _ONLY_DATA
    if first.startswith("Max expression depth"):
        return _TOO_DEEP
    if found := re.match(r'Table with name "?(.+?)"? does not exist', first):
        listed = list(known()) if not _LIKE_A_FILE.search(found[1]) else []
        more = f"there are {', '.join(listed[:_MOST_LISTED])}{', …' * (len(listed) > _MOST_LISTED)}"
        return f"{found[0]}; {more if listed else _ONLY_DATA}"  # DuckDB proposes tables of its own, too
    text = "; ".join(p.rstrip("!").replace(": : ", ": ") for p in parts[:2] if not p.startswith("Candidate functions"))
    shown = _BY_SETTING.sub("", text) or first
    shown = shortened(shown, 400)
    if column := _CAST_OF.search(first):
        return f"{shown}; compare it with text, as {column[1]} = '1', or use try_cast"
    return shown


def _alike(name: str, known: Sequence[str]) -> list[str]:
    """Those of the names that are spelt much like one, the nearest first."""
    by_name = {called.rpartition(".")[2].lower(): called for called in reversed(known)}
    close = difflib.get_close_matches(name.rpartition(".")[2].lower(), list(by_name), n=_MOST_NEAR, cutoff=0.6)
    return [by_name[one] for one in close]


def without_end(text: str) -> str:
    """A statement without the semicolons and comments at its end, so that it can be in another one."""
    import duckdb

    data = text.encode()
    end = len(data)
    for place, kind in reversed(duckdb.tokenize(text)):
        if kind.name != "comment" and data[place : place + 1] != b";":
            break
        end = place
    return data[:end].decode()


def plain_name(name: str) -> str:
    """A name as one would write it in a query: in quotes where they are needed."""
    return name if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _keywords() else sql_name(name)


@cache
def _keywords() -> frozenset[str]:
    """The words that are no names without quotes."""
    with _parser() as connection:
        query = "select keyword_name from duckdb_keywords() where keyword_category <> 'unreserved'"
        return frozenset(name for (name,) in connection.execute(query).fetchall())
