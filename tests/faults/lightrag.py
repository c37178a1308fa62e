"""Clean stores of LightRAG of forty records, and what its own checks add to the declaration."""

from __future__ import annotations

import re
from typing import Any

from ragdatakit.files.lightrag.names import hashed
from ragdatakit.schemas.lightrag.format import LIGHTRAG
from ragdatakit.validators.lightrag.tracking import LISTS
from tests.faults.drafts import UNREADABLE, Draft, DraftFile, Place, cell, member

SIZE = 40
_STORES = {
    "documents": ("kv_store_full_docs.json", "doc_id", "document"),
    "chunks": ("kv_store_text_chunks.json", "chunk_id", "chunk"),
    "status": ("kv_store_doc_status.json", "doc_id", "status"),
    "document-entities": ("kv_store_full_entities.json", "doc_id", "entities"),
    "document-relations": ("kv_store_full_relations.json", "doc_id", "relations"),
    "entity-chunks": ("kv_store_entity_chunks.json", "entity_name", "chunks"),
    "relation-chunks": ("kv_store_relation_chunks.json", "pair", "chunks"),
    "reports": ("kv_store_community_reports.json", "cluster", "report"),
}


def drafts() -> tuple[Draft, ...]:
    """One store a dataset, given by its name; and one payload."""
    found = []
    for kind, (path, key, value) in _STORES.items():
        records = [dict(zip((key, value), _record(kind, i), strict=True)) for i in range(SIZE)]
        file = DraftFile(path, LIGHTRAG.file(kind), tuple(map(member, records)))
        notes = {"entry": path, "format": "lightrag", kind: ("an array is another kind",)}
        found.append(
            Draft(f"lightrag {kind}", LIGHTRAG, (file,), own_rules=_own_rules, consequences=_consequences, notes=notes)
        )
    file = DraftFile("custom_kg.json", LIGHTRAG.file("payload"), (cell(_payload(0)),))
    notes = {"entry": "custom_kg.json", "format": "lightrag"}
    found.append(Draft("lightrag payload", LIGHTRAG, (file,), own_rules=_own_rules, notes=notes))
    return tuple(found)


def _record(kind: str, i: int) -> tuple[str, dict[str, Any]]:
    text, name, other = f"Reef number {i} lies north of the harbour.", f"Reef {i}", f"Harbour {i}"
    document = hashed("doc-", f"reef{i}.txt")
    chunk = f"{document}-chunk-000"
    if kind == "documents":
        return document, {"content": text, "file_path": f"reef{i}.txt"}
    if kind == "chunks":
        return chunk, {"content": text, "tokens": 9, "chunk_order_index": 0, "full_doc_id": document}
    if kind == "status":
        times = dict.fromkeys(("created_at", "updated_at"), "2026-03-01T09:30:00+00:00")
        return document, {"status": "processed", **times, "chunks_count": 1, "chunks_list": [chunk]}
    if kind == "document-entities":
        return document, {"entity_names": [name, other], "count": 2}
    if kind == "document-relations":
        return document, {"relation_pairs": [[other, name]], "count": 1}
    if kind == "reports":
        return str(i), {"report_string": text, "report_json": {"rating": 5.0}, "level": 0, "occurrence": 1.0}
    return (name if kind == "entity-chunks" else f"{other}<SEP>{name}"), {"chunk_ids": [chunk], "count": 1}


def _payload(i: int) -> dict[str, Any]:
    ends = (f"Reef {i} north", f"Harbour {i} south")
    entities = [{"entity_name": name, "description": "A place.", "source_id": "c1"} for name in ends]
    relation = {"src_id": ends[0], "tgt_id": ends[1], "description": "It lies north.", "keywords": "place"}
    chunk = {"content": f"{ends[0]} lies north of {ends[1]}.", "source_id": "c1"}
    return {"chunks": [chunk], "entities": entities, "relationships": [{**relation, "source_id": "c1"}]}


def _own_rules(kind: str, name: str, variant: str) -> tuple[str, ...]:
    return tuple(OWN.get((kind, name, variant), "").split())


def _consequences(draft: Draft) -> set[Place]:
    """Behind a name that cannot be read, what stands in the value is taken for members: they are no objects. Ids that
    are no hashes of what they stand for."""
    found: set[Place] = set()
    for file in draft.files:
        kind = file.kind.kind
        for number, each in enumerate(file.cells):
            line = file.line(number)
            if each.value is UNREADABLE and _leaves_members(each.raw, kind):
                found.add(Place("unusable-tracking-record" if kind in LISTS else "record-not-object", file.path, line))
                if kind == "reports":
                    found.add(Place("unusable-report", file.path, line))
            elif isinstance(each.value, dict) and kind in ("documents", "chunks"):
                key, value = each.value.values()
                if isinstance(value, dict) and value and key != _record(kind, int(value["content"].split()[2]))[0]:
                    found.add(Place(f"unlike-{kind[:-1]}-id", file.path, line))
    return found


def _leaves_members(raw: bytes, kind: str) -> bool:
    if raw[:1] == b"'":
        return kind in ("entity-chunks", "relation-chunks")
    return raw[:2] == b"/*" or raw[:1] == b"{" or re.match(rb'"[^"]*" \{', raw) is not None


OWN: dict[tuple[str, str, str], str] = {
    ("documents", "document", "empty"): "document-without-content",
    ("chunks", "chunk", "empty"): "chunk-without-content unusable-chunk-field",
    ("status", "status", "empty"): "unknown-status",
    ("reports", "report", "empty"): "unusable-report",
    **{(kind, _STORES[kind][2], "empty"): "unusable-tracking-record" for kind in LISTS},
    **{(kind, "", "copy"): "repeated-record" for kind in _STORES},
    ("payload", "chunks", "missing"): "unknown-alias payload-without-part",
    ("payload", "chunks", "empty"): "unknown-alias payload-without-part",
    ("payload", "entities", "missing"): "undeclared-endpoint payload-without-part",
    ("payload", "entities", "empty"): "undeclared-endpoint payload-without-part",
    ("payload", "relationships", "missing"): "payload-without-part",
    ("payload", "relationships", "empty"): "payload-without-part",
    ("payload", "entities", "an item twice"): "repeated-entity",
    ("payload", "relationships", "an item twice"): "repeated-relationship",
    ("payload", "", "extra key"): "unknown-payload-key",
    ("payload", "", "byte-order mark"): "!payload-not-json",
    ("payload", "", "gone"): "!payload-not-json",
    ("payload", "", "copy"): "!payload-not-json",
    ("payload", "", "a list among objects"): "!payload-not-object",
}
