"""BEIR in Parquet, as MTEB's repositories have it: ``corpus/``, ``queries/`` and ``qrels/SPLIT-…`` in shards."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from ragdatakit.converters.judgements import Judgements
from ragdatakit.outputs.parquet_files import Columns, ParquetShards, parquet_shards
from ragdatakit.outputs.written_files import Output
from ragdatakit.schemas.canonical import Document, Question

CORPUS: Columns = {"_id": "text", "title": "text", "text": "text"}
QUERIES: Columns = {"_id": "text", "text": "text"}
METADATA: Columns = {"metadata": "json"}
_JUDGEMENTS: Columns = {"query-id": "text", "corpus-id": "text", "score": "integer"}


def row_of(record: Mapping[str, Any], source: Document | Question) -> dict[str, Any]:
    """A record with the metadata, which have the fields that BEIR does not know in them, too."""
    return {**record, "metadata": source.metadata}


def write_judgements(judgements: Judgements, out: Output) -> None:
    """The shards of each split."""
    files: dict[str, ParquetShards] = {}
    with ExitStack() as opened:
        for split, query, document, grade in judgements.by_file(
            lambda text: out.free_part("qrels/{}-00000.parquet", text)
        ):
            if split not in files:
                files[split] = opened.enter_context(parquet_shards(out, f"qrels/{split}", _JUDGEMENTS))
            files[split].write({"query-id": query, "corpus-id": document, "score": grade})
