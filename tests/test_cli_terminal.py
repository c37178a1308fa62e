"""What a terminal gets and a pipe does not: colour, progress, the end of a reader; and the screens, kept as text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.command_line import DEMO, FIXTURES, ROOT, run

SCREENS = Path(__file__).parent / "screens"
ESCAPE = "\x1b["

CAP = ("--select", "SP201", "--max-per-rule", "1")
WORDS: dict[str, tuple[str, ...]] = {
    "help": ("--help",),
    "validate-help": ("validate", "--help"),
    "valid": ("validate", "fixtures/light-splade/valid/triplet"),
    "broken": ("validate", "fixtures/demo-broken"),
    "verbose": ("validate", "fixtures/light-splade/broken/shared-positive/data", "-v"),
    "verbose-graph": ("validate", "fixtures/gfm-rag/broken/few-nodes-of-type/data", "-v"),
    "json-records": ("validate", "fixtures/sage/broken/half-a-stage/data"),
    "statistics": ("validate", "fixtures/demo-broken", "--statistics", "--select", "SP1"),
    "capped": ("validate", "fixtures/demo-broken", "fixtures/light-splade/broken/dangling-qid/data", *CAP),
    "quiet": ("validate", "fixtures/demo-broken", "-q"),
    "unrecognised": ("validate", "fixtures/shared/broken/lfs-pointer"),
    "config": ("validate", "fixtures/light-splade/broken/eval-loss-size-too-large/data/config.yaml"),
    "no-dataset": ("validate", "tests/screens"),
    "unknown-rule": ("validate", "fixtures/demo-broken", "--select", "dangling-qd"),
    "explain": ("explain", "dangling-qid"),
    "explain-shared": ("explain", "RD202"),
    "formats": ("formats", "light-splade"),
    "convert-help": ("convert", "--help"),
    "convert-list": ("convert", "--list"),
    "convert-pair": ("convert", "--list", "--from", "beir", "--to", "light-splade"),
    "convert-dry-run": ("convert", "--to", "light-splade", "--dry-run", "fixtures/hipporag/valid/generic", "out"),
    "convert-strict": ("convert", "--to", "arag", "--strict", "fixtures/datamind/valid/repository", "out"),
    "convert-refused": ("convert", "--to", "datamind", "fixtures/arag/broken/chunk-not-string/data", "out"),
    "index-help": ("index", "--help"),
    "index": ("index", "fixtures/gfm-rag/valid/both-loaders"),
    "index-nothing": ("index", "fixtures/sage/valid/documented"),
    "retrieve-help": ("retrieve", "--help"),
    "retrieve": ("retrieve", "fixtures/demo-search", "the ferry to the island", "-k", "2"),
    "retrieve-explain": ("retrieve", "fixtures/demo-search", "--id", "q23", "--explain", "-k", "3"),
    "retrieve-graph": ("retrieve", "fixtures/gfm-rag/valid/both-loaders", "--id", "b1", "--mode", "graph"),
    "retrieve-lacking": ("retrieve", "fixtures/demo-search", "the ferry", "--mode", "dense"),
    "eval-help": ("eval", "--help"),
    "eval": ("eval", "fixtures/demo-search", "--min", "recall@10=0.9"),
    "eval-compare": ("eval", "fixtures/demo-search", "-q", "--compare", "bm25", "graph", "--metrics", "ndcg@10,mrr"),
    "eval-answers": ("eval", "fixtures/arag/valid/predictions"),
    "verify-nothing": ("verify", "fixtures/arag/valid"),
}


@pytest.mark.parametrize("name", WORDS)
def test_screen(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set RAGDATA_WRITE_SCREENS=1 to write them anew; read the difference before it is committed."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("RAGDATA_CACHE_DIR", str(tmp_path))

    outcome = run(*WORDS[name])

    shown = f"$ ragdata {' '.join(WORDS[name])}\n{outcome.out}{outcome.err}(exit code {outcome.code})\n"
    shown = re.sub(r"\d+\.\d\d s\b", "0.00 s", re.sub(r"\bin \d+\.\d (m?s)\b", r"in 0.0 \1", shown))
    shown = re.sub(r"-[0-9a-f]{16}\b", "-KEY", shown.replace(str(tmp_path), "CACHE"))
    shown = re.sub(r"(?<=built in 0.0 s, )[\d.]+ [kK]?B", "SIZE", shown)
    kept = SCREENS / f"{name}.txt"
    if os.environ.get("RAGDATA_WRITE_SCREENS"):
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")


def test_no_screen_is_left_over() -> None:
    assert {p.stem for p in SCREENS.glob("*.txt")} == set(WORDS)


@pytest.mark.parametrize(
    ("terminal", "env", "coloured"),
    [
        (False, {}, False),
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (False, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
@pytest.mark.parametrize("words", [("validate", str(DEMO)), ("explain", "SP201"), ("formats",)], ids=lambda w: w[0])
def test_colour(words: tuple[str, ...], terminal: bool, env: dict[str, str], coloured: bool) -> None:
    outcome = run(*words, terminal=terminal, env=env)

    assert (ESCAPE in outcome.out) == coloured


@pytest.mark.parametrize("form", ["json", "ndjson"])
def test_colour_is_for_people(form: str) -> None:
    outcome = run("validate", DEMO, "--output-format", form, terminal=True, env={"FORCE_COLOR": "1"})

    assert ESCAPE not in outcome.out


def test_colour_changes_no_word() -> None:
    plain, coloured = run("validate", DEMO), run("validate", DEMO, terminal=True)

    stripped = re.sub(r"\x1b\[[\d;]*[mK]", "", coloured.out)
    words = (re.sub(r"\d\.\d\d s", "", text).split() for text in (stripped, plain.out))  # a terminal has a width
    assert next(words) == next(words)


@pytest.fixture
def fast_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock on which every look is two seconds later."""
    ticks = iter(range(0, 10**6, 2))
    monkeypatch.setattr("ragdatakit.cli.progress.time.monotonic", lambda: float(next(ticks)))


