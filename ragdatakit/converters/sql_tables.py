"""Which canonical tables SQL can take straight from the files of a dataset: those whose size makes it worth it.

What is taken so has the rows that the reader gives. That is proved, not hoped: DuckDB coerces, so each table is looked
at when it is loaded, and the files are looked through for what the two read differently; where anything is found the
rows come from the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ragdatakit.converters.arag.sql_tables import arag_tables
from ragdatakit.converters.beir.sql_tables import beir_passages, beir_tables
from ragdatakit.converters.datamind.sql_tables import datamind_tables
from ragdatakit.converters.gfm_rag.sql_tables import gfm_rag_tables
from ragdatakit.converters.hipporag.sql_tables import hipporag_tables
from ragdatakit.converters.light_splade.sql_tables import light_splade_passages, light_splade_tables
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Passages

_LEAST_BYTES = 1 << 20
"""Below that reading rows takes no longer."""
_FORMATS = {
    "arag": arag_tables,
    "beir": beir_tables,
    "datamind": datamind_tables,
    "gfm-rag": gfm_rag_tables,
    "hipporag": hipporag_tables,
    "light-splade": light_splade_tables,
}

_OF_OPTIONS = {"beir": ("questions", "qrels"), "hipporag": ("documents",)}
"""Tables whose files options choose."""
_PASSAGES = {"beir": beir_passages, "light-splade": light_splade_passages}


def sql_tables(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> Mapping[str, SqlTable]:
    """The tables by name; none where something is made of the rows (chunks, ids of an earlier conversion). ``records``
    is who reads the dataset's files."""
    tables = _FORMATS.get(source.format)
    part = _taken_part(source, options, least_bytes) if tables is not None else None
    found = tables(part, records) if tables is not None and part is not None else {}
    chosen = _OF_OPTIONS.get(source.format, ()) if options.values else ()
    return {table: way for table, way in found.items() if table not in chosen}


def passages_of(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> Callable[[int], Iterator[Passages]] | None:
    """What gives all passages of a source straight from the scanner, in so many threads, as far as they are texts; None
    where rows have to be read."""
    passages = _PASSAGES.get(source.format)
    part = _taken_part(source, options, least_bytes) if passages is not None and library() is not None else None
    if passages is None or part is None or len({file.split for file in part.of_kind("documents")}) > 1:
        return None
    return partial(passages, part, records)


def _taken_part(source: Source, options: ConversionSettings, least_bytes: int) -> Dataset | None:
    """The only part of a source that is read as it is, if it is a large one."""
    if options.chunking or options.prepare is not None:
        return None
    # Of a DataMind repository the profile alone has what is taken so.
    parts = [part for part in source.parts if source.format != "datamind" or part.layout == "profile"]
    if len(parts) != 1:
        return None
    part = parts[0]
    if converted_root(part) is not None or sum(path.stat().st_size for _, path in source.files()) < least_bytes:
        return None
    return part
