"""The retriever: modes and what they lack, fusion, snippets, paths, notes; over every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ragdatakit
from ragdatakit import SearchOptions
from ragdatakit.retrieval.fusion import fuse
from ragdatakit.retrieval.retriever import Retriever
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.retrieved import PathStep, Query
from tests.command_line import FIXTURES
from tests.search_tools import BLANK, DOCUMENTS, write_beir

pytest.importorskip("tantivy", reason="needs ragdatakit[retrieval]")
pytest.importorskip("Stemmer", reason="needs ragdatakit[retrieval]")
pytest.importorskip("scipy", reason="needs ragdatakit[retrieval]")

VALID = [p.relative_to(FIXTURES).as_posix() for p in FIXTURES.glob("*/valid/*") if p.is_dir()]
UNSEARCHABLE = {
    "arag/valid/results-alone": r"has no passages to search.* \(it has answers only\)",
    "beir/broken/missing-file-2/data": r"has no passages to search.* \(it has qrels only\)",
    "beir/broken/missing-file/data": r"\(it has questions, qrels only\); give the folder that holds the corpus",
    "datamind/valid/results": r"has no passages to search",
    "datamind/valid/skills": r"\(it has assets only\)",
    "graphrag/valid/extraction": r"has no passages to search",
    "gfm-rag/valid/many": r"holds 3 datasets; give one of them with --dataset: hotpotqa_test",
    "hipporag/valid/two-sets": r"give one of them with --dataset: harbours, reefs",
    "lightrag/valid/extraction": r"has no passages to search",
    "sage/valid/array": r"has no passages to search",
    "sage/valid/benchmark": r"has no passages to search",
    "sage/valid/documented": r"has no passages to search",
    "sage/valid/dumps": r"has no passages to search",
    "sage/valid/one-record": r"has no passages to search",
    "sage/valid/refined-then-reranked": r"has no passages to search",
    "trec/valid/judgements-alone": r"has no passages to search",
    "trec/valid/numbered-topics": r"has no passages to search",
    "trec/valid/run-alone": r"\(it has runs only\)",
    "trec/valid/topic-lines": r"has no passages to search",
}
GRAPH = FIXTURES / "gfm-rag" / "valid" / "minimal"


pytestmark = pytest.mark.usefixtures("shared_cache")


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_beir(tmp_path / "notes", DOCUMENTS | BLANK)


@pytest.fixture
def retriever(dataset: Path) -> Retriever:
    return ragdatakit.open_retriever(dataset)


def test_terms_find_passages(retriever: Retriever) -> None:
    found = retriever.search("When do ferries leave the harbour?", k=2)

    assert [hit.passage_id for hit in found.hits] == ["ferry", "tunnel"]
    assert [hit.rank for hit in found.hits] == [1, 2]
    assert found.hits[0].score > found.hits[1].score > 0
    assert found.hits[0].title == "The ferry" and found.hits[1].title is None
    snippet = found.hits[0].snippet
    assert snippet is not None
    assert [snippet.text[start:end] for start, end in snippet.marks] == ["ferry", "leaves", "harbour"]
    assert found.mode == "bm25" and found.k == 2 and found.seconds >= 0
    assert found.notes == ("Not in the index: When, do.",)
    assert found.hits[0].ranks == {} and found.hits[0].path == ()


def test_rank_gives_ordinals(retriever: Retriever) -> None:
    rankings = retriever.rank([Query("ferry"), Query("nothing at all"), Query("strait")], "bm25", 10)

    assert [ranking.ordinals.tolist() for ranking in rankings] == [[0], [], [1, 0]]
    assert retriever.rank([], "bm25", 10) == []


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("airport runway", ("No term of the question is in the index (airport, runway).",)),
        ("the of and", ("The question has no terms: it is empty, or has stop words and punctuation only.",)),
        ("?!", ("The question has no terms: it is empty, or has stop words and punctuation only.",)),
        ("ferry Airports", ("Not in the index: Airports.",)),
        ("ferry", ()),
        ("\ud800 \0 ferry", ()),
    ],
    ids=["unknown", "stop words", "punctuation", "one unknown", "known", "hostile"],
)
def test_notes(retriever: Retriever, text: str, notes: tuple[str, ...]) -> None:
    assert retriever.search(text).notes == notes


def test_modes_without_what_they_need(retriever: Retriever) -> None:
    assert retriever.modes() == ("bm25",)
    assert retriever.graph is None
    for mode, each in {
        "sparse": "there are no learned-sparse vectors of the passages",
        "dense": "there are no vectors of the passages",
        "hybrid": "there is nothing to fuse with bm25",
    }.items():
        with pytest.raises(RagdataError, match=f"mode {mode} is not available for notes: {each}"):
            retriever.search("ferry", mode)
    with pytest.raises(UnknownNameError, match="unknown mode 'bm52', did you mean bm25"):
        retriever.search("ferry", "bm52")


def test_a_graph_of_names_only_where_it_is_asked_for(dataset: Path) -> None:
    asked = ragdatakit.open_retriever(dataset, search=SearchOptions(graph="names"))
    given = ragdatakit.open_retriever(dataset, search=SearchOptions(graph="given"))

    assert asked.modes() == ("bm25", "graph", "hybrid")
    assert given.modes() == ("bm25",)
    with pytest.raises(RagdataError, match="mode graph is not available for notes: the dataset has no graph"):
        given.search("ferry", "graph")
    found = ragdatakit.open_retriever(dataset).search("ferry", "graph")
    assert "The dataset has no graph: this one was made of the names in its texts." in found.notes
    assert asked.search("ferry", "graph").notes == found.notes[1:]


@pytest.mark.parametrize("k", [0, -1, 1.5, True, 10**9])
def test_depths_that_make_no_sense(retriever: Retriever, k: Any) -> None:
    with pytest.raises(RagdataError, match=r"k is .*, expected an integer from 1 to 100,000"):
        retriever.search("ferry", k=k)


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
def test_weights_that_make_no_sense(dataset: Path, weight: float) -> None:
    with pytest.raises(RagdataError, match="the weight of bm25 is"):
        ragdatakit.open_retriever(dataset, search=SearchOptions(fuse={"bm25": weight}))


def test_modes_to_fuse_that_there_are_not(dataset: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown mode to fuse 'hybrid'"):
        ragdatakit.open_retriever(dataset, search=SearchOptions(fuse={"hybrid": 1}))


def write_vectors(path: Path, vectors: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps({"id": name, "vector": v}) + "\n" for name, v in vectors.items()))
    return path


def test_all_modes_fused(dataset: Path, tmp_path: Path) -> None:
    passages = write_vectors(tmp_path / "p.jsonl", {"ferry": [0, 1], "bridge": [1, 0], "tunnel": [1, 1]})
    asked = write_vectors(tmp_path / "q.jsonl", {"q1": [1, 0]})
    # Files may be given as texts, too.
    options = SearchOptions(vectors=str(passages), query_vectors=str(asked), fuse={"bm25": 1, "dense": 2})  # type: ignore[arg-type]
    retriever = ragdatakit.open_retriever(dataset, search=options)

    assert retriever.modes() == ("bm25", "dense", "hybrid")
    query = Query("ferry", "q1")
    found = retriever.search(query, "hybrid")
    bm25, dense = (retriever.rank([query], mode, 100)[0] for mode in ("bm25", "dense"))
    expected = fuse({"bm25": bm25, "dense": dense}, {"bm25": 1, "dense": 2}, 60, 10)

    ids = [retriever.index.passages.id(ordinal) for ordinal in expected.ordinals]
    assert [(hit.passage_id, hit.score) for hit in found.hits] == list(zip(ids, expected.scores, strict=True))
    assert {hit.passage_id: dict(hit.ranks) for hit in found.hits}["ferry"] == {"bm25": 1, "dense": 3}
    assert retriever.rank([query], "hybrid", 10)[0].ordinals.tolist() == expected.ordinals.tolist()


def test_sparse_vectors_are_not_dense_ones(dataset: Path, tmp_path: Path) -> None:
    vectors = {"ferry": {"boat": 1.0}, "bridge": {"road": 2.0}, "tunnel": {"road": 1.0}}
    passages = write_vectors(tmp_path / "p.jsonl", vectors)
    asked = write_vectors(tmp_path / "q.jsonl", {"q1": {"road": 1.0}})
    retriever = ragdatakit.open_retriever(dataset, search=SearchOptions(vectors=passages, query_vectors=asked))

    assert retriever.modes() == ("bm25", "sparse", "hybrid")
    assert [hit.passage_id for hit in retriever.search(Query("?", "q1"), "sparse").hits] == ["bridge", "tunnel"]


def test_the_graph_of_a_dataset() -> None:
    retriever = ragdatakit.open_retriever(GRAPH)
    question = next(row for row in ragdatakit.read(GRAPH).rows("questions"))
    starts = [row.node for row in ragdatakit.read(GRAPH).rows("start_nodes") if row.question_id == question.question_id]

    assert retriever.modes() == ("bm25", "graph", "hybrid")
    found = retriever.search(Query(question.text, question.question_id, tuple(starts)), "graph")

    assert set(found.seeds) <= set(starts) and found.seeds
    first = found.hits[0].path
    assert first and all(isinstance(step, PathStep) for step in first)
    assert first[0].source in found.seeds
    hybrid = retriever.search(Query(question.text, question.question_id, tuple(starts)), "hybrid")
    assert all(set(hit.ranks) <= {"bm25", "graph"} and hit.ranks for hit in hybrid.hits)
    assert all(bool(hit.path) <= ("graph" in hit.ranks) for hit in hybrid.hits)
    assert retriever.graph is not None


def test_many_at_once_find_the_same(retriever: Retriever) -> None:
    queries = [Query(text, str(number)) for number, text in enumerate(["ferry", "strait", "harbour"] * 50)]

    many = list(retriever.search_many(queries, k=3))

    assert [found.query for found in many] == queries
    for query, found in list(zip(queries, many, strict=True))[:3]:
        alone = retriever.search(query, k=3)
        assert [(h.passage_id, h.score) for h in found.hits] == [(h.passage_id, h.score) for h in alone.hits]


def test_the_functions_of_the_package(dataset: Path, tmp_path: Path) -> None:
    summary = ragdatakit.index(dataset, index_dir=tmp_path / "index")
    assert [part.kind for part in summary.parts] == ["lexical"]
    assert (summary.name, summary.format, summary.unit, summary.passages) == ("notes", "beir", "document", 4)
    assert Path(summary.folder) == tmp_path / "index"
    assert summary.notes == ("1 document has no text and cannot be found (blank)",)

    found = ragdatakit.retrieve(dataset, "ferry", k=1, index_dir=tmp_path / "index")
    assert [hit.passage_id for hit in found.hits] == ["ferry"]
    with pytest.raises(RagdataError, match="mode dense is not available"):
        ragdatakit.index(dataset, modes=["dense"])


def test_several_datasets(tmp_path: Path) -> None:
    for name in "abc":
        write_beir(tmp_path / "all" / name)

    with pytest.raises(RagdataError, match=r"holds 3 datasets; give one of them with --dataset: a, b, c"):
        ragdatakit.index(tmp_path / "all")


def test_of_several_datasets_the_named_folder_itself_is_meant(tmp_path: Path) -> None:
    write_beir(tmp_path / "set")
    write_beir(tmp_path / "set" / "more", {"other": ("", "another ferry")})

    assert ragdatakit.index(tmp_path / "set").passages == len(DOCUMENTS)
    assert ragdatakit.index(tmp_path / "set" / "more").passages == 1


def test_unknown_options(dataset: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown option 'no' of beir"):
        ragdatakit.index(dataset, options={"no": 1})
    with pytest.raises(UnknownNameError, match="unknown chunking option 'sise', did you mean size"):
        ragdatakit.index(dataset, chunking={"sise": 1})
    with pytest.raises(RagdataError, match="no such file or folder"):
        ragdatakit.index(dataset / "no")


def test_a_file_that_an_option_names_has_a_part(tmp_path: Path) -> None:
    """Another set of queries is read in place of the usual one: a change of it makes another index."""
    folder = write_beir(tmp_path / "notes")
    (folder / "mine.txt").write_text('{"_id": "q", "text": "ferry"}\n')
    first = ragdatakit.open_retriever(folder, options={"queries": "mine.txt"})
    (folder / "mine.txt").write_text('{"_id": "q", "text": "tunnel"}\n')
    second = ragdatakit.open_retriever(folder, options={"queries": "mine.txt"})

    assert first.index.folder != second.index.folder


@pytest.mark.parametrize("name", UNSEARCHABLE)
def test_a_dataset_that_cannot_be_searched(name: str) -> None:
    with pytest.raises(RagdataError, match=UNSEARCHABLE[name]):
        ragdatakit.open_retriever(FIXTURES / name)


@pytest.mark.broad(4)
@pytest.mark.parametrize("name", sorted(set(VALID) - set(UNSEARCHABLE)))
def test_every_valid_dataset_is_searched(name: str) -> None:
    retriever = ragdatakit.open_retriever(FIXTURES / name)
    passages = list(retriever.index.passages)
    wanted = next(p for p in passages if p.searched.strip())

    found = retriever.search(wanted.searched, k=len(passages))

    same = {p.passage_id for p in passages if p.searched == wanted.searched}
    assert found.hits[0].passage_id in same
    for mode in retriever.modes():
        retriever.search(wanted.searched, mode)
