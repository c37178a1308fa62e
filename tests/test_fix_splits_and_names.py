"""Leaks, lists of one query, and names with blanks: what is removed, merged or renamed, and what forbids it."""

from __future__ import annotations

import json
import shutil
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from tests.command_line import FIXTURES
from tests.test_fix_conditions import GFM, NAMES, SPLADE, fix, lines, made, read, removed

ROUNDS = 10
"""In which all is repaired at most."""
NODES = "processed/stage1/nodes.csv"
EDGES = "processed/stage1/edges.csv"
HEADER = b"query-id\tcorpus-id\tscore\n"


QUERIES = lines({"qid": 1, "text": "x"}, {"qid": 2, "text": "y"})


def codes(result: ragdatakit.FixResult) -> set[str]:
    return {code for counts in result.fixed.values() for code in counts}


def test_a_leaked_query_leaves_the_training_split_with_all_that_refers_to_it(tmp_path: Path) -> None:
    root = made(tmp_path, "light-splade/broken/query-leak")
    leaked = json.loads((root / "validation/query_master.ndjson").read_text("utf-8").splitlines()[0])["qid"]
    validation = {path: path.read_bytes() for path in (root / "validation").iterdir()}
    (finding,) = [f for f in ragdatakit.validate(root).findings if f.code == "SP311"]

    result = fix(root, unsafe=True)

    assert finding.fix is not None and finding.fix.path.endswith("train/query_master.ndjson")
    assert result.report.counts["error"] == 0
    assert not [f for f in result.report.findings if f.code == "SP311"]
    assert {path: path.read_bytes() for path in (root / "validation").iterdir()} == validation
    for name in ("query_master", "positive_lists", "triplets"):
        kept = [json.loads(line) for line in (root / f"train/{name}.ndjson").read_text("utf-8").splitlines()]
        assert kept and leaked not in {record["qid"] for record in kept}


def test_all_judgements_of_a_leaked_query_leave_the_training_split(tmp_path: Path) -> None:
    root = made(tmp_path, "beir/broken/query-in-two-splits")
    train = root / "qrels/train.tsv"
    many = "".join(f"q1\td{1 + n % 3}\t1\n" for n in range(ROUNDS + 5))
    train.write_text(f"query-id\tcorpus-id\tscore\n{many}q3\td3\t1\n", "utf-8")
    test = (root / "qrels/test.tsv").read_bytes()

    result = ragdatakit.fix(root, unsafe=True, removed=tmp_path / "removed.ndjson", select=["BE207"])

    assert train.read_text("utf-8") == "query-id\tcorpus-id\tscore\nq3\td3\t1\n"
    assert (root / "qrels/test.tsv").read_bytes() == test
    assert result.removed == ROUNDS + 5


def test_the_header_of_judgements_is_not_of_a_query_that_is_called_like_it(tmp_path: Path) -> None:
    root = made(tmp_path, "beir/broken/query-in-two-splits")
    header, leaked = "query-id\tcorpus-id\tscore\n", "query-id\td1\t1\n"
    with (root / "queries.jsonl").open("a", encoding="utf-8") as queries:
        queries.write(lines({"_id": "query-id", "text": "which light"}))
    for split in ("train", "test"):
        (root / f"qrels/{split}.tsv").write_text(f"{header}{leaked}q{len(split)}\td3\t1\n{leaked}", "utf-8")

    ragdatakit.fix(root, unsafe=True, removed=tmp_path / "removed.ndjson", select=["BE207"])

    assert (root / "qrels/train.tsv").read_text("utf-8") == f"{header}q5\td3\t1\n"


def test_what_is_in_two_splits_none_of_which_is_trained_on_stays(tmp_path: Path) -> None:
    root = made(tmp_path, "beir/broken/query-in-two-splits")
    (root / "qrels/train.tsv").rename(root / "qrels/dev.tsv")

    (finding,) = [f for f in ragdatakit.validate(root).findings if f.code == "BE207"]

    assert finding.fix is None


