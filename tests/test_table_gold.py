"""Gold and ids of plain tables: what is mapped or recognised is kept or reported, and no made id meets a given one."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragdatakit.schemas.errors import RagdataError
from tests.broad import examples
from tests.command_line import run
from tests.conversion_tools import rows as rows_of
from tests.test_plain_sources import read

CORPUS = "doc_id,text\nd1,The north reef.\nd2,The south reef.\nd3,The harbour.\n"


def folder(path: Path, **files: str) -> Path:
    path.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (path / f"{name}.csv").write_text(content, encoding="utf-8")
    return path


def documents(path: Path, **options: str) -> list[str]:
    return [row.doc_id for row in rows_of(read(path, "table", **options))["documents"]]


@pytest.mark.parametrize(
    ("cells", "targets"),
    [
        ("d2", ["d2"]),
        ('"d1;d2"', ["d1", "d2"]),
        ('"d1, d3"', ["d1", "d3"]),
        ("d1|d2", ["d1", "d2"]),
        ('"[""d1"", ""d3""]"', ["d1", "d3"]),
        ("\"['d2', 'd3']\"", ["d2", "d3"]),
    ],
)
def test_gold_of_questions_without_ids_is_kept(cells: str, targets: list[str], tmp_path: Path) -> None:
    source = folder(tmp_path / "set", corpus=CORPUS, questions=f"question,doc_id\nWhich reef?,{cells}\n")

    outcome = run("convert", "--from", "table", "--to", "beir", "--strict", source, tmp_path / "beir")

    assert outcome.code == 0, outcome.err
    rows = (tmp_path / "beir" / "qrels" / "test.tsv").read_text().splitlines()[1:]
    assert [row.split("\t")[1] for row in rows] == targets


def test_gold_that_is_mapped_is_kept(tmp_path: Path) -> None:
    source = folder(tmp_path / "set", corpus=CORPUS, asked="ask,hit\nWhich reef?,d1\nWhich harbour?,d3\n")
    words = "corpus:text=text,corpus:id=doc_id,asked:question=ask,asked:doc_id=hit"

    outcome = run("convert", "--from", "table", "--map", words, "--to", "beir", source, tmp_path / "beir")

    assert outcome.code == 0, outcome.err
    assert len((tmp_path / "beir" / "qrels" / "test.tsv").read_text().splitlines()) == 3


def test_a_separator_that_is_named_cuts_cells(tmp_path: Path) -> None:
    source = folder(tmp_path / "set", corpus=CORPUS, questions="question,doc_id\nWhich reef?,d1//d2\n")
    words = ("--from", "table", "--to", "beir", "--option", "gold-separator=//")

    assert run("convert", *words, source, tmp_path / "beir").code == 0
    assert len((tmp_path / "beir" / "qrels" / "test.tsv").read_text().splitlines()) == 3


@pytest.mark.parametrize("name", ["chunk_id", "uuid", "node_id", "segment_id", "passage_id", "pid", "docid", "url"])
def test_usual_names_of_ids_are_known(name: str, tmp_path: Path) -> None:
    source = folder(tmp_path, notes=f"{name},title,text\n0,Reef,The north reef.\n1,Harbour,The harbour.\n")

    assert documents(source) == ["0", "1"]


def test_a_column_that_repeats_is_no_id(tmp_path: Path) -> None:
    source = folder(tmp_path, chunks="doc_id,chunk_id,text\na,a-1,One.\na,a-2,Two.\n")

    assert documents(source) == ["a-1", "a-2"]


@pytest.mark.parametrize("command", ["convert", "eval", "index", "retrieve"])
def test_made_ids_never_meet_given_ones(command: str, tmp_path: Path) -> None:
    source = folder(tmp_path / "set", corpus="number,text\n0,One.\n1,Two.\n", qrels="query_id,doc_id\nq1,0\n")
    words = {"convert": ["--to", "beir", source, tmp_path / "out"], "retrieve": [source, "one"]}.get(command, [source])

    outcome = run(command, *words)

    assert (outcome.code, "--map corpus.csv:id=COLUMN" in outcome.err) == (2, True), outcome.err
    assert not (tmp_path / "out").exists()


def test_row_numbers_are_ids_where_the_user_says_so(tmp_path: Path) -> None:
    source = folder(tmp_path, corpus="text\nOne.\nTwo.\n", qrels="query_id,doc_id\nq1,0\n")

    assert documents(source, **{"row-ids": "0"}) == ["0", "1"]


def test_judgements_that_lie_apart_do_not_meet_made_ids(tmp_path: Path) -> None:
    source = folder(tmp_path / "set", corpus="text\nThe north reef.\nThe harbour.\n")
    apart = folder(tmp_path / "gold", gold="query_id,question,doc_id\nq1,Which reef?,0\n")

    outcome = run("eval", source, "--questions", apart / "gold.csv", "--mode", "bm25")

    assert (outcome.code, "ids of its documents" in outcome.err) == (2, True), outcome.out + outcome.err


NAMES = st.sampled_from(
    ["text", "title", "question", "doc_id", "query_id", "id", "answer", "grade", "split", "note", "url", "label"]
)
CELLS = st.sampled_from(["", "a", "12", "The reef.", "x;y", "train"])
TARGETS = ("text", "question", "id", "title", "answer", "question_id", "doc_id", "grade", "split")


@st.composite
def tables_and_maps(draw: st.DrawFn) -> tuple[list[dict[str, str]], str]:
    """Records whose texts are marked by row and column, and a map of some of the columns."""
    names = draw(st.lists(NAMES, min_size=2, max_size=6, unique=True))
    rows = [[draw(CELLS) for _ in names] for _ in range(draw(st.integers(1, 2)))]
    marked = [
        {name: cell and f"{cell}#{r}.{c}" for c, (name, cell) in enumerate(zip(names, row, strict=True))}
        for r, row in enumerate(rows)
    ]
    targets = draw(st.lists(st.sampled_from(TARGETS), max_size=4, unique=True))
    return marked, ",".join(f"{target}={draw(st.sampled_from(names))}" for target in targets)


@given(tables_and_maps())
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
def test_each_value_ends_in_a_table_or_in_the_account(drawn: tuple[list[dict[str, str]], str]) -> None:
    marked, words = drawn
    with TemporaryDirectory() as scratch:
        Path(scratch, "t.jsonl").write_text("".join(json.dumps(record) + "\n" for record in marked), encoding="utf-8")
        try:
            tables = read(Path(scratch), "table", **({"map": words} if words else {}))
            given_rows = rows_of(tables)
        except RagdataError:
            return

    seen = repr(given_rows) + repr([(loss.column, loss.examples) for loss in tables.losses])
    dropped = {place for loss in tables.losses if loss.kind == "dropped" for place in loss.examples}

    for number, record in enumerate(marked, 1):
        if not any(f": {number}" in place for place in dropped):  # a row that is left out is reported as a row
            assert [cell for cell in record.values() if cell and cell.split("#")[-1] not in seen] == []
