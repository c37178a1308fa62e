"""The pandas models: they say what the file validator says, wherever a table of cells can show it."""

from __future__ import annotations

import gzip
import importlib.util
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pytest
from pandera.errors import SchemaErrors, SchemaWarning

from ragdatakit import validate
from ragdatakit.files.containers.python_literals import judge
from ragdatakit.schemas import all_formats, frames
from ragdatakit.schemas.cells import cell_damage
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.findings import Finding, Problem
from ragdatakit.schemas.frame import reading as frame_reading
from ragdatakit.schemas.frame.cells import coded_rules
from ragdatakit.schemas.frame.models import Table
from ragdatakit.schemas.results import DatasetSummary
from ragdatakit.validators.records import RecordChecker
from tests.block_mutations import record_value
from tests.command_line import spawn
from tests.faults.values import field_variants
from tests.test_fixtures import BROKEN, VALID, Case

TABLES = frames.tables()


def said(model: Any, frame: pd.DataFrame) -> tuple[set[str], set[str]]:
    """The rules that a model fails by, and those it warns of (by name)."""
    found: set[str] = set()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SchemaWarning)
        try:
            model.validate(frame, lazy=True)
        except SchemaErrors as error:
            for case in error.failure_cases.to_dict("records"):
                found.add(rule_of(str(case["check"]), model, str(case["failure_case"])))
    text = " ".join(str(w.message) for w in caught)
    return found, set(re.findall(r"\b[A-Z]{2}\d{3} ([a-z0-9-]+)", text))


def rule_of(check: str, model: Any, column: str) -> str:
    """The rule's name in a line of pandera's report; two checks are pandera's own."""
    table = TABLES[model.__name__]
    if check == "column_in_dataframe":
        rule = table.missing_rule(table.record.field(column))
        return rule.name if rule else ""
    if check == "column_in_schema":
        return table.record.rules["extra"]
    return check.split(" ")[0 if check.startswith("cells-") else 1]


# Files that are no tables, though their kind has a model: their records are another shape that the loader takes.
NO_ROWS = {"AragChunks": "a string, not an object"}


# What pandas makes of a fault before a model sees it: the cells that a short row lacks are empty ones.
READ_AS = {"short-row": "empty-attributes", "short-edge-row": "empty-edge-attributes"}

