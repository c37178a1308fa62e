"""What is called safe is safe: for each condition a counter-example, in which the fix is not made."""

from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit.fixes import json_values
from tests.command_line import run

FIXTURES = Path(__file__).parent.parent / "fixtures"
SPLADE = "light-splade/broken/id-not-integer"
BEIR = "beir/broken/id-not-string"
TREC = "trec/broken/odd-rank"
GFM = "gfm-rag/broken/mixed-question-ids"
QUERIES = "train/query_master.ndjson"
POSITIVES = "train/positive_lists.ndjson"
RUN = "run.bm25.txt"
QUESTIONS = "processed/stage1/test.json"


def made(tmp_path: Path, fixture: str, **files: str) -> Path:
    """A copy of a fixture in which these files have other contents (names with ``__`` for slashes)."""
    root = Path(shutil.copytree(FIXTURES / fixture / "data", tmp_path / "data"))
    for name, text in files.items():
        path = root / NAMES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


NAMES = {
    "queries": QUERIES,
    "positives": POSITIVES,
    "triplets": "train/triplets.ndjson",
    "corpus": "corpus.jsonl",
    "judgements": "qrels/test.tsv",
    "run": RUN,
    "qrels": "qrels.txt",
    "questions": QUESTIONS,
    "training": "processed/stage1/train.json",
    "chunks": "chunks.json",
    "notes": "chunks/notes.jsonl",
    "passages": "reefs_corpus.json",
}


def lines(*records: Any) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def read(root: Path, name: str) -> str:
    return (root / NAMES[name]).read_text(encoding="utf-8")


def fix(root: Path, unsafe: bool = False, **words: Any) -> ragdatakit.FixResult:
    return ragdatakit.fix(root, unsafe=unsafe, removed=root.parent / "removed.ndjson", max_per_rule=0, **words)


LISTS = [
    {"qid": 1, "positive_doc_ids": [10]},
    {"qid": 1, "positive_doc_ids": [11]},
    {"qid": 2, "positive_doc_ids": [11]},
]


def test_the_last_copy_counts_where_another_record_lies_between(tmp_path: Path) -> None:
    before = lines(*LISTS, LISTS[0])
    root = made(tmp_path, SPLADE, positives=before, queries=lines({"qid": 1, "text": "x"}, {"qid": 2, "text": "y"}))
    result = fix(root)

    assert read(root, "positives") == before
    assert [(each.path, each.code) for each in result.not_fixed] == [(str(root / POSITIVES), "SP303")]

    fix(root, unsafe=True)
    assert read(root, "positives") == lines(LISTS[2], {"qid": 1, "positive_doc_ids": [10, 11]})


def test_a_copy_that_nothing_contradicts_goes(tmp_path: Path) -> None:
    root = made(tmp_path, SPLADE, positives=lines(LISTS[0], LISTS[2], LISTS[0], LISTS[0]))
    fix(root)

    assert read(root, "positives") == lines(LISTS[0], LISTS[2])


def test_copies_of_what_is_counted_stay(tmp_path: Path) -> None:
    before = lines({"qid": 1, "text": "x"}, {"qid": 2, "text": "y"}, {"qid": 1, "text": "x"})
    root = made(tmp_path, SPLADE, queries=before)
    fix(root)
    assert read(root, "queries") == before

    fix(root, unsafe=True)
    assert read(root, "queries") == lines({"qid": 1, "text": "x"}, {"qid": 2, "text": "y"})


def test_a_judgement_that_another_one_replaced_comes_not_back(tmp_path: Path) -> None:
    before = "query-id\tcorpus-id\tscore\nq1\td2\t1\nq1\td2\t2\nq1\td2\t1\nq2\td3\t1\n"
    root = made(tmp_path, BEIR, judgements=before)
    fix(root)
    assert read(root, "judgements") == before

    fix(root, unsafe=True)
    assert read(root, "judgements") == "query-id\tcorpus-id\tscore\nq1\td2\t1\nq2\td3\t1\n"


