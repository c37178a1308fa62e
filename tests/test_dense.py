"""Dense search is exact: the passages nearest by cosine, ties by ordinal, the same from both stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from ragdatakit.retrieval.vectors import stores as vector_stores
from ragdatakit.retrieval.vectors.dense import DensePart
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SearchOptions
from ragdatakit.schemas.retrieved import Query
from tests.model_server import DIMENSIONS, Fault, ModelServer, refusal, running_models, vector_of
from tests.vector_tools import TEXTS, built, passages_of, ranked, write_lines

StoreName = Literal["numpy", "lancedb"]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with running_models() as running:
        yield running


@pytest.fixture(params=["numpy", "lancedb"])
def store(request: pytest.FixtureRequest) -> StoreName:
    if request.param == "lancedb":
        pytest.importorskip("lancedb", reason="needs ragdatakit[lancedb]")
    name: StoreName = request.param
    return name


def asking(server: ModelServer, **more: Any) -> SearchOptions:
    return SearchOptions(embedder="openai:small", base_url=server.url, **more)


def given(folder: Path, vectors: np.ndarray[Any, Any], **more: Any) -> SearchOptions:
    np.save(folder / "vectors.npy", vectors)
    return SearchOptions(vectors=folder / "vectors.npy", **more)


def queries_file(folder: Path, vectors: np.ndarray[Any, Any]) -> tuple[Path, list[Query]]:
    """Vectors of the questions q0, q1 and so on."""
    np.save(folder / "queries.npy", vectors)
    (folder / "queries.ids.txt").write_text("".join(f"q{i}\n" for i in range(len(vectors))))
    return folder / "queries.npy", [Query("?", f"q{i}") for i in range(len(vectors))]


def brute(vectors: np.ndarray[Any, Any], query: np.ndarray[Any, Any], k: int) -> list[int]:
    scaled = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1)[:, None]
    scores = np.round(scaled @ query.astype(np.float64) / np.linalg.norm(query.astype(np.float64)), 6)
    return sorted(range(len(vectors)), key=lambda i: (-scores[i], i))[:k]


def test_passages_are_found_by_their_vectors(server: ModelServer, tmp_path: Path, store: StoreName) -> None:
    passages = passages_of(tmp_path / "passages", [*TEXTS, "  \n", "harbour"])
    part = DensePart(asking(server, vector_store=store), tmp_path / "cache")
    facts, ranker = built(part, tmp_path / "part", passages)
    assert facts["dimensions"] == DIMENSIONS and facts["store"] == store and facts["model"] == "small"
    assert (facts["vectors"], facts["without_vector"]) == (6, 1)
    ferry, blank, harbour = ranked(ranker, "the ferry leaves", " ", "harbour", k=3)
    expected = brute(np.asarray([vector_of(t) for t in TEXTS]), np.asarray(vector_of("the ferry leaves")), 3)
    assert ferry.ordinals.tolist() == expected
    assert blank.ordinals.tolist() == []
    assert harbour.ordinals.tolist()[:2] == [4, 6]
    assert harbour.scores.tolist()[:2] == [1.0, 1.0]
    assert ferry.ordinals.dtype == np.int64 and ferry.scores.dtype == np.float64


def test_all_passages_with_a_vector_are_ranked(server: ModelServer, tmp_path: Path, store: StoreName) -> None:
    passages = passages_of(tmp_path / "passages", [*TEXTS, ""])
    _, ranker = built(DensePart(asking(server, vector_store=store), tmp_path / "c"), tmp_path / "part", passages)
    (found,) = ranked(ranker, "the ferry leaves", k=1000)
    assert sorted(found.ordinals.tolist()) == [0, 1, 2, 3, 4]
    assert (found.scores < 0).any()


def test_killed_run_goes_on(server: ModelServer, tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(300)]
    passages = passages_of(tmp_path / "passages", texts)
    server.fail(*[Fault()] * 2, *[refusal(400)] * 40)
    with pytest.raises(RagdataError, match=r"\(passage 'p\d+'\)"):
        built(DensePart(asking(server), tmp_path / "cache"), tmp_path / "part", passages)
    server.faults.clear()
    server.calls.clear()
    _, ranker = built(DensePart(asking(server), tmp_path / "cache"), tmp_path / "again", passages)
    assert 0 < sum(len(call.payload["input"]) for call in server.calls) < 300
    assert ranked(ranker, "text 7", k=1)[0].ordinals.tolist() == [7]


def test_texts_that_were_cut_are_reported(server: ModelServer, tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages", ["word " * 1000])
    server.fail(refusal(413))
    facts, _ = built(DensePart(asking(server), tmp_path / "cache"), tmp_path / "part", passages)
    assert (facts["texts_cut"], facts["first_cut"]) == (1, "p0")


def test_progress_is_reported(server: ModelServer, tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages")
    seen: list[tuple[str, int, int]] = []
    (tmp_path / "part").mkdir()
    part = DensePart(asking(server), tmp_path / "cache")
    part.build(tmp_path / "part", passages, lambda: None, lambda *all_: seen.append(all_))  # type: ignore[arg-type,return-value]
    assert seen == [("embedding passages", 0, 5), ("embedding passages", 5, 5)]


def test_given_vectors_and_questions(tmp_path: Path, store: StoreName) -> None:
    random = np.random.default_rng(7)
    vectors = random.normal(size=(50, 8)) * random.uniform(0.1, 9, size=(50, 1))
    asked = random.normal(size=(70, 8))
    passages = passages_of(tmp_path / "passages", [f"text {i}" for i in range(50)])
    path, queries = queries_file(tmp_path, asked)
    options = given(tmp_path, vectors, query_vectors=path, vector_store=store)
    facts, ranker = built(DensePart(options), tmp_path / "part", passages)
    assert facts["dimensions"] == 8 and facts["vectors"] == 50
    for ranking, query in zip(ranker.rank(queries, 9), asked, strict=True):
        assert ranking.ordinals.tolist() == brute(vectors, query, 9)


def test_blocks_give_the_same_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(8)
    vectors = random.integers(-2, 3, size=(5000, 4)).astype(np.float32)  # few different ones: many ties
    vectors[(vectors == 0).all(axis=1)] = 1
    path, queries = queries_file(tmp_path, random.integers(-2, 3, size=(9, 4)) + 0.5)
    passages = passages_of(tmp_path / "passages", map(str, range(5000)))
    _, ranker = built(DensePart(given(tmp_path, vectors, query_vectors=path)), tmp_path / "part", passages)
    whole = ranker.rank(queries, 40)
    monkeypatch.setattr(vector_stores, "_BLOCK_BYTES", 1)
    asked = np.load(path)
    for one, ranking, query in zip(ranker.rank(queries, 40), whole, asked, strict=True):
        np.testing.assert_array_equal(one.ordinals, ranking.ordinals)
        np.testing.assert_array_equal(one.scores, ranking.scores)
        assert one.ordinals.tolist() == brute(vectors, query, 40)


def test_questions_alone_and_together_rank_the_same(tmp_path: Path) -> None:
    random = np.random.default_rng(9)
    path, queries = queries_file(tmp_path, random.normal(size=(65, 33)))
    vectors = np.repeat(random.normal(size=(30, 33)), 10, axis=0)
    passages = passages_of(tmp_path / "passages", map(str, range(300)))
    _, ranker = built(DensePart(given(tmp_path, vectors, query_vectors=path)), tmp_path / "part", passages)
    for query, ranking in zip(queries, ranker.rank(queries, 25), strict=True):
        alone = ranker.rank([query], 25)[0]
        assert alone.ordinals.tolist() == ranking.ordinals.tolist()
        assert alone.scores.tolist() == ranking.scores.tolist()


def test_equal_passages_come_by_ordinal(tmp_path: Path, store: StoreName) -> None:
    path, queries = queries_file(tmp_path, np.ones((1, 3)))
    passages = passages_of(tmp_path / "passages", ["same"] * 3000)
    options = given(tmp_path, np.full((3000, 3), 0.3), query_vectors=path, vector_store=store)
    _, ranker = built(DensePart(options), tmp_path / "part", passages)
    if store == "numpy":
        assert ranker.rank(queries, 5)[0].ordinals.tolist() == [0, 1, 2, 3, 4]
    assert len(ranker.rank(queries, 5)[0].ordinals) == 5


def test_table_opens_with_lancedb_itself(server: ModelServer, tmp_path: Path) -> None:
    lancedb = pytest.importorskip("lancedb", reason="needs ragdatakit[lancedb]")
    passages = passages_of(tmp_path / "passages", [*TEXTS, "half \ud83d", ""])
    built(DensePart(asking(server, vector_store="lancedb"), tmp_path / "cache"), tmp_path / "part", passages)
    (tmp_path / "part").rename(tmp_path / "moved")
    table = lancedb.connect(str(tmp_path / "moved" / "lancedb")).open_table("passages")
    rows = table.to_arrow().to_pylist()
    assert [row["id"] for row in rows] == ["p0", "p1", "p2", "p3", "p4", "p5"]
    assert rows[5]["text"] == "half ?"
    assert table.search(vector_of("harbour")).limit(1).to_list()[0]["id"] == "p4"


def test_questions_without_a_vector(tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages")
    options = given(tmp_path, np.eye(5))
    _, ranker = built(DensePart(options), tmp_path / "part", passages)
    with pytest.raises(RagdataError, match=r"the question 'why' has no vector: give --embedder .*--query-vectors"):
        ranked(ranker, "why")
    path, queries = queries_file(tmp_path, np.eye(5)[:2])
    _, ranker = built(DensePart(replace(options, query_vectors=path)), tmp_path / "again", passages)
    assert [r.ordinals[0] for r in ranker.rank(queries, 1)] == [0, 1]
    with pytest.raises(RagdataError, match=r"2 questions \('q7' first\) have no vector in .*queries\.npy"):
        ranker.rank([*queries, Query("?", "q7"), Query("why")], 1)


def test_given_vectors_of_passages_and_embedded_questions(server: ModelServer, tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages")
    options = given(tmp_path, np.asarray([vector_of(t) for t in TEXTS]))
    options = replace(options, embedder="openai:small", base_url=server.url)
    _, ranker = built(DensePart(options, tmp_path / "cache"), tmp_path / "part", passages)
    assert [r.ordinals[0] for r in ranked(ranker, *TEXTS, k=1)] == [0, 1, 2, 3, 4]
    server.fail(Fault(change=lambda r: (r["data"][0].update(embedding=[0.0] * DIMENSIONS), r)[1]))
    with pytest.raises(RagdataError, match=r"a vector of zeros .*question 'unheard of'"):
        ranked(ranker, "unheard of")


def test_models_that_do_not_fit(tmp_path: Path) -> None:
    passages = passages_of(tmp_path / "passages")
    path, queries = queries_file(tmp_path, np.eye(4))
    _, ranker = built(DensePart(given(tmp_path, np.eye(5), query_vectors=path)), tmp_path / "part", passages)
    with pytest.raises(RagdataError, match=r"questions have 4 dimensions, those of the passages 5: .*different models"):
        ranker.rank(queries, 1)


def test_only_blank_passages(server: ModelServer, tmp_path: Path, store: StoreName) -> None:
    passages = passages_of(tmp_path / "passages", ["", " "])
    facts, ranker = built(DensePart(asking(server, vector_store=store), tmp_path / "c"), tmp_path / "part", passages)
    assert facts["vectors"] == 0
    assert ranked(ranker, "the ferry")[0].ordinals.tolist() == []


def test_settings_tell_parts_apart(server: ModelServer, tmp_path: Path) -> None:
    options = given(tmp_path, np.eye(5))
    first = DensePart(options).settings
    assert DensePart(options).settings == first
    np.save(tmp_path / "vectors.npy", np.eye(6))
    assert DensePart(options).settings != first
    assert DensePart(asking(server)).settings != DensePart(replace(asking(server), embedder="openai:large")).settings


def test_neither_embedder_nor_vectors() -> None:
    with pytest.raises(RagdataError, match="--embedder"):
        DensePart(SearchOptions())


def test_sparse_vectors_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": "p0", "vector": {"a": 1}}])
    with pytest.raises(RagdataError, match="has sparse vectors"):
        built(DensePart(SearchOptions(vectors=path)), tmp_path / "part", passages_of(tmp_path / "passages"))
