"""`ragdata report` on the command line: the screen, Markdown and JSON, the options, hostile text; screens as files."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from markdown_it import MarkdownIt

from ragdatakit import report
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.reports.summary.json import summary_json
from ragdatakit.reports.summary.markdown import code, prose, summary_markdown
from ragdatakit.reports.summary.schema import summary_schema
from ragdatakit.reports.summary.text import summary_lines
from ragdatakit.reports.summary.text_sections import SummaryTextOptions
from ragdatakit.reports.summary.words import PLAIN_SIGNS, Signs, amount, bars, percent
from ragdatakit.reports.terminal import cut_to, flowing, width_of, wrapped
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.summaries import Bin, Summary
from tests import summaries_made
from tests.command_line import DEMO, FIXTURES, ROOT, Outcome, run
from tests.conversion_tools import tables_of
from tests.summaries_made import HOSTILE, all_summaries, corpus_summary, hostile_summary, many_summaries
from tests.test_output_schema import accepted_damage, undocumented
from tests.upstream_data import UPSTREAM_DATA

SCREENS = Path(__file__).parent / "screens" / "report"
SEARCH = FIXTURES / "demo-search"
BEIR = [FIXTURES / "beir" / "valid" / name for name in ("folder", "packed", "prefixed", "splits")]
KINDS = ("arag/valid/predictions", "datamind/valid/repository", "hipporag/valid/generic", "trec/valid/collection")
FAULTY = ("gfm-rag/broken/few-nodes-of-type/data", "shared/broken/lfs-pointer/data", "demo-broken")

MADE: dict[str, tuple[Callable[[], list[Summary]], dict[str, Any]]] = {
    "made": (lambda: [corpus_summary(), summaries_made.graph_summary(), summaries_made.trace_summary()], {}),
    "made-narrow": (lambda: [corpus_summary(), summaries_made.graph_summary()], {"width": 80}),
    "made-verbose": (lambda: [corpus_summary(), summaries_made.graph_summary()], {"verbose": True}),
    "made-plain": (lambda: [summaries_made.graph_summary()], {"plain": True}),
    "made-many": (many_summaries, {}),
    "made-quiet": (lambda: many_summaries(3), {"quiet": True}),
    "made-hostile": (lambda: [hostile_summary()], {"verbose": True}),
    "made-empty": (lambda: [summaries_made.empty_summary()], {}),
}
WORDS: dict[str, tuple[str, ...]] = {
    "help": ("report", "--help"),
    "search": ("report", "fixtures/demo-search"),
    "graph": ("report", "fixtures/gfm-rag/valid/both-loaders"),
    "traces": ("report", "fixtures/sage/valid/documented"),
    "training": ("report", "fixtures/light-splade/valid/both", "--findings"),
    "broken": ("report", "fixtures/demo-broken", "--findings"),
    "many": ("report", *(str(p.relative_to(ROOT)) for p in BEIR)),
    "quiet": ("report", "fixtures/demo-search", "-q"),
    "markdown": ("report", "fixtures/demo-search", "--output-format", "markdown"),
}


def compared(name: str, shown: str) -> None:
    """Compare with the file; RAGDATA_WRITE_SCREENS=1 writes it anew: read the difference before it is committed."""
    kept = SCREENS / name
    shown = re.sub(r"\d+\.\d\d s\b", "0.00 s", shown)
    if os.environ.get("RAGDATA_WRITE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        kept.write_text(shown, encoding="utf-8")
    assert shown == kept.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MADE)
def test_screens_of_summaries(name: str) -> None:
    make, options = MADE[name]

    compared(f"{name}.txt", "".join(f"{line}\n" for line in summary_lines(make(), SummaryTextOptions(**options))))


def test_markdown_of_summaries() -> None:
    compared("made.md", "".join(f"{line}\n" for line in summary_markdown(all_summaries(), details=True)))


@pytest.mark.parametrize("name", WORDS)
def test_screens_of_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)

    outcome = run(*WORDS[name])

    shown = f"$ ragdata {' '.join(WORDS[name])}\n{outcome.out}{outcome.err}(exit code {outcome.code})\n"
    compared(f"{name}.txt", shown)


def test_no_screen_is_left_over() -> None:
    assert {p.name for p in SCREENS.iterdir()} == {"made.md", *(f"{name}.txt" for name in (*MADE, *WORDS))}


# The terminal


def screens(width: int, *, colour: bool = False, plain: bool = False) -> Iterator[str]:
    for verbose in (False, True):
        options = SummaryTextOptions(width=width, verbose=verbose, colour=colour, plain=plain)
        yield from summary_lines(all_summaries(), options)
        for one in all_summaries():
            yield from summary_lines([one], options)
    yield from summary_lines(many_summaries(), SummaryTextOptions(width=width, colour=colour, plain=plain))


@pytest.mark.parametrize("width", [60, 80, 100, 120])
def test_lines_fit_the_terminal(width: int) -> None:
    assert [line for line in screens(width) if width_of(line) > width] == []


def test_nothing_in_the_data_is_obeyed_by_a_terminal() -> None:
    for line in screens(100):
        assert all(c.isprintable() for c in line), line
    assert any("<U+202E>evil" in line for line in screens(100))


def test_colour_changes_no_word() -> None:
    coloured = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in screens(100, colour=True)]

    assert coloured == list(screens(100))
    assert any("\x1b[33m" in line for line in screens(100, colour=True))


def test_plain_signs_are_ascii() -> None:
    lines = summary_lines([corpus_summary(), *many_summaries(8)], SummaryTextOptions(plain=True))

    assert all(line.isascii() for line in lines if "東京" not in line)


@pytest.mark.parametrize(
    ("counts", "most", "signs", "shown"),
    [
        ((1, 2, 4, 8, 0, 16), 9, Signs(), "▁▁▂▃ ▇"),
        ((1, 1, 8, 8, 0, 0), 3, Signs(), "▁▇ "),
        ((1, 10_000_000), 9, Signs(), "▁▇"),
        ((5, 10), 9, PLAIN_SIGNS, "+#"),
        ((0, 0), 9, Signs(), "  "),
        ((), 9, Signs(), ""),
    ],
    ids=str,
)
def test_small_histograms(counts: tuple[int, ...], most: int, signs: Signs, shown: str) -> None:
    assert bars([Bin(i, i + 1, n) for i, n in enumerate(counts)], most, signs) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (0, 10, "0%"),
        (1, 100_000, "<0.1%"),
        (1, 100, "1.0%"),
        (1, 3, "33%"),
        (996, 1000, "99.6%"),
        (99_999, 100_000, ">99.9%"),
        (10, 10, "100%"),
        (0, 0, "–"),
    ],
)
def test_shares(part: float, whole: float, shown: str) -> None:
    assert percent(part, whole) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (3, "3"), (2.5, "2.5"), (0.01234, "0.0123"), (1234.5, "1,234"), (1e20, "1e+20"), (float("nan"), "–")],
    ids=str,
)
def test_amounts(value: float, shown: str) -> None:
    assert amount(value) == shown


def test_texts_in_columns() -> None:
    assert width_of("東京 e\u0301") == 6
    assert cut_to("東京は夜", 5) == "東京…"
    assert wrapped("a 東京東京東京東京 b", 12) == ["a", "東京東京東京", "東京 b"]
    assert list(flowing("head: ", ["one", "two", "three"], 18, ",")) == ["head: one, two,", "      three"]
    assert wrapped("", 20) == [""]


# Markdown


class _Tags(HTMLParser):
    """The tags, the texts in cells, and the cells of each row of a document."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.rows: list[int] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert {name for name, _ in attrs} <= {"style"}
        if tag == "tr":
            self.rows.append(0)
        if tag in ("td", "th"):
            self.rows[-1] += 1

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def rendered(markdown: str) -> _Tags:
    return _Tags(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


def test_markdown_makes_only_what_is_ours() -> None:
    shown = rendered("\n".join(summary_markdown(all_summaries(), details=True)))

    tables = {"table", "thead", "tbody", "tr", "th", "td"}
    assert set(shown.tags) == tables | {"h2", "p", "code", "strong", "details", "summary", "br"}
    words = "".join(shown.texts)
    assert "<script>alert(1)</script> a|b `c` <U+001B>" in words
    assert shown.tags.count("h2") == 1 + len(all_summaries())
    assert "·▇▁▁·▁" in words


def test_every_row_of_a_markdown_table_has_all_its_cells() -> None:
    for summary in all_summaries():
        blocks = "\n".join(summary_markdown([summary])).split("\n\n")
        for block in (b for b in blocks if b.startswith("|")):
            rows = rendered(block).rows
            assert len(set(rows)) == 1
            assert len(rows) == block.count("\n")


@pytest.mark.parametrize(
    "text",
    ["a|b", "`", "``a`` b", "\\", "a\\|b", "*x*", "<b>", "&amp;", "&#124;", " |", "$x$", "~~x~~", "[x](y)", "c:\\"],
)
def test_any_text_is_shown_as_it_is(text: str) -> None:
    for shown in (code(text), prose(text)):
        document = rendered(f"| a | b |\n| --- | --- |\n| {shown} | z |\n")
        assert document.rows == [2, 2]
        assert [each for each in "".join(document.texts).split("\n") if each] == ["a", "b", text.strip(), "z"]
        assert set(document.tags) <= {"table", "thead", "tbody", "tr", "th", "td", "code"}


def test_nobody_is_reported_and_nothing_is_linked() -> None:
    found = prose("ask @who, see #12 and https://e.test or www.e.test, a@e.test")

    assert not re.search(r"@\w|#\d|://|www\.", found)


# JSON


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    Draft202012Validator.check_schema(summary_schema())
    return Draft202012Validator(summary_schema())


def assert_fits(document: Any, validator: Draft202012Validator) -> None:
    assert [f"{e.json_path}: {e.message}" for e in validator.iter_errors(document)] == []
    assert undocumented(document, summary_schema(), summary_schema()) == []
    assert accepted_damage(document, summary_schema()) == []


def test_json_of_summaries_fits_its_schema(validator: Draft202012Validator) -> None:
    document = json.loads(summary_json(all_summaries()))

    assert_fits(document, validator)
    assert document["datasets"][0]["tables"][2]["splits"] == [
        {"split": "train", "rows": 919},
        {"split": "test", "rows": 339},
    ]
    row = document["datasets"][3]["examples"][0]["row"]
    assert row["doc_id"] == HOSTILE.replace("\ud800", "\ufffd")


def test_json_of_odd_values(validator: Draft202012Validator) -> None:
    summary = corpus_summary()
    odd = {"long": 2**70, "bytes": b"x", "nested": {"a": [float("inf"), "\ud800"]}, "\udfff": None}
    summary.examples = [type(summary.examples[0])("documents", "first", odd)]
    summary.path = "caf\udce9"

    document = json.loads(summary_json([summary]))

    assert_fits(document, validator)
    assert document["datasets"][0]["examples"][0]["row"] == {
        "long": str(2**70),
        "bytes": "b'x'",
        "nested": {"a": [None, "\ufffd"]},
        "\ufffd": None,
    }


@pytest.mark.broad(3)
@pytest.mark.parametrize("name", [*KINDS, *FAULTY])
def test_json_of_the_command_fits(name: str, validator: Draft202012Validator) -> None:
    outcome = run("report", FIXTURES / name, "--json")

    assert (outcome.code, outcome.err) == (0, "")
    assert_fits(outcome.json, validator)
    assert outcome.json["findings"] is None


# The command


def test_findings_are_those_of_validate(validator: Draft202012Validator) -> None:
    outcome = run("report", DEMO, "--findings", "--json")

    assert outcome.code == 0
    assert_fits(outcome.json, validator)
    validated = run("validate", DEMO, "--output-format", "json").json
    assert outcome.json["findings"]["counts"]["error"] == validated["counts"]["error"] > 0
    assert outcome.json["findings"]["by_rule"] == validated["by_rule"]


def test_findings_of_what_has_no_rules(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Some words.\n")

    plain, asked = run("report", tmp_path), run("report", tmp_path, "--findings")

    assert (plain.code, asked.code) == (0, 2)
    assert "1 document" in plain.out
    assert asked.err.startswith("ragdata: ")


@pytest.mark.parametrize(
    ("name", "begins"), [("x.json", "{"), ("x.md", "## "), ("x.txt", "demo-search"), ("x.MD", "## ")], ids=str
)
def test_the_name_of_the_file_says_the_form(
    name: str, begins: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ragdatakit.cli.progress.SHOWN_AFTER", 600.0)  # also where the machine is slow
    place = tmp_path / name
    place.write_text("old")

    outcome = run("report", SEARCH, "--output-file", place, terminal=True)

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert place.read_text(encoding="utf-8").startswith(begins)
    assert "\x1b" not in place.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_the_option_goes_before_the_name(tmp_path: Path) -> None:
    run("report", SEARCH, "--output-file", tmp_path / "x.md", "--output-format", "json")

    assert json.loads((tmp_path / "x.md").read_text())["version"] == 1


def test_a_page(tmp_path: Path) -> None:
    outcome = run("report", DEMO, "--output-file", tmp_path / "x.html")

    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "SP201" in page
    assert "SP201" not in run("report", DEMO, "--output-format", "html", "--no-findings").out


def test_the_database(tmp_path: Path) -> None:
    import duckdb

    place = tmp_path / "data.duckdb"

    first, again = (run("report", SEARCH, "--save-database", place) for _ in range(2))

    assert (first.code, again.code) == (0, 2)
    assert "--overwrite replaces it" in again.err
    with duckdb.connect(str(place), read_only=True) as connection:
        found = connection.execute("select count(*) from documents").fetchone()
    documents = next(
        t for t in run("report", SEARCH, "--json").json["datasets"][0]["tables"] if t["name"] == "documents"
    )
    assert found == (documents["rows"],)
    assert run("report", SEARCH, "--save-database", place, "--overwrite").code == 0


@pytest.mark.parametrize("kilobytes", [20, *(pytest.param(n, marks=pytest.mark.broad) for n in (1, 300))])
def test_a_full_disk_behind_the_database_is_one_line(tmp_path: Path, kilobytes: int) -> None:
    import resource

    place, limit = tmp_path / "data.duckdb", kilobytes * 1024
    place_for_scratch = tmp_path / "scratch"
    place_for_scratch.mkdir()

    done = subprocess.run(
        [sys.executable, "-m", "ragdatakit", "report", str(SEARCH), "-q", "--save-database", str(place)],
        capture_output=True,
        text=True,
        env={**os.environ, "TMPDIR": str(place_for_scratch), "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        check=False,
    )

    assert done.returncode == 2, done
    assert done.stderr.startswith(f"ragdata: {place} cannot be written: ")
    assert done.stderr.endswith("File too large\n")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == [place_for_scratch]
    assert list(place_for_scratch.iterdir()) == []


def test_what_is_no_database_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "notes.txt"
    place.write_text("my notes")

    outcome = run("report", SEARCH, "--save-database", place, "--overwrite")

    assert outcome.code == 2
    assert place.read_text() == "my notes"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("nowhere",), "nowhere"),
        (("",), "empty path"),
        ((str(SEARCH), "--output-file", "nowhere/x.json"), "there is no folder"),
        ((str(SEARCH), "--save-database", "nowhere/x.db"), "there is no folder"),
        ((str(SEARCH), "--save-database", "x", "--output-file", "x"), "the same file"),
        ((str(SEARCH), "--overwrite"), "--overwrite is for --save-database"),
        ((str(SEARCH), "--json", "--output-format", "html"), "not both"),
        ((str(SEARCH), "-q", "-v"), "not both"),
        ((str(SEARCH), "--examples", "-1"), "-1"),
        ((str(SEARCH), "--from", "beri"), "beir"),
        ((str(SEARCH), "-o", "size"), "NAME=VALUE"),
    ],
    ids=lambda v: " ".join(v[1:]) or "path" if isinstance(v, tuple) else "",
)
def test_what_cannot_be_done(
    words: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    outcome = run("report", *words)

    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert "Traceback" not in outcome.err
    assert list(tmp_path.iterdir()) == []


def test_a_page_is_not_for_the_terminal() -> None:
    outcome = run("report", SEARCH, "--output-format", "html", terminal=True)

    assert outcome.code == 2
    assert "--output-file report.html" in outcome.err


def test_here_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(SEARCH)

    assert run("report", "--json").json["datasets"][0]["format"] == "beir"


def test_the_seed_chooses_the_rows() -> None:
    def drawn(seed: int) -> list[Any]:
        found: Outcome = run("report", SEARCH, "--json", "--seed", str(seed), "--examples", "2")
        return [e for d in found.json["datasets"] for e in d["examples"] if e["why"] == "random"]

    assert len(drawn(1)) == 6
    assert drawn(1) != drawn(2)


def test_few_datasets_are_shown_whole() -> None:
    def found(number: int, details: bool | None = None) -> str:
        return "\n".join(summary_lines(many_summaries(number), SummaryTextOptions(details=details)))

    assert "Distributions" in found(3)
    assert "Distributions" not in found(4)
    assert "Distributions" in found(4, details=True)
    assert "Distributions" not in found(1, details=False)


def test_sets_of_one_folder_are_reported_apart() -> None:
    folder = ROOT / "fixtures" / "hipporag" / "valid" / "two-sets"

    screen = run("report", folder, "--no-details")
    markdown = run("report", folder, "--no-details", "--output-format", "markdown")

    assert [line.split("  ")[0] for line in screen.out.splitlines()[3:5]] == ["harbours", "reefs"]
    assert screen.out.startswith("2 datasets (hipporag 2): 4 files, 1.1 kB, 11 rows\n")
    assert "`harbours`" in markdown.out


def test_details_are_for_markdown_too() -> None:
    outcome = run("report", SEARCH, "--output-format", "markdown", "--no-details")

    assert outcome.out.count("\n") < 8


def test_hostile_records(tmp_path: Path, validator: Draft202012Validator) -> None:
    text = HOSTILE.replace("\ud800", "")
    corpus = [{"_id": text, "title": text, "text": text}, {"_id": "b", "title": "", "text": "\u0000\u200f"}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(record) + "\n" for record in corpus))
    (tmp_path / "queries.jsonl").write_text(json.dumps({"_id": "q", "text": text}) + "\n")
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tb\t1\n")

    screen = run("report", tmp_path, "-v")
    document = run("report", tmp_path, "--json")
    markdown = run("report", tmp_path, "--output-format", "markdown")

    assert screen.code == 0
    assert [c for c in screen.out if not c.isprintable() and c != "\n"] == []
    assert_fits(document.json, validator)
    assert not {"script", "a", "img", "em"} & set(rendered(markdown.out).tags)
    assert [c for c in markdown.out if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"] == []


@pytest.mark.broad
@pytest.mark.skipif(not UPSTREAM_DATA.is_dir(), reason="the public datasets are not beside the project")
@pytest.mark.parametrize("name", ["scifact-beir", "light-splade-toy"])
def test_real_datasets(name: str, validator: Draft202012Validator) -> None:
    outcome = run("report", UPSTREAM_DATA / name, "--json")

    assert outcome.code == 0
    assert_fits(outcome.json, validator)


def test_a_value_is_named_where_it_would_be_the_only_other_one(tmp_path: Path) -> None:
    kinds = {"Fact Retrieval": 1098, "Complex Reasoning": 509, "Contextual Summarize": 289, "Creative Generation": 166}
    asked = [{"question_type": kind, "source": "M"} for kind, number in kinds.items() for _ in range(number)]
    rows = [{"question": f"Which {n}?", "answer": str(n), **more} for n, more in enumerate(asked)]
    (tmp_path / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    shown = " ".join(run("report", tmp_path).out.split())

    assert "Creative Generation: 166 (8.1%)" in shown and "1 other" not in shown


def test_splits_stand_in_one_order_in_all_tables(tmp_path: Path) -> None:
    splits = ("test", "train", "extra", "dev")
    questions = [Question(f"q{n}", "What?", split=split) for n, split in enumerate(splits)]
    qrels = [Qrel(f"q{n}", "d1", 1, "document", split=split) for n, split in reversed(list(enumerate(splits)))]
    tables = tables_of(documents=[Document("d1", "words")], questions=questions, qrels=qrels)
    with DatasetDatabase(tables) as database:
        for table in ("questions", "qrels"):
            assert list(database.splits(table)) == ["train", "dev", "test", "extra"]


def test_what_datasets_hold_is_whole_where_it_goes_into_a_file(tmp_path: Path) -> None:
    places = [
        FIXTURES / name for name in ("demo-search", "demo-broken", "gfm-rag/valid/both-loaders", "trec/valid/packed")
    ]

    printed = run("report", *places).out
    assert run("report", *places, "--output-file", tmp_path / "a.txt").code == 0

    for each in (printed, (tmp_path / "a.txt").read_text(encoding="utf-8")):
        assert "10 documents, 20 nodes, 2 relations, 19 edges, 2 questions, 6 judgements, 2 start nodes\n" in each


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("trec/valid/packed", {"documents.trec.gz": 3, "topics.xml.gz": 2}),
        ("trec/valid/collection", {"documents.trec": 3, "topics.xml": 2}),
        ("lightrag/valid/ingested", {"graph_chunk_entity_relation.graphml": 9, "vdb_chunks.json": None}),
        ("lightrag/valid/extraction", {"chunk-1.extraction.txt": 3}),
    ],
)
def test_elements_and_what_is_in_graphs_are_counted(folder: str, expected: dict[str, int | None]) -> None:
    (dataset,) = report(FIXTURES / folder).as_dict()["datasets"]
    found = {Path(file["path"]).name: file["records"] for file in dataset["files"]}

    assert {name: found[name] for name in expected} == expected
