"""Contexts as GraphRAG 3.3.0 itself gave them for recorded questions, over vectors of hashed words: the same reports,
entities, relationships, claims and text units in the same order, and the same text to the byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragdatakit.retrieval.graphrag.context import Knowledge, Settings, Unit, batches, local
from ragdatakit.retrieval.graphrag.knowledge import read_knowledge, write_knowledge
from ragdatakit.schemas.canonical import Edge, Node
from tests.conversion_tools import read_tables, tables_of
from tests.graphrag_context_oracle import CONTEXTS, digest, embedded, folder_of, nearest, tokens
from tests.upstream_data import UPSTREAM_DATA

RECORDED: dict[str, Any] = json.loads(CONTEXTS.read_text(encoding="utf-8"))
DATA = UPSTREAM_DATA / "graphrag"


class _Index:
    """A dataset as GraphRAG's modes have it, with the vectors of its entities."""

    def __init__(self, folder: Path, place: Path) -> None:
        tables = read_tables(folder)
        chunks = enumerate(tables.peek("chunks"))
        self._units = {chunk.chunk_id: Unit(chunk.chunk_id, chunk.text, str(n)) for n, chunk in chunks}
        self._path = place / "knowledge"
        write_knowledge(self._path, tables)
        nodes = [(node.name, json.loads(node.attributes)) for node in tables.peek("nodes")]
        self._ids = [each["id"] for _, each in nodes]
        self._matrix = np.stack([embedded(f"{name}:{each.get('description', '')}") for name, each in nodes])

    def knowledge(self, level: int) -> Knowledge:
        return read_knowledge(self._path, self._units, level)

    def selected(self, knowledge: Knowledge, question: str) -> Any:
        if not question:
            return knowledge.by_rank(10)
        found = [self._ids[row] for row in nearest(self._matrix, question, 20)]
        return [knowledge.entities[entity_id] for entity_id in found if entity_id in knowledge.entities]


@pytest.fixture(params=RECORDED)
def index(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[dict[str, Any], _Index]:
    folder = folder_of(request.param, DATA)
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    return RECORDED[request.param], _Index(folder, tmp_path)


def test_contexts_are_those_of_graphrag(index: tuple[dict[str, Any], _Index]) -> None:
    recorded, own = index
    wrong = []

    for row in recorded["local"]:
        budget, level, with_claims = row["settings"]
        knowledge = own.knowledge(level)
        if not with_claims:
            knowledge = _without_claims(knowledge)
        selected = own.selected(knowledge, row["question"])
        found = local(knowledge, selected, Settings(budget, level=level, count=lambda text: len(tokens(text))))
        shown = {
            "reports": [report.community for report in found.reports],
            "entities": [int(entity.shown) for entity in found.shown_entities],
            "relationships": [int(each.shown) for each in found.relationships],
            "claims": [int(claim.shown) for claim in found.claims],
            "sources": [int(unit.shown) for unit in found.units],
        }
        expected = {name: row.get(name, []) for name in shown}
        if shown != expected or digest(found.text) != row["text"]:
            wrong.append(f"{row['question']} {row['settings']}")

    assert not wrong, "\n".join(wrong)
    assert len(recorded["local"]) >= 20


def test_batches_of_reports_are_those_of_graphrag(index: tuple[dict[str, Any], _Index]) -> None:
    recorded, own = index

    for row in recorded["global"]:
        budget, level = row["settings"]
        settings = Settings(budget, level=level, count=lambda text: len(tokens(text)))
        found = list(batches(own.knowledge(level), settings))
        assert [report.community for batch in found for report in batch.reports] == row["reports"]
        assert [digest(batch.text) for batch in found] == row["batches"]


def _without_claims(knowledge: Knowledge) -> Knowledge:
    knowledge._claims = {}
    return knowledge


def test_a_relationship_without_a_rank_has_the_number_of_those_of_its_ends(tmp_path: Path) -> None:
    edges = [Edge("a", "sees", "b"), Edge("b", "sees", "c"), Edge("b", "sees", "d")]
    nodes = [Node(name) for name in "abcd"]
    write_knowledge(tmp_path / "knowledge", tables_of(nodes=nodes, edges=edges))

    found = read_knowledge(tmp_path / "knowledge", {}, 2)

    assert {each.entity_id: each.rank for each in found.entities.values()} == {"a": 1, "b": 3, "c": 1, "d": 1}
    assert [each.rank for each in found.relationships] == [4, 4, 4]
