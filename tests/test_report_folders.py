"""Reports over folders of several datasets: plain ones by subfolder, those that cannot be read, what is left out."""

from __future__ import annotations

import gzip
import shlex
import shutil
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import ragdatakit
from ragdatakit.converters.plain_folders import plain_datasets
from ragdatakit.converters.sources import ConversionSettings, find_sources
from ragdatakit.files.detection.left_out import left_out_folders
from ragdatakit.reports.html.page import summary_page
from ragdatakit.reports.summary.markdown import summary_markdown
from ragdatakit.reports.summary.schema import summary_schema
from ragdatakit.reports.summary.text import summary_lines
from ragdatakit.reports.summary.text_sections import SummaryTextOptions
from ragdatakit.reports.summary.words import left_out_words
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.summaries import LeftOut
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
    (source,) = find_sources(GRAPHS, ConversionSettings(target_format="", source_format="table"))

    assert [f.name for f in source.parts[0].files if f.kind == "triples"] == [
        "canals/test.txt",
        "canals/train.txt",
        "canals/valid.txt",
    ]


# What cannot be read


def test_what_cannot_be_read_does_not_stop_the_rest(tmp_path: Path) -> None:
    folder(tmp_path, "good/a.csv", "last/a.tsv", **{"bad/a.csv": "when,what\n1,2\n"})
    words = "the columns cannot be recognised"

    bad, good, last = ragdatakit.report(tmp_path, examples=0, save=tmp_path / "x.duckdb")

    assert (bad.unread, bad.name, bad.format, bad.tables) == (True, "bad", "table", [])
    assert words in bad.losses[0]
    assert [(Path(file.path).name, file.bytes) for file in bad.files] == [("a.csv", 14)]
    assert (good.unread, last.unread) == (False, False)
    assert [s.tables[0].rows for s in (good, last)] == [1, 3]
    (line,) = [line for line in summary_lines([bad, good], SummaryTextOptions(details=False)) if words[:5] in line]
    assert "could not be read: " in line
    assert f"could not be read: {words}" in "\n".join(summary_markdown([bad, good]))
    assert words in summary_page([bad, good]).decode()
    screen = run("report", tmp_path)
    assert (screen.code, screen.err) == (0, "")
    assert words in " ".join(screen.out.split())


def test_what_cannot_be_read_to_the_end(tmp_path: Path) -> None:
    folder(tmp_path, "good/a.csv", **{"bad/a.csv": 'id,text\n1,one\n2,"no end\n'})

    bad, good = ragdatakit.report(tmp_path, examples=0)

    assert (bad.unread, good.unread) == (False, False)
    assert "a quote is not closed" in bad.losses[0]


def test_one_alone_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    folder(tmp_path, **{"a.csv": "when,what\n1,2\n"})

    with pytest.raises(RagdataError, match="the columns cannot be recognised"):
        ragdatakit.report(tmp_path)


def test_a_database_that_cannot_be_written_is_no_fault_of_the_data(tmp_path: Path) -> None:
    outcome = run("report", GRAPHS, "--save-database", tmp_path / "x" / "y.duckdb")

    assert outcome.code == 2
    with pytest.raises(RagdataError, match="is not a folder"):
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


def test_folders_of_no_known_format_are_reported(mixed: Path) -> None:
    summaries = ragdatakit.report(mixed, examples=0)

    assert [s.format for s in summaries] == ["beir"]
    assert summaries.left_out == (LeftOut(str(mixed / "sets" / "graph"), 1), LeftOut(str(mixed / "texts"), 2))
    words = "Left out: 2 folders whose data is of no known format; name one to read it as texts or tables"
    screen = run("report", mixed)
    assert f"{words}\n  sets/graph (1 file), texts (2 files)\n\nNot read: image.png" in screen.out
    quiet = run("report", mixed, "-q").out
    assert f"\n{words}\n  sets/graph (1 file), texts (2 files)\nNot read: image.png" in quiet
    assert "\n\n" not in quiet
    markdown = "\n".join(summary_markdown(summaries, left_out=summaries.left_out))
    assert f"{words}: sets/graph (1 file), texts (2 files)." in markdown
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


# What is not read


