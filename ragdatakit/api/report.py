"""The Python interface of reports: what is in a dataset, in numbers; and the dataset as a database."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.arguments import PathLike, Progress, given_paths, reading_options, refuse_number
from ragdatakit.api.sources import only_source
from ragdatakit.schemas.errors import RagdataError

if TYPE_CHECKING:
    from ragdatakit.converters.run import ConvertOptions, Source
    from ragdatakit.schemas.neighbourhoods import Neighbourhoods
    from ragdatakit.schemas.summaries import Summary
    from ragdatakit.tables.dataset_database import DatasetDatabase

USUAL_EXAMPLES = 3


def report(
    path: PathLike | Iterable[PathLike],
    *,
    source_format: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    examples: int = USUAL_EXAMPLES,
    seed: int = 13,
    save: PathLike | None = None,
    neighbourhoods: bool = False,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> list[Summary]:
    """What is in the datasets at ``path`` (one path, or several), one `Summary` for each, in numbers.

    ``source_format``, ``options`` and ``chunking`` are those of `read`. ``examples`` is how many random rows of a table
    are shown beside the first, the longest and the shortest, chosen by ``seed``. ``save`` leaves a DuckDB file with all
    tables (in schemas of their own where there are several datasets). ``neighbourhoods`` gives the summary of a graph
    the part of it that a page takes along. ``memory_limit`` is what DuckDB may hold in bytes. ``progress`` is called
    with what is being done, how much is done and how much there is.

    Raises `RagdataError` where a path is missing or nothing is recognised there. Data that is wrong gives a report all
    the same: what could not be read is in ``losses``.
    """
    from contextlib import nullcontext

    from ragdatakit.tables.dataset_database import DatabaseFile

    paths = given_paths(path)
    refuse_number("examples", examples, 0)
    wanted = reading_options(source_format, options, chunking, progress)
    found = [pair for p in paths for source in _sources(p, wanted) for pair in _sets(source, wanted)]
    summaries = []
    with DatabaseFile(Path(save)) if save is not None else nullcontext() as file:
        schemas = _schemas([source for source, _ in found])
        for (source, words), schema in zip(found, schemas, strict=True):
            started = time.perf_counter()
            try:
                database = _database(source, words, memory_limit)
            except RagdataError as error:
                if len(found) == 1:
                    raise
                summaries.append(_unread(source, error))
                continue
            with database:
                summary = _summary(source, database, examples, seed, progress)
                if neighbourhoods:
                    summary.neighbourhoods = _neighbourhoods(database, progress)
                if file is not None:
                    file.add(database, schema, source.display)
            summary.seconds = time.perf_counter() - started
            summaries.append(summary)
    return summaries


def open_database(
    path: PathLike,
    *,
    source_format: str = "",
    name: str = "",
    options: Mapping[str, object] | None = None,
    chunking: Mapping[str, object] | None = None,
    memory_limit: int = 0,
    progress: Progress | None = None,
) -> DatasetDatabase:
    """The dataset at ``path`` as a DuckDB database: canonical tables in schema ``main``, views of its files in
    ``files``.

    Tables are filled when they are asked for. Use it in a ``with`` block: the database lies in memory and in a scratch
    folder. The arguments are those of `report`. Raises `RagdataError` where nothing is recognised, or several datasets
    are.
    """
    wanted = reading_options(source_format, options, chunking, progress, name)
    return _database(only_source(Path(path), wanted), wanted, memory_limit)


def _sources(path: Path, wanted: ConvertOptions) -> Iterator[Source]:
    """What is at a path, of all formats."""
    from dataclasses import replace

    from ragdatakit.converters.run import find_sources, refuse_unknown_options

    formats = [wanted.source_format] if wanted.source_format or "map" in wanted.values else _formats(path)
    for format_name in formats:
        found = find_sources(path, replace(wanted, source_format=format_name))
        refuse_unknown_options(wanted.values, (found[0].format,))
        yield from found


def _sets(source: Source, wanted: ConvertOptions) -> Iterator[tuple[Source, ConvertOptions]]:
    """A source and how to read it: once for each of the data sets that a folder of HippoRAG holds."""
    from dataclasses import replace

    from ragdatakit.converters.hipporag_reading import set_names

    names = set_names(source.parts[0]) if source.format == "hipporag" and "dataset" not in wanted.values else []
    if len(names) < 2:
        yield source, wanted
        return
    for name in names:
        yield source, replace(wanted, name=wanted.name or name, values={**wanted.values, "dataset": name})


def _unread(source: Source, error: RagdataError) -> Summary:
    """Of a dataset among others that cannot be read at all: why."""
    from ragdatakit.schemas.summaries import Summary

    return Summary(source.display, source.root.name, source.format, losses=[str(error)])


def _formats(path: Path) -> list[str]:
    """The formats of the datasets at a path; one empty name where there is only one, or none that is declared."""
    from ragdatakit.schemas.errors import UnknownNameError
    from ragdatakit.tables.detection import UnreadableError, detect

    try:
        names = sorted({d.format.name for d in detect(path).datasets})
    except (UnknownNameError, UnreadableError):
        raise
    except RagdataError:
        return [""]  # plain texts or tables, or an error that reading words
    return names if len(names) > 1 else [""]


def _database(source: Source, wanted: ConvertOptions, memory_limit: int) -> DatasetDatabase:
    from ragdatakit.converters.run import read_source
    from ragdatakit.converters.sql_tables import sql_tables
    from ragdatakit.schemas.conversions import Losses
    from ragdatakit.tables.dataset_database import USUAL_MEMORY, DatasetDatabase

    tables = read_source(source, wanted, Losses())
    by_sql = sql_tables(source, wanted)
    limit = memory_limit or USUAL_MEMORY
    return DatasetDatabase(tables, source.parts, by_sql, memory_limit=limit, progress=wanted.progress)


def _summary(source: Source, database: DatasetDatabase, examples: int, seed: int, progress: Progress | None) -> Summary:
    from ragdatakit.reports.summaries import summarize
    from ragdatakit.tables.file_counts import count_files

    summary = summarize(database, path=source.display, examples=examples, seed=seed, progress=progress)
    summary.files, summary.file_splits = count_files(source.parts, database, progress)
    return summary


def _neighbourhoods(database: DatasetDatabase, progress: Progress | None) -> Neighbourhoods | None:
    from ragdatakit.reports.neighbourhoods import read_neighbourhoods

    if progress is not None:
        progress("the graph's neighbourhoods", 0, 1)
    return read_neighbourhoods(database)


def _schemas(sources: list[Source]) -> list[str]:
    """Where the tables of each dataset go: one alone in ``main``, several by their folders."""
    if len(sources) == 1:
        return ["main"]
    names: list[str] = []
    for source in sources:
        name = source.root.resolve().name or source.format
        while name.lower() in {n.lower() for n in (*names, "main", "temp", "system", "information_schema")}:
            name += f" {source.format}"
        names.append(name)
    return names
