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

from ragdatakit.retrieval.lightrag.context import Asked, ContextSearch, RelationInfo, Settings, retrieve
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
            count=lambda shown: len(words.encode(shown)),
        )
        found = retrieve(store, row["mode"], Asked.of(text, low, high), settings)
        same = found.entities == row["entities"] and found.chunks == row["chunks"]
        if not same or list(map(set, found.relations)) != list(map(set, row["relations"])):
            wrong.append(f"{row['mode']} {row['pick']} {row['budgets']}: {text}")

    assert not wrong, "\n".join(wrong)
    assert len(recorded["rows"]) == 120


@pytest.mark.parametrize("name", RECORDED)
def test_the_command_line_finds_the_same_over_the_vectors_of_the_directory(name: str, tmp_path: Path) -> None:
    """Entities, relations and chunks, in the settings that the command line has: LightRAG's defaults."""
    folder = _folder(name, tmp_path / "there")
    usual = ("vector", 40, 20, [6000, 8000, 30000])
    rows = [r for r in RECORDED[name]["rows"] if (r["pick"], r["top_k"], r["chunk_top_k"], r["budgets"]) == usual]
    texts = {text for r in rows for text in (r["question"][0], *map(", ".join, r["question"][1:])) if text}
    with (tmp_path / "vectors.jsonl").open("w") as file:
        file.writelines(json.dumps({"id": t, "vector": _embedded(t).tolist()}) + "\n" for t in sorted(texts))
    checked = 0

    for mode in sorted({row["mode"] for row in rows}):
        here = [row for row in rows if row["mode"] == mode]
        with (tmp_path / "asked.jsonl").open("w") as file:
            for number, (text, high, low) in enumerate(row["question"] for row in here):
                file.write(json.dumps({"id": number, "text": text, "hl_keywords": high, "ll_keywords": low}) + "\n")
        given = ("--questions", tmp_path / "asked.jsonl", "--query-vectors", tmp_path / "vectors.jsonl")
        outcome = run("retrieve", folder, *given, "--mode", f"lightrag-{mode}", "-k", "20", "--explain", "--json")
        assert outcome.code == 0, outcome.err
        for row, query in zip(here, outcome.json["queries"], strict=True):
            inside: dict[str, list[str]] = {kind: [] for kind in ("entity", "relation", "chunk")}
            for item in query["candidates"]:
                if not item["cut"]:
                    inside[item["kind"]].append(item["name"])
            assert [hit["id"] for hit in query["hits"]] == row["chunks"] == inside["chunk"]
            assert inside["entity"] == row["entities"]
            assert [set(n.split(" – ")) for n in inside["relation"]] == [set(pair) for pair in row["relations"]]
            checked += 1

    assert checked == len(rows) == 20


def test_why_each_candidate_came_is_reported() -> None:
    folder = FIXTURES / "lightrag" / "valid" / "ingested"
    words = ("retrieve", "--mode", "lightrag-mix", "-k", "1", "--explain", folder, "Who mapped the reef?")
    text, output = run(*words).out, run(*words, "--json").json["queries"][0]["candidates"]

    assert "Context: " in text
    assert "by the search of entities, place 1" in text
    assert "by degree" in text
    assert {item["kind"] for item in output} == {"entity", "relation", "chunk"}
    (entity, *_) = [item for item in output if item["kind"] == "entity"]
    assert min(entity["score"], entity["tokens"]) > 0
    chunks = [item for item in output if item["kind"] == "chunk"]
    assert [item["cut"] for item in chunks] == ["", *["beyond the first 1"] * (len(chunks) - 1)]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ('{"id": "Who mapped the reef?", "vector": [1, 2]}', "has 2 dimensions, those of the dataset"),
        ('{"id": "another", "vector": [1, 2]}', "has no vector for 'Who mapped the reef?'"),
    ],
)
def test_vectors_of_questions_that_do_not_fit_are_refused(vectors: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text(vectors + "\n")
    words = ("--mode", "lightrag-mix", "--query-vectors", tmp_path / "v.jsonl", "Who mapped the reef?")

    outcome = run("retrieve", FIXTURES / "lightrag" / "valid" / "ingested", *words)

    assert outcome.code == 2
    assert message in outcome.err


def test_a_graph_without_vectors_needs_an_embedder(tmp_path: Path) -> None:
    (tmp_path / "v.jsonl").write_text('{"id": "pears", "vector": [1, 2]}\n')
    words = ("--mode", "lightrag-mix", "--query-vectors", tmp_path / "v.jsonl", "pears")

    outcome = run("retrieve", FIXTURES / "gfm-rag" / "valid" / "both-loaders", *words)

    assert outcome.code == 2
    assert "the dataset has no vectors of its entities, relations and chunks" in outcome.err


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
        search = ContextSearch(Texts(), "local", Asked("which?"), settings)  # type: ignore[arg-type]
        return list(search._related(infos, taken))

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