def test_a_leaked_question_leaves_train_json(tmp_path: Path) -> None:
    root = made(tmp_path, "gfm-rag/broken/question-in-train-and-test")
    before = read(root, "questions")

    fix(root, unsafe=True)

    assert read(root, "questions") == before
    assert [each["id"] for each in json.loads(read(root, "training"))] == ["t2"]


def test_lists_of_one_query_become_one(tmp_path: Path) -> None:
    lists = [(1, [10, 11]), (2, [12]), (1, []), (1, [11, 13]), (1, [10])]
    records = [{"qid": qid, "positive_doc_ids": ids} for qid, ids in lists]
    documents = [{"doc_id": number, "text": f"text {number}"} for number in range(10, 15)]
    root = made(
        tmp_path, SPLADE, positives=lines(*records), queries=lines(*({"qid": n, "text": f"{n}"} for n in (1, 2)))
    )
    (root / "train/doc_master.ndjson").write_text(lines(*documents), "utf-8")

    fix(root, unsafe=True, select=["SP303"])

    kept = [json.loads(line) for line in read(root, "positives").splitlines()]
    assert [(each["qid"], sorted(each["positive_doc_ids"])) for each in kept] == [(2, [12]), (1, [10, 11, 13])]


def chunked(tmp_path: Path, chunks: list[Any]) -> Path:
    return made(tmp_path, "arag/broken/padded-chunk-id", chunks=json.dumps(chunks, ensure_ascii=False))


def test_ids_of_chunks_are_written_plainly(tmp_path: Path) -> None:
    root = chunked(tmp_path, ["00:The lamp was lit in 1871.", " 1:It burned whale oil.", "2 :A bell was hung."])
    assert codes(fix(root)) == set()

    fix(root, unsafe=True)

    expected = ["0:The lamp was lit in 1871.", "1:It burned whale oil.", "2:A bell was hung."]
    assert json.loads(read(root, "chunks")) == expected


@pytest.mark.parametrize("chunk", [r"\u00207:Harbour text is long. More.", r"0\u0037:Harbour text is long. More."])
def test_an_id_that_is_written_with_escapes_stays(chunk: str, tmp_path: Path) -> None:
    before = f'["{chunk}", "3:Reef text. Here."]'
    root = made(tmp_path, "arag/broken/padded-chunk-id", chunks=before)

    result = fix(root, unsafe=True, select=["AR111"])

    assert read(root, "chunks") == before
    assert [f.fix for f in result.report.findings if f.code == "AR111"] == [None]


def test_an_id_that_another_chunk_has_is_not_taken(tmp_path: Path) -> None:
    chunks = [
        {"id": "0", "text": "The lamp was lit."},
        {"id": "00", "text": "It burned oil."},
        {"id": " 1", "text": "A bell."},
    ]
    root = chunked(tmp_path, chunks)

    fix(root, unsafe=True)

    assert [each["id"] for each in json.loads(read(root, "chunks"))] == ["0", "00", "1"]


def test_a_padded_name_is_stripped_safely_for_the_loader_that_strips_it(tmp_path: Path) -> None:
    triples = Path("triplets/notes.jsonl")
    before = '{"subject": "Tide\\u0020", "relation": "caused_by", "object": "\\u00a0Caf\\u00e9"}\n'
    for profile, unsafe, changed in (("v1", False, True), ("v2", False, False), ("v2", True, True)):
        root = made(tmp_path / f"{profile}-{unsafe}", "datamind/broken/padded-name")
        (root / triples).write_text(before, "utf-8")

        fix(root, unsafe=unsafe, profile=profile)

        after = (root / triples).read_text("utf-8")
        assert (after != before) == changed
        if changed:
            assert list(json.loads(after).values()) == ["Tide", "caused_by", "Café"]


