"""Several data sets in one folder, as HippoRAG has them: each is read as a dataset of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ragdatakit.converters.sources import ConversionSettings, Source
from ragdatakit.files.datasets import Dataset


def each_set(source: Source, wanted: ConversionSettings) -> Iterator[tuple[Source, ConversionSettings]]:
    """A source and how to read it: once for each of the data sets that its folder holds, unless one is chosen."""
    names: list[str] = []
    if source.format == "hipporag" and "dataset" not in wanted.values:
        from ragdatakit.converters.hipporag.reading import set_names  # which other formats need not import

        names = set_names(source.parts[0])
    if len(names) < 2:
        yield source, wanted
        return
    for name in names:
        yield source, replace(wanted, name=wanted.name or name, values={**wanted.values, "dataset": name})


def chosen_set(found: list[Source], wanted: ConversionSettings) -> list[Source]:
    """Of the sources those that have the data set that was chosen, with its files alone; all where none was, or none
    has it."""
    from ragdatakit.converters.hipporag.reading import set_names

    name = wanted.values.get("dataset")
    having = [s for s in found if s.format == "hipporag" and any(name in set_names(part) for part in s.parts)]
    return [replace(source, parts=tuple(own_parts(source, wanted))) for source in having] or found


def own_parts(source: Source, wanted: ConversionSettings) -> list[Dataset]:
    """The parts of a source with the files that are read: of a folder of several data sets those of the chosen one."""
    name = wanted.values.get("dataset")
    if source.format != "hipporag" or not isinstance(name, str):
        return list(source.parts)
    from ragdatakit.converters.hipporag.reading import files_of_set

    return [replace(part, files=files_of_set(part, name)) for part in source.parts]
