"""`ragdata gate`: its screens, JSON and page, exit codes, a first suite written, no network and nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import ROOT, Outcome, run, spawn
from tests.gate_tools import expect, needs_library, write_files, write_suite
from tests.graphrag_cases import sample

QUANTILES = {"quantiles": [0.1, 0.5], "value_ranges": [[0, 5], [None, 20]]}
OFFLINE = """
import socket, sys
def refuse(*_, **__):
    print("the network was asked", file=sys.stderr)
    raise OSError("no network")
socket.socket.connect = socket.socket.connect_ex = socket.getaddrinfo = socket.create_connection = refuse
from ragdatakit.cli import main
main()
"""


@needs_library
def test_written_and_held_without_network_or_traces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_files(tmp_path / "set")
    suite, home = tmp_path / "suite.json", tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GX_ANALYTICS_ENABLED", "true")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    written = run("gate", folder, "--init", "--output-file", suite)
    held = spawn("gate", folder, "--suite", suite, code=("-c", OFFLINE))

    assert (written.code, written.out) == (0, "")
    count = len(json.loads(suite.read_text())["expectations"])
    assert written.err == f"{count} expectations written to {suite}\n"
    assert held == Outcome(0, f"{folder} (beir): {count} of {count} expectations hold\n", "")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["home", "set", "suite.json"]
    assert list(home.iterdir()) == []


@needs_library
def test_what_fails_is_shown(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    suite = write_suite(
        tmp_path / "suite.json",
        expect("table_row_count_to_be_between", min_value=40, max_value=50),
        expect("column_values_to_not_match_regex", column="title", regex=r"title 1\d"),
        expect("column_values_to_not_be_null", column="text"),
        {**expect("column_value_lengths_to_equal", column="doc_id", value=2), "severity": "warning"},
    )

    shown = run("gate", folder, "--suite", suite)

    assert (shown.code, shown.err) == (1, "")
    assert shown.out.splitlines() == [
        str(suite),
        "  FAIL    documents  row count between 40 and 50",
        "          found: 30",
        r"  FAIL    documents.title  values to not match regex title 1\d",
        '          found: 10 of 30 values (33%), as "title 10", "title 11", "title 12"',
        "  warning documents.doc_id  value lengths to equal 2",
        '          found: 20 of 30 values (67%), as "d10", "d11", "d12"',
        "",
        f"{folder} (beir): 1 of 4 expectations hold, 3 fail",
    ]
    assert len(run("gate", folder, "--suite", suite, "-v").out.splitlines()) == 10
    assert run("gate", folder, "--suite", suite, "-q").out.count("\n") == 1
    coloured = run("gate", folder, "--suite", suite, terminal=True)
    assert "\x1b[31m" in coloured.out
    assert coloured.err.startswith("\r\x1b[Kloading Great Expectations …") and coloured.err.endswith("\r\x1b[K")


@needs_library
def test_severity_and_exit_code(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    soft = {**expect("table_row_count_to_equal", value=1), "severity": "warning"}
    suite = write_suite(tmp_path / "suite.json", soft)

    assert run("gate", folder, "--suite", suite).code == 1
    assert run("gate", folder, "--suite", suite, "--fail-on", "warning").code == 1
    assert run("gate", folder, "--suite", suite, "--fail-on", "critical").code == 0
    suite = write_suite(tmp_path / "suite.json", soft, expect("column_mean_to_be_between", column="text"))
    assert run("gate", folder, "--suite", suite, "--fail-on", "critical").code == 2


@needs_library
def test_json(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    first = write_suite(tmp_path / "first.json", expect("table_row_count_to_equal", value=1))
    second = write_suite(tmp_path / "second.json", expect("column_max_to_be_between", column="grade"), table="qrels")

    found = run("gate", folder, "--suite", first, "--suite", second, "--output-format", "json")

    document = found.json
    assert (found.code, found.err, document["version"], document["success"]) == (1, "", 1, False)
    assert document["counts"] == {
        "expectations": 2,
        "passed": 1,
        "failed": 1,
        "errors": 0,
        "failed_by_severity": {"info": 0, "warning": 0, "critical": 1},
    }
    assert [t["name"] for t in document["tables"]] == ["documents", "qrels"]
    assert document["dataset"]["format"] == "beir"
    assert [(r["status"], r["observed"]) for r in document["results"]] == [("fail", 30), ("pass", 1)]
    assert document["results"][0]["kwargs"] == {"value": 1}


@needs_library
def test_the_published_schema_holds(tmp_path: Path) -> None:
    from jsonschema import Draft202012Validator

    from ragdatakit.reports.gates.output_schema import gate_schema
    from tests.test_output_schema import accepted_damage, undocumented

    folder = write_files(tmp_path / "set")
    gone = {**expect("table_row_count_to_equal", value=1), "meta": {"ragdata_table": "nodes"}}
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_pair_values_to_be_equal", column_A="doc_id", column_B="title"),
        expect("column_distinct_values_to_equal_set", column="title", value_set=["a"]),
        expect("column_quantile_values_to_be_between", column="text_length", quantile_ranges=QUANTILES),
        expect("column_mean_to_be_between", column="text"),
        {**expect("table_row_count_to_equal", value=30), "severity": "info", "description": "as they were"},
        gone,
    )

    found = run("gate", folder, "--suite", suite, "--sample-rows", "20", "--output-format", "json").json

    schema = gate_schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(found)
    assert {r["status"] for r in found["results"]} == {"pass", "fail", "error"}
    assert undocumented(found, schema, schema) == []
    assert accepted_damage(found, schema) == []
    assert found["notes"] and found["tables"][0]["sampled"]


@needs_library
def test_a_page_that_loads_nothing_and_escapes_all(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set", text="<script>alert(1)</script>")
    suite = write_suite(
        tmp_path / "suite.json",
        expect("column_values_to_be_in_set", column="text", value_set=["<img src=x onerror=alert(2)>"]),
        expect("column_values_to_be_unique", column="doc_id"),
        name="<b>own</b>",
    )
    page = tmp_path / "gate.html"

    assert run("gate", folder, "--suite", suite, "--output-file", page).code == 1

    text = page.read_text(encoding="utf-8")
    assert "<script>alert" not in text and "<img src=x" not in text and "<b>own" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "http://" not in text and "https://" not in text
    assert "1 of 2 expectations hold, 1 fails" in text


@needs_library
def test_a_page_in_a_browser(tmp_path: Path) -> None:
    from tests.browser_tools import launched

    folder, suite, page = write_files(tmp_path / "set"), tmp_path / "suite.json", tmp_path / "gate.html"
    run("gate", folder, "--init", "--output-file", suite)
    run("gate", folder, "--suite", suite, "--output-file", page)

    asked: list[str] = []
    seen: list[str] = []
    with launched() as browser:
        tab = browser.new_page()
        tab.on("request", lambda request: asked.append(request.url))
        tab.on("console", lambda message: seen.append(message.text))
        tab.on("pageerror", lambda error: seen.append(str(error)))
        tab.goto(page.as_uri())
        assert "expectations hold" in tab.inner_text(".lead")
        assert tab.locator("tbody .badge.good").count() > 10

    assert (seen, [url for url in asked if not url.startswith(("file:", "data:"))]) == ([], [])


@needs_library
def test_data_docs(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_equal", value=1))
    docs = tmp_path / "docs"

    for _ in range(2):  # the second time they are replaced
        assert run("gate", folder, "--suite", suite, "--data-docs", docs).code == 1
        assert len(list(docs.glob("validations/**/*.html"))) == 1 and (docs / "index.html").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["docs", "set", "suite.json"]
    refused = run("gate", folder, "--suite", suite, "--data-docs", folder)
    assert refused.code == 2 and "has other files in it" in refused.err


@needs_library
def test_data_docs_of_suites_with_odd_or_the_same_names(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    row_count = expect("table_row_count_to_equal", value=30)
    names = ["team/corpus", "../../out", "x" * 300, "team/corpus", ".", "<b>"]
    suites = [write_suite(tmp_path / f"{i}.json", row_count, name=name) for i, name in enumerate(names)]
    docs = tmp_path / "docs"

    outcome = run("gate", folder, *(word for suite in suites for word in ("--suite", suite)), "--data-docs", docs)

    assert (outcome.code, outcome.err) == (0, "")
    assert len(list(docs.glob("validations/**/*.html"))) == len(names)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["docs", "set", *(s.name for s in suites)])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "--init writes a first one"),
        (("--suite", "none.json"), "does not exist"),
        (("--init", "--suite", "{suite}"), "--suite is for running one"),
        (("--init", "--quiet"), "--quiet is for running one"),
        (("--init", "--output-file", "{suite}"), "--overwrite replaces it"),
        (("--init", "--tolerance", "1"), "--tolerance"),
        (("--init", "--table", "document"), "did you mean documents"),
        (("--init", "--table", "nodes"), "unknown table"),
        (("--suite", "{suite}", "--tolerance", "0.2"), "are for --init"),
        (("--suite", "{suite}", "--output-file", "{suite}"), "names the suite itself"),
        (("--suite", "{suite}", "--output-file", "none/x.json"), "there is no folder"),
        (("--suite", "{suite}", "-q", "-v"), "not both"),
        (("--suite", "{suite}", "--table", "a", "--table", "b"), "more than once"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_words_that_do_not_go_together(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_equal", value=1))

    outcome = run("gate", write_files(tmp_path / "set"), *(w.format(suite=suite) for w in words))

    assert outcome.code == 2 and message in outcome.err and outcome.out == ""


_WITHOUT_LIBRARIES = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("great_expectations", "pandas"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from ragdatakit.cli import main
main()
"""


