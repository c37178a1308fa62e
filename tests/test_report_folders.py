"""Reports over folders of several datasets: plain ones by subfolder, those that cannot be read, what is left out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import ragdatakit
from ragdatakit.converters.plain_folders import plain_datasets
from ragdatakit.converters.run import ConvertOptions, find_sources
from ragdatakit.reports.html_page import summary_page
from ragdatakit.reports.summary_markdown import summary_markdown
from ragdatakit.reports.summary_schema import summary_schema
from ragdatakit.reports.summary_text import SummaryTextOptions, summary_lines
from ragdatakit.reports.summary_words import left_out_words
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import LeftOut
from ragdatakit.tables.left_out import left_out_folders
from tests.command_line import FIXTURES, run
from tests.summaries_made import HOSTILE

GRAPHS = FIXTURES / "plain" / "graphs"
BEIR = FIXTURES / "beir" / "valid" / "folder"
TABLE = "id,text\n1,one\n"


def folder(place: Path, *names: str, **contents: str) -> Path:
    """Files by their paths; of ``names`` the content is that of their ending."""
    usual = {".csv": TABLE, ".txt": "words\n", ".md": "words\n", ".tsv": "a\tr\tb\nb\tr\tc\nc\tr\ta\n"}
    for name, content in {**{name: usual[Path(name).suffix] for name in names}, **contents}.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content)
    return place


# Plain subfolders


def test_each_subfolder_is_a_dataset() -> None:
    summaries = ragdatakit.report(GRAPHS, examples=0)

    assert [(s.name, s.format, s.path) for s in summaries] == [
        ("canals", "table", str(GRAPHS / "canals")),
        ("orchard", "table", str(GRAPHS / "orchard")),
    ]
    assert [s.graph.edges for s in summaries if s.graph is not None] == [11, 4]
    assert summaries.left_out == ()


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("a/1.csv", "b/2.csv"), ["a table", "b table"]),
        (("a/1.tsv", "b/2.txt", "README.md"), ["a table", "b text"]),
        (("a/1.tsv", "b/1/2.tsv", "b/x/2.tsv"), ["a table", "b table"]),
        (("a/1.csv", "b/k/2.csv", "b/m/2.csv"), ["a table", "b/k table", "b/m table"]),
        (("a/1.csv", "b/2.csv", "b/3.md"), ["a table", "b text", "b table"]),
        (("a/1.csv", "b/2.csv", "b/README.md"), ["a table", "b table"]),
        (("a/1.csv", "b/2.csv", "3.csv"), [". table"]),
        (("a/1.csv", "b/c/2.csv", "LICENSE.txt"), ["a table", "b table"]),
        (("a/1.csv", "README.md"), [". table"]),
        (("a/1.txt", "b/2.txt"), [". text"]),
        (("corpus/1.csv", "queries/1.csv"), [". table"]),
        (("train/1.csv", "b/1.csv"), [". table"]),
        (("2023/1.csv", "2024/1.csv"), [". table"]),
        (("part-1/1.csv", "part-2/1.csv"), [". table"]),
        (("lang=en/1.csv", "lang=da/1.csv"), [". table"]),
    ],
    ids=" ".join,
)
def test_what_stands_alone(names: tuple[str, ...], expected: list[str], tmp_path: Path) -> None:
    found = plain_datasets(folder(tmp_path, *names))

    assert [f"{d.root.relative_to(tmp_path).as_posix()} {d.format.name}" for d in found] == expected


def test_texts_and_tables_side_by_side_need_a_choice(tmp_path: Path) -> None:
    folder(tmp_path, "a.csv", "notes.md")

    outcome = run("report", tmp_path)

    assert (outcome.code, outcome.out) == (2, "")
    assert "holds texts and tables; choose one with --from text or --from table" in outcome.err


def test_folders_of_texts_and_of_tables_are_reported_and_not_converted(tmp_path: Path) -> None:
    folder(tmp_path / "all", "a/1.tsv", "b/1.txt")

    assert [s.format for s in ragdatakit.report(tmp_path / "all", examples=0)] == ["table", "text"]
    outcome = run("convert", tmp_path / "all", tmp_path / "out", "--to", "datamind")
    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "holds folders of texts and folders of tables" in outcome.err


def test_each_subfolder_is_converted(tmp_path: Path) -> None:
    outcome = run("convert", GRAPHS, tmp_path / "out", "--to", "datamind")

    assert (outcome.code, outcome.err) == (0, "")
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["canals", "orchard"]


def test_a_folder_is_read_whole_where_a_format_is_given() -> None:
    (source,) = find_sources(GRAPHS, ConvertOptions(target_format="", source_format="table"))

    assert [f.name for f in source.parts[0].files if f.kind == "triples"] == [
        "canals/test.txt",
        "canals/train.txt",
        "canals/valid.txt",
    ]


# What cannot be read


def test_what_cannot_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    folder(tmp_path, "good/a.csv", "last/a.tsv", **{"bad/a.csv": "when,what\n1,2\n"})
    told = "nothing tells what the columns are"

    bad, good, last = ragdatakit.report(tmp_path, examples=0, save=tmp_path / "x.duckdb")

    assert (bad.unread, bad.name, bad.format, bad.tables) == (True, "bad", "table", [])
    assert told in bad.losses[0]
    assert [(Path(file.path).name, file.bytes) for file in bad.files] == [("a.csv", 14)]
    assert (good.unread, last.unread) == (False, False)
    assert [s.tables[0].rows for s in (good, last)] == [1, 3]
    (line,) = [line for line in summary_lines([bad, good], SummaryTextOptions(details=False)) if told[:5] in line]
    assert "could not be read: " in line
    assert f"could not be read: {told}" in "\n".join(summary_markdown([bad, good]))
    assert told in summary_page([bad, good]).decode()
    screen = run("report", tmp_path)
    assert (screen.code, screen.err) == (0, "")
    assert told in " ".join(screen.out.split())


def test_what_cannot_be_read_to_the_end(tmp_path: Path) -> None:
    folder(tmp_path, "good/a.csv", **{"bad/a.csv": 'id,text\n1,one\n2,"no end\n'})

    bad, good = ragdatakit.report(tmp_path, examples=0)

    assert (bad.unread, good.unread) == (False, False)
    assert "a quote is not closed" in bad.losses[0]


def test_one_alone_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    folder(tmp_path, **{"a.csv": "when,what\n1,2\n"})

    with pytest.raises(RagdataError, match="nothing tells what the columns are"):
        ragdatakit.report(tmp_path)


def test_a_database_that_cannot_be_written_is_no_fault_of_the_data(tmp_path: Path) -> None:
    outcome = run("report", GRAPHS, "--save-database", tmp_path / "x" / "y.duckdb")

    assert outcome.code == 2
    with pytest.raises(RagdataError, match="is no folder"):
        ragdatakit.report(GRAPHS, save=tmp_path / "x" / "y.duckdb")


# What is left out


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """A BEIR dataset, beside it folders of other data, and files about it all."""
    place = tmp_path / "mixed"
    shutil.copytree(BEIR, place / "sets" / "beir")
    folder(
        place, "SOURCE.md", "texts/1.txt", "texts/deep/2.txt", "sets/graph/kg.tsv", "sets/README.md", "notes/README.md"
    )
    folder(place, "sets/beir/notes.txt", "sets/beir/more/x.txt")
    (place / "image.png").write_bytes(b"x")
    return place


def test_folders_of_no_known_format_are_told(mixed: Path) -> None:
    summaries = ragdatakit.report(mixed, examples=0)

    assert [s.format for s in summaries] == ["beir"]
    assert summaries.left_out == (LeftOut(str(mixed / "sets" / "graph"), 1), LeftOut(str(mixed / "texts"), 2))
    told = "Left out: 2 folders whose data is of no known format; name one to read it as texts or tables"
    screen = run("report", mixed)
    assert f"{told}\n  sets/graph (1 file), texts (2 files)\n\nReported: " in screen.out
    assert "Left out" not in "\n".join(
        summary_lines(summaries, SummaryTextOptions(quiet=True), left_out=summaries.left_out)
    )
    markdown = "\n".join(summary_markdown(summaries, left_out=summaries.left_out))
    assert f"{told}: sets/graph (1 file), texts (2 files)." in markdown
    assert "sets/graph (1 file)" in summary_page([], left_out=summaries.left_out).decode().replace("<wbr>", "")


def test_left_out_folders_in_json(mixed: Path) -> None:
    document = run("report", mixed, "--json").json

    assert document["left_out"] == [
        {"path": str(mixed / "sets" / "graph"), "files": 1},
        {"path": str(mixed / "texts"), "files": 2},
    ]
    assert list(Draft202012Validator(summary_schema()).iter_errors(document)) == []
    assert ragdatakit.report(mixed, source_format="beir", examples=0).left_out == ()


def test_files_of_the_folder_itself(mixed: Path) -> None:
    folder(mixed, "stray.csv", "sets/stray.csv")

    assert [(Path(each.path), each.files) for each in left_out_folders(mixed)] == [
        (mixed, 1),
        (mixed / "sets", 1),
        (mixed / "sets" / "graph", 1),
        (mixed / "texts", 2),
    ]


def test_nothing_is_left_out_of_plain_folders_and_files() -> None:
    assert left_out_folders(GRAPHS) == []
    assert left_out_folders(BEIR / "corpus.jsonl") == []
    assert left_out_folders(BEIR) == []


def test_many_left_out_folders_are_capped() -> None:
    _, listed = left_out_words([LeftOut(f"a/x{n:02}", 1) for n in range(30)])

    assert listed[-2:] == ["x09 (1 file)", "20 more"]
    assert left_out_words([LeftOut("a/x", 1)])[1] == ["a/x (1 file)"]


def test_names_of_folders_are_data() -> None:
    page = summary_page([], left_out=[LeftOut(f"a/{HOSTILE}", 1), LeftOut("a/b", 2)]).decode()

    assert HOSTILE not in page
