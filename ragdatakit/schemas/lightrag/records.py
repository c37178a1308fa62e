"""What the records of LightRAG's stores are: members of one object each, and the payload of a custom graph."""

from __future__ import annotations

from typing import Any

from ragdatakit.schemas.declarations import Field, Record

_DOC = "doc-821d40870c78899600d64971bc0497a4"
_CHUNK = f"{_DOC}-chunk-000"
_TEXT = "Joss Alder was a surveyor of Port Hale."


def _store(
    name: str, title: str, key: str, value: str, description: str, example: dict[str, Any], **rules: str
) -> Record:
    """The records of a store: each is a member, whose value is an object."""
    broken = rules.pop("broken", "record-not-object")
    (example_key, example_value) = next(iter(example.items()))
    return Record(
        name=name,
        title=title,
        description=description,
        fields=(
            Field(f"{key}: string", "The name of the member.", examples=(example_key,)),
            Field(
                f"{value}: object",
                "What is stored under it.",
                examples=(example_value,),
                rules={"null": broken, "type": broken},
            ),
        ),
        rules={"syntax": "store-not-json", "top-level": "store-not-object", **rules},
        examples=({key: example_key, value: example_value},),
    )


DOCUMENT = _store(
    "document",
    "Document",
    "doc_id",
    "document",
    "A whole text: content, file_path, parse_format, content_hash and chunk_options.",
    {_DOC: {"content": _TEXT, "file_path": "harbour.txt"}},
)
CHUNK = _store(
    "chunk",
    "Chunk",
    "chunk_id",
    "chunk",
    "A piece of a text: content, tokens, chunk_order_index, full_doc_id, file_path and llm_cache_list.",
    {_CHUNK: {"content": _TEXT, "tokens": 9, "chunk_order_index": 0, "full_doc_id": _DOC, "file_path": "harbour.txt"}},
    **{"no-records": "no-chunks"},
)
STATUS = _store(
    "document-status",
    "Status of a document",
    "doc_id",
    "status",
    "How far a document is: status, content_summary, content_length, created_at, updated_at, chunks_list and others.",
    {
        _DOC: {
            "status": "processed",
            "content_summary": _TEXT,
            "content_length": 39,
            "created_at": "2026-03-01T09:30:00+00:00",
            "updated_at": "2026-03-01T09:31:00+00:00",
            "file_path": "harbour.txt",
            "chunks_count": 1,
            "chunks_list": [_CHUNK],
        }
    },
)
DOCUMENT_ENTITIES = _store(
    "document-entities",
    "Entities of a document",
    "doc_id",
    "entities",
    "The names that were extracted from a document.",
    {_DOC: {"entity_names": ["Joss Alder"], "count": 1}},
    broken="unusable-tracking-record",
)
DOCUMENT_RELATIONS = _store(
    "document-relations",
    "Relations of a document",
    "doc_id",
    "relations",
    "The pairs of names that were extracted from a document.",
    {_DOC: {"relation_pairs": [["Joss Alder", "Kettle Reef"]], "count": 1}},
    broken="unusable-tracking-record",
)
ENTITY_CHUNKS = _store(
    "entity-chunks",
    "Chunks of an entity",
    "entity_name",
    "chunks",
    "All chunks that name an entity.",
    {"Joss Alder": {"chunk_ids": [_CHUNK], "count": 1}},
    broken="unusable-tracking-record",
)
RELATION_CHUNKS = _store(
    "relation-chunks",
    "Chunks of a relation",
    "pair",
    "chunks",
    "All chunks that mention a relation; the name is the pair in order, joined with `<SEP>`.",
    {"Joss Alder<SEP>Kettle Reef": {"chunk_ids": [_CHUNK], "count": 1}},
    broken="unusable-tracking-record",
)
REPORT = _store(
    "community-report",
    "Community report (nano-graphrag)",
    "cluster",
    "report",
    "What a model wrote of a cluster: report_string, report_json, level, nodes, edges, chunk_ids and occurrence.",
    {
        "0": {
            "report_string": "# Harbour\n\nJoss Alder mapped the reef.",
            "report_json": {"title": "Harbour", "summary": "Joss Alder mapped the reef.", "rating": 5.0},
            "level": 0,
            "title": "Cluster 0",
            "nodes": ["Joss Alder"],
            "edges": [["Joss Alder", "Kettle Reef"]],
            "chunk_ids": [_CHUNK],
            "occurrence": 1.0,
            "sub_communities": [],
        }
    },
)


def _part(name: str, description: str, example: dict[str, Any]) -> Field:
    broken = "unusable-payload-field"
    return Field(
        f"{name}?: object[]",
        description,
        examples=([example],),
        rules={"null": broken, "type": broken, "item-type": broken},
    )


_CHUNK_PART = {"content": _TEXT, "source_id": "c1", "file_path": "harbour.txt"}
_ENTITY_PARTS = [
    {"entity_name": "Joss Alder", "entity_type": "person", "description": "A surveyor.", "source_id": "c1"},
    {"entity_name": "Kettle Reef", "entity_type": "location", "description": "A reef.", "source_id": "c1"},
]
_RELATION_PART = {
    "src_id": "Joss Alder",
    "tgt_id": "Kettle Reef",
    "description": "He mapped it.",
    "keywords": "survey",
    "weight": 1.0,
    "source_id": "c1",
}
PAYLOAD = Record(
    name="custom-kg",
    title="Payload of a custom graph",
    description="The whole file is one object: what ainsert_custom_kg takes.",
    fields=(
        _part("chunks", "Texts: content, source_id (an alias), file_path, chunk_order_index.", _CHUNK_PART),
        _part("entities", "entity_name, entity_type, description, source_id (an alias), file_path.", _ENTITY_PARTS[0]),
        _part(
            "relationships",
            "src_id, tgt_id, description, keywords, weight, source_id (an alias), file_path.",
            _RELATION_PART,
        ),
    ),
    rules={"syntax": "payload-not-json", "not-object": "payload-not-object", "no-records": "payload-not-json"},
    examples=({"chunks": [_CHUNK_PART], "entities": _ENTITY_PARTS, "relationships": [_RELATION_PART]},),
)
