"""DataMind's SQL files: how they are cut, what is read as a parameter, what SQLite refuses, what nothing may reach."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragdatakit.validators.datamind import sql_run as datamind_sql_run
from ragdatakit.validators.datamind.sql import Lines, as_run, file_problems, read_sql, statements
from ragdatakit.validators.datamind.sql_run import TrialDatabase, created_table

Found = list[tuple[str, int | None]]


def static(sql: str) -> Found:
    return [(p.rule, p.line) for p in file_problems(sql)]


def run(*files: tuple[str, str]) -> list[tuple[str, str, int | None]]:
    """(file, rule, line) of everything that running the files finds."""
    database = TrialDatabase()
    found = [(name, p.rule, p.line) for name, sql in files for p in database.run(name, sql)]
    found += [(name, p.rule, p.line) for name, p in (*database.waiting(), *database.row_problems())]
    database.close()
    return found


def cut(sql: str) -> list[str]:
    return [sql[s.start : s.end].strip() for s in statements(sql)]


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("A; B;\n", ["A", "B"]),
        ("INSERT INTO t VALUES ('a;b'); C", ["INSERT INTO t VALUES ('a;b')", "C"]),
        ("INSERT INTO t VALUES ('it''s; b'); C", ["INSERT INTO t VALUES ('it''s; b')", "C"]),
        ('SELECT ";", `;`, [;]; C', ['SELECT ";", `;`, [;]', "C"]),
        ("A -- x; y\n; B /* ; */", ["A -- x; y", "B /* ; */"]),
        (
            "CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; DELETE FROM v; END; C",
            ["CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; DELETE FROM v; END", "C"],
        ),
        ("INSERT INTO t VALUES ('open; B;\nC", ["INSERT INTO t VALUES ('open", "B", "C"]),
        (" ; ;\n-- nothing\n;", []),
    ],
)
def test_statements_are_cut_as_sql_cuts_them(sql: str, expected: list[str]) -> None:
    assert cut(sql) == expected


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("INSERT INTO t VALUES ('one; two');", [("semicolon-in-statement", 1)]),
        ("-- done;\nSELECT 1;", []),
        ("-- done; -- really;\nSELECT 1;", []),
        ("-- first; second\nSELECT 1;", [("semicolon-in-statement", 1)]),
        ("SELECT 1, -- one;\n2;", [("semicolon-in-statement", 1)]),
        ("/* a; b */\nSELECT 1;", [("semicolon-in-statement", 1)]),
        ("SELECT 1;\n-- late; word\n", [("semicolon-in-statement", 2)]),
        ("CREATE TRIGGER g AFTER INSERT ON t BEGIN\nDELETE FROM u; END;", [("semicolon-in-statement", 2)]),
        ("INSERT INTO t VALUES ('{\"a\":1}');", [("colon-read-as-parameter", 1)]),
        ("SELECT 1;\nSELECT ' :todo';", [("colon-read-as-parameter", 2)]),
        ("-- see :name\nSELECT 1;", [("colon-read-as-parameter", 1)]),
        ("SELECT '12:30', 'http://x', 'a: b', 'a::b', ':', 'x:y';", []),
        ("SELECT 'C\\:temp';", [("backslash-before-colon", 1)]),
        ("", [("no-statement", None)]),
        ("-- to do", [("no-statement", None)]),
        ("DROP TABLE t;\nDELETE FROM t;", [("destructive-statement", 1), ("destructive-statement", 2)]),
        ("DROP TABLE IF EXISTS t; VACUUM;", []),
        ("VACUUM INTO 'x.db';", [("destructive-statement", 1)]),
    ],
)
def test_a_file_breaks_the_rules_of_the_page_before_it_is_run(sql: str, expected: Found) -> None:
    assert static(sql) == expected


TABLE = "CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);"


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        (f"{TABLE} INSERT INTO harbour VALUES (1, 'O''Hara''s; pier');", []),
        (f"\ufeff{TABLE}", []),
        (f"PRAGMA foreign_keys = ON; BEGIN; {TABLE} INSERT INTO harbour VALUES (1, 'a'); COMMIT;", []),
        (f"{TABLE}\nINSERT INTO harbour VALUES (1);", [("failing-statement", 2)]),
        (f"{TABLE}\nINSERT INTO harbour VALUES (1, NULL);", [("failing-statement", 2)]),
        (f"{TABLE}\n{TABLE}", [("failing-statement", 2)]),
        ("SELECT 'open;\nSELECT 1;", [("failing-statement", 1)]),
        ("INSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);", [("failing-statement", 1)]),
        ("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT);\nINSERT INTO t VALUES (1);", [("other-sql-dialect", 1)]),
        ("CREATE TABLE t (id INT) ENGINE=InnoDB;", [("other-sql-dialect", 1)]),
        ("SELECT '1'::int;", [("other-sql-dialect", 1)]),
        ("SELECT NOW();", [("other-sql-dialect", 1)]),
        ("USE harbours;\nCREATE DATABASE x;", [("other-sql-dialect", 1), ("other-sql-dialect", 2)]),
        ("INSERT INTO t VALUES (:name);", [("failing-statement", 1)]),
        ("SELECT :name;", []),
        ("SELECT ?;", [("failing-statement", 1)]),
        ("SELECT '\0';", [("failing-statement", 1)]),
    ],
)
def test_what_sqlite_refuses_is_reported_once(sql: str, expected: Found) -> None:
    assert [(rule, line) for _, rule, line in run(("a.sql", sql))] == expected


def test_files_run_in_the_order_of_their_names() -> None:
    rows, schema = ("tables/10_rows.sql", "\nINSERT INTO harbour VALUES (1, 'a');"), ("tables/2_schema.sql", TABLE)

    assert run(rows, schema) == [("tables/10_rows.sql", "used-before-created", 2)]
    assert run(schema, rows) == []


def test_a_lone_file_may_need_the_tables_of_another(tmp_path: Path) -> None:
    import ragdatakit

    path = tmp_path / "tables" / "02_rows.sql"
    path.parent.mkdir()
    path.write_text("INSERT INTO harbour VALUES (1, 'a');\nINSERT INTO;\n", "utf-8")

    assert [(f.code, f.line) for f in ragdatakit.validate(path, profile="v1").findings] == [("DM403", 2)]
    assert [(f.code, f.line) for f in ragdatakit.validate(tmp_path, profile="v1").findings] == [
        ("DM403", 1),
        ("DM403", 2),
    ]


def test_rows_that_sqlite_takes_and_should_not_are_reported() -> None:
    boats = f"{TABLE} CREATE TABLE boat (id INT, at INTEGER REFERENCES harbour(id), seen DATE, n REAL);"
    rows = "INSERT INTO boat VALUES (1, 7, '2026-01-01', 'many'); INSERT INTO boat VALUES ('2', NULL, 'x', 1);"

    assert run(("a.sql", boats), ("b.sql", rows)) == [
        ("a.sql", "orphan-row", None),
        ("a.sql", "text-in-number-column", None),
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH '{path}' AS x; CREATE TABLE x.t (a);",
        "VACUUM INTO '{path}';",
        "EXPLAIN ATTACH '{path}' AS x;",
        "SELECT load_extension('{path}');",
        "PRAGMA temp_store_directory = '{path}'; CREATE TEMP TABLE t (a);",
        "CREATE VIRTUAL TABLE t USING csv(filename='{path}');",
        "SELECT writefile('{path}', 'x');",
    ],
)
def test_nothing_reaches_the_disk(tmp_path: Path, sql: str) -> None:
    path = tmp_path / "reached"

    run(("a.sql", sql.replace("{path}", str(path))))

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;",
        "SELECT length(zeroblob(2000000000));",
        "CREATE TABLE t AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT hex(i) FROM n;",
    ],
)
def test_a_statement_that_takes_too_much_is_left(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr(datamind_sql_run, "STATEMENT_STEPS", 20)
    monkeypatch.setattr(datamind_sql_run, "MEMORY_BYTES", 1 << 20)

    assert run(("a.sql", f"SELECT 1;\n{sql}\nSELEC;")) == [("a.sql", "unchecked-sql", 2)]


def test_places_count_from_line_one_and_column_zero() -> None:
    lines = Lines("a\nbc\n")

    assert [lines.place(i) for i in (0, 1, 2, 4)] == [(1, 0), (1, 1), (2, 0), (2, 2)]


def test_a_backslash_that_escapes_a_colon_is_not_run() -> None:
    sql = read_sql(b"SELECT 'a\\:b'")
    (statement,) = statements(sql)

    assert as_run(sql, statement) == ("SELECT 'a:b'", False)


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("CREATE TABLE a (x)", "a"),
        ('-- x\ncreate temp table if not exists "B c"(x)', "b c"),
        ("CREATE VIEW main.v AS SELECT 1", "v"),
        ("CREATE INDEX i ON a (x)", None),
        ("INSERT INTO a VALUES (1)", None),
    ],
)
def test_the_table_that_a_statement_creates(sql: str, expected: str | None) -> None:
    assert created_table(sql) == expected


@given(
    st.lists(st.sampled_from(["'", '"', ";", "--", "\n", "/*", "*/", "CREATE TRIGGER", " END", "a", ":b", "\\", " "]))
)
def test_statements_never_lose_a_word(pieces: list[str]) -> None:
    sql = "".join(pieces)

    found = list(statements(sql))

    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all(sql[s.first : s.end].strip() for s in found if s.words)