@pytest.mark.usefixtures("fast_clock")
def test_progress_is_shown_on_a_terminal_and_removed() -> None:
    from ragdatakit.cli.progress import ProgressLine

    reader, writer = os.openpty()
    with os.fdopen(writer, "w", encoding="utf-8") as stream, os.fdopen(reader, "rb", buffering=0) as screen:
        assert stream.isatty()
        line = ProgressLine(stream)
        for done in range(0, 101, 20):
            line.show("train/\x1b[31mtriplets.ndjson", done, 100)
        line.clear()
        os.set_blocking(reader, False)
        shown = b"".join(iter(screen.readall, None)).decode()

    assert "100%" in shown and "triplets.ndjson" in shown
    assert "\x1b[31m" not in shown
    assert shown.endswith("\r\x1b[K")


@pytest.mark.usefixtures("fast_clock")
def test_progress_goes_to_the_terminal_only() -> None:
    watched, piped = run("validate", DEMO, terminal=True), run("validate", DEMO)

    assert "triplets.ndjson" in watched.err and watched.err.endswith("\r\x1b[K")
    assert piped.err == ""


def test_no_progress_for_quick_work() -> None:
    assert run("validate", DEMO, terminal=True).err == ""


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("rules",), 0),
        (("rules", "--output-format", "json"), 0),
        # As it is where everything is read, which is more than a pipe holds.
        (("validate", str(FIXTURES / "sage" / "broken"), "--max-per-rule", "0"), 1),
        (("query", str(FIXTURES / "demo-search"), "from range(100000000)", "--output-format", "csv"), 0),
    ],
    ids=lambda w: " ".join(w[:2])[:14] if isinstance(w, tuple) else "",
)
def test_reader_that_stops_early_is_no_failure_of_ours(words: tuple[str, ...], code: int) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "ragdatakit", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=ROOT
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()

    complaint = process.stderr.read()
    process.stderr.close()
    assert process.wait(60) == code
    assert complaint == b""


def test_interrupt_ends_with_a_word() -> None:
    script = (
        "import ragdatakit.validators.found_datasets as r, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # it is ignored in what a shell runs behind it\n"
        "def wait(*_, **__): print('started', flush=True); time.sleep(30)\n"
        "r.detect = wait\n"
        "from ragdatakit.cli import main\n"
        f"sys.argv = ['ragdata', 'validate', {str(DEMO)!r}]\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.1)
    process.send_signal(2)

    _, complaint = process.communicate(timeout=30)
    assert (process.returncode, complaint.splitlines()[-1]) == (130, "ragdata: stopped")
    assert "Traceback" not in complaint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_disk_behind_standard_output_is_one_line() -> None:
    words = [sys.executable, "-m", "ragdatakit", "rules"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, cwd=ROOT, check=False)

    assert (done.returncode, done.stderr) == (2, b"ragdata: no space left on the disk; make room, or write elsewhere\n")


@pytest.mark.usefixtures("fast_clock")
def test_no_time_left_is_shown_before_there_is_an_estimate(capsys: pytest.CaptureFixture[str]) -> None:
    from ragdatakit.cli.progress import ProgressLine

    line = ProgressLine(sys.stdout)
    for done, total in ((0, 1000), (5, 1000), (0, 0), (500, 1000)):
        line.show("validating the output: " + "x" * 90 + "/chunks.json", done, total)

    first, second, nothing, half = capsys.readouterr().out.split("\r\x1b[K")[1:]
    assert ["s left" in shown for shown in (first, second, nothing)] == [False, False, False]
    assert " s left" in half
    assert all("validating the output" in shown and shown.endswith("/chunks.json") for shown in (first, half))


@pytest.mark.usefixtures("fast_clock")
def test_the_last_phase_of_a_conversion_says_what_it_does(tmp_path: Path) -> None:
    outcome = run("convert", "--to", "arag", FIXTURES / "demo-search", tmp_path / "out", "--keep-going", terminal=True)

    shown = re.sub(r"\x1b\[[\d;]*[mK]", "", outcome.err)
    assert outcome.code == 0
    assert shown.rindex("validating the output: ") > shown.rindex("converting ")


def test_the_path_is_printed_once_a_file() -> None:
    lines = run("validate", DEMO, "--max-per-rule", "0").out.split("\n")

    paths = [line for line in lines if line.startswith(str(DEMO))]
    places = [line for line in lines if re.match(r"  (\d+(:\d+)? )?[A-Z]{2}\d{3} (error|warning|info) ", line)]
    assert len(paths) == len(set(paths)) == 5
    assert len(places) == 9
    assert "  3:9 SP121 error" in "\n".join(places)
