"""Rules of contextual-retrieval stores: chunks with their contexts, and the pickled vectors next to them."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_STORED = (
    '{"doc_id": "doc_1", "original_uuid": "u1", "chunk_id": "doc_1_chunk_1", "original_index": 1, '
    '"original_content": "Joss mapped it.", "contextualized_content": "On how the reef was charted."}'
)
_CONTEXT = "On how the reef was charted."
_SEARCHES = "guide.ipynb: ContextualVectorDB"
_HYBRID = "guide.ipynb: create_elasticsearch_bm25_index"
_LOADS = "guide.ipynb: VectorDB.load_db"


def _with(old: str, new: str) -> str:
    assert old in _STORED
    return _STORED.replace(old, new)


_rule = partial(Rule, since="0.2.0", good=_STORED)

STORE_RULES: tuple[Rule, ...] = (
    _rule(
        "CR030 context-not-json error",
        summary="A chunk with its context is not JSON.",
        message="not JSON: {reason}",
        upstream="json.loads stops with JSONDecodeError",
        hint="write one JSON object per line",
        bad=_STORED[:-1],
        source="guide.ipynb: load_jsonl",
    ),
    _rule(
        "CR031 context-not-object error",
        summary="A chunk with its context is JSON, but no object.",
        message="{value} is not a chunk with its context",
        upstream="indexing stops with TypeError",
        hint="write one object per chunk",
        bad=f"[{_STORED}]",
        source=_HYBRID,
    ),
    _rule(
        "CR022 unusable-context error",
        summary="A chunk with its context lacks one of its fields, or one is of another type.",
        message="{field} is {fault}",
        upstream="indexing for hybrid search stops with KeyError, or the evaluation with AttributeError",
        hint="write doc_id, original_uuid, chunk_id, original_index, original_content and contextualized_content",
        bad=_with(', "contextualized_content": "On how the reef was charted."', ""),
        source=_HYBRID,
    ),
    _rule(
        "CR034 duplicate-context error",
        summary="A chunk is stored twice, with the same document and index.",
        message="duplicate chunk {value}",
        upstream="hybrid search finds chunks by doc_id and index: the first is given for the other",
        hint="keep one of them",
        bad=_STORED + "\n" + _STORED,
        source="guide.ipynb: retrieve_advanced",
    ),
    _rule(
        "CR010 empty-context warning",
        summary="The context of a chunk is blank, or the chunk itself.",
        message="the context is {found}",
        upstream="the chunk is embedded as it is, or twice: nothing is gained",
        hint="write the context again",
        bad=_with(_CONTEXT, ""),
        source=_SEARCHES,
    ),
    _rule(
        "CR011 context-repeats-chunk warning",
        summary="The context of a chunk contains the chunk.",
        message="the context contains the chunk",
        upstream="the context is put after the chunk, which is then embedded twice",
        hint="keep the context alone, without the chunk",
        bad=_with(_CONTEXT, "On how the reef was charted: Joss mapped it."),
        source=_SEARCHES,
    ),
    _rule(
        "CR109 context-without-chunk warning",
        summary="A chunk with a context is not in the corpus.",
        message="there is no chunk {value} in the corpus",
        upstream="the store is searched, not the corpus: it is found, and can be no golden chunk",
        hint="write the contexts for the corpus that is there",
        bad=_with('"original_index": 1', '"original_index": 7'),
        source=_SEARCHES,
    ),
    _rule(
        "CR110 stored-chunk-unlike-corpus error",
        summary="The content of a chunk with a context is not that of the corpus, except for blanks around it.",
        message="the content of {value} is not that of the corpus",
        upstream="Pass@k compares this content with the golden one: the chunk is never found, and nothing says so",
        hint="write the contexts for the corpus that is there",
        bad=_with("Joss mapped it.", "Joss mapped it, and the bay."),
        source="guide.ipynb: evaluate_retrieval",
    ),
    _rule(
        "CR111 chunk-without-context warning",
        summary="Chunks of the corpus have no context, while others have.",
        message="{missing} of {chunks} chunks have no context",
        upstream="the store is searched, not the corpus: these chunks are not found",
        hint="write the contexts that are missing",
        bad=_STORED + "\n(the corpus has two chunks)",
        source=_SEARCHES,
    ),
    _rule(
        "CR201 unsafe-vectors error",
        summary="A store of vectors is a pickle of more than plain values: opening it can run code. It was not opened.",
        message="{reason}; it was not opened",
        upstream="pickle.load runs whatever the file asks for",
        hint="delete the file, and let the vectors be made again",
        bad="a pickle that names posix.system",
        good='a pickle of {"embeddings": [[0.1, 0.2]], "metadata": [{…}], "query_cache": "{}"}',
        source=_LOADS,
    ),
    _rule(
        "CR202 unusable-vectors error",
        summary="A store of vectors is no whole pickle, or lacks embeddings, metadata or query_cache.",
        message="cannot be used: {reason}",
        upstream="load_db stops with UnpicklingError, EOFError or KeyError, or the first search does",
        hint="delete the file, and let the vectors be made again",
        bad='a pickle of {"embeddings": [[0.1, 0.2]]}',
        good='a pickle of {"embeddings": [[0.1, 0.2]], "metadata": [{…}], "query_cache": "{}"}',
        source=_LOADS,
    ),
    _rule(
        "CR203 vectors-unlike-chunks error",
        summary="A store has more vectors than chunks, or fewer.",
        message="there are {vectors} vectors for {chunks} chunks",
        upstream="it loads: chunks without a vector are never found, a vector without a chunk stops a search with "
        "IndexError",
        hint="delete the file, and let the vectors be made again",
        bad="one vector, two chunks",
        good="two vectors, two chunks",
        source="guide.ipynb: VectorDB.search",
    ),
    _rule(
        "CR204 uneven-vectors error",
        summary="The vectors of a store have different lengths, or are no lists of numbers.",
        message="vector {number} has {found}; {expected} are expected",
        upstream="the first search stops with ValueError",
        hint="delete the file: it was filled by two embedding models",
        bad="[[0.1, 0.2], [0.1, 0.2, 0.3]]",
        good="[[0.1, 0.2], [0.3, 0.1]]",
        source="guide.ipynb: VectorDB.search",
    ),
    _rule(
        "CR205 stale-vectors error",
        summary="The chunks of a store of vectors are not those of the corpus next to it.",
        message="{unlike} of its {stored} chunks are not in the corpus, {missing} of the corpus's {chunks} not in it",
        upstream="where the file is there the corpus is not read: searches go over the old chunks, and Pass@k falls, "
        "to 0 where none is left",
        hint="delete the file, and let the vectors be made again",
        bad="vector_db.pkl with the chunks of another corpus",
        good="vector_db.pkl with the chunks of codebase_chunks.json",
        source="guide.ipynb: VectorDB.load_data",
    ),
)
