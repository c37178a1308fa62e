"""light-splade, A-RAG and GFM-RAG in Parquet: written, read back equal, judged like the files they were made of."""

from __future__ import annotations

import html
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragdatakit
from ragdatakit.outputs import parquet_files
from ragdatakit.reports.findings.output_forms import OUTPUT_FORMS
from tests.command_line import FIXTURES, run

VALID = [
    place
    for name in ("light-splade", "arag", "gfm-rag")
    for place in sorted((FIXTURES / name / "valid").iterdir())
    if place.name not in ("many", "results-alone")
]


def rows(folder: Path) -> dict[str, list[Any]]:
    tables = ragdatakit.read(folder)
    found = {}
    for table in tables.tables:
        found[table] = [
            {k: _parsed(v) if k == "metadata" else v for k, v in row._asdict().items() if k != "field_order"}
            for row in tables.rows(table)
        ]
    return found


def _parsed(text: str | None) -> Any:
    """Columns are in one order for all rows, so that members of metadata may change places."""
    return json.loads(text) if text is not None else None


def write(path: Path, columns: dict[str, Any], **options: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path, **options)


def found(folder: Path, *, every: bool = False) -> list[tuple[str, str, int | None, int | None]]:
    report = ragdatakit.validate(folder)
    assert all(finding.line is None and finding.span is None for finding in report.findings)
    return [
        (f.rule, f.path.rsplit("/", 1)[1], f.record, f.row_group)
        for f in report.findings
        if every or (f.severity != "info" and f.rule != "parquet-not-loaded")
    ]


@pytest.mark.parametrize("source", VALID, ids=lambda place: f"{place.parents[1].name}-{place.name}")
@pytest.mark.broad(20)
def test_what_is_written_is_read_back_equal(source: Path, tmp_path: Path) -> None:
    name = source.parents[1].name
    plain = ragdatakit.convert(source, tmp_path / "plain", to=name)

    there = ragdatakit.convert(source, tmp_path / "there", to=name, container="parquet")
    back = ragdatakit.convert(tmp_path / "there", tmp_path / "back", to=name)

    assert plain.ok and there.ok and back.ok
    assert rows(tmp_path / "there") == rows(tmp_path / "plain") == rows(tmp_path / "back")
    rules = [f.rule for f in ragdatakit.validate(tmp_path / "there").findings if f.rule != "parquet-not-loaded"]
    assert rules == [f.rule for f in ragdatakit.validate(tmp_path / "plain").findings]


@pytest.mark.parametrize("form", [f for f in OUTPUT_FORMS if f not in ("json", "ndjson")])
def test_repeated_rows_are_named_in_each_form(form: str, tmp_path: Path) -> None:
    write(tmp_path / "corpus/0.parquet", {"_id": ["d1", "d2", "d2"], "title": ["", "", ""], "text": ["a", "b", "c"]})

    done = run("validate", tmp_path, "--output-format", form)

    assert re.search(r'row 3: duplicate id ..?d2|row 3 BE201 .*duplicate id "d2"', html.unescape(done.out)), done.out
    if form in ("full", "github", "azure", "sarif", "rdjson", "rdjsonl"):
        assert re.search(r"first seen here: (\[.*, )?row 2\b", done.out)


def test_nulls_that_are_read_back_as_missing_fields_are_in_the_account(tmp_path: Path) -> None:
    source = Path(shutil.copytree(FIXTURES / "arag/valid/predictions", tmp_path / "source"))
    questions = source / "questions.json"
    questions.write_text(questions.read_text("utf-8").replace('"id": "s2",', '"id": "s2", "flag": null,'), "utf-8")

    there = ragdatakit.convert(source, tmp_path / "there", to="arag", container="parquet")
    plain = ragdatakit.convert(source, tmp_path / "plain", to="arag")

    (loss,) = there.conversions[0].losses
    assert (loss.kind, loss.table, loss.column, loss.count) == ("coerced", "questions", "flag", 1)
    assert "s2" in loss.examples[0]
    assert plain.lossless


def splade(folder: Path, **changed: Any) -> Path:
    columns = {
        "query_master": {"qid": [1, 2], "text": ["which light", "which reef"]},
        "doc_master": {"doc_id": [10, 11, 12], "text": ["a light", "a reef", "a tide"]},
        "positive_lists": {"qid": [1, 2], "positive_doc_ids": [[10], [11]]},
        "triplets": {"qid": [1, 2], "pos_doc_id": [10, 11], "neg_doc_id": [12, 12]},
        **changed,
    }
    for stem, of in columns.items():
        write(folder / f"{stem}.parquet", of, row_group_size=1)
    return folder


