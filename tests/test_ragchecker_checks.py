"""RAGChecker files judged: the invalid examples of its description, the published samples, groups and folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragdatakit import validate
from ragdatakit.schemas.ragchecker.metrics import METRICS, group_means, row_metrics
from ragdatakit.validators import dataset_run
from tests.command_line import run
from tests.upstream_data import UPSTREAM_DATA, needs

E, N = "Entailment", "Neutral"
INPUT: dict[str, Any] = {
    "query_id": "q1",
    "query": "Who mapped the reef?",
    "gt_answer": "Joss Alder mapped it in 1931.",
    "response": "Joss Alder did.",
    "retrieved_context": [{"doc_id": "d2", "text": "Joss Alder mapped Kettle Reef in 1931."}],
}
OUTPUT: dict[str, Any] = {
    **INPUT,
    "response_claims": [["Joss Alder", "mapped", "the reef"]],
    "gt_answer_claims": [["Joss Alder", "mapped", "reef"], ["mapping", "in", "1931"]],
    "answer2response": [E],
    "response2answer": [E, N],
    "retrieved2response": [[E]],
    "retrieved2answer": [[E], [E]],
}


def found(path: Path, content: Any, **options: Any) -> list[tuple[str, str, int | None, str | None]]:
    """Rule, severity, line and pointer of what is reported of a file with that content."""
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1), encoding="utf-8")
    findings = validate(path, format="ragchecker", max_per_rule=0, **options).findings
    return [(f.rule, f.severity, f.line, f.pointer) for f in findings]


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in names}


def one(row: dict[str, Any] = OUTPUT, **changed: Any) -> dict[str, Any]:
    return {"results": [{**row, **changed}]}


def groups(**changed: Any) -> dict[str, Any]:
    return {"results": [OUTPUT], "metrics": {"overall_metrics": {}, "retriever_metrics": {}, **changed}}


EXAMPLES: dict[str, tuple[Any, str, str]] = {
    "1 no gt_answer": ({"results": [without(INPUT, "gt_answer")]}, "missing-field", "error"),
    "2 passages as texts": (one(INPUT, retrieved_context=["text"]), "unusable-passages", "error"),
    "3 a list": ([INPUT], "results-not-list", "error"),
    "4 a label in small letters": (one(answer2response=["entailment"]), "unknown-label", "error"),
    "5 a label too many": (one(answer2response=[E, N]), "misshapen-labels", "error"),
    "6 ragged labels": (one(retrieved2answer=[[E], []]), "misshapen-labels", "error"),
    "7 two rows with one id": ({"results": [INPUT, INPUT]}, "repeated-query-id", "warning"),
    "8 legacy groups": ({"results": [OUTPUT], "metrics": {"overall": {}}}, "legacy-groups", "error"),
    "9 results null": ('{"results": null}', "results-not-list", "error"),
    "10 stored precision": (one(metrics={"precision": 0.9}), "stored-metric-differs", "warning"),
    "11 a label too few": (one(response2answer=[E]), "misshapen-labels", "error"),
    "12 a flat list": (one(retrieved2answer=[E, E]), "misshapen-labels", "error"),
    "13 too wide": (one(retrieved2answer=[[E, N], [E, N]]), "misshapen-labels", "error"),
    "14 a label null": (one(answer2response=[None]), "unknown-label", "error"),
    "15 the baselines' wrapper": ({"input_data": [INPUT]}, "no-results", "error"),
    "16 JSON Lines": (f"{json.dumps(INPUT)}\n{json.dumps(INPUT)}\n", "results-not-list", "error"),
    "17 content for text": (
        one(INPUT, retrieved_context=[{"doc_id": "d2", "content": "x"}]),
        "passage-without-text",
        "error",
    ),
    "18 stored metric": (one(metrics={"recall": 0.1}), "stored-metric-differs", "warning"),
    "19 no labels": (one(answer2response=[]), "misshapen-labels", "error"),
    "too wide for a passage that is not there": (
        one(retrieved_context=[], retrieved2answer=[[E, N], [E, N]]),
        "misshapen-labels",
        "error",
    ),
    "a column for three passages": (one(retrieved_context=INPUT["retrieved_context"] * 3), "misshapen-labels", "error"),
    "labels without passages": ({"results": [without(OUTPUT, "retrieved_context")]}, "passages-left-out", "warning"),
    "an input without passages": ({"results": [without(INPUT, "retrieved_context")]}, "passages-not-given", "error"),
    "a label set absent": ({"results": [without(OUTPUT, "answer2response")]}, "incomplete-labels", "warning"),
    "a group missing": (groups(), "unusable-groups", "error"),
    "a metric as text": (one(metrics={"precision": "1.0"}), "metric-as-text", "warning"),
    "nothing at all": ("", "file-not-json", "error"),
    "an empty object": ("{}", "no-results", "error"),
    "results as object": ('{"results": {"q1": {}}}', "results-not-list", "error"),
    "a row null": ('{"results": [null]}', "row-not-object", "error"),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_what_an_example_breaks(name: str, tmp_path: Path) -> None:
    content, rule, severity = EXAMPLES[name]

    assert (rule, severity) in {(r, s) for r, s, _, _ in found(tmp_path / "checking_inputs.json", content)}


@pytest.mark.parametrize("row", [INPUT, OUTPUT, {**OUTPUT, "retrieved_context": INPUT["retrieved_context"]}])
def test_the_minimal_samples_are_right(row: dict[str, Any], tmp_path: Path) -> None:
    assert found(tmp_path / "a.json", {"results": [row]}) == []


def test_the_metrics_of_the_minimal_sample() -> None:
    metrics = row_metrics(OUTPUT)

    assert metrics == {
        **dict.fromkeys(METRICS, 0.0),
        **dict.fromkeys(("precision", "claim_recall", "context_precision", "faithfulness"), 1.0),
        **dict.fromkeys(("recall", "context_utilization"), 0.5),
        "f1": 2 / 3,
    }
    assert group_means({"f1": [metrics["f1"]]}) == {"overall_metrics": {"f1": 66.7}}


def test_findings_have_places(tmp_path: Path) -> None:
    path = tmp_path / "checking_outputs.json"
    content = one(retrieved2answer=[[E], ["yes"]]) | {"metrics": {"overall_metrics": {"f1": "x"}}}

    label, lacking, group = found(path, content)

    lines = path.read_text().splitlines()
    assert label[:2] == ("unknown-label", "error")
    assert label[3] == "/retrieved2answer/1/0"
    assert lines[(label[2] or 0) - 1].strip() == '"yes"'
    assert (lacking[0], lines[(lacking[2] or 0) - 1].strip()) == ("unusable-groups", '"metrics": {')
    assert (group[0], lines[(group[2] or 0) - 1].strip()) == ("unusable-groups", '"f1": "x"')


@pytest.mark.parametrize("given", [76.4, 76.35])
def test_groups_are_compared_with_what_the_tool_would_write(given: float, tmp_path: Path) -> None:
    """A stored metric of a row is part of the mean; 76.35 is as near to 76.4 as rounding can be."""
    rows = [{**OUTPUT, "query_id": f"q{n}", "metrics": {"precision": value}} for n, value in enumerate((0.764, 0.764))]
    content = {"results": rows, "metrics": {"overall_metrics": {"precision": given}}}
    content["metrics"] |= {"retriever_metrics": {"claim_recall": 99.0}, "generator_metrics": {}}

    rules = [rule for rule, *_ in found(tmp_path / "checking_outputs.json", content)]

    assert rules == ["stored-metric-differs", "stored-metric-differs", "group-metric-differs"]


def test_nothing_is_computed_from_labels_that_do_not_fit(tmp_path: Path) -> None:
    content = one(answer2response=[E, N], metrics={"precision": 1.0})
    content["metrics"] = {"overall_metrics": {"precision": 3}, "retriever_metrics": {}, "generator_metrics": {}}

    assert [rule for rule, *_ in found(tmp_path / "a.json", content)] == ["misshapen-labels"]


def test_ids_are_unique_within_a_file(tmp_path: Path) -> None:
    (tmp_path / "checking_inputs.json").write_text(json.dumps({"results": [INPUT]}))
    (tmp_path / "checking_outputs.json").write_text(json.dumps({"results": [OUTPUT]}))

    report = validate(tmp_path)

    assert ([f.kind for d in report.datasets for f in d.files], report.findings) == (["results", "results"], [])


def test_results_beside_an_input_of_the_baselines_are_taken(tmp_path: Path) -> None:
    content = json.dumps({"input_data": [{"query": "?"}], "results": [INPUT]})

    assert found(tmp_path / "a.json", content) == []


@pytest.mark.parametrize("content", [{"results": []}, {"input_data": [INPUT]}])
def test_where_no_results_are_the_remedy_is_true(content: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "checking_inputs.json").write_text(json.dumps(content))

    (finding,) = validate(tmp_path).findings

    assert (finding.code, finding.hint.partition(";")[0]) == ("RC013", "put the rows into the list results")


def test_a_long_file_is_reported_by_its_beginning(tmp_path: Path) -> None:
    rows = [{**OUTPUT, "query_id": f"q{n}", "response": "x" * 2000} for n in range(1000)]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"results": rows}))
    assert path.stat().st_size > 1 << 20

    report = validate(path)

    assert [(d.format, d.files[0].records) for d in report.datasets] == [("ragchecker", 1000)]


def test_a_big_file_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_run, "ARRAY_PART_BYTES", 1 << 12)
    rows = [{**OUTPUT, "query_id": f"q{n}"} for n in range(500)]
    rows[77]["answer2response"] = ["maybe"]
    means = group_means({name: [row_metrics(row)[name] for row in rows] for name in METRICS})
    content = {"results": rows, "metrics": means}

    assert [(r, p) for r, _, _, p in found(tmp_path / "big.json", content)] == [("unknown-label", "/answer2response/0")]


REAL = UPSTREAM_DATA / "ragchecker"


@needs("ragchecker")
def test_the_published_samples(tmp_path: Path) -> None:
    """The input is right. The output was written by an older version, whose groups the tool cannot read any more; with
    their new names nothing is wrong with it: every metric is what the labels give."""
    (finding,) = validate(REAL).findings
    assert (finding.rule, Path(finding.path).name, finding.line) == ("legacy-groups", "checking_outputs.json", 638)

    whole = json.loads((REAL / "checking_outputs.json").read_text())
    whole["metrics"] = {f"{name}_metrics": group for name, group in whole["metrics"].items()}

    assert found(tmp_path / "checking_outputs.json", whole) == []
    assert [row_metrics(row) for row in whole["results"]] == [row["metrics"] for row in whole["results"]]
    means = {name: [row_metrics(row)[name] for row in whole["results"]] for name in METRICS}
    assert group_means(means) == whole["metrics"]


def test_report_says_that_an_object_is_wanted_not_an_array(tmp_path: Path) -> None:
    (tmp_path / "checking_inputs.json").write_text(json.dumps([INPUT]))

    shown = " ".join(run("report", str(tmp_path)).out.split())

    assert "1 file left out: the file is not a JSON object with a list called results (" in shown
    assert shown.index("called results (") < shown.index("checking_inputs.json)")


def test_claims_are_counted_from_one(tmp_path: Path) -> None:
    (tmp_path / "checking_outputs.json").write_text(json.dumps(one(retrieved2answer=[[E], []])))

    (finding,) = validate(tmp_path).findings

    assert finding.fault == "0 labels for claim 2 in retrieved2answer, and 1 for the first"
