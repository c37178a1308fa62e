"""One fault of a file is reported once, in plain words, and before what follows from it."""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path

import pytest

from ragdatakit import validate
from ragdatakit.reports.summaries import loss_words
from ragdatakit.schemas import get_format
from ragdatakit.schemas.conversions import Losses
from tests.command_line import FIXTURES, GOOD, run

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


def test_texts_that_are_not_utf8_are_not_said_to_differ(tmp_path: Path) -> None:
    folder = shutil.copytree(GOOD, tmp_path / "data")
    masters = [folder / split / "doc_master.ndjson" for split in ("train", "validation")]
    for master in masters:
        master.write_text(master.read_text("utf-8").replace("opens at nine", "café"), "utf-8")
    masters[0].write_bytes(masters[0].read_bytes().replace("é".encode(), b"\xe9"))

    assert [finding.code for finding in validate(folder).findings] == ["RD107"]
    masters[0].write_bytes(masters[0].read_bytes().replace(b"\xe9", b"e"))
    assert [finding.code for finding in validate(folder).findings] == ["SP312"]


def test_what_follows_from_a_record_that_cannot_be_read_comes_behind_it(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS.replace('"d1",', '"d1"'))

    found = [finding.code for finding in validate(folder).findings]

    assert found == ["BE111", "RD113", "BE203"]


@pytest.mark.parametrize(("sign", "called"), [(",", "commas"), (";", "semicolons"), (" ", "blanks")])
def test_other_separators_of_judgements_are_named(sign: str, called: str, tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, QRELS.replace("\t", sign))

    messages = {finding.fault for finding in validate(folder).findings if finding.code == "BE122"}

    assert messages == {f"1 tab-separated column instead of 3 (there are {called} where tabs should be)"}


def test_judgements_between_one_pair_of_quote_marks_are_named(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, QRELS.replace("q1\td1\t1", '"q1\td1\t1"'))

    messages = [finding.fault for finding in validate(folder).findings if finding.code == "BE122"]

    assert messages == ["1 tab-separated column instead of 3 (all are between one pair of quote marks)"]


def test_the_hint_names_the_id_that_is_meant(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, QRELS.replace("d1", "D1 "))

    (finding,) = (finding for finding in validate(folder).findings if finding.code == "BE203")

    assert finding.hint == 'write "d1", or add the document, or remove the judgement'


def test_commas_in_judgements_of_trec_are_named(tmp_path: Path) -> None:
    assert run("init", "trec", str(tmp_path / "set")).code == 0
    qrels = next((tmp_path / "set").rglob("qrels*"))
    qrels.write_text(qrels.read_text().replace(" ", ","))

    messages = {finding.fault for finding in validate(tmp_path / "set").findings if finding.code == "TR111"}

    assert messages == {"1 column instead of 4 (there are commas where blanks should be)"}


def test_records_that_are_not_utf8_are_one_note_of_a_report(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS, encoding="cp1252")

    screen = " ".join(run("report", str(folder)).out.split())

    assert "! corpus: 2 records left out: no JSON: it is not UTF-8 (corpus.jsonl:1, corpus.jsonl:2)" in screen


def test_what_several_tables_lack_is_one_note() -> None:
    losses = Losses()
    for table in ("nodes", "edges"):
        losses.add("dropped", table, None, "it could not be read: a.csv", unread=True)
    losses.add("dropped", "corpus", None, "no JSON: byte 0xe9 is not UTF-8", place="a:1")
    losses.add("dropped", "corpus", None, "no JSON: byte 0xfc is not UTF-8", count=2, place="a:4")

    words = loss_words(losses)

    assert sorted(words) == [
        "corpus: 3 records left out: no JSON: it is not UTF-8 (a:1, a:4 and 1 more)",
        "nodes, edges: it could not be read: a.csv",
    ]


def test_a_conversion_into_its_own_source_is_said(tmp_path: Path) -> None:
    folder = beir(tmp_path, CORPUS)

    inside = run("convert", "--to", "trec", str(folder), str(folder / "out")).out
    assert f"{folder}/out is in the folder of the source: {folder} has two datasets then" in inside
    other = run("convert", "--from", "beir", "--to", "trec", str(folder / "corpus.jsonl"), str(tmp_path / "beside")).out
    assert "is in the folder of the source" not in other


