"""A working directory of LightRAG: JSON stores, a graph as GraphML, vectors as nano-vectordb writes them; no error."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from sets.words import Prose

DOCUMENTS = 800
CHUNKS_PER_DOCUMENT = 12
ENTITIES_PER_CHUNK, RELATIONS_PER_CHUNK = 9, 14
DIMENSION = 384
BLOCK = 4096
TIME = 1_772_357_400
SEP = "<SEP>"
_KEYS = (
    ("node", "entity_id", "string"), ("node", "entity_type", "string"), ("node", "description", "string"),
    ("node", "source_id", "string"), ("node", "file_path", "string"), ("node", "created_at", "long"),
    ("edge", "weight", "double"), ("edge", "description", "string"), ("edge", "keywords", "string"),
    ("edge", "source_id", "string"), ("edge", "file_path", "string"), ("edge", "created_at", "long"),
)  # fmt: skip
_TYPES = ("person", "organization", "location", "event", "concept")


def hashed(prefix: str, text: str) -> str:
    """An id as LightRAG makes it."""
    return prefix + hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


class _Plan:
    """All ids and texts of one directory."""

    def __init__(self, scale: float, seed: int) -> None:
        self.prose = Prose(seed)
        self.random = self.prose.random
        self.paths = [f"text-{n:06d}.txt" for n in range(max(2, round(DOCUMENTS * scale)))]
        self.documents = [hashed("doc-", path) for path in self.paths]
        self.chunks = [f"{doc}-chunk-{n:03d}" for doc in self.documents for n in range(CHUNKS_PER_DOCUMENT)]
        self.path_of = {chunk: self.paths[n // CHUNKS_PER_DOCUMENT] for n, chunk in enumerate(self.chunks)}
        self.names = self._names(len(self.chunks) * ENTITIES_PER_CHUNK)
        self.pairs = self._pairs(len(self.chunks) * RELATIONS_PER_CHUNK)
        self.name_texts = self.texts(len(self.names), 30, 90)
        self.pair_texts = self.texts(len(self.pairs), 30, 90)
        self.name_sources = [self._sources(n, ENTITIES_PER_CHUNK) for n in range(len(self.names))]
        self.pair_sources = [self._sources(n, RELATIONS_PER_CHUNK) for n in range(len(self.pairs))]

    def texts(self, count: int, fewest: int, most: int) -> list[str]:
        """Texts as they are, not escaped; the prose is escaped for JSON."""
        return [text.replace('\\"', '"') for text in self.prose.texts(count, fewest, most)]

    def _names(self, count: int) -> list[str]:
        words = [word.capitalize() for word in self.prose.names]
        first, second = self.random.integers(0, len(words), (2, count)).tolist()
        return list(dict.fromkeys(f"{words[a]} {words[b]}" for a, b in zip(first, second, strict=True)))

    def _pairs(self, count: int) -> list[tuple[str, str]]:
        first, second = self.random.integers(0, len(self.names), (2, count)).tolist()
        found = {(min(a, b), max(a, b)) for a, b in zip(first, second, strict=True) if a != b}
        return [(self.names[a], self.names[b]) for a, b in sorted(found)]

    def _sources(self, number: int, per_chunk: int) -> list[str]:
        place = number // per_chunk % len(self.chunks)
        more = self.random.geometric(0.6) - 1
        return [self.chunks[(place + n * 7) % len(self.chunks)] for n in range(min(1 + int(more), 6))]


def write_lightrag(root: Path, scale: float, seed: int) -> None:
    """Write the files of a working directory."""
    root.mkdir(parents=True)
    plan = _Plan(scale, seed)
    _write_documents(root, plan)
    _write_graph(root / "graph_chunk_entity_relation.graphml", plan)
    _write_vectors(root / "vdb_entities.json", plan, _entity_rows(plan))
    _write_vectors(root / "vdb_relationships.json", plan, _relation_rows(plan))
    _write_tracking(root, plan)


def write_lightrag_all_bad(source: Path, target: Path) -> None:
    """The same directory with a fault in every record of the graph, of its vectors and of the tracking stores."""
    target.mkdir(parents=True)
    changes = {
        "graph_": (b"-chunk-", b"-chonk-"),
        "vdb_entities": (b'"entity_name": "', b'"entity_name": "x'),
        "vdb_relationships": (b'"tgt_id": "', b'"tgt_id": "x'),
        "kv_store": (b'"count": ', b'"count": 9'),
    }
    for path in source.iterdir():
        old, new = next((change for begin, change in changes.items() if path.name.startswith(begin)), (b"", b""))
        data = path.read_bytes()
        (target / path.name).write_bytes(data.replace(old, new) if old else data)


def _write_documents(root: Path, plan: _Plan) -> None:
    documents: dict[str, Any] = {}
    chunks: dict[str, Any] = {}
    status: dict[str, Any] = {}
    for number, (doc, path) in enumerate(zip(plan.documents, plan.paths, strict=True)):
        texts = plan.texts(CHUNKS_PER_DOCUMENT, 550, 750)
        ids = plan.chunks[number * CHUNKS_PER_DOCUMENT : (number + 1) * CHUNKS_PER_DOCUMENT]
        whole = "\n".join(texts)
        documents[doc] = {"content": whole, "file_path": path}
        status[doc] = {
            "status": "processed", "content_summary": whole[:100], "content_length": len(whole),
            "created_at": "2026-03-01T09:30:00+00:00", "updated_at": "2026-03-01T09:31:00+00:00",
            "file_path": path, "chunks_count": len(ids), "chunks_list": ids,
        }  # fmt: skip
        for place, (chunk, text) in enumerate(zip(ids, texts, strict=True)):
            chunks[chunk] = {
                "content": text, "tokens": 1200, "chunk_order_index": place, "full_doc_id": doc,
                "file_path": path, "llm_cache_list": [], "create_time": TIME, "update_time": TIME, "_id": chunk,
            }  # fmt: skip
    _write_store(root / "kv_store_full_docs.json", documents.items())
    _write_store(root / "kv_store_text_chunks.json", chunks.items())
    _write_store(root / "kv_store_doc_status.json", status.items())
    rows = (
        {"__id__": chunk, "__created_at__": TIME, "content": value["content"], "full_doc_id": value["full_doc_id"],
         "file_path": value["file_path"]}
        for chunk, value in chunks.items()
    )  # fmt: skip
    _write_vectors(root / "vdb_chunks.json", plan, rows)


def _write_store(path: Path, members: Iterable[tuple[str, Any]]) -> None:
    """As ``json.dump`` with an indent of 2 writes one object."""
    with path.open("w", encoding="utf-8") as file:
        start = "{\n  "
        for name, value in members:
            text = json.dumps(value, ensure_ascii=False, indent=2).replace("\n", "\n  ")
            file.write(f"{start}{json.dumps(name)}: {text}")
            start = ",\n  "
        file.write("\n}")


def _write_vectors(path: Path, plan: _Plan, rows: Iterator[dict[str, Any]]) -> None:
    """Rows with their vectors in 16 bits, packed, and then the matrix in 32 bits: one line, as nano-vectordb does."""
    matrices = []
    with path.open("w", encoding="utf-8") as file:
        file.write(f'{{"embedding_dim": {DIMENSION}, "data": [')
        start = ""
        vectors = np.zeros((0, DIMENSION), np.float32)
        for number, row in enumerate(rows):
            if number % BLOCK == 0:
                vectors = plan.random.standard_normal((BLOCK, DIMENSION)).astype(np.float32)
                vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
                matrices.append(vectors)
            packed = zlib.compress(vectors[number % BLOCK].astype(np.float16).tobytes())
            text = json.dumps({**row, "vector": base64.b64encode(packed).decode()}, ensure_ascii=False)
            file.write(start + text)
            start = ", "
        whole = np.concatenate(matrices)[: number + 1]
        file.write(f'], "matrix": "{base64.b64encode(whole.tobytes()).decode()}"}}')


def _entity_rows(plan: _Plan) -> Iterator[dict[str, Any]]:
    for name, text, sources in zip(plan.names, plan.name_texts, plan.name_sources, strict=True):
        yield {"__id__": hashed("ent-", name), "__created_at__": TIME, "entity_name": name,
               "content": f"{name}\n{text}", "source_id": SEP.join(sources),
               "file_path": _paths(plan, sources)}  # fmt: skip


def _relation_rows(plan: _Plan) -> Iterator[dict[str, Any]]:
    for (source, target), text, sources in zip(plan.pairs, plan.pair_texts, plan.pair_sources, strict=True):
        first, second = sorted((source, target))
        yield {"__id__": hashed("rel-", first + second), "__created_at__": TIME, "src_id": first, "tgt_id": second,
               "source_id": SEP.join(sources), "content": f"{_keywords(text)}\t{first}\n{second}\n{text}",
               "file_path": _paths(plan, sources)}  # fmt: skip


def _keywords(text: str) -> str:
    return ",".join(text.split()[:3])


def _paths(plan: _Plan, sources: list[str]) -> str:
    return SEP.join(dict.fromkeys(plan.path_of[chunk] for chunk in sources))


def _write_graph(path: Path, plan: _Plan) -> None:
    """As networkx writes GraphML."""
    with path.open("w", encoding="utf-8") as file:
        file.write(
            "<?xml version='1.0' encoding='utf-8'?>\n"
            '<graphml xmlns="http://graphml.graphdrawing.org/xmlns" '
            'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation='
            '"http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">'
        )
        for number, (of, name, kind) in reversed(list(enumerate(_KEYS))):
            file.write(f'<key id="d{number}" for="{of}" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<graph edgedefault="undirected">')
        for n, (name, text, sources) in enumerate(zip(plan.names, plan.name_texts, plan.name_sources, strict=True)):
            values = (name, _TYPES[n % len(_TYPES)], text, SEP.join(sources), _paths(plan, sources), str(TIME))
            file.write(f"<node id={quoteattr(name)}>\n{_data(values, 0)}</node>\n")
        for (source, target), text, sources in zip(plan.pairs, plan.pair_texts, plan.pair_sources, strict=True):
            values = (f"{len(sources)}.0", text, _keywords(text), SEP.join(sources), _paths(plan, sources), str(TIME))
            file.write(f"<edge source={quoteattr(source)} target={quoteattr(target)}>\n{_data(values, 6)}</edge>\n")
        file.write("</graph></graphml>")


def _data(values: Iterable[str], first: int) -> str:
    return "".join(f'  <data key="d{n}">{escape(value)}</data>\n' for n, value in enumerate(values, first))


def _write_tracking(root: Path, plan: _Plan) -> None:
    def listed(sources: list[str]) -> dict[str, Any]:
        return {"chunk_ids": sources, "count": len(sources), "create_time": TIME, "update_time": TIME, "_id": ""}

    names: dict[str, list[Any]] = {doc: [] for doc in plan.documents}
    pairs: dict[str, list[Any]] = {doc: [] for doc in plan.documents}
    for name, sources in zip(plan.names, plan.name_sources, strict=True):
        names[sources[0][:36]].append(name)
    for pair, sources in zip(plan.pairs, plan.pair_sources, strict=True):
        pairs[sources[0][:36]].append(sorted(pair))
    _write_store(
        root / "kv_store_full_entities.json",
        ((doc, {"entity_names": found, "count": len(found)}) for doc, found in names.items()),
    )
    _write_store(
        root / "kv_store_full_relations.json",
        ((doc, {"relation_pairs": found, "count": len(found)}) for doc, found in pairs.items()),
    )
    named = zip(plan.names, plan.name_sources, strict=True)
    _write_store(root / "kv_store_entity_chunks.json", ((n, listed(s)) for n, s in named))
    paired = zip(plan.pairs, plan.pair_sources, strict=True)
    _write_store(root / "kv_store_relation_chunks.json", ((SEP.join(sorted(p)), listed(s)) for p, s in paired))
