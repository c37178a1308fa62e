"""Data that holds commands to CI runners, through every command: nothing that is printed is one."""

from __future__ import annotations

import csv
import io
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
import pytest

from ragdatakit.cli.commands import COMMANDS
from ragdatakit.reports.findings.ci_commands import broken_up
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS
from ragdatakit.schemas import all_formats
from tests.command_line import Outcome, run, spawn
from tests.output_readers import azure_commands, github_commands

NEW_LINE = "begins-a-line"
HOSTILE = (
    "::error::a ##vso[task.setvariable variable=X]y ##[add-mask]z ##TeamCity[w] ###[group]\n::warning::b\r::notice::c"
    f"\r\n  ::stop-commands::d\u2028::debug::e\n\u00a0::add-mask::f\n\ufeff::error::g\n{NEW_LINE}"
)
FILE_NAME = "x ##[add-mask]y ##vso[task.setvariable variable=X]z\n::error::a\r::error::b.jsonl"
RUNS = ("d1", "d2", HOSTILE)


def commands(text: str) -> list[str]:
    """The lines that GitHub's, Azure's or TeamCity's runner would carry out."""
    lines = re.split(r"[\r\n]", text)
    return [
        x
        for x in lines
        if x.strip(" \t\u00a0\ufeff\u2028").startswith("::") or re.search(r"(?i)##(vso|teamcity)?\[", x)
    ]


