"""BM25 by tantivy: the same passages as another library finds, equal scores in the order of the data, any question."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.retrieval import lexical
from ragdatakit.retrieval.index_parts import Ranking
from ragdatakit.retrieval.lexical import LexicalPart, LexicalRanker
from ragdatakit.retrieval.passages import Passage, Passages, write_passages
from ragdatakit.retrieval.terms.tokens import Tokenizer
from ragdatakit.schemas.errors import MissingExtraError, RagdataError
from ragdatakit.schemas.retrieved import Query

np = pytest.importorskip("numpy")
pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")

PLAIN = Tokenizer(stemmer="none")
Open = Callable[[Sequence[str]], LexicalRanker]


def no_tables() -> CanonicalTables:
    raise AssertionError("the passages are enough")


def passages_of(folder: Path, texts: Sequence[str | Passage]) -> Passages:
    folder.mkdir()
    write_passages(folder, (t if isinstance(t, Passage) else Passage(f"d{n}", t) for n, t in enumerate(texts)))
    return Passages(folder, "document")


def opened(folder: Path, texts: Sequence[str | Passage], tokenizer: Tokenizer = PLAIN) -> LexicalRanker:
    folder.mkdir(exist_ok=True)
    passages = passages_of(folder / "passages", texts)
    part, built = LexicalPart(tokenizer), folder / "lexical"
    built.mkdir()
    assert part.build(built, passages, no_tables, None)["passages"] == len(texts)
    return part.open(built, passages)


def found(ranker: LexicalRanker, text: str, k: int = 10) -> list[int]:
    ranking = ranker.rank([Query(text)], k)[0]
    assert isinstance(ranking, Ranking)
    assert ranking.ordinals.dtype == np.int64 and ranking.scores.dtype == np.float64
    assert (np.diff(ranking.scores) <= 0).all() and (ranking.scores > 0).all()
    return [int(ordinal) for ordinal in ranking.ordinals]


def generated(seed: int, number: int, longest: int = 40) -> list[str]:
    chance = random.Random(seed)
    words = [f"w{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(600)]
    weights = [1 / (n + 1) for n in range(600)]
    return [" ".join(chance.choices(words, weights, k=chance.randint(1, longest))) for _ in range(number)]


@pytest.mark.parametrize(("longest", "tolerance"), [(40, 1e-4), (100, 0.05)], ids=["exact", "lengths-rounded"])
def test_another_library_finds_the_same(tmp_path: Path, longest: int, tolerance: float) -> None:
    bm25s = pytest.importorskip("bm25s")
    texts = generated(1, 1000, longest)
    ranker = opened(tmp_path / "index", texts)
    oracle = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    oracle.index([PLAIN.tokens(text) for text in texts], show_progress=False)
    overlaps = []
    for query in generated(2, 100, 8):
        scores = oracle.get_scores(PLAIN.tokens(query))
        best = np.lexsort((np.arange(len(texts)), -scores))[: min(10, np.count_nonzero(scores))]
        ranking = ranker.rank([Query(query)], 10)[0]
        overlaps.append(np.isin(ranking.ordinals, best).mean())
        # tantivy keeps a byte of a length, exact up to 40 tokens; the other library leaves out the factor k1 + 1.
        assert ranking.scores == pytest.approx(scores[best] * 2.2, rel=tolerance)
    assert np.mean(overlaps) >= 0.95


def test_repeated_words_weigh_more(tmp_path: Path) -> None:
    ranker = opened(tmp_path / "index", ["alpha", "beta", "gamma delta"])
    once, twice = (ranker.rank([Query(q)], 3)[0] for q in ("alpha beta", "beta alpha beta"))
    assert list(once.ordinals) == [0, 1] and list(twice.ordinals) == [1, 0]
    assert twice.scores[0] == pytest.approx(2 * once.scores[1])


def test_title_and_context_are_searched(tmp_path: Path) -> None:
    ranker = opened(tmp_path / "index", [Passage("a", "text", "title", "context"), Passage("b", "other")])
    assert [found(ranker, word) for word in ("title", "context", "text", "other")] == [[0], [0], [0], [1]]


@pytest.fixture(scope="module")
def tied(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], LexicalRanker]:
    """Many passages with equal scores, better ones among them, some of them at the end alone."""
    chance = random.Random(5)
    texts = ["nothing here"] * 300 + [chance.choice(["a b c", "a", "b c c", "c d d", "a c"]) for _ in range(900)]
    texts += ["nothing here"] * 300 + ["late one"] * 200
    return texts, opened(tmp_path_factory.mktemp("tied"), texts)


class TestTies:
    @pytest.mark.parametrize("k", [1, 3, 10, 39, 40, 60])
    def test_are_in_the_order_of_the_passages(self, tmp_path: Path, k: int) -> None:
        texts = ["ferry island", "nothing"] * 20 + ["ferry"] * 5
        ranker = opened(tmp_path / "index", texts)
        expected = [*range(40, 45), *range(0, 40, 2)]
        assert found(ranker, "ferry", k) == expected[:k]

    @pytest.mark.parametrize("k", [1, 5, 20, 400, 2000])
    @pytest.mark.parametrize("most", [32, 8192], ids=["few-fetched", "many-fetched"])
    def test_do_not_depend_on_the_engine(
        self, tied: tuple[list[str], LexicalRanker], monkeypatch: pytest.MonkeyPatch, k: int, most: int
    ) -> None:
        texts, ranker = tied
        sorted_hits = LexicalRanker._hits

        def last_first(self: LexicalRanker, query: Any, limit: int) -> tuple[Any, Any]:
            """Equal scores in the wrong order, and not quite equal."""
            ordinals, scores = sorted_hits(self, query, len(texts))
            scores = scores * (1 - ordinals * 7919 % 100 * 1e-9)
            order = np.lexsort((-ordinals, -scores))[:limit]
            return ordinals[order], scores[order]

        monkeypatch.setattr(lexical, "_MOST_FETCHED", most)
        for query in ("a", "c", "a b", "d", "a b c d", "nothing", "late"):
            every = ranker.rank([Query(query)], len(texts))[0]
            score = {texts[o]: s for o, s in zip(every.ordinals.tolist(), every.scores.tolist(), strict=True)}
            expected = sorted((n for n, text in enumerate(texts) if text in score), key=lambda n: (-score[texts[n]], n))
            assert {w for text in score for w in text.split()} >= set(query.split())
            with monkeypatch.context() as patch:
                patch.setattr(LexicalRanker, "_hits", last_first)
                assert found(ranker, query, k) == expected[:k]

    def test_across_segments(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lexical, "_HEAP", 15_000_000)
        chance = random.Random(7)
        kinds = [" ".join(chance.choices([f"w{n}" for n in range(50)], k=12)) for _ in range(40)]
        texts = [f"{chance.choice(kinds)} x{n}" for n in range(30_000)]
        ranker = opened(tmp_path / "index", texts)
        assert ranker._searcher.num_segments > 1
        for kind in kinds[:5]:
            best = [n for n, text in enumerate(texts) if text.startswith(kind + " ")]
            assert found(ranker, kind, 50) == best[:50]

    def test_scores_that_differ_by_a_rounding_are_equal(self) -> None:
        scores = np.array([2.0, 2.0 * (1 - 1e-7), 1.5, 1.0, 1.0 - 1e-7])
        ranking = lexical._ordered(np.array([7, 3, 9, 8, 1]), scores, 4)
        assert ranking.ordinals.tolist() == [3, 7, 9, 1]
        assert ranking.scores.tolist() == [2.0, 2.0, 1.5, 1.0]


@pytest.fixture(scope="module")
def ranker(tmp_path_factory: pytest.TempPathFactory) -> LexicalRanker:
    folder = tmp_path_factory.mktemp("lexical")
    return opened(folder, ["the ferry leaves at nine", "an island", "渡し船", "x" * 100_000, ""])


class TestAnyQuestion:
    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            pytest.param("ferry", [0], id="word"),
            pytest.param("船", [2], id="character"),
            pytest.param("", [], id="empty"),
            pytest.param("zebra", [], id="unknown-word"),
            pytest.param("\0\ud800\x1b[31m \u202e", [], id="control-characters"),
            pytest.param('ferry AND NOT text:"(', [0], id="query-syntax"),
            pytest.param("+ferry -island ordinal:[0 TO 9]", [1, 0], id="operators"),
            pytest.param("x" * 100_000, [3], id="long-word"),
            pytest.param("ferry " * 10_000, [0], id="often-the-same"),
            pytest.param(" ".join(f"q{n}" for n in range(5_000)) + " island", [1], id="thousands-of-words"),
        ],
    )
    def test_is_answered(self, ranker: LexicalRanker, question: str, expected: list[int]) -> None:
        assert found(ranker, question) == expected

    @pytest.mark.parametrize(("k", "number"), [(0, 0), (1, 1), (2, 2), (5, 2), (10**9, 2)])
    def test_any_k(self, ranker: LexicalRanker, k: int, number: int) -> None:
        assert len(found(ranker, "ferry island", k)) == number

    def test_no_question(self, ranker: LexicalRanker) -> None:
        assert ranker.rank([], 10) == []

    def test_known_tokens(self, ranker: LexicalRanker) -> None:
        tokens = ("ferry", "渡", "Ferry", "zebra", "", "\0", "\ud800", "y" * 100_000)
        assert [token for token in tokens if ranker.known(token)] == ["ferry", "渡"]
        assert ranker.document_frequency("the") == 1


@pytest.mark.parametrize("texts", [[], [""], ["\0", "\ud800"]], ids=["none", "empty", "no-tokens"])
def test_nothing_to_find(tmp_path: Path, texts: list[str]) -> None:
    ranker = opened(tmp_path / "index", texts)
    assert found(ranker, "ferry") == []
    assert not ranker.known("ferry")


def test_the_same_passages_give_the_same_ranking(tmp_path: Path) -> None:
    texts = generated(3, 3000)
    one, two = (opened(tmp_path / name, texts) for name in ("one", "two"))
    queries = [Query(text) for text in generated(4, 50, 6)]
    for a, b in zip(one.rank(queries, 100), two.rank(queries, 100), strict=True):
        assert a.ordinals.tolist() == b.ordinals.tolist() and a.scores.tolist() == b.scores.tolist()


def test_progress_and_settings(tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages", ["a"] * 25)
    calls: list[tuple[str, int, int]] = []
    part = LexicalPart(PLAIN)
    (tmp_path / "index").mkdir()
    part.build(tmp_path / "index", passages, no_tables, lambda *call: calls.append(call))
    assert calls[0][1:] == (0, 25) and calls[-1][1:] == (25, 25)
    assert part.kind == "lexical"
    assert part.settings["tokenizer"] == PLAIN.settings and "tantivy" in part.settings["tantivy"]
    assert LexicalPart(Tokenizer(stemmer="german")).settings != part.settings


def test_what_is_not_an_index(tmp_path: Path) -> None:
    ranker = opened(tmp_path / "index", ["a"])
    assert found(ranker, "a") == [0]
    (tmp_path / "index" / "lexical" / "meta.json").write_text("{}")
    with pytest.raises(RagdataError, match="lexical index cannot be opened"):
        LexicalRanker(tmp_path / "index" / "lexical", PLAIN)
    with pytest.raises(RagdataError, match="lexical index cannot be opened"):
        LexicalRanker(tmp_path / "missing", PLAIN)


def test_missing_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ragdatakit\[retrieval\]'"):
        LexicalRanker(tmp_path, PLAIN)


def test_a_folder_that_is_read_only_is_not_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["the ferry leaves", "the harbour", "ferry and harbour"]
    there = found(opened(tmp_path, texts), "ferry")
    for lock in (tmp_path / "lexical").glob(".tantivy-*.lock"):
        lock.unlink()
    before = sorted(p.name for p in (tmp_path / "lexical").iterdir())
    monkeypatch.setattr("os.access", lambda *_: False)

    ranker = LexicalRanker(tmp_path / "lexical", PLAIN)

    assert found(ranker, "ferry") == there == [0, 2]
    assert sorted(p.name for p in (tmp_path / "lexical").iterdir()) == before
