"""The LightRAG format: working directories, payloads of custom graphs, extraction text; nano-graphrag as a profile.

Facts: lightrag-hku 1.5.7 read and run, compared with 0.0.8 to 1.4.9; gusye1234/nano-graphrag read.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Adopted, Container, Coverage, File, Format, Key, Layout, late_rules
from ragdatakit.schemas.lightrag.example import EXAMPLE
from ragdatakit.schemas.lightrag.records import (
    CHUNK,
    DOCUMENT,
    DOCUMENT_ENTITIES,
    DOCUMENT_RELATIONS,
    ENTITY_CHUNKS,
    PAYLOAD,
    RELATION_CHUNKS,
    REPORT,
    STATUS,
)

GRAPH = "graph_chunk_entity_relation.graphml"
VECTORS = {
    "vdb_chunks.json": "chunk-vectors",
    "vdb_entities.json": "entity-vectors",
    "vdb_relationships.json": "relation-vectors",
}
_STORES = {
    "kv_store_full_docs.json": "documents",
    "kv_store_text_chunks.json": "chunks",
    "kv_store_doc_status.json": "status",
    GRAPH: "graph",
    **VECTORS,
    "kv_store_full_entities.json": "document-entities",
    "kv_store_full_relations.json": "document-relations",
    "kv_store_entity_chunks.json": "entity-chunks",
    "kv_store_relation_chunks.json": "relation-chunks",
    "kv_store_community_reports.json": "reports",
    "kv_store_llm_response_cache.json": "cache",
}
_FILES = {**_STORES, **{f"{name}.gz": kind for name, kind in _STORES.items()}}
_SIGNS = tuple(name for name, kind in _FILES.items() if kind != "cache")


_RECORDS = {
    "documents": DOCUMENT,
    "chunks": CHUNK,
    "status": STATUS,
    "document-entities": DOCUMENT_ENTITIES,
    "document-relations": DOCUMENT_RELATIONS,
    "entity-chunks": ENTITY_CHUNKS,
    "relation-chunks": RELATION_CHUNKS,
    "reports": REPORT,
}


def _store(kind: str, title: str, description: str) -> File:
    return File(
        kind=kind,
        title=title,
        container="json-object",
        description=description,
        records=(_RECORDS[kind],),
        suffixes=(".json", ".json.gz"),
    )


def _streamed(kind: str, title: str, description: str, *suffixes: str) -> File:
    container: Container = "streamed"
    return File(kind=kind, title=title, container=container, description=description, suffixes=suffixes)


_JSON = (".json", ".json.gz")

LIGHTRAG = Format(
    name="lightrag",
    title="LightRAG",
    letters="LR",
    description=(
        "What LightRAG keeps of documents in its working directory: chunks, entities, relations, vectors; "
        "the payload that it takes a graph from; the text that a model extracts one into. nano-graphrag has the same "
        "files, and community reports next to them."
    ),
    homepage="https://github.com/HKUDS/LightRAG",
    files=(
        _store("documents", "Documents", "Whole documents by id."),
        _store("chunks", "Chunks", "Pieces of documents by id."),
        _store("status", "Status of documents", "How far each document is."),
        _streamed("graph", "Graph", "The graph of entities and relations in GraphML.", ".graphml", ".graphml.gz"),
        _streamed("chunk-vectors", "Vectors of chunks", "nano-vectordb: rows, and a matrix in base64.", *_JSON),
        _streamed("entity-vectors", "Vectors of entities", "The same for entities.", *_JSON),
        _streamed("relation-vectors", "Vectors of relations", "The same for relations.", *_JSON),
        _store("document-entities", "Entities of documents", "Names by document."),
        _store("document-relations", "Relations of documents", "Pairs of names by document."),
        _store("entity-chunks", "Chunks of entities", "Chunks by name."),
        _store("relation-chunks", "Chunks of relations", "Chunks by pair of names."),
        _store("reports", "Community reports", "nano-graphrag: reports by cluster."),
        File(
            "cache: opaque",
            title="Cache of answers",
            description="Prompts and answers of the model; neither read nor converted.",
            suffixes=_JSON,
        ),
        File(
            "payload: json",
            title="Custom graph",
            description="One JSON object with chunks, entities and relationships.",
            records=(PAYLOAD,),
            suffixes=(".json",),
            keys=("entities", "relationships"),
            signs=(("chunks", "relationships"), ("chunks", "entities")),
            without=("docs", "messages", "communities"),
        ),
        File(
            "extraction: text",
            prose=True,
            description="What a model answered when it was asked for the entities and relations of a chunk.",
            suffixes=(".extraction.txt",),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.lightrag",
        "store_rules:STORE_RULES",
        "reference_rules:REFERENCE_RULES",
        "vector_rules:VECTOR_RULES",
        "graph_rules:GRAPH_RULES",
        "payload_rules:PAYLOAD_RULES",
        "extraction_rules:EXTRACTION_RULES",
        "report_rules:REPORT_RULES",
    ),
    layouts=(
        Layout(
            name="working directory",
            description="The files of one working directory, or of one workspace below it",
            files=_FILES,
            signature=(_SIGNS,),
        ),
        Layout(
            name="payload",
            description="A folder with the payload of a custom graph",
            files={"custom_kg.json": "payload", "*_custom_kg.json": "payload"},
            signature=(("custom_kg.json", "*_custom_kg.json"),),
        ),
        Layout(
            name="extractions",
            description="A folder with answers of a model",
            files={"*.extraction.txt": "extraction"},
            signature=(("*.extraction.txt",),),
        ),
    ),
    profiles=("lightrag", "nano-graphrag"),
    profile_needs={"nano-graphrag": "reports"},
    profile_words={
        "lightrag": "LightRAG of today (1.5).",
        "nano-graphrag": "nano-graphrag, from which LightRAG came: no vectors of relations, but clusters and reports.",
    },
    keys=tuple(
        Key(kind=kind, fields=(record.fields[0].name,), rule="repeated-record") for kind, record in _RECORDS.items()
    ),
    coverages=(Coverage(kind="documents", field="doc_id", by=(("status", "doc_id"),), rule="document-without-status"),),
    adopts={
        "byte-order-mark": Adopted(
            "warning", "LightRAG 1.5 passes over it in its stores; older versions stop with JSONDecodeError"
        ),
        "invalid-utf8": Adopted("error", "LightRAG stops with UnicodeDecodeError at its start"),
        "mislabelled-compression": Adopted("error", "LightRAG opens plain text only"),
        "duplicate-key": Adopted("error", "the last value wins, the others are lost"),
        "non-finite-number": Adopted(
            "warning", "Python's json reads it, most other readers refuse the file; write null"
        ),
        "lone-surrogate": Adopted(
            "error", "it loads; the next time that the store is saved it is removed, or saving stops"
        ),
    },
    replaces=True,
    example=EXAMPLE,
)
