"""One fault of a file is reported once, in plain words, and before what follows from it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragdatakit import validate
from tests.command_line import run

QUERIES = '{"_id": "q1", "text": "Which?"}\n{"_id": "q2", "text": "Who?"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n"


def beir(folder: Path, corpus: str, qrels: str = QRELS, encoding: str = "utf-8") -> Path:
    (folder / "qrels").mkdir()
    (folder / "corpus.jsonl").write_text(corpus, encoding=encoding)
    (folder / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    (folder / "qrels" / "test.tsv").write_text(qrels, encoding="utf-8")
    return folder


CORPUS = '{"_id": "d1", "title": "", "text": "café"}\n{"_id": "d2", "title": "", "text": "naïve"}\n'


def test_bytes_that_are_not_utf8_are_reported_once_a_file(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, encoding="cp1252")

    (finding,) = validate(folder).findings

    assert (finding.code, finding.count, finding.records) == ("RD107", 2, (0, 1))
    assert finding.fault == "byte 0xe9 is not UTF-8 (in 2 records of this file)"
    assert "(--each-record lists them)" in run("validate", str(folder)).out
    assert len(validate(folder, each_record=True).findings) == 2


def test_what_follows_from_a_record_that_cannot_be_read_comes_behind_it(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS.replace('"d1",', '"d1"'))

    found = [finding.code for finding in validate(folder).findings]

    assert found == ["BE111", "RD113", "BE203"]


@pytest.mark.parametrize(("sign", "called"), [(",", "commas"), (";", "semicolons"), (" ", "blanks")])
def test_other_separators_of_judgements_are_named(sign: str, called: str, tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, QRELS.replace("\t", sign))

    messages = {finding.fault for finding in validate(folder).findings if finding.code == "BE122"}

    assert messages == {f"1 tab-separated column instead of 3 (there are {called} where tabs should be)"}


def test_commas_in_judgements_of_trec_are_named(tmp_path: Path) -> None:
    assert run("init", "trec", str(tmp_path / "set")).code == 0
    qrels = next((tmp_path / "set").rglob("qrels*"))
    qrels.write_text(qrels.read_text().replace(" ", ","))

    messages = {finding.fault for finding in validate(tmp_path / "set").findings if finding.code == "TR111"}

    assert messages == {"1 column instead of 4 (there are commas where blanks should be)"}
