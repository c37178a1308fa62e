"""The rules about how a DataMind profile, data folder or repository is laid out.

Facts: haolpku/DataMind, commit 5a8f883, both of its loaders (v1: `modules/`, `benchmark/`; v2: `datamind/`).
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule

_V1_CHUNKS = "modules/rag/indexer.py:load_pre_chunked"
_V2_CHUNKS = "datamind/capabilities/kb/indexer.py"

LAYOUT_RULES: tuple[Rule, ...] = (
    Rule(
        "DM101 no-matching-jsonl error",
        summary="There is a chunks/ or triplets/ folder, and no file in it has a name that a loader reads.",
        message="no file in {folder} is named *.jsonl ({found} is there)",
        upstream={
            "v1": "silently loads none of it, and continues with raw documents or an LLM's own triples",
            "v2": "silently loads none of it",
        },
        hint="name the files *.jsonl, in lower case, directly in the folder; delete the folder if it is not meant",
        bad="chunks/a.jsonl.bak",
        good="chunks/a.jsonl",
        source=f"{_V1_CHUNKS}, {_V2_CHUNKS}:_iter_pre_chunked",
    ),
    Rule(
        "DM102 no-matching-sql error",
        summary="There is a tables/ folder, and no file in it is named *.sql.",
        message="no file in {folder} is named *.sql ({found} is there)",
        upstream={"v1": "silently creates a demo database with employees and projects instead"},
        hint="name the files *.sql, in lower case, directly in tables/; delete the folder if it is not meant",
        bad="tables/schema.SQL",
        good="tables/01_schema.sql",
        source="modules/database/database.py:init_database",
    ),
    Rule(
        "DM103 ignored-file warning",
        summary="A file next to the data whose name no loader picks up: a sub-folder, another ending, a leading dot.",
        message="is not read: only {pattern} directly in {folder} is",
        upstream={"v1": "silently ignores the file", "v2": "silently ignores the file"},
        hint="if it is data, move it directly into the folder and end its name as the message says; else keep it out",
        bad="chunks/part/b.jsonl",
        good="chunks/b.jsonl",
        source=f"{_V1_CHUNKS}, {_V2_CHUNKS}:_iter_pre_chunked",
    ),
    Rule(
        "DM104 raw-documents-beside-chunks warning",
        summary="A profile has chunks and raw documents.",
        message="{count} raw document(s) are next to chunks/",
        upstream={"v1": "indexes the chunks and ignores the documents", "v2": "indexes both in one collection"},
        hint="keep documents that are chunked already out of the profile, so that both loaders see the same corpus",
        bad="chunks/notes.jsonl and notes.md",
        good="chunks/notes.jsonl",
        source=f"modules/rag/indexer.py:get_or_create_index, {_V2_CHUNKS}:build_index",
    ),
    Rule(
        "DM105 stale-storage warning",
        summary="The built index of the profile is older than its data.",
        message="{storage} was built before this file was last changed",
        upstream={
            "v1": "serves the old index, changes stay invisible",
            "v2": "serves the old collection and merges triples into the old graph",
        },
        hint="delete the storage folder of the profile, or index again",
        bad="storage/harbour/chroma.sqlite3 of 1 May\ndata/profiles/harbour/chunks/notes.jsonl of 2 May",
        good="storage/harbour/chroma.sqlite3 of 3 May\ndata/profiles/harbour/chunks/notes.jsonl of 2 May",
        source="modules/rag/indexer.py:get_or_create_index, datamind/capabilities/graph/service.py",
    ),
    Rule(
        "DM106 unsafe-profile-name warning",
        summary="The profile is reached only by a name with separators, or its name is easy to get wrong.",
        message="the profile's name is {value}, {reason}",
        upstream={
            "v1": "joins the name to data/profiles unchecked, and storage/ gets the same odd path",
            "v2": "joins the name to data/profiles unchecked, and storage/ gets the same odd path",
        },
        hint="put the profile directly below data/profiles, with a plain name",
        bad="data/profiles/team/notes/chunks",
        good="data/profiles/team-notes/chunks",
        source="config.py:Settings.data_dir, datamind/config.py:DataConfig.data_dir",
    ),
    Rule(
        "DM107 not-json-lines error",
        summary="A .jsonl file that holds one JSON array, or objects spread over several lines.",
        message="the file holds {found}, where every line must be one object",
        upstream={
            "v1": "rejects every line",
            "v2": "skips the lines that are not JSON and stops with AttributeError at one that is an array",
        },
        hint="write one object per line (`jq -c '.[]' FILE` for an array, `jq -c . FILE` for objects)",
        fix="safe: put each record on a line",
        reveals=("DM2", "DM3", "DM5", "RD115", "RD2"),
        bad='[{"text": "a"}, {"text": "b"}]',
        good='{"text": "a"}\n{"text": "b"}',
        source=f"{_V1_CHUNKS}, {_V2_CHUNKS}:_iter_pre_chunked",
    ),
    Rule(
        "DM108 no-records error",
        since="0.2.0",
        summary="Chunks or triples without any record: their files are empty, or hold nothing but blank lines.",
        message="there is no record in it",
        upstream={
            "v1": "silently loads none of it, and continues with raw documents or an LLM's own triples",
            "v2": "silently loads none of it",
        },
        hint="write the records, or delete the folder if it is not meant",
        bad="(chunks/notes.jsonl is empty)",
        good='{"text": "a"}',
        source=f"modules/rag/indexer.py:get_or_create_index, {_V2_CHUNKS}:_iter_pre_chunked",
    ),
)
