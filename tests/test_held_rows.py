"""Reports of rows that are held until SQL asks for them: the same as of those that the database has."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragdatakit.database import dataset_database
from ragdatakit.reports.summaries import summarize
from ragdatakit.scanner.library import library
from tests.test_texts_apart import ODD, opened

pytestmark = pytest.mark.skipif(library() is None, reason="without a scanner all rows are in the database")

PLAIN = [
    {"_id": f"d{n}", "title": ("", "A", " \t")[n % 3], "text": f"text {n % 7}", "metadata": {"a": n} if n % 2 else {}}
    for n in range(40)
]


def of_beir(folder: Path, lines: list[str]) -> Path:
    (folder / "corpus.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "Who?"}\n{"_id": "q2", "text": "Why?"}\n')
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\nq2\t17\t1\nq2\tgone\t0\n")
    return folder


@pytest.mark.parametrize("most", [0, 1 << 28], ids=["none", "all"])
@pytest.mark.parametrize(
    ("more", "held"),
    [
        ([], True),
        ([*ODD[1:], '{"_id": "d1", "title": "again", "text": "text 1", "own": null}'], True),
        ([json.dumps({"_id": f"{n}", "text": "t"}) for n in (17, 5)], False),
        ([json.dumps({"_id": "x", "text": "t", "metadata": {"type": "x"}})], False),
    ],
    ids=["sound", "odd", "integers", "kinds"],
)
def test_rows_that_are_held_give_the_same_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: list[str], held: bool, most: int
) -> None:
    folder = of_beir(tmp_path, [*map(json.dumps, PLAIN), *more])
    with opened(folder) as database:
        expected = summarize(database, examples=4)
    monkeypatch.setattr(dataset_database, "_MOST_HELD", most)
    with opened(folder) as database:
        assert summarize(database, examples=4, alone=True) == expected
        assert (database.column_facts("documents", "doc_id") is not None) is (held and most > 0)
