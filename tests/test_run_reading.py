"""Existing runs: TREC files in the order of trec_eval, stages of SAGE records, what is matched and what is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.retrieval.gold_and_metrics.evaluation import NamedRun
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
from ragdatakit.retrieval.gold_and_metrics.metrics import measure
from ragdatakit.retrieval.gold_and_metrics.run_reading import TEXT, read_runs
from ragdatakit.retrieval.passages import Passage
from ragdatakit.schemas.canonical import Question, Run
from ragdatakit.schemas.errors import RagdataError
from tests.conversion_tools import tables_of
from tests.evaluation_tools import QUESTIONS, REEFS, passages_of, write_beir, write_lines, write_run

pytrec_eval = pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")
pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")


pytestmark = pytest.mark.usefixtures("cache_of_the_module")


def gold_of(*questions: GoldQuestion, unit: str = "document") -> Gold:
    return Gold(unit, None, questions, {}, {})


GOLD = gold_of(
    GoldQuestion("q1", "who mapped it", {"d1": 1}),
    GoldQuestion("q2", "what was lit", {"d2": 1}),
    GoldQuestion("q3", "no gold"),
)
IDS = [f"d{n}" for n in range(8)]
SCORES = st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1.5, -2.0, 16777216.0, 16777217.0, 1e-45, 1e30, 0.1, 0.1 + 1e-12])


@given(st.dictionaries(st.sampled_from(IDS), SCORES, min_size=1), st.dictionaries(st.sampled_from(IDS), st.just(1)))
def test_trec_runs_are_ordered_as_trec_eval_does(results: dict[str, float], judged: dict[str, int]) -> None:
    grades = {**judged, "gone": 1}
    rows = [Run("q1", "tag", n, target, score=score) for n, (target, score) in enumerate(results.items(), 1)]

    (run,) = read_runs(tables_of(format_name="trec", runs=rows), gold_of(GoldQuestion("q1", "", grades)))

    theirs = pytrec_eval.RelevanceEvaluator({"q1": grades}, {"map", "recip_rank"}).evaluate({"q1": results})["q1"]
    mine = measure(run.ranked, {"q1": grades}, ["map", "mrr"])
    assert [mine["map"][0], mine["mrr"][0]] == pytest.approx([theirs["map"], theirs["recip_rank"]])


def test_the_order_of_equal_scores() -> None:
    results = [("b", 1.0), ("a", 1.0), ("ab", 1.0), ("港", 1.0), ("z", 2.0), ("n", float("nan"))]
    rows = [Run("q1", "tag", n, target, score=score) for n, (target, score) in enumerate(results, 1)]

    (run,) = read_runs(tables_of(format_name="trec", runs=rows), GOLD)

    assert run.ranked["q1"] == ("z", "港", "b", "ab", "a", "n")
    assert run.notes[0] == "ordered as trec_eval does: by score, of equal scores the greater id first"


def test_other_runs_keep_their_order() -> None:
    rows = [Run("q1", "retrieval", rank, target, score=1.0) for rank, target in ((2, "d1"), (1, "d9"), (3, "d1"))]

    (run,) = read_runs(tables_of(format_name="sage", runs=rows), GOLD)

    assert run.ranked == {"q1": ("d9", "d1")}
    assert run.notes == (
        "1 result left out: an earlier one is the same, or of the same document",
        "it has at most 2 results for a question",
    )
    assert run.depth == 2


def test_long_runs_are_cut_to_the_depth() -> None:
    rows = [Run("q1", "tag", n, f"x{n}", score=float(n)) for n in range(1, 3000)]

    (run,) = read_runs(tables_of(format_name="trec", runs=rows), GOLD, depth=5)

    assert run.ranked["q1"] == ("x2999", "x2998", "x2997", "x2996", "x2995")


def test_each_stage_is_a_run_of_its_own() -> None:
    rows = [
        Run("q1", "retrieval", 1, "d1", seconds=0.5),
        Run("q1", "retrieval", 2, "d2", seconds=0.5),
        Run("q2", "retrieval", 1, "d2", seconds=0.25),
        Run("q1", "reranking", 1, "d2"),
        Run("q3", "reranking", 1, "d2"),
        Run("other", "reranking", 1, "d2"),
    ]

    first, second = read_runs(tables_of(runs=rows), GOLD, label="x:")

    assert (first.name, first.seconds) == ("x:retrieval", 0.75)
    assert (second.name, second.ranked, second.seconds) == ("x:reranking", {"q1": ("d2",)}, None)
    assert second.notes == (
        "2 questions of the run left out: there is no gold for them here",
        "it has at most 1 result for a question",
    )


def corpus(folder: Path, unit: str = "document") -> Any:
    rows = [Passage("d1", "The north reef."), Passage("d2", "A  ferry\nleaves.", "Ferries"), Passage("d3", "Salt.")]
    if unit == "chunk":
        rows = [p._replace(passage_id=f"c{n}", document_id=p.passage_id) for n, p in enumerate(rows)]
    return passages_of(folder, rows, unit)


def test_results_are_matched_by_id_or_text(tmp_path: Path) -> None:
    rows = [
        Run("q1", "s", 1, None, "Nobody has this."),
        Run("q1", "s", 2, None, " The north\nreef. "),
        Run("q1", "s", 3, "gone", "A ferry leaves."),
        Run("q1", "s", 4, "lost", None),
        Run("q1", "s", 5, None, "Ferries\nA ferry leaves."),
        Run("q1", "s", 6, "d3", "Nobody has this."),
    ]

    (run,) = read_runs(tables_of(runs=rows), GOLD, corpus(tmp_path / "p"))

    assert run.ranked["q1"] == (f"{TEXT}Nobody has this.", "d1", "d2", "lost", "d3")
    assert run.notes == (
        "2 of 6 results not in the corpus: their ranks are kept, they count as not relevant",
        "3 results matched with the corpus by text",
        "1 result left out: an earlier one is the same, or of the same document",
    )


def test_chunks_stand_for_their_documents(tmp_path: Path) -> None:
    rows = [Run("q1", "s", n, target) for n, target in enumerate(("c2", "c0", "d2", "d9"), 1)]

    (run,) = read_runs(tables_of(runs=rows), GOLD, corpus(tmp_path / "p", "chunk"))

    assert run.ranked["q1"] == ("d3", "d1", "d2", "d9")
    assert "1 of 4 results not in the corpus" in run.notes[0]


def test_questions_are_matched_by_text() -> None:
    questions = [Question("record-1", "who  mapped it"), Question("record-2", "what was sold"), Question("q2", "what?")]
    rows = [Run(q.question_id or "", "s", 1, "d1") for q in questions]

    (run,) = read_runs(tables_of(questions=questions, runs=rows), GOLD)

    assert run.ranked == {"q1": ("d1",), "q2": ("d1",)}


def test_a_text_of_two_questions_matches_none() -> None:
    gold = gold_of(GoldQuestion("q1", "same", {"d1": 1}), GoldQuestion("q2", "same", {"d1": 1}))

    (run,) = read_runs(tables_of(questions=[Question("r", "same")], runs=[Run("r", "s", 1, "d1")]), gold)

    assert run == NamedRun("s", {}, None, ("1 question of the run left out: there is no gold for them here",))


RUN = {"q1": ["d2", "d1"], "q2": ["d2", "d6", "nowhere"], "strange": ["d1"]}


def test_a_trec_run_against_a_dataset(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")

    done = ragdatakit.evaluate(folder, runs=write_run(tmp_path / "mine.run", RUN), metrics="mrr,recall@5")

    (run,) = done.runs
    assert (run.name, {n: s.mean for n, s in run.scores.items()}) == ("mine", {"mrr": 0.5, "recall@5": 2 / 3})
    assert run.sanity.self_retrieval is None
    assert any("1 of 5 results not in the corpus" in note for note in run.notes)
    assert any("1 of 3 questions with gold are not in the run" in note for note in run.notes)


def test_gold_and_run_are_enough(tmp_path: Path) -> None:
    folder = tmp_path / "trec"
    folder.mkdir()
    (folder / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    write_run(folder / "mine.run", RUN)

    done = ragdatakit.evaluate(folder)

    assert (done.passages, done.judged, [r.name for r in done.runs]) == (0, 2, ["mine"])
    assert done.runs[0].scores["mrr"].mean == 0.75


def test_runs_with_one_name_are_reported_apart(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")
    paths = [write_run(tmp_path / f"{n}.run", {"q1": ["d1"] * (n == "a") + ["d2"]}) for n in "ab"]

    done = ragdatakit.evaluate(folder, runs=paths, compare=(str(paths[0]), str(paths[1])), metrics="mrr")

    assert [run.name for run in done.runs] == ["a.run", "b.run"]
    assert {(c.a, c.b, c.losses, c.ties) for c in done.comparisons} == {("a.run", "b.run", 1, 2)}


def test_files_of_one_name_and_tag_are_reported_apart(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")
    found = {"a": ["d1", "d2"], "b": ["d2", "d1"]}
    for name in found:
        (tmp_path / name).mkdir()
    paths = [write_run(tmp_path / name / "same.run", {"q1": ids}) for name, ids in found.items()]

    done = ragdatakit.evaluate(folder, compare=(str(paths[0]), str(paths[1])), metrics="mrr")
    again = ragdatakit.evaluate(folder, runs=paths, compare=("b/same.run", "a/same.run"), metrics="mrr")

    assert [run.name for run in done.runs] == ["a/same.run", "b/same.run"]
    assert (done.comparisons[0].wins, done.comparisons[0].losses) == (0, 1)
    assert (again.comparisons[0].wins, again.comparisons[0].losses) == (1, 0)


def test_one_file_in_two_spellings_is_one_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_beir(tmp_path / "reefs")
    path = write_run(tmp_path / "mine.run", RUN)
    monkeypatch.chdir(tmp_path)

    done = ragdatakit.evaluate(folder, runs=path, compare=("bm25", "mine.run"), metrics="mrr")

    assert [run.name for run in done.runs] == ["bm25", "mine"]


def test_runs_that_were_mixed_are_reported(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")
    (tmp_path / "runs").mkdir()
    for name in "ab":
        write_run(tmp_path / "runs" / f"{name}.run", RUN)

    (run,) = ragdatakit.evaluate(folder, runs=tmp_path / "runs", metrics="mrr").runs

    assert any("perhaps several runs have this name: give them one by one" in note for note in run.notes)


def test_a_mode_against_a_run(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs")
    path = write_run(tmp_path / "mine.run", RUN)

    done = ragdatakit.evaluate(folder, compare=("bm25", str(path)), metrics="mrr")

    assert [run.name for run in done.runs] == ["bm25", "mine"]
    assert (done.comparisons[0].mean_a, done.comparisons[0].mean_b) == (1.0, 0.5)


def test_sage_records(tmp_path: Path) -> None:
    records = [
        {
            "query": QUESTIONS["q1"],
            "question": {"id": "q1"},
            "references": [],
            "retrieval_results": [{"text": REEFS["d3"], "score": 2.0}, {"text": REEFS["d1"], "score": 1.0}],
            "retrieval_time": 0.5,
            "reranking_results": [{"text": REEFS["d1"], "score": 1.0}],
        },
        {"query": QUESTIONS["q3"], "references": [], "retrieval_results": [{"text": "unknown", "score": 1.0}]},
    ]
    path = write_lines(tmp_path / "trace.jsonl", records)
    folder = write_beir(tmp_path / "reefs")

    done = ragdatakit.evaluate(folder, runs=path, metrics="mrr")

    assert {r.name: r.scores["mrr"].mean for r in done.runs} == pytest.approx({"retrieval": 1 / 6, "reranking": 1 / 3})
    assert done.runs[0].seconds == 0.5
    with pytest.raises(RagdataError, match=r"trace\.jsonl has 2 runs \(retrieval, reranking\); name two of them"):
        ragdatakit.evaluate(folder, compare=("bm25", str(path)))
    done = ragdatakit.evaluate(folder, runs=path, compare=("retrieval", "reranking"), metrics="mrr")
    assert done.comparisons[0].difference == pytest.approx(1 / 6)


@pytest.mark.parametrize("name", ["reefs", "strange.run"])
def test_files_without_usable_runs(tmp_path: Path, name: str) -> None:
    folder = write_beir(tmp_path / "reefs")
    write_run(tmp_path / "strange.run", {"x1": ["d1"]})
    messages = {
        "reefs": r"reefs has no runs \(beir: documents, questions, qrels\)",
        "strange.run": r"no question of .*strange\.run \(such as 'x1'\) has gold in .*reefs",
    }

    with pytest.raises(RagdataError, match=messages[name]):
        ragdatakit.evaluate(folder, runs=tmp_path / name)


def test_ids_of_any_kind(tmp_path: Path) -> None:
    names = ["\ud800", "a\u202eb", "x" * 10_000, "0"]
    rows = [Run("q1", "s", n, target) for n, target in enumerate(names, 1)]

    (run,) = read_runs(tables_of(format_name="trec", runs=rows), GOLD, corpus(tmp_path / "p"))

    assert set(run.ranked["q1"]) == set(names)
    assert json.dumps(run.ranked)