def test_first_settings_check_the_only_table_whose_check_fails(tmp_path: Path) -> None:
    (tmp_path / "chunks.jsonl").write_text('{"id": "c1", "page_content": "Tide"}\n{"id": "c2", "page_content": ""}\n')

    run("init-config", str(tmp_path))

    assert (
        "# its check fails: line 2: the row has no value in column page_content (TB102)\n[[table]]"
        in (tmp_path / "ragdata.toml").read_text()
    )
    assert [finding.code for finding in validate(tmp_path, config=True).findings] == ["TB102"]


def test_a_long_refusal_is_in_lines_with_the_reason_first(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("The tide.")

    (tmp_path / "notes.jsonl").write_text('{"text": "The tide."}\n', encoding="utf-16")

    lines = run("validate", str(tmp_path), terminal=True).err.splitlines()

    assert lines[0] == f"ragdata: no dataset recognised below {tmp_path};"
    assert lines[1].startswith(f"  {tmp_path}/notes.jsonl: it is UTF-16;")
    assert "light-splade" not in "".join(lines)
    assert len(run("validate", str(tmp_path)).err.splitlines()) == 1


def test_no_deprecated_option_is_suggested() -> None:
    assert "Did you mean '--from'?" in run("validate", "--form", "beir").err


def test_what_profiles_do_alike_is_said_once() -> None:
    rule = get_format("datamind").rule("empty-chunk")

    assert rule.consequence(("v1", "v2")) == "v1 and v2: drops the chunk silently"
    assert rule.consequence(("v1",)) == "v1: drops the chunk silently"


@pytest.mark.parametrize(("name", "follows"), [("queries.jsonl", "BE202"), ("corpus.jsonl", "BE203")])
def test_a_file_without_records_is_not_found_again_at_all_that_refer_to_it(
    name: str, follows: str, tmp_path: Path
) -> None:
    folder = beir(tmp_path, CORPUS)
    (folder / name).write_text("", encoding="utf-8")

    assert [finding.code for finding in validate(folder).findings] == ["BE103"]
    ignoring = validate(folder, ignore=["BE103"]).findings
    assert [finding.code for finding in ignoring] == [follows, follows]


def test_scores_of_queries_whose_master_is_missing_empty_or_cut_are_not_called_unknown(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "light-splade" / "valid" / "distil", tmp_path / "data")
    master = folder / "train" / "query_master.ndjson"
    whole = master.read_text("utf-8")

    master.write_text(whole.rstrip()[:-1], "utf-8")
    assert {finding.code for finding in validate(folder).findings} <= {"SP111", "RD114"}
    master.write_text(whole.split("\n", 1)[1], "utf-8")
    assert "SP413" in [finding.code for finding in validate(folder).findings]
    master.write_text("", "utf-8")
    assert [finding.code for finding in validate(folder).findings] == ["SP105"]
    master.unlink()
    assert [finding.code for finding in validate(folder).findings] == ["SP103"]


def test_columns_that_are_lost_for_one_reason_are_counted_beyond_ten() -> None:
    losses = Losses()
    for number in range(13):
        losses.add("lost", "nodes", f"c{number}", "the column is not read", count=2)
    losses.add("lost", "edges", "c0", "the column is not read")

    words = loss_words(losses)

    assert len(words) == 10 + 1 + 1
    assert words[0] == "nodes.c0: 2 values not kept: the column is not read"
    assert words[10:] == [
        "edges.c0: 1 value not kept: the column is not read",
        "nodes: values of 3 more columns not kept: the column is not read",
    ]


@pytest.mark.parametrize("big", [False, True])
def test_documents_without_an_id_of_that_name_are_not_missed_where_they_are_judged(
    big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    folder = shutil.copytree(FIXTURES / "trec" / "valid" / "collection", tmp_path / "data")
    documents = folder / "documents.trec"
    text = documents.read_text("utf-8")

    documents.write_text(text.replace("docno>", "docid>"), "utf-8")
    found = validate(folder).findings
    assert {(f.code, f.fault, f.hint) for f in found} == {
        ("TR102", "docno is missing (there is docid)", "rename docid to docno")
    }

    documents.write_text(text.replace("docno>", "docid>", 2), "utf-8")
    assert {f.code for f in validate(folder).findings} == {"TR102", "RD113", "TR209"}


@pytest.mark.parametrize(
    ("example", "kind", "consequence"),
    [
        ("collection", "topics", "whatever reads it has no query to search for; evaluators do not read it"),
        ("collection", "documents", "whatever reads it has nothing to search in; evaluators do not read it"),
        ("collection", "run", 'trec_eval stops with "Cannot read" the file; pytrec_eval reads nothing, and measures'),
    ],
)
def test_a_file_of_trec_without_anything_is_one_finding_that_says_who_minds(
    example: str, kind: str, consequence: str, tmp_path: Path
) -> None:
    folder = shutil.copytree(FIXTURES / "trec" / "valid" / example, tmp_path / "data")
    next(path for path in folder.iterdir() if path.name.startswith(kind)).write_text("", "utf-8")

    (finding,) = validate(folder, ignore="TR208").findings

    assert (finding.code, finding.consequence[: len(consequence)]) == ("TR105", consequence)


def test_a_file_that_is_cut_behind_a_bracket_is_said_to_be_cut(tmp_path: Path) -> None:
    text = '{\n  "results": [\n    {\n      "query_id": "q1",\n      "retrieved_context": [\n        {\n    '
    (tmp_path / "checking_inputs.json").write_text(text, "utf-8")

    (finding,) = validate(tmp_path, format="ragchecker").findings

    assert finding.code == "RC014" and "seems to be cut" in finding.fault
    assert (finding.line, finding.column) == (6, 10)


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(
    ("example", "file", "code", "packed"),
    [
        ("gfm-rag", "processed/stage1/nodes.csv", "GF109", False),
        ("light-splade", "train/doc_master.ndjson", "SP111", False),
        ("light-splade", "train/doc_master.ndjson", "SP111", True),
        ("beir", "corpus.jsonl", "BE111", False),
        ("beir", "corpus.jsonl", "BE111", True),
    ],
)
def test_what_was_lost_with_the_rest_of_a_file_is_not_said_to_be_missing(
    example: str, file: str, code: str, packed: bool, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    assert run("init", example, tmp_path / "data").code == 0
    path = tmp_path / "data" / file
    left = path.read_bytes()[: path.stat().st_size * 2 // 3]
    path.unlink()
    path.with_name(f"{path.name}.gz" if packed else path.name).write_bytes(gzip.compress(left) if packed else left)

    known = ("RD114", "BE102")  # BEIR reads no such file
    assert [f.code for f in validate(tmp_path / "data").findings if f.code not in known] == [code]


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(
    ("source", "file", "codes"),
    [
        ("sage/valid/corpus", "documents.jsonl", {"SG701", "RD114"}),
        ("trec/valid/collection", "topics.xml", {"TR101", "RD114"}),
        ("contextual-retrieval/valid/with-contexts", "contextualized_chunks.jsonl", {"CR030"}),
        ("datamind/valid/both-loaders", "chunks/notes.jsonl", {"DM201"}),
    ],
)
def test_the_checks_of_a_format_miss_nothing_of_a_file_that_is_cut(
    source: str, file: str, codes: set[str], big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    folder = shutil.copytree(FIXTURES / source, tmp_path / "data")
    before = {f.code for f in validate(folder).findings}
    path = folder / file
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])

    assert {f.code for f in validate(folder).findings} - before == codes


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("sage/valid/corpus", "documents.jsonl"),
        ("trec/valid/collection", "documents.trec"),
        ("trec/valid/collection", "topics.xml"),
        ("contextual-retrieval/valid/with-contexts", "codebase_chunks.json"),
    ],
)
def test_gzip_data_that_is_cut_off_is_one_finding(
    source: str, file: str, big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if big:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    folder = shutil.copytree(FIXTURES / source, tmp_path / "data")
    data = gzip.compress((folder / file).read_bytes())
    (folder / file).unlink()
    packed = folder / f"{file}.gz"

    packed.write_bytes(data)
    before = [f.code for f in validate(folder).findings]
    for share in (0.6, 0.8, 0.9):
        packed.write_bytes(data[: int(len(data) * share)])
        found = [f.code for f in validate(folder).findings if f.code != "RD114"]
        assert sorted(found) == sorted([*before, "RD105"])


def test_what_is_wrong_before_the_end_of_gzip_data_that_is_cut_off_is_reported(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "sage/valid/corpus", tmp_path / "data")
    path = folder / "documents.jsonl"
    data = gzip.compress(path.read_bytes().replace(b'"title":', b'"title"', 1))
    path.unlink()
    path.with_name("documents.jsonl.gz").write_bytes(data[:-12])

    assert {"SG701", "RD105"} <= {f.code for f in validate(folder).findings}
