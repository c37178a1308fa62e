"""The rules of GraphRAG data: vectors, in Parquet and in folders of LanceDB."""

from __future__ import annotations

from functools import partial

from ragdatakit.schemas.declarations import Rule

_STORE = "graphrag_vectors: lancedb.py"

_rule = partial(Rule, since="0.2.0")

VECTOR_RULES: tuple[Rule, ...] = (
    _rule(
        "GR201 unusable-vectors error",
        summary="A table of vectors without ids, or without lists of numbers.",
        message="{reason}",
        upstream="the vectors cannot be put into a store",
        hint="write the columns id (texts) and embedding (lists of numbers)",
        bad="id, vector",
        good="id, embedding",
        source="index/workflows/generate_text_embeddings.py",
    ),
    _rule(
        "GR202 uneven-vectors error",
        summary="Vectors of different lengths in one table.",
        message="the vector of {value} has {length} numbers, most have {usual}",
        upstream="the store takes vectors of one length only, and stops",
        hint="make all vectors with one model",
        bad='{"embedding": [0.1, 0.2]} among vectors of three numbers',
        good='{"embedding": [0.1, 0.2, 0.3]}',
        source=_STORE,
    ),
    _rule(
        "GR203 no-vector warning per-file",
        summary="Text units, entities or reports that have no vector, though others have.",
        message="{value} of {table} has no vector",
        upstream="searches by similarity never find it; DRIFT search stops where a report has none",
        hint="run the workflow generate_text_embeddings",
        bad="text unit t2 without a row in embeddings.text_unit_text",
        good='{"id": "t2", "embedding": [0.1, 0.2]}',
        source=f"{_STORE}; query/structured_search/drift_search/drift_context.py",
    ),
    _rule(
        "GR204 stray-vector warning per-file",
        summary="A vector of what is not in its table.",
        message="there is no {value} in {table}",
        upstream="it takes a place among the nearest vectors, and is then left out",
        hint="remove it, or run the workflow generate_text_embeddings",
        bad='{"id": "t9", "embedding": [0.1, 0.2]} without a text unit t9',
        good='{"id": "t1", "embedding": [0.1, 0.2]}',
        source="query/context_builder/entity_extraction.py: map_query_to_entities",
    ),
    _rule(
        "GR205 odd-vector warning",
        summary="A vector that is null, is all zeros, or has a NaN or an infinite number.",
        message="the vector of {value} {reason}",
        upstream="it is near to nothing, and never found",
        hint="make the vector again",
        bad='{"id": "t1", "embedding": [0.0, 0.0]}',
        good='{"id": "t1", "embedding": [0.1, 0.2]}',
        source=_STORE,
    ),
    _rule(
        "GR206 repeated-vector warning",
        summary="Two vectors of one id.",
        message="the id {value} is that of row {first}, too",
        upstream="both are in the store, and take two places among the nearest",
        hint="remove one of them",
        bad='{"id": "t1"} in two rows',
        good='{"id": "t1"} and {"id": "t2"}',
        source=_STORE,
    ),
    _rule(
        "GR211 store-without-manifest error",
        summary="A table of LanceDB without a manifest.",
        message="there is no manifest that can be read: {reason}",
        upstream="LanceDB does not find the table, and every search by similarity stops",
        hint="copy the whole folder, with _versions in it, or run the workflow generate_text_embeddings",
        bad="lancedb/entity_description.lance without _versions",
        good="lancedb/entity_description.lance/_versions/1.manifest",
        source="lance: table/format; lancedb: open_table",
    ),
    _rule(
        "GR212 store-without-data error",
        summary="A file that the manifest of a table of LanceDB names is not there.",
        message="there is no file {value}, which the manifest names",
        upstream="searches by similarity stop when they read it",
        hint="copy the whole folder, or run the workflow generate_text_embeddings",
        bad="a manifest that names data/a.lance, which is not there",
        good="a manifest and the files that it names",
        source="lance: table/format",
    ),
    _rule(
        "GR213 store-unlike-table warning",
        summary="A table of LanceDB with another number of vectors than what they are of.",
        message="{count} vectors, and {rows} rows of {table}",
        upstream="what has no vector is never found by similarity; which ones these are is not checked",
        hint="run the workflow generate_text_embeddings",
        bad="40 vectors of 41 entities",
        good="41 vectors of 41 entities",
        source="index/workflows/generate_text_embeddings.py",
    ),
    _rule(
        "GR214 stores-of-two-lengths warning",
        summary="Stores of vectors of different lengths in one index.",
        message="vectors have {length} numbers, those of {other} have {usual}",
        upstream="a query is embedded with one model; a store of another length stops",
        hint="make all vectors with the model that queries are embedded with",
        bad="vectors of 1,536 numbers in one store, of 768 in another",
        good="vectors of 1,536 numbers in all stores",
        source="config/models/graph_rag_config.py",
    ),
)
