"""The rules of LightRAG data: the stores of documents, chunks and statuses."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0")

STORE_RULES: tuple[Rule, ...] = (
    _rule(
        "LR101 store-not-json error",
        summary="A store that is not JSON, or is blank.",
        message="not JSON: {reason}",
        upstream=(
            "LightRAG stops with JSONDecodeError when it opens its stores; a blank file is an empty store, silently"
        ),
        cases={
            "": "LightRAG stops with JSONDecodeError when it opens its stores",
            "empty": "LightRAG takes it for an empty store, silently",
        },
        hint="write the store with json.dump; copy it again if it was cut",
        bad='{"chunk-1": {"content": "Joss Alder"},}',
        good='{"chunk-1": {"content": "Joss Alder"}}',
        source="utils.py: load_json",
    ),
    _rule(
        "LR102 store-not-object error",
        summary="A store whose top level is not an object.",
        message="the top level is not an object",
        upstream="null and lists count as an empty store, silently; other values stop the start or the first query",
        hint="write one object: the id of each record, and the record",
        bad='[{"content": "Joss Alder"}]',
        good='{"chunk-1": {"content": "Joss Alder"}}',
        source="json_kv_impl.py: JsonKVStorage.initialize",
    ),
    _rule(
        "LR103 no-chunks error",
        summary="The store of chunks is empty.",
        message="there is no chunk",
        upstream="local, global and hybrid return no text",
        hint="write the chunks, or insert the documents again",
        bad="{}",
        good='{"chunk-1": {"content": "Joss Alder was a surveyor."}}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR107 repeated-record error",
        summary="Two records of a store have one id.",
        message="{value} is there already",
        upstream="the last one replaces the others",
        keeps_last=True,
        hint="give them different ids, or remove one",
        bad='{"chunk-1": {"content": "Joss Alder"}, "chunk-1": {"content": "Mara Venn"}}',
        good='{"chunk-1": {"content": "Joss Alder"}, "chunk-2": {"content": "Mara Venn"}}',
        source="json.load in Python's library",
    ),
    _rule(
        "LR104 packed-store error",
        summary="A file of the working directory is packed with gzip.",
        message="the file is packed; {expected} is expected",
        upstream="only plain files are opened: the store is taken for an empty one, silently",
        hint="unpack it with gunzip",
        bad="kv_store_text_chunks.json.gz",
        good="kv_store_text_chunks.json",
        source="namespace.py and the storages of kg/",
    ),
    _rule(
        "LR105 missing-store error",
        summary="The working directory has no chunks, or no graph.",
        message="there is no {expected}{beside}",
        upstream=(
            "an empty one is made: without the graph no mode but naive finds anything, without the "
            "chunks no text is returned"
        ),
        hint="put the file into the working directory, or insert the documents again",
        bad="vdb_entities.json alone",
        good="kv_store_text_chunks.json and graph_chunk_entity_relation.graphml next to it",
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR106 missing-vectors error",
        summary="The working directory lacks one of its stores of vectors.",
        message="there is no {expected}{beside}",
        upstream={
            "lightrag": (
                "an empty one is made, silently: local finds nothing without entities, global without relationships, "
                "naive without chunks"
            )
        },
        hint="put the file into the working directory, or rebuild it with lightrag.tools.rebuild_vdb",
        bad="vdb_entities.json and vdb_relationships.json",
        good="vdb_entities.json, vdb_relationships.json and vdb_chunks.json",
        source="run with lightrag-hku 1.5.7; kg/nano_vector_db_impl.py: NanoVectorDBStorage.__post_init__",
    ),
    _rule(
        "LR108 no-vector-stores warning",
        summary="The working directory has no store of vectors, of any kind that is a file.",
        message="there is no store of vectors such as {expected}",
        upstream=(
            "all is well where vectors are kept elsewhere, such as in Milvus or PostgreSQL; else empty ones are made, "
            "silently, and only the graph and the texts are left"
        ),
        hint=(
            "leave it where vectors are kept elsewhere; else rebuild them with lightrag.tools.rebuild_vdb, those of "
            "nano-graphrag by inserting the texts again"
        ),
        bad="kv_store_text_chunks.json and graph_chunk_entity_relation.graphml",
        good="kv_store_text_chunks.json, graph_chunk_entity_relation.graphml and vdb_entities.json",
        source="kg/: nano_vector_db_impl.py, faiss_impl.py, milvus_impl.py of lightrag-hku 1.5.7",
    ),
    _rule(
        "LR111 record-not-object error",
        summary="A record of a store that is not an object.",
        message="{value} is not an object",
        upstream="it stops queries that come upon it, or the start",
        hint="write the record as an object",
        bad='{"chunk-1": "Joss Alder was a surveyor."}',
        good='{"chunk-1": {"content": "Joss Alder was a surveyor."}}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR112 chunk-without-content error",
        summary="A chunk without content, or whose content is not a text.",
        message="content is {fault}; expected a text",
        upstream="the chunk is left out of what queries return, or returned without a text",
        hint="write the text, or remove the chunk with all that points to it",
        bad='{"chunk-1": {"content": "", "full_doc_id": "doc-1"}}',
        good='{"chunk-1": {"content": "Joss Alder was a surveyor.", "full_doc_id": "doc-1"}}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR113 unusable-chunk-field warning",
        summary="A field of a chunk that LightRAG writes is missing, or has another type.",
        message="{field} is {fault}",
        upstream="it loads; what sorts or counts chunks by it goes wrong",
        hint="write tokens and chunk_order_index as integers from 0, ids and paths as texts",
        bad='"chunk_order_index": "first"',
        good='"chunk_order_index": 0',
        source="base.py: TextChunkSchema",
    ),
    _rule(
        "LR114 document-without-content warning",
        summary="A document without content, or whose content is not a text.",
        message="content is {fault}; expected a text",
        upstream="queries do not need it; to process it again stops",
        hint="write the text of the document",
        bad='{"doc-1": {"file_path": "harbour.txt"}}',
        good='{"doc-1": {"content": "Joss Alder was a surveyor.", "file_path": "harbour.txt"}}',
        source="pipeline.py",
    ),
    _rule(
        "LR115 unknown-status error",
        summary="The status of a document is none that LightRAG knows, or there is none.",
        message=(
            "status is {fault}; expected one of pending, parsing, analyzing, processing, preprocessed, "
            "processed, failed"
        ),
        upstream="it stops with KeyError or ValueError when documents are counted or listed",
        hint="write processed, if the document is in the graph",
        bad='"status": "done"',
        good='"status": "processed"',
        source="base.py: DocStatus",
    ),
    _rule(
        "LR116 time-not-iso warning",
        summary="A time of a document's status that is not in ISO 8601.",
        message="{field} is {value}; expected a time such as 2026-03-01T09:30:00+00:00",
        upstream="documents are listed in another order",
        hint="write it as datetime.isoformat does",
        bad='"created_at": "yesterday"',
        good='"created_at": "2026-03-01T09:30:00+00:00"',
        source="base.py: DocProcessingStatus",
    ),
    _rule(
        "LR117 unlike-chunk-id warning per-file",
        summary="The id of a chunk is none that any version would give it.",
        message="chunk {value} is called neither by its document and place nor by the MD5 of its content",
        upstream="nothing checks it; the same document inserted again makes a second chunk",
        hint=("keep it if the ids are your own; else name it DOCUMENT-chunk-000, or chunk- and the MD5 of the content"),
        bad='{"c1": {"content": "Joss Alder", "full_doc_id": "doc-1"}}',
        good='{"doc-1-chunk-000": {"content": "Joss Alder", "full_doc_id": "doc-1", "chunk_order_index": 0}}',
        source="utils_pipeline.py: build_chunks_dict_from_chunking_result",
    ),
    _rule(
        "LR118 unlike-document-id info per-file",
        summary="The id of a document is none that LightRAG would give it by itself.",
        message="document {value} is called neither by the MD5 of its file's name nor of its content",
        upstream="nothing checks it; the same file inserted again is a second document",
        hint="keep it if the ids are your own",
        bad='{"harbour": {"content": "Joss Alder"}}',
        good='{"doc-821d40870c78899600d64971bc0497a4": {"content": "Joss Alder", "file_path": "harbour.txt"}}',
        source="pipeline.py: _add_content",
    ),
    _rule(
        "LR119 unusable-tracking-record warning",
        summary="A record of the stores that track entities and relations has another shape.",
        message="{value} where an object with its list is expected",
        upstream="deletion and repair of documents go wrong; queries do not read it",
        hint="write the lists of names, pairs or chunks, and their number",
        bad='{"doc-1": {"entity_names": "Joss Alder", "count": 1}}',
        good='{"doc-1": {"entity_names": ["Joss Alder"], "count": 1}}',
        source="run with lightrag-hku 1.5.7",
    ),
    _rule(
        "LR120 path-not-text error",
        summary="A file_path that is a list or an object.",
        message="file_path is {value}",
        upstream="queries that find the record stop with TypeError",
        hint="write one text; several paths are joined with <SEP>",
        bad='"file_path": ["harbour.txt"]',
        good='"file_path": "harbour.txt"',
        source="operate.py: _build_context_str",
    ),
)
