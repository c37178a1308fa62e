"""Where outputs go: no file of the data is replaced, messages name the file that was asked for, misnamed options."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import FIXTURES, ROOT, run
from tests.gate_tools import write_files

DEMO_SEARCH = FIXTURES / "demo-search"


@pytest.mark.parametrize(
    "words",
    [
        "query {d} from_documents --output-file {d}/corpus.jsonl",
        "query {d}/.. from_documents --dataset set --output-file {d}/qrels/test.tsv",
        "report {d} --output-file {d}/corpus.jsonl",
        "report {d}/corpus.jsonl --from beir --output-file {d}/corpus.jsonl",
        "validate {d} --output-file {d}/corpus.jsonl",
        "validate {d}/corpus.jsonl --output-file {d}/corpus.jsonl",
        "diff {s} {d} --output-file {d}/corpus.jsonl",
        "gate {d} --init --overwrite --output-file {d}/corpus.jsonl",
        "eval {d} --report {d}/corpus.jsonl",
        "retrieve {d} word --output-file {d}/corpus.jsonl",
    ],
    ids=lambda words: " ".join(words.split()[:2]),
)
def test_files_of_the_data_are_not_replaced(words: str, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")
    before = (folder / "corpus.jsonl").read_bytes()

    refused = run(
        *(w.format(d=folder, s=DEMO_SEARCH).replace("from_documents", "from documents") for w in words.split())
    )

    assert refused.code == 2 and "is a file of the data itself" in refused.err
    assert (folder / "corpus.jsonl").read_bytes() == before


def test_another_file_beside_the_data_is_replaced(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "set")

    for _ in range(2):
        assert run("query", folder, "select 1", "--output-file", folder / "rows.csv").code == 0
    table = tmp_path / "notes.csv"
    table.write_text("id,text\n1,a\n", encoding="utf-8")
    refused = run("query", table, "from documents", "--output-file", table)
    assert refused.code == 2 and table.read_text(encoding="utf-8") == "id,text\n1,a\n"


def denied_beside(path: Path, *_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied", str(path))


def test_a_fault_of_writing_names_the_file_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", denied_beside)
    out = tmp_path / "rows.json"
    for words in (("query", DEMO_SEARCH, "select 1"), ("validate", DEMO_SEARCH), ("diff", DEMO_SEARCH, DEMO_SEARCH)):
        outcome = run(*words, "--output-file", out)
        assert (outcome.code, outcome.err) == (2, f"ragdata: {out}: Permission denied\n")


def test_a_database_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "mkdir", denied_beside)
    out = tmp_path / "data.duckdb"

    outcome = run("report", DEMO_SEARCH, "--save-database", out)

    assert (outcome.code, outcome.err) == (2, f"ragdata: {out}: Permission denied\n")


def test_outputs_with_the_longest_names(tmp_path: Path) -> None:
    names = ["x" * 250, "ü" * 125]

    for name in names:
        assert run("report", DEMO_SEARCH, "--save-database", tmp_path / name).code == 0
        assert run("report", DEMO_SEARCH, "--output-file", tmp_path / f"{name}.html").code == 0

    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*names, *(f"{name}.html" for name in names)])


WRITING = """
import sys, time
from pathlib import Path
from ragdatakit.files.paths.writing import write_pieces
def pieces():
    yield b"begun"
    sys.stdin.readline()
write_pieces(Path(sys.argv[1]), pieces())
"""


@pytest.mark.skipif(os.name != "posix", reason="locks of POSIX")
def test_what_a_killed_run_left_beside_its_output_is_removed_by_the_next(tmp_path: Path) -> None:
    words = [sys.executable, "-c", WRITING, str(tmp_path / "rows.csv")]
    killed, living = (subprocess.Popen(words, stdin=subprocess.PIPE) for _ in range(2))
    mine = tmp_path / ".rows.csv.original"
    mine.write_text("mine")
    while len(list(tmp_path.glob(".rows.csv.ragdata-*/rows.csv"))) < 2:
        assert killed.poll() is None and living.poll() is None
    killed.kill()
    killed.communicate()
    begun = set(tmp_path.iterdir())

    outcome = run("query", DEMO_SEARCH, "select 1 as n", "--output-file", tmp_path / "rows.csv")

    left = set(tmp_path.iterdir())
    living.communicate(b"\n")
    assert outcome.code == 0
    assert len(begun) == 3 and len(left) == 3, "one folder of the living, the output, and a file of the user"
    assert sorted(p.name for p in tmp_path.iterdir()) == [".rows.csv.original", "rows.csv"]
    assert (tmp_path / "rows.csv").read_bytes() == b"begun"


def test_a_pipe_in_the_place_of_a_file(tmp_path: Path) -> None:
    script = (
        f"{sys.executable} -m ragdatakit query {DEMO_SEARCH} 'from range(300000)' --output-format csv --output-file "
    )
    done = subprocess.run(
        ["bash", "-c", f"{script} >(head -n 1); echo $?"], capture_output=True, text=True, cwd=ROOT, check=False
    )

    assert (sorted(done.stdout.split()), done.stderr) == (["0", "range"], "")


@pytest.mark.parametrize("words", [("--fix-only",), ("--exit-zero", "-v")], ids=lambda words: words[0])
def test_what_nobody_reads_changes_no_exit_code(words: tuple[str, ...], tmp_path: Path) -> None:
    """As with ``2>&1 | true``: neither stream has a reader."""
    shutil.copytree(FIXTURES / "demo-broken", tmp_path / "data")
    nobody, written = os.pipe()
    os.close(nobody)
    try:
        command = [sys.executable, "-m", "ragdatakit", "validate", "data", *words]
        done = subprocess.run(command, cwd=tmp_path, stdout=written, stderr=written, timeout=60, check=False)
    finally:
        os.close(written)

    assert done.returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("report x --output y", "No such option '--output'. Did you mean --output-file?"),
        ("gate x --output y", "Did you mean --output-file?"),
        ("eval x --output y", "Did you mean --output-file?"),
        ("report x --format beir", "Did you mean --from (the format of the data) or --output-format?"),
        ("report . -o out.html", "expected NAME=VALUE (to write a file: --output-file out.html)"),
        ("retrieve . word -o out.run", "expected NAME=VALUE (to write a file: --output-file out.run)"),
    ],
)
def test_options_that_have_another_name_here(words: str, message: str) -> None:
    outcome = run(*words.split())

    assert outcome.code == 2 and message in outcome.err


@pytest.mark.parametrize("words", [("validate",), ("report",), ("query", "--tables")], ids=lambda words: words[0])
def test_a_folder_without_files(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()

    outcome = run(words[0], tmp_path, *words[1:])

    assert (outcome.code, outcome.err) == (2, f"ragdata: {tmp_path} has no files\n")
