"""DataMind profiles, data folders and repositories, declared for both of its loaders (v1 and v2).

Facts: haolpku/DataMind, commit 5a8f883, read and run. The loaders live side by side in one repository and disagree: v1
is `modules/` and `benchmark/`, v2 is `datamind/`.
"""

from __future__ import annotations

from ragdatakit.schemas.datamind.records import CHUNK, QUESTION, RESULT, TRIPLE
from ragdatakit.schemas.declarations import Adopted, Consistency, File, Format, Key, Layout, Variants, late_rules

FILES = (
    File(
        "chunks: ndjson",
        title="chunks",
        records=(CHUNK,),
        suffixes=(".jsonl",),
        keys=("text",),
        without=("question", "query", "qid", "doc_id", "page_content"),
        description="The corpus, cut into chunks, one per line.",
    ),
    File(
        "triplets: ndjson",
        title="triples",
        records=(TRIPLE,),
        suffixes=(".jsonl",),
        keys=("subject", "relation", "object"),
        description="The graph, one edge per line.",
    ),
    File(
        "tables: text",
        title="SQL",
        suffixes=(".sql",),
        description="v1: DDL and DML, run file by file in the order of their path.",
    ),
    File(
        "bench: ndjson",
        title="question set",
        records=(QUESTION,),
        suffixes=(".jsonl",),
        keys=("question",),
        without=("text", "answer"),
        description="v1: questions of a benchmark, one per line.",
    ),
    File(
        "plain-bench: text",
        title="plain-text question set",
        suffixes=(".jsonl", ".txt"),
        description="v1: a question set without JSON; every line is a question.",
    ),
    File(
        "results: json-array",
        title="benchmark results",
        records=(RESULT,),
        suffixes=(".json",),
        keys=("index", "question", "answer", "latency_s"),
        description="v1: what `benchmark.run` writes and `benchmark.evaluate` reads.",
    ),
    File(
        "skills: text",
        title="knowledge skills",
        prose=True,
        suffixes=(".md",),
        description="v1: Markdown files, indexed whole.",
    ),
    File(
        "claude-skills: text",
        title="skills",
        prose=True,
        suffixes=("SKILL.md",),
        description="v2: one folder per skill, with a front matter block in SKILL.md.",
    ),
    File(
        "uploads-csv: text",
        title="uploaded tables",
        suffixes=(".csv",),
        description="v2: CSV files for the import tool.",
    ),
    File(
        "documents: text",
        title="raw documents",
        prose=True,
        description="Texts in the folder of a profile, at any depth: v1 indexes them where there are no chunks, v2 "
        "always.",
    ),
    File(
        "not-read: opaque",
        title="files that no loader reads",
        suffixes=(".bak",),
        description="Files next to the data under a name that no loader picks up; never opened.",
    ),
    File(
        "images: opaque",
        title="images",
        suffixes=(".png", ".jpg", ".jpeg", ".gif", ".webp"),
        description="v1: what chunks name in image_path; looked at through the chunks, never read whole.",
    ),
)

_PROFILE_FILES = {
    "chunks/*.jsonl": "chunks",
    "triplets/*.jsonl": "triplets",
    "tables/*.sql": "tables",
    "uploads/*.csv": "uploads-csv",
    "images/*.*": "images",
    "bench/*.jsonl": "bench",
}
_FLAT = {"chunks.jsonl": "chunks", "triplets.jsonl": "triplets"}
# Names that people give a file to switch it off, or by mistake: what loads nothing must be said rather than skipped.
_SWITCHED_OFF = (
    "chunks/*.jsonl.bak",
    "chunks/*.JSONL",
    "chunks/*/*.jsonl",
    "triplets/*.jsonl.bak",
    "triplets/*.JSONL",
    "triplets/*/*.jsonl",
    "tables/*.sql.bak",
    "tables/*.SQL",
    "tables/*/*.sql",
)
_PROFILE_SIGNS = (*list(_PROFILE_FILES)[:3], *_SWITCHED_OFF)
_DOCUMENT_ENDINGS = (".md", ".markdown", ".txt")
_PROFILE = {**_PROFILE_FILES, **dict.fromkeys(_SWITCHED_OFF, "not-read")}
_SKILL_SIGNS = (".claude/skills/*/SKILL.md", ".claude/skills/*/*.md", ".claude/skills/*.md")
_DATA_SIGNS = ("bench/*.jsonl", *(f"profiles/*/{sign}" for sign in _PROFILE_SIGNS))
_DATA_FILES = {"bench/*.jsonl": "bench", "skills/*.md": "skills"}
# Signs of raw documents: what is called profiles/ may be anything, and is one where data/ and profiles/ are together.
_DOCUMENT_SIGNS = tuple(f"profiles/*/{deep}*{ending}" for deep in ("", "*/") for ending in _DOCUMENT_ENDINGS)

_RESULTS = ("benchmark_results*.json", "*_results.json")

_STOPS = "stops the whole load with UnicodeDecodeError"

