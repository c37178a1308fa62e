"""Gold in tables as people keep it: several columns, a list beside the text, ids with blanks or with ``.0``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command_line import run

DOCUMENTS = "id,text\n1,alpha\n2,beta\n3,gamma\n"


def converted(place: Path, questions: str, *words: str, documents: str = DOCUMENTS) -> tuple[set[str], str]:
    """The judgements of a corpus and questions as BEIR, and what is said of them."""
    folder, out = place / "set", place / "out"
    folder.mkdir()
    if documents:
        (folder / "docs.csv").write_text(documents)
    (folder / "qa.csv").write_text(questions)
    done = run("convert", "--from", "table", "--to", "beir", folder, out, *words)
    assert done.code == 0, done.err
    rows = [line for file in (out / "qrels").glob("*.tsv") for line in file.read_text().splitlines()[1:]]
    return {"-".join(row.split("\t")[:2]) for row in rows}, done.out


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('" 2"', "without the blanks"),
        ("2.0", "written with .0"),
        ("1;2", "several ids in one cell"),
        ("\"['1', '2']\"", "several ids in one cell"),
    ],
)
def test_an_id_that_is_written_in_another_way(cell: str, said: str, tmp_path: Path) -> None:
    judged, out = converted(tmp_path, f"question,doc_id\nA?,{cell}\n")

    assert "1-2" in judged
    assert said in out


def test_several_ids_without_documents_are_reported(tmp_path: Path) -> None:
    judged, out = converted(tmp_path, "question,doc_id\nA?,d1;d2\n", documents="")

    assert judged == {"1-d1;d2"}
    assert "gold-separator" in out


def test_several_columns_of_gold_are_mapped(tmp_path: Path) -> None:
    given = "question=question,doc_id=doc_id+doc_id_2,text=text,id=id"

    judged, _ = converted(tmp_path, "question,doc_id,doc_id_2\nA?,1,2\nB?,3,\n", "--map", given)

    assert judged == {"1-1", "1-2", "2-3"}


@pytest.mark.parametrize("column", ["doc_id_2", "gold", "positive_doc_id", "gold_doc_1", "relevant"])
def test_a_column_that_may_be_gold_is_reported(column: str, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    (folder / "docs.csv").write_text(DOCUMENTS)
    (folder / "qa.csv").write_text(f"question,{column}\nA?,2\n")

    done = run("convert", "--from", "table", "--to", "beir", folder, tmp_path / "out", "--json")
    strict = run("convert", "--from", "table", "--to", "beir", folder, tmp_path / "strict", "--strict")

    assert f"column {column} may hold gold" in json.dumps(json.loads(done.out))
    assert strict.code == 1


@pytest.mark.parametrize("column", ["gold_doc_ids", "relevant_docs", "positive_ids"])
def test_gold_beside_a_text_is_not_taken_for_the_id_of_the_text(column: str, tmp_path: Path) -> None:
    (tmp_path / "qa.csv").write_text(f"id,question,context,{column}\n1,A?,alpha,d1;d2\n")

    done = run("convert", "--from", "table", "--to", "beir", tmp_path / "qa.csv", tmp_path / "out")

    assert done.code == 2
    assert f"doc_id={column}" in done.err


def test_a_map_that_names_gold_alone_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text(DOCUMENTS)
    (tmp_path / "qa.csv").write_text("question,gold\nA?,2\n")

    done = run("convert", "--from", "table", "--to", "beir", tmp_path, tmp_path / "out", "--map", "doc_id=gold")

    assert done.code == 2
    assert "needs question=COLUMN" in done.err


def test_a_judgement_that_is_dropped_is_named_by_question_and_document(tmp_path: Path) -> None:
    _, out = converted(tmp_path, "question,doc_id\nA?,1\nB?,9\n")

    assert "2 → 9" in out
