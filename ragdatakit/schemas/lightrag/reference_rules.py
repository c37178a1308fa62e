"""The rules of LightRAG data: what the stores say of each other."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_rule = partial(Rule, since="0.2.0", source="run with lightrag-hku 1.5.7")

REFERENCE_RULES: tuple[Rule, ...] = (
    _rule(
        "LR201 unknown-document error",
        summary="A chunk of a document that is not stored.",
        message="document {value} is not in full_docs",
        upstream=(
            "the chunk is still found; its document can be neither deleted nor processed again, so it stays for ever"
        ),
        hint="add the document, or remove the chunk",
        bad='"full_doc_id": "doc-missing"',
        good='"full_doc_id": "doc-1", with doc-1 in kv_store_full_docs.json',
    ),
    _rule(
        "LR202 chunk-without-document warning per-file",
        summary="A chunk that came with a custom graph: what it names as its document is an alias.",
        message="{value} is an alias, no document",
        upstream="it is found as any other; no document can be deleted to remove it",
        hint="give ainsert_custom_kg a full_doc_id, if the document is known",
        bad='"source_id": "c1", "full_doc_id": "c1"',
        good='"source_id": "c1", "full_doc_id": "doc-1"',
        source="lightrag.py: ainsert_custom_kg",
    ),
    _rule(
        "LR203 status-without-document warning",
        summary="The status of a document that is not stored.",
        message="document {value} is not in full_docs",
        upstream="it is listed, and cannot be processed again",
        hint="remove the status, or insert the document again",
        bad='doc_status: {"doc-2": …}, full_docs: {"doc-1": …}',
        good='doc_status: {"doc-1": …}, full_docs: {"doc-1": …}',
    ),
    _rule(
        "LR204 document-without-status warning",
        summary="A document without a status.",
        message="document {value} is not in doc_status",
        upstream="it is not listed, and can be inserted a second time",
        hint="insert the document again",
        bad='full_docs: {"doc-1": …}, doc_status: {}',
        good='full_docs: {"doc-1": …}, doc_status: {"doc-1": …}',
    ),
    _rule(
        "LR205 unknown-status-chunk warning",
        summary="The status of a document lists a chunk that is not stored.",
        message="chunk {value} is not in text_chunks",
        upstream="deleting the document passes over it",
        hint="remove it from chunks_list",
        bad='"chunks_list": ["chunk-missing"]',
        good='"chunks_list": ["doc-1-chunk-000"]',
    ),
    _rule(
        "LR206 chunk-count-differs warning",
        summary="chunks_count of a document is not the number of its chunks_list.",
        message="chunks_count is {value}, and chunks_list has {found}",
        upstream="the number that is shown is wrong",
        hint="write the number of chunks_list",
        bad='"chunks_count": 3, "chunks_list": ["doc-1-chunk-000"]',
        good='"chunks_count": 1, "chunks_list": ["doc-1-chunk-000"]',
    ),
    _rule(
        "LR207 repeated-chunk-order warning",
        summary="Two chunks of a document have the same place in it.",
        message="place {value} is taken by another chunk of {document}",
        upstream="neighbouring chunks are put together in another order",
        hint="number the chunks of each document from 0",
        bad='two chunks of doc-1 with "chunk_order_index": 0',
        good='"chunk_order_index": 0 and "chunk_order_index": 1',
    ),
    _rule(
        "LR208 gap-in-chunks warning per-file",
        summary="The places of a document's chunks have a gap.",
        message="{document} has chunks at {found} of the places 0 to {value}, and none at {missing}",
        upstream="a chunk is lost, or has the place of another",
        hint="insert the document again, or number its chunks from 0",
        bad="places 0 and 2",
        good="places 0 and 1",
    ),
    _rule(
        "LR211 unknown-source error",
        summary="A node or an edge whose source_id names a chunk that is not stored.",
        message="chunk {value} is not in text_chunks",
        upstream="queries return no text for it",
        hint="write the id of a stored chunk, or UNKNOWN",
        bad='<data key="source_id">chunk-missing</data>',
        good='<data key="source_id">doc-1-chunk-000</data>',
    ),
    _rule(
        "LR212 element-without-chunk warning",
        summary="A node or an edge that names no chunk as its source.",
        message="{value} has no chunk",
        upstream="queries that find it return no text for it",
        hint="add the ids of the chunks that name it",
        bad='<data key="source_id">UNKNOWN</data>',
        good='<data key="source_id">doc-1-chunk-000</data>',
    ),
    _rule(
        "LR213 unknown-endpoint error",
        summary="An edge to or from a node that is not in the graph.",
        message="there is no node {value}",
        upstream="networkx makes an empty node of that name, which has no type, no description and no chunk",
        hint="add the node, or remove the edge",
        bad='<edge source="Joss Alder" target="Ghost"/>',
        good='<edge source="Joss Alder" target="Kettle Reef"/>',
        source="networkx: readwrite/graphml.py",
    ),
    _rule(
        "LR221 tracking-differs warning",
        summary="The stores that track entities and relations disagree with the graph.",
        message="{value} {reason}",
        upstream="used to delete documents and to repair the graph: what is not tracked stays for ever",
        hint="rebuild them with lightrag.tools.kg_integrity_repair",
        bad='{"doc-1": {"entity_names": ["Ghost"], "count": 1}}',
        good='{"doc-1": {"entity_names": ["Joss Alder"], "count": 1}}',
    ),
    _rule(
        "LR222 wrong-count warning",
        summary="The count of a tracking record is not the length of its list.",
        message="count is {value}, and the list has {found}",
        upstream="nothing reads it but people",
        hint="write the length of the list",
        bad='{"entity_names": ["Joss Alder"], "count": 2}',
        good='{"entity_names": ["Joss Alder"], "count": 1}',
    ),
)