def run_without_libraries(*words: str | Path) -> Outcome:
    """The command in a process of its own: libraries that were imported before cannot be taken back."""
    command = [sys.executable, "-c", _WITHOUT_LIBRARIES, *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    return Outcome(done.returncode, done.stdout, done.stderr)


def test_a_first_suite_needs_no_library(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")

    one, two = (run_without_libraries("gate", folder, "--init", "--tolerance", t) for t in ("0", "0.5"))
    suite = write_suite(tmp_path / "suite.json", expect("table_row_count_to_equal", value=30))
    run_without = run_without_libraries("gate", folder, "--suite", suite)

    counts = [outcome.json["expectations"][0]["kwargs"] for outcome in (one, two)]
    assert counts == [{"min_value": 30, "max_value": 30}, {"min_value": 15, "max_value": 45}]
    assert one.err == "" and one.json["meta"] == {"ragdata_tolerance": 0.0}
    assert run_without.code == 2 and "pip install 'ragdatakit[gates]'" in run_without.err


def test_tables_of_a_first_suite(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")

    made = run("gate", folder, "--init", "--table", "qrels", "--table", "files.corpus").json

    tables = [e["meta"]["ragdata_table"] for e in made["expectations"]]
    assert list(dict.fromkeys(tables)) == ["qrels", "files.corpus"]


@needs_library
def test_an_index_of_graphrag_that_lost_something(tmp_path: Path) -> None:
    damaged = sample()
    damaged.tables["relationships"][0]["target"] = "NOWHERE"
    damaged.tables["community_reports"].pop()
    sample().write(tmp_path / "sound")
    damaged.write(tmp_path / "damaged")

    written = run("gate", tmp_path / "sound", "--init", "--output-file", tmp_path / "suite.json")
    held, failed = (
        run("gate", "--json", tmp_path / n, "--suite", tmp_path / "suite.json") for n in ("sound", "damaged")
    )

    assert (written.code, held.code, failed.code) == (0, 0, 1)
    fallen = [each for each in failed.json["results"] if each["status"] == "fail"]
    assert [(each["table"], each["kwargs"]["column"]) for each in fallen] == [
        ("edges", "target_found"),
        ("summaries", "level"),
    ]


def test_an_import_of_spark_does_not_end_the_process(tmp_path: Path) -> None:
    spark = "import sys\nif not hasattr(sys.modules['__main__'], '__file__'): sys.exit(0)\n"
    for name, text in (("pyspark", spark), ("great_expectations", "import pyspark"), ("pandas", "")):
        (tmp_path / f"{name}.py").write_text(text)
    code = "from ragdatakit.reports.gates.running import import_library; print(import_library().__name__)"
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=env)

    assert (done.returncode, done.stdout) == (0, "great_expectations\n"), done.stderr
