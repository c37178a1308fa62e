"""GraphRAG's modes at the command line and from Python: what is found, by words and by vectors, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ragdatakit
from tests.command_line import FIXTURES, run
from tests.graphrag_context_oracle import embedded

INDEX = FIXTURES / "graphrag" / "valid" / "parquet"
GRAPH = FIXTURES / "gfm-rag" / "valid" / "minimal"


pytestmark = pytest.mark.usefixtures("shared_cache")


def asked(path: Path, question: str, mode: str, *words: str) -> dict[str, Any]:
    outcome = run("retrieve", "--json", "--mode", f"graphrag-{mode}", *words, path, question)
    assert outcome.code == 0, outcome.err
    (query,) = outcome.json["queries"]
    found: dict[str, Any] = query
    return found


def rows(name: str) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = pq.read_table(INDEX / f"{name}.parquet").to_pylist()
    return listed


def vectors(place: Path, texts: dict[str, str]) -> Path:
    """A table of vectors as GraphRAG keeps it, of hashed words."""
    by_name = {"id": list(texts), "embedding": [embedded(text).tolist() for text in texts.values()]}
    pq.write_table(pa.table(by_name), place)
    return place


def questions(place: Path, *texts: str) -> Path:
    lines = [json.dumps({"id": text, "text": text, "vector": embedded(text).tolist()}) for text in texts]
    place.write_text("\n".join(lines) + "\n")
    return place


def test_local_search_goes_from_entities_to_text_units() -> None:
    found = asked(INDEX, "Mara Venn", "local")

    assert found["seeds"][0] == "MARA VENN"
    units = next(row["text_unit_ids"] for row in rows("entities") if row["title"] == "MARA VENN")
    assert {hit["id"] for hit in found["hits"][: len(units)]} == set(units)
    assert [hit["score"] for hit in found["hits"]] == [1 / n for n in range(1, len(found["hits"]) + 1)]


def test_global_search_finds_reports() -> None:
    found = asked(INDEX, "What happened in part 0 of the coast?", "global", "-k", "1")

    (hit,) = found["hits"]
    reports = {row["id"]: row for row in rows("community_reports")}
    assert hit["text"] == reports[hit["id"]]["full_content"]
    assert hit["title"] == reports[hit["id"]]["title"]


def test_what_a_model_would_get_is_explained() -> None:
    found = asked(INDEX, "Mara Venn", "local", "--explain")["candidates"]
    outcome = run("retrieve", "--mode", "graphrag-local", "--explain", INDEX, "Mara Venn")

    assert list(dict.fromkeys(item["kind"] for item in found)) == ["entity", "relation", "claim", "summary", "chunk"]
    assert found[0]["name"] == "MARA VENN"
    assert found[0]["score"] > 0
    assert "near to the question" in found[0]["why"]
    assert "entity MARA VENN" in outcome.out


def test_lower_communities_are_looked_at_where_they_are_asked_for() -> None:
    levels = {row["level"] for row in rows("community_reports")}
    found = {
        level: len(asked(INDEX, "coast", "global", "--explain", "--community-level", str(level))["candidates"])
        for level in sorted(levels)
    }

    assert list(found.values()) == sorted(found.values())
    assert found[max(levels)] == len(rows("community_reports"))


def test_entities_are_found_by_the_vectors_that_are_given(tmp_path: Path) -> None:
    entities = rows("entities")
    given = vectors(tmp_path / "v.parquet", {row["id"]: f"{row['title']}:{row['description']}" for row in entities})
    about = entities[-1]
    asking = questions(tmp_path / "q.jsonl", about["description"])

    found = asked(INDEX, about["description"], "local", "--vectors", str(given), "--query-vectors", str(asking))

    matrix = np.stack([embedded(f"{row['title']}:{row['description']}") for row in entities])
    nearest = np.argsort(-(matrix @ embedded(about["description"])), kind="stable")
    assert found["seeds"][0] == entities[int(nearest[0])]["title"]
    assert len(found["seeds"]) == len(entities)


def test_reports_are_found_by_the_vectors_that_are_given(tmp_path: Path) -> None:
    given = vectors(tmp_path / "v.parquet", {row["id"]: row["full_content"] for row in rows("community_reports")})
    asking = questions(tmp_path / "q.jsonl", "part")

    found = asked(INDEX, "part", "global", "--vectors", str(given), "--query-vectors", str(asking))
    local = run(
        "retrieve", "--mode", "graphrag-local", "--vectors", given, "--query-vectors", asking, INDEX, "part"
    )  # fmt: skip

    assert found["hits"]
    assert local.code == 2
    assert "there are no vectors of entities" in local.err


def test_vectors_of_something_else_are_refused(tmp_path: Path) -> None:
    given = vectors(tmp_path / "v.parquet", {"someone-else": "text"})
    asking = questions(tmp_path / "q.jsonl", "part")

    outcome = run("retrieve", "--mode", "graphrag-local", "--vectors", given, "--query-vectors", asking, INDEX, "part")

    assert outcome.code == 2
    assert "has no vectors of entities or reports: its ids are like 'someone-else'" in outcome.err


def test_any_graph_can_be_searched_locally() -> None:
    found = asked(GRAPH, "Which boat followed the Osprey?", "local", "-k", "2")

    assert found["seeds"][0] == "osprey"
    assert found["hits"][0]["id"] == "Log of the osprey"


def test_reports_are_needed_for_global_search() -> None:
    outcome = run("retrieve", "--mode", "graphrag-global", GRAPH, "Osprey")

    assert outcome.code == 2
    assert "the dataset has no reports of communities" in outcome.err


@pytest.mark.parametrize(
    "command", [("retrieve", "--mode", "graphrag-drift", INDEX, "x"), ("eval", INDEX, "--mode", "graphrag-drift")]
)
def test_drift_is_refused_as_it_asks_a_model(command: tuple[Any, ...]) -> None:
    outcome = run(*command)

    assert outcome.code == 2
    assert "DRIFT search asks a language model for further questions, and ragdata asks none" in outcome.err


def test_eval_counts_the_passages_of_both(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps({"id": "q", "question": "Mara Venn", "gold": ["t1"]}) + "\n")

    done = ragdatakit.evaluate(
        INDEX, questions=tmp_path / "q.jsonl", modes=("graphrag-local", "graphrag-global"), metrics="recall@3"
    )

    assert {result.name: result.scores["recall@3"].mean for result in done.runs}["graphrag-local"] == 1.0
    assert len(done.runs) == 2
