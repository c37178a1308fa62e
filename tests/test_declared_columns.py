"""What converters declare to give and to hold is what their readers yield and their writers take."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragdatakit.converters import CONVERTERS, Converter, get_converter
from ragdatakit.converters.source_tables import read_source
from ragdatakit.converters.sources import ConversionSettings, Source, find_sources
from ragdatakit.files.reading.canonical_tables import CanonicalTables
from ragdatakit.schemas.canonical import (
    TABLES,
    Answer,
    Asset,
    Chunk,
    Community,
    Document,
    Edge,
    Node,
    PairScore,
    Qrel,
    Question,
    Relation,
    Run,
    StartNode,
    Summary,
    Trace,
    Triplet,
)
from ragdatakit.schemas.conversions import Losses
from tests.conversion_tools import tables_of, write_tables

Columns = dict[str, set[str]]
FIXTURES = Path(__file__).parent.parent / "fixtures"

READ_FOR_MORE = {
    ("light-splade", "documents", "title"): "an option joins it to the text",
    ("light-splade", "qrels", "grade"): "it decides which passages are positive",
    ("gfm-rag", "qrels", "grade"): "it decides which passages are relevant",
    ("hipporag", "qrels", "grade"): "it decides which paragraphs are supporting",
    **{("ragchecker", "qrels", c): "its own judgements follow from the labels" for c in TABLES["qrels"].row._fields},
}
"""Columns that a writer reads though its files cannot tell them."""
WRITTEN_WITH: dict[str, tuple[dict[str, str], ...]] = {
    "datamind": ({"documents": "both"},),
    "lightrag": ({"form": "directory"},),
}
"""Options of writing, besides none."""
READ_WITH = {
    "arag": {"evidence-graph": "true"},
    "raptor": {"keep-vectors": "true", "tree-graph": "true"},
    "two-sets": {"dataset": "harbours"},
}
"""Options of reading, by format or fixture."""
EVERY_TABLE: dict[str, list[Any]] = {
    "documents": [
        Document("d1", "The ferry leaves Skagen at nine.", "Ferries", '{"year":1931}'),
        Document("d2", "The light was lit in 1902.", "Lights", '{"year":1932}'),
    ],
    "chunks": [
        Chunk("c1", "The ferry leaves Skagen at nine.", "d1", 0, "of ferries", "text", None, None, '{"page":1}'),
        Chunk("c2", "A lamp.", "d2", 0, "of lights", "image", "images/lamp.png", "a lamp", '{"page":2}'),
    ],
    "nodes": [Node("ferry", "ship", '{"passages":["c1","d1"]}'), Node("Skagen", "place", '{"passages":["c1","d1"]}')],
    "relations": [Relation("leaves", '{"tense":"present"}')],
    "edges": [
        Edge("ferry", "leaves", "Skagen", '{"by":"ann"}', 0.5, "c1"),
        Edge("Skagen", "leaves", "ferry", '{"by":"ann"}', 0.5, "d1"),
    ],
    "questions": [Question("q1", "Whence leaves the ferry?", "Skagen", ("Grenen",), "train", '{"level":2}')],
    "qrels": [
        Qrel("q1", "c1", 2, "chunk", "train"),
        Qrel("q1", "d1", 2, "document", "train"),
        Qrel("q1", "Skagen", 1, "node", "train", "place"),
    ],
    "start_nodes": [StartNode("q1", "ferry", "ship")],
    "triplets": [Triplet("q1", "c1", "c2", "train"), Triplet("q1", "d1", "d2", "train")],
    "pair_scores": [PairScore("q1", p, score) for p, score in (("c1", 0.9), ("c2", 0.1), ("d1", 0.9), ("d2", 0.1))],
    "communities": [Community("0", 0, "Ferries", None, ("ferry",)), Community("1", 1, "Ships", "0", ("ferry",), "{}")],
    "summaries": [Summary("s1", 1, "Ferries and lights.", ("c1", "c2"))],
    "runs": [Run("q1", "retrieval", 1, "c1", "The ferry leaves Skagen at nine.", 0.5, 0.25, '{"by":"ann"}')],
    "answers": [Answer("q1", "Skagen", "Whence?", 1.5, '{"loops":2}')],
    "traces": [Trace("q1", '{"query":"Whence leaves the ferry?","references":["Skagen"]}', '{"query":"Whence?"}')],
    "assets": [Asset("notes.txt", b"ferries\n", "file")],
}


def every_way(converter: Converter) -> Iterator[tuple[CanonicalTables, str, dict[str, str]]]:
    """Tables with all there is, and the profile and options to write them with."""
    for left_out in ({"chunks"}, {"documents"}, {"chunks", "traces"}, {"documents", "traces"}):
        for source in ("beir", "text", converter.name):
            given = {table: found for table, found in EVERY_TABLE.items() if table not in left_out}
            if converter.name == "ragchecker" and "chunks" in given:  # its chunks are called by their numbers
                given["chunks"] = [c._replace(chunk_id=f"{c.doc_id}-{c.ordinal}") for c in given["chunks"]]
            for profile in ("", *converter.profiles):
                for values in ({}, *WRITTEN_WITH.get(converter.name, ())):
                    yield tables_of(format_name=source, **given), profile, values


def yielded(sources: list[Source], given: Mapping[str, str]) -> Columns:
    """The columns with a value that tells something, in what these datasets give."""
    found: Columns = defaultdict(set)
    for source in sources:
        options = ConversionSettings(target_format="", source_format=source.format, name="notes", values=given)
        tables = read_source(source, options, Losses())
        for table in tables.sources:
            defaults = TABLES[table].row._field_defaults
            for row in tables.peek(table):
                shown = [c for c, value in zip(row._fields, row, strict=True) if value != defaults.get(c)]
                shown += [c for c in ("target_kind", "kind") if c in row._fields]
                found[table].update(c for c in shown if c != "field_order")
    return found


def add(found: Columns, more: Columns) -> None:
    for table, columns in more.items():
        found[table] |= columns


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Columns], dict[str, Columns]]:
    """By format, what its reader yields and what its writer takes."""
    gave: dict[str, Columns] = {name: defaultdict(set) for name in CONVERTERS}
    took: dict[str, Columns] = {name: defaultdict(set) for name in CONVERTERS}
    original, by_columns = CanonicalTables.take, CanonicalTables.take_columns
    with pytest.MonkeyPatch.context() as patch:
        for name in CONVERTERS:
            converter = get_converter(name)

            def take(self: CanonicalTables, table: str, *columns: str, writer: str = name) -> Iterator[Any]:
                took[writer][table] |= {*columns} - {"field_order"}
                return original(self, table, *columns)

            def take_columns(self: CanonicalTables, table: str, *columns: str, writer: str = name) -> Iterator[Any]:
                took[writer][table] |= {*columns} - {"field_order"}
                return by_columns(self, table, *columns)

            patch.setattr(CanonicalTables, "take", take)
            patch.setattr(CanonicalTables, "take_columns", take_columns)
            for tables, profile, values in every_way(converter) if converter.write is not None else ():
                folder = tmp_path_factory.mktemp(name)
                write_tables(tables, name, folder, profile, **values)
                (folder / "ragdata.ids.ndjson").unlink(missing_ok=True)
                add(
                    gave[name],
                    yielded(find_sources(folder, ConversionSettings(target_format="", source_format=name)), {}),
                )
    for name in CONVERTERS:
        for folder in sorted((FIXTURES / name / "valid").glob("*")):
            sources = [
                s
                for s in find_sources(folder, ConversionSettings(target_format="", source_format=name))
                if len(s.parts) == 1
            ]
            add(gave[name], yielded(sources, READ_WITH.get(name, {}) | READ_WITH.get(folder.name, {})))
    add(
        gave["text"],
        yielded(
            find_sources(FIXTURES / "plain" / "texts", ConversionSettings(target_format="", source_format="text")), {}
        ),
    )
    for name in MORE_FILES:
        folder = more_files(tmp_path_factory.mktemp(name), name)
        add(gave[name], yielded(find_sources(folder, ConversionSettings(target_format="", source_format=name)), {}))
    return gave, took


_CLUSTER = {"report_string": "A reef.", "report_json": {}, "title": "Cluster", "edges": [], "nodes": ["ferry"],
            "chunk_ids": [], "occurrence": 1.0}  # fmt: skip
MORE_FILES: dict[str, dict[str, Any]] = {
    "lightrag": {
        "kv_store_text_chunks.json": {
            "chunk-1": {"content": "A reef.", "tokens": 3, "chunk_order_index": 0, "full_doc_id": "doc-1"}
        },
        "kv_store_community_reports.json": {
            "0": {**_CLUSTER, "level": 0, "sub_communities": ["1"]},
            "1": {**_CLUSTER, "level": 1, "sub_communities": []},
        },
    },
    "contextual-retrieval": {
        "codebase_chunks.json": [
            {"doc_id": "doc_1", "original_uuid": "a1f0", "content": "def lamp(): pass", "chunks": []}
        ],
        "contexts.jsonl": {
            "doc_id": "doc_1",
            "original_uuid": "a1f0",
            "chunk_id": "doc_1_chunk_0",
            "original_index": 0,
            "original_content": "def lamp(): pass",
            "contextualized_content": "Of a lamp.",
        },
        "evaluation_set.jsonl": {
            "query": "What is a lamp?",
            "answer": "a function",
            "golden_chunk_uuids": [["a1f0", 0]],
            "meta": {"repo_name": "harbour"},
        },
    },
    "arag": {"chunks.json": [{"id": "1", "text": "The ferry leaves at nine.", "page": 2}]},
    "gfm-rag": {
        "predictions_notes.json": [
            {
                "id": "q1",
                "question": "Whence?",
                "start_nodes": {"ship": ["ferry"]},
                "target_nodes": {"place": ["Skagen"]},
                "predictions": {"document": [["Ferries", 0.5]]},
            }
        ]
    },
    "ragchecker": {
        "checking_inputs.json": {
            "results": [
                {
                    "query_id": "q1",
                    "query": "When?",
                    "gt_answer": ["nine", "at nine"],
                    "response": "At nine.",
                    "retrieved_context": [{"doc_id": "d1", "text": "The ferry leaves at nine."}],
                }
            ]
        },
        "chunks.jsonl": {"doc_id": "d1", "chunk_id": 0, "text": "The ferry leaves at nine.", "page": 2},
    },
    "table": {
        "corpus.jsonl": {"id": "d1", "text": "The ferry leaves at nine.", "title": "Ferries", "year": 1931},
        "train.jsonl": {"qid": "q1", "question": "When?", "answers": ["nine", "at nine"], "level": 2},
        "qrels/train.jsonl": {"query-id": "q1", "corpus-id": "d1", "score": 2},
        "edges.jsonl": {"subject": "ferry", "predicate": "lands at", "object": "Skagen", "since": 1931},
    },
}
"""What no fixture has and no writer writes."""


def more_files(folder: Path, name: str) -> Path:
    """Write them for a format."""
    for file, value in MORE_FILES[name].items():
        (folder / file).parent.mkdir(exist_ok=True)
        (folder / file).write_text(json.dumps(value) + "\n")
    return folder


@pytest.mark.parametrize("name", CONVERTERS)
def test_readers_give_what_they_say(name: str, seen: tuple[dict[str, Columns], dict[str, Columns]]) -> None:
    said = {table: {*columns} - {"field_order"} for table, columns in get_converter(name).gives.items()}

    assert said == {table: columns for table, columns in seen[0][name].items() if columns}


@pytest.mark.parametrize("name", [n for n in CONVERTERS if get_converter(n).write is not None])
def test_writers_hold_what_they_say(name: str, seen: tuple[dict[str, Columns], dict[str, Columns]]) -> None:
    said = {table: {*columns} - {"field_order"} for table, columns in get_converter(name).holds.items()}
    took = {
        table: {column for column in columns if (name, table, column) not in READ_FOR_MORE}
        for table, columns in seen[1][name].items()
    }

    assert said == {table: columns for table, columns in took.items() if columns}


def test_nothing_is_excused_that_is_not_read(seen: tuple[dict[str, Columns], dict[str, Columns]]) -> None:
    assert [where for where in READ_FOR_MORE if where[2] not in seen[1][where[0]][where[1]]] == []
