"""The findings of an evaluation: each rule where it is broken, none where it is not; paths, costs, counts."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")

from ragdatakit import evaluate
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.gold_and_metrics.ceiling import ceiling
from ragdatakit.retrieval.gold_and_metrics.checks import check_evaluation
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion, read_gold
from ragdatakit.retrieval.gold_and_metrics.gold_causes import GoldCauses
from ragdatakit.retrieval.gold_and_metrics.gold_facts import read_gold_facts
from ragdatakit.retrieval.gold_and_metrics.moved_gold import moved_gold
from ragdatakit.retrieval.passages import Passage, Passages
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas import all_rules, find_rules
from ragdatakit.schemas.canonical import Qrel, Question
from ragdatakit.schemas.conversions import Losses
from ragdatakit.schemas.evaluations import QuestionResult, RunResult, Sanity, Score
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.rules.evaluation import RULES
from tests.command_line import run as run_command
from tests.conversion_tools import tables_of
from tests.evaluation_tools import corpus_of

GOOD = Sanity({}, 30.0, True)


def gold_of(*questions: GoldQuestion, unit: str = "document", split: str | None = None) -> Gold:
    return Gold(unit, split, questions, {None: len(questions)}, {})


def result(
    name: str = "bm25", sanity: Sanity = GOOD, scores: Mapping[str, float] | None = None, **found: Any
) -> RunResult:
    """A run; ``found`` has the ranks of the gold by question."""
    questions = tuple(
        QuestionResult(q, "?", None, {}, tuple(ranks), (), None, tuple(ranks.values())) for q, ranks in found.items()
    )
    by_name = {metric: Score(mean, mean, mean, 3) for metric, mean in (scores or {}).items()}
    return RunResult(name, by_name, {}, questions, sanity, 100)


def reported(findings: list[Finding]) -> list[tuple[str, Any]]:
    return [(f.rule, f.value) for f in findings]


def checked(gold: Gold, passages: Passages, **words: Any) -> list[Finding]:
    """The findings about gold and corpus."""
    facts = read_gold_facts(gold, passages)
    best = ceiling(gold, facts, ("recall@10", "ndcg@10", "mrr"))
    return check_evaluation(gold, (), "data", facts=facts, ceiling=best, passages=passages, **words)


ASKED = GoldQuestion("q", "which ferry?", {"a": 1}, ("Tide",))


def test_a_sound_evaluation_has_no_findings(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("a", "tide"), Passage("b", "bus"))
    gold = gold_of(ASKED)
    runs = (result(scores={"recall@10": 0.8}, q={"a": 3}),)
    tables = tables_of(questions=[Question("q", "which ferry?")], qrels=[Qrel("q", "a")])
    facts = read_gold_facts(gold, passages)

    found = check_evaluation(
        gold, runs, "data", facts=facts, passages=passages, tables=tables, minimums={"recall@10": 0.8}
    )

    assert found == []


def test_gold_that_is_not_aligned_with_any_run() -> None:
    wrong = Sanity({"ndcg@10": 0.0097}, 1.32, False)
    bad = result(sanity=wrong, scores={"ndcg@10": 0.0128}, q={"a": None})

    (finding,) = check_evaluation(gold_of(ASKED), (bad,), "data", files={"qrels": "data/qrels.tsv"})
    beside_a_good_one = check_evaluation(gold_of(ASKED), (bad, result("graph", q={"a": 1})), "data")

    assert (finding.rule, finding.severity, finding.path, finding.value) == (
        "gold-not-aligned",
        "error",
        "data/qrels.tsv",
        "bm25",
    )
    assert "1.3 times what gold of other questions gives (0.0128 and 0.0097)" in finding.message
    assert beside_a_good_one == []


def of_format(name: str) -> CanonicalTables:
    return CanonicalTables("data", name, {}, Losses())


def test_advice_for_topics_is_given_for_trec_alone() -> None:
    bad = result(sanity=Sanity({"ndcg@10": 0.1}, 1.0, False))
    hints = {
        name: check_evaluation(gold_of(ASKED), (bad,), "data", tables=of_format(name))[0].hint
        for name in ("beir", "trec")
    }

    assert ("topics=position" in hints["beir"], "topics=position" in hints["trec"]) == (False, True)


def test_questions_in_another_language_are_no_wrong_join() -> None:
    foreign = Sanity({"ndcg@10": 0.0}, None, False, without_token=2)
    bm25 = result(sanity=foreign, a={"x": None}, b={"y": None}, c={"z": None})
    others = [result(n, sanity=Sanity({}, None, False), a={"x": None}) for n in ("graph", "contextual", "lightrag-mix")]
    dense = result("dense", sanity=Sanity({}, None, False), a={"x": None})

    (finding,) = check_evaluation(gold_of(ASKED), (bm25, *others), "data")

    assert (finding.rule, finding.severity) == ("questions-without-term", "error")
    assert finding.message.startswith("2 of 3 questions have no term in the index;")
    assert "language" in finding.hint
    assert [f.value for f in check_evaluation(gold_of(ASKED), (bm25, dense), "data")] == ["dense", "bm25"]
    half = replace(bm25, sanity=replace(foreign, without_token=1))
    assert reported(check_evaluation(gold_of(ASKED), (half,), "data")) == [("gold-not-aligned", "bm25")]


@pytest.mark.parametrize(
    ("missed", "never", "own", "warned"),
    [
        (0, 0, 0.02, False),
        (20, 0, 0.02, False),
        (21, 0, 0.02, True),
        (10, 8, 0.11, True),
        (10, 8, 0.02, False),
        (10, 7, 0.11, False),
        (10, 8, 0.3, False),
    ],
    ids=["sound", "half", "most-miss", "no-common-term", "common-terms", "few-never", "other-words"],
)
def test_gold_that_is_partly_that_of_other_questions(missed: int, never: int, own: float, warned: bool) -> None:
    sanity = replace(GOOD, no_common_token=own, no_common_token_shuffled=0.4)
    ranks = [None] * never + [11] * (missed - never) + [1] * (40 - missed)
    questions = tuple(QuestionResult(f"q{n}", "?", None, {}, ("d",), (), rank, (rank,)) for n, rank in enumerate(ranks))
    gold = gold_of(*(GoldQuestion(f"q{n}", "?", {"d": 1}) for n in range(40)))

    def found(run: RunResult) -> list[Finding]:
        return [f for f in check_evaluation(gold, (run,), "data") if f.rule == "gold-perhaps-misjoined"]

    run = RunResult("bm25", {}, {}, questions, sanity, 100)
    assert [f.severity for f in found(run)] == ["warning"] * warned
    assert found(replace(run, name="graph")) == found(replace(run, depth=5)) == []
    assert found(replace(run, questions=questions[:19])) == []


def test_gold_that_is_nowhere_is_said_once_with_ids_to_compare(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("d0", "tide"), Passage("d1", "bus"))
    gold = gold_of(GoldQuestion("p", "?", {"doc-0": 1}), GoldQuestion("q", "?", {"doc-1": 1}))
    some = gold_of(GoldQuestion("p", "?", {"doc-0": 1}), GoldQuestion("q", "?", {"d1": 1}))

    (finding,) = [f for f in checked(gold, passages) if f.rule == "no-gold-in-corpus"]

    assert finding.message.startswith(
        "none of the 2 gold documents is in the corpus: gold names 'doc-0', the corpus has 'd0';"
    )
    assert finding.hint.startswith("compare the ids")
    assert "no-gold-in-corpus" not in {f.rule for f in checked(some, passages)}


def test_gold_that_is_nowhere_is_shown_beside_the_same_id_written_otherwise(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("7", "tide"), Passage("31", "bus"), Passage("8", "train"))
    gold = gold_of(GoldQuestion("p", "?", {"9.0": 1, "31.0": 1}), GoldQuestion("q", "?", {"8.0": 1}))

    (finding,) = [f for f in checked(gold, passages) if f.rule == "no-gold-in-corpus"]

    assert "gold names '31.0', the corpus has '31';" in finding.message
    assert finding.hint == "write the ids of the judgements as the corpus has them: 2 of 3 are there written otherwise"


def test_a_source_that_cannot_be_validated_is_not_sent_there(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("a", "tide"), Passage("b", "tide"))
    hints = {
        name: next(f.hint for f in checked(gold_of(ASKED), passages, tables=of_format(name)) if f.code == "EV204")
        for name in ("beir", "contextual-retrieval", "table")
    }

    assert [("validate" in hint) for hint in hints.values()] == [True, True, False]
    assert hints["table"] == "remove the copies, or judge all of them"


def test_a_run_that_finds_nothing_is_said_to() -> None:
    (finding,) = check_evaluation(gold_of(ASKED), (result(sanity=Sanity({}, None, False)),), "data")

    assert "finds none of it in the first 10 results" in finding.message


def test_the_best_run_has_to_reach_the_minimum() -> None:
    runs = (result(scores={"recall@10": 0.61}), result("graph", scores={"recall@10": 0.79999}))

    def missed(**minimums: float) -> list[str]:
        named = {name.replace("_", "@"): value for name, value in minimums.items()}
        return [f.message for f in check_evaluation(gold_of(ASKED), runs, "data", minimums=named)]

    assert missed(recall_10=0.79) == missed(recall_10=0.79999 + 1e-12) == []
    assert missed(recall_10=0.9)[0].startswith("recall@10 is 0.8000 in run graph, the best, below the minimum of 0.9;")
    assert [m.partition(";")[0] for m in missed(recall_10=0.8)] == [
        "recall@10 is 0.799990000 in run graph, the best, below the minimum of 0.8"
    ]
    assert len(missed(recall_10=float("nan"))) == 1
    assert "not known" in missed(ndcg_10=0.1)[0]
    assert "not known" in check_evaluation(gold_of(), (), "data", minimums={"mrr": 0.1})[0].message


def test_passages_that_do_not_find_themselves() -> None:
    low, few, fine = (
        replace(GOOD, self_retrieval=s, self_retrieval_count=c) for s, c in ((0.5, 200), (0, 5), (0.8, 200))
    )

    found = check_evaluation(
        gold_of(ASKED), [result(s, sanity) for s, sanity in zip("abc", (low, few, fine), strict=True)], "d"
    )

    assert reported(found) == [("self-retrieval-low", "a")]
    assert "only 50% of 200 passages" in found[0].message


def test_gold_that_is_not_there_or_empty_with_its_cost(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("a", "tide"), Passage("e", " -- "))
    gold = gold_of(
        ASKED,
        GoldQuestion("p", "x", {"gone": 1, "e": 1}),
        *(GoldQuestion(f"r{n}", "y", {"gone": 1, "a": 1}) for n in range(4)),
    )

    found = checked(gold, passages, files={"qrels": "data/qrels.tsv", "documents": "data/corpus.jsonl"})

    assert [(f.rule, f.severity, f.value, f.path) for f in found] == [
        ("gold-not-in-corpus", "error", "gone", "data/qrels.tsv"),
        ("gold-without-text", "warning", "e", "data/corpus.jsonl"),
    ]
    assert found[0].message.startswith(
        "document gone is gold for questions p, r0, r1 and 2 more, and not in the corpus;"
    )
    assert found[0].message.endswith("(all such cases cost 0.4167 of recall@10)")


def test_gold_whose_id_is_written_otherwise_in_the_corpus(tmp_path: Path) -> None:
    there = ("d001", "Doc-7", "a1", "a01", "b_20", "100")
    passages = corpus_of(tmp_path / "p", *(Passage(name, "tide") for name in there))
    named = {"d1": "d001", "doc 07": "Doc-7", "A001": "", "b2": "", "b 20": "b_20", "1": "", "0100": "100", "--": ""}
    gold = gold_of(GoldQuestion("q", "x", {**dict.fromkeys(named, 1), "d001": 1}))

    found = [f for f in checked(gold, passages) if f.rule == "gold-not-in-corpus"]

    assert {f.value: f.message.partition(";")[0] for f in found} == {
        target: f"document {target} is gold for question q, and not in the corpus" for target in named
    }
    assert {f.value: f"; the corpus has {named[f.value]}; " in f.message for f in found if f.value} == {
        target: bool(other) for target, other in named.items()
    }


def test_gold_that_no_run_finds(tmp_path: Path) -> None:
    gold = gold_of(GoldQuestion("q", "x", {"a": 1, "b": 1, "c": 1}), GoldQuestion("p", "y", {"a": 1}), ASKED)
    runs = (result(q={"a": 4, "b": None, "c": None}, p={"a": None}), result("graph", q={"a": None, "b": 9, "c": None}))

    found = check_evaluation(gold, runs, "data")
    without = check_evaluation(
        gold, runs, "data", facts=read_gold_facts(gold, corpus_of(tmp_path / "p", Passage("a", "x")))
    )

    assert reported(found) == [("gold-never-found", "p"), ("gold-never-found", "q")]
    assert found[1].message.startswith(
        "question q: no run finds 1 of its 3 gold documents in the first 100 results (c);"
    )
    assert [f.value for f in without if f.rule == "gold-never-found"] == ["p"]


def test_copies_of_gold_and_questions_in_the_corpus(tmp_path: Path) -> None:
    passages = corpus_of(
        tmp_path / "p", Passage("a", "tide"), Passage("b", "tide "), Passage("c", "which ferry?"), Passage("d", "tide")
    )
    gold = gold_of(
        ASKED, GoldQuestion("all", "x", {"a": 1, "b": 1, "d": 1}), GoldQuestion("own", "which ferry?", {"c": 1})
    )

    found = checked(gold, passages)

    assert reported(found) == [("identical-texts-one-gold", "a"), ("question-in-corpus", "q")]
    assert "a, gold for question q, has the same text as b, d, not gold there" in found[0].message
    assert re.search(r"\(all such cases cost 0\.\d{4} of \S+\)$", found[0].message)


@pytest.mark.parametrize("judged", [0, 1])
def test_questions_without_gold(judged: int) -> None:
    others = [GoldQuestion(f"r{n}", "y", {"a": 0}) for n in range(3)]

    (finding,) = check_evaluation(gold_of(*[ASKED][:judged], *others), (), "data")

    assert (finding.rule, finding.severity) == ("no-gold", "info" if judged else "warning")
    assert finding.message.startswith(f"3 of {3 + judged} questions have no gold;")


@pytest.mark.parametrize(
    ("answers", "missing"),
    [
        (("Low Tide",), True),
        (("high tide",), False),
        (("tide, high",), False),
        (("Oslo",), True),
        (("Oslo", "harbour"), False),
        (("yes",), False),
        (("1,000 boats",), False),
        (("seven",), False),
        (("e-mails",), False),
        (("word " * 40,), False),
        (("港町",), True),
        ((), False),
    ],
    ids=lambda v: None if isinstance(v, bool) else (v[0][:12].strip() if v else "none"),
)
def test_answers_that_no_gold_has(tmp_path: Path, answers: tuple[str, ...], missing: bool) -> None:
    passages = corpus_of(
        tmp_path / "p", Passage("a", "At high tide,"), Passage("b", "emails", "Harbour"), Passage("c", "low Oslo 港町")
    )
    gold = gold_of(
        GoldQuestion("q", "x", {"a": 1, "b": 1, "gone": 1, "c": 0}, answers),
        GoldQuestion("p", "x", {"gone": 1}, ("Rome",)),
    )

    found = [f for f in checked(gold, passages) if f.rule == "answer-not-in-gold"]

    assert reported(found) == [("answer-not-in-gold", "q")] * missing


def test_the_answer_may_stand_in_any_chunk_of_a_document(tmp_path: Path) -> None:
    chunks = [Passage(f"a{n}", text, None, None, "a") for n, text in enumerate(("one", "tide"))]

    assert checked(gold_of(ASKED), corpus_of(tmp_path / "p", *chunks, unit="chunk")) == []


def leaks(evaluated: str = "test", **rows: Any) -> list[tuple[str, Any]]:
    tables = tables_of(**rows)
    return reported(check_evaluation(read_gold(tables, evaluated), (), "data", tables=tables))


def test_questions_that_stand_in_train() -> None:
    questions = [
        Question("same-gold", "Which ferry?"),
        Question("other-gold", "Which bus?"),
        Question("same-id", "Which tide?"),
        Question("alone", "Which port?"),
        Question("t1", "which  ferry"),
        Question("t2", "which bus?"),
        Question("dev", "which port?"),
    ]
    judged = [("same-gold", "a"), ("other-gold", "a"), ("same-id", "b"), ("alone", "c")]
    trained = [("t1", "a"), ("t1", "z"), ("t2", "b"), ("same-id", "b")]
    qrels = [
        *(Qrel(q, t, 1, "document", "test") for q, t in judged),
        *(Qrel(q, t, 1, "document", "train") for q, t in trained),
        Qrel("dev", "c", 1, "document", "dev"),
        Qrel("t2", "a", 0, "document", "train"),
    ]

    assert leaks(questions=questions, qrels=qrels) == [
        ("answered-by-duplicate-in-train", "same-gold"),
        ("answered-by-duplicate-in-train", "same-id"),
    ]
    assert leaks("train", questions=questions, qrels=qrels) == []


def test_a_duplicate_in_train_without_judgements_has_the_answer() -> None:
    questions = [
        Question("q", "Which ferry?", "The Tide", split="test"),
        Question("p", "Which bus?", "Nine", split="test"),
        Question("t", "which ferry", "the tide", split="train"),
        Question("u", "which bus", "ten", split="train"),
        Question("v", "", "", split="train"),
    ]
    qrels = [Qrel(q, "a", 1, "document", "test") for q in "qp"]

    assert leaks(questions=questions, qrels=qrels) == [("answered-by-duplicate-in-train", "q")]


def test_the_only_judged_split_is_compared_with_train() -> None:
    questions = [Question("q", "Which ferry?", "The Tide"), Question("t", "which ferry", "the tide", split="train")]

    def found(split: str | None) -> list[tuple[str, str | None]]:
        tables = tables_of(questions=questions, qrels=[Qrel("q", "a", 1, "document", split)])
        return reported(check_evaluation(read_gold(tables), (), "data", tables=tables))

    leaked = [("answered-by-duplicate-in-train", "q")]
    assert [f for f in found("test") if f in leaked] == leaked
    assert [f for f in found("train") + found(None) if f in leaked] == []


@pytest.mark.parametrize(
    ("never", "message"),
    [
        (1, "question q: no run finds its gold document in the first 100 results (g0);"),
        (2, "question q: no run finds any of its 2 gold documents in the first 100 results (g0, g1);"),
    ],
)
def test_gold_of_which_none_is_found(never: int, message: str) -> None:
    grades = {f"g{n}": 1 for n in range(never)}
    found = check_evaluation(gold_of(GoldQuestion("q", "x", grades)), (result(q=dict.fromkeys(grades)),), "data")

    assert found[0].message.startswith(message)


def test_some_of_each_rule_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    gold = gold_of(*(GoldQuestion(f"q{n}", "x", {f"gone{n}": 1}) for n in range(50)))
    passages = corpus_of(tmp_path / "p", Passage("a", "x"))
    counts: Counter[str] = Counter()

    found = checked(gold, passages, counts=counts)

    assert [f.value for f in found if f.code == "EV201"] == [f"gone{n}" for n in range(20)]
    assert counts == {"EV106": 1, "EV201": 50, "EV205": 50}
    assert len(checked(gold, passages, most=0)) == 101


def test_hostile_ids_are_shown_on_one_line(tmp_path: Path) -> None:
    names = ("a\nb", "\x1b[31m", "\ud800", "", "x" * 5000, "\u202e")
    gold = gold_of(*(GoldQuestion(name, name, {f"{name}!": 1}, (name,)) for name in names))

    found = checked(gold, corpus_of(tmp_path / "p", Passage("a", "x")))

    assert len([f for f in found if f.rule == "gold-not-in-corpus"]) == len(names)
    assert all(f.message.isprintable() and len(f.message) < 600 for f in found)
    json.dumps([f.as_dict() for f in found], ensure_ascii=False).encode()


def test_errors_come_first_and_then_the_order_of_the_rules(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("a", "bus"), Passage("b", "bus"))
    gold = gold_of(ASKED, GoldQuestion("p", "x", {"gone": 1}))

    found = checked(gold, passages, minimums={"mrr": 1})

    assert [f.code for f in found] == ["EV102", "EV201", "EV204", "EV301"]


def test_judged_questions_that_are_not_there() -> None:
    judged = [("q", "a", 1), ("gone", "a", 1), ("lost", "b", 1)]
    tables = tables_of(
        questions=[Question("q", "?"), Question("p", "?")], qrels=[Qrel(q, d, grade) for q, d, grade in judged]
    )

    (finding,) = (f for f in check_evaluation(read_gold(tables), (), "data") if f.code == "EV207")

    assert (finding.rule, finding.severity) == ("judged-question-not-there", "warning")
    assert finding.message.startswith("2 of 3 judged questions are not among the 2 questions; they are left out")


def test_a_near_copy_above_the_gold(tmp_path: Path) -> None:
    """Where the text is the same to the last word there is another rule for it."""
    text = "the tug osprey left the harbour at noon with the barge and came back in the evening"
    texts = {
        "near": text,
        "gold": f"{text} today",
        "same": "gulls eat fish",
        "twin": "gulls eat fish",
        "e": "an orchard",
    }
    (tmp_path / "qrels").mkdir()
    lines = (json.dumps({"_id": name, "text": words}) for name, words in texts.items())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    asked = {"q1": "what left the tug osprey", "q2": "gulls"}
    (tmp_path / "queries.jsonl").write_text("\n".join(json.dumps({"_id": q, "text": t}) for q, t in asked.items()))
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\tgold\t1\nq2\ttwin\t1\n")

    done = evaluate(tmp_path, metrics=["ndcg@10"])

    found = {f.rule: f.message for f in done.findings if f.code in ("EV204", "EV208")}
    assert [*found] == ["identical-texts-one-gold", "near-copy-above-gold"]
    assert found["near-copy-above-gold"].startswith(
        "document gold is gold for question q1: near at rank 1 has nearly the same text; the near copy takes its place"
    )


def test_ids_that_are_shifted_and_texts_that_were_lost_are_said_as_such(tmp_path: Path) -> None:
    words = [f"boat{first}{second}" for first in "abcdefg" for second in "abcdef"]
    texts = {f"d{n}": words[n] for n in range(41)} | {f"c{n}": "We use cookies." for n in range(12)}
    gold = {f"q{n}": f"d{n + 1}" if n < 22 else f"d{n}" for n in range(38)} | {"q38": "c3", "q39": "c7", "q40": "c7"}
    (tmp_path / "qrels").mkdir()
    lines = (json.dumps({"_id": name, "text": text}) for name, text in texts.items())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    asked = (json.dumps({"_id": q, "text": f"where is {words[int(q[1:])]}"}) for q in gold)
    (tmp_path / "queries.jsonl").write_text("\n".join(asked))
    rows = "".join(f"{question}\t{target}\t1\n" for question, target in gold.items())
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")

    out = run_command("eval", tmp_path, "--metrics", "ndcg@10").out

    shift = (
        "he ids of the gold are perhaps shifted: in 22 of 41 questions its number is 1 above that of the passage found "
        "first (d1 where d0 is found)"
    )
    assert out.splitlines()[3] == f"T{shift}."
    (at,) = (n for n, line in enumerate(out.splitlines()) if line.startswith(f"EV104 warning t{shift};"))
    assert "are its ids counted from 0 and those of the corpus from 1" in out.splitlines()[at + 1]
    (one,) = (line for line in out.splitlines() if line.startswith("EV204"))
    assert one.startswith(
        "EV204 warning 12 documents have the text “We use cookies.”, among them c3, c7, gold for questions q38, q39, "
        "q40: their texts were perhaps lost; no retriever can distinguish them"
    )
    assert "→ look at these documents: where a banner" in out


def misjoined(folder: Path, names: Sequence[int], gold: Sequence[int]) -> Finding:
    """EV104 where question n asks for the document of number names[n], and gold[n] is judged."""
    boats = [f"boat{first}{second}" for first in "abcdefgh" for second in "abcdef"]
    texts = {
        "corpus": [{"_id": f"d{names[n]}", "text": boat} for n, boat in enumerate(boats)],
        "queries": [{"_id": f"q{n}", "text": f"where is {boat}"} for n, boat in enumerate(boats)],
    }
    for name, rows in texts.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels").mkdir()
    judged = "".join(f"q{n}\td{target}\t1\n" for n, target in enumerate(gold))
    (folder / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    (found,) = (f for f in evaluate(folder, metrics=["ndcg@10"]).findings if f.code == "EV104")
    return found


def test_ids_that_are_shifted_from_some_place_on(tmp_path: Path) -> None:
    names = range(48)

    found = misjoined(tmp_path, names, [n if n < 30 else n + 1 for n in names[:-1]])

    assert found.message.startswith(
        "the ids of the gold are perhaps shifted: in 17 of 47 questions its number is 1 above that of the passage "
        "found first (d31 where d30 is found); "
    )


def test_judgements_that_were_moved_by_a_question(tmp_path: Path) -> None:
    names = [*range(48)]
    random.Random(3).shuffle(names)

    found = misjoined(tmp_path, names, [names[n] if n < 24 else names[n - 1] for n in range(48)])

    assert found.message.startswith(
        "judgements were perhaps moved from question to question: 23 of 48 questions find first what is gold "
        "1 question later (question q24 the gold of q25)"
    )
    assert "compare the gold of one question with the next" in found.hint


def test_neighbours_that_are_alike_were_not_moved() -> None:
    """Each fifth question finds the gold of the next one first, the others their own."""
    judged = [GoldQuestion(f"q{n}", "?", {f"d{n}": 1}) for n in range(100)]

    def found(moved: Callable[[int], bool]) -> dict[str, list[str]]:
        return {f"q{n}": [f"d{n + moved(n)}", "d0"] for n in range(100)}

    assert moved_gold(judged, found(lambda n: n % 5 == 1)) is None
    moved = moved_gold(judged, found(lambda n: n in (3, 4) or n >= 60))
    assert moved is not None
    assert (moved.by, moved.count) == (1, 41)


@pytest.mark.parametrize("unit", ["document", "chunk"])
def test_a_banner_is_found_in_its_own_documents(unit: str, tmp_path: Path) -> None:
    """Also where each judged document is searched as one chunk: they are not in the order of their chunks then."""
    texts = {f"d{n}": "We use cookies." if n % 2 else f"the boat number {n}" for n in range(24)}
    rows = (Passage(name, text, title=f"title {name}", document_id=name) for name, text in texts.items())
    gold = gold_of(*(GoldQuestion(f"q{name}", "?", {name: 1}) for name in texts))

    facts = read_gold_facts(gold, corpus_of(tmp_path / "p", *rows, unit=unit))

    assert [*facts.bodies] == [name for name, text in texts.items() if text == "We use cookies."]


@pytest.mark.parametrize("others", [8, 12])
def test_a_banner_under_many_titles_took_the_place_of_texts(others: int, tmp_path: Path) -> None:
    texts = {f"d{n}": {"title": f"boat {'abcdefghijklm'[n]}", "text": "We use cookies."} for n in range(others)}
    texts["whole"] = {"title": "harbour", "text": "All ferries leave from here."}
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text("\n".join(json.dumps({"_id": i, **row}) for i, row in texts.items()))
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "ferries"}\n{"_id": "q2", "text": "where is boat c"}\n'
    )
    (tmp_path / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\twhole\t1\nq2\td2\t1\n")

    out = run_command("eval", tmp_path, "--metrics", "ndcg@10").out

    named = "12 documents have the text “We use cookies.”, among them d2, gold for question q2"
    lost = f"{named}: their texts were perhaps lost"
    assert (f"\n{lost}.\n" in out, f"EV204 warning {lost};" in out) == ((others == 12,) * 2)


@pytest.mark.parametrize(("towns", "years"), [(8, 7), (2, 30)])
def test_yearly_reports_are_neither_copies_nor_shifted(tmp_path: Path, towns: int, years: int) -> None:
    names = [f"{'ABCDEFGH'[n]}ldham" for n in range(towns)]
    reports = {
        f"{town}-{2015 + year}": f"Report {2015 + year} of {town}: the harbour, the market, the ferries, the quarry, "
        f"the school, the bridge, the mill, the museum and the orchards of the town earned {year * 37 + 11} crowns."
        for town in names
        for year in range(years)
    }
    (tmp_path / "qrels").mkdir()
    lines = (json.dumps({"_id": name, "text": words}) for name, words in reports.items())
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    asked = {f"q{n}": names[n % towns] for n in range(8)}
    questions = (json.dumps({"_id": q, "text": f"what did {town} earn"}) for q, town in asked.items())
    (tmp_path / "queries.jsonl").write_text("\n".join(questions))
    rows = "".join(f"{question}\t{town}-{2014 + years}\t1\n" for question, town in asked.items())
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")

    done = evaluate(tmp_path, metrics=["ndcg@10"])

    assert [f.message for f in done.findings if f.code == "EV208" or "shifted" in f.message] == []


@pytest.mark.parametrize(
    ("own", "other", "asked"),
    [
        ("in 2019", "in 2015", "what did the tug osprey tow to the port in 2019"),
        ("in 2019", "in 2015", "what did the tug osprey tow"),
        ("with seven", "with eight", "what did the tug osprey tow"),
        ("with magda", "with lena", "what did lena and the tug osprey tow"),
    ],
)
def test_texts_that_differ_in_what_decides_are_no_copies(tmp_path: Path, own: str, other: str, asked: str) -> None:
    text = "tug osprey towed barge with slate, sand, lime, coal, ore, salt, grain, malt, hops, iron from pit to port"
    passages = corpus_of(tmp_path, Passage("a", f"{text} {other}"), Passage("b", f"{text} {own}"))
    tokenizer = Tokenizer()
    question = gold_of(GoldQuestion("q", asked, {"b": 1})).judged[0]

    for mode in ("bm25", "dense"):
        causes = GoldCauses(passages, tokenizer, lambda _: True, ["b"], "document", mode, k=10, depth=10)
        assert causes.asked(question, ["a", "b"])("b", 2) is None


def test_the_rules_are_known_to_the_commands_but_not_to_validate(tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()

    assert {rule.code for rule in RULES} <= {rule.code for rule, _ in all_rules()}
    assert find_rules("ev101")[0][0].name == "gold-not-aligned"
    assert "EV302" in run_command("rules").out
    assert "What to do: " in run_command("explain", "below-minimum").out
    assert run_command("validate", tmp_path, "--select", "EV101").code == 2


def test_texts_that_were_cut_off_are_named_and_not_wrong_judgements(tmp_path: Path) -> None:
    """Half of the questions ask for what was cut off."""
    words = "boat canal winter harbour repaired committee perseverance superintendent".split()
    choose = random.Random(5)
    names = [f"{first}{last}" for first in words for last in ("stone", "wood", "field", "way")]
    texts = [f"{' '.join(choose.choices(words, k=30)).capitalize()[:200]} {name}" for name in names]
    lines = {"queries": names, "corpus": texts}
    (tmp_path / "qrels").mkdir()
    judged = "".join(f"{n}\t{n}\t1\n" for n in range(len(names)))
    (tmp_path / "qrels/test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")

    def rules(most: int) -> set[str]:
        for file, rows in lines.items():
            kept = [text if file == "queries" or n % 4 == 0 else text[:most] for n, text in enumerate(rows)]
            written = (json.dumps({"_id": str(n), "text": text}) for n, text in enumerate(kept))
            (tmp_path / f"{file}.jsonl").write_text("\n".join(written))
        return {f.rule for f in evaluate(tmp_path, metrics=["ndcg@10"]).findings}

    whole, cut = rules(1000), rules(180)

    assert "gold-cut-off" not in whole
    assert "gold-cut-off" in cut
    assert cut.isdisjoint({"gold-perhaps-misjoined"})


def test_each_rule_is_broken_here() -> None:
    shown = Path(__file__).read_text(encoding="utf-8")

    assert [rule.name for rule in RULES if f'"{rule.name}"' not in shown] == []


def test_below_minimum_is_an_error() -> None:
    (finding,) = check_evaluation(gold_of(ASKED), (result(scores={"mrr": 0.2}),), "data", minimums={"mrr": 0.3})

    assert (finding.rule, finding.severity, finding.value, finding.path) == ("below-minimum", "error", "mrr", "data")
