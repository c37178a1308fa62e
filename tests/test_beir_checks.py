"""BEIR folders checked: what the loader made of each fixture, lone files, ways of laying out, files of cells."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shutil
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragdatakit import convert, fix, query, validate
from ragdatakit.files.containers.lines import iter_lines, line_ends
from ragdatakit.files.containers.sources import Source
from ragdatakit.schemas import get_format
from ragdatakit.schemas.declarations import Columns
from ragdatakit.schemas.frame.reading import read_table
from ragdatakit.schemas.line_cells import LONGEST_CELL, LineError, cut, texts
from ragdatakit.validators import dataset_run
from ragdatakit.validators.beir.checks import unsafe
from tests.broad import examples
from tests.command_line import FIXTURES, run
from tests.upstream_data import UPSTREAM_DATA, needs

JUDGEMENTS = get_format("beir").file("qrels").columns
HEADER = "query-id\tcorpus-id\tscore\n"

# What `GenericDataLoader` of beir 2.2.0 did with each fixture, run split by split: the error, or how many documents,
# queries and judgements it had at the end; before the name of the split stands the prefix it was given, if any.
LOADER: dict[str, str | dict[str, tuple[int, int, int]]] = {
    "valid/folder": {"test": (3, 2, 3)},
    "valid/packed": "ValueError",
    "valid/prefixed": {"test": (3, 1, 1), "gen train": (3, 2, 2)},
    "valid/quoted-cells": {"test": (3, 2, 2)},
    "valid/splits": {"test": (3, 1, 1), "train": (3, 1, 2)},
    "valid/windows-lines": {"test": (3, 2, 3)},
    "broken/unusual-header": {"test": (3, 2, 3)},
    "valid/with-metadata": {"dev": (2, 1, 2)},
    "broken/blank-line": "JSONDecodeError",
    "broken/blank-line-2": "IndexError",
    "broken/blank-text": {"test": (4, 2, 3)},
    "broken/blank-text-2": {"test": (4, 2, 2)},
    "broken/compressed-file": "ValueError",
    "broken/conflicting-judgement": {"test": (3, 2, 3)},
    "broken/dangling-corpus-id": {"test": (3, 2, 4)},
    "broken/dangling-corpus-id-2": {"test": (3, 2, 4)},
    "broken/dangling-query-id": "KeyError",
    "broken/dangling-query-id-2": "KeyError",
    "broken/duplicate-id": {"test": (3, 2, 3)},
    "broken/duplicate-id-2": {"test": (3, 2, 3)},
    "broken/duplicate-judgement": {"test": (3, 2, 3)},
    "broken/duplicate-text": {"test": (4, 2, 3)},
    "broken/further-columns": {"test": (3, 2, 2)},
    "broken/id-not-string": {"test": (4, 2, 3)},
    "broken/invalid-json": "JSONDecodeError",
    "broken/line-not-object": "AttributeError",
    "broken/lone-surrogate": {"test": (4, 2, 3)},
    "broken/missing-file": "ValueError",
    "broken/missing-file-2": "ValueError",
    "broken/missing-file-3": "ValueError",
    "broken/no-judgements": "ValueError",
    "broken/no-judgements-2": "ValueError",
    "broken/missing-id": {"test": (4, 2, 3)},
    "broken/missing-id-2": {"test": (3, 2, 3)},
    "broken/missing-title": {"test": (5, 2, 3)},
    "broken/no-header": {"test": (3, 2, 2)},
    "broken/no-records": "IndexError",
    "broken/no-records-2": "IndexError",
    "broken/no-records-3": "IndexError",
    "broken/query-in-two-splits": {"test": (3, 2, 3), "train": (3, 1, 1)},
    "broken/query-without-judgement": {"test": (3, 3, 4)},
    "broken/score-not-integer": "ValueError",
    "broken/score-out-of-range": {"test": (3, 2, 3)},
    "broken/surrogate-not-read": {"test": (4, 2, 3)},
    "broken/swapped-files": "KeyError",
    "broken/text-not-string": {"test": (4, 2, 3)},
    "broken/text-not-string-2": {"test": (3, 2, 3)},
    "broken/unsafe-id": {"test": (4, 2, 3)},
    "broken/unsafe-id-2": {"test": (6, 2, 3)},
    "broken/unusual-score": {"test": (3, 2, 3)},
    "broken/wrong-columns": "IndexError",
    "broken/wrong-columns-2": "IndexError",
    "broken/wrong-columns-3": "IndexError",
}
# `load` says that a file is not there, and others of the package read it: `load_corpus`, or HFDataLoader, which unpacks
# files of the hub and takes judgements from another repository. That is a warning.
PARTS = {"valid/packed", "broken/compressed-file", "broken/no-judgements", "broken/no-judgements-2"}
# It loads, and what it has is not what the files say.
MISREAD = {
    "broken/score-out-of-range",  # loaded, and pytrec_eval stops at it
    "broken/lone-surrogate",  # loaded, and the tokenizer stops at it
    "broken/conflicting-judgement",
    "broken/dangling-corpus-id",
    "broken/dangling-corpus-id-2",
    "broken/duplicate-id",
    "broken/duplicate-id-2",
    "broken/id-not-string",
    "broken/missing-id",
    "broken/missing-id-2",
    "broken/no-header",
    "broken/text-not-string",
    "broken/text-not-string-2",
}


@pytest.mark.parametrize("name", LOADER)
def test_errors_are_what_the_loader_stops_at_or_misreads(name: str) -> None:
    stopped = isinstance(LOADER[name], str) and name not in PARTS

    report = validate(FIXTURES / "beir" / name / ("data" if name.startswith("broken") else ""))

    assert report.ok == (not stopped and name not in MISREAD)


def test_every_fixture_was_loaded() -> None:
    there = {f"{p.parent.name}/{p.name}" for p in (FIXTURES / "beir").glob("*/*") if not [*p.rglob("*.parquet")]}

    assert set(LOADER) == there


def test_what_loads_whole_has_as_many_records() -> None:
    for name, each in LOADER.items():
        if isinstance(each, dict) and name.startswith("valid"):
            files = [f for dataset in validate(FIXTURES / "beir" / name).datasets for f in dataset.files]
            counts = {f.kind: 0 for f in files}
            for file in files:
                counts[file.kind] += file.records or 0
            assert counts["corpus"] == next(iter(each.values()))[0]
            assert counts["qrels"] == sum(judgements for _, _, judgements in each.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("valid/folder/corpus.jsonl", "corpus"),
        ("valid/folder/queries.jsonl", "queries"),
        ("valid/folder/qrels/test.tsv", "qrels"),
        ("valid/packed/corpus.jsonl.gz", "corpus"),
    ],
)
def test_a_lone_file_is_known(name: str, kind: str) -> None:
    (dataset,) = validate(FIXTURES / "beir" / name).datasets

    assert (dataset.format, [f.kind for f in dataset.files]) == ("beir", [kind])


def test_a_prefix_makes_a_set_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "a"}\n')
    (tmp_path / "old-gen-queries.jsonl").write_text('{"_id": "q1", "text": "b"}\n')
    (tmp_path / "old-gen-qrels").mkdir()
    (tmp_path / "old-gen-qrels/dev.tsv").write_text(f"{HEADER}q1\td1\t1\n")

    alone = validate(tmp_path)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "c"}\n')
    both = validate(tmp_path)

    assert not alone.findings
    assert [(d.split, [f.path for f in d.files]) for d in alone.datasets] == [
        ("old-gen", ["corpus.jsonl", "old-gen-queries.jsonl", "old-gen-qrels/dev.tsv"])
    ]
    assert [(f.rule, f.path, f.message) for f in both.findings] == [
        ("no-judgements", str(tmp_path / "queries.jsonl"), both.findings[0].message)
    ]
    assert "the dataset has no qrels/<split>.tsv" in both.findings[0].message


@pytest.mark.parametrize(
    ("container", "lost", "code", "severity", "rest"),
    [
        *((container, "corpus", "BE101", "error", ", and 3 judgements need it") for container in ("jsonl", "parquet")),
        *((container, "queries", "BE101", "error", ", and 3 judgements need it") for container in ("jsonl", "parquet")),
        *((container, "qrels", "BE104", "warning", "") for container in ("jsonl", "parquet")),
        ("jsonl", "queries qrels", "BE104", "warning", " and no qrels/<split>.tsv"),
    ],
)
def test_a_lost_file_is_an_error_where_another_needs_it(
    container: str, lost: str, code: str, severity: str, rest: str, tmp_path: Path
) -> None:
    parts = {"corpus": ["corpus.jsonl"], "queries": ["queries.jsonl"], "qrels": ["qrels/test.tsv"]}
    data = tmp_path / "data"
    if container == "parquet":
        parts = {kind: [f"{kind}/"] for kind in parts}
        convert(FIXTURES / "beir/valid/folder", data, source_format="beir", to="beir", container="parquet")
        (data / "ragdata.json").unlink()
    else:
        shutil.copytree(FIXTURES / "beir/valid/folder", data)
    for name in (name for kind in lost.split() for name in parts[kind]):
        shutil.rmtree(data / name) if name.endswith("/") else (data / name).unlink()

    (tmp_path / ".git").mkdir()
    changed = next(p for p in sorted(data.rglob("*.*")) if p.is_file())  # as a hook names what a commit changes
    whole, hooked = validate(data), validate(changed, whole_datasets=True)

    assert [f.code for f in hooked.findings] == [f.code for f in whole.findings]
    (finding,) = whole.findings
    assert (finding.code, finding.severity, Path(finding.path).is_file()) == (code, severity, True)
    assert finding.fault.startswith(f"the dataset has no {lost.split(maxsplit=1)[0]}") and finding.fault.endswith(rest)


@pytest.mark.parametrize(
    ("name", "other"),
    [("qrels/test.tsv", "qrels.tsv"), ("qrels/test.tsv", "qrels/test.csv"), ("qrels/test.tsv", "qrel/test.tsv")],
)
def test_judgements_under_another_name_are_as_good_as_missing(name: str, other: str, tmp_path: Path) -> None:
    data = Path(shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "data"))
    (data / other).parent.mkdir(exist_ok=True)
    (data / name).rename(data / other)

    (finding,) = validate(data).findings

    assert (finding.code, finding.severity) == ("BE101", "error")
    assert finding.fault.startswith("the dataset has no qrels/<split>.tsv (there is qrel")


@pytest.mark.parametrize("kind", ["corpus", "queries"])
def test_a_part_in_a_folder_of_another_name_is_not_lost(kind: str, tmp_path: Path) -> None:
    convert(
        FIXTURES / "beir/valid/folder", tmp_path, source_format="beir", to="beir", container="parquet", overwrite=True
    )
    (tmp_path / kind).rename(tmp_path / f"en-{kind}")

    report = validate(tmp_path)

    assert not report.findings and [Path(name).parent.name for name in report.unrecognised] == [f"en-{kind}"]


def test_what_only_has_such_a_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "a"}\n')
    (tmp_path / "my-queries.jsonl").write_text('{"question": "b"}\n')

    report = validate(tmp_path)

    assert [[f.path for f in d.files] for d in report.datasets] == [["corpus.jsonl"]]
    assert report.unrecognised == [str(tmp_path / "my-queries.jsonl")]


@pytest.mark.parametrize(
    ("header", "place", "message"),
    [
        ("corpus-id\tquery-id\tscore\n", "test.tsv", "the columns seem swapped: "),
        (HEADER, "queries.jsonl", "seems to hold the documents, and corpus.jsonl the queries"),
    ],
)
def test_what_is_swapped_is_named(header: str, place: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "a"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "b"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(f"{header}d1\tq1\t1\n")

    (found,) = (f for f in validate(tmp_path).findings if f.code == "BE209")

    assert (Path(found.path).name, found.message.startswith(message)) == (place, True)


def test_a_copy_of_a_record_is_not_said_to_be_taken_twice(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "a"}\n' * 2)

    found = {f.code: f.consequence for f in validate(tmp_path / "corpus.jsonl").findings}

    assert found["BE201"] == "the last record silently replaces the others"
    assert found["BE208"].startswith("where the ids differ, ")


def test_judgements_by_another_name_are_known_by_their_header(tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text(f"{HEADER}q1\td1\t1\n")

    (dataset,) = validate(tmp_path / "mine.tsv").datasets

    assert (dataset.format, dataset.files[0].records) == ("beir", 1)


def test_a_corpus_of_another_format_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "d1", "contents": "a"}\n')

    assert [d.format for d in validate(tmp_path).datasets] == ["sage"]


@pytest.mark.parametrize("big", [False, True])
def test_what_the_first_line_of_judgements_is(tmp_path: Path, big: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if big:
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    for name, content in {
        "marked": f"\ufeff{HEADER}q1\td1\t1\n",
        "windows": f"{HEADER}q1\td1\t1\n".replace("\n", "\r\n"),
        "other": "query-id\tcorpus-id\trelevance\nq1\td1\t1\n",
        "open": f"{HEADER}q1\td1\t1",
    }.items():
        folder = tmp_path / name / "qrels"
        folder.mkdir(parents=True)
        (folder / "test.tsv").write_bytes(content.encode())

        report = validate(folder.parent, severity="warning")

        assert {f.rule for f in report.findings} == {"missing-file"}
        assert [f.records for d in report.datasets for f in d.files] == [1]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("between", ["\t", "", " "])
def test_a_judgement_on_the_line_of_the_header_is_named(
    tmp_path: Path, big: bool, between: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1)
    header = HEADER.rstrip() + between
    with_breaks(tmp_path, "")
    (tmp_path / "qrels/test.tsv").write_bytes(f"\ufeff{header}q1\td1\t1\nq1\td1\t2\n".encode())

    found = [f for f in validate(tmp_path).findings if f.rule == "no-header"]
    shown = " ".join(run("report", str(tmp_path)).out.split())

    places = [(f.line, f.column, f.byte_offset, f.value) for f in found]
    assert places == [(1, len(header) + 1, 3, "q1\td1\t1")]
    assert "1 record left out: it is on the line of the header (qrels/test.tsv:1)" in shown


def test_a_query_in_two_splits_is_named() -> None:
    (finding,) = validate(FIXTURES / "beir" / "broken" / "query-in-two-splits" / "data").findings
    assert (finding.code, finding.value, finding.pointer) == ("BE207", "q1", "/query-id")
    assert finding.fault == 'query "q1" is judged in another file, too'


def test_where_a_finding_stands(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(f'{HEADER}"q1"\t"d1"\t"2"\nq1\td2\thigh\nq1 d3 1\n')

    found = run("validate", tmp_path, "--output-format", "json").json["findings"]
    by_rule = {f["rule"]: f for f in found}

    score, columns = by_rule["score-not-integer"], by_rule["wrong-columns"]
    assert (score["line"], score["column"], score["record"], score["pointer"], score["value"]) == (
        3,
        7,
        1,
        "/score",
        "high",
    )
    assert score["byte_offset"] == len(HEADER) + len('"q1"\t"d1"\t"2"\n')
    assert (columns["line"], columns["record"]) == (4, 2)
    assert "1 tab-separated column instead of 3 (there are blanks where tabs should be)" in columns["message"]


@pytest.mark.parametrize(("line", "found"), [("q1\td1 1", 2), ("q1 d1", 1)])
def test_blanks_are_blamed_only_for_columns_that_are_missing(line: str, found: int, tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(f"{HEADER}q1\td1\t1\n{line}\n")

    (fault,) = {f.fault for f in validate(tmp_path, select="wrong-columns").findings}

    assert f"{found} tab-separated column" in fault
    assert ("blanks" in fault) == (line == "q1\td1 1")


@pytest.mark.parametrize(
    ("judgement", "column", "fault"),
    [
        (
            'q1\t"d1\t1\nq1\td1\t1\nq1\t"d1',
            4,
            "a quote mark that is closed only 2 lines below, which leaves 2 tab-separated columns instead of 3",
        ),
        ('"q\n1"\td1', 1, "2 tab-separated columns instead of 3"),
        ('"q 1"\td1', 1, "2 tab-separated columns instead of 3"),
    ],
)
def test_what_is_between_quote_marks_is_no_blank(judgement: str, column: int, fault: str, tmp_path: Path) -> None:
    with_breaks(tmp_path, f"{judgement}\n")

    (finding,) = validate(tmp_path, select="wrong-columns").findings

    assert (finding.line, finding.column, finding.fault) == (2, column, fault)


@pytest.mark.parametrize("big", [False, True])
def test_the_other_line_end_is_where_a_cell_with_line_breaks_ends(
    big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 3 << 20)
    text = f'{HEADER}q1\td1\t1\n"q\n2"\t"d\n2"\t1\n'.replace("\n", "\r\n")
    with_breaks(tmp_path, "")
    (tmp_path / "qrels/test.tsv").write_bytes(f"{text}q1\td1\t2\n".encode())

    def place() -> tuple[int | None, int | None]:
        (finding,) = validate(tmp_path, select="mixed-line-endings").findings
        return finding.line, finding.byte_offset

    assert place() == (6, len(text))
    (tmp_path / "qrels/test.tsv").write_bytes(HEADER.replace("\n", "\r\n").encode() + b"q1\td1\t1\n")
    assert place() == (2, len(HEADER) + 1)
    (tmp_path / "qrels/test.tsv").write_bytes(f'{text}q1\td1\t"1\r\n"\n'.encode())
    assert place() == (7, len(text) + len('q1\td1\t"1\r\n'))


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("readable", [0, 1])
def test_nothing_is_missing_from_a_file_without_a_record_that_can_be_read(
    readable: int, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where there are more such records than findings are kept."""
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 3 << 20)
    sound, broken = '{"_id": "d0", "title": "", "text": "tide"}\n', '{"_id": d1, "title": "", "text": "tide"}\n'
    (tmp_path / "corpus.jsonl").write_text(sound * readable + broken * 30)
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "when"}\n')
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(f"{HEADER}q1\td1\t1\n")

    assert len(validate(tmp_path, select="BE203").findings) == readable