# Rules that a model shows as far as they are declared, and that the validator's code finds in more cells.
CODE_GOES_FURTHER = {
    ("beir", "no-records"): "a file of judgements with none beside one that has some: each is loaded by itself",
    ("gfm-rag", "attributes-not-literal"): "a column of nothing but numbers, which pandas leaves no text of",
    ("hipporag", "unusable-results"): "what is wrong with the results of one passage, below docs",
    ("raptor", "incomplete-node"): "what is wrong with one node, below nodes",
    ("raptor", "layers-not-whole"): "a number of layers that is not that of the nodes",
    ("contextual-retrieval", "question-without-answer"): "a question without the field is a missing cell in a frame",
    ("ragchecker", "metric-not-number"): "what is wrong with one metric, below metrics",
    ("ragchecker", "unusable-passages"): "what is wrong with one passage, below retrieved_context",
    ("lightrag", "unusable-payload-field"): "the fields of one chunk, entity or relationship, below their lists",
    ("lightrag", "unusable-tracking-record"): "the list in the record of one document, entity or relation",
    ("sage", "empty-contents"): "a text of blanks is as empty as an empty one",
    ("sage", "time-not-seconds"): "the times by their older names, which are not a declared fields",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """All files of one kind in one dataset, as one table, and what the validator says of them."""

    table: Table
    frame: pd.DataFrame
    findings: tuple[Finding, ...]


def seen(case: Case, folder: Path) -> Iterator[Seen]:
    report = validate(folder / case.target, max_per_rule=0)
    for dataset in report.datasets:
        for kind in dict.fromkeys(f.kind for f in dataset.files):
            table = TABLES.get(frames.model_name(dataset.format, kind))
            if table is None:
                continue
            paths = [place(folder / case.target, dataset, f.path) for f in dataset.files if f.kind == kind]
            findings = tuple(f for f in report.findings if Path(f.path) in paths)
            model = getattr(frames, frames.model_name(dataset.format, kind))
            parts, refused = [], ""
            try:
                parts = [frames.read(path, model) for path in paths]
            except RagdataError as error:
                refused = str(error)
            if refused:
                other_shape = NO_ROWS.get(model.__name__, "\n") in refused
                assert other_shape or any(f.severity in ("error", "warning") for f in findings), refused
                continue
            frame = pd.concat([p.astype(object) for p in parts], ignore_index=True)
            yield Seen(table, frame, findings)


def place(target: Path, dataset: DatasetSummary, path: str) -> Path:
    """Where a file is: below its dataset, the dataset itself, or where a config says it is."""
    if Path(dataset.path).is_dir():
        return Path(dataset.path) / path
    return Path(path) if Path(path).is_file() else Path(dataset.path)


@pytest.mark.broad(25)
@pytest.mark.parametrize("case", [*BROKEN, *VALID], ids=lambda case: case.id)
def test_a_model_says_what_the_validator_says(case: Case, tmp_path: Path) -> None:
    for one in seen(case, case.stand(tmp_path)):
        model = getattr(frames, frames.model_name(one.table.fmt.name, one.table.file.kind))
        failed, warned = said(model, one.frame)
        shown = one.table.shown()
        found = {f.rule for f in one.findings if f.severity in ("error", "warning")}
        if "repeated-file" in {f.rule for f in one.findings}:
            continue  # one finding of files; a model sees their records, each of which is there twice
        rules = {name for name in found if one.table.rule(name)}
        read_as = {READ_AS[name] for name in found & READ_AS.keys()}
        further = {name for fmt, name in CODE_GOES_FURTHER if fmt == one.table.fmt.name}

        assert failed | warned <= (found & shown) | read_as, one.table.file.kind
        assert ((found & shown) | read_as) - failed - warned <= further, one.table.file.kind
        assert all(not one.table.warns(rule) for rule in map(one.table.rule, failed) if rule)
        assert rules - shown <= frames.not_shown(one.table.fmt.name).keys()


def test_every_rule_is_shown_or_has_a_reason() -> None:
    for fmt in all_formats():
        shown = set().union(*(t.shown() for t in TABLES.values() if t.fmt is fmt))
        reasons = frames.not_shown(fmt.name)

        assert shown.isdisjoint(reasons)
        assert shown | reasons.keys() == {rule.name for rule in fmt.rules}
        assert all(reasons.values())


RECORDS = [pytest.param(t, id=name) for name, t in TABLES.items()]


@pytest.mark.parametrize("table", RECORDS)
def test_a_cell_is_judged_as_the_field_of_a_record(table: Table) -> None:
    checker = RecordChecker((table.record,))
    rng = Random(table.record.name)
    wrong = []
    for _ in range(5):
        sound = record_value(table.record, rng, plain=True)
        for field in table.record.fields:
            for text in ["", *(v.text for v in field_variants(field, sound.get(field.name)))]:
                cell = frame_reading.cells_of(text) if text else pd.NA
                value = {**sound, field.name: cell}
                if not text:
                    del value[field.name]
                elif any(map(is_odd, [cell, *(cell if isinstance(cell, list) else [])])):
                    continue
                expected = {p.rule for p in checker.declared_problems(value) if is_about(p, field.name)}
                damage = cell_damage(field, cell)
                rule = table.record.rule_for(damage, field.name) if damage else ""
                if rule not in expected and (rule or expected):
                    wrong.append((field.name, text, damage, rule, expected))

    assert wrong == []


def is_about(problem: Problem, name: str) -> bool:
    if problem.pointer:
        return problem.pointer.split("/")[1] == name
    return bool(problem.facts["field"] == name)


def is_odd(value: Any) -> bool:
    """NaN: JSON has none, pandas takes it for a missing value; a rule of its own."""
    return isinstance(value, Decimal)


def test_csv_is_read_as_text(tmp_path: Path) -> None:
    path = tmp_path / "nodes.csv"
    path.write_text('name,type,attributes\n007,NA,{}\n1e5,,"{""a"": 1}"\nnull,True\n', encoding="utf-8")

    frame = frames.read(path)

    rows = [["007", "NA", "{}"], ["1e5", "", '{"a": 1}'], ["null", "True", ""]]
    assert frame.columns.tolist() == ["name", "type", "attributes"]
    assert frame.to_numpy().tolist() == rows


def test_json_keeps_its_types(tmp_path: Path) -> None:
    path = tmp_path / "queries.ndjson.gz"
    lines = ['{"qid": 1, "text": "007"}', '{"qid": "2", "text": null}', "", '{"qid": 3.0}', f'{{"qid": {2**70}}}']
    path.write_bytes(gzip.compress("\n".join(lines).encode()))

    frame = frames.read(path)

    assert [type(v).__name__ for v in frame["qid"]] == ["int", "str", "float", "int"]
    assert frame["qid"].tolist() == [1, "2", 3.0, 2**70]
    assert frame["text"].tolist() == ["007", None, pd.NA, pd.NA]


CONTENTS = {
    "array.json": '[{"id": 1}, {"id": 2}]',
    "lines.json": '{"id": 1}\n{"id": 2}\n',
    "lines.jsonl": '{"id": 1}\r\n{"id": 2}',
    "table.csv": "id\r\n1\r\n2\r\n",
}


@pytest.mark.parametrize("name", CONTENTS)
def test_the_container_is_reported_by_name_and_content(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(CONTENTS[name], encoding="utf-8", newline="")

    assert [str(v) for v in frames.read(tmp_path / name)["id"]] == ["1", "2"]


def test_one_object_is_one_row(tmp_path: Path) -> None:
    (tmp_path / "sample.json").write_text('{"query": "tides",\n "stages": [1, 2]}', encoding="utf-8")

    assert frames.read(tmp_path / "sample.json").to_dict("records") == [{"query": "tides", "stages": [1, 2]}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"results": [{"query_id": "1"}], "results": []}', "has results 2 times, of which only one counts"),
        ('{"input_data": [{"query_id": "1"}]}', "is not a JSON object with a list results"),
        ('{"results": {"query_id": "1"}}', "is not a JSON object with a list results"),
        ('[{"query_id": "1"}]', "is not a JSON object;"),
    ],
)
def test_results_that_the_framework_does_not_read_are_no_table(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(text)

    with pytest.raises(RagdataError, match=message):
        frames.read(tmp_path / "results.json", frames.RagcheckerResults)


NO_TABLES = {
    "line 2 is not JSON": ("a.jsonl", b'{"id": 1}\n{"id": 2,}\n'),
    "record 1 (from 0) is a list": ("a.jsonl", b'{"id": 1}\n[2]\n'),
    "is not UTF-8 (byte 8)": ("a.jsonl", b'{"id": "\xff"}'),
    "byte-order mark": ("a.json", b'\xef\xbb\xbf[{"id": 1}]'),
    "has no header": ("a.csv", b""),
    "Expected 2 fields in line 3, saw 3": ("a.csv", b"a,b\n1,2\n1,2,3\n"),
    "shift all others": ("a.csv", b"a,b\n1,2,3\n1,2,3\n"),
    "Git LFS pointer": ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 7\n"),
    "nested too deeply": ("a.json", b"[" * 200_000),
    "cannot be read": ("a.json.gz", b"\x1f\x8b\x08\x00"),
}


@pytest.mark.parametrize("words", NO_TABLES)
def test_what_is_no_table_is_refused_in_one_line(words: str, tmp_path: Path) -> None:
    name, data = NO_TABLES[words]
    (tmp_path / name).write_bytes(data)

    with pytest.raises(RagdataError) as refused:
        frames.read(tmp_path / name)

    assert words in str(refused.value) and "\n" not in str(refused.value)
    assert name in str(refused.value)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    for name in ("none.csv", "none.json"):
        with pytest.raises(RagdataError, match="cannot be read: No such file"):
            frames.read(tmp_path / name)


def test_own_tables_are_judged_by_their_cells() -> None:
    model = frames.LightSpladeQueries
    sound = pd.DataFrame({"qid": [1, 2], "text": ["a", "b"]})
    as_floats = pd.DataFrame({"qid": [1.0, 2.0], "text": ["a", "b"]})
    as_text = sound.astype({"qid": str})
    nullable = sound.astype({"qid": "Int64", "text": "string"})

    assert said(model, sound) == said(model, nullable) == (set(), set())
    assert said(model, as_floats) == said(model, as_text) == ({"id-not-integer"}, set())
    assert said(model, sound.assign(qid=[True, False])) == ({"id-not-integer"}, set())
    assert said(model, sound.assign(qid=[7, 7])) == ({"duplicate-qid"}, set())
    assert said(model, sound.assign(more=1)) == ({"unexpected-field"}, set())
    assert said(model, sound.drop(columns="text")) == ({"missing-field"}, set())
    assert said(model, sound[:0]) == ({"no-records"}, set())


def test_warnings_do_not_fail() -> None:
    frame = pd.DataFrame({"doc_id": [1, 2], "text": ["low tide", "low tide"]})

    with pytest.warns(SchemaWarning, match=r"SP\d+ duplicate-text"):
        frames.LightSpladeDocuments.validate(frame)


def test_every_model_is_found_by_its_name() -> None:
    by_kind = frames.models()

    assert {m.__name__ for m in by_kind.values()} == set(TABLES) <= set(dir(frames))
    for (format_name, kind), model in by_kind.items():
        assert getattr(frames, frames.model_name(format_name, kind)) is model
        assert f"Format ``{format_name}``, kind ``{kind}``" in (model.__doc__ or "")
        assert [str(c) for c in model.to_schema().columns] == [f.name for f in TABLES[model.__name__].record.fields]
    for short, name in frames.SHORT.items():
        assert getattr(frames, short) is getattr(frames, name)


def test_names_that_differ_by_an_underscore_are_two_columns() -> None:
    model = frames.HipporagQuestions

    assert (model.id, model.id_, frames.BeirQueries.id) == ("id", "_id", "_id")


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no model is called 'LightSpladeQueris'"):
        _ = frames.LightSpladeQueris


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "_built", {})
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)

    for ask in (lambda: frames.LightSpladeQueries, frames.models, lambda: frames.read("nodes.csv")):
        with pytest.raises(MissingExtraError) as missing:
            ask()
        assert str(missing.value) == "this needs pandas and pandera: pip install 'ragdatakit[frames]'"
    with pytest.raises(ImportError):
        from ragdatakit.schemas.frames import LightSpladeQueries  # noqa: F401