def test_a_name_with_half_a_character_stays_where_it_would_have_to_be_written_anew(tmp_path: Path) -> None:
    root = made(tmp_path, "datamind/broken/padded-name")
    triples = root / "triplets/notes.jsonl"
    before = '{"subject": "Ti\\ud800de\\u0020", "relation": "caused_by", "object": " Caf\\ud800"}\n'
    triples.write_text(before, "utf-8")

    fix(root, unsafe=True, profile="v1", select=["DM307"])

    assert triples.read_text("utf-8") == before.replace(" Caf", "Caf")


def test_names_of_a_graph_are_stripped_with_its_edges(tmp_path: Path) -> None:
    root = made(tmp_path, "gfm-rag/broken/untrimmed-name")

    result = fix(root, unsafe=True)

    assert codes(result) == {"GF219", "GF301"}
    assert "\ntern,entity,{}" in (root / NODES).read_text("utf-8")
    assert (root / EDGES).read_text("utf-8").endswith("\ntern,towed,lena,{}\n")
    assert removed(root) == ["tern ", "tern "]
    assert not [f for f in result.report.findings if f.code in ("GF219", "GF301")]


def test_a_name_that_another_node_has_is_not_taken(tmp_path: Path) -> None:
    root = made(tmp_path, "gfm-rag/broken/untrimmed-name")
    nodes = (root / NODES).read_text("utf-8") + "tern,entity,{}\n"
    (root / NODES).write_text(nodes, "utf-8")

    result = fix(root, unsafe=True)

    assert (root / NODES).read_text("utf-8") == nodes
    assert not any(f.fixable for f in result.report.findings if f.code == "GF219")


def test_a_name_that_questions_have_is_not_taken(tmp_path: Path) -> None:
    root = made(tmp_path, GFM)
    nodes, questions = (root / name for name in (NODES, "processed/stage1/test.json"))
    nodes.write_text(nodes.read_text("utf-8").replace("\nalba,", "\nalba ,"), "utf-8")
    (root / EDGES).write_text((root / EDGES).read_text("utf-8").replace("alba,", "alba ,"), "utf-8")
    questions.write_text(questions.read_text("utf-8").replace('"alba"', '"alba "'), "utf-8")
    before = nodes.read_text("utf-8")
    assert "alba ," in before

    result = fix(root, unsafe=True, select=["GF219"])

    assert nodes.read_text("utf-8") == before
    assert [each.code for each in result.not_fixed] == ["GF219"]


def test_names_of_triples_are_trimmed_in_all_lines(tmp_path: Path) -> None:
    root = made(tmp_path, "gfm-rag/broken/untrimmed-part")
    triples = root / "processed/stage1/kg.txt"
    triples.write_bytes(b"alba,towed,birk\n birk ,towed,corvo\ncorvo, met, birk\nodd, line\na, ,b\n")

    fix(root, unsafe=True)
    again = fix(root, unsafe=True)

    assert triples.read_bytes() == b"alba,towed,birk\n birk,towed,corvo\ncorvo,met,birk\nodd, line\na, ,b\n"
    assert not again.changed


def test_only_the_fix_that_does_harm_is_taken_back(tmp_path: Path) -> None:
    """Without its only list the file has no records; the blank line goes nevertheless."""
    queries = lines({"qid": 1, "text": "x"})
    positives = "\n" + lines({"qid": 99, "positive_doc_ids": [10, 10]})
    root = made(tmp_path, SPLADE, queries=queries, positives=positives)

    result = fix(root, unsafe=True, select=["SP112", "SP126", "SP203"])

    assert read(root, "positives") == lines({"qid": 99, "positive_doc_ids": [10]})
    reasons = {(each.code, each.reason) for each in result.not_fixed}
    assert reasons == {("SP203", "it would lead to SP105 no-records")}


