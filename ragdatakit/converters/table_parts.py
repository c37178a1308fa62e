"""Tables of a dataset in parts: which rows a part of a file has, read by whoever is asked for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ragdatakit.converters import TableFiles, get_converter
from ragdatakit.converters.sources import ConversionSettings, Source, converted_root
from ragdatakit.files.paths.own_files import RENAMED_IDS, SIDECAR
from ragdatakit.files.reading.file_sources import parts_of
from ragdatakit.late_dataclasses import dataclass

if TYPE_CHECKING:
    from ragdatakit.files.datasets import DataFile, Dataset, FilePart

PART_BYTES = 32 << 20
"""Of a file in one part, about; small files are one part together."""


@dataclass(frozen=True, slots=True)
class TablePart:
    """Rows of a table: those of parts of ``files``, one behind the other. ``group`` is the place of the group that the
    files belong to; ``along`` are read whole."""

    table: str
    number: int
    group: int
    files: tuple[tuple[DataFile, FilePart | None], ...]
    along: tuple[DataFile, ...] = ()
    key: str = ""

    def source(self, source: Source) -> Source:
        """What is to be read for it."""
        files = [replace(file, part=part) for file, part in self.files]
        kept = replace(_only(source), files=[*files, *self.along], ignored=[], outside=[], unreadable=[], _numbers={})
        return Source((kept,))


def _only(source: Source) -> Dataset:
    (dataset,) = source.parts
    return dataset


def tables_in_parts(source: Source, options: ConversionSettings) -> Mapping[str, TableFiles] | None:
    """The files that have the rows of the tables of a dataset; None where its rows depend on more than their record."""
    converter = get_converter(source.format)
    if converter.in_parts is None or len(source.parts) != 1 or source.unread or options.chunking:
        return None
    root = converted_root(source.parts[0])
    if root is not None and ((root / RENAMED_IDS).exists() or (root / SIDECAR).exists()):
        return None  # what was kept goes by the order of all rows
    return converter.in_parts(source.parts[0], converter.values(options.values, "read"))


def cut_tables(source: Source, tables: Mapping[str, TableFiles], target_bytes: int) -> list[TablePart]:
    """The parts of all tables, those of a table in the order of its rows. Raises `OSError` where a file cannot be
    opened."""
    kinds = {kind.kind: kind for kind in source.parts[0].format.files}
    found: list[TablePart] = []
    for table, files in tables.items():
        number = 0
        for group, members in enumerate(files.groups):
            small: list[tuple[DataFile, FilePart | None]] = []
            held = 0
            for file in members:
                for part in parts_of(file, target_bytes, kinds[file.kind].quoted_columns):
                    size = file.path.stat().st_size if part is None else target_bytes
                    if small and held + size > target_bytes:
                        found.append(TablePart(table, number, group, tuple(small), files.along, files.key))
                        number, small, held = number + 1, [], 0
                    small.append((file, part))
                    held += size
            if small:
                found.append(TablePart(table, number, group, tuple(small), files.along, files.key))
                number += 1
    return found
