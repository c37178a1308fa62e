"""The published 2wikimultihop files of A-RAG pass: no error, no warning, and they are recognised."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import ragdatakit
from tests.upstream_data import UPSTREAM_DATA

PACKED = UPSTREAM_DATA / "2wiki-hipporag"

pytestmark = pytest.mark.skipif(
    not (PACKED / "chunks.json.gz").is_file(), reason=f"the published 2wikimultihop files are not there ({PACKED})"
)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("2wikimultihop")
    for name in ("chunks.json", "questions.json"):
        (folder / name).write_bytes(gzip.decompress((PACKED / f"{name}.gz").read_bytes()))
    return folder


def test_published_files_have_no_error_and_no_warning(corpus: Path) -> None:
    report = ragdatakit.validate(corpus)

    assert (report.counts["error"], report.counts["warning"]) == (0, 0)
    assert [(d.format, [(f.kind, f.records) for f in d.files]) for d in report.datasets] == [
        ("arag", [("chunks", 658), ("questions", 1000)])
    ]


def test_published_files_are_recognised(corpus: Path) -> None:
    report = ragdatakit.validate(corpus)

    assert [Path(f.path).name for f in report.findings if f.rule == "published-file"] == [
        "chunks.json",
        "questions.json",
    ]


def test_most_published_answers_occur_in_the_chunks(corpus: Path) -> None:
    report = ragdatakit.validate(corpus)

    (finding,) = [f for f in report.findings if f.rule == "answers-in-chunks"]
    assert "(88 %)" in finding.message or "(89 %)" in finding.message


@pytest.mark.parametrize("name", ["chunks.json", "questions.json"])
def test_one_published_file_alone_passes(corpus: Path, name: str) -> None:
    report = ragdatakit.validate(corpus / name)

    assert (report.counts["error"], report.counts["warning"]) == (0, 0)