def test_a_query_goes_with_what_refers_to_it(tmp_path: Path) -> None:
    root = made(tmp_path, SPLADE, queries=QUERIES, positives=lines({"qid": 1, "positive_doc_ids": [10]}))
    triplets = lines({"qid": 1, "pos_doc_id": 10, "neg_doc_id": 11}, {"qid": 2, "pos_doc_id": 10, "neg_doc_id": 11})
    (root / "train/triplets.ndjson").write_text(triplets, "utf-8")

    result = fix(root, unsafe=True, select=["SP205", "SP201"])

    assert read(root, "queries") == lines({"qid": 1, "text": "x"})
    assert (root / "train/triplets.ndjson").read_text("utf-8") == triplets.splitlines(keepends=True)[0]
    assert result.report.counts["error"] == 0


def test_all_results_of_an_unknown_query_go(tmp_path: Path) -> None:
    root = made(tmp_path, "trec/broken/unknown-query")
    run = read(root, "run")
    unknown = "".join(f"q77 Q0 d{n} {n} {50 - n} t\n" for n in range(1, ROUNDS + 10))
    (root / NAMES["run"]).write_text(f"q1 Q0 d1 1 9 t\n{unknown}q1 Q0 d2 2 8 t\n", "utf-8")

    result = fix(root, unsafe=True, select=["TR205"])

    assert run and read(root, "run") == "q1 Q0 d1 1 9 t\nq1 Q0 d2 2 8 t\n"
    assert result.number == 1 and result.removed == ROUNDS + 9


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (b"q1 0 d1 1\nq2 Q0 d3 2\n", HEADER + b"q1\td1\t1\nq2\td3\t2\n"),
        (b"q1\t0\td1\t1\nq2\tq0\td3\t-1\n", HEADER + b"q1\td1\t1\nq2\td3\t-1\n"),
        (HEADER + b"q1 d1 1\nq2\td3\t2\n", HEADER + b"q1\td1\t1\nq2\td3\t2\n"),
        (b"query-id,corpus-id,score\nq1,d1,1\nq2, d3, 2\n", b"query-id,corpus-id,score\nq1\td1\t1\nq2\td3\t2\n"),
        (HEADER + b"q1;d1;1\nq2 ; 0 ; d3 ; 2\n", HEADER + b"q1\td1\t1\nq2\td3\t2\n"),
        (HEADER + b"q,1 d,1 1\n", HEADER + b"q,1\td,1\t1\n"),
        (HEADER + b"q2,d3,2,5\n", HEADER + b"q2,d3,2,5\n"),
        (HEADER + b'"q1\td1\t1"\n"q2\td3\t2"\n', HEADER + b"q1\td1\t1\nq2\td3\t2\n"),
        (HEADER + b'"q1\td1"\n"q1\td1\tx"\n', HEADER + b'"q1\td1"\n"q1\td1\tx"\n'),
        (HEADER + b"q1 d1\t1\nq2\td3\n", HEADER + b"q1 d1\t1\nq2\td3\n"),
        (HEADER[:-1] + b"\tq1\td1\t1\nq2\td3\t2\n", HEADER + b"q1\td1\t1\nq2\td3\t2\n"),
        (BOM_UTF8 + HEADER[:-1] + b"q1 d1 1\n", BOM_UTF8 + HEADER + b"q1\td1\t1\n"),
        (BOM_UTF8 + b"q1\td1\t1\n", BOM_UTF8 + HEADER + b"q1\td1\t1\n"),
        (HEADER[:-1] + b"\tnote\nq1\td1\t1\n", HEADER[:-1] + b"\tnote\nq1\td1\t1\n"),
        (HEADER + b"q1 7 d1 1\nq2\td3\t2\tsure\n", HEADER + b"q1 7 d1 1\nq2\td3\t2\tsure\n"),
    ],
)
def test_judgements_with_other_signs_for_tabs_and_those_of_trec_get_three_columns(
    tmp_path: Path, given: bytes, written: bytes
) -> None:
    root = shutil.copytree(FIXTURES / "beir/valid/folder", tmp_path / "data")
    qrels = root / "qrels/test.tsv"
    qrels.write_bytes(given)

    fix(root, unsafe=False)

    assert qrels.read_bytes() == written
