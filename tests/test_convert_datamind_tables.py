"""Database tables for DataMind: SQL that its naive splitter and SQLAlchemy survive, and the same as an SQLite file."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit.converters.datamind.sql import insert_rows, literal
from ragdatakit.schemas.canonical import Asset, Document
from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.conversion_tools import tables_of
from tests.datamind_profiles import account, errors, write_repository

PROFILE = Path("data/profiles/notes/tables")
# SQLAlchemy 2, sql/compiler.py: BIND_PARAMS and BIND_PARAMS_ESC
_PARAMETER = re.compile(r"(?<![:\w\$\x5c]):([\w\$]+)(?![:\w\$])", re.UNICODE)
_ESCAPED = re.compile(r"\x5c(:[\w\$]*)(?![:\w\$])", re.UNICODE)


def load_as_datamind(connection: sqlite3.Connection, paths: list[Path]) -> None:
    """Run SQL files as v1 does: whole files in the order of their paths, cut at every semicolon, through text()."""
    for path in sorted(paths, key=str):
        for piece in path.read_text(encoding="utf-8").split(";"):
            if piece.strip():
                assert not _PARAMETER.search(piece), piece
                connection.execute(_ESCAPED.sub(r"\1", piece.strip()))


def dump(connection: sqlite3.Connection) -> dict[str, list[Any]]:
    names = [n for (n,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid")]
    return {
        name: [
            [(c[1], c[2], c[3], c[5]) for c in connection.execute(f'PRAGMA table_info("{name}")')],
            connection.execute(f'SELECT * FROM "{name}"').fetchall(),
        ]
        for name in names
    }


def written(folder: Path, source: Path, **tables: Any) -> tuple[dict[str, list[Any]], Any]:
    """What v1 has after it ran the SQL files; the database file has to have the same."""
    found = tables_of(**tables)
    write_repository(found, folder, {"tables": str(source)})
    assert errors(folder) == []
    with sqlite3.connect(":memory:") as loaded:
        load_as_datamind(loaded, list((folder / PROFILE).glob("*.sql")))
        by_loader = dump(loaded)
    with sqlite3.connect(folder / "storage/notes/demo.db") as database:
        assert dump(database) == by_loader
    return by_loader, found


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
TRICKY = st.lists(st.sampled_from([*";:'\"\\\r\n\x00~^|@a1_$é ", "::", "\\:", "--", "/*"]), max_size=14).map("".join)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.one_of(TEXTS, TRICKY), min_size=1, max_size=4))
def test_any_text_survives_the_loader(texts: list[str]) -> None:
    sql = f"CREATE TABLE t ({', '.join(f'c{n} TEXT' for n in range(len(texts)))});\n{insert_rows('t', [tuple(texts)])}"

    pieces = [p for p in sql.split(";") if p.strip()]
    connection = sqlite3.connect(":memory:")
    for piece in pieces:
        assert not _PARAMETER.search(piece)
        # Files are read with universal line ends.
        connection.execute(_ESCAPED.sub(r"\1", piece).replace("\r\n", "\n").replace("\r", "\n"))

    assert len(pieces) == 2
    assert connection.execute("SELECT * FROM t").fetchall() == [tuple(texts)]
    connection.close()


def test_a_text_of_thousands_of_semicolons_is_no_deep_expression() -> None:
    text = "a;:b\r" * 5_000

    sql = literal(text)

    assert not set(sql) & {";", ":", "\r"}
    assert sqlite3.connect(":memory:").execute(f"SELECT {sql}").fetchone() == (text,)


def test_literals_are_readable_where_they_can_be() -> None:
    assert [literal(v) for v in (None, 1, 1.5, float("inf"), b"\x00\xff", "O'Hara", "12:30 http://x", "one; two")] == [
        "NULL",
        "1",
        "1.5",
        "9e999",
        "X'00ff'",
        "'O''Hara'",
        "'12:30 http://x'",
        "replace('one~ two','~',char(59))",
    ]


def test_csv_columns_are_typed_and_nothing_is_misread(tmp_path: Path) -> None:
    source = tmp_path / "in"
    source.mkdir()
    (source / "boat.csv").write_text(
        'id,code,price,seen,name,none\n1,007,1.5,2026-05-01 12:30:00,"O\'Hara; :todo",\n-2,1e3,2,,"",\n',
        encoding="utf-8",
    )
    (source / "big*[1].tsv").write_text("n\tx\n9223372036854775808\t1\n1\t12345678901234567.5\n", encoding="utf-8")
    (source / "readme.txt").write_text("not a table")

    found, tables = written(tmp_path / "out", source)

    assert found == {
        "big*[1]": [
            [("n", "TEXT", 0, 0), ("x", "TEXT", 0, 0)],
            [("9223372036854775808", "1"), ("1", "12345678901234567.5")],
        ],
        "boat": [
            [
                ("id", "INTEGER", 0, 0),
                ("code", "TEXT", 0, 0),
                ("price", "REAL", 0, 0),
                ("seen", "TEXT", 0, 0),
                ("name", "TEXT", 0, 0),
                ("none", "TEXT", 0, 0),
            ],
            [(1, "007", 1.5, "2026-05-01 12:30:00", "O'Hara; :todo", None), (-2, "1e3", 2.0, None, "", None)],
        ],
    }
    assert not account(tables)


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    lines = [{"a": 1, "b": True, "c": [1, {"k": ";"}], "d": 1}, {"a": 2.5, "e": "x:y :z", "d": "one", "f": 2**70}]
    source.write_text("".join(json.dumps(line) + "\n\n" for line in lines))

    found, tables = written(tmp_path / "out", source)

    columns, table_rows = found["log"]
    assert [c[:2] for c in columns] == [
        ("a", "REAL"),
        ("b", "INTEGER"),
        ("c", "TEXT"),
        ("d", ""),
        ("e", "TEXT"),
        ("f", "TEXT"),
    ]
    assert table_rows == [(1.0, 1, '[1,{"k":";"}]', 1, None, None), (2.5, None, None, "one", "x:y :z", str(2**70))]
    assert {(loss.reason, loss.examples[0]) for loss in tables.losses} == {
        ("a nested value became JSON text", "log.c"),
        ("true and false became 1 and 0", "log.b"),
        ("an integer of more than 64 bits became text", "log.f"),
    }


def test_integers_that_no_float_holds_stay_what_they_are(tmp_path: Path) -> None:
    source = tmp_path / "log.jsonl"
    source.write_text('{"a": 9007199254740993, "b": 9007199254740993}\n{"a": 0.5, "b": true}\n')

    found, _ = written(tmp_path / "out", source)

    assert found["log"] == [[("a", "", 0, 0), ("b", "INTEGER", 0, 0)], [(9007199254740993, 9007199254740993), (0.5, 1)]]


def test_parquet_types_have_their_match(tmp_path: Path) -> None:
    source = tmp_path / "in" / "t.parquet"
    source.parent.mkdir()
    with duckdb.connect() as connection:
        connection.execute(
            "COPY (SELECT 1::TINYINT AS i, true AS b, 1.5::FLOAT AS f, 'NaN'::DOUBLE AS n, 12.50::DECIMAL(9,2) AS d, "
            "DATE '2026-05-01' AS day, '\\x00;'::BLOB AS raw, [1, 2] AS l, {'k': ':v'} AS s, 'ü;' AS t) "
            f"TO '{source}' (FORMAT parquet)"
        )

    found, tables = written(tmp_path / "out", source.parent)

    assert found["t"][1] == [(1, 1, 1.5, None, "12.50", "2026-05-01", b"\x00;", "[1,2]", '{"k":":v"}', "ü;")]
    assert account(tables) == {("coerced", "database", "type"): 3, ("coerced", "database", "value"): 1}


def test_a_schema_is_copied_with_an_account_of_what_is_not(tmp_path: Path) -> None:
    path = tmp_path / "harbour.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE harbour (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT DEFAULT 'no (CHECK); -- x' UNIQUE
              COLLATE NOCASE, deep REAL CHECK (deep > 0) CHECK (deep < 99), twice INT GENERATED ALWAYS AS (id * 2),
              "CHECK" INT /* COLLATE */, whole NOT NULL ON CONFLICT IGNORE);
            CREATE TABLE boat (id INT PRIMARY KEY, at INT REFERENCES harbour (id) ON DELETE CASCADE, UNIQUE (id, at))
              STRICT, WITHOUT ROWID;
            INSERT INTO harbour (name, whole) VALUES (CAST(x'48ff6e' AS TEXT), 1), ('fine', 2);
            """
        )
    connection.close()

    found, tables = written(tmp_path / "out", path)

    assert [row[:2] + row[3:] for row in found["harbour"][1]] == [(1, "H\ufffdn", 2, None, 1), (2, "fine", 4, None, 2)]
    assert account(tables) == {
        ("coerced", "database", "value"): 1,
        ("lost", "database", "AUTOINCREMENT"): 1,
        ("lost", "database", "CHECK"): 2,
        ("lost", "database", "COLLATE"): 1,
        ("lost", "database", "DEFAULT"): 1,
        ("lost", "database", "GENERATED"): 1,
        ("lost", "database", "ON CONFLICT"): 1,
        ("lost", "database", "ON DELETE"): 1,
        ("lost", "database", "STRICT"): 1,
        ("lost", "database", "UNIQUE"): 2,
        ("lost", "database", "WITHOUT ROWID"): 1,
    }


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "harbour.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            """
            CREATE TABLE boat (id INTEGER PRIMARY KEY, harbour INTEGER REFERENCES harbour(id),
              "na;me" VARCHAR(20) NOT NULL, gone INTEGER REFERENCES nowhere(id));
            CREATE TABLE harbour (id INTEGER PRIMARY KEY, name TEXT, raw BLOB, anything);
            CREATE TABLE "sa:il" (a TEXT, b INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
            CREATE INDEX by_name ON harbour (name);
            CREATE VIEW names AS SELECT name FROM harbour;
            INSERT INTO harbour VALUES (1, 'Eastport; :x', x'00', 1.5), (2, NULL, NULL, 'text');
            INSERT INTO boat VALUES (1, 1, 'Heron', NULL);
            """
        )
    connection.close()
    return path


def test_an_sqlite_file_keeps_keys_and_parents_come_first(database: Path, tmp_path: Path) -> None:
    before = database.read_bytes()

    found, tables = written(tmp_path / "out", database)

    assert list(found) == ["harbour", "boat", "sa_il"]
    assert found["harbour"][1] == [(1, "Eastport; :x", b"\x00", 1.5), (2, None, None, "text")]
    assert found["boat"] == [
        [
            ("id", "INTEGER", 0, 1),
            ("harbour", "INTEGER", 0, 0),
            ("na_me", "VARCHAR(20)", 1, 0),
            ("gone", "INTEGER", 0, 0),
        ],
        [(1, 1, "Heron", None)],
    ]
    schema = (tmp_path / "out" / PROFILE / "01_schema.sql").read_text()
    assert 'FOREIGN KEY ("harbour") REFERENCES "harbour" ("id")' in schema
    assert account(tables) == {
        ("dropped", "database", None): 2,
        ("lost", "database", "foreign key"): 1,
        ("lost", "database", "WITHOUT ROWID"): 1,
        ("coerced", "database", "column"): 1,
        ("coerced", "database", "table"): 1,
    }
    assert database.read_bytes() == before


def test_tables_come_behind_the_sql_of_the_source(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n")
    assets = [Asset("tables/07_old.sql", b"CREATE TABLE old (a);", "sql")]

    tables = tables_of(assets=assets)
    write_repository(tables, tmp_path / "out", {"tables": str(tmp_path / "t.csv")})

    assert sorted(p.name for p in (tmp_path / "out" / PROFILE).iterdir()) == [
        "07_old.sql",
        "08_schema.sql",
        "09_rows.sql",
    ]
    assert errors(tmp_path / "out") == []


def test_tables_without_rows_and_columns_that_differ_in_case(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"A": 1, "a": 2, "": 3, "sqlite_x": 4}\n')
    (tmp_path / "t.csv").write_text("a,b\n")

    found, _ = written(tmp_path / "out", tmp_path)

    assert {name: [c[0] for c in columns] for name, (columns, _) in found.items()} == {
        "t": ["a", "b"],
        "t_2": ["A", "a_2", "column", "_sqlite_x"],
    }
    (tmp_path / "t.jsonl").unlink()
    assert written(tmp_path / "empty", tmp_path)[0]["t"][1] == []
    assert [p.name for p in (tmp_path / "empty" / PROFILE).iterdir()] == ["01_schema.sql"]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("none", None, "no such file or folder"),
        ("x.sqlite", b"not a database at all, though it has the name of one", "not a database"),
        ("x.jsonl", b'{"a": 1}\n[1]\n', "line 2"),
        ("x.jsonl", b"", "has no record"),
        ("x.parquet", b"no", "cannot be read as a table"),
        ("x.txt", b"a", "there is no"),
    ],
)
def test_what_is_no_table_is_an_error_of_the_run(name: str, content: bytes | None, found: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)

    with pytest.raises(RagdataError, match=found):
        write_repository(tables_of(documents=[Document("d", "x")]), tmp_path / "out", {"tables": str(tmp_path / name)})
