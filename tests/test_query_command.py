"""`ragdata query`: rows in every form, tables listed, errors in one line with their place, Ctrl-C."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import ragdatakit
from ragdatakit.api.query import query
from ragdatakit.schemas.errors import RagdataError
from tests.command_line import GOOD, ROOT, interruptible, run

TRICKY = (
    "select 'a,\"b\"' || chr(10) || 'c|<i>' as t, null as n, '' as e, 1 as t, [1, 2] as l, true as b, "
    "1.50::decimal(5,2) as d"
)


def write_corpus(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "corpus.jsonl").write_text(json.dumps({"_id": "d1", "title": "", "text": text}) + "\n", encoding="utf-8")
    return folder


@pytest.mark.usefixtures("queries_in_processes")
def test_rows_as_a_table() -> None:
    shown = run("query", GOOD, "select question_id, length(text) as n from questions order by n desc")

    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "question_id   n",
        "───────────  ──",
        "2            26",
        "3            25",
        "1            24",
        "(3 rows)",
    ]


def test_tables_tell_columns_rows_and_examples() -> None:
    shown = run("query", GOOD, "--tables")

    assert shown.code == 0
    lines = shown.out.splitlines()
    assert "triplets  2 rows" in lines and "files.triplets  2 rows" in lines
    assert "  question_id VARCHAR, positive_id VARCHAR, negative_id VARCHAR, split VARCHAR" in lines
    examples = [line.split('"')[1] for line in lines[lines.index("Examples") + 1 :]]
    assert examples
    for example in examples:
        assert run("query", GOOD, example).code == 0


@pytest.mark.usefixtures("queries_in_processes")
def test_tables_as_json() -> None:
    found = run("query", GOOD, "--tables", "--output-format", "json").json

    assert found["version"] == 1
    table = next(t for t in found["tables"] if t["name"] == "files.positives")
    assert (table["rows"], table["columns"][1]) == (3, {"name": "positive_doc_ids", "type": "BIGINT[]"})


def test_rows_as_csv() -> None:
    shown = run("query", GOOD, TRICKY, "--output-format", "csv")

    assert list(csv.reader(io.StringIO(shown.out))) == [
        ["t", "n", "e", "t", "l", "b", "d"],
        ['a,"b"\nc|<i>', "", "", "1", "[1,2]", "true", "1.50"],
    ]
    assert ',,"",1,' in shown.out


def test_rows_as_json_and_as_lines() -> None:
    expected = {"t": 'a,"b"\nc|<i>', "n": None, "e": "", "t_2": 1, "l": [1, 2], "b": True, "d": 1.5}

    document = run("query", GOOD, TRICKY, "--output-format", "json").json
    assert (document["version"], document["rows"]) == (1, [expected])
    assert [c["name"] for c in document["columns"]] == list(expected)
    assert run("query", GOOD, TRICKY, "--output-format", "ndjson").lines == [expected]


def test_values_that_json_does_not_have() -> None:
    sql = (
        "select 'nan'::double as nan, 'infinity'::double as inf, 170141183460469231731687303715884105727::hugeint as h,"
        " 'ab'::blob as blob, date '2020-01-02' as d, timestamp '2020-01-02 03:04:05' as ts, interval 90 minute as i,"
        " map {'k': 1} as m, {'x': [1.5]} as s, 18446744073709551615::ubigint as u"
    )
    (found,) = run("query", GOOD, sql, "--output-format", "ndjson").lines[:1] or [None]
    raw = run("query", GOOD, sql, "--output-format", "ndjson").out

    assert found is not None and found["nan"] is None and found["inf"] is None
    assert '"h":170141183460469231731687303715884105727' in raw and found["u"] == 2**64 - 1
    assert (found["blob"], found["d"], found["ts"]) == ("YWI=", "2020-01-02", "2020-01-02T03:04:05")
    assert (found["m"], found["s"], found["i"]) == ({"k": 1}, {"x": [1.5]}, "01:30:00")


def test_rows_as_markdown() -> None:
    shown = run("query", GOOD, TRICKY, "--output-format", "markdown")

    assert shown.out.splitlines()[2].startswith('| a,"b"<br>c\\|&lt;i&gt; |  |  | 1 | \\[1,2\\] | true | 1.50 |')


@pytest.mark.usefixtures("queries_in_processes")
def test_rows_as_parquet(tmp_path: Path) -> None:
    out = tmp_path / "rows.parquet"

    assert run("query", GOOD, "from files.triplets", "--output-format", "parquet", "--output-file", out).code == 0
    found = pq.read_table(out)
    assert (found.num_rows, str(found.schema.field("qid").type)) == (2, "int64")
    run("query", GOOD, "select 1 as a, 2 as a where false", "--output-format", "parquet", "--output-file", out)
    assert (pq.read_table(out).num_rows, pq.read_table(out).schema.names) == (0, ["a", "a_2"])


def test_limit() -> None:
    assert run("query", GOOD, "from range(1000)").out.splitlines()[-1] == "(the first 100 rows; --limit 0 shows all)"
    assert run("query", GOOD, "from range(100)").out.splitlines()[-1] == "(100 rows)"
    assert len(run("query", GOOD, "from range(3000)", "--limit", "0").out.splitlines()) == 3003
    assert len(run("query", GOOD, "from range(10000)", "--output-format", "ndjson").lines) == 10_000
    assert len(run("query", GOOD, "from range(10000)", "--output-format", "csv", "--limit", "7").out.splitlines()) == 8


def test_a_table_fits_the_screen_and_plays_no_tricks(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "d", "日本 \x1b[31mred\u202e \r\n" + "long " * 100)

    shown = run("query", folder, "select doc_id, text, text as again from documents", env={"COLUMNS": "60"})

    for line in shown.out.splitlines():
        assert len(line) + line.count("日") + line.count("本") <= 60
    assert "\x1b" not in shown.out and "\u202e" not in shown.out and "日本 <U+001B>[31mred" in shown.out
    many = run("query", folder, f"select {', '.join(f'{n} as c{n}' for n in range(50))}", env={"COLUMNS": "60"})
    assert "more columns (--output-format csv has them)" in many.out
    assert max(map(len, many.out.splitlines()[:-1])) <= 60


def test_colours_on_a_terminal_only() -> None:
    assert "\x1b[1m" in run("query", GOOD, "select null as a", terminal=True).out
    assert "\x1b" not in run("query", GOOD, "select null as a").out


def test_the_query_comes_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbfselect count(*) as n\nfrom questions")))

    assert run("query", GOOD, "-", "--output-format", "ndjson").lines == [{"n": 3}]


@pytest.mark.usefixtures("queries_in_processes")
def test_errors_show_their_place() -> None:
    shown = run("query", GOOD, "select doc_id,\n  txt from documents")

    assert (shown.code, shown.out) == (2, "")
    assert shown.err.splitlines() == [
        'ragdata: Referenced column "txt" not found in FROM clause; Candidate bindings: "text", "title"',
        "  2 |   txt from documents",
        "        ^^^",
    ]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "what to ask?"),
        (("select 1", "--tables"), "give SQL or --tables, not both"),
        (("--tables", "--output-format", "csv"), "--tables goes with"),
        (("select 1", "--output-file", "/nowhere/x"), "there is no folder /nowhere"),
        (("select 1", "--timeout", "0"), "--timeout"),
        (("select 1", "--memory-limit", "1k"), "too little"),
        (("drop table documents",), "DROP is not available"),
        (("from read_csv('x')",), "no files and no network"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, tuple) else "",
)
def test_what_cannot_be_done_is_reported(words: tuple[str, ...], message: str) -> None:
    shown = run("query", GOOD, *words)

    assert shown.code == 2
    assert message in shown.err
    assert "Traceback" not in shown.err


@pytest.mark.parametrize(
    ("path", "other"),
    [(GOOD, "hf://datasets/a/b"), ("https://example.org/a.jsonl", "hf://datasets/a/b"), ("s3://a", GOOD)],
)
def test_one_path_is_asked_at_a_time(path: object, other: object) -> None:
    shown = run("query", path, other)

    assert shown.code == 2
    assert f"ask one path at a time: {other} is no SQL" in shown.err


@pytest.mark.parametrize(
    ("name", "quoted"), [("harbour", "harbour"), ("my $HOME", "'my $HOME'"), ("hf://datasets/a/b", "hf://datasets/a/b")]
)
def test_a_query_before_the_path_is_put_behind_it(name: str, quoted: str, tmp_path: Path) -> None:
    if "//" not in name:
        (tmp_path / name).mkdir()

    shown = run("query", "select count(*) from documents", name, cwd=tmp_path)

    assert shown.code == 2
    assert f'the path comes first: ragdata query {quoted} "select …"' in shown.err


@pytest.mark.usefixtures("queries_in_processes")
def test_a_fault_on_the_way_leaves_the_old_file(tmp_path: Path) -> None:
    out = tmp_path / "rows.csv"
    out.write_text("old")
    sql = "select case when range = 9000 then error('here') end from range(10000)"

    shown = run("query", GOOD, sql, "--output-format", "csv", "--output-file", out)

    assert shown.code == 2 and "here" in shown.err
    assert out.read_text() == "old" and list(tmp_path.iterdir()) == [out]


def test_several_datasets_at_a_path(tmp_path: Path) -> None:
    write_corpus(tmp_path / "a", "x")
    write_corpus(tmp_path / "b", "x")

    shown = run("query", tmp_path, "from documents")

    assert shown.code == 2
    assert "Table with name documents does not exist; there are a.documents, a.files.corpus, b.documents" in shown.err


def test_a_damaged_file_is_reported_and_the_rest_can_be_asked(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "d", "x")
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "a"}\nnonsense\n')

    assert run("query", folder, "select count(*) as n from documents", "--output-format", "ndjson").lines == [{"n": 1}]
    assert run("query", folder, "select count(*) as n from questions", "--output-format", "ndjson").lines == [{"n": 1}]


def test_plain_tables_can_be_asked_too() -> None:
    shown = run("query", ROOT / "fixtures" / "plain" / "notes.csv", "select count(*) > 0 as n from documents")

    assert shown.code == 0, shown.err


def test_ctrl_c_stops_a_query() -> None:
    endless = "with recursive t(x) as (select 1 union all select x + 1 from t) select count(*) from t"
    command = interruptible("query", GOOD, endless)
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        time.sleep(2.5)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()

    assert (process.returncode, out, err.strip()) == (130, b"", b"ragdata: stopped")


def test_from_python() -> None:
    found = query(GOOD, "select question_id from questions order by 1", limit=2)

    assert found.to_pydict() == {"question_id": ["1", "2"]}
    assert query(GOOD, "from documents where false").num_rows == 0
    with pytest.raises(RagdataError, match="timeout"):
        query(GOOD, "select 1", timeout=0)
    assert ragdatakit.query is query


def test_formulas_are_defused_on_request() -> None:
    sql = """select '=1+1' as "=a", '-2' as b, -2 as c, chr(9) || 'x' as d, 'a=b' as e, null as f"""

    asked = run("query", ROOT / "fixtures/demo-search", sql, "--output-format", "csv", "--defuse-formulas")
    plain = run("query", ROOT / "fixtures/demo-search", sql, "--output-format", "csv")
    refused = run("query", ROOT / "fixtures/demo-search", sql, "--output-format", "json", "--defuse-formulas")

    assert asked.out == "'=a,b,c,d,e,f\n'=1+1,'-2,-2,'\tx,a=b,\n"
    assert plain.out.startswith("=a,b,c,d,e,f\n=1+1,-2,-2,")
    assert (refused.code, "--defuse-formulas goes with --output-format csv" in refused.err) == (2, True)
