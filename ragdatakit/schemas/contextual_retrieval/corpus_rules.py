"""Rules of contextual-retrieval corpora: documents and their chunks."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_DOCUMENT = (
    '[{"doc_id": "doc_1", "original_uuid": "u1", "content": "Mara built it. Joss mapped it.", "chunks": [\n'
    '  {"chunk_id": "doc_1_chunk_0", "original_index": 0, "content": "Mara built it. "},\n'
    '  {"chunk_id": "doc_1_chunk_1", "original_index": 1, "content": "Joss mapped it."}]}]'
)
_LOADS = "guide.ipynb: VectorDB.load_data"
_HYBRID = "guide.ipynb: retrieve_advanced"


def _with(old: str, new: str) -> str:
    assert old in _DOCUMENT
    return _DOCUMENT.replace(old, new)


_rule = partial(Rule, since="0.2.0", good=_DOCUMENT, source=_LOADS)

CORPUS_RULES: tuple[Rule, ...] = (
    _rule(
        "CR001 corpus-not-json error",
        summary="The corpus is not one JSON document.",
        message="not JSON: {reason}; one list of documents is expected",
        upstream="json.load stops with JSONDecodeError",
        hint="write the whole list at once with json.dump",
        bad=_DOCUMENT[:-1],
        source="guide.ipynb: json.load of codebase_chunks.json",
    ),
    _rule(
        "CR013 corpus-not-list error",
        summary="The corpus is JSON, but not one list: an object, lines of JSON, a text.",
        message="the file is {there}; one list of documents is expected",
        upstream="loading stops with TypeError or JSONDecodeError",
        hint="write a list of documents",
        bad=_DOCUMENT[1:-1],
    ),
    _rule(
        "CR014 no-documents error",
        summary="The corpus has no document.",
        message="the corpus is empty",
        upstream="the first search stops with ValueError: no data is loaded",
        hint="look at the step that wrote the file",
        bad="[]",
        source="guide.ipynb: VectorDB.search",
    ),
    _rule(
        "CR015 document-not-object error",
        summary="An element of the corpus is not an object.",
        message="{value} is not a document",
        upstream="loading stops with TypeError",
        hint='write {"doc_id": …, "original_uuid": …, "content": …, "chunks": […]}',
        bad='["Mara built it."]',
    ),
    _rule(
        "CR002 unusable-document error",
        summary="A document lacks its id, its uuid, its content or its chunks, or one of them is of another type.",
        message="{field} is {fault}",
        upstream="loading stops with KeyError or TypeError, or contexts are written for something that is not text",
        hint="write doc_id, original_uuid and content as strings, and chunks as a list of objects",
        bad=_with('"original_uuid": "u1", ', ""),
    ),
    _rule(
        "CR019 unusable-chunk error",
        summary="A chunk lacks its id, its index or its content, or one of them is of another type.",
        message="{field} is {fault}",
        upstream="loading stops with KeyError, or the evaluation with AttributeError; an index that is not an integer "
        "matches no golden chunk",
        hint="write chunk_id and content as strings, and original_index as an integer from 0",
        bad=_with('"original_index": 1', '"original_index": "1"'),
    ),
    _rule(
        "CR003 duplicate-document error",
        summary="Two documents have the same doc_id, or the same original_uuid.",
        message="duplicate {field} {value}",
        upstream="hybrid search finds chunks by doc_id and index: those of the first document are given for those of "
        "the other",
        hint="give the documents different ids, or remove one of them",
        bad=_DOCUMENT[:-1] + ",\n " + _with("u1", "u2")[1:],
        source=_HYBRID,
    ),
    _rule(
        "CR023 duplicate-chunk-id error",
        summary="Two chunks have the same chunk_id.",
        message="duplicate chunk {value}",
        upstream="it is stored with both, and no longer says which of them is meant",
        hint="call chunks by their document and their index, as doc_1_chunk_0",
        bad=_with("doc_1_chunk_1", "doc_1_chunk_0"),
    ),
    _rule(
        "CR004 duplicate-chunk-index error",
        summary="Two chunks of a document have the same original_index.",
        message="duplicate index {value}",
        upstream="hybrid search finds chunks by doc_id and index: the first of them is given for the other",
        hint="number the chunks of each document from 0",
        bad=_with('"original_index": 1', '"original_index": 0'),
        source=_HYBRID,
    ),
    _rule(
        "CR005 chunk-index-gap warning",
        summary="The original_index of a document's chunks are not 0, 1, 2 … in order.",
        message="original_index is {value}; {expected} is expected here",
        upstream="nothing looks at it; golden chunks are named by these numbers, not by places",
        hint="number the chunks of each document from 0, in their order",
        bad=_with('"original_index": 1', '"original_index": 2'),
        source="not checked by the notebook",
    ),
    _rule(
        "CR024 unusual-chunk-id warning per-file",
        summary="A chunk_id is not made of the document's id and the chunk's index, or a context has that of no chunk.",
        message="{value} is not {expected}",
        upstream="nothing looks at it; whoever makes the id of the two does not find the chunk",
        hint="call the chunk by its document and its index",
        bad=_with("doc_1_chunk_1", "second"),
        source="not checked by the notebook",
    ),
    _rule(
        "CR026 document-without-chunks warning",
        summary="A document has no chunks.",
        message="there are no chunks",
        upstream="nothing of the document is indexed",
        hint="chunk the document, or leave it out",
        bad='[{"doc_id": "doc_1", "original_uuid": "u1", "content": "Mara built it.", "chunks": []}]',
    ),
    _rule(
        "CR006 chunk-not-in-document warning",
        summary="The content of a chunk does not occur in the content of its document.",
        message="{value} does not occur in the document",
        upstream="the context is written for a chunk that the model does not find in the document",
        hint="cut the chunks out of the document again",
        bad=_with('"content": "Joss mapped it."', '"content": "Joss mapped the reef."'),
        source="guide.ipynb: ContextualVectorDB.situate_context",
    ),
    _rule(
        "CR025 blank-chunk warning",
        summary="A chunk whose content is empty or blank.",
        message="the content is blank",
        upstream="it is embedded, and can answer nothing",
        hint="leave the chunk out",
        bad=_with('"content": "Joss mapped it."', '"content": " "'),
    ),
    _rule(
        "CR007 repeated-chunk-text warning",
        summary="A chunk has the same content as an earlier one.",
        message="an earlier chunk has the same content: {value}",
        upstream="Pass@k compares contents: whichever of them is found counts, and both take a place",
        hint="keep one of them, unless the documents really repeat themselves",
        bad=_with('"content": "Joss mapped it."', '"content": "Mara built it. "'),
        source="guide.ipynb: VectorDB.validate_embedded_chunks",
    ),
    _rule(
        "CR033 packed-file error",
        summary="A file is packed with gzip.",
        message="the file is packed with gzip",
        upstream="the notebook opens plain files only, and stops with UnicodeDecodeError",
        hint="unpack it with gunzip",
        bad="codebase_chunks.json.gz",
        good="codebase_chunks.json",
        source="guide.ipynb: open of codebase_chunks.json",
    ),
)