def test_light_splade_by_record_and_row_group(tmp_path: Path) -> None:
    folder = splade(
        tmp_path,
        triplets={"qid": [1, 9], "pos_doc_id": [10, 11], "neg_doc_id": [12, 12]},
        query_master={"qid": [1, 2, 1], "text": ["which light", " ", "x"]},
        positive_lists={"qid": ["1", "2"], "positive_doc_ids": [[10], [11, 11]]},
    )

    assert found(folder, every=True)[0] == ("parquet-not-loaded", "query_master.parquet", None, None)
    assert {
        ("duplicate-qid", "query_master.parquet", 2, 2),
        ("blank-text", "query_master.parquet", 1, 1),
        ("id-not-integer", "positive_lists.parquet", 0, 0),
        ("duplicate-positive", "positive_lists.parquet", 1, 1),
        ("dangling-qid", "triplets.parquet", 1, 1),
    } <= set(found(folder))


@pytest.mark.parametrize("ending", ["-00000-of-00002.parquet", "/part-0.parquet"])
def test_light_splade_in_shards(ending: str, tmp_path: Path) -> None:
    folder = splade(tmp_path)
    (folder / "triplets.parquet").unlink()
    write(folder / f"triplets{ending}", {"qid": [1], "pos_doc_id": [10], "neg_doc_id": [12]})
    write(folder / f"triplets{ending}".replace("0", "1", 1), {"qid": [2], "pos_doc_id": [11], "neg_doc_id": [99]})

    ((rule, name, record, group),) = found(folder)

    assert (rule, record, group) == ("dangling-doc-id", 0, 0)
    assert "1" in name


def test_teacher_scores_are_maps(tmp_path: Path) -> None:
    folder = splade(tmp_path)
    scores = [[("10", 6.5), ("12", -3.0)], [("11", 5.0), ("x", 1.0)]]
    of_scores = pa.array(scores, pa.map_(pa.string(), pa.float64()))
    write(folder / "hard-negatives-cross-encoder-scores.parquet", {"qid": [1, 2], "scores": of_scores})

    rules = [rule for rule, *_ in found(folder)]

    assert "score-key-not-integer" in rules
    assert "scores-not-object" not in rules
    assert ragdatakit.read(splade(tmp_path / "sound")).rows("qrels")


def graph(folder: Path, **changed: Any) -> Path:
    places = ["1871", "osprey", "NA"]
    columns = {
        "nodes": {"name": places, "type": ["entity"] * 3, "attributes": ["{}", "{}", '{"a, b": "x\\ny"}']},
        "relations": {"name": ["towed"], "attributes": ["{}"]},
        "edges": {"source": places[:2], "relation": ["towed"] * 2, "target": places[1:], "attributes": ["{}"] * 2},
        **changed,
    }
    for stem, of in columns.items():
        write(folder / f"{stem}.parquet", of, row_group_size=2)
    return folder


def test_types_of_columns_are_not_inferred_again(tmp_path: Path) -> None:
    """A column of text stays text, whatever its cells look like; one of integers is numbers."""
    assert not {"number-like-name", "kind-mismatch", "nodes-all-numeric"} & {
        rule for rule, *_ in found(graph(tmp_path))
    }

    write(tmp_path / "nodes.parquet", {"name": ["1", "2"], "type": ["entity"] * 2, "attributes": ["{}"] * 2})
    write(tmp_path / "edges.parquet", {"source": ["1"], "relation": ["towed"], "target": ["2"], "attributes": ["{}"]})
    assert not {"nodes-all-numeric", "dangling-endpoint"} & {rule for rule, *_ in found(tmp_path)}

    write(tmp_path / "nodes.parquet", {"name": [1, 2], "type": ["entity"] * 2, "attributes": ["{}"] * 2})
    assert ("nodes-all-numeric", "nodes.parquet", 0, 0) in found(tmp_path)