def test_files_that_no_dataset_reads_are_reported(mixed: Path) -> None:
    (mixed / "data.zip").write_bytes(b"PK" * 600)
    summaries = ragdatakit.report(mixed, examples=0)

    summary = {each.name: each.bytes for each in summaries.not_read}
    assert summary["data.zip"] == 1200
    assert {*summary} == {
        "data.zip",
        "image.png",
        "sets/beir/more/x.txt",
        "sets/beir/notes.txt",
        "sets/graph/kg.tsv",
        "texts/1.txt",
        "texts/deep/2.txt",
    }
    line = "Not read: data.zip (1.2 kB), image.png (1 B), sets/beir/notes.txt (6 B), sets/beir/more/x.txt (6 B)"
    screen = run("report", mixed)
    assert line in " ".join(screen.out.split())
    assert line in " ".join(run("report", mixed, "-q").out.split())
    assert "Not read: data.zip" in run("report", mixed, "--output-format", "markdown").out
    assert "data.zip (1.2 kB)" in summary_page(summaries, not_read=summaries.not_read).decode().replace("<wbr>", "")
    document = run("report", mixed, "--json").json
    assert {"path": str(mixed / "data.zip"), "bytes": 1200} in document["not_read"]
    assert list(Draft202012Validator(summary_schema()).iter_errors(document)) == []


def test_many_files_that_are_not_read_are_capped(tmp_path: Path) -> None:
    shutil.copytree(BEIR, tmp_path / "a")
    for number in range(9):
        (tmp_path / "a" / f"{number}.bin").write_bytes(b"")

    assert "4.bin (0 B), 4 more" in " ".join(run("report", tmp_path / "a").out.split())
    assert "8.bin (0 B)" in run("report", tmp_path / "a", "-v").out


def test_plain_folders_tell_what_is_not_read(tmp_path: Path) -> None:
    folder(tmp_path, "a.csv", "README.md", **{".hidden.txt": "x"})
    (tmp_path / "graph.graphml").write_text("<graphml/>")

    assert [each.path for each in ragdatakit.report(tmp_path, examples=0).not_read] == [f"{tmp_path}/graph.graphml"]


@pytest.mark.parametrize("name", ["SOURCE.md", "README.txt", "ABOUT.md"])
def test_a_note_on_the_data_is_no_dataset(name: str, tmp_path: Path) -> None:
    folder(tmp_path, name)
    (tmp_path / "nfcorpus.zip").write_bytes(b"PK")

    outcome = run("report", tmp_path)

    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (2, "", 1)
    assert outcome.err.endswith(f"it holds nfcorpus.zip, {name}; unpack nfcorpus.zip first\n")
    assert ragdatakit.report(tmp_path, source_format="text", examples=0)[0].tables[0].rows == 1


# Names


def test_names_of_reports_are_those_of_other_commands(tmp_path: Path) -> None:
    for place in ("gd/data", "2024/reefs", "2025/reefs"):
        shutil.copytree(BEIR, tmp_path / place)

    assert [s.name for s in ragdatakit.report(tmp_path, examples=0)] == ["2024/reefs", "2025/reefs", "gd"]
    (alone,) = ragdatakit.report(tmp_path / "gd", examples=0)
    for name in (alone.name, "data"):
        outcome = run("query", tmp_path / "gd", "select count(*) from documents", "--dataset", name)
        assert outcome.code == 0


def test_two_kinds_in_one_folder_have_two_labels(tmp_path: Path) -> None:
    folder(tmp_path, "a/1.csv", "b/1.csv", "b/2.md")

    out = run("report", tmp_path, "--no-details").out

    labels = [line.split("  ")[0] for line in out.splitlines() if line.startswith(("a ", "b "))]
    assert labels == ["a", "b", "b table"]
    assert run("query", tmp_path, "select count(*) from documents", "--dataset", "b table").code == 0


# Files that are not there as a whole


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n"


