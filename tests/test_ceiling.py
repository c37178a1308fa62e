"""The metric ceiling: equal to the best of all rankings, each cause with its cost; what the corpus says about gold."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from math import log2
from pathlib import Path

import pytest

pytest.importorskip("pytrec_eval", reason="needs ragdatakit[retrieval]")

from ragdatakit.retrieval.gold_and_metrics import ceiling as module
from ragdatakit.retrieval.gold_and_metrics.ceiling import ceiling
from ragdatakit.retrieval.gold_and_metrics.gold import Gold, GoldQuestion
from ragdatakit.retrieval.gold_and_metrics.gold_facts import GoldFacts, read_gold_facts, same_text
from ragdatakit.retrieval.gold_and_metrics.metrics import measure
from ragdatakit.retrieval.passages import Passage
from ragdatakit.schemas.errors import UnknownNameError
from tests.evaluation_tools import corpus_of, gold_of

METRICS = ("recall@1", "recall@2", "recall@3", "ndcg@1", "ndcg@3", "ndcg", "mrr", "mrr@2", "map", "map@3")
METRICS += ("success@1", "success@2", "precision@2")


def value_of(name: str, grades: Sequence[int], ideal: Sequence[int]) -> float:
    """A metric by its definition: ``grades`` by rank, ``ideal`` of all gold."""
    family, _, cut = name.partition("@")
    k = int(cut) if cut else max(len(grades), len(ideal))
    hits = [rank for rank, grade in enumerate(grades[:k], 1) if grade]
    if family == "recall":
        return len(hits) / len(ideal)
    if family == "precision":
        return len(hits) / k
    if family == "success":
        return float(bool(hits))
    if family == "mrr":
        return 1 / hits[0] if hits else 0.0
    if family == "map":
        return sum(number / rank for number, rank in enumerate(hits, 1)) / len(ideal)
    best = sum(g / log2(rank + 1) for rank, g in enumerate(sorted(ideal, reverse=True)[:k], 1))
    return sum(g / log2(rank + 1) for rank, g in enumerate(grades[:k], 1)) / best


def rankings(texts: Mapping[str, Sequence[int]], first: str | None) -> Iterator[tuple[str, ...]]:
    """Every ranking of a corpus, as the text at each rank."""
    every = [text for text, grades in texts.items() for _ in grades]
    for order in set(permutations(every)):
        if first is None or set(order[: len(texts[first])]) == {first}:
            yield order


def best_by_trying(name: str, texts: Mapping[str, Sequence[int]], ideal: Sequence[int], first: str | None) -> float:
    """The greatest expected value over all rankings, where any copy of a text is as likely to be the gold one."""
    drawn = list(product(*(set_of_orders(grades) for grades in texts.values())))
    best = 0.0
    for order in rankings(texts, first):
        total = 0.0
        for choice in drawn:
            left = {text: list(grades) for text, grades in zip(texts, choice, strict=True)}
            total += value_of(name, [left[text].pop() for text in order], ideal)
        best = max(best, total / len(drawn))
    return best


def set_of_orders(grades: Iterable[int]) -> list[tuple[int, ...]]:
    return list(permutations(grades))


def random_set(rng: random.Random) -> tuple[list[Passage], GoldQuestion]:
    texts = rng.choices(["ferry", "ferry ", "港", "winter", "question", "...", ""], k=rng.randint(1, 6))
    passages = [Passage(f"d{n}", text) for n, text in enumerate(texts)]
    ids = [p.passage_id for p in passages] + ["gone", "lost"]
    grades = {target: rng.choice([0, 1, 1, 2]) for target in rng.sample(ids, rng.randint(1, min(4, len(ids))))}
    grades[rng.choice(ids)] = rng.randint(1, 3)
    return passages, GoldQuestion("q", "question", grades)


@pytest.mark.parametrize("block", range(4))
def test_no_ranking_is_better_and_one_is_as_good(tmp_path: Path, block: int) -> None:
    for seed in range(block * 20, block * 20 + 20):
        passages, question = random_set(random.Random(seed))
        gold = gold_of(question)
        texts: dict[str, list[int]] = {}
        for p in passages:
            if text := same_text(p.text):
                texts.setdefault(text, []).append(question.grades.get(p.passage_id, 0))
        first = "question" if "question" in texts and not any(texts["question"]) else None
        ideal = [grade for grade in question.grades.values() if grade > 0]

        found = ceiling(gold, read_gold_facts(gold, corpus_of(tmp_path / "p", *passages)), METRICS)

        tried = {name: best_by_trying(name, texts, ideal, first) for name in METRICS}
        assert found.scores == pytest.approx(tried, abs=1e-9), seed


def test_the_definitions_are_those_of_trec_eval() -> None:
    rng = random.Random(5)
    for _ in range(20):
        ids = [f"d{n}" for n in range(6)]
        grades = {i: rng.choice([0, 1, 2]) for i in ids[:4]} | {"gone": 1}
        order = rng.sample(ids, 5)

        found = measure({"q": order}, {"q": grades}, METRICS)

        ideal = [g for g in grades.values() if g]
        mine = {name: value_of(name, [grades.get(i, 0) for i in order], ideal) for name in METRICS}
        assert mine == pytest.approx({name: values[0] for name, values in found.items()}, abs=1e-9)


def test_the_bound_is_never_below_the_best_order(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(3)
    for _ in range(40):
        pairs = [(copies := rng.randint(2, 4), rng.randint(1, copies - 1)) for _ in range(rng.randint(2, 3))]
        texts = tuple(module._Text(copies, gold, gold) for copies, gold in pairs)
        exact = module._searched(texts, 1, 1, 100)

        assert exact <= module._bound(texts, 1, 1, 100) + 1e-12
        assert exact == pytest.approx(module._searched(texts[::-1], 1, 1, 100))


def questions_of(**golds: dict[str, int]) -> Gold:
    return gold_of(*(GoldQuestion(name, f"what is {name}", grades) for name, grades in golds.items()))


def test_each_cause_has_its_cost_alone_and_beside_the_others(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path / "p",
        Passage("a", "harbour"),
        Passage("b", "Harbour\u00a0 "),
        Passage("c", "harbour\n"),
        Passage("d", " ?! "),
        Passage("e", "what is asked"),
        Passage("f", "tide"),
    )
    gold = questions_of(clean={"f": 1}, missing={"f": 1, "x": 1}, empty={"d": 1}, copied={"a": 1}, asked={"f": 1})

    found = ceiling(gold, read_gold_facts(gold, corpus), ("recall@1", "recall@10", "mrr"), repeated={"clean": 2})

    causes = {cause.name: cause for cause in found.causes}
    assert {name: (c.questions, c.pairs, c.examples) for name, c in causes.items()} == {
        "gold-not-in-corpus": (1, 1, ("missing: x",)),
        "gold-without-text": (1, 1, ("empty: d",)),
        "identical-texts": (1, 1, ("copied: a = c",)),
        "question-in-corpus": (1, 1, ("asked: e",)),
        "repeated-judgements": (1, 2, ("clean",)),
        "cut-off": (1, 2, ("missing",)),
    }
    assert found.scores == pytest.approx(
        {
            "recall@1": (1 + 0.5 + 0 + 0.5 + 0) / 5,
            "recall@10": (1 + 0.5 + 0 + 1 + 1) / 5,
            "mrr": (1 + 1 + 0 + (1 + 1 / 2) / 2 + 1 / 2) / 5,
        }
    )
    assert causes["gold-not-in-corpus"].cost == pytest.approx({"recall@1": 0, "recall@10": 0.1, "mrr": 0})
    assert causes["gold-not-in-corpus"].alone == pytest.approx({"recall@1": 0.1, "recall@10": 0.1, "mrr": 0})
    assert causes["gold-without-text"].cost == pytest.approx({"recall@1": 0.2, "recall@10": 0.2, "mrr": 0.2})
    assert causes["identical-texts"].cost == pytest.approx({"recall@1": 0.1, "recall@10": 0, "mrr": 0.05})
    assert causes["question-in-corpus"].cost == pytest.approx({"recall@1": 0.2, "recall@10": 0, "mrr": 0.1})
    assert causes["cut-off"].cost == pytest.approx({"recall@1": 0, "recall@10": 0, "mrr": 0})
    assert causes["cut-off"].alone == pytest.approx({"recall@1": 0.1, "recall@10": 0, "mrr": 0})
    assert set(causes["repeated-judgements"].cost.values()) == {0.0}


def test_case_and_punctuation_tell_texts_apart_but_blanks_and_width_do_not(tmp_path: Path) -> None:
    texts = ("Tide table", "tide table", "Tide table.", "Tide\n table", "Ｔide table")
    corpus = corpus_of(tmp_path / "p", *(Passage(f"d{n}", text) for n, text in enumerate(texts)))
    gold = gold_of(GoldQuestion("q", "?", {"d0": 1, "d1": 1, "d2": 1}))

    facts = read_gold_facts(gold, corpus)

    assert {target: (c.count, c.ids) for target, c in facts.copies.items()} == {"d0": (3, ("d0", "d3", "d4"))}


def test_titles_and_context_are_part_of_the_text(tmp_path: Path) -> None:
    corpus = corpus_of(
        tmp_path / "p",
        Passage("a", "at nine", "Ferry"),
        Passage("b", "at nine", "Bus"),
        Passage("c", "Ferry at nine"),
        Passage("d", "at nine", None, "Ferry"),
    )
    gold = gold_of(GoldQuestion("q", "x", {"a": 1, "b": 1}))

    assert {t: c.ids for t, c in read_gold_facts(gold, corpus).copies.items()} == {"a": ("a", "c", "d")}


def test_an_id_that_stands_twice_is_one_target(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "p", Passage("a", "tide"), Passage("a", "tide"), Passage("b", "bus"))
    gold = gold_of(GoldQuestion("q", "bus", {"a": 1, "b": 1}))

    facts = read_gold_facts(gold, corpus)

    assert dict(facts.copies) == {}
    assert set(ceiling(gold, facts, METRICS[1:3]).scores.values()) == {1.0}


def test_documents_are_compared_as_the_sequence_of_their_chunks(tmp_path: Path) -> None:
    chunks = [
        *(Passage(f"a{n}", text, None, None, "a") for n, text in enumerate(("one", "two"))),
        *(Passage(f"b{n}", text, None, None, "b") for n, text in enumerate(("two", "one"))),
        Passage("x", "what?", None, None, "x"),
        *(Passage(f"c{n}", text, None, None, "c") for n, text in enumerate(("one", " two "))),
        *(Passage(f"e{n}", text, None, None, "e") for n, text in enumerate(("", "--"))),
    ]
    corpus = corpus_of(tmp_path / "p", *chunks, unit="chunk")
    gold = gold_of(GoldQuestion("q", "what?", {"a": 1, "b": 1, "e": 1, "a0": 1}))

    facts = read_gold_facts(gold, corpus)

    assert {target: (c.count, c.ids) for target, c in facts.copies.items()} == {"a": (2, ("a", "c"))}
    assert (facts.missing, facts.empty) == ({"a0"}, {"e"})
    assert {q: c.ids for q, c in facts.questions.items()} == {"q": ("x",)}


def test_nodes_are_there_or_not(tmp_path: Path) -> None:
    gold = gold_of(GoldQuestion("q", "x", {"Ferry": 1, "Bus": 1}), unit="node")

    facts = read_gold_facts(gold, None, ["Ferry", "Tide"])

    assert facts == GoldFacts(frozenset({"Bus"}))
    assert ceiling(gold, facts, ("recall@5",)).scores == {"recall@5": 0.5}


@pytest.mark.parametrize("unit", ["document", "chunk"])
def test_an_empty_corpus_has_no_gold(tmp_path: Path, unit: str) -> None:
    gold = gold_of(GoldQuestion("q", "x", {"a": 1}))

    facts = read_gold_facts(gold, corpus_of(tmp_path / "p", unit=unit))

    assert facts.missing == {"a"}
    assert ceiling(gold, facts, ("ndcg@10", "mrr", "map")).scores == {"ndcg@10": 0.0, "mrr": 0.0, "map": 0.0}


def test_without_gold_there_is_no_ceiling_and_without_a_corpus_only_arithmetic() -> None:
    assert ceiling(gold_of(GoldQuestion("q", "x", {"a": 0})), None, ("mrr",)).scores == {}

    found = ceiling(questions_of(q={f"d{n}": 1 for n in range(150)}), None, ("recall@100", "map", "mrr", "ndcg@10"))

    assert found.scores == pytest.approx({"recall@100": 2 / 3, "map": 2 / 3, "mrr": 1, "ndcg@10": 1})
    assert [(c.name, c.cost["recall@100"]) for c in found.causes] == [("cut-off", pytest.approx(1 / 3))]


def test_unknown_metrics_are_refused() -> None:
    with pytest.raises(UnknownNameError):
        ceiling(questions_of(q={"a": 1}), None, ("recall",))


def test_thousands_of_copies_are_no_burden(tmp_path: Path) -> None:
    corpus = corpus_of(tmp_path / "p", *(Passage(f"d{n}", f"text {n % 3}") for n in range(6000)))
    gold = gold_of(*(GoldQuestion(f"q{n}", "x", {"d0": 1, "d1": 2, f"d{n}": 1}) for n in range(2, 1000)))

    found = ceiling(gold, read_gold_facts(gold, corpus), ("ndcg@10", "map", "mrr", "recall@10"), depth=1000)

    assert all(0 < value < 0.05 for value in found.scores.values())
    assert found.causes[0].name == "identical-texts"
