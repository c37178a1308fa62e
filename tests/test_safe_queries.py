"""SQL of a user reads the tables of a dataset and nothing else, says where it is wrong, and can be stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.database.safe_queries import SafeQueries
from ragdatakit.database.select_statements import parse_select
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.errors import QueryError
from tests.broad import ALL
from tests.conversion_tools import tables_of

python_table = pa.table({"a": [1]})


TABLES = tables_of(
    documents=[Document("d1", "the reef"), Document("d2", "the harbour", "Harbour")],
    questions=[Question("q1", "where?")],
    qrels=[Qrel("q1", "d2")],
)


@pytest.fixture
def database() -> Iterator[DatasetDatabase]:
    with DatasetDatabase(TABLES) as made:
        yield made


@pytest.fixture(scope="module")
def shared_database() -> Iterator[DatasetDatabase]:
    with DatasetDatabase(TABLES) as made:
        yield made


def rows(database: DatasetDatabase, sql: str) -> list[tuple[object, ...]]:
    return [row for chunk in SafeQueries(database).run(sql).rows() for row in chunk]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select doc_id from documents order by 1", [("d1",), ("d2",)]),
        ("FROM main.Documents SELECT doc_id WHERE title IS NOT NULL;", [("d2",)]),
        ("with x as (from qrels) select d.title from x join documents d on d.doc_id = x.target_id", [("Harbour",)]),
        ("values (1), (2)", [(1,), (2,)]),
        ("select count(*) from generate_series(1, 5)", [(5,)]),
        ("select 1; -- a comment", [(1,)]),
        ("select (select count(*) from questions), exists (from documents)", [(1, True)]),
        ("show tables", [("documents",), ("qrels",), ("questions",)]),
        ("select count(*) from (describe documents)", [(4,)]),
        (
            'select row_number() over (order by doc_id), "user" from (select *, 1 as "user" from documents) limit 1',
            [(1, 1)],
        ),
        ("select [x + 1 for x in [1, 2] if x > 1], 'a' similar to 'a|b', coalesce(null, 2), 3!", [([3], True, 2, 6)]),
        ("select extract(year from date '2020-01-01'), 'abc'[2:], {'a': 1}.a, 'A' ilike 'a'", [(2020, "bc", 1, True)]),
        ("select 'x'.upper(), interval 3 days = to_days(3), 5 between 1 and 9", [("X", True, True)]),
        ("select '{\"a\": [1]}'->'$.a'->>0, 'ä' collate noaccent = 'a', trim(both ' ' from ' x ')", [("1", True, "x")]),
        ("select timestamp '2020-01-01' at time zone 'UTC' is not null, position('b' in 'ab')", [(True, 2)]),
        (
            "select try('x'::int), try_cast('x' as int), case when true then 1 end, 1 is distinct from 2",
            [(None, None, 1, True)],
        ),
        ("select unnest([1, 2]) as n order by all", [(1,), (2,)]),
        ("select grouping(doc_id) from documents group by rollup (doc_id) order by 1 limit 1", [(0,)]),
        ("select first_value(n) over w, lag(n) over w from range(1) t(n) window w as (order by n)", [(0, None)]),
        (
            "select list(n order by n desc), max(n) filter (n < 1), quantile_cont(n, 0.5) from range(2) t(n)",
            [([1, 0], 0, 0.5)],
        ),
        ("select columns('doc.*') from documents order by 1 limit 1", [("d1",)]),
        ("select cardinality(map {'a': 1}), printf('%d', 3), strftime(date '2020-01-02', '%d')", [(1, "3", "02")]),
        (
            "select list_transform([1], lambda x: x + 1), 7 // 2, 2 ** 3, ~1, 1 in (1, 2), 'a' || 'b'",
            [([2], 3, 8, -2, True, "ab")],
        ),
        ("select 'x' as documents from (values (1)) documents(a)", [("x",)]),
        ("select d1 from (pivot documents on doc_id in ('d1') using count(*)) where title is null", [(1,)]),
    ],
)
def test_what_only_reads_is_answered(database: DatasetDatabase, sql: str, expected: list[tuple[object, ...]]) -> None:
    assert rows(database, sql) == expected


def test_only_the_tables_that_are_named_are_filled(database: DatasetDatabase) -> None:
    assert rows(database, "select count(*) from qrels") == [(1,)]
    filled = [table for table in database.tables if table in database._loaded]
    assert filled == ["qrels"]


REFUSED = (
    "create table x as select 1",
    "create temp table x as select 1",
    "create macro f(a) as a",
    "insert into documents values ('x', 'y')",
    "update documents set text = ''",
    "delete from documents",
    "drop table documents",
    "alter table documents add column x int",
    "truncate documents",
    "copy documents to '{out}/a.csv'",
    "copy (select 1) to '{out}/a.parquet'",
    "copy documents from '{secret}'",
    "export database '{out}/all'",
    "import database '{out}'",
    "attach '{out}/a.db'",
    "detach memory",
    "use main",
    "install httpfs",
    "load httpfs",
    "force install fts",
    "set threads = 1",
    "set enable_external_access = true",
    "reset lock_configuration",
    "set variable a = 1",
    "pragma version",
    "pragma database_list",
    "call pragma_version()",
    "call enable_logging()",
    "begin",
    "commit",
    "rollback",
    "checkpoint",
    "vacuum",
    "analyze",
    "prepare v as select 1",
    "execute v",
    "deallocate v",
    "explain analyze delete from documents",
    "create secret (type s3)",
    "comment on table documents is 'x'",
    "select 1; select 2",
    "select 1; drop table documents",
    "pivot documents on doc_id",
    "with a as (insert into documents values ('x', 'y') returning *) from a",
    "with a as (delete from documents returning *) from a",
    "with a as (update documents set text = '' returning *) from a",
    "with a as (copy documents to '{out}/b.csv') select 1",
    "select * from (with b as (delete from documents returning *) from b)",
    "from read_csv('{secret}')",
    "from '{secret}'",
    'from "{secret}"',
    "select * from documents where text in (select content from read_text('{secret}'))",
    "from read_text('{secret}')",
    "from READ_BLOB('{secret}')",
    "from system.main.read_blob('{secret}')",
    "from read_json('/proc/self/environ')",
    "from read_parquet('https://example.org/a.parquet')",
    "from 'https://example.org/a.csv'",
    "from parquet_metadata('{secret}')",
    "from sniff_csv('{secret}')",
    "from read_duckdb('{secret}', table_name = 'x')",
    "from glob('*')",
    "from glob('/etc/*')",
    "from query('copy documents to ''{out}/c.csv''')",
    "from query('from read_text(''{secret}'')')",
    "from query_table('documents')",
    "from json_execute_serialized_sql(json_serialize_sql('select 1'))",
    "from enable_logging('QueryLog', storage = 'file', storage_path = '{out}/logs')",
    "from enable_profiling(save_location = '{out}/profile.json')",
    "from create_external_resource('x')",
    "from register_external_resource('x', 'y')",
    "from duckdb_secrets()",
    "from duckdb_settings()",
    "from duckdb_temporary_files()",
    "from checkpoint()",
    "from arrow_scan(1, 2, 3)",
    "from arrow_scan_dumb()",
    "from pandas_scan()",
    "from python_map_function((select 1))",
    "from seq_scan()",
    "from python_table",
    "select getenv('HOME')",
    "from pg_catalog.pg_settings",
    "from pg_settings",
    'from "PG_Settings"',
    "from system.pg_catalog.pg_settings",
    "with pg_settings as (select 1) from pg_settings",
    "from (with pg_settings as (select 1) from pg_settings), pg_settings",
    "describe pg_settings",
    "show pg_settings",
    "summarize pg_catalog.pg_settings",
    "from information_schema.tables",
    "from INFORMATION_SCHEMA.columns",
    "from system.information_schema.schemata",
    "from sqlite_master",
    "from duckdb_logs",
    "from system.main.duckdb_logs",
    "from pragma_database_list",
    "from duckdb_tables()",
    "from duckdb_functions()",
    "from duckdb_logs_parsed('x')",
    "from pragma_version()",
    "from pragma_platform()",
    "from pragma_user_agent()",
    "from pg_timezone_names()",
    "from histogram(documents, text)",
    "select current_setting('temp_directory')",
    "select CURRENT_SETTING('home_directory')",
    "select system.main.current_setting('temp_directory')",
    "select 'temp_directory'.current_setting()",
    "select list_transform(['temp_directory'], lambda x: current_setting(x))",
    "select * from documents order by current_setting('temp_directory')",
    "select count(*) filter (current_setting('temp_directory') > '') from documents",
    "select max(current_setting('threads')) over () from documents",
    "from range(length(current_setting('temp_directory')))",
    "with a as materialized (select current_setting('temp_directory')) from a",
    "values (current_setting('temp_directory'))",
    "from documents limit (select length(current_setting('temp_directory')))",
    "select * replace (current_setting('temp_directory') as text) from documents",
    "select getvariable('a')",
    "select version()",
    "select current_query()",
    "select current_database()",
    "select current_schemas(true)",
    "select pg_sleep(1)",
    "select sleep_ms(1)",
    "select pg_postmaster_start_time()",
    "select inet_server_addr()",
    "select has_table_privilege('documents', 'select')",
    "select write_log('x')",
    "select nextval('x')",
    "select setseed(0.1)",
    "select json_serialize_plan('select 1')",
    "select txid_current()",
    "select list_aggregate(['temp_directory'], 'current_setting')",
    "select * from documents, lateral (from read_text(doc_id))",
    "select [x for x in (from glob('*'))]",
    "",
    "  ;;  ",
    "-- nothing",
    "select '\ud800'",
    "select " + "(" * 5000 + "1" + ")" * 5000,
    "select " + "1," * 600_000 + "1",
)


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_what_does_more_than_read_is_refused(shared_database: DatasetDatabase, tmp_path: Path, number: int) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    (tmp_path / "out").mkdir()
    sql = REFUSED[number].replace("{secret}", str(secret)).replace("{out}", str(tmp_path / "out"))

    with pytest.raises(QueryError) as caught:
        rows(shared_database, sql)

    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert sorted(tmp_path.rglob("*")) == [tmp_path / "out", secret]
    assert shared_database.load("documents").execute("select count(*) from documents").fetchall() == [(2,)]


def test_what_the_database_tells_of_itself_is_refused(shared_database: DatasetDatabase) -> None:
    """Of whatever version of DuckDB: all its tables, and what its functions are called that tell of it."""
    asked = shared_database.load()
    views = asked.execute("select schema_name, view_name from duckdb_views() where internal").fetchall()
    functions = asked.execute(
        "select distinct function_name from duckdb_functions() where regexp_matches(function_name, "
        "'^(pg_|duckdb_|pragma_|read_|current_(setting|user|query|database|role)|getvariable|getenv|glob|version|query)')"
    ).fetchall()
    assert len(views) > 20 and len(functions) > 50
    of_views = ("from {}.{}", "from system.{}.{}", "describe {}.{}")
    of_functions = ("from {}('x')", "select {}('x')", "select max({}('x')) over ()")
    for forms, named in ((of_views, views), (of_functions, functions)):
        for number, names in enumerate(named):
            for sql in forms if ALL else (forms[number % len(forms)],):
                with pytest.raises(QueryError, match="is not available"):
                    parse_select(sql.format(*names))


def test_settings_are_locked_beyond_what_the_statement_says(database: DatasetDatabase) -> None:
    """The parser is the first wall; the database itself is the second one."""
    queries = SafeQueries(database)
    queries.run("select 1")
    connection = database.load()
    for sql in ("set enable_external_access = true", "from read_text('/etc/hostname')", "from glob('/*')"):
        with pytest.raises(Exception, match=r"locked|disabled"):
            connection.execute(sql)


@pytest.mark.parametrize(
    ("sql", "message", "place"),
    [
        ("select txt from documents", 'column "txt" not found in FROM clause; Candidate bindings: "text"', (1, "txt")),
        ("select d.txt\nfrom documents d", 'Table "d" does not have a column named "txt"', (1, "d.txt")),
        ("select *\nfrom docs", "Table with name docs does not exist; there are documents, questions", (2, "docs")),
        ("from question", "Table with name question does not exist; there are documents, questions", (1, "question")),
        ("from edges", "Table with name edges does not exist; there are documents, questions, qrels", (1, "edges")),
        ("from main.document", "Table with name document does not exist; there are documents", (1, "main.document")),
        ("select lenght(text) from documents", "no function lenght; did you mean length?", (1, "lenght")),
        (
            "select\n current_setting('x')",
            "current_setting() is not available: a query sees the tables",
            (2, "current_setting"),
        ),
        ("select 1 from\n pg_settings", "pg_settings is not available: a query sees the tables", (2, "pg_settings")),
        ("select nonesuchthing(1)", "nonesuchthing() is not available", (1, "nonesuchthing")),
        ("select * form documents", 'syntax error at or near "documents"', (1, "documents")),
        ("select 'é', * from\n  read_csv('x')", "read_csv() is not available", (2, "read_csv")),
        ("select 'é' || 'ü', g from glob('x') g", "glob() is not available", (1, "glob")),
        ("from 'notes.csv'", "no files and no network", (None, "")),
        ("select count(*), doc_id from documents", "must appear in the GROUP BY", (1, "doc_id")),
        ("select x.text from documents d", 'Referenced table "x" not found; Candidate tables: "d"', (1, "x.text")),
        ("select titel from documents", '"titel" not found in FROM clause; Candidate bindings: "title"', (1, "titel")),
        (
            "from documents where doc_id = 1",
            "to INT32 when casting from source column doc_id; compare it with text, as doc_id = '1'",
            (1, "doc_id"),
        ),
        ("from documents where length(text) > 'x'", "Could not convert string 'x' to INT64", (1, "'x'")),
        (
            "select sum(text) from documents",
            "types 'sum(VARCHAR)'. You might need to add explicit type casts.",
            (1, "sum(text)"),
        ),
    ],
)
def test_errors_say_what_and_where(
    database: DatasetDatabase, sql: str, message: str, place: tuple[int | None, str]
) -> None:
    with pytest.raises(QueryError) as caught:
        rows(database, sql)

    error = caught.value
    assert message in str(error)
    assert (error.line, error.excerpt[error.start : error.start + error.length]) == place


@pytest.mark.parametrize(
    "sql",
    [
        "select " + "(select " * 900 + "1" + ")" * 900,
        "from " + "(from " * 900 + "documents" + ")" * 900,
        "select " + "'x' || " * 900 + "'x'",
        "select " + "(" * 3000 + "1" + ")" * 3000,
        "select " + "not " * 3000 + "true",
    ],
)
def test_a_query_that_is_nested_without_end_is_refused(database: DatasetDatabase, sql: str) -> None:
    with pytest.raises(QueryError, match=r"^the query is nested too deeply$"):
        rows(database, sql)


def test_values_that_are_nested_without_end_are_refused_by_arrow(database: DatasetDatabase) -> None:
    result = SafeQueries(database).run("select " + "{'a': " * 150 + "1" + "}" * 150)

    with pytest.raises(QueryError, match=r"^Arrow does not take the rows: .*; cast the column in the query$"):
        list(result.batches())


def test_the_line_of_a_fault_is_that_of_the_query_where_values_are_cast(database: DatasetDatabase) -> None:
    result = SafeQueries(database).run("select now() as a, doc_id::int as b from documents")

    with pytest.raises(QueryError, match=r"Could not convert string 'd1' to INT32 .* compare it with text") as caught:
        list(result.rows())
    assert caught.value.line in (None, 1)


def test_no_remedy_is_reported_that_a_query_does_not_have(database: DatasetDatabase) -> None:
    with pytest.raises(QueryError, match="Deprecated lambda arrow") as caught:
        rows(database, "select list_transform([1], x -> x)")

    assert "lambda x" in str(caught.value)
    assert "SET" not in str(caught.value).upper()


def test_faults_that_show_while_rows_come_are_reported(database: DatasetDatabase) -> None:
    with pytest.raises(QueryError, match=r"Could not convert string 'the .* column text; compare it with text"):
        rows(database, "select text::int from documents")


def test_more_memory_than_there_may_be_is_an_error() -> None:
    with (
        DatasetDatabase(tables_of(documents=[Document("d", "x")]), memory_limit=64 << 20) as database,
        pytest.raises(QueryError, match="more memory"),
    ):
        rows(database, "select list(repeat('x', 100) || range) from range(10000000)")


def test_large_results_come_piece_by_piece(database: DatasetDatabase) -> None:
    chunks = SafeQueries(database).run("select * from range(10000000000)").rows()

    assert len(next(iter(chunks))) < 100_000


def test_an_answer_as_arrow_has_the_schema_even_without_rows(database: DatasetDatabase) -> None:
    batches = list(SafeQueries(database).run("select doc_id, 1::bigint as n from documents where false").batches())

    assert pa.Table.from_batches(batches).schema.names == ["doc_id", "n"]


def test_tables_are_listed_with_columns_and_rows(database: DatasetDatabase) -> None:
    found = {table.called: table for table in SafeQueries(database).tables()}

    assert {name: table.rows for name, table in found.items()} == {"documents": 2, "questions": 1, "qrels": 1}
    assert [(c.name, c.type) for c in found["qrels"].columns][:3] == [
        ("question_id", "VARCHAR"),
        ("target_id", "VARCHAR"),
        ("grade", "BIGINT"),
    ]


def test_names_in_a_statement_are_found_wherever_they_stand() -> None:
    sql = 'with c as (from "Chunks") select (select max(1) from main.qrels) from c, files.x where exists (from y)'

    assert parse_select(sql).tables == {
        ("", "", "chunks"),
        ("", "", "c"),
        ("", "main", "qrels"),
        ("", "files", "x"),
        ("", "", "y"),
    }


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError, MemoryError])
def test_what_stops_the_reader_is_raised_as_it_is(error: type[BaseException]) -> None:
    def rows_until_stopped() -> Iterator[Document]:
        yield Document("d1", "x")
        raise error

    tables = CanonicalTables("notes", "beir", {"documents": rows_until_stopped}, Losses())
    with DatasetDatabase(tables) as database, pytest.raises(error):
        SafeQueries(database).run("from documents")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("select timestamptz '2024-02-29 12:00:00+02' as v; -- ;", "2024-02-29 10:00:00+00"),
        ("select [timestamptz '2024-02-29 12:00:00+02'] as v", ["2024-02-29 10:00:00+00"]),
        ("select {'INTERVAL': interval '1 year 3 days'} as v", {"INTERVAL": "1 year 3 days"}),
        ("select timestamp_ns '2024-02-29 12:00:00.123456789' as v", "2024-02-29 12:00:00.123456789"),
        ("select null::timestamptz_ns as v", None),
    ],
)
def test_values_that_python_does_not_have_come_as_text(database: DatasetDatabase, sql: str, expected: object) -> None:
    assert rows(database, sql) == [(expected,)]


def test_values_that_arrow_does_not_have_come_as_text(database: DatasetDatabase) -> None:
    sql = (
        "select 340282366920938463463374607431768211455::uhugeint as a, '101'::bit as b, interval 1 month as c, "
        "union_value(num := 2) as d, timetz '12:00:01+02' as e, 1 as a;"
    )
    found = pa.Table.from_batches(list(SafeQueries(database).run(sql).batches()))

    assert found.column_names == ["a", "b", "c", "d", "e", "a"]
    values = [column[0].as_py() for column in found.columns]
    assert values == ["340282366920938463463374607431768211455", "101", "1 month", "2", "12:00:01+02", 1]
