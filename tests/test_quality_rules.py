"""The quality rules: each where it is broken and where it nearly is, at the exact file, line and value."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

pytest.importorskip("ftfy", reason="needs ragdatakit[quality]")

from ftfy.badness import BADNESS_RE, is_bad

from ragdatakit import validate
from ragdatakit.arrays.code_tables import repeated
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.files.texts.flat_text import _flat, flat_bytes, flat_words
from ragdatakit.quality import near_copies
from ragdatakit.quality.garbled import (
    _ACCENTS_ALONE,
    _BEFORE,
    _PERHAPS,
    _REACH,
    _SUSPICIOUS,
    _beyond_ascii,
    _is_odd,
    _places,
    garbled,
)
from ragdatakit.quality.near_copies import NearCopies, compared
from ragdatakit.quality.run import Quality
from ragdatakit.quality.sketches import sketches
from ragdatakit.quality.word_codes import RUN
from ragdatakit.scanner.library import library
from ragdatakit.scanner.texts import Joined
from ragdatakit.schemas import find_rules, get_format
from ragdatakit.schemas.canonical import Chunk, Document, Edge, Qrel, Question, Triplet
from ragdatakit.schemas.findings import Finding
from ragdatakit.schemas.rules.quality import LETTERS, RULES
from ragdatakit.validators.collector import Selection
from ragdatakit.validators.run_options import RunOptions
from tests.broad import examples
from tests.command_line import FIXTURES, run
from tests.conversion_tools import tables_of
from tests.upstream_data import UPSTREAM_DATA, needs

SHOWN = {
    "few-words-text",
    "identical-texts",
    "near-identical-texts",
    "garbled-text",
    "control-character",
    "over-token-budget",
    "texts-cut-off",
    "leaked-question",
    "nearly-leaked-question",
    "shared-positives",
    "answer-not-in-texts",
    "identical-questions",
    "uneven-splits",
    "negative-like-positive",
    "hub-node",
}
OTHERS = {"quality-not-checked"}
LONG = " ".join(f"word{n}" for n in range(60))


def expected(rule: str) -> tuple[Path, dict[str, Any]]:
    folder = FIXTURES / "quality" / rule
    return folder, json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def test_every_rule_is_shown() -> None:
    assert {rule.name for rule in RULES} == SHOWN | OTHERS
    assert {p.name for p in (FIXTURES / "quality").iterdir()} == SHOWN
    assert all(rule.code[:2] == LETTERS and rule.severity != "error" for rule in RULES)
    assert all(find_rules(rule.name) == find_rules(rule.code) for rule in RULES)


@pytest.mark.parametrize("rule", sorted(SHOWN))
def test_fixture(rule: str) -> None:
    folder, shown = expected(rule)

    outcome = run("validate", folder / "data", "--quality", *shown["args"], "--select", rule, "--output-format", "json")

    keys = ("path", "line", "pointer", "rule", "value")
    found = [{k: f[k] for k in keys} for f in outcome.json["findings"]]
    wanted = [{**f, "path": str(folder / f["path"])} for f in shown["findings"]]
    assert (len(found), outcome.code, outcome.err) == (len(wanted), 0, "")
    for one, other in zip(found, wanted, strict=True):
        assert one == {**other, "value": one["value"] if other["value"] is None else other["value"]}


@pytest.mark.parametrize("rule", sorted(SHOWN))
def test_fixture_without_quality(rule: str) -> None:
    folder, _ = expected(rule)

    assert not [f for f in validate(folder / "data").findings if f.code.startswith(LETTERS)]


def checked(tables: CanonicalTables, *rules: str, **options: Any) -> list[Finding]:
    """The findings about tables that have no files."""
    dataset = Dataset(Path("notes"), "notes", get_format("beir"), "folder")
    given = {name.replace("_", "-"): value for name, value in options.items()}
    quality = Quality(read=lambda parts, _: [(parts, tables)], plain=lambda *_: [], given=given)
    selection = Selection(select=rules, max_per_rule=0)
    return quality.check([dataset], RunOptions(), selection, Counter(), alone=False).kept


def values(findings: Sequence[Finding]) -> list[Any]:
    return [f.value for f in findings]


def near(texts: Sequence[str], similarity: float = 0.8, other_words: float = 0.95) -> list[tuple[int, int, float]]:
    import numpy as np

    copies = NearCopies(similarity, other_words)
    for start in range(0, len(texts), 50):
        some = texts[start : start + 50]
        copies.add(start, compared(sketches(some, Joined.of(some), RUN), RUN))
    keys = np.array([hash(text) for text in texts], np.int64)
    return copies.pairs(repeated(keys)[0], 2, lambda ordinals: ((n, texts[n]) for n in ordinals))


def exact(a: str, b: str) -> float:
    def runs(text: str) -> set[tuple[str, ...]]:
        words = flat_words(text)
        return {tuple(words[i : i + 3]) for i in range(len(words) - 2)}

    return len(runs(a) & runs(b)) / len(runs(a) | runs(b))


def replaced(a: str, b: str) -> bool:
    mine, other = set(a.split()), set(b.split())
    return bool(mine - other) and bool(other - mine)


def drawn(rng: random.Random, number: int) -> list[str]:
    """Texts of which some are others with words left out."""
    texts: list[str] = []
    for _ in range(number):
        if texts and rng.random() < 0.5:
            words = rng.choice(texts).split()
            kept = [w for w in words if rng.random() > rng.choice([0, 0.01, 0.03, 0.2])]
            texts.append(" ".join(kept if len(kept) > 3 else words))
        else:
            texts.append(" ".join(rng.choices([f"w{n}" for n in range(500)], k=rng.randint(20, 120))))
    return texts


@pytest.mark.parametrize("seed", range(2))
def test_near_copies_are_those_of_comparing_all(seed: int) -> None:
    texts = drawn(random.Random(seed), 120)
    found = near(texts)

    first: dict[str, int] = {}
    distinct = [n for n, text in enumerate(texts) if first.setdefault(text, n) == n]
    wanted = {
        b
        for b in distinct
        for a in distinct
        if a < b and exact(texts[a], texts[b]) >= (0.95 if replaced(texts[a], texts[b]) else 0.8)
    }
    by_name = {later for later, _, _ in found}
    assert by_name <= wanted
    assert len(by_name) >= 0.9 * len(wanted) > 0
    assert all(similarity == pytest.approx(exact(texts[a], texts[b])) for b, a, similarity in found)


def test_near_copies_are_found_with_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = drawn(random.Random(9), 100)
    whole = near(texts)
    monkeypatch.setattr("ragdatakit.quality.near_copies._MOST_HELD", 10)
    monkeypatch.setattr("ragdatakit.files.texts.texts_together._MOST", 100)

    assert near(texts) == whole


@pytest.mark.skipif(library() is None, reason="there is no scanner")
@pytest.mark.parametrize("most", [10, 5_000, 1 << 30])
def test_near_copies_are_the_same_in_numpy(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(most)
    texts = [f"{text} {rng.choice(['', '7', '8 9', 'ten'])}" for text in drawn(rng, 150)]
    monkeypatch.setattr(near_copies, "_MOST_HELD", most)
    compiled = near(texts)
    monkeypatch.setattr(near_copies, "library", lambda: None)
    monkeypatch.setattr(near_copies, "neighbours", lambda *_: None)

    assert near(texts) == compiled != []


def test_texts_in_a_chain_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"w{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10 % 10]}{'uvwxyz'[n // 100 % 6]}" for n in range(600)]
    places = random.Random(4).sample(range(0, 500, 2), 250)
    texts = [" ".join(words[place : place + 80]) for place in places]
    whole = near(texts)
    assert len(whole) > 100

    read, together = list[int](), near_copies.texts_together
    monkeypatch.setattr(near_copies, "_MOST_HELD", 80 * 60)
    monkeypatch.setattr(
        near_copies, "texts_together", lambda some: together((read.append(n), (n, t))[1] for n, t in some)
    )

    assert near(texts) == whole
    assert len(read) < 2 * len(texts)
    monkeypatch.setattr(near_copies, "_MOST_STEPS", 2)
    assert near(texts) == whole


def test_few_texts_are_sorted_to_find_near_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    sorted_, texts = list[int](), [f"w{n} x{n} y{n} z{n}" for n in range(2000)]

    class Sieve(near_copies.RepeatSieve):
        def candidates(self, codes: Any) -> Any:
            found = super().candidates(codes)
            sorted_.append(len(found))
            return found

    monkeypatch.setattr(near_copies, "RepeatSieve", Sieve)
    monkeypatch.setattr(near_copies, "neighbours", lambda *_: None)

    assert near(texts) == []
    assert max(sorted_) < len(texts) / 4


def test_near_copies_in_other_scripts() -> None:
    text = "市役所の開庁時間は平日の午前九時から午後五時までです。土曜日と日曜日は閉まっています。"

    assert [pair[:2] for pair in near([text, "別の文章です。" * 5, text + "どうぞ。"])] == [(2, 0)]


def test_texts_of_one_template_are_no_copies() -> None:
    about = "{} is a railway station in {}, on the line to the coast, where regional trains stop on their way each day"

    assert near([about.format("Challans", "Challans"), about.format("Machecoul", "Machecoul")]) == []


@pytest.mark.parametrize(
    ("mine", "other", "found"),
    [("400", "600", False), ("400", "many", True), ("some", "many", True), ("４００", "600", False)],
)
def test_texts_reported_apart_by_a_number_are_no_copies(mine: str, other: str, found: bool) -> None:
    text = " ".join(f"word{n}" for n in range(200))

    assert bool(near([f"{text} In {mine} it ends.", f"{text} In {other} it ends."])) is found


@pytest.mark.parametrize(
    ("text", "repaired"),
    [
        ("The worldâ€™s largest", "world’s"),
        ("cafÃ© au lait", "café"),
        ("function\x964", "function–4"),
        ("これは文章です。とても長い文章です。".encode().decode("cp932", "ignore"), None),
        ("烫锟斤拷", ""),
        ("城市图书馆工作日上午九点开门，下午五点关门。".encode().decode("gbk", "ignore"), None),
        ("The world鈥檚 largest study", ""),
        ("The world窶冱 largest study", ""),
        ("Городская библиотека открыта".encode("cp1251").decode("latin-1"), ""),
    ],
    ids=["quotes", "latin-1", "c1", "japanese", "lost", "gbk", "gbk-quote", "shift-jis-quote", "cp1251"],
)
def test_garbled(text: str, repaired: str | None) -> None:
    found = garbled(text)

    assert found is not None
    assert repaired is None or found[1] == repaired


@pytest.mark.parametrize(
    "text",
    [
        "Straße, Ångström, naïve, São Paulo, Łódź, çok güzel",
        "© 2020 «quoted» – “curly” … €5 ±3 µm 10 °C β-catenin",
        "市役所の開庁時間は平日の午前九時です。縺れた糸を繧う。",
        "В начале было слово. Ἐν ἀρχῇ ἦν ὁ λόγος. في البدء",
        "한국어 문장입니다. ภาษาไทย हिन्दी",
        "도서관은 평일 오전 아홉시부터 오후 다섯시까지 엽니다. 토요일과 일요일에는 닫혀 있습니다.",
        "城市图书馆工作日上午九点开门，下午五点关门，周六周日休息。城市圖書館工作日上午九點開門。",
        "事業施行地積、医薬品項控除",
        "鈥是一種化學元素。Jäääär, öööövöö, Çéàùè",
        "🙂 emoji — and a dash",
        "plain ASCII",
        "",
    ],
)
def test_not_garbled(text: str) -> None:
    assert garbled(text) is None


def test_a_long_text_is_looked_at_quickly() -> None:
    started = time.perf_counter()

    assert garbled("â€" * 200_000) is None
    assert garbled("縺" * 200_000) is not None
    assert time.perf_counter() - started < 60


def decoded_wrongly(text: str) -> str | None:
    try:
        return text.encode("utf-8").decode("cp1252")
    except UnicodeDecodeError:
        return None


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.sampled_from("é ü ñ ç ö à è’“”–—").filter(str.strip), min_size=4, max_size=8))
def test_garbled_by_cp1252_is_reported(letters: list[str]) -> None:
    wrong = decoded_wrongly("".join(f"ab{letter}cd " for letter in letters))

    assert wrong is None or garbled(wrong) is not None


def test_identical_texts_of_one_id_are_none() -> None:
    tables = tables_of(
        documents=[Document("a", LONG), Document("a", LONG), Document("b", LONG + " "), Document("c", "")]
    )

    assert values(checked(tables, "identical-texts")) == ["b"]


def test_characters_that_turn_the_direction_of_text() -> None:
    tables = tables_of(documents=[Document("a", "read \u202esdrawkcab"), Document("b", "\u200fשלום\u200e and so on")])

    assert values(checked(tables, "control-character")) == ["\u202e"]


def test_lost_characters_of_one_text_are_counted() -> None:
    (found,) = checked(tables_of(documents=[Document("a", "\ufffd\ufffd and \ufffd")]), "control-character")

    assert "is in the text of document a, one of 3 such characters; " in found.message


def test_blank_texts_are_not_identical() -> None:
    tables = tables_of(documents=[Document("a", ""), Document("b", " \n"), Document("c", "…")])

    assert checked(tables, "identical-texts") == []
    assert len(checked(tables, "few-words-text")) == 3


def test_images_may_have_no_text() -> None:
    chunks = [Chunk("a", "", modality="image", image_path="a.png"), Chunk("b", "")]

    assert len(checked(tables_of(chunks=chunks), "few-words-text")) == 1


def asked(*questions: tuple[str, str, str | None]) -> list[Question]:
    return [Question(name, text, split=split) for name, text, split in questions]


def test_leaks_by_the_split_of_the_question() -> None:
    questions = asked(("1", "Who pays for it?", "train"), ("1", "who pays for it", "dev"), ("2", "Other?", "dev"))

    assert values(checked(tables_of(questions=questions), "leaked-question")) == ["1"]


def test_one_question_judged_in_two_splits_is_a_leak() -> None:
    qrels = [Qrel("1", "d", split="train"), Qrel("1", "e", split="test"), Qrel("2", "d", split="test")]
    tables = tables_of(questions=asked(("1", "Who?", None), ("2", "What?", None)), qrels=qrels)

    assert values(checked(tables, "leaked-question")) == ["1"]


@pytest.mark.parametrize(
    ("trained", "tested", "words"),
    [
        ("who repairs the old bridges here", "who repairs the bridges here", True),
        ("who repairs the bridges of 1990", "who repairs the bridges of 1991", False),
        ("who repairs it", "who repairs", False),
        ("who washes wool in the mill", "which carts leave at night", False),
    ],
    ids=["word-more", "other-number", "too-short", "other"],
)
def test_nearly_leaked(trained: str, tested: str, words: bool) -> None:
    qrels = [Qrel("1", "d", split="train"), Qrel("2", "d", split="test")]
    tables = tables_of(questions=asked(("1", trained, None), ("2", tested, None)), qrels=qrels)

    assert values(checked(tables, "nearly-leaked-question")) == (["2"] if words else [])


def test_nearly_leaked_by_the_answer() -> None:
    questions = [
        Question("1", "who repairs the old bridges here", answer="The town", split="train"),
        Question("2", "who repairs the bridges here", answer="the town", split="test"),
        Question("3", "who repairs the bridges here", answer="Yes", split="test"),
    ]

    assert values(checked(tables_of(questions=questions), "nearly-leaked-question")) == ["2"]


def test_no_leak_without_training() -> None:
    questions = asked(("1", "Who pays for it?", "dev"), ("2", "Who pays for it?", "test"))

    assert checked(tables_of(questions=questions), "leaked-question", "nearly-leaked-question") == []


@pytest.mark.parametrize(
    ("answer", "aliases", "text", "words"),
    [
        ("Port Hale", (), "The harbour of Hale, called Port by some.", False),
        ("e-mail", (), "Write an email.", False),
        ("Port Hale", ("The Harbour",), "the harbour", False),
        ("Port Hale", (), "The harbour.", True),
        ("14", (), "The harbour.", False),
        ("yes", (), "The harbour.", False),
        ("a sentence of so many words that nobody would expect to find it in a text", (), "The harbour.", False),
    ],
    ids=["in-pieces", "joined", "alias", "not-there", "number", "yes", "sentence"],
)
def test_answers(answer: str, aliases: tuple[str, ...], text: str, words: bool) -> None:
    tables = tables_of(
        documents=[Document("d", text), Document("e", "Port Hale")],
        questions=[Question("1", "Where?", answer=answer, aliases=aliases)],
        qrels=[Qrel("1", "d")],
    )

    assert values(checked(tables, "answer-not-in-texts")) == ([answer] if words else [])


def test_answers_in_chunks_of_a_gold_document() -> None:
    tables = tables_of(
        documents=[Document("d", "x", "Port")],
        chunks=[Chunk("c1", "nothing", "d"), Chunk("c2", "of Hale", "d")],
        questions=[Question("1", "Where?", answer="Port Hale"), Question("2", "Where?", answer="Grey Coast")],
        qrels=[Qrel("1", "d"), Qrel("2", "d"), Qrel("2", "gone")],
    )

    assert values(checked(tables, "answer-not-in-texts")) == ["Grey Coast"]


def test_negatives() -> None:
    tables = tables_of(
        documents=[
            Document("a", LONG),
            Document("b", LONG),
            Document("c", LONG + " more"),
            Document("d", "Else it is"),
        ],
        triplets=[
            Triplet("1", "a", "b"),
            Triplet("1", "a", "c"),
            Triplet("1", "a", "d"),
            Triplet("2", "d", "a"),
            Triplet("3", "a", "d"),
            Triplet("3", "b", "a"),  # a positive by its id: what the rules of formats tell
        ],
    )

    assert values(checked(tables, "negative-like-positive")) == ["b", "c"]


@pytest.mark.parametrize(("leaves", "hubs"), [(200, ["hub"]), (90, [])], ids=["hub", "few-edges"])
def test_hubs(leaves: int, hubs: list[str]) -> None:
    edges = [Edge("hub", "has", f"leaf{n}") for n in range(leaves)]

    assert values(checked(tables_of(edges=edges), "hub-node")) == hubs


def test_a_node_in_a_twentieth_of_the_edges_is_a_hub() -> None:
    rest = [Edge(f"n{n}", "near", f"n{n + 1}") for n in range(1800)]

    assert values(checked(tables_of(edges=[*rest, *(Edge("it", "has", f"n{n}") for n in range(110))]), "hub-node")) == [
        "it"
    ]


def test_nodes_of_a_dense_graph_are_no_hubs() -> None:
    edges = [Edge(f"n{a}", f"r{r}", f"n{b}") for a in range(8) for b in range(8) for r in range(9)]

    assert checked(tables_of(edges=edges), "hub-node") == []


def test_reader_that_fails_is_reported_once() -> None:
    def broken() -> Any:
        raise ValueError("nobody can read this")
        yield

    tables = tables_of(documents=[Document("a", "…"), Document("b", "…")])
    tables.sources["qrels"] = broken
    tables.sources["questions"] = broken

    found = checked(tables)
    rules = [f.rule for f in found]
    assert (rules.count("quality-not-checked"), rules.count("few-words-text")) == (1, 2)
    assert "nobody can read this" in next(f.message for f in found if f.rule == "quality-not-checked")


WORDS = st.text(alphabet="ab 港\ud800\x00é", max_size=12)


@settings(max_examples=examples(150), deadline=None)
@given(st.text("ab Z.,-1\x85ŒœÂÃâ€™“’é§°×²ØÙВГ вЂβ•─│ﬁ\ufffd港\xa0", max_size=6))
def test_what_is_not_suspicious_is_not_odd_to_ftfy(text: str) -> None:
    assert not is_bad(text) or _SUSPICIOUS.search(text)
    assert all(not text[m.start() : m.start() + _BEFORE + 1].isascii() for m in BADNESS_RE.finditer(text))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.text("ab Z.1\x85ŒÂÃâ€™é×ØВжи•\ufffd港縺", max_size=9), max_size=8))
def test_places_among_runs_beyond_ascii_are_those_in_the_text(words: list[str]) -> None:
    text = " ".join(words)
    beyond = _beyond_ascii(text)

    found = [match.span() for match in _SUSPICIOUS.finditer(text)]
    assert [*_places(text, beyond, [*_SUSPICIOUS.finditer(beyond)])] == found
    assert (_PERHAPS.search(beyond) is None) == (_PERHAPS.search(text) is None)
    assert [m[0] for m in _ACCENTS_ALONE.finditer(beyond)] == [m[0] for m in _ACCENTS_ALONE.finditer(text)]
    for start, end in found:
        around = BADNESS_RE.search(text, max(0, start - _REACH), end + _REACH)
        assert _is_odd(BADNESS_RE, text, start, end) == (around is not None)


def test_answers_are_not_looked_for_where_gold_is_lost() -> None:
    tables = tables_of(
        documents=[Document("d", "The harbour.")],
        questions=[Question("1", "Where?", answer="Port Hale")],
        qrels=[Qrel("1", "d")],
    )
    tables.losses.add("dropped", "qrels", None, "the passage is not in the corpus")

    assert checked(tables, "answer-not-in-texts") == []


@settings(max_examples=examples(40), deadline=None)
@given(st.data())
def test_any_tables_are_checked(data: st.DataObject) -> None:
    ids = st.sampled_from(["1", "2", "", "港"])
    split = st.sampled_from([None, "train", "test"])
    draw = data.draw
    tables = tables_of(
        documents=draw(st.lists(st.builds(Document, ids, WORDS, st.none() | WORDS), max_size=4)),
        questions=draw(
            st.lists(st.builds(Question, ids | st.none(), WORDS, st.none() | WORDS, split=split), max_size=4)
        ),
        qrels=draw(st.lists(st.builds(Qrel, ids, ids, st.integers(-1, 2), split=split), max_size=4)),
        triplets=draw(st.lists(st.builds(Triplet, ids, ids, ids, split), max_size=4)),
    )

    assert "quality-not-checked" not in [f.rule for f in checked(tables)]


@needs("scifact-beir")
def test_scifact() -> None:
    report = validate(UPSTREAM_DATA / "scifact-beir", select=LETTERS, max_per_rule=0)

    assert report.by_rule == {"QU204": 4, "QU205": 6, "QU301": 2, "QU302": 60, "QU303": 1}
    assert all(f.line is not None for f in report.findings if f.rule != "shared-positives")


ODD = (
    "aZ9. <=\u0301\u0338\u0327\u00e9\u212b\ufb01\u00bd\u00b4\u00df\u0130\ud55c\u1112\u1161"
    "\u304b\u3099\uff9e\u6f22\u0436\u201c\ud800"
)


@given(st.text(ODD, max_size=8))
@example("\u0338aK\u3099\u0301")
def test_words_as_bytes_are_those_of_the_whole_text(text: str) -> None:
    given, whole = flat_bytes(text), _flat(text).encode("utf-8", "surrogatepass")

    assert [re.findall(rb"[0-9A-Za-z\x80-\xff]+", found.lower()) for found in (given, whole)] == 2 * [
        re.findall(rb"[0-9a-z\x80-\xff]+", whole.lower())
    ]
