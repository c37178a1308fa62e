"""Canonical tables as DuckDB relations, Arrow tables, pandas frames and rows say the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.database.dataset_database import DatasetDatabase
from ragdatakit.database.row_batches import schema_of
from ragdatakit.schemas.canonical import TABLES


@pytest.fixture
def skarn(tmp_path: Path) -> Path:
    folder = tmp_path / "skarn"
    folder.mkdir()
    (folder / "chunks.json").write_text(json.dumps([f"{i}:whale oil {i}" for i in range(20_000)]))
    questions = [
        {"id": "s1", "question": "When?", "answer": "1871", "level": 2},
        {"id": "s2", "question": "Who?", "answer": "Ada"},
    ]
    (folder / "questions.json").write_text(json.dumps(questions))
    return folder


def test_the_same_rows_in_every_form(skarn: Path) -> None:
    pandas = pytest.importorskip("pandas")
    with ragdatakit.read(skarn) as dataset:
        assert isinstance(dataset, DatasetDatabase)
        assert (dataset.name, dataset.format, dataset.tables) == ("skarn", "arag", ("chunks", "questions"))
        rows = list(dataset.rows("chunks"))
        arrow = dataset.arrow("chunks")
        frame = dataset.pandas("chunks")
        relation = dataset.relation("chunks")

        assert len(rows) == arrow.num_rows == len(frame) == 20_000
        assert arrow.column("text").to_pylist() == [r.text for r in rows] == list(frame["text"])
        assert relation.columns == list(TABLES["chunks"].columns)
        assert relation.fetchall() == [tuple(r) for r in rows]
        assert isinstance(frame, pandas.DataFrame)


def test_sql_over_several_tables(skarn: Path) -> None:
    with ragdatakit.read(skarn) as dataset:
        found = dataset.connection().execute("select count(*), (select count(*) from questions) from chunks").fetchall()

    assert found == [(20_000, 2)]


def test_an_unknown_table(skarn: Path) -> None:
    with ragdatakit.read(skarn) as dataset, pytest.raises(ragdatakit.UnknownNameError, match="did you mean chunks"):
        dataset.rows("chunk")


def test_scratch_goes_away(skarn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    dataset = ragdatakit.read(skarn)
    dataset.relation("questions")
    assert list(tmp_path.glob("ragdata-*"))

    dataset.close()

    assert not list(tmp_path.glob("ragdata-*"))
    assert dataset.relation("questions").fetchall(), "it may be asked again"
    dataset.close()


def test_several_datasets_are_refused(skarn: Path) -> None:
    other = skarn.parent / "other"
    other.mkdir()
    (other / "chunks.json").write_text('["0:a"]')
    (other / "questions.json").write_text('[{"id": "1", "question": "q", "answer": "a"}]')

    with pytest.raises(ragdatakit.RagdataError, match="holds 2 datasets"):
        ragdatakit.read(skarn.parent)


@pytest.mark.parametrize("table", TABLES)
def test_every_table_has_kinds(table: str) -> None:
    assert list(schema_of(table)) == list(TABLES[table].columns)
    assert set(schema_of(table).values()) <= {"string", "int64", "double", "list<string>", "binary"}
