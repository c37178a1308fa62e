"""SQL of a user over one dataset: one statement that only reads, with no way to other files, the network or Python."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import orjson

from ragdatakit.schemas.errors import RagdataError
from ragdatakit.tables.canonical_frames import arrow_schema
from ragdatakit.tables.dataset_database import FILES, DatasetDatabase

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

_Result = TypeVar("_Result")

TABLE_FUNCTIONS = frozenset(
    "generate_series range unnest repeat repeat_row json_each json_tree summary test_all_types pg_timezone_names "
    "icu_calendar_names duckdb_columns duckdb_functions duckdb_keywords duckdb_schemas duckdb_tables "
    "duckdb_types duckdb_views pragma_collations pragma_show pragma_table_info pragma_version".split()
)
"""The functions that may stand in FROM: those that make their rows from what they are given, and the catalogue's."""
_NODES = frozenset(("SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE"))
_NOWHERE = 2**64 - 1
_MOST_SPILLED = "16GB"
_ROWS = 2048
_MOST_QUERY = 1 << 20
_STOP_SECONDS = 5.0
_PLACE = re.compile(r"\n+LINE (\d+): (.*)\n( *)(\^+)")
_PREFIX = re.compile(r"^(?:[A-Z]\w*(?: [A-Z]\w*)* )?Error: ")
_WORDS = {
    "MULTI": "PIVOT needs the values that become columns: PIVOT … ON column IN ('a', 'b')",
    "EXPLAIN": "EXPLAIN is not available",
}


class QueryError(RagdataError):
    """What is wrong with a query. ``excerpt`` is the line of it, ``start`` and ``length`` say where in that line, in
    characters; ``line`` is its number from 1, None where no place is known."""

    def __init__(
        self, message: str, line: int | None = None, excerpt: str = "", start: int = 0, length: int = 0
    ) -> None:
        super().__init__(message)
        self.line, self.excerpt, self.start, self.length = line, excerpt, start, length


@dataclass(frozen=True, slots=True)
class Select:
    """A statement that was found to only read. ``tables`` are the tables that it names, in small letters, as
    ``(schema, name)``; the schema is empty where it gives none."""

    text: str
    tables: frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Column:
    """A column; ``type`` is DuckDB's name of its type."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class TableFacts:
    """A table that queries can name. ``schema`` is ``main`` for the canonical tables, ``files`` for the files as they
    are; ``rows`` is None where they could not be read, and ``fault`` says why."""

    schema: str
    name: str
    columns: tuple[Column, ...]
    rows: int | None
    fault: str = ""

    @property
    def called(self) -> str:
        """What it is called in a query."""
        name = self.name if self.name.isidentifier() else quoted(self.name)
        return name if self.schema == "main" else f"{self.schema}.{name}"


def parse_select(text: str) -> Select:
    """The one statement in ``text``, which may only read. Raises `QueryError`."""
    import duckdb

    if len(text) > _MOST_QUERY:
        raise QueryError(f"the query is longer than {_MOST_QUERY:,} characters")
    with duckdb.connect(config=_settings()) as connection:
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
        told = connection.execute("select json_serialize_sql(?::varchar)", [text]).fetchone()
    tree = orjson.loads(told[0]) if told else {}
    if tree.get("error") is not False:
        raise QueryError("a query only reads: SELECT …")
    tables: set[tuple[str, str]] = set()
    for node in _nodes(tree):
        _refuse_node(node, text)
        if node.get("type") == "BASE_TABLE":
            tables.add((str(node["schema_name"]).lower(), str(node["table_name"]).lower()))
    return Select(text, frozenset(tables))


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
    if kind == "TABLE_FUNCTION":
        function = node["function"]["function_name"]
        if str(function).lower() not in TABLE_FUNCTIONS:
            words = f"{function}() is not available: a query sees the tables of the dataset, no files and no network"
            raise _error_at(words, text, node.get("query_location", _NOWHERE), len(str(function)))


def _error_at(words: str, text: str, place: int, length: int) -> QueryError:
    """``place`` counts the bytes before it."""
    if place >= len(text.encode()):
        return QueryError(words)
    before = text.encode()[:place].decode("utf-8", "ignore")
    place = len(before)
    start = before.rfind("\n") + 1
    return QueryError(words, before.count("\n") + 1, text[start:].split("\n", 1)[0], place - start, length)


def error_of(error: Exception, known: Iterable[str] = (), lines_before: int = 0) -> QueryError:
    """DuckDB's error in one sentence, with its place; ``known`` are the tables that there are."""
    told = str(error)
    place = _PLACE.search(told)
    head = told[: place.start()] if place else told
    message = _message(_PREFIX.sub("", head), tuple(known))
    if place is None:
        return QueryError(message)
    shift = len(f"LINE {place[1]}: ")
    line = int(place[1]) - lines_before
    return QueryError(message, line, place[2], max(len(place[3]) - shift, 0), len(place[4]))