CELLS = st.text(st.sampled_from(list('ab" \t,')), min_size=1, max_size=12)


@given(line=CELLS)
def test_lines_are_cut_as_the_csv_reader_does_it(line: str) -> None:
    """A quote mark that is not closed takes in the next line, which the reader shows by a line end in the cell."""
    columns = Columns(separator="\t", quoted=True)
    (expected,) = csv.reader([f"{line}\n"], delimiter="\t")

    if expected[-1].endswith("\n"):
        with pytest.raises(LineError, match="not closed"):
            cut(line, columns)
    else:
        found = cut(line, columns)
        assert [cell.text for cell in found] == expected == texts(line, columns)
        assert [line[c.start : c.end].replace('"', "") for c in found] == [c.replace('"', "") for c in expected]


BROKEN_CELLS = st.text(st.sampled_from(list('aab1"""\t\t\n\r\0\x01')), min_size=1, max_size=40)


@settings(max_examples=examples(2000, 5))
@given(text=BROKEN_CELLS, block=st.sampled_from((4, 16, 64)))
def test_cells_with_line_breaks_are_cut_as_the_csv_reader_does_it(text: str, block: int) -> None:
    """Wherever blocks end; the places are those in the file. A quote mark that is never closed ends with its line, but
    for one that only the end of the file closes."""
    expected = list(csv.reader(io.StringIO(text, newline=None), delimiter="\t"))
    data, found, above = text.encode(), [], 0
    with tempfile.NamedTemporaryFile() as file:
        file.write(data)
        file.flush()
        for part in Source(Path(file.name), False, block, quoted=3).blocks():
            number = -1
            for number, (offset, line, _) in enumerate(iter_lines(part.data)):
                raw, at = part.shown(offset, line), part.offset + offset
                assert (data + b'"')[at : at + len(raw)] == raw
                assert above + part.line(number) == line_ends(data[:at])
                with suppress(LineError):
                    found.append(texts(raw.decode(), JUDGEMENTS))
            above += number + 1 + len(part.breaks)

    whole = [row or [""] for row in expected]
    assert found in (whole, [*whole[:-1], *found[len(whole) - 1 :]])
    if whole and len(whole[-1]) >= 3 and "\n" not in whole[-1][-1].rstrip("\n"):
        assert found == whole


