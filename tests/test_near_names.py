"""Fields and columns that are missing, where the record has one whose name is spelt much like theirs."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from ragdatakit import validate
from ragdatakit.files.texts.near_names import nearest
from ragdatakit.validators import dataset_run
from tests.command_line import FIXTURES, run

ALMOST = {
    "text": ["txt", "Text", "textt", "etxt", " text"],
    "neg_doc_id": ["negative_doc_id", "neg_document_id", "negDocId", "neg-doc-id"],
    "content": ["contents"],
    "_id": ["id"],
    "children": ["childs", "child"],
    "query": ["queries"],
}


@pytest.mark.parametrize(("name", "other"), [(name, other) for name, others in ALMOST.items() for other in others])
def test_a_name_is_near_in_another_case_a_letter_apart_or_cut_short(name: str, other: str) -> None:
    assert nearest(name, ["title", other]) == other


@pytest.mark.parametrize(("name", "other"), [("neg_doc_id", "pos_doc_id"), ("question", "query"), ("text", "title")])
def test_other_names_are_not_near(name: str, other: str) -> None:
    assert nearest(name, [other, name]) == ""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def corpus(folder: Path, *records: object) -> Path:
    write(folder / "corpus.jsonl", "".join(f"{json.dumps(record)}\n" for record in records))
    write(folder / "queries.jsonl", '{"_id": "q1", "text": "Which?"}\n')
    write(folder / "qrels" / "test.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    return folder


@pytest.mark.parametrize(
    ("text", "fault", "hint"),
    [
        ({"txt": "A pear."}, "the text is missing (there is txt)", "rename txt to text"),
        ({"Text": "A pear."}, "the text is missing (there is Text)", "rename Text to text"),
        ({}, "the text is missing", "write the text as a JSON string"),
        ({"text": None}, "the text is null", "write the text as a JSON string"),
        ({"text": 4}, "the text is 4", "write the text as a JSON string"),
        ({"text": ["A pear."]}, "the text is an array", "write the text as a JSON string"),
    ],
)
def test_what_a_text_is_and_what_may_be_meant_for_it(
    text: dict[str, object], fault: str, hint: str, tmp_path: Path
) -> None:
    (finding,) = validate(corpus(tmp_path, {"_id": "d1", "title": "", **text})).findings

    assert (finding.fault, finding.hint) == (fault, hint)


def test_a_column_is_named_that_may_be_meant(tmp_path: Path) -> None:
    assert run("init", "gfm-rag", str(tmp_path / "set")).code == 0
    nodes = next((tmp_path / "set").rglob("nodes.csv"))
    write(nodes, nodes.read_text().replace("name,", "nmae,", 1))

    screen = run("validate", str(tmp_path / "set")).out

    assert "→ rename nmae to name" in screen


def test_a_field_that_is_meant_for_a_missing_one_is_renamed_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where what is removed is kept
    assert run("init", "light-splade", str(tmp_path / "set")).code == 0
    file = next((tmp_path / "set").rglob("triplets.ndjson"))
    before = file.read_text()
    write(file, before.replace('"neg_doc_id"', '"negative_doc_id"', 1))

    assert "rename it to neg_doc_id" in run("validate", str(tmp_path / "set")).out
    run("validate", str(tmp_path / "set"), "--fix", "--unsafe-fixes")

    assert json.loads(file.read_text().splitlines()[0]) == json.loads(before.splitlines()[0])


@pytest.mark.parametrize(
    "names", [("Text", "txt"), ("contents", "body"), ("Text", "contents"), ("body", "Text"), ("body", "contents")]
)
def test_of_two_fields_that_may_be_meant_for_a_missing_one_the_likelier_is_renamed(
    names: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where what is removed is kept
    assert run("init", "light-splade", str(tmp_path / "set")).code == 0
    file = next((tmp_path / "set").rglob("doc_master.ndjson"))
    first, *others = file.read_text().splitlines()
    doc_id, text = json.loads(first).values()
    meant = min(names, key=("Text", "txt", "contents", "body").index)
    given = {name: text if name == meant else "x" for name in names}
    write(file, "\n".join([json.dumps({"doc_id": doc_id, **given}), *others, ""]))

    found = run("validate", str(tmp_path / "set")).out
    run("validate", str(tmp_path / "set"), "--fix", "--unsafe-fixes")

    assert (f"(there is {meant})" in found, found.count("rename it to text")) == (True, 1)

    assert file.read_text().splitlines()[0] == json.dumps({"doc_id": doc_id, "text": text})


BESIDE = {
    "arag": ("chunks.json", "chunks.json.gz", "unpack chunks.json.gz"),
    "beir": ("corpus.jsonl", "corpus.json", "rename corpus.json to corpus.jsonl, if that is what it is"),
    "beir in an archive": ("corpus.jsonl", "corpus.zip", "unpack corpus.zip"),
    "beir judgements": ("qrels", "qrel", "rename qrel/ to qrels/, if that is what it is"),
    "gfm-rag": ("nodes.csv", "nodes.csv.gz", "unpack nodes.csv.gz"),
    "graphrag": ("entities.csv", "entities.csv.bz2", "unpack entities.csv.bz2"),
    "hipporag": ("_corpus.json", "_corpus.json.zip", "unpack "),
    "light-splade": ("doc_master.ndjson", "doc_master.ndjson.zst", "unpack doc_master.ndjson.zst"),
    "lightrag": ("kv_store_text_chunks.json", "kv_store_text_chunk.json", "rename kv_store_text_chunk.json to "),
}


@pytest.mark.parametrize("case", BESIDE)
def test_a_missing_file_names_the_one_that_lies_beside(case: str, tmp_path: Path) -> None:
    wanted, other, hint = BESIDE[case]
    assert run("init", case.split(maxsplit=1)[0], str(tmp_path / "set")).code == 0
    there = next(path for path in sorted((tmp_path / "set").rglob("*")) if path.name.endswith(wanted))
    there.rename(there.with_name(there.name.removesuffix(wanted) + other))

    found = [
        f
        for f in validate(tmp_path / "set").findings
        if f"(there is {there.name.removesuffix(wanted)}{other}" in f.message
    ]

    assert found and all(finding.hint.startswith(hint) for finding in found)


def test_packed_data_is_to_be_unpacked_not_renamed(tmp_path: Path) -> None:
    assert run("init", "datamind", str(tmp_path)).code == 0
    chunks = tmp_path / "chunks" / "notes.jsonl"
    chunks.write_bytes(gzip.compress(chunks.read_bytes()))
    (under_plain_name,) = validate(tmp_path, severity="error").findings
    chunks.rename(chunks.with_name("notes.jsonl.gz"))
    (under_its_own,) = validate(tmp_path, severity="error").findings

    assert under_plain_name.code == "RD104" and under_plain_name.hint.startswith("unpack ")
    assert (under_its_own.code, under_its_own.hint) == ("DM101", "unpack notes.jsonl.gz")


@pytest.mark.parametrize("other", ["qrels/test.csv", "qrels/test.txt", "qrels.tsv"])
def test_judgements_under_another_name_are_named(other: str, tmp_path: Path) -> None:
    file = corpus(tmp_path, {"_id": "d1", "title": "A", "text": "A pear."}) / "qrels" / "test.tsv"
    there = file.read_text()
    file.unlink()
    write(tmp_path / other, there)

    (found,) = validate(tmp_path).findings

    assert found.fault == f"the dataset has no qrels/<split>.tsv (there is {other})"
    assert found.hint == f"write {other} as qrels/<split>.tsv, if that is what it is"


@pytest.mark.parametrize(("name", "field"), [("ragchecker", "retrieved_context"), ("hipporag", "answer")])
def test_a_field_with_one_letter_more_is_named(name: str, field: str, tmp_path: Path) -> None:
    assert run("init", name, str(tmp_path)).code == 0
    for file in tmp_path.rglob("*.json"):
        write(file, file.read_text().replace(f'"{field}"', f'"{field}s"'))

    hints = {finding.hint for finding in validate(tmp_path, severity="error").findings}

    assert hints == {f"rename {field}s to {field}"}


@pytest.mark.parametrize(("name", "wanted"), [("topics.txt", "topics.tsv"), ("topics.txt.gz", "topics.tsv.gz")])
def test_topics_that_are_lines_of_cells_are_to_be_called_so(name: str, wanted: str, tmp_path: Path) -> None:
    assert run("init", "trec", str(tmp_path)).code == 0
    (tmp_path / "topics.txt").unlink()
    lines = b"301\tWho mapped it?\n302\tWho built it?\n"
    (tmp_path / name).write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines)

    hints = {finding.hint for finding in validate(tmp_path).findings if finding.code == "TR105"}

    assert hints == {f"call it {wanted}: its lines are a number, a tab and a text"}


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"query_id": "q", "question": "?", "ground_truth": "a", "answer": "b", "contexts": []},
         {"query": "question", "gt_answer": "ground_truth", "response": "answer", "retrieved_context": "contexts"}),
        ({"query_id": "q", "query": "?", "Answer": "a", "response": "b", "retrieved_context": []},
         {"gt_answer": "Answer"}),
        ({"id": "q", "query": "?", "gt_answer": "a", "respnse": "b", "answer": "c", "retrieved_context": []},
         {"query_id": "id", "response": "respnse"}),
        ({"query_id": "q", "query": "?", "gt_answer": "a", "response": "b", "context": None, "note": 1},
         {"retrieved_context": "context"}),
        ({"query_id": "q", "query": "?", "gt_answer": "a", "hits": 3, "retrieved_context": []}, {"response": None}),
    ],
)  # fmt: skip
def test_a_field_that_is_called_as_elsewhere_is_named(
    row: dict[str, object], expected: dict[str, str | None], tmp_path: Path
) -> None:
    write(tmp_path / "checking_inputs.json", json.dumps({"results": [row]}))

    found = validate(tmp_path, format="ragchecker").findings
    said = {f.fault.partition(" ")[0]: f for f in found if f.rule in ("missing-field", "passages-not-given")}

    assert {name: f.fault for name, f in said.items()} == {
        name: f"{name} is missing (there is {other})" if other else f"{name} is missing"
        for name, other in expected.items()
    }
    assert all(f"rename {other} to {name}" in said[name].hint for name, other in expected.items() if other)


@pytest.mark.parametrize("big", [False, True], ids=["plain", "columns"])
def test_a_node_that_an_edge_seems_to_mean_is_named(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_run, "SMALL_DATASET", -1 if big else 1 << 40)
    data = shutil.copytree(FIXTURES / "gfm-rag/valid/minimal", tmp_path / "data")
    edges = data / "processed/stage1/edges.csv"
    lines = edges.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[3:5] = ["Heron,was_followed_by,plover,{}\n", "plover,was_followed_by,nobody,{}\n"]
    write(edges, "".join(lines))

    near, other = (f for f in validate(data).findings if f.code == "GF301" and f.line in (4, 5))

    assert near.fault == 'there is no node "Heron" (did you mean "heron"?)'
    assert near.hint.startswith('write "heron", or add the node')
    assert other.fault == 'there is no node "nobody"'


@pytest.mark.parametrize(
    ("example", "file", "change", "message"),
    [
        ("hipporag", "*_corpus.json", ('"title"', '"name"'), "title is missing (there is name)"),
        ("beir", "corpus.jsonl", ('"text"', '"contents"'), "the text is missing (there is contents)"),
        ("beir", "queries.jsonl", ('"_id"', '"question_id"'), "the _id is missing (there is question_id)"),
        (
            "light-splade",
            "query_master.ndjson",
            ('"qid"', '"query_id"'),
            "the field qid is missing (there is query_id)",
        ),
        ("arag", "chunks.json", ('"text"', '"content"'), "text is missing (there is content)"),
        ("datamind", "chunks/*.jsonl", ('"text"', '"content"'), "text is missing (there is content)"),
        ("datamind", "triplets/*.jsonl", ('"subject"', '"head"'), "subject is missing (there is head)"),
        ("gfm-rag", "test.json", ('"question"', '"query"'), "the field question is missing (there is query)"),
        ("raptor", "tree.json", ('"text"', '"content"'), "text is missing (there is content)"),
        ("contextual-retrieval", "codebase_chunks.json", ('"content"', '"text"'), "content is missing (there is text)"),
        (
            "contextual-retrieval",
            "codebase_chunks.json",
            ('"content"', '"text"'),
            "chunks[0].content is missing (there",
        ),
        ("contextual-retrieval", "evaluation_set.jsonl", ('"query"', '"question"'), "query is missing (there is ques"),
        ("sage", "*.jsonl", ('"query"', '"user_input"'), "there is no query (there is user_input); a question"),
    ],
)
def test_a_field_that_has_the_name_of_another_tool_is_named(
    tmp_path: Path, example: str, file: str, change: tuple[str, str], message: str
) -> None:
    for case in sorted((FIXTURES / example / "valid").iterdir()):
        if any(change[0] in path.read_text() for path in case.rglob(file)):
            break
    folder = shutil.copytree(case, tmp_path / "data")
    for path in folder.rglob(file):
        path.write_text(path.read_text().replace(*change))

    assert message in run("validate", folder).out


@pytest.mark.parametrize(
    ("example", "old", "new"),
    [
        ("beir/valid/folder", "queries.jsonl", "query.jsonl"),
        ("hipporag/broken/gold-passage-not-in-corpus/data", "reefs_corpus.json", "corpus.json"),
    ],
)
def test_a_file_that_seems_to_be_meant_is_named(tmp_path: Path, example: str, old: str, new: str) -> None:
    folder = shutil.copytree(FIXTURES / example, tmp_path / "data")
    (folder / old).rename(folder / new)

    out = run("validate", folder).out

    assert f"(there is {new})" in out and f"rename {new} to {old}" in out


@pytest.mark.parametrize(
    ("example", "old", "new", "message"),
    [
        ("gfm-rag", "raw", "Raw", "raw/documents.json is not there (there is Raw/)"),
        ("datamind", "triplets", "triples", "rename the folder triples to triplets, if that is what it is"),
        ("datamind", "chunks", "chunk", "rename the folder chunk to chunks, if that is what it is"),
    ],
)
def test_a_folder_that_seems_to_be_meant_is_named(
    example: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert run("init", example, tmp_path / "data").code == 0
    (tmp_path / "data" / old).rename(tmp_path / "data" / new)

    assert message in run("validate", tmp_path / "data").out


def test_a_document_of_no_master_is_found_where_no_rule_of_references_is_selected(tmp_path: Path) -> None:
    folder = shutil.copytree(FIXTURES / "light-splade" / "broken" / "scores-for-unknown" / "data", tmp_path / "data")
    (finding,) = validate(folder, select="SP413").findings
    assert finding.fault == "document 99 is in no master"