@pytest.mark.parametrize("mine_first", [True, False])
def test_an_id_that_is_there_in_the_other_type_stays(tmp_path: Path, mine_first: bool) -> None:
    records = [{"qid": "1", "text": "x"}, {"qid": 1, "text": "y"}, {"qid": 2, "text": "z"}]
    queries = lines(*(records if mine_first else [records[1], records[0], records[2]]))
    lists = lines({"qid": "1", "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]})
    root = made(tmp_path, SPLADE, queries=queries, positives=lists)
    result = fix(root)

    assert (read(root, "queries"), read(root, "positives")) == (queries, lists)
    assert any("ids change everywhere or nowhere" in each.reason for each in result.not_fixed)


def test_ids_change_in_all_files_or_in_none(tmp_path: Path) -> None:
    queries = lines({"qid": "1", "text": "x"}, {"qid": 2, "text": "y"})
    root = made(tmp_path, SPLADE, queries=queries)
    elsewhere = tmp_path / "lists.ndjson"
    elsewhere.write_text(lines({"qid": "1", "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}))
    (root / POSITIVES).unlink()
    (root / POSITIVES).hardlink_to(elsewhere)
    assert fix(root).changed  # a second name is no link

    shutil.rmtree(root)
    root = made(tmp_path, SPLADE, queries=queries)
    moved = root / "train/lists.ndjson.kept"
    moved.write_text(lines({"qid": "1", "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}))
    (root / POSITIVES).unlink()
    (root / POSITIVES).symlink_to(moved)
    result = fix(root)
    assert read(root, "queries") == queries
    assert any("ids change everywhere or nowhere" in each.reason for each in result.not_fixed)


def test_of_files_that_cannot_be_written_the_first_is_named(tmp_path: Path) -> None:
    """It must not change from run to run."""
    root = made(tmp_path, SPLADE, queries=lines({"qid": "1", "text": "x"}, {"qid": 2, "text": "y"}))
    for path in {*root.rglob("*.ndjson")} - {*root.rglob("query_*")}:
        kept = path.with_name(f"{path.name}.kept")
        kept.write_text(re.sub(r"\d+", r'"\g<0>"', path.read_text(), count=1))
        path.unlink()
        path.symlink_to(kept)
    fixes = [f.fix for _ in range(9) for f in ragdatakit.validate(root).findings if "query" in f.path]

    reasons = {fix.withheld for fix in fixes if fix is not None}
    assert ["train/doc_master.ndjson cannot be written" in reason for reason in reasons] == [True]


def test_edges_are_not_removed_where_none_would_be_left(tmp_path: Path) -> None:
    """A header with two names in each other's place: every edge then leads nowhere."""
    root = made(tmp_path, "gfm-rag/broken/missing-column")
    edges = "source,target,relation,attributes\na,likes,b,{}\nb,likes,a,{}\n"
    for name, text in (
        ("nodes", "name,type,attributes\na,entity,{}\nb,entity,{}\n"),
        ("relations", "name,attributes\nlikes,{}\n"),
    ):
        (root / f"processed/stage1/{name}.csv").write_text(text)
    (root / "processed/stage1/edges.csv").write_text(edges)
    fixes = {f.code: f.fix for f in ragdatakit.validate(root).findings if f.code in ("GF301", "GF302")}

    result = fix(root, unsafe=True)

    why = "it would leave no record (GF303 no-usable-edge)"
    assert {each.withheld for each in fixes.values() if each is not None} == {why} and set(fixes) == {"GF301", "GF302"}
    assert {each.reason for each in result.not_fixed} == {why}
    assert (root / "processed/stage1/edges.csv").read_text() == edges


def test_a_high_score_is_read_and_withholds_nothing(tmp_path: Path) -> None:
    root = made(tmp_path, BEIR, judgements="query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td1\t9\n")

    assert not fix(root, unsafe=True).not_fixed
    assert read(root, "judgements") == "query-id\tcorpus-id\tscore\nq1\td1\t9\n"


@pytest.mark.parametrize("mine_first", [True, False])
def test_a_quoted_id_that_exists_stays_a_number(tmp_path: Path, mine_first: bool) -> None:
    pair = [{"_id": 1, "title": "", "text": "a"}, {"_id": "1", "title": "", "text": "b"}]
    rest = [{"_id": name, "title": "", "text": name} for name in ("d1", "d2", "d3")]
    corpus = lines(*rest, *(pair if mine_first else reversed(pair)))
    root = made(tmp_path, BEIR, corpus=corpus)
    fix(root)

    assert read(root, "corpus") == corpus


def test_a_quoted_id_is_what_judgements_say(tmp_path: Path) -> None:
    corpus = lines(*({"_id": name, "title": "", "text": f"t{name}"} for name in ("d1", "d2", "d3", 7, 7.0)))
    root = made(tmp_path, BEIR, corpus=corpus, judgements="query-id\tcorpus-id\tscore\nq1\t7\t1\nq2\td3\t1\n")
    result = fix(root)

    ids = [json.loads(line)["_id"] for line in read(root, "corpus").splitlines()]
    assert ids == ["d1", "d2", "d3", "7", 7.0]  # of a decimal nobody knows how judgements write it
    assert "BE203" not in {finding.code for finding in result.report.findings}


def questions(*ids: Any) -> str:
    kept = json.loads((FIXTURES / GFM / "data" / QUESTIONS).read_text())
    return json.dumps([question | {"id": name} for question, name in zip(kept, ids, strict=False)], indent=1)


@pytest.mark.parametrize(
    ("training", "test", "after"),
    [
        ([], ["a", 2], ["a", "2"]),
        ([], [1.5, 2], [1.5, 2]),
        (["a", "b"], [1, 2], [1, 2]),
        ([1, 2], [1.5, 3], [1.5, 3]),
        (["a"], ["1", 1], ["1", 1]),
        (["a"], [True, 7], [True, 7]),
    ],
)
def test_ids_of_questions_are_of_one_type(
    tmp_path: Path, training: list[Any], test: list[Any], after: list[Any]
) -> None:
    files = {"questions": questions(*test)} | ({"training": questions(*training)} if training else {})
    root = made(tmp_path, GFM, **files)
    fix(root)

    assert [each["id"] for each in json.loads(read(root, "questions"))] == after
    if training:
        assert [each["id"] for each in json.loads(read(root, "training"))] == training


def test_ids_of_training_and_test_change_together(tmp_path: Path) -> None:
    root = made(tmp_path, GFM, questions=questions("a", 2), training=questions(1))
    fix(root)

    found = {name: [each["id"] for each in json.loads(read(root, name))] for name in ("questions", "training")}
    assert found == {"questions": ["a", "2"], "training": ["1"]}


@pytest.mark.parametrize(
    ("settings", "fixed"),
    [
        ('unfixable = ["SP121"]', {"SP112"}),
        ('fixable = ["SP121"]', {"SP121"}),
        ('fixable = ["SP1"]\nunfixable = ["id-not-integer"]', {"SP112"}),
        ("fixable = []", set()),
        ('[[dataset]]\npath = "data"\nunfixable = ["SP1"]', set()),
        ('[[dataset]]\npath = "other"\nunfixable = ["SP1"]', {"SP112", "SP121"}),
    ],
)
def test_the_configuration_says_what_is_fixed(tmp_path: Path, settings: str, fixed: set[str]) -> None:
    queries = lines({"qid": "1", "text": "x"}) + "\n" + lines({"qid": 2, "text": "y"})
    root = made(tmp_path, SPLADE, queries=queries)
    (tmp_path / "ragdata.toml").write_text(settings, encoding="utf-8")

    marked = {finding.code for finding in ragdatakit.validate(root, config=True).findings if finding.fixable}
    assert (marked, {code for codes in fix(root, config=True).fixed.values() for code in codes}) == (fixed, fixed)


def test_older_keys_of_sage_are_renamed(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    path = tmp_path / "data" / "records.jsonl"
    path.write_text('{"query": "q", "golds": "Paris", "pred":"Paris", "retrieved_docs": ["a"]}\n', encoding="utf-8")
    before = path.read_text()
    fix(tmp_path / "data", format="sage")
    assert path.read_text() == before

    fix(tmp_path / "data", unsafe=True, format="sage")
    after = '{"query": "q", "references": ["Paris"], "generated":"Paris", "retrieval_docs": ["a"]}\n'
    assert path.read_text() == after


def removed(root: Path) -> list[str]:
    return [json.loads(line)["removed"] for line in (root.parent / "removed.ndjson").read_text().splitlines()]


def test_what_was_around_a_list_is_kept(tmp_path: Path) -> None:
    root = made(tmp_path, GFM, questions='{"data": ' + questions("a", "b") + "}\n")
    result = fix(root, unsafe=True)

    assert [each["id"] for each in json.loads(read(root, "questions"))] == ["a", "b"]
    assert removed(root)[:2] == ['{"data":', "}"]
    assert result.removed == 2


@pytest.mark.parametrize("ids", [[99, 10], [10, 99], [10, 99, 11]])
def test_a_removed_item_is_kept_without_its_comma(tmp_path: Path, ids: list[int]) -> None:
    lists = lines({"qid": 1, "positive_doc_ids": ids}, {"qid": 2, "positive_doc_ids": [11]})
    root = made(tmp_path, SPLADE, positives=lists, queries=lines({"qid": 1, "text": "x"}, {"qid": 2, "text": "y"}))
    fix(root, unsafe=True)

    assert removed(root) == ["99"]
    assert json.loads(read(root, "positives").splitlines()[0])["positive_doc_ids"] == [i for i in ids if i != 99]


def test_an_empty_object_is_no_line_of_an_array(tmp_path: Path) -> None:
    root = made(tmp_path, "hipporag/broken/repeated-passage", passages="{}")
    fix(root)

    assert read(root, "passages") == "{}"


def test_minus_zero_is_the_id_zero(tmp_path: Path) -> None:
    root = made(tmp_path, BEIR)
    (root / "queries.jsonl").write_text('{"_id": -0, "text": "x"}\n{"_id": "q1", "text": "y"}\n', "utf-8")
    fix(root)

    assert json.loads((root / "queries.jsonl").read_text("utf-8").splitlines()[0])["_id"] == "0"


def test_a_chunk_id_that_is_there_as_text_stays(tmp_path: Path) -> None:
    chunks = json.dumps([{"id": "0", "text": "The lamp was lit."}, {"id": 0, "text": "It burned oil."}])
    root = made(tmp_path, "arag/broken/chunk-id-not-string", chunks=chunks)
    fix(root)

    assert read(root, "chunks") == chunks


def test_a_source_that_makes_a_second_chunk_of_one_id_stays(tmp_path: Path) -> None:
    notes = lines({"text": "a", "source": "12"}, {"text": "a", "source": 12})
    root = made(tmp_path, "datamind/broken/source-not-string", notes=notes)
    fix(root, profile="v2")

    assert read(root, "notes") == notes


@pytest.mark.parametrize(
    ("ranks", "safe"),
    [
        ([0, 1, 2], True),
        ([0, 1, 3], True),
        ([1, 5, 3], False),
        ([5, 2, 3], False),
        ([0, 3, 2], False),
        ([3, 2, 1], False),
    ],
)
def test_ranks_keep_their_order(tmp_path: Path, ranks: list[int], safe: bool) -> None:
    rows = [f"q1 Q0 d{n} {rank} 1 t\n" for n, rank in enumerate(ranks, 1)]
    root = made(tmp_path, TREC, run="".join(rows))
    fix(root, unsafe=False)

    counted = "".join(f"q1 Q0 d{n} {n} 1 t\n" for n in range(1, 4))
    assert read(root, "run") == (counted if safe else "".join(rows))
    fix(root, unsafe=True)
    assert read(root, "run") == counted


@pytest.mark.parametrize(("names", "after"), [([12], ["12"]), ([12, "12"], [12, "12"]), ([12, "dora"], ["12", "dora"])])
def test_a_name_that_is_in_the_list_as_text_stays(tmp_path: Path, names: list[Any], after: list[Any]) -> None:
    kept = json.loads((FIXTURES / GFM / "data" / QUESTIONS).read_text())[:1]
    kept[0] |= {"id": "a", "start_nodes": {"entity": names}}
    root = made(tmp_path, GFM, questions=json.dumps(kept))
    fix(root)

    assert json.loads(read(root, "questions"))[0]["start_nodes"]["entity"] == after


def test_sources_of_chunks_and_triples_change_together(tmp_path: Path) -> None:
    notes = lines({"text": "a", "source": 12}, {"text": "b", "source": "n"})
    triples = lines({"subject": "A", "relation": "r", "object": "B", "source": 12})
    root = made(tmp_path, "datamind/broken/source-not-string", notes=notes)
    (root / "triplets").mkdir()
    (root / "triplets/all.jsonl").write_text(triples, "utf-8")
    (tmp_path / "ragdata.toml").write_text('[per-path-ignores]\n"**/triplets/*" = ["DM319"]\n', "utf-8")
    fix(root, config=True)
    assert (read(root, "notes"), (root / "triplets/all.jsonl").read_text()) == (notes, triples)

    fix(root)
    found = [
        json.loads(line)["source"]
        for line in (read(root, "notes") + (root / "triplets/all.jsonl").read_text()).splitlines()
    ]
    assert found == ["12", "n", "12"]


@pytest.mark.parametrize(("profile", "safe"), [(["v2"], True), (["v1", "v2"], False), ([], False)])
def test_a_copy_is_a_chunk_of_its_own_for_one_loader(tmp_path: Path, profile: list[str], safe: bool) -> None:
    notes = lines({"id": 1, "text": "a"}, {"id": 2, "text": "b"}, {"text": "a", "id": 1})
    root = made(tmp_path, "datamind/broken/source-not-string", notes=notes)

    fix(root, profile=profile)

    assert (read(root, "notes") != notes) == safe


@pytest.mark.parametrize("separator", [";", "\t"])
def test_commas_come_in_the_place_of_other_separators(tmp_path: Path, separator: str) -> None:
    rows = [["source", "relation", "target", "attributes"], ["alba", "towed", "dora", '"{""a"": ""x, y""}"']]
    text = "\r\n".join(separator.join(row) for row in rows) + "\r\n"
    root = made(tmp_path, "gfm-rag/broken/missing-column")
    edges = next(root.rglob("edges.csv"))
    edges.write_bytes(b"\xef\xbb\xbf" + text.encode())
    fix(root)
    assert edges.read_bytes() == b"\xef\xbb\xbf" + text.encode()

    fix(root, unsafe=True, select=["GF105"])
    expected = "source,relation,target,attributes\r\nalba,towed,dora," + rows[1][3] + "\r\n"
    assert edges.read_bytes() == b"\xef\xbb\xbf" + expected.encode()


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_cells_with_line_breaks_stay_in_quotes_between_commas(tmp_path: Path, end: str) -> None:
    first, *names = "port\rhale", "north\nreef", "west\r\nquay", "osprey"
    rows = [["name", "type", "attributes"], *([f'"{name}"', "entity", "{}"] for name in (*names, first))]
    root = made(tmp_path, "gfm-rag/broken/shifted-columns")
    nodes = next(root.rglob("nodes.csv"))
    for last in (first, "north\nreef"):
        rows[-1][0] = f'"{last}"'
        nodes.write_bytes((end or "\n").join(";".join(row) for row in rows).encode() + end.encode())
        fix(root, unsafe=True, select=["GF105"])

        written = list(csv.reader(io.StringIO(nodes.read_bytes().decode(), newline=""), strict=True))
        assert written == [[cell.strip('"') for cell in row] for row in rows]
        assert nodes.read_bytes().endswith(f'"{last}",entity,{{}}{end}'.encode())


@pytest.mark.parametrize(("separator", "other"), ["\t;", ";\t"])
def test_a_header_with_more_of_another_sign_in_a_cell(tmp_path: Path, separator: str, other: str) -> None:
    last = f"a{other}b{other}c{other}d{other}e"
    rows = [["name", "type", "attributes", f'"{last}"'], ["alba", "entity", "{}", "1,5"]]
    root = made(tmp_path, "gfm-rag/broken/shifted-columns")
    nodes = next(root.rglob("nodes.csv"))
    nodes.write_text("".join(separator.join(row) + "\n" for row in rows), "utf-8")
    fix(root, unsafe=True, select=["GF105"])

    assert nodes.read_text("utf-8") == f'name,type,attributes,{last}\nalba,entity,{{}},"1,5"\n'


@pytest.mark.parametrize("above", ["", "\n", "\r\n\n"])
def test_the_mark_of_a_table_without_last_commas_stays_one(tmp_path: Path, above: str) -> None:
    root = made(tmp_path, "gfm-rag/broken/shifted-columns")
    nodes = next(root.rglob("nodes.csv"))
    header, rows = "name,type,attributes\n", ["alba,entity,{}", "dora,entity,{}"]
    nodes.write_bytes(f"\ufeff{above}{header}{''.join(f'{row},' + chr(10) for row in rows)}".encode())
    fix(root, select=["GF110"])

    assert nodes.read_bytes() == f"\ufeff{above}{header}{''.join(row + chr(10) for row in rows)}".encode()


@pytest.mark.parametrize("odd", ["a,b,c,{},x\n", "a,b,{}\n", 'a,b,"c,\n'])
def test_a_comma_at_the_end_stays_where_one_row_is_otherwise(tmp_path: Path, odd: str) -> None:
    root = made(tmp_path, "gfm-rag/broken/shifted-columns")
    nodes = next(root.rglob("nodes.csv"))
    nodes.write_text(nodes.read_text() + odd, "utf-8")
    before = nodes.read_bytes()

    fix(root, unsafe=True)

    assert nodes.read_bytes() == before


@pytest.mark.parametrize("spread", ["[\n 1,\n 2\n]\n", '[\n ["a", [\n  "x",\n  "y"\n ]]\n]\n'])
def test_lines_of_an_array_keep_their_commas(tmp_path: Path, spread: str) -> None:
    """Where each line should be a record."""
    root = made(tmp_path, SPLADE, positives=spread)
    fix(root)

    assert read(root, "positives") == spread


@pytest.mark.parametrize(
    ("ends", "after"), [("\r\r\n", "\r\n"), ("\r\n\r\n", "\r\n"), ("\r\r", "\r"), ("\n\r\n", "\n")]
)
def test_no_lone_carriage_return_is_left_between_records(tmp_path: Path, ends: str, after: str) -> None:
    root = made(tmp_path, SPLADE)
    records = [{"qid": 1, "positive_doc_ids": [10]}, {"qid": 2, "positive_doc_ids": [11]}]
    first, second = map(json.dumps, records)
    (root / POSITIVES).write_bytes(f"{first}{ends}{second}\n".encode())
    fix(root, select=["SP112"])

    assert (root / POSITIVES).read_bytes() == f"{first}{after}{second}\n".encode()


def test_line_ends_stay_beside_a_lone_carriage_return(tmp_path: Path) -> None:
    root = made(tmp_path, SPLADE)
    text = "".join(json.dumps(record) + end for record, end in zip(LISTS[1:], ("\r\r\n", "\n"), strict=True)).encode()
    (root / POSITIVES).write_bytes(text)
    fix(root, select=["RD109"])

    assert (root / POSITIVES).read_bytes() == text


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("i\rme\n\n", "i\rme\n"),
        ("a,b\r1,2\n\n3,4\n", "a,b\r1,2\n3,4\n"),
        ("a,b\r1,2\r\r3,4\r", "a,b\r1,2\r3,4\r"),
        ("a,b\n1\r,2\n\n3,4\n", "a,b\n1\r,2\n3,4\n"),
        ("a,b\r\n1,2\r\n\r\n3,4\r\n", "a,b\r\n1,2\r\n3,4\r\n"),
    ],
)
def test_lines_of_a_whole_file_end_as_in_text_mode(written: str, fixed: str, tmp_path: Path) -> None:
    """The blank line was looked for by line feeds alone, so that the wrong bytes went, or none."""
    place = tmp_path / "data/uploads/boats.csv"
    place.parent.mkdir(parents=True)
    place.write_bytes(written.encode())
    (tmp_path / "data/chunks").mkdir()
    (tmp_path / "data/chunks/notes.jsonl").write_text('{"text": "Tides.", "metadata": {}}\n')

    first = ragdatakit.fix(tmp_path / "data", select="DM654")
    again = ragdatakit.fix(tmp_path / "data", select="DM654")

    assert place.read_bytes() == fixed.encode()
    assert first.number == 1 and not again.changed


@pytest.mark.parametrize(
    "text", ['{"a":1,"b":2,"c":{"d":3}}', '{ "a" : 1 , "b" : "x\\"y" }', '[1,2, "c",[]]', '{"a,\\"b\\"":1,"b":2}', "{}"]
)
def test_members_and_items_are_cut_where_they_begin_and_end(text: str) -> None:
    whole, parts = json.loads(text), list(json_values._parts(text, 0))

    assert len(parts) == len(whole)
    for name, begin, end in parts:
        part = text[begin:end]
        if isinstance(whole, list):
            assert json.loads(part) == whole[int(name)]
        else:
            assert json.loads(f"{{{part}}}") == {name: whole[name]}


@pytest.mark.parametrize(
    ("line", "after"),
    [
        (
            "{'_id': 'd1', 'title': '', 'text': 'a', 'metadata': None}",
            '{"_id": "d1", "title": "", "text": "a", "metadata": null}',
        ),
        ('{"_id": "d1", "title": "a" "b", "text": "c"}', None),
        ("{'_id': 'd1', 'title': '', 'text': 'a'}  # not sure", None),
    ],
)
def test_what_python_does_not_print_is_not_made_json(tmp_path: Path, line: str, after: str | None) -> None:
    """Of two texts with no comma between them Python would make one."""
    good = '{"_id": "d0", "title": "", "text": "z"}'
    (tmp_path / "corpus.jsonl").write_text(f"{good}\n{line}\n")

    ragdatakit.fix(tmp_path, unsafe=True, removed=tmp_path / "removed.ndjson")

    assert (tmp_path / "corpus.jsonl").read_text() == f"{good}\n{after or line}\n"


def test_nothing_is_added_to_records_of_another_file(tmp_path: Path) -> None:
    given = {
        "corpus.jsonl": '\ufeff{"_id": "q1", "text": "who"}\n',
        "queries.jsonl": '{"_id": "d1", "title": "T", "text": "Pears."}\n',
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    }
    (tmp_path / "qrels").mkdir()
    for name, text in given.items():
        (tmp_path / name).write_text(text)
    reason = "its records seem to be those of another file (BE209 swapped-files)"

    found = {f["code"]: f for f in json.loads(run("validate", tmp_path, "--output-format", "json").out)["findings"]}
    done = run("validate", tmp_path, "--fix", "--unsafe-fixes")

    assert found["BE118"]["fix"]["withheld"] == found["BE202"]["fix"]["withheld"] == reason
    assert reason in done.err
    assert {name: (tmp_path / name).read_text() for name in given} == {
        **given,
        "corpus.jsonl": given["corpus.jsonl"].removeprefix("\ufeff"),  # a fault of bytes
    }


def test_results_are_not_numbered_beside_one_that_cannot_be_read(tmp_path: Path) -> None:
    text = "q1 Q0 d1 1 9.5\nq1 Q0 d2 2 8.5 bm25\nq1 Q0 d3 3 7.5 bm25\n"
    root = made(tmp_path, TREC, run=text)

    fix(root, unsafe=True, select=["TR122"])

    assert (root / RUN).read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["titel", "Title", "headline"])
def test_what_seems_to_be_the_title_is_called_so_and_no_empty_one_put_beside_it(tmp_path: Path, name: str) -> None:
    root = made(tmp_path, BEIR, corpus=lines({"_id": "d1", name: "Pears", "text": "x"}, {"_id": "d2", "text": "y"}))
    records = [{"_id": "d1", name: "Pears", "text": "x"}, {"_id": "d2", "text": "y", "title": ""}]

    fix(root, select=["BE118"])
    assert [json.loads(line) for line in read(root, "corpus").splitlines()] == records

    fix(root, unsafe=True, select=["BE118"])
    records[0] = {"_id": "d1", "title": "Pears", "text": "x"}
    assert [json.loads(line) for line in read(root, "corpus").splitlines()] == records


@pytest.mark.parametrize(
    "others", [{"name": "a", "headline": "b"}, {"headline": ["b"]}, {"headline": "b", "title": None}]
)
def test_what_may_be_no_title_keeps_its_name(tmp_path: Path, others: dict[str, Any]) -> None:
    root = made(tmp_path, BEIR, corpus=(text := lines({"_id": "d1", **others, "text": "x"})))
    fix(root, unsafe=True, select=["BE118"])
    assert read(root, "corpus") == text


def test_fields_of_beir_that_are_called_otherwise_get_their_names(tmp_path: Path) -> None:
    root = made(
        tmp_path, BEIR, corpus=lines({"id": "d1", "title": "", "txt": "x"}, {"ID": 2, "title": "", "Text": "y"})
    )
    fix(root, unsafe=True, select=["BE114", "BE115", "BE116"])
    assert read(root, "corpus") == lines(
        {"_id": "d1", "title": "", "text": "x"}, {"_id": "2", "title": "", "text": "y"}
    )


def test_references_become_lists_in_both_places(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    pairs = [("Paris", "Paris"), (["Ann"], "Ann"), ("Ann", ["Anna"]), (["Ann"], "Anna")]
    path.write_text(lines(*({"query": "q", "references": a, "question": {"references": b}} for a, b in pairs)))

    fix(path, select=["SG201", "SG209"], format="sage")

    records = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert [(record["references"], record["question"]["references"]) for record in records] == [
        (["Paris"], ["Paris"]),
        (["Ann"], ["Ann"]),
        (["Ann"], ["Anna"]),
        (["Ann"], "Anna"),
    ]


@pytest.mark.parametrize(
    ("written", "after"),
    [
        ('["a", "b"]', ["a", "b"]),
        (' [\n"a"]', ["a"]),
        ("[]", []),
        ("[1, 2]", "[1, 2]"),
        ("['a', 'b']", "['a', 'b']"),
        ("a [sic]", ["a [sic]"]),
        ("a; b", "a; b"),
        ("a|b", "a|b"),
        ("a, b", ["a, b"]),
    ],
)
def test_a_list_that_is_written_as_text_is_not_put_into_a_list(tmp_path: Path, written: str, after: Any) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(lines({"query": "q", "references": written}), encoding="utf-8")

    fix(path, select=["SG201"], format="sage")

    assert json.loads(path.read_text(encoding="utf-8"))["references"] == after


@pytest.mark.parametrize("names", [("Doc-1", "q1"), ("doc-1", "q1 "), ("doc1", "q1"), ("doc_01", "q1")])
def test_a_judgement_stays_where_it_is_known_what_it_means(tmp_path: Path, names: tuple[str, str]) -> None:
    header, mistyped = "query-id\tcorpus-id\tscore\n", f"{names[1]}\t{names[0]}\t1\nq1\tdoc-1\t1\n"
    judgements = f"{header}q1\tgone\t1\ngone\tdoc-1\t1\n{mistyped}"
    root = made(tmp_path, BEIR, corpus=lines({"_id": "doc-1", "title": "", "text": "x"}), judgements=judgements)
    (root / "queries.jsonl").write_text(lines({"_id": "q1", "text": "y"}), encoding="utf-8")

    run("validate", root, "--fix", "--unsafe-fixes", "--select", "BE202,BE203", "--max-per-rule", "1")

    assert read(root, "judgements") == header + mistyped  # though the message of none of them is shown


@pytest.mark.parametrize(
    "older", [["retrieved_docs"], ["retrieved_documents"], ["retrieved_docs", "retrieved_documents"]]
)
def test_texts_under_an_older_key_get_their_name_beside_results(tmp_path: Path, older: list[str]) -> None:
    path = tmp_path / "records.jsonl"
    results = [{"text": "a", "score": 0.9}]
    record = {"query": "q", "retrieval_results": results, **{key: ["a"] for key in older}}
    path.write_text(lines(record), encoding="utf-8")

    fix(path, unsafe=True, format="sage")

    after = {"query": "q", "retrieval_results": results, "retrieval_docs": ["a"]}
    assert path.read_text(encoding="utf-8") == lines(after)


def test_scores_of_older_results_stay_where_nothing_else_has_them(tmp_path: Path) -> None:
    path = tmp_path / "records.jsonl"
    text = lines({"query": "q", "retrieval_docs": ["a"], "results": [{"text": "a", "score": 0.9}]})
    path.write_text(text, encoding="utf-8")

    result = fix(path, unsafe=True, format="sage")

    assert path.read_text(encoding="utf-8") == text
    assert "SG601" in {finding.code for finding in result.report.findings}


def test_chunks_that_are_lines_of_texts_become_an_array(tmp_path: Path) -> None:
    path = tmp_path / "chunks.json"
    for text, after in (('"0:a"\n"1:b"\n', '[\n"0:a",\n"1:b"\n]\n'), ("0:a\n1:b\n", "0:a\n1:b\n")):
        path.write_text(text, encoding="utf-8")
        fix(path, format="arag")
        assert path.read_text(encoding="utf-8") == after