def assert_harmless(outcome: Outcome, *, lines: bool = True) -> Outcome:
    assert "Traceback" not in outcome.err
    assert (commands(outcome.out), commands(outcome.err)) == ([], [])
    if lines:
        assert not [x for x in (outcome.out + outcome.err).splitlines() if x.strip().startswith(NEW_LINE)]
    return outcome


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A BEIR dataset with all of them, in a folder that is called so, too, with faults in each file."""
    folder = tmp_path / "set ##[add-mask]x\n::error::y"
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": name, "title": HOSTILE, "text": f"{HOSTILE} lanterns {name}"} for name in RUNS]
    corpus = b"".join(orjson.dumps(x) + b"\n" for x in [*documents, {"_id": "d1", "text": HOSTILE, HOSTILE: 1}])
    (folder / "corpus.jsonl").write_bytes(corpus + b"::error::not JSON ##[add-mask]x ##vso[a]b\n")
    queries = [{"_id": HOSTILE, "text": HOSTILE}, {"_id": "q1", "text": "lanterns"}]
    (folder / "queries.jsonl").write_bytes(b"".join(orjson.dumps(x) + b"\n" for x in queries))
    rows = ["query-id\tcorpus-id\tscore", "q1\td1\t1", "::error::q ##[add-mask]\t##vso[a]b\t1", "::error::x ##[y]"]
    (folder / "qrels" / "test.tsv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    (folder / FILE_NAME).write_text("{}\n", encoding="utf-8")
    return folder


@pytest.fixture
def readable(hostile: Path) -> Path:
    """The same without faults that stop a reader."""
    lines = (hostile / "corpus.jsonl").read_bytes().splitlines(keepends=True)
    (hostile / "corpus.jsonl").write_bytes(b"".join(lines[:3]))
    (hostile / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")
    return hostile


def test_commands_of_ours_are_the_only_ones(hostile: Path) -> None:
    """The outputs that are made of commands: what is in the data makes no other, and no property of one."""
    commands, others = github_commands(run("validate", hostile, "-v", "--output-format", "github").out)
    assert {name for name, _, _ in commands} <= {"error", "warning", "notice"} and len(commands) > 3
    assert {word for _, words, _ in commands for word in words} <= {
        "file", "line", "endLine", "col", "endColumn", "title"
    }  # fmt: skip
    assert not [line for line in others if line.strip().startswith(NEW_LINE)]

    commands, others = azure_commands(run("validate", hostile, "-v", "--output-format", "azure").out)
    assert {name for name, _, _ in commands} == {"task.logissue"}
    assert {word for _, words, _ in commands for word in words} <= {
        "type", "sourcepath", "linenumber", "columnnumber", "code"
    }  # fmt: skip


SQL = "select doc_id, title, text from documents"
FOLDER, CLEAN, OUT = "FOLDER", "CLEAN", "OUT"
EVERY: dict[str, list[tuple[str, ...]]] = {
    "validate": [
        (FOLDER,),
        (FOLDER, "-v", "--quality"),
        (FOLDER, "--statistics", "-q"),
        *((FOLDER, "--output-format", form) for form, how in OUTPUT_FORMS.items() if how.escapes != "commands"),
    ],
    "convert": [
        (FOLDER, OUT, "--to", "arag"),
        (FOLDER, OUT, "--to", "light-splade", "--keep-going"),
        (CLEAN, OUT, "--to", "gfm-rag", "--extractor", "names", "--output-format", "json"),
        (CLEAN, OUT, "--to", "::error::x ##[y]"),
    ],
    "report": [(FOLDER, "-v"), *[(FOLDER, "--output-format", form) for form in ("json", "markdown", "html")]],
    "index": [(CLEAN,), (CLEAN, "--output-format", "json"), ("--list",)],
    "retrieve": [
        (CLEAN, "lanterns"),
        (CLEAN, "::error:: lanterns ##[x]", "--output-format", "json"),
        (CLEAN, "--id", "q1", "--explain"),
        (CLEAN, "lanterns", "--output-format", "sage"),
        (CLEAN, "lanterns", "--output-format", "trec", "--tag", "::error::##[x]"),
        (CLEAN, "--id", "::error::\n##[x]"),
    ],
    "eval": [
        (CLEAN, "--mode", "bm25"),
        (CLEAN, "--mode", "bm25", "--output-format", "json"),
        (FOLDER, "--qrels", "::x"),
    ],
    "query": [
        *[(FOLDER, SQL, "--output-format", form) for form in ("table", "json", "ndjson", "markdown")],
        (FOLDER, "select 1 as '::error::x ##[y]' from \n##[nowhere]"),
        (FOLDER, "select '\n::error::x' from \n::error::nowhere"),
        (FOLDER, "--tables"),
    ],
    "diff": [(FOLDER, CLEAN), *[(FOLDER, CLEAN, "--output-format", form) for form in ("json", "markdown", "html")]],
    "gate": [(CLEAN, "--init"), (CLEAN, "--suite", "::error::\n##[x]")],
    "fetch": [("::error::x\n##[y]",), ("hf:::error::x\n##[y]", OUT)],
    "push": [(FOLDER, "owner/name", "--dry-run"), (FOLDER, "::error::\n##[x]", "--keep-going", "--dry-run")],
    "verify": [(FOLDER,)],
    "formats": [("::error::x\n##[y]",), ("--output-format", "json")],
    "rules": [("--::error::x\n##[y]",)],
    "explain": [("::error::x\n##[y]",)],
    "schema": [("::error::x\n##[y]",), ("beir", "::error::\n##[x]")],
    "init": [("beir", OUT), ("::error::\n##[x]", OUT)],
    "config": [(FOLDER,), (FOLDER, "--json"), (FOLDER, "--config", "::error::\n##[x]")],
    "init-config": [(CLEAN,), (FOLDER,), ("::error::\n##[x]",)],
    "export": [(CLEAN, "--name", "::error::x\n##[y]"), (FOLDER, "--to", "::error::x\n##[y]")],
    "explore": [("::error::x\n##[y]", "--no-browser"), (FOLDER, "--port", "::error::\n##[x]")],
    "lsp": [("--::error::x\n##[y]",)],
}


def test_every_command_is_there() -> None:
    assert set(EVERY) == set(COMMANDS)


@pytest.mark.parametrize("command", EVERY)
def test_nothing_printed_is_a_command(
    command: str, hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    clean = tmp_path / "clean ##[add-mask]\n::error::z"
    clean.mkdir()
    lines = (hostile / "corpus.jsonl").read_bytes().splitlines(keepends=True)
    (clean / "corpus.jsonl").write_bytes(b"".join(lines[:3]))
    (clean / "queries.jsonl").write_bytes((hostile / "queries.jsonl").read_bytes())
    (clean / "qrels").mkdir()
    (clean / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n", encoding="utf-8")

    for number, words in enumerate(EVERY[command]):
        places = {FOLDER: hostile, CLEAN: clean, OUT: tmp_path / f"out-{number} ##[x]\n::error::"}

        outcome = run(command, *(places.get(word, word) for word in words))

        assert_harmless(outcome, lines="html" not in words and command != "retrieve")  # snippets are wrapped
        assert outcome.out or outcome.err


@pytest.mark.parametrize("fmt", all_formats(), ids=lambda f: f.name)
def test_every_format_with_such_values(fmt: Any, tmp_path: Path) -> None:
    """Each text of a minimal dataset is replaced, so that findings are about it."""
    folder = tmp_path / "##[x]\n::error::"
    run("init", fmt.name, folder)
    in_json = orjson.dumps(orjson.dumps(HOSTILE)[1:-1].decode())[1:-1].decode()  # with its backslashes doubled
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        text = path.read_text(encoding="utf-8")
        inside = in_json if "json" in path.suffix else "::error:: ##[x] ##vso[a]b"
        path.write_text(re.sub(r'(?<=: ")[^"]+(?=")|(?<=,)[A-Za-z]+(?=,)', inside, text), encoding="utf-8")

    assert_harmless(run("validate", folder, "-v"))
    assert_harmless(run("validate", folder, "--output-format", "json"))
    assert_harmless(run("report", folder))
    assert_harmless(run("convert", folder, tmp_path / "out", "--to", "beir", "--keep-going"))


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_json_decodes_to_the_same_values(form: str, readable: Path) -> None:
    outcome = assert_harmless(run("query", readable, SQL, "--output-format", form))

    rows = outcome.json["rows"] if form == "json" else outcome.lines
    assert [row["doc_id"] for row in rows] == list(RUNS)
    assert {row["title"] for row in rows} == {HOSTILE}


def test_csv_is_broken_up_and_says_so_and_a_file_is_not(readable: Path, tmp_path: Path) -> None:
    sql = "select doc_id, title, '::x' as t from documents"
    printed = assert_harmless(run("query", readable, sql, "--output-format", "csv"), lines=False)
    written = run("query", readable, sql, "--output-file", tmp_path / "rows.csv")

    output = [row["title"] for row in csv.DictReader(io.StringIO(printed.out, newline=""))]
    assert all("<U+0023>#vso[task" in text for text in output)
    assert "CI runner" in printed.err and "--output-file" in printed.err
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert ([row["doc_id"] for row in rows], {row["title"] for row in rows}) == (list(RUNS), {HOSTILE})
    assert (written.err, {row["t"] for row in rows}) == ("", {"::x"})


@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/stdout")
@pytest.mark.parametrize(
    "place", ["/dev/stdout", *(pytest.param(f"/dev/{p}", marks=pytest.mark.broad) for p in ("stderr", "fd/1"))]
)
def test_stdout_by_its_path_is_guarded_too(readable: Path, place: str) -> None:
    outcome = spawn("query", readable, SQL, "--output-format", "csv", "--output-file", place)

    assert outcome.code == 0 and "<U+0023>#vso[task" in outcome.out + outcome.err
    assert_harmless(outcome, lines=False)


def test_a_cell_that_begins_so_is_quoted_and_keeps_its_value(readable: Path) -> None:
    outcome = assert_harmless(run("query", readable, "select '::error::x' as a, 1 as b", "--output-format", "csv"))

    assert (outcome.out, outcome.err) == ('a,b\n"::error::x",1\n', "")


def test_parquet_goes_out_as_it_is(readable: Path, tmp_path: Path) -> None:
    run("query", readable, SQL, "--output-file", tmp_path / "rows.parquet")
    with (tmp_path / "printed.parquet").open("wb") as out:
        command = [sys.executable, "-m", "ragdatakit", "query", str(readable), SQL, "--output-format", "parquet"]
        subprocess.run(command, stdout=out, check=True, timeout=60)

    import pyarrow.parquet as pq

    assert pq.read_table(tmp_path / "printed.parquet").equals(pq.read_table(tmp_path / "rows.parquet"))


def test_a_page_shows_the_same_text(readable: Path) -> None:
    page = assert_harmless(run("report", readable, "--output-format", "html"), lines=False).out

    assert "&#35;#vso[" in page or "\\u0023#vso[" in page
    assert "<U+0023>" not in page.replace("&lt;U+0023&gt;", "")


def test_data_that_is_written_is_not_touched(readable: Path, tmp_path: Path) -> None:
    run("convert", readable, tmp_path / "arag", "--to", "arag", "--keep-going")
    back = run("convert", tmp_path / "arag", tmp_path / "beir", "--to", "beir")

    assert back.code == 0
    written = b"".join(p.read_bytes() for p in (tmp_path / "arag").rglob("*.json"))
    assert b"##vso[task.setvariable variable=X]y" in written


def test_processes_print_alike(hostile: Path) -> None:
    assert_harmless(spawn("validate", hostile, "-v"))
    assert_harmless(spawn("query", hostile, SQL, "--output-format", "json"))
    assert_harmless(spawn("validate", f"{hostile}/::error::\n##[x]"))


@pytest.mark.parametrize(
    ("data", "broken"),
    [
        (b"::error::x", b"<U+003A>:error::x"),
        (b"a\n \t::error::x", b"a\n \t<U+003A>:error::x"),
        (b"a\r::error::x", b"a\r<U+003A>:error::x"),
        ("a\n\u3000::e".encode(), "a\n\u3000<U+003A>:e".encode()),
        ("\ufeff::e".encode(), "\ufeff<U+003A>:e".encode()),
        (b"##[a] ###[b] ##VSO[c]", b"<U+0023>#[a] #<U+0023>#[b] <U+0023>#VSO[c]"),
        (b"## heading\n# [x] std::vector ##", b"## heading\n# [x] std::vector ##"),
        (b":\n:: ", b":\n<U+003A>: "),
    ],
)
def test_what_is_broken_up(data: bytes, broken: bytes) -> None:
    assert broken_up(data)[0] == broken
    assert broken_up(broken)[0] == broken


def test_scripts_of_a_page_stay_scripts() -> None:
    page = b'<style>\n::before {}</style><p>##[a]\n::b</p><script>x = "##[a]";\n::b</script>##vso[c]'

    script = b'<script>x = "\\u0023#[a]";\n\\u003a:b</script>'
    style = b"<style>\n::before {}</style>"
    assert broken_up(page, "html")[0] == style + b"<p>&#35;#[a]\n&#58;:b</p>" + script + b"&#35;#vso[c]"


@pytest.mark.skipif(sys.platform == "win32", reason="no /dev/stdout")
def test_a_loss_report_on_standard_output_is_guarded(hostile: Path, tmp_path: Path) -> None:
    words = ["convert", str(hostile), str(tmp_path / "out"), "--to", "trec", "--keep-going", "-q"]

    done = spawn(*words, "--loss-report", "/dev/stdout")

    assert '"losses"' in done.out
    assert_harmless(done, lines=False)