def _message(told: str, known: Sequence[str]) -> str:
    parts = [part.strip() for part in told.split("\n") if part.strip()]
    first = parts[0] if parts else "the query failed"
    if found := re.match(r'Table with name "?(.+?)"? does not exist', first):
        return _no_table(found[1], known)
    names = (
        re.match(r'Referenced column "(.+)" not found', first)
        or re.match(r'Referenced table "(.+)" not found', first)
        or re.match(r'Table ".+" does not have a column named "(.+)"', first)
    )
    if names:
        what = "table" if first.startswith("Referenced table") else "column"
        near = [n for part in parts[1:] if part.startswith("Candidate") for n in re.findall(r'"([^"]+)"', part)]
        return f"there is no {what} {names[1]}" + (f"; did you mean {' or '.join(near[:3])}?" if near else "")
    if found := re.match(r"(?:Scalar|Table|Aggregate)? ?Function with name (.+) does not exist", first):
        near = [n for part in parts[1:] if part.startswith("Did you mean") for n in re.findall(r'"([^"]+)"', part)]
        return f"there is no function {found[1]}" + (f"; did you mean {near[0]}?" if near else "")
    if "Out of Memory" in told or first.startswith("failed to allocate") or "max_temp_directory_size" in told:
        return "the query needs more memory than it may use; ask for less, or give it more (--memory-limit)"
    if "file system operations are disabled" in first or "disabled through configuration" in first:
        return "a query sees the tables of the dataset, no files and no network"
    if "configuration has been locked" in first:
        return "settings cannot be changed in a query"
    shown = " ".join(part for part in parts[:2] if not part.startswith("Candidate functions"))
    return (shown if len(shown) <= 400 else f"{shown[:399]}…").rstrip("!")


def _no_table(name: str, known: Sequence[str]) -> str:
    import difflib

    if re.search(r"[/\\]|://|\.(csv|tsv|json|jsonl|ndjson|parquet|txt|gz|db|duckdb)$", name):
        return f"there is no table {name}: a query sees the tables of the dataset, no files and no network"
    bare = {called.rpartition(".")[2].strip('"').lower(): called for called in reversed(known)}
    bare |= {called.lower(): called for called in known}
    near = [bare[n] for n in difflib.get_close_matches(name.lower(), list(bare), n=3, cutoff=0.6)]
    if same := bare.get(name.lower().rpartition(".")[2]):
        near = [same, *near]
    near = list(dict.fromkeys(near))
    if near:
        return f"there is no table {name}; did you mean {' or '.join(near)}?"
    return f"there is no table {name}; there are {', '.join(known)}" if known else f"there is no table {name}"


