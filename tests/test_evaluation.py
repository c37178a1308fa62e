"""Modes and runs against gold: what is ranked for each unit, what counts, what is left out; on real sets, too."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from pathlib import Path

import pytest

import ragdatakit
from ragdatakit.retrieval.gold_and_metrics.evaluation import NamedRun, run_result, search_run
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion, read_gold
from ragdatakit.retrieval.passages import Passage
from ragdatakit.schemas.canonical import Document, Qrel, Question
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.evaluations import Evaluation, RunResult, Sanity
from tests.command_line import FIXTURES
from tests.conversion_tools import tables_of
from tests.evaluation_tools import QRELS, QUESTIONS, REEFS, ReportingSearcher, passages_of, write_beir, write_lines
from tests.upstream_data import published

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")
pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")

NO_CHECKS = Sanity({}, None, None)


pytestmark = pytest.mark.usefixtures("cache_of_the_module")


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_beir(tmp_path_factory.mktemp("sets") / "reefs")


def asked(*names: str) -> list[GoldQuestion]:
    return [GoldQuestion(name, f"text of {name}") for name in names]


def test_a_document_ranks_with_its_best_chunk(tmp_path: Path) -> None:
    chunks = [Passage(f"c{n}", "text", document_id=f"d{n // 3}") for n in range(12)]
    passages = passages_of(tmp_path / "p", chunks, "chunk")
    searcher = ReportingSearcher({"q": [4, 3, 0, 5, 11, 1]})

    documents = search_run(searcher, passages, "bm25", asked("q"), "document", 100)
    plain = search_run(searcher, passages, "bm25", asked("q"), "chunk", 3)

    assert documents.ranked == {"q": ("d1", "d0", "d3")}
    assert plain.ranked == {"q": ("c4", "c3", "c0")}


def test_chunks_are_searched_deeper_until_there_are_enough_documents(tmp_path: Path) -> None:
    chunks = [Passage(f"c{n}", "text", document_id=f"d{n // 10}") for n in range(100)]
    passages = passages_of(tmp_path / "p", chunks, "chunk")
    searcher = ReportingSearcher({"q": range(100), "r": [99, 0]})

    run = search_run(searcher, passages, "bm25", asked("q", "r"), "document", 3)

    assert run.ranked == {"q": ("d0", "d1", "d2"), "r": ("d9", "d0")}
    assert searcher.asked == [3, 12, 48]


def test_nodes_are_ranked_by_the_graph_alone(tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "p", [Passage("a", "text")])
    searcher = ReportingSearcher({"q": [0]}, {"q": ["n1", "n2", "n1"]})

    assert search_run(searcher, passages, "graph", asked("q"), "node", 10).ranked == {"q": ("n1", "n2")}
    with pytest.raises(RagdataError, match="nodes are judged, which graph mode alone ranks, not bm25"):
        search_run(searcher, passages, "bm25", asked("q"), "node", 10)


def test_judged_nodes_of_a_dataset() -> None:
    folder = FIXTURES / "gfm-rag" / "valid" / "train-only"

    done = evaluated(folder, unit="node", metrics="recall@5")

    assert (done.unit, [r.name for r in done.runs]) == ("node", ["graph"])
    assert done.runs[0].scores["recall@5"].mean == 1.0
    assert done.runs[0].sanity.without_seed == 0
    assert done.notes == ["not used here: 1 judgement of documents (--unit document)"]
    with pytest.raises(RagdataError, match="graph mode alone ranks, not bm25"):
        evaluated(folder, unit="node", modes="bm25")


def gold_of(*questions: GoldQuestion) -> Gold:
    return Gold("document", None, questions, {}, {})


def test_what_counts_and_what_is_left_out() -> None:
    gold = gold_of(
        GoldQuestion("a", "A", {"x": 1, "y": 2, "z": 0, "w": -1}, type="bridge"),
        GoldQuestion("b", "B", {"x": 1}),
        GoldQuestion("c", "C", {"x": 0}, type="bridge"),
        GoldQuestion("d", "D", {}, type="bridge"),
    )
    run = NamedRun("mine", {"a": ("w", "y", "u", "x"), "c": ("x",)}, 1.5, ("a note",))

    result = run_result(run, gold, ["recall@3", "mrr"], 3, NO_CHECKS)

    assert [q.question_id for q in result.questions] == ["a", "b"]
    first, second = result.questions
    assert (first.values, first.gold, first.gold_ranks) == ({"recall@3": 0.5, "mrr": 0.5}, ("x", "y"), (None, 2))
    assert (first.first_rank, first.found) == (2, ("w", "y", "u"))
    assert (second.values, second.first_rank, second.found) == ({"recall@3": 0.0, "mrr": 0.0}, None, ())
    assert result.scores["mrr"].mean == 0.25
    assert {kind: s["mrr"].mean for kind, s in result.by_type.items()} == {"bridge": 0.5, "(none)": 0.0}
    assert result.notes == ("a note", "1 of 2 questions with gold are not in the run; they count 0")
    assert [q.question_id for q in result.worst(5)] == ["b", "a"]
    assert result.worst(0) == []


def test_the_worst_questions_are_those_found_last() -> None:
    questions = [GoldQuestion(f"q{n}", "", {"x": 1}) for n in range(4)]
    ranked = {"q0": ["x"], "q1": ["a", "x"], "q2": ["a", "b", "x"], "q3": ["a"]}

    result = run_result(NamedRun("mine", ranked), gold_of(*questions), ["recall@1"], 10, NO_CHECKS)

    assert [q.question_id for q in result.worst(9)] == ["q3", "q2", "q1"]


def test_of_equally_bad_questions_each_cause_is_seen_first(tmp_path: Path) -> None:
    queries = {"q1": "ferry", "q2": "ferry", "q3": "gulls", "q4": "ferry"}
    qrels = {"q1": {"x": 1}, "q2": {"y": 1}, "q3": {"boat": 1}, "q4": {"ferry": 1}}
    folder = write_beir(tmp_path / "bad", {"ferry": "the ferry", "boat": "a boat"}, queries, {"test": qrels})

    worst = evaluated(folder, metrics=["recall@1"]).runs[0].worst(2)

    assert [(q.question_id, q.cause) for q in worst] == [("q1", "missing"), ("q3", "no-term")]


def scores(result: RunResult) -> dict[str, float]:
    return {name: score.mean for name, score in result.scores.items()}


def evaluated(path: Path, **words: object) -> Evaluation:
    return ragdatakit.evaluate(path, **words)  # type: ignore[arg-type]


def test_bm25_end_to_end(reefs: Path) -> None:
    done = evaluated(reefs, metrics=["recall@1,recall@10,mrr"])

    assert (done.format, done.unit, done.split, done.passages) == ("beir", "document", None, 6)
    assert (done.questions, done.judged, done.without_gold) == (4, 3, 1)
    (run,) = done.runs
    assert run.name == "bm25"
    assert scores(run) == pytest.approx({"recall@1": 5 / 6, "recall@10": 1.0, "mrr": 1.0})
    assert done.ceiling is not None
    assert done.ceiling.scores == pytest.approx({"recall@1": 5 / 6, "recall@10": 1.0, "mrr": 1.0})
    assert run.sanity.self_retrieval == 1.0
    assert done.ok


def test_the_rank_of_gold_is_that_of_retrieve(reefs: Path) -> None:
    (run,) = evaluated(reefs, modes=["bm25"]).runs

    for question in run.questions:
        hits = ragdatakit.retrieve(reefs, QUESTIONS[question.question_id], k=100).hits
        assert question.found == tuple(hit.passage_id for hit in hits)[:10]


def test_metrics_and_depth(reefs: Path) -> None:
    (deep,) = evaluated(reefs, k=[3, 500]).runs
    (named,) = evaluated(reefs, metrics="p@3", minimums={"R@2": 0.5}, depth=2).runs

    assert deep.depth == 500
    assert {"recall@3", "recall@500", "ndcg@3", "mrr"} <= set(deep.scores)
    assert (set(named.scores), named.depth) == ({"precision@3", "recall@2"}, 3)


SPLITS: Mapping[str, Mapping[str, Mapping[str, int]]] = {
    "test": {"q1": {"d1": 1}},
    "train": {"q2": {"d2": 1}, "q3": {"d3": 1}},
}


def test_splits(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits=SPLITS)

    default, train = evaluated(folder), evaluated(folder, split="train")

    assert (default.split, default.judged) == ("test", 1)
    assert default.notes == ["other splits with judged questions: train 2 (--split)"]
    assert (train.split, [q.question_id for q in train.runs[0].questions]) == ("train", ["q2", "q3"])
    with pytest.raises(UnknownNameError, match="unknown split 'dev' of reefs"):
        evaluated(folder, split="dev")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"modes": ["bm52"]}, "unknown mode 'bm52', did you mean bm25"),
        ({"modes": ["dense"]}, "mode dense is not available for reefs"),
        ({"metrics": ["recal@5"]}, "unknown metric 'recal@5', did you mean recall@5"),
        ({"unit": "chunk"}, "reefs has no judgements of chunks"),
        ({"unit": "page"}, "unknown unit 'page'"),
        ({"minimums": {"mrr": 80}}, "the minimum of mrr is 80, expected a number from 0 to 1"),
        ({"minimums": {"mrr": float("nan")}}, "the minimum of mrr is nan"),
        ({"depth": 200_000}, "depth is 200,000, expected 1 to 100,000"),
        ({"k": [0]}, "cut-off 0 is below 1"),
        ({"compare": ("bm25", "splade")}, "unknown mode, run or run file to compare 'splade'"),
    ],
    ids=["mode", "lacking-mode", "metric", "unit", "no-unit", "percent", "nan", "depth", "cut-off", "compare"],
)
def test_words_that_make_no_sense(reefs: Path, words: dict[str, object], message: str) -> None:
    with pytest.raises(RagdataError, match=message):
        evaluated(reefs, **words)


def test_judgements_that_lie_apart(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={})
    trec = tmp_path / "gold.txt"
    trec.write_text("q1 0 d1 1\nq3 0 d3 1\nq3 0 d5 0\n")
    mapping = tmp_path / "gold.json"
    mapping.write_text('{"q1": {"d1": 1}, "q3": ["d3"]}')

    packed = tmp_path / "gold.json.gz"
    packed.write_bytes(gzip.compress(mapping.read_bytes()))

    for place in (trec, mapping, packed):
        done = evaluated(folder, qrels=place)
        assert (done.judged, done.without_gold) == (2, 2)
        assert scores(done.runs[0])["recall@1"] == 1.0
    packed.write_bytes(packed.read_bytes()[:-10])
    with pytest.raises(RagdataError, match=r"gold\.json\.gz is damaged"):
        evaluated(folder, qrels=packed)


def test_questions_that_lie_apart(reefs: Path, tmp_path: Path) -> None:
    questions = write_lines(
        tmp_path / "asked.jsonl",
        [
            {"_id": 7, "query": "who mapped the reef", "gold": ["d1"], "type": "a"},
            {
                "id": "8",
                "question": "when does the ferry cross",
                "supporting_documents": {"d3": 2, "d2": 0},
                "type": "b",
            },
            {"id": "9", "question": "what about birds"},
        ],
    )

    done = evaluated(reefs, questions=questions)

    assert (done.judged, done.without_gold, done.split) == (2, 1, None)
    assert [q.question_id for q in done.runs[0].questions] == ["7", "8"]
    assert list(done.runs[0].by_type) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "no questions and no judgements"),
        ('{"id": "1", "question": "q"}\n{broken\n', r"asked\.jsonl:2 is not JSON"),
        ('{"question": "q"}\n[1]\n', "a question without an id"),
        ("[3]", "expected an object"),
        ('{"id": true, "question": "q"}\n', "a question without an id"),
        ('{"id": "1", "question": "q", "gold": {"d": "high"}}\n', "'high', expected ids, or ids with integer grades"),
        ('{"id": "1", "question": "q", "gold": {"d": NaN}}\n', "is not JSON"),
        ('{"id": "1", "question": "q", "gold": 5}\n', "the gold of '1' is 5"),
        ('{"q1": null}', "the gold of 'q1' is None"),
        ("[" * 100_000, "is not JSON"),
        ('{"q1": ["d1"]}', "has no questions"),
    ],
    ids=lambda value: None if len(value) < 60 else "long",
)
def test_question_files_that_are_none(reefs: Path, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "asked.jsonl"
    path.write_text(text)

    with pytest.raises(RagdataError, match=message):
        evaluated(reefs, questions=path)


def test_no_gold_is_said_and_answers_are_looked_for(tmp_path: Path) -> None:
    folder = tmp_path / "lights"
    folder.mkdir()
    chunks = ["The lighthouse of Skarn was lit in 1871.", "A fog bell hung below the lamp.", "Ada Brandt kept it."]
    (folder / "chunks.json").write_text(str([f"{n}:{text}" for n, text in enumerate(chunks)]).replace("'", '"'))
    questions = [("s1", "When was the lighthouse of Skarn lit?", "1871"), ("s2", "What hung below it?", "an anchor")]
    write_lines(folder / "questions.json", [[{"id": i, "question": q, "answer": a} for i, q, a in questions]])

    done = evaluated(folder, modes=["bm25"])

    assert (done.judged, done.questions, done.runs) == (0, 2, [])
    (found,) = done.answers_in_top
    assert (found.asked, found.at[1], found.ceiling) == (2, 0.5, 0.5)
    with pytest.raises(RagdataError, match="its questions have no gold, so no metric can be held to a minimum"):
        evaluated(folder, minimums={"mrr": 0.5})


@pytest.mark.parametrize(
    ("questions", "splits", "message"),
    [
        ({}, {}, "there are no questions .*--questions FILE gives them"),
        (QUESTIONS, {}, "neither gold nor answers; --qrels FILE gives judgements"),
    ],
    ids=["questions", "gold"],
)
def test_what_is_missing_is_said(
    tmp_path: Path, questions: dict[str, str], splits: dict[str, dict[str, dict[str, int]]], message: str
) -> None:
    with pytest.raises(RagdataError, match=message):
        evaluated(write_beir(tmp_path / "reefs", questions=questions, splits=splits))


def test_titles_are_reported_for_what_the_worst_questions_name(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={"test": {"q1": {"d5": 1}}})

    done = evaluated(folder, worst=1)

    assert done.titles["d5"] == REEFS["d5"]
    assert set(done.titles) >= {"d1", "d5"}


def test_two_evaluations_are_equal(tmp_path: Path) -> None:
    folder = write_beir(tmp_path / "reefs", splits={"test": {q: {"d4": 1, **g} for q, g in QRELS.items()}})

    first, second = evaluated(folder, compare=("bm25", "bm25")), evaluated(folder, compare=("bm25", "bm25"))

    assert first.comparisons == second.comparisons
    assert [r.scores for r in first.runs] == [r.scores for r in second.runs]
    assert first.findings == second.findings


def test_hostile_texts_and_ids(tmp_path: Path) -> None:
    documents = {"a\u202eb": "reef", "../x": "ferry", "\ud800": "quay", "": "none", "e\u0301": ""}
    questions = {"q\x1b[31m": "reef", "q\ud800": "", "q3": "\x00\x07 ferry"}
    judged = {"q\x1b[31m": {"a\u202eb": 1}, "q3": {"../x": 1, "nowhere": 1}}
    tables = tables_of(
        documents=[Document(k, v) for k, v in documents.items()],
        questions=[Question(k, v) for k, v in questions.items()],
        qrels=[Qrel(q, d, g) for q, t in judged.items() for d, g in t.items()],
    )
    gold = read_gold(tables)
    passages = passages_of(tmp_path / "p", [Passage(k, v) for k, v in documents.items()])
    searcher = ReportingSearcher({"q\x1b[31m": [4, 2, 0], "q3": [1]})

    run = search_run(searcher, passages, "bm25", gold.judged, "document", 10)
    result = run_result(run, gold, ["mrr", "recall@10"], 10, NO_CHECKS)

    assert scores(result) == pytest.approx({"mrr": (1 / 3 + 1) / 2, "recall@10": 0.75})


@pytest.mark.broad(5)
@pytest.mark.parametrize(
    ("name", "options", "least"),
    [
        ("scifact-beir", {}, {"ndcg@10": 0.679, "recall@100": 0.92}),
        ("cranfield", {"topics": "position"}, {"ndcg@10": 0.375, "map": 0.27, "mrr": 0.48}),
        ("contextual-retrieval", {}, {"recall@10": 0.84}),
    ],
    ids=["scifact", "cranfield", "cookbook"],
)
def test_published_numbers_are_reached(name: str, options: dict[str, str], least: dict[str, float]) -> None:
    done = evaluated(published(name), modes=["bm25"], options=options, minimums=least)

    (run,) = done.runs
    assert run.sanity.aligned
    assert {n: v for n, v in scores(run).items() if v < least.get(n, 0)} == {}
    assert {f.rule for f in done.findings if f.severity == "error"} <= {"gold-without-text"}


@pytest.mark.broad(5)
def test_a_wrong_join_is_flagged() -> None:
    done = evaluated(published("cranfield"), modes=["bm25"], options={"topics": "number"})

    assert done.runs[0].sanity.aligned is False
    assert [f.rule for f in done.findings if f.severity == "error"] == ["gold-not-aligned"]
