"""Checks beside the metrics: they tell noise from a metric, and do not cry wolf over small sets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")

from ragdatakit.retrieval.gold_and_metrics.answers_in_texts import flattened, in_corpus, sought
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion, read_gold
from ragdatakit.retrieval.gold_and_metrics.gold_facts import Copies, GoldFacts
from ragdatakit.retrieval.gold_and_metrics.metrics import measure
from ragdatakit.retrieval.gold_and_metrics.sanity import (
    MOST_QUESTIONS,
    answer_in_top,
    check_run,
    no_common_token,
    without_token,
)
from ragdatakit.retrieval.gold_and_metrics.self_retrieval import first_words, self_retrieval
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.passages import Passage, Passages
from ragdatakit.schemas.retrieved import Query
from tests.evaluation_tools import corpus_of, gold_of
from tests.upstream_data import UPSTREAM_DATA, needs


class Words:
    """The simplest of tokenizers."""

    def tokens(self, text: str) -> list[str]:
        return text.lower().split()


def judged(golds: dict[str, list[str]]) -> Gold:
    return gold_of(*(GoldQuestion(q, f"what is {q}", dict.fromkeys(targets, 1)) for q, targets in golds.items()))


def found_well(rng: random.Random, number: int, size: int, skill: float) -> tuple[dict[str, list[str]], Gold]:
    """A run of a retriever that finds so much of the gold, and its gold."""
    ids = [f"d{n}" for n in range(size)]
    run, golds = {}, {}
    for n in range(number):
        target = rng.choice(ids)
        others = [i for i in rng.sample(ids, min(11, size)) if i != target][:10]
        if rng.random() < skill:
            others.insert(rng.choice((0, 0, 0, 1, 3)), target)
        run[f"q{n}"], golds[f"q{n}"] = others, [target]
    return run, judged(golds)


def moved(gold: Gold) -> Gold:
    """The gold of each question given to the next."""
    grades = [q.grades for q in gold.questions]
    found = zip(gold.questions, [*grades[1:], *grades[:1]], strict=True)
    return gold_of(*(GoldQuestion(q.question_id, q.text, g) for q, g in found))


def verdicts(number: int, size: int, skill: float, wrong: bool) -> set[bool | None]:
    found = set()
    for seed in range(6):
        run, gold = found_well(random.Random(seed), number, size, skill)
        found.add(check_run(run, moved(gold) if wrong else gold, seed=seed).aligned)
    return found


@pytest.mark.parametrize(
    ("number", "size"), [(8, 100), (20, 20), (60, 5000)], ids=["8-of-100", "20-of-20", "60-of-5000"]
)
def test_gold_that_is_found_is_aligned(number: int, size: int) -> None:
    assert verdicts(number, size, 0.9, wrong=False) == {True}


@pytest.mark.parametrize(
    ("number", "size"), [(40, 100), (120, 20), (60, 5000)], ids=["40-of-100", "120-of-20", "60-of-5000"]
)
def test_gold_that_belongs_to_other_questions_is_not(number: int, size: int) -> None:
    assert verdicts(number, size, 0.9, wrong=True) == {False}


@pytest.mark.parametrize("skill", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("size", [6, 12, 1000])
def test_a_poor_run_of_a_few_questions_proves_nothing(skill: float, size: int) -> None:
    assert False not in verdicts(5, size, skill, wrong=False)


def test_a_few_questions_are_enough_where_each_finds_the_gold_of_another() -> None:
    golds = {f"q{n}": [f"d{n}"] for n in range(6)}
    run = {f"q{n}": [f"d{(n + 1) % 6}", "x", "y"] for n in range(6)}

    assert check_run(run, judged(golds)).aligned is False
    assert check_run({q: [*t, "x"] for q, t in golds.items()}, judged(golds)).aligned is True


def test_gold_that_all_questions_share_tells_nothing() -> None:
    gold = judged({f"q{n}": ["d1"] for n in range(50)})

    sanity = check_run({f"q{n}": ["d1", "d2"] for n in range(50)}, gold)

    assert (sanity.aligned, sanity.ratio, sanity.shuffled) == (None, pytest.approx(1), {"ndcg@10": pytest.approx(1)})


@pytest.mark.parametrize("number", [100, 300])
def test_the_few_that_a_wrong_join_left_right_prove_nothing(number: int) -> None:
    """Each question finds its passage; all but four of the judgements went to the next question."""
    run = {f"q{n}": [f"d{n}", *(f"x{n}-{i}" for i in range(9))] for n in range(number)}
    golds = {f"q{n}": [f"d{n if n % (number // 4) == 0 else n - 1}"] for n in range(number)}

    assert check_run(run, judged(golds)).aligned is not True
    assert check_run(run, judged({q: [targets[0]] for q, targets in run.items()})).aligned is True


def test_questions_that_find_nothing_are_reported_apart_by_their_number() -> None:
    few, many = (judged({f"q{n}": [f"d{n}"] for n in range(number)}) for number in (10, 50))

    assert check_run({}, few).aligned is None
    assert (check_run({}, many).aligned, check_run({}, many).ratio) == (False, None)


def test_gold_with_many_copies_tells_nothing() -> None:
    golds = {f"q{n}": [f"d{n}"] for n in range(30)}
    run = {q: [f"d{n}" for n in range(10)] for q in golds}
    copies = Copies(11, tuple(f"d{n}" for n in range(5)))

    assert check_run(run, judged(golds)).aligned is False
    assert check_run(run, judged(golds), facts=GoldFacts(copies={f"d{n}": copies for n in range(30)})).aligned is None


def test_gold_that_is_not_there_does_not_count() -> None:
    gold = judged({f"q{n}": [f"d{n}"] for n in range(50)})
    lost = GoldFacts(missing=frozenset(f"d{n}" for n in range(50)))

    assert check_run({}, gold, ("mrr",), lost).aligned is None


@pytest.mark.parametrize("number", [0, 1])
def test_one_question_has_nobody_to_deal_with(number: int) -> None:
    sanity = check_run({"q0": ["d0"]}, judged({f"q{n}": ["d0"] for n in range(number)}))

    assert (sanity.shuffled, sanity.ratio, sanity.aligned) == ({}, None, None)


def test_the_shuffled_value_is_near_the_mean_over_all_other_questions() -> None:
    run, gold = found_well(random.Random(4), 40, 30, 0.6)
    names = ("ndcg@10", "recall@5", "mrr")

    sanity = check_run(run, gold, names)

    every = {name: [] for name in names}  # type: dict[str, list[float]]
    for shift in range(1, 40):
        ids = list(run)
        shifted = {q: gold.questions[(n + shift) % 40].grades for n, q in enumerate(ids)}
        for name, values in measure(run, shifted, names).items():
            every[name].append(float(values.mean()))
    for name in names:
        assert sanity.shuffled[name] == pytest.approx(np.mean(every[name]), abs=0.04)
    own = float(measure(run, {q.question_id: q.grades for q in gold.questions}, ("ndcg@10",))["ndcg@10"].mean())
    assert sanity.ratio == pytest.approx(own / sanity.shuffled["ndcg@10"])
    assert check_run(run, gold, names) == sanity


def test_many_questions_are_sampled() -> None:
    run, gold = found_well(random.Random(4), MOST_QUESTIONS + 500, 3000, 0.7)

    sanity = check_run(run, gold, ("ndcg@10",))

    assert sanity.aligned is True
    assert 0 < sanity.shuffled["ndcg@10"] < 0.01


class Exact:
    """Finds the passages whose text begins as the query does, in their order."""

    def __init__(self, passages: Passages) -> None:
        self.texts = [" ".join(p.text.split()) for p in passages]
        self.asked: list[str] = []

    def rank(self, queries: Sequence[Query], k: int) -> list[Ranking]:
        self.asked += [q.text for q in queries]
        found = [[n for n, text in enumerate(self.texts) if text.startswith(q.text)][:k] for q in queries]
        return [Ranking(np.array(f, np.int64), np.ones(len(f))) for f in found]


def test_passages_find_themselves_or_their_copies(tmp_path: Path) -> None:
    texts = ["alpha beta", "gamma  delta", "gamma delta", "alpha beta gamma", "", "?!"]
    passages = corpus_of(tmp_path / "p", *(Passage(f"d{n}", text) for n, text in enumerate(texts)))

    whole, first = (
        self_retrieval(Exact(passages).rank, passages),
        self_retrieval(Exact(passages).rank, passages, words=1),
    )

    assert whole == (1.0, 4)
    assert first == (0.75, 4)
    assert self_retrieval(Exact(passages).rank, corpus_of(tmp_path / "none")) == (None, 0)


@pytest.mark.parametrize(("document", "share"), [("a", 1.0), ("b", 0.5)])
def test_chunks_that_overlap_find_each_other(document: str, share: float, tmp_path: Path) -> None:
    """The words that begin one chunk end the one before; in another document they are those of another text."""
    chunks = (
        Passage("a#0", "now tide and moon", document_id=document),
        Passage("a#1", "tide and moon", None, None, "a"),
    )
    passages = corpus_of(tmp_path / "p", *chunks)

    def rank(queries: Sequence[Query], k: int) -> list[Ranking]:
        return [Ranking(np.array([0], np.int64), np.ones(1)) for _ in queries]

    assert self_retrieval(rank, passages) == (share, 2)


def test_a_sample_of_passages_is_asked(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", *(Passage(f"d{n}", f"text number {n} ends") for n in range(50)))
    ranker = Exact(passages)

    assert self_retrieval(ranker.rank, passages, count=20) == (1.0, 20)
    assert len(set(ranker.asked)) == 20


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("a b  c\nd e", "a b c"),
        ("渡し船は九時に港を出て対岸へ向かう", "渡し船は九時に港を"),
        ("...", ""),
        ("", ""),
        ("a", "a"),
    ],
    ids=["words", "japanese", "points", "empty", "one"],
)
def test_first_words(text: str, first: str) -> None:
    assert first_words(text, 3) == first


def test_pairs_without_a_common_token(tmp_path: Path) -> None:
    passages = corpus_of(tmp_path / "p", Passage("a", "tide table"), Passage("b", "bus", "Tide"), Passage("c", ""))
    gold = gold_of(
        GoldQuestion("q", "the TIDE", {"a": 1, "b": 2, "c": 1, "gone": 1}), GoldQuestion("p", "bus", {"a": 1, "b": 0})
    )

    assert no_common_token(gold, passages, Words()) == 0.5
    assert no_common_token(gold_of(GoldQuestion("q", "x", {"gone": 1})), passages, Words()) is None
    assert without_token(gold, {"tide"}.__contains__, Words()) == 1


def test_a_document_has_the_tokens_of_its_chunks(tmp_path: Path) -> None:
    chunks = [Passage("a0", "tide", None, None, "a"), Passage("a1", "bus", None, None, "a"), Passage("b0", "x")]
    passages = corpus_of(tmp_path / "p", *chunks, unit="chunk")
    gold = gold_of(GoldQuestion("q", "bus", {"a": 1}), GoldQuestion("p", "bus", {"b0": 1}))

    assert no_common_token(gold, passages, Words()) == 0.5


def asking(*answers: str) -> GoldQuestion:
    return GoldQuestion("q", "?", answers=answers)


@pytest.mark.parametrize(
    ("answers", "wanted"),
    [
        (("Yes",), ()),
        (("no.",), ()),
        (("...",), ()),
        ((), ()),
        (("yes", "indeed"), ()),
        (("The A-Rings!", "the a rings", "B"), (" the a rings ", " b ")),
        (("９時", "no"), (" 9 時 ",)),
        (("word " * 30,), ()),
        (("STRASSE",), (" strasse ",)),
    ],
    ids=["yes", "no", "points", "none", "yes-alias", "aliases", "width", "long", "case"],
)
def test_what_is_looked_for(answers: tuple[str, ...], wanted: tuple[str, ...]) -> None:
    assert sought(asking(*answers)) == wanted


def test_answers_are_whole_tokens() -> None:
    assert " art " not in flattened("start")
    assert " art " in flattened("(Art)")
    assert flattened("時間") in flattened("短い時間です")
    assert flattened("Stra\u00dfe") == flattened("STRASSE") == " strasse "


def test_how_often_the_answer_stands_in_the_first_passages(tmp_path: Path) -> None:
    passages = corpus_of(
        tmp_path / "p", *(Passage(f"d{n}", t) for n, t in enumerate(("Oslo", "in Paris.", "Rome", "x")))
    )
    gold = gold_of(
        GoldQuestion("a", "?", answers=("paris",)),
        GoldQuestion("b", "?", answers=("Lutetia", "Rome")),
        GoldQuestion("c", "?", answers=("Oslo",)),
        GoldQuestion("d", "?", answers=("Atlantis",)),
        GoldQuestion("e", "?", answers=("yes",)),
        GoldQuestion("f", "?"),
    )

    found = answer_in_top("bm25", {"a": [1], "b": [0, 3, 2], "e": [1]}, gold, passages, (1, 3))

    assert found is not None
    assert (found.run, found.asked, found.at, found.ceiling) == ("bm25", 4, {1: 0.25, 3: 0.5}, 0.75)
    assert answer_in_top("bm25", {}, gold_of(asking("no")), passages) is None


def test_the_pass_over_the_corpus_finds_what_each_text_has(tmp_path: Path) -> None:
    rng = random.Random(7)
    letters = ["a", "b", "cc", "dd", "港"]
    for _ in range(20):
        texts = [" ".join(rng.choices(letters, k=rng.randint(0, 6))) for _ in range(6)]
        asked = {str(n): [flattened(" ".join(rng.choices(letters, k=rng.randint(1, 3))))] for n in range(8)}
        passages = corpus_of(tmp_path / "p", *(Passage(f"d{n}", text) for n, text in enumerate(texts)))

        expected = {key for key, (answer,) in asked.items() if any(answer in flattened(text) for text in texts)}
        assert in_corpus(asked, passages) == expected


@needs("cranfield")
def test_cranfield_joined_by_number_and_by_position(tmp_path: Path) -> None:
    pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
    from ragdatakit.api.search import open_retriever

    found = {}
    for topics in ("number", "position"):
        retriever = open_retriever(UPSTREAM_DATA / "cranfield", options={"topics": topics}, index_dir=tmp_path / topics)
        gold, passages = read_gold(retriever.index.source.tables()), retriever.index.passages
        rankings = retriever.rank([q.query for q in gold.judged], "bm25", 10)
        run = {
            q.question_id: [passages.id(int(n)) for n in ranking.ordinals]
            for q, ranking in zip(gold.judged, rankings, strict=True)
        }
        found[topics] = check_run(run, gold)

    assert (found["number"].aligned, found["position"].aligned) == (False, True)
    assert found["number"].ratio is not None and found["number"].ratio < 2
    assert found["position"].ratio is not None and found["position"].ratio > 30