class QueryResult:
    """The rows of a query, which come as they are asked for, once.

    ``columns`` are its columns. `rows` gives lists of tuples of Python values, `batches` Arrow record batches. Both
    raise `QueryError` for what goes wrong on the way, and where the time is over.
    """

    def __init__(self, connection: duckdb.DuckDBPyConnection, text: str, worker: _Worker) -> None:
        self._connection, self._text, self._worker = connection, text, worker
        self._relation = worker.call(lambda: connection.sql(text))
        kinds = zip(self._relation.columns, self._relation.types, strict=True)
        self.columns = tuple(Column(str(name), str(kind).strip('"')) for name, kind in kinds)

    def rows(self) -> Iterator[list[tuple[Any, ...]]]:
        """The rows, some at a time."""
        cursor = self._worker.call(lambda: self._connection.execute(self._text))
        while chunk := self._worker.call(lambda: cursor.fetchmany(_ROWS)):
            yield chunk

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows as Arrow record batches; first an empty one, which has the schema."""
        import pyarrow as pa

        reader: Any = self._worker.call(lambda: self._relation.to_arrow_reader(1 << 16))
        yield pa.RecordBatch.from_pylist([], schema=reader.schema)
        while (batch := self._worker.call(lambda: next(reader, None))) is not None:
            yield batch


class SafeQueries:
    """What a user may ask of a dataset.

    `tables` tells what there is; `run` runs one query. The tables that the query names are filled before, nothing else;
    after it the database takes no further tables. ``timeout`` is in seconds, from the start of the query itself.
    """

    def __init__(self, database: DatasetDatabase, timeout: float | None = None) -> None:
        self._database, self._timeout = database, timeout
        self._connection = database.load()

    def names(self) -> list[str]:
        """What the tables are called in a query."""
        files = [TableFacts(FILES, view, (), None).called for view in self._database.views]
        return [*self._database.tables, *files]

    def tables(self) -> Iterator[TableFacts]:
        """All tables with their columns and how many rows they have: everything is read."""
        import duckdb

        for table in self._database.tables:
            count = self._database.rows(table)
            yield TableFacts("main", table, self._columns("main", table), count)
        for view in self._database.views:
            count_view = f"select count(*) from {FILES}.{quoted(view)}"
            try:
                found = self._connection.execute(count_view).fetchone()
                yield TableFacts(FILES, view, self._columns(FILES, view), found[0] if found else 0)
            except duckdb.Error as error:
                yield TableFacts(FILES, view, self._columns(FILES, view), None, str(error_of(error)))

    def run(self, text: str) -> QueryResult:
        """The result of the one statement in ``text``, which may only read. Raises `QueryError` where it is not that,
        or cannot be done."""
        select = parse_select(text)
        worker = _Worker(self._connection, self._timeout, self.names())
        self._check_names(select)
        self._fill(select)
        self._lock()
        worker.start()
        return QueryResult(self._connection, select.text, worker)

    def _columns(self, schema: str, table: str) -> tuple[Column, ...]:
        import duckdb

        try:
            described = self._connection.execute(f"describe {schema}.{quoted(table)}").fetchall()
        except duckdb.Error:
            return ()
        return tuple(Column(str(name), str(kind)) for name, kind, *_ in described)

    def _check_names(self, select: Select) -> None:
        """Bind the query to empty tables: what is wrong with it is told before anything is read."""
        import duckdb

        with duckdb.connect(config=_settings()) as shadow:
            shadow.execute(f"create schema {FILES}")
            for table in self._database.tables:
                _create_empty(shadow, table)
            for view in self._database.views:
                columns = self._columns(FILES, view) if (FILES, view.lower()) in select.tables else ()
                columns = columns or (Column("unread", "INTEGER"),)
                listed = ", ".join(f"{quoted(c.name)} {c.type}" for c in columns)
                shadow.execute(f"create table {FILES}.{quoted(view)} ({listed})")
            _lock(shadow)
            worker = _Worker(shadow, self._timeout, self.names(), lines_before=1)
            worker.start()
            worker.call(lambda: shadow.execute(f"explain\n{select.text}").fetchall())

    def _fill(self, select: Select) -> None:
        """Fill the tables that the query names; the others are there without rows."""
        worker = _Worker(self._connection, None, ())
        for table in self._database.tables:
            if {("", table), ("main", table)} & select.tables:
                self._database.load(table)
            else:
                _create_empty(self._connection, table)
        for view in self._database.views:
            if (FILES, view.lower()) in select.tables:
                name = f"{FILES}.{quoted(view)}"
                filling = f"create table {FILES}.filled_view as from {name}"
                try:
                    worker.call(lambda filling=filling: self._connection.execute(filling))  # type: ignore[misc]
                except QueryError as error:
                    words = f"{TableFacts(FILES, view, (), None).called} cannot be read: {error}"
                    raise QueryError(words) from None
                self._connection.execute(f"drop view {name}")
                self._connection.execute(f"alter table {FILES}.filled_view rename to {quoted(view)}")

    def _lock(self) -> None:
        _lock(self._connection)
        self._connection.execute("begin transaction read only")


def _settings() -> dict[str, Any]:
    return {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false", "threads": "1"}


def _create_empty(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    connection.register("no_rows", arrow_schema(table).empty_table())
    connection.execute(f"create table if not exists main.{quoted(table)} as from no_rows")
    connection.unregister("no_rows")


def _lock(connection: duckdb.DuckDBPyConnection) -> None:
    """Nothing but what is in the database can be reached any more, and this cannot be changed."""
    known = {name for (name,) in connection.execute("select name from duckdb_settings()").fetchall()}
    wanted = {
        "enable_progress_bar": "false",
        "max_temp_directory_size": f"'{_MOST_SPILLED}'",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "python_enable_replacements": "false",
        "python_enable_replacement_scans": "false",
        "enable_external_access": "false",
    }
    for name, value in wanted.items():
        if name in known:
            connection.execute(f"set {name} = {value}")
    connection.execute("set lock_configuration = true")


class _Worker:
    """Runs what asks the database in a thread, so that Ctrl-C and a timeout stop it: DuckDB looks for neither."""

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        timeout: float | None,
        known: Iterable[str],
        lines_before: int = 0,
    ) -> None:
        self._connection, self._timeout, self._known = connection, timeout, tuple(known)
        self._lines_before = lines_before
        self._end: float | None = None

    def start(self) -> None:
        """From now on the time counts."""
        self._end = None if self._timeout is None else time.monotonic() + self._timeout

    def call(self, function: Callable[[], _Result]) -> _Result:
        """What ``function`` returns. Raises `QueryError`, `KeyboardInterrupt`."""
        import duckdb

        found: list[_Result] = []
        raised: list[BaseException] = []
        done = threading.Event()

        def work() -> None:
            try:
                found.append(function())
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                raised.append(error)
            finally:
                done.set()

        threading.Thread(target=work, daemon=True).start()
        try:  # an event, as a thread counts as ended once waiting for it is interrupted
            in_time = done.wait(None if self._end is None else max(self._end - time.monotonic(), 0))
        except BaseException:
            self._stop(done)
            raise
        if not in_time:
            self._stop(done)
            raise QueryError(f"the query was stopped after {self._timeout:g} s (--timeout)")
        if raised:
            if isinstance(raised[0], duckdb.Error):
                raise error_of(raised[0], self._known, self._lines_before) from None
            raise raised[0]
        return found[0]

    def _stop(self, done: threading.Event) -> None:
        end = time.monotonic() + _STOP_SECONDS
        while not done.is_set() and time.monotonic() < end:
            self._connection.interrupt()
            done.wait(0.05)


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
