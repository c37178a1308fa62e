"""Which canonical tables SQL can take straight from the files of a dataset: those whose size makes it worth it.

What is taken so has the rows that the reader gives. That is proved, not hoped: DuckDB coerces, so each table is looked
at when it is loaded, and the files are looked through for what the two read differently; where anything is found the
rows come from the reader.
"""

from __future__ import annotations

from collections.abc import Mapping

from ragdatakit.converters.arag.sql_tables import arag_tables
from ragdatakit.converters.beir.sql_tables import beir_tables
from ragdatakit.converters.datamind.sql_tables import datamind_tables
from ragdatakit.converters.gfm_rag.sql_tables import gfm_rag_tables
from ragdatakit.converters.light_splade.sql_tables import light_splade_tables
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.database.dataset_database import SqlTable
from ragdatakit.files.reading.record_reading import RecordReader

_LEAST_BYTES = 1 << 20
"""Below that reading rows takes no longer."""
_FORMATS = {
    "arag": arag_tables,
    "beir": beir_tables,
    "datamind": datamind_tables,
    "gfm-rag": gfm_rag_tables,
    "light-splade": light_splade_tables,
}


def sql_tables(
    source: Source, options: ConversionSettings, records: RecordReader, least_bytes: int = _LEAST_BYTES
) -> Mapping[str, SqlTable]:
    """The tables by name; none where something is made of the rows (chunks, ids of an earlier conversion). ``records``
    is who reads the dataset's files."""
    tables = _FORMATS.get(source.format)
    if tables is None or options.chunking or options.prepare is not None:
        return {}
    # Of a DataMind repository the profile alone has what is taken so.
    parts = [part for part in source.parts if source.format != "datamind" or part.layout == "profile"]
    if len(parts) != 1:
        return {}
    part = parts[0]
    if converted_root(part) is not None or sum(path.stat().st_size for _, path in source.files()) < least_bytes:
        return {}
    return tables(part, records)
