"""Learned-sparse search is exact: the sums of products of weights, as plain dictionaries give them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ragdatakit.retrieval.vectors import sparse
from ragdatakit.retrieval.vectors.sparse import SparsePart
from ragdatakit.schemas.errors import RagdataError
from ragdatakit.schemas.options import SearchOptions
from ragdatakit.schemas.retrieved import Query
from tests.vector_tools import built, passages_of, ranked, write_lines

Weights = dict[str, float]


def some_vectors(count: int, seed: int, terms: int = 30) -> list[Weights]:
    generator = random.Random(seed)
    names = [f"term{i}" for i in range(terms)]
    return [{t: generator.choice([0.5, 1.0, 1.25, 3.0]) for t in generator.sample(names, 6)} for _ in range(count)]


def expected(vectors: list[Weights], query: Weights, k: int) -> list[tuple[int, float]]:
    scores = [(i, sum(w * v.get(t, 0.0) for t, w in query.items())) for i, v in enumerate(vectors)]
    return sorted((s for s in scores if s[1] > 0), key=lambda s: (-s[1], s[0]))[:k]


def test_scores_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse, "_ENTRIES", 100)  # several blocks
    vectors, asked = some_vectors(200, 1), some_vectors(20, 2, 40)
    order = list(range(200))
    random.Random(3).shuffle(order)
    path = write_lines(tmp_path / "v.jsonl", [{"id": f"p{i}", "contents": "", "vector": vectors[i]} for i in order])
    queries = write_lines(tmp_path / "q.jsonl", [{"id": i, "vector": v} for i, v in enumerate(asked)])
    passages = passages_of(tmp_path / "passages", map(str, range(200)))
    part = SparsePart(SearchOptions(vectors=path, query_vectors=queries))
    facts, ranker = built(part, tmp_path / "part", passages)
    assert facts == {"vectors": 200, "without_vector": 0, "terms": 30, "weights": 1200}
    for query, found in zip(asked, ranker.rank([Query("?", str(i)) for i in range(20)], 15), strict=True):
        assert list(zip(found.ordinals.tolist(), found.scores.tolist(), strict=True)) == expected(vectors, query, 15)
    assert {p.name for p in (tmp_path / "part").iterdir()} == {
        "terms.json",
        "starts.npy",
        "ordinals.npy",
        "weights.npy",
    }


def test_questions_by_id_and_by_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": f"p{i}", "vector": {f"t{i}": 1}} for i in range(5)])
    queries = write_lines(
        tmp_path / "q.jsonl",
        [
            {"id": "7", "text": "a question", "vector": {"t1": 2.0}},
            {"id": "the text itself", "vector": {"t2": 1.0, "unknown": 4.0}},
            {"id": "8", "vector": {}},
        ],
    )
    passages = passages_of(tmp_path / "passages")
    _, ranker = built(SparsePart(SearchOptions(vectors=path, query_vectors=queries)), tmp_path / "part", passages)
    found = ranked(ranker, Query("other", "7"), " a question ", "the text itself", Query("nothing", "8"), "")
    assert [r.ordinals.tolist() for r in found] == [[1], [1], [2], [], []]
    assert found[0].scores.tolist() == [2.0]


def test_question_without_weights(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": f"p{i}", "vector": {f"t{i}": 1}} for i in range(5)])
    passages = passages_of(tmp_path / "passages")
    _, ranker = built(SparsePart(SearchOptions(vectors=path)), tmp_path / "part", passages)
    with pytest.raises(RagdataError, match="the question 'why' has no vector: give sparse ones with --query-vectors"):
        ranked(ranker, "why")
    queries = write_lines(tmp_path / "q.jsonl", [{"id": "1", "vector": [1.0]}])
    part = SparsePart(SearchOptions(vectors=path, query_vectors=queries))
    with pytest.raises(RagdataError, match="dense vectors; the passages have sparse ones"):
        ranked(part.open(tmp_path / "part", passages), "why")


def test_negative_weights_and_zeros(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "v.jsonl",
        [
            {"id": "p0", "vector": {"a": 1, "b": -2}},
            {"id": "p1", "vector": {"a": 0.5, "c": 0}},
            {"id": "p2", "vector": {}},
        ],
    )
    queries = write_lines(tmp_path / "q.jsonl", [{"id": "1", "vector": {"a": 1, "b": 1, "c": 1}}])
    passages = passages_of(tmp_path / "passages", ["x", "y", "z"])
    facts, ranker = built(SparsePart(SearchOptions(vectors=path, query_vectors=queries)), tmp_path / "part", passages)
    assert ranked(ranker, Query("?", "1"))[0].ordinals.tolist() == [1]
    assert facts == {"vectors": 2, "without_vector": 1, "zeros": 1, "terms": 2, "weights": 3}


def test_dense_vectors_are_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "v.jsonl", [{"id": "p0", "vector": [1.0]}])
    with pytest.raises(RagdataError, match="has dense vectors"):
        built(SparsePart(SearchOptions(vectors=path)), tmp_path / "part", passages_of(tmp_path / "passages"))
    with pytest.raises(RagdataError, match="--vectors"):
        SparsePart(SearchOptions())
