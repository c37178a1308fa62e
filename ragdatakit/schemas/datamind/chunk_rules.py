"""The rules of DataMind chunks: lines, text, metadata, ids.

Facts: haolpku/DataMind, commit 5a8f883, both of its loaders, with llama-index-core 0.14.25 and chromadb 1.5.9.
"""

from __future__ import annotations

from ragdatakit.schemas.declarations import Rule
from ragdatakit.schemas.fixes import SYNTAX_WORDS

_V1 = "modules/rag/indexer.py:load_pre_chunked"
_V2 = "datamind/capabilities/kb/indexer.py:_iter_pre_chunked"
_MODEL = "schema/types.py:RAGChunk"
_SKIPS = "skips the line with a warning"
_BUILD_V2 = "stops the whole build with ValueError (Chroma)"
_COPY_WORDS = (
    "safe: remove a record that is equal in every field, for v2",
    "unsafe: remove it also for v1, which takes it for another chunk",
)

CHUNK_RULES: tuple[Rule, ...] = (
    Rule(
        "DM201 broken-chunk-line error",
        summary="A line of a chunk file that is not JSON.",
        message="not JSON: {reason}",
        upstream={"v1": _SKIPS, "v2": _SKIPS},
        hint="repair the line; every line is one whole JSON object",
        fix=SYNTAX_WORDS,
        reveals=("DM2", "RD115", "RD2"),
        bad='{"text": "a",}',
        good='{"text": "a"}',
        source=f"{_V1}, {_V2}",
    ),
    Rule(
        "DM202 chunk-not-object error",
        summary="A line of a chunk file that is JSON, but not an object.",
        message="{value} is not an object",
        upstream={"v1": _SKIPS, "v2": "stops the whole build with AttributeError"},
        hint="write an object with the field text",
        bad='["a", "b"]',
        good='{"text": "a"}',
        source=f"{_V1}, {_V2}",
    ),
    Rule(
        "DM203 empty-chunk error",
        summary="A chunk without text and without an image.",
        message="text is {fault}",
        upstream={"v1": "drops the chunk silently", "v2": "drops the chunk silently"},
        hint="give the chunk a text, or remove the line",
        bad='{"metadata": {"source": "x"}}',
        good='{"text": "Neap tides follow the quarters."}',
        source=f"{_V1}, {_V2}",
    ),
    Rule(
        "DM204 null-text error",
        summary="A chunk whose text is null.",
        message="text is null, expected a string",
        upstream={"v1": _SKIPS, "v2": "drops the chunk silently"},
        hint="give the chunk a text, or remove the line",
        bad='{"text": null}',
        good='{"text": "Neap tides follow the quarters."}',
        source=f"{_MODEL}, {_V2}",
    ),
    Rule(
        "DM205 text-not-string error",
        summary="A chunk whose text is a number, a boolean, a list or an object.",
        message="text is {value}, expected a string",
        upstream={
            "v1": _SKIPS,
            "v2": "stops the whole build with AttributeError (drops the chunk where the value is 0, false or empty)",
        },
        hint="write the text as a JSON string",
        bad='{"text": 7}',
        good='{"text": "7"}',
        source=f"{_MODEL}, {_V2}",
    ),
    Rule(
        "DM206 blank-text warning",
        summary="A chunk whose text is only white space.",
        message="text is only white space: {value}",
        upstream={"v1": "keeps the chunk and embeds nothing but its metadata", "v2": "drops the chunk silently"},
        hint="give the chunk a text, or remove the line",
        bad='{"text": "  "}',
        good='{"text": "Neap tides follow the quarters."}',
        source=f"{_V1}, {_V2}",
    ),
    Rule(
        "DM207 padded-text warning per-file",
        summary="A text with white space at its start or end.",
        message="text starts or ends with white space",
        upstream={"v2": "strips it, so that offsets and text differ from v1"},
        hint="strip the text when you write it, unless its offsets matter",
        bad='{"text": " Spring tides"}',
        good='{"text": "Spring tides"}',
        source=_V2,
    ),
    Rule(
        "DM208 metadata-not-object error",
        summary="A chunk whose metadata is neither an object nor null.",
        message="metadata is {value}, expected an object",
        upstream={"v1": _SKIPS, "v2": "turns it into text under the one key _raw_metadata (nothing, if it is empty)"},
        hint="write metadata as an object, or leave it out",
        bad='{"text": "a", "metadata": ["tides"]}',
        good='{"text": "a", "metadata": {"topic": "tides"}}',
        source=f"{_MODEL}, {_V2}",
    ),
    Rule(
        "DM209 null-metadata error",
        summary="A chunk whose metadata is null.",
        message="metadata is null, expected an object",
        upstream={"v1": _SKIPS},
        hint="leave metadata out, or write an empty object",
        fix="safe: remove the null",
        bad='{"text": "a", "metadata": null}',
        good='{"text": "a"}',
        source=_MODEL,
    ),
    Rule(
        "DM210 unknown-modality error",
        summary="A modality other than text, image and text_image.",
        message='modality is {value}, expected "text", "image" or "text_image"',
        upstream={"v1": _SKIPS},
        hint="write it in lower case, or leave it out",
        fix="safe: write the modality in lower case",
        reveals=("DM25",),
        bad='{"text": "a", "modality": "Image"}',
        good='{"text": "a", "modality": "text"}',
        source="schema/types.py:Modality",
    ),
    Rule(
        "DM211 nested-metadata error",
        summary="A metadata value that is an object.",
        message="metadata {key} is an object, expected a string, number or boolean",
        upstream={"v1": "stops the whole build with ValueError (flat metadata only)", "v2": _BUILD_V2},
        hint="give each inner value a key of its own, or store the object as JSON text",
        bad='{"text": "a", "metadata": {"tags": {"k": 1}}}',
        good='{"text": "a", "metadata": {"tags_k": 1}}',
        source="llama_index.vector_stores.chroma, chromadb.api.types:validate_metadata",
    ),
    Rule(
        "DM212 list-metadata error",
        summary="A metadata value that is a list.",
        message="metadata {key} is a list, expected a string, number or boolean",
        upstream={"v1": "stops the whole build with ValueError (flat metadata only)"},
        hint="join the items into one string",
        bad='{"text": "a", "metadata": {"tags": ["moon", "sea"]}}',
        good='{"text": "a", "metadata": {"tags": "moon, sea"}}',
        source="llama_index.core.vector_stores.utils:node_to_metadata_dict",
    ),
    Rule(
        "DM213 mixed-list-metadata error",
        summary="A metadata value that is an empty list, or a list of mixed types, lists, objects or nulls.",
        message="metadata {key} is {value}, expected a string, number or boolean",
        upstream={
            "v1": "stops the whole build with ValueError (flat metadata only)",
            "v2": "stops the whole build with ValueError: a list must hold values of one simple type",
        },
        hint="join the items into one string, or leave the key out",
        bad='{"text": "a", "metadata": {"tags": ["moon", 1]}}',
        good='{"text": "a", "metadata": {"tags": "moon, 1"}}',
        source="chromadb.api.types:validate_metadata",
    ),
    Rule(
        "DM214 forbidden-metadata-key error",
        summary='The metadata key "" or "chroma:document".',
        message="metadata has the key {key}",
        upstream={"v1": "stops the whole build with ValueError", "v2": _BUILD_V2},
        hint="rename or remove the key",
        bad='{"text": "a", "metadata": {"": 1}}',
        good='{"text": "a", "metadata": {"page": 1}}',
        source="chromadb.api.types:validate_metadata",
    ),
    Rule(
        "DM215 lossy-metadata-value warning",
        summary="A metadata value that the store cannot keep: null, or an integer beyond 64 bits.",
        message="metadata {key} is {value}",
        upstream={
            "v1": "stores null as nothing, and an integer beyond 64 bits as a float",
            "v2": "drops a key that is null, and stores an integer beyond 64 bits as a float",
        },
        hint="leave the key out, or store the number as text",
        fix="safe: remove a null",
        bad='{"text": "a", "metadata": {"page": null}}',
        good='{"text": "a"}',
        source="chromadb 1.5.9, as metadata is read back",
    ),
    Rule(
        "DM216 overwritten-metadata-key warning",
        summary="A metadata key that v1 writes itself.",
        message="{count} chunk(s) use the metadata key {key}",
        upstream={"v1": "writes this key itself; the value is replaced or lost"},
        hint="choose another key, for example with a prefix of your own",
        bad='{"text": "a", "metadata": {"source_file": "tides.md"}}',
        good='{"text": "a", "metadata": {"file": "tides.md"}}',
        source=f"{_V1}, llama_index.core.vector_stores.utils:node_to_metadata_dict",
    ),
    Rule(
        "DM217 reserved-metadata-key warning",
        summary="A metadata key that v2 writes or reserves: source (with another value than the chunk's), or _….",
        message="{count} chunk(s) use the metadata key {key}",
        upstream={
            "v2": "replaces source by the top-level source or the file's name; names that begin with _ are its own"
        },
        hint="give the source at the top level too, with the same value, and begin no key with _",
        bad='{"text": "a", "metadata": {"source": "tides.md"}}',
        good='{"text": "a", "source": "tides.md", "metadata": {"source": "tides.md"}}',
        source="datamind/capabilities/kb/indexer.py:build_index",
    ),
    Rule(
        "DM218 duplicate-chunk-id error",
        summary='Two chunks of a profile have the same id, compared as text (1 and "1" are the same).',
        message="duplicate id {value}",
        upstream={
            "v2": "stores nothing of the batch (DuplicateIDError), or replaces the first chunk where the two are "
            "more than 64 chunks apart"
        },
        hint="make ids unique over all chunk files of the profile",
        bad='{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}',
        good='{"id": "a-1", "text": "a"}\n{"id": "a-2", "text": "b"}',
        source="datamind/capabilities/kb/indexer.py:build_index",
        fix=_COPY_WORDS,
    ),
    Rule(
        "DM219 duplicate-chunk error",
        summary="Two chunks without an id have the same text and source.",
        message="the same text and source appear twice, and neither has an id",
        upstream={
            "v2": "makes one id of both: stores nothing of the batch (DuplicateIDError), or replaces the first chunk"
        },
        hint="remove one of the two, or give each an id",
        fix=_COPY_WORDS,
        bad='{"text": "same"}\n{"text": "same"}',
        good='{"text": "same"}\n{"text": "other"}',
        source="datamind/capabilities/kb/indexer.py:_hash",
    ),
    Rule(
        "DM220 repeated-text warning",
        summary="Two chunks have the same text.",
        message="the same text is already in the profile: {value}",
        upstream={"v1": "keeps both, and retrieves both", "v2": "keeps both, and retrieves both"},
        hint="remove one of the two, unless the repetition is meant",
        bad='{"id": "1", "text": "same"}\n{"id": "2", "text": "same"}',
        good='{"id": "1", "text": "same"}',
        source=f"{_V1}, {_V2}",
    ),
    Rule(
        "DM221 source-not-string error",
        summary="A chunk's source that is not a string, where v2 needs one.",
        message="source is {value}, expected a string",
        upstream={
            "v2": "stops the whole build: AttributeError in the hash of a chunk without an id, ValueError (Chroma) for "
            "an object or a list of mixed types"
        },
        hint="write the source as a string, or leave it out",
        fix="safe: put the number into quotes",
        bad='{"text": "a", "source": 12}',
        good='{"text": "a", "source": "12"}',
        source="datamind/capabilities/kb/indexer.py:_hash",
    ),
    Rule(
        "DM222 unused-id-or-source warning",
        summary="Chunks give an id or a source at the top level, which only v2 reads.",
        message="{count} chunk(s) give an id or a source at the top level",
        upstream={"v1": "ignores both: chunks get random ids, and answers cannot cite them"},
        hint="for v1, repeat them inside metadata (`--profile v2` where v1 does not matter)",
        bad='{"id": "t1", "text": "a", "source": "tides.md"}',
        good='{"text": "a", "metadata": {"chunk": "t1", "file": "tides.md"}}',
        source=_MODEL,
    ),
    Rule(
        "DM223 oversized-chunk warning",
        summary="A text longer than the window of common embedding models (about 8,191 tokens).",
        message="text has {bytes} bytes, more than the 32,764 that fill 8,191 tokens",
        upstream={
            "v1": "sends it as it is; the model refuses it or cuts off its end",
            "v2": "sends it as it is; the model refuses it or cuts off its end",
        },
        hint="split the chunk; upstream advises 200 to 1,000 characters",
        bad='{"text": "Spring tides follow …"} with 40,000 bytes of text',
        good='{"text": "Spring tides follow …"} with 800 bytes of text',
        source="DataMind-Doc, on the length of chunks; modules/rag/indexer.py:load_pre_chunked",
    ),
    Rule(
        "DM224 very-short-chunk info per-file",
        summary="A text of fewer than ten characters.",
        message="text has {length} character(s)",
        upstream={"v1": "embeds it like any other", "v2": "embeds it like any other"},
        hint="short texts are found by chance; upstream advises 200 to 1,000 characters",
        bad='{"text": "Tides."}',
        good='{"text": "Neap tides follow the quarters."}',
        source="DataMind-Doc, on the length of chunks; modules/rag/indexer.py:load_pre_chunked",
    ),
    Rule(
        "DM225 partial-index warning",
        summary="A record that stops the build, in a corpus of more than 2,048 chunks.",
        message="{count} record(s) stop the build of {records} chunks, which are stored 2,048 at a time",
        upstream={
            "v1": "keeps the batches stored before the fault, finds a filled collection at the next start, and serves "
            "it as if it were complete"
        },
        hint="repair the records, and delete the storage folder of a build that stopped",
        bad='2,050 chunks, the last of them {"text": "a", "metadata": {"tags": {"k": 1}}}',
        good='2,050 chunks, the last of them {"text": "a", "metadata": {"tags_k": 1}}',
        source="modules/rag/indexer.py:get_or_create_index",
    ),
)