def test_the_names_cost_no_library() -> None:
    uses = "dir(frames); frames.not_shown('arag'); print(*sys.modules)"

    loaded = set(spawn(code=("-c", f"import sys; from ragdatakit.schemas import frames; {uses}")).out.split())

    assert "ragdatakit.schemas.frames" in loaded
    assert loaded.isdisjoint({"pandas", "pandera", "numpy", "pyarrow"})


CELLS = (
    *("{}", " {}", "None", "[]", "()", '""', "set()", "", " ", "5", "[1]", "'a'", "nan", "null", "{1: 2}", "{1, 2}"),
    *('{"a": "x", "n": 1, "l": [1]}', "{'a': 'x', 'b': None, 'c': True}", '{"a": true}', '{"a": null}', '{"a": NaN}'),
    *('{"a": 1, "a": 2}', '{"a": {"b": 1, "b": 1}}', r'{"a": "\ud83d\ude00"}', r'{"a": "b\/c"}', r'{"a": "b\\/c"}'),
    *("{'a': np.float64(1.0)}", '{"a": "b', "{'it's': 1}", '{"a": 1e999}', "{[]: 1}", '{"a": "\\d"}', "1if 2else 3"),
    *("{" * 150 + "}" * 150, "[" * 150 + "]" * 150, "[" * 300 + "]" * 300, '{"a": "é\x00"}', '{"a": -0, "b": 007}'),
)