def test_a_file_that_is_cut_off_or_was_not_fetched(tmp_path: Path) -> None:
    shutil.copytree(BEIR, tmp_path / "cut")
    whole = gzip.compress(b"".join(b'{"_id": "%d", "text": "%064x"}\n' % (n, n**9) for n in range(9000)))
    (tmp_path / "cut" / "corpus.jsonl").unlink()
    (tmp_path / "cut" / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    shutil.copytree(BEIR, tmp_path / "pointer")
    (tmp_path / "pointer" / "corpus.jsonl").write_text(POINTER)

    cut, pointer = ragdatakit.report(tmp_path, examples=0)

    rows = cut.tables[0].rows
    assert 0 < rows < 9000
    assert (
        f"corpus.jsonl.gz could not be read whole: cut off; the rest is missing, from record {rows + 1:,} on"
        in (cut.losses[0])
    )
    assert "corpus.jsonl could not be read: it is a Git LFS pointer, not the data" in pointer.losses[0]
    assert not any("record left out" in loss for loss in (*cut.losses, *pointer.losses))
    screen = " ".join(run("report", tmp_path / "pointer").out.split())
    assert "! corpus: corpus.jsonl could not be read: it is" in screen


def test_tables_that_were_not_fetched(tmp_path: Path) -> None:
    folder(tmp_path, **{"a.csv": POINTER, "b.csv": POINTER})

    outcome = run("report", tmp_path)

    assert (outcome.code, outcome.err.count("\n")) == (2, 1)
    assert "a.csv (and 1 more) cannot be read: it is a Git LFS pointer, not the data; `git lfs pull`" in outcome.err
    (tmp_path / "b.csv").write_text(TABLE)
    (summary,) = ragdatakit.report(tmp_path, examples=0)
    assert "a.csv could not be read: it is a Git LFS pointer" in summary.losses[0]
    assert summary.tables[0].rows == 1


# Texts and their parts


def test_texts_that_stand_beside_their_parts_are_reported(tmp_path: Path) -> None:
    texts = '{"d": {"content": "one two"}}'
    folder(tmp_path, **{"docs.json": texts, "text_chunks.json": '{"c": {"content": "one"}, "e": {"content": "two"}}'})

    (summary,) = ragdatakit.report(tmp_path, examples=0)

    (note,) = [note for note in summary.notes if note.name == "documents.read_together"]
    assert (note.value, note.level) == (2, "warning")
    assert note.words.startswith("documents: 2 of them are of text_chunks.json, and look like parts of those of")
    assert [(Path(file.path).name, file.records) for file in summary.files] == [
        ("docs.json", 1),
        ("text_chunks.json", 2),
    ]
    (tmp_path / "docs.json").unlink()
    assert not any(n.name == "documents.read_together" for n in ragdatakit.report(tmp_path, examples=0)[0].notes)


def test_sizes_of_packed_tables_are_those_of_their_content(tmp_path: Path) -> None:
    content = b"id,text\n" + b"".join(b"%d,word word word word\n" % n for n in range(500))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content))

    (summary,) = ragdatakit.report(tmp_path, examples=0)

    assert [(file.records, file.bytes) for file in summary.files] == [(500, len(content))]


def test_a_map_to_begin_with_reads_all_files(tmp_path: Path) -> None:
    folder(tmp_path, **{"a.csv": "id,doc_id,text\n1,2,one\n", "b.csv": "_id,body\n3,two\n"})

    outcome = run("report", tmp_path)

    assert outcome.code == 2
    proposed = outcome.err.rpartition("--map ")[2].strip()
    assert "a.csv: id may be id or doc_id" in outcome.err
    assert "next to it: b.csv" in outcome.err
    (summary,) = ragdatakit.report(tmp_path, options={"map": shlex.split(proposed)[0]}, examples=0)
    assert [(table.name, table.rows) for table in summary.tables if table.rows] == [("documents", 2)]


def test_an_id_that_stands_twice_is_one(tmp_path: Path) -> None:
    folder(tmp_path, **{"kv_store_full_docs.json": '{"d1": {"content": "one", "_id": "d1"}}'})

    (summary,) = ragdatakit.report(tmp_path, examples=0)

    assert summary.tables[0].rows == 1 and summary.ids[0].examples == ("d1",)


# Some of them


def test_datasets_are_chosen_by_name_or_path(tmp_path: Path) -> None:
    place = folder(tmp_path / "all", "a/1.csv", "b/2.csv", "c/3.tsv", "c/README.md")

    assert [s.name for s in ragdatakit.report(place, dataset=["c", str(place / "a")])] == ["a", "c"]
    assert [s.name for s in ragdatakit.report(place, dataset="b")] == ["b"]
    shown = run("report", place, "--dataset", "b", "--dataset", "a", "--json")
    assert [each["name"] for each in shown.json["datasets"]] == ["a", "b"]
    wrong = run("report", place, "--dataset", "bb")
    assert (wrong.code, wrong.out) == (2, "")
    assert "bb" in wrong.err
    assert "did you mean b?" in wrong.err


