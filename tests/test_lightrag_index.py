"""LightRAG's modes with an embedder behind an endpoint, as a part of an index, and with keywords of a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import FIXTURES, run
from tests.model_server import running_models


def test_an_embedder_makes_the_vectors_where_the_dataset_has_none(tmp_path: Path) -> None:
    """Of a directory with vectors of another dimension it is refused: the model is not the one that made them."""
    search = ("--embedder", "openai:small", "--mode", "lightrag-mix", "-k", "3", "--json")
    with running_models() as server:
        asked = (*search, "--base-url", server.url, "--api-key-env", "RAGDATA_TEST_KEY")
        plain = run("retrieve", FIXTURES / "gfm-rag" / "valid" / "both-loaders", "What is on Page 1?", *asked)
        given = run("retrieve", FIXTURES / "lightrag" / "valid" / "ingested", "Who mapped the reef?", *asked)

    assert plain.code == 0, plain.err
    assert plain.json["queries"][0]["hits"]
    assert given.code == 2
    assert "the question's vector has 16 dimensions" in given.err


def test_an_index_is_built_of_the_vectors_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"id": "pears", "vector": [1, 2]}\n')
    words = ("--mode", "lightrag-mix", "--query-vectors", tmp_path / "v.jsonl", "--json")

    outcome = run("index", FIXTURES / "lightrag" / "valid" / "ingested", *words)

    assert outcome.code == 0, outcome.err
    (part,) = [part for part in outcome.json["parts"] if part["kind"] == "lightrag"]
    assert part["facts"] == {"entities": 5, "relations": 4, "found_by": "given", "vectors": 11}


@pytest.mark.parametrize("keywords", ['"pears"', "[1]", "{}"])
def test_keywords_are_lists_of_texts(keywords: str, tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(f'{{"text": "reef", "ll_keywords": {keywords}}}\n')

    outcome = run("retrieve", FIXTURES / "lightrag" / "valid" / "ingested", "--questions", tmp_path / "q.jsonl")

    assert outcome.code == 2
    assert "ll_keywords is not a list of texts" in outcome.err
