"""Which canonical tables SQL can take straight from the files of a dataset: those whose size makes it worth it.

What is taken so has the rows that the reader gives. That is proved, not hoped: DuckDB coerces, so each table is looked
at when it is loaded, and the files are looked through for what the two read differently; where anything is found the
rows come from the reader.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from ragdatakit.converters.hipporag.data_sets import own_parts
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.files.datasets import Dataset
from ragdatakit.files.reading.record_reading import RecordReader
from ragdatakit.scanner.library import library

if TYPE_CHECKING:
    from ragdatakit.converters.kept_texts import Look, Passages
    from ragdatakit.database.dataset_database import SqlTable
    from ragdatakit.files.reading.kept_rows import ColumnSource

_LEAST_BYTES = 1 << 20
"""Below that reading rows takes no longer."""
_FORMATS = ("arag", "beir", "datamind", "gfm-rag", "graphrag", "hipporag", "light-splade", "trec")
_OF_OPTIONS = {"beir": ("questions", "qrels"), "hipporag": ("documents", "questions", "qrels", "triplets")}
"""Tables whose files options choose."""
_PASSAGES = {
    "arag": "chunks",
    "beir": "documents",
    "datamind": "chunks",
    "graphrag": "chunks",
    "hipporag": "documents",
    "light-splade": "documents",
    "trec": "documents",
}
_EDGES = {"datamind": "triplets", "gfm-rag": "edges", "graphrag": "relationships"}
"""The files of edges that are rows of a table."""


def sql_tables(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> Mapping[str, SqlTable]:
    """The tables by name; none where something is made of the rows (chunks, ids of an earlier conversion). ``records``
    is who reads the dataset's files."""
    part = _taken_part(source, options, least_bytes) if source.format in _FORMATS else None
    found = _own(source.format, "tables")(part, records) if part is not None else {}
    chosen = _OF_OPTIONS.get(source.format, ()) if options.values.keys() - {"dataset"} else ()
    return {table: way for table, way in found.items() if table not in chosen}


def blocks_of(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> dict[str, Callable[[int, Look | None], Iterator[Passages]]]:
    """What gives all rows of a table of passages, or of edges, by its name, straight from the scanner, as `KeptTexts`
    does, as far as they are texts; nothing where rows have to be read."""
    is_taken = source.format in _PASSAGES.keys() | _EDGES.keys() and library() is not None
    part = _taken_part(source, options, least_bytes) if is_taken else None
    found: dict[str, Callable[[int, Look | None], Iterator[Passages]]] = {}
    if part is None:
        return found
    if source.format in _PASSAGES and len({file.split for file in part.of_kind("documents")}) <= 1:
        found[_PASSAGES[source.format]] = partial(_own(source.format, "passages"), part, records)
    if part.of_kind(_EDGES.get(source.format, "")):
        found["edges"] = partial(_own(source.format, "edges"), part, records)
    return found


def columns_of_questions(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> dict[str, ColumnSource]:
    """Sources of tables of questions, for who needs no metadata, straight from the scanner; none where rows have to be
    read."""
    part = _taken_part(source, options, least_bytes) if source.format == "hipporag" and library() is not None else None
    if part is None:
        return {}
    found: dict[str, ColumnSource] = _own(source.format, "questions")(
        part, records, options.values.get("joiner", "auto")
    )
    return found


def _own(format_name: str, what: str) -> Callable[..., Any]:
    """A function of a format, whose modules nobody else needs."""
    name = format_name.replace("-", "_")
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"ragdatakit.converters.{name}.sql_tables"), f"{name}_{what}"
    )
    return found


def _taken_part(source: Source, options: ConversionSettings, least_bytes: int) -> Dataset | None:
    """The only part of a source that is read as it is, if it is a large one."""
    if options.chunking or options.prepare is not None:
        return None
    # Of a DataMind repository the profile alone has what is taken so.
    parts = own_parts(source, options)
    parts = [part for part in parts if source.format != "datamind" or part.layout == "profile"]
    if len(parts) != 1:
        return None
    part = parts[0]
    if converted_root(part) is not None or sum(path.stat().st_size for _, path in source.files()) < least_bytes:
        return None
    return part
