"""Contexts as LightRAG 1.5.7 itself gave them for recorded questions, over vectors of hashed words: the same entities,
relations and chunks in the same order, in all modes, with both ways to pick chunks and with tight budgets."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdatakit.retrieval.lightrag.context import Asked, RelationInfo, Settings, _related, retrieve
from ragdatakit.retrieval.lightrag.vector_store import VectorStore
from tests.command_line import FIXTURES, run
from tests.conversion_tools import read_tables, write_tables
from tests.lightrag_oracle import DIMENSION, Words
from tests.upstream_data import published

RECORDED = json.loads((Path(__file__).parent / "lightrag_contexts.json").read_text(encoding="utf-8"))


def _embedded(text: str) -> Any:
    found = np.zeros(DIMENSION, dtype=np.float32)
    for word in re.findall(r"\w+", text.lower()):
        found[int(hashlib.md5(word.encode()).hexdigest(), 16) % DIMENSION] += 1
    if not found.any():
        found[0] = 1
    return found / np.linalg.norm(found)


def _folder(name: str, place: Path) -> Path:
    if name == "ingested":
        return FIXTURES / "lightrag" / "valid" / "ingested"
    source = published("lightrag-workdir")
    write_tables(read_tables(source), "lightrag", place, form="directory")
    return place


@pytest.mark.parametrize("name", RECORDED)
def test_contexts_are_those_of_lightrag(name: str, tmp_path: Path) -> None:
    recorded = RECORDED[name]
    store = VectorStore(_folder(name, tmp_path / "there"), _embedded)
    words = Words()
    wrong = []

    for row in recorded["rows"]:
        text, high, low = row["question"]
        prompt = recorded["system_prompt"] + (recorded["kg_prompt"] if row["mode"] != "naive" else 0)
        entity_tokens, relation_tokens, total_tokens = row["budgets"]
        settings = Settings(
            top_k=row["top_k"],
            chunk_top_k=row["chunk_top_k"],
            entity_tokens=entity_tokens,
            relation_tokens=relation_tokens,
            total_tokens=total_tokens,
            prompt_tokens=prompt,
            pick=row["pick"],
            count=lambda told: len(words.encode(told)),
        )
        found = retrieve(store, row["mode"], Asked.of(text, low, high), settings)
        same = found.entities == row["entities"] and found.chunks == row["chunks"]
        if not same or list(map(set, found.relations)) != list(map(set, row["relations"])):
            wrong.append(f"{row['mode']} {row['pick']} {row['budgets']}: {text}")

    assert not wrong, "\n".join(wrong)
    assert len(recorded["rows"]) == 120


class Texts:
    """A store of which only the texts of chunks are asked."""

    def text(self, chunk: str) -> str | None:
        return None if chunk == "gone" else f"text of {chunk}"


def test_relations_add_the_chunks_that_no_entity_named() -> None:
    infos = [
        RelationInfo("", 1.0, ("a", "b")),
        None,
        RelationInfo("", 1.0, ("b", "c", "gone")),
        RelationInfo("", 1.0, ("a",)),
    ]
    settings = Settings(pick="weight")

    def related(taken: set[str] | None) -> list[str]:
        return _related(Texts(), Asked("which?"), settings, infos, taken)  # type: ignore[arg-type]

    assert related({"a"}) == ["b", "c"]
    assert related({"a", "b", "c", "gone"}) == []
    assert related(set()) == related(None) == ["a", "b", "c"]


def test_modes_of_retrieve_differ_over_words() -> None:
    folder = FIXTURES / "lightrag" / "valid" / "ingested"
    found = {}
    for mode in ("local", "global", "hybrid", "mix", "naive"):
        outcome = run(
            "retrieve",
            "--output-format",
            "json",
            "--mode",
            f"lightrag-{mode}",
            "-k",
            "2",
            folder,
            "Who mapped the reef?",
        )
        assert outcome.code == 0, outcome.err
        (query,) = outcome.json["queries"]
        found[mode] = [hit["id"] for hit in query["hits"]]

    assert all(set(ids) == set(found["naive"]) for ids in found.values())
    assert found["local"][0] == "doc-821d40870c78899600d64971bc0497a4-chunk-000"


def test_without_a_graph_they_are_refused() -> None:
    outcome = run("retrieve", "--mode", "lightrag-mix", FIXTURES / "beir" / "valid" / "splits", "pears")

    assert outcome.code == 2
    assert "the dataset has no graph" in outcome.err
