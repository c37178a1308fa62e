"""The rules of DataMind's tables/*.sql.

Facts: haolpku/DataMind, commit 5a8f883, `modules/database/database.py`, with SQLAlchemy 2.1 on SQLite. Only v1
runs SQL.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

_LOADER = "modules/database/database.py:_load_sql_files"
_ABORTS = (
    "stops the load; tables created so far stay without their rows, and the next start serves them empty, as if all "
    "were well"
)

SQL_RULES: tuple[Rule, ...] = (
    Rule(
        "DM401 semicolon-in-statement error",
        summary="A semicolon inside a string literal, a comment or a trigger.",
        message="a semicolon inside a {place}",
        upstream={"v1": f"cuts the file at every semicolon, so the statement breaks in two: {_ABORTS}"},
        hint="write the character as char(59), reword the comment, or ship the database as demo.db (triggers)",
        bad="INSERT INTO t VALUES ('one; two');",
        good="INSERT INTO t VALUES ('one' || char(59) || ' two');",
        source=_LOADER,
    ),
    Rule(
        "DM402 colon-read-as-parameter error",
        summary="A colon followed by a word, which SQLAlchemy reads as a bind parameter.",
        message="{value} is read as a bind parameter",
        upstream={"v1": f"StatementError: a value is required for the parameter; {_ABORTS}"},
        hint="write a backslash before the colon (\\:), or a space after it; 12:30 and http:// are safe",
        bad="INSERT INTO t VALUES ('{\"a\":1}');",
        good="INSERT INTO t VALUES ('{\"a\": 1}');",
        source="sqlalchemy.sql.elements:TextClause",
    ),
    Rule(
        "DM403 failing-statement error",
        summary="A statement that SQLite refuses.",
        message="SQLite refuses the statement: {reason}",
        upstream={"v1": _ABORTS},
        hint="correct the statement; `sqlite3 :memory: < FILE` shows the same error",
        bad="INSERT INTO harbour VALUES (1);",
        good="INSERT INTO harbour VALUES (1, 'Eastport');",
        source=_LOADER,
    ),
    Rule(
        "DM404 used-before-created error",
        summary="A statement needs a table that a later file creates: files run in the order of their path as text.",
        message="table {table} is created later, in {other}",
        upstream={"v1": f"runs the files in text order and fails with no such table: {_ABORTS}"},
        hint="number the files with leading zeros (02_x.sql, 10_x.sql)",
        bad="tables/10_rows.sql, tables/2_schema.sql",
        good="tables/02_schema.sql, tables/10_rows.sql",
        source=_LOADER,
    ),
    Rule(
        "DM405 other-sql-dialect error",
        summary="SQL of another database: AUTO_INCREMENT, ENGINE=, ::casts, SERIAL sequences, COPY.",
        message="{token} is not SQLite's dialect: {reason}",
        upstream={"v1": f"SQLite refuses the statement: {_ABORTS}"},
        hint="rewrite the statement for SQLite (AUTOINCREMENT, CAST(x AS type), no ENGINE=)",
        bad="CREATE TABLE t (id INT AUTO_INCREMENT PRIMARY KEY) ENGINE=InnoDB;",
        good="CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT);",
        source=_LOADER,
    ),
    Rule(
        "DM406 no-statement warning",
        summary="A .sql file that is empty or holds only comments.",
        message="there is no statement in the file",
        upstream={"v1": "creates no table from it, without a message"},
        hint="add the statements, or delete the file",
        bad="-- to do",
        good="CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT NOT NULL);",
        source=_LOADER,
    ),
    Rule(
        "DM407 orphan-row warning",
        summary="Rows whose foreign key has no parent row.",
        message="{count} row(s) of table {table} name no row of {parent}",
        upstream={"v1": "accepts them: SQLite does not enforce foreign keys unless asked to"},
        hint="add the parent rows, or correct the keys",
        bad="INSERT INTO boat VALUES (1, 99);",
        good="INSERT INTO boat VALUES (1, 1);",
        source="https://www.sqlite.org/foreignkeys.html",
    ),
    Rule(
        "DM408 text-in-number-column warning",
        summary="Text stored in a column that is declared as a number.",
        message="column {column} of table {table} is {type} and holds text: {value}",
        upstream={"v1": "accepts it: SQLite's column types are advice; sums and comparisons go wrong"},
        hint="write a number or NULL, or declare the column TEXT",
        bad="CREATE TABLE t (n INTEGER); INSERT INTO t VALUES ('many');",
        good="CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (12);",
        source="https://www.sqlite.org/datatype3.html",
    ),
    Rule(
        "DM409 backslash-before-colon warning",
        summary="A backslash before a colon.",
        message="a backslash before a colon",
        upstream={"v1": "SQLAlchemy removes the backslash before it runs the statement"},
        hint="double the backslash if it belongs to the data; leave it if it escapes the colon",
        bad="INSERT INTO t VALUES ('C\\:temp');",
        good="INSERT INTO t VALUES ('C:/temp');",
        source="sqlalchemy.sql.compiler",
    ),
    Rule(
        "DM410 sql-not-run warning",
        summary="The profile has SQL files, which only v1 runs.",
        message="{count} SQL file(s) in tables/",
        upstream={"v2": "never reads tables/; the database stays as it is"},
        hint="for v2, fill the database yourself (`--profile v1` where v2 does not matter)",
        bad="tables/01_schema.sql with --profile v2",
        good="no tables/*.sql with --profile v2",
        source="datamind/ (no module reads tables/)",
    ),
    Rule(
        "DM411 destructive-statement warning",
        summary="A statement that deletes, or that reaches beyond the database: DROP, DELETE, ATTACH, VACUUM INTO.",
        message="{statement} is run like any other statement",
        upstream={"v1": "runs it, whatever it deletes or opens"},
        hint="leave it out of data files",
        bad="ATTACH 'other.db' AS other;",
        good="CREATE TABLE boat (id INTEGER PRIMARY KEY);",
        source=_LOADER,
    ),
    Rule(
        "DM412 unchecked-sql warning",
        summary="Statements that ragdata did not try, since they take too long or too much memory.",
        message="not tried from here on: {reason}",
        upstream={"v1": "runs it to the end, however long it takes"},
        hint="try the file with `sqlite3 :memory: < FILE`",
        bad="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n;",
        good="WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 9) SELECT count(*) FROM n;",
        source="modules/database/database.py:_load_sql_files",
    ),
)