def loaded(judgements: str) -> tuple[bool, bool]:
    """Whether the loader of BEIR reads judgements, and whether what is behind a score may have taken in others."""
    rows = list(csv.reader(io.StringIO(judgements, newline=None), delimiter="\t"))
    try:
        for row in rows:
            row[0], row[1], int(row[2])
    except (IndexError, ValueError):
        return False, False
    *cells, last = [cell for row in rows for cell in row]
    return True, any("\n" in cell for cell in (*cells, last.rstrip("\n")))


PIECES = st.sampled_from(
    ("q1", "d1", "\t1", "\t1\n", "\t", "\t", "\td1\t1\n", '"', '""', '\t"', "\n", "\r\n", "q1\td1\t1\n")
)


@settings(max_examples=examples(1000, 5))
@given(st.lists(PIECES, min_size=1, max_size=9).map("".join))
def test_judgements_are_refused_where_the_loader_stops(judgements: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = with_breaks(Path(folder), judgements)
        select = ("wrong-columns", "score-not-integer", "blank-line")
        found = validate(data, select=select, severity="error").findings

    loads, takes_in = loaded(judgements)
    assert bool(found) == (not loads) or takes_in, [f.message for f in found]


@pytest.mark.parametrize(
    ("judgements", "words"),
    [
        ('q1\td1\t"1', ""),
        ('q1\td1\t"1\r\n', ""),
        ('q1\td1\t1\t"sure\n\n', ""),
        ('q1\td1\t"1\nq1\td2\t1\n', "a quote mark that is not closed; the loader takes what follows"),
        ('q1\t"d1\t1\n', "a quote mark that is not closed; the loader takes what follows"),
        ('q1\td1\t"1.5', "is not an integer"),
        ("q1\td1\n", "instead of 3; the loader stops with IndexError"),
        (f"q1\td1\t1\t{'x' * (LONGEST_CELL + 1)}", "csv takes 131,072; the loader stops with csv's Error"),
        ('q1\td1\t1\t"see\nq1\td2\t1"\n', ""),
        ('q1\td1\t1\t"see\nq1\td2\t1\nfor that"\n', ""),
        ('q1\td1\t1\t"see\nq1\td2\t1\t"\n', "are part of what is behind the score; the loader takes them for text"),
        ('q1\td1\t1\t"see\nq1\td2\t1\n"\n', "are part of what is behind the score; the loader takes them for text"),
        ('q1\td1\t1\t"see\nq1\td2\t1\n\t"and', "are part of what is behind the score; the loader takes them for text"),
    ],
)
def test_each_fault_of_quote_marks_has_its_consequence(judgements: str, words: str, tmp_path: Path) -> None:
    with_breaks(tmp_path, judgements)

    found = [f.message for f in validate(tmp_path, select=("wrong-columns", "score-not-integer")).findings]

    assert [words in message for message in found] == ([True] if words else [])
    if not words and "see" not in judgements:
        (score,) = query(tmp_path, "select score from files.qrels").to_pylist()
        assert score == {"score": 1}
        assert read_table(tmp_path / "qrels/test.tsv", get_format("beir").file("qrels"))["score"].tolist() == [1]


def test_each_consequence_is_shown(tmp_path: Path) -> None:
    with_breaks(tmp_path, 'q1\t"d1\t1\nq1\td1\nq1\td1\nq1\td1\t1\n')

    for words in ((), ("--output-format", "github-summary")):
        found = run("validate", tmp_path, *words).out
        assert found.count("the loader takes what follows") == found.count("stops with IndexError") == 1


def with_breaks(folder: Path, judgements: str) -> Path:
    """A dataset with ids that have line breaks in them."""
    folder.mkdir(exist_ok=True)
    for name, ids in {"corpus.jsonl": ("d1", "d\n2"), "queries.jsonl": ("q1", "q\n2")}.items():
        records = [{"_id": one, "title": "", "text": f"Pears of {one}."} for one in ids]
        (folder / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    (folder / "qrels").mkdir(exist_ok=True)
    (folder / "qrels/test.tsv").write_bytes(f"{HEADER}{judgements}".encode())
    return folder


@pytest.mark.parametrize("last", ['q1\td9\t"1', 'q1\td9\t"1\n', 'q1\td1\t"1', 'q1\td9\t1\t"note\n\n'])
def test_a_judgement_that_the_end_of_the_file_closes_is_removed(last: str, tmp_path: Path) -> None:
    data = with_breaks(tmp_path / "data", f"q1\td1\t1\n{last}")

    fix(data, unsafe=True, removed=tmp_path / "removed")

    assert (data / "qrels/test.tsv").read_text() == f"{HEADER}q1\td1\t1\n"


GOOD = 'q1\td1\t1\n"q\n2"\td1\t1\n"q\r\n2"\t"d\n2"\t1\n'
TAKEN_IN = "a quote mark that is closed only 1 line below: the judgements between are part of the query-id"
FAULTY = f'{GOOD}q1\td9\t1\n"q1\td1\t1\nq1"\td1\t1\n"q\r\n2"\td1\tx\n"q1\td1\t1\n'


@pytest.mark.parametrize("words", [(), ("--engine", "local"), ("--jobs", "3")])
@pytest.mark.parametrize("big", [False, True])
def test_findings_behind_line_breaks_in_cells_have_their_places(
    words: tuple[str, ...], big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 3 << 20)
    monkeypatch.setattr("ragdatakit.validators.ranges.plan.RANGE_BYTES", 16)

    def errors(judgements: str) -> list[str]:
        found = run("validate", with_breaks(tmp_path, judgements), "--output-format", "concise", *words)
        return [line.split(":", 1)[1] for line in found.out.splitlines() if " error " in line]

    assert errors(GOOD) == []
    assert errors('q1\td1\t1\nq1\td1\t"1') == []
    assert errors(FAULTY) == [
        '8:4 BE203 error there is no document "d9"',
        f"9:1 BE122 error {TAKEN_IN}",
        '9:1 BE202 error there is no query "q1\\td1\\t1\\nq1"',
        '12:7 BE124 error the score "x" is not an integer',
        "12:7 BE204 error this query and document have another score before",
        "13:1 BE122 error a quote mark that is not closed",
    ]


@pytest.mark.parametrize("big", [False, True])
def test_a_header_with_a_line_break_may_be_all_of_a_block(
    big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 3 << 20)
    for size in ("BLOCK_BYTES", "TEXT_BLOCK_BYTES"):
        monkeypatch.setattr(dataset_run, size, 26)
    with_breaks(tmp_path, "")
    (tmp_path / "qrels/test.tsv").write_bytes(b'query-id\tcorpus-id\t"a\nb"\nq1\td1\tmuch\n')

    found = validate(tmp_path, severity="error").findings

    assert [(f.line, f.rule, f.value) for f in found] == [(3, "score-not-integer", "much")]


def test_a_cell_that_is_too_long_for_the_csv_reader_is_an_error(tmp_path: Path) -> None:
    for length, places in {LONGEST_CELL: [], LONGEST_CELL + 1: [(2, "wrong-columns")]}.items():
        with_breaks(tmp_path, f"q1\td1\t1\t{'x' * length}\n")

        assert [(f.line, f.rule) for f in validate(tmp_path, severity="error").findings] == places

    with_breaks(tmp_path, 'q1\td1\t1\n"q' + "1\td1\t1\n" * (LONGEST_CELL // 6) + 'q1"\td1\t1\n')

    first = validate(tmp_path, severity="error").findings[0]
    assert (first.line, first.rule, first.fault) == (3, "wrong-columns", "a quote mark that is not closed")


def test_judgements_in_a_further_cell_are_an_error(tmp_path: Path) -> None:
    with_breaks(tmp_path, 'q1\td1\t1\t"sure\nor not"\nq1\td\t1\t"note\nq1\td1\t1\nq1\td1\t1\t"\n')

    places = [(f.line, f.rule) for f in validate(tmp_path, select="wrong-columns").findings]

    assert places == [(4, "wrong-columns")]


def test_sql_reads_quoted_cells_as_the_csv_reader_does_it(tmp_path: Path) -> None:
    for number, cell in enumerate(('"a"b', '"a\tb"', '"a""b"', '"a\x01b"', '"a\nb"', "a\x01b", '"a"')):
        data = with_breaks(tmp_path / str(number), f"{cell}\td1\t1\nq1\td1\t2\n")
        (_, *rows) = csv.reader(io.StringIO((data / "qrels/test.tsv").read_text()), delimiter="\t")

        found = query(data, 'select "query-id", "corpus-id", score::varchar as score from files.qrels')

        assert [list(row.values()) for row in found.to_pylist()] == rows


def test_control_characters_in_cells_are_no_line_breaks(tmp_path: Path) -> None:
    with_breaks(tmp_path, '"q\0\x01"\td1\t1\n"q\n\x01"\td1\t1\n')
    queries = [{"_id": one, "text": "Which pears?"} for one in ("q\0\x01", "q\n\x01")]
    (tmp_path / "queries.jsonl").write_text("".join(json.dumps(record) + "\n" for record in queries))

    assert validate(tmp_path).ok
    frame = read_table(tmp_path / "qrels/test.tsv", get_format("beir").file("qrels"))
    for found in (frame, query(tmp_path, 'select "query-id" from files.qrels').to_pandas()):
        assert found["query-id"].tolist() == ["q\0\x01", "q\n\x01"]


def test_all_that_read_judgements_read_line_breaks_in_cells(tmp_path: Path) -> None:
    data = with_breaks(tmp_path, f'{GOOD}"q"1\td"1"\t1\n')
    pairs = [("q1", "d1"), ("q\n2", "d1"), ("q\n2", "d\n2"), ("q1", 'd"1"')]

    asked = query(data, "select question_id, target_id from qrels")
    below = query(data, 'select "query-id", "corpus-id", score from files.qrels')
    frame = read_table(data / "qrels/test.tsv", get_format("beir").file("qrels"))
    assert [tuple(row.values()) for row in asked.to_pylist()] == pairs
    assert [tuple(row.values()) for row in below.to_pylist()] == [(*pair, 1) for pair in pairs]
    assert frame.values.tolist() == [[*pair, 1] for pair in pairs]
    assert run("diff", data, data).code == 0


def test_a_repair_takes_whole_records_with_line_breaks(tmp_path: Path) -> None:
    data = with_breaks(tmp_path, f'{GOOD}"a\nb"\td1\t1\n\nq1\td9\t1\nq1\td1\tx\n')

    fix(data, unsafe=True, removed=tmp_path / "removed.ndjson")

    assert (data / "qrels/test.tsv").read_bytes().decode() == f"{HEADER}{GOOD}q1\td1\tx\n"


@given(line=st.text(max_size=20).filter(lambda text: not set(text) & set("\r\n")))
def test_words_are_cut_as_split_does_it(line: str) -> None:
    found = cut(line, Columns())

    assert [cell.text for cell in found] == line.split() == texts(line, Columns())
    assert [line[cell.start : cell.end] for cell in found] == line.split()


@given(found=st.text(max_size=6))
def test_ids_that_are_called_safe_survive(found: str) -> None:
    if not unsafe(found) and "\0" not in found:
        (row,) = csv.reader([f"{found}\td1\t1\n"], delimiter="\t")

        assert row == [found, "d1", "1"]


@needs("scifact-beir")
def test_public_sets() -> None:
    scifact = validate(UPSTREAM_DATA / "scifact-beir", severity="warning")
    multi_turn = validate(UPSTREAM_DATA / "mtrag-queries-qrels", severity="warning")

    assert [f.rule for f in scifact.findings] == ["compressed-file"]
    assert {f.rule for f in multi_turn.findings} == {"missing-file"} and not multi_turn.ok
    assert "578 judgements need it" in multi_turn.findings[0].message
    assert len(multi_turn.datasets) == 4


@pytest.mark.parametrize("big", [False, True], ids=["plain", "columns"])
@pytest.mark.parametrize(
    ("key", "asked"),
    [
        *[("Doc1", "doc1"), ("doc1", "Doc1"), ("d1", " d1"), ("d1", "d1 ")],
        *[("caf\u00e9", "cafe\u0301"), ("D1", "\uff241")],
        *[("hd-001", "hd_1"), ("HD_001", "hd-1"), ("hd1", "HD-01"), ("31715818", "31715818.0"), ("7.0", "7")],
        *[("harbour", "harbour.txt"), ("harbour.md", "harbour")],
    ],
)
def test_an_id_that_is_nearly_one_is_named(
    key: str, asked: str, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(json.dumps({"_id": key, "title": "", "text": "t"}) + "\n")
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "t"}\n')
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\nq1\t{asked}\t1\nq1\tnobody\t1\n", "utf-8")

    near, other = (f.message for f in validate(tmp_path).findings if f.rule == "dangling-corpus-id")

    assert f'(did you mean "{key}"' in near
    assert "did you mean" not in other


@pytest.mark.parametrize("big", [False, True], ids=["plain", "columns"])
def test_judgements_that_cannot_be_read_are_the_only_fault(
    big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is said of queries without a judgement would be a consequence of it."""
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "t"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q1", "text": "t"}\n{"_id": "q2", "text": "t"}\n')
    judgements = tmp_path / "qrels/test.tsv"

    judgements.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2,d1,1\n")
    unread = run("validate", tmp_path)
    judgements.write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    fewer = run("validate", tmp_path)

    assert "3:1 BE122 error" in unread.out and "BE206" not in unread.out and unread.code == 1
    assert 'BE206 warning query "q2"' in fewer.out and "BE122" not in fewer.out


def test_validate_and_eval_name_the_only_id_that_is_written_otherwise(tmp_path: Path) -> None:
    texts = {"31715818": "tide tables", "hd-001": "a slate barge", "7": "a pear", "07": "a plum", "notes": "a reef"}
    asked = {"31715818.0": "31715818", "hd_1": "hd-001", "007": None, "notes.json": "notes", "reef.js": None}
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        "".join(json.dumps({"_id": key, "title": "", "text": text}) + "\n" for key, text in texts.items())
    )
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": f"q{n}", "text": "tide"}) + "\n" for n in range(len(asked)))
    )
    rows = "".join(f"q{n}\t{key}\t1\n" for n, key in enumerate(asked))
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + rows)

    validated = [line for line in run("validate", tmp_path).out.splitlines() if "BE203" in line]
    evaluated = [line for line in run("eval", tmp_path).out.splitlines() if "not in the corpus" in line and "q" in line]

    for key, meant in asked.items():
        (one,) = (line for line in validated if f'document "{key}"' in line)
        assert ("did you mean" in one) == (meant is not None) and (meant is None or f'did you mean "{meant}"' in one)
        (one,) = (line for line in evaluated if f"document {key} " in line)
        assert ("the corpus has" in one) == (meant is not None) and (meant is None or f"has {meant}" in one)


@pytest.mark.parametrize("big", [False, True], ids=["plain", "columns"])
@pytest.mark.parametrize("text", ["\u200b", "\u200d \u2060", "\ufeff\n", "\u00ad"])
def test_text_that_does_not_show_is_blank(
    text: str, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    rows = [{"_id": "d1", "title": "", "text": text}, {"_id": "d2", "title": "", "text": f"a{text}b"}]
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")

    assert [f.line for f in validate(tmp_path).findings if f.rule == "blank-text"] == [1]


@pytest.mark.parametrize("big", [False, True], ids=["plain", "columns"])
def test_a_file_and_its_packed_copy_are_one_finding(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    rows = "".join(json.dumps({"_id": f"d{i}", "title": "", "text": f"text {i}"}) + "\n" for i in range(50))
    (tmp_path / "corpus.jsonl").write_text(rows)
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress(rows.encode()))

    found = Counter(f.rule for f in validate(tmp_path, max_per_rule=0).findings if f.rule != "no-judgements")

    assert found == {"compressed-file": 1, "repeated-file": 1}


def test_a_packed_file_that_repeats_some_records_is_reported_record_by_record(tmp_path: Path) -> None:
    rows = [json.dumps({"_id": f"d{i}", "title": "", "text": f"text {i}"}) + "\n" for i in range(9)]
    (tmp_path / "corpus.jsonl").write_text("".join(rows[:6]))
    (tmp_path / "corpus.jsonl.gz").write_bytes(gzip.compress("".join(rows[3:]).encode()))

    found = Counter(f.rule for f in validate(tmp_path, max_per_rule=0).findings)

    assert found["duplicate-id"] == 3 and not found["repeated-file"]


@pytest.mark.parametrize("first", ["q1\t0\td2\t1", "q1 0 d2 1", "q1 d2 1", "q1\t1", "q1\tQ0\td2\t1\t0.5\trun\t7"])
def test_a_first_judgement_in_another_form_is_lost_too(first: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "beir" / "valid" / "folder", tmp_path / "set")
    qrels = next((tmp_path / "set" / "qrels").glob("*.tsv"))
    qrels.write_text("\n".join([first, *qrels.read_text().splitlines()[1:]]) + "\n")

    assert [f.line for f in validate(tmp_path / "set").findings if f.code == "BE121"] == [1]


@pytest.mark.parametrize("header", ["query-id\tcorpus-id\t-1", "query-id\tcorpus-id\tscore"])
def test_a_header_that_names_its_columns_is_no_judgement(header: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "beir" / "valid" / "folder", tmp_path / "set")
    qrels = next((tmp_path / "set" / "qrels").glob("*.tsv"))
    qrels.write_text("\n".join([header, *qrels.read_text().splitlines()[1:]]) + "\n")

    assert not validate(tmp_path / "set").findings


@pytest.mark.parametrize(
    ("judged", "there", "apart"),
    [
        ("cafe\u0301", "caf\u00e9", ", with U+00E9 instead of U+0065 U+0301"),
        ("\u212bng", "\u00c5ng", ", with U+00C5 instead of U+212B"),
        ("Q1", "q1", ""),
    ],
)
def test_ids_that_look_the_same_are_told_apart(judged: str, there: str, apart: str, tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "set")
    (tmp_path / "set/queries.jsonl").write_text(json.dumps({"_id": there, "text": "a"}) + "\n", encoding="utf-8")
    (tmp_path / "set/qrels/test.tsv").write_text(f"{HEADER}{judged}\td1\t1\n", encoding="utf-8")

    (finding,) = validate(tmp_path / "set", select="BE202").findings

    assert finding.fault == f'there is no query "{judged}" (did you mean "{there}"{apart}?)'


@pytest.mark.parametrize(
    ("header", "named"),
    [
        ("query-id\tcorpus-id\tscore", ""),
        ("Query-ID\tCorpus-ID\tScore", ""),
        ("query-id,corpus-id,score", ""),  # what is between them is seen in the lines below
        ("doc-id\tquery-id\tscore", "doc-id, query-id, score"),
        ("query_id\tcorpus_id\tscore", "query_id, corpus_id, score"),
        ("corpus-id\tquery-id\tscore", "corpus-id, query-id, score"),
        ("query-id\tcorpus-id\trelevance", ""),
    ],
)
def test_a_header_that_names_other_columns(tmp_path: Path, header: str, named: str) -> None:
    folder = shutil.copytree(FIXTURES / "beir" / "valid" / "folder", tmp_path / "data")
    qrels = folder / "qrels" / "test.tsv"
    qrels.write_text(f"{header}\n{qrels.read_text().partition(chr(10))[2]}")
    found = [(f.line, f.fault) for f in validate(folder).findings if f.code == "BE129"]
    assert found == ([(1, f'the header is "{named}"; expected query-id, corpus-id, score')] if named else [])
