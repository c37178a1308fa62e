"""pandas infers types chunk by chunk: which edges of a big file are lost for it, in both ways of reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from itertools import cycle, islice
from pathlib import Path
from unittest import mock

import pytest

import ragdatakit
from ragdatakit.files.containers import csv_rows
from ragdatakit.schemas.findings import Finding
from ragdatakit.validators import dataset_run

WHOLE = 131_072  # rows of a table of four columns
CHUNK = 2_048  # in the tests that say so
YEARS = [str(year) for year in range(1900, 2000)]
WORDS = ["osprey", "lena", "alba"]


@pytest.fixture(params=["plain", "columns"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if request.param == "columns" else 1 << 40)


@pytest.fixture
def small_chunks() -> Iterator[None]:
    with mock.patch.object(csv_rows, "chunk_rows", return_value=CHUNK):
        yield


def write(folder: Path, sources: Iterable[str]) -> Path:
    """Nodes called by years and words, and one edge from each source."""
    nodes = [f"{name},entity,{{}}\n" for name in (*WORDS, *YEARS)]
    (folder / "nodes.csv").write_text("name,type,attributes\n" + "".join(nodes) + "log,document,\"{'content': 'x'}\"\n")
    (folder / "relations.csv").write_text("name,attributes\ntowed,{}\nis_mentioned_in,{}\n")
    edges = "".join(f"{source},towed,lena,{{}}\n" for source in sources)
    (folder / "edges.csv").write_text(f"source,relation,target,attributes\n{edges}")
    return folder


def years(number: int) -> Iterator[str]:
    return islice(cycle(YEARS), number)


def found(folder: Path, *rules: str) -> list[tuple[str, int | None, str]]:
    def shown(finding: Finding) -> tuple[str, int | None, str]:
        return finding.rule, finding.line, finding.message.split(";")[0]

    return [shown(f) for f in ragdatakit.validate(folder).findings if f.rule in rules]


WATCHED = ("kind-mismatch", "mixed-name-kinds", "dangling-endpoint", "number-like-name")


@pytest.mark.usefixtures("small_chunks")
def test_a_chunk_of_numbers_is_lost(tmp_path: Path) -> None:
    write(tmp_path, [*years(CHUNK), *WORDS])

    message = f"source is read as numbers in {CHUNK:,} rows from this one on, and node names as text: none is found"
    assert found(tmp_path, *WATCHED) == [("kind-mismatch", 2, message)]


@pytest.mark.usefixtures("small_chunks")
def test_a_last_short_chunk_counts(tmp_path: Path) -> None:
    write(tmp_path, [*WORDS, *years(CHUNK)])

    message = "source is read as numbers in 3 rows from this one on, and node names as text: none is found"
    assert found(tmp_path, *WATCHED) == [("kind-mismatch", CHUNK + 2, message)]


def test_a_word_in_each_chunk_saves_it_for_now(tmp_path: Path) -> None:
    """In columns with as many rows as pandas takes; in plain Python, which needs seconds for so many, with fewer."""
    rows = WHOLE if dataset_run.SMALL_DATASET < 0 else CHUNK
    write(tmp_path, [*WORDS, *years(rows), *WORDS])

    with nullcontext() if rows == WHOLE else mock.patch.object(csv_rows, "chunk_rows", return_value=CHUNK):
        assert found(tmp_path, *WATCHED) == [
            ("mixed-name-kinds", 2, f"{rows:,} of {rows + 6:,} cells of source look like numbers")
        ]


@pytest.mark.usefixtures("small_chunks")
def test_one_chunk_is_one_kind(tmp_path: Path) -> None:
    write(tmp_path, [*WORDS, *years(CHUNK - 3)])

    assert found(tmp_path, *WATCHED) == []
