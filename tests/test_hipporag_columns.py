"""Passages of HippoRAG that come from the scanner's columns: the rows, losses and judgements that the reader gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.api.report import report
from ragdatakit.converters import sql_tables
from ragdatakit.converters.hipporag import scanned_passages
from ragdatakit.scanner.library import library
from tests.conversion_tools import read_tables, rows

pytestmark = pytest.mark.skipif(library() is None, reason="columns come from the compiled library only")

PASSAGES = [{"title": f"title {n}", "text": f"text {n} of it \U0001f600", "idx": n} for n in range(40)]
ODD: dict[str, list[Any]] = {
    "plain": [],
    "other fields": [{"title": "a", "text": "b", "idx": 77, "more": {"x": 1}}, {"text": "c", "title": "d", "idx": 78}],
    "no text": [{"title": "a", "idx": 77}, {"title": "a", "text": None, "idx": 79}, {"text": "no title", "idx": 80}],
    "texts as idx": [{"title": "a", "text": "b", "idx": "x7"}, {"title": "a", "text": "c", "idx": "-0"}],
    "one idx twice": [{"title": "a", "text": "b", "idx": 3}],
    "one idx as a text": [{"title": "a", "text": "b", "idx": "3"}],
    "no idx": [{"title": "a", "text": "b"}],
    "another idx": [{"title": "a", "text": "b", "idx": 1.5}, {"title": "a", "text": "b", "idx": True}],
    "large idx": [{"title": "a", "text": "b", "idx": 10**25}],
    "below 0": [{"title": "a", "text": "b", "idx": -4}],
    "alike": [{"title": "title 3", "text": "text 3 of it \U0001f600", "idx": 81}],
    "line feed in a title": [
        {"title": "title 8\ntext", "text": "8", "idx": 81},
        {"title": "u", "text": "v", "idx": 82},
    ],
    "half a character": [{"title": "a", "text": "b\ud800", "idx": 81}],
    "no objects": [5, ["a"], None, {"title": "a", "text": "b", "idx": 82}],
    "minus nothing": ['{"title": "a", "text": "b", "idx": -0}'],
    "a name twice": ['{"title": "a", "text": "b", "text": "c", "idx": 84}'],
}


def made(folder: Path, odd: list[Any], *, numbered: bool = True) -> Path:
    folder.mkdir()
    passages = [p if numbered else {k: v for k, v in p.items() if k != "idx"} for p in PASSAGES]
    given = [one if isinstance(one, str) else json.dumps(one) for one in [*passages[:20], *odd, *passages[20:]]]
    (folder / "made_corpus.json").write_text("[\n" + ",\n".join(given) + "\n]\n")
    asked = []
    for n in range(1, 30):
        paragraphs = [{**PASSAGES[n + m], "is_supporting": m == 0} for m in range(3)]
        paragraphs.append({"title": "title 8", "text": "text\n8", "is_supporting": n % 2 == 0})
        paragraphs.append({"title": "u\nv", "text": f"{n % 3}" if n % 3 else "", "is_supporting": True})
        asked.append({"id": f"q{n}", "question": f"Which {n}?", "answer": ["x"], "paragraphs": paragraphs})
    (folder / "made.json").write_text(json.dumps(asked))
    return folder


def rows_of(folder: Path) -> Any:
    tables = read_tables(folder, "hipporag")
    return rows(tables), [loss.as_dict() for loss in tables.losses]


@pytest.mark.parametrize(
    ("case", "numbered"), [*((case, True) for case in ODD), *((case, False) for case in ("plain", "no text", "alike"))]
)
def test_columns_give_what_the_reader_gives(
    case: str, numbered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", ODD[case], numbered=numbered)
    (by_rows,), tables = report(folder), rows_of(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)
    (by_columns,) = report(folder)
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert rows_of(folder) == tables


@pytest.mark.parametrize("lines", [True, False])
def test_a_corpus_that_is_no_array_is_read_as_the_reader_reads_it(
    lines: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", [])
    text = "\n".join(map(json.dumps, PASSAGES)) if lines else json.dumps({"docs": PASSAGES})
    (folder / "made_corpus.json").write_text(text)
    (by_rows,), tables = report(folder, source_format="hipporag"), rows_of(folder)
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))
    monkeypatch.setattr(scanned_passages, "_WORTH", 0)
    (by_columns,) = report(folder, source_format="hipporag")
    by_rows.seconds = by_columns.seconds = 0
    assert by_columns == by_rows
    assert rows_of(folder) == tables


def test_very_many_passages_that_the_scanner_leaves_are_called_after_their_places(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = made(tmp_path / "set", [], numbered=False)
    passages = [{"title": "t", "text": f"{n}", "url": "u"} for n in range(9000)]
    (folder / "made_corpus.json").write_text(json.dumps(passages))
    monkeypatch.setattr(sql_tables.sql_tables, "__defaults__", (0,))

    (found,) = report(folder)

    (ids, *_) = found.ids
    assert (ids.distinct, ids.minimum, ids.maximum) == (9000, 0, 8999)