@pytest.mark.parametrize("big", [False, True])
def test_graph_tables_by_record_and_row_group(big: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if big:
        monkeypatch.setattr("ragdatakit.validators.dataset_run.SMALL_DATASET", -1)
    folder = graph(tmp_path / "s", relations={"name": ["towed", "towed"], "attributes": ["{}", "not one"]})
    edges = {"source": ["osprey"] * 3, "relation": ["towed"] * 3, "target": ["1871", "NA", "gone"]}
    write(folder / "edges.parquet", {**edges, "attributes": ["{}"] * 3}, row_group_size=2)
    write(folder / "edges-2.parquet", {**edges, "attributes": ["{}"] * 3}, row_group_size=2)

    there = found(folder)

    assert ("duplicate-relation", "relations.parquet", 1, 0) in there
    assert ("attributes-not-literal", "relations.parquet", 1, 0) in there
    assert [each for each in there if each[0] == "dangling-endpoint"] == [
        ("dangling-endpoint", "edges-2.parquet", 2, 1),
        ("dangling-endpoint", "edges.parquet", 2, 1),
    ]
    assert any(rule == "duplicate-edge" for rule, *_ in there)


def test_nested_values_in_a_table_are_json(tmp_path: Path) -> None:
    folder = graph(tmp_path, relations={"name": ["towed"], "attributes": [{"since": 1871, "by": ["osprey"]}]})

    assert "attributes-not-literal" not in {rule for rule, *_ in found(folder)}
    (relation,) = ragdatakit.read(folder).rows("relations")
    assert json.loads(relation.attributes or "") == {"since": 1871, "by": ["osprey"]}


def test_chunks_and_questions(tmp_path: Path) -> None:
    texts = ["The lighthouse of Skarn was lit in 1871. It burned whale oil.", "", "It was lit again in 1902. It shone."]
    write(tmp_path / "chunks.parquet", {"id": ["0", "1", "0"], "text": texts}, row_group_size=2)
    questions = {"id": ["s1", "s1"], "question": ["When was it lit?", None], "answer": ["1871", "1902"]}
    write(tmp_path / "questions.parquet", questions)

    assert {
        ("duplicate-chunk-id", "chunks.parquet", 2, 1),
        ("empty-chunk", "chunks.parquet", 1, 0),
        ("duplicate-question-id", "questions.parquet", 1, 0),
        ("question-without-text", "questions.parquet", 1, 0),
    } <= set(found(tmp_path))
    assert "chunks-as-objects" not in {rule for rule, *_ in found(tmp_path, every=True)}


def test_records_with_errors_are_left_out(tmp_path: Path) -> None:
    folder = graph(
        tmp_path / "s", edges={"source": ["osprey", "gone"], "relation": ["towed"] * 2, "target": ["NA"] * 2}
    )

    result = ragdatakit.convert(folder, tmp_path / "out", to="gfm-rag", keep_going=True)

    assert result.conversions[0].counts["edges"] == 1


@pytest.mark.parametrize("place", ["corpus", "queries", "qrels"])
def test_a_lone_folder_of_shards(place: str, tmp_path: Path) -> None:
    columns: dict[str, dict[str, Any]] = {
        "corpus": {"_id": ["d1", "d1"], "title": ["", ""], "text": ["a light", "a reef"]},
        "queries": {"_id": ["q1", "q1"], "text": ["a light", "a reef"]},
        "qrels": {"query-id": ["q1", "q1"], "corpus-id": ["d1", "d1"], "score": [1, 2]},
    }
    write(tmp_path / place / "test-00000-of-00001.parquet", columns[place])

    report = ragdatakit.validate(tmp_path / place)
    alone = ragdatakit.validate(tmp_path / place / "test-00000-of-00001.parquet")

    assert [f.rule for f in report.findings] == [f.rule for f in alone.findings] != []
    assert [file.kind for file in report.datasets[0].files] == [place]


def test_other_tables_are_no_dataset(tmp_path: Path) -> None:
    write(tmp_path / "corpus" / "a.parquet", {"doc": ["d1"], "contents": ["x"]})

    outcome = run("validate", tmp_path / "corpus")

    assert outcome.code == 2
    assert "no dataset recognised" in outcome.err


def test_shards_are_split_by_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_files, "MOST_BYTES", 1)
    monkeypatch.setattr(parquet_files, "_ROWS", 1)
    monkeypatch.setattr(parquet_files, "_ROW_GROUP", 1)
    monkeypatch.setattr("ragdatakit.outputs.file_writers.PIECE", 1)

    result = ragdatakit.convert(splade(tmp_path / "s"), tmp_path / "out", to="light-splade", container="parquet")

    names = sorted(path.name for path in (tmp_path / "out").rglob("doc_master*"))
    assert result.ok
    assert len(names) > 2
    assert rows(tmp_path / "out")["documents"] == rows(tmp_path / "s")["documents"]


def test_queries_see_the_rows(tmp_path: Path) -> None:
    views = run("query", graph(tmp_path), "select count(*) as n from files.nodes", "--output-format", "json")

    assert views.json["rows"] == [{"n": 3}]