@pytest.mark.broad
@pytest.mark.parametrize("cell", CELLS, ids=lambda c: c[:20] or "empty")
@pytest.mark.parametrize("kind", ["nodes", "edges"])
def test_attributes_are_judged_as_the_validator_does(cell: str, kind: str) -> None:
    from ragdatakit.validators.gfm_rag.cells import _attribute_problems

    names, rules = coded_rules("gfm-rag", kind, "attributes") or ((), lambda _: frozenset())

    assert rules(cell) == {p.rule for p in _attribute_problems(kind, cell, judge(cell))} & set(names)


GRAPH = {"name": ["osprey", "lena"], "type": ["entity", "entity"], "attributes": ["{}", "{'built': 1901}"]}


def test_the_tables_of_a_graph() -> None:
    model = frames.Nodes
    sound = pd.DataFrame(GRAPH)

    assert said(model, sound) == (set(), set())
    assert said(model, sound.assign(name=["1", "01"])) == ({"duplicate-node"}, set())
    assert said(model, sound.assign(name=["1", "1.0", "x"][:2], uid=["a", "b"])) == (set(), set())
    assert said(model, sound.assign(uid=["7", "7"])) == ({"duplicate-node"}, set())
    assert said(model, sound.assign(uid=["a", "b"]).drop(columns="name")) == (set(), set())
    assert said(model, sound.drop(columns="name")) == ({"missing-column"}, set())
    assert said(model, sound.drop(columns="type")) == ({"missing-column"}, set())
    assert said(model, sound.assign(attributes=["", "null"])) == ({"empty-attributes", "attributes-not-literal"}, set())
    assert said(model, sound.assign(name=["osprey ", "lena"])) == (set(), {"untrimmed-name"})
    assert said(model, sound.assign(name=[1, 2])) == ({"cells-not-text"}, set())
    assert said(model, sound[:0]) == ({"no-rows"}, set())


def test_members_of_an_object_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "documents.json"
    path.write_text('{"Harbour log": "The tug", "Tides": null, "Tides": {"a": 1}}', encoding="utf-8")

    frame = frames.read(path, frames.GfmRagDocuments)

    assert frame.to_dict("list") == {"title": ["Harbour log", "Tides", "Tides"], "text": ["The tug", None, {"a": 1}]}
    assert said(frames.GfmRagDocuments, frame) == ({"document-not-text", "repeated-title"}, set())


def test_a_list_that_has_changed_is_judged_anew() -> None:
    frame = pd.DataFrame({"qid": [1], "positive_doc_ids": [[10]]})
    before = said(frames.LightSpladePositives, frame)
    frame.loc[0, "positive_doc_ids"].append("11")

    assert before == (set(), set())
    assert said(frames.LightSpladePositives, frame) == ({"id-not-integer"}, set())
