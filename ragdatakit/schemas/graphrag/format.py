"""The GraphRAG format: indexes of 0.1 to 3.x in Parquet or CSV, vectors, and what a model answers when it extracts.

Facts: microsoft/graphrag read from 0.1.1 to 3.1.2; the package 3.3.0 run on real and on damaged indexes.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import File, Format, Layout, late_rules
from ragdatakit.schemas.graphrag.example import EXAMPLE
from ragdatakit.schemas.graphrag.records import ROWS, VECTOR
from ragdatakit.schemas.graphrag.tables import ENDINGS, GENERATION_WORDS, PREFIX, TABLES, VECTORS

SETTINGS_KEYS = (
    "completion_models", "embedding_models", "chunking", "input_storage", "output_storage", "extract_graph",
    "embed_graph", "umap", "community_reports", "entity_extraction", "claim_extraction", "vector_store", "snapshots",
)  # fmt: skip
"""Top-level keys by which settings are known where they are given alone."""

_NAMES = {
    **{f"{table.name}{ending}": table.kind for table in TABLES if table.kind != "nodes" for ending in ENDINGS},
    **{f"{PREFIX}{table.name}{ending}": table.kind for table in TABLES for ending in ENDINGS},
}
_INDEX = {**_NAMES, "embeddings.*.parquet": VECTORS, "lancedb/*.lance/_versions/latest_version_hint.json": "stores"}
_SIGNS = (
    tuple(name for name, kind in _NAMES.items() if kind in ("entities", "reports")),
    tuple(name for name, kind in _NAMES.items() if kind in ("relationships", "communities", "text-units")),
)
_TUPLES = {"*.tuples.txt": "extraction", "*.claims.txt": "claims"}


def _below(folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f"{folder}/{name}" for name in names)


GRAPHRAG = Format(
    name="graphrag",
    title="GraphRAG",
    letters="GR",
    description=(
        "What GraphRAG makes of documents: text units, entities, relationships, communities with reports, claims and "
        "vectors, in Parquet or CSV; the text that a model extracts them into."
    ),
    homepage="https://github.com/microsoft/graphrag",
    files=(
        *(
            File(
                kind=table.kind,
                title=table.title,
                container="table",
                description=table.description,
                records=(ROWS[table.kind],),
                suffixes=ENDINGS,
            )
            for table in TABLES
        ),
        File(
            kind=VECTORS,
            title="Vectors",
            container="table",
            description="A table of vectors by the ids of text units, entities or reports.",
            records=(VECTOR,),
            suffixes=(".parquet",),
        ),
        File(
            "stores: opaque",
            title="Stores of vectors",
            description=(
                "Tables of LanceDB, known by a file beside their manifests. Of each the newest one is read: the number "
                "of vectors, their length, the files of the data. The data itself is not read: neither ids nor numbers "
                "are compared with the tables."
            ),
            suffixes=(".json",),
        ),
        File(
            "extraction: text",
            prose=True,
            description="What a model answered when it was asked for the entities and relationships of a text unit.",
            suffixes=(".tuples.txt",),
        ),
        File(
            "claims: text",
            prose=True,
            description="What a model answered when it was asked for the claims in a text unit.",
            suffixes=(".claims.txt",),
        ),
        File(
            "settings: text",
            description="The settings of a project; read for the place of its tables and the release.",
            suffixes=(".yaml", ".yml"),
            signs=(SETTINGS_KEYS,),
        ),
    ),
    rules=late_rules(
        "ragdatakit.schemas.graphrag",
        "layout_rules:LAYOUT_RULES",
        "row_rules:ROW_RULES",
        "extraction_rules:SETTINGS_RULES",
        "reference_rules:REFERENCE_RULES",
        "community_rules:COMMUNITY_RULES",
        "vector_rules:VECTOR_RULES",
        "extraction_rules:EXTRACTION_RULES",
    ),
    layouts=(
        Layout(name="index", description="The tables of an index in a folder", files=_INDEX, signature=_SIGNS),
        Layout(
            name="project",
            description="The folder of a project: its settings, and the tables in `output`",
            files={
                "settings.yaml": "settings",
                "settings.yml": "settings",
                **{f"output/{name}": kind for name, kind in _INDEX.items()},
            },
            signature=(("settings.yaml", "settings.yml"), *(_below("output", names) for names in _SIGNS)),
        ),
        Layout(
            name="vectors",
            description="Vectors beside the table of what they are of",
            files=_INDEX,
            signature=(("embeddings.*.parquet",),),
        ),
        Layout(
            name="extractions",
            description="A folder with answers of a model",
            files=_TUPLES,
            signature=(tuple(_TUPLES),),
        ),
    ),
    profiles=tuple(GENERATION_WORDS),
    profile_words={release: f"GraphRAG {words}." for release, words in GENERATION_WORDS.items()},
    example=EXAMPLE,
)