def test_findings_are_those_of_the_chosen_dataset(tmp_path: Path) -> None:
    shutil.copytree(BEIR, tmp_path / "all" / "good")
    shutil.copytree(BEIR, tmp_path / "all" / "bad")
    with (tmp_path / "all" / "bad" / "corpus.jsonl").open("a") as file:
        file.write("{\n")

    good, bad = (run("report", tmp_path / "all", "--dataset", name, "--findings", "--json") for name in ("good", "bad"))

    assert good.json["findings"]["counts"]["error"] == 0
    assert bad.json["findings"]["counts"]["error"] == 1


def test_no_database_is_replaced_where_findings_cannot_be_had(tmp_path: Path) -> None:
    saved = tmp_path / "data.duckdb"
    place = folder(tmp_path / "plain", "1.csv")
    assert run("report", place, "--save-database", saved).code == 0
    before = saved.stat()

    shown = run("report", place, "--findings", "--save-database", saved, "--overwrite")

    assert shown.code == 2
    assert (saved.stat().st_ino, saved.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


# Labels


def test_labels_beside_a_graph_are_shown(tmp_path: Path) -> None:
    edges = "".join(f"Q{n}\tP1\tQ{n + 1}\nQ{n}\tP2\tQ0\n" for n in range(9))
    labels = '{"Q0": {"label": "harbour"}, "Q3": {"label": "pier", "description": "x"}, "Q99": {"label": "far"}}'
    folder(tmp_path, **{"train.tsv": edges, "nodes.json": labels, "relations.json": '{"P2": "leads <b>to"}'})

    (summary,) = ragdatakit.report(tmp_path, examples=0)

    assert summary.graph is not None
    assert {hub.name: hub.label for hub in summary.graph.hubs if hub.label} == {"Q0": "harbour", "Q3": "pier"}
    (relations,) = [one for one in summary.frequencies if one.name == "edges.relation"]
    assert [value for value, _ in relations.values] == ["P1", "P2"] and relations.labels == {"P2": "leads <b>to"}
    screen = run("report", tmp_path)
    assert "leads <b>to [P2]: 9" in screen.out and "harbour [Q0]: 11" in screen.out
    assert "harbour [Q0]" in run("report", tmp_path, "--output-format", "markdown").out
    page = summary_page([summary]).decode()
    assert "harbour [Q0]" in page and "leads &lt;b&gt;to [P2]" in page and "<b>to" not in page
    document = run("report", tmp_path, "--json").json
    assert document["datasets"][0]["graph"]["hubs"][0]["label"] == "harbour"
    assert list(Draft202012Validator(summary_schema()).iter_errors(document)) == []


def test_labels_beside_a_graph_are_shown_where_one_walks(tmp_path: Path) -> None:
    edges = "".join(f"Q{n}\tP1\tQ{n + 1}\nQ{n}\tP2\tQ0\n" for n in range(9))
    labels = '{"Q0": "harbour", "Q3": {"label": "</script>pier"}, "Q99": "far"}'
    folder(tmp_path, **{"train.tsv": edges, "nodes.json": labels, "relations.json": '{"P2": "leads to"}'})

    (summary,) = ragdatakit.report(tmp_path, examples=0, neighbourhoods=True)

    assert summary.neighbourhoods is not None
    assert summary.neighbourhoods.labels == {"Q0": "harbour", "Q3": "</script>pier", "P2": "leads to"}
    page = summary_page([summary]).decode()
    assert '"harbour [Q0]"' in page and '"relations":["P1","leads to [P2]"]' in page.replace(", ", ",")
    assert "</script>pier" not in page


def test_a_dataset_that_two_paths_hold_is_reported_once(mixed: Path) -> None:
    (alone,) = ragdatakit.report(mixed, examples=0)
    root = Path(alone.path)

    same = root / ".." / root.name
    for paths in ([mixed, mixed], [mixed, root], [root, mixed], [root / "corpus.jsonl", mixed], [mixed, same]):
        summaries = ragdatakit.report(paths, examples=0)

        (summary,) = summaries
        assert (summary.name, len(summary.files)) == (alone.name, len(alone.files))
        names = [each.path for each in summaries.not_read] + [each.path for each in summaries.left_out]
        beside = [Path(name).resolve() for name in names]
        assert len(beside) == len(set(beside))
    assert len(ragdatakit.report([root / "corpus.jsonl", root / "corpus.jsonl"], examples=0)) == 1
