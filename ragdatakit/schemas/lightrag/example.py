"""A minimal working directory of LightRAG: one document, one chunk, two entities and their relation."""

from __future__ import annotations

EXAMPLE = {
    "kv_store_full_docs.json": (
        "{\n"
        '  "doc-821d40870c78899600d64971bc0497a4": {\n'
        '    "content": "Joss Alder mapped Kettle Reef in 1871.",\n'
        '    "file_path": "harbour.txt"\n'
        "  }\n"
        "}\n"
    ),
    "kv_store_text_chunks.json": (
        "{\n"
        '  "doc-821d40870c78899600d64971bc0497a4-chunk-000": {\n'
        '    "content": "Joss Alder mapped Kettle Reef in 1871.",\n'
        '    "tokens": 9,\n'
        '    "chunk_order_index": 0,\n'
        '    "full_doc_id": "doc-821d40870c78899600d64971bc0497a4",\n'
        '    "file_path": "harbour.txt",\n'
        '    "llm_cache_list": []\n'
        "  }\n"
        "}\n"
    ),
    "kv_store_doc_status.json": (
        "{\n"
        '  "doc-821d40870c78899600d64971bc0497a4": {\n'
        '    "status": "processed",\n'
        '    "content_summary": "Joss Alder mapped Kettle Reef in 1871.",\n'
        '    "content_length": 38,\n'
        '    "created_at": "2026-03-01T09:30:00+00:00",\n'
        '    "updated_at": "2026-03-01T09:31:00+00:00",\n'
        '    "file_path": "harbour.txt",\n'
        '    "chunks_count": 1,\n'
        '    "chunks_list": [\n'
        '      "doc-821d40870c78899600d64971bc0497a4-chunk-000"\n'
        "    ]\n"
        "  }\n"
        "}\n"
    ),
    "graph_chunk_entity_relation.graphml": (
        "<?xml version='1.0' encoding='utf-8'?>\n"
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        '  <key id="d0" for="node" attr.name="entity_id" attr.type="string" />\n'
        '  <key id="d1" for="node" attr.name="entity_type" attr.type="string" />\n'
        '  <key id="d2" for="node" attr.name="description" attr.type="string" />\n'
        '  <key id="d3" for="node" attr.name="source_id" attr.type="string" />\n'
        '  <key id="d4" for="node" attr.name="file_path" attr.type="string" />\n'
        '  <key id="d5" for="edge" attr.name="weight" attr.type="double" />\n'
        '  <key id="d6" for="edge" attr.name="description" attr.type="string" />\n'
        '  <key id="d7" for="edge" attr.name="keywords" attr.type="string" />\n'
        '  <key id="d8" for="edge" attr.name="source_id" attr.type="string" />\n'
        '  <key id="d9" for="edge" attr.name="file_path" attr.type="string" />\n'
        '  <graph edgedefault="undirected">\n'
        '    <node id="Joss Alder">\n'
        '      <data key="d0">Joss Alder</data>\n'
        '      <data key="d1">person</data>\n'
        '      <data key="d2">A surveyor.</data>\n'
        '      <data key="d3">doc-821d40870c78899600d64971bc0497a4-chunk-000</data>\n'
        '      <data key="d4">harbour.txt</data>\n'
        "    </node>\n"
        '    <node id="Kettle Reef">\n'
        '      <data key="d0">Kettle Reef</data>\n'
        '      <data key="d1">location</data>\n'
        '      <data key="d2">A reef that was mapped in 1871.</data>\n'
        '      <data key="d3">doc-821d40870c78899600d64971bc0497a4-chunk-000</data>\n'
        '      <data key="d4">harbour.txt</data>\n'
        "    </node>\n"
        '    <edge source="Joss Alder" target="Kettle Reef">\n'
        '      <data key="d5">1.0</data>\n'
        '      <data key="d6">He mapped the reef.</data>\n'
        '      <data key="d7">survey</data>\n'
        '      <data key="d8">doc-821d40870c78899600d64971bc0497a4-chunk-000</data>\n'
        '      <data key="d9">harbour.txt</data>\n'
        "    </edge>\n"
        "  </graph>\n"
        "</graphml>\n"
    ),
    "vdb_chunks.json": (
        '{"embedding_dim": 4,\n'
        ' "data": [\n'
        '  {"__id__": "doc-821d40870c78899600d64971bc0497a4-chunk-000", "__created_at__": 1772357400, "c'
        'ontent": "Joss Alder mapped Kettle Reef in 1871.", "full_doc_id": "doc-821d40870c78899600d64971'
        'bc0497a4", "file_path": "harbour.txt"}\n'
        " ],\n"
        ' "matrix": "AAAAPwAAAD8AAAA/AAAAPw=="}\n'
    ),
    "vdb_entities.json": (
        '{"embedding_dim": 4,\n'
        ' "data": [\n'
        '  {"__id__": "ent-c1a9dfb1e173dbf8317f3ee7171ab0a9", "__created_at__": 1772357400, "entity_name'
        '": "Joss Alder", "content": "Joss Alder\\nA surveyor.", "source_id": "doc-821d40870c78899600d649'
        '71bc0497a4-chunk-000", "file_path": "harbour.txt"},\n'
        '  {"__id__": "ent-5415c122276bafa87082c956c8951d01", "__created_at__": 1772357400, "entity_name'
        '": "Kettle Reef", "content": "Kettle Reef\\nA reef that was mapped in 1871.", "source_id": "doc-'
        '821d40870c78899600d64971bc0497a4-chunk-000", "file_path": "harbour.txt"}\n'
        " ],\n"
        ' "matrix": "mpkZP83MTD8AAAAAAAAAAAAAAACamRk/zcxMPwAAAAA="}\n'
    ),
    "vdb_relationships.json": (
        '{"embedding_dim": 4,\n'
        ' "data": [\n'
        '  {"__id__": "rel-3caebe4b9d8a10ff32f956a78cb0f6f4", "__created_at__": 1772357400, "src_id": "J'
        'oss Alder", "tgt_id": "Kettle Reef", "content": "survey\\tJoss Alder\\nKettle Reef\\nHe mapped the'
        ' reef.", "source_id": "doc-821d40870c78899600d64971bc0497a4-chunk-000", "file_path": "harbour.t'
        'xt"}\n'
        " ],\n"
        ' "matrix": "AAAAAAAAAACamRk/zcxMPw=="}\n'
    ),
}
