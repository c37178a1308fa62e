"""Hard negatives: never positives, never their texts, drawn from the ranks that were asked for, the same every time."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragdatakit
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval.negatives import NegativeOptions, mine_negatives, parse_negatives
from ragdatakit.schemas.canonical import Chunk, Document, Qrel, Question, Triplet
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from tests.broad import examples
from tests.conversion_tools import tables_of, write_tables
from tests.upstream_data import UPSTREAM_DATA, needs

SCIFACT = UPSTREAM_DATA / "scifact-beir"
FERRIES = [
    Document("d0", "The ferry of Skagen leaves at nine."),
    Document("d1", "The ferry of Skagen leaves at ten."),
    Document("d2", "A ferry leaves Hirtshals in the evening."),
    Document("d3", "A ferry."),
    Document("d4", "Lighthouses of Jutland."),
]


def ferries(**more: Any) -> CanonicalTables:
    """Five documents, one question, one positive."""
    given: dict[str, Any] = {
        "documents": FERRIES,
        "questions": [Question("q1", "When leaves the ferry of Skagen?")],
        "qrels": [Qrel("q1", "d0")],
    }
    return tables_of(**(given | more))


def mined(tables: CanonicalTables, spec: str = "bm25:take=top", seed: int = 13) -> list[Triplet]:
    """The triplets of the tables with mined ones."""
    return list(mine_negatives(tables, spec, seed).peek("triplets"))


def negatives(triplets: list[Triplet], question_id: str = "q1") -> list[str]:
    return [t.negative_id for t in triplets if t.question_id == question_id]


def losses_of(tables: CanonicalTables) -> dict[str, int]:
    """What was counted, by reason."""
    return {loss.reason: loss.count for loss in tables.losses}


def test_words_are_read() -> None:
    assert parse_negatives("bm25") == NegativeOptions()
    assert parse_negatives("bm25:", 7) == NegativeOptions(seed=7)
    assert parse_negatives("bm25:depth=100,per_query=4,seed=13", 7) == NegativeOptions(100, 4, seed=13)
    assert parse_negatives(
        " bm25 : depth = 20 , per-query=2, skip=5,take=top,replace=yes,analyzer=ja,stemmer=none"
    ) == (NegativeOptions(20, 2, 5, 13, "top", True, "ja", "none"))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("bm52:depth=3", "did you mean bm25"),
        ("", "known: bm25"),
        ("bm25:deep=3", "did you mean depth"),
        ("bm25:depth", "expected name=value"),
        ("bm25:depth=3,depth=4", "given twice"),
        ("bm25:depth=many", "expected an integer"),
        ("bm25:depth=0", "expected 1 to 10,000"),
        ("bm25:depth=10001", "expected 1 to 10,000"),
        ("bm25:depth=99999999999999999999", "expected an integer"),
        ("bm25:depth=3,per_query=4", "expected 1 to 3"),
        ("bm25:depth=9,skip=9", "expected 0 to 8"),
        ("bm25:seed=9999999999999999999", "seed"),
        ("bm25:take=best", "known: sample, top"),
        ("bm25:replace=perhaps", "true or false"),
    ],
)
def test_bad_words_are_refused(spec: str, words: str) -> None:
    with pytest.raises(RagdataError, match=words):
        parse_negatives(spec)


def test_unknown_stemmer_is_refused() -> None:
    with pytest.raises(UnknownNameError):
        mine_negatives(ferries(), "bm25:stemmer=klingon")


def test_best_ranks_come_first_and_what_has_no_common_word_is_none() -> None:
    assert mined(ferries()) == [Triplet("q1", "d0", negative) for negative in ("d1", "d2", "d3")]


def test_each_positive_and_each_negative_stands_in_a_triplet() -> None:
    many = ferries(qrels=[Qrel("q1", d) for d in ("d0", "d2", "d3")])

    assert mined(many) == [Triplet("q1", d, "d1") for d in ("d0", "d2", "d3")]
    two = ferries(qrels=[Qrel("q1", d) for d in ("d0", "d1")])
    assert [(t.positive_id, t.negative_id) for t in mined(two)] == [("d0", "d2"), ("d1", "d3")]


def test_same_text_as_a_positive_is_no_negative() -> None:
    copies = [
        Document("c1", "  the FERRY of Skagen\nleaves at nine!"),
        Document("c2", "The ｆｅｒｒｙ of Skagen leaves at nine.", "Another title"),
        Document("c3", "The ferry of Skagen leaves at ten."),
    ]
    tables = ferries(documents=[*FERRIES, *copies])

    assert negatives(mined(tables)) == ["d1", "d2", "d3"]  # c3 says the same as d1


def test_empty_passages_are_no_negatives() -> None:
    tables = ferries(documents=[*FERRIES[:2], Document("e1", ""), Document("e2", " \n"), Document("e3", "", "Ferry")])

    assert negatives(mined(tables)) == ["d1", "e3"]  # a title is what is trained on, where there is no text


def test_a_second_record_with_the_id_of_a_positive_is_no_negative() -> None:
    tables = ferries(documents=[*FERRIES[:2], Document("d0", "The ferry of Skagen is red.")])

    assert negatives(mined(tables)) == ["d1"]


def test_positives_of_any_split_are_none_and_evaluation_is_not_mined_for() -> None:
    tables = ferries(
        questions=[Question("q1", "When leaves the ferry of Skagen?"), Question("q2", "Which ferry leaves Hirtshals?")],
        qrels=[Qrel("q1", "d0", split="train"), Qrel("q1", "d1", split="test"), Qrel("q2", "d2", split="test")],
    )

    assert mined(tables) == [Triplet("q1", "d0", d, "train") for d in ("d2", "d3")]


def test_one_split_alone_is_mined_for() -> None:
    assert {t.split for t in mined(ferries(qrels=[Qrel("q1", "d0", split="test")]))} == {"test"}


def test_positives_of_a_question_with_the_same_text_are_none() -> None:
    tables = ferries(
        questions=[
            Question("q1", "When leaves the ferry of Skagen?"),
            Question("q2", "when leaves the ferry of SKAGEN"),
        ],
        qrels=[Qrel("q1", "d0"), Qrel("q2", "d1")],
    )

    assert negatives(mined(tables), "q1") == negatives(mined(tables), "q2") == ["d2", "d3"]


def test_what_is_judged_irrelevant_may_be_one() -> None:
    assert negatives(mined(ferries(qrels=[Qrel("q1", "d0"), Qrel("q1", "d1", 0), Qrel("q1", "d2", -1)]))) == [
        "d1",
        "d2",
        "d3",
    ]


def test_given_triplets_stay_and_their_questions_get_no_others() -> None:
    given = Triplet("q1", "d0", "d4")
    tables = ferries(
        triplets=[given],
        questions=[Question("q1", "When leaves the ferry of Skagen?"), Question("q2", "A ferry?")],
        qrels=[Qrel("q1", "d0"), Qrel("q2", "d3")],
    )

    assert mined(tables, "bm25:take=top,per_query=1") == [given, Triplet("q2", "d3", "d0")]
    assert losses_of(tables)["none mined for questions that have triplets (replace=true mines for all)"] == 1


def test_replaced_triplets_are_counted() -> None:
    tables = ferries(triplets=[Triplet("q1", "d0", "d4")])

    assert negatives(mined(tables, "bm25:take=top,replace=true")) == ["d1", "d2", "d3"]
    assert losses_of(tables)["mined ones were to replace them"] == 1


def test_positives_of_triplets_count_where_nothing_is_judged() -> None:
    tables = ferries(qrels=[], triplets=[Triplet("q1", "d0", "d4"), Triplet("q1", "d1", "d4")])

    assert negatives(mined(tables, "bm25:take=top,replace=true")) == ["d2", "d3"]


def test_questions_with_too_few_are_reported() -> None:
    tables = ferries(
        questions=[
            Question("q1", "When leaves the ferry of Skagen?"),
            Question("q2", "Lighthouses?"),
            Question("q3", "A ferry?"),
            Question("q4", "Not judged: a ferry?"),
        ],
        qrels=[Qrel("q1", "d0"), Qrel("q2", "d4"), Qrel("q3", "elsewhere"), Qrel("q9", "d0")],
    )
    triplets = mined(tables)

    assert {t.question_id for t in triplets} == {"q1"}
    assert losses_of(tables) == {
        "fewer than 4 negatives among the first 100 results": 1,
        "none mined for questions without a usable negative among the first 100 results": 1,
        "none mined for questions whose relevant passages are not there, or are empty": 1,
        "mined with BM25: 3 negatives, the best of the first 100 results of each question": 3,
    }
    assert not tables.losses.any_lost


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"qrels": []}, "no question with a relevant passage"),
        ({"qrels": [Qrel("q1", "d0", 0)]}, "no question with a relevant passage"),
        ({"documents": []}, "no passages"),
        ({"documents": FERRIES[:1]}, "no negatives could be mined"),
    ],
    ids=["nothing judged", "nothing relevant", "no documents", "nothing but the positive"],
)
def test_where_nothing_can_be_mined_it_says_why(more: dict[str, Any], words: str) -> None:
    with pytest.raises(RagdataError, match=words):
        mine_negatives(ferries(**more), "bm25", 13)


def test_chunks_of_a_relevant_document_are_positives() -> None:
    chunks = [
        Chunk("d0#0", "The ferry of Skagen", "d0", 0),
        Chunk("d0#1", "leaves at nine.", "d0", 1),
        Chunk("d1#0", "The ferry of Skagen leaves at ten.", "d1", 0),
    ]

    assert {(t.positive_id, t.negative_id) for t in mined(ferries(chunks=chunks))} == {
        ("d0#0", "d1#0"),
        ("d0#1", "d1#0"),
    }


def many() -> CanonicalTables:
    """300 documents of which each question of 40 finds many."""
    draw = random.Random(5)
    words = [f"word{i}" for i in range(30)]
    return tables_of(
        documents=[Document(f"d{i}", " ".join(draw.choices(words, k=12))) for i in range(300)],
        questions=[Question(f"q{i}", " ".join(draw.choices(words, k=4))) for i in range(40)],
        qrels=[Qrel(f"q{i}", f"d{i}") for i in range(40)],
    )


def test_drawing_depends_on_the_seed_and_nothing_else() -> None:
    first = mined(many(), "bm25:depth=50", 13)

    assert first == mined(many(), "bm25:depth=50,seed=13", 7)
    assert first != mined(many(), "bm25:depth=50", 14)
    assert len(first) == 160


def test_skipped_ranks_are_not_drawn_from() -> None:
    best, skipped = mined(many(), "bm25:depth=9,per_query=9,take=top"), mined(many(), "bm25:depth=9,per_query=4,skip=5")

    for number in range(40):
        ranked = negatives(best, f"q{number}")
        assert set(negatives(skipped, f"q{number}")) <= set(ranked[4:])


def test_rows_can_be_read_again() -> None:
    made = mine_negatives(many(), "bm25", 13)

    assert list(made.peek("triplets")) == list(made.peek("triplets"))
    assert list(made.peek("documents")) == list(many().peek("documents"))


def test_light_splade_takes_them_and_adds_no_random_ones(tmp_path: Any) -> None:
    tables = mine_negatives(many(), "bm25:depth=50", 13)
    write_tables(tables, "light-splade", tmp_path, **{"validation-ratio": "0"})
    report = ragdatakit.validate(tmp_path, format="light-splade")

    assert [f.rule for f in report.findings if f.severity == "error"] == []
    assert len((tmp_path / "train" / "triplets.ndjson").read_text().splitlines()) == 160
    assert not [reason for reason in losses_of(tables) if "random" in reason]


TEXTS = st.one_of(
    st.lists(st.sampled_from(["ferry", "Ferry", "light", "Skagen", "雨", "évêque", "a", "!", "\x00"]), max_size=4).map(
        " ".join
    ),
    st.sampled_from(["", " ", "\ud800 ferry", "ｆｅｒｒｙ light", "ferry, light"]),
)


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_never_a_positive_nor_its_text_nor_empty(data: st.DataObject) -> None:
    ids = st.sampled_from(["d0", "d1", "d2", "d3", "d4", "d5"])
    asked = st.sampled_from(["q0", "q1", "q2"])
    documents = data.draw(st.lists(st.builds(Document, ids, TEXTS, st.none() | TEXTS), min_size=2, max_size=9))
    questions = data.draw(st.lists(st.builds(Question, asked, TEXTS), min_size=1, max_size=4))
    splits = st.sampled_from([None, "train", "test"])
    qrels = data.draw(
        st.lists(st.builds(Qrel, asked, ids, st.integers(-1, 2), st.just("document"), splits), min_size=1, max_size=8)
    )
    tables = tables_of(documents=documents, questions=questions, qrels=qrels)
    spec = data.draw(st.sampled_from(["bm25:take=top", "bm25:depth=3,per_query=2", "bm25:skip=1"]))
    try:
        triplets = mined(tables, spec)
    except RagdataError:
        return
    texts: dict[str, str] = {}
    for document in documents:
        texts.setdefault(document.doc_id, document.text if document.text.strip() else document.title or "")
    positives = {(q.question_id, q.target_id) for q in qrels if q.grade > 0}
    assert len(set(triplets)) == len(triplets)
    for triplet in triplets:
        assert (triplet.question_id, triplet.positive_id, triplet.split) in {
            (q.question_id, q.target_id, q.split) for q in qrels if q.grade > 0
        }
        assert (triplet.question_id, triplet.negative_id) not in positives
        assert texts[triplet.positive_id].strip()
        own = {texts[d].casefold().strip() for q, d in positives if q == triplet.question_id and d in texts}
        named = {d.text.casefold().strip() or (d.title or "").casefold().strip() for d in documents
                 if d.doc_id == triplet.negative_id}  # fmt: skip
        assert named - own - {""}  # of several records with the id, one at least is another text


@needs("scifact-beir")
def test_scifact() -> None:
    with ragdatakit.read(SCIFACT) as dataset:
        tables = dataset._tables
        triplets = mined(tables, "bm25:depth=100,per_query=4,seed=13")
        positives: dict[str, set[str]] = {}
        for qrel in tables.peek("qrels"):
            positives.setdefault(qrel.question_id, set()).add(qrel.target_id)
        texts = {d.doc_id: " ".join(d.text.split()).casefold() for d in tables.peek("documents")}
    trained = {t.question_id for t in triplets}

    assert len(trained) == 809 and {t.split for t in triplets} == {"train"}
    for triplet in triplets:
        own = positives[triplet.question_id]
        assert triplet.positive_id in own and triplet.negative_id not in own
        assert texts[triplet.negative_id] not in {texts[p] for p in own}
    assert all(len({t.negative_id for t in triplets if t.question_id == q}) == 4 for q in list(trained)[:50])
