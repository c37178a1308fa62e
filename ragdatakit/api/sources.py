"""Which datasets a path means, and what they are called where there are several."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ragdatakit.api.configuration import as_configured, tables_beside
from ragdatakit.files.paths.boundary import real_path
from ragdatakit.late_dataclasses import dataclass
from ragdatakit.schemas.errors import RagdataError, UnknownNameError
from ragdatakit.schemas.texts import as_text

if TYPE_CHECKING:
    from ragdatakit.converters.sources import ConversionSettings, Source
    from ragdatakit.database.dataset_database import DatasetDatabase, SharedConnection

_MOST_SHOWN = 5
_TAKEN = ("main", "files", "memory", "temp", "system", "information_schema", "pg_catalog")
"""Names that a database has for itself, in small letters."""


@dataclass(frozen=True, slots=True)
class FoundDataset:
    """A dataset at a path: ``name`` distinguishes it from the others there, and is what reports call it; ``place`` is
    where it is below the path, with ``/`` (empty: the path itself); ``wanted`` says how it is read."""

    name: str
    place: str
    source: Source
    wanted: ConversionSettings


def find_datasets(paths: Sequence[Path], wanted: ConversionSettings) -> list[FoundDataset]:
    """All datasets at these paths, of all formats, each with a name of its own: that of its folder, file or data set,
    with the folders above where two are called the same. What several paths hold is there once. Tables that the
    configuration names beside them are one more.

    Raises `RagdataError` where there is none at one of the paths, and for unknown options.
    """
    from ragdatakit.converters.hipporag.data_sets import each_set

    paths = [place for path in paths for place in (path, *tables_beside(path, wanted))]
    read_as = {path: as_configured(path, wanted, paths) for path in paths}
    sources = [(path, source) for path in paths for source in _sources(path, read_as[path])]
    return _named(
        (_place(path, *pair), *pair)
        for path, source in (_each_once(sources) if len(paths) > 1 else sources)
        for pair in each_set(source, read_as[path])
    )


def _each_once(sources: Sequence[tuple[Path, Source]]) -> Iterator[tuple[Path, Source]]:
    """The sources without those of which another has all files: a folder may be given twice, or with a file of it."""
    files = [{real_path(file.path) for part in source.parts for file in part.files} for _, source in sources]
    owners: dict[Path, list[int]] = {}
    for number, paths in enumerate(files):
        for path in paths:
            owners.setdefault(path, []).append(number)
    for number, paths in enumerate(files):
        others = owners[next(iter(paths))] if paths else ()
        if not any(paths < files[other] or (paths == files[other] and other < number) for other in others):
            yield sources[number]


def chosen_datasets(paths: Sequence[Path], wanted: ConversionSettings, names: Sequence[str] = ()) -> list[FoundDataset]:
    """The datasets at these paths that are called so (none: all), in the order in which they are found. Raises as
    `find_datasets` does, and `UnknownNameError` for a name or path that none of them has."""
    found = find_datasets(paths, wanted)
    if not names:
        return found
    chosen = {id(_called(name, found, " ".join(map(str, paths)))) for name in names}
    return [each for each in found if id(each) in chosen]


def meant_datasets(path: Path, wanted: ConversionSettings, dataset: str = "") -> list[FoundDataset]:
    """The dataset at ``path``, or those, where it is not clear which is meant; the one that is called ``dataset``.

    ``dataset`` is a name of `FoundDataset`, or the path of the dataset, whole or below ``path``. Raises
    `RagdataError` where there is none, `UnknownNameError` where none is called so.
    """
    from ragdatakit.converters.hipporag.data_sets import each_set
    from ragdatakit.converters.sources import find_sources, refuse_unknown_options

    if dataset:
        return [_called(dataset, find_datasets([path], wanted), path)]
    wanted = as_configured(path, wanted)
    try:
        sources = find_sources(path, wanted)
    except UnknownNameError:
        raise
    except RagdataError:
        if wanted.source_format or "map" in wanted.values or len(_formats(path, wanted)) < 2:
            raise
        return find_datasets([path], wanted)
    if len(sources) > 1:  # a folder that is one of them itself has been chosen by its name
        own = [source for source in sources if source.root.resolve() == path.resolve()]
        sources = own if len(own) == 1 else sources
    refuse_unknown_options(wanted.values, (sources[0].format,))
    return _named([(_place(path, *pair), *pair) for source in sources for pair in each_set(source, wanted)])


def only_dataset(path: Path, wanted: ConversionSettings, dataset: str = "") -> FoundDataset:
    """The one dataset at ``path``, or that of them which is called ``dataset``. Raises as `meant_datasets` does, and
    where there are several."""
    found = meant_datasets(path, wanted, dataset)
    if len(found) > 1:
        raise RagdataError(several(path, found))
    return found[0]


def several(path: Path | str, found: Sequence[FoundDataset]) -> str:
    """That a path holds several datasets, which ones, and what to do."""
    formats = sorted({each.source.format for each in found})
    if len(formats) > 1:
        listed = ", ".join(formats)
        return f"{path} holds datasets of several formats ({listed}); choose one with --from, or give --dataset NAME"
    names = ", ".join(each.name for each in found[:_MOST_SHOWN])
    more = f" and {len(found) - _MOST_SHOWN:,} more" if len(found) > _MOST_SHOWN else ""
    return f"{path} holds {len(found):,} datasets; give one of them with --dataset: {names}{more}"


def _sources(path: Path, wanted: ConversionSettings) -> Iterator[Source]:
    """What is at a path, of all formats."""
    from ragdatakit.converters.sources import find_sources, refuse_unknown_options

    formats = [wanted.source_format] if wanted.source_format or "map" in wanted.values else _formats(path, wanted)
    for format_name in formats:
        found = find_sources(path, replace(wanted, source_format=format_name))
        refuse_unknown_options(wanted.values, (found[0].format,))
        yield from found


def _formats(path: Path, wanted: ConversionSettings) -> list[str]:
    """The formats of the datasets at a path; one empty name where there is only one, or none that is declared."""
    from ragdatakit.files.detection.find import detect
    from ragdatakit.files.paths.folders import UnreadableError

    try:
        found = detect(path, follow_links=wanted.follow_links, plugged=wanted.plugged)
        names = sorted({d.format.name for d in found.datasets})
    except (UnknownNameError, UnreadableError):
        raise
    except RagdataError:
        return [""]  # plain texts or tables, or an error that reading words
    return names if len(names) > 1 else [""]


def _place(path: Path, source: Source, wanted: ConversionSettings) -> str:
    """Where a dataset is below ``path``; of one of several in a folder the name of its file or set, too."""
    dataset = source.parts[0]
    place = dataset.root
    if dataset.layout == "file" and dataset.files:
        place = dataset.files[0].path
    try:
        below = os.path.relpath(place.absolute(), path.absolute())
    except ValueError:  # another drive
        below = place.name
    parts = [part for part in Path(below).parts if part not in (".", "..")]
    if source.format == "hipporag" and (chosen := wanted.values.get("dataset")):
        parts.append(str(chosen))
    return "/".join(parts)


def _named(found: Iterable[tuple[str, Source, ConversionSettings]]) -> list[FoundDataset]:
    from ragdatakit.converters.source_names import read_name

    given = list(found)
    short = [read_name(source, wanted) for _, source, wanted in given]
    often = Counter(name.lower() for name in short)
    taken = set(_TAKEN)
    named = []
    for (place, source, wanted), name in zip(given, short, strict=True):
        called = place if often[name.lower()] > 1 and place else name
        called = _free(as_text(called), source.format, taken)
        taken.add(called.lower())
        named.append(FoundDataset(called, place, source, wanted))
    return named


def _free(name: str, format_name: str, taken: set[str]) -> str:
    """A name that is not taken."""
    found, number = name, 1
    while found.lower() in taken:
        found = f"{name} {format_name}" if number == 1 else f"{name} {format_name} {number}"
        number += 1
    return found


def _called(dataset: str, found: Sequence[FoundDataset], path: Path | str) -> FoundDataset:
    wanted = dataset.removeprefix("./").rstrip("/")
    called = as_text(wanted)
    ways = (
        lambda each: called == each.name,
        lambda each: wanted == each.place,
        lambda each: called.lower() == each.name.lower(),
        lambda each: f"/{each.source.display}".endswith(f"/{wanted}"),
        lambda each: Path(dataset).resolve() == each.source.root.resolve(),
    )
    for way in ways:
        fitting = [each for each in found if wanted and way(each)]
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise RagdataError(f"{dataset} are {len(fitting):,} datasets; give one of {_names(fitting)}")
    raise UnknownNameError("dataset", dataset, [each.name for each in found], where=f"of {path}")


def _names(found: Sequence[FoundDataset]) -> str:
    return ", ".join(each.name for each in found[:_MOST_SHOWN])


def database_of(
    found: FoundDataset, memory_limit: int, shared: SharedConnection | None = None, *, own_sql: bool = False
) -> DatasetDatabase:
    """A dataset as a database of its own, or in that of ``shared``, under its name; ``own_sql``: for SQL of ours only.
    Raises `RagdataError` where it cannot be read at all."""
    from ragdatakit.converters import split_of
    from ragdatakit.converters.source_tables import read_source
    from ragdatakit.converters.sql_tables import sql_tables
    from ragdatakit.database.dataset_database import DatasetDatabase
    from ragdatakit.schemas.conversions import Losses

    source, wanted = found.source, found.wanted
    tables = read_source(source, wanted, Losses(), partly=True)
    return DatasetDatabase(
        tables,
        source.parts,
        sql_tables(source, wanted, tables.records) if tables.records is not None else {},
        memory_limit=memory_limit,
        progress=wanted.progress,
        split_of=split_of(source.format),
        shared=shared,
        called=found.name,
        own_sql=own_sql,
    )
