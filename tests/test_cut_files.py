"""A file of JSON that ends within a record is said to be cut; other faults are not, wherever they are."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragdatakit.files.containers.positions import Located
from ragdatakit.files.reading.cut_files import is_cut
from tests.command_line import FIXTURES, run

CUT = "not JSON: the file ends within a record and seems to be cut"
AGAIN = "copy the file again, or write it again"
BEGUN = (
    '{"_id": "d9", "te',
    '{"_id": "d9"',
    '{"_id": "d9",',
    '{"_id": tr',
    '{"_id": 1.',
    r'{"_id": "d\u00',
    '{"_id": "d9\\',
)


PACKED = pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])


def put(path: Path, text: str, packed: bool = False) -> None:
    """The text in a file, or in gzip data beside where it would be, in two members."""
    if packed:
        halves = text[: len(text) // 2], text[len(text) // 2 :]
        path.with_name(f"{path.name}.gz").write_bytes(b"".join(gzip.compress(half.encode()) for half in halves))
        path.unlink(missing_ok=True)
    else:
        path.write_text(text)


def ndjson(end: str, folder: Path, packed: bool = False) -> Path:
    folder = Path(shutil.copytree(FIXTURES / "beir/valid/folder", folder, dirs_exist_ok=True))
    put(folder / "corpus.jsonl", (FIXTURES / "beir/valid/folder/corpus.jsonl").read_text() + end, packed)
    return folder


def said(folder: Path, *words: str) -> list[tuple[str, str]]:
    found = run("validate", folder, "--output-format", "json", *words).json["findings"]
    return [(f["message"].partition(";")[0], f["hint"]) for f in found if "JSON" in f["message"]]


@PACKED
@pytest.mark.parametrize("end", BEGUN)
def test_lines(end: str, packed: bool, tmp_path: Path) -> None:
    assert said(ndjson(end, tmp_path, packed)) == [(CUT, AGAIN)]
    assert CUT not in str(said(ndjson(f"{end}\n", tmp_path, packed)))


@PACKED
@pytest.mark.parametrize(
    "end", ["{'_id': 'd9'}", '{"_id": "d9"}}', '{"_id": d9}', '{"_id": "d9", }', '{"_id": nil', "  "]
)
def test_other_faults(end: str, packed: bool, tmp_path: Path) -> None:
    assert CUT not in str(said(ndjson(end, tmp_path, packed)))


@pytest.mark.parametrize(
    ("behind", "message"),
    [
        (",", "not JSON: there is a comma behind the record"),
        ('{"_id": "d9"}', "not JSON: there is another record behind it on the line"),
        ("]", "not JSON: extra data"),
    ],
)
def test_what_is_behind_a_record(behind: str, message: str, tmp_path: Path) -> None:
    record = '{"_id": "d8", "title": "", "text": "x"}'
    assert [found for found, _ in said(ndjson(f"{record}{behind}\n", tmp_path))] == [message]


@PACKED
@pytest.mark.parametrize("words", [("--jobs", "2"), ("--engine", "local", "--jobs", "2")])
@pytest.mark.parametrize("scanner", ["", "off"])
def test_every_way_of_reading(
    words: tuple[str, ...], scanner: str, packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGDATA_SCANNER", scanner)
    more = "".join(json.dumps({"_id": f"n{n}", "title": "", "text": "word " * 100}) + "\n" for n in range(7_000))

    assert said(ndjson(more + BEGUN[0], tmp_path, packed), *words) == [(CUT, AGAIN)]


@pytest.mark.parametrize("share", [0.5, 0.9, 1])
def test_an_array(share: float, tmp_path: Path) -> None:
    whole = json.dumps([{"title": f"title {n}", "text": f"text {n}", "idx": n} for n in range(9)], indent=1)
    (tmp_path / "set_corpus.json").write_text(whole[: int(len(whole) * share) - 1].rstrip())

    assert said(tmp_path, "--from", "hipporag")[-1] == (CUT, AGAIN)


@pytest.mark.parametrize("share", [0.5, 0.9, 1])
def test_a_packed_array(share: float, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "contextual-retrieval/valid/cookbook", tmp_path / "data")
    whole = (folder / "codebase_chunks.json").read_text()
    put(folder / "codebase_chunks.json", whole[: int(len(whole.rstrip()) * share) - 1].rstrip(), packed=True)

    assert said(folder) == [(CUT, AGAIN)]


def test_of_a_fault_before_others_little_is_read(tmp_path: Path) -> None:
    """There may be very many."""
    (tmp_path / "corpus.jsonl").write_text('{"_id"\n' * 50_000)
    stream = (tmp_path / "corpus.jsonl").open("rb", buffering=0)
    copy = os.dup(stream.fileno())
    file = SimpleNamespace(path=tmp_path / "corpus.jsonl", boundary=SimpleNamespace(open=lambda _: stream))

    assert not is_cut(file, Located(0, 1, 0, b'{"_id"'), 6)  # type: ignore[arg-type]
    assert os.lseek(copy, 0, os.SEEK_CUR) < 10_000
    os.close(copy)


JUDGED, TREC_JUDGED, RUN = "query-id\tcorpus-id\tscore\nq1\td1\t1\n", "q1 0 d1 1\n", "q1 Q0 d1 1 2.5 bm25\n"
IN_IT = ": the file ends within a record and seems to be cut"


@pytest.mark.parametrize(
    ("name", "whole", "end", "message"),
    [
        ("qrels/test.tsv", JUDGED, "q2\td2", f"2 tab-separated columns instead of 3{IN_IT}"),
        ("qrels/test.tsv", JUDGED, 'q2\t"d', f"a quote mark that is not closed{IN_IT}"),
        ("qrels.test.txt", TREC_JUDGED, "q2 0 d", f"3 columns instead of 4{IN_IT}"),
        ("a.run", RUN, "q1 Q0 d2", f"3 columns instead of 6{IN_IT}"),
        ("docs.trec", "<DOC>\n<DOCNO>d1</DOCNO>\n<TEXT>a</TEXT>\n</DOC>\n", "<DOC>\n<DOCNO>d2</DOCNO>\n<TE",
         f"the element is not closed{IN_IT}"),
    ],
)  # fmt: skip
@PACKED
@pytest.mark.parametrize("scanner", ["", "off"])
def test_cells_and_elements(
    name: str,
    whole: str,
    end: str,
    message: str,
    scanner: str,
    packed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("RAGDATA_SCANNER", scanner)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)

    def found(text: str) -> list[tuple[str, str]]:
        put(path, text, packed)
        wanted = ("--from", "beir" if "qrels/" in name else "trec", "--select", "BE12,TR101,TR11")
        return [
            (f["message"].partition(";")[0], f["hint"])
            for f in run("validate", tmp_path, *wanted, "--output-format", "json").json["findings"]
        ]

    assert found(whole + end) == [(message, AGAIN)]
    assert [hint == AGAIN for _, hint in found(f"{whole}{end}\n")] == [False]
    if "<" not in end:
        assert found(f"{whole}{end}\n{end}")[-1][1] != AGAIN  # as all lines


def test_a_score_that_is_cut_off(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(f"{JUDGED}q2\td2\t")
    done = run("validate", tmp_path, "--from", "beir", "--select", "BE124", "--output-format", "json").json
    assert [f["hint"] for f in done["findings"]] == [f"the file seems to be cut here: {AGAIN}"]


@PACKED
def test_a_file_of_no_bytes_is_empty(packed: bool, tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "lightrag" / "valid" / "ingested", tmp_path / "here")
    put(folder / "kv_store_text_chunks.json", "", packed)

    assert ("not JSON: the file is empty", AGAIN) in said(folder)