DATAMIND = Format(
    name="datamind",
    title="DataMind",
    letters="DM",
    description="Profiles of a retrieval system: chunks, triples, SQL tables, images, with question sets and skills.",
    homepage="https://github.com/haolpku/DataMind",
    files=FILES,
    rules=late_rules(
        "ragdatakit.schemas.datamind",
        "layout_rules:LAYOUT_RULES",
        "chunk_rules:CHUNK_RULES",
        "image_rules:IMAGE_RULES",
        "graph_rules:GRAPH_RULES",
        "sql_rules:SQL_RULES",
        "bench_rules:BENCH_RULES",
        "skill_rules:SKILL_RULES",
    ),
    profiles=("v1", "v2"),
    layouts=(
        Layout(
            name="profile",
            description="`chunks/`, `triplets/`, `tables/` (and `images/`, `uploads/`) of one profile, with its raw "
            "documents, or these alone",
            files=_PROFILE,
            endings=dict.fromkeys(_DOCUMENT_ENDINGS, "documents"),
            apart=("chunks", "triplets", "tables", "images"),
            place="data/profiles/*",
            signature=((*_PROFILE_SIGNS, *(f"**/*{ending}" for ending in _DOCUMENT_ENDINGS)),),
        ),
        Layout(
            name="profile",
            description="the same anywhere else, where there is more than raw documents (which are not judged there)",
            files=_PROFILE,
            signature=(_PROFILE_SIGNS,),
        ),
        Layout(
            name="flat",
            description="`chunks.jsonl` and `triplets.jsonl` in one folder, before they are put in a profile's own",
            files={**_FLAT, "bench/*.jsonl": "bench"},
            signature=(("chunks.jsonl",), ("triplets.jsonl",)),
            sniff=True,
        ),
        Layout(
            name="data",
            description="the `data` folder: `bench/`, `skills/`, and profiles below `profiles/`",
            files=_DATA_FILES,
            signature=(_DATA_SIGNS,),
        ),
        Layout(
            name="data",
            description="the same, where the profiles have raw documents only",
            files=_DATA_FILES,
            place="data",
            signature=(_DOCUMENT_SIGNS,),
        ),
        Layout(
            name="repository",
            description="a repository with `data/` and the skills in `.claude/skills/`",
            files={**dict.fromkeys(_SKILL_SIGNS, "not-read"), ".claude/skills/*/SKILL.md": "claude-skills"},
            signature=(_SKILL_SIGNS, tuple(f"data/{sign}" for sign in (*_DATA_SIGNS, *_DOCUMENT_SIGNS))),
        ),
        Layout(
            name="repository",
            description="a repository with skills alone, for both loaders: `.claude/skills/` and `data/skills/`",
            files={".claude/skills/*/SKILL.md": "claude-skills", "data/skills/*.md": "skills"},
            signature=((".claude/skills/*/SKILL.md",), ("data/skills/*.md",)),
        ),
        Layout(
            name="results",
            description="what `benchmark.run` writes",
            files=dict.fromkeys(_RESULTS, "results"),
            signature=(_RESULTS,),
            sniff=True,
        ),
    ),
    keys=(
        Key(kind="chunks", fields=("@v2_id",), rule="duplicate-chunk-id"),
        Key(kind="chunks", fields=("@v2_hash",), rule="duplicate-chunk"),
        Key(kind="chunks", fields=("@text",), rule="repeated-text"),
        Key(kind="triplets", fields=("subject", "relation", "object"), rule="duplicate-triple"),
        Key(kind="bench", fields=("@set", "question_id"), within_file=("question_id",), rule="duplicate-question-id"),
    ),
    consistencies=(
        Consistency(
            kind="triplets",
            names=(("subject", "subject_type"), ("object", "object_type")),
            rule="conflicting-entity-type",
            default="entity",
        ),
    ),
    variants=(Variants(kind="triplets", fields=("subject", "object"), rule="name-variants"),),
    adopts={
        "invalid-utf8": Adopted(
            "error",
            {
                "v1": f"{_STOPS} (in raw documents its reader decides)",
                "v2": f"{_STOPS} (in raw documents and CSV imports it silently replaces the bytes)",
            },
        ),
        "byte-order-mark": Adopted(
            "error",
            {
                "v1": "the first line is not JSON for it: skipped with a warning, in a question set asked as it is",
                "v2": "the first line is not JSON for it: skipped with a warning",
            },
        ),
        "duplicate-key": Adopted("warning", "the last value silently wins"),
        "non-finite-number": Adopted(
            "warning",
            {
                "v1": "reads it; as a metadata value it is stored as nothing",
                "v2": "reads it; a metadata key with it disappears, as a confidence it makes graph.json no JSON",
            },
        ),
        "number-out-of-range": Adopted("warning", "is read as infinity"),
        # Ids become text and metadata keeps 64 bits; beyond that is lossy-metadata-value.
        "integer-beyond-2-53": Adopted(None, "is kept exactly"),
        "lone-surrogate": Adopted(
            "error",
            {
                "v1": "stops the whole build with UnicodeEncodeError",
                "v2": "stops the whole build with UnicodeEncodeError",
            },
        ),
        "lone-carriage-return": Adopted("warning", "DataMind ends a line there; DuckDB, orjson and line tools do not"),
    },
    example={
        "chunks/notes.jsonl": '{"text": "Spring tides follow the new and the full moon.", "metadata": {"page": 3}}\n'
        '{"text": "Neap tides follow the quarters.", "metadata": {"page": 4}}\n',
        "triplets/notes.jsonl": '{"subject": "Spring tide", "relation": "caused_by", "object": "Moon", '
        '"subject_type": "Event", "object_type": "Body"}\n',
    },
)
